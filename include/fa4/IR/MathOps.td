// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Tile ops that compute on fragments and row values in registers.
//
#ifndef FA4_IR_MATHOPS_TD
#define FA4_IR_MATHOPS_TD

include "fa4/IR/FA4OpBase.td"

def FA4_MaskOp : FA4_Op<"mask", [FA4_InRole, Pure, FA4_NamedResults, AllTypesMatch<["input", "result"]>]> {
  let summary = "sets the logits of hidden keys to -inf";
  let description = [{
    Hidden are keys past the end of K and, in a causal kernel, those that the row's
    position does not see: key j is visible to query i when j <= i + Skv - Sq.
    `column` is the fragment's first column in the K/V block.

    ```mlir
    %y = fa4.mask %x[%m, %stage, %j] columns(32) : !fa4.fragment<128x32xf32>
    ```

    `mask_c1`: an f32 fragment whose columns lie within the kernel's K/V block.
  }];
  let arguments = (ins FA4_FragmentType:$input, Index:$m_block, Index:$stage,
                       Index:$kv_block, FA4_I64Attr:$column);
  let results = (outs FA4_FragmentType:$result);
  let assemblyFormat = [{
    $input `[` $m_block `,` $stage `,` $kv_block `]` `columns` `(` $column `)`
    attr-dict `:` qualified(type($input))
  }];
  let hasVerifier = 1;
}

def FA4_ScaleOp : FA4_Op<"scale", [FA4_InRole, Pure, FA4_NamedResults, AllTypesMatch<["input", "result"]>]> {
  let summary = "multiplies a fragment by a constant";
  let description = [{
    Used before the mask where a scale of (nearly) zero would turn a masked -inf
    into NaN.

    ```mlir
    %y = fa4.scale %x by 0.000000e+00 : !fa4.fragment<128x32xf32>
    ```
    `scale_c1`: an f32 fragment.
  }];
  let arguments = (ins FA4_FragmentType:$input, F32Attr:$factor);
  let results = (outs FA4_FragmentType:$result);
  let assemblyFormat = "$input `by` custom<F32>($factor) attr-dict `:` qualified(type($input))";
  let hasVerifier = 1;
}

