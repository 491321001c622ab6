// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The race detector: each order that PTX asks for, with it and without it.

#include "TestUtil.h"

using namespace ptxsim;

namespace {

struct Verdict {
  std::string kind; // "" when nothing is reported, "warned" of what is no fault
  std::string text;
};

Verdict judge(const std::string &body, AsyncMode mode,
              RaceMode race = RaceMode::On, bool poison = false) {
  Options o = modeOptions(mode, 3);
  o.race = race;
  o.poisonUnwaitedLoads = poison;
  KernelRun r = runThreads(160, body, o, 8192);
  if (r.result.ok() && !r.result.warnings.empty())
    return {"warned", r.result.warnings[0].str()};
  if (r.result.ok())
    return {"", ""};
  if (r.result.faults.empty())
    return {"not run", r.result.str()};
  return {r.result.faults[0].kind, r.result.str()};
}

void expect(const std::string &kind, const std::string &body,
            const std::string &words = "", RaceMode race = RaceMode::On,
            bool poison = false) {
  for (AsyncMode mode :
       {AsyncMode::Eager, AsyncMode::Lazy, AsyncMode::Random}) {
    Verdict v = judge(body, mode, race, poison);
    EXPECT_EQ(v.kind, kind) << v.text << "\nmode " << int(mode) << body;
    EXPECT_NE(v.text.find(words), std::string::npos) << v.text;
  }
}

/// Warp 0 runs \p first and warp 4 \p second. Slots are words of shared memory,
/// one a lane; mbarriers lie at dyn + 4096 (32 arrivals) and dyn + 4104 (one).
std::string twoWarps(
    const std::string &first, const std::string &second,
    const std::string &fence = "@%lead fence.mbarrier_init.release.cluster;") {
  return R"(
 .reg .pred %lead, %elected; .reg .b32 %warp, %slot, %tm;
 setp.eq.u32 %lead, %thread, 0; shr.u32 %warp, %thread, 5;
 and.b32 %slot, %thread, 31; setp.eq.u32 %elected, %slot, 0;
 shl.b32 %slot, %slot, 2;
 mov.u32 %w50, dyn; add.u32 %slot, %slot, %w50; mov.b32 %w51, 0;
 setp.eq.u32 %p0, %warp, 0; setp.eq.u32 %p4, %warp, 4;
 @%p4 st.shared.u32 [%slot], %w51;
 @%lead mbarrier.init.shared.b64 [dyn+4096], 32;
 @%lead mbarrier.init.shared.b64 [dyn+4104], 1;
 )" + fence +
         R"(
 bar.sync 0;
 @%p0 bra first;
 @%p4 bra second;
 bra end;
first:
)" + first +
         "\n bra end;\nsecond:\n" + second + "\nend:\n bar.sync 0;\n";
}

const std::string kArrive = " mbarrier.arrive.shared.b64 %x9, [dyn+4096];\n";
const std::string kWait = "w: mbarrier.try_wait.parity.shared.b64 %p8, "
                          "[dyn+4096], 0;\n @!%p8 bra w;\n";
const std::string kStore = " st.shared.u32 [%slot], %thread;\n";
const std::string kLoad = " ld.shared.u32 %w52, [%slot];\n";
const std::string kFence = " fence.proxy.async.shared::cta;\n";

TEST(Race, MBarriers) {
  expect("", twoWarps(kStore + kArrive, kWait + kLoad));
  expect("race", twoWarps(kStore + kArrive, kLoad + kWait));
  expect("race", twoWarps(kArrive + kStore, kWait + kLoad),
         "no barrier orders the two");
  expect("", twoWarps(kLoad + kArrive, kWait + kStore));
  expect("race", twoWarps(kArrive + kLoad, kWait + kStore),
         "is not ordered after");
  // A relaxed arrival passes nothing on.
  expect("race", twoWarps(kStore + " mbarrier.arrive.relaxed.cta.shared.b64 "
                                   "%x9, [dyn+4096];\n",
                          kWait + kLoad));
}

TEST(Race, NamedBarriers) {
  expect("",
         twoWarps(kStore + " bar.arrive 1, 64;", " bar.sync 1, 64;" + kLoad));
  expect("race",
         twoWarps(kStore + " bar.sync 1, 64;", kLoad + " bar.arrive 1, 64;"));
  expect("race",
         twoWarps(" bar.sync 1, 64;" + kStore, " bar.arrive 1, 64;" + kLoad));
}

