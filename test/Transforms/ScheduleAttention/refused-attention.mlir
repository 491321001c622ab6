// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attentions and targets without a schedule.

// RUN: fa4-opt --fa4-schedule-attention -allow-unregistered-dialect -split-input-file -verify-diagnostics %s

func.func @tensors(%q: tensor<1x64x2x64xf16>, %k: tensor<1x64x2x64xf16>,
    %v: tensor<1x64x2x64xf16>, %o: tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16> {
  // expected-error @below {{'fa4.attention' op expected memrefs, but 'q' is 'tensor<1x64x2x64xf16>': bufferize first}}
  %r = fa4.attention ins(%q, %k, %v : tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>,
                         tensor<1x64x2x64xf16>)
      outs(%o : tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16>
  return %r : tensor<1x64x2x64xf16>
}

// -----

func.func @two_head_dimensions(%q: memref<1x64x2x128xf16>, %k: memref<1x64x2x128xf16>,
    %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected one head dimension of 'k' and 'v', whose tiles have one size, but got 128 and 64}}
  fa4.attention ins(%q, %k, %v : memref<1x64x2x128xf16>, memref<1x64x2x128xf16>,
                    memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>)
  return
}

// -----

// Each attention that does not fit is reported.
func.func @both(%q: memref<1x64x2x128xf16>, %k: memref<1x64x2x128xf16>,
    %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) {
  // expected-error @below {{expected one head dimension of 'k' and 'v'}}
  fa4.attention ins(%q, %k, %v : memref<1x64x2x128xf16>, memref<1x64x2x128xf16>,
                    memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>)
  // expected-error @below {{expected one head dimension of 'k' and 'v'}}
  fa4.attention ins(%q, %k, %v : memref<1x64x2x128xf16>, memref<1x64x2x128xf16>,
                    memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>) causal
  return
}

// -----

// expected-error @below {{expected 'fa4.target' to be a #fa4.target, but got "sm_100a"}}
module attributes {fa4.target = "sm_100a"} {
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
}

// -----

module attributes {fa4.target = #fa4.target<sm_100a, smem = 200000>} {
func.func @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>,
    %o: memref<1x256x8x128xf16>) {
  // expected-error @below {{'fa4.attention' op expected at most 200000 bytes of shared memory, but got 230608, 30608 too many: q 65536, kv 98304 (3 x 32768), o_staging 65536, mailboxes 1024, barriers 192, tensor-memory address 16}}
  fa4.attention ins(%q, %k, %v : memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>)
      outs(%o : memref<1x256x8x128xf16>)
  return
}
}

// -----

module attributes {fa4.target = #fa4.target<sm_100a, tmem = 256>} {
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected at most 256 columns of tensor memory, but got 512, 256 too many: s 256, o 128, rounded up to a power of two}}
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
}

// -----

module attributes {fa4.target = #fa4.target<sm_100a, registers = 32768>} {
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected register budgets of at most 32768 registers in all, but got 65536, 32768 too many: 128 x (2 x 200 softmax + 64 correction + 48 other)}}
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
}

// -----

%q, %k, %v, %o = "test.memrefs"() : () -> (memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
// expected-error @below {{'fa4.attention' op expected to lie in a function at the top level of a module}}
fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>,
                  memref<1x64x2x64xf16>)
    outs(%o : memref<1x64x2x64xf16>)

// -----

gpu.module @device {
  gpu.func @kernel(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>,
      %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) kernel {
    // expected-error @below {{'fa4.attention' op expected to lie in a function at the top level of a module}}
    fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>,
                      memref<1x64x2x64xf16>)
        outs(%o : memref<1x64x2x64xf16>)
    gpu.return
  }
}

// -----

func.func @device(%q: memref<2x100x8x64xf16>, %o: memref<2x100x8x64xf16>, %n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    // expected-error @below {{'fa4.attention' op expected to lie in host code, not in 'gpu.launch'}}
    fa4.attention ins(%q, %q, %q : memref<2x100x8x64xf16>, memref<2x100x8x64xf16>, memref<2x100x8x64xf16>) outs(%o : memref<2x100x8x64xf16>)
    gpu.terminator
  }
  return
}
