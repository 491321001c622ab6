# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""Calls of fa4.attention after others, on a GPU: what is kept of a call changes nothing but
the time of the next. Kernels as in frameworks.py.
"""

import random
import subprocess
import sys
import unittest
import warnings
from unittest import mock

from frameworks import REASON, OnGpu

if not REASON:
    import torch
    from torch.autograd import forward_ad
    from torch.testing._internal.two_tensor import TwoTensor
import fa4


class Repeated(OnGpu):
    """Calls like earlier ones take a short way: the bits of the long one, whatever was before."""

    def calls(self):
        """Problems that differ in one thing each, more of them than the short way has room for."""
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        # A copy has an address of its own.
        problems = [
            (q, k, v),
            (q.clone(), k, v),
            (q, v, k),
            (q.bfloat16(), k.bfloat16(), v.bfloat16()),
            (q[:, :69], k, v),
            (q, k[:, :129], v[:, :129]),
            (q[:, :, :4], k, v),
            (q, k, v.transpose(1, 2).contiguous().transpose(1, 2)),
            (q.transpose(1, 2).contiguous().transpose(1, 2), k, v),
            (q, k[:, :, :1], v[:, :, :1]),
            (q[:1], k[:1], v[:1]),
            (q[..., :40], k[..., :40], v[..., :40]),
        ]
        kinds = [dict(), dict(causal=True), dict(return_lse=True), dict(causal=True, return_lse=True)]
        return [(tensors, kind) for tensors in problems for kind in kinds if not (kind and tensors[0].dtype == torch.bfloat16)]

    def forget(self):
        fa4._torch.forget()

    def check_all(self):
        calls = self.calls()
        pairs = []
        for tensors, options in calls:
            self.forget()
            wanted = fa4.attention(*tensors, **options)
            pairs.append((wanted, wanted) if not isinstance(wanted, tuple) else wanted)
        states = (torch.no_grad, torch.inference_mode, torch.enable_grad, lambda: torch.autocast("cuda", dtype=torch.float16))
        random.seed(1)
        for round_ in range(12):
            self.forget()
            for i in random.choices(range(len(calls)), k=150):
                (tensors, options), wanted = calls[i], pairs[i]
                with random.choice(states)(), warnings.catch_warnings():
                    out = {}
                    if random.random() < 0.3:
                        o, lse = torch.empty_like(wanted[0]), torch.empty_like(wanted[1])
                        out = dict(out=random.choice((tuple, list))((o, lse)) if options.get("return_lse") else o)
                    found = fa4.attention(*tensors, **options, **out)
                found = (found, found) if isinstance(found, torch.Tensor) else found
                for a, b in zip(found, wanted):
                    self.assertTrue(torch.equal(a, b), (i, options, round_))
                    self.assertEqual((a.stride(), a.dtype, a.device), (b.stride(), b.dtype, b.device))

    def test_in_any_order(self):
        self.check_all()

    def test_without_guards(self):
        """As on a PyTorch that lacks them."""
        private = fa4._torch.private
        with mock.patch.object(private, "_Guards", None), mock.patch.object(fa4._torch, "_empty_here", private.empty_strided):
            self.check_all()
        self.forget()

    def test_refused_after_a_call_like_it(self):
        class Own(torch.Tensor):
            pass

        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        out, lse = torch.empty_like(q), torch.empty(2, 6, 70, device="cuda")
        for kept in (True, False):
            for operands, error, message in (
                ((q, k, v.cpu()), TypeError, "operand 'v': expected a tensor on a CUDA device"),
                ((q.cpu(), k, v), TypeError, "operand 'q': expected a tensor on a CUDA device"),
                ((q, torch._neg_view(k), v), TypeError, "operand 'k': expected a tensor without a lazy"),
                ((q, k, v.float()), TypeError, "operand 'v'"),
                ((q, k.clone().requires_grad_(), v), NotImplementedError, "no backward pass"),
                ((q, k, v, False, None, False, out.cpu()), TypeError, "operand 'o': expected a tensor on a CUDA device"),
                ((q, k, v, False, None, False, torch._neg_view(out)), TypeError, "operand 'o': expected a tensor without"),
                ((q, k, v, False, None, False, (out,)), TypeError, "out: expected one tensor"),
                ((q, k, v, False, None, False, [out, out]), TypeError, "out: expected one tensor"),
                ((q, k, v, False, None, True, out), TypeError, "out: expected a pair"),
                ((q, k, v, False, None, True, (out,)), TypeError, "out: expected a pair"),
                ((q, k, v, False, None, True, (out, lse, lse)), TypeError, "out: expected a pair"),
                ((q, k, v, False, None, True, (out, None)), TypeError, "operand 'lse'"),
                ((q, k, 3), TypeError, "operand 'v'"),
                ((None, k, v), TypeError, "operand 'q'"),
                ((q, k[0], v[0]), ValueError, "operand 'k'"),
                ((torch.nested.nested_tensor([q[0], q[1][:3]]), k, v), (TypeError, ValueError, RuntimeError), ""),
                ((q, torch.nested.nested_tensor([k[0], k[1][:3]]), v), (TypeError, ValueError, RuntimeError), ""),
                ((q, k, torch.nested.nested_tensor([v[0], v[1][:3]])), (TypeError, ValueError, RuntimeError), ""),
                ((q, k, v, False, None, False, torch.nested.nested_tensor([q[0], q[1][:3]])), (TypeError, ValueError, RuntimeError), ""),
                ((q, k, v, False, None, True, (out, TwoTensor(lse, lse.clone()))), ValueError, "operand 'lse': expected memory"),
                ((q.as_subclass(Own), k.clone().requires_grad_(), v, False, None, False, out), NotImplementedError, "no backward pass"),
            ):
                with self.subTest(message, kept=kept):
                    fa4.attention(q, k, v)
                    fa4.attention(q, k, v, out=out)
                    fa4.attention(q, k, v, return_lse=True, out=(out, lse))
                    if not kept:
                        fa4._torch._recent.clear()
                    with self.assertRaisesRegex(error, message):
                        fa4.attention(*operands)
        for _ in range(2):
            with torch.no_grad():
                self.assertTrue(torch.equal(fa4.attention(q, k.clone().requires_grad_(), v), out))
            with self.assertRaisesRegex(NotImplementedError, "no backward pass"):
                fa4.attention(q, k.clone().requires_grad_(), v)

    def test_derivatives(self):
        """They are refused, not left out, whoever follows the call."""
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        out, with_grad = torch.empty_like(q), q.clone().requires_grad_()
        for _ in range(2):
            fa4.attention(q, k, v)
            fa4.attention(q, k, v, out=out)
            with self.assertRaisesRegex(NotImplementedError, "no forward-mode derivative"):
                torch.func.jvp(lambda q: fa4.attention(q, k, v), (q,), (q,))
            with forward_ad.dual_level():
                self.assertEqual(fa4.attention(q, k, v).shape, q.shape)
                with self.assertRaisesRegex(NotImplementedError, "no forward-mode derivative"):
                    fa4.attention(forward_ad.make_dual(q, q), k, v)
            with self.assertRaisesRegex(NotImplementedError, "no backward pass"):
                torch.ops.fa4.attention_out(with_grad, k, v, out, None)
            with self.assertRaisesRegex(Exception, "no backward pass"):
                torch.compile(lambda q: fa4.attention(q, k, v, out=torch.empty_like(q)), backend="aot_eager", fullgraph=True)(with_grad)
            with torch.no_grad():
                torch.ops.fa4.attention_out(with_grad, k, v, out, None)
            self.assertTrue(torch.equal(out, fa4.attention(q, k, v)))

    def test_arguments(self):
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        flag = torch.tensor(True)
        self.assertIsInstance(fa4.attention(q, k, v, return_lse=flag), tuple)
        flag.fill_(False)
        self.assertIsInstance(fa4.attention(q, k, v, return_lse=flag), torch.Tensor)
        self.assertIsInstance(fa4.attention(q, k, v, return_lse=[]), torch.Tensor)
        # One object twice, before and after others.
        want = fa4.attention(q[:, :, :2], k, k.clone())
        for _ in range(2):
            self.assertTrue(torch.equal(fa4.attention(q[:, :, :2], k, k), want))
            self.assertTrue(torch.equal(fa4.attention(q[:, :, :2], k, k.clone()), want))
            self.assertTrue(torch.equal(fa4.attention(k, k, k), fa4.attention(k.clone(), k.clone(), k.clone())))
        for d, message in ((136, "dimension 3: expected a head dimension of 1 to 128, but got 136"), (0, "1 to 128, but got 0")):
            with self.assertRaisesRegex(ValueError, message):
                fa4.attention(*[torch.empty(2, 70, 2, d, device="cuda", dtype=torch.float16)] * 3)
        with torch.autocast("cuda", dtype=torch.float16):
            self.assertEqual(fa4.attention(q.float(), k.bfloat16(), v).dtype, torch.float16)
            for operands in ((q.double(), k.float(), v), (q.float(), k.int(), v)):
                with self.assertRaises(TypeError):
                    fa4.attention(*operands)
        for shapes in (((2, 5, 2, 64), (2, 7, 3, 64), (2, 7, 3, 64)), ((2, 5, 4, 64), (1, 7, 2, 64), (1, 7, 2, 64)), ((2, 5, 4, 64), (2, 7, 2, 64), (2, 7, 1, 64))):
            with self.assertRaises(ValueError):
                fa4.attention(*[torch.empty(shape, device="meta", dtype=torch.float16) for shape in shapes])

    def test_inference_tensors(self):
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        with torch.inference_mode():
            out = torch.empty_like(q)
        for _ in range(2):
            with torch.inference_mode():
                fa4.attention(q, k, v, out=out)
            out_was = out.clone()
            with self.assertRaisesRegex(RuntimeError, "inference"):
                fa4.attention(k[:, :70].repeat(1, 1, 3, 1), k, v, out=out)
            self.assertTrue(torch.equal(out, out_was))

    def test_beside_direct_launches(self):
        """A kernel called by hand checks less, and leaves nothing that fa4.attention would take for checked."""
        q, k, v = (self.random(2, 300, 6, 64) for _ in range(3))
        want = fa4.attention(q, k, v)
        for kernel in list(fa4._attention._kernels):
            o = torch.zeros_like(q)
            weight = torch.ones((), device="cuda", requires_grad=True)
            y = (weight * o).sum()
            try:
                kernel(q, k, v, o)
            except (TypeError, ValueError):
                continue
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                y.backward()
            over = k.clone()
            kernel(q, over, v, over)
            over.copy_(k)
            fa4.attention(q, over, v, out=over)
            self.assertTrue(torch.equal(over, want))

    def test_a_choice_while_kernels_change(self):
        """What was chosen before fa4.clear is not kept behind it."""
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        want = fa4.attention(q, k, v)
        self.forget()
        plan_for = fa4._attention.plan_for

        def and_forget(*arguments):
            plan = plan_for(*arguments)
            self.forget()
            return plan

        with mock.patch.object(fa4._attention, "plan_for", and_forget):
            self.assertTrue(torch.equal(fa4.attention(q, k, v), want))
        self.assertFalse(fa4._torch._calls or fa4._torch._recent)

    def test_a_vmap_of_nothing(self):
        q, k, v = self.random(0, 2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        self.assertEqual(torch.vmap(lambda q: fa4.attention(q, k, v))(q).shape, q.shape)

    def test_first_in_a_trace(self):
        """Nothing but the operator is in the trace of the first call of a process."""
        script = """
