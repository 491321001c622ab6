// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of the reference schedules that are known by hand, and those of broken
// ones.

#include "fa4/Analysis/Order.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

class OrderTest : public testing::Test {
protected:
  void SetUp() override { build(""); }

  /// Makes the reference schedule; `mask` is "causal" or nothing.
  void build(StringRef mask) {
    context.loadDialect<FA4Dialect, func::FuncDialect, arith::ArithDialect,
                        memref::MemRefDialect>();
    std::string type = "memref<1x1024x8x128xf16>";
    std::string text = "func.func @f(%q: " + type + ", %k: " + type +
                       ", %v: " + type + ", %o: " + type +
                       ") { fa4.attention ins(%q, %k, %v : " + type + ", " +
                       type + ", " + type + ") outs(%o : " + type + ") " +
                       mask.str() + " return }";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    PassManager passes(&context);
    passes.addPass(createScheduleAttention());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    module->walk([&](KernelOp op) { kernel = op; });
  }

  /// The nth op of a kind in a role, from 0.
  template <typename Op>
  Operation *get(StringRef role, int64_t nth,
                 function_ref<bool(Op)> filter = nullptr) {
    Operation *found = nullptr;
    kernel.walk([&](Op op) {
      if (op->template getParentOfType<RoleOp>().getSymName() == role &&
          (!filter || filter(op)) && nth-- == 0)
        found = op;
    });
    EXPECT_TRUE(found);
    return found;
  }
  Operation *getWrite(StringRef role, int64_t column, int64_t nth) {
    return get<WriteTileOp>(role, nth, [&](WriteTileOp op) {
      return static_cast<int64_t>(op.getColumn()) == column;
    });
  }

  OrderAnswer ask(OrderQuery query) {
    auto answers = queryOrder(kernel, {query});
    EXPECT_TRUE(succeeded(answers));
    return succeeded(answers) ? answers->front() : OrderAnswer();
  }
  OrderVerdict decide(OrderQuery query) { return ask(query).verdict; }

  /// The path as "arrive s_ready, wait s_ready".
  static std::string show(const OrderAnswer &answer) {
    std::string text;
    for (Operation *op : answer.path) {
      Value barrier = isa<WaitOp>(op)     ? cast<WaitOp>(op).getBarrier()
                      : isa<ArriveOp>(op) ? cast<ArriveOp>(op).getBarrier()
                                          : cast<LoadOp>(op).getBarrier();
      text += (text.empty() ? "" : ", ") + op->getName().stripDialect().str() +
              " " + barrier.getDefiningOp<BarrierOp>().getName().str();
    }
    return text;
  }

  void erase(StringRef barrier) {
    SmallVector<Operation *> ops;
    kernel.walk([&](Operation *op) {
      if (isa<WaitOp, ArriveOp>(op) &&
          op->getOperand(0).getDefiningOp<BarrierOp>().getName() == barrier)
        ops.push_back(op);
    });
    ASSERT_FALSE(ops.empty());
    for (Operation *op : ops)
      op->erase();
  }

  // Products of the mma role, in its order: S of both stages; in the loop, for
  // each stage, two segments of O and S; behind it two segments of O each.
  Operation *firstS(int64_t stage) { return get<MmaOp>("mma", stage); }
  Operation *loopO(int64_t stage, int64_t segment) {
    return get<MmaOp>("mma", 2 + 3 * stage + segment);
  }
  Operation *loopS(int64_t stage) { return loopO(stage, 2); }
  Operation *lastO(int64_t stage, int64_t segment) {
    return get<MmaOp>("mma", 8 + 2 * stage + segment);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
};

constexpr auto Always = OrderVerdict::Always;
constexpr auto NotAlways = OrderVerdict::NotAlways;
constexpr auto Never = OrderVerdict::Never;

TEST_F(OrderTest, CommitMakesTheScoresReadable) {
  Operation *read = get<ReadTileOp>("softmax", 0);
  OrderAnswer answer = ask({{firstS(0)}, {read, 0}});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "arrive s_ready, wait s_ready");
  // The commit of the second stage covers the product of the first.
  EXPECT_EQ(decide({{firstS(0)}, {read, 1}}), Always);
  EXPECT_EQ(decide({{firstS(1)}, {read, 1}}), Always);
  // The other way round nothing does.
  answer = ask({{firstS(1)}, {read, 0}});
  EXPECT_EQ(answer.verdict, NotAlways);
  EXPECT_EQ(answer.run, SmallVector<int64_t>({1}));
  EXPECT_EQ(answer.before.task, 1);
  EXPECT_TRUE(answer.path.empty());
}

TEST_F(OrderTest, EachSegmentOfPHasItsOwnArrival) {
  Operation *early = getWrite("softmax", 64, 1);
  Operation *late = getWrite("softmax", 96, 1);
  // The role's turn for one block multiplies P of the block before.
  OrderAnswer answer = ask({{early, 0}, {loopO(0, 0)}, 0, 1});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "arrive p_o_rescale, wait p_o_rescale");
  EXPECT_EQ(answer.after.block, answer.before.block + 1);
  EXPECT_EQ(decide({{late, 0}, {loopO(0, 0)}, 0, 1}), NotAlways);
  answer = ask({{late, 0}, {loopO(0, 1)}, 0, 1});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "arrive p_ready_2, wait p_ready_2");
  // P of the block itself comes later.
  answer = ask({{early, 0}, {loopO(0, 0)}, 0, 0});
  EXPECT_EQ(answer.verdict, NotAlways);
  EXPECT_EQ(answer.run, SmallVector<int64_t>({2}));
  // P of the other stage has nothing to do with it.
  EXPECT_EQ(decide({{early, 1}, {loopO(0, 0)}, 0, 1}), NotAlways);
}

