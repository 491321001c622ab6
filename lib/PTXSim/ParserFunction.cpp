// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Function bodies: declarations, labels, instructions and operands.

#include "Parser.h"

#include <cctype>

using namespace ptxsim;

bool Parser::block(uint32_t parent) {
  if (!expect('{'))
    return false;
  if (++depth > kMaxDepth)
    return fail("blocks are nested too deeply");
  uint32_t scope = scopes.size();
  scopes.emplace_back();
  scopes.back().parent = parent;
  if (parent == kNone)
    scopes.back().regs = paramRegs;
  while (!accept('}')) {
    if (tok().kind == Token::End)
      return fail("expected '}', but got the end of the text");
    if (!statement(scope))
      return false;
  }
  --depth;
  return true;
}

bool Parser::statement(uint32_t scope) {
  if (accept(';'))
    return true;
  if (tok().is('{'))
    return block(scope);
  if (tok().kind == Token::Name && peek(1).is(':')) {
    std::string label(tok().text);
    std::string key = labelKey(label, scope);
    pos += 2;
    if (fnp->labels.count(key))
      return fail("label '" + label + "' is already defined");
    fnp->labels[key] = fnp->code.size();
    if (acceptDirective(".branchtargets")) {
      auto &list = fnp->branchTargets[key];
      do {
        std::string target;
        if (!name(target))
          return false;
        list.push_back(target);
      } while (accept(','));
      targetScopes.push_back({key, scope});
      return expect(';');
    }
    // An indirect call names its prototype; it is refused at the call.
    if (acceptDirective(".callprototype") || acceptDirective(".calltargets"))
      while (!tok().is(';') && tok().kind != Token::End)
        ++pos;
    return true;
  }
  if (tok().kind == Token::Directive) {
    if (acceptDirective(".reg"))
      return registers(scope);
    if (acceptDirective(".loc") || acceptDirective(".file")) {
      skipLine();
      return true;
    }
    if (acceptDirective(".pragma")) {
      while (tok().kind == Token::String || tok().is(','))
        ++pos;
      return expect(';');
    }
    Variable::Space space;
    if (!variableSpace(space))
      return fail("unknown directive " + describe());
    return localVariable(space, scope);
  }
  return instruction(scope);
}

// Blocks may declare the same name again, so that of a nested block is made
// unique. '#' cannot be part of a name.
bool Parser::localVariable(Variable::Space space, uint32_t scope) {
  size_t first = fnp->variables.size();
  if (!variable(space, false, fnp->variables))
    return false;
  for (size_t i = first; i < fnp->variables.size(); ++i) {
    Variable &v = fnp->variables[i];
    std::string unique =
        scope == 0 ? v.name : v.name + "#v" + std::to_string(scope);
    if (!scopes[scope].variables.emplace(v.name, unique).second)
      return fail("variable '" + v.name + "' is declared twice");
    v.name = unique;
  }
  return true;
}

bool Parser::registers(uint32_t scope) {
  if (tok().kind != Token::Directive)
    return fail("expected a register type, but got " + describe());
  Type type = parseType(tok().text.substr(1));
  if (type == Type::None)
    return fail("unknown register type " + describe());
  ++pos;
  do {
    std::string reg;
    if (!name(reg))
      return false;
    RegRange range;
    range.first = fnp->regs.size();
    range.count = 1;
    if (accept('<')) {
      uint64_t n;
      if (!integer(n) || !expect('>'))
        return false;
      if (n > kMaxRegisters)
        return fail("too many registers");
      range.count = uint32_t(n);
      range.isRange = true;
    }
    regCount += range.count;
    if (regCount > kMaxRegisters)
      return fail("too many registers");
    if (!scopes[scope].regs.emplace(reg, range).second)
      return fail("register '" + reg + "' is already declared");
    for (uint32_t i = 0; i < range.count; ++i)
      fnp->regs.push_back(
          {range.isRange ? reg + std::to_string(i) : reg, type});
  } while (accept(','));
  return expect(';');
}

uint32_t Parser::findRegister(uint32_t scope, const std::string &reg) const {
  size_t digits = reg.size();
  while (digits > 0 && std::isdigit((unsigned char)reg[digits - 1]))
    --digits;
  for (uint32_t s = scope; s != kNone; s = scopes[s].parent) {
    const auto &regs = scopes[s].regs;
    auto it = regs.find(reg);
    if (it != regs.end() && !it->second.isRange)
      return it->second.first;
    // %r12 belongs to %r<N>; a prefix may itself end in a digit (%x1<4>).
    for (size_t cut = digits; cut < reg.size(); ++cut) {
      if (reg.size() - cut > 9 || (reg[cut] == '0' && cut + 1 < reg.size()))
        continue;
      it = regs.find(reg.substr(0, cut));
      if (it == regs.end() || !it->second.isRange)
        continue;
      uint32_t n = std::stoul(reg.substr(cut));
      if (n < it->second.count)
        return it->second.first + n;
    }
  }
  return kNone;
}

