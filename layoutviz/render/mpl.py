"""Draw a Scene with matplotlib, for papers and slides: a Figure made without pyplot, or into given Axes."""

from collections import defaultdict
from functools import lru_cache

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from layoutviz.color import ACCENT, BLANK, INKS
from layoutviz.render.geometry import CAPTION, PAD, Geometry, Place, header_step, layout_scene
from layoutviz.scene import Scene

DPI = 96  # CSS pixels: a figure is as large as the SVG
LINE, HEAD_INK = "#3c3c3c", "#4a4a4a"
GLYPH_ADVANCE = 0.602  # of DejaVu Sans Mono, in font sizes
_MONO = FontProperties(family="DejaVu Sans Mono")


def figure(scene: Scene, ax=None) -> Figure:
    """A new Figure of the scene, or the Figure of `ax` after drawing into it. pyplot does not know the new one."""
    g = layout_scene(scene)
    if ax is None:
        fig = Figure(figsize=(g.width / DPI, g.height / DPI), dpi=DPI, facecolor="white")
        ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, g.width), ylim=(g.height, 0), aspect="equal")
    ax.axis("off")
    for place, fills in zip(g.places, scene.fills(), strict=True):
        _cells(ax, place, fills, g)
        _headers(ax, place, g)
        _marks_and_borders(ax, place, g)
    for n, line in enumerate(reversed(g.caption_lines)):
        ax.text(PAD, g.height - PAD - n * CAPTION * 0.8, line, size=_points(11), color=HEAD_INK, va="bottom")
    return ax.figure


def _points(pixels: float) -> float:
    return pixels * 72 / DPI


def _cells(ax, place: Place, fills, g: Geometry) -> None:
    panel = place.panel
    x = place.x + np.asarray(panel.col) * g.cell_w
    y = place.y + np.asarray(panel.row) * g.cell_h
    corners = np.array([(0, 0), (g.cell_w, 0), (g.cell_w, g.cell_h), (0, g.cell_h)])
    faces = [BLANK if panel.marks.get(c) == "hole" else fill for c, fill in enumerate(fills)]
    ax.add_collection(PolyCollection(np.stack([x, y], -1)[:, None] + corners, facecolors=faces, edgecolors="white", linewidths=0.7))
    if g.font:
        _labels(ax, panel, x + g.cell_w / 2, y + g.cell_h / 2 + g.font * 0.35, g)


def _labels(ax, panel, x, y, g: Geometry) -> None:
    """Each distinct character once, as a path, at all its places: text objects for 4096 cells would take seconds."""
    ax.apply_aspect()
    (left, _), (right, _) = ax.transData.transform([(0, 0), (g.width, 0)])
    size = g.font * (right - left) / g.width * 72 / ax.figure.dpi  # label size in points: in a smaller Axes it shrinks with the cells
    advance = GLYPH_ADVANCE * g.font
    places = defaultdict(list)
    for label, cx, cy in zip(panel.labels, x.tolist(), y.tolist(), strict=True):
        start = cx - len(label) * advance / 2
        for n, char in enumerate(label):
            places[char].append((start + n * advance, cy))
    for char, offsets in places.items():
        glyph = _glyph(char)
        if len(glyph.vertices):
            ink = INKS[panel.label_kind]
            ax.add_collection(
                PathCollection((glyph,), sizes=[size**2], offsets=offsets, offset_transform=ax.transData, facecolors=ink, linewidths=0)
            )


@lru_cache(maxsize=256)
def _glyph(char: str) -> Path:
    return TextPath((0, 0), char, size=1, prop=_MONO)


def _headers(ax, place: Place, g: Geometry) -> None:
    panel, size = place.panel, _points(g.head_font)
    if panel.title:
        above = place.y - (24 if panel.col_labels else 8)
        ax.text(place.x, above, panel.title, size=_points(13), weight="bold", fontproperties=None, family="DejaVu Sans Mono", color="#1f1f1f")
    for c in range(0, len(panel.col_labels), header_step(panel.col_labels, g.cell_w, 6.2)):
        ax.text(place.x + (c + 0.5) * g.cell_w, place.y - 6, panel.col_labels[c], size=size, ha="center", color=HEAD_INK, family="DejaVu Sans Mono")
    for r in range(0, len(panel.row_labels), header_step(["00"] * len(panel.row_labels), g.cell_h, 6)):
        y = place.y + (r + 0.5) * g.cell_h + 4
        ax.text(place.x - 6, y, panel.row_labels[r], size=size, ha="right", color=HEAD_INK, family="DejaVu Sans Mono")


def _marks_and_borders(ax, place: Place, g: Geometry) -> None:
    panel, w, h = place.panel, g.cell_w, g.cell_h
    for cell, mark in panel.marks.items():
        x, y = place.x + panel.col[cell] * w, place.y + panel.row[cell] * h
        if mark == "wrong":
            ax.add_patch(Rectangle((x + 1.5, y + 1.5), w - 3, h - 3, fill=False, edgecolor=ACCENT, linewidth=2.2))
            s = min(w, h) * 0.22
            cross = [(x + w - s - 3, y + 4), (x + w - 3, y + 4 + s)], [(x + w - 3, y + 4), (x + w - s - 3, y + 4 + s)]
            for a, b in cross:
                ax.plot([a[0], b[0]], [a[1], b[1]], color=ACCENT, linewidth=1.5)
        elif mark == "alias":
            s = min(w, h) * 0.3
            ax.add_patch(PathPatch(Path([(x + w, y), (x + w, y + s), (x + w - s, y), (x + w, y)]), facecolor=LINE, linewidth=0))
        else:
            ax.plot([x + 3, x + w - 3], [y + h - 3, y + 3], color="#9a9a9a", linewidth=0.8)
    full = len(panel.row) == panel.rows * panel.cols
    boxes = [(0.8, 0, 0, panel.rows, panel.cols)] if full else []
    boxes += [(0.8 * b.level + 0.6, b.row, b.col, b.rows, b.cols) for b in panel.borders]
    for width, r, c, rows, cols in boxes:
        ax.add_patch(Rectangle((place.x + c * w, place.y + r * h), cols * w, rows * h, fill=False, edgecolor=LINE, linewidth=width))
