# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Q8: what an earlier kernel left in shared memory, tensor memory and registers changes no bit.

In the simulator a block begins with memory that nothing may read and with NaN in its
registers. Here the kernel's own PTX first fills all three (on Hopper, which has no tensor
memory, both) with a pattern of our choice, as if another kernel had run on the
multiprocessor.
"""

import json
import os
import re

from harness import ALL_DYNAMIC, Inputs, Problem, ToolError
from suite import MODES, Suite

suite = Suite("left behind")


def fill_registers(ptx, word):
    """Every register of the kernel starts as `word`, predicates as its lowest bit."""
    lines = []
    for kind, prefix, count in re.findall(r"\.reg \.(\w+)\s+(%\w+)<(\d+)>;", ptx):
        for i in range(1, int(count)):
            if kind == "pred":
                lines.append(f"setp.ne.b32 {prefix}{i}, {word & 1}, 0;")
            else:
                lines.append(f"mov.{kind} {prefix}{i}, {word | word << 32 if kind == 'b64' else word};")
    return lines


def fill_shared(size, word):
    """All threads store, 8 bytes each at a time; TMA writes there next."""
    return [
        ".reg .b32 %left<4>; .reg .pred %leftp;",
        "mov.u32 %left3, %ntid.x; shl.b32 %left3, %left3, 3;",
        "mov.u32 %left0, %tid.x; shl.b32 %left0, %left0, 3;",
        "mov.u32 %left1, smem; add.u32 %left0, %left0, %left1;",
        f"add.u32 %left1, %left1, {size}; mov.b32 %left2, {word};",
        "LEFT: setp.ge.u32 %leftp, %left0, %left1;",
        "@%leftp bra FILLED;",
        "st.shared.v2.b32 [%left0], {%left2, %left2};",
        "add.u32 %left0, %left0, %left3; bra LEFT;",
        "FILLED: fence.proxy.async.shared::cta;",
        "bar.sync 0;",
    ]


def fill_tensor_memory(word):
    """Behind the barrier that follows the allocation of all 512 columns: four warps store."""
    values = ", ".join(["%left2"] * 32)
    return [
        f"mov.u32 %left0, %tid.x; mov.b32 %left2, {word};",
        "setp.ge.u32 %leftp, %left0, 128; @%leftp bra OTHERS;",
        "shr.u32 %left0, %left0, 5; shl.b32 %left0, %left0, 21;",
        *(f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%left0+{c}], {{{values}}};" for c in range(0, 512, 32)),
        "tcgen05.wait::st.sync.aligned;",
        "OTHERS: tcgen05.fence::before_thread_sync;",
        "bar.sync 0;",
        "tcgen05.fence::after_thread_sync;",
    ]


def filled(ptx, size, word):
    """The kernel behind all that."""
    registers, body = re.match(r"(.*?(?:\t\.reg [^\n]*\n)+)(.*)", ptx, re.S).groups()
    start = fill_shared(size, word) + fill_registers(registers, word)
    if suite.chip.name == "sm_100a":
        synchronised = re.search(r"bar\.sync \t0;\n\ttcgen05\.fence::after_thread_sync;\n", body).end()
        assert re.search(r"mov\.b32 \t(%r\d+), 512;\n\ttcgen05\.alloc[^\n]* \1;", body), "512 columns are not what it allocates"
        body = body[:synchronised] + "\n".join(fill_tensor_memory(word)) + "\n" + body[synchronised:]
    return registers + "\n".join(start) + "\n" + body


def adding(ptx):
    """The control: the first product adds to the scores that it finds."""
    if suite.chip.name == "sm_100a":
        flag = re.search(r"tcgen05\.mma[^\n]*, (%p\d+);", ptx)[1]
        return re.sub(rf"(mov\.pred \t{flag}), 0;", r"\1, -1;", ptx)
    return ptx.replace("setp.ne.b32 p, 0, 0;", "setp.ne.b32 p, 1, 0;", 1)


def check(name, problem):
    if not suite.wanted(name, problem):
        return
    inputs = Inputs.normal(problem, 8)
    clean = suite.check(name, problem, inputs)
    folder = suite.harness.compile(problem)
    if suite.args.prepare:
        return
    path = os.path.join(folder, "f_attention.ptx")
    ptx = open(path).read()
    size = json.load(open(os.path.join(folder, "f_attention.json")))["dynamic_shared_bytes"]
    broken = adding(ptx)
    assert broken != ptx, "the first product has no flag"
    try:
        for word in (0x7FFF7FFF, 0xFFA5FFA5, 0x3C003C00) if suite.full else (0x7FFF7FFF,):
            with open(path, "w") as f:
                f.write(filled(ptx, size, word))
            for mode in MODES if suite.full else ("lazy",):
                output = suite.harness.run(problem, inputs, mode)
                suite.expect(f"{name} {word:#x} {mode}", problem, clean and output.same_bits(clean), "the bits depend on what was there")
            with open(path, "w") as f:
                f.write(filled(broken, size, word))
            output = suite.harness.run(problem, inputs)
            suite.expect(f"{name} {word:#x} broken", problem, not output.same_bits(clean), "a read of what was there does not show")
    except ToolError as error:
        suite.fail(name, problem, str(error))
    finally:
        with open(path, "w") as f:
            f.write(ptx)


for d, dtype in ((64, "f16"), (128, "bf16")) if suite.full else ((128, "f16"),):
    for causal in (False, True):
        check(f"Q8 {d} {dtype} {causal}", Problem(1, 260, 300, 2, 1, d, causal, dtype, target="sms = 1"))
check("Q8 dynamic", Problem(2, 130, 200, 4, 2, 64, True, dynamic=ALL_DYNAMIC))

suite.finish()
