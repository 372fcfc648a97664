"""Wrong GEMM results in words: each planted fault is recognised as itself, and no pattern is seen where there is none."""

import numpy as np
import pytest

from exercises.engine.diagnose import CAUSES, EVIDENCE, Gemm, diagnose, summary

nan = np.nan
# M, N, K, tile, warps: ragged in each mode; a tile larger than C; as warps; many K tiles; even and square
SIZES = {
    "ragged": (40, 56, 20, (16, 16, 8), None),
    "odd": (37, 50, 27, (8, 16, 4), None),
    "tall": (93, 35, 46, (16, 32, 16), None),
    "tile larger": (20, 28, 12, (64, 64, 32), (2, 2)),
    "warps": (200, 136, 96, (64, 64, 16), (2, 2)),
    "many K tiles": (17, 13, 256, (8, 8, 4), None),
    "square": (64, 64, 64, (32, 32, 16), (2, 2)),
}


class Case:
    """Random operands, the right result `c` to spoil, and where each element lies."""

    def __init__(self, size: str, seed: int = 0):
        self.M, self.N, self.K, self.tile, self.warps = SIZES[size]
        self.rng = np.random.default_rng(seed)
        self.a, self.b = self.rng.integers(-3, 4, (self.M, self.K)), self.rng.integers(-3, 4, (self.N, self.K))
        self.c = (self.a @ self.b.T).astype(float)
        self.m, self.n = np.arange(self.M)[:, None], np.arange(self.N)[None]
        self.bm, self.bn, self.bk = self.tile
        self.k_tiles, self.over = -(-self.K // self.bk), -self.K % self.bk
        rows, columns = self.warps or (1, 1)
        self.warp_m, self.warp_n = self.m % self.bm // (self.bm // rows), self.n % self.bn // (self.bn // columns)

    def gemm(self, got, **more) -> Gemm:
        return Gemm(self.a, self.b, got, self.tile, self.warps, **more)

    def weighed(self, weights) -> np.ndarray:
        """C with each k in the sums weights[k] times."""
        return ((self.a * weights) @ self.b.T).astype(float)

    def summed(self, changed: dict[int, int], others: int = 1) -> np.ndarray:
        """C with K tile t in the sums changed[t] times."""
        counts = np.full(self.k_tiles, others)
        counts[list(changed)] = list(changed.values())
        return self.weighed(np.repeat(counts, self.bk)[: self.K])

    def spoiled(self, region, value=nan) -> np.ndarray:
        return np.where(np.broadcast_to(region, self.c.shape), value, self.c)

    def noise(self) -> np.ndarray:
        return self.c + self.rng.integers(1, 9, self.c.shape)

    def within(self, part) -> np.ndarray:
        """C with this part in its corner, as far as C reaches, and elsewhere what comes from outside."""
        got = self.noise()
        got[: len(part), : len(part.T)] = part[: self.M, : self.N]
        return got


def read(matrix, row_stride, column_stride, columns=None, order="C"):
    """What a load finds that takes a matrix in compact memory of this order to have these strides; NaN lies behind it."""
    i, j = np.ix_(range(len(matrix)), range(columns or len(matrix.T)))
    offsets, memory = i * row_stride + j * column_stride, matrix.ravel(order).astype(float)
    return np.append(memory, np.full(offsets.max() + 1, nan))[offsets]


def stored_transposed(case):
    """C(m,n) stored at (n,m) of a column-major C with padded columns: what does not fit there runs on into the next column."""
    step = -(-case.M // 8) * 8 + 8
    memory = np.full(step * (case.M + case.N), nan)
    for m in reversed(range(case.M)):  # so that what runs on comes last
        memory[step * m : step * m + case.N] = case.c[m]
    return memory[case.m + step * case.n]


def spilled(case):
    return case.spoiled((case.m < -case.M % case.bm) & (case.n > 0) & (case.rng.random(case.c.shape) < 0.6), 99)


def edge(case):
    """Where the last CTA tiles along m lie, and those along n."""
    return case.m >= case.M // case.bm * case.bm, case.n >= case.N // case.bn * case.bn


# fault -> (the name it must get, words that must be said, where it can be planted (None: always), the spoiled C)
FAULTS = {
    "unwritten": ("nothing written", "no element", None, lambda s: s.c * nan),
    "zeros": ("one constant", "C is 0 everywhere", None, lambda s: s.c * 0),
    "constant": ("one constant", "C is 5 everywhere", None, lambda s: s.c * 0 + 5),
    "C[n,m]": ("transposed result", "row for column", None, stored_transposed),
    "A for B": ("one operand twice", "C is A Aᵀ", None, lambda s: s.within(s.a @ s.a.T)),
    "B for A": ("one operand twice", "C is B Bᵀ", None, lambda s: s.within(s.b @ s.b.T)),
    "A m-major": ("operand read transposed", "of A is", None, lambda s: read(s.a, 1, s.M) @ s.b.T),
    "A k-major": ("operand read transposed", "of A is", None, lambda s: read(s.a, s.K, 1, order="F") @ s.b.T),
    "A[k,m]": ("operand read transposed", "of A is", lambda s: s.K <= s.M, lambda s: read(s.a, 1, s.K) @ s.b.T),
    "B[k,n]": ("operand read transposed", "of B is", lambda s: s.K >= s.N, lambda s: s.a @ read(s.b, s.N, 1, order="F").T),
    "both": ("operand read transposed", "A and of B", None, lambda s: read(s.a, 1, s.M) @ read(s.b, 1, s.N).T),
    "no predicate on k": (
        "sums past the end of k", "more k", lambda s: 0 < s.over <= s.K,
        lambda s: read(s.a, s.K, 1, s.K + s.over) @ read(s.b, s.K, 1, s.K + s.over).T,
    ),
    "no K tail": ("K tail missing", "the last", lambda s: s.over and s.k_tiles > 1, lambda s: s.summed({-1: 0})),
    "one k short": ("K tail missing", "the last is not", None, lambda s: s.weighed(np.arange(s.K) < s.K - 1)),
    "three k short": ("K tail missing", "the last 3 are not", None, lambda s: s.weighed(np.arange(s.K) < s.K - 3)),
    "first k skipped": ("first k missing", "the first is not", None, lambda s: s.weighed(np.arange(s.K) > 0)),
    "seven k skipped": ("first k missing", "the first 7 are not", None, lambda s: s.weighed(np.arange(s.K) >= 7)),
    "doubled": ("summed too often", "2 times", None, lambda s: 2 * s.c),
    "one too many": ("summed too often", "K tile 0 is", lambda s: s.k_tiles > 1, lambda s: s.summed({0: 2})),
    "first only": ("only one K tile", "only tile 0", lambda s: s.k_tiles > 2, lambda s: s.summed({0: 1}, 0)),
    "last only": ("only the last K tile", "only tile", lambda s: s.k_tiles > 2, lambda s: s.summed({-1: 1}, 0)),
    "every other": ("K tile missing", "K tiles 1, 3", lambda s: s.k_tiles > 4, lambda s: s.weighed(np.arange(s.K) // s.bk % 2 == 0)),
    "one too few": ("K tile missing", "K tile 0 is", lambda s: s.k_tiles > 2, lambda s: s.summed({0: 0})),
    "stale": ("stage used twice", "K tile 1 is in", lambda s: s.k_tiles > 2, lambda s: s.summed({1: 2, 2: 0})),
    "out of place": ("numbers out of place", "Each CTA tile", lambda s: s.M > s.bm and s.M % 2 == 0, lambda s: s.c[(s.m ^ 1).ravel()]),
    "CTA tiles exchanged": (
        "numbers out of place", "C holds", lambda s: s.M >= 2 * s.bm, lambda s: s.c[np.r_[s.bm : 2 * s.bm, : s.bm, 2 * s.bm : s.M]],
    ),
    "ragged m": ("ragged edge", "along m", lambda s: s.M % s.bm and s.M > s.bm, lambda s: s.spoiled(edge(s)[0])),
    "ragged n": ("ragged edge", "along n", lambda s: s.N % s.bn and s.N > s.bn, lambda s: s.spoiled(edge(s)[1], 0)),
    "ragged": ("ragged edge", "m and n", lambda s: s.M % s.bm and s.M > s.bm, lambda s: s.spoiled(edge(s)[0] | edge(s)[1], s.noise())),
    "m short": ("predicate one short", "last row of", lambda s: s.M % s.bm != 1, lambda s: s.spoiled(s.m == s.M - 1)),
    "n short": ("predicate one short", "last column of", lambda s: s.N % s.bn != 1, lambda s: s.spoiled(s.n == s.N - 1, 0)),
    "both short": ("predicate one short", "row and column", None, lambda s: s.spoiled((s.n == s.N - 1) | (s.m == s.M - 1))),
    "a tile": ("whole CTA tiles", "CTA tile (0,0) of", lambda s: s.M > s.bm, lambda s: s.spoiled((s.m < s.bm) & (s.n < s.bn), s.noise())),
    "tiles": ("whole CTA tiles", "CTA tiles (0,0), (1,0)", lambda s: s.N > s.bn and s.M > s.bm, lambda s: s.spoiled(s.n < s.bn)),
    "a warp": (
        "one warp", "warp's part (0,0) of 2x2 in every CTA tile is", lambda s: s.warps and s.M > s.bm,
        lambda s: s.spoiled((s.warp_m == 0) & (s.warp_n == 0), s.noise()),
    ),
    "two warps": ("one warp", "warp's parts (1,0), (1,1) of 2x2", lambda s: s.warps and s.M > s.bm, lambda s: s.spoiled(s.warp_m == 1)),
    "spilled": ("store past the edge", "as many", lambda s: 0 < -s.M % s.bm < s.M / 2, spilled),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_recognised_as_itself(fault):
    name, words, can, spoil = FAULTS[fault]
    planted = [case for size in SIZES for case in (Case(size, 0), Case(size, 1)) if not can or can(case)]
    assert len(planted) >= 4
    for case in planted:
        mistake = diagnose(case.gemm(spoil(case)))
        assert mistake is not None and (mistake.name, words in mistake.words) == (name, True), (case.tile, mistake)
        assert mistake.hint.endswith("?") and "{" not in mistake.words + mistake.hint


def test_every_known_mistake_is_planted():
    assert set(CAUSES) == {name for name, *_ in FAULTS.values()} | {"NaN in the sums"}  # that one: below


def test_words_name_the_k_tiles_and_how_far_ragged_tiles_reach():
    case = Case("many K tiles")
    even = diagnose(case.gemm(case.summed(dict.fromkeys(range(0, 64, 2), 0))))
    assert "Of K tiles 0 to 63, K tiles 0, 2, 4, 6 and 28 more are not in the sums." in even.words
    case = Case("odd")
    both = diagnose(case.gemm(case.spoiled(edge(case)[0] | edge(case)[1])))
    assert "Only the last CTA tiles along m and n, which reach past the edge of C by 3 rows and 14 columns, are not written" in both.words
    assert "go on for 1 more k" in diagnose(case.gemm(FAULTS["no predicate on k"][3](case))).words


def test_nan_that_was_written_is_not_called_unwritten():
    case = Case("ragged")
    got = case.spoiled(case.m >= 30)
    gemm = case.gemm(got, written=np.ones(got.shape, bool))
    assert diagnose(gemm).name == "NaN in the sums" and "560 elements" in diagnose(gemm).words
    assert summary(gemm).endswith("The first is C(30,0): the kernel has NaN there.")
    assert diagnose(case.gemm(got)) is None  # the same, not written


# --- no false claims


@pytest.mark.parametrize("size", SIZES)
def test_no_pattern_is_seen_in_random_errors(size):
    for share in (0.02, 0.3, 1.0):
        for seed in range(5):
            case = Case(size, seed)
            where = case.rng.random(case.c.shape) < share
            where[0, 0] = where[-1, -1] = True
            assert diagnose(case.gemm(case.spoiled(where, case.noise()))) is None
            assert share == 1 or diagnose(case.gemm(case.spoiled(where))) is None


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "unwritten"])
def test_a_fault_with_one_more_wrong_element_is_not_named(fault):
    """Each fault claims something of the element that is spoiled here too, so that it refutes the claim. Another may still be true."""
    name, _, can, spoil = FAULTS[fault]
    for case in filter(can or bool, map(Case, SIZES)):
        got = np.array(spoil(case), float)
        square = np.s_[: min(got.shape) - 1, : min(got.shape) - 1]
        right = got[square] == case.c[square]
        places = np.argwhere(right if right.mean() > 0.2 else ~np.isnan(got[square]))
        m, n = places[len(places) * 2 // 3]
        got[m, n] = 1000
        mistake = diagnose(case.gemm(got))
        assert mistake is None or mistake.name != name, (case.tile, mistake)


def test_what_lies_between_the_known_patterns_is_not_named():
    case = Case("warps")
    one = (case.warp_m == 1) & (case.warp_n == 0) & (case.m < case.bm) & (case.n < case.bn)  # a warp in one CTA tile only
    thin = case.spoiled((case.m < case.bm) & (case.rng.random(case.c.shape) < 0.6), case.noise())  # of CTA tiles, much is right
    each_tile_short = case.weighed(np.arange(case.K) % case.bk != case.bk - 1)
    one_k = case.weighed(np.arange(case.K) != 17)
    for got in (case.spoiled(one), case.spoiled(one, case.noise()), thin, each_tile_short, one_k, -case.c, case.c.T[:1].T + 0 * case.c):
        assert diagnose(case.gemm(got)) is None
    dotted = case.spoiled((case.m == case.M - 1) & (case.n % 8 < 5))  # five eighths of the last row
    assert diagnose(case.gemm(dotted)) is None
    a, b = case.a[:9], case.b[:7]
    assert diagnose(Gemm(a, b, np.where(np.arange(9)[:, None] < 8, a @ b.T, nan), case.tile)) is None  # 7 elements
    got = case.a @ case.a[:90].T * 1.0
    got[120:160, ::3] += 1  # C is A times rows of A where all is right, and it should be
    assert diagnose(Gemm(case.a, case.a[:90], got, case.tile)) is None


def test_strewn_errors_in_the_first_rows_are_not_always_called_a_store_past_the_edge():
    case = Case("ragged")
    strewn = (case.m < 8) & (case.rng.random(case.c.shape) < 0.6)
    for where in (strewn & (case.n < case.bn) & (case.n > 0), strewn):  # in one CTA tile; in the first column too
        assert diagnose(case.gemm(case.spoiled(where, 99))) is None
    assert diagnose(case.gemm(np.where(spilled(case) == 99, nan, case.c))) is None  # not written is no store
    mixed = case.spoiled(strewn, np.where(case.n % 2, nan, 99))
    assert diagnose(case.gemm(mixed, written=np.ones(case.c.shape, bool))) is None
    case = Case("tile larger")  # it reaches so far past the edge that most of C is in those rows
    assert diagnose(case.gemm(case.spoiled((case.n > 0) & (case.rng.random(case.c.shape) < 0.2), 99))) is None


def test_k_is_not_counted_where_c_is_too_small_to_tell():
    case = Case("many K tiles")
    a, b = case.a[:4], case.b[:3]  # 12 elements, 64 K tiles
    assert diagnose(Gemm(a, b, 2 * a @ b.T, case.tile)) is None
    a, b = np.outer(np.arange(6), np.ones(5)), np.outer(np.arange(1, 5), np.ones(5))
    assert diagnose(Gemm(a, b, a[:, 1:] @ b[:, 1:].T, (8, 8, 2))) is None  # the first k, or the last, or any
    case = Case("tile larger")
    a, b = (np.hstack([x, np.roll(x, -1, 0)]) for x in (case.a, case.b))
    assert diagnose(case.gemm(a @ b.T)) is None  # 12 more k; its K tile has 20


def test_tiny_results_are_judged_without_error():
    rng = np.random.default_rng(0)
    for M, N, K in ((1, 1, 1), (1, 9, 3), (2, 2, 1), (3, 1, 40), (5, 4, 2)):
        a, b = rng.integers(-2, 3, (M, K)), rng.integers(-2, 3, (N, K))
        for got in (a @ b.T + 1.0, a @ b.T * 2.0, np.full((M, N), nan), np.full((M, N), np.inf)):
            for gemm in (Gemm(a, b, got, tile) for tile in ((1, 1, 1), (2, 4, 2), (128, 128, 64))):
                assert summary(gemm) and (diagnose(gemm) is None or gemm.wrong.sum() >= EVIDENCE)


def test_summary_names_the_first_wrong_element_and_never_the_right_number():
    case = Case("odd", 1)
    got = case.c.copy()
    got[5, 2], got[2, 3] = 1001, nan  # index 2*37+5 comes before 3*37+2
    assert summary(case.gemm(got)) == "2 of 1,850 elements of C are wrong. The first is C(5,2): the kernel has 1001 there."
    assert summary(case.gemm(case.spoiled(case.m + case.n == 0))).endswith("is wrong. The first is C(0,0): it was not written.")
    assert summary(case.gemm(case.c)) == "All elements of C are right." and diagnose(case.gemm(case.c)) is None


BAD = [
    ({"a": np.ones((3, 5))}, "B (N,K)"), ({"a": np.ones((0, 4)), "got": np.ones((0, 2))}, "none of them 0"),
    ({"a": np.full((3, 4), 0.5)}, "whole numbers"), ({"b": np.full((2, 4), nan)}, "whole numbers"), ({"got": np.ones((2, 3))}, "(2, 3)"),
    ({"written": np.ones((2, 3))}, "(2, 3)"), ({"tile": (0, 8, 8)}, "at least 1"), ({"warps": (3, 1)}, "evenly"),
]  # fmt: skip


@pytest.mark.parametrize("changed, says", BAD)
def test_what_does_not_fit_is_refused_in_words(changed, says):
    values = {"a": np.ones((3, 4)), "b": np.ones((2, 4)), "got": np.ones((3, 2)), "tile": (8, 8, 8)} | changed
    with pytest.raises(ValueError) as refused:
        Gemm(**values)
    assert says in str(refused.value)
