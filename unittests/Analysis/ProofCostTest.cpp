// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the proof costs: markings, events and time, for the reference schedules
// and for larger ones.

#include "fa4/Analysis/Protocol.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>
#include <cstdio>
#include <ctime>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fa4;

namespace {
struct Cost {
  ProtocolStatistics statistics;
  double milliseconds = 0;
};

class ProofCost : public testing::Test {
protected:
  ProofCost() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<FA4Dialect, func::FuncDialect, arith::ArithDialect,
                        memref::MemRefDialect>();
  }

  /// The least of some runs, on a clock that stands while others run.
  Cost measure(StringRef name, bool causal, int64_t dim, StringRef options,
               bool parities = false);

  MLIRContext context;
};

Cost ProofCost::measure(StringRef name, bool causal, int64_t dim,
                        StringRef options, bool parities) {
  std::string type = "memref<1x1024x8x" + std::to_string(dim) + "xf16>";
  std::string types = type + ", " + type + ", " + type;
  // As much shared memory as any ring here wants.
  std::string text =
      "module attributes {fa4.target = #fa4.target<sm_100a, smem = 1048576>} {"
      "func.func @f(%q: " +
      type + ", %k: " + type + ", %v: " + type + ", %o: " + type +
      ") { fa4.attention ins(%q, %k, %v : " + types + ") outs(%o : " + type +
      ")" + (causal ? " causal" : "") + " return } }";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  PassManager pm(&context);
  std::unique_ptr<Pass> schedule = createScheduleAttention();
  EXPECT_TRUE(succeeded(schedule->initializeOptions(
      options, [](const Twine &) { return failure(); })));
  pm.addPass(std::move(schedule));
  if (parities)
    pm.addNestedPass<KernelOp>(createMaterializePhases());
  EXPECT_TRUE(succeeded(pm.run(*module)));
  KernelOp kernel = *module->getOps<KernelOp>().begin();

  Cost cost;
  for (int run = 0; run < 5; ++run) {
    std::clock_t start = std::clock();
    EXPECT_TRUE(succeeded(verifyProtocol(kernel, &cost.statistics)));
    double time = 1000.0 * (std::clock() - start) / CLOCKS_PER_SEC;
    if (run == 0 || time < cost.milliseconds)
      cost.milliseconds = time;
  }
  std::printf("%-32s%8u markings%10llu events%10.2f ms\n", name.str().c_str(),
              cost.statistics.markings,
              static_cast<unsigned long long>(cost.statistics.events),
              cost.milliseconds);
  return cost;
}

TEST_F(ProofCost, ReferenceSchedules) {
  for (int64_t dim : {64, 128})
    for (bool causal : {false, true}) {
      std::string name =
          (causal ? "causal, D = " : "full, D = ") + std::to_string(dim);
      EXPECT_LE(measure(name, causal, dim, "").milliseconds, 100);
    }
}

/// The parities of a role's counters repeat later than its slots do.
TEST_F(ProofCost, SchedulesWithParities) {
  for (int64_t dim : {64, 128})
    for (bool causal : {false, true}) {
      std::string name =
          (causal ? "causal, D = " : "full, D = ") + std::to_string(dim);
      Cost cost = measure(name + ", parities", causal, dim, "", true);
      EXPECT_LE(cost.milliseconds, 100);
    }
  measure("causal, 12 stages, parities", true, 64, "kv-stages=12", true);
}

/// More stages and more fragments: the time grows with the events, n of them,
/// by no more than n log n, and the events with the ring by no more than its
/// square (so many blocks until it is round, each from so many places).
TEST_F(ProofCost, LargerSchedules) {
  for (bool causal : {false, true}) {
    std::string name = causal ? "causal, " : "full, ";
    Cost first, last;
    for (int64_t stages : {3, 6, 12, 24}) {
      Cost cost = measure(name + std::to_string(stages) + " stages", causal, 64,
                          "kv-stages=" + std::to_string(stages));
      if (stages == 3)
        first = cost;
      last = cost;
    }
    double events = double(last.statistics.events) / first.statistics.events;
    double bound = events * std::log2(last.statistics.events) /
                   std::log2(first.statistics.events);
    EXPECT_LE(events, 8 * 8);
    // Twice for what a clock with more slots takes; the first is short.
    EXPECT_LE(last.milliseconds, 2 * bound * first.milliseconds + 1);
    measure(name + "16 columns a fragment", causal, 128,
            "fragment-width=16 epilogue-chunk=16");
  }
}
} // namespace
