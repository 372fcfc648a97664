"""What the pattern of a wrong GEMM result usually means, in words.

Each hypothesis says what C would hold, or where C would be wrong, and that is compared with the kernel's numbers. The inputs are whole
numbers, so every comparison is exact.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product

import numpy as np

from exercises.engine.verdict import Mistake

FRAGMENT = (16, 8)  # m and n extents of what one MMA of a warp adds to
EVIDENCE = 8  # fewer wrong elements show no pattern
CHANCE = 1e-4  # how likely a pattern may be for wrong elements that are strewn at random


@dataclass(frozen=True, eq=False)
class Gemm:
    """One run of a kernel for C = A B^T, on whole numbers small enough that every sum is exact.

    a: (M,K), b: (N,K), whole numbers. got: (M,N), what the kernel left in C. tile: the CTA tile (bm,bn,bk). warps: how many warps
    split it along m and n, each with one contiguous part; None if the kernel is not written in warps. written: bool (M,N), where the
    kernel wrote; by default wherever C is not NaN. ValueError for what does not fit.

    >>> gemm = Gemm(np.eye(2, 3), np.ones((2, 3)), [[1, 1], [1, np.nan]], tile=(16, 16, 8))
    >>> gemm.want.tolist(), gemm.wrong.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [[False, False], [False, True]])
    """

    a: np.ndarray
    b: np.ndarray
    got: np.ndarray
    tile: tuple[int, int, int]
    warps: tuple[int, int] | None = None
    written: np.ndarray | None = None

    def __post_init__(self):
        a, b, got = (np.asarray(x, np.float64) for x in (self.a, self.b, self.got))
        written = ~np.isnan(got) if self.written is None else np.asarray(self.written, bool)
        fits = a.ndim == b.ndim == 2 and a.shape[1] == b.shape[1] and got.shape == written.shape == (len(a), len(b))
        if not fits or not a.size * b.size:
            shapes = f"{a.shape}, {b.shape}, {got.shape} and {written.shape}"
            raise ValueError(f"A is (M,K), B (N,K), C and where it was written (M,N), none of them 0; not {shapes}")
        whole = all(np.isfinite(x).all() and np.array_equal(x, np.rint(x)) for x in (a, b))
        if not whole or a.shape[1] * np.abs(a).max() * np.abs(b).max() > 2**53:
            raise ValueError("A and B hold whole numbers small enough that the right result is exact")
        warps = self.warps or (1, 1)
        if len(self.tile) != 3 or min(*self.tile, *warps) < 1 or self.tile[0] % warps[0] or self.tile[1] % warps[1]:
            raise ValueError(f"a tile (bm,bn,bk) is at least 1 and the warps split it evenly, not {self.tile} and {self.warps}")
        vars(self).update(a=a, b=b, got=got, written=written)

    @cached_property
    def want(self) -> np.ndarray:
        """The right result."""
        return self.a @ self.b.T

    @cached_property
    def wrong(self) -> np.ndarray:
        """bool (M,N): where C is wrong or was not written."""
        return (self.got != self.want) | ~self.written

    @cached_property
    def levels(self) -> list[tuple[str, tuple[int, int]]]:
        """Name and extents of the blocks that C is cut into; each divides the one before."""
        bm, bn, _ = self.tile
        part = [("warp's part", (bm // self.warps[0], bn // self.warps[1]))] if self.warps else []
        return [("CTA tile", (bm, bn)), *part]

    def block_of(self, level: int, m, n) -> tuple:
        """The coordinate of the block of a level that holds C(m,n): of a CTA tile in C, of a warp's part in its CTA tile."""
        if level:
            m, n = m % self.tile[0], n % self.tile[1]
        high, wide = self.levels[level][1]
        return m // high, n // wide

    def has(self, m: int, n: int) -> str:
        """The kernel's number in C(m,n), or a dash if it wrote none."""
        value = self.got[m, n]
        return "–" if not self.written[m, n] else "NaN" if np.isnan(value) else f"{value + 0.0:.15g}"  # no -0


