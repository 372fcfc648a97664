"""Draw a Scene as one SVG string. Static it has tooltips; a Board puts the same string into a page and makes it answer.

Parts carry classes (paper, head, cell, lights), so that a page's style sheet can fit them to its theme. A cell is a <rect>
with data-k, its link value, and a <title>, its tip; the cells stand in the order of the scene.
"""

from html import escape

from layoutviz.color import ACCENT, BLANK, INKS
from layoutviz.render.geometry import CAPTION, PAD, Geometry, Place, header_step, layout_scene
from layoutviz.scene import Panel, Scene

MONO = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
HEAD_INK, LINE = "#4a4a4a", "#3c3c3c"


def svg(scene: Scene) -> str:
    """The scene as a complete <svg> element, its size in CSS pixels."""
    g = layout_scene(scene)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lv" width="{g.width:g}" height="{g.height:g}" viewBox="0 0 {g.width:g} {g.height:g}" '
        f'font-family="{MONO}" role="img" aria-label="{escape(_spoken(scene))}">'
        f'<rect class="paper" width="{g.width:g}" height="{g.height:g}" rx="6" fill="#ffffff"/>'
    ]
    for place, fills in zip(g.places, scene.fills(), strict=True):
        parts += _panel(place, fills, scene.link_by, g)
    first = g.height - PAD / 2 - (len(g.caption_lines) - 1) * CAPTION * 0.8 - 4
    for n, line in enumerate(g.caption_lines):
        parts.append(_text("head", PAD, first + n * CAPTION * 0.8, line, 11, HEAD_INK, 'font-family="system-ui,sans-serif"'))
    parts.append('<g class="lights" pointer-events="none"/></svg>')
    return "".join(parts)


def _panel(place: Place, fills: list[str], link_by: str, g: Geometry) -> list[str]:
    panel = place.panel
    if "hole" in panel.marks.values():
        fills = [BLANK if panel.marks.get(c) == "hole" else fill for c, fill in enumerate(fills)]
    # the parts that repeat are made once: a cell then costs one short join
    xs = [f'<rect x="{place.x + c * g.cell_w:g}"' for c in range(panel.cols)]
    ys = [f' y="{place.y + r * g.cell_h:g}" width="{g.cell_w:g}" height="{g.cell_h:g}" fill="' for r in range(panel.rows)]
    keys = panel.keys[link_by].tolist()
    cells = [
        f'{xs[c]}{ys[r]}{fill}" data-k="{key}"><title>{tip}</title></rect>'
        for r, c, fill, key, tip in zip(panel.row, panel.col, fills, keys, _escaped(panel.tips), strict=True)
    ]
    return [
        *_titles(place, g),
        '<g class="cells" stroke="#ffffff" stroke-width="1">', *cells, "</g>",
        *(_labels(place, g) if g.font else ()),
        *_marks(place, g),
        *_borders(place, g),
    ]  # fmt: skip


def _labels(place: Place, g: Geometry) -> list[str]:
    panel = place.panel
    xs = [f'<text x="{place.x + (c + 0.5) * g.cell_w:g}"' for c in range(panel.cols)]
    ys = [f' y="{place.y + (r + 0.5) * g.cell_h + g.font * 0.35:g}">' for r in range(panel.rows)]
    cells = zip(panel.row, panel.col, _escaped(panel.labels), strict=True)
    texts = [f"{xs[c]}{ys[r]}{label}</text>" for r, c, label in cells if label]
    ink = INKS[panel.label_kind]
    return [f'<g class="labels" pointer-events="none" text-anchor="middle" font-size="{g.font}" fill="{ink}">', *texts, "</g>"]


