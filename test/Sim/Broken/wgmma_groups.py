# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P8, P9: wgmma's groups in flight. Our kernels have no wgmma; a product by hand, of ones, shows
that its accumulators are NaN until it is waited for, and that its operands are read until then."""

import numpy as np

from small import ALL_MODES, WITH_RACE, Small

# A is 64 x 16 at smem, B 8 x 16 behind it, both of ones: every sum is 16. What is loaded is zero.
FILL = """
 mov.b32 %r1, 0x3C003C00; mov.u32 %r2, smem; mad.lo.u32 %r2, %tid, 16, %r2;
 st.shared.v4.b32 [%r2], {%r1, %r1, %r1, %r1};
 setp.ne.u32 %p2, %tid, 0; @%p2 bra ready;
 mbarrier.init.shared.b64 [smem+8192], 128; mbarrier.init.shared.b64 [smem+8200], 1;
 fence.mbarrier_init.release.cluster;
ready:
 fence.proxy.async.shared::cta; bar.sync 0;
 setp.ge.u32 %p1, %tid, 128; @%p1 bra loader;
"""
# Core matrices of 8 x 16 bytes, 128 apart along k and 256 along m or n.
DESC = 256 >> 4 << 32 | 128 >> 4 << 16
PRODUCT = f"""
 mov.u32 %r3, smem; shr.u32 %r3, %r3, 4; cvt.u64.u32 %d2, %r3; or.b64 %d3, %d2, {DESC};
 add.u64 %d4, %d3, 128; setp.ne.u32 %p3, %tid, %tid;
 wgmma.fence.sync.aligned;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f1, %f2, %f3, %f4}}, %d3, %d4, %p3, 1, 1, 0, 0;
 wgmma.commit_group.sync.aligned;
"""
OUT = """
 mul.wide.u32 %d5, %tid, 16; add.u64 %d5, %d5, %out;
 st.global.v4.f32 [%d5], {%f1, %f2, %f3, %f4};
 bra end;
"""
WAIT = " wgmma.wait_group.sync.aligned 0;\n"
RELEASE = " mbarrier.arrive.shared.b64 _, [smem+8192];\n"
# A warp that loads zeros over A as soon as it is free.
LOADER = """
loader:
 setp.ne.u32 %p4, %lane, 0; @%p4 bra end;
wait: mbarrier.try_wait.parity.shared.b64 %p5, [smem+8192], 0; @!%p5 bra wait;
 mbarrier.arrive.expect_tx.shared.b64 _, [smem+8200], 2048;
 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%in], 2048, [smem+8200];
full: mbarrier.try_wait.parity.shared.b64 %p5, [smem+8200], 0; @!%p5 bra full;
end:
"""
s = Small(160, 512, inputs=np.zeros(512, np.uint32), chip="sm_90a")


def sums(words):
    return (words.view(np.float32) == 16).all()


def nothing(words):
    return np.isnan(words.view(np.float32)).all()


def kernel(*steps):
    return FILL + PRODUCT + "".join(steps) + LOADER


s.passes("a wait, then the release", kernel(WAIT, RELEASE, OUT), sums, checks=ALL_MODES + WITH_RACE)
# P8: late or at random, whoever does not wait reads NaN.
for flags in (("--mode", "lazy"), ("--mode", "random", "--seed", "1")):
    s.passes("no wait", kernel(OUT.replace("bra end", WAIT + RELEASE + " bra end")), nothing, checks=(flags,))
one = " wgmma.wait_group.sync.aligned 1;\n"
s.passes("a wait that leaves one group", kernel(one, OUT.replace("bra end", WAIT + RELEASE + " bra end")), nothing, checks=ALL_MODES[1:2])
again = PRODUCT[PRODUCT.index(" wgmma.fence") :].replace("%f", "%f1")
s.passes("a wait that leaves the later of two groups", kernel(again, one, OUT.replace("bra end", WAIT + RELEASE + " bra end")), sums)
# P9: the release before the wait.
s.reported("released in flight", kernel(RELEASE, WAIT, OUT), "race", "cp.async.bulk", checks=WITH_RACE)
s.reported("a wait that leaves the group", kernel(one, RELEASE, WAIT, OUT), "race", "cp.async.bulk", checks=WITH_RACE)
s.finish()
