"""`memory_strip`: the buffer under a layout, slot by slot, and which coordinate lives in each."""

import numpy as np

from layoutviz.composed import Tensor, as_layout
from layoutviz.errors import LayoutError
from layoutviz.layout import SEARCH_LIMIT, CoordinateFunction, Layout
from layoutviz.notation import format_tuple
from layoutviz.scene import Panel, Scene
from layoutviz.views.grid import check_label
from layoutviz.views.kinds import AnyLayout, Label
from layoutviz.views.slots import describe, slot_range

NAMED = 4  # elements that a tip names of those that share a slot
SLOTS = 1024  # slots in one picture
ONE_ROW = 24  # up to so many slots stand in one row
WIDTH = 16  # slots in a row of a longer strip; twice as many in one that would be taller than wide


def memory_strip(layout: AnyLayout, label: Label = "coordinate", *, title: str = "memory, by offset") -> Scene:
    """The slots from the smallest offset to the largest, labelled with the coordinate (or index, or offset) that lives there.

    A slot that nothing maps to is drawn as a hole; one that n elements share is labelled "×n". Of a longer
    buffer the first 1024 slots are drawn, and the caption says so. LayoutError where nobody can tell who lives there: a
    ComposedLayout of more than 2^20 elements, or so many elements in the slots drawn.

    >>> memory_strip(Layout("(2,2):(1,3)")).panels[0][0].labels
    ['0,0', '1,0', '', '0,1', '1,1']
    """
    layout = as_layout(layout)
    caption = " ".join(filter(None, (describe(layout), strip_note(layout))))
    return Scene(((strip_panel(layout, label, title),),), caption=caption)


def strip_note(layout: CoordinateFunction) -> str:
    """Says which slots are drawn where that is not all, else nothing."""
    low, slots = _slots(layout)
    return f"Drawn: slots {low} to {low + SLOTS - 1} of {slots:,}." if slots > SLOTS else ""


def _slots(layout: CoordinateFunction) -> tuple[int, int]:
    """The first slot, and how many there are up to the last."""
    ends = slot_range(layout)
    if ends is None:
        raise LayoutError(f"{layout} has {layout.size:,} elements; the memory under a composed layout is drawn up to {SEARCH_LIMIT:,}")
    return ends[0], ends[1] - ends[0] + 1


def strip_panel(layout: CoordinateFunction, label: str = "coordinate", title: str = "memory, by offset") -> Panel:
    """The memory strip of a layout as one panel, so that other views can put it under their grids."""
    check_label(label)
    low, slots = _slots(layout)
    slots = min(slots, SLOTS)
    counts, owners = _owners(layout, low, slots)
    offset = np.arange(low, low + slots)
    width = slots if slots <= ONE_ROW else WIDTH if slots <= WIDTH * WIDTH else 2 * WIDTH
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


def _owners(layout: CoordinateFunction, low: int, slots: int) -> tuple[list[int], list[list[int]]]:
    """For each of the first `slots` offsets from `low`: how many indices map to it, and the first few of them."""
    offset, index = _near(layout, slots)
    inside = offset < low + slots
    slot, index = offset[inside] - low, index[inside]
    index = index[np.lexsort((index, slot))]
    counts = np.bincount(slot, minlength=slots)
    starts = np.cumsum(counts) - counts
    return counts.tolist(), [index[s : s + min(n, NAMED)].tolist() for s, n in zip(starts.tolist(), counts.tolist(), strict=True)]


def _near(layout: CoordinateFunction, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """The offset and the index of each element among the first `slots` slots, and of others.

    Each leaf of a plain layout only adds to the distance from the lowest offset, so that what one leaf alone carries past the window is
    left out before the table is made: a strip of a huge layout costs no huge table.
    """
    if isinstance(layout, Tensor):
        offset, index = _near(layout.layout, slots)
        return offset + layout.offset, index
    if not isinstance(layout, Layout):
        return layout.offsets(), np.arange(layout.size)
    offset, index, weight = np.zeros(1, np.int64), np.zeros(1, np.int64), 1
    for extent, stride in layout.leaves:
        kept = extent if stride == 0 else min(extent, (slots - 1) // abs(stride) + 1)
        if kept * offset.size > SEARCH_LIMIT:
            raise LayoutError(f"{layout} maps too many elements to the first {slots} slots to draw who lives in each")
        steps = np.arange(kept, dtype=np.int64) + (extent - kept if stride < 0 else 0)
        offset = (steps[:, None] * stride + offset).ravel()
        index = (steps[:, None] * weight + index).ravel()
        weight *= extent
    return offset, index


def _label(layout: CoordinateFunction, offset: int, count: int, owners: list[int], label: str) -> str:
    if count != 1:
        return f"×{count}" if count else ""
    if label == "coordinate":
        return format_tuple(layout.coordinate(owners[0])).removeprefix("(").removesuffix(")")
    return str(offset if label == "offset" else owners[0])


def _owners_text(layout: CoordinateFunction, count: int, owners: list[int]) -> str:
    if not count:
        return "unused"
    named = " and ".join(f"coordinate {format_tuple(layout.coordinate(i))}, index {i}" for i in owners)
    return named + (f" and {count - len(owners):,} more" if count > len(owners) else "")
