"""Chapter 02, nested layouts."""

from dataclasses import replace
from random import Random

from exercises.engine.answers import as_layout
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_function, judge_layout, judge_number, judge_table, random_layout
from exercises.engine.respond import fill_grid, number
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout
from layoutviz.int_tuple import compact_stride, leaf_values
from layoutviz.views.grid import grid

BY_HAND = Layout(((2, 2), 3), ((1, 6), 2))
INDEXED = Layout(((3, 2), (2, 2)))
ASKED = ((1, 1), (0, 1))
TILED = Layout(((3, 2), (4, 2)), ((1, 24), (3, 12)))
MORTON = Layout(((2, 2, 2), (2, 2)), ((2, 8, 16), (1, 4)))
BROKEN = Layout(((2, 2, 2), (2, 2)), ((2, 4, 16), (1, 4)))
ROWS = Layout((8, 6), (6, 1))


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
    if numbers == [i % 2 + 6 * i + 2 * j for j in range(3) for i in range(4)]:
        words = "You multiply the outer stride by the row. It belongs to the pair of rows."
        return Mistake("row for block", words, "Row 3 is in which pair of rows?")
    return None


def check_index(index) -> Verdict:
    """The index of ((1,1),(0,1)) in ((3,2),(2,2))."""
    right = INDEXED(ASKED)  # compact: here the offset is the index
    praise = "Row 1 + 3*1 = 4, column 0 + 2*1 = 2, and each column has 6 cells."
    return judge_number("index", index, right, praise, lambda: grid(INDEXED, "coordinate", color=_only(right)), _index_mistake)


def _only(offset: int):
    """A colour for the cell at one offset, white for the others."""
    return lambda key: "#ffd9a0" if key == offset else "#ffffff"


def _index_mistake(index: int) -> Mistake | None:
    """What else was counted."""
    (a, b), (c, d) = ASKED
    inner, columns = 3, 4
    if index == ((a * 2 + b) * 2 + c) * 2 + d:
        words = "You count the last number fastest, as nested loops in Python do."
        return Mistake("last number fastest", words, "Which of the four numbers changes from index 0 to index 1?")
    if index == (row := a + inner * b) * columns + (column := c + 2 * d):
        words = f"You found row {row} and column {column}, and then counted along the rows."
        return Mistake("row by row", words, "In which direction does the index run, down a column or along a row?")
    if index in ((a * 2 + b) + 6 * (c * 2 + d), (a * 2 + b) + 6 * column, row + 6 * (c * 2 + d)):
        words = "Down the columns is right, but inside a mode you count the second number fastest."
        return Mistake("last fastest inside a mode", words, "What is the row of `(1,0)` in a mode `(3,2)`, and what the row of `(0,1)`?")
    if index == row + column:
        return Mistake("no weight for the column", "You add the row and the column.", "How many cells does the index pass in one column?")
    if index == row:
        return Mistake("row alone", "That is the index of the row alone.", "In which column does the cell lie?")
    return None


def check_tiled(layout) -> Verdict:
    """6 by 8 in tiles of 3 by 4, columns inside, tiles along the rows."""
    praise = "Each tile is one piece of 12 slots; its columns follow each other in it, and so do the tiles of one row of tiles."
    return judge_layout("layout", layout, TILED, praise, _tiled_mistake)


def _tiled_mistake(answer) -> Mistake | None:
    """Which order the answer stores."""
    if not isinstance(answer, Layout) or answer.shape != TILED.shape:
        return None
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
    return Mistake("a stride off by one", words, "How many slots lie between the two places, and how far is it from one to the other?")


def check_by_tile(by_tile) -> Verdict:
    """((a,b),(c,d)) regrouped to ((a,c),(b,d)), each leaf with its stride."""
    praise = "Each leaf keeps its extent and its stride; only the parentheses moved."
    return judge_function("by_tile", by_tile, regrouped, _tiled_layouts, praise, slips=BY_TILE_SLIPS)


def regrouped(layout: Layout) -> Layout:
    """The tile as mode 0, the number of the tile as mode 1."""
    (a, b), (c, d), (i0, i1), (j0, j1) = _leaves(layout)
    return Layout(((a, c), (b, d)), ((i0, j0), (i1, j1)))


def _leaves(layout: Layout):
    return (*layout.shape, *layout.stride)


def _tiled_layouts(random: Random) -> list[tuple[Layout]]:
    """Layouts ((a,b),(c,d)) with all extents different, their leaves in any order in memory, some padded."""
    flat = [random_layout(random, 4) for _ in range(8)]
    return [(Layout((one.shape[:2], one.shape[2:]), (one.stride[:2], one.stride[2:])),) for one in flat]


