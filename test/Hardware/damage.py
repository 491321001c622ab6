# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damage.py OUT.zip HOW FAMILY CASE: the goldens with one thing wrong, to see that compare.py notices."""

import json
import os
import sys
import zipfile

import cases


def main():
    out, how, family, case = sys.argv[1:]
    with zipfile.ZipFile(os.path.join(cases.HERE, "goldens", "hopper.zip")) as z:
        files = {name: z.read(name) for name in z.namelist()}
    manifest = json.loads(files["manifest.json"])
    data = bytearray(files[case])
    if how == "bit":
        data[0] ^= 1
    elif how == "exponent":
        data[2] ^= 0x80
    elif how == "gone":
        manifest["cases"].remove(case)
    elif how == "inputs":
        manifest["inputs"][case] = ""
    elif how == "ptx":
        manifest["ptx"][family] = ""
    files[case], files["manifest.json"] = bytes(data), json.dumps(manifest).encode()
    with zipfile.ZipFile(out, "w") as z:
        for name, content in files.items():
            z.writestr(name, content)


if __name__ == "__main__":
    main()
