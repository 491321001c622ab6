// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// fa4::bind for tests in other languages. Reads the path of a descriptor and
// then, a line each, problems
//   {"q": {"type": "f16", "shape": [..], "strides": [..], "address": n}, ..}
// and prints a line for each: {"error": ".."}, {"skip": true}, or
//   {"grid": [..], "parameters": [{"name": .., "offset": n, ..}, ..]}

#include "fa4/Launch/Bind.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <iostream>

using namespace fa4;
namespace json = llvm::json;

static json::Array toArray(llvm::ArrayRef<int64_t> values) {
  json::Array array;
  for (int64_t value : values)
    array.push_back(value);
  return array;
}

static llvm::SmallVector<int64_t, 4> toIntegers(const json::Array *array) {
  llvm::SmallVector<int64_t, 4> values;
  for (const json::Value &value : array ? *array : json::Array())
    values.push_back(value.getAsInteger().value_or(0));
  return values;
}

static Problem toProblem(const json::Object &object) {
  Problem problem;
  for (const auto &entry : object) {
    const json::Object *tensor = entry.second.getAsObject();
    if (!tensor)
      continue;
    TensorArgument &argument =
        problem.tensors[llvm::StringRef(entry.first).str()];
    argument.elementType =
        symbolizeElementType(tensor->getString("type").value_or(""))
            .value_or(ElementType::U8);
    argument.shape = toIntegers(tensor->getArray("shape"));
    argument.strides = toIntegers(tensor->getArray("strides"));
    argument.address =
        static_cast<uint64_t>(tensor->getInteger("address").value_or(0));
  }
  return problem;
}

static json::Object describe(const BoundParameter &parameter) {
  json::Object object{{"name", parameter.name},
                      {"offset", parameter.slot.offset}};
  switch (parameter.kind) {
  case LaunchParameter::Kind::TensorMap: {
    const TensorMapSpec &map = parameter.tensorMap;
    object["base"] = static_cast<int64_t>(map.baseAddress);
    object["type"] = stringifyElementType(map.elementType).str();
    object["dims"] = toArray(map.dims);
    object["strides"] = toArray(map.strides);
    object["box"] = toArray(map.box);
    object["swizzle"] = stringifySwizzle(map.swizzle).str();
    object["interleave"] = stringifyInterleave(map.interleave).str();
    object["l2_promotion"] = stringifyL2Promotion(map.l2Promotion).str();
    object["oob_fill"] = stringifyOobFill(map.oobFill).str();
    break;
  }
  case LaunchParameter::Kind::Pointer:
    object["value"] = static_cast<int64_t>(parameter.pointer);
    break;
  case LaunchParameter::Kind::I32:
    object["value"] = parameter.i32;
    break;
  case LaunchParameter::Kind::F32:
    object["value"] = static_cast<double>(parameter.f32);
    break;
  }
  return object;
}

static json::Object describe(llvm::Expected<BoundLaunch> launch) {
  if (!launch)
    return json::Object{{"error", llvm::toString(launch.takeError())}};
  if (launch->skip)
    return json::Object{{"skip", true}};
  json::Array parameters;
  for (const BoundParameter &parameter : launch->parameters)
    parameters.push_back(describe(parameter));
  return json::Object{{"grid", toArray(launch->grid)},
                      {"parameters", std::move(parameters)}};
}

int main() {
  std::string line;
  if (!std::getline(std::cin, line))
    return 2;
  auto buffer = llvm::MemoryBuffer::getFile(line);
  if (!buffer) {
    llvm::errs() << line << ": " << buffer.getError().message() << '\n';
    return 2;
  }
  auto descriptor = LaunchDescriptor::fromJSON((*buffer)->getBuffer());
  if (!descriptor) {
    llvm::errs() << llvm::toString(descriptor.takeError()) << '\n';
    return 2;
  }
  while (std::getline(std::cin, line)) {
    llvm::Expected<json::Value> problem = json::parse(line);
    if (!problem || !problem->getAsObject()) {
      llvm::consumeError(problem.takeError());
      llvm::errs() << "no problem: " << line << '\n';
      return 2;
    }
    llvm::outs() << json::Value(describe(
                        bind(*descriptor, toProblem(*problem->getAsObject()))))
                 << '\n';
  }
  return 0;
}
