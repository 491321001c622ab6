// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An entry function decoded for execution: one Op an instruction, operands as
// byte offsets into a warp's register file.

#ifndef PTXSIM_LIB_PROGRAM_H
#define PTXSIM_LIB_PROGRAM_H

#include "Syntax.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxsim {

class Warp;
struct Op;

/// What the interpreter does after an instruction.
enum class Step : uint8_t {
  Next,    // go on
  Blocked, // not executed: try again later
  Yield,   // executed, but let others run
  Fault,   // the CTA stops
};

using ExecFn = Step (*)(Warp &, const Op &, uint32_t mask);

enum class OpKind : uint8_t { Plain, Branch, BranchIndexed, Exit };

enum OpFlags : uint8_t {
  kAligned = 1,  // every live lane of the warp must be here
  kWarpSync = 2, // waits for the lanes of the member mask in `member`
  kAlways = 4,   // runs even when the guard is false in every lane
  kSums = 8,     // operands of the form 'register + constant'; see Sum
  kLoads = 16,   // fills the registers of its list from TMEM
  kLoaded = 32,  // touches registers that such an instruction fills
};

struct Op {
  ExecFn fn = nullptr;
  OpKind kind = OpKind::Plain;
  uint8_t flags = 0;
  bool guardNegated = false;
  bool negated = false; // a predicate source is negated
  uint32_t guard = kNone;
  // Registers: destinations and sources.
  uint32_t d = kNone, d2 = kNone;
  uint32_t a = kNone, b = kNone, c = kNone, e = kNone;
  uint32_t member = kNone;
  // Operand list in Program::lists.
  uint32_t list = 0, count = 0;
  // Meaning depends on the instruction.
  uint32_t aux = 0, aux2 = 0, aux3 = 0;
  int64_t imm = 0;
  // Sums to form first, in Program::sums.
  uint32_t sums = 0, sumCount = 0;
  // Registers that it reads or writes, in Program::touches.
  uint32_t touches = 0, touchCount = 0;
  // Branches: destination, and where diverged lanes meet again (or kNone).
  uint32_t target = kNone, reconv = kNone;
  unsigned line = 0;
};

/// Generic addresses of the windows of the other state spaces.
constexpr uint64_t kSharedWindow = uint64_t(0x7f01) << 48;
constexpr uint64_t kLocalWindow = uint64_t(0x7f02) << 48;
constexpr uint64_t kParamWindow = uint64_t(0x7f03) << 48;
constexpr uint64_t kWindowMask = uint64_t(0xffff) << 48;

/// The first KiB of the shared window belongs to the system.
constexpr uint32_t kSharedBase = 1024;
/// 227 KiB: what one CTA can have.
constexpr uint32_t kMaxSharedBytes = 232448;
// Registers and local memory of a CTA on the host: twice the 512 KiB that a
// device gives each thread at most.
constexpr uint64_t kMaxCtaBytes = uint64_t(1) << 30;

struct Program {
  const ModuleImpl *module = nullptr;
  const Function *fn = nullptr;
  std::vector<Op> ops;
  std::vector<const Instr *> source; // the instruction of each op
  std::vector<uint32_t> lists;

  struct Constant {
    uint32_t offset;
    uint32_t bits;
    uint64_t value;
  };
  /// A source operand 'register + value', formed in a slot of its own.
  struct Sum {
    uint32_t to, from;
    uint32_t bits;
    int64_t value;
  };
  std::vector<Sum> sums;
  /// A register, in the end only if a tcgen05.ld fills it, and by number.
  struct Touch {
    uint32_t reg;
    bool write;
  };
  std::vector<Touch> touches;
  uint32_t loadedRegisters = 0;
  std::vector<Constant> constants; // filled in when a warp starts
  std::map<std::string, std::pair<uint32_t, Type>> specials;
  uint32_t regBytes = 0;
  uint32_t scratch = 0; // 512 bytes that take unwanted results

  uint32_t staticSharedEnd = kSharedBase;
  uint32_t dynamicSharedBase = kSharedBase;
  uint64_t localBytes = 0;
  std::vector<uint32_t> paramOffsets;
  uint32_t paramBytes = 0;
  uint32_t largestInc = 0; // of all 'setmaxnreg.inc', 0 without one

  std::string where(const Op &op) const { return module->lineText(op.line); }
  /// A shared address as messages have it, with its place among the kernel's
  /// variables or behind them.
  std::string sharedText(uint32_t address) const;
};

/// Decodes \p fn; false with \p diag set when an instruction is not supported
/// or malformed. \p globals holds the addresses of module variables.
bool decodeProgram(const ModuleImpl &module, const Function &fn,
                   const std::map<std::string, uint64_t> &globals,
                   Program &program, Diagnostic &diag);

/// Fills in Op::reconv: for each branch the immediate post-dominator.
void computeReconvergence(Program &program);

} // namespace ptxsim

#endif // PTXSIM_LIB_PROGRAM_H
