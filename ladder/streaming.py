"""Check and time the rungs that memory limits, `elementwise`, `gemv` and `transpose`: what harness.py is for GEMMs.

The yardstick is the bandwidth of a device copy in the same interleaved run. Importing this module needs neither the DSL nor torch.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import numpy as np

from ladder import lowering
from ladder.checks import BOUND, Check, demand, record, relative_error, relative_error_there, strays
from ladder.devices import Gpu, Host
from ladder.errors import CheckFailed, LadderError
from ladder.harness import read_results
from ladder.operands import Bare, Operand, by, mode_sizes
from ladder.preflight import Preflight, preflight
from ladder.timing import Timing, timed
from layoutviz import Layout

DRAWN = 3  # random ragged sizes of a check, drawn anew each time
COPIED = 3 * 2**28  # bytes that the copy reads, and writes: of one size for all, since torch's copies of some others are slow
SMALLEST = 2**17  # bytes; of operands smaller than that it takes too many to get past the L2 cache, so they are not timed
LARGEST = 2**27  # bytes; with more, numpy is slow: such a size is checked only against torch's fp32 result, when it is timed


@dataclass(frozen=True)
class Stream:
    """What a rung computes, from fp16 to fp16.

    modes: a letter for each size, as rows of results/ladder.json call it. steps, most: a size that is drawn for a check is a multiple
    of the one, up to the other. names: of the operands, the result last. layouts(*size): theirs. truth(*inputs): the result, from
    inputs of a wider type, numpy's or torch's alike. bound: of the relative error; 0 where the result, rounded to fp16, must be
    right to the last bit. peer: what torch calls it. call(torch, *tensors): torch computes it into the last one. times: the sizes
    it is timed at.
    """

    rung: str
    modes: str
    steps: tuple[int, ...]
    most: tuple[int, ...]
    names: tuple[str, ...]
    layouts: Callable
    truth: Callable
    bound: float
    peer: str
    call: Callable
    times: tuple[tuple[int, ...], ...]

    def bytes(self, size) -> int:
        """What must be moved: each operand once."""
        return 2 * sum(layout.size for layout in self.layouts(*size))

    def sizes_in_row(self, size) -> dict[str, int | None]:
        """As rows of results/ladder.json have them: m, n and k, None where there is no such size."""
        return dict.fromkeys("mnk") | dict(zip(self.modes.lower(), size, strict=True))

    def check_sizes(self, rng) -> list[tuple[int, ...]]:
        """The smallest size, and random ones, in all likelihood ragged."""
        steps = np.array(self.steps)
        drawn = [steps * rng.integers(1, self.most // steps, endpoint=True) for _ in range(DRAWN)]
        return [self.steps, *(tuple(size.tolist()) for size in drawn)]

    def operands(self, size) -> list[Operand]:
        """Buffers with guard bands for each. To Operand a vector is a matrix of one column; the kernel gets its own layout."""
        made = []
        for name, layout in zip(self.names, self.layouts(*size), strict=True):
            matrix = layout if layout.rank == 2 else Layout((layout.size, 1), (1, layout.size))
            operand = Operand(name, matrix, *mode_sizes(matrix))
            operand.layout = layout
            made.append(operand)
        return made


ELEMENTWISE = Stream(
    "elementwise", "N", (1,), (50_000,), ("X", "Y", "Z"), lambda N: (Layout(N),) * 3,
    truth=lambda x, y: x + y, bound=0, peer="add", call=lambda torch, x, y, z: torch.add(x, y, out=z), times=((2**28,),),
)  # fmt: skip
GEMV = Stream(
    "gemv", "MK", (1, 8), (100, 6000), ("A", "x", "y"), lambda M, K: (Layout((M, K), (K, 1)), Layout(K), Layout(M)),
    truth=lambda a, x: a @ x, bound=BOUND, peer="mv", call=lambda torch, a, x, y: torch.mv(a, x, out=y),
    times=((65536, 4096), (16384, 16384), (4096, 65536)),
)  # fmt: skip
TRANSPOSE = Stream(
    "transpose", "MN", (8, 8), (400, 400), ("A", "B"), lambda M, N: (Layout((M, N), (N, 1)), Layout((N, M), (M, 1))),
    truth=lambda a: a.T, bound=0, peer="transpose", call=lambda torch, a, b: b.copy_(a.T), times=((16384, 16384),),
)  # fmt: skip


def check(stream: Stream, run, size, *, device, seed: int | None = None) -> Check:
    """Run a kernel on fresh random inputs and judge it; the Check is recorded, and says rather than raises what is wrong.

    run(*buffers): on flat fp16 buffers of `device`, one for each operand, laid out as stream.operands(size) says. A stream with a
    bound is judged on normal data by its relative error, any other by the part of its results that differ, on fp16 numbers of all
    magnitudes; and each on small integers, to the last bit. torch's error stands beside it as Check.cublas_error.
    """
    operands = stream.operands(size)
    seed = int(np.random.SeedSequence().entropy % 2**32) if seed is None else seed
    rng = np.random.default_rng(seed)
    wide = _trial(stream, run, operands, device, lambda shape: rng.standard_normal(shape) if stream.bound else _any_finite(rng, shape))
    small = _trial(stream, run, operands, device, lambda shape: rng.integers(-1, 2, shape))
    error = _error(wide.got, wide.want, stream.bound)
    note = small.first_wrong(operands[-1]) or wide.stray_note or small.stray_note
    if not note and not error <= stream.bound:
        note = f"the relative error {error:.1e} is above {stream.bound:.0e}" if stream.bound else wide.first_wrong(operands[-1])
    return record(
        Check(
            name=f"{stream.rung} {by(size)}",
            error=error,
            cublas_error=None if wide.peer is None else _error(wide.peer, wide.want, stream.bound),
            bound=stream.bound,
            exact=not small.differs.any(),
            strays=wide.strays + small.strays,
            where=device.name,
            note=f"{note} (seed {seed})" if note else "",
        )
    )


@dataclass
class _Trial:
    """One run: the result (rows, columns) that it left, the right one in float64, and torch's, if there is one."""

    got: np.ndarray
    want: np.ndarray
    peer: np.ndarray | None
    strays: int
    stray_note: str

    @property
    def differs(self) -> np.ndarray:
        return self.got != _rounded(self.want)

    def first_wrong(self, result: Operand) -> str:
        if not self.differs.any():
            return ""
        row, col = np.argwhere(self.differs)[0]
        place = f"{row},{col}" if result.layout.rank == 2 else row
        got = "not written" if np.isnan(self.got[row, col]) else f"{self.got[row, col]:g}"
        want, count = _rounded(self.want)[row, col], int(self.differs.sum())
        return f"{result.name}({place}) is {got} where {want:g} is right; {count} of {self.differs.size} differ"


