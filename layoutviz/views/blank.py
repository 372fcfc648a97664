"""`blank`: a grid without its numbers, to print and fill in by hand."""

from dataclasses import replace

from layoutviz.scene import Border, Panel, Scene
from layoutviz.views.grid import grid
from layoutviz.views.kinds import AnyLayout

PAPER = "#ffffff"


def blank(layout: AnyLayout, *, title: str | None = None, caption: str = "Write the offset into each cell.") -> Scene:
    """The grid of a layout of any kind with headers and lines, but white and without an answer: no labels, marks or offsets in the tips.

    What grid leaves out of a large layout is left out here too, and the caption says so.

    >>> scene = blank("(2,3):(3,1)")
    >>> scene.panels[0][0].labels, scene.panels[0][0].tips[1]
    (['', '', '', '', '', ''], 'coordinate (0,1)')
    """
    scene = grid(layout, "coordinate", title=title, caption=caption)
    # linked by index: a link by offset would show which cells share one
    return replace(scene, panels=(tuple(map(_emptied, scene.panels[0])),), color=lambda key: PAPER, color_by="index", link_by="index")


def _emptied(panel: Panel) -> Panel:
    # cells have white edges: lines around whole rows and columns show them, and cost less than one around each cell
    lines = [Border(0, r, 0, 1, panel.cols) for r in range(panel.rows)] + [Border(0, 0, c, panel.rows, 1) for c in range(panel.cols)]
    tips = [f"coordinate {coordinate}" for coordinate in panel.labels]
    return replace(panel, labels=[""] * len(tips), tips=tips, marks={}, borders=(*lines, *panel.borders))
