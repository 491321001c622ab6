# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention kernels of the fa4 compiler: made ahead of time, loaded, run.

fa4.compile(...)         an attention to a kernel folder, with the tool fa4-compile
fa4.load(folder)         a kernel; to run it needs cuda-bindings, and no compiler
fa4.use(kernel)          fa4.attention may choose it
fa4.attention(q, k, v)   on tensors of PyTorch, CuPy or JAX
"""

import sys

from ._attention import _load_torch, attention, clear, use
from ._compile import CompileError, compile
from ._descriptor import DescriptorError
from ._driver import CudaError
from ._kernel import Kernel, Meaning, load

__all__ = [
    "CompileError", "CudaError", "DescriptorError", "Kernel", "Meaning", "attention", "clear", "compile", "load", "use",
]  # fmt: skip
__version__ = "0.1.0"

# Operators have to be there before a trace meets them.
if "torch" in sys.modules:
    _load_torch()
