"""`Scene`: what is to be seen, without how it is drawn.

A view builds a Scene out of layouts; a renderer draws any Scene and knows no layout. A Scene is rows of panels; a panel is
one grid of cells. Cells are kept as columns (all labels, all offsets, ...), which is what makes a 64x64 grid cheap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from layoutviz.color import Color, categories, ramp
from layoutviz.errors import LayoutError

# a wrong cell; a cell whose offset another one has too; a place that nothing maps to; a slot of a tile that lies outside the layout
MARKS = ("wrong", "alias", "hole", "outside")
EMPTY = ("hole", "outside")  # no element is there: drawn without a fill
ORDERED = ("offset", "index", "place")  # keys that are coloured by a ramp; all others only name groups


@dataclass(frozen=True)
class Border:
    """A tile's border around `rows` x `cols` cells from (row, col); a higher level is drawn heavier."""

    level: int
    row: int
    col: int
    rows: int
    cols: int


@dataclass(frozen=True, eq=False)
class Panel:
    """One grid of `rows` x `cols` places. Cell c lies at (row[c], col[c]), with labels[c], tips[c] and keys[name][c]."""

    rows: int
    cols: int
    row: Sequence[int]
    col: Sequence[int]
    labels: Sequence[str]
    tips: Sequence[str]  # one line on each cell: "index 4 · coordinate (0,1) · offset 1"
    keys: Mapping[str, np.ndarray]  # what a cell is: index, offset, ..., one int64 a cell
    title: str = ""
    row_axis: str = ""  # what the row headers count
    col_axis: str = ""
    row_labels: Sequence[str] = ()
    col_labels: Sequence[str] = ()
    label_kind: str = "offset"  # chooses the ink: offset, index or coordinate
    borders: tuple[Border, ...] = ()
    marks: Mapping[int, str] = field(default_factory=dict)  # cell -> one of MARKS

    def __post_init__(self):
        counts = {"row": len(self.row), "col": len(self.col), "labels": len(self.labels), "tips": len(self.tips)}
        counts |= {f"keys[{name}]": len(column) for name, column in self.keys.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"every column of a panel has one entry a cell, not {counts}")
        if unknown := set(self.marks.values()) - set(MARKS):
            raise ValueError(f"unknown marks {unknown}; there are {MARKS}")


@dataclass(frozen=True, eq=False)
class Scene:
    """Rows of panels with one colouring: `color(keys[color_by])`. Cells with one value of keys[link_by] light up together."""

    panels: tuple[tuple[Panel, ...], ...]
    caption: str = ""
    color_by: str = "offset"
    link_by: str = "offset"
    color: Color | None = None  # by default a ramp for offsets and indices, categories for the rest

    def all_panels(self) -> list[Panel]:
        return [panel for row in self.panels for panel in row]

    def fills(self) -> list[list[str]]:
        """For each of all_panels(), the fill of each cell."""
        columns = [panel.keys[self.color_by] for panel in self.all_panels()]
        values, inverse = np.unique(np.concatenate(columns), return_inverse=True)
        color = self.color or self._default_color(values)
        fills = np.array([color(value) for value in values.tolist()], dtype=object)[inverse]
        return [part.tolist() for part in np.split(fills, np.cumsum([len(c) for c in columns])[:-1])]

    def links(self) -> list[list[int]]:
        """For each of all_panels(), the link value of each cell. A negative index, place or tile is none: such cells stay alone."""
        columns, alone = [panel.keys[self.link_by].tolist() for panel in self.all_panels()], count(-1, -1)
        if self.link_by not in ("index", "place", "tile"):
            return columns
        return [[value if value >= 0 else next(alone) for value in column] for column in columns]

    def _default_color(self, values: np.ndarray) -> Color:
        if self.color_by in ORDERED:
            return ramp(int(values[0]), int(values[-1]))
        return categories

    def with_caption(self, caption: str) -> "Scene":
        return replace(self, caption=caption)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from layoutviz.widgets.board import Board

        return Board(self)._repr_mimebundle_(include=include, exclude=exclude)


def beside(*scenes: Scene) -> Scene:
    """Scenes of one row of panels each, put side by side under one colouring; the first one's settings and caption hold.

    LayoutError for a scene of several rows, which cannot stand beside another.
    """
    if any(len(scene.panels) > 1 for scene in scenes):
        raise LayoutError("only pictures of one row of panels can stand side by side; draw the others one by one")
    if len({(scene.color_by, scene.link_by) for scene in scenes}) > 1:
        raise LayoutError("only pictures with one colouring and one linking can stand side by side; draw the others one by one")
    return replace(scenes[0], panels=(tuple(panel for scene in scenes for panel in scene.panels[0]),))
