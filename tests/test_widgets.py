"""Board and Explorer in Python: one owner of the state, and input that is no layout changes nothing."""

import functools
import html

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutviz import Layout, LayoutError, compare, draw, explore, to_svg
from layoutviz.api import VIEWS, scene_of
from layoutviz.composed import Tensor
from layoutviz.layout import CoordinateFunction
from layoutviz.render.svg import svg
from layoutviz.widgets.board import Board
from layoutviz.widgets.controls import LayoutNumbers


def shown(explorer) -> CoordinateFunction:
    return explorer.values["layout"]


def controls(explorer):
    """The text field of the layout, its sliders for extents and for strides, and the buttons of the label."""
    layout = explorer.controls["layout"]
    plain = [slider for slider in layout.sliders if slider.description not in ("b", "m", "s")]
    half = len(plain) // 2
    return layout.text, plain[:half], plain[half:], explorer.controls["label"].choice


def agree(explorer) -> bool:
    """Whether controls, state and picture say the same."""
    text, extents, strides, label = controls(explorer)
    return (
        text.value == str(shown(explorer))
        and tuple((s.value, d.value) for s, d in zip(extents, strides, strict=True)) == shown(explorer).plain.leaves
        and explorer.board.svg == svg(scene_of(shown(explorer), explorer.view.value, label=label.value), live=True)
        and explorer.view.value == explorer.view_shown and explorer.field.value == explorer.state
        and explore(explorer.state).board.svg == explorer.board.svg
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 16)), max_size=6))
def test_sliders_notation_and_picture_follow_one_state(moves):
    explorer = explore("(4,6):(6,1)")
    for which, value in moves:
        _, extents, strides, _ = controls(explorer)
        (extents + strides)[which].value = value
        assert shown(explorer).leaves[which % 2][which // 2] == value
        assert agree(explorer)


def test_notation_sets_all_and_rebuilds_the_sliders():
    explorer = explore("(4,6):(6,1)")
    controls(explorer)[0].value = "(4,(2,200)):(-3,(1,500))"
    assert str(shown(explorer)) == "(4,(2,200)):(-3,(1,500))"
    assert [s.description for s in controls(explorer)[1]] == ["shape 0", "shape 1.0", "shape 1.1"]
    assert agree(explorer)


@pytest.mark.parametrize(("start", "which", "value", "then"), [
    ("S<2,0,3> o 4 o (4,(2,3)):(8,(1,2))", 2, 5, "S<2,0,3> o 4 o (4,(2,5)):(8,(1,2))"),
    ("(8,3):(3,1) o 0 o 6:2", 1, 4, "(8,3):(3,1) o 0 o 6:4"),
    ("20 + (4,6):(6,1)", 0, 3, "20 + (3,6):(6,1)"),
    ("7 + S<1,0,2> o 0 o (2,6):(6,1)", 1, 5, "7 + S<1,0,2> o 0 o (2,5):(6,1)"),
])
def test_sliders_move_the_plain_layout_inside(start, which, value, then):
    explorer = explore(start)
    _, extents, strides, _ = controls(explorer)
    (extents + strides)[which].value = value
    assert str(shown(explorer)) == then and agree(explorer)


def test_sliders_move_the_swizzle_around_a_layout():
    explorer = explore("S<3,3,3> o 8 o (8,64):(64,1)", "banks", threads="(8,8):(1,8)", vector=8)
    sliders = {slider.description: slider for slider in explorer.controls["layout"].sliders}
    rows = [[slider.description for slider in row.children] for row in explorer.controls["layout"].rows.children]
    assert rows == [["shape 0", "stride 0"], ["shape 1", "stride 1"], ["b", "m", "s"]]
    for name, value, then in (("b", 2, "S<2,3,3>"), ("s", 4, "S<2,3,4>"), ("m", 4, "S<2,4,4>")):
        sliders[name].value = value
        assert str(shown(explorer)) == f"{then} o 8 o (8,64):(64,1)" == explorer.controls["layout"].text.value
    sliders["s"].value = 1  # no swizzle: it would turn bits by themselves
    assert "The picture is as it was" in explorer.message.value and sliders["s"].value == 4 and "S<2,4,4>" in str(shown(explorer))
    explorer.controls["layout"].text.value = "(8,64):(64,1)"
    assert [slider.description for slider in explorer.controls["layout"].sliders] == ["shape 0", "shape 1", "stride 0", "stride 1"]
    assert LayoutNumbers.of(Layout("(4,4)"))[0] == ["shape 0", "shape 1", "stride 0", "stride 1"]


def test_choices_redraw():
    explorer = explore("(4,6):(6,1)")
    for view in ("transpose", "memory_strip", "grid"):
        for label in ("index", "coordinate", "offset"):
            explorer.view.value = view
            controls(explorer)[3].value = label
            assert agree(explorer)


@pytest.mark.parametrize("text", ["(4,6:(6,1)", "", "(0,6):(6,1)", "(4,6):(6,1,2)", "(4,9007199254740993):(1,4)", "S<2,0,3>"])
def test_notation_that_is_no_layout_stays_to_be_mended_and_changes_nothing(text):
    explorer = explore("(4,6):(6,1)")
    before = explorer.board.svg
    controls(explorer)[0].value = text
    assert "The picture is as it was, with layout (4,6):(6,1)." in explorer.message.value
    assert (explorer.board.svg, shown(explorer), controls(explorer)[0].value) == (before, Layout("(4,6):(6,1)"), text)
    controls(explorer)[2][0].value = 7
    assert explorer.message.value == "" and agree(explorer)


def test_what_a_view_cannot_draw_is_refused_and_the_controls_go_back():
    explorer = explore("7:2", "memory_strip")
    explorer.view.value = "transpose"
    assert "7:2 has 1 mode; a transpose swaps two" in explorer.message.value
    assert explorer.view.value == "memory_strip" and agree(explorer)
    explorer = explore("(4,6):(6,1)", "transpose")
    controls(explorer)[0].value = "7:2"
    assert "The picture is as it was, with layout (4,6):(6,1)." in explorer.message.value


@pytest.mark.parametrize("options", [{"view": "nope"}, {"label": "nope"}, {"view": "memory_strip", "label": "nope"}])
def test_views_and_labels_that_are_not_there_are_refused_in_words(options):
    with pytest.raises(LayoutError, match="nope"):
        explore("(4,4):(4,1)", **options)
    with pytest.raises(LayoutError, match="nope"):
        draw("(4,4):(4,1)", **options)


def test_a_fault_in_a_callback_is_shown_and_raised(monkeypatch):
    explorer = explore("(4,6):(6,1)")
    monkeypatch.setitem(VIEWS, "grid", functools.wraps(VIEWS["grid"])(lambda *_, **__: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        controls(explorer)[2][0].value = 7
    assert "ZeroDivisionError" in explorer.message.value


def test_a_step_walks_the_index_and_comes_round():
    explorer = explore("(2,3):(3,1)")
    seen = []
    for _ in range(7):
        explorer.step.click()
        seen += explorer.board.picked
    assert seen == [0, 3, 1, 4, 2, 5, 0]
    explorer.back.click()
    assert explorer.board.picked == [5]


@pytest.mark.parametrize(("state", "says"), [
    ("view=nope", "restores no explorer: it starts with one of view=grid"), ("view=grid", "the view grid needs layout as well"),
    ("view=grid; layout=(4,4", "cannot read"), ("view=grid; layout=4:1; label=bank", "label is one of offset, index, coordinate, not bank"),
    ("view=grid; layout=4:1; colour=2", "the view grid has no colour"),
    ("view=grid; layout=4:1; first=x", "'x' in the first is not a whole number"),
    ("view=grid; layout=4:1; layout=8:1", "layout stands in it twice"),
])
def test_a_state_that_cannot_be_restored_says_why(state, says):
    with pytest.raises(LayoutError) as error:
        explore(state)
    assert says in str(error.value)
    explorer = explore("(4,6):(6,1)")
    explorer.field.value = state
    assert html.escape(says) in explorer.message.value and shown(explorer) == Layout("(4,6):(6,1)")


def test_a_slider_runs_through_the_slices_of_a_large_rank_3():
    explorer = explore("(2,2,40)")
    first = explorer.controls["first"].widget
    assert (first.min, first.max, first.layout.display) == (0, 32, None)
    first.value = 32
    assert explorer.board.scene.all_panels()[-1].title == "at (:,:,39)"
    assert explorer.state == "view=grid; layout=(2,2,40):(1,2,4); first=32"
    assert explore("(4,4)").controls["first"].widget.layout.display == "none"


def test_a_board_carries_its_picture_and_words_for_places_without_widgets():
    board = draw("(2,3):(3,1)")
    data, _ = board._repr_mimebundle_()
    assert data["image/svg+xml"] == to_svg("(2,3):(3,1)")
    assert data["text/plain"].startswith("(2,3):(3,1)\n   0 1 2")
    assert "application/vnd.jupyter.widget-view+json" in data
    data, _ = Layout("(2,3):(3,1)")._repr_mimebundle_()
    assert data["image/svg+xml"] == to_svg("(2,3):(3,1)")
    data, _ = explore("(2,3):(3,1)")._repr_mimebundle_()
    assert data["image/svg+xml"] == to_svg("(2,3):(3,1)")


def test_picked_travels_as_text_so_that_large_offsets_stay_exact():
    board = Board(scene_of("(4,4):(9007199254740992,1)"))
    board.set_state({"picked": ["9007199254740993"]})
    assert board.picked == [9007199254740993]
    assert board.get_state("picked")["picked"] == ["9007199254740993"]


def test_compare_says_what_it_leaves_out_and_what_is_shared():
    assert compare("(4,4):(4,1)", "(4,4):(1,4)").scene.caption == "Each: 16 elements in 16 slots. Every slot is used once."
    caption = compare({"A": "(200,3):(3,1)", "B": "(4,4):(1,1)"}).scene.caption
    assert "A = (200,3):(3,1): 600 elements in 600 slots. Every slot is used once. Drawn: rows 0 to 127 of 200." in caption
    assert "B = (4,4):(1,1): 16 elements in 7 slots. 5 slots are shared (aliasing): (1,0) and (0,1) both have offset 1." in caption
    pair = compare({"A": "S<1,0,2> o 0 o (4,4):(4,1)", "B": Tensor("(4,4):(4,1)", 20)}).scene
    assert [panel.title for panel in pair.all_panels()] == ["A = S<1,0,2> o 0 o (4,4):(4,1)", "B = 20 + (4,4):(4,1)"]
    assert "B = 20 + (4,4):(4,1): 16 elements in 16 slots from offset 20 on." in pair.caption
    assert compare({"A": (2, 3)}).scene.panels[0][0].title == "A = (2,3):(1,2)"
    with pytest.raises(LayoutError, match="at least one"):
        compare()


def test_a_value_past_a_sliders_end_widens_it():
    explorer = explore("(4,6):(6,1)")
    text, extents, strides, _ = controls(explorer)
    text.value = "(40,6):(500,-7)"
    assert agree(explorer)
    assert extents[0].max == 40 and strides[0].max == 500 and strides[1].min == -7


def test_the_label_follows_the_view_until_the_reader_chooses_one():
    explorer = explore("(4,6):(6,1)")
    explorer.view.value = "memory_strip"
    assert controls(explorer)[3].value == "coordinate" and agree(explorer)
    explorer.view.value = "grid"
    assert controls(explorer)[3].value == "offset" and agree(explorer)
    controls(explorer)[3].value = "index"
    explorer.view.value = "memory_strip"
    assert controls(explorer)[3].value == "index" and agree(explorer)


def test_a_view_comes_back_as_it_was_left_with_the_layout_of_now():
    explorer = explore("(8,12):(12,1)", "tiles", tiler=(4, 3))
    explorer.view.value = "divide"
    explorer.controls["form"].choice.value = "flat"
    explorer.view.value = "grid"
    explorer.controls["layout"].text.value = "(8,6):(6,1)"
    explorer.view.value = "divide"
    assert explorer.state == "view=divide; layout=(8,6):(6,1); tiler=(4,3); form=flat"


def test_a_pair_with_a_tv_layout_in_notation_is_a_tv():
    assert to_svg(((16, 8), "((4,8),(2,2)):((16,1),(8,64))")) == to_svg(((16, 8), Layout("((4,8),(2,2)):((16,1),(8,64))")))
    assert to_svg((4, 4)) == to_svg("(4,4)")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: explore(scene_of("(4,4):(4,1)")), "a Scene is a finished picture without sliders: draw() shows it"),
        (lambda: draw("(4,4):(4,1)", lable="index"), "grid has no option lable; it takes label, first, labels, marks, color, title,"),
        (lambda: draw("(4,4):(4,1)", "transpose", title="A"), "transpose has no option title; it takes label"),
        (lambda: draw("(4,4):(4,1)", marks={0: "bad"}), "not 0 to 'bad'"),
        (lambda: draw("(4,4):(4,1)", marks={16: "wrong"}), "not 16 to 'wrong'"),
        (lambda: draw(scene_of("(4,4):(4,1)"), "transpose"), "a Scene is drawn as it is"),
        (lambda: compare("(4,4):(4,1)", scene_of("(4,4):(4,1)", "transpose")), "only pictures of one row"),
    ],
)
def test_requests_that_make_no_sense_are_refused_in_words(call, says):
    with pytest.raises(LayoutError) as error:
        call()
    assert says in str(error.value)