TEST(Race, LanesOfAWarp) {
  std::string next = " xor.b32 %w53, %slot, 4; ld.shared.u32 %w52, [%w53];\n";
  expect("race", twoWarps(kStore + next, ""), "bar.warp.sync");
  expect("", twoWarps(kStore + " bar.warp.sync -1;\n" + next, ""));
  // Lanes that store to one word with one instruction: one of them wins.
  expect("", twoWarps(" st.shared.u32 [dyn+512], %thread;\n", ""));
  // Neighbouring half-words are not one place.
  expect("", twoWarps(" and.b32 %w53, %thread, 31; shl.b32 %w53, %w53, 1;"
                      " add.u32 %w53, %w53, %w50;"
                      " st.shared.u16 [%w53+512], %h0;\n",
                      ""));
}

const std::string kCopyOut =
    " @%elected cp.async.bulk.global.shared::cta.bulk_group [%op], [dyn], "
    "128;\n"
    " @%elected cp.async.bulk.commit_group;\n";
const std::string kGroupWait = " @%elected cp.async.bulk.wait_group.read 0;\n";

TEST(Race, ProxyFence) {
  expect("",
         twoWarps(kStore + kFence + kArrive, kWait + kCopyOut + kGroupWait));
  expect("",
         twoWarps(kStore + kArrive, kWait + kFence + kCopyOut + kGroupWait));
  expect("race", twoWarps(kStore + kArrive, kWait + kCopyOut + kGroupWait),
         "fence.proxy.async");
  // A fence before the store does not cover it.
  expect("race",
         twoWarps(kFence + kStore + kArrive, kWait + kCopyOut + kGroupWait),
         "fence.proxy.async");
}

TEST(Race, BulkGroups) {
  std::string first = kStore + kFence + " bar.warp.sync -1;\n" + kCopyOut;
  std::string again = " bar.warp.sync -1;\n" + kStore;
  expect("", twoWarps(first + kGroupWait + again, ""));
  expect("race", twoWarps(first + again + kGroupWait, ""), "wait_group");
  // Only the thread that issued the copy knows that it is done.
  expect("race", twoWarps(first + kGroupWait + kStore, ""));
}

const std::string kCopyIn =
    " @%elected mbarrier.arrive.expect_tx.shared.b64 %x9, [dyn+4104], 128;\n"
    " @%elected cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
    "[dyn+1024], [%op], 128, [dyn+4104];\n";
const std::string kWaitCopy = "v: mbarrier.try_wait.parity.shared.b64 %p9, "
                              "[dyn+4104], 0;\n @!%p9 bra v;\n";
const std::string kReadCopy = " ld.shared.u32 %w52, [%slot+1024];\n";

TEST(Race, CopiesIn) {
  std::string base = " mov.b64 %op, 0; ld.param.u64 %op, [outp];\n";
  expect("", twoWarps(base + kCopyIn, kWaitCopy + kReadCopy));
  EXPECT_EQ(judge(twoWarps(base + kCopyIn + kArrive, kWait + kReadCopy),
                  AsyncMode::Eager)
                .kind,
            "race");
  // It may not overwrite what a thread still reads, nor what one has read
  // through the generic proxy without a fence.
  std::string put = " st.shared.u32 [%slot+1024], %thread;\n";
  expect("", twoWarps(put + kReadCopy + kFence + kArrive,
                      base + kWait + kCopyIn + kWaitCopy));
  expect(
      "race",
      twoWarps(put + kReadCopy + kArrive, base + kWait + kCopyIn + kWaitCopy),
      "fence.proxy.async");
}

TEST(Race, BarrierInitialisation) {
  std::string base = " ld.param.u64 %op, [outp];\n";
  expect("race", twoWarps(base + kCopyIn, kWaitCopy + kReadCopy, ""),
         "no 'fence.mbarrier_init' lies between");
  // The lane that waits has nothing that orders it after the initialisation.
  expect("race",
         twoWarps(" @%lead mbarrier.init.shared.b64 [dyn+4112], 1;\n"
                  " @!%lead bar.warp.sync 0xfffffffe;\n"
                  " shfl.sync.idx.b32 %w52, %thread, 0, 31, -1;\n"
                  " mbarrier.test_wait.parity.shared.b64 %p9, [dyn+4112], 0;\n",
                  ""),
         "no barrier orders the two");
}

// TMEM: warps 0 and 4 share lanes 0 to 31.
std::string tensor(const std::string &first, const std::string &second) {
  return twoWarps(
      R"( tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [dyn+2048], 32;
 bar.sync 2, 64;
 ld.shared.u32 %tm, [dyn+2048];
)" + first +
          " bar.sync 3, 64;\n tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
          "%tm, 32;\n",
      " bar.sync 2, 64;\n ld.shared.u32 %tm, [dyn+2048];\n" + second +
          " bar.sync 3, 64;\n");
}
const std::string kTmSt =
    " tcgen05.st.sync.aligned.32x32b.x1.b32 [%tm], {%thread};\n";
