// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// cp.async.bulk: tensor loads and stores, linear copies, bulk groups.

#include "Access.h"
#include "BulkCopy.h"
#include "Reduction.h"
#include "TensorCopy.h"

using namespace ptxsim;

bool ptxsim::sharedOperand(Warp &w, const Op &op, uint64_t &address,
                           uint64_t bytes, unsigned alignment,
                           const char *what) {
  if ((address & kWindowMask) == kSharedWindow)
    address &= ~kWindowMask;
  if (!w.cta.shared.contains(address, bytes)) {
    w.fault(op, "out-of-bounds",
            std::string(what) + " [" + hexString(address) + ", " +
                hexString(address + bytes) +
                ") is outside shared memory, which ends at " +
                hexString(w.cta.shared.end()));
    return false;
  }
  if (address % alignment) {
    w.fault(op, "misaligned",
            std::string(what) + " " + hexString(address) +
                " is not a multiple of " + std::to_string(alignment));
    return false;
  }
  return true;
}

static BulkThread &bulkThread(Warp &w, unsigned lane) {
  return w.cta.bulk[w.id * 32 + lane];
}

std::shared_ptr<BulkGroup> ptxsim::openGroup(Warp &w, const Op &op,
                                             unsigned lane,
                                             const RaceDetector::Token &token) {
  BulkThread &t = bulkThread(w, lane);
  if (!t.current)
    t.current = std::make_shared<BulkGroup>();
  if (!t.current->first)
    t.current->first = &op;
  if (token)
    t.current->stamps.push_back(token->stamp);
  ++t.current->reading;
  ++t.current->open;
  return t.current;
}

bool ptxsim::raceCopy(Warp &w, const Op &op, unsigned lane, uint64_t address,
                      uint64_t bytes, bool write, uint64_t bar,
                      RaceDetector::Token &token) {
  RaceDetector *race = w.cta.race.get();
  if (!race)
    return true;
  token = race->copy(w, op, lane);
  return race->copies(token, uint32_t(address), uint32_t(bytes), write) &&
         (!write || race->useBarrier(w, op, lane, uint32_t(bar), true));
}

bool ptxsim::takeShared(Decoder &d, const Operand &o, uint32_t &base,
                        uint32_t &offset, unsigned wideBit) {
  int64_t imm;
  bool wide;
  if (!d.address(o, base, imm, wide))
    return false;
  offset = uint32_t(int32_t(imm));
  if (imm < 0)
    return d.fail("negative offsets are not supported here");
  if (wide)
    d.op.aux3 |= wideBit;
  return true;
}

