// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptxsim/LaunchFile.h"

#include "Json.h"

#include "ptxsim/Npy.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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

unsigned npyWidth(const std::string &descr) {
  return unsigned(std::strtoul(descr.c_str() + 2, nullptr, 10));
}

/// \p sum += \p a * \p b; false where 64 bits do not hold it.
bool addProduct(uint64_t &sum, uint64_t a, uint64_t b) {
  uint64_t product;
  return !__builtin_mul_overflow(a, b, &product) &&
         !__builtin_add_overflow(sum, product, &sum);
}

/// The bits of a NaN, which an element starts with.
uint64_t nanBits(ElementType type) {
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
    const Json *scalars = root.find("scalars");
    if (scalars && scalars->kind != Json::Object)
      return fail("expected an object 'scalars'");
    if (scalars)
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

  bool integers(const std::string &name, const Json &spec, const char *field,
                std::vector<int64_t> &values) {
    const Json *list = spec.find(field);
    if (!list)
      return true;
    bool good = list->kind == Json::Array;
    values.clear();
    for (const Json &v : list->array) {
      good &= v.kind == Json::Int;
      values.push_back(v.integer);
    }
    return good || wrong(name, field, "a list of integers");
  }

  /// Leaves \p value as it is where there is no such field.
  bool integer(const std::string &name, const Json &spec, const char *field,
               int64_t &value) {
    const Json *v = spec.find(field);
    if (!v)
      return true;
    value = v->integer;
    return v->kind == Json::Int || wrong(name, field, "an integer");
  }

  bool string(const std::string &name, const Json &spec, const char *field,
              const Json *&value) {
    value = spec.find(field);
    bool good =
        !value || (value->kind == Json::String && !value->string.empty() &&
                   value->string.find('\0') == std::string::npos);
    return good || wrong(name, field, "a string");
  }

  bool wrong(const std::string &name, const char *field,
             const std::string &expected) {
    return fail("tensor '" + name + "': expected " + expected + " as '" +
                field + "'");
  }

  // {"in": file, "elements": file, "out": file, "type", "shape", "strides",
  //  "offset", "address", "fill"}; the file of "in" holds the storage, that of
  //  "elements" the elements of the view, in C order.
  bool tensor(const std::string &name, const Json &spec) {
    if (spec.kind != Json::Object)
      return fail("expected an object for tensor '" + name + "'");
    for (auto &[field, value] : spec.object)
      if (field != "in" && field != "out" && field != "type" &&
          field != "shape" && field != "strides" && field != "offset" &&
          field != "address" && field != "fill" && field != "elements")
        return fail("unknown field '" + field + "' of tensor '" + name + "'");
    Tensor t;
    t.name = name;
    NpyArray file;
    const Json *in, *elements, *output, *type;
    if (!string(name, spec, "in", in) ||
        !string(name, spec, "elements", elements) ||
        !string(name, spec, "out", output) || !string(name, spec, "type", type))
      return false;
    if (in && elements)
      return fail("tensor '" + name + "' has both 'in' and 'elements'");
    if (elements && !readNpy(resolve(elements->string), file, error))
      return false;
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
    if (!integers(name, spec, "shape", t.shape))
      return false;
    if (t.shape.empty())
      return fail("tensor '" + name + "' has neither a file nor a shape");
    uint64_t first, bytes;
    const uint64_t width = elementBytes(t.type);
    if (!view(t, spec, first, bytes))
      return false;
    if (in && bytes > file.data.size())
      return fail("tensor '" + name + "' reaches past the end of its file");
    if (in)
      bytes = file.data.size();
    uint64_t base, bits;
    if (!fillBits(t, spec, bits) || !place(name, spec, bytes, base))
      return false;
    uint8_t *data = memory.byName(name)->data;
    if (in)
      std::memcpy(data, file.data.data(), bytes);
    if (elements && !scatter(t, file, data + first * width))
      return fail("tensor '" + name + "' has another number of elements");
    for (uint64_t i = 0; !in && !elements && i + width <= bytes; i += width)
      std::memcpy(data + i, &bits, width);
    t.address = base + first * width;
    if (output) {
      bool whole = in ? uint64_t(npyWidth(file.descr)) == width
                      : !spec.find("strides") && first == 0;
      if (bytes % width)
        return fail("tensor '" + name +
                    "': the file holds no whole number of " +
                    "elements, so that there can be no 'out'");
      std::vector<int64_t> shape{int64_t(bytes / width)};
      if (whole)
        shape = in ? storage : t.shape;
      if (!writable(resolve(output->string)))
        return fail("'" + output->string + "' cannot be written");
      out.outputs.push_back(
          {resolve(output->string), base, bytes, t.type, shape});
    }
    call.tensors.push_back(std::move(t));
    return true;
  }

  /// Strides and offset, and the bytes up to the end of the last element.
  bool view(Tensor &t, const Json &spec, uint64_t &first, uint64_t &bytes) {
    auto tooLarge = [&] {
      return fail("tensor '" + t.name + "' spans more than 2^63 bytes");
    };
    uint64_t compact = 1;
    t.strides.assign(t.shape.size(), 1);
    for (size_t i = t.shape.size(); i-- > 0;) {
      t.strides[i] = int64_t(compact);
      if (t.shape[i] < 0)
        return fail("tensor '" + t.name + "' has a negative extent or stride");
      if (__builtin_mul_overflow(
              compact, uint64_t(std::max<int64_t>(1, t.shape[i])), &compact) ||
          compact > uint64_t(INT64_MAX))
        return tooLarge();
    }
    int64_t offset = 0;
    if (!integers(t.name, spec, "strides", t.strides) ||
        !integer(t.name, spec, "offset", offset))
      return false;
    if (t.strides.size() != t.shape.size())
      return fail("tensor '" + t.name + "' has " +
                  std::to_string(t.strides.size()) + " strides for " +
                  std::to_string(t.shape.size()) + " dimensions");
    if (offset < 0)
      return fail("tensor '" + t.name + "' has a negative offset");
    first = uint64_t(offset);
    uint64_t end = first + 1;
    bool empty = false;
    for (size_t i = 0; i < t.shape.size(); ++i) {
      if (t.strides[i] < 0)
        return fail("tensor '" + t.name + "' has a negative extent or stride");
      empty |= t.shape[i] == 0;
      if (t.shape[i] > 0 &&
          !addProduct(end, uint64_t(t.shape[i] - 1), uint64_t(t.strides[i])))
        return tooLarge();
    }
    bytes = 0;
    if (!empty && (!addProduct(bytes, end, elementBytes(t.type)) ||
                   bytes > uint64_t(INT64_MAX)))
      return tooLarge();
    return true;
  }

  bool fillBits(const Tensor &t, const Json &spec, uint64_t &bits) {
    bits = nanBits(t.type);
    int64_t fill = int64_t(bits);
    if (!integer(t.name, spec, "fill", fill))
      return false;
    unsigned width = 8 * elementBytes(t.type);
    if (width < 64 &&
        (fill < -(int64_t(1) << (width - 1)) || fill >= int64_t(1) << width))
      return wrong(t.name, "fill", std::to_string(width) + " bits");
    bits = uint64_t(fill);
    return true;
  }

  /// Known before the run, which may take long.
  static bool writable(const std::string &path) {
    std::error_code ignored;
    std::filesystem::path p(path), parent = p.parent_path();
    return !std::filesystem::is_directory(p, ignored) &&
           (parent.empty() || std::filesystem::is_directory(parent, ignored));
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
      const std::string &text = address->string;
      char *end = nullptr;
      errno = 0;
      base = uint64_t(address->integer);
      if (address->kind == Json::String)
        base = std::strtoull(text.c_str(), &end, 0);
      bool good = address->kind == Json::String
                      ? !errno && end == text.c_str() + text.size() &&
                            std::isdigit((unsigned char)text[0])
                      : address->kind == Json::Int && address->integer >= 0;
      if (!good)
        return wrong(name, "address", "an integer, or one in a string");
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
