"""Chapter 01, paper layouts."""

from dataclasses import replace
from itertools import combinations, product
from random import Random

from exercises.engine.answers import as_layout, as_number, kind, plain, shorten
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_cells, judge_function, judge_layout, judge_number, not_right, picture, random_layout
from exercises.engine.respond import click_cells, number
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout, same_function
from layoutviz.notation import format_tuple
from layoutviz.scene import Scene
from layoutviz.views.blank import blank
from layoutviz.views.grid import grid
from layoutviz.views.memory_strip import memory_strip

BY_HAND = Layout((3, 4), (5, 1))
ASKED_INDICES = (1, 2, 3, 5, 10)
PADDED = Layout((6, 5), (8, 1))
COLUMNS = Layout((3, 4), (1, 4))
ASKED_SLOTS = range(6, 10)
ALLOCATED = Layout((5, 6), (9, 1))
PICTURE = Layout((3, 4), (2, 1))
SQUARE = (4, 4)
AT_ONCE = 4  # slots that the memory of 01.8 reads at once
SLOTS = 32  # that it has


def check_offsets_by_hand(offsets) -> Verdict:
    """Some offsets of (3,4):(5,1), each named by its index."""
    numbers = _offsets_by_hand(offsets)
    right = list(map(BY_HAND, ASKED_INDICES))
    if numbers != right:
        bad = next(n for n, (mine, offset) in enumerate(zip(numbers, right, strict=True)) if mine != offset)
        index, mistake = ASKED_INDICES[bad], BY_HAND_SLIPS.get(tuple(numbers))
        where = f"Index {index} is coordinate {format_tuple(BY_HAND.coordinate(index))}."
        words = f"{where} Your `L({index})`, {shorten(numbers[bad])}, is not its offset."
        return not_right(words, mistake, _where_it_stands(index))
    labels = [f"{index}→{offset}" for index, offset in enumerate(BY_HAND.offsets().tolist())]
    praise = "The index counts down the columns; the strides say where each cell lies."
    return Verdict(State.RIGHT, praise, grid(BY_HAND, labels=labels, caption="index → offset."))


def _offsets_by_hand(offsets) -> list[int]:
    asked = ", ".join(f"L({index})" for index in ASKED_INDICES)
    entries = plain(offsets)
    if not isinstance(entries, (list, tuple)):
        raise BadAnswer(f"`offsets` is {kind(entries)}; wanted is a list of five whole numbers, the offsets {asked}.")
    if len(entries) != len(ASKED_INDICES):
        raise BadAnswer(f"`offsets` has {len(entries)} entries; wanted are five, the offsets {asked}.")
    if any(isinstance(entry, (list, tuple)) for entry in entries):
        raise BadAnswer("`offsets` holds coordinates or rows. An offset is one number: the slot.")
    return [as_number(f"offsets[{n}]", entry) for n, entry in enumerate(entries)]


def _where_it_stands(index: int) -> Scene:
    """The board without offsets, with the cell of one index marked."""
    scene = blank(BY_HAND, title=str(BY_HAND), caption="✗: how many steps down is it from (0,0), and how many to the right?")
    panel = scene.panels[0][0]
    cell = panel.keys["index"].tolist().index(index)
    labels = [f"L({index})" if n == cell else "" for n in range(BY_HAND.size)]
    return replace(scene, panels=((replace(panel, labels=labels, marks={cell: "wrong"}),),))


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
    for cell in entries if isinstance(entries := plain(cells), (list, tuple, set, frozenset)) else ():
        _demand_cell(cell)
    praise = "Four slots and three cells: each column takes 3 of its 4 slots, so one of these holds nothing."
    return judge_cells("cells", cells, COLUMNS, _cells_in(COLUMNS, ASKED_SLOTS), praise, _cells_mistake)


def _demand_cell(cell) -> None:
    """Refuse a pair that is no cell of COLUMNS; the formula gives it a slot all the same."""
    if not (isinstance(cell, (tuple, list)) and len(cell) == 2 and all(type(place) is int for place in cell)):
        return  # judge_cells reads the rest
    for name, place, extent in zip(("row", "column"), cell, COLUMNS.shape, strict=True):
        if not 0 <= place < extent:
            words = f"There is no {name} {place}: {name}s count from 0, so the last one is {extent - 1}."
            slot = sum(step * stride for step, stride in zip(cell, COLUMNS.stride, strict=True))
            gap = " A slot need not hold a cell." if slot in ASKED_SLOTS else ""
            raise BadAnswer(f"`cells` has ({cell[0]}, {cell[1]}). {words}{gap}")


