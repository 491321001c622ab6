# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P3: tensor memory is allocated, and its address stored, behind the only barrier."""

from broken import Broken, delay

b = Broken()
k = b.kernel
alloc = k.where(r"^tcgen05\.alloc")
rest, block = k.cut(alloc - 4, alloc + 3)
behind = k.where(r"^tcgen05\.fence::after_thread_sync", after=alloc) - len(block) + 1

# The warp that issues the products allocates: in its own order before them, and what others
# read comes after a product.
b.passes("alloc behind the barrier", rest.put(behind, block))
# Another warp: nothing orders it before the first product.
other = [line.replace(", 12;", ", 14;") for line in block]
b.reported("another warp's alloc behind the barrier", rest.put(behind, other), "race", "the allocation by warp 14")
# Without the race detector it must be late to be seen.
late = rest.put(behind, delay(14) + other)
b.reported("a late alloc", late, "tmem-unallocated", "tcgen05.mma", checks=(("--mode", "eager"),))
b.passes("another warp's alloc before the barrier", rest.put(alloc - 4, other))
b.passes("another warp's late alloc before the barrier", rest.put(alloc - 4, delay(14) + other))
b.finish()
