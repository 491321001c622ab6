// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/InstructionDescriptor.h"
#include "llvm/ADT/Twine.h"
#include <optional>

using namespace fa4;
using llvm::createStringError;
using llvm::Twine;

llvm::StringRef fa4::stringifyMmaKind(MmaKind kind) {
  return kind == MmaKind::F16 ? "f16" : "f8f6f4";
}

llvm::StringRef fa4::stringifyMmaType(MmaType type) {
  switch (type) {
  case MmaType::F16:
    return "f16";
  case MmaType::BF16:
    return "bf16";
  case MmaType::F32:
    return "f32";
  case MmaType::E4M3:
    return "e4m3";
  case MmaType::E5M2:
    return "e5m2";
  case MmaType::E2M3:
    return "e2m3";
  case MmaType::E3M2:
    return "e3m2";
  case MmaType::E2M1:
    break;
  }
  return "e2m1";
}

int64_t fa4::getMmaK(MmaKind kind) { return kind == MmaKind::F16 ? 16 : 32; }

namespace {

struct BitField {
  unsigned low;
  unsigned width;

  uint32_t get(uint32_t bits) const {
    return (bits >> low) & ((1u << width) - 1);
  }
  uint32_t put(uint32_t value) const { return value << low; }
};

constexpr BitField dTypeField = {4, 2};
constexpr BitField aTypeField = {7, 3};
constexpr BitField bTypeField = {10, 3};
constexpr BitField negateAField = {13, 1};
constexpr BitField negateBField = {14, 1};
constexpr BitField aMajorField = {15, 1};
constexpr BitField bMajorField = {16, 1};
constexpr BitField nField = {17, 6};
constexpr BitField mField = {24, 5};
constexpr BitField allFields[] = {dTypeField,   aTypeField,   bTypeField,
                                  negateAField, negateBField, aMajorField,
                                  bMajorField,  nField,       mField};

struct OperandCode {
  MmaKind kind;
  MmaType type;
  uint32_t code;
};

constexpr OperandCode operandCodes[] = {
    {MmaKind::F16, MmaType::F16, 0},     {MmaKind::F16, MmaType::BF16, 1},
    {MmaKind::F8F6F4, MmaType::E4M3, 0}, {MmaKind::F8F6F4, MmaType::E5M2, 1},
    {MmaKind::F8F6F4, MmaType::E2M3, 3}, {MmaKind::F8F6F4, MmaType::E3M2, 4},
    {MmaKind::F8F6F4, MmaType::E2M1, 5},
};

} // namespace

static const char *getLegalOperandTypes(MmaKind kind) {
  return kind == MmaKind::F16 ? "f16 or bf16"
                              : "e4m3, e5m2, e2m3, e3m2 or e2m1";
}

static std::optional<uint32_t> getOperandCode(MmaKind kind, MmaType type) {
  for (const OperandCode &entry : operandCodes)
    if (entry.kind == kind && entry.type == type)
      return entry.code;
  return std::nullopt;
}

static llvm::Error refuseType(const char *field, MmaKind kind,
                              llvm::StringRef got) {
  return createStringError(
      Twine("'") + field + "' of kind::" + stringifyMmaKind(kind) +
      ": expected " + getLegalOperandTypes(kind) + ", but got " + got);
}

llvm::Error InstructionDescriptor::verify() const {
  if (!getOperandCode(kind, aType))
    return refuseType("aType", kind, stringifyMmaType(aType));
  if (!getOperandCode(kind, bType))
    return refuseType("bType", kind, stringifyMmaType(bType));
  if (dType != MmaType::F32 && dType != MmaType::F16)
    return createStringError(Twine("'dType': expected f16 or f32, but got ") +
                             stringifyMmaType(dType));
  if (dType == MmaType::F16 &&
      (aType == MmaType::BF16 || bType == MmaType::BF16))
    return createStringError(
        "'dType': expected f32 where an operand is bf16, but got f16");
  if (m != 64 && m != 128 && m != 256)
    return createStringError("'m': expected 64, 128 or 256, but got " +
                             Twine(m));
  int64_t step = m == 64 ? 8 : 16;
  if (n < step || n > 256 || n % step != 0)
    return createStringError(
        "'n': expected " + Twine(step) + " to 256 in steps of " + Twine(step) +
        " where m is " + Twine(m) + ", but got " + Twine(n));
  return llvm::Error::success();
}

llvm::Expected<uint32_t> InstructionDescriptor::encode() const {
  if (llvm::Error error = verify())
    return std::move(error);
  return dTypeField.put(dType == MmaType::F32) |
         aTypeField.put(*getOperandCode(kind, aType)) |
         bTypeField.put(*getOperandCode(kind, bType)) |
         negateAField.put(negateA) | negateBField.put(negateB) |
         aMajorField.put(aMajor == MajorMode::MN) |
         bMajorField.put(bMajor == MajorMode::MN) |
         nField.put(static_cast<uint32_t>(n / 8)) |
         mField.put(static_cast<uint32_t>(m / 16));
}

static llvm::Expected<MmaType> decodeOperandType(const char *field,
                                                 MmaKind kind, uint32_t code) {
  for (const OperandCode &entry : operandCodes)
    if (entry.kind == kind && entry.code == code)
      return entry.type;
  return refuseType(field, kind, ("code " + Twine(code)).str());
}

llvm::Expected<InstructionDescriptor>
InstructionDescriptor::decode(uint32_t bits, MmaKind kind) {
  uint32_t known = 0;
  for (const BitField &field : allFields)
    known |= field.put((1u << field.width) - 1);
  for (unsigned bit = 0; bit != 32; ++bit)
    if ((bits & ~known) >> bit & 1)
      return createStringError(
          "bit " + Twine(bit) +
          " of the instruction descriptor: expected 0 for a dense kind::" +
          stringifyMmaKind(kind) + ", but got 1");

  InstructionDescriptor result;
  result.kind = kind;
  uint32_t d = dTypeField.get(bits);
  if (d > 1)
    return createStringError(
        "'dType': expected code 0 (f16) or 1 (f32), but got code " + Twine(d));
  result.dType = d ? MmaType::F32 : MmaType::F16;
  llvm::Expected<MmaType> a =
      decodeOperandType("aType", kind, aTypeField.get(bits));
  if (!a)
    return a.takeError();
  result.aType = *a;
  llvm::Expected<MmaType> b =
      decodeOperandType("bType", kind, bTypeField.get(bits));
  if (!b)
    return b.takeError();
  result.bType = *b;
  result.negateA = negateAField.get(bits);
  result.negateB = negateBField.get(bits);
  result.aMajor = aMajorField.get(bits) ? MajorMode::MN : MajorMode::K;
  result.bMajor = bMajorField.get(bits) ? MajorMode::MN : MajorMode::K;
  result.n = static_cast<int64_t>(nField.get(bits)) * 8;
  result.m = static_cast<int64_t>(mField.get(bits)) * 16;
  if (llvm::Error error = result.verify())
    return std::move(error);
  return result;
}

bool InstructionDescriptor::operator==(
    const InstructionDescriptor &other) const {
  return kind == other.kind && dType == other.dType && aType == other.aType &&
         bType == other.bType && negateA == other.negateA &&
         negateB == other.negateB && aMajor == other.aMajor &&
         bMajor == other.bMajor && n == other.n && m == other.m;
}
