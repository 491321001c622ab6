// RUN: fa4-opt %s --fa4-kernels-to-binary -split-input-file -verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the backend would abort on is said before it runs: feature, target, and what
// is required (N2).

#launch = #fa4.launch_descriptor<"{\22schema\22:1,\22kernel\22:\22k\22,\22chip\22:\22sm_100a\22,\22ptx\22:\228.8\22,\22versions\22:{\22fa4\22:\220\22,\22llvm\22:\220\22,\22ptxas\22:\22\22},\22tensors\22:[],\22symbols\22:[],\22derived\22:[],\22checks\22:[],\22skip_if\22:0,\22parameters\22:[],\22grid\22:[1,1,1],\22block\22:[32,1,1],\22dynamic_shared_bytes\22:0,\22roles\22:[]}">
module attributes {gpu.container_module} {
  gpu.module @m [#nvvm.target<chip = "sm_103a", features = "+ptx88">] {
    llvm.func @k() attributes {fa4.launch = #launch, nvvm.kernel} {
      %x = llvm.mlir.zero : !llvm.ptr<6>
      %n = llvm.mlir.constant(32 : i32) : i32
      // expected-error @below {{'llvm.call_intrinsic' op needs tcgen05, which sm_103a does not have or fa4 does not emit for it; expected sm_100a}}
      llvm.call_intrinsic "llvm.nvvm.tcgen05.dealloc.cg1"(%x, %n) : (!llvm.ptr<6>, i32) -> ()
      llvm.return
    }
  }
}

// -----

#launch = #fa4.launch_descriptor<"{\22schema\22:1,\22kernel\22:\22k\22,\22chip\22:\22sm_100a\22,\22ptx\22:\228.8\22,\22versions\22:{\22fa4\22:\220\22,\22llvm\22:\220\22,\22ptxas\22:\22\22},\22tensors\22:[],\22symbols\22:[],\22derived\22:[],\22checks\22:[],\22skip_if\22:0,\22parameters\22:[],\22grid\22:[1,1,1],\22block\22:[32,1,1],\22dynamic_shared_bytes\22:0,\22roles\22:[]}">
module attributes {gpu.container_module} {
  gpu.module @m [#nvvm.target<chip = "sm_100a", features = "+ptx78">] {
    llvm.func @k() attributes {fa4.launch = #launch, nvvm.kernel} {
      // expected-error @below {{'nvvm.setmaxregister' op needs setmaxnreg, which PTX has from version 8.0 on, but the module's target asks for 7.8}}
      nvvm.setmaxregister increase 200
      llvm.return
    }
  }
}

// -----

#launch = #fa4.launch_descriptor<"{\22schema\22:1,\22kernel\22:\22k\22,\22chip\22:\22sm_100a\22,\22ptx\22:\228.8\22,\22versions\22:{\22fa4\22:\220\22,\22llvm\22:\220\22,\22ptxas\22:\22\22},\22tensors\22:[],\22symbols\22:[],\22derived\22:[],\22checks\22:[],\22skip_if\22:0,\22parameters\22:[],\22grid\22:[1,1,1],\22block\22:[32,1,1],\22dynamic_shared_bytes\22:0,\22roles\22:[]}">
module attributes {gpu.container_module} {
  gpu.module @m [#nvvm.target<chip = "sm_90", features = "+ptx80">] {
    llvm.func @k() attributes {fa4.launch = #launch, nvvm.kernel} {
      %n = llvm.mlir.constant(200 : i32) : i32
      // expected-error @below {{'llvm.call_intrinsic' op needs setmaxnreg, which sm_90 does not have or fa4 does not emit for it; expected sm_90a or newer, with the suffix}}
      llvm.call_intrinsic "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"(%n) : (i32) -> ()
      llvm.return
    }
  }
}

// -----

#launch = #fa4.launch_descriptor<"{\22schema\22:1,\22kernel\22:\22k\22,\22chip\22:\22sm_100a\22,\22ptx\22:\228.8\22,\22versions\22:{\22fa4\22:\220\22,\22llvm\22:\220\22,\22ptxas\22:\22\22},\22tensors\22:[],\22symbols\22:[],\22derived\22:[],\22checks\22:[],\22skip_if\22:0,\22parameters\22:[],\22grid\22:[1,1,1],\22block\22:[32,1,1],\22dynamic_shared_bytes\22:0,\22roles\22:[]}">
module attributes {gpu.container_module} {
  // expected-error @below {{'gpu.module' op expected one '#nvvm.target' to emit PTX for, but got 0 targets}}
  gpu.module @m {
    llvm.func @k() attributes {fa4.launch = #launch, nvvm.kernel} {
      llvm.return
    }
  }
}
