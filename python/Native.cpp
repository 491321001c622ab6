// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ptxsim._native: the simulator's interface as it is, for the Python files
// beside this one. Those know NumPy; this knows bytes and addresses.

#include "ptxsim/LaunchFile.h"
#include "ptxsim/Simulator.h"
#include "ptxsim/Watch.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ptxsim;

namespace {

using Bytes = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstBytes =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[noreturn]] void refuse(const std::string &message) {
  throw nb::value_error(message.c_str());
}

std::variant<std::shared_ptr<Module>, Diagnostic>
parseText(const std::string &text) {
  Diagnostic diag;
  std::shared_ptr<Module> module;
  {
    nb::gil_scoped_release release;
    module = Module::parse(text, diag);
  }
  if (module)
    return module;
  return diag;
}

std::vector<ParameterInfo> parameters(const Module &module,
                                      const std::string &kernel) {
  std::vector<ParameterInfo> out;
  std::string error;
  if (!module.parameters(kernel, out, error))
    refuse(error);
  return out;
}

void mapBytes(Memory &memory, const std::string &name, uint64_t address,
              ConstBytes bytes, bool writable) {
  uint8_t *data = memory.map(name, address, bytes.size(), writable);
  if (!data)
    refuse("cannot map '" + name + "'");
  std::memcpy(data, bytes.data(), bytes.size());
}

void readBytes(const Memory &memory, uint64_t address, Bytes out) {
  const uint8_t *data = memory.translate(address, out.size());
  if (!data)
    refuse("nothing is mapped there");
  std::memcpy(out.data(), data, out.size());
}

Tensor makeTensor(std::string name, const std::string &type,
                  std::vector<int64_t> shape, std::vector<int64_t> strides,
                  uint64_t address) {
  Tensor t;
  if (!elementTypeByName(type, t.type))
    refuse("unknown element type '" + type + "'");
  t.name = std::move(name);
  t.shape = std::move(shape);
  t.strides = std::move(strides);
  t.address = address;
  return t;
}

/// Nothing where the descriptor says that there is nothing to launch.
std::optional<Launch> bind(const std::string &descriptor,
                           std::vector<Tensor> tensors,
                           std::map<std::string, double> scalars) {
  Call call{std::move(tensors), std::move(scalars)};
  Launch launch;
  bool skip = false;
  std::string error;
  if (!bindDescriptor(descriptor, call, launch, skip, error))
    refuse(error);
  if (skip)
    return std::nullopt;
  return launch;
}

void addBytes(Launch &launch, nb::bytes value) {
  Param p;
  const auto *data = static_cast<const uint8_t *>(value.data());
  p.bytes.assign(data, data + value.size());
  launch.params.push_back(std::move(p));
}

void addTensorMap(Launch &launch, uint64_t address, const std::string &type,
                  std::vector<uint64_t> dims, std::vector<uint64_t> strides,
                  std::vector<uint32_t> box,
                  std::vector<uint32_t> elementStrides,
                  const std::string &swizzle, bool nanFill) {
  TensorMap map;
  if (!elementTypeByName(type, map.type))
    refuse("unknown element type '" + type + "'");
  if (!swizzleByName(swizzle, map.swizzle))
    refuse("unknown swizzle '" + swizzle + "'");
  map.address = address;
  map.dims = std::move(dims);
  map.strides = std::move(strides);
  map.box = std::move(box);
  map.elementStrides = std::move(elementStrides);
  map.nanFill = nanFill;
  std::string why = map.check();
  if (!why.empty())
    refuse(why);
  launch.params.push_back(Param::tensorMap(std::move(map)));
}

/// What the kernel prints, on its way from the simulator's threads to
/// sys.stdout.
class Printed {
public:
  void add(const std::string &text) {
    std::lock_guard<std::mutex> lock(mutex);
    pending += text;
  }
  /// With the GIL.
  void flush() {
    std::string text;
    {
      std::lock_guard<std::mutex> lock(mutex);
      text.swap(pending);
    }
    if (!text.empty())
      nb::module_::import_("sys").attr("stdout").attr("write")(nb::str(
          PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"),
          nb::detail::steal_t()));
  }

private:
  std::mutex mutex;
  std::string pending;
};

/// Runs without the GIL, and takes it ten times a second: for Ctrl-C, for what
/// the kernel printed, and for `watch(done, total, seconds)`. An exception from
/// any of these stops the run and is raised.
Result runLaunch(const Module &module, const Launch &launch, Memory &memory,
                 const std::string &mode, uint64_t seed, unsigned threads,
                 uint64_t maxSteps, bool strictWarps, bool poisonLoads,
                 const std::string &race, std::optional<nb::callable> watch) {
  Options options;
  if (!asyncModeByName(mode, options.mode))
    refuse("unknown mode '" + mode + "'; expected eager, lazy or random");
  if (!raceModeByName(race, options.race))
    refuse("unknown race mode '" + race + "'; expected off, on or formal");
  options.seed = seed;
  options.threads =
      threads ? threads : std::max(1u, std::thread::hardware_concurrency());
  options.maxSteps = maxSteps;
  options.strictConvergence = strictWarps;
  options.poisonUnwaitedLoads = poisonLoads;
  Printed printed;
  options.print = [&](const std::string &text) { printed.add(text); };

  std::optional<nb::python_error> raised;
  auto look = [&](const Progress &p) {
    nb::gil_scoped_acquire acquire;
    if (raised)
      return false;
    try {
      if (PyErr_CheckSignals())
        throw nb::python_error();
      printed.flush();
      if (watch)
        (*watch)(p.done, p.total, p.seconds);
    } catch (nb::python_error &e) {
      raised.emplace(std::move(e));
    }
    return !raised;
  };
  Result result;
  {
    nb::gil_scoped_release release;
    result = runWatched(module, launch, memory, options,
                        std::chrono::milliseconds(100), look);
  }
  if (raised)
    throw std::move(*raised);
  printed.flush();
  return result;
}

} // namespace

