// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bulk copies and reductions of consecutive bytes. In a cluster of one CTA
// 'shared::cluster' is the CTA's own shared memory.

#include "BulkCopy.h"
#include "Reduction.h"

#include <algorithm>
#include <cstring>

using namespace ptxsim;

namespace {

enum Flags : uint32_t {
  kToShared = 1,
  kFromShared = 2,
  kReduces = 4,
  kMasked = 8, // a bit for each byte of 16
};

/// Combines \p bytes elements in place. The host lock is for global memory.
void combine(const Op &op, uint8_t *to, const uint8_t *from, uint64_t bytes,
             uint64_t address, bool global) {
  Reduction what = Reduction(op.imm & 0xff);
  Type type = Type(op.imm >> 8 & 0xff);
  unsigned size = byteWidth(type);
  for (uint64_t i = 0; i + size <= bytes; i += size) {
    std::unique_lock<std::mutex> lock;
    if (global)
      lock = std::unique_lock<std::mutex>(globalLock(address + i));
    uint64_t a = 0, b = 0;
    std::memcpy(&a, to + i, size);
    std::memcpy(&b, from + i, size);
    a = reduce(what, type, a, b);
    std::memcpy(to + i, &a, size);
  }
}

struct Transfer {
  uint64_t to, from, bytes, bar = 0;
  uint16_t byteMask = 0xffff;
};

bool readShared(Cta &cta, const Op &op, unsigned warp, const Transfer &t,
                std::vector<uint8_t> &data) {
  uint32_t at = uint32_t(t.from);
  if (cta.shared.query(at, uint32_t(t.bytes)) != SharedMemory::Init) {
    cta.fault(op, warp, "uninitialised",
              "bulk copy reads shared memory that was never written");
    return false;
  }
  data.assign(&cta.shared.bytes[at], &cta.shared.bytes[at] + t.bytes);
  return true;
}

void writeGlobal(const Op &op, uint8_t *to, const Transfer &t,
                 const std::vector<uint8_t> &data) {
  if (op.d2 & kReduces) {
    combine(op, to, data.data(), t.bytes, t.to, true);
    return;
  }
  for (uint64_t i = 0; i < t.bytes; ++i)
    if (t.byteMask >> (i % 16) & 1)
      to[i] = data[i];
}

/// Global memory to or from shared memory.
bool issueGlobal(Warp &w, const Op &op, unsigned lane, const Transfer &t,
                 RaceDetector::Token &token) {
  Cta *cta = &w.cta;
  unsigned warp = w.id;
  const Op *source = &op;
  bool load = op.d2 & kToShared;
  uint64_t address = load ? t.from : t.to;
  uint8_t *global = cta->memory.translate(address, t.bytes);
  if (!global || (!load && !cta->memory.find(address)->writable)) {
    w.fault(op, "out-of-bounds",
            "global address " + hexString(address) + " (" +
                cta->memory.describe(address) + ")");
    return false;
  }
  if (!load) {
    issueStore(
        *cta, openGroup(w, *source, lane, token),
        [=](std::vector<uint8_t> &data) {
          readShared(*cta, *source, warp, t, data);
        },
        [=](std::vector<uint8_t> &data) {
          if (!cta->faulted())
            writeGlobal(*source, global, t, data);
        });
    return true;
  }
  uint32_t at = uint32_t(t.to);
  cta->shared.mark(at, uint32_t(t.bytes), SharedMemory::Uninit);
  cta->engines.issue(
      cta->engines.fresh(),
      [=] {
        std::copy_n(global, t.bytes, &cta->shared.bytes[at]);
        cta->shared.mark(at, uint32_t(t.bytes), SharedMemory::Init);
        if (token)
          cta->race->complete(token, uint32_t(t.bar));
        cta->completeTx(uint32_t(t.bar), int64_t(t.bytes), *source, warp);
      },
      source);
  return true;
}

/// Shared memory to shared memory, which the hardware knows only in a kernel
/// that says how large its clusters are.
bool issueShared(Warp &w, const Op &op, const Transfer &t,
                 RaceDetector::Token &token) {
  Cta *cta = &w.cta;
  if (!cta->program.fn->explicitCluster) {
    w.fault(op, "no-cluster",
            "a bulk copy between shared memories needs a kernel with "
            "'.reqnctapercluster'");
    return false;
  }
  unsigned warp = w.id;
  const Op *source = &op;
  std::vector<uint8_t> data;
  if (!readShared(*cta, op, warp, t, data))
    return false;
  uint32_t at = uint32_t(t.to);
  bool reduces = op.d2 & kReduces;
  if (reduces) {
    Transfer old = t;
    old.from = t.to;
    if (!readShared(*cta, op, warp, old, data))
      return false;
  } else {
    cta->shared.mark(at, uint32_t(t.bytes), SharedMemory::Uninit);
  }
  cta->engines.issue(
      cta->engines.fresh(),
      [=] {
        std::vector<uint8_t> bytes;
        if (!readShared(*cta, *source, warp, t, bytes))
          return;
        uint8_t *to = &cta->shared.bytes[at];
        if (reduces)
          combine(*source, to, bytes.data(), t.bytes, 0, false);
        else
          std::copy(bytes.begin(), bytes.end(), to);
        cta->shared.mark(at, uint32_t(t.bytes), SharedMemory::Init);
        if (token)
          cta->race->complete(token, uint32_t(t.bar));
        cta->completeTx(uint32_t(t.bar), int64_t(t.bytes), *source, warp);
      },
      source);
  return true;
}

// a + aux: destination, b: source, c: size, e + aux2: mbarrier, d2: flags,
// d: byte mask, imm: reduction and type. aux3: which bases have 64 bits.
Step execLinear(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    Transfer t;
    t.bytes = w.reg<uint32_t>(op.c)[lane];
    t.to = w.address(op.a, op.aux3 & 1, int64_t(op.aux), lane);
    t.from = w.address(op.b, op.aux3 & 4, int64_t(op.aux3 >> 3), lane);
    if (op.d2 & kMasked)
      t.byteMask = w.reg<uint16_t>(op.d)[lane];
    bool toShared = op.d2 & kToShared, fromShared = op.d2 & kFromShared;
    if (t.bytes == 0 || t.bytes % 16 || (!toShared && t.to % 16) ||
        (!fromShared && t.from % 16)) {
      good = false;
      w.fault(op, "misaligned",
              "expected addresses and a size that are multiples of 16, but "
              "got " +
                  hexString(toShared ? t.from : t.to) + " and " +
                  std::to_string(t.bytes));
      return;
    }
    if (toShared) {
      t.bar = w.address(op.e, op.aux3 & 2, int64_t(op.aux2), lane);
      good = sharedOperand(w, op, t.to, t.bytes, 16, "shared operand") &&
             sharedOperand(w, op, t.bar, 8, 8, "mbarrier");
    }
    if (good && fromShared)
      good = sharedOperand(w, op, t.from, t.bytes, 16, "shared operand");
    RaceDetector::Token token;
    good = good && raceCopy(w, op, lane, toShared ? t.to : t.from, t.bytes,
                            toShared, t.bar, token);
    if (good && token && toShared && fromShared)
      good =
          w.cta.race->copies(token, uint32_t(t.from), uint32_t(t.bytes), false);
    if (!good)
      return;
    ++w.cta.stats.tmaInstructions;
    good = toShared && fromShared ? issueShared(w, op, t, token)
                                  : issueGlobal(w, op, lane, t, token);
    good = good && !w.cta.faulted();
  });
  return good ? Step::Next : Step::Fault;
}

