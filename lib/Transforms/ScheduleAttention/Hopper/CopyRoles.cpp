// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The roles that copy tiles between global and shared memory.

#include "Kernel.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

namespace {

class LoadProgram {
public:
  LoadProgram(ImplicitLocOpBuilder &b, const HopperKernel &h)
      : b(b), h(h), kernel(h.kernel) {}

  void build() {
    task = addTaskLoop(b);
    Value first = FirstKvOp::create(b, b.getIndexType(), task.getMBlock());
    // The first consumer begins as soon as it has its Q and a K.
    loadQ(0);
    loadKv(kernel.getK(), h.k, h.kFull, first);
    for (int64_t consumer = 1; consumer < h.plan.consumers; ++consumer)
      loadQ(consumer);
    // V is needed a block later than K.
    Value last =
        addKvLoop(b, KvRange::Rest, task.getMBlock(), first,
                  [&](Value kvBlock, ValueRange carried) -> SmallVector<Value> {
                    loadKv(kernel.getK(), h.k, h.kFull, kvBlock);
                    loadKv(kernel.getV(), h.v, h.vFull, carried[0]);
                    return {kvBlock};
                  })
            .front();
    loadKv(kernel.getV(), h.v, h.vFull, last);
  }

private:
  void loadQ(int64_t consumer) {
    Value slot = h.slots[consumer];
    LoadOp::create(
        b, kernel.getQ(),
        ValueRange{task.getBatch(), task.getHead(), task.getMBlock(), slot},
        h.q, slot, h.qFull, slot);
  }

  void loadKv(Value source, Value ring, Value full, Value kvBlock) {
    Value slot = NextOp::create(b, b.getIndexType(), ring);
    LoadOp::create(b, source,
                   ValueRange{task.getBatch(), task.getHead(), kvBlock}, ring,
                   slot, full, slot);
  }

  ImplicitLocOpBuilder &b;
  const HopperKernel &h;
  KernelOp kernel;
  ForTaskOp task;
};

} // namespace

void schedule::buildHopperLoadRole(ImplicitLocOpBuilder &b,
                                   const HopperKernel &h) {
  h.addRole(b, "load", 0, 1, h.plan.producerRegisters);
  LoadProgram(b, h).build();
}

void schedule::buildHopperStoreRole(ImplicitLocOpBuilder &b,
                                    const HopperKernel &h) {
  KernelOp kernel = h.kernel;
  h.addRole(b, "store", 1, 2, h.plan.producerRegisters);
  ForTaskOp task = addTaskLoop(b);
  for (Value slot : h.slots)
    StoreOp::create(
        b, h.oStaging, slot, kernel.getO(),
        ValueRange{task.getBatch(), task.getHead(), task.getMBlock(), slot});
  // Stores finish reading in order: the first is done when the others pend.
  for (int64_t pending = h.plan.consumers - 1; pending >= 0; --pending)
    StoreWaitOp::create(b, pending);
}
