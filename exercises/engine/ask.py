"""Questions inside a lesson: asked before the answer is shown, answered by clicking cells or choosing, not graded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import ipywidgets as w

from exercises.engine.respond import blank, fill_grid, line
from layoutviz import Layout
from layoutviz.color import RIGHT, WRONG
from layoutviz.scene import Scene
from layoutviz.views.grid import grid
from layoutviz.views.memory_strip import strip_panel
from layoutviz.widgets.board import Board


class Question(w.VBox):
    """The question's words on top, what answers it below, and a line for what comes of it."""

    def __init__(self, words: str, *controls: w.Widget):
        self.words = words
        self.said = w.HTML()
        super().__init__([w.HTML(line(words, "font-weight:600")), *controls, self.said])

    def say(self, right: bool, words: str) -> None:
        badge, fill = ("✓ Yes.", RIGHT) if right else ("✗ Not so.", WRONG)
        self.said.value = f'<div style="border-left:5px solid {fill};padding-left:10px">{line(f"{badge} {words}")}</div>'

    def _repr_mimebundle_(self, **kwargs):
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": f"{self.words} (answered on a board, in a notebook)"}


class CellsQuestion(Question):
    """Asks for the cells with some offsets; once as many are clicked it shows the offsets, wrong clicks marked."""

    def __init__(self, words: str, layout: Layout, offsets: Iterable[int], why: str):
        self.layout_asked, self.wanted, self.why = layout, sorted(set(offsets)), why
        self.board = Board(_blank(layout), multiple=True)
        self.again = w.Button(description="Ask again", layout=w.Layout(display="none", width="max-content"))
        super().__init__(words, self.board, self.again)
        self.again.on_click(lambda _: self.ask())
        self.board.observe(self._on_pick, "picked")

    def ask(self) -> None:
        """Hide the answer again."""
        self.again.layout.display, self.said.value = "none", ""
        self.board.scene, self.board.picked = _blank(self.layout_asked), []

    def _on_pick(self, change) -> None:
        asking = self.board.scene.link_by == "index"
        if asking and len(change.new) >= len(self.wanted):
            self._answer(list(change.new))
        elif asking:
            undo = " Click a cell again to take it back." if change.new else ""
            self.said.value = line(f"{len(change.new)} of {len(self.wanted)} chosen.{undo}")

    def _answer(self, chosen: list[int]) -> None:
        layout = self.layout_asked
        wrong = [index for index in chosen if layout(index) not in self.wanted]
        right = [index for index in range(layout.size) if layout(index) in self.wanted]
        asked = "Asked for were" if len(right) == len(self.wanted) else f"Asked for were any {len(self.wanted)} of"
        caption = f"✗: not asked for. {asked} the outlined cells." if wrong else ""
        shown = grid(layout, marks=dict.fromkeys(wrong, "wrong"), caption=caption)
        self.board.scene = replace(shown, panels=(*shown.panels, (strip_panel(layout),)))
        self.board.picked = self.wanted
        self.again.layout.display = None
        self.say(not wrong, f"You clicked the cell{'s' * (len(chosen) > 1)} with {', '.join(str(layout(i)) for i in chosen)}. {self.why}")


def ask_cells(words: str, layout: Layout, offsets: Iterable[int], why: str = "") -> Question:
    """Ask for the cells of a rank-2 layout whose offsets are `offsets`; the grid shows no labels until as many are clicked.

    Then the offsets appear, the cells asked for outlined and wrong clicks marked, with the memory strip under them and `why`.

    >>> question = ask_cells("Which two cells come first in memory?", Layout("(2,2):(2,1)"), range(2))
    >>> question.board.picked = [0, 1]                          # as clicks do: index 1 is (1,0)
    >>> "You clicked the cells with 0, 2." in question.said.value
    True
    """
    return CellsQuestion(words, layout, offsets, why)


def ask_choice(words: str, options: Mapping[object, str], answer, picture: Callable[[], Scene] | None = None) -> Question:
    """Ask to choose one of `options`, which maps each to what is said when it is chosen; the right one shows the picture too.

    Pre: `answer` is one of `options`. The lesson computes it, so that it cannot be out of step with the text.

    >>> slots = Layout("(2,2):(1,3)").cosize
    >>> question = ask_choice("How many slots?", {4: "One slot lies unused between.", 5: "The last offset is 4."}, answer=slots)
    """
    remarks = {str(option): remark for option, remark in options.items()}
    if str(answer) not in remarks:
        raise ValueError(f"the answer {answer} is not among the options {list(remarks)}")
    buttons = w.ToggleButtons(options=list(remarks), value=None, style={"button_width": "max-content"})
    question = Question(words, buttons)

    def on_choice(change):
        right = change.new == str(answer)
        question.say(right, remarks[change.new])
        if right and picture is not None and len(question.children) == 3:
            question.children = (*question.children, Board(picture()))

    buttons.observe(on_choice, "value")
    return question


def ask_offsets(words: str, layout: Layout, mixed_up: Mapping[str, Layout] | None = None) -> Question:
    """Ask to fill in the offsets of a rank-2 layout, each at its coordinate; that of (0,0) is given.

    mixed_up: what is said where the numbers are those of another layout of the same shape. Otherwise the first wrong number is told.

    >>> question = ask_offsets("The offsets:", Layout("(2,2):(2,1)"), {"Which stride is the step down?": Layout("(2,2):(1,2)")})
    >>> for (i, j), field in question.children[1].fields.items():
    ...     field.value = str(i + 2 * j)                        # as somebody types; then the button is pressed
    >>> question.children[1].check()
    >>> "Which stride is the step down?" in question.said.value
    True
    """
    rows, columns = layout.shape
    cells = [(i, j) for i in range(rows) for j in range(columns)]

    def check(answers: dict) -> bool:
        written = dict(zip(map(layout.coordinate, range(layout.size)), answers["offsets"], strict=True))
        wrong = [cell for cell in cells if written[cell] != layout(cell)]
        remark = f"All {layout.size} are right."
        if wrong:
            (i, j), mine = wrong[0], written[wrong[0]]
            remark = f"At ({i},{j}) you wrote {mine}. How many steps down is that from (0,0), and how many to the right?"
            remark = next((said for said, other in (mixed_up or {}).items() if all(written[c] == other(c) for c in cells)), remark)
        question.say(not wrong, remark)
        return False  # nothing to keep: this is no exercise

    question = Question(words, fill_grid("offsets", rows, columns, given={(0, 0): layout(0, 0)})(check))  # check says it in there
    return question


def _blank(layout: Layout) -> Scene:
    """The layout's grid without anything that would tell an offset; its cells are linked by index."""
    return replace(blank(grid(layout, title="click here")), link_by="index")
