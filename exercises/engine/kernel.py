"""Judging kernels and jit functions that a learner wrote. Runs in the child process of child.py, which has the DSL; import it late.

A GEMM is run on new random sizes that no tile divides, first on small integers, where a right result is right to the last bit and a
wrong one can be read, then by norm against cuBLAS, then timed, then checked once more: a race shows itself late.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from exercises.engine.child import show_traceback
from exercises.engine.diagnose import Gemm, diagnose, summary
from exercises.engine.errormap import error_map
from exercises.engine.exercise import one_line
from exercises.engine.verdict import AnswerRaised, BadAnswer, Mistake, State, Verdict
from ladder import lowering
from ladder.checks import BOUND, Trial, relative_error, trial
from ladder.errors import LadderError
from ladder.operands import SENTINEL, make_operands, mode_sizes, operand_pairs, padded_output
from ladder.preflight import preflight
from layoutviz import Layout, LayoutError
from layoutviz.cute import from_dsl

ARCH = "sm_90a"
MARGIN = 4096  # elements before and after each array of a jit function
TIMED = (1024, 768, 512)
HALF_SUMS = Mistake(
    "sums in half precision",
    "On small integers it is exact, so each element gets the right products; on other numbers too much is lost between them.",
    "How many bits does the number have into which you add? Which type can hold the sum of K products?",
)
OUTSIDE = Mistake(
    "missing predicate",
    "Some thread stands past the edge of its matrix and reads or writes there.",
    "C's size is no multiple of the tile. What do the threads of the last tile do that have no element?",
)


def judge_gemm(
    name: str,
    gemm,
    *,
    tile: tuple[int, int, int],
    warps: tuple[int, int] | None = None,
    layouts: Callable[[int, int, int], tuple[Layout, Layout]] | None = None,
    multiples: tuple[int, int, int] = (1, 1, 1),
    law: Verdict | None = None,
    seed: int | None = None,
) -> Verdict:
    """Judge a @cute.jit function gemm(mA, mB, mC, stream) that computes C = A B^T from fp16, with A (M,K), B (N,K), C (M,N).

    tile: the (M,N,K) of one block; warps: how many the block has along M and N, if its tile is shared out so. layouts(M, N, K): those of A
    and B, K-major if not given; multiples: what their M, N and K must be multiples of. law: the verdict on what was judged before, by
    law: its words stand first, and its picture where the run has none. Without a GPU: traced and compiled, verdict COMPILED. BadAnswer
    and AnswerRaised for what cannot be judged.
    """
    if not callable(gemm):
        raise BadAnswer(f"`{name}` is of type {type(gemm).__name__}; wanted is a `@cute.jit` function (mA, mB, mC, stream).")
    layouts = layouts or (lambda M, N, K: operand_pairs(M, N, K)["TN"])
    rng = np.random.default_rng(seed)
    sizes = [_ragged(rng, tile, multiples), _ragged(rng, tile, multiples)]
    ran = _on_gpu(gemm, layouts, sizes, tile, warps, rng) if preflight().can_run else _compiled(name, gemm, layouts, sizes[0])
    return replace(ran, message=f"{law.message} {ran.message}", scene=ran.scene or law.scene) if law else ran


def _ragged(rng, tile, multiples) -> tuple[int, int, int]:
    """A size that is not square and that the tile divides in none of its modes, where the multiples that it must be of allow that."""
    while True:
        parts = zip(tile, multiples, strict=True)
        m, n, k = (int(rng.integers(1, 4) * extent + step * rng.integers(1, max(extent // step, 2))) for extent, step in parts)
        if m != n:
            return m, n, k


def _compiled(name: str, gemm, layouts, mnk) -> Verdict:
    with learners_code():
        made = *layouts(*mnk), padded_output(*mnk[:2])
        try:
            lowering.compile_gemm_for(gemm, made, ARCH)
        except LadderError as error:
            raise BadAnswer(f"`{name}` launches no kernel." if "launches no kernel" in str(error) else str(error)) from None
    compiled = f"Traced and compiled for {ARCH} at {_by(mnk)}."
    return Verdict(State.COMPILED, f"{compiled} There is no GPU here that could run it, so its results were not checked.")


def _on_gpu(gemm, layouts, sizes, tile, warps, rng) -> Verdict:
    from ladder.devices import Gpu

    device, errors = Gpu(), []
    for mnk in sizes:
        launch, operands = _launch(gemm, layouts, mnk)
        wrong, error = _check(launch, operands, device, rng, tile, warps)
        if wrong:
            return wrong
        errors.append(error)
    launch, operands = _launch(gemm, layouts, TIMED)
    wrong, _ = _check(launch, operands, device, rng, tile, warps)
    if wrong:
        return wrong
    ms, ratio = _time(launch, operands, device)
    wrong, _ = _check(launch, operands, device, rng, tile, warps)
    if wrong:
        late = "Right at first, but no longer after it had run many times: a race, or something left over from the run before. "
        return Verdict(wrong.state, late + wrong.message, wrong.scene, wrong.mistake)
    where = " and ".join(map(_by, sizes))
    facts = f"C is right to the last bit on small integers at {where}, and within {max(errors):.1e} of the fp32 product on others."
    times = f"At {_by(TIMED)} it takes {ms:.3g} ms, {ratio:.3g} times cuBLAS's speed, and is right after that too."
    return Verdict(State.RIGHT, f"{facts} {times}")


def _launch(gemm, layouts, mnk):
    from ladder import binding

    with learners_code():
        operands = make_operands(*layouts(*mnk))
    (M, K), (N, _) = mode_sizes(operands[0].layout), mode_sizes(operands[1].layout)
    if (M, N, K) != mnk:
        raise BadAnswer(f"For M, N, K = {_by(mnk)} the layouts have the sizes {M}x{K} and {N}x{K}; A is (M,K) and B is (N,K).")
    with learners_code():
        return binding.compile_for_gpu(gemm, operands), operands


def _check(launch, operands, device, rng, tile, warps) -> tuple[Verdict | None, float]:
    """What is wrong, or None, and the relative error on random numbers."""
    with learners_code():
        small = trial(launch, operands, device, lambda *shape: rng.integers(-2, 3, shape))
        normal = trial(launch, operands, device, lambda *shape: rng.standard_normal(shape))
    where = f"At {operands[0].rows}x{operands[1].rows}x{operands[0].cols}"
    if not np.array_equal(small.got.astype(np.float32), small.want):
        return _wrong(where, small, tile, warps), np.inf
    if note := small.stray_note or normal.stray_note:
        return Verdict(State.WRONG, f"{where} C itself is right, but {note}. {OUTSIDE.words}", mistake=OUTSIDE), np.inf
    error = relative_error(normal.got, normal.want)
    if not error <= BOUND:
        told = f"{where} the relative error on random numbers is {error:.1e}; at most {BOUND:.0e} is right. {HALF_SUMS.words}"
        return Verdict(State.WRONG, told, mistake=HALF_SUMS), error
    return None, error


def _wrong(where: str, small: Trial, tile, warps) -> Verdict:
    written = small.got.view(np.uint16) != SENTINEL.view(np.uint16)
    gemm = Gemm(small.a, small.b, small.got, tile, warps, written=written)
    mistake = diagnose(gemm)
    message = f"{where}: {summary(gemm)} {mistake.words if mistake else ''}".strip()
    return Verdict(State.WRONG, message, error_map(gemm), mistake)


def _time(launch, operands, device) -> tuple[float, float]:
    """Milliseconds of one call, and its speed as a part of cuBLAS's, from one interleaved run."""
    from ladder.harness import candidates, timed

    both = dict(zip(("yours", "cublas"), candidates(launch, operands, device), strict=True))
    times = timed(both, 2 * sum(o.table.size for o in operands), rounds=5, settle=0.2)
    return times["yours"].ms, times["cublas"].ms / times["yours"].ms


