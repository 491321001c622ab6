# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Makes the kernels of the benchmarks, on any machine with fa4-compile and ptxas.

python3 bench/kernels.py DIR --chip sm_90a
"""

import argparse
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import fa4  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--schedule", default="", help="options of --fa4-schedule-attention")
    parser.add_argument("--types", default="f16,bf16")
    parser.add_argument("--head-dims", default="128,64")
    parser.add_argument("--kv-heads", default="4,8,32")
    args = parser.parse_args()
    types, dims, heads = (text.split(",") for text in (args.types, args.head_dims, args.kv_heads))
    for dtype, dim, hkv, causal, lse in itertools.product(types, dims, heads, (False, True), (False, True)):
        name = f"{dtype}_d{dim}_h{hkv}_{'causal' if causal else 'full'}{'_lse' if lse else ''}"
        fa4.compile(
            args.folder / name, chip=args.chip, dtype=dtype, head_dim=int(dim), query_heads=32, kv_heads=int(hkv),
            causal=causal, return_lse=lse, schedule=args.schedule,
        )  # fmt: skip
        print(name, flush=True)


if __name__ == "__main__":
    main()
