# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""Descriptor and operands to a launch: the page's example, and the C++ library on random problems."""

import json
import os
import random
import re
import subprocess
import tempfile
import unittest

from fa4._bind import Operand, bind
from fa4._descriptor import Descriptor, DescriptorError
from fa4._tensor_map import TensorMap
from fake_driver import abi_page

PAGE, LAUNCH = abi_page(os.environ["FA4_SOURCE"])
TOOL = os.path.join(os.environ["FA4_BUILD"], "unittests", "fa4-bind")


def contiguous(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


def operands(b, sq, skv, hq, hkv, d=128):
    shapes = {
        "q": (b, sq, hq, d),
        "k": (b, skv, hkv, d),
        "v": (b, skv, hkv, d),
        "o": (b, sq, hq, d),
        "lse": (b, hq, sq),
    }
    return {n: Operand("f32" if n == "lse" else "f16", s, contiguous(s)) for n, s in shapes.items()}


ADDRESSES = {name: 0x7F1000000000 + (i << 36) for i, name in enumerate(("q", "k", "v", "o", "lse"))}


def braces(values):
    return "{" + ", ".join(map(str, values)) + "}"


class Binding(unittest.TestCase):
    descriptor = Descriptor.parse(PAGE)

    def test_the_launch_of_the_page(self):
        bound = bind(self.descriptor, operands(2, 1000, 3000, 32, 8))
        lines = [f"grid {braces(bound.grid)} block {braces(self.descriptor.block)} "
                 f"shared {self.descriptor.dynamic_shared_bytes}"]  # fmt: skip
        for parameter, value in zip(self.descriptor.parameters, bound.at(ADDRESSES)):
            if isinstance(value, TensorMap):
                shown = (f"map of {value.base:#x} dims {braces(value.dims)} strides {braces(value.strides)} "
                         f"box {braces(value.box)}")  # fmt: skip
            else:
                shown = f"{value:#x}" if parameter.kind == "pointer" else str(value)
            lines.append(f"{parameter.offset}: {parameter.name} = {shown}")
        self.assertEqual("\n".join(lines), LAUNCH.strip())

    def test_messages(self):
        good = operands(2, 1000, 3000, 32, 8)

        def refused(message, kind=ValueError, **changes):
            with self.assertRaises(kind) as caught:
                bind(self.descriptor, {**good, **changes}).at(ADDRESSES)
            self.assertEqual(str(caught.exception), message)

        q = good["q"]
        refused("operand 'q': expected f16, but got bf16", TypeError, q=Operand("bf16", q.shape, q.strides))
        refused("operand 'q': expected rank 4, but got 2 [3, 4]", q=Operand("f16", (3, 4), (4, 1)))
        refused("operand 'x': the kernel has no such operand", x=q)
        refused("operand 'k', dimension 3: expected extent 128, but got 64",
                k=Operand("f16", (2, 3000, 8, 64), (1536000, 512, 64, 1)))  # fmt: skip
        refused(
            "operand 'q', dimension 3: expected stride 1, but got 2", q=Operand("f16", q.shape, (8192000, 8192, 256, 2))
        )
        refused("expected the sequence stride of 'q' (dimension 1) to be a multiple of 16 bytes as TMA demands, "
                "but got 8194 bytes (got Sq = 1000, q.stride1 = 4097)",
                q=Operand("f16", q.shape, (4097000, 4097, 128, 1)))  # fmt: skip
        del good["lse"]
        refused("operand 'lse': expected a tensor, but got none")

    def test_addresses(self):
        bound = bind(self.descriptor, operands(2, 1000, 3000, 32, 8))
        with self.assertRaises(ValueError) as caught:
            bound.at({**ADDRESSES, "k": 0x1008})
        self.assertEqual(str(caught.exception), "parameter 'k_map': base: expected an address that is a multiple of "
                         "16 bytes, but got 0x1008")  # fmt: skip
        # Without keys, K's map shows q.
        bound = bind(self.descriptor, operands(1, 5, 0, 8, 8))
        self.assertEqual(bound.at(ADDRESSES)[1].base, ADDRESSES["q"])

    def test_nothing_to_launch(self):
        self.assertTrue(bind(self.descriptor, operands(0, 5, 5, 8, 8)).skip)
        self.assertFalse(bind(self.descriptor, operands(1, 5, 0, 8, 8)).skip)

    def test_scalars(self):
        text = json.loads(PAGE)
        text["parameters"].append({"name": "scale", "kind": "f32", "factor": 1.5, "input": "scale"})
        descriptor, all_operands = Descriptor.parse(json.dumps(text)), operands(1, 5, 5, 8, 8)
        self.assertEqual(bind(descriptor, all_operands, {"scale": 0.1}).parameters[-1], 0.15000000596046448)
        with self.assertRaisesRegex(ValueError, "parameter 'scale': expected a scalar 'scale', but got none"):
            bind(descriptor, all_operands)
        with self.assertRaisesRegex(ValueError, "scalar 'scal': the kernel has no such scalar, it has scale$"):
            bind(descriptor, all_operands, {"scale": 0.1, "scal": 0.1})
        with self.assertRaisesRegex(ValueError, "scalar 'scale': the kernel has no such scalar, it has none"):
            bind(self.descriptor, all_operands, {"scale": 0.1})
        for value in (float("nan"), float("inf"), 1e39):
            with self.assertRaisesRegex(ValueError, "parameter 'scale': expected a finite f32"):
                bind(descriptor, all_operands, {"scale": value})


class Reading(unittest.TestCase):
    """A descriptor that is not what the page says is refused, with the place."""

    def refused(self, message, change):
        text = json.loads(PAGE)
        change(text)
        with self.assertRaises(DescriptorError) as caught:
            Descriptor.parse(json.dumps(text))
        self.assertIn(message, str(caught.exception))

    def test_fields(self):
        self.refused("schema: expected 1, but got 2", lambda d: d.update(schema=2))
        self.refused("grid: the field is missing", lambda d: d.pop("grid"))
        self.refused("extra: unknown field", lambda d: d.update(extra=1))
        self.refused("parameters[0].extra: unknown field", lambda d: d["parameters"][0].update(extra=1))
        self.refused("versions.llvm: the field is missing", lambda d: d["versions"].pop("llvm"))
        self.refused("kernel: expected a string", lambda d: d.update(kernel=1))
        self.refused("tensors[0].type: expected one of u8", lambda d: d["tensors"][0].update(type="f8"))
        self.refused("parameters[0].swizzle: expected one of none, 32B, 64B, 128B, but got '9B'",
                     lambda d: d["parameters"][0].update(swizzle="9B"))  # fmt: skip
        self.refused("skip_if: in '1 +', column 4", lambda d: d.update(skip_if="1 +"))
        self.refused("skip_if: expected an integer or an expression", lambda d: d.update(skip_if=1.5))
        self.refused("block: expected at most 1024 threads", lambda d: d.update(block=[2048, 1, 1]))
        self.refused("dynamic_shared_bytes", lambda d: d.update(dynamic_shared_bytes=1 << 30))

    def test_names(self):
        self.refused("unknown symbol 'Z' in 'Z + 1'", lambda d: d["grid"].__setitem__(0, "Z + 1"))
        self.refused("unknown symbol 'q'", lambda d: d["grid"].__setitem__(0, "q"))
        self.refused("symbols[1].name: expected a new name", lambda d: d["symbols"][1].update(name="B"))
        self.refused("symbols[0]: expected a dimension of a tensor", lambda d: d["symbols"][0].update(dim=4))
        self.refused("checks[0].message: column", lambda d: d["checks"][0].update(message="{Hq"))

    def test_text(self):
        for text in ("", "{", "[]", "[" * 100000):
            with self.assertRaises(DescriptorError):
                Descriptor.parse(text)


def random_problem(rng):
    """Mostly legal, of any layout; often with one thing that is not."""
    b, hkv, group = rng.choice((0, 1, 1, 2, 3)), rng.choice((1, 2, 8)), rng.choice((1, 2, 3, 4, 8))
    sq, skv = (rng.choice((0, 1, 2, 127, 128, 129, rng.randint(1, 100000))) for _ in range(2))
    ops = operands(b, sq, skv, hkv * group, hkv)
    for name in ("q", "k", "v", "o"):
        shape, strides = ops[name].shape, list(ops[name].strides)
        kind = rng.random()
        if kind < 0.3:  # heads first
            strides = [shape[1] * shape[2] * 128, 128, shape[1] * 128, 1]
        elif kind < 0.6:  # padded
            pad = rng.choice((8, 16, 64))
            strides[2] = 128 + pad
            strides[1] = shape[2] * strides[2] + rng.choice((0, pad))
            strides[0] = max(shape[1], 1) * strides[1]
        ops[name] = Operand("f16", shape, tuple(strides))
    addresses = {name: rng.randrange(1 << 16, 1 << 45, 16) for name in ops}
    if rng.random() < 0.4:
        name = rng.choice(("q", "k", "v", "o", "lse"))
        at = ops[name]
        shape, strides, kind = list(at.shape), list(at.strides), at.type
        axis = rng.randrange(len(shape))
        fault = rng.randrange(6)
        if fault == 0:
            shape[axis] += rng.choice((1, -1)) if shape[axis] else 1
        elif fault == 1:
            strides[axis] += rng.choice((1, 4, 8, -8))
        elif fault == 2:
            strides[axis] = rng.choice((0, -128, 1 << 39, 1 << 40, 1 << 62))
        elif fault == 3:
            kind = rng.choice(("bf16", "f32"))
        elif fault == 4:
            addresses[name] += rng.choice((1, 8))
        else:
            shape, strides = shape[1:], strides[1:]
        ops[name] = Operand(kind, tuple(shape), tuple(strides))
    if rng.random() < 0.03:
        del ops[rng.choice(sorted(ops))]
    return ops, addresses


def ours(descriptor, ops, addresses):
    try:
        bound = bind(descriptor, ops)
        if bound.skip:
            return {"skip": True}
        values = bound.at(addresses)
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    shown = []
    for parameter, value in zip(descriptor.parameters, values):
        entry = {"name": parameter.name, "offset": parameter.offset}
        if isinstance(value, TensorMap):
            entry.update({key: list(v) if isinstance(v, tuple) else v for key, v in vars(value).items()})
        else:
            entry["value"] = value
        shown.append(entry)
    return {"grid": list(bound.grid), "parameters": shown}


class AgainstTheLibrary(unittest.TestCase):
    def test_random_problems(self):
        if not os.path.exists(TOOL):
            self.skipTest("fa4-bind is not built")
        seed = int(os.environ.get("FA4_SEED", random.SystemRandom().randrange(1 << 32)))
        rng = random.Random(seed)
        text = json.loads(PAGE)
        # What the kernels of today do not use.
        text["derived"].append({"name": "broken", "value": "1 / (Skv - 1)"})
        text["checks"].append({"require": "Sq < 200 || broken != 5 && log2floor(Sq) % 3 != 1",
                               "message": "{{odd}} {Sq} {broken} {ceildiv(0 - Skv, 7)}"})  # fmt: skip
        # First: what does not depend on addresses is reported before what does.
        text["parameters"].insert(0, {"name": "many", "kind": "i32", "value": "B * Sq * Skv * Hq - (Sq - Skv) / 3"})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(text, file)
            problems = [random_problem(rng) for _ in range(2000)]
            lines = [path] + [
                json.dumps({n: {"type": o.type, "shape": o.shape, "strides": o.strides, "address": addresses[n]}
                            for n, o in ops.items()}) for ops, addresses in problems
            ]  # fmt: skip
            done = subprocess.run([TOOL], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
        descriptor = Descriptor.parse(json.dumps(text))
        kinds = {"error": 0, "skip": 0, "grid": 0}
        answers = done.stdout.splitlines()
        self.assertEqual(len(answers), len(problems))
        for (ops, addresses), answer in zip(problems, answers):
            theirs = json.loads(answer)
            kinds[next(key for key in kinds if key in theirs)] += 1
            self.assertEqual(ours(descriptor, ops, addresses), theirs, f"seed {seed}: {ops} {addresses}")
        # The test is worth nothing unless each outcome is common.
        self.assertTrue(all(count > 50 for count in kinds.values()), kinds)


if __name__ == "__main__":
    unittest.main()
