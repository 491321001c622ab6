# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P5: what threads store to shared memory is read by TMA without a proxy fence of theirs."""

from broken import Broken

b = Broken()
k = b.kernel
fence = k.where(r"^fence\.proxy\.async")
arrive = k.where(r"^mbarrier\.arrive", after=fence)
stores = [i for i in range(fence) if k.lines[i].startswith("st.shared.v4") and i > k.role("softmax")]
rest, line = k.cut(fence, fence + 1)
one = ".reg .pred %one; .reg .b32 %lane; mov.u32 %lane, %laneid; setp.eq.u32 %one, %lane, 0;"

b.reported("no fence", rest, "race", "fence.proxy.async")
b.reported("the fence behind the arrival", rest.put(arrive, line), "race", "fence.proxy.async")
b.reported("the fence before the stores", rest.put(stores[0], line), "race", "fence.proxy.async")
b.reported("the fence before the last store", rest.put(stores[-1], line), "race", "fence.proxy.async")
b.reported("the fence of one thread a warp", rest.put(fence, [one, f"@%one {line[0]}"]), "race", "fence.proxy.async")
# A path that skips it: that of the second task.
skips = rest.put(fence, ["setp.ne.u32 %second, %turn, 1; add.u32 %turn, %turn, 1;", f"@%second {line[0]}"])
skips = skips.put(k.role("softmax"), ".reg .pred %second; .reg .b32 %turn; mov.u32 %turn, 0;")
b.reported("the second task without", skips, "race", "fence.proxy.async")
# A barrier of all the threads that store is no fence.
b.reported("a barrier in its place", rest.put(fence, "bar.sync 7, 256;"), "race", "fence.proxy.async")

b.passes("the fence next to the arrival", rest.put(arrive - 1, line))
b.passes("a barrier behind the fence", k.put(fence + 1, "bar.sync 7, 256;"))
b.passes("a fence of every proxy", rest.put(fence, "fence.proxy.async;"))
b.finish()
