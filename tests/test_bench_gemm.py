"""benchmarks/gemm.py without a GPU: what it takes, what it shows and what not, what it sums up, and its picture.

Where it measures, torch on the CPU stands for the GPU, and functions for the kernels.
"""

import importlib.util
import json
import os
from contextlib import nullcontext
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import pytest

from ladder import record
from ladder.errors import CheckFailed, LadderError
from ladder.preflight import Preflight
from ladder.rungs import RUNGS
from ladder.timing import Timing

PATH = Path(__file__).parent.parent / "benchmarks/gemm.py"
spec = importlib.util.spec_from_file_location("bench_gemm", PATH)
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)


def times(spread=0.02, **ms):
    return {name: Timing(name, value, spread, 11, 1500.0, 690.0, 50.0) for name, value in ms.items()}


@pytest.mark.parametrize("arguments, words", [
    (["--shapes", "3,4"], "not three whole numbers"), (["--shapes", "3,4,0"], "not three whole numbers"),
    (["--rungs", "fast"], "no rung 'fast'"),
    (["--rounds", "0"], "--rounds 0 must be 1 or more"), (["--peers", "mkl"], "no peer 'mkl'"), (["--pairs", "TX"], "no pair 'TX'"),
])  # fmt: skip
def test_what_it_does_not_know_is_said(arguments, words, capsys):
    with pytest.raises(SystemExit):
        bench.parse(arguments)
    assert words in capsys.readouterr().err


def test_what_it_takes():
    options = bench.parse(["--rungs", "all", "--shapes", "8,16,24", "32,8,8", "--peers", "quack,triton", "--pairs", "NN,TN"])
    assert options.rungs == list(RUNGS) and options.shapes == [(8, 16, 24), (32, 8, 8)]
    assert options.peers == ["quack", "triton"] and options.pairs == ["NN", "TN"]
    assert bench.parse([]).shapes == bench.SHAPES and len(bench.SHAPES) == 7


def test_without_a_gpu_nothing_is_timed(monkeypatch, capsys):
    monkeypatch.setattr(bench, "preflight", lambda: Preflight("3.11", "Linux", None, None, "sm_90a", "4.8.1", ("cu13",), None, False))
    assert bench.main([]) == 2 and "nothing was timed" in capsys.readouterr().err


def test_means_are_geometric_and_each_over_what_it_was_timed_on(capsys):
    first, second = times(cublas=1.0, hopper_gemm=0.5, quack=0.8, wgmma=2.0), times(cublas=1.0, hopper_gemm=2.0, quack=4.0)
    bench.summarise({(1, 2, 3, "TN"): first, (4, 5, 6, "TN"): second}, ["quack"])
    ours, quack, wgmma = capsys.readouterr().out.splitlines()
    assert "hopper_gemm        over 2 shapes: 1.000x cuBLAS, lowest 0.500x; 0.894x the best rival of each, lowest 0.500x" == ours
    assert quack.startswith("quack") and "0.559x cuBLAS, lowest 0.250x" in quack, "a rival that loses is shown losing"
    assert wgmma.startswith("wgmma              over 1 shape: 0.500x cuBLAS")
    bench.summarise({(1, 2, 3, "TN"): first, (1, 2, 3, "NN"): second}, [])
    assert "hopper_gemm        over 1 shape and 2 operand pairs, 2 in all: 1.000x" in capsys.readouterr().out
    bench.summarise({}, [])


def test_a_line_says_speed_ratio_and_part_of_the_peak(capsys):
    problem = SimpleNamespace(mnk=(4096, 4096, 4096), pair="TN", dtype_name="float16")
    bench.show(problem, times(cublas=0.2, hopper_gemm=0.16), sms=132)
    head, fastest, other = capsys.readouterr().out.splitlines()[:3]
    assert head == "4096 x 4096 x 4096, TN, float16" and fastest.split()[0] == "hopper_gemm" and "1.250x cuBLAS" in fastest
    bench.show(problem, times(cublas=0.2), sms=None)
    assert "peak" not in capsys.readouterr().out, "only Hopper's is known"
    assert "1500 MHz 690 W" in fastest and "687.2 TFLOP/s" in other and "84.7% of peak" in other, "132 SMs x 4096 x 1.5 GHz are 811 TFLOP/s"


