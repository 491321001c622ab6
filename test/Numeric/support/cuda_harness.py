# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prepared kernels on a GPU, through the Python package fa4, in the simulator's place.

Every operand lies between two margins: those of outputs must stay as they were, those of
inputs are NaN. The simulator's modes are orders of events; here each is one more run, whose
output must be equal to the bit.
"""

import hashlib
import os

import numpy as np

import fa4
from fa4._arrays import View
from fa4._bind import Operand
from fa4._driver import CudaError, check, get_device, get_driver
from harness import OPERANDS, Harness, ToolError
from prepared import prepared

MARGIN = 4096  # bytes; a multiple of what TMA asks of an address
ASSEMBLED = "f_attention.sha256"  # of the PTX that the cubin beside it was made from


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def made_from(folder):
    """The hash of the PTX that the cubin in a folder was made from."""
    path = os.path.join(folder, ASSEMBLED)
    if os.path.exists(path):
        with open(path) as f:
            return f.read()


class Memory:
    """Device memory of one operand: `words` of storage between margins of `fill`."""

    def __init__(self, words, itemsize, fill):
        self.driver, self.fill, self.itemsize = get_driver(), fill, itemsize
        self.size = words * itemsize
        total = self.size + 2 * MARGIN + -self.size % 16
        self.base = int(check(self.driver.cuMemAlloc(total)))
        self.address, self.after = self.base + MARGIN, total - MARGIN - self.size
        self.set(self.base, MARGIN)
        self.set(self.address + self.size, self.after)

    def set(self, address, size):
        put = self.driver.cuMemsetD16 if self.itemsize == 2 else self.driver.cuMemsetD32
        check(put(address, self.fill, size // self.itemsize))

    def write(self, data, offset=0):
        data = np.ascontiguousarray(data)
        check(self.driver.cuMemcpyHtoD(self.address + offset, data.ctypes.data, data.nbytes))

    def read(self, size=None, address=None):
        kind = np.uint16 if self.itemsize == 2 else np.uint32
        data = np.empty((self.size if size is None else size) // self.itemsize, kind)
        if data.size:
            check(self.driver.cuMemcpyDtoH(data.ctypes.data, address or self.address, data.nbytes))
        return data

    def margins_are_kept(self):
        before, after = self.read(MARGIN, self.base), self.read(self.after, self.address + self.size)
        return bool((before == self.fill).all() and (after == self.fill).all())

    def free(self):
        check(self.driver.cuMemFree(self.base))


class CudaHarness(Harness):
    def __init__(self, work, chip):
        super().__init__(work, chip)
        self.device = get_device(0)
        check(get_driver().cuCtxSetCurrent(self.device.context))
        self.kernels, self.hashes = {}, {}  # by folder and hash of the PTX, as launches of one PTX may differ; by problem

    def make(self, problem, folder):
        return prepared(folder)

    def kernel(self, folder):
        """The kernel of the PTX that is there now; the cubin only if it was made from it."""
        digest = sha256(os.path.join(folder, "f_attention.ptx"))
        self.hashes.setdefault(os.path.basename(folder), digest)
        if (folder, digest) not in self.kernels:
            kernel = fa4.load(folder, "f_attention")
            if made_from(folder) != digest:
                with open(os.path.join(folder, "f_attention.ptx"), "rb") as f:
                    kernel.image = f.read() + b"\0"
            self.kernels[folder, digest] = kernel
        return self.kernels[folder, digest]

    def launch(self, problem, folder, storages, inputs, mode, seed, flags, addresses):
        kernel, memory = self.kernel(folder), {}
        try:
            for name in (*OPERANDS, "lse") if problem.lse else OPERANDS:
                memory[name] = self.place_operand(problem, name, storages, inputs)
            self.call(kernel, problem, memory)
            self.look_around(problem, memory, storages)
            return memory["o"].read(), memory["lse"].read().reshape(problem.shape("lse")) if problem.lse else None
        except (CudaError, TypeError, ValueError) as error:
            raise ToolError(f"{type(error).__name__}: {error}") from None
        finally:
            for block in memory.values():
                block.free()

    def call(self, kernel, problem, memory):
        views = {name: self.view(problem, name, block.address) for name, block in memory.items()}
        launch = kernel.plan(views, 0).launch_at(tuple(view.address for view in views.values()))
        if launch:
            launch(0)
        check(get_driver().cuCtxSynchronize())

    def launch_on(self, problem, folder, operands):
        """O and LSE of compact operands: bits, or memory that the caller keeps."""
        storages = {"o": np.full(problem.shape("o"), 0x7FFF, np.uint16), "lse": np.full(problem.shape("lse"), 0x7FFFFFFF, np.uint32)}
        memory = {}
        try:
            for name in (*OPERANDS, "lse"):
                given = operands.get(name, storages.get(name))
                memory[name] = given
                if not isinstance(given, Memory):
                    memory[name] = Memory(given.size, given.itemsize, int(storages[name].flat[0]) if name in storages else 0x7FFF)
                    memory[name].write(given)
            self.call(self.kernel(folder), problem, memory)
            self.look_around(problem, memory, {})
            return memory["o"].read().reshape(problem.shape("o")), memory["lse"].read().reshape(problem.shape("lse"))
        except (CudaError, TypeError, ValueError) as error:
            raise ToolError(f"{type(error).__name__}: {error}") from None
        finally:
            for name, block in memory.items():
                if isinstance(block, Memory) and not isinstance(operands.get(name), Memory):
                    block.free()

    def run_by_driver(self, problem, inputs):
        """A run of the kernel that the driver makes of the PTX."""
        folder = self.compile(problem)
        with open(os.path.join(folder, "f_attention.ptx")) as f:
            kernel = self.load_text(problem, f.read())
        kept = self.kernel
        try:
            self.kernel = lambda _: kernel
            return self.run(problem, inputs)
        finally:
            self.kernel = kept

    def load_text(self, problem, ptx):
        """A kernel of this PTX, loaded."""
        kernel = fa4.load(self.compile(problem), "f_attention")
        kernel.image = ptx.encode() + b"\0"
        kernel.function(self.device)
        return kernel

    def attributes(self, problem):
        """Registers a thread and bytes of local memory, as the driver has them."""
        driver = get_driver()
        function = self.kernel(self.compile(problem)).function(self.device)
        names = ("CU_FUNC_ATTRIBUTE_NUM_REGS", "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES")
        return [check(driver.cuFuncGetAttribute(getattr(driver.CUfunction_attribute, n), function)) for n in names]

    def place_operand(self, problem, name, storages, inputs):
        if name == "lse":
            block = Memory(storages["lse"].size, 4, int(storages["lse"].flat[0]) if storages["lse"].size else 0)
            block.write(storages["lse"])
            return block
        shape, at = problem.shape(name), problem.layout(name)
        # An output starts as the poison everywhere; around an input lies a NaN.
        fill = int(storages["o"][0]) if name == "o" and storages["o"].size else 0x7FFF
        block = Memory(at.storage_size(shape), 2, fill)
        if name not in problem.sparse:
            if storages[name].size:
                block.write(storages[name])
            return block
        block.set(block.address, block.size)
        values = getattr(inputs, name)
        for b, s, h in np.ndindex(shape[:3]):
            block.write(values[b, s, h], 2 * (at.offset + b * at.strides[0] + s * at.strides[1] + h * at.strides[2]))
        return block

    def view(self, problem, name, address):
        shape = problem.shape(name)
        if name == "lse":
            b, h, s = shape
            return View(Operand("f32", shape, (h * s, s, 1)), address, 0, lambda: 0)
        at = problem.layout(name)
        return View(Operand(problem.dtype, shape, tuple(at.strides)), address + 2 * at.offset, 0, lambda: 0)

    def look_around(self, problem, memory, storages):
        for name, block in memory.items():
            if not block.margins_are_kept():
                raise ToolError(f"the kernel wrote beside '{name}'")
            if name in "qkv" and name in storages and storages[name].nbytes < 1 << 24:
                if not np.array_equal(block.read(), storages[name]):
                    raise ToolError(f"the kernel wrote to '{name}'")
