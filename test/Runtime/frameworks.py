# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""fa4.attention on PyTorch, CuPy and JAX, on a GPU; skipped where one is missing.

The kernels are those below $FA4_KERNELS (bench/kernels.py makes them), or made now.
"""

import os
import threading
import unittest
import warnings
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
try:
    import torch

    REASON = "" if torch.cuda.is_available() else "PyTorch sees no GPU"
except ImportError:
    REASON = "PyTorch is not installed"
if not REASON:
    try:
        import cuda.bindings.driver  # noqa: F401
    except ImportError:
        REASON = "cuda-bindings is not installed"
import fa4

SHAPE, KV_HEADS = (1, 1024, 32, 128), 8


def reference(q, k, v):
    k, v = (x.repeat_interleave(q.shape[2] // x.shape[2], 2) for x in (k, v))
    logits = torch.einsum("bqhd,bkhd->bhqk", q.double(), k.double()) / q.shape[3] ** 0.5
    return torch.einsum("bhqk,bkhd->bqhd", torch.softmax(logits, -1), v.double())


@unittest.skipIf(REASON, REASON)
class Frameworks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for path in sorted(Path(os.environ["FA4_KERNELS"]).rglob("fa4.json")) if "FA4_KERNELS" in os.environ else ():
            fa4.use(fa4.load(path.parent))
        cls.q, cls.k, cls.v = (torch.randn(1, 1024, heads, 128, device="cuda", dtype=torch.float16)
                               for heads in (32, KV_HEADS, KV_HEADS))  # fmt: skip
        try:
            cls.o = fa4.attention(cls.q, cls.k, cls.v)
        except ValueError as error:
            raise unittest.SkipTest(f"no kernel for this GPU: {error}") from None

    @property
    def inputs(self):
        return self.q, self.k, self.v

    def test_against_float64(self):
        expected = reference(*self.inputs)
        self.assertTrue(((self.o - expected).abs() <= 1e-2 + 1e-2 * expected.abs()).all())

    def test_out(self):
        out = torch.full_like(self.q, float("nan"))
        self.assertIs(fa4.attention(*self.inputs, out=out), out)
        self.assertTrue(torch.equal(out, self.o))

    def test_streams_and_threads(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(10_000_000)
            moved = self.q * 1
            found = fa4.attention(moved, self.k, self.v)
        stream.synchronize()
        self.assertTrue(torch.equal(found, self.o))
        others = []
        thread = threading.Thread(target=lambda: others.append(fa4.attention(*self.inputs)))
        thread.start()
        thread.join()
        self.assertTrue(torch.equal(others[0], self.o))

    def test_a_graph(self):
        static = [x.clone() for x in self.inputs]
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = fa4.attention(*static)
        static[0].copy_(torch.randn_like(static[0]))
        graph.replay()
        self.assertTrue(torch.equal(found, fa4.attention(*static)))

    def test_compile(self):
        function = torch.compile(lambda q, k, v: fa4.attention(q * 1, k, v) + 1, fullgraph=True)
        self.assertTrue(torch.equal(function(*self.inputs), self.o + 1))

    def test_export(self):
        class Module(torch.nn.Module):
            def forward(self, q, k, v):
                return fa4.attention(q, k, v)

        for strict in (False, True):
            program = torch.export.export(Module(), self.inputs, strict=strict)
            self.assertTrue(any("fa4.attention" in str(node.target) for node in program.graph.nodes))
            self.assertTrue(torch.equal(program.module()(*self.inputs), self.o))

    def test_the_operators(self):
        torch.library.opcheck(torch.ops.fa4.attention.default, self.inputs)
        out = torch.empty_like(self.q)
        torch.library.opcheck(torch.ops.fa4.attention_out.default, (*self.inputs, out, None))

    def test_tensors_without_memory(self):
        shapes = ((2, 300, 32, 128), (2, 500, 8, 128), (2, 500, 8, 128))
        q, k, v = (torch.empty(shape, device="meta", dtype=torch.bfloat16) for shape in shapes)
        o, lse = fa4.attention(q, k, v, causal=True, return_lse=True)
        self.assertEqual((o.shape, o.dtype, o.device.type), (q.shape, q.dtype, "meta"))
        self.assertEqual((tuple(lse.shape), lse.dtype), ((2, 32, 300), torch.float32))

    def test_refused(self):
        def refused(kind, message, *tensors, **options):
            with self.assertRaisesRegex(kind, message):
                fa4.attention(*tensors, **options)

        q, k, v = self.inputs
        refused(TypeError, "operand 'q': expected a tensor on a CUDA device, but got one on cpu", q.cpu(), k, v)
        refused(TypeError, "operand 'k': expected f16 as 'q', but got bf16", q, k.bfloat16(), v)
        refused(TypeError, "operand 'q': expected f16 or bf16, but got f32", q.float(), k, v)
        refused(TypeError, "operand 'k': expected a torch.Tensor as 'q', but got ", q, [1], v)
        refused(ValueError, "multiple of the number of K/V heads, but got 32 and 7", q, k[:, :, :7], v[:, :, :7])
        refused(ValueError, "dimension 3: expected stride 1", q.transpose(1, 3).contiguous().transpose(1, 3), k, v)
        refused(ValueError, "operand 'o': expected memory of its own", q, k, v, out=q)
        refused(ValueError, "operand 'o': expected shape", q, k, v, out=q[:, 1:])
        refused(NotImplementedError, "no backward pass", q.clone().requires_grad_(), k, v)
        with torch.no_grad():
            fa4.attention(torch.nn.Parameter(q), k, v)

    def test_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("CuPy is not installed")
        stream = cupy.cuda.Stream(non_blocking=True)
        torch.cuda.synchronize()
        with stream:
            found = fa4.attention(*(cupy.asarray(x) for x in self.inputs))
        stream.synchronize()
        self.assertIsInstance(found, cupy.ndarray)
        self.assertTrue(torch.equal(torch.as_tensor(found, device="cuda"), self.o))

    def test_jax(self):
        try:
            import jax
        except ImportError:
            self.skipTest("JAX is not installed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not any(device.platform == "gpu" for device in jax.devices()):
                self.skipTest("JAX sees no GPU")
        found = fa4.attention(*(jax.dlpack.from_dlpack(x) for x in self.inputs))
        self.assertIsInstance(found, jax.Array)
        self.assertTrue(torch.equal(torch.from_dlpack(found), self.o))


if __name__ == "__main__":
    unittest.main()