def test_the_picture_is_drawn(tmp_path):
    bench.draw(times(**dict.fromkeys(RUNGS, 0.2), cublas=0.2, quack=0.3), tmp_path / "ladder.png", SimpleNamespace(gpu="G"))
    assert (tmp_path / "ladder.png").stat().st_size > 10_000


def test_new_rows_take_the_place_of_those_of_the_same_rung_size_type_and_gpu():
    row = {"rung": "naive", "m": 1, "n": 2, "k": 3, "dtype": "float16", "gpu": "G", "ms": 1}
    others = [row | {"dtype": "bfloat16"}, row | {"gpu": "H"}, row | {"k": 4}, row | {"rung": "cublas"}]
    assert record.merged([row, *others], [row | {"ms": 2}]) == [*others, row | {"ms": 2}]
    ladder = [row | {"ladder": True}, row | {"ladder": True, "rung": "quack"}, row | {"ladder": True, "gpu": "H"}]
    assert record.merged([row, *ladder], [row | {"ms": 2}]) == [*ladder, row | {"ms": 2}]
    assert record.merged([row, *ladder], [row | {"ladder": True, "ms": 2}]) == [row, ladder[2], row | {"ladder": True, "ms": 2}]


# ---- the whole, on stand-ins ----


def right(torch, a, b, c):
    c.copy_(a.float() @ b.float().T)


def returned(torch, a, b, c):
    return (a.float() @ b.float().T).to(a.dtype)


def rough(torch, a, b, c):
    c.copy_((a.float() @ b.float().T) * 1.01)


def one_ulp(torch, a, b, c):
    right(torch, a, b, c)
    c[0, 0] = torch.nextafter(c[0, 0], torch.inf * c[0, 0])


def refuses(torch, a, b, c):
    raise LadderError("A holds BFloat16")


@pytest.fixture
def measured(monkeypatch, tmp_path, capsys):
    """run(rungs={name: function}, ...) -> (exit status, names in ladder.json, what was said)."""
    if importlib.util.find_spec("torch") is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no torch: what the benchmark shows is not tested (make test installs torch)")
    import torch

    def empty(self, layout):
        return torch.empty_strided(layout.shape, layout.stride, dtype=self.dtype)

    def timed(candidates, captured, spreads):
        launches = [make(i) for make in candidates.values() for i in range(3)]
        for run in (*launches, captured, *launches):
            run()
        return {name: times(spreads.get(name, 0.02), x=0.2)["x"] for name in candidates}

    def run(rungs, arguments=(), cublas=None, checks=lambda name, rng: None, peers=(), spreads=()):
        spreads = chain(spreads, repeat({}))

        def call(name, torch):
            return lambda a, b, c: (rungs | dict(peers))[name](torch, a, b, c)

        def rung_call(name, problem):
            if problem.pair != "TN":
                raise LadderError(f"it takes no {problem.pair}")
            return call(name, problem.torch)

        monkeypatch.setattr(bench, "RUNGS", {name: RUNGS["wgmma"] for name in rungs})
        monkeypatch.setattr(bench, "rung_call", rung_call)
        monkeypatch.setattr(bench, "peer_call", call)
        monkeypatch.setattr(bench, "check_rung", checks)
        monkeypatch.setattr(bench, "persistent_modules", lambda: {})
        monkeypatch.setattr(bench, "rung_code", lambda name: "c0de")
        if cublas:
            monkeypatch.setattr(torch, "mm", lambda a, b, out: cublas(torch, a, b.T, out))
        monkeypatch.setattr(bench, "timed", lambda made, *_, captured, **__: timed(made, captured, next(spreads)))
        size = [] if "--shapes" in arguments else ["--shapes", "40,24,16"]
        status = bench.main(["--rungs", "all", *size, *arguments])
        said, path = capsys.readouterr(), tmp_path / "results/ladder.json"
        return status, [row["rung"] for row in json.loads(path.read_text())] if path.exists() else [], said.out + said.err

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: SimpleNamespace(multi_processor_count=132))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(bench.Problem, "empty", empty)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    machine = Preflight("3.11", "Linux", "NVIDIA H200", "580", "sm_90a", "4.8.1", ("cu13",), "2.13", True)
    monkeypatch.setattr(bench, "preflight", lambda: machine)
    return run


