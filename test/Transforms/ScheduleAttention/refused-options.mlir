// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that an attention cannot have: each is refused at the attention, with the
// budget, the excess and what would be right.

// RUN: not fa4-opt --fa4-schedule-attention=softmax-registers=208 %s 2>&1 | FileCheck %s --check-prefix=E0
// RUN: not fa4-opt --fa4-schedule-attention=softmax-registers=201 %s 2>&1 | FileCheck %s --check-prefix=E1
// RUN: not fa4-opt --fa4-schedule-attention=correction-registers=16 %s 2>&1 | FileCheck %s --check-prefix=E2
// RUN: not fa4-opt --fa4-schedule-attention=other-registers=264 %s 2>&1 | FileCheck %s --check-prefix=E3
// RUN: not fa4-opt --fa4-schedule-attention=kv-stages=4 %s 2>&1 | FileCheck %s --check-prefix=E4
// RUN: not fa4-opt --fa4-schedule-attention=kv-stages=1 %s 2>&1 | FileCheck %s --check-prefix=E5
// RUN: not fa4-opt --fa4-schedule-attention=kv-stages=-1 %s 2>&1 | FileCheck %s --check-prefix=E6
// RUN: not fa4-opt --fa4-schedule-attention=p-split=40 %s 2>&1 | FileCheck %s --check-prefix=E7
// RUN: not fa4-opt --fa4-schedule-attention=p-split=48 %s 2>&1 | FileCheck %s --check-prefix=E8
// RUN: not fa4-opt --fa4-schedule-attention=p-split=144 %s 2>&1 | FileCheck %s --check-prefix=E9
// RUN: not fa4-opt --fa4-schedule-attention=p-split=-16 %s 2>&1 | FileCheck %s --check-prefix=E10
// RUN: not fa4-opt --fa4-schedule-attention=fragment-width=64 %s 2>&1 | FileCheck %s --check-prefix=E11
// RUN: not fa4-opt --fa4-schedule-attention=fragment-width=24 %s 2>&1 | FileCheck %s --check-prefix=E12
// RUN: not fa4-opt --fa4-schedule-attention=fragment-width=128 %s 2>&1 | FileCheck %s --check-prefix=E13
// RUN: not fa4-opt --fa4-schedule-attention=poly-of=3 %s 2>&1 | FileCheck %s --check-prefix=E14
// RUN: not fa4-opt --fa4-schedule-attention=poly-of=0 %s 2>&1 | FileCheck %s --check-prefix=E15
// RUN: not fa4-opt --fa4-schedule-attention=poly-pairs=9 %s 2>&1 | FileCheck %s --check-prefix=E16
// RUN: not fa4-opt --fa4-schedule-attention=poly-pairs=-2 %s 2>&1 | FileCheck %s --check-prefix=E17
// RUN: not fa4-opt --fa4-schedule-attention=rescale-threshold=15.5 %s 2>&1 | FileCheck %s --check-prefix=E18
// RUN: not fa4-opt --fa4-schedule-attention=rescale-threshold=-1 %s 2>&1 | FileCheck %s --check-prefix=E19
// RUN: not fa4-opt --fa4-schedule-attention=rescale-threshold=nan %s 2>&1 | FileCheck %s --check-prefix=E20
// RUN: not fa4-opt --fa4-schedule-attention=epilogue-chunk=48 %s 2>&1 | FileCheck %s --check-prefix=E21
// RUN: not fa4-opt --fa4-schedule-attention=epilogue-chunk=4 %s 2>&1 | FileCheck %s --check-prefix=E22
// RUN: not fa4-opt --fa4-schedule-attention=softmax-registers=128 %s 2>&1 | FileCheck %s --check-prefix=E23
// RUN: not fa4-opt --fa4-schedule-attention=epilogue-chunk=64 %s 2>&1 | FileCheck %s --check-prefix=E24
// RUN: not fa4-opt --fa4-schedule-attention=rescale-chunk=64 %s 2>&1 | FileCheck %s --check-prefix=E25
// RUN: not fa4-opt --fa4-schedule-attention=rescale-chunk=256 %s 2>&1 | FileCheck %s --check-prefix=E26

