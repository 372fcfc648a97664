"""Answers given by clicking, filling in, choosing and typing a number: what is submitted, what is said, and what is refused."""

import random
import re

import pytest

from exercises.engine.judge import as_table
from exercises.engine.respond import blank, choose, click_cells, fill_grid, number, whole_number
from layoutviz import Layout, compare
from layoutviz.views.grid import grid


def shown(response) -> str:
    return re.sub("<[^>]*>", "", response.said.value)


def keep(code: str) -> str:
    return f"put this line into the cell:{code}"


def click(response, values=None, checks=None) -> None:
    """What the page sends when Check is clicked. `values` where it shows more than Python has heard of."""
    held = [holder.get_state([response.trait])[response.trait] for holder in response.button.holders]
    message = {"checks": response.button.checks if checks is None else checks, "values": held if values is None else values}
    response.button._handle_custom_msg(message, [])


@pytest.fixture
def got():
    return []


# --- each kind gives its answer, and the line of code says the same


def test_cells_are_pairs_in_the_order_of_the_clicks(got):
    response = click_cells("cells", "(3,5):(5,1)", count=3)(got.append)
    assert response.code() == "cells = ..." and response.button.off and response.back.disabled
    for picked, words in ([7], "1 of 3 chosen."), ([7, 2], "2 of 3 chosen."), ([7, 2, 14, 0], "4 of 3 chosen. Take 1 back."):
        response.board.picked = picked
        assert words in response.status.value and response.button.off and not response.back.disabled
    response.board.picked = [7, 2, 14]
    click(response)
    assert got == [{"cells": [(1, 2), (0, 2), (2, 4)]}] and shown(response).endswith(keep("cells = [(1, 2), (0, 2), (2, 4)]"))
    response.back.click()
    assert response.board.picked == [] and response.button.off and response.said.value == "" and "0 of 3" in response.status.value


def test_without_a_count_any_cells_do_but_none_do_not(got):
    response = click_cells("cells", Layout((2, 2), (1, 2)))(got.append)
    response.check()
    assert got == []
    response.board.picked = [3]
    response.check()
    assert got == [{"cells": [(1, 1)]}]


def test_the_cell_that_is_clicked_is_the_one_that_is_answered(got):
    """By the picture that the page gets: the place of each rect, and the value that a click on it picks."""
    response = click_cells("cells", "(3,(2,2)):(4,(1,2))")(got.append)
    rects = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*data-k="(\d+)"', response.board.svg)
    xs, ys = (sorted({float(r[axis]) for r in rects}) for axis in (0, 1))
    assert (len(ys), len(xs)) == (3, 4)
    for x, y, value in rects:
        response.board.picked = [int(value)]
        assert response.read()[0] == [(ys.index(float(y)), xs.index(float(x)))]


def test_a_board_tells_nothing_and_no_other_board_picks_on_it(got):
    aliased = grid("(2,3):(1,0)", label="offset", title="Which cells?", marks={1: "wrong"})
    for response in (click_cells("cells", "(2,3):(1,0)")(got.append), click_cells("cells", aliased)(got.append)):
        panel = response.board.scene.panels[0][0]
        assert set(panel.labels) == {""} and not panel.marks and len(set(response.board.scene.fills()[0])) == 1
        assert "offset" not in response.board.svg and "index" not in response.board.svg
        assert "mark-wrong" not in response.board.svg and "mark-alias" not in response.board.svg
        assert response.board.scene.links() == [[0, 1, 2, 3, 4, 5]]  # cells that share an offset stay apart
        assert 'data-link="cell"' in response.board.svg
        assert "(1,2)" in panel.tips[5] and panel.tips[5] in response.board.svg
    assert response.board.scene.panels[0][0].title == "Which cells?"
    assert blank(aliased).link_by == "offset" and aliased.panels[0][0].marks  # the author's scene is as it was


@pytest.mark.parametrize("seed", range(3))
def test_a_filled_grid_is_read_in_index_order(got, seed):
    draw = random.Random(seed)
    rows, columns = draw.sample(range(2, 9), 2)
    table = [[draw.randrange(-99, 999) for _ in range(columns)] for _ in range(rows)]
    places = [(i, j) for i in range(rows) for j in range(columns)]
    given = {(i, j): table[i][j] for i, j in draw.sample(places, 3)}
    response = fill_grid("offsets", rows, columns, given=given)(got.append)
    assert list(response.fields) == [at for at in places if at not in given]  # Tab goes along the rows
    for left, ((i, j), field) in zip(range(len(response.fields), 0, -1), response.fields.items(), strict=True):
        assert f"{left} of {len(places) - 3} left." in response.status.value and response.button.off
        field.value = f" {table[i][j]} "
    click(response)
    wanted = Layout((columns, rows), (1, columns))  # the table's numbers, row by row, each at the place of its index
    flat = [n for row in table for n in row]
    assert got == [{"offsets": as_table("offsets", table, rows, columns)}]
    assert got[0]["offsets"] == [flat[wanted(j, i)] for j in range(columns) for i in range(rows)]
    space = {}
    exec(response.code(), space)
    assert space["offsets"] == got[0]["offsets"]


