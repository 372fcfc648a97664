"""Pictures, of layouts of every kind: the numbers in them are the layout's, in every backend; contrast; windows; nothing left open."""

import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from math import prod

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from samples import SAMPLES
from vision import apart, ciede2000

from layoutviz import Layout, LayoutError, to_figure, to_svg, to_text
from layoutviz.api import VIEWS, scene_of
from layoutviz.color import BLANK, INKS, categories, contrast, ramp
from layoutviz.composed import ComposedLayout, Swizzle, Tensor, as_layout
from layoutviz.int_tuple import coordinate_of, leaf_values, nest
from layoutviz.render.geometry import edges, layout_scene
from layoutviz.scene import EMPTY, Panel, Scene
from layoutviz.views.grid import grid
from layoutviz.views.memory_strip import memory_strip
from layoutviz.views.slots import describe
from layoutviz.views.transpose import transpose

SVG = "{http://www.w3.org/2000/svg}"
MATRICES = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(-5, 30), st.integers(-5, 30)).map(
    lambda t: Layout((t[0], t[1]), (t[2], t[3]))
)
SHAPES = st.sampled_from([7, (5,), (3, 4), (2, (2, 3)), ((2, 2), 4), (1, 6), (2, 3, 2), (3, 2, (2, 2)), ((3, (1, 2)), 2, 2, 2)])
SWIZZLES = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.sampled_from([1, -1])).map(
    lambda t: Swizzle(t[0], t[1], t[3] * max(1, t[0] + t[2]))
)
OUTER = st.one_of(SWIZZLES, st.sampled_from([Layout("(4,3):(3,1)"), Layout("(2,5):(0,2)"), Layout("6:-2")]))


@st.composite
def of_every_kind(draw, shapes=SHAPES):
    """A layout; one under an outer function, or two; or any of these as a Tensor."""
    shape, outers = draw(shapes), draw(st.lists(OUTER, max_size=2))
    signed = all(isinstance(outer, Swizzle) for outer in outers)
    strides = [draw(st.integers(-5 if signed else 0, 30)) for _ in leaf_values(shape)]
    layout = Layout(shape, nest(strides, shape))
    for outer in outers:
        layout = ComposedLayout(outer, draw(st.integers(0, 40)), layout)
        if not isinstance(outer, Swizzle):
            break  # such an outer part may go below 0, where a further one has no index
    return draw(st.sampled_from([layout, Tensor(layout, draw(st.integers(-30, 50)))]))


FLAT = of_every_kind(st.tuples(st.integers(1, 9), st.integers(1, 9)))


def by_hand(function, x: int) -> int:
    """The offset at an index (of a swizzle: at an offset), from the definitions alone, digit by digit and bit by bit."""
    if isinstance(function, Tensor):
        return function.offset + by_hand(function.layout, x)
    if isinstance(function, ComposedLayout):
        return by_hand(function.outer, function.offset + by_hand(function.inner, x))
    if isinstance(function, Swizzle):
        read, changed = function.m + max(function.s, 0), function.m + max(-function.s, 0)
        flips = [(x >> read + bit & 1) << changed + bit for bit in range(function.b)]
        return x ^ sum(flips)
    *inner, (_, last) = function.leaves
    offset = 0
    for extent, stride in inner:
        x, digit = divmod(x, extent)
        offset += digit * stride
    return offset + x * last


def table_by_hand(layout) -> list[int]:
    return [by_hand(layout, i) for i in range(layout.size)]


def read_back(svg_text):
    """(cells, labels): each rect's link value and tip, and each label, at its place on the page, read from the SVG alone."""
    root = ET.fromstring(svg_text)
    cells = {}
    for rect in root.iter(f"{SVG}rect"):
        if "data-k" in rect.attrib:
            x, y, w, h = (float(rect.get(a)) for a in ("x", "y", "width", "height"))
            cells[round(x + w / 2, 2), round(y + h / 2, 2)] = (int(rect.get("data-k")), rect.find(f"{SVG}title").text)
    labels = {}
    for group in root.iter(f"{SVG}g"):
        if group.get("class") == "labels":
            for row, cell in ((text, cell) for text in group for cell in text):
                labels[float(cell.get("x")), float(row.get("y")) - float(group.get("font-size")) * 0.35] = cell.text
    return cells, {(round(x, 2), round(y, 2)): label for (x, y), label in labels.items()}


