"""The harness and the lowering, without a GPU. tests/test_record.py has `make gpu`, tests/test_timing.py the timing loop.

Not covered here, as it takes a GPU: that a launch reaches the GPU, cuBLAS's own numbers, real times. The judging is tested with
numpy kernels that are wrong in the ways kernels are; the GPU branch of the chapter's call with a stand-in for the GPU.
`make gpu` runs the rest.
"""

import json
import os
import subprocess
import sys
import types
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest

from ladder import checks, devices, harness, lowering, record, timing
from ladder.errors import CheckFailed, LadderError
from ladder.operands import GUARD, Operand, make_operands, operand_pairs, padded_output, row_major_output
from ladder.preflight import Preflight
from layoutviz import Layout

MNK = (20, 14, 34)
H200 = Preflight("3.12.0", "Linux x86_64", "NVIDIA H200", "580.1", "sm_90a", "4.8.1", ("cu13",), "2.11.0", True)
NO_GPU = Preflight("3.12.0", "Linux x86_64", None, None, "sm_90a", "4.8.1", ("cu13",), None, False)
NO_DSL = Preflight("3.12.0", "Darwin arm64", None, None, "sm_90a", None, (), None, False)


def python(code):
    """Run code in a Python of its own."""
    return subprocess.run([sys.executable, "-c", code], env=record.environment(record.ROOT), capture_output=True, text=True, timeout=120)


# ---- the judge, on kernels that are wrong ----


def kernel(product, operands):
    """A numpy "kernel": product(a, b) -> C, or None if it writes the flat buffers itself."""

    def run(a, b, c):
        A, B, C = operands
        result = product(A.read(a).astype(np.float32), B.read(b).astype(np.float32), c, C)
        if result is not None:
            c[C.table] = result.astype(np.float16)

    return run


def judge(product, pair="TN", C=None, mnk=MNK):
    A, B = operand_pairs(*mnk)[pair]
    return harness.against_cublas("test", kernel(product, make_operands(A, B, C)), A, B, C, device=devices.Host())


def right(a, b, c, C):
    return a @ b.T


def write_outside(a, b, c, C):
    c[C.table] = (a @ b.T).astype(np.float16)
    c[C.table.max() + 1] = 0


def write_into_a_hole(a, b, c, C):
    c[C.table] = (a @ b.T).astype(np.float16)
    c[C.base + C.rows] = np.nan  # what lies below the first column; even another NaN is seen


def miss_the_last_row(a, b, c, C):
    c[C.table[:-1]] = (a @ b.T)[:-1].astype(np.float16)


WRONG = {
    "zeros": (lambda a, b, c, C: 0 * (a @ b.T), "C("),
    "nothing": (lambda a, b, c, C: None, "C(0,0) is not written"),
    "ones": (lambda a, b, c, C: np.ones((len(a), len(b))), "C("),
    "copy of its input": (lambda a, b, c, C: np.resize(a, (len(a), len(b))), "C("),
    "transposed": (lambda a, b, c, C: (a @ b.T).T.reshape(len(a), len(b)), "C("),
    "off by one row": (lambda a, b, c, C: np.roll(a @ b.T, 1, axis=0), "C("),
    "last k dropped": (lambda a, b, c, C: a[:, :-1] @ b[:, :-1].T, "C("),
    "fp16 sums": (lambda a, b, c, C: _half_sums(a, b), "relative error"),
    "last row missed": (miss_the_last_row, f"C({MNK[0] - 1},0) is not written"),
    "past the end": (write_outside, "wrote 1 element outside C"),
    "into a hole": (write_into_a_hole, "wrote 1 element outside C"),
}


def _half_sums(a, b):
    sums = np.zeros((len(a), len(b)), np.float16)
    for k in range(a.shape[1]):
        sums += (a[:, k, None] * b[None, :, k]).astype(np.float16)
    return sums


