// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch descriptor: all that a launcher needs to know of a kernel. It
// travels as JSON beside the cubin; docs/abi.md is its specification.
//
// Units: shapes and tensor strides are elements, strides of tensor maps and
// shared memory are bytes.
// Errors: fromJSON() and verify() say where in the descriptor they stand, as in
// "parameters[2].box[0]: ...".

#ifndef FA4_LAUNCH_LAUNCHDESCRIPTOR_H
#define FA4_LAUNCH_LAUNCHDESCRIPTOR_H

#include "fa4/Encoding/TensorMap.h"
#include "fa4/Launch/Expr.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fa4 {

/// The version of the JSON schema that this library reads and writes.
inline constexpr int64_t launchSchemaVersion = 1;

/// An operand of the attention: its shape and strides in elements, slowest
/// dimension first, as expressions over the symbols.
struct LaunchTensor {
  std::string name;
  ElementType elementType = ElementType::F16;
  std::vector<Expr> shape;
  /// As many as shape. Where an actual extent is 1, or the tensor is empty, the
  /// actual stride may be anything.
  std::vector<Expr> strides;
};

/// A value read off an actual tensor: the extent or the stride (elements) of
/// one of its dimensions.
struct LaunchSymbol {
  enum class Source { Dim, Stride };
  std::string name;
  std::string operand;
  Source source = Source::Dim;
  int64_t index = 0;
};

/// A value computed from symbols and from derived values before it. One that
/// cannot be evaluated is an error only where it is used.
struct LaunchDerived {
  std::string name;
  Expr value;
};

/// What must hold of a problem that is not skipped. `{expr}` in the message is
/// replaced by the value of the expression; braces are doubled to stand for
/// themselves.
struct LaunchCheck {
  Expr require;
  std::string message;
};

/// A tensor map passed by value: 128 bytes, 64-byte aligned.
struct TensorMapParameter {
  /// An address: the names of tensors stand for their base addresses here.
  Expr base;
  ElementType elementType = ElementType::F16;
  std::vector<Expr> dims;
  /// Bytes, for dimensions 1 and up.
  std::vector<Expr> strides;
  std::vector<Expr> box;
  Swizzle swizzle = Swizzle::None;
  Interleave interleave = Interleave::None;
  L2Promotion l2Promotion = L2Promotion::None;
  OobFill oobFill = OobFill::Zero;
};

/// A number known when the kernel was made, or the product of `factor` and the
/// problem's scalar named `input`; rounded to f32 once.
struct F32Parameter {
  std::string input;
  double factor = 0;
};

struct LaunchParameter {
  enum class Kind { TensorMap, Pointer, I32, F32 };
  Kind kind = Kind::I32;
  std::string name;
  TensorMapParameter tensorMap;
  /// Of a pointer: an address, as TensorMapParameter::base. Of an i32: its
  /// value.
  Expr value;
  F32Parameter f32;
};

/// For people who read the descriptor; a launcher has no use for it.
struct LaunchRole {
  std::string name;
  int64_t warps = 0;
  int64_t registers = 0;
};

/// Exact versions of what made the kernel. ptxas is empty where only PTX was
/// made.
struct LaunchVersions {
  std::string fa4;
  std::string llvm;
  std::string ptxas;
};

struct LaunchDescriptor {
  std::string kernel;
  std::string chip;
  std::string ptx;
  LaunchVersions versions;
  std::vector<LaunchTensor> tensors;
  std::vector<LaunchSymbol> symbols;
  std::vector<LaunchDerived> derived;
  std::vector<LaunchCheck> checks;
  /// Nothing to launch where it is not 0.
  Expr skipIf;
  std::vector<LaunchParameter> parameters;
  std::array<Expr, 3> grid = {Expr(1), Expr(1), Expr(1)};
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t dynamicSharedBytes = 0;
  std::vector<LaunchRole> roles;

  /// Names are unique and defined before they are used, symbols point at
  /// dimensions that exist, lists are as long as their rank, block and shared
  /// memory are within what CUDA allows, parameters fit in 32,764 bytes.
  llvm::Error verify() const;

  void printJSON(llvm::raw_ostream &os) const;
  std::string toJSON() const;
  /// Parses and verifies. Unknown, missing and mistyped fields are errors.
  static llvm::Expected<LaunchDescriptor> fromJSON(llvm::StringRef text);
};

/// Where a parameter lies in the kernel's parameter space.
struct ParameterSlot {
  int64_t offset = 0;
  int64_t size = 0;
  int64_t alignment = 1;
};

/// One slot a parameter, laid out in order as PTX lays out `.param`s: each at
/// the next multiple of its alignment.
std::vector<ParameterSlot>
getParameterLayout(const LaunchDescriptor &descriptor);

llvm::StringRef stringifyParameterKind(LaunchParameter::Kind kind);

} // namespace fa4

#endif // FA4_LAUNCH_LAUNCHDESCRIPTOR_H
