// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recursive-descent parser of PTX: module and function level. Operands are in
// ParserOperands.cpp.

#include "Parser.h"

using namespace ptxsim;

std::string ModuleImpl::lineText(unsigned line) const {
  if (line == 0 || line > lines.size())
    return "";
  const std::string &s = lines[line - 1];
  size_t begin = s.find_first_not_of(" \t\r");
  if (begin == std::string::npos)
    return "";
  size_t end = s.find_last_not_of(" \t\r");
  std::string text = s.substr(begin, end - begin + 1);
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\t')
      text[i] = ' ';
  return text.size() > 160 ? text.substr(0, 157) + "..." : text;
}

bool Parser::fail(std::string message, unsigned line) {
  if (diag.message.empty()) {
    diag.line = line ? line : tok().line;
    diag.message = std::move(message);
    diag.text = module.lineText(diag.line);
  }
  return false;
}

bool Parser::expect(char c) {
  if (accept(c))
    return true;
  return fail(std::string("expected '") + c + "', but got " + describe());
}

std::string Parser::describe() const {
  if (tok().kind == Token::End)
    return "the end of the text";
  return "'" + std::string(tok().text.substr(0, 60)) + "'";
}

bool Parser::acceptDirective(std::string_view name) {
  if (tok().kind != Token::Directive || tok().text != name)
    return false;
  ++pos;
  return true;
}

bool Parser::integer(uint64_t &value) {
  if (tok().kind != Token::Int)
    return fail("expected an integer, but got " + describe());
  value = tok().value;
  ++pos;
  return true;
}

bool Parser::name(std::string &value) {
  if (tok().kind != Token::Name)
    return fail("expected a name, but got " + describe());
  value = std::string(tok().text);
  ++pos;
  return true;
}

void Parser::skipLine() {
  unsigned line = tok().line;
  while (tok().kind != Token::End && tok().line == line)
    ++pos;
}

bool Parser::skipBraces() {
  if (!expect('{'))
    return false;
  for (unsigned depth = 1; depth;) {
    if (tok().kind == Token::End)
      return fail("expected '}', but got the end of the text");
    depth += tok().is('{');
    depth -= tok().is('}');
    ++pos;
  }
  return true;
}

bool Parser::run() {
  while (tok().kind != Token::End)
    if (!topLevel())
      return false;
  return true;
}

bool Parser::topLevel() {
  if (tok().kind != Token::Directive)
    return fail("expected a directive, but got " + describe());
  if (acceptDirective(".version")) {
    skipLine();
    return true;
  }
  if (acceptDirective(".target")) {
    if (tok().kind == Token::Name)
      module.target = std::string(tok().text);
    skipLine();
    return true;
  }
  if (acceptDirective(".address_size")) {
    uint64_t bits;
    if (!integer(bits))
      return false;
    return bits == 64 || fail("expected address size 64");
  }
  if (acceptDirective(".file") || acceptDirective(".loc") ||
      acceptDirective(".pragma")) {
    skipLine();
    return true;
  }
  if (acceptDirective(".section")) {
    while (!tok().is('{') && tok().kind != Token::End)
      ++pos;
    return skipBraces();
  }
  bool isExtern = false;
  for (;;) {
    if (acceptDirective(".extern"))
      isExtern = true;
    else if (!acceptDirective(".visible") && !acceptDirective(".weak") &&
             !acceptDirective(".common"))
      break;
  }
  if (acceptDirective(".entry"))
    return function(true);
  if (acceptDirective(".func"))
    return function(false);
  Variable::Space space;
  if (!variableSpace(space))
    return fail("unknown directive " + describe());
  return variable(space, isExtern, module.variables);
}

bool Parser::variableSpace(Variable::Space &space) {
  if (acceptDirective(".shared") || acceptDirective(".shared::cta"))
    space = Variable::Shared;
  else if (acceptDirective(".global"))
    space = Variable::Global;
  else if (acceptDirective(".const"))
    space = Variable::Const;
  else if (acceptDirective(".local"))
    space = Variable::Local;
  else if (acceptDirective(".param"))
    space = Variable::ParamSpace;
  else
    return false;
  return true;
}

