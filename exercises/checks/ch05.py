"""Chapter 05, swizzle: banks, phases, padding, S<b,m,s>, elements against bytes. Layouts are judged by counting their conflicts."""

import re
from dataclasses import replace
from random import Random

from exercises.engine.answers import as_function, as_layout, kind, plain
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_cells, judge_function, judge_number, judge_table, picture
from exercises.engine.respond import click_cells, fill_grid
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import ComposedLayout, Layout, LayoutError, Swizzle, Tensor, recast_layout
from layoutviz.composed import find_alias
from layoutviz.layout import CoordinateFunction
from layoutviz.memory import Phase, bank_conflicts
from layoutviz.notation import format_tuple
from layoutviz.views.banks import banks

HALVES = Layout((4, 24), (24, 1))  # fp16
BANK = 3
BY_HAND = ComposedLayout(Swizzle(1, 1, 2), 0, Layout((4, 4), (4, 1)))
IN_FP16 = ComposedLayout(Swizzle(2, 4, 3), 0, Layout((8, 128), (128, 1)))
COLUMNS = 108
EIGHT_ROWS = Layout((8, 8), (1, 8))  # thread t: the first 8 elements of row t
NARROW = Layout((16, 16), (16, 1))  # fp32
NARROW_READ = Layout(((16, 4), 4), ((1, 64), 16))  # 16 threads in 16 rows, for each of the 4 pieces of a row
FINE_WRITE = Layout(((16, 16), 4), ((64, 1), 16))  # 16 threads in one row, for each of the 16 rows
FINE_READ = Layout(((16, 16), 4), ((1, 64), 16))  # 16 threads in 16 rows, for each of the 16 pieces of a row
FINE_BYTES = 2500
SQUARE_WRITE = Layout(((8, 32), 4), ((128, 1), 32))  # 8 threads in one row, for each of the 32 rows
SQUARE_READ = Layout(1024, 1)  # a warp for each of the 32 columns
SQUARE_BYTES = 8192
FLOOR = 4  # ways: 4 neighbours stay together, so all of a column lies in 32 / 4 = 8 banks
ROWS, RUN = (32, 64, 128, 256), 128  # elements of fp16 in a row of memory; those of the row that the kernel runs with
SHOWN = 16  # rows of a picture of a large tile


def check_bank_3(cells) -> Verdict:
    """The elements of (4,24):(24,1) of fp16 that lie in bank 3."""
    praise = "Two fp16 share a word, and bank 3 has words 3 and 35 of this tile."
    return judge_cells("cells", cells, HALVES, _in_bank(HALVES, BANK), praise, _bank_mistake)


