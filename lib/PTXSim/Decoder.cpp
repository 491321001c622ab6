// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks common to all instructions: modifiers and operands.

#include "Decoder.h"

#include <algorithm>
#include <unordered_map>

using namespace ptxsim;

Decoder::Decoder(const ModuleImpl &module, const Function &fn,
                 const std::map<std::string, uint64_t> &globals,
                 Program &program)
    : program(program), module(module), entry(fn), globals(globals) {}

bool Decoder::fail(const std::string &message) {
  if (error.empty())
    error = message;
  return false;
}

void Decoder::takeStart() {
  taken.assign(in->parts.size(), false);
  taken[0] = true;
}

bool Decoder::decodeOne() {
  takeStart();
  DecodeFn decode = findDecoder(mnemonic());
  if (!decode)
    return fail("unknown instruction '" + mnemonic() + "'");
  if (!decode(*this) || !ok())
    return fail("unsupported form of '" + mnemonic() + "'");
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i])
      return fail("unsupported modifier '." + in->parts[i] + "' of '" +
                  mnemonic() + "'");
  if (op.kind == OpKind::Plain && !op.fn)
    return fail("unsupported form of '" + mnemonic() + "'");
  return true;
}

DecodeFn ptxsim::findDecoder(const std::string &mnemonic) {
  static const std::unordered_map<std::string, DecodeFn> table = [] {
    std::unordered_map<std::string, DecodeFn> t;
    for (const DecodeEntry *e :
         {kIntegerOps, kBitOps, kFloatOps, kConvertOps, kCompareOps, kMoveOps,
          kMemoryOps, kWarpOps, kBarrierOps, kMBarrierOps, kBulkCopyOps,
          kTcgen05Ops, kAtomicOps, kMatrixLoadOps, kWgmmaOps, kMiscOps})
      for (; e->mnemonic; ++e)
        t[e->mnemonic] = e->fn;
    return t;
  }();
  auto it = table.find(mnemonic);
  return it == table.end() ? nullptr : it->second;
}

bool ptxsim::decodeProgram(const ModuleImpl &module, const Function &fn,
                           const std::map<std::string, uint64_t> &globals,
                           Program &program, Diagnostic &diag) {
  if (!Decoder(module, fn, globals, program).run(diag))
    return false;
  computeReconvergence(program);
  return true;
}

// Modifiers.

bool Decoder::take(std::string_view modifier) {
  for (size_t i = 1; i < taken.size(); ++i)
    if (!taken[i] && in->parts[i] == modifier) {
      taken[i] = true;
      return true;
    }
  return false;
}

bool Decoder::takeAny(std::initializer_list<std::string_view> modifiers) {
  bool any = false;
  for (std::string_view m : modifiers)
    any |= take(m);
  return any;
}

std::string Decoder::takePrefix(std::string_view prefix) {
  for (size_t i = 1; i < taken.size(); ++i)
    if (!taken[i] && in->parts[i].compare(0, prefix.size(), prefix) == 0) {
      taken[i] = true;
      return in->parts[i];
    }
  return "";
}

Type Decoder::takeType() {
  for (size_t i = 1; i < taken.size(); ++i) {
    if (taken[i])
      continue;
    Type t = parseType(in->parts[i]);
    if (t != Type::None) {
      taken[i] = true;
      return t;
    }
  }
  fail("expected a type in '" + mnemonic() + "'");
  return Type::B32;
}

Round Decoder::takeRounding() {
  static constexpr std::pair<const char *, Round> kRounds[] = {
      {"rn", Round::RN},   {"rz", Round::RZ},   {"rm", Round::RM},
      {"rp", Round::RP},   {"rna", Round::RNA}, {"rni", Round::RNI},
      {"rzi", Round::RZI}, {"rmi", Round::RMI}, {"rpi", Round::RPI}};
  for (auto &[name, round] : kRounds)
    if (take(name))
      return round;
  return Round::None;
}

