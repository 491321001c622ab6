# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Every option of --fa4-schedule-attention: it moves time, never values out of the bars."""

import re

from harness import Inputs, Problem
from suite import Suite

suite = Suite("schedules")


def base(causal, d=64, **changes):
    return Problem(1, 300, 400, 2, 1, d, causal).but(**changes)


options = [f"kv-stages={n}" for n in (2, 3, 4)]
options += [f"p-split={n}" for n in (32, 64, 96, 128)]
options += ["fragment-width=16 p-split=16", "fragment-width=16 p-split=112", "fragment-width=64 p-split=64"]
options += [f"poly-pairs={n} poly-of={m}" for n, m in ((0, 1), (0, 8), (1, 4), (3, 8), (4, 4), (1, 1), (16, 16))]
options += [f"rescale-threshold={t}" for t in (0, 2.5, 8, 15)]
options += [f"epilogue={e}" for e in ("correction", "softmax")]
options += [f"scheduler={s}" for s in ("linear", "longest-first")]
options += [f"group-packing={p}" for p in ("on", "off")]
options += [f"stats-granularity={g}" for g in ("warp", "warpgroup")]
options += [f"epilogue-chunk={n}" for n in (8, 16)] + [f"rescale-chunk={n}" for n in (2, 16)]
options += ["epilogue-chunk=64 epilogue=softmax"]
options += ["softmax-registers=192 correction-registers=80 other-registers=40"]

for i, option in enumerate(options):
    for causal in (False, True):
        if not suite.full and causal == bool(i % 2):
            continue
        problem = base(causal, schedule=option)
        suite.check(f"{option} {causal}", problem if suite.full else problem.but(sq=130))
        if suite.full:
            most = suite.chip.stages[128][-1]
            wide = base(causal, 128, dtype="bf16", schedule=re.sub("kv-stages=[34]", f"kv-stages={most}", option))
            suite.check(f"{option} {causal} d128", wide)

# Q5: more tasks than blocks, and trip counts that are no multiple of twice the slots.
for ctas in (1, 2):
    for stages in (2, 3):
        for trips in (range(1, 8) if suite.full else (ctas, ctas + stages)):
            for causal in (False, True) if suite.full else (bool(trips % 2),):
                problem = Problem(
                    3, 257, 128 * trips - 5, 1, 1, 64, causal,
                    schedule=f"kv-stages={stages} scheduler=linear", target=f"sms = {ctas}",
                )
                suite.check(f"{ctas} blocks {stages} slots {trips} trips {causal}", problem)

# The same of the report's shape: three key blocks, and tasks enough for three rounds of blocks.
if suite.full:
    suite.check("Q5", Problem(1, 384, 384, 64, 64, 64, target="sms = 50"))

# Everything at once that differs from the default, as a user who tunes would have it.
tuned = "kv-stages=2 p-split=32 fragment-width=16 poly-pairs=1 poly-of=2 rescale-threshold=4 epilogue=softmax"
tuned += " scheduler=longest-first stats-granularity=warp group-packing=off tile-keys=96 consumer-registers=232"
for causal in (False, True):
    problem = base(causal, 128, schedule=suite.chip.only(tuned))
    suite.check(f"tuned {causal}", problem)

# The schedule never depends on what is in the tensors: with one polynomial share and one
# reference threshold, the options that only move time leave the bits alone.
for causal in suite.pick((True, False), 2):
    same = suite.chip.only("p-split=64 tile-keys=128")
    plain = base(causal, schedule=same)
    inputs = Inputs.normal(plain, 11)
    first = suite.check(f"bits {causal}", plain, inputs)
    time_only = ["kv-stages=2", "scheduler=linear", "scheduler=longest-first", "rescale-chunk=16"]
    time_only += ["stats-granularity=warpgroup", "turns=true", "consumers=2"]
    for option in time_only:
        problem = base(causal, schedule=f"{same} {option}".strip())
        output = suite.check(f"bits {causal} {option}", problem, inputs)
        if first and output:
            suite.expect(option, problem, output.same_bits(first), "bits differ from the plain schedule's")

suite.finish()
