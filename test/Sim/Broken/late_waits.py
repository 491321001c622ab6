# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P18: waits for K and V behind their use, or none; the verdict does not depend on timing."""

from broken import ALL_MODES, Broken

b = Broken()
k = b.kernel
mma = k.role("mma")
# Q of the first tile, K, Q of the second, then V.
key, value = k.wait(mma, 1), k.wait(mma, 3)
product = k.where(r"^tcgen05\.mma", after=key[1])
behind = k.where(r"^\$L", after=product)

rest, wait = k.cut(*key)
late = rest.put(behind - (key[1] - key[0]) + 1, wait)
# With the race detector in every mode, early copies included.
b.reported("K is waited for behind its product", late, "race", "tcgen05.mma")
b.reported("no wait for K", rest, "race", "tcgen05.mma")
no_value = k.cut(*value)[0]
b.reported("no wait for V", no_value, "race", "tcgen05.mma")
# Late copies show it without the race detector too: the first find nothing there.
for name, broken in (("K behind", late), ("no K", rest), ("no V", no_value)):
    b.reported(f"{name}, late copies", broken, "uninitialised", "tcgen05.mma", checks=ALL_MODES[1:2])


def again(lines):
    return [line.replace("$L", "$AGAIN_L") for line in lines]


b.passes("each wait twice", k.put(value[1], again(k.lines[value[0] : value[1]])).put(key[1], again(wait)))
b.finish()