// E0: error: 'fa4.attention' op expected register budgets of at most 65536 registers in all, but got 67584, 2048 too many: 128 x (2 x 208 softmax + 64 correction + 48 other){{$}}
// E1: error: 'fa4.attention' op expected 'softmax-registers' to be a multiple of 8 from 24 to 256, but got 201{{$}}
// E2: error: 'fa4.attention' op expected 'correction-registers' to be a multiple of 8 from 24 to 256, but got 16{{$}}
// E3: error: 'fa4.attention' op expected 'other-registers' to be a multiple of 8 from 24 to 256, but got 264{{$}}
// E4: error: 'fa4.attention' op expected at most 232448 bytes of shared memory, but got 264416, 31968 too many: q 65536, kv 131072 (4 x 32768), o_staging 65536, mailboxes 2048, barriers 208, tensor-memory address 16{{$}}
// E5: error: 'fa4.attention' op expected 'kv-stages' from 2 to 64, as K and V are held together, but got 1{{$}}
// E6: error: 'fa4.attention' op expected 'kv-stages' from 2 to 64, as K and V are held together, but got -1{{$}}
// E7: error: 'fa4.attention' op expected 'p-split' to be a multiple of 16, the K step of an MMA, but got 40{{$}}
// E8: error: 'fa4.attention' op expected 'p-split' to be a multiple of 32, the 'fragment-width', but got 48{{$}}
// E9: error: 'fa4.attention' op expected 'p-split' from 16 to 128, the columns of P, but got 144{{$}}
// E10: error: 'fa4.attention' op expected 'p-split' from 16 to 128, the columns of P, but got -16{{$}}
// E11: error: 'fa4.attention' op expected 'p-split' to be a multiple of 64, the 'fragment-width', but got 96{{$}}
// E12: error: 'fa4.attention' op expected 'fragment-width' to be 16, 32 or 64, but got 24{{$}}
// E13: error: 'fa4.attention' op expected 'fragment-width' to be 16, 32 or 64, but got 128{{$}}
// E14: error: 'fa4.attention' op expected 'poly-of' to divide the 16 pairs of columns of a fragment, but got 3{{$}}
// E15: error: 'fa4.attention' op expected 'poly-of' to divide the 16 pairs of columns of a fragment, but got 0{{$}}
// E16: error: 'fa4.attention' op expected 'poly-pairs' from 0 to 8, the 'poly-of', but got 9{{$}}
// E17: error: 'fa4.attention' op expected 'poly-pairs' from 0 to 8, the 'poly-of', but got -2{{$}}
// E18: error: 'fa4.attention' op expected 'rescale-threshold' from 0 to 15, but got 1.550000e+01{{$}}
// E19: error: 'fa4.attention' op expected 'rescale-threshold' from 0 to 15, but got -1.000000e+00{{$}}
// E20: error: 'fa4.attention' op expected 'rescale-threshold' from 0 to 15, but got nan{{$}}
// E21: error: 'fa4.attention' op expected 'epilogue-chunk' to be a power of two from 8 to 128, the columns of 'o', but got 48{{$}}
// E22: error: 'fa4.attention' op expected 'epilogue-chunk' to be a power of two from 8 to 128, the columns of 'o', but got 4{{$}}
// E23: error: 'fa4.attention' op expected 'softmax-registers' above 128, the columns of S that a thread holds, but got 128{{$}}
// E24: error: 'fa4.attention' op expected 'epilogue-chunk' below 64, the registers of a thread of the correction role, but got 64{{$}}
// E25: error: 'fa4.attention' op expected 'rescale-chunk' below 64, the registers of a thread of the correction role, but got 64{{$}}
// E26: error: 'fa4.attention' op expected 'rescale-chunk' to be a power of two from 2 to 128, the columns of 'o', but got 256{{$}}

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
