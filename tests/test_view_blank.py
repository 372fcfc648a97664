"""`blank`: everything to fill in, and nothing that gives the answer away."""

import re

import pytest
from generated import any_kind
from hypothesis import given
from test_pictures import strokes

from layoutviz import LayoutError
from layoutviz.color import luminance
from layoutviz.int_tuple import coordinate_of
from layoutviz.notation import format_tuple
from layoutviz.render.svg import svg
from layoutviz.views.blank import blank
from layoutviz.views.grid import grid


@given(any_kind())
def test_headers_and_lines_but_no_answers(layout):
    scene, filled = blank(layout), grid(layout)
    assert len(scene.all_panels()) == len(filled.all_panels())
    for panel, full in zip(scene.all_panels(), filled.all_panels(), strict=True):
        for kept in ("rows", "cols", "row", "col", "row_labels", "col_labels", "title"):
            assert getattr(panel, kept) == getattr(full, kept)
        assert set(panel.labels) == {""} and not panel.marks
        assert panel.tips == [f"coordinate {format_tuple(coordinate_of(i, layout.shape))}" for i in panel.keys["index"].tolist()]
        assert panel.keys["offset"].tolist() == full.keys["offset"].tolist()
        assert set(full.borders) <= set(panel.borders)
        spans = {(b.row, b.col, b.rows, b.cols) for b in panel.borders}
        assert {(r, 0, 1, panel.cols) for r in range(panel.rows)} | {(0, c, panel.rows, 1) for c in range(panel.cols)} <= spans
    assert {luminance(fill) for fills in scene.fills() for fill in fills} == {1.0}


def test_the_page_has_no_offsets():
    drawn = svg(blank("(2,3):(70,900)"))
    assert re.findall(r'data-k="(\d+)"', drawn) == ["0", "2", "4", "1", "3", "5"]  # linked by index
    body = drawn.replace("(2,3):(70,900)", "")
    assert not re.search(r">[^<]*(70|900|970|1870)[^<]*<", body) and "aliasing" not in svg(blank("(2,3):(0,0)"))
    assert strokes(drawn, "frame") == 2 + 3 + 1


def test_nested_modes_keep_heavier_borders():
    panel = blank("(4,(2,3))").panels[0][0]
    assert {(b.row, b.col, b.rows, b.cols) for b in panel.borders if b.level > 0} == {(0, 0, 4, 2), (0, 2, 4, 2), (0, 4, 4, 2)}


def test_title_caption_and_what_is_left_out():
    assert blank("8:2", title="A", caption="").panels[0][0].title == "A"
    assert blank("8:2").caption == "Write the offset into each cell."
    assert blank("(300,2)").caption.endswith("Drawn: rows 0 to 127 of 300.")
    with pytest.raises(LayoutError):
        blank("nonsense")
