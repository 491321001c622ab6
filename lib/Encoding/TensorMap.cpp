// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/TensorMap.h"
#include "llvm/ADT/Twine.h"

using namespace fa4;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Names and codes
//===----------------------------------------------------------------------===//

namespace {

struct TypeInfo {
  ElementType type;
  const char *name;
  int64_t bytes;
  bool isFloat;
};

constexpr TypeInfo typeInfos[] = {
    {ElementType::U8, "u8", 1, false},
    {ElementType::U16, "u16", 2, false},
    {ElementType::U32, "u32", 4, false},
    {ElementType::I32, "i32", 4, false},
    {ElementType::U64, "u64", 8, false},
    {ElementType::I64, "i64", 8, false},
    {ElementType::F16, "f16", 2, true},
    {ElementType::F32, "f32", 4, true},
    {ElementType::F64, "f64", 8, true},
    {ElementType::BF16, "bf16", 2, true},
    {ElementType::F32FTZ, "f32_ftz", 4, true},
    {ElementType::TF32, "tf32", 4, true},
};

template <typename Enum> struct Name {
  Enum value;
  const char *name;
};

constexpr Name<Interleave> interleaveNames[] = {{Interleave::None, "none"},
                                                {Interleave::B16, "16B"},
                                                {Interleave::B32, "32B"}};
constexpr Name<L2Promotion> promotionNames[] = {{L2Promotion::None, "none"},
                                                {L2Promotion::B64, "64B"},
                                                {L2Promotion::B128, "128B"},
                                                {L2Promotion::B256, "256B"}};
constexpr Name<OobFill> fillNames[] = {{OobFill::Zero, "zero"},
                                       {OobFill::NaN, "nan"}};

} // namespace

static const TypeInfo &getInfo(ElementType type) {
  for (const TypeInfo &info : typeInfos)
    if (info.type == type)
      return info;
  return typeInfos[0];
}

template <typename Enum, size_t size>
static StringRef stringify(const Name<Enum> (&names)[size], Enum value) {
  for (const Name<Enum> &entry : names)
    if (entry.value == value)
      return entry.name;
  return names[0].name;
}

template <typename Enum, size_t size>
static std::optional<Enum> symbolize(const Name<Enum> (&names)[size],
                                     StringRef name) {
  for (const Name<Enum> &entry : names)
    if (name == entry.name)
      return entry.value;
  return std::nullopt;
}

int64_t fa4::getElementBytes(ElementType type) { return getInfo(type).bytes; }

bool fa4::isFloat(ElementType type) { return getInfo(type).isFloat; }

int fa4::getTensorMapCode(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::B32:
    return 1;
  case Swizzle::B64:
    return 2;
  case Swizzle::B128:
    return 3;
  case Swizzle::None:
    break;
  }
  return 0;
}

StringRef fa4::stringifyElementType(ElementType type) {
  return getInfo(type).name;
}
StringRef fa4::stringifyInterleave(Interleave interleave) {
  return stringify(interleaveNames, interleave);
}
StringRef fa4::stringifyL2Promotion(L2Promotion promotion) {
  return stringify(promotionNames, promotion);
}
StringRef fa4::stringifyOobFill(OobFill fill) {
  return stringify(fillNames, fill);
}
std::optional<ElementType> fa4::symbolizeElementType(StringRef name) {
  for (const TypeInfo &info : typeInfos)
    if (name == info.name)
      return info.type;
  return std::nullopt;
}
std::optional<Interleave> fa4::symbolizeInterleave(StringRef name) {
  return symbolize(interleaveNames, name);
}
std::optional<L2Promotion> fa4::symbolizeL2Promotion(StringRef name) {
  return symbolize(promotionNames, name);
}
std::optional<OobFill> fa4::symbolizeOobFill(StringRef name) {
  return symbolize(fillNames, name);
}

//===----------------------------------------------------------------------===//
// The rules of cuTensorMapEncodeTiled
//===----------------------------------------------------------------------===//

namespace {

/// Collects violations; each member checks one argument.
struct Checker {
  const TensorMapSpec &spec;
  std::vector<std::string> violations;

  void report(const Twine &message) { violations.push_back(message.str()); }

  void reportAt(StringRef argument, size_t index, const Twine &rule,
                int64_t got) {
    report(argument + "[" + Twine(index) + "]: expected " + rule +
           ", but got " + Twine(got));
  }

  int64_t getAlignment() const {
    return spec.interleave == Interleave::B32 ? 32 : 16;
  }

  void checkRank() {
    int64_t rank = spec.getRank();
    int64_t lowest = spec.interleave == Interleave::None ? 1 : 3;
    if (rank < lowest || rank > 5)
      report("rank: expected " + Twine(lowest) + " to 5" +
             (lowest == 3 ? " with an interleave" : "") + ", but got " +
             Twine(rank));
  }

