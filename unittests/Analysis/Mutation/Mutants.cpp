// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mutants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::mutation;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string mutation::getLabel(Operation *op) {
  std::string label = op->getName().getStringRef().str();
  if (auto wait = dyn_cast<TmemWaitOp>(op))
    label += wait.getAccess() == TmemAccess::Load ? " load" : " store";
  return label;
}

std::string mutation::getRoleName(Operation *op) {
  auto role = isa<RoleOp>(op) ? RoleOp() : op->getParentOfType<RoleOp>();
  return role ? "@" + role.getSymName().str() : "-";
}

std::string mutation::getText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().skipRegions().useLocalScope());
  return StringRef(text).split('\n').first.trim().str();
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

namespace {
/// Ops that order something.
bool synchronises(Operation *op) {
  return isa<WaitOp, ArriveOp, FenceOp, TmemWaitOp, StoreWaitOp, CtaSyncOp,
             InitBarriersOp, TmemAcquireOp, TmemReleaseOp, WarpgroupWaitOp>(op);
}

/// Ops that touch a tile or rows.
bool moves(Operation *op) {
  return isa<LoadOp, StoreOp, MmaOp, ReadTileOp, WriteTileOp, RescaleOp,
             PublishOp, CollectOp, StoreLseOp, NextOp, WarpgroupMmaOp>(op);
}

class MutantFinder {
public:
  explicit MutantFinder(KernelOp kernel) : kernel(kernel), dominance(kernel) {}

  std::vector<Mutant> find() {
    kernel->walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    return std::move(found);
  }

private:
  void visit(Operation *op);
  void visitDeletion(Operation *op);
  void visitPlace(Operation *op);
  void visitSlots(Operation *op);
  void visitBarriers(Operation *op);
  void visitRoles(Operation *op);
  void visitContract(BarrierOp barrier);
  void visitStorage(Operation *op);
  void visitColumns(Operation *op);
  void visitFlags(Operation *op);
  void visitSource(Operation *op);
  void visitScale(Operation *op);
  void visitMask(MaskOp mask);
  void visitParity(WaitOp wait);
  void visitCarried(Operation *loop);

  void add(StringRef kind, Operation *op, const Twine &detail,
           std::function<void(Operation *, IRMapping &)> apply,
           Operation *other = nullptr) {
    found.push_back({kind.str(), op, other, detail.str(),
                     [op, apply = std::move(apply)](IRMapping &mapping) {
                       apply(mapping.lookup(op), mapping);
                     }});
  }
  void addAttribute(StringRef kind, Operation *op, StringRef name,
                    int64_t value, int64_t was) {
    add(kind, op, name + " " + Twine(value) + " for " + Twine(was),
        [name = name.str(), value](Operation *op, IRMapping &) {
          op->setAttr(name, Builder(op).getI64IntegerAttr(value));
        });
  }
  /// The operand becomes a constant, or another value that is there already.
  void addConstant(StringRef kind, Operation *op, unsigned operand,
                   int64_t value);
  void addValue(StringRef kind, Operation *op, unsigned operand, Value value,
                const Twine &detail);
  bool dominates(Operation *op, Operation *at) const {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return dominance.dominates(operand, at);
    });
  }
  SmallVector<unsigned> getSlotOperands(Operation *op) const;

  KernelOp kernel;
  mutable DominanceInfo dominance;
  std::vector<Mutant> found;
};
} // namespace

void MutantFinder::addConstant(StringRef kind, Operation *op, unsigned operand,
                               int64_t value) {
  add(kind, op, "operand " + Twine(operand) + " is " + Twine(value),
      [operand, value](Operation *op, IRMapping &) {
        OpBuilder builder(op);
        Type type = op->getOperand(operand).getType();
        Value constant = arith::ConstantOp::create(
            builder, op->getLoc(), builder.getIntegerAttr(type, value));
        op->setOperand(operand, constant);
      });
}

void MutantFinder::addValue(StringRef kind, Operation *op, unsigned operand,
                            Value value, const Twine &detail) {
  add(kind, op, detail, [operand, value](Operation *op, IRMapping &mapping) {
    op->setOperand(operand, mapping.lookup(value));
  });
}

