# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the benchmarks share: kernels, problems, inputs, the reference, the machine."""

import datetime
import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import fa4  # noqa: E402

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


def use_kernels(folder):
    """Every kernel folder below `folder`, for fa4.attention to choose from."""
    folders = sorted(path.parent for path in Path(folder).rglob("fa4.json"))
    if not folders:
        sys.exit(f"no kernels below '{folder}': make some with bench/kernels.py")
    return [fa4.use(fa4.load(path)) for path in folders]


@dataclass(frozen=True)
class Problem:
    b: int
    sq: int
    skv: int
    hq: int
    hkv: int
    d: int
    causal: bool = False
    dtype: str = "f16"

    def but(self, **changes):
        return replace(self, **changes)

    @property
    def flops(self):
        """Multiplications and additions of both products over the pairs that the mask shows."""
        pairs = self.sq * self.skv
        if self.causal:  # as is usual: half of the square, what Sq = Skv would give
            pairs = (
                pairs / 2
                if self.sq == self.skv
                else sum(min(max(i + 1 + self.skv - self.sq, 0), self.skv) for i in range(self.sq))
            )
        return 4 * self.b * self.hq * pairs * self.d

    @property
    def input_bytes(self):
        return 2 * self.b * self.d * (self.sq * self.hq + 2 * self.skv * self.hkv)

    def inputs(self, device="cuda"):
        """Fresh random q, k, v, as [B, S, H, D]."""
        shapes = [(self.b, self.sq, self.hq, self.d)] + [(self.b, self.skv, self.hkv, self.d)] * 2
        return [torch.randn(shape, device=device, dtype=TYPES[self.dtype]) for shape in shapes]


def reference_rows(q, k, v, causal, scale, batch, head, rows):
    """Output and log-sum-exp of some rows of one head, in float64."""
    group = q.shape[2] // k.shape[2]
    sq, skv = q.shape[1], k.shape[1]
    if skv == 0:
        return q.new_zeros(len(rows), v.shape[3]).double(), q.new_full((len(rows),), -torch.inf).double()
    scale = scale if scale is not None else q.shape[3] ** -0.5
    qs = q[batch, rows, head].double()
    ks, vs = k[batch, :, head // group].double(), v[batch, :, head // group].double()
    logits = qs @ ks.T * scale
    if causal:
        hidden = torch.arange(skv, device=q.device)[None] > rows[:, None] + skv - sq
        logits.masked_fill_(hidden, -torch.inf)
    lse = torch.logsumexp(logits, 1)
    # A row that sees no key is 0.
    p = torch.exp(logits - torch.where(lse == -torch.inf, 0.0, lse)[:, None])
    return p @ vs, lse


def worst_error(o, q, k, v, causal, scale=None, lse=None, heads=8, rows=64):
    """The largest |err| / (1e-2 + 1e-2 |ref|) of sampled rows, below 1 where all are right."""
    if o.numel() == 0:
        return 0.0
    worst = 0.0
    if not torch.isfinite(o).all():
        return float("inf")
    for _ in range(heads):
        batch = int(torch.randint(q.shape[0], ()))
        head = int(torch.randint(q.shape[2], ()))
        chosen = torch.randperm(q.shape[1])[:rows].to(q.device)
        # The ends are where kernels go wrong.
        chosen[0], chosen[-1] = 0, q.shape[1] - 1
        expected, expected_lse = reference_rows(q, k, v, causal, scale, batch, head, chosen)
        error = (o[batch, chosen, head].double() - expected).abs() / (1e-2 + 1e-2 * expected.abs())
        worst = max(worst, float(error.max()))
        if lse is not None:
            got = lse[batch, head, chosen].double()
            same = got == expected_lse
            error = (got - expected_lse).abs() / (1e-4 + 1e-6 * expected_lse.abs())
            worst = max(worst, float(torch.where(same, 0.0, error).max()))
    return worst


def machine():
    """Card, driver, versions and date, for the head of a report."""
    from cuda.bindings import driver

    properties = torch.cuda.get_device_properties(0)
    _, version = driver.cuDriverGetVersion()
    lines = {
        "card": f"{properties.name}, {properties.multi_processor_count} SMs, {properties.total_memory >> 30} GiB",
        "CUDA driver API": f"{version // 1000}.{version % 1000 // 10}",
        "driver": _driver_version(),
        "PyTorch": f"{torch.__version__}, cuDNN {torch.backends.cudnn.version()}",
        "fa4": fa4.__version__,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }
    return lines


def _driver_version():
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            return re.search(r"\d+\.\d+[.\d]*", file.readline())[0]
    except (OSError, TypeError):
        pass
    done = os.popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null").read()
    return done.split("\n")[0] or "unknown"
