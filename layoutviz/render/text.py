"""Draw a Scene as plain text, for terminals, logs and screen readers."""

from layoutviz.scene import Panel, Scene

SIGNS = {"wrong": "!", "alias": "=", "hole": " ", "outside": "/"}


def text(scene: Scene) -> str:
    """Each panel as a table with its headers; a wrong cell is followed by "!", a cell that shares its offset by "=", one outside by "/".

    >>> from layoutviz import Layout, to_text
    >>> print(to_text(Layout("(2,3):(3,1)")))
    (2,3):(3,1)
       0 1 2
    0  0 1 2
    1  3 4 5
    6 elements in 6 slots. Every slot is used once.
    """
    blocks = [_panel(panel) for panel in scene.all_panels()]
    return "\n\n".join(blocks) + (f"\n{scene.caption}" if scene.caption else "")


def _panel(panel: Panel) -> str:
    places = [["" for _ in range(panel.cols)] for _ in range(panel.rows)]
    for cell, (r, c, label) in enumerate(zip(panel.row, panel.col, panel.labels, strict=True)):
        mark = panel.marks.get(cell)
        places[r][c] = (label or ".") + (SIGNS[mark].strip() if mark else "")
    heads = list(panel.col_labels)
    width = max([len(entry) for row in places for entry in row] + [len(head) for head in heads])
    left = max((len(label) for label in panel.row_labels), default=0)

    def line(head: str, entries) -> str:
        return ((head.rjust(left) + "  ") if left else "") + " ".join(entry.rjust(width) for entry in entries)

    lines = [panel.title] if panel.title else []
    lines += [line("", heads)] if heads else []
    lines += [line(panel.row_labels[r] if panel.row_labels else "", row) for r, row in enumerate(places)]
    return "\n".join(entry.rstrip() for entry in lines)