void MutantFinder::visit(Operation *op) {
  if (synchronises(op) || moves(op)) {
    visitDeletion(op);
    visitPlace(op);
    visitSlots(op);
    visitBarriers(op);
    visitColumns(op);
    visitSource(op);
  }
  if (isa<WaitOp, ArriveOp, FenceOp, TmemWaitOp, StoreWaitOp>(op))
    visitRoles(op);
  if (auto barrier = dyn_cast<BarrierOp>(op))
    visitContract(barrier);
  if (isa<AllocOp, AliasOp>(op))
    visitStorage(op);
  visitFlags(op);
  visitScale(op);
  if (auto mask = dyn_cast<MaskOp>(op))
    visitMask(mask);
  if (auto wait = dyn_cast<WaitOp>(op))
    visitParity(wait);
  if (isa<ForTaskOp, ForKvOp>(op))
    visitCarried(op);
}

void MutantFinder::visitDeletion(Operation *op) {
  bool used = llvm::any_of(op->getResults(),
                           [](Value value) { return !value.use_empty(); });
  if (!used) {
    add("delete", op, "", [](Operation *op, IRMapping &) { op->erase(); });
  } else if (isa<NextOp>(op)) {
    // The cursor stays where it is.
    Operation *before = op->getPrevNode();
    while (before &&
           (!isa<NextOp>(before) || before->getOperands() != op->getOperands()))
      before = before->getPrevNode();
    if (before)
      add("delete", op, "", [before](Operation *op, IRMapping &mapping) {
        op->replaceAllUsesWith(mapping.lookup(before));
        op->erase();
      });
  }
  add("duplicate", op, "",
      [](Operation *op, IRMapping &) { OpBuilder(op).insert(op->clone()); });
}

/// The op behind, or in front of, it that is not pure.
static Operation *getNeighbour(Operation *op, bool behind) {
  do
    op = behind ? op->getNextNode() : op->getPrevNode();
  while (op && isPure(op));
  return op && op->hasTrait<OpTrait::IsTerminator>() ? nullptr : op;
}

void MutantFinder::visitPlace(Operation *op) {
  Operation *behind = getNeighbour(op, true), *front = getNeighbour(op, false);
  auto usedBefore = [&](Operation *end) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *at = op->getBlock()->findAncestorOpInBlock(*user);
      return at && (at == end || at->isBeforeInBlock(end));
    });
  };
  if (behind && !usedBefore(behind))
    add(
        "swap", op, "with " + getLabel(behind),
        [behind](Operation *op, IRMapping &mapping) {
          op->moveAfter(mapping.lookup(behind));
        },
        behind);
  // Where the op in front is one of ours, it has that swap.
  if (front && !synchronises(front) && !moves(front) && dominates(op, front))
    add(
        "swap", op, "with " + getLabel(front) + " before",
        [front](Operation *op, IRMapping &mapping) {
          op->moveBefore(mapping.lookup(front));
        },
        front);
  Operation *loop = op->getParentOp();
  if (!isa<ForKvOp, ForTaskOp>(loop))
    return;
  bool usedInside = !op->use_empty();
  if (!front && dominates(op, loop))
    add("hoist", op, "",
        [](Operation *op, IRMapping &) { op->moveBefore(op->getParentOp()); });
  if (!behind && !usedInside && dominates(op, loop))
    add("sink", op, "",
        [](Operation *op, IRMapping &) { op->moveAfter(op->getParentOp()); });
}

/// Operands that are slots of rings or barriers, and stages in memory.
SmallVector<unsigned> MutantFinder::getSlotOperands(Operation *op) const {
  SmallVector<unsigned> slots;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    if (!operand.getType().isIndex())
      continue;
    Value before = index > 0 ? op->getOperand(index - 1) : Value();
    bool slot = before && isa<RingType, BarrierType>(before.getType());
    bool stage = isa<LoadOp, StoreOp, StoreLseOp>(op) &&
                 (matchPattern(operand, m_Constant()) ||
                  operand == op->getParentOfType<RoleOp>().getInstance());
    if (slot || stage)
      slots.push_back(index);
  }
  return slots;
}

