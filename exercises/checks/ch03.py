"""Chapter 03, composition."""

from dataclasses import replace
from random import Random

from exercises.engine.answers import as_layout
from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_choice, judge_function, judge_layout, judge_table, picture
from exercises.engine.respond import choose, fill_grid
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout, LayoutError, coalesce, composition, laws, same_function
from layoutviz.views.composition import composition as composed_view

BY_HAND = (Layout((6, 4), (4, 1)), Layout((3, 2), (2, 12)))
ROWS = Layout((4, 6), (6, 1))
LONG = Layout("((2,3),(2,4)):((1,2),(12,24))")
TRANSPOSING = Layout((6, 4), (4, 1))
SPARSE = Layout((3, 2), (2, 12))
MOST = 24  # elements of an inverse of SPARSE
WHICH = {
    "6:2": "Steps of 2 divide a column of 4. Two in each column, and 6 is three times 2: `(2,3):(12,1)`.",
    "5:2": "Steps of 2 do divide a column of 4, two in each column. But 5 elements are not a whole number of columns.",
    "4:3": "Steps of 3 neither divide a column of 4 nor jump over it: they meet other rows in every column.",
    "(2,2):(3,2)": "Each mode alone has one step, and that fits. But both steps together are 5 indices: is that offset the sum of the two?",
}


def check_by_hand(offsets) -> Verdict:
    """The offsets of (6,4):(4,1) o (3,2):(2,12)."""
    return judge_table("offsets", offsets, composition(*BY_HAND), "All 6 offsets are right: first B, then A.", _by_hand_mistake)


