// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs PTX on the CPU: ptx-sim KERNEL.ptx --launch LAUNCH.json

#include "ptxsim/LaunchFile.h"
#include "ptxsim/Simulator.h"
#include "ptxsim/Watch.h"

#include <atomic>
#include <cctype>
#include <cerrno>
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
  --help              print this

Exit code: 0 done, 1 fault, deadlock or limit, 2 error in the input.
)";

namespace {
struct Arguments {
  std::string ptx, launch;
  bool check = false, stats = false, help = false;
  Options options;
};
} // namespace

static bool parseNumber(const char *text, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(text, &end, 0);
  return std::isdigit((unsigned char)*text) && !*end && !errno;
}

static bool wrong(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return false;
}

static bool parseArguments(int argc, char **argv, Arguments &args) {
  args.options.threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    uint64_t number = 0;
    const char *v = nullptr;
    for (const char *option :
         {"--launch", "--mode", "--seed", "--threads", "--max-steps"})
      if (a == option && !(v = i + 1 < argc ? argv[++i] : nullptr))
        return wrong("expected a value after '" + a + "'");
    if (a == "--check") {
      args.check = true;
    } else if (a == "--help" || a == "-h") {
      args.help = true;
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
      args.launch = v;
    } else if (a == "--mode") {
      if (!asyncModeByName(v, args.options.mode))
        return wrong("unknown mode '" + std::string(v) +
                     "'; expected eager, lazy or random");
    } else if (a == "--seed" || a == "--threads" || a == "--max-steps") {
      if (!parseNumber(v, number))
        return wrong("expected a number after '" + a + "', but got '" + v +
                     "'");
      if (a == "--seed")
        args.options.seed = number;
      else if (a == "--threads")
        args.options.threads = unsigned(std::min<uint64_t>(number, 256));
      else
        args.options.maxSteps = number;
    } else if (!a.empty() && a[0] == '-') {
      return wrong("unknown option '" + a + "'");
    } else if (a.empty() || !args.ptx.empty()) {
      return wrong("unexpected argument '" + a + "'");
    } else {
      args.ptx = a;
    }
  }
  if (args.help)
    return true;
  if (args.ptx.empty())
    return wrong("expected a PTX file");
  return args.check == args.launch.empty() ||
         wrong("expected either '--launch' or '--check'");
}

static int checkModule(const Module &module, const std::string &file) {
  int rc = 0;
  if (module.entries().empty()) {
    std::fprintf(stderr, "error: '%s' has no kernel\n", file.c_str());
    return 2;
  }
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
  for (const Fault &warning : result.warnings)
    std::fprintf(stderr, "warning: %s\n", warning.str().c_str());
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
    std::fputs("see ptx-sim --help\n", stderr);
    return 2;
  }
  if (args.help) {
    std::fputs(kUsage, stdout);
    return 0;
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