def _cells_in(layout: Layout, slots: range) -> frozenset[int]:
    """The indices of the cells that a layout puts into some slots."""
    return frozenset(index for index in range(layout.size) if layout(index) in slots)


def _cells_mistake(cells: frozenset[int]) -> Mistake | None:
    """What was counted in place of the slots of COLUMNS."""
    rows, columns = COLUMNS.shape
    right = _cells_in(COLUMNS, ASKED_SLOTS)
    if cells == _cells_in(Layout(COLUMNS.shape, COLUMNS.stride[::-1]), ASKED_SLOTS):
        words = "They would lie there if one step down moved 4 slots and one step to the right moved 1."
        return Mistake("strides swapped", words, "Which of the two strides is the step down?")
    if cells == frozenset(ASKED_SLOTS):
        words = "Your cells are those of index 6 to 9. An index counts the cells; this layout does not fill every slot."
        return Mistake("index for offset", words, "In which slot does column 0 end, and in which does column 1 begin?")
    if cells == {COLUMNS(index) for index in right}:
        words = "The indices of your cells are the numbers of the slots. An index counts the cells, and these do not fill every slot."
        return Mistake("slots for cells", words, "Which coordinate lies in each of these slots?")
    if cells == {j + rows * i for i, j in map(COLUMNS.coordinate, right)}:
        words = "With row and column swapped they would be right. In a coordinate the row comes first."
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
    if slots == ALLOCATED.cosize - 1:
        words = f"{slots} is the last offset. Slot 0 counts as well."
        return Mistake("the last offset", words, "How many slots are there up to slot 3, with slot 3?")
    if slots == rows * down:
        words = "That pads every row, also the last one, after which nothing follows."
        return Mistake("gap at the end", words, "Which is the last slot that holds an element?")
    if slots in (Layout(ALLOCATED.shape, (right, down)).cosize, columns * down):
        words = "That fits a step to the right that moves 9 slots. Here the step down moves 9, and fewer slots are enough."
        return Mistake("strides swapped", words, "How many steps down is it to the last element, and how many to the right?")
    if slots == ALLOCATED.cosize + 1:
        words = "That goes on after the slot of the last element."
        return Mistake("a slot too many", words, "How many slots are there up to slot 3, with slot 3?")
    if slots in (end := rows * down + columns * right, end + 1):
        words = "You take as many steps down as there are rows, and as many to the right as there are columns."
        return Mistake("a step too many", words, "How many steps is it from row 0 to the last row?")
    return None


