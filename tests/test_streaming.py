"""streaming.py judges, times and tells right. Where torch is, its measuring runs on a CPU in the GPU's place."""

import subprocess
import sys
import types

import numpy as np
import pytest
from streams import ROOT, rng, runs_alone

from ladder import binding, streaming
from ladder.devices import Gpu, Host
from ladder.elementwise import host_elementwise
from ladder.errors import CheckFailed, LadderError
from ladder.gemv import host_gemv
from ladder.preflight import Preflight
from ladder.streaming import ELEMENTWISE, GEMV, TRANSPOSE, check, measure_stream, through_sizes, time_stream
from ladder.timing import Timing
from ladder.transpose import host_transpose

H200 = Preflight("3.12.0", "Linux x86_64", "NVIDIA H200", "580.65.06", "sm_90a", "4.8.1", ("cu13",), "2.13.0", True)
HOSTS = ((ELEMENTWISE, host_elementwise, (5000,)), (GEMV, host_gemv, (40, 1000)), (TRANSPOSE, host_transpose, (72, 136)))


def by_numpy(stream, size, spoil=lambda result: result):
    """run(*buffers) that gives the right result, spoilt."""
    *inputs, result = stream.operands(size)

    def run(*buffers):
        read = (each.read(flat) for each, flat in zip(inputs, buffers, strict=False))
        wide = (x.astype(np.float64) if each.layout.rank == 2 else x[:, 0].astype(np.float64) for each, x in zip(inputs, read, strict=True))
        with np.errstate(over="ignore"):
            right = stream.truth(*wide).astype(np.float16).reshape(result.rows, result.cols)
        buffers[-1][result.table] = spoil(right)

    return run


@pytest.mark.parametrize("stream, host, size", HOSTS, ids=lambda each: getattr(each, "rung", None))
def test_what_is_right_passes(stream, host, size):
    found = check(stream, by_numpy(stream, size), size, device=Host())
    assert found.ok and not found.on_gpu and found.cublas_error is None and found.note == ""
    assert found.name.startswith(stream.rung) and (found.error == 0 or stream is GEMV)


def _nudged(result):
    wrong = result.copy()
    wrong.flat[-1] = np.nextafter(wrong.flat[-1], np.float16(1))  # another fp16 number, the nearest one
    return wrong