@pytest.mark.parametrize("pair", ["NN", "NT", "TN", "TT"])
def test_a_right_kernel_passes(pair):
    check = judge(right, pair)
    assert check.ok and check.exact and check.strays == 0 and check.note == ""
    assert 5e-5 < check.error < 4e-4, "what rounding to fp16 gives; 0 would mean that nothing was compared"


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kernel_fails_and_is_told_where(name):
    product, words = WRONG[name]
    check = judge(product, mnk=(20, 14, 1024) if name == "fp16 sums" else MNK)
    assert not check.ok
    assert words in check.note and "seed" in check.note


def test_a_kernel_that_changes_its_inputs_fails():
    A, B = operand_pairs(*MNK)["NT"]
    operands = make_operands(A, B)

    def run(a, b, c):
        c[operands[2].table] = (operands[0].read(a).astype(np.float32) @ operands[1].read(b).astype(np.float32).T).astype(np.float16)
        a[operands[0].base] += 1

    check = harness.against_cublas("test", run, A, B, device=devices.Host())
    assert not check.ok and "changed 1 element of its inputs" in check.note


def test_reading_outside_an_operand_shows():
    A, B = Layout((6, 5), (8, 1)), Layout((7, 5), (1, 7))
    operands = make_operands(A, B)

    def reads_a_hole(a, b, c):
        wide = a[operands[0].base + np.arange(6)[:, None] * 8 + np.arange(6)].astype(np.float32)  # one k too many
        C = operands[2]
        c[C.table] = (wide.sum(axis=1)[:, None] * np.ones(7)).astype(np.float16)

    check = harness.against_cublas("test", reads_a_hole, A, B, device=devices.Host())
    assert np.isnan(check.error) and not check.ok


def test_inputs_are_new_each_time():
    seen = []
    for _ in range(2):
        judge(lambda a, b, c, C: seen.append(a.sum()) or a @ b.T)
    assert len(set(seen)) == 4


@pytest.mark.parametrize(
    "A, B, C, words",
    [
        (Layout((6, 5)), Layout((7, 4)), None, "B has layout (7,4):(1,7), of size 7x4; this GEMM needs 7x5"),
        (Layout((6, 5)), Layout((7, 5)), Layout((7, 6)), "C has layout (7,6):(1,7), of size 7x6; this GEMM needs 6x7"),
        (Layout((6, 5)), Layout((7, 5)), Layout((6, 7), (1, 1)), "two coordinates share an element"),
        (Layout(30), Layout((7, 5)), None, "A has layout 30:1 with 1 top-level modes; a matrix has two"),
        (Layout((6, 5), (1, 2**29)), Layout((7, 5)), None, "2^31"),
    ],
)
def test_layouts_that_do_not_fit(A, B, C, words):
    with pytest.raises(LadderError) as error:
        make_operands(A, B, C)
    assert words in str(error.value)


def test_operand_places_by_the_layouts_table():
    for layout in (Layout((3, 4), (4, 1)), Layout(((3, 1), (2, 2)), ((-7, 0), (1, 30)))):
        operand = Operand("X", layout, 3, 4)
        values = np.arange(12).reshape(3, 4)
        flat = operand.place(values)
        for m in range(3):
            for n in range(4):
                assert flat[operand.base + layout(m, n)] == values[m, n]
        assert np.isnan(flat).sum() == len(flat) - 12 and operand.base % 8 == 0
        assert np.isnan(flat[:GUARD]).all() and np.isnan(flat[-GUARD:]).all()
        result = operand.blank()
        result[operand.table] = values
        assert operand.strays(result) == 0, "what belongs to the layout may be written"


def test_a_kernel_that_adds_nans_beyond_the_edge_strays():
    """A CPU's sum of two NaNs is the first: what is written around a result must not be what stood there."""
    operand = Operand("X", Layout((3, 4)), 3, 4)
    a, result = operand.place(np.ones((3, 4))), operand.blank()
    with np.errstate(invalid="ignore"):
        result[:] = a + a
    assert operand.strays(result) == len(result) - 12


