"""Chapter 00, start here: a first right answer."""

from exercises.engine.answers import as_layout, as_number, plain, shorten
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_cells, picture, table_picture
from exercises.engine.respond import click_cells, number
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout
from layoutviz.composed import find_alias
from layoutviz.int_tuple import OFFSET_LIMIT

ROWS = Layout((4, 6), (6, 1))
ASKED = range(10, 13)  # the end of one row and the start of the next
DOWN = Layout((3, 5), (1, 3))  # the right board of the lesson
PLACE = (2, 3)
SKIPPING = Layout((3, 5), (6, 1))
GAPS = Layout((3, 4), (1, 3))
STRIDE_0 = 4


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


def check_place(found) -> Verdict:
    """The number of the lesson's right board in row 2, column 3."""
    mine, right = as_number("found", found), DOWN(*PLACE)
    if mine == right:
        return Verdict(State.RIGHT, "Three whole columns hold 0 to 8, and two steps down from 9 is 11.", picture(DOWN))
    told = f"`found` is {shorten(mine)}, and that does not stand there."
    known = {
        Layout(DOWN.shape, (5, 1))(*PLACE): "It stands there on the left board, where the numbers run along the rows.",
        DOWN(1, 2): "It stands in row 1, column 2. Rows and columns count from 0.",
    }
    return Verdict(State.WRONG, f"{told} {known[mine]}" if mine in known else told)


def check_skipping(layout) -> Verdict:
    """3 rows of 5, one number skipped after each row."""
    answer = as_layout("layout", layout)
    if answer.shape != SKIPPING.shape:
        return Verdict(State.WRONG, "That board has another shape: asked for are 3 rows and 5 columns, `(3,5)`.", picture(answer))
    for index in sorted(range(SKIPPING.size), key=lambda index: SKIPPING.coordinate(index)):
        if answer(index) != SKIPPING(index):
            i, j = SKIPPING.coordinate(index)
            told = f"In row {i}, column {j} your board holds {answer(index)}, and that is not what is asked for."
            return Verdict(State.WRONG, told, picture(answer, index))
    praise = "A step down moves 6, one more than a row holds: one number is left out after each row."
    return Verdict(State.RIGHT, praise, picture(answer))


def check_gaps(numbers) -> Verdict:
    """The numbers of (3,4):(1,3), written row by row."""
    entries, wanted = _listed(numbers), [GAPS(i, j) for i in range(3) for j in range(4)]
    if [len(row) if isinstance(row, (list, tuple)) else 0 for row in entries] == [4] * 3:  # row by row all the same
        entries = [entry for row in entries for entry in row]
    if len(entries) != len(wanted):
        raise BadAnswer(f"`numbers` has {len(entries)} entries; wanted is a list of the 12 numbers, row by row.")
    mine = [as_number(f"numbers[{n}]", entry) for n, entry in enumerate(entries)]
    if far := [one for one in mine if abs(one) > OFFSET_LIMIT]:
        raise BadAnswer(f"`numbers` holds {shorten(far[0])}, far beyond what stands on this board.")
    board = [mine[4 * i + j] for j in range(4) for i in range(3)]
    bad = next((n for n, (one, right) in enumerate(zip(mine, wanted, strict=True)) if one != right), None)
    if bad is None:
        return Verdict(State.RIGHT, "Down a column the numbers grow by 1, along a row by 3.", table_picture(board, 3, 4))
    i, j = divmod(bad, 4)
    told = f"In row {i}, column {j} you have {shorten(mine[bad])}, and that does not stand there."
    return Verdict(State.WRONG, told, table_picture(board, 3, 4, i + 3 * j))


def check_stride(stride) -> Verdict:
    """The smallest stride 1 at which no two cells of 3 rows and 5 columns hold one number, where stride 0 is 4."""
    mine = as_number("stride", stride)
    if not 1 <= mine <= 32:
        raise BadAnswer(f"`stride` is {shorten(mine)}; the slider is to stand between 1 and 32.")
    if twice := _twice(mine):
        one, other = twice
        held = _with_stride(mine)(*one)
        told = f"With {mine} two cells hold {held}: row {one[0]}, column {one[1]} and row {other[0]}, column {other[1]}."
        return Verdict(State.WRONG, told, picture(_with_stride(mine)))
    if any(not _twice(smaller) for smaller in range(1, mine)):
        told = f"With {mine} each cell has a number of its own. But a smaller one will do, too."
        return Verdict(State.WRONG, told, picture(_with_stride(mine)))
    praise = "Each cell has a number of its own, although the numbers of the three rows are mixed."
    return Verdict(State.RIGHT, praise, picture(_with_stride(mine)))


def _with_stride(stride: int) -> Layout:
    return Layout((3, 5), (STRIDE_0, stride))


