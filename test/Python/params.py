# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %ptxsim_python %s

"""Kernels without a descriptor: parameters of every type, structs, pointers, tensor maps."""

import ctypes
import struct

import numpy as np

from kernels import DOUBLE, module, raises


def echo(declaration, size):
    """A kernel that stores the bytes of its second parameter to the first."""
    steps = [(8, "b64", "%r"), (4, "b32", "%w"), (2, "b16", "%h"), (1, "u8", "%h")]
    body, at = "", 0
    while at < size:
        width, type, reg = next(s for s in steps if at + s[0] <= size and at % s[0] == 0)
        body += f" ld.param.{type} {reg}, [x+{at}]; st.global.{type} [%o+{at}], {reg};\n"
        at += width
    return module(
        f".visible .entry echo(.param .u64 out, .param {declaration})\n"
        "{ .reg .b64 %o, %r; .reg .b32 %w; .reg .b16 %h;\n ld.param.u64 %o, [out];\n" + body + " ret;\n}\n"
    )


def sent(declaration, value):
    size = module(f".visible .entry probe(.param {declaration}) {{ ret; }}\n").parameters()[0].size
    out = np.zeros(size, np.uint8)
    echo(declaration, size).run(grid=1, block=1, params=[out, value])
    return out.tobytes()


