// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Launch/LaunchDescriptor.h"
#include "Message.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

using namespace fa4;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;

llvm::StringRef fa4::stringifyParameterKind(LaunchParameter::Kind kind) {
  switch (kind) {
  case LaunchParameter::Kind::TensorMap:
    return "tensor_map";
  case LaunchParameter::Kind::Pointer:
    return "pointer";
  case LaunchParameter::Kind::F32:
    return "f32";
  case LaunchParameter::Kind::I32:
    break;
  }
  return "i32";
}

std::vector<ParameterSlot>
fa4::getParameterLayout(const LaunchDescriptor &descriptor) {
  std::vector<ParameterSlot> slots;
  int64_t offset = 0;
  for (const LaunchParameter &parameter : descriptor.parameters) {
    ParameterSlot slot;
    switch (parameter.kind) {
    case LaunchParameter::Kind::TensorMap:
      slot.size = 128;
      slot.alignment = 64;
      break;
    case LaunchParameter::Kind::Pointer:
      slot.size = slot.alignment = 8;
      break;
    case LaunchParameter::Kind::I32:
    case LaunchParameter::Kind::F32:
      slot.size = slot.alignment = 4;
      break;
    }
    offset = (offset + slot.alignment - 1) / slot.alignment * slot.alignment;
    slot.offset = offset;
    offset += slot.size;
    slots.push_back(slot);
  }
  return slots;
}

namespace {

/// Walks a descriptor in the order in which names come into being.
class Verifier {
public:
  explicit Verifier(const LaunchDescriptor &descriptor)
      : descriptor(descriptor) {}

  llvm::Error run() {
    if (descriptor.kernel.empty())
      return fail("kernel", "expected a name, but got none");
    // Each step adds what it defines; the first error ends the walk.
    if (llvm::Error error = defineTensors())
      return error;
    if (llvm::Error error = defineSymbols())
      return error;
    if (llvm::Error error = checkShapes())
      return error;
    if (llvm::Error error = defineDerived())
      return error;
    if (llvm::Error error = checkChecks())
      return error;
    if (llvm::Error error = checkExpr("skip_if", descriptor.skipIf))
      return error;
    if (llvm::Error error = checkParameters())
      return error;
    return checkLaunch();
  }

private:
  const LaunchDescriptor &descriptor;
  llvm::StringMap<const LaunchTensor *> tensors;
  llvm::StringSet<> values;

  static llvm::Error fail(const Twine &where, const Twine &message) {
    return createStringError(where + ": " + message);
  }

  static std::string at(StringRef list, size_t index) {
    return (list + "[" + Twine(index) + "]").str();
  }

  llvm::Error checkName(const Twine &where, StringRef name) {
    if (!Expr::isValidSymbol(name))
      return fail(where, "expected a name such as 'Sq' or 'q.stride0', but got "
                         "'" +
                             name + "'");
    if (tensors.contains(name) || values.contains(name))
      return fail(where,
                  "expected a new name, but '" + name + "' is defined already");
    return llvm::Error::success();
  }

  llvm::Error checkExpr(const Twine &where, const Expr &expr,
                        bool isAddress = false) {
    for (const std::string &name : expr.getSymbols()) {
      if (values.contains(name) || (isAddress && tensors.contains(name)))
        continue;
      if (tensors.contains(name))
        return fail(where, "expected a number, but '" + name +
                               "' is a tensor, whose address only 'base' and "
                               "pointers may use");
      return fail(where,
                  "unknown symbol '" + name + "' in '" + expr.str() + "'");
    }
    return llvm::Error::success();
  }

  llvm::Error checkExprs(StringRef where, llvm::ArrayRef<Expr> exprs) {
    for (size_t i = 0; i != exprs.size(); ++i)
      if (llvm::Error error = checkExpr(at(where, i), exprs[i]))
        return error;
    return llvm::Error::success();
  }

  llvm::Error defineTensors() {
    for (size_t i = 0; i != descriptor.tensors.size(); ++i) {
      const LaunchTensor &tensor = descriptor.tensors[i];
      std::string where = at("tensors", i);
      if (llvm::Error error = checkName(where + ".name", tensor.name))
        return error;
      if (tensor.strides.size() != tensor.shape.size())
        return fail(where + ".strides",
                    "expected " + Twine(tensor.shape.size()) +
                        " entries (as many as in shape), but got " +
                        Twine(tensor.strides.size()));
      tensors[tensor.name] = &tensor;
    }
    return llvm::Error::success();
  }

  llvm::Error defineSymbols() {
    for (size_t i = 0; i != descriptor.symbols.size(); ++i) {
      const LaunchSymbol &symbol = descriptor.symbols[i];
      std::string where = at("symbols", i);
      if (llvm::Error error = checkName(where + ".name", symbol.name))
        return error;
      auto tensor = tensors.find(symbol.operand);
      if (tensor == tensors.end())
        return fail(where + ".operand", "expected the name of a tensor, but "
                                        "got '" +
                                            symbol.operand + "'");
      auto rank = static_cast<int64_t>(tensor->second->shape.size());
      if (symbol.index < 0 || symbol.index >= rank)
        return fail(where, "expected a dimension below " + Twine(rank) +
                               ", the rank of '" + symbol.operand +
                               "', but got " + Twine(symbol.index));
      values.insert(symbol.name);
    }
    return llvm::Error::success();
  }

