"""The exercises of chapter 02, as far as the general tests do not cover them: texts, numbers made without layoutviz, 02.7's kernel."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners import function_in

from course.chapter import read_chapter
from exercises.checks import ch02
from exercises.engine import judge, sandbox
from exercises.engine.exercise import setup_source, solution_source
from exercises.engine.verdict import BadAnswer, State, Verdict
from ladder.lowering import has_dsl
from ladder.preflight import preflight
from layoutviz import ComposedLayout, Layout, Tensor
from layoutviz.int_tuple import leaf_values, nest
from layoutviz.scene import Scene

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = read_chapter(ROOT / "course" / "02_nested_layouts.py")
EXERCISES = ch02.EXERCISES
needs_dsl = pytest.mark.skipif(not has_dsl(), reason="the CuTe DSL is not installed here")


def text_of(id: str) -> str:
    return next(cell.source for cell in CHAPTER if cell.source.startswith(f"### Exercise {id} "))


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_the_heading_has_the_title_and_the_stars_and_says_how_it_is_judged(exercise):
    text = text_of(exercise.id)
    assert text.splitlines()[0] == f"### Exercise {exercise.id} · {exercise.title} {'★' * exercise.stars}"
    text = " ".join(text.split())
    assert "Given: " in text and "Wanted: " in text and "Judged " in text and all(f"`{name}" in text for name in exercise.answers)
    assert ("Run the cell as it is" in text) == (exercise.respond is not None)


@pytest.mark.parametrize("id, layout", [("02.1", ch02.BY_HAND), ("02.2", ch02.INDEXED), ("02.5", ch02.BROKEN), ("02.6", ch02.ROWS)])
def test_the_text_gives_what_the_checker_takes_as_given(id, layout):
    assert f"`{layout}`".replace(" ", "") in text_of(id).replace(" ", "")


def test_02_1_is_filled_in_on_a_board():
    verdicts = []
    board = EXERCISES["02.1"].respond(lambda answers: verdicts.append(EXERCISES["02.1"].check(**answers)))
    for (i, j), field in board.fields.items():
        field.value = str(i % 2 + 6 * (i // 2) + 2 * j)
    board.check()
    assert verdicts[0].ok


@given(st.integers(-5, 40))
def test_02_2_takes_the_sum_of_the_steps_at_the_index_in_the_order_of_nested_loops_written_from_the_right(offset):
    order = [2 * a + 12 * b + c + 6 * d for d in range(2) for c in range(2) for b in range(2) for a in range(3)]
    verdict = ch02.check_offset(offset)
    assert verdict.ok is (offset == order[9])
    assert verdict.ok or "13" not in verdict.message.replace(f"`offset` is {offset}", "")


def test_02_2_asks_for_the_index_that_is_judged():
    assert f"index {ch02.ASKED}." in text_of("02.2")


def slot_in_tiles(i: int, j: int) -> int:
    """Slot of (i,j), found by filling memory: rows of tiles, tiles, columns of a tile, its rows."""
    order = [(3 * I + i, 4 * J + j) for I in range(2) for J in range(2) for j in range(4) for i in range(3)]  # noqa: E741
    return order.index((i, j))


def test_02_3_is_what_filling_memory_tile_by_tile_gives():
    assert all(ch02.TILED(i, j) == slot_in_tiles(i, j) for i in range(6) for j in range(8))


def test_02_5_is_the_interleaving_of_binary_digits():
    def digits(i, j):
        bits = [j & 1, i & 1, j >> 1 & 1, i >> 1 & 1, i >> 2 & 1]
        return sum(bit << n for n, bit in enumerate(bits))

    assert all(ch02.MORTON(i, j) == digits(i, j) for i in range(8) for j in range(4))
    assert sorted(ch02.BROKEN.offsets()) == list(range(32)), "nothing is shared, so that the fault must be looked for"
    assert all(mode.stride == tuple(sorted(mode.stride)) for mode in ch02.BROKEN), "and it is not mended by sorting"


@pytest.mark.parametrize("rows", [(2, 4), (4, 2), (2, 2, 2), (2, (2, 2)), ((2, 2), 2)])
@pytest.mark.parametrize("columns", [(2, 3), (3, 2)])
def test_02_6_takes_each_split_and_no_other_strides(rows, columns):
    def go_on(extents, step):  # the strides of a split mode
        if not isinstance(extents, tuple):
            return step, step * extents
        strides = []
        for extent in extents:
            stride, step = go_on(extent, step)
            strides.append(stride)
        return tuple(strides), step

    right = ((rows, columns), (go_on(rows, 6)[0], go_on(columns, 1)[0]))
    assert ch02.check_another_form(right).ok
    for leaf, by in ((0, 1), (-1, -1), (1, 2)):
        strides = list(leaf_values(right[1]))
        strides[leaf] += by
        wrong = ((rows, columns), nest(strides, (rows, columns)))
        assert ch02.check_another_form(wrong).state is State.WRONG


def attempted(id: str):
    skipped = ("the starter", "one layout", "nothing")
    return [(name, *answer) for name, answer in EXERCISES[id].wrong.items() if name not in skipped and not name.startswith("another form")]


@pytest.mark.parametrize("id, name, source, says", [(id, *each) for id in ("02.4", "02.7") for each in attempted(id)])
def test_functions_are_refused_by_law_on_all_inputs_with_the_same_words(id, name, source, says, monkeypatch):
    monkeypatch.setattr(ch02, "_run_through", lambda *_: pytest.fail("the kernel was run"))
    for _ in range(20):
        try:
            verdict = EXERCISES[id].check(**{(answer := EXERCISES[id].answers[0]): function_in(source, answer)})
        except BadAnswer as refused:
            verdict = Verdict(State.WRONG, str(refused))
        assert verdict.state is State.WRONG and says in verdict.message


@pytest.mark.parametrize("id, slips, right", [("02.4", ch02.CUT_SLIPS, ch02.cut_in_tiles), ("02.7", ch02.B_LAYOUT_SLIPS, ch02.stored_B)])
def test_each_slip_is_wrong_and_is_told_from_the_others(id, slips, right):
    given = ch02._matrices(Random(1)) if id == "02.4" else ch02._some_sizes(Random(1))
    for slip, mistake in slips:
        assert judge._slip(slip, slips, given) == mistake and "?" in mistake.hint
        assert all(slip(*each) != right(*each) for each in given)


def test_02_4_finds_each_element_in_its_tile():
    for matrix, a, c in ch02._matrices(Random(2)):
        cut = ch02.cut_in_tiles(matrix, a, c)
        M, N = matrix.shape
        assert all(cut(((i % a, j % c), (i // a, j // c))) == matrix(i, j) for i in range(M) for j in range(N))


def test_02_8_has_the_names_of_each_cell():
    for cells in ch02.NAMES.values():
        assert sorted(offset for _, offset in cells) == list(range(96))


def test_02_7_is_what_filling_memory_tile_by_tile_gives():
    N, K = 24, 8
    order = [(8 * J + n, 4 * I + k) for I in range(K // 4) for J in range(N // 8) for n in range(8) for k in range(4)]  # noqa: E741
    assert all(ch02.stored_B(N, K)(n, k) == order.index((n, k)) for n in range(N) for k in range(K))


@needs_dsl
@pytest.mark.parametrize("name", ["the solution", "also", *EXERCISES["02.7"].right])
def test_02_7_a_right_answer_is_compiled_and_on_a_gpu_right(name):
    exercise = EXERCISES["02.7"]
    source = {"the solution": solution_source("02.7"), "also": exercise.also, **exercise.right}[name]
    verdict = sandbox.run(exercise, setup_source("02.7"), source, print)
    assert verdict.state is (State.RIGHT if preflight().can_run else State.COMPILED), verdict.message
    assert isinstance(verdict.scene, Scene) and verdict.message.startswith("Each element is found in its tile.")
    assert verdict.ok or "There is no GPU here" in verdict.message


@needs_dsl
@pytest.mark.parametrize("as_other", [lambda layout: Tensor(layout, 3), lambda layout: ComposedLayout(Layout(10**6), 0, layout)])
def test_02_7_says_of_what_is_no_plain_layout_only_that(as_other):
    with pytest.raises(BadAnswer, match="is of type (Tensor|ComposedLayout). The kernel takes a plain layout"):
        ch02._run_through(lambda N, K: as_other(ch02.stored_B(N, K)), Verdict(State.RIGHT, ""))


@needs_dsl
def test_02_7_refuses_a_layout_that_is_right_for_the_sizes_of_the_law_only():
    source = "def B_layout(N, K):\n    return ((8, N // 8), (4, K // 4)), ((4, 32), (1, 4 * N if K > 60 else 9))"
    answer = function_in(source, "B_layout")
    with pytest.raises(BadAnswer, match=r"`B_layout\(\d+, \d+\)` is"):
        ch02._run_through(answer, Verdict(State.RIGHT, ""))
