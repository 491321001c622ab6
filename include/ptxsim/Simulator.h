// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The simulator's public interface: parse PTX text, describe a launch, run it.
// Errors are values; nothing here throws.

#ifndef PTXSIM_SIMULATOR_H
#define PTXSIM_SIMULATOR_H

#include "ptxsim/Memory.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ptxsim {

/// A place in the PTX text and what is wrong there.
struct Diagnostic {
  unsigned line = 0;
  std::string message;
  std::string text; // the source line
  std::string str(const std::string &file = "") const;
};

struct ModuleImpl;

/// A parameter of a kernel as PTX declares it.
struct ParameterInfo {
  std::string name;
  std::string type;   // "u64", "f32", "b8", ...: that of an element
  uint64_t size = 0;  // bytes, of all elements
  uint64_t align = 1; // bytes
  bool isArray = false;
};

/// A parsed PTX module.
class Module {
public:
  /// Null on a syntax error, which is then in `diag`.
  static std::shared_ptr<Module> parse(const std::string &text,
                                       Diagnostic &diag);
  std::vector<std::string> entries() const;
  /// False with `error` set when there is no such kernel. An empty name stands
  /// for the module's only entry.
  bool parameters(const std::string &kernel, std::vector<ParameterInfo> &out,
                  std::string &error) const;
  const ModuleImpl &impl() const { return *state; }
  ~Module();

private:
  Module();
  std::unique_ptr<ModuleImpl> state;
};

/// When asynchronous engines (TMA, tensor core, TMEM loads and stores) do
/// their work: at issue, at the last moment, or by seed.
enum class AsyncMode { Eager, Lazy, Random };
bool asyncModeByName(const std::string &name, AsyncMode &mode);

/// Whether accesses to shared memory and TMEM must be ordered, and whether
/// by 'tcgen05.fence' too, which the default semantics of mbarriers make
/// superfluous in practice.
enum class RaceMode { Off, On, Formal };
bool raceModeByName(const std::string &name, RaceMode &mode);

/// Element types of tensor maps and buffers.
enum class ElementType {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32
};
unsigned elementBytes(ElementType type);

enum class Swizzle { None, B32, B64, B128, B128Atom32 };
/// "none", "32B", "64B", "128B" or "128B_ATOM_32B".
bool swizzleByName(const std::string &name, Swizzle &swizzle);

/// What cuTensorMapEncodeTiled would have encoded; index 0 is the fastest
/// dimension. `strides[i]` is the byte stride of dimension i + 1.
struct TensorMap {
  uint64_t address = 0;
  ElementType type = ElementType::F16;
  std::vector<uint64_t> dims;
  std::vector<uint64_t> strides;
  std::vector<uint32_t> box;
  std::vector<uint32_t> elementStrides; // empty: all 1
  Swizzle swizzle = Swizzle::None;
  bool nanFill = false;
  /// The first rule of the encode call that this map breaks, or empty.
  std::string check() const;
};

/// One kernel parameter: raw bytes, or a tensor map.
struct Param {
  std::vector<uint8_t> bytes;
  bool isTensorMap = false;
  TensorMap map;

  template <class T> static Param scalar(T value) {
    Param p;
    p.bytes.resize(sizeof(T));
    __builtin_memcpy(p.bytes.data(), &value, sizeof(T));
    return p;
  }
  static Param tensorMap(TensorMap map) {
    Param p;
    p.isTensorMap = true;
    p.map = std::move(map);
    return p;
  }
};

struct Launch {
  std::string kernel; // empty: the module's only entry
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  std::vector<Param> params;
};

struct Options {
  AsyncMode mode = AsyncMode::Eager;
  uint64_t seed = 0;
  unsigned threads = 1;  // host threads; CTAs are spread over them
  uint64_t maxSteps = 0; // instructions a CTA may execute; 0: no limit
  /// Without reconvergence at immediate post-dominators, lanes that diverged
  /// meet again only where PTX promises it: at `.sync` with a member mask.
  bool strictConvergence = false;
  /// Lazy tcgen05.ld fills its registers only at wait::ld, although the
  /// machine honours register dependences.
  bool poisonUnwaitedLoads = false;
  RaceMode race = RaceMode::Off;
  unsigned maxFaults = 1; // a CTA stops at its first fault
  std::function<void(uint64_t done, uint64_t total)> progress;
  std::function<bool()> interrupted;
  /// Takes what 'vprintf' prints; else it goes to the standard output.
  std::function<void(const std::string &text)> print;
};

enum class Status { Ok, Error, Fault, Deadlock, StepLimit, Interrupted };
const char *statusName(Status status);

struct Fault {
  std::string kind; // "out-of-bounds", "misaligned", "uninitialised", ...
  std::string message;
  unsigned line = 0;
  std::string text;
  std::array<uint32_t, 3> cta{0, 0, 0};
  uint32_t warp = 0;
  std::string str() const;
};

struct Stats {
  uint64_t ctas = 0;
  uint64_t warpInstructions = 0;
  uint64_t tensorInstructions = 0;
  uint64_t tmaInstructions = 0;
};

struct Result {
  Status status = Status::Ok;
  std::string message; // for Error and Deadlock: the whole report
  std::vector<Fault> faults;
  /// What is no fault and yet not what PTX promises, once a place.
  std::vector<Fault> warnings;
  Stats stats;
  bool ok() const { return status == Status::Ok; }
  std::string str() const;
};

/// Decodes every kernel: the first unsupported or malformed instruction of
/// each.
std::vector<Diagnostic> check(const Module &module);

/// Runs the launch. Buffers are read from and written to `memory`.
Result run(const Module &module, const Launch &launch, Memory &memory,
           const Options &options);

} // namespace ptxsim

#endif // PTXSIM_SIMULATOR_H
