# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edit one line of a schedule, as a person would.

    edit.py SECTION TEXT NTH ACTION [ARGUMENT ...] < SCHEDULE

The line is the NTH (from 1) that matches TEXT, a regular expression, in SECTION:
a role's name, or `kernel` for what lies outside the roles. Actions:

    delete             takes it out
    duplicate          writes it twice
    up N, down N       moves it over N lines
    replace OLD NEW    changes what matches OLD
    wrap               puts it under a condition
"""

import re
import sys


def find(lines, section, text, nth):
    current = "kernel"
    for i, line in enumerate(lines):
        role = re.match(r"    fa4\.role @(\w+)", line)
        if role:
            current = role.group(1)
        if current == section and not role and re.search(text, line):
            nth -= 1
            if nth == 0:
                return i
        if line == "    }":
            current = "kernel"
    sys.exit(f"no such line: {text} in {section}")


def main():
    section, text, nth, action, *rest = sys.argv[1:]
    lines = sys.stdin.read().split("\n")
    i = find(lines, section, text, int(nth))
    if action == "delete":
        del lines[i]
    elif action == "duplicate":
        lines.insert(i, lines[i])
    elif action in ("up", "down"):
        line = lines.pop(i)
        lines.insert(i + int(rest[0]) * (1 if action == "down" else -1), line)
    elif action == "replace":
        if not re.search(rest[0], lines[i]):
            sys.exit(f"no {rest[0]} in: {lines[i]}")
        lines[i] = re.sub(rest[0], rest[1], lines[i])
    elif action == "wrap":
        lines[i] = f"scf.if %true {{\n{lines[i]}\n}}"
    else:
        sys.exit(f"no such action: {action}")
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    main()
