# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""From a problem to the bits that the simulated kernel writes.

A problem becomes the text of a function with one fa4.attention; fa4-compile makes a
kernel folder of it; ptx-sim runs the kernel on storage that is NaN wherever the view of
an operand does not reach, and on outputs that are filled with a poison. What runs the
kernel is a method of its own: cuda.py puts a GPU in the simulator's place.
"""

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chips import CHIPS
from storage import POISONS, Layout, compact, decode, encode

OPERANDS = ("q", "k", "v", "o")
DIMS = {"q": ("B", "Sq", "Hq"), "k": ("B", "Skv", "Hkv"), "o": ("B", "Sq", "Hq"), "lse": ("B", "Hq", "Sq")}
DIMS["v"] = DIMS["k"]


class ToolError(Exception):
    """A tool said no; the text is what it said."""


@dataclass(frozen=True)
class Problem:
    b: int
    sq: int
    skv: int
    hq: int
    hkv: int
    d: int = 128
    causal: bool = False
    dtype: str = "f16"
    lse: bool = True
    scale: float = None
    # Names of extents that the type does not say ("B", "Sq", "Skv", "Hq", "Hkv"),
    # and "layout" for strides and offsets.
    dynamic: frozenset = frozenset()
    layouts: dict = field(default_factory=dict)  # operand -> Layout
    # Inputs of which only the elements are stored, as their strides span too much.
    sparse: frozenset = frozenset()
    schedule: str = ""  # options of --fa4-schedule-attention
    target: str = ""  # such as "sms = 1"
    chip: str = ""  # the harness's, unless given
    # Columns of the kernel's tiles, where operands have fewer (fa4.compile with another head
    # dimension); their layouts are dynamic then.
    tile: int = 0

    def but(self, **changes):
        return replace(self, **changes)

    def shape(self, operand):
        return {
            "q": (self.b, self.sq, self.hq, self.d),
            "k": (self.b, self.skv, self.hkv, self.d),
            "v": (self.b, self.skv, self.hkv, self.d),
            "o": (self.b, self.sq, self.hq, self.d),
            "lse": (self.b, self.hq, self.sq),
        }[operand]

    def layout(self, operand):
        return self.layouts.get(operand) or compact(self.shape(operand))

    def type(self, operand):
        shape, names = self.shape(operand), DIMS[operand]
        if self.tile and operand != "lse":
            shape = (*shape[:3], self.tile)
        extents = ["?" if i < 3 and names[i] in self.dynamic else str(n) for i, n in enumerate(shape)]
        element = "f32" if operand == "lse" else self.dtype
        layout = ""
        if operand != "lse" and (operand in self.layouts or "layout" in self.dynamic):
            at = self.layout(operand)
            shown = [str(s) for s in at.strides[:3]] + [str(at.strides[3])]
            offset = at.offset
            if "layout" in self.dynamic:
                shown[:3], offset = ["?"] * 3, "?"
            layout = f", strided<[{', '.join(shown)}], offset: {offset}>"
        return f"memref<{'x'.join(extents)}x{element}{layout}>"

    def text(self):
        names = OPERANDS + (("lse",) if self.lse else ())
        arguments = ", ".join(f"%{n}: {self.type(n)}" for n in names)
        attention = (
            f"fa4.attention ins(%q, %k, %v : {self.type('q')}, {self.type('k')}, {self.type('v')})\n"
            f"      outs(%o : {self.type('o')})"
        )
        if self.lse:
            attention += f" lse(%lse : {self.type('lse')})"
        if self.causal:
            attention += " causal"
        scale = self.d**-0.5 if self.scale is None and self.tile else self.scale
        if scale is not None:
            attention += f" scale({np.float32(scale):.9e})"
        chip = f"{self.chip}, {self.target}" if self.target else self.chip
        return (
            f"module attributes {{fa4.target = #fa4.target<{chip}>}} {{\n"
            f"  func.func @f({arguments}) {{\n    {attention}\n    return\n  }}\n}}\n"
        )

    def __str__(self):
        words = [f"{self.b}/{self.sq}/{self.skv}/{self.hq}/{self.hkv}/{self.d}", self.dtype]
        words.append("causal" if self.causal else "not causal")
        words += [f"scale={self.scale}"] if self.scale is not None else []
        words += ["dynamic:" + ",".join(sorted(self.dynamic))] if self.dynamic else []
        words += [f"layouts:{','.join(self.layouts)}"] if self.layouts else []
        words += [f"tile={self.tile}"] if self.tile else []
        words += [w for w in (self.schedule, self.target, self.chip) if w]
        return " ".join(words)


ALL_DYNAMIC = frozenset(("B", "Sq", "Skv", "Hq", "Hkv", "layout"))


@dataclass
class Inputs:
    """q, k and v as bits; the float64 values of the same bits are for the reference."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    dtype: str

    @staticmethod
    def of(problem, q, k, v):
        shapes = [problem.shape(n) for n in "qkv"]
        bits = [encode(np.broadcast_to(x, s), problem.dtype) for x, s in zip((q, k, v), shapes)]
        return Inputs(*bits, problem.dtype)

    @staticmethod
    def normal(problem, seed):
        rng = np.random.default_rng(seed)
        return Inputs.of(problem, *(rng.standard_normal(problem.shape(n)) for n in "qkv"))

    def values(self):
        return [decode(x, self.dtype) for x in (self.q, self.k, self.v)]


