// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why markings do not repeat, as far as that can be told: something of a block
// is still held when any number of others have come.

#include "Explore.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

void protocol::noteOldest(InFlightDiagnostic &diag, const Program &program,
                          const Machine &machine) {
  const State &state = machine.state;
  // What is held for less long may be on its way through a ring.
  int32_t most = 16;
  for (const Ring &ring : program.rings)
    most = std::max(most, ring.slots);
  std::optional<Location> where;
  std::string what;
  auto look = [&](int32_t number, Location location, const Twine &holder) {
    const Content *content = machine.getContents().lookup(number);
    if (!content || content->block == 0)
      return;
    int32_t later = machine.getBlocks(content->task).first - content->block;
    if (later <= most)
      return;
    most = later;
    where = location;
    what = (holder + " still holds " + describe(*content) + " when " +
            Twine(later) + " more K/V blocks of the task have come")
               .str();
  };
  for (auto [index, agent] : llvm::enumerate(program.agents)) {
    const RoleProgram &role = program.roles[agent.role];
    const llvm::BitVector &live = role.live[state.agents[index].pc];
    for (int32_t i = 0, end = role.registers.size(); i < end; ++i)
      if (live.test(i))
        look(state.registers[agent.firstRegister + i], role.values[i].getLoc(),
             "a value that " + program.getAgentName(index) + " may yet read");
  }
  for (auto [index, atom] : llvm::enumerate(state.atoms)) {
    AllocOp alloc = program.rings[program.ringOfAtom[index]].op;
    if (atom.written)
      look(atom.content, alloc.getLoc(), "ring \"" + alloc.getName() + "\"");
  }
  if (where)
    diag.attachNote(*where) << what;
}
