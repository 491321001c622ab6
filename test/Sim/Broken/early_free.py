# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P1: tensor memory is freed while another warpgroup has its last read to do."""

from broken import ALL_MODES, Broken

b = Broken()
k = b.kernel
end = k.where(r"^tcgen05\.dealloc")
meeting = k.where(r"^bar\.sync 0;", nth=1)

alone = k.cut(meeting, meeting + 1)[0]
b.reported("no rendezvous before dealloc", alone, "race", "tcgen05.dealloc")
# Without the race detector: a late read of columns that nobody owns, or one still in flight.
b.reported("no rendezvous before dealloc", alone, "tmem-unallocated", "tcgen05.ld", checks=ALL_MODES[:1])
b.reported("no rendezvous before dealloc", alone, "race", "in flight", checks=ALL_MODES[1:2])


def of_threads(count):
    """The first so many threads meet."""
    who = f".reg .pred %late; .reg .b32 %who; mov.u32 %who, %tid.x; setp.ge.u32 %late, %who, {count};"
    return alone.put(meeting, [who, "@%late bra FREE;", f"bar.sync 5, {count};", "FREE:"])


b.reported("a rendezvous of one warpgroup", of_threads(128), "race", "tcgen05.dealloc")
# The other reads of O have been waited for by then, for the last product came after them.
b.passes("a rendezvous of the softmax warps", of_threads(256))
b.passes("another barrier of all threads", k.replaced(meeting, "0;", "5, 512;"))
b.passes("another warp frees", k.replaced(k.where("setp.ne", after=meeting), ", 0;", ", 7;"))
b.passes("the rendezvous twice", k.put(meeting, "bar.sync 0;"))
b.finish()
