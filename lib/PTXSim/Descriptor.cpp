// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launch descriptors, schema 1. Written from docs/abi.md; the compiler's own
// reader is no part of this.

#include "Expr.h"
#include "Json.h"

#include "ptxsim/LaunchFile.h"

#include <algorithm>
#include <set>

using namespace ptxsim;

static constexpr const char *kTypeNames[] = {"u8",  "u16",  "u32",     "i32",
                                             "u64", "i64",  "f16",     "f32",
                                             "f64", "bf16", "f32_ftz", "tf32"};

const char *ptxsim::elementTypeName(ElementType type) {
  return kTypeNames[unsigned(type)];
}

bool ptxsim::elementTypeByName(const std::string &name, ElementType &type) {
  for (unsigned i = 0; i < 12; ++i)
    if (name == kTypeNames[i]) {
      type = ElementType(i);
      return true;
    }
  return false;
}

namespace {

class Binder {
public:
  Binder(const Json &root, const Call &call, Launch &launch, std::string &error)
      : root(root), call(call), launch(launch), error(error) {}

  bool run(bool &skip) {
    skip = false;
    if (root.kind != Json::Object)
      return fail("expected an object");
    static const std::set<std::string> kFields = {
        "schema",     "kernel",
        "chip",       "ptx",
        "versions",   "tensors",
        "symbols",    "derived",
        "checks",     "skip_if",
        "parameters", "grid",
        "block",      "dynamic_shared_bytes",
        "roles"};
    for (auto &[name, value] : root.object)
      if (!kFields.count(name))
        return fail("unknown field '" + name + "'");
    if (const Json *schema = root.find("schema"))
      if (schema->kind != Json::Int || schema->integer != 1)
        return fail("expected schema 1");
    const Json *kernel = root.find("kernel");
    if (kernel && kernel->kind == Json::String)
      launch.kernel = kernel->string;
    if (!symbols() || !tensors() || !scalars() || !derived())
      return false;
    int64_t value = 0;
    if (const Json *s = root.find("skip_if")) {
      if (!eval(*s, value))
        return false;
      if (value) {
        skip = true;
        return true;
      }
    }
    return checks() && parameters() && geometry();
  }

private:
  const Json &root;
  const Call &call;
  Launch &launch;
  std::string &error;
  std::map<std::string, int64_t> values;
  std::map<std::string, std::string> broken; // derived values without one
  bool addresses = false;                    // tensor names have a value

  bool fail(const std::string &message) {
    if (error.empty())
      error = message;
    return false;
  }

  const Tensor *tensor(const std::string &name) const {
    for (const Tensor &t : call.tensors)
      if (t.name == name)
        return &t;
    return nullptr;
  }

  bool lookup(const std::string &name, int64_t &v) const {
    auto it = values.find(name);
    if (it != values.end()) {
      v = it->second;
      return true;
    }
    const Tensor *t = addresses ? tensor(name) : nullptr;
    if (t)
      v = int64_t(t->address);
    return t != nullptr;
  }

  bool evalText(const std::string &text, int64_t &v, std::string &why) const {
    return evaluate(
        text,
        [&](const std::string &name, int64_t &out) {
          return lookup(name, out);
        },
        v, why);
  }

  bool eval(const Json &e, int64_t &v) {
    if (e.kind == Json::Int) {
      v = e.integer;
      return true;
    }
    if (e.kind != Json::String)
      return fail("line " + std::to_string(e.line) +
                  ": expected an expression");
    std::string why;
    return evalText(e.string, v, why) || fail(why);
  }

  bool evalList(const Json *list, std::vector<int64_t> &out,
                const std::string &what) {
    if (!list || list->kind != Json::Array)
      return fail("expected a list '" + what + "'");
    for (const Json &e : list->array) {
      out.push_back(0);
      if (!eval(e, out.back()))
        return false;
    }
    return true;
  }

  static const std::vector<Json> &items(const Json *list) {
    static const std::vector<Json> none;
    return list ? list->array : none;
  }

  bool text(const Json &object, const char *field, std::string &out) {
    const Json *f = object.find(field);
    if (!f || f->kind != Json::String)
      return fail("line " + std::to_string(object.line) +
                  ": expected a string '" + field + "'");
    out = f->string;
    return true;
  }

  bool symbols() {
    for (const Json &s : items(root.find("symbols"))) {
      std::string name, operand;
      if (!text(s, "name", name) || !text(s, "operand", operand))
        return false;
      const Tensor *t = tensor(operand);
      if (!t)
        return fail("tensor '" + operand + "' is not given");
      const Json *dim = s.find("dim"), *stride = s.find("stride");
      const Json *index = dim ? dim : stride;
      if (!index || index->kind != Json::Int || index->integer < 0 ||
          size_t(index->integer) >=
              std::min(t->shape.size(), t->strides.size()))
        return fail("symbol '" + name + "' names no dimension of '" + operand +
                    "'");
      values[name] = (dim ? t->shape : t->strides)[size_t(index->integer)];
    }
    return true;
  }

