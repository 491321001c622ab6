# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the tests have to know of a chip's schedule: its options, tiles and exponentials."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Chip:
    name: str
    options: frozenset  # of --fa4-schedule-attention that choose something here
    task_rows: dict  # head dimension -> rows of a task, which all see the keys of its last row
    stages: dict  # head dimension -> numbers of K/V slots that fit
    polynomial: bool  # a share of the exponentials is polynomial unless an option says otherwise
    flags: tuple = ()  # of ptx-sim, in every run

    def has(self, schedule):
        """Whether all options of a schedule are choices of this chip."""
        return all(word.split("=")[0] in self.options for word in schedule.split())

    def only(self, schedule):
        """The options that are."""
        return " ".join(word for word in schedule.split() if self.has(word))


COMMON = {"kv-stages", "rescale-threshold", "scheduler", "group-packing"}
BLACKWELL = {"poly-pairs", "poly-of", "p-split", "stats-granularity", "epilogue", "fragment-width", "epilogue-chunk"}
BLACKWELL |= {"rescale-chunk", "softmax-registers", "correction-registers", "other-registers"}
HOPPER = {"consumers", "consumer-registers", "tile-keys", "turns", "look-ahead", "poly-pairs", "poly-of"}

CHIPS = {
    "sm_100a": Chip(
        "sm_100a", frozenset(COMMON | BLACKWELL), {64: 256, 128: 256}, {64: (2, 3, 4, 6), 128: (2, 3)}, True,
        ("--poison-loads",),
    ),  # fmt: skip
    "sm_90a": Chip("sm_90a", frozenset(COMMON | HOPPER), {64: 192, 128: 128}, {64: (2, 3, 4, 5), 128: (2,)}, False),
}
