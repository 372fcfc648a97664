"""An exercise, where exercises are found, and how one attempt at it is judged."""

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from exercises import checks
from exercises.engine.verdict import AnswerRaised, BadAnswer, State, Verdict

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    id: "01.2", chapter and number; it never changes meaning. stars: 1 to 3. answers: the names that the cell must set.
    limit: None where the cell runs in the notebook; for a kernel, the seconds that its child process may take. respond(submit): for a
    prediction, the widget that takes the answer by clicking or filling in, and calls submit({"name": value}).
    check(**answers) -> Verdict judges them. hints: questions, shown one at a time. why: one line shown with the solution;
    also: the source of another right answer. wrong: name -> (source, words its message must hold), with at least the starter,
    the constant, the transposed and the off-by-one; right: name -> source. The tests run all of both.
    """

    id: str
    title: str
    stars: int
    answers: tuple[str, ...]
    check: Callable[..., Verdict]
    hints: tuple[str, ...]
    why: str
    also: str
    wrong: Mapping[str, tuple[str, str]] = field(repr=False)
    right: Mapping[str, str] = field(repr=False)
    limit: float | None = None
    respond: Callable[[Callable[[dict], None]], object] | None = field(default=None, repr=False)


def all_exercises() -> dict[str, Exercise]:
    """Every exercise of every chapter by id, in order."""
    return {id: exercise for module in _modules() for id, exercise in exercises_of(module.removeprefix("ch")).items()}


def exercises_of(chapter: str) -> dict[str, Exercise]:
    """Those of one chapter ("01"), none where it has no checkers. No other module is loaded: a fault in one stays there."""
    return import_module(f"{checks.__name__}.ch{chapter}").EXERCISES if f"ch{chapter}" in _modules() else {}


def _modules() -> list[str]:
    return sorted(module.name for module in iter_modules(checks.__path__))


def find(exercise_id: str) -> Exercise:
    """The exercise of this id. LookupError, naming the nearest ids, where there is none.

    >>> find("01.2").stars
    2
    """
    of_chapter = exercises_of(exercise_id.partition(".")[0])
    if exercise_id in of_chapter:
        return of_chapter[exercise_id]
    known = all_exercises()
    near = get_close_matches(exercise_id, known, n=3, cutoff=0.5) or list(known)[:3]
    raise LookupError(f'There is no exercise "{exercise_id}". The nearest are {", ".join(near)}: write %%exercise {near[0]}')


def attempt(exercise: Exercise, source: str, namespace: dict, run: Callable[[], BaseException | None]) -> Verdict:
    """Run a learner's source and judge what it leaves in `namespace`.

    source: the cell as plain Python, looked through for open places. run() executes it in `namespace` and returns the
    exception that it raised, or None. Answers of an earlier run are removed first, so that stale values never count.
    Whatever a broken checker raises comes out of here unchanged.
    """
    if open_place := not_attempted(exercise, source):
        return open_place
    for name in exercise.answers:
        namespace.pop(name, None)
    error = run()
    if error is not None:
        return Verdict(State.RAISED, one_line(error))
    return judge(exercise, namespace)


def not_attempted(exercise: Exercise, source: str) -> Verdict | None:
    """The verdict on a source in which a place for an answer is still open, or None."""
    line = placeholder_line(source, exercise.answers)
    if line is None:
        return None
    return Verdict(State.NOT_ATTEMPTED, f"Line {line} of the cell still holds a `...`: put your answer in its place.")


def judge(exercise: Exercise, namespace: Mapping) -> Verdict:
    """Judge the answers in a namespace. Whatever a broken checker raises comes out of here unchanged."""
    try:
        return _judge(exercise, namespace)
    except BadAnswer as refused:
        return Verdict(State.WRONG, str(refused))
    except AnswerRaised as raised:
        return Verdict(State.RAISED, str(raised), mistake=raised.mistake)
    except RecursionError:
        return Verdict(State.WRONG, "Your answer is nested without end. Does it hold itself?")


def _judge(exercise: Exercise, namespace: Mapping) -> Verdict:
    for name in exercise.answers:
        if name not in namespace:
            return Verdict(State.NOT_ATTEMPTED, f"The cell has to set `{name}`, and it does not.")
        if _holds_ellipsis(namespace[name]):
            return Verdict(State.NOT_ATTEMPTED, f"`{name}` still holds a `...`: put your answer in its place.")
    return exercise.check(**{name: namespace[name] for name in exercise.answers})


def placeholder_line(source: str, answers: tuple[str, ...]) -> int | None:
    """The line of the first `...` in what is given to an answer; None if there is none or the source is no Python.

    Elsewhere, and in an index (`x[..., 0]`) or an annotation, a `...` is code and no placeholder.

    >>> placeholder_line("x = 1\\nlayout = Layout((6, 5), (..., ...))", ("layout",))
    2
    >>> placeholder_line("def helper(): ...\\nlayout = x[..., 0]", ("layout",)) is None
    True
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    last = {name: node for node in _statements(tree) for name in _bound(node) if name in answers}  # the last one counts
    return min((hole.lineno for node in last.values() for hole in _ellipses(node)), default=None)


