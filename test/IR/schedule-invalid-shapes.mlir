// RUN: fa4-opt %s --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The operands of a kernel agree as those of an attention do.

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'q' dimension 0 (B) and 'k' dimension 0 (B) to be equal, but got 1 and 2}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<2x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'q' dimension 1 (Sq) and 'o' dimension 1 (Sq) to be equal, but got 256 and 257}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x257x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'k' dimension 1 (Skv) and 'v' dimension 1 (Skv) to be equal, but got 256 and 128}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x128x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'k' dimension 2 (Hkv) and 'v' dimension 2 (Hkv) to be equal, but got 8 and 4}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x4x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'q' dimension 2 (Hq) and 'o' dimension 2 (Hq) to be equal, but got 8 and 4}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x4x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'q' dimension 3 (D) and 'k' dimension 3 (D) to be equal, but got 128 and 64}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'v' dimension 3 (Dv) and 'o' dimension 3 (Dv) to be equal, but got 128 and 64}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'q' dimension 1 (Sq) and 'lse' dimension 2 (Sq) to be equal, but got 256 and 8}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x256x8xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = 8 and Hkv = 3}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x3x128xf16>, %v: memref<1x256x3x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 96}}
fa4.kernel @f(%q: memref<1x256x8x96xf16>, %k: memref<1x256x8x96xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected stride 1 in 'q' dimension 3 (D), the innermost one, but got 2}}
fa4.kernel @f(%q: memref<1x256x8x128xf16, strided<[524288, 2048, 256, 2]>>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'q' in global memory (no memory space, 0, 1 or #gpu.address_space<global>), but got 3 : i64}}
fa4.kernel @f(%q: memref<1x256x8x128xf16, 3>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// Extents that are not static agree with any.
fa4.kernel @f(%q: memref<?x?x?x128xf16>, %k: memref<2x?x?x128xf16>, %v: memref<?x7x?x128xf16>, %o: memref<?x?x?x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}
