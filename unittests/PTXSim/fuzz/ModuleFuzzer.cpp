// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: any text parses or gives an error, and what decodes runs
// to an end. Built with -DFA4_FUZZ=ON by a clang that has libFuzzer.

#include "Program.h"

#include "ptxsim/Simulator.h"

#include <cstdlib>

using namespace ptxsim;

static constexpr uint64_t kBufferBytes = 1 << 16;

/// Runs the kernel in a few threads, each parameter an address or a map.
static void runKernel(const Module &module, const Function &fn, uint8_t seed) {
  Memory memory;
  Memory::Region *buffer = memory.allocate("buffer", kBufferBytes);
  if (!buffer)
    return;
  Launch launch;
  launch.kernel = fn.name;
  launch.block = {64, 1, 1};
  for (unsigned i = 0; i < 3; ++i)
    if (fn.reqntid[0])
      launch.block[i] = fn.reqntid[i];
  launch.dynamicSharedBytes = 32800;
  for (const ParamDecl &decl : fn.params) {
    if (decl.size > 4096)
      return;
    if (decl.size == 128 && decl.align >= 64) {
      TensorMap map;
      map.address = buffer->base;
      map.dims = {64, 128};
      map.strides = {128};
      map.box = {64, 128};
      map.swizzle = Swizzle::B128;
      launch.params.push_back(Param::tensorMap(map));
      continue;
    }
    Param p;
    p.bytes.assign(decl.size, 0);
    for (size_t k = 0; k < std::min<size_t>(8, p.bytes.size()); ++k)
      p.bytes[k] = uint8_t(buffer->base >> (8 * k));
    launch.params.push_back(p);
  }
  Options options;
  options.mode = AsyncMode(seed % 3);
  options.race = RaceMode(seed / 3 % 3);
  options.strictConvergence = seed / 9 % 2;
  options.seed = seed;
  options.maxSteps = 20000;
  Result result = run(module, launch, memory, options);
  if (!result.ok() && result.str().empty())
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diagnostic diag;
  auto module = Module::parse(
      std::string(reinterpret_cast<const char *>(data), size), diag);
  if (!module) {
    if (diag.message.empty())
      std::abort();
    return 0;
  }
  for (const Diagnostic &d : check(*module)) {
    if (d.message.empty())
      std::abort();
    return 0;
  }
  unsigned kernels = 0;
  for (const Function &fn : module->impl().functions)
    if (fn.isEntry && ++kernels <= 2)
      runKernel(*module, fn, size ? data[size - 1] : 0);
  return 0;
}
