# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mbarriers, TMA tiles and bulk copies."""

from forms_base import Kernel

# Cases that turned out so.
STOPPED = ("tma_64B_narrow", "tma_128B_narrow", "tma_128B_3d", "tma_store_2d", "tma_store_3d")

SHARED = "\n.extern .shared .align 1024 .b8 dyn[];\n"

DECLARE = """ .reg .b64 %in, %out, %a, %m, %n; .reg .b32 %t, %i, %s, %bar, %v, %x<5>; .reg .pred %p, %q, %first;
 .shared .align 8 .b64 bar[4];
 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %s, dyn; mov.u32 %bar, bar;
 setp.eq.u32 %first, %t, 0;
"""


def loop(label, total, body, step=512):
    """body for every word offset %i below total bytes; step is 4 bytes a thread."""
    return (" shl.b32 %%i, %%t, 2;\nL%s:\n setp.ge.u32 %%p, %%i, %d; @%%p bra E%s;\n%s add.u32 %%i, %%i, %d; bra L%s;\nE%s:\n"
            % (label, total, label, body, step, label, label))


FILL = " add.u32 %%v, %%s, %%i; st.shared.b32 [%%v+%d], 0xa5a5a5a5;\n"
COPY_IN = " cvt.u64.u32 %a, %i; add.u64 %a, %in, %a; ld.global.b32 %x0, [%a]; add.u32 %v, %s, %i; st.shared.b32 [%v], %x0;\n"
DUMP = " add.u32 %v, %s, %i; ld.shared.b32 %x0, [%v]; cvt.u64.u32 %a, %i; add.u64 %a, %out, %a; st.global.b32 [%a], %x0;\n"
WAIT = "W:\n mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0; @!%p bra W;\n"
PUBLISH = " fence.proxy.async.shared::cta; bar.sync 0;\n"
SETUP = " @%first mbarrier.init.shared::cta.b64 [%bar], 1; @%first fence.mbarrier_init.release.cluster;\n"


def tile_bytes(m):
    n = {"u8": 1, "f16": 2, "bf16": 2, "u16": 2, "f32": 4, "u32": 4, "i32": 4, "f64": 8, "u64": 8, "i64": 8}[m["type"]]
    for b in m["box"]:
        n *= b
    return n


def coordinates(at):
    return "{" + ", ".join(str(c) for c in at) + "}"


def load(name, m, at, offset=0, extra="", tail="", count=4096):
    size = tile_bytes(m)
    total = (size + offset + 1023) // 1024 * 1024
    body = DECLARE + SETUP + loop("f", total, FILL % 0) + PUBLISH
    body += " @!%%first bra W;\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], %d;\n" % size
    body += " mov.b64 %%m, map0; cvta.param.u64 %%m, %%m; add.u32 %%v, %%s, %d;\n" % offset
    body += " cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes%s [%%v], [%%m, %s], [%%bar]%s;\n" % (
        len(m["dims"]), extra, coordinates(at), tail)
    body += WAIT + loop("d", total, DUMP) + " ret;\n"
    launch = {"input": [["random", count]], "block": 128, "out": total, "shared": total, "maps": [dict(m, base="in")]}
    return Kernel(name, launch, body)


def store(name, m, at, mnemonic, out, prefill=0x5A, pool="random"):
    size = tile_bytes(m)
    body = DECLARE + loop("c", size, COPY_IN) + PUBLISH
    body += " @!%first bra X;\n mov.b64 %m, map0; cvta.param.u64 %m, %m;\n"
    body += " %s [%%m, %s], [%%s];\n cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nX:\n ret;\n" % (mnemonic, coordinates(at))
    count = size // 2 if "." in pool else (size + 7) // 8
    launch = {"input": [[pool, count]], "block": 128, "out": out, "shared": size, "prefill": prefill,
              "maps": [dict(m, base="out")]}
    return Kernel(name, launch, body)


def tmap(kind, dims, strides, box, swizzle="none", fill="zero"):
    return {"type": kind, "dims": dims, "strides": strides, "box": box, "swizzle": swizzle, "fill": fill}


