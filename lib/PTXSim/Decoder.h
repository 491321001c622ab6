// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Turns one parsed instruction into an Op. Each family of instructions has
// its decode functions next to its semantics; they use this class to take
// modifiers and operands. A modifier that no one took is an error, so that an
// unknown form is refused and never approximated.

#ifndef PTXSIM_LIB_DECODER_H
#define PTXSIM_LIB_DECODER_H

#include "Program.h"

#include <initializer_list>
#include <memory>
#include <string_view>

namespace ptxsim {

enum class Round : uint8_t { None, RN, RZ, RM, RP, RNA, RNI, RZI, RMI, RPI };

class Decoder {
public:
  Decoder(const ModuleImpl &module, const Function &fn,
          const std::map<std::string, uint64_t> &globals, Program &program);

  bool run(Diagnostic &diag);

  // The instruction at hand.
  const Instr *in = nullptr;
  Op op;
  bool isBranchTarget = false;

  const std::string &mnemonic() const { return in->parts[0]; }
  size_t numOps() const { return in->ops.size(); }
  const Operand &operand(size_t i) const { return in->ops[i]; }

  // Modifiers.
  bool take(std::string_view modifier);
  bool takeAny(std::initializer_list<std::string_view> modifiers);
  /// Takes the first untaken modifier that starts with \p prefix.
  std::string takePrefix(std::string_view prefix);
  Type takeType();
  Round takeRounding();
  /// Takes `.weak`, `.relaxed`, scopes, cache and eviction hints.
  void takeMemoryQualifiers();

  // Operands. On an error they record it and return a harmless offset.
  bool expectOps(size_t n) { return expectOps(n, n); }
  bool expectOps(size_t min, size_t max);
  uint32_t src(const Operand &o, Type type, bool allowWider = false);
  uint32_t dst(const Operand &o, Type type, bool allowWider = false);
  uint32_t predicate(const Operand &o); // no negation
  uint32_t predicate(const Operand &o, bool &negated);
  /// The value of an integer immediate operand.
  bool immediate(const Operand &o, int64_t &value);
  Type regType(const Operand &o) const;
  /// Base register (or constant) of an address, its width and offset. Sets
  /// op.a and op.imm; op.aux3 = 1 when the base is 64 bits wide.
  bool address(const Operand &o);
  /// As address(), into any fields.
  bool address(const Operand &o, uint32_t &base, int64_t &offset, bool &wide);
  /// Appends registers to Program::lists; sets op.list and op.count.
  bool list(const Operand &o, Type type, bool isDst, bool allowWider = false);
  uint32_t constant(unsigned bits, uint64_t value);
  uint32_t special(const std::string &name, Type &type);
  /// Value of a symbol in its own state space.
  bool symbol(const std::string &name, uint64_t &value);
  Variable::Space symbolSpace = Variable::Shared; // of the last symbol()
  uint64_t symbolSize = 0;
  /// True in the body of a '.func'.
  bool inFunction() const { return frame->fn != &entry; }
  const std::vector<std::string> *branchTargets(const std::string &name) const;
  bool label(const std::string &name, uint32_t &index) const;

  bool fail(const std::string &message);
  bool ok() const { return error.empty(); }
  Program &program;

private:
  const ModuleImpl &module;
  const Function &entry;
  const std::map<std::string, uint64_t> &globals;
  std::string error;
  std::vector<bool> taken;
  struct Symbol {
    Variable::Space space;
    uint64_t value;
    uint64_t size;
  };
  /// Registers and variables of a function. Without recursion a thread is in
  /// a function at most once, so that all calls of it share them.
  struct Frame {
    const Function *fn;
    std::vector<uint32_t> regs;
    std::map<std::string, Symbol> symbols;
    std::vector<uint64_t> params, results; // local addresses
  };
  Frame *frame = nullptr;
  std::map<const Function *, std::unique_ptr<Frame>> frames;
  std::vector<const Function *> active; // the chain of calls at hand
  std::map<std::pair<unsigned, uint64_t>, uint32_t> constantPool;

  uint32_t allocate(unsigned bits);
  uint32_t value(const Operand &o, Type type, bool allowWider);
  void touch(uint32_t reg, bool write);
  bool layout(Diagnostic &diag);
  bool layoutVariables(Frame &f, const std::vector<Variable> &list);
  Frame *functionFrame(const Function &callee);
  bool decodeBody(Diagnostic &diag);
  bool decodeCall(Diagnostic &diag);
  bool passArguments(const std::vector<ParamDecl> &formals,
                     const std::vector<uint64_t> &addresses, Frame &callee,
                     const std::vector<Operand> &actuals, bool results);
  bool decodeBuiltin(const std::string &name,
                     const std::vector<Operand> &results,
                     const std::vector<Operand> &actuals);
  void emit(const Op &op);
  uint64_t localEnd = 0, sharedEnd = kSharedBase, dynamicAlign = 16;
  std::vector<std::pair<Frame *, std::string>> dynamic;
  void takeStart();
  bool decodeOne();
};

using DecodeFn = bool (*)(Decoder &);

/// Decode function of a mnemonic's first part, or null.
DecodeFn findDecoder(const std::string &mnemonic);

// One table a family: pairs of mnemonic and function, ended by a null name.
struct DecodeEntry {
  const char *mnemonic;
  DecodeFn fn;
};
extern const DecodeEntry kIntegerOps[], kBitOps[], kFloatOps[], kConvertOps[],
    kCompareOps[], kMoveOps[], kMemoryOps[], kWarpOps[], kBarrierOps[],
    kMBarrierOps[], kBulkCopyOps[], kTcgen05Ops[], kAtomicOps[],
    kMatrixLoadOps[], kWgmmaOps[], kMiscOps[];

} // namespace ptxsim

#endif // PTXSIM_LIB_DECODER_H
