"""Where things go, in pixels: everything but the cells' own look, for the renderers that draw on a plane.

`layout_scene` places the panels. `texts`, `marks`, `edges` and `frames` then say what is written and drawn around and over the cells, as
plain text and lines, so that a renderer only has to know how to draw those.
"""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from layoutviz.color import WRONG
from layoutviz.scene import Panel, Scene

FONTS = (13, 12, 11, 10, 9, 8)  # label sizes tried in turn; below 8 px labels go
GLYPH = 0.602  # width of a glyph of DejaVu Sans Mono, in font sizes
FEW = 12  # columns that are made wide enough for their headers, so that none is left out
COMFORTABLE = 900  # a row of panels shrinks its font until it is this wide
WIDEST = 1800  # a row of panels with labels is at most this wide; beyond it labels go
PAD, GAP, TITLE, HEAD, CAPTION_LINE = 12, 28, 24, 18, 18
CAPTION_GLYPH, CAPTION_WIDE = 6.2, 440.0  # a caption is wrapped at the panels' width, or at 440 px if they are narrower
TITLE_INK, HEAD_INK, LINE, FAINT_LINE, EDGE = "#1f1f1f", "#4a4a4a", "#3c3c3c", "#9a9a9a", "#757575"


@dataclass(frozen=True)
class Place:
    """A panel, where its first cell begins, the size of its cells and of their labels (font 0: no labels)."""

    panel: Panel
    x: float
    y: float
    cell_w: float
    cell_h: float
    font: int


@dataclass(frozen=True)
class Geometry:
    """The place of each panel; width and height of the whole; the caption in lines."""

    places: tuple[Place, ...]
    width: float
    height: float
    caption_lines: tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """Words on their baseline at (x, y). kind: title, head or caption; anchor: start, middle or end."""

    kind: str
    x: float
    y: float
    words: str
    size: int
    ink: str
    anchor: str = "start"
    italic: bool = False


@dataclass(frozen=True)
class Line:
    """A line through points; filled with its ink if `filled`, else drawn `width` pixels wide."""

    kind: str
    points: tuple[tuple[float, float], ...]
    ink: str
    width: float = 1
    filled: bool = False


def layout_scene(scene: Scene) -> Geometry:
    """Put the panels in rows, each row with the largest labels that fit."""
    places, y, width = [], PAD, 0.0
    for row in scene.panels:
        font, sizes = _cell_sizes(row)
        x, bottom = float(PAD), y
        for panel, (w, h) in zip(row, sizes, strict=True):
            left = x + (max(max(map(len, panel.row_labels)) * 7 + 22, len(_axes(panel)) * 7 + 6) if panel.row_labels else 0)
            top = y + (TITLE if panel.title else 0) + (HEAD if panel.col_labels else 0)
            places.append(Place(panel, left, top, w, h, font))
            x = max(left + panel.cols * w, left + len(panel.title) * 8) + GAP
            bottom = max(bottom, top + panel.rows * h)
        width, y = max(width, x - GAP), bottom + GAP
    width = max(width, 200.0, min(len(scene.caption) * CAPTION_GLYPH, CAPTION_WIDE))
    lines = tuple(textwrap.wrap(scene.caption, round(width / CAPTION_GLYPH)))
    return Geometry(tuple(places), width + PAD, y - GAP + PAD + len(lines) * CAPTION_LINE, lines)


def _axes(panel: Panel) -> str:
    """What the headers count, as one word for the corner."""
    return "\\".join(filter(None, (panel.row_axis, panel.col_axis)))


def _cell_sizes(row: tuple[Panel, ...]) -> tuple[int, list[tuple[float, float]]]:
    """The label size of a row of panels, and the width and height of each panel's cells: wide enough for its longest label."""
    longest = [max(map(len, [*panel.labels, *(panel.col_labels if panel.cols <= FEW else ())]), default=1) for panel in row]
    for font in FONTS:
        high = round(font * 2.5)
        wide = [max(high, round((n + 1) * GLYPH * font)) for n in longest]
        if sum(panel.cols * w for panel, w in zip(row, wide, strict=True)) <= (COMFORTABLE if font > FONTS[-1] else WIDEST):
            return font, [(float(w), float(high)) for w in wide]
    side = max(8.0, min(14.0, WIDEST / sum(panel.cols for panel in row)))
    return 0, [(side, side)] * len(row)


