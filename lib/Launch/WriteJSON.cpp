// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON form of a launch descriptor, written. Fields come in the order of
// docs/abi.md.

#include "fa4/Launch/LaunchDescriptor.h"
#include "llvm/Support/JSON.h"

using namespace fa4;
using llvm::json::OStream;

namespace {

struct Writer {
  OStream json;

  explicit Writer(llvm::raw_ostream &os) : json(os, /*IndentSize=*/2) {}

  void text(llvm::StringRef field, llvm::StringRef value) {
    json.attribute(field, value);
  }

  /// A constant as a number, anything else as its canonical text.
  static llvm::json::Value toValue(const Expr &expr) {
    if (std::optional<int64_t> value = expr.getConstant())
      return *value;
    return expr.str();
  }

  void expr(llvm::StringRef field, const Expr &value) {
    json.attribute(field, toValue(value));
  }

  void exprs(llvm::StringRef field, llvm::ArrayRef<Expr> values) {
    json.attributeArray(field, [&] {
      for (const Expr &value : values)
        json.value(toValue(value));
    });
  }

  template <typename List, typename Fn>
  void objects(llvm::StringRef field, const List &list, Fn write) {
    json.attributeArray(field, [&] {
      for (const auto &entry : list)
        json.object([&] { write(entry); });
    });
  }

  void tensor(const LaunchTensor &tensor) {
    text("name", tensor.name);
    text("type", stringifyElementType(tensor.elementType));
    exprs("shape", tensor.shape);
    exprs("strides", tensor.strides);
  }

  void symbol(const LaunchSymbol &symbol) {
    text("name", symbol.name);
    text("operand", symbol.operand);
    bool isDim = symbol.source == LaunchSymbol::Source::Dim;
    json.attribute(isDim ? "dim" : "stride", symbol.index);
  }

  void parameter(const LaunchParameter &parameter) {
    text("name", parameter.name);
    text("kind", stringifyParameterKind(parameter.kind));
    switch (parameter.kind) {
    case LaunchParameter::Kind::TensorMap:
      tensorMap(parameter.tensorMap);
      break;
    case LaunchParameter::Kind::Pointer:
    case LaunchParameter::Kind::I32:
      expr("value", parameter.value);
      break;
    case LaunchParameter::Kind::F32:
      if (!parameter.f32.input.empty())
        text("input", parameter.f32.input);
      json.attribute("factor", parameter.f32.factor);
      break;
    }
  }

  void tensorMap(const TensorMapParameter &map) {
    expr("base", map.base);
    text("type", stringifyElementType(map.elementType));
    exprs("dims", map.dims);
    exprs("strides", map.strides);
    exprs("box", map.box);
    text("swizzle", stringifySwizzle(map.swizzle));
    text("interleave", stringifyInterleave(map.interleave));
    text("l2_promotion", stringifyL2Promotion(map.l2Promotion));
    text("oob_fill", stringifyOobFill(map.oobFill));
  }

  void descriptor(const LaunchDescriptor &d) {
    json.attribute("schema", launchSchemaVersion);
    text("kernel", d.kernel);
    text("chip", d.chip);
    text("ptx", d.ptx);
    json.attributeObject("versions", [&] {
      text("fa4", d.versions.fa4);
      text("llvm", d.versions.llvm);
      text("ptxas", d.versions.ptxas);
    });
    objects("tensors", d.tensors, [&](const LaunchTensor &t) { tensor(t); });
    objects("symbols", d.symbols, [&](const LaunchSymbol &s) { symbol(s); });
    objects("derived", d.derived, [&](const LaunchDerived &entry) {
      text("name", entry.name);
      expr("value", entry.value);
    });
    objects("checks", d.checks, [&](const LaunchCheck &check) {
      expr("require", check.require);
      text("message", check.message);
    });
    expr("skip_if", d.skipIf);
    objects("parameters", d.parameters,
            [&](const LaunchParameter &p) { parameter(p); });
    exprs("grid", d.grid);
    json.attributeArray("block", [&] {
      for (int64_t extent : d.block)
        json.value(extent);
    });
    json.attribute("dynamic_shared_bytes", d.dynamicSharedBytes);
    objects("roles", d.roles, [&](const LaunchRole &role) {
      text("name", role.name);
      json.attribute("warps", role.warps);
      json.attribute("registers", role.registers);
    });
  }
};

} // namespace

void LaunchDescriptor::printJSON(llvm::raw_ostream &os) const {
  {
    Writer writer(os);
    writer.json.object([&] { writer.descriptor(*this); });
  }
  os << '\n';
}

std::string LaunchDescriptor::toJSON() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printJSON(os);
  return text;
}
