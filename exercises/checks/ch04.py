"""Chapter 04, tiling."""

import warnings
from collections import Counter
from dataclasses import replace
from random import Random, SystemRandom

from exercises.engine.answers import as_layout, as_number, as_tiler, plain
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_cells, judge_function, judge_layout, judge_tiler
from exercises.engine.respond import click_cells
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import (
    Layout,
    LayoutError,
    Tensor,
    blocked_product,
    complement,
    local_partition,
    local_tile,
    logical_product,
    raked_product,
    same_function,
    zipped_divide,
)  # fmt: skip
from layoutviz.layout import CoordinateFunction
from layoutviz.scene import Scene
from layoutviz.views.grid import grid

GAPPED, SLOTS = Layout((2, 2), (1, 6)), 24
CUT, SPREAD = Layout((6, 8), (8, 1)), (Layout(2, 3), 4)
WHOLE, EVERY_SECOND = Layout((8, 12), (12, 1)), (Layout(4, 2), 4)
SHARED, SHARED_TILE, PLACE, THREADS, THREAD = Layout((24, 20), (20, 1)), (8, 10), (2, 1), Layout((4, 2)), 5
C, LEAST, MOST = (200, 136), 1024, 4096
CORE = Layout((8, 8), (8, 1))
LARGE = 2**14  # elements of an answer that is looked through for known mistakes


# --- 04.1


def check_complement(R) -> Verdict:
    """The complement of (2,2):(1,6) up to 24."""
    praise = "A and its copies take each of the 24 slots once, and R counts the copies upwards."
    return judge_layout("R", R, complement(GAPPED, SLOTS), praise, _complement_mistake, shape_counts=False)


def _complement_mistake(answer) -> Mistake | None:
    """What the copies of A that start at these slots do wrong, in slots."""
    if answer.size > LARGE:
        return None
    starts = answer.offsets().tolist()
    if starts == GAPPED.offsets().tolist():
        words = "That is A again, the slots of one copy. R says where the copies start."
        return Mistake("A itself", words, "The first copy starts at slot 0. Which is the smallest slot that it leaves free?")
    if starts == list(range(len(starts))) and len(starts) > 1:
        words = "A copy for every slot: each copy takes four slots itself."
        return Mistake("a copy a slot", words, "How many copies of four slots fill 24 slots?")
    taken = Counter(slot + start for start in starts for slot in GAPPED.offsets().tolist())
    if twice := sorted(slot for slot, times in taken.items() if times > 1):
        words = f"Slot {twice[0]} is taken more than once."
        return Mistake("slots taken twice", words, "Write down the four slots of each copy. Which two copies meet?")
    if beyond := sorted(slot for slot in taken if not 0 <= slot < SLOTS):
        words = f"A copy reaches slot {beyond[-1]}, and there are only 24 slots."
        return Mistake("past the end", words, "Which gap in the first 12 slots could that copy fill?")
    if free := sorted(set(range(SLOTS)) - taken.keys()):
        return Mistake("slots left free", f"Nobody takes slot {free[0]}.", "Where must a copy start to take the first free slot?")
    words = "Each slot is taken once. But a complement is ordered: its copies start at rising slots."
    return Mistake("out of order", words, "Which mode has the smaller step, and which runs fastest?")


# --- 04.2


def check_tile_1(cells) -> Verdict:
    """Tile 1 of (6,8):(8,1) by (2:3, 4)."""
    praise = "Tile 0 leaves gaps in its rows. They are filled first, so tile 1 starts one row below."
    return judge_cells("cells", cells, CUT, _tile_of_cut(1), praise, _tile_1_mistake)


def _tile_of_cut(number: int) -> frozenset[int]:
    """The indices in CUT of a tile's cells."""
    cut = zipped_divide(Layout((6, 8)), SPREAD)
    return frozenset(cut(element, number) for element in range(8))


