# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a run raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Tuple

if TYPE_CHECKING:
    from ptxsim._module import Result


class PTXError(ValueError):
    """The text is not PTX that the simulator knows: ``line``, ``message``, ``text``."""

    def __init__(self, line: int, message: str, text: str):
        super().__init__(f"line {line}: {message}" + (f"\n  {text}" if text else ""))
        self.line, self.message, self.text = line, message, text


class SimulationError(RuntimeError):
    """A kernel that did not run to its end; ``result`` is what there is of a result."""

    def __init__(self, message: str, result: "Result"):
        super().__init__(message)
        self.result = result


class Fault(SimulationError):
    """A kernel did what it must not.

    ``kind`` is a word of the table of faults in docs/simulator.md; ``line`` and ``text`` are
    the place in the PTX, 0 and empty where it has none.
    """

    def __init__(
        self,
        message: str,
        result: "Result",
        kind: str,
        line: int = 0,
        text: str = "",
        cta: Optional[Tuple[int, int, int]] = None,
        warp: Optional[int] = None,
    ):
        super().__init__(message, result)
        self.kind, self.line, self.text, self.cta, self.warp = kind, line, text, cta, warp


class Deadlock(SimulationError):
    """No warp can go on; ``report`` names each blocked warp and what it waits for."""

    def __init__(self, report: str, result: "Result"):
        super().__init__(report, result)
        self.report = report


class StepLimit(SimulationError):
    """A CTA ran more than ``max_steps`` warp instructions."""
