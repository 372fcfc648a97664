"""Chapter 04, tiling."""

import warnings
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product
from random import Random, SystemRandom

import numpy as np

from exercises.engine.answers import as_layout, as_number, as_tiler, kind, plain, shorten
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_cells, judge_function, judge_layout, judge_tiler, not_right, retold
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
    logical_divide,
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
WHOLE, IN_PAIRS = Layout((8, 12), (12, 1)), (Layout((2, 2), (1, 4)), Layout(4, 3))
SHARED, SHARED_TILE, PLACE, THREADS, THREAD = Layout((24, 20), (20, 1)), (8, 10), (2, 1), Layout((4, 2)), 5
C, LEAST, MOST = (264, 216), 32, 4096
CORE = Layout((8, 8), (8, 1))
BLOCK, TILER = Layout((2, 3), (3, 1)), Layout((4, 2), (2, 1))
LARGE = 2**14  # elements of an answer that is looked through for known mistakes


# --- 04.1


def check_complement(R) -> Verdict:
    """The complement of (2,2):(1,6) up to 24."""
    praise = "A and its copies take each of the 24 slots once, and R counts the copies upwards."
    verdict = judge_layout("R", R, complement(GAPPED, SLOTS), praise, _complement_mistake, shape_counts=False)
    words = verdict.message.replace("gives offset", "starts a copy at slot")
    return replace(verdict, message=words.replace("not where this element belongs", "not the copy that comes there"))


def _complement_mistake(answer) -> Mistake | None:
    """What the copies of A that start at these slots do wrong, in slots."""
    if answer.size > LARGE:
        return None
    starts = answer.offsets().tolist()
    if starts == GAPPED.offsets().tolist():
        words = "That is A again, the slots of one copy. R says where the copies start."
        return Mistake("A itself", words, "The first copy starts at slot 0. Which is the smallest slot that it leaves free?")
    if starts == list(range(SLOTS)):
        words = "A copy for every slot: each copy takes four slots itself."
        return Mistake("a copy a slot", words, "How many copies of four slots fill 24 slots?")
    taken = Counter(slot + start for start in starts for slot in GAPPED.offsets().tolist())
    if twice := sorted(slot for slot, times in taken.items() if times > 1):
        words = f"Slot {twice[0]} is taken more than once."
        return Mistake("slots taken twice", words, "Write down the four slots of each copy. Which two copies meet?")
    if min(taken) < 0:
        words = f"A copy takes slot {min(taken)}, before slot 0."
        return Mistake("before the start", words, "In which direction does each step of R go?")
    if free := sorted(set(range(SLOTS)) - taken.keys()):
        return Mistake("slots left free", f"Nobody takes slot {free[0]}.", "Where must a copy start to take the first free slot?")
    if max(taken) >= SLOTS:
        words = f"A copy reaches slot {max(taken)}, and the last of the 24 slots is 23."
        return Mistake("past the end", words, "Which copies are needed, and which are too many?")
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


def check_in_pairs(tiler) -> Verdict:
    """A tiler of (8,12):(12,1) whose tiles have two pairs of rows and every third column."""
    praise = "Each tile has two pairs of rows and every third column, and what tile 0 leaves free is taken by the same tile, moved."
    read = as_tiler("tiler", tiler)
    try:
        verdict = judge_tiler("tiler", tiler, WHOLE, IN_PAIRS, praise)
    except BadAnswer as refused:
        words = "`tiler` is one layout, and `A` cannot be cut by it." if isinstance(read, Layout) else str(refused)
        verdict = Verdict(State.WRONG, words)
    if verdict.state is not State.WRONG:
        return verdict
    if (table := _tiles_of(read)) is None or table.shape != _tiles_of(IN_PAIRS).shape:
        verdict = replace(verdict, scene=None)  # a table of another size does not help
    return retold(verdict, _tiler_mistake(read))


def _tiler_mistake(tiler) -> Mistake | None:
    """The known mistake of a tiler, in its entries or in the rows and columns of tile 0."""
    tables = [_tiles_of(each) for each in (tiler, IN_PAIRS)]
    if tables[0] is not None and tables[0].shape == tables[1].shape and (np.sort(tables[0], axis=0) == np.sort(tables[1], axis=0)).all():
        return OTHER_ORDER
    if isinstance(tiler, Layout):
        return ONE_LAYOUT
    known = next((mistake for other, mistake in TILER_SLIPS if _same_tiler(tiler, other)), None)
    if known or tables[0] is None:
        return known
    if any(isinstance(entry, tuple) for entry in tiler):
        return None
    right, mine = (
        [sorted(set(range(extent) if entry is None else entry.offsets().tolist())) for entry, extent in zip(each, WHOLE.shape, strict=True)]
        for each in (IN_PAIRS, (*tiler, None)[:2])
    )  # fmt: skip
    if (mine[0] == right[0]) != (mine[1] == right[1]):
        return ROWS_OFF if mine[1] == right[1] else COLUMNS_OFF
    return None


def _tiles_of(tiler) -> np.ndarray | None:
    """The slots of each tile of WHOLE, a tile a column; None where the tiler does not cut it."""
    try:
        with warnings.catch_warnings(action="ignore"):
            cut = zipped_divide(WHOLE, tiler)
    except LayoutError:
        return None
    return cut.offsets().reshape([mode.size for mode in Layout(cut.shape)], order="F") if cut.size <= LARGE else None


def _same_tiler(one, other) -> bool:
    """Whether two tuples have the same entries, as functions: 4 is 4:1."""
    one, other = as_tiler("one", one), as_tiler("other", other)
    if not isinstance(one, tuple) or len(one) != len(other):
        return False
    pairs = list(zip(one, other, strict=True))
    if any(isinstance(entry, tuple) for pair in pairs for entry in pair):
        return False
    return all(mine == theirs if None in (mine, theirs) else same_function(mine, theirs) for mine, theirs in pairs)


# --- 04.4


def right_share() -> Tensor:
    return local_partition(local_tile(SHARED, SHARED_TILE, PLACE), THREADS, THREAD)


def check_share(share) -> Verdict:
    """Thread 5's share of the tile at (2,1) of (24,20):(20,1)."""
    parts = plain(share)
    if isinstance(parts, (tuple, list)) and len(parts) == 2 and sum(isinstance(part, int) for part in parts) == 1:
        layout, offset = sorted(parts, key=lambda part: isinstance(part, int))
    elif isinstance(parts, (tuple, list)) and len(parts) == 2 and any(map(_is_layout, parts)):
        layout, offset = sorted(parts, key=lambda part: not _is_layout(part))
    else:
        layout = None
    if layout is not None:
        try:
            share = Tensor(as_layout("share's layout", layout), as_number("share's offset", offset))
        except LayoutError as error:
            raise BadAnswer(f"`share` is not an offset and a layout: {error}.") from None
    praise = "The tile starts at 16*20 + 10, thread 5 stands one row and one column on, and steps by 4 rows or 2 columns from there."
    return judge_layout("share", share, right_share(), praise, _share_mistake)