def test_comparing_a_layout_with_itself_keeps_both():
    assert len(compare("(4,4):(4,1)", "(4,4):(4,1)").scene.all_panels()) == 2


def test_a_step_walks_every_index_where_cells_share_what_links_them():
    for layout, size in (("(3,3):(1,1)", 9), ("(2,3):(0,1)", 6), ("(2,2,3)", 12)):
        explorer = explore(layout)
        seen = []
        for _ in range(size + 1):
            explorer.step.click()
            seen.append(explorer.at)
        assert seen == [*range(size), 0]
    explorer = explore("(2,2)", "product", tiler="(2,2)")
    assert [(explorer.step.click(), explorer.at)[1] for _ in range(17)] == [*range(16), 0]


def test_a_step_walks_cell_by_cell_where_cells_share_what_links_them():
    explorer = explore("(2,4):(4,1)", "product", tiler="(3,2):(1,3)")
    result = explorer.board.scene.all_panels()[-1]
    before = sum(len(panel.labels) for panel in explorer.board.scene.all_panels()[:-1])
    for index in range(10):
        explorer.step.click()
        assert result.keys["index"][explorer.board.walked - before] == explorer.at == index
        assert explorer.board.picked == [result.keys["tile"][explorer.board.walked - before]]
    explorer.board.picked = [5]
    explorer.controls["block"].sliders[1].value = 3
    assert explorer.board.walked == -1, "the reader has picked something else"


