"""What an exercise cell shows: the verdict in words, the picture, and buttons for hints and the solution."""

import html
import re
import traceback

import ipywidgets
from IPython.display import DisplayHandle, display

from exercises.engine import progress
from exercises.engine.exercise import Exercise, solution_source
from exercises.engine.verdict import Mistake, State, Verdict
from layoutviz import color

# icon and fill of the state's badge; white on each fill is at least 4.5:1
BADGES = {
    State.NOT_ATTEMPTED: ("○", "#57606a"),
    State.RAISED: ("⚠", "#8a4b00"),
    State.WRONG: ("✗", color.WRONG),
    State.RIGHT_NOT_FORM: ("≈", "#0b5cad"),
    State.RIGHT: ("✓", color.RIGHT),
    State.COMPILED: ("◐", "#4d5a66"),
    State.DIED: ("■", "#8f1d4a"),
    State.FAULT: ("?", "#6b3fa0"),
}
# text and background come in a pair, so that the box reads on any theme, with Lab's variables or without
COLOURS = "color:var(--jp-content-font-color1,#222);background:var(--jp-layout-color1,#fff)"


def show(exercise: Exercise, verdict: Verdict, note: str = "", fault: str = "", asked: ipywidgets.Widget | None = None) -> None:
    """Display a verdict. `note` is one more line (about progress), `fault` the traceback of a broken checker, `asked` takes an answer.

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
    handle = _display_words(f'<div style="border-left:5px solid {fill};padding:6px 12px;{COLOURS}">{"".join(parts)}</div>', plain)
    if asked is not None:  # what is answered there is judged there, with hints of its own
        asked.take_place_of(handle)
        display(asked)
        return
    if verdict.scene is not None:
        display(verdict.scene)
    _display_hints(exercise, verdict)


class HintPanel(ipywidgets.VBox):
    """A button that opens the hints one by one, first the one for a mistake that was recognised, and one that shows the solution.

    The solution's button comes when no hint is left, beside the other: one click too many does not spoil it. Where the exercise is
    solved there are no hints to open.
    """

    def __init__(self, exercise: Exercise, solved: bool, mistake: Mistake | None = None):
        self.exercise, self.solved, self.mistake, self.seen = exercise, solved, mistake, False
        before = progress.read()[0].get(exercise.id, {}).get("hints", 0)  # opened at an earlier try, perhaps yesterday
        self.opened = min(before, len(exercise.hints))
        self.text = ipywidgets.HTML()
        look = {"width": "max-content"}
        self.button, self.solution = (ipywidgets.Button(layout=ipywidgets.Layout(**look)) for _ in range(2))
        self.button.on_click(lambda _: self._try(self._open_hint))
        self.solution.description = "Show the solution"
        self.solution.on_click(lambda _: self._try(self._show_solution))
        for number in range(1, self.opened + 1):
            self._add_hint(number)
        self._name_buttons()
        super().__init__([ipywidgets.HBox([self.button, self.solution]), self.text])

    def _try(self, action) -> None:
        # ipywidgets sends what a callback raises to a log that nobody reads
        try:
            note = action()
        except Exception:
            self._add(f"This button failed, which is our fault.<pre>{html.escape(traceback.format_exc())}</pre>")
        else:
            self._name_buttons()
            self._add(_words(note)) if note else None

    def _open_hint(self) -> str:
        if self.mistake:
            self._add(f"<b>Hint for this mistake ({html.escape(self.mistake.name)}).</b> {_words(self.mistake.hint)}")
            self.mistake = None
        elif self.opened < len(self.exercise.hints):
            self.opened += 1
            self._add_hint(self.opened)
            return progress.record_hints(self.exercise, self.opened)
        return ""

    def _show_solution(self) -> str:
        self.seen = True
        self._add(_solution_html(self.exercise))
        return progress.record_solution(self.exercise)

    def _name_buttons(self) -> None:
        count = len(self.exercise.hints)
        left = not self.solved and (self.mistake is not None or self.opened < count)
        next_one = f"Hint {self.opened + 1} of {count}" if left else "No more hints"
        self.button.description = "Hint for this mistake" if self.mistake else next_one
        self.button.disabled = not left
        self.button.layout.display = "none" if self.solved else None
        self.solution.layout.display = "none" if left or self.seen else None

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


def _display_words(markup: str, plain: str) -> DisplayHandle:
    handle = DisplayHandle()
    handle.display({"text/html": markup, "text/plain": plain}, raw=True)
    return handle


def _display_hints(exercise: Exercise, verdict: Verdict) -> None:
    """The buttons for hints and the solution."""
    bundle = dict(HintPanel(exercise, verdict.ok, verdict.mistake)._repr_mimebundle_())
    bundle["text/plain"] = f"({len(exercise.hints)} hints and the solution are behind a button in a notebook)"
    display(bundle, raw=True)


def _words(text: str) -> str:
    """Text as HTML: `code` in backquotes as code, and what follows the first line (a pointer under notation) as it stands."""
    first, _, rest = text.partition("\n")
    pointer = f"<pre style='background:none'>{html.escape(rest)}</pre>" if rest else ""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(first)) + pointer
