# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %ptxsim_python %s

"""Runs that do not end well, and what a program can do while a run lasts: faults with their
place, deadlocks, limits, Ctrl-C, progress, other threads, what a kernel prints."""

import contextlib
import faulthandler
import io
import os
import signal
import threading
import time

import numpy as np

import ptxsim
from kernels import DOUBLE, HEAD, SPIN, module, raises

faulthandler.dump_traceback_later(120, exit=True)
# lit's workers ignore it, and what they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

twice = module(DOUBLE)
a, b = np.arange(8, dtype=np.float32), np.full(8, -1, np.float32)


def bad(**options):
    """Thread 8 of 9 reads past the end of `a`; the others have written by then or not."""
    return twice.run(grid=1, block=9, params=[a, b, 1, 1], **options)


try:
    bad()
    raise AssertionError("no fault")
except ptxsim.Fault as fault:
    assert isinstance(fault, ptxsim.SimulationError) and isinstance(fault, RuntimeError)
    line = HEAD.count("\n") + DOUBLE.split("ld.global")[0].count("\n") + 1
    assert (fault.kind, fault.line, fault.cta, fault.warp) == ("out-of-bounds", line, (0, 0, 0), 0), vars(fault)
    assert fault.text.strip() == "ld.global.f32 %f, [%a];" and "32 bytes into 'in' of 32 bytes" in str(fault)
    assert fault.result.status == "fault" and fault.result.fault.line == line and fault.result.tensors["out"] is b
assert (b == -1).all(), "a run that faulted wrote"
result = bad(check=False)
assert (result.status, result.ok, result.fault.kind) == ("fault", False, "out-of-bounds")
assert result.fault.line == line and result.fault.text.strip().startswith("ld.global") and "'in'" in result.message
assert "'in'" in result.fault.message and result.deadlock is None and (b == -1).all()

# A deadlock: 32 threads wait at a barrier of 64.
dead = module(".visible .entry dead() {\n bar.sync 1, 64;\n ret;\n}\n")
with raises(ptxsim.Deadlock, r"deadlock in CTA \(0, 0, 0\):\n.*warp 0 at line 5"):
    dead.run(grid=1, block=32, params=[])
result = dead.run(grid=1, block=32, params=[], check=False)
assert result.status == "deadlock" and "warp 0 at line 5" in result.deadlock and result.fault is None
try:
    dead.run(grid=1, block=32, params=[])
except ptxsim.Deadlock as error:
    assert error.report == result.deadlock and error.result.status == "deadlock"

spin = module(SPIN)
with raises(ptxsim.StepLimit, "warp instructions"):
    spin.run(grid=1, block=1, params=[], max_steps=1000)
assert spin.run(grid=1, block=1, params=[], max_steps=1000, check=False).status == "step limit"

# Lanes that diverged do not meet again at a barrier with strict_warps.
diverge = module(
    """.visible .entry diverge(.param .u64 out)
{ .reg .pred %p; .reg .b32 %t; .reg .b64 %o; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
 setp.lt.u32 %p, %t, 16; @%p bra l; add.u32 %t, %t, 1; l: bar.sync 0; @%p st.global.u32 [%o], %t; ret; }
"""
)
out = np.zeros(1, np.uint32)
diverge.run(grid=1, block=32, params=[out])
strict = diverge.run(grid=1, block=32, params=[out], strict_warps=True, check=False)
assert not strict.ok, strict

# A race on shared memory is looked for on demand.
race = module(
    """.visible .entry race() { .reg .b32 %t; .shared .b32 s; mov.u32 %t, %tid.x; st.shared.u32 [s], %t; ret; }
"""
)
assert race.run(grid=1, block=64, params=[]).ok
with raises(ptxsim.Fault, "race in CTA"):
    race.run(grid=1, block=64, params=[], race=True)

# What is no fault, and not what PTX promises either: columns are written when all that was read of them was used.
unwaited = module(
    """.visible .entry unwaited()
{ .reg .b32 %t, %x; .shared .b32 s;
 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; bar.warp.sync 0xffffffff; ld.shared.b32 %t, [s];
 tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%t}; tcgen05.wait::st.sync.aligned;
 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%x}, [%t]; add.u32 %x, %x, 1;
 tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%x}; tcgen05.wait::st.sync.aligned;
 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32; ret; }
"""
)
assert not unwaited.run(grid=1, block=32, params=[]).warnings
result = unwaited.run(grid=2, block=32, params=[], race=True)
assert result.ok and [warning.kind for warning in result.warnings] == ["unwaited-load"], result
assert "tcgen05.wait::ld" in str(result.warnings[0]) and result.warnings[0].cta == [0, 0, 0]
with raises(ptxsim.Fault, "race in CTA"):
    unwaited.run(grid=1, block=32, params=[], race=True, poison_loads=True)


def seconds_until(action, error):
    start = time.perf_counter()
    with raises(error, ""):
        action()
    return time.perf_counter() - start


# Ctrl-C; the GIL is free, or the thread that sends it would not run.
for threads, ctas in ((1, 1), (2, 100)):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    took = seconds_until(lambda: spin.run(grid=ctas, block=32, params=[], threads=threads), KeyboardInterrupt)
    assert 0.25 < took < 5, took

# Another thread counts meanwhile.
counted, stop = 0, False


def count():
    global counted
    while not stop:
        counted += 1


class Enough(Exception):
    pass


calls = []


def watch(done, total, seconds):
    calls.append((done, total, seconds))
    if len(calls) == 4:
        raise Enough("enough")


other = threading.Thread(target=count)
other.start()
# An exception from the callback stops the run and is what comes out of it.
took = seconds_until(lambda: spin.run(grid=3, block=32, params=[], threads=1, progress=watch), Enough)
stop = True
other.join()
assert counted > 1000, counted
assert len(calls) == 4 and [c[:2] for c in calls] == [(0, 3)] * 4 and calls == sorted(calls), calls
assert 0.3 < took < 5, took

# The last call says that all is done, also of a short run.
calls = []
twice.run(grid=1, block=8, params=[a, b, 1, 1], progress=watch)
assert calls[-1][:2] == (1, 1) and (b == 2 * a).all(), calls

# One module in several threads at once.
outs = [np.zeros(8, np.float32) for _ in range(8)]
runs = [
    threading.Thread(target=lambda o=o, i=i: twice.run(grid=1, block=8, params=[a + i, o, 1, 1]))
    for i, o in enumerate(outs)
]
for run in runs:
    run.start()
for run in runs:
    run.join()
for i, o in enumerate(outs):
    assert (o == 2 * (a + i)).all(), (i, o)

# What a kernel prints goes to sys.stdout, whatever that is at the time.
shout = module(
    """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry shout() { .reg .b64 %a; .reg .b32 %r; mov.b64 %a, text; cvta.global.u64 %a, %a;
 { .param .b64 f; .param .b64 v; .param .b32 q; st.param.b64 [f], %a; st.param.b64 [v], 0;
 call.uni (q), vprintf, (f, v); } ret; }
"""
)
heard = io.StringIO()
with contextlib.redirect_stdout(heard):
    shout.run(grid=2, block=1, params=[])
assert heard.getvalue() == "hello\nhello\n", heard.getvalue()
