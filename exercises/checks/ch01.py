"""Chapter 01, paper layouts."""

from itertools import combinations, product
from random import Random

from exercises.engine.answers import as_layout
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_cells, judge_function, judge_layout, judge_number, judge_table, picture, random_layout
from exercises.engine.respond import click_cells, fill_grid, number
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout, Tensor, same_function, select
from layoutviz.notation import format_tuple
from layoutviz.views.grid import grid
from layoutviz.views.memory_strip import memory_strip

BY_HAND = Layout((3, 4), (4, 1))
PADDED = Layout((6, 5), (8, 1))
COLUMNS = Layout((3, 4), (1, 4))
ASKED_SLOTS = range(6, 10)
ALLOCATED = Layout((5, 6), (9, 1))
PICTURE = Layout((3, 4), (5, 2))
SQUARE = (4, 4)
AT_ONCE = 4  # slots that the memory of 01.8 reads at once
SLOTS = 32  # that it has


def check_offsets_by_hand(offsets) -> Verdict:
    """The offsets of (3,4):(4,1) in index order."""
    return judge_table("offsets", offsets, BY_HAND, "All 12 offsets are right, in the order of the index.")


def check_padded_rows(layout) -> Verdict:
    """Row-major, shape (6,5), each row at the next multiple of 8."""
    praise = "Each row starts at a multiple of 8, with as little padding as that allows."
    return judge_layout("layout", layout, PADDED, praise, _padding_mistake)


def _padding_mistake(answer) -> Mistake | None:
    """What is wrong with the distance between rows, where the rows themselves are right; or between neighbours in a row."""
    if answer.shape != PADDED.shape or not isinstance(answer, Layout):
        return None
    down, along = answer.stride
    if 1 < along < down:
        words = f"One step along a row moves {along} elements, so neighbours in a row are not neighbours in memory."
        return Mistake("row with gaps", words, "Where does the second element of a row lie?")
    if along != 1 or down in (0, 1, PADDED.shape[1]):  # no row-major, or no padding: the general recognisers say that
        return None
    if down % 8:
        words = f"Row 1 starts at offset {down}, which is no multiple of 8."
        return Mistake("unaligned rows", words, "What is the first multiple of 8 at which the second row can start?")
    if down > 0:
        words = "Its rows do start at multiples of 8, but there is more padding between them than needed."
        return Mistake("too much padding", words, "Which is the nearest multiple of 8 after the end of a row?")
    return Mistake("backward rows", "Row 1 lies before row 0.", "Which sign has the stride between rows?")


def check_slots_6_to_9(cells) -> Verdict:
    """The cells of (3,4):(1,4) in slots 6 to 9; slot 7 holds none."""
    praise = "Four slots and three cells: each column takes 3 of its 4 slots, so one of these holds nothing."
    return judge_cells("cells", cells, COLUMNS, _cells_in(COLUMNS, ASKED_SLOTS), praise, _cells_mistake)


def _cells_in(layout: Layout, slots: range) -> frozenset[int]:
    """The indices of the cells that a layout puts into some slots."""
    return frozenset(index for index in range(layout.size) if layout(index) in slots)


def _cells_mistake(cells: frozenset[int]) -> Mistake | None:
    """What was counted in place of the slots of COLUMNS."""
    rows, columns = COLUMNS.shape
    right = _cells_in(COLUMNS, ASKED_SLOTS)
    if cells == _cells_in(BY_HAND, ASKED_SLOTS):
        words = "They would lie there if one step down moved 4 slots and one step to the right moved 1."
        return Mistake("strides swapped", words, "Which of the two strides is the step down?")
    if cells == frozenset(ASKED_SLOTS):
        words = "Your cells are those of index 6 to 9. An index counts the cells; this layout does not fill every slot."
        return Mistake("index for offset", words, "In which slot does column 0 end, and in which does column 1 begin?")
    if cells == {COLUMNS(index) for index in right}:
        words = "A bare number in the list is read as an index, and your numbers look like slots."
        return Mistake("slots for cells", words, "Which coordinate lies in each of these slots?")
    if cells == {j + rows * i for i, j in map(COLUMNS.coordinate, right)}:
        words = "Your pairs name the column first. In a coordinate the row comes first."
        return Mistake("column first", words, "How many rows are there, and how large can the first number of a pair be?")
    if right < cells and len(cells) == len(ASKED_SLOTS):
        words = "You chose as many cells as there are slots, and a slot need not hold one."
        return Mistake("a cell for each slot", words, "In which slot does each of your cells lie?")
    for by in (-1, 1):
        if cells == _cells_in(COLUMNS, range(ASKED_SLOTS.start + by, ASKED_SLOTS.stop + by)):
            words = f"Your cells are those of slots {ASKED_SLOTS.start + by} to {ASKED_SLOTS.stop + by - 1}."
            return Mistake("off by one slot", words, "Which number has the slot of the first cell?")
    return None


