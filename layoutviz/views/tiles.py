"""`tiles`: the tiles of a division, on the layout's own grid and as a table with one column a tile."""

import warnings
from dataclasses import replace
from itertools import accumulate
from operator import mul

import numpy as np

from layoutviz.algebra import positions, ragged, zipped_divide
from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError, RaggedWarning
from layoutviz.int_tuple import leaf_values, nest
from layoutviz.layout import SEARCH_LIMIT, CoordinateFunction, Layout
from layoutviz.modes import as_tiler, tiler_text
from layoutviz.notation import format_tuple
from layoutviz.scene import Border, Panel, Scene
from layoutviz.views.grid import grid, mode_coordinates, window_note
from layoutviz.views.kinds import AnyLayout, Label, Tiler
from layoutviz.views.operands import hue_note, in_rows, tile_colors
from layoutviz.views.slots import alias_marks, counted


def tiles(layout: AnyLayout, tiler: Tiler = (2, 2), label: Label = "offset") -> Scene:
    """Where the tiles of a division lie on the layout's grid, beside the same tiles as a table: rows are elements, columns are tiles.

    Tiles that are blocks of the grid have borders, as have the blocks inside them that a nested tile makes. Slots of a tile that lie
    outside the layout are hatched, with the offset that an unguarded access would reach; elements in no tile are struck through. It
    needs no layout of the whole, so that it draws divisions that none computes. LayoutError for a tiler that cannot tile, and for a
    mode of more than 2^20 elements or slots.

    >>> scene = tiles("(2,6):(6,1)", (1, 2))
    >>> [panel.title for panel in scene.all_panels()]
    ['where it lives: A = (2,6):(6,1)', 'as a 2-D table: ((1,2),(2,3)):((0,1),(6,2))']
    >>> scene.all_panels()[1].labels
    ['0', '6', '2', '8', '4', '10', '1', '7', '3', '9', '5', '11']
    """
    tiling = Tiling(layout, tiler)
    panels = [*tiled_grid(tiling, label, f"where it lives: A = {tiling.layout}"), _table(tiling, label)]
    notes = window_note(tiling.layout), window_note(_counts(tiling)).replace("Drawn:", "Drawn of the table:")
    told = f"{hue_note(tiling.tile_mode.size)}; a tile is a column of the table. {describe_tiling(tiling)}"
    caption = " ".join(filter(None, (told, *notes)))
    return Scene(in_rows(panels[:-1], panels[-1:]), caption=caption, color_by="tile", link_by="index", color=tile_colors(panels))


