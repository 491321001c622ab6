// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptxsim/Watch.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace ptxsim;

Result ptxsim::runWatched(const Module &module, const Launch &launch,
                          Memory &memory, const Options &options,
                          std::chrono::milliseconds period,
                          const std::function<bool(const Progress &)> &watch) {
  using Clock = std::chrono::steady_clock;
  std::atomic<uint64_t> done{0}, total{0};
  std::atomic<bool> stop{false};
  Options watched = options;
  watched.progress = [&](uint64_t d, uint64_t t) {
    done = d;
    total = t;
    if (options.progress)
      options.progress(d, t);
  };
  watched.interrupted = [&] {
    return stop || (options.interrupted && options.interrupted());
  };

  Result result;
  std::mutex mutex;
  std::condition_variable wake;
  bool over = false;
  Clock::time_point start = Clock::now();
  std::thread runner([&] {
    result = run(module, launch, memory, watched);
    std::lock_guard<std::mutex> lock(mutex);
    over = true;
    wake.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex);
  while (!wake.wait_for(lock, period, [&] { return over; })) {
    // Without the lock: the watcher may take its time, the run ends meanwhile.
    lock.unlock();
    std::chrono::duration<double> elapsed = Clock::now() - start;
    if (!watch({done, total, elapsed.count()}))
      stop = true;
    lock.lock();
  }
  lock.unlock();
  runner.join();
  return result;
}
