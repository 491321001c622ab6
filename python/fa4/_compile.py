# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels made ahead of time, by the tool fa4-compile.

A process of its own rather than a library in this one: PyTorch and Triton bring LLVMs of
their own, and a compiler that fails must not take its caller along.
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from ._kernel import MANIFEST, MANIFEST_SCHEMA, Kernel, as_scale, load
from ._layout import padded

NAME = "attention"
HEAD_DIMS = (64, 128)  # of the tiles that the compiler has


class CompileError(RuntimeError):
    """What fa4-compile said."""


def find_tool(tool: Union[str, Path, None] = None) -> Optional[str]:
    """The compiler: the argument, $FA4_COMPILE, or fa4-compile of the PATH."""
    return shutil.which(str(tool or os.environ.get("FA4_COMPILE") or "fa4-compile"))


def cache_folder() -> Path:
    """$FA4_CACHE, or fa4 in the user's cache folder."""
    if os.environ.get("FA4_CACHE"):
        return Path(os.environ["FA4_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fa4"


def source_text(
    *, dtype: str, head_dim: int, query_heads: Optional[int], kv_heads: Optional[int], batch: Optional[int],
    query_length: Optional[int], kv_length: Optional[int], causal: bool, scale: Optional[float], return_lse: bool,
) -> str:  # fmt: skip
    """A module with one fa4.attention on memrefs of any strides, of the tiles' head dimension."""
    if dtype not in ("f16", "bf16"):
        raise ValueError(f"dtype: expected f16 or bf16, but got '{dtype}'")
    tile = tile_dim(head_dim)
    if scale is None and tile != head_dim:
        scale = head_dim**-0.5

    def memref(*extents: Optional[int]) -> str:
        shown = "x".join("?" if n is None else str(n) for n in extents)
        return f"memref<{shown}x{dtype}, strided<[?, ?, ?, 1], offset: ?>>"

    q = memref(batch, query_length, query_heads, tile)
    k = memref(batch, kv_length, kv_heads, tile)
    sizes = ["?" if n is None else str(n) for n in (batch, query_heads, query_length)]
    lse = f"memref<{'x'.join(sizes)}xf32>"
    arguments = [f"%q: {q}", f"%k: {k}", f"%v: {k}", f"%o: {q}"] + ([f"%lse: {lse}"] if return_lse else [])
    lines = [
        f"func.func @{NAME}({', '.join(arguments)}) {{",
        f"  fa4.attention ins(%q, %k, %v : {q}, {k}, {k}) outs(%o : {q})"
        + (f" lse(%lse : {lse})" if return_lse else "")
        + (" causal" if causal else "")
        + (f" scale({to_f32(scale):.9e})" if scale is not None else ""),
        "  return",
        "}",
    ]
    return "\n".join(lines) + "\n"


def tile_dim(head_dim: int) -> int:
    """The head dimension of the tiles that hold one of `head_dim`; see `narrowed`."""
    for tile in HEAD_DIMS:
        if 1 <= head_dim <= tile and head_dim % 8 == 0:
            return tile
    message = f"head_dim: expected a multiple of 8 from 8 to {HEAD_DIMS[-1]}, but got {head_dim}"
    if 1 <= head_dim <= HEAD_DIMS[-1]:
        more = padded(head_dim)
        message += f": compile {more} with scale={head_dim}**-0.5, as fa4.attention fills up with columns of zeros"
    raise ValueError(message)


def narrowed(descriptor: str, head_dim: int) -> str:
    """The launch descriptor of the same kernel for operands with fewer columns than its tiles.

    TMA reads zeros past the last column, which add nothing to a logit, and stores nothing
    there, as long as rows are whole multiples of 16 bytes.
    """
    value = json.loads(descriptor)
    for tensor in value["tensors"]:
        if tensor["name"] != "lse":
            tensor["shape"][3] = head_dim
    for parameter in value["parameters"]:
        if parameter["kind"] == "tensor_map":
            parameter["dims"][0] = head_dim
    return json.dumps(value, indent=2) + "\n"


def as_size(name: str, value: Any) -> Optional[int]:
    if value is None:
        return None
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer or None, but got {value!r}") from None
    if size < 0:
        raise ValueError(f"{name}: expected 0 or more, but got {size}")
    return size


def to_f32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def compile(
    folder: Union[str, Path, None] = None, *, chip: Optional[str] = None, dtype: str = "f16", head_dim: int = 128,
    query_heads: Optional[int] = None, kv_heads: Optional[int] = None, batch: Optional[int] = None,
    query_length: Optional[int] = None, kv_length: Optional[int] = None, causal: bool = False,
    scale: Optional[float] = None, return_lse: bool = False, schedule: str = "",
    tool: Union[str, Path, None] = None,
) -> Kernel:  # fmt: skip
    """Compiles an attention and loads it.

    What is None is read off the tensors of each call; strides always are. The head dimension
    is a multiple of 8 up to 128; tiles have 64 or 128 columns, of which some may stay empty. Give the head
    counts where they are known: the query heads of one K/V head then share a tile.
    `schedule` is options of --fa4-schedule-attention. Without `folder` the kernel goes to a
    cache, and is taken from there if the same compiler made it before.

    Raises FileNotFoundError without fa4-compile, CompileError with what it said.
    """
    path = find_tool(tool)
    if path is None:
        raise FileNotFoundError(
            "fa4.compile needs the tool fa4-compile: put it on the PATH, or its path in FA4_COMPILE"
        )
    sizes = {"batch": batch, "query_length": query_length, "kv_length": kv_length, "query_heads": query_heads,
             "kv_heads": kv_heads}  # fmt: skip
    batch, query_length, kv_length, query_heads, kv_heads = (as_size(name, n) for name, n in sizes.items())
    dim = as_size("head_dim", head_dim)
    if dim is None:
        raise TypeError("head_dim: expected an integer, but got None")
    head_dim, scale = dim, as_scale(scale)
    if chip is None:
        chip = chip_of_device()
    text = source_text(
        dtype=dtype, head_dim=head_dim, query_heads=query_heads, kv_heads=kv_heads, batch=batch,
        query_length=query_length, kv_length=kv_length, causal=causal, scale=scale, return_lse=return_lse,
    )  # fmt: skip
    options = ["--chip", chip] + (["--schedule", schedule] if schedule else [])
    manifest = {
        "schema": MANIFEST_SCHEMA, "kernel": "", "causal": bool(causal),
        "scale": scale, "head_dim": head_dim, "options": options, "source": text,
    }  # fmt: skip
    if folder is not None:
        return _make(path, Path(folder), manifest)
    # The assembler is the one that fa4-compile finds; without one there is PTX alone.
    key = repr((manifest, _identity(path), _identity(shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")))
    target = cache_folder() / hashlib.sha256(key.encode()).hexdigest()[:24]
    if (target / MANIFEST).exists():
        return load(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"compiled kernels are kept in a folder, which cannot be made: {error}; "
                      "FA4_CACHE names another") from error  # fmt: skip
    # Whole or not at all, also where two processes make the same kernel.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as scratch:
        _make(path, Path(scratch) / "kernel", manifest)
        try:
            os.rename(Path(scratch) / "kernel", target)
        except OSError:
            if not (target / MANIFEST).exists():
                raise
    return load(target)


def _identity(program: str) -> Any:
    """What tells a program from another, or from a newer one at its place."""
    try:
        stat = os.stat(program)
    except OSError:
        return None
    return os.path.realpath(program), stat.st_size, stat.st_mtime_ns


def _make(tool: str, folder: Path, manifest: Dict[str, Any]) -> Kernel:
    command: List[str] = [tool, "-", *manifest["options"], "-o", str(folder)]
    done = subprocess.run(command, input=manifest["source"], capture_output=True, text=True)
    if done.returncode:
        raise CompileError(f"{done.stderr.strip() or f'status {done.returncode}'}\nof: {' '.join(command)}")
    name = f"{NAME}_attention"
    if manifest["head_dim"] not in HEAD_DIMS:
        path = folder / f"{name}.json"
        path.write_text(narrowed(path.read_text(encoding="utf-8"), manifest["head_dim"]), encoding="utf-8")
    kernel = load(folder, name)
    written = dict(manifest, kernel=name, versions=kernel.versions)
    (folder / MANIFEST).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return load(folder, name)


def chip_of_device(index: int = 0) -> str:
    """The chip of a device, with the features of its own ('a') that the kernels use."""
    from ._driver import get_device

    return f"sm_{get_device(index).capability}a"
