"""Known mistakes, recognised by the tables of offsets. What is said of an answer is true of it; no words tell the right answer.

A table here is an int64 array with one axis for each mode: a[i, j] is the offset at coordinate (i, j).
"""

import warnings
from itertools import permutations

import numpy as np

from exercises.engine.verdict import Mistake
from layoutviz import ComposedLayout, Layout, LayoutError, Swizzle, composed, modes, same_function, zipped_divide
from layoutviz.layout import CoordinateFunction

LARGEST = 2**14  # elements of a table that is looked through
MOST_MODES = 16
FARTHEST = 2**40  # offsets up to here: sums and differences of them cannot overflow

CONSTANT = Mistake("a constant", "Every coordinate has the same offset.", "How far does the offset move when one coordinate grows by one?")
BROADCAST = Mistake(
    "stride 0", "Along one mode the offset stays the same, so that different elements share a slot.",
    "Walk along each mode in turn. Along which one does the offset never change?",
)  # fmt: skip
ROW_FOR_COLUMN = Mistake(
    "row for column", "A step along a row is shorter than a step down a column, as in row-major.",
    "Which elements are to be neighbours in memory, those of a row or those of a column?",
)  # fmt: skip
COLUMN_FOR_ROW = Mistake(
    "column for row", "In your layout a step down a column is shorter than a step along a row, as in column-major.",
    "Which elements are to be neighbours in memory, those of a row or those of a column?",
)  # fmt: skip
SWAPPED = Mistake(
    "modes swapped", "The modes are swapped: one stands where another belongs.",
    "What does the first mode count, what the second?",
)  # fmt: skip
TRANSPOSED = Mistake(
    "rows for columns", "Rows and columns are swapped: you numbered a table with as many rows as this one has columns.",
    "Which number of the shape counts the rows?",
)  # fmt: skip
ROW_BY_ROW = Mistake(
    "row by row", "Your numbers go along the rows. The index runs down the columns, first mode fastest.",
    "Which coordinate has index 1?",
)  # fmt: skip
INDEX = Mistake(
    "index for offset", "Your offsets count 0, 1, 2, ... as the index does. An offset says where in memory the element lies.",
    "Index 1 is one step along the first mode. How far is that in memory?",
)  # fmt: skip
SHIFTED = Mistake("off by one amount", "Every offset is off by the same amount.", "Which offset does the first element have?")
BYTES = Mistake(
    "bytes for elements", "Every offset is too large by the same factor, as when bytes are counted. Offsets count elements.",
    "In which unit do you count?",
)  # fmt: skip
WIDE = Mistake(
    "too wide a unit", "Every offset is too small by the same factor, as when wider elements are counted.", "In which unit do you count?"
)
REVERSED = Mistake("reversed order", "These are the right offsets, in the reverse order.", "Which element does index 0 stand for?")
BACKWARDS = Mistake(
    "backwards", "A step along some mode goes the wrong way in memory: it runs backwards.",
    "Which sign does each stride have?",
)  # fmt: skip
PACKED = Mistake(
    "no padding", "The order in memory is right, but the elements follow each other without padding.",
    "Which slots are to stay unused, and what makes a step jump over them?",
)  # fmt: skip
STRIDE_OFF = Mistake(
    "stride off by one", "One stride is off by one; the rest is right.",
    "How many slots lie between two neighbours along each mode? And how far is it from one to the other?",
)  # fmt: skip
PADDING = Mistake(
    "padding counted", "The shape counts only elements that exist. Yours counts slots too that are to stay unused.",
    "Where else than in the shape can the distance between elements be said?",
)  # fmt: skip
EXTENT_OFF = Mistake(
    "extent off by one", "One extent is off by one. The elements that both layouts have lie right.",
    "How many coordinates does each mode have?",
)  # fmt: skip
HALVES = Mistake(
    "tile and rest swapped", "The two parts inside a mode have changed places, as when tile and rest are swapped.",
    "Which part is walked first, the position in a tile or the number of the tile?",
)  # fmt: skip
UNSWIZZLED = Mistake(
    "no swizzle", "The layout under the swizzle is right; the swizzle is missing.",
    "What still permutes the columns of each row?",
)  # fmt: skip
SWIZZLE_UNIT = Mistake(
    "swizzle in another unit", "Only the m of the swizzle is another, as when bytes are counted for elements or the reverse.",
    "How many low bits of the offset stay together: of bytes or of elements?",
)  # fmt: skip
TILER_TRANSPOSED = Mistake(
    "transposed tiler", "The tile lies on its side: its extents are in the reverse order.",
    "Which extent cuts the rows?",
)  # fmt: skip
TILER_FLAT = Mistake(
    "a layout as a tiler by mode", "One layout as a tiler works on the flat index of the whole. Here each mode is to be cut for itself.",
    "Which indices does the first tile hold, and where do they lie in the grid?",
)  # fmt: skip
TILER_COUNTS = Mistake(
    "number of tiles for extent", "Your tiler has as many elements along each mode as there should be tiles.",
    "Does a tiler count tiles or elements?",
)  # fmt: skip


