// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON form of a launch descriptor, read: strict about fields, types and
// the schema version, so that a launcher never guesses.

#include "fa4/Launch/LaunchDescriptor.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <set>

using namespace fa4;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

/// A descriptor nests four deep; LLVM's parser recurses without a bound.
static constexpr int maxJsonDepth = 16;

static llvm::Error checkDepth(StringRef text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i != text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\' && i + 1 != text.size())
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxJsonDepth)
        return createStringError("expected JSON that nests at most " +
                                 Twine(maxJsonDepth) + " deep");
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return llvm::Error::success();
}

static StringRef getKindName(const Value &value) {
  switch (value.kind()) {
  case Value::Null:
    return "null";
  case Value::Boolean:
    return "a boolean";
  case Value::Number:
    return "a number";
  case Value::String:
    return "a string";
  case Value::Array:
    return "an array";
  case Value::Object:
    break;
  }
  return "an object";
}

namespace {

/// The first error of a reading; later ones are not recorded.
struct Diagnosis {
  std::optional<std::string> message;

  void report(const Twine &where, const Twine &what) {
    if (!message)
      message = (where + ": " + what).str();
  }
};

/// One JSON object whose fields are taken by name. Whatever goes wrong is
/// reported and a harmless value returned, so that reading code stays straight.
class Fields {
public:
  Fields(const Object &object, std::string path, Diagnosis &diagnosis)
      : object(object), path(std::move(path)), diagnosis(diagnosis) {}

  /// Call when every field has been taken.
  void finish() {
    // Sorted, so that the message does not depend on a hash.
    std::set<std::string> unknown;
    for (const auto &entry : object)
      if (!taken.count(StringRef(entry.first).str()))
        unknown.insert(StringRef(entry.first).str());
    if (!unknown.empty())
      diagnosis.report(pathOf(*unknown.begin()), "unknown field");
  }

  bool has(StringRef field) const { return object.get(field) != nullptr; }

  std::string pathOf(StringRef field) const {
    return path.empty() ? field.str() : path + "." + field.str();
  }

  void report(StringRef field, const Twine &what) {
    diagnosis.report(pathOf(field), what);
  }

  std::string text(StringRef field) {
    const Value *value = take(field);
    if (!value)
      return std::string();
    if (std::optional<StringRef> string = value->getAsString())
      return string->str();
    expected(field, "a string", *value);
    return std::string();
  }

  int64_t integer(StringRef field) {
    const Value *value = take(field);
    return value ? toInteger(pathOf(field), *value) : 0;
  }

  double number(StringRef field) {
    const Value *value = take(field);
    if (!value)
      return 0;
    std::optional<double> number = value->getAsNumber();
    if (number && std::isfinite(*number))
      return *number;
    expected(field, "a finite number", *value);
    return 0;
  }

  template <typename Enum>
  Enum symbol(StringRef field, std::optional<Enum> (*symbolize)(StringRef),
              const char *legal) {
    std::string name = text(field);
    std::optional<Enum> value = symbolize(name);
    if (!value)
      report(field, Twine("expected ") + legal + ", but got '" + name + "'");
    return value.value_or(Enum());
  }

  Expr expr(StringRef field) {
    const Value *value = take(field);
    return value ? toExpr(pathOf(field), *value) : Expr();
  }

  std::vector<Expr> exprs(StringRef field) {
    std::vector<Expr> result;
    forEach(field, [&](const std::string &where, const Value &value) {
      result.push_back(toExpr(where, value));
    });
    return result;
  }

  std::vector<int64_t> integers(StringRef field) {
    std::vector<int64_t> result;
    forEach(field, [&](const std::string &where, const Value &value) {
      result.push_back(toInteger(where, value));
    });
    return result;
  }

  template <typename Fn> void nested(StringRef field, Fn read) {
    if (const Value *value = take(field))
      readObject(pathOf(field), *value, read);
  }

