// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Tile ops that move tiles: copies by TMA, MMAs, register fragments, mailboxes.
//
#ifndef FA4_IR_TILEOPS_TD
#define FA4_IR_TILEOPS_TD

include "fa4/IR/FA4OpBase.td"

def FA4_LoadOp : FA4_Op<"load", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "copies a tile from global to shared memory by TMA";
  let description = [{
    Issued by one thread; may land any time later and then completes the tile's
    bytes on the barrier. Elements outside the tensor are zero. Coordinates are
    (batch, tile head, M block, stage) for a query tile and
    (batch, tile head, K/V block) for K and V.

    ```mlir
    fa4.load %q[%b, %h, %m, %c0] to %q_smem[%c0] signals %q_full[%c0] : memref<...>, !fa4.ring<...>
    fa4.load %k[%b, %h, %j] to %kv[%slot] signals %kv_full[%slot] : memref<...>, !fa4.ring<...>
    ```

    * `load_c1`: the source is Q with four coordinates, or K or V with three.
    * `load_c2`: the ring lives in shared memory, and its tile is as wide as the
      source, as high as the kernel's tile, and of its element type.
    * `load_c3`: the barrier's contract names this role with the tile's bytes.
    * `load_c4`: slots that are constants or the role's instance are among those of
      the ring and of the barrier.
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$coordinates,
                       FA4_RingType:$ring, Index:$slot,
                       FA4_BarrierType:$barrier, Index:$barrier_slot);
  let assemblyFormat = [{
    $source `[` $coordinates `]` `to` $ring `[` $slot `]`
    `signals` $barrier `[` $barrier_slot `]` attr-dict
    `:` type($source) `,` qualified(type($ring))
  }];
  let hasVerifier = 1;
}

def FA4_StoreOp : FA4_Op<"store", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "copies a tile from shared to global memory by TMA";
  let description = [{
    Issued by one thread. Rows past the end of the tensor are not written. The
    source is read until a `fa4.store_wait` says otherwise.

    ```mlir
    fa4.store %o_smem[%c0] to %o[%b, %h, %m, %c0] : !fa4.ring<...>, memref<...>
    ```

    * `store_c1`: the target is O, with four coordinates.
    * `store_c2`: the ring lives in shared memory, and its tile is as wide as the
      target, as high as the kernel's tile, and of its element type.
    * `store_c3`: a slot that is a constant or the role's instance is one of the ring's.
  }];
  let arguments = (ins FA4_RingType:$ring, Index:$slot, AnyMemRef:$target,
                       Variadic<Index>:$coordinates);
  let assemblyFormat = [{
    $ring `[` $slot `]` `to` $target `[` $coordinates `]` attr-dict
    `:` qualified(type($ring)) `,` type($target)
  }];
  let hasVerifier = 1;
}

def FA4_StoreWaitOp : FA4_Op<"store_wait", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "waits until at most some of this role's stores still read";
  let description = [{
    ```mlir
    fa4.store_wait pending(1)
    ```
    PTX `cp.async.bulk.wait_group.read`, each `fa4.store` being one group.
    `store_wait_c1`: `pending` is not negative.
  }];
  let arguments = (ins ConfinedAttr<FA4_I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "`pending` `(` $pending `)` attr-dict";
}

