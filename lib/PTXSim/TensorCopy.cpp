// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorCopy.h"

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
  uint64_t span = swizzle == Swizzle::None  ? ~uint64_t(0)
                  : swizzle == Swizzle::B32 ? 32
                  : swizzle == Swizzle::B64 ? 64
                                            : 128;
  if (inner > span)
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

bool ptxsim::checkRank(Warp &w, const Op &op, const TensorMap &map) {
  if (map.dims.size() == op.count)
    return true;
  w.fault(op, "bad-tensor-map",
          "the instruction has rank " + std::to_string(op.count) +
              ", but the tensor map has rank " +
              std::to_string(map.dims.size()));
  return false;
}

/// Calls fn(offset in box, bytes, global address) for each row's part inside
/// the tensor; rows outside are left out. fn returns false to stop.
static bool
forRows(const TensorMap &map, const std::vector<int32_t> &at,
        const std::function<bool(uint64_t, uint64_t, uint64_t)> &fn) {
  const size_t rank = map.dims.size();
  const uint64_t bytes = elementBytes(map.type);
  int64_t first = std::max<int64_t>(0, -int64_t(at[0]));
  int64_t end = std::min<int64_t>(map.box[0], int64_t(map.dims[0]) - at[0]);
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
                "), which the tensor map covers but no buffer");
  return nullptr;
}

bool ptxsim::gatherBox(Cta &cta, const Op &op, unsigned warp,
                       const TensorMap &map, const std::vector<int32_t> &at,
                       std::vector<uint8_t> &box) {
  box.assign(boxBytes(map), 0);
  if (map.nanFill)
    for (size_t i = 0; i + 1 < box.size(); i += 2)
      box[i] = 0xff, box[i + 1] = 0x7f;
  return forRows(map, at, [&](uint64_t offset, uint64_t bytes, uint64_t from) {
    const uint8_t *p = translate(cta, op, warp, from, bytes, false);
    if (p)
      std::copy_n(p, bytes, &box[offset]);
    return p != nullptr;
  });
}

static void addElements(uint8_t *to, const uint8_t *from, uint64_t bytes,
                        ElementType type) {
  auto each = [&](auto zero, auto sum) {
    using T = decltype(zero);
    for (uint64_t i = 0; i < bytes; i += sizeof(T)) {
      T a, b;
      std::memcpy(&a, to + i, sizeof(T));
      std::memcpy(&b, from + i, sizeof(T));
      a = T(sum(a, b));
      std::memcpy(to + i, &a, sizeof(T));
    }
  };
  auto plain = [](auto a, auto b) { return a + b; };
  switch (type) {
  case ElementType::U8:
    each(uint8_t(0), plain);
    break;
  case ElementType::U16:
    each(uint16_t(0), plain);
    break;
  case ElementType::U64:
  case ElementType::S64:
    each(uint64_t(0), plain);
    break;
  case ElementType::F64:
    each(0.0, plain);
    break;
  case ElementType::F32:
  case ElementType::F32Ftz:
  case ElementType::TF32:
    each(0.0f, plain);
    break;
  case ElementType::F16:
    each(uint16_t(0), [](uint16_t a, uint16_t b) {
      return encodeF16(decodeF16(a) + decodeF16(b));
    });
    break;
  case ElementType::BF16:
    each(uint16_t(0), [](uint16_t a, uint16_t b) {
      return encodeBF16(decodeBF16(a) + decodeBF16(b));
    });
    break;
  default:
    each(uint32_t(0), plain);
    break;
  }
}

bool ptxsim::scatterBox(Cta &cta, const Op &op, unsigned warp,
                        const TensorMap &map, const std::vector<int32_t> &at,
                        const std::vector<uint8_t> &box, bool add) {
  return forRows(map, at, [&](uint64_t offset, uint64_t bytes, uint64_t to) {
    uint8_t *p = translate(cta, op, warp, to, bytes, true);
    if (p && add)
      addElements(p, &box[offset], bytes, map.type);
    else if (p)
      std::copy_n(&box[offset], bytes, p);
    return p != nullptr;
  });
}

bool ptxsim::checkSource(Cta &cta, const Op &op, unsigned warp,
                         const TensorMap &map, const std::vector<int32_t> &at,
                         uint32_t base) {
  return forRows(map, at, [&](uint64_t offset, uint64_t bytes, uint64_t) {
    for (uint64_t i = 0; i < bytes; ++i) {
      uint32_t a = swizzled(base + uint32_t(offset + i), map.swizzle);
      if (cta.shared.query(a, 1) == SharedMemory::Init)
        continue;
      cta.fault(op, warp, "uninitialised",
                "tensor store reads shared address " + hexString(a) +
                    " (dynamic shared + " +
                    std::to_string(int64_t(a) - cta.program.dynamicSharedBase) +
                    "), which was never written");
      return false;
    }
    return true;
  });
}
