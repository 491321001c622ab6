# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A call among the streams of its operands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Sequence

from ._arrays import LEGACY_STREAM, View
from ._driver import Device, check, get_driver


@contextmanager
def among(device: Device, views: Sequence[View]) -> Iterator[int]:
    """The stream of the first operand, for work inside: behind what the streams of the others
    hold, and before what they are given next. The device's context is current; nothing waits
    but the streams."""
    with device.current():
        streams = [view.stream() for view in views]
        own = LEGACY_STREAM if streams[0] is None else streams[0]
        others = {stream for stream in streams if stream is not None and stream != own}
        for other in others:
            _let_wait(own, other)
        yield own
        for other in others:
            _let_wait(other, own)


def _let_wait(waiting: int, stream: int) -> None:
    driver = get_driver()
    event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    try:
        check(driver.cuEventRecord(event, _handle(stream)))
        check(driver.cuStreamWaitEvent(_handle(waiting), event, 0))
    finally:
        # It lives on until the wait is over.
        check(driver.cuEventDestroy(event))


def _handle(stream: int) -> Any:
    return get_driver().CUstream(stream)
