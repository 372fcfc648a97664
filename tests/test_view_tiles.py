"""`tiles`: every cell's tile and element against plain Python, the table against the algebra, borders, colours, windows, bad input."""

import time
import warnings
import xml.etree.ElementTree as ET
from math import prod

import pytest
from generated import TILES, any_kind, spread_layouts
from hypothesis import given
from hypothesis import strategies as st

from layoutviz import Layout, LayoutError, complement, zipped_divide
from layoutviz.algebra import ragged
from layoutviz.composed import as_layout
from layoutviz.modes import as_tiler
from layoutviz.notation import format_tuple
from layoutviz.render.svg import svg
from layoutviz.scene import Border
from layoutviz.views.tiles import tiles

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def whole_calls(draw):
    """A layout of any kind, and a tuple with one number or None a mode (or fewer), which plain Python can divide."""
    layout = draw(any_kind())
    sizes = [mode.size for mode in Layout(layout.shape).modes()]
    entries = [draw(st.one_of(st.none(), st.integers(1, size + 1))) for size in sizes]
    return layout, tuple(entries[: draw(st.integers(1, len(sizes)))])


def by_hand(layout, tiler):
    """index -> (element, tile), with a // and a % for each mode; and how many elements and tiles there are."""
    sizes = [mode.size for mode in Layout(layout.shape).modes()]
    entries = [*tiler, *[1] * (len(sizes) - len(tiler))]  # a mode beyond the tiler is all rest
    steps = [size if entry is None else entry for size, entry in zip(sizes, entries, strict=True)]
    counts = [-(-size // step) for size, step in zip(sizes, steps, strict=True)]
    where = {}
    for index in range(layout.size):
        element = tile = 0
        left, e_weight, t_weight = index, 1, 1
        for size, step, count in zip(sizes, steps, counts, strict=True):
            left, at = divmod(left, size)
            element, tile = element + at % step * e_weight, tile + at // step * t_weight
            e_weight, t_weight = e_weight * step, t_weight * count
        where[index] = (element, tile)
    return where, prod(steps), prod(counts)


def parts_of(layout, tiler, beyond=False):
    """(mode, T, T*) for each part of the plain layout, in order, from the tiler's own definition."""
    if tiler is None:
        whole = Layout(layout.size)
        return [(layout, Layout(1), whole) if beyond else (layout, whole, Layout(1))]
    if isinstance(tiler, tuple):
        modes = layout.modes()
        entries = [*tiler, *[None] * (len(modes) - len(tiler))]
        return [part for m, mode in enumerate(modes) for part in parts_of(mode, entries[m], m >= len(tiler))]
    return [(layout, tiler, complement(tiler, layout.size))]


def slots_by_hand(layout, tiler):
    """(element, tile) -> (index or -1, offset), one slot at a time."""
    parts = parts_of(layout.plain, as_tiler(tiler))
    elements, counts = prod(t.size for _, t, _ in parts), prod(r.size for _, _, r in parts)
    slots = {}
    for element in range(elements):
        for tile in range(counts):
            e, t, index, linear, weight, inside = element, tile, 0, 0, 1, True
            for mode, tile_mode, rest in parts:
                place = tile_mode(e % tile_mode.size) + rest(t % rest.size)
                e, t = e // tile_mode.size, t // rest.size
                index, linear, inside = index + place * weight, linear + mode(place), inside and place < mode.size
                weight *= mode.size
            slots[element, tile] = index if inside else -1, int(layout.after(linear))
    return slots


def cells(panel):
    """Each cell of a panel as a dict of its keys, label and tip, and mark."""
    for cell, (label, tip) in enumerate(zip(panel.labels, panel.tips, strict=True)):
        yield {name: int(column[cell]) for name, column in panel.keys.items()} | {
            "row": panel.row[cell], "col": panel.col[cell], "label": label, "tip": tip, "mark": panel.marks.get(cell)
        }  # fmt: skip


@given(whole_calls(), st.sampled_from(["offset", "index", "coordinate"]))
def test_tiles_of_whole_numbers_against_plain_division(call, label):
    layout, tiler = call
    *grids, table = tiles(layout, tiler, label).all_panels()
    where, elements, count = by_hand(layout, tiler)
    shown = {"offset": layout, "index": lambda i: i, "coordinate": lambda i: format_tuple(layout.coordinate(i))}[label]
    seen = [cell for panel in grids for cell in cells(panel)]
    if layout.rank <= 2:  # of more modes, some slices may be left out
        assert sorted(cell["index"] for cell in seen) == list(range(layout.size))
    for cell in seen:
        i = cell["index"]
        assert (cell["element"], cell["tile"], cell["offset"], cell["label"]) == (*where[i], layout(i), str(shown(i)))
        where_told = f"index {i} · coordinate {format_tuple(layout.coordinate(i))} · offset {layout(i)}"
        assert cell["tip"] == f"{where_told} · tile {cell['tile']} · element {cell['element']}"
    assert (table.rows, table.cols) == (min(elements, 128), min(count, 128))
    index_of = {slot: index for index, slot in where.items()}
    for cell in cells(table):
        slot = cell["row"], cell["col"]
        i = index_of.get(slot, -1)
        assert (cell["element"], cell["tile"], cell["index"]) == (*slot, i)
        assert (cell["mark"] == "outside") == (i < 0)
        assert i < 0 or (cell["offset"], cell["label"]) == (layout(i), str(shown(i)))
        assert i >= 0 or cell["tip"].startswith(f"outside · offset {cell['offset']} · ")


@given(any_kind(), TILES)
def test_any_tiler_slot_by_slot_and_against_the_algebra(layout, tiler):
    """Each slot holds what T and T* say, each element is in one slot at most, and where a division exists the table is its table."""
    try:
        scene = tiles(layout, tiler)
    except LayoutError as error:
        with pytest.raises(LayoutError):  # what cannot be drawn cannot be divided either
            zipped_divide(layout, tiler)
        assert str(error)
        return
    slots = slots_by_hand(layout, tiler)
    *grids, table = scene.all_panels()
    for cell in cells(table):
        assert (cell["index"], cell["offset"]) == slots[cell["row"], cell["col"]]
        assert (cell["mark"] == "outside") == (cell["index"] < 0)
    held = {index: slot for slot, (index, _) in slots.items() if index >= 0}
    assert len(held) == sum(index >= 0 for index, _ in slots.values())
    for panel in grids:
        for cell in cells(panel):
            assert (cell["element"], cell["tile"]) == held.get(cell["index"], (-1, -1))
            assert (cell["mark"] == "hole") == (cell["index"] not in held)
            assert ("in no tile" in cell["tip"]) == (cell["index"] not in held)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            divided = zipped_divide(layout, tiler)
        except LayoutError:
            assert table.title == "as a 2-D table: no one layout computes it"
            return
    assert table.title == f"as a 2-D table: {divided}"
    elements = divided.plain.modes()[0]
    for cell in cells(table):
        assert cell["offset"] == divided(cell["row"] + cell["col"] * elements.size)
    assert table.row_labels == [format_tuple(elements.coordinate(e)) for e in range(table.rows)]
    assert table.col_labels == [format_tuple(divided.plain.modes()[1].coordinate(t)) for t in range(table.cols)]


def test_case_L05_a_layout_tiles_along_the_index_and_a_shape_by_mode():
    layout = Layout("(12,32):(1,12)")
    scene, other = tiles(layout, "(4,8):(1,4)"), tiles(layout, (4, 8))
    grid, table = scene.all_panels()
    assert table.title == "as a 2-D table: ((4,8),12):((1,4),32)"
    first = {(c["row"], c["col"]) for c in cells(grid) if c["tile"] == 0}
    assert first == {(r, c) for c in (0, 1) for r in range(12)} | {(r, 2) for r in range(8)}
    assert grid.borders == () and "counts along the index" in scene.caption
    grid, table = other.all_panels()
    assert table.title == "as a 2-D table: ((4,8),(3,4)):((1,12),(4,96))" and "counts along the index" not in other.caption
    assert {(c["row"], c["col"]) for c in cells(grid) if c["tile"] == 4} == {(r, c) for r in range(4, 8) for c in range(8, 16)}
    assert set(grid.borders) == {Border(1, r, c, 4, 8) for r in (0, 4, 8) for c in (0, 8, 16, 24)}
    assert "12 tiles of 32 elements" in other.caption


def test_case_V1_both_views_of_a_divided_layout():
    grid, table = tiles("(2,6):(6,1)", (1, 2)).all_panels()
    assert grid.labels == [str(n) for n in range(12)]
    assert [table.labels[:6], table.labels[6:]] == [["0", "6", "2", "8", "4", "10"], ["1", "7", "3", "9", "5", "11"]]
    assert set(grid.borders) == {Border(1, r, c, 1, 2) for r in (0, 1) for c in (0, 2, 4)}
    assert table.title.endswith("((1,2),(2,3)):((0,1),(6,2))") and grid.title.endswith("A = (2,6):(6,1)")


@given(spread_layouts(), TILES)
def test_borders_stand_around_the_tiles_that_fill_a_block(layout, tiler):
    try:
        *grids, _ = tiles(layout, tiler).all_panels()
    except LayoutError:
        return
    for panel in grids:
        places = {}
        for cell in cells(panel):
            if cell["tile"] >= 0:
                places.setdefault(cell["tile"], set()).add((cell["row"], cell["col"]))
        levels = [border.level for border in panel.borders]
        boxes = {(b.row, b.col, b.rows, b.cols) for b in panel.borders if b.level == max(levels)}
        expected = set()
        for found in places.values():
            rows, cols = zip(*found, strict=True)
            box = min(rows), min(cols), max(rows) - min(rows) + 1, max(cols) - min(cols) + 1
            if box[2] * box[3] == len(found):
                expected.add(box)
        assert boxes == expected or (not boxes and prod(t.size for _, t, _ in parts_of(layout, as_tiler(tiler))) == 1)


def test_blocks_inside_a_nested_tile_have_lighter_borders():
    grid, _ = tiles("(16,12):(1,16)", ("(2,4):(1,2)", "(3,2):(1,3)")).all_panels()
    inner, outer = ({b for b in grid.borders if b.level == level} for level in (1, 2))
    assert inner == {Border(1, r, c, 2, 3) for r in range(0, 16, 2) for c in range(0, 12, 3)}
    assert outer == {Border(2, r, c, 8, 6) for r in (0, 8) for c in (0, 6)}
    assert len(grid.borders) == len(inner) + len(outer)
    three, _ = tiles("(8,6):(1,8)", ("(2,2,2):(1,2,4)", 3)).all_panels()  # a mode with fewer levels stays whole
    assert {(b.level, b.rows, b.cols) for b in three.borders} == {(1, 2, 3), (2, 4, 3), (3, 8, 3)}


@pytest.mark.parametrize(("layout", "tiler"), [
    ("(64,64):(64,1)", (8, 8)), ("(48,40):(1,48)", (3, 5)), ("(9,128):(128,1)", (1, 16)), ("(16,16):(16,1)", (1, 1)), ("(8,24):(1,8)", 1),
    ("(10,7):(7,1)", (4, 4)), ("(4,64,3)", (1, 8)),
])  # fmt: skip
def test_tiles_that_touch_have_different_fills(layout, tiler):
    scene = tiles(layout, tiler)
    fill_of = {}
    for panel, fills in zip(scene.all_panels(), scene.fills(), strict=True):
        at = {(r, c): (int(t), fill) for r, c, t, fill in zip(panel.row, panel.col, panel.keys["tile"], fills, strict=True)}
        for (r, c), (tile, fill) in at.items():
            assert fill_of.setdefault(tile, fill) == fill  # one fill a tile, in every panel
            for beside in ((r + 1, c), (r, c + 1)):
                other, its_fill = at.get(beside, (tile, None))
                assert other == tile or its_fill != fill


def test_ragged_tiles_are_told_in_the_algebras_words():
    scene = tiles("(10,7):(7,1)", (4, 4))
    told = ragged("(10,7):(7,1)", (4, 4))
    assert told[1:] in scene.caption and "26 of 96 slots lie outside" in told
    table = scene.all_panels()[-1]
    assert list(table.marks.values()).count("outside") == 26
    for cell in cells(table):  # an outside slot shows the offset that the access would reach
        if cell["mark"] == "outside":
            element, tile = cell["row"], cell["col"]
            r, c = element % 4 + tile % 3 * 4, element // 4 + tile // 3 * 4
            assert (r >= 10 or c >= 7) and cell["label"] == str(7 * r + c) and cell["index"] == -1


@pytest.mark.parametrize("tiler", ["(4,2):(1,5)", ("(4,2):(1,5)", None), ("(4,2):(1,5)", "(2,2):(1,5)"), (None, "(2,2):(1,5)")])
def test_elements_in_no_tile_are_in_none_and_marked(tiler):
    """Copies of (4,2):(1,5) leave 4, 9, 14, 19 out; those of (2,2):(1,5) leave 4 and 9 out."""
    layout = Layout("(20,10):(1,20)")
    rows, cols = tiler if isinstance(tiler, tuple) else (None, None)
    grid, _ = tiles(layout, tiler).all_panels()
    for cell in cells(grid):
        out = (rows is not None and cell["row"] % 5 == 4) or (cols is not None and cell["col"] % 5 == 4)
        out = out or (isinstance(tiler, str) and cell["index"] % 5 == 4)
        assert ((cell["element"], cell["tile"]) == (-1, -1)) == out == (cell["mark"] == "hole") == ("in no tile" in cell["tip"])
    assert "of its 200 elements are in no tile" in tiles(layout, tiler).caption


def test_a_division_that_no_layout_computes_is_drawn_all_the_same():
    with pytest.raises(LayoutError):
        zipped_divide("(3,5):(7,1)", 2)
    grid, table = tiles("(3,5):(7,1)", 2).all_panels()
    offsets = Layout("(3,5):(7,1)").offsets().tolist()
    assert table.keys["offset"].reshape(2, 8).T.ravel().tolist()[:15] == offsets
    assert table.title.endswith("no one layout computes it")


@pytest.mark.parametrize(("layout", "tiler"), [
    ("(4,4):(1,3)", (2, 2)), ("(5,3):(1,4)", (2, 2)), ("(5,3):(3,6)", (3, 2)), ("(4,3):(0,1)", (3, 2)),
])  # fmt: skip
def test_shared_offsets_are_marked_in_both_panels(layout, tiler):
    """An element is marked if another element, not a slot outside, has its offset."""
    offsets = Layout(layout).offsets().tolist()
    for panel in tiles(layout, tiler).all_panels():
        for cell in cells(panel):
            assert (cell["mark"] == "alias") == (cell["index"] >= 0 and offsets.count(cell["offset"]) > 1)


def test_the_svg_says_what_the_scene_says():
    layout = as_layout("S<2,0,3> o 0 o (6,10):(10,1)")
    scene = tiles(layout, (4, 4), "coordinate")
    root = ET.fromstring(svg(scene))
    rects = [rect for group in root.iter(f"{SVG}g") if group.get("class") == "cells" for rect in group.iter(f"{SVG}rect")]
    where, elements, count = by_hand(layout, (4, 4))
    assert len(rects) == layout.size + elements * count
    for rect in rects:
        index, tip = int(rect.get("data-k")), rect.find(f"{SVG}title").text
        if index >= 0:
            element, tile = where[index]
            coordinate = format_tuple(layout.coordinate(index))
            assert tip == f"index {index} · coordinate {coordinate} · offset {layout(index)} · tile {tile} · element {element}"
        else:
            assert tip.startswith("outside")
    labels = [cell.text for group in root.iter(f"{SVG}g") if group.get("class") == "labels" for row in group for cell in row]
    every = [format_tuple(layout.coordinate(i)) for i in range(layout.size)]
    assert sorted(labels) == sorted(every * 2)


def test_large_layouts_are_windowed_or_refused_at_once():
    start = time.perf_counter()
    scene = tiles("(4096,4096):(4096,1)", (128, 128))
    assert "rows 0 to 127 of 4,096" in scene.caption and "Drawn of the table: rows 0 to 127 of 16,384" in scene.caption
    huge = tiles("(1048576,1048576,1048576):(1,1048576,1099511627776)", (16, 16, 16))
    for panel in huge.all_panels()[:-1]:
        for cell in list(cells(panel))[::97]:
            at = cell["index"] % 2**20, cell["index"] // 2**20 % 2**20, cell["index"] // 2**40
            assert cell["tile"] == sum((c // 16) << 16 * m for m, c in enumerate(at))
    assert {(b.rows, b.cols) for b in huge.all_panels()[0].borders} == {(16, 16)}
    with pytest.raises(LayoutError, match="mode of 1,073,741,824 elements or slots; tiles are drawn up to 1,048,576 a mode"):
        tiles("1073741824:1", 8)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(("tiler", "message"), [
    ((2, 2, 2), r"a tiler of 3 entries for \(4,6\):\(6,1\), which has 2 modes"), (0, "extent 0"), ((0, 2), "extent 0"), ((), "empty tuple"),
    (None, "None is no tiler"), ("(2,2):(1,1)", "both have offset 1"), ("4:-1", "negative"), ((2, "(2,2):(1,1)"), "mode 1: .*both have"),
    ("S<1,0,1> o 0 o 4:1", "plain"), ((2, (2, 2)), "mode 1: a tiler of 2 entries for 6:1"), ("2x2", "cannot read"), (2.5, "whole number"),
])  # fmt: skip
def test_bad_tilers_are_refused_in_words(tiler, message):
    with pytest.raises(LayoutError, match=message):
        tiles("(4,6):(6,1)", tiler)


def test_bad_layouts_and_labels_are_refused_in_words():
    with pytest.raises(LayoutError, match="cells can be labelled"):
        tiles("(4,6):(6,1)", (2, 2), "offsets")
    with pytest.raises(LayoutError, match="cannot read"):
        tiles("(4,6):(6", (2, 2))
