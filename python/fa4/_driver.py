# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The CUDA driver, through cuda-bindings (`cuda.bindings.driver`), and devices of it.

The module is found on first use, so that descriptors can be read where there is no driver.
Tests put an object of their own in its place (`set_driver`).
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any, Dict, Iterator, Optional


class CudaError(RuntimeError):
    """A call of the CUDA driver that failed."""


_driver: Optional[Any] = None
_devices: Dict[int, "Device"] = {}
_lock = threading.RLock()


def set_driver(driver: Optional[Any]) -> None:
    """Takes `driver` for cuda.bindings.driver from now on; None means the real one."""
    global _driver
    with _lock:
        _driver = driver
        _devices.clear()
        if driver is not None:
            check(driver.cuInit(0))


def get_driver() -> Any:
    if _driver is None:
        with _lock:
            if _driver is None:
                try:
                    from cuda.bindings import driver
                except ImportError as error:
                    raise ImportError(
                        f"fa4 runs kernels through the package cuda-bindings, which cannot be imported: {error}"
                    ) from error
                set_driver(driver)
    return _driver


def check(result: Any) -> Any:
    """Raises CudaError for a status that is not 0, and gives what the call returned besides."""
    status = result[0]
    if status != 0:
        raise CudaError(describe(status))
    return result[1] if len(result) == 2 else result[1:] or None


def describe(status: Any) -> str:
    try:
        _, name = _driver.cuGetErrorName(status)  # type: ignore[union-attr]
        _, text = _driver.cuGetErrorString(status)  # type: ignore[union-attr]
        return f"{name.decode()}: {text.decode()}"
    except Exception:  # the error of the call is the one to tell
        return f"CUDA driver error {int(status)}"


class Device:
    """One GPU, and its primary context, which PyTorch, CuPy and JAX use too."""

    def __init__(self, index: int) -> None:
        driver = get_driver()
        self.index = index
        self.handle = check(driver.cuDeviceGet(index))
        self.context = check(driver.cuDevicePrimaryCtxRetain(self.handle))
        attributes = driver.CUdevice_attribute
        major = check(driver.cuDeviceGetAttribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, self.handle))
        minor = check(driver.cuDeviceGetAttribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, self.handle))
        self.capability = major * 10 + minor

    @contextmanager
    def current(self) -> Iterator[None]:
        """The device's context is the thread's current one inside."""
        driver = get_driver()
        check(driver.cuCtxPushCurrent(self.context))
        try:
            yield
        finally:
            check(driver.cuCtxPopCurrent())


@contextmanager
def kept_context() -> Iterator[None]:
    """The thread's current context is afterwards what it was."""
    driver = get_driver()
    before = check(driver.cuCtxGetCurrent())
    try:
        yield
    finally:
        check(driver.cuCtxSetCurrent(before))


def get_device(index: int) -> Device:
    device = _devices.get(index)
    if device is None:
        get_driver()
        with _lock:
            device = _devices.get(index)
            if device is None:
                device = _devices[index] = Device(index)
    return device