def test_the_grid_stands_as_in_the_pictures(got):
    response = fill_grid("offsets", 2, 3, given={(1, 0): 7})(got.append)
    parts = response.children[0].children
    assert "repeat(3," in response.children[0].layout.grid_template_columns
    words = [re.sub("<[^>]*>", "", part.value) if part not in response.fields.values() else part.description for part in parts]
    assert words == ["i\\j", "0", "1", "2", "0", "(0,0)", "(0,1)", "(0,2)", "1", "7", "(1,1)", "(1,2)"]


def test_an_entry_that_is_no_number_is_said_at_once_with_its_place(got):
    response = fill_grid("offsets", 2, 2)(got.append)
    for (i, j), field in response.fields.items():
        field.value = str(i + j)
    response.fields[1, 0].value = "<b>x"
    assert "At (1,0), &quot;&lt;b&gt;x&quot; is not a whole number." in response.status.value and response.button.off
    response.check()
    assert got == [] and response.code() == "offsets = ..."
    response.fields[1, 0].value = ""
    assert "1 of 4 left." in response.status.value and "not a whole" not in response.status.value
    response.fields[1, 0].value = "3"
    response.check()
    assert got == [{"offsets": [0, 3, 1, 2]}]


def test_one_of_a_few(got):
    response = choose("order", ["row-major", (4, 1), 7, "7.0"])(got.append)
    assert response.code() == "order = ..." and response.button.off
    for index, code in enumerate(["order = 'row-major'", "order = (4, 1)", "order = 7", "order = '7.0'"]):
        response.buttons.index = index
        click(response)
        assert shown(response).endswith(keep(code).replace("'", "&#x27;")) and response.code() == code
    assert got == [{"order": value} for value in ("row-major", (4, 1), 7, "7.0")] and "Chosen: 7.0" in response.status.value


def test_a_number(got):
    response = number("cosize")(got.append)
    for text in ("", "4.5", "x"):
        response.field.value = text
        click(response)
        assert (f"&quot;{text}&quot; is not a whole number." in response.status.value) == bool(text) and response.button.off
    response.field.value = "-0012"
    click(response)
    assert got == [{"cosize": -12}] and response.code() == "cosize = -12"


def test_what_the_page_shows_at_the_click_is_what_is_judged(got):
    """The last change of a control may come to the kernel after the click."""
    response = number("cosize")(got.append)
    response.field.value = "1"
    click(response, ["19"])
    assert got == [{"cosize": 19}] and response.field.value == "19" and keep("cosize = 19") in shown(response)
    click(response, ["19."])
    assert len(got) == 1 and "is not a whole number" in response.status.value and response.said.value == ""
    cells = click_cells("cells", "(2,2):(1,2)", count=2)(got.append)
    cells.board.picked = [0, 1]
    click(cells, [["0", "3"]])
    filled = fill_grid("offsets", 1, 2)(got.append)
    click(filled, ["4", "6"])
    chosen = choose("order", ["a", "b"])(got.append)
    click(chosen, [1])
    assert got[1:] == [{"cells": [(0, 0), (1, 1)]}, {"offsets": [4, 6]}, {"order": "b"}]


NUMBERS = {"0": 0, " 7 ": 7, "+7": 7, "-7": -7, "\N{MINUS SIGN}7": -7, "007": 7, "": None, "  ": None, "9" * 18: 10**18 - 1}
NO_NUMBERS = ["-", "+", "--1", "1 2", "1,2", "1_0", "1e3", "0x10", "4.0", "٣", "²", "True", "1\n2", "9" * 19, "-" + "9" * 5000]


@pytest.mark.parametrize("text", NUMBERS)
def test_whole_numbers(text):
    assert whole_number(text) == NUMBERS[text]