def strokes(svg_text, kind) -> int:
    """How many lines a mark's paths have."""
    return sum(path.count("M") for path in re.findall(rf'class="mark-{kind}"[^>]* d="([^"]*)"', svg_text))


@given(st.one_of(MATRICES, FLAT))
def test_each_cell_of_the_svg_shows_its_offset_at_its_row_and_column(layout):
    cells, labels = read_back(to_svg(layout))
    xs, ys = (sorted({place[axis] for place in cells}) for axis in (0, 1))
    rows, cols = layout.shape
    assert (len(ys), len(xs)) == (rows, cols)
    for i in range(rows):
        for j in range(cols):
            key, tip = cells[xs[j], ys[i]]
            offset = by_hand(layout, i + j * rows)
            assert key == offset == layout(i, j)
            assert tip == f"index {i + j * rows} · coordinate ({i},{j}) · offset {offset}"
            near = [label for (x, y), label in labels.items() if abs(x - xs[j]) < 0.1 and abs(y - ys[i]) < 0.1]
            assert near == [str(offset)]


@given(st.one_of(MATRICES, FLAT), st.sampled_from(["offset", "index", "coordinate"]))
def test_text_and_scene_agree_with_the_table(layout, label):
    rows, cols = layout.shape
    panel = grid(layout, label).panels[0][0]
    for cell, (r, c) in enumerate(zip(panel.row, panel.col, strict=True)):
        wanted = {"offset": layout(r, c), "index": r + c * rows, "coordinate": f"({r},{c})"}[label]
        assert panel.labels[cell] == str(wanted)
        assert (panel.keys["offset"][cell], panel.keys["index"][cell]) == (layout(r, c), r + c * rows)
    if label == "offset":
        lines = to_text(layout).splitlines()[2 : 2 + rows]
        assert [[int(n.strip("=")) for n in line.split()[1:]] for line in lines] == [
            [layout(i, j) for j in range(cols)] for i in range(rows)
        ]


RANKS = ["7:3", "(5):(2)", "(2,(2,3)):(3,(1,12))", "((2,2),4):((1,4),2)", "(2,3,2):(1,2,6)", "(2,3,(2,2)):(1,2,(6,20))"]


@given(st.one_of(st.sampled_from(RANKS).map(Layout), of_every_kind()))
def test_every_rank_and_kind_shows_every_element_once_at_its_place(layout):
    panels = grid(layout).all_panels()
    assert len(panels) == min(8, prod(prod(leaf_values(mode)) for mode in (layout.shape if layout.rank > 2 else (1, 1))[2:]))
    shown = []
    for n, panel in enumerate(panels):
        for cell, (r, c) in enumerate(zip(panel.row, panel.col, strict=True)):
            index = c if layout.rank == 1 else r + panel.rows * (c + panel.cols * n)
            offset, coordinate = by_hand(layout, index), str(coordinate_of(index, layout.shape)).replace(" ", "").replace(",)", ")")
            assert (panel.keys["index"][cell], panel.keys["offset"][cell], panel.labels[cell]) == (index, offset, str(offset))
            assert panel.tips[cell] == f"index {index} · coordinate {coordinate} · offset {offset}"
            shown.append(index)
        assert panel.title.startswith("at (:,:," if n else str(layout))
    assert sorted(shown) == list(range(layout.size))


def test_nested_modes_have_tile_borders():
    borders = grid(Layout("((2,2),(2,4)):((1,4),(2,8))")).panels[0][0].borders
    assert {(b.rows, b.cols) for b in borders} == {(2, 2)}
    assert len(borders) == 2 * 4


@given(st.one_of(MATRICES, of_every_kind()))
def test_the_strip_names_who_lives_in_each_slot(layout):
    panel = memory_strip(layout, "index").panels[0][0]
    table = table_by_hand(layout)
    low, high = min(table), max(table)
    assert panel.keys["offset"].tolist() == list(range(low, min(high, low + 1023) + 1))
    for slot, offset in enumerate(panel.keys["offset"].tolist()):
        column, row = panel.col_labels[panel.col[slot]], panel.row_labels[panel.row[slot]] if panel.row_labels else "0"
        assert int(row) + int(column) == offset
        owners = [i for i, o in enumerate(table) if o == offset]
        text = panel.labels[slot]
        if not owners:
            assert text == "" and panel.marks[slot] == "hole"
        elif len(owners) == 1:
            assert text == str(owners[0]) and slot not in panel.marks
        else:
            assert text == f"×{len(owners)}" and panel.marks[slot] == "alias"


