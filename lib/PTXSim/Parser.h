// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The parser's state; see Parser.cpp and ParserFunction.cpp.

#ifndef PTXSIM_LIB_PARSER_H
#define PTXSIM_LIB_PARSER_H

#include "Lexer.h"
#include "Syntax.h"

#include <algorithm>

namespace ptxsim {

class Parser {
public:
  Parser(const std::vector<Token> &tokens, ModuleImpl &module, Diagnostic &diag)
      : tokens(tokens), module(module), diag(diag) {}

  bool run();

private:
  static constexpr uint64_t kMaxBytes = 1u << 28;
  static constexpr uint64_t kMaxRegisters = 1u << 20;
  static constexpr unsigned kMaxDepth = 64;

  const std::vector<Token> &tokens;
  ModuleImpl &module;
  Diagnostic &diag;
  size_t pos = 0;
  bool sawPtr = false;
  bool inAddress = false;
  unsigned vectorWidth = 1;

  // Tokens.
  const Token &tok() const { return tokens[pos]; }
  const Token &peek(size_t n) const {
    return tokens[std::min(pos + n, tokens.size() - 1)];
  }
  bool accept(char c) {
    if (!tok().is(c))
      return false;
    ++pos;
    return true;
  }
  bool expect(char c);
  bool acceptDirective(std::string_view name);
  bool integer(uint64_t &value);
  bool name(std::string &value);
  void skipLine();
  bool skipBraces();
  bool fail(std::string message, unsigned line = 0);
  std::string describe() const;

  // Module level.
  bool topLevel();
  bool variableSpace(Variable::Space &space);
  bool variable(Variable::Space space, bool isExtern,
                std::vector<Variable> &into);
  bool declHead(uint64_t &align, Type &type);
  bool arraySize(uint64_t &count, bool &open);
  bool initialiser(Variable &v, unsigned width);
  bool paramList(Function &fn, std::vector<ParamDecl> &params);
  bool registerParam(Function &fn, ParamDecl &param);
  bool function(bool isEntry);
  bool functionDirective(Function &fn);

  // Function level. A '{ }' block opens a scope for registers and labels.
  struct RegRange {
    uint32_t first = 0;
    uint32_t count = 0;
    bool isRange = false;
  };
  struct Scope {
    uint32_t parent = kNone;
    std::map<std::string, RegRange> regs;
    std::map<std::string, std::string> variables; // to unique names
  };
  struct Reference {
    uint32_t instr;
    uint32_t operand;
    uint32_t scope;
  };
  Function *fnp = nullptr;
  std::vector<Scope> scopes;
  std::map<std::string, RegRange> paramRegs; // '.reg' parameters
  std::vector<Reference> references;         // symbols that may be labels
  std::vector<std::pair<std::string, uint32_t>> targetScopes;
  uint64_t regCount = 0;
  unsigned depth = 0;

  bool block(uint32_t parent);
  bool statement(uint32_t scope);
  bool registers(uint32_t scope);
  bool instruction(uint32_t scope);
  bool operand(uint32_t scope, Operand &out);
  bool simpleOperand(uint32_t scope, Operand &out);
  bool address(uint32_t scope, Operand &out);
  bool vector(uint32_t scope, Operand &out);
  bool arguments(uint32_t scope, Operand &out);
  bool localVariable(Variable::Space space, uint32_t scope);
  uint32_t findRegister(uint32_t scope, const std::string &name) const;
  std::string labelKey(const std::string &label, uint32_t scope) const {
    return label + "#" + std::to_string(scope);
  }
  bool findLabel(const std::string &label, uint32_t scope,
                 std::string &key) const;
  bool resolveLabels();
};

} // namespace ptxsim

#endif // PTXSIM_LIB_PARSER_H
