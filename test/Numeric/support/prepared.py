# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that are made on one machine and run on another.

The cases decide what they compile as they run. So they run twice: here, where every kernel
is compiled and none runs, and there with the folders that this left. What was refused leaves
the message in the folder.
"""

import os

import numpy as np

from harness import Harness, Output, ToolError

REFUSED = "refused.txt"


class Preparing(Harness):
    def make(self, problem, folder):
        made = os.path.join(folder, "f_attention.json")
        if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(self.tool()):
            return folder
        result = super().make(problem, folder)
        if isinstance(result, ToolError):
            with open(os.path.join(folder, REFUSED), "w") as f:
                f.write(str(result))
        return result

    def tool(self):
        places = [os.path.join(p, self.fa4_compile) for p in os.environ["PATH"].split(os.pathsep)]
        return next(p for p in places if os.path.exists(p))

    def run(self, problem, inputs, *args, **options):
        """Zeros."""
        self.compile(problem)
        lse = np.zeros(problem.shape("lse"), np.uint32) if problem.lse else None
        return Output(np.zeros(problem.shape("o"), np.uint16), lse, problem.dtype)


def prepared(folder):
    """The folder, or the ToolError of when it was made."""
    refused = os.path.join(folder, REFUSED)
    if os.path.exists(refused):
        with open(refused) as f:
            return ToolError(f.read())
    if os.path.exists(os.path.join(folder, "in.mlir")):
        return folder
    return ToolError(f"'{folder}' was not prepared")
