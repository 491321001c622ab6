// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a descriptor and the actual tensors of a call to the exact arguments of
// a launch.
//
// Units: shapes and strides of tensors are elements, addresses and shared
// memory are bytes.
// Errors: what does not match the descriptor, a check that fails (its message,
// with the values of what it names), a tensor map that breaks a rule of TMA, a
// scalar or a grid out of range. Each names the operand or parameter.

#ifndef FA4_LAUNCH_BIND_H
#define FA4_LAUNCH_BIND_H

#include "fa4/Encoding/TensorMap.h"
#include "fa4/Launch/LaunchDescriptor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fa4 {

/// One actual operand.
struct TensorArgument {
  ElementType elementType = ElementType::F16;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<int64_t, 4> strides;
  /// Device address of element 0 in every dimension; below 2^63.
  uint64_t address = 0;
};

/// A call: the operands by name, and run-time f32 scalars by name.
struct Problem {
  llvm::StringMap<TensorArgument> tensors;
  llvm::StringMap<double> scalars;
};

struct BoundParameter {
  LaunchParameter::Kind kind = LaunchParameter::Kind::I32;
  std::string name;
  ParameterSlot slot;
  /// The one that `kind` names is set.
  TensorMapSpec tensorMap;
  uint64_t pointer = 0;
  int32_t i32 = 0;
  float f32 = 0;
};

struct BoundLaunch {
  /// There is nothing to do: grid and parameters are not filled in.
  bool skip = false;
  /// x is 1 to 2^31 - 1, y and z are 1 to 65535.
  std::array<int64_t, 3> grid = {0, 0, 0};
  std::array<int64_t, 3> block = {0, 0, 0};
  int64_t dynamicSharedBytes = 0;
  std::vector<BoundParameter> parameters;
  /// Symbols and those derived values that could be evaluated.
  llvm::StringMap<int64_t> values;
};

/// Binds in this order: operands are there with the right type and rank;
/// symbols; shapes and strides against the descriptor; derived values; skip_if,
/// which ends it; checks; parameters; grid. The first error ends it, except
/// that a tensor map reports all its violations. `descriptor` need not have
/// been verified.
llvm::Expected<BoundLaunch> bind(const LaunchDescriptor &descriptor,
                                 const Problem &problem);

} // namespace fa4

#endif // FA4_LAUNCH_BIND_H
