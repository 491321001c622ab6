# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_forms.py [NAME...]: writes forms/NAME.ptx. Needs ptxas, which decides what the target knows. Families that take from
test/Sim/forms.txt what the others leave out come last."""

import os
import sys

import forms_async
import forms_base
import forms_compare
import forms_convert
import forms_edges
import forms_float
import forms_integer
import forms_listed
import forms_memory
import forms_operands
import forms_order
import forms_phases
import forms_product
import forms_spelling
import forms_tensor
import forms_tiles
import forms_warp

FAMILIES = (forms_integer, forms_float, forms_compare, forms_convert, forms_async, forms_tensor, forms_warp,
            forms_memory, forms_listed, forms_order, forms_operands, forms_phases, forms_product, forms_spelling, forms_tiles, forms_edges)


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forms")
    report = []
    for family in FAMILIES:
        for name, entries in family.entries().items():
            if len(sys.argv) > 1 and name not in sys.argv[1:]:
                continue
            count = forms_base.write(os.path.join(folder, name + ".ptx"), entries, report)
            print("%s: %d forms" % (name, count), flush=True)
    for line in report:
        print(line)


if __name__ == "__main__":
    main()
