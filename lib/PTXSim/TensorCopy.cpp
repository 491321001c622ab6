// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorCopy.h"

#include "Reduction.h"

#include "FloatFormat.h"

#include <algorithm>
#include <functional>

using namespace ptxsim;

unsigned ptxsim::elementBytes(ElementType type) {
  switch (type) {
  case ElementType::U8:
    return 1;
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::U64:
  case ElementType::S64:
  case ElementType::F64:
    return 8;
  default:
    return 4;
  }
}

/// Bytes after which the swizzle repeats within a row, 0 without one.
static uint32_t swizzleSpan(Swizzle swizzle) {
  return swizzle == Swizzle::None  ? 0
         : swizzle == Swizzle::B32 ? 32
         : swizzle == Swizzle::B64 ? 64
                                   : 128;
}

std::string TensorMap::check() const {
  size_t rank = dims.size();
  auto num = [](uint64_t v) { return std::to_string(v); };
  if (rank < 1 || rank > 5)
    return "expected a rank of 1 to 5, but got " + num(rank);
  if (strides.size() + 1 != rank || box.size() != rank)
    return "expected " + num(rank - 1) + " strides and " + num(rank) +
           " box sizes";
  if (address % 16)
    return "expected an address that is a multiple of 16, but got " +
           hexString(address);
  uint64_t bytes = elementBytes(type);
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] == 0 || dims[i] > uint64_t(1) << 32)
      return "dimension " + num(i) + " has extent " + num(dims[i]) +
             ", expected 1 to 2^32";
    if (box[i] == 0 || box[i] > 256)
      return "dimension " + num(i) + " has box size " + num(box[i]) +
             ", expected 1 to 256";
  }
  for (size_t i = 0; i + 1 < rank; ++i)
    if (strides[i] % 16 || strides[i] >= uint64_t(1) << 40)
      return "dimension " + num(i + 1) + " has a stride of " + num(strides[i]) +
             " bytes, expected a multiple of 16 below 2^40";
  uint64_t inner = box[0] * bytes;
  if (inner % 16)
    return "inner box of " + num(inner) + " bytes is not a multiple of 16";
  uint32_t span = swizzleSpan(swizzle);
  if (span && inner > span)
    return "inner box of " + num(inner) +
           " bytes exceeds the swizzle span of " + num(span);
  for (uint32_t s : elementStrides)
    if (s != 1)
      return "element strides other than 1 are not supported";
  return "";
}

uint64_t ptxsim::boxBytes(const TensorMap &map) {
  uint64_t n = elementBytes(map.type);
  for (uint32_t b : map.box)
    n *= b;
  return n;
}

uint32_t ptxsim::rowLength(const TensorMap &map) {
  return map.box[0] * elementBytes(map.type);
}

uint32_t ptxsim::rowPitch(const TensorMap &map) {
  return std::max(rowLength(map), swizzleSpan(map.swizzle));
}

uint64_t ptxsim::sharedExtent(const TensorMap &map) {
  return boxBytes(map) / rowLength(map) * rowPitch(map);
}

bool ptxsim::checkRank(Warp &w, const Op &op, const TensorMap &map) {
  if (map.dims.size() == op.count)
    return true;
  w.fault(op, "bad-tensor-map",
          "the instruction has rank " + std::to_string(op.count) +
              ", but the tensor map has rank " +
              std::to_string(map.dims.size()));
  return false;
}

bool ptxsim::checkCoordinates(Warp &w, const Op &op, const TensorMap &map,
                              const std::vector<int32_t> &at, bool store) {
  int64_t bytes = int64_t(at[0]) * elementBytes(map.type);
  if (bytes % 16) {
    w.fault(op, "bad-coordinate",
            "the first coordinate is " + std::to_string(at[0]) + ", which is " +
                std::to_string(bytes) +
                " bytes; expected a multiple of 16 bytes");
    return false;
  }
  for (size_t i = 0; store && i < at.size(); ++i)
    if (at[i] < 0) {
      w.fault(op, "bad-coordinate",
              "coordinate " + std::to_string(i) + " of a store is " +
                  std::to_string(at[i]) + "; expected 0 or more");
      return false;
    }
  return true;
}

/// Calls fn(offset in box, bytes, global address) for each row's part inside
/// the tensor; rows outside are left out. fn returns false to stop.
static bool
forRows(const TensorMap &map, const std::vector<int32_t> &at, uint64_t extent,
        const std::function<bool(uint64_t, uint64_t, uint64_t)> &fn) {
  const size_t rank = map.dims.size();
  const uint64_t bytes = elementBytes(map.type);
  int64_t first = std::max<int64_t>(0, -int64_t(at[0]));
  int64_t end = std::min<int64_t>(map.box[0], int64_t(extent) - at[0]);
  if (first >= end)
    return true;
  uint64_t rows = 1;
  for (size_t i = 1; i < rank; ++i)
    rows *= map.box[i];
  std::vector<uint32_t> index(rank, 0);
  for (uint64_t row = 0; row < rows; ++row) {
    bool inside = true;
    uint64_t address = map.address + uint64_t(at[0] + first) * bytes;
    for (size_t i = 1; i < rank; ++i) {
      int64_t c = int64_t(at[i]) + index[i];
      inside &= c >= 0 && uint64_t(c) < map.dims[i];
      address += uint64_t(c) * map.strides[i - 1];
    }
    if (inside && !fn((row * map.box[0] + uint64_t(first)) * bytes,
                      uint64_t(end - first) * bytes, address))
      return false;
    for (size_t i = 1; i < rank && ++index[i] == map.box[i]; ++i)
      index[i] = 0;
  }
  return true;
}

