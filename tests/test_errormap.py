"""The error map: each planted fault is recognised as itself, no pattern is seen where there is none, and the picture counts rightly."""

import pickle

import numpy as np
import pytest

from exercises.engine.errormap import CAUSES, EVIDENCE, HYPOTHESES, SHADES, Gemm, diagnose, error_map, summary
from layoutviz import to_svg, to_text
from layoutviz.color import INKS, contrast

nan = np.nan
# M, N, K, tile, warps: even; ragged in each mode; tiles larger than the matrix; as warps; many K tiles
SIZES = {
    "even": (48, 64, 32, (16, 16, 8), None),
    "ragged": (40, 56, 20, (16, 16, 8), None),
    "odd": (37, 50, 27, (8, 16, 4), None),
    "tile larger": (20, 28, 12, (64, 64, 32), (2, 2)),
    "warps": (200, 136, 96, (64, 64, 16), (2, 2)),
    "warps of one mode": (96, 80, 40, (64, 32, 8), (4, 1)),
    "many K tiles": (17, 13, 256, (8, 8, 4), None),
    "square": (64, 64, 64, (32, 32, 16), (2, 2)),
}


class Case:
    """Random operands, the right result `c` to spoil, and where each element lies."""

    def __init__(self, size: str, seed: int):
        self.M, self.N, self.K, self.tile, self.warps = SIZES[size]
        self.rng = np.random.default_rng(seed)
        self.a, self.b = self.rng.integers(-3, 4, (self.M, self.K)), self.rng.integers(-3, 4, (self.N, self.K))
        self.c = (self.a @ self.b.T).astype(float)
        self.m, self.n = np.arange(self.M)[:, None], np.arange(self.N)[None]
        self.bm, self.bn, self.bk = self.tile
        self.k_tiles = -(-self.K // self.bk)

    def gemm(self, got) -> Gemm:
        return Gemm(self.a, self.b, got, self.tile, self.warps)

    def summed(self, counts) -> np.ndarray:
        """C with K tile t in the sums counts[t] times."""
        weights = np.repeat(counts, self.bk)[: self.K]
        return ((self.a * weights) @ self.b.T).astype(float)

    def spoiled(self, region, value=nan) -> np.ndarray:
        return np.where(np.broadcast_to(region, self.c.shape), value, self.c)

    def noise(self) -> np.ndarray:
        return self.c + self.rng.integers(1, 9, self.c.shape)

    def part(self):
        """Coordinates of each element's warp in its CTA tile, and the extents of a warp's part."""
        high, wide = self.bm // self.warps[0], self.bn // self.warps[1]
        return self.m % self.bm // high, self.n % self.bn // wide, high, wide


def all_but(count: int, tile: int, value: int) -> np.ndarray:
    counts = np.ones(count, int)
    counts[tile] = value
    return counts


def row_for_column(x):
    return x.reshape(x.shape[::-1]).T


def clipped_transpose(c):
    side, got = min(c.shape), np.full_like(c, nan)
    got[:side, :side] = c[:side, :side].T
    return got


def spilled(case):
    over = -case.M % case.bm
    return case.spoiled((case.m < over) & (case.n > 0) & (case.rng.random(case.c.shape) < 0.6), 99)


# fault -> (the name it must get, words that must be said, where it can be planted, the spoiled C)
FAULTS = {
    "unwritten": ("nothing written", "no element", lambda s: True, lambda s: np.full_like(s.c, nan)),
    "zeros": ("all zeros", "0 everywhere", lambda s: True, lambda s: np.zeros_like(s.c)),
    "constant": ("one constant", "5 everywhere", lambda s: True, lambda s: np.full_like(s.c, 5)),
    "copy of A": ("a copy", "of A,", lambda s: True, lambda s: np.resize(np.pad(s.a, ((0, 0), (0, s.N)))[:, : s.N], s.c.shape)),
    "copy of B^T": ("a copy", "B transposed", lambda s: True, lambda s: np.pad(s.b.T, ((0, s.M), (0, 0)))[: s.M]),
    "C in the other order": ("transposed result", "row for column", lambda s: True, lambda s: row_for_column(s.c)),
    "C[n,m]": ("transposed result", "row for column", lambda s: True, lambda s: clipped_transpose(s.c)),
    "A transposed": ("operand read transposed", "of A is", lambda s: True, lambda s: row_for_column(s.a) @ s.b.T),
    "B transposed": ("operand read transposed", "of B is", lambda s: True, lambda s: s.a @ s.b.T.reshape(s.b.shape).T),
    "both transposed": ("operand read transposed", "A and of B", lambda s: True, lambda s: row_for_column(s.a) @ row_for_column(s.b).T),
    "down": ("shifted by one", "row m - 1", lambda s: True, lambda s: np.vstack([s.c[:1] * nan, s.c[:-1]])),
    "up": ("shifted by one", "row m + 1", lambda s: True, lambda s: np.roll(s.c, -1, axis=0)),
    "right": ("shifted by one", "column n - 1", lambda s: True, lambda s: np.roll(s.c, 1, axis=1)),
    "left": ("shifted by one", "column n + 1", lambda s: True, lambda s: np.hstack([s.c[:, 1:], s.c[:, :1] * 0])),
    "doubled": ("summed too often", "2 times", lambda s: True, lambda s: 2 * s.c),
    "tripled": ("summed too often", "3 times", lambda s: True, lambda s: 3 * s.c),
    "no K tail": ("K tail missing", "last full", lambda s: s.K % s.bk and s.K > s.bk, lambda s: s.summed(all_but(s.k_tiles, -1, 0))),
    "first only": ("only the first K tile", "only tile 0", lambda s: s.k_tiles > 2, lambda s: s.summed(np.eye(s.k_tiles)[0])),
    "last only": ("only the last K tile", "only tile", lambda s: s.k_tiles > 2, lambda s: s.summed(np.eye(s.k_tiles)[-1])),
    "one only": ("only one K tile", "only tile 1", lambda s: s.k_tiles > 2, lambda s: s.summed(np.eye(s.k_tiles)[1])),
    "even": ("every other K tile", "tiles 1", lambda s: s.k_tiles > 3, lambda s: s.summed(np.arange(s.k_tiles) % 2 == 0)),
    "odd": ("every other K tile", "tiles 0", lambda s: s.k_tiles > 3, lambda s: s.summed(np.arange(s.k_tiles) % 2 == 1)),
    "one too few": ("K tile missing", "K tile 0 is", lambda s: s.k_tiles > 2, lambda s: s.summed(all_but(s.k_tiles, 0, 0))),
    "one too many": ("K tile summed twice", "K tile 0 is", lambda s: s.k_tiles > 1, lambda s: s.summed(all_but(s.k_tiles, 0, 2))),
    "stale": (
        "stage used twice", "1 is in", lambda s: s.k_tiles > 2, lambda s: s.summed(all_but(s.k_tiles, 1, 2) * all_but(s.k_tiles, 2, 0)),
    ),
    "ragged m": ("ragged edge", "along m are not", lambda s: s.M % s.bm and s.M > s.bm, lambda s: s.spoiled(s.m >= s.M // s.bm * s.bm)),
    "ragged n": ("ragged edge", "along n are 0", lambda s: s.N % s.bn and s.N > s.bn, lambda s: s.spoiled(s.n >= s.N // s.bn * s.bn, 0)),
    "ragged": (
        "ragged edge", "along m and n are wrong", lambda s: s.M % s.bm and s.M > s.bm and s.N % s.bn and s.N > s.bn,
        lambda s: s.spoiled((s.n >= s.N // s.bn * s.bn) | (s.m >= s.M // s.bm * s.bm), s.noise()),
    ),
    "m short": ("predicate one short", "last row", lambda s: s.M % s.bm != 1, lambda s: s.spoiled(s.m == s.M - 1)),
    "n short": ("predicate one short", "last column", lambda s: s.N % s.bn != 1, lambda s: s.spoiled(s.n == s.N - 1)),
    "first tile": (
        "whole CTA tiles", "CTA tile (0,0) is wrong", lambda s: s.M > s.bm, lambda s: s.spoiled((s.m < s.bm) & (s.n < s.bn), s.noise()),
    ),
    "a column of tiles": (
        "whole CTA tiles", "coordinate 0 along n, are not written", lambda s: s.N > s.bn, lambda s: s.spoiled(s.n < s.bn),
    ),
    "a warp": (
        "one warp", "warp (0,0) of", lambda s: s.warps and s.part()[0].any() | s.part()[1].any(),
        lambda s: s.spoiled((s.part()[0] == 0) & (s.part()[1] == 0), s.noise()),
    ),
    "two warps": (
        "one warp", "warps (1,0)", lambda s: s.warps and s.warps[1] == 2 and s.M > s.bm,
        lambda s: s.spoiled((s.part()[0] == 1) & (s.part()[1] >= 0)),
    ),
    "fragments": (
        "every other fragment", "Along n", lambda s: s.warps,
        lambda s: s.spoiled(s.n % s.bn % s.part()[3] // 8 % 2 == 1, s.noise()),
    ),
    "out of place": (
        "numbers out of place", "Each CTA tile", lambda s: s.M > s.bm and s.M % 2 == 0,
        lambda s: s.c[(s.m ^ 1).ravel()],
    ),
    "CTA tiles exchanged": (
        "numbers out of place", "C holds", lambda s: s.M >= 2 * s.bm, lambda s: s.c[np.r_[s.bm : 2 * s.bm, : s.bm, 2 * s.bm : s.M]],
    ),
    "spilled": ("store past the edge", "as many", lambda s: 0 < -s.M % s.bm < s.M / 2, spilled),
}  # fmt: skip
PLANTED = [(fault, size) for fault, (_, _, can, _) in FAULTS.items() for size in SIZES if can(Case(size, 0))]


@pytest.mark.parametrize("fault, size", PLANTED)
def test_a_planted_fault_is_recognised_as_itself(fault, size):
    name, words, _, spoil = FAULTS[fault]
    for seed in range(2):
        case = Case(size, seed)
        gemm = pickle.loads(pickle.dumps(case.gemm(spoil(case))))
        mistake = diagnose(gemm)
        assert mistake is not None and (mistake.name, words in mistake.words) == (name, True), mistake
        assert mistake.hint.endswith("?") and "{" not in mistake.words + mistake.hint


def test_words_name_the_k_tiles_and_how_far_ragged_tiles_reach():
    case = Case("many K tiles", 0)
    assert "tiles 1, 3, 5 and 29 more of 0 to 63." in diagnose(case.gemm(case.summed(np.arange(64) % 2 == 0))).words
    counts = np.ones(64, int)
    counts[[3, 7, 8, 20]] = 0
    assert "Of K tiles 0 to 63, K tiles 3, 7, 8 and 20 are not in the sums." in diagnose(case.gemm(case.summed(counts))).words
    three = Gemm(case.a[:, :12], case.b[:, :12], case.a[:, [0, 1, 2, 3, 8, 9, 10, 11]] @ case.b[:, [0, 1, 2, 3, 8, 9, 10, 11]].T, case.tile)
    assert diagnose(three).name == "K tile missing" and "K tile 1 is not" in diagnose(three).words
    case = Case("odd", 0)
    both = case.spoiled((case.m >= 32) | (case.n >= 48))
    assert "reach past the edge of C by 3 rows and 14 columns." in diagnose(case.gemm(both)).words


def test_k_tiles_are_not_counted_where_c_is_too_small_to_tell():
    case = Case("many K tiles", 0)
    a, b = case.a[:4], case.b[:3]
    assert diagnose(Gemm(a, b, 2 * a @ b.T, case.tile)) is None  # 12 elements, 64 K tiles


def test_every_known_mistake_is_planted():
    assert set(CAUSES) == {name for name, *_ in FAULTS.values()} | {"NaN in the sums"}  # that one: below
    assert {fault for fault, _ in PLANTED} == set(FAULTS)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_no_pattern_is_seen_in_random_errors(size, share):
    for seed in range(5):
        case = Case(size, seed)
        where = case.rng.random(case.c.shape) < share
        where[0, 0] = where[-1, -1] = True
        assert diagnose(case.gemm(case.spoiled(where, case.noise()))) is None
        assert share == 1 or diagnose(case.gemm(case.spoiled(where))) is None


@pytest.mark.parametrize("size", SIZES)
def test_a_planted_fault_with_one_more_wrong_element_is_not_named(size):
    """All of these claim something of the whole of C, so that one element that contradicts them refutes them."""
    for fault in ("zeros", "constant", "C in the other order", "A transposed", "doubled", "first only", "even", "stale", "down"):
        case = Case(size, 3)
        name, _, can, spoil = FAULTS[fault]
        if can(case):
            got = np.array(spoil(case), float)
            got[case.M // 2, case.N // 2] += 1
            mistake = diagnose(case.gemm(got))
            assert mistake is None, (fault, mistake)


def test_a_right_result_has_no_mistake():
    case = Case("ragged", 0)
    gemm = case.gemm(case.c)
    assert diagnose(gemm) is None and not gemm.wrong.any() and summary(gemm) == "All 2,240 elements of C are right."
    assert not any(error_map(gemm).all_panels()[0].labels)
    assert summary(Gemm([[2]], [[3]], [[6]], (8, 8, 8))) == "The one element of C is right."


def test_nan_that_was_written_is_not_called_unwritten():
    case = Case("ragged", 0)
    got = case.spoiled(case.m >= 30)
    gemm = Gemm(case.a, case.b, got, case.tile, written=np.ones(got.shape, bool))
    assert diagnose(gemm).name == "NaN in the sums" and "560 elements" in diagnose(gemm).words
    assert summary(gemm).endswith("The first is C(30,0): the kernel has NaN there.")
    assert error_map(gemm).all_panels()[0].labels.count("NaN") == 560
    assert diagnose(case.gemm(got)) is None  # the same, not written


def test_one_warp_in_one_tile_only_is_not_called_one_warp_in_every_tile():
    case = Case("warps", 0)
    m, n, *_ = case.part()
    region = (m == 1) & (n == 0) & (case.m < case.bm) & (case.n < case.bn)
    assert diagnose(case.gemm(case.spoiled(region))) is diagnose(case.gemm(case.spoiled(region, case.noise()))) is None


def test_what_is_not_written_is_no_store_past_the_edge():
    case = Case("ragged", 0)
    got = spilled(case)
    assert diagnose(case.gemm(got)) and diagnose(case.gemm(np.where(got == 99, nan, got))) is None


@pytest.mark.parametrize("M, N, K", [(1, 1, 1), (1, 9, 3), (2, 2, 1), (3, 1, 40), (5, 4, 2)])
def test_tiny_results_are_judged_without_error(M, N, K):
    rng = np.random.default_rng(M)
    for tile in ((1, 1, 1), (2, 4, 2), (128, 128, 64)):
        for hypothesis in HYPOTHESES:
            a, b = rng.integers(-2, 3, (M, K)), rng.integers(-2, 3, (N, K))
            for got in (a @ b.T + 1.0, np.full((M, N), nan), np.full((M, N), np.inf)):
                gemm = Gemm(a, b, got, tile)
                hypothesis(gemm)
                assert len(to_svg(error_map(gemm))) and to_text(error_map(gemm)) and summary(gemm)
    assert M * N >= EVIDENCE or diagnose(Gemm(a, b, a @ b.T + 1.0, tile)) is None


def test_summary_names_the_first_wrong_element_and_never_the_right_number():
    case = Case("odd", 1)
    got = case.c.copy()
    got[5, 2], got[2, 3] = 1001, nan  # index 2*37+5 comes before 3*37+2
    right = {f"{case.c[5, 2]:.0f}", f"{case.c[2, 3]:.0f}"} - set("0123456789")
    assert summary(case.gemm(got)) == "2 of 1,850 elements of C are wrong. The first is C(5,2): the kernel has 1001 there."
    panel = error_map(case.gemm(got)).all_panels()[0]
    labels = {i: label for i, label in enumerate(panel.labels) if label}
    assert labels == {5 * 50 + 2: "1001", 2 * 50 + 3: "–"} and not right & set(labels.values())
    assert panel.tips[5 * 50 + 2] == "C(5,2) · the kernel has 1001, which is wrong · CTA tile (0,0)"
    assert panel.marks == dict.fromkeys(sorted(labels), "wrong")
    assert summary(case.gemm(case.spoiled(case.m + case.n == 0))).endswith("is wrong. The first is C(0,0): it was not written.")


# --- the picture


@pytest.mark.parametrize(
    "M, N, tile, warps, rows, cols, cell",
    [
        (40, 56, (16, 16, 8), None, 40, 56, "one element"),
        (200, 136, (128, 128, 64), (2, 2), 13, 17, "one fragment (16x8 elements)"),
        (300, 260, (64, 64, 32), None, 19, 33, "one block (16x8 elements)"),
        (90, 70, (40, 40, 8), (2, 1), 9, 9, "one fragment (16x8 elements)"),  # parts of 20: fragments of 16 and 4
        (1500, 900, (128, 128, 64), (4, 2), 47, 15, "one warp's part (32x64 elements)"),
        (900, 1100, (16, 64, 8), None, 57, 18, "one CTA tile (16x64 elements)"),
        (2048, 1100, (16, 16, 8), None, 64, 35, "one group of 2x2 CTA tiles (32x32 elements)"),
        (2100, 300, (16, 16, 8), None, 44, 19, "one group of 3x1 CTA tiles (48x16 elements)"),
    ],
)
def test_cells_cover_c_once_and_borders_follow_the_tiles(M, N, tile, warps, rows, cols, cell):
    rng = np.random.default_rng(M)
    a, b = rng.integers(-3, 4, (M, 4)), rng.integers(-3, 4, (N, 4))
    wrong = rng.random((M, N)) < 0.1
    scene = error_map(Gemm(a, b, np.where(wrong, 1000, a @ b.T), tile, warps))
    panel = scene.all_panels()[0]
    assert (panel.rows, panel.cols, len(panel.labels)) == (rows, cols, rows * cols) and f"Each cell is {cell} of C." in scene.caption
    assert ("how many elements are wrong" in scene.caption) is (cell != "one element")
    depth = 0 if "group" in cell else 1 if warps is None or "CTA tile (" in cell else 2
    assert {("CTA tile (" in tip) + ("warp (" in tip) for tip in panel.tips} == {depth}
    m, n = [*map(int, panel.row_labels), M], [*map(int, panel.col_labels), N]
    counts = [int(wrong[m[r] : m[r + 1], n[c] : n[c + 1]].sum()) for r, c in zip(panel.row, panel.col, strict=True)]
    expected = ["1000" if count else "" for count in counts] if "element of" in scene.caption else [str(count or "") for count in counts]
    assert panel.labels == expected and sum(counts) == wrong.sum()
    outer = [b for b in panel.borders if b.level == 3]
    if "group" in cell or "CTA tile (" in cell:
        assert not outer
    else:
        found = {(m[b.row], m[b.row + b.rows], n[b.col], n[b.col + b.cols]) for b in outer}
        assert found == {
            (i, min(i + tile[0], M), j, min(j + tile[1], N)) for i in range(0, M, tile[0]) for j in range(0, N, tile[1])
        } and len(outer) == len(found)  # fmt: skip


def test_borders_get_heavier_from_fragment_to_warp_to_tile():
    case = Case("square", 0)
    panel = error_map(case.gemm(-case.c)).all_panels()[0]
    sizes = {border.level: (border.rows, border.cols) for border in panel.borders}
    assert sizes == {0: (16, 8), 1: (16, 16), 3: (32, 32)} and not panel.marks  # 4096 frames would hide all


def test_tips_of_blocks_say_where_and_how_wrong():
    case = Case("warps", 0)
    m, n, *_ = case.part()
    got = case.spoiled((m == 1) & (n == 0))
    panel = error_map(case.gemm(got)).all_panels()[0]
    tips = dict(zip(zip(panel.row, panel.col, strict=True), zip(panel.tips, panel.labels, strict=True), strict=True))
    assert tips[2, 0] == ("m 32 to 47 · n 0 to 7 · 128 of 128 elements wrong, 128 of them not written · CTA tile (0,0) · warp (1,0)", "–")
    assert tips[12, 16] == ("m 192 to 199 · n 128 to 135 · 0 of 64 elements wrong · CTA tile (3,2) · warp (0,0)", "")


def test_wide_numbers_give_way_to_crosses():
    a, b = np.ones((8, 2)), np.ones((64, 2))
    scene = error_map(Gemm(a, b, np.full((8, 64), 123456) + np.arange(64), (8, 8, 2)))
    assert set(scene.all_panels()[0].labels) == {"×"} and "A cross is a wrong element" in scene.caption


def test_labels_read_on_every_shade():
    assert min(contrast(INKS["offset"], shade) for shade in SHADES) >= 4.5


# --- what does not fit


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"a": np.ones((3, 5))}, "B is (N,K)"),
        ({"a": np.ones(4)}, "B is (N,K)"),
        ({"a": np.ones((0, 4)), "got": np.ones((0, 2))}, "none of them 0"),
        ({"a": np.full((3, 4), 0.5)}, "whole numbers"),
        ({"b": np.full((2, 4), nan)}, "whole numbers"),
        ({"got": np.ones((2, 3))}, "C is (3,2)"),
        ({"written": np.ones((2, 3))}, "C is (3,2)"),
        ({"tile": (0, 8, 8)}, "at least 1"),
        ({"tile": (8, 8)}, "at least 1"),
        ({"warps": (3, 1)}, "evenly"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(changed, says):
    values = {"a": np.ones((3, 4)), "b": np.ones((2, 4)), "got": np.ones((3, 2)), "tile": (8, 8, 8)} | changed
    with pytest.raises(ValueError) as refused:
        Gemm(**values)
    assert says in str(refused.value)