def tiles():
    out = [
        load("tma_1d", tmap("f32", [500], [], [64]), [4]),
        load("tma_1d_end", tmap("f32", [500], [], [64]), [468]),
        load("tma_1d_before", tmap("u8", [1000], [], [256]), [-16]),
        load("tma_2d_f32", tmap("f32", [30, 20], [128], [16, 8]), [8, 3]),
        load("tma_2d_outside", tmap("f16", [40, 20], [80], [32, 8]), [104, 3]),
        load("tma_2d_u64", tmap("u64", [12, 10], [96], [8, 8]), [-2, 5]),
        load("tma_2d_tall", tmap("u8", [16, 1000], [16], [16, 256]), [0, 900]),
        load("tma_2d_stride_zero_gap", tmap("u16", [24, 12], [64], [16, 16]), [-8, -2]),
        load("tma_3d", tmap("f16", [24, 10, 6], [48, 480], [16, 4, 3]), [16, 8, 4]),
        load("tma_3d_before", tmap("f32", [24, 10, 6], [96, 960], [8, 4, 3]), [-4, -2, -1]),
        load("tma_4d", tmap("f16", [16, 5, 4, 3], [32, 160, 640], [8, 3, 2, 2]), [8, 1, 3, 1]),
        load("tma_5d", tmap("f16", [16, 5, 4, 3, 2], [32, 160, 640, 1920], [8, 3, 2, 2, 2]), [8, 3, -1, 1, 1]),
        load("tma_5d_f32", tmap("f32", [8, 3, 4, 3, 5], [32, 96, 384, 1152], [4, 2, 2, 2, 3]), [4, 1, 1, 2, 3]),
        load("tma_panels", tmap("f16", [64, 12, 2], [256, 128], [64, 8, 2], "128B"), [0, 6, 0]),
        load("tma_4d_panels", tmap("bf16", [64, 9, 2, 2], [256, 128, 2304], [64, 8, 2, 1], "128B"), [0, -3, 0, 1]),
        load("tma_nan_f16", tmap("f16", [40, 20], [80], [32, 8], fill="nan"), [24, 15]),
        load("tma_nan_bf16", tmap("bf16", [40, 20], [80], [32, 8], fill="nan"), [-8, -3]),
        load("tma_nan_f32", tmap("f32", [40, 20], [160], [16, 8], fill="nan"), [32, 15]),
        load("tma_nan_f64", tmap("f64", [20, 10], [160], [8, 4], fill="nan"), [14, 8]),
        load("tma_cached", tmap("f16", [64, 12], [128], [64, 8], "128B"), [0, 2], extra=".L2::cache_hint",
             tail=", 0x14f0000000000000"),
        load("tma_special_values", tmap("f32", [60, 12], [240], [32, 8], "128B"), [32, 2]),
    ]
    for swizzle, width in (("none", 64), ("32B", 16), ("64B", 32), ("128B", 64)):
        for offset in (0, 128, 384, 640):
            m = tmap("f16", [width + 8, 24], [2 * width + 16], [width, 12], swizzle)
            out.append(load("tma_%s_at_%d" % (swizzle, offset), m, [0, 0], offset))
        out.append(load("tma_%s_narrow" % swizzle, tmap("f16", [64, 24], [128], [8, 20], swizzle), [8, 9]))
        m = tmap("u8", [160, 30], [160], [{"32B": 32, "64B": 64}.get(swizzle, 128), 17], swizzle)
        out.append(load("tma_%s_u8_edge" % swizzle, m, [96, 20]))
        out.append(load("tma_%s_3d" % swizzle, tmap("f32", [40, 6, 5], [160, 960], [8, 5, 3], swizzle), [4, 3, 1]))
    return out


def stores():
    tensor = "cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group"
    reduce = "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s.bulk_group"
    out = [
        store("tma_store_1d", tmap("f32", [500], [], [64]), [468], tensor % 1, 2048),
        store("tma_store_2d", tmap("f16", [40, 20], [80], [32, 8]), [24, -3], tensor % 2, 1600),
        store("tma_store_3d", tmap("f16", [24, 10, 6], [48, 480], [16, 4, 3]), [-8, 8, 4], tensor % 3, 2880),
        store("tma_store_4d", tmap("u8", [32, 5, 4, 3], [32, 160, 640], [16, 3, 2, 2]), [16, 3, 3, 1], tensor % 4, 1920),
        store("tma_store_5d", tmap("f32", [8, 3, 4, 3, 5], [32, 96, 384, 1152], [4, 2, 2, 2, 3]), [4, 1, 1, 2, 3], tensor % 5, 5760),
        store("tma_store_outside", tmap("f16", [40, 20], [80], [32, 8]), [0, 20], tensor % 2, 1600),
    ]
    for swizzle, width in (("32B", 16), ("64B", 32), ("128B", 64)):
        m = tmap("f16", [width - 8, 20], [2 * width], [width, 12], swizzle)
        out.append(store("tma_store_%s" % swizzle, m, [0, 11], tensor % 2, 40 * width))
    for kind, pool in (("f16", "f16.exact"), ("bf16", "bf16.exact"), ("f32", "random"), ("u32", "random"), ("i32", "random"),
                       ("u64", "random")):
        m = tmap(kind, [28, 10], [32 * {"f16": 2, "bf16": 2, "u64": 8}.get(kind, 4)], [8, 8])
        out.append(store("tma_add_%s" % kind, m, [24, 4], reduce % (2, "add"), 10 * m["strides"][0], 0x3C, pool))
    m = tmap("f32", [8, 6, 4, 3], [32, 192, 768], [8, 4, 2, 2])
    out.append(store("tma_add_4d", m, [4, 3, 1, 2], reduce % (4, "add"), 2304, 0x3C))
    for mode, kind in (("min", "u32"), ("max", "i32"), ("and", "u32"), ("or", "u32"), ("xor", "u32"), ("inc", "u32"), ("dec", "u32")):
        m = tmap(kind, [32, 10], [128], [8, 8])
        out.append(store("tma_%s_%s" % (mode, kind), m, [4, 4], reduce % (2, mode), 1280, 0x3C))
    return out