def recognise_layout(answer: CoordinateFunction, wanted: CoordinateFunction) -> Mistake | None:
    """The known mistake in a layout, most telling first; None if it is right in function or nothing fits. Up to 2^14 elements.

    >>> recognise_layout(Layout("(6,5):(1,6)"), Layout("(6,5):(5,1)")).name, recognise_layout(Layout("4:1"), Layout("(2,2):(1,2)"))
    ('column for row', None)
    """
    if max(answer.rank, wanted.rank) > MOST_MODES or max(answer.size, wanted.size) > LARGEST or same_function(answer, wanted):
        return None
    for mistake, is_it in _OF_LAYOUTS:
        if is_it(answer, wanted):
            return mistake
    return _first(_OF_TABLES, _table(answer), _table(wanted))


def recognise_table(numbers: list[int], wanted: CoordinateFunction) -> Mistake | None:
    """The known mistake in a table of offsets, given in index order; None if they are right or nothing fits.

    Pre: as many numbers as `wanted` has elements.

    >>> recognise_table([0, 1, 2, 3, 4, 5], Layout("(2,3):(3,1)")).name
    'index for offset'
    """
    w = _table(wanted)
    if w.size > LARGEST or max(map(abs, numbers)) > FARTHEST:
        return None
    a = np.array(numbers, np.int64).reshape(w.shape, order="F")
    if (a == w).all():
        return None
    found = _first(_OF_LISTS, a, w)
    return (_other_steps(a) if found in (None, STRIDE_OFF) else None) or found


def recognise_number(answer: int, wanted: int) -> Mistake | None:
    """A number off by one, of the other sign, or counted in another unit; None if it is right or nothing fits.

    >>> recognise_number(15, 16).name, recognise_number(32, 16).name
    ('off by one', 'bytes for elements')
    """
    if abs(answer - wanted) == 1:
        return Mistake("off by one", "It is off by one.", "Do you count from 0 or from 1, and does the last one count?")
    if answer == -wanted != 0:
        return Mistake("the other sign", "The sign is wrong.", "Which way does the step go?")
    if wanted and answer in [f * wanted for f in (2, 4, 8, 16)]:
        return Mistake("bytes for elements", "It is a few times too large, as when bytes are counted for elements.", BYTES.hint)
    return None


