// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The parsed form of a PTX module: names of registers and labels resolved,
// instructions still text.

#ifndef PTXSIM_LIB_SYNTAX_H
#define PTXSIM_LIB_SYNTAX_H

#include "Types.h"

#include "ptxsim/Simulator.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxsim {

constexpr uint32_t kNone = 0xffffffffu;

struct Operand {
  enum Kind : uint8_t {
    Reg,       // index [+ value, which LLVM prints for descriptor operands]
    Int,       // value
    Float32,   // value holds the bits
    Float64,   // value holds the bits
    Special,   // name, with the leading '%'
    Symbol,    // name [+ value]
    Sink,      // _
    Vector,    // elems
    Pair,      // elems[0] | elems[1]
    Address,   // elems[0] = base, value = offset, elems[1] = coordinates
    Arguments, // elems, of a call
  };
  Kind kind = Sink;
  bool negated = false; // !p
  uint32_t index = kNone;
  int64_t value = 0;
  std::string name;
  std::vector<Operand> elems;
};

struct Instr {
  unsigned line = 0;
  uint32_t guard = kNone; // predicate register
  bool guardNegated = false;
  std::vector<std::string> parts; // mnemonic split at '.'
  std::vector<Operand> ops;
};

struct RegDecl {
  std::string name;
  Type type;
};

struct Variable {
  enum Space : uint8_t { Shared, Global, Const, Local, ParamSpace };
  std::string name;
  Space space = Shared;
  uint64_t size = 0; // 0 with isExtern: dynamic shared memory
  uint64_t align = 1;
  bool isExtern = false;
  std::vector<uint8_t> init;
};

struct ParamDecl {
  std::string name;
  uint64_t size = 0;
  uint64_t align = 1;
  Type type = Type::None; // of an element
  uint32_t reg = kNone;   // of a '.reg' parameter of a function
};

struct Function {
  std::string name;
  unsigned line = 0;
  bool isEntry = false;
  std::vector<ParamDecl> params, results;
  std::vector<RegDecl> regs;
  std::vector<Variable> variables;
  std::vector<Instr> code;
  /// Labels by unique name; a value is an index into `code` (may be its size).
  std::map<std::string, uint32_t> labels;
  /// .branchtargets lists, by unique label name.
  std::map<std::string, std::vector<std::string>> branchTargets;
  std::array<uint32_t, 3> maxntid{0, 0, 0};
  std::array<uint32_t, 3> reqntid{0, 0, 0};
  uint32_t maxnreg = 0;
  uint32_t minnctapersm = 0;
  /// It has '.reqnctapercluster' or '.explicitcluster'.
  bool explicitCluster = false;
};

struct ModuleImpl {
  std::vector<std::string> lines;
  std::string target;
  std::vector<Variable> variables;
  std::vector<Function> functions;

  std::string lineText(unsigned line) const;
};

/// Parses `text`; false with `diag` set on a syntax error.
bool parseModule(const std::string &text, ModuleImpl &module, Diagnostic &diag);

} // namespace ptxsim

#endif // PTXSIM_LIB_SYNTAX_H
