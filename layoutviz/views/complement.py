"""`complement`: A, its complement R, and the slots that A and its copies fill together."""

from typing import Annotated

import numpy as np

from layoutviz import algebra
from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import whole_number
from layoutviz.layout import SEARCH_LIMIT, Layout
from layoutviz.modes import stack
from layoutviz.notation import format_tuple
from layoutviz.scene import Panel, Scene
from layoutviz.views.kinds import AnyLayout, Label, Range
from layoutviz.views.memory_strip import ONE_ROW, SLOTS, WIDTH
from layoutviz.views.operands import ROW, hue_note, in_rows, keyed_grid, tile_colors, window_notes
from layoutviz.views.slots import counted


def complement(layout: AnyLayout, cotarget: Annotated[int, Range(1, 256)] = 24, label: Label = "offset") -> Scene:
    """A, its complement R, and a strip of the slots 0 to cotarget - 1 and on to the last one that a copy of A reaches.

    Key "tile" is the copy (R's index), "element" the index in A; both are -1 in a slot that nothing covers. A slot is labelled with the
    two offsets that add up to it, or with the two indices or coordinates. Uncovered slots are marked "hole", those beyond the cotarget
    "outside"; the caption counts both. Of more than 1024 slots the first are drawn. LayoutError where A has no complement, or together
    with it more than 2^20 elements.

    >>> a, r, strip = complement("2:1", 6).all_panels()
    >>> r.title, strip.labels
    ('R = 3:2', ['0+0', '1+0', '0+2', '1+2', '0+4', '1+4'])
    """
    a, cotarget = as_layout(layout), whole_number(cotarget, "cotarget")
    rest = algebra.complement(a, cotarget)
    both = stack([a, rest])
    if both.size > SEARCH_LIMIT:
        raise LayoutError(f"{a} and its complement {rest} have {both.size:,} elements together; they are drawn up to {SEARCH_LIMIT:,}")
    groups = (
        keyed_grid(a, label, f"A = {a}", lambda index: {"tile": 0 * index, "element": index}),
        keyed_grid(rest, label, f"R = {rest}", lambda index: {"tile": index}),
        [_strip(a, rest, both, cotarget, label)],
    )
    hue = f"{hue_note(rest.size)}, which copy of A covers a slot; A itself is tile 0, and R says where the others start."
    caption = " ".join((hue, _cover(both.offsets(), cotarget), *window_notes({"A": a, "R": rest})))
    rows, color = (*in_rows(*groups[:2]), tuple(groups[2])), tile_colors([*groups[1], *groups[2]])
    return Scene(rows, caption, color_by="tile", link_by="tile", color=color)


def _strip(a: Layout, rest: Layout, both: Layout, cotarget: int, label: str) -> Panel:
    """The slots, each with the element of (A, R) that lies there."""
    sums = both.offsets()
    slots = min(max(cotarget, int(sums.max()) + 1), SLOTS)
    owner = np.full(slots, -1)
    owner[sums[sums < slots]] = np.flatnonzero(sums < slots)
    element, tile = np.where(owner < 0, -1, owner % a.size), np.where(owner < 0, -1, owner // a.size)
    from_a, from_rest = (part.at(np.maximum(index, 0)).tolist() for part, index in ((a, element), (rest, tile)))
    labels, tips, marks = [""] * slots, [f"offset {slot} · in no tile" for slot in range(slots)], {}
    for slot, (n, i, j, x, y) in enumerate(zip(owner.tolist(), element.tolist(), tile.tolist(), from_a, from_rest, strict=True)):
        if n >= 0:
            shown = {"offset": f"{x}+{y}", "index": f"{i},{j}", "coordinate": format_tuple(both.coordinate(n))[1:-1]}
            labels[slot], tips[slot] = shown[label], f"offset {slot} = {x} + {y} · tile {j} · element {i}"
        if slot >= cotarget:
            marks[slot], tips[slot] = "outside", f"{tips[slot]} · beyond the cotarget"
        elif n < 0:
            marks[slot] = "hole"
    room = ROW // max(4, 1 + max(map(len, labels)))
    width = slots if slots <= min(ONE_ROW, room) else WIDTH if room >= WIDTH else WIDTH // 2
    rows = -(-slots // width)
    return Panel(
        rows, width, (np.arange(slots) // width).tolist(), (np.arange(slots) % width).tolist(), labels, tips,
        keys={"offset": np.arange(slots), "index": owner, "tile": tile, "element": element}, title="A + R, by offset",
        row_labels=[str(r * width) for r in range(rows)] if rows > 1 else [],
        col_labels=[f"+{c}" if rows > 1 else str(c) for c in range(width)], label_kind=label, marks=marks,
    )  # fmt: skip


def _cover(sums: np.ndarray, cotarget: int) -> str:
    """How the slots below the cotarget are covered, and how many beyond it are."""
    counts = np.unique(sums[sums < cotarget], return_counts=True)[1]
    words = f"A + R cover {int((counts == 1).sum()):,} of {counted(cotarget, 'slot')} once"
    words += f"; {counted(holes, 'hole')} stay{'s' * (holes == 1)}." if (holes := cotarget - counts.size) else ", and leave no hole."
    if beyond := int((sums >= cotarget).sum()):
        are = "is" if beyond == 1 else "are"
        words += f" {counted(beyond, 'slot')} beyond the cotarget {are} covered too (hatched), up to {sums.max():,}."
    drawn = max(cotarget, int(sums.max()) + 1)
    return words + (f" Drawn: slots 0 to {SLOTS - 1} of {drawn:,}." if drawn > SLOTS else "")
