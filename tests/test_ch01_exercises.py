"""The exercises of chapter 01, as far as the general tests do not cover them: 01.7 in its child process, boards, words, mistakes."""

import re
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners import function_in
from traitlets import HasTraits

import layoutviz
from course.chapter import read_chapter
from exercises import ask_offsets
from exercises.checks import ch01
from exercises.engine import judge, magic, sandbox
from exercises.engine.exercise import attempt, setup_source, solution_source
from exercises.engine.verdict import BadAnswer, State, Verdict
from ladder.lowering import has_dsl
from ladder.preflight import preflight
from layoutviz import Layout, Tensor, same_function
from layoutviz.scene import Scene

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = read_chapter(ROOT / "course" / "01_paper_layouts.py")
EXERCISES = ch01.EXERCISES
needs_dsl = pytest.mark.skipif(not has_dsl(), reason="the CuTe DSL is not installed here")


def judged(id: str, source: str) -> Verdict:
    """Run and judge a cell after the chapter's setup cell, and after nothing else."""
    if EXERCISES[id].limit is not None:
        return sandbox.run(EXERCISES[id], setup_source(id), source, print)
    namespace = {name: getattr(layoutviz, name) for name in ("Layout", "compare", "draw", "explore", "select")}
    return attempt(EXERCISES[id], f"# %%exercise {id}\n{source}\n", namespace, lambda: exec(source, namespace))


# --- texts


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_the_heading_has_the_title_and_the_stars_and_says_how_it_is_judged(exercise):
    (text,) = [cell.source for cell in CHAPTER if cell.source.startswith(f"### Exercise {exercise.id} ")]
    assert text.splitlines()[0] == f"### Exercise {exercise.id} · {exercise.title} {'★' * exercise.stars}"
    text = " ".join(text.split())
    assert "Given: " in text and "Wanted: " in text and "Judged " in text and all(f"`{name}" in text for name in exercise.answers)
    assert ("Run the cell as it is" in text) == (exercise.respond is not None)


def test_the_picture_of_01_6_is_that_of_its_layout():
    (text,) = [cell.source for cell in CHAPTER if cell.source.startswith("### Exercise 01.6 ")]
    rows = [re.findall(r"(?<=\| )[a-h](?= \|)", line) for line in text.splitlines() if line.startswith("| **row")]
    assert rows == [["abcdefgh"[2 * i + j] for j in range(4)] for i in range(3)]
    assert rows == [["abcdefgh"[ch01.PICTURE(i, j)] for j in range(4)] for i in range(3)]


def test_exercises_stand_in_the_order_of_their_numbers():
    assert [cell.exercise for cell in CHAPTER if cell.exercise] == list(EXERCISES)


@pytest.mark.parametrize("id", [id for id in EXERCISES if EXERCISES[id].limit is None])
def test_right_answers_need_no_more_than_the_chapters_setup_cell(id):
    for source in (solution_source(id), EXERCISES[id].also, *EXERCISES[id].right.values()):
        assert judged(id, source).ok, source


# --- boards


def submitted(id: str) -> tuple[HasTraits, list[Verdict]]:
    """An exercise's board, and the verdicts on what is submitted on it."""
    verdicts = []
    board = EXERCISES[id].respond(lambda answers: verdicts.append(EXERCISES[id].check(**answers)))
    return board, verdicts


def test_01_3_is_clicked_on_a_board_which_does_not_tell_how_many():
    board, verdicts = submitted("01.3")
    for picked in ([6], [2, 6, 9], [9, 2, 6], [8, 9, 10]):  # cells count along the rows: 9 is (2,1), 2 is (0,2), 6 is (1,2)
        board.board.picked = picked
        board.check()
    assert [verdict.state for verdict in verdicts] == [State.WRONG, State.RIGHT, State.RIGHT, State.WRONG]
    assert " of " not in board.status.value and judged("01.3", "cells = [(2, 1), (0, 2), (1, 2)]").ok


