// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A picture as SVG: a column a lane, rows from top to bottom.

#include "Print.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
constexpr int32_t kMargin = 32, kGap = 56, kRow = 30, kBox = 22;
constexpr int32_t kHeader = 104, kLegend = 118;
constexpr int32_t kCharacter = 7; ///< Width of a monospaced one, 11 px high.
constexpr const char *kInk = "#1f2937", *kGrey = "#9ca3af";
/// Dark enough for white letters.
constexpr const char *kColors[] = {"#1d4ed8", "#b45309", "#15803d", "#b91c1c",
                                   "#7e22ce", "#0e7490", "#be185d", "#4d7c0f",
                                   "#4338ca", "#92400e", "#0f766e", "#86198f"};

class SVGPrinter {
public:
  SVGPrinter(const Picture &picture, raw_ostream &os)
      : picture(picture), os(os) {}

  void print();

private:
  struct Lane {
    int32_t x, width;
  };
  void layOut();
  void printHead();
  void printLanes();
  void printEdge(const PictureEdge &edge);
  void printOpenEnd(const PictureNode &node);
  void printNode(const PictureNode &node);
  void printLegend();
  void printBox(int32_t x, int32_t y, int32_t width, PictureNode::Kind kind,
                StringRef color, StringRef label);
  void printText(int32_t x, int32_t y, StringRef text, StringRef color,
                 int32_t size = 11, StringRef anchor = "middle",
                 bool bold = false);

  static StringRef getColor(int32_t barrier) {
    return kColors[barrier % std::size(kColors)];
  }
  int32_t getY(const PictureNode &node) const {
    return kHeader + node.row * kRow + kRow / 2;
  }

  const Picture &picture;
  raw_ostream &os;
  std::vector<Lane> lanes;
  int32_t width = 0, bottom = 0;
};
} // namespace

void SVGPrinter::layOut() {
  int32_t x = kMargin;
  for (auto [index, info] : llvm::enumerate(picture.lanes)) {
    size_t longest = std::max(info.title.size(), info.subtitle.size());
    for (const PictureNode &node : picture.nodes)
      if (node.lane == static_cast<int32_t>(index))
        longest = std::max(longest, node.label.size());
    int32_t width = longest * kCharacter + 16;
    lanes.push_back({x, width});
    x += width + kGap;
  }
  width = std::max(x - kGap + kMargin, 1080);
  for (const PictureNode &node : picture.nodes)
    bottom = std::max(bottom, getY(node) + kRow / 2);
  bottom = std::max(bottom, kHeader + kRow);
}

void SVGPrinter::printText(int32_t x, int32_t y, StringRef text,
                           StringRef color, int32_t size, StringRef anchor,
                           bool bold) {
  os << "<text x=\"" << x << "\" y=\"" << y << "\" fill=\"" << color
     << "\" font-size=\"" << size << "\" text-anchor=\"" << anchor << "\"";
  if (bold)
    os << " font-weight=\"bold\"";
  os << ">";
  printHTMLEscaped(text, os);
  os << "</text>\n";
}

void SVGPrinter::printBox(int32_t x, int32_t y, int32_t width,
                          PictureNode::Kind kind, StringRef color,
                          StringRef label) {
  StringRef fill = "#ffffff", stroke = kGrey, text = kInk;
  switch (kind) {
  case PictureNode::Access:
    fill = "#e0f2fe";
    stroke = "#7dd3fc";
    break;
  case PictureNode::Issue:
    text = "#6b7280";
    break;
  case PictureNode::Arrive:
    fill = stroke = color;
    text = "#ffffff";
    break;
  case PictureNode::Wait:
    stroke = text = color;
    break;
  }
  os << "<rect x=\"" << x << "\" y=\"" << y - kBox / 2 << "\" width=\"" << width
     << "\" height=\"" << kBox << "\" rx=\""
     << (kind == PictureNode::Access ? 2 : kBox / 2) << "\" fill=\"" << fill
     << "\" stroke=\"" << stroke << "\"";
  if (kind == PictureNode::Issue)
    os << " stroke-dasharray=\"3 2\"";
  os << "/>\n";
  printText(x + width / 2, y + 4, label, text);
}

void SVGPrinter::printHead() {
  int32_t height = bottom + kLegend;
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width
     << "\" height=\"" << height << "\" viewBox=\"0 0 " << width << " "
     << height << "\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
     << "monospace\">\n<defs>\n";
  for (auto [index, name] : llvm::enumerate(picture.barriers))
    os << "<marker id=\"b" << index << "\" viewBox=\"0 0 8 8\" refX=\"7\" "
       << "refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
       << "<path d=\"M0 0L8 4L0 8z\" fill=\"" << getColor(index)
       << "\"/></marker>\n";
  os << "</defs>\n<rect width=\"" << width << "\" height=\"" << height
     << "\" fill=\"#ffffff\"/>\n";
  printText(kMargin, 30, picture.title + picture.subtitle, kInk, 15, "start",
            /*bold=*/true);
}

