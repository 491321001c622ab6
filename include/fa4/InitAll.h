// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One place that knows everything fa4 registers; the tools, the plugin and an
// embedding compiler share it.

#ifndef FA4_INITALL_H
#define FA4_INITALL_H

#include "fa4/Analysis/Passes.h"
#include "fa4/Conversion/Passes.h"
#include "fa4/IR/BufferizableOpInterfaceImpl.h"
#include "fa4/IR/FA4.h"
#include "fa4/Target/Passes.h"
#include "fa4/Target/Pipelines.h"
#include "fa4/Transforms/Passes.h"

namespace mlir::fa4 {

/// Register the fa4 dialect and its external interface models.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<FA4Dialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

/// Register every pass and pipeline of fa4 with the global pass registry.
inline void registerAllPasses() {
  registerFA4AnalysisPasses();
  registerFA4TransformsPasses();
  registerFA4ConversionPasses();
  registerFA4TargetPasses();
  registerFA4Pipelines();
}

} // namespace mlir::fa4

#endif // FA4_INITALL_H
