# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What is kept of a launch: the parameters as they lie in memory, tensor maps encoded.

A Plan is for one kernel, device and set of shapes and strides. Addresses seen before cost a
look-up; new ones a tensor map each, and no evaluation but of its base.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _tensor_map as maps
from ._bind import Binding, MapAt
from ._descriptor import SIZES
from ._driver import CudaError, Device, check, describe, get_driver

Launch = Callable[[int], None]  # of a stream's handle

KEPT = 4096  # launches; what an application cycles through fits
MAP_BYTES = SIZES["tensor_map"][0]
FORMATS = {"i32": "<i", "f32": "<f"}


class Plan:
    def __init__(
        self, binding: Binding, device: Device, operands: Sequence[str], function: Callable[[Device], Any]
    ) -> None:
        self.binding, self.device, self.operands = binding, device, tuple(operands)
        self.launches: Dict[Tuple[int, ...], Optional[Launch]] = {}
        self._function = function
        self._template: Optional[_Template] = None
        # The parameters, then a pointer to each, and room to align them.
        self._size = -(-binding.descriptor.parameter_bytes() // 8) * 8
        self._storage = ctypes.c_char * (self._size + 8 * len(binding.descriptor.parameters) + 64)

    def launch_at(self, addresses: Tuple[int, ...]) -> Optional[Launch]:
        """The launch on operands at these addresses; None where there is nothing to launch.

        Raises ValueError for an address that TMA cannot take.
        """
        try:
            return self.launches[addresses]
        except KeyError:
            pass
        launch = None
        if not self.binding.skip:
            # Tensor maps are encoded, and the kernel is loaded, for the context of the device.
            with self.device.current():
                launch = self._prepare(dict(zip(self.operands, addresses)))
        if len(self.launches) >= KEPT:
            self.launches.clear()
        self.launches[addresses] = launch
        return launch

    def _start(self, addresses: Mapping[str, int]) -> _Template:
        """Checks all parameters once, and writes those that hold for every address."""
        descriptor = self.binding.descriptor
        values = self.binding.at(addresses)
        data = bytearray(self._size)
        encoders: List[Tuple[int, MapAt, _Encoder]] = []
        pointers: List[Tuple[int, Callable[[Mapping[str, int]], Any]]] = []
        for parameter, source, value in zip(descriptor.parameters, self.binding.parameters, values):
            if isinstance(source, MapAt):
                encoders.append((parameter.offset, source, _Encoder(source.blank)))
            elif callable(source):
                pointers.append((parameter.offset, source))
            else:
                struct.pack_into(FORMATS[parameter.kind], data, parameter.offset, value)
        return _Template(bytes(data), encoders, pointers)

    def _prepare(self, addresses: Mapping[str, int]) -> Launch:
        # Whole once it is there: other threads may use it at once.
        template = self._template
        if template is None:
            template = self._template = self._start(addresses)
        # A tensor map lies at a multiple of 64 bytes.
        storage = self._storage()
        start = ctypes.addressof(storage)
        shift = -start % 64
        start += shift
        ctypes.memmove(start, template.data, self._size)
        for at, source, encoder in template.maps:
            base = source.base(addresses)
            if base % 32 or base == 0:
                source(addresses)  # raises unless a multiple of 16 is enough
            ctypes.memmove(start + at, encoder.encode(base), MAP_BYTES)
        for at, value in template.pointers:
            struct.pack_into("<Q", storage, shift + at, value(addresses))
        pointers, offsets = shift + self._size, [parameter.offset for parameter in self.binding.descriptor.parameters]
        struct.pack_into(f"<{len(offsets)}Q", storage, pointers, *[start + at for at in offsets])
        return self._launcher(storage, start + self._size)

    def _launcher(self, storage: Any, address: int) -> Launch:
        """`address` is that of the array of pointers in `storage`."""
        driver, descriptor, device = get_driver(), self.binding.descriptor, self.device
        function = self._function(device)
        cuLaunchKernel, CUstream, streams = driver.cuLaunchKernel, driver.CUstream, _streams
        gx, gy, gz = self.binding.grid
        bx, by, bz = descriptor.block
        shared = descriptor.dynamic_shared_bytes

        def launch(stream: int, keep: Any = storage) -> None:
            handle = streams.get(stream)
            if handle is None:
                if len(streams) >= KEPT:
                    streams.clear()
                handle = streams[stream] = CUstream(stream)
            status = cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, handle, address, 0)[0]
            if status != 0:
                again(status, handle)

        def again(status: Any, handle: Any) -> None:
            """A thread that has not used the device yet has no context."""
            if status == driver.CUresult.CUDA_ERROR_INVALID_CONTEXT:
                with device.current():
                    status = cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, handle, address, 0)[0]
            if status != 0:
                raise CudaError(f"the launch of '{descriptor.kernel}' failed: {describe(status)}")

        return launch


_streams: Dict[int, Any] = {}


@dataclass(frozen=True)
class _Template:
    """The parameters of a plan, but for what needs an address."""

    data: bytes
    maps: Sequence[Tuple[int, MapAt, _Encoder]]  # with offsets
    pointers: Sequence[Tuple[int, Callable[[Mapping[str, int]], Any]]]


class _Encoder:
    """cuTensorMapEncodeTiled with all its arguments but the address."""

    def __init__(self, blank: maps.TensorMap) -> None:
        driver = get_driver()
        u64, u32 = driver.cuuint64_t, driver.cuuint32_t
        self.call = driver.cuTensorMapEncodeTiled
        self.head = (
            getattr(driver.CUtensorMapDataType, "CU_TENSOR_MAP_DATA_TYPE_" + maps.TYPES[blank.type][1]),
            len(blank.dims),
        )
        self.tail = (
            [u64(n) for n in blank.dims],
            [u64(n) for n in blank.strides],
            [u32(n) for n in blank.box],
            [u32(1) for _ in blank.dims],
            getattr(driver.CUtensorMapInterleave, "CU_TENSOR_MAP_INTERLEAVE_" + maps.INTERLEAVES[blank.interleave]),
            getattr(driver.CUtensorMapSwizzle, "CU_TENSOR_MAP_SWIZZLE_" + maps.SWIZZLES[blank.swizzle]),
            getattr(driver.CUtensorMapL2promotion, "CU_TENSOR_MAP_L2_PROMOTION_" + maps.PROMOTIONS[blank.l2_promotion]),
            getattr(driver.CUtensorMapFloatOOBfill, "CU_TENSOR_MAP_FLOAT_OOB_FILL_" + maps.FILLS[blank.oob_fill]),
        )
        self.kept: Dict[int, bytes] = {}

    def encode(self, base: int) -> bytes:
        """The 128 bytes of the map, kept: of q, k and v mostly one moves."""
        data = self.kept.get(base)
        if data is None:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            tensor_map = check(self.call(*self.head, base, *self.tail))
            data = self.kept[base] = ctypes.string_at(tensor_map.getPtr(), MAP_BYTES)
        return data
