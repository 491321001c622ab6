// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcgen05.cp, from a matrix in shared memory to TMEM, and tcgen05.shift. Both
// run on the tensor core, in order with its MMAs.

#include "MatrixOperand.h"
#include "Tcgen05.h"

#include <cstring>
#include <memory>

using namespace ptxsim;

namespace {

// Rows of 16 or 32 bytes, and the lanes that take each row: lane
// base + row % period + period * (the set bits of the row's multicast).
struct CopyShape {
  const char *name, *multicast;
  unsigned rows, bytes;
};

constexpr CopyShape kShapes[] = {{"128x256b", "", 128, 32},
                                 {"4x256b", "", 4, 32},
                                 {"128x128b", "", 128, 16},
                                 {"64x128b", "warpx2::02_13", 64, 16},
                                 {"64x128b", "warpx2::01_23", 64, 16},
                                 {"32x128b", "warpx4", 32, 16}};

/// Lanes of a row, as a list of at most four.
unsigned lanesOf(unsigned shape, unsigned row, unsigned lanes[4]) {
  unsigned within = row % 32, half = row / 32;
  switch (shape) {
  case 3: // warps 0 and 2 take the first half, 1 and 3 the second
    lanes[0] = 32 * half + within;
    lanes[1] = 32 * (half + 2) + within;
    return 2;
  case 4: // warps 0 and 1 take the first half, 2 and 3 the second
    lanes[0] = 64 * half + within;
    lanes[1] = 64 * half + 32 + within;
    return 2;
  case 5:
    for (unsigned i = 0; i < 4; ++i)
      lanes[i] = 32 * i + within;
    return 4;
  default:
    lanes[0] = row;
    return 1;
  }
}

enum Format : uint32_t { kPlain, kSixBits, kFourBits };

/// Spreads the codes of a chunk to one a byte; see containerElement().
void decompress(Format format, const uint8_t *from, uint8_t *to) {
  for (unsigned i = 0; i < 16; ++i) {
    unsigned bits = format == kSixBits ? 6 : 4, at = bits * i;
    unsigned two = from[at / 8] | from[at / 8 + 1] << 8;
    unsigned code = two >> at % 8 & ((1u << bits) - 1);
    to[i] = uint8_t(format == kSixBits ? code : code << 2);
  }
}

// a: TMEM address, b: descriptor, aux: shape, aux2: format.
struct Copy {
  MatrixDescriptor source;
  unsigned lane, column, shape;
  Format format;
  Tmem::Use use(Tmem::UseKind kind) const {
    const CopyShape &s = kShapes[shape];
    if (s.rows == 4)
      return {kind, lane, 4, column, s.bytes / 4};
    return {kind, 0, 128, column, s.bytes / 4};
  }
};

uint32_t chunkOf(const Copy &c, unsigned row, unsigned chunk) {
  return swizzled(chunkAddress(c.source, true, row, chunk * 8),
                  c.source.swizzle);
}

bool checkSource(Cta &cta, const Op &op, unsigned warp, const Copy &c) {
  const CopyShape &s = kShapes[c.shape];
  for (unsigned row = 0; row < s.rows; ++row)
    for (unsigned k = 0; k < s.bytes / 16; ++k)
      if (!checkChunk(cta, op, warp, chunkOf(c, row, k),
                      "row " + std::to_string(row) + " of tcgen05.cp"))
        return false;
  return true;
}

void run(Cta &cta, const Op &op, unsigned warp, const Copy &c) {
  const CopyShape &s = kShapes[c.shape];
  if (!checkSource(cta, op, warp, c))
    return;
  for (unsigned row = 0; row < s.rows; ++row)
    for (unsigned k = 0; k < s.bytes / 16; ++k) {
      const uint8_t *chunk = &cta.shared.bytes[chunkOf(c, row, k)];
      uint8_t bytes[16];
      if (c.format == kPlain)
        std::memcpy(bytes, chunk, 16);
      else
        decompress(c.format, chunk, bytes);
      unsigned lanes[4], n = lanesOf(c.shape, row, lanes);
      for (unsigned i = 0; i < n; ++i) {
        unsigned lane = c.lane + lanes[i];
        std::memcpy(cta.tmem.row(lane) + c.column + 4 * k, bytes, 16);
        std::memset(cta.tmem.valid(lane) + c.column + 4 * k, 1, 4);
      }
    }
}

/// TMEM that threads still use.
bool checkUnordered(Warp &w, const Op &op, Tmem::Use use) {
  for (auto kind : {Tmem::StoreWrite, Tmem::LoadRead}) {
    use.kind = kind;
    if (w.cta.tmem.pending(use)) {
      w.fault(op, "race",
              kind == Tmem::StoreWrite
                  ? "the tensor core uses TMEM columns that a tcgen05.st in "
                    "flight still writes (no tcgen05.wait::st)"
                  : "the tensor core writes TMEM columns that a tcgen05.ld in "
                    "flight still reads (no tcgen05.wait::ld)");
      return false;
    }
  }
  return true;
}

template <class F>
void issue(Warp &w, const Op &op, unsigned thread, const Tmem::Use &use,
           F run) {
  Cta *cta = &w.cta;
  ++cta->stats.tensorInstructions;
  ++cta->tensorPending[thread];
  cta->tmem.begin(use);
  cta->engines.issue(
      Engines::kTensor,
      [=] {
        run(*cta);
        cta->tmem.end(use);
        --cta->tensorPending[thread];
      },
      &op);
}

Step execCp(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    Copy c;
    uint32_t address = uint32_t(w.address(op.a, op.aux3 & 1, op.imm, lane));
    c.lane = address >> 16;
    c.column = address & 0xffff;
    c.shape = op.aux;
    c.format = Format(op.aux2);
    std::string error = decodeDescriptor(w.reg<uint64_t>(op.b)[lane], c.source);
    if (!error.empty()) {
      w.fault(op, "bad-descriptor", error);
      good = false;
      return;
    }
    const CopyShape &s = kShapes[c.shape];
    bool laneOk = s.rows == 4 ? c.lane % 4 == 0 && c.lane < 128 : c.lane == 0;
    if (!laneOk) {
      w.fault(op, "tmem-lanes",
              std::string("tcgen05.cp of shape ") + s.name +
                  " cannot start at TMEM lane " + std::to_string(c.lane));
      good = false;
      return;
    }
    Tmem::Use use = c.use(Tmem::TensorWrite);
    good = checkColumns(w.cta, op, w.id, c.column, use.columns, "tcgen05.cp") &&
           checkUnordered(w, op, use);
    if (good && w.cta.race) {
      RaceDetector &race = *w.cta.race;
      race.beginTensor(w, op, lane);
      for (unsigned row = 0; good && row < s.rows; ++row)
        for (unsigned k = 0; good && k < s.bytes / 16; ++k) {
          uint32_t from = chunkOf(c, row, k);
          good = !w.cta.shared.contains(from, 16) ||
                 race.tensorShared(from, 16, false);
        }
      good = good && race.tensorTmem(use.lane, use.lanes, use.column,
                                     use.columns, true);
    }
    good = good && (w.cta.engines.eager() || checkSource(w.cta, op, w.id, c));
    if (!good)
      return;
    const Op *source = &op;
    unsigned warp = w.id;
    issue(w, op, w.id * 32 + lane, use,
          [=](Cta &cta) { run(cta, *source, warp, c); });
    good = !w.cta.faulted();
  });
  return good ? Step::Next : Step::Fault;
}

