// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcgen05.mma of kinds f16, tf32 and f8f6f4. Products are exact in f32; the sum
// runs over k in ascending order, starting from the accumulator, with one f32
// rounding a step. The machine's own order is not documented. Collector usage
// tells the machine what to keep; it has no effect on values.

#include "FloatFormat.h"
#include "MatrixOperand.h"
#include "Tcgen05.h"

#include <memory>

using namespace ptxsim;

namespace {

enum Kind : uint32_t { kF16Kind, kTF32Kind, kF8F6F4Kind };

/// Instruction descriptor (PTX ISA, "Instruction descriptor").
struct InstrDescriptor {
  bool f32 = false, negA = false, negB = false, aMn = false, bMn = false;
  Element a = Element::F16, b = Element::F16;
  unsigned m = 0, n = 0, depth = 16;
};

bool elementOf(Kind kind, unsigned code, Element &e) {
  switch (kind) {
  case kF16Kind:
    e = code ? Element::BF16 : Element::F16;
    return code <= 1;
  case kTF32Kind:
    e = Element::TF32;
    return code == 2;
  default: {
    static constexpr Element kElements[] = {Element::E4M3, Element::E5M2,
                                            Element::E2M3, Element::E3M2,
                                            Element::E2M1};
    if (code <= 4)
      e = kElements[code];
    return code <= 4;
  }
  }
}

std::string decodeInstr(uint32_t bits, Kind kind, InstrDescriptor &out) {
  auto field = [&](unsigned at, unsigned width) {
    return bits >> at & ((1u << width) - 1);
  };
  if (field(0, 2) || field(2, 1))
    return "sparse MMA is not supported";
  if (field(3, 1) || field(6, 1) || field(23, 1) || field(29, 1) ||
      field(30, 2))
    return "reserved bits of the instruction descriptor are set";
  static constexpr const char *kNames[] = {"f16", "tf32", "f8f6f4"};
  if (field(4, 2) > 1 || !elementOf(kind, field(7, 3), out.a) ||
      !elementOf(kind, field(10, 3), out.b) ||
      (kind == kTF32Kind && !field(4, 2)))
    return std::string("the instruction descriptor names a type that kind::") +
           kNames[kind] + " has not";
  out.depth = kind == kF16Kind ? 16 : kind == kTF32Kind ? 8 : 32;
  out.f32 = field(4, 2);
  out.negA = field(13, 1);
  out.negB = field(14, 1);
  out.aMn = field(15, 1);
  out.bMn = field(16, 1);
  out.n = field(17, 6) * 8;
  out.m = field(24, 5) * 16;
  if (out.m != 64 && out.m != 128)
    return "expected M of 64 or 128, but got " + std::to_string(out.m);
  unsigned step = out.m == 64 ? 8 : 16;
  if (out.n < step || out.n > 256 || out.n % step)
    return "expected N of " + std::to_string(step) + " to 256 in steps of " +
           std::to_string(step) + ", but got " + std::to_string(out.n);
  if (!out.f32 && (out.a == Element::BF16 || out.b == Element::BF16))
    return "an f16 accumulator needs f16 operands";
  return "";
}

/// Operand A of every kind takes 32 bytes of a lane.
constexpr unsigned kAColumns = 8;

/// All that an MMA needs once it runs.
struct Mma {
  const Op *op;
  unsigned warp, thread;
  InstrDescriptor instr;
  MatrixDescriptor a, b;
  bool aInTmem;
  uint32_t aColumn, aLane, dColumn, dLane;
  bool accumulate;
  unsigned scale; // D * 2^-scale
  uint32_t disabled[4];