# Each type, the ends of its range, and Python and NumPy numbers.
for bits in (8, 16, 32, 64):
    for value in (0, 1, (1 << bits) - 1):
        assert sent(f".u{bits} x", value) == value.to_bytes(bits // 8, "little")
        assert sent(f".b{bits} x", value) == value.to_bytes(bits // 8, "little")
    for value in (-(1 << bits - 1), -1, (1 << bits - 1) - 1):
        assert sent(f".s{bits} x", value) == value.to_bytes(bits // 8, "little", signed=True)
        assert sent(f".b{bits} x", value) == value.to_bytes(bits // 8, "little", signed=True)
    assert sent(f".s{bits} x", np.int8(-3)) == (-3).to_bytes(bits // 8, "little", signed=True)
    assert sent(f".u{bits} x", np.uint64(7)) == (7).to_bytes(bits // 8, "little")
    with raises(ValueError, f"parameter 'x': {1 << bits} does not fit into .u{bits}"):
        sent(f".u{bits} x", 1 << bits)
    with raises(ValueError, f"-1 does not fit into .u{bits}"):
        sent(f".u{bits} x", -1)
    with raises(ValueError, f"does not fit into .s{bits}"):
        sent(f".s{bits} x", 1 << bits - 1)
    with raises(TypeError, f"parameter 'x': expected a value of .s{bits}, but got the float 1.0"):
        sent(f".s{bits} x", 1.0)
    with raises(TypeError, f"parameter 'x': expected a value of .u{bits}, but got str"):
        sent(f".u{bits} x", "1")
assert sent(".b128 x", (1 << 100) + 5) == ((1 << 100) + 5).to_bytes(16, "little")
assert sent(".u32 x", True) == b"\1\0\0\0"
assert sent(".f32 x", 0.1) == np.float32(0.1).tobytes() and sent(".f32 x", 3) == np.float32(3).tobytes()
assert sent(".f32 x", np.float64(0.1)) == np.float32(0.1).tobytes()
assert sent(".f32 x", float("inf")) == np.float32(np.inf).tobytes()
assert sent(".f64 x", 0.1) == struct.pack("<d", 0.1)
assert sent(".f16 x", 0.1) == np.float16(0.1).tobytes() and sent(".f16 x", 1e9) == np.float16(np.inf).tobytes()
assert sent(".tf32 x", 0.5) == np.float32(0.5).tobytes()
assert sent(".b32 x", 0.1) == np.float32(0.1).tobytes() and sent(".b64 x", 0.1) == struct.pack("<d", 0.1)
assert sent(".b16 x", np.float16(0.1)) == np.float16(0.1).tobytes()
# bf16: to nearest, ties to even, a carry into the exponent, infinities and NaN.
for value, bits in ((1.0, 0x3F80), (1 + 2**-8, 0x3F80), (1 + 3 * 2**-8, 0x3F82), (1 + 2**-8 + 2**-20, 0x3F81)):
    assert sent(".bf16 x", value) == bits.to_bytes(2, "little"), value
assert sent(".bf16 x", 2 - 2**-9) == b"\x00\x40" and sent(".bf16 x", float("-inf")) == b"\x80\xff"
assert sent(".bf16 x", float("nan")) == b"\xff\x7f" and sent(".bf16 x", 3.4e38) == b"\x80\x7f"
assert sent(".f16x2 x", [1, 2]) == np.array([1, 2], np.float16).tobytes()
assert sent(".bf16x2 x", (1, 2)) == b"\x80\x3f\x00\x40"
assert sent(".f32x2 x", [0.1, -1]) == np.array([0.1, -1], np.float32).tobytes()
assert sent(".v2 .f32 x", [0.1, -1]) == np.array([0.1, -1], np.float32).tobytes()
with raises(TypeError, "parameter 'x': expected two numbers of a .f16x2"):
    sent(".f16x2 x", 1)
with raises(ValueError, "parameter 'x': expected 16 bits, but got a float32"):
    sent(".b16 x", np.float32(1))
with raises(TypeError, "expected a value of .b16, but got the float"):
    sent(".b16 x", 1.0)

# Arrays and structs by value.
assert sent(".align 4 .f32 x[3]", [1, 2.5, np.float32(3)]) == np.array([1, 2.5, 3], np.float32).tobytes()


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int32), ("y", ctypes.c_double), ("z", ctypes.c_uint8)]


point = Point(-5, 0.25, 9)
assert sent(".align 8 .b8 x[24]", bytes(point)) == bytes(point)
assert sent(".align 8 .b8 x[24]", memoryview(point).cast("B")) == bytes(point)
record = np.array([(7, 1.5)], np.dtype([("n", "i4"), ("f", "f4")]))
assert sent(".align 4 .b8 x[8]", record.tobytes()) == record.tobytes()
members = [np.int32(-5), bytes(4), np.float64(0.25), np.uint8(9), bytes(7)]
assert sent(".align 8 .b8 x[24]", members)[:17] == bytes(point)[:17]
with raises(ValueError, "parameter 'x': expected 24 bytes, but got 23"):
    sent(".align 8 .b8 x[24]", bytes(23))
with raises(ValueError, "parameter 'x': expected 12 bytes, but got 8"):
    sent(".align 4 .f32 x[3]", [1, 2])
with raises(TypeError, "parameter 'x': expected bytes or a list, but got int"):
    sent(".align 4 .f32 x[3]", 1)

# A pointer inside a struct: what it points to is read through it.
follow = module(
    """.visible .entry follow(.param .u64 out, .param .align 8 .b8 s[16])
{ .reg .b64 %o, %a; .reg .b32 %i, %v;
 ld.param.u64 %o, [out]; ld.param.u64 %a, [s]; ld.param.u32 %i, [s+8];
 mul.wide.u32 %o, %i, 4; add.s64 %a, %a, %o; ld.param.u64 %o, [out];
 ld.global.u32 %v, [%a]; st.global.u32 [%o], %v; ret; }
"""
)
out = np.zeros(1, np.uint32)
result = follow.run(grid=1, block=1, params=[out, [np.arange(10, 15, dtype=np.uint32), np.uint32(3), bytes(4)]])
assert out[0] == 13 and sorted(result.tensors) == ["out", "s[0]"], result.tensors

# By name, and the ways to say a grid.
twice = module(DOUBLE)
a, b = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
for grid, block in ((1, 6), ([1], [6]), ((1, 1), (6, 1)), ((1, 1, 1), np.int64(6))):
    b[...] = 0
    twice.run(grid=grid, block=block, params={"out": b, "in": a, "step_out": 1, "step_in": 1})
    assert (b == 2 * a).all(), (grid, block)
assert [(p.name, p.type, p.size, p.is_array) for p in twice.parameters("twice")][1:3] == [
    ("out", "u64", 8, False),
    ("step_in", "u32", 4, False),
]
good = {"in": a, "out": b, "step_in": 1, "step_out": 1}
for type, words, options in (
    (ValueError, "the kernel has no parameter 'x'; it has: in, out, step_in, step_out", {"params": {**good, "x": 1}}),
    (ValueError, "parameter 'step_out' is not given", {"params": {n: v for n, v in good.items() if n != "step_out"}}),
    (ValueError, "the kernel has 4 parameters, but 3 are given", {"params": [a, b, 1]}),
    (TypeError, "expected a list or a dict of parameters", {"params": "abcd"}),
    (ValueError, "parameter 'step_in': expected 4 bytes, but got 8", {"params": [a, b, a, 1]}),
    (TypeError, "expected 'grid', as there is no descriptor", {"grid": None}),
    (ValueError, "expected 'block' from 1 to", {"block": 0}),
    (ValueError, "expected one to three values of 'grid'", {"grid": (1, 1, 1, 1)}),
    (TypeError, "expected an integer as 'grid', but got float", {"grid": 1.0}),
    (ValueError, "at most 1024 threads", {"block": 1025}),
    (ValueError, "the module has no kernel 'x'", {"kernel": "x"}),
    (ValueError, "shared memory, the limit is", {"dynamic_shared_bytes": 1 << 20}),
    (TypeError, "'tensors' and 'scalars' need a descriptor", {"tensors": {}}),
):
    with raises(type, words):
        twice.run(**{"grid": 1, "block": 6, "params": good, **options})
two = module(DOUBLE, ".visible .entry other() { ret; }\n")
assert two.kernels == ["twice", "other"] and "twice" in repr(two)
assert two.run(grid=2, block=1, params=[], kernel="other").ctas == 2
with raises(ValueError, "the module has several kernels; name one"):
    two.run(grid=1, block=1, params=[])

# A tensor map: the second box of a tensor of 6 x 16, copied out of shared memory as it lies.
COPY = """.extern .shared .align 1024 .b8 dyn[];
.visible .entry copy(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 bytes)
{
 .reg .pred %p; .reg .b32 %s, %i, %v, %n; .reg .b64 %m, %o;
 mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %o, [out]; ld.param.u32 %n, [bytes];
 mbarrier.init.shared.b64 [dyn], 1;
 fence.mbarrier_init.release.cluster;
 mbarrier.arrive.expect_tx.shared.b64 _, [dyn], %n;
 mov.u32 %s, dyn; add.u32 %s, %s, 1024;
 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {8, 4}], [dyn];
w: mbarrier.try_wait.parity.shared.b64 %p, [dyn], 0; @!%p bra w;
 mov.u32 %i, 0;
l: ld.shared.u32 %v, [%s]; st.global.u32 [%o], %v;
 add.u32 %s, %s, 4; add.s64 %o, %o, 4; add.u32 %i, %i, 4;
 setp.lt.u32 %p, %i, %n; @%p bra l;
 ret;
}
"""
copy = module(COPY)
source = np.arange(6 * 16, dtype=np.float32).reshape(6, 16)


def box(rows=4, **fields):
    out = np.zeros((rows, 8), np.float32)
    map = {"base": source, "box": (8, rows), **fields}
    copy.run(grid=1, block=1, params=[map, out, out.nbytes], dynamic_shared_bytes=4096, mode="lazy")
    return out


want = np.zeros((4, 8), np.float32)
want[:2] = source[4:, 8:]  # what lies outside the tensor is filled
assert (box() == want).all(), box()
filled = box(oob_fill="nan")
assert (filled[:2] == want[:2]).all() and np.isnan(filled[2:]).all()
# The swizzle exchanges the 16-byte halves of rows 4 to 7.
tall = np.arange(12 * 16, dtype=np.float32).reshape(12, 16)
plain, swizzled = box(8, base=tall), box(8, base=tall, swizzle="32B")
assert (plain == tall[4:, 8:]).all() and (swizzled[:4] == plain[:4]).all()
assert (swizzled[4:, :4] == plain[4:, 4:]).all() and (swizzled[4:, 4:] == plain[4:, :4]).all()
# A view: the map takes its strides.
wide = np.full((6, 32), 7, np.float32)
wide[:, 4:20] = source
assert (box(base=wide[:, 4:20]) == want).all()
# Said in full.
assert (box(type="f32", dims=[16, 6], strides=[64], element_strides=[1, 1], interleave="none") == want).all()
for type, words, fields in (
    (TypeError, "expected an array as 'base', but got NoneType", {"base": None}),
    (ValueError, "unknown field 'colour' of a tensor map", {"colour": 1}),
    (ValueError, "unknown swizzle '8B'", {"swizzle": "8B"}),
    (ValueError, "unknown element type 'f7'", {"type": "f7"}),
    (ValueError, "unknown 'oob_fill' 'one'", {"oob_fill": "one"}),
    (ValueError, "interleaved tensor maps are not supported", {"interleave": "16B"}),
    (ValueError, "the last dimension of 'base' is not contiguous", {"base": source.T}),
    (ValueError, "parameter 'map': .*16", {"base": wide[:, 1:17]}),
    (ValueError, "parameter 'map': .*box", {"box": (8, 400)}),
    (ValueError, "parameter 'map': ", {"box": (8,)}),
):
    with raises(type, words):
        box(**fields)
with raises(ValueError, "a tensor map needs a 'box'"):
    copy.run(grid=1, block=1, params=[{"base": source}, source, 4])
with raises(ValueError, "parameter 'out': a tensor map has 128 bytes, the parameter 8"):
    copy.run(grid=1, block=1, params=[{"base": source, "box": (8, 4)}, {"base": source, "box": (8, 4)}, 4])
