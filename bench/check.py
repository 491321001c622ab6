# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Random shapes, strides and values of fa4.attention against float64, on the GPU; and one
shape again and again, equal to the bit.

    python3 bench/check.py --kernels DIR [--cases 200] [--runs 20] [--seed N]

Each case takes one of the kernels and draws what its descriptor leaves open.
"""

import argparse
import random
import time

import torch

from common import TYPES, fa4, machine, use_kernels, worst_error

LENGTHS = (1, 2, 63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 500, 1000, 1024, 2047, 3000)


def extent(expr, known, draw):
    """A dimension of the descriptor: fixed, drawn before, or drawn now."""
    if expr.op == "const":
        return expr.value
    name = str(expr)
    if name not in known:
        known[name] = draw(name)
    return known[name]


def draw_shapes(kernel, rng):
    """Shapes of q and k that the kernel takes."""
    tensors = {tensor.name: tensor for tensor in kernel.descriptor.tensors}

    def draw(name):
        if name == "B":
            return rng.randint(1, 3)
        if name in ("Hq", "Hkv"):
            return 2
        if name == "Skv" and rng.random() < 0.05:
            return 0
        return rng.choice(LENGTHS) if rng.random() < 0.7 else rng.randint(1, 3000)

    known = {}
    return [tuple(extent(e, known, draw) for e in tensors[name].shape) for name in ("q", "k")]


def draw_tensor(shape, dtype, fixed, rng, spreads=()):
    """A view [B, S, H, D]: compact, heads first, or padded; NaN lies between its rows."""
    kind = "compact" if fixed else rng.choice(("compact", "heads first", "padded", "one of three"))
    b, s, h, d = shape
    if kind == "heads first":
        storage = torch.full((b, h, s, d), float("nan"), dtype=dtype, device="cuda")
        view = storage.transpose(1, 2)
    elif kind == "padded":
        storage = torch.full((b, s + 3, h + 1, d + 8), float("nan"), dtype=dtype, device="cuda")
        view = storage[:, :s, :h, :d]
    elif kind == "one of three":
        storage = torch.full((b, s, 3, h, d), float("nan"), dtype=dtype, device="cuda")
        view = storage[:, :, 1]
    else:
        storage = view = torch.full(shape, float("nan"), dtype=dtype, device="cuda")
    if spreads:
        view.copy_(torch.randn(shape, device="cuda") * rng.choice(spreads))
    return view, storage, kind


def run_case(kernel, rng):
    """One random call; gives what went wrong, and a line of text that repeats it."""
    tensors = {tensor.name: tensor for tensor in kernel.descriptor.tensors}
    fixed = all(e.op == "const" for e in tensors["q"].strides)
    dtype = TYPES[tensors["q"].type]
    q_shape, k_shape = draw_shapes(kernel, rng)
    causal, scale = kernel.meaning.causal, kernel.meaning.scale
    lse = "lse" in tensors
    # V no larger than the bar's absolute part is made for: rounding P to bf16 costs up to 2^-9 of V.
    spreads = [(0.3, 1.0, 3.0), (0.3, 1.0, 3.0), (0.3, 1.0)]
    inputs = [draw_tensor(s, dtype, fixed, rng, x) for s, x in zip((q_shape, k_shape, k_shape), spreads)]
    o, storage, kind = draw_tensor(q_shape, dtype, fixed, rng)
    q, k, v = (view for view, _, _ in inputs)
    text = f"{kernel.folder.name} q {q_shape} k {k_shape} {[i[2] for i in inputs] + [kind]}"
    out = o
    if lse:
        b, s, h, _ = q_shape
        out = (o, torch.full((b, h, s), float("nan"), device="cuda"))
    fa4.attention(q, k, v, causal=causal, scale=scale, return_lse=lse, out=out)
    torch.cuda.synchronize()
    outside = torch.isfinite(storage).sum() - o.numel()
    if outside > 0:
        return f"{int(outside)} elements written outside the output", text
    worst = worst_error(o, q, k, v, causal, scale, out[1] if lse else None, heads=4, rows=48)
    return (None if worst < 1 else f"{worst:.3g} times the bar"), f"{text}: {worst:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else time.time_ns() % 1_000_000
    rng = random.Random(seed)
    torch.manual_seed(seed)
    kernels = use_kernels(args.kernels)
    print("; ".join(f"{name}: {value}" for name, value in machine().items()))
    failed = 0
    for i in range(args.cases):
        wrong, text = run_case(kernels[i % len(kernels)], rng)
        failed += wrong is not None
        if wrong or args.verbose:
            print(f"case {i}: {text}" + (f": WRONG, {wrong}" if wrong else ""), flush=True)
    print(f"{args.cases - failed} of {args.cases} random cases within the bar (seed {seed})")
    for kernel in rng.sample(kernels, min(3, len(kernels))):
        dtype = TYPES[kernel.descriptor.tensors[0].type]
        q_shape, k_shape = draw_shapes(kernel, rng)
        q, k, v = (torch.randn(s, device="cuda").to(dtype) for s in (q_shape, k_shape, k_shape))
        call = {"causal": kernel.meaning.causal, "scale": kernel.meaning.scale}
        lse = "lse" in kernel.operands
        found = [fa4.attention(q, k, v, return_lse=lse, **call) for _ in range(args.runs)]
        found = [x if lse else (x,) for x in found]
        same = all(torch.equal(a, b) for other in found[1:] for a, b in zip(found[0], other))
        failed += not same
        print(
            f"{kernel.folder.name} q {q_shape} k {k_shape}: {args.runs} runs {'equal' if same else 'NOT equal'} to the bit"
        )
    if failed:
        raise SystemExit("there are wrong results")


if __name__ == "__main__":
    main()
