"""The questions inside a lesson: what is said, marked and outlined for right and wrong answers, and nothing told before."""

import pytest

from exercises import ask_cells, ask_choice
from layoutviz import Layout
from layoutviz.scene import Scene
from layoutviz.views.transpose import transpose

ROWS = Layout((2, 3), (3, 1))


def test_the_board_tells_nothing_before_the_answer():
    question = ask_cells("Which two come first?", Layout((2, 3), (1, 0)), range(2))
    scene = question.board.scene
    panel = scene.panels[0][0]
    assert set(panel.labels) == {""} and not panel.marks and len(set(scene.fills()[0])) == 1
    assert panel.tips == ["cell (0,0)", "cell (0,1)", "cell (0,2)", "cell (1,0)", "cell (1,1)", "cell (1,2)"]
    assert "offset" not in question.board.svg


@pytest.mark.parametrize("chosen, right, offsets", [([0, 2], True, "0, 1"), ([2, 0], True, "1, 0"), ([0, 1], False, "0, 3")])
def test_as_many_clicks_as_cells_reveal_the_offsets(chosen, right, offsets):
    question = ask_cells("Which two come first?", ROWS, range(2), why="Row by row.")
    question.board.picked = chosen[:1]
    assert "1 of 2 chosen." in question.said.value
    question.board.picked = chosen
    assert f"You clicked the cells with {offsets}. Row by row." in question.said.value
    assert ("Yes." in question.said.value) == right and ("Not so." in question.said.value) != right
    grid, strip = question.board.scene.all_panels()
    wrong = {int(i) for cell, i in enumerate(grid.keys["index"]) if grid.marks.get(cell) == "wrong"}
    assert wrong == ({1} if not right else set())
    assert question.board.picked == [0, 1] and question.board.scene.link_by == "offset"
    assert strip.title == "memory, by offset"
    question.again.click()
    assert "0 of 2 chosen." in question.said.value and question.board.picked == [] and set(question.board.scene.panels[0][0].labels) == {""}
    question.board.picked = [0, 2]
    assert "Yes." in question.said.value


def test_each_choice_has_its_own_words_and_only_the_right_one_shows_the_picture():
    options = {16: "too few", 19: "the last is at 18", 20: "one too many"}
    question = ask_choice("How many slots?", options, Layout("(4,4):(1,5)").cosize, picture=lambda: transpose(ROWS))
    buttons = question.children[1]
    assert buttons.value is None and len(question.children) == 3
    buttons.value = "16"
    assert "Not so. too few" in question.said.value and len(question.children) == 3
    buttons.value = "19"
    assert "Yes. the last is at 18" in question.said.value
    assert isinstance(question.children[3].scene, Scene)
    buttons.value = "20"
    buttons.value = "19"
    assert len(question.children) == 4


def test_an_answer_that_is_no_option_is_the_authors_fault():
    with pytest.raises(ValueError, match="the answer 6 is not among"):
        ask_choice("How many slots?", {5: "no"}, ROWS.cosize)


def test_the_words_stay_where_widgets_do_not_run():
    data = ask_cells("Which two come first?", ROWS, range(2))._repr_mimebundle_()
    assert data["text/plain"] == "Which two come first? (answered on a board, in a notebook)"
