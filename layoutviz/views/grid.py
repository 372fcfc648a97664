"""`grid`: a layout as rows and columns of cells, each labelled with its offset, index or coordinate."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

import numpy as np

from layoutviz.color import Color
from layoutviz.composed import find_alias
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import leaf_values
from layoutviz.layout import SEARCH_LIMIT, Layout
from layoutviz.notation import format_tuple
from layoutviz.scene import MARKS, Border, Panel, Scene

LABELS = ("offset", "index", "coordinate")
WINDOW = 128  # rows or columns in one picture; of a larger layout the first ones are drawn
PANELS = 8  # slices of a layout of rank 3 or more in one picture, or fewer:
CELLS = WINDOW * WINDOW  # cells in one picture


def grid(
    layout: Layout,
    label: str = "offset",
    *,
    labels: Sequence[str] | None = None,
    marks: Mapping[int, str] | None = None,
    color: Color | None = None,
    title: str | None = None,
    caption: str | None = None,
) -> Scene:
    """A layout of any rank: rank 1 as one row, rank 2 as rows and columns, more as one panel for each further coordinate.

    `labels`, one text for each index, stand in for the label. Cells that share an offset are marked; `marks` maps further
    indices to one of scene.MARKS. Of more than 128 rows or columns, 8 panels or 128*128 cells the first ones are drawn, and the
    caption says so.

    >>> scene = grid(Layout("(2,3):(3,1)"))
    >>> scene.panels[0][0].labels
    ['0', '1', '2', '3', '4', '5']
    """
    layout = Layout(layout)
    check_label(label)
    if labels is not None and len(labels) != layout.size:
        raise LayoutError(f"{len(labels)} labels for {layout}, which has {layout.size} elements")
    for index, mark in (marks or {}).items():
        if not 0 <= index < layout.size or mark not in MARKS:
            raise LayoutError(f"marks take an index of {layout} to one of {', '.join(MARKS)}, not {index} to {mark!r}")
    if labels is not None:
        labels = ["".join(char if char.isprintable() else " " for char in str(text)) for text in labels]
    panels = tuple(_panel(layout, n, label, labels, marks or {}, title) for n in range(_slices(layout)))
    text = caption if caption is not None else describe(layout)
    return Scene((panels,), caption=" ".join(filter(None, (text, window_note(layout)))), color=color)


def check_label(label: str) -> None:
    """LayoutError for a label that no view has."""
    if label not in LABELS:
        raise LayoutError(f'cells can be labelled with {", ".join(LABELS)}, not "{label}"')


def describe(layout: Layout) -> str:
    """How many elements lie in how many slots, and whether slots are shared (with the first two that share one) or unused.

    >>> describe(Layout("(4,4):(1,3)"))
    '16 elements in 13 slots. 3 slots are shared (aliasing): (3,0) and (0,1) both have offset 3.'
    """
    size, cosize = layout.size, layout.cosize
    facts = f"{_counted(size, 'element')} in {_counted(cosize, 'slot')}."
    try:
        alias = find_alias(layout)
    except LayoutError:
        # more elements than slots: then some must share, even where nobody can say which
        return f"{facts} {'Slots are shared (aliasing).' if size > cosize else 'Too many to search for elements that share a slot.'}"
    if alias:
        shared, unused = _shared_and_unused(layout)
        first, second = (format_tuple(layout.coordinate(i)) for i in alias)
        return f"{facts} {shared}: {first} and {second} both have offset {layout(alias[0])}.{unused}"
    if unused := cosize - size:
        return f"{facts} No slot is shared; {unused:,} stay{'s' * (unused == 1)} unused."
    return f"{facts} Every slot is used once."


def _shared_and_unused(layout: Layout) -> tuple[str, str]:
    """How many slots hold several elements, and how many none; no numbers where there are too many elements to count."""
    if layout.size > SEARCH_LIMIT:
        return "Slots are shared (aliasing)", ""
    values, counts = _slots(layout)
    shared, unused = int((counts > 1).sum()), layout.cosize - len(values)
    words = f"{_counted(shared, 'slot')} {'is' if shared == 1 else 'are'} shared (aliasing)"
    return words, f" {_counted(unused, 'slot')} stay{'s' * (unused == 1)} unused." if unused else ""


@lru_cache(maxsize=4)  # one scene asks several times, once for each panel
def _slots(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """The offsets in use, in order, and how many elements have each."""
    return np.unique(layout.offsets(), return_counts=True)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def mode_coordinates(mode: Layout, count: int) -> list[str]:
    """The coordinates of a mode's first `count` indices, nested as the mode, as text."""
    return [format_tuple(mode.coordinate(i)) for i in range(count)]


