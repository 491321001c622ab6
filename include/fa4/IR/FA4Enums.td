// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_IR_ENUMS_TD
#define FA4_IR_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class FA4_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::fa4";
  let genSpecializedAttr = 0;
}

/// Where a ring of tiles lives.
def FA4_MemorySpace : FA4_I32Enum<"MemorySpace", "memory that holds a ring of tiles", [
  I32EnumAttrCase<"SMEM", 0, "smem">,
  I32EnumAttrCase<"TMEM", 1, "tmem">,
  I32EnumAttrCase<"RMEM", 2, "rmem">
]>;

/// How a tile is spread over the registers of one warpgroup.
def FA4_FragmentLayout : FA4_I32Enum<"FragmentLayout", "register layout of a fragment", [
  I32EnumAttrCase<"RowPerThread", 0, "row_per_thread">,
  I32EnumAttrCase<"WGMMA", 1, "wgmma">
]>;

/// What makes an arrival happen.
def FA4_Engine : FA4_I32Enum<"Engine", "engine that arrives on a barrier", [
  I32EnumAttrCase<"Threads", 0, "threads">,
  I32EnumAttrCase<"Commit", 1, "commit">,
  I32EnumAttrCase<"Bytes", 2, "bytes">
]>;

/// In which order a persistent kernel hands out its tasks.
def FA4_Scheduler : FA4_I32Enum<"Scheduler", "order in which tasks are handed out", [
  I32EnumAttrCase<"LinearPersistent", 0, "linear_persistent">,
  I32EnumAttrCase<"LongestFirst", 1, "longest_first">
]>;

/// Part of a task's K/V blocks, which are visited last to first.
def FA4_KvRange : FA4_I32Enum<"KvRange", "part of the K/V blocks of a task", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"Rest", 1, "rest">,
  I32EnumAttrCase<"RestMasked", 2, "rest_masked">,
  I32EnumAttrCase<"RestUnmasked", 3, "rest_unmasked">
]>;

/// Direction of the tensor-memory accesses that a warp waits for.
def FA4_TmemAccess : FA4_I32Enum<"TmemAccess", "direction of a tensor-memory access", [
  I32EnumAttrCase<"Load", 0, "load">,
  I32EnumAttrCase<"Store", 1, "store">
]>;

/// Fences between the proxies through which memory is accessed.
def FA4_FenceKind : FA4_I32Enum<"FenceKind", "fence between memory proxies", [
  I32EnumAttrCase<"AsyncShared", 0, "async_shared">
]>;

/// Matrix unit of a target.
def FA4_MMAFlavour : FA4_I32Enum<"MMAFlavour", "matrix unit of a target", [
  I32EnumAttrCase<"TCGen05", 0, "tcgen05">,
  I32EnumAttrCase<"WGMMA", 1, "wgmma">
]>;

class FA4_EnumAttrOf<I32EnumAttr enum, string mnemonic>
    : EnumAttr<FA4_Dialect, enum, mnemonic>;

def FA4_SchedulerAttr : FA4_EnumAttrOf<FA4_Scheduler, "scheduler">;
def FA4_KvRangeAttr : FA4_EnumAttrOf<FA4_KvRange, "kv_range">;
def FA4_TmemAccessAttr : FA4_EnumAttrOf<FA4_TmemAccess, "tmem_access">;
def FA4_FenceKindAttr : FA4_EnumAttrOf<FA4_FenceKind, "fence_kind">;

#endif // FA4_IR_ENUMS_TD
