// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a kernel's IR to flat programs.

#include "Needed.h"
#include "ProgramBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// Each slot has two clocks and a place in every clock, so that the time grows
/// with the square.
static constexpr int64_t kMostSlots = 1024;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string Program::getAgentName(int32_t agent) const {
  const RoleProgram &role = roles[agents[agent].role];
  std::string name = ("@" + RoleOp(role.op).getSymName()).str();
  if (RoleOp(role.op).getInstances() > 1)
    name += " (instance " + std::to_string(agents[agent].instance) + ")";
  return name;
}

std::string Program::getSlotName(int32_t slot) const {
  const Barrier &barrier = barriers[barrierOfSlot[slot]];
  return ("barrier \"" + BarrierOp(barrier.op).getName() + "\"[" +
          Twine(slot - barrier.firstSlot) + "]")
      .str();
}

std::string Program::getPlace(const Access &access, int32_t slot) const {
  const Ring &ring = rings[access.ring];
  std::string place =
      ("\"" + AllocOp(ring.op).getName() + "\"[" + Twine(slot) + "]").str();
  if (access.begin == 0 && access.end == ring.cuts.back())
    return place;
  return "columns " + std::to_string(access.begin) + " to " +
         std::to_string(access.end) + " of " + place;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Extent of a tile in the unit that cuts count: 32-bit columns of tensor
/// memory, elements of a row in shared memory, and one for a mailbox.
static int32_t getExtent(RingType ring) {
  if (ring.getSpace() == MemorySpace::TMEM)
    return ring.getTileTmemColumns();
  return ring.getShape().size() == 1 ? 1 : ring.getColumns();
}

LogicalResult ProgramBuilder::addRings() {
  for (auto alloc : kernel.getBody().getOps<AllocOp>()) {
    RingType type = alloc.getRing().getType();
    ringOf[alloc.getRing()] = program.rings.size();
    program.rings.push_back({alloc,
                             static_cast<int32_t>(type.getSlots()),
                             0,
                             {0, getExtent(type)},
                             type.getSpace()});
  }
  return success();
}

void ProgramBuilder::addAccess(Value ring, Value slot, int64_t begin,
                               int64_t end, bool reads, bool writes) {
  auto type = cast<RingType>(ring.getType());
  bool tmem = type.getSpace() == MemorySpace::TMEM;
  int32_t column = begin, columns = end - begin, origin = 0;
  if (tmem) {
    begin = begin * type.getElementBytes() / 4;
    end = llvm::divideCeil(end * type.getElementBytes(), 4);
  }
  while (auto alias = ring.getDefiningOp<AliasOp>()) {
    begin += alias.getColumn();
    end += alias.getColumn();
    origin += 4 * alias.getColumn();
    ring = alias.getBase();
  }
  auto known = ringOf.find(ring);
  if (known == ringOf.end()) {
    complete = false;
    current->emitOpError(
        "incomplete: expected a ring that 'fa4.alloc' or 'fa4.alias' of the "
        "kernel makes");
    return;
  }
  Ring &base = program.rings[known->second];
  base.cuts.push_back(begin);
  base.cuts.push_back(end);
  program.accesses.push_back(
      {known->second, getRegister(slot), 0, 0, static_cast<int32_t>(begin),
       static_cast<int32_t>(end), reads, writes, origin,
       static_cast<int32_t>(type.getElementBytes()), column, columns});
}

void ProgramBuilder::addWholeTile(Value ring, Value slot, bool reads,
                                  bool writes) {
  auto type = cast<RingType>(ring.getType());
  int64_t end = type.getShape().size() == 1 ? 1 : type.getColumns();
  addAccess(ring, slot, 0, end, reads, writes);
}

void ProgramBuilder::cutRings() {
  for (auto [index, ring] : llvm::enumerate(program.rings)) {
    llvm::sort(ring.cuts);
    ring.cuts.erase(llvm::unique(ring.cuts), ring.cuts.end());
    ring.firstAtom = program.atoms;
    program.atoms += ring.slots * ring.getAtoms();
    program.ringOfAtom.append(ring.slots * ring.getAtoms(), index);
  }
  for (Access &access : program.accesses) {
    const Ring &ring = program.rings[access.ring];
    access.from =
        llvm::lower_bound(ring.cuts, access.begin) - ring.cuts.begin();
    access.to = llvm::lower_bound(ring.cuts, access.end) - ring.cuts.begin();
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult ProgramBuilder::addBarriers() {
  for (auto op : kernel.getBody().getOps<BarrierOp>()) {
    // Slots of a barrier that nobody names cost nothing.
    int64_t slots = op.getBarrier().use_empty() ? 0 : op.getSlots();
    if (slots > kMostSlots - program.slots)
      return op.emitOpError()
             << "incomplete: expected at most " << kMostSlots
             << " slots on all barriers that roles name, but got "
             << slots + program.slots << " up to this one";
    Barrier barrier{op,
                    static_cast<int32_t>(slots),
                    program.slots,
                    {},
                    {},
                    {},
                    op.getNamed(),
                    op.getPerWarp(),
                    op.getInitiallyFree(),
                    false};
    for (auto arrival : op.getArrivals().getAsRange<ArrivalAttr>()) {
      barrier.roles.push_back(roleOf.lookup(arrival.getRole().getAttr()));
      barrier.counts.push_back(arrival.getCount());
      barrier.engines.push_back(arrival.getEngine());
      barrier.async |= arrival.getEngine() != Engine::Threads;
      RoleOp role = program.roles[barrier.roles.back()].op;
      if (op.getPerWarp() && role.getThreads() != 128) {
        InFlightDiagnostic diag =
            op.emitOpError()
            << "expected whole warpgroups on a barrier of warp pairs, but "
            << arrival.getRole() << " has " << role.getThreads() << " threads";
        diag.attachNote(role.getLoc()) << "the role is here";
        return diag;
      }
    }
    barrierOf[op.getBarrier()] = program.barriers.size();
    program.slots += barrier.slots;
    program.barrierOfSlot.append(barrier.slots, program.barriers.size());
    program.barriers.push_back(std::move(barrier));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

bool ProgramBuilder::isTracked(Value value) {
  return isa<IndexType, IntegerType, RowsType, FragmentType, PendingType>(
      value.getType());
}

int32_t ProgramBuilder::getRegister(Value value) {
  auto [it, isNew] = registerOf.try_emplace(value, role->registers.size());
  if (!isNew)
    return it->second;
  role->values.push_back(value);
  APInt constant;
  bool known = isa<IndexType, IntegerType>(value.getType()) &&
               matchPattern(value, m_ConstantInt(&constant)) &&
               constant.getSignificantBits() < 32 &&
               constant.getSExtValue() < kFirstContent;
  if (known && constant.getBitWidth() == 1)
    role->registers.push_back(constant.isZero() ? 0 : 1);
  else
    role->registers.push_back(known ? constant.getSExtValue() : kUnknown);
  return it->second;
}

void ProgramBuilder::addCopy(ValueRange from, ValueRange to) {
  Instruction copy{Event::Copy};
  copy.firstPair = program.pairs.size();
  for (auto [source, target] : llvm::zip(from, to))
    if (isTracked(source))
      program.pairs.push_back({getRegister(source), getRegister(target)});
  copy.endPair = program.pairs.size();
  if (copy.firstPair != copy.endPair)
    role->code.push_back(copy);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Each clock holds a component for every slot, and those that the agent's
/// program can move.
void ProgramBuilder::addAgents() {
  program.components = program.slots;
  int32_t cursors = 0;
  for (auto [index, role] : llvm::enumerate(program.roles)) {
    auto uses = [&](std::initializer_list<Event> events) {
      return llvm::any_of(role.code, [&](const Instruction &instruction) {
        return llvm::is_contained(events, instruction.event);
      });
    };
    auto component = [&](bool used) {
      return used ? program.components++ : -1;
    };
    for (int32_t instance = 0; instance < role.op.getInstances(); ++instance) {
      Components own;
      own.program = component(true);
      own.load = component(uses({Event::Read}));
      own.used = component(uses({Event::Read}));
      own.store = component(uses({Event::Write}));
      own.proxy = component(uses({Event::Put, Event::Get}));
      own.bulk = component(uses({Event::Store}));
      own.mma = component(uses({Event::Mma, Event::Commit, Event::Product}));
      program.everyWarp.resize(program.components, -1);
      if (role.op.getThreads() > 32)
        for (int32_t each : {own.program, own.proxy, own.mma})
          if (each >= 0)
            program.everyWarp[each] = program.components++;
      program.everyWarp.resize(program.components, -1);
      program.agents.push_back({static_cast<int32_t>(index), instance, own,
                                program.registers, cursors});
      program.registers += role.registers.size();
      cursors += program.rings.size();
    }
    program.hasTasks |= role.hasTasks;
  }
}

/// Registers that hold a known value at first keep it.
void ProgramBuilder::findWaits() {
  int32_t numAgents = program.agents.size();
  program.mayWait.assign(program.slots * numAgents, false);
  program.hasParity.assign(program.slots * numAgents, false);
  for (int32_t index = 0; index < numAgents; ++index) {
    const Agent &agent = program.agents[index];
    const RoleProgram &role = program.roles[agent.role];
    for (const Instruction &instruction : role.code) {
      if (instruction.event != Event::Wait)
        continue;
      const Barrier &barrier = program.barriers[instruction.barrier];
      int32_t known = instruction.slot == role.instanceRegister
                          ? agent.instance
                          : role.registers[instruction.slot];
      for (int32_t slot = 0; slot < barrier.slots; ++slot) {
        if (known != kUnknown && known != slot)
          continue;
        int32_t place = (barrier.firstSlot + slot) * numAgents + index;
        program.mayWait[place] = true;
        program.hasParity[place] |= instruction.value >= 0;
      }
    }
  }
}

/// What a kernel is whose tasks may first visit a block of which some row sees
/// a part only: it is the last that the task sees.
static StringRef findPartial(KernelOp kernel) {
  int64_t keys = ShapedType::kDynamic;
  for (Value tensor : {kernel.getK(), kernel.getV()})
    if (int64_t extent = cast<MemRefType>(tensor.getType()).getDimSize(1);
        ShapedType::isStatic(extent))
      keys = extent;
  if (kernel.getCausal())
    return "with a causal mask";
  if (ShapedType::isDynamic(keys))
    return "with a dynamic number of keys";
  if (keys == 0)
    return "without keys";
  return keys % kernel.getTileKeys() != 0
             ? "whose keys are no multiple of the block's"
             : "";
}

FailureOr<Program> ProgramBuilder::build() {
  program.kernel = kernel;
  program.partial = findPartial(kernel);
  for (auto op : kernel.getBody().getOps<RoleOp>()) {
    roleOf[op.getSymNameAttr()] = program.roles.size();
    RoleProgram &next = program.roles.emplace_back();
    next.op = op;
  }
  for (int64_t extent : {kernel.getTileKeys(), kernel.getHeadDim()})
    if (extent % 16 != 0 || extent > 512)
      return kernel.emitOpError()
             << "incomplete: expected tiles of up to 512 keys and columns, "
                "in multiples of 16, but got "
             << extent;
  if (failed(addRings()) || failed(addBarriers()))
    return failure();
  for (RoleProgram &next : program.roles) {
    role = &next;
    registerOf.clear();
    readOf.clear();
    needed = findNeeded(role->op);
    if (role->op.hasInstance())
      role->instanceRegister = getRegister(role->op.getInstance());
    if (failed(addBlock(role->op.getBody().front())))
      return failure();
  }
  if (!complete)
    return failure();
  cutRings();
  for (RoleProgram &next : program.roles)
    findLiveRegisters(program, next);
  addAgents();
  findWaits();
  return std::move(program);
}

FailureOr<Program> protocol::buildProgram(KernelOp kernel) {
  return ProgramBuilder(kernel).build();
}