def alias_marks(layout: Layout, offsets: np.ndarray) -> dict[int, str]:
    """A mark for each drawn cell, given by its offset, whose offset another element of the layout has too, drawn or not."""
    if any(extent > 1 and stride == 0 for extent, stride in layout.leaves):
        return dict.fromkeys(range(len(offsets)), "alias")
    if layout.size > SEARCH_LIMIT:  # too many to look at: of those drawn, at least, none stays unmarked
        values, counts = np.unique(offsets, return_counts=True)
    elif find_alias(layout) is None:
        return {}
    else:
        values, counts = _slots(layout)
    return dict.fromkeys(np.flatnonzero(np.isin(offsets, values[counts > 1])).tolist(), "alias")


def _panel(layout: Layout, n: int, label: str, labels, marks, title) -> Panel:
    """The n-th slice of a layout: its third and further modes at index n. Cells run along the rows."""
    modes = layout.modes()
    row_mode, col_mode = (Layout(1, 0), modes[0]) if len(modes) == 1 else modes[:2]
    rows, cols = min(row_mode.size, WINDOW), min(col_mode.size, WINDOW)
    row, col = np.repeat(np.arange(rows), cols), np.tile(np.arange(cols), rows)
    index = row + col * row_mode.size + n * row_mode.size * col_mode.size
    at = Layout(tuple(mode.size for mode in modes[2:])).coordinate(n) if modes[2:] else ()
    base = sum(mode(c) for mode, c in zip(modes[2:], at, strict=True))
    offset = np.add.outer([row_mode(i) for i in range(rows)], [col_mode(j) + base for j in range(cols)]).ravel()
    fixed = [format_tuple(mode.coordinate(c)) for mode, c in zip(modes[2:], at, strict=True)]
    coordinates = _coordinates(layout, row_mode, col_mode, rows, cols, fixed)
    indices, offsets = index.tolist(), offset.tolist()
    if labels is not None:
        shown = [labels[i] for i in indices]
    else:
        shown = coordinates if label == "coordinate" else list(map(str, offsets if label == "offset" else indices))
    return Panel(
        rows, cols, row.tolist(), col.tolist(), shown,
        tips=[f"index {i} · coordinate {c} · offset {o}" for i, c, o in zip(indices, coordinates, offsets, strict=True)],
        keys={"index": index, "offset": offset},
        title=(title if title is not None else str(layout)) + (f"   at (:,:,{','.join(fixed)})" if fixed else ""),
        row_axis="" if len(modes) == 1 else "i", col_axis="i" if len(modes) == 1 else "j",
        row_labels=[] if len(modes) == 1 else list(map(str, range(rows))), col_labels=list(map(str, range(cols))),
        label_kind=label, borders=_borders(row_mode, col_mode, rows, cols),
        marks=alias_marks(layout, offset) | {cell: marks[i] for cell, i in enumerate(indices) if i in marks},
    )


def _coordinates(layout, row_mode, col_mode, rows, cols, fixed) -> list[str]:
    columns = mode_coordinates(col_mode, cols)
    if layout.rank == 1:
        return [f"({c})" for c in columns] if isinstance(layout.shape, tuple) else columns
    tails = [",".join([c, *fixed]) for c in columns]
    return [f"({r},{tail})" for r in mode_coordinates(row_mode, rows) for tail in tails]


def _borders(row_mode: Layout, col_mode: Layout, rows: int, cols: int) -> tuple[Border, ...]:
    """Blocks made by nested modes: in a mode (2,(3,4)) every 2 and every 6 places, heavier with the level."""

    def blocks(mode: Layout) -> list[int]:
        extents = leaf_values(mode.shape)
        return sorted({size for k in range(1, len(extents)) if 1 < (size := prod(extents[:k])) < mode.size})

    borders = []
    row_blocks, col_blocks = blocks(row_mode), blocks(col_mode)
    for level in range(max(len(row_blocks), len(col_blocks))):
        high = row_blocks[level] if level < len(row_blocks) else rows
        wide = col_blocks[level] if level < len(col_blocks) else cols
        borders += [
            Border(level + 1, r, c, min(high, rows - r), min(wide, cols - c)) for r in range(0, rows, high) for c in range(0, cols, wide)
        ]
    return tuple(borders)


def _slices(layout: Layout) -> int:
    """How many slices are drawn of a layout of rank 3 or more; 1 of any other."""
    sizes = [mode.size for mode in layout.modes()]
    cells = prod(min(size, WINDOW) for size in sizes[:2])
    return min(prod(sizes[2:]), PANELS, max(1, CELLS // cells))


def window_note(layout: Layout) -> str:
    """Says what is left out of the picture, or nothing."""
    sizes = [mode.size for mode in layout.modes()]
    names = ("columns",) if len(sizes) == 1 else ("rows", "columns")
    notes = [f"{name} 0 to {WINDOW - 1} of {size:,}" for name, size in zip(names, sizes, strict=False) if size > WINDOW]
    drawn, slices = _slices(layout), prod(sizes[2:])
    if drawn < slices:
        notes.append(f"the first {_counted(drawn, 'slice') if drawn > 1 else 'slice'} of {slices:,}")
    return f"Drawn: {', '.join(notes)}." if notes else ""
