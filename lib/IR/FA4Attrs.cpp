// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/IR/FA4.h"
#include "fa4/Launch/LaunchDescriptor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fa4;

#define GET_ATTRDEF_CLASSES
#include "fa4/IR/FA4Attrs.cpp.inc"

void FA4Dialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fa4/IR/FA4Attrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

namespace {
struct ChipData {
  StringLiteral chip;
  int64_t sms, l2Bytes, smemBytes, tmemColumns, registers;
  MMAFlavour mma;
};

// B200: 148 SMs, 126.5 MB of L2 (device query). H200: 132 SMs, 60 MiB of L2.
// Both: 227 KiB of shared memory a block, 64 Ki registers an SM.
constexpr ChipData chips[] = {
    {"sm_100a", 148, 132644864, 232448, 512, 65536, MMAFlavour::TCGen05},
    {"sm_90a", 132, 62914560, 232448, 0, 65536, MMAFlavour::WGMMA},
};

const ChipData *findChip(StringRef chip) {
  for (const ChipData &data : chips)
    if (data.chip == chip)
      return &data;
  return nullptr;
}
} // namespace

TargetAttr TargetAttr::getForChip(MLIRContext *context, StringRef chip) {
  const ChipData *data = findChip(chip);
  if (!data)
    return {};
  return TargetAttr::get(context, data->chip, data->sms, data->l2Bytes,
                         data->smemBytes, data->tmemColumns, data->registers,
                         data->mma);
}

std::string TargetAttr::getKnownChips() {
  SmallVector<StringRef> names;
  for (const ChipData &data : chips)
    names.push_back(data.chip);
  return llvm::join(names, ", ");
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  std::string chip;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&chip))
    return {};
  TargetAttr base = getForChip(parser.getContext(), chip);
  if (!base) {
    parser.emitError(loc) << "unknown chip '" << chip << "', expected one of "
                          << getKnownChips();
    return {};
  }
  int64_t sms = base.getSms(), l2 = base.getL2Bytes(),
          smem = base.getSmemBytes();
  int64_t tmem = base.getTmemColumns(), registers = base.getRegisters();
  MMAFlavour mma = base.getMma();
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef key, flavour;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    int64_t *number = key == "sms"         ? &sms
                      : key == "l2"        ? &l2
                      : key == "smem"      ? &smem
                      : key == "tmem"      ? &tmem
                      : key == "registers" ? &registers
                                           : nullptr;
    if (number) {
      if (parser.parseInteger(*number))
        return {};
    } else if (key == "mma") {
      if (parser.parseKeyword(&flavour))
        return {};
      std::optional<MMAFlavour> parsed = symbolizeMMAFlavour(flavour);
      if (!parsed) {
        parser.emitError(keyLoc)
            << "expected 'tcgen05' or 'wgmma' for 'mma', but got '" << flavour
            << "'";
        return {};
      }
      mma = *parsed;
    } else {
      parser.emitError(keyLoc)
          << "unknown key '" << key
          << "' in a target, expected one of sms, l2, smem, tmem, "
             "registers, mma";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TargetAttr>(parser.getNameLoc(), parser.getContext(),
                                       chip, sms, l2, smem, tmem, registers,
                                       mma);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << getChip();
  TargetAttr base = getForChip(getContext(), getChip());
  auto number = [&](StringRef key, int64_t value, int64_t usual) {
    if (value != usual)
      printer << ", " << key << " = " << value;
  };
  number("sms", getSms(), base.getSms());
  number("l2", getL2Bytes(), base.getL2Bytes());
  number("smem", getSmemBytes(), base.getSmemBytes());
  number("tmem", getTmemColumns(), base.getTmemColumns());
  number("registers", getRegisters(), base.getRegisters());
  if (getMma() != base.getMma())
    printer << ", mma = " << stringifyMMAFlavour(getMma());
  printer << '>';
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef chip, int64_t sms, int64_t l2Bytes,
                                 int64_t smemBytes, int64_t tmemColumns,
                                 int64_t registers, MMAFlavour mma) {
  if (!findChip(chip))
    return emitError() << "unknown chip '" << chip << "', expected one of "
                       << getKnownChips();
  auto check = [&](StringRef key, int64_t value, int64_t low,
                   int64_t high) -> LogicalResult {
    if (value >= low && value <= high)
      return success();
    return emitError() << "expected '" << key << "' from " << low << " to "
                       << high << " in a target, but got " << value;
  };
  if (failed(check("sms", sms, 1, 65535)) ||
      failed(check("l2", l2Bytes, 0, int64_t(1) << 40)) ||
      failed(check("smem", smemBytes, 1024, 1 << 20)) ||
      failed(check("tmem", tmemColumns, 0, 512)) ||
      failed(check("registers", registers, 1024, 1 << 20)))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// ArrivalAttr
//===----------------------------------------------------------------------===//

Attribute ArrivalAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  auto arrival = parseBare(parser);
  if (failed(arrival) || parser.parseGreater())
    return {};
  return *arrival;
}

FailureOr<ArrivalAttr> ArrivalAttr::parseBare(AsmParser &parser) {
  FlatSymbolRefAttr role;
  StringRef engineName;
  if (parser.parseAttribute(role))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&engineName))
    return failure();
  std::optional<Engine> engine = symbolizeEngine(engineName);
  if (!engine)
    return FailureOr<ArrivalAttr>(
        parser.emitError(loc)
        << "expected engine 'threads', 'commit' or 'bytes', but got '"
        << engineName << "'");
  int64_t count = 1;
  if (*engine != Engine::Commit && parser.parseInteger(count))
    return failure();
  return ArrivalAttr::get(parser.getContext(), role, *engine, count);
}

void ArrivalAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBare(printer);
  printer << '>';
}

void ArrivalAttr::printBare(AsmPrinter &printer) const {
  printer << getRole() << ' ' << stringifyEngine(getEngine());
  if (getEngine() != Engine::Commit)
    printer << ' ' << getCount();
}

//===----------------------------------------------------------------------===//
// LaunchDescriptorAttr
//===----------------------------------------------------------------------===//

LogicalResult
LaunchDescriptorAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             StringRef json) {
  llvm::Expected<::fa4::LaunchDescriptor> descriptor =
      ::fa4::LaunchDescriptor::fromJSON(json);
  if (descriptor)
    return success();
  return emitError()
         << "expected a launch descriptor, but got text with an error: "
         << llvm::toString(descriptor.takeError());
}