def test_what_is_right_is_shown_and_recorded(measured):
    status, recorded, said = measured({"a": right, "b": returned})
    assert status == 0 and recorded == ["cublas", "a", "b"] and "a                  over 1 shape: 1.000x cuBLAS" in said


@pytest.mark.parametrize("wrong, words", [
    (rough, "relative error 1.0e-02"), (one_ulp, "not exact on small integers"), (lambda *a: None, "relative error nan"),
])  # fmt: skip
def test_what_is_wrong_is_neither_shown_nor_recorded(measured, wrong, words):
    status, recorded, said = measured({"a": right, "b": wrong})
    assert status == 1 and recorded == ["cublas", "a"] and f"b at (40, 24, 16) TN: {words}" in said and "over" in said
    assert not [line for line in said.splitlines() if line.startswith(("  b ", "b  "))]


def test_what_the_timed_launches_left_is_read(measured):
    calls = []

    def tires(torch, a, b, c):
        calls.append(1)
        return right(torch, a, b, c) if len(calls) < 8 else None  # twice before the timing, three times captured, then of three sets two

    status, recorded, said = measured({"a": right, "b": tires})
    assert status == 1 and recorded == ["cublas", "a"] and "b at (40, 24, 16) TN: after the timing, set 2: relative error nan" in said


def test_nothing_is_compared_with_a_cublas_that_is_wrong_or_without_a_rung(measured):
    status, recorded, said = measured({"a": refuses})
    assert status == 1 and not recorded and "no rung is left" in said
    status, recorded, said = measured({"a": right}, cublas=rough)
    assert status == 1 and not recorded and "cuBLAS itself is wrong: relative error 1.0e-02" in said


def test_a_rung_that_refuses_is_left_out_and_told(measured):
    status, recorded, said = measured({"a": right, "b": refuses})
    assert status == 0 and recorded == ["cublas", "a"] and "b is left out: A holds BFloat16" in said
    status, recorded, said = measured({"a": right}, ["--pairs", "NN"])
    assert status == 1 and recorded == ["cublas", "a"] and "a is left out: it takes no NN" in said and "no rung is left" in said


def test_a_shape_that_has_no_room_does_not_end_the_run(measured, tmp_path):
    def large(torch, a, b, c):
        if len(a) == 80:
            raise torch.cuda.OutOfMemoryError("no room")
        right(torch, a, b, c)

    status, recorded, said = measured({"a": large}, ["--shapes", "80,24,16", "40,24,16"])
    assert status == 1 and recorded == ["cublas", "a"] and "(80, 24, 16) TN: no room" in said and "a                  over 1 shape" in said


def test_a_persistent_rung_is_checked_on_few_sms_too(monkeypatch):
    told = []
    monkeypatch.setattr(bench, "told_of", lambda sms: told.append(sms) or nullcontext())
    monkeypatch.setattr(bench, "check_rung", lambda name, rng: None)
    assert bench.checked(["naive", "full_gemm"], "sm_90a") == (["naive", "full_gemm"], [])
    assert told == [None, None, 4], "those whose blocks get several tiles then"


def test_a_rung_is_not_compiled_for_operands_that_it_does_not_take():
    with pytest.raises(LadderError, match="it takes no NN"):
        bench.rung_call("wgmma", SimpleNamespace(pair="NN"))


@pytest.mark.parametrize("error", [CheckFailed("TN 8x8x8: it wrote 2 elements outside C"), LadderError("the kernel failed on the GPU")])
def test_a_rung_that_fails_its_check_at_ragged_sizes_is_not_timed(measured, error, monkeypatch):
    def checks(name, rng):
        if name == "b":
            raise error

    monkeypatch.setattr(bench, "rungs_for", lambda arch: ["a", "b"])
    status, recorded, said = measured({"a": right, "b": right}, checks=checks)
    assert status == 1 and recorded == ["cublas", "a"] and f"b: {error}" in said


