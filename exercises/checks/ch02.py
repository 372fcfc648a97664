"""Chapter 02, nested layouts."""

from random import Random

from exercises.engine.answers import as_layout
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_function, judge_layout, judge_number, judge_table
from exercises.engine.mistakes import STRIDE_OFF, recognise_layout
from exercises.engine.respond import fill_grid, number
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout, LayoutError, same_function
from layoutviz.int_tuple import leaf_values
from layoutviz.notation import format_tuple
from layoutviz.views.grid import grid

BY_HAND = Layout(((2, 2), 3), ((1, 6), 2))
INDEXED = Layout(((3, 2), (2, 2)), ((2, 12), (1, 6)))
ASKED = 9
TILED = Layout(((3, 2), (4, 2)), ((1, 24), (3, 12)))
MORTON = Layout(((2, 2, 2), (2, 2)), ((2, 8, 16), (1, 4)))
BROKEN = Layout(((2, 2, 2), (2, 2)), ((2, 4, 16), (1, 8)))
ROWS = Layout((8, 6), (6, 1))
MATRIX = Layout((12, 8), (8, 1))


def check_offsets_by_hand(offsets) -> Verdict:
    """The offsets of ((2,2),3):((1,6),2) in index order."""
    praise = "All 12 offsets are right: down a column the steps are 1, 5, 1, which no single stride makes."
    return judge_table("offsets", offsets, BY_HAND, praise, _by_hand_mistake)


def _by_hand_mistake(numbers: list[int]) -> Mistake | None:
    """How the two strides of mode 0 were misread."""
    if numbers == Layout(((2, 2), 3), ((6, 1), 2)).offsets().tolist():
        words = "These would be the offsets if the step inside a pair of rows moved 6, and the step from pair to pair 1."
        return Mistake("inner and outer swapped", words, "In `(1,6)`, which stride belongs to the number that changes at every row?")
    if numbers in [Layout((4, 3), (down, 2)).offsets().tolist() for down in (1, 6)]:
        words = "Each of your steps down moves as far as the one before. This mode has two strides."
        return Mistake("one stride for a mode", words, "Rows 1 and 2: are they in one pair of rows?")
    if numbers == [row + 2 * j for j in range(3) for row in (0, 1, 6, 12)]:
        words = "From row 2 to row 3 you move 6, as from row 0 to row 2."
        return Mistake("the outer stride twice", words, "Which of the two numbers of the row changes from row 2 to row 3?")
    if numbers == [i % 2 + 6 * i + 2 * j for j in range(3) for i in range(4)]:
        words = "You multiply the outer stride by the row. It belongs to the pair of rows."
        return Mistake("row for block", words, "Row 3 is in which pair of rows?")
    if numbers[:5] == [0, 1, 6, 7, 8]:
        words = "You went on counting after the end of column 0."
        return Mistake("counted on", words, "How far in memory is one step to the right? What does the stride of mode 1 say?")
    return None


def check_offset(offset) -> Verdict:
    """The offset at index 9 of ((3,2),(2,2)):((2,12),(1,6))."""
    right = INDEXED(ASKED)
    praise = "Index 9 is row 3 of column 1, ((0,1),(1,0)): 12 for the row and 1 for the column."
    return judge_number("offset", offset, right, praise, lambda: grid(INDEXED, color=_only(right)), _offset_mistake)


def _only(offset: int):
    """A colour for the cell at one offset, white for the others."""
    return lambda key: "#ffd9a0" if key == offset else "#ffffff"


