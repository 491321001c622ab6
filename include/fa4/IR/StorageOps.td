// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Rings of tiles and the cursors that roles move over them.
//
#ifndef FA4_IR_STORAGEOPS_TD
#define FA4_IR_STORAGEOPS_TD

include "fa4/IR/FA4OpBase.td"

def FA4_AllocOp : FA4_Op<"alloc", [HasParent<"KernelOp">, FA4_Synchronizing, FA4_NamedResults]> {
  let summary = "a ring of tiles";
  let description = [{
    The name is for people and diagnostics. `at` is set by
    `--fa4-allocate-storage`: a byte offset in shared memory, or a column in
    tensor memory. A pinned `at` is kept.

    ```mlir
    %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
    %q = fa4.alloc "q" at(0) : !fa4.ring<2 x 128x128xf16, smem>
    ```

    * `alloc_c1`: the ring lives in shared or tensor memory.
    * `alloc_c2`: a tile in tensor memory has rank 2, 128 rows, and at most 512
      columns of 32 bits.
    * `alloc_c3`: `at` is not negative, and the ring's alignment divides it: 1024
      bytes for tiles in shared memory, 16 bytes for mailboxes, 1 column in tensor memory.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<FA4_I64Attr>:$at);
  let results = (outs FA4_RingType:$ring);
  let assemblyFormat = "$name (`at` `(` $at^ `)`)? attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}

def FA4_AliasOp : FA4_Op<"alias", [Pure, HasParent<"KernelOp">, FA4_NamedResults]> {
  let summary = "a ring laid over columns of another";
  let description = [{
    Slot i of the result begins at column `column` (counted in 32-bit
    tensor-memory columns) of slot i of the base. P lies over the upper half of S:

    ```mlir
    %p = fa4.alias %s column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
    ```

    * `alias_c1`: base and result live in tensor memory and have as many slots.
    * `alias_c2`: a slot of the result lies within a slot of the base.
  }];
  let arguments = (ins FA4_RingType:$base, FA4_I64Attr:$column);
  let results = (outs FA4_RingType:$ring);
  let assemblyFormat = [{
    $base `column` `(` $column `)` attr-dict `:` qualified(type($base)) `to` qualified(type($ring))
  }];
  let hasVerifier = 1;
}

def FA4_NextOp : FA4_Op<"next", [FA4_InRole, FA4_Synchronizing, FA4_NamedResults]> {
  let summary = "moves this role's cursor on a ring and gives the slot";
  let description = [{
    The n-th execution in a role gives slot n modulo the ring's slots. Each role
    has a cursor of its own. `--fa4-materialize-phases` turns cursors into
    loop-carried values.

    ```mlir
    %slot = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    ```

    `next_c1`: it lies in a role.
  }];
  let arguments = (ins FA4_RingType:$ring);
  let results = (outs Index:$slot);
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring))";
}

#endif // FA4_IR_STORAGEOPS_TD
