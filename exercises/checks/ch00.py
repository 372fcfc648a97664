"""Chapter 00, start here: a first right answer."""

from exercises.engine.answers import plain, shorten
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_cells
from exercises.engine.respond import click_cells
from exercises.engine.verdict import BadAnswer, Mistake, Verdict
from layoutviz import Layout

ROWS = Layout((4, 6), (6, 1))
ASKED = range(10, 13)  # the end of one row and the start of the next


def check_first_answer(cells) -> Verdict:
    """The cells of (4,6):(6,1) that hold 10, 11 and 12."""
    entries = _listed(cells)
    column_first = bool(entries) and all(_is_pair(cell) and _is_cell(*cell[::-1]) for cell in entries)
    for cell in entries:
        _demand_pair(cell, column_first)
    praise = "After the end of a row the numbers go on at the start of the next. Boards, Check and verdicts work here."
    return judge_cells("cells", cells, ROWS, _cells_with(ROWS, ASKED), praise, _mistake)


def _listed(cells) -> list:
    """The entries of an answer that is a list of some kind; none of another one, which judge_cells refuses."""
    cells = plain(cells)
    return list(cells) if isinstance(cells, (list, tuple, set, frozenset, range)) else []


def _is_pair(cell) -> bool:
    return isinstance(cell, (tuple, list)) and len(cell) == 2 and all(type(number) is int for number in cell)


def _is_cell(row: int, column: int) -> bool:
    rows, columns = ROWS.shape
    return 0 <= row < rows and 0 <= column < columns


def _demand_pair(cell, column_first: bool) -> None:
    """Refuse what is no cell of ROWS in words that chapter 00 has: later chapters take an index as well.

    column_first: with row and column swapped, all pairs of the answer are cells.
    """
    if type(cell) is int:
        which = f"Write the cell that holds {cell}." if cell in ASKED else "Write each cell as such a pair."
        raise BadAnswer(f"A cell is a pair (row, column), and {shorten(cell)} is one number. {which}")
    if _is_pair(cell) and not _is_cell(*cell):
        if column_first:
            words = "With row and column swapped each pair would be a cell of the board."
            raise BadAnswer(f"`cells` has ({shorten(cell[0])}, {shorten(cell[1])}). {words} In a pair the row comes first: (row, column).")
        for name, number, extent in zip(("row", "column"), cell, ROWS.shape, strict=True):
            if not 0 <= number < extent:
                last = f"{name}s count from 0, so that the last one is {extent - 1}"
                raise BadAnswer(f"`cells` has ({shorten(cell[0])}, {shorten(cell[1])}). There is no {name} {shorten(number)}: {last}.")


def _cells_with(layout: Layout, numbers: range) -> frozenset[int]:
    """The indices of the cells that hold some numbers."""
    return frozenset(index for index in range(layout.size) if layout(index) in numbers)


def _mistake(cells: frozenset[int]) -> Mistake | None:
    """How else the numbers were counted."""
    if cells == _cells_with(Layout(ROWS.shape), ASKED):
        words = "They would hold 10, 11 and 12 if the numbers ran down the columns."
        return Mistake("down the columns", words, "Which number stands to the right of the 0?")
    for by in (-1, 1):
        asked = range(ASKED.start + by, ASKED.stop + by)
        if cells == _cells_with(ROWS, asked):
            words = f"Your cells hold {', '.join(map(str, asked))}."
            return Mistake("off by one", words, "Which number stands in the first cell, at the top left: 0 or 1?")
    return None


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="00.1",
            title="A first answer",
            stars=1,
            answers=("cells",),
            check=check_first_answer,
            respond=click_cells("cells", ROWS, count=len(ASKED)),
            hints=(
                "There are 6 cells in a row, and the first holds 0. Which number stands at the end of the first row?",
                "Which number stands at the start of the second row, and which at its end?",
                "Where do the numbers go on after the end of a row?",
            ),
            why="The rows begin with 0, 6, 12 and 18, so 10 and 11 end the second row and 12 begins the third.",
            also="cells = [(n // 6, n % 6) for n in (10, 11, 12)]",
            wrong={
                "the starter": ("cells = ...", "Line 2 of the cell"),
                "the constant": ("cells = [(i, j) for i in range(4) for j in range(6)]", "21 of your 24 cells"),
                "the transposed": ("cells = [(2, 2), (3, 2), (0, 3)]", "ran down the columns"),
                "the transposed pairs": ("cells = [(4, 1), (5, 1), (0, 2)]", "the row comes first: (row, column)"),
                "the off-by-one": ("cells = [(1, 3), (1, 4), (1, 5)]", "hold 9, 10, 11"),
                "the off-by-one, late": ("cells = [(1, 5), (2, 0), (2, 1)]", "hold 11, 12, 13"),
                "the numbers for the cells": ("cells = [10, 11, 12]", "10 is one number. Write the cell that holds 10."),
                "one missing": ("cells = [(1, 4), (1, 5)]", "some are still missing"),
                "none": ("cells = []", "holds no cell yet"),
                "one too many": ("cells = [(1, 4), (1, 5), (2, 0), (2, 1)]", "The cell (2,1) is not asked for"),
                "twice the same": ("cells = [(1, 4), (1, 5), (1, 5)]", "twice"),
                "counted from 1": ("cells = [(2, 5), (2, 6), (3, 1)]", "There is no column 6: columns count from 0"),
                "one cell, bare": ("cells = (1, 4)", "1 is one number. Write each cell as such a pair."),
                "all numbers": ("cells = range(24)", "0 is one number"),
                "words": ("cells = '(1,4), (1,5), (2,0)'", "type str"),
            },
            right={
                "the second first": "cells = [(1, 5), (1, 4), (2, 0)]",
                "the last before its neighbour": "cells = [(1, 4), (2, 0), (1, 5)]",
                "the last first": "cells = [(2, 0), (1, 5), (1, 4)]",
                "a set": "cells = {(1, 4), (1, 5), (2, 0)}",
                "an array": "import numpy\ncells = numpy.array([[1, 4], [1, 5], [2, 0]])",
                "by the library": "cells = [(i, j) for i in range(4) for j in range(6) if Layout('(4,6):(6,1)')(i, j) in (10, 11, 12)]",
            },
        ),
    )
}