def test_sliders_of_extents_begin_at_1_and_of_strides_at_0():
    explorer = explore("(4,6):(6,1)", "tiles", tiler=(2, 3))
    assert [slider.min for slider in explorer.controls["layout"].sliders] == [1, 1, 0, 0]
    assert [slider.min for slider in explorer.controls["tiler"].sliders] == [1, 1]


def test_a_step_stays_at_its_index_when_the_layout_moves():
    explorer = explore("(2,3)")
    explorer.step.click()
    explorer.step.click()
    explorer.controls["layout"].sliders[2].value = 5
    assert explorer.board.picked == [shown(explorer)(1)] == [5]
    explorer.step.click()
    assert explorer.at == 2


def test_what_is_pinned_goes_when_it_would_mean_something_else():
    explorer = explore("(32,32):(32,1)", "banks", bits=16)
    explorer.step.click()
    explorer.controls["bits"].choice.value = 32
    assert explorer.board.scene.link_by == "offset" and explorer.board.picked == []


WILD = ["first=--5", "first=²", "first=" + "9" * 5000, "tiler=" + "-" * 5000 + "None", "tiler=" + "(" * 3000]


@pytest.mark.parametrize("state", WILD, ids=map(str, range(len(WILD))))
def test_a_wild_state_is_told_in_words(state):
    view = "grid" if state.startswith("first") else "tiles"
    explorer = explore("(4,4)")
    explorer.field.value = f"view={view}; layout=(4,4); {state}"
    assert explorer.message.value and "Traceback" not in explorer.message.value


