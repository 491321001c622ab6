// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arithmetic on fragments and row values.

// mask_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.mask' op expected columns within the K/V block's 128 keys, but got 97 to 129}}
    %y = fa4.mask %x[%c0, %c0, %c0] columns(97) : !fa4.fragment<128x32xf32>
  }
}

// -----

// mask_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.mask' op expected columns within the K/V block's 128 keys, but got -1 to 31}}
    %y = fa4.mask %x[%c0, %c0, %c0] columns(-1) : !fa4.fragment<128x32xf32>
  }
}

// -----

// mask_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.mask' op expected columns within the K/V block's 128 keys, but got 9223372036854775807 to 9223372036854775807}}
    %y = fa4.mask %x[%c0, %c0, %c0] columns(9223372036854775807) : !fa4.fragment<128x32xf32>
  }
}

// -----

// mask_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    // expected-error @below {{'fa4.mask' op expected an f32 fragment, but got '!fa4.fragment<128x32xf16>'}}
    %y = fa4.mask %x[%c0, %c0, %c0] columns(0) : !fa4.fragment<128x32xf16>
  }
}

// -----

// scale_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    // expected-error @below {{'fa4.scale' op expected an f32 fragment, but got '!fa4.fragment<128x32xf16>'}}
    %y = fa4.scale %x by 1.0 : !fa4.fragment<128x32xf16>
  }
}

// -----

// scale_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{expected an f32 number}}
    %y = fa4.scale %x by "one" : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.row_max' op expected at least one fragment}}
    %r:2 = "fa4.row_max"() <{scale = 1.0 : f32, threshold = 8.0 : f32, operandSegmentSizes = array<i32: 0, 0>}> : () -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>)
  }
}

// -----

// row_max_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %y = "test.fragment"() : () -> !fa4.fragment<128x16xf32>
    // expected-error @below {{'fa4.row_max' op expected fragments of one type, but got '!fa4.fragment<128x32xf32>' and '!fa4.fragment<128x16xf32>'}}
    %r:2 = "fa4.row_max"(%x, %y) <{scale = 1.0 : f32, threshold = 8.0 : f32, operandSegmentSizes = array<i32: 2, 0>}> : (!fa4.fragment<128x32xf32>, !fa4.fragment<128x16xf32>) -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>)
  }
}

// -----

// row_max_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    // expected-error @below {{'fa4.row_max' op expected an f32 fragment, but got '!fa4.fragment<128x32xf16>'}}
    %r:2 = fa4.row_max %x scale(1.0) threshold(8.0) : !fa4.fragment<128x32xf16>
  }
}

// -----

// row_max_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.row_max' op expected a finite positive 'scale', but got 0}}
    %r:2 = fa4.row_max %x scale(0.0) threshold(8.0) : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.row_max' op expected a finite positive 'scale', but got -1}}
    %r:2 = fa4.row_max %x scale(-1.0) threshold(8.0) : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.row_max' op expected a finite positive 'scale', but got +Inf}}
    %r:2 = fa4.row_max %x scale(0x7F800000) threshold(8.0) : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.row_max' op expected a finite positive 'scale', but got NaN}}
    %r:2 = fa4.row_max %x scale(0x7FC00000) threshold(8.0) : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.row_max' op expected a 'threshold' from 0 to 15, beyond which P overflows f16, but got -1.000000e+00}}
    %r:2 = fa4.row_max %x scale(1.0) threshold(-1.0) : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.row_max' op expected a 'threshold' from 0 to 15, beyond which P overflows f16, but got 1.600000e+01}}
    %r:2 = fa4.row_max %x scale(1.0) threshold(16.0) : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.row_max' op expected a 'threshold' from 0 to 15, beyond which P overflows f16, but got nan}}
    %r:2 = fa4.row_max %x scale(1.0) threshold(0x7FC00000) : !fa4.fragment<128x32xf32>
  }
}

// -----

// exp2_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected an f32 fragment, but got '!fa4.fragment<128x32xf16>'}}
    %y = fa4.exp2 %x minus %rows scale(1.0) : !fa4.fragment<128x32xf16>, !fa4.rows<128xf32>
  }
}

// -----

// exp2_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x31xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected an even number of columns, but got 31}}
    %y = fa4.exp2 %x minus %rows scale(1.0) : !fa4.fragment<128x31xf32>, !fa4.rows<128xf32>
  }
}

// -----

// exp2_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected n of m pairs by polynomial with n from 0 to m and m dividing the 16 pairs, but got 9 of 8}}
    %y = fa4.exp2 %x minus %rows scale(1.0) poly(9 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
  }
}

// -----

// exp2_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected n of m pairs by polynomial with n from 0 to m and m dividing the 16 pairs, but got -1 of 8}}
    %y = fa4.exp2 %x minus %rows scale(1.0) poly(-1 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
  }
}

// -----

// exp2_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected n of m pairs by polynomial with n from 0 to m and m dividing the 16 pairs, but got 1 of 0}}
    %y = fa4.exp2 %x minus %rows scale(1.0) poly(1 of 0) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
  }
}

// -----

// exp2_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected n of m pairs by polynomial with n from 0 to m and m dividing the 16 pairs, but got 1 of -8}}
    %y = fa4.exp2 %x minus %rows scale(1.0) poly(1 of -8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
  }
}

// -----

