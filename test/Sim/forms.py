# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that ptx-sim decodes every instruction form of forms.txt.

Each form becomes a kernel of one instruction; all kernels of a target are one
module. With --ptxas the assembler judges the list itself: a form that it does
not take is not a form."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = """.version 8.8
.target {target}
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.shared .align 128 .b8 smem[1024];
.global .align 16 .b8 gmem[256];
.const .align 16 .b8 cmem[256];
.func noargs ()
{{ ret; }}
.func (.param .b32 r) callee (.param .b32 a)
{{ .reg .b32 %t; ld.param.b32 %t, [a]; st.param.b32 [r], %t; ret; }}
"""
ENTRY = """.visible .entry k{index}(.param .align 16 .b8 par[64], .param .align 64 .b8 map[128])
.maxntid 128
.minnctapersm 1
{{
 .local .align 16 .b8 lmem[64];
 .reg .b16 %h<130>; .reg .b32 %r<140>, %w<4>; .reg .b64 %d<16>, %a<2>, %s<2>;
 .reg .b128 %q<4>; .reg .f32 %f<132>; .reg .f64 %g<6>; .reg .pred %p<5>;
{body}
 ret;
}}
"""


def registers(prefix, count, first=1):
    return "{" + ", ".join(f"%{prefix}{first + i}" for i in range(count)) + "}"


def wgmma(accumulator):
    """Every N, both sources of A, every transposition and sign."""
    for n in range(8, 257, 8):
        for kind in ("f16",) if accumulator == "f16" else ("f16", "bf16"):
            d = registers("r" if accumulator == "f16" else "f", n // (4 if accumulator == "f16" else 2))
            head = f"wgmma.mma_async.sync.aligned.m64n{n}k16.{accumulator}.{kind}.{kind} {d}, "
            full = n in (8, 64, 128, 256)
            for signs in ((1, 1), (-1, 1), (1, -1), (-1, -1)) if full else ((1, 1),):
                for ta in (0, 1):
                    for tb in (0, 1):
                        yield head + f"%d1, %d2, %p1, {signs[0]}, {signs[1]}, {ta}, {tb};"
                for tb in (0, 1):
                    a = registers("r", 4, 130)
                    yield head + f"{a}, %d2, %p1, {signs[0]}, {signs[1]}, {tb};"


def tcgen05_ld_st():
    """Every shape, repetition and packing."""
    for shape, base in (("16x64b", 1), ("16x128b", 2), ("16x256b", 4), ("32x32b", 1), ("16x32bx2", 1)):
        for i in range(8):
            count = base << i
            if count > 128:
                continue
            regs = registers("r", count, 2)
            offset = ", 8" if shape == "16x32bx2" else ""
            for pack in ("", ".pack::16b"):
                yield f"tcgen05.ld.sync.aligned.{shape}.x{1 << i}{pack}.b32 {regs}, [%r1]{offset};"
            for pack in ("", ".unpack::16b"):
                yield f"tcgen05.st.sync.aligned.{shape}.x{1 << i}{pack}.b32 [%r1]{offset}, {regs};"


GENERATED = {
    "{wgmma f32}": lambda: wgmma("f32"),
    "{wgmma f16}": lambda: wgmma("f16"),
    "{tcgen05 ld st}": tcgen05_ld_st,
}


def expand(line, names):
    """All texts of a line, its '<a|b>' replaced by each alternative in turn."""
    match = re.search(r"<([^<>]*)>", line)
    if not match:
        yield line
        return
    inside = re.sub(r"\$(\w+)", lambda m: names[m.group(1)], match.group(1))
    for choice in inside.split("|"):
        yield from expand(line[: match.start()] + choice + line[match.end() :], names)


def read_forms(path):
    """(section, targets, text) of each form, in order and without repeats."""
    names, section, targets, seen = {}, "", [], set()
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("@") and not line.startswith(("@%", "@!")):
            targets = line[1:].split()
        elif line.startswith("["):
            section = line.strip("[]")
        elif re.match(r"\$\w+ = ", line):
            name, values = line[1:].split(" = ")
            names[name] = values
        else:
            texts = GENERATED[line]() if line in GENERATED else expand(line, names)
            for text in texts:
                if text not in seen:
                    seen.add(text)
                    yield section, targets, text


def module_text(target, forms):
    """The module and, by line, the form that stands there."""
    text, owner = HEADER.format(target=target), {}
    for index, (_, form) in forms:
        entry = ENTRY.format(index=index, body=" " + form)
        first = text.count("\n") + 1
        for line in range(entry.count("\n")):
            owner[first + line] = index
        text += entry
    return text, owner


def refused(command, target, forms, pattern):
    """Runs the command over the forms; (form, message) of those it refuses. A
    syntax error ends a module, so the module is tried again without it."""
    forms, bad = dict(forms), {}
    while forms:
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            text, owner = module_text(target, forms.items())
            file.write(text)
            file.flush()
            run = subprocess.run([c.replace("%s", file.name) for c in command], capture_output=True, text=True)
        found = {}
        for match in re.finditer(pattern, run.stderr):
            index = owner.get(int(match.group(1)))
            if index is not None:
                found.setdefault(index, match.group(2))
        if run.returncode == 0:
            break
        if not found:
            sys.exit(f"{command[0]} failed:\n{run.stderr[:2000]}")
        bad.update(found)
        for index in found:
            del forms[index]
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ptx-sim", default="ptx-sim")
    parser.add_argument("--ptxas", help="let this assembler judge the list")
    parser.add_argument("--list", type=pathlib.Path, default=pathlib.Path(__file__).with_name("forms.txt"))
    args = parser.parse_args()
    forms = list(enumerate(read_forms(args.list)))
    sections, failures = {}, 0
    for target in ("sm_90a", "sm_100a"):
        mine = [(i, (s, text)) for i, (s, targets, text) in forms if target in targets]
        # A form of both targets is decoded once.
        if args.ptxas:
            bad = refused(
                [args.ptxas, f"-arch={target}", "-O0", "-o", "/dev/null", "%s"],
                target, mine, r"line (\d+); (?:error|fatal) *: (.*)",
            )
        else:
            mine = [m for m in mine if target == "sm_100a" or "sm_100a" not in forms[m[0]][1][1]]
            bad = refused([args.ptx_sim, "%s", "--check"], target, mine, r":(\d+): error: (.*)")
        for index, (section, text) in mine:
            total, good = sections.get(section, (0, 0))
            sections[section] = (total + 1, good + (index not in bad))
            if index in bad:
                print(f"{target}: {text}\n    {bad[index]}")
                failures += 1
    for section, (total, good) in sections.items():
        print(f"{section}: {good}/{total}")
    total = sum(t for t, _ in sections.values())
    print(f"forms: {total - failures}/{total}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
