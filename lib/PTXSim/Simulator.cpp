// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The public interface: modules, launches and results.

#include "ptxsim/Simulator.h"

#include "Machine.h"
#include "Program.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

using namespace ptxsim;

std::string Diagnostic::str(const std::string &file) const {
  std::string out = file.empty() ? "line " : file + ":";
  out += std::to_string(line) + ": error: " + message;
  if (!text.empty())
    out += "\n  " + text;
  return out;
}

Module::Module() : state(std::make_unique<ModuleImpl>()) {}
Module::~Module() = default;

std::shared_ptr<Module> Module::parse(const std::string &text,
                                      Diagnostic &diag) {
  std::shared_ptr<Module> module(new Module());
  diag = Diagnostic();
  if (!parseModule(text, *module->state, diag))
    return nullptr;
  return module;
}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const Function &fn : state->functions)
    if (fn.isEntry)
      names.push_back(fn.name);
  return names;
}

/// The position of \p name among \p names becomes an enumerator.
template <class Enum, size_t N>
static bool byName(const char *const (&names)[N], const std::string &name,
                   Enum &out) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) {
      out = Enum(i);
      return true;
    }
  return false;
}

bool ptxsim::asyncModeByName(const std::string &name, AsyncMode &mode) {
  static constexpr const char *kNames[] = {"eager", "lazy", "random"};
  return byName(kNames, name, mode);
}

bool ptxsim::raceModeByName(const std::string &name, RaceMode &mode) {
  static constexpr const char *kNames[] = {"off", "on", "formal"};
  return byName(kNames, name, mode);
}

bool ptxsim::swizzleByName(const std::string &name, Swizzle &swizzle) {
  static constexpr const char *kNames[] = {"none", "32B", "64B", "128B",
                                           "128B_ATOM_32B"};
  return byName(kNames, name, swizzle);
}

const char *ptxsim::statusName(Status status) {
  switch (status) {
  case Status::Ok:
    return "ok";
  case Status::Error:
    return "error";
  case Status::Fault:
    return "fault";
  case Status::Deadlock:
    return "deadlock";
  case Status::StepLimit:
    return "step limit";
  case Status::Interrupted:
    return "interrupted";
  }
  return "";
}

std::string Fault::str() const {
  return kind + " in CTA (" + std::to_string(cta[0]) + ", " +
         std::to_string(cta[1]) + ", " + std::to_string(cta[2]) + ") warp " +
         std::to_string(warp) + " at line " + std::to_string(line) + ": " +
         message + "\n  " + text;
}

std::string Result::str() const {
  std::string out = statusName(status);
  if (!message.empty())
    out += ": " + message;
  for (const Fault &f : faults)
    out += "\n" + f.str();
  return out;
}

namespace {

Result errorResult(std::string message) {
  Result r;
  r.status = Status::Error;
  r.message = std::move(message);
  return r;
}

const Function *findKernel(const ModuleImpl &module, const std::string &name,
                           std::string &error) {
  const Function *found = nullptr;
  for (const Function &fn : module.functions) {
    if (!fn.isEntry || (!name.empty() && fn.name != name))
      continue;
    if (found && name.empty()) {
      error = "the module has several kernels; name one";
      return nullptr;
    }
    found = &fn;
  }
  if (!found)
    error = name.empty() ? "the module has no kernel"
                         : "the module has no kernel '" + name + "'";
  return found;
}

} // namespace

bool Module::parameters(const std::string &kernel,
                        std::vector<ParameterInfo> &out,
                        std::string &error) const {
  const Function *fn = findKernel(*state, kernel, error);
  if (!fn)
    return false;
  out.clear();
  for (const ParamDecl &p : fn->params)
    out.push_back({p.name, typeName(p.type), p.size, p.align,
                   p.size != byteWidth(p.type)});
  return true;
}

namespace {

std::string checkLaunch(const Function &fn, const Launch &launch) {
  auto num = [](uint64_t v) { return std::to_string(v); };
  uint64_t threads = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (launch.block[i] == 0 || launch.grid[i] == 0)
      return "grid and block extents must be at least 1";
    threads *= launch.block[i];
    if (threads > 1024)
      return "expected at most 1024 threads a CTA";
    if (fn.reqntid[0] && fn.reqntid[i] != launch.block[i])
      return "the kernel requires a block of " + num(fn.reqntid[0]) + " x " +
             num(fn.reqntid[1]) + " x " + num(fn.reqntid[2]);
  }
  if (launch.grid[0] > 0x7fffffffu || launch.grid[1] > 65535 ||
      launch.grid[2] > 65535)
    return "the grid exceeds 2^31 - 1 x 65535 x 65535";
  uint64_t most = uint64_t(fn.maxntid[0]) * fn.maxntid[1] * fn.maxntid[2];
  if (most && threads > most)
    return "the kernel allows " + num(most) + " threads a CTA, but got " +
           num(threads);
  if (launch.params.size() != fn.params.size())
    return "the kernel has " + num(fn.params.size()) +
           " parameters, but the launch gives " + num(launch.params.size());
  for (size_t i = 0; i < fn.params.size(); ++i) {
    const ParamDecl &decl = fn.params[i];
    const Param &p = launch.params[i];
    uint64_t size = p.isTensorMap ? 128 : p.bytes.size();
    if (size != decl.size)
      return "parameter " + num(i) + " ('" + decl.name + "') has " +
             num(decl.size) + " bytes, but the launch gives " + num(size);
    if (!p.isTensorMap)
      continue;
    if (decl.align < 64)
      return "parameter " + num(i) + " ('" + decl.name +
             "') holds a tensor map and must be aligned to 64 bytes";
    std::string why = p.map.check();
    if (!why.empty())
      return "tensor map of parameter " + num(i) + " ('" + decl.name +
             "'): " + why;
  }
  return "";
}

