"""`divide`: A, the tiler, its complement and the result hold the same elements, by the algebra and by plain Python."""

import time
import warnings
import xml.etree.ElementTree as ET
from itertools import product

import pytest
from generated import TILES, any_kind
from hypothesis import given
from hypothesis import strategies as st
from test_view_tiles import SVG, cells, parts_of, slots_by_hand

from layoutviz import Layout, LayoutError, algebra, complement
from layoutviz.modes import as_tiler
from layoutviz.notation import format_tuple
from layoutviz.render.svg import svg
from layoutviz.views.divide import FORMS, divide
from layoutviz.views.tiles import tiles


def panels_of(scene):
    """(A's panels, those of tilers and complements, the result's)."""
    panels = scene.all_panels()
    first = next(k for k, panel in enumerate(panels) if panel.title.startswith("T"))
    result = next(k for k, panel in enumerate(panels) if "_divide(A, " in panel.title)
    return panels[:first], panels[first:result], panels[result:]


def drawn_coordinates(panels, shape):
    """The flat index in a layout of this shape of each cell drawn, from its row, its column and its panel."""
    sizes = [mode.size for mode in Layout(shape).modes()]
    for n, panel in enumerate(panels):
        for cell in cells(panel):
            if len(sizes) == 1:
                yield cell["col"], cell
            else:
                yield cell["row"] + sizes[0] * (cell["col"] + sizes[1] * n), cell


@given(any_kind(), TILES, st.sampled_from(FORMS), st.sampled_from(["offset", "index", "coordinate"]))
def test_result_and_operands_of_any_division(layout, tiler, form, label):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            divided = getattr(algebra, f"{form}_divide")(layout, tiler)
        except LayoutError as error:
            with pytest.raises(LayoutError) as raised:
                divide(layout, tiler, form, label)
            assert str(raised.value) == str(error)
            return
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they stand in the caption, not in the output
        scene = divide(layout, tiler, form, label)
    given_panels, operands, result = panels_of(scene)
    assert result[0].title.startswith(f"{form}_divide(A, ") and f" = {divided}" in result[0].title
    slots = slots_by_hand(layout, tiler)
    for k, cell in drawn_coordinates(result, divided.shape):
        i = cell["index"]
        assert (i, cell["offset"]) == slots[cell["element"], cell["tile"]]
        assert cell["offset"] == divided(k)  # the number drawn is the divided layout's own
        assert (cell["mark"] == "outside") == (i < 0)
        shown = {"offset": str(divided(k)), "index": str(i), "coordinate": format_tuple(layout.coordinate(i)) if i >= 0 else ""}[label]
        assert cell["label"] == (shown if i >= 0 or label == "offset" else "")
    of_tiles = [cell for panel in tiles(layout, tiler, label).all_panels()[:-1] for cell in cells(panel)]
    assert [cell for panel in given_panels for cell in cells(panel)] == of_tiles
    parts = parts_of(layout.plain, as_tiler(tiler))
    named = [n for m in range(len(parts)) for n in ((f"T{m}", f"T{m}*") if isinstance(as_tiler(tiler), tuple) else ("T", "T*"))]
    titled = [panel for panel in operands if panel.title.startswith("T")]
    assert [panel.title.split(" = ")[0] for panel in titled] == named
    for panel, mode in zip(titled, [each for _, t, r in parts for each in (t, r)], strict=True):
        seen = list(cells(panel))
        if mode.size <= 128:
            assert sorted(cell["label"] for cell in seen) == sorted(str(mode(i)) for i in range(mode.size))
        for cell in seen:
            assert (cell["index"], cell["offset"]) == slots[cell["element"], cell["tile"]]
            assert 0 in (cell["tile"], cell["element"])


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_against_plain_division(form):
    """(6,10):(10,1) by (2,5): which element of A lies where, with the modes in each form's order."""
    tile, rest = (2, 5), (3, 2)
    expected = {}
    for t0, t1, r0, r1 in product(range(2), range(5), range(3), range(2)):
        of_tile, of_rest = t0 + t1 * tile[0], r0 + r1 * rest[0]
        where = {"logical": (0, t0 + 2 * r0, t1 + 5 * r1), "zipped": (0, of_tile, of_rest),
                 "tiled": (r1, of_tile, r0), "flat": (of_rest, t0, t1)}[form]  # fmt: skip
        row, col = t0 + 2 * r0, t1 + 5 * r1
        expected[where] = row + 6 * col, 10 * row + col, of_rest, of_tile
    _, _, result = panels_of(divide("(6,10):(10,1)", (2, 5), form))
    found = {(n, cell["row"], cell["col"]): (cell["index"], cell["offset"], cell["tile"], cell["element"])
             for n, panel in enumerate(result) for cell in cells(panel)}  # fmt: skip
    assert found == expected