def summary(gemm: Gemm) -> str:
    """How many elements are wrong, which is the first (first mode fastest), and what the kernel has there; never the right number.

    >>> summary(Gemm(np.ones((2, 3)), np.ones((2, 3)), [[3, 3], [4, np.nan]], tile=(16, 16, 8)))
    '2 of 4 elements of C are wrong. The first is C(1,0): the kernel has 4 there.'
    """
    count = int(gemm.wrong.sum())
    if not count:
        return "All elements of C are right."
    n, m = np.argwhere(gemm.wrong.T)[0]
    there = f"the kernel has {gemm.has(m, n)} there" if gemm.written[m, n] else "it was not written"
    return f"{count:,} of {many(gemm.wrong.size, 'element')} of C {'is' if count == 1 else 'are'} wrong. The first is C({m},{n}): {there}."


def diagnose(gemm: Gemm) -> Mistake | None:
    """The known mistake whose pattern the wrong elements have, the most specific first; None for no pattern or too few wrong elements.

    Post: what the words say of C is true; what it "usually" means is a guess.

    >>> a, b = np.arange(12).reshape(3, 4), np.arange(20).reshape(5, 4)
    >>> diagnose(Gemm(a, b, a[:, 2:] @ b[:, 2:].T, tile=(16, 16, 2))).words
    'Of 2 K tiles only tile 1 is in the sums. Usually each step of the loop clears the accumulators, or does not add to them.'
    """
    products = (found for *found, a, b in chain(_readings(gemm), _k_ends(gemm)) if _is_product(gemm, a, b))
    hypotheses = chain(_plain(gemm), products, _k_tiles(gemm), _misplaced(gemm), _regions(gemm), _spilled(gemm))
    found = next(hypotheses, None) if gemm.wrong.sum() >= EVIDENCE else None
    if found is None:
        return None
    name, fact, it = found
    (M, K), N, bk = gemm.a.shape, len(gemm.b), gemm.tile[2]
    cause, hint = (text.format(M=M, N=N, K=K, bk=bk, it=it) for text in CAUSES[name])
    return Mistake(name, f"{fact} Usually {cause}.", hint)


# name -> what it usually means, and a question that leads on
CAUSES = {
    "nothing written": ("the store is missing, or its predicate is never true",
        "Which threads reach the store, and what is the value of its predicate there?"),
    "NaN in the sums": ("a load reaches past the end of A or B, or shared memory is read that nothing has filled",
        "Of M = {M}, N = {N} and K = {K}, which are no multiple of the CTA tile, and what guards the loads there?"),
    "one constant": ("nothing was added to what is stored, or every thread reads from one place",
        "What is in the accumulators just before the store, and which step of the loop puts it there?"),
    "transposed result": ("m and n are exchanged in the store or in the layout of C",
        "Which mode of C has stride 1 in memory, and which one does your layout of C step along first?"),
    "operand read transposed": ("the strides of its layout are exchanged",
        "Which mode of {it} has stride 1 in memory, and which one does your layout say has stride 1?"),
    "one operand twice": ("both tiles are loaded from {it}, or both MMA operands are read from its tile",
        "From which tensor does each load take its numbers, and which tile goes into each operand of the MMA?"),
    "sums past the end of k": ("a predicate on k is missing in the last K tile",
        "Which k does the last K tile of {bk} have where K = {K}, and what do the loads put in their place from K on?"),
    "K tail missing": ("the number of K tiles was rounded down, the loop over k stops too early, or the last tile is guarded too much",
        "How many K tiles of {bk} cover K = {K}, and which k is the last that your loop takes?"),
    "first k missing": ("the loop over k starts too late, or its first step does not add",
        "Which k is the first that your loop takes, and what is in the accumulators after that?"),
    "summed too often": ("a loop over K takes steps too many, or several CTAs add to one tile",
        "Which K tiles are taken before the main loop, in it, and after it, and how many CTAs work on one tile of C?"),
    "stage used twice": ("a stage was read before its new tile had come",
        "What has to be true before a stage is read again, and who waits for it?"),
    "only the last K tile": ("each step of the loop clears the accumulators, or does not add to them",
        "What is in the accumulators after the second step of the main loop?"),
    "only one K tile": ("the loop takes one step only, or the other steps do not add",
        "Where does the main loop start and end, and what is in the accumulators after its second step?"),
    "K tile missing": ("the loop starts, steps or ends wrongly, or a stage is never filled, never read, or overwritten too early",
        "Which K tiles are loaded before the main loop, in it, and after it, into which stage, and which stages does the MMA read?"),
    "numbers out of place": ("the store has another layout than the accumulators",
        "Which coordinate of C does a thread hold in its value 0, and where does the store put that value?"),
    "ragged edge": ("a predicate on {it} is missing or wrong, or the number of CTA tiles was rounded down",
        "Which coordinates along {it} does the last CTA tile have, and at which of them may it load and store?"),
    "predicate one short": ("the predicate on {it} stops one too early",
        "For which {it} is your predicate true for the last time?"),
    "whole CTA tiles": ("the grid is too small, or block indices become tile coordinates in a wrong way",
        "Which tile of C does each CTA take, and is there exactly one CTA for each tile?"),
    "one warp": ("the coordinate of a warp in the CTA tile is wrong, or a layout leaves that warp out",
        "Which rows and columns of the CTA tile does each warp load, multiply and store?"),
    "store past the edge": ("a store past the end of one column has hit the start of the next, since a predicate on m is missing",
        "Where in memory does the element lie that comes after the last one of a column?"),
}  # fmt: skip
Found = tuple[str, str, str]  # name of the mistake, what is so in this C, and the mode or operand that it is about


