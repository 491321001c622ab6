# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P9: a slot is signalled free while products that read it are still in flight."""

from broken import ALL_MODES, Broken

b = Broken()
k = b.kernel
mma = k.role("mma")
# K of a task's first block: the commit behind both tiles' products frees its slot.
ready = k.where(r"^tcgen05\.commit.*" + k.barrier("s_ready", 1), after=mma)
commit = k.where(r"^tcgen05\.commit", after=ready + 1)
slot = k.lines[commit].split("[")[1].split("]")[0]
first = k.where(r"^tcgen05\.mma", after=k.where(r"^tcgen05\.commit.*" + k.barrier("s_ready", 0), after=mma))
place = k.lines[commit - 2 : commit]

# A thread's arrival does not wait for the tensor core; a commit before the products does not cover them.
gone = k.cut(commit, commit + 1)[0]
plain = gone.put(commit, f"mbarrier.arrive.shared.b64 _, [{slot}];")
b.reported("an arrival in place of the commit", plain, "race", "cp.async.bulk.tensor")
early = gone.put(first, [*place, k.lines[commit]])
b.reported("the commit before the products of the second tile", early, "race", "cp.async.bulk.tensor")
b.reported("no release", gone, "deadlock", "warp 13")
first_ready = k.where(r"^tcgen05\.commit.*" + k.barrier("s_ready", 1), after=mma)
b.passes("the release before the scores' commit", gone.put(first_ready, [*place, k.lines[commit]]))
b.finish()