def FA4_RowMaxOp : FA4_Op<"row_max", [FA4_InRole, Pure, FA4_NamedResults, AttrSizedOperandSegments]> {
  let summary = "the reference that a row's exponents are taken against";
  let description = [{
    Let `mx` be the largest of `scale` times the row's elements over all fragments
    (NaN if one is NaN). Against an old reference, the row keeps it while
    mx <= old + threshold; otherwise, and in a task's first block, the new reference
    is mx itself, so that the largest logit weighs exactly 1 and no rounding of P
    touches a row with one dominant key. `factor` is 2^(old - new): 1 where the
    reference stays and in a first block.

    `scale` is in units of log2: log2(e) times the attention's scale.

    With `vote`, warps branch: one whose rows all keep their references computes no
    factors. A product that runs meanwhile is not waited for before the branch. For
    fragments in `wgmma` layout.

    ```mlir
    %ref, %factor = fa4.row_max %x0, %x1 scale(0.127517432) threshold(8.0) : !fa4.fragment<128x64xf32>
    %new, %f = fa4.row_max %x0, %x1 against %ref scale(0.127517432) threshold(8.0) : !fa4.fragment<128x64xf32>
    %n, %g = fa4.row_max %s against %r scale(0.127517432) threshold(8.0) vote : !fa4.fragment<64x128xf32, wgmma>
    ```

    * `row_max_c1`: at least one fragment, all f32 and of one type.
    * `row_max_c2`: `scale` is finite and positive; `threshold` is finite, from 0 to 15.
    * `row_max_c3`: `vote` goes with an old reference and with `wgmma` layout.
  }];
  let arguments = (ins Variadic<FA4_FragmentType>:$fragments,
                       Optional<FA4_RowsType>:$old, F32Attr:$scale, F32Attr:$threshold,
                       UnitAttr:$vote);
  let results = (outs FA4_RowsType:$reference, FA4_RowsType:$factor);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def FA4_ExponentsOp : FA4_Op<"exponents", [FA4_InRole, Pure, FA4_NamedResults, AllTypesMatch<["input", "result"]>]> {
  let summary = "scale * x - reference";
  let description = [{
    The first half of `fa4.exp2`, for a role that does the second later: its result
    is in other registers than S, which the next product may then overwrite. For a
    row whose reference is -inf (nothing seen yet) it is scale * x.

    ```mlir
    %x = fa4.exponents %s minus %ref scale(0.127517432) : !fa4.fragment<64x128xf32, wgmma>, !fa4.rows<64xf32>
    ```

    * `exponents_c1`: an f32 fragment.
    * `exponents_c2`: `scale` is finite and positive.
  }];
  let arguments = (ins FA4_FragmentType:$input, FA4_RowsType:$reference, F32Attr:$scale);
  let results = (outs FA4_FragmentType:$result);
  let assemblyFormat = [{
    $input `minus` $reference `scale` `(` custom<F32>($scale) `)`
    attr-dict `:` qualified(type($input)) `,` qualified(type($reference))
  }];
  let hasVerifier = 1;
}

def FA4_Exp2Op : FA4_Op<"exp2", [FA4_InRole, Pure, FA4_NamedResults, AllTypesMatch<["input", "result"]>]> {
  let summary = "2^(scale * x - reference), a part of it on the FMA pipe";
  let description = [{
    Without `minus` it is 2^x, of what `fa4.exponents` gave.

    With `poly(n of m)` the last n of every m pairs of columns are computed by a
    polynomial of degree 3 (relative error below 8.8e-5) instead of the special
    function unit. A row whose reference is -inf (nothing seen yet) gives 0.

    ```mlir
    %e = fa4.exp2 %x minus %ref scale(0.127517432) poly(2 of 8) : !fa4.fragment<128x32xf32>
    %f = fa4.exp2 %y poly(1 of 8) : !fa4.fragment<64x128xf32, wgmma>
    ```

    * `exp2_c1`: an f32 fragment with an even number of columns.
    * `exp2_c2`: 0 <= n <= m, m is positive and divides the pairs of columns.
    * `exp2_c3`: `scale` is finite and positive, and goes with a reference.
    * `exp2_c4`: n < m without a reference: a polynomial passes no NaN on.
  }];
  let arguments = (ins FA4_FragmentType:$input, Optional<FA4_RowsType>:$reference, OptionalAttr<F32Attr>:$scale,
                       DefaultValuedAttr<FA4_I64Attr, "0">:$poly, DefaultValuedAttr<FA4_I64Attr, "1">:$of);
  let results = (outs FA4_FragmentType:$result);
  let assemblyFormat = [{
    $input (`minus` $reference^ `scale` `(` custom<F32>($scale) `)`)?
    custom<Poly>($poly, $of) attr-dict `:` qualified(type($input)) (`,` qualified(type($reference))^)?
  }];
  let hasVerifier = 1;
}

def FA4_RowSumOp : FA4_Op<"row_sum", [FA4_InRole, Pure, FA4_NamedResults, AttrSizedOperandSegments]> {
  let summary = "adds up a row's elements over fragments";
  let description = [{
    ```mlir
    %l = fa4.row_sum %e0, %e1 : !fa4.fragment<128x64xf32>
    %m = fa4.row_sum %e0, %e1 plus %l times %factor : !fa4.fragment<128x64xf32>
    ```
    `row_sum_c1`: at least one fragment, all f32 and of one type.
  }];
  let arguments = (ins Variadic<FA4_FragmentType>:$fragments, Optional<FA4_RowsType>:$old,
                       Optional<FA4_RowsType>:$factor);
  let results = (outs FA4_RowsType:$sum);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def FA4_ConvertOp : FA4_Op<"convert", [FA4_InRole, Pure, FA4_NamedResults]> {
  let summary = "rounds a fragment to the storage type";
  let description = [{
    ```mlir
    %p = fa4.convert %e : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
    ```
    `convert_c1`: from f32 to f16 or bf16, round to nearest even, of one shape and
    layout, with an even number of columns.
  }];
  let arguments = (ins FA4_FragmentType:$input);
  let results = (outs FA4_FragmentType:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `to` qualified(type($result))";
  let hasVerifier = 1;
}

def FA4_NormalizeOp : FA4_Op<"normalize", [FA4_InRole, Pure, FA4_NamedResults, AllTypesMatch<["input", "result"]>]> {
  let summary = "divides rows by their sums; a row with sum 0 becomes 0";
  let description = [{
    A sum of zero means that the row saw no key: its result is exactly zero
    whatever the input holds, NaN included. A NaN sum gives NaN.

    ```mlir
    %y = fa4.normalize %x by %sum : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
    ```
    `normalize_c1`: an f32 fragment.
  }];
  let arguments = (ins FA4_FragmentType:$input, FA4_RowsType:$sum);
  let results = (outs FA4_FragmentType:$result);
  let assemblyFormat = "$input `by` $sum attr-dict `:` qualified(type($input)) `,` qualified(type($sum))";
  let hasVerifier = 1;
}

#endif // FA4_IR_MATHOPS_TD