void MutantFinder::visitSlots(Operation *op) {
  for (unsigned index : getSlotOperands(op)) {
    Value slot = op->getOperand(index);
    APInt constant;
    if (matchPattern(slot, m_ConstantInt(&constant))) {
      addConstant("slot", op, index, constant.isZero() ? 1 : 0);
      continue;
    }
    addConstant("slot", op, index, 0);
    addConstant("slot", op, index, 1);
    if (!slot.getDefiningOp<NextOp>())
      continue;
    // Where the cursor was a step earlier, or is a step later.
    for (Operation &other : *slot.getDefiningOp()->getBlock()) {
      auto next = dyn_cast<NextOp>(other);
      if (next && next.getSlot() != slot && dominance.dominates(&other, op))
        addValue("slot", op, index, next.getSlot(),
                 "operand " + Twine(index) + " is another step's");
    }
  }
}

void MutantFinder::visitBarriers(Operation *op) {
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto barrier = operand.getDefiningOp<BarrierOp>();
    if (!barrier)
      continue;
    for (auto other : kernel.getBody().getOps<BarrierOp>())
      if (other != barrier && other.getSlots() == barrier.getSlots())
        addValue("barrier", op, index, other.getBarrier(),
                 "\"" + other.getName() + "\"");
  }
}

/// Puts `op` at the head of the tasks of another role.
static void giveTo(Operation *op, RoleOp role) {
  Block *block = &role.getBody().front();
  for (auto loop : role.getBody().getOps<ForTaskOp>())
    block = &loop.getBody().front();
  if (op->getNumOperands() == 0)
    return op->moveBefore(block, block->begin());
  OpBuilder builder(role.getContext());
  builder.setInsertionPointToStart(block);
  unsigned slot = op->getNumOperands() - 1;
  APInt constant;
  int64_t value = matchPattern(op->getOperand(slot), m_ConstantInt(&constant))
                      ? constant.getSExtValue()
                      : 0;
  Value index =
      arith::ConstantIndexOp::create(builder, op->getLoc(), value).getResult();
  op->setOperand(slot, index);
  op->moveAfter(index.getDefiningOp());
}

void MutantFinder::visitRoles(Operation *op) {
  auto own = op->getParentOfType<RoleOp>();
  for (auto role : kernel.getBody().getOps<RoleOp>())
    if (role != own)
      add("role", op, "@" + role.getSymName(),
          [role](Operation *op, IRMapping &mapping) {
            giveTo(op,
                   cast<RoleOp>(mapping.lookup(RoleOp(role).getOperation())));
          });
}

void MutantFinder::visitContract(BarrierOp barrier) {
  auto set = [&](StringRef kind, const Twine &detail, unsigned index,
                 ArrivalAttr arrival) {
    add(kind, barrier, detail, [index, arrival](Operation *op, IRMapping &) {
      auto barrier = cast<BarrierOp>(op);
      auto arrivals = llvm::to_vector(barrier.getArrivals().getValue());
      arrivals[index] = arrival;
      barrier.setArrivalsAttr(ArrayAttr::get(op->getContext(), arrivals));
    });
  };
  auto arrivals =
      llvm::to_vector(barrier.getArrivals().getAsRange<ArrivalAttr>());
  for (auto [index, arrival] : llvm::enumerate(arrivals)) {
    for (int64_t change : {-1, 1})
      set("count", "arrivals " + Twine(arrival.getCount() + change), index,
          ArrivalAttr::get(arrival.getContext(), arrival.getRole(),
                           arrival.getEngine(), arrival.getCount() + change));
    for (auto role : kernel.getBody().getOps<RoleOp>())
      if (role.getSymName() != arrival.getRole().getValue())
        set("role", "arrivals of @" + role.getSymName(), index,
            ArrivalAttr::get(arrival.getContext(),
                             FlatSymbolRefAttr::get(role.getSymNameAttr()),
                             arrival.getEngine(), arrival.getCount()));
  }
  for (int64_t change : {-1, 1})
    addAttribute("count", barrier, "slots", barrier.getSlots() + change,
                 barrier.getSlots());
  auto flip = [&](StringRef name) {
    add("flag", barrier, name, [name](Operation *op, IRMapping &) {
      if (op->hasAttr(name))
        op->removeAttr(name);
      else
        op->setAttr(name, UnitAttr::get(op->getContext()));
    });
  };
  flip("initially_free");
  flip("named");
  if (barrier.getNamed())
    flip("per_warp");
}