def _by_hand_mistake(numbers: list[int]) -> Mistake | None:
    """What was computed in place of A(B(i))."""
    a, b = BY_HAND
    if numbers == b.offsets().tolist():
        words = "These are the numbers of B. Each is an index of A; asked is what A has there."
        return Mistake("B alone", words, "Which coordinate of A has index 2? Which offset has it?")
    if numbers == a.offsets()[: b.size].tolist():
        return Mistake("A alone", "These are the first offsets of A. B chooses others.", "Which indices of A does B give?")
    by_rows = [n // a.shape[1] * a.stride[0] + n % a.shape[1] * a.stride[1] for n in b.offsets().tolist()]
    if numbers == by_rows or numbers == [a.stride[0] * n for n in b.offsets().tolist()]:
        words = "You read B's numbers along the rows of A, or down a column without an end. An index of A runs down columns of 6."
        return Mistake("index along the rows", words, "Which coordinate of A has index 12?")
    return None


def _exists(b: str) -> bool:
    try:
        return bool(composition(ROWS, b))
    except LayoutError:
        return False


def check_which(which) -> Verdict:
    """The only B for which (4,6):(6,1) o B exists."""
    (right,) = filter(_exists, WHICH)
    return judge_choice("which", which, WHICH, right, lambda: composed_view(ROWS, right))


def check_coalesced(layout) -> Verdict:
    """The coalesced form of ((2,3),(2,4)):((1,2),(12,24))."""
    return judge_layout("layout", layout, coalesce(LONG), "Two modes are enough, and each index keeps its offset.", _coalesced_mistake)


def _coalesced_mistake(answer) -> Mistake | None:
    """Which modes were melted, or were not."""
    if answer == Layout(LONG.size, 1):
        words = "One mode would need the same step everywhere. After index 5 the offset jumps."
        return Mistake("all in one", words, "Where does the first column end, and where does the second begin?")
    if isinstance(answer, Layout) and answer.shape == (6, 8) and answer.stride == (1, 6):
        words = "The shape is right, but your second column begins where the first one ends."
        return Mistake("gap closed", words, "Which offset has coordinate ((0,0),(1,0)) of the given layout?")
    return None


def check_every_second(every_second) -> Verdict:
    """Columns 0, 2, 4, ... of any layout of two modes."""
    praise = "Half the columns, twice as far apart, whatever the layout. Nothing was copied."
    return judge_function("every_second", every_second, _every_second, _even_columns, praise, slips=EVERY_SECOND_SLIPS)


def _every_second(A: Layout) -> Layout:
    return composition(A, (None, Layout(A.shape[1] // 2, 2)))


def _even_columns(random: Random) -> list[tuple[Layout]]:
    """New layouts of two modes with an even number of columns, by rows and by columns, some padded."""
    layouts = []
    for n in range(8):
        rows, columns, gap = random.choice((3, 5, 7)), random.choice((4, 6, 8, 10)), random.randrange(3)
        layouts.append((Layout((rows, columns), (columns + gap, 1) if n % 2 else (1, rows + gap)),))
    return layouts


def check_paired(paired) -> Verdict:
    """Any layout of two modes, its columns in pairs."""
    praise = "The new shape names the elements, and each is found where `A` has it."
    return judge_function("paired", paired, _paired, _even_columns, praise, slips=PAIRED_SLIPS)


def _pair_shape(A: Layout) -> tuple:
    return (A.shape[0], (2, A.shape[1] // 2))


def _paired(A: Layout) -> Layout:
    (_, (pair, pairs)), (down, right) = _pair_shape(A), A.stride
    return Layout((A.shape[0], (pair, pairs)), (down, (right, 2 * right)))


def check_transposing(B) -> Verdict:
    """B with (4,6):(6,1) o B = (6,4):(1,6)."""
    praise = "B names the elements of A in the order of the transpose. Transposing is one more view."
    return judge_layout("B", B, TRANSPOSING, praise, _transposing_mistake)


def _transposing_mistake(answer) -> Mistake | None:
    """What the strides of B count, where they do not count indices of A."""
    if not isinstance(answer, Layout) or answer.shape != TRANSPOSING.shape:
        return None
    if answer.stride == (1, 6):
        words = "Those are the strides of the transpose itself, in slots. B gives indices of A, which A then turns into slots."
        return Mistake("slots for indices", words, "Which index has A's element (0,1)? And (1,0)?")
    if answer.stride == (1, 4):
        words = "One step down in B is one step down in A then. In the transpose it is a step to the right in A."
        return Mistake("not turned", words, "Which element of A is element (1,0) of its transpose? What is its index in A?")
    if answer.stride == (6, 1):
        words = "It counts 6 indices for a step to the right in A, but a column of A has 4 cells."
        return Mistake("along the rows", words, "Down which mode does an index of A count first? How long is that mode?")
    return None


def check_inverse(R) -> Verdict:
    """A left inverse of (3,2):(2,12) that has an answer for each of its 17 slots, of at most 24 elements, by its law."""
    answer = as_layout("R", R)
    if not isinstance(answer, Layout):
        return Verdict(State.WRONG, f"`R` is {answer}; wanted is a plain layout, shape and stride.")
    law, mistake = laws.check("left_inverse", SPARSE, result=answer), _inverse_mistake(answer)
    if not law.holds:
        bad = next(i for i in range(SPARSE.size) if answer(SPARSE(i)) != i)
        told = f"Index {bad} of L lies in slot {SPARSE(bad)}, and your `R` says that index {answer(SPARSE(bad))} lies there."
        return Verdict(State.WRONG, f"{told} {mistake.words}" if mistake else told, picture(answer), mistake)
    if not SPARSE.cosize <= answer.size <= MOST:
        told = f"The law holds, but your `R` has {answer.size} elements; {SPARSE.cosize} to {MOST} are asked for."
        return Verdict(State.WRONG, told, picture(answer))
    if any(answer(slot) not in range(SPARSE.size) for slot in range(SPARSE.cosize)):
        slot = next(slot for slot in range(SPARSE.cosize) if answer(slot) not in range(SPARSE.size))
        told = f"The law holds, and you may choose what unused slots say. Yours sends slot {slot} to {answer(slot)}, no index of L."
        return Verdict(State.RIGHT, told, picture(answer))
    return Verdict(State.RIGHT, "From every slot in use it leads back to the index that lives there.", picture(answer))


def _inverse_mistake(answer: Layout) -> Mistake | None:
    """What was taken for the inverse."""
    if answer == SPARSE:
        return Mistake("L itself", "That is L, which leads from index to slot.", "R goes the other way. What must R(2) be, and R(12)?")
    if answer == Layout((2, 3), (12, 2)):
        words = "That is L with its modes swapped; it still gives slots."
        return Mistake("a transpose", words, "What does R give, slots or indices? How large can they be?")
    if same_function(answer, Layout(answer.size, 1)):
        words = "It gives each slot its own number."
        return Mistake("no gaps", words, "Which index lies in slot 2? How often does R(n) grow as n counts up?")
    return None


def stored_in_blocks(M: int, K: int, w: int) -> Layout:
    """A (M,K) in a buffer that was stored as (M/w, K, w), last one fastest."""
    return Layout(((w, M // w), K), ((1, w * K), w))


def check_A_layout(A_layout) -> Verdict:
    """By law; then the lesson's kernel runs through it. The law comes first: judge_gemm stores A by whatever layout it is given."""
    praise = "Each element is found where it was stored, and nothing was copied."
    verdict = judge_function("A_layout", A_layout, stored_in_blocks, _some_blocks, praise, slips=A_LAYOUT_SLIPS)
    return _run_through(A_layout, verdict) if verdict.ok else verdict


def _some_blocks(random: Random) -> list[tuple[int, int, int]]:
    """(M, K, w), all different, small ones first, and one as large as real ones."""
    some = []
    for _ in range(6):
        w, K, blocks = random.sample(range(2, 7), 3)
        some.append((w * blocks, K, w))
    return [*some, (8 * random.randrange(20, 60), random.randrange(100, 500), 8)]


def _run_through(A_layout, law: Verdict) -> Verdict:
    """The verdict on the naive GEMM, whose A is read through `A_layout`; with the words and the picture of the law."""
    from exercises.engine.kernel import judge_gemm, learners_code
    from ladder.naive import TILE, naive_gemm

    def layouts(M: int, N: int, K: int) -> tuple[Layout, Layout]:
        w = max(n for n in range(1, 9) if M % n == 0)
        with learners_code():
            A = as_layout("A_layout", A_layout(M, K, w))
        if not same_function(A, stored_in_blocks(M, K, w)):
            raise BadAnswer(f"`A_layout({M}, {K}, {w})` is {A}, and that does not read the buffer as it was stored.")
        return A, Layout((N, K), (K, 1))

    ran = judge_gemm("naive_gemm", naive_gemm, tile=(TILE, TILE, TILE), layouts=layouts)
    return replace(ran, message=f"{law.message} {ran.message}", scene=ran.scene or law.scene)


# --- mistakes of one exercise


EVERY_SECOND_SLIPS = (
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
)  # fmt: skip
PAIRED_SLIPS = (
    (lambda A: Layout(_pair_shape(A)), Mistake(
        "the shape alone", "That is the colleague's: a shape alone gets column-major strides without gaps, whatever `A` has.",
        "Which layout knows where the elements lie? Which one only names them?",
    )),
    (lambda A: Layout(_pair_shape(A), (A.stride[0], (A.shape[1] // 2 * A.stride[1], A.stride[1]))), Mistake(
        "p and q swapped", "A step of `p` goes half the way through the columns, a step of `q` to the next column.",
        "Which column is `p + 2q` for p = 1, q = 0?",
    )),
    (lambda A: Layout(_pair_shape(A), (A.stride[0], (A.stride[1], A.stride[1]))), Mistake(
        "q as p", "A step of `q` moves one column, as a step of `p` does.", "How many columns is one step of `q`?",
    )),
    (lambda A: Layout(_pair_shape(A), (A.shape[1], (1, 2))), Mistake(
        "row-major without gaps", "Its strides fit a row-major matrix without gaps only. `A` may lie in any way.",
        "Which strides has `A`? Does your function ask for them?",
    )),
)  # fmt: skip
A_LAYOUT_SLIPS = (
    (lambda M, K, w: Layout((M, K), (K, 1)), Mistake(
        "whole rows", "It reads the buffer as if whole rows lay one after another.", "Which element lies next to (0,0) in memory?",
    )),
    (lambda M, K, w: Layout((M, K), (1, M)), Mistake(
        "whole columns", "It reads the buffer as if whole columns lay one after another. A column is cut after `w` rows.",
        "What comes in memory after the first `w` rows of column 0?",
    )),
    (lambda M, K, w: Layout((M // w, K, w), (K * w, w, 1)), Mistake(
        "as it was stored", "That is the array as it was stored, with three modes. The kernel asks for (m,k).",
        "Which two of the three make up `m`, and which of them runs faster?",
    )),
    (lambda M, K, w: Layout(((M // w, w), K), ((w * K, 1), w)), Mistake(
        "block and place swapped", "Its first mode counts the blocks first, and the place in a block last.",
        "In which block are rows 0 and 1?",
    )),
    (lambda M, K, w: Layout(((w, M // w), K), ((1, w), M)), Mistake(
        "blocks side by side", "It puts all blocks of one column side by side. Between two blocks lie all `K` columns of the first.",
        "How many elements has one whole block?",
    )),
    (lambda M, K, w: Layout(((w, M // w), K), ((K, w * K), 1)), Mistake(
        "rows in a block", "Within a block it goes along the rows. There `w` rows of one column lie side by side.",
        "Which of `(M/w, K, w)` is the fastest?",
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
                "the transposed": ("offsets = [0, 2, 8, 10, 16, 18]", "along the rows"),
                "the off-by-one": ("offsets = [1, 9, 17, 3, 11, 19]", "off by the same amount"),
                "B alone": ("offsets = [0, 2, 4, 12, 14, 16]", "the numbers of B"),
                "A alone": ("offsets = [0, 4, 8, 12, 16, 20]", "the first offsets of A"),
                "without an end": ("offsets = [0, 8, 16, 48, 56, 64]", "down a column without an end"),
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
            title="Which one exists?",
            stars=1,
            answers=("which",),
            check=check_which,
            respond=choose("which", WHICH),
            hints=(
                "A column of A has 4 cells. Which rows of it do steps of 2 meet, in each column? And steps of 3?",
                "How many elements are met in each column? Do they come out even at the end?",
                "In a layout of two modes the offset of (1,1) is the sum of those of (1,0) and (0,1). Is it here?",
            ),
            why="2 divides 4, so each column gives 2 elements, and 6 is a whole number of columns: (2,3):(12,1).",
            also="which = Layout(6, 2)",
            wrong={
                "the starter": ("which = ...", "still holds"),
                "the constant": ("which = '5:2'", "not a whole number of columns"),
                "the transposed": ("which = '4:3'", "other rows in every column"),
                "the off-by-one": ("which = '(2,2):(3,2)'", "is that offset the sum of the two"),
                "none of them": ("which = '6:3'", "choose one of"),
                "a list": ("which = ['6:2']", "choose one of"),
            },
            right={
                "spaces": "which = ' 6 : 2'",
                "by trying": (
                    "for which in ('5:2', '4:3', '(2,2):(3,2)', '6:2'):\n    try:\n        composition('(4,6):(6,1)', which)\n"
                    "        break\n    except LayoutError:\n        pass"
                ),
            },
        ),
        Exercise(
            id="03.3",
            title="As few modes as possible",
            stars=1,
            answers=("layout",),
            check=check_coalesced,
            hints=(
                "Where does 2:1 end? Does 3:2 go on there?",
                "The first two together: what are their extent and stride? Does 2:12 go on where they end?",
                "And 4:24, after 2:12?",
            ),
            why="2:1 and 3:2 are 6:1, which ends at 6; 2:12 does not go on there, but 4:24 goes on where 2:12 ends.",
            also='layout = coalesce("((2,3),(2,4)):((1,2),(12,24))")',
            wrong={
                "the starter": ("layout = Layout(..., ...)", "Line 2 of the cell"),
                "the constant": ("layout = '(6,8):(0,0)'", "same offset"),
                "the transposed": ("layout = '(8,6):(12,1)'", "modes are swapped"),
                "the off-by-one": ("layout = '(6,8):(1,11)'", "off by one"),
                "all in one": ("layout = '48:1'", "the offset jumps"),
                "gap closed": ("layout = '(6,8):(1,6)'", "begins where the first one ends"),
                "strides swapped": ("layout = '(6,8):(12,1)'", "row-major"),
                "another form, three modes": ("layout = '(6,2,4):(1,12,24)'", "number of modes"),
                "another form, as given": ("layout = '((2,3),(2,4)):((1,2),(12,24))'", "how they nest"),
                "only the shape": ("layout = (6, 8)", "number of modes"),
            },
            right={
                "notation": "layout = '(6,8):(1,12)'",
                "a pair": "layout = ((6, 8), (1, 12))",
                "by mode": "layout = coalesce('((2,3),(2,4)):((1,2),(12,24))', (1, 1))",
            },
        ),
        Exercise(
            id="03.4",
            title="Every second column",
            stars=2,
            answers=("every_second",),
            check=check_every_second,
            hints=(
                "Which entry of a tuple works on the columns? What leaves the rows as they are?",
                "The columns are counted by `n:d`. How many are wanted, and how far apart?",
                "How is `3:2` written with `Layout`?",
            ),
            why="By mode: None leaves the rows alone, and columns/2 : 2 takes every second column, whatever their stride is.",
            also="def every_second(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, n // 2), (a, 2 * b))",
            wrong={
                "the starter": ("def every_second(A):\n    rows, columns = A.shape\n    return composition(A, ...)", "Line 4 of the cell"),
                "the constant": ("def every_second(A):\n    return Layout((4, 3), (6, 2))", "the same layout whatever"),
                "the transposed": (
                    "def every_second(A):\n    rows, columns = A.shape\n    return composition(A, (Layout(rows // 2, 2), None))",
                    "every second row",
                ),
                "the off-by-one": (
                    "def every_second(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, n // 2), (a, 2 * b + 1))",
                    "off by one",
                ),
                "its input": ("def every_second(A):\n    return A", "gives its input back"),
                "the first half": ("def every_second(A):\n    return composition(A, (None, A.shape[1] // 2))", "the first ones"),
                "too many": ("def every_second(A):\n    return composition(A, (None, Layout(A.shape[1], 2)))", "as many columns as"),
                "slots": ("def every_second(A):\n    return Layout((A.shape[0], A.shape[1] // 2), (A.stride[0], 2))", "2 slots"),
                "nothing": ("def every_second(A):\n    composition(A, (None, Layout(A.shape[1] // 2, 2)))", "gives None"),
            },
            right={
                "one layout": ("def every_second(A):\n    m, n = A.shape\n    return composition(A, Layout((m, n // 2), (1, 2 * m)))"),
                "a pair": "def every_second(A):\n    return (A.shape[0], A.shape[1] // 2), (A.stride[0], 2 * A.stride[1])",
                "notation": "def every_second(A):\n    return composition(A, (None, f'{A.shape[1] // 2}:2'))",
            },
        ),
        Exercise(
            id="03.5",
            title="Mend a reshape",
            stars=2,
            answers=("paired",),
            check=check_paired,
            hints=(
                "For which `A` is the colleague's line right?",
                "The colleague's layout gives a number for each new coordinate. Is that number an index of `A`, or a slot?",
                "Which operation turns indices of `A` into slots?",
            ),
            why="Layout(new_shape) counts the indices in their order, which names the right elements; A then says where they lie.",
            also="def paired(A):\n    rows, columns = A.shape\n    return composition(A, (None, Layout((2, columns // 2))))",
            wrong={
                "the starter": ("def paired(A):\n    rows, columns = A.shape\n    return ...", "Line 4 of the cell"),
                "the constant": ("def paired(A):\n    return Layout((4, (2, 3)), (6, (1, 2)))", "the same layout whatever"),
                "the transposed": (
                    "def paired(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (2, n // 2)), (a, (n // 2 * b, b)))",
                    "half the way through",
                ),
                "the off-by-one": (
                    "def paired(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (2, n // 2)), (a, (b, 2 * b + 1)))",
                    "and that is not where this element belongs",
                ),
                "the colleague's": ("def paired(A):\n    m, n = A.shape\n    return Layout((m, (2, n // 2)))", "the colleague's"),
                "another form, its input": ("def paired(A):\n    return A", "how they nest"),
                "q as p": (
                    "def paired(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (2, n // 2)), (a, (b, b)))",
                    "moves one column",
                ),
                "by rows": ("def paired(A):\n    m, n = A.shape\n    return Layout((m, (2, n // 2)), (n, (1, 2)))", "without gaps only"),
                "the shape": ("def paired(A):\n    return (A.shape[0], (2, A.shape[1] // 2))", "not a layout"),
            },
            right={
                "by strides": "def paired(A):\n    (m, n), (a, b) = A.shape, A.stride\n    return (m, (2, n // 2)), (a, (b, 2 * b))",
                "a shape as text": "def paired(A):\n    m, n = A.shape\n    return composition(A, f'({m},(2,{n // 2})):(1,({m},{2 * m}))')",
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
            why="A step down in the transpose is a step to the right in A, 4 indices on; a step to the right is a step down in A, 1 on.",
            also="B = right_inverse('(4,6):(6,1)')",
            wrong={
                "the starter": ("B = Layout((6, 4), (..., ...))", "Line 2 of the cell"),
                "the constant": ("B = '(6,4):(0,0)'", "same offset"),
                "the transposed": ("B = '(6,4):(1,6)'", "in slots"),
                "the off-by-one": ("B = '(6,4):(5,1)'", "off by one"),
                "A itself": ("B = '(4,6):(6,1)'", "the size of mode 0"),
                "not turned": ("B = '(6,4):(1,4)'", "one step down in A"),
                "along the rows": ("B = '(6,4):(6,1)'", "a column of A has 4 cells"),
                "another form": ("B = '((2,3),4):((4,8),1)'", "how they nest"),
                "the result of another shape": ("B = '(4,6):(1,4)'", "the size of mode 0"),
            },
            right={
                "notation": "B = '(6,4):(4,1)'",
                "a pair": "B = [[6, 4], [4, 1]]",
                "a transpose of indices": "B = select(Layout((4, 6)), (1, 0))",
            },
        ),
        Exercise(
            id="03.7",
            title="Who lives here?",
            stars=3,
            answers=("R",),
            check=check_inverse,
            hints=(
                "Write down R(0), R(2), R(4), R(12), R(14), R(16). What are they? Which other slots are there?",
                "From slot 0 to slot 2 the index grows by 1. Which mode can stand for the slot between them? What may its stride be?",
                "After how many slots does the row of three start again? How many pairs of slots is that? Which index lies there?",
            ),
            why="Slots come in pairs (2), of which only the first is used; 6 pairs on, at slot 12, the index is 3.",
            also="R = left_inverse('(3,2):(2,12)')",
            wrong={
                "the starter": ("R = Layout(..., ...)", "Line 2 of the cell"),
                "the constant": ("R = '24:0'", "says that index 0 lies there"),
                "the transposed": ("R = '(2,3):(12,2)'", "still gives slots"),
                "the off-by-one": ("R = '(2,6,2):(0,1,4)'", "Index 3 of L lies in slot 12, and your `R` says that index 4"),
                "L itself": ("R = '(3,2):(2,12)'", "leads from index to slot"),
                "no gaps": ("R = '24:1'", "gives each slot its own number"),
                "three pairs for six": ("R = '(2,3,2):(0,1,3)'", "Index 3 of L lies in slot 12"),
                "the reverse order": ("R = '(2,6,2):(3,1,0)'", "Index 3 of L lies in slot 12"),
                "too few": ("R = '(2,6):(0,1)'", "Index 3 of L lies in slot 12"),
                "one round only": ("R = '(2,6,1):(0,1,3)'", "has 12 elements"),
                "too many": ("R = '(2,6,20):(0,1,3)'", "has 240 elements"),
                "swizzled": ("R = 'S<1,0,2> o 0 o (2,6,2):(0,1,3)'", "a plain layout"),
                "a list of slots": ("R = [0, 2, 4, 12, 14, 16]", "wanted is a `Layout`"),
            },
            right={
                "notation": "R = '(2,6,2):(0,1,3)'",
                "another number for unused slots": "R = '(2,6,2):(5,1,3)'",
                "as L grows": "R = '(2,6,2):(1,1,3)'",
                "a number that is no index, for unused slots": "R = '(2,6,2):(-1,1,3)'",
            },
        ),
        Exercise(
            id="03.8",
            title="A matrix in blocks of rows",
            stars=3,
            answers=("A_layout",),
            check=check_A_layout,
            limit=120,
            hints=(
                "`(M/w, K, w)`, the last one fastest: how far does one step of each move in the buffer?",
                "Which row is place `p` of block `b`? So which of the two runs faster in `m`, and which part of the nested mode is it?",
                "`names` gives an element of `stored` by its index, whose first mode runs fastest. How many is one block? One column?",
            ),
            why="Row m is place m % w of block m // w; one place is 1 slot, one column w slots, one block w·K slots.",
            also="def A_layout(M, K, w):\n    return Layout(((w, M // w), K), ((1, w * K), w))",
            wrong={
                "the starter": (
                    "def A_layout(M, K, w):\n    stored = Layout((M // w, K, w), ...)\n    names = Layout(((w, M // w), K), ...)\n"
                    "    return composition(stored, names)",
                    "Line 3 of the cell",
                ),
                "the constant": ("def A_layout(M, K, w):\n    return Layout(((2, 2), 3), ((1, 6), 2))", "the same layout whatever"),
                "the transposed": ("def A_layout(M, K, w):\n    return Layout((M, K), (1, M))", "whole columns"),
                "the off-by-one": (
                    "def A_layout(M, K, w):\n    return Layout(((w, M // w), K), ((1, w * K + 1), w))",
                    "not where this element",
                ),
                "whole rows": ("def A_layout(M, K, w):\n    return Layout((M, K), (K, 1))", "whole rows"),
                "as stored": ("def A_layout(M, K, w):\n    return Layout((M // w, K, w), (K * w, w, 1))", "as it was stored"),
                "blocks first": ("def A_layout(M, K, w):\n    return Layout(((M // w, w), K), ((w * K, 1), w))", "counts the blocks first"),
                "side by side": ("def A_layout(M, K, w):\n    return Layout(((w, M // w), K), ((1, w), M))", "side by side"),
                "rows in a block": ("def A_layout(M, K, w):\n    return Layout(((w, M // w), K), ((K, w * K), 1))", "goes along the rows"),
                "one layout": ("A_layout = Layout(((2, 2), 3), ((1, 6), 2))", "wanted is a function"),
            },
            right={
                "a pair": "def A_layout(M, K, w):\n    return ((w, M // w), K), ((1, w * K), w)",
                "by mode": (
                    "def A_layout(M, K, w):\n    names = Layout(((w, M // w), K), ((M // w * K, 1), M // w))\n"
                    "    return composition(Layout((M // w, K, w), (K * w, w, 1)), names)"
                ),
            },
        ),
    )
}
