// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcgen05 allocation, waits, fences and commits, and the table of the family.

#include "Decoder.h"
#include "Machine.h"
#include "Tcgen05.h"

#include <algorithm>
#include <memory>

using namespace ptxsim;

bool ptxsim::uniformValue(Warp &w, const Op &op, uint32_t mask,
                          const uint32_t *values, const char *what,
                          uint32_t &value) {
  value = values[__builtin_ctz(mask)];
  bool same = true;
  forLanes(mask, [&](unsigned lane) { same &= values[lane] == value; });
  if (!same)
    w.fault(op, "divergence", std::string("lanes give different ") + what);
  return same;
}

bool ptxsim::checkColumns(Cta &cta, const Op &op, unsigned warp,
                          uint32_t column, uint32_t count, const char *what) {
  if (column + count <= Tmem::kColumns && cta.tmem.allocated(column, count))
    return true;
  cta.fault(op, warp, "tmem-unallocated",
            std::string(what) + " touches TMEM columns " +
                std::to_string(column) + ".." +
                std::to_string(column + count - 1) +
                ", which are not all allocated");
  return false;
}

namespace {

bool checkAllocSize(Warp &w, const Op &op, uint32_t n) {
  if (n >= 32 && n <= 512 && (n & (n - 1)) == 0)
    return true;
  w.fault(op, "bad-tmem",
          "expected a power of two from 32 to 512 columns, but got " +
              std::to_string(n));
  return false;
}

Step execAlloc(Warp &w, const Op &op, uint32_t mask) {
  Cta &cta = w.cta;
  uint32_t n;
  if (!uniformValue(w, op, mask, w.reg<uint32_t>(op.b), "column counts", n) ||
      !checkAllocSize(w, op, n))
    return Step::Fault;
  if (cta.tmem.relinquished)
    return w.fault(op, "bad-tmem",
                   "allocation after 'tcgen05.relinquish_alloc_permit'");
  if (n > cta.tmem.lastCount())
    return w.fault(
        op, "bad-tmem",
        "allocation of " + std::to_string(n) + " columns after one of " +
            std::to_string(cta.tmem.lastCount()) + ": sizes must not increase");
  uint64_t address = w.address(op.a, op.aux3 & 1, op.imm, __builtin_ctz(mask));
  if ((address & kWindowMask) == kSharedWindow)
    address &= ~kWindowMask;
  if (!cta.shared.contains(address, 4) || address % 4 ||
      cta.shared.holdsBarrier(uint32_t(address), 4))
    return w.fault(op, "out-of-bounds",
                   "expected four bytes of shared memory for the result, but "
                   "got address " +
                       hexString(address));
  int column = cta.tmem.allocate(n, op.line);
  if (column < 0)
    return Step::Blocked;
  if (cta.race) {
    cta.race->tmemAllocate(w, op, mask, column, n);
    // A weak write, by one thread of the warp.
    if (!cta.race->generic(w, op, __builtin_ctz(mask), uint32_t(address), 4,
                           true))
      return Step::Fault;
  }
  uint32_t value = uint32_t(column);
  std::copy_n(reinterpret_cast<uint8_t *>(&value), 4,
              &cta.shared.bytes[address]);
  cta.shared.mark(uint32_t(address), 4, SharedMemory::Init);
  ++cta.epoch;
  return Step::Next;
}

Step execDealloc(Warp &w, const Op &op, uint32_t mask) {
  Cta &cta = w.cta;
  uint32_t n, address;
  if (!uniformValue(w, op, mask, w.reg<uint32_t>(op.b), "column counts", n) ||
      !uniformValue(w, op, mask, w.reg<uint32_t>(op.a), "TMEM addresses",
                    address) ||
      !checkAllocSize(w, op, n))
    return Step::Fault;
  for (auto kind :
       {Tmem::StoreWrite, Tmem::TensorWrite, Tmem::TensorRead, Tmem::LoadRead})
    if (address < 512 && n <= 512 - address &&
        cta.tmem.pending({kind, 0, 128, address, n}))
      return w.fault(op, "race",
                     "TMEM columns are deallocated while an operation in "
                     "flight uses them");
  if (cta.race && address < 512 && n <= 512 - address &&
      !cta.race->tmemRelease(w, op, mask, address, n))
    return Step::Fault;
  if (!cta.tmem.release(address, n))
    return w.fault(op, "bad-tmem",
                   "no allocation of " + std::to_string(n) +
                       " columns is at TMEM address " + hexString(address));
  ++cta.epoch;
  return Step::Next;
}

Step execRelinquish(Warp &w, const Op &, uint32_t) {
  w.cta.tmem.relinquished = true;
  return Step::Next;
}

Step execFence(Warp &w, const Op &op, uint32_t mask) {
  if (w.cta.race)
    w.cta.race->tensorFence(w, mask, op.aux);
  return Step::Next;
}

Step execWait(Warp &w, const Op &op, uint32_t) {
  w.cta.engines.drain(op.aux ? Engines::tmemStores(w.id)
                             : Engines::tmemLoads(w.id));
  if (!op.aux)
    w.tmemLoads.wait();
  if (w.cta.race)
    w.cta.race->tmemWait(w, op.aux);
  return Step::Next;
}

// The arrival follows all that the thread issued before; what other threads
// issued it does not wait for.
Step execCommit(Warp &w, const Op &op, uint32_t mask) {
  Cta *cta = &w.cta;
  bool good = true;
  unsigned warp = w.id;
  const Op *source = &op;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    uint64_t a = w.address(op.a, op.aux3 & 1, op.imm, lane);
    if ((a & kWindowMask) == kSharedWindow)
      a &= ~kWindowMask;
    if (!cta->shared.contains(a, 8) || a % 8) {
      good = false;
      w.fault(op, "out-of-bounds",
              "expected an mbarrier in shared memory, but got address " +
                  hexString(a));
      return;
    }
    RaceDetector::Token token;
    if (cta->race) {
      token = cta->race->commit(w, op, lane);
      good = cta->race->useBarrier(w, op, lane, uint32_t(a), true);
      if (!good)
        return;
    }
    auto it = cta->tensorPending.find(w.id * 32 + lane);
    bool tracks = it != cta->tensorPending.end() && it->second != 0;
    cta->engines.issue(
        tracks ? Engines::kTensor : cta->engines.fresh(),
        [=] {
          if (token)
            cta->race->complete(token, uint32_t(a));
          cta->arrive(uint32_t(a), 1, 0, *source, warp);
        },
        source);
    good = !cta->faulted();
  });
  return good ? Step::Next : Step::Fault;
}

