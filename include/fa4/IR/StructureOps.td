// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// The frame of a schedule: kernel, roles, loops, launch and set-up.
//
#ifndef FA4_IR_STRUCTUREOPS_TD
#define FA4_IR_STRUCTUREOPS_TD

include "fa4/IR/FA4OpBase.td"

def FA4_KernelOp : FA4_Op<"kernel",
    [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock, FA4_NamedArguments]> {
  let summary = "an attention kernel as a schedule of roles";
  let description = [{
    The body declares storage and barriers, sets them up, and holds the roles
    that share the work. Arguments are Q, K, V, O and, when the log-sum-exp is
    wanted, LSE: the memrefs of the `fa4.attention` that the kernel computes.

    One task is a (batch, tile head, M block) triple: `stages` tiles of
    `tile_rows` query rows against all visible K/V blocks of `tile_keys` keys.
    With `pack(g)`, g query heads that share a K/V head share a tile: row r is
    position r / g of head r % g.

    `smem`, the bytes of dynamic shared memory that the kernel is launched with, is
    set by `--fa4-allocate-storage`.

    ```mlir
    fa4.kernel @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                          %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>)
        target(#fa4.target<sm_100a>) warps(16) scheduler(linear_persistent) {
      ...
    }
    ```

    * `kernel_c1`: four or five memref arguments with the shapes, element types,
      layouts and memory spaces that `fa4.attention` has (attention_c2 to c8, c10 to
      c13 and c16).
    * `kernel_c2`: `warps` is a positive multiple of 4, `stages`, `tile_rows`,
      `tile_keys` and `pack` are positive, and `pack` divides `tile_rows` and the
      group size where that is static.
    * `kernel_c3`: the roles' warps partition the kernel's warps.
    * `kernel_c4`: roles that share a warpgroup have the same register budget.
    * `kernel_c5`: register budgets fit the target's register file, and none
      exceeds what the launch and `setmaxnreg` can give.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       FA4_TargetAttr:$target,
                       ConfinedAttr<FA4_I64Attr, [IntPositive]>:$warps,
                       FA4_SchedulerAttr:$scheduler,
                       DefaultValuedAttr<FA4_I64Attr, "2">:$stages,
                       DefaultValuedAttr<FA4_I64Attr, "128">:$tile_rows,
                       DefaultValuedAttr<FA4_I64Attr, "128">:$tile_keys,
                       DefaultValuedAttr<FA4_I64Attr, "1">:$pack,
                       UnitAttr:$causal,
                       OptionalAttr<ConfinedAttr<FA4_I64Attr, [IntNonNegative]>>:$smem_bytes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    Block *getBodyBlock() { return &getBody().front(); }
    Value getQ() { return getBody().getArgument(0); }
    Value getK() { return getBody().getArgument(1); }
    Value getV() { return getBody().getArgument(2); }
    Value getO() { return getBody().getArgument(3); }
    /// The LSE argument, or null when the kernel does not produce it.
    Value getLse() {
      return getBody().getNumArguments() > 4 ? getBody().getArgument(4) : Value();
    }
    /// Query rows of one task.
    int64_t getTaskRows() { return getStages() * getTileRows(); }
    /// Element type of Q, K, V and O.
    Type getElementType() { return cast<MemRefType>(getQ().getType()).getElementType(); }
    /// Columns of Q and K, and of V and O.
    int64_t getHeadDim() { return cast<MemRefType>(getQ().getType()).getDimSize(3); }
    int64_t getValueDim() { return cast<MemRefType>(getV().getType()).getDimSize(3); }
  }];
}

