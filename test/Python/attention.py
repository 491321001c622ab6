# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: fa4-compile %fa4_src/examples/attention.mlir --emit ptx,launch -o %t
# RUN: %ptxsim_python %s %t

"""A compiled kernel on NumPy arrays: in place, new arrays, every mode, and what is refused."""

import json
import pathlib
import sys

import numpy as np

import ptxsim
from kernels import attention, raises

folder = pathlib.Path(sys.argv[1])
path = folder / "attention_attention.json"
module = ptxsim.Module((folder / "attention_attention.ptx").read_text())
assert module.kernels == ["attention_attention"], module.kernels
assert [p.size for p in module.parameters()[:4]] == [128] * 4
assert module.check() == []

rng = np.random.default_rng(1)
q = rng.standard_normal((1, 40, 32, 128)).astype(np.float16)
k, v = (rng.standard_normal((1, 150, 8, 128)).astype(np.float16) for _ in range(2))
o = np.zeros_like(q)
want = attention(q, k, v, causal=True)
copies = [x.copy() for x in (q, k, v)]

result = module.run(path, tensors={"q": q, "k": k, "v": v, "o": o})
assert abs(o - want).max() < 2e-3, abs(o - want).max()
assert result.ok and result.status == "ok" and result.fault is None and result.deadlock is None
assert result.tensors["o"] is o and result.tensors["q"] is q
assert result.ctas > 0 and result.instructions > 1000 and result.tensor_instructions > 0
assert result.tma_instructions > 0 and result.seconds > 0
for name, before, after in zip("qkv", copies, (q, k, v)):
    assert np.array_equal(before, after), name

# A new array, for a descriptor that is a dict, or a path as text; modes give the same bits.
fields = json.loads(path.read_text())
for descriptor, options in (
    (fields, {"mode": "lazy", "threads": 1}),
    (str(path), {"mode": "random", "seed": 7}),
    (path, {"race": True, "strict_warps": True, "poison_loads": True}),
    (path, {"mode": "lazy", "race": "formal", "check": False}),
):
    tensors = {"q": q, "k": k, "v": v, "o": (q.shape, "f16")}
    result = module.run(descriptor, tensors=tensors, **options)
    if options.get("race") == "formal":
        # The default order of mbarriers makes tcgen05.fence superfluous; the formal reading may differ.
        assert result.ok or result.fault.kind == "formal", result
        continue
    assert not result.warnings, result
    new = result.tensors["o"]
    assert new.dtype == np.float16 and np.array_equal(new.view(np.uint16), o.view(np.uint16)), options

# One packed array for q and o, of which the kernel fills one half.
both = np.zeros((2,) + q.shape, np.float16)
both[0] = q
module.run(path, tensors={"q": both[0], "k": k, "v": v, "o": both[1]})
assert np.array_equal(both[0], q) and np.array_equal(both[1], o)

# Nothing to launch: no query.
result = module.run(path, tensors={"q": q[:, :0], "k": k, "v": v, "o": q[:, :0].copy()})
assert result.ok and result.ctas == 0

good = {"q": q, "k": k, "v": v, "o": o}


def refused(type, words, descriptor=path, **changes):
    tensors = {**good, **changes.pop("tensors", {})}
    o[...] = 1
    with raises(type, words):
        module.run(descriptor, tensors={n: t for n, t in tensors.items() if t is not None}, **changes)
    assert (o == 1).all(), "a refused call wrote"


wide = q.astype(np.float32)
refused(TypeError, "tensor 'q' has dtype float32, expected float16", tensors={"q": wide})
refused(TypeError, "tensor 'q' has dtype int16, expected float16", tensors={"q": q.view(np.int16)})
refused(TypeError, "tensor 'k': expected native byte order, but got dtype >f2", tensors={"k": k.astype(">f2")})
refused(TypeError, "tensor 'k': expected a NumPy array, but got list", tensors={"k": [1, 2]})
refused(TypeError, "tensor 'k': expected numbers, but got dtype object", tensors={"k": k.astype(object)})
refused(TypeError, "tensor 'o': expected an array, or a shape and a dtype", tensors={"o": (q.shape, "f17")})
refused(ValueError, "'q', dimension 3: extent 64, expected 128", tensors={"q": q[..., :64].copy()})
refused(ValueError, "'v', dimension 1: extent 149, expected 150", tensors={"v": v[:, :149].copy()})
refused(ValueError, "tensor 'q' has rank 3, expected 4", tensors={"q": q[0]})
refused(ValueError, "tensor 'v' is not given", tensors={"v": None})
refused(ValueError, "tensor 'z' is no operand of the kernel", tensors={"z": q})
turned = np.zeros((1, 32, 40, 128), np.float16).transpose(0, 2, 1, 3)
refused(ValueError, "'q', dimension 1: stride 128, expected 4096", tensors={"q": turned})
refused(ValueError, "tensor 'k', dimension 1: a negative stride; pass a copy", tensors={"k": k[:, ::-1]})
odd = np.zeros(k.shape, np.dtype([("x", np.float16), ("y", np.uint8)]))["x"]
refused(ValueError, "tensor 'k', dimension 3: a stride of 3 bytes, expected whole elements", tensors={"k": odd})
refused(ValueError, "unknown mode 'early'", mode="early")
refused(ValueError, "unknown race mode 'maybe'", race="maybe")
refused(ValueError, "expected 'threads' from 1 to 256, but got 0", threads=0)
refused(ValueError, "expected 'seed' from 0 to", seed=-1)
refused(TypeError, "expected an integer as 'max_steps', but got float", max_steps=1.5)
refused(TypeError, "'grid' is what the descriptor says", grid=1)
refused(TypeError, "expected either a descriptor or 'params'", params=[])
refused(TypeError, "scalar 's': expected a number, but got str", scalars={"s": "x"})
refused(ValueError, "unknown field 'colour'", {**fields, "colour": 1})
refused(ValueError, "expected schema 1", {**fields, "schema": 2})
refused(ValueError, "unknown element type 'f7'", {**fields, "tensors": [{"name": "q", "type": "f7"}]})
refused(ValueError, "the module has no kernel 'other'", {**fields, "kernel": "other"})
refused(FileNotFoundError, "nowhere.json", folder / "nowhere.json")
(folder / "broken.json").write_text("{")
refused(ValueError, "broken.json", folder / "broken.json")
with raises(TypeError, "expected either a descriptor or 'params'"):
    module.run()

# An output that is read-only, with the instruction that writes it.
fixed = np.zeros_like(q)
fixed.flags.writeable = False
refused(ptxsim.Fault, r"'o' of 327680 bytes, which is read-only", tensors={"o": fixed})
assert (fixed == 0).all()

# What is not PTX.
with raises(ptxsim.PTXError, "line 2: unknown directive"):
    ptxsim.Module(".version 8.8\n.colour red\n")
try:
    ptxsim.Module(".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k( { }\n")
except ptxsim.PTXError as error:
    assert (error.line, error.text.strip()) == (4, ".visible .entry k( { }") and error.message, error
unknown = ptxsim.Module(".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n frobnicate.u32 1;\n}\n")
(diagnostic,) = unknown.check()
assert diagnostic.line == 5 and "frobnicate" in str(diagnostic), diagnostic
with raises(ValueError, "line 5: error: .*frobnicate"):
    unknown.run(grid=1, block=1, params=[])
