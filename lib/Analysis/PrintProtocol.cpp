// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Analysis/PrintProtocol.h"
#include "Explore.h"
#include "Print.h"
#include "fa4/Analysis/Passes.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_PRINTPROTOCOL
#include "fa4/Analysis/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// Blocks behind which all are alike: rings are full, and those of up to four
/// slots, and of six, are where they began.
static constexpr unsigned kWarmUp = 12;

/// Three tasks, of 2, 5 and 2 blocks, so that each role does all it can.
static SmallVector<Decision> getTableRun(const Program &program) {
  SmallVector<Decision> run;
  if (!program.hasTasks)
    return run;
  for (int32_t blocks : {2, 5, 2}) {
    if (!run.empty())
      run.push_back(Decision::Task);
    for (int32_t block = 1; program.hasBlocks && block < blocks; ++block)
      run.push_back(program.splitsMasked && block == 1 && blocks != 2
                        ? Decision::Masked
                        : Decision::Unmasked);
    if (!program.hasBlocks && run.empty())
      run.push_back(Decision::Task);
  }
  run.push_back(Decision::End);
  return run;
}

/// Refuses a kernel whose run cannot go on.
static LogicalResult checkRun(const Program &program, const Machine &machine) {
  if (!machine.fault)
    return success();
  emitFault(program, machine);
  return failure();
}

static LogicalResult printTableOf(const Program &program, raw_ostream &os) {
  Trace trace(program);
  Machine machine(program);
  machine.observer = &trace;
  machine.run();
  for (Decision decision : getTableRun(program))
    machine.decide(decision);
  machine.finish();
  if (failed(checkRun(program, machine)))
    return failure();
  printTable(program, trace, os);
  return success();
}

static LogicalResult printPictureOf(const Program &program,
                                    ProtocolFormat format, raw_ostream &os) {
  Trace trace(program);
  Machine machine(program);
  machine.observer = &trace;
  machine.run();
  Decision step = program.hasBlocks ? Decision::Unmasked : Decision::Task;
  size_t first = 0, second = 0;
  if (program.hasTasks) {
    for (unsigned block = 0; block < kWarmUp && !machine.fault; ++block)
      machine.decide(step);
    first = trace.events.size();
    machine.decide(step);
    second = trace.events.size();
    machine.decide(step);
  } else {
    second = trace.events.size();
  }
  if (failed(checkRun(program, machine)))
    return failure();
  // Who waits now waits for good, unless the next decision lets it go on.
  Machine ended(machine);
  ended.observer = nullptr;
  ended.decide(Decision::End);
  ended.finish();
  if (failed(checkRun(program, ended)))
    return failure();
  Picture picture = makePicture(program, trace, first, second);
  if (format == ProtocolFormat::Dot)
    printDot(picture, os);
  else
    printSVG(picture, os);
  return success();
}

LogicalResult fa4::printProtocol(KernelOp kernel, ProtocolFormat format,
                                 raw_ostream &os) {
  FailureOr<Program> program = buildProgram(kernel);
  if (failed(program))
    return failure();
  program->lenient = true;
  return format == ProtocolFormat::Table ? printTableOf(*program, os)
                                         : printPictureOf(*program, format, os);
}

namespace {
struct PrintProtocol final : fa4::impl::PrintProtocolBase<PrintProtocol> {
  using PrintProtocolBase::PrintProtocolBase;
  void runOnOperation() override {
    auto result = getOperation()->walk([&](KernelOp kernel) -> WalkResult {
      return fa4::printProtocol(kernel, format, llvm::outs());
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