void SVGPrinter::printLanes() {
  for (auto [lane, info] : llvm::zip(lanes, picture.lanes)) {
    int32_t middle = lane.x + lane.width / 2;
    os << "<rect x=\"" << lane.x - 8 << "\" y=\"" << 48 << "\" width=\""
       << lane.width + 16 << "\" height=\"" << bottom - 40
       << "\" rx=\"4\" fill=\"#f8fafc\" stroke=\"#e2e8f0\"/>\n";
    printText(middle, 68, info.title, kInk, 12, "middle", /*bold=*/true);
    printText(middle, 86, info.subtitle, "#6b7280");
    os << "<path d=\"M" << middle << " " << kHeader << "V" << bottom
       << "\" stroke=\"#e2e8f0\"/>\n";
  }
}

void SVGPrinter::printEdge(const PictureEdge &edge) {
  const PictureNode &from = picture.nodes[edge.from];
  const PictureNode &to = picture.nodes[edge.to];
  const Lane &source = lanes[from.lane], &target = lanes[to.lane];
  bool right = source.x < target.x;
  int32_t x1 = right ? source.x + source.width : source.x;
  int32_t x2 = right ? target.x : target.x + target.width;
  int32_t bend = right ? kGap * 3 / 4 : -kGap * 3 / 4;
  int32_t y1 = getY(from), y2 = getY(to);
  os << "<path d=\"M" << x1 << " " << y1 << "C" << x1 + bend << " " << y1 << " "
     << x2 - bend << " " << y2 << " " << x2 << " " << y2
     << "\" fill=\"none\" stroke=\"";
  if (edge.barrier < 0)
    os << kGrey << "\" stroke-dasharray=\"3 2\"/>\n";
  else
    os << getColor(edge.barrier)
       << "\" stroke-width=\"1.6\" marker-end=\"url(#b" << edge.barrier
       << ")\"/>\n";
}

/// A wait whose phase was arrived for before, an arrival awaited later.
void SVGPrinter::printOpenEnd(const PictureNode &node) {
  const Lane &lane = lanes[node.lane];
  bool wait = node.kind == PictureNode::Wait;
  int32_t x = wait ? lane.x : lane.x + lane.width, y = getY(node);
  int32_t end = wait ? x - 15 : x + 15;
  StringRef color = getColor(node.barrier);
  os << "<path d=\"M" << x << " " << y << "H" << end << "\" stroke=\"" << color
     << "\" stroke-width=\"1.6\"/><circle cx=\"" << (wait ? end - 3 : end + 3)
     << "\" cy=\"" << y << "\" r=\"3\" fill=\"#ffffff\" stroke=\"" << color
     << "\" stroke-width=\"1.6\"/>\n";
}

void SVGPrinter::printNode(const PictureNode &node) {
  const Lane &lane = lanes[node.lane];
  StringRef color = node.barrier < 0 ? StringRef(kInk) : getColor(node.barrier);
  printBox(lane.x, getY(node), lane.width, node.kind, color, node.label);
}

void SVGPrinter::printLegend() {
  int32_t y = bottom + 36, x = kMargin;
  StringRef color = kColors[0];
  auto item = [&](PictureNode::Kind kind, StringRef label, StringRef text) {
    int32_t box = label.size() * kCharacter + 20;
    printBox(x, y, box, kind, color, label);
    printText(x + box + 8, y + 4, text, kInk, 11, "start");
    x += box + 8 + text.size() * kCharacter + 28;
  };
  item(PictureNode::Access, "read s[0]", "touches a tile");
  item(PictureNode::Issue, "issue", "hands it to an engine");
  item(PictureNode::Arrive, "arrive b[0]", "arrives on slot 0");
  item(PictureNode::Wait, "wait b[0]", "waits for it");
  auto line = [&](int32_t row, StringRef text) {
    printText(kMargin, y + 26 + 18 * row, text, kInk, 11, "start");
  };
  line(0,
       "Time runs down; rows show order, not duration. An arrow leads from an "
       "arrival to a wait that it lets pass; a copy arrives when it has "
       "landed,");
  line(1,
       "a commit when what the tensor core was given before is done. A circle "
       "before a wait: arrived for in an earlier block. A circle behind an");
  line(2,
       "arrival: awaited in a later one. Numbers behind a slot are columns.");
}

void SVGPrinter::print() {
  layOut();
  printHead();
  printLanes();
  for (const PictureEdge &edge : picture.edges)
    printEdge(edge);
  for (const PictureNode &node : picture.nodes)
    if (node.open && node.barrier >= 0)
      printOpenEnd(node);
  for (const PictureNode &node : picture.nodes)
    printNode(node);
  printLegend();
  os << "</svg>\n";
}

void protocol::printSVG(const Picture &picture, raw_ostream &os) {
  SVGPrinter(picture, os).print();
}