@pytest.mark.parametrize(
    "layout", ["(3,5):(7,1)", "S<2,0,2> o 5 o (3,5):(7,1)", Tensor("(3,5):(7,1)", 20), Tensor("S<1,1,2> o 3 o (3,(2,4)):(8,(4,1))", -9)]
)
def test_a_transpose_links_each_cell_with_its_twin_and_its_slot(layout):
    layout = as_layout(layout)
    a, b, strip = transpose(layout).all_panels()
    assert sorted(a.keys["offset"].tolist()) == sorted(table_by_hand(layout))
    at = [{(r, c): int(o) for r, c, o in zip(p.row, p.col, p.keys["offset"], strict=True)} for p in (a, b)]
    assert all(at[1][c, r] == offset for (r, c), offset in at[0].items())
    assert len(at[0]) == len(at[1]) == layout.size
    assert set(at[0].values()) == {int(o) for slot, o in enumerate(strip.keys["offset"]) if strip.marks.get(slot) != "hole"}


def test_a_transpose_needs_two_modes():
    with pytest.raises(LayoutError, match="a transpose swaps two"):
        transpose(Layout("(2,2,2):(1,2,4)"))


def test_aliasing_is_marked_and_named():
    scene = grid(Layout("(4,4):(1,3)"))
    panel = scene.panels[0][0]
    offsets = panel.keys["offset"].tolist()
    assert set(panel.marks) == {cell for cell, o in enumerate(offsets) if offsets.count(o) > 1}
    assert scene.caption == "16 elements in 13 slots. 3 slots are shared (aliasing): (3,0) and (0,1) both have offset 3."
    assert describe(Layout("(4,4):(1,0)")) == "16 elements in 4 slots. 4 slots are shared (aliasing): (0,0) and (0,1) both have offset 0."
    assert describe(Layout("(2,2):(1,3)")) == "4 elements in 5 slots. No slot is shared; 1 stays unused."
    assert grid(Layout("(4,4):(1,3)"), marks={0: "wrong"}).panels[0][0].marks == panel.marks | {0: "wrong"}


@given(of_every_kind())
def test_captions_count_elements_slots_and_those_shared_and_unused(layout):
    used = Counter(table_by_hand(layout))
    low, high = min(used), max(used)
    caption = re.sub(r"(\d),(\d{3}) ", r"\1\2 ", describe(layout))  # thousands without a comma
    size, slots, start = re.match(r"(\d+) elements? in (\d+) slots?(?: from offset (-?\d+) on)?\. ", caption).groups()
    assert (int(size), int(slots), start) == (layout.size, high - low + 1, None if low <= 0 <= high else str(low))
    shared = re.search(r"(\d+) slots? (?:is|are) shared \(aliasing\): (.+) and (.+) both have offset (-?\d+)\.", caption)
    assert int(shared[1] if shared else 0) == sum(count > 1 for count in used.values())
    if shared:
        names = {str(coordinate_of(i, layout.shape)).replace(" ", "").replace(",)", ")"): by_hand(layout, i) for i in range(layout.size)}
        assert shared[2] != shared[3] and names[shared[2]] == names[shared[3]] == int(shared[4])
    unused = re.search(r"(\d+)(?: slots?)? stays? unused", caption)
    assert int(unused[1] if unused else 0) == high - low + 1 - len(used)
    assert ("No slot is shared" in caption) == (not shared and unused is not None)
    assert ("Every slot is used once" in caption) == (not shared and unused is None)


@given(st.one_of(of_every_kind(), st.builds(Layout, st.tuples(*[st.integers(1, 4)] * 3), st.tuples(*[st.integers(-3, 9)] * 3))))
def test_a_cell_is_marked_wherever_its_twin_is(layout):
    offsets = table_by_hand(layout)
    for panel in grid(layout).all_panels():
        shared = {cell for cell, o in enumerate(panel.keys["offset"].tolist()) if offsets.count(o) > 1}
        assert set(panel.marks) == shared


def test_a_cell_is_marked_when_its_twin_is_not_drawn():
    assert grid(Layout("(200,3):(1,128)")).panels[0][0].marks  # (0,1) lies where (128,0) does, below the window
    assert grid(Layout((4, 4, 10**10), (1, 4, 0))).panels[0][0].marks
    swizzled = Tensor(ComposedLayout(Swizzle(1, 0, 2), 0, Layout((4, 4, 10**10), (1, 4, 0))), 7)
    assert len(grid(swizzled).panels[0][0].marks) == 16


