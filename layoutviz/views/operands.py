"""What the views share that show the operands of an operation beside its result: panels in rows, tiles in colours."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from layoutviz.color import BLANK, FILLS, Color, categories
from layoutviz.composed import CoordinateFunction
from layoutviz.errors import LayoutError
from layoutviz.modes import as_tiler, tiler_text
from layoutviz.scene import Panel
from layoutviz.views.grid import grid, window_note

ROW = 120  # letters of labels that stand side by side before a grid starts a new row


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
    """Fills for the key "tile", so that tiles that touch differ."""
    return apart(panels, "tile", lambda tile: tile)


def apart(panels: Iterable[Panel], key: str, first: Callable[[int], int]) -> Color:
    """A category for each value of a key: `first(value)` where values that touch then differ, else the next that does, as far as eight go.

    A negative value is none, and stays blank.
    """
    beside = defaultdict(set)
    for low, high in sorted(set().union(*(_touching(panel, key) for panel in panels))):
        beside[high].add(low)
        beside[low]
    fill: dict[int, int] = {}
    for value in sorted(beside):
        taken = {fill[other] for other in beside[value]}
        wanted = [(first(value) + k) % FILLS for k in range(FILLS)]
        fill[value] = next((each for each in wanted if each not in taken), wanted[0])
    return lambda value: BLANK if value < 0 else categories(fill.get(value, first(value)))


def _touching(panel: Panel, key: str) -> set[tuple[int, int]]:
    """Pairs (lower, higher) of different values that lie side by side or one below the other."""
    value = np.full((panel.rows, panel.cols), -1)
    value[panel.row, panel.col] = panel.keys[key]
    pairs = np.concatenate([np.stack((a.ravel(), b.ravel())) for a, b in ((value[1:], value[:-1]), (value[:, 1:], value[:, :-1]))], axis=1)
    pairs.sort(axis=0)
    low, high = pairs[:, (pairs[0] != pairs[1]) & (pairs[0] >= 0)]
    most = int(high.max(initial=0)) + 1
    return {divmod(pair, most) for pair in np.unique(low * most + high).tolist()}  # as one number, which is quick to sort


def hue_note(tiles: int) -> str:
    """What the fill of a cell says, for a caption."""
    return f"Colour: the tile{f' ({FILLS} colours for {tiles:,} tiles)' * (tiles > FILLS)}"