Step execNothing(Warp &, const Op &, uint32_t) { return Step::Next; }

bool takeReduction(Decoder &d) {
  Reduction what = Reduction::Add;
  bool found = false;
  for (const char *name :
       {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
    if (!found && d.take(name))
      found = reductionByName(name, what);
  bool noftz = d.take("noftz");
  Type type = d.takeType();
  bool half = type == Type::F16 || type == Type::BF16;
  if (!found || !d.ok() || !reductionTakes(what, type) || (noftz && !half) ||
      (half && what == Reduction::Add && !noftz) || type == Type::F16x2 ||
      type == Type::BF16x2)
    return d.fail("unsupported operation or type of a bulk reduction");
  d.op.imm = int64_t(unsigned(what) | unsigned(type) << 8);
  d.op.d2 |= kReduces;
  return true;
}

} // namespace

bool ptxsim::decodeLinear(Decoder &d, bool reduce) {
  bool hint = d.take("L2::cache_hint");
  if (d.take("prefetch")) {
    d.op.fn = execNothing;
    if (!d.take("L2") || !d.take("global") || !d.expectOps(2 + hint) ||
        !d.address(d.operand(0)))
      return false;
    d.src(d.operand(1), Type::U32);
    return d.ok();
  }
  // Destination and source follow 'bulk' in this order.
  size_t at = 1;
  while (at < d.in->parts.size() && d.in->parts[at] != "bulk")
    ++at;
  if (at + 2 >= d.in->parts.size())
    return false;
  const std::string to = d.in->parts[at + 1], from = d.in->parts[at + 2];
  bool toShared = to != "global", fromShared = from != "global";
  if (!d.take(to) || !d.take(from) || (!toShared && !fromShared) ||
      (toShared && to != "shared::cluster" && to != "shared::cta") ||
      (fromShared && from != "shared::cta"))
    return d.fail("expected '.shared::cluster' or '.global' and their source");
  if (!d.take(toShared ? "mbarrier::complete_tx::bytes" : "bulk_group"))
    return d.fail("expected the completion mechanism");
  d.op.d2 = (toShared ? kToShared : 0) | (fromShared ? kFromShared : 0);
  bool multicast = toShared && !fromShared && d.take("multicast::cluster");
  bool masked = !toShared && !reduce && d.take("cp_mask");
  if (reduce && (!fromShared || !takeReduction(d)))
    return d.fail("a reduction reads shared memory");
  if (!d.expectOps(3 + toShared + multicast + masked + hint))
    return false;
  bool wide;
  int64_t offset;
  if (!d.address(d.operand(0), d.op.a, offset, wide))
    return false;
  if (offset < 0)
    return d.fail("negative offsets are not supported here");
  d.op.aux = uint32_t(offset);
  d.op.aux3 |= wide;
  if (!d.address(d.operand(1), d.op.b, offset, wide))
    return false;
  if (offset < 0 || offset >= int64_t(1) << 28)
    return d.fail("this offset is not supported here");
  d.op.aux3 |= (wide ? 4 : 0) | uint32_t(offset) << 3;
  d.op.c = d.src(d.operand(2), Type::U32);
  size_t next = 3;
  if (toShared && !takeShared(d, d.operand(next++), d.op.e, d.op.aux2, 2))
    return false;
  if (multicast) // the only mask is 1
    d.src(d.operand(next++), Type::B16);
  if (hint)
    d.src(d.operand(next++), Type::B64);
  if (masked) {
    d.op.d = d.src(d.operand(next++), Type::B16);
    d.op.d2 |= kMasked;
  }
  d.op.fn = execLinear;
  return d.ok();
}
