"""Where things go, in pixels: shared by the renderers that draw on a plane."""

import textwrap
from dataclasses import dataclass

from layoutviz.scene import Panel, Scene

FONTS = (13, 12, 11, 10, 9, 8)  # label sizes tried in turn; below 8 px labels go
GLYPH = 0.61  # width of a monospaced glyph, in font sizes
COMFORTABLE = 900  # a row of panels shrinks its font until it is this wide
WIDEST = 1800  # a row of panels with labels is at most this wide; beyond it labels go
CAPTION_GLYPH, CAPTION_WIDE = 6.4, 520.0  # a caption is wrapped at the panels' width, or at 520 px if they are narrower
PAD, GAP, TITLE, HEAD, CAPTION = 12, 28, 24, 18, 22


@dataclass(frozen=True)
class Place:
    """A panel and where its first cell begins."""

    panel: Panel
    x: float
    y: float


@dataclass(frozen=True)
class Geometry:
    """Cell size, label size (0: no labels) and the place of each panel; width and height of the whole."""

    cell_w: float
    cell_h: float
    font: int
    places: tuple[Place, ...]
    width: float
    height: float
    caption_lines: tuple[str, ...]

    @property
    def head_font(self) -> int:
        return max(min(self.font, 11), 9)


def layout_scene(scene: Scene) -> Geometry:
    """Choose the largest labels that fit, then put the panels in rows."""
    cols = max(sum(panel.cols for panel in row) for row in scene.panels)
    longest = max((len(label) for panel in scene.all_panels() for label in panel.labels), default=1)
    for font in FONTS:
        w, h = _cell(font, longest)
        if cols * w <= (COMFORTABLE if font > FONTS[-1] else WIDEST):
            break
    else:
        font, w = 0, max(8.0, min(14.0, WIDEST / cols))
        h = w
    return _place(scene, w, h, font)


def head_width(panel: Panel) -> float:
    """Room for the row headers at a panel's left."""
    return (max(map(len, panel.row_labels)) * 7 + 22) if panel.row_labels else 0


def header_step(labels, size: float, glyph: float) -> int:
    """Every how many headers are drawn, so that they do not touch."""
    longest = max(map(len, labels), default=1)
    step = 1
    while step * size < longest * glyph + 3 and step < len(labels):
        step *= 2
    return step


def _cell(font: int, longest: int) -> tuple[float, float]:
    high = round(font * 2.5)
    return float(max(high, round(longest * GLYPH * font + 0.6 * font))), float(high)


def _place(scene: Scene, w: float, h: float, font: int) -> Geometry:
    places, y, width = [], PAD, 0.0
    for row in scene.panels:
        x, bottom = float(PAD), y
        for panel in row:
            left = x + head_width(panel)
            top = y + (TITLE if panel.title else 0) + (HEAD if panel.col_labels else 0)
            places.append(Place(panel, left, top))
            x = max(left + panel.cols * w, x + len(panel.title) * 8) + GAP
            bottom = max(bottom, top + panel.rows * h)
        width, y = max(width, x - GAP), bottom + GAP
    width = max(width, 200.0, min(len(scene.caption) * CAPTION_GLYPH, CAPTION_WIDE))
    lines = tuple(textwrap.wrap(scene.caption, int(width / CAPTION_GLYPH)))
    return Geometry(w, h, font, tuple(places), width + PAD, y - GAP + PAD + len(lines) * CAPTION * 0.8, lines)