def _is_layout(part) -> bool:
    return isinstance(part, CoordinateFunction) or (isinstance(part, str) and ":" in part)


def _share_mistake(answer) -> Mistake | None:
    """What of the offset, or which layout, is another one."""
    right = right_share()
    start, layout = (answer.offset, answer.layout) if isinstance(answer, Tensor) else (0, answer)
    rows, columns = SHARED_TILE
    tile = local_tile(SHARED, SHARED_TILE, PLACE)
    if same_function(layout, right.layout):
        row, column = THREADS.coordinate(THREAD)
        step = SHARED.stride[0]
        for offset, mistake in (
            (0, NO_OFFSET), (tile.offset, NO_POSITION), (row * step + column, NO_TILE),
            (tile.offset + 2 * step + 1, THREADS_BY_ROWS), (PLACE[0] * step + PLACE[1] + row * step + column, PLACE_AS_ROW),
            (tile.offset + THREAD, THREAD_AS_SLOT), (local_tile(SHARED, SHARED_TILE, (1, 1)).offset + row * step + column, None),
        ):  # fmt: skip
            if start == offset and mistake:
                return mistake
        return None
    if same_function(layout, tile.layout):
        return WHOLE_TILE
    if same_function(layout, local_partition(SHARED, THREADS, THREAD).layout):
        return WHOLE_MATRIX
    if same_function(layout, Layout(THREADS.shape, SHARED.stride)) and layout.rank == 2 and layout[0].size == THREADS.shape[0]:
        return ONE_RECTANGLE
    if layout.shape == right.layout.shape and isinstance(layout, Layout):
        if layout.stride == SHARED.stride:
            return ONE_PIECE
        if layout.stride in (THREADS.shape, (THREADS.shape[0], THREADS.shape[1] * SHARED.stride[0])):
            return STEP_IN_ROWS
        if layout.stride == Layout(layout.shape).stride:
            return NO_STRIDES
    return None


# --- 04.5


def right_inside(shape, tile, place, threads, t) -> int:
    number = 1
    for size, extent, p, first, step in zip(shape, tile, place, threads.coordinate(t), threads.shape, strict=True):
        number *= len(range(p * extent + first, min(size, (p + 1) * extent), step))
    return number


def check_inside(inside) -> Verdict:
    """How many elements of a thread's share of a tile are in the matrix."""
    with warnings.catch_warnings(action="ignore"):  # tiles that stick out are what it is about
        return _check_inside(inside)


def _check_inside(inside) -> Verdict:
    seed = SystemRandom().randrange(10**6)
    praise = "It asks where each element of the share stands in the matrix, whichever tile it is in."
    verdict = judge_function("inside", inside, right_inside, some_tiles, praise, seed=seed)
    if verdict.state not in (State.RIGHT, State.WRONG):
        return verdict
    cases = some_tiles(Random(seed))
    answers = _counts(inside, cases)
    bad = 0 if verdict.ok or answers is None else next((n for n, case in enumerate(cases) if answers[n] != right_inside(*case)), 0)
    verdict = replace(verdict, scene=_share_picture(*cases[bad]))
    if verdict.ok:
        return verdict
    # what the judge of numbers guesses, bytes or off by one, is no mistake in a predicate
    return retold(verdict, _inside_mistake(inside, cases))


def _share_picture(shape, tile, place, threads, t) -> Scene:
    """A tile, those outside hatched, with the coordinate in the matrix of each element of a thread's share."""
    rows, columns = tile
    at = [(place[0] * rows + i, place[1] * columns + j) for j in range(columns) for i in range(rows)]
    outside = {n: "outside" for n, (i, j) in enumerate(at) if i >= shape[0] or j >= shape[1]}
    share = {i + rows * j for i, j in _share(tile, threads, t)}
    title = f"the tile at ({place[0]},{place[1]}) of a {shape[0]} by {shape[1]} matrix"
    caption = f"In a cell: the coordinate in the matrix of an element of thread {t}'s share. Hatched: outside."
    labels = [f"{i},{j}" if n in share else "" for n, (i, j) in enumerate(at)]
    return grid(Layout(tile), labels=labels, marks=outside, title=title, caption=caption)


def _share(tile, threads, t) -> list[tuple[int, int]]:
    """The positions in a tile of the elements of thread t, which stands at one position of each rectangle of the shape of `threads`."""
    row, column = threads.coordinate(t)
    return [(i, j) for j in range(column, tile[1], threads.shape[1]) for i in range(row, tile[0], threads.shape[0])]