def judge_jit(name: str, function, cases: Sequence[tuple[list[np.ndarray], int, np.ndarray]]) -> Verdict:
    """Judge a @cute.jit function that runs on the CPU, on tensors over numpy arrays.

    A case is (arrays, which of them it must fill, what it must then hold); the others must stay as they are. Arrays to fill hold NaN, or
    the lowest integer, before, and so does the memory before and after each array. BadAnswer and AnswerRaised for what cannot be judged.
    """
    import cutlass.cute as cute
    from cutlass.cute.runtime import from_dlpack

    if not callable(function):
        raise BadAnswer(f"`{name}` is of type {type(function).__name__}; wanted is a `@cute.jit` function.")
    for arrays, out, want in cases:
        given, margins = zip(*map(_guarded, arrays), strict=True)
        given[out][...] = _sentinel(arrays[out].dtype)
        untouched = [margin.tobytes() for margin in margins]
        with learners_code():
            cute.compile(function, *map(from_dlpack, given))(*map(from_dlpack, given))
        for n, (before, after) in enumerate(zip(arrays, given, strict=True)):
            if n != out and not np.array_equal(before, after):
                return Verdict(State.WRONG, f"It changed tensor {n}, which it should only read.")
        if [margin.tobytes() for margin in margins] != untouched:
            return Verdict(State.WRONG, f"It wrote outside its tensors. {OUTSIDE.words}", mistake=OUTSIDE)
        if not np.array_equal(given[out], want):
            at = tuple(np.argwhere((given[out] != want).T)[0][::-1].tolist())  # transposed: the first mode runs fastest
            got = given[out][at]
            unwritten = np.isnan(got) if given[out].dtype.kind == "f" else got == _sentinel(given[out].dtype)
            found = "nothing was written" if unwritten else f"it gives {got}, which is not right"
            shapes = ", ".join(str(array.shape).replace(" ", "") for array in arrays)
            return Verdict(State.WRONG, f"For tensors of shape {shapes}, at coordinate {str(at).replace(' ', '')} {found}.")
    return Verdict(State.RIGHT, f"Right on {len(cases)} sets of tensors, each of another size.")