def faults():
    """The first coordinate times the element's size has to be a multiple of 16 bytes, or the hardware stops the kernel.

    It also stops a store whose box begins before the tensor, and rows narrower than the swizzle's span each take a whole span
    of shared memory, which can end beyond it.
    """
    tensor = "cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group"
    reduce = "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s.bulk_group"
    out = [
        load("tma_fault_1d", tmap("f32", [500], [], [64]), [3]),
        load("tma_fault_before", tmap("u8", [1000, 4], [1008], [256, 2]), [-10, 0]),
        load("tma_fault_3d", tmap("f16", [24, 10, 6], [48, 480], [16, 4, 3]), [4, 8, 4]),
        load("tma_fault_swizzled", tmap("f16", [72, 24], [144], [64, 12], "128B"), [1, 0]),
        store("tma_fault_store", tmap("f16", [40, 20], [80], [32, 8]), [20, 3], tensor % 2, 1600),
        store("tma_fault_add", tmap("f32", [32, 10], [128], [8, 8]), [3, 2], reduce % (2, "add"), 1280),
    ]
    for k in out:
        k.launch["fault"] = True
    return out


def bulk():
    total = 1024
    launch = {"input": [["random", 256]], "block": 128, "out": total, "shared": total}
    body = DECLARE + SETUP + loop("f", total, FILL % 0) + PUBLISH
    body += " @!%first bra W;\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 528; add.u64 %a, %in, 48; add.u32 %v, %s, 160;\n"
    body += " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%v], [%a], 512, [%bar];\n"
    body += " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 16, [%bar];\n"
    out = [Kernel("bulk_load", launch, body + WAIT + loop("d", total, DUMP) + " ret;\n")]
    body = DECLARE + loop("c", total, COPY_IN) + PUBLISH + " @!%first bra X;\n add.u64 %a, %out, 80; add.u32 %v, %s, 32;\n"
    close = " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nX:\n ret;\n"
    out.append(Kernel("bulk_store", launch, body + " cp.async.bulk.global.shared::cta.bulk_group [%a], [%v], 496;\n" + close))
    for kind in ("u32", "s32", "u64"):
        code = " cp.reduce.async.bulk.global.shared::cta.bulk_group.add.%s [%%a], [%%v], 496;\n" % kind
        out.append(Kernel("bulk_add_" + kind, launch, body + code + close))
    code = " cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%a], [%v], 496;\n"
    out.append(Kernel("bulk_add_f32", dict(launch, prefill=0x3C), body + code + close))
    for kind in ("f16", "bf16"):
        code = " cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.%s [%%a], [%%v], 496;\n" % kind
        out.append(Kernel("bulk_add_" + kind, dict(launch, prefill=0x3C, input=[[kind + ".exact", 512]]), body + code + close))
    return out


class Script:
    """One thread works on barriers and writes down what it sees, a word a line."""

    def __init__(self):
        self.lines, self.words = [], 0

    def do(self, code):
        self.lines.append(" " + code)

    def note(self, code):
        """code leaves a word in %v."""
        self.lines.append(" %s st.global.b32 [%%out+%d], %%v;" % (code, 4 * self.words))
        self.words += 1

    def look(self, b=0):
        for parity in (0, 1):
            self.note("mbarrier.test_wait.parity.shared::cta.b64 %%p, [%%bar+%d], %d; selp.b32 %%v, 1, 0, %%p;" % (b, parity))
        self.note("mbarrier.try_wait.parity.shared::cta.b64 %%p, [%%bar+%d], 0, 10; selp.b32 %%v, 1, 0, %%p;" % b)

    def kernel(self, name, block=1, head=""):
        body = DECLARE + head + (" @!%first bra X;\n" if block > 1 else "") + "\n".join(self.lines) + "\nX:\n ret;\n"
        return Kernel(name, {"block": block, "out": 4 * self.words, "shared": 1024}, body)


