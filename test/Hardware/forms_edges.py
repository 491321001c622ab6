# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boxes that overhang the tensor: on each side of each dimension and at both corners, for each size of element, fill and
swizzle; and tensors whose rows end within 16 bytes."""

from forms_async import SHARED, tmap
from tiles import ES, SPAN, Loads, Stores

TYPES = ("u8", "f16", "f32", "u64")
OUTER, BOX = [3, 4, 3, 2], [2, 2, 2, 2]
RAGGED = {"u8": (33, 39, 40, 47), "f16": (17, 19, 23), "f32": (9, 10, 11), "u64": (5,)}
ADDED = {"u32": (9, 11), "f32": (9, 10), "f16": (17, 19, 23), "bf16": (21,), "u64": (5,)}


def tensor(kind, rank, swizzle="none", fill="zero", row=48, box=32):
    """Rows of `row` bytes, boxes `box` bytes wide."""
    strides = [row]
    for n in OUTER[:rank - 1]:
        strides.append(strides[-1] * n)
    return tmap(kind, [row // ES[kind]] + OUTER[:rank - 1], strides[:rank - 1], [box // ES[kind]] + BOX[:rank - 1], swizzle, fill)


def sides(m, low=True):
    """Coordinates of boxes that overhang one side each, then all lower and all upper sides."""
    per = 16 // ES[m["type"]]
    rank = len(m["dims"])
    below = [-per] + [-1] * (rank - 1)
    above = [m["dims"][0] - per] + [n - 1 for n in m["dims"][1:]]
    inside = [0] + [1] * (rank - 1)
    for d in range(rank):
        for to in (below, above) if low else (above,):
            yield inside[:d] + [to[d]] + inside[d + 1:]
    if low:
        yield below
    yield above


def loads():
    out = []
    for kind in TYPES:
        for fill in ("zero", "nan"):
            if kind in ("u8", "u64") and fill == "nan":
                continue  # the driver takes it for floats only
            b = Loads("edge_load_%s_%s" % (kind, fill))
            for rank in range(1, 6):
                m = tensor(kind, rank, fill=fill)
                for at in sides(m):
                    b.tile(m, at)
            out.append(b.kernel())
    b = Loads("edge_load_f64_nan")
    for rank in (1, 2, 3):
        m = tensor("f64", rank, fill="nan")
        for at in sides(m):
            b.tile(m, at)
    out.append(b.kernel())
    for swizzle in ("32B", "64B", "128B"):
        span = SPAN[swizzle]
        b = Loads("edge_load_" + swizzle)
        for kind in TYPES:
            for rank, box in ((2, span), (3, span), (2, span // 2)):
                m = tensor(kind, rank, swizzle, "nan" if kind == "f16" else "zero", span + 16, box)
                for at in sides(m):
                    b.tile(m, at)
        out.append(b.kernel())
    b = Loads("edge_load_ragged_swizzled")
    for swizzle in ("32B", "64B", "128B"):
        span = SPAN[swizzle]
        for kind, sizes in RAGGED.items():
            for n in sizes:
                m = tmap(kind, [span // ES[kind] + n - 32 // ES[kind], 3], [span + 16], [span // ES[kind], 3], swizzle)
                b.tile(m, [0, 0])
                b.tile(m, [16 // ES[kind], 1])
    out.append(b.kernel())
    for fill in ("zero", "nan"):
        b = Loads("edge_load_ragged_" + fill)
        for kind, sizes in RAGGED.items():
            if fill == "nan" and kind in ("u8", "u64"):
                continue
            for n in sizes:
                for rank in (1, 2):
                    m = tmap(kind, [n, 3][:rank], [48][:rank - 1], [32 // ES[kind], 2][:rank], fill=fill)
                    for at in (0, 16, 32):
                        b.tile(m, [at // ES[kind], 1][:rank])
        out.append(b.kernel())
    return out


def stores():
    out = []
    for kind in TYPES:
        b = Stores("edge_store_" + kind)
        for rank in range(1, 6):
            m = tensor(kind, rank)
            for at in sides(m, low=False):
                b.tile(m, at)
        out.append(b.kernel())
    for kind in ("u32", "f32", "u64", "f16", "bf16"):
        b = Stores("edge_add_" + kind)
        for rank in range(1, 6):
            m = tensor(kind, rank)
            for at in sides(m, low=False):
                b.tile(m, at, "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.add.bulk_group" % rank)
        out.append(b.kernel(pool="f16.exact" if kind == "f16" else "bf16.exact" if kind == "bf16" else "random"))
    for what, kinds in (("store", TYPES), ("add", ("u32", "f32", "u64", "f16"))):
        b = Stores("edge_%s_swizzled" % what)
        opcode = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group" if what == "add" else None
        for swizzle in ("32B", "64B", "128B"):
            span = SPAN[swizzle]
            for kind in kinds:
                m = tensor(kind, 2, swizzle, row=span + 16, box=span)
                for at in list(sides(m, low=False))[:2]:
                    b.tile(m, at, opcode)
                ragged = tmap(kind, [span // ES[kind] + 1, 3], [span + 32], [span // ES[kind], 2], swizzle)
                b.tile(ragged, [16 // ES[kind], 1], opcode)
        out.append(b.kernel())
    for what, sizes in (("store", RAGGED), ("add", ADDED)):
        b = Stores("edge_%s_ragged" % what)
        for kind, lengths in sizes.items():
            for n in lengths:
                for rank in (1, 2):
                    m = tmap(kind, [n, 3][:rank], [48][:rank - 1], [32 // ES[kind], 2][:rank])
                    for at in (16, 32):
                        opcode = "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.add.bulk_group" % rank if what == "add" else None
                        b.tile(m, [at // ES[kind], 1][:rank], opcode)
        out.append(b.kernel())
    return out


def faults():
    """Stores that begin before the tensor, in each dimension."""
    out = []
    for name, kind, at, reduce in (("1d", "f32", [-4], False), ("2d_first", "f16", [-8, 0], False), ("2d_last", "u8", [0, -1], False),
                                   ("5d_last", "f32", [0, 0, 0, 0, -1], False), ("3d_middle", "u64", [0, -1, 0], False),
                                   ("add_first", "f32", [-4, 0], True), ("add_last", "u32", [0, -1], True),
                                   ("outside", "f32", [0, -5], False)):
        b = Stores("edge_fault_" + name)
        rank = len(at)
        b.tile(tensor(kind, rank), at, "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.add.bulk_group" % rank if reduce else None)
        k = b.kernel()
        k.launch["fault"] = True
        out.append(k)
    return out


def entries():
    families = {"edge_load": loads(), "edge_store": stores(), "edge_fault": faults()}
    for kernels in families.values():
        kernels[0].module = SHARED
    return families