namespace {

constexpr uint32_t kPlainStore = 255; // else a Reduction

/// The tensor map that a lane's generic address names, or null after a fault.
const TensorMap *findMap(Warp &w, const Op &op, uint64_t address) {
  uint64_t offset = address & ~kWindowMask;
  if ((address & kWindowMask) == kParamWindow)
    for (size_t i = 0; i < w.cta.launch.params.size(); ++i)
      if (w.cta.program.paramOffsets[i] == offset &&
          w.cta.launch.params[i].isTensorMap)
        return &w.cta.launch.params[i].map;
  w.fault(op, "bad-tensor-map",
          "no tensor map is at address " + hexString(address) +
              "; expected the generic address of a tensor-map parameter");
  return nullptr;
}

/// Marks what a box at \p base covers, not the gaps behind narrow rows.
void markBox(Cta &cta, const TensorMap &map, uint32_t base,
             SharedMemory::State state) {
  if (rowPitch(map) == rowLength(map))
    return cta.shared.mark(base, uint32_t(boxBytes(map)), state);
  forChunks(map, base, [&](uint64_t, uint32_t address) {
    cta.shared.mark(address, 16, state);
    return true;
  });
}

// a: shared address, b: tensor map, c: mbarrier; the list holds coordinates.
Step execTensorLoad(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  Cta *cta = &w.cta;
  unsigned warp = w.id;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    const TensorMap *map = findMap(w, op, w.address(op.b, true, op.imm, lane));
    good = map && checkRank(w, op, *map);
    if (!good)
      return;
    std::vector<int32_t> at(op.count);
    for (unsigned i = 0; i < op.count; ++i)
      at[i] = w.reg<int32_t>(w.cta.program.lists[op.list + i])[lane];
    uint64_t bytes = boxBytes(*map), extent = sharedExtent(*map);
    uint64_t to = w.address(op.a, op.aux3 & 1, int64_t(op.aux), lane);
    uint64_t bar = w.address(op.c, op.aux3 & 2, int64_t(op.aux2), lane);
    good = checkCoordinates(w, op, *map, at, false) &&
           sharedOperand(w, op, to, extent, 128, "destination") &&
           sharedOperand(w, op, bar, 8, 8, "mbarrier");
    if (!good)
      return;
    if (w.cta.shared.holdsBarrier(uint32_t(to), uint32_t(extent))) {
      w.fault(op, "bad-mbarrier", "destination overlaps an mbarrier");
      good = false;
      return;
    }
    RaceDetector::Token token;
    good = raceCopy(w, op, lane, to, extent, true, bar, token);
    if (!good)
      return;
    // From here until it lands the old bytes may be gone.
    markBox(w.cta, *map, uint32_t(to), SharedMemory::Uninit);
    ++w.cta.stats.tmaInstructions;
    const Op *source = &op;
    w.cta.engines.issue(
        w.cta.engines.fresh(),
        [=] {
          std::vector<uint8_t> box;
          if (!gatherBox(*cta, *source, warp, *map, at, box))
            return;
          uint32_t base = uint32_t(to);
          forChunks(*map, base, [&](uint64_t i, uint32_t address) {
            std::copy_n(&box[i], 16, &cta->shared.bytes[address]);
            return true;
          });
          markBox(*cta, *map, base, SharedMemory::Init);
          if (token)
            cta->race->complete(token, uint32_t(bar));
          cta->completeTx(uint32_t(bar), int64_t(bytes), *source, warp);
        },
        source);
    good = !w.cta.faulted();
  });
  return good ? Step::Next : Step::Fault;
}

Step execTensorStore(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  Cta *cta = &w.cta;
  unsigned warp = w.id;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    const TensorMap *map = findMap(w, op, w.address(op.b, true, op.imm, lane));
    good = map && checkRank(w, op, *map);
    if (!good)
      return;
    std::vector<int32_t> at(op.count);
    for (unsigned i = 0; i < op.count; ++i)
      at[i] = w.reg<int32_t>(w.cta.program.lists[op.list + i])[lane];
    uint64_t extent = sharedExtent(*map);
    uint64_t from = w.address(op.a, op.aux3 & 1, int64_t(op.aux), lane);
    uint32_t what = op.d2;
    // It may read at once, so its source must be there now.
    good = checkCoordinates(w, op, *map, at, true) &&
           sharedOperand(w, op, from, extent, 128, "source") &&
           checkSource(w.cta, op, warp, *map, at, uint32_t(from));
    RaceDetector::Token token;
    good = good && raceCopy(w, op, lane, from, extent, false, 0, token);
    if (!good)
      return;
    ++w.cta.stats.tmaInstructions;
    const Op *source = &op;
    issueStore(
        w.cta, openGroup(w, op, lane, token),
        [=](std::vector<uint8_t> &data) {
          uint32_t base = uint32_t(from);
          data.resize(boxBytes(*map));
          auto state = cta->shared.query(base, uint32_t(extent));
          if (state != SharedMemory::Init &&
              !checkSource(*cta, *source, warp, *map, at, base))
            return;
          forChunks(*map, base, [&](uint64_t i, uint32_t address) {
            std::copy_n(&cta->shared.bytes[address], 16, &data[i]);
            return true;
          });
        },
        [=](std::vector<uint8_t> &data) {
          if (!cta->faulted())
            scatterBox(*cta, *source, warp, *map, at, data,
                       what == kPlainStore ? -1 : int(what));
        });
    good = !w.cta.faulted();
  });
  return good ? Step::Next : Step::Fault;
}

Step execCommit(Warp &w, const Op &, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    BulkThread &t = bulkThread(w, lane);
    // An empty group is complete.
    t.committed.push_back(t.current ? t.current
                                    : std::make_shared<BulkGroup>());
    t.current = nullptr;
  });
  return Step::Next;
}