static uint8_t *translate(Cta &cta, const Op &op, unsigned warp,
                          uint64_t address, uint64_t bytes, bool write) {
  uint8_t *p = cta.memory.translate(address, bytes);
  if (p && (!write || cta.memory.find(address)->writable))
    return p;
  cta.fault(op, warp, "out-of-bounds",
            std::string("tensor copy ") + (write ? "writes " : "reads ") +
                std::to_string(bytes) + " bytes at global address " +
                hexString(address) + " (" + cta.memory.describe(address) +
                "), which the tensor map covers but no " +
                (write ? "writable buffer" : "buffer"));
  return nullptr;
}

bool ptxsim::gatherBox(Cta &cta, const Op &op, unsigned warp,
                       const TensorMap &map, const std::vector<int32_t> &at,
                       std::vector<uint8_t> &box) {
  box.assign(boxBytes(map), 0);
  if (map.nanFill)
    for (size_t i = 0; i + 1 < box.size(); i += 2)
      box[i] = 0xf7, box[i + 1] = 0x7f; // in every 16 bits of any type
  return forRows(map, at, map.dims[0],
                 [&](uint64_t offset, uint64_t bytes, uint64_t from) {
                   const uint8_t *p =
                       translate(cta, op, warp, from, bytes, false);
                   if (p)
                     std::copy_n(p, bytes, &box[offset]);
                   return p != nullptr;
                 });
}

static Type reductionType(ElementType type) {
  switch (type) {
  case ElementType::S32:
    return Type::S32;
  case ElementType::U64:
    return Type::U64;
  case ElementType::S64:
    return Type::S64;
  case ElementType::F16:
    return Type::F16;
  case ElementType::BF16:
    return Type::BF16;
  case ElementType::F32:
  case ElementType::F32Ftz:
  case ElementType::TF32:
    return Type::F32;
  case ElementType::F64:
    return Type::F64;
  default:
    return Type::U32;
  }
}

// Logic works on bits; bytes and 16-bit integers take part in nothing else.
static bool reduceElements(uint8_t *to, const uint8_t *from, uint64_t bytes,
                           uint64_t address, ElementType element,
                           Reduction what) {
  Type type = reductionType(element);
  bool logic =
      what == Reduction::And || what == Reduction::Or || what == Reduction::Xor;
  unsigned size = elementBytes(element);
  if (logic)
    type = size == 8 ? Type::B64 : Type::B32;
  if (type == Type::S64 && what == Reduction::Add)
    type = Type::U64;
  if (!reductionTakes(what, type) || (size < 4 && !isFloat(type)))
    return false;
  for (uint64_t i = 0; i + size <= bytes; i += size) {
    std::lock_guard<std::mutex> lock(globalLock(address + i));
    uint64_t a = 0, b = 0;
    std::memcpy(&a, to + i, size);
    std::memcpy(&b, from + i, size);
    a = reduce(what, type, a, b);
    std::memcpy(to + i, &a, size);
  }
  return true;
}

/// Stores and reductions clip the first dimension to whole 16 bytes only, and
/// so write the padding behind a row that ends within them.
static uint64_t storedExtent(const TensorMap &map) {
  uint64_t per = 16 / elementBytes(map.type);
  return (map.dims[0] + per - 1) / per * per;
}

bool ptxsim::scatterBox(Cta &cta, const Op &op, unsigned warp,
                        const TensorMap &map, const std::vector<int32_t> &at,
                        const std::vector<uint8_t> &box, int reduction) {
  return forRows(map, at, storedExtent(map),
                 [&](uint64_t offset, uint64_t bytes, uint64_t to) {
                   uint8_t *p = translate(cta, op, warp, to, bytes, true);
                   if (p && reduction < 0) {
                     std::copy_n(&box[offset], bytes, p);
                   } else if (p &&
                              !reduceElements(p, &box[offset], bytes, to,
                                              map.type, Reduction(reduction))) {
                     cta.fault(op, warp, "bad-tensor-map",
                               "the element type does not go with this "
                               "reduction");
                     return false;
                   }
                   return p != nullptr;
                 });
}

bool ptxsim::checkSource(Cta &cta, const Op &op, unsigned warp,
                         const TensorMap &map, const std::vector<int32_t> &at,
                         uint32_t base) {
  const uint32_t rowBytes = rowLength(map), pitch = rowPitch(map);
  return forRows(map, at, storedExtent(map),
                 [&](uint64_t offset, uint64_t bytes, uint64_t) {
                   for (uint64_t i = 0; i < bytes; ++i) {
                     uint32_t a =
                         placeInShared(map, base, offset + i, rowBytes, pitch);
                     if (cta.shared.query(a, 1) == SharedMemory::Init)
                       continue;
                     cta.fault(op, warp, "uninitialised",
                               "tensor store reads shared address " +
                                   cta.program.sharedText(a) +
                                   ", which was never written");
                     return false;
                   }
                   return true;
                 });
}
