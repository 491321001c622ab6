// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small kernels around a few instructions.

#ifndef PTXSIM_TESTS_TESTUTIL_H
#define PTXSIM_TESTS_TESTUTIL_H

#include "ptxsim/Simulator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ptxsim {

inline uint32_t f32(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}
inline float asF32(uint64_t u) {
  uint32_t w = uint32_t(u);
  float f;
  std::memcpy(&f, &w, 4);
  return f;
}

inline std::string readData(const std::string &name) {
  std::ifstream in(std::string(PTXSIM_TEST_DATA) + "/" + name);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

/// A kernel over 64-bit words: thread t has its `n` inputs in %x0.. (64 bit),
/// %w0.. (low 32) and %h0.. (low 16) and leaves its result in %out.
inline std::string kernelText(unsigned n, const std::string &body) {
  std::string t = R"(.version 8.8
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 dyn[];
.visible .entry k(.param .u64 in, .param .u64 outp)
{
 .reg .b64 %x<16>; .reg .b32 %w<64>; .reg .b16 %h<32>; .reg .pred %p<16>;
 .reg .b64 %in, %op, %out, %off; .reg .b32 %thread;
 ld.param.u64 %in, [in]; ld.param.u64 %op, [outp];
 mov.u32 %thread, %tid.x;
)";
  t += " mul.wide.u32 %off, %thread, " + std::to_string(8 * n) +
       ";\n add.s64 %in, %in, %off;\n";
  for (unsigned i = 0; i < n; ++i) {
    std::string k = std::to_string(i);
    t += " ld.global.u64 %x" + k + ", [%in+" + std::to_string(8 * i) +
         "]; cvt.u32.u64 %w" + k + ", %x" + k + "; cvt.u16.u64 %h" + k +
         ", %x" + k + ";\n";
  }
  t += " mov.b64 %out, 0;\n" + body +
       "\n mul.wide.u32 %off, %thread, 8; add.s64 %op, %op, %off;"
       "\n st.global.u64 [%op], %out;\n ret;\n}\n";
  return t;
}

struct KernelRun {
  Result result;
  std::vector<uint64_t> out;
};

/// Runs the body with one thread a row of inputs.
inline KernelRun runRows(const std::string &body,
                         const std::vector<std::vector<uint64_t>> &rows,
                         Options options = Options(),
                         uint32_t sharedBytes = 0) {
  KernelRun r;
  unsigned n = unsigned(rows[0].size());
  Diagnostic diag;
  auto module = Module::parse(kernelText(n, body), diag);
  if (!module) {
    r.result.status = Status::Error;
    r.result.message = diag.str();
    return r;
  }
  Memory memory;
  auto *in = memory.allocate("in", 8 * std::max<size_t>(1, n * rows.size()));
  auto *out = memory.allocate("out", 8 * rows.size());
  for (size_t t = 0; t < rows.size(); ++t)
    std::memcpy(in->data + 8 * n * t, rows[t].data(), 8 * n);
  Launch launch;
  launch.block = {uint32_t(rows.size()), 1, 1};
  launch.dynamicSharedBytes = sharedBytes;
  launch.params = {Param::scalar(in->base), Param::scalar(out->base)};
  r.result = run(*module, launch, memory, options);
  r.out.resize(rows.size());
  std::memcpy(r.out.data(), out->data, 8 * rows.size());
  return r;
}

/// One thread, one result.
inline uint64_t eval(const std::string &body, std::vector<uint64_t> inputs) {
  KernelRun r = runRows(body, {std::move(inputs)});
  EXPECT_TRUE(r.result.ok()) << r.result.str() << "\n" << body;
  return r.out[0];
}

/// One instruction on 32-bit values: "add.u32" with inputs -> result.
inline uint32_t eval32(const std::string &mnemonic,
                       std::vector<uint64_t> inputs) {
  std::string args;
  for (size_t i = 0; i < inputs.size(); ++i)
    args += ", %w" + std::to_string(i);
  return uint32_t(eval(
      " " + mnemonic + " %w40" + args + "; cvt.u64.u32 %out, %w40;", inputs));
}
inline uint64_t eval64(const std::string &mnemonic,
                       std::vector<uint64_t> inputs) {
  std::string args;
  for (size_t i = 0; i < inputs.size(); ++i)
    args += ", %x" + std::to_string(i);
  return eval(" " + mnemonic + " %out" + args + ";", inputs);
}

/// `count` threads without inputs that run the body.
inline KernelRun runThreads(unsigned count, const std::string &body,
                            Options options = Options(),
                            uint32_t sharedBytes = 4096) {
  return runRows(body, std::vector<std::vector<uint64_t>>(count, {0}), options,
                 sharedBytes);
}

inline Options modeOptions(AsyncMode mode, uint64_t seed = 1) {
  Options o;
  o.mode = mode;
  o.seed = seed;
  return o;
}

} // namespace ptxsim

#endif // PTXSIM_TESTS_TESTUTIL_H
