# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""fa4.attention on arrays of no framework: rules of the operands, choice of the kernel, outputs."""

import json
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

import fa4
from fa4 import _driver
from fake_driver import DeviceArray, FakeDriver, abi_page, write_folder

WITH_LSE = json.loads(abi_page(os.environ["FA4_SOURCE"])[0])
WITH_LSE["chip"] = "sm_90a"
PLAIN = json.loads(json.dumps(WITH_LSE))
for part in ("tensors", "parameters"):
    PLAIN[part] = [entry for entry in PLAIN[part] if entry["name"] != "lse"]

Q, K = (2, 100, 32, 128), (2, 300, 8, 128)


def arrays(q=Q, k=K, v=None, o=None, **options):
    shapes = (q, k, v or k, o or q)
    return [DeviceArray(shape, address=(i + 1) << 32, **options) for i, shape in enumerate(shapes)]


class Attention(unittest.TestCase):
    def setUp(self):
        os.environ["FA4_COMPILE"] = "/nowhere"
        self.driver = FakeDriver()
        _driver.set_driver(self.driver)
        self.scratch = tempfile.TemporaryDirectory()
        self.path = Path(self.scratch.name)
        self.causal = self.use("causal", PLAIN, True, None)
        self.full = self.use("full", PLAIN, False, None)
        self.lse = self.use("lse", WITH_LSE, False, None)
        self.scaled = self.use("scaled", PLAIN, False, 0.5)

    def use(self, name, descriptor, causal, scale):
        text = json.loads(json.dumps(descriptor).replace(descriptor["kernel"], name))
        return fa4.use(fa4.load(write_folder(self.path / name, text, (causal, scale))))

    def tearDown(self):
        fa4.clear()
        _driver.set_driver(None)
        self.scratch.cleanup()
        del os.environ["FA4_COMPILE"]

    def launched(self):
        return self.driver.launches[-1].function[1].decode()

    def test_the_kernel_that_fits(self):
        q, k, v, o = arrays()
        lse = DeviceArray((2, 32, 100), dtype="<f4", address=1 << 40)
        self.assertIs(fa4.attention(q, k, v, out=o), o)
        self.assertEqual(self.launched(), "full")
        fa4.attention(q, k, v, causal=True, out=o)
        self.assertEqual(self.launched(), "causal")
        fa4.attention(q, k, v, scale=0.5, out=o)
        self.assertEqual(self.launched(), "scaled")
        fa4.attention(q, k, v, scale=1 / 128**0.5, out=o)  # the default, said
        self.assertEqual(self.launched(), "full")
        result = fa4.attention(q, k, v, return_lse=True, out=(o, lse))
        self.assertEqual((self.launched(), result[0] is o, result[1] is lse), ("lse", True, True))
        self.assertEqual(self.driver.read(self.driver.launches[-1], self.lse.descriptor)["lse"], 1 << 40)
        other = self.use("newer", PLAIN, False, None)
        fa4.attention(q, k, v, out=o)
        self.assertEqual(self.launched(), other.name)

    def test_no_kernel_fits(self):
        q, k, v, o = arrays()
        with self.assertRaises(ValueError) as caught:
            fa4.attention(q, k, v, scale=0.25, out=o)
        message = str(caught.exception)
        self.assertIn("no kernel fits this attention, and there is no fa4-compile to make one", message)
        self.assertIn("causal: it is causal", message)
        self.assertIn("full: its scale is 0.0883883, not 0.25", message)
        self.assertIn("lse: its operands are q, k, v, o, lse", message)
        q, k, v, o = arrays(q=(2, 100, 32, 64), k=(2, 300, 8, 64))
        with self.assertRaisesRegex(ValueError, "full.*: operand 'q', dimension 3: expected extent 128, but got 64"):
            fa4.attention(q, k, v, out=o)

    def refused(self, kind, message, tensors, **options):
        with self.assertRaises(kind) as caught:
            fa4.attention(*tensors[:3], out=tensors[3], **options)
        self.assertEqual(str(caught.exception), message)
        self.assertEqual(self.driver.launches, [])

    def test_rules_of_the_operands(self):
        self.refused(
            ValueError, "operand 'q': expected rank 4 [B, S, Hq, D], but got 3 [100, 32, 128]", arrays(q=(100, 32, 128))
        )
        self.refused(
            ValueError, "operand 'k', dimension 0: expected 2, batches of 'q', but got 3", arrays(k=(3, 300, 8, 128))
        )
        self.refused(ValueError, "operand 'v', dimension 3: expected 128, the head dimension of 'q', but got 64, "
                     "and no copy can be made of this kind of array",
                     arrays(v=(2, 300, 8, 64), o=(2, 100, 32, 64)))  # fmt: skip
        self.refused(
            ValueError,
            "operand 'v', dimension 1: expected 300, the keys of 'k', but got 301",
            arrays(v=(2, 301, 8, 128)),
        )
        self.refused(
            ValueError, "operand 'v', dimension 2: expected 8, the heads of 'k', but got 4", arrays(v=(2, 300, 4, 128))
        )
        self.refused(ValueError, "expected the number of query heads to be a multiple of the number of K/V heads, "
                     "but got 32 and 5", arrays(k=(2, 300, 5, 128)))  # fmt: skip
        self.refused(
            ValueError,
            "operand 'o': expected shape [2, 100, 32, 128], but got [2, 99, 32, 128]",
            arrays(o=(2, 99, 32, 128)),
        )
        self.refused(TypeError, "operand 'q': expected f16 or bf16, but got f32", arrays(dtype="<f4"))
        mixed = arrays()
        mixed[1].dtype = "<f4"
        self.refused(TypeError, "operand 'k': expected f16 or bf16, but got f32", mixed)
        turned = arrays()
        turned[1].strides = tuple(2 * s for s in (300 * 8 * 128, 8 * 128, 1, 8))
        self.refused(ValueError, "operand 'k', dimension 3: expected stride 1, but got 8, "
                     "and no copy can be made of this kind of array", turned)  # fmt: skip
        same = arrays()
        same[3] = same[0]
        self.refused(ValueError, "operand 'o': expected memory of its own, but it may overlap an input, "
                     "and no copy can be made of this kind of array", same)  # fmt: skip
        far = arrays()
        far[2] = arrays(device=1)[2]
        self.refused(ValueError, "operand 'v': expected a tensor on device 0 as 'q', but got one on 1", far)
        self.refused(ValueError, "scale: expected a finite number of f32, but got nan", arrays(), scale=float("nan"))
        self.refused(ValueError, "scale: expected a finite number of f32, but got 1e+39", arrays(), scale=1e39)
        self.refused(TypeError, "out: expected a pair of tensors, the output and the log-sum-exp, as return_lse asks",
                     arrays(), return_lse=True)  # fmt: skip
        self.refused(TypeError, "out: expected an array to write to, as none can be made like a DeviceArray",
                     arrays()[:3] + [None])  # fmt: skip

    def test_arrays_on_the_host(self):
        q = np.zeros(Q, np.float16)
        with self.assertRaisesRegex(
            TypeError, "operand 'q': expected a tensor on a CUDA device, but got one on the host"
        ):
            fa4.attention(q, q, q)
        with self.assertRaisesRegex(TypeError, "operand 'q': expected a tensor with __dlpack__ .*, but got int"):
            fa4.attention(1, 2, 3)

    def test_strides_that_tma_cannot_take(self):
        tensors = arrays()
        tensors[0].strides = tuple(2 * s for s in (100 * 4100, 4100, 128, 1))
        with self.assertRaisesRegex(
            ValueError, "sequence stride of 'q' .* multiple of 16 bytes as TMA demands, but got 8200"
        ):
            fa4.attention(*tensors[:3], out=tensors[3])

    def test_heads_first(self):
        b, s, h, d = Q
        tensors = arrays()
        for i in (0, 3):
            tensors[i].strides = tuple(2 * n for n in (h * s * d, d, s * d, 1))
        fa4.attention(*tensors[:3], out=tensors[3])
        found = self.driver.read(self.driver.launches[-1], self.full.descriptor)
        self.assertEqual(found["q_map"]["strides"], [16, 256, 25600, 819200])

    def test_empty(self):
        """Nothing to write needs no kernel, also where none could be made."""
        for q, k in (((2, 0, 7, 96), (2, 5, 7, 96)), ((2, 5, 0, 64), (2, 5, 0, 64)), ((0, 5, 3, 8), (0, 5, 1, 8))):
            q, k, v, o = arrays(q=q, k=k)
            self.assertIs(fa4.attention(q, k, v, scale=0.3, out=o), o)
        q, k, v, o = arrays(q=(0, 100, 32, 128), k=(0, 300, 8, 128))
        fa4.attention(q, k, v, out=o)
        self.assertEqual(self.driver.launches, [])

    def test_a_kernel_without_a_meaning(self):
        kernel = fa4.load(write_folder(self.path / "bare", PLAIN))
        with self.assertRaisesRegex(ValueError, "does not say whether it is causal"):
            fa4.use(kernel)
        fa4.use(kernel, causal=True, scale=2.0)
        q, k, v, o = arrays()
        fa4.attention(q, k, v, causal=True, scale=2.0, out=o)
        self.assertEqual(self.launched(), PLAIN["kernel"])


class DLPack(unittest.TestCase):
    """Capsules of NumPy, which are on the host, with the device changed on the way."""

    def setUp(self):
        _driver.set_driver(FakeDriver())

    def tearDown(self):
        _driver.set_driver(None)

    def test_a_capsule(self):
        from fa4._arrays import view_of

        class OnDevice:
            def __init__(self, array):
                self.array, self.streams = array, []

            def __dlpack_device__(self):
                return (2, 1)

            def __dlpack__(self, *, stream=None):
                self.streams.append(stream)
                return self.array.__dlpack__()

        host = np.zeros((3, 4, 6, 8), np.float16)[:, ::2, 1:3]
        array = OnDevice(host)
        view = view_of(array, "q")
        self.assertEqual(
            (view.operand.type, view.operand.shape, view.operand.strides), ("f16", (3, 2, 2, 8), (192, 96, 8, 1))
        )
        self.assertEqual((view.address, view.device, view.stream()), (host.ctypes.data, 1, 0))
        self.assertEqual(array.streams, [1])
        self.assertEqual(view_of(OnDevice(np.zeros(3, np.int32)), "q").operand.type, "i32")


if __name__ == "__main__":
    unittest.main()
