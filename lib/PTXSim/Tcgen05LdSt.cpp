// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcgen05.ld and tcgen05.st in every shape.

#include "Tcgen05.h"
#include "Tcgen05Shapes.h"

#include <algorithm>
#include <memory>

using namespace ptxsim;

namespace {

// aux: TmemShape, aux2: store, imm: offset, e: offset of the second half,
// d: pairs of 16-bit columns to a register.
TmemShape shapeOf(const Op &op) { return TmemShape(op.aux); }

/// Lanes and columns that an access touches: one block, or two of 16x32bx2.
struct Blocks {
  Tmem::Use use[2];
  unsigned count = 1;
};

/// Address and access checks common to ld and st.
bool locate(Warp &w, const Op &op, uint32_t mask, Tmem::UseKind kind,
            Blocks &blocks) {
  uint32_t address, lanes[32];
  forLanes(mask, [&](unsigned l) {
    lanes[l] = uint32_t(w.address(op.a, op.aux3 & 1, op.imm, l));
  });
  if (!uniformValue(w, op, mask, lanes, "TMEM addresses", address))
    return false;
  TmemShape shape = shapeOf(op);
  unsigned lane = address >> 16, column = address & 0xffff;
  unsigned columns = tmemColumns(shape, op.count) * (op.d ? 2 : 1);
  unsigned base = 32 * (w.id % 4);
  if (lane != base && (shape == TmemShape::k32x32b || lane != base + 16)) {
    w.fault(op, "tmem-lanes",
            "warp " + std::to_string(w.id) + " can access TMEM lanes " +
                std::to_string(base) + ".." + std::to_string(base + 31) +
                ", but the address names lane " + std::to_string(lane));
    return false;
  }
  blocks.use[0] = {kind, lane, tmemLanes(shape), column, columns};
  if (shape == TmemShape::k16x32bx2) {
    blocks.count = 2;
    blocks.use[1] = blocks.use[0];
    blocks.use[1].column += op.e;
  }
  for (unsigned i = 0; i < blocks.count; ++i)
    if (!checkColumns(w.cta, op, w.id, blocks.use[i].column, columns,
                      op.aux2 ? "tcgen05.st" : "tcgen05.ld"))
      return false;
  return true;
}

bool checkUnordered(Warp &w, const Op &op, const Blocks &blocks,
                    std::initializer_list<Tmem::UseKind> kinds) {
  static constexpr const char *kNames[] = {
      "a tcgen05.st in flight still writes (no tcgen05.wait::st)",
      "a tensor-core operation in flight still writes",
      "a tensor-core operation in flight still reads",
      "a tcgen05.ld in flight still reads (no tcgen05.wait::ld)"};
  for (unsigned i = 0; i < blocks.count; ++i)
    for (auto kind : kinds) {
      Tmem::Use use = blocks.use[i];
      use.kind = kind;
      if (!w.cta.tmem.pending(use))
        continue;
      w.fault(op, "race",
              std::string(op.aux2 ? "tcgen05.st" : "tcgen05.ld") +
                  " touches TMEM columns " + std::to_string(use.column) + ".." +
                  std::to_string(use.column + use.columns - 1) + ", which " +
                  kNames[kind]);
      return false;
    }
  return true;
}

bool orders(Warp &w, const Op &op, const Blocks &blocks) {
  for (unsigned i = 0; w.cta.race && i < blocks.count; ++i) {
    const Tmem::Use &u = blocks.use[i];
    if (!w.cta.race->tmemAccess(w, op, u.lane, u.lanes, u.column, u.columns,
                                op.aux2))
      return false;
  }
  return true;
}

/// Calls fn(thread, register, lane, column) for each word; the column is the
/// first of two when packed.
template <class F>
void forWords(TmemShape shape, unsigned registers, bool packed,
              const Blocks &blocks, F &&fn) {
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned t = 0; t < 32; ++t) {
      TmemPlace p = tmemPlace(shape, t, r);
      const Tmem::Use &u = blocks.use[p.half];
      fn(t, r, u.lane + p.lane, u.column + p.column * (packed ? 2 : 1));
    }
}

