"""`memory_strip`: the buffer under a layout, slot by slot, and which coordinate lives in each."""

import numpy as np

from layoutviz.errors import LayoutError
from layoutviz.layout import Layout
from layoutviz.notation import format_tuple
from layoutviz.scene import Panel, Scene
from layoutviz.views.grid import check_label, describe

NAMED = 4  # elements that a tip names of those that share a slot
TRACED = 2**20  # elements looked at to find who lives where
SLOTS = 1024  # slots in one picture
ONE_ROW = 24  # up to so many slots stand in one row
WIDTH = 16  # slots in a row of a longer strip


def memory_strip(layout: Layout, label: str = "coordinate", *, title: str = "memory, by offset") -> Scene:
    """The slots from the smallest offset to the largest, labelled with the coordinate (or index, or offset) that lives there.

    A slot that nothing maps to is drawn as a hole; one that n elements share is labelled "×n". Of a longer
    buffer the first 1024 slots are drawn, and the caption says so.

    >>> memory_strip(Layout("(2,2):(1,3)")).panels[0][0].labels
    ['0,0', '1,0', '', '0,1', '1,1']
    """
    layout = Layout(layout)
    caption = " ".join(filter(None, (describe(layout), strip_note(layout))))
    return Scene(((strip_panel(layout, label, title),),), caption=caption)


def strip_note(layout: Layout) -> str:
    """Says which slots are drawn where that is not all, else nothing."""
    low = layout.offset_range[0]
    return f"Drawn: slots {low} to {low + SLOTS - 1} of {layout.cosize:,}." if layout.cosize > SLOTS else ""


def strip_panel(layout: Layout, label: str = "coordinate", title: str = "memory, by offset") -> Panel:
    """The memory strip of a layout as one panel, so that other views can put it under their grids."""
    check_label(label)
    low = layout.offset_range[0]
    slots = min(layout.cosize, SLOTS)
    counts, owners = _owners(layout, low, slots)
    offset = np.arange(low, low + slots)
    width = slots if slots <= ONE_ROW else WIDTH
    rows = -(-slots // width)
    return Panel(
        rows, width, (np.arange(slots) // width).tolist(), (np.arange(slots) % width).tolist(),
        labels=[_label(layout, low + k, counts[k], owners[k], label) for k in range(slots)],
        tips=[f"offset {low + k} · {_owners_text(layout, counts[k], owners[k])}" for k in range(slots)],
        keys={"offset": offset, "index": np.array([known[0] if known else -1 for known in owners])}, title=title,
        # in several rows, the offset is the row's header plus the column's
        row_labels=[str(low + r * width) for r in range(rows)] if rows > 1 else [],
        col_labels=[f"+{c}" if rows > 1 else str(low + c) for c in range(width)],
        label_kind=label, marks={k: "hole" if n == 0 else "alias" for k, n in enumerate(counts) if n != 1},
    )


def _owners(layout: Layout, low: int, slots: int) -> tuple[list[int], list[list[int]]]:
    """For each of the first `slots` offsets from `low`: how many indices map to it, and the first few of them.

    Each leaf only adds to the distance from the lowest offset, so that what one leaf alone carries past the window is
    left out before the table is made: a strip of a huge layout costs no huge table.
    """
    offset, index, weight = np.zeros(1, np.int64), np.zeros(1, np.int64), 1
    for extent, stride in layout.leaves:
        kept = extent if stride == 0 else min(extent, (slots - 1) // abs(stride) + 1)
        if kept * offset.size > TRACED:
            raise LayoutError(f"{layout} maps too many elements to the first {slots} slots to draw who lives in each")
        steps = np.arange(kept, dtype=np.int64) + (extent - kept if stride < 0 else 0)
        offset = (steps[:, None] * stride + offset).ravel()
        index = (steps[:, None] * weight + index).ravel()
        weight *= extent
    inside = offset < low + slots
    slot, index = offset[inside] - low, index[inside]
    index = index[np.lexsort((index, slot))]
    counts = np.bincount(slot, minlength=slots)
    starts = np.cumsum(counts) - counts
    return counts.tolist(), [index[s : s + min(n, NAMED)].tolist() for s, n in zip(starts.tolist(), counts.tolist(), strict=True)]


def _label(layout: Layout, offset: int, count: int, owners: list[int], label: str) -> str:
    if count != 1:
        return f"×{count}" if count else ""
    if label == "coordinate":
        return format_tuple(layout.coordinate(owners[0])).removeprefix("(").removesuffix(")")
    return str(offset if label == "offset" else owners[0])


def _owners_text(layout: Layout, count: int, owners: list[int]) -> str:
    if not count:
        return "unused"
    named = " and ".join(f"coordinate {format_tuple(layout.coordinate(i))}, index {i}" for i in owners)
    return named + (f" and {count - len(owners):,} more" if count > len(owners) else "")
