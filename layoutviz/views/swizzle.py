"""`swizzle`: a layout before and after S<b,m,s>, each element with the bank of shared memory that it lies in."""

from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np

from layoutviz.algebra import recast_layout
from layoutviz.color import categories
from layoutviz.composed import ComposedLayout, Swizzle, as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import int_tuple
from layoutviz.layout import CoordinateFunction
from layoutviz.memory import BANKS, BITS, WORD
from layoutviz.scene import Panel, Scene
from layoutviz.views.grid import grid, window_note
from layoutviz.views.kinds import AnyLayout, Bits, Range
from layoutviz.views.slots import counted, slot_range

TOGETHER = 4  # banks of one hue: 16 bytes, the widest access of a thread, and so 8 hues for 32 banks


def swizzle(
    layout: AnyLayout = "(8,64):(64,1)",
    b: Annotated[int, Range(0, 5)] = 3,
    m: Annotated[int, Range(0, 7)] = 3,
    s: Annotated[int, Range(-7, 7)] = 3,
    bits: Bits = 16,
    label: Literal["bank", "offset", "index", "coordinate"] = "bank",
) -> Scene:
    """A layout of elements of `bits` bits, over (or beside) the same layout with S<b,m,s> applied to its offsets, in elements.

    Each cell has the bank of its element's first byte: byte address // 4 % 32, offset 0 at bank 0. Hue is the 16-byte column of
    memory, four banks wide; the label tells the four apart. Cells with the same index light up together: the element moves, its
    coordinate stays. LayoutError for s between -b and b, which is no swizzle, and for widths that no element has.

    >>> before, after = swizzle("(4,8):(8,1)", b=2, m=0, s=3, bits=32).all_panels()
    >>> before.keys["bank"].reshape(4, 8)[:, 0].tolist(), after.keys["bank"].reshape(4, 8)[:, 0].tolist()
    ([0, 8, 16, 24], [0, 9, 18, 27])
    """
    layout, swizzled, bits = as_layout(layout), Swizzle(b, m, s), element_bits(bits)
    if label not in ("bank", "offset", "index", "coordinate"):
        raise LayoutError(f'cells can be labelled with bank, offset, index or coordinate, not "{label}"')
    after = ComposedLayout(swizzled, 0, layout)
    titles = {layout: f"before: {layout}   in {bits}-bit elements", after: _title(after, bits)}
    drawn = [_panels(each, bits, label, title) for each, title in titles.items()]
    stacked = len(drawn[0]) > 1 or drawn[0][0].cols > drawn[0][0].rows
    facts = _spread(*(panels[0] for panels in drawn)), _room(layout, after), _HUE, window_note(layout)
    caption = " ".join(filter(None, facts))
    return Scene(drawn if stacked else ((*drawn[0], *drawn[1]),), caption, "bank", "index", lambda bank: categories(bank // TOGETHER))


_HUE = "Colour: the 16-byte column of memory that the element lies in, 4 of the 32 banks; its bank is the label or in the tip."


def element_bits(bits: int) -> int:
    """`bits` as an int; LayoutError for a width that no element has."""
    if int_tuple(bits, "bits") not in BITS:
        raise LayoutError(f"an element has {', '.join(map(str, BITS))} bits, not {bits}")
    return int(bits)


def bank_of(offset: np.ndarray, bits: int) -> np.ndarray:
    """The bank of each element's first byte. Every 128 bytes the banks repeat, which keeps far offsets small enough to count in bits.

    >>> bank_of(np.array([0, 2, 63, 64]), bits=16).tolist()
    [0, 1, 31, 0]
    """
    return offset % (BANKS * WORD * 8 // bits) * bits // (WORD * 8)


def _panels(layout: CoordinateFunction, bits: int, label: str, title: str) -> tuple[Panel, ...]:
    panels = []
    for panel in grid(layout, "offset" if label == "bank" else label, title=title, caption="").panels[0]:
        bank = bank_of(panel.keys["offset"], bits)
        named = list(map(_bank_names().__getitem__, bank.tolist()))
        shown = {"labels": list(map(str, bank.tolist())), "label_kind": "bank"} if label == "bank" else {}
        tips = list(map(str.__add__, panel.tips, named))
        panels.append(replace(panel, keys=panel.keys | {"bank": bank}, tips=tips, **shown))
    return tuple(panels)


@lru_cache(maxsize=1)
def _bank_names() -> list[str]:
    return [f" · bank {bank}" for bank in range(BANKS)]


def _title(after: ComposedLayout, bits: int) -> str:
    """The swizzled layout, and its swizzle in bytes where there is one: instructions and descriptors count bytes."""
    try:
        return f"after: {after}   (on bytes {recast_layout(8, bits, after.outer)})"
    except LayoutError:
        return f"after: {after}   (on bytes none)"


def _spread(before: Panel, after: Panel) -> str:
    """In how many banks the first row and the first column lie: what a read along them meets."""
    facts = []
    for name, line in (("column", before.col), ("row", before.row)):
        first = np.flatnonzero(np.asarray(line) == 0)
        if len(first) > 1:
            banks = [len(np.unique(panel.keys["bank"][first])) for panel in (before, after)]
            facts.append(f"{name} 0 ({counted(len(first), 'element')}) lies in {counted(banks[0], 'bank')} before, {banks[1]} after")
    return f"{'; '.join(facts)}.".capitalize() if facts else ""


def _room(before: CoordinateFunction, after: CoordinateFunction) -> str:
    """Says whether the swizzle takes elements out of the slots that the layout had."""
    ends = slot_range(before), slot_range(after)
    if None in ends or ends[0] == ends[1]:
        return ""
    return f"Offsets ran from {ends[0][0]} to {ends[0][1]}; swizzled, from {ends[1][0]} to {ends[1][1]}."
