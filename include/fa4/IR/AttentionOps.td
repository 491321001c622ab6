// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed: attention on tensors or memrefs.

#ifndef FA4_IR_ATTENTIONOPS_TD
#define FA4_IR_ATTENTIONOPS_TD

include "fa4/IR/FA4OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def FA4_TensorOrMemRef
    : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "a ranked tensor or memref">;

def FA4_AttentionOp : FA4_Op<"attention", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "softmax(scale * Q * K^T) * V over the visible keys";
  let description = [{
    One forward attention, in destination style: the results are written to `o`
    and, where it is given, to `lse`. On memrefs the op has no result; on tensors
    it returns one result for each destination.

    ```mlir
    fa4.attention ins(%q, %k, %v : memref<1x1024x32x128xf16>,
                      memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                  outs(%o : memref<1x1024x32x128xf16>)
                  lse(%l : memref<1x32x1024xf32>) causal scale(0.125)

    %r = fa4.attention ins(%q, %k, %v : tensor<?x?x32x64xbf16>,
                           tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>)
                       outs(%o : tensor<?x?x32x64xbf16>) -> tensor<?x?x32x64xbf16>
    ```

    | operand | shape | element type | |
    |---|---|---|---|
    | `q` | `[B, Sq, Hq, D]` | f16 or bf16 | queries |
    | `k` | `[B, Skv, Hkv, D]` | as `q` | keys |
    | `v` | `[B, Skv, Hkv, Dv]` | as `q` | values |
    | `o` | `[B, Sq, Hq, Dv]` | as `q` | output |
    | `lse` | `[B, Hq, Sq]` | f32 | natural logarithm of the sum of exponentials |

    The order `[B, S, H, D]` is the logical one. A buffer that is laid out in
    another order, as `[B, H, S, D]`, comes in as a strided view
    (`memref.transpose`, or a `strided` layout on the type).

    Query head h reads the key/value head h / (Hq / Hkv). With `causal`, query i
    sees the keys j <= i + Skv - Sq: the mask is aligned to the bottom right.
    `scale` multiplies the logits and is 1 / sqrt(D) when absent; any finite value
    is legal, 0 and negative ones included.

    **Values.** The result is what float64 computes, rounded. A query that sees no
    key gets O = 0 and LSE = -inf. A NaN reaches every row that sees it and no
    other. B, Sq, Hq and Skv may be 0.

    **Aliasing.** Each element of `o` and `lse` is written once, and nothing of
    them is read. `o` may not be the same memref as an input (attention_c9). Two
    views of one buffer that overlap are not detected: where `o` or `lse` overlaps
    an input or the other, the result is undefined. On tensors the destination may
    be an input; bufferization then makes a copy.

    **Bufferization** with strided function arguments: use
    `function-boundary-type-conversion=identity-layout-map`; a fully dynamic layout
    does not say that the innermost stride is 1 (attention_c8).

    **Constraints.**

    * `attention_c1`: the operands are all memrefs or all ranked tensors.
    * `attention_c2`: `q`, `k`, `v` and `o` have rank 4, `lse` has rank 3.
    * `attention_c3`: the element type of `q`, `k`, `v` and `o` is f16 or bf16.
    * `attention_c4`: these four element types are equal.
    * `attention_c5`: D and Dv are static, and each is 64 or 128.
    * `attention_c6`: B, Sq, Skv, Hq, Hkv, D and Dv are the same wherever they occur;
      a dynamic extent agrees with any.
    * `attention_c7`: Hkv is not 0 and divides Hq.
    * `attention_c8`: a memref has a strided layout and its innermost stride is 1,
      statically.
    * `attention_c9`: on memrefs, neither `o` nor `lse` is the same value as an input.
    * `attention_c10`: no dimension of `o` with more than one element has stride 0.
    * `attention_c11`: the copy engine (TMA) takes each outer stride that is statically
      known: a multiple of 16 bytes, not negative and below 2^40 bytes. The stride
      of a dimension of static extent 0 or 1 is free.
    * `attention_c12`: a static offset of `q`, `k`, `v` or `o` is a multiple of 16 bytes.
    * `attention_c13`: `lse` is f32 with the identity layout.
    * `attention_c14`: `scale` is finite.
    * `attention_c15`: no other attribute; `window`, `softcap`, `dropout`, `bias` and the
      like are refused and never dropped. Attributes with a dialect prefix
      (`other.note`) are carried along and have no meaning here.
    * `attention_c16`: a memref lives in global memory: no memory space, 0, 1 or
      `#gpu.address_space<global>`.
    * `attention_c17`: on tensors there is one result for each destination, of its type; on
      memrefs there is none.
  }];

  let arguments = (ins
    FA4_TensorOrMemRef:$q,
    FA4_TensorOrMemRef:$k,
    FA4_TensorOrMemRef:$v,
    FA4_TensorOrMemRef:$o,
    Optional<FA4_TensorOrMemRef>:$lse,
    UnitAttr:$causal,
    OptionalAttr<F32Attr>:$scale);
  let results = (outs Variadic<AnyRankedTensor>:$results);

  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    `outs` `(` $o `:` type($o) `)`
    (`lse` `(` $lse^ `:` type($lse) `)`)?
    (`causal` $causal^)? (`scale` `(` $scale^ `)`)?
    attr-dict (`->` type($results)^)?
  }];

  let builders = [
    /// Attention into `o` and, where it is not null, `lse`; on tensors the result
    /// types are those of the destinations.
    OpBuilder<(ins "Value":$q, "Value":$k, "Value":$v, "Value":$o,
      CArg<"Value", "{}">:$lse, CArg<"bool", "false">:$causal,
      CArg<"FloatAttr", "{}">:$scale)>
  ];

  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let hasFolder = 1;

  let extraClassDeclaration = [{
    /// Extents, in elements; ShapedType::kDynamic where no operand says.
    int64_t getBatch();
    int64_t getQueryLength();
    int64_t getKeyLength();
    int64_t getQueryHeads();
    int64_t getKeyHeads();
    /// Head dimension of Q and K: always static.
    int64_t getHeadDim();
    /// Head dimension of V and O: always static.
    int64_t getValueDim();
    /// Query heads for each key/value head; ShapedType::kDynamic when a head
    /// count is dynamic.
    int64_t getGroupSize();
    /// The factor of the logits: `scale`, or 1 / sqrt(D).
    float getScaleValue();
    /// f16 or bf16.
    Type getElementType() { return getElementTypeOrSelf(getQ().getType()); }
    /// Whether the op works on memrefs.
    bool hasPureBufferSemantics() {
      return isa<MemRefType>(getQ().getType());
    }

    /// The destinations: `o` and, where it is there, `lse`.
    MutableOperandRange getDpsInitsMutable();
  }];
}

#endif // FA4_IR_ATTENTIONOPS_TD
