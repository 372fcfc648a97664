"""Draw a Scene with matplotlib, for papers and slides: a Figure made without pyplot, or into given Axes."""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import IdentityTransform

from layoutviz.color import BLANK, INKS
from layoutviz.render.geometry import GLYPH, Line, Place, Text, alike, edges, frames, layout_scene, marks, texts
from layoutviz.scene import EMPTY, ORDERED, Scene

DPI = 96  # CSS pixels: a new figure is as large as the SVG
ALIGN = {"start": "left", "middle": "center", "end": "right"}
_MONO = FontProperties(family="DejaVu Sans Mono")


def figure(scene: Scene, ax=None) -> Figure:
    """A new Figure of the scene, or the Figure of `ax` after drawing into it. pyplot does not know the new one.

    In given Axes the picture is fitted to them as they are now, its text with it.
    """
    g = layout_scene(scene)
    if ax is None:
        ax = Figure(figsize=(g.width / DPI, g.height / DPI), dpi=DPI, facecolor="white").add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, g.width), ylim=(g.height, 0), aspect="equal")
    ax.axis("off")
    ax.apply_aspect()
    (left, _), (right, _) = ax.transData.transform([(0, 0), (g.width, 0)])
    point = (right - left) / g.width * 72 / ax.figure.dpi  # one pixel of the geometry, in points
    for place, fills in zip(g.places, scene.fills(), strict=True):
        _cells(ax, place, fills, point)
        for lines in (marks(place), () if scene.color_by in ORDERED else edges(place, fills)):
            _lines(ax, lines, point)
        if place.font:
            _labels(ax, place, point)
        _lines(ax, frames(place), point)
    for text in texts(scene, g):
        _text(ax, text, point)
    return ax.figure


def _cells(ax, place: Place, fills, point: float) -> None:
    panel = place.panel
    x = place.x + np.asarray(panel.col) * place.cell_w
    y = place.y + np.asarray(panel.row) * place.cell_h
    corners = np.array([(0, 0), (place.cell_w, 0), (place.cell_w, place.cell_h), (0, place.cell_h)])
    faces = [BLANK if panel.marks.get(c) in EMPTY else fill for c, fill in enumerate(fills)]
    ax.add_collection(PolyCollection(np.stack([x, y], -1)[:, None] + corners, facecolors=faces, edgecolors="white", linewidths=point))


def _labels(ax, place: Place, point: float) -> None:
    """Each distinct character once, as a path, at all its places: text objects for 4096 cells would take seconds."""
    panel, font, places = place.panel, place.font, defaultdict(list)
    x = place.x + (np.asarray(panel.col) + 0.5) * place.cell_w
    y = place.y + (np.asarray(panel.row) + 0.5) * place.cell_h + font * 0.35
    for label, cx, cy in zip(panel.labels, x.tolist(), y.tolist(), strict=True):
        start = cx - len(label) * GLYPH * font / 2
        for n, char in enumerate(label):
            if not char.isspace():
                places[char].append((start + n * GLYPH * font, cy))
    # placed in the data's pixels, but sized in points: hence no transform of the glyphs themselves
    look = {"sizes": [(font * point) ** 2], "facecolors": INKS[panel.label_kind], "linewidths": 0, "transform": IdentityTransform()}
    look["snap"] = False  # or the stems of small glyphs fall between pixels
    for char, offsets in places.items():
        if len(_glyph(char).vertices):  # a font may have nothing for it
            ax.add_collection(PathCollection((_glyph(char),), offsets=offsets, offset_transform=ax.transData, **look))


@lru_cache(maxsize=256)
def _glyph(char: str) -> Path:
    return TextPath((0, 0), char, size=1, prop=_MONO)


def _text(ax, text: Text, point: float) -> None:
    family = "DejaVu Sans" if text.kind == "caption" else "DejaVu Sans Mono"
    weight, style = "bold" if text.kind == "title" else "normal", "italic" if text.italic else "normal"
    look = {"color": text.ink, "ha": ALIGN[text.anchor], "family": family, "weight": weight, "style": style}
    ax.text(text.x, text.y, text.words, size=text.size * point, parse_math=False, **look)


def _lines(ax, lines: Iterable[Line], point: float) -> None:
    for line, shapes in alike(lines):
        face, edge = (line.ink, "none") if line.filled else ("none", line.ink)
        path = Path.make_compound_path(*map(Path, shapes))
        ax.add_patch(PathPatch(path, facecolor=face, edgecolor=edge, linewidth=line.width * point))