void MutantFinder::visitStorage(Operation *op) {
  Value ring = op->getResult(0);
  auto type = cast<RingType>(ring.getType());
  if (auto alias = dyn_cast<AliasOp>(op)) {
    for (int64_t change : {-64, -32, -16, -1, 1, 16, 32, 64})
      if (int64_t(alias.getColumn()) + change >= 0)
        addAttribute("geometry", op, "column", alias.getColumn() + change,
                     alias.getColumn());
    for (auto other : kernel.getBody().getOps<AllocOp>())
      if (other.getRing() != alias.getBase() &&
          other.getRing().getType() == alias.getBase().getType() &&
          dominance.dominates(other.getRing(), op))
        addValue("geometry", op, 0, other.getRing(), "over another ring");
    return;
  }
  // The ring and what lies over it have a slot more or less.
  for (int64_t change : {-1, 1})
    if (type.getSlots() + change > 0)
      add("count", op, "slots " + Twine(type.getSlots() + change),
          [change](Operation *op, IRMapping &) {
            SmallVector<Value> rings{op->getResult(0)};
            for (Operation *user : op->getUsers())
              if (isa<AliasOp>(user))
                rings.push_back(user->getResult(0));
            for (Value ring : rings) {
              auto type = cast<RingType>(ring.getType());
              ring.setType(RingType::get(
                  type.getContext(), type.getSlots() + change, type.getShape(),
                  type.getElementType(), type.getSpace()));
            }
          });
}

void MutantFinder::visitColumns(Operation *op) {
  auto shift = [&](StringRef name, int64_t value, int64_t by) {
    for (int64_t change : {-by, by})
      if (value + change >= 0)
        addAttribute("columns", op, name, value + change, value);
  };
  if (auto read = dyn_cast<ReadTileOp>(op)) {
    shift("column", read.getColumn(),
          read.getFragment().getType().getColumns());
  } else if (auto write = dyn_cast<WriteTileOp>(op)) {
    shift("column", write.getColumn(),
          write.getFragment().getType().getColumns());
  } else if (auto mma = dyn_cast<MmaOp>(op); mma && mma.getKBegin()) {
    shift("k_begin", *mma.getKBegin(), 16);
    shift("k_end", *mma.getKEnd(), 16);
  } else if (auto wait = dyn_cast<WarpgroupWaitOp>(op)) {
    for (int64_t change : {-1, 1})
      if (int64_t(wait.getPending()) + change >= 0)
        addAttribute("count", op, "pending", wait.getPending() + change,
                     wait.getPending());
  } else if (auto wait = dyn_cast<StoreWaitOp>(op)) {
    for (int64_t change : {-1, 1})
      if (int64_t(wait.getPending()) + change >= 0)
        addAttribute("count", op, "pending", wait.getPending() + change,
                     wait.getPending());
  }
}

void MutantFinder::visitFlags(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op)) {
    if (mma.getAccumulate()) {
      unsigned index = mma.getAccumulateMutable().begin()->getOperandNumber();
      bool isTrue = matchPattern(mma.getAccumulate(), m_One());
      addConstant("flag", op, index, 0);
      if (!isTrue)
        addConstant("flag", op, index, 1);
    }
  } else if (isa<InitBarriersOp, TmemAcquireOp, TmemReleaseOp>(op)) {
    int64_t warp = op->getAttrOfType<IntegerAttr>("warp").getInt();
    addAttribute("flag", op, "warp", warp == 0 ? 5 : 0, warp);
  } else if (isa<WarpgroupMmaOp>(op)) {
    add("flag", op, "transpose_b", [](Operation *op, IRMapping &) {
      auto product = cast<WarpgroupMmaOp>(op);
      product.setTransposeB(!product.getTransposeB());
    });
  }
}

