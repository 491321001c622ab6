// RUN: not fa4-opt %s --fa4-to-ptx=kv-stage=2 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fa4-opt %s --fa4-to-ptx=ptx-version=eighty 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fa4-opt %s --fa4-to-ptx=chip=sm_42 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fa4-opt %s --fa4-to-ptx=ptx-version=78 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not fa4-opt %s --fa4-to-ptx=ptx-version=95 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: not fa4-opt %s --fa4-to-binary=ptxas=%s.nowhere 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: not fa4-opt %s --fa4-kernels-to-binary=format=elf 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: fa4-opt --help | FileCheck %s --check-prefix=HELP

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// HELP: --fa4-to-binary {{.*}} Attentions, schedules or NVVM to cubins; takes the options of --fa4-schedule-attention too
// HELP: --ptx-version=
// HELP: --fa4-to-nvvm
// HELP: --fa4-to-ptx
// HELP: --fa4-to-schedule

// NAME: no such option kv-stage
// NUMBER: ptx-version
// CHIP: error: unknown chip 'sm_42', expected one of sm_100a
// OLD: error: {{.*}}needs a PTX version from 8.6, for tcgen05,{{.*}}but 'ptx-version' is 7.8
// NEW: error: {{.*}}to 9.0, the newest that LLVM {{.*}} writes, but 'ptx-version' is 9.5
// PTXAS: error: 'gpu.module' op cannot become a cubin: '{{.*}}.nowhere' is not a program that can be run; expected the path of ptxas
// FORMAT: error: expected 'format' to be isa or bin, but got 'elf'
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
                outs(%o : memref<?x?x8x64xf16>)
  return
}
