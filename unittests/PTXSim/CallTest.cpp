// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of functions, local memory and generic addresses.

#include "WordsUtil.h"

using namespace ptxsim;

namespace {

const char kFunctions[] = R"(
.func (.param .b32 r) twice (.param .b32 a)
{ .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, %x; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) four (.param .b32 a)
{ .reg .b32 %x;
  ld.param.b32 %x, [a];
  { .param .b32 p; st.param.b32 [p], %x; .param .b32 q; call.uni (q), twice, (p); ld.param.b32 %x, [q]; }
  { .param .b32 p; st.param.b32 [p], %x; .param .b32 q; call.uni (q), twice, (p); ld.param.b32 %x, [q]; }
  st.param.b32 [r], %x; ret; }
.func (.reg .b32 r) fast (.reg .b32 a, .reg .b32 b)
{ mad.lo.u32 r, a, b, 1; ret; }
.func (.param .align 8 .b8 r[16]) swap (.param .align 8 .b8 a[16])
{ .reg .b64 %x, %y; ld.param.v2.b64 {%x, %y}, [a]; st.param.v2.b64 [r], {%y, %x}; ret; }
.func early (.param .b64 p)
{ .reg .b64 %x; .reg .b32 %v; .reg .pred %q;
  ld.param.b64 %x, [p]; ld.u32 %v, [%x];
  setp.gt.u32 %q, %v, 5; @%q ret;
  add.u32 %v, %v, 100; st.u32 [%x], %v; }
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
)";

std::vector<uint32_t> callEach(const std::string &body,
                               AsyncMode mode = AsyncMode::Eager) {
  WordsRun r =
      runWords(" mov.u32 %r1, %tid;\n" + body +
                   " mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %d1, %op; "
                   "st.global.u32 [%d1], %r2;",
               {}, 32, 32, modeOptions(mode), 4096, kFunctions);
  EXPECT_TRUE(r.result.ok()) << r.result.str();
  return r.out;
}

TEST(Call, ParametersAndResult) {
  auto out = callEach("{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 q; "
                      "call.uni (q), four, (a); ld.param.b32 %r2, [q]; }");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 4 * i);
}

TEST(Call, RegisterParameters) {
  auto out = callEach("call (%r2), fast, (%r1, 3);");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 3 * i + 1);
}

TEST(Call, StructByValue) {
  auto out = callEach(R"(
 { .param .align 8 .b8 a[16]; cvt.u64.u32 %d2, %r1; mov.b64 %d3, 7;
   st.param.b64 [a], %d2; st.param.b64 [a+8], %d3;
   .param .align 8 .b8 q[16]; call.uni (q), swap, (a);
   ld.param.b64 %d4, [q]; ld.param.b64 %d5, [q+8]; }
 add.u64 %d4, %d4, %d5; cvt.u32.u64 %r2, %d4;)");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i + 7);
}

TEST(Call, GuardedAndDivergent) {
  // Odd lanes call; lanes leave 'early' at different places.
  auto out = callEach(R"(
 .local .align 4 .b8 slot[4]; .reg .b32 %odd;
 mov.u64 %d2, slot; cvta.local.u64 %d3, %d2; st.local.u32 [%d2], %r1;
 and.b32 %odd, %r1, 1; setp.ne.u32 %p1, %odd, 0;
 { .param .b64 a; st.param.b64 [a], %d3; @%p1 call early, (a); }
 ld.u32 %r2, [%d3];)");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 2 && i <= 5 ? i + 100 : i) << i;
}

TEST(Call, SameNameInTwoBlocks) {
  auto out = callEach(R"(
 { .param .b64 a; mov.b64 %d2, 5; st.param.b64 [a], %d2; ld.param.b64 %d3, [a]; }
 { .param .b32 a; st.param.b32 [a], %r1; .param .b32 q; call (q), twice, (a); ld.param.b32 %r2, [q]; }
 cvt.u32.u64 %r3, %d3; add.u32 %r2, %r2, %r3;)");
  EXPECT_EQ(out[3], 11u);
}

TEST(Call, Printf) {
  std::string printed;
  Options o;
  o.print = [&](const std::string &s) { printed += s; };
  WordsRun r =
      runWords(R"(
 .local .align 8 .b8 args[32];
 mov.u64 %d1, args; cvta.local.u64 %d2, %d1;
 st.local.u32 [%d1], %tid; mov.f64 %g1, 0d3FF8000000000000; st.local.f64 [%d1+8], %g1;
 mov.u64 %d3, word; cvta.global.u64 %d3, %d3; st.local.u64 [%d1+16], %d3;
 mov.b64 %d5, -2; st.local.u64 [%d1+24], %d5;
 mov.u64 %d4, format; cvta.global.u64 %d4, %d4;
 { .param .b64 f; st.param.b64 [f], %d4; .param .b64 a; st.param.b64 [a], %d2;
   .param .b32 q; call.uni (q), vprintf, (f, a); ld.param.b32 %r1, [q]; }
 st.global.u32 [%op], %r1;)",
               {}, 1, 2, o, 4096,
               std::string(kFunctions) +
                   ".global .align 1 .b8 word[3] = {104, 105, 0};\n"
                   ".global .align 1 .b8 format[18] = {37, 51, 100, 32, "
                   "37, 46, 50, 102, 32, 37, 115, 32, 37, 108, 108, "
                   "100, 10, 0};\n");
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(printed, "  0 1.50 hi -2\n  1 1.50 hi -2\n");
  EXPECT_EQ(r.out[0], 15u);
}

