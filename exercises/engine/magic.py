"""The cell magics `%%exercise ID` and `%%needs dsl`."""

import os
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import ipywidgets
from IPython.core.error import UsageError

from exercises.engine import progress, sandbox
from exercises.engine.exercise import Exercise, attempt, exercises_of, find, judge, not_attempted, one_line, setup_source
from exercises.engine.show import HintPanel, show
from exercises.engine.verdict import State, Verdict, verdicts
from ladder.lowering import has_dsl

NEEDS = {
    "dsl": (
        has_dsl,
        "Skipped: this cell needs the CuTe DSL (nvidia-cutlass-dsl), which is not installed here. "
        "On Linux `make lab` installs it; it is not made for macOS and Windows.",
    ),
}


class CellFailed(Exception):
    """Makes the outer cell fail after its body's own traceback has been shown; one line, not a second traceback."""

    def _render_traceback_(self):
        return [str(self)]


class Stopped(KeyboardInterrupt):
    """The reader interrupted the cell: it is not judged, and cells waiting behind it do not run."""

    def _render_traceback_(self):
        return ["Stopped; nothing was judged."]


def register(shell) -> None:
    """Give the shell both magics."""

    def exercise_magic(line, cell):
        """%%exercise ID: run the cell, judge its answers, and show the verdict."""
        exercise_cell(shell, line, cell)

    def needs_magic(line, cell):
        """%%needs dsl: run the cell where the CuTe DSL is installed; elsewhere say what is needed."""
        needs_cell(shell, line, cell)

    def misplaced(line):
        """%%exercise somewhere else than at the top of a cell."""
        raise UsageError("%%exercise must be the first line of its cell: nothing, no comment either, may stand above it")

    shell.register_magic_function(exercise_magic, "cell", "exercise")
    shell.register_magic_function(misplaced, "line", "%exercise")
    shell.register_magic_function(needs_magic, "cell", "needs")
    _get_ready_for(_notebook().name[:2])


def _get_ready_for(chapter: str) -> None:
    """Start the child process for a chapter's kernel exercises, if it has any, while the reader still reads."""
    is_there, _ = NEEDS["dsl"]
    if is_there() and any(exercise.limit is not None for exercise in exercises_of(chapter).values()):
        sandbox.get_ready()


def exercise_cell(shell, line: str, cell: str) -> Verdict:
    """Run and judge an exercise cell in an IPython shell; show, record and return the verdict."""
    try:
        exercise = find(line.strip())
    except LookupError as unknown:
        raise UsageError(unknown.args[0]) from None
    verdicts.pop(exercise.id, None)  # an interrupted run leaves none
    body = f"# %%exercise {line}\n{cell}"

    def judged() -> Verdict:
        source = _as_python(shell, body)
        if exercise.limit is None:
            return attempt(exercise, source, shell.user_ns, lambda: run_body(shell, body))
        return not_attempted(exercise, source) or _in_child(exercise, source)

    try:
        verdict = _conclude(exercise, judged)
    except KeyboardInterrupt:
        raise Stopped from None
    _get_ready_for(exercise.id.partition(".")[0])
    return verdict


def _conclude(exercise: Exercise, judged: Callable[[], Verdict]) -> Verdict:
    """Judge; show, record and return the verdict. A checker that breaks gives one too."""
    fault = ""
    try:
        verdict = judged()
    except Exception as broken:
        verdict = Verdict(State.FAULT, f"The checker of this exercise failed. That is our fault, not yours. `{one_line(broken)}`")
        fault = traceback.format_exc()
    asked = None
    if exercise.respond and verdict.state is State.NOT_ATTEMPTED:
        verdict = replace(verdict, message=f"{verdict.message} Or answer below, without typing code.")
        asked = _Board(exercise, verdict)
    verdicts[exercise.id] = verdict
    if _notebook().parent.name == "solutions":
        note = "This is the solutions' notebook: it does not count." if verdict.ok else ""
    else:
        note = progress.record_try(exercise, verdict)
    show(exercise, verdict, note, fault, asked)
    return verdict


def _notebook() -> Path:
    """Where the notebook lies, as far as Jupyter tells: "solutions/01_paper_layouts.ipynb"; else an empty path."""
    return Path(os.environ.get("JPY_SESSION_NAME", ""))


class _Board(ipywidgets.VBox):
    """The widget on which a prediction is given, and below it the verdict on what was given last; before that, the hints."""

    def __init__(self, exercise: Exercise, verdict: Verdict):
        self.exercise, self.above, self.below = exercise, None, ipywidgets.Output()
        # the first hints are no output in `below`: clients that run a notebook without a page may hang at that
        super().__init__([exercise.respond(self.submit), HintPanel(exercise, verdict.ok), self.below])

    def take_place_of(self, above) -> None:
        """The first answer given here removes what is displayed there."""
        self.above = above

    def submit(self, answers: dict) -> bool:
        if self.above is not None:
            self.above.update({"text/html": "", "text/plain": ""}, raw=True)
            self.above, self.children = None, (self.children[0], self.below)
        self.below.clear_output(wait=True)
        with self.below:
            return _conclude(self.exercise, lambda: judge(self.exercise, answers)).ok


def _in_child(exercise: Exercise, source: str) -> Verdict:
    """Judge a kernel exercise in a process of its own; what it prints is shown as it comes."""
    is_there, words = NEEDS["dsl"]
    if not is_there():
        return Verdict(State.NOT_ATTEMPTED, words.replace("cell", "exercise"))

    def show_output(text: str) -> None:
        print(text, end="", flush=True)

    return sandbox.run(exercise, setup_source(exercise.id), source, show_output)


def needs_cell(shell, line: str, cell: str) -> None:
    """Run a cell whose needs are met, else print what is missing. A body that raises fails the cell."""
    needs = line.split()
    if not needs or set(needs) - set(NEEDS):
        raise UsageError(f"%%needs {line}: write %%needs {' or '.join(NEEDS)}")
    for is_there, words in (NEEDS[need] for need in needs):
        if not is_there():
            print(words)
            return
    error = run_body(shell, f"# %%needs {line}\n{cell}")
    if error is not None:
        raise CellFailed(f"This cell failed, as shown above: {one_line(error)}")


def run_body(shell, body: str) -> BaseException | None:
    """Run a magic's body by IPython's own run_cell, so that jit functions in it keep their source.

    `body` has a comment in place of the magic's line, so that line numbers are those of the cell. A traceback is shown once;
    the exception is returned. Raises Stopped where the reader interrupts.
    """
    if shell.should_run_async(body, transformed_cell=_as_python(shell, body)):
        refused = UsageError("await outside a function does not work in this cell; put it in a cell of its own")
        shell.show_usage_error(refused)
        return refused
    # the outer cell has advanced the counter already; step back, so that a traceback names this cell and not the next
    counter = shell.execution_count
    shell.execution_count = max(counter - 1, 0)
    try:
        result = shell.run_cell(body, store_history=False)
    finally:
        shell.execution_count = counter
    error = result.error_before_exec or result.error_in_exec
    if isinstance(error, KeyboardInterrupt):
        raise Stopped
    return error


def _as_python(shell, body: str) -> str:
    """The body with IPython's own syntax made Python; as it is where it is neither (run_cell then says what is wrong)."""
    try:
        return shell.transform_cell(body)
    except SyntaxError:
        return body