@dataclass
class Output:
    o_bits: np.ndarray
    lse_bits: np.ndarray  # or None
    dtype: str

    @property
    def o(self):
        return decode(self.o_bits, self.dtype)

    @property
    def lse(self):
        return None if self.lse_bits is None else self.lse_bits.view(np.float32).astype(np.float64)

    def same_bits(self, other):
        same = np.array_equal(self.o_bits, other.o_bits)
        return same and (self.lse_bits is None or np.array_equal(self.lse_bits, other.lse_bits))


class Harness:
    def __init__(self, work, chip="sm_100a", flags=(), fa4_compile="fa4-compile", ptx_sim="ptx-sim"):
        self.work, self.chip, self.fa4_compile, self.ptx_sim = work, CHIPS[chip], fa4_compile, ptx_sim
        self.flags = (*self.chip.flags, *flags)  # of ptx-sim, in every run
        self.compiled = {}  # text and options -> kernel folder, or a ToolError
        os.makedirs(work, exist_ok=True)

    def place(self, problem):
        """The problem on its own chip, or on the harness's."""
        return problem if problem.chip else problem.but(chip=self.chip.name)

    def key(self, problem):
        text = problem.schedule + "\n" + problem.text()
        if problem.tile:
            text += f"columns {problem.d}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def compile(self, problem):
        """The kernel folder of a problem."""
        problem = self.place(problem)
        key = self.key(problem)
        if key not in self.compiled:
            self.compiled[key] = self.make(problem, os.path.join(self.work, key))
        result = self.compiled[key]
        if isinstance(result, ToolError):
            raise result
        return result

    def make(self, problem, folder):
        os.makedirs(folder, exist_ok=True)
        source = os.path.join(folder, "in.mlir")
        with open(source, "w") as f:
            f.write(problem.text())
        with open(os.path.join(folder, "options.txt"), "w") as f:
            f.write(problem.schedule)
        command = [self.fa4_compile, source, "--chip", problem.chip, "--emit", "ptx,launch", "-o", folder]
        if problem.schedule:
            command.append("--schedule=" + problem.schedule)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return ToolError(done.stderr)
        if problem.tile:
            from fa4._compile import narrowed  # others that use this file have no need of the package

            descriptor = Path(folder, "f_attention.json")
            descriptor.write_text(narrowed(descriptor.read_text(), problem.d))
        return folder

    def run(self, problem, inputs, mode="eager", seed=0, poison=0x7FFF, flags=(), unused=None, addresses={}):
        """Compiles if needed, runs, and returns what was written.

        Outputs start as `poison`; so does what inputs have outside their views, unless
        `unused` gives other bits. `addresses` says where some operands lie.
        """
        unused = poison if unused is None else unused
        problem = self.place(problem)
        folder = self.compile(problem)
        storages = {}
        for name in OPERANDS:
            if name in problem.sparse:
                continue
            shape, at = problem.shape(name), problem.layout(name)
            storage = np.full(at.storage_size(shape), poison if name == "o" else unused, np.uint16)
            if name != "o" and storage.size:
                at.view(storage, shape)[...] = getattr(inputs, name)
            storages[name] = storage
        if problem.lse:
            storages["lse"] = np.full(problem.shape("lse"), POISONS[poison], np.uint32)
        shape, at = problem.shape("o"), problem.layout("o")
        if not os.path.exists(os.path.join(folder, "f_attention.ptx")):
            if 0 not in shape:
                raise ToolError("there is no kernel, though 'o' has elements")
            # An attention without a query is folded away.
            lse = np.zeros(problem.shape("lse"), np.uint32) if problem.lse else None
            return Output(np.zeros(shape, np.uint16), lse, problem.dtype)
        storage, lse = self.launch(problem, folder, storages, inputs, mode, seed, (*self.flags, *flags), addresses)
        o = at.view(storage, shape).copy()
        if storage.size:
            at.view(storage, shape)[...] = poison
        if not (storage == poison).all():
            raise ToolError("the kernel wrote outside 'o'")
        return Output(o, lse, problem.dtype)

    def launch(self, problem, folder, storages, inputs, mode, seed, flags, addresses):
        """Runs the kernel in ptx-sim; the storage of O afterwards, flat, and LSE or None."""
        tensors = {}
        for name in OPERANDS:
            at = problem.layout(name)
            tensors[name] = {
                "type": problem.dtype,
                "shape": list(problem.shape(name)),
                "strides": list(at.strides),
                "offset": at.offset,
                "elements" if name in problem.sparse else "in": name + ".npy",
            }
            np.save(os.path.join(folder, name + ".npy"), storages.get(name, getattr(inputs, name, None)))
        tensors["o"]["out"] = "o.out.npy"
        if problem.lse:
            np.save(os.path.join(folder, "lse.npy"), storages["lse"])
            shape = problem.shape("lse")
            tensors["lse"] = {"in": "lse.npy", "out": "lse.out.npy", "type": "f32", "shape": list(shape)}
        for name, address in addresses.items():
            tensors[name]["address"] = hex(address)
        self.simulate(folder, tensors, mode, seed, flags)
        storage = np.load(os.path.join(folder, "o.out.npy")).view(np.uint16).reshape(-1)
        lse = None
        if problem.lse:
            lse = np.load(os.path.join(folder, "lse.out.npy")).view(np.uint32).reshape(problem.shape("lse"))
        return storage, lse

    def simulate(self, folder, tensors, mode, seed, flags=()):
        launch = os.path.join(folder, "launch.json")
        with open(launch, "w") as f:
            json.dump({"descriptor": "f_attention.json", "tensors": tensors}, f, indent=1)
        command = [self.ptx_sim, os.path.join(folder, "f_attention.ptx"), "--launch", launch]
        command += ["--mode", mode, "--seed", str(seed), "--threads", "1", *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ToolError(done.stdout + done.stderr)
