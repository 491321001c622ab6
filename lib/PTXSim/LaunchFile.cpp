// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptxsim/LaunchFile.h"

#include "Json.h"

#include "ptxsim/Npy.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace ptxsim;

namespace {

bool readText(const std::string &path, std::string &text) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  text = s.str();
  return bool(in);
}

std::string npyDescr(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return "<f2";
  case ElementType::F32:
  case ElementType::F32Ftz:
  case ElementType::TF32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  case ElementType::U8:
    return "|u1";
  case ElementType::U16:
  case ElementType::BF16:
    return "<u2";
  case ElementType::S32:
    return "<i4";
  case ElementType::S64:
    return "<i8";
  case ElementType::U64:
    return "<u8";
  default:
    return "<u4";
  }
}

bool typeOfNpy(const std::string &descr, ElementType &type) {
  for (unsigned i = 0; i < 12; ++i) {
    ElementType t = ElementType(i);
    if (t != ElementType::BF16 && descr.substr(1) == npyDescr(t).substr(1)) {
      type = t;
      return true;
    }
  }
  return false;
}

/// The bits that an element starts with: NaN, or a number given.
uint64_t fillBits(ElementType type, const Json *fill) {
  if (fill && fill->kind == Json::Int)
    return uint64_t(fill->integer);
  switch (elementBytes(type)) {
  case 1:
    return 0xff;
  case 2:
    return 0x7fff;
  case 4:
    return 0x7fffffff;
  default:
    return 0x7fffffffffffffff;
  }
}

class Loader {
public:
  Loader(const std::string &path, Memory &memory, LaunchFile &out,
         std::string &error)
      : memory(memory), out(out), error(error) {
    size_t slash = path.rfind('/');
    folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  }

  bool run(const std::string &text) {
    Json root;
    if (!parseJson(text, root, error))
      return false;
    const Json *tensors = root.find("tensors");
    if (root.kind != Json::Object || !tensors || tensors->kind != Json::Object)
      return fail("expected an object 'tensors'");
    for (auto &[name, spec] : root.object)
      if (name != "tensors" && name != "scalars" && name != "descriptor")
        return fail("unknown field '" + name + "'");
    for (auto &[name, spec] : tensors->object)
      if (!tensor(name, spec))
        return false;
    if (const Json *scalars = root.find("scalars"))
      for (auto &[name, value] : scalars->object) {
        if (!value.isNumber())
          return fail("expected a number for scalar '" + name + "'");
        call.scalars[name] = value.real;
      }
    const Json *d = root.find("descriptor");
    std::string descriptor;
    if (!d || d->kind != Json::String)
      return fail("expected 'descriptor', the path of a launch descriptor");
    if (!readText(resolve(d->string), descriptor))
      return fail("cannot read '" + d->string + "'");
    return bindDescriptor(descriptor, call, out.launch, out.skip, error);
  }

private:
  Memory &memory;
  LaunchFile &out;
  std::string &error;
  std::string folder;
  Call call;

  bool fail(const std::string &message) {
    error = message;
    return false;
  }
  std::string resolve(const std::string &path) const {
    return path[0] == '/' ? path : folder + path;
  }

  bool integers(const Json &spec, const char *field,
                std::vector<int64_t> &values) {
    const Json *list = spec.find(field);
    if (!list)
      return true;
    values.clear();
    for (const Json &v : list->array) {
      if (v.kind != Json::Int)
        return fail(std::string("expected integers in '") + field + "'");
      values.push_back(v.integer);
    }
    return true;
  }