def _trial(stream: Stream, run, operands, device, values) -> _Trial:
    *inputs, result = operands
    before = [each.place(values((each.rows, each.cols)).astype(np.float16)) for each in inputs]
    want = stream.truth(*(_shaped(each, each.read(flat)).astype(np.float64) for each, flat in zip(inputs, before, strict=True)))
    buffers = [device.put(flat) for flat in (*before, result.blank())]
    run(*buffers)
    device.sync()
    strayed, note = strays(operands, before, [device.get(buffer) for buffer in buffers])
    got, peer = result.read(device.get(buffers[-1])), None
    if isinstance(device, Gpu):
        again = [*buffers[:-1], device.put(result.blank())]
        stream.call(device.torch, *_views(device.torch, operands, again))
        peer = result.read(device.get(again[-1]))
    return _Trial(got, want.reshape(got.shape), peer, strayed, note)


def _shaped(operand: Operand, matrix: np.ndarray) -> np.ndarray:
    return matrix if operand.layout.rank == 2 else matrix[:, 0]


def _any_finite(rng, shape) -> np.ndarray:
    """fp16 numbers of all magnitudes, from random bits."""
    values = rng.integers(0, 2**16, shape, np.uint16).view(np.float16)
    return np.where(np.isfinite(values), values, np.float16(1))


