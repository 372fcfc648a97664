"""`coalescing`: a warp's request to global memory, over the 32-byte sectors that it moves."""

from typing import Annotated

import numpy as np

from layoutviz.composed import as_layout
from layoutviz.layout import CoordinateFunction
from layoutviz.memory import LINE, SECTOR, Request, sectors
from layoutviz.scene import Border, Panel, Scene
from layoutviz.views.access import Readers, Vector, access_scene, chosen, group_of, label_of, names, readers_of, tile_panels
from layoutviz.views.kinds import AnyLayout, Bits, Range
from layoutviz.views.slots import counted


def _last_request(values: dict) -> int:
    return len(sectors(*(values[name] for name in ("layout", "threads", "bits", "vector"))).requests) - 1


def coalescing(
    layout: AnyLayout,
    threads: AnyLayout = "32:1",
    bits: Bits = 32,
    vector: Vector = 1,
    request: Annotated[int, Range(0, _last_request)] = 0,
) -> Scene:
    """One request of a warp: its elements in the tile; each sector it moves, slot by slot; the sectors of every request.

    `layout`, `threads`, `bits` and `vector` are those of `memory.sectors`, and so are the errors. In the second panel a row is a
    sector of 32 bytes, and a frame is a line of 128 bytes. A label is the thread that reads the slot ("3+1": thread 3 and one more); a
    slot that is moved but not read is struck through. Cells with one offset light up together. A request past the last stands for the
    last, and the caption says so; LayoutError for a negative one.

    >>> tile, moved, requests = coalescing("(32,32):(32,1)", "32:1", bits=32).all_panels()
    >>> moved.rows, moved.labels[:8], len(moved.marks), requests.labels
    (32, ['0', '', '', '', '', '', '', ''], 224, ['32'])
    """
    layout, threads = as_layout(layout), as_layout(threads)
    found = sectors(layout, threads, bits, vector)
    number, note = chosen(request, len(found.requests), "request")
    now = found.requests[number]
    readers = readers_of(threads, now, vector)
    slots = SECTOR * 8 // bits
    tiles = tile_panels(layout, threads, readers, f"{layout}: read by request {number}", lambda offset: {"sector": offset // slots})
    caption = (
        f"{note}Request {number} ({group_of(now)}): {counted(len(now.sectors), 'sector')} in {counted(len(now.lines), 'line')}, "
        f"{now.fewest} at best (heavy frames: lines of 128 bytes); {now.asked} of {SECTOR * len(now.sectors)} bytes moved are used, "
        f"{100 * now.efficiency:.3g}%{' (struck through: moved, not read)' * (now.efficiency < 1)}. In all {found}."
    )
    costs = [len(each.sectors) for each in found.requests]
    moved = _moved(layout, readers, now, number, bits)
    return access_scene(layout, readers, tiles, moved, costs, ("request", "sector"), number, "offset", caption)


def _moved(layout: CoordinateFunction, readers: Readers, now: Request, number: int, bits: int) -> Panel:
    """Each sector of a request as a row of its slots, with who reads each."""
    slots, count = SECTOR * 8 // bits, len(now.sectors)
    sector, col = np.repeat(now.sectors, slots), np.tile(np.arange(slots), count)
    offset = sector * slots + col
    read: dict[int, tuple[list[int], int]] = {}  # of each offset: the threads, and the first index that they read it by
    for index, at in zip(readers, layout.at(list(readers)).tolist(), strict=True):
        who, first = read.get(at, ([], index))
        read[at] = (sorted({*who, *readers[index]}), first)
    found = [read.get(at, ((), -1)) for at in offset.tolist()]
    lines = np.array(now.sectors) * SECTOR // LINE
    starts = np.flatnonzero(np.diff(lines, prepend=lines[0] - 1)).tolist()
    return Panel(
        count, slots, np.repeat(np.arange(count), slots).tolist(), col.tolist(), labels=[label_of(who) for who, _ in found],
        tips=[
            f"offset {o} · byte {o * bits // 8} · sector {s} · " + (f"index {index} · {names(who)}" if who else "moved, not read")
            for o, s, (who, index) in zip(offset.tolist(), sector.tolist(), found, strict=True)
        ],
        keys={"offset": offset, "index": np.array([index for _, index in found]), "sector": sector,
              "thread": np.array([who[0] if who else -1 for who, _ in found])},
        title=f"the {counted(count, 'sector')} that request {number} moves",
        row_labels=[f"sector {s}" for s in now.sectors], col_labels=[f"+{c}" for c in range(slots)], label_kind="thread",
        borders=tuple(Border(1, r, 0, end - r, slots) for r, end in zip(starts, [*starts[1:], count], strict=True)),
        marks={cell: "hole" for cell, (who, _) in enumerate(found) if not who},
    )  # fmt: skip
