# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A kernel's cubin or PTX in the driver: loaded, or refused with all that the driver says of it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, List

from ._descriptor import Descriptor
from ._driver import CudaError, Device, check, get_driver

LOG_BYTES = 1 << 16
LOG_LINES = 30  # the first is the cause, and a PTX may have thousands


def load_library(image: bytes) -> Any:
    """The CUlibrary, which is of no context."""
    return check(get_driver().cuLibraryLoadData(image, [], [], 0, [], [], 0))


def load_function(library: Any, descriptor: Descriptor, device: Device) -> Any:
    """The CUfunction in the current context, that of `device`, with its shared memory."""
    driver = get_driver()
    kernel = check(driver.cuLibraryGetKernel(library, descriptor.kernel.encode()))
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check(driver.cuKernelSetAttribute(attribute, descriptor.dynamic_shared_bytes, kernel, device.handle))
    return check(driver.cuKernelGetFunction(kernel))


@contextmanager
def load_in_capture() -> Iterator[None]:
    """Inside, this thread may load while a stream is captured: loading is no work of the
    stream, and a graph that replays finds the kernel loaded."""
    driver = get_driver()
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = check(driver.cuThreadExchangeStreamCaptureMode(relaxed))
    try:
        yield
    finally:
        check(driver.cuThreadExchangeStreamCaptureMode(before))


def refusal(error: CudaError, descriptor: Descriptor, folder: Path, image: bytes, device: Device) -> CudaError:
    """The error of a kernel that was not loaded: the driver's status alone tells next to nothing."""
    version = int(check(get_driver().cuDriverGetVersion()))
    text = (
        f"kernel '{descriptor.kernel}' of '{folder}' cannot be loaded: {error}\n"
        f"  made for {descriptor.chip}, PTX {descriptor.ptx}, as {'PTX' if is_ptx(image) else 'a cubin'}; "
        f"device {device.index} is sm_{device.capability}, its driver of CUDA {version // 1000}.{version % 1000 // 10}"
    )
    log = _log(image)
    if log:
        shown = log[:LOG_LINES] + ([f"... and {len(log) - LOG_LINES} lines more"] if len(log) > LOG_LINES else [])
        text += "\n  the driver's compiler says:" + "".join(f"\n    {line}" for line in shown)
    elif is_ptx(image):
        text += "\n  the driver's compiler says nothing"
    return CudaError(text)


def is_ptx(image: bytes) -> bool:
    return not image.startswith(b"\x7fELF")


def _log(image: bytes) -> List[str]:
    """What the driver's compiler says of an image. It is loaded once more for this: a library
    is compiled when it is first needed, which may be after the call that it is given in."""
    driver = get_driver()
    options = driver.CUjit_option
    buffer = bytearray(LOG_BYTES)
    status, module = driver.cuModuleLoadDataEx(
        image, 2, [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [buffer, LOG_BYTES]
    )
    if status == 0:
        driver.cuModuleUnload(module)
    return [line for line in bytes(buffer).partition(b"\0")[0].decode(errors="replace").splitlines() if line.strip()]