TEST_F(OrderTest, CorrectionLearnsThroughSoftmaxThatOIsQuiet) {
  Operation *rescale = get<RescaleOp>("correction", 0);
  OrderAnswer answer = ask({{loopO(0, 1)}, {rescale}});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer),
            "arrive s_ready, wait s_ready, arrive stats, wait stats");
  // O of this block is accumulated behind it.
  EXPECT_EQ(decide({{loopO(0, 0)}, {rescale}, 0, -1}), NotAlways);
  answer = ask({{rescale}, {loopO(0, 0)}, 0, 1});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "arrive p_o_rescale, wait p_o_rescale");
}

TEST_F(OrderTest, RingSlotsComeRound) {
  Operation *loadK = get<LoadOp>("load", 4), *loadV = get<LoadOp>("load", 5);
  OrderAnswer answer = ask({{loadV}, {loopO(0, 0)}, 0, 1});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "load kv_full, wait kv_full");
  EXPECT_EQ(decide({{loadV}, {loopO(0, 0)}, 0, 0}), NotAlways);
  // Of three slots, V of the next block takes that of K.
  answer = ask({{loopS(1)}, {loadV}, 0, 1});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "arrive kv_empty, wait kv_empty");
  EXPECT_EQ(decide({{loopS(1)}, {loadK}, 0, 1}), NotAlways);
  EXPECT_EQ(decide({{loopO(1, 1)}, {loadK}, 0, 1}), Always);
  EXPECT_EQ(decide({{loopO(1, 1)}, {loadV}, 0, 0}), NotAlways);
}

TEST_F(OrderTest, TasksFollowEachOther) {
  Operation *read = get<ReadTileOp>("correction", 0);
  Operation *write = get<WriteTileOp>("correction", 0);
  Operation *store = get<StoreOp>("store", 0);
  OrderAnswer answer = ask({{read}, {loopO(0, 0)}, 1});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(answer.run.size(), 2u);
  EXPECT_EQ(decide({{read}, {lastO(0, 0)}, 1}), Always);
  EXPECT_EQ(decide({{read}, {lastO(0, 0)}, 0}), NotAlways);
  EXPECT_EQ(decide({{lastO(0, 1)}, {read}}), Always);
  answer = ask({{store}, {write}, 1});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "arrive o_empty, wait o_empty");
  EXPECT_EQ(decide({{store}, {write}, 0}), NotAlways);
  // Two tasks later all the more.
  EXPECT_EQ(decide({{store}, {write}, 2}), Always);
}

TEST_F(OrderTest, SeveralQueriesAtOnce) {
  Operation *read = get<ReadTileOp>("softmax", 0);
  auto answers =
      queryOrder(kernel, {{{firstS(1)}, {read, 0}}, {{firstS(0)}, {read, 0}}});
  ASSERT_TRUE(succeeded(answers));
  EXPECT_EQ((*answers)[0].verdict, NotAlways);
  EXPECT_EQ((*answers)[1].verdict, Always);
}

TEST_F(OrderTest, BlocksAreMaskedOrNot) {
  build("causal");
  Operation *masked = get<ReadTileOp>("softmax", 4);
  Operation *unmasked = get<ReadTileOp>("softmax", 8);
  EXPECT_EQ(decide({{masked}, {unmasked}}), Never);
  OrderAnswer answer = ask({{loopS(0)}, {unmasked}});
  EXPECT_EQ(answer.verdict, Always);
  EXPECT_EQ(show(answer), "arrive s_ready, wait s_ready");
}

TEST_F(OrderTest, BrokenSchedulesAnswerToo) {
  Operation *late = getWrite("softmax", 96, 1);
  Operation *early = getWrite("softmax", 64, 1);
  erase("p_ready_2");
  EXPECT_EQ(decide({{late, 0}, {loopO(0, 1)}, 0, 1}), NotAlways);
  EXPECT_EQ(decide({{early, 0}, {loopO(0, 1)}, 0, 1}), Always);
}

TEST_F(OrderTest, ReadsAreDoneBehindTheirWait) {
  Operation *read = get<ReadTileOp>("softmax", 4);
  Operation *write = getWrite("softmax", 0, 1);
  EXPECT_EQ(decide({{read}, {write}}), Always);
  get<TmemWaitOp>("softmax", 3)->erase();
  OrderAnswer answer = ask({{read}, {write}});
  EXPECT_EQ(answer.verdict, NotAlways);
  EXPECT_EQ(answer.run, SmallVector<int64_t>({2}));
}

TEST_F(OrderTest, RefusesWhatItCannotAnswer) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  Operation *wait = get<WaitOp>("softmax", 0);
  EXPECT_TRUE(failed(queryOrder(kernel, {{{wait}, {firstS(0)}}})));
  EXPECT_EQ(message, "'fa4.wait' op expected an access to a tile or a mailbox, "
                     "in a role that has instance 0");
  EXPECT_TRUE(failed(queryOrder(kernel, {{{firstS(0), 1}, {firstS(0)}}})));
  // Nobody gives K back.
  get<ArriveOp>("mma", 2)->erase();
  EXPECT_TRUE(failed(queryOrder(kernel, {{{firstS(0)}, {firstS(1)}}})));
  EXPECT_NE(message.find("deadlock"), std::string::npos);
}

} // namespace