def _rounded(want: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a sum may pass the largest fp16: infinity is right then
        return want.astype(np.float16)


def _error(got: np.ndarray, want: np.ndarray, bound: float) -> float:
    """The relative error; where no error is allowed, the part of the elements that differ."""
    return relative_error(got, want) if bound else float(np.mean(got != _rounded(want)))


def _views(torch, operands, buffers) -> list:
    """The operands as torch's tensors."""
    pairs = zip(operands, buffers, strict=True)
    return [torch.as_strided(flat, _flat(each.layout.shape), _flat(each.layout.stride), each.base) for each, flat in pairs]


def _flat(mode) -> tuple[int, ...]:
    return mode if isinstance(mode, tuple) else (mode,)


# --- time


def time_stream(stream: Stream, kernel, size, device: Gpu) -> dict[str, Timing]:
    """The times of the rung, of torch and of a device copy, from one interleaved run on random normal data.

    Raises CheckFailed if the rung's result, before or after, is not torch's fp32 result of the same inputs.
    """
    from ladder import binding

    torch, layouts = device.torch, stream.layouts(*size)
    operands = [Bare(layout) for layout in layouts]  # no guard bands: these are large
    launch, sets, copies = binding.compile_for_gpu(kernel, operands), [], []

    def buffers(i):
        while len(sets) <= i:
            half = {"dtype": torch.float16, "device": "cuda"}
            sets.append([*(torch.randn(each.size, **half) for each in layouts[:-1]), torch.full((layouts[-1].size,), torch.nan, **half)])
        return sets[i]

    def ours(i):
        flats = buffers(i)
        return lambda: launch(*flats)

    def peer(i):
        views = _views(torch, operands, [*buffers(i)[:-1], torch.empty_like(buffers(i)[-1])])
        return lambda: stream.call(torch, *views)

    def copy(i):
        while len(copies) < 2:
            copies.append(torch.randn(COPIED // 2, dtype=torch.float16, device="cuda"))
        source, target = copies
        return lambda: target.copy_(source)

    ours(0)()
    _demand_right(stream, torch, operands, buffers(0), size)
    candidates = {stream.rung: ours, f"torch {stream.peer}": peer, "copy": copy}
    times = timed(candidates, stream.bytes(size), captured=lambda: [each[-1].fill_(torch.nan) for each in sets])
    _demand_right(stream, torch, operands, buffers(0), size)
    return times


def _demand_right(stream: Stream, torch, operands, buffers, size) -> None:
    *inputs, got = _views(torch, operands, buffers)
    want = stream.truth(*(each.float() for each in inputs))
    if stream.bound:
        error = relative_error_there(got, want)
    else:
        error = float((got != want.half()).float().mean())
    if not error <= stream.bound:
        raise CheckFailed(f"{stream.rung} {by(size)}: the error {error:.1e} is above {stream.bound:.0e}")


def measure_stream(stream: Stream, kernel, size) -> list[dict]:
    """Check a rung on the GPU, then time it beside torch and a copy; return their rows of results/ladder.json.

    Raises LadderError without a GPU, CheckFailed if the kernel is wrong.
    """
    machine = preflight()
    if not machine.can_run:
        raise LadderError(f"a rung is measured on a GPU: {machine.verdict}")
    device = Gpu()
    _check_sizes(stream, kernel, stream.check_sizes(np.random.default_rng()), device)
    times = time_stream(stream, kernel, size, device)
    now, run = datetime.now(UTC).isoformat(timespec="seconds"), uuid4().hex[:12]  # rows of one run can be compared
    return [_row(stream, name, times, size, machine) | {"run": run, "date": now} for name in times]


def _gb_s(stream: Stream, name: str, time: Timing, size) -> float:
    """Bytes that had to be moved, a second, in 10^9."""
    return (2 * COPIED if name == "copy" else stream.bytes(size)) / time.ms / 1e6


def _row(stream: Stream, name: str, times: dict[str, Timing], size, machine: Preflight) -> dict:
    time, peer = times[name], f"torch {stream.peer}"
    by_cublas = stream.peer == "mv" and name != "copy"  # torch.mv is cuBLAS's
    return {
        "rung": name, **stream.sizes_in_row(size), "dtype": "float16", **time.row(),
        "tflops": None, "gb_s": round(_gb_s(stream, name, time, size), 1),
        "cublas_ratio": round(times[peer].ms / time.ms, 5) if by_cublas else None,
        "gpu": machine.gpu, "driver": machine.driver,
    }  # fmt: skip


# --- what a chapter and a command line call


def through_sizes(stream: Stream, kernel, host, sizes=None, times=None) -> list[Check]:
    """Check a rung at several sizes and time it, and print about it. What a chapter calls.

    kernel: the @cute.jit function kernel(*tensors, stream). host(*tensors): the same work on the CPU. sizes: to check; the smallest
    and random ones if not given. times: sizes to time it at; the stream's own if not given.

    With a GPU: the checks are returned. Without one: compiled for sm_90a, not run; `host` is run and checked against numpy; an
    empty list is returned, as nothing was checked on a GPU. Raises CheckFailed if a check fails, LadderError for sizes that do not fit.
    """
    machine = preflight()
    sizes = [_fitting(stream, size) for size in sizes or stream.check_sizes(np.random.default_rng())]
    if machine.can_run:
        print(f"GPU    {machine.gpu}, driver {machine.driver}, torch {machine.torch}, DSL {machine.dsl}", flush=True)
        done = _check_sizes(stream, kernel, sizes, Gpu())
        print(f"error  {_errors(stream, done)}", flush=True)
        for size in times or stream.times:
            _print_times(stream, time_stream(stream, kernel, size, Gpu()), size)
        return done
    if machine.can_compile:
        _without_gpu(stream, kernel, host, sizes, machine)
    else:
        print(f"nothing was compiled and nothing was run: {lowering.NEEDS_DSL}")
    _print_recorded(stream)
    return []


def _fitting(stream: Stream, size) -> tuple[int, ...]:
    """The size, as a tuple. Raises LadderError if it is none of this stream."""
    if len(size) != len(stream.modes) or not all(isinstance(n, int) and n > 0 for n in size):
        raise LadderError(f"{','.join(map(str, size))!r} is not {','.join(stream.modes)}, whole numbers of 1 or more")
    return tuple(size)


def _check_sizes(stream: Stream, kernel, sizes, device) -> list[Check]:
    from ladder import binding

    compile_for = binding.compile_for_gpu if isinstance(device, Gpu) else binding.compile_for_host
    done = [check(stream, compile_for(kernel, stream.operands(size)), size, device=device) for size in sizes]
    demand(done)
    return done


def _errors(stream: Stream, done: list[Check]) -> str:
    sizes = ", ".join(each.name.split()[1] for each in done)
    if not stream.bound:
        return f"{sizes}: all right to the last bit"
    worst, peer = (max(errors) for errors in zip(*((each.error, each.cublas_error) for each in done), strict=True))
    return f"{sizes}: at most {worst:.1e}, torch {peer:.1e}; bound {stream.bound:.0e}; all exact on small integers"


def _print_times(stream: Stream, times: dict[str, Timing], size) -> None:
    """A short table: milliseconds, bytes that must be moved a second, and the speed as a part of the copy's and of torch's."""
    peer = times[f"torch {stream.peer}"]
    state = [f"{value:.0f} {unit}" for value, unit in ((peer.clock_mhz, "MHz"), (peer.watts, "W")) if value is not None]
    print(f"time   {by(size)}, {stream.bytes(size) / 1e9:.3g} GB to move; {', '.join(state) or 'clock unknown'}")
    print(f"       {'':<18} {'ms':>8} {'GB/s':>6} {'of copy':>8} {'of torch':>9} {'spread':>7}")
    for name, time in times.items():
        speed, by_peer = _gb_s(stream, name, time, size), f"{peer.ms / time.ms:.3f}x" if name != "copy" else ""
        by_copy = speed / _gb_s(stream, "copy", times["copy"], size)
        print(f"       {name:<18} {time.ms:>8.4f} {speed:>6.0f} {by_copy:>7.3f}x {by_peer:>9} {time.spread:>7.1%}", flush=True)


def _without_gpu(stream: Stream, kernel, host, sizes, machine: Preflight) -> None:
    fix = machine.fixes.get("GPU") or machine.fixes.get("torch")
    why = f"the {machine.gpu} is not used ({fix})" if machine.gpu else "no GPU here"
    compiled = lowering.compile_gemm_for(kernel, stream.layouts(*sizes[-1]), "sm_90a")
    print(f"{why}: compiled for sm_90a, NOT run, at {by(sizes[-1])}")
    moves = [f"{n} {opcode}" for opcode, n in sorted(compiled.opcodes.items()) if opcode.split(".")[0] in ("LDG", "STG", "LDS", "STS")]
    print(f"SASS   it moves data by {', '.join(moves)}; {compiled.registers} registers a thread")
    done = _check_sizes(stream, host, sizes, Host())
    print(f"CPU    the same work, by loops over blocks and threads on the CPU: right at {', '.join(each.name.split()[1] for each in done)}")


def _print_recorded(stream: Stream) -> None:
    """What a GPU last said about this rung, beside the copy of the same run."""
    rows = read_results("ladder.json", [])
    for row in (row for row in rows if row["rung"] == stream.rung):
        copy = next(each for each in rows if each["rung"] == "copy" and each["run"] == row["run"])
        size, ratio = by(row[mode] for mode in stream.modes.lower()), row["gb_s"] / copy["gb_s"]
        print(f"record {size}: {row['gb_s']:.0f} GB/s, {ratio:.3f}x of a copy, on {row['gpu']}, {row['date'][:10]}")


def main(stream: Stream, kernel, host) -> None:
    """The command line of such a rung: `--size 300,200` checks and times it at that size, if that is not too large, or too small."""
    modes = ",".join(stream.modes)
    what = f"Check and time {stream.rung} on the GPU; without one, compile it and run it as host code."
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--size", type=lambda text: _size(stream, text), metavar=modes, help="if not given: checked at random sizes")
    size = parser.parse_args().size
    moved = stream.bytes(size) if size else 0
    if moved > LARGEST:
        print(f"size   {by(size)} is too large to be checked element by element: checked at random sizes instead")
    if 0 < moved < SMALLEST:
        print(f"size   {by(size)} is too small to be timed: timed at {', '.join(map(by, stream.times))} where there is a GPU")
    try:
        through_sizes(stream, kernel, host, [size] if 0 < moved <= LARGEST else None, [size] if moved >= SMALLEST else None)
    except LadderError as error:
        sys.exit(f"{type(error).__name__}: {error}")


def _size(stream: Stream, text: str) -> tuple[int, ...]:
    try:
        return _fitting(stream, [int(part) for part in text.split(",")])
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {','.join(stream.modes)}, whole numbers of 1 or more") from None
    except LadderError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
