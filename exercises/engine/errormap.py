"""A wrong GEMM result: what its pattern usually means, in words, and where it is wrong, as a picture.

Each hypothesis is one function: it says what C would hold, or where C would be wrong, and compares that with the kernel's numbers.
The inputs are whole numbers, so every comparison is exact.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from exercises.engine.verdict import Mistake
from layoutviz.scene import Border, Panel, Scene

CELLS = 64  # rows or columns of cells in one picture
ROOM = 300  # characters in one row of a picture; where the numbers need more, a cross stands for each
EVIDENCE = 8  # a prediction of only a part of C must explain at least so many wrong elements
OFTEN = 1000  # a K tile that is in the sums more often is none
CHANCE = 1e-4  # how likely a pattern may be for wrong elements that are strewn at random


@dataclass(frozen=True, eq=False)
class Gemm:
    """One run of a kernel for C = A B^T, on whole numbers small enough that every sum is exact.

    a: (M,K), b: (N,K), whole numbers. got: (M,N), what the kernel left in C. tile: the CTA tile (bm,bn,bk). warps: how many warps
    split it along m and n, each with one contiguous part; None if the kernel is not written in warps. fragment: the extents of an MMA
    in a warp's part. written: bool (M,N), where the kernel wrote; by default wherever C is not NaN. ValueError for what does not fit.

    >>> gemm = Gemm(np.eye(2, 3), np.ones((2, 3)), [[1, 1], [1, np.nan]], tile=(16, 16, 8))
    >>> gemm.want.tolist(), gemm.wrong.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [[False, False], [False, True]])
    """

    a: np.ndarray
    b: np.ndarray
    got: np.ndarray
    tile: tuple[int, int, int]
    warps: tuple[int, int] | None = None
    fragment: tuple[int, int] = (16, 8)
    written: np.ndarray | None = None

    def __post_init__(self):
        for name in ("a", "b", "got"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.float64))
        written = ~np.isnan(self.got) if self.written is None else np.asarray(self.written, bool)
        object.__setattr__(self, "written", written)
        if any(x.ndim != 2 or not x.size for x in (self.a, self.b, self.got)) or self.a.shape[1] != self.b.shape[1]:
            raise ValueError(f"A is (M,K) and B is (N,K), none of them 0, not {self.a.shape} and {self.b.shape}")
        if not self.got.shape == written.shape == (len(self.a), len(self.b)):
            raise ValueError(f"C is ({len(self.a)},{len(self.b)}), not {self.got.shape}, written {written.shape}")
        whole = all(np.isfinite(x).all() and np.array_equal(x, np.rint(x)) for x in (self.a, self.b))
        if not whole or self.a.shape[1] * np.abs(self.a).max() * np.abs(self.b).max() > 2**53:
            raise ValueError("A and B hold whole numbers small enough that the right result is exact")
        if len(self.tile) != 3 or min(*self.tile, *(self.warps or (1, 1)), *self.fragment) < 1:
            raise ValueError(f"a tile (bm,bn,bk), warps and a fragment are at least 1, not {self.tile}, {self.warps}, {self.fragment}")
        if any(extent % count for extent, count in zip(self.tile, self.warps or (), strict=False)):
            raise ValueError(f"{self.warps} warps do not split a CTA tile of {self.tile[0]}x{self.tile[1]} evenly")

    @cached_property
    def want(self) -> np.ndarray:
        """The right result."""
        return self.a @ self.b.T

    @cached_property
    def wrong(self) -> np.ndarray:
        """bool (M,N): where C is wrong or was not written."""
        return (self.got != self.want) | ~self.written

    @property
    def levels(self) -> list[tuple[str, tuple[int, int]]]:
        """Name and extents of the blocks that C is cut into, each inside the one before."""
        bm, bn, _ = self.tile
        if self.warps is None:
            return [("CTA tile", (bm, bn)), ("block", self.fragment)]
        part = bm // self.warps[0], bn // self.warps[1]
        return [("CTA tile", (bm, bn)), ("warp's part", part), ("fragment", self.fragment)]


# --- what is wrong, in words


def summary(gemm: Gemm) -> str:
    """How many elements are wrong, which is the first (first mode fastest), and what the kernel has there; never the right number.

    >>> summary(Gemm(np.ones((2, 3)), np.ones((2, 3)), [[3, 3], [4, np.nan]], tile=(16, 16, 8)))
    '2 of 4 elements of C are wrong. The first is C(1,0): the kernel has 4 there.'
    """
    count, size = int(gemm.wrong.sum()), gemm.wrong.size
    if not count:
        return f"All {size:,} elements of C are right." if size > 1 else "The one element of C is right."
    n, m = np.unravel_index(np.argmax(gemm.wrong.T), gemm.wrong.T.shape)
    there = f"the kernel has {_number(gemm.got[m, n])} there" if gemm.written[m, n] else "it was not written"
    are = "is" if count == 1 else "are"
    return f"{count:,} of {_many(size, 'element')} of C {are} wrong. The first is C({m},{n}): {there}."


def diagnose(gemm: Gemm) -> Mistake | None:
    """The known mistake whose pattern the wrong elements have, the most specific first; None for no pattern or no wrong element.

    Post: what the words say of C is true of every wrong element; what it "usually" means is a guess.

    >>> a, b = np.arange(12).reshape(3, 4), np.arange(20).reshape(5, 4)
    >>> diagnose(Gemm(a, b, a[:, :2] @ b[:, :2].T, tile=(16, 16, 2))).words
    'Of 2 K tiles only tile 0 is in the sums. Usually the loop ends after one step, or later steps do not add.'
    """
    return next(filter(None, (hypothesis(gemm) for hypothesis in HYPOTHESES)), None) if gemm.wrong.any() else None


# name -> what it usually means, and a question that leads on
CAUSES = {
    "nothing written": (
        "the store is missing, or its predicate is never true",
        "Which threads reach the store, and what is the value of its predicate there?",
    ),
    "NaN in the sums": (
        "a load reaches past the end of A or B, or shared memory is read that nothing has filled",
        "Of M = {M}, N = {N} and K = {K}, which are no multiple of the CTA tile, and what guards the loads there?",
    ),
    "all zeros": (
        "nothing was added to the accumulators, or others than those are stored",
        "What is in the accumulators just before the store, and which step of the loop puts it there?",
    ),
    "one constant": (
        "the store writes something other than the accumulators, or every thread reads from one place",
        "What is in the accumulators just before the store, and from where does each thread load?",
    ),
    "a copy": (
        "the store takes its numbers from the wrong tensor",
        "Which tensor does the store read from, and what was last written to that one?",
    ),
    "transposed result": (
        "m and n are exchanged in the store or in the layout of C",
        "Which mode of C has stride 1 in memory, and which one does your layout of C step along first?",
    ),
    "operand read transposed": (
        "the strides of its layout are exchanged",
        "Which mode of {operand} has stride 1 in memory, and which one does your layout say has stride 1?",
    ),
    "shifted by one": (
        "a coordinate is off by one",
        "Which {mode} does the first thread of the first CTA read, and which {mode} does it write?",
    ),
    "numbers out of place": (
        "the store has another layout than the accumulators",
        "Which coordinate of C does a thread hold in its value 0, and where does the store put that value?",
    ),
    "summed too often": (
        "the loop runs over K more than once, or several CTAs add to one tile",
        "How many CTAs work on one tile of C, and how often does each of them pass over K?",
    ),
    "stage used twice": (
        "a stage was read before its new tile had come",
        "What has to be true before a stage is read again, and who waits for it?",
    ),
    "K tile summed twice": (
        "the loop, or what runs before or after it, takes a step too many",
        "Which K tiles are taken before the main loop, in it, and after it?",
    ),
    "K tail missing": (
        "the number of K tiles was rounded down, or the last one is guarded too much",
        "How many K tiles of {bk} cover K = {K}, and how many does your loop take?",
    ),
    "only the first K tile": (
        "the loop ends after one step, or later steps do not add",
        "What is in the accumulators after the second step of the main loop?",
    ),
    "only the last K tile": (
        "each step of the loop clears the accumulators, or does not add to them",
        "What is in the accumulators after the second step of the main loop?",
    ),
    "only one K tile": (
        "the loop takes a single step, and that at a wrong place",
        "Where does the main loop start, and where does it end?",
    ),
    "every other K tile": (
        "one stage of the pipeline is never read or never filled, or the loop steps by two",
        "Which stage holds each of the first few K tiles, and which stages does the MMA read?",
    ),
    "K tile missing": (
        "the loop starts or ends a step off, or a stage was overwritten before it was read",
        "Which K tiles are loaded before the main loop, in it, and after it, and which of them does the MMA read?",
    ),
    "ragged edge": (
        "a predicate on {mode} is missing or wrong, or the number of CTA tiles was rounded down",
        "Which coordinates along {mode} does the last CTA tile have, and at which of them may it load and store?",
    ),
    "predicate one short": (
        "the predicate on {mode} stops one too early",
        "For which {mode} is your predicate true for the last time?",
    ),
    "whole CTA tiles": (
        "the grid is too small, or block indices become tile coordinates in a wrong way",
        "Which tile of C does each CTA take, and is there exactly one CTA for each tile?",
    ),
    "one warp": (
        "the coordinate of a warp in the CTA tile is wrong, or a layout leaves that warp out",
        "Which rows and columns of the CTA tile does each warp load, multiply and store?",
    ),
    "every other fragment": (
        "a loop over the fragments of a warp takes only half of them",
        "How many fragments has a warp along m and along n, and which of them does each MMA and each copy take?",
    ),
    "store past the edge": (
        "a store past the end of one {line} has hit the start of the next, since a predicate on {mode} is missing",
        "Where in memory does the element lie that comes after the last one of a {line}?",
    ),
}
AXES = ((0, "m", "row", "column"), (1, "n", "column", "row"))  # axis of C, its mode, a line across it, a line along it


def _mistake(name: str, fact: str, **named: object) -> Mistake:
    cause, hint = CAUSES[name]
    return Mistake(name, f"{fact} Usually {cause.format(**named)}.", hint.format(**named))


# What C holds, all of it


def _not_written(gemm: Gemm) -> Mistake | None:
    return None if gemm.written.any() else _mistake("nothing written", "The kernel wrote no element of C.")


def _nan(gemm: Gemm) -> Mistake | None:
    """A and B hold no NaN, so one in a sum comes from elsewhere: around the matrices, buffers are filled with it."""
    nan = np.isnan(gemm.got) & gemm.written
    if not nan.any() or (gemm.wrong & ~nan).any():
        return None
    fact = f"The kernel wrote NaN to {_many(int(nan.sum()), 'element')} of C, though A and B hold none: it used what lies outside them."
    (M, K), N = gemm.a.shape, len(gemm.b)
    return _mistake("NaN in the sums", fact, M=M, N=N, K=K)


def _constant(gemm: Gemm) -> Mistake | None:
    value = gemm.got[0, 0]
    if not (gemm.got == value).all() or (value != 0 and gemm.got.size < EVIDENCE):
        return None
    return _mistake("one constant" if value else "all zeros", f"C is {_number(value)} everywhere.")


def _copy(gemm: Gemm) -> Mistake | None:
    M, N = gemm.got.shape
    for name, matrix in (("A", gemm.a), ("B", gemm.b), ("A transposed", gemm.a.T), ("B transposed", gemm.b.T)):
        rows, columns = matrix.shape
        if gemm.wrong[:rows, :columns].sum() >= EVIDENCE and np.array_equal(gemm.got[:rows, :columns], matrix[:M, :N]):
            return _mistake("a copy", f"C holds the numbers of {name}, as far as both reach.")
    return None


def _transposed_result(gemm: Gemm) -> Mistake | None:
    side = min(gemm.got.shape)
    clipped = np.full_like(gemm.got, np.nan)
    clipped[:side, :side] = gemm.want[:side, :side].T
    if gemm.got.size < EVIDENCE or not any(np.array_equal(gemm.got, c, equal_nan=True) for c in (clipped, *_misread(gemm.want))):
        return None
    return _mistake("transposed result", "C holds the right numbers in transposed places, row for column.")


def _transposed_operand(gemm: Gemm) -> Mistake | None:
    a, b = _misread(gemm.a), _misread(gemm.b)
    readings = {"A": [(x, gemm.b) for x in a], "B": [(gemm.a, y) for y in b], "A and of B": [(x, y) for x in a for y in b]}
    for name, pairs in readings.items():
        if gemm.got.size >= EVIDENCE and any(_is_product(gemm, *pair) for pair in pairs):
            fact = f"C is what comes out if the memory of {name} is read row for column."
            return _mistake("operand read transposed", fact, operand=name)
    return None


def _shifted(gemm: Gemm) -> Mistake | None:
    for axis, mode, line, _ in AXES:
        got, want, wrong = (np.moveaxis(x, axis, 0) for x in (gemm.got, gemm.want, gemm.wrong))
        for sign, here, there in (("-", np.s_[1:], np.s_[:-1]), ("+", np.s_[:-1], np.s_[1:])):
            if wrong[here].sum() >= EVIDENCE and np.array_equal(got[here], want[there]):
                fact = f"{line.capitalize()} {mode} of C holds what belongs to {line} {mode} {sign} 1."
                return _mistake("shifted by one", fact, mode=mode)
    return None


def _misplaced(gemm: Gemm) -> Mistake | None:
    got, want = gemm.got, gemm.want
    if not np.array_equal(np.sort(got, axis=None), np.sort(want, axis=None)):  # NaN equals nothing
        return None
    m, n = np.ix_(*_at(gemm, 0))
    apart = (m * got.shape[1] + n) * (np.ptp(want) + 1)  # so much that no two CTA tiles have a number in common
    by_tile = np.array_equal(np.sort(got + apart, axis=None), np.sort(want + apart, axis=None))
    what = "Each CTA tile of C" if by_tile else "C"
    return _mistake("numbers out of place", f"{what} holds exactly its right numbers, but not in their places.")


# Which K tiles are in the sums


def _k_tiles(gemm: Gemm) -> Mistake | None:
    counts = _k_counts(gemm)
    if counts is None:
        return None
    if counts.min() == counts.max():
        return _mistake("summed too often", f"Every number in C is {counts[0]} times what it should be.")
    more, missing = (np.flatnonzero(x).tolist() for x in (counts > 1, counts == 0))
    if more and missing:
        return _mistake("stage used twice", f"{_tiles(more)} in the sums more than once, and {_tiles(missing)} not.")
    if more:
        return _mistake("K tile summed twice", f"{_tiles(more)} in the sums more than once.")
    return _missing_k_tiles(missing, len(counts) - 1, gemm.a.shape[1], gemm.tile[2])


def _missing_k_tiles(missing: list[int], last: int, K: int, bk: int) -> Mistake:
    """K tiles 0 to last are summed once, but for the missing ones."""
    used = [tile for tile in range(last + 1) if tile not in missing]
    if missing == [last] and K % bk:
        fact = f"The last {K % bk} of {K} values of k are not in the sums: those after the last full K tile."
        return _mistake("K tail missing", fact, bk=bk, K=K)
    if len(used) == 1:
        which = {0: "only the first K tile", last: "only the last K tile"}.get(used[0], "only one K tile")
        return _mistake(which, f"Of {last + 1} K tiles only tile {used[0]} is in the sums.")
    if missing in (list(range(0, last + 1, 2)), list(range(1, last + 1, 2))) and len(missing) > 1:
        return _mistake("every other K tile", f"Every other K tile is not in the sums: tiles {_listed(missing)} of 0 to {last}.")
    return _mistake("K tile missing", f"Of K tiles 0 to {last}, {_tiles(missing)} not in the sums.")


def _k_counts(gemm: Gemm) -> np.ndarray | None:
    """int64[K tiles]: how often each K tile is in the sums, if that alone is wrong and only one such answer exists; else None."""
    (M, K), N, bk = gemm.a.shape, len(gemm.b), gemm.tile[2]
    starts, rng = np.arange(0, K, bk), np.random.default_rng(0)
    m, n = (rng.integers(extent, size=4 * len(starts) + 64) for extent in (M, N))
    sums = np.add.reduceat(gemm.a[m] * gemm.b[n], starts, axis=1)  # (samples, K tiles)
    if not np.isfinite(gemm.got).all() or np.linalg.matrix_rank(sums) < len(starts):
        return None
    counts = np.rint(np.linalg.lstsq(sums, gemm.got[m, n], rcond=None)[0])
    likely = counts.min() >= 0 and counts.max() <= OFTEN
    return counts.astype(np.int64) if likely and _is_product(gemm, gemm.a * np.repeat(counts, bk)[:K], gemm.b) else None


# Where C is wrong


def _ragged(gemm: Gemm) -> Mistake | None:
    beyond = [np.arange(extent) >= extent // tile * tile for extent, tile in zip(gemm.got.shape, gemm.tile, strict=False)]
    over = [-extent % tile for extent, tile in zip(gemm.got.shape, gemm.tile, strict=False)]
    past = [_many(over[axis], line) for axis, _, line, _ in AXES]
    m, n = beyond[0][:, None], beyond[1][None]
    for mode, edge, by in (("m", m, past[0]), ("n", n, past[1]), ("m and n", m | n, " and ".join(past))):
        if _fits(gemm, np.broadcast_to(edge, gemm.got.shape)):
            fact = f"The last CTA tiles along {mode} are {_what(gemm)}, the others are right. They reach past the edge of C by {by}."
            return _mistake("ragged edge", fact, mode=mode)
    return None


def _one_short(gemm: Gemm) -> Mistake | None:
    for axis, mode, line, _ in AXES:
        region = np.zeros_like(gemm.wrong)
        np.moveaxis(region, axis, 0)[-1] = True
        if not region.all() and np.array_equal(~gemm.written, region) and np.array_equal(gemm.wrong, region):
            return _mistake("predicate one short", f"Only the last {line} of C is not written.", mode=mode)
    return None


def _cta_tiles(gemm: Gemm) -> Mistake | None:
    bad = _per_block(gemm.wrong, _cuts([gemm.tile[:2]], gemm.got.shape)) > 0
    if not _fits(gemm, bad[np.ix_(*_at(gemm, 0))]):
        return None
    where = np.argwhere(bad)
    if len(where) == 1:
        which = f"CTA tile ({where[0][0]},{where[0][1]}) is"
    else:
        lines = [(axis, mode) for axis, mode, *_ in AXES if np.ptp(where[:, axis]) == 0 and len(where) == bad.shape[1 - axis]]
        place = "".join(f", all those with tile coordinate {where[0][axis]} along {mode}," for axis, mode in lines)
        which = f"{len(where)} of {bad.size} CTA tiles{place} are"
    return _mistake("whole CTA tiles", f"{which} {_what(gemm)}, the others are right.")


def _warp(gemm: Gemm) -> Mistake | None:
    if gemm.warps is None:
        return None
    (m, n), (row, column) = _at(gemm, 1), np.nonzero(gemm.wrong)
    bad = np.zeros(gemm.warps, bool)
    bad[m[row], n[column]] = True
    if not _fits(gemm, bad[np.ix_(m, n)]):
        return None
    warps = "warp " if bad.sum() == 1 else "warps "
    names = warps + _listed([f"({i},{j})" for i, j in np.argwhere(bad)])
    return _mistake("one warp", f"In every CTA tile the part of {names} of {_size(gemm.warps)} is {_what(gemm)}, the rest is right.")


def _fragments(gemm: Gemm) -> Mistake | None:
    if gemm.warps is None:
        return None
    m, n = np.ix_(*_at(gemm, 2))
    for along, number in (("m", m), ("n", n), ("m and n", m + n)):
        for odd in (0, 1):
            if _fits(gemm, np.broadcast_to(number % 2 == odd, gemm.got.shape)):
                which = f"Along {along}, every other {_size(gemm.fragment)} fragment in each warp's part"
                return _mistake("every other fragment", f"{which} is {_what(gemm)}, the rest is right.")
    return None


def _spilled(gemm: Gemm) -> Mistake | None:
    """A store past the end of a packed column lands at the start of the next one. Which CTA writes there last is chance."""
    for axis, mode, line, along in AXES:
        over = -gemm.got.shape[axis] % gemm.tile[axis]
        region = np.zeros_like(gemm.wrong)
        np.moveaxis(region, axis, 0)[:over, 1:] = True
        across = range(0, gemm.got.shape[1 - axis], gemm.tile[1 - axis])  # each CTA tile along the other mode has stores that spill
        hit = np.logical_or.reduceat(gemm.wrong.any(axis), across)
        all_inside = not (gemm.wrong & ~(region & gemm.written)).any()
        if all_inside and hit.all() and region.mean() ** gemm.wrong.sum() < CHANCE:
            fact = f"Only elements in the first {_many(over, line)} of C are wrong, and its CTA tiles reach past its edge by as many."
            return _mistake("store past the edge", fact, line=along, mode=mode)
    return None


HYPOTHESES: tuple[Callable[[Gemm], Mistake | None], ...] = (
    _not_written, _nan, _constant, _copy, _transposed_result, _transposed_operand, _shifted, _k_tiles, _misplaced,
    _ragged, _one_short, _cta_tiles, _warp, _fragments, _spilled,
)  # fmt: skip


# What the hypotheses share


def _is_product(gemm: Gemm, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the kernel's C is a b^T. A corner is compared first, since a whole product is slow."""
    return all(np.array_equal(gemm.got[corner, corner], a[corner] @ b[corner].T) for corner in (slice(8), slice(None)))


