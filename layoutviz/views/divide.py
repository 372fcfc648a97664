"""`divide`: a layout, its tiler and the tiler's complement, and the layout that a division makes of them."""

import warnings
from dataclasses import replace
from typing import Literal

import numpy as np

from layoutviz import algebra
from layoutviz.errors import LayoutError, RaggedWarning
from layoutviz.modes import group, tiler_text
from layoutviz.scene import Panel, Scene
from layoutviz.views.grid import grid, window_note
from layoutviz.views.kinds import AnyLayout, Label, Tiler
from layoutviz.views.operands import hue_note, in_rows, tile_colors
from layoutviz.views.tiles import Tiling, as_slots, describe_tiling, tiled_grid

FORMS = ("logical", "zipped", "tiled", "flat")


def divide(
    layout: AnyLayout,
    tiler: Tiler = (2, 2),
    form: Literal["logical", "zipped", "tiled", "flat"] = "zipped",
    label: Label = "offset",
) -> Scene:
    """A by a tiler: A with its tiles; the tiler T and its complement T*, for each mode; and the layout that the division gives.

    T and T* hold places in their mode (of A's index, for a tiler that is a layout). An element of A is the same cell in all panels:
    it has the same fill, lights up with its twins, and an index or a coordinate in the result is the one in A. Slots of the result
    outside A are hatched, with their offset. LayoutError where no layout computes the division.

    >>> scene = divide("(2,6):(6,1)", (1, 2))
    >>> [panel.title for panel in scene.all_panels()][1:]
    ['T0 = 1:0', 'T0* = 2:1', 'T1 = 2:1', 'T1* = 3:2', 'zipped_divide(A, (1,2)) = ((1,2),(2,3)):((0,1),(6,2))']
    """
    if form not in FORMS:
        raise LayoutError(f'a division has the form {", ".join(FORMS)}, not "{form}"')
    tiling = Tiling(layout, tiler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RaggedWarning)  # what it says stands in the caption
        divided = getattr(algebra, f"{form}_divide")(tiling.layout, tiling.tiler)
    title = f"{form}_divide(A, {tiler_text(tiling.tiler)}) = {divided}"
    panels = tiled_grid(tiling, label, f"A = {tiling.layout}")
    result = [_result(tiling, panel, form, label) for panel in grid(divided, label, title=title, caption="").panels[0]]
    notes = window_note(tiling.layout), window_note(divided).replace("Drawn:", "Drawn of the result:")
    told = f"{hue_note(tiling.tile_mode.size)}. T is the first tile, T* where each tile begins. {describe_tiling(tiling)}"
    return Scene(
        (*in_rows(panels), *in_rows(_operands(tiling)), *in_rows(result)), caption=" ".join(filter(None, (told, *notes))),
        color_by="tile", link_by="index", color=tile_colors([*panels, *result]),
    )  # fmt: skip


def _operands(tiling: Tiling) -> list[Panel]:
    """T and T* of each mode: T as element 0, 1, ... of the first tile, T* as element 0 of each tile."""
    panels, elements, tiles = [], 1, 1
    for m, (_, tile, rest) in enumerate(tiling.parts):
        name = f"T{m}" if isinstance(tiling.tiler, tuple) else "T"
        for mode, title, steps in ((tile, name, (elements, 0)), (rest, f"{name}*", (0, tiles))):
            whole = group(mode, 0, mode.rank) if mode.rank > 2 else mode  # in one row, so that nothing is left out
            (panel,) = grid(whole, title=f"{title} = {mode}", caption="").panels[0]
            number = panel.keys["index"]
            as_cells = as_slots(tiling, panel, number * steps[0], number * steps[1], "index")
            panels.append(replace(as_cells, labels=panel.labels))  # the places in the mode, which the function itself gives
        elements, tiles = elements * tile.size, tiles * rest.size
    return panels


def _result(tiling: Tiling, panel: Panel, form: str, label: str) -> Panel:
    """A panel of the divided layout, its cells as slots of A's tiles."""
    index = panel.keys["index"]
    if form != "logical":  # all tile modes first, in order, then all rest modes
        return as_slots(tiling, panel, index % tiling.element_mode.size, index // tiling.element_mode.size, label)
    element = tile = np.zeros_like(index)
    elements, tiles = 1, 1
    for _, tile_mode, rest in tiling.parts:
        element, index = element + index % tile_mode.size * elements, index // tile_mode.size
        tile, index = tile + index % rest.size * tiles, index // rest.size
        elements, tiles = elements * tile_mode.size, tiles * rest.size
    return as_slots(tiling, panel, element, tile, label)