def _twice(stride: int) -> tuple | None:
    """Two cells that hold one number."""
    board = _with_stride(stride)
    alias = find_alias(board)
    return alias and tuple(map(board.coordinate, alias))


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
        Exercise(
            id="00.2",
            title="The other board",
            stars=1,
            answers=("found",),
            check=check_place,
            respond=number("found"),
            hints=(
                "Which numbers stand in the first column of the right board?",
                "Which number begins column 3? How many columns, of how many cells each, come before it?",
            ),
            why="Columns 0, 1 and 2 hold 0 to 8. Column 3 begins with 9, and row 2 is two further down.",
            also="found = 2 + 3 * 3",
            wrong={
                "the starter": ("found = ...", "Line 2"),
                "the constant": ("found = 0", "does not stand there"),
                "the transposed": ("found = 13", "on the left board"),
                "the off-by-one": ("found = 12", "does not stand there"),
                "counted from 1": ("found = 7", "count from 0"),
                "the cell": ("found = (2, 3)", "one whole number"),
            },
            right={"as text": "found = '11'", "by the library": "found = Layout('(3,5):(1,3)')(2, 3)"},
        ),
        Exercise(
            id="00.3",
            title="Skip a number",
            stars=2,
            answers=("layout",),
            check=check_skipping,
            hints=(
                "Which slider changes the number below the 0, and which the one to the right of it?",
                "The number below the 0 is to be 6. What is it now?",
            ),
            why="A row has 5 numbers and one is skipped, so the next row begins 6 further on.",
            also='layout = Layout("(3,5):(6,1)")',
            wrong={
                "the starter": ("layout = ...", "Line 2"),
                "the constant": ('layout = "(3,5):(0,0)"', "In row 0, column 1 your board holds 0"),
                "the transposed": ('layout = "(3,5):(1,3)"', "In row 0, column 1 your board holds 3"),
                "the off-by-one": ('layout = "(3,5):(5,1)"', "In row 1, column 0 your board holds 5"),
                "two skipped": ('layout = "(3,5):(7,1)"', "In row 1, column 0 your board holds 7"),
                "another shape": ('layout = "(5,3):(6,1)"', "another shape"),
                "a number": ("layout = 6", "is of type int"),
            },
            right={"as a pair": "layout = ((3, 5), (6, 1))", "by the board's field": 'layout = " (3, 5) : (6, 1) "'},
        ),
        Exercise(
            id="00.4",
            title="Fill the gaps",
            stars=2,
            answers=("numbers",),
            check=check_gaps,
            hints=(
                "In the first row: how much does each number grow on the one before it?",
                "In the first column: how much does each number grow on the one above it?",
            ),
            why="The numbers run down the columns: a step down adds 1, a step to the right adds 3.",
            also="numbers = [i + 3 * j for i in range(3) for j in range(4)]",
            wrong={
                "the starter": ("numbers = [0, 3, 6, 9, 1, 4, ..., 10, 2, ..., 8, ...]", "Line 2"),
                "the constant": ("numbers = [0] * 12", "In row 0, column 1 you have 0"),
                "the transposed": ("numbers = list(range(12))", "In row 0, column 1 you have 1"),
                "the off-by-one": ("numbers = [0, 3, 6, 9, 1, 4, 8, 10, 2, 5, 8, 11]", "In row 1, column 2 you have 8"),
                "too large": ("numbers = [10**5000] * 12", "far beyond"),
                "one too few": ("numbers = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8]", "has 11 entries"),
                "a number": ("numbers = 7", "has 0 entries"),
            },
            right={
                "rows": "numbers = [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]",
                "a tuple": "numbers = (0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11)",
                "an array": "import numpy\nnumbers = numpy.arange(12).reshape(4, 3).T.ravel()",
            },
        ),
        Exercise(
            id="00.5",
            title="A number of its own",
            stars=3,
            answers=("stride",),
            check=check_stride,
            respond=number("stride"),
            hints=(
                "Slide stride 1 up from 1. Which two cells hold one number? (A dark corner marks them.)",
                "With 1 the 4 stands twice. In which two cells? And with 2?",
            ),
            why="Down a column stand 0, 4 and 8 more. Steps of 1 or 2 meet the 4 again; steps of 3 reach 12 at most and miss 4 and 8.",
            also="stride = next(d for d in range(1, 9) if len({4 * i + d * j for i in range(3) for j in range(5)}) == 15)",
            wrong={
                "the starter": ("stride = ...", "Line 2"),
                "the constant": ("stride = 1", "With 1 two cells hold 4"),
                "the transposed": ("stride = 12", "But a smaller one will do"),
                "the off-by-one": ("stride = 2", "With 2 two cells hold 4"),
                "the same as the other": ("stride = 4", "With 4 two cells hold 4"),
                "one that works": ("stride = 5", "But a smaller one will do"),
                "too far": ("stride = 0", "between 1 and 32"),
            },
            right={"as text": "stride = '3'", "a computed one": "stride = 6 // 2"},
        ),
    )
}