  // {"in": file, "elements": file, "out": file, "type", "shape", "strides",
  //  "offset", "address", "fill"}; the file of "in" holds the storage, that of
  //  "elements" the elements of the view, in C order.
  bool tensor(const std::string &name, const Json &spec) {
    for (auto &[field, value] : spec.object)
      if (field != "in" && field != "out" && field != "type" &&
          field != "shape" && field != "strides" && field != "offset" &&
          field != "address" && field != "fill" && field != "elements")
        return fail("unknown field '" + field + "' of tensor '" + name + "'");
    Tensor t;
    t.name = name;
    NpyArray file;
    const Json *in = spec.find("in"), *type = spec.find("type");
    const Json *elements = spec.find("elements");
    if (in && elements)
      return fail("tensor '" + name + "' has both 'in' and 'elements'");
    if (elements && (elements->kind != Json::String ||
                     !readNpy(resolve(elements->string), file, error)))
      return fail(error.empty() ? "expected a file in 'elements'" : error);
    if (in) {
      if (!readNpy(resolve(in->string), file, error))
        return false;
      t.shape.assign(file.shape.begin(), file.shape.end());
      if (!type && !typeOfNpy(file.descr, t.type))
        return fail("tensor '" + name + "': unknown element type '" +
                    file.descr + "'");
    }
    if (type && !elementTypeByName(type->string, t.type))
      return fail("unknown element type '" + type->string + "'");
    std::vector<int64_t> storage = t.shape;
    if (!integers(spec, "shape", t.shape))
      return false;
    if (t.shape.empty())
      return fail("tensor '" + name + "' has neither a file nor a shape");
    t.strides.assign(t.shape.size(), 1);
    for (size_t i = t.shape.size() - 1; i-- > 0;)
      t.strides[i] = t.strides[i + 1] * std::max<int64_t>(1, t.shape[i + 1]);
    bool compact = !spec.find("strides");
    if (!integers(spec, "strides", t.strides))
      return false;
    if (t.strides.size() != t.shape.size())
      return fail("tensor '" + name + "' has as many strides as dimensions");
    const Json *offset = spec.find("offset");
    uint64_t first = offset ? uint64_t(offset->integer) : 0, last = first;
    bool empty = false;
    for (size_t i = 0; i < t.shape.size(); ++i) {
      if (t.shape[i] < 0 || t.strides[i] < 0)
        return fail("tensor '" + name + "' has a negative extent or stride");
      empty |= t.shape[i] == 0;
      last += uint64_t(t.shape[i] - (t.shape[i] > 0)) * uint64_t(t.strides[i]);
    }
    uint64_t width = elementBytes(t.type);
    uint64_t bytes = in ? file.data.size() : empty ? 0 : (last + 1) * width;
    if (in && !empty && (last + 1) * width > bytes)
      return fail("tensor '" + name + "' reaches past the end of its file");
    uint64_t base;
    if (!place(name, spec, bytes, base))
      return false;
    uint8_t *data = memory.byName(name)->data;
    if (in)
      std::memcpy(data, file.data.data(), bytes);
    if (elements && !scatter(t, file, data + first * width))
      return fail("tensor '" + name + "' has another number of elements");
    uint64_t bits = fillBits(t.type, spec.find("fill"));
    for (uint64_t i = 0; !in && !elements && i + width <= bytes; i += width)
      std::memcpy(data + i, &bits, width);
    t.address = base + first * width;
    if (const Json *o = spec.find("out")) {
      std::vector<int64_t> shape =
          in        ? storage
          : compact ? t.shape
                    : std::vector<int64_t>{int64_t(bytes / width)};
      out.outputs.push_back({resolve(o->string), base, bytes, t.type, shape});
    }
    call.tensors.push_back(std::move(t));
    return true;
  }

  /// Puts compact elements where the strides say, and touches no other page of
  /// the storage, so that a view may span more than the machine has.
  static bool scatter(const Tensor &t, const NpyArray &file, uint8_t *data) {
    uint64_t width = elementBytes(t.type), count = 1;
    for (int64_t extent : t.shape)
      count *= uint64_t(extent);
    if (file.data.size() != count * width)
      return false;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t at = 0, rest = i;
      for (size_t dim = t.shape.size(); dim-- > 0;) {
        at += rest % uint64_t(t.shape[dim]) * uint64_t(t.strides[dim]);
        rest /= uint64_t(t.shape[dim]);
      }
      std::memcpy(data + at * width, file.data.data() + i * width, width);
    }
    return true;
  }

  bool place(const std::string &name, const Json &spec, uint64_t bytes,
             uint64_t &base) {
    if (const Json *address = spec.find("address")) {
      base = address->kind == Json::String
                 ? std::strtoull(address->string.c_str(), nullptr, 0)
                 : uint64_t(address->integer);
      if (!memory.map(name, base, std::max<uint64_t>(1, bytes)))
        return fail("tensor '" + name + "' cannot be placed at its address");
      return true;
    }
    Memory::Region *region = memory.allocate(name, bytes);
    if (!region)
      return fail("out of memory for tensor '" + name + "'");
    base = region->base;
    return true;
  }
};

} // namespace

bool ptxsim::loadLaunchFile(const std::string &path, Memory &memory,
                            LaunchFile &out, std::string &error) {
  std::string text;
  if (!readText(path, text)) {
    error = path + ": cannot be read";
    return false;
  }
  error.clear();
  if (Loader(path, memory, out, error).run(text))
    return true;
  error = path + ": " + error;
  return false;
}

bool ptxsim::writeOutputs(const LaunchFile &file, const Memory &memory,
                          std::string &error, bool partial) {
  for (const LaunchFile::Output &o : file.outputs) {
    std::string path = o.path;
    size_t end = path.size() - 4;
    if (partial && path.size() > 4 && path.compare(end, 4, ".npy") == 0)
      path.insert(end, ".partial");
    else if (partial)
      path += ".partial";
    NpyArray array;
    array.descr = npyDescr(o.type);
    array.shape.assign(o.shape.begin(), o.shape.end());
    if (o.bytes) {
      const uint8_t *data = memory.translate(o.address, o.bytes);
      if (!data) {
        error = path + ": the buffer is gone";
        return false;
      }
      array.data.assign(data, data + o.bytes);
    }
    if (!writeNpy(path, array, error))
      return false;
  }
  return true;
}
