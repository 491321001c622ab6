// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layout of the register file and state spaces, and the walk over a kernel and
// the functions that it calls. A call becomes a copy of the callee's body: the
// interpreter then needs no stack, and diverged calls meet again like branches.

#include "Calls.h"
#include "Decoder.h"
#include "Lanewise.h"
#include "TmemLoads.h"

#include <algorithm>

using namespace ptxsim;

static constexpr size_t kMaxOps = size_t(1) << 22;
// Each level of calls takes some of the host's stack.
static constexpr size_t kMaxCallDepth = 256;

// A register holds 32 lanes side by side: 32 words, or one mask a predicate.
uint32_t Decoder::allocate(unsigned bits) {
  unsigned bytes = bits == 1 ? 4 : std::max(bits, 16u) / 8 * 32;
  uint32_t alignment = std::min(bytes, 64u);
  uint32_t offset = (program.regBytes + alignment - 1) & ~(alignment - 1);
  program.regBytes = offset + bytes;
  return offset;
}

static uint64_t place(uint64_t &end, uint64_t size, uint64_t align) {
  uint64_t at = (end + align - 1) / align * align;
  end = at + size;
  return at;
}

bool Decoder::layoutVariables(Frame &f, const std::vector<Variable> &list) {
  for (const Variable &v : list) {
    switch (v.space) {
    case Variable::Global:
    case Variable::Const: {
      auto it = globals.find(v.name);
      if (it == globals.end())
        return fail("variable '" + v.name + "' has no address");
      f.symbols[v.name] = {v.space, it->second, v.size};
      break;
    }
    case Variable::Shared:
      if (v.size == 0) {
        dynamic.push_back({&f, v.name});
        dynamicAlign = std::max(dynamicAlign, v.align);
        f.symbols[v.name] = {v.space, 0, 0};
        break;
      }
      f.symbols[v.name] = {v.space, place(sharedEnd, v.size, v.align), v.size};
      break;
    case Variable::Local:
    case Variable::ParamSpace: // of a call
      f.symbols[v.name] = {Variable::Local, place(localEnd, v.size, v.align),
                           v.size};
      break;
    }
    if (sharedEnd > (1u << 24) || localEnd > (1u << 24))
      return fail("variables take more than 16 MiB");
  }
  return true;
}

std::string Program::sharedText(uint32_t address) const {
  // Between the two lies what aligns the dynamic array.
  bool isStatic = address < dynamicSharedBase;
  return hexString(address) + (isStatic ? " (static" : " (dynamic") +
         " shared + " +
         std::to_string(int64_t(address) -
                        (isStatic ? kSharedBase : dynamicSharedBase)) +
         ")";
}

bool Decoder::layout(Diagnostic &diag) {
  auto bad = [&](const std::string &message) {
    diag = {entry.line, message, module.lineText(entry.line)};
    return false;
  };
  program.scratch = 0;
  program.regBytes = 1024;
  auto owned = std::make_unique<Frame>();
  Frame &f = *owned;
  f.fn = &entry;
  frames[&entry] = std::move(owned);
  frame = &f;
  for (const RegDecl &reg : entry.regs)
    f.regs.push_back(allocate(bitWidth(reg.type)));
  uint64_t offset = 0;
  for (const ParamDecl &p : entry.params) {
    uint64_t at = place(offset, p.size, p.align);
    program.paramOffsets.push_back(uint32_t(at));
    if (!f.symbols.emplace(p.name, Symbol{Variable::ParamSpace, at, p.size})
             .second)
      return bad("parameter '" + p.name + "' is declared twice");
    if (offset > 32764)
      return bad("parameters take more than 32764 bytes");
  }
  program.paramBytes = uint32_t(offset);
  if (!layoutVariables(f, module.variables) ||
      !layoutVariables(f, entry.variables))
    return bad(error);
  // Variables of functions may add to shared memory: all that the module
  // could call is laid out before the dynamic array gets its address.
  for (const Function &fn : module.functions)
    if (!fn.isEntry && !functionFrame(fn))
      return bad(error);
  program.staticSharedEnd = uint32_t(sharedEnd);
  program.dynamicSharedBase =
      uint32_t((sharedEnd + dynamicAlign - 1) / dynamicAlign * dynamicAlign);
  for (auto &[owner, name] : dynamic)
    owner->symbols[name].value = program.dynamicSharedBase;
  for (auto &[fn, other] : frames)
    for (const Variable &v : module.variables)
      other->symbols.emplace(v.name, f.symbols[v.name]);
  return true;
}

