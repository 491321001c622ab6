// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs PTX on the CPU: ptx-sim KERNEL.ptx --launch LAUNCH.json

#include "ptxsim/LaunchFile.h"
#include "ptxsim/Simulator.h"
#include "ptxsim/Watch.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

using namespace ptxsim;

static std::atomic<bool> gInterrupted{false};

static void onInterrupt(int) { gInterrupted = true; }

static const char kUsage[] =
    R"(usage: ptx-sim KERNEL.ptx --launch LAUNCH.json [options]
       ptx-sim KERNEL.ptx --check

  --launch FILE       descriptor, tensors and scalars (docs/simulator.md)
  --check             parse and decode every kernel, run nothing
  --mode MODE         when asynchronous work completes: eager (default), lazy
                      or random
  --seed N            seed of the random mode
  --threads N         host threads (default: all)
  --max-steps N       warp instructions that a CTA may execute
  --strict-warps      diverged lanes meet again only at '.sync' instructions
  --poison-loads      tcgen05.ld fills registers at tcgen05.wait::ld only
  --race              happens-before races on shared memory and TMEM;
                      --race=formal asks for tcgen05 fences too
  --stats             print counts at the end

Exit code: 0 done, 1 fault, deadlock or limit, 2 error in the input.
)";

namespace {
struct Arguments {
  std::string ptx, launch;
  bool check = false, stats = false;
  Options options;
};
} // namespace

static bool parseNumber(const char *text, uint64_t &value) {
  char *end = nullptr;
  value = std::strtoull(text, &end, 0);
  return *text && !*end;
}

static bool parseArguments(int argc, char **argv, Arguments &args) {
  args.options.threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    auto value = [&]() -> const char * {
      return i + 1 < argc ? argv[++i] : nullptr;
    };
    uint64_t number = 0;
    if (a == "--check") {
      args.check = true;
    } else if (a == "--stats") {
      args.stats = true;
    } else if (a == "--strict-warps") {
      args.options.strictConvergence = true;
    } else if (a == "--poison-loads") {
      args.options.poisonUnwaitedLoads = true;
    } else if (a == "--race") {
      args.options.race = RaceMode::On;
    } else if (a == "--race=formal") {
      args.options.race = RaceMode::Formal;
    } else if (a == "--launch") {
      const char *v = value();
      if (!v)
        return false;
      args.launch = v;
    } else if (a == "--mode") {
      const char *v = value();
      if (!v || !asyncModeByName(v, args.options.mode))
        return false;
    } else if (a == "--seed" || a == "--threads" || a == "--max-steps") {
      const char *v = value();
      if (!v || !parseNumber(v, number))
        return false;
      if (a == "--seed")
        args.options.seed = number;
      else if (a == "--threads")
        args.options.threads = unsigned(std::min<uint64_t>(number, 256));
      else
        args.options.maxSteps = number;
    } else if (!a.empty() && a[0] != '-' && args.ptx.empty()) {
      args.ptx = a;
    } else {
      return false;
    }
  }
  return !args.ptx.empty() && args.check == args.launch.empty();
}

static int checkModule(const Module &module, const std::string &file) {
  int rc = 0;
  for (const Diagnostic &d : check(module)) {
    std::fprintf(stderr, "%s\n", d.str(file).c_str());
    rc = 2;
  }
  return rc;
}

static int runLaunch(const Module &module, Arguments &args) {
  Memory memory;
  LaunchFile file;
  std::string error;
  if (!loadLaunchFile(args.launch, memory, file, error)) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 2;
  }
  Result result;
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  std::signal(SIGINT, onInterrupt);
  args.options.interrupted = [] { return gInterrupted.load(); };
  bool shown = false;
  auto watch = [&](const Progress &p) {
    std::fprintf(stderr, "\r%llu of %llu CTAs, %u s",
                 (unsigned long long)p.done, (unsigned long long)p.total,
                 unsigned(p.seconds));
    shown = true;
    return true;
  };
  if (!file.skip)
    result = runWatched(module, file.launch, memory, args.options,
                        std::chrono::seconds(1), watch);
  if (shown)
    std::fputc('\n', stderr);
  if (result.status == Status::Error) {
    std::fprintf(stderr, "error: %s\n", result.message.c_str());
    return 2;
  }
  if (!result.ok())
    std::fprintf(stderr, "%s\n", result.str().c_str());
  bool partial = result.status == Status::Interrupted;
  if (partial)
    std::fprintf(stderr, "partial results are written as *.partial.npy\n");
  if ((result.ok() || partial) && !writeOutputs(file, memory, error, partial)) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 2;
  }
  if (args.stats)
    std::printf("ctas %llu\nwarp instructions %llu\ntensor instructions "
                "%llu\ntma instructions %llu\nseconds %.2f\n",
                (unsigned long long)result.stats.ctas,
                (unsigned long long)result.stats.warpInstructions,
                (unsigned long long)result.stats.tensorInstructions,
                (unsigned long long)result.stats.tmaInstructions, seconds());
  return result.ok() ? 0 : 1;
}

int main(int argc, char **argv) {
  Arguments args;
  if (!parseArguments(argc, argv, args)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::ifstream in(args.ptx, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) {
    std::fprintf(stderr, "error: cannot read '%s'\n", args.ptx.c_str());
    return 2;
  }
  Diagnostic diag;
  auto module = Module::parse(text.str(), diag);
  if (!module) {
    std::fprintf(stderr, "%s\n", diag.str(args.ptx).c_str());
    return 2;
  }
  return args.check ? checkModule(*module, args.ptx) : runLaunch(*module, args);
}
