# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs PTX on NumPy arrays, on the CPU.

    module = ptxsim.Module(open("attention_attention.ptx").read())
    result = module.run("attention_attention.json", tensors={"q": q, "k": k, "v": v, "o": o})

The simulator and its limits: docs/simulator.md of fa4.
"""

from ptxsim._errors import Deadlock, Fault, PTXError, SimulationError, StepLimit
from ptxsim._module import Module, Result
from ptxsim._native import Diagnostic, FaultRecord, ParameterInfo

__all__ = [
    "Deadlock",
    "Diagnostic",
    "Fault",
    "FaultRecord",
    "Module",
    "ParameterInfo",
    "PTXError",
    "Result",
    "SimulationError",
    "StepLimit",
]
