"""Judge a GEMM by its results: random normal inputs against an fp32 product, small integers to the last bit, and its guard bands."""

import json
import math
import os
from dataclasses import asdict, dataclass

import numpy as np

from ladder.errors import CheckFailed, LadderError
from ladder.operands import make_operands

BOUND = 1e-3  # relative Frobenius error; fp16 rounding of a right result gives about 2e-4, fp16 accumulation 1e-2
EXACT_LIMIT = 2048  # fp16 holds every integer up to here


@dataclass(frozen=True)
class Check:
    """What was found about one kernel with one set of layouts.

    error: relative Frobenius error on random normal inputs; nan if C holds one. cublas_error: cuBLAS's on the same inputs, None
    where there is no cuBLAS. exact: right to the last bit on small integers. strays: elements written outside C, or changed in A
    or B. where: the GPU's name, or "CPU". note: what is wrong and where, empty if nothing is.
    """

    name: str
    error: float
    cublas_error: float | None
    bound: float
    exact: bool
    strays: int
    where: str
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.error <= self.bound and self.exact and self.strays == 0

    @property
    def on_gpu(self) -> bool:
        return self.where != "CPU"


checks: list[Check] = []  # every check of this process, oldest first


def record(check: Check) -> Check:
    """Keep a check in `checks` and, where LADDER_CHECKS names a file, append it there as a line of JSON."""
    checks.append(check)
    log(asdict(check) | {"ok": check.ok, "on_gpu": check.on_gpu})
    return check


def log(line: dict) -> None:
    """Append a line of JSON to the file that LADDER_CHECKS names, if it names one. What is no number is written as null."""
    path = os.environ.get("LADDER_CHECKS")
    if path:
        finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()}
        with open(path, "a", encoding="utf-8") as f:
            f.write(json.dumps(finite) + "\n")


def against_cublas(name: str, run, A, B, C=None, *, device, bound: float = BOUND, seed: int | None = None) -> Check:
    """Run a GEMM on fresh random inputs and judge it; the Check is recorded, and says rather than raises what is wrong.

    run(a, b, c): computes C = A B^T on flat fp16 buffers of `device` (numpy on Host, torch on Gpu), one for each operand, laid
    out as Operand says. A is (M,K), B is (N,K), C is (M,N), all layouts; C is padded_output(M, N) if not given and must be
    injective. The truth is numpy's fp32 product of the same fp16 inputs, so no TF32 and nothing of the GPU's is in it.
    Raises LadderError for layouts that do not fit each other.
    """
    operands = make_operands(A, B, C)
    seed = int(np.random.SeedSequence().entropy % 2**32) if seed is None else seed
    rng = np.random.default_rng(seed)
    normal = trial(run, operands, device, lambda *shape: rng.standard_normal(shape))
    small = trial(run, operands, device, lambda *shape: rng.integers(-2, 3, shape))
    if np.abs(small.want).max() > EXACT_LIMIT:
        raise LadderError(f"K = {operands[0].cols} is too long for an exact test: its sums pass {EXACT_LIMIT}, where fp16 skips integers")
    notes = [wrong for wrong in (small.first_wrong(), normal.stray_note or small.stray_note) if wrong]
    error = relative_error(normal.got, normal.want)
    if not notes and not error <= bound:
        notes = [f"the relative error {error:.1e} is above {bound:.0e}"]
    return record(
        Check(
            name=name,
            error=error,
            cublas_error=None if normal.cublas is None else relative_error(normal.cublas, normal.want),
            bound=bound,
            exact=bool(np.array_equal(small.got.astype(np.float32), small.want)),
            strays=normal.strays + small.strays,
            where=device.name,
            note="; ".join(notes) + f" (seed {seed})" if notes else "",
        )
    )


def demand(done: list[Check]) -> None:
    """Raise CheckFailed for the first check that is not ok."""
    for check in done:
        if not check.ok:
            raise CheckFailed(f"{check.name}: {check.note}")


def relative_error(got, want) -> float:
    """Frobenius norm of got - want, over that of want; nan if got holds a nan.

    >>> round(relative_error(np.array([[3.0, 4.5]]), np.array([[3.0, 4.0]])), 3)
    0.1
    """
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def relative_error_there(got, want) -> float:
    """As `relative_error`, of torch's tensors, where they are; `want` is fp32."""
    return float((got.float() - want).norm() / want.norm())


@dataclass
class Trial:
    """One run on one set of inputs: A (M,K), B (N,K) as they were put into its buffers, the C (M,N) that it left and the right one.

    strays: elements written outside C, or changed in A or B; stray_note says so in words.
    """

    a: np.ndarray
    b: np.ndarray
    got: np.ndarray
    want: np.ndarray
    cublas: np.ndarray | None
    strays: int
    stray_note: str

    def first_wrong(self) -> str:
        differs = self.got.astype(np.float32) != self.want
        if not differs.any():
            return ""
        n, m = np.argwhere(differs.T)[0]  # transposed, so that the first mode runs fastest
        got = "not written" if np.isnan(self.got[m, n]) else f"{self.got[m, n]:g}"
        return f"C({m},{n}) is {got} where the product of these integers is {self.want[m, n]:g}; {differs.sum()} of {differs.size} differ"


def trial(run, operands, device, values) -> Trial:
    """Run a GEMM once on `values(rows, columns)` for A and B, rounded to fp16, in NaN-filled buffers."""
    A, B, C = operands
    a, b = A.place(values(A.rows, A.cols).astype(np.float16)), B.place(values(B.rows, B.cols).astype(np.float16))
    want = A.read(a).astype(np.float32) @ B.read(b).astype(np.float32).T
    buffers = [device.put(flat) for flat in (a, b, C.blank())]
    run(*buffers)
    device.sync()
    after = [device.get(buffer) for buffer in buffers]
    strayed, note = strays(operands, (a, b), after)
    return Trial(A.read(a), B.read(b), C.read(after[-1]), want, device.cublas(*buffers[:2], operands), strayed, note)


def strays(operands, before, after) -> tuple[int, str]:
    """How many elements a kernel changed that were not its to change, and a note that says so in words.

    operands: the inputs and, last, the result. before: the inputs' flat buffers as they were; after: all buffers as they are now.
    """
    result = operands[-1]
    outside = result.strays(after[-1])
    inputs = sum(int(np.count_nonzero(x.view(np.uint16) != y.view(np.uint16))) for x, y in zip(before, after[:-1], strict=True))
    changed = f"it changed {_elements(inputs)} of its inputs" if inputs else ""
    return outside + inputs, f"it wrote {_elements(outside)} outside {result.name}" if outside else changed


def _elements(n: int) -> str:
    return f"{n} element{'s' * (n != 1)}"