LARGE = "(8192,8192):(8192,1)"


@pytest.mark.parametrize(
    ("layout", "says"),
    [
        (f"S<3,4,3> o 0 o {LARGE}", "67,108,864 elements, too many to count their slots. No slot is shared."),
        (Tensor(LARGE, 5), "67,108,864 elements in 67,108,864 slots from offset 5 on. Every slot is used once."),
        (
            f"{LARGE} o 2 o {LARGE}",
            "67,108,864 elements, too many to count their slots. Too many to search for elements that share a slot.",
        ),
        ("S<3,4,3> o 0 o (8192,8192):(1,1)", "67,108,864 elements, too many to count their slots. Slots are shared (aliasing): "),
    ],
)
def test_large_layouts_of_every_kind_are_drawn_as_a_window_and_say_what_is_too_much_to_tell(layout, says):
    layout = as_layout(layout)
    scene = grid(layout)
    assert scene.caption.startswith(says) and scene.caption.endswith("Drawn: rows 0 to 127 of 8,192, columns 0 to 127 of 8,192.")
    panel = scene.panels[0][0]
    for r, c, offset in list(zip(panel.row, panel.col, panel.keys["offset"].tolist(), strict=True))[::97]:
        assert offset == by_hand(layout, r + 8192 * c)
    if isinstance(layout, Tensor):
        assert memory_strip(layout, "offset").panels[0][0].labels[:2] == ["5", "6"]
    else:
        with pytest.raises(LayoutError, match="has 67,108,864 elements; the memory under a composed layout is drawn up to 1,048,576"):
            memory_strip(layout)


def test_layouts_with_endless_slices_are_drawn_at_once():
    scene = grid(Layout((4, 4, 10**10)))
    assert len(scene.all_panels()) == 8 and "Drawn: slices 0 to 7 of 10,000,000,000." in scene.caption
    assert describe(Layout((2**30, 4, 2), (1, 1, 2**29))).endswith("slots. Slots are shared (aliasing).")


def test_headers_titles_and_tips_name_the_right_places():
    panels = grid(Layout("(3,5,2):(1,3,20)")).all_panels()
    assert [p.title for p in panels] == ["(3,5,2):(1,3,20)   at (:,:,0)", "at (:,:,1)"]
    assert (panels[0].row_axis, panels[0].col_axis) == ("i", "j")
    assert (list(panels[0].row_labels), list(panels[0].col_labels)) == (["0", "1", "2"], ["0", "1", "2", "3", "4"])
    assert panels[1].tips[7] == "index 22 · coordinate (1,2,1) · offset 27"
    strip = memory_strip(Layout("(4,8):(-1,8)"), "index").panels[0][0]
    assert list(strip.row_labels) == ["-3", "13", "29", "45"] and list(strip.col_labels)[:2] == ["+0", "+1"]
    for slot, (r, c, tip) in enumerate(zip(strip.row, strip.col, strip.tips, strict=True)):
        assert int(strip.row_labels[r]) + int(strip.col_labels[c]) == slot - 3
        assert tip.startswith(f"offset {slot - 3} · ")
    assert strip.tips[3] == "offset 0 · coordinate (0,0), index 0"
    shared = memory_strip(Layout("(6,2):(0,1)")).panels[0][0]
    first = " and ".join(f"coordinate ({i},0), index {i}" for i in range(4))
    assert shared.tips[0] == f"offset 0 · {first} and 2 more"


def test_only_what_is_left_out_is_said_to_be():
    assert "Drawn" not in grid(Layout((128, 128))).caption and "Drawn" in grid(Layout((129, 128))).caption
    assert "Drawn" not in memory_strip(Layout(1024)).caption and "Drawn" in memory_strip(Layout(1025)).caption
    wide = grid(Layout("(128,128,8):(1,64,3)"))
    assert len(wide.all_panels()) == 1 and wide.caption.endswith("Drawn: slice 0 of 8.")
    assert len(grid(Layout("(64,64,8)")).all_panels()) == 4