// The rows of a warp's 32 lanes, 32 bytes each, move to the next lane; the
// last is lost and the first stays. PTX gives the shape as 31x256b.
Step execShift(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    uint32_t address = uint32_t(w.address(op.a, op.aux3 & 1, op.imm, lane));
    unsigned first = address >> 16, column = address & 0xffff;
    if (first % 32 || first >= 128) {
      w.fault(op, "tmem-lanes",
              "expected a lane that is a multiple of 32, but got " +
                  std::to_string(first));
      good = false;
      return;
    }
    Tmem::Use use{Tmem::TensorWrite, first, 32, column, 8};
    good = checkColumns(w.cta, op, w.id, column, 8, "tcgen05.shift") &&
           checkUnordered(w, op, use);
    if (good && w.cta.race) {
      w.cta.race->beginTensor(w, op, lane);
      good = w.cta.race->tensorTmem(first, 32, column, 8, true);
    }
    if (!good)
      return;
    issue(w, op, w.id * 32 + lane, use, [=](Cta &cta) {
      for (unsigned l = first + 31; l > first; --l) {
        std::memcpy(cta.tmem.row(l) + column, cta.tmem.row(l - 1) + column, 32);
        std::memcpy(cta.tmem.valid(l) + column, cta.tmem.valid(l - 1) + column,
                    8);
      }
    });
    good = !w.cta.faulted();
  });
  return good ? Step::Next : Step::Fault;
}

} // namespace

bool ptxsim::decodeTmemCopy(Decoder &d) {
  bool found = false;
  for (unsigned i = 0; i < 6 && !found; ++i) {
    const CopyShape &s = kShapes[i];
    bool here = false, multicast = !*s.multicast;
    for (const std::string &part : d.in->parts) {
      here |= part == s.name;
      multicast |= part == s.multicast;
    }
    if (!here || !multicast)
      continue;
    found = d.take(s.name);
    if (*s.multicast)
      d.take(s.multicast);
    d.op.aux = i;
  }
  if (!found)
    return d.fail("expected a shape of 128x256b, 4x256b, 128x128b, "
                  "64x128b.warpx2 or 32x128b.warpx4");
  if (d.take("b8x16")) {
    d.op.aux2 = d.take("b6x16_p32") ? kSixBits : kFourBits;
    if (d.op.aux2 == kFourBits && !d.take("b4x16_p64"))
      return d.fail("expected '.b6x16_p32' or '.b4x16_p64'");
  }
  if (!d.expectOps(2) || !d.address(d.operand(0)))
    return false;
  d.op.b = d.src(d.operand(1), Type::B64);
  d.op.fn = execCp;
  return d.ok();
}

bool ptxsim::decodeTmemShift(Decoder &d) {
  if (!d.take("down") || !d.expectOps(1) || !d.address(d.operand(0)))
    return false;
  d.op.fn = execShift;
  return d.ok();
}