bool Parser::instruction(uint32_t scope) {
  Instr in;
  in.line = tok().line;
  if (accept('@')) {
    in.guardNegated = accept('!');
    std::string guard;
    if (!name(guard))
      return false;
    in.guard = findRegister(scope, guard);
    if (in.guard == kNone)
      return fail("unknown predicate register '" + guard + "'");
    if (fnp->regs[in.guard].type != Type::Pred)
      return fail("expected a predicate register, but got '" + guard + "'");
    in.line = tok().line;
  }
  std::string mnemonic;
  if (tok().kind != Token::Name || tok().text[0] == '%')
    return fail("expected an instruction, but got " + describe());
  mnemonic = std::string(tok().text);
  ++pos;
  size_t begin = 0;
  while (begin <= mnemonic.size()) {
    size_t end = std::min(mnemonic.find('.', begin), mnemonic.size());
    in.parts.push_back(mnemonic.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!tok().is(';')) {
    do {
      Operand op;
      if (!operand(scope, op))
        return false;
      if (op.kind == Operand::Symbol)
        references.push_back(
            {uint32_t(fnp->code.size()), uint32_t(in.ops.size()), scope});
      in.ops.push_back(std::move(op));
    } while (accept(','));
  }
  if (!expect(';'))
    return false;
  fnp->code.push_back(std::move(in));
  return true;
}

bool Parser::operand(uint32_t scope, Operand &out) {
  if (tok().is('['))
    return address(scope, out);
  if (tok().is('{'))
    return vector(scope, out);
  if (tok().is('('))
    return arguments(scope, out);
  if (!simpleOperand(scope, out))
    return false;
  if (accept('|')) {
    Operand pair;
    pair.kind = Operand::Pair;
    pair.elems.push_back(std::move(out));
    pair.elems.emplace_back();
    if (!simpleOperand(scope, pair.elems[1]))
      return false;
    out = std::move(pair);
  }
  return true;
}

bool Parser::simpleOperand(uint32_t scope, Operand &out) {
  if (accept('!')) {
    if (tok().kind != Token::Name || !simpleOperand(scope, out) ||
        out.kind != Operand::Reg)
      return fail("expected a predicate register after '!'");
    out.negated = true;
    return true;
  }
  bool negative = accept('-');
  const Token &t = tok();
  switch (t.kind) {
  case Token::Int:
    out.kind = Operand::Int;
    out.value = int64_t(negative ? 0 - t.value : t.value);
    ++pos;
    return true;
  case Token::Float32:
    out.kind = Operand::Float32;
    out.value = int64_t(t.value ^ (negative ? 0x80000000u : 0));
    ++pos;
    return true;
  case Token::Float64:
    out.kind = Operand::Float64;
    out.value = int64_t(t.value ^ (negative ? uint64_t(1) << 63 : 0));
    ++pos;
    return true;
  case Token::Name:
    break;
  default:
    return fail("expected an operand, but got " + describe());
  }
  if (negative)
    return fail("expected a number after '-', but got " + describe());
  std::string text(t.text);
  ++pos;
  if (text == "_") {
    out.kind = Operand::Sink;
    return true;
  }
  uint32_t reg = findRegister(scope, text);
  out.name = text;
  if (reg != kNone) {
    out.kind = Operand::Reg;
    out.index = reg;
  } else if (text[0] == '%') {
    out.kind = Operand::Special;
    return true;
  } else {
    out.kind = Operand::Symbol;
    for (uint32_t s = scope; s != kNone; s = scopes[s].parent) {
      auto it = scopes[s].variables.find(text);
      if (it == scopes[s].variables.end())
        continue;
      out.name = it->second;
      break;
    }
  }
  // An address takes its offset itself.
  if (!inAddress && (tok().is('+') || tok().is('-')) &&
      peek(1).kind == Token::Int) {
    bool minus = tok().is('-');
    uint64_t n = peek(1).value;
    out.value = int64_t(minus ? 0 - n : n);
    pos += 2;
  }
  return true;
}

bool Parser::address(uint32_t scope, Operand &out) {
  if (!expect('['))
    return false;
  out.kind = Operand::Address;
  Operand base;
  inAddress = true;
  bool good = simpleOperand(scope, base);
  inAddress = false;
  if (!good)
    return false;
  if (base.kind != Operand::Reg && base.kind != Operand::Symbol &&
      base.kind != Operand::Int)
    return fail("expected a register, symbol or integer as address");
  out.value = 0;
  out.elems.push_back(std::move(base));
  if (tok().is('+') || tok().is('-')) {
    bool minus = tok().is('-');
    ++pos;
    minus ^= accept('-');
    uint64_t n;
    if (!integer(n))
      return false;
    out.value += int64_t(minus ? 0 - n : n);
  }
  if (accept(',')) {
    Operand coordinates;
    if (!vector(scope, coordinates))
      return false;
    out.elems.push_back(std::move(coordinates));
  }
  return expect(']');
}

bool Parser::vector(uint32_t scope, Operand &out) {
  if (!expect('{'))
    return false;
  out.kind = Operand::Vector;
  do {
    Operand e;
    if (!simpleOperand(scope, e))
      return false;
    out.elems.push_back(std::move(e));
    if (out.elems.size() > 256)
      return fail("vector has more than 256 elements");
  } while (accept(','));
  return expect('}');
}

bool Parser::arguments(uint32_t scope, Operand &out) {
  if (!expect('('))
    return false;
  out.kind = Operand::Arguments;
  if (accept(')'))
    return true;
  do {
    Operand e;
    if (!simpleOperand(scope, e))
      return false;
    out.elems.push_back(std::move(e));
    if (out.elems.size() > 256)
      return fail("a call has more than 256 arguments");
  } while (accept(','));
  return expect(')');
}

bool Parser::findLabel(const std::string &label, uint32_t scope,
                       std::string &key) const {
  for (uint32_t s = scope; s != kNone; s = scopes[s].parent) {
    key = labelKey(label, s);
    if (fnp->labels.count(key))
      return true;
  }
  return false;
}

bool Parser::resolveLabels() {
  std::string key;
  for (const Reference &ref : references) {
    Operand &op = fnp->code[ref.instr].ops[ref.operand];
    if (findLabel(op.name, ref.scope, key))
      op.name = key;
  }
  for (auto &[list, scope] : targetScopes)
    for (std::string &target : fnp->branchTargets[list]) {
      if (!findLabel(target, scope, key))
        return fail("unknown label '" + target + "'");
      target = key;
    }
  targetScopes.clear();
  return true;
}
