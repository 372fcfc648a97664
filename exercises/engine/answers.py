"""Reading an answer in each of its right forms. What cannot be read raises BadAnswer, in words for the learner."""

import re
from collections.abc import Callable, Iterable
from inspect import signature
from operator import index as as_int
from reprlib import repr as short_repr

from exercises.engine.verdict import BadAnswer
from layoutviz import Layout, LayoutError, Swizzle, Tensor, composed, modes
from layoutviz.int_tuple import OFFSET_LIMIT
from layoutviz.layout import CoordinateFunction
from layoutviz.notation import format_tuple

_LONGEST = 500  # characters of a reader's error that are passed on


def shorten(value) -> str:
    """What a reader wrote, in a few characters."""
    try:
        return short_repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number too long to show"


def as_layout(name: str, value) -> CoordinateFunction:
    """A layout of any kind: itself, its notation (also as the DSL or C++ prints it), a pair (shape, stride), or a layout of the DSL.

    Numbers may be those of numpy, torch or the DSL, pairs may be tuples, lists or arrays. A DSL layout is read inside its jit function.

    >>> str(as_layout("layout", ((6, 5), [8, 1]))), str(as_layout("layout", "S<1,0,2> o 0 o (_4,_4):(_4,_1)"))
    ('(6,5):(8,1)', 'S<1,0,2> o 0 o (4,4):(4,1)')
    """
    read = plain(value)
    try:
        if isinstance(read, str):
            return _alone(composed.as_layout(re.sub(r"(?<![\w])_(?=\d)", "", read)))  # C++ prints the static 8 as _8
        if isinstance(read, CoordinateFunction) or type(read).__module__.startswith("cutlass."):
            return _alone(composed.as_layout(read))
        if isinstance(read, (tuple, list)) and len(read) == 2:
            return Layout(*(_numbers(name, part) for part in read))
    except LayoutError as error:
        raise BadAnswer(f"`{name}` is not a layout: {str(error)[:_LONGEST]}") from None
    raise BadAnswer(f'`{name}` is {kind(value)}; wanted is a `Layout`, notation like `"(4,4):(4,1)"`, or a pair (shape, stride).')


def _alone(layout: CoordinateFunction) -> CoordinateFunction:
    """A Tensor that starts at slot 0 is its layout."""
    return layout.layout if isinstance(layout, Tensor) and layout.offset == 0 else layout


def as_tiler(name: str, value):
    """A tiler: a layout, a number, or a tuple of tilers, one a mode, where None leaves a mode alone. Numbers as in as_layout.

    >>> as_tiler("tiler", [4, "2:8"])
    (Layout("4:1"), Layout("2:8"))
    """
    try:
        return modes.as_tiler(_tiler_parts(name, plain(value)))
    except LayoutError as error:
        raise BadAnswer(f"`{name}` is not a tiler: {str(error)[:_LONGEST]}") from None


def _tiler_parts(name: str, value):
    if isinstance(value, (tuple, list)):
        return tuple(_tiler_parts(name, part) for part in value)
    if value is None or isinstance(value, (str, CoordinateFunction)) or type(value).__module__.startswith("cutlass.cute"):
        return value
    return _numbers(name, value)


def as_number(name: str, value) -> int:
    """One whole number, also as text.

    >>> as_number("slots", " 16 ")
    16
    """
    number = _whole(value)
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,40}\s*", value):
        number = int(value)
    if number is not None:
        return number
    if isinstance(plain(value), float):
        raise BadAnswer(f"`{name}` is {shorten(plain(value))}; wanted is a whole number. In Python `/` never gives one, `//` does.")
    raise BadAnswer(f"`{name}` is {kind(value)}; wanted is one whole number.")


def as_choice(name: str, value, options: Iterable):
    """The one of `options` (numbers or texts) that is meant: 16 and "16", "row-major" and " Row-major" are the same choice.

    Pre: options differ in more than case and space; ValueError otherwise.

    >>> as_choice("slots", "16", [13, 16]), as_choice("order", "row-MAJOR", ["row-major", "column-major"])
    (16, 'row-major')
    """
    options = list(options)
    by_text = {_text(option): option for option in options}
    if len(by_text) < len(options) or None in by_text:
        raise ValueError(f"the options {options} cannot be told apart")
    text = _text(value)
    if text in by_text:
        return by_text[text]
    yours = kind(value) if text is None else shorten(plain(value))
    raise BadAnswer(f"`{name}` is {yours}; choose one of {', '.join(map(str, options))}.")


def _text(value) -> str | None:
    """A number, text or layout as text without case and space; None for anything else."""
    if isinstance(value, str):
        return "".join(plain(value).split()).casefold()
    if isinstance(value, (CoordinateFunction, Swizzle)):
        return _text(str(value))
    number = _whole(value)
    return None if number is None or abs(number) > OFFSET_LIMIT else str(number)