def _statements(node: ast.AST):
    """Each node of a module in order; of functions and classes not what stands inside."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _statements(child)


def _bound(node: ast.AST) -> list[str]:
    """The names that a statement or expression gives their value."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [name.id for target in targets if target for name in ast.walk(target) if isinstance(name, ast.Name)]


def _ellipses(node: ast.AST):
    """Each `...` in a node that stands neither in an index nor in an annotation."""
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        yield node
    for name, part in ast.iter_fields(node):
        if name not in ("slice", "annotation", "returns"):
            inner = part if isinstance(part, list) else [part]
            for n, each in enumerate(inner):
                left_over = name == "body" and n < len(inner) - 1 and isinstance(each, ast.Expr)  # with code after it, it fills no place
                if isinstance(each, ast.AST) and not (left_over and isinstance(each.value, ast.Constant)):
                    yield from _ellipses(each)


def one_line(error: BaseException) -> str:
    """The error's name and the first line of its message, at most 300 characters."""
    try:
        first = (re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines() or [""])[0]  # the DSL colours its words
    except Exception:  # a learner's own exception may fail even at this
        first = ""
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"


def solution_source(exercise_id: str, folder: Path = ROOT / "solutions") -> str:
    """The solved cell's body, from the built solutions notebook. LookupError, in words, where it is not there."""
    for cell in _code_cells(exercise_id, folder):
        first, _, body = "".join(cell["source"]).partition("\n")
        if first.split()[:2] == ["%%exercise", exercise_id]:
            return body.strip("\n")
    raise LookupError(f"The solution of {exercise_id} is not in {folder}. `make build` writes it.")


def setup_source(exercise_id: str, folder: Path = ROOT / "exercises") -> str:
    """The setup cells of the exercise's chapter as one source, without their magics' lines. LookupError as `solution_source`."""
    setup = ["".join(cell["source"]) for cell in _code_cells(exercise_id, folder) if "setup" in cell["metadata"].get("tags", ())]
    return "\n".join(re.sub(r"\A%%needs .*", "", source) for source in setup)


def _code_cells(exercise_id: str, folder: Path) -> list[dict]:
    """The code cells of the chapter's built notebook in a folder. LookupError where it cannot be read; none where it is not there."""
    for path in sorted(folder.glob(f"{exercise_id.partition('.')[0]}_*.ipynb")):
        try:
            return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
        except (OSError, ValueError, KeyError, TypeError):
            raise LookupError(f"{path} cannot be read. `make build` writes it anew.") from None
    return []


def _holds_ellipsis(value) -> bool:
    return value is Ellipsis or (isinstance(value, (list, tuple)) and any(map(_holds_ellipsis, value)))