const std::string kTmLd =
    " tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w52}, [%tm];\n";
const std::string kWaitSt = " tcgen05.wait::st.sync.aligned;\n";
const std::string kWaitLd = " tcgen05.wait::ld.sync.aligned;\n";
const std::string kBefore = " tcgen05.fence::before_thread_sync;\n";
const std::string kAfter = " tcgen05.fence::after_thread_sync;\n";

TEST(Race, TensorMemoryWaits) {
  expect("", tensor(kTmSt + kWaitSt + kTmLd + kWaitLd + kTmSt + kWaitSt, ""));
  expect("race", tensor(kTmSt + kTmLd + kWaitSt + kWaitLd, ""));
  expect("race",
         tensor(kTmSt + kWaitSt + kTmLd + kTmSt + kWaitSt + kWaitLd, ""));
  expect("race", tensor(kTmSt + kTmSt + kWaitSt, ""), "tcgen05.wait::st");
}

TEST(Race, TensorMemoryBetweenWarps) {
  expect("", tensor(kTmSt + kWaitSt + kArrive, kWait + kTmLd + kWaitLd));
  expect("race", tensor(kTmSt + kArrive + kWaitSt, kWait + kTmLd + kWaitLd));
  // The last load must be waited for before the columns go.
  expect("race", tensor(kTmSt + kWaitSt + kArrive, kWait + kTmLd));
}

// Registers that were read show that their columns were: no race, but not what
// PTX promises.
const std::string kTmLd2 =
    " tcgen05.ld.sync.aligned.32x32b.x2.b32 {%w52, %w53}, [%tm];\n";
const std::string kUse = " add.u32 %w54, %w52, 1;\n";
const std::string kUse2 = " add.u32 %w54, %w53, 1;\n";
const std::string kTmSt2 =
    " tcgen05.st.sync.aligned.32x32b.x2.b32 [%tm], {%thread, %thread};\n";

TEST(Race, LoadedRegistersThatWereRead) {
  std::string load = kTmSt2 + kWaitSt + kTmLd2, store = kTmSt2 + kWaitSt;
  expect("warned", tensor(load + kUse + kUse2 + store, ""), "a write of TMEM");
  expect("warned", tensor(load + kUse + kUse2 + store, ""),
         "PTX promises that the columns are free behind 'tcgen05.wait::ld'");
  expect("race", tensor(load + store, ""));
  expect("race", tensor(load + kUse + store, ""));
  expect("race", tensor(load + kUse2 + store + kUse, ""));
  // The store itself reads them before it writes.
  expect("warned", tensor(load +
                              " tcgen05.st.sync.aligned.32x32b.x2.b32 [%tm], "
                              "{%w52, %w53};\n" +
                              kWaitSt,
                          ""));
  // What is waited for as well is right, wherever the wait lies.
  expect("", tensor(load + kUse + kUse2 + kWaitLd + store, ""));
  expect("", tensor(load + kWaitLd + store + kUse, ""));
  // A new value is not what the load filled the register with.
  expect("race",
         tensor(load + " mov.b32 %w52, 0;\n" + kUse + kUse2 + store, ""));
  expect("race", tensor(load + kTmLd + kUse + kUse2 + store, ""));
  expect("race", tensor(load + " add.u32 %w52, %w53, 1;\n" + kUse + store, ""));
  expect("warned", tensor(load + " add.u32 %w52, %w52, %w53;\n" + store, ""));
  // All lanes have to read it, together or not.
  std::string some =
      " setp.lt.u32 %p7, %slot, 64;\n @%p7 mov.b32 %w55, %w52;\n";
  std::string rest = " @!%p7 mov.b32 %w56, %w52;\n";
  expect("race", tensor(load + kUse2 + some + store, ""));
  expect("warned", tensor(load + kUse2 + some + rest + store, ""));
  // As an address, or one of a list.
  expect("warned",
         tensor(load + " and.b32 %w54, %w52, 0;\n" + kUse2 + store, ""));
  expect("warned",
         tensor(load + kUse2 + " mov.b64 %x9, {%w52, %w52};\n" + store, ""));
  // A register that is dropped is never read.
  expect(
      "race",
      tensor(kTmSt2 + kWaitSt +
                 " tcgen05.ld.sync.aligned.32x32b.x2.b32 {%w52, _}, [%tm];\n" +
                 kUse + store,
             ""));
}

