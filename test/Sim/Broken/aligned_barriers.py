# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P14: barriers that are reached from several places, and by some lanes of a warp."""

from small import ALL_MODES, WITH_RACE, Small

s = Small(64, 64)
STORE = " mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %d1, %out; st.global.u32 [%d1], %r1;"


def roles(first, second):
    """Warp 0 writes a word that warp 1 reads, and the other way round."""
    return f"""
 mov.u32 %r2, smem; mad.lo.u32 %r3, %tid, 4, %r2; xor.b32 %r4, %tid, 32; mad.lo.u32 %r4, %r4, 4, %r2;
 setp.eq.u32 %p1, %warp, 1; @%p1 bra second;
 st.shared.u32 [%r3], %tid; {first} ld.shared.u32 %r1, [%r4]; bra end;
second:
 st.shared.u32 [%r3], %tid; {second} ld.shared.u32 %r1, [%r4];
end: {STORE}"""


def crossed(words):
    return all(words[i] == i ^ 32 for i in range(64))


# 'aligned' asks that all threads of a warp execute the same instruction, not all of the barrier.
s.passes("two places, a warp each", roles("bar.sync 1, 64;", "bar.sync 1, 64;"), crossed, checks=ALL_MODES + WITH_RACE)
s.passes("two places, not aligned", roles("barrier.sync 1, 64;", "barrier.sync 1, 64;"), crossed, checks=ALL_MODES + WITH_RACE)
s.reported("two places, two counts", roles("bar.sync 1, 64;", "bar.sync 1, 32;"), "bad-barrier", "64", "32")
s.reported("two places, two ids", roles("bar.sync 1, 64;", "bar.sync 2, 64;"), "deadlock", "barrier 1 has 32 of 64", "barrier 2 has 32 of 64")


def lanes(barrier, other=""):
    """The even lanes reach a barrier in a branch."""
    return f"""
 mov.u32 %r1, %tid; and.b32 %r5, %lane, 1; setp.ne.u32 %p1, %r5, 0;
 @%p1 bra odd;
 {barrier}
 bra end;
odd: {other}
end: {STORE}"""


s.reported("half of a warp, aligned", lanes("bar.sync 1, 64;"), "divergence", "bar.sync")
s.reported("both halves apart, aligned", lanes("bar.sync 1, 64;", "bar.sync 1, 64;"), "divergence", "bar.sync")
s.passes("both halves apart, not aligned", lanes("barrier.sync 1, 64;", "barrier.sync 1, 64;"), lambda w: all(w == range(64)))
s.passes("no lane-dependent branch", " mov.u32 %r1, %tid; bar.sync 1, 64;" + STORE, lambda w: all(w == range(64)))
s.finish()
