// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that prove the contracts of a schedule, print and derive them.

#ifndef FA4_ANALYSIS_PASSES_TD
#define FA4_ANALYSIS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyProtocol : Pass<"fa4-verify-protocol", "::mlir::fa4::KernelOp"> {
  let summary = "proves the handoffs between the roles, or refuses the schedule";
  let description = [{
    Runs the roles of a `fa4.kernel` on a model of the machine, for every number of
    tasks and of K/V blocks, and refuses the kernel at the first of these:

    * a deadlock: some role waits for a phase that never completes;
    * an arrival that may be counted in an earlier phase, or that is left over;
    * a phase that may complete before every wait for the one before has passed, so
      that a wait by parity would miss it;
    * two accesses to the same columns, one a write, that nothing orders: program
      order, completion and wait, with the `fa4.tmem_wait`, `fa4.fence`,
      `fa4.store_wait` or commit that the engines in between need;
    * a read of what nothing has written, or of what does not belong there: S of the
      other stage, V of another block, O that lacks a factor;
    * a task whose results are not all stored, once each;
    * a wait or an arrival under a condition;
    * MMAs, copies or arrivals that are outstanding when the block ends;
    * barriers or tensor memory that are not set up before the roles, or tensor
      memory that is not released behind them.

    Tensor-memory reads whose registers were all consumed, but that no
    `fa4.tmem_wait` covers, give a warning. What the proof does not model is refused as
    `incomplete`.

    The kernel may be in logical time or have parities, by
    `--fa4-materialize-phases` or by hand: a wait whose parity is not that of its
    phase is refused. The model, and why a bounded number of runs covers all, are
    in docs/protocol.md.
  }];
  let options = [
    Option<"redundancy", "redundancy", "bool", "false",
           "remark on contracts, waits and arrivals that a right kernel does without">
  ];
  let statistics = [
    Statistic<"markings", "markings", "relative markings of the roles">,
    Statistic<"events", "events", "events that were run">
  ];
}

def PrintProtocol : Pass<"fa4-print-protocol", "::mlir::ModuleOp"> {
  let summary = "prints the contracts of a schedule, and what they order";
  let description = [{
    Writes to standard output, for each `fa4.kernel`, one of

    * `table`: each barrier with its slots and phases, who arrives and who waits,
      and which accesses it orders: those of which the waiting role learns by it,
      and behind which other barriers, where the order goes through more roles;
    * `dot`: one steady iteration as a graph for Graphviz;
    * `svg`: the same as a picture, a column for each role's instance and for each
      engine that it hands work to, and an arrow for each handoff.

    What is shown is one run. `--fa4-verify-protocol` proves all of them. The
    kernel is left as it is; `-o /dev/null` keeps it off standard output.
  }];
  let options = [
    Option<"format", "format", "::mlir::fa4::ProtocolFormat",
           "::mlir::fa4::ProtocolFormat::Table", "what to print",
           [{::llvm::cl::values(
               clEnumValN(::mlir::fa4::ProtocolFormat::Table, "table", "the contracts"),
               clEnumValN(::mlir::fa4::ProtocolFormat::Dot, "dot", "one iteration, for Graphviz"),
               clEnumValN(::mlir::fa4::ProtocolFormat::SVG, "svg", "one iteration, as a picture"))}]>
  ];
}

def DeriveContracts : Pass<"fa4-derive-contracts", "::mlir::fa4::KernelOp"> {
  let summary = "derives the contracts of a schedule from its tile ops";
  let description = [{
    Takes all barriers, waits and arrivals out of a `fa4.kernel` and puts in new
    ones, which follow from the accesses of the roles to tiles and mailboxes: a wait
    directly before the first access that depends on another role, an arrival
    directly behind the last one that it depends on. Orders that others imply have
    no barrier; what is waited for at one place shares one. `fa4.tmem_wait`,
    `fa4.fence` and `fa4.store_wait` stay; what orders writes before an arrival is
    added where it is missing. Barriers that were `per_warp` are so again.

    The result is proved as `--fa4-verify-protocol` does, and refused where the proof
    fails. docs/protocol.md has the steps, and what a schedule has to keep to.
  }];
  let options = [
    Option<"perWarp", "per-warp", "bool", "false",
           "two warpgroups meet in pairs of warps, each on its own rows, as where they did before">
  ];
}

#endif // FA4_ANALYSIS_PASSES_TD