def texts(scene: Scene, g: Geometry) -> Iterator[Text]:
    """Titles, headers with the names of their axes, and the caption."""
    for place in g.places:
        panel, x, y, w, h = place.panel, place.x, place.y, place.cell_w, place.cell_h
        size = max(min(place.font, 11), 9)
        if panel.title:
            words = "".join(char if char.isprintable() else " " for char in panel.title)
            yield Text("title", x, y - (24 if panel.col_labels else 8), words, 13, TITLE_INK)
        for c in range(0, len(panel.col_labels), _step(panel.col_labels, w)):
            yield Text("head", x + (c + 0.5) * w, y - 6, panel.col_labels[c], size, HEAD_INK, "middle")
        for r in range(0, len(panel.row_labels), max(1, -(-12 // int(h)))):
            yield Text("head", x - 6, y + (r + 0.5) * h + 4, panel.row_labels[r], size, HEAD_INK, "end")
        if panel.row_labels and (axes := _axes(panel)):
            yield Text("head", x - 6, y - 6, axes, size, HEAD_INK, "end", italic=True)
    first = g.height - PAD - (len(g.caption_lines) - 1) * CAPTION_LINE
    for n, line in enumerate(g.caption_lines):
        yield Text("caption", PAD, first + n * CAPTION_LINE, line, 11, HEAD_INK)


def marks(place: Place) -> Iterator[Line]:
    """A wrong cell: a heavy frame and a cross. An alias: a dark corner. A hole: a stroke through it. Outside: hatched."""
    w, h = place.cell_w, place.cell_h
    for cell, mark in place.panel.marks.items():
        x, y = place.x + place.panel.col[cell] * w, place.y + place.panel.row[cell] * h
        s = min(w, h) * 0.26
        if mark == "wrong":
            yield Line("wrong", _box(x + 1.5, y + 1.5, w - 3, h - 3), WRONG, 3)
            right, top = x + w - 4, y + 4
            yield Line("wrong", ((right - s, top), (right, top + s)), WRONG, 2)
            yield Line("wrong", ((right, top), (right - s, top + s)), WRONG, 2)
        elif mark == "alias":
            yield Line("alias", ((x + w, y), (x + w, y + s), (x + w - s, y)), LINE, filled=True)
        elif mark == "hole":
            yield Line("hole", ((x + 3, y + h - 3), (x + w - 3, y + 3)), FAINT_LINE)
        else:
            for part in (0.34, 0.67, 1.0):
                yield Line("outside", ((x, y + part * h), (x + part * w, y)), FAINT_LINE)
            for part in (0.33, 0.66):
                yield Line("outside", ((x + part * w, y + h), (x + w, y + part * h)), FAINT_LINE)


def frames(place: Place) -> Iterator[Line]:
    """The tiles' borders, heavier with the level, and the panel's frame if its last row is full."""
    panel, w, h = place.panel, place.cell_w, place.cell_h
    boxes = [(b.level + 0.8, b.row, b.col, b.rows, b.cols) for b in panel.borders]
    if len(panel.row) == panel.rows * panel.cols:
        boxes.append((1, 0, 0, panel.rows, panel.cols))
    for width, r, c, rows, cols in boxes:
        yield Line("frame", _box(place.x + c * w, place.y + r * h, cols * w, rows * h), LINE, width)


def edges(place: Place, fills: list[str]) -> Iterator[Line]:
    """A line wherever two cells that touch have different fills, so that groups are told apart in grey too.

    None where no cell is like its neighbours: there the cells themselves are the groups.
    """
    panel, w, h = place.panel, place.cell_w, place.cell_h
    fill = np.full((panel.rows, panel.cols), -1)
    fill[panel.row, panel.col] = np.unique(np.array(fills), return_inverse=True)[1]
    pairs = [(lines[:-1], lines[1:]) for lines in (fill, fill.T)]
    if not any(((one == other) & (one >= 0)).any() for one, other in pairs):
        return
    for upright, (one, other) in zip((False, True), pairs, strict=True):
        differ = np.pad((one != other) & (one >= 0) & (other >= 0), ((0, 0), (1, 1))).astype(np.int8)
        steps = np.diff(differ, axis=1)
        for (line, start), (_, end) in zip(np.argwhere(steps == 1).tolist(), np.argwhere(steps == -1).tolist(), strict=True):
            ends = [(line + 1, along) if upright else (along, line + 1) for along in (start, end)]
            yield Line("edge", tuple((place.x + c * w, place.y + r * h) for c, r in ends), EDGE)


def alike(lines: Iterable[Line]) -> Iterator[tuple[Line, list]]:
    """Lines that look the same, as one of them and the points of all."""
    found: dict[Line, list] = {}
    for line in lines:
        found.setdefault(replace(line, points=()), []).append(line.points)
    yield from found.items()


def _box(x: float, y: float, w: float, h: float):
    return ((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y))


def _step(labels, room: float) -> int:
    """Every how many headers are written, so that they do not touch."""
    longest = max(map(len, labels)) * 6.2 + 3
    step = 1
    while step * room < longest and step < len(labels):
        step *= 2
    return step