def second_rows(layout: Layout) -> Layout:
    """The transpose of rows 0, 2, 4 and so on of a layout of two plain modes."""
    (rows, columns), (down, right) = layout.shape, layout.stride
    return Layout((columns, -(-rows // 2)), (right, 2 * down))


def check_every_second(every_second) -> Verdict:
    """01.5, for any layout of two plain modes."""
    praise = "A step to the right in it is two steps down in the matrix, whatever the layout: no data moves."
    return judge_function("every_second", every_second, second_rows, _some_layouts, praise, slips=EVERY_SECOND_SLIPS)


def _some_layouts(random: Random) -> list[tuple[Layout]]:
    """New layouts of two modes, with both even and odd numbers of rows among them.

    In the first, row-major, the rows are padded; in the last, every row is the same.
    """
    rows, columns = random.sample(range(3, 8), 2)
    layouts = [Layout((rows, columns), (columns + random.randrange(1, 4), 1)), *(random_layout(random) for _ in range(6))]
    for odd in (0, 1):
        layouts.append(next(layout for layout in iter(lambda: random_layout(random), None) if layout.shape[0] % 2 == odd))
    two_rows = Layout((2, random.randrange(3, 8)), (1, random.randrange(2, 5)))
    return [(layout,) for layout in (*layouts, two_rows, Layout((random.randrange(3, 8), 4), (0, 1)))]


def check_picture(layout) -> Verdict:
    """(3,4):(2,1), whose rows overlap."""
    praise = "Twelve elements in eight slots: the slots of c to f are each read in two rows."
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
        words = "Its strides are made from the shape alone, as if each of the twelve elements had a slot of its own."
        return Mistake("strides of the shape", words, "In which slot is the first letter of row 0? And that of row 1?")
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
            "How far is it from a to b?",
        )
    if answer.stride[1] == right and abs(answer.stride[0] - down) > 1:
        return Mistake(
            "wrong step down", "Your second stride fits the picture, your first does not.", "How far is it from a to the letter below it?"
        )
    return None


def stored_B(N: int, K: int, P: int) -> Layout:
    """B (N,K) in a buffer where it was stored as the first N elements of K rows of P."""
    return Layout((N, K), (1, P))


def check_B_layout(B_layout) -> Verdict:
    """By law; then the lesson's kernel runs through it. The law comes first: judge_gemm stores B by whatever layout it is given."""
    praise = "Element (k,n) of the stored rows is found at (n,k), and nothing was copied."
    verdict = judge_function("B_layout", B_layout, stored_B, _some_sizes, praise, slips=B_LAYOUT_SLIPS)
    return _run_through(B_layout, verdict) if verdict.ok else verdict


def _some_sizes(random: Random) -> list[tuple[int, int, int]]:
    """Different N, K and P: small ones first, one with rows of N elements, and one as large as real ones."""
    small = [(N, K, P) for N, K, P in (random.sample(range(2, 20), 3) for _ in range(12)) if N < P]
    N, K = random.sample(range(2, 10), 2)
    large = random.randrange(100, 400), random.randrange(400, 700), random.randrange(700, 900)
    return [(2, 3, 5), *small, (N, random.randrange(20, 30), N + 1), (N, K, N), large]


def _run_through(B_layout, law: Verdict) -> Verdict:
    """The verdict on the naive GEMM, whose B is read through `B_layout`; with the words and the picture of the law."""
    from exercises.engine.kernel import judge_gemm, learners_code
    from ladder.naive import TILE, naive_gemm

    def layouts(M: int, N: int, K: int) -> tuple[Layout, Layout]:
        P = N + 8 - N % 8  # more than N
        with learners_code():
            B = as_layout("B_layout", B_layout(N, K, P))
        stored = stored_B(N, K, P)
        if B.shape != stored.shape or not same_function(B, stored):
            raise BadAnswer(f"`B_layout({N}, {K}, {P})` is {B}, and that does not read the buffer as it was stored.")
        return Layout((M, K), (K, 1)), B if isinstance(B, Layout) else stored  # a Tensor at slot 0 is the same

    return judge_gemm("naive_gemm", naive_gemm, tile=(TILE, TILE, TILE), layouts=layouts, law=law)


def check_at_once(layout) -> Verdict:
    """Shape (4,4), no slot shared, 32 slots, no step of 1, and in each row and each column four different remainders by 4."""
    answer = as_layout("layout", layout)
    if not isinstance(answer, Layout):
        return Verdict(State.WRONG, f"`layout` is of type {type(answer).__name__}; wanted is a plain layout, shape and stride.")
    if answer.shape != SQUARE:
        words = f"`layout` has shape {format_tuple(answer.shape)}; the shape asked for is {format_tuple(SQUARE)}."
        return Verdict(State.WRONG, words, picture(answer))
    slot = {answer.coordinate(index): offset for index, offset in enumerate(answer.offsets().tolist())}
    if mistake := _shared(slot) or _not_at_once(slot) or _outside(slot) or _step_of_1(slot):
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


def _step_of_1(slot: Slots) -> Mistake | None:
    for name, cell in {"down": (1, 0), "to the right": (0, 1)}.items():
        if slot[cell] - slot[(0, 0)] == 1:
            words = f"Each row and each column can be read at once, but a step {name} moves 1 slot. Neither stride may be 1."
            return Mistake("a stride of 1", words, "Which other steps leave four different remainders, as a step of 1 does?")
    return None


# --- mistakes of one exercise


ALONG_THE_ROWS = Mistake("along the rows", "You counted along the rows. The index runs down the columns.", "Which coordinate has index 5?")
BY_HAND_SLIPS = {
    tuple(ASKED_INDICES): Mistake(
        "index for offset", "These are the indices themselves. An offset says in which slot the element lies.",
        "Index 1 is one step down. How far is that in memory?",
    ),
    tuple(BY_HAND(*divmod(index, 4)) for index in ASKED_INDICES): ALONG_THE_ROWS,
    tuple(divmod(index, 4)[0] + 3 * divmod(index, 4)[1] for index in ASKED_INDICES): ALONG_THE_ROWS,  # the index of that cell
    tuple(map(Layout((3, 4), (1, 5)), ASKED_INDICES)): Mistake(
        "strides swapped", "Your five numbers would be right if one step down moved 1 slot and one step to the right moved 5.",
        "Which of the two strides is the step down?",
    ),
    tuple(map(Layout((3, 4), (4, 1)), ASKED_INDICES)): Mistake(
        "no gaps", "Your five numbers would be right if each row began right after the end of the row before it.",
        "How far does one step down move in `(3,4):(5,1)`?",
    ),
    tuple(map(Layout((4, 4), (5, 1)), ASKED_INDICES)): Mistake(
        "four rows", "Your five numbers would be right if a column had 4 cells.",
        "How many cells does column 0 have, and which index is the first of column 1?",
    ),
    tuple(BY_HAND.stride[0] * index for index in ASKED_INDICES): Mistake(
        "only down", f"You took each index for steps down. Column 0 has only {BY_HAND.shape[0]} cells.",
        "Where does the count go on after the last cell of column 0?",
    ),
    tuple(BY_HAND(index - 1) for index in ASKED_INDICES): Mistake(
        "counted from 1", "Your five numbers would be right if the indices began with 1.", "Which index has the cell (0,0)?",
    ),
    tuple(2 * BY_HAND(index) for index in ASKED_INDICES): Mistake(
        "bytes for elements", "Every offset is twice as large as it should be, as when the bytes of fp16 are counted.",
        "In which unit do you count?",
    ),
}  # fmt: skip
SECOND_COPIED = Mistake(
    "a copy", "Its strides are made from the shape alone, as if the elements were copied into new slots without gaps.",
    "Where does element (0,1) of the result lie, if nothing was copied?",
)  # fmt: skip
EVERY_SECOND_SLIPS = (
    (lambda layout: Layout(layout.shape[::-1], layout.stride[::-1]), Mistake(
        "every row", "That is the transpose of the whole matrix, with all its rows.",
        "From row 0 the next row that counts is row 2. How far is that in memory?",
    )),
    (lambda layout: Layout(second_rows(layout).shape[::-1], second_rows(layout).stride[::-1]), Mistake(
        "not transposed", "It takes the right rows, but as rows: they are to be columns.",
        "Which mode of the result walks along row 0 of the matrix?",
    )),
    (lambda layout: Layout((layout.shape[1], layout.shape[0] // 2), second_rows(layout).stride), Mistake(
        "the last row lost", "Of an odd number of rows it leaves out the last one.", "Which of 5 rows are rows 0, 2, 4 and so on?",
    )),
    (lambda layout: Layout((layout.shape[1], layout.shape[0] // 2 + 1), second_rows(layout).stride), Mistake(
        "one row too many", "Of an even number of rows it takes one too many.", "Which of 6 rows are rows 0, 2, 4 and so on?",
    )),
    (lambda layout: Layout(second_rows(layout).shape, layout.stride[::-1]), Mistake(
        "the first half", "It has the right number of columns, but takes rows that follow each other: 0, 1, 2 and so on.",
        "From row 0 the next row that counts is row 2. How far is that in memory?",
    )),
    (lambda layout: Layout(layout.shape[::-1], second_rows(layout).stride), Mistake(
        "as many as there were", "It steps over every second row, but has as many columns as the matrix has rows.",
        "How many rows of 6 are taken? And of 5?",
    )),
    (lambda layout: Layout((-(-layout.shape[1] // 2), layout.shape[0]), (2 * layout.stride[1], layout.stride[0])), Mistake(
        "every second column", "It takes every second column of the matrix, and all its rows.",
        "Which of the two strides leads from row to row?",
    )),
    (lambda layout: Layout(second_rows(layout).shape, (2 * layout.stride[0], layout.stride[1])), Mistake(
        "shape alone", "It swaps the shape and leaves the strides in their order.",
        "Which step in the result is what a step to the right is in the matrix? How far does that move?",
    )),
    (lambda layout: Layout(second_rows(layout).shape[::-1], second_rows(layout).stride), Mistake(
        "strides alone", "It swaps the strides and leaves the shape in its order.",
        "How many rows has the transpose of a matrix of 2 rows and 5 columns?",
    )),
    (lambda layout: Layout(second_rows(layout).shape, (1, 2 * layout.shape[1])), Mistake(
        "row-major without gaps", "Its strides would be right if the matrix were row-major without gaps. Each layout has its own.",
        "Which names in the starter stand for a step down and a step to the right?",
    )),
    (lambda layout: Layout(second_rows(layout).shape, (second_rows(layout).shape[1], 1)), SECOND_COPIED),
    (lambda layout: Layout(second_rows(layout).shape), SECOND_COPIED),
)  # fmt: skip
B_LAYOUT_SLIPS = (
    (lambda N, K, P: Layout((N, K), (1, N)), Mistake(
        "rows of N", "It takes the rows for N elements long.", "Where does row 1 begin in the buffer?",
    )),
    (lambda N, K, P: Layout((K, N), (P, 1)), Mistake(
        "as it was stored", "That is the matrix as your colleague stored it, with `K` rows. The kernel asks for (n,k).",
        "Which mode of your layout does `n` walk along, in `mB[n, k]`?",
    )),
    (lambda N, K, P: Layout((P, K), (1, P)), Mistake(
        "the rest of the rows too", "That is all that was stored, also what is not `B`.", "How many values can `n` take in `mB[n, k]`?",
    )),
    (lambda N, K, P: Layout((N, K), (K, 1)), Mistake(
        "B row by row", "It reads the buffer as if all `k` of one `n` lay side by side.",
        "Which two elements did your colleague store side by side?",
    )),
    (lambda N, K, P: Layout((N, K), (P, 1)), Mistake(
        "shape alone", "It swaps the shape and leaves the strides as they were stored.",
        "How far apart are (k,n) and (k,n+1) in the stored matrix?",
    )),
    (lambda N, K, P: Layout((K, N), (1, P)), Mistake(
        "N and K swapped", "In its shape `N` and `K` have changed places.",
        "How far does `n` count in `mB[n, k]`, and how far `k`? In which order does your function take them?",
    )),
    (lambda N, K, P: Layout((N, K), (1, K)), Mistake(
        "K for P", "One step of `k` moves `K` elements in your layout.",
        "How many elements has one row of the stored matrix?",
    )),
)  # fmt: skip


def _second(layout: str) -> str:
    """An answer to 01.5 that gives this layout."""
    head = "def every_second(layout):\n    (rows, columns), (down, right) = layout.shape, layout.stride\n"
    return f"{head}    return Layout({layout})"


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="01.1",
            title="Offsets by hand",
            stars=1,
            answers=("offsets",),
            check=check_offsets_by_hand,
            hints=(
                "How many cells does a column have? Which index is the last one in column 0?",
                "Which coordinate has index 5? Count down column 0, then go on at the top of column 1.",
                "How far does the offset move when `i` grows by one? And when `j` does?",
            ),
            why="The indices 1, 2, 3, 5 and 10 are (1,0), (2,0), (0,1), (2,1) and (1,3), and the offset of (i,j) is 5·i + 1·j.",
            also="offsets = [5 * (n % 3) + n // 3 for n in (1, 2, 3, 5, 10)]",
            wrong={
                "the starter": ("offsets = [..., ..., ..., ..., ...]", "Line 2 of the cell"),
                "the constant": ("offsets = [0, 0, 0, 0, 0]", "Your `L(1)`, 0, is not its offset"),
                "the transposed": ("offsets = [1, 2, 5, 7, 16]", "if one step down moved 1 slot"),
                "the off-by-one": ("offsets = [0, 5, 10, 6, 3]", "if the indices began with 1"),
                "along the rows": ("offsets = [1, 2, 3, 6, 12]", "You counted along the rows"),
                "along the rows, counted again": ("offsets = [3, 6, 9, 4, 8]", "You counted along the rows"),
                "index for offset": ("offsets = [1, 2, 3, 5, 10]", "the indices themselves"),
                "no gaps": ("offsets = [4, 8, 1, 9, 7]", "right after the end of the row before"),
                "columns of 4": ("offsets = [5, 10, 15, 6, 12]", "if a column had 4 cells"),
                "only down": ("offsets = [5, 10, 15, 25, 50]", "Column 0 has only 3 cells"),
                "bytes for elements": ("offsets = [10, 20, 2, 22, 16]", "bytes"),
                "the last one wrong": ("offsets = [5, 10, 1, 11, 9]", "Index 10 is coordinate (1,3). Your `L(10)`, 9"),
                "coordinates": ("offsets = [(1, 0), (2, 0), (0, 1), (2, 1), (1, 3)]", "holds coordinates"),
                "one missing": ("offsets = [5, 10, 1, 11]", "has 4 entries; wanted are five"),
                "all of them": ("offsets = Layout('(3,4):(5,1)').offsets()", "has 12 entries"),
                "words": ("offsets = '5, 10, 1, 11, 8'", "type str"),
                "fractions": ("offsets = [5, 10, 1, 11, 8.5]", "8.5"),
            },
            right={
                "a tuple": "offsets = (5, 10, 1, 11, 8)",
                "an array": "import numpy\noffsets = numpy.array([5, 10, 1, 11, 8])",
                "by the library": "offsets = [Layout('(3,4):(5,1)')(n) for n in (1, 2, 3, 5, 10)]",
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
                "the transposed pairs": ("cells = [(1, 2), (2, 0), (2, 1)]", "With row and column swapped they would be right"),
                "the off-by-one": ("cells = [(1, 1), (2, 1), (0, 2)]", "slots 5 to 8"),
                "the off-by-one, late": ("cells = [(0, 2), (1, 2), (2, 2)]", "slots 7 to 10"),
                "index for offset": ("cells = [6, 7, 8, 9]", "index 6 to 9"),
                "index for offset, as coordinates": ("cells = [(0, 2), (1, 2), (2, 2), (0, 3)]", "index 6 to 9"),
                "slots for cells, as coordinates": ("cells = [(0, 2), (2, 2), (0, 3)]", "are the numbers of the slots"),
                "slots for cells": ("cells = [6, 8, 9]", "are the numbers of the slots"),
                "a cell for each slot": ("cells = [(2, 1), (0, 2), (1, 2), (2, 2)]", "a slot need not hold one"),
                "one missing": ("cells = [(2, 1), (0, 2)]", "some are still missing"),
                "none": ("cells = []", "holds no cell yet"),
                "a cell in the gap": ("cells = [(2, 1), (3, 1), (0, 2), (1, 2)]", "A slot need not hold a cell"),
                "counted from 1": ("cells = [(3, 2), (1, 3), (2, 3)]", "There is no row 3: rows count from 0"),
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
            also="slots = 4 * 9 + 5 * 1 + 1",
            wrong={
                "the starter": ("slots = ...", "Line 2 of the cell"),
                "the constant": ("slots = 0", "`slots` is 0, and that is not right"),
                "the transposed": ("slots = Layout((5, 6), (1, 9)).cosize", "a step to the right that moves 9"),
                "the off-by-one": ("slots = 4 * 9 + 5 * 1", "41 is the last offset"),
                "the size": ("slots = Layout((5, 6), (9, 1)).size", "counts the elements"),
                "the last row padded": ("slots = 5 * 9", "after which nothing follows"),
                "columns for rows": ("slots = 6 * 9", "a step to the right that moves 9"),
                "a slot too many": ("slots = 4 * 9 + 5 * 1 + 2", "after the slot of the last element"),
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
                "by the library": "slots = Layout('(5,6):(9,1)').cosize",
            },
        ),
        Exercise(
            id="01.5",
            title="Every second row, as columns",
            stars=2,
            answers=("every_second",),
            check=check_every_second,
            hints=(
                "In `(4,3):(10,1)`, how far is it from row 0 to row 2? Is it as far from row 2 to row 4?",
                "How many of the rows 0, 2, 4 and so on has a matrix of 6 rows? And one of 5?",
                "In the transpose, which mode walks along a row of the matrix? Which one goes from row to row?",
            ),
            why="From row to row it is now two steps down, and half the rows, rounded up, are left; the transpose swaps the two modes.",
            also=(
                "def every_second(layout):\n    rows, columns = layout.shape\n    down, right = layout.stride\n"
                "    taken = Layout(((rows + 1) // 2, columns), (2 * down, right))\n    return select(taken, (1, 0))"
            ),
            wrong={
                "the starter": (
                    "def every_second(layout):\n    (rows, columns), (down, right) = layout.shape, layout.stride\n    return ...",
                    "Line 4 of the cell",
                ),
                "the constant": ("def every_second(layout):\n    return Layout((6, 2), (1, 12))", "the same layout whatever"),
                "the transposed": ("def every_second(layout):\n    return select(layout, (1, 0))", "transpose of the whole matrix"),
                "the input": ("def every_second(layout):\n    return layout", "gives its input back"),
                "the off-by-one": (_second("(columns, (rows + 1) // 2), (right, 2 * down + 1)"), "off by one"),
                "the last row lost": (_second("(columns, rows // 2), (right, 2 * down)"), "leaves out the last one"),
                "one row too many": (_second("(columns, rows // 2 + 1), (right, 2 * down)"), "takes one too many"),
                "not transposed": (_second("((rows + 1) // 2, columns), (2 * down, right)"), "as rows"),
                "the first half": (_second("(columns, (rows + 1) // 2), (right, down)"), "rows that follow each other"),
                "as many as there were": (_second("(columns, rows), (right, 2 * down)"), "as many columns as the matrix has rows"),
                "every second column": (_second("((columns + 1) // 2, rows), (2 * right, down)"), "every second column"),
                "shape alone": (_second("(columns, (rows + 1) // 2), (2 * down, right)"), "leaves the strides"),
                "strides alone": (_second("((rows + 1) // 2, columns), (right, 2 * down)"), "leaves the shape"),
                "row-major without gaps": (_second("(columns, (rows + 1) // 2), (1, 2 * columns)"), "row-major without gaps"),
                "a copy by rows": (_second("(columns, (rows + 1) // 2), ((rows + 1) // 2, 1)"), "were copied"),
                "a copy by columns": (_second("(columns, (rows + 1) // 2), (1, columns)"), "were copied"),
                "bytes for elements": (_second("(columns, (rows + 1) // 2), (2 * right, 4 * down)"), "bytes"),
                "only the shape": ("def every_second(layout):\n    return layout.shape[::-1]", "number of modes"),
                "printed": ("def every_second(layout):\n    print(layout.shape[::-1], layout.stride[::-1])", "gives None"),
                "one layout": ("every_second = Layout((6, 2), (1, 12))", "wanted is a function"),
                "two arguments": ("def every_second(shape, stride):\n    return shape[::-1], stride[::-1]", "called with 1 argument"),
            },
            right={
                "a pair": _second("(columns, (rows + 1) // 2), (right, 2 * down)").replace("Layout", ""),
                "rounded up": _second("(columns, -(-rows // 2)), (right, 2 * down)"),
                "by the rest": _second("(columns, rows // 2 + rows % 2), (right, down + down)"),
                "by the offsets": "def every_second(a):\n    m, n = a.shape\n    return f'({n},{-(-m // 2)}):({a(0, 1)},{2 * a(1, 0)})'",
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
                "In which slot is the letter at (0,0), and in which the one below it?",
                "Two cells of the picture hold a c. May two coordinates have the same offset?",
            ),
            why="One step to the right is the next letter and one step down the second next, so rows overlap; a convolution reads so.",
            also="layout = '(3,4):(2,1)'",
            wrong={
                "the starter": ("layout = Layout((..., ...), (..., ...))", "Line 2 of the cell"),
                "the constant": ("layout = '(3,4):(0,0)'", "same offset"),
                "the transposed": ("layout = '(4,3):(1,2)'", "modes are swapped"),
                "the off-by-one": ("layout = '(3,4):(3,1)'", "off by one"),
                "the off-by-one, to the right": ("layout = '(3,4):(2,2)'", "off by one"),
                "strides swapped": ("layout = '(3,4):(1,2)'", "changed places"),
                "shape swapped": ("layout = '(4,3):(2,1)'", "mode 0 has"),
                "row-major": ("layout = '(3,4):(4,1)'", "a slot of its own"),
                "column-major": ("layout = '(3,4):(1,3)'", "a slot of its own"),
                "too far down": ("layout = '(3,4):(5,1)'", "your first does not"),
                "too far to the right": ("layout = '(3,4):(2,4)'", "your second does not"),
                "from the end of a row": ("layout = '(3,4):(-1,1)'", "from the end of one row"),
                "the whole way": ("layout = '(3,4):(4,3)'", "as one step"),
                "bytes for elements": ("layout = '(3,4):(4,2)'", "bytes"),
                "one column too many": ("layout = '(3,5):(2,1)'", "mode 1 has"),
                "another form": ("layout = '(3,(2,2)):(2,(1,2))'", "has shape (3,(2,2))"),
                "the letters": ("layout = ['abcd', 'cdef', 'efgh']", "wanted is a `Layout`"),
            },
            right={
                "a pair": "layout = ((3, 4), (2, 1))",
                "lists": "layout = [[3, 4], [2, 1]]",
                "a transpose": "layout = select(Layout((4, 3), (1, 2)), (1, 0))",
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
                "Which layout has what your colleague stored, with `K` rows and `P` columns? And its first `N` columns?",
                "Where in the buffer lies its element (k,n)? At which coordinate does the kernel ask for it?",
                "What do you call a matrix whose (n,k) is the (k,n) of another one? Which rule of the lesson gives its layout?",
            ),
            why="N stored columns are `(K,N):(P,1)`; the kernel's `B` is their transpose. cuBLAS calls P the leading dimension.",
            also="def B_layout(N, K, P):\n    return select(Layout((K, N), (P, 1)), (1, 0))",
            wrong={
                "the starter": ("def B_layout(N, K, P):\n    return Layout(..., ...)", "Line 3 of the cell"),
                "the constant": ("def B_layout(N, K, P):\n    return Layout((8, 4), (1, 8))", "the same layout whatever"),
                "the transposed": ("def B_layout(N, K, P):\n    return Layout((K, N), (P, 1))", "as your colleague stored it"),
                "the off-by-one": ("def B_layout(N, K, P):\n    return Layout((N, K), (1, P + 1))", "off by one"),
                "the larger of two": ("def B_layout(N, K, P):\n    return Layout((N, K), (1, max(K, P)))", "gives offset"),
                "the lesson's": ("def B_layout(N, K, P):\n    return Layout((N, K), (1, N))", "takes the rows for N elements long"),
                "row by row": ("def B_layout(N, K, P):\n    return Layout((N, K), (K, 1))", "lay side by side"),
                "shape alone": ("def B_layout(N, K, P):\n    return Layout((N, K), (P, 1))", "leaves the strides"),
                "N and K swapped": ("def B_layout(N, K, P):\n    return Layout((K, N), (1, P))", "changed places"),
                "the arguments swapped": ("def B_layout(K, N, P):\n    return Layout((N, K), (1, P))", "changed places"),
                "the rest too": ("def B_layout(N, K, P):\n    return Layout((P, K), (1, P))", "also what is not `B`"),
                "K for P": ("def B_layout(N, K, P):\n    return Layout((N, K), (1, K))", "One step of `k` moves `K`"),
                "bytes for elements": ("def B_layout(N, K, P):\n    return Layout((N, K), (2, 2 * P))", "bytes"),
                "one layout": ("B_layout = Layout((8, 4), (1, 8))", "wanted is a function"),
                "two arguments": ("def B_layout(N, K):\n    return Layout((N, K), (1, N))", "called with 3 arguments"),
            },
            right={
                "a pair": "def B_layout(N, K, P):\n    return (N, K), (1, P)",
                "notation": "def B_layout(N, K, P):\n    return f'({N},{K}):(1,{P})'",
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
                "Both strides are such steps. Which two of them share no slot, and stay below slot 32?",
            ),
            why="Every odd step gives four remainders. Of steps other than 1, only 3 with 5 and 3 with 7 share no slot and stay below 32.",
            also="layout = Layout((4, 4), (3, 7))",
            wrong={
                "the starter": ("layout = Layout((4, 4), (..., ...))", "Line 2 of the cell"),
                "the constant": ("layout = '(4,4):(0,0)'", "(0,0) and (1,0) share slot 0"),
                "the transposed": ("layout = '(4,4):(1,4)'", "Row 0 lies in slots 0, 4, 8, 12"),
                "the off-by-one": ("layout = '(4,4):(5,2)'", "Row 0 lies in slots 0, 2, 4, 6. Of these, 0 and 4"),
                "row-major": ("layout = '(4,4):(4,1)'", "0 and 4 leave the same remainder, 0"),
                "padded to 8": ("layout = '(4,4):(8,1)'", "0 and 8 leave the same remainder, 0"),
                "the lesson's": ("layout = '(4,4):(1,5)'", "a step down moves 1 slot"),
                "the lesson's, by rows": ("layout = '(4,4):(5,1)'", "a step to the right moves 1 slot"),
                "odd, but shared": ("layout = '(4,4):(3,1)'", "(1,0) and (0,3) share slot 3"),
                "3 and 9": ("layout = '(4,4):(9,3)'", "share slot 9"),
                "a broadcast": ("layout = '(4,4):(0,1)'", "(0,0) and (1,0) share slot 0"),
                "too far apart": ("layout = '(4,4):(5,7)'", "lies in slot 36"),
                "backwards": ("layout = '(4,4):(-5,3)'", "slot -5"),
                "the padding as elements": ("layout = '(4,5):(5,3)'", "has shape (4,5)"),
                "bytes for elements": ("layout = '(4,4):(10,6)'", "Row 0 lies in slots 0, 6, 12, 18"),
                "a swizzle, which comes in chapter 05": ("layout = 'S<2,0,2> o 0 o (4,4):(4,1)'", "a plain layout"),
                "a tensor": ("layout = Tensor('(4,4):(5,3)', 1)", "is of type Tensor"),
                "the stride alone": ("layout = (5, 3)", "has shape 5"),
            },
            right={
                "3 and 5": "layout = '(4,4):(3,5)'",
                "7 and 3": "layout = '(4,4):(7,3)'",
            },
        ),
    )
}
