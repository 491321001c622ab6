// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcgen05 instructions other than the MMA: allocation, loads and stores,
// waits, fences and commits.

#include "Decoder.h"
#include "Machine.h"
#include "Tcgen05.h"

#include <algorithm>
#include <memory>

using namespace ptxsim;

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

/// The value that all lanes of an aligned instruction must share.
bool uniform(Warp &w, const Op &op, uint32_t mask, const uint32_t *values,
             const char *what, uint32_t &value) {
  value = values[__builtin_ctz(mask)];
  bool same = true;
  forLanes(mask, [&](unsigned lane) { same &= values[lane] == value; });
  if (!same)
    w.fault(op, "divergence", std::string("lanes give different ") + what);
  return same;
}

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
  if (!uniform(w, op, mask, w.reg<uint32_t>(op.b), "column counts", n) ||
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
    cta.race->tmemAllocate(column, n);
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
  if (!uniform(w, op, mask, w.reg<uint32_t>(op.b), "column counts", n) ||
      !uniform(w, op, mask, w.reg<uint32_t>(op.a), "TMEM addresses", address) ||
      !checkAllocSize(w, op, n))
    return Step::Fault;
  for (auto kind : {Tmem::StoreWrite, Tmem::TensorWrite, Tmem::TensorRead})
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

// Shapes: which lane and column register r of thread t is.
enum Shape : uint32_t { k32x32b, k16x256b };

void element(Shape shape, unsigned t, unsigned r, unsigned &lane,
             unsigned &column) {
  if (shape == k32x32b) {
    lane = t;
    column = r;
  } else {
    lane = t / 4 + 8 * (r / 2 % 2);
    column = 2 * (t % 4) + r % 2 + 8 * (r / 4);
  }
}

struct Tile {
  unsigned lane, lanes, column, columns;
};

/// Address and access checks common to ld and st.
bool locate(Warp &w, const Op &op, uint32_t mask, Tile &tile) {
  uint32_t address, lanes[32];
  forLanes(mask, [&](unsigned l) {
    lanes[l] = uint32_t(w.address(op.a, op.aux3 & 1, op.imm, l));
  });
  if (!uniform(w, op, mask, lanes, "TMEM addresses", address))
    return false;
  Shape shape = Shape(op.aux);
  tile.lane = address >> 16;
  tile.column = address & 0xffff;
  tile.lanes = shape == k32x32b ? 32 : 16;
  tile.columns = shape == k32x32b ? op.count : op.count * 2;
  unsigned base = 32 * (w.id % 4);
  bool inQuarter =
      tile.lane == base || (shape != k32x32b && tile.lane == base + 16);
  if (!inQuarter) {
    w.fault(op, "tmem-lanes",
            "warp " + std::to_string(w.id) + " can access TMEM lanes " +
                std::to_string(base) + ".." + std::to_string(base + 31) +
                ", but the address names lane " + std::to_string(tile.lane));
    return false;
  }
  return checkColumns(w.cta, op, w.id, tile.column, tile.columns,
                      op.aux2 ? "tcgen05.st" : "tcgen05.ld");
}

bool checkUnordered(Warp &w, const Op &op, const Tile &t,
                    std::initializer_list<Tmem::UseKind> kinds) {
  static constexpr const char *kNames[] = {
      "a tcgen05.st in flight still writes (no tcgen05.wait::st)",
      "a tensor-core operation in flight still writes",
      "a tensor-core operation in flight still reads"};
  for (auto kind : kinds)
    if (w.cta.tmem.pending({kind, t.lane, t.lanes, t.column, t.columns})) {
      w.fault(op, "race",
              std::string(op.aux2 ? "tcgen05.st" : "tcgen05.ld") +
                  " touches TMEM columns " + std::to_string(t.column) + ".." +
                  std::to_string(t.column + t.columns - 1) + ", which " +
                  kNames[kind]);
      return false;
    }
  return true;
}

bool orders(Warp &w, const Op &op, const Tile &t) {
  return !w.cta.race || w.cta.race->tmemAccess(w, op, t.lane, t.lanes, t.column,
                                               t.columns, op.aux2);
}

Step execLd(Warp &w, const Op &op, uint32_t mask) {
  Tile tile;
  if (!locate(w, op, mask, tile) ||
      !checkUnordered(w, op, tile, {Tmem::StoreWrite, Tmem::TensorWrite}) ||
      !orders(w, op, tile))
    return Step::Fault;
  Cta &cta = w.cta;
  for (unsigned l = tile.lane; l < tile.lane + tile.lanes; ++l) {
    const uint8_t *valid = cta.tmem.valid(l) + tile.column;
    const uint8_t *hole = std::find(valid, valid + tile.columns, 0);
    if (hole != valid + tile.columns)
      return w.fault(op, "uninitialised",
                     "tcgen05.ld reads TMEM lane " + std::to_string(l) +
                         " column " +
                         std::to_string(tile.column + (hole - valid)) +
                         ", which was never written");
  }
  const uint32_t *regs = &cta.program.lists[op.list];
  auto data = std::make_shared<std::vector<uint32_t>>();
  bool late = !cta.engines.eager() && cta.options.poisonUnwaitedLoads;
  if (late)
    data->resize(op.count * 32);
  for (unsigned r = 0; r < op.count; ++r) {
    uint32_t *to = w.reg<uint32_t>(regs[r]);
    for (unsigned t = 0; t < 32; ++t) {
      unsigned lane, column;
      element(Shape(op.aux), t, r, lane, column);
      uint32_t value = cta.tmem.row(tile.lane + lane)[tile.column + column];
      if (late)
        (*data)[r * 32 + t] = value;
      to[t] = late ? 0x7fffdead : value;
    }
  }
  if (late) {
    Warp *warp = &w;
    const Op *source = &op;
    cta.engines.issue(Engines::tmemLoads(w.id), [=] {
      const uint32_t *list = &warp->cta.program.lists[source->list];
      for (unsigned r = 0; r < source->count; ++r)
        std::copy_n(&(*data)[r * 32], 32, warp->reg<uint32_t>(list[r]));
    });
  }
  return Step::Next;
}

Step execSt(Warp &w, const Op &op, uint32_t mask) {
  Tile tile;
  if (!locate(w, op, mask, tile) ||
      !checkUnordered(w, op, tile, {Tmem::TensorWrite, Tmem::TensorRead}) ||
      !orders(w, op, tile))
    return Step::Fault;
  Cta *cta = &w.cta;
  const uint32_t *regs = &cta->program.lists[op.list];
  auto data = std::make_shared<std::vector<uint32_t>>(op.count * 32);
  for (unsigned r = 0; r < op.count; ++r)
    std::copy_n(w.reg<uint32_t>(regs[r]), 32, &(*data)[r * 32]);
  Tmem::Use use{Tmem::StoreWrite, tile.lane, tile.lanes, tile.column,
                tile.columns};
  cta->tmem.begin(use);
  Shape shape = Shape(op.aux);
  unsigned count = op.count;
  cta->engines.issue(Engines::tmemStores(w.id), [=] {
    for (unsigned r = 0; r < count; ++r)
      for (unsigned t = 0; t < 32; ++t) {
        unsigned lane, column;
        element(shape, t, r, lane, column);
        cta->tmem.row(tile.lane + lane)[tile.column + column] =
            (*data)[r * 32 + t];
        cta->tmem.valid(tile.lane + lane)[tile.column + column] = 1;
      }
    cta->tmem.end(use);
  });
  return Step::Next;
}

Step execWait(Warp &w, const Op &op, uint32_t) {
  w.cta.engines.drain(op.aux ? Engines::tmemStores(w.id)
                             : Engines::tmemLoads(w.id));
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
    cta->engines.issue(tracks ? Engines::kTensor : cta->engines.fresh(), [=] {
      if (token)
        cta->race->complete(token, uint32_t(a));
      cta->arrive(uint32_t(a), 1, 0, *source, warp);
    });
    good = !cta->faulted();
  });
  return good ? Step::Next : Step::Fault;
}