class Tiling:
    """A layout and a tiler: which slot (element, tile) holds which index. Worked out mode by mode, so no table outgrows a mode.

    Elements and tiles are numbered colexicographically, as zipped_divide numbers them. `divided` is that layout where there is one.
    """

    def __init__(self, layout: CoordinateFunction, tiler):
        self.layout, self.tiler = as_layout(layout), as_tiler(tiler)
        self.divided, tile, rest = self._divide()
        self.element_mode, self.tile_mode = Layout(tile), Layout(rest)  # of use for their extents and coordinates
        self.parts = [(mode, *place.modes()) for mode, place in positions(self.layout.plain, self.tiler)]
        if (most := max(max(mode.size, tile.size * rest.size) for mode, tile, rest in self.parts)) > SEARCH_LIMIT:
            what = f"{self.layout} by {tiler_text(self.tiler)}"
            raise LayoutError(f"{what} has a mode of {most:,} elements or slots; tiles are drawn up to {SEARCH_LIMIT:,} a mode")
        self._slot_at = [_slot_at(*part) for part in self.parts]

    def _divide(self):
        """zipped_divide, or None where no layout computes it, and the shapes of tile and rest."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RaggedWarning)
            try:
                divided = zipped_divide(self.layout, self.tiler)
                return divided, *divided.shape
            except LayoutError as error:
                extents = leaf_values(self.layout.shape)  # strides that go on past extents of 1 can always be divided
                strides = nest(accumulate(extents[:-1], mul, initial=1), self.layout.shape)
                try:
                    return None, *zipped_divide(Layout(self.layout.shape, strides), self.tiler).shape
                except LayoutError:
                    raise error from None

    def slots(self, element, tile) -> tuple[np.ndarray, np.ndarray]:
        """The index (-1 outside the layout) and the offset of element number `element` of tile number `tile`, arrays of one size."""
        index = offset = np.zeros(len(element), np.int64)
        inside, weight = np.ones(len(element), bool), 1
        for mode, tile_mode, rest in self.parts:
            place = tile_mode.at(element % tile_mode.size) + rest.at(tile % rest.size)
            element, tile = element // tile_mode.size, tile // rest.size
            index, offset, inside = index + place * weight, offset + mode.at(place), inside & (place < mode.size)
            weight *= mode.size
        return np.where(inside, index, -1), self.layout.after(offset)

    def find(self, index) -> tuple[np.ndarray, np.ndarray]:
        """The inverse of `slots`: the element and the tile of each index, -1 and -1 where it is in no tile."""
        element = tile = np.zeros(len(index), np.int64)
        found, elements, tiles = np.ones(len(index), bool), 1, 1
        for (mode, tile_mode, rest), slot_at in zip(self.parts, self._slot_at, strict=True):
            slot, index = slot_at[index % mode.size], index // mode.size
            element, tile = element + slot % tile_mode.size * elements, tile + slot // tile_mode.size * tiles
            found, elements, tiles = found & (slot >= 0), elements * tile_mode.size, tiles * rest.size
        return np.where(found, element, -1), np.where(found, tile, -1)


def _slot_at(mode: Layout, tile_mode: Layout, rest: Layout) -> np.ndarray:
    """For each place in a mode, the slot (element, tile) that lies there, as a flat number; -1 for none."""
    slot_at = np.full(mode.size, -1)
    places = np.add.outer(rest.offsets(), tile_mode.offsets()).ravel()
    inside = np.flatnonzero(places < mode.size)
    slot_at[places[inside]] = inside
    return slot_at


def _counts(tiling: Tiling) -> Layout:
    return Layout((tiling.element_mode.size, tiling.tile_mode.size))


def tiled_grid(tiling: Tiling, label: str, title: str) -> list[Panel]:
    """The layout's own grid, each cell with its tile and its element, borders around tiles that are blocks of it."""
    panels = []
    for panel in grid(tiling.layout, label, title=title, caption="").panels[0]:
        element, tile = tiling.find(panel.keys["index"])
        marks = panel.marks | dict.fromkeys(np.flatnonzero(tile < 0).tolist(), "hole")
        names = zip(panel.tips, element.tolist(), tile.tolist(), strict=True)
        tips = [f"{tip} · tile {t} · element {e}" if t >= 0 else f"{tip} · in no tile" for tip, e, t in names]
        keys = {**panel.keys, "tile": tile, "element": element}
        panels.append(replace(panel, keys=keys, tips=tips, marks=marks, borders=_borders(tiling, panel, element, tile)))
    return panels


def _table(tiling: Tiling, label: str) -> Panel:
    panel = grid(_counts(tiling), caption="").panels[0][0]
    element, tile = np.array(panel.row), np.array(panel.col)
    title = f"as a 2-D table: {tiling.divided or 'no one layout computes it'}"
    heads = {"row_labels": mode_coordinates(tiling.element_mode, panel.rows), "col_labels": mode_coordinates(tiling.tile_mode, panel.cols)}
    return replace(as_slots(tiling, panel, element, tile, label), title=title, row_axis="e", col_axis="t", **heads)


