"""The slots of memory that a layout of any kind uses, and what every picture says of them: shared, unused, too many to tell."""

from functools import lru_cache

import numpy as np

from layoutviz.composed import Tensor, find_alias
from layoutviz.errors import LayoutError
from layoutviz.layout import SEARCH_LIMIT, CoordinateFunction, Layout
from layoutviz.notation import format_tuple


def slot_range(layout: CoordinateFunction) -> tuple[int, int] | None:
    """The smallest and the largest offset; None where only a table of more than 2^20 elements could tell."""
    linear = layout.layout if isinstance(layout, Tensor) else layout
    return layout.offset_range if isinstance(linear, Layout) or layout.size <= SEARCH_LIMIT else None


def describe(layout: CoordinateFunction) -> str:
    """How many elements lie in how many slots, and whether slots are shared (with the first two that share one) or unused.

    The slots are those from the smallest offset to the largest; where 0 is not among them, it says where they start.

    >>> describe(Layout("(4,4):(1,3)"))
    '16 elements in 13 slots. 3 slots are shared (aliasing): (3,0) and (0,1) both have offset 3.'
    >>> describe(Tensor("(2,2):(8,1)", 20))
    '4 elements in 10 slots from offset 20 on. No slot is shared; 6 stay unused.'
    """
    size, ends = layout.size, slot_range(layout)
    low, high = ends or (0, 0)
    slots = high - low + 1
    facts = f"{counted(size, 'element')} in {counted(slots, 'slot')}{'' if low <= 0 <= high else f' from offset {low} on'}."
    if ends is None:
        facts = f"{counted(size, 'element')}, too many to count their slots."
    try:
        alias = find_alias(layout)
    except LayoutError:
        # more elements than slots: then some must share, even where nobody can say which
        crowded = ends and size > slots
        return f"{facts} {'Slots are shared (aliasing).' if crowded else 'Too many to search for elements that share a slot.'}"
    if alias:
        shared, unused = _shared_and_unused(layout, slots)
        first, second = (format_tuple(layout.coordinate(i)) for i in alias)
        return f"{facts} {shared}: {first} and {second} both have offset {layout(alias[0])}.{unused}"
    if ends is None:
        return f"{facts} No slot is shared."
    if unused := slots - size:
        return f"{facts} No slot is shared; {unused:,} stay{'s' * (unused == 1)} unused."
    return f"{facts} Every slot is used once."


def _shared_and_unused(layout: CoordinateFunction, slots: int) -> tuple[str, str]:
    """How many slots hold several elements, and how many none; no numbers where there are too many elements to count."""
    if layout.size > SEARCH_LIMIT:
        return "Slots are shared (aliasing)", ""
    values, counts = _used(layout)
    shared, unused = int((counts > 1).sum()), slots - len(values)
    words = f"{counted(shared, 'slot')} {'is' if shared == 1 else 'are'} shared (aliasing)"
    return words, f" {counted(unused, 'slot')} stay{'s' * (unused == 1)} unused." if unused else ""


@lru_cache(maxsize=4)  # one scene asks several times, once for each panel
def _used(layout: CoordinateFunction) -> tuple[np.ndarray, np.ndarray]:
    """The offsets in use, in order, and how many elements have each."""
    return np.unique(layout.offsets(), return_counts=True)


def alias_marks(layout: CoordinateFunction, offsets: np.ndarray) -> dict[int, str]:
    """A mark for each drawn cell, given by its offset, whose offset another element of the layout has too, drawn or not."""
    if any(extent > 1 and stride == 0 for extent, stride in layout.plain.leaves):
        return dict.fromkeys(range(len(offsets)), "alias")  # what comes after the plain part cannot part them again
    if layout.size > SEARCH_LIMIT:  # too many to look at: of those drawn, at least, none stays unmarked
        values, counts = np.unique(offsets, return_counts=True)
    elif find_alias(layout) is None:
        return {}
    else:
        values, counts = _used(layout)
    return dict.fromkeys(np.flatnonzero(np.isin(offsets, values[counts > 1])).tolist(), "alias")


def counted(number: int, what: str) -> str:
    """A number and its noun.

    >>> counted(1, "slot"), counted(1024, "slot")
    ('1 slot', '1,024 slots')
    """
    return f"{number:,} {what}{'s' * (number != 1)}"
