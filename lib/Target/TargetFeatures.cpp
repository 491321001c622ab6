// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's ops ask of the target. The backend would abort on an
// intrinsic that the target does not have.

#include "fa4/Target/Kernels.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// A feature of the machine, from the PTX ISA's "Target ISA Notes".
struct Feature {
  /// Ops and intrinsics whose name begins so.
  StringLiteral prefix;
  StringLiteral name;
  /// Ten times the PTX version that introduced it.
  unsigned ptx;
  /// The chips that have it: either exactly these, or all from this number up.
  ArrayRef<StringLiteral> chips;
  unsigned fromChip;
};

constexpr StringLiteral tcgen05Chips[] = {"sm_100a"};
constexpr StringLiteral wgmmaChips[] = {"sm_90a"};
constexpr Feature features[] = {
    {"nvvm.tcgen05.", "tcgen05", 86, tcgen05Chips, 0},
    {"llvm.nvvm.tcgen05.", "tcgen05", 86, tcgen05Chips, 0},
    {"nvvm.wgmma.", "wgmma", 80, wgmmaChips, 0},
    {"llvm.nvvm.wgmma.", "wgmma", 80, wgmmaChips, 0},
    {"nvvm.setmaxregister", "setmaxnreg", 80, {}, 90},
    {"llvm.nvvm.setmaxnreg.", "setmaxnreg", 80, {}, 90},
    {"nvvm.cp.async.bulk.", "bulk copies (TMA)", 80, {}, 90},
    {"nvvm.elect.sync", "elect.sync", 80, {}, 90},
    {"nvvm.mbarrier.try_wait", "mbarrier.try_wait", 78, {}, 90},
};

/// The number in "sm_100a".
unsigned getChipNumber(StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  (void)chip.take_while(llvm::isDigit).getAsInteger(10, number);
  return number;
}

/// The N of "+ptxN", the last one that counts; 0 where it is not said.
unsigned getPTXVersion(StringRef featureList) {
  unsigned version = 0;
  SmallVector<StringRef> parts;
  featureList.split(parts, ',');
  for (StringRef part : parts)
    if (part.trim().consume_front("+ptx"))
      (void)part.trim().drop_front(4).getAsInteger(10, version);
  return version;
}

bool hasChip(const Feature &feature, StringRef chip) {
  if (feature.chips.empty()) {
    // Architecture-specific features of later machines are not ours to know:
    // setmaxnreg is, and needs the suffix.
    bool needsSuffix = feature.name == "setmaxnreg";
    return getChipNumber(chip) >= feature.fromChip &&
           (!needsSuffix || chip.ends_with("a") || chip.ends_with("f"));
  }
  return llvm::is_contained(feature.chips, chip);
}

std::string describeChips(const Feature &feature) {
  if (feature.chips.empty())
    return "sm_" + std::to_string(feature.fromChip) +
           (feature.name == "setmaxnreg" ? "a or newer, with the suffix"
                                         : " or newer");
  return llvm::join(feature.chips, ", ");
}

} // namespace

LogicalResult mlir::fa4::checkTargetFeatures(gpu::GPUModuleOp module,
                                             NVVM::NVVMTargetAttr target) {
  unsigned ptx = getPTXVersion(target.getFeatures());
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    StringRef name = op->getName().getStringRef();
    if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
      name = call.getIntrin();
    for (const Feature &feature : features) {
      if (!name.starts_with(feature.prefix))
        continue;
      if (!hasChip(feature, target.getChip()))
        return op->emitOpError()
               << "needs " << feature.name << ", which " << target.getChip()
               << " does not have or fa4 does not emit for it; expected "
               << describeChips(feature);
      if (ptx && ptx < feature.ptx)
        return op->emitOpError()
               << "needs " << feature.name << ", which PTX has from version "
               << feature.ptx / 10 << '.' << feature.ptx % 10
               << " on, but the module's target asks for " << ptx / 10 << '.'
               << ptx % 10;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