def check_allocation(slots) -> Verdict:
    """The cosize of (5,6):(9,1)."""
    praise = "The last element lies in the last of these slots, and what would pad the last row is not needed."
    return judge_number("slots", slots, ALLOCATED.cosize, praise, lambda: memory_strip(ALLOCATED), _allocation_mistake)


def _allocation_mistake(slots: int) -> Mistake | None:
    """What was counted in place of the slots that ALLOCATED needs."""
    (rows, columns), (down, right) = ALLOCATED.shape, ALLOCATED.stride
    if slots == ALLOCATED.size:
        words = "That is the `size`. It counts the elements, but they do not lie side by side."
        return Mistake("size for cosize", words, "In which slot does the last element lie?")
    if slots == rows * down:
        words = "That pads every row, also the last one, after which nothing follows."
        return Mistake("gap at the end", words, "Which is the last slot that holds an element?")
    if slots in (Layout(ALLOCATED.shape, (right, down)).cosize, columns * down):
        words = "It would be enough if one step to the right moved 9 slots."
        return Mistake("strides swapped", words, "Which of the two strides is the step down?")
    if slots in (end := rows * down + columns * right, end + 1):
        words = "You take as many steps down as there are rows, and as many to the right as there are columns."
        return Mistake("a step too many", words, "How many steps is it from row 0 to the last row?")
    return None


def check_transposed(transposed) -> Verdict:
    """Shape and stride swapped, for any layout of two modes."""
    praise = "Each step keeps its length, whatever the layout: no data moves."
    return judge_function("transposed", transposed, lambda layout: select(layout, (1, 0)), _some_layouts, praise, slips=TRANSPOSED_SLIPS)


def _some_layouts(random: Random) -> list[tuple[Layout]]:
    """New layouts of two modes; in the last, every row is the same."""
    return [(random_layout(random),) for _ in range(8)] + [(Layout((random.randrange(2, 8), 4), (0, 1)),)]


def check_picture(layout) -> Verdict:
    """(3,4):(5,2), neither row-major nor column-major."""
    praise = "The two steps explain all twelve numbers."
    return judge_layout("layout", layout, PICTURE, praise, _picture_mistake)


def _picture_mistake(answer) -> Mistake | None:
    """Which step of the picture was read off wrongly, where the shape is right."""
    if answer.shape != PICTURE.shape or not isinstance(answer, Layout):
        return None
    (rows, columns), (down, right) = PICTURE.shape, PICTURE.stride
    if answer.stride == (right, down):
        return Mistake(
            "strides swapped", "The two strides have changed places.", "Which step does the first stride say, down or to the right?"
        )
    if answer.stride in ((columns, 1), (1, rows)):
        words = "Its strides are made from the shape alone, as if there were no gaps."
        return Mistake("strides of the shape", words, "By how much do the numbers grow along a row? And down a column?")
    if answer.stride == (down - (columns - 1) * right, right):
        words = "The step down is taken from the end of one row to the start of the next."
        return Mistake("from the end of a row", words, "In which column does one step down start, and in which does it end?")
    if answer.stride == ((rows - 1) * down, (columns - 1) * right):
        words = "It takes the way from one edge to the other as one step."
        return Mistake("the whole way", words, "How far is it from one cell to its neighbour?")
    if answer.stride[0] == down and abs(answer.stride[1] - right) > 1:  # off by one, or all of them: the general recognisers say that
        return Mistake(
            "wrong step to the right",
            "Your first stride fits the picture, your second does not.",
            "By how much do the numbers of one row grow?",
        )
    if answer.stride[1] == right and abs(answer.stride[0] - down) > 1:
        return Mistake(
            "wrong step down", "Your second stride fits the picture, your first does not.", "By how much do the numbers of one column grow?"
        )
    return None


def stored_B(N: int, K: int) -> Layout:
    """B (N,K) in a buffer where it was stored as K rows of N elements."""
    return Layout((N, K), (1, N))


