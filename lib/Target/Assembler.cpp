// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Target/Assembler.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <optional>

using namespace mlir::fa4;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::SmallString;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// Seconds after which ptxas is taken to hang.
constexpr unsigned timeLimit = 600;

Error makeError(const Twine &message) {
  return createStringError(llvm::inconvertibleErrorCode(), message);
}

/// A folder that goes with all that is in it.
class ScratchFolder {
public:
  static Expected<ScratchFolder> create() {
    ScratchFolder folder;
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("fa4", folder.path))
      return makeError("cannot make a temporary folder: " + code.message());
    return std::move(folder);
  }
  ScratchFolder(ScratchFolder &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  std::string file(StringRef name) const { return (path + "/" + name).str(); }

private:
  ScratchFolder() = default;
  SmallString<128> path;
};

struct Run {
  int status = 0;
  std::string output;
};

Expected<std::string> readFile(const Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// Runs a program; its output and errors together come back.
Expected<Run> run(StringRef program, llvm::ArrayRef<StringRef> arguments,
                  const ScratchFolder &folder) {
  std::string log = folder.file("log");
  SmallVector<StringRef> line{program};
  line.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  Run result;
  std::string reason;
  result.status =
      llvm::sys::ExecuteAndWait(program, line, /*Env=*/std::nullopt, redirects,
                                timeLimit, /*MemoryLimit=*/0, &reason);
  if (result.status == -1)
    return makeError("cannot run '" + program + "': " + reason);
  Expected<std::string> output = readFile(log);
  if (!output)
    return output.takeError();
  result.output = std::move(*output);
  if (result.status < -1)
    result.output += reason + "\n";
  return result;
}

/// The version in "Cuda compilation tools, release 13.0, V13.0.88".
std::string parseVersion(StringRef text) {
  SmallVector<StringRef, 2> groups;
  if (llvm::Regex("V([0-9]+(\\.[0-9]+)+)").match(text, &groups))
    return groups[1].str();
  return "";
}

void parseLine(StringRef line, AssembledKernel &kernel) {
  auto largest = [&](StringRef pattern, int64_t &value) {
    SmallVector<StringRef, 2> groups;
    int64_t number = 0;
    if (llvm::Regex(pattern).match(line, &groups) &&
        !groups[1].getAsInteger(10, number))
      value = std::max(value, number);
  };
  largest("Used ([0-9]+) registers", kernel.registers);
  largest("([0-9]+) bytes stack frame", kernel.stackBytes);
  largest("([0-9]+) bytes spill stores", kernel.spillBytes);
  largest("([0-9]+) bytes spill loads", kernel.spillBytes);
  // Hints on lost performance come as info, with a number: (C7508).
  if (line.contains("warning") ||
      llvm::Regex("info *: *\\(C[0-9]+\\)").match(line))
    kernel.warnings.push_back(line.trim().str());
}

/// Why ptxas refused the PTX.
Error explainFailure(const Assembler &assembler, const Run &result) {
  SmallVector<StringRef, 3> groups;
  if (llvm::Regex(
          "Unsupported \\.version ([0-9.]+); current version is '([0-9.]+)'")
          .match(result.output, &groups))
    return makeError("the kernel is PTX " + groups[1] + ", but ptxas " +
                     assembler.version + " (" + assembler.path +
                     ") takes PTX up to " + groups[2] +
                     ": lower 'ptx-version' or use a newer ptxas");
  return makeError("ptxas " + assembler.version + " (" + assembler.path +
                   ") failed with status " + Twine(result.status) + ":\n" +
                   StringRef(result.output).rtrim());
}

} // namespace

Expected<Assembler> mlir::fa4::findAssembler(StringRef path) {
  Assembler assembler;
  if (!path.empty()) {
    if (!llvm::sys::fs::can_execute(path))
      return makeError("'" + path +
                       "' is not a program that can be run; "
                       "expected the path of ptxas");
    assembler.path = path.str();
  } else {
    auto found = llvm::sys::findProgramByName("ptxas");
    if (!found)
      found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
    if (!found)
      return makeError(
          "no ptxas on the PATH or in /usr/local/cuda/bin; it comes "
          "with the CUDA toolkit, from 12.9 on for sm_100a and PTX 8.8");
    assembler.path = *found;
  }
  Expected<ScratchFolder> folder = ScratchFolder::create();
  if (!folder)
    return folder.takeError();
  Expected<Run> result = run(assembler.path, {"--version"}, *folder);
  if (!result)
    return result.takeError();
  assembler.version = parseVersion(result->output);
  if (result->status != 0 || assembler.version.empty())
    return makeError("'" + assembler.path +
                     "' does not say its version as ptxas does, "
                     "but:\n" +
                     StringRef(result->output).rtrim());
  return assembler;
}

Expected<AssembledKernel> mlir::fa4::assemble(const Assembler &assembler,
                                              StringRef ptx, StringRef chip) {
  Expected<ScratchFolder> folder = ScratchFolder::create();
  if (!folder)
    return folder.takeError();
  std::string input = folder->file("kernel.ptx"),
              output = folder->file("kernel.cubin");
  std::error_code code;
  {
    llvm::raw_fd_ostream os(input, code);
    if (!code)
      os << ptx;
    os.close();
    if (!code && os.has_error()) {
      code = os.error();
      os.clear_error();
    }
  }
  if (code)
    return makeError("cannot write '" + input + "': " + code.message());
  std::string arch = ("-arch=" + chip).str();
  Expected<Run> result =
      run(assembler.path, {arch, "-v", input, "-o", output}, *folder);
  if (!result)
    return result.takeError();
  if (result->status != 0)
    return explainFailure(assembler, *result);
  AssembledKernel kernel;
  SmallVector<StringRef> lines;
  StringRef(result->output).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    parseLine(line, kernel);
  if (kernel.spillBytes)
    kernel.warnings.push_back("registers are spilled: " +
                              std::to_string(kernel.spillBytes) + " bytes");
  if (kernel.stackBytes)
    kernel.warnings.push_back("local memory is used: a stack of " +
                              std::to_string(kernel.stackBytes) + " bytes");
  Expected<std::string> cubin = readFile(output);
  if (!cubin)
    return cubin.takeError();
  if (cubin->empty())
    return makeError("ptxas wrote an empty cubin");
  kernel.cubin = std::move(*cubin);
  return kernel;
}