def some_tiles(random: Random) -> list[tuple]:
    """(shape, tile, place, threads, t): a tall and a wide tile, each with threads of its own, at the corner, the edges and inside of two
    matrices, the second far from square; a matrix smaller than its tile; and the last tile of one that the tile divides. Those at a
    corner and the small one come with every thread."""
    short, long = sorted(random.sample((4, 6, 8), 2))
    kinds = random.sample((((long, short), Layout((long // 2, 2))), ((short, long), Layout((2, long // 2)))), 2)
    tiles = []
    for (tile, threads), (down, right) in product(kinds, ((2, random.choice((3, 4))), (7, 2))):
        rows, columns = tile
        shape = (rows * down + random.randrange(2, rows), columns * right + random.randrange(2, columns))
        tiles += [(shape, tile, place, threads) for place in ((down, right), (down, 0), (0, right), (1, 1), (2, 1), (0, 0))]
    small = (random.randrange(2, rows), random.randrange(2, columns))  # an extent of 1 would get stride 0 from `Layout(shape)`
    tiles += [(small, tile, (0, 0), threads), ((2 * rows, 3 * columns), tile, (1, 2), threads)]
    some = {n: random.sample(range(each[3].size), 2) for n, each in enumerate(tiles) if n not in (0, 6, 12, 18, 24)}
    return [(*each, t) for n, each in enumerate(tiles) for t in some.get(n, range(each[3].size - 1, -1, -1))]


def _counts(inside, cases) -> list[int] | None:
    try:
        return [as_number("answer", inside(*case)) for case in cases]
    except KeyboardInterrupt:
        raise
    except BaseException:  # the verdict says so
        return None


def _inside_mistake(inside, cases) -> Mistake | None:
    """The known predicate that gives the same; a place beyond a small matrix tells apart those that agree on all its tiles."""
    for asked in ([*cases, BEYOND], cases):  # local_tile refuses that place
        if answers := _counts(inside, asked):
            cases = asked
            break
    else:
        return None
    known = ((mistake, [count(*case) for case in cases]) for count, mistake in INSIDE_COUNTS)
    return next((mistake for mistake, counts in known if answers == counts), SAME_NUMBER if len(set(answers)) == 1 else None)


def _count(test, shape, tile, place, threads, t) -> int:
    """How many elements of a thread's share of a tile pass a test(shape, tile, place, i, j)."""
    return sum(bool(test(shape, tile, place, i, j)) for i, j in _share(tile, threads, t))


# --- 04.6


def check_tile(tile, outside) -> Verdict:
    """A tile of C that wastes little, and how much."""
    pair = plain(tile)
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise BadAnswer(f"`tile` is {kind(tile)}; wanted is a pair (rows, columns).")
    rows, columns = (as_number(f"tile[{n}]", extent) for n, extent in enumerate(pair))
    number = as_number("outside", outside)
    if min(rows, columns) < 1 or rows % 8 or columns % 8:
        return Verdict(State.WRONG, f"`tile` is ({rows}, {columns}); both numbers are to be positive multiples of 8.")
    if min(rows, columns) < LEAST:
        return Verdict(State.WRONG, f"A tile of {rows} by {columns} is thin: both numbers are to be at least {LEAST}.", mistake=THIN)
    if rows * columns > MOST:
        return Verdict(State.WRONG, f"A tile of {rows} by {columns} has {rows * columns:,} elements; at most {MOST:,} are asked for.")
    down, right = -(-C[0] // rows), -(-C[1] // columns)
    slots = down * right * rows * columns
    right_number = slots - C[0] * C[1]
    told = f"{down} by {right} tiles of {rows} by {columns} make {slots:,} slots; "
    scene = _tiles_of_C(rows, columns, Layout((down, right)))
    if right_number * 10 > slots:
        told += f"{right_number:,} of them, {right_number / slots:.0%}, are outside C. At most a tenth may be."
        return Verdict(State.WRONG, told, scene, _waste(down * rows - C[0], right * columns - C[1]))
    if number != right_number:
        mistake = _outside_mistake(number, rows, columns)
        words = f"The tile is right. But `outside` is {shorten(number)}, and that is not how many of its slots are outside C."
        return not_right(words, mistake, scene)
    return Verdict(State.RIGHT, f"{told}{number:,} of them, {number / slots:.1%}, are outside C.", scene)


def _outside_mistake(number: int, rows: int, columns: int) -> Mistake | None:
    """What else than the slots outside was counted."""
    down, right = -(-C[0] // rows), -(-C[1] // columns)
    below, beside = down * rows - C[0], right * columns - C[1]
    slots, inside = down * right * rows * columns, C[0] * C[1]
    corner = below * beside
    for other, mistake in (
        (slots, ALL_SLOTS), (inside, INSIDE_COUNTED), (81920 - inside, FIRST_TILE),
        (slots - inside - corner, NO_CORNER), (slots - inside + corner, CORNER_TWICE),
        (below + beside, ONE_LINE), (down * right, TILES_COUNTED),
    ):  # fmt: skip
        if number == other and number != slots - inside:
            return mistake
    return None


def _tiles_of_C(rows: int, columns: int, places: Layout) -> Scene:
    """One cell for each tile, with how much of it is in C."""
    parts = [right_inside(C, (rows, columns), places.coordinate(n), Layout((1, 1)), 0) / (rows * columns) for n in range(places.size)]
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
    if _extents(layout) != [rows, columns]:
        return False
    blocks = _blocks(layout, rows, columns)
    return bool((blocks - blocks[:, :1] == range(64)).all()) and sorted(blocks[:, 0].tolist()) == list(range(0, rows * columns, 64))


def _blocks(layout: CoordinateFunction, rows: int, columns: int) -> np.ndarray:
    """The slots of each 8 by 8 block, a block a row, row by row."""
    table = layout.offsets().reshape(rows, columns, order="F")
    return table.reshape(rows // 8, 8, columns // 8, 8).swapaxes(1, 2).reshape(-1, 64)


def check_tile_layout(tile_layout) -> Verdict:
    """By law; then the lesson's kernel runs with it for its tiles in shared memory."""
    praise = "Each block of 8 by 8 lies in 64 slots, row by row, and the blocks fill the tile."
    wanted = _nearest_of(tile_layout)
    seed = SystemRandom().randrange(10**6)
    verdict = judge_function("tile_layout", tile_layout, wanted, _some_sizes, praise, slips=TILE_LAYOUT_SLIPS, seed=seed)
    if verdict.state is State.WRONG and verdict.mistake is None:
        if _gives_block_and_copies(tile_layout):
            return replace(verdict, message=f"{verdict.message} {BLOCK_AND_COPIES.words}", mistake=BLOCK_AND_COPIES)
        if words := _misplaced(tile_layout, _some_sizes(Random(seed))):
            return replace(verdict, message=f"{words} {MISPLACED.words}", mistake=MISPLACED)
    return _run_with(tile_layout, verdict) if verdict.ok else verdict


def _misplaced(tile_layout, sizes) -> str | None:
    """What is wrong with where the blocks start, at the first size that is wrong, if each block by itself is right at all sizes."""
    told = None
    for rows, columns in sizes:
        try:
            answer = as_layout("answer", tile_layout(rows, columns))
        except KeyboardInterrupt:
            raise
        except BaseException:  # the verdict says so
            return None
        if not isinstance(answer, Layout) or _extents(answer) != [rows, columns]:
            return None
        blocks = _blocks(answer, rows, columns)
        if (blocks - blocks[:, :1] != range(64)).any():
            return None
        starts = Counter(blocks[:, 0].tolist())
        twice = [start for start, times in sorted(starts.items()) if times > 1]
        missing = [start for start in range(0, rows * columns, 64) if start not in starts]
        if told is None and (twice or missing):
            what = f"two blocks start at slot {twice[0]}" if twice else f"no block starts at slot {missing[0]}"
            told = f"In `tile_layout({rows}, {columns})` = {answer}, {what}."
    return told


def _gives_block_and_copies(tile_layout) -> bool:
    """Whether mode 0 of what it gives is one block, at several sizes."""
    try:
        answers = [as_layout("answer", tile_layout(*size)) for size in ((16, 24), (24, 16))]
    except KeyboardInterrupt:
        raise
    except BaseException:  # the verdict says so
        return False
    return all(_extents(answer) == [64, 6] for answer in answers)


def _nearest_of(tile_layout):
    """A right function, with the order of the blocks that is nearest to the reader's: its own answer where that is right."""

    def wanted(rows: int, columns: int):
        by_columns, by_rows = (
            Layout(((8, rows // 8), (8, columns // 8)), ((8, down), (1, right)))
            for down, right in ((64, 8 * rows), (8 * columns, 64))
        )  # fmt: skip
        try:
            answer = as_layout("answer", tile_layout(rows, columns))
        except KeyboardInterrupt:
            raise
        except BaseException:  # the verdict says so
            return by_columns
        if not isinstance(answer, Layout):
            what = f"`tile_layout({rows}, {columns})` is of type {type(answer).__name__}"
            raise BadAnswer(f"{what}; wanted is a plain `Layout`, a shape and strides.")
        if answer.rank == 2 and is_in_blocks(answer, rows, columns):
            return answer
        if answer.size != rows * columns:
            return by_columns
        return max((by_columns, by_rows), key=lambda right: int((right.offsets() == answer.offsets()).sum()))

    return wanted


def _some_sizes(random: Random) -> list[tuple[int, int]]:
    """Sizes that are multiples of 8, small ones first, a square one, single blocks in one direction, and the lesson's own tile."""
    counts = [random.sample((2, 3), 2), *(random.sample((2, 3, 4, 5), 2) for _ in range(3))]
    return [*((8 * down, 8 * right) for down, right in counts), (24, 24), (8, 24), (24, 8), (64, 16)]


def _run_with(tile_layout, law: Verdict) -> Verdict:
    """The verdict on the tiled GEMM whose tiles lie in shared memory as `tile_layout` says; with the words and the picture of the law."""
    from exercises.engine.kernel import judge_gemm, learners_code
    from ladder.tiled import TILE_K, TILE_M, TILE_N, gemm_with
    from layoutviz.cute import to_dsl

    def in_dsl(rows: int):
        with learners_code():
            answer = as_layout("tile_layout", tile_layout(rows, TILE_K))
        if not (isinstance(answer, Layout) and is_in_blocks(answer, rows, TILE_K)):
            raise BadAnswer("`tile_layout` does not give the same each time that it is called.")
        return to_dsl(answer)

    return judge_gemm("tiled_gemm", gemm_with(in_dsl), tile=(TILE_M, TILE_N, TILE_K), law=law)


# --- 04.8


def check_block_and_tiler(block, tiler) -> Verdict:
    """The two layouts of a raked product."""
    block, tiler = as_layout("block", block), as_layout("tiler", tiler)
    given, name = raked_product(BLOCK, TILER), "raked_product(block, tiler)"
    mistake = _raked_mistake(block, tiler)
    try:
        product = raked_product(block, tiler)
    except LayoutError as error:
        words = f"`{name}` has no result: {error}."
        return not_right(words, mistake)
    praise = "The second numbers of the pairs are the block's own; the first ones count copies, which start 6 slots apart."
    verdict = judge_layout(name, product, given, praise, lambda _: mistake)
    if verdict.state is State.WRONG and mistake and verdict.mistake is None:  # where the sizes are right, and the nesting is not
        return replace(verdict, message=f"{verdict.message} {mistake.words}", mistake=mistake)
    return verdict


def _raked_mistake(block: CoordinateFunction, tiler: CoordinateFunction) -> Mistake | None:
    """Which of the two is another one, and what it is instead."""
    if block.shape == BLOCK.shape and same_function(block, BLOCK) and _extents(tiler) != _extents(TILER):
        return TILER_SHAPE
    for others, mistake in RAKED_SLIPS:
        pairs = zip((block, tiler), others, strict=True)
        if all(_extents(mine) == _extents(other) and same_function(mine, other) for mine, other in pairs):
            return mistake
    right = [mine.shape == other.shape and same_function(mine, other) for mine, other in ((block, BLOCK), (tiler, TILER))]
    if right == [True, False]:
        return TILER_OFF
    return BLOCK_OFF if right == [False, True] else None


def _extents(layout: CoordinateFunction) -> list[int]:
    return [mode.size for mode in Layout(layout.shape)]


# --- mistakes of one exercise


ONE_LAYOUT = Mistake(
    "one layout", "One layout counts along the index of the whole, where one column further is 8 on.",
    "Which indices do you mean? Or: what would a tuple say, one entry for the rows and one for the columns?",
)  # fmt: skip
OTHER_ORDER = Mistake(
    "another order", "Each tile has the right elements. But inside a tile they come in another order.",
    "Which row is element 1 of tile 0 in, and which is element 2 in?",
)  # fmt: skip
ROWS_OFF = Mistake("the rows", "The columns of tile 0 are right, its rows are not.", "How are 0, 1, 4, 5 written as a layout?")
COLUMNS_OFF = Mistake("the columns", "The rows of tile 0 are right, its columns are not.", "How are 0, 3, 6, 9 written as a layout?")
_ROWS, _COLUMNS = IN_PAIRS
TILER_SLIPS = (
    ((_COLUMNS, _ROWS), Mistake("entries swapped", "The entries are in the reverse order.", "Which entry cuts the rows?")),
    ((4, _COLUMNS), Mistake("rows together", "It takes four rows that lie together.", "Which rows are free between the two pairs?")),
    ((Layout(4, 2), _COLUMNS), Mistake("every second row", "It takes every second row.", "Which rows does tile 0 have?")),
    ((2, _COLUMNS), Mistake("one pair", "It takes one pair of rows.", "How is the second pair said as well?")),
    ((Layout((2, 2), (1, 3)), _COLUMNS), Mistake(
        "from end to start", "It steps 3 rows from pair to pair, as from the end of one to the start of the next.",
        "How far is it from the start of the first pair to the start of the second?",
    )),
    ((Layout((2, 2), (12, 48)), _COLUMNS), Mistake(
        "slots for rows", "Its steps for the rows are slots. An entry of a tuple counts rows, whatever their stride is.",
        "How many rows is it from pair to pair?",
    )),
    ((_ROWS, 4), Mistake("columns together", "The rows are right, but the columns lie together.", "How far is it from column to column?")),
    ((_ROWS, Layout(3, 4)), Mistake(
        "extent and stride swapped", "The rows are right. But it takes three columns, four apart.",
        "In `n:d`, which number says how many, and which how far?",
    )),
    ((_ROWS, Layout(4, 4)), Mistake("four apart", "The rows are right. But it takes columns four apart.", "Which columns has tile 0?")),
    ((_ROWS, Layout(4, 24)), Mistake(
        "index for columns", "Its step for the columns counts along the whole index. An entry of a tuple counts columns.",
        "How many columns is it from column 0 to column 3?",
    )),
    ((_ROWS, None), Mistake("all columns", "The rows are right. But it leaves the columns whole.", "How many columns has tile 0?")),
)  # fmt: skip

NO_OFFSET = Mistake(
    "offset lost", "The layout is right, but it starts at slot 0. A share is an offset and a layout.", "In which slot is its first element?"
)
NO_POSITION = Mistake(
    "the position in the tile lost", "The layout is right, but it starts where the tile starts. There stands thread 0.",
    "At which coordinate of `(4,2):(1,4)` is the number 5?",
)  # fmt: skip
NO_TILE = Mistake(
    "the tile's offset lost", "The layout is right, but it starts as in the tile at (0,0).", "In which slot does the tile at (2,1) start?"
)
THREADS_BY_ROWS = Mistake(
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
ONE_RECTANGLE = Mistake(
    "one rectangle", "That is one rectangle, where all eight threads stand. Thread 5 has one element in each rectangle.",
    "How many rectangles are there, downwards and to the right?",
)  # fmt: skip
WHOLE_MATRIX = Mistake(
    "all of A", "That is the layout of what thread 5 would get of the whole of `A`.", "Of what is the share to be taken?"
)
ONE_PIECE = Mistake(
    "one piece", "Its elements lie side by side. The threads stand side by side, so a thread's own elements are apart.",
    "Thread 5 stands at one position of each 4 by 2 rectangle. How far is it from one to the next?",
)  # fmt: skip
STEP_IN_ROWS = Mistake(
    "steps in the wrong unit",
    "A step to the next rectangle is right in rows and columns, but not in slots.",
    "How many slots are 4 rows of `A`?",
)
NO_STRIDES = Mistake("A's strides lost", "Those are the strides of a small matrix by itself.", "Which slots do `A`'s own strides give?")

WHOLE_MATRIX_COUNTED = Mistake("the whole matrix", "It counts all elements of the matrix.", "Which rows and columns has the tile at (2,1)?")
NOT_SHARED = Mistake("not shared", "It counts for all threads of the tile together.", "Which elements of the tile are thread `t`'s?")
NOT_SHARED_NOR_TESTED = Mistake("the whole tile", "It counts the whole tile, whoever has its elements.", "Which of them are thread `t`'s?")
SHARE_OF_ALL = Mistake(
    "share of the matrix", "It takes thread `t`'s share of the whole matrix, not of the tile.",
    "Which comes first: to take the tile, or to share it out?",
)  # fmt: skip
ONE = Layout((1, 1)), 0  # one thread, which has the whole tile
BEYOND = (3, 2), (5, 4), (1, 1), *ONE  # a tile that lies beyond a small matrix
SAME_NUMBER = Mistake("a constant", "It gives the same number whatever it is given.", "How many elements of the last tile are outside?")


def _below_remainder(i: int, size: int, extent: int, place: int) -> bool:
    return i < (size % extent if place == -(-size // extent) - 1 else extent)


INSIDE_SLIPS = (
    (lambda shape, tile, place, i, j: i < shape[0] and j < shape[1], Mistake(
        "the colleague's", "It tests where the element stands in its tile, as the colleague's does.",
        "In which row of the matrix is row `i` of the tile at place (2,1)?",
    )),
    (lambda shape, tile, place, i, j: place[0] * tile[0] + i < shape[0] and j < shape[1], Mistake(
        "columns not mended", "The rows are right. But for the columns it does not find where the element stands in the matrix.",
        "In which column of the matrix is column `j` of the tile at place (2,1)?",
    )),
    (lambda shape, tile, place, i, j: i < shape[0] and place[1] * tile[1] + j < shape[1], Mistake(
        "rows not mended", "The columns are right. But for the rows it does not find where the element stands in the matrix.",
        "In which row of the matrix is row `i` of the tile at place (2,1)?",
    )),
    (lambda shape, tile, place, i, j: all(map(_below_remainder, (i, j), shape, tile, place)), Mistake(
        "the remainder", "It takes the remainder at the edge. Where the tile divides the matrix, the last tile is whole, the remainder 0.",
        "How many rows has the last tile of a matrix of 8 rows, in tiles of 4?",
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
    (lambda shape, tile, place, i, j: (place[0] * tile[0] + i) * shape[1] + place[1] * tile[1] + j < shape[0] * shape[1], Mistake(
        "slot tested", "It asks whether the slot exists. Past the end of a row the slot exists, and is another element's.",
        "Which element lies in the slot after the end of a row?",
    )),
    (lambda shape, tile, place, i, j: place[0] * tile[0] + i + (place[1] * tile[1] + j) * shape[0] < shape[0] * shape[1], Mistake(
        "slot tested, by columns", "It asks whether the slot exists. Past the end of a column the slot exists, and is another element's.",
        "Which element lies in the slot after the end of a column?",
    )),
    (lambda shape, tile, place, i, j: place[0] * tile[1] + i < shape[0] and place[1] * tile[0] + j < shape[1], Mistake(
        "extents swapped", "It multiplies the row of the place by the tile's columns.", "How many rows lie above the tile at (2,1)?",
    )),
    (lambda shape, tile, place, i, j: place[1] * tile[0] + i < shape[0] and place[0] * tile[1] + j < shape[1], Mistake(
        "place swapped", "It takes the place's column for its row.", "Which of the two numbers of a place counts downwards?",
    )),
    (lambda shape, tile, place, i, j: place[0] * tile[0] + i < shape[1] and place[1] * tile[1] + j < shape[0], Mistake(
        "limits swapped", "It compares the row with the number of columns.", "Which of the two strides counts rows?",
    )),
    (lambda shape, tile, place, i, j: True, Mistake("no predicate", "It counts the whole share.", "Which tiles stick out?")),
    (lambda shape, tile, place, i, j: (place[0] + 1) * tile[0] <= shape[0] and (place[1] + 1) * tile[1] <= shape[1], Mistake(
        "whole tiles only", "It counts whole tiles only. Of the last ones a part is inside.", "Which elements of the corner tile are real?",
    )),
)  # fmt: skip

# an answer to 04.5 -> its mistake: a predicate on the right share, or another share
INSIDE_COUNTS = (
    *((partial(_count, test), mistake) for test, mistake in INSIDE_SLIPS),
    (lambda shape, tile, place, threads, t: right_inside(shape, tile, place, *ONE), NOT_SHARED),
    (lambda shape, tile, place, threads, t: tile[0] * tile[1], NOT_SHARED_NOR_TESTED),
    (lambda shape, tile, place, threads, t: shape[0] * shape[1], WHOLE_MATRIX_COUNTED),
    (lambda shape, tile, place, threads, t: right_inside(shape, shape, (0, 0), threads, t), SHARE_OF_ALL),
)

THIN = Mistake("thin", "", "How many elements of A and of B does a thin tile fetch, and how many of C does it compute?")
ALL_SLOTS = Mistake("all slots", "That is the number of all slots.", "How many of them are in C?")
INSIDE_COUNTED = Mistake("those inside", "That is the number of elements of C.", "How many slots do all tiles have together?")
FIRST_TILE = Mistake("64 by 64", "That is the number for tiles of 64 by 64.", "How many of your tiles does it take?")
NO_CORNER = Mistake("without the corner", "The corner, both below and beside C, is missing.", "How many slots are in it?")
CORNER_TWICE = Mistake("corner twice", "The corner, both below and beside C, was counted twice.", "How many slots are in it?")
ONE_LINE = Mistake("rows and columns", "That counts rows and columns outside, not slots.", "How many slots has each of them?")
TILES_COUNTED = Mistake("tiles", "That is the number of tiles.", "How many slots do they have together?")

BLOCK_AND_COPIES = Mistake(
    "block and copies", "Its modes are (block, copies). Wanted is a matrix, (rows, columns).", "Which product pairs the modes?"
)
MISPLACED = Mistake(
    "blocks misplaced", "Each block by itself is right.", "How many blocks are there in a column of blocks? How many slots do they fill?"
)
A_DIVISION = Mistake(
    "a division", "A division only renames: every element keeps its slot. Here the slots must be chosen.",
    "In which slot should row 1 of the first block start?",
)  # fmt: skip
TILE_LAYOUT_SLIPS = (
    (lambda rows, columns: logical_divide(Layout((rows, columns), (columns, 1)), (8, 8)), A_DIVISION),
    (lambda rows, columns: logical_divide(Layout((rows, columns)), (8, 8)), A_DIVISION),
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
    (lambda rows, columns: logical_product(CORE, Layout((rows // 8, columns // 8))), BLOCK_AND_COPIES),
    (lambda rows, columns: blocked_product(CORE, Layout((rows, columns))), Mistake(
        "too many copies", "It makes a copy of the block for every element of the tile.", "How many blocks fit into `rows`?",
    )),
    (lambda rows, columns: blocked_product(Layout((rows // 8, columns // 8)), CORE), Mistake(
        "block and tiler swapped", "It repeats a small matrix 64 times, in 8 by 8 copies.", "Which of the two stays together?",
    )),
)  # fmt: skip

TILER_OFF = Mistake(
    "the tiler", "The block is right, the tiler is not.", "How many slots does the block fill? What is a step of 1 copy then?"
)
TILER_SHAPE = Mistake(
    "the tiler's shape", "The block is right. But count the copies downwards and to the right again.",
    "The given layout has 8 rows, the block has 2. How many copies lie below each other?",
)  # fmt: skip
BLOCK_OFF = Mistake("the block", "The tiler is right, the block is not.", "Which of the numbers walk through one copy?")
_FIRST, _SECOND = Layout((4, 2), (12, 6)), BLOCK  # of each pair of modes in the given layout
RAKED_SLIPS = (
    ((TILER, BLOCK), Mistake("swapped", "Block and tiler have changed places.", "Which of the two is repeated?")),
    ((_FIRST, _SECOND), Mistake(
        "as in a blocked product", "You took the first of each pair for the block. In a raked product the copies come first.",
        "Which of two neighbours in a column belong to one copy?",
    )),
    ((_SECOND, _FIRST), Mistake(
        "tiler in slots", "The block is right. But the tiler's strides are slots: they are to count copies.",
        "How many copies further is it from one row to the next?",
    )),
    ((BLOCK, Layout((4, 2))), Mistake(
        "copies by columns",
        "The block is right. But in your product the second copy lies below the first; in the given layout it lies to the right.",
        "Which two copies are next to each other in memory?",
    )),
    ((Layout((4, 2), (12, 3)), Layout((2, 3), (6, 1))), Mistake(
        "as in a logical product",
        "You took mode 0 for the block, as in a logical product. In a raked product each mode is (copies, block).",
        "Which number of each pair walks through one copy, and which one counts copies?",
    )),
    ((Layout((2, 3)), TILER), Mistake(
        "block by columns", "The tiler is right. But the block goes down its columns.", "Which elements of copy 0 are in slots 0 and 1?",
    )),
)  # fmt: skip

_RIGHT_LINE = "(local_partition(local_tile(Layout(shape, d), tile, place), threads, t) for d in ((1, 0), (0, 1)))"


def _inside(line: str) -> str:
    """The cell of 04.5 with its one line filled in."""
    return (
        f"def inside(shape, tile, place, threads, t):\n    i, j = {line}\n"
        "    return int(((i.offsets() < shape[0]) & (j.offsets() < shape[1])).sum())"
    )


def _shared(i: str, j: str) -> str:
    """The cell of 04.5 with thread t's share of a tile of rows and of one of columns."""
    return _inside(f"local_partition({i}, threads, t), local_partition({j}, threads, t)")


def _of_share(condition: str) -> str:
    """A cell of 04.5 that counts the elements (i, j) of the share for which a condition holds."""
    return (
        "def inside(shape, tile, place, threads, t):\n    row, column = threads.coordinate(t)\n"
        "    (M, N), (rows, columns), (p, q) = shape, tile, place\n"
        f"    return sum({condition} for i in range(row, rows, threads.shape[0]) for j in range(column, columns, threads.shape[1]))"
    )


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
                "one mode": ("R = '6:4'", "Nobody takes slot 2."),
                "backwards": ("R = '(3,2):(-2,12)'", "before slot 0"),
                "only six": ("R = '6:1'", "Slot 1 is taken more than once"),
                "too many": ("R = '(3,3):(2,12)'", "A copy reaches slot 35"),
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
            title="Rows in pairs",
            stars=2,
            answers=("tiler",),
            check=check_in_pairs,
            hints=(
                "A tuple has one entry for the rows and one for the columns. Which is the easier one here?",
                "Rows 0, 1, 4, 5: how far is it from row to row, and how far from pair to pair?",
                "A layout that counts with two numbers has two modes. What are their strides, in rows?",
            ),
            why="By mode: two rows in two pairs that start four apart, and four columns, three apart.",
            also="tiler = Layout((2, 2, 4), (1, 4, 24))  # by index: three columns further is 24 on",
            wrong={
                "the starter": ("tiler = ...", "still holds"),
                "the constant": ("tiler = (1, 1)", "tiles of 1 element"),
                "the transposed": ("tiler = (Layout(4, 3), Layout((2, 2), (1, 4)))", "in the reverse order"),
                "the off-by-one": ("tiler = (Layout((2, 2), (1, 4)), Layout(4, 4))", "columns four apart"),
                "rows together": ("tiler = (4, Layout(4, 3))", "four rows that lie together"),
                "rows together, in pairs": ("tiler = (Layout((2, 2), (1, 2)), Layout(4, 3))", "four rows that lie together"),
                "every second row": ("tiler = (Layout(4, 2), Layout(4, 3))", "every second row"),
                "one pair": ("tiler = (2, Layout(4, 3))", "one pair of rows"),
                "from end to start": ("tiler = (Layout((2, 2), (1, 3)), Layout(4, 3))", "It steps 3 rows"),
                "slots for rows": ("tiler = (Layout((2, 2), (12, 48)), Layout(4, 3))", "Its steps for the rows are slots"),
                "pairs last": ("tiler = (Layout((2, 2), (4, 1)), Layout(4, 3))", "in another order"),
                "columns first": ("tiler = Layout((4, 2, 2), (24, 1, 4))", "in another order"),
                "columns together": ("tiler = (Layout((2, 2), (1, 4)), 4)", "the columns lie together"),
                "swapped": ("tiler = (Layout((2, 2), (1, 4)), Layout(3, 4))", "three columns, four apart"),
                "index for columns": ("tiler = (Layout((2, 2), (1, 4)), Layout(4, 24))", "counts along the whole index"),
                "all columns": ("tiler = (Layout((2, 2), (1, 4)), None)", "leaves the columns whole"),
                "other columns": ("tiler = (Layout((2, 2), (1, 4)), Layout(4, 2))", "its columns are not"),
                "other rows": ("tiler = (Layout((2, 2), (2, 4)), Layout(4, 3))", "every second row"),
                "the section's": ("tiler = (Layout(3, 2), 4)", "tiles of 12 elements"),
                "one layout": ("tiler = Layout((4, 4))", "One layout counts along the index"),
                "one layout, refused": ("tiler = Layout((4, 4), (2, 12))", "cannot be cut by it. One layout counts along the index"),
                "slots": ("tiler = Layout((2, 2, 4), (12, 48, 3))", "cannot be cut by it. One layout counts along the index"),
            },
            right={
                "as text": "tiler = ('(2,2):(1,4)', '4:3')",
                "a list": "tiler = [Layout((2, 2), (1, 4)), Layout(4, 3)]",
                "nested": "tiler = Layout(((2, 2), 4), ((1, 4), 24))",
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
                "How many 4 by 2 rectangles are in a tile of 8 by 10, downwards and to the right? How many slots apart?",
            ),
            why="The tile starts at 330, thread 5 stands at (1,1), 21 slots on; 2 by 5 rectangles, 80 and 2 slots apart.",
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
                "one rectangle": ("share = Tensor(Layout((4, 2), (20, 1)), 351)", "where all eight threads stand"),
                "of all of A": ("share = local_partition('(24,20):(20,1)', '(4,2):(1,4)', 5)", "the whole of `A`"),
                "one piece": ("share = Tensor(Layout((2, 5), (20, 1)), 375)", "lie side by side"),
                "rows for slots": ("share = Tensor(Layout((2, 5), (4, 2)), 351)", "not in slots"),
                "compact": ("share = Tensor(Layout((2, 5)), 351)", "a small matrix by itself"),
                "another form, nested": ("share = Tensor(Layout(((1, 2), 5), ((0, 80), 2)), 351)", "how they nest"),
            },
            right={
                "notation": "share = '351 + (2,5):(80,2)'",
                "a pair": "share = (Layout((2, 5), (80, 2)), 351)",
                "a text and an offset": "share = ('(2,5):(80,2)', 351)",
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
                "What do the two layouts of the colleague's line hold: where an element stands in the matrix, or where in its tile?",
                "Which layout of the matrix holds the rows? Which operation gives one tile of it, and which a thread's share of that?",
            ),
            why="A coordinate tensor of the matrix, cut and shared as the matrix is, holds where in the matrix each element stands.",
            also=(
                "def inside(shape, tile, place, threads, t):\n    n = 1\n"
                "    for s, x, p, first, step in zip(shape, tile, place, threads.coordinate(t), threads.shape):\n"
                "        n *= len(range(p * x + first, min(s, (p + 1) * x), step))\n"
                "    return n"
            ),
            wrong={
                "threads always in two rows": (
                    "def inside(shape, tile, place, threads, t):\n    (M, N), (rows, columns), (p, q) = shape, tile, place\n"
                    "    r, c = t % 2, t // 2\n"
                    "    across = range(c, columns, threads.size // 2)\n"
                    "    return sum(p * rows + i < M and q * columns + j < N for i in range(r, rows, 2) for j in across)",
                    "is not right",
                ),
                "the starter": (_inside("..., ..."), "Line 3 of the cell"),
                "the constant": ("def inside(shape, tile, place, threads, t):\n    return 6", "the same number whatever"),
                "the transposed": (_of_share("q * rows + i < M and p * columns + j < N"), "takes the place's column for its row"),
                "the off-by-one": (_inside(_RIGHT_LINE).replace("<", "<="), "behind the edge"),
                "the colleague's": (_shared("Layout(tile, (1, 0))", "Layout(tile, (0, 1))"), "where the element stands in its tile"),
                "not cut": (_shared("Layout(shape, (1, 0))", "Layout(shape, (0, 1))"), "share of the whole matrix"),
                "not shared": (
                    _inside("(local_tile(Layout(shape, d), tile, place) for d in ((1, 0), (0, 1)))"),
                    "all threads of the tile together",
                ),
                "neither": (_inside("Layout(shape, (1, 0)), Layout(shape, (0, 1))"), "all elements of the matrix"),
                "slots": (
                    "def inside(shape, tile, place, threads, t):\n"
                    "    slots = local_partition(local_tile(Layout(shape, (shape[1], 1)), tile, place), threads, t).offsets()\n"
                    "    return int((slots < shape[0] * shape[1]).sum())",
                    "whether the slot exists. Past the end of a row",
                ),
                "slots by columns": (
                    "def inside(shape, tile, place, threads, t):\n"
                    "    slots = local_partition(local_tile(Layout(shape), tile, place), threads, t).offsets()\n"
                    "    return int((slots < shape[0] * shape[1]).sum())",
                    "whether the slot exists. Past the end of a column",
                ),
                "strides swapped": (
                    _inside(_RIGHT_LINE.replace("((1, 0), (0, 1))", "((0, 1), (1, 0))")),
                    "compares the row with the number of columns",
                ),
                "extents swapped": (_of_share("p * columns + i < M and q * rows + j < N"), "by the tile's columns"),
                "columns not mended": (
                    _shared("local_tile(Layout(shape, (1, 0)), tile, place)", "Layout(tile, (0, 1))"),
                    "The rows are right. But for the columns",
                ),
                "rows not mended": (
                    _shared("Layout(tile, (1, 0))", "local_tile(Layout(shape, (0, 1)), tile, place)"),
                    "The columns are right. But for the rows",
                ),
                "the remainder": (
                    _of_share(
                        "i < (M % rows if p == -(-M // rows) - 1 else rows) and j < (N % columns if q == -(-N // columns) - 1 else columns)"
                    ),
                    "the remainder 0",
                ),
                "place as row": (_of_share("p + i < M and q + j < N"), "counts tiles, not rows"),
                "rows only": (_inside(_RIGHT_LINE).replace(" & (j.offsets() < shape[1])", ""), "the rows only"),
                "or": (_inside(_RIGHT_LINE).replace("&", "|"), "if one of its coordinates"),
                "no predicate": (
                    "def inside(shape, tile, place, threads, t):\n    return tile[0] * tile[1] // threads.size",
                    "the whole share",
                ),
                "the whole tile": ("def inside(shape, tile, place, threads, t):\n    return tile[0] * tile[1]", "the whole tile, whoever"),
                "whole tiles only": (_of_share("(p + 1) * rows <= M and (q + 1) * columns <= N"), "whole tiles only"),
                "not a number": ("def inside(shape, tile, place, threads, t):\n    return shape", "whole number"),
            },
            right={
                "four calls": _shared("local_tile(Layout(shape, (1, 0)), tile, place)", "local_tile(Layout(shape, (0, 1)), tile, place)"),
                "offsets added": _shared(
                    "Tensor(Layout(tile, (1, 0)), place[0] * tile[0])", "Tensor(Layout(tile, (0, 1)), place[1] * tile[1])"
                ),
                "by a sum": _of_share("p * rows + i < M and q * columns + j < N"),
            },
        ),
        Exercise(
            id="04.6",
            title="Choose a tile",
            stars=2,
            answers=("tile", "outside"),
            check=check_tile,
            hints=(
                "How many tiles of 64 rows does it take for 264 rows? How many rows is that? And columns?",
                "Which multiples of 8 divide 264, or have a multiple just above it? And 216?",
                "All tiles together are a matrix too. How many rows and columns has it, and how many of its slots are not in C?",
            ),
            why="3 times 88 is 264, and 7 times 32 is 224, only 8 more than 216: the division rounds up by little.",
            also="tile = (40, 72)\noutside = 280 * 216 - 264 * 216",
            wrong={
                "the starter": ("tile = ...\noutside = ...", "still holds"),
                "the constant": ("tile = (0, 0)\noutside = 0", "positive multiples of 8"),
                "the transposed": ("tile = (32, 88)\noutside = 2112", "25%, are outside C"),
                "the off-by-one": ("tile = (88, 31)\noutside = 264", "multiples of 8"),
                "the one given": ("tile = (64, 64)\noutside = 24896", "30%, are outside C"),
                "all of C": ("tile = (264, 216)\noutside = 0", "57,024 elements"),
                "a strip": ("tile = (264, 8)\noutside = 0", "is thin"),
                "the number of tiles": ("tile = (5, 4)\noutside = 2112", "multiples of 8"),
                "one number": ("tile = 64\noutside = 24896", "a pair"),
                "all slots": ("tile = (88, 32)\noutside = 59136", "the number of all slots"),
                "those inside": ("tile = (88, 32)\noutside = 57024", "the number of elements of C"),
                "the columns": ("tile = (88, 32)\noutside = 8", "rows and columns outside, not slots"),
                "of the tile given": ("tile = (88, 32)\noutside = 24896", "for tiles of 64 by 64"),
                "no corner": ("tile = (40, 32)\noutside = 16 * 216 + 8 * 264", "is missing"),
                "the corner twice": ("tile = (40, 32)\noutside = 16 * 224 + 8 * 280", "counted twice"),
                "another number": ("tile = (88, 32)\noutside = 2000", "not how many of its slots"),
                "a share": ("tile = (88, 32)\noutside = 0.036", "whole number"),
            },
            right={
                "a list": "tile = [88, 32]\noutside = '2112'",
                "both edges": "tile = (40, 32)\noutside = 280 * 224 - 264 * 216",
            },
        ),
        Exercise(
            id="04.7",
            title="A tile in blocks of 8 by 8",
            stars=2,
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
                    "no block starts at slot 64",
                ),
                "a fixed stride": (
                    "def tile_layout(rows, columns):\n    return Layout(((8, rows // 8), (8, columns // 8)), ((8, 64), (1, 128)))",
                    "two blocks start at slot 128",
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
                "a division by mode": (
                    "def tile_layout(rows, columns):\n    return logical_divide(Layout((rows, columns), (columns, 1)), (8, 8))",
                    "A division only renames",
                ),
                "a division": (
                    "def tile_layout(rows, columns):\n    return zipped_divide(Layout((rows, columns), (columns, 1)), (8, 8))",
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
                "a tensor": (
                    "def tile_layout(rows, columns):\n    return Tensor(Layout((rows, columns)), 64)",
                    "wanted is a plain `Layout`",
                ),
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
        Exercise(
            id="04.8",
            title="Which block, which tiler?",
            stars=3,
            answers=("block", "tiler"),
            check=check_block_and_tiler,
            hints=(
                "A raked product pairs its modes as (copies, rows) and (copies, columns). Which numbers are the block's own?",
                "How many slots does the block fill, so how far apart are two copies that follow each other in memory?",
                "A tiler counts copies. How many copies further is one row down, and how many is one column to the right?",
            ),
            why="The block is the second of each pair, (2,3):(3,1), and fills 6 slots; 12 and 6 slots are 2 copies and 1 copy.",
            also="block = '(2,3):(3,1)'\ntiler = Layout((4, 2), (12 // Layout(block).size, 6 // Layout(block).size))",
            wrong={
                "the starter": ("block = ...\ntiler = ...", "still holds"),
                "the constant": ("block = tiler = Layout((1, 1), (0, 0))", "mode 0 has 1 element"),
                "the transposed": ("block = Layout((3, 2), (1, 3))\ntiler = Layout((2, 4), (1, 2))", "mode 0 has 6 elements"),
                "the off-by-one": ("block = Layout((2, 3), (3, 1))\ntiler = Layout((4, 2), (2, 2))", "the tiler is not"),
                "swapped": ("block = Layout((4, 2), (2, 1))\ntiler = Layout((2, 3), (3, 1))", "changed places"),
                "as blocked": ("block = Layout((4, 2), (12, 6))\ntiler = Layout((2, 3), (3, 1))", "first of each pair"),
                "tiler in slots": ("block = Layout((2, 3), (3, 1))\ntiler = Layout((4, 2), (12, 6))", "count copies"),
                "copies by columns": ("block = Layout((2, 3), (3, 1))\ntiler = Layout((4, 2))", "lies below the first"),
                "tiler of another shape": ("block = Layout((2, 3), (3, 1))\ntiler = Layout((2, 4), (4, 1))", "count the copies downwards"),
                "as logical": ("block = Layout((4, 2), (12, 3))\ntiler = Layout((2, 3), (6, 1))", "as in a logical product"),
                "tiler transposed": ("block = Layout((2, 3), (3, 1))\ntiler = Layout((2, 4))", "count the copies downwards"),
                "block by columns": ("block = Layout((2, 3))\ntiler = Layout((4, 2), (2, 1))", "down its columns"),
                "another block": ("block = Layout((2, 3), (3, 2))\ntiler = Layout((4, 2), (2, 1))", "the block is not"),
                "a block that overlaps": ("block = Layout((2, 3), (1, 1))\ntiler = Layout((4, 2), (2, 1))", "has no result"),
                "another form": ("block = Layout(((1, 2), 3), ((0, 3), 1))\ntiler = Layout((4, 2), (2, 1))", "how they nest"),
                "another form, the given one": ("block = '((4,2),(2,3)):((12,3),(6,1))'\ntiler = Layout(1)", "how they nest"),
            },
            right={
                "notation": "block = '(2,3):(3,1)'\ntiler = '(4,2):(2,1)'",
                "pairs": "block, tiler = ((2, 3), (3, 1)), [[4, 2], [2, 1]]",
            },
        ),
    )
}