void Decoder::takeMemoryQualifiers() {
  takeAny({"weak", "relaxed", "acquire", "release", "acq_rel", "volatile",
           "mmio", "sc",      "cta",     "cluster", "gpu",     "sys",
           "nc",   "ca",      "cg",      "cs",      "lu",      "cv",
           "wb",   "wt",      "unified"});
  while (!takePrefix("L1::").empty() || !takePrefix("L2::").empty()) {
  }
}

// Operands.

bool Decoder::expectOps(size_t min, size_t max) {
  if (numOps() >= min && numOps() <= max)
    return true;
  std::string want = std::to_string(min);
  if (max != min)
    want += " to " + std::to_string(max);
  return fail("expected " + want + " operands, but got " +
              std::to_string(numOps()));
}

uint32_t Decoder::constant(unsigned bits, uint64_t value) {
  if (bits < 64)
    value &= (uint64_t(1) << bits) - 1;
  unsigned slot = bits == 8 ? 16 : bits;
  auto [it, fresh] = constantPool.try_emplace({slot, value}, 0);
  if (fresh) {
    it->second = allocate(slot);
    program.constants.push_back({it->second, slot, value});
  }
  return it->second;
}

Type Decoder::regType(const Operand &o) const {
  return o.kind == Operand::Reg ? frame->fn->regs[o.index].type : Type::None;
}

void Decoder::touch(uint32_t reg, bool write) {
  if (op.touchCount++ == 0)
    op.touches = uint32_t(program.touches.size());
  program.touches.push_back({reg, write});
}

uint32_t Decoder::src(const Operand &o, Type type, bool allowWider) {
  uint32_t offset = value(o, type, allowWider);
  if (ok() && o.kind == Operand::Reg)
    touch(frame->regs[o.index], false);
  return offset;
}

uint32_t Decoder::value(const Operand &o, Type type, bool allowWider) {
  unsigned bits = bitWidth(type);
  switch (o.kind) {
  case Operand::Reg: {
    if (o.negated) {
      fail("a negated predicate is not allowed here");
      return 0;
    }
    unsigned width = bitWidth(frame->fn->regs[o.index].type);
    bool fits =
        allowWider && bits != 1 && width != 1 ? width >= bits : width == bits;
    if (!fits && !(bits == 8 && width >= 16))
      fail("expected a " + std::to_string(bits) + "-bit register, but got '" +
           frame->fn->regs[o.index].name + "' of " + std::to_string(width) +
           " bits");
    if (o.value == 0)
      return frame->regs[o.index];
    if (width != 32 && width != 64) {
      fail("an offset needs a register of 32 or 64 bits");
      return 0;
    }
    if (op.sumCount++ == 0)
      op.sums = program.sums.size();
    op.flags |= kSums;
    program.sums.push_back(
        {allocate(width), frame->regs[o.index], width, o.value});
    return program.sums.back().to;
  }
  case Operand::Int:
    if (isFloat(type) && type != Type::F16x2 && type != Type::BF16x2 &&
        type != Type::F16 && type != Type::BF16 && type != Type::F32x2) {
      fail("expected a floating-point operand, but got an integer");
      return 0;
    }
    if (bits == 1)
      return constant(32, o.value ? ~0u : 0u);
    return constant(bits, uint64_t(o.value));
  case Operand::Float32:
    if (bits != 32) {
      fail("a 32-bit floating-point literal does not fit type '" +
           std::string(typeName(type)) + "'");
      return 0;
    }
    return constant(32, uint64_t(o.value));
  case Operand::Float64: {
    if (bits == 64)
      return constant(64, uint64_t(o.value));
    if (bits != 32) {
      fail("a 64-bit floating-point literal does not fit type '" +
           std::string(typeName(type)) + "'");
      return 0;
    }
    double d;
    __builtin_memcpy(&d, &o.value, 8);
    float f = float(d);
    uint32_t u;
    __builtin_memcpy(&u, &f, 4);
    return constant(32, u);
  }
  case Operand::Special: {
    Type t;
    uint32_t offset = special(o.name, t);
    if (ok() && bitWidth(t) != bits && !(allowWider && bitWidth(t) > bits))
      fail("'" + o.name + "' is " + std::to_string(bitWidth(t)) +
           " bits wide, but the instruction takes " + std::to_string(bits));
    return offset;
  }
  case Operand::Symbol: {
    uint64_t value;
    if (!symbol(o.name, value))
      return 0;
    return constant(bits, value + uint64_t(o.value));
  }
  default:
    fail("expected a register or constant operand");
    return 0;
  }
}

