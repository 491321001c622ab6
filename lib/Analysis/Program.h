// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as flat programs of events: what the proof runs instead of IR.

#ifndef FA4_LIB_ANALYSIS_PROGRAM_H
#define FA4_LIB_ANALYSIS_PROGRAM_H

#include "fa4/IR/FA4.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::fa4::protocol {

/// A value that the text does not determine.
constexpr int32_t kUnknown = INT32_MIN;
/// Registers hold small numbers (slots, stages, flags) and, from here on,
/// contents.
constexpr int32_t kFirstContent = 1 << 24;

enum class Event : uint8_t {
  Wait,
  Arrive,    ///< By threads.
  Commit,    ///< By the tensor core, when it has done what was issued before.
  Load,      ///< By TMA, when the tile has landed.
  Store,     ///< TMA reads shared memory until a StoreWait.
  StoreWait, ///< `immediate` stores may still be reading.
  Mma,
  Product,      ///< Into registers of the agent itself.
  WaitProducts, ///< `immediate` products may still be running.
  Read,         ///< Of tensor memory, until a WaitLoad.
  Write,        ///< Of tensor memory, until a WaitStore.
  Rescale,      ///< Of tensor memory, complete when the event is over.
  Put,          ///< Write to shared memory by threads.
  Get,          ///< Read of shared memory by threads.
  WaitLoad,
  WaitStore,
  Fence,
  Next,       ///< Moves a cursor.
  Use,        ///< Consumes registers that Reads filled.
  Math,       ///< Computes on fragments and rows.
  Arithmetic, ///< Computes a number from numbers.
  Copy,       ///< Assigns registers to registers, all at once.
  TaskBegin,
  TaskEnd,
  KvBegin,
  KvEnd,
};

/// What a Math event does.
enum class Math : uint8_t {
  FirstBlock,
  Mask,
  RowMax,
  Exponents,
  Exp2,
  RowSum,
  Keep, ///< The result holds what the operand does.
  Scale,
  Normalize,
  Fill,
  ScaleRows,
  StoreLse,
};

/// Part of a ring's slot that an event touches.
struct Access {
  int32_t ring;       ///< Index of the base ring.
  int32_t slot;       ///< Register that holds the slot.
  int32_t from, to;   ///< Atoms within the slot.
  int32_t begin, end; ///< Columns, as `Ring::unit` counts them.
  bool reads, writes;
  int32_t origin, width; ///< Where the tile's column 0 lies, in bytes from the
                         ///< base ring's; bytes an element.
  int32_t column, columns; ///< The same part in the tile's own columns.
};

struct Instruction {
  Event event;
  KvRange range = KvRange::All; ///< Of KvBegin and KvEnd, and of Math that lies
                                ///< in a loop over blocks.
  bool transposed = false;      ///< Of an Mma: B holds K, not V.
  int32_t site = -1;            ///< Index of the op.
  int32_t barrier = -1,
          slot = -1;       ///< Barrier, and register that holds its slot.
  int32_t arrival = -1;    ///< The role's entry among the barrier's arrivals.
  int32_t target = -1;     ///< Of loops: where the other end is.
  int32_t result = -1;     ///< Register that is set.
  int32_t value = -1;      ///< Register that is read: factor, flag, parity,
                           ///< published rows.
  int32_t second = -1;     ///< Another: a factor beside old sums, a block.
  int32_t coordinate = -1; ///< Register with the stage or block in memory.
  int32_t secondResult = -1;
  Math math = Math::Keep;
  int32_t immediate = 0;
  int32_t firstAccess = 0, endAccess = 0;
  int32_t firstPair = 0, endPair = 0; ///< Of Copy, Use, Math, Arithmetic.
};

struct Barrier {
  BarrierOp op;
  int32_t slots;
  int32_t firstSlot;           ///< In the numbering of all slots.
  SmallVector<int32_t> roles;  ///< Who arrives, by role.
  SmallVector<int32_t> counts; ///< How many arrive.
  SmallVector<Engine> engines;
  bool named, perWarp, free;
  bool async; ///< Some arrival comes from the tensor core or from TMA.
};

/// A base ring, cut into atoms: columns that every event touches together.
struct Ring {
  AllocOp op;
  int32_t slots;
  int32_t firstAtom;         ///< In the numbering of all atoms.
  SmallVector<int32_t> cuts; ///< Boundaries of atoms, the tile's ends included.
  MemorySpace space;

  int32_t getAtoms() const { return cuts.size() - 1; }
};