def mbarriers():
    pending = "mbarrier.pending_count.b64 %v, %m;"
    s = Script()
    s.do("mbarrier.init.shared::cta.b64 [%bar], 3;")
    s.look()
    for k in range(7):
        s.do("mbarrier.arrive.shared::cta.b64 %m, [%bar];")
        s.note(pending)
        s.look()
        s.note("mbarrier.test_wait.shared::cta.b64 %p, [%bar], %m; selp.b32 %v, 1, 0, %p;")
    out = [s.kernel("mbarrier_arrive")]

    s = Script()
    s.do("mbarrier.init.shared::cta.b64 [%bar], 6;")
    for code in ("arrive.shared::cta.b64 %m, [%bar], 2;", "arrive.noComplete.shared::cta.b64 %m, [%bar], 3;",
                 "arrive_drop.shared::cta.b64 %m, [%bar];", "arrive.release.cta.shared::cta.b64 %m, [%bar], 4;",
                 "arrive_drop.shared::cta.b64 %m, [%bar], 1;", "arrive_drop.noComplete.shared::cta.b64 %m, [%bar], 2;",
                 "arrive.relaxed.cta.shared::cta.b64 %m, [%bar], 1;", "arrive.shared::cta.b64 %m, [%bar], 1;",
                 "arrive.release.cluster.shared::cta.b64 %m, [%bar];"):
        s.do("mbarrier." + code)
        s.note(pending)
        s.look()
    out.append(s.kernel("mbarrier_counts"))

    s = Script()
    s.do("mbarrier.init.shared::cta.b64 [%bar], 2;")
    for code in ("expect_tx.relaxed.cta.shared::cta.b64 [%bar], 100;", "complete_tx.relaxed.cta.shared::cta.b64 [%bar], 40;",
                 "arrive.expect_tx.shared::cta.b64 %m, [%bar], 20;", "arrive.shared::cta.b64 %m, [%bar];",
                 "complete_tx.relaxed.cta.shared::cta.b64 [%bar], 79;", "complete_tx.relaxed.cluster.shared::cta.b64 [%bar], 1;",
                 "complete_tx.relaxed.cta.shared::cta.b64 [%bar], 64;", "expect_tx.relaxed.cluster.shared::cluster.b64 [%bar], 64;",
                 "arrive.expect_tx.relaxed.cta.shared::cta.b64 %m, [%bar], 0;",
                 "arrive.release.cluster.shared::cluster.b64 _, [%bar];",
                 "arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%bar], 1048575;",
                 "complete_tx.relaxed.cluster.shared::cluster.b64 [%bar], 1048575;", "arrive.shared::cta.b64 %m, [%bar];"):
        s.do("mbarrier." + code)
        s.look()
    out.append(s.kernel("mbarrier_transactions"))

    s = Script()
    s.do("mbarrier.init.shared::cta.b64 [%bar], 2; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 64;")
    s.do("mbarrier.arrive.shared::cta.b64 %m, [%bar];")
    s.look()
    s.do("mbarrier.arrive.expect_tx.shared::cta.b64 %m, [%bar], 64;")
    s.look()
    out.append(s.kernel("mbarrier_early_bytes"))

    s = Script()
    s.do("mbarrier.init.shared::cta.b64 [%bar], 1048575; mbarrier.init.shared::cta.b64 [%bar+8], 1;")
    s.do("mbarrier.arrive.shared::cta.b64 %m, [%bar], 1048574;")
    s.note(pending)
    s.look()
    s.do("mbarrier.arrive.shared::cta.b64 %m, [%bar];")
    s.look()
    s.look(8)
    for k in range(3):
        s.do("mbarrier.arrive.shared::cta.b64 %m, [%bar+8];")
        s.look(8)
        s.note("mbarrier.try_wait.shared::cta.b64 %p, [%bar+8], %m; selp.b32 %v, 1, 0, %p;")
    s.do("mbarrier.inval.shared::cta.b64 [%bar+8]; mbarrier.init.shared::cta.b64 [%bar+8], 2;")
    s.look(8)
    out.append(s.kernel("mbarrier_limits"))

    s = Script()
    head = " @%first mbarrier.init.shared::cta.b64 [%bar], 128; bar.sync 0;\n mbarrier.arrive.shared::cta.b64 _, [%bar]; bar.sync 0;\n"
    s.look()
    out.append(s.kernel("mbarrier_threads", 128, head))
    return out


def entries():
    tiles_, stores_, bulk_, faults_ = tiles(), stores(), bulk(), faults()
    for k in tiles_ + stores_:
        if k.name in STOPPED:
            k.launch["fault"] = True
    for list_ in (tiles_, stores_, bulk_, faults_):
        list_[0].module = SHARED
    bars = mbarriers()
    bars[0].module = SHARED
    return {"mbarrier": bars, "tma_load": tiles_, "tma_store": stores_, "tma_fault": faults_, "bulk": bulk_}