def recognise_tiler(answer, wanted, layout) -> Mistake | None:
    """The known mistake in a tiler of a layout; None if it cuts the layout as `wanted` does or nothing fits.

    >>> recognise_tiler("(4,8):(1,4)", (4, 8), "(12,32)").name, recognise_tiler((3, 4), (4, 8), "(12,32)").name
    ('a layout as a tiler by mode', 'number of tiles for extent')
    """
    answer, wanted, layout = modes.as_tiler(answer), modes.as_tiler(wanted), composed.as_layout(layout)
    if layout.size > LARGEST or _cuts_as(answer, wanted, layout):
        return None
    if not isinstance(wanted, tuple):
        return None
    if len(wanted) > 1 and _cuts_as(answer, wanted[::-1], layout):
        return TILER_TRANSPOSED
    extents = tuple(None if entry is None or isinstance(entry, tuple) else entry.size for entry in wanted)
    if isinstance(answer, Layout) and None not in extents and _sizes(answer) == extents:
        return TILER_FLAT
    sizes = _sizes(layout)[: len(extents)]
    counts = tuple(None if n is None else -(-size // n) for size, n in zip(sizes, extents, strict=False))
    return TILER_COUNTS if _cuts_as(answer, modes.as_tiler(counts), layout) else None


def _cuts_as(answer, candidate, layout) -> bool:
    """Whether two tilers cut a layout into the same tiles, in the same form."""
    try:
        with warnings.catch_warnings(action="ignore"):
            one, other = zipped_divide(layout, answer), zipped_divide(layout, candidate)
    except LayoutError:
        return False
    return _sizes(one) == _sizes(other) and same_function(one, other)


def _sizes(layout: CoordinateFunction) -> tuple[int, ...]:
    return tuple(mode.size for mode in Layout(layout.shape))


def _table(layout: CoordinateFunction) -> np.ndarray:
    return layout.offsets().reshape(_sizes(layout), order="F")


def _first(laws, a: np.ndarray, w: np.ndarray) -> Mistake | None:
    if max(abs(int(end)) for table in (a, w) for end in (table.min(), table.max())) > FARTHEST:
        return None
    return next((mistake for mistake, is_it in laws if is_it(a, w)), None)


# --- laws of two layouts that are not the same function


def _unswizzled(answer, wanted) -> bool:
    return _is_swizzled(wanted) and wanted.offset == 0 and same_function(answer, wanted.inner)


def _swizzle_unit(answer, wanted) -> bool:
    if not (_is_swizzled(answer) and _is_swizzled(wanted)):
        return False
    kept = [(each.outer.b, each.outer.s, each.offset) for each in (answer, wanted)]
    return kept[0] == kept[1] and answer.outer.m != wanted.outer.m and same_function(answer.inner, wanted.inner)


def _is_swizzled(layout) -> bool:
    return isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle)


def _halves(answer, wanted) -> bool:
    """The parts of each mode that has two are swapped."""
    if not (isinstance(answer, Layout) and isinstance(wanted, Layout)):
        return False
    turned = modes.stack(modes.stack(mode.modes()[::-1]) if mode.depth and mode.rank == 2 else mode for mode in wanted)
    return answer.shape == turned.shape and same_function(answer, turned)


# --- laws of two tables; each implies that they differ


def _constant(a, w) -> bool:
    return a.size > 1 and a.min() == a.max() and w.min() < w.max()


def _broadcast(a, w) -> bool:
    """Same shape, and along some axis a stays where w moves."""
    return a.shape == w.shape and any(not np.diff(a, axis=m).any() and np.diff(w, axis=m).any() for m in range(a.ndim))


def _steps(table) -> tuple[int, ...] | None:
    """The step along each axis of a table that has one step along each; None for other tables."""
    start = int(table.flat[0])
    steps = tuple(int(np.moveaxis(table, m, 0)[1].flat[0]) - start if n > 1 else 0 for m, n in enumerate(table.shape))
    return steps if (table == start + sum(d * i for d, i in zip(steps, np.indices(table.shape), strict=True))).all() else None


def _order(table) -> int:
    """-1 for column-major, 1 for row-major, with one step along each mode; 0 for what is neither."""
    steps = _steps(table) if table.ndim == 2 else None
    return (steps[0] > steps[1]) - (steps[0] < steps[1]) if steps and min(steps) > 0 else 0


def _swapped(a, w) -> bool:
    orders = list(permutations(range(w.ndim)))[1:] if a.ndim == w.ndim <= 4 else []
    return any(np.array_equal(a, w.transpose(order)) for order in orders) and not np.array_equal(a, w)


def _times(a, w, factor: int) -> bool:
    return a.shape == w.shape and w.any() and np.array_equal(a, factor * w)


def _shifted(a, w) -> bool:
    return a.shape == w.shape and (difference := a - w).any() and difference.min() == difference.max()


def _backwards(a, w) -> bool:
    """Same shape, one step along each mode in both, of equal length, and some of opposite sign."""
    steps = [_steps(table) for table in (a, w)] if a.shape == w.shape else [None]
    return None not in steps and steps[0] != steps[1] and list(map(abs, steps[0])) == list(map(abs, steps[1]))


def _packed(a, w) -> bool:
    """a fills 0 to size - 1, w does not, and both have their elements in one order in memory."""
    if a.shape != w.shape or not np.array_equal(np.sort(a, axis=None), np.arange(a.size)):
        return False
    order = np.argsort(a, axis=None)
    return bool((np.diff(w.ravel()[order]) > 0).all()) and int(w.max() - w.min()) >= w.size


def _stride_off(a, w) -> bool:
    if a.shape != w.shape or _steps(a) is None or _steps(w) is None:
        return False
    off = [abs(one - other) for one, other in zip(_steps(a), _steps(w), strict=True)]
    return sum(off) == 1 and a.flat[0] == w.flat[0]


def _common_box(a, w) -> list[int] | None:
    """By how much a is longer along each axis, if it agrees with w wherever both have elements and differs along one axis only."""
    longer = [n - m for n, m in zip(a.shape, w.shape, strict=False)] if a.ndim == w.ndim else []
    box = tuple(slice(min(sizes)) for sizes in zip(a.shape, w.shape, strict=False))
    return longer if sum(map(bool, longer)) == 1 and np.array_equal(a[box], w[box]) else None


def _padding(a, w) -> bool:
    """a has more elements, and the first of these lie between those of w in memory."""
    longer = _common_box(a, w)
    if longer is None or max(longer) < 1 or (w.min() < 0):
        return False
    more = np.setdiff1d(a, w)
    return more.size == a.size - w.size and bool((more < w.max()).any())


def _extent_off(a, w) -> bool:
    longer = _common_box(a, w)
    return longer is not None and sum(map(abs, longer)) == 1


def _index(a, w) -> bool:
    return a.size > 1 and a.size == w.size and np.array_equal(a.ravel(order="F"), np.arange(a.size)) and not np.array_equal(a, w)


def _reversed(a, w) -> bool:
    return a.shape == w.shape and np.array_equal(a.ravel(order="F"), w.ravel(order="F")[::-1]) and not np.array_equal(a, w)


def _row_by_row(a, w) -> bool:
    return a.shape == w.shape and np.array_equal(a.ravel(order="F"), w.ravel()) and not np.array_equal(a, w)


def _transposed(a, w) -> bool:
    """Both number their elements 0, 1, 2, ... row by row, a with the extents in the reverse order."""
    lexicographic = np.arange(w.size)
    turned = lexicographic.reshape(w.shape[::-1]).ravel(order="F")
    return np.array_equal(w.ravel(), lexicographic) and np.array_equal(a.ravel(order="F"), turned) and not np.array_equal(a, w)


def _other_steps(a) -> Mistake | None:
    """What the steps of a table of rank 2 are, where it has one step along each mode."""
    steps = _steps(a) if a.ndim == 2 and min(a.shape) > 1 else None
    words = "In your numbers one step down moves {} and one step to the right moves {}."
    return steps and Mistake("another stride", words.format(*steps), "Which of the two steps does not fit the strides?")


_UNITS = (2, 4, 8, 16)

_OF_TABLES = (  # laws of two tables, most telling first
    (CONSTANT, _constant), (BROADCAST, _broadcast),
    (COLUMN_FOR_ROW, lambda a, w: a.shape == w.shape and (_order(a), _order(w)) == (-1, 1)),
    (ROW_FOR_COLUMN, lambda a, w: a.shape == w.shape and (_order(a), _order(w)) == (1, -1)),
    (SWAPPED, _swapped), (SHIFTED, _shifted), (BYTES, lambda a, w: any(_times(a, w, f) for f in _UNITS)),
    (WIDE, lambda a, w: any(_times(w, a, f) for f in _UNITS)), (BACKWARDS, _backwards), (REVERSED, _reversed),
    (PACKED, _packed), (STRIDE_OFF, _stride_off), (PADDING, _padding), (EXTENT_OFF, _extent_off), (INDEX, _index),
)  # fmt: skip
# numbers written down in index order may be right but for their order
_OF_LISTS = ((CONSTANT, _constant), (INDEX, _index), (TRANSPOSED, _transposed), (ROW_BY_ROW, _row_by_row), *_OF_TABLES)
_OF_LAYOUTS = ((UNSWIZZLED, _unswizzled), (SWIZZLE_UNIT, _swizzle_unit), (HALVES, _halves))
