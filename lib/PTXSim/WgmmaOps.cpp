// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wgmma: a warpgroup multiplies 64 rows by N columns. Each of its four warps
// owns 16 rows, so that a warp's share is an operation of its own. Until it
// completes, the accumulators hold a NaN: a missing wait_group shows. The
// order of the sum is that of tcgen05.mma.

#include "Decoder.h"
#include "MatrixOperand.h"

#include <array>
#include <deque>

using namespace ptxsim;

namespace ptxsim {

/// What a warp has in flight.
struct WgmmaState {
  struct Group {
    unsigned open = 0;
    std::vector<RaceDetector::Stamp> stamps;
  };
  std::shared_ptr<Group> current; // not committed
  std::deque<std::shared_ptr<Group>> committed;
  /// Accumulators, by register, that operations in flight will write.
  struct Pending {
    unsigned count = 0;
    std::array<uint32_t, 32> value;
  };
  std::unordered_map<uint32_t, Pending> pending;
};

} // namespace ptxsim

namespace {

constexpr unsigned kRows = 64, kShare = 16, kDepth = 16;

enum Flags : uint32_t {
  kFromRegisters = 1,
  kBF16Inputs = 2,
  kF16Accumulators = 4,
  kNegate = 8, // the product, once
  kTransposeA = 16,
  kTransposeB = 32,
};

uint64_t queueOf(const Warp &w) { return Engines::matrix(w.id); }

WgmmaState &stateOf(Warp &w) {
  if (!w.wgmma)
    w.wgmma = std::make_shared<WgmmaState>();
  return *w.wgmma;
}

// aux: flags, aux2: N, b: descriptor of A, c: descriptor of B, d: scale-d;
// the list holds the accumulators and then A's registers.
struct Mma {
  const Op *op;
  MatrixDescriptor a, b;
  bool accumulate;
  bool has(Flags f) const { return op->aux & f; }
  Element element() const {
    return has(kBF16Inputs) ? Element::BF16 : Element::F16;
  }
};

/// Lane l's register r of A: rows and k of its two halves.
void readFragment(Warp &w, const Mma &mma, const uint32_t *regs, float *a) {
  bool bf16 = mma.has(kBF16Inputs);
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned l = 0; l < 32; ++l) {
      uint32_t word = w.reg<uint32_t>(regs[r])[l];
      for (unsigned h = 0; h < 2; ++h) {
        uint16_t u = uint16_t(word >> (16 * h));
        unsigned row = l / 4 + 8 * (r % 2), k = 8 * (r / 2) + 2 * (l % 4) + h;
        a[row * kDepth + k] = bf16 ? decodeBF16(u) : decodeF16(u);
      }
    }
}

bool readOperands(Warp &w, const Mma &mma, float *a, float *b) {
  Cta &cta = w.cta;
  unsigned n = mma.op->aux2;
  if (!mma.has(kFromRegisters)) {
    std::vector<float> whole(a ? kRows * kDepth : 0);
    if (!readMatrix(cta, *mma.op, w.id, mma.a, !mma.has(kTransposeA), kRows,
                    kDepth, mma.element(), "A", a ? whole.data() : nullptr))
      return false;
    if (a)
      std::copy_n(&whole[w.id % 4 * kShare * kDepth], kShare * kDepth, a);
  } else if (a) {
    readFragment(w, mma, &cta.program.lists[mma.op->list + mma.op->count - 4],
                 a);
  }
  return readMatrix(cta, *mma.op, w.id, mma.b, !mma.has(kTransposeB), n, kDepth,
                    mma.element(), "B", b);
}

/// The accumulator's word of register r as it will be when all that was issued
/// before is done.
uint32_t *accumulator(Warp &w, uint32_t reg) {
  auto &pending = stateOf(w).pending;
  auto it = pending.find(reg);
  return it == pending.end() ? w.reg<uint32_t>(reg) : it->second.value.data();
}

void compute(Warp &w, const Mma &mma) {
  const unsigned n = mma.op->aux2;
  std::vector<float> a(kShare * kDepth), b(n * kDepth), acc(kShare * n);
  if (!readOperands(w, mma, a.data(), b.data()))
    return;
  if (mma.has(kNegate))
    for (float &v : a)
      v = -v;
  bool half = mma.has(kF16Accumulators);
  const uint32_t *regs = &w.cta.program.lists[mma.op->list];
  // Element i of a thread lies in register i, or in half i % 2 of i / 2.
  auto each = [&](auto &&fn) {
    for (unsigned i = 0; i < n / 2; ++i) {
      uint32_t *words = accumulator(w, regs[half ? i / 2 : i]);
      for (unsigned l = 0; l < 32; ++l) {
        unsigned row = l / 4 + 8 * (i / 2 % 2),
                 column = 8 * (i / 4) + 2 * (l % 4) + i % 2;
        fn(words[l], 16 * (i % 2), acc[row * n + column]);
      }
    }
  };
  if (mma.accumulate)
    each([&](uint32_t word, unsigned shift, float &v) {
      v = half ? decodeF16(uint16_t(word >> shift)) : bitsToFloat(word);
    });
  for (unsigned row = 0; row < kShare; ++row)
    for (unsigned k = 0; k < kDepth; ++k)
      for (unsigned j = 0; j < n; ++j)
        acc[row * n + j] += a[row * kDepth + k] * b[j * kDepth + k];
  each([&](uint32_t &word, unsigned shift, float &v) {
    if (half)
      word = (word & ~(0xffffu << shift)) | uint32_t(encodeF16(v)) << shift;
    else
      word = floatToBits(canonical(v));
  });
}

