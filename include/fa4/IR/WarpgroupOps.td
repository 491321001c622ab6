// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Products whose operands and results are in the registers of a warpgroup
// (Hopper), and what is done to such accumulators.
//
#ifndef FA4_IR_WARPGROUPOPS_TD
#define FA4_IR_WARPGROUPOPS_TD

include "fa4/IR/FA4OpBase.td"

def FA4_AnyTile : AnyTypeOf<[FA4_RingType, FA4_FragmentType], "ring or fragment">;

def FA4_WarpgroupMmaOp : FA4_Op<"warpgroup_mma",
    [FA4_InRole, FA4_Synchronizing, FA4_NamedResults, AttrSizedOperandSegments]> {
  let summary = "starts D = A * B or D = A * B + C into a warpgroup's registers";
  let description = [{
    All threads of the role issue it. It runs behind the products that the role
    started before, while the role goes on; the result is pending until a
    `fa4.warpgroup_wait` hands out the fragment. Until then the tensor core reads
    its operands: a slot of A or B is still in use, and so are registers of A.

    A is a slot of a ring in shared memory, or a fragment. With `transpose_b`, B
    is columns x K (S = Q * K^T); without, K x columns (O += P * V). `negate_a`
    gives (-A) * B. One product is one group of PTX `wgmma.commit_group`.

    ```mlir
    %s = fa4.warpgroup_mma %q[%c0] * %k[%i] transpose_b : !fa4.ring<...> * !fa4.ring<...> to !fa4.pending<64x128xf32>
    %o = fa4.warpgroup_mma %p * %v[%i] plus %old : !fa4.fragment<64x128xf16, wgmma> * !fa4.ring<...> to !fa4.pending<64x128xf32>
    ```

    * `warpgroup_mma_c1`: A lives in shared memory, with a slot, or is a fragment
      in `wgmma` layout, without; B lives in shared memory.
    * `warpgroup_mma_c2`: A and B have the same 16-bit element type.
    * `warpgroup_mma_c3`: the tiles' extents agree, with 64 rows of A, K in
      multiples of 16, and 8 to 256 columns of D in multiples of 8.
    * `warpgroup_mma_c4`: slots that are constants or the role's instance are among
      those of their rings.
    * `warpgroup_mma_c5`: its role has the 128 threads of one warpgroup.
    * `warpgroup_mma_c6`: one `fa4.warpgroup_wait` uses the result, and nothing else.
  }];
  let arguments = (ins FA4_AnyTile:$a, Optional<Index>:$a_slot, FA4_RingType:$b,
                       Index:$b_slot, Optional<FA4_FragmentType>:$c,
                       UnitAttr:$transpose_b, UnitAttr:$negate_a);
  let results = (outs FA4_PendingType:$d);
  let assemblyFormat = [{
    $a (`[` $a_slot^ `]`)? `*` $b `[` $b_slot `]` (`plus` $c^)?
    (`transpose_b` $transpose_b^)? (`negate_a` $negate_a^)? attr-dict
    `:` type($a) `*` qualified(type($b)) (`plus` qualified(type($c))^)? `to` qualified(type($d))
  }];
  let hasVerifier = 1;
}

def FA4_WarpgroupWaitOp : FA4_Op<"warpgroup_wait", [FA4_InRole, FA4_Synchronizing, FA4_NamedResults]> {
  let summary = "waits until at most some of this role's products are running";
  let description = [{
    Products end in the order in which they were started. Those handed in must be
    among the ended ones; their fragments come out. PTX `wgmma.wait_group`.

    ```mlir
    %s = fa4.warpgroup_wait pending(1) %started : !fa4.pending<64x128xf32>
    ```

    * `warpgroup_wait_c1`: `pending` is from 0 to 7.
    * `warpgroup_wait_c2`: what is handed in was started in the same block, by at
      least `pending` products before the wait's last, and is handed in once.
  }];
  let arguments = (ins ConfinedAttr<FA4_I64Attr, [IntMinValue<0>, IntMaxValue<7>]>:$pending,
                       FA4_PendingType:$input);
  let results = (outs FA4_FragmentType:$result);
  let builders = [OpBuilder<(ins "int64_t":$pending, "Value":$input)>];
  let assemblyFormat = "`pending` `(` $pending `)` $input attr-dict `:` custom<Settled>(type($input), type($result))";
  let hasVerifier = 1;
}

def FA4_FillOp : FA4_Op<"fill", [FA4_InRole, Pure, FA4_NamedResults]> {
  let summary = "a fragment, or a value a row, of one value";
  let description = [{
    ```mlir
    %o = fa4.fill 0.000000e+00 : !fa4.fragment<64x128xf32, wgmma>
    %l = fa4.fill 0.000000e+00 : !fa4.rows<64xf32, partial>
    ```
    `fill_c1`: an f32 fragment in `wgmma` layout, or partial row values.
  }];
  let arguments = (ins F32Attr:$value);
  let results = (outs AnyTypeOf<[FA4_FragmentType, FA4_RowsType], "fragment or rows">:$result);
  let assemblyFormat = "custom<F32>($value) attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def FA4_ScaleRowsOp : FA4_Op<"scale_rows", [FA4_InRole, Pure, FA4_NamedResults, AllTypesMatch<["input", "result"]>]> {
  let summary = "multiplies each row by its factor";
  let description = [{
    ```mlir
    %y = fa4.scale_rows %x by %factor : !fa4.fragment<64x128xf32, wgmma>, !fa4.rows<64xf32>
    ```
    `scale_rows_c1`: an f32 fragment in `wgmma` layout.
  }];
  let arguments = (ins FA4_FragmentType:$input, FA4_RowsType:$factor);
  let results = (outs FA4_FragmentType:$result);
  let assemblyFormat = "$input `by` $factor attr-dict `:` qualified(type($input)) `,` qualified(type($factor))";
  let hasVerifier = 1;
}

def FA4_RowTotalOp : FA4_Op<"row_total", [FA4_InRole, Pure, FA4_NamedResults]> {
  let summary = "adds up what the threads of a row hold of its sum";
  let description = [{
    A row in `wgmma` layout lies in four threads. `fa4.row_sum` leaves to each the
    sum of its own columns, so that nothing is exchanged in the loop; this makes
    one sum of the four.

    ```mlir
    %sum = fa4.row_total %partial : !fa4.rows<64xf32, partial>
    ```
    `row_total_c1`: partial values.
  }];
  let arguments = (ins FA4_RowsType:$partial);
  let results = (outs FA4_RowsType:$sum);
  let builders = [OpBuilder<(ins "Value":$partial)>];
  let assemblyFormat = "$partial attr-dict `:` custom<Total>(type($partial), type($sum))";
  let hasVerifier = 1;
}

#endif // FA4_IR_WARPGROUPOPS_TD
