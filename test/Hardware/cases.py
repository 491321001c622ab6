# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels in forms/*.ptx and their inputs.

A line '//@ {...}' before an entry says how to launch it:
  rows   names of pools; slot k of thread t is the 64-bit word in[t * slots + k]
  input  instead of rows: [pool, count], an array of the pool's own element width
  block, grid (1), shared (dynamic bytes, 0), out (bytes), prefill (0x5a, what each byte of out holds before)
  word   bytes of an element of out, bound: how near it has to be, for kernels without rows
  fault  true where the hardware stops the kernel, and ptx-sim has to
  maps   tensor maps, parameters after in and out: base ('in' or 'out'), offset, type, dims, strides, box, swizzle, fill
A line that ends in '//: name' stores the result of one form; '~rel=.. abs=..' after it is the bound it is held to, and 'nan'
says that any NaN is as good as another, 'open' that PTX promises nothing about the value.
"""

import glob
import hashlib
import json
import os
import re
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
FORMS = os.path.join(HERE, "forms")


class Random:
    """splitmix64: the same numbers everywhere."""

    def __init__(self, text):
        self.state = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return z ^ (z >> 31)

    def below(self, n):
        return self.word() % n

    def pick(self, items):
        return items[self.below(len(items))]


FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def bits_of(value, name):
    """Bits of a Python float, cut off (not rounded) to the format; overflow is not expected."""
    e, m = FLOATS[name]
    if name == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if name == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    word = struct.unpack("<I", struct.pack("<f", value))[0]
    return word >> 16 if name == "bf16" else word


def float_specials(name):
    e, m = FLOATS[name]
    top, one, inf = 1 << (e + m), ((1 << (e - 1)) - 1) << m, ((1 << e) - 1) << m
    half = 1 << (m - 1)
    plus = [0, 1, 2, half, (1 << m) - 1, 1 << m, (1 << m) + 1, 2 << m, one, one + 1, one - 1, one + half, one - (1 << m),
            one + (1 << m), inf - 1, inf - (1 << m), inf, inf | half, inf | half | 5, inf | 1]
    return plus + [v | top for v in plus]


def random_float(name, r, spread):
    """A finite number with an exponent within spread of that of 1."""
    e, m = FLOATS[name]
    bias = (1 << (e - 1)) - 1
    exponent = bias + r.below(2 * spread + 1) - spread
    mantissa = r.word() & ((1 << m) - 1)
    if r.below(4) == 0:  # few digits: ties and exact results
        mantissa &= ~((1 << (m - 2)) - 1)
    return (r.below(2) << (e + m)) | (max(0, exponent) << m) | mantissa


def whole_float(name, r):
    """Near an integer, a half, or the edge of an integer type."""
    limit = {"f16": 15, "bf16": 66, "f32": 66, "f64": 66}[name]
    size = r.below(limit) + 1
    base = r.pick([float(2**size), float(2**size - 1), float(r.below(2**size)), r.below(2**min(size, 20)) + 0.5])
    base = min(base, 65504.0) if name == "f16" else base
    bits = bits_of(base, name) + r.pick([0, 0, 1, -1])
    return bits ^ (r.below(2) << sum(FLOATS[name]))


def float_pool(name, spread, r):
    k = r.below(8)
    if k < 3:
        return r.pick(float_specials(name))
    if k == 3:
        return r.word() & ((2 << sum(FLOATS[name])) - 1)
    return random_float(name, r, spread)


INTEGERS = [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF,
            0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
            0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF80, 0xFFFFFFFFFFFF8000, 0xFFFFFFFF80000000, 0xFFFFFFFF7FFFFFFF,
            0x8000000080008080, 0x7FFFFFFF7FFF7F7F]


def integer(r):
    k = r.below(4)
    if k == 0:
        return r.pick(INTEGERS)
    if k == 1:
        return (r.word() >> r.below(64)) * r.pick([1, -1]) & (2**64 - 1)
    return r.word()


def pair(make, r):
    return make(r) | make(r) << 16


def word(pool, r):
    """One 64-bit word of a pool. Narrow values fill the whole word with more of their kind."""
    if pool == "int":
        return integer(r)
    if pool == "divisor":
        v = integer(r)  # no part of it is 0
        return v | sum(1 << s for s in (0, 16, 32, 48) if not v >> s & 0xFFFF)
    if pool == "random":
        return r.word()
    if pool == "shift":
        return r.pick([r.below(70), r.below(20), 31, 32, 33, 63, 64, 65, 255, 256, 2**31, 2**32 - 1, r.below(2**32)])
    if pool == "length":
        return r.pick([r.below(34), r.below(66), 0, 32, 64, 255, r.below(256)])
    if pool == "lane":
        return r.below(32)
    if pool == "few":
        return r.below(3)
    if pool == "clamp":
        return r.pick([0x1F, 0x1C1F, 0x181F, 0x101F, 0, 0x1C00, 0x1807, r.below(0x2000)])
    if pool == "mixed":  # integers and floats of every width
        k = r.below(5)
        return integer(r) if k == 0 else word(("f32", "f64", "f16", "bf16")[k - 1], r)
    if pool == "small":
        return (r.below(9) - 4) & 0xFFFFFFFF
    if pool == "angle":
        if r.below(8) == 0:
            return r.pick([v for v in float_specials("f32") if not 0x7F000000 <= v & 0x7FFFFFFF < 0x7F800000])
        return bits_of((r.below(2**24) / 2.0**24 * 2 - 1) * 6.2831853, "f32")
    if pool == "f32mid":  # normal numbers, no extremes
        return random_float("f32", r, 20)
    if pool == "f64":
        return float_pool("f64", 12, r)
    if pool == "f32":
        return float_pool("f32", 10, r) | float_pool("f32", 10, r) << 32
    if pool == "f32half":  # where narrow formats round, overflow and underflow
        k = r.below(6)
        if k == 0:
            return r.pick(float_specials("f32"))
        if k == 1:
            return random_float("f32", r, 26)
        if k == 2:  # ties of f16 and bf16
            return random_float("f32", r, 26) & 0xFFFFE000 | r.pick([0, 0x1000, 0xFFF, 0x1001])
        if k == 3:
            return random_float("f32", r, 26) & 0xFFFF0000 | r.pick([0, 0x8000, 0x7FFF, 0x8001])
        if k == 4:
            return bits_of(r.pick([65504.0, 65519.0, 65520.0, 65536.0, 448.0, 464.0, 465.0, 57344.0, 61440.0, 2.0**-24,
                                   2.0**-25, 2.0**-10, 2.0**-17]), "f32") | r.below(2) << 31
        return r.word() & 0xFFFFFFFF
    if pool in ("f16oob", "bf16oob"):  # a third of them what out-of-bounds fill looks like, or near it
        name = pool[:-3]
        def any_of(q):
            near = [0x7FFF, 0xFFFF, 0x7FF7, 0xFFF7, 0x7FFE, 0x7E00, 0x7F80, 0x7C01, 0xFC00]
            return q.pick(near) if q.below(3) == 0 else float_pool(name, 6, q)
        return pair(any_of, r) | pair(any_of, r) << 32
    if pool in ("f16", "bf16"):
        def make(q):
            return float_pool(pool, 6, q)
        return pair(make, r) | pair(make, r) << 32
    if pool in ("f16int", "bf16int", "f32int", "f64int"):
        name = pool[:-3]
        return whole_float(name, r) if r.below(2) else float_pool(name, 20 if name != "f16" else 8, r)
    raise ValueError("unknown pool '%s'" % pool)


def small_values(pool, r):
    """Elements of the tensor core's operands: a few bits, so that most sums are exact, or anything finite."""
    name = pool.split(".")[0]
    if pool.endswith(".special") and r.below(100) == 0:
        return r.pick(float_specials(name))
    if not pool.endswith(".any"):
        return bits_of((r.below(17) - 8) / 4.0, name)
    return random_float(name, r, 3)