@pytest.mark.parametrize("layout", [ComposedLayout("S<2,0,3> o 4 o (4,6):(8,1)"), Tensor("(4,6):(8,1)", 20)])
def test_every_kind_shows_itself_and_takes_the_options_of_a_picture(layout):
    data, _ = layout._repr_mimebundle_()
    assert data["image/svg+xml"] == to_svg(layout) and str(layout) in data["text/plain"]
    panel = grid(layout, labels=[f"<{i}>" for i in range(24)], marks={5: "wrong"}).panels[0][0]
    assert [panel.labels[c] for c, i in enumerate(panel.keys["index"].tolist()) if i == 5] == ["<5>"]
    assert [panel.keys["index"][cell] for cell in panel.marks] == [5]
    with pytest.raises(LayoutError, match="3 labels for .*, which has 24 elements"):
        grid(layout, labels=["a", "b", "c"])


@pytest.mark.parametrize(("option", "says"), [
    ({"labels": "abcdef"}, "labels are a list of texts, one for each index of (2,3):(3,1), not 'abcdef'"), ({"labels": 6}, "not 6"),
    ({"marks": [1]}, "marks take an index of (2,3):(3,1) to one of wrong, alias, hole, outside, as in {3: \"wrong\"}, not [1]"),
    ({"marks": {"a": "wrong"}}, "not 'a' to 'wrong'"), ({"marks": {0: None}}, "not 0 to None"), ({"title": 5}, "a title is a text, not 5"),
    ({"caption": ["x"]}, "a caption is a text, not ['x']"), ({"color": "red"}, "color is a function of a cell's offset"),
])  # fmt: skip
def test_options_of_another_type_are_refused_in_words(option, says):
    with pytest.raises(LayoutError) as error:
        grid("(2,3):(3,1)", **option)
    assert says in str(error.value)


@pytest.mark.parametrize("view", VIEWS)
def test_views_take_notation_too(view):
    def read(value):
        return as_layout(value) if isinstance(value, str) else value

    given = SAMPLES[view]
    assert to_svg(VIEWS[view](**given)) == to_svg(VIEWS[view](**{name: read(value) for name, value in given.items()}))


def test_each_row_of_panels_has_the_largest_labels_that_fit_it():
    scene = transpose(Layout("((4,4),(4,4)):((1,4),(16,64))"))
    a, b, strip = layout_scene(scene).places
    assert a.font == b.font > strip.font >= 8
    text = to_svg(scene)
    assert text.count("(3,3),(3,3)</tspan>") == 1


@pytest.mark.parametrize("view", ["grid", "transpose", "memory_strip", "tiles", "swizzle", "banks", "coalescing", "blank"])
def test_more_cells_than_a_screen_can_show_are_drawn_as_a_window_that_says_so(view):
    scene = scene_of(Layout((8192, 8192), (8192, 1)), view)
    assert sum(len(panel.labels) for panel in scene.all_panels()) <= 3 * 128 * 128
    text = to_svg(scene)
    assert len(text) < 8_000_000
    if view in ("grid", "transpose"):
        assert "Drawn: rows 0 to 127 of 8,192, columns 0 to 127 of 8,192." in scene.caption
    if view in ("memory_strip", "transpose"):
        assert "Drawn: slots 0 to 1023 of 67,108,864." in scene.caption


def test_the_window_of_a_strip_finds_owners_wherever_they_are():
    panel = memory_strip(Layout((4, 2**30), (-1, 4)), "index").panels[0][0]
    assert panel.keys["offset"][0] == -3
    assert panel.labels[:8] == ["3", "2", "1", "0", "7", "6", "5", "4"]
    with pytest.raises(LayoutError, match="too many elements"):
        memory_strip(Layout(2**40, 0))


@pytest.mark.parametrize("ink", INKS.values())
def test_every_label_has_contrast_on_every_fill(ink):
    fills = {ramp(0, 63)(n) for n in range(64)} | {categories(n) for n in range(8)} | {BLANK}
    assert min(contrast(ink, fill) for fill in fills) >= 4.5


def test_the_ramp_darkens_steadily():
    from layoutviz.color import luminance

    levels = [luminance(ramp(0, 63)(n)) for n in range(64)]
    assert all(a >= b for a, b in zip(levels, levels[1:], strict=False)) and levels[0] > levels[-1]
    assert ramp(5, 5)(5) == ramp(0, 9)(0)