// exp2_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected n of m pairs by polynomial with n from 0 to m and m dividing the 16 pairs, but got 1 of 5}}
    %y = fa4.exp2 %x minus %rows scale(1.0) poly(1 of 5) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
  }
}

// -----

// exp2_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected a finite positive 'scale', but got 0}}
    %y = fa4.exp2 %x minus %rows scale(0.0) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
  }
}

// -----

// row_sum_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.row_sum' op expected at least one fragment}}
    %r = "fa4.row_sum"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> !fa4.rows<128xf32>
  }
}

// -----

// row_sum_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xbf16>
    // expected-error @below {{'fa4.row_sum' op expected an f32 fragment, but got '!fa4.fragment<128x32xbf16>'}}
    %r = fa4.row_sum %x : !fa4.fragment<128x32xbf16>
  }
}

// -----

// row_sum_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.row_sum' op expected an old sum and its factor together}}
    %r = "fa4.row_sum"(%x, %rows) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!fa4.fragment<128x32xf32>, !fa4.rows<128xf32>) -> !fa4.rows<128xf32>
  }
}

// -----

// convert_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    // expected-error @below {{'fa4.convert' op expected a conversion from f32 to f16 or bf16, but got 'f16' to 'f32'}}
    %y = fa4.convert %x : !fa4.fragment<128x32xf16> to !fa4.fragment<128x32xf32>
  }
}

// -----

// convert_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.convert' op expected a conversion from f32 to f16 or bf16, but got 'f32' to 'f32'}}
    %y = fa4.convert %x : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf32>
  }
}

// -----

// convert_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.convert' op expected one shape and layout, but got '!fa4.fragment<128x32xf32>' and '!fa4.fragment<128x16xf16>'}}
    %y = fa4.convert %x : !fa4.fragment<128x32xf32> to !fa4.fragment<128x16xf16>
  }
}

// -----

// convert_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.convert' op expected one shape and layout, but got '!fa4.fragment<128x32xf32>' and '!fa4.fragment<64x32xf16, wgmma>'}}
    %y = fa4.convert %x : !fa4.fragment<128x32xf32> to !fa4.fragment<64x32xf16, wgmma>
  }
}

// -----

// convert_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x31xf32>
    // expected-error @below {{'fa4.convert' op expected an even number of columns, but got 31}}
    %y = fa4.convert %x : !fa4.fragment<128x31xf32> to !fa4.fragment<128x31xf16>
  }
}

// -----

// normalize_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.normalize' op expected an f32 fragment, but got '!fa4.fragment<128x32xf16>'}}
    %y = fa4.normalize %x by %rows : !fa4.fragment<128x32xf16>, !fa4.rows<128xf32>
  }
}

// -----

// row_max_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x, %r = "test.op"() : () -> (!fa4.fragment<128x32xf32>, !fa4.rows<128xf32>)
    // expected-error @below {{'fa4.row_max' op expected 'vote' only against an old reference and with fragments in 'wgmma' layout, but got '!fa4.fragment<128x32xf32>'}}
    %m:2 = fa4.row_max %x against %r scale(1.0) threshold(8.0) vote : !fa4.fragment<128x32xf32>
  }
}

// -----

// row_max_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.op"() : () -> !fa4.fragment<64x32xf32, wgmma>
    // expected-error @below {{'fa4.row_max' op expected 'vote' only against an old reference and with fragments in 'wgmma' layout, but got '!fa4.fragment<64x32xf32, wgmma>'}}
    %m:2 = fa4.row_max %x scale(1.0) threshold(8.0) vote : !fa4.fragment<64x32xf32, wgmma>
  }
}

// -----

// exponents_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x, %r = "test.op"() : () -> (!fa4.fragment<64x32xf16, wgmma>, !fa4.rows<64xf32>)
    // expected-error @below {{'fa4.exponents' op expected an f32 fragment, but got '!fa4.fragment<64x32xf16, wgmma>'}}
    %y = fa4.exponents %x minus %r scale(1.0) : !fa4.fragment<64x32xf16, wgmma>, !fa4.rows<64xf32>
  }
}

// -----

// exponents_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x, %r = "test.op"() : () -> (!fa4.fragment<64x32xf32, wgmma>, !fa4.rows<64xf32>)
    // expected-error @below {{'fa4.exponents' op expected a finite positive 'scale', but got 0}}
    %y = fa4.exponents %x minus %r scale(0.0) : !fa4.fragment<64x32xf32, wgmma>, !fa4.rows<64xf32>
  }
}

// -----

// exp2_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.op"() : () -> !fa4.fragment<64x32xf32, wgmma>
    // expected-error @below {{'fa4.exp2' op expected a reference and its 'scale' together}}
    %y = "fa4.exp2"(%x) <{scale = 1.0 : f32}> : (!fa4.fragment<64x32xf32, wgmma>) -> !fa4.fragment<64x32xf32, wgmma>
  }
}

// -----

// exp2_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    %x = "test.op"() : () -> !fa4.fragment<64x32xf32, wgmma>
    // expected-error @below {{'fa4.exp2' op expected fewer than all pairs by polynomial without a reference, which would pass NaN on}}
    %y = fa4.exp2 %x poly(8 of 8) : !fa4.fragment<64x32xf32, wgmma>
  }
}

// -----

// fill_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.fill' op expected partial row values, but got '!fa4.rows<64xf32>'}}
    %x = fa4.fill 0.0 : !fa4.rows<64xf32>
  }
}
