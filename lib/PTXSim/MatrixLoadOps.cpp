// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ldmatrix and stmatrix: a warp moves 8 x 8 matrices of 16-bit elements, or
// matrices of bytes with 16 rows, between shared memory and fragments. Rows
// lie 16 bytes each at addresses that lanes give, eight lanes a matrix.

#include "Access.h"
#include "Decoder.h"

#include <cstring>

using namespace ptxsim;

namespace {

/// Matrix, row and byte in the row of byte b of register r of a lane.
struct Place {
  unsigned row; // index of the lane that gives the row's address
  unsigned byte;
};

// m8n8 of 16-bit elements: register r is matrix r; lane t holds elements
// 2 (t % 4) and the next of row t / 4, or with .trans of column t / 4.
Place place16(bool trans, unsigned r, unsigned t, unsigned b) {
  unsigned row = t / 4, column = 2 * (t % 4) + b / 2;
  if (trans)
    std::swap(row, column);
  return {8 * r + row, 2 * column + b % 2};
}

// m16n16 of bytes, transposed: a matrix has 16 rows of 16 bytes, whose
// addresses 16 lanes give. Lane t holds in register 2 m + h of matrix m bytes
// 4 (t % 4) ... of row t / 4 + 8 h of the transposed matrix.
Place placeByteLoad(unsigned r, unsigned t, unsigned b) {
  unsigned row = t / 4 + 8 * (r % 2), column = 4 * (t % 4) + b;
  return {16 * (r / 2) + column, row};
}

// m16n8 of bytes, transposed: memory holds 8 rows of 16 bytes a matrix.
// Lane t holds in register m bytes 4 (t % 4) ... of column t / 4.
Place placeByteStore(unsigned r, unsigned t, unsigned b) {
  return {8 * r + t / 4, 4 * (t % 4) + b};
}

enum Layout : uint32_t { kHalf, kHalfTrans, kByteLoad, kByteStore };

Place placeOf(uint32_t layout, unsigned r, unsigned t, unsigned b) {
  switch (layout) {
  case kHalf:
  case kHalfTrans:
    return place16(layout == kHalfTrans, r, t, b);
  case kByteLoad:
    return placeByteLoad(r, t, b);
  default:
    return placeByteStore(r, t, b);
  }
}

// aux: layout, aux2: rows, aux3 bit 0: 64-bit address, bit 1: store.
Step execMatrix(Warp &w, const Op &op, uint32_t mask) {
  bool store = op.aux3 & 2;
  if (mask != ~0u)
    return w.fault(op, "divergence",
                   "expected all 32 lanes, but got " + hexString(mask));
  uint8_t *rows[32] = {};
  for (unsigned i = 0; i < op.aux2; ++i) {
    uint64_t address = w.address(op.a, op.aux3 & 1, op.imm, i);
    rows[i] = resolve(w, op, i, Space::Shared, address, 16, store);
    if (!rows[i])
      return Step::Fault;
  }
  const uint32_t *regs = &w.cta.program.lists[op.list];
  for (unsigned r = 0; r < op.count; ++r)
    for (unsigned t = 0; t < 32; ++t) {
      uint8_t *value = w.reg<uint8_t>(regs[r]) + 4 * t;
      for (unsigned b = 0; b < 4; ++b) {
        Place p = placeOf(op.aux, r, t, b);
        if (store)
          rows[p.row][p.byte] = value[b];
        else
          value[b] = rows[p.row][p.byte];
      }
    }
  if (store)
    ++w.cta.epoch;
  return Step::Next;
}

bool decodeMatrix(Decoder &d) {
  bool store = d.mnemonic() == "stmatrix";
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  d.takeAny({"shared", "shared::cta"});
  bool trans = d.take("trans");
  unsigned count = d.take("x1") ? 1 : d.take("x2") ? 2 : d.take("x4") ? 4 : 0;
  if (!count)
    return d.fail("expected '.x1', '.x2' or '.x4'");
  unsigned registers = count;
  if (d.take("b16")) {
    if (!d.take("m8n8"))
      return d.fail("expected shape '.m8n8' of 16-bit elements");
    d.op.aux = trans ? kHalfTrans : kHalf;
    d.op.aux2 = 8 * count;
  } else if (d.take("b8") && trans) {
    if (!d.take(store ? "m16n8" : "m16n16") || (!store && count == 4))
      return d.fail("unsupported shape of 8-bit elements");
    d.op.aux = store ? kByteStore : kByteLoad;
    d.op.aux2 = (store ? 8 : 16) * count;
    registers = store ? count : 2 * count;
  } else {
    return d.fail("expected '.b16', or '.trans' with '.b8'");
  }
  if (!d.expectOps(2) || !d.address(d.operand(store ? 0 : 1)) ||
      !d.list(d.operand(store ? 1 : 0), Type::B32, !store))
    return false;
  if (d.op.count != registers)
    return d.fail("expected " + std::to_string(registers) +
                  " registers, but got " + std::to_string(d.op.count));
  if (store)
    d.op.aux3 |= 2;
  d.op.flags |= kAligned;
  d.op.fn = execMatrix;
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kMatrixLoadOps[] = {
    {"ldmatrix", decodeMatrix}, {"stmatrix", decodeMatrix}, {nullptr, nullptr}};
