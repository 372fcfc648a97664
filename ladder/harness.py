"""What a chapter calls: look at the machine, run a kernel through layouts, check it against cuBLAS, time it.

Where there is no GPU the same calls compile, run the kernel's loops as host code, and say so. Importing this module needs
neither the DSL nor torch.
"""

import argparse
import json
import sys
from itertools import zip_longest
from pathlib import Path

import numpy as np

from ladder import lowering
from ladder.checks import BOUND, Check, against_cublas, checks, demand, log
from ladder.devices import Gpu, Host
from ladder.errors import CheckFailed, LadderError
from ladder.operands import by, k_contiguous, make_operands, mode_sizes, operand_pairs, padded_output, row_major_output
from ladder.preflight import Preflight, preflight
from ladder.rungs import RUNGS
from ladder.timing import Timing, timed
from layoutviz.composed import find_alias
from layoutviz.errors import ReaderError

__all__ = [
    "BOUND", "Check", "CheckFailed", "Gpu", "Host", "LadderError", "Preflight", "Timing", "against_cublas", "checks",
    "check_rung", "gemm_through_layouts", "k_contiguous", "operand_pairs", "padded_output", "preflight", "row_major_output", "timed",
]  # fmt: skip

RESULTS = Path(__file__).resolve().parent.parent / "results"
BRACKETS = "in brackets: the speed as a part of cuBLAS's"
LOOK = "the layouts are all that differs between the pairs: what a pair costs is what they cost"


def gemm_through_layouts(
    gemm,
    pairs=operand_pairs,
    mnk=(200, 136, 72),
    *,
    time_mnk=(2048, 1536, 1024),
    host=None,
    host_mnk=(12, 10, 7),
    chapter=None,
    look=LOOK,
    loops="the same product by the first rung's loops",
    output=padded_output,
) -> list[Check]:
    """Run one GEMM through several pairs of layouts, and print about it: GPU, layouts, errors, times, what to look at.

    gemm: the @cute.jit function gemm(mA, mB, mC, stream), C = A B^T. pairs(M, N, K): a dict from a name to the layouts of
    A (M,K) and B (N,K). mnk, time_mnk: checked at both sizes, timed at the second. host: the same loops as a jit function
    host(mA, mB, mC) that runs on the CPU, ladder.naive's if not given; host_mnk: its size; loops: what they are, in words. chapter:
    "01", to show what was recorded. look: the last line. output(M, N): the layout of C.

    With a GPU: each pair is run, checked against cuBLAS and timed beside it; the checks are returned. Without one: compiled for
    sm_90a, not run; `host` runs and is checked against numpy; an empty list is returned, as nothing was checked on a GPU.
    Raises CheckFailed if a check fails, LadderError if the layouts do not fit.
    """
    machine = preflight()
    for size in (mnk, time_mnk if machine.can_run else host_mnk):
        _make_pairs(pairs, size)  # the reader's layouts first: their faults are cheap to find here
    if machine.can_run:
        return _on_gpu(gemm, pairs, mnk, time_mnk, machine, look, output)
    if machine.can_compile:
        _without_gpu(gemm, pairs, mnk, host, host_mnk, machine, loops, output)
    else:
        print(f"nothing was compiled and nothing was run: {lowering.NEEDS_DSL}")
    _print_recorded(chapter)
    return []


def _on_gpu(gemm, pairs, mnk, time_mnk, machine: Preflight, look: str, output) -> list[Check]:
    device = Gpu()
    print(f"GPU    {machine.gpu}, driver {machine.driver}, torch {machine.torch}, DSL {machine.dsl}", flush=True)
    _print_pairs(_make_pairs(pairs, mnk))
    done = []
    for size in dict.fromkeys((mnk, time_mnk)):
        here = [_check(gemm, name, A, B, device, output) for name, (A, B) in _make_pairs(pairs, size).items()]
        _print_errors(size, here)
        demand(here)
        done += here
    times = _time_pairs(gemm, _make_pairs(pairs, time_mnk), device, output)
    size = by(time_mnk)
    rows = [{"pair": name, "size": size, "ms": ours.ms, "cublas_ratio": cublas.ms / ours.ms} for name, (ours, cublas) in times.items()]
    for row in rows:
        log({"time": row})
    print(f"time   {_times(rows)}\n       {BRACKETS}")
    print(f"look   {look}")
    return done


def _print_pairs(layouts) -> None:
    for word, (name, pair) in zip_longest(["pairs"], layouts.items(), fillvalue=""):
        notes = ("" if find_alias(layout) is None else " (slots shared)" for layout in pair)
        operands = [f"{what} {layout}{note}" for what, layout, note in zip("AB", pair, notes, strict=True)]
        print(f"{word:<6} {name}: {', '.join(operands)}", flush=True)


def _print_errors(size, done: list[Check]) -> None:
    exact = "all exact on small integers" if all(c.exact for c in done) else "NOT exact on small integers"
    print(f"error  {by(size)}: {_errors((c.name, c.error, c.cublas_error) for c in done)}; bound {done[0].bound:.0e}; {exact}", flush=True)


