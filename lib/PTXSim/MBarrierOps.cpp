// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mbarrier objects: exact phase, pending-count and transaction arithmetic
// (PTX ISA, "Parallel Synchronization and Communication: mbarrier").

#include "Decoder.h"
#include "Machine.h"

using namespace ptxsim;

namespace {
constexpr uint32_t kMaxCount = (1u << 20) - 1;

std::string barrierName(const Cta &cta, uint32_t address) {
  return "mbarrier " + cta.program.sharedText(address);
}

/// Shared address of a lane's barrier operand.
bool barrierAddress(Warp &w, const Op &op, unsigned lane, uint32_t &address) {
  uint64_t a = w.address(op.a, op.aux3 & 1, op.imm, lane);
  if ((a & kWindowMask) == kSharedWindow)
    a &= ~kWindowMask;
  if (!w.cta.shared.contains(a, 8)) {
    w.fault(op, "out-of-bounds",
            "mbarrier address " + hexString(a) +
                " is outside shared memory, which ends at " +
                hexString(w.cta.shared.end()));
    return false;
  }
  if (a % 8) {
    w.fault(op, "misaligned",
            "mbarrier address " + hexString(a) + " is not a multiple of 8");
    return false;
  }
  address = uint32_t(a);
  return true;
}

MBarrier *find(Warp &w, const Op &op, unsigned lane, uint32_t &address) {
  if (!barrierAddress(w, op, lane, address))
    return nullptr;
  auto it = w.cta.mbarriers.find(address);
  if (it == w.cta.mbarriers.end()) {
    w.fault(op, "bad-mbarrier",
            barrierName(w.cta, address) + " is not initialised");
    return nullptr;
  }
  return &it->second;
}

/// The opaque 64-bit state: phase in the low bits, pending count above.
uint64_t stateToken(const MBarrier &b) {
  return (b.phase & 0xffffffffu) | uint64_t(b.pending) << 32;
}
} // namespace

MBarrier *Cta::barrier(uint64_t address) {
  auto it = mbarriers.find(uint32_t(address));
  return it == mbarriers.end() ? nullptr : &it->second;
}

bool Cta::phaseCheck(uint32_t address, MBarrier &b, const Op &op,
                     unsigned warp) {
  ++epoch;
  if (b.tx > int64_t(kMaxCount) || b.tx < -int64_t(kMaxCount)) {
    fault(op, warp, "bad-mbarrier",
          "tx-count " + std::to_string(b.tx) + " of " +
              barrierName(*this, address) + " leaves its range of 2^20 - 1");
    return false;
  }
  if (b.pending == 0 && b.tx == 0) {
    ++b.phase;
    b.pending = b.expected;
    if (race)
      race->phaseDone(address);
  }
  return true;
}

bool Cta::arrive(uint32_t address, uint32_t count, int64_t expectTx,
                 const Op &op, unsigned warp) {
  MBarrier *b = barrier(address);
  if (!b) {
    fault(op, warp, "bad-mbarrier",
          barrierName(*this, address) + " is not initialised");
    return false;
  }
  if (count > b->pending) {
    fault(op, warp, "bad-mbarrier",
          std::to_string(count) + " arrivals on " +
              barrierName(*this, address) + " whose phase " +
              std::to_string(b->phase) + " has " + std::to_string(b->pending) +
              " of " + std::to_string(b->expected) + " pending, tx-count " +
              std::to_string(b->tx));
    return false;
  }
  b->tx += expectTx;
  b->pending -= count;
  return phaseCheck(address, *b, op, warp);
}

bool Cta::completeTx(uint32_t address, int64_t bytes, const Op &op,
                     unsigned warp) {
  MBarrier *b = barrier(address);
  if (!b) {
    fault(op, warp, "bad-mbarrier",
          "transaction completes on " + barrierName(*this, address) +
              ", which is not initialised");
    return false;
  }
  b->tx -= bytes;
  return phaseCheck(address, *b, op, warp);
}