// Attributes and type in front of a name: .align N .b8 .ptr .global ...
bool Parser::declHead(uint64_t &align, Type &type) {
  type = Type::None;
  align = 0;
  unsigned vector = 1;
  while (tok().kind == Token::Directive) {
    std::string_view d = tok().text.substr(1);
    if (d == "align") {
      ++pos;
      uint64_t n;
      if (!integer(n))
        return false;
      if (n == 0 || (n & (n - 1)) || n > (1u << 20))
        return fail("expected an alignment that is a power of two");
      // For a pointer parameter this is the alignment of what it points to.
      if (!sawPtr)
        align = n;
      continue;
    }
    if (d == "ptr") {
      sawPtr = true;
    } else if (d == "v2" || d == "v4") {
      vector = d == "v2" ? 2 : 4;
    } else if (Type t = parseType(d); t != Type::None) {
      type = t;
    } else if (d != "global" && d != "const" && d != "shared" && d != "local" &&
               d != "managed" && d != "attribute") {
      return fail("unknown directive '" + std::string(tok().text) + "'");
    }
    ++pos;
  }
  sawPtr = false;
  vectorWidth = vector;
  if (type == Type::None)
    return fail("expected a type, but got " + describe());
  if (!align)
    align = std::max(1u, byteWidth(type) * vector);
  return true;
}

bool Parser::arraySize(uint64_t &count, bool &open) {
  count = 1;
  open = false;
  while (accept('[')) {
    if (accept(']')) {
      open = true;
      continue;
    }
    uint64_t n;
    if (!integer(n) || !expect(']'))
      return false;
    if (n > kMaxBytes || count * n > kMaxBytes)
      return fail("array is too large");
    count *= n;
  }
  return true;
}

bool Parser::variable(Variable::Space space, bool isExtern,
                      std::vector<Variable> &into) {
  Type type;
  uint64_t align;
  if (!declHead(align, type))
    return false;
  unsigned width = byteWidth(type) * vectorWidth;
  do {
    Variable v;
    v.space = space;
    v.align = align;
    v.isExtern = isExtern;
    uint64_t count;
    bool open;
    if (!name(v.name) || !arraySize(count, open))
      return false;
    v.size = open ? 0 : count * width;
    if (accept('=')) {
      if (!initialiser(v, byteWidth(type)))
        return false;
      if (open)
        v.size = v.init.size();
    }
    if (v.size == 0 && !(isExtern && space == Variable::Shared))
      return fail("expected a size for '" + v.name + "'");
    if (v.init.size() > v.size)
      return fail("initialiser of '" + v.name + "' is longer than the array");
    into.push_back(std::move(v));
  } while (accept(','));
  return expect(';');
}

bool Parser::initialiser(Variable &v, unsigned width) {
  unsigned depth = 0;
  for (;;) {
    if (accept('{')) {
      if (++depth > 8)
        return fail("initialiser is nested too deeply");
      continue;
    }
    bool negative = accept('-');
    uint64_t value = tok().value;
    if (tok().kind == Token::Float64 && width == 4) {
      double d;
      __builtin_memcpy(&d, &value, 8);
      float f = float(negative ? -d : d);
      value = 0;
      __builtin_memcpy(&value, &f, 4);
      negative = false;
    } else if (tok().kind != Token::Int && tok().kind != Token::Float32 &&
               tok().kind != Token::Float64) {
      return fail("expected a number in the initialiser, but got " +
                  describe());
    }
    ++pos;
    if (negative)
      value = 0 - value;
    for (unsigned i = 0; i < width && i < 8; ++i)
      v.init.push_back(uint8_t(value >> (8 * i)));
    while (depth && accept('}'))
      --depth;
    if (!depth)
      return true;
    if (!expect(','))
      return false;
    while (depth && accept('}')) // a trailing comma is harmless
      --depth;
    if (!depth)
      return true;
  }
}