NB_MODULE(_native, m) {
  m.doc() = "The simulator's interface as it is; the package ptxsim wraps it.";

  nb::class_<Diagnostic>(m, "Diagnostic", "What is wrong with PTX, and where.")
      .def_ro("line", &Diagnostic::line)
      .def_ro("message", &Diagnostic::message)
      .def_ro("text", &Diagnostic::text, "The source line.")
      .def("__str__", [](const Diagnostic &d) { return d.str(); });

  nb::class_<ParameterInfo>(m, "ParameterInfo",
                            "A kernel parameter as PTX declares it.")
      .def_ro("name", &ParameterInfo::name)
      .def_ro("type", &ParameterInfo::type, "That of an element, as 'u64'.")
      .def_ro("size", &ParameterInfo::size, "Bytes, of all elements.")
      .def_ro("align", &ParameterInfo::align)
      .def_ro("is_array", &ParameterInfo::isArray)
      .def("__repr__", [](const ParameterInfo &p) {
        return "<ParameterInfo ." + p.type + " " + p.name + ", " +
               std::to_string(p.size) + " bytes>";
      });

  nb::class_<Module>(m, "Module")
      .def_prop_ro("kernels", &Module::entries)
      .def("parameters", &parameters, "kernel"_a)
      .def("check", &check, nb::call_guard<nb::gil_scoped_release>());
  m.def("parse", &parseText, "text"_a);

  nb::class_<Memory>(m, "Memory", "Global memory of the simulated device.")
      .def(nb::init<>())
      .def("map", &mapBytes, "name"_a, "address"_a, "data"_a, "writable"_a)
      .def("read", &readBytes, "address"_a, "out"_a);

  nb::class_<Tensor>(m, "Tensor", "An operand of a descriptor's call.")
      .def(
          "__init__",
          [](Tensor *self, std::string name, std::string type,
             std::vector<int64_t> shape, std::vector<int64_t> strides,
             uint64_t address) {
            new (self)
                Tensor(makeTensor(std::move(name), type, std::move(shape),
                                  std::move(strides), address));
          },
          "name"_a, "type"_a, "shape"_a, "strides"_a, "address"_a);

  nb::class_<Launch>(m, "Launch")
      .def(nb::init<>())
      .def_rw("kernel", &Launch::kernel)
      .def_rw("grid", &Launch::grid)
      .def_rw("block", &Launch::block)
      .def_rw("dynamic_shared_bytes", &Launch::dynamicSharedBytes)
      .def("add_bytes", &addBytes, "value"_a)
      .def("add_tensor_map", &addTensorMap, "address"_a, "type"_a, "dims"_a,
           "strides"_a, "box"_a, "element_strides"_a, "swizzle"_a,
           "nan_fill"_a);
  m.def("bind", &bind, "descriptor"_a, "tensors"_a, "scalars"_a);

  nb::class_<Fault>(m, "FaultRecord", "What a kernel did wrong, and where.")
      .def_ro("kind", &Fault::kind)
      .def_ro("message", &Fault::message)
      .def_ro("line", &Fault::line)
      .def_ro("text", &Fault::text, "The source line.")
      .def_ro("cta", &Fault::cta)
      .def_ro("warp", &Fault::warp)
      .def("__str__", &Fault::str);

  nb::class_<Result>(m, "RawResult")
      .def_prop_ro("status",
                   [](const Result &r) { return statusName(r.status); })
      .def_ro("message", &Result::message)
      .def_ro("faults", &Result::faults)
      .def_ro("warnings", &Result::warnings)
      .def_prop_ro("ctas", [](const Result &r) { return r.stats.ctas; })
      .def_prop_ro("instructions",
                   [](const Result &r) { return r.stats.warpInstructions; })
      .def_prop_ro("tensor_instructions",
                   [](const Result &r) { return r.stats.tensorInstructions; })
      .def_prop_ro("tma_instructions",
                   [](const Result &r) { return r.stats.tmaInstructions; })
      .def("__str__", &Result::str);
  m.def("run", &runLaunch, "module"_a, "launch"_a, "memory"_a, "mode"_a,
        "seed"_a, "threads"_a, "max_steps"_a, "strict_warps"_a,
        "poison_loads"_a, "race"_a, "watch"_a.none());
}
