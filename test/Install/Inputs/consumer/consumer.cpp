// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

static std::string attentionText(int headDim) {
  std::string d = std::to_string(headDim) + "xf16>";
  std::string q = "memref<1x128x8x" + d, k = "memref<1x128x2x" + d;
  return "func.func @f(%q: " + q + ", %k: " + k + ", %o: " + q + ") {\n" +
         "fa4.attention ins(%q, %k, %k : " + q + ", " + k + ", " + k +
         ") outs(%o : " + q + ")\nreturn\n}\n";
}

int main() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect>();
  mlir::fa4::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    llvm::outs() << "refused: " << diagnostic << "\n";
  });

  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(attentionText(64), &context);
  if (!module)
    return 1;
  module->walk([](mlir::fa4::AttentionOp op) {
    llvm::outs() << "group size " << op.getGroupSize() << ", scale "
                 << llvm::format("%g", op.getScaleValue()) << "\n";
  });
  if (mlir::parseSourceString<mlir::ModuleOp>(attentionText(96), &context))
    return 1;

  mlir::fa4::registerAllPasses();
  llvm::outs().flush();
  mlir::printRegisteredPasses();
  return 0;
}
