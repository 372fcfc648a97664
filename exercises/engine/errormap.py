"""Where a GEMM result is wrong, as a picture."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from exercises.engine.diagnose import FRAGMENT, Gemm, many
from layoutviz.scene import Border, Panel, Scene

CELLS = 64  # rows or columns of cells in one picture
ROOM = 300  # characters in one row of a picture; where the numbers need more, a cross stands for each
MARKED = 64  # so many wrong elements are framed; more frames would hide what they frame
SHADES = ("#f3f6f8", "#fdeedd", "#fbd9bf", "#f6c3a4", "#f0ab8c", "#d5d5d5")  # by quarters of a cell that are wrong; the last: not written


def error_map(gemm: Gemm) -> Scene:
    """Where C is wrong. A cell is one element up to 64x64 of them, else the smallest block of which no more than 64x64 are needed.

    A cell where all is right has no label. A wrong element's is the kernel's number, a block's is how many of its elements are wrong; a
    dash is for nothing written. Up to 64 wrong elements are marked. Borders get heavier from fragment to warp's part to CTA tile.

    >>> panel = error_map(Gemm(np.ones((2, 3)), np.ones((2, 3)), [[3, 3], [4, np.nan]], tile=(16, 16, 8))).all_panels()[0]
    >>> panel.labels, panel.marks, panel.tips[2]
    (['', '', '4', '–'], {2: 'wrong', 3: 'wrong'}, 'C(1,0) · the kernel has 4, which is wrong · CTA tile (0,0)')
    """
    (M, N), levels = gemm.got.shape, _levels(gemm)
    cell, (high, wide) = levels[-1]
    m, n = range(0, M, high), range(0, N, wide)
    rows, cols = len(m), len(n)
    labels, tips, states = map(list, zip(*(_cell(gemm, levels[-1], *at) for at in product(m, n)), strict=True))
    if cell == "element" and N * (max(map(len, labels)) + 1) > ROOM:
        labels = ["×" if label not in ("", "–") else label for label in labels]
    marked = np.flatnonzero(gemm.wrong).tolist() if cell == "element" and gemm.wrong.sum() <= MARKED else []
    panel = Panel(
        rows, cols, np.repeat(range(rows), cols).tolist(), [*range(cols)] * rows, labels, tips,
        keys={"index": np.add.outer(m, M * np.array(n)).ravel(), "state": np.array(states)},
        title=f"C = A Bᵀ, {M}x{N}: {gemm.wrong.sum():,} of {many(gemm.wrong.size, 'element')} wrong",
        row_axis="m", col_axis="n", row_labels=[*map(str, m)], col_labels=[*map(str, n)],
        borders=tuple(_borders(levels, rows, cols)), marks=dict.fromkeys(marked, "wrong"),
    )  # fmt: skip
    return Scene(((panel,),), caption=_caption(levels, "×" in labels), color_by="state", link_by="index", color=SHADES.__getitem__)


def _levels(gemm: Gemm) -> list[tuple[str, tuple[int, int]]]:
    """Name and extents of the blocks to draw, from the CTA tile down to the cell; each divides the one before."""
    shape, (high, wide) = gemm.got.shape, gemm.levels[-1][1]
    fragment = "fragment" if gemm.warps else "block" if max(shape) > CELLS else None
    inner = [(fragment, FRAGMENT)] if fragment and not (high % FRAGMENT[0] or wide % FRAGMENT[1]) else []
    levels = [*gemm.levels, *inner, ("element", (1, 1))]
    bm, bn, _ = gemm.tile
    i, j = -(-shape[0] // (bm * CELLS)), -(-shape[1] // (bn * CELLS))
    fitting = [(name, size) for name, size in levels if shape[0] <= CELLS * size[0] and shape[1] <= CELLS * size[1]]
    return fitting or [(f"group of {i}x{j} CTA tiles", (i * bm, j * bn))]


def _cell(gemm: Gemm, cell: tuple[str, tuple[int, int]], m: int, n: int) -> tuple[str, str, int]:
    """Label, tip and shade of the cell, of this name and these extents, that begins at C(m,n)."""
    name, (high, wide) = cell
    wrong, written = (x[m : m + high, n : n + wide] for x in (gemm.wrong, gemm.written))
    bad, missing, last_m, last_n = int(wrong.sum()), int((~written).sum()), m + len(wrong) - 1, n + len(wrong.T) - 1
    if name == "element":
        label = gemm.has(m, n) * bad
        tip = f"C({m},{n}) · " + ("not written" if missing else f"the kernel has {gemm.has(m, n)}" + ", which is wrong" * bad)
    else:
        label = str(bad or "") if written.any() else "–"
        tip = f"m {m} to {last_m} · n {n} to {last_n} · {bad} of {many(wrong.size, 'element')} wrong"
        tip += f", {missing} of them not written" if missing else ""
    for level, (kind, (_, size)) in enumerate(zip(("CTA tile", "warp"), gemm.levels, strict=False)):
        if high <= size[0] and wide <= size[1]:
            tip += " · {} ({},{})".format(kind, *gemm.block_of(level, m, n))
    return label, tip, -(-4 * bad // wrong.size) if written.any() else len(SHADES) - 1


def _borders(levels, rows: int, cols: int) -> Iterable[Border]:
    """The blocks that are larger than a cell, the smallest first, cut off where C ends."""
    cell = levels[-1][1]
    for weight, (_, size) in reversed([*zip((3, 1, 0), levels[:-1], strict=False)]):
        high, wide = size[0] // cell[0], size[1] // cell[1]
        for row, col in product(range(0, rows, high), range(0, cols, wide)):
            yield Border(weight, row, col, min(high, rows - row), min(wide, cols - col))


def _caption(levels, crosses: bool) -> str:
    (cell, size), *outer = [(name, f"{high}x{wide}") for name, (high, wide) in reversed(levels)]
    what, number = f"{cell} ({size} elements)", "A number is how many elements are wrong"
    if cell == "element":
        what, number = cell, "A cross is a wrong element" if crosses else "A number is what the kernel has in a wrong element"
    borders = f" Borders, the heaviest first: {', '.join(f'{name} ({size})' for name, size in reversed(outer))}." if outer else ""
    return f"Each cell is one {what} of C. {number}, a dash is for nothing written, no label for all right.{borders}"
