// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fa4 for a stock mlir-opt:
//   mlir-opt --load-dialect-plugin=FA4Plugin.so --load-pass-plugin=FA4Plugin.so
//            --pass-pipeline='builtin.module(...)'

#include "fa4/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "fa4", FA4_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::fa4::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "fa4", FA4_VERSION,
          [] { mlir::fa4::registerAllPasses(); }};
}