def FA4_MmaOp : FA4_Op<"mma", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "D = A * B or D += A * B on the tensor core";
  let description = [{
    Issued by one thread; starts after the MMAs that the role issued before, and is
    known to be done by a commit. A is rows x K in shared or tensor memory. With
    `transpose_b`, B is columns x K (S = Q * K^T); without, K x columns (O += P * V).
    `k(begin to end)` takes a segment of the K extent. Without `accumulate` D is
    overwritten; with it, it is when the flag is false. `negate_a` gives
    D (+)= (-A) * B.

    ```mlir
    fa4.mma %q[%c0] * %kv[%i] into %s[%c0] transpose_b : !fa4.ring<...> * !fa4.ring<...> into !fa4.ring<...>
    fa4.mma %p[%c0] * %kv[%i] into %o[%c0] accumulate(%more) k(0 to 96) : !fa4.ring<...> * !fa4.ring<...> into !fa4.ring<...>
    ```

    * `mma_c1`: A lives in shared or tensor memory, B in shared, D in tensor memory.
    * `mma_c2`: A and B have the same 16-bit element type, and D is f32.
    * `mma_c3`: the tiles' extents agree.
    * `mma_c4`: the K segment has both ends or none, is not empty, lies within the K
      extent, and begins and ends at multiples of 16.
    * `mma_c5`: A has 128 rows, and D at most 256 columns, in multiples of 16.
    * `mma_c6`: slots that are constants or the role's instance are among those of
      their rings.
  }];
  let arguments = (ins FA4_RingType:$a, Index:$a_slot, FA4_RingType:$b, Index:$b_slot,
                       FA4_RingType:$d, Index:$d_slot, Optional<I1>:$accumulate,
                       OptionalAttr<FA4_I64Attr>:$k_begin, OptionalAttr<FA4_I64Attr>:$k_end,
                       UnitAttr:$transpose_b, UnitAttr:$negate_a);
  let assemblyFormat = [{
    $a `[` $a_slot `]` `*` $b `[` $b_slot `]` `into` $d `[` $d_slot `]`
    (`accumulate` `(` $accumulate^ `)`)? (`k` `(` $k_begin^ `to` $k_end `)`)?
    (`transpose_b` $transpose_b^)? (`negate_a` $negate_a^)? attr-dict
    `:` qualified(type($a)) `*` qualified(type($b)) `into` qualified(type($d))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// K extent of the whole product.
    int64_t getKExtent() { return getA().getType().getColumns(); }
    /// First K element of the segment, and the one behind the last.
    int64_t getSegmentBegin() { return getKBegin().value_or(0); }
    int64_t getSegmentEnd() { return getKEnd().value_or(getKExtent()); }
  }];
}

def FA4_ReadTileOp : FA4_Op<"read_tile", [FA4_InRole, FA4_Synchronizing, FA4_NamedResults]> {
  let summary = "reads columns of a tile in tensor memory into registers";
  let description = [{
    ```mlir
    %x = fa4.read_tile %s[%stage] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
    ```

    * `read_tile_c1`: the ring lives in tensor memory and has the fragment's
      element type and rows.
    * `read_tile_c2`: the columns lie within the tile, and their number is a power
      of two of at most 128 32-bit columns.
    * `read_tile_c3`: a slot that is a constant or the role's instance is one of the ring's.
  }];
  let arguments = (ins FA4_RingType:$ring, Index:$slot, FA4_I64Attr:$column);
  let results = (outs FA4_FragmentType:$fragment);
  let assemblyFormat = [{
    $ring `[` $slot `]` `columns` `(` $column `)` attr-dict
    `:` qualified(type($ring)) `to` qualified(type($fragment))
  }];
  let hasVerifier = 1;
}

def FA4_WriteTileOp : FA4_Op<"write_tile", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "writes a fragment to columns of a tile";
  let description = [{
    The tile lives in tensor memory (P) or in shared memory (O on its way out,
    swizzled as its tensor map says).

    ```mlir
    fa4.write_tile %p0, %p[%stage] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
    ```

    * `write_tile_c1`: the ring has the fragment's element type and rows.
    * `write_tile_c2`: the columns lie within the tile and fill a power of two of
      32-bit tensor-memory columns, or a multiple of 16 bytes in shared memory,
      beginning at one.
    * `write_tile_c3`: a slot that is a constant or the role's instance is one of the ring's.
  }];
  let arguments = (ins FA4_FragmentType:$fragment, FA4_RingType:$ring, Index:$slot,
                       FA4_I64Attr:$column);
  let assemblyFormat = [{
    $fragment `,` $ring `[` $slot `]` `columns` `(` $column `)` attr-dict
    `:` qualified(type($fragment)) `,` qualified(type($ring))
  }];
  let hasVerifier = 1;
}

