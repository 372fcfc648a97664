"""Mutants of every solution are refused: at least 99 in 100, and each that is accepted equals a listed right answer by law.

Of an exercise that is judged in the notebook's own process; kernels are tried where kernels run.
"""

import itertools
import signal
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO

import pytest
from mutations import layout_mutations, number_mutations, source_mutations, table_mutations

import layoutviz
from exercises.engine.answers import as_layout, as_number, as_table, plain
from exercises.engine.exercise import all_exercises, attempt, solution_source
from exercises.engine.judge import judge_function, random_layout
from exercises.engine.verdict import BadAnswer, State, Verdict
from layoutviz import Layout, same_function, select

EXERCISES = {id: exercise for id, exercise in all_exercises().items() if exercise.limit is None}
SETUP = {name: getattr(layoutviz, name) for name in layoutviz.__all__}
SECONDS = 5  # a mutant may loop without end
# what functions are compared on
TRIED = [Layout("(3,4):(4,1)"), Layout("(2,5):(1,3)"), Layout("6:2"), Layout("(2,(3,2)):(6,(2,1))"), 2, 3, (2, 3)]
JUNK = [
    0, 1, -1, [], {}, "", "0", None, ..., True, 1.0, Layout(1), "1:0", [0] * 12, Layout((3, 4)), lambda *_: 0, lambda *_: None,
    lambda given, *_: given,
]  # fmt: skip