Decoder::Frame *Decoder::functionFrame(const Function &fn) {
  auto &slot = frames[&fn];
  if (slot)
    return slot.get();
  slot = std::make_unique<Frame>();
  Frame &f = *slot;
  f.fn = &fn;
  for (const RegDecl &reg : fn.regs)
    f.regs.push_back(allocate(bitWidth(reg.type)));
  for (auto [list, addresses] :
       {std::pair(&fn.params, &f.params), std::pair(&fn.results, &f.results)})
    for (const ParamDecl &p : *list) {
      addresses->push_back(p.reg == kNone ? place(localEnd, p.size, p.align)
                                          : 0);
      if (p.reg == kNone &&
          !f.symbols
               .emplace(p.name,
                        Symbol{Variable::Local, addresses->back(), p.size})
               .second) {
        fail("parameter '" + p.name + "' is declared twice");
        return nullptr;
      }
    }
  return layoutVariables(f, fn.variables) ? &f : nullptr;
}

void Decoder::emit(const Op &o) {
  program.ops.push_back(o);
  program.source.push_back(in);
}

bool Decoder::run(Diagnostic &diag) {
  program.module = &module;
  program.fn = &entry;
  if (!layout(diag))
    return false;
  if (!decodeBody(diag))
    return false;
  program.localBytes = (localEnd + 15) / 16 * 16;
  // Falling off the end is a return.
  in = nullptr;
  op = Op();
  op.kind = OpKind::Exit;
  op.line = entry.code.empty() ? entry.line : entry.code.back().line;
  emit(op);
  numberLoadedRegisters(program);
  return true;
}

// Branch targets are indices into the function's code until all of it is
// decoded, since calls make the code longer.
bool Decoder::decodeBody(Diagnostic &diag) {
  const Function &fn = *frame->fn;
  active.push_back(&fn);
  std::vector<uint32_t> start, branches;
  for (const Instr &i : fn.code) {
    in = &i;
    start.push_back(uint32_t(program.ops.size()));
    op = Op();
    op.line = i.line;
    if (i.guard != kNone) {
      op.guard = frame->regs[i.guard];
      op.guardNegated = i.guardNegated;
    }
    bool call = mnemonic() == "call";
    if (program.ops.size() > kMaxOps)
      fail("calls expand to too many instructions");
    if (!ok() || !(call ? decodeCall(diag) : decodeOne())) {
      if (diag.message.empty())
        diag = {i.line, error, module.lineText(i.line)};
      return false;
    }
    if (call)
      continue;
    if (inFunction() && op.kind == OpKind::Exit && mnemonic() == "ret") {
      op.kind = OpKind::Branch;
      op.target = uint32_t(fn.code.size());
    }
    if (op.kind == OpKind::Branch || op.kind == OpKind::BranchIndexed)
      branches.push_back(uint32_t(program.ops.size()));
    emit(op);
  }
  start.push_back(uint32_t(program.ops.size()));
  for (uint32_t b : branches) {
    Op &branch = program.ops[b];
    if (branch.kind == OpKind::Branch)
      branch.target = start[branch.target];
    for (uint32_t i = 0;
         branch.kind == OpKind::BranchIndexed && i < branch.count; ++i) {
      uint32_t &target = program.lists[branch.list + i];
      target = start[target];
    }
  }
  active.pop_back();
  return true;
}

// call [(results),] name[, (arguments)]
bool Decoder::decodeCall(Diagnostic &diag) {
  size_t next = 0;
  std::vector<Operand> results, actuals;
  if (next < numOps() && operand(next).kind == Operand::Arguments)
    results = operand(next++).elems;
  if (next >= numOps() || operand(next).kind != Operand::Symbol)
    return fail("indirect calls are not supported; expected the name of a "
                "function");
  std::string name = operand(next++).name;
  if (next < numOps() && operand(next).kind == Operand::Arguments)
    actuals = operand(next++).elems;
  bool uniform = in->parts.size() == 2 && in->parts[1] == "uni";
  if (next != numOps() || (in->parts.size() > 1 && !uniform))
    return fail("expected 'call (results), name, (arguments)'");
  const Function *callee = nullptr;
  for (const Function &fn : module.functions)
    if (!fn.isEntry && fn.name == name)
      callee = &fn;
  if (!callee)
    return decodeBuiltin(name, results, actuals);
  if (std::find(active.begin(), active.end(), callee) != active.end())
    return fail("recursive call of '" + name + "' is not supported");
  if (active.size() > kMaxCallDepth)
    return fail("calls are nested too deeply");

  const Instr *site = in;
  Op guard = op;
  size_t skip = program.ops.size();
  if (op.guard != kNone) {
    guard.kind = OpKind::Branch;
    guard.guardNegated = !guard.guardNegated;
    emit(guard);
  }
  Frame *caller = frame, *inner = frames[callee].get();
  if (!passArguments(callee->params, inner->params, *inner, actuals, false))
    return false;
  frame = inner;
  if (!decodeBody(diag))
    return false;
  frame = caller;
  in = site;
  if (!passArguments(callee->results, inner->results, *inner, results, true))
    return false;
  if (guard.guard != kNone)
    program.ops[skip].target = uint32_t(program.ops.size());
  return true;
}

