"""`memory_strip`: the buffer under a layout, slot by slot, and which coordinate lives in each."""

from collections import defaultdict

import numpy as np

from layoutviz.errors import LayoutError
from layoutviz.layout import ALIAS_LIMIT, Layout
from layoutviz.notation import format_tuple
from layoutviz.scene import Panel, Scene
from layoutviz.views.grid import describe

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
    caption = " ".join(filter(None, (describe(layout), strip_note(layout))))
    return Scene(((strip_panel(layout, label, title),),), caption=caption)


def strip_note(layout: Layout) -> str:
    """Says which slots are drawn where that is not all, else nothing."""
    low = layout.offset_range[0]
    return f"Drawn: slots {low} to {low + SLOTS - 1} of {layout.cosize:,}." if layout.cosize > SLOTS else ""


def strip_panel(layout: Layout, label: str = "coordinate", title: str = "memory, by offset") -> Panel:
    """The memory strip of a layout as one panel, so that other views can put it under their grids."""
    low, high = layout.offset_range
    slots = min(high - low + 1, SLOTS)
    owners = _owners(layout, low, slots)
    offset = np.arange(low, low + slots)
    first = np.array([owners[o][0] if o in owners else -1 for o in offset.tolist()])
    labels, tips = [], []
    for o in offset.tolist():
        here = owners.get(o, [])
        labels.append(_label(layout, o, here, label))
        tips.append(f"offset {o} · " + (_owners_text(layout, here) if here else "unused"))
    width = slots if slots <= ONE_ROW else WIDTH
    marks = {k: "hole" if not owners.get(o) else "alias" for k, o in enumerate(offset.tolist()) if len(owners.get(o, [])) != 1}
    rows = -(-slots // width)
    return Panel(
        rows, width, (np.arange(slots) // width).tolist(), (np.arange(slots) % width).tolist(), labels, tips,
        keys={"offset": offset, "index": first}, title=title,
        # in several rows, the offset is the row's header plus the column's
        row_labels=[str(low + r * width) for r in range(rows)] if rows > 1 else [],
        col_labels=[f"+{c}" if rows > 1 else str(low + c) for c in range(width)],
        label_kind=label, marks=marks,
    )  # fmt: skip


def _owners(layout: Layout, low: int, slots: int) -> dict[int, list[int]]:
    """Offset -> the indices that map to it, for the first `slots` offsets from `low`.

    Each leaf only adds to the distance from the lowest offset, so that what one leaf alone carries past the window is
    left out before the table is made: a strip of a huge layout costs no huge table.
    """
    offset, index, weight = np.zeros(1, np.int64), np.zeros(1, np.int64), 1
    for extent, stride in layout.leaves():
        kept = extent if stride == 0 else min(extent, (slots - 1) // abs(stride) + 1)
        if kept * offset.size > ALIAS_LIMIT:
            raise LayoutError(f"{layout} maps too many elements to the first {slots} slots to draw who lives in each")
        steps = np.arange(kept, dtype=np.int64) + (extent - kept if stride < 0 else 0)
        offset = (steps[:, None] * stride + offset).ravel()
        index = (steps[:, None] * weight + index).ravel()
        weight *= extent
    owners = defaultdict(list)
    for o, i in sorted(zip(offset.tolist(), index.tolist(), strict=True)):
        if o < low + slots:
            owners[o].append(i)
    return owners


def _label(layout: Layout, offset: int, owners: list[int], label: str) -> str:
    if not owners:
        return ""
    if len(owners) > 1:
        return f"×{len(owners)}"
    if label == "coordinate":
        return format_tuple(layout.coordinate(owners[0])).removeprefix("(").removesuffix(")")
    return str(offset if label == "offset" else owners[0])


def _owners_text(layout: Layout, owners: list[int]) -> str:
    named = [f"coordinate {format_tuple(layout.coordinate(i))}, index {i}" for i in owners[:4]]
    return " and ".join(named) + (f" and {len(owners) - 4} more" if len(owners) > 4 else "")