def _errors(rows) -> str:
    """Rows of (pair and size, error, cuBLAS's error) in words. An error of None is one that was no number."""
    rows = list(rows)
    each = ", ".join(f"{name.rsplit(' ', 1)[0]} {'nan' if error is None else format(error, '.1e')}" for name, error, _ in rows)
    return f"{each}; cuBLAS at most {max(cublas for *_, cublas in rows):.1e}"


def _times(rows) -> str:
    """Rows of one size in words."""
    return f"{rows[0]['size']}: " + ", ".join(f"{row['pair']} {row['ms']:.3g} ms ({row['cublas_ratio']:.3f}x)" for row in rows)


def _check(gemm, name, A, B, device, output=padded_output) -> Check:
    from ladder import binding

    (M, K), (N, _) = mode_sizes(A), mode_sizes(B)
    C = output(M, N)
    return against_cublas(f"{name} {by((M, N, K))}", binding.compile_for_gpu(gemm, make_operands(A, B, C)), A, B, C, device=device)


def _time_pairs(gemm, layouts, device: Gpu, output=padded_output) -> dict[str, tuple[Timing, Timing]]:
    """For each pair the kernel's time and cuBLAS's, all from one interleaved run."""
    from ladder import binding

    made, set_bytes = {}, []
    for name, (A, B) in layouts.items():
        operands = make_operands(A, B, output(mode_sizes(A)[0], mode_sizes(B)[0]))
        made[name], made[f"cublas {name}"] = candidates(binding.compile_for_gpu(gemm, operands), operands, device)
        set_bytes.append(2 * sum(o.table.size for o in operands))
    times = timed(made, min(set_bytes))
    return {name: (times[name], times[f"cublas {name}"]) for name in layouts}


def candidates(launch, operands, device: Gpu):
    """make(i), as `timed` takes it, for the kernel and for cuBLAS; both use the same i-th copy of random normal data."""
    sets, rng = [], np.random.default_rng()
    flats = [o.place(rng.standard_normal((o.rows, o.cols)).astype(np.float16)) for o in operands[:2]] + [operands[2].blank()]

    def buffers(i):
        while len(sets) <= i:
            sets.append([device.put(flat) for flat in flats])
        return sets[i]

    def ours(i):
        a, b, c = buffers(i)
        return lambda: launch(a, b, c)

    return ours, lambda i: device.cublas_call(*buffers(i), operands)


def _without_gpu(gemm, pairs, mnk, host, host_mnk, machine: Preflight, loops: str, output) -> None:
    fix = machine.fixes.get("GPU") or machine.fixes.get("torch")
    why = f"the {machine.gpu} is not used ({fix})" if machine.gpu else "no GPU here"
    layouts = _make_pairs(pairs, mnk)
    compiled = {name: lowering.compile_gemm_for(gemm, (A, B, output(*mnk[:2])), "sm_90a") for name, (A, B) in layouts.items()}
    print(f"{why}: compiled for sm_90a, NOT run, for {', '.join(compiled)} at {by(mnk)}")
    _print_pairs(layouts)
    _print_instruction(compiled, layouts)
    _run_on_host(pairs, host, host_mnk, loops)


def _print_instruction(compiled, layouts) -> None:
    """Of the first two pairs whose A steps differently along k, a load whose address holds that step."""
    seen = set()
    for name, (A, B) in layouts.items():
        stride, other = A.stride[1], B.stride[1]
        mixed_up = stride in (2 * other, 3 * other)  # the loop is unrolled, so a load of B may have this step too
        if not isinstance(stride, int) or mixed_up or stride in seen or len(seen) == 2:
            continue
        step = f"+{hex(2 * stride)}]"
        load = next((i for i in compiled[name].instructions if i.startswith("LDG.") and i.endswith(step)), None)
        if load:
            seen.add(stride)
            step = f"{stride} slot{'s' * (stride != 1)} on, {2 * stride} bytes, in hexadecimal {hex(2 * stride)}"
            print(f"SASS   {name}: {load:<40} A's next k: {step}")
    if not seen:
        name, one = next(iter(compiled.items()))
        from_global, from_shared = _by_opcode(one, "LDG", "LDGSTS", "UTMALDG"), _by_opcode(one, "LDS", "LDSM")
        matrix = _by_opcode(one, "HMMA", "HGMMA")
        multiplies = f"; it multiplies by {matrix}" if not matrix.startswith("no ") else ""
        print(f"SASS   {name}: it loads from global memory by {from_global}, from shared memory by {from_shared}{multiplies}")


def _by_opcode(compiled, *kinds: str) -> str:
    """How many instructions of these kinds stand in the code, as in "64 LDS.128"."""
    found = [f"{n} {opcode}" for opcode, n in compiled.opcodes.items() if opcode.split(".")[0] in kinds]
    return ", ".join(found) or f"no {kinds[0]}"