def _guarded(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A copy of an array in the middle of a larger buffer, and that buffer with the copy's own part left out: what none may touch."""
    room = np.full(array.size + 2 * MARGIN, _sentinel(array.dtype), array.dtype)
    inside = room[MARGIN : MARGIN + array.size].reshape(array.shape)
    inside[...] = array
    return inside, np.lib.stride_tricks.as_strided(room, (2, MARGIN), ((array.size + MARGIN) * array.itemsize, array.itemsize))


def _sentinel(dtype: np.dtype):
    return np.nan if dtype.kind == "f" else np.iinfo(dtype).min


def traced_layout(name: str, function, *arguments):
    """The layout that a learner's function gives inside a @cute.jit function, in one of the forms that answers take.

    AnswerRaised if it raises there, BadAnswer for what is no layout.
    """
    import cutlass.cute as cute

    found = []

    def keep(result):  # outside the jit function, which the DSL rewrites
        if type(result).__module__.partition(".")[0] != "cutlass":
            found.append(result)
            return
        try:
            found.append(from_dsl(result))
        except LayoutError as error:
            found.append(BadAnswer(f"`{name}` gives {result}, which is not a layout with known numbers: {error}"))

    @cute.jit
    def trace():
        keep(function(*arguments))

    if not callable(function):
        raise BadAnswer(f"`{name}` is of type {type(function).__name__}; wanted is a function that gives a layout of the DSL.")
    with learners_code():
        trace()
    if found[0] is None:
        raise BadAnswer(f"`{name}` returns None; wanted is a layout of the DSL.")
    if isinstance(found[0], BadAnswer):
        raise found[0]
    return found[0]


@contextmanager
def learners_code():
    """What is raised inside is the learner's: its traceback is shown, and the verdict is RAISED."""
    try:
        yield
    except (BadAnswer, AnswerRaised):
        raise
    except LadderError as error:  # a kernel that failed on the GPU: where it was in Python says nothing
        fault = (str(error.__cause__ or error).strip().splitlines() or [""])[0]  # what CUDA says
        failed = f"The kernel failed on the GPU: {fault}." if error.__cause__ else str(error)
        raise AnswerRaised(failed, OUTSIDE if "address" in fault or "access" in fault else None) from error
    except BaseException as error:  # sys.exit() in it too
        if "CALL_MISSING_JIT_DECORATOR" in str(error):
            raise BadAnswer("The function needs `@cute.jit` in the line above its `def`.") from None
        show_traceback(error, Path(sys.modules["__main__"].__file__).parent)
        raise AnswerRaised(one_line(error)) from error


def _by(sizes) -> str:
    return "x".join(map(str, sizes))
