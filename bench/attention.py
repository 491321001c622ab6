# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Speed of fa4.attention beside PyTorch's cuDNN and FlashAttention-2 backends.

    python3 bench/attention.py --kernels DIR --out DIR [--grid main|more|all|quick]

Every time is the median over CUDA events around single calls. Calls of the three take turns
on the same inputs, which rotate through more memory than the L2 holds, and the host runs
ahead of the GPU. TFLOP/s counts 4 B Hq Sq Skv D operations, half of them where causal.
Outputs of ours are checked against float64 on sampled rows. Writes attention.csv,
attention.md and attention.png.
"""

import argparse
import csv
import statistics
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from common import Problem, fa4, machine, use_kernels, worst_error

L2_BYTES = 60 << 20
BATCH = 16  # calls that are queued at once
PROVIDERS = ("fa4", "cudnn", "fa2")


def grid(name):
    main = [Problem(1, s, s, 32, hkv, 128, causal)
            for s in (1024, 2048, 4096, 8192, 16384) for hkv in (4, 8, 32) for causal in (False, True)]  # fmt: skip
    base = Problem(1, 4096, 4096, 32, 8, 128)
    variants = [base.but(dtype="bf16"), base.but(sq=16384, skv=16384, dtype="bf16"), base.but(d=64),
                base.but(sq=16384, skv=16384, d=64), base.but(b=4), base.but(b=4, dtype="bf16"),
                base.but(sq=1024, skv=8192), base.but(sq=8192, skv=1024)]  # fmt: skip
    more = [p.but(causal=causal) for p in variants for causal in (False, True)]
    quick = [p for p in main if p.sq in (1024, 4096, 8192)]
    return {"main": main, "more": more, "all": main + more, "quick": quick}[name]


def callers(problem):
    """What to time, by name; each takes q, k, v as [B, S, H, D]."""

    def sdpa(backend):
        def call(q, k, v):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(
                    q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                    is_causal=problem.causal, enable_gqa=problem.hq != problem.hkv,
                )  # fmt: skip

        return call

    calls = {"fa4": lambda q, k, v: fa4.attention(q, k, v, causal=problem.causal)}
    # PyTorch's is_causal aligns the mask to the top left: another function unless Sq = Skv.
    if not problem.causal or problem.sq == problem.skv:
        calls["cudnn"] = sdpa(SDPBackend.CUDNN_ATTENTION)
        calls["fa2"] = sdpa(SDPBackend.FLASH_ATTENTION)
    return calls


def time_calls(calls, problem, seconds):
    """Median milliseconds of each call."""
    count = min(max(2, -(-2 * L2_BYTES // problem.input_bytes)), 64)
    inputs = [problem.inputs() for _ in range(count)]
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(BATCH)]
    times = {name: [] for name in calls}
    for call in calls.values():
        for i in range(3):
            call(*inputs[i % count])
    torch.cuda.synchronize()
    end, turn = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or min(len(found) for found in times.values()) < 2 * BATCH:
        for name, call in calls.items():
            # The GPU waits until the host has queued the batch: no gaps between events.
            torch.cuda._sleep(3_000_000)
            for start, stop in events:
                turn += 1
                start.record()
                call(*inputs[turn % count])
                stop.record()
            torch.cuda.synchronize()
            times[name] += [start.elapsed_time(stop) for start, stop in events]
    return {name: statistics.median(found) for name, found in times.items()}


def measure(problem, seconds):
    row = {"B": problem.b, "Sq": problem.sq, "Skv": problem.skv, "Hq": problem.hq, "Hkv": problem.hkv,
           "D": problem.d, "causal": problem.causal, "type": problem.dtype, "note": ""}  # fmt: skip
    calls, notes = callers(problem), []
    for name in list(calls):
        try:
            q, k, v = problem.inputs()
            o = calls[name](q, k, v)
            torch.cuda.synchronize()
        except Exception as error:  # a backend that refuses a problem leaves a gap in the table
            notes.append(f"{name}: {str(error).strip().splitlines()[-1][:120]}")
            del calls[name]
            continue
        o = o if name == "fa4" else o.transpose(1, 2)
        worst = worst_error(o, q, k, v, problem.causal)
        if name == "fa4":
            row["error"] = round(worst, 3)
        if not worst < 1:
            notes.append(f"{name}: WRONG, {worst:.3g} times the bar")
    for name, ms in (time_calls(calls, problem, seconds) if calls else {}).items():
        row[f"{name} us"] = round(ms * 1e3, 2)
        row[f"{name} TFLOP/s"] = round(problem.flops / ms * 1e-9, 1)
    best = max((row.get(f"{name} TFLOP/s", 0) for name in PROVIDERS[1:]), default=0)
    if best and "fa4 TFLOP/s" in row:
        row["fa4 / best"] = round(row["fa4 TFLOP/s"] / best, 3)
    row["note"] = "; ".join(notes)
    return row


COLUMNS = ("B", "Sq", "Skv", "Hq", "Hkv", "D", "causal", "type", "fa4 TFLOP/s", "cudnn TFLOP/s", "fa2 TFLOP/s",
           "fa4 / best", "fa4 us", "cudnn us", "fa2 us", "error", "note")  # fmt: skip


def write(rows, folder):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "attention.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    lines = ["# Attention, forward", ""] + [f"- {name}: {value}" for name, value in machine().items()]
    lines += ["", "`error` is the largest |err| / (1e-2 + 1e-2 |ref|) of ours on sampled rows, against float64.", "",
              "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]  # fmt: skip
    lines += ["| " + " | ".join(str(row.get(column, "")) for column in COLUMNS) + " |" for row in rows]
    (folder / "attention.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def plot(rows, path):
    """TFLOP/s against S, one panel for each mask and number of K/V heads."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    usual = [row for row in rows if row["Sq"] == row["Skv"] and (row["B"], row["D"], row["type"]) == (1, 128, "f16")]
    heads = sorted({row["Hkv"] for row in usual})
    masks = sorted({row["causal"] for row in usual})
    if not usual:
        return
    figure, panels = pyplot.subplots(len(masks), len(heads), squeeze=False, sharex=True, sharey=True,
                                     figsize=(4 * len(heads), 3 * len(masks)))  # fmt: skip
    for row_of_panels, causal in zip(panels, masks):
        for panel, hkv in zip(row_of_panels, heads):
            here = sorted((r for r in usual if (r["Hkv"], r["causal"]) == (hkv, causal)), key=lambda r: r["Sq"])
            for name in PROVIDERS:
                points = [(r["Sq"], r[f"{name} TFLOP/s"]) for r in here if f"{name} TFLOP/s" in r]
                panel.plot(*zip(*points) if points else ([], []), marker="o", label=name)
            panel.set_title(f"{'causal' if causal else 'full'}, 32 query heads, {hkv} K/V heads", fontsize=9)
            panel.set_xscale("log", base=2)
            panel.set_xticks([r["Sq"] for r in here], [r["Sq"] for r in here], fontsize=7)
            panel.grid(alpha=0.3)
    panels[0][0].set_ylim(0, 1.08 * max(row.get(f"{name} TFLOP/s", 0) for row in usual for name in PROVIDERS))
    panels[0][0].legend()
    figure.supxlabel("sequence length")
    figure.supylabel("TFLOP/s")
    facts = machine()
    figure.suptitle(f"f16, D = 128: {facts['card']}, driver {facts['driver']}, {facts['date']}", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", help="folder of kernel folders; else fa4-compile makes them")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--grid", default="main", choices=("main", "more", "all", "quick"))
    parser.add_argument("--mask", choices=("full", "causal"), help="only problems of this mask")
    parser.add_argument("--seconds", type=float, default=1.0, help="least time for a problem")
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    torch.manual_seed(args.seed if args.seed is not None else time.time_ns())
    if args.kernels:
        use_kernels(args.kernels)
    problems = [p for p in grid(args.grid) if args.mask is None or p.causal == (args.mask == "causal")]
    rows = []
    for problem in problems:
        rows.append(measure(problem, args.seconds))
        print({name: value for name, value in rows[-1].items() if value != ""}, flush=True)
        write(rows, args.out)
    plot(rows, args.out / "attention.png")
    if any("WRONG" in row["note"] for row in rows):
        raise SystemExit("an output is wrong")


if __name__ == "__main__":
    main()
