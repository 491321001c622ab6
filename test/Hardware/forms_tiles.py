# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bulk copies in every spelling that the other generators leave out."""

import re

import coverage
from forms_async import SHARED, tmap
from tiles import POLICY, Loads, Stores

RANKS = {r: tmap("u32", [8, 3, 3, 2, 2][:r], [32, 96, 288, 576][:r - 1], [4, 2, 2, 1, 2][:r]) for r in range(1, 6)}
AT = [4, 1, 1, 1, 0]


def entries():
    kernels = {}

    def batch(kind, name, kept=0):
        return kernels.setdefault(name, kind("copies_" + name, kept) if kept else kind("copies_" + name))

    for opcode in dict.fromkeys(o for _, o, _ in coverage.missing("bulk copies")):
        rank = re.search(r"\.(\d)d\.", opcode)
        rank = int(rank.group(1)) if rank else 0
        hint = ", " + POLICY if "cache_hint" in opcode else ""
        tail = (", %h" if "multicast" in opcode else "") + hint
        if "prefetch.tensor" in opcode:
            before = "\n %s [%%m, AT]%s;" % (opcode, hint)
            batch(Loads, "prefetched_tiles").tile(RANKS[rank], AT[:rank], before=before)
        elif "prefetch" in opcode:
            batch(Loads, "prefetched").line("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "%in", 64,
                                            before=" mov.b32 %%size, 64; %s [%%in], %%size%s;" % (opcode, hint))
        elif "wait_group" in opcode:
            continue  # every kernel of stores has both
        elif "complete_tx" in opcode and rank:
            batch(Loads, "multicast_tiles" if "multicast" in opcode else "tiles").tile(RANKS[rank], AT[:rank], opcode, tail)
        elif "shared::cluster.shared::cta" in opcode:
            name = "within_shared" if "reduce" not in opcode else "within_shared_" + re.sub(r"\W", "_", opcode.split("bytes.")[-1])
            batch(Loads, name, 512).line(opcode, "%f", 48, tail, " add.u32 %f, %s, 64;")
        elif "complete_tx" in opcode:
            batch(Loads, "multicast_lines" if "multicast" in opcode else "lines").line(opcode, "%a", 48, tail, " add.u64 %a, %in, 112;")
        elif rank:
            batch(Stores, "to_global").tile(RANKS[rank], AT[:rank], opcode, hint)
        elif opcode.endswith("commit_group"):
            continue
        else:
            batch(Stores, ("noftz_" if "noftz" in opcode else "") + opcode.split(".")[-1] if opcode.endswith("f16") else "to_global").line(opcode, 128 if opcode.endswith("f16") else 64, hint)
    out = []
    for name, b in kernels.items():
        k = b.kernel()
        if "within_shared" in name:
            if name in ("within_shared", "within_shared_add_u32"):  # the hardware stops a kernel without clusters there
                stopped = b.kernel()
                stopped.name += "_no_cluster"
                stopped.launch["fault"] = True
                out.append(stopped)
            k.directives = "\n.reqnctapercluster 1, 1, 1"
        out.append(k)
    out[0].module = SHARED
    return {"copies": out}
