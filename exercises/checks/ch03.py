"""Chapter 03, composition."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

from exercises.engine.answers import as_layout, as_number, kind, plain, shorten
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_function, judge_layout, judge_number, judge_table, not_right, picture
from exercises.engine.respond import fill_grid
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout, LayoutError, coalesce, composition, laws, same_function
from layoutviz.layout import CoordinateFunction
from layoutviz.notation import IntTuple, format_tuple
from layoutviz.views.composition import composition as composed_view

BY_HAND = (Layout((6, 4), (4, 1)), Layout((3, 2), (2, 12)))
ROWS = Layout((4, 6), (6, 1))
OPEN_STRIDE = 24
LONG = Layout(((2, 3), (2, 4)), ((1, 2), (12, OPEN_STRIDE)))
PADDED, TRANSPOSING = Layout((3, 5), (8, 1)), Layout((5, 3), (3, 1))
SPARSE = Layout((3, 2), (2, 12))
MOST = 24  # elements of an inverse of SPARSE


def check_by_hand(offsets) -> Verdict:
    """The offsets of (6,4):(4,1) o (3,2):(2,12)."""
    return judge_table("offsets", offsets, composition(*BY_HAND), "All 6 offsets are right: first B, then A.", _by_hand_mistake)


def _by_hand_mistake(numbers: list[int]) -> Mistake | None:
    """What was computed in place of A(B(i))."""
    a, b = BY_HAND
    if numbers == b.offsets().tolist():
        words = "These are the numbers of B (A, counted along its rows, gives them back as they are). Each is an index of A."
        return Mistake("B alone", words, "Which coordinate of A has index 2? An index runs down the columns.")
    if numbers == a.offsets()[: b.size].tolist():
        return Mistake("A alone", "These are the first offsets of A. B chooses others.", "Which indices of A does B give?")
    if numbers == [a.stride[0] * n for n in b.offsets().tolist()]:
        words = "You went down one column without an end. A column of A has 6 cells."
        return Mistake("without an end", words, "Which coordinate of A has index 12?")
    return None


def check_counts(counts) -> Verdict:
    """All n from 1 to 12 for which (4,6):(6,1) o n:2 exists."""
    wanted = {n for n in range(1, 13) if _exists(n)}
    given = _numbers("counts", counts)
    if wrong := sorted(given - wanted):
        n = wrong[0]
        if n not in range(1, 13):
            return Verdict(State.WRONG, f"`counts` holds {shorten(n)}, and `n` goes from 1 to 12.")
        columns = "a column" if n == 3 else f"{n // 2} columns"
        told = f"`counts` holds {n}. Steps of 2 meet 2 cells in each column of A: {n} elements are those of {columns}, and one more."
        mistake = ALL_COUNTS if given == {*range(1, 13)} else None
        return not_right(told, mistake, composed_view(ROWS, f"{n}:2"))
    if given != wanted:
        mistake = next((mistake for numbers, mistake in COUNTS_MISTAKES if given == numbers), None)
        told = "Each of yours is right, but some are missing." if given else "`counts` holds no number yet."
        return not_right(told, mistake)
    return Verdict(State.RIGHT, "Whole columns of two elements each, or so few that one column is enough.", composed_view(ROWS, "12:2"))


def _exists(n: int) -> bool:
    try:
        return bool(composition(ROWS, Layout(n, 2)))
    except LayoutError:
        return False


def _numbers(name: str, value) -> set[int]:
    """A set, list, tuple, range or array of whole numbers, as a set."""
    value = plain(value)
    if not isinstance(value, (set, frozenset, list, tuple, range)):
        raise BadAnswer(f"`{name}` is {kind(value)}; wanted is a set or a list of whole numbers.")
    try:
        return {as_number(name, number) for number in value}
    except BadAnswer:
        raise BadAnswer(f"`{name}` holds {shorten(value)}; each of its entries must be a whole number.") from None


def check_coalesced(d, layout) -> Verdict:
    """The open stride of ((2,3),(2,4)):((1,2),(12,d)) with which two modes are enough, and these two."""
    verdict = judge_number("d", d, OPEN_STRIDE, "", own=_open_stride_mistake)
    if not verdict.ok:
        return verdict
    praise = f"With d = {OPEN_STRIDE} two modes are enough, and each index keeps its offset."
    verdict = judge_layout("layout", layout, coalesce(LONG), praise, _coalesced_mistake)
    if verdict.state is State.RIGHT_NOT_FORM:
        words = "There are modes more than needed: does any of yours continue the one before it?"
        return replace(verdict, message=f"{verdict.message} {words}")
    return verdict


def _open_stride_mistake(d: int) -> Mistake | None:
    """What was taken for the place where 2:12 ends."""
    return OPEN_STRIDES.get(d)


def _coalesced_mistake(answer) -> Mistake | None:
    """Which modes were merged, or were not."""
    if answer == Layout(LONG.size, 1):
        words = "One mode needs the same step everywhere, also from index 5 to index 6."
        return Mistake("all in one", words, "Which coordinate has index 6 in the given layout? Which offset?")
    if answer == Layout((2, 24), (1, 2)):
        words = "It is right up to index 5. At index 6 yours gives 6, and the given layout starts its second column there."
        return Mistake("merged too far", words, "Which of the four modes does not continue the one before it?")
    if isinstance(answer, Layout) and answer.shape == (6, 8) and answer.stride == (1, 6):
        words = "The shape is right, but your second column begins where the first one ends."
        return Mistake("gap closed", words, "Which offset has coordinate ((0,0),(1,0)) of the given layout?")
    return None


def check_even_columns(even_columns) -> Verdict:
    """Columns 0, 2, 4, ... of any layout of two modes."""
    praise = "Half the columns, twice as far apart, whatever the layout. Nothing was copied."
    verdict = _judge("even_columns", even_columns, _even_columns, _half, (_flat, _nested), praise, (EVEN_COLUMNS_SLIPS, ()), NESTED)
    return _explained(verdict, {"a tiler of": COUNT_AND_STEP, "no layout computes": WHOLE_INDEX})


def _even_columns(A: Layout) -> Layout:
    return composition(A, (None, Layout(A[1].size // 2, 2)))


def _half(A: Layout) -> IntTuple:
    return (A[0].size, A[1].size // 2)


def _flat(random: Random) -> list[tuple[Layout]]:
    """New layouts of two modes with an even number of columns, by rows and by columns, some padded, some with no step of 1."""
    layouts = []
    for n in range(8):
        rows, columns = random.choice((3, 5, 7)), random.choice((4, 6, 8, 10))
        gap, step = random.randrange(3), (1, 2, 3, random.randrange(1, 4))[n // 2]
        layouts.append((Layout((rows, columns), (step * (columns + gap), step) if n % 2 else (step, step * (rows + gap))),))
    return layouts


def _nested(random: Random) -> list[tuple[Layout]]:
    """As _flat, with rows and columns nested, their parts in any order in memory; the first part of the columns is even."""
    layouts = []
    for n in range(6):  # every second one: gaps after each part, and even columns that no one step meets
        extents = [random.choice((2, 3)), random.choice((2, 3)), 4 if n % 2 else random.choice((2, 4)), random.choice((2, 3))]
        strides, step = [0] * 4, random.randrange(1, 4)
        for leaf in random.sample(range(4), 4):
            strides[leaf] = step
            step = step * extents[leaf] + (n % 2 or random.randrange(3))
        layouts.append((Layout((tuple(extents[:2]), tuple(extents[2:])), (tuple(strides[:2]), tuple(strides[2:]))),))
    return layouts


def check_paired(paired) -> Verdict:
    """Any layout of two modes, its columns in pairs."""
    praise = "The new shape names the elements, and each is found where `A` has it."
    verdict = _judge("paired", paired, _paired, _pair_shape, (_flat, _nested), praise, (PAIRED_SLIPS, ()), NESTED)
    return _explained(verdict, {"a tiler of": TUPLE_FOR_LAYOUT, "no layout computes": WHOLE_INDEX})


def _pair_shape(A: Layout) -> IntTuple:
    return (A[0].size, (A[1].size // 2, 2))


def _paired(A: Layout) -> Layout:
    return composition(A, (None, Layout((A[1].size // 2, 2), (2, 1))))


def _judge(name: str, function, right: Callable, form: Callable, rounds, praise: str, slips, later: Mistake) -> Verdict:
    """judge_function in rounds, each with cases and slips of its own; what fails after a round that was right has the mistake `later`.

    form(*given) is the shape asked for; the parts of an answer may be split further than those of `right`. RIGHT_NOT_FORM: in no round
    is a number wrong.
    """
    so_far = []
    for cases, known in zip(rounds, slips, strict=True):
        verdict = judge_function(name, function, right, cases, praise, slips=known, form=form)
        if verdict.state not in (State.RIGHT, State.RIGHT_NOT_FORM):
            passed = so_far and all(earlier.ok for earlier in so_far)
            return _with(verdict, later) if passed and not verdict.mistake else verdict
        so_far.append(verdict)
    return next((verdict for verdict in so_far if not verdict.ok), so_far[-1])


def _gives(function, other: Callable, cases: Callable) -> bool:
    """Whether the learner's function gives what another one gives, and is refused by layoutviz where that is."""
    return all(_outcome(function, given) == _outcome(other, given) for given in cases(Random(0)))