def _run_on_host(pairs, host, mnk, loops: str) -> None:
    from ladder import binding

    if host is None:
        from ladder.naive import host_gemm as host
    done, layouts = [], _make_pairs(pairs, mnk)
    for name, (A, B) in layouts.items():
        run = binding.compile_for_host(host, make_operands(A, B))
        done.append(against_cublas(f"{name} {by(mnk)}", run, A, B, device=Host()))
    demand(done)
    print(f"CPU    {loops}, run on the CPU at {by(mnk)}: {', '.join(layouts)} equal numpy's products")


def _print_recorded(chapter: str | None) -> None:
    """What a GPU last said about this chapter, with its date and name."""
    if chapter is None:
        return
    record = next((r for name, r in read_results("gpu.json", {}).items() if name.startswith(f"notebooks/{chapter}_")), None)
    if record is None:
        print("record none yet: nobody has run this chapter on a GPU (make gpu does)")
        return
    word = "passed" if record["ok"] else "FAILED"
    print(f"record of the pairs as handed out: {word} on {record['gpu']}, {record['date'][:10]}; errors against the fp32 product")
    by_size: dict[str, list] = {}
    for check in record["checks"]:
        by_size.setdefault(check["name"].rsplit(" ", 1)[1], []).append((check["name"], check["error"], check["cublas_error"]))
    for size, recorded in by_size.items():
        print(f"       {size}: {_errors(recorded)}")
    if record.get("times"):
        print(f"       time {_times(record['times'])}\n       {BRACKETS}")


def read_results(name: str, default):
    """A file of results/; default if it is not there, or no JSON."""
    try:
        return json.loads((RESULTS / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default


def _make_pairs(pairs, mnk) -> dict:
    """pairs(M, N, K), checked: a dict from names to the layouts of A (M,K) and B (N,K)."""
    if len(mnk) != 3 or not all(isinstance(size, int) and size > 0 for size in mnk):
        raise LadderError(f"a size is three whole numbers M, N, K of 1 or more, not {mnk!r}")
    M, N, K = mnk
    if not callable(pairs):
        raise LadderError("pairs must be a function of M, N, K that makes the layouts, since they are made at several sizes")
    try:
        made = pairs(M, N, K)
    except TypeError as error:
        raise LadderError(f"pairs(M, N, K) could not be called with three sizes: {error}") from error
    if not (isinstance(made, dict) and made and all(isinstance(n, str) and isinstance(p, tuple) and len(p) == 2 for n, p in made.items())):
        raise LadderError(f"pairs(M, N, K) must return a dict from a name to (layout of A, layout of B); it returned {made!r}")
    for name, (A, B) in made.items():
        for what, layout, want in (("A", A, (M, K)), ("B", B, (N, K))):
            _check_layout(f"{name}: {what}", layout, want, "(M,K)" if what == "A" else "(N,K)")
    return made


def _check_layout(name: str, layout, want, modes: str) -> None:
    if not all(hasattr(layout, attribute) for attribute in ("shape", "stride", "offsets")):
        raise LadderError(f"{name} is {layout!r}, which is no Layout")
    sizes = mode_sizes(layout)
    if sizes != want:
        hint = "; CuTe keeps B as (N,K), not (K,N)" if modes == "(N,K)" and sizes == want[::-1] else ""
        raise LadderError(f"{name} has layout {layout}, of size {by(sizes)}; it must be {modes} = {by(want)}{hint}")


def check_rung(name: str, rng: np.random.Generator, sizes: int = 2) -> list[Check]:
    """Check a rung of ladder.rungs on the GPU through each operand pair that it takes, at 8x8x8 and at `sizes` random ragged sizes.

    Raises LadderError without a GPU, CheckFailed if the kernel is wrong.
    """
    machine = preflight()
    if not machine.can_run:
        raise LadderError(f"a rung is checked on a GPU: {machine.verdict}")
    device, rung = Gpu(), RUNGS[name]
    ragged = [tuple(int(8 * n) for n in rng.integers(1, (200, 200, 80))) for _ in range(sizes)]
    done = [
        _check(rung.gemm, pair, A, B, device, rung.output) for size in ((8, 8, 8), *ragged) for pair, (A, B) in rung.pairs(*size).items()
    ]
    demand(done)
    return done


def main(gemm, host=None, mnk=(300, 200, 100), **options) -> None:
    """The command line of a rung: `--mnk 300,200,100` runs it through its operand pairs at that size.

    mnk: the size if none is named. options: as for `gemm_through_layouts`: pairs, if it does not take all four, output, and words.
    """
    parser = argparse.ArgumentParser(description="Check and time this GEMM on the GPU; without one, compile it, and run loops on the CPU.")
    parser.add_argument("--mnk", type=_sizes, default=mnk, metavar="M,N,K")
    mnk = M, N, K = parser.parse_args().mnk
    too_small = M * N + M * K + N * K < 2**16  # to be timed past the L2: timed at the default size then
    try:
        gemm_through_layouts(gemm, mnk=mnk, host=host, **({} if too_small else {"time_mnk": mnk}) | options)
    except ReaderError as error:
        sys.exit(f"{type(error).__name__}: {error}")


def _sizes(text: str) -> tuple[int, int, int]:
    try:
        M, N, K = (int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not three whole numbers M,N,K") from None
    if min(M, N, K) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: M, N and K must be 1 or more")
    return M, N, K