  /// Whether the arrays are as long as the rank asks; where not, rules that
  /// pair their entries would only repeat that.
  void checkLengths() {
    checkLength("strides", spec.strides.size(),
                spec.dims.empty() ? 0 : spec.dims.size() - 1, "rank - 1");
    checkLength("box", spec.box.size(), spec.dims.size(), "rank");
    if (!spec.elementStrides.empty())
      checkLength("elementStrides", spec.elementStrides.size(),
                  spec.dims.size(), "rank");
  }

  void checkLength(StringRef argument, size_t got, size_t expected,
                   const char *rule) {
    if (got != expected)
      report(argument + ": expected " + Twine(expected) + " entries (" + rule +
             "), but got " + Twine(got));
  }

  void checkBase() {
    uint64_t alignment = static_cast<uint64_t>(getAlignment());
    if (spec.baseAddress % alignment != 0)
      report("base: expected an address that is a multiple of " +
             Twine(alignment) + " bytes, but got 0x" +
             Twine::utohexstr(spec.baseAddress));
    else if (spec.baseAddress == 0)
      report("base: expected an address, but got 0");
  }

  void checkDims() {
    for (size_t i = 0; i != spec.dims.size(); ++i)
      if (spec.dims[i] < 1 || spec.dims[i] > (int64_t(1) << 32))
        reportAt("dims", i, "1 to 4294967296 (2^32) elements", spec.dims[i]);
  }

  void checkStrides() {
    // strides[i] belongs to dimension i + 1: name the dimension, as dims and
    // box do.
    for (size_t i = 0; i != spec.strides.size(); ++i) {
      int64_t stride = spec.strides[i];
      if (stride < 0 || stride >= (int64_t(1) << 40))
        report("stride of dimension " + Twine(i + 1) +
               ": expected 0 to 1099511627775 (below 2^40) bytes, but got " +
               Twine(stride));
      if (stride % getAlignment() != 0)
        report("stride of dimension " + Twine(i + 1) +
               ": expected a multiple of " + Twine(getAlignment()) +
               " bytes, but got " + Twine(stride));
    }
  }

  void checkBox() {
    for (size_t i = 0; i != spec.box.size(); ++i)
      if (spec.box[i] < 1 || spec.box[i] > 256)
        reportAt("box", i, "1 to 256 elements", spec.box[i]);
    if (spec.box.empty() || spec.box[0] < 1 || spec.box[0] > 256)
      return;
    int64_t inner = spec.box[0] * getElementBytes(spec.elementType);
    if (spec.interleave == Interleave::None && inner % 16 != 0)
      report("box[0]: expected a multiple of 16 bytes, but got " +
             Twine(inner) + " (" + Twine(spec.box[0]) + " x " +
             stringifyElementType(spec.elementType) + ")");
    if (spec.swizzle != Swizzle::None && inner > getSpanBytes(spec.swizzle))
      report("box[0]: expected at most " + Twine(getSpanBytes(spec.swizzle)) +
             " bytes (the span of swizzle " + stringifySwizzle(spec.swizzle) +
             "), but got " + Twine(inner) + " (" + Twine(spec.box[0]) + " x " +
             stringifyElementType(spec.elementType) + ")");
  }

  void checkElementStrides() {
    for (size_t i = 0; i != spec.elementStrides.size(); ++i)
      if (spec.elementStrides[i] < 1 || spec.elementStrides[i] > 8)
        reportAt("elementStrides", i, "1 to 8", spec.elementStrides[i]);
  }

  void checkModes() {
    if (spec.interleave == Interleave::B32 && spec.swizzle != Swizzle::B32)
      report("swizzle: expected 32B with interleave 32B, but got " +
             stringifySwizzle(spec.swizzle));
    if (spec.oobFill == OobFill::NaN && !isFloat(spec.elementType))
      report("oobFill: expected zero for a type that is not floating point, "
             "but got nan (" +
             stringifyElementType(spec.elementType) + ")");
  }
};

} // namespace

int64_t TensorMapSpec::getBoxBytes() const {
  int64_t bytes = getElementBytes(elementType);
  for (int64_t extent : box)
    bytes *= extent;
  return bytes;
}

std::vector<std::string> TensorMapSpec::getViolations() const {
  Checker checker{*this, {}};
  checker.checkRank();
  checker.checkLengths();
  checker.checkBase();
  checker.checkDims();
  checker.checkStrides();
  checker.checkBox();
  checker.checkElementStrides();
  checker.checkModes();
  return checker.violations;
}

llvm::Error TensorMapSpec::check() const {
  llvm::Error result = llvm::Error::success();
  for (const std::string &violation : getViolations())
    result = llvm::joinErrors(std::move(result), createStringError(violation));
  return result;
}