bool takeAligned(Decoder &d) {
  d.op.flags |= kAligned;
  return d.take("sync") && d.take("aligned");
}

bool decodeTcgen05(Decoder &d) {
  if (d.take("wait::ld") || d.take("wait::st")) {
    d.op.aux = d.in->parts[1] == "wait::st";
    d.op.fn = execWait;
    return takeAligned(d) && d.expectOps(0);
  }
  if (d.takeAny({"fence::before_thread_sync", "fence::after_thread_sync"})) {
    d.op.aux = d.in->parts[1] == "fence::before_thread_sync";
    d.op.fn = execFence;
    return d.expectOps(0);
  }
  if (d.take("ld"))
    return decodeTmemLdSt(d, false);
  if (d.take("st"))
    return decodeTmemLdSt(d, true);
  if (!d.take("cta_group::1"))
    return d.fail("only '.cta_group::1' is supported");
  if (d.take("alloc")) {
    d.take("shared::cta");
    d.op.fn = execAlloc;
    if (!takeAligned(d) || !d.take("b32") || !d.expectOps(2) ||
        !d.address(d.operand(0)))
      return false;
    d.op.b = d.src(d.operand(1), Type::U32);
    return d.ok();
  }
  if (d.take("dealloc")) {
    d.op.fn = execDealloc;
    if (!takeAligned(d) || !d.take("b32") || !d.expectOps(2))
      return false;
    d.op.a = d.src(d.operand(0), Type::B32);
    d.op.b = d.src(d.operand(1), Type::U32);
    return d.ok();
  }
  if (d.take("relinquish_alloc_permit")) {
    d.op.fn = execRelinquish;
    return takeAligned(d) && d.expectOps(0);
  }
  if (d.take("commit")) {
    if (!d.take("mbarrier::arrive::one"))
      return false;
    d.takeAny({"shared::cluster", "b64"});
    bool multicast = d.take("multicast::cluster");
    if (!d.expectOps(1 + multicast) || !d.address(d.operand(0)))
      return false;
    if (multicast)
      d.src(d.operand(1), Type::B16);
    d.op.fn = execCommit;
    return d.ok();
  }
  if (d.take("mma"))
    return decodeMma(d);
  if (d.take("cp"))
    return decodeTmemCopy(d);
  if (d.take("shift"))
    return decodeTmemShift(d);
  return d.fail("unsupported tcgen05 instruction");
}

} // namespace

const DecodeEntry ptxsim::kTcgen05Ops[] = {{"tcgen05", decodeTcgen05},
                                           {nullptr, nullptr}};