def _plain(gemm: Gemm) -> Iterable[Found]:
    nan, first = np.isnan(gemm.got) & gemm.written, gemm.got[0, 0]
    if not gemm.written.any():
        yield "nothing written", "The kernel wrote no element of C.", ""
    elif nan.any() and not (gemm.wrong & ~nan).any():  # around A and B, buffers are filled with NaN
        count = many(int(nan.sum()), "element")
        yield "NaN in the sums", f"The kernel wrote NaN to {count} of C, though A and B hold none: it used what lies outside them.", ""
    elif (gemm.got == first).all():
        yield "one constant", f"C is {gemm.has(0, 0)} everywhere.", ""


def _readings(gemm: Gemm) -> Iterable[tuple[str, str, str, np.ndarray, np.ndarray]]:
    """What is found if C is a b^T, and a, b: A and B as a kernel may misread them, NaN where that is not known."""
    a, b, m, n = gemm.a, gemm.b, np.arange(len(gemm.a)), np.arange(len(gemm.b))
    inside = np.where(m < len(n) - len(m), -1, m)  # in the rows before, a store past the end of a column may have come last
    fact = "C holds the right numbers in transposed places, row for column, but for what lies past an edge."
    yield "transposed result", fact, "", _rows(b, inside), _rows(a, n)
    for it, x in (("A", a), ("B", b)):
        yield "one operand twice", f"C is {it} {it}ᵀ, as far as {it} reaches.", it, _rows(x, m), _rows(x, n)
    over = -a.shape[1] % gemm.tile[2]
    fact = f"The sums go on for {over} more k: A and B are read on into their next rows, as far as there are any."
    if over <= a.shape[1]:
        yield "sums past the end of k", fact, "", *(np.hstack([x, _rows(x, rows + 1)[:, :over]]) for x, rows in ((a, m), (b, n)))
    as_a, as_b = _misread(a), _misread(b)
    for it, pairs in (("A", product(as_a, [b])), ("B", product([a], as_b)), ("A and of B", product(as_a, as_b))):
        for pair in pairs:
            yield "operand read transposed", f"C is what comes out if the memory of {it} is read row for column.", it, *pair


def _k_ends(gemm: Gemm) -> Iterable[tuple[str, str, str, np.ndarray, np.ndarray]]:
    """The last or the first k are missing, but not just whole K tiles; as _readings."""
    K, bk, (terms, got) = gemm.a.shape[1], gemm.tile[2], _terms(gemm, 64)
    sums = np.cumsum(terms, axis=1)
    ends, starts = (1 + np.flatnonzero((x[:, :-1] == got).all(0)) for x in (sums, sums[:, -1:] - sums))
    if len(ends) + len(starts) != 1:
        return
    edge, tail = int(*ends, *starts), len(ends) > 0
    k, lost = (np.s_[:edge], K - edge) if tail else (np.s_[edge:], edge)
    if edge % bk or lost < bk:
        fact = f"Of {K} values of k the {'last' if tail else 'first'} {f'{lost} are' if lost > 1 else 'is'} not in the sums."
        yield "K tail missing" if tail else "first k missing", fact, "", gemm.a[:, k], gemm.b[:, k]


