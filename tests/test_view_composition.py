"""`composition` as a picture: A, B and A(B(i)) by hand; the place in A runs through all panels; what is wrong or past A's end is marked."""

import re
import time
from collections import Counter

import pytest
from generated import any_kind, layouts
from hypothesis import given
from hypothesis import strategies as st
from test_pictures import by_hand, read_back

from layoutviz import ComposedLayout, Layout, LayoutError, Tensor, algebra
from layoutviz.color import BLANK
from layoutviz.composed import as_layout
from layoutviz.render.svg import svg
from layoutviz.scene import Panel
from layoutviz.views.composition import composition
from layoutviz.views.grid import grid
from layoutviz.views.operands import ROW, in_rows, tile_colors

PAIRS = st.tuples(any_kind(layouts(negative=True)), any_kind(layouts(48)))


def panels_of(scene, prefix):
    """The panels of the layout whose title starts so, its further slices with it."""
    panels = scene.all_panels()
    first = next(n for n, panel in enumerate(panels) if panel.title.startswith(prefix))
    last = next((n for n in range(first + 1, len(panels)) if not panels[n].title.startswith("at (")), len(panels))
    return panels[first:last]


def columns(panels, *names):
    return [value for panel in panels for value in zip(*(panel.keys[name].tolist() for name in names), strict=True)]


def marked(panels, mark):
    return {index for p in panels for cell, index in enumerate(p.keys["index"].tolist()) if p.marks.get(cell) == mark}


@given(PAIRS)
def test_every_panel_shows_its_function_and_the_place_in_a(pair):
    a, b = pair
    try:
        scene = composition(a, b)
    except LayoutError as error:
        with pytest.raises(LayoutError) as raised:
            algebra.composition(a, b)
        assert str(raised.value) == str(error)
        assert isinstance(a, ComposedLayout), "a table of A(B(i)) exists, and can be drawn"
        return
    places = [by_hand(b, i) for i in range(b.size)]
    true = [by_hand(a, place) for place in places]
    assert all((o, p) == (by_hand(a, i), i) for i, o, p in columns(panels_of(scene, "A ="), "index", "offset", "place"))
    assert all(o == p == places[i] for i, o, p in columns(panels_of(scene, "B ="), "index", "offset", "place"))
    try:
        algebra.composition(a, b)
    except LayoutError as error:
        exact, nearest = panels_of(scene, "A(B(i))"), panels_of(scene, "the nearest layout, ")
        assert str(error) in scene.caption
        wrong = {i for i, o, _ in columns(nearest, "index", "offset", "place") if o != true[i]}
        assert wrong == marked(nearest, "wrong")
        shown = as_layout(nearest[0].title.removeprefix("the nearest layout, ").split("   ")[0])
        count = sum(by_hand(shown, i) != true[i] for i in range(b.size))
        assert count and f"wrong (crossed) at {count} of {b.size} coordinate" in scene.caption
        if isinstance(a, Layout):
            assert f"the nearest, {shown}" in str(error), "the picture shows the layout that the error names"
        assert not any("wrong" in p.marks.values() for p in panels_of(scene, "B =") + exact)
        results = [exact, nearest]
    else:
        exact = panels_of(scene, "A o B =")
        results = [exact]
    assert all((o, p) == (true[i], places[i]) for i, o, p in columns(exact, "index", "offset", "place"))
    for group in [panels_of(scene, "B ="), *results]:
        past = {i for i, _ in columns(group, "index", "offset") if places[i] >= a.size}
        assert past - marked(group, "wrong") <= marked(group, "outside") <= past
        assert all(place == places[i] for i, place in columns(group, "index", "place"))
    assert not marked(panels_of(scene, "A ="), "outside")
    reached = len({place for place in places if place < a.size})
    assert f" {reached} of A's {a.size}." in scene.caption
    past = sum(place >= a.size for place in places)
    told = re.search(r" (\d+) cells? \(hatched\) go(?:es)? past A's last index (\d+),", scene.caption)
    assert (tuple(map(int, told.groups())) if told else (0, None)) == ((past, a.size - 1) if past else (0, None))


@given(PAIRS)
def test_nothing_is_left_out_of_small_layouts(pair):
    try:
        scene = composition(*pair)
    except LayoutError:
        return
    for name, layout in zip(("A =", "B ="), pair, strict=True):
        cells = [i for i, _ in columns(panels_of(scene, name), "index", "place")]
        assert cells == [i for panel in grid(layout).panels[0] for i in panel.keys["index"].tolist()]
        assert sorted(cells) == list(range(layout.size)) or f"{name[0]}: Drawn:" in scene.caption


@given(PAIRS)
def test_a_place_has_one_colour_everywhere_and_what_b_leaves_out_is_pale(pair):
    try:
        scene = composition(*pair)
    except LayoutError:
        return
    assert scene.color_by == scene.link_by == "place"
    reached, seen = {by_hand(pair[1], i) for i in range(pair[1].size)}, {}
    for panel, fills in zip(scene.all_panels(), scene.fills(), strict=True):
        for place, fill in zip(panel.keys["place"].tolist(), fills, strict=True):
            assert seen.setdefault(place, fill) == fill
            assert (fill == BLANK) == (place not in reached)


