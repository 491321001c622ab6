// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that read and write arrays of words.

#ifndef PTXSIM_TESTS_WORDSUTIL_H
#define PTXSIM_TESTS_WORDSUTIL_H

#include "TestUtil.h"

namespace ptxsim {

struct WordsRun {
  Result result;
  std::vector<uint32_t> out;
};

/// The body finds its input at %in and its output at %op, its thread in %tid
/// and shared memory at smem (4 KiB or as given). \p before holds functions
/// and variables.
inline WordsRun runWords(const std::string &body,
                         const std::vector<uint32_t> &in, size_t outWords,
                         unsigned threads = 32, Options options = Options(),
                         uint32_t sharedBytes = 4096,
                         const std::string &before = "",
                         const std::string &directives = "") {
  std::string text = ".version 8.8\n.target sm_100a\n.address_size 64\n"
                     ".extern .shared .align 1024 .b8 smem[];\n" +
                     before + R"(
.visible .entry k(.param .u64 pin, .param .u64 pout)
)" + directives + R"({
 .reg .b32 %r<600>, %t<8>, %tid; .reg .f32 %f<300>; .reg .f64 %g<8>;
 .reg .b64 %d<64>, %in, %op; .reg .b16 %h<64>; .reg .pred %p<16>;
 ld.param.u64 %in, [pin]; ld.param.u64 %op, [pout]; mov.u32 %tid, %tid.x;
)" + body + "\n ret;\n}\n";
  WordsRun r;
  Diagnostic diag;
  auto module = Module::parse(text, diag);
  if (!module) {
    r.result.status = Status::Error;
    r.result.message = diag.str();
    return r;
  }
  Memory memory;
  auto *a = memory.allocate("in", 4 * std::max<size_t>(1, in.size()));
  auto *b = memory.allocate("out", 4 * std::max<size_t>(1, outWords));
  std::memcpy(a->data, in.data(), 4 * in.size());
  Launch launch;
  launch.kernel = "k";
  launch.block = {threads, 1, 1};
  launch.dynamicSharedBytes = sharedBytes;
  launch.params = {Param::scalar(a->base), Param::scalar(b->base)};
  r.result = run(*module, launch, memory, options);
  r.out.resize(outWords);
  std::memcpy(r.out.data(), b->data, 4 * outWords);
  return r;
}

/// "{%r1, %r2, ...}" of \p count registers.
inline std::string registerList(const char *prefix, unsigned first,
                                unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i)
    s += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return s + "}";
}

/// Copies \p words from %in to shared memory, by thread 0.
inline std::string fillShared(unsigned words) {
  return R"( setp.ne.u32 %p15, %tid, 0; @%p15 bra filled;
 mov.u32 %t0, 0; mov.u64 %d60, %in; mov.u32 %t1, smem;
copying: ld.global.u32 %t2, [%d60]; st.shared.u32 [%t1], %t2;
 add.u64 %d60, %d60, 4; add.u32 %t1, %t1, 4; add.u32 %t0, %t0, 1;
 setp.lt.u32 %p14, %t0, )" +
         std::to_string(words) + R"(; @%p14 bra copying;
filled: bar.sync 0;
)";
}

} // namespace ptxsim

#endif // PTXSIM_TESTS_WORDSUTIL_H