  unsigned lane(unsigned row, unsigned base) const {
    return instr.m == 128 ? row : row % 16 + 32 * (row / 16) + base;
  }
  Tmem::Use use(Tmem::UseKind kind) const {
    if (kind == Tmem::TensorRead)
      return {kind, 0, 128, aColumn, kAColumns};
    return {kind, 0, 128, dColumn, instr.n};
  }
};

#if defined(__x86_64__) && defined(__clang__)
__attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
void accumulateRow(float *__restrict acc, const float *__restrict a,
                   const float *__restrict b, unsigned n, unsigned depth) {
  // Multiply and add stay separate operations: the library is compiled with
  // contraction off, so every host gives the same bits.
  for (unsigned k = 0; k < depth; ++k) {
    float x = a[k];
    const float *row = b + k * n;
    for (unsigned j = 0; j < n; ++j)
      acc[j] += x * row[j];
  }
}

bool readTmemOperand(Cta &cta, const Mma &mma, float *a) {
  for (unsigned m = 0; m < mma.instr.m; ++m) {
    unsigned lane = mma.lane(m, mma.aLane);
    const uint32_t *row = cta.tmem.row(lane) + mma.aColumn;
    const uint8_t *valid = cta.tmem.valid(lane) + mma.aColumn;
    for (unsigned c = 0; c < kAColumns; ++c) {
      if (!valid[c]) {
        cta.fault(*mma.op, mma.warp, "uninitialised",
                  "operand A of tcgen05.mma reads TMEM lane " +
                      std::to_string(lane) + " column " +
                      std::to_string(mma.aColumn + c) +
                      ", which was never written");
        return false;
      }
    }
    for (unsigned k = 0; a && k < mma.instr.depth; ++k)
      a[m * mma.instr.depth + k] = containerElement(
          mma.instr.a, reinterpret_cast<const uint8_t *>(row), k);
  }
  return true;
}

/// Reads both operands, or only checks them when the pointers are null.
bool readOperands(Cta &cta, const Mma &mma, float *a, float *b) {
  const InstrDescriptor &in = mma.instr;
  bool good = mma.aInTmem ? readTmemOperand(cta, mma, a)
                          : readMatrix(cta, *mma.op, mma.warp, mma.a, !in.aMn,
                                       in.m, in.depth, in.a, "A", a);
  return good && readMatrix(cta, *mma.op, mma.warp, mma.b, !in.bMn, in.n,
                            in.depth, in.b, "B", b);
}

void compute(Cta &cta, const Mma &mma) {
  const InstrDescriptor &in = mma.instr;
  const unsigned depth = in.depth;
  std::vector<float> a(in.m * depth), bRows(in.n * depth), b(in.n * depth),
      acc(in.n);
  if (!readOperands(cta, mma, a.data(), bRows.data()))
    return;
  if (in.negA != in.negB)
    for (float &v : a)
      v = -v;
  for (unsigned n = 0; n < in.n; ++n)
    for (unsigned k = 0; k < depth; ++k)
      b[k * in.n + n] = bRows[n * depth + k];
  float scale = std::ldexp(1.0f, -int(mma.scale));
  for (unsigned m = 0; m < in.m; ++m) {
    unsigned lane = mma.lane(m, mma.dLane);
    if (mma.disabled[lane / 32] >> (lane % 32) & 1)
      continue;
    uint32_t *row = cta.tmem.row(lane) + mma.dColumn;
    uint8_t *valid = cta.tmem.valid(lane) + mma.dColumn;
    for (unsigned n = 0; n < in.n; ++n) {
      if (mma.accumulate && !valid[n]) {
        cta.fault(*mma.op, mma.warp, "uninitialised",
                  "the accumulator of tcgen05.mma reads TMEM lane " +
                      std::to_string(lane) + " column " +
                      std::to_string(mma.dColumn + n) +
                      ", which was never written");
        return;
      }
      float old = !mma.accumulate ? 0.0f
                  : in.f32        ? bitsToFloat(row[n])
                                  : decodeF16(uint16_t(row[n]));
      acc[n] = old * scale;
    }
    accumulateRow(acc.data(), &a[m * depth], b.data(), in.n, depth);
    for (unsigned n = 0; n < in.n; ++n) {
      row[n] = in.f32 ? floatToBits(canonical(acc[n])) : encodeF16(acc[n]);
      valid[n] = 1;
    }
  }
}

/// Reports the accesses to the race detector.
bool orders(Warp &w, const Op &op, const Mma &mma) {
  RaceDetector &race = *w.cta.race;
  const InstrDescriptor &in = mma.instr;
  race.beginTensor(w, op, mma.thread % 32);
  auto shared = [&](const MatrixDescriptor &d, bool kMajor, unsigned extent,
                    Element e) {
    return forChunks(d, kMajor, extent, in.depth, perChunk(e),
                     [&](uint32_t address) {
                       return !w.cta.shared.contains(address, 16) ||
                              race.tensorShared(address, 16, false);
                     });
  };
  if (mma.aInTmem ? !race.tensorTmem(0, 128, mma.aColumn, kAColumns, false)
                  : !shared(mma.a, !in.aMn, in.m, in.a))
    return false;
  if (!shared(mma.b, !in.bMn, in.n, in.b))
    return false;
  // With M = 64 each quarter has 16 lanes.
  for (unsigned lane = mma.dLane; lane < 128; lane += 32)
    if (!race.tensorTmem(lane, in.m == 128 ? 32 : 16, mma.dColumn, in.n, true))
      return false;
  return true;
}

bool check(Warp &w, const Op &op, const Mma &mma) {
  Cta &cta = w.cta;
  const InstrDescriptor &in = mma.instr;
  bool laneOk =
      in.m == 128 ? mma.dLane == 0 : mma.dLane == 0 || mma.dLane == 16;
  if (!laneOk || (mma.aInTmem && mma.aLane != mma.dLane)) {
    w.fault(op, "tmem-lanes",
            "M = " + std::to_string(in.m) + " cannot start at TMEM lane " +
                std::to_string(mma.dLane) +
                (mma.aInTmem ? " with A at lane " + std::to_string(mma.aLane)
                             : std::string()));
    return false;
  }
  if (!checkColumns(cta, op, w.id, mma.dColumn, in.n,
                    "the accumulator of tcgen05.mma") ||
      (mma.aInTmem && !checkColumns(cta, op, w.id, mma.aColumn, kAColumns,
                                    "operand A of tcgen05.mma")))
    return false;
  Tmem::Use d = mma.use(Tmem::TensorWrite), a = mma.use(Tmem::TensorRead);
  d.kind = a.kind = Tmem::StoreWrite;
  if (cta.tmem.pending(d) || (mma.aInTmem && cta.tmem.pending(a))) {
    w.fault(op, "race",
            "tcgen05.mma uses TMEM columns that a tcgen05.st in flight still "
            "writes (no tcgen05.wait::st)");
    return false;
  }
  d.kind = Tmem::LoadRead;
  if (cta.tmem.pending(d)) {
    w.fault(op, "race",
            "tcgen05.mma writes TMEM columns that a tcgen05.ld in flight still "
            "reads (no tcgen05.wait::ld)");
    return false;
  }
  if (cta.race && !orders(w, op, mma))
    return false;
  // It may start at once, so its operands must be there now, even where this
  // run performs it later.
  return cta.engines.eager() || readOperands(cta, mma, nullptr, nullptr);
}

// a: accumulator address, b: A (descriptor or TMEM address), c: B, e: idesc,
// d: enable-input-d. aux: A is in TMEM, aux2: scale, list: disabled lanes.
Step execMma(Warp &w, const Op &op, uint32_t mask) {
  Cta *cta = &w.cta;
  uint32_t enable = w.predMask(op.d, op.negated);
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    auto mma = std::make_shared<Mma>();
    mma->op = &op;
    mma->warp = w.id;
    mma->thread = w.id * 32 + lane;
    uint32_t d = uint32_t(w.address(op.a, op.aux3 & 1, op.imm, lane));
    mma->dColumn = d & 0xffff;
    mma->dLane = d >> 16;
    mma->accumulate = enable >> lane & 1;
    mma->scale = op.aux2;
    mma->aInTmem = op.aux;
    for (unsigned i = 0; i < 4; ++i)
      mma->disabled[i] =
          op.count ? w.reg<uint32_t>(w.cta.program.lists[op.list + i])[lane]
                   : 0;
    std::string error =
        decodeInstr(w.reg<uint32_t>(op.e)[lane], Kind(op.d2), mma->instr);
    if (error.empty())
      error = decodeDescriptor(w.reg<uint64_t>(op.c)[lane], mma->b);
    if (mma->aInTmem) {
      uint32_t a = uint32_t(w.address(op.b, op.aux3 & 2, 0, lane));
      mma->aColumn = a & 0xffff;
      mma->aLane = a >> 16;
      if (error.empty() && mma->instr.aMn)
        error = "operand A in TMEM is always K-major";
    } else if (error.empty()) {
      error = decodeDescriptor(w.reg<uint64_t>(op.b)[lane], mma->a);
    }
    if (!error.empty()) {
      w.fault(op, "bad-descriptor", error);
      good = false;
      return;
    }
    good = check(w, op, *mma);
    if (!good)
      return;
    ++cta->stats.tensorInstructions;
    ++cta->tensorPending[mma->thread];
    cta->tmem.begin(mma->use(Tmem::TensorWrite));
    if (mma->aInTmem)
      cta->tmem.begin(mma->use(Tmem::TensorRead));
    cta->engines.issue(
        Engines::kTensor,
        [=] {
          compute(*cta, *mma);
          cta->tmem.end(mma->use(Tmem::TensorWrite));
          if (mma->aInTmem)
            cta->tmem.end(mma->use(Tmem::TensorRead));
          --cta->tensorPending[mma->thread];
        },
        mma->op);
    good = !cta->faulted();
  });
  return good ? Step::Next : Step::Fault;
}

} // namespace

