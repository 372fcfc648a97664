"""What an exercise cell shows: the verdict in words, the picture, and buttons for hints and the solution."""

import html
import re
import traceback

import ipywidgets
from IPython.display import display

from exercises.engine import progress
from exercises.engine.exercise import Exercise, solution_source
from exercises.engine.verdict import State, Verdict
from layoutviz import color

# icon and fill of the state's badge; white on each fill is at least 4.5:1
BADGES = {
    State.NOT_ATTEMPTED: ("○", "#57606a"),
    State.RAISED: ("⚠", "#8a4b00"),
    State.WRONG: ("✗", color.WRONG),
    State.RIGHT_NOT_FORM: ("≈", "#0b5cad"),
    State.RIGHT: ("✓", color.RIGHT),
    State.COMPILED: ("◐", "#4d5a66"),
    State.DIED: ("☠", "#8f1d4a"),
    State.FAULT: ("?", "#6b3fa0"),
}
# text and background come in a pair, so that the box reads on any theme, with Lab's variables or without
COLOURS = "color:var(--jp-content-font-color1,#222);background:var(--jp-layout-color1,#fff)"
_hints_opened: dict[str, int] = {}  # by exercise: a cell that is run again shows the hints already opened


def show(exercise: Exercise, verdict: Verdict, note: str = "", fault: str = "") -> None:
    """Display a verdict. `note` is one more line (about progress), `fault` the traceback of a broken checker.

    The words are plain HTML and text, no widget, so that they stay in a saved notebook and in a terminal.
    """
    icon, fill = BADGES[verdict.state]
    title = f"{exercise.id} {exercise.title}"
    parts = [
        f'<span style="background:{fill};color:#fff;padding:1px 8px;border-radius:3px;font-weight:600">{icon} {verdict.state.value}</span>',
        f" {html.escape(title)}<div style='margin-top:6px'>{_words(verdict.message)}</div>",
    ]
    if fault:
        parts.append(f"<details><summary>What broke</summary><pre>{html.escape(fault)}</pre></details>")
    if note:
        parts.append(f"<div style='margin-top:6px'>{_words(note)}</div>")
    plain = f"{icon} {verdict.state.value}: {title}\n{verdict.message}" + (f"\n{note}" if note else "") + (f"\n{fault}" if fault else "")
    _display_words(f'<div style="border-left:5px solid {fill};padding:6px 12px;{COLOURS}">{"".join(parts)}</div>', plain)
    if verdict.scene is not None:
        display(verdict.scene)
    _display_panel(HintPanel(exercise, solved=verdict.ok), exercise)


class HintPanel(ipywidgets.VBox):
    """One button that opens the hints one by one, then the solution; the solution at once where the exercise is solved."""

    def __init__(self, exercise: Exercise, solved: bool):
        self.exercise, self.solved = exercise, solved
        self.text = ipywidgets.HTML()
        self.button = ipywidgets.Button(layout=ipywidgets.Layout(width="max-content"))
        self.button.on_click(self._on_click)
        for number in range(1, self._opened() + 1):  # opened at an earlier try
            self._add_hint(number)
        self._name_button()
        super().__init__([self.button, self.text])

    def _opened(self) -> int:
        return _hints_opened.get(self.exercise.id, 0)

    def _hints_left(self) -> bool:
        return not self.solved and self._opened() < len(self.exercise.hints)

    def _on_click(self, _button) -> None:
        # ipywidgets sends what a callback raises to a log that nobody reads
        try:
            self._open_next()
        except Exception:
            self._add(f"This button failed, which is our fault.<pre>{html.escape(traceback.format_exc())}</pre>")

    def _open_next(self) -> None:
        if self._hints_left():
            number = _hints_opened[self.exercise.id] = self._opened() + 1
            self._add_hint(number)
            self._name_button()
            note = progress.record_hints(self.exercise, number)
        else:
            self.button.layout.display = "none"
            self._add(_solution_html(self.exercise))
            note = progress.record_solution(self.exercise)
        if note:
            self._add(_words(note))

    def _name_button(self) -> None:
        next_hint = f"Hint {self._opened() + 1} of {len(self.exercise.hints)}"
        self.button.description = next_hint if self._hints_left() else "Show the solution"

    def _add_hint(self, number: int) -> None:
        self._add(f"<b>Hint {number}.</b> {_words(self.exercise.hints[number - 1])}")

    def _add(self, markup: str) -> None:
        self.text.value += f'<div style="padding:4px 12px;line-height:1.5;{COLOURS}">{markup}</div>'


def _solution_html(exercise: Exercise) -> str:
    try:
        source = f"<pre>{html.escape(solution_source(exercise.id))}</pre>"
    except LookupError as missing:
        source = f"<div>{_words(str(missing.args[0]))}</div>"
    also = f"Another right answer:<pre>{html.escape(exercise.also)}</pre>"
    return f"<b>Solution.</b>{source}<div>{_words(exercise.why)}</div>{also}"


def _display_words(markup: str, plain: str) -> None:
    display({"text/html": markup, "text/plain": plain}, raw=True)


def _display_panel(panel: HintPanel, exercise: Exercise) -> None:
    bundle = dict(panel._repr_mimebundle_())
    bundle["text/plain"] = f"({len(exercise.hints)} hints and the solution are behind a button in a notebook)"
    display(bundle, raw=True)


def _words(text: str) -> str:
    """Text as HTML: `code` in backquotes as code, and what follows the first line (a pointer under notation) as it stands."""
    first, _, rest = text.partition("\n")
    pointer = f"<pre style='background:none'>{html.escape(rest)}</pre>" if rest else ""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(first)) + pointer
