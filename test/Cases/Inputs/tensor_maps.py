# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the base, byte strides and extents of a launch descriptor's tensor maps."""

import json
import sys

with open(sys.argv[1]) as file:
    descriptor = json.load(file)
for parameter in descriptor["parameters"]:
    if parameter["kind"] == "tensor_map":
        strides = ",".join(str(stride) for stride in parameter["strides"])
        dims = ",".join(str(extent) for extent in parameter["dims"])
        print(f"{parameter['name']} base={parameter['base']} strides={strides} dims={dims}")