// Conversions longer than any buffer are whole, and bounded.
TEST(Call, PrintfOfLongText) {
  for (const char *width : {"1000", "9000000"}) {
    std::string printed;
    Options o;
    o.print = [&](const std::string &s) { printed += s; };
    WordsRun r =
        runWords(std::string(R"(
 .local .align 8 .b8 args[8];
 mov.u64 %d1, args; cvta.local.u64 %d2, %d1;
 st.local.u32 [%d1], )") +
                     width + R"(; st.local.u32 [%d1+4], 7;
 mov.u64 %d4, format; cvta.global.u64 %d4, %d4;
 { .param .b64 f; st.param.b64 [f], %d4; .param .b64 a; st.param.b64 [a], %d2;
   .param .b32 q; call.uni (q), vprintf, (f, a); ld.param.b32 %r1, [q]; }
 st.global.u32 [%op], %r1;)",
                 {}, 1, 1, o, 4096,
                 std::string(kFunctions) +
                     ".global .align 1 .b8 format[4] = {37, 42, 100, 0};\n");
    if (width[0] == '9') {
      ASSERT_EQ(r.result.status, Status::Fault);
      EXPECT_EQ(r.result.faults[0].kind, "bad-format");
      continue;
    }
    ASSERT_TRUE(r.result.ok()) << r.result.str();
    EXPECT_EQ(printed, std::string(999, ' ') + "7");
    EXPECT_EQ(r.out[0], 1000u);
  }
}

// Each level of a chain of calls takes some of the host's stack.
TEST(Call, ChainOfCallsIsBounded) {
  for (unsigned depth : {200u, 100000u}) {
    std::string functions = ".func f0() { ret; }\n";
    for (unsigned i = 1; i <= depth; ++i)
      functions += ".func f" + std::to_string(i) + "() { call f" +
                   std::to_string(i - 1) + "; ret; }\n";
    WordsRun r = runWords("call f" + std::to_string(depth) + ";", {}, 1, 1,
                          Options(), 0, functions);
    EXPECT_EQ(r.result.ok(), depth == 200) << r.result.str();
    if (depth != 200)
      EXPECT_NE(r.result.message.find("calls are nested too deeply"),
                std::string::npos);
  }
}

// Registers and local memory of a CTA are the host's memory.
TEST(Call, MemoryOfACtaIsBounded) {
  const std::string big = ".local .b8 big[8000000];";
  EXPECT_TRUE(runWords(big, {}, 1, 32).result.ok());
  WordsRun r = runWords(big, {}, 1, 1024);
  EXPECT_EQ(r.result.status, Status::Error);
  EXPECT_NE(r.result.message.find("registers and local memory"),
            std::string::npos)
      << r.result.str();
  r = runWords(".reg .b64 %many<1000000>;", {}, 1, 1024);
  EXPECT_EQ(r.result.status, Status::Error) << r.result.str();
}

TEST(Call, AssertFail) {
  WordsRun r = runWords(R"(
 mov.u64 %d1, word; cvta.global.u64 %d1, %d1; mov.b64 %d2, 1;
 { .param .b64 a; st.param.b64 [a], %d1; .param .b64 b; st.param.b64 [b], %d1;
   .param .b32 c; st.param.b32 [c], 17; .param .b64 d; st.param.b64 [d], %d1;
   .param .b64 e; st.param.b64 [e], %d2; call.uni __assertfail, (a, b, c, d, e); })",
                        {}, 1, 32, Options(), 4096,
                        std::string(kFunctions) +
                            ".global .align 1 .b8 word[3] = {104, 105, 0};\n");
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].kind, "assertion");
  EXPECT_EQ(r.result.faults[0].message,
            "lane 0: hi:17: hi: assertion 'hi' failed");
}

TEST(Call, Refused) {
  auto message = [](const std::string &body, const std::string &functions) {
    return runWords(body, {}, 1, 1, Options(), 0, functions).result.message;
  };
  EXPECT_NE(message("call f;", ".func f () { call f; ret; }")
                .find("recursive call of 'f' is not supported"),
            std::string::npos);
  EXPECT_NE(message("call g;", "")
                .find("call of 'g', which the module does not define"),
            std::string::npos);
  EXPECT_NE(message("{ .param .b64 a; call f, (a); }",
                    ".func f (.param .b32 x) { ret; }")
                .find("expected a '.param' variable of 4 bytes"),
            std::string::npos);
  EXPECT_NE(message("mov.u64 %d1, 0; call %d1, ();", "")
                .find("indirect calls are not supported"),
            std::string::npos);
}

TEST(Local, EveryLaneHasItsOwn) {
  auto out = callEach(R"(
 .local .align 16 .b8 a[64];
 mov.u64 %d2, a; and.b32 %r3, %r1, 3; mul.wide.u32 %d3, %r3, 16; add.u64 %d2, %d2, %d3;
 st.local.v4.u32 [%d2], {%r1, %r3, %r1, %r3};
 cvta.local.u64 %d4, %d2; ld.v2.u32 {%r4, %r5}, [%d4+8];
 cvta.to.local.u64 %d5, %d4; ld.local.u32 %r6, [%d5+4];
 mad.lo.u32 %r2, %r4, 100, %r5; mad.lo.u32 %r2, %r2, 10, %r6;)");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (100 * i + i % 4) * 10 + i % 4);
}

TEST(Local, OutOfBounds) {
  WordsRun r = runWords(" .local .align 4 .b8 a[16]; mov.u64 %d2, a; "
                        "ld.local.u32 %r1, [%d2+16];",
                        {}, 1, 1);
  ASSERT_EQ(r.result.status, Status::Fault) << r.result.str();
  EXPECT_EQ(r.result.faults[0].kind, "out-of-bounds");
}

} // namespace
