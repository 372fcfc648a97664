"""Questions inside a lesson: asked before the answer is shown, answered by clicking cells or choosing, not graded."""

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import ipywidgets as w

from layoutviz import Layout
from layoutviz.scene import Scene
from layoutviz.views.grid import grid
from layoutviz.views.memory_strip import strip_panel
from layoutviz.widgets.board import Board

BLANK_CELL = "#eceff1"


class Question(w.VBox):
    """The question's words on top, what answers it below, and a line for what comes of it."""

    def __init__(self, words: str, *controls: w.Widget):
        self.words = words
        self.answered = False
        self.said = w.HTML()
        super().__init__([w.HTML(_line(words, "font-weight:600")), *controls, self.said])

    def reveal(self, right: bool, words: str) -> None:
        self.answered = True
        badge, fill = ("✓ Yes.", "#1a7f37") if right else ("✗ Not so.", "#b3261e")
        self.said.value = f'<div style="border-left:5px solid {fill};padding-left:10px">{_line(f"{badge} {words}")}</div>'

    def _repr_mimebundle_(self, **kwargs):
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": f"{self.words} (answered on a board, in a notebook)"}


def ask_cells(words: str, layout: Layout, offsets: Iterable[int], why: str = "") -> Question:
    """Ask for the cells of a rank-2 layout whose offsets are `offsets`; the grid shows no labels until as many are clicked.

    Then the offsets appear, wrong clicks marked, with the memory strip under them and `why` beside them.

    >>> question = ask_cells("Which two cells come first in memory?", Layout("(2,2):(2,1)"), range(2))
    >>> question.answered
    False
    """
    wanted = set(offsets)
    blank = grid(layout, labels=[""] * layout.size, title="click here", marks={}, color=lambda _: BLANK_CELL, caption="")
    panel = replace(blank.panels[0][0], tips=[f"cell ({r},{c})" for r, c in zip(*_places(blank), strict=True)])
    board = Board(replace(blank, panels=((panel,),), link_by="index"), multiple=True)
    question = Question(words, board)

    def on_pick(change):
        if question.answered or len(change.new) < len(wanted):
            return
        chosen = list(change.new)
        wrong = [index for index in chosen if layout(index) not in wanted]
        question.reveal(not wrong, f"You clicked offsets {', '.join(str(layout(i)) for i in chosen)}. {why}")
        board.picked = []
        shown = grid(layout, marks=dict.fromkeys(wrong, "wrong"), caption="")
        board.scene = replace(shown, panels=(*shown.panels, (strip_panel(layout),)))

    board.observe(on_pick, "picked")
    return question


def ask_choice(words: str, options: Sequence, answer, why: str, picture: Callable[[], Scene] | None = None) -> Question:
    """Ask to choose one of `options`; then say whether it is `answer`, and `why`, and show the picture.

    Pre: `answer` is one of `options`. The lesson computes it, so that it cannot be out of step with the text.

    >>> question = ask_choice("How many slots?", [4, 5], Layout("(2,2):(1,3)").cosize, "The last offset is 4.")
    >>> question.answered
    False
    """
    names = [str(option) for option in options]
    if str(answer) not in names:
        raise ValueError(f"the answer {answer} is not among the options {names}")
    buttons = w.ToggleButtons(options=names, value=None, style={"button_width": "max-content"})
    question = Question(words, buttons)

    def on_choice(change):
        first = not question.answered
        question.reveal(change.new == str(answer), why)
        if picture is not None and first:
            question.children = (*question.children, Board(picture()))

    buttons.observe(on_choice, "value")
    return question


def _places(scene: Scene):
    panel = scene.panels[0][0]
    return panel.row, panel.col


def _line(words: str, style: str = "") -> str:
    colour = "color:var(--jp-content-font-color1,#222)"
    return f'<div style="line-height:1.5;padding:2px 0;{colour};{style}">{html.escape(words)}</div>'