def test_01_4_is_typed_on_a_board():
    board, verdicts = submitted("01.4")
    for number in ("45", "42"):
        board.field.value = number
        board.check()
    assert [verdict.ok for verdict in verdicts] == [False, True] and judged("01.4", board.code()).ok


def test_the_offsets_of_section_2_are_typed_in_and_judged_in_words_that_were_taught():
    (cell,) = [cell.source for cell in CHAPTER if "def by_hand(" in cell.source]
    shown = []
    layouts = {"row_major": Layout("(4,4):(4,1)"), "column_major": Layout("(4,4):(1,4)")}
    exec(cell, layouts | {"ask_offsets": ask_offsets, "display": lambda *all: shown.extend(all)})
    for question, (down, right) in zip(shown, ((4, 1), (1, 4)), strict=True):
        board = question.children[1]

        def said(a, b, wrong=None, board=board, question=question):
            for (i, j), field in board.fields.items():
                field.value = str(a * i + b * j + ((i, j) == wrong))
            board.check()
            return question.said.value

        assert "All 16 are right" in said(down, right) and not board.said.value
        assert f"the offsets of (4,4):({right},{down})" in said(right, down)
        words = said(down, right, wrong=(2, 1))
        assert f"At (2,1) you wrote {2 * down + right + 1}." in words and "index" not in words and "Not so" in words


# --- judging, against numbers made without layoutviz