class Case:
    def __init__(self, family, name, launch, forms):
        self.family, self.name, self.launch, self.forms = family, name, launch, forms
        self.block = launch["block"]
        self.grid = launch.get("grid", 1)
        self.out_bytes = launch["out"]
        self.shared = launch.get("shared", 0)
        self.maps = launch.get("maps", [])

    def input_digest(self):
        return hashlib.sha256(self.input()).hexdigest()[:16]

    def output(self):
        """What output memory holds before the launch."""
        return bytes([self.launch.get("prefill", 0x5A)]) * self.out_bytes

    def input(self):
        r = Random(self.name)
        if "rows" in self.launch:
            return b"".join(struct.pack("<Q", word(p, r)) for _ in range(self.block * self.grid) for p in self.launch["rows"])
        data = b""
        for pool, count in self.launch.get("input", [["random", 1]]):
            if pool == "index16":
                data += struct.pack("<%dH" % count, *range(count))
            elif pool == "index32":
                data += struct.pack("<%dI" % count, *range(count))
            elif "." in pool:
                data += b"".join(struct.pack("<H", small_values(pool, r)) for _ in range(count))
            else:
                data += b"".join(struct.pack("<Q", word(pool, r)) for _ in range(count))
        return data


def read_family(path):
    """The cases of one file."""
    family = os.path.basename(path)[:-4]
    with open(path) as f:
        lines = f.read().split("\n")
    cases, launch = [], None
    for number, line in enumerate(lines, 1):
        if line.startswith("//@ "):
            launch = json.loads(line[4:])
        entry = re.match(r"\.visible \.entry (\w+)", line)
        if entry:
            cases.append(Case(family, entry.group(1), launch, []))
        form = re.search(r"st\.global\.b(\d+) \[%o\d\+(\d+)\].*//: (.*?)(?: ~(.*))?$", line)
        if form:
            width, offset, name, bound = form.groups()
            cases[-1].forms.append((name, int(offset), int(width) // 8, bound or "", number))
    return cases


def families():
    return sorted(glob.glob(os.path.join(FORMS, "*.ptx")))


def digest(path):
    """Of all that a card's answer depends on: what is made of it may change later."""
    with open(path) as f:
        text = re.sub(r' ~.*$|, "bound": "[^"]*"|, "fault": true', "", f.read(), flags=re.MULTILINE)
    return hashlib.sha256(text.encode()).hexdigest()
