"""The picture of a wrong GEMM result: its cells cover C once, it counts rightly, and it can be read."""

import pickle

import numpy as np
import pytest

from exercises.engine.diagnose import Gemm
from exercises.engine.errormap import SHADES, error_map
from layoutviz import to_svg, to_text
from layoutviz.color import INKS, contrast

nan = np.nan


def spoiled(M, N, tile, warps, wrong, value=1000) -> Gemm:
    """A right result but for wrong(m, n), where C holds `value`."""
    rng = np.random.default_rng(M)
    a, b = rng.integers(-3, 4, (M, 4)), rng.integers(-3, 4, (N, 4))
    return Gemm(a, b, np.where(wrong(*np.indices((M, N))), value, a @ b.T), tile, warps)


def only_panel(gemm):
    return error_map(gemm).all_panels()[0]


@pytest.mark.parametrize(
    "M, N, tile, warps, rows, cols, cell",
    [
        (40, 56, (16, 16, 8), None, 40, 56, "one element"),
        (200, 136, (128, 128, 64), (2, 2), 13, 17, "one fragment (16x8 elements)"),
        (300, 260, (64, 64, 32), None, 19, 33, "one block (16x8 elements)"),
        (90, 70, (40, 40, 8), (2, 1), 5, 2, "one warp's part (20x40 elements)"),  # no fragment divides it
        (1500, 900, (128, 128, 64), (4, 2), 47, 15, "one warp's part (32x64 elements)"),
        (900, 1100, (16, 64, 8), None, 57, 18, "one CTA tile (16x64 elements)"),
        (2048, 1100, (16, 16, 8), None, 64, 35, "one group of 2x2 CTA tiles (32x32 elements)"),
        (2100, 300, (16, 16, 8), None, 44, 19, "one group of 3x1 CTA tiles (48x16 elements)"),
    ],
)
def test_cells_cover_c_once_and_borders_follow_the_tiles(M, N, tile, warps, rows, cols, cell):
    gemm = spoiled(M, N, tile, warps, lambda m, n: np.random.default_rng(1).random((M, N)) < 0.1)
    scene = pickle.loads(pickle.dumps(error_map(gemm)))  # it comes out of a process of its own
    panel = scene.all_panels()[0]
    assert (panel.rows, panel.cols, len(panel.labels)) == (rows, cols, rows * cols) and f"Each cell is {cell} of C." in scene.caption
    assert ("how many elements are wrong" in scene.caption) is (cell != "one element")
    depth = 0 if "group" in cell else 1 if warps is None or "CTA tile (" in cell else 2
    assert {("CTA tile (" in tip) + ("warp (" in tip) for tip in panel.tips} == {depth}
    m, n = [*map(int, panel.row_labels), M], [*map(int, panel.col_labels), N]
    counts = [int(gemm.wrong[m[r] : m[r + 1], n[c] : n[c + 1]].sum()) for r, c in zip(panel.row, panel.col, strict=True)]
    assert panel.labels == [str("1000" if cell == "one element" else count) if count else "" for count in counts]
    assert sum(counts) == gemm.wrong.sum() and len(set(panel.keys["index"].tolist())) == rows * cols
    found = sorted((m[b.row], m[b.row + b.rows], n[b.col], n[b.col + b.cols]) for b in panel.borders if b.level == 3)
    tiles = [(i, min(i + tile[0], M), j, min(j + tile[1], N)) for i in range(0, M, tile[0]) for j in range(0, N, tile[1])]
    assert found == ([] if "group" in cell or "CTA tile (" in cell else tiles)


def test_borders_get_heavier_from_fragment_to_warp_to_tile():
    panel = only_panel(spoiled(64, 64, (32, 32, 16), (2, 2), lambda m, n: m + n >= 0))
    sizes = {border.level: (border.rows, border.cols) for border in panel.borders}
    assert sizes == {0: (16, 8), 1: (16, 16), 3: (32, 32)} and not panel.marks  # 4096 frames would hide all


def test_tips_say_where_and_how_wrong_and_shades_follow_them():
    gemm = spoiled(200, 136, (64, 64, 16), (2, 2), lambda m, n: (m % 64 >= 32) & (n % 64 < 32), nan)
    gemm.got[0, 8], gemm.written[0, 8] = 1000, True
    panel = only_panel(gemm)
    cells = dict(zip(zip(panel.row, panel.col, strict=True), zip(panel.tips, panel.labels, panel.keys["state"], strict=True), strict=True))
    unwritten = "m 32 to 47 · n 0 to 7 · 128 of 128 elements wrong, 128 of them not written · CTA tile (0,0) · warp (1,0)"
    assert cells[2, 0] == (unwritten, "–", len(SHADES) - 1)
    assert cells[0, 1] == ("m 0 to 15 · n 8 to 15 · 1 of 128 elements wrong · CTA tile (0,0) · warp (0,0)", "1", 1)
    assert cells[12, 16] == ("m 192 to 199 · n 128 to 135 · 0 of 64 elements wrong · CTA tile (3,2) · warp (0,0)", "", 0)


def test_wrong_elements_show_the_kernels_number_and_never_the_right_one():
    gemm = spoiled(37, 50, (8, 16, 4), None, lambda m, n: (m == 5) & (n == 2), 1001)
    gemm.got[2, 3], gemm.written[2, 3] = nan, False
    gemm.got[4, 4] = nan  # written
    panel = only_panel(gemm)
    labels = {at: label for at, label in enumerate(panel.labels) if label}
    assert labels == {5 * 50 + 2: "1001", 2 * 50 + 3: "–", 4 * 50 + 4: "NaN"}
    assert panel.tips[5 * 50 + 2] == "C(5,2) · the kernel has 1001, which is wrong · CTA tile (0,0)"
    assert panel.tips[2 * 50 + 3] == "C(2,3) · not written · CTA tile (0,0)"
    assert panel.marks == dict.fromkeys(sorted(labels), "wrong")
    assert [panel.keys["state"][at] for at in sorted(labels)] == [len(SHADES) - 1, 4, 4] and panel.keys["state"][0] == 0


def test_wide_numbers_give_way_to_crosses():
    scene = error_map(spoiled(8, 64, (8, 8, 2), None, lambda m, n: n > 0, 123456))
    assert set(scene.all_panels()[0].labels) == {"", "×"} and "A cross is a wrong element" in scene.caption


@pytest.mark.parametrize("M, N", [(1, 1), (1, 9), (3, 1)])
def test_tiny_results_are_drawn(M, N):
    for tile in ((1, 1, 1), (2, 4, 2), (128, 128, 64)):
        for value in (1000, nan, np.inf):
            scene = error_map(spoiled(M, N, tile, None, lambda m, n: n == 0, value))
            assert "wrong" in to_svg(scene) and to_text(scene)


def test_labels_read_on_every_shade():
    assert min(contrast(INKS["offset"], shade) for shade in SHADES) >= 4.5
