# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: fa4-compile %S/Inputs/strided.mlir --emit ptx,launch -o %t
# RUN: %ptxsim_python %s %t

"""bf16 arrays of ml_dtypes, where that is there: operands, new outputs, parameters."""

import pathlib
import sys

import numpy as np

import ptxsim
from kernels import attention, raises

try:
    from ml_dtypes import bfloat16, float8_e4m3fn
except ImportError:
    print("no ml_dtypes")
    sys.exit()

folder = pathlib.Path(sys.argv[1])
kernel = ptxsim.Module((folder / "attention_attention.ptx").read_text())
path = folder / "attention_attention.json"
rng = np.random.default_rng(3)
q, k, v = (rng.standard_normal((1, 33, 2, 64)).astype(bfloat16) for _ in range(3))
tensors = {"q": q, "k": k, "v": v, "o": (q.shape, "bf16")}
o = kernel.run(path, tensors=tensors).tensors["o"]
assert o.dtype == bfloat16
want = attention(q, k, v, causal=True)
assert abs(o.astype(np.float64) - want).max() < 2e-2

# The same as bits, and in place into a view.
bits = np.zeros(q.shape, np.uint16)
kernel.run(path, tensors={"q": q.view(np.uint16), "k": k, "v": v, "o": bits})
assert np.array_equal(bits, o.view(np.uint16))
room = np.zeros((1, 2, 33, 72), bfloat16)
view = room[..., 8:].transpose(0, 2, 1, 3)
kernel.run(path, tensors={**tensors, "o": view})
assert np.array_equal(view.view(np.uint16), bits) and (room[..., :8] == 0).all()

with raises(TypeError, "'q' has dtype float16, expected bfloat16 or uint16, which holds bf16"):
    kernel.run(path, tensors={**tensors, "q": q.astype(np.float16)})
with raises(TypeError, "'q' has dtype float8_e4m3fn, expected bfloat16 or uint16"):
    kernel.run(path, tensors={**tensors, "q": q.astype(float8_e4m3fn)})

# A number as a parameter.
echo = ptxsim.Module(
    """.version 8.8
.target sm_100a
.address_size 64
.visible .entry echo(.param .u64 out, .param .b16 x, .param .bf16 y)
{ .reg .b64 %o; .reg .b16 %x, %y; ld.param.u64 %o, [out]; ld.param.b16 %x, [x]; ld.param.b16 %y, [y];
 st.global.b16 [%o], %x; st.global.b16 [%o+2], %y; ret; }
"""
)
out = np.zeros(2, bfloat16)
echo.run(grid=1, block=1, params=[out, bfloat16(1.5), bfloat16(-3)])
assert out.tolist() == [1.5, -3], out
