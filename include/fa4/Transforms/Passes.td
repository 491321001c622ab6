// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes on the schedule level: fa4 to fa4.

#ifndef FA4_TRANSFORMS_PASSES_TD
#define FA4_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleAttention : Pass<"fa4-schedule-attention", "::mlir::ModuleOp"> {
  let summary = "builds the schedule of each attention: roles, rings, contracts";
  let description = [{
    Outlines each `fa4.attention` on memrefs into a `fa4.kernel` before its
    function and leaves a `fa4.launch` in its place. Attentions of equal types and
    attributes in one module share a kernel. An attention whose result is empty
    (a batch, query length or query head count of 0) is erased.

    The schedule has two query tiles in flight. Each softmax warpgroup turns its
    S into P, the correction warpgroup rescales O, and one warp each issues MMAs,
    loads and stores. Contracts are derived from what the roles do to tiles, as by
    `--fa4-derive-contracts`, and proved. Options left alone give the reference
    schedule; a choice that does not fit the target is an error at the attention that
    names the budget and the excess.

    The target is `#fa4.target` for `chip`, unless a module around the attention
    carries one as `fa4.target`.

    The first K/V block is masked where it may be partial. The polynomial takes
    columns 32 to 96 of an unmasked block that is not the first, and columns 0 to
    96 under a causal mask: each fragment, but for the last, that overlaps them.

    A scale whose product with log2(e) is zero or subnormal is applied to the
    logits before the mask; a negative one negates Q in the first product.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::fa4::FA4Dialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"",
           "chip to schedule for, where no module names a target">,
    Option<"softmaxRegisters", "softmax-registers", "int64_t", "200",
           "registers a thread of the softmax role">,
    Option<"correctionRegisters", "correction-registers", "int64_t", "64",
           "registers a thread of the correction role">,
    Option<"otherRegisters", "other-registers", "int64_t", "48",
           "registers a thread of the mma, load, store and idle roles">,
    Option<"kvStages", "kv-stages", "int64_t", "0",
           "slots of the K/V ring, or of K's and of V's with wgmma, 8 of each at most; 0 takes 3 for head "
           "dimension 128 and 6 for 64, with wgmma what measured best for the shape, or fewer where "
           "blocks are large">,
    Option<"polyPairs", "poly-pairs", "int64_t", "-1",
           "of every poly-of pairs of columns, how many exponentials go by polynomial; -1 takes 2, "
           "with wgmma 0">,
    Option<"polyOf", "poly-of", "int64_t", "8", "period of poly-pairs, in pairs of columns">,
    Option<"rescaleThreshold", "rescale-threshold", "double", "8.0",
           "growth of a row's maximum, in powers of two, that does not rescale">,
    Option<"pSplit", "p-split", "int64_t", "0",
           "columns of the first segment of P, 128 for one segment; 0 takes 96, or 64 "
           "under a causal mask">,
    Option<"statsGranularity", "stats-granularity", "::mlir::fa4::StatsGranularity",
           "::mlir::fa4::StatsGranularity::Auto",
           "who meets when row statistics change hands", [{::llvm::cl::values(
             clEnumValN(::mlir::fa4::StatsGranularity::Auto, "auto",
                        "warp where the group size is statically 1, else warpgroup"),
             clEnumValN(::mlir::fa4::StatsGranularity::Warp, "warp",
                        "each softmax warp and its correction warp"),
             clEnumValN(::mlir::fa4::StatsGranularity::Warpgroup, "warpgroup",
                        "a softmax and the correction warpgroup"))}]>,
    Option<"groupPacking", "group-packing", "::mlir::fa4::GroupPacking",
           "::mlir::fa4::GroupPacking::Auto",
           "whether the query heads of a K/V head share a tile", [{::llvm::cl::values(
             clEnumValN(::mlir::fa4::GroupPacking::Auto, "auto",
                        "where the group size is static and divides 128"),
             clEnumValN(::mlir::fa4::GroupPacking::On, "on", "always, or an error"),
             clEnumValN(::mlir::fa4::GroupPacking::Off, "off", "never"))}]>,
    Option<"scheduler", "scheduler", "::mlir::fa4::SchedulerChoice",
           "::mlir::fa4::SchedulerChoice::Auto",
           "order of the tasks", [{::llvm::cl::values(
             clEnumValN(::mlir::fa4::SchedulerChoice::Auto, "auto",
                        "longest-first under a causal mask, else linear"),
             clEnumValN(::mlir::fa4::SchedulerChoice::Linear, "linear",
                        "persistent blocks, in linear order"),
             clEnumValN(::mlir::fa4::SchedulerChoice::LongestFirst, "longest-first",
                        "heaviest M block first"))}]>,
    Option<"epilogue", "epilogue", "::mlir::fa4::EpilogueChoice",
           "::mlir::fa4::EpilogueChoice::Auto",
           "role that normalises O", [{::llvm::cl::values(
             clEnumValN(::mlir::fa4::EpilogueChoice::Auto, "auto",
                        "softmax under a causal mask, else correction"),
             clEnumValN(::mlir::fa4::EpilogueChoice::Correction, "correction",
                        "the correction role"),
             clEnumValN(::mlir::fa4::EpilogueChoice::Softmax, "softmax",
                        "the softmax role, each instance its own tile"))}]>,
    Option<"fragmentWidth", "fragment-width", "int64_t", "32",
           "columns of S and P that the softmax role handles at a time: 16, 32 or 64">,
    Option<"epilogueChunk", "epilogue-chunk", "int64_t", "32",
           "columns of O that the epilogue handles at a time">,
    Option<"rescaleChunk", "rescale-chunk", "int64_t", "32",
           "columns of O that the correction role rescales at a time">,
    Option<"consumers", "consumers", "int64_t", "0",
           "wgmma: warpgroups that compute, 2 or 3; 0 takes what measured best for the shape">,
    Option<"consumerRegisters", "consumer-registers", "int64_t", "0",
           "wgmma: registers a thread of a consumer; 0 takes 240 for two and 160 for three">,
    Option<"tileKeys", "tile-keys", "int64_t", "0", "wgmma: keys of a block; 0 takes what measured best for the shape">,
    Option<"turns", "turns", "bool", "false",
           "wgmma: consumers start their products one after the other">,
    Option<"lookAhead", "look-ahead", "::mlir::fa4::LookAheadChoice",
           "::mlir::fa4::LookAheadChoice::Auto",
           "wgmma: what runs beside a block's exponentials", [{::llvm::cl::values(
             clEnumValN(::mlir::fa4::LookAheadChoice::Auto, "auto",
                        "what measured best for the shape, if registers allow"),
             clEnumValN(::mlir::fa4::LookAheadChoice::On, "on", "Q K^T of the next block"),
             clEnumValN(::mlir::fa4::LookAheadChoice::Off, "off", "P V of the block before"))}]>
  ];
}