def test_pairs_are_what_blas_calls_them():
    """Checked against BLAS's own definition: op(A) and op(B) of column-major matrices."""
    M, N, K = MNK
    stored = np.arange(M * K)
    for pair, (A, B) in operand_pairs(M, N, K).items():
        a = stored.reshape(K, M).T if pair[0] == "N" else stored.reshape(M, K)  # M x K column-major; or K x M, transposed
        b = stored[: N * K].reshape(N, K).T if pair[1] == "N" else stored[: N * K].reshape(K, N)  # op(B) is K x N
        assert np.array_equal(A.offsets().reshape(K, M).T, a)
        assert np.array_equal(B.offsets().reshape(K, N).T, b.T)


# ---- checks as records ----


def test_checks_are_kept_and_written(tmp_path, monkeypatch):
    monkeypatch.setenv("LADDER_CHECKS", str(tmp_path / "checks.jsonl"))
    check, bad = judge(right), judge(WRONG["nothing"][0])
    assert harness.checks[-2:] == [check, bad]
    first, second = [json.loads(line) for line in (tmp_path / "checks.jsonl").read_text().splitlines()]
    assert first["ok"] and first["error"] == check.error and not first["on_gpu"]
    assert not second["ok"] and second["error"] is None, "nan is not JSON"


# ---- lowering ----


def test_lowering_leaves_nothing_behind(tmp_path, monkeypatch):
    from ladder.naive import naive_gemm

    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    A, B = operand_pairs(*MNK)["TN"]
    lowering.compile_gemm_for(naive_gemm, (A, B, padded_output(*MNK[:2])))
    assert list(tmp_path.iterdir()) == [] and dict(os.environ) == before


def test_lowering_a_function_of_a_notebook_cell_and_of_fake_tensors():
    """IPython's own run_cell, so that the source is found as in a notebook; two archs in one process."""
    cell = """
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_stream
from ladder import lowering
from layoutviz import Layout
@cute.kernel
def twice(x: cute.Tensor):
    i = cute.arch.thread_idx()[0]
    x[i] = x[i] + x[i]
@cute.jit
def run(x: cute.Tensor):
    twice(x).launch(grid=(1, 1, 1), block=(32, 1, 1))
tensor = lowering.fake_tensor(Layout(32))
out = {arch: lowering.compile_for(run, tensor, arch=arch) for arch in ("sm_90a", "sm_80")}
"""
    code = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell({cell!r}).raise_error()