def FA4_RescaleOp : FA4_Op<"rescale", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "multiplies the rows of a tile in tensor memory, when any needs it";
  let description = [{
    A warp whose rows all have the factor 1 touches nothing; otherwise it reads,
    multiplies and writes its rows, `chunk` columns at a time, and waits until the
    stores are done. Arrivals stand outside: they come in any case.

    ```mlir
    fa4.rescale %o[%c0] by %factor chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
    ```

    * `rescale_c1`: an f32 tile in tensor memory, with as many rows as there are factors.
    * `rescale_c2`: `chunk` is a power of two that divides the tile's columns, at most 128.
    * `rescale_c3`: a slot that is a constant or the role's instance is one of the ring's.
  }];
  let arguments = (ins FA4_RingType:$ring, Index:$slot, FA4_RowsType:$factor,
                       FA4_I64Attr:$chunk);
  let assemblyFormat = [{
    $ring `[` $slot `]` `by` $factor `chunk` `(` $chunk `)` attr-dict
    `:` qualified(type($ring)) `,` qualified(type($factor))
  }];
  let hasVerifier = 1;
}

def FA4_PublishOp : FA4_Op<"publish", [FA4_InRole, FA4_Synchronizing]> {
  let summary = "puts one value a row into a mailbox";
  let description = [{
    ```mlir
    fa4.publish %factor to %mailbox[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
    ```
    * `publish_c1`: a ring of rank 1 in shared memory with the values' extent and type.
    * `publish_c2`: a slot that is a constant or the role's instance is one of the ring's.
  }];
  let arguments = (ins FA4_RowsType:$value, FA4_RingType:$ring, Index:$slot);
  let assemblyFormat = [{
    $value `to` $ring `[` $slot `]` attr-dict `:` qualified(type($value)) `,` qualified(type($ring))
  }];
  let hasVerifier = 1;
}

def FA4_CollectOp : FA4_Op<"collect", [FA4_InRole, FA4_Synchronizing, FA4_NamedResults]> {
  let summary = "takes one value a row out of a mailbox";
  let description = [{
    ```mlir
    %factor = fa4.collect %mailbox[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
    ```
    * `collect_c1`: a ring of rank 1 in shared memory with the values' extent and type.
    * `collect_c2`: a slot that is a constant or the role's instance is one of the ring's.
  }];
  let arguments = (ins FA4_RingType:$ring, Index:$slot);
  let results = (outs FA4_RowsType:$value);
  let assemblyFormat = [{
    $ring `[` $slot `]` attr-dict `:` qualified(type($ring)) `to` qualified(type($value))
  }];
  let hasVerifier = 1;
}

def FA4_StoreLseOp : FA4_Op<"store_lse",
    [FA4_InRole, FA4_Synchronizing, AllTypesMatch<["reference", "sum"]>]> {
  let summary = "writes the log-sum-exp of a query tile's rows";
  let description = [{
    LSE = ln(2) * (reference + log2(sum)), and -inf for a row whose sum is zero.
    Rows past the end of Q are not written.

    ```mlir
    fa4.store_lse %reference, %sum to %lse[%b, %h, %m, %c0] : !fa4.rows<128xf32>, memref<...>
    ```
    `store_lse_c1`: the target is the kernel's LSE argument, with four coordinates.
  }];
  let arguments = (ins FA4_RowsType:$reference, FA4_RowsType:$sum, AnyMemRef:$target,
                       Variadic<Index>:$coordinates);
  let assemblyFormat = [{
    $reference `,` $sum `to` $target `[` $coordinates `]` attr-dict
    `:` qualified(type($reference)) `,` type($target)
  }];
  let hasVerifier = 1;
}

#endif // FA4_IR_TILEOPS_TD
