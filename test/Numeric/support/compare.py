# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Whether an output is right, and how far off it is.

Three bars, all of which hold:
  every element   |o - ref| <= 1e-2 + 1e-2 |ref|, NaN and infinities exactly where the
                  reference has them
  the whole       root-mean-square error at most 1.5 times that of rounding the exact P
                  and O to the storage type
  LSE             |lse - ref| <= absolute + 1e-6 |ref|, where absolute is 1e-5 with
                  hardware exponentials and 1e-4 where a share of them is polynomial
"""

from dataclasses import dataclass, field

import numpy as np

ELEMENT_BAR = 1e-2
RMS_BAR = 1.5
LSE_RELATIVE = 1e-6
LSE_HARDWARE = 1e-5
LSE_POLYNOMIAL = 1e-4


@dataclass
class Verdict:
    problems: list = field(default_factory=list)
    worst: float = 0.0  # largest error of an element of O
    rms_ratio: float = 0.0  # root-mean-square error over that of rounding
    worst_lse: float = 0.0  # largest error of an LSE between -100 and 100
    lse_ratio: float = 0.0  # largest error of an LSE over its bar

    @property
    def ok(self):
        return not self.problems


def rms(x):
    return float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0


def difference(got, want, name, bar, problems, may_be_nan=None):
    """|got - want| where both are finite; what else differs becomes a problem."""
    if got.shape != want.shape:
        problems.append(f"{name} has shape {got.shape}, expected {want.shape}")
        return None
    got, want = got.astype(np.float64), want.astype(np.float64)
    allowed = np.zeros(want.shape, bool) if may_be_nan is None else may_be_nan
    allowed = allowed & np.isnan(got)
    finite = np.isfinite(got) & np.isfinite(want)
    special = ~finite & ~allowed & ~(np.isnan(got) & np.isnan(want)) & ~(got == want)
    error = np.zeros(want.shape)
    error[finite] = np.abs(got[finite] - want[finite])
    wrong = special | (error > bar(np.where(finite, np.abs(want), 0)))
    if wrong.any():
        where = np.argwhere(wrong)
        first = tuple(int(i) for i in where[0])
        problems.append(
            f"{name}: {len(where)} of {want.size} elements are wrong, the first at {first}: "
            f"got {got[first]:.8g}, expected {want[first]:.8g}"
        )
    return error[finite]


def compare(o, lse, reference, lse_bar=LSE_HARDWARE, rms_bar=RMS_BAR):
    """Judges `o` and, unless it is None, `lse` against a reference."""
    verdict = Verdict()
    error = difference(
        o,
        reference.o,
        "o",
        lambda size: ELEMENT_BAR + ELEMENT_BAR * size,
        verdict.problems,
        reference.may_be_nan,
    )
    if error is not None:
        verdict.worst = float(error.max(initial=0))
        finite = np.isfinite(o) & np.isfinite(reference.o) & np.isfinite(reference.rounded)
        got = rms(o[finite] - reference.o[finite])
        yardstick = rms(reference.rounded[finite] - reference.o[finite])
        verdict.rms_ratio = got / yardstick if yardstick else (np.inf if got else 0.0)
        if verdict.rms_ratio > rms_bar:
            verdict.problems.append(
                f"o: root-mean-square error {got:.3e} is {verdict.rms_ratio:.2f} times the "
                f"{yardstick:.3e} of rounding, expected at most {rms_bar}"
            )
    if lse is not None:
        bar = lambda size: lse_bar + LSE_RELATIVE * size
        error = difference(lse, reference.lse, "lse", bar, verdict.problems)
        if error is not None:
            size = np.abs(reference.lse[np.isfinite(lse) & np.isfinite(reference.lse)])
            verdict.worst_lse = float(error[size <= 100].max(initial=0))
            verdict.lse_ratio = float((error / bar(size)).max(initial=0))
    return verdict