  template <typename Fn> void objects(StringRef field, Fn read) {
    forEach(field, [&](const std::string &where, const Value &value) {
      readObject(where, value, read);
    });
  }

private:
  const Object &object;
  std::string path;
  Diagnosis &diagnosis;
  std::set<std::string> taken;

  const Value *take(StringRef field) {
    taken.insert(field.str());
    const Value *value = object.get(field);
    if (!value)
      report(field, "the field is missing");
    return value;
  }

  void expected(StringRef field, const char *what, const Value &got) {
    report(field, Twine("expected ") + what + ", but got " + getKindName(got));
  }

  int64_t toInteger(const std::string &where, const Value &value) {
    if (std::optional<int64_t> integer = value.getAsInteger())
      return *integer;
    diagnosis.report(where,
                     "expected an integer, but got " + getKindName(value));
    return 0;
  }

  Expr toExpr(const std::string &where, const Value &value) {
    if (std::optional<int64_t> integer = value.getAsInteger())
      return Expr(*integer);
    std::optional<StringRef> text = value.getAsString();
    if (!text) {
      diagnosis.report(where, "expected an integer or an expression, but got " +
                                  getKindName(value));
      return Expr();
    }
    llvm::Expected<Expr> expr = Expr::parse(*text);
    if (expr)
      return *expr;
    diagnosis.report(where,
                     "in '" + *text + "', " + llvm::toString(expr.takeError()));
    return Expr();
  }

  template <typename Fn> void forEach(StringRef field, Fn visit) {
    const Value *value = take(field);
    if (!value)
      return;
    const Array *array = value->getAsArray();
    if (!array)
      return expected(field, "an array", *value);
    for (size_t i = 0; i != array->size(); ++i)
      visit(pathOf(field) + "[" + std::to_string(i) + "]", (*array)[i]);
  }

  template <typename Fn>
  void readObject(const std::string &where, const Value &value, Fn read) {
    const Object *nested = value.getAsObject();
    if (!nested)
      return diagnosis.report(where, "expected an object, but got " +
                                         getKindName(value));
    Fields fields(*nested, where, diagnosis);
    read(fields);
    fields.finish();
  }
};

} // namespace

static std::optional<LaunchParameter::Kind>
symbolizeParameterKind(StringRef name) {
  using Kind = LaunchParameter::Kind;
  for (Kind kind : {Kind::TensorMap, Kind::Pointer, Kind::I32, Kind::F32})
    if (name == stringifyParameterKind(kind))
      return kind;
  return std::nullopt;
}

static ElementType readType(Fields &fields) {
  return fields.symbol<ElementType>(
      "type", symbolizeElementType,
      "u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16, f32_ftz or tf32");
}

static LaunchTensor readTensor(Fields &fields) {
  LaunchTensor tensor;
  tensor.name = fields.text("name");
  tensor.elementType = readType(fields);
  tensor.shape = fields.exprs("shape");
  tensor.strides = fields.exprs("strides");
  return tensor;
}

static LaunchSymbol readSymbol(Fields &fields) {
  LaunchSymbol symbol;
  symbol.name = fields.text("name");
  symbol.operand = fields.text("operand");
  bool isStride = fields.has("stride");
  if (isStride && fields.has("dim"))
    fields.report("dim", "expected either 'dim' or 'stride', but got both");
  symbol.source =
      isStride ? LaunchSymbol::Source::Stride : LaunchSymbol::Source::Dim;
  symbol.index = fields.integer(isStride ? "stride" : "dim");
  return symbol;
}

static TensorMapParameter readTensorMap(Fields &fields) {
  TensorMapParameter map;
  map.base = fields.expr("base");
  map.elementType = readType(fields);
  map.dims = fields.exprs("dims");
  map.strides = fields.exprs("strides");
  map.box = fields.exprs("box");
  map.swizzle = fields.symbol<Swizzle>("swizzle", symbolizeSwizzle,
                                       "none, 32B, 64B or 128B");
  map.interleave = fields.symbol<Interleave>("interleave", symbolizeInterleave,
                                             "none, 16B or 32B");
  map.l2Promotion = fields.symbol<L2Promotion>(
      "l2_promotion", symbolizeL2Promotion, "none, 64B, 128B or 256B");
  map.oobFill =
      fields.symbol<OobFill>("oob_fill", symbolizeOobFill, "zero or nan");
  return map;
}