def _tile_1_mistake(cells: frozenset[int]) -> Mistake | None:
    """Which other tile was chosen."""
    if cells == _tile_of_cut(0):
        return Mistake("tile 0", "That is tile 0, where the tiler itself points.", "Which rows does tile 0 leave free? Which comes first?")
    if cells == _tile_of_cut(3):
        words = "That is the tile to the right. Tiles are counted as cells are."
        return Mistake("to the right", words, "Which mode runs fastest when tiles are counted?")
    if cells == _tile_of_cut(2):
        return Mistake("one too far", "That is tile 2.", "What is the complement of 2:3 up to 6 rows? Where is its second place?")
    blocks = zipped_divide(Layout((6, 8)), (2, 4))
    if any(cells == {blocks(element, number) for element in range(8)} for number in range(6)):
        words = "Those are two rows that lie together, as `(2, 4)` would cut. Here the entry for the rows is a layout."
        return Mistake("rows together", words, "Which two rows does 2:3 take?")
    if cells and len({index % 6 for index in cells}) == 2 and len({index // 6 for index in cells}) == 4 and len(cells) == 8:
        return Mistake("rows", "Two rows and four columns, but not those of tile 1.", "Which rows does 2:3 take in tile 0?")
    return None


# --- 04.3


def check_every_second(tiler) -> Verdict:
    """A tiler of (8,12):(12,1) whose tiles have every second row and four columns."""
    praise = "4:2 takes every second row, and its complement 2:1 says that the next tile starts one row below."
    try:
        verdict = judge_tiler("tiler", tiler, WHOLE, EVERY_SECOND, praise)
    except BadAnswer as refused:
        if not isinstance(as_tiler("tiler", tiler), Layout):
            raise
        return Verdict(State.WRONG, f"{refused} {ONE_LAYOUT.words}", mistake=ONE_LAYOUT)
    if verdict.state is not State.WRONG or verdict.mistake:
        return verdict
    mistake = next((mistake for other, mistake in TILER_SLIPS if _cuts_as(as_tiler("tiler", tiler), other)), None)
    return replace(verdict, message=f"{verdict.message} {mistake.words}", mistake=mistake) if mistake else verdict


def _cuts_as(one, other) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            return same_function(zipped_divide(WHOLE, one), zipped_divide(WHOLE, other))
    except LayoutError:
        return False


# --- 04.4


def right_share() -> Tensor:
    return local_partition(local_tile(SHARED, SHARED_TILE, PLACE), THREADS, THREAD)


def check_share(share) -> Verdict:
    """Thread 5's share of the tile at (2,1) of (24,20):(20,1)."""
    parts = plain(share)
    if isinstance(parts, (tuple, list)) and len(parts) == 2 and any(isinstance(part, CoordinateFunction) for part in parts):
        parts = sorted(parts, key=lambda part: not isinstance(part, CoordinateFunction))
        share = Tensor(parts[0], as_number("share's offset", parts[1]))
    praise = "The tile starts at 16*20 + 10, thread 5 stands one row and one column further, and its next spots are 4 rows or 2 columns on."
    return judge_layout("share", share, right_share(), praise, _share_mistake)


def _share_mistake(answer) -> Mistake | None:
    """Which part of the offset, or which layout, is another one."""
    right = right_share()
    start, layout = (answer.offset, answer.layout) if isinstance(answer, Tensor) else (0, answer)
    rows, columns = SHARED_TILE
    tile = local_tile(SHARED, SHARED_TILE, PLACE)
    if same_function(layout, right.layout):
        row, column = THREADS.coordinate(THREAD)
        step = SHARED.stride[0]
        for offset, mistake in (
            (0, NO_OFFSET), (tile.offset, NO_SPOT), (row * step + column, NO_TILE),
            (tile.offset + 2 * step + 1, SPOT_BY_ROWS), (PLACE[0] * step + PLACE[1] + row * step + column, PLACE_AS_ROW),
            (tile.offset + THREAD, THREAD_AS_SLOT), (local_tile(SHARED, SHARED_TILE, (1, 1)).offset + row * step + column, None),
        ):  # fmt: skip
            if start == offset and mistake:
                return mistake
        return None
    if same_function(layout, tile.layout):
        return WHOLE_TILE
    if same_function(layout, local_partition(SHARED, THREADS, THREAD).layout):
        return WHOLE_MATRIX
    if layout.shape == right.layout.shape and isinstance(layout, Layout):
        if layout.stride == SHARED.stride:
            return ONE_PIECE
        if layout.stride in (THREADS.shape, (THREADS.shape[0], THREADS.shape[1] * SHARED.stride[0])):
            return STEP_IN_ROWS
        if layout.stride == Layout(layout.shape).stride:
            return NO_STRIDES
    return None


# --- 04.5


def right_inside(shape, tile, place) -> int:
    extents = (max(0, min(t, s - p * t)) for s, t, p in zip(shape, tile, place, strict=True))
    rows, columns = extents
    return rows * columns


def check_inside(inside) -> Verdict:
    """How many elements of a tile are in the matrix."""
    with warnings.catch_warnings(action="ignore"):  # tiles that stick out are what it is about
        return _check_inside(inside)


def _check_inside(inside) -> Verdict:
    seed = SystemRandom().randrange(10**6)
    praise = "It asks where the element stands in the matrix, whichever tile it is in."
    verdict = judge_function("inside", inside, right_inside, some_tiles, praise, seed=seed)
    if verdict.state not in (State.RIGHT, State.WRONG):
        return verdict
    cases = some_tiles(Random(seed))
    answers = _counts(inside, cases)
    bad = 0 if verdict.ok or answers is None else next(n for n, case in enumerate(cases) if answers[n] != right_inside(*case))
    verdict = replace(verdict, scene=_tile_picture(*cases[bad]))
    mistake = _inside_mistake(inside, cases) if verdict.state is State.WRONG else None
    if mistake is None:
        return verdict
    said = verdict.message.replace(f" {verdict.mistake.words}", "") if verdict.mistake else verdict.message
    return replace(verdict, message=f"{said} {mistake.words}", mistake=mistake)


def _tile_picture(shape, tile, place) -> Scene:
    """The elements of a tile, each with its coordinate in the matrix, those outside hatched."""
    rows, columns = tile
    at = [(place[0] * rows + i, place[1] * columns + j) for j in range(columns) for i in range(rows)]
    outside = {n: "outside" for n, (i, j) in enumerate(at) if i >= shape[0] or j >= shape[1]}
    title = f"the tile at ({place[0]},{place[1]}) of a {shape[0]} by {shape[1]} matrix"
    caption = "In a cell: the element's coordinate in the matrix. Hatched: outside."
    return grid(Layout(tile), labels=[f"{i},{j}" for i, j in at], marks=outside, title=title, caption=caption)


def some_tiles(random: Random) -> list[tuple]:
    """(shape, tile, place): the corner tile, one of each edge, one inside, and a matrix smaller than its tile."""
    rows, columns = random.sample((4, 5, 6), 2)
    down, right = random.sample((2, 3, 4), 2)
    shape = (rows * down + random.randrange(2, rows), columns * right + random.randrange(2, columns))
    tile = (rows, columns)
    small = (random.randrange(1, rows), random.randrange(1, columns))
    return [(shape, tile, place) for place in ((down, right), (down, 0), (0, right), (1, 1), (0, 0))] + [(small, tile, (0, 0))]


def _counts(inside, cases) -> list[int] | None:
    try:
        return [as_number("answer", inside(*case)) for case in cases]
    except Exception:  # the verdict says so
        return None


def _inside_mistake(inside, cases) -> Mistake | None:
    """The known predicate that gives the same; a place beyond a small matrix tells apart those that agree on all its tiles."""
    cases = [*cases, ((3, 2), (5, 4), (1, 1))]
    answers = _counts(inside, cases)
    if answers is None:
        return None
    found = next((mistake for slip, mistake in INSIDE_SLIPS if answers == [_count(slip, *case) for case in cases]), None)
    return found or (SAME_NUMBER if len(set(answers)) == 1 else None)


def _count(test, shape, tile, place) -> int:
    return sum(bool(test(shape, tile, place, i, j)) for i in range(tile[0]) for j in range(tile[1]))


# --- 04.6


def check_tile(tile) -> Verdict:
    """A tile of C that wastes little."""
    pair = plain(tile)
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise BadAnswer(f"`tile` is of type {type(pair).__name__}; wanted is a pair (rows, columns).")
    rows, columns = (as_number(f"tile[{n}]", extent) for n, extent in enumerate(pair))
    if min(rows, columns) < 1 or rows % 8 or columns % 8:
        return Verdict(State.WRONG, f"`tile` is ({rows}, {columns}); both numbers are to be multiples of 8.")
    if not LEAST <= rows * columns <= MOST:
        return Verdict(State.WRONG, f"A tile of {rows} by {columns} has {rows * columns:,} elements; {LEAST:,} to {MOST:,} are asked for.")
    down, right = -(-C[0] // rows), -(-C[1] // columns)
    slots = down * right * rows * columns
    outside = slots - C[0] * C[1]
    told = (
        f"{down} by {right} tiles of {rows} by {columns} make {slots:,} slots; {outside:,} of them, {outside / slots:.0%}, are outside C."
    )
    scene = _tiles_of_C(rows, columns, Layout((down, right)))
    if outside * 10 > slots:
        return Verdict(State.WRONG, f"{told} At most a tenth may be.", scene, _waste(down * rows - C[0], right * columns - C[1]))
    return Verdict(State.RIGHT, told, scene)


def _tiles_of_C(rows: int, columns: int, places: Layout) -> Scene:
    """One cell for each tile, with how much of it is in C."""
    parts = [right_inside(C, (rows, columns), places.coordinate(n)) / (rows * columns) for n in range(places.size)]
    ragged = {n: "outside" for n, part in enumerate(parts) if part < 1}
    caption = "One cell for each tile: how much of it is in C. Hatched: it sticks out."
    return grid(places, labels=[f"{part:.0%}" for part in parts], marks=ragged, title=f"C in tiles of {rows} by {columns}", caption=caption)


def _waste(below: int, beside: int) -> Mistake | None:
    """Which edge the slots outside lie behind."""
    if below and beside:
        return Mistake("both edges", "", "By how many rows do the last tiles stick out, and by how many columns?")
    edge = "lower" if below else "right"
    return Mistake(
        f"the {edge} edge", "", f"By how much do the tiles stick out over the {edge} edge? Which multiple of the extent comes closest?"
    )


# --- 04.7


def right_tile_layout(rows: int, columns: int) -> Layout:
    return blocked_product(CORE, Layout((rows // 8, columns // 8)))


def is_in_blocks(layout: CoordinateFunction, rows: int, columns: int) -> bool:
    """Whether a layout of rows and columns has all its 8 by 8 blocks row-major in 64 slots, the blocks filling the slots from 0 on."""
    if [mode.size for mode in Layout(layout.shape)] != [rows, columns]:
        return False
    table = layout.offsets().reshape(rows, columns, order="F")
    blocks = table.reshape(rows // 8, 8, columns // 8, 8).swapaxes(1, 2).reshape(-1, 64)
    return bool((blocks - blocks[:, :1] == range(64)).all()) and sorted(blocks[:, 0].tolist()) == list(range(0, rows * columns, 64))


def check_tile_layout(tile_layout) -> Verdict:
    """By law; then the lesson's kernel runs with it for its tiles in shared memory."""
    praise = "Each block of 8 by 8 lies in 64 slots, row by row, and the blocks fill the tile."
    wanted = _nearest_of(tile_layout)
    verdict = judge_function("tile_layout", tile_layout, wanted, _some_sizes, praise, slips=TILE_LAYOUT_SLIPS)
    return _run_with(tile_layout, verdict) if verdict.ok else verdict


def _nearest_of(tile_layout):
    """A right function, with the order of the blocks that is nearest to the reader's: its own answer where that is right."""

    def wanted(rows: int, columns: int):
        by_columns, by_rows = (
            Layout(((8, rows // 8), (8, columns // 8)), ((8, down), (1, right)))
            for down, right in ((64, 8 * rows), (8 * columns, 64))
        )  # fmt: skip
        try:
            answer = as_layout("answer", tile_layout(rows, columns))
        except Exception:  # the verdict says so
            return by_columns
        if isinstance(answer, Layout) and answer.rank == 2 and is_in_blocks(answer, rows, columns):
            return answer
        if answer.size != rows * columns:
            return by_columns
        return max((by_columns, by_rows), key=lambda right: int((right.offsets() == answer.offsets()).sum()))

    return wanted


def _some_sizes(random: Random) -> list[tuple[int, int]]:
    """Sizes that are multiples of 8, not square, small ones first, and the lesson's own tile."""
    counts = [random.sample((2, 3), 2), *(random.sample((2, 3, 4, 5), 2) for _ in range(3))]
    return [*((8 * down, 8 * right) for down, right in counts), (64, 16)]


def _run_with(tile_layout, law: Verdict) -> Verdict:
    """The verdict on the tiled GEMM whose tiles lie in shared memory as `tile_layout` says; with the words and the picture of the law."""
    from exercises.engine.kernel import judge_gemm, learners_code
    from ladder.tiled import TILE_K, TILE_M, TILE_N, gemm_with
    from layoutviz.cute import to_dsl

    def in_dsl(rows: int):
        with learners_code():
            answer = as_layout("tile_layout", tile_layout(rows, TILE_K))
        return to_dsl(answer)

    return judge_gemm("tiled_gemm", gemm_with(in_dsl), tile=(TILE_M, TILE_N, TILE_K), law=law)


# --- mistakes of one exercise


ONE_LAYOUT = Mistake(
    "one layout", "One layout works on the flat index of the whole, where one column further is 8 on. A tuple cuts mode by mode.",
    "Which indices do you mean? Or: what is the entry for the rows alone?",
)  # fmt: skip
TILER_SLIPS = (
    ((4, 4), Mistake("rows together", "It takes rows that lie together.", "How is 'four, two apart' written as a layout?")),
    ((Layout(4, 3), 4), Mistake("three apart", "It takes rows three apart.", "How far is it from row 0 to row 2?")),
    ((Layout(2, 4), 4), Mistake(
        "extent and stride swapped", "It takes two rows, four apart.", "In `n:d`, which number says how many, and which how far?",
    )),
    ((Layout(4, 2), None), Mistake("all columns", "It leaves the columns whole.", "How many columns has tile 0?")),
    ((Layout(4, 2), Layout(4, 3)), Mistake(
        "every third column", "The rows are right, but the columns are not next to each other.", "Which columns has tile 0?",
    )),
    ((2, 4), Mistake("two rows", "It takes two rows that lie together.", "Which rows has tile 0, and how many are they?")),
)  # fmt: skip

NO_OFFSET = Mistake(
    "offset lost", "The layout is right, but it starts at slot 0. A share is an offset and a layout.", "In which slot is its first element?"
)
NO_SPOT = Mistake(
    "the spot in the tile lost", "The layout is right, but it starts where the tile starts. There stands thread 0.",
    "At which coordinate of `(4,2):(1,4)` is the number 5?",
)  # fmt: skip
NO_TILE = Mistake(
    "the tile's offset lost", "The layout is right, but it starts as in the tile at (0,0).", "In which slot does the tile at (2,1) start?"
)
SPOT_BY_ROWS = Mistake(
    "threads by rows", "The layout is right. But you counted the threads along the rows; theirs is `(4,2):(1,4)`.",
    "At which coordinate of `(4,2):(1,4)` is the number 5?",
)  # fmt: skip
PLACE_AS_ROW = Mistake(
    "place as row",
    "The layout is right. But (2,1) counts tiles, not rows and columns.",
    "Which row of `A` is the first of the tile at (2,1)?",
)
THREAD_AS_SLOT = Mistake(
    "thread as slot", "The layout is right. But you moved 5 slots on for thread 5.",
    "At which coordinate of the tile does thread 5 stand? How many slots is that?",
)  # fmt: skip
WHOLE_TILE = Mistake("the whole tile", "That is the layout of the whole tile. Eight threads share it.", "How many elements does each get?")
WHOLE_MATRIX = Mistake("all of A", "That is what thread 5 would get of the whole of `A`.", "Of what is the share to be taken?")
ONE_PIECE = Mistake(
    "one piece", "Its elements lie side by side. The threads stand side by side, so a thread's own elements are apart.",
    "Thread 5 stands on one spot of each 4 by 2 part. How far is it from one part to the next?",
)  # fmt: skip
STEP_IN_ROWS = Mistake(
    "steps in the wrong unit",
    "A step to the next part is right in rows and columns, but not in slots.",
    "How many slots are 4 rows of `A`?",
)
NO_STRIDES = Mistake("A's strides lost", "Those are the strides of a small matrix by itself.", "Which slots do `A`'s own strides give?")

SAME_NUMBER = Mistake("a constant", "It gives the same number whatever it is given.", "How many elements of the last tile are outside?")
INSIDE_SLIPS = (
    (lambda shape, tile, place, i, j: i < shape[0] and j < shape[1], Mistake(
        "the colleague's", "It tests where the element stands in its tile, as the colleague's does. So all tiles give the same.",
        "In which row of the matrix is row `i` of the tile at place (2,1)?",
    )),
    (lambda shape, tile, place, i, j: place[0] + i < shape[0] and place[1] + j < shape[1], Mistake(
        "place as row", "It adds the place as it is. But a place counts tiles, not rows.", "In which row of the matrix does tile 2 begin?",
    )),
    (lambda shape, tile, place, i, j: place[0] * tile[0] + i <= shape[0] and place[1] * tile[1] + j <= shape[1], Mistake(
        "one too many", "It counts a row or a column behind the edge.", "Which is the last row of a matrix of `M` rows?",
    )),
    (lambda shape, tile, place, i, j: place[0] * tile[0] + i < shape[0], Mistake(
        "columns not tested", "It tests the rows only.", "What lies behind the end of a row?",
    )),
    (lambda shape, tile, place, i, j: place[1] * tile[1] + j < shape[1], Mistake(
        "rows not tested", "It tests the columns only.", "What lies below the last row?",
    )),
    (lambda shape, tile, place, i, j: place[0] * tile[0] + i < shape[0] or place[1] * tile[1] + j < shape[1], Mistake(
        "or for and", "It lets an element through if one of its coordinates is inside.", "Is `(0,7)` in a matrix of 5 rows and 7 columns?",
    )),
    (lambda shape, tile, place, i, j: True, Mistake("no predicate", "It counts the whole tile.", "Which tiles stick out?")),
    (lambda shape, tile, place, i, j: (place[0] + 1) * tile[0] <= shape[0] and (place[1] + 1) * tile[1] <= shape[1], Mistake(
        "whole tiles only", "It counts whole tiles only. Of the last ones a part is inside.", "Which elements of the corner tile are real?",
    )),
)  # fmt: skip

TILE_LAYOUT_SLIPS = (
    (lambda rows, columns: Layout((rows, columns)), Mistake(
        "column-major", "It is column-major as a whole: a block's rows are not in one piece.", "Which 64 slots does the first block have?",
    )),
    (lambda rows, columns: Layout((rows, columns), (columns, 1)), Mistake(
        "row-major", "It is row-major as a whole: between two rows of a block lie the other blocks' elements.",
        "In which slot should row 1 of the first block start?",
    )),
    (lambda rows, columns: blocked_product(Layout((8, 8)), Layout((rows // 8, columns // 8))), Mistake(
        "blocks by columns", "The blocks are right, but inside them it goes down the columns.", "Which stride has a row-major 8 by 8?",
    )),
    (lambda rows, columns: raked_product(CORE, Layout((rows // 8, columns // 8))), Mistake(
        "raked", "It deals the copies out, so neighbours belong to different copies.", "Which product keeps a block together?",
    )),
    (lambda rows, columns: logical_product(CORE, Layout((rows // 8, columns // 8))), Mistake(
        "block and copies", "Its modes are (block, copies). Wanted is a matrix, (rows, columns).", "Which product pairs the modes?",
    )),
    (lambda rows, columns: blocked_product(CORE, Layout((rows, columns))), Mistake(
        "too many copies", "It makes a copy of the block for every element of the tile.", "How many blocks fit into `rows`?",
    )),
    (lambda rows, columns: blocked_product(Layout((rows // 8, columns // 8)), CORE), Mistake(
        "block and tiler swapped", "It repeats a small matrix 64 times, in 8 by 8 copies.", "Which of the two stays together?",
    )),
)  # fmt: skip


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="04.1",
            title="The complement, by hand",
            stars=1,
            answers=("R",),
            check=check_complement,
            hints=(
                "Which is the first slot that A leaves free? A copy must start there. Which slots does it take?",
                "After how many copies are slots 0 to 5 full? Which slots are full then?",
                "Where is the next free slot, and how many groups like the first one fit?",
            ),
            why="Copies at 0, 2, 4 fill the gap of A, and with it 12 slots; a second group starts at 12.",
            also="R = complement('(2,2):(1,6)', 24)",
            wrong={
                "the starter": ("R = Layout(..., ...)", "Line 2 of the cell"),
                "the constant": ("R = '(3,2):(0,0)'", "Slot 0 is taken more than once"),
                "the transposed": ("R = '(2,3):(12,2)'", "rising slots"),
                "the off-by-one": ("R = '(3,2):(2,11)'", "taken more than once"),
                "A itself": ("R = '(2,2):(1,6)'", "That is A again"),
                "one mode": ("R = '6:4'", "A copy reaches slot 27"),
                "on and on": ("R = '6:2'", "Slot 6 is taken more than once"),
                "the first group": ("R = '3:2'", "Nobody takes slot 12"),
                "the second group only": ("R = '2:12'", "Nobody takes slot 2"),
                "a copy a slot": ("R = '24:1'", "each copy takes four slots"),
            },
            right={
                "notation": "R = '(3,2):(2,12)'",
                "a pair": "R = [[3, 2], [2, 12]]",
                "one level more": "R = '((3,2),1):((2,12),0)'",
            },
        ),
        Exercise(
            id="04.2",
            title="Which cells are tile 1?",
            stars=1,
            answers=("cells",),
            check=check_tile_1,
            respond=click_cells("cells", CUT, count=8),
            hints=(
                "Which rows does 2:3 take, and which columns does 4 take? That is tile 0.",
                "How many tiles are there downwards, and how many to the right? Which of them is number 1?",
                "The complement of 2:3 up to 6 says where tiles start in the rows. What is it?",
            ),
            why="2:3 takes rows 0 and 3; its complement up to 6 is 3:1, so the next tile downwards has rows 1 and 4, in the same columns.",
            also="cells = zipped_divide(Layout((6, 8)), (Layout(2, 3), 4)).offsets()[8:16]  # as indices",
            wrong={
                "the starter": ("cells = ...", "still holds"),
                "the constant": ("cells = [(i, j) for i in range(6) for j in range(8)]", "not asked for"),
                "the transposed": ("cells = [(j, i) for i in (1, 4) for j in range(4)]", "not asked for"),
                "the off-by-one": ("cells = [(i, j) for i in (2, 5) for j in range(4)]", "That is tile 2"),
                "tile 0": ("cells = [(i, j) for i in (0, 3) for j in range(4)]", "That is tile 0"),
                "to the right": ("cells = [(i, j) for i in (0, 3) for j in range(4, 8)]", "the tile to the right"),
                "rows together": ("cells = [(i, j) for i in (2, 3) for j in range(4)]", "rows that lie together"),
                "rows 1 and 3": ("cells = [(i, j) for i in (1, 3) for j in range(4)]", "not those of tile 1"),
                "one missing": ("cells = [(1, 0), (1, 1), (1, 2), (1, 3), (4, 0), (4, 1), (4, 2)]", "still missing"),
                "indices of A's slots": ("cells = [8, 9, 10, 11, 32, 33, 34, 35]", "not asked for"),
            },
            right={
                "in the tile's order": "cells = [(i, j) for j in range(4) for i in (1, 4)]",
                "from below": "cells = [(i, j) for i in (4, 1) for j in range(4)]",
                "indices": "cells = [1, 4, 7, 10, 13, 16, 19, 22]",
            },
        ),
        Exercise(
            id="04.3",
            title="Every second row",
            stars=2,
            answers=("tiler",),
            check=check_every_second,
            hints=(
                "A tuple has one entry for the rows and one for the columns. Which rows are in tile 0?",
                "How many rows are that, how far apart? How is that written as a layout?",
                "What does a plain number stand for as a tiler?",
            ),
            why="By mode: four rows, two apart, and the next four columns.",
            also="tiler = Layout((4, 4), (2, 8))",
            wrong={
                "the starter": ("tiler = ...", "still holds"),
                "the constant": ("tiler = (1, 1)", "tiles of 1 element"),
                "the transposed": ("tiler = (4, Layout(4, 2))", "lies on its side"),
                "the off-by-one": ("tiler = (Layout(4, 3), 4)", "three apart"),
                "rows together": ("tiler = (4, 4)", "rows that lie together"),
                "swapped": ("tiler = (Layout(2, 4), 4)", "two rows, four apart"),
                "two rows": ("tiler = (2, 4)", "two rows that lie together"),
                "all columns": ("tiler = (Layout(4, 2), None)", "leaves the columns whole"),
                "every third column": ("tiler = (Layout(4, 2), Layout(4, 3))", "not next to each other"),
                "one layout": ("tiler = Layout((4, 4))", "works on the flat index"),
                "slots": ("tiler = Layout((4, 4), (24, 1))", "works on the flat index"),
            },
            right={
                "as text": "tiler = ('4:2', 4)",
                "two layouts": "tiler = (Layout(4, 2), Layout(4))",
                "a list": "tiler = [Layout(4, 2), 4]",
            },
        ),
        Exercise(
            id="04.4",
            title="What thread 5 fetches",
            stars=2,
            answers=("share",),
            check=check_share,
            hints=(
                "Which row and which column of `A` are the first of the tile at (2,1)? Which slot is that?",
                "At which coordinate of `(4,2):(1,4)` is 5? How many slots is that from the tile's first one?",
                "How many parts of 4 by 2 are in a tile of 8 by 10, downwards and to the right? How many slots apart?",
            ),
            why="The tile starts at 330, thread 5 stands at (1,1), 21 slots on; 2 by 5 parts, 80 and 2 slots apart.",
            also="share = local_partition(local_tile('(24,20):(20,1)', (8, 10), (2, 1)), '(4,2):(1,4)', 5)",
            wrong={
                "the starter": ("share = Tensor(Layout(..., ...), ...)", "Line 2 of the cell"),
                "the constant": ("share = Tensor(Layout((2, 5), (0, 0)), 351)", "same offset"),
                "the transposed": ("share = Tensor(Layout((5, 2), (2, 80)), 351)", "mode 0 has"),
                "the off-by-one": ("share = Tensor(Layout((2, 5), (80, 2)), 350)", "not where this element belongs"),
                "offset lost": ("share = Layout((2, 5), (80, 2))", "an offset and a layout"),
                "the tile's first": ("share = Tensor(Layout((2, 5), (80, 2)), 330)", "There stands thread 0"),
                "the first tile": ("share = Tensor(Layout((2, 5), (80, 2)), 21)", "as in the tile at (0,0)"),
                "threads by rows": ("share = Tensor(Layout((2, 5), (80, 2)), 371)", "along the rows"),
                "place as row": ("share = Tensor(Layout((2, 5), (80, 2)), 62)", "counts tiles"),
                "thread as slot": ("share = Tensor(Layout((2, 5), (80, 2)), 335)", "5 slots on"),
                "the whole tile": ("share = Tensor(Layout((8, 10), (20, 1)), 330)", "the whole tile"),
                "of all of A": ("share = local_partition('(24,20):(20,1)', '(4,2):(1,4)', 5)", "the whole of `A`"),
                "one piece": ("share = Tensor(Layout((2, 5), (20, 1)), 375)", "lie side by side"),
                "rows for slots": ("share = Tensor(Layout((2, 5), (4, 2)), 351)", "not in slots"),
                "compact": ("share = Tensor(Layout((2, 5)), 351)", "a small matrix by itself"),
                "another form, nested": ("share = Tensor(Layout(((1, 2), 5), ((0, 80), 2)), 351)", "how they nest"),
            },
            right={
                "notation": "share = '351 + (2,5):(80,2)'",
                "a pair": "share = (Layout((2, 5), (80, 2)), 351)",
                "offset first": "share = [351, Layout((2, 5), (80, 2))]",
            },
        ),
        Exercise(
            id="04.5",
            title="Mend a predicate",
            stars=2,
            answers=("inside",),
            check=check_inside,
            hints=(
                "For which tiles is the colleague's count too large?",
                "Which coordinate of the matrix has element (0,0) of the tile at (2,1), if tiles are 4 by 5?",
                "And element (i,j) of it? What must that be compared with?",
            ),
            why="A predicate asks where the element stands in the matrix: place times extent, plus the coordinate in the tile.",
            also=(
                "def inside(shape, tile, place):\n"
                "    rows, columns = (max(0, min(t, s - p * t)) for s, t, p in zip(shape, tile, place))\n"
                "    return rows * columns"
            ),
            wrong={
                "the starter": (
                    "def inside(shape, tile, place):\n    count = 0\n    for i in range(tile[0]):\n        for j in range(tile[1]):\n"
                    "            if ...:\n                count += 1\n    return count",
                    "Line 6 of the cell",
                ),
                "the constant": ("def inside(shape, tile, place):\n    return 6", "the same number whatever"),
                "the transposed": (
                    "def inside(shape, tile, place):\n"
                    "    return sum(place[1] * tile[0] + i < shape[0] and place[0] * tile[1] + j < shape[1]"
                    " for i in range(tile[0]) for j in range(tile[1]))",
                    "and that is not right",
                ),
                "the off-by-one": (
                    "def inside(shape, tile, place):\n"
                    "    return sum(place[0] * tile[0] + i <= shape[0] and place[1] * tile[1] + j <= shape[1]"
                    " for i in range(tile[0]) for j in range(tile[1]))",
                    "behind the edge",
                ),
                "the colleague's": (
                    "def inside(shape, tile, place):\n"
                    "    return sum(i < shape[0] and j < shape[1]"
                    " for i in range(tile[0]) for j in range(tile[1]))",
                    "where the element stands in its tile",
                ),
                "place as row": (
                    "def inside(shape, tile, place):\n"
                    "    return sum(place[0] + i < shape[0] and place[1] + j < shape[1]"
                    " for i in range(tile[0]) for j in range(tile[1]))",
                    "counts tiles, not rows",
                ),
                "rows only": (
                    "def inside(shape, tile, place):\n"
                    "    return sum(place[0] * tile[0] + i < shape[0]"
                    " for i in range(tile[0]) for j in range(tile[1]))",
                    "the rows only",
                ),
                "or": (
                    "def inside(shape, tile, place):\n"
                    "    return sum(place[0] * tile[0] + i < shape[0] or place[1] * tile[1] + j < shape[1]"
                    " for i in range(tile[0]) for j in range(tile[1]))",
                    "if one of its coordinates",
                ),
                "no predicate": ("def inside(shape, tile, place):\n    return tile[0] * tile[1]", "the whole tile"),
                "whole tiles only": (
                    "def inside(shape, tile, place):\n    whole = all((p + 1) * t <= s for s, t, p in zip(shape, tile, place))\n"
                    "    return tile[0] * tile[1] * whole",
                    "whole tiles only",
                ),
                "not a number": ("def inside(shape, tile, place):\n    return shape", "whole number"),
            },
            right={
                "by a sum": (
                    "def inside(shape, tile, place):\n"
                    "    return sum(place[0] * tile[0] + i < shape[0] and place[1] * tile[1] + j < shape[1]"
                    " for i in range(tile[0]) for j in range(tile[1]))"
                ),
                "by coordinates": (
                    "def inside(shape, tile, place):\n"
                    "    i, j = (local_tile(Layout(shape, d), tile, place).offsets() for d in ((1, 0), (0, 1)))\n"
                    "    return int(((i < shape[0]) & (j < shape[1])).sum())"
                ),
            },
        ),
        Exercise(
            id="04.6",
            title="Choose a tile",
            stars=2,
            answers=("tile",),
            check=check_tile,
            hints=(
                "How many tiles of 64 rows does it take for 200 rows? How many rows is that? And columns?",
                "Which multiples of 8 divide 200? Is there one that divides 136, of a useful size?",
                "If none divides 136, which one has a multiple just above it?",
            ),
            why="40 divides 200, and 2 times 72 is 144, only 8 more than 136: the division rounds up by little.",
            also="tile = (40, 48)",
            wrong={
                "the starter": ("tile = ...", "still holds"),
                "the constant": ("tile = (0, 0)", "multiples of 8"),
                "the transposed": ("tile = (72, 40)", "21%, are outside C"),
                "the off-by-one": ("tile = (40, 71)", "multiples of 8"),
                "the one given": ("tile = (64, 64)", "45%, are outside C"),
                "all of C": ("tile = (200, 136)", "27,200 elements"),
                "too small": ("tile = (8, 8)", "64 elements"),
                "the number of tiles": ("tile = (4, 3)", "multiples of 8"),
                "one number": ("tile = 64", "a pair"),
            },
            right={
                "a list": "tile = [40, 48]",
                "flat": "tile = (8, 136)",
                "tall": "tile = (200, 16)",
            },
        ),
        Exercise(
            id="04.7",
            title="A tile in blocks of 8 by 8",
            stars=3,
            answers=("tile_layout",),
            check=check_tile_layout,
            limit=120,
            hints=(
                "What is the layout of one block? How many blocks are there downwards, and how many to the right?",
                "Which operation repeats a small layout? What are its two arguments here?",
                "Which of the products gives a matrix, with the cells of a block together?",
            ),
            why="A blocked product of a row-major 8 by 8 with the layout of the blocks; its tiler says in which order the blocks lie.",
            also=("def tile_layout(rows, columns):\n    return Layout(((8, rows // 8), (8, columns // 8)), ((8, 8 * columns), (1, 64)))"),
            wrong={
                "the starter": ("def tile_layout(rows, columns):\n    return ...", "Line 3 of the cell"),
                "the constant": (
                    "def tile_layout(rows, columns):\n    return Layout(((8, 8), (8, 2)), ((8, 64), (1, 512)))",
                    "the same layout whatever",
                ),
                "the transposed": (
                    "def tile_layout(rows, columns):\n    return blocked_product(Layout((8, 8)), Layout((rows // 8, columns // 8)))",
                    "down the columns",
                ),
                "the off-by-one": (
                    "def tile_layout(rows, columns):\n    return Layout(((8, rows // 8), (8, columns // 8)), ((8, 65), (1, 8 * rows)))",
                    "not where this element",
                ),
                "column-major": ("def tile_layout(rows, columns):\n    return Layout((rows, columns))", "column-major as a whole"),
                "row-major": ("def tile_layout(rows, columns):\n    return Layout((rows, columns), (columns, 1))", "row-major as a whole"),
                "raked": (
                    "def tile_layout(rows, columns):\n    return raked_product(Layout((8, 8), (8, 1)), Layout((rows // 8, columns // 8)))",
                    "deals the copies out",
                ),
                "logical": (
                    "def tile_layout(rows, columns):\n"
                    "    return logical_product(Layout((8, 8), (8, 1)), Layout((rows // 8, columns // 8)))",
                    "(block, copies)",
                ),
                "too many copies": (
                    "def tile_layout(rows, columns):\n    return blocked_product(Layout((8, 8), (8, 1)), Layout((rows, columns)))",
                    "a copy of the block for every element",
                ),
                "swapped": (
                    "def tile_layout(rows, columns):\n"
                    "    return blocked_product(Layout((rows // 8, columns // 8)), Layout((8, 8), (8, 1)))",
                    "64 times",
                ),
                "one block": ("def tile_layout(rows, columns):\n    return Layout((8, 8), (8, 1))", "the same layout whatever"),
                "a layout": ("tile_layout = Layout(((8, 8), (8, 2)), ((8, 64), (1, 512)))", "wanted is a function"),
            },
            right={
                "blocks by rows": (
                    "def tile_layout(rows, columns):\n"
                    "    return blocked_product(Layout((8, 8), (8, 1)), Layout((rows // 8, columns // 8), (columns // 8, 1)))"
                ),
                "notation": "def tile_layout(rows, columns):\n    return f'((8,{rows // 8}),(8,{columns // 8})):((8,64),(1,{8 * rows}))'",
            },
        ),
    )
}
