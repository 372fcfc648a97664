"""Every exercise is complete, stands in its chapter and in the built notebooks; and exercises/README.md says how to make one so."""

import ast
import re
import sys
from collections import defaultdict
from dataclasses import replace
from inspect import signature
from pathlib import Path

import pytest

import layoutviz
from course.build import build_chapter
from course.cells import KINDS, read
from course.chapter import read_chapter
from exercises import checks
from exercises.engine import judge, kernel, respond
from exercises.engine.authoring import missing
from exercises.engine.exercise import Exercise, all_exercises, attempt, solution_source
from exercises.engine.verdict import State

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = all_exercises()


def cells_by_id(root: Path) -> dict[str, tuple[Path, bool]]:
    """The exercises that the chapters ask for: id -> (the chapter's file, whether it is in the lesson too)."""
    chapters = sorted((root / "course").glob("[0-9][0-9]_*.py"))
    return {cell.exercise: (path, "inline" in cell.tags) for path in chapters for cell in read_chapter(path) if cell.exercise}


def loose_ends(id: str, root: Path, exercises: dict[str, Exercise]) -> list[str]:
    """Where an exercise should stand and does not, each in one line for its author."""
    found, chapter = [], id.partition(".")[0]
    module = f"exercises/checks/ch{chapter}.py"
    if id not in exercises:
        found.append(f"{module} has no Exercise of this id")
    elif exercises[id].id != id:
        found.append(f"{module} has it under the id of another one, {exercises[id].id}")
    if id not in cells_by_id(root):
        return [*found, f'course/{chapter}_*.py has no cell exercise="{id}"']
    path, inline = cells_by_id(root)[id]
    for kind in KINDS if inline else KINDS[1:]:
        notebook = read(root / kind / f"{path.stem}.ipynb") or {"cells": []}
        heads = ["".join(cell["source"]).partition("\n")[0].split() for cell in notebook["cells"] if cell["cell_type"] == "code"]
        if ["%%exercise", id] not in heads:
            found.append(f"{kind}/{path.stem}.ipynb does not have it: make build NN={chapter}")
    return found


def gaps(ids) -> list[str]:
    """Chapters whose exercises are not numbered 1, 2, 3, ..., in this order."""
    numbers = defaultdict(list)
    for id in ids:
        numbers[id.partition(".")[0]].append(int(id.partition(".")[2]))
    return [f"chapter {chapter} has exercises {has}" for chapter, has in numbers.items() if has != list(range(1, len(has) + 1))]


@pytest.mark.parametrize("id", sorted(EXERCISES.keys() | cells_by_id(ROOT)))
def test_exercise_stands_everywhere(id):
    assert loose_ends(id, ROOT, EXERCISES) == []


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_exercise_is_complete(exercise):
    assert missing(exercise) == []


@pytest.mark.parametrize("id", EXERCISES)
def test_also_is_another_answer_than_the_solution(id):
    assert ast.dump(ast.parse(EXERCISES[id].also)) != ast.dump(ast.parse(solution_source(id)))


def test_ids_run_without_gaps():
    assert gaps(EXERCISES) == []


def test_a_gap_is_seen():
    assert gaps(["01.1", "01.3"]) and gaps(["01.2", "01.1"]) and gaps(["01.1", "02.2"]) and gaps(["01.1", "01.2", "02.1"]) == []


# --- exercises/README.md


README = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
CELL, CHECKS = re.findall(r"```python\n(.*?)```", README, re.S)
HEAD = '# %% [markdown]\n# # 99 · An example\n\n# %% tags=["setup"]\nimport exercises\nfrom layoutviz import Layout\n\n'


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A course of its own with room for chapter 99, whose exercises are found beside the real ones."""
    for folder in ("course", "checks"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(tmp_path / "checks")])
    yield tmp_path
    sys.modules.pop("exercises.checks.ch99", None)
    vars(checks).pop("ch99", None)


def written(copy) -> Exercise:
    """The exercise as the README has it, in the registry."""
    (copy / "checks" / "ch99.py").write_text(CHECKS)
    return all_exercises()["99.1"]


def test_the_readme_leads_to_a_complete_exercise_step_by_step(copy):
    (copy / "course" / "99_example.py").write_text(HEAD + CELL)
    first, *unbuilt = loose_ends("99.1", copy, all_exercises())
    assert first == "exercises/checks/ch99.py has no Exercise of this id" and len(unbuilt) == 2
    written(copy)
    assert loose_ends("99.1", copy, all_exercises()) == unbuilt
    assert all("make build NN=99" in words for words in unbuilt)
    assert build_chapter(copy / "course" / "99_example.py", copy)[1] == []
    assert loose_ends("99.1", copy, all_exercises()) == [] and gaps(all_exercises()) == []
    (copy / "course" / "99_example.py").write_text(HEAD)
    assert loose_ends("99.1", copy, all_exercises()) == ['course/99_*.py has no cell exercise="99.1"']


def test_the_completeness_test_fails_until_each_part_is_there(copy):
    whole = written(copy)
    stub = replace(whole, hints=(), why="", also="", wrong={}, right={})
    with pytest.raises(AssertionError):
        test_exercise_is_complete(stub)
    lacking = missing(stub)
    for field in ("hints", "why", "also", "wrong", "right"):
        stub = replace(stub, **{field: getattr(whole, field)})
        assert not [words for words in missing(stub) if words.startswith(field)] and len(missing(stub)) < len(lacking)
        lacking = missing(stub)
    test_exercise_is_complete(stub)


ONE_FAULT = [
    ("id", "99"), ("id", "99.01"), ("title", " "), ("stars", 0), ("answers", ()), ("answers", ("a layout",)), ("answers", "layout"),
    ("hints", ("Why?",)), ("hints", "Why? How?"), ("hints", ("Why?", "Multiply.")), ("why", ""), ("why", "a\nb"), ("also", " "),
    ("right", {"one": "x = 1"}), ("right", {"one": "x = 1", "two": "x = 1"}), ("right", {"one": "x = 1", "two": ""}),
]  # fmt: skip


@pytest.mark.parametrize("field, value", ONE_FAULT)
def test_each_fault_is_named_by_its_field(copy, field, value):
    said = missing(replace(written(copy), **{field: value}))
    assert said and all(words.startswith(f"{field}: ") for words in said)


@pytest.mark.parametrize("name", ["the starter", "the constant", "the transposed", "the off-by-one"])
def test_each_wrong_answer_that_lacks_is_named(copy, name):
    whole = written(copy)
    assert missing(replace(whole, wrong={n: a for n, a in whole.wrong.items() if n != name})) == [f'wrong: the answer "{name}"']
    assert missing(replace(whole, wrong=whole.wrong | {name: ("x = 1", "")})) == ["wrong: each is (source, words its message must hold)"]


def test_the_answers_of_the_readme_come_out_as_it_says(copy):
    exercise = written(copy)

    def judged(source):
        namespace = dict(vars(layoutviz))  # as after the setup cell
        body = f"# %%exercise 99.1\n{source}\n"
        return attempt(exercise, body, namespace, lambda: exec(body, namespace))

    for name, (source, says) in exercise.wrong.items():
        verdict = judged(source)
        assert verdict.state is (State.NOT_ATTEMPTED if name == "the starter" else State.WRONG) and says in verdict.message
    (copy / "course" / "99_example.py").write_text(HEAD + CELL)
    build_chapter(copy / "course" / "99_example.py", copy)
    for source in (*exercise.right.values(), exercise.also, solution_source("99.1", copy / "solutions")):
        assert judged(source).state is State.RIGHT
    assert judged(solution_source("99.1", copy / "exercises")).state is State.NOT_ATTEMPTED


CALLS = re.findall(r"`(\w+\(.*?\))`(?=[ ,])", README[README.index("## Kinds of answer") : README.index("## 3. Build")])


@pytest.mark.parametrize("source", CALLS)
def test_each_call_in_the_readmes_table_fits_its_function(source):
    call = ast.parse(source, mode="eval").body
    function = next(getattr(module, call.func.id) for module in (judge, respond, kernel) if hasattr(module, call.func.id))
    signature(function).bind(*call.args, **{keyword.arg: keyword.value for keyword in call.keywords})


def test_the_tests_that_the_readme_names_exist():
    named = re.findall(r"`(test_\w+\.py)::(\w+)`", README)
    assert len(named) == 6
    for file, name in named:
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")