def _outcome(function, given: tuple) -> Layout | str | None:
    """The layout that a function gives, or what layoutviz says where there is none; None where it fails in another way."""
    try:
        return as_layout("answer", function(*given))
    except LayoutError as refused:
        return str(refused)
    except KeyboardInterrupt:
        raise
    except BaseException:  # the learner's function raises or exits, or gives no layout
        return None


def _with(verdict: Verdict, mistake: Mistake) -> Verdict:
    stop = "" if verdict.message.endswith((".", ".)", "?")) else "."
    return replace(verdict, message=f"{verdict.message}{stop} {mistake.words}", mistake=mistake)


def _explained(verdict: Verdict, reasons: dict[str, Mistake]) -> Verdict:
    """What layoutviz refused in the learner's function, in words of the lesson; `reasons`: words of its message -> mistake."""
    if verdict.state is not State.RAISED or verdict.mistake:
        return verdict
    return next((_with(verdict, mistake) for words, mistake in reasons.items() if words in verdict.message), verdict)


def check_transposing(B) -> Verdict:
    """B with (3,5):(8,1) o B = (5,3):(1,8), by the elements that it names."""
    praise = "B names the elements of A in the order of the transpose. Transposing is one more view."
    answer = as_layout("B", B)
    if answer.shape != TRANSPOSING.shape or same_function(answer, TRANSPOSING):
        return judge_layout("B", answer, TRANSPOSING, praise, _inverse_for_transpose, gives="index")
    bad = int(np.argmax(answer.offsets() != TRANSPOSING.offsets()))
    where, index, mistake = format_tuple(answer.coordinate(bad)), answer(bad), _transposing_mistake(answer)
    told = f"At coordinate {where} your `B` names index {index} of A"
    if 0 <= index < PADDED.size:
        told += f", its element {format_tuple(PADDED.coordinate(index))}. That is not element {where} of the transpose."
    else:
        told += f", and A has the indices 0 to {PADDED.size - 1}."
    return not_right(told, mistake, picture(answer, bad))


def _inverse_for_transpose(answer) -> Mistake | None:
    """An inverse of A in the place of B."""
    if answer == Layout(5, 3):
        words = "That is the right inverse of A, which ends at the first unused slot: it names row 0 only."
        return Mistake("right inverse", words, "How many elements has the transpose? Are the slots between the rows among them?")
    if answer == Layout((8, 3), (3, 1)):
        words = "That is a left inverse of A: its first mode counts the unused slots too."
        return Mistake("left inverse", words, "How many elements has a column of the transpose?")
    return None