bool Parser::registerParam(Function &fn, ParamDecl &param) {
  if (fn.isEntry)
    return fail("a kernel takes no register parameters");
  Type type = tok().kind == Token::Directive ? parseType(tok().text.substr(1))
                                             : Type::None;
  if (type == Type::None)
    return fail("expected a register type, but got " + describe());
  ++pos;
  if (!name(param.name))
    return false;
  param.reg = uint32_t(fn.regs.size());
  fn.regs.push_back({param.name, type});
  if (!paramRegs.emplace(param.name, RegRange{param.reg, 1, false}).second)
    return fail("parameter '" + param.name + "' is declared twice");
  return true;
}

bool Parser::paramList(Function &fn, std::vector<ParamDecl> &params) {
  if (!expect('('))
    return false;
  if (accept(')'))
    return true;
  do {
    if (acceptDirective(".reg")) {
      params.emplace_back();
      if (!registerParam(fn, params.back()))
        return false;
      continue;
    }
    if (!acceptDirective(".param"))
      return fail("expected '.param', but got " + describe());
    ParamDecl p;
    Type type;
    uint64_t count;
    bool open;
    if (!declHead(p.align, type) || !name(p.name) || !arraySize(count, open))
      return false;
    if (open)
      return fail("expected a size for parameter '" + p.name + "'");
    p.type = type;
    p.size = count * byteWidth(type) * vectorWidth;
    params.push_back(std::move(p));
  } while (accept(','));
  return expect(')');
}

bool Parser::function(bool isEntry) {
  Function fn;
  fn.isEntry = isEntry;
  fn.line = tok().line;
  paramRegs.clear();
  if (!isEntry && tok().is('(') && !paramList(fn, fn.results))
    return false;
  if (!name(fn.name))
    return false;
  if (tok().is('(') && !paramList(fn, fn.params))
    return false;
  while (tok().kind == Token::Directive)
    if (!functionDirective(fn))
      return false;
  if (accept(';')) // a declaration
    return true;
  scopes.clear();
  references.clear();
  fnp = &fn;
  regCount = 0;
  if (!block(kNone) || !resolveLabels())
    return false;
  module.functions.push_back(std::move(fn));
  fnp = nullptr;
  return true;
}

bool Parser::functionDirective(Function &fn) {
  std::string d(tok().text);
  ++pos;
  std::vector<uint64_t> values;
  if (tok().kind == Token::Int) {
    do {
      uint64_t v;
      if (!integer(v))
        return false;
      values.push_back(v);
    } while (accept(','));
  }
  auto triple = [&](std::array<uint32_t, 3> &out) {
    if (values.empty() || values.size() > 3)
      return fail("expected one to three integers after '" + d + "'");
    for (unsigned i = 0; i < 3; ++i)
      out[i] = i < values.size() ? uint32_t(values[i]) : 1;
    return true;
  };
  if (d == ".maxntid")
    return triple(fn.maxntid);
  if (d == ".reqntid")
    return triple(fn.reqntid);
  if (d == ".maxnreg" || d == ".minnctapersm") {
    if (values.size() != 1)
      return fail("expected one integer after '" + d + "'");
    (d == ".maxnreg" ? fn.maxnreg : fn.minnctapersm) = uint32_t(values[0]);
    return true;
  }
  if (d == ".pragma") {
    if (tok().kind == Token::String)
      ++pos;
    return expect(';');
  }
  if (d == ".reqnctapercluster") {
    for (uint64_t v : values)
      if (v != 1)
        return fail("clusters of more than one CTA are not supported");
    fn.explicitCluster = true;
    return true;
  }
  if (d == ".explicitcluster") {
    fn.explicitCluster = true;
    return true;
  }
  if (d == ".noreturn" || d == ".maxclusterrank" || d == ".maxnctapersm" ||
      d == ".blocksareclusters")
    return true;
  return fail("unknown directive '" + d + "'");
}

bool ptxsim::parseModule(const std::string &text, ModuleImpl &module,
                         Diagnostic &diag) {
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos)
      end = text.size();
    module.lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<Token> tokens;
  unsigned line;
  std::string error;
  if (!tokenize(text, tokens, line, error)) {
    diag = {line, error, module.lineText(line)};
    return false;
  }
  return Parser(tokens, module, diag).run();
}