import fa4, torch
from torch.fx.experimental.proxy_tensor import make_fx
if {symbolic}:
    graph = torch.fx.symbolic_trace(lambda k: fa4.attention({q}, k, k)).graph
else:
    graph = make_fx(lambda k: fa4.attention({q}, k, k), tracing_mode="fake")(torch.empty(2, 5, 2, 64, device="cuda").half()).graph
found = [str(n.target) for n in graph.nodes if n.op == "call_function"]
assert found in (["fa4.attention.default"], ["fa4.attention"]), found
"""
        for symbolic, q in ((True, "k"), (False, "k"), (True, "torch.empty(2, 5, 2, 64).half()")):
            with self.subTest(symbolic=symbolic, q=q):
                run = subprocess.run([sys.executable, "-c", script.format(symbolic=symbolic, q=q)], capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_followed_after_a_call_like_it(self):
        """Who follows the operators sees them, also where such a call was before."""
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        want = fa4.attention(q, k, v)
        for _ in range(2):
            seen = []

            class Mode(torch.utils._python_dispatch.TorchDispatchMode):
                def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                    seen.append(str(function))
                    return function(*args, **(kwargs or {}))

            with Mode():
                found = fa4.attention(q, k, v)
            self.assertIn("fa4.attention.default", seen)
            self.assertTrue(torch.equal(found, want))
            traced = torch.fx.experimental.proxy_tensor.make_fx(lambda q: fa4.attention(q, k, v))(q)
            self.assertIn("fa4.attention", traced.code)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                graph = torch.jit.trace(lambda q, k, v: fa4.attention(q, k, v), (q, k, v), check_trace=False).graph
            self.assertIn("fa4::attention", str(graph))
            batched = torch.vmap(lambda q: fa4.attention(q, k, v))(torch.stack([q, q]))
            self.assertTrue(torch.equal(batched[1], want))
            compiled = torch.compile(lambda q: fa4.attention(q, k, v) + 1, fullgraph=True)
            self.assertTrue(torch.equal(compiled(q), want + 1))
            self.assertTrue(torch.equal(torch.ops.fa4.attention(q, k, v), want))
            self.assertTrue(torch.equal(fa4.attention(q, k, v), want))

    def test_new_outputs(self):
        """Fresh memory each time, in the state that PyTorch's own have."""
        q, k, v = self.random(2, 70, 6, 64), self.random(2, 130, 2, 64), self.random(2, 130, 2, 64)
        kept = [fa4.attention(q, k, v) for _ in range(20)]
        self.assertEqual(len({o.data_ptr() for o in kept}), 20)
        self.assertFalse(any(o.requires_grad or o.is_inference() for o in kept))
        for _ in range(2):
            with torch.inference_mode():
                self.assertTrue(fa4.attention(q, k, v).is_inference())
        with torch.device("cpu"):
            self.assertTrue(torch.equal(fa4.attention(q, k, v), kept[0]))


if __name__ == "__main__":
    unittest.main()