@given(st.integers(1, 7), st.integers(1, 7), st.randoms())
def test_a_line_stands_wherever_groups_touch_and_nowhere_else(rows, cols, random):
    group = np.array([random.randrange(3) for _ in range(rows * cols)])
    row, col = np.divmod(np.arange(rows * cols), cols)
    panel = Panel(rows, cols, row, col, [""] * group.size, [""] * group.size, {"tile": group})
    (place,) = layout_scene(Scene(((panel,),))).places
    drawn = set()
    for line in edges(place, [categories(g) for g in group.tolist()]):
        (x0, y0), (x1, y1) = (((x - place.x) / place.cell_w, (y - place.y) / place.cell_h) for x, y in line.points)
        drawn |= {(x0, y, "upright") for y in range(int(y0), int(y1))} | {(x, y0, "flat") for x in range(int(x0), int(x1))}
    grid_ = group.reshape(rows, cols)
    wanted = {(c + 1, r, "upright") for r in range(rows) for c in range(cols - 1) if grid_[r, c] != grid_[r, c + 1]}
    wanted |= {(c, r + 1, "flat") for r in range(rows - 1) for c in range(cols) if grid_[r, c] != grid_[r + 1, c]}
    lone = len(wanted) == rows * (cols - 1) + cols * (rows - 1)
    assert drawn == (set() if lone else wanted)


def test_colour_is_one_function_of_a_key():
    scene = grid(Layout("(2,2):(2,1)"), color=lambda offset: "#ffffff" if offset % 2 else "#eeeeee")
    assert scene.fills() == [["#eeeeee", "#ffffff", "#eeeeee", "#ffffff"]]
    assert len(set(grid(Layout("(4,4):(4,1)")).fills()[0])) == 16


def test_figures_are_made_without_pyplot_or_drawn_into_given_axes():
    to_figure("(5,7):(7,1)")
    assert "matplotlib.pyplot" not in sys.modules or not matplotlib.pyplot.get_fignums()
    other = Figure()
    assert to_figure("(5,7):(7,1)", ax=other.add_subplot()) is other


UPDATES = """
import matplotlib
matplotlib.use("{backend}")
import matplotlib.pyplot as plt
from IPython.display import display
from layoutviz import explore, to_figure
kept = plt.figure()
explorer = explore("(4,4):(4,1)")
for n in range(100):
    explorer.controls["layout"].sliders[2].value = n % 30
    figure = to_figure(explorer.board.scene)
    display(figure, explorer)
    to_figure(explorer.board.scene, ax=kept.gca())
print(type(kept.canvas).__module__, plt.get_fignums())
"""


@pytest.mark.parametrize(("backend", "canvas"), [("matplotlib_inline.backend_inline", "backend_agg"), ("ipympl.backend_nbagg", "ipympl")])
def test_a_hundred_updates_leave_no_figure_open(backend, canvas):
    run = subprocess.run([sys.executable, "-c", UPDATES.format(backend=f"module://{backend}")], capture_output=True, text=True)
    last = run.stdout.splitlines()[-1]
    assert canvas in last and last.endswith(" [1]"), run.stdout[-500:] + run.stderr[-2000:]


@pytest.mark.parametrize("axes", ["own", "given"])
def test_figures_show_each_label_in_its_cell(axes):
    """Drawn to pixels: each cell but the two without a label has dark ink, near its middle and not beyond its edges."""
    labels = ["8888", "8", "", "88", "", "888"]
    scene = grid(Layout("(2,3):(3,1)"), labels=labels)
    ax = Figure(figsize=(6, 5), dpi=100).add_axes((0.1, 0.1, 0.8, 0.8)) if axes == "given" else None
    fig = to_figure(scene, ax=ax)
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    dark = np.asarray(canvas.buffer_rgba())[::-1, :, :3].sum(-1) < 200
    (place,) = layout_scene(scene).places
    for cell, label in enumerate(scene.panels[0][0].labels):
        r, c = place.panel.row[cell], place.panel.col[cell]
        corners = [(place.x + (c + a) * place.cell_w, place.y + (r + b) * place.cell_h) for a, b in ((0.06, 0.94), (0.94, 0.06))]
        (x0, y0), (x1, y1) = fig.axes[0].transData.transform(corners).round().astype(int)
        ink = np.argwhere(dark[y0:y1, x0:x1])
        assert bool(len(ink)) == bool(label), (axes, cell, label)
        if label:
            assert np.abs(ink.mean(0) / (y1 - y0, x1 - x0) - 0.5).max() < 0.06
            assert abs(np.ptp(ink[:, 1]) / (x1 - x0) - (len(label) * 0.6 - 0.12) * place.font / (0.88 * place.cell_w)) < 0.1