def check_B_layout(B_layout) -> Verdict:
    """By law; then the lesson's kernel runs through it. The law comes first: judge_gemm stores B by whatever layout it is given."""
    praise = "Element (k,n) of the stored matrix is found at (n,k), and nothing was copied."
    verdict = judge_function("B_layout", B_layout, stored_B, _some_sizes, praise, slips=B_LAYOUT_SLIPS)
    return _run_through(B_layout, verdict) if verdict.ok else verdict


def _some_sizes(random: Random) -> list[tuple[int, int]]:
    """Different N and K, small ones first, and one pair as large as real ones."""
    return [tuple(random.sample(range(2, 10), 2)) for _ in range(6)] + [tuple(random.sample(range(100, 900), 2))]


def _run_through(B_layout, law: Verdict) -> Verdict:
    """The verdict on the naive GEMM, whose B is read through `B_layout`; with the words and the picture of the law."""
    from exercises.engine.kernel import judge_gemm, learners_code
    from ladder.naive import TILE, naive_gemm

    def layouts(M: int, N: int, K: int) -> tuple[Layout, Layout]:
        with learners_code():
            B = as_layout("B_layout", B_layout(N, K))
        if B.shape != (N, K) or not same_function(B, stored_B(N, K)):
            raise BadAnswer(f"`B_layout({N}, {K})` is {B}, and that does not read the buffer as it was stored.")
        return Layout((M, K), (K, 1)), B

    return judge_gemm("naive_gemm", naive_gemm, tile=(TILE, TILE, TILE), layouts=layouts, law=law)


def check_at_once(layout) -> Verdict:
    """Shape (4,4), no slot shared, 32 slots, and in each row and each column four different remainders by 4."""
    answer = as_layout("layout", layout)
    if isinstance(answer, Tensor):
        return Verdict(State.WRONG, "`layout` is a Tensor; wanted is a layout alone.")
    if answer.shape != SQUARE:
        words = f"`layout` has shape {format_tuple(answer.shape)}; the shape asked for is {format_tuple(SQUARE)}."
        return Verdict(State.WRONG, words, picture(answer))
    slot = {answer.coordinate(index): offset for index, offset in enumerate(answer.offsets().tolist())}
    if mistake := _shared(slot) or _not_at_once(slot) or _outside(slot):
        return Verdict(State.WRONG, mistake.words, picture(answer), mistake)
    praise = f"Each row and each column has all four remainders, and {max(slot.values()) + 1} slots are enough."
    labels = [f"{offset}→{offset % AT_ONCE}" for offset in slot.values()]
    return Verdict(State.RIGHT, praise, grid(answer, labels=labels, caption="slot → its remainder by 4."))


Slots = dict[tuple[int, int], int]  # the slot of each cell, down the columns


def _shared(slot: Slots) -> Mistake | None:
    for one, other in combinations(slot, 2):
        if slot[one] == slot[other]:
            words = f"{format_tuple(one)} and {format_tuple(other)} share slot {slot[one]}."
            return Mistake("shared slots", words, "How long is a row or a column in memory, and where does the next one begin?")
    return None


def _not_at_once(slot: Slots) -> Mistake | None:
    """The first row, or else the first column, with two slots that cannot be read at once."""
    for name, n in product(("Row", "Column"), range(4)):
        line = [slot[(n, m) if name == "Row" else (m, n)] for m in range(4)]
        for one, other in combinations(line, 2):
            if one % AT_ONCE == other % AT_ONCE:
                words = f"{name} {n} lies in slots {', '.join(map(str, line))}. Of these, {one} and {other} leave the same remainder"
                hint = "By which step do four numbers in turn get four different remainders? Try steps of 1, 2, 3, 4, 5 and 6."
                return Mistake("same remainder", f"{words}, {one % AT_ONCE}.", hint)
    return None


def _outside(slot: Slots) -> Mistake | None:
    for cell, offset in slot.items():
        if not 0 <= offset < SLOTS:
            words = f"Each row and each column can be read at once, but {format_tuple(cell)} lies in slot {offset}, outside slots 0 to"
            return Mistake("outside", f"{words} {SLOTS - 1}.", "Which other step leaves the same remainders, and is shorter or positive?")
    return None


# --- mistakes of one exercise


