// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A picture in Graphviz's language: a cluster a lane.

#include "Print.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

static void printNode(const PictureNode &node, size_t index, raw_ostream &os) {
  static constexpr const char *kStyles[] = {
      "shape=box, style=filled, fillcolor=\"#dcfce7\"",
      "shape=plaintext",
      "shape=cds",
      "shape=ellipse",
  };
  os << "    n" << index << " [label=\"";
  printEscapedString(node.label, os);
  os << "\", " << kStyles[node.kind] << "];\n";
}

void protocol::printDot(const Picture &picture, raw_ostream &os) {
  os << "digraph \"" << picture.title << "\" {\n"
     << "  rankdir=TB;\n  newrank=true;\n"
     << "  node [fontname=\"monospace\", fontsize=10];\n"
     << "  edge [fontname=\"monospace\", fontsize=9];\n";
  for (auto [lane, info] : llvm::enumerate(picture.lanes)) {
    os << "  subgraph cluster_" << lane << " {\n    label=\"" << info.title
       << "\";\n";
    size_t before = picture.nodes.size();
    for (auto [index, node] : llvm::enumerate(picture.nodes)) {
      if (node.lane != static_cast<int32_t>(lane))
        continue;
      printNode(node, index, os);
      if (before != picture.nodes.size())
        os << "    n" << before << " -> n" << index
           << " [color=gray, arrowhead=none, weight=10];\n";
      before = index;
    }
    os << "  }\n";
  }
  for (const PictureEdge &edge : picture.edges) {
    os << "  n" << edge.from << " -> n" << edge.to;
    if (edge.barrier < 0)
      os << " [style=dotted]";
    else
      os << " [label=\"" << picture.barriers[edge.barrier]
         << "\", constraint=false]";
    os << ";\n";
  }
  os << "}\n";
}
