#!/bin/sh
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# demo.sh BUILD CHIP OUT: compiles examples/attention.mlir, shows what came out, runs it in the
# simulator and compares with float64.

set -eu
build=$1 chip=$2 out=$3
input=examples/attention.mlir

rm -rf "$out"
emit=schedule,ptx,launch
if command -v ptxas > /dev/null || [ -x /usr/local/cuda/bin/ptxas ]; then
  emit=$emit,cubin
else
  echo "demo: no ptxas here, so no cubin"
fi
mkdir -p "$out"
status=0
"$build/bin/fa4-compile" "$input" --chip "$chip" --emit "$emit" --timing -o "$out" \
  2> "$out/log" || status=$?
if [ "$status" != 0 ]; then
  cat "$out/log" >&2
  exit "$status"
fi

schedule=$(echo "$out"/*.schedule.mlir)
echo "== $input: what is computed"
grep -v '^//' "$input"
echo
echo "== the schedule, its first lines (all of it: $schedule)"
sed -n '1,40p' "$schedule"
echo "   ..."
echo
echo "== the contracts: who arrives on which barrier, how often a phase"
sed -n 's/^ *%[a-z0-9_]* = fa4.barrier \("[a-z0-9_]*"\) *\(.*\)/  \1 \2/p' "$schedule"
echo
echo "== time"
sed -n 's/^time /  /p; s/^ptxas /  ptxas, /p' "$out/log"
echo
echo "== the kernel folder"
for file in "$out"/*.*; do
  echo "  $file ($(wc -c < "$file") bytes)"
done
echo
echo "== the kernel in the simulator, on random operands"
python=
for candidate in python3 /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c "import numpy" 2> /dev/null; then
    python=$candidate
  fi
done
if [ -z "$python" ]; then
  echo "  no NumPy here, so nothing is simulated (Debian: apt-get install python3-numpy)"
else
  "$python" examples/simulate.py "$out" --ptx-sim "$build/bin/ptx-sim"
fi
