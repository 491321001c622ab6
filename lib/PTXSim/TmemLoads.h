// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcgen05.ld that no 'tcgen05.wait::ld' has followed. A load has read its
// columns once the wait is over, and also once every register that it fills
// has been read by all live lanes of its warp: the machine holds a reader back
// until the register is there. PTX honours that dependence, but promises that
// the columns may be overwritten behind the wait alone.

#ifndef PTXSIM_LIB_TMEMLOADS_H
#define PTXSIM_LIB_TMEMLOADS_H

#include "Program.h"
#include "Tmem.h"

#include <deque>

namespace ptxsim {

/// Those of one warp.
class TmemLoads {
public:
  /// With \p strict the wait alone counts.
  TmemLoads(Warp &warp, bool strict);

  /// A load begins that reads \p uses.
  void begin(const Op &op, const Tmem::Use *uses, unsigned count);
  /// An instruction with kLoaded is about to run.
  void touch(const Op &op, uint32_t mask);
  /// tcgen05.wait::ld.
  void wait();

private:
  struct Load {
    Tmem::Use use[2];
    unsigned uses = 0;
    uint32_t clock = 0;  // of the race detector
    unsigned unread = 0; // registers
  };
  struct Register {
    uint64_t load = 0;  // that fills it
    uint32_t lanes = 0; // that have yet to read it
  };

  Warp &warp;
  bool strict;
  std::deque<Load> loads; // in order of issue
  uint64_t first = 1;     // number of the first of them
  std::vector<Register> registers;

  void finish(Load &load);
};

/// Keeps of Program::touches those of registers that tcgen05.ld fills, reads
/// before writes, and numbers these registers.
void numberLoadedRegisters(Program &program);

} // namespace ptxsim

#endif // PTXSIM_LIB_TMEMLOADS_H
