# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""fa4.attention on PyTorch, CuPy and JAX, on a GPU, and on a second one (H4); skipped where one
is missing.

The kernels are those below $FA4_KERNELS, which `frameworks.py make DIR` makes on any machine
that has the compiler, or made now.
"""

import itertools
import os
import subprocess
import sys
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
CHIP = os.environ.get("FA4_CHIP", "sm_90a")


def make(folder):
    """The kernels of this file."""
    grid = itertools.product((8, 40, 64, 96, 128), (False, True), (False, True))
    kernels = [dict(head_dim=d, causal=causal, return_lse=lse) for d, causal, lse in grid]
    kernels += [dict(head_dim=40, scale=33**-0.5), dict(head_dim=64, dtype="bf16"), dict(head_dim=64, scale=0.0),
                dict(head_dim=64, scale=-0.25, causal=True, return_lse=True)]  # fmt: skip
    for i, options in enumerate(kernels):
        print(fa4.compile(Path(folder) / str(i), chip=CHIP, **options), options, flush=True)


def reference(q, k, v, causal=False, scale=None):
    k, v = (x.repeat_interleave(q.shape[2] // x.shape[2], 2) for x in (k, v))
    logits = torch.einsum("bqhd,bkhd->bhqk", q.double(), k.double()) * (q.shape[3] ** -0.5 if scale is None else scale)
    if causal:
        rows, keys = (torch.arange(n, device=q.device) for n in logits.shape[2:])
        logits = logits.masked_fill(keys[None] > rows[:, None] + len(keys) - len(rows), float("-inf"))
    return torch.einsum("bhqk,bkhd->bqhd", torch.softmax(logits, -1).nan_to_num(0), v.double())


def kernel_folders():
    return sorted(p.parent for p in Path(os.environ["FA4_KERNELS"]).rglob("fa4.json")) if "FA4_KERNELS" in os.environ else []


class OnGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if REASON:
            raise unittest.SkipTest(REASON)
        fa4.clear()
        for folder in kernel_folders():
            fa4.use(fa4.load(folder))

    def random(self, *shape, dtype=None, device="cuda"):
        return torch.randn(*shape, device=device, dtype=dtype or torch.float16)

    def right(self, o, q, k, v, **options):
        expected = reference(q, k, v, **options)
        self.assertEqual(o.shape, q.shape)
        off = (o - expected).abs()
        self.assertTrue((off <= 1e-2 + 1e-2 * expected.abs()).all(), f"off by {off.max() if off.numel() else 0}")


class Frameworks(OnGpu):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
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
        refused(ValueError, "operand 'o': expected shape", q, k, v, out=q[:, 1:])
        refused(ValueError, "operand 'o': expected an element of memory for each", q, k, v, out=q[:, :1].expand(q.shape))
        refused(TypeError, "scale: expected a number", q, k, v, scale="x")
        refused(TypeError, "scale: expected a number", q, k, v, False, True)
        refused(ValueError, "scale: expected a finite number", q, k, v, scale=float("inf"))
        refused(TypeError, "expected f16 or bf16, but got torch.float8_e4m3fn", q.to(torch.float8_e4m3fn), k, v)
        refused(NotImplementedError, "'o': it requires a gradient", q, k, v, out=torch.empty_like(q).requires_grad_())
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
        torch.cuda.set_device(0)  # JAX leaves the last one as the current
        found = fa4.attention(*(jax.dlpack.from_dlpack(x) for x in self.inputs))
        self.assertIsInstance(found, jax.Array)
        self.assertTrue(torch.equal(torch.from_dlpack(found), self.o))


class Operands(OnGpu):
    """Layouts, head dimensions and sizes: the bits of compact copies, or float64."""

    def layouts(self):
        return {
            "heads first": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
            "columns first": lambda x: x.transpose(1, 3).contiguous().transpose(1, 3),
            "every other column": lambda x: x.repeat_interleave(2, 3)[..., ::2],
            "odd pitch": lambda x: torch.nn.functional.pad(x, (0, 1))[..., :-1],
            "odd place": lambda x: torch.cat([x.flatten()[:1], x.flatten()])[1:].view(x.shape),
            "part of a buffer": lambda x: torch.nn.functional.pad(x, (8, 8, 3, 2), value=float("nan"))[:, :, 3:-2, 8:-8],
            "one token": lambda x: x[:, :1].expand(x.shape),
            "one head": lambda x: x[:, :, :1].expand(x.shape),
        }

    def test_layouts(self):
        operands = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        for (what, change), i in itertools.product(self.layouts().items(), range(3)):
            with self.subTest(what, operand="qkv"[i]):
                changed = list(operands)
                changed[i] = change(operands[i])
                compact = [x.contiguous() for x in changed]
                for _ in range(2):
                    o, lse = fa4.attention(*changed, causal=True, return_lse=True)
                    want, want_lse = fa4.attention(*compact, causal=True, return_lse=True)
                    self.assertTrue(torch.equal(o, want) and torch.equal(lse, want_lse))
                    self.assertEqual(o.stride(), torch.empty_like(changed[0]).stride())

    def test_outputs(self):
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        want, want_lse = fa4.attention(q, k, v, return_lse=True)
        wide = torch.full((2, 70, 6, 200), 7.0, device="cuda", dtype=torch.float16)
        for out in (wide[..., 8:72], wide[..., 1:65], wide[..., :128:2], torch.empty_like(q).transpose(1, 2).contiguous().transpose(1, 2)):
            lse = torch.empty(2, 70, 6, device="cuda").transpose(1, 2)
            version = out._version
            fa4.attention(q, k, v, return_lse=True, out=(out, lse))
            self.assertTrue(torch.equal(out, want) and torch.equal(lse, want_lse))
            self.assertGreater(out._version, version)
            out.fill_(7)
        self.assertTrue((wide == 7).all())
        over = q.clone()
        fa4.attention(over, k, v, out=over)
        self.assertTrue(torch.equal(over, want))
        buffer = self.random(3, 130, 6, 64)
        inputs = buffer[:2, :, :2]
        want = fa4.attention(q, inputs.clone(), v)
        fa4.attention(q, inputs, v, out=buffer[1:, :70])
        self.assertTrue(torch.equal(buffer[1:, :70], want))

    def test_head_dimensions(self):
        for d, causal in itertools.product((8, 33, 40, 96), (False, True)):
            if d == 33 and causal:
                continue
            with self.subTest(d=d, causal=causal):
                q, k, v = self.random(2, 300, 6, d), self.random(2, 400, 2, d), self.random(2, 400, 2, d)
                self.right(fa4.attention(q, k, v, causal=causal), q, k, v, causal=causal)
                wide = torch.full((2, 300, 6, 136), 7.0, device="cuda", dtype=torch.float16)
                fa4.attention(q, k, v, causal=causal, out=wide[..., :d])
                self.right(wide[..., :d], q, k, v, causal=causal)
                self.assertTrue((wide[..., d:] == 7).all())
                nan = [torch.nn.functional.pad(x, (0, 136 - d), value=float("nan"))[..., :d] for x in (q, k, v)]
                self.assertTrue(torch.equal(fa4.attention(*nan, causal=causal), wide[..., :d]))

    def test_sizes(self):
        for sizes in ((65537, 1, 3, 2, 1), (1, 1, 1, 1, 1), (3, 7, 1, 5, 1), (1, 257, 31, 7, 7), (1, 31, 257, 96, 1), (2, 5, 0, 4, 2), (2, 0, 5, 4, 2),
                      (0, 5, 5, 4, 2), (1, 5, 300, 256, 4)):  # fmt: skip
            for causal in (False, True):
                with self.subTest(sizes=sizes, causal=causal):
                    b, sq, skv, hq, hkv = sizes
                    q, k, v = self.random(b, sq, hq, 64), self.random(b, skv, hkv, 64), self.random(b, skv, hkv, 64)
                    o, lse = fa4.attention(q, k, v, causal=causal, return_lse=True)
                    self.right(o, q, k, v, causal=causal)
                    empty = max(sq - skv, 0) if causal else sq if skv == 0 else 0
                    self.assertTrue((o[:, :empty] == 0).all() and (lse[:, :, :empty] == float("-inf")).all())

    def test_bf16(self):
        q, k, v = (self.random(2, n, h, 64, dtype=torch.bfloat16) for n, h in ((70, 6), (130, 2), (130, 2)))
        self.right(fa4.attention(q, k, v).float(), q, k, v)

    def test_far_strides(self):
        """Elements beyond the 2^31st."""
        q, k, v = self.random(1, 100, 2, 64), self.random(1, 129, 1, 64), self.random(1, 129, 1, 64)
        buffer = torch.empty((128 << 24) + 64, device="cuda", dtype=torch.float16)
        far = buffer.as_strided(k.shape, (0, 1 << 24, 64, 1))
        far.copy_(k)
        self.assertTrue(torch.equal(fa4.attention(q, far, v), fa4.attention(q, k, v)))

    def test_scales(self):
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        self.right(fa4.attention(q, k, v, scale=0), q, k, v, scale=0.0)
        self.right(fa4.attention(q, k, v, True, torch.tensor(-0.25), True)[0], q, k, v, causal=True, scale=-0.25)
        # A number that changes in place is another number.
        scale = torch.tensor(0.0)
        fa4.attention(q, k, v, scale=scale)
        scale.fill_(64**-0.5)
        self.right(fa4.attention(q, k, v, scale=scale), q, k, v)


class Watched(OnGpu):
    """Whatever follows operators of PyTorch sees the call; whatever runs at once does not disturb it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.q, cls.k, cls.v = (torch.randn(2, n, h, 64, device="cuda", dtype=torch.float16) for n, h in ((70, 6), (130, 2), (130, 2)))
        cls.o = fa4.attention(cls.q, cls.k, cls.v)

    def test_traces(self):
        from torch.fx.experimental.proxy_tensor import make_fx

        inputs = self.q, self.k, self.v
        other = self.random(2, 70, 6, 64), self.k, self.v
        traces = {
            "make_fx": lambda f: make_fx(f, tracing_mode="real")(*inputs),
            "jit.trace": lambda f: torch.jit.trace(f, inputs),
            "fx": lambda f: torch.fx.symbolic_trace(f),
        }
        for what, trace in traces.items():
            with self.subTest(what):
                traced = trace(lambda q, k, v: fa4.attention(q, k, v) + 1)
                self.assertTrue(torch.equal(traced(*other), fa4.attention(*other) + 1))

    def test_vmap(self):
        q = torch.stack([self.q, self.q * 0.5], 1)
        mapped = torch.vmap(lambda q, k: fa4.attention(q, k, self.v, return_lse=True), in_dims=(1, None))
        o, lse = mapped(q, self.k)
        for i in range(2):
            want = fa4.attention(q[:, i], self.k, self.v, return_lse=True)
            self.assertTrue(torch.equal(o[i], want[0]) and torch.equal(lse[i], want[1]))

    def test_dynamic_shapes(self):
        function = torch.compile(lambda q, k, v: fa4.attention(q * 1, k, v) + 1, fullgraph=True, dynamic=True)
        for n in (70, 71, 130):
            q = self.random(2, n, 6, 64)
            self.assertTrue(torch.equal(function(q, self.k, self.v), fa4.attention(q, self.k, self.v) + 1))

    def test_autocast(self):
        with torch.autocast("cuda", dtype=torch.float16):
            found = fa4.attention(self.q.float(), self.k.float(), self.v)
        self.assertTrue(torch.equal(found, self.o))

    def test_gradients(self):
        with self.assertRaisesRegex(NotImplementedError, "no backward pass"):
            torch.func.grad(lambda q: fa4.attention(q, self.k, self.v).float().sum())(self.q)
        with torch.inference_mode():
            out = torch.empty_like(self.q)
            self.assertTrue(torch.equal(fa4.attention(self.q, self.k, self.v, out=out), self.o))

    def test_a_first_call_that_a_graph_captures(self):
        folders = kernel_folders()
        fa4.clear()
        try:
            for folder in folders:
                fa4.use(fa4.load(folder))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                found = fa4.attention(self.q, self.k, self.v)
                odd = fa4.attention(self.q[..., ::1].transpose(1, 3).contiguous().transpose(1, 3), self.k, self.v)
            graph.replay()
            self.assertTrue(torch.equal(found, self.o) and torch.equal(odd, self.o))
        finally:
            torch.cuda.synchronize()

    def test_threads(self):
        for _ in range(5):
            fa4.clear()
            for folder in kernel_folders():
                fa4.use(fa4.load(folder))
            barrier, found = threading.Barrier(8), {}
            queries = [self.random(2, 70, 6, 64) for _ in range(8)]
            torch.cuda.synchronize()

            def call(i):
                with torch.cuda.stream(torch.cuda.Stream()):
                    barrier.wait()
                    found[i] = fa4.attention(queries[i], self.k, self.v)

            threads = [threading.Thread(target=call, args=(i,)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            torch.cuda.synchronize()
            for i in range(8):
                self.assertTrue(torch.equal(found[i], fa4.attention(queries[i], self.k, self.v)))

    def test_ptx_that_does_not_load(self):
        """N5"""
        folder = next(f for f in kernel_folders() if any(f.glob("*.ptx")))
        kernel = fa4.load(folder)
        text = next(folder.glob("*.ptx")).read_text().replace("\n\tret;", "\n\tno.such.instruction;\n\tret;", 1)
        kernel.image = text.encode() + b"\0"
        from fa4._driver import get_device

        with self.assertRaises(fa4.CudaError) as caught:
            kernel.function(get_device(0))
        for words in ("CUDA_ERROR_INVALID_PTX", kernel.name, "made for sm_", "PTX 8.", "driver of CUDA ", "Not a name of any known instruction: 'no'"):
            self.assertIn(words, str(caught.exception))
        print("\n" + str(caught.exception))
        # The device is as it was.
        self.assertTrue(torch.equal(fa4.attention(self.q, self.k, self.v), self.o))

    def test_fork(self):
        """A child of a process that used the GPU gets an error, not a hang; a process ends in order."""
        code = """if 1:
            import os, signal, sys, torch, fa4
            for folder in sys.argv[1:]: fa4.use(fa4.load(folder))
            q = torch.randn(1, 64, 2, 64, device="cuda").half()
            fa4.attention(q, q, q)
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                try: fa4.attention(q, q, q)
                except Exception as error: print("child:", error, flush=True); os._exit(3)
                os._exit(4)
            print("status", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        """
        done = subprocess.run([sys.executable, "-c", code, *map(str, kernel_folders())], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("status 3", done.stdout)
        print("\n" + done.stdout)


@unittest.skipIf(not REASON and torch.cuda.device_count() < 2, "there is one GPU")
class SecondDevice(OnGpu):
    """H4: operands on a device that is not the current one."""

    def setUp(self):
        self.assertEqual(torch.cuda.current_device(), 0)
        self.first = [self.random(2, n, h, 64) for n, h in ((700, 6), (1300, 2), (1300, 2))]
        self.second = [x.to("cuda:1") for x in self.first]
        self.want = fa4.attention(*self.first, causal=True)

    def tearDown(self):
        self.assertEqual(torch.cuda.current_device(), 0)
        self.assertEqual(torch.ones(3, device="cuda").sum().item(), 3)

    def test_first_on_the_second(self):
        fa4.clear()
        for folder in kernel_folders():
            fa4.use(fa4.load(folder))
        for operands in (self.second, self.first, self.second):
            found, lse = fa4.attention(*operands, causal=True, return_lse=True)
            self.assertEqual((found.device, lse.device), (operands[0].device,) * 2)
            out = torch.empty_like(operands[0])
            fa4.attention(*operands, causal=True, out=out)
            for o in (found, out):
                self.assertTrue(torch.equal(o.cpu(), self.want.cpu()))

    def test_streams(self):
        """The stream is the current one of the operands' device, behind a slow producer."""
        stream = torch.cuda.Stream("cuda:1")
        for current in (0, 1):
            with torch.cuda.device(current), torch.cuda.stream(stream):
                late = torch.zeros_like(self.second[0])
                with torch.cuda.device(1):
                    torch.cuda._sleep(1_000_000_000)
                late.copy_(self.second[0])
            torch.cuda.set_device(current)
            # The stream of a device stays its current one only inside `torch.cuda.stream`.
            with torch.cuda.stream(stream):
                torch.cuda.set_device(0)
                found = fa4.attention(late, *self.second[1:], causal=True)
            self.assertFalse(stream.query(), "the call waited, or ran before its input")
            stream.synchronize()
            self.assertTrue(torch.equal(found.cpu(), self.want.cpu()))
        torch.cuda.set_device(0)

    def test_a_graph(self):
        with torch.cuda.device(1):
            graph = torch.cuda.CUDAGraph()
            # PyTorch's own stream for this is on the device that captured first.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream(1)):
                found = fa4.attention(*self.second, causal=True)
            graph.replay()
            torch.cuda.synchronize()
        torch.cuda.set_device(0)
        self.assertTrue(torch.equal(found.cpu(), self.want.cpu()))

    def test_threads(self):
        found = {}

        def call(device, operands):
            found[device] = [fa4.attention(*operands, causal=True) for _ in range(20)]

        threads = [threading.Thread(target=call, args=x) for x in ((0, self.first), (1, self.second))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.cuda.synchronize(0), torch.cuda.synchronize(1)
        for outputs in found.values():
            self.assertEqual(len(outputs), 20)
            for o in outputs:
                self.assertTrue(torch.equal(o.cpu(), self.want.cpu()))

    def test_copies(self):
        turned = self.second[1].transpose(1, 3).contiguous().transpose(1, 3)
        out = torch.empty(2, 700, 6, 129, device="cuda:1", dtype=torch.float16)[..., 1:65]
        fa4.attention(self.second[0], turned, self.second[2], causal=True, out=out)
        self.assertTrue(torch.equal(out.cpu(), self.want.cpu()))

    def test_several_devices_in_a_call(self):
        for i in range(1, 3):
            mixed = list(self.second)
            mixed[i] = self.first[i]
            with self.assertRaisesRegex(ValueError, f"operand '{'qkv'[i]}': expected a tensor on device 1 as 'q', but got one on 0"):
                fa4.attention(*mixed)
        with self.assertRaisesRegex(ValueError, "operand 'o': expected a tensor on device 1 as 'q', but got one on 0"):
            fa4.attention(*self.second, out=torch.empty_like(self.first[0]))

    def test_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("CuPy is not installed")
        torch.cuda.synchronize(1)
        with cupy.cuda.Device(1):
            stream = cupy.cuda.Stream(non_blocking=True)
            inputs = [cupy.from_dlpack(x) for x in self.second]
            with stream:
                found = [fa4.attention(*inputs, causal=True)]
            stream.synchronize()
        found.append(fa4.attention(*inputs, causal=True))
        torch.cuda.synchronize(1)
        for o in found:
            self.assertEqual((o.device.id, cupy.cuda.Device().id), (1, 0))
            self.assertTrue(torch.equal(torch.as_tensor(o, device="cuda:1").cpu(), self.want.cpu()))

    def test_jax(self):
        try:
            import jax
        except ImportError:
            self.skipTest("JAX is not installed")
        jax.devices()
        with torch.cuda.device(1):
            inputs = [jax.dlpack.from_dlpack(x) for x in self.second]
        torch.cuda.set_device(0)
        found = fa4.attention(*inputs, causal=True)
        self.assertEqual(torch.cuda.current_device(), 0)
        self.assertEqual([d.id for d in found.devices()], [1])
        self.assertTrue(torch.equal(torch.from_dlpack(found).cpu(), self.want.cpu()))
        torch.cuda.set_device(0)


class Arrays(OnGpu):
    """CuPy and JAX where a kernel needs copies."""

    def test_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("CuPy is not installed")
        for d in (64, 33):
            q, k, v = (cupy.random.standard_normal((2, n, h, d)).astype("f2") for n, h in ((70, 6), (130, 2), (130, 2)))
            want = fa4.attention(q, k, v)
            self.right(*(torch.as_tensor(x, device="cuda") for x in (want, q, k, v)))
            for change in (lambda x: x[:, ::-1].copy()[:, ::-1], lambda x: cupy.asfortranarray(x)):
                self.assertTrue((fa4.attention(change(q), change(k), change(v)) == want).all())
            out = cupy.full((2, 70, 6, 129), 7, "f2")
            fa4.attention(q, k, v, out=out[..., 1 : d + 1])
            self.assertTrue((out[..., 1 : d + 1] == want).all() and (out[..., d + 1 :] == 7).all())
            # Operands of two frameworks, each with a stream of its own.
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(50_000_000)
                late = torch.as_tensor(k, device="cuda") * 1
                found = fa4.attention(q, late, v)
            self.assertTrue((found == want).all())
            # And an output that PyTorch reads next on its own.
            with torch.cuda.stream(stream):
                given = torch.zeros(2, 70, 6, 2 * d, device="cuda", dtype=torch.float16)[..., ::2]
                fa4.attention(q, k, v, out=given)
                copied = given * 1
            stream.synchronize()
            self.assertTrue(torch.equal(copied, torch.as_tensor(want, device="cuda")))

    def test_jax(self):
        try:
            import jax
        except ImportError:
            self.skipTest("JAX is not installed")
        key = jax.random.key(0)
        for d in (64, 33):
            q, k, v = (jax.random.normal(key, (2, n, h, d), dtype="float16") for n, h in ((70, 6), (130, 2), (130, 2)))
            o = fa4.attention(q, k, v)
            self.right(*(torch.from_dlpack(x) for x in (o, q, k, v)))
        with self.assertRaisesRegex(TypeError, "outside of jax.jit"):
            jax.jit(fa4.attention)(q, k, v)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(sys.argv[2])
    else:
        unittest.main()
