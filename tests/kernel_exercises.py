"""Kernel exercises that are for tests alone: a GEMM on the GPU, a jit function on the CPU, a layout of the DSL."""

import numpy as np

from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_layout
from exercises.engine.verdict import Verdict
from layoutviz import Layout


def check_gemm(gemm) -> Verdict:
    from exercises.engine.kernel import judge_gemm

    return judge_gemm("gemm", gemm, tile=(16, 16, 16))


def check_fill(fill) -> Verdict:
    from exercises.engine.kernel import judge_jit

    rng = np.random.default_rng()
    cases = []
    for _ in range(3):
        rows, columns = (int(n) for n in rng.choice(np.arange(2, 12), 2, replace=False))
        source = rng.integers(0, 100, (rows, columns)).astype(np.int32)
        cases.append(([source, np.zeros((columns, rows), np.int32)], 1, source.T))
    return judge_jit("fill", fill, cases)


def check_tile(tile) -> Verdict:
    from exercises.engine.kernel import traced_layout

    return judge_layout("tile", traced_layout("tile", tile), Layout((8, 4), (4, 1)), "Row-major, 8 by 4.", lambda answer: "")


def _exercise(number: int, title: str, answer: str, check, limit: float = 60) -> Exercise:
    return Exercise(
        id=f"90.{number}", title=title, stars=1, answers=(answer,), check=check, hints=("Which?",), why="So.", also="", wrong={}, right={},
        limit=limit,
    )  # fmt: skip


GEMM = _exercise(1, "A GEMM", "gemm", check_gemm)
FILL = _exercise(2, "A transposed copy on the CPU", "fill", check_fill)
TILE = _exercise(3, "A layout of the DSL", "tile", check_tile)
BRIEF = _exercise(4, "A second at most", "gemm", check_gemm, limit=1)
