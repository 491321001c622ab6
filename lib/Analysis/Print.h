// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms in which a protocol is printed.

#ifndef FA4_LIB_ANALYSIS_PRINT_H
#define FA4_LIB_ANALYSIS_PRINT_H

#include "PrintTrace.h"

namespace mlir::fa4::protocol {

/// Something that an agent, or an engine in its name, does.
struct PictureNode {
  enum Kind : uint8_t { Access, Issue, Arrive, Wait } kind;
  int32_t lane;
  std::string label;
  int32_t barrier = -1;
  int32_t row = 0;
  /// Of a wait: some arrival comes before what is shown. Of an arrival: who
  /// waits for it comes behind.
  bool open = false;
};

struct PictureEdge {
  int32_t from, to; ///< Nodes.
  int32_t barrier;  ///< -1: from its issue to what an engine does.
};

struct PictureLane {
  std::string title, subtitle;
};

/// One steady iteration: lanes of nodes, each in order, and the edges between
/// the lanes. Rows grow along every edge.
struct Picture {
  std::string title, subtitle;
  std::vector<std::string> barriers;
  std::vector<PictureLane> lanes;
  std::vector<PictureNode> nodes;
  std::vector<PictureEdge> edges;
};

/// Draws one iteration, the events of a run from `first` to `second`, and what
/// of the events behind it waits for arrivals in it.
Picture makePicture(const Program &program, const Trace &trace, size_t first,
                    size_t second);

/// `trace` is of a run whose first two tasks have 2 and 5 blocks.
void printTable(const Program &program, const Trace &trace, raw_ostream &os);
void printDot(const Picture &picture, raw_ostream &os);
void printSVG(const Picture &picture, raw_ostream &os);

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_PRINT_H