TEST(Race, LoadedRegistersInALoop) {
  // Each turn's load fills the registers anew.
  auto loop = [](const std::string &body) {
    return tensor(kTmSt2 + kWaitSt + " mov.b32 %w57, 0;\nagain:\n" + body +
                      kTmSt2 + kWaitSt +
                      " add.u32 %w57, %w57, 1; setp.lt.u32 %p7, %w57, 3;\n"
                      " @%p7 bra again;\n",
                  "");
  };
  expect("warned", loop(kTmLd2 + kUse + kUse2));
  expect("race", loop(kTmLd2 + kUse));
  expect("", loop(kTmLd2 + kUse + kWaitLd));
  // A load without a reader is not made up for by the next.
  expect("race", loop(kTmLd2 + kTmLd2 + kUse + kUse2));
}

TEST(Race, LoadedRegistersBetweenWarps) {
  std::string load = kTmSt2 + kWaitSt + kTmLd2;
  std::string store = kWait + kTmSt2 + kWaitSt;
  expect("warned", tensor(load + kUse + kUse2 + kArrive, store));
  expect("race", tensor(load + kUse + kArrive + kUse2, store),
         "a 'tcgen05.wait::ld' after the first is missing");
  expect("race", tensor(load + kArrive, store));
  expect("", tensor(load + kWaitLd + kArrive, store));
  // The rule of the fences is one of its own.
  auto handBack = [&](const std::string &fence) {
    return tensor(kTmSt2 + kWaitSt + kBefore + " bar.sync 4, 64;\n" +
                      " bar.sync 5, 64;\n" + kAfter + kTmSt2 + kWaitSt,
                  " bar.sync 4, 64;\n" + kAfter + kTmLd2 + kUse + kUse2 +
                      fence + " bar.sync 5, 64;\n");
  };
  expect("warned", handBack(kBefore), "", RaceMode::Formal);
  expect("formal", handBack(""), "", RaceMode::Formal);
}

TEST(Race, PoisonedLoadsCountAtTheirWait) {
  std::string load = kTmSt2 + kWaitSt + kTmLd2;
  std::string store = kTmSt2 + kWaitSt;
  expect("race", tensor(load + kUse + kUse2 + store, ""), "tcgen05.wait::ld",
         RaceMode::On, true);
  expect("", tensor(load + kWaitLd + kUse + kUse2 + store, ""), "",
         RaceMode::On, true);
}

TEST(Race, TensorFencesAreAClassOfTheirOwn) {
  auto with = [](const std::string &before, const std::string &after) {
    return tensor(kTmSt + kWaitSt + before + kArrive,
                  kWait + after + kTmLd + kWaitLd + kBefore);
  };
  expect("formal", with("", kAfter), "before_thread_sync", RaceMode::Formal);
  expect("formal", with(kBefore, ""), "after_thread_sync", RaceMode::Formal);
  expect("", with("", ""));
}

TEST(Race, AllocatedAddress) {
  expect(
      "race",
      twoWarps(
          R"( tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [dyn+2048], 32;
 ld.shared.u32 %tm, [dyn+2048];
 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 32;
)",
          ""),
      "tcgen05.alloc");
}

// P3: columns are used where nothing says that they are allocated by then, be
// their number known or not. A barrier says so; a fence is not asked for.
TEST(Race, AllocationComesFirst) {
  auto use = [](const std::string &first, const std::string &second) {
    return twoWarps(
        R"( tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [dyn+2048], 32;
)" + first + R"( bar.sync 3, 64;
 tcgen05.fence::after_thread_sync;
 ld.shared.u32 %tm, [dyn+2048];
 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 32;
)",
        second + " mov.b32 %tm, 0;\n" + kTmSt + kWaitSt + kBefore +
            " bar.sync 3, 64;\n");
  };
  // Late enough for the columns to be there.
  expect("race",
         use("", " mov.b32 %w53, 0;\nl: add.u32 %w53, %w53, 1;\n"
                 " setp.lt.u32 %p9, %w53, 1000;\n @%p9 bra l;\n"),
         "not ordered after the allocation by warp 0");
  for (RaceMode mode : {RaceMode::On, RaceMode::Formal})
    expect("", use(" bar.sync 2, 64;\n", " bar.sync 2, 64;\n"), "", mode);
}

TEST(Race, OffByDefault) {
  EXPECT_TRUE(judge(twoWarps(kArrive + kStore, kWait + kLoad), AsyncMode::Eager,
                    RaceMode::Off)
                  .kind.empty());
}

} // namespace