namespace {

Step execInit(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    uint32_t address, count = w.reg<uint32_t>(op.b)[lane];
    if (!good || !barrierAddress(w, op, lane, address)) {
      good = false;
      return;
    }
    if (count == 0 || count > kMaxCount) {
      good = false;
      w.fault(op, "bad-mbarrier",
              "expected a count of 1 to 1048575, but got " +
                  std::to_string(count));
      return;
    }
    if (w.cta.mbarriers.count(address)) {
      good = false;
      w.fault(op, "bad-mbarrier",
              barrierName(w.cta, address) +
                  " is initialised again without 'mbarrier.inval'");
      return;
    }
    if (w.cta.shared.holdsBarrier(address, 8)) {
      good = false;
      w.fault(op, "bad-mbarrier",
              barrierName(w.cta, address) + " overlaps another mbarrier");
      return;
    }
    w.cta.mbarriers[address] = {count, count, 0, 0, op.line};
    if (w.cta.race) {
      w.cta.race->generic(w, op, lane, address, 8, true);
      w.cta.race->initBarrier(w, op, lane, address);
      good = !w.cta.faulted();
    }
    w.cta.shared.mark(address, 8, SharedMemory::Barrier);
    ++w.cta.epoch;
  });
  return good ? Step::Next : Step::Fault;
}

Step execInval(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    uint32_t address;
    if (!good || !find(w, op, lane, address)) {
      good = false;
      return;
    }
    w.cta.mbarriers.erase(address);
    if (w.cta.race)
      w.cta.race->dropBarrier(address);
    w.cta.shared.mark(address, 8, SharedMemory::Uninit);
    ++w.cta.epoch;
  });
  return good ? Step::Next : Step::Fault;
}

enum ArriveKind : uint32_t {
  kArrive,
  kExpectTx,
  kArriveExpectTx,
  kDrop,
  kNoComplete,
  kCompleteTx,
  kDropExpectTx
};

Step execArrive(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    uint32_t address;
    MBarrier *b = good ? find(w, op, lane, address) : nullptr;
    if (!b) {
      good = false;
      return;
    }
    if (w.cta.race && !w.cta.race->useBarrier(w, op, lane, address, false)) {
      good = false;
      return;
    }
    uint64_t token = stateToken(*b);
    uint32_t value = op.b == kNone ? 1 : w.reg<uint32_t>(op.b)[lane];
    uint32_t count = 1;
    int64_t tx = 0;
    switch (ArriveKind(op.aux)) {
    case kArrive:
    case kDrop:
    case kNoComplete:
      count = value;
      if (count == 0 || count > kMaxCount) {
        good = false;
        w.fault(op, "bad-mbarrier",
                "expected a count of 1 to 1048575, but "
                "got " +
                    std::to_string(count));
        return;
      }
      break;
    case kExpectTx:
      count = 0;
      tx = value;
      break;
    case kArriveExpectTx:
    case kDropExpectTx:
      tx = value;
      break;
    case kCompleteTx:
      good = w.cta.completeTx(address, value, op, w.id);
      return;
    }
    if (op.aux == kNoComplete && count >= b->pending) {
      good = false;
      w.fault(op, "bad-mbarrier",
              "arrive.noComplete would complete the phase of " +
                  barrierName(w.cta, address));
      return;
    }
    if (op.aux == kDrop || op.aux == kDropExpectTx)
      b->expected -= std::min(b->expected, count);
    // An expect_tx alone is relaxed.
    if (w.cta.race)
      w.cta.race->release(w.id * 32 + lane, address,
                          op.negated || op.aux == kExpectTx);
    good = w.cta.arrive(address, count, tx, op, w.id);
    if (op.d != kNone)
      w.reg<uint64_t>(op.d)[lane] = token;
  });
  return good ? Step::Next : Step::Fault;
}

