# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A picture can be read: check_picture.py FILE.svg

It is XML, boxes do not overlap, each text lies in the picture, and each that
begins in a box ends in it.
"""

import sys
import xml.etree.ElementTree as ElementTree

CHARACTER = 0.62  # Width of a monospaced one, of the height of the letters.
SVG = "{http://www.w3.org/2000/svg}"


def area_of(rect):
    x, y = float(rect.get("x", 0)), float(rect.get("y", 0))
    return x, y, x + float(rect.get("width")), y + float(rect.get("height"))


def extent_of(text):
    width = len(text.text) * CHARACTER * float(text.get("font-size"))
    x, y = float(text.get("x")), float(text.get("y"))
    left = x - width / 2 if text.get("text-anchor") == "middle" else x
    return left, left + width, y


def main():
    root = ElementTree.parse(sys.argv[1]).getroot()
    problems = []
    areas = [area_of(rect) for rect in root.iter(SVG + "rect")]
    # The background and the lanes are higher than a box.
    boxes = [area for area in areas if area[3] - area[1] < 30]
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
                problems.append(f"boxes {a} and {b} overlap")
    texts = list(root.iter(SVG + "text"))
    for text in texts:
        left, right, y = extent_of(text)
        if left < 0 or right > float(root.get("width")) or y > float(root.get("height")):
            problems.append(f"'{text.text}' does not lie in the picture")
        middle = float(text.get("x"))
        for box in boxes:
            if box[0] <= middle <= box[2] and box[1] <= y <= box[3]:
                if left < box[0] or right > box[2]:
                    problems.append(f"'{text.text}' is wider than its box")
    for problem in problems:
        print(problem)
    print(f"{len(boxes)} boxes, {len(texts)} texts, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
