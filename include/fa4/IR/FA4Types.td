// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_IR_TYPES_TD
#define FA4_IR_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "fa4/IR/FA4Dialect.td"
include "fa4/IR/FA4Enums.td"

class FA4_Type<string name, string typeMnemonic>
    : TypeDef<FA4_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def FA4_RingType : FA4_Type<"Ring", "ring"> {
  let summary = "a ring of equal tiles in one memory";
  let description = [{
    `slots` buffers of one tile each. The tile has rank 2 (rows x columns) or,
    for a mailbox of row values, rank 1. Roles hand the slots round through
    barriers; where the ring lives is decided by `--fa4-allocate-storage`.

    ```mlir
    !fa4.ring<2 x 128x128xf16, smem>   // Q: two tiles in shared memory
    !fa4.ring<2 x 128x128xf32, tmem>   // S: two tiles in tensor memory
    !fa4.ring<2 x 128xf32, smem>       // one value a row: a mailbox
    ```

    `ring_c1`: at least one slot, rank 1 or 2, positive static extents, and an
    element type of f16, bf16 or f32.
  }];
  let parameters = (ins "int64_t":$slots,
                        ArrayRefParameter<"int64_t">:$shape,
                        "Type":$elementType,
                        "MemorySpace":$space);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Extent of the last dimension, in elements.
    int64_t getColumns() const { return getShape().back(); }
    /// Extent of the first dimension of a tile, in elements.
    int64_t getRows() const { return getShape().front(); }
    /// Size of one element in bytes.
    int64_t getElementBytes() const;
    /// Size of one tile in bytes.
    int64_t getTileBytes() const;
    /// Tensor-memory columns (32 bits wide) of one tile.
    int64_t getTileTmemColumns() const;
  }];
}

def FA4_FragmentType : FA4_Type<"Fragment", "fragment"> {
  let summary = "a tile in the registers of one warpgroup";
  let description = [{
    With `row_per_thread`, the layout of Blackwell's tensor-memory accesses and
    the default, thread t of the warpgroup holds row t. With `wgmma` the tile is
    spread as Hopper's accumulators are: four neighbouring threads share the rows
    r and r + 8, and each holds two of every eight columns of both.

    ```mlir
    !fa4.fragment<128x32xf32>
    !fa4.fragment<64x128xf32, wgmma>
    ```

    `fragment_c1`: rank 2, positive static extents, an element type of f16,
    bf16 or f32, and 128 rows where a thread holds one; 64 rows and a multiple of
    8 columns (of 16 with 16-bit elements) in `wgmma` layout.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "Type":$elementType,
                        "FragmentLayout":$layout);
  let builders = [
    TypeBuilderWithInferredContext<(ins "ArrayRef<int64_t>":$shape, "Type":$elementType), [{
      return $_get(elementType.getContext(), shape, elementType,
                  FragmentLayout::RowPerThread);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape()[0]; }
    int64_t getColumns() const { return getShape()[1]; }
  }];
}

def FA4_RowsType : FA4_Type<"Rows", "rows"> {
  let summary = "one value a row, in the registers of one warpgroup";
  let description = [{
    Thread t holds the value of row t. Of 64 rows, those of a fragment in `wgmma`
    layout, each thread holds the values of its two rows; with `partial` what the
    four threads of a row hold has to be added up to give the row's value.

    ```mlir
    !fa4.rows<128xf32>
    !fa4.rows<64xf32>
    !fa4.rows<64xf32, partial>
    ```

    `rows_c1`: 128 or 64 rows of f32, and 64 if they are partial.
  }];
  let parameters = (ins "int64_t":$rows, "Type":$elementType, "bool":$partial);
  let builders = [
    TypeBuilderWithInferredContext<(ins "int64_t":$rows, "Type":$elementType,
                                        CArg<"bool", "false">:$partial), [{
      return $_get(elementType.getContext(), rows, elementType, partial);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def FA4_PendingType : FA4_Type<"Pending", "pending"> {
  let summary = "a fragment that the tensor core still writes";
  let description = [{
    The result of a `fa4.warpgroup_mma`, an f32 fragment in `wgmma` layout, until a
    `fa4.warpgroup_wait` hands it out. Nothing else takes it, so that no register
    is read too early.

    ```mlir
    !fa4.pending<64x128xf32>
    ```

    `pending_c1`: what a fragment in `wgmma` layout may be, of f32.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What it is once settled.
    FragmentType getFragment() const {
      return FragmentType::get(getContext(), getShape(), getElementType(), FragmentLayout::WGMMA);
    }
  }];
}

def FA4_BarrierType : FA4_Type<"Barrier", "barrier"> {
  let summary = "a contract between roles, with one phase counter a slot";
}

def FA4_AnyRing : Type<CPred<"::llvm::isa<::mlir::fa4::RingType>($_self)">, "ring">;

#endif // FA4_IR_TYPES_TD
