"""Board and Explorer in Python: one owner of the state, and input that is no layout changes nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutviz import Layout, LayoutError, compare, draw, explore, to_svg
from layoutviz.api import VIEWS, scene_of
from layoutviz.composed import ComposedLayout, Tensor
from layoutviz.views.slots import plain_part
from layoutviz.widgets.board import Board


def agree(explorer) -> bool:
    """Whether controls, state and picture say the same."""
    layout, view, label = explorer.layout_shown, explorer.view.value, explorer.label.value
    sliders = [s.value for s in explorer.extents], [s.value for s in explorer.strides]
    return (
        explorer.notation.value == str(layout)
        and tuple(zip(*sliders, strict=True)) == plain_part(layout).leaves
        and explorer.board.svg == to_svg(layout, view, label=label)
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 16)), max_size=6))
def test_sliders_notation_and_picture_follow_one_state(moves):
    explorer = explore("(4,6):(6,1)")
    for which, value in moves:
        (explorer.extents + explorer.strides)[which].value = value
        assert explorer.layout_shown.leaves[which % 2][which // 2] == value
        assert agree(explorer)


def test_notation_sets_all_and_rebuilds_the_sliders():
    explorer = explore("(4,6):(6,1)")
    explorer.notation.value = "(4,(2,200)):(-3,(1,500))"
    assert str(explorer.layout_shown) == "(4,(2,200)):(-3,(1,500))"
    assert [s.description for s in explorer.extents] == ["shape 0", "shape 1.0", "shape 1.1"]
    assert agree(explorer)


def test_the_sliders_of_a_composed_layout_move_the_layout_inside():
    explorer = explore("S<2,0,3> o 4 o (4,(2,3)):(8,(1,2))")
    explorer.strides[1].value, explorer.extents[2].value = 3, 5
    assert explorer.layout_shown == ComposedLayout("S<2,0,3> o 4 o (4,(2,5)):(8,(3,2))") and agree(explorer)
    explorer.notation.value = "(8,3):(3,1) o 0 o 6:2"
    explorer.strides[0].value = 4
    assert explorer.layout_shown == ComposedLayout("(8,3):(3,1) o 0 o 6:4") and agree(explorer)
    explorer.notation.value = "(4,6):(6,1)"
    assert explorer.layout_shown == Layout("(4,6):(6,1)") and agree(explorer)
    explorer.notation.value = "S<2,0,3>"
    assert "S&lt;2,0,3&gt; alone has no shape" in explorer.message.value and "still shows (4,6):(6,1)" in explorer.message.value


def test_the_sliders_of_a_tensor_leave_it_at_its_place():
    explorer = explore(Tensor("(4,6):(6,1)", 20))
    explorer.extents[0].value = 3
    assert explorer.layout_shown == Tensor("(3,6):(6,1)", 20) and agree(explorer)
    explorer.notation.value = "7 + S<1,0,2> o 0 o (2,6):(6,1)"
    assert explorer.layout_shown == Tensor("S<1,0,2> o 0 o (2,6):(6,1)", 7) and agree(explorer)


def test_choices_redraw():
    explorer = explore("(4,6):(6,1)")
    for view in VIEWS:
        for label in ("index", "coordinate", "offset"):
            explorer.view.value, explorer.label.value = view, label
            assert agree(explorer)


@pytest.mark.parametrize("text", ["(4,6:(6,1)", "", "(0,6):(6,1)", "(4,6):(6,1,2)", "(4,9007199254740993):(1,4)"])
def test_notation_that_is_no_layout_stays_to_be_mended_and_changes_nothing(text):
    explorer = explore("(4,6):(6,1)")
    before = explorer.board.svg
    explorer.notation.value = text
    assert "The picture still shows (4,6):(6,1)." in explorer.message.value
    assert (explorer.board.svg, explorer.layout_shown, explorer.notation.value) == (before, Layout("(4,6):(6,1)"), text)
    explorer.strides[0].value = 7
    assert explorer.message.value == "" and agree(explorer)


def test_what_a_view_cannot_draw_is_refused_and_the_controls_go_back():
    explorer = explore("7:2", "memory_strip")
    explorer.view.value = "transpose"
    assert "7:2 has 1 mode; a transpose swaps two" in explorer.message.value
    assert explorer.view.value == "memory_strip" and agree(explorer)
    explorer = explore("(4,6):(6,1)", "transpose")
    explorer.notation.value = "7:2"
    assert "The picture still shows (4,6):(6,1)." in explorer.message.value


@pytest.mark.parametrize("options", [{"view": "nope"}, {"label": "nope"}, {"view": "memory_strip", "label": "nope"}])
def test_views_and_labels_that_are_not_there_are_refused_in_words(options):
    with pytest.raises(LayoutError, match="nope"):
        explore("(4,4):(4,1)", **options)
    with pytest.raises(LayoutError, match="nope"):
        draw("(4,4):(4,1)", **options)


def test_a_fault_in_a_callback_is_shown_and_raised(monkeypatch):
    explorer = explore("(4,6):(6,1)")
    monkeypatch.setattr("layoutviz.widgets.explorer.scene_of", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        explorer.strides[0].value = 7
    assert "ZeroDivisionError" in explorer.message.value


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
    explorer.notation.value = "(40,6):(500,-7)"
    assert agree(explorer)
    assert explorer.extents[0].max == 40 and explorer.strides[0].max == 500 and explorer.strides[1].min == -7


def test_the_label_follows_the_view_until_the_reader_chooses_one():
    explorer = explore("(4,6):(6,1)")
    explorer.view.value = "memory_strip"
    assert explorer.label.value == "coordinate" and agree(explorer)
    explorer.view.value = "grid"
    assert explorer.label.value == "offset" and agree(explorer)
    explorer.label.value = "index"
    explorer.view.value = "memory_strip"
    assert explorer.label.value == "index" and agree(explorer)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: draw("(4,4):(4,1)", lable="index"), "grid has no option lable; it takes label, labels, marks, color, title, caption"),
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
