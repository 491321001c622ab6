# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Host time of a call of fa4.attention, and that a CUDA graph captures it.

    python3 bench/overhead.py --kernels DIR [--length 1024] [--calls 10000]

The clock stands while the GPU catches up, so that a full queue is not counted.
"""

import argparse
import itertools
import statistics
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from common import Problem, fa4, machine, use_kernels, worst_error

CHUNK = 100  # fewer than the driver queues


def host_time(call, calls):
    """Microseconds a call: the mean, the median chunk and the fastest."""
    for _ in range(CHUNK):
        call()
    spent = []
    for _ in range(max(1, calls // CHUNK)):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CHUNK):
            call()
        spent.append((time.perf_counter() - start) / CHUNK * 1e6)
    torch.cuda.synchronize()
    return sum(spent) / len(spent), statistics.median(spent), min(spent)


def show(name, times):
    mean, median, least = times
    print(f"{name}: {mean:.2f} us a call, median {median:.2f}, {least:.2f} in the fastest {CHUNK}")


def show_first(what, operands):
    """The mean of calls each of which is the first on its operands; one before them warms up."""
    first, *others = operands
    fa4.attention(*first)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for tensors in others:
        fa4.attention(*tensors)
    mean = (time.perf_counter() - start) / len(others) * 1e6
    print(f"fa4.attention at {what} seen for the first time: {mean:.2f} us a call")


def check_graph(problem):
    """A captured call computes what an eager one does, on inputs that changed since."""
    q, k, v = problem.inputs()
    fa4.attention(q, k, v)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = fa4.attention(q, k, v)
    for tensor in (q, k, v):
        tensor.copy_(torch.randn_like(tensor))
    captured.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    same = torch.equal(captured, fa4.attention(q, k, v))
    worst = worst_error(captured, q, k, v, False)
    print(f"graph: {'equal to an eager call' if same else 'NOT equal to an eager call'}, error {worst:.3f} of the bar")
    return same and worst < 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels")
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--calls", type=int, default=10000)
    args = parser.parse_args()
    if args.kernels:
        use_kernels(args.kernels)
    problem = Problem(1, args.length, args.length, 32, args.kv_heads, 128)
    q, k, v = problem.inputs()
    out = torch.empty_like(q)
    turned = [x.transpose(1, 2) for x in (q, k, v)]
    for name, value in machine().items():
        print(f"{name}: {value}")

    def sdpa():
        return F.scaled_dot_product_attention(*turned, enable_gqa=problem.hq != problem.hkv)

    def in_turn(count):
        """Calls of `count` lengths, one after another: each needs its entry of the cache found."""
        lengths = [[x[:, : 512 + i] for x in (q, k, v)] for i in range(count)]
        for operands in lengths:
            fa4.attention(*operands)
        operands = itertools.cycle(lengths)
        return lambda: fa4.attention(*next(operands))

    rows = {
        "fa4.attention": lambda: fa4.attention(q, k, v),
        "fa4.attention, out=": lambda: fa4.attention(q, k, v, out=out),
        "fa4.attention, return_lse": lambda: fa4.attention(q, k, v, return_lse=True),
        "fa4.attention, 16 lengths in turn": in_turn(16),
    }
    rows["torch.ops.fa4.attention"] = lambda: torch.ops.fa4.attention(q, k, v)
    rows["torch.empty_like alone"] = lambda: torch.empty_like(q)
    for name, call in rows.items():
        show(name, host_time(call, args.calls))
    # Of other addresses, tensor maps are encoded anew; of other lengths, the descriptor is evaluated too.
    show_first("addresses", [problem.inputs() for _ in range(64)])
    show_first("lengths", [[x[:, : args.length - i] for x in (q, k, v)] for i in range(64)])
    for name, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("FlashAttention-2", SDPBackend.FLASH_ATTENTION)):
        with sdpa_kernel(backend):
            show(f"SDPA, {name}", host_time(sdpa, args.calls))
    if not check_graph(problem):
        raise SystemExit("the graph is wrong")


if __name__ == "__main__":
    main()
