# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of many bulk copies, each with a place of its own in shared memory or in the output."""

from forms_async import COPY_IN, DECLARE, DUMP, FILL, PUBLISH, SETUP, coordinates, loop, tile_bytes
from forms_base import Kernel

MASK = " .reg .b16 %h; .reg .b32 %f, %c<5>, %size; .reg .b64 %pol; mov.b16 %h, 1; mov.b64 %pol, 0x14f0000000000000;\n"
POLICY = "%pol"
SPAN = {"none": 0, "32B": 32, "64B": 64, "128B": 128}
ES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "f32": 4, "u32": 4, "i32": 4, "u64": 8, "f64": 8}


def placed(at):
    """Coordinates in registers, and the code that puts them there."""
    return "".join(" mov.b32 %%c%d, %d;" % (i, c) for i, c in enumerate(at)), coordinates("%%c%d" % i for i in range(len(at)))


def up(n, to):
    return (n + to - 1) // to * to


def held(m):
    """Bytes of shared memory that a box takes: with a swizzle, each row takes a whole span."""
    row = m["box"][0] * ES[m["type"]]
    return tile_bytes(m) // row * max(row, SPAN[m.get("swizzle", "none")])


class Batch:
    def __init__(self, name):
        self.name, self.maps, self.code = name, [], ""
        self.phase, self.at, self.out = 0, 0, 0

    def map(self, m, base, offset=0):
        m = dict(m, base=base, offset=offset)
        if m not in self.maps:
            self.maps.append(m)
        return self.maps.index(m)

    def use(self, k):
        return " mov.b64 %%m, map%d; cvta.param.u64 %%m, %%m;" % k

    def place(self, size, align=128):
        self.at = up(self.at, align)
        at, self.at = self.at, self.at + size
        return at


class Loads(Batch):
    """Shared memory begins with what input memory holds, `kept` bytes; each load lands behind what came before."""

    def __init__(self, name, kept=0):
        super().__init__(name)
        self.at = self.kept = kept

    def wait(self, size, code):
        self.code += " mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], %d;%s\n" % (size, code)
        self.code += "W%d:\n mbarrier.try_wait.parity.shared::cta.b64 %%p, [%%bar], %d; @!%%p bra W%d;\n" % (
            self.phase, self.phase & 1, self.phase)
        self.phase += 1

    def tile(self, m, at, opcode=None, tail="", before="", offset=0):
        k = self.map(m, "in", offset)
        opcode = opcode or "cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes" % len(m["dims"])
        set_, where = placed(at)
        code = self.use(k) + set_ + " add.u32 %%v, %%s, %d;" % self.place(held(m)) + before.replace("AT", where)
        self.wait(tile_bytes(m), code + "\n %s [%%v], [%%m, %s], [%%bar]%s;" % (opcode, where, tail))

    def line(self, opcode, source, size, tail="", before=""):
        code = before + " mov.b32 %%size, %d; add.u32 %%v, %%s, %d;" % (size, self.place(up(size, 16)))
        self.wait(size, code + "\n %s [%%v], [%s], %%size, [%%bar]%s;" % (opcode, source, tail))

    def kernel(self, pool="random", count=1024):
        total = up(self.at, 512)
        # A copy of the input over the pattern where there is one.
        keep = loop("c", self.kept, COPY_IN) if self.kept else ""
        body = DECLARE + MASK + SETUP + loop("f", total, FILL % 0) + " bar.sync 0;\n" + keep + PUBLISH
        launch = {"input": [[pool, count]], "block": 128, "out": total, "shared": total, "maps": self.maps}
        return Kernel(self.name, launch, body + " @!%first bra X;\n" + self.code + "X:\n bar.sync 0;\n" + loop("d", total, DUMP) + " ret;\n")


class Stores(Batch):
    """Shared memory holds what input memory does, and each store takes the next bytes of it."""

    def tile(self, m, at, opcode=None, tail="", offset=0):
        size = up(m["strides"][-1] * m["dims"][-1] if m["strides"] else m["dims"][0] * ES[m["type"]], 16) + 16
        k = self.map(m, "out", self.out)
        self.out += size
        opcode = opcode or "cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group" % len(m["dims"])
        set_, where = placed(at)
        code = self.use(k) + set_ + " add.u32 %%v, %%s, %d;\n %s [%%m, %s], [%%v]%s;" % (self.place(held(m)), opcode, where, tail)
        self.code += code + " cp.async.bulk.commit_group;\n"

    def line(self, opcode, size, tail=""):
        code = " add.u64 %%a, %%out, %d; mov.b32 %%size, %d; add.u32 %%v, %%s, %d;\n %s [%%a], [%%v], %%size%s;" % (
            self.out, size, self.place(size, 16), opcode, tail)
        self.out += size
        self.code += code + " cp.async.bulk.commit_group;\n"

    def kernel(self, pool="random", prefill=0x3C):
        total = up(self.at, 512)
        body = DECLARE + MASK + loop("c", total, COPY_IN) + PUBLISH + " @!%first bra X;\n" + self.code
        body += " cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\nX:\n ret;\n"
        count = total // 2 if "." in pool else total // 8
        launch = {"input": [[pool, count]], "block": 128, "out": up(self.out, 16), "shared": total, "prefill": prefill, "maps": self.maps}
        return Kernel(self.name, launch, body)