def _k_tiles(gemm: Gemm) -> Iterable[Found]:
    counts = _k_counts(gemm)
    if counts is None:
        return
    last, (used, more, missing) = len(counts) - 1, (np.flatnonzero(x).tolist() for x in (counts, counts > 1, counts == 0))
    if counts.min() == counts.max():
        yield "summed too often", f"Every number in C is {counts[0]:.0f} times what it should be.", ""
    elif more and missing:
        yield "stage used twice", f"{_are('K tile', more)} in the sums more than once, and {_are('K tile', missing)} not.", ""
    elif more:
        yield "summed too often", f"{_are('K tile', more)} in the sums more than once.", ""
    elif len(used) == 1:
        name = "only the last K tile" if used == [last] else "only one K tile"
        yield name, f"Of {last + 1} K tiles only tile {used[0]} is in the sums.", ""
    else:
        yield "K tile missing", f"Of K tiles 0 to {last}, {_are('K tile', missing)} not in the sums.", ""


def _k_counts(gemm: Gemm) -> np.ndarray | None:
    """How often each K tile is in the sums, if that alone is wrong and only one such answer exists; else None."""
    K, bk = gemm.a.shape[1], gemm.tile[2]
    starts = np.arange(0, K, bk)
    terms, got = _terms(gemm, 4 * len(starts) + 64)
    sums = np.add.reduceat(terms, starts, axis=1)  # (samples, K tiles)
    if not np.isfinite(gemm.got).all() or np.linalg.matrix_rank(sums) < len(starts):
        return None
    counts = np.rint(np.linalg.lstsq(sums, got[:, 0], rcond=None)[0])
    return counts if counts.min() >= 0 and _is_product(gemm, gemm.a * np.repeat(counts, bk)[:K], gemm.b) else None


def _misplaced(gemm: Gemm) -> Iterable[Found]:
    got, want = gemm.got, gemm.want
    m, n = gemm.block_of(0, *np.ix_(*map(range, got.shape)))
    apart = (m * got.shape[1] + n) * (np.ptp(want) + 1)  # so much that no two CTA tiles have a number in common
    for what, add in (("Each CTA tile of C", apart), ("C", 0)):
        if np.array_equal(np.sort(got + add, axis=None), np.sort(want + add, axis=None)):  # NaN equals nothing
            yield "numbers out of place", f"{what} holds exactly its right numbers, but not in their places.", ""


def _regions(gemm: Gemm) -> Iterable[Found]:
    wrong = gemm.got[gemm.wrong & gemm.written]
    what = "not written" if not wrong.size else "wrong" if wrong.any() or not gemm.written.all() else "0 and wrong"
    for name, subject, it, region in chain(_edges(gemm), _blocks(gemm)):
        if _fits(gemm, np.broadcast_to(region, gemm.wrong.shape)):
            yield name, f"Only {subject} {what}; the rest of C is right.", it


def _edges(gemm: Gemm) -> Iterable[tuple[str, str, str, np.ndarray]]:
    """Name of the mistake, subject and verb, what it is about, and bool, to be broadcast to (M,N): where C is then wrong."""
    (M, N), (bm, bn, _) = gemm.wrong.shape, gemm.tile
    m, n = np.ix_(range(M), range(N))
    rows, columns, past = m >= M // bm * bm, n >= N // bn * bn, (many(-M % bm, "row"), many(-N % bn, "column"))
    for it, region, by in (("m", rows, past[0]), ("n", columns, past[1]), ("m and n", rows | columns, " and ".join(past))):
        yield "ragged edge", f"the last CTA tiles along {it}, which reach past the edge of C by {by}, are", it, region
    rows, columns = m == M - 1, n == N - 1
    for it, region, lines in (("m", rows, "row"), ("n", columns, "column"), ("m and n", rows | columns, "row and column")):
        yield "predicate one short", f"the last {lines} of C {'are' if ' and ' in lines else 'is'}", it, region