def check_morton(layout) -> Verdict:
    """Morton order of 8 by 4, right first."""
    praise = "The strides are 1, 2, 4, 8 and 16, in turn to the right and down, and past the last column down only."
    return judge_layout("layout", layout, MORTON, praise, _morton_mistake)


def _morton_mistake(answer) -> Mistake | None:
    """What of the mended layout is still not Morton order."""
    if not isinstance(answer, Layout) or answer.shape != MORTON.shape:
        return None
    if answer.stride == BROKEN.stride:
        words = "That is the layout as it was given: 4 stands twice, so cells share slots."
        return Mistake("not mended", words, "Which two steps move 4? Which one of them comes later?")
    if answer.stride == ((2, 4, 16), (1, 8)):
        words = "No two elements share a slot now, but from block to block the step down comes first."
        return Mistake("the other 4", words, "A block of 2 by 2 fills slots 0 to 3. In which block is slot 4, if right comes first?")
    if answer.stride == ((1, 4, 16), (2, 8)):
        words = "It is Morton order, but at each level the step down comes first."
        return Mistake("down first", words, "Which cell was in slot 1 of the given layout?")
    if sorted(leaf_values(answer.stride)) == [1, 2, 4, 8, 16]:
        words = "The five strides are those of Morton order, but not each in its place."
        return Mistake("another order", words, "Which block comes next at each level: the one below or the one beside?")
    return _leaf_off(answer, MORTON.stride)


def check_another_form(layout) -> Verdict:
    """The function of (8,6):(6,1), with both modes nested."""
    praise = "In each mode the second stride goes on where the first leaf ends, so nothing has changed but the form."
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
    steps = [by * step for mode, by in zip(answer, ROWS.stride, strict=True) for step in leaf_values(compact_stride(mode.shape))]
    return _leaf_off(answer, tuple(steps))


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
    """The verdict on the naive GEMM, whose B is read through `B_layout`; the words and the picture are those of the law."""
    from exercises.engine.kernel import learners_code
    from ladder import harness
    from ladder.naive import naive_gemm

    def pairs(M: int, N: int, K: int) -> dict:
        with learners_code():
            B = as_layout("B_layout", B_layout(N, K))
        if B != stored_B(N, K):
            raise BadAnswer(f"`B_layout({N}, {K})` is {B}, and that does not read the buffer as it was stored.")
        return {"B in tiles": (Layout((M, K), (K, 1)), B)}

    # sizes that tiles of 8 by 4 fill; no judge_gemm, whose sizes no tile divides
    done = harness.gemm_through_layouts(naive_gemm, pairs, time_mnk=(1024, 768, 512), host_mnk=(12, 16, 8))
    if not done:
        told = "The kernel was compiled through it, not run: there is no GPU here, so its results were not checked."
        return replace(law, state=State.COMPILED, message=f"{law.message} {told}")
    told = f"The kernel read it: the error against the fp32 product is at most {max(check.error for check in done):.1e}."
    return replace(law, message=f"{law.message} {told}")


# --- mistakes of one exercise


def _regroup(order):
    """The four leaves a, b, c, d of ((a,b),(c,d)) in another order, as two modes of two."""

    def slip(layout):
        pairs = [(s, d) for s, d in layout.leaves]
        (a, b, c, d) = (pairs[n] for n in order)
        return Layout(((a[0], b[0]), (c[0], d[0])), ((a[1], b[1]), (c[1], d[1])))

    return slip