def _offset_mistake(offset: int) -> Mistake | None:
    """What else was counted. Each row and column is a pair of numbers, the second one fastest where it is turned around."""
    row, column = ASKED % 6, ASKED // 6
    (rows, columns), turned = INDEXED.modes(), [(row // 2, row % 2), (column // 2, column % 2)]
    if offset == ASKED:
        hint = "Which coordinate has this index? How far does each of its numbers move?"
        return Mistake("index for offset", "That is the index itself.", hint)
    if offset in (rows(turned[0]) + columns(turned[1]), rows(turned[0]) + columns(column), rows(row) + columns(turned[1])):
        words = "That comes out if inside a mode the second number is counted fastest."
        return Mistake("last fastest inside a mode", words, "What is the row of `(1,0)` in a mode `(3,2)`, and what the row of `(0,1)`?")
    if offset == rows(ASKED // 4) + columns(ASKED % 4):
        words = "That comes out if the cells are counted along the rows."
        return Mistake("row by row", words, "In which direction does the index run, down a column or along a row?")
    if offset == INDEXED(tuple(_last_fastest(ASKED))):
        words = "That comes out if the last of the four numbers is counted fastest, as nested loops in Python do."
        return Mistake("last number fastest", words, "Which of the four numbers changes from index 0 to index 1?")
    if offset == row * 2 + column * 1:
        words = "That comes out if row and column are right, and each mode has one stride."
        return Mistake("one stride for a mode", words, "Which two numbers make up the row, and how far does each of them move?")
    if offset in (rows(row), columns(column)):
        words = "That comes out if only one of the two modes moves."
        return Mistake("one mode alone", words, "In which row and in which column does the cell lie?")
    if offset in INDEXED.offsets():
        words = f"At this offset lies index {INDEXED.offsets().tolist().index(offset)}."
        return Mistake("another cell", words, "Check by row and column: which are they, and how many cells has a column?")
    return None


def _last_fastest(index: int) -> list[tuple[int, int]]:
    """The coordinate in the shape ((3,2),(2,2)) that a count with the last number fastest gives an index."""
    numbers = []
    for extent in (2, 2, 2, 3):
        index, number = divmod(index, extent)
        numbers.insert(0, number)
    return [tuple(numbers[:2]), tuple(numbers[2:])]


def check_tiled(layout) -> Verdict:
    """6 by 8 in tiles of 3 by 4, columns inside, tiles along the rows."""
    praise = "Each tile is one piece of 12 slots; its columns follow each other in it, and so do the tiles of one row of tiles."
    return judge_layout("layout", layout, TILED, praise, _tiled_mistake)


def _tiled_mistake(answer) -> Mistake | None:
    """Which order the answer stores."""
    if isinstance(answer, Layout) and answer.shape == ((3, 4), (2, 2)):
        words = "Your mode 0 is a tile. Here mode 0 must count rows."
        return Mistake("by tile", words, "Which two of the four numbers say in which row an element is?")
    if not isinstance(answer, Layout) or answer.shape != TILED.shape:
        return None
    if answer.stride == ((4, 32), (1, 16)):
        words = "These are the strides of the lesson's tiles of 4 by 4."
        return Mistake("the lesson's strides", words, "How many elements has one tile here, and which of them lies in slot 1?")
    (i0, i1), (j0, j1) = answer.stride
    if (i0, j0) == (4, 1) and {i1, j1} == {12, 24}:
        words = "Inside a tile your elements lie row by row."
        return Mistake("rows inside a tile", words, "Which comes next in memory after element (0,0): the one below or the one beside it?")
    if (i0, j0, i1, j1) == (1, 3, 12, 24):
        words = "Your tiles follow each other down."
        return Mistake("tiles down", words, "Which tile comes second in memory, the one below the first or the one beside it?")
    if answer.stride in (((8, 24), (1, 4)), ((1, 3), (6, 24))):
        words = "That is the whole matrix row by row or column by column: a tile is not one piece of memory."
        return Mistake("not stored in tiles", words, "How many slots does one tile take? Where does the next one begin?")
    if (i0, j0) == (1, 3) and {i1, j1} & {1, 2, 3, 4, 6, 8}:
        words = "Inside a tile your strides are right. The tiles overlap."
        return Mistake("tiles overlap", words, "How many slots does one tile take?")
    return _leaf_off(answer, TILED.stride)


def _leaf_off(answer: Layout, strides) -> Mistake | None:
    """All strides right but for one leaf, which is off by one."""
    off = [abs(mine - right) for mine, right in zip(leaf_values(answer.stride), leaf_values(strides), strict=True)]
    if sorted(off)[-2:] != [0, 1]:
        return None
    words = "All strides but one are right, and that one is off by one."
    return Mistake("a stride off by one", words, "How many slots lie between the two positions, and how far is it from one to the other?")


def check_cut(cut) -> Verdict:
    """A matrix (M,N):(d,e) by tiles of a rows and c columns."""
    praise = "Each mode is split, the second stride goes on where the first leaf ends, and the leaves change places only in the writing."
    return judge_function("cut", cut, cut_in_tiles, _matrices, praise, slips=CUT_SLIPS)


def cut_in_tiles(matrix: Layout, a: int, c: int) -> Layout:
    """The tile as mode 0, the number of the tile as mode 1."""
    (M, N), (d, e) = matrix.shape, matrix.stride
    return Layout(((a, c), (M // a, N // c)), ((d, e), (a * d, c * e)))


def _matrices(random: Random) -> list[tuple[Layout, int, int]]:
    """Matrices with tiles of which all four extents differ, row-major or column-major, most padded, most without a stride of 1."""
    return [_matrix(random, by_rows=n % 2 == 0, step=1 + n % 3) for n in range(8)]


def _matrix(random: Random, by_rows: bool, step: int) -> tuple[Layout, int, int]:
    a, b, c, d = random.sample(range(2, 8), 4)
    pad = random.randrange(4)
    return Layout((a * b, c * d), (step * (c * d + pad), step) if by_rows else (step, step * (a * b + pad))), a, c


def check_morton(layout) -> Verdict:
    """Morton order of 8 by 4, right first."""
    praise = "The strides are 1, 2, 4, 8 and 16, in turn to the right and down, and at the last level down only."
    return judge_layout("layout", layout, MORTON, praise, _morton_mistake)


def _morton_mistake(answer) -> Mistake | None:
    """What of the mended layout is still not Morton order."""
    if not isinstance(answer, Layout) or answer.shape != MORTON.shape:
        return None
    if answer.stride == BROKEN.stride:
        words = "That is the layout as it was given."
        hint = "A tile of 2 by 2 fills slots 0 to 3. In which tile is slot 4, and in which if right comes first?"
        return Mistake("not mended", words, hint)
    if answer.stride == ((1, 4, 16), (2, 8)):
        words = "It is Morton order, but at each level the step down comes first."
        return Mistake("down first", words, "Which cell was in slot 1 of the given layout?")
    if sorted(leaf_values(answer.stride)) == [1, 2, 4, 8, 16]:
        words = "The five strides are those of Morton order, but not each in its place."
        return Mistake("another order", words, "Which tile comes next at each level: the one below or the one beside?")
    return _leaf_off(answer, MORTON.stride)


def check_another_form(layout) -> Verdict:
    """The function of (8,6):(6,1), with both modes nested."""
    praise = "In each mode the second stride goes on where the first leaf ends, so it is the same function."
    verdict = judge_layout("layout", layout, ROWS, praise, _form_mistake, shape_counts=False)
    if not verdict.ok:
        return verdict
    fault = _form_fault(as_layout("layout", layout))
    return Verdict(State.RIGHT_NOT_FORM, f"Every index has the right offset, but {fault}.", verdict.scene) if fault else verdict


def _form_fault(answer) -> str:
    """Which condition on the form does not hold, or nothing."""
    sizes = [mode.size for mode in Layout(answer.shape)]
    if not isinstance(answer, Layout):
        return f"`layout` is of type {type(answer).__name__}; wanted is a plain layout"
    if len(sizes) != 2:
        return f"it has {len(sizes)} mode{'s' * (len(sizes) > 1)}, and a matrix has two"
    if sizes != [8, 6]:
        return f"its modes have {sizes[0]} and {sizes[1]} elements, so `(i,j)` no longer names the same cell"
    if flat := [str(m) for m, mode in enumerate(answer) if mode.depth == 0]:
        return f"there are no modes inside mode {' and mode '.join(flat)}"
    if whole := [str(m) for m, mode in enumerate(answer) if len(leaf_values(mode.shape)) < 2]:
        return f"there is one leaf alone in mode {' and mode '.join(whole)}, so that nothing is split"
    return "a leaf of extent 1 splits nothing" if 1 in leaf_values(answer.shape) else ""


def _form_mistake(answer) -> Mistake | None:
    """How the strides of a right shape fail to go on."""
    if not isinstance(answer, Layout) or answer.rank != 2 or [mode.size for mode in answer] != [8, 6]:
        return None
    if answer == Layout(answer.shape):
        words = "That is column-major. Given is a row-major layout."
        return Mistake("column-major", words, "How far is one step down in the given layout, and how far one to the right?")
    for m, (mode, given) in enumerate(zip(answer, ROWS, strict=True)):
        steps = mode.offsets().tolist()
        if steps != given.offsets().tolist() and sorted(steps) == given.offsets().tolist():
            words = f"Mode {m} reaches the right slots, but not in the right order."
            return Mistake("leaves swapped", words, "Which leaf of a mode changes at every step? Which stride does it need?")
    found = recognise_layout(answer, ROWS)  # a step of nested strides says nothing of one stride
    return found if found not in (None, STRIDE_OFF) else _steps_mistake(answer, ROWS)


def _steps_mistake(answer: Layout, given: Layout) -> Mistake | None:
    """The first mode that has such a fault."""
    return next(filter(None, map(_step_mistake, range(answer.rank), answer, given)), None)


def _step_mistake(m: int, mode: Layout, given: Layout) -> Mistake | None:
    """Where the leaves of a mode do not go on as the mode that is given does."""
    (first, *rest), step = mode.leaves, given.stride
    if first[1] != step:
        words = f"The first leaf of mode {m} makes a step that the given mode does not make."
        return Mistake("another first step", words, f"How far is one step along mode {m} in the given layout?")
    end = first[0] * step
    for extent, stride in rest:
        if stride != end:
            words = f"In mode {m} a leaf does not begin where the one before it ends."
            hint = "The first leaf makes `a - 1` steps of `d`. What would its next step reach, and what does your second leaf step?"
            return Mistake("leaves do not go on", words, hint)
        end *= extent
    return None


NAMES = {
    "first": [((m, k), 8 * m + k) for m in range(12) for k in range(8)],
    "second": [(((r, t), k), 8 * (r + 3 * t) + k) for r in range(3) for t in range(4) for k in range(8)],
    "third": [(((r, (s, u)), k), 8 * (r + 3 * (s + 2 * u)) + k) for r in range(3) for s in range(2) for u in range(2) for k in range(8)],
}  # by which kernel: (the name of a cell, its offset)


def check_three_names(layout) -> Verdict:
    """(12,8) row-major, in a shape that (12,8), ((3,4),8) and ((3,(2,2)),8) are compatible with."""
    praise = "`(12,8)` is compatible with `((3,4),8)`, and that with your shape. So each kernel finds its cells."
    verdict = judge_layout("layout", layout, MATRIX, praise, _names_mistake, shape_counts=False)
    if not verdict.ok:
        return verdict
    return _name_fault(as_layout("layout", layout), verdict.scene) or verdict


def _name_fault(answer, scene) -> Verdict | None:
    """Of the first kernel that does not find a cell by its name. A name that leads to another element is no matter of form."""
    for kernel, cells in NAMES.items():
        for name, offset in cells:
            asks = f"the {kernel} kernel asks for {format_tuple(name)}"
            try:
                found = answer(name)
            except LayoutError as error:
                return Verdict(State.RIGHT_NOT_FORM, f"Every index has the right offset, but {asks}: {error}.", scene)
            if found != offset:
                words = f"By index every offset is right, but {asks} and is sent to slot {found}, where another element lies."
                hint = "Which row does the kernel mean by that name, and which row does your shape call so?"
                return Verdict(State.WRONG, words, scene, Mistake("other parts", words, hint))
    return None


def _names_mistake(answer) -> Mistake | None:
    """A shape that fits, with strides that are those of another order or do not go on."""
    if not isinstance(answer, Layout) or answer.rank != 2 or [mode.size for mode in answer] != [12, 8]:
        return None
    if answer == Layout(answer.shape):
        words = "That is column-major: a shape alone gets the strides that make offset equal index."
        return Mistake("column-major", words, "How far is one step down in a row-major matrix of 8 columns?")
    found = recognise_layout(answer, MATRIX)  # a step of nested strides says nothing of one stride
    return found if found not in (None, STRIDE_OFF) else _steps_mistake(answer, MATRIX)


def stored_B(N: int, K: int) -> Layout:
    """B (N,K) in tiles of 8 by 4, row by row inside, the tiles one below the other."""
    return Layout(((8, N // 8), (4, K // 4)), ((4, 32), (1, 4 * N)))


def check_B_layout(B_layout) -> Verdict:
    """By law; then the lesson's kernel runs through it."""
    praise = "Each element is found in its tile."
    verdict = judge_function("B_layout", B_layout, stored_B, _some_sizes, praise, slips=B_LAYOUT_SLIPS)
    return _run_through(B_layout, verdict) if verdict.ok else verdict


def _some_sizes(random: Random) -> list[tuple[int, int]]:
    """Different N and K with 2 tiles or more along each, and one pair as large as real ones."""
    small = [(8 * n, 4 * k) for n, k in (random.sample((2, 3, 5, 6, 7), 2) for _ in range(6))]
    return [*small, (8 * random.randrange(20, 60), 4 * random.randrange(100, 200))]


def _run_through(B_layout, law: Verdict) -> Verdict:
    """The verdict on the naive GEMM, whose B is read through `B_layout`; with the words and the picture of the law."""
    from exercises.engine.kernel import judge_gemm, learners_code
    from ladder.naive import TILE, naive_gemm

    def layouts(M: int, N: int, K: int) -> tuple[Layout, Layout]:
        with learners_code():
            B = as_layout("B_layout", B_layout(N, K))
        if not isinstance(B, Layout):
            raise BadAnswer(f"`B_layout({N}, {K})` is of type {type(B).__name__}. The kernel takes a plain layout.")
        if B.shape != stored_B(N, K).shape or not same_function(B, stored_B(N, K)):
            raise BadAnswer(f"`B_layout({N}, {K})` is {B}, and that does not read the buffer as it was stored.")
        return Layout((M, K), (K, 1)), B

    # B's tiles have 8 rows and 4 columns
    return judge_gemm("naive_gemm", naive_gemm, tile=(TILE, TILE, TILE), layouts=layouts, multiples=(1, 8, 4), law=law)


# --- mistakes of one exercise


def _cut(make):
    """A slip of 02.4: make(a, b, c, f, d, e) gives shape and stride; b and f are the numbers of tiles down and to the right."""

    def slip(matrix, a, c):
        (M, N), (d, e) = matrix.shape, matrix.stride
        return Layout(*make(a, M // a, c, N // c, d, e))

    return slip


STRIDES_SWAPPED = Mistake(
    "row and column strides swapped", "Your row steps by the column's stride.",
    "Which of the two strides of the given matrix is the step down?",
)  # fmt: skip
CUT_SLIPS = (
    (_cut(lambda a, b, c, f, d, e: (((b, f), (a, c)), ((a * d, c * e), (d, e)))), Mistake(
        "number of the tile first", "Your mode 0 counts the tiles, and mode 1 the positions in a tile.",
        "In section 3, which of the two came first?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((c, a), (f, b)), ((e, d), (c * e, a * d)))), Mistake(
        "columns before rows", "Inside each mode your column number stands before the row number.",
        "Which number comes first in the coordinate of a cell?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((a, b), (c, f)), ((d, a * d), (e, c * e)))), Mistake(
        "not regrouped", "Your two modes still count rows and columns, each in its tile and by tiles.",
        "Which two of the four numbers say where in the tile a cell is?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)), ((d, a * d), (e, c * e)))), Mistake(
        "shape alone", "It regroups the shape and leaves the strides where they were.",
        "How far is one step of `c` in the given matrix? Which stride stands at its position in yours?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)), ((d, e), (d, e)))), Mistake(
        "tiles overlap", "Your step to the next tile is as long as the step to the next cell: the tiles overlap.",
        "How many rows lie between the top of a tile and the top of the tile below it?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)), ((d, e), (a, c)))), Mistake(
        "tile strides without the step", "Your steps to the next tile are `a` and `c` slots.", "How far in memory are `a` rows?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)), ((e, d), (a * e, c * d)))), STRIDES_SWAPPED),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)), ((e, d), (c * e, a * d)))), STRIDES_SWAPPED),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)), ((d, e), (b * d, f * e)))), Mistake(
        "number of tiles for extent", "Your step to the next tile passes as many cells as there are tiles.",
        "How many rows has one tile?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((b, f), (a, c)), ((d, e), (b * d, f * e)))), Mistake(
        "number of tiles for extent", "Your tiles are cut so that there are `a` of them below each other. Wanted are tiles of `a` rows.",
        "How many rows has one tile, and how many tiles stand below each other?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)),)), Mistake(
        "a copy", "Its strides are made from the shape alone, as if the elements were copied into new slots.",
        "Where in memory does position (0,1) of tile (0,0) lie, if nothing moved?",
    )),
    (_cut(lambda a, b, c, f, d, e: (((a, c), (b, f)), ((c, 1), (a * c * f, a * c)))), Mistake(
        "a copy", "Its strides store each tile as one piece, as if the elements were copied into new slots.",
        "Where in memory does position (0,1) of tile (0,0) lie, if nothing moved?",
    )),
)  # fmt: skip
BY_TILE = Mistake(
    "by tile", "Your mode 0 is a tile. Here mode 0 must count rows.", "Which two of the four numbers does the kernel's `n` stand for?",
)  # fmt: skip
B_LAYOUT_SLIPS = (
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 8 * K), (1, 32))), Mistake(
        "tiles along the rows", "Your tiles follow each other to the right.",
        "Which tile did your colleague store second: the one below the first, or the one beside it?",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((1, 32), (8, 4 * N))), Mistake(
        "columns inside a tile", "Inside a tile your elements lie column by column.",
        "Which element did your colleague store in slot 1?",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((K, 8 * K), (1, 4))), Mistake(
        "not stored in tiles", "It reads the buffer as if all of `B` lay row by row.",
        "How many slots does a tile take, and is each tile one piece?",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 32), (1, 4 * K))), Mistake(
        "K for N", "From one column of tiles to the next you move by a number that depends on `K`.",
        "How many tiles stand below each other? How many slots do they take together?",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 8), (1, 4 * N))), Mistake(
        "tiles overlap", "The tiles that stand below each other overlap.", "How many slots has one tile?",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 32), (1, 32 * N))), Mistake(
        "rows for tiles", "From one column of tiles to the next you move as if `N` tiles stood below each other.",
        "How many tiles stand below each other? That is not `N`.",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 32), (1, 32 * K))), Mistake(
        "columns for tiles", "From one column of tiles to the next you move as if `K` tiles stood below each other.",
        "How many tiles stand below each other? That is not `K`.",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 32), (1, 32))), Mistake(
        "tiles on one another", "The tile below the first and the tile beside it begin in the same slot.",
        "How many tiles lie between the first tile and the one beside it?",
    )),
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 4 * N), (1, 32))), Mistake(
        "tile strides swapped", "The step of 32 slots, one tile, leads to the right.", "Which way do the tiles follow each other?",
    )),
    (lambda N, K: Layout(((8, 4), (N // 8, K // 4)), ((4, 1), (32, 4 * N))), BY_TILE),
    (lambda N, K: Layout(((8, 4), (N // 8, K // 4)), ((4, 1), (8 * K, 32))), BY_TILE),
    (lambda N, K: Layout(((8, 4), (N // 8, K // 4))), BY_TILE),
    (lambda N, K: Layout((N, K), (K, 1)), Mistake(
        "no tiles", "That is `B` row by row, without tiles.", "Into which two numbers does a row split, if a tile has 8 of them?",
    )),
    (lambda N, K: Layout(((N // 8, 8), (K // 4, 4)), ((32, 4), (4 * N, 1))), Mistake(
        "tile and position swapped", "In each mode the number of the tile stands before the position in it.",
        "Which of the two changes when `n` grows from 0 to 1?",
    )),
)  # fmt: skip


def _cut_source(layout: str) -> str:
    """The source of an answer to 02.4 that gives Layout(`layout`)."""
    return f"def cut(matrix, a, c):\n    (M, N), (d, e) = matrix.shape, matrix.stride\n    return Layout({layout})"


def _B(strides: str) -> str:
    """The source of an answer to 02.7 with these strides."""
    return f"def B_layout(N, K):\n    return Layout(((8, N // 8), (4, K // 4)), ({strides}))"


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="02.1",
            title="Nested offsets by hand",
            stars=1,
            answers=("offsets",),
            check=check_offsets_by_hand,
            respond=fill_grid("offsets", 4, 3),
            hints=(
                "Mode 0 is `(2,2)`. Which rows are in the first pair, and which in the second?",
                "How far is it from row 0 to row 1? And from row 0 to row 2?",
                "What is added from one column to the next?",
            ),
            why="The row is i0 + 2·i1, and the offset 1·i0 + 6·i1 + 2·j: rows begin at 0, 1, 6 and 7.",
            also="offsets = [row + 2 * j for j in range(3) for row in (0, 1, 6, 7)]",
            wrong={
                "the starter": ("offsets = ...", "still holds"),
                "the constant": ("offsets = [0] * 12", "same offset"),
                "the transposed": ("offsets = [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]", "from pair to pair 1"),
                "the off-by-one": ("offsets = [1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12]", "off by the same amount"),
                "index for offset": ("offsets = list(range(12))", "count 0, 1, 2"),
                "one stride": ("offsets = [i + 2 * j for j in range(3) for i in range(4)]", "as far as the one before"),
                "the other stride": ("offsets = [6 * i + 2 * j for j in range(3) for i in range(4)]", "as far as the one before"),
                "row for block": ("offsets = [i % 2 + 6 * i + 2 * j for j in range(3) for i in range(4)]", "belongs to the pair of rows"),
                "the outer stride twice": ("offsets = [0, 1, 6, 12, 2, 3, 8, 14, 4, 5, 10, 16]", "From row 2 to row 3 you move 6"),
                "another form, rows": ("offsets = [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]", "row by row"),
                "along the rows": ("offsets = [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]", "along the rows"),
                "bytes for elements": ("offsets = [0, 2, 12, 14, 4, 6, 16, 18, 8, 10, 20, 22]", "bytes"),
                "counted on": ("offsets = [8 * j + row for j in range(3) for row in (0, 1, 6, 7)]", "went on counting"),
                "the last one wrong": ("offsets = [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 12]", "Index 11 is coordinate ((1,1),2)"),
            },
            right={
                "a tuple": "offsets = (0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11)",
                "an array": "import numpy\noffsets = numpy.array([[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]).T.ravel()",
                "by the library": "offsets = Layout('((2,2),3):((1,6),2)').offsets()",
            },
        ),
        Exercise(
            id="02.2",
            title="From index to offset",
            stars=1,
            answers=("offset",),
            check=check_offset,
            respond=number("offset"),
            hints=(
                "How many cells are in one column? So in which row and which column has index 9 its cell?",
                "Which two numbers make up that row in a mode `(3,2)`? Count: (0,0), (1,0), (2,0), (0,1), ...",
                "How far does each of the four numbers move?",
            ),
            why="A column has 6 cells, so index 9 is row 3, (0,1), of column 1, (1,0): 0·2 + 1·12 + 1·1 + 0·6 = 13.",
            also="offset = 3 // 3 * 12 + 1",
            wrong={
                "the starter": ("offset = ...", "Line 2 of the cell"),
                "the constant": ("offset = 0", "At this offset lies index 0"),
                "the transposed": ("offset = 2 * 2 + 1", "along the rows"),
                "the off-by-one": ("offset = 14", "At this offset lies index 4"),
                "the index": ("offset = 9", "the index itself"),
                "last number fastest": ("offset = 1 * 2 + 1 * 6", "as nested loops in Python"),
                "last fastest inside a mode": ("offset = 2 + 12 + 6", "second number is counted fastest"),
                "last fastest inside the rows": ("offset = 2 + 12 + 1", "second number is counted fastest"),
                "last fastest inside the columns": ("offset = 12 + 6", "second number is counted fastest"),
                "one stride for a mode": ("offset = 3 * 2 + 1", "each mode has one stride"),
                "row alone": ("offset = 12", "only one of the two modes"),
                "the coordinate": ("offset = ((0, 1), (1, 0))", "type tuple"),
            },
            right={
                "the number": "offset = 13",
                "text": "offset = '13'",
                "by the library": "offset = Layout('((3,2),(2,2)):((2,12),(1,6))')(9)",
            },
        ),
        Exercise(
            id="02.3",
            title="Store it in tiles",
            stars=2,
            answers=("layout",),
            check=check_tiled,
            hints=(
                "Which leaf does memory count first: the row in the tile, the column in the tile, or a number of the tile?",
                "How many slots does one tile take? Where does the tile to the right of the first begin?",
                "How many tiles stand in one row of tiles? Where does the tile below the first begin?",
            ),
            why="Memory counts i0 (3), j0 (4), j1 (2), i1 (2): strides 1, 3, 3·4 = 12 and 3·4·2 = 24.",
            also='layout = "((3,2),(4,2)):((1,24),(3,12))"',
            wrong={
                "the starter": ("layout = Layout(((3, 2), (4, 2)), ((..., ...), (..., ...)))", "Line 2 of the cell"),
                "the constant": ("layout = '((3,2),(4,2)):((0,0),(0,0))'", "same offset"),
                "the transposed": ("layout = '((4,2),(3,2)):((3,12),(1,24))'", "modes are swapped"),
                "the off-by-one": ("layout = '((3,2),(4,2)):((1,25),(3,12))'", "off by one"),
                "rows inside a tile": ("layout = '((3,2),(4,2)):((4,24),(1,12))'", "Inside a tile your elements lie row by row"),
                "tiles down": ("layout = '((3,2),(4,2)):((1,12),(3,24))'", "follow each other down"),
                "column-major": ("layout = Layout(((3, 2), (4, 2)))", "not one piece of memory"),
                "row-major": ("layout = '((3,2),(4,2)):((8,24),(1,4))'", "not one piece of memory"),
                "tiles overlap": ("layout = '((3,2),(4,2)):((1,6),(3,12))'", "The tiles overlap"),
                "by tile": ("layout = '((3,4),(2,2)):((1,3),(24,12))'", "Here mode 0 must count rows"),
                "the lesson's strides": ("layout = '((3,2),(4,2)):((4,32),(1,16))'", "the lesson's tiles of 4 by 4"),
                "tile and position swapped": ("layout = '((2,3),(2,4)):((24,1),(12,3))'", "tile and rest are swapped"),
                "bytes for elements": ("layout = '((3,2),(4,2)):((2,48),(6,24))'", "bytes"),
                "another form": ("layout = '((3,2),((2,2),2)):((1,24),((3,6),12))'", "has shape ((3,2),((2,2),2))"),
            },
            right={
                "a pair": "layout = (((3, 2), (4, 2)), ((1, 24), (3, 12)))",
                "lists": "layout = [[[3, 2], [4, 2]], [[1, 24], [3, 12]]]",
                "products": "layout = Layout(((3, 2), (4, 2)), ((1, 3 * 4 * 2), (3, 3 * 4)))",
            },
        ),
        Exercise(
            id="02.4",
            title="Cut it into tiles",
            stars=2,
            answers=("cut",),
            check=check_cut,
            hints=(
                "A row is `i0 + a*i1`. How far does `i0` move, and how far `i1`? The same for the columns?",
                "Which two of the four numbers say the position in the tile? Which extents and strides belong to them?",
                "For the 8 by 8 matrix of section 3 and a = c = 4: what did each of the four strides become?",
            ),
            why="M:d splits into (a, M/a):(d, a·d) and N:e into (c, N/c):(e, c·e); the first leaves make mode 0, the second ones mode 1.",
            also="def cut(matrix, a, c):\n    rows, columns = matrix\n    down, right = rows.stride, columns.stride\n"
            "    return Layout(((a, c), (rows.size // a, columns.size // c)), ((down, right), (a * down, c * right)))",
            wrong={
                "the starter": ("def cut(matrix, a, c):\n    return ...", "Line 3 of the cell"),
                "the constant": ("def cut(matrix, a, c):\n    return '((4,4),(2,2)):((8,1),(32,4))'", "the same layout whatever"),
                "the transposed": (_cut_source("((c, a), (N // c, M // a)), ((e, d), (c * e, a * d))"), "column number stands before"),
                "the off-by-one": (_cut_source("((a, c), (M // a, N // c)), ((d, e), (a * d, c * e + 1))"), "At coordinate ((0,0),(0,1))"),
                "its input": ("def cut(matrix, a, c):\n    return matrix", "gives its input back"),
                "number of the tile first": (
                    _cut_source("((M // a, N // c), (a, c)), ((a * d, c * e), (d, e))"),
                    "Your mode 0 counts the tiles",
                ),
                "not regrouped": (_cut_source("((a, M // a), (c, N // c)), ((d, a * d), (e, c * e))"), "still count rows and columns"),
                "shape alone": (_cut_source("((a, c), (M // a, N // c)), ((d, a * d), (e, c * e))"), "leaves the strides"),
                "tiles overlap": (_cut_source("((a, c), (M // a, N // c)), ((d, e), (d, e))"), "the tiles overlap"),
                "tile strides without the step": (
                    _cut_source("((a, c), (M // a, N // c)), ((d, e), (a, c))"),
                    "to the next tile are `a` and `c` slots",
                ),
                "strides swapped": (_cut_source("((a, c), (M // a, N // c)), ((e, d), (a * e, c * d))"), "by the column's stride"),
                "strides turned around": (_cut_source("((a, c), (M // a, N // c)), ((e, d), (c * e, a * d))"), "by the column's stride"),
                "number of tiles for extent": (
                    _cut_source("((a, c), (M // a, N // c)), ((d, e), (M // a * d, N // c * e))"),
                    "as many cells as there are tiles",
                ),
                "a by c tiles": (
                    _cut_source("((M // a, N // c), (a, c)), ((d, e), (M // a * d, N // c * e))"),
                    "`a` of them below each other",
                ),
                "strides of the shape": (_cut_source("((a, c), (M // a, N // c))"), "as if the elements were copied"),
                "a step of 1 along the rows": (
                    _cut_source("((a, c), (M // a, N // c)), ((d, 1), (a * d, c)) if e < d else ((1, e), (a, c * e))"),
                    "that is not where this element belongs",
                ),
                "stored by tile": (
                    _cut_source("((a, c), (M // a, N // c)), ((c, 1), (a * N, a * c))"),
                    "as if the elements were copied",
                ),
                "another form, flat": (_cut_source("(a, c, M // a, N // c), (d, e, a * d, c * e)"), "number of modes"),
                "nothing": ("def cut(matrix, a, c):\n    matrix.shape", "gives None"),
                "one layout": ("cut = Layout(((4, 4), (2, 2)), ((8, 1), (32, 4)))", "wanted is a function"),
            },
            right={
                "a pair": _cut_source("((a, c), (M // a, N // c)), ((d, e), (a * d, c * e))").replace("Layout", ""),
                "the library": "def cut(matrix, a, c):\n    return zipped_divide(matrix, (a, c))",
            },
        ),
        Exercise(
            id="02.5",
            title="Mend a Morton order",
            stars=2,
            answers=("layout",),
            check=check_morton,
            hints=(
                "Draw the given one and follow slots 0, 1, 2, ... with your eye. After which slot does it leave Morton order?",
                "A tile of 2 by 2 fills slots 0 to 3. Which tile comes next, if right comes first? Which one after that?",
                "How many slots does one tile of 2 by 2 fill, and how many do two side by side? Which steps are these?",
            ),
            why="From tile to tile right comes first: j1 moves 4, over one tile, and i1, the step down to the next tile, 8, over two.",
            also='layout = "((2,2,2),(2,2)):((2,8,16),(1,4))"',
            wrong={
                "the starter": ("layout = Layout(((2, 2, 2), (2, 2)), ...)", "Line 2 of the cell"),
                "the constant": ("layout = '((2,2,2),(2,2)):((0,0,0),(0,0))'", "same offset"),
                "the transposed": ("layout = '((2,2),(2,2,2)):((1,4),(2,8,16))'", "modes are swapped"),
                "the off-by-one": ("layout = '((2,2,2),(2,2)):((2,7,16),(1,4))'", "off by one"),
                "as it was": ("layout = '((2,2,2),(2,2)):((2,4,16),(1,8))'", "as it was given"),
                "out of the tile first": ("layout = '((2,2,2),(2,2)):((2,16,8),(1,4))'", "not each in its place"),
                "down first": ("layout = '((2,2,2),(2,2)):((1,4,16),(2,8))'", "at each level the step down comes first"),
                "row-major": ("layout = '((2,2,2),(2,2)):((4,8,16),(1,2))'", "not each in its place"),
                "flat": ("layout = Layout((8, 4))", "has shape (8,4)"),
                "bytes for elements": ("layout = '((2,2,2),(2,2)):((4,16,32),(2,8))'", "bytes"),
                "another form": ("layout = '((2,4),(2,2)):((2,8),(1,4))'", "has shape ((2,4),(2,2))"),
            },
            right={
                "a pair": "layout = (((2, 2, 2), (2, 2)), ((2, 8, 16), (1, 4)))",
                "powers": "layout = Layout(((2, 2, 2), (2, 2)), ((2**1, 2**3, 2**4), (2**0, 2**2)))",
            },
        ),
        Exercise(
            id="02.6",
            title="The same function, written in another way",
            stars=2,
            answers=("layout",),
            check=check_another_form,
            hints=(
                "Into which two numbers can 8 be split? And 6?",
                "8 rows as 4 pairs of rows: how far is it from row 0 to row 1, and how far from pair to pair?",
                "Section 7 has a rule for splitting `s:d` into `(a,b)`. Which stride has the second leaf?",
            ),
            why="8:6 splits into (2,4):(6,12) and 6:1 into (2,3):(1,2): the second stride is the first one times the first extent.",
            also="layout = Layout(((4, 2), (3, 2)), ((6, 24), (1, 3)))",
            wrong={
                "the starter": ("layout = Layout(..., ...)", "Line 2 of the cell"),
                "the constant": ("layout = '((2,4),(2,3)):((0,0),(0,0))'", "same offset"),
                "the transposed": ("layout = '((2,3),(2,4)):((1,2),(6,12))'", "modes are swapped"),
                "the off-by-one": ("layout = '((2,4),(2,3)):((6,13),(1,2))'", "In mode 0 a leaf does not begin where"),
                "number of pairs for extent": ("layout = '((2,4),(2,3)):((6,24),(1,3))'", "In mode 0 a leaf does not begin where"),
                "other extents, same strides": ("layout = '((4,2),(2,3)):((6,12),(1,2))'", "In mode 0 a leaf does not begin where"),
                "only in mode 1": ("layout = '((2,4),(3,2)):((6,12),(1,2))'", "In mode 1 a leaf does not begin where"),
                "strides turned around": ("layout = '((2,4),(2,3)):((12,6),(2,1))'", "first leaf of mode 0 makes a step"),
                "column-major": ("layout = Layout(((2, 4), (2, 3)))", "That is column-major"),
                "leaves swapped": ("layout = '((2,4),(2,3)):((24,6),(1,2))'", "Mode 0 reaches the right slots, but not in the right order"),
                "leaves of mode 1 swapped": ("layout = '((2,4),(2,3)):((6,12),(3,1))'", "Mode 1 reaches the right slots"),
                "another form, as it was": ("layout = '(8,6):(6,1)'", "no modes inside mode 0 and mode 1"),
                "another form, nothing split": ("layout = Layout(((8,), (6,)), ((6,), (1,)))", "one leaf alone in mode 0 and mode 1"),
                "another form, one mode split": ("layout = Layout(((8,), (2, 3)), ((6,), (1, 2)))", "one leaf alone in mode 0, so"),
                "another form, one mode nested": ("layout = '((2,4),6):((6,12),1)'", "no modes inside mode 1"),
                "another form, four modes": ("layout = '(2,4,2,3):(6,12,1,2)'", "it has 4 modes"),
                "another form, extent 1": ("layout = '((8,1),(6,1)):((6,0),(1,0))'", "extent 1 splits nothing"),
                "another form, other sizes": ("layout = '((2,2),(2,6)):((6,12),(24,1))'", "no longer names the same cell"),
            },
            right={
                "notation": "layout = '((2,4),(2,3)):((6,12),(1,2))'",
                "other extents": "layout = '((4,2),(2,3)):((6,24),(1,2))'",
                "deeper": "layout = '((2,(2,2)),(3,2)):((6,(12,24)),(1,3))'",
                "three leaves": "layout = (((2, 2, 2), (3, 2)), ((6, 12, 24), (1, 3)))",
            },
        ),
        Exercise(
            id="02.7",
            title="B was stored in tiles",
            stars=3,
            answers=("B_layout",),
            check=check_B_layout,
            limit=120,
            hints=(
                "Into which two numbers do you split the row, and into which two the column?",
                "Inside a tile: which leaf has stride 1, and how many slots has one row of a tile?",
                "How many slots does one tile take? Which leaf moves by that?",
                "How many tiles stand below each other, and how many slots do they take together?",
            ),
            why="A tile has 32 slots and a column of tiles N/8 of them, which is 4·N slots: memory counts k0, n0, n1, k1.",
            also="def B_layout(N, K):\n    tile = 8 * 4\n    return Layout(((8, N // 8), (4, K // 4)), ((4, tile), (1, tile * (N // 8))))",
            wrong={
                "the starter": ("def B_layout(N, K):\n    return ...", "Line 3 of the cell"),
                "the constant": ("def B_layout(N, K):\n    return '((8,2),(4,3)):((4,32),(1,64))'", "the same layout whatever"),
                "the transposed": (
                    "def B_layout(N, K):\n    return Layout(((4, K // 4), (8, N // 8)), ((1, 4 * N), (4, 32)))",
                    "modes are swapped",
                ),
                "the off-by-one": (_B("(4, 32), (1, 4 * N + 1)"), "At coordinate ((0,0),(0,1))"),
                "tiles along the rows": (_B("(4, 8 * K), (1, 32)"), "follow each other to the right"),
                "columns inside a tile": (_B("(1, 32), (8, 4 * N)"), "column by column"),
                "not stored in tiles": (_B("(K, 8 * K), (1, 4)"), "as if all of `B` lay row by row"),
                "K for N": (_B("(4, 32), (1, 4 * K)"), "depends on `K`"),
                "tiles overlap": (_B("(4, 8), (1, 4 * N)"), "stand below each other overlap"),
                "rows for tiles": (_B("(4, 32), (1, 32 * N)"), "as if `N` tiles stood"),
                "columns for tiles": (_B("(4, 32), (1, 32 * K)"), "as if `K` tiles stood"),
                "tiles on one another": (_B("(4, 32), (1, 32)"), "begin in the same slot"),
                "no tiles": ("def B_layout(N, K):\n    return Layout((N, K), (K, 1))", "without tiles"),
                "tile and position swapped": (
                    "def B_layout(N, K):\n    return Layout(((N // 8, 8), (K // 4, 4)), ((32, 4), (4 * N, 1)))",
                    "stands before the position in it",
                ),
                "tile strides swapped": (_B("(4, 4 * N), (1, 32)"), "leads to the right"),
                "by tile": ("def B_layout(N, K):\n    return Layout(((8, 4), (N // 8, K // 4)), ((4, 1), (32, 4 * N)))", "must count rows"),
                "by tile, no strides": ("def B_layout(N, K):\n    return Layout(((8, 4), (N // 8, K // 4)))", "must count rows"),
                "bytes for elements": (_B("(8, 64), (2, 8 * N)"), "bytes"),
                "one layout": ("B_layout = Layout(((8, 2), (4, 3)), ((4, 32), (1, 64)))", "wanted is a function"),
            },
            right={
                "a pair": _B("(4, 32), (1, 4 * N)").replace("Layout(((8", "(((8"),
                "notation": "def B_layout(N, K):\n    return f'((8,{N // 8}),(4,{K // 4})):((4,32),(1,{4 * N}))'",
            },
        ),
        Exercise(
            id="02.8",
            title="One layout for three kernels",
            stars=2,
            answers=("layout",),
            check=check_three_names,
            hints=(
                "How do the parentheses of the third name stand? Can the shape have the same?",
                "Which shape of two modes is `(12,8)` compatible with, if its first mode takes `(r, t)`? And if `t` is split once more?",
                "Row-major: how far is one row down? And so how far do `r`, `s` and `u` move?",
            ),
            why="(12,8) is compatible with ((3,4),8), and that with ((3,(2,2)),8). A row is 8 slots, so r moves 8, s 3·8 and u 2·3·8.",
            also='layout = "((3,(2,2)),(2,4)):((8,(24,48)),(1,2))"',
            wrong={
                "the starter": ("layout = ...", "still holds"),
                "the constant": ("layout = '((3,(2,2)),8):((0,(0,0)),0)'", "same offset"),
                "the transposed": ("layout = '(8,(3,(2,2))):(1,(8,(24,48)))'", "modes are swapped"),
                "the off-by-one": ("layout = '((3,(2,2)),8):((8,(24,49)),1)'", "In mode 0 a leaf does not begin where"),
                "column-major": ("layout = Layout(((3, (2, 2)), 8))", "That is column-major"),
                "strides of the extents": ("layout = '((3,(2,2)),8):((8,(16,32)),1)'", "In mode 0 a leaf does not begin where"),
                "last first": ("layout = '((3,(2,2)),8):((32,(16,8)),1)'", "does not make"),
                "another form, flat": ("layout = '(12,8):(8,1)'", "the second kernel asks for ((0,0),0)"),
                "another form, for two": ("layout = '((3,4),8):((8,24),1)'", "the third kernel asks for ((0,(0,0)),0)"),
                "another form, side by side": ("layout = '((3,2,2),8):((8,24,48),1)'", "the second kernel asks for ((0,0),0)"),
                "other parts": ("layout = '((4,3),8):((8,32),1)'", "asks for ((0,1),0) and is sent to slot 32"),
                "other parts inside": ("layout = '((2,(2,3)),8):((8,(16,32)),1)'", "asks for ((0,1),0) and is sent to slot 16"),
                "another form, no matrix": ("layout = '(3,(2,2),8):(8,(24,48),1)'", "the first kernel asks for (0,0)"),
            },
            right={
                "notation": "layout = '((3,(2,2)),8):((8,(24,48)),1)'",
                "a pair": "layout = (((3, (2, 2)), 8), ((8, (24, 48)), 1))",
                "columns split too": "layout = Layout(((3, (2, 2)), (4, 2)), ((8, (24, 48)), (1, 4)))",
            },
        ),
    )
}