/// One role's program, run by each of its instances.
struct RoleProgram {
  RoleOp op;
  SmallVector<Instruction, 0> code;
  /// What registers hold at first; constants keep it.
  SmallVector<int32_t, 0> registers;
  /// The value that a register holds, by register.
  SmallVector<Value, 0> values;
  int32_t instanceRegister = -1;
  /// By place in the code: registers that may be read from there on before they
  /// are set.
  std::vector<llvm::BitVector> live;
  bool hasTasks = false, hasBlocks = false;
};

/// A clock component counts events that others may come to know of.
struct Components {
  int32_t program;           ///< Events of the agent's own threads.
  int32_t load, used, store; ///< Tensor memory: reads, reads consumed, writes.
  int32_t proxy;             ///< Accesses by threads that a proxy fence covers.
  int32_t bulk;              ///< Stores by TMA.
  int32_t mma;               ///< MMAs and commits.
};

/// An instance of a role.
struct Agent {
  int32_t role;
  int32_t instance;
  Components components;
  int32_t firstRegister, firstCursor;
};

/// A question about the order of two accesses, answered while a program runs.
struct Watch {
  /// An access of one agent, and where the loop over blocks around it ends.
  struct End {
    int32_t site = -1, agent = -1, loopEnd = -1;
  };
  End before, after;
  /// How much later in the run `after` comes than `before`.
  int32_t tasks = 0, blocks = 0;
  /// Whether both lie in loops over tasks, and over the blocks of one task.
  bool countsTasks = false, countsBlocks = false;
};

struct Program {
  KernelOp kernel;
  SmallVector<Operation *, 0> sites;
  SmallVector<Barrier, 0> barriers;
  SmallVector<Ring, 0> rings;
  SmallVector<RoleProgram, 0> roles;
  SmallVector<Agent, 0> agents;
  SmallVector<Access, 0> accesses;
  SmallVector<std::pair<int32_t, int32_t>, 0> pairs;
  SmallVector<Watch, 0> watches;
  /// Races, and whatever else does not keep a run from going on, are let pass.
  bool lenient = false;
  /// Nothing waits: arrivals are not counted, and every access that the text
  /// has is one, whatever the rows hold.
  bool loose = false;

  int32_t slots = 0;      ///< Of all barriers.
  int32_t atoms = 0;      ///< Of all rings.
  int32_t components = 0; ///< Of a clock; slot s of a barrier is component s.
  /// Of a component of a role with several warps, whose events each warp has of
  /// its own: the one that tells what every warp is known to have done; else
  /// -1.
  SmallVector<int32_t> everyWarp;
  int32_t registers = 0;
  bool hasTasks = false, hasBlocks = false, splitsMasked = false;
  /// Whether every task has to store its results: those of a kernel with MMAs.
  bool stores = false;
  /// Whether some S is multiplied by `fa4.scale`; then all of it has to be.
  bool scales = false;
  /// Why the first K/V block of a task needs a mask, if it does: what it is.
  StringRef partial;

  /// The barrier of a slot, by slot.
  SmallVector<int32_t, 0> barrierOfSlot;
  /// By slot and agent: whether the agent's text holds a wait for the slot.
  SmallVector<bool, 0> mayWait;
  /// The same of waits that have a parity.
  SmallVector<bool, 0> hasParity;
  /// The ring of an atom, by atom.
  SmallVector<int32_t, 0> ringOfAtom;

  std::string getAgentName(int32_t agent) const;
  std::string getSlotName(int32_t slot) const;
  /// The part of a ring that an access touches in a slot.
  std::string getPlace(const Access &access, int32_t slot) const;
};

/// Flattens a kernel. What cannot be modelled is refused at the op, as
/// `incomplete` where the text may still be right.
FailureOr<Program> buildProgram(KernelOp kernel);

/// Whether an op computes a number from numbers, and does nothing else.
bool isArithmetic(Operation *op);
/// What it computes, from what registers hold; kUnknown where that does not
/// follow.
int32_t evaluate(Operation *op, ArrayRef<int32_t> operands);

/// Finds the registers that are live at each place of a role.
void findLiveRegisters(Program &program, RoleProgram &role);

/// Of an op and what its regions hold, one that touches memory or need not end,
/// as the proof does not run them; null if there is none.
Operation *findUnmodelled(Operation *op);
/// Whether the text leaves open that an op's own control flow ends.
bool mayNotEnd(Operation *op);
InFlightDiagnostic emitMayNotEnd(Operation *op);

/// Checks set-up and teardown around the roles.
LogicalResult checkFrame(KernelOp kernel);

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_PROGRAM_H