static LaunchParameter readParameter(Fields &fields) {
  LaunchParameter parameter;
  parameter.name = fields.text("name");
  parameter.kind = fields.symbol<LaunchParameter::Kind>(
      "kind", symbolizeParameterKind, "tensor_map, pointer, i32 or f32");
  switch (parameter.kind) {
  case LaunchParameter::Kind::TensorMap:
    parameter.tensorMap = readTensorMap(fields);
    break;
  case LaunchParameter::Kind::Pointer:
  case LaunchParameter::Kind::I32:
    parameter.value = fields.expr("value");
    break;
  case LaunchParameter::Kind::F32:
    if (fields.has("input"))
      parameter.f32.input = fields.text("input");
    parameter.f32.factor = fields.number("factor");
    break;
  }
  return parameter;
}

static LaunchDescriptor readDescriptor(Fields &fields) {
  LaunchDescriptor d;
  int64_t schema = fields.integer("schema");
  if (schema != launchSchemaVersion)
    fields.report("schema", "expected " + Twine(launchSchemaVersion) +
                                ", but got " + Twine(schema));
  d.kernel = fields.text("kernel");
  d.chip = fields.text("chip");
  d.ptx = fields.text("ptx");
  fields.nested("versions", [&](Fields &versions) {
    d.versions.fa4 = versions.text("fa4");
    d.versions.llvm = versions.text("llvm");
    d.versions.ptxas = versions.text("ptxas");
  });
  fields.objects("tensors", [&](Fields &entry) {
    d.tensors.push_back(readTensor(entry));
  });
  fields.objects("symbols", [&](Fields &entry) {
    d.symbols.push_back(readSymbol(entry));
  });
  fields.objects("derived", [&](Fields &entry) {
    std::string name = entry.text("name");
    d.derived.push_back({std::move(name), entry.expr("value")});
  });
  fields.objects("checks", [&](Fields &entry) {
    Expr require = entry.expr("require");
    d.checks.push_back({std::move(require), entry.text("message")});
  });
  d.skipIf = fields.expr("skip_if");
  fields.objects("parameters", [&](Fields &entry) {
    d.parameters.push_back(readParameter(entry));
  });
  std::vector<Expr> grid = fields.exprs("grid");
  std::vector<int64_t> block = fields.integers("block");
  if (grid.size() != 3)
    fields.report("grid", "expected 3 entries, but got " + Twine(grid.size()));
  else
    std::copy(grid.begin(), grid.end(), d.grid.begin());
  if (block.size() != 3)
    fields.report("block",
                  "expected 3 entries, but got " + Twine(block.size()));
  else
    std::copy(block.begin(), block.end(), d.block.begin());
  d.dynamicSharedBytes = fields.integer("dynamic_shared_bytes");
  fields.objects("roles", [&](Fields &entry) {
    LaunchRole role;
    role.name = entry.text("name");
    role.warps = entry.integer("warps");
    role.registers = entry.integer("registers");
    d.roles.push_back(std::move(role));
  });
  return d;
}

llvm::Expected<LaunchDescriptor> LaunchDescriptor::fromJSON(StringRef text) {
  if (llvm::Error error = checkDepth(text))
    return std::move(error);
  llvm::Expected<Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  const Object *object = value->getAsObject();
  if (!object)
    return createStringError("expected a JSON object, but got " +
                             getKindName(*value));
  Diagnosis diagnosis;
  Fields fields(*object, std::string(), diagnosis);
  LaunchDescriptor descriptor = readDescriptor(fields);
  fields.finish();
  if (diagnosis.message)
    return createStringError(*diagnosis.message);
  if (llvm::Error error = descriptor.verify())
    return std::move(error);
  return descriptor;
}