Step execWaitGroup(Warp &w, const Op &op, uint32_t mask) {
  bool done = true;
  forLanes(mask, [&](unsigned lane) {
    auto &groups = bulkThread(w, lane).committed;
    size_t keep = std::min<uint64_t>(uint64_t(op.imm), groups.size());
    for (size_t i = 0; i + keep < groups.size(); ++i)
      done &= (op.aux ? groups[i]->reading : groups[i]->open) == 0;
    if (done && w.cta.race)
      for (size_t i = 0; i + keep < groups.size(); ++i)
        w.cta.race->learn(w.id * 32 + lane, groups[i]->stamps);
    if (done && !op.aux)
      groups.erase(groups.begin(), groups.end() - keep);
  });
  return done ? Step::Next : Step::Blocked;
}

Step execNothing(Warp &, const Op &, uint32_t) { return Step::Next; }

bool takeTensor(Decoder &d, const Operand &o) {
  if (o.kind != Operand::Address || o.elems.size() != 2)
    return d.fail("expected '[tensorMap, {coordinates}]'");
  bool wide;
  if (!d.address(o, d.op.b, d.op.imm, wide))
    return false;
  if (!wide)
    return d.fail("expected a 64-bit generic address of the tensor map");
  if (!d.list(o.elems[1], Type::S32, false))
    return false;
  std::string rank = std::to_string(d.op.count) + "d";
  if (!d.take(rank))
    return d.fail("number of coordinates does not match the rank");
  return true;
}

bool decodeTensorCopy(Decoder &d, bool reduce) {
  bool prefetch = d.take("prefetch");
  for (const std::string &part : d.in->parts)
    if (part.compare(0, 6, "im2col") == 0 || part.compare(0, 6, "tile::") == 0)
      return d.fail("mode '." + part + "' is not supported; expected tiles");
  d.takeAny({"tile"});
  bool hint = d.take("L2::cache_hint");
  if (prefetch) {
    if (!d.take("L2") || !d.take("global") || !d.expectOps(1 + hint))
      return false;
    d.op.fn = execNothing;
    return takeTensor(d, d.operand(0));
  }
  bool load = d.takeAny({"shared::cluster", "shared::cta"}) &&
              d.take("mbarrier::complete_tx::bytes");
  if (!d.take("global"))
    return false;
  if (load && !reduce) {
    d.take("cta_group::1");
    bool multicast = d.take("multicast::cluster");
    if (!d.expectOps(3 + hint + multicast))
      return false;
    // In a cluster of one CTA the only mask is 1.
    if (multicast)
      d.src(d.operand(3), Type::B16);
    if (!takeShared(d, d.operand(0), d.op.a, d.op.aux, 1) ||
        !takeTensor(d, d.operand(1)) ||
        !takeShared(d, d.operand(2), d.op.c, d.op.aux2, 2))
      return false;
    if (hint)
      d.src(d.operand(d.numOps() - 1), Type::B64);
    d.op.fn = execTensorLoad;
    return d.ok();
  }
  if (!d.take("bulk_group") || !d.expectOps(2 + hint))
    return false;
  d.op.d2 = kPlainStore;
  for (const char *name :
       {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
    if (reduce && d.op.d2 == kPlainStore && d.take(name)) {
      Reduction what;
      reductionByName(name, what);
      d.op.d2 = uint32_t(what);
    }
  if (reduce && d.op.d2 == kPlainStore)
    return d.fail("expected the operation of the reduction");
  if (!takeTensor(d, d.operand(0)) ||
      !takeShared(d, d.operand(1), d.op.a, d.op.aux, 1))
    return false;
  if (hint)
    d.src(d.operand(2), Type::B64);
  d.op.fn = execTensorStore;
  return d.ok();
}

bool decodeCp(Decoder &d) {
  bool reduce = d.take("reduce");
  if (!d.take("async") || !d.take("bulk"))
    return d.fail("only 'cp.async.bulk' copies are supported");
  if (d.take("commit_group")) {
    d.op.fn = execCommit;
    return d.expectOps(0);
  }
  if (d.take("wait_group")) {
    d.op.aux = d.take("read");
    d.op.fn = execWaitGroup;
    if (!d.expectOps(1) || !d.immediate(d.operand(0), d.op.imm))
      return false;
    return d.op.imm >= 0 || d.fail("expected a group count of 0 or more");
  }
  if (d.take("tensor"))
    return decodeTensorCopy(d, reduce);
  return decodeLinear(d, reduce);
}

} // namespace

const DecodeEntry ptxsim::kBulkCopyOps[] = {{"cp", decodeCp},
                                            {nullptr, nullptr}};