  bool tensors() {
    const Json *list = root.find("tensors");
    if (!list)
      return true;
    std::set<std::string> named;
    for (const Json &d : list->array) {
      std::string name, type;
      std::vector<int64_t> shape, strides;
      if (!text(d, "name", name) || !text(d, "type", type) ||
          !evalList(d.find("shape"), shape, "shape") ||
          !evalList(d.find("strides"), strides, "strides"))
        return false;
      named.insert(name);
      const Tensor *t = tensor(name);
      if (!t)
        return fail("tensor '" + name + "' is not given");
      if (type != elementTypeName(t->type))
        return fail("tensor '" + name + "' has element type " +
                    elementTypeName(t->type) + ", expected " + type);
      if (t->shape.size() != shape.size() ||
          t->strides.size() != strides.size())
        return fail("tensor '" + name + "' has rank " +
                    std::to_string(t->shape.size()) + ", expected " +
                    std::to_string(shape.size()));
      bool empty = false;
      for (int64_t extent : t->shape)
        empty |= extent == 0;
      // Extents first: a wrong one makes strides wrong that nobody gave.
      for (size_t i = 0; i < shape.size(); ++i)
        if (t->shape[i] != shape[i])
          return fail("tensor '" + name + "', dimension " + std::to_string(i) +
                      ": extent " + std::to_string(t->shape[i]) +
                      ", expected " + std::to_string(shape[i]));
      for (size_t i = 0; i < shape.size(); ++i)
        if (t->strides[i] != strides[i] && t->shape[i] != 1 && !empty)
          return fail("tensor '" + name + "', dimension " + std::to_string(i) +
                      ": stride " + std::to_string(t->strides[i]) +
                      ", expected " + std::to_string(strides[i]));
    }
    for (const Tensor &t : call.tensors)
      if (!named.count(t.name))
        return fail("tensor '" + t.name + "' is no operand of the kernel");
    return true;
  }

  bool derived() {
    for (const Json &d : items(root.find("derived"))) {
      std::string name, why;
      const Json *value = d.find("value");
      if (!text(d, "name", name) || !value)
        return fail("expected 'name' and 'value' of a derived value");
      int64_t v = 0;
      if (value->kind == Json::Int)
        values[name] = value->integer;
      else if (evalText(value->string, v, why))
        values[name] = v; // one without a value is an error where it is used
    }
    return true;
  }

  /// Replaces {expr} in a message.
  std::string fillIn(const std::string &message) {
    std::string out;
    for (size_t i = 0; i < message.size(); ++i) {
      char c = message[i];
      if ((c == '{' || c == '}') && i + 1 < message.size() &&
          message[i + 1] == c) {
        out += c;
        ++i;
        continue;
      }
      size_t end = c == '{' ? message.find('}', i) : std::string::npos;
      if (end == std::string::npos) {
        out += c;
        continue;
      }
      int64_t v;
      std::string why;
      out += evalText(message.substr(i + 1, end - i - 1), v, why)
                 ? std::to_string(v)
                 : "?";
      i = end;
    }
    return out;
  }

  bool checks() {
    for (const Json &c : items(root.find("checks"))) {
      const Json *require = c.find("require");
      std::string message;
      int64_t v = 0;
      if (!require || !text(c, "message", message) || !eval(*require, v))
        return fail("malformed check");
      if (!v)
        return fail(fillIn(message));
    }
    return true;
  }

  bool tensorMap(const Json &p, TensorMap &map) {
    std::string type, swizzle, fill = "zero", interleave = "none";
    std::vector<int64_t> dims, strides, box;
    int64_t base = 0;
    const Json *b = p.find("base");
    if (!b)
      return fail("expected 'base' of a tensor map");
    addresses = true;
    bool good = eval(*b, base);
    addresses = false;
    if (!good || !text(p, "type", type) || !text(p, "swizzle", swizzle) ||
        !evalList(p.find("dims"), dims, "dims") ||
        !evalList(p.find("strides"), strides, "strides") ||
        !evalList(p.find("box"), box, "box"))
      return false;
    if (!elementTypeByName(type, map.type))
      return fail("unknown element type '" + type + "'");
    if (p.find("interleave") &&
        (!text(p, "interleave", interleave) || interleave != "none"))
      return fail("interleaved tensor maps are not supported");
    if (p.find("oob_fill") && !text(p, "oob_fill", fill))
      return false;
    if (fill != "zero" && fill != "nan")
      return fail("unknown fill '" + fill + "'");
    map.nanFill = fill == "nan";
    static constexpr const char *kSwizzles[] = {"none", "32B", "64B", "128B"};
    unsigned s = 0;
    while (s < 4 && swizzle != kSwizzles[s])
      ++s;
    if (s == 4)
      return fail("unknown swizzle '" + swizzle + "'");
    map.swizzle = Swizzle(s);
    map.address = uint64_t(base);
    for (int64_t v : dims)
      map.dims.push_back(uint64_t(v));
    for (int64_t v : strides)
      map.strides.push_back(uint64_t(v));
    for (int64_t v : box)
      map.box.push_back(v < 0 || v > 1024 ? 1024u : uint32_t(v));
    return true;
  }