def _transposing_mistake(answer) -> Mistake | None:
    """What the strides of B count, where they do not count indices of A."""
    rows, transpose = PADDED.shape[0], composition(PADDED, TRANSPOSING).offsets()
    indices = answer.offsets()
    if indices.min() == indices.max():
        return Mistake("a constant", "All coordinates name that one.", "Which element of A is (1,0) of the transpose? And (0,1)?")
    if indices.min() >= 0 and (indices % rows * PADDED.stride[0] + indices // rows * PADDED.stride[1] == transpose).all():
        words = "That composes to the transpose, but only past the end of A, where its last mode continues."
        return Mistake("past the end", words, "Which of A's own indices has its element (1,0)?")
    stride = answer.stride if isinstance(answer, Layout) else None
    if stride == (1, 8):
        words = "Those are the strides of the transpose itself, in slots. B gives indices of A, which A then turns into slots."
        return Mistake("slots for indices", words, "Which index has A's element (0,1)? And (1,0)?")
    if isinstance(stride, tuple) and stride[0] == 1:
        words = "One step down in B is one step down in A then. In the transpose it is a step to the right in A."
        return Mistake("not turned", words, "Which element of A is element (1,0) of its transpose? What is its index in A?")
    if stride in ((5, 1), (8, 1)):
        words = f"It counts {stride[0]} indices for a step to the right in A, but a column of A has 3 cells."
        return Mistake("along the rows", words, "Down which mode does an index of A count first? How long is that mode?")
    return None


def check_inverses(R1, R2) -> Verdict:
    """Two left inverses of (3,2):(2,12), each with an answer for each of its 17 slots, of at most 24 elements; they differ at slot 1."""
    inverses = {name: as_layout(name, R) for name, R in (("R1", R1), ("R2", R2))}
    for name, R in inverses.items():
        if (verdict := _inverse_fault(name, R)) is not None:
            return verdict
    one, other = inverses.values()
    if one(1) == other(1):
        told = f"Both obey the law, but both send slot 1 to {one(1)}."
        return Verdict(State.WRONG, f"{told} {ALIKE.words}", picture(other, 1), ALIKE)
    told = "From every slot in use both lead back to the index that lives there. Of the others each says what it likes."
    if name := next((name for name, R in inverses.items() if R(1) not in range(SPARSE.size)), None):
        told = f"Both obey the law, and what they say of unused slots is free. `{name}` sends slot 1 to {inverses[name](1)}, no index of L."
    return Verdict(State.RIGHT, told, picture(one))


def _inverse_fault(name: str, R: CoordinateFunction) -> Verdict | None:
    """What keeps one layout from being such an inverse."""
    if not isinstance(R, Layout):
        return Verdict(State.WRONG, f"`{name}` is {R}; wanted is a plain layout, shape and stride.")
    short = f"`{name}` has {R.size} elements; past them its last mode continues." if R.size < SPARSE.cosize else ""
    if not laws.check("left_inverse", SPARSE, result=R).holds:
        bad, mistake = next(i for i in range(SPARSE.size) if R(SPARSE(i)) != i), _inverse_mistake(R)
        told = f"Index {bad} of L lies in slot {SPARSE(bad)}, and your `{name}` says that index {R(SPARSE(bad))} lies there."
        more = (mistake.words if mistake else "", short if SPARSE(bad) >= R.size else "")
        return Verdict(State.WRONG, " ".join(filter(None, (told, *more))), picture(R), mistake)
    if R.size < SPARSE.cosize:
        return Verdict(State.WRONG, f"The law holds. But {short} At least {SPARSE.cosize} are asked for.", picture(R))
    if R.size > MOST:
        return Verdict(State.WRONG, f"The law holds. But `{name}` has {R.size} elements, and at most {MOST} are asked for.", picture(R))
    return None


def _inverse_mistake(answer: Layout) -> Mistake | None:
    """What was taken for the inverse."""
    if answer == SPARSE:
        return Mistake("L itself", "That is L, which leads from index to slot.", "R goes the other way. What must R(2) be, and R(12)?")
    if answer == Layout((2, 3), (12, 2)):
        words = "That is L with its modes swapped; it still gives slots."
        return Mistake("a transpose", words, "What does R give, slots or indices? How large can they be?")
    if answer == Layout((3, 2), (1, 3)) or answer.size > 1 and same_function(answer, Layout(answer.size, 1)) and answer(1):
        words = "It gives each slot its own number."
        return Mistake("no gaps", words, "Which index lies in slot 2? How often does R(n) grow as n counts up?")
    if isinstance(answer.shape, tuple) and answer.shape[:2] == (2, 3) and answer.stride[1] == 1:
        words = "Its mode of stride 1 starts again at slot 6. L's next column starts at slot 12."
        return Mistake("three pairs for six", words, "How many pairs of slots are there from slot 0 to slot 12?")
    return None


def view_of_blocks(stored: Layout, M: int, K: int, w: int) -> Layout:
    """A (M,K) in a buffer that was written in blocks of w rows, column after column; stored(n) is the slot of the n-th element."""
    return composition(stored, _written(M, K, w))


def _written(M: int, K: int, w: int) -> Layout:
    """(m,k) -> as which element it was written."""
    return Layout(_block_shape(None, M, K, w), ((1, w * K), w))


def _block_shape(_, M: int, K: int, w: int) -> IntTuple:
    return ((w, M // w), K)


def check_A_view(A_view) -> Verdict:
    """By law; then the lesson's kernel runs through it. The law comes first: judge_gemm stores A by whatever layout it is given."""
    praise = "Each element is found where it was written, gaps or not, and nothing was copied."
    rounds, slips = (_without_gaps, _with_gaps), (A_VIEW_SLIPS, GAP_SLIPS)
    verdict = _judge("A_view", A_view, view_of_blocks, _block_shape, rounds, praise, slips, GAPS)
    if verdict.ok:
        return _run_through(A_view, verdict)
    if verdict.state in (State.WRONG, State.RAISED) and _gives(A_view, _turned_round, _with_gaps):
        told = "Its numbers are right for a buffer without gaps, and only there."
        return Verdict(State.WRONG, f"{told} {TURNED_ROUND.words}", mistake=TURNED_ROUND)
    return _explained(verdict, {"a tiler of": SHAPE_ALONE, "no layout computes": TURNED_ROUND})


def _turned_round(stored: Layout, M: int, K: int, w: int) -> Layout:
    return composition(_written(M, K, w), stored)


def _some_sizes(random: Random) -> list[tuple[int, int, int]]:
    """(M, K, w), all different, small ones first, one with w = 1."""
    sizes = []
    for _ in range(5):
        w, K, blocks = random.sample(range(2, 7), 3)
        sizes.append((w * blocks, K, w))
    return [*sizes, (random.choice((5, 7)), 4, 1)]


def _without_gaps(random: Random) -> list[tuple[Layout, int, int, int]]:
    """Buffers without gaps, and one as large as real ones."""
    large = (8 * random.randrange(20, 60), random.randrange(100, 200), 8)
    return [(Layout(M * K), M, K, w) for M, K, w in (*_some_sizes(random), large)]


def _with_gaps(random: Random) -> list[tuple[Layout, int, int, int]]:
    """Buffers with gaps after some columns of a block, or after each block, or between all elements."""
    buffers = []
    for M, K, w in _some_sizes(random):
        together = random.choice([n for n in range(1, K + 1) if K % n == 0])
        step = random.randrange(1, 3)
        piece = step * (w * together + random.randrange(2))
        block = piece * (K // together) + random.randrange(1, 4)
        stored = Layout((w * together, K // together, M // w), (step, piece, block))
        buffers.append((stored, M, K, w))
    return [*buffers, _split_everywhere(random)]


def _split_everywhere(random: Random) -> tuple[Layout, int, int, int]:
    """A buffer with a gap after every 2 rows of a block, every 2 columns and every 2 blocks: no stride of it goes on."""
    halves = random.sample((2, 3, 4), 3)
    strides, step = [], 1
    extents = [n for half in halves for n in (2, half)]
    for extent in extents:
        strides.append(step)
        step = step * extent + random.randrange(1, 3)
    w, K, blocks = (2 * half for half in halves)
    return Layout(tuple(extents), tuple(strides)), w * blocks, K, w


def _run_through(A_view, law: Verdict) -> Verdict:
    """The verdict on the naive GEMM, whose A is read through `A_view`; with the words and the picture of the law."""
    from exercises.engine.kernel import judge_gemm, learners_code
    from ladder.naive import TILE, naive_gemm

    def layouts(M: int, N: int, K: int) -> tuple[Layout, Layout]:
        w = max(n for n in range(1, 9) if M % n == 0)
        stored = Layout((w * K, M // w), (1, w * K + 8))
        with learners_code():
            A = as_layout("A_view", A_view(stored, M, K, w)).plain  # a Tensor that starts at slot 0 will do
        if not same_function(A, view_of_blocks(stored, M, K, w)):
            raise BadAnswer(f"`A_view({stored}, {M}, {K}, {w})` is {A}, and that does not read the buffer as it was written.")
        return A, Layout((N, K), (K, 1))

    return judge_gemm("naive_gemm", naive_gemm, tile=(TILE, TILE, TILE), layouts=layouts, law=law)


# --- mistakes of one exercise


ALL_COUNTS = Mistake("all of them", "You named all of 1 to 12.", "Which rows do steps of 2 meet in a column of 4, and how many are these?")
COUNTS_MISTAKES = (
    ({2, 4, 6, 8, 10, 12}, Mistake(
        "no single one", "You took all that fill whole columns.", "The steps may also stay inside one column. For which `n` do they?",
    )),
    ({4, 8, 12}, Mistake(
        "whole columns of A", "You took all of a column of A for the unit.", "How many of the 4 cells of a column do steps of 2 meet?",
    )),
    ({1, 2, 4, 8, 12}, Mistake(
        "whole columns of A", "You took all of a column of A for the unit.", "How many of the 4 cells of a column do steps of 2 meet?",
    )),
    ({1, 2}, Mistake(
        "one column", "You took those that stay inside one column.", "When may the steps go on into the next column?",
    )),
)  # fmt: skip
OPEN_STRIDES = {
    48: Mistake("its own extent", "You multiplied by the mode's own extent.", "Where does the mode *before* it end?"),
    8: Mistake("without 12", "That is 2 times 4, two extents.", "Where does 2:12 end?"),
    12: Mistake("no step", "Then it starts where 2:12 starts.", "Where does 2:12 end?"),
    14: Mistake("a sum", "That is 12 and 2, added.", "2:12 takes two steps of 12. Where does a third one lead?"),
    13: Mistake("the slot behind", "13 is the slot behind 12. But 2:12 goes on in steps of 12.", "Where would its next step lead?"),
    6: Mistake("the wrong mode", "There 3:2 ends.", "Which mode stands right before the open one?"),
}
NESTED = Mistake(
    "flat layouts only", "Where rows and columns are plain numbers it is right. In this `A` they are nested.",
    "Which parts of your function need to know how `A` is made? What takes them from any `A`?",
)  # fmt: skip
COUNT_AND_STEP = Mistake(
    "two entries for n:d", "A tuple has one entry for each mode of what it is taken from. Count and step together are one layout, `n:d`.",
    "How does the lesson write 3:2 in a tuple?",
)  # fmt: skip
TUPLE_FOR_LAYOUT = Mistake(
    "a tuple in a tuple",
    "`(n, 2)` inside a tuple is a tuple again, one entry for each mode of mode 1. You want one layout there: `Layout((n, 2), ...)`.",
    "How do `(2, 3)` and `Layout((2, 3))` differ?",
)  # fmt: skip
WHOLE_INDEX = Mistake(
    "the index runs down", "A layout in the place of `B` counts along the whole index of `A`, which runs down the columns.",
    "How many indices is one step to the right in `A`?",
)  # fmt: skip
SHAPE_ALONE = Mistake(
    "a tuple for a layout", "A tuple has one entry for each mode of `stored`. Wanted is one layout: as which element was (m,k) written?",
    "How do `(2, 3)` and `Layout((2, 3))` differ? Which strides are wanted here?",
)  # fmt: skip
INPUT_BACK = Mistake(
    "its input", "It gives `A` back. That comes out of `B o A`, too: in `composition(A, B)` the layout that knows the memory stands first.",
    "Which layout chooses and names, and which one knows the slots?",
)  # fmt: skip
TURNED_ROUND = Mistake(
    "B o A",
    "In `composition(A, B)` the layout that knows the memory stands first. `B` gives its indices: as which element was (m,k) written?",
    "Which layout is used first, and what does it give?",
)  # fmt: skip
ALIKE = Mistake("the same twice", "There they must differ. Slot 1 is unused.", "Which of your modes decides what slot 1 gives?")
GAPS = Mistake("gaps", "For a buffer without gaps it is right. This one has some.", "Which layout knows the gaps? Is it used last?")
EVEN_COLUMNS_SLIPS = (
    (lambda A: composition(A, (Layout(A.shape[0] // 2, 2), None)), Mistake(
        "every second row", "It takes every second row and all the columns.", "Which entry of a tuple works on the columns?",
    )),
    (lambda A: Layout((A.shape[0], A.shape[1] // 2), A.stride), Mistake(
        "the first half", "It takes half of the columns, but the first ones, side by side.",
        "From column 0 to column 2, how many columns is that? Which number of an `n:d` says it?",
    )),
    (lambda A: Layout(A.shape, (A.stride[0], 2 * A.stride[1])), Mistake(
        "too many columns", "The step is right, but it takes as many columns as `A` has, and leaves the matrix.",
        "How many even columns does a matrix of 6 columns have?",
    )),
    (lambda A: Layout((A.shape[0], A.shape[1] // 2), (A.stride[0], 2)), Mistake(
        "slots for columns", "One step to the right moves 2 slots, whatever `A` is. Asked are 2 columns.",
        "How far apart are two neighbouring columns of a column-major matrix?",
    )),
    (lambda A: composition(A, (None, 2)), Mistake(
        "two columns", "It takes 2 columns, whatever `A` has.", "What does `2` in a tuple stand for: a count or a step?",
    )),
    (lambda A: composition(A, (None, Layout(2, A.shape[1] // 2))), Mistake(
        "count and step swapped", "Count and step are swapped: it takes 2 columns, half the matrix apart.",
        "Which number of `n:d` is the count?",
    )),
    (lambda A: Layout((A.shape[0], A.shape[1] // 2), (A.stride[0], 2 * A.stride[1] ** 2)), Mistake(
        "the stride twice",
        "The entry for mode 1 counts columns of `A`; `A` itself turns them into slots. You multiplied by the stride twice.",
        "Which numbers has `3:2` in the lesson's tuple: those of columns, or of slots?",
    )),
)  # fmt: skip
PAIRED_SLIPS = (
    (lambda A: Layout(_pair_shape(A)), Mistake(
        "the shape alone", "That is the colleague's: a shape alone gets column-major strides without gaps, whatever `A` has.",
        "Which layout knows where the elements lie? Which one only names them?",
    )),
    (lambda A: composition(A, Layout(_pair_shape(A))), Mistake(
        "the order of the shape", "`A` knows the slots now. But a step of `q` goes to the next column, a step of `p` through half of them.",
        "Which column is `p + 2q` for q = 1, p = 0? Which one for q = 0, p = 1?",
    )),
    (lambda A: A, INPUT_BACK),
    (lambda A: Layout(_pair_shape(A), (A.stride[0], (A.stride[1], 2 * A.stride[1]))), Mistake(
        "p and q swapped", "A step of `q` goes to the next column, and a step of `p` two columns on.",
        "Which column is `p + 2q` for q = 1, p = 0?",
    )),
    (lambda A: Layout((A.shape[0], (2, A.shape[1] // 2)), (A.stride[0], (A.stride[1], 2 * A.stride[1]))), Mistake(
        "p before q", "Its first part of mode 1 is `p`. Asked is `(i,(q,p))`.",
        "Which of the two has columns/2 values, and where does it stand?",
    )),
    (lambda A: Layout(_pair_shape(A), (A.stride[0], (A.stride[1], A.stride[1]))), Mistake(
        "q as p", "A step of `q` moves one column, as a step of `p` does.", "How many columns is one step of `q`?",
    )),
    (lambda A: Layout(_pair_shape(A), (1, (2 * A.shape[0], A.shape[0]))), Mistake(
        "B alone", "It names the right elements, by their indices in `A`. Their slots only `A` knows.",
        "Which operation turns indices of `A` into slots?",
    )),
    (lambda A: Layout(_pair_shape(A), (A.shape[1], (2, 1))), Mistake(
        "row-major without gaps", "Its strides fit a row-major matrix without gaps only. `A` may lie in any way.",
        "Which strides has `A`? Does your function ask for them?",
    )),
)  # fmt: skip
A_VIEW_SLIPS = (
    (lambda stored, M, K, w: Layout((M, K), (K, 1)), Mistake(
        "whole rows", "It reads the buffer as if whole rows had been written one after another.",
        "Which element was written right after (0,0)?",
    )),
    (lambda stored, M, K, w: Layout((M, K), (1, M)), Mistake(
        "whole columns", "It reads the buffer as if whole columns had been written one after another. A column is cut after `w` rows.",
        "Which element was written after the first `w` rows of column 0?",
    )),
    (lambda stored, M, K, w: Layout(((M // w, w), K), ((w * K, 1), w)), Mistake(
        "block and place swapped", "Its first mode counts the blocks first, and the place in a block last.",
        "In which block are rows 0 and 1?",
    )),
    (lambda stored, M, K, w: Layout(((w, M // w), K), ((1, w), M)), Mistake(
        "blocks side by side", "It takes all blocks of one column in a row. Between two blocks all `K` columns of the first were written.",
        "How many elements has one whole block?",
    )),
    (lambda stored, M, K, w: Layout(((w, M // w), K), ((K, w * K), 1)), Mistake(
        "rows in a block", "Within a block it goes along the rows. There `w` rows of one column were written first.",
        "Which element was written right after (0,0)?",
    )),
    (lambda stored, M, K, w: Layout(((w, M // w), K), ((1, K), w)), Mistake(
        "columns for elements", "Between two blocks `K` columns of `w` elements each were written.",
        "How many elements has one whole block?",
    )),
)  # fmt: skip
GAP_SLIPS = (
    (lambda stored, M, K, w: _written(M, K, w), Mistake(
        "as written, not as stored", "It says as which element (m,k) was written. That is its slot only where the buffer has no gaps.",
        "What turns the number of an element into its slot?",
    )),
)  # fmt: skip


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="03.1",
            title="A after B, by hand",
            stars=1,
            answers=("offsets",),
            check=check_by_hand,
            respond=fill_grid("offsets", 3, 2),
            hints=(
                "What are the 6 numbers of B, in the order of the index?",
                "Each of them is an index of A. A has 6 rows: which coordinate has index 2, and which has index 12?",
                "Which offset has that coordinate in A?",
            ),
            why="B gives 0, 2, 4, 12, 14, 16: rows 0, 2, 4 of columns 0 and 2 of A; a row of A is 4 slots, a column 1.",
            also="offsets = [8 * i + 2 * j for j in range(2) for i in range(3)]",
            wrong={
                "the starter": ("offsets = ...", "still holds"),
                "the constant": ("offsets = [0] * 6", "same offset"),
                "the transposed": ("offsets = [0, 2, 8, 10, 16, 18]", "Your numbers go along the rows"),
                "the off-by-one": ("offsets = [1, 9, 17, 3, 11, 19]", "off by the same amount"),
                "B alone": ("offsets = [0, 2, 4, 12, 14, 16]", "the numbers of B (A, counted along its rows"),
                "A alone": ("offsets = [0, 4, 8, 12, 16, 20]", "the first offsets of A"),
                "without an end": ("offsets = [0, 8, 16, 48, 56, 64]", "down one column without an end"),
                "bytes for elements": ("offsets = [0, 16, 32, 4, 20, 36]", "bytes"),
                "one missing": ("offsets = [0, 8, 16, 2, 10]", "has 5 numbers"),
                "another form, rows": ("offsets = [[0, 2], [8, 10], [16, 18]]", "row by row"),
            },
            right={
                "a tuple": "offsets = (0, 8, 16, 2, 10, 18)",
                "by the library": "offsets = composition('(6,4):(4,1)', '(3,2):(2,12)').offsets()",
                "by the two": "offsets = [Layout('(6,4):(4,1)')(n) for n in (0, 2, 4, 12, 14, 16)]",
            },
        ),
        Exercise(
            id="03.2",
            title="Which ones exist?",
            stars=1,
            answers=("counts",),
            check=check_counts,
            hints=(
                "A column of A has 4 cells. How many of them do steps of 2 meet?",
                "After which `n` are the steps at the end of a column? For which does the last column come out uneven?",
                "Are there `n` so small that the steps never leave the first column?",
            ),
            why="Steps of 2 meet 2 cells in each column of 4. So n is a multiple of 2, or 1, which makes no step at all.",
            also="counts = [1, *range(2, 13, 2)]",
            wrong={
                "the starter": ("counts = {...}", "still holds"),
                "the constant": ("counts = range(1, 13)", "You named all of 1 to 12."),
                "the transposed": ("counts = {1, 3, 5, 7, 9, 11}", "`counts` holds 3. Steps of 2 meet 2 cells"),
                "the off-by-one": ("counts = {0, 2, 4, 6, 8, 10, 12}", "`counts` holds 0, and"),
                "without the single one": ("counts = [2, 4, 6, 8, 10, 12]", "all that fill whole columns"),
                "in fours": ("counts = {4, 8, 12}", "You took all of a column"),
                "in fours, and the small ones": ("counts = {1, 2, 4, 8, 12}", "You took all of a column"),
                "one column": ("counts = {1, 2}", "stay inside one column"),
                "divisors": ("counts = {1, 2, 3, 4, 6, 12}", "holds 3"),
                "five too": ("counts = {1, 2, 4, 5, 6, 8, 10, 12}", "5 elements are those of 2 columns, and one more"),
                "none": ("counts = set()", "no number yet"),
                "how many": ("counts = 7", "wanted is a set or a list"),
                "a text": ("counts = '1, 2, 4'", "wanted is a set or a list"),
                "texts": ("counts = ['1:2', '2:2']", "each of its entries must be"),
            },
            right={
                "another order": "counts = [12, 10, 8, 6, 4, 2, 1]",
                "an array": "import numpy as np\ncounts = np.array([1, 2, 4, 6, 8, 10, 12])",
                "by trying": (
                    "counts = []\nfor n in range(1, 13):\n    try:\n        composition('(4,6):(6,1)', f'{n}:2')\n"
                    "        counts.append(n)\n    except LayoutError:\n        pass"
                ),
            },
        ),
        Exercise(
            id="03.3",
            title="As few modes as possible",
            stars=1,
            answers=("d", "layout"),
            check=check_coalesced,
            hints=(
                "Where does 2:1 end? Does 3:2 continue there? And 2:12 where 3:2 ends?",
                "Where does 2:12 end? What must the stride of the last mode be to continue there?",
                "Which extent and which stride have two modes that are merged?",
            ),
            why="2:1 and 3:2 are 6:1, which ends at 6; 2:12 does not continue there. It ends at 24, so 4:24 continues it: 8:12.",
            also='d = 2 * 12\nlayout = coalesce(f"((2,3),(2,4)):((1,2),(12,{d}))")',
            wrong={
                "the starter": ("d = ...\nlayout = Layout(..., ...)", "Line 2 of the cell"),
                "the constant": ("d = 0\nlayout = '(6,8):(0,0)'", "`d` is 0"),
                "the transposed": ("d = 24\nlayout = '(8,6):(12,1)'", "modes are swapped"),
                "the off-by-one": ("d = 24\nlayout = '(6,8):(1,11)'", "off by one"),
                "its own extent": ("d = 48\nlayout = '(6,8):(1,12)'", "the mode's own extent"),
                "two extents": ("d = 8\nlayout = '(6,8):(1,12)'", "two extents"),
                "no step": ("d = 12\nlayout = '(6,8):(1,12)'", "starts where 2:12 starts"),
                "a sum": ("d = 14\nlayout = '(6,8):(1,12)'", "added"),
                "the slot behind": ("d = 13\nlayout = '(6,8):(1,12)'", "in steps of 12"),
                "the wrong mode": ("d = 6\nlayout = '(6,8):(1,12)'", "There 3:2 ends"),
                "all in one": ("d = 24\nlayout = '48:1'", "from index 5 to index 6"),
                "merged too far": ("d = 24\nlayout = '(2,24):(1,2)'", "right up to index 5"),
                "gap closed": ("d = 24\nlayout = '(6,8):(1,6)'", "begins where the first one ends"),
                "strides swapped": ("d = 24\nlayout = '(6,8):(12,1)'", "row-major"),
                "another form, three modes": ("d = 24\nlayout = '(6,2,4):(1,12,24)'", "does any of yours continue"),
                "another form, as given": ("d = 24\nlayout = '((2,3),(2,4)):((1,2),(12,24))'", "does any of yours continue"),
                "only the shape": ("d = 24\nlayout = (6, 8)", "number of modes"),
            },
            right={
                "notation": "d = '24'\nlayout = '(6,8):(1,12)'",
                "a pair": "d, layout = 24, ((6, 8), (1, 12))",
                "by mode": "d = 24\nlayout = coalesce('((2,3),(2,4)):((1,2),(12,24))', (1, 1))",
            },
        ),
        Exercise(
            id="03.4",
            title="Every second column",
            stars=2,
            answers=("even_columns",),
            check=check_even_columns,
            hints=(
                "Which entry of a tuple works on the columns? What leaves the rows as they are?",
                "The columns are counted by `n:d`. How many are wanted, and how far apart?",
                "How is `3:2` written with `Layout`?",
            ),
            why="By mode: None leaves the rows alone, and columns/2 : 2 takes every second column, whatever their strides are.",
            also="def even_columns(A):\n    m, n = A[0].size, A[1].size\n    return composition(A, Layout((m, n // 2), (1, 2 * m)))",
            wrong={
                "the starter": ("def even_columns(A):\n    columns = A[1].size\n    return composition(A, ...)", "Line 4 of the cell"),
                "the constant": ("def even_columns(A):\n    return Layout((4, 3), (6, 2))", "the same layout whatever"),
                "the transposed": (
                    "def even_columns(A):\n    return composition(A, (Layout(A[0].size // 2, 2), None))",
                    "every second row",
                ),
                "the off-by-one": (
                    "def even_columns(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, n // 2), (a, 2 * b + 1))",
                    "not where this element belongs",
                ),
                "one step of columns": (
                    "def even_columns(A):\n    return Layout((A[0].shape, A[1].size // 2), (A[0].stride, A(0, 2)))",
                    "gives offset",
                ),
                "its input": ("def even_columns(A):\n    return A", "gives its input back"),
                "the first half": ("def even_columns(A):\n    return composition(A, (None, A[1].size // 2))", "the first ones"),
                "too many": ("def even_columns(A):\n    return composition(A, (None, Layout(A[1].size, 2)))", "as many columns as"),
                "two": ("def even_columns(A):\n    return composition(A, (None, 2))", "2 columns, whatever"),
                "swapped": ("def even_columns(A):\n    return composition(A, (None, Layout(2, A[1].size // 2)))", "step are swapped"),
                "slots": ("def even_columns(A):\n    m, n = A.shape\n    return Layout((m, n // 2), (A.stride[0], 2))", "2 slots"),
                "the stride twice": (
                    "def even_columns(A):\n    return composition(A, (None, Layout(A.shape[1] // 2, 2 * A.stride[1])))",
                    "multiplied by the stride twice",
                ),
                "nothing": ("def even_columns(A):\n    composition(A, (None, Layout(A[1].size // 2, 2)))", "gives None"),
            },
            right={
                "a pair": (
                    "def even_columns(A):\n    it = composition(A, (None, Layout(A[1].size // 2, 2)))\n    return it.shape, it.stride"
                ),
                "notation": "def even_columns(A):\n    return composition(A, (None, f'{A[1].size // 2}:2'))",
                "rows as a layout": "def even_columns(A):\n    return composition(A, (A[0].size, Layout(A[1].size // 2, 2)))",
            },
        ),
        Exercise(
            id="03.5",
            title="Mend a reshape",
            stars=2,
            answers=("paired",),
            check=check_paired,
            hints=(
                "The colleague's line gives a number for each coordinate. Where is `A` in it?",
                "Take 6 columns. Which column has q = 1, p = 0? And q = 0, p = 1? How many columns is a step of each?",
                "Which entry of a tuple works on the columns? May that entry be a layout of two modes?",
            ),
            why="None leaves the rows alone; (columns/2,2):(2,1) counts columns, 2 for a step of q and 1 for p. A says where they lie.",
            also=(
                "def paired(A):\n    rows, columns = A[0].size, A[1].size\n"
                "    return composition(A, Layout((rows, (columns // 2, 2)), (1, (2 * rows, rows))))"
            ),
            wrong={
                "the starter": ("def paired(A):\n    rows, columns = A[0].size, A[1].size\n    return ...", "Line 4 of the cell"),
                "the constant": ("def paired(A):\n    return Layout((4, (3, 2)), (6, (2, 1)))", "the same layout whatever"),
                "the transposed": (
                    "def paired(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (n // 2, 2)), (a, (b, 2 * b)))",
                    "two columns on",
                ),
                "the off-by-one": (
                    "def paired(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (n // 2, 2)), (a, (2 * b + 1, b)))",
                    "and that is not where this element belongs",
                ),
                "the colleague's": ("def paired(A):\n    m, n = A.shape\n    return Layout((m, (n // 2, 2)))", "the colleague's"),
                "the colleague's, after A": (
                    "def paired(A):\n    m, n = A[0].size, A[1].size\n    return composition(A, Layout((m, (n // 2, 2))))",
                    "through half of them",
                ),
                "the colleague's, by mode": (
                    "def paired(A):\n    return composition(A, (None, Layout((A[1].size // 2, 2))))",
                    "through half of them",
                ),
                "p before q": (
                    "def paired(A):\n    return composition(A, (None, Layout((2, A[1].size // 2))))",
                    "Its first part of mode 1 is `p`",
                ),
                "one step of pairs": (
                    "def paired(A):\n    one, two = A(0, 1), A(0, 2)\n"
                    "    return Layout((A[0].shape, (A[1].size // 2, 2)), (A[0].stride, (two, one)))",
                    "gives offset",
                ),
                "its input": ("def paired(A):\n    return A", "It gives `A` back"),
                "B o A": (
                    "def paired(A):\n    return composition(Layout((A[0].size, (A[1].size // 2, 2))), A)",
                    "the layout that knows the memory stands first",
                ),
                "B alone": (
                    "def paired(A):\n    m, n = A[0].size, A[1].size\n    return Layout((m, (n // 2, 2)), (1, (2 * m, m)))",
                    "Their slots only `A` knows",
                ),
                "another form, three modes": (
                    "def paired(A):\n    m, n = A[0].size, A[1].size\n    return composition(A, Layout((m, n // 2, 2), (1, 2 * m, m)))",
                    "number of modes",
                ),
                "q as p": (
                    "def paired(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (n // 2, 2)), (a, (b, b)))",
                    "moves one column",
                ),
                "by rows": ("def paired(A):\n    m, n = A.shape\n    return Layout((m, (n // 2, 2)), (n, (2, 1)))", "without gaps only"),
                "the shape": ("def paired(A):\n    return (A.shape[0], (A.shape[1] // 2, 2))", "not a layout"),
            },
            right={
                "notation": "def paired(A):\n    return composition(A, (None, f'({A[1].size // 2},2):(2,1)'))",
                "by index": (
                    "def paired(A):\n    m, n = A[0].size, A[1].size\n    return composition(A, f'({m},({n // 2},2)):(1,({2 * m},{m}))')"
                ),
                "rows as a layout": "def paired(A):\n    return composition(A, (A[0].size, Layout((A[-1].size // 2, 2), (2, 1))))",
            },
        ),
        Exercise(
            id="03.6",
            title="The transpose is a composition",
            stars=2,
            answers=("B",),
            check=check_transposing,
            hints=(
                "Which element of A is element (1,0) of the transpose? Which index has it in A?",
                "How many indices of A is one step to the right in A? And one step down?",
                "What does B give: slots, or indices of A?",
            ),
            why="A step down in the transpose is a step to the right in A, 3 indices on; a step to the right is a step down in A, 1 on.",
            also="B = select(Layout((3, 5)), (1, 0))",
            wrong={
                "the starter": ("B = Layout((5, 3), (..., ...))", "Line 2 of the cell"),
                "the constant": ("B = '(5,3):(0,0)'", "names index 0 of A, its element (0,0)"),
                "the transposed": ("B = '(5,3):(1,8)'", "in slots"),
                "the off-by-one": ("B = '(5,3):(4,1)'", "names index 4 of A, its element (1,1). That is not element (1,0)"),
                "A itself": ("B = '(3,5):(8,1)'", "mode 0 has"),
                "not turned": ("B = '(5,3):(1,3)'", "one step down in A"),
                "the shape alone": ("B = Layout((5, 3))", "one step down in A"),
                "not turned, in A's slots": ("B = '(5,3):(1,4)'", "one step down in A"),
                "along the rows": ("B = '(5,3):(5,1)'", "counts 5 indices for a step to the right"),
                "in slots, turned": ("B = '(5,3):(8,1)'", "counts 8 indices for a step to the right"),
                "past the end": ("B = '(5,3):(3,24)'", "only past the end of A"),
                "out of A": ("B = '(5,3):(3,20)'", "and A has the indices 0 to 14"),
                "a right inverse": ("B = right_inverse('(3,5):(8,1)')", "it names row 0 only"),
                "a left inverse": ("B = left_inverse('(3,5):(8,1)')", "counts the unused slots too"),
                "another form": ("B = '(5,(3,1)):(3,(1,0))'", "how they nest"),
                "the result of another shape": ("B = '(3,5):(1,3)'", "mode 0 has"),
            },
            right={
                "notation": "B = '(5,3):(3,1)'",
                "a pair": "B = [[5, 3], [3, 1]]",
                "from an inverse": "B = right_inverse('(3,5):(5,1)')",
            },
        ),
        Exercise(
            id="03.7",
            title="Who lives here?",
            stars=3,
            answers=("R1", "R2"),
            check=check_inverses,
            hints=(
                "Write down R(0), R(2), R(4), R(12), R(14), R(16). What are they? Which other slots are there?",
                "From slot 0 to slot 2 the index grows by 1. Which mode can stand for the slot between them? What may its stride be?",
                "After how many slots does the row of three start again? How many pairs of slots is that? Which index lies there?",
            ),
            why="Slots come in pairs (2), of which only the first is used, so its stride is free; 6 pairs on, at slot 12, the index is 3.",
            also="R1 = left_inverse('(3,2):(2,12)')\nR2 = Layout((2, 6, 2), (2, 1, 3))",
            wrong={
                "the starter": ("R1 = Layout(..., ...)\nR2 = Layout(..., ...)", "Line 2 of the cell"),
                "the constant": ("R1 = R2 = '24:0'", "says that index 0 lies there"),
                "the transposed": ("R1 = R2 = '(2,3):(12,2)'", "still gives slots"),
                "the off-by-one": ("R1 = R2 = '(2,6,2):(0,1,4)'", "Index 3 of L lies in slot 12, and your `R1` says that index 4"),
                "one only": ("R1 = R2 = '(2,6,2):(0,1,3)'", "both send slot 1 to 0"),
                "twice the same": ("R1 = '(2,6,2):(0,1,3)'\nR2 = '(2,3,2,2):(0,1,3,3)'", "both send slot 1 to 0"),
                "the second one wrong": ("R1 = '(2,6,2):(0,1,3)'\nR2 = '(2,6,2):(0,1,2)'", "your `R2` says that index 2"),
                "L itself": ("R1 = R2 = '(3,2):(2,12)'", "leads from index to slot"),
                "no gaps": ("R1 = R2 = '24:1'", "gives each slot its own number"),
                "gaps left out": ("R1 = R2 = '(3,2):(1,3)'", "gives each slot its own number"),
                "three pairs for six": ("R1 = R2 = '(2,3,2):(0,1,3)'", "starts again at slot 6"),
                "three pairs for six, its end": ("R1 = R2 = '(2,3,2):(0,1,3)'", "has 12 elements; past them its last mode continues"),
                "the reverse order": ("R1 = R2 = '(2,6,2):(3,1,0)'", "Index 3 of L lies in slot 12"),
                "too few": ("R1 = R2 = '(2,6):(0,1)'", "past them its last mode continues"),
                "one round only": ("R1 = R2 = '(2,6,1):(0,1,3)'", "has 12 elements"),
                "too many": ("R1 = R2 = '(2,6,20):(0,1,3)'", "has 240 elements"),
                "swizzled": ("R1 = R2 = 'S<1,0,2> o 0 o (2,6,2):(0,1,3)'", "a plain layout"),
                "a list of slots": ("R1 = R2 = [0, 2, 4, 12, 14, 16]", "wanted is a `Layout`"),
            },
            right={
                "notation": "R1, R2 = '(2,6,2):(0,1,3)', '(2,6,2):(2,1,3)'",
                "other numbers for unused slots": "R1, R2 = '(2,6,2):(5,1,3)', '(2,6,2):(1,1,3)'",
                "turned round": "R1, R2 = '(2,6,2):(1,1,3)', '(2,6,2):(0,1,3)'",
                "a number that is no index, for unused slots": "R1, R2 = '(2,6,2):(-1,1,3)', '(2,6,2):(1,1,3)'",
                "and in the other": "R1, R2 = '(2,6,2):(0,1,3)', '(2,6,2):(-1,1,3)'",
            },
        ),
        Exercise(
            id="03.8",
            title="A matrix in blocks of rows",
            stars=3,
            answers=("A_view",),
            check=check_A_view,
            limit=120,
            hints=(
                "As which element was (1,0) written? And (0,1)? And the first element of the next block?",
                "Which row is place `p` of block `b`? So which of the two runs faster in `m`, and which part of the nested mode is it?",
                "`names` says as which element (m,k) was written. Which layout says where that element lies?",
            ),
            why="Row m is place m % w of block m // w, so (m,k) was written as element place + w·k + w·K·block; `stored` knows its slot.",
            also=(
                "def A_view(stored, M, K, w):\n    array = Layout((w, K, M // w))\n"
                "    return composition(stored, Layout(((w, M // w), K), ((array[0].stride, array[2].stride), array[1].stride)))"
            ),
            wrong={
                "the starter": (
                    "def A_view(stored, M, K, w):\n    names = Layout(((w, M // w), K), ...)\n    return composition(..., ...)",
                    "Line 3 of the cell",
                ),
                "the constant": ("def A_view(stored, M, K, w):\n    return Layout(((2, 2), 3), ((1, 6), 2))", "the same layout whatever"),
                "the transposed": ("def A_view(stored, M, K, w):\n    return composition(stored, Layout((M, K)))", "whole columns"),
                "the off-by-one": (
                    "def A_view(stored, M, K, w):\n    return composition(stored, Layout(((w, M // w), K), ((1, w * K + 1), w)))",
                    "not where this element",
                ),
                "one step in a block": (
                    "def A_view(stored, M, K, w):\n    columns = composition(stored, Layout(K, w))\n"
                    "    return Layout(((w, M // w), columns.shape), ((stored(1), stored(w * K)), columns.stride))",
                    "gives offset",
                ),
                "its input": ("def A_view(stored, M, K, w):\n    return stored", "number of modes"),
                "whole rows": ("def A_view(stored, M, K, w):\n    return Layout((M, K), (K, 1))", "whole rows"),
                "blocks first": (
                    "def A_view(stored, M, K, w):\n    return composition(stored, Layout(((M // w, w), K), ((w * K, 1), w)))",
                    "counts the blocks first",
                ),
                "side by side": (
                    "def A_view(stored, M, K, w):\n    return composition(stored, Layout(((w, M // w), K), ((1, w), M)))",
                    "takes all blocks of one column in a row",
                ),
                "columns for elements": (
                    "def A_view(stored, M, K, w):\n    return composition(stored, Layout(((w, M // w), K), ((1, K), w)))",
                    "`K` columns of `w` elements each",
                ),
                "rows in a block": (
                    "def A_view(stored, M, K, w):\n    return composition(stored, Layout(((w, M // w), K), ((K, w * K), 1)))",
                    "goes along the rows",
                ),
                "the shape alone": (
                    "def A_view(stored, M, K, w):\n    return composition(stored, Layout(((w, M // w), K)))",
                    "takes all blocks of one column in a row",
                ),
                "without the gaps": (
                    "def A_view(stored, M, K, w):\n    return Layout(((w, M // w), K), ((1, w * K), w))",
                    "only where the buffer has no gaps",
                ),
                "another form, three modes": (
                    "def A_view(stored, M, K, w):\n    return composition(stored, Layout((w, M // w, K), (1, w * K, w)))",
                    "number of modes",
                ),
                "three modes, and without the gaps": (
                    "def A_view(stored, M, K, w):\n    return Layout((w, M // w, K), (1, w * K, w))",
                    "number of modes",
                ),
                "B o A": (
                    "def A_view(stored, M, K, w):\n    return composition(Layout(((w, M // w), K), ((1, w * K), w)), stored)",
                    "the layout that knows the memory stands first",
                ),
                "one layout": ("A_view = Layout(((2, 2), 3), ((1, 6), 2))", "wanted is a function"),
            },
            right={
                "a pair": (
                    "def A_view(stored, M, K, w):\n    it = composition(stored, Layout(((w, M // w), K), ((1, w * K), w)))\n"
                    "    return it.shape, it.stride"
                ),
                "notation": ("def A_view(stored, M, K, w):\n    return composition(stored, f'(({w},{M // w}),{K}):((1,{w * K}),{w})')"),
            },
        ),
    )
}