def _misread(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrix in row-major memory, read as column-major; and the other way round."""
    rows, columns = matrix.shape
    return matrix.reshape(columns, rows).T, matrix.T.reshape(rows, columns)


def _at(gemm: Gemm, level: int) -> tuple[np.ndarray, np.ndarray]:
    """For each m and for each n, the number of its block of a level within the block around it."""
    m, n = map(np.arange, gemm.got.shape)
    for _, (high, wide) in gemm.levels[:level]:
        m, n = m % high, n % wide
    high, wide = gemm.levels[level][1]
    return m // high, n // wide


def _cuts(sizes: Iterable[tuple[int, int]], shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Where blocks begin along m and n when C is cut into blocks of the first size, each of those into the second, and so on."""

    def starts(extent: int, steps: Iterable[int]) -> np.ndarray:
        begins = [0]
        for step in steps:
            begins = [at for begin, end in pairwise([*begins, extent]) for at in range(begin, end, step)]
        return np.array(begins)

    return tuple(map(starts, shape, zip(*sizes, strict=True)))


def _per_block(flags: np.ndarray, cuts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """int64 (blocks along m, blocks along n): how many flags are set in each block."""
    return np.add.reduceat(np.add.reduceat(flags, cuts[0], axis=0, dtype=np.int64), cuts[1], axis=1)


def _fits(gemm: Gemm, region: np.ndarray) -> bool:
    """Whether C is wrong in this region, everywhere in it and nowhere else. The whole of C is no region.

    A wrong number can be the right one by chance: three quarters of the region must be wrong, and so, but for 2, in each smallest block.
    """
    wrong = gemm.wrong
    if region.all() or (wrong & ~region).any() or wrong.sum() < 0.75 * region.sum():
        return False
    cuts = _cuts([size for _, size in gemm.levels], wrong.shape)
    return bool((_per_block(wrong, cuts) >= 0.75 * _per_block(region, cuts) - 2).all())


def _what(gemm: Gemm) -> str:
    if not (gemm.wrong & gemm.written).any():
        return "not written"
    return "0" if (gemm.got[gemm.wrong] == 0).all() else "wrong"


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else "NaN" if np.isnan(value) else f"{value:g}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _size(extents: Iterable[int]) -> str:
    return "x".join(map(str, extents))


def _listed(names: list) -> str:
    """At most four names in words."""
    shown = [*map(str, names)] if len(names) <= 4 else [*map(str, names[:3]), f"{len(names) - 3} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _tiles(numbers: list[int]) -> str:
    return f"K tile {numbers[0]} is" if len(numbers) == 1 else f"K tiles {_listed(numbers)} are"


# --- where it is wrong, as a picture

MARKED = 64  # so many wrong elements are framed; more frames would hide what they frame
SHADES = ("#f3f6f8", "#fdeedd", "#fbd9bf", "#f6c3a4", "#f0ab8c", "#d5d5d5")  # by quarters of a cell that are wrong; the last: not written


def _shade(state: int) -> str:
    return SHADES[state]


def error_map(gemm: Gemm) -> Scene:
    """Where C is wrong. A cell is one element up to 64x64 of them, else the smallest block of which no more than 64x64 are needed.

    A cell where all is right has no label. A wrong element's is the kernel's number, a block's is how many of its elements are wrong; a
    dash is for nothing written. Up to 64 wrong elements are marked. Borders get heavier from fragment to warp's part to CTA tile.

    >>> panel = error_map(Gemm(np.ones((2, 3)), np.ones((2, 3)), [[3, 3], [4, np.nan]], tile=(16, 16, 8))).all_panels()[0]
    >>> panel.labels, panel.marks, panel.tips[2]
    (['', '', '4', '–'], {2: 'wrong', 3: 'wrong'}, 'C(1,0) · the kernel has 4, which is wrong · CTA tile (0,0)')
    """
    levels, shape = _picture_levels(gemm), gemm.got.shape
    cell, cuts = levels[-1][0], _cuts([size for _, size in levels], shape)
    rows, cols = map(len, cuts)
    row, col = (x.ravel() for x in np.indices((rows, cols)))
    size, wrong, unwritten = (_per_block(x, cuts).ravel() for x in (np.ones(shape, bool), gemm.wrong, ~gemm.written))
    state = np.where(unwritten == size, len(SHADES) - 1, -(-4 * wrong // size))
    tips, labels = _element_texts(gemm) if cell == "element" else _block_texts(cuts, shape, size, wrong, unwritten)
    panel = Panel(
        rows, cols, row.tolist(), col.tolist(), labels, tips=[*map("".join, zip(tips, _places(gemm, cell, cuts), strict=True))],
        keys={"index": cuts[0][row] + cuts[1][col] * shape[0], "state": state},
        title=f"C = A Bᵀ, {_size(shape)}: {int(wrong.sum()):,} of {_many(gemm.got.size, 'element')} wrong",
        row_axis="m", col_axis="n", row_labels=cuts[0].astype(str).tolist(), col_labels=cuts[1].astype(str).tolist(),
        borders=tuple(_borders(levels, cuts, shape)),
        marks=dict.fromkeys(np.flatnonzero(wrong).tolist(), "wrong") if cell == "element" and wrong.sum() <= MARKED else {},
    )  # fmt: skip
    return Scene(((panel,),), caption=_caption(levels, labels), color_by="state", link_by="index", color=_shade)


def _picture_levels(gemm: Gemm) -> list[tuple[str, tuple[int, int]]]:
    """Name and extents of the levels to draw, from the CTA tile down to the cell; a block larger than the one around it is cut down."""
    levels = [("", gemm.tile[:2])]
    for name, size in [*gemm.levels, ("element", (1, 1))]:
        size = tuple(map(min, size, levels[-1][1]))
        if size != levels[-1][1] or name in ("CTA tile", "element"):
            levels.append((name, size))
    levels, shape = levels[1:], gemm.got.shape
    while levels and max(map(len, _cuts([size for _, size in levels], shape))) > CELLS:
        levels.pop()
    if levels:
        return [level for level in levels if level[0] != "block" or level is levels[-1]]
    many = [-(-extent // (tile * CELLS)) for extent, tile in zip(shape, gemm.tile, strict=False)]
    return [(f"group of {_size(many)} CTA tiles", (many[0] * gemm.tile[0], many[1] * gemm.tile[1]))]


def _element_texts(gemm: Gemm) -> tuple[list[str], list[str]]:
    """Tip and label of each element, row by row."""
    tips, labels = [], []
    for (m, n), value in np.ndenumerate(gemm.got):
        number = _number(value) if gemm.written[m, n] else "–"
        labels.append(number if gemm.wrong[m, n] else "")
        said = "not written" if number == "–" else f"the kernel has {number}" + ", which is wrong" * bool(gemm.wrong[m, n])
        tips.append(f"C({m},{n}) · {said}")
    if gemm.got.shape[1] * (max(map(len, labels)) + 1) > ROOM:
        labels = [label and ("–" if label == "–" else "×") for label in labels]
    return tips, labels


def _block_texts(cuts, shape, size, wrong, unwritten) -> tuple[list[str], list[str]]:
    """Tip and label of each block, row by row."""
    m, n = ([f"{a} to {b - 1}" for a, b in pairwise([*cut.tolist(), end])] for cut, end in zip(cuts, shape, strict=True))
    counts = list(zip(size.tolist(), wrong.tolist(), unwritten.tolist(), strict=True))
    places = [f"m {rows} · n {columns}" for rows in m for columns in n]
    said = [f"{bad} of {_many(all_, 'element')} wrong" + f", {none} of them not written" * (none > 0) for all_, bad, none in counts]
    return list(map(" · ".join, zip(places, said, strict=True))), ["–" if none == all_ else str(bad or "") for all_, bad, none in counts]


def _places(gemm: Gemm, cell: str, cuts) -> list[str]:
    """The CTA tile and the warp that each cell lies in, row by row; nothing for a cell that holds several."""
    depth = 0 if cell.startswith("group") else 1 if cell == "CTA tile" or gemm.warps is None else 2
    texts = [[""] * len(cuts[1]) for _ in cuts[0]]
    for level, name in enumerate(("CTA tile", "warp")[:depth]):
        m, n = (at[cut].tolist() for at, cut in zip(_at(gemm, level), cuts, strict=True))
        texts = [[f"{text} · {name} ({i},{j})" for text, j in zip(row, n, strict=True)] for row, i in zip(texts, m, strict=True)]
    return [text for row in texts for text in row]


def _borders(levels, cuts, shape) -> Iterable[Border]:
    """The blocks that are larger than a cell, the smallest first, cut off where C ends."""
    for depth in range(len(levels) - 1, 0, -1):
        edges = _cuts([size for _, size in levels[:depth]], shape)
        rows, cols = (np.append(np.searchsorted(cut, edge), len(cut)).tolist() for cut, edge in zip(cuts, edges, strict=True))
        weight = (3, 1, 0)[depth - 1]
        yield from (Border(weight, r, c, bottom - r, right - c) for r, bottom in pairwise(rows) for c, right in pairwise(cols))


def _caption(levels, labels: list[str]) -> str:
    (cell, size), outer = levels[-1], [f"{name} ({_size(size)})" for name, size in levels[:-1]]
    what = "one element" if cell == "element" else f"one {cell} ({_size(size)} elements)"
    number = "A number is what the kernel has in a wrong element" if cell == "element" else "A number is how many elements are wrong"
    number = "A cross is a wrong element" if "×" in labels else number
    borders = f" Borders, the heaviest first: {', '.join(outer)}." if outer else ""
    return f"Each cell is {what} of C. {number}, a dash is for nothing written, no label for all right.{borders}"