def FA4_RoleOp : FA4_Op<"role",
    [Symbol, HasParent<"KernelOp">, NoTerminator, SingleBlock,
     FA4_Synchronizing, FA4_NamedArguments]> {
  let summary = "a sequential program run by some warps of the kernel";
  let description = [{
    With a region argument the program runs once in each warpgroup of its warps,
    and the argument is the instance: 0 for the first warpgroup, and so on. All
    warps of an instance run in step with each other as far as barriers make them.

    ```mlir
    fa4.role @softmax(%stage) warps(0 to 8) regs(200) { ... }
    fa4.role @mma warps(12 to 13) regs(48) { ... }
    ```

    * `role_c1`: the warps are a non-empty range; with an instance argument they
      are whole warpgroups, without they lie in one warpgroup.
    * `role_c2`: the register budget is a multiple of 8 from 24 to 256.
    * `role_c3`: ops that act on slots, barriers, fragments or rows lie in a role.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FA4_I64Attr:$first_warp,
                       FA4_I64Attr:$end_warp, FA4_I64Attr:$registers);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of instances: one a warpgroup with an instance argument, else one.
    int64_t getInstances() {
      return hasInstance() ? (getEndWarp() - getFirstWarp()) / 4 : 1;
    }
    bool hasInstance() { return getBody().getNumArguments() == 1; }
    /// The instance argument, or null.
    Value getInstance() { return hasInstance() ? getBody().getArgument(0) : Value(); }
    /// Threads of one instance.
    int64_t getThreads() { return (getEndWarp() - getFirstWarp()) * 32 / getInstances(); }
  }];
}

def FA4_ForTaskOp : FA4_Op<"for_task",
    [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
     FA4_Synchronizing, FA4_NamedLoop]> {
  let summary = "the tasks of this block, in the scheduler's order";
  let description = [{
    Every role runs through the same tasks. The region's first arguments are
    batch, tile head and M block; more carry values from task to task.

    ```mlir
    fa4.for_task (%b, %h, %m) { ... }
    %x = fa4.for_task (%b, %h, %m) iter_args(%p = %c0) -> (i32) { ... fa4.yield %q : i32 }
    ```

    `for_task_c1`: a role's region holds it at the top level.
    `for_task_c2`: initial values, region arguments, yielded values and results
    have the same types.
  }];
  let arguments = (ins Variadic<AnyType>:$init_args);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "ValueRange":$initArgs)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    Value getBatch() { return getBody().getArgument(0); }
    Value getHead() { return getBody().getArgument(1); }
    Value getMBlock() { return getBody().getArgument(2); }
    ArrayRef<BlockArgument> getRegionIterArgs() { return getBody().getArguments().drop_front(3); }
  }];
}

def FA4_ForKvOp : FA4_Op<"for_kv",
    [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
     FA4_Synchronizing, FA4_NamedLoop]> {
  let summary = "K/V blocks of a task, last to first";
  let description = [{
    Runs over the blocks that M block `m_block` sees, from the last to the first.
    A task visits at least one block. The first block that is visited can be
    peeled off with `fa4.first_kv`:

    | range | blocks |
    |---|---|
    | `all` | every block |
    | `rest` | all but the first visited |
    | `rest_masked` | those of `rest` in which some row sees only a part |
    | `rest_unmasked` | those of `rest` that every row sees whole |

    `rest_masked` comes before `rest_unmasked`, and together they are `rest`.

    ```mlir
    fa4.for_kv %j in all(%m) { ... }
    %l = fa4.for_kv %j in rest_unmasked(%m) iter_args(%a = %b) -> (!fa4.rows<128xf32>) { ... }
    ```

    `for_kv_c1`: initial values, region arguments, yielded values and results
    have the same types. `for_kv_c2`: it lies in a `fa4.for_task`, and `m_block` is
    that loop's M block.
  }];
  let arguments = (ins FA4_KvRangeAttr:$range, Index:$m_block,
                       Variadic<AnyType>:$init_args);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "KvRange":$range, "Value":$mBlock, "ValueRange":$initArgs)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    Value getKvBlock() { return getBody().getArgument(0); }
    ArrayRef<BlockArgument> getRegionIterArgs() { return getBody().getArguments().drop_front(1); }
  }];
}

