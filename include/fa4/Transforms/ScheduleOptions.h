// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices that --fa4-schedule-attention leaves to its user; in each, Auto takes
// what the reference schedule does for the attention at hand.

#ifndef FA4_TRANSFORMS_SCHEDULEOPTIONS_H
#define FA4_TRANSFORMS_SCHEDULEOPTIONS_H

namespace mlir::fa4 {

/// Who meets at a barrier when row statistics change hands.
enum class StatsGranularity { Auto, Warp, Warpgroup };

/// Whether query heads that share a K/V head share a tile.
enum class GroupPacking { Auto, On, Off };

/// In which order tasks are handed out.
enum class SchedulerChoice { Auto, Linear, LongestFirst };
enum class LookAheadChoice { Auto, On, Off };

/// Which role normalises O and stages it for the store.
enum class EpilogueChoice { Auto, Correction, Softmax };

} // namespace mlir::fa4

#endif // FA4_TRANSFORMS_SCHEDULEOPTIONS_H
