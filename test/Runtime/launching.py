# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""Kernel folders loaded and launched, on a driver that records."""

import json
import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import fa4
from fa4 import _driver
from fake_driver import DeviceArray, FakeDriver, Result, abi_page, write_folder

DESCRIPTOR = json.loads(abi_page(os.environ["FA4_SOURCE"])[0])
DESCRIPTOR["chip"] = "sm_90a"
NAME = DESCRIPTOR["kernel"]
B, SQ, SKV, HQ, HKV, D = 2, 1000, 3000, 32, 8, 128


def tensors(device=0, offset=0, stream=None):
    shapes = ((B, SQ, HQ, D), (B, SKV, HKV, D), (B, SKV, HKV, D), (B, SQ, HQ, D))
    made = [DeviceArray(s, address=(i + 1 << 32) + offset, device=device, stream=stream) for i, s in enumerate(shapes)]
    return made + [DeviceArray((B, HQ, SQ), dtype="<f4", address=(5 << 32) + offset, device=device)]


class Launching(unittest.TestCase):
    def setUp(self):
        self.driver = FakeDriver()
        _driver.set_driver(self.driver)
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = write_folder(Path(self.scratch.name) / "kernel", DESCRIPTOR)
        self.kernel = fa4.load(self.folder)

    def tearDown(self):
        _driver.set_driver(None)
        self.scratch.cleanup()

    def test_what_is_launched(self):
        self.kernel(*tensors())
        (launch,) = self.driver.launches
        self.assertEqual((launch.grid, launch.block, launch.shared), ((256, 1, 1), (512, 1, 1), 230592))
        self.assertEqual(launch.function, ("function", NAME.encode(), "context 0"))
        self.assertEqual(launch.contexts, ["context 0"])
        self.assertEqual(self.driver.attributes, [("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 230592, 0)])
        self.assertEqual(self.driver.images, [b"\x7fELF image"])
        found = self.driver.read(launch, self.kernel.descriptor)
        q = dict(type="CU_TENSOR_MAP_DATA_TYPE_FLOAT16", base=1 << 32, dims=[128, 1, 1000, 32, 2],
                 strides=[16, 8192, 256, 8192000], box=[64, 1, 128, 1, 1],
                 modes=["CU_TENSOR_MAP_INTERLEAVE_NONE", "CU_TENSOR_MAP_SWIZZLE_128B",
                        "CU_TENSOR_MAP_L2_PROMOTION_L2_256B", "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"])  # fmt: skip
        self.assertEqual(found["q_map"], q)
        self.assertEqual(found["o_map"], {**q, "base": 4 << 32})
        self.assertEqual(found["v_map"]["base"], 3 << 32)
        self.assertEqual(found["lse"], 5 << 32)
        scalars = {name: value for name, value in found.items() if not name.endswith("_map") and name != "lse"}
        self.assertEqual(scalars, dict(seq_q=1000, seq_kv=3000, query_heads=32, tile_heads=32, tile_heads_per_kv=4,
                                       m_blocks=4, tasks=256, heads_per_section=64, blocks=256))  # fmt: skip

    def test_a_call_seen_before_only_launches(self):
        self.kernel(*tensors())
        seen = len(self.driver.calls)
        self.kernel(*tensors())
        new = [call for call in self.driver.calls[seen:] if call != "cuPointerGetAttribute"]
        self.assertEqual(new, ["cuCtxPushCurrent", "cuLaunchKernel", "cuCtxPopCurrent"])
        self.assertEqual(self.driver.launches[0].parameters, self.driver.launches[1].parameters)

    def test_new_addresses_encode_what_moved(self):
        first = tensors()
        self.kernel(*first)
        moved = [DeviceArray(first[0].shape, address=9 << 32)] + first[1:]
        self.kernel(*moved)
        self.assertEqual(len(self.driver.maps), 5)
        found = [self.driver.read(launch, self.kernel.descriptor) for launch in self.driver.launches]
        self.assertEqual([f["q_map"]["base"] for f in found], [1 << 32, 9 << 32])
        self.assertEqual(found[0]["k_map"], found[1]["k_map"])
        # The earlier launch's memory is not written again.
        self.kernel(*first)
        self.assertEqual(self.driver.read(self.driver.launches[2], self.kernel.descriptor), found[0])

    def test_other_shapes_are_bound_anew(self):
        self.kernel(*tensors())
        few = [DeviceArray((1, 5, HQ, D), address=1 << 33) if i in (0, 3) else
               DeviceArray((1, SKV, HKV, D), address=1 << 34) for i in range(4)]  # fmt: skip
        few.append(DeviceArray((1, HQ, 5), dtype="<f4", address=1 << 35))
        self.kernel(*few)
        self.assertEqual(self.driver.launches[1].grid, (32, 1, 1))
        self.assertEqual(self.driver.read(self.driver.launches[1], self.kernel.descriptor)["seq_q"], 5)
        self.assertEqual(self.driver.calls.count("cuLibraryLoadData"), 1)

    def test_streams(self):
        self.kernel(*tensors(stream=77))
        self.kernel(*tensors())
        self.assertEqual([launch.stream for launch in self.driver.launches], [77, 0])

    def test_devices(self):
        """H4: each operand's device has its own context, function and tensor maps."""
        self.kernel(*tensors())
        self.kernel(*tensors(device=1))
        self.assertEqual([launch.contexts for launch in self.driver.launches], [["context 0"], ["context 1"]])
        self.assertEqual(self.driver.launches[1].function[2], "context 1")
        self.assertEqual(self.driver.calls.count("cuLibraryLoadData"), 1)
        mixed = tensors()
        mixed[2] = tensors(device=1)[2]
        with self.assertRaisesRegex(ValueError, "operand 'v': expected a tensor on device 0 as 'q', but got one on 1"):
            self.kernel(*mixed)

    def test_a_thread_without_a_context(self):
        self.driver.fail["cuLaunchKernel"] = [Result.CUDA_ERROR_INVALID_CONTEXT]
        self.kernel(*tensors())
        self.assertEqual(len(self.driver.launches), 1)

    def test_threads_at_once(self):
        """The first calls of a shape, from threads: each launch has its own operands in all maps."""
        seen = []

        class Reading(FakeDriver):
            def cuLaunchKernel(self, function, *arguments):
                given = self.read(SimpleNamespace(parameters=arguments[8]), kernel.descriptor)
                bases = [given[name + "_map"]["base"] - (i + 1 << 32) for i, name in enumerate("qkvo")]
                seen.append((*bases, given["lse"] - (5 << 32)))
                return (Result.CUDA_SUCCESS,)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for _ in range(150):
                _driver.set_driver(Reading())
                kernel = fa4.load(self.folder)
                barrier = threading.Barrier(4)

                def call(i):
                    barrier.wait()
                    kernel(*tensors(offset=i << 20))

                threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual(sorted(seen), [(i << 20,) * 5 for i in range(4)])
                seen.clear()
        finally:
            sys.setswitchinterval(interval)

    def test_streams_of_several_frameworks(self):
        """The launch waits for the streams of all operands, and they for it."""
        several = tensors(stream=77)
        several[1].stream, several[2].stream, several[3].stream = 78, 1, None
        self.kernel(*several)
        self.assertEqual(sorted(self.driver.order[:2]), ["77 waits for 0", "77 waits for 78"])
        self.assertEqual(self.driver.order[2], "launch on 77")
        self.assertEqual(sorted(self.driver.order[3:]), ["0 waits for 77", "78 waits for 77"])
        for call in ("cuEventRecord", "cuEventDestroy"):
            self.assertEqual(self.driver.calls.count(call), 4)

    def test_memory_that_cannot_be_written(self):
        operands = tensors()
        operands[3].readonly = True
        with self.assertRaisesRegex(TypeError, "operand 'o': expected memory that can be written"):
            self.kernel(*operands)
        operands[3].readonly, operands[0].readonly = False, True
        self.kernel(*operands)

    def test_errors_of_the_driver(self):
        self.driver.fail["cuLaunchKernel"] = [Result.CUDA_ERROR_INVALID_VALUE]
        with self.assertRaisesRegex(fa4.CudaError, f"the launch of '{NAME}' failed: CUDA_ERROR_INVALID_VALUE: as the"):
            self.kernel(*tensors())
        self.driver.fail["cuTensorMapEncodeTiled"] = [Result.CUDA_ERROR_INVALID_VALUE]
        with self.assertRaisesRegex(fa4.CudaError, "CUDA_ERROR_INVALID_VALUE"):
            self.kernel(*tensors(offset=1 << 20))
        self.assertEqual(self.driver.contexts, [])
        self.kernel(*tensors(offset=1 << 20))
        self.assertEqual(len(self.driver.launches), 1)

    def test_an_address_that_tma_cannot_take(self):
        message = "parameter 'q_map': base: expected an address that is a multiple of 16 bytes"
        for _ in range(2):  # the first call, and one that knows the shapes
            with self.assertRaisesRegex(ValueError, message):
                self.kernel(*tensors(offset=8))
            self.kernel(*tensors())
        self.kernel(*tensors(offset=16))

    def test_nothing_to_launch(self):
        empty = [DeviceArray((B, 0, HQ, D)), *tensors()[1:3], DeviceArray((B, 0, HQ, D)),
                 DeviceArray((B, HQ, 0), dtype="<f4")]  # fmt: skip
        self.kernel(*empty)
        self.assertEqual(self.driver.launches, [])

    def test_another_chip(self):
        _driver.set_driver(FakeDriver(capability=(8, 0)))
        kernel = fa4.load(self.folder)
        with self.assertRaisesRegex(ValueError, "was made for sm_90a, but device 0 is sm_80"):
            kernel(*tensors())

    def refused_image(self, call, log, image=("ptx", b".version 8.8\n")):
        """What is said of an image that `call` refuses."""
        self.driver.fail = {call: [Result.CUDA_ERROR_INVALID_PTX], "cuModuleLoadDataEx": [Result.CUDA_ERROR_INVALID_PTX]}
        self.driver.jit_log = log
        folder = Path(self.scratch.name) / f"refused{len(list(Path(self.scratch.name).iterdir()))}"
        kernel = fa4.load(write_folder(folder, DESCRIPTOR, image=image))
        with self.assertRaises(fa4.CudaError) as caught:
            kernel(*tensors())
        self.assertEqual((self.driver.contexts, self.driver.launches), ([], []))
        # The failure is not kept.
        kernel(*tensors())
        self.assertEqual(len(self.driver.launches), 1)
        self.driver.launches.clear()
        return str(caught.exception).replace(str(folder), "FOLDER")

    def test_ptx_that_does_not_load(self):
        """N5: the compiler's own words, and what it was given. A library may be compiled late."""
        for call in ("cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction"):
            said = self.refused_image(call, b"ptxas application ptx input, line 7; error : Unknown symbol 'x'\nptxas fatal : aborted\n")
            self.assertEqual(
                said,
                f"kernel '{NAME}' of 'FOLDER' cannot be loaded: CUDA_ERROR_INVALID_PTX: as the test asked\n"
                "  made for sm_90a, PTX 8.8, as PTX; device 0 is sm_90, its driver of CUDA 13.0\n"
                "  the driver's compiler says:\n"
                "    ptxas application ptx input, line 7; error : Unknown symbol 'x'\n"
                "    ptxas fatal : aborted",
            )
        self.assertIn("the driver's compiler says nothing", self.refused_image("cuLibraryLoadData", b""))
        long = self.refused_image("cuLibraryLoadData", b"error\n" * 100_000)
        self.assertRegex(long, r"(\n    error){30}\n    \.\.\. and \d+ lines more$")
        said = self.refused_image("cuKernelGetFunction", b"", ("cubin", b"\x7fELF"))
        self.assertTrue(said.endswith("as a cubin; device 0 is sm_90, its driver of CUDA 13.0"), said)

    def test_loading_during_a_capture(self):
        """The first call may be one that a graph captures."""
        self.kernel(*tensors())
        self.assertEqual(self.driver.load_modes, ["CU_STREAM_CAPTURE_MODE_RELAXED"])
        self.assertEqual(self.driver.capture_mode, "CU_STREAM_CAPTURE_MODE_GLOBAL")

    def test_arguments(self):
        with self.assertRaisesRegex(TypeError, r"expected 5 tensors \(q, k, v, o, lse\), got 4"):
            self.kernel(*tensors()[:4])
        with self.assertRaisesRegex(TypeError, "operand 'q': expected a tensor with __dlpack__ or .*, but got list"):
            self.kernel([1.0], *tensors()[1:])
        with self.assertRaisesRegex(
            TypeError, "operand 'k': expected a tensor on a CUDA device, but got one on the host"
        ):
            self.kernel(tensors()[0], np.zeros((B, SKV, HKV, D), np.float16), *tensors()[2:])
        odd = DeviceArray((B, SQ, HQ, D))
        odd.strides = (1, 1, 1, 1)
        with self.assertRaisesRegex(ValueError, "operand 'q': expected strides of whole elements"):
            self.kernel(odd, *tensors()[1:])

    def test_many_addresses_do_not_pile_up(self):
        from fa4 import _plan

        (self.kernel)(*tensors())
        plan = next(iter(self.kernel._plans.values()))
        for i in range(_plan.KEPT + 10):
            plan.launch_at(tuple((i + 1) << 12 for _ in range(5)))
        self.assertLess(len(plan.launches), _plan.KEPT + 1)


class Folders(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.path = Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def test_versions_and_meaning(self):
        kernel = fa4.load(write_folder(self.path / "a", DESCRIPTOR, meaning=(True, None)))
        self.assertEqual(kernel.versions, DESCRIPTOR["versions"])
        self.assertEqual(kernel.meaning, fa4.Meaning(True, None))
        self.assertEqual(kernel.operands, ("q", "k", "v", "o", "lse"))
        self.assertIsNone(fa4.load(write_folder(self.path / "b", DESCRIPTOR)).meaning)
        self.assertEqual(fa4.load(self.path / "b", causal=False, scale=0.5).meaning, fa4.Meaning(False, 0.5))

    def test_another_meaning_than_the_kernels(self):
        folder = write_folder(self.path / "a", DESCRIPTOR, meaning=(False, 0.5))
        self.assertEqual(fa4.load(folder, causal=False, scale=0.5).meaning, fa4.Meaning(False, 0.5))
        with self.assertRaisesRegex(ValueError, "compiled with causal=False: expected the same or none, but got True"):
            fa4.load(folder, causal=True)
        with self.assertRaisesRegex(ValueError, "compiled with scale=0.5: expected the same or none, but got 0.25"):
            fa4.load(folder, scale=0.25)
        with self.assertRaisesRegex(ValueError, "compiled with causal=False"):
            fa4.use(fa4.load(folder), causal=True)
        with self.assertRaisesRegex(ValueError, "give causal beside scale"):
            fa4.load(write_folder(self.path / "b", DESCRIPTOR), scale=0.5)
        with self.assertRaisesRegex(TypeError, "use: expected a kernel, as of fa4.load, but got str"):
            fa4.use(str(folder))

    def test_ptx_without_a_cubin(self):
        kernel = fa4.load(write_folder(self.path / "a", DESCRIPTOR, image=("ptx", b".version 8.8")))
        self.assertEqual(kernel.image, b".version 8.8\0")

    def test_several(self):
        write_folder(self.path / "a", DESCRIPTOR)
        for suffix in ("json", "cubin"):
            text = (self.path / "a" / f"{NAME}.{suffix}").read_bytes().replace(NAME.encode(), b"second")
            (self.path / "a" / f"second.{suffix}").write_bytes(text)
        with self.assertRaisesRegex(ValueError, f"holds the kernels {NAME}, second: say which"):
            fa4.load(self.path / "a")
        self.assertEqual(fa4.load(self.path / "a", "second").name, "second")
        with self.assertRaisesRegex(FileNotFoundError, "no kernel 'third' in"):
            fa4.load(self.path / "a", "third")

    def test_what_is_missing_or_broken(self):
        with self.assertRaisesRegex(FileNotFoundError, "no kernel in"):
            fa4.load(self.path)
        folder = write_folder(self.path / "a", DESCRIPTOR, meaning=(False, None))
        (folder / f"{NAME}.cubin").unlink()
        with self.assertRaisesRegex(FileNotFoundError, f"no {NAME}.cubin and no {NAME}.ptx"):
            fa4.load(folder)
        (folder / f"{NAME}.ptx").write_text("")
        (folder / "fa4.json").write_text("{}")
        with self.assertRaisesRegex(ValueError, "fa4.json: not what fa4.compile writes"):
            fa4.load(folder)
        (folder / f"{NAME}.json").write_text("{}")
        with self.assertRaisesRegex(fa4.DescriptorError, f"{NAME}.json: schema: the field is missing"):
            fa4.load(folder)


if __name__ == "__main__":
    unittest.main()