bool takeAligned(Decoder &d) {
  d.op.flags |= kAligned;
  return d.take("sync") && d.take("aligned");
}

bool decodeLdSt(Decoder &d, bool store) {
  if (!takeAligned(d) || !d.take("b32"))
    return false;
  bool narrow = d.take("32x32b");
  if (!narrow && !d.take("16x256b"))
    return d.fail("only shapes 32x32b and 16x256b are supported");
  std::string x = d.takePrefix("x");
  static constexpr const char *kCounts[] = {"x1",  "x2",  "x4",  "x8",
                                            "x16", "x32", "x64", "x128"};
  unsigned count = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (x == kCounts[i])
      count = (1u << i) * (narrow ? 1 : 4);
  if (count == 0 || count > 128)
    return d.fail("unsupported repetition '." + x + "'");
  if (!d.expectOps(2) || !d.address(d.operand(store ? 0 : 1)) ||
      !d.list(d.operand(store ? 1 : 0), Type::B32, !store))
    return false;
  if (d.op.count != count)
    return d.fail("expected " + std::to_string(count) + " registers, but got " +
                  std::to_string(d.op.count));
  d.op.aux = narrow ? k32x32b : k16x256b;
  d.op.aux2 = store;
  d.op.fn = store ? execSt : execLd;
  return d.ok();
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
    return decodeLdSt(d, false);
  if (d.take("st"))
    return decodeLdSt(d, true);
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
  return d.fail("unsupported tcgen05 instruction");
}

} // namespace

const DecodeEntry ptxsim::kTcgen05Ops[] = {{"tcgen05", decodeTcgen05},
                                           {nullptr, nullptr}};
