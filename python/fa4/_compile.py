# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels made ahead of time, by the tool fa4-compile.

A process of its own rather than a library in this one: PyTorch and Triton bring LLVMs of
their own, and a compiler that fails must not take its caller along.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from ._kernel import MANIFEST, MANIFEST_SCHEMA, Kernel, load

NAME = "attention"
F32_MAX = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


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
    """A module with one fa4.attention on memrefs of any strides."""
    if dtype not in ("f16", "bf16"):
        raise ValueError(f"dtype: expected f16 or bf16, but got '{dtype}'")
    check_scale(scale)

    def memref(*extents: Optional[int]) -> str:
        shown = "x".join("?" if n is None else str(int(n)) for n in extents)
        return f"memref<{shown}x{dtype}, strided<[?, ?, ?, 1], offset: ?>>"

    q = memref(batch, query_length, query_heads, head_dim)
    k = memref(batch, kv_length, kv_heads, head_dim)
    sizes = ["?" if n is None else str(int(n)) for n in (batch, query_heads, query_length)]
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


def check_scale(scale: Optional[float]) -> None:
    """Raises unless a kernel can hold it, in f32."""
    if scale is not None and not abs(scale) <= F32_MAX:
        raise ValueError(f"scale: expected a finite number of f32, but got {scale}")


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

    What is None is read off the tensors of each call; strides always are. Give the head
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
    if chip is None:
        chip = chip_of_device()
    text = source_text(
        dtype=dtype, head_dim=head_dim, query_heads=query_heads, kv_heads=kv_heads, batch=batch,
        query_length=query_length, kv_length=kv_length, causal=causal, scale=scale, return_lse=return_lse,
    )  # fmt: skip
    options = ["--chip", chip] + (["--schedule", schedule] if schedule else [])
    manifest = {
        "schema": MANIFEST_SCHEMA, "kernel": "", "causal": bool(causal),
        "scale": None if scale is None else float(scale), "options": options, "source": text,
    }  # fmt: skip
    if folder is not None:
        return _make(path, Path(folder), manifest)
    tool_stat = os.stat(path)
    key = repr((manifest, os.path.realpath(path), tool_stat.st_size, tool_stat.st_mtime_ns))
    target = cache_folder() / hashlib.sha256(key.encode()).hexdigest()[:24]
    if (target / MANIFEST).exists():
        return load(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not at all, also where two processes make the same kernel.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as scratch:
        _make(path, Path(scratch) / "kernel", manifest)
        try:
            os.rename(Path(scratch) / "kernel", target)
        except OSError:
            if not (target / MANIFEST).exists():
                raise
    return load(target)


def _make(tool: str, folder: Path, manifest: Dict[str, Any]) -> Kernel:
    command: List[str] = [tool, "-", *manifest["options"], "-o", str(folder)]
    done = subprocess.run(command, input=manifest["source"], capture_output=True, text=True)
    if done.returncode:
        raise CompileError(f"{done.stderr.strip() or f'status {done.returncode}'}\nof: {' '.join(command)}")
    name = f"{NAME}_attention"
    kernel = load(folder, name)
    written = dict(manifest, kernel=name, versions=kernel.versions)
    (folder / MANIFEST).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return load(folder, name)


def chip_of_device(index: int = 0) -> str:
    """The chip of a device, with the features of its own ('a') that the kernels use."""
    from ._driver import get_device

    return f"sm_{get_device(index).capability}a"
