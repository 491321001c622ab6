# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A stand-in for cuda.bindings.driver that records, and arrays that lie on its devices.

A tensor map of it is the text of its arguments, so that a recorded launch shows what the
kernel would have been given.
"""

import ctypes
import enum
import json
import threading
from types import SimpleNamespace

import numpy as np


class Result(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_PTX = 218


class _TensorMap:
    def __init__(self, data):
        self.buffer = ctypes.create_string_buffer(data, 128)

    def getPtr(self):
        return ctypes.addressof(self.buffer)


class _Names:
    """An enum whose members are their own names."""

    def __getattr__(self, name):
        return name


class FakeDriver:
    CUresult = Result
    CUdevice_attribute = _Names()
    CUfunction_attribute = _Names()
    CUpointer_attribute = _Names()
    CUjit_option = _Names()
    CUstreamCaptureMode = _Names()
    CUevent_flags = _Names()
    CUtensorMapDataType = _Names()
    CUtensorMapInterleave = _Names()
    CUtensorMapSwizzle = _Names()
    CUtensorMapL2promotion = _Names()
    CUtensorMapFloatOOBfill = _Names()
    cuuint64_t = cuuint32_t = int

    def __init__(self, capability=(9, 0), devices=2):
        self.capability, self.devices = capability, devices
        self.lock = threading.Lock()
        self.calls = []  # names
        self.launches = []
        self.maps = []  # arguments by number
        self.contexts = []  # the stack of the one thread
        self.images = []
        self.attributes = []
        self.jit_log = b""  # what the compiler of PTX says
        self.capture_mode = "CU_STREAM_CAPTURE_MODE_GLOBAL"  # of the one thread
        self.order = []  # launches and what the streams wait for
        self.load_modes = []  # the mode at each load
        self.fail = {}  # name of a call -> statuses to return first

    def _done(self, name, *values):
        self.calls.append(name)
        if self.fail.get(name):
            return (self.fail[name].pop(0),) + (None,) * len(values)
        return (Result.CUDA_SUCCESS,) + values

    def cuInit(self, flags):
        return self._done("cuInit")

    def cuDeviceGet(self, index):
        assert 0 <= index < self.devices
        return self._done("cuDeviceGet", index)

    def cuDeviceGetAttribute(self, attribute, device):
        return self._done("cuDeviceGetAttribute", self.capability[attribute.endswith("MINOR")])

    def cuDevicePrimaryCtxRetain(self, device):
        return self._done("cuDevicePrimaryCtxRetain", f"context {device}")

    def cuCtxPushCurrent(self, context):
        self.contexts.append(context)
        return self._done("cuCtxPushCurrent")

    def cuCtxPopCurrent(self):
        return self._done("cuCtxPopCurrent", self.contexts.pop())

    def cuLibraryLoadData(self, image, *options):
        self.images.append(image)
        self.load_modes.append(self.capture_mode)
        return self._done("cuLibraryLoadData", "library")

    def cuModuleLoadDataEx(self, image, count, options, values):
        given = dict(zip(options, values))
        assert count == len(options) == len(values)
        buffer, size = (given[f"CU_JIT_ERROR_LOG_BUFFER{part}"] for part in ("", "_SIZE_BYTES"))
        buffer[:] = self.jit_log[: size - 1].ljust(size, b"\0")
        return self._done("cuModuleLoadDataEx", "module")

    def cuModuleUnload(self, module):
        return self._done("cuModuleUnload")

    def cuThreadExchangeStreamCaptureMode(self, mode):
        before, self.capture_mode = self.capture_mode, mode
        return self._done("cuThreadExchangeStreamCaptureMode", before)

    def cuDriverGetVersion(self):
        return self._done("cuDriverGetVersion", 13000)

    def cuLibraryGetKernel(self, library, name):
        return self._done("cuLibraryGetKernel", ("kernel", name))

    def cuKernelSetAttribute(self, attribute, value, kernel, device):
        self.attributes.append((attribute, value, device))
        return self._done("cuKernelSetAttribute")

    def cuKernelGetFunction(self, kernel):
        return self._done("cuKernelGetFunction", ("function", kernel[1], self.contexts[-1]))

    def cuPointerGetAttribute(self, attribute, address):
        return self._done("cuPointerGetAttribute", address >> 44)

    def cuTensorMapEncodeTiled(self, type, rank, base, dims, strides, box, element_strides, *modes):
        assert rank == len(dims) == len(box) == len(element_strides) == len(strides) + 1
        with self.lock:
            self.maps.append(dict(type=type, base=base, dims=dims, strides=strides, box=box, modes=list(modes)))
            data = b"map %d" % (len(self.maps) - 1)
        return self._done("cuTensorMapEncodeTiled", _TensorMap(data))

    def CUstream(self, handle):
        return SimpleNamespace(handle=handle)

    def cuEventCreate(self, flags):
        return self._done("cuEventCreate", SimpleNamespace(stream=None))

    def cuEventRecord(self, event, stream):
        event.stream = stream.handle
        return self._done("cuEventRecord")

    def cuStreamWaitEvent(self, stream, event, flags):
        self.order.append(f"{stream.handle} waits for {event.stream}")
        return self._done("cuStreamWaitEvent")

    def cuEventDestroy(self, event):
        return self._done("cuEventDestroy")

    def cuStreamSynchronize(self, stream):
        return self._done("cuStreamSynchronize")

    def cuGetErrorName(self, status):
        return Result.CUDA_SUCCESS, Result(status).name.encode()

    def cuGetErrorString(self, status):
        return Result.CUDA_SUCCESS, b"as the test asked"

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
        result = self._done("cuLaunchKernel")
        if result[0] == 0:
            self.order.append(f"launch on {stream.handle}")
            self.launches.append(
                SimpleNamespace(function=function, grid=(gx, gy, gz), block=(bx, by, bz), shared=shared,
                                stream=stream.handle, parameters=parameters, contexts=list(self.contexts))
            )  # fmt: skip
        return result

    def read(self, launch, descriptor):
        """The parameters that a recorded launch points at, by name."""
        pointers = (ctypes.c_uint64 * len(descriptor.parameters)).from_address(launch.parameters)
        found = {}
        for pointer, parameter in zip(pointers, descriptor.parameters):
            if parameter.kind == "tensor_map":
                assert pointer % 64 == 0
                text = ctypes.string_at(pointer)
                found[parameter.name] = self.maps[int(text.split()[1])]
            else:
                kind = {"pointer": ctypes.c_uint64, "i32": ctypes.c_int32, "f32": ctypes.c_float}[parameter.kind]
                found[parameter.name] = kind.from_address(pointer).value
        return found


class DeviceArray:
    """An array of no memory on a device of the fake driver; the address says which."""

    def __init__(self, shape, strides=None, dtype="<f2", address=1 << 20, device=0, stream=None):
        self.address = address + (device << 44)
        self.shape, self.dtype = tuple(shape), dtype
        itemsize = np.dtype(dtype).itemsize
        self.strides = None if strides is None else tuple(s * itemsize for s in strides)
        self.stream, self.readonly = stream, False

    @property
    def __cuda_array_interface__(self):
        interface = {"shape": self.shape, "strides": self.strides, "typestr": self.dtype,
                     "data": (self.address, self.readonly), "version": 3}  # fmt: skip
        if self.stream is not None:
            interface["stream"] = self.stream
        return interface


def abi_page(source):
    """The example of docs/abi.md: the descriptor, and the launch below it."""
    text = open(f"{source}/docs/abi.md", encoding="utf-8").read()
    start = text.index("```json same=")
    start = text.index("\n", start) + 1
    descriptor = text[start : text.index("```", start)]
    start = text.index("```text\ngrid") + 8
    json.loads(descriptor)
    return descriptor, text[start : text.index("```", start)]


def write_folder(path, descriptor, meaning=None, image=("cubin", b"\x7fELF image")):
    """A kernel folder of a descriptor (a dict)."""
    path.mkdir(parents=True)
    name = descriptor["kernel"]
    (path / f"{name}.json").write_text(json.dumps(descriptor))
    (path / f"{name}.{image[0]}").write_bytes(image[1])
    if meaning is not None:
        manifest = {"schema": 1, "kernel": name, "causal": meaning[0], "scale": meaning[1]}
        (path / "fa4.json").write_text(json.dumps(manifest))
    return path
