#!/bin/sh
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# demo.sh BUILD CHIP OUT: the schedule of examples/attention.mlir, then its kernel.

set -eu
build=$1 chip=$2 out=$3
input=examples/attention.mlir

mkdir -p "$out"
"$build/bin/fa4-opt" "$input" --pass-pipeline="builtin.module(fa4-to-schedule{chip=$chip})" \
  -o "$out/schedule.mlir"
emit=ptx,launch
if command -v ptxas > /dev/null || [ -x /usr/local/cuda/bin/ptxas ]; then
  emit=ptx,cubin,launch
else
  echo "demo: no ptxas here, so no cubin"
fi
"$build/bin/fa4-compile" "$input" --chip "$chip" --emit "$emit" -o "$out"

echo "demo: $input for $chip"
for file in "$out"/*; do
  echo "  $file ($(wc -c < "$file") bytes)"
done