def FA4_FirstKvOp : FA4_Op<"first_kv", [Pure, FA4_NamedResults]> {
  let summary = "the K/V block of a task that is visited first";
  let description = [{
    ```mlir
    %j = fa4.first_kv %m
    ```
    `first_kv_c1`: `m_block` is the M block of the enclosing `fa4.for_task`.
  }];
  let arguments = (ins Index:$m_block);
  let results = (outs Index:$kv_block);
  let assemblyFormat = "$m_block attr-dict";
  let hasVerifier = 1;
}

def FA4_YieldOp : FA4_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ForTaskOp", "ForKvOp"]>]> {
  let summary = "ends a loop body and hands values to the next iteration";
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ }]>];
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def FA4_LaunchOp : FA4_Op<"launch",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>, FA4_Synchronizing]> {
  let summary = "runs an attention kernel on memrefs";
  let description = [{
    Stands in host code where `fa4.attention` stood. Operands are those of the
    kernel: Q, K, V, O and possibly LSE.

    ```mlir
    fa4.launch @attention(%q, %k, %v, %o) : memref<...>, memref<...>, memref<...>, memref<...>
    ```

    `launch_c1`: the symbol names a `fa4.kernel` whose arguments have the
    operands' types.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyMemRef>:$operands);
  let assemblyFormat = "$kernel `(` $operands `)` attr-dict `:` type($operands)";
}

def FA4_InitBarriersOp : FA4_Op<"init_barriers", [HasParent<"KernelOp">, FA4_Synchronizing]> {
  let summary = "initialises every barrier of the kernel";
  let description = [{
    One elected thread of the warp initialises the barriers and makes them visible
    to the asynchronous proxy. A `fa4.cta_sync` must follow before a role uses one.

    `init_barriers_c1`: `warp` is one of the kernel's.
  }];
  let arguments = (ins FA4_I64Attr:$warp);
  let hasVerifier = 1;
  let assemblyFormat = "`warp` `(` $warp `)` attr-dict";
}

def FA4_TmemAcquireOp : FA4_Op<"tmem_acquire", [HasParent<"KernelOp">, FA4_Synchronizing]> {
  let summary = "allocates the tensor memory that the kernel's rings need";
  let description = [{
    Run by one warp. The address reaches the other warps by a `fa4.cta_sync` after
    it, through a word of shared memory. `columns` and `at`, the byte offset of
    that word, are set by `--fa4-allocate-storage`.

    ```mlir
    fa4.tmem_acquire warp(12)
    fa4.tmem_acquire warp(12) columns(512) at(231616)
    ```

    * `tmem_acquire_c1`: `warp` is one of the kernel's.
    * `tmem_acquire_c2`: `columns` is a power of two from 32 to 512.
    * `tmem_acquire_c3`: `at` is a multiple of 16.
  }];
  let arguments = (ins FA4_I64Attr:$warp, OptionalAttr<FA4_I64Attr>:$columns,
                       OptionalAttr<FA4_I64Attr>:$at);
  let assemblyFormat = [{
    `warp` `(` $warp `)` (`columns` `(` $columns^ `)`)? (`at` `(` $at^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def FA4_TmemReleaseOp : FA4_Op<"tmem_release", [HasParent<"KernelOp">, FA4_Synchronizing]> {
  let summary = "frees the kernel's tensor memory";
  let description = [{
    Run by one warp, after a `fa4.cta_sync` behind the roles.

    `tmem_release_c1`: `warp` is one of the kernel's.
  }];
  let arguments = (ins FA4_I64Attr:$warp);
  let hasVerifier = 1;
  let assemblyFormat = "`warp` `(` $warp `)` attr-dict";
}

def FA4_CtaSyncOp : FA4_Op<"cta_sync", [HasParent<"KernelOp">, FA4_Synchronizing]> {
  let summary = "waits for all warps of the block";
  let assemblyFormat = "attr-dict";
}

#endif // FA4_IR_STRUCTUREOPS_TD
