# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""The expression language of launch descriptors."""

import random
import unittest

from fa4._expr import FUNCTIONS, PRECEDENCE, ExprError, is_name, parse

VALUES = {"a": 7, "b": -3, "q.stride0": 4096, "zero": 0}


def value(text):
    def lookup(name):
        if name not in VALUES:
            raise ExprError(f"unknown symbol '{name}'")
        return VALUES[name]

    expr = parse(text)
    found = outcome(lambda: expr.evaluate(lookup))
    for _ in range(3):  # the second time it is compiled
        again = outcome(lambda: expr.value_at(VALUES))
        if "unknown symbol" not in str(found):
            assert again == found, (text, again, found)
    if isinstance(found, str):
        raise ExprError(found)
    return found


def outcome(call):
    try:
        return call()
    except (ExprError, KeyError) as error:
        return str(error)


class Expressions(unittest.TestCase):
    def test_values(self):
        for text, expected in {
            "1 + 2 * 3": 7,
            "(1 + 2) * 3": 9,
            "10 - 3 - 2": 5,
            "a / b": -3,  # towards minus infinity
            "a % b": -2,
            "ceildiv(a, b)": -2,
            "-7 / 2": -4,
            "-a": -7,
            "- 5 + a": 2,
            "--5": 5,
            "1 < 2 && 2 < 1 || 3 == 3": 1,
            "a && b": 1,
            "zero || 5": 1,
            "min(a, max(b, 2))": 2,
            "log2floor(1024) * log2floor(1) + log2floor(1023)": 9,
            "select(zero, 1 / zero, 2)": 2,
            "zero && 1 / zero": 0,
            "a || 1 / zero": 1,
            "-9223372036854775808": -(1 << 63),
            "q.stride0 * 2": 8192,
        }.items():
            self.assertEqual(value(text), expected, text)

    def test_faults(self):
        for text, message in {
            "1 / zero": "division by zero in '1 / zero' (operands 1, 0)",
            "a % zero": "division by zero in 'a % zero' (operands 7, 0)",
            "ceildiv(a, zero)": "division by zero in 'ceildiv(a, zero)' (operands 7, 0)",
            "log2floor(b)": "a logarithm of a value below 1 in 'log2floor(b)' (operands -3)",
            "9223372036854775807 + 1": "a result beyond 64 bits in '9223372036854775807 + 1' "
            "(operands 9223372036854775807, 1)",
            "-9223372036854775808 / -1": "a result beyond 64 bits in '-9223372036854775808 / -1' "
            "(operands -9223372036854775808, -1)",
            "nothing": "unknown symbol 'nothing'",
        }.items():
            with self.assertRaises(ExprError) as caught:
                value(text)
            self.assertEqual(str(caught.exception), message)

    def test_random(self):
        """Compiled code says what the tree says, in values and in faults."""
        random.seed(3)
        leaves = ["a", "b", "zero", "q.stride0", "1", "2", "-1", "64", "9223372036854775807", "-9223372036854775808"]

        def draw(depth):
            if depth == 0 or random.random() < 0.1:
                return random.choice(leaves)
            op = random.choice([*PRECEDENCE, *FUNCTIONS])
            operands = [draw(depth - 1) for _ in range(FUNCTIONS.get(op, 2))]
            return f"{op}({', '.join(operands)})" if op in FUNCTIONS else f"({f' {op} '.join(operands)})"

        faults = 0
        for _ in range(2000):
            text = draw(random.randrange(1, 5))
            try:
                value(text)
            except ExprError:
                faults += 1
        self.assertTrue(100 < faults < 1900, faults)
        deep = "a" + " - (a" * 90 + ")" * 90
        self.assertEqual(value(deep), 7)

    def test_text_that_is_none(self):
        for text, message in {
            "": "column 1: expected a number, a symbol, a function or '(', but got the end of the text",
            "1 +": "column 4: expected a number, a symbol, a function or '(', but got the end of the text",
            "(1": "column 3: expected ')', but got the end of the text",
            "1 2": "column 3: expected an operator or the end of the text, but got '2'",
            "1 < 2 < 3": "column 7: expected parentheses around one of the comparisons, but got '<'",
            "min(1)": "column 6: expected ',' and operand 2 of 2 of min, but got ')'",
            "min 1": "column 5: expected '(' after min, but got '1'",
            "sin(1)": "column 4: expected ceildiv, min, max, select or log2floor before '(', but got 'sin'",
            "9223372036854775808": "column 1: expected a number that fits 64 bits, but got '9223372036854775808'",
            "1x": "column 2: expected an operator after the number, but got 'x'",
            "a.": "column 2: expected an operator or the end of the text, but got '.'",
            "a = b": "column 3: expected an operator or the end of the text, but got '='",
        }.items():
            with self.assertRaises(ExprError) as caught:
                parse(text)
            self.assertEqual(str(caught.exception), message, text)

    def test_nesting_ends_in_an_error(self):
        for text in (
            "(" * 500 + "1" + ")" * 500,
            "-" * 500 + "a",
            "1" + " + 1" * 500,
            "min(1, " * 400 + "1" + ")" * 400,
        ):
            with self.assertRaisesRegex(ExprError, "nest"):
                parse(text)
        self.assertEqual(value("(" * 150 + "a" + ")" * 150), 7)

    def test_canonical_text(self):
        for text, expected in {
            "1+2*3": "1 + 2 * 3",
            "(1+2)*3": "(1 + 2) * 3",
            "1-(2-3)": "1 - (2 - 3)",
            "(1-2)-3": "1 - 2 - 3",
            "(a<b)==1": "(a < b) == 1",
            "-a": "0 - a",
            "select(a,b,min(1,2))": "select(a, b, min(1, 2))",
        }.items():
            self.assertEqual(str(parse(text)), expected)
            self.assertEqual(str(parse(expected)), expected)

    def test_names(self):
        self.assertEqual(parse("q.stride0 * a + a").names(), ["q.stride0", "a"])
        for name, expected in {
            "Sq": True,
            "q.stride0": True,
            "min": False,
            "": False,
            "1a": False,
            "a.": False,
        }.items():
            self.assertEqual(is_name(name), expected)


if __name__ == "__main__":
    unittest.main()