  llvm::Error checkShapes() {
    for (size_t i = 0; i != descriptor.tensors.size(); ++i) {
      const LaunchTensor &tensor = descriptor.tensors[i];
      if (llvm::Error error =
              checkExprs(at("tensors", i) + ".shape", tensor.shape))
        return error;
      if (llvm::Error error =
              checkExprs(at("tensors", i) + ".strides", tensor.strides))
        return error;
    }
    return llvm::Error::success();
  }

  llvm::Error defineDerived() {
    for (size_t i = 0; i != descriptor.derived.size(); ++i) {
      const LaunchDerived &derived = descriptor.derived[i];
      std::string where = at("derived", i);
      if (llvm::Error error = checkName(where + ".name", derived.name))
        return error;
      if (llvm::Error error = checkExpr(where + ".value", derived.value))
        return error;
      values.insert(derived.name);
    }
    return llvm::Error::success();
  }

  llvm::Error checkChecks() {
    for (size_t i = 0; i != descriptor.checks.size(); ++i) {
      const LaunchCheck &check = descriptor.checks[i];
      std::string where = at("checks", i);
      if (llvm::Error error = checkExpr(where + ".require", check.require))
        return error;
      llvm::Expected<std::vector<MessagePart>> parts =
          parseMessage(check.message);
      if (!parts)
        return fail(where + ".message", llvm::toString(parts.takeError()));
      for (const MessagePart &part : *parts)
        if (part.value)
          if (llvm::Error error = checkExpr(where + ".message", *part.value))
            return error;
    }
    return llvm::Error::success();
  }

  llvm::Error checkTensorMap(const std::string &where,
                             const TensorMapParameter &map) {
    if (llvm::Error error = checkExpr(where + ".base", map.base, true))
      return error;
    size_t rank = map.dims.size();
    if (rank < 1 || rank > 5)
      return fail(where + ".dims",
                  "expected 1 to 5 entries, but got " + Twine(rank));
    if (map.strides.size() != rank - 1)
      return fail(where + ".strides", "expected " + Twine(rank - 1) +
                                          " entries (rank - 1), but got " +
                                          Twine(map.strides.size()));
    if (map.box.size() != rank)
      return fail(where + ".box", "expected " + Twine(rank) +
                                      " entries (rank), but got " +
                                      Twine(map.box.size()));
    if (llvm::Error error = checkExprs(where + ".dims", map.dims))
      return error;
    if (llvm::Error error = checkExprs(where + ".strides", map.strides))
      return error;
    return checkExprs(where + ".box", map.box);
  }

  llvm::Error checkParameter(const std::string &where,
                             const LaunchParameter &parameter) {
    switch (parameter.kind) {
    case LaunchParameter::Kind::TensorMap:
      return checkTensorMap(where, parameter.tensorMap);
    case LaunchParameter::Kind::Pointer:
      return checkExpr(where + ".value", parameter.value, /*isAddress=*/true);
    case LaunchParameter::Kind::I32:
      return checkExpr(where + ".value", parameter.value);
    case LaunchParameter::Kind::F32:
      break;
    }
    return llvm::Error::success();
  }

  llvm::Error checkParameters() {
    llvm::StringSet<> names;
    for (size_t i = 0; i != descriptor.parameters.size(); ++i) {
      const LaunchParameter &parameter = descriptor.parameters[i];
      std::string where = at("parameters", i);
      // Parameters have a name space of their own: an i32 may be called after
      // the symbol that it passes.
      if (!Expr::isValidSymbol(parameter.name))
        return fail(where + ".name",
                    "expected a name, but got '" + parameter.name + "'");
      if (!names.insert(parameter.name).second)
        return fail(where + ".name", "expected a new name, but '" +
                                         parameter.name +
                                         "' is defined already");
      if (llvm::Error error = checkParameter(where, parameter))
        return error;
    }
    std::vector<ParameterSlot> slots = getParameterLayout(descriptor);
    if (!slots.empty() && slots.back().offset + slots.back().size > 32764)
      return fail("parameters",
                  "expected at most 32764 bytes, but got " +
                      Twine(slots.back().offset + slots.back().size));
    return llvm::Error::success();
  }

  llvm::Error checkLaunch() {
    if (llvm::Error error = checkExprs("grid", descriptor.grid))
      return error;
    const int64_t limits[] = {1024, 1024, 64};
    int64_t threads = 1;
    for (size_t i = 0; i != 3; ++i) {
      int64_t extent = descriptor.block[i];
      if (extent < 1 || extent > limits[i])
        return fail(at("block", i), "expected 1 to " + Twine(limits[i]) +
                                        " threads, but got " + Twine(extent));
      threads *= extent;
    }
    if (threads > 1024)
      return fail("block",
                  "expected at most 1024 threads, but got " + Twine(threads));
    // 227 KiB, the most that one block may have on any machine of today.
    if (descriptor.dynamicSharedBytes < 0 ||
        descriptor.dynamicSharedBytes > 232448)
      return fail("dynamic_shared_bytes",
                  "expected 0 to 232448 bytes, but got " +
                      Twine(descriptor.dynamicSharedBytes));
    return llvm::Error::success();
  }
};

} // namespace

llvm::Error LaunchDescriptor::verify() const { return Verifier(*this).run(); }