/// Variables of the module live in memory of their own.
bool mapGlobals(const ModuleImpl &module, const Function &fn, Memory &memory,
                std::map<std::string, uint64_t> &globals) {
  for (const auto *list : {&module.variables, &fn.variables})
    for (const Variable &v : *list) {
      if (v.space != Variable::Global && v.space != Variable::Const)
        continue;
      std::string name = "variable " + v.name;
      Memory::Region *region = memory.byName(name);
      if (!region) {
        region = memory.allocate(name, v.size, std::max<uint64_t>(256, v.align),
                                 v.space == Variable::Global);
        if (!region)
          return false;
        std::copy(v.init.begin(), v.init.end(), region->data);
      }
      globals[v.name] = region->base;
    }
  return true;
}

/// Runs all CTAs of the grid, possibly on several host threads. The reported
/// failure is that of the first CTA in grid order that fails.
class Grid {
public:
  Grid(const Program &program, const Launch &launch, Memory &memory,
       const Options &options)
      : program(program), launch(launch), memory(memory), options(options),
        total(uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2]),
        firstBad(total) {}

  Result run() {
    if (options.progress)
      options.progress(0, total);
    unsigned n =
        unsigned(std::min<uint64_t>(std::max(1u, options.threads), total));
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < n; ++i)
      helpers.emplace_back([this] { work(); });
    work();
    for (std::thread &t : helpers)
      t.join();
    for (auto &[lines, warning] : warnings)
      if (warning.first <= firstBad)
        result.warnings.push_back(std::move(warning.second));
    return std::move(result);
  }

private:
  const Program &program;
  const Launch &launch;
  Memory &memory;
  const Options &options;
  const uint64_t total;
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> firstBad;
  std::mutex mutex;
  uint64_t done = 0;
  Result result;
  /// By place: the first CTA that gives it, so that threads do not matter.
  std::map<std::pair<unsigned, unsigned>, std::pair<uint64_t, Fault>> warnings;

  void work() {
    for (;;) {
      uint64_t index = next++;
      if (index >= total || index > firstBad)
        return;
      std::array<uint32_t, 3> id{
          uint32_t(index % launch.grid[0]),
          uint32_t(index / launch.grid[0] % launch.grid[1]),
          uint32_t(index / launch.grid[0] / launch.grid[1])};
      Cta cta(program, launch, memory, options, id, index);
      Status status = cta.run();
      std::lock_guard<std::mutex> lock(mutex);
      result.stats.ctas += 1;
      result.stats.warpInstructions += cta.stats.warpInstructions;
      result.stats.tensorInstructions += cta.stats.tensorInstructions;
      result.stats.tmaInstructions += cta.stats.tmaInstructions;
      for (auto &[lines, warning] : cta.warnings) {
        auto [it, fresh] = warnings.try_emplace(lines, index, warning);
        if (!fresh && index < it->second.first)
          it->second = {index, warning};
      }
      ++done;
      if (options.progress)
        options.progress(done, total);
      if (status == Status::Ok || index >= firstBad)
        continue;
      firstBad = index;
      result.status = status;
      result.faults = cta.faults;
      result.message = cta.report;
      if (status == Status::StepLimit)
        result.message = "a CTA ran " +
                         std::to_string(cta.stats.warpInstructions) +
                         " warp instructions";
    }
  }
};

} // namespace

std::vector<Diagnostic> ptxsim::check(const Module &module) {
  std::vector<Diagnostic> found;
  for (const Function &fn : module.impl().functions) {
    if (!fn.isEntry)
      continue;
    std::map<std::string, uint64_t> globals;
    for (const auto *list : {&module.impl().variables, &fn.variables})
      for (const Variable &v : *list)
        globals[v.name] = 0;
    Program program;
    Diagnostic diag;
    if (!decodeProgram(module.impl(), fn, globals, program, diag))
      found.push_back(diag);
  }
  return found;
}

Result ptxsim::run(const Module &module, const Launch &launch, Memory &memory,
                   const Options &options) {
  std::string error;
  const Function *fn = findKernel(module.impl(), launch.kernel, error);
  if (!fn)
    return errorResult(error);
  error = checkLaunch(*fn, launch);
  if (!error.empty())
    return errorResult(error);
  std::map<std::string, uint64_t> globals;
  if (!mapGlobals(module.impl(), *fn, memory, globals))
    return errorResult("cannot map the module's variables");
  Program program;
  Diagnostic diag;
  if (!decodeProgram(module.impl(), *fn, globals, program, diag))
    return errorResult(diag.str());
  uint64_t shared = uint64_t(program.dynamicSharedBase) - kSharedBase +
                    launch.dynamicSharedBytes;
  if (shared > kMaxSharedBytes)
    return errorResult("the kernel needs " + std::to_string(shared) +
                       " bytes of shared memory, the limit is " +
                       std::to_string(kMaxSharedBytes));
  uint64_t warps =
      (uint64_t(launch.block[0]) * launch.block[1] * launch.block[2] + 31) / 32;
  uint64_t held = warps * (program.regBytes + 32 * program.localBytes);
  if (held > kMaxCtaBytes)
    return errorResult("registers and local memory of a CTA take " +
                       std::to_string(held >> 20) + " MiB, the limit is " +
                       std::to_string(kMaxCtaBytes >> 20));
  Options limited = options;
  limited.threads = unsigned(
      std::min<uint64_t>(options.threads, 4 * kMaxCtaBytes / (held + 1) + 1));
  return Grid(program, launch, memory, limited).run();
}