namespace {

struct CopyValue {
  template <class T> static T apply(T v) { return v; }
};

Step execCopyPred(Warp &w, const Op &op, uint32_t mask) {
  w.setPred(op.d, mask, w.pred(op.a));
  return Step::Next;
}

ExecFn copyRegister(unsigned bits) {
  switch (bits) {
  case 1:
    return execCopyPred;
  case 16:
    return unary<uint16_t, uint16_t, CopyValue>;
  case 32:
    return unary<uint32_t, uint32_t, CopyValue>;
  case 64:
    return unary<uint64_t, uint64_t, CopyValue>;
  default:
    return nullptr;
  }
}

} // namespace

// Copies arguments into the callee's parameters, or its results out of them.
bool Decoder::passArguments(const std::vector<ParamDecl> &formals,
                            const std::vector<uint64_t> &addresses,
                            Frame &callee, const std::vector<Operand> &actuals,
                            bool results) {
  const char *what = results ? "results" : "arguments";
  if (formals.size() != actuals.size())
    return fail("'" + callee.fn->name + "' has " +
                std::to_string(formals.size()) + " " + what + ", but got " +
                std::to_string(actuals.size()));
  for (size_t i = 0; i < formals.size(); ++i) {
    op = Op();
    op.line = in->line;
    if (formals[i].reg != kNone) {
      Type type = callee.fn->regs[formals[i].reg].type;
      uint32_t inner = callee.regs[formals[i].reg];
      op.d = results ? dst(actuals[i], type) : inner;
      op.a = results ? inner : src(actuals[i], type);
      touch(inner, !results);
      op.fn = copyRegister(bitWidth(type));
      if (!ok())
        return false;
      if (!op.fn)
        return fail("a register parameter of this type is not supported");
      emit(op);
      continue;
    }
    uint64_t address;
    if (actuals[i].kind != Operand::Symbol || actuals[i].value != 0)
      return fail("expected a '.param' variable as argument " +
                  std::to_string(i));
    if (!symbol(actuals[i].name, address))
      return false;
    if (symbolSpace != Variable::Local || symbolSize != formals[i].size)
      return fail("expected a '.param' variable of " +
                  std::to_string(formals[i].size) + " bytes as argument " +
                  std::to_string(i));
    op.aux = uint32_t(results ? address : addresses[i]);
    op.aux2 = uint32_t(results ? addresses[i] : address);
    op.aux3 = uint32_t(formals[i].size);
    op.fn = execCopyLocal;
    emit(op);
  }
  return true;
}

bool Decoder::decodeBuiltin(const std::string &name,
                            const std::vector<Operand> &results,
                            const std::vector<Operand> &actuals) {
  bool print = name == "vprintf";
  if (!print && name != "__assertfail")
    return fail("call of '" + name + "', which the module does not define");
  static constexpr unsigned kPrintSizes[] = {8, 8},
                            kAssertSizes[] = {8, 8, 4, 8, 8};
  size_t n = print ? 2 : 5;
  if (actuals.size() != n || results.size() != size_t(print))
    return fail("expected " + std::to_string(n) + " arguments of '" + name +
                "', but got " + std::to_string(actuals.size()));
  op.list = uint32_t(program.lists.size());
  op.count = uint32_t(n);
  for (size_t i = 0; i < n; ++i) {
    uint64_t address;
    if (actuals[i].kind != Operand::Symbol || !symbol(actuals[i].name, address))
      return fail("expected '.param' variables as arguments of '" + name + "'");
    if (symbolSpace != Variable::Local ||
        symbolSize != (print ? kPrintSizes : kAssertSizes)[i])
      return fail("argument " + std::to_string(i) + " of '" + name +
                  "' has the wrong size");
    program.lists.push_back(uint32_t(address));
  }
  if (print) {
    uint64_t address;
    if (results[0].kind != Operand::Symbol ||
        !symbol(results[0].name, address) || symbolSpace != Variable::Local ||
        symbolSize != 4)
      return fail("expected a '.param .b32' variable as result of 'vprintf'");
    op.aux = uint32_t(address);
  }
  op.fn = print ? execPrintf : execAssertFail;
  emit(op);
  return true;
}