def _titles(place: Place, g: Geometry) -> list[str]:
    """The panel's title, and the row and column headers with the names of their axes."""
    panel, size = place.panel, g.head_font
    out = []
    if panel.title:
        above = place.y - (24 if panel.col_labels else 8)
        out.append(_text("title", place.x, above, panel.title, 13, "#1f1f1f", 'font-weight="600"'))
    if panel.col_labels:
        step = header_step(panel.col_labels, g.cell_w, 6.2)
        for c in range(0, len(panel.col_labels), step):
            out.append(_text("head", place.x + (c + 0.5) * g.cell_w, place.y - 6, panel.col_labels[c], size, HEAD_INK, 'text-anchor="middle"'))
    if panel.row_labels:
        step = header_step(["00"] * len(panel.row_labels), g.cell_h, 6)
        for r in range(0, len(panel.row_labels), step):
            y = place.y + (r + 0.5) * g.cell_h + 4
            out.append(_text("head", place.x - 6, y, panel.row_labels[r], size, HEAD_INK, 'text-anchor="end"'))
    names = "\\".join(filter(None, (panel.row_axis, panel.col_axis)))
    if names and panel.row_labels:
        out.append(_text("head", place.x - 6, place.y - 6, names, size, HEAD_INK, 'text-anchor="end" font-style="italic"'))
    return out


def _marks(place: Place, g: Geometry) -> list[str]:
    """A wrong cell: a heavy frame and a cross. An alias: a dark corner. A hole: a stroke through it."""
    out = []
    for cell, mark in place.panel.marks.items():
        x, y = place.x + place.panel.col[cell] * g.cell_w, place.y + place.panel.row[cell] * g.cell_h
        w, h = g.cell_w, g.cell_h
        if mark == "wrong":
            s = min(w, h) * 0.22
            out.append(
                f'<g class="mark-wrong" fill="none" stroke="{ACCENT}"><rect x="{x + 1.5:g}" y="{y + 1.5:g}" width="{w - 3:g}" height="{h - 3:g}" '
                f'stroke-width="3"/><path stroke-width="2" d="M{x + w - s - 3:g} {y + 4:g}l{s:g} {s:g}m0 {-s:g}l{-s:g} {s:g}"/></g>'
            )
        elif mark == "alias":
            s = min(w, h) * 0.3
            out.append(f'<path class="mark-alias" fill="{LINE}" d="M{x + w:g} {y:g}v{s:g}l{-s:g} {-s:g}z"/>')
        else:
            out.append(f'<path class="mark-hole" stroke="#9a9a9a" d="M{x + 3:g} {y + h - 3:g}L{x + w - 3:g} {y + 3:g}"/>')
    return [f'<g pointer-events="none">{"".join(out)}</g>'] if out else []


def _borders(place: Place, g: Geometry) -> list[str]:
    """The panel's frame, and its tiles' borders, heavier with the level. Dark in every theme, since the cells are light."""
    panel = place.panel
    boxes = [(b.level + 0.8, b.row, b.col, b.rows, b.cols) for b in panel.borders]
    if not _ragged(panel):
        boxes.append((1, 0, 0, panel.rows, panel.cols))
    rects = [
        f'<rect x="{place.x + c * g.cell_w:g}" y="{place.y + r * g.cell_h:g}" width="{cols * g.cell_w:g}" height="{rows * g.cell_h:g}" '
        f'stroke-width="{width:g}"/>'
        for width, r, c, rows, cols in boxes
    ]
    return ['<g pointer-events="none" fill="none" stroke="', LINE, '">', *rects, "</g>"]


def _ragged(panel: Panel) -> bool:
    """Whether the last row is not full, as in a strip of memory: then no frame goes around the whole."""
    return len(panel.row) < panel.rows * panel.cols


def _text(kind: str, x: float, y: float, text: str, size: int, fill: str, more: str = "") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" {more}>{escape(text)}</text>'


def _escaped(texts) -> list[str]:
    # one call for all of them: escaping each of 4096 labels apart costs milliseconds
    return escape("\0".join(texts), quote=False).split("\0") if len(texts) else []


def _spoken(scene: Scene) -> str:
    titles = [panel.title for panel in scene.all_panels() if panel.title]
    return f"{', '.join(titles)}. {scene.caption}"