Step execLd(Warp &w, const Op &op, uint32_t mask) {
  Blocks blocks;
  if (!locate(w, op, mask, Tmem::LoadRead, blocks) ||
      !checkUnordered(w, op, blocks, {Tmem::StoreWrite, Tmem::TensorWrite}) ||
      !orders(w, op, blocks))
    return Step::Fault;
  Cta &cta = w.cta;
  for (unsigned i = 0; i < blocks.count; ++i) {
    const Tmem::Use &u = blocks.use[i];
    for (unsigned l = u.lane; l < u.lane + u.lanes; ++l) {
      const uint8_t *valid = cta.tmem.valid(l) + u.column;
      const uint8_t *hole = std::find(valid, valid + u.columns, 0);
      if (hole != valid + u.columns)
        return w.fault(op, "uninitialised",
                       "tcgen05.ld reads TMEM lane " + std::to_string(l) +
                           " column " +
                           std::to_string(u.column + (hole - valid)) +
                           ", which was never written");
    }
  }
  const uint32_t *regs = &cta.program.lists[op.list];
  auto data = std::make_shared<std::vector<uint32_t>>();
  bool late = !cta.engines.eager() && cta.options.poisonUnwaitedLoads;
  if (late)
    data->resize(op.count * 32);
  const bool packed = op.d;
  forWords(shapeOf(op), op.count, packed, blocks,
           [&](unsigned t, unsigned r, unsigned lane, unsigned column) {
             const uint32_t *word = cta.tmem.row(lane) + column;
             uint32_t value = word[0];
             if (packed)
               value = (word[0] & 0xffff) | word[1] << 16;
             if (late)
               (*data)[r * 32 + t] = value;
             w.reg<uint32_t>(regs[r])[t] = late ? 0x7fffdead : value;
           });
  // Its registers may be used at once, but the columns may not be written yet.
  w.tmemLoads.begin(op, blocks.use, blocks.count);
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
  Blocks blocks;
  if (!locate(w, op, mask, Tmem::StoreWrite, blocks) ||
      !checkUnordered(w, op, blocks,
                      {Tmem::TensorWrite, Tmem::TensorRead, Tmem::LoadRead}) ||
      !orders(w, op, blocks))
    return Step::Fault;
  Cta *cta = &w.cta;
  const uint32_t *regs = &cta->program.lists[op.list];
  auto data = std::make_shared<std::vector<uint32_t>>(op.count * 32);
  for (unsigned r = 0; r < op.count; ++r)
    std::copy_n(w.reg<uint32_t>(regs[r]), 32, &(*data)[r * 32]);
  for (unsigned i = 0; i < blocks.count; ++i)
    cta->tmem.begin(blocks.use[i]);
  const bool packed = op.d;
  TmemShape shape = shapeOf(op);
  unsigned count = op.count;
  cta->engines.issue(Engines::tmemStores(w.id), [=] {
    forWords(shape, count, packed, blocks,
             [&](unsigned t, unsigned r, unsigned lane, unsigned column) {
               uint32_t value = (*data)[r * 32 + t];
               uint32_t *word = cta->tmem.row(lane) + column;
               uint8_t *valid = cta->tmem.valid(lane) + column;
               word[0] = packed ? value & 0xffff : value;
               valid[0] = 1;
               if (packed) {
                 word[1] = value >> 16;
                 valid[1] = 1;
               }
             });
    for (unsigned i = 0; i < blocks.count; ++i)
      cta->tmem.end(blocks.use[i]);
  });
  return Step::Next;
}

} // namespace

bool ptxsim::decodeTmemLdSt(Decoder &d, bool store) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("b32"))
    return false;
  d.op.flags |= kAligned;
  TmemShape shape = TmemShape::k32x32b;
  bool found = false;
  for (const char *name :
       {"16x64b", "16x128b", "16x256b", "32x32b", "16x32bx2"})
    if (d.take(name))
      found = tmemShapeByName(name, shape);
  if (!found)
    return d.fail("expected a shape of 16x64b, 16x128b, 16x256b, 32x32b or "
                  "16x32bx2");
  if (d.take("red"))
    return d.fail("'tcgen05.ld.red' is not of this target");
  std::string x = d.takePrefix("x");
  static constexpr const char *kCounts[] = {"x1",  "x2",  "x4",  "x8",
                                            "x16", "x32", "x64", "x128"};
  unsigned count = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (x == kCounts[i])
      count = (1u << i) * tmemRegisters(shape);
  if (count == 0 || count > 128)
    return d.fail("unsupported repetition '." + x + "'");
  d.op.d = d.take(store ? "unpack::16b" : "pack::16b");
  bool split = shape == TmemShape::k16x32bx2;
  if (!d.expectOps(2 + split))
    return false;
  size_t address = store ? 0 : 1, value = store ? 1 + split : 0;
  if (!d.address(d.operand(address)))
    return false;
  d.op.e = 0;
  if (split) {
    int64_t offset;
    if (!d.immediate(d.operand(address + 1), offset))
      return false;
    if (offset < 0 || offset >= int64_t(Tmem::kColumns))
      return d.fail("expected an offset of 0 to 511 columns");
    d.op.e = uint32_t(offset);
  }
  if (!d.list(d.operand(value), Type::B32, !store))
    return false;
  if (d.op.count != count)
    return d.fail("expected " + std::to_string(count) + " registers, but got " +
                  std::to_string(d.op.count));
  d.op.aux = unsigned(shape);
  d.op.aux2 = store;
  if (!store)
    d.op.flags |= kLoads;
  d.op.fn = store ? execSt : execLd;
  return d.ok();
}
