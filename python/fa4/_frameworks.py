# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""New arrays and copies of CuPy and JAX, for outputs and for what tensor maps cannot show.

Those of PyTorch are in _torch.py.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, Optional, Sequence, Tuple

from ._arrays import View, is_cupy, is_jax, view_of

Made = Tuple[Any, View]


def framework_of(array: Any, view: View) -> Optional[Any]:
    """None for arrays that cannot be made here."""
    if is_cupy(array):
        return CuPy(view.device)
    if is_jax(array):
        return Jax(array)
    return None


class CuPy:
    """Arrays of other frameworks beside them are seen as its own."""

    def __init__(self, device: int) -> None:
        self.cupy = sys.modules["cupy"]
        self.device = self.cupy.cuda.Device(device)

    def new(self, shape: Sequence[int], type_: str) -> Made:
        with self.device:
            array = self.cupy.empty(tuple(shape), {"f16": "f2", "f32": "f4"}[type_])
        return array, view_of(array, "o")

    def copy(self, array: Any, columns: int) -> Made:
        """Contiguous, with zeros up to so many columns."""
        made = self.new((*array.shape[:-1], columns), "f16")
        with self.device:
            made[0][..., : array.shape[-1]] = self.cupy.asarray(array)
            made[0][..., array.shape[-1] :] = 0
        return made

    def store(self, scratch: Any, array: Any) -> Any:
        """The first columns of the scratch, in the array of the caller."""
        with self.device:
            self.cupy.asarray(array)[...] = scratch[..., : array.shape[-1]]
        return array


class Jax:
    """Its arrays are written by the kernel that they are made for, and never again."""

    def __init__(self, array: Any) -> None:
        self.jax = sys.modules["jax"]
        self.device = next(iter(array.devices()))

    def new(self, shape: Sequence[int], type_: str) -> Made:
        dtype = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}[type_]
        with self.jax.default_device(self.device):
            return self._ready(self.jax.numpy.empty(tuple(shape), dtype))

    def copy(self, array: Any, columns: int) -> Made:
        return self._ready(self.jax.numpy.pad(array, ((0, 0), (0, 0), (0, 0), (0, columns - array.shape[-1]))))

    def store(self, scratch: Any, array: Any) -> Any:
        return scratch[..., : array.shape[-1]]

    def _ready(self, array: Any) -> Made:
        # Buffers that a computation of JAX still fills are not ours yet.
        array = self.jax.block_until_ready(array)
        return array, replace(view_of(array, "o"), writable=True)