@contextmanager
def time_limit():
    def stop(*_):
        raise TimeoutError("too slow")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run(exercise, source):
    """Run and judge a source as a cell. Returns (verdict, the answers it set)."""
    namespace = dict(SETUP)

    def body():
        try:
            exec(compile(source, "<mutant>", "exec"), namespace)
        except TimeoutError:
            raise
        except Exception as error:
            return error

    with time_limit(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        verdict = attempt(exercise, source, namespace, body)
    return verdict, {name: namespace[name] for name in exercise.answers if name in namespace}


def judged(exercise, answers):
    """Judge answers as they are."""

    def body():
        namespace.update(answers)

    namespace = dict(SETUP)
    with time_limit():
        return attempt(exercise, "", namespace, body)


def read(value):
    """An answer as what it means: a layout, a number, a list of numbers, or itself."""
    value = plain(value)
    for reader in (as_number, as_layout, flat_table, table_of_rows):
        try:
            return reader("answer", value)
        except (BadAnswer, TypeError, LookupError):
            continue
    return value


def flat_table(name, value):
    return as_table(name, value, 1, len(value))


def table_of_rows(name, value):
    return as_table(name, value, len(value), len(value[0]))


def equal_by_law(one, other):
    """Whether two answers mean the same: the same function, the same numbers, or functions that give the same."""
    one, other = read(one), read(other)
    if callable(one) and callable(other) and not isinstance(one, layoutviz.layout.CoordinateFunction):
        outcomes = [[_outcome(function, given) for given in (*zip(TRIED), *itertools.product(TRIED, TRIED))] for function in (one, other)]
        return outcomes[0] == outcomes[1]
    if isinstance(one, layoutviz.layout.CoordinateFunction) and isinstance(other, layoutviz.layout.CoordinateFunction):
        return same_function(one, other)
    return type(one) is type(other) and one == other


def _outcome(function, given):
    try:
        with time_limit():
            result = read(function(*given))
    except Exception as error:
        return type(error)
    return result.offsets().tolist() if isinstance(result, layoutviz.layout.CoordinateFunction) else result


def answer_mutations(value):
    """Mutants of one answer's value, by its kind."""
    meant = read(value)
    if isinstance(meant, layoutviz.layout.CoordinateFunction):
        return layout_mutations(meant)
    if isinstance(meant, int):
        return number_mutations(meant)
    if isinstance(meant, list):
        shapes = [(r, len(meant) // r) for r in range(2, len(meant)) if len(meant) % r == 0] or [(1, len(meant))]
        return itertools.chain.from_iterable(table_mutations(meant, shape) for shape in shapes)
    return ()


def mutants(exercise, source):
    """(what was done, verdict, answers) for each mutant of a solution's source, and of each of its answers."""
    for name, mutant in source_mutations(source):
        try:
            yield (f"{name}: {mutant}", *run(exercise, mutant))
        except TimeoutError:
            continue  # nothing was accepted, and it counts neither way
    verdict, solved = run(exercise, source)
    assert verdict.ok
    for name, value in solved.items():
        for change, other in (*answer_mutations(value), *((repr(junk), junk) for junk in JUNK)):
            answers = solved | {name: other}
            yield f"{name}: {change}", judged(exercise, answers), answers


def accepted_and_not_right(exercise, sources, tried):
    """The mutants that were accepted and equal the answers of none of the sources by law."""
    rights = [run(exercise, source)[1] for source in sources]

    def is_right(answers):
        return any(all(equal_by_law(answers[name], right[name]) for name in exercise.answers) for right in rights)

    return [name for name, verdict, answers in tried if verdict.ok and not is_right(answers)]


@pytest.fixture(scope="module")
def all_mutants():
    return {id: list(mutants(exercise, solution_source(id))) for id, exercise in EXERCISES.items()}


def test_mutants_are_many_and_nearly_all_are_refused(all_mutants):
    """Those that are accepted count here too; that each of them is right by law, the next test shows."""
    accepted = [name for tried in all_mutants.values() for name, verdict, _ in tried if verdict.ok]
    count = sum(map(len, all_mutants.values()))
    assert count >= 50 * len(EXERCISES) and len(accepted) <= count / 50, accepted


@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_each_mutant_is_judged_and_one_that_is_accepted_is_right_by_law(exercise_id, all_mutants):
    exercise, tried = EXERCISES[exercise_id], all_mutants[exercise_id]
    assert not [name for name, verdict, _ in tried if verdict.state is State.FAULT]
    assert not accepted_and_not_right(exercise, [solution_source(exercise_id), exercise.also, *exercise.right.values()], tried)


# --- that this finds what it should


def test_a_lenient_checker_is_found():
    def check(layout):
        return Verdict(State.RIGHT if as_layout("layout", layout).size == 30 else State.WRONG, "")

    lenient = replace(EXERCISES["01.2"], check=check)
    source = solution_source("01.2")
    assert "line 1: 8 plus 1: layout = Layout((6, 5), (9, 1))" in accepted_and_not_right(lenient, [source], mutants(lenient, source))


FUNCTION = """
def transpose(layout):
    if layout.rank != 2:
        return layout
    rows, columns = layout.shape
    return Layout((columns, rows), (layout.stride[1], layout.stride[0]))
"""


def transposed(layout):
    return select(layout, (1, 0)) if layout.rank == 2 else layout


def check_transpose(transpose):
    return judge_function("transpose", transpose, transposed, lambda r: [(random_layout(r, rank),) for rank in (2, 2, 1, 3)], "Right.")


def test_functions_are_mutated_and_compared_too():
    exercise = replace(EXERCISES["01.2"], answers=("transpose",), check=check_transpose)
    tried = list(mutants(exercise, FUNCTION))
    accepted = [name for name, verdict, _ in tried if verdict.ok]
    assert [name for name in accepted if "negated" in name] and len(accepted) < len(tried) / 20  # stride[-1] is stride[1]
    assert not accepted_and_not_right(exercise, [FUNCTION], tried)
    lenient = replace(exercise, check=lambda transpose: Verdict(State.RIGHT, ""))
    found = accepted_and_not_right(lenient, [FUNCTION], mutants(lenient, FUNCTION))
    assert len(found) > 30 and any("if dropped" in name for name in found)


def test_the_mutations_that_matter_are_among_them():
    made = {name: str(layout) for name, layout in layout_mutations(Layout("(6,5):(8,1)"))}
    assert made.items() >= {
        "modes 0 and 1 swapped": "(5,6):(1,8)", "strides reversed": "(6,5):(1,8)", "zero strides": "(6,5):(0,0)",
        "stride 0 minus 1": "(6,5):(7,1)", "offset by one": "1 + (6,5):(8,1)", "without mode 1": "(6):(8)",
        "one more level": "((6,5),1):((8,1),0)", "strides times 2": "(6,5):(16,2)", "extent 1 plus 1": "(6,6):(8,1)",
    }.items()  # fmt: skip
    tables = dict(table_mutations([0, 3, 1, 4, 2, 5], (2, 3)))
    assert tables["row by row"] == [0, 1, 2, 3, 4, 5] and tables["0 and 1 swapped"] == [3, 0, 1, 4, 2, 5] and tables["zeros"] == [0] * 6
    sources = [mutant for _, mutant in source_mutations("if i < n:\n    x = f((6, 5), [8])\ny = a if b else c")]
    for part in (
        "if True:\n    x = f((6, 5), [8])", "if i <= n:", "f((5, 6), [8])", "f((7, 5), [8])", "f([8], (6, 5))", "f((6,), [8])",
        "x = (6, 5)\n", "x = None", "x = 0", "x = []", "y = a\n#",
    ):  # fmt: skip
        assert any(part in source + "\n#" for source in sources), part
    assert len(set(sources)) == len(sources)


def test_mutants_that_loop_without_end_are_stopped(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SECONDS", 0.2)
    with pytest.raises(TimeoutError):
        run(EXERCISES["01.2"], "while True: pass\nlayout = 1")