@settings(max_examples=20, deadline=None)
@given(MATRICES)
def test_figures_have_the_svgs_fills(layout):
    figure = to_figure(layout)
    faces = next(c for c in figure.axes[0].collections if type(c).__name__ == "PolyCollection").get_facecolors()
    assert [matplotlib.colors.to_hex(f) for f in faces] == scene_of(layout).fills()[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: to_svg("(4,4):(4,1)", "swirl"), 'no view "swirl"'),
        (lambda: to_svg("(4,4):(4,1)", label="colour"), 'not "colour"'),
        (lambda: grid(Layout(4), labels=["a"]), "1 labels for 4:1"),
        (lambda: to_svg(None), "None in the shape"),
        (lambda: to_svg("S<3,4,3>"), "S<3,4,3> alone has no shape"),
    ],
)
def test_bad_requests_are_refused_in_words(call, says):
    with pytest.raises(LayoutError) as error:
        call()
    assert says in str(error.value)


def test_labels_are_escaped():
    text = to_svg(grid(Layout("(1,2):(2,1)"), labels=["<b>&", '"'], title="a < b"))
    assert "&lt;b&gt;&amp;" in text
    ET.fromstring(text)


def test_a_panel_with_columns_of_different_lengths_is_refused():
    with pytest.raises(ValueError, match="one entry a cell"):
        Panel(1, 2, [0, 0], [0, 1], ["a"], ["", ""], {"offset": np.arange(2)})


def test_importing_layoutviz_imports_neither_matplotlib_nor_widgets_nor_torch_nor_the_dsl():
    code = "import sys, layoutviz; print([m for m in ('matplotlib','ipywidgets','anywidget','torch','cutlass') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_scene_without_panels_of_several_shapes_keeps_one_colouring():
    scene = transpose(Layout("(3,4):(4,1)"))
    fill = {}
    for panel, fills in zip(scene.all_panels(), scene.fills(), strict=True):
        for offset, colour in zip(panel.keys["offset"].tolist(), fills, strict=True):
            assert fill.setdefault(offset, colour) == colour
    assert isinstance(scene, Scene)


@pytest.mark.parametrize(("one", "two", "difference"), [  # of the published test data of CIEDE2000
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 2.5, 0), (50, 0, -2.5), 4.3065), ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644), ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
])
def test_the_measure_of_colours_is_ciede2000(one, two, difference):
    assert ciede2000(np.array(one, float), np.array(two, float)) == pytest.approx(difference, abs=1e-4)


def test_any_two_categories_are_told_apart_by_every_eye():
    fills = [categories(key) for key in range(8)]
    assert min(apart(one, two) for one, two in itertools.combinations(fills, 2)) >= 10


@pytest.mark.parametrize("view", ["tiles", "divide", "product", "complement", "swizzle", "tv"])
def test_fills_that_touch_are_told_apart_by_every_eye(view):
    scene = VIEWS[view](**SAMPLES[view])
    measured = {}
    for panel, fills in zip(scene.all_panels(), scene.fills(), strict=True):
        place = {(r, c): n for n, (r, c) in enumerate(zip(panel.row, panel.col, strict=True)) if panel.marks.get(n) not in EMPTY}
        key = panel.keys[scene.color_by]
        for (r, c), n in place.items():
            for other in ((r + 1, c), (r, c + 1)):
                m = place.get(other)
                same = fills[n] == fills[m] if view == "swizzle" and m is not None else False  # four banks share a hue
                if m is not None and key[m] != key[n] and not same:
                    pair = fills[n], fills[m]
                    measured.setdefault(pair, apart(*pair))
                    assert measured[pair] >= 10, f"{panel.title}: {key[n]} at {(r, c)} and {key[m]} at {other} look alike"


@pytest.mark.parametrize("view", SAMPLES)
def test_every_view_is_drawn_by_every_backend(view, tmp_path):
    scene = VIEWS[view](**SAMPLES[view])
    assert all({"index", "offset", scene.color_by, scene.link_by} & set(panel.keys) for panel in scene.all_panels())
    assert ET.fromstring(to_svg(scene)).tag.endswith("svg")
    assert scene.caption and to_text(scene).endswith(scene.caption)
    for kind in ("png", "pdf", "svg"):
        to_figure(scene).savefig(tmp_path / f"picture.{kind}")
        assert (tmp_path / f"picture.{kind}").stat().st_size > 2000
