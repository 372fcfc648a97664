"""`product`: a block, a tiler, and the copies of the block that the tiler lays out."""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from layoutviz import algebra
from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.layout import CoordinateFunction, Layout
from layoutviz.scene import Border, Panel, Scene
from layoutviz.views.kinds import AnyLayout, Label
from layoutviz.views.operands import hue_note, in_rows, keyed_grid, one_layout, tile_colors, window_notes
from layoutviz.views.slots import counted, describe

Form = Literal["logical", "zipped", "tiled", "flat", "blocked", "raked"]
INTERLEAVED = ("blocked", "raked")


def product(block: AnyLayout, tiler: AnyLayout, form: Form = "blocked", label: Label = "offset") -> Scene:
    """A block, a tiler and their product; key "tile" is the copy (the tiler's index), "element" the index in the block.

    The block itself is tile 0. Borders in the result frame the copies; of a raked product, what all copies have of one element.
    LayoutError where there is no product, and for a tiler that is no plain layout or works mode by mode.

    >>> block, tiler, result = product("(2,2):(1,2)", "3:1", "logical").all_panels()
    >>> result.title, result.keys["tile"].tolist()
    ('logical product = ((2,2),3):((1,2),4)', [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
    """
    if form not in get_args(Form):
        raise LayoutError(f'a product is {", ".join(get_args(Form))}, not "{form}"')
    block, tiler = as_layout(block), as_layout(tiler) if form in INTERLEAVED else one_layout(tiler, "the tiler")
    try:
        result = getattr(algebra, f"{form}_product")(block, tiler)
    except LayoutError as error:
        raise LayoutError(f"no {form} product of {block} and {tiler} (the block's complement o the tiler): {error}") from None
    element, tile = _parts(block, tiler, form)
    groups = (
        keyed_grid(block, label, f"block = {block}", lambda index: {"tile": 0 * index, "element": index}),
        keyed_grid(tiler, label, f"tiler = {tiler}", lambda index: {"tile": index}),
        keyed_grid(result, label, f"{form} product = {result}", lambda index: {"tile": tile.at(index), "element": element.at(index)}),
    )
    framed = [replace(panel, borders=_frames(panel, "element" if form == "raked" else "tile")) for panel in groups[2]]
    facts = f"{counted(tiler.size, 'tile')} of {counted(block.size, 'element')}, one for each cell of the tiler."
    facts += " Borders: one element of the block, in all tiles." if form == "raked" else ""
    hue = f"{hue_note(tiler.size)}, which copy of the block a cell is in; the block itself is tile 0."
    notes = window_notes({"block": block, "tiler": tiler, "product": result})
    caption = " ".join((hue, facts, describe(result), *notes))
    return Scene(in_rows(*groups[:2], framed), caption, color_by="tile", link_by="tile", color=tile_colors([*groups[1], *framed]))


def _parts(block: CoordinateFunction, tiler: CoordinateFunction, form: str) -> tuple[Layout, Layout]:
    """Two layouts that take an index of the product to the index in the block, and to the index in the tiler.

    Blocked and raked pair the modes of the two; the other forms differ in nesting alone, all of the block before the tiler.
    """
    wide = max(block.rank, tiler.rank) if form in INTERLEAVED else 1
    extents = [_mode_sizes(layout, wide) for layout in (block, tiler)]
    own = [Layout(sizes).stride for sizes in extents]
    none = (0,) * wide
    pairs = [extents, (own[0], none), (none, own[1])]
    if form == "raked":
        pairs = [pair[::-1] for pair in pairs]
    shape, element, tile = (tuple(zip(*pair, strict=True)) for pair in pairs)
    return Layout(shape, element), Layout(shape, tile)


def _mode_sizes(layout: CoordinateFunction, wide: int) -> tuple[int, ...]:
    sizes = [mode.size for mode in Layout(layout.shape).modes()] if wide > 1 else [layout.size]
    return (*sizes, *[1] * (wide - len(sizes)))


def _frames(panel: Panel, key: str) -> tuple[Border, ...]:
    """A border around the cells of each value of a key, which fill a rectangle; none around single cells."""
    values, group = np.unique(panel.keys[key], return_inverse=True)
    ends = []
    for place in (np.array(panel.row), np.array(panel.col)):
        low, high = np.full(values.size, place.size), np.zeros(values.size, np.int64)
        np.minimum.at(low, group, place)
        np.maximum.at(high, group, place)
        ends.append((low, high - low + 1))
    (row, rows), (col, cols) = ends
    boxes = zip(*(column.tolist() for column in (row, col, rows, cols)), strict=True)
    return tuple(Border(1, *box) for box in boxes) if (rows * cols > 1).any() else ()