def _in_bank(layout: Layout, bank: int, bits: int = 16) -> frozenset[int]:
    """The indices of the elements that lie in a bank."""
    return frozenset(index for index, offset in enumerate(layout.offsets().tolist()) if offset * bits // 32 % 32 == bank)


def _bank_mistake(cells: frozenset[int]) -> Mistake | None:
    """What was counted in place of words of 4 bytes."""
    if cells == _in_bank(HALVES, BANK, 32):
        words = "They would lie in bank 3 if each element were a word of 4 bytes. An fp16 has 2."
        return Mistake("elements for words", words, "How many fp16 fit into one word? Which elements are word 0, and which are word 1?")
    if cells == _in_bank(HALVES, BANK, 8):
        words = "They would lie in bank 3 if 4 elements shared a word."
        return Mistake("too small an element", words, "How many bytes has an fp16, and how many a word?")
    if cells == frozenset(index for index in range(HALVES.size) if HALVES.coordinate(index)[1] == BANK):
        words = "You chose column 3. A bank is told by the place in memory, not by the column."
        return Mistake("a column", words, "Which offset has the first element of row 1? Which word is that in?")
    if cells == frozenset(index for index in _in_bank(HALVES, BANK) if index % HALVES.shape[0] == 0):
        words = "After 32 words the banks begin again."
        return Mistake("first round only", words, "Which word lies in bank 0 after word 0? In which row of the tile is it?")
    if cells == {index for index in _in_bank(HALVES, BANK) if HALVES(index) % 2 == 0}:
        words = "You chose the first element of each word. There are two."
        return Mistake("half a word", words, "Which bytes has a word, and which of them has its second element?")
    for by in (-1, 1):
        if cells == _in_bank(HALVES, BANK + by):
            return Mistake("off by one bank", f"Those lie in bank {BANK + by}.", "Which number has the first bank?")
    if cells == _in_bank(Layout(HALVES.shape), BANK):
        words = "They would lie in bank 3 if the tile lay column by column."
        return Mistake("column-major", words, "Which element lies next to (0,0) in memory?")
    return None


def check_by_hand(offsets) -> Verdict:
    """The offsets of S<1,1,2> o 0 o (4,4):(4,1)."""
    return judge_table("offsets", offsets, BY_HAND, "Rows 2 and 3 are shuffled, pair by pair; rows 0 and 1 stay.", _by_hand_mistake)


def _by_hand_mistake(numbers: list[int]) -> Mistake | None:
    """Another swizzle that was applied."""
    for other, words, hint in OTHER_SWIZZLES:
        if numbers == ComposedLayout(other, 0, BY_HAND.inner).offsets().tolist():
            return Mistake(f"{other} for {BY_HAND.outer}", words, hint)
    if numbers == BY_HAND.inner.offsets().tolist():
        words = "These are the offsets before the swizzle."
        return Mistake("no swizzle", words, "Which bit of offset 8 is set? Is it the one that is read?")
    return None


def check_padding(stride, needed) -> Verdict:
    """The smallest row stride at which 8 threads can read 16 bytes each from 8 rows of 108 fp16, without conflict; and the bytes."""
    right = next(n for n in range(COLUMNS, 1024) if _ways(n) == 1)
    rows = Layout((8, COLUMNS), (right, 1))
    praise = "15 pieces of 16 bytes: an odd number, so that 8 rows begin in 8 different groups of banks."
    step = judge_number("stride", stride, right, praise, own=lambda answer: _padding_mistake(answer, right))
    if not step.ok:
        return step
    return judge_number(
        "needed", needed, 2 * rows.cosize, f"{praise} After the last row no padding is needed.", lambda: banks(rows, EIGHT_ROWS, 16, 8),
        lambda answer: _needed_mistake(answer, rows),
    )  # fmt: skip


def _needed_mistake(needed: int, rows: Layout) -> Mistake | None:
    """What was counted in place of the bytes from the first element to the last."""
    if needed == 2 * rows.shape[0] * rows.stride[0]:
        words = "That is 8 whole strides. But after the last row nothing follows."
        return Mistake("padding after the last row", words, "What lies behind the last element of the last row?")
    if needed == 2 * rows.size:
        words = "Those are the bytes of the elements alone. The gaps between the rows take up memory, too."
        return Mistake("the size", words, "At which offset does the last row begin?")
    if needed in (rows.cosize, rows.size, rows.shape[0] * rows.stride[0]):
        return Mistake("elements for bytes", "That counts elements.", "How many bytes has an fp16?")
    if needed == 2 * (rows.cosize - 1):
        words = "There the last element begins. It takes up memory, too."
        return Mistake("the last byte address", words, "How many bytes has the last element?")
    if needed in [2 * factor * rows.cosize for factor in (2, 4, 8, 16)]:
        return Mistake("too wide an element", "It is a few times too large, as for wider elements.", "How many bytes has an fp16?")
    return None


def _ways(stride: int) -> int | None:
    """The ways of that read, None where it is not possible."""
    try:
        return bank_conflicts(Layout((8, COLUMNS), (stride, 1)), EIGHT_ROWS, 16, 8).ways
    except LayoutError:
        return None


def _padding_mistake(stride: int, right: int) -> Mistake | None:
    if stride == 2 * right:
        return None  # bytes: the general recogniser says so
    if stride < 0:
        return Mistake("backward rows", "Row 1 would begin before row 0, where the tile begins.", "Which sign has a row stride?")
    if stride < COLUMNS:
        words = f"A row has {COLUMNS} elements, so the next one would begin inside it."
        return Mistake("rows overlap", words, "How far must it be from one row to the next at least?")
    if stride > 2**20:
        return Mistake("far too much", "That is far more than shared memory has.", "Which strides are possible at all?")
    ways = _ways(stride)
    if ways is None:
        words = f"Row 1 would begin at byte {2 * stride}, and no 16-byte read can begin there."
        return Mistake("unaligned rows", words, "Which multiples can a read of 16 bytes begin at? How many elements is that?")
    if ways > 1:
        words = f"The read is possible there, but it is {ways}-way: some rows begin in the same bank."
        return Mistake("an even number of pieces", words, "How many pieces of 16 bytes is this stride? In which bank does each row begin?")
    words = "That is free of conflicts, but a smaller stride is, too."
    return Mistake("too much padding", words, "Which strides are free? Which is the first?")


def check_same_bytes(same_bytes) -> Verdict:
    """A swizzled layout of fp16, for elements of any width in the same bytes."""
    praise = "Every byte stays where it is, whatever the elements are."
    verdict = judge_function("same_bytes", same_bytes, _same_bytes, _widths, praise, slips=SAME_BYTES_SLIPS)
    if "is of type Swizzle" in verdict.message:
        return Verdict(State.WRONG, f"{verdict.message} {SWIZZLE_ALONE.words}", mistake=SWIZZLE_ALONE)
    return verdict


def _widths(random: Random) -> list[tuple[int]]:
    return [(bits,) for bits in random.sample((8, 16, 32, 64), 4)]


def _same_bytes(bits: int) -> ComposedLayout:
    return recast_layout(bits, 16, IN_FP16)


def _rows_with(bits: int, b: int, m: int, s: int) -> ComposedLayout:
    columns = 2048 // bits
    return ComposedLayout(Swizzle(b, m, s), 0, Layout((8, columns), (columns, 1)))


def _log2_bytes(bits: int) -> int:
    return (bits // 8).bit_length() - 1


def as_swizzle(name: str, value) -> Swizzle:
    """A swizzle: itself, its notation, or the three numbers (b, m, s). BadAnswer for anything else."""
    value = plain(value)
    try:
        if isinstance(value, Swizzle):
            return value
        if isinstance(value, str):
            return Swizzle(value)
        if isinstance(value, (tuple, list)) and len(value) == 3 and all(type(n) is int for n in value):
            return Swizzle(*value)
    except LayoutError as error:
        raise BadAnswer(f"`{name}` is no swizzle: {error}.") from None
    what = f"`{value}`, a whole layout" if isinstance(value, CoordinateFunction) else kind(value)
    raise BadAnswer(f"`{name}` is {what}; wanted is a swizzle, written as in `Swizzle(3, 4, 5)`.")


def check_narrow(swizzle) -> Verdict:
    """A swizzle of (16,16):(16,1) of fp32 for reads of 16 bytes from 8 rows, within the tile's slots."""
    given = as_swizzle("swizzle", swizzle)
    layout = ComposedLayout(given, 0, NARROW)
    if wrong := _outside(given, NARROW) or _unreadable(layout, NARROW_READ, 32, 4, "read", lambda: _narrow_mistake(given)):
        return wrong
    praise = "Each read of 8 rows is served in one pass, and no slot was added."
    return _free(layout, NARROW_READ, 32, 4, praise, lambda: _narrow_mistake(given))


def _outside(swizzle: Swizzle, tile: Layout) -> Verdict | None:
    """The verdict on a swizzle that takes elements out of the tile's slots."""
    before = tile.offsets().tolist()
    after, slots = swizzle.at(tile.offsets()).tolist(), set(before)
    bad = next((i for i, offset in enumerate(after) if offset not in slots), None)
    if bad is None:
        return None
    told = f"{swizzle} takes the element at offset {before[bad]} to offset {after[bad]}, which is no slot of this tile. {OUTSIDE.words}"
    (rows, columns), row = tile.shape, bad % tile.shape[0]
    near = Layout((row + 1, columns), tile.stride) if row < SHOWN else tile
    return Verdict(State.WRONG, told, picture(ComposedLayout(swizzle, 0, near), row + bad // rows * near.shape[0]), OUTSIDE)


def _unreadable(layout, threads, bits: int, vector: int, verb: str, mistake=lambda: None) -> Verdict | None:
    """The verdict on a layout whose elements some thread cannot move at once, or None."""
    try:
        bank_conflicts(layout, threads, bits, vector)
    except LayoutError as error:
        found = mistake() or BROKEN
        message = f"This {verb} is not possible: {error}. {found.words}"
        return Verdict(State.WRONG, message, picture(layout), found)
    return None


def _free(layout, threads, bits: int, vector: int, praise: str, mistake=lambda: None, verb: str = "read", ways: int = 1) -> Verdict:
    """RIGHT where the access has at most so many ways; else WRONG, with the board of the first phase that has more."""
    found = bank_conflicts(layout, threads, bits, vector)
    over = next((phase for phase in found.phases if phase.ways > ways), None)
    scene = banks(layout, _of_phase(threads, over or found.phases[0], vector), bits, vector)
    if over is None:
        return Verdict(State.RIGHT, praise, scene)
    known = mistake()
    told = f"The {verb} is {over.ways}-way for the threads below."
    return Verdict(State.WRONG, f"{told} {known.words}" if known else told, scene, known)


def _of_phase(threads: Layout, phase: Phase, vector: int) -> Tensor:
    """The access of one phase alone, so that its picture is small. Its threads are neighbours along the first leaf of `threads`."""
    lanes, steps = len(phase.threads), [stride for _, stride in threads.leaves]
    return Tensor(Layout((lanes, vector), (steps[0], steps[-1])), threads(phase.threads[0]))


def _narrow_mistake(given: Swizzle) -> Mistake | None:
    """Which number of a swizzle for NARROW is not right."""
    if not given.b:
        return NO_BITS
    if given.m > 2:
        words = f"It keeps {2**given.m} elements together. A thread moves 4 at once."
        return Mistake("m too large", words, "How many bytes has an fp32? How many of them are 16 bytes, and which power of 2 is that?")
    if given.s < 0:
        return UPWARD
    if given.m < 2:
        return None
    if given.m + given.s < 4:
        return _piece_bit(given)
    if given.m + given.s == 4:
        return ROW_FOR_128
    if given.m + given.s > 5:
        words = "It reads too far up: rows that meet are shuffled alike."
        return Mistake("s too large", words, "Which rows begin in the same bank? Which bits of the offset tell these apart?")
    if given.b < 2:
        words = "Its bits do not tell all rows apart that meet."
        return Mistake("b too small", words, "How many of 8 neighbouring rows begin in the same bank?")
    return None


def check_fine(layout) -> Verdict:
    """A layout of (16,64) fp16 whose row write and column read, of 8 bytes a thread, are both free."""
    answer, wrong = _storage(layout, (16, 64))
    if wrong:
        return wrong
    if wrong := _unreadable(answer, FINE_WRITE, 16, 4, "write of a row") or _unreadable(answer, FINE_READ, 16, 4, "read of a column"):
        return wrong
    if 2 * answer.cosize > FINE_BYTES:
        told = f"It needs {2 * answer.cosize} bytes; at most {FINE_BYTES} are asked for."
        return Verdict(State.WRONG, told, picture(answer))
    write = _free(answer, FINE_WRITE, 16, 4, "", verb="write of a row")
    read = _free(answer, FINE_READ, 16, 4, f"Both are free of conflicts, in {2 * answer.cosize} bytes.", lambda: _fine_mistake(answer),
                 "read of a column")  # fmt: skip
    return read if write.ok else write


def _storage(value, sizes: tuple[int, int]) -> tuple[CoordinateFunction, Verdict | None]:
    """A layout that can hold a tile of these sizes, and the verdict where it cannot."""
    if isinstance(value, Swizzle):
        raise BadAnswer("`layout` is a swizzle alone, which has no shape. Put it after a layout: `ComposedLayout(swizzle, 0, layout)`.")
    answer = as_layout("layout", value)
    have = tuple(mode.size for mode in Layout(answer.shape).modes())
    if have != sizes:
        told = f"`layout` has shape {format_tuple(answer.shape)}; wanted are {sizes[0]} rows and {sizes[1]} columns."
        return answer, Verdict(State.WRONG, told, picture(answer))
    if pair := find_alias(answer):
        told = f"Indices {pair[0]} and {pair[1]} share slot {answer(pair[0])}. In a tile every element needs a slot of its own."
        return answer, Verdict(State.WRONG, told, picture(answer, pair[1]), SHARED)
    if (low := int(answer.offsets().min())) < 0:
        return answer, Verdict(State.WRONG, f"It reaches offset {low}; a tile's memory begins at 0.", picture(answer))
    return answer, None


def _fine_mistake(answer: CoordinateFunction) -> Mistake | None:
    """What a layout of FINE was made for, where it is not for 8 bytes a thread."""
    if isinstance(answer, Layout):
        if len(answer.leaves) == 2 and answer.stride[1] == 1:
            pieces = answer.stride[0] // 4
            words = f"Its rows are {pieces} pieces of 8 bytes apart, an even number."
            return None if pieces % 2 else Mistake("an even number of pieces", words, "In which bank does each row begin?")
        return None
    if isinstance(answer, ComposedLayout) and isinstance(answer.outer, Swizzle) and answer.inner == Layout((16, 64), (64, 1)):
        given = answer.outer
        if given.m > 2:
            words = f"Its swizzle keeps {2**given.m} elements together. A thread moves 4 at once."
            return Mistake("m for 16 bytes", words, "How many elements are 8 bytes? Which power of 2 is that?")
        if given.b < 4:
            words = "Its swizzle shuffles too few rows differently. At 8 bytes a thread a phase has 16 threads."
            return Mistake("b for 8 threads", words, "How many rows meet in a phase? How many bits tell so many apart?")
    return None


def check_square(ways, layout) -> Verdict:
    """The fewest ways, and a layout of (32,32) fp32 that has them, of a column, where 16 bytes a thread are written free of conflicts."""
    fewest = judge_number("ways", ways, FLOOR, "4 neighbours stay together.", own=_fewest_mistake)
    if not fewest.ok:
        return fewest
    answer, wrong = _storage(layout, (32, 32))
    if wrong or (wrong := _unreadable(answer, SQUARE_WRITE, 32, 4, "write of 16 bytes")):
        return wrong
    if 4 * answer.cosize > SQUARE_BYTES:
        return Verdict(State.WRONG, f"It needs {4 * answer.cosize} bytes; at most {SQUARE_BYTES} are asked for.", picture(answer))
    if bank_conflicts(answer, SQUARE_WRITE, 32, 4).conflicts:
        return _free(answer, SQUARE_WRITE, 32, 4, "", verb="write of a row")
    praise = "4-way, and no layout does better: 4 neighbours stay together, so a column can lie in only 8 of the 32 banks."
    return _free(answer, SQUARE_READ, 32, 1, praise, lambda: _banks_mistake(answer), "write is free; the read of a column", FLOOR)


def _fewest_mistake(ways: int) -> Mistake | None:
    """Which limit of the ways of a column was not seen."""
    banks_for = -(-32 // ways) if ways > 0 else 0
    if 1 <= ways < FLOOR:
        words = f"For {ways}-way, a column would have to lie in {banks_for} banks."
        hint = "Columns 0 to 3 of a row stay together, from a multiple of 16 bytes on. In which banks can column 0 lie?"
        return Mistake("too few ways", words, hint)
    if FLOOR < ways <= 32:
        words = f"A column can do with fewer: {ways} ways are 32 rows in {banks_for} bank{'s' * (banks_for > 1)}."
        return Mistake("too many ways", words, "In how many banks could a column lie, if 4 neighbours of a row stay together?")
    return None


def _banks_mistake(answer: CoordinateFunction) -> Mistake:
    """In how many banks the column lies that is read with too many ways."""
    worst = next(phase for phase in bank_conflicts(answer, SQUARE_READ, 32).phases if phase.ways > FLOOR)
    used = sum(map(bool, worst.banks))
    if used < 32 // FLOOR:
        words = f"That column lies in {used} bank{'s' * (used > 1)}. In how many could it lie, if 4 neighbours stay together?"
    else:
        words = f"That column lies in {used} banks, but one of them has more rows than the others."
    hint = "In which banks can column 0 lie, if columns 0 to 3 of a row stay together? Does each row choose among all of them?"
    return Mistake("more banks", words, hint)


def check_rows(swizzle_for) -> Verdict:
    """For each row of memory a swizzle of the tile in it, by counting; then the lesson's kernel runs with one of them."""
    from exercises.engine.kernel import learners_code

    function, found = as_function("swizzle_for", swizzle_for, 1), {}
    for row in ROWS:
        with learners_code():
            try:
                answer = function(row)
                if answer is None:
                    raise BadAnswer(f"`swizzle_for({row})` gives None. A function gives back what stands after its `return`.")
                found[row] = as_swizzle(f"swizzle_for({row})", answer)
            except (LayoutError, BadAnswer) as refused:
                if wrong := _overlapping(row, str(refused)):
                    return wrong
                raise
    for row, given in found.items():
        if wrong := _wrong_in_rows_of(row, given):
            return replace(wrong, message=f"`swizzle_for({row})` is {given}. {wrong.message}")
    praise = "In all four rows each read of 8 rows is served in one pass, and no other tile is touched."
    law = _free(ComposedLayout(found[RUN], 0, tile_in(RUN)), _read_of(RUN), 16, 8, praise)
    return _run_with(found[RUN], law)


def tile_in(row: int) -> Layout:
    """The tile of fp16 at the beginning of 64 rows of memory."""
    return Layout((64, min(row, 64)), (row, 1))


def _read_of(row: int) -> Layout:
    """64 threads in 64 rows, for each piece of a row."""
    return Layout(((64, min(row, 64) // 8), 8), ((1, 512), 64))


def _wrong_in_rows_of(row: int, given: Swizzle) -> Verdict | None:
    tile, read = tile_in(row), _read_of(row)
    layout = ComposedLayout(given, 0, tile)

    def mistake():
        return _rows_mistake(row, given)

    if wrong := _outside(given, tile) or _unreadable(layout, read, 16, 8, "read", mistake):
        return wrong
    return _free(layout, read, 16, 8, "", mistake) if bank_conflicts(layout, read, 16, 8).conflicts else None


def _overlapping(row: int, refused: str) -> Verdict | None:
    """The verdict where a swizzle was refused because its bits overlap; None where something else was."""
    asked = re.search(r"S<\d+,(\d+),(-?\d+)>(?=: the \d+ bits read and)", refused)
    if not asked:
        return None
    m, s = map(int, asked.groups())
    mistake = ROW_FOR_128 if row < 64 and m + s == row.bit_length() - 1 else OVERLAP
    told = f"`swizzle_for({row})` asks for {asked[0]}, which cannot be: the bits read and the bits changed overlap. {mistake.words}"
    return Verdict(State.WRONG, told, _free(tile_in(row), _read_of(row), 16, 8, "").scene, mistake)


def _rows_mistake(row: int, given: Swizzle) -> Mistake | None:
    """Which number of a swizzle is not right for a tile in rows of so many elements."""
    if not given.b:
        return NO_BITS
    if given.m > 3:
        words = f"It keeps {2**given.m} elements together. A thread moves 8 at once."
        return Mistake("m too large", words, "How many fp16 are 16 bytes? Which power of 2 is that?")
    if given.s < 0:
        return UPWARD
    if given.m < 3:
        return None
    read, differ = given.m + given.s, max(row, 64).bit_length() - 1
    if read < min(row, 64).bit_length() - 1:
        return _piece_bit(given)
    if read < differ:
        if row < 64:
            return ROW_FOR_128
        words = f"It reads from bit {read} on. There it finds a bit that is the same in all rows of the tile."
        return Mistake("rows of 64", words, "How far apart are two rows here? At which bit of the offset does the row begin?")
    if read > differ:
        words = "It reads too far up: rows that meet are shuffled alike."
        return Mistake("s too large", words, "Which is the lowest bit in which rows that meet differ?")
    if 2**given.b < min(row, 64) // 8:
        words = "Its bits do not tell all rows apart that meet."
        return Mistake("b too small", words, "How many ways has the read without a swizzle?")
    return None


def _piece_bit(given: Swizzle) -> Mistake:
    words = f"It reads from bit {given.m + given.s} on. That bit tells pieces of one row apart."
    return Mistake("a piece's bit", words, "At which bit of the offset does the row begin?")


def _run_with(given: Swizzle, law: Verdict) -> Verdict:
    """The verdict on the tiled GEMM whose tiles lie so, in rows of RUN elements; with the words and the picture of the law."""
    import cutlass.cute as cute

    from exercises.engine.kernel import judge_gemm
    from ladder import tiled_swizzled as rung

    def tile_layout(rows: int):
        swizzle = cute.make_swizzle(given.b, given.m, given.s)
        return cute.make_composed_layout(swizzle, 0, cute.make_layout((rows, rung.TILE_K), stride=(RUN, 1)))

    return judge_gemm("tiled_gemm", rung.gemm_with(tile_layout), tile=(rung.TILE_M, rung.TILE_N, rung.TILE_K), law=law)


# --- mistakes of one exercise


OTHER_SWIZZLES = (
    (
        Swizzle(1, 1, 1), "You read bit 2, the lower bit of the row. `m + s` says which bit is read.",
        "What is m + s here? Which bit is that?",
    ),
    (
        Swizzle(1, 0, 2), "You read bit 2 and changed bit 0. `m` says which bit is changed, and `m + s` which is read.",
        "What are m and m + s?",
    ),
    (
        Swizzle(1, 0, 3), "You changed bit 0, so that neighbours change places. `m` says which bit is changed.",
        "How many elements does m keep together?",
    ),
    (
        Swizzle(2, 0, 2), "You read and changed two bits, the whole row onto the whole column. `b` says how many.",
        "What is b here?",
    ),
    (
        Swizzle(1, 2, 1), "You changed a bit of the row.",
        "Which bit does m name, if the lowest one is bit 0? Row or column?",
    ),
)  # fmt: skip
SAME_BYTES_SLIPS = (
    (lambda bits: _rows_with(bits, 2, 4, 3), Mistake(
        "elements for bytes", "That is the colleague's line: it keeps 16 elements together, however wide they are.",
        "How many bytes are 16 fp16? How many elements of `bits` bits are that?",
    )),
    (lambda bits: _rows_with(bits, 2, 4 - _log2_bytes(bits), 3), Mistake(
        "the swizzle as one on bytes", "It keeps 16 bytes together. That would be right if the given swizzle counted bytes.",
        "What does the given swizzle count? How many bytes does it keep together?",
    )),
    (lambda bits: recast_layout(bits, 8, IN_FP16), Mistake(
        "recast from bytes", "Here the layout is recast from elements of 8 bits. The given one is not on bytes.",
        "How wide are the elements of the given layout?",
    )),
    (lambda bits: recast_layout(16, bits, IN_FP16), Mistake(
        "old and new width swapped", "The wider its elements, the more of them are in a row: the old and the new width are swapped.",
        "Which width does `recast_layout` take first?",
    )),
    (lambda bits: _rows_with(bits, 2, 3 + _log2_bytes(bits), 3), Mistake(
        "the wrong way", "Its `m` grows with the element. The wider an element, the fewer of them are as many bytes.",
        "How many fp16 are 32 bytes? How many fp32?",
    )),
    (lambda bits: _rows_with(bits, 2, 5 - _log2_bytes(bits), 2 + _log2_bytes(bits)), Mistake(
        "s changed too", "Its `m` is right. But `m + s` changes as well, since a row has another number of elements.",
        "How far apart are the bits that are read and those that are changed, in the byte address?",
    )),
    (lambda bits: recast_layout(bits, 16, _rows_with(bits, 2, 4, 3)), Mistake(
        "recast twice", "`columns` already counts elements of the new width. A layout that is recast from fp16 must have 128 columns.",
        "Which layout counts fp16?",
    )),
    (lambda bits: ComposedLayout(_same_bytes(bits).outer, 0, IN_FP16.inner), Mistake(
        "rows as they were", "Its swizzle is right. But the rows have 128 elements for every width.",
        "How many elements of `bits` bits are the bytes of one row?",
    )),
    (lambda bits: _same_bytes(bits).inner, Mistake(
        "no swizzle", "The rows are right; the swizzle is missing.", "Which kind of layout puts a swizzle after another layout?",
    )),
)  # fmt: skip
OUTSIDE = Mistake(
    "outside", "Somebody else's data may lie there.",
    "Which bits of the offset are changed? Do they all count pieces of one row of this tile?",
)  # fmt: skip
ROW_FOR_128 = Mistake(
    "a row for 128 bytes", "It reads from where a row ends. But two rows of 64 bytes share one round of the banks, and never meet.",
    "How many elements are 128 bytes? At which bit of the offset do they end?",
)  # fmt: skip
OVERLAP = Mistake(
    "overlap", "`s` must be at least `b`.", "How many of 8 neighbouring rows meet? How many bits tell them apart, and from which one on?"
)
NO_BITS = Mistake("no bits", "With `b` = 0 it changes nothing.", "How many rows meet, and how many bits tell them apart?")
UPWARD = Mistake(
    "s below 0", "With `s` below 0 it reads lower bits and changes higher ones.",
    "Which bits are to be changed, those of the row or those of the column?",
)  # fmt: skip
BROKEN = Mistake(
    "neighbours torn apart", "What a thread moves at once must stay side by side, in order, and begin at a multiple of its size.",
    "How many elements does one thread move at once? How many does the layout keep together?",
)  # fmt: skip
SHARED = Mistake("shared slots", "Two elements share a slot.", "How far is it from one row to the next, and how long is a row?")
SWIZZLE_ALONE = Mistake(
    "the swizzle alone", "A swizzle has no shape. Wanted is a layout with it: `ComposedLayout(swizzle, 0, layout)`, or notation.",
    "Which rows and columns is the swizzle put on?",
)  # fmt: skip


def _same(result: str) -> str:
    """The source of a `same_bytes`: n elements in a row, of 2^k bytes each."""
    return f"def same_bytes(bits):\n    n, k = 2048 // bits, (bits // 8).bit_length() - 1\n    return {result}"


def _swizzled(m_and_s: str) -> str:
    return f"ComposedLayout(Swizzle(2, {m_and_s}), 0, Layout((8, n), (n, 1)))"


def _function(result: str) -> str:
    return f"def swizzle_for(row):\n    return {result}"


def _by_first(result: str) -> str:
    """A right function's source but for its result."""
    return f"def swizzle_for(row):\n    b = 2 if row == 32 else 3\n    first = max(row, 64).bit_length() - 1\n    return {result}"


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="05.1",
            title="Who lives in bank 3?",
            stars=1,
            answers=("cells",),
            check=check_bank_3,
            respond=click_cells("cells", HALVES),
            hints=(
                "How many elements of 2 bytes fit into a word of 4 bytes?",
                "Which word lies in bank 3 first, and which one next?",
                "Which offsets have the elements of those words?",
            ),
            why="Bank 3 has words 3 and 35, that is offsets 6, 7 and 70, 71; row 2 begins at offset 48.",
            also="cells = [(i, j) for i in range(4) for j in range(24) if (24 * i + j) // 2 % 32 == 3]",
            wrong={
                "the starter": ("cells = ...", "Line 2 of the cell"),
                "the constant": ("cells = range(96)", "92 of your 96 cells"),
                "the transposed": ("cells = [(2, 1), (3, 1), (2, 17), (3, 17)]", "column by column"),
                "the off-by-one": ("cells = [(0, 8), (0, 9), (3, 0), (3, 1)]", "in bank 4"),
                "the off-by-one, early": ("cells = [(0, 4), (0, 5), (2, 20), (2, 21)]", "in bank 2"),
                "elements for words": ("cells = [(0, 3), (1, 11), (2, 19)]", "if each element were a word"),
                "bytes": ("cells = [(0, 12), (0, 13), (0, 14), (0, 15)]", "if 4 elements shared a word"),
                "a column": ("cells = [(0, 3), (1, 3), (2, 3), (3, 3)]", "You chose column 3"),
                "first round only": ("cells = [(0, 6), (0, 7)]", "the banks begin again"),
                "one of four": ("cells = [(0, 6)]", "some are still missing"),
                "half a word": ("cells = [(0, 6), (2, 22)]", "the first element of each word"),
            },
            right={
                "indices": "cells = [24, 28, 90, 94]",
                "first and second swapped": "cells = [(0, 7), (0, 6), (2, 22), (2, 23)]",
                "first and third swapped": "cells = [(2, 22), (0, 7), (0, 6), (2, 23)]",
                "first and last swapped": "cells = [(2, 23), (0, 7), (2, 22), (0, 6)]",
                "second and third swapped": "cells = [(0, 6), (2, 22), (0, 7), (2, 23)]",
                "second and last swapped": "cells = [(0, 6), (2, 23), (2, 22), (0, 7)]",
                "third and last swapped": "cells = [(0, 6), (0, 7), (2, 23), (2, 22)]",
                "a set": "cells = {(2, 23), (2, 22), (0, 7), (0, 6)}",
                "by the library": "L = Layout('(4,24):(24,1)')\ncells = [n for n in range(96) if L(n) * 2 // 4 % 32 == 3]",
            },
        ),
        Exercise(
            id="05.2",
            title="A swizzle by hand",
            stars=1,
            answers=("offsets",),
            check=check_by_hand,
            respond=fill_grid("offsets", 4, 4),
            hints=(
                "Which bit is m + s, if the lowest is bit 0? For which rows is it 1?",
                "Onto which bit does it go? What does changing that bit do to the numbers 8, 9, 10, 11?",
                "Which number comes second, if the index runs down the columns?",
            ),
            why="Bit 3 is 1 in rows 2 and 3; there bit 1 changes, so that the first and the second pair of the row change places.",
            also="offsets = [n ^ (2 if n & 8 else 0) for j in range(4) for n in range(j, 16, 4)]",
            wrong={
                "the starter": ("offsets = ...", "Line 2 of the cell"),
                "the constant": ("offsets = [0] * 16", "same offset"),
                "the transposed": ("offsets = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 8, 9, 14, 15, 12, 13]", "along the rows"),
                "the off-by-one": ("offsets = [1, 5, 11, 15, 2, 6, 12, 16, 3, 7, 9, 13, 4, 8, 10, 14]", "off by the same amount"),
                "no swizzle": ("offsets = Layout('(4,4):(4,1)').offsets()", "before the swizzle"),
                "bit 2": ("offsets = ComposedLayout('S<1,1,1> o 0 o (4,4):(4,1)').offsets()", "the lower bit of the row"),
                "bit 0": ("offsets = ComposedLayout('S<1,0,3> o 0 o (4,4):(4,1)').offsets()", "neighbours change places"),
                "bits 2 and 0": ("offsets = ComposedLayout('S<1,0,2> o 0 o (4,4):(4,1)').offsets()", "You read bit 2 and changed bit 0"),
                "two bits": ("offsets = ComposedLayout('S<2,0,2> o 0 o (4,4):(4,1)').offsets()", "read and changed two bits"),
                "m as a number": ("offsets = ComposedLayout('S<1,2,1> o 0 o (4,4):(4,1)').offsets()", "a bit of the row"),
                "bytes for elements": ("offsets = [2 * n for n in (0, 4, 10, 14, 1, 5, 11, 15, 2, 6, 8, 12, 3, 7, 9, 13)]", "bytes"),
                "one wrong": ("offsets = [0, 4, 10, 14, 1, 5, 11, 15, 2, 6, 8, 12, 3, 7, 9, 12]", "Index 15 is coordinate (3,3)"),
                "one missing": ("offsets = [0, 4, 10, 14, 1, 5, 11, 15, 2, 6, 8, 12, 3, 7, 9]", "has 15 numbers"),
                "another form, rows": (
                    "offsets = [[0, 1, 2, 3], [4, 5, 6, 7], [10, 11, 8, 9], [14, 15, 12, 13]]", "row by row",
                ),
            },
            right={
                "by the library": "offsets = ComposedLayout('S<1,1,2> o 0 o (4,4):(4,1)').offsets()",
                "by the swizzle": "offsets = [Swizzle(1, 1, 2)(n) for n in Layout('(4,4):(4,1)').offsets().tolist()]",
            },
        ),
        Exercise(
            id="05.3",
            title="As little padding as possible",
            stars=1,
            answers=("stride", "needed"),
            check=check_padding,
            hints=(
                "At which bytes may a read of 16 bytes begin? Which strides does that leave?",
                "How many pieces of 16 bytes has each of these strides?",
                "Which kind of number of pieces sends 8 rows into 8 different groups of banks?",
                "At which offset does row 7 begin, and where does it end?",
            ),
            why="112 is 14 pieces, an even number, and 120 is 15. Row 7 begins at 7 * 120 and has 108 elements of 2 bytes.",
            also="stride = next(n for n in range(112, 200, 8) if n // 8 % 2)\nneeded = 2 * (7 * stride + 108)",
            wrong={
                "the starter": ("stride = ...\nneeded = ...", "Line 2 of the cell"),
                "the constant": ("stride = 0\nneeded = 1896", "begin inside it"),
                "the transposed": ("stride = 8\nneeded = 1896", "begin inside it"),
                "the off-by-one": ("stride = 109\nneeded = 1896", "at byte 218"),
                "the off-by-one, of 120": ("stride = 121\nneeded = 1896", "at byte 242"),
                "backwards": ("stride = -120\nneeded = 1896", "before row 0"),
                "no padding": ("stride = 108\nneeded = 1896", "at byte 216"),
                "one word more": ("stride = 110\nneeded = 1896", "at byte 220"),
                "8 more": ("stride = 116\nneeded = 1896", "at byte 232"),
                "the next multiple of 8": ("stride = 112\nneeded = 1896", "it is 2-way"),
                "128 bytes": ("stride = 128\nneeded = 1896", "it is 8-way"),
                "too much": ("stride = 136\nneeded = 1896", "a smaller stride is, too"),
                "bytes for elements": ("stride = 240\nneeded = 1896", "bytes"),
                "elements": ("stride = 120\nneeded = 948", "counts elements"),
                "elements of whole strides": ("stride = 120\nneeded = 960", "counts elements"),
                "8 whole strides": ("stride = 120\nneeded = 1920", "after the last row nothing follows"),
                "the size": ("stride = 120\nneeded = 1728", "the elements alone"),
                "where the last one begins": ("stride = 120\nneeded = 1894", "There the last element begins"),
                "a byte": ("stride = 120\nneeded = 1895", "off by one"),
                "a fraction": ("stride = 240 / 2\nneeded = 1896", "`//` does"),
            },
            right={
                "the number": "stride = 120\nneeded = 1896",
                "text": "stride, needed = '120', '1896'",
            },
        ),
        Exercise(
            id="05.4",
            title="Mend a swizzle",
            stars=2,
            answers=("same_bytes",),
            check=check_same_bytes,
            hints=(
                "For which width is the colleague's line right?",
                "How many elements stay together there? How many bytes are they?",
                "Which operation changes the unit of a layout, and of a swizzle in it? What is the unit before?",
            ),
            why="16 fp16 are 32 bytes: 32 elements of 8 bits, 4 of 64. So m is 5, 4, 3, 2, and a row has 256 bytes of them.",
            also=(
                "def same_bytes(bits):\n    columns = 2048 // bits\n    m = {8: 5, 16: 4, 32: 3, 64: 2}[bits]\n"
                "    return ComposedLayout(Swizzle(2, m, 3), 0, Layout((8, columns), (columns, 1)))"
            ),
            wrong={
                "the starter": ("def same_bytes(bits):\n    columns = 2048 // bits\n    return ...", "Line 4 of the cell"),
                "the constant": (_same("ComposedLayout('S<2,4,3> o 0 o (8,128):(128,1)')"), "the same layout whatever"),
                "the transposed": (_same("Layout((n, 8), (1, n))"), "mode 0 has"),
                "the off-by-one": (_same(_swizzled("4 - k, 3")), "if the given swizzle counted bytes"),
                "the off-by-one in m": (_same(_swizzled("6 - k, 3")), "Only the m of the swizzle is another"),
                "the colleague's": (_same(_swizzled("4, 3")), "the colleague's line"),
                "recast from bytes": (_same("recast_layout(bits, 8, 'S<2,4,3> o 0 o (8,128):(128,1)')"), "is not on bytes"),
                "widths swapped": (_same("recast_layout(16, bits, 'S<2,4,3> o 0 o (8,128):(128,1)')"), "width are swapped"),
                "the wrong way": (_same(_swizzled("3 + k, 3")), "grows with the element"),
                "s changed too": (_same(_swizzled("5 - k, 2 + k")), "Its `m` is right"),
                "rows as they were": (
                    _same("ComposedLayout(Swizzle(2, 5 - k, 3), 0, Layout((8, 128), (128, 1)))"), "128 elements for every width",
                ),
                "no swizzle": (_same("Layout((8, n), (n, 1))"), "the swizzle is missing"),
                "the swizzle alone": (_same("recast_layout(bits, 16, Swizzle(2, 4, 3))"), "A swizzle has no shape"),
                "recast twice": (_same(f"recast_layout(bits, 16, {_swizzled('4, 3')})"), "must have 128 columns"),
                "nothing": ("def same_bytes(bits):\n    recast_layout(bits, 16, Swizzle(2, 4, 3))", "gives None"),
            },
            right={
                "by the swizzle": _same("ComposedLayout(recast_layout(bits, 16, Swizzle(2, 4, 3)), 0, Layout((8, n), (n, 1)))"),
                "notation": _same("recast_layout(bits, 16, 'S<2,4,3> o 0 o (8,128):(128,1)')"),
                "by way of bytes": _same("recast_layout(bits, 8, 'S<2,5,3> o 0 o (8,256):(256,1)')"),
            },
        ),
        Exercise(
            id="05.5",
            title="A narrow tile of fp32",
            stars=2,
            answers=("swizzle",),
            check=check_narrow,
            hints=(
                "How many fp32 does a thread move at once? Which m keeps so many together?",
                "How many rows are 128 bytes? Which of 8 rows begin in the same bank?",
                "At which bit of the offset do 128 bytes end? How many rows meet, and how many bits tell them apart?",
            ),
            why="4 elements together (m = 2); 128 bytes are 32 elements, bit 5 = m + s; 4 rows meet, so b = 2.",
            also="swizzle = recast_layout(32, 8, Swizzle(2, 4, 3))",
            wrong={
                "the starter": ("swizzle = Swizzle(..., ..., ...)", "Line 2 of the cell"),
                "the constant": ("swizzle = Swizzle(0, 2, 3)", "it changes nothing"),
                "the transposed": ("swizzle = Swizzle(2, 2, -3)", "changes higher ones"),
                "the off-by-one": ("swizzle = Swizzle(2, 3, 3)", "keeps 8 elements together"),
                "the off-by-one in s": ("swizzle = Swizzle(2, 2, 4)", "too far up"),
                "in bytes": ("swizzle = Swizzle(2, 4, 3)", "keeps 16 elements together"),
                "SW128 for fp16": ("swizzle = Swizzle(3, 3, 3)", "keeps 8 elements together"),
                "from the end of a row": ("swizzle = Swizzle(2, 2, 2)", "never meet"),
                "a piece's bit": ("swizzle = Swizzle(1, 2, 1)", "tells pieces of one row apart"),
                "one bit": ("swizzle = Swizzle(1, 2, 3)", "do not tell all rows apart"),
                "neighbours torn apart": ("swizzle = Swizzle(2, 0, 5)", "must stay side by side"),
                "outside": ("swizzle = Swizzle(3, 6, -3)", "no slot of this tile"),
                "overlapping": ("swizzle = (3, 2, 2)", "overlap"),
                "a whole layout": ("swizzle = ComposedLayout(Swizzle(2, 2, 3), 0, Layout((16, 16), (16, 1)))", "a whole layout"),
                "a number": ("swizzle = 3", "type int"),
            },
            right={
                "notation": "swizzle = 'S<2,2,3>'",
                "three numbers": "swizzle = (2, 2, 3)",
                "one bit more": "swizzle = Swizzle(3, 2, 3)",
            },
        ),
        Exercise(
            id="05.6",
            title="Half as wide",
            stars=2,
            answers=("layout",),
            check=check_fine,
            hints=(
                "How many threads are in a phase, at 8 bytes each? How many rows are that?",
                "With a swizzle: how many elements stay together, and how many bits tell 16 rows apart? Where do the row's bits begin?",
                "With padding: how many pieces of 8 bytes must a row stride have?",
            ),
            why="8 bytes are 4 elements (m = 2), 16 rows meet (b = 4), a row begins at bit 6 (s = 4).",
            also="layout = Layout((16, 64), (68, 1))",
            wrong={
                "the starter": ("layout = ...", "Line 2 of the cell"),
                "the constant": ("layout = '(16,64):(0,0)'", "share slot 0"),
                "the transposed": ("layout = '(16,64):(1,16)'", "not possible"),
                "the transposed shape": ("layout = '(64,16):(1,64)'", "wanted are 16 rows and 64 columns"),
                "the off-by-one": ("layout = '(16,64):(65,1)'", "not possible"),
                "as it is": ("layout = '(16,64):(64,1)'", "16-way"),
                "the lesson's swizzle": ("layout = 'S<3,3,3> o 0 o (16,64):(64,1)'", "keeps 8 elements together"),
                "the lesson's padding": ("layout = '(16,64):(72,1)'", "an even number"),
                "three bits": ("layout = 'S<3,2,4> o 0 o (16,64):(64,1)'", "a phase has 16 threads"),
                "a write in two halves": ("layout = 'S<3,2,4> o 0 o (16,64):(68,1)'", "write of a row is 2-way"),
                "m too small": ("layout = 'S<4,1,5> o 0 o (16,64):(64,1)'", "not possible"),
                "too much padding": ("layout = '(16,64):(132,1)'", "at most 2500"),
                "too short a row": ("layout = '(16,64):(60,1)'", "share slot"),
                "the swizzle alone": ("layout = Swizzle(4, 2, 4)", "which has no shape"),
            },
            right={
                "padded by 3 pieces": "layout = Layout((16, 64), (76, 1))",
                "notation": "layout = 'S<4,2,4> o 0 o (16,64):(64,1)'",
            },
        ),
        Exercise(
            id="05.7",
            title="As few as can be",
            stars=3,
            answers=("ways", "layout"),
            check=check_square,
            hints=(
                "What does the write of 16 bytes a thread ask of 4 neighbours in a row?",
                "In which of the 32 banks can an element of column 0 lie then?",
                "32 rows, so many banks: how many ways at best? Which swizzle, or which padding, uses all of these banks?",
            ),
            why="Columns 0 to 3 stay together, so column 0 has 8 banks to lie in: 32 rows in 8 banks are 4 ways, and b is 3, not 5.",
            also="ways = 4\nlayout = Layout((32, 32), (36, 1))",
            wrong={
                "the starter": ("ways = ...\nlayout = ...", "Line 2 of the cell"),
                "the constant": ("ways = 0\nlayout = '(32,32):(0,0)'", "`ways` is 0"),
                "the transposed": ("ways = 4\nlayout = '(32,32):(1,32)'", "not possible"),
                "the off-by-one": ("ways = 4\nlayout = '(32,32):(33,1)'", "not possible"),
                "free": ("ways = 1\nlayout = '(32,32):(33,1)'", "would have to lie in 32 banks"),
                "off by one, fewer": ("ways = 3\nlayout = 'S<3,2,3> o 0 o (32,32):(32,1)'", "in 11 banks"),
                "half free": ("ways = 2\nlayout = 'S<3,2,3> o 0 o (32,32):(32,1)'", "would have to lie in 16 banks"),
                "the number of banks": ("ways = 8\nlayout = 'S<2,2,3> o 0 o (32,32):(32,1)'", "can do with fewer"),
                "without a swizzle": ("ways = 32\nlayout = '(32,32):(32,1)'", "32 rows in 1 bank."),
                "one slot for all": ("ways = 4\nlayout = '(32,32):(0,0)'", "share slot 0"),
                "as it is": ("ways = 4\nlayout = '(32,32):(32,1)'", "lies in 1 bank."),
                "the bet's": ("ways = 4\nlayout = 'S<5,0,5> o 0 o (32,32):(32,1)'", "not possible"),
                "one bit too few": ("ways = 4\nlayout = 'S<2,2,3> o 0 o (32,32):(32,1)'", "lies in 4 banks"),
                "an even number of pieces": ("ways = 4\nlayout = '(32,32):(40,1)'", "is 8-way"),
                "far apart": ("ways = 4\nlayout = '(32,32):(68,1)'", "at most 8192"),
                "fp16's": ("ways = 4\nlayout = 'S<3,3,3> o 0 o (32,32):(32,1)'", "is 8-way"),
                "another tile": ("ways = 4\nlayout = '(8,64):(64,1)'", "wanted are 32 rows"),
            },
            right={
                "notation": "ways = 4\nlayout = 'S<3,2,3> o 0 o (32,32):(32,1)'",
                "padded by 3 pieces": "ways = 4\nlayout = Layout((32, 32), (44, 1))",
                "other rows read": "ways = 4\nlayout = 'S<3,2,4> o 0 o (32,32):(32,1)'",
            },
        ),
        Exercise(
            id="05.8",
            title="A swizzle for every row",
            stars=3,
            answers=("swizzle_for",),
            check=check_rows,
            limit=120,
            hints=(
                "Write an offset in bits, for rows of 128: which are the place in the piece, the piece, the other tile, the row?",
                "Which bits should be changed? Which is the lowest bit in which rows that meet differ? And in rows of 32, of 256?",
                "How many ways has the read of 8 rows without a swizzle, in rows of 32 and in longer ones?",
            ),
            why="m = 3. Rows that meet differ from bit 6 on, in rows of 128 from 7, of 256 from 8. Rows of 32 are 4-way, the others 8-way.",
            also=(
                "def swizzle_for(row):\n    b, s = {32: (2, 3), 64: (3, 3), 128: (3, 4), 256: (3, 5)}[row]\n    return Swizzle(b, 3, s)"
            ),
            wrong={
                "the starter": (_function("Swizzle(..., ..., ...)"), "Line 3 of the cell"),
                "the constant": (_function("Swizzle(3, 3, 3)"), "the same in all rows"),
                "the transposed": (_function("Swizzle(3, 3, -4)"), "changes higher ones"),
                "the off-by-one": (_by_first("Swizzle(b, 3, first - 2)"), "too far up"),
                "none": (_function("Swizzle(0, 3, 3)"), "it changes nothing"),
                "where a row ends": (_by_first("Swizzle(b, 3, row.bit_length() - 4)"), "never meet"),
                "where a row ends, three bits": (_by_first("Swizzle(3, 3, row.bit_length() - 4)"), "cannot be: the bits read and"),
                "where a row ends, as text": (_by_first("f'S<3,3,{row.bit_length() - 4}>'"), "share one round of the banks"),
                "overlapping": (_function("Swizzle(4, 3, 3)"), "`s` must be at least `b`"),
                "m + s forgotten": (_by_first("Swizzle(b, 3, first)"), "too far up"),
                "one bit too many": (_by_first("Swizzle(4, 3, 4) if row == 128 else Swizzle(b, 3, first - 3)"), "no slot of this tile"),
                "a piece's bit": (_function("Swizzle(2, 3, 3 if row == 32 else 2)"), "tells pieces of one row apart"),
                "in bytes": (_by_first("Swizzle(b, 4, first - 3)"), "keeps 16 elements together"),
                "two bits": (_by_first("Swizzle(2, 3, first - 3)"), "do not tell all rows apart"),
                "neighbours torn apart": (_by_first("Swizzle(b, 2, first - 2)"), "must stay side by side"),
                "a swizzle": ("swizzle_for = Swizzle(3, 3, 4)", "wanted is a function"),
                "a number": (_function("4"), "type int"),
                "a layout": (_function("ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 64), (row, 1)))"), "a whole layout"),
                "nothing": ("def swizzle_for(row):\n    Swizzle(3, 3, 3)", "gives None"),
            },
            right={
                "notation": _by_first("f'S<{b},3,{first - 3}>'"),
                "three numbers": _by_first("(b, 3, first - 3)"),
                "always three bits": _by_first("Swizzle(3, 3, first - 3)"),
                "recast": _by_first("recast_layout(16, 8, Swizzle(b, 4, first - 3))"),
                "by search": (
                    "from layoutviz.memory import find_swizzle\n\n\ndef swizzle_for(row):\n    columns = min(row, 64)\n"
                    "    reads = Layout(((64, columns // 8), 8), ((1, 512), 64))\n"
                    "    return find_swizzle(Layout((64, columns), (row, 1)), [(reads, 8)], 16)[0].layout.outer"
                ),
            },
        ),
    )
}