def test_tiler_and_complement_show_places_in_their_mode():
    _, operands, _ = panels_of(divide("(8,12):(12,1)", (4, "3:4")))
    assert {panel.title: panel.labels for panel in operands} == {
        "T0 = 4:1": ["0", "1", "2", "3"], "T0* = 2:4": ["0", "4"], "T1 = 3:4": ["0", "4", "8"],
        f"T1* = {complement('3:4', 12)}": ["0", "1", "2", "3"],
    }  # fmt: skip
    assert [panel.keys["index"].tolist() for panel in operands] == [[0, 1, 2, 3], [0, 4], [0, 32, 64], [0, 8, 16, 24]]
    assert [panel.keys["tile"].tolist() for panel in operands] == [[0] * 4, [0, 1], [0] * 3, [0, 2, 4, 6]]


def test_an_element_has_one_fill_and_one_link_in_all_panels():
    scene = divide("(64,64):(64,1)", (8, 8))
    fill_of = {}
    for panel, fills in zip(scene.all_panels(), scene.fills(), strict=True):
        for tile, fill in zip(panel.keys["tile"].tolist(), fills, strict=True):
            assert fill_of.setdefault(tile, fill) == fill
    assert scene.link_by == "index" and len(set(fill_of.values())) == 8


def test_what_does_not_fit_is_told_in_the_caption_and_hatched():
    scene = divide("(10,7):(7,1)", (4, 4), "flat")
    assert algebra.ragged("(10,7):(7,1)", (4, 4))[1:] in scene.caption
    _, _, result = panels_of(scene)
    assert sum(cell["mark"] == "outside" for panel in result for cell in cells(panel)) == 26
    assert "8 tiles of 12 elements; every element is in one of them" in divide("(8,12):(12,1)", (4, 3)).caption
    large = divide("(256,256):(256,1)", (16, 16))
    assert "Drawn: rows 0 to 127 of 256" in large.caption and "Drawn of the result: rows 0 to 127 of 256" in large.caption


def test_the_svg_says_what_the_scene_says():
    scene = divide("(4,6):(6,1)", (2, 3), "logical", "index")
    root = ET.fromstring(svg(scene))
    groups = [[cell.text for row in g for cell in row] for g in root.iter(f"{SVG}g") if g.get("class") == "labels"]
    by_hand = [str(r + 4 * c) for r in range(4) for c in range(6)]
    assert groups[0] == by_hand and groups[-1] == by_hand  # blocks stay where they are
    keys = [rect.get("data-k") for g in root.iter(f"{SVG}g") if g.get("class") == "cells" for rect in g.iter(f"{SVG}rect")]
    assert keys[:24] == by_hand and keys[-24:] == by_hand


@pytest.mark.parametrize(("call", "message"), [
    (("(3,5):(7,1)", 2), "no layout computes"), (("(4,6):(6,1)", (2, 2, 2)), "3 entries"), (("(4,6):(6,1)", (2, 2), "zip"), 'not "zip"'),
    (("(4,6):(6,1)", (2, 2), "flat", "value"), "cells can be labelled"), (("1073741824:1", 8), "tiles are drawn up to"),
    (("(4,6):(6,1)", "(2,2):(1,1)"), "both have offset 1"),
])  # fmt: skip
def test_bad_input_is_refused_in_words(call, message):
    start = time.perf_counter()
    with pytest.raises(LayoutError, match=message):
        divide(*call)
    assert time.perf_counter() - start < 2


def test_operands_of_any_rank_are_drawn_whole():
    panels = {panel.title.split(" = ")[0]: panel for panel in divide("(1,(1,1,2)):(1,(1,1,1))", (None,)).all_panels()}
    assert panels["T1*"].labels == ["0", "1"]