uint32_t Decoder::dst(const Operand &o, Type type, bool allowWider) {
  if (o.kind == Operand::Sink)
    return program.scratch;
  if (o.kind != Operand::Reg) {
    fail("expected a register as destination");
    return 0;
  }
  if (o.value != 0)
    fail("a destination takes no offset");
  uint32_t offset = value(o, type, allowWider);
  if (ok())
    touch(offset, true);
  return offset;
}

uint32_t Decoder::predicate(const Operand &o, bool &negated) {
  negated = o.negated;
  Operand plain = o;
  plain.negated = false;
  return src(plain, Type::Pred);
}

uint32_t Decoder::predicate(const Operand &o) {
  return o.kind == Operand::Sink ? program.scratch : src(o, Type::Pred);
}

bool Decoder::immediate(const Operand &o, int64_t &value) {
  if (o.kind != Operand::Int)
    return fail("expected an integer constant");
  value = o.value;
  return true;
}

bool Decoder::symbol(const std::string &name, uint64_t &value) {
  auto it = frame->symbols.find(name);
  if (it == frame->symbols.end())
    return fail("unknown name '" + name.substr(0, name.find('#')) + "'");
  symbolSpace = it->second.space;
  symbolSize = it->second.size;
  value = it->second.value;
  return true;
}

bool Decoder::address(const Operand &o, uint32_t &base, int64_t &offset,
                      bool &wide) {
  if (o.kind != Operand::Address || o.elems.empty())
    return fail("expected an address in brackets");
  const Operand &b = o.elems[0];
  offset = o.value;
  if (b.kind == Operand::Reg) {
    unsigned width = bitWidth(frame->fn->regs[b.index].type);
    if (width != 32 && width != 64)
      return fail("expected an address register of 32 or 64 bits");
    wide = width == 64;
    base = frame->regs[b.index];
    touch(base, false);
    return true;
  }
  uint64_t value = uint64_t(b.value);
  if (b.kind == Operand::Symbol && !symbol(b.name, value))
    return false;
  wide = true;
  base = constant(64, value + uint64_t(offset));
  offset = 0;
  return true;
}

bool Decoder::address(const Operand &o) {
  bool wide;
  if (!address(o, op.a, op.imm, wide))
    return false;
  op.aux3 = wide;
  return true;
}

bool Decoder::list(const Operand &o, Type type, bool isDst, bool allowWider) {
  std::vector<uint32_t> offsets;
  auto one = [&](const Operand &e) {
    offsets.push_back(isDst ? dst(e, type, allowWider)
                            : src(e, type, allowWider));
  };
  if (o.kind == Operand::Vector)
    for (const Operand &e : o.elems)
      one(e);
  else
    one(o);
  op.list = program.lists.size();
  op.count = offsets.size();
  program.lists.insert(program.lists.end(), offsets.begin(), offsets.end());
  return ok();
}

bool Decoder::label(const std::string &name, uint32_t &index) const {
  auto it = frame->fn->labels.find(name);
  if (it == frame->fn->labels.end())
    return false;
  index = it->second;
  return true;
}

const std::vector<std::string> *
Decoder::branchTargets(const std::string &name) const {
  auto it = frame->fn->branchTargets.find(name);
  return it == frame->fn->branchTargets.end() ? nullptr : &it->second;
}