unsigned accumulators(const Op &op) {
  return op.count - (op.aux & kFromRegisters ? 4 : 0);
}

/// Poisons the accumulators and keeps what they held.
void hold(Warp &w, const Op &op) {
  auto &pending = stateOf(w).pending;
  for (unsigned i = 0; i < accumulators(op); ++i) {
    uint32_t reg = w.cta.program.lists[op.list + i];
    auto &p = pending[reg];
    if (p.count++ == 0)
      std::copy_n(w.reg<uint32_t>(reg), 32, p.value.begin());
    std::fill_n(w.reg<uint32_t>(reg), 32, 0x7fffdead);
  }
}

void release(Warp &w, const Op &op) {
  auto &pending = stateOf(w).pending;
  for (unsigned i = 0; i < accumulators(op); ++i) {
    uint32_t reg = w.cta.program.lists[op.list + i];
    auto it = pending.find(reg);
    if (it == pending.end() || --it->second.count)
      continue;
    std::copy_n(it->second.value.begin(), 32, w.reg<uint32_t>(reg));
    pending.erase(it);
  }
}

bool uniformDescriptor(Warp &w, const Op &op, uint32_t reg,
                       MatrixDescriptor &out) {
  const uint64_t *bits = w.reg<uint64_t>(reg);
  for (unsigned l = 1; l < 32; ++l)
    if (bits[l] != bits[0]) {
      w.fault(op, "divergence", "lanes give different matrix descriptors");
      return false;
    }
  std::string error = decodeWgmmaDescriptor(bits[0], out);
  if (!error.empty())
    w.fault(op, "bad-descriptor", error);
  return error.empty();
}

/// The async proxy reads both matrices; wait_group orders that before what
/// the warp does next.
bool reportReads(Warp &w, const Op &op, const Mma &mma,
                 WgmmaState::Group &group) {
  RaceDetector *race = w.cta.race.get();
  if (!race)
    return true;
  auto token = race->copy(w, op, 0);
  auto reads = [&](const MatrixDescriptor &d, bool kMajor, unsigned extent) {
    return forChunks(d, kMajor, extent, kDepth, perChunk(mma.element()),
                     [&](uint32_t address) {
                       return !w.cta.shared.contains(address, 16) ||
                              race->copies(token, address, 16, false);
                     });
  };
  if (!mma.has(kFromRegisters) && !reads(mma.a, !mma.has(kTransposeA), kRows))
    return false;
  if (!reads(mma.b, !mma.has(kTransposeB), op.aux2))
    return false;
  group.stamps.push_back(token->stamp);
  return true;
}

Step execMma(Warp &w, const Op &op, uint32_t mask) {
  Cta &cta = w.cta;
  if (mask != ~0u || (w.id | 3) >= cta.warps.size())
    return w.fault(op, "divergence",
                   "expected a warpgroup of four whole warps");
  auto mma = std::make_shared<Mma>();
  mma->op = &op;
  uint32_t scale = w.predMask(op.d, op.negated);
  if (scale != 0 && scale != ~0u)
    return w.fault(op, "divergence", "lanes give different scale-d");
  mma->accumulate = scale != 0;
  if (!(op.aux & kFromRegisters) && !uniformDescriptor(w, op, op.b, mma->a))
    return Step::Fault;
  if (!uniformDescriptor(w, op, op.c, mma->b))
    return Step::Fault;
  WgmmaState &state = stateOf(w);
  if (!state.current)
    state.current = std::make_shared<WgmmaState::Group>();
  auto group = state.current;
  if (!reportReads(w, op, *mma, *group))
    return Step::Fault;
  ++cta.stats.tensorInstructions;
  if (cta.engines.eager()) {
    compute(w, *mma);
    return cta.faulted() ? Step::Fault : Step::Next;
  }
  // It may start at once, so its operands must be there now.
  if (!readOperands(w, *mma, nullptr, nullptr))
    return Step::Fault;
  hold(w, op);
  ++group->open;
  Warp *warp = &w;
  cta.engines.issue(
      queueOf(w),
      [=] {
        compute(*warp, *mma);
        release(*warp, *mma->op);
        --group->open;
      },
      mma->op);
  return Step::Next;
}

Step execFence(Warp &, const Op &, uint32_t) { return Step::Next; }

