// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Contracts between roles: barriers, waits, arrivals and fences.
//
#ifndef FA4_IR_BARRIEROPS_TD
#define FA4_IR_BARRIEROPS_TD

include "fa4/IR/FA4OpBase.td"

def FA4_BarrierOp : FA4_Op<"barrier",
    [HasParent<"KernelOp">, FA4_Synchronizing, FA4_NamedResults,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a contract: who arrives, how many, by what engine";
  let description = [{
    Each slot completes a phase when all declared arrivals have come. With
    `initially_free` a role's j-th wait waits for completion j - 1, and its first
    passes at once: the slot starts in the hands of the waiting role.

    A `named` barrier is one of the hardware's sixteen: it has no memory of its
    own, its waiting role arrives by waiting, and both sides are counted. With
    `per_warp` each slot is one barrier for each of the four warps of a
    warpgroup. `at`, set by `--fa4-allocate-storage`, is the byte offset of slot 0
    in shared memory, or the first barrier id of a named barrier.

    ```mlir
    %s_ready = fa4.barrier "s_ready" slots(2) arrives(@mma commit)
    %p_o = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128)
    %kv_empty = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free
    %stats = fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
    ```

    * `barrier_c1`: at least one slot and one arrival, and every count is positive.
    * `barrier_c2`: arrivals name roles of the kernel, each role once.
    * `barrier_c3`: a commit counts one; threads are at most those of one instance
      of the role; bytes are at most 1048575.
    * `barrier_c4`: a named barrier has arrivals of threads only, in multiples of
      32, is not `initially_free`, and `per_warp` needs `named`.
    * `barrier_c5`: `at` is a multiple of 8 for a barrier in shared memory; the
      ids of a named barrier lie in 1..15 (0 is the block's own).
    * `barrier_c6`: on a named barrier all threads of a role's instance arrive, or
      with `per_warp` the 32 of one warp: the hardware counts whole warps.
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$named, FA4_I64Attr:$slots,
                       UnitAttr:$per_warp, FA4_ArrivalsAttr:$arrivals,
                       UnitAttr:$initially_free, OptionalAttr<FA4_I64Attr>:$at);
  let results = (outs FA4_BarrierType:$barrier);
  let assemblyFormat = [{
    $name (`named` $named^)? `slots` `(` $slots `)` (`per_warp` $per_warp^)?
    `arrives` `(` custom<Arrivals>($arrivals) `)`
    (`initially_free` $initially_free^)? (`at` `(` $at^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The declared arrival of a role, or null.
    ArrivalAttr getArrivalOf(StringRef role);
    /// Count that the hardware barrier is initialised with: threads and commits
    /// as declared, and one for each role whose copies complete bytes.
    int64_t getExpectedCount();
    /// Hardware barriers that the contract takes.
    int64_t getNumBarriers() { return getSlots() * (getPerWarp() ? 4 : 1); }
  }];
}

def FA4_WaitOp : FA4_Op<"wait", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "waits for a slot's next completion, in logical time";
  let description = [{
    The j-th wait of a role on a slot waits for completion j of that slot, or
    j - 1 where the barrier is initially free. No one writes a parity:
    `--fa4-materialize-phases` adds it.

    ```mlir
    fa4.wait %p_o[%c0]
    fa4.wait %kv_full[%slot] parity(%phase)
    ```

    * `wait_c1`: it lies in a role.
    * `wait_c2`: the barrier is declared by `fa4.barrier`.
    * `wait_c3`: a slot that is a constant or the role's instance is one of the
      barrier's.
    * `wait_c4`: who waits on a named barrier is among its arrivals; a parity is
      not for named barriers.
  }];
  let arguments = (ins FA4_BarrierType:$barrier, Index:$slot, Optional<I32>:$parity);
  let assemblyFormat = "$barrier `[` $slot `]` (`parity` `(` $parity^ `)`)? attr-dict";
  let builders = [OpBuilder<(ins "Value":$barrier, "Value":$slot), [{
    build($_builder, $_state, barrier, slot, Value());
  }]>];
  let hasVerifier = 1;
}

def FA4_ArriveOp : FA4_Op<"arrive", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "this role's arrival on a slot";
  let description = [{
    Means what the contract says for this role: threads arrive, or the tensor core
    arrives when it has finished everything that the role issued before.

    ```mlir
    fa4.arrive %s_ready[%c0]
    ```

    * `arrive_c1`: it lies in a role that the barrier's contract names.
    * `arrive_c2`: the barrier is declared by `fa4.barrier`, and a slot that is a
      constant or the role's instance is one of its slots.
    * `arrive_c3`: arrivals of bytes come from `fa4.load`, not from here.
  }];
  let arguments = (ins FA4_BarrierType:$barrier, Index:$slot);
  let assemblyFormat = "$barrier `[` $slot `]` attr-dict";
  let hasVerifier = 1;
}

def FA4_FenceOp : FA4_Op<"fence", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "orders this role's accesses between memory proxies";
  let description = [{
    `async_shared`: writes to shared memory by threads become visible to the
    copies and MMAs that are issued after a following arrival (PTX
    `fence.proxy.async.shared::cta`). Every writing thread executes it.
  }];
  let arguments = (ins FA4_FenceKindAttr:$kind);
  let assemblyFormat = "`` $kind attr-dict";
}

def FA4_TmemWaitOp : FA4_Op<"tmem_wait", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "waits until this warp's tensor-memory accesses are done";
  let description = [{
    `load`: earlier `fa4.read_tile`s have read their columns, which may be
    overwritten from here on. `store`: earlier `fa4.write_tile`s are in tensor
    memory. PTX `tcgen05.wait::ld` and `tcgen05.wait::st`.
  }];
  let arguments = (ins FA4_TmemAccessAttr:$access);
  let assemblyFormat = "`` $access attr-dict";
}

#endif // FA4_IR_BARRIEROPS_TD
