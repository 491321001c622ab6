# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes forms/*.ptx: many instruction forms, one a line, in few kernels.

A kernel of rows reads 64-bit words, slot k of thread t at in[t * slots + k]. They are in %x0, %x1, ..., their low halves in
%w0, ... and low quarters in %h0, ... A form leaves its result in %xd, %wd, %hd or as a byte in %wd and is stored on its own
line, which ends in '//: name [bound]'.
"""

import json
import os
import re
import subprocess
import tempfile

HEADER = """// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Written by make_forms.py.
.version 8.8
.target sm_90a
.address_size 64
"""

STORE = {
    "x": (8, "st.global.b64 [%o8+{}], %xd;"),
    "w": (4, "st.global.b32 [%o4+{}], %wd;"),
    "h": (2, "st.global.b16 [%o2+{}], %hd;"),
    "b": (1, "st.global.b8 [%o1+{}], %wd;"),
}


class Form:
    def __init__(self, code, out, name=None, bound=""):
        self.code, self.out, self.bound = code, out, bound
        self.name = name or code.split(" ")[0]


def op(mnemonic, kinds, out, bound="", extra=""):
    """mnemonic %<out>d, %<kind>0, %<kind>1, ..."""
    operands = ["%" + out + "d"] + ["%%%s%d" % (k, i) for i, k in enumerate(kinds)]
    tail = ", " + extra if extra else ""
    name = mnemonic + (" " + extra if extra else "")
    return Form("%s %s%s;" % (mnemonic, ", ".join(operands), tail), out, name, bound)


def predicate(code, name):
    """Code that leaves its answer in %p."""
    return Form(code + " selp.b32 %wd, 1, 0, %p;", "b", name)


def predicates(code, name):
    """Code that leaves answers in %p and %q."""
    return Form(code + " selp.b32 %wd, 1, 0, %p; selp.b32 %w31, 2, 0, %q; or.b32 %wd, %wd, %w31;", "b", name)


class Rows:
    """An entry over rows of inputs."""

    def __init__(self, name, pools, forms, threads=256, prologue="", module=""):
        self.name, self.pools, self.forms, self.threads = name, pools, forms, threads
        self.prologue, self.module = prologue, module  # lines before the forms, and before the entry

    def text(self, forms):
        n, slots = self.threads, len(self.pools)
        offset, lines = 0, []
        for f in forms:
            size, store = STORE[f.out]
            offset = (offset + size - 1) // size * size
            bound = " ~" + f.bound if f.bound else ""
            lines.append(" %s %s //: %s%s" % (f.code, store.format(offset), f.name, bound))
            offset += size * n
        launch = {"rows": self.pools, "block": n, "out": offset}
        t = self.module + "\n//@ %s\n.visible .entry %s(.param .u64 in, .param .u64 out)\n{\n" % (json.dumps(launch), self.name)
        t += " .reg .b64 %x<16>; .reg .b32 %w<32>; .reg .b16 %h<16>; .reg .pred %p, %q, %c;\n"
        t += " .reg .b64 %xd, %i, %o1, %o2, %o4, %o8; .reg .b32 %wd, %t; .reg .b16 %hd;\n"
        t += " ld.param.u64 %i, [in]; ld.param.u64 %o1, [out]; mov.u32 %t, %tid.x;\n"
        t += " mad.wide.u32 %%i, %%t, %d, %%i; mad.wide.u32 %%o8, %%t, 8, %%o1; mad.wide.u32 %%o4, %%t, 4, %%o1;\n" % (8 * slots)
        t += " mad.wide.u32 %o2, %t, 2, %o1; mad.wide.u32 %o1, %t, 1, %o1;\n"
        for k in range(slots):
            t += " ld.global.b64 %%x%d, [%%i+%d]; cvt.u32.u64 %%w%d, %%x%d; cvt.u16.u64 %%h%d, %%x%d;\n" % (k, 8 * k, k, k, k, k)
        t += " and.b32 %%w30, %%w%d, 1; setp.ne.b32 %%c, %%w30, 0;\n" % (slots - 1)
        return t + self.prologue + "\n".join(lines) + "\n ret;\n}\n"


class Kernel:
    """Any other entry: its text, and the line that says how to launch it."""

    forms = ()
    directives = ""
    serial = False  # whether the assembler may put wgmma after wgmma

    def __init__(self, name, launch, body, module=""):
        self.name, self.launch, self.body, self.module = name, launch, body, module

    def text(self, forms=()):
        maps = "".join(", .param .align 64 .b8 map%d[128]" % k for k in range(len(self.launch.get("maps", []))))
        head = ".visible .entry %s(.param .u64 in, .param .u64 out%s)" % (self.name, maps)
        return self.module + "\n//@ %s\n%s%s\n{\n%s}\n" % (json.dumps(self.launch), head, self.directives, self.body)


def assemble(text, output=os.devnull):
    """Lines that ptxas refuses, and its messages."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(text)
        f.flush()
        r = subprocess.run(["ptxas", "-arch=sm_90a", "-O1", f.name, "-o", output], capture_output=True, text=True)
    messages = r.stderr + r.stdout
    return r.returncode, {int(n) for n in re.findall(r"line (\d+); error", messages)}, messages


def keep_legal(rows, report, module=""):
    """Drops the forms that ptxas refuses on this target."""
    forms = list(rows.forms)
    while forms:
        text = HEADER + module + rows.text(forms)
        rc, bad, messages = assemble(text)
        if rc == 0:
            return forms
        refused = {i for i, line in enumerate(text.split("\n"), 1) if i in bad}
        first = next(i for i, line in enumerate(text.split("\n"), 1) if "//: " in line)
        drop = {i - first for i in refused}
        if not drop:
            raise RuntimeError(messages)
        for i in sorted(drop):
            report.append("%s: refused: %s" % (rows.name, forms[i].name))
        forms = [f for i, f in enumerate(forms) if i not in drop]
    return forms


def write(path, entries, report):
    text, module = HEADER, ""
    count = 0
    for rows in entries:
        if isinstance(rows, Kernel):
            count += 1
            text += rows.text()
            continue
        forms = keep_legal(rows, report, "" if rows.module else module)
        module = module or rows.module
        count += len(forms)
        if forms:
            text += rows.text(forms)
    rc, bad, messages = assemble(text)
    loss = "performance loss" in messages.lower() and not any(getattr(k, "serial", False) for k in entries)
    if rc or "warning" in messages.lower() or loss:
        raise RuntimeError(path + ": " + messages)
    with open(path, "w") as f:
        f.write(text)
    return count
