"""`transpose`: a layout, its transpose, and the one strip of memory under both."""

from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.modes import select
from layoutviz.scene import Scene
from layoutviz.views.grid import grid, window_note
from layoutviz.views.kinds import AnyLayout, Label
from layoutviz.views.memory_strip import strip_note, strip_panel
from layoutviz.views.slots import describe


def transpose(layout: AnyLayout, label: Label = "offset") -> Scene:
    """A rank-2 layout beside its transpose (the same two modes, swapped), over the memory that both read.

    >>> [panel.title for panel in transpose("(2,3):(3,1)").all_panels()]
    ['A = (2,3):(3,1)', 'A transposed = (3,2):(1,3)', 'memory under both: coordinates in A, by offset']
    """
    layout = as_layout(layout)
    if layout.rank != 2:
        raise LayoutError(f"{layout} has {layout.rank} mode{'s' * (layout.rank != 1)}; a transpose swaps two")
    swapped = select(layout, (1, 0))
    named = {f"A = {layout}": layout, f"A transposed = {swapped}": swapped}
    both = [grid(each, label, title=title, caption="") for title, each in named.items()]
    strip = strip_panel(layout, "coordinate", "memory under both: coordinates in A, by offset")
    moral = "A cell and its twin are one slot: nothing moves."
    caption = " ".join(filter(None, (describe(layout), moral, window_note(layout), strip_note(layout))))
    return Scene((tuple(scene.panels[0][0] for scene in both), (strip,)), caption=caption)
