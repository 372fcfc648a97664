"""benchmarks/gemm.py without a GPU: what it takes, what it sums up, and its picture."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from ladder import record
from ladder.preflight import Preflight
from ladder.rungs import RUNGS

PATH = Path(__file__).parent.parent / "benchmarks/gemm.py"
spec = importlib.util.spec_from_file_location("bench_gemm", PATH)
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)


def times(**ms):
    return {name: SimpleNamespace(ms=value, spread=0.02, clock_mhz=1500.0, watts=690.0, celsius=50.0) for name, value in ms.items()}


@pytest.mark.parametrize("arguments, words", [
    (["--shapes", "3,4"], "not three whole numbers"), (["--shapes", "3,4,0"], "not three whole numbers"),
    (["--rungs", "fast"], "no rung 'fast'"),
    (["--peers", "mkl"], "no peer 'mkl'"), (["--pairs", "TX"], "no pair 'TX'"),
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


def test_means_over_shapes_are_geometric(capsys):
    results = [times(cublas=1.0, hopper_gemm=0.5, quack=0.8), times(cublas=1.0, hopper_gemm=2.0, quack=4.0)]
    bench.summarise(results, ["quack"])
    ours, quack = capsys.readouterr().out.splitlines()
    assert "hopper_gemm        over 2 shapes: 1.000x cuBLAS, lowest 0.500x; 0.894x the best rival of each shape, lowest 0.500x" == ours
    assert quack.startswith("quack") and "0.559x cuBLAS, lowest 0.250x" in quack, "a rival that loses is shown losing"


def test_a_line_says_speed_ratio_and_part_of_the_peak(capsys):
    problem = SimpleNamespace(mnk=(4096, 4096, 4096), pair="TN", dtype="torch.float16")
    bench.show(problem, times(cublas=0.2, hopper_gemm=0.16), sms=132)
    head, fastest, other = capsys.readouterr().out.splitlines()[:3]
    assert head == "4096 x 4096 x 4096, TN, float16" and fastest.split()[0] == "hopper_gemm" and "1.250x cuBLAS" in fastest
    assert "1500 MHz 690 W" in fastest and "687.2 TFLOP/s" in other and "84.7% of peak" in other, "132 SMs x 4096 x 1.5 GHz are 811 TFLOP/s"


def test_the_picture_is_drawn(tmp_path):
    bench.draw(times(**dict.fromkeys(RUNGS, 0.2), cublas=0.2, quack=0.3), tmp_path / "ladder.png", SimpleNamespace(gpu="G"))
    assert (tmp_path / "ladder.png").stat().st_size > 10_000


def test_new_rows_take_the_place_of_those_of_the_same_rung_size_type_and_gpu():
    row = {"rung": "naive", "m": 1, "n": 2, "k": 3, "dtype": "float16", "gpu": "G", "ms": 1}
    others = [row | {"dtype": "bfloat16"}, row | {"gpu": "H"}, row | {"k": 4}, row | {"rung": "cublas"}]
    assert record.merged([row, *others], [row | {"ms": 2}]) == [*others, row | {"ms": 2}]