Step execCommit(Warp &w, const Op &, uint32_t) {
  WgmmaState &state = stateOf(w);
  state.committed.push_back(
      state.current ? state.current : std::make_shared<WgmmaState::Group>());
  state.current = nullptr;
  return Step::Next;
}

Step execWait(Warp &w, const Op &op, uint32_t mask) {
  auto &groups = stateOf(w).committed;
  while (groups.size() > uint64_t(op.imm)) {
    auto group = groups.front();
    while (group->open)
      w.cta.engines.step(queueOf(w));
    if (w.cta.race)
      forLanes(mask, [&](unsigned lane) {
        auto stamps = group->stamps;
        w.cta.race->learn(w.id * 32 + lane, stamps);
      });
    groups.pop_front();
  }
  return w.cta.faulted() ? Step::Fault : Step::Next;
}

/// A sign of -1 or 1.
bool takeSign(Decoder &d, const Operand &o, bool &negative) {
  int64_t v;
  if (!d.immediate(o, v))
    return false;
  negative = v == -1;
  return v == 1 || v == -1 || d.fail("expected a scale of -1 or 1");
}

bool takeTranspose(Decoder &d, const Operand &o, Flags flag) {
  int64_t v;
  if (!d.immediate(o, v))
    return false;
  if (v)
    d.op.aux |= flag;
  return v == 0 || v == 1 || d.fail("expected a transposition of 0 or 1");
}

bool decodeMmaAsync(Decoder &d) {
  std::string shape = d.takePrefix("m64n");
  size_t at = shape.find('k');
  if (at == std::string::npos || shape.substr(at) != "k16")
    return d.fail("expected shape m64nNk16");
  unsigned n = 0;
  for (size_t i = 4; i < at; ++i)
    n = shape[i] >= '0' && shape[i] <= '9' && n < 1000
            ? n * 10 + unsigned(shape[i] - '0')
            : 1000;
  if (n < 8 || n > 256 || n % 8)
    return d.fail("expected N of 8 to 256 in steps of 8");
  Type acc = d.takeType(), a = d.takeType(), b = d.takeType();
  if (!d.ok())
    return false;
  if (a != b || (a != Type::F16 && a != Type::BF16) ||
      (acc != Type::F32 && !(acc == Type::F16 && a == Type::F16)))
    return d.fail("expected types f32 or f16, and f16 or bf16 operands");
  bool half = acc == Type::F16;
  if (!d.expectOps(7, 8))
    return false;
  bool registers = d.operand(1).kind == Operand::Vector;
  if (!d.expectOps(registers ? 7 : 8))
    return false;
  if (!d.list(d.operand(0), half ? Type::B32 : Type::F32, true))
    return false;
  uint32_t list = d.op.list, count = d.op.count;
  if (count != n / (half ? 4 : 2))
    return d.fail("expected " + std::to_string(n / (half ? 4 : 2)) +
                  " accumulators, but got " + std::to_string(count));
  if (registers) {
    if (!d.list(d.operand(1), Type::B32, false))
      return false;
    if (d.op.count != 4)
      return d.fail("expected 4 registers of A, but got " +
                    std::to_string(d.op.count));
    count += 4;
    d.op.aux |= kFromRegisters;
  } else {
    d.op.b = d.src(d.operand(1), Type::B64);
  }
  d.op.list = list;
  d.op.count = count;
  d.op.c = d.src(d.operand(2), Type::B64);
  d.op.d = d.predicate(d.operand(3), d.op.negated);
  bool negA, negB;
  if (!takeSign(d, d.operand(4), negA) || !takeSign(d, d.operand(5), negB))
    return false;
  if (negA != negB)
    d.op.aux |= kNegate;
  if (a == Type::BF16)
    d.op.aux |= kBF16Inputs;
  if (half)
    d.op.aux |= kF16Accumulators;
  size_t next = 6;
  if (!registers && !takeTranspose(d, d.operand(next++), kTransposeA))
    return false;
  if (!takeTranspose(d, d.operand(next), kTransposeB))
    return false;
  d.op.aux2 = n;
  d.op.fn = execMma;
  return d.ok();
}

bool decodeWgmma(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  d.op.flags |= kAligned;
  if (d.take("fence")) {
    d.op.fn = execFence;
    return d.expectOps(0);
  }
  if (d.take("commit_group")) {
    d.op.fn = execCommit;
    return d.expectOps(0);
  }
  if (d.take("wait_group")) {
    d.op.fn = execWait;
    if (!d.expectOps(1) || !d.immediate(d.operand(0), d.op.imm))
      return false;
    return (d.op.imm >= 0 && d.op.imm <= 7) ||
           d.fail("expected a group count of 0 to 7");
  }
  if (d.take("mma_async"))
    return decodeMmaAsync(d);
  return d.fail("unsupported wgmma instruction");
}

} // namespace

const DecodeEntry ptxsim::kWgmmaOps[] = {{"wgmma", decodeWgmma},
                                         {nullptr, nullptr}};
