// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Launch/Bind.h"
#include "Message.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <limits>
#include <set>

using namespace fa4;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;

static std::string describeList(llvm::ArrayRef<int64_t> list) {
  std::string text;
  for (int64_t value : list)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

namespace {

class Binder {
public:
  Binder(const LaunchDescriptor &descriptor, const Problem &problem)
      : descriptor(descriptor), problem(problem) {}

  llvm::Expected<BoundLaunch> run() {
    if (llvm::Error error = bindOperands())
      return std::move(error);
    bindSymbols();
    if (llvm::Error error = checkShapes())
      return std::move(error);
    evaluateDerived();
    llvm::Expected<int64_t> skip = evaluate("skip_if", descriptor.skipIf);
    if (!skip)
      return skip.takeError();
    launch.skip = *skip != 0;
    launch.values = values;
    launch.block = descriptor.block;
    launch.dynamicSharedBytes = descriptor.dynamicSharedBytes;
    // Before the checks: the strides of an empty tensor are often 0 and would
    // break rules that nothing depends on.
    if (launch.skip)
      return std::move(launch);
    if (llvm::Error error = runChecks())
      return std::move(error);
    if (llvm::Error error = bindParameters())
      return std::move(error);
    if (llvm::Error error = bindGrid())
      return std::move(error);
    return std::move(launch);
  }

private:
  const LaunchDescriptor &descriptor;
  const Problem &problem;
  BoundLaunch launch;
  llvm::StringMap<int64_t> values;
  /// Why a derived value is not in `values`.
  llvm::StringMap<std::string> broken;
  /// The actual operands in the order of the descriptor's tensors.
  std::vector<const TensorArgument *> operands;

  const TensorArgument *findOperand(StringRef name) const {
    auto found = problem.tensors.find(name);
    return found == problem.tensors.end() ? nullptr : &found->second;
  }

  /// Evaluates over symbols and derived values; where `isAddress`, the names
  /// of tensors are their addresses.
  llvm::Expected<int64_t> evaluate(const Twine &where, const Expr &expr,
                                   bool isAddress = false) {
    auto lookup = [&](StringRef name) -> llvm::Expected<int64_t> {
      auto value = values.find(name);
      if (value != values.end())
        return value->second;
      if (isAddress)
        if (const TensorArgument *operand = findOperand(name))
          return static_cast<int64_t>(operand->address);
      auto why = broken.find(name);
      if (why != broken.end())
        return createStringError("'" + name + "' has no value: " + why->second);
      return createStringError("unknown symbol '" + name + "'");
    };
    llvm::Expected<int64_t> value = expr.evaluate(lookup);
    if (value)
      return *value;
    return createStringError(where + ": " + llvm::toString(value.takeError()));
  }

  llvm::Error evaluateAll(const Twine &where, llvm::ArrayRef<Expr> exprs,
                          llvm::SmallVectorImpl<int64_t> &results) {
    for (size_t i = 0; i != exprs.size(); ++i) {
      llvm::Expected<int64_t> value =
          evaluate(where + "[" + Twine(i) + "]", exprs[i]);
      if (!value)
        return value.takeError();
      results.push_back(*value);
    }
    return llvm::Error::success();
  }

  llvm::Error bindOperands() {
    for (const LaunchTensor &tensor : descriptor.tensors) {
      const TensorArgument *operand = findOperand(tensor.name);
      std::string where = "operand '" + tensor.name + "'";
      if (!operand)
        return createStringError(where + ": expected a tensor, but got none");
      if (operand->elementType != tensor.elementType)
        return createStringError(
            where + ": expected " + stringifyElementType(tensor.elementType) +
            ", but got " + stringifyElementType(operand->elementType));
      if (operand->shape.size() != tensor.shape.size())
        return createStringError(where + ": expected rank " +
                                 Twine(tensor.shape.size()) + ", but got " +
                                 Twine(operand->shape.size()) + " " +
                                 describeList(operand->shape));
      if (operand->strides.size() != operand->shape.size())
        return createStringError(
            where + ": expected " + Twine(operand->shape.size()) +
            " strides, but got " + Twine(operand->strides.size()));
      for (size_t i = 0; i != operand->shape.size(); ++i)
        if (operand->shape[i] < 0)
          return createStringError(
              where + ", dimension " + Twine(i) +
              ": expected an extent of 0 or more, but got " +
              Twine(operand->shape[i]));
      if (operand->address >> 63)
        return createStringError(where + ": expected an address below 2^63");
      operands.push_back(operand);
    }
    for (const auto &entry : problem.tensors)
      if (llvm::none_of(descriptor.tensors, [&](const LaunchTensor &tensor) {
            return tensor.name == entry.first();
          }))
        return createStringError("operand '" + entry.first() +
                                 "': the kernel has no such operand");
    return checkScalars();
  }

  /// A scalar that the kernel does not take is one that was meant for another
  /// parameter.
  llvm::Error checkScalars() {
    std::set<std::string> known, given;
    for (const LaunchParameter &parameter : descriptor.parameters)
      if (parameter.kind == LaunchParameter::Kind::F32 &&
          !parameter.f32.input.empty())
        known.insert(parameter.f32.input);
    for (const auto &entry : problem.scalars)
      given.insert(entry.first().str());
    for (const std::string &name : given)
      if (!known.count(name))
        return createStringError(
            "scalar '" + name + "': the kernel has no such scalar, it has " +
            (known.empty() ? "none" : llvm::join(known, ", ")));
    return llvm::Error::success();
  }

  void bindSymbols() {
    for (const LaunchSymbol &symbol : descriptor.symbols) {
      const TensorArgument *operand = findOperand(symbol.operand);
      auto index = static_cast<size_t>(symbol.index);
      // A symbol that points nowhere stays unknown to what uses it.
      if (!operand || symbol.index < 0 || index >= operand->shape.size())
        continue;
      values[symbol.name] = symbol.source == LaunchSymbol::Source::Dim
                                ? operand->shape[index]
                                : operand->strides[index];
    }
  }

  llvm::Error checkShapes() {
    for (size_t t = 0; t != descriptor.tensors.size(); ++t) {
      const LaunchTensor &tensor = descriptor.tensors[t];
      const TensorArgument &operand = *operands[t];
      bool isEmpty = llvm::is_contained(operand.shape, 0);
      for (size_t i = 0; i != tensor.shape.size(); ++i) {
        std::string where =
            "operand '" + tensor.name + "', dimension " + std::to_string(i);
        if (llvm::Error error =
                checkEqual(where, "extent", tensor.shape[i], operand.shape[i]))
          return error;
        // Nothing is ever addressed through such a stride.
        if (isEmpty || operand.shape[i] == 1 || i >= tensor.strides.size())
          continue;
        if (llvm::Error error = checkEqual(where, "stride", tensor.strides[i],
                                           operand.strides[i]))
          return error;
      }
    }
    return llvm::Error::success();
  }

  llvm::Error checkEqual(const std::string &where, const char *what,
                         const Expr &expr, int64_t got) {
    llvm::Expected<int64_t> expected = evaluate(where, expr);
    if (!expected)
      return expected.takeError();
    if (*expected == got)
      return llvm::Error::success();
    std::string source;
    if (!expr.getConstant())
      source = " (" + expr.str() + ")";
    return createStringError(where + ": expected " + what + " " +
                             Twine(*expected) + source + ", but got " +
                             Twine(got));
  }

  void evaluateDerived() {
    for (const LaunchDerived &derived : descriptor.derived) {
      llvm::Expected<int64_t> value =
          evaluate("'" + derived.name + "'", derived.value);
      if (value)
        values[derived.name] = *value;
      else
        broken[derived.name] = llvm::toString(value.takeError());
    }
  }

  llvm::Error runChecks() {
    for (size_t i = 0; i != descriptor.checks.size(); ++i) {
      const LaunchCheck &check = descriptor.checks[i];
      std::string where = "checks[" + std::to_string(i) + "]";
      llvm::Expected<int64_t> holds = evaluate(where, check.require);
      if (!holds)
        return holds.takeError();
      if (*holds == 0)
        return describeFailure(check);
    }
    return llvm::Error::success();
  }

  /// The message with its expressions replaced, then what the condition names.
  llvm::Error describeFailure(const LaunchCheck &check) {
    std::string text;
    llvm::Expected<std::vector<MessagePart>> parts =
        parseMessage(check.message);
    if (!parts) {
      llvm::consumeError(parts.takeError());
      text = check.message;
    } else {
      for (const MessagePart &part : *parts) {
        text += part.text;
        if (!part.value)
          continue;
        llvm::Expected<int64_t> value = evaluate("message", *part.value);
        if (value) {
          text += std::to_string(*value);
        } else {
          llvm::consumeError(value.takeError());
          text += "{" + part.value->str() + "}";
        }
      }
    }
    std::string got;
    for (const std::string &name : check.require.getSymbols()) {
      auto value = values.find(name);
      if (value != values.end())
        got += (got.empty() ? "" : ", ") + name + " = " +
               std::to_string(value->second);
    }
    if (!got.empty())
      text += " (got " + got + ")";
    return createStringError(text);
  }

  llvm::Error bindParameters() {
    std::vector<ParameterSlot> slots = getParameterLayout(descriptor);
    for (size_t i = 0; i != descriptor.parameters.size(); ++i) {
      const LaunchParameter &parameter = descriptor.parameters[i];
      BoundParameter bound;
      bound.kind = parameter.kind;
      bound.name = parameter.name;
      bound.slot = slots[i];
      if (llvm::Error error = bindParameter(
              "parameter '" + parameter.name + "'", parameter, bound))
        return error;
      launch.parameters.push_back(std::move(bound));
    }
    return llvm::Error::success();
  }

  llvm::Error bindParameter(const std::string &where,
                            const LaunchParameter &parameter,
                            BoundParameter &bound) {
    switch (parameter.kind) {
    case LaunchParameter::Kind::TensorMap:
      return bindTensorMap(where, parameter.tensorMap, bound.tensorMap);
    case LaunchParameter::Kind::Pointer:
      return bindAddress(where, parameter.value, bound.pointer);
    case LaunchParameter::Kind::I32: {
      llvm::Expected<int64_t> value = evaluate(where, parameter.value);
      if (!value)
        return value.takeError();
      if (*value < std::numeric_limits<int32_t>::min() ||
          *value > std::numeric_limits<int32_t>::max())
        return createStringError(
            where +
            ": expected a value from -2147483648 to 2147483647, but "
            "got " +
            Twine(*value) + " (" + parameter.value.str() + ")");
      bound.i32 = static_cast<int32_t>(*value);
      return llvm::Error::success();
    }
    case LaunchParameter::Kind::F32:
      break;
    }
    return bindF32(where, parameter.f32, bound.f32);
  }

  llvm::Error bindAddress(const std::string &where, const Expr &expr,
                          uint64_t &result) {
    llvm::Expected<int64_t> value = evaluate(where, expr, /*isAddress=*/true);
    if (!value)
      return value.takeError();
    if (*value < 0)
      return createStringError(where + ": expected an address, but got " +
                               Twine(*value) + " (" + expr.str() + ")");
    result = static_cast<uint64_t>(*value);
    return llvm::Error::success();
  }

  llvm::Error bindF32(const std::string &where, const F32Parameter &parameter,
                      float &result) {
    double value = parameter.factor;
    if (!parameter.input.empty()) {
      auto input = problem.scalars.find(parameter.input);
      if (input == problem.scalars.end())
        return createStringError(where + ": expected a scalar '" +
                                 parameter.input + "', but got none");
      value *= input->second;
    }
    // The comparison is false for NaN too.
    if (!(std::fabs(value) <= std::numeric_limits<float>::max()))
      return createStringError(where + ": expected a finite f32, but got " +
                               std::to_string(value));
    result = static_cast<float>(value);
    return llvm::Error::success();
  }

  llvm::Error bindTensorMap(const std::string &where,
                            const TensorMapParameter &map,
                            TensorMapSpec &spec) {
    if (llvm::Error error =
            bindAddress(where + ".base", map.base, spec.baseAddress))
      return error;
    if (llvm::Error error = evaluateAll(where + ".dims", map.dims, spec.dims))
      return error;
    if (llvm::Error error =
            evaluateAll(where + ".strides", map.strides, spec.strides))
      return error;
    if (llvm::Error error = evaluateAll(where + ".box", map.box, spec.box))
      return error;
    spec.elementType = map.elementType;
    spec.swizzle = map.swizzle;
    spec.interleave = map.interleave;
    spec.l2Promotion = map.l2Promotion;
    spec.oobFill = map.oobFill;
    llvm::Error result = llvm::Error::success();
    for (const std::string &violation : spec.getViolations())
      result = llvm::joinErrors(std::move(result),
                                createStringError(where + ": " + violation));
    return result;
  }

  llvm::Error bindGrid() {
    const int64_t limits[] = {std::numeric_limits<int32_t>::max(), 65535,
                              65535};
    for (size_t i = 0; i != 3; ++i) {
      std::string where = "grid[" + std::to_string(i) + "]";
      llvm::Expected<int64_t> extent = evaluate(where, descriptor.grid[i]);
      if (!extent)
        return extent.takeError();
      if (*extent < 1 || *extent > limits[i])
        return createStringError(where + ": expected 1 to " + Twine(limits[i]) +
                                 " blocks, but got " + Twine(*extent) + " (" +
                                 descriptor.grid[i].str() + ")");
      launch.grid[i] = *extent;
    }
    return llvm::Error::success();
  }
};

} // namespace

llvm::Expected<BoundLaunch> fa4::bind(const LaunchDescriptor &descriptor,
                                      const Problem &problem) {
  return Binder(descriptor, problem).run();
}
