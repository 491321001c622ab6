# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs what a page shows: check_page.py PAGE FOLDER [NAME=TARGET ...]

Works in FOLDER, which is made anew, with a link NAME to each TARGET. The word
after the language of a fenced block says what the block is:

  file=NAME   the block is written to NAME; MLIR has to be what fa4-opt accepts
  from=NAME   an excerpt of NAME, in order
  same=NAME   JSON with the values of NAME, but for "versions"
  run         commands, each behind "$ ", and what they print, in order
  refused     as run, but the last command has to fail
  needs=WHAT  ... only where WHAT (ptxas, numpy, ptxsim, mlir-opt-22) is there
  illustrative  nothing is run

Links to files, and paths in backquotes that begin with a folder of the project,
have to be there. Other MLIR and console blocks are an error, so that none escapes. In an excerpt
or an output, a line "..." stands for any number of lines, and a line that ends
in " ..." for all lines that begin as it does. Indentation and the lines and
columns of diagnostics do not matter.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys


class Mismatch(Exception):
    pass


def blocks(text):
    """Language, words after it, line number and lines of each fenced block."""
    opened = None
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.match(r"\s*```(.*)$", line)
        if opened is not None:
            if fence:
                yield opened
                opened = None
            else:
                opened[3].append(line)
        elif fence:
            words = fence.group(1).split() or [""]
            opened = (words[0], words[1:], number, [])
    if opened is not None:
        raise Mismatch(f"line {opened[2]}: the block is not closed")


FOLDERS = "bench|cmake|docs|examples|include|lib|python|scripts|test|tools|unittests"


def check_paths(page, text):
    """How many files the page names; raises where one is not there."""
    folder = os.path.dirname(os.path.abspath(page))
    root = folder
    while root != "/" and not os.path.exists(os.path.join(root, "LICENSE")):
        root = os.path.dirname(root)
    links = {os.path.join(folder, link) for link in re.findall(r"\]\(([^)#:]+)\)", text)}
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]+\.\w+)`", text)
    paths = links | {os.path.join(root, path) for path in named}
    for path in sorted(paths):
        if not os.path.exists(path):
            raise Mismatch(f"there is no {os.path.relpath(path, root)}")
    return len(paths)


def is_there(what):
    if what in ("numpy", "ptxsim"):
        return importlib.util.find_spec(what) is not None
    return shutil.which(what) is not None


def matches(shown, real):
    # The place in a diagnostic moves with every line of the file.
    shown, real = (re.sub(r"(\.mlir):\d+:\d+:", r"\1:", s) for s in (shown, real))
    if shown.endswith(" ..."):
        return real.startswith(shown[:-4].rstrip())
    return shown == real


def check_excerpt(shown, text):
    """Raises unless `shown` is an excerpt of `text`."""
    real = [line.strip() for line in text.split("\n")]
    shown = [line.strip() for line in shown]
    # The first shown line may be anywhere; after it, lines follow each other
    # but for "...". The starts that still are possible, as positions in `real`.
    at, anywhere = {0}, True
    for line in shown:
        if line == "...":
            anywhere = True
            continue
        if anywhere:
            at = set(range(min(at), len(real))) if at else set()
        at = {i + 1 for i in at if i < len(real) and matches(line, real[i])}
        if not at:
            raise Mismatch(f"nothing where it should be is\n  {line}")
        anywhere = False


def check_same(lines, text):
    shown, real = json.loads("\n".join(lines)), json.loads(text)
    for name in sorted((shown.keys() | real.keys()) - {"versions"}):
        if shown.get(name) != real.get(name):
            raise Mismatch(
                f"'{name}' is not what it should be\n  {json.dumps(real.get(name))}"
            )


def run_commands(lines, refused):
    """Runs each command and compares what it prints."""
    steps = []
    for line in lines:
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps and steps[-1][0].endswith("\\"):
            steps[-1] = (steps[-1][0][:-1] + line, [])
        elif steps:
            steps[-1][1].append(line)
        else:
            raise Mismatch("output before the first command")
    for index, (command, shown) in enumerate(steps):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        must_fail = refused and index + 1 == len(steps)
        if (done.returncode != 0) != must_fail or done.returncode < 0:
            raise Mismatch(
                f"'{command}' ended with status {done.returncode}:\n{done.stdout}"
            )
        try:
            check_excerpt([s for s in shown if s.strip()], done.stdout)
        except Mismatch as mismatch:
            start = "\n".join(done.stdout.split("\n")[:40])
            raise Mismatch(f"{mismatch}\nin what '{command}' prints:\n{start}")


def check_block(language, words, lines):
    """Whether the block was checked; raises where it does not hold."""
    fields = dict(word.split("=", 1) for word in words if "=" in word)
    unknown = set(words) - {"run", "refused", "illustrative"}
    unknown -= {f"{k}={v}" for k, v in fields.items() if k in ("file", "from", "same", "needs")}
    if unknown:
        raise Mismatch(f"unknown words {sorted(unknown)}")
    if "needs" in fields and not all(map(is_there, fields["needs"].split(","))):
        return False
    if "file" in fields:
        with open(fields["file"], "w") as file:
            file.write("\n".join(lines) + "\n")
        if language == "mlir":
            run_commands([f"$ fa4-opt {fields['file']}"], refused=False)
    elif "from" in fields:
        with open(fields["from"]) as file:
            check_excerpt(lines, file.read())
    elif "same" in fields:
        with open(fields["same"]) as file:
            check_same(lines, file.read())
    elif "run" in words or "refused" in words:
        run_commands(lines, "refused" in words)
    elif language in ("mlir", "console") and "illustrative" not in words:
        raise Mismatch("the block does not say how it is checked")
    else:
        return False
    return True


def main():
    page, folder = sys.argv[1:3]
    with open(page) as file:
        text = file.read()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for link in sys.argv[3:]:
        name, target = link.split("=", 1)
        os.symlink(target, os.path.join(folder, name))
    page = os.path.abspath(page)
    os.chdir(folder)
    checked = 0
    try:
        named = check_paths(page, text)
        for language, words, number, lines in blocks(text):
            try:
                checked += check_block(language, words, lines)
            except (Mismatch, OSError) as problem:
                raise Mismatch(f"block at line {number}: {problem}")
    except Mismatch as mismatch:
        sys.exit(f"{page}: {mismatch}")
    if checked + named == 0:
        sys.exit(f"{page}: nothing to check")
    print(f"{os.path.basename(page)}: {checked} blocks and {named} paths hold")


main()
