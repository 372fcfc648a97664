"""What checkers share: reading an answer in each of its forms, and judging a layout by its function and profile."""

from collections.abc import Callable
from reprlib import repr as shorten

import numpy as np

from exercises.engine.verdict import BadAnswer, State, Verdict
from layoutviz import Layout, LayoutError, same_function
from layoutviz.int_tuple import OFFSET_LIMIT
from layoutviz.notation import format_tuple
from layoutviz.scene import Panel, Scene
from layoutviz.views.grid import grid


def as_layout(name: str, value) -> Layout:
    """A learner's layout: a Layout, its notation, or a (shape, stride) pair of ints, tuples, lists or arrays.

    BadAnswer, in words, for anything else.

    >>> str(as_layout("layout", ((6, 5), [8, 1]))), str(as_layout("layout", "(6,5):(8,1)"))
    ('(6,5):(8,1)', '(6,5):(8,1)')
    """
    value = _plain(value)
    try:
        if isinstance(value, (Layout, str)):
            return Layout(value)
        if isinstance(value, (tuple, list)) and len(value) == 2:
            return Layout(*map(_plain, value))
    except LayoutError as error:
        raise BadAnswer(f"`{name}` is not a layout: {error}") from None
    raise BadAnswer(f'`{name}` is {_kind(value)}; wanted is a `Layout`, notation like `"(4,4):(4,1)"`, or a pair (shape, stride).')


def as_table(name: str, value, rows: int, columns: int) -> list[int]:
    """rows*columns whole numbers in index order, first mode fastest, from a flat list or from nested rows [row][column].

    Tuples, ranges and arrays do as well. BadAnswer, in words, for anything else.

    >>> as_table("offsets", [[0, 2], [1, 3]], 2, 2), as_table("offsets", (0, 1, 2, 3), 2, 2)
    ([0, 1, 2, 3], [0, 1, 2, 3])
    """
    count = rows * columns
    value = _plain(value)
    if not isinstance(value, (list, tuple, range)):
        raise BadAnswer(f"`{name}` is {_kind(value)}; wanted is a list of {count} whole numbers.")
    entries = [_plain(entry) for entry in value]
    if any(isinstance(entry, (list, tuple)) for entry in entries):
        lengths = [len(e) if isinstance(e, (list, tuple)) else 0 for e in entries]
        if lengths != [columns] * rows:
            raise BadAnswer(f"`{name}` is nested, but not as {rows} rows of {columns} numbers. A flat list of {count} is right too.")
        entries = [_plain(entries[row][column]) for column in range(columns) for row in range(rows)]
    if len(entries) != count:
        raise BadAnswer(f"`{name}` has {len(entries)} numbers; a layout of shape ({rows},{columns}) has {count} offsets.")
    for position, entry in enumerate(entries):
        if type(entry) is not int:
            raise BadAnswer(f"`{name}` has {shorten(entry)} at index {position}; every entry must be a whole number.")
        if abs(entry) > OFFSET_LIMIT:
            raise BadAnswer(f"`{name}` has a number beyond 2^62 at index {position}.")
    return entries


def judge_layout(name: str, value, wanted: Layout, praise: str, remark: Callable[[Layout], str]) -> Verdict:
    """Judge a layout by its shape, then by its offsets. `remark(answer)` names a known mistake, or is "".

    RIGHT: the same function in the wanted shape. RIGHT_NOT_FORM: the same function in another shape. WRONG: the shape that
    differs, or the first coordinate whose offset does, with what the answer computes there and never what was wanted.
    """
    answer = as_layout(name, value)
    shapes = f"`{name}` has shape {format_tuple(answer.shape)}; asked for was {format_tuple(wanted.shape)}."
    if same_function(answer, wanted):
        if answer.shape == wanted.shape:
            return Verdict(State.RIGHT, praise, picture(answer))
        return Verdict(State.RIGHT_NOT_FORM, f"Every index has the right offset, but {shapes}", picture(answer))
    if answer.shape != wanted.shape:
        return Verdict(State.WRONG, f"{shapes} {remark(answer)}".strip(), picture(answer))
    bad = next(i for i in range(wanted.size) if answer(i) != wanted(i))
    where = format_tuple(answer.coordinate(bad))
    message = f"At coordinate {where} your layout gives offset {answer(bad)}, and that is not where this element belongs."
    return Verdict(State.WRONG, f"{message} {remark(answer)}".strip(), picture(answer, bad))


def picture(layout: Layout, bad: int | None = None) -> Scene | None:
    """The layout's grid, with index `bad` marked; None where it cannot be drawn."""
    try:
        return grid(layout, marks={} if bad is None else {bad: "wrong"})
    except LayoutError:
        return None


def table_picture(numbers: list[int], rows: int, columns: int, bad: int | None = None) -> Scene:
    """A grid of a learner's own numbers, given in index order, with index `bad` marked."""
    row, col = np.divmod(np.arange(rows * columns), columns)
    index = row + col * rows
    shown = [numbers[i] for i in index]
    panel = Panel(
        rows, columns, row.tolist(), col.tolist(), list(map(str, shown)),
        tips=[f"index {i} · coordinate ({r},{c}) · you wrote {n}" for i, r, c, n in zip(index, row, col, shown, strict=True)],
        keys={"index": index, "offset": np.array(shown, np.int64)},
        title="your numbers", row_axis="i", col_axis="j",
        row_labels=list(map(str, range(rows))), col_labels=list(map(str, range(columns))),
        marks={} if bad is None else {int(np.flatnonzero(index == bad)[0]): "wrong"},
    )  # fmt: skip
    return Scene(((panel,),), caption="Each number of yours at the coordinate of its index.")


def _plain(value):
    """numpy and torch arrays and numbers as lists and ints; everything else as it is."""
    return value.tolist() if type(value).__module__.partition(".")[0] in ("numpy", "torch") and hasattr(value, "tolist") else value


def _kind(value) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