def as_cells(name: str, value, layout: CoordinateFunction) -> frozenset[int]:
    """The indices of some cells of a layout, given in any order, as indices or as coordinates, nested as the shape or not.

    A cell named twice is refused: it is a slip that a count of cells would hide. So is a bare tuple of numbers that may be one coordinate.

    >>> sorted(as_cells("cells", [(0, 1), 3], Layout("(2,3):(3,1)")))
    [2, 3]
    """
    if isinstance(value, tuple) and any(getattr(part, "shape", ()) and hasattr(part, "tolist") for part in value):
        raise BadAnswer(f"`{name}` is a tuple of arrays, as `np.where` gives it; `np.argwhere` gives one row for each cell.")
    cells = list(value) if isinstance(value, (set, frozenset, range)) else plain(value)
    if not isinstance(cells, (tuple, list)):
        raise BadAnswer(f"`{name}` is {kind(value)}; wanted is a list of cells, each a coordinate like `(0, 1)` or an index.")
    if isinstance(cells, tuple) and len(cells) == layout.rank > 1 and not any(isinstance(cell, (tuple, list)) for cell in cells):
        raise BadAnswer(f"`{name}` can be read in two ways: write one cell as `[(0, 1)]`, indices as `[0, 1]`.")
    found: dict[int, None] = {}
    for cell in cells:
        index = _cell_index(name, plain(cell), layout)
        if index in found:
            raise BadAnswer(f"`{name}` names the cell {format_tuple(layout.coordinate(index))} twice.")
        found[index] = None
    return frozenset(found)


def _cell_index(name: str, cell, layout: CoordinateFunction) -> int:
    numbers = _numbers(name, cell)
    try:
        if isinstance(numbers, int):
            layout.coordinate(numbers)  # refuses what is no index
            return numbers
        return Layout(layout.shape)(numbers)
    except LayoutError as error:
        why = str(error) if isinstance(numbers, tuple) else f"indices run from 0 to {layout.size - 1}"
        raise BadAnswer(f"`{name}` has {shorten(cell)}, which is no cell: {why[:_LONGEST]}.") from None


def as_table(name: str, value, rows: int, columns: int) -> list[int]:
    """rows*columns whole numbers in index order, first mode fastest, from a flat list or from nested rows [row][column].

    Tuples, ranges and arrays do as well.

    >>> as_table("offsets", [[0, 2], [1, 3]], 2, 2), as_table("offsets", (0, 1, 2, 3), 2, 2)
    ([0, 1, 2, 3], [0, 1, 2, 3])
    """
    count = rows * columns
    entries = plain(value)
    if not isinstance(entries, (list, tuple, range)):
        raise BadAnswer(f"`{name}` is {kind(value)}; wanted is a list of {count} whole numbers.")
    if any(isinstance(entry, (list, tuple)) for entry in entries):
        lengths = [len(e) if isinstance(e, (list, tuple)) else 0 for e in entries]
        if lengths != [columns] * rows:
            raise BadAnswer(f"`{name}` is nested, but not as {rows} rows of {columns} numbers. Write one flat list of {count}.")
        entries = [entries[row][column] for column in range(columns) for row in range(rows)]
    if len(entries) != count:
        raise BadAnswer(f"`{name}` has {len(entries)} numbers; a layout of shape ({rows},{columns}) has {count} offsets.")
    for position, entry in enumerate(entries):
        number = _whole(entry)
        if number is None:
            raise BadAnswer(f"`{name}` has {shorten(entry)} at index {position}; every entry must be a whole number.")
        if abs(number) > OFFSET_LIMIT:
            raise BadAnswer(f"`{name}` has a number beyond 2^62 at index {position}.")
    return list(map(_whole, entries))


def as_function(name: str, value, parameters: int) -> Callable:
    """A function that can be called with that many arguments.

    >>> as_function("f", lambda layout: layout, 1).__name__
    '<lambda>'
    """
    if not callable(value) or isinstance(value, (CoordinateFunction, Swizzle, type)):
        raise BadAnswer(f"`{name}` is {kind(value)}; wanted is a function.")
    try:
        signature(value).bind(*[None] * parameters)
    except TypeError as error:
        many = f"{parameters} argument{'s' * (parameters != 1)}"
        raise BadAnswer(f"`{name}` is called with {many}, and yours cannot be: {str(error)[:_LONGEST]}.") from None
    except ValueError:
        pass  # some functions written in C do not tell what they take
    return value


def plain(value):
    """numpy and torch arrays and numbers, at any depth, as lists and Python's numbers; everything else as it is.

    >>> import numpy as np
    >>> plain((np.int64(4), [np.array([2, 2])]))
    (4, [[2, 2]])
    """
    if type(value).__module__.partition(".")[0] in ("numpy", "torch") and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return (tuple if isinstance(value, tuple) else list)(map(plain, value))
    return value


def kind(value) -> str:
    """What a value is, without asking it for its own words."""
    return "None" if value is None else f"of type {type(value).__name__}"


def _whole(value) -> int | None:
    """A whole number of Python, numpy, torch or the DSL as an int; None for anything else, a bool too."""
    value = plain(value)
    if isinstance(value, bool):
        return None
    try:
        return as_int(value)
    except Exception:  # a number of the DSL that is known only in the kernel has errors of its own
        return None


def _numbers(name: str, value):
    """Nested numbers as ints in tuples; BadAnswer for an entry that is none."""
    if isinstance(value, (tuple, list)):
        return tuple(_numbers(name, entry) for entry in value)
    number = _whole(value)
    if number is None:
        raise BadAnswer(f"`{name}` is not right in kind: it holds {shorten(value)}, which is not a whole number.")
    return number
