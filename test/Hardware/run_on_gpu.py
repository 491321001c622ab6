# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_on_gpu.py OUT.zip [--cubins DIR] [FAMILY...]: launches every kernel of forms/ once and keeps what it wrote.

Needs the driver of an sm_90 card and nothing else. A cubin DIR/FAMILY.cubin is preferred to the driver's own assembler.
"""

import ctypes
import datetime
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import cases

TYPES = {"u8": 0, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "f32_ftz": 10,
         "tf32": 11}
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
SECONDS = 60  # for one family


class Cuda:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *args):
        rc = getattr(self.lib, name)(*args)
        if rc:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(rc, ctypes.byref(text))
            raise RuntimeError("%s: %s" % (name, (text.value or b"?").decode()))

    def describe(self):
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, self.device)
        version, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, self.device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, self.device)
        return {"card": name.value.decode(), "capability": "%d.%d" % (major.value, minor.value), "cuda": version.value}

    def load(self, image):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def memory(self, data):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(len(data), 256)))
        self.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(len(data)))
        return pointer

    def tensor_map(self, m, base):
        raw = (ctypes.c_char * 192)()
        at = (ctypes.addressof(raw) + 63) // 64 * 64
        rank = len(m["dims"])
        self.call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), TYPES[m["type"]], ctypes.c_uint32(rank),
                  ctypes.c_void_p(base + m.get("offset", 0)), (ctypes.c_uint64 * 5)(*m["dims"]),
                  (ctypes.c_uint64 * 5)(*m["strides"]), (ctypes.c_uint32 * 5)(*m["box"]), (ctypes.c_uint32 * 5)(*[1] * 5), 0,
                  SWIZZLES[m.get("swizzle", "none")], 0, {"zero": 0, "nan": 1}[m.get("fill", "zero")])
        return raw, at

    def launch(self, module, case):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, case.name.encode())
        if case.shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, 8, case.shared)
        buffers = {"in": self.memory(case.input()), "out": self.memory(case.output())}
        maps = [self.tensor_map(m, buffers[m["base"]].value) for m in case.maps]
        addresses = [ctypes.addressof(buffers["in"]), ctypes.addressof(buffers["out"])] + [at for _, at in maps]
        params = (ctypes.c_void_p * len(addresses))(*addresses)
        self.call("cuLaunchKernel", function, case.grid, 1, 1, case.block, 1, 1, case.shared, None, params, None)
        self.call("cuCtxSynchronize")
        out = ctypes.create_string_buffer(case.out_bytes)
        self.call("cuMemcpyDtoH_v2", out, buffers["out"], ctypes.c_size_t(case.out_bytes))
        for b in buffers.values():
            self.call("cuMemFree_v2", b)
        return out.raw


def child(family, cubin, folder, skip):
    """Runs one family's cases after the first `skip`; a line on stdout for each that is begun or done."""
    path = os.path.join(cases.FORMS, family + ".ptx")
    cuda = Cuda()
    print(json.dumps(cuda.describe()), flush=True)
    with open(cubin or path, "rb") as f:
        module = cuda.load(f.read() + b"\0")
    for case in cases.read_family(path)[skip:]:
        print("begin " + case.name, flush=True)
        data = cuda.launch(module, case)
        with open(os.path.join(folder, case.name), "wb") as f:
            f.write(data)
        print("done " + case.name, flush=True)


def run_family(path, cubins, folder, manifest):
    """A kernel that fails or hangs takes its process along; the rest run in a new one."""
    family = os.path.basename(path)[:-4]
    cubin = os.path.join(cubins, family + ".cubin") if cubins else ""
    if not os.path.exists(cubin):
        cubin = ""
    listed, skip = cases.read_family(path), 0
    count = len(listed)
    manifest["ptx"][family] = cases.digest(path)
    manifest["inputs"].update({c.name: c.input_digest() for c in listed})
    while skip < count:
        command = [sys.executable, os.path.abspath(__file__), "--child", family, cubin, folder, str(skip)]
        try:
            r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
            text = r.stdout.decode()
        except subprocess.TimeoutExpired as e:
            text = (e.stdout or b"").decode() + "\ntimeout"
        lines = text.strip().split("\n")
        begun = [line[6:] for line in lines if line.startswith("begin ")]
        done = [line[5:] for line in lines if line.startswith("done ")]
        manifest["cases"] += done
        if lines[0].startswith("{"):
            manifest.update(json.loads(lines[0]))
        skip += len(done)
        if skip < count:
            manifest["failed"][begun[-1] if len(begun) > len(done) else family] = lines[-1]
            print("%s: %s: %s" % (family, begun[-1:], lines[-1]), flush=True)
            if len(begun) == len(done):  # the module did not load
                break
            skip += 1
    print("%s: %d cases" % (family, count), flush=True)


def main():
    if sys.argv[1] == "--child":
        return child(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    args = sys.argv[1:]
    cubins = ""
    if "--cubins" in args:
        at = args.index("--cubins")
        cubins = args[at + 1]
        del args[at:at + 2]
    wanted = args[1:]
    manifest = {"date": datetime.date.today().isoformat(), "cases": [], "failed": {}, "ptx": {}, "inputs": {}}
    with tempfile.TemporaryDirectory() as folder:
        for path in cases.families():
            if not wanted or os.path.basename(path)[:-4] in wanted:
                run_family(path, cubins, folder, manifest)
        with zipfile.ZipFile(args[0], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for name in manifest["cases"]:
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                with open(os.path.join(folder, name), "rb") as f:
                    z.writestr(info, f.read())
            z.writestr(zipfile.ZipInfo("manifest.json", (1980, 1, 1, 0, 0, 0)), json.dumps(manifest, indent=1))
    print("%d kernels ran, %d failed, %d bytes" % (len(manifest["cases"]), len(manifest["failed"]), os.path.getsize(args[0])))


if __name__ == "__main__":
    main()
