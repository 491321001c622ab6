# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The numeric cases on a GPU.

    python3 test/GPU/run_on_gpu.py prepare --work DIR       # where fa4-compile and ptx-sim are
    python3 test/GPU/run_on_gpu.py run --work DIR --out FILE  # where the GPU is

The first makes every kernel of the cases and needs no GPU; the second needs NumPy,
cuda-bindings and the folder python of this repository, and neither compiler nor simulator.
DIR may be moved in between. With ptxas the kernels become cubins first; without it the
driver makes what it runs of the PTX. FILE says what ran, on what, and with which figures.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NUMERIC = HERE.parent / "Numeric"
SUPPORT = NUMERIC / "support"
ROOT = HERE.parent.parent
CHIP = "sm_90a"
LEFT_OUT = ("report", "judge", "faults")  # no cases of kernels
SAMPLES = 24  # kernels whose source goes into the results, so that others can compile them


def files():
    found = sorted(NUMERIC.glob("*.py")) + sorted(NUMERIC.glob("cases/*.py")) + sorted(HERE.glob("cases/*.py"))
    return [path for path in found if path.stem not in LEFT_OUT]


def environment():
    paths = [str(SUPPORT), str(ROOT / "python")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def run_file(path, work, option, limit):
    """One file's cases in a process; its record, with what it printed where it failed."""
    folder = work / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, str(path), "--work", str(folder), "--chip", CHIP, "--full", option]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=limit)
        text = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        text = f"{error.stdout or ''}\nno end after {limit} s"
    if not report.exists():
        return {"group": path.stem, "cases": 0, "failed": ["did not finish"], "text": text[-4000:], "ran": [], "seconds": 0}
    record = json.loads(report.read_text())
    return {**record, "text": text[-4000:]} if record["failed"] else record


def prepare(args):
    work = Path(args.work)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        chosen = [path for path in files() if args.only in path.stem]
        for path, record in zip(chosen, pool.map(lambda p: run_file(p, work, "--prepare", 7200), chosen)):
            print(f"{path.stem}: {record['cases']} cases", record.get("text", "") if not record["cases"] else "", flush=True)
    tool = shutil.which("fa4-compile")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    # The last commit that changed the compiler.
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--", "include", "lib", "tools"]
    commit = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    (work / "compiler.json").write_text(json.dumps({"commit": commit, "version": " ".join(version.split())}))


def assemble(work):
    """Cubins of all kernels; the assembler, its warnings, and kernels that spill."""
    ptxas, kept = shutil.which("ptxas"), work / "assembled.json"
    if kept.exists():
        return json.loads(kept.read_text())
    if not ptxas:
        return {"assembler": "the driver"}
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    result = {"assembler": "ptxas " + re.search(r"V([\d.]+)", version)[1], "warnings": {}, "spilled": [], "failed": {}}
    folders = sorted(path.parent for path in work.glob("*/*/f_attention.ptx"))

    def one(folder):
        chip = re.search(r"^\.target (\w+)", (folder / "f_attention.ptx").read_text(), re.M)[1]
        command = [ptxas, "-v", f"-arch={chip}", "f_attention.ptx", "-o", "f_attention.cubin"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        name, said = f"{folder.parent.name}/{folder.name}", done.stdout + done.stderr
        if done.returncode:
            result["failed"][name] = said[-500:]
            return
        from cuda_harness import ASSEMBLED, sha256

        (folder / ASSEMBLED).write_text(sha256(folder / "f_attention.ptx"))
        if "warning" in said:
            result["warnings"][name] = said[-500:]
        if not re.search(r"\b0 bytes spill stores, 0 bytes spill loads", said):
            result["spilled"].append(name)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, folders))
    result["kernels"] = len(folders)
    kept.write_text(json.dumps(result))
    return result


