"""Draw a Scene as one SVG string. Static it has tooltips; a Board puts the live form into a page and makes it answer.

Parts carry classes (paper, title, head, caption, cells, lights), so that a page's style sheet can fit them to its theme. data-link
says what links the cells. A cell is a <rect> with data-k, its link value, and its tip: a <title>, or live data-t, which is half as
much for a browser to build. The cells stand in the order of the scene.

Live labels are lines of characters. To place 4,096 labels one by one costs a browser 50 ms a picture; as 128 plain lines they are
nearly free. A cell is `data-chars` characters wide, each `data-advance` pixels: the Board sets the spacing of the letters to that, in
whatever font the page has.
"""

from collections import defaultdict
from collections.abc import Iterable
from html import escape

from layoutviz.color import BLANK, INKS
from layoutviz.render.geometry import GLYPH, Line, Place, Text, alike, edges, frames, layout_scene, marks, texts
from layoutviz.scene import EMPTY, ORDERED, Scene

MONO = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
HARD_SPACE = "\xa0"  # a page runs other spaces together
LOOK = {"title": ' font-weight="600"', "head": "", "caption": ' font-family="system-ui,sans-serif"'}


def svg(scene: Scene, live: bool = False) -> str:
    """The scene as a complete <svg> element, its size in CSS pixels. Live it has no caption: the Board writes that beside it."""
    spoken = ", ".join(panel.title for panel in scene.all_panels() if panel.title) + ". " + scene.caption
    scene = scene.with_caption("") if live else scene
    g = layout_scene(scene)
    w, h = f"{g.width:g}", f"{g.height:g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lv" data-link="{scene.link_by}" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
        f'font-family="{MONO}" role="img" aria-label="{escape(spoken)}">'
        f'<rect class="paper" width="{w}" height="{h}" rx="6" fill="#ffffff"/>'
    ]
    for place, fills, links in zip(g.places, scene.fills(), scene.links(), strict=True):
        parts += ['<g class="cells" stroke="#ffffff">', *_cells(place, fills, links, live), '</g><g pointer-events="none">']
        plain = live and all(label.isascii() and label.isprintable() for label in place.panel.labels)
        labels = _live_labels if plain else _labels  # a character that the font lacks comes from another one, as wide as it likes
        lines = () if scene.color_by in ORDERED else edges(place, fills)
        parts += [*_paths(marks(place)), *_paths(lines), *labels(place), *_paths(frames(place)), "</g>"]
    parts += [*map(_text, texts(scene, g)), '<g class="lights" pointer-events="none"/></svg>']
    return "".join(parts)


def _cells(place: Place, fills: list[str], links: list[int], live: bool) -> list[str]:
    panel = place.panel
    if BLANK in fills:  # a page with a dark theme can darken those that say nothing
        fills = [fill if fill != BLANK or label else f'{BLANK}" class="blank' for fill, label in zip(fills, panel.labels, strict=True)]
    if panel.marks:
        fills = [BLANK if panel.marks.get(c) in EMPTY else fill for c, fill in enumerate(fills)]
    # the parts that repeat are made once: a cell then costs one short join
    xs = [f'<rect x="{place.x + c * place.cell_w:g}"' for c in range(panel.cols)]
    ys = [f' y="{place.y + r * place.cell_h:g}" width="{place.cell_w:g}" height="{place.cell_h:g}" fill="' for r in range(panel.rows)]
    cells = zip(panel.row, panel.col, fills, links, _escaped(panel.tips), strict=True)
    if live:
        return [f'{xs[c]}{ys[r]}{fill}" data-k="{key}" data-t="{tip}"/>' for r, c, fill, key, tip in cells]
    return [f'{xs[c]}{ys[r]}{fill}" data-k="{key}"><title>{tip}</title></rect>' for r, c, fill, key, tip in cells]


def _labels(place: Place) -> list[str]:
    """Each label in the middle of its cell, whatever the font."""
    panel = place.panel
    if not place.font:
        return []
    # one text a row with a tspan a cell: a browser lays that out a quarter faster than a text a cell
    xs = [f'<tspan x="{place.x + (c + 0.5) * place.cell_w:g}">' for c in range(panel.cols)]
    rows = defaultdict(list)
    for r, c, label in zip(panel.row, panel.col, _escaped(panel.labels), strict=True):
        if label:
            rows[r].append(f"{xs[c]}{label}</tspan>")
    texts = [f'<text y="{_baseline(place, r):g}">{"".join(row)}</text>' for r, row in rows.items()]
    return [f'<g class="labels" text-anchor="middle" {_label_look(place)}>', *texts, "</g>"]


def _live_labels(place: Place) -> list[str]:
    """The labels of a row as two lines: those that fill their cell's characters evenly, and, half a character on, the others."""
    panel = place.panel
    if not place.font:
        return []
    chars = round(place.cell_w / (GLYPH * place.font))
    rows: dict[int, list[list[str]]] = {}
    for r, c, label in zip(panel.row, panel.col, panel.labels, strict=True):
        if label:
            lines = rows.setdefault(r, [[HARD_SPACE * chars] * panel.cols, [HARD_SPACE * chars] * panel.cols])
            spare = chars - len(label)
            lines[spare % 2][c] = (HARD_SPACE * (spare // 2) + label).ljust(chars, HARD_SPACE)
    advance, texts = place.cell_w / chars, []
    for r, lines in rows.items():
        for odd, line in enumerate(lines):
            if words := "".join(line).rstrip(HARD_SPACE):
                texts.append(f'<text x="{place.x + odd * advance / 2:g}" y="{_baseline(place, r):g}">{escape(words)}</text>')
    fitted = f'data-chars="{chars}" data-advance="{advance:g}" text-rendering="geometricPrecision"'
    return [f'<g class="labels" {fitted} {_label_look(place)}>', *texts, "</g>"]


def _baseline(place: Place, row: int) -> float:
    return place.y + (row + 0.5) * place.cell_h + place.font * 0.35


def _label_look(place: Place) -> str:
    return f'font-size="{place.font}" fill="{INKS[place.panel.label_kind]}"'


def _text(text: Text) -> str:
    more = LOOK[text.kind] + (f' text-anchor="{text.anchor}"' if text.anchor != "start" else "") + (' font-style="italic"' * text.italic)
    at = f'x="{text.x:g}" y="{text.y:g}" font-size="{text.size}" fill="{text.ink}"'
    return f'<text class="{text.kind}" {at}{more}>{escape(text.words)}</text>'


def _paths(lines: Iterable[Line]) -> list[str]:
    """All lines that look the same as one path."""
    paths = []
    for line, shapes in alike(lines):
        look = f'fill="{line.ink}"' if line.filled else f'fill="none" stroke="{line.ink}" stroke-width="{line.width:g}"'
        path = "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in points) for points in shapes)
        paths.append(f'<path class="mark-{line.kind}" {look} d="{path}"/>')
    return paths


def _escaped(words) -> list[str]:
    # one call for all of them: escaping each of 4096 labels apart costs milliseconds
    return escape("\0".join(words)).split("\0") if len(words) else []
