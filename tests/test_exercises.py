"""The exercises and the engine in this process: every listed answer, the states, the words, hints.

Answers go through `exercise_cell` in an IPython shell, which is what a learner's cell does. Real kernels: test_engine_kernel.py.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from exercises import checks
from exercises.checks import ch01
from exercises.engine import magic, progress, show
from exercises.engine.exercise import all_exercises, find, placeholder_line, solution_source
from exercises.engine.judge import as_layout, as_table, judge_table
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict, verdicts
from ladder.lowering import has_dsl
from ladder.preflight import preflight
from layoutviz import Layout
from layoutviz.scene import Scene

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = all_exercises()
WRONG = [(e.id, name, *answer) for e in EXERCISES.values() for name, answer in e.wrong.items()]
RIGHT = [(e.id, name, source) for e in EXERCISES.values() for name, source in (e.right | {"also": e.also}).items()]


@pytest.fixture(autouse=True)
def progress_file(tmp_path, monkeypatch):
    path = tmp_path / "my" / "progress.json"
    monkeypatch.setenv("LAYOUTVIZ_PROGRESS", str(path))
    verdicts.clear()
    return path


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance()
    shell.run_cell("from layoutviz import *")  # as the notebooks' setup cells do
    yield shell
    InteractiveShell.clear_instance()


def run(shell, exercise_id, source):
    """Run one exercise cell. Returns (verdict, everything shown as text, everything shown as HTML)."""
    with capture_output() as shown:
        verdict = magic.exercise_cell(shell, exercise_id, source + "\n")
    text = shown.stdout + shown.stderr + "\n".join(str(o.data.get("text/plain", "")) for o in shown.outputs)
    return verdict, text, "\n".join(str(o.data.get("text/html", "")) for o in shown.outputs)


# --- every exercise


def solved(exercise_id) -> set[State]:
    """What a right answer may give here: a kernel that cannot run is compiled. Without the DSL it is not judged at all."""
    kernel = find(exercise_id).limit is not None
    if kernel and not has_dsl():
        pytest.skip("this exercise needs the DSL")
    return {State.RIGHT, State.COMPILED} if kernel and not preflight().can_run else {State.RIGHT}


@pytest.mark.parametrize("exercise_id, name, source, says", WRONG, ids=[f"{w[0]} {w[1]}" for w in WRONG])
def test_listed_wrong_answers_fail_with_their_message(shell, exercise_id, name, source, says):
    verdict, text, _ = run(shell, exercise_id, source)
    assert not verdict.ok and says in verdict.message and verdict.message in text
    form = State.RIGHT_NOT_FORM if name.startswith("another form") else State.WRONG
    assert verdict.state is (State.NOT_ATTEMPTED if name == "the starter" else form)


@pytest.mark.parametrize("exercise_id, name, source", RIGHT, ids=[f"{r[0]} {r[1]}" for r in RIGHT])
def test_listed_right_answers_pass(shell, exercise_id, name, source):
    verdict, _, _ = run(shell, exercise_id, source)
    assert verdict.state in solved(exercise_id), verdict.message
    assert isinstance(verdict.scene, Scene)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_exercise_is_complete(exercise):
    assert re.fullmatch(r"\d\d\.\d+", exercise.id) and exercise.stars in (1, 2, 3) and exercise.hints and exercise.why
    assert {"the starter", "the constant", "the transposed", "the off-by-one"} <= set(exercise.wrong)
    assert len(exercise.right) >= 2


@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_built_notebooks_start_unsolved_and_end_solved(shell, exercise_id):
    assert run(shell, exercise_id, solution_source(exercise_id))[0].state in solved(exercise_id)
    starter = solution_source(exercise_id, ROOT / "exercises")
    assert run(shell, exercise_id, starter)[0].state is State.NOT_ATTEMPTED


# --- judging, against tables made without layoutviz


@given(st.tuples(st.integers(1, 8), st.integers(1, 8)), st.tuples(st.integers(-20, 20), st.integers(-20, 20)))
def test_padded_rows_are_judged_by_function_and_shape(shape, stride):
    right = shape == (6, 5) and stride == (8, 1)
    verdict = ch01.check_padded_rows((shape, stride))
    assert verdict.ok is right
    if not right and shape == (6, 5):
        i, j = next((i, j) for j in range(5) for i in range(6) if stride[0] * i + stride[1] * j != 8 * i + j)
        said = f"At coordinate ({i},{j}) your layout gives offset {stride[0] * i + stride[1] * j},"
        assert verdict.message.startswith(said)
        assert marked_place(verdict.scene) == (i, j)


@given(st.lists(st.integers(-5, 30), min_size=12, max_size=12))
def test_offsets_by_hand_are_judged_number_by_number(numbers):
    wanted = [4 * i + j for j in range(4) for i in range(3)]
    verdict = judge_table("offsets", numbers, "(3,4):(4,1)", "All 12 are right.")
    assert verdict.ok is (numbers == wanted)
    if numbers != wanted:
        bad = next(i for i in range(12) if numbers[i] != wanted[i])
        assert f"Index {bad} is coordinate ({bad % 3},{bad // 3}). Your number for it, {numbers[bad]}," in verdict.message
        assert marked_place(verdict.scene) == (bad % 3, bad // 3)


@given(st.integers(0, 11), st.integers(100, 999))
def test_a_wrong_verdict_does_not_give_the_offset_away(bad, number):
    numbers = [4 * i + j for j in range(4) for i in range(3)]
    wanted, numbers[bad] = numbers[bad], number
    verdict = judge_table("offsets", numbers, "(3,4):(4,1)", "All 12 are right.")
    told = verdict.message.removeprefix(f"Index {bad} is coordinate ({bad % 3},{bad // 3}).")
    assert str(wanted) not in re.findall(r"\d+", told)
    panel = verdict.scene.all_panels()[0]
    cell = next(iter(panel.marks))
    assert panel.labels[cell] == str(number) and panel.keys["offset"][cell] == number
    assert f"you wrote {number}" in panel.tips[cell]


def marked_place(scene):
    panel = scene.all_panels()[0]
    (cell,) = [cell for cell, mark in panel.marks.items() if mark == "wrong"]
    return panel.row[cell], panel.col[cell]


NO_LAYOUTS = [
    None, 8, 1.5, "", "(6,5", {}, [], (1, 2, 3), lambda: 0, ((6, 5), (8,)), ((6, 0), (8, 1)), ((6, 5), (8, True)),
    "(6,5):(8,1)" * 99, ((6, 5), (10**40, 1)), np.array([True]), np.zeros((2, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("value", NO_LAYOUTS, ids=range(len(NO_LAYOUTS)))
def test_what_is_no_layout_is_refused_in_words(value):
    with pytest.raises(BadAnswer, match="`layout` is"):
        as_layout("layout", value)


NO_TABLES = [
    None, 8, "0" * 12, {}, set(range(12)), [True] * 12, [1.0] * 12, ["1"] * 12, [[1] * 12], [[0]] * 12, [None] * 12, range(13),
    np.zeros((3, 4)), np.zeros((2, 2, 3), int), [[0, 1, 2, 3], 4, 5], Layout(12), [[[0], [1], [2], [3]]] * 3, ["x" * 10**6] * 12,
]  # fmt: skip


@pytest.mark.parametrize("value", NO_TABLES, ids=range(len(NO_TABLES)))
def test_what_is_no_table_is_refused_in_words(value):
    with pytest.raises(BadAnswer, match="`offsets` (is|has)") as refused:
        as_table("offsets", value, 3, 4)
    assert len(str(refused.value)) < 200


def test_answers_too_large_to_draw_are_still_judged(shell):
    assert run(shell, "01.1", "offsets = [10**30] * 5")[0].state is State.WRONG
    assert run(shell, "01.2", "layout = '(600000000,5):(8,1)'")[0].state is State.WRONG
    assert run(shell, "01.2", "layout = '(2,2,2,2,2,2,2,2,2):(1,2,3,4,5,6,7,8,9)'")[0].state is State.WRONG


# --- states


@pytest.mark.parametrize("source, line", [
    ("x = ...", 1), ("\nx = [1, 2, ...]", 2), ("x = f(..., 2)", 1), ("def f(x):\n    ...", 2), ("x = (", None), ("x = '...'  # ...", None),
    ("f(..., 2)", None), ("def g(x): ...\nx = 1", None), ("class P: ...\nx = 1", None), ("if 1:\n    a, x = 1, ...", 2),
    ("x: int = ...", 1),
    ("x = 1\nif y is ...: pass", None), ("class f:\n  def g(self): ...", 2), ("f(x := ...)", 1),
    ("y = x[..., 0]", None), ("def f(x: tuple[int, ...]) -> tuple[int, ...]:\n    return x", None), ("x: tuple[int, ...] = (1,)", None),
    ("x = 1\0", None),
])  # fmt: skip
def test_placeholders_are_found_by_syntax(source, line):
    assert placeholder_line(source, ("x", "f")) == line


@pytest.mark.parametrize("source", [
    "offsets = []\noffsets.append(offsets)", "import numpy\noffsets = numpy.ndarray", "class P:\n    tolist = 3\noffsets = P()",
    "offsets = [10**5000] * 5", "class P:\n    def tolist(self): raise SystemExit\noffsets = P()",
])  # fmt: skip
def test_strange_answers_are_wrong_and_not_our_fault(shell, source):
    verdict, _, _ = run(shell, "01.1", source)
    assert verdict.state is State.WRONG


def test_an_error_that_cannot_be_printed_is_raised_by_its_name(shell):
    source = "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E"
    verdict, _, _ = run(shell, "01.2", source)
    assert verdict.state is State.RAISED and verdict.message == "E"


def test_a_stale_answer_never_counts(shell):
    assert run(shell, "01.2", "layout = '(6,5):(8,1)'")[0].ok
    verdict, _, _ = run(shell, "01.2", "other = 1")
    assert verdict.state is State.NOT_ATTEMPTED and "`layout`" in verdict.message
    assert run(shell, "01.2", "hole = [getattr(__builtins__, 'Ellipsis', Ellipsis)]\nlayout = (1, hole)")[0].state is State.NOT_ATTEMPTED


def test_an_error_is_the_cells_own(shell):
    verdict, text, _ = run(shell, "01.2", "\nlayout = 1 / 0")
    assert verdict.state is State.RAISED and verdict.message == "ZeroDivisionError: division by zero"
    assert len(re.findall("Traceback", text)) == 1 and "line 3" in text
    verdict, _, _ = run(shell, "01.2", "layout = (")
    assert verdict.state is State.RAISED and "SyntaxError" in verdict.message


def test_await_is_refused_in_words(shell):
    verdict, _, _ = run(shell, "01.2", "import asyncio\nawait asyncio.sleep(0)")
    assert verdict.state is State.RAISED and "await" in verdict.message


def test_ipython_syntax_works_in_a_cell(shell):
    assert run(shell, "01.2", "%pwd\nlayout = '(6,5):(8,1)'")[0].ok


def test_a_broken_checker_is_our_fault(shell, monkeypatch, progress_file):
    def broken(layout):
        raise KeyError("planted")

    monkeypatch.setitem(ch01.EXERCISES, "01.2", magic_exercise_with(broken))
    verdict, text, _ = run(shell, "01.2", "layout = '(6,5):(8,1)'")
    assert verdict.state is State.FAULT and not verdict.ok and "our fault" in verdict.message
    assert "planted" in text and "in broken" in text
    assert not progress_file.exists()


def magic_exercise_with(check):
    from dataclasses import replace

    return replace(find("01.2"), check=check)


def test_a_faulty_chapter_stops_no_other(tmp_path, monkeypatch):
    (tmp_path / "ch98.py").write_text("EXERCISES = {\n")
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(tmp_path)])
    assert find("01.2").id == "01.2"
    with pytest.raises(SyntaxError):
        find("98.1")


def test_an_unknown_id_names_the_nearest(shell):
    for line in ("01.22", "1.2", "", "nonsense", "01.2 01.1"):
        with pytest.raises(UsageError, match=r"0[01]\.\d"):
            magic.exercise_cell(shell, line, "layout = 1\n")
    assert not verdicts


# --- what is shown


def test_states_differ_by_icon_and_word_and_are_readable():
    assert len({icon for icon, _ in show.BADGES.values()}) == len({s.value for s in State}) == len(State) == len(show.BADGES)
    for _, fill in show.BADGES.values():
        channels = [int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 4.5


def test_words_are_shown_as_words_not_as_markup(shell):
    verdict, _, shown = run(shell, "01.2", "raise ValueError('<script>alert(1)</script>')")
    assert "<script>" in verdict.message and "<script>" not in shown and "&lt;script&gt;" in shown


def test_hints_come_one_at_a_time_and_then_the_solution(shell, progress_file, monkeypatch):
    exercise = find("01.2")
    monkeypatch.setattr(show, "solution_source", lambda _: "layout = '<solved>'")
    run(shell, "01.2", "layout = 3")
    panel = show.HintPanel(exercise, solved=False)
    for number, hint in enumerate(exercise.hints, 1):
        assert panel.button.description == f"Hint {number} of {len(exercise.hints)}"
        assert f"Hint {number}." not in panel.text.value
        panel.button.click()
        assert f"Hint {number}." in panel.text.value and show._words(hint) in panel.text.value
    entry = saved(progress_file)["01.2"]
    assert entry["hints"] == len(exercise.hints) and entry["solution_seen"] is False
    assert panel.button.disabled and panel.button.description == "No more hints" and visible(panel.solution)
    panel.button.click()  # one click too many spoils nothing
    assert "&lt;solved&gt;" not in panel.text.value
    panel.solution.click()
    assert "&lt;solved&gt;" in panel.text.value and "Another right answer" in panel.text.value and not visible(panel.solution)
    assert saved(progress_file)["01.2"]["solution_seen"] is True
    again = show.HintPanel(exercise, solved=False)
    assert "Hint 3." in again.text.value and again.button.disabled and visible(again.solution)


def visible(button) -> bool:
    return button.layout.display != "none"


def test_a_recognised_mistake_has_a_hint_of_its_own_before_the_others(progress_file):
    exercise, mistake = find("01.2"), Mistake("bytes for elements", "It counts bytes.", "What does a stride count?")
    panel = show.HintPanel(exercise, solved=False, mistake=mistake)
    assert panel.button.description == "Hint for this mistake" and not visible(panel.solution)
    panel.button.click()
    assert "bytes for elements" in panel.text.value and "What does a stride count?" in panel.text.value
    assert panel.button.description == f"Hint 1 of {len(exercise.hints)}" and not progress_file.exists()


def test_after_solving_the_solution_is_open_and_does_not_count_as_seen(shell, progress_file):
    run(shell, "01.2", find("01.2").also)
    panel = show.HintPanel(find("01.2"), solved=True)
    assert visible(panel.solution) and not visible(panel.button)
    panel.solution.click()
    assert saved(progress_file)["01.2"]["solution_seen"] is False


def test_a_button_that_fails_says_so(monkeypatch):
    panel = show.HintPanel(find("01.2"), solved=False)
    monkeypatch.setattr(progress, "record_hints", lambda *_: 1 / 0)
    panel.button.click()
    assert "our fault" in panel.text.value and "ZeroDivisionError" in panel.text.value


def test_a_missing_solution_is_said(tmp_path):
    with pytest.raises(LookupError, match="make build"):
        solution_source("01.2", tmp_path)
    (tmp_path / "01_x.ipynb").write_text("{")
    with pytest.raises(LookupError, match="make build"):
        solution_source("01.2", tmp_path)


def test_the_solution_is_found_by_its_whole_id(tmp_path):
    cells = [{"cell_type": "code", "source": ["%%exercise 01.21\n", "x = 21"]}, {"cell_type": "code", "source": "%%exercise 01.2\nx = 2\n"}]
    (tmp_path / "01_x.ipynb").write_text(json.dumps({"cells": cells}))
    assert solution_source("01.2", tmp_path) == "x = 2"


# --- progress: what a cell has to do with it; the file itself is tested in test_progress.py


def saved(path):
    return json.loads(path.read_text())["exercises"]


def test_a_cell_counts_its_runs_and_not_its_open_places(shell, progress_file):
    run(shell, "01.2", "layout = (..., ...)")
    assert not progress_file.exists()
    for source, state in [("layout = 3", "wrong"), ("1 / 0", "raised"), ("layout = '((2,3),5):((8,16),1)'", "right_not_form")]:
        run(shell, "01.2", source)
        assert saved(progress_file)["01.2"]["state"] == state
    run(shell, "01.2", "layout = '(6,5):(8,1)'")
    assert saved(progress_file)["01.2"]["state"] == "right" and saved(progress_file)["01.2"]["tries"] == 4


def test_what_is_wrong_with_the_progress_file_is_said_under_the_verdict(shell, progress_file, tmp_path, monkeypatch):
    progress_file.parent.mkdir()
    progress_file.write_text('{"version": 1, "exer')
    verdict, text, shown = run(shell, "01.2", "layout = '(6,5):(8,1)'")
    assert verdict.ok and "could not be read" in text and "could not be read" in shown
    monkeypatch.setenv("LAYOUTVIZ_PROGRESS", str(tmp_path))
    verdict, text, shown = run(shell, "01.2", "layout = '(6,5):(8,1)'")
    assert verdict.ok and "could not be saved" in text and "could not be saved" in shown and "Traceback" not in text


# --- the package


def test_the_package_imports_without_a_shell_and_without_torch_or_the_dsl():
    code = "import exercises, sys; print(exercises.verdicts, {'torch', 'cutlass', 'matplotlib'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert out.stdout.strip() == "{} set()", out.stderr


def test_verdict_ok_is_for_right_only():
    assert [state for state in State if Verdict(state, "").ok] == [State.RIGHT]


def test_the_solutions_notebook_does_not_count(shell, progress_file, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "course/solutions/01_paper_layouts.ipynb")
    verdict, text, _ = run(shell, "01.2", solution_source("01.2"))
    assert verdict.ok and "does not count" in text and not progress_file.exists()
    monkeypatch.setenv("JPY_SESSION_NAME", "course/exercises/01_paper_layouts.ipynb")
    assert "does not count" not in run(shell, "01.2", solution_source("01.2"))[1] and saved(progress_file)["01.2"]["first_right"]


def test_an_answer_on_a_board_takes_the_place_of_not_attempted(shell, progress_file, monkeypatch):
    made, gone = [], []
    monkeypatch.setattr(magic, "_Board", lambda *given, kind=magic._Board: made.append(kind(*given)) or made[-1])
    monkeypatch.setattr(show.DisplayHandle, "update", lambda self, data, **_: gone.append(data))
    verdict, text, _ = run(shell, "01.3", "cells = ...")
    assert verdict.state is State.NOT_ATTEMPTED and "Or answer below" in text
    (board,) = made
    with capture_output():
        assert board.submit({"cells": [(0, 0)]}) is False and verdicts["01.3"].state is State.WRONG
        assert board.submit({"cells": [(2, 1), (0, 2), (1, 2)]}) is True and verdicts["01.3"].ok
    assert gone == [{"text/html": "", "text/plain": ""}], "once"
    assert saved(progress_file)["01.3"]["tries"] == 2