def AllocateStorage : Pass<"fa4-allocate-storage", "::mlir::fa4::KernelOp"> {
  let summary = "decides where rings and barriers live";
  let description = [{
    Sets `at` on every `fa4.alloc`, `fa4.barrier` and `fa4.tmem_acquire`, the
    columns that the kernel acquires, and the shared memory that it is launched
    with. What has an `at` already stays there; the rest is placed around it,
    first fit.

    * Shared memory, in this order: rings of tiles at multiples of 1024 bytes,
      mailboxes at multiples of 16, barriers with 8 bytes a slot, and 16 bytes for
      the address of the tensor memory.
    * Tensor memory: rings in the order of their declaration, slot i at the ring's
      first column plus i times a tile's columns.
    * Named barriers: ids from 1 up; 0 is the block's own.

    A kernel that asks for more than its target has is refused with the excess and
    the largest consumers.

    ```mlir
    %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
    %kv_full = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768) at(231424)
    fa4.tmem_acquire warp(12) columns(512) at(231616)
    ```
  }];
  let dependentDialects = ["::mlir::fa4::FA4Dialect"];
}

def MaterializePhases : Pass<"fa4-materialize-phases", "::mlir::fa4::KernelOp"> {
  let summary = "turns logical time into values that loops carry";
  let description = [{
    Each role's cursor on a ring becomes a slot and a phase, carried through the
    loops that move it; `fa4.next` goes, and each wait on a barrier in memory gets
    its parity.

    * A slot from `fa4.next`: the parity is the cursor's phase. That is right when
      every `fa4.next` on the ring is followed by one wait on the barrier, in its
      block; anything else is refused.
    * A constant slot, or the role's instance: one bit for the barrier's slot,
      flipped after each wait.
    * Other slots, and waits under a condition, have no phase that follows from the
      text, and are refused.

    Where the barrier is initially free the parity is inverted. Bits that flip in
    step in every block, and cursors that move in step, are carried once.

    A role whose waits have their parities already is left as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::fa4::FA4Dialect"];
}

#endif // FA4_TRANSFORMS_PASSES_TD
