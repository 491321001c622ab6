# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Small kernels, and what the tests of the package share."""

import contextlib
import re

import numpy as np

import ptxsim

HEAD = ".version 8.8\n.target sm_100a\n.address_size 64\n"

# One thread an element: out[i] = 2 * in[i], where the strides are in elements.
DOUBLE = """
.visible .entry twice(.param .u64 in, .param .u64 out, .param .u32 step_in, .param .u32 step_out)
{
 .reg .b64 %a, %b, %o; .reg .b32 %i, %s, %t; .reg .f32 %f;
 ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
 ld.param.u32 %s, [step_in]; ld.param.u32 %t, [step_out];
 mov.u32 %i, %tid.x;
 mul.lo.u32 %s, %s, %i; mul.wide.u32 %o, %s, 4; add.s64 %a, %a, %o;
 mul.lo.u32 %t, %t, %i; mul.wide.u32 %o, %t, 4; add.s64 %b, %b, %o;
 ld.global.f32 %f, [%a];
 add.f32 %f, %f, %f;
 st.global.f32 [%b], %f;
 ret;
}
"""

# Never ends.
SPIN = """
.visible .entry spin()
{
 .reg .b32 %i;
 mov.u32 %i, 0;
loop: add.u32 %i, %i, 1;
 bra loop;
}
"""


def module(*kernels):
    return ptxsim.Module(HEAD + "".join(kernels))


@contextlib.contextmanager
def raises(type, words):
    """The block raises this very type, and its message holds a match of the expression."""
    try:
        yield
    except BaseException as error:
        assert error.__class__ is type, f"{error.__class__.__name__}: {error}"
        assert re.search(words, str(error)), str(error)
        return
    raise AssertionError(f"nothing was raised, expected {type.__name__}")


def attention(q, k, v, causal):
    """Attention in float64, [batch, length, heads, head dimension], NumPy's einsum alone."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, group, axis=2), np.repeat(v, group, axis=2)
    s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3])
    if causal:
        i, j = np.indices(s.shape[2:])
        s = np.where(j > i + s.shape[3] - s.shape[2], -np.inf, s)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhij,bjhd->bihd", p / p.sum(axis=-1, keepdims=True), v)