@pytest.mark.parametrize("text", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_no_whole_numbers(text):
    with pytest.raises(ValueError, match="is not a whole number|has more than 18 digits") as said:
        whole_number(text)
    assert len(str(said.value)) < 60


# --- checking


def test_what_submit_raises_is_shown_and_the_answer_is_kept():
    def submit(answers):
        raise KeyError("<planted>")

    response = number("cosize")(submit)
    response.field.value = "3"
    response.check()
    assert "our fault" in shown(response) and "in submit" in shown(response) and "&lt;planted&gt;" in response.said.value
    assert shown(response).endswith(keep("cosize = 3")) and 'role="alert"' in response.said.value
    response.submit = lambda answers: None
    response.check()
    assert "our fault" not in shown(response) and shown(response).endswith(keep("cosize = 3"))


def test_a_check_that_is_stopped_says_so_and_can_be_repeated(got):
    def submit(answers):
        got.append(answers)
        raise KeyboardInterrupt

    response = number("cosize")(submit)
    response.field.value = "3"
    response.check()
    assert "Stopped. Your answer was not judged." in shown(response) and not response.checking
    response.check()
    assert got == [{"cosize": 3}] * 2


def test_a_checker_that_spoils_the_list_does_not_spoil_the_answer():
    response = click_cells("cells", "(2,2):(1,2)")(lambda answers: answers["cells"].clear())
    response.board.picked = [0, 3]
    response.check()
    assert response.code() == "cells = [(0, 0), (1, 1)]" and shown(response).endswith(keep(response.code()))


def test_a_second_check_during_one_is_ignored(got):
    response = number("cosize")(lambda answers: (got.append(answers), response.check()))
    response.field.value = "3"
    response.check()
    assert got == [{"cosize": 3}]
    response.check()
    assert len(got) == 2


def test_clicks_made_during_a_check_are_ignored(got):
    response = number("cosize")(got.append)
    response.field.value = "3"
    click(response, checks=0)
    click(response, checks=0)  # the page had not heard of the first one's end
    assert got == [{"cosize": 3}]
    click(response, checks=1)
    assert len(got) == 2


def test_a_changed_answer_takes_the_line_of_the_old_one_away(got):
    response = choose("order", ["a", "b"])(got.append)
    response.buttons.index = 0
    response.check()
    assert keep("order = ") in shown(response)
    response.buttons.index = 1
    assert response.said.value == ""


def test_each_says_in_words_what_it_is_where_widgets_do_not_run(got):
    kinds = {
        "clicking cells": click_cells("a", "(2,2):(1,2)"), "filling in a grid": fill_grid("a", 2, 2),
        "choosing": choose("a", [1, 2]), "typing a number": number("a"),
    }  # fmt: skip
    for how, kind in kinds.items():
        bundle = kind(got.append)._repr_mimebundle_()
        assert bundle["text/plain"] == f"`a` can be answered here by {how}, in a notebook."
        assert "application/vnd.jupyter.widget-view+json" in bundle


def test_two_boards_made_of_one_do_not_share_an_answer(got):
    given = {(0, 0): 0}
    kind = fill_grid("offsets", 1, 3, given=given)
    given.clear()
    one, two = kind(got.append), kind(got.append)
    one.fields[0, 1].value = "1"
    assert two.fields[0, 1].value == "" and "2 of 2 left." in two.status.value


# --- what an author gets wrong is said when the exercise is written, not when it is shown


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: number("not a name"), "name of Python"),
    (lambda: click_cells("cells", "8:1"), "rank 2"),
    (lambda: click_cells("cells", "(2,2,2):(1,2,4)"), "one panel|rank 2"),
    (lambda: click_cells("cells", "(200,2):(1,200)"), "at most 128"),
    (lambda: click_cells("cells", compare("(2,2):(1,2)", "(2,2):(2,1)").scene), "one panel, not of 2"),
    (lambda: click_cells("cells", "(2,2):(1,2)", count=5), "1 to 4, not 5"),
    (lambda: click_cells("cells", "(2,2):(1,2)", count=0), "1 to 4, not 0"),
    (lambda: fill_grid("offsets", 0, 3), "1 to 16"),
    (lambda: fill_grid("offsets", 3, 17), "1 to 16"),
    (lambda: fill_grid("offsets", 3, 0), "1 to 16"),
    (lambda: fill_grid("offsets", 2, 2, given={(2, 0): 1}), "coordinates of a 2 by 2"),
    (lambda: fill_grid("offsets", 2, 2, given={(0, 0): 1.5}), "to ints"),
    (lambda: fill_grid("offsets", 1, 1, given={(0, 0): 1}), "not all"),
    (lambda: choose("order", ["only"]), "at least two"),
    (lambda: choose("order", [1, "1"]), "look different"),
    (lambda: choose("order", ["a", None]), "not None"),
    (lambda: choose("order", [Layout(4, 1), Layout(4, 2)]), "a text, a number or a tuple"),
])  # fmt: skip
def test_an_authors_mistake_is_said_in_words(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