/// The mask is gone, one op takes what it was given, or it is another's.
void MutantFinder::visitMask(MaskOp mask) {
  add("delete", mask, "", [](Operation *op, IRMapping &) {
    op->replaceAllUsesWith(ValueRange(op->getOperand(0)));
    op->erase();
  });
  for (OpOperand &use : mask.getResult().getUses())
    addValue("unmasked", use.getOwner(), use.getOperandNumber(),
             mask.getInput(),
             "operand " + Twine(use.getOperandNumber()) + " is not masked");
  for (BlockArgument other :
       mask->getParentOfType<ForTaskOp>().getBody().getArguments().take_front(
           2))
    addValue("slot", mask, 1, other, "of another M block");
  addConstant("slot", mask, 2, matchPattern(mask.getStage(), m_One()) ? 0 : 1);
  addAttribute("columns", mask, "column", mask.getColumn() == 0 ? 32 : 0,
               mask.getColumn());
}

void MutantFinder::visitSource(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load || load.getSource() == kernel.getQ())
    return;
  Value other =
      load.getSource() == kernel.getK() ? kernel.getV() : kernel.getK();
  addValue("source", op, 0, other, "the other tensor");
  // The first block instead of the one at hand.
  for (auto first : op->getParentOfType<RoleOp>().getOps<ForTaskOp>())
    for (auto block : first.getOps<FirstKvOp>())
      if (load.getCoordinates().back() != block.getKvBlock() &&
          dominance.dominates(block.getOperation(), op))
        addValue("source", op,
                 load.getCoordinatesMutable().begin()[2].getOperandNumber(),
                 block.getKvBlock(), "the first block");
}

void MutantFinder::visitScale(Operation *op) {
  if (!isa<RowMaxOp, ExponentsOp, Exp2Op, ScaleOp>(op))
    return;
  StringRef name = isa<ScaleOp>(op) ? "factor" : "scale";
  // What fa4.exponents scaled is not scaled again.
  auto attribute = op->getAttrOfType<FloatAttr>(name);
  if (!attribute)
    return;
  double value = attribute.getValueAsDouble();
  add("scale", op, "twice as much, and a bit",
      [name, value](Operation *op, IRMapping &) {
        op->setAttr(name, Builder(op).getF32FloatAttr(2 * value + 1));
      });
}

/// The value with its last bit the other way round.
static Value flip(OpBuilder &builder, Value value) {
  Location loc = value.getLoc();
  Value one = arith::ConstantIntOp::create(builder, loc, value.getType(), 1);
  return arith::XOrIOp::create(builder, loc, value, one);
}

void MutantFinder::visitParity(WaitOp wait) {
  if (wait.getParity())
    add("parity", wait, "the other", [](Operation *op, IRMapping &) {
      OpBuilder builder(op);
      auto parity = cast<WaitOp>(op).getParityMutable();
      parity.assign(flip(builder, cast<WaitOp>(op).getParity()));
    });
}

void MutantFinder::visitCarried(Operation *loop) {
  Block &body = loop->getRegion(0).front();
  unsigned carried = loop->getNumResults();
  for (unsigned i = 0; i < carried; ++i) {
    if (!loop->getResult(i).getType().isInteger(32))
      continue;
    unsigned operand = loop->getNumOperands() - carried + i;
    add("parity", loop, "of the first turn, value " + Twine(i),
        [operand](Operation *op, IRMapping &) {
          OpBuilder builder(op);
          op->setOperand(operand, flip(builder, op->getOperand(operand)));
        });
    unsigned argument = body.getNumArguments() - carried + i;
    if (body.getTerminator()->getOperand(i) != body.getArgument(argument))
      add("parity", loop, "of the turns behind, value " + Twine(i),
          [i, argument](Operation *op, IRMapping &) {
            Block &body = op->getRegion(0).front();
            body.getTerminator()->setOperand(i, body.getArgument(argument));
          });
  }
}

std::vector<Mutant> mutation::findMutants(KernelOp kernel) {
  return MutantFinder(kernel).find();
}