def test_a_rival_that_is_missing_or_fails_does_not_end_the_run(measured, monkeypatch):
    def breaks(torch, a, b, c):
        raise RuntimeError("no tuning\nat all")

    monkeypatch.setattr(bench, "find_spec", lambda name: name != "quack" or None)
    status, recorded, said = measured(
        {"a": right}, ["--peers", "quack,triton,cublas_reduced"], peers={"triton": breaks, "cublas_reduced": right}
    )
    assert status == 1 and recorded == ["cublas", "a", "cublas_reduced"], "a rival's result need not be exact"
    assert (
        "quack is left out: it is not installed (pip install quack-kernels)" in said
        and "triton at (40, 24, 16) TN: RuntimeError: no tuning" in said
    )


def test_the_ladder_is_drawn_of_a_settled_run_only(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "SIZE", (40, 24, 16))
    drawn = []
    monkeypatch.setattr(bench, "draw", lambda *a: drawn.append(a))
    monkeypatch.setattr(bench, "rungs_for", lambda arch: ["a", "b"])
    assert measured({"a": right})[0] == 0 and not drawn, "without b it is no ladder"
    assert measured({"a": right, "b": right})[0] == 0 and len(drawn) == 1
    rows = json.loads((tmp_path / "results/ladder.json").read_text())
    assert [row["rung"] for row in rows if row.get("ladder")] == ["cublas", "a", "b"], "others of the same size stay beside them"
    restless = {"cublas": 0.2, "a": 0.2}
    status, recorded, said = measured({"a": right, "b": right}, spreads=[restless])
    assert status == 0 and len(drawn) == 2
    assert "measured again: the clock did not settle under cublas, its times spread over 20%; the clock did not settle under a," in said
    before = (tmp_path / "results/ladder.json").read_text()
    status, recorded, said = measured({"a": right, "b": right}, spreads=[restless, restless])
    assert status == 1 and len(drawn) == 2 and "is not recorded: the clock did not settle under cublas" in said
    assert (tmp_path / "results/ladder.json").read_text() == before


def test_a_rival_that_does_not_settle_is_left_out_and_told(measured):
    name = "cublas_reduced"
    status, recorded, said = measured({"a": right}, ["--peers", name], peers={name: right}, spreads=[{name: 0.2}, {name: 0.2}])
    assert status == 1 and recorded == ["cublas", "a"]
    assert f"{name} at (40, 24, 16) TN: the clock did not settle under {name}, its times spread over 20%" in said


def test_rungs_without_tensor_cores_are_timed_after_the_others_and_spoil_nothing_of_theirs(measured):
    status, recorded, said = measured({"naive": right, "a": right})
    assert status == 0 and recorded == ["cublas", "a", "naive"] and "wrong" not in said and "nan" not in said


def test_what_was_written_while_a_graph_was_made_does_not_count(measured):
    calls = []

    def escapes(torch, a, b, c):  # twice before the timing, then of three sets while they are captured, and never again
        calls.append(1)
        return right(torch, a, b, c) if len(calls) <= 5 else None

    status, recorded, said = measured({"a": right, "b": escapes})
    assert status == 1 and recorded == ["cublas", "a"] and "b at (40, 24, 16) TN: after the timing, set 0: relative error nan" in said


def test_rows_hold_what_is_needed_to_compare_them(measured, tmp_path):
    measured({"a": right}, ["--pairs", "TN"])
    rows = json.loads((tmp_path / "results/ladder.json").read_text())
    fields = "rung m n k dtype ms spread clock_mhz watts celsius rounds tflops gb_s cublas_ratio run gpu driver date".split()
    assert [list(row) for row in rows] == [fields, [*fields, "code"]] and len({row["run"] for row in rows}) == 1
    assert rows[1]["tflops"] == round(2 * 40 * 24 * 16 / 0.2 / 1e9, 3) and rows[1]["cublas_ratio"] == 1 and rows[1]["dtype"] == "float16"
