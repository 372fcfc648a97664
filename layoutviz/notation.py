"""Read and write CuTe's notation: nested tuples of integers, and `shape:stride`.

    >>> parse("(4,(2,2)):(2,(1,8))")
    ((4, (2, 2)), (2, (1, 8)))
    >>> format_tuple((4, (2, 2)))
    '(4,(2,2))'
    >>> format_tuple((4,)), parse("(4):(1)")        # as CuTe prints a tuple of one mode
    ('(4)', ((4,), (1,)))
"""

import re

from layoutviz.errors import LayoutError

IntTuple = int | tuple  # an int, or a tuple of IntTuples: CuTe's nested integers

SHOWN = 60  # characters shown before and after a fault
DEEPEST = 50  # levels of nesting; no layout of use comes near

_TOKEN = re.compile(r"\s*(-?[0-9]+|[(),:])")


def format_tuple(value) -> str:
    """`value` in CuTe's notation: no spaces, no comma after a single entry."""
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(map(format_tuple, value)) + ")"
    return str(value)


def parse(text: str) -> tuple[IntTuple, IntTuple | None]:
    """`"shape:stride"` as (shape, stride); `"shape"` alone as (shape, None).

    Raises LayoutError that repeats the text and points at the character where reading stopped.
    """
    reader = _Reader(text)
    shape = reader.int_tuple()
    stride = None
    if reader.peek() == ":":
        reader.take()
        stride = reader.int_tuple()
    if reader.peek() is not None:
        reader.fail("here the layout should end" if stride is not None else 'expected ":" or the end')
    return shape, stride


class _Reader:
    """Recursive descent over the tokens of one notation string."""

    def __init__(self, text: str):
        self.text, self.pos, self.depth = text, 0, 0

    def peek(self) -> str | None:
        match = _TOKEN.match(self.text, self.pos)
        if match:
            return match.group(1)
        if self.text[self.pos :].strip():
            self.fail("this is not part of the notation, which has digits, a minus sign, parentheses, commas and one colon")
        return None

    def take(self) -> str:
        match = _TOKEN.match(self.text, self.pos)
        self.pos = match.end()
        return match.group(1)

    def int_tuple(self) -> IntTuple:
        token = self.peek()
        if token == "(":
            return self.entries()
        if token is None or token in "),:":
            self.fail('expected a number or "("')
        if len(token.lstrip("-0")) > 19:
            self.fail("this number is beyond 2^62")
        return int(self.take())

    def entries(self) -> tuple:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"nested more than {DEEPEST} deep")
        self.take()
        entries = [self.int_tuple()]
        while self.peek() == ",":
            self.take()
            entries.append(self.int_tuple())
        if self.peek() != ")":
            self.fail('expected "," or ")"')
        self.take()
        self.depth -= 1
        return tuple(entries)

    def fail(self, why: str):
        at = self.pos + len(self.text[self.pos :]) - len(self.text[self.pos :].lstrip())
        start = max(0, at - SHOWN)
        line = "".join(char if char.isprintable() else " " for char in self.text[start : at + SHOWN])
        raise LayoutError(f"cannot read this layout: {why}\n    {line}\n    {' ' * (at - start)}^")