@pytest.mark.parametrize("tiler", [("4:2", 3), (Layout("4:2"), None), ((2, 2), "3:1"), "(4,8):(1,4)", 6, (4, None)])
def test_a_tiler_of_any_form_is_restored_from_its_state(tiler):
    explorer = explore("((2,4),12):((1,2),8)", "tiles", tiler=tiler)
    assert explore(explorer.state).board.svg == explorer.board.svg


@pytest.mark.parametrize(("call", "says"), [
    (lambda: explore("(4,4)", lable="index"), "grid has no option lable"),
    (lambda: explore("(4,4)", "tiles", first=2), "tiles has no option first"),
    (lambda: explore("view=grid; layout=(4,4)", "tiles"), "the state shows the view grid, not tiles"),
    (lambda: compare(scene_of("(4,4)", "tiles"), "(4,4)"), "one colouring and one linking"),
    (lambda: compare("(4,4)", "(4,4)", view="grid"), "it has no view and no title"),
])
def test_what_explore_and_compare_cannot_do_is_told(call, says):
    with pytest.raises(LayoutError, match=says):
        call()


def test_views_are_offered_where_what_is_there_carries_over():
    offered = {view for _, view in explore("(8,8):(8,1)", "composition", b="(4,8):(1,4)").view.options}
    assert offered == {"composition"}
    assert {"tiles", "divide", "swizzle", "complement", "blank"} <= {view for _, view in explore("(8,8):(8,1)").view.options}


def test_a_slider_that_depends_on_the_layout_comes_down_with_it():
    explorer = explore("(2,2,40)", first=32)
    explorer.controls["layout"].sliders[2].value = 20
    assert explorer.values["first"] == 12 and explorer.message.value == ""