@pytest.mark.parametrize("a, b", [("(6,4):(4,1)", "(3,2):(2,6)"), ("(3,3):(10,10)", "(2,3):(1,2)"), ("20:2", "(5,(2,3)):(1,(12,5))")])
def test_the_svg_carries_labels_places_and_tips(a, b):
    cells, labels = read_back(svg(composition(a, b)))
    f, g = as_layout(a), as_layout(b)
    seen = Counter((place, int(labels[at].split('→')[-1])) for at, (place, _) in cells.items())
    expected = Counter((i, by_hand(f, i)) for i in range(f.size))
    expected += Counter((by_hand(g, i), by_hand(g, i)) for i in range(g.size))
    expected += Counter((by_hand(g, i), by_hand(f, by_hand(g, i))) for i in range(g.size))
    extra = seen - expected  # of the nearest layout, if that is drawn
    assert not expected - seen and sum(extra.values()) in (0, g.size)
    assert all(tip.endswith(f" · place {place}") for place, tip in cells.values())


def test_labels_follow_the_choice():
    shown = {"offset": ["0", "1", "12", "13"], "index": ["0", "2", "1", "3"], "coordinate": ["(0,0)", "(0,1)", "(1,0)", "(1,1)"]}
    for label, labels in shown.items():
        panel = composition("(4,3):(12,1)", "(2,2):(1,4)", label).all_panels()[2]
        assert (panel.labels, panel.label_kind) == (labels, label)


def test_the_error_of_the_smallest_case_in_words():
    scene = composition("(3,3):(10,10)", "(2,2):(1,2)")
    assert [panel.labels for panel in scene.all_panels()[2:]] == [["0", "20", "10", "10"], ["0", "20", "10", "30"]]
    assert scene.all_panels()[3].marks[3] == "wrong"
    assert scene.caption.startswith("There is no A o B: no layout computes (3,3):(10,10) o (2,2):(1,2)")


@pytest.mark.parametrize(
    "a, b, words",
    [
        ("(4,4):(4,1)", (2, 2), "mode by mode"),
        ("(4,4):(4,1)", "(2,2)", "mode by mode"),
        ("(4,4):(4,1)", "(2,2):(-1,4)", "no negative index"),
        ("(4,4):(4,1)", Tensor("2:1", -1), "no negative index"),
        ("S<2,0,2>", "(2,2)", "no shape"),
        ("(4,4):(4,1)", None, "None is no tiler"),
        ("(4,4):(4,1", "4:1", "cannot read|expected|parenthes"),
        ("(3,3):(10,10)", f"{2**21}:2", "undecided|no layout computes"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_words(a, b, words):
    with pytest.raises(LayoutError, match=words):
        composition(a, b)


def test_an_unknown_label_is_refused():
    with pytest.raises(LayoutError, match="labelled"):
        composition("4:1", "2:1", "bank")


def test_large_layouts_are_windows_and_do_not_hang():
    started = time.perf_counter()
    scene = composition("(4096,4096):(4096,1)", "(2048,4096):(2,4096)")
    assert time.perf_counter() - started < 5
    assert "A: Drawn: rows 0 to 127 of 4,096" in scene.caption and "B: Drawn: rows 0 to 127 of 2,048" in scene.caption
    assert "of A's" not in scene.caption, "too many cells to count, so nothing is claimed"
    assert BLANK not in {fill for fills in scene.fills() for fill in fills}
    beyond = composition("8:1", "(2,200):(1,8)")
    assert BLANK in beyond.fills()[0] and "past A" in beyond.caption


def _panel(cols, letters=1):
    return Panel(1, cols, [0] * cols, list(range(cols)), ["x" * letters] * cols, [""] * cols, {})


def test_panels_stand_side_by_side_while_they_fit():
    narrow, wide = [_panel(8)], [_panel(ROW // 4)]
    assert [len(row) for row in in_rows(narrow, narrow, narrow)] == [3]
    assert [len(row) for row in in_rows(narrow, wide, narrow)] == [1, 1, 1]
    assert [len(row) for row in in_rows(narrow, [_panel(8)] * 4)] == [1, 3, 1], "a group starts a row of its own, and wraps"
    assert [len(row) for row in in_rows([_panel(8, 10)], [_panel(8, 10)])] == [1, 1], "labels count, not cells"


@pytest.mark.parametrize("rows", range(1, 17))
def test_neighbouring_tiles_differ_in_colour(rows):
    for cols in range(1, 17):
        tile = Layout((rows, cols)).offsets()
        color = tile_colors([Panel(rows, cols, tile % rows, tile // rows, [""] * tile.size, [""] * tile.size, {"tile": tile})])
        for j in range(rows * cols):
            assert j % rows == rows - 1 or color(j) != color(j + 1)
            assert j + rows >= rows * cols or color(j) != color(j + rows)
