"""What the views share that show the operands of an operation beside its result: panels in rows, tiles in colours."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from layoutviz.color import Color, categories
from layoutviz.composed import CoordinateFunction
from layoutviz.errors import LayoutError
from layoutviz.modes import as_tiler, tiler_text
from layoutviz.scene import Panel
from layoutviz.views.grid import grid, window_note

ROW = 120  # letters of labels that stand side by side before a grid starts a new row
FILLS = 8  # that `categories` has


def one_layout(thing, name: str) -> CoordinateFunction:
    """An operand as one layout. LayoutError for a tuple, with which the algebra works mode by mode.

    >>> str(one_layout("(2,3):(3,1)", "B")), str(one_layout(4, "B"))
    ('(2,3):(3,1)', '4:1')
    """
    operand = as_tiler(thing)
    if isinstance(operand, tuple):
        raise LayoutError(f"{name} = {tiler_text(operand)} works mode by mode; this picture takes one layout, as in (2,3):(1,2)")
    return operand


def keyed_grid(layout: CoordinateFunction, label: str, title: str, keys: Callable[[np.ndarray], dict[str, np.ndarray]]) -> list[Panel]:
    """The panels of a layout's grid with more keys, told in the tips too: `keys` takes the indices of cells to them."""
    panels = []
    for panel in grid(layout, label, title=title, caption="").panels[0]:
        more, tips = keys(panel.keys["index"]), panel.tips
        for name, column in more.items():
            tips = [f"{tip} · {name} {value}" for tip, value in zip(tips, column.tolist(), strict=True)]
        panels.append(replace(panel, keys={**panel.keys, **more}, tips=tips))
    return panels


def window_notes(layouts: dict[str, CoordinateFunction]) -> list[str]:
    """What is left out of the grids of layouts, each by its name."""
    return [f"{name}: {note}" for name, layout in layouts.items() if (note := window_note(layout))]


def in_rows(*groups: list[Panel]) -> tuple[tuple[Panel, ...], ...]:
    """Groups of panels side by side as long as their labels fit. A group that does not starts a new row, and more if it needs them."""
    rows, used = [], ROW
    for group in groups:
        wide = [max(p.cols * max(4, 1 + max(map(len, p.labels))), len(p.title)) + 5 for p in group]
        whole = sum(wide)
        for panel, width in zip(group, wide, strict=True):
            if used + max(whole, width) > ROW:
                rows, used = [*rows, []], 0
            rows[-1].append(panel)
            used, whole = used + width, 0
    return tuple(map(tuple, rows))


def tile_colors(panels: list[Panel]) -> Color:
    """`categories` of the tile where tiles that touch then differ; else the first fill after it that differs, as far as eight go."""
    touching = np.concatenate([_touching(panel) for panel in panels])
    if not (touching[:, 0] % FILLS == touching[:, 1] % FILLS).any():
        return categories
    beside = defaultdict(set)
    for low, high in np.unique(touching, axis=0).tolist():
        beside[high].add(low)
    fill: dict[int, int] = {}
    for tile in sorted({*beside, *touching[:, 0].tolist()}):
        taken = {fill[other] for other in beside[tile]}
        fill[tile] = next(((tile + k) % FILLS for k in range(FILLS) if (tile + k) % FILLS not in taken), tile % FILLS)
    return lambda tile: categories(fill.get(tile, tile))


def _touching(panel: Panel) -> np.ndarray:
    """Pairs (lower, higher) of different tiles that lie side by side or one below the other."""
    tile = np.full((panel.rows, panel.cols), -1)
    tile[panel.row, panel.col] = panel.keys["tile"]
    pairs = np.concatenate([np.stack((a.ravel(), b.ravel()), axis=1) for a, b in ((tile[1:], tile[:-1]), (tile[:, 1:], tile[:, :-1]))])
    pairs.sort(axis=1)
    return pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs[:, 0] >= 0)]


def hue_note(tiles: int) -> str:
    """What the fill of a cell says, for a caption."""
    return f"Hue: the tile{f', {FILLS} hues for {tiles:,} tiles' * (tiles > FILLS)}"
