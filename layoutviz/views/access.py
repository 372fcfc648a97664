"""What `banks` and `coalescing` share: a part of an access (a phase, a request) shown in the tile, and a strip of what each part costs."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from layoutviz.color import thread_fill
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import whole_number
from layoutviz.layout import CoordinateFunction, Layout
from layoutviz.memory import Phase, Request
from layoutviz.scene import Border, Panel, Scene
from layoutviz.views.grid import grid, window_note
from layoutviz.views.slots import counted

Part = Phase | Request
Readers = dict[int, list[int]]  # of what is read (an index, a word, an offset): the threads that read it
Vector = Literal[1, 2, 4, 8, 16]  # elements that a thread moves in one instruction
NAMED = 4  # threads that a tip names
LEAST = 8  # rows or columns of a tile that are drawn, if it has as many
STRIP, STRIP_ROW = 256, 32  # parts in one picture; in one row of it
SIDE_BY_SIDE = 42  # columns of panels that keep their labels side by side; more are stacked


def chosen(number: int, count: int, what: str) -> tuple[int, str]:
    """The number of a part that exists, and a sentence if it is not the one asked for; LayoutError for a negative one."""
    if (number := whole_number(number, what)) < 0:
        raise LayoutError(f"there is no {what} {number}: they are numbered from 0")
    return (number, "") if number < count else (count - 1, f"There is no {what} {number}; shown is the last of {count}. ")


def readers_of(threads: CoordinateFunction, part: Part, vector: int) -> Readers:
    """The indices that the threads of one part read with its instruction."""
    count = Layout(threads.shape).modes()[0].size
    values = np.arange(part.instruction * vector, (part.instruction + 1) * vector)
    readers = defaultdict(list)
    for thread, indices in zip(part.threads, threads.at(np.array(part.threads)[:, None] + count * values).tolist(), strict=True):
        for index in indices:  # of one vector: neighbours in memory, so none comes twice
            readers[index].append(thread)
    return dict(readers)


def label_of(threads) -> str:
    """Thread 3 alone as "3", with one more as "3+1"; nothing for none."""
    return f"{threads[0]}+{len(threads) - 1}" if len(threads) > 1 else str(threads[0]) if threads else ""


def names(threads) -> str:
    """The threads in words, the first few by number."""
    if not threads:
        return "not read now"
    more = f" and {len(threads) - NAMED} more" if len(threads) > NAMED else ""
    return f"thread{'s' * (len(threads) > 1)} {', '.join(map(str, threads[:NAMED]))}{more}"


def group_of(part: Part) -> str:
    return f"warp {part.warp}, instruction {part.instruction}, thread{'s' * (len(part.threads) > 1)} " + " to ".join(
        dict.fromkeys(map(str, (part.threads[0], part.threads[-1])))
    )


def tile_panels(
    layout: CoordinateFunction, threads: CoordinateFunction, readers: Readers, title: str, keys_of: Callable[[np.ndarray], dict]
) -> tuple[Panel, ...]:
    """The grid of the layout, each element labelled with the threads that read it now; `keys_of(offsets)` gives further keys."""
    panels = []
    for panel in (_near(panel, threads) for panel in grid(layout, title=title, caption="").panels[0]):
        read, more = [readers.get(i, ()) for i in panel.keys["index"].tolist()], keys_of(panel.keys["offset"])
        said = zip(*([f" · {name} {value}" for value in column.tolist()] for name, column in more.items()), strict=True)
        tips = [f"{tip}{''.join(facts)} · {names(who)}" for tip, facts, who in zip(panel.tips, said, read, strict=True)]
        keys = panel.keys | more | {"thread": np.array([who[0] if who else -1 for who in read])}
        panels.append(replace(panel, labels=list(map(label_of, read)), label_kind="thread", keys=keys, tips=tips))
    return tuple(panels)


def _near(panel: Panel, threads: CoordinateFunction) -> Panel:
    """The rows and columns of a panel up to what the whole access reads and one on, so that a large tile does not hide a small access."""
    read = np.isin(panel.keys["index"], threads.offsets())
    row, col = np.array(panel.row), np.array(panel.col)
    rows, cols = (min(end, max(int(at[read].max(initial=0)) + 2, LEAST)) for end, at in ((panel.rows, row), (panel.cols, col)))
    kept = np.flatnonzero((row < rows) & (col < cols)).tolist()
    numbers = {cell: n for n, cell in enumerate(kept)}
    return replace(
        panel, rows=rows, cols=cols, row=row[kept].tolist(), col=col[kept].tolist(), labels=[panel.labels[c] for c in kept],
        tips=[panel.tips[c] for c in kept], keys={name: column[kept] for name, column in panel.keys.items()},
        row_labels=panel.row_labels[:rows], col_labels=panel.col_labels[:cols],
        borders=tuple(replace(b, rows=min(b.rows, rows - b.row), cols=min(b.cols, cols - b.col)) for b in panel.borders
                      if b.row < rows and b.col < cols),
        marks={numbers[c]: mark for c, mark in panel.marks.items() if c in numbers},
    )  # fmt: skip


def access_scene(layout, readers: Readers, tiles: tuple[Panel, ...], detail: Panel, costs: list[int], words, now: int, link: str, caption):
    """The tile, the detail of the part `now`, and the strip of all parts under one colouring; `words` names a part and what it costs."""
    drawn = sum(int((panel.keys["thread"] >= 0).sum()) for panel in tiles)
    shared = any("+" in label for label in detail.labels)
    facts = (
        caption, f"Colour and label: the thread{' (3+1: thread 3 and one more)' * shared}.", _drawn(layout, tiles[0]),
        f"{counted(len(readers) - drawn, 'element')} read now outside that." if drawn < len(readers) else "",
        f"Of {len(costs):,} {words[0]}s the strip has the first {STRIP}." if len(costs) > STRIP else "",
    )  # fmt: skip
    unlinked = min(min(int(panel.keys[link].min()) for panel in (*tiles, detail)), 0) - 1
    rows = ((*tiles, detail),) if sum(panel.cols for panel in (*tiles, detail)) <= SIDE_BY_SIDE else (tiles, (detail,))
    strip = _strip(costs[:STRIP], *words, now, link, unlinked)
    return Scene((*rows, (strip,)), " ".join(filter(None, facts)), "thread", link, thread_fill)


def _drawn(layout: CoordinateFunction, tile: Panel) -> str:
    """Says what is left out of the tile."""
    sizes = [mode.size for mode in Layout(layout.shape).modes()]
    cut = zip(("rows", "columns"), (tile.rows, tile.cols), sizes[:2] if len(sizes) > 1 else (1, *sizes), strict=True)
    notes = [f"{name} 0 to {drawn - 1} of {size:,}" for name, drawn, size in cut if drawn < size]
    more = window_note(Layout((1, 1, *sizes[2:])))  # the slices
    return " ".join(filter(None, (f"Drawn of the tile: {', '.join(notes)}." if notes else "", more)))


def _strip(costs: list[int], what: str, cost: str, now: int, link: str, unlinked: int) -> Panel:
    """One cell a part, labelled with its cost; the part shown is framed. No part is linked to a cell elsewhere."""
    number = np.arange(len(costs))
    row, col = number // STRIP_ROW, number % STRIP_ROW
    rows, cols = int(row[-1]) + 1, min(len(costs), STRIP_ROW)
    return Panel(
        rows, cols, row.tolist(), col.tolist(), labels=list(map(str, costs)),
        tips=[f"{what} {n} · {counted(each, cost)}" for n, each in enumerate(costs)],
        keys={what: number, link: unlinked - number, "thread": np.full(len(costs), -1)}, title=f"{cost}s of each {what}; framed: this one",
        row_labels=[str(r * STRIP_ROW) for r in range(rows)] if rows > 1 else [],
        col_labels=[f"+{c}" if rows > 1 else str(c) for c in range(cols)], label_kind="value",
        borders=(Border(2, now // STRIP_ROW, now % STRIP_ROW, 1, 1),) if now < len(costs) else (),
    )  # fmt: skip