def card():
    """The card and its driver."""
    from fa4._driver import check, get_device, get_driver

    driver = get_driver()
    device = get_device(0)
    name = check(driver.cuDeviceGetName(128, device.handle)).split(b"\0")[0].decode()
    version = int(check(driver.cuDriverGetVersion()))
    module = ""
    try:
        module = re.search(r"\d+\.\d+[.\d]*", Path("/proc/driver/nvidia/version").read_text())[0]
    except (OSError, TypeError):
        pass
    return {"card": name, "driver": module or "unknown", "CUDA": f"{version // 1000}.{version % 1000 // 10}"}


def samples(work, records):
    """Source, options and PTX hash of some kernels, spread over all."""
    every = sorted((path.stem, key, digest) for path, r in records for key, digest in r.get("ptx", {}).items())
    chosen = []
    for stem, key, digest in every[:: max(1, len(every) // SAMPLES)]:
        source = (work / stem / key / "in.mlir").read_text()
        options = (work / stem / key / "options.txt").read_text()
        if f"<{CHIP}" in source:
            chosen.append({"source": source, "schedule": options, "ptx": digest})
    return chosen


def write(path, results, some):
    """A line a file of cases. Where only some ran, the others' results of the same kernels stay."""
    if some and path.exists():
        old = json.loads(path.read_text())
        same = ("card", "driver", "CUDA", "chip", "compiler", "assembler")
        if any(old[key] != results[key] for key in same):
            sys.exit(f"'{path}' is of another card, driver, assembler or compiler: run all files again")
        results = {**old, "date": results["date"], "files": {**old["files"], **results["files"]}}
    fields = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in results.items() if key not in ("files", "samples")]
    for key, opening, closing in (("files", "{", "}"), ("samples", "[", "]")):
        if key == "files":
            lines = [f"{json.dumps(name)}: {json.dumps(record)}" for name, record in sorted(results[key].items())]
        else:
            lines = [json.dumps(sample) for sample in results[key]]
        fields.append(f"{json.dumps(key)}: {opening}\n " + ",\n ".join(lines) + f"\n{closing}")
    path.write_text("{" + ",\n".join(fields) + "}\n")


def run(args):
    sys.path[:0] = [str(SUPPORT), str(ROOT / "python")]
    work, began = Path(args.work), time.time()
    made = assemble(work)
    print(f"assembled in {time.time() - began:.0f} s", flush=True)
    chosen = [path for path in files() if args.only in path.stem]
    results = {**card(), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "chip": CHIP}
    results |= {"compiler": json.loads((work / "compiler.json").read_text()), **made, "files": {}}
    records = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        left = {pool.submit(run_file, path, work, "--gpu", args.limit): path for path in chosen}
        for future in concurrent.futures.as_completed(left):
            path, record = left[future], future.result()
            records.append((path, record))
            print(f"{path.stem}: {record['cases']} cases, {len(record['failed'])} failed, {record['seconds']:.0f} s", flush=True)
            print(record.get("text", ""), end="", flush=True)
    for path, record in sorted(records, key=lambda item: item[0].stem):
        name = path.relative_to(HERE.parent).as_posix()
        kept = {k: v for k, v in record.items() if k not in ("ptx", "group", "chip", "run")}
        results["files"][name] = {**kept, "seconds": round(record["seconds"])}
    results["samples"] = samples(work, records)
    write(Path(args.out), results, bool(args.only))
    cases, failed = sum(r["cases"] for _, r in records), sum(len(r["failed"]) for _, r in records)
    print(f"{cases} cases, {failed} failed, {time.time() - began:.0f} s, on {results['card']}")
    sys.exit(1 if failed or not cases else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("prepare", "run"))
    parser.add_argument("--work", required=True)
    parser.add_argument("--out", default="results.json")
    parser.add_argument("--only", default="", help="the files whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=240, help="seconds that a file may take on the GPU")
    args = parser.parse_args()
    prepare(args) if args.step == "prepare" else run(args)


if __name__ == "__main__":
    main()
