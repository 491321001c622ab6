// RUN: fa4-opt %s --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// launch_descriptor_c1: text that is not JSON, and JSON that is not a descriptor.
// expected-error @below {{expected a launch descriptor, but got text with an error: [1:2, byte=2]: Invalid JSON value}}
func.func private @not_json() attributes {fa4.launch = #fa4.launch_descriptor<"no">}

// -----

// expected-error @below {{expected a launch descriptor, but got text with an error: schema: the field is missing}}
func.func private @no_schema() attributes {fa4.launch = #fa4.launch_descriptor<"{}">}