  /// A scalar that the kernel does not take is one that was meant for another
  /// parameter.
  bool scalars() {
    const Json *list = root.find("parameters");
    std::set<std::string> known;
    if (list && list->kind == Json::Array)
      for (const Json &p : list->array)
        if (const Json *input = p.find("input"))
          if (input->kind == Json::String)
            known.insert(input->string);
    for (const auto &[name, value] : call.scalars) {
      if (known.count(name))
        continue;
      std::string names;
      for (const std::string &other : known)
        names += (names.empty() ? "" : ", ") + other;
      return fail("the kernel has no scalar '" + name + "', it has " +
                  (names.empty() ? "none" : names));
    }
    return true;
  }

  bool parameters() {
    const Json *list = root.find("parameters");
    if (!list || list->kind != Json::Array)
      return fail("expected a list 'parameters'");
    for (const Json &p : list->array) {
      std::string name, kind;
      if (!text(p, "name", name) || !text(p, "kind", kind))
        return false;
      if (kind == "tensor_map") {
        TensorMap map;
        if (!tensorMap(p, map))
          return fail("parameter '" + name + "'");
        std::string why = map.check();
        if (!why.empty())
          return fail("parameter '" + name + "': " + why);
        launch.params.push_back(Param::tensorMap(std::move(map)));
        continue;
      }
      if (kind == "f32") {
        const Json *factor = p.find("factor");
        if (!factor || !factor->isNumber())
          return fail("expected a number 'factor' of parameter '" + name + "'");
        double v = factor->real;
        if (p.find("input")) {
          std::string input;
          if (!text(p, "input", input))
            return false;
          auto it = call.scalars.find(input);
          if (it == call.scalars.end())
            return fail("scalar '" + input + "' is not given");
          v *= it->second;
        }
        launch.params.push_back(Param::scalar(float(v)));
        continue;
      }
      const Json *value = p.find("value");
      int64_t v = 0;
      addresses = kind == "pointer";
      bool good = value && eval(*value, v);
      addresses = false;
      if (!good)
        return fail("parameter '" + name + "' has no value");
      if (kind == "pointer") {
        launch.params.push_back(Param::scalar(uint64_t(v)));
      } else if (kind == "i32") {
        if (v != int32_t(v))
          return fail("parameter '" + name + "' exceeds 32 bits");
        launch.params.push_back(Param::scalar(int32_t(v)));
      } else {
        return fail("unknown parameter kind '" + kind + "'");
      }
    }
    return true;
  }

  bool triple(const char *field, std::array<uint32_t, 3> &out) {
    std::vector<int64_t> v;
    if (!evalList(root.find(field), v, field))
      return false;
    if (v.size() != 3)
      return fail(std::string("expected three values of '") + field + "'");
    for (unsigned i = 0; i < 3; ++i) {
      if (v[i] < 1 || v[i] > 2147483647)
        return fail(std::string("'") + field + "' holds " +
                    std::to_string(v[i]) + ", expected at least 1");
      out[i] = uint32_t(v[i]);
    }
    return true;
  }

  bool geometry() {
    if (!triple("grid", launch.grid) || !triple("block", launch.block))
      return false;
    const Json *shared = root.find("dynamic_shared_bytes");
    if (shared && (shared->kind != Json::Int || shared->integer < 0 ||
                   shared->integer > 232448))
      return fail("expected 'dynamic_shared_bytes' of 0 to 232448");
    launch.dynamicSharedBytes = shared ? uint32_t(shared->integer) : 0;
    return true;
  }
};

} // namespace

bool ptxsim::bindDescriptor(const std::string &json, const Call &call,
                            Launch &launch, bool &skip, std::string &error) {
  Json root;
  if (!parseJson(json, root, error))
    return false;
  error.clear();
  launch = Launch();
  return Binder(root, call, launch, error).run(skip);
}