out = shell.user_ns["out"]
assert out["sm_80"].opcodes["HADD2"] and out["sm_90a"].opcodes["HADD2"], out["sm_80"].opcodes
assert ".target sm_90a" in out["sm_90a"].ptx and ".target sm_80" in out["sm_80"].ptx
"""
    done = python(code)
    assert done.returncode == 0, done.stdout + done.stderr


def test_lowering_says_what_is_wrong(monkeypatch):
    from ladder.naive import host_gemm

    tensors = [lowering.fake_tensor(layout) for layout in (Layout((4, 3)), Layout((5, 3)), Layout((4, 5)))]
    for call, words in (
        (lambda: lowering.compile_for(None, arch="sm_90"), "the a: sm_90a"),
        (lambda: lowering.compile_for(None, arch="hopper"), "sm_80"),
        (lambda: lowering.fake_tensor(Layout(((2, 2), 3))), "nested"),
        (lambda: lowering.compile_for(host_gemm, *tensors), "host_gemm launches no kernel"),
    ):
        with pytest.raises(LadderError) as error:
            call()
        assert words in str(error.value)
    monkeypatch.setattr(lowering, "has_dsl", lambda: False)
    with pytest.raises(LadderError, match="nvidia-cutlass-dsl"):
        lowering.compile_for(host_gemm)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LadderError, match="nvidia-cuda-nvdisasm"):
        lowering.Compiled("sm_80", "", b"").sass  # noqa: B018


def test_spills_are_counted():
    compiled = lowering.Compiled("sm_80", "", b"")
    compiled.__dict__["opcodes"] = Counter({"STL.64": 2, "LDL": 1, "LDG.E": 9, "STLX": 1})
    assert compiled.spills == 3


# ---- the chapter's call ----


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    return tmp_path


def test_without_a_gpu_nothing_looks_like_a_pass(results, monkeypatch, capsys):
    from ladder.naive import naive_gemm

    monkeypatch.setattr(harness, "preflight", lambda: NO_GPU)
    before = len(harness.checks)
    assert harness.gemm_through_layouts(naive_gemm, chapter="01") == []
    out = capsys.readouterr().out
    assert out.startswith("no GPU here: compiled for sm_90a, NOT run")
    assert "LDG.E.U16" in out and "200 slots on, 400 bytes, in hexadecimal 0x190" in out
    assert "NN, NT, TN, TT equal numpy's products" in out and "none yet" in out
    assert all(check.where == "CPU" and not check.on_gpu for check in harness.checks[before:])
    assert "GPU    " not in out and "cuBLAS" not in out


def test_the_recorded_run_is_shown_with_its_date(results, monkeypatch, capsys):
    check = {"name": "NN 200x136x72", "error": 2e-4, "cublas_error": 3e-4, "bound": 1e-3}
    checks = [check, check | {"name": "TT 200x136x72", "error": None}, check | {"name": "NN 9x8x7"}]
    times = [{"pair": pair, "size": "9x8x7", "ms": ms, "cublas_ratio": ratio} for pair, ms, ratio in (("NN", 0.25, 0.5), ("TT", 1.5, 0.1))]
    entry = {"gpu": "NVIDIA H200", "date": "2026-11-30T10:00:00+00:00", "checks": checks, "times": times}
    for ok, word in ((True, "passed"), (False, "FAILED")):
        (results / "gpu.json").write_text(json.dumps({"notebooks/01_paper_layouts.ipynb": entry | {"ok": ok}}))
        harness._print_recorded("01")
        out = capsys.readouterr().out
        assert word in out and "NVIDIA H200, 2026-11-30" in out
        assert "       200x136x72: NN 2.0e-04, TT nan; cuBLAS at most 3.0e-04\n       9x8x7: NN 2.0e-04; cuBLAS" in out
        assert "time 9x8x7: NN 0.25 ms (0.500x), TT 1.5 ms (0.100x)\n" in out


def test_without_the_dsl_one_line(results, monkeypatch, capsys):
    monkeypatch.setattr(harness, "preflight", lambda: NO_DSL)
    assert harness.gemm_through_layouts(None) == []
    out = capsys.readouterr().out
    assert out.count("\n") == 1 and "nothing was run" in out and "nvidia-cutlass-dsl" in out


def test_host_code_that_is_wrong_fails_the_cell(results, monkeypatch):
    from ladder import binding
    from ladder.naive import naive_gemm

    monkeypatch.setattr(harness, "preflight", lambda: NO_GPU)

    monkeypatch.setattr(binding, "compile_for_host", lambda gemm, operands: kernel(WRONG["zeros"][0], operands))
    with pytest.raises(CheckFailed, match=r"NN 12x10x7: C\("):
        harness.gemm_through_layouts(naive_gemm)


@pytest.mark.parametrize(
    "pairs, words",
    [
        ({"TN": None}, "must be a function of M, N, K"),
        (lambda M, N, K: [], "must return a dict"),
        (lambda M, N, K: {"TN": Layout((M, K))}, "must return a dict"),
        (lambda M, N, K: {"TN": (Layout((M, K)), Layout((K, N)))}, "TN: B has layout (72,136):(1,72), of size 72x136; it must be (N,K)"),
        (lambda M, N, K: {"TN": (Layout((M, K)), Layout((K, N)))}, "CuTe keeps B as (N,K), not (K,N)"),
        (lambda M, N, K: {"TN": (Layout((200, 72)), Layout((N, K)))}, "of size 200x72; it must be (M,K) = 12x7"),
        (lambda M, N, K: {"TN": ("(8,4)", Layout((N, K)))}, "'(8,4)', which is no Layout"),
    ],
)
def test_layouts_of_the_reader_that_do_not_fit(monkeypatch, pairs, words):
    monkeypatch.setattr(harness, "preflight", lambda: NO_GPU)
    with pytest.raises(LadderError) as error:
        harness.gemm_through_layouts(None, pairs)
    assert words in str(error.value)
    assert "harness.py" not in "\n".join(error.value._render_traceback_())


class StandInGpu(devices.Host):
    """A device that says it is a GPU and has numpy for its cuBLAS."""

    name = "stand-in GPU"

    def cublas(self, a, b, operands):
        A, B, _ = operands
        return (A.read(a).astype(np.float32) @ B.read(b).astype(np.float32).T).astype(np.float16)


def stand_in(monkeypatch, product=right):
    """Let the GPU branch run on the CPU: numpy for the kernel and for cuBLAS, invented times."""
    from ladder import binding

    monkeypatch.setattr(harness, "preflight", lambda: H200)
    monkeypatch.setattr(harness, "Gpu", StandInGpu)
    monkeypatch.setattr(binding, "compile_for_gpu", lambda gemm, operands: kernel(product, operands))

    def invented(names, set_bytes):
        return {n: timing.Timing(n, 1.0 if "cublas" in n else 8.0, 0.01, 11, 1500.0, 600.0, 50.0) for n in names}

    monkeypatch.setattr(harness, "timed", invented)


def test_on_a_gpu_what_it_prints(monkeypatch, capsys):
    stand_in(monkeypatch)
    done = harness.gemm_through_layouts(None, mnk=(20, 14, 34), time_mnk=(40, 24, 10), look="look here")
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == ["GPU", "pairs", "NT:", "TN:", "TT:", "error", "error", "time", "in", "look"]
    assert len(done) == 8 and all(check.ok and check.on_gpu and check.cublas_error for check in done)
    assert "NVIDIA H200" in out and "bound 1e-03" in out and "all exact" in out and "NN 8 ms (0.125x)" in out


def test_on_a_gpu_a_wrong_kernel_fails_the_cell_and_is_not_timed(monkeypatch, capsys):
    stand_in(monkeypatch, WRONG["last k dropped"][0])
    with pytest.raises(CheckFailed, match="NN 20x14x34: C"):
        harness.gemm_through_layouts(None, mnk=(20, 14, 34), time_mnk=(40, 24, 10))
    out = capsys.readouterr().out
    assert "NOT exact" in out and "time" not in out


def test_a_kernel_may_take_fewer_pairs_and_write_c_row_by_row(monkeypatch, capsys):
    stand_in(monkeypatch)
    asked = []

    def output(M, N):
        asked.append((M, N))
        return row_major_output(M, N)

    options = {"pairs": harness.k_contiguous, "output": output}
    done = harness.gemm_through_layouts(None, mnk=(20, 14, 34), time_mnk=(40, 24, 10), **options)
    assert [check.name for check in done] == ["TN 20x14x34", "TN 40x24x10"] and all(check.ok for check in done)
    assert "TN 8 ms (0.125x)" in capsys.readouterr().out
    assert asked == [(20, 14), (40, 24), (40, 24)], "checked at both sizes, timed at one"


@pytest.mark.parametrize("pairs, names", [(harness.k_contiguous, ["TN"]), (operand_pairs, ["NN", "NT", "TN", "TT"])])
def test_a_rung_is_checked_through_its_pairs_at_ragged_sizes(monkeypatch, pairs, names):
    stand_in(monkeypatch)
    monkeypatch.setattr(harness, "RUNGS", {"a": types.SimpleNamespace(gemm=None, pairs=pairs, output=row_major_output)})
    done = harness.check_rung("a", np.random.default_rng(), sizes=1)
    assert [check.name.split()[0] for check in done] == 2 * names and all(check.ok for check in done)
    first, second = (tuple(map(int, done[i].name.split()[1].split("x"))) for i in (0, -1))
    assert first == (8, 8, 8) and all(8 <= n < most and n % 8 == 0 for n, most in zip(second, (1600, 1600, 640), strict=True))
    stand_in(monkeypatch, WRONG["last k dropped"][0])
    with pytest.raises(CheckFailed, match="8x8x8: C"):
        harness.check_rung("a", np.random.default_rng(), sizes=1)
    monkeypatch.setattr(harness, "preflight", lambda: NO_GPU)
    with pytest.raises(LadderError, match="checked on a GPU"):
        harness.check_rung("a", np.random.default_rng())


@pytest.mark.parametrize("M, N", [(3, 8), (200, 136), (5, 64), (4096, 4096)])
def test_rows_of_c_start_on_a_line_and_have_a_hole_after_them(M, N):
    C = row_major_output(M, N)
    assert C.shape == (M, N) and C.stride[1] == 1 and C.stride[0] % 64 == 0 and 8 <= C.stride[0] - N < 72


# ---- the GPU device, on torch's CPU ----


def test_cublas_gets_the_operands_as_they_lie(monkeypatch):
    """Real torch on the CPU: torch.mm through the same views, C written in place. Not covered: cuBLAS itself."""
    if find_spec("torch") is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no torch: how cuBLAS gets its operands is not tested (make test installs torch)")
    import torch

    device = devices.Gpu.__new__(devices.Gpu)
    device.torch, device.put = torch, lambda flat: torch.from_numpy(flat.copy())
    matmul, mm, seen = torch.backends.cuda.matmul, torch.mm, []
    before = matmul.allow_fp16_reduced_precision_reduction

    def watched(*arguments, **named):
        seen.append(matmul.allow_fp16_reduced_precision_reduction)
        return mm(*arguments, **named)

    nested = {"nested": (Layout(((4, 5), 34), ((1, 136), 4)), Layout((14, 34), (1, 20)))}
    for name, layouts in (operand_pairs(*MNK) | nested).items():
        A, B, C = operands = make_operands(*layouts)
        rng = np.random.default_rng()
        a, b = (o.place(rng.standard_normal((o.rows, o.cols)).astype(np.float16)) for o in (A, B))
        want = A.read(a).astype(np.float32) @ B.read(b).astype(np.float32).T
        buffers = [device.put(flat) for flat in (a, b, C.blank())]
        call = device.cublas_call(*buffers, operands)
        with monkeypatch.context() as patch:
            patch.setattr(torch, "mm", watched)
            call()
        assert seen.pop() is False and matmul.allow_fp16_reduced_precision_reduction == before, "sums in fp32, and only here"
        c = device.get(buffers[2])
        assert checks.relative_error(C.read(c), want) < 1e-3 and C.strays(c) == 0, name
        assert np.array_equal(device.cublas(*buffers[:2], operands), C.read(c))
        if name != "nested":
            assert device._view(buffers[0], A).data_ptr() == buffers[0].data_ptr() + 2 * A.base, "a view, not a copy"


@pytest.mark.parametrize("pairs", [lambda M, N: {}, lambda M, N, K: 1 + "x", lambda M, N, K: {1: (Layout((M, K)), Layout((N, K)))}])
def test_pairs_that_fail_are_told_in_words(pairs):
    with pytest.raises(LadderError, match=r"pairs\(M, N, K\)"):
        harness.gemm_through_layouts(None, pairs)


def test_importing_the_harness_is_light():
    code = "import sys, ladder.harness; assert not {'torch', 'cutlass', 'matplotlib', 'nbformat'} & set(sys.modules)"
    assert python(code).returncode == 0