bool ptxsim::decodeMma(Decoder &d) {
  if (d.takeAny({"ws", "sp", "ashift", "block_scale"}))
    return d.fail(
        "sparse, block-scaled, weight-stationary and shifted MMAs are "
        "not supported");
  if (d.take("kind::f16"))
    d.op.d2 = kF16Kind;
  else if (d.take("kind::tf32"))
    d.op.d2 = kTF32Kind;
  else if (d.take("kind::f8f6f4"))
    d.op.d2 = kF8F6F4Kind;
  else
    return d.fail("expected '.kind::f16', '.kind::tf32' or '.kind::f8f6f4'");
  d.takeAny({"collector::a::discard", "collector::a::fill", "collector::a::use",
             "collector::a::lastuse"});
  if (!d.expectOps(5, 7))
    return false;
  // d, a, b, idesc[, disable-output-lane], enable-input-d[, scale-input-d]
  bool wide;
  int64_t offset;
  if (!d.address(d.operand(0)))
    return false;
  d.op.aux3 = d.op.aux3 ? 1 : 0;
  d.op.aux = d.operand(1).kind == Operand::Address;
  if (d.op.aux) {
    if (!d.address(d.operand(1), d.op.b, offset, wide))
      return false;
    if (offset != 0)
      return d.fail("operand A takes no offset");
    d.op.aux3 |= wide ? 2 : 0;
  } else {
    d.op.b = d.src(d.operand(1), Type::B64);
  }
  d.op.c = d.src(d.operand(2), Type::B64);
  d.op.e = d.src(d.operand(3), Type::B32);
  size_t next = 4;
  if (d.operand(4).kind == Operand::Vector) {
    if (d.operand(4).elems.size() != 4)
      return d.fail("expected 4 disable-output-lane registers");
    if (!d.list(d.operand(4), Type::B32, false))
      return false;
    next = 5;
  }
  if (next >= d.numOps() || d.numOps() > next + 2)
    return d.expectOps(next + 1, next + 2);
  d.op.d = d.predicate(d.operand(next), d.op.negated);
  if (d.numOps() == next + 2) {
    int64_t scale;
    if (!d.immediate(d.operand(next + 1), scale))
      return false;
    if (d.op.d2 == kF8F6F4Kind)
      return d.fail("'.kind::f8f6f4' takes no scale");
    if (scale < 0 || scale > 15)
      return d.fail("expected a scale of 0 to 15");
    d.op.aux2 = uint32_t(scale);
  }
  d.op.fn = execMma;
  return d.ok();
}