COPIED = Mistake(
    "a copy", "Its strides are made from the shape alone, as if the elements were copied into new slots without gaps.",
    "Where does element (0,1) of the transpose lie, if nothing was copied?",
)  # fmt: skip
TRANSPOSED_SLIPS = (
    (lambda layout: Layout(layout.shape[::-1], layout.stride), Mistake(
        "shape alone", "It swaps the shape and leaves the strides as they were.",
        "Which step in the transpose is what a step to the right is in the matrix? How far does that move?",
    )),
    (lambda layout: Layout(layout.shape, layout.stride[::-1]), Mistake(
        "strides alone", "It swaps the strides and leaves the shape as it was.",
        "How many rows has the transpose of a matrix of 2 rows and 5 columns?",
    )),
    (lambda layout: Layout(layout.shape[::-1], (layout.shape[0], 1)), COPIED),
    (lambda layout: Layout(layout.shape[::-1], (1, layout.shape[1])), COPIED),
)  # fmt: skip
B_LAYOUT_SLIPS = (
    (lambda N, K: Layout((K, N), (N, 1)), Mistake(
        "as it was stored", "That is the matrix as your colleague stored it, with `K` rows. The kernel asks for (n,k).",
        "Which mode of your layout does `n` walk along, in `mB[n, k]`?",
    )),
    (lambda N, K: Layout((N, K), (K, 1)), Mistake(
        "B row by row", "It reads the buffer as if all `k` of one `n` lay side by side.",
        "Which two elements did your colleague store side by side?",
    )),
    (lambda N, K: Layout((N, K), (N, 1)), Mistake(
        "shape alone", "It swaps the shape and leaves the strides as they were stored.",
        "How far apart are (k,n) and (k,n+1) in the stored matrix?",
    )),
    (lambda N, K: Layout((K, N), (1, N)), Mistake(
        "strides alone", "It swaps the strides and leaves the shape as it was stored.",
        "How many values can `n` take in `mB[n, k]`?",
    )),
    (lambda N, K: Layout((K, N), (1, K)), Mistake(
        "N and K swapped", "`N` and `K` have changed places.",
        "How far does `n` count in `mB[n, k]`, and how far `k`? In which order does your function take them?",
    )),
    (lambda N, K: Layout((N, K), (1, K)), Mistake(
        "K for N", "One step of `k` moves `K` elements in your layout.",
        "How many elements has one row of the stored matrix?",
    )),
)  # fmt: skip


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="01.1",
            title="Offsets by hand",
            stars=1,
            answers=("offsets",),
            check=check_offsets_by_hand,
            respond=fill_grid("offsets", 3, 4),
            hints=(
                "How far does the offset move when `i` grows by one? And when `j` does?",
                "Index 1: is that one step down or one step along? The first mode runs fastest.",
                "Index 2 is the last one in its column. Where is index 3?",
            ),
            why="The offset of (i,j) is 4·i + 1·j, and the index walks down each column first.",
            also="offsets = [4 * i + j for j in range(4) for i in range(3)]",
            wrong={
                "the starter": ("offsets = ...", "still holds"),
                "the constant": ("offsets = [0] * 12", "same offset"),
                "the transposed": ("offsets = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]", "swapped"),
                "the transposed, as rows": ("offsets = [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]", "count 0, 1, 2"),
                "the off-by-one": ("offsets = [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]", "off by the same amount"),
                "index for offset": ("offsets = list(range(12))", "count 0, 1, 2"),
                "bytes for elements": ("offsets = [0, 8, 16, 2, 10, 18, 4, 12, 20, 6, 14, 22]", "bytes"),
                "the last one wrong": ("offsets = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 12]", "Index 11 is coordinate (2,3)"),
                "one missing": ("offsets = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7]", "has 11 numbers"),
                "4 rows of 3": ("offsets = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]", "3 rows of 4"),
                "another form, rows": ("offsets = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]", "row by row"),
                "another form, an array of rows": ("import numpy\noffsets = numpy.arange(12).reshape(3, 4)", "row by row"),
                "a wrong step down": ("offsets = [0, 3, 6, 1, 4, 7, 2, 5, 8, 3, 6, 9]", "one step down moves 3"),
                "words": ("offsets = '0,4,8,1,5,9,2,6,10,3,7,11'", "type str"),
                "fractions": ("offsets = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11.5]", "11.5"),
            },
            right={
                "a tuple": "offsets = (0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)",
                "an array": "import numpy\noffsets = numpy.arange(12).reshape(3, 4).T.ravel()",
                "numpy numbers": "import numpy\noffsets = [numpy.int32(4 * (n % 3) + n // 3) for n in range(12)]",
                "by the library": "from layoutviz import Layout\noffsets = Layout('(3,4):(4,1)').offsets()",
            },
        ),
        Exercise(
            id="01.2",
            title="Rows padded to a multiple of 8",
            stars=2,
            answers=("layout",),
            check=check_padded_rows,
            hints=(
                "Which of the two modes has stride 1 in a row-major layout?",
                "A row has 5 elements. Where is the nearest place after them that is a multiple of 8?",
                "How far is it from the start of one row to the start of the next? Which mode makes that step?",
            ),
            why="Padding changes only the stride between rows; the shape still has only the elements that exist.",
            also='layout = "(6,5):(8,1)"',
            wrong={
                "the starter": ("from layoutviz import Layout\nlayout = Layout((6, 5), (..., ...))", "Line 3"),
                "the constant": ("layout = '(6,5):(0,0)'", "same offset"),
                "no padding": ("layout = ((6, 5), (5, 1))", "without padding"),
                "the transposed": ("layout = '(6,5):(1,8)'", "column-major"),
                "the transposed shape": ("layout = '(5,6):(1,8)'", "modes are swapped"),
                "the off-by-one": ("layout = '(6,5):(9,1)'", "offset 9"),
                "the one-short": ("layout = '(6,5):(7,1)'", "offset 7"),
                "twice the padding": ("layout = '(6,5):(16,1)'", "more padding"),
                "backward rows": ("layout = '(6,5):(8,-1)'", "runs backwards"),
                "strided rows": ("layout = '(6,5):(8,2)'", "moves 2 elements"),
                "the padding as elements": ("layout = '(6,8):(8,1)'", "only elements that exist"),
                "another form": ("layout = '((2,3),5):((8,16),1)'", "has shape ((2,3),5)"),
                "only the strides": ("layout = (8, 1)", "has shape 8"),
                "not closed": ("layout = '(6,5:(8,1)'", "is not a layout"),
                "a number": ("layout = 8", "type int"),
            },
            right={
                "notation": "layout = '(6,5):(8,1)'",
                "a pair": "layout = ((6, 5), (8, 1))",
                "lists": "layout = [[6, 5], [8, 1]]",
                "numpy numbers": "import numpy\nlayout = numpy.array([[6, 5], [8, 1]])",
                "a Layout": "from layoutviz import Layout\nlayout = Layout((6, 5), (8, 1))",
            },
        ),
        Exercise(
            id="01.3",
            title="Who lives in slots 6 to 9?",
            stars=1,
            answers=("cells",),
            check=check_slots_6_to_9,
            respond=click_cells("cells", COLUMNS),
            hints=(
                "How far is one step down? How far is one step to the right?",
                "In which slot does each column begin? How many of the slots from there on does it fill?",
                "Does every slot hold an element?",
            ),
            why="The offset of (i,j) is i + 4·j: columns begin in slots 0, 4, 8 and 12 and fill three each, so nobody lives in slot 7.",
            also="cells = [(i, j) for i in range(3) for j in range(4) if 6 <= i + 4 * j <= 9]",
            wrong={
                "the starter": ("cells = ...", "Line 2 of the cell"),
                "the constant": ("cells = range(12)", "9 of your 12 cells"),
                "the transposed": ("cells = [(1, 2), (1, 3), (2, 0), (2, 1)]", "one step to the right moved 1"),
                "the transposed pairs": ("cells = [(1, 2), (2, 0), (2, 1)]", "the row comes first"),
                "the off-by-one": ("cells = [(1, 1), (2, 1), (0, 2)]", "slots 5 to 8"),
                "the off-by-one, late": ("cells = [(0, 2), (1, 2), (2, 2)]", "slots 7 to 10"),
                "index for offset": ("cells = [6, 7, 8, 9]", "index 6 to 9"),
                "index for offset, as coordinates": ("cells = [(0, 2), (1, 2), (2, 2), (0, 3)]", "index 6 to 9"),
                "slots for cells": ("cells = [6, 8, 9]", "your numbers look like slots"),
                "a cell for each slot": ("cells = [(2, 1), (0, 2), (1, 2), (2, 2)]", "a slot need not hold one"),
                "one missing": ("cells = [(2, 1), (0, 2)]", "some are still missing"),
                "none": ("cells = []", "holds no cell yet"),
                "a cell in the gap": ("cells = [(2, 1), (3, 1), (0, 2), (1, 2)]", "(3, 1), which is no cell"),
                "counted from 1": ("cells = [(3, 2), (1, 3), (2, 3)]", "(3, 2), which is no cell"),
                "one cell, bare": ("cells = (2, 1)", "in two ways"),
                "twice the same": ("cells = [(2, 1), 5, (0, 2), (1, 2)]", "(2,1) twice"),
                "words": ("cells = '(2,1), (0,2), (1,2)'", "type str"),
            },
            right={
                "the last first": "cells = [(1, 2), (0, 2), (2, 1)]",
                "in another order": "cells = [(0, 2), (2, 1), (1, 2)]",
                "in yet another order": "cells = [(2, 1), (1, 2), (0, 2)]",
                "indices": "cells = [5, 6, 7]",
                "a set": "cells = {(2, 1), (0, 2), (1, 2)}",
                "an array": "import numpy\ncells = numpy.array([[2, 1], [0, 2], [1, 2]])",
                "by the library": "cells = [n for n in range(12) if Layout('(3,4):(1,4)')(n) in range(6, 10)]",
            },
        ),
        Exercise(
            id="01.4",
            title="Mend an allocation",
            stars=1,
            answers=("slots",),
            check=check_allocation,
            respond=number("slots"),
            hints=(
                "Which coordinate has the last element?",
                "How many steps down is it from (0,0), and how many to the right? How far does each move?",
                "Slots are counted from 0. How many slots are there up to slot 3, with slot 3?",
            ),
            why="The last element, (4,5), lies at 4·9 + 5·1 = 41, and slot 0 counts as well; that is the layout's `cosize`.",
            also="slots = Layout((5, 6), (9, 1)).cosize",
            wrong={
                "the starter": ("slots = ...", "Line 2 of the cell"),
                "the constant": ("slots = 0", "`slots` is 0, and that is not right"),
                "the transposed": ("slots = Layout((5, 6), (1, 9)).cosize", "one step to the right moved 9"),
                "the off-by-one": ("slots = 4 * 9 + 5 * 1", "off by one"),
                "the size": ("slots = Layout((5, 6), (9, 1)).size", "counts the elements"),
                "the last row padded": ("slots = 5 * 9", "after which nothing follows"),
                "columns for rows": ("slots = 6 * 9", "one step to the right moved 9"),
                "extents for the last coordinate": ("slots = 5 * 9 + 6 * 1", "as many steps down as there are rows"),
                "extents for the last coordinate, and slot 0": ("slots = 5 * 9 + 6 * 1 + 1", "as many steps down as there are rows"),
                "bytes for elements": ("slots = 84", "bytes"),
                "a fraction": ("slots = 84 / 2", "`//` does"),
                "a layout": ("slots = Layout((5, 6), (9, 1))", "type Layout"),
            },
            right={
                "the number": "slots = 42",
                "text": "slots = '42'",
                "five rows less a gap": "slots = 5 * 9 - 3",
                "by the offsets": "slots = max(Layout('(5,6):(9,1)').offsets()) + 1",
            },
        ),
        Exercise(
            id="01.5",
            title="Transpose any layout",
            stars=2,
            answers=("transposed",),
            check=check_transposed,
            hints=(
                "What are the rows of the matrix in its transpose?",
                "In the transpose of `(2,5):(7,1)`, how far does one step down move? And one to the right?",
                "How do you write a pair `(a, b)` the other way round?",
            ),
            why="A step down in the transpose is a step to the right in the matrix, so each extent takes its stride along.",
            also="def transposed(layout):\n    return select(layout, (1, 0))",
            wrong={
                "the starter": ("def transposed(layout):\n    return ...", "Line 3 of the cell"),
                "the constant": ("def transposed(layout):\n    return Layout((6, 4), (1, 6))", "the same layout whatever"),
                "the transposed": ("def transposed(layout):\n    return layout", "gives its input back"),
                "the off-by-one": (
                    "def transposed(layout):\n    (m, n), (a, b) = layout.shape, layout.stride\n    return Layout((n, m), (b, a + 1))",
                    "off by one",
                ),
                "shape alone": ("def transposed(layout):\n    return layout.shape[::-1], layout.stride", "leaves the strides"),
                "strides alone": ("def transposed(layout):\n    return layout.shape, layout.stride[::-1]", "leaves the shape"),
                "a copy by rows": ("def transposed(layout):\n    m, n = layout.shape\n    return Layout((n, m), (m, 1))", "were copied"),
                "a copy by columns": ("def transposed(layout):\n    m, n = layout.shape\n    return Layout((n, m), (1, n))", "were copied"),
                "bytes for elements": (
                    "def transposed(layout):\n    (m, n), (a, b) = layout.shape, layout.stride\n    return Layout((n, m), (2 * b, 2 * a))",
                    "bytes",
                ),
                "only the shape": ("def transposed(layout):\n    return layout.shape[::-1]", "number of modes"),
                "printed": ("def transposed(layout):\n    print(layout.shape[::-1], layout.stride[::-1])", "gives None"),
                "one layout": ("transposed = Layout((6, 4), (1, 6))", "wanted is a function"),
                "two arguments": ("def transposed(shape, stride):\n    return shape[::-1], stride[::-1]", "called with 1 argument"),
            },
            right={
                "a pair": "def transposed(layout):\n    return layout.shape[::-1], layout.stride[::-1]",
                "a lambda": "transposed = lambda layout: Layout(layout.shape[::-1], layout.stride[::-1])",
                "by index": ("def transposed(a):\n    return Layout((a.shape[1], a.shape[0]), (a.stride[1], a.stride[0]))"),
                "by the offsets": ("def transposed(a):\n    return f'({a.shape[1]},{a.shape[0]}):({a(0, 1)},{a(1, 0)})'"),
            },
        ),
        Exercise(
            id="01.6",
            title="From a picture to a layout",
            stars=2,
            answers=("layout",),
            check=check_picture,
            hints=(
                "How many rows are there, and how many columns? Where does that stand in a layout?",
                "Start at (0,0) and take one step down. By how much does the number grow?",
                "Take one step to the right, from any cell. Is it always as far?",
            ),
            why="Every step down adds 5 and every step to the right adds 2; the rows lie between each other in memory.",
            also="layout = '(3,4):(5,2)'",
            wrong={
                "the starter": ("layout = Layout((..., ...), (..., ...))", "Line 2 of the cell"),
                "the constant": ("layout = '(3,4):(0,0)'", "same offset"),
                "the transposed": ("layout = '(4,3):(2,5)'", "modes are swapped"),
                "the off-by-one": ("layout = '(3,4):(6,2)'", "off by one"),
                "the off-by-one, to the right": ("layout = '(3,4):(5,1)'", "off by one"),
                "strides swapped": ("layout = '(3,4):(2,5)'", "changed places"),
                "shape swapped": ("layout = '(4,3):(5,2)'", "mode 0 has"),
                "row-major": ("layout = '(3,4):(4,1)'", "from the shape alone"),
                "column-major": ("layout = '(3,4):(1,3)'", "from the shape alone"),
                "row-major, spread": ("layout = '(3,4):(8,2)'", "your first does not"),
                "column-major, spread": ("layout = '(3,4):(5,15)'", "your second does not"),
                "from the end of a row": ("layout = '(3,4):(-1,2)'", "from the end of one row"),
                "the whole way": ("layout = '(3,4):(10,6)'", "as one step"),
                "bytes for elements": ("layout = '(3,4):(10,4)'", "bytes"),
                "one column too many": ("layout = '(3,5):(5,2)'", "mode 1 has"),
                "another form": ("layout = '(3,(2,2)):(5,(2,4))'", "has shape (3,(2,2))"),
                "the numbers": ("layout = [[0, 2, 4, 6], [5, 7, 9, 11], [10, 12, 14, 16]]", "wanted is a `Layout`"),
            },
            right={
                "a pair": "layout = ((3, 4), (5, 2))",
                "lists": "layout = [[3, 4], [5, 2]]",
                "a transpose": "layout = select(Layout((4, 3), (2, 5)), (1, 0))",
            },
        ),
        Exercise(
            id="01.7",
            title="Read B as it was stored",
            stars=3,
            answers=("B_layout",),
            check=check_B_layout,
            limit=120,
            hints=(
                "What is the layout of the matrix that your colleague stored, with `K` rows and `N` columns?",
                "Where in the buffer lies its element (k,n)? At which coordinate does the kernel ask for it?",
                "What do you call a matrix whose (n,k) is the (k,n) of another one? Which rule of the lesson gives its layout?",
            ),
            why="The stored matrix is `(K,N):(N,1)`; the kernel's `B` is its transpose, `(N,K):(1,N)`. cuBLAS calls this pair TT.",
            also="def B_layout(N, K):\n    return select(Layout((K, N), (N, 1)), (1, 0))",
            wrong={
                "the starter": ("def B_layout(N, K):\n    return Layout(..., ...)", "Line 3 of the cell"),
                "the constant": ("def B_layout(N, K):\n    return Layout((8, 4), (1, 8))", "the same layout whatever"),
                "the transposed": ("def B_layout(N, K):\n    return Layout((K, N), (N, 1))", "as your colleague stored it"),
                "the off-by-one": ("def B_layout(N, K):\n    return Layout((N, K), (1, N + 1))", "off by one"),
                "row by row": ("def B_layout(N, K):\n    return Layout((N, K), (K, 1))", "lay side by side"),
                "shape alone": ("def B_layout(N, K):\n    return Layout((N, K), (N, 1))", "leaves the strides"),
                "strides alone": ("def B_layout(N, K):\n    return Layout((K, N), (1, N))", "leaves the shape"),
                "N and K swapped": ("def B_layout(K, N):\n    return Layout((N, K), (1, N))", "changed places"),
                "the wrong matrix transposed": (
                    "def B_layout(N, K):\n    return select(Layout((N, K), (K, 1)), (1, 0))",
                    "`N` and `K` have changed places",
                ),
                "K for N": ("def B_layout(N, K):\n    return Layout((N, K), (1, K))", "One step of `k` moves `K`"),
                "bytes for elements": ("def B_layout(N, K):\n    return Layout((N, K), (2, 2 * N))", "bytes"),
                "one layout": ("B_layout = Layout((8, 4), (1, 8))", "wanted is a function"),
            },
            right={
                "a pair": "def B_layout(N, K):\n    return (N, K), (1, N)",
                "notation": "def B_layout(N, K):\n    return f'({N},{K}):(1,{N})'",
            },
        ),
        Exercise(
            id="01.8",
            title="Rows and columns at once",
            stars=3,
            answers=("layout",),
            check=check_at_once,
            hints=(
                "In `(4,4):(4,1)`, which remainders have the slots of row 0? And those of column 0?",
                "Take the same step four times, from 0: 0, s, 2s, 3s. For which s do the four leave different remainders?",
                "Both strides are such steps. How far apart must the rows be, so that no slot is shared?",
            ),
            why="Rows padded to 5: a step of 5 moves the remainder on by 1, as a step of 1 does. Any odd strides do if no slot is shared.",
            also="layout = Layout((4, 4), (3, 7))",
            wrong={
                "the starter": ("layout = Layout((4, 4), (..., ...))", "Line 2 of the cell"),
                "the constant": ("layout = '(4,4):(0,0)'", "(0,0) and (1,0) share slot 0"),
                "the transposed": ("layout = '(4,4):(1,4)'", "Row 0 lies in slots 0, 4, 8, 12"),
                "the off-by-one": ("layout = '(4,4):(6,1)'", "Column 0 lies in slots 0, 6, 12, 18. Of these, 0 and 12"),
                "row-major": ("layout = '(4,4):(4,1)'", "0 and 4 leave the same remainder, 0"),
                "padded to 8": ("layout = '(4,4):(8,1)'", "0 and 8 leave the same remainder, 0"),
                "odd, but shared": ("layout = '(4,4):(3,1)'", "(1,0) and (0,3) share slot 3"),
                "a broadcast": ("layout = '(4,4):(0,1)'", "(0,0) and (1,0) share slot 0"),
                "too far apart": ("layout = '(4,4):(13,1)'", "lies in slot 39"),
                "backwards": ("layout = '(4,4):(-5,1)'", "slot -5"),
                "the padding as elements": ("layout = '(4,5):(5,1)'", "has shape (4,5)"),
                "bytes for elements": ("layout = '(4,4):(10,2)'", "Row 0 lies in slots 0, 2, 4, 6"),
                "a tensor": ("layout = Tensor('(4,4):(5,1)', 1)", "is a Tensor"),
                "the stride alone": ("layout = (5, 1)", "has shape 5"),
            },
            right={
                "columns padded": "layout = '(4,4):(1,5)'",
                "rows of 7": "layout = '(4,4):(7,1)'",
                "columns of 7": "layout = '(4,4):(1,7)'",
                "rows of 9": "layout = '(4,4):(9,1)'",
                "columns of 9": "layout = '(4,4):(1,9)'",
                "neither is 1": "layout = '(4,4):(3,5)'",
                "neither is 1, by rows": "layout = '(4,4):(5,3)'",
                "3 and 7, by rows": "layout = '(4,4):(7,3)'",
                "a swizzle, which comes in chapter 05": "layout = 'S<2,0,2> o 0 o (4,4):(4,1)'",
            },
        ),
    )
}