def _blocks(gemm: Gemm) -> Iterable[tuple[str, str, str, np.ndarray]]:
    """Those CTA tiles, or those warps in every CTA tile, that have a wrong element; as _edges."""
    names = ("whole CTA tiles", ""), ("one warp", " in every CTA tile")
    for level, ((noun, _), (name, where)) in enumerate(zip(gemm.levels, names, strict=False)):
        m, n = gemm.block_of(level, *np.ix_(*map(range, gemm.got.shape)))
        bad = np.zeros((m.max() + 1, n.max() + 1), bool)
        bad[gemm.block_of(level, *np.nonzero(gemm.wrong))] = True
        blocks = [f"({i},{j})" for i, j in np.argwhere(bad)]
        yield name, _are(noun, blocks, f" of {bad.shape[0]}x{bad.shape[1]}{where}"), "", bad[m, n]


def _fits(gemm: Gemm, region: np.ndarray) -> bool:
    """Whether C is wrong in this region, everywhere in it and nowhere else. The whole of C is no region.

    A wrong number can be the right one by chance: three quarters of the region must be wrong, and so, but for 2, in each small block.
    """
    if region.all() or (gemm.wrong & ~region).any():
        return False
    starts = [np.arange(0, extent, min(sides)) for extent, *sides in zip(region.shape, FRAGMENT, gemm.tile, strict=False)]
    wrong, whole = (np.add.reduceat(np.add.reduceat(x, starts[0], 0, int), starts[1], 1) for x in (gemm.wrong, region))
    return bool((wrong >= 0.75 * whole - 2).all()) and wrong.sum() >= 0.75 * whole.sum()


def _spilled(gemm: Gemm) -> Iterable[Found]:
    """C is column-major, so a store past the end of a column lands at the start of the next. Which CTA writes there last is chance."""
    (m, n), over = np.ix_(*map(range, gemm.got.shape)), -len(gemm.a) % gemm.tile[0]
    region = (m < over) & (n > 0)
    inside = not (gemm.wrong & ~(region & gemm.written)).any()
    in_each_tile = np.logical_or.reduceat(gemm.wrong.any(0), np.arange(0, len(gemm.b), gemm.tile[1])).all()
    if inside and in_each_tile and region.mean() ** gemm.wrong.sum() < CHANCE:
        fact = f"Only elements in the first {many(over, 'row')} of C are wrong, and its CTA tiles reach past its edge by as many."
        yield "store past the edge", fact, ""


def _terms(gemm: Gemm, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For some elements of C, the same at each call: the products that are summed, (count,K), and what the kernel has, (count,1)."""
    rng = np.random.default_rng(0)
    m, n = (rng.integers(extent, size=count) for extent in gemm.got.shape)
    return gemm.a[m] * gemm.b[n], gemm.got[m, n][:, None]


def _is_product(gemm: Gemm, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the kernel's C is a b^T wherever that is no NaN. A corner is compared first, since a whole product is slow."""
    for corner in (np.s_[:8], np.s_[:]):
        numbers = a[corner] @ b[corner].T
        known = ~np.isnan(numbers)
        if not np.array_equal(gemm.got[corner, corner][known], numbers[known]):
            return False
    return gemm.wrong[known].sum() >= EVIDENCE


def _rows(matrix: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The rows of these numbers, NaN for a row that does not exist."""
    exists = (numbers >= 0) & (numbers < len(matrix))
    return np.where(exists[:, None], matrix[numbers % len(matrix)], np.nan)


def _misread(matrix: np.ndarray) -> list[np.ndarray]:
    """The matrix in compact memory of either order, read as if it had the other, or with its strides exchanged."""
    rows, columns = matrix.shape
    i, j = np.ix_(range(rows), range(columns))
    memory = (matrix.ravel(), (i + rows * j, i + columns * j)), (matrix.ravel("F"), (columns * i + j, rows * i + j))
    return [numbers[offsets] for numbers, readings in memory for offsets in readings if offsets[-1, -1] < numbers.size]


def many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _are(noun: str, which: list, of: str = "") -> str:
    """At most four of them by number, and the verb."""
    listed = ", ".join(map(str, which[:4])) + f" and {len(which) - 4} more" * (len(which) > 4)
    return f"{noun}{'s' * (len(which) > 1)} {listed}{of} {'are' if len(which) > 1 else 'is'}"