// try_wait suspends the thread: it is modelled as waiting until the phase
// completes, except when nothing else in the CTA can move (see Cta::run).
Step execWait(Warp &w, const Op &op, uint32_t mask) {
  bool parity = op.aux & 1, suspends = op.aux & 2, good = true;
  uint32_t done = 0;
  forLanes(mask, [&](unsigned lane) {
    uint32_t address;
    MBarrier *b = good ? find(w, op, lane, address) : nullptr;
    if (!b) {
      good = false;
      return;
    }
    if (w.cta.race && !w.cta.race->useBarrier(w, op, lane, address, false)) {
      good = false;
      return;
    }
    bool complete;
    if (parity) {
      uint32_t p = w.reg<uint32_t>(op.b)[lane];
      if (p > 1) {
        good = false;
        w.fault(op, "bad-mbarrier",
                "expected a phase parity of 0 or 1, but got " +
                    std::to_string(p));
        return;
      }
      complete = (b->phase & 1) != p;
    } else {
      uint64_t phase = w.reg<uint64_t>(op.b)[lane] & 0xffffffffu;
      complete = (b->phase & 0xffffffffu) != phase;
    }
    done |= uint32_t(complete) << lane;
  });
  if (!good)
    return Step::Fault;
  if (suspends && done != mask && !w.cta.timeOut)
    return Step::Blocked;
  if (w.cta.race)
    forLanes(done, [&](unsigned lane) {
      uint64_t address = w.address(op.a, op.aux3 & 1, op.imm, lane);
      w.cta.race->acquire(w.id * 32 + lane, uint32_t(address & ~kWindowMask),
                          op.negated);
    });
  w.setPred(op.d, mask, done);
  return done == mask ? Step::Next : Step::Yield;
}

Step execPending(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    w.reg<uint32_t>(op.d)[lane] =
        uint32_t(w.reg<uint64_t>(op.a)[lane] >> 32) & kMaxCount;
  });
  return Step::Next;
}

void takeScopes(Decoder &d) {
  d.op.negated = d.take("relaxed");
  d.takeAny({"shared", "shared::cta", "shared::cluster", "acquire", "release",
             "cta", "cluster", "b64"});
}

bool decodeMBarrier(Decoder &d) {
  if (d.take("init")) {
    takeScopes(d);
    if (!d.expectOps(2) || !d.address(d.operand(0)))
      return false;
    d.op.b = d.src(d.operand(1), Type::U32);
    d.op.fn = execInit;
    return d.ok();
  }
  if (d.take("inval")) {
    takeScopes(d);
    d.op.fn = execInval;
    return d.expectOps(1) && d.address(d.operand(0));
  }
  if (d.take("pending_count")) {
    takeScopes(d);
    if (!d.expectOps(2))
      return false;
    d.op.d = d.dst(d.operand(0), Type::U32);
    d.op.a = d.src(d.operand(1), Type::B64);
    d.op.fn = execPending;
    return d.ok();
  }
  bool test = d.take("test_wait");
  if (test || d.take("try_wait")) {
    bool parity = d.take("parity");
    takeScopes(d);
    if (!d.expectOps(3, test ? 3 : 4) || !d.address(d.operand(1)))
      return false;
    d.op.d = d.predicate(d.operand(0));
    d.op.b = d.src(d.operand(2), parity ? Type::U32 : Type::B64);
    if (d.numOps() == 4)
      d.src(d.operand(3), Type::U32);
    d.op.aux = parity | (test ? 0 : 2);
    d.op.fn = execWait;
    return d.ok();
  }
  bool drop = d.take("arrive_drop"), arrive = drop || d.take("arrive");
  bool expect = d.take("expect_tx"), complete = d.take("complete_tx");
  bool noComplete = d.take("noComplete");
  if (!arrive && !expect && !complete)
    return false;
  takeScopes(d);
  d.op.aux = complete     ? kCompleteTx
             : drop       ? (expect ? kDropExpectTx : kDrop)
             : noComplete ? kNoComplete
             : expect     ? (arrive ? kArriveExpectTx : kExpectTx)
                          : kArrive;
  d.op.fn = execArrive;
  // Arrivals have a result, which shared::cluster forms may leave out.
  size_t next = 0;
  if (arrive && d.numOps() && d.operand(0).kind != Operand::Address) {
    d.op.d = d.dst(d.operand(0), Type::B64);
    if (d.operand(0).kind == Operand::Sink)
      d.op.d = kNone;
    next = 1;
  }
  bool needsValue = expect || complete || noComplete;
  if (!d.expectOps(next + 1 + needsValue, next + 2) ||
      !d.address(d.operand(next)))
    return false;
  if (d.numOps() == next + 2)
    d.op.b = d.src(d.operand(next + 1), Type::U32);
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kMBarrierOps[] = {{"mbarrier", decodeMBarrier},
                                            {nullptr, nullptr}};
