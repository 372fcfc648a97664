"""`grid`: a layout as rows and columns of cells, each labelled with its offset, index or coordinate."""

from collections.abc import Mapping, Sequence
from math import prod
from numbers import Integral
from typing import Annotated, get_args

import numpy as np

from layoutviz.color import Color
from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import leaf_values
from layoutviz.layout import CoordinateFunction, Layout
from layoutviz.notation import format_tuple
from layoutviz.scene import MARKS, Border, Panel, Scene
from layoutviz.views.kinds import AnyLayout, Label, Range
from layoutviz.views.slots import alias_marks, describe

LABELS = get_args(Label)
WINDOW = 128  # rows or columns in one picture; of a larger layout the first ones are drawn
PANELS = 8  # slices of a layout of rank 3 or more in one picture, or fewer:
CELLS = WINDOW * WINDOW  # cells in one picture


def _last_first(values: dict) -> int:
    """The last slice from which a full row of panels can be drawn."""
    layout = values["layout"]
    return prod(mode.size for mode in _modes(layout)[2:]) - _slices(layout)


def grid(
    layout: AnyLayout,
    label: Label = "offset",
    first: Annotated[int, Range(0, _last_first)] = 0,
    *,
    labels: Sequence[str] | None = None,
    marks: Mapping[int, str] | None = None,
    color: Color | None = None,
    title: str | None = None,
    caption: str | None = None,
) -> Scene:
    """A layout of any kind and rank: rank 1 as one row, rank 2 as rows and columns, more as one panel for each further coordinate.

    `labels`, one text for each index, stand in for the label. Cells that share an offset are marked; `marks` maps further
    indices to one of scene.MARKS; `title` stands over the first panel. Of more than 128 rows or columns, 8 panels or 128*128
    cells the first ones are drawn (panels from slice `first` on), and the caption says so.

    >>> scene = grid(Layout("(2,3):(3,1)"))
    >>> scene.panels[0][0].labels
    ['0', '1', '2', '3', '4', '5']
    """
    layout = as_layout(layout)
    check_label(label)
    labels, marks = _own_labels(layout, labels), _own_marks(layout, marks)
    if not (color is None or callable(color)):
        raise LayoutError(f'color is a function of a cell\'s offset, as in lambda offset: "#ffd9a0", not {color!r}')
    for name, words in {"title": title, "caption": caption}.items():
        if words is not None:
            check_text(name, words)
    if not 0 <= first <= (last := _last_first({"layout": layout})):
        raise LayoutError(f"first is the first slice drawn, 0 to {last} for {layout}, not {first}")
    name = str(layout) if title is None else title
    panels = tuple(_panel(layout, first + n, label, labels, marks, name * (n == 0)) for n in range(_slices(layout)))
    text = caption if caption is not None else describe(layout)
    return Scene((panels,), caption=" ".join(filter(None, (text, window_note(layout, first)))), color=color)


def check_text(name: str, words) -> str:
    """The words. LayoutError for what is no text."""
    if not isinstance(words, str):
        raise LayoutError(f"a {name} is a text, not {words!r}")
    return words


def _own_labels(layout: CoordinateFunction, labels) -> list[str] | None:
    if labels is None:
        return None
    if isinstance(labels, str) or not isinstance(labels, Sequence | np.ndarray):
        raise LayoutError(f"labels are a list of texts, one for each index of {layout}, not {labels!r}")
    if len(labels) != layout.size:
        raise LayoutError(f"{len(labels)} labels for {layout}, which has {layout.size} elements")
    return ["".join(char if char.isprintable() else " " for char in str(text)) for text in labels]


def _own_marks(layout: CoordinateFunction, marks) -> dict[int, str]:
    wanted = f"marks take an index of {layout} to one of {', '.join(MARKS)}, as in {{3: \"wrong\"}}"
    if not isinstance(marks, Mapping | None):
        raise LayoutError(f"{wanted}, not {marks!r}")
    for index, mark in (marks or {}).items():
        if not isinstance(index, Integral) or not 0 <= index < layout.size or mark not in MARKS:
            raise LayoutError(f"{wanted}, not {index!r} to {mark!r}")
    return {int(index): mark for index, mark in (marks or {}).items()}


def check_label(label: str) -> None:
    """LayoutError for a label that no view has."""
    if label not in LABELS:
        raise LayoutError(f'cells can be labelled with {", ".join(LABELS)}, not "{label}"')


def mode_coordinates(mode: Layout, count: int) -> list[str]:
    """The coordinates of a mode's first `count` indices, nested as the mode, as text."""
    return [format_tuple(mode.coordinate(i)) for i in range(count)]


def _panel(layout: CoordinateFunction, n: int, label: str, labels, marks, title) -> Panel:
    """The n-th slice of a layout: its third and further modes at index n. Cells run along the rows."""
    modes = _modes(layout)
    row_mode, col_mode = (Layout(1, 0), modes[0]) if len(modes) == 1 else modes[:2]
    rows, cols = min(row_mode.size, WINDOW), min(col_mode.size, WINDOW)
    row, col = np.repeat(np.arange(rows), cols), np.tile(np.arange(cols), rows)
    index = row + col * row_mode.size + n * row_mode.size * col_mode.size
    at = Layout(tuple(mode.size for mode in modes[2:])).coordinate(n) if modes[2:] else ()
    offset = layout.at(index)
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
        title=f"{title}   at (:,:,{','.join(fixed)})".lstrip() if fixed else title,
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


def _modes(layout: CoordinateFunction) -> list[Layout]:
    """The domain of each top-level mode: a layout too, of whose extents and coordinates use is made, not of its strides."""
    return Layout(layout.shape).modes()


def _slices(layout: CoordinateFunction) -> int:
    """How many slices are drawn of a layout of rank 3 or more; 1 of any other."""
    sizes = [mode.size for mode in _modes(layout)]
    cells = prod(min(size, WINDOW) for size in sizes[:2])
    return min(prod(sizes[2:]), PANELS, max(1, CELLS // cells))


def window_note(layout: CoordinateFunction, first: int = 0) -> str:
    """Says what is left out of the picture, or nothing."""
    sizes = [mode.size for mode in _modes(layout)]
    names = ("columns",) if len(sizes) == 1 else ("rows", "columns")
    notes = [f"{name} 0 to {WINDOW - 1} of {size:,}" for name, size in zip(names, sizes, strict=False) if size > WINDOW]
    drawn, slices = _slices(layout), prod(sizes[2:])
    if drawn < slices:
        notes.append(f"{f'slices {first} to {first + drawn - 1}' if drawn > 1 else f'slice {first}'} of {slices:,}")
    return f"Drawn: {', '.join(notes)}." if notes else ""