def as_slots(tiling: Tiling, panel: Panel, element, tile, label: str) -> Panel:
    """A panel whose cells are slots: of those inside, the label, the tip and the keys are those of the layout's element there."""
    index, offset = tiling.slots(element, tile)
    inside = np.flatnonzero(index >= 0)
    coordinates = np.full(len(index), "", object)
    coordinates[inside] = _coordinates(tiling.layout, index[inside])
    indices, offsets = index.tolist(), offset.tolist()
    shown = {"offset": map(str, offsets), "index": (str(i) if i >= 0 else "" for i in indices), "coordinate": coordinates}[label]
    names = zip(indices, coordinates, offsets, tile.tolist(), element.tolist(), strict=True)
    aliases = alias_marks(tiling.layout, offset[inside])
    return replace(
        panel, labels=list(shown), label_kind=label,
        tips=[f"{f'index {i} · coordinate {c}' if i >= 0 else 'outside'} · offset {o} · tile {t} · element {e}" for i, c, o, t, e in names],
        keys={"index": index, "offset": offset, "tile": tile, "element": element},
        marks={int(inside[k]): mark for k, mark in aliases.items()} | dict.fromkeys(np.flatnonzero(index < 0).tolist(), "outside"),
    )  # fmt: skip


def _coordinates(layout: CoordinateFunction, index: np.ndarray) -> list[str]:
    """The coordinate of each index as text; each mode's coordinates are written once."""
    columns = []
    for mode in Layout(layout.shape).modes():
        values, which = np.unique(index % mode.size, return_inverse=True)
        names = [format_tuple(mode.coordinate(i)) for i in values.tolist()]
        columns.append([names[k] for k in which.tolist()])
        index = index // mode.size
    return [f"({','.join(entries)})" for entries in zip(*columns, strict=True)] if isinstance(layout.shape, tuple) else columns[0]


def _borders(tiling: Tiling, panel: Panel, element: np.ndarray, tile: np.ndarray) -> tuple[Border, ...]:
    """Borders of tiles, and from these down of the blocks that their leading leaves make, as far as they are blocks of the grid."""
    sizes = [list(accumulate(leaf_values(tile_mode.shape), mul)) for _, tile_mode, _ in tiling.parts]
    sizes = [sorted({size for size in part if 1 < size < part[-1]}) + [part[-1]] for part in sizes]
    levels, borders = max(map(len, sizes)), []
    for level in range(levels, 0, -1):
        group, left = tile, element
        for part in sizes:
            block, whole = part[min(level, len(part)) - 1], part[-1]
            # numbered anew at each step, as the product of many extents would not fit
            group = np.unique(group, return_inverse=True)[1] * whole + left % whole // block
            left = left // whole
        found = _blocks(panel, np.where(tile < 0, -1, group), level) if tiling.element_mode.size > 1 else []
        if not found:
            break
        borders = found + borders
    return tuple(borders)


def _blocks(panel: Panel, group: np.ndarray, level: int) -> list[Border]:
    """A border around each group of cells that fills a block."""
    order = np.argsort(group, kind="stable")[np.count_nonzero(group < 0) :]
    _, starts, count = np.unique(group[order], return_index=True, return_counts=True)
    if not len(starts):
        return []
    row, col = np.array(panel.row)[order], np.array(panel.col)[order]
    top, left = np.minimum.reduceat(row, starts), np.minimum.reduceat(col, starts)
    high, wide = np.maximum.reduceat(row, starts) - top + 1, np.maximum.reduceat(col, starts) - left + 1
    boxes = np.stack((top, left, high, wide), axis=1)[high * wide == count]
    return [Border(level, *box) for box in boxes.tolist()]


def describe_tiling(tiling: Tiling) -> str:
    """How many tiles of how many elements, or what does not fit; and on what a tiler that is a layout works."""
    facts = ragged(tiling.layout, tiling.tiler)
    known = {"outside": "hatched: outside", "no tile": "struck through: in no tile"}
    marks = "; ".join(mark for words, mark in known.items() if words in facts)
    told = f"{facts[0].upper()}{facts[1:]} ({marks})." if facts else (
        f"{counted(tiling.tile_mode.size, 'tile')} of {counted(tiling.element_mode.size, 'element')}; every element is in one of them."
    )  # fmt: skip
    if isinstance(tiling.tiler, Layout) and tiling.layout.rank > 1:
        told += " A layout as tiler counts along the index, down the first mode; a tuple would tile mode by mode."
    return told