BY_TILE_SLIPS = (
    (_regroup((1, 3, 0, 2)), Mistake(
        "number of the tile first", "Your mode 0 counts the tiles, and mode 1 the places in a tile.",
        "Of `(a,b)`, which number says the place in the tile, and which the tile?",
    )),
    (_regroup((2, 0, 3, 1)), Mistake(
        "columns before rows", "Inside each mode your column number stands before the row number.",
        "Which number comes first in the coordinate of a cell?",
    )),
    (lambda layout: Layout(((layout.shape[0][0], layout.shape[1][0]), (layout.shape[0][1], layout.shape[1][1])), layout.stride), Mistake(
        "shape alone", "It regroups the shape and leaves the strides as they were.",
        "How far is one step of `c` in the given layout? Which stride stands at its place in yours?",
    )),
    (lambda layout: Layout(((layout.shape[0][0], layout.shape[1][0]), (layout.shape[0][1], layout.shape[1][1]))), Mistake(
        "a copy", "Its strides are made from the shape alone, as if the elements were copied into new slots.",
        "Where in memory does place (0,1) of tile (0,0) lie, if nothing moved?",
    )),
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
    (lambda N, K: Layout(((8, N // 8), (4, K // 4)), ((4, 32), (1, 32))), Mistake(
        "tiles on one another", "The tile below the first and the tile beside it begin in the same slot.",
        "How many tiles lie between the first tile and the one beside it?",
    )),
    (lambda N, K: Layout((N, K), (K, 1)), Mistake(
        "no tiles", "That is `B` row by row, without tiles.", "What does the shape `((8, N // 8), (4, K // 4))` count?",
    )),
    (lambda N, K: Layout(((N // 8, 8), (K // 4, 4)), ((32, 4), (4 * N, 1))), Mistake(
        "tile and place swapped", "In each mode the number of the tile stands before the place in it.",
        "Which of the two changes when `n` grows from 0 to 1?",
    )),
)  # fmt: skip


def _by_tile(layout: str) -> str:
    """The source of an answer to 02.4 that gives Layout(`layout`)."""
    names = "    (a, b), (c, d) = layout.shape\n    (i0, i1), (j0, j1) = layout.stride\n"
    return f"def by_tile(layout):\n{names}    return Layout({layout})"


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
                "another form, rows": ("offsets = [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]", "row by row"),
                "along the rows": ("offsets = [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]", "along the rows"),
                "bytes for elements": ("offsets = [0, 2, 12, 14, 4, 6, 16, 18, 8, 10, 20, 22]", "bytes"),
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
            title="Which index?",
            stars=1,
            answers=("index",),
            check=check_index,
            respond=number("index"),
            hints=(
                "Which row is `(1,1)` in a mode `(3,2)`? Count: (0,0), (1,0), (2,0), (0,1), ...",
                "Which column is `(0,1)` in a mode `(2,2)`?",
                "How many cells are in one column? How many columns does the index pass before this one?",
            ),
            why="The first number runs fastest: 1 + 3·(1 + 2·(0 + 2·1)) = 16; or row 4 of column 2, in columns of 6.",
            also="index = (1 + 3 * 1) + 6 * (0 + 2 * 1)",
            wrong={
                "the starter": ("index = ...", "Line 2 of the cell"),
                "the constant": ("index = 0", "`index` is 0, and that is not right"),
                "the transposed": ("index = 4 * 4 + 2", "counted along the rows"),
                "the off-by-one": ("index = 17", "off by one"),
                "last number fastest": ("index = ((1 * 2 + 1) * 2 + 0) * 2 + 1", "as nested loops in Python"),
                "last fastest inside a mode": ("index = 3 + 6 * 1", "second number fastest"),
                "last fastest inside the rows": ("index = 3 + 6 * 2", "second number fastest"),
                "row alone": ("index = 4", "the row alone"),
                "row and column added": ("index = 4 + 2", "add the row and the column"),
                "a coordinate": ("index = (4, 2)", "type tuple"),
            },
            right={
                "the number": "index = 16",
                "text": "index = '16'",
                "by the library": "index = next(n for n in range(24) if Layout('((3,2),(2,2))').coordinate(n) == ((1, 1), (0, 1)))",
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
                "tile and place swapped": ("layout = '((2,3),(2,4)):((24,1),(12,3))'", "tile and rest are swapped"),
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
            title="By place and tile",
            stars=2,
            answers=("by_tile",),
            check=check_by_tile,
            hints=(
                "In `((a,b),(c,d))`, which two numbers say the place in a tile?",
                "Which strides belong to these two?",
                "In section 3, which numbers of `((4,2),(4,2)):((8,32),(1,4))` came together in one mode, and in which order?",
            ),
            why="Mode 0 takes the first leaf of each mode, mode 1 the second one; each brings its stride along.",
            also="def by_tile(layout):\n    rows, columns = layout\n    (a, b), (c, d) = rows, columns\n"
            "    return Layout(((a.shape, c.shape), (b.shape, d.shape)), ((a.stride, c.stride), (b.stride, d.stride)))",
            wrong={
                "the starter": ("def by_tile(layout):\n    return Layout(..., ...)", "Line 3 of the cell"),
                "the constant": ("def by_tile(layout):\n    return '((4,4),(2,2)):((8,1),(32,4))'", "the same layout whatever"),
                "the transposed": (_by_tile("((c, a), (d, b)), ((j0, i0), (j1, i1))"), "column number stands before the row number"),
                "the off-by-one": (_by_tile("((a, c), (b, d)), ((i0, j0), (i1, j1 + 1))"), "At coordinate ((0,0),(0,1))"),
                "its input": ("def by_tile(layout):\n    return layout", "gives its input back"),
                "number of the tile first": (_by_tile("((b, d), (a, c)), ((i1, j1), (i0, j0))"), "Your mode 0 counts the tiles"),
                "shape alone": (_by_tile("((a, c), (b, d)), ((i0, i1), (j0, j1))"), "leaves the strides"),
                "strides of the shape": (_by_tile("((a, c), (b, d))"), "as if the elements were copied"),
                "another form, flat": (_by_tile("(a, c, b, d), (i0, j0, i1, j1)"), "number of modes"),
                "nothing": ("def by_tile(layout):\n    layout.shape", "gives None"),
                "one layout": ("by_tile = Layout(((4, 4), (2, 2)), ((8, 1), (32, 4)))", "wanted is a function"),
            },
            right={
                "a pair": _by_tile("((a, c), (b, d)), ((i0, j0), (i1, j1))").replace("Layout", ""),
                "the library": "def by_tile(layout):\n    return group(group(select(flatten(layout), (0, 2, 1, 3)), 0, 2), 1, 3)",
            },
        ),
        Exercise(
            id="02.5",
            title="Mend a Morton order",
            stars=2,
            answers=("layout",),
            check=check_morton,
            hints=(
                "Which two cells of the given layout share slot 4?",
                "A block of 2 by 2 fills slots 0 to 3. Which block comes next, if right comes first? Which one after that?",
                "Each stride of Morton order is twice another one. Which number is missing among the five?",
            ),
            why="j0, i0 and j1 fill slots 0 to 7, two blocks side by side, so i1, the step down to the next block, moves 8.",
            also='layout = "((2,2,2),(2,2)):((2,8,16),(1,4))"',
            wrong={
                "the starter": ("layout = Layout(((2, 2, 2), (2, 2)), ...)", "Line 2 of the cell"),
                "the constant": ("layout = '((2,2,2),(2,2)):((0,0,0),(0,0))'", "same offset"),
                "the transposed": ("layout = '((2,2),(2,2,2)):((1,4),(2,8,16))'", "modes are swapped"),
                "the off-by-one": ("layout = '((2,2,2),(2,2)):((2,7,16),(1,4))'", "off by one"),
                "as it was": ("layout = '((2,2,2),(2,2)):((2,4,16),(1,4))'", "as it was given"),
                "the other 4": ("layout = '((2,2,2),(2,2)):((2,4,16),(1,8))'", "from block to block the step down"),
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
            title="The same table, another form",
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
                "the off-by-one": ("layout = '((2,4),(2,3)):((6,13),(1,2))'", "off by one"),
                "column-major": ("layout = Layout(((2, 4), (2, 3)))", "That is column-major"),
                "leaves swapped": ("layout = '((2,4),(2,3)):((24,6),(1,2))'", "Mode 0 reaches the right slots, but not in the right order"),
                "leaves of mode 1 swapped": ("layout = '((2,4),(2,3)):((6,12),(3,1))'", "Mode 1 reaches the right slots"),
                "another form, as it was": ("layout = '(8,6):(6,1)'", "no modes inside mode 0 and mode 1"),
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
                "Inside a tile: which leaf has stride 1, and how many slots has one row of a tile?",
                "How many slots does one tile take? Which leaf moves by that?",
                "How many tiles stand below each other, and how many slots do they take together?",
            ),
            why="A tile has 32 slots and a column of tiles N/8 of them, which is 4·N slots: memory counts k0, n0, n1, k1.",
            also="def B_layout(N, K):\n    tile = 8 * 4\n    return Layout(((8, N // 8), (4, K // 4)), ((4, tile), (1, tile * (N // 8))))",
            wrong={
                "the starter": (_B("(..., ...), (..., ...)"), "Line 3 of the cell"),
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
                "tiles on one another": (_B("(4, 32), (1, 32)"), "begin in the same slot"),
                "no tiles": ("def B_layout(N, K):\n    return Layout((N, K), (K, 1))", "without tiles"),
                "tile and place swapped": (
                    "def B_layout(N, K):\n    return Layout(((N // 8, 8), (K // 4, 4)), ((32, 4), (4 * N, 1)))",
                    "stands before the place in it",
                ),
                "bytes for elements": (_B("(8, 64), (2, 8 * N)"), "bytes"),
                "one layout": ("B_layout = Layout(((8, 2), (4, 3)), ((4, 32), (1, 64)))", "wanted is a function"),
            },
            right={
                "a pair": _B("(4, 32), (1, 4 * N)").replace("Layout(((8", "(((8"),
                "notation": "def B_layout(N, K):\n    return f'((8,{N // 8}),(4,{K // 4})):((4,32),(1,{4 * N}))'",
            },
        ),
    )
}