@given(st.lists(st.integers(-2, 20), min_size=5, max_size=5))
def test_01_1_takes_one_list_and_tells_no_offset(numbers):
    right = [5 * (n % 3) + n // 3 for n in (1, 2, 3, 5, 10)]
    verdict = ch01.check_offsets_by_hand(numbers)
    assert verdict.ok is (numbers == right)
    if not verdict.ok:
        index, row, column, named, mine = map(int, re.findall(r"-?\d+", verdict.message)[:5])
        assert named == index == row + 3 * column and numbers[(1, 2, 3, 5, 10).index(index)] == mine != 5 * row + column
        assert isinstance(verdict.scene, Scene) and not any(re.search("offset", tip) for tip in verdict.scene.panels[0][0].tips)


@pytest.mark.parametrize("offset, name", [
    (lambda n: n, "index for offset"), (lambda n: 5 * (n // 4) + n % 4, "along the rows"),
    (lambda n: n // 4 + 3 * (n % 4), "along the rows"),
    (lambda n: n % 3 + 5 * (n // 3), "strides swapped"), (lambda n: 4 * (n % 3) + n // 3, "no gaps"),
    (lambda n: 5 * (n % 4) + n // 4, "four rows"), (lambda n: 5 * ((n - 1) % 3) + (n - 1) // 3, "counted from 1"),
    (lambda n: 10 * (n % 3) + 2 * (n // 3), "bytes for elements"), (lambda n: 5 * n, "only down"), (lambda n: 7, None),
])  # fmt: skip
def test_01_1_says_how_else_it_was_counted(offset, name):
    mistake = ch01.check_offsets_by_hand([offset(n) for n in (1, 2, 3, 5, 10)]).mistake
    assert (mistake and mistake.name) == name
    assert mistake is None or "?" in mistake.hint


@pytest.mark.parametrize("number, told", [(10**5000, "too long to show"), (10**30, "10000")], ids=["5000 digits", "30 digits"])
def test_01_1_numbers_too_long_to_show_are_wrong(number, told):
    assert told in ch01.check_offsets_by_hand([number] * 5).message


def test_01_1_its_mistakes_differ_from_each_other_and_from_the_answer():
    assert len(ch01.BY_HAND_SLIPS) == 9 and (5, 10, 1, 11, 8) not in ch01.BY_HAND_SLIPS


@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3))))
def test_01_3_takes_the_cells_of_those_slots_and_no_others(cells):
    right = {(i, j) for i in range(3) for j in range(4) if 6 <= i + 4 * j <= 9}
    verdict = ch01.check_slots_6_to_9(list(cells))
    assert verdict.ok is (cells == right)
    told = {(int(i), int(j)) for i, j in re.findall(r"\((\d),(\d)\)", verdict.message)}
    assert not told & (right - cells), "what was missed is not told"


@pytest.mark.parametrize("cell, says", [
    ((3, 1), "There is no row 3: rows count from 0, so the last one is 2. A slot need not hold a cell."),
    ((3, 2), "There is no row 3: rows count from 0, so the last one is 2."),
    ((0, 4), "There is no column 4: columns count from 0, so the last one is 3."),
])  # fmt: skip
def test_01_3_says_why_a_pair_is_no_cell(cell, says):
    for cells in ([cell], ((2, 1), list(cell)), {cell}, np.array([cell, (2, 1)])):
        with pytest.raises(BadAnswer, match=re.escape(f"`cells` has ({cell[0]}, {cell[1]}). {says}") + "$"):
            ch01.check_slots_6_to_9(cells)


@pytest.mark.parametrize("slots, name", [
    (30, "size for cosize"), (41, "the last offset"), (43, "a slot too many"), (45, "gap at the end"), (50, "strides swapped"),
    (54, "strides swapped"), (51, "a step too many"), (52, "a step too many"),
])  # fmt: skip
def test_01_4_says_what_else_was_counted(slots, name):
    mistake = ch01.check_allocation(slots).mistake
    assert mistake.name == name and "?" in mistake.hint


@given(st.one_of(st.integers(-100, 200), st.integers()))
def test_01_4_takes_one_number_and_does_not_tell_it(number):
    verdict = ch01.check_allocation(number)
    assert verdict.ok is (number == 4 * 9 + 5 + 1)
    assert verdict.ok or "42" not in re.findall(r"-?\d+", verdict.message)


@given(st.tuples(st.integers(1, 6), st.integers(1, 6)), st.tuples(st.integers(-6, 20), st.integers(-6, 20)))
def test_01_6_is_judged_by_function_and_shape(shape, stride):
    verdict = ch01.check_picture((shape, stride))
    assert verdict.ok is (shape == (3, 4) and stride == (2, 1))
    if verdict.mistake and shape == (3, 4):
        assert verdict.mistake.words in verdict.message and "(2,1)" not in verdict.message.replace("coordinate (2,1)", "")


@pytest.mark.parametrize("stride, name", [
    ((1, 2), "strides swapped"), ((4, 1), "strides of the shape"), ((1, 3), "strides of the shape"), ((-1, 1), "from the end of a row"),
    ((4, 3), "the whole way"), ((2, 7), "wrong step to the right"), ((9, 1), "wrong step down"), ((2, 2), "stride off by one"),
    ((2, 4), "wrong step to the right"), ((4, 2), "bytes for elements"), ((0, 0), "a constant"), ((9, 9), None),
])  # fmt: skip
def test_01_6_says_which_step_is_wrong(stride, name):
    mistake = ch01.check_picture(((3, 4), stride)).mistake
    assert (mistake and mistake.name) == name


def at_once(slots: list[list[int]]) -> bool:
    """Whether a table of 4 by 4 slots is what 01.8 asks for."""
    flat = sum(slots, [])
    if 1 in (slots[1][0] - slots[0][0], slots[0][1] - slots[0][0]):
        return False
    lines = [*slots, *map(list, zip(*slots, strict=True))]
    return len(set(flat)) == 16 and set(flat) <= set(range(32)) and all({slot % 4 for slot in line} == {0, 1, 2, 3} for line in lines)


@pytest.mark.parametrize("down", range(-7, 14))
def test_01_8_takes_what_meets_the_conditions_and_nothing_else(down):
    for right in range(-7, 14):
        table = [[i * down + j * right for j in range(4)] for i in range(4)]
        verdict = ch01.check_at_once(((4, 4), (down, right)))
        assert verdict.ok is at_once(table)
        if not verdict.ok:
            assert verdict.mistake and "?" in verdict.mistake.hint and isinstance(verdict.scene, Scene)
            says = r"(Row|Column) (\d) lies in slots (.*)\. Of these, (\S+) and (\S+) leave the same remainder, (\d)\."
            if told := re.fullmatch(says, verdict.message):
                line = [row[int(told[2])] for row in table] if told[1] == "Column" else table[int(told[2])]
                assert line == list(map(int, told[3].split(", "))) and int(told[4]) in line and int(told[5]) in line
                assert int(told[4]) % 4 == int(told[5]) % 4 == int(told[6])


def test_01_8_has_many_right_answers():
    right = {(a, b) for a in range(1, 32) for b in range(1, 32) if ch01.check_at_once(((4, 4), (a, b))).ok}
    assert right == {(a, b) for a in range(1, 32) for b in range(1, 32) if at_once([[i * a + j * b for j in range(4)] for i in range(4)])}
    assert right == {(3, 5), (5, 3), (3, 7), (7, 3)}


@pytest.mark.parametrize("answer, says", [
    ("((2,2),4):((5,10),1)", "has shape ((2,2),4)"), ("16:1", "has shape 16"), ("(600000000,5):(8,1)", "has shape"),
    ("(4,4):(2,6)", "share slot 6"),
])  # fmt: skip
def test_01_8_reads_any_layout(answer, says):
    verdict = ch01.check_at_once(answer)
    assert verdict.state is State.WRONG and says in verdict.message


# 01.5 and 01.7 are judged on new inputs each time; what is said of a known mistake does not hang on them


def attempted(id: str):
    return [(name, *answer) for name, answer in EXERCISES[id].wrong.items() if name not in ("the starter", "one layout", "two arguments")]


@pytest.mark.parametrize("name, source, says", attempted("01.5"), ids=[name for name, *_ in attempted("01.5")])
def test_01_5_says_the_same_on_all_inputs(name, source, says):
    for _ in range(40):
        try:
            verdict = ch01.check_every_second(function_in(source, "every_second"))
        except BadAnswer as refused:
            verdict = Verdict(State.WRONG, str(refused))
        assert verdict.state is State.WRONG and says in verdict.message
        assert verdict.mistake is None or verdict.message.count(verdict.mistake.words) == 1


@pytest.mark.parametrize("name, source, says", attempted("01.7"), ids=[name for name, *_ in attempted("01.7")])
def test_01_7_is_refused_by_law_on_all_inputs_and_never_runs_a_kernel(name, source, says, monkeypatch):
    monkeypatch.setattr(ch01, "_run_through", lambda *_: pytest.fail("the kernel was run"))
    for _ in range(40):
        verdict = ch01.check_B_layout(function_in(source, "B_layout"))
        assert verdict.state is State.WRONG and says in verdict.message
        assert verdict.mistake is None or verdict.message.count(verdict.mistake.words) == 1


@pytest.mark.parametrize("id, slips", [("01.5", ch01.EVERY_SECOND_SLIPS), ("01.7", ch01.B_LAYOUT_SLIPS)])
def test_each_slip_is_wrong_and_is_told_from_the_others(id, slips):
    for slip, mistake in slips:
        given = [(Layout(layout),) for layout in ("(5,4):(7,1)", "(4,3):(2,9)", "(6,5):(1,8)", "(3,7):(1,4)")]
        given = given if id == "01.5" else [(3, 5, 4), (7, 4, 9), (2, 6, 5)]
        assert judge._slip(slip, slips, given) == mistake and "?" in mistake.hint
        assert any(not same_function(slip(*each), _right(id)(*each)) for each in given)


def _right(id: str):
    return ch01.stored_B if id == "01.7" else ch01.second_rows


def test_01_7_another_form_is_no_mistake_but_is_not_run(monkeypatch):
    monkeypatch.setattr(ch01, "_run_through", lambda *_: pytest.fail("the kernel was run"))
    verdict = ch01.check_B_layout(lambda N, K, P: Layout((N, (K, 1)), (1, (P, 0))))
    assert verdict.state is State.RIGHT_NOT_FORM and verdict.mistake is None and "how they nest" in verdict.message


def test_01_5_an_error_in_the_function_names_its_line():
    verdict = judged("01.5", "def every_second(layout):\n    return layout.T")
    assert verdict.state is State.RAISED and "AttributeError" in verdict.message


def test_01_5_is_tried_on_a_broadcast_too():
    source = solution_source("01.5").replace("every_second", "right") + (
        "\ndef every_second(a):\n    return right(a) if 0 not in a.stride else Layout(a.shape[::-1])"
    )
    verdict = judged("01.5", source)
    assert verdict.state is State.WRONG and ",4):(0,1))" in verdict.message


def test_01_5_is_tried_first_on_rows_that_are_padded():
    for seed in range(20):
        (first,), *_ = ch01._some_layouts(Random(seed))
        assert first.stride[1] == 1 and first.stride[0] > first.shape[1]


# --- 01.7 in its child process


@needs_dsl
@pytest.mark.parametrize("name", ["the solution", "also", *EXERCISES["01.7"].right])
def test_01_7_a_right_answer_is_compiled_and_on_a_gpu_right(name):
    exercise = EXERCISES["01.7"]
    source = {"the solution": solution_source("01.7"), "also": exercise.also, **exercise.right}[name]
    verdict = judged("01.7", source)
    assert verdict.state is (State.RIGHT if preflight().can_run else State.COMPILED), verdict.message
    assert isinstance(verdict.scene, Scene) and verdict.message.startswith("Element (k,n) of the stored rows is found at (n,k)")
    assert verdict.ok or "There is no GPU here" in verdict.message


@needs_dsl
def test_01_7_does_not_know_the_notebooks_other_cells_and_its_text_says_so():
    verdict = judged("01.7", "def B_layout(N, K, P):\n    return every_second(Layout((K, N), (P, 1)))")
    assert verdict.state is State.RAISED and "'every_second' is not defined" in verdict.message
    assert "none of your other cells" in next(cell.source for cell in CHAPTER if cell.source.startswith("### Exercise 01.7 "))


@needs_dsl
def test_01_7_hands_the_readers_own_layout_to_the_kernel(monkeypatch):
    from exercises.engine import kernel

    seen = []

    def judge_gemm(name, gemm, *, tile, layouts, law):
        seen.append((tile, layouts(7, 5, 3), layouts(1024, 768, 512)))
        return law

    monkeypatch.setattr(kernel, "judge_gemm", judge_gemm)
    verdict = ch01.check_B_layout(lambda N, K, P: f"({N},{K}):(1,{P})")
    assert verdict.ok and verdict.message.endswith("nothing was copied.") and isinstance(verdict.scene, Scene)
    assert seen == [
        ((16, 16, 16), *[(Layout((M, K), (K, 1)), Layout((N, K), (1, P))) for M, N, K, P in ((7, 5, 3, 8), (1024, 768, 512, 776))])
    ]
    tensor = layouts_of(monkeypatch, kernel, lambda N, K, P: Tensor(Layout((N, K), (1, P)), 0))
    assert tensor(7, 5, 3) == (Layout((7, 3), (3, 1)), Layout((5, 3), (1, 8)))
    with pytest.raises(BadAnswer, match=r"`B_layout\(1500, 512, 1504\)` is \(1500,512\):\(1,9\)"):
        layouts_of(monkeypatch, kernel, lambda N, K, P: ((N, K), (1, P if N < 1000 else 9)))(7, 1500, 512)


def layouts_of(monkeypatch, kernel, B_layout):
    """The `layouts` that the kernel's judge gets for a reader's function."""
    found = []
    monkeypatch.setattr(kernel, "judge_gemm", lambda *_, layouts, **__: found.append(layouts) or Verdict(State.RIGHT, ""))
    ch01.check_B_layout(B_layout)
    return found[0]


def test_01_7_without_the_dsl_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(magic.NEEDS, "dsl", (lambda: False, magic.NEEDS["dsl"][1]))
    verdict = magic._in_child(EXERCISES["01.7"], solution_source("01.7"))
    assert verdict.state is State.NOT_ATTEMPTED and "this exercise needs the CuTe DSL" in verdict.message


def test_the_checks_load_no_dsl():
    code = "import exercises.checks.ch01, sys; print({'cutlass', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