def _unwritten(result):
    wrong = result.copy()
    wrong.flat[len(wrong) // 2] = np.nan
    return wrong


@pytest.mark.parametrize("stream, host, size", HOSTS, ids=lambda each: getattr(each, "rung", None))
@pytest.mark.parametrize("spoil, words", [
    (_unwritten, "not written"), (_nudged, "1 of"), (np.zeros_like, "is 0 where"), (lambda right: -right, "differ"),
])  # fmt: skip
def test_what_is_wrong_is_found(stream, host, size, spoil, words):
    found = check(stream, by_numpy(stream, size, spoil), size, device=Host(), seed=7)
    assert not found.ok and words in found.note and "(seed 7)" in found.note, found
    assert f"{stream.names[-1]}(" in found.note


@pytest.mark.parametrize("stream, host, size", HOSTS, ids=lambda each: getattr(each, "rung", None))
def test_what_strays_is_found(stream, host, size):
    right, operands = by_numpy(stream, size), stream.operands(size)

    def beyond(*buffers):
        right(*buffers)
        buffers[-1][operands[-1].table.max() + 1] = 0

    def before(*buffers):
        right(*buffers)
        buffers[0][operands[0].base] = np.nan

    for run, words in ((beyond, f"1 element outside {stream.names[-1]}"), (before, "changed 1 element of its inputs")):
        found = check(stream, run, size, device=Host())
        assert not found.ok and words in found.note and found.strays == 2, "in each of two trials"


def test_sums_in_fp16_are_not_good_enough():
    def run(a, x, y):
        A, X, Y = GEMV.operands((40, 1000))
        products = A.read(a) * X.read(x)[:, 0]
        total = products[:, 0]
        for k in range(1, 1000):
            total = total + products[:, k]
        y[Y.table[:, 0]] = total

    found = check(GEMV, run, (40, 1000), device=Host())
    assert not found.ok and found.exact and "the relative error" in found.note


def test_elementwise_is_checked_with_numbers_of_all_magnitudes():
    values = streaming._any_finite(rng, (10_000, 1)).astype(np.float64)
    assert np.isfinite(values).all() and np.abs(values).max() > 3e4 and 0 < np.abs(values[values != 0]).min() < 6e-5
    by_fp32 = streaming._rounded((values + values[::-1]).astype(np.float32))
    assert np.array_equal(by_fp32, streaming._rounded(values + values[::-1])), "a sum by way of fp32 is the same"


@pytest.mark.parametrize("stream", [ELEMENTWISE, GEMV, TRANSPOSE], ids=lambda each: each.rung)
def test_the_sizes_that_are_checked(stream):
    smallest, *drawn = stream.check_sizes(rng)
    assert smallest == stream.steps and len(drawn) == streaming.DRAWN
    for size in drawn:
        assert all(n % step == 0 and 0 < n <= most for n, step, most in zip(size, stream.steps, stream.most, strict=True))
        assert all(type(n) is int for n in size)
    assert len({stream.check_sizes(rng)[1] for _ in range(5)}) > 1


def test_the_bytes_that_must_be_moved():
    assert ELEMENTWISE.bytes((1000,)) == 6000 and GEMV.bytes((10, 16)) == 2 * (160 + 16 + 10) and TRANSPOSE.bytes((16, 8)) == 2 * 2 * 128
    assert GEMV.sizes_in_row((10, 16)) == {"m": 10, "n": None, "k": 16} and ELEMENTWISE.sizes_in_row((7,)) == {"m": None, "n": 7, "k": None}


# --- without a GPU


@pytest.mark.parametrize("size, words, checked, timed", [
    ("100000003", "too large to be checked element by element", None, [(100000003,)]),
    ("5003", "too small to be timed: timed at 268435456", [(5003,)], None), ("1000000", "", [(1000000,)], [(1000000,)]),
])  # fmt: skip
def test_a_size_that_is_not_checked_or_not_timed_is_told(size, words, checked, timed, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(streaming, "through_sizes", lambda stream, kernel, host, sizes, times: asked.append((sizes, times)))
    monkeypatch.setattr("sys.argv", ["elementwise", "--size", size])
    streaming.main(ELEMENTWISE, None, None)
    said = capsys.readouterr().out
    assert (words in said if words else not said) and asked == [(checked, timed)]


def test_importing_it_needs_neither_torch_nor_the_dsl():
    code = "import sys; from ladder import streaming; assert not {'torch', 'cutlass'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_measuring_without_a_gpu_is_an_error_in_words():
    with pytest.raises(LadderError, match="measured on a GPU"):
        measure_stream(ELEMENTWISE, None, (64,))


def test_without_a_size_it_is_checked_at_random_ones():
    done = runs_alone("transpose")
    assert done.returncode == 0 and "right at 8x8, " in done.stdout, done.stderr


def test_a_wrong_kernel_is_an_error_without_a_gpu_too(monkeypatch):
    monkeypatch.setattr(binding, "compile_for_host", lambda kernel, operands: lambda *buffers: None)
    from ladder.elementwise import elementwise

    with pytest.raises(CheckFailed, match=r"elementwise 100: Z\(0\) is not written .* 100 of 100 differ"):
        through_sizes(ELEMENTWISE, elementwise, host_elementwise, [(100,)])


def test_the_record_is_told_beside_the_copy_of_its_run(monkeypatch, capsys):
    row = {"m": 64, "n": None, "k": 8, "gpu": "G", "date": "2026-01-02T00:00"}
    timed = ("gemv", 0.5, "a"), ("copy", 0.4, "a"), ("copy", 9, "b")
    rows = [row | {"rung": name, "ms": ms, "gb_s": 1500.2 / ms, "run": run} for name, ms, run in timed]
    monkeypatch.setattr(streaming, "read_results", lambda *_: rows)
    streaming._print_recorded(GEMV)
    assert capsys.readouterr().out == "record 64x8: 3000 GB/s, 0.800x of a copy, on G, 2026-01-02\n"


# --- measuring, with a CPU in the GPU's place


@pytest.fixture
def stand_in(monkeypatch):
    """torch on the CPU as the GPU, the host's loops as the kernel, and each candidate called once as the timing."""
    torch = pytest.importorskip("torch", reason="no torch: how it is measured is not tested (make test installs torch)")

    def on_cpu(make):
        return lambda *args, device, **options: make(*args, **options)

    same = {name: getattr(torch, name) for name in ("float16", "nan", "as_strided", "empty_like", "add", "mv")}
    without_device = types.SimpleNamespace(randn=on_cpu(torch.randn), full=on_cpu(torch.full), **same)

    class Stand(Gpu):
        def __init__(self):
            self.torch, self.name = without_device, "a CPU"

        def put(self, flat):
            return torch.from_numpy(flat.copy())

        def get(self, buffer):
            return buffer.numpy()

        def sync(self):
            pass

    def compile_for_gpu(kernel, operands):
        size = [each.layout for each in operands]
        arrays = [types.SimpleNamespace(layout=layout, base=each.base, blank=lambda layout=layout: np.zeros(layout.cosize, np.float16))
                  for layout, each in zip(size, operands, strict=True)]  # fmt: skip
        run = compile_for_host(kernel, arrays)
        return lambda *buffers: run(*(buffer.numpy() for buffer in buffers))

    def timed(candidates, set_bytes, captured):
        calls = [make(i) for make in candidates.values() for i in range(2)]
        for run in (*calls, captured, *calls):
            run()
        return {name: Timing(name, ms, 0.01, 11, 1980.0, None, 40.0) for name, ms in zip(candidates, (0.5, 2.0, 0.25), strict=True)}

    compile_for_host = binding.compile_for_host
    monkeypatch.setattr(binding, "compile_for_gpu", compile_for_gpu)
    monkeypatch.setattr(streaming, "Gpu", Stand)
    monkeypatch.setattr(streaming, "timed", timed)
    monkeypatch.setattr(streaming, "COPIED", 4096)
    monkeypatch.setattr(streaming, "preflight", lambda: H200)
    return Stand


@pytest.mark.parametrize("stream, host, size", HOSTS, ids=lambda each: getattr(each, "rung", None))
def test_rows_of_the_record(stand_in, stream, host, size):
    rows = measure_stream(stream, host, size)
    assert [row["rung"] for row in rows] == [stream.rung, f"torch {stream.peer}", "copy"]
    assert len({row["run"] for row in rows}) == 1 and all(row["date"] for row in rows)
    for row, ms in zip(rows, (0.5, 2.0, 0.25), strict=True):
        assert {mode: row[mode] for mode in "mnk"} == stream.sizes_in_row(size)
        moved = 2 * 4096 if row["rung"] == "copy" else stream.bytes(size)
        assert row["gb_s"] == pytest.approx(moved / ms / 1e6, abs=0.06) and row["ms"] == ms and row["tflops"] is None
        assert (row["clock_mhz"], row["watts"], row["celsius"], row["rounds"], row["gpu"]) == (1980.0, None, 40.0, 11, "NVIDIA H200")
    assert [row["cublas_ratio"] for row in rows] == ([4.0, 1.0, None] if stream is GEMV else [None] * 3)


@pytest.mark.parametrize("stream, host, size", HOSTS, ids=lambda each: getattr(each, "rung", None))
def test_it_tells_errors_and_times(stand_in, stream, host, size, capsys):
    done = through_sizes(stream, host, host, [size], [size])
    assert len(done) == 1 and done[0].ok and (done[0].cublas_error is not None)
    said = capsys.readouterr().out
    assert "GPU    NVIDIA H200, driver 580.65.06" in said and "1980 MHz" in said
    assert ("bound 1e-03" if stream is GEMV else "all right to the last bit") in said
    row = next(line.split() for line in said.splitlines() if line.strip().startswith(f"{stream.rung} "))
    by_copy = stream.bytes(size) / 0.5 / (8192 / 0.25)
    assert row[1] == "0.5000" and row[3:] == [f"{by_copy:.3f}x", "4.000x", "1.0%"]


@pytest.mark.parametrize("stream, host, size", HOSTS, ids=lambda each: getattr(each, "rung", None))
def test_a_kernel_that_is_wrong_is_not_timed(stand_in, stream, host, size, monkeypatch):
    monkeypatch.setattr(binding, "compile_for_gpu", lambda kernel, operands: lambda *buffers: None)
    with pytest.raises(CheckFailed, match="the error nan is above|the error 1.0e"):
        time_stream(stream, host, size, stand_in())
