// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps docs/abi.md true: its descriptor is read and bound, and the launch that
// the page shows is what comes out. That the descriptor is what fa4-compile
// writes is a matter of test/Docs/pages.test.

#include "AttentionLaunch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace fa4;
using namespace fa4::test;

/// The text of the first fenced block in a language.
static std::string getBlock(llvm::StringRef page, llvm::StringRef language) {
  size_t fence = page.find(("\n```" + language).str());
  if (fence == llvm::StringRef::npos)
    return std::string();
  llvm::StringRef rest = page.substr(fence + 1).split('\n').second;
  return rest.take_front(rest.find("\n```") + 1).str();
}

static std::string readPage() {
  auto buffer = llvm::MemoryBuffer::getFile(FA4_ABI_PAGE);
  if (buffer)
    return (*buffer)->getBuffer().str();
  ADD_FAILURE() << FA4_ABI_PAGE << ": " << buffer.getError().message();
  return std::string();
}

static std::string list(llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "{" + text + "}";
}

/// One line a parameter, as on the page.
static std::string describe(const BoundLaunch &launch) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "grid " << list(launch.grid) << " block " << list(launch.block)
     << " shared " << launch.dynamicSharedBytes << '\n';
  for (const BoundParameter &p : launch.parameters) {
    os << p.slot.offset << ": " << p.name << " = ";
    switch (p.kind) {
    case LaunchParameter::Kind::TensorMap:
      os << "map of 0x" << llvm::utohexstr(p.tensorMap.baseAddress, true)
         << " dims " << list(p.tensorMap.dims) << " strides "
         << list(p.tensorMap.strides) << " box " << list(p.tensorMap.box);
      break;
    case LaunchParameter::Kind::Pointer:
      os << "0x" << llvm::utohexstr(p.pointer, true);
      break;
    case LaunchParameter::Kind::I32:
      os << p.i32;
      break;
    case LaunchParameter::Kind::F32:
      os << llvm::format("%.9g", static_cast<double>(p.f32));
      break;
    }
    os << '\n';
  }
  return text;
}

TEST(Documentation, WorkedExample) {
  std::string page = readPage();
  std::string json = getBlock(page, "json");
  auto descriptor = LaunchDescriptor::fromJSON(json);
  ASSERT_TRUE(bool(descriptor)) << llvm::toString(descriptor.takeError());
  Problem problem = makeProblem(2, 1000, 3000, 32, 8);
  problem.scalars.clear();
  BoundLaunch launch = bindOrFail(*descriptor, problem);
  EXPECT_EQ(getBlock(page, "text"), describe(launch));
}

TEST(Documentation, NamesEveryField) {
  std::string page = readPage();
  for (const char *field : {"schema",     "kernel",
                            "chip",       "ptx",
                            "versions",   "tensors",
                            "symbols",    "derived",
                            "checks",     "skip_if",
                            "parameters", "grid",
                            "block",      "dynamic_shared_bytes",
                            "roles",      "swizzle",
                            "interleave", "l2_promotion",
                            "oob_fill",   "factor",
                            "input",      "operand",
                            "require"})
    EXPECT_NE(page.find("`" + std::string(field) + "`"), std::string::npos)
        << field;
}
