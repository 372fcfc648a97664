"""benchmarks/hopper_configs.py without a GPU: what it times, what it shows, how well times follow the rule."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ladder.hopper_gemm import Config, choose, configs
from ladder.persistent import H200_SMS
from ladder.preflight import Preflight
from ladder.timing import Timing

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("bench_hopper_configs", BENCHMARKS / "hopper_configs.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    sys.modules.pop("gemm", None)


def test_it_times_what_the_rule_thinks_cheap():
    near = bench.candidates((4096, 4096, 4096), 132, 0.05)
    assert min(near.values()) == 1 == near[choose(4096, 4096, 4096)] and max(near.values()) <= 1.05
    assert set(bench.candidates((4096, 4096, 4096), 132, 100)) == set(configs())


def test_it_shows_how_far_the_chosen_one_is_behind(capsys):
    times = {name: Timing(str(name), ms, 0.02, 7, None, None, None) for name, ms in (("cublas", 0.21), (Config(), 0.22), ("other", 0.2))}
    bench.show(SimpleNamespace(mnk=(4096, 4096, 4096)), times, {Config(): 1.0, "other": 1.03}, Config())
    head, first, second, third, last, _ = capsys.readouterr().out.splitlines()
    assert head == "4096 x 4096 x 4096" and first.split()[0] == "other" and first.endswith("cost 1.030") and second.split()[0] == "cublas"
    assert third.endswith("cost 1.000  chosen") and last == "  chosen: 10.0% behind the fastest configuration, 0.955x cuBLAS"


def test_times_that_follow_the_rule_do_and_others_do_not():
    def row(mnk, config, factor):
        return dict(zip("mnk", mnk, strict=True)) | {"config": str(config), "ms": factor * config.cost(*mnk, 132)}

    shapes = [((4096, 4096, 4096), 1e-9), ((8192, 1280, 8192), 3e-9)]
    rows = [row(mnk, config, scale) for mnk, scale in shapes for config in configs()]
    assert bench.misfit(rows, 132) < 1e-9, "each shape has a scale of its own"
    two = [row(shapes[0][0], configs()[0], 1.02), row(shapes[0][0], configs()[1], 0.98)]
    assert bench.misfit(two, 132) == pytest.approx(0.02, rel=0.01)


def test_recorded_times_follow_the_rule():
    """Whoever changes the rule sees here whether it still says what a GPU took, as the docstring of Config.cost promises."""
    rows = bench.read_json(bench.PATH, [])
    assert len(rows) >= 50 and {(row["m"], row["n"], row["k"]) for row in rows} >= set(bench.SHAPES)
    assert bench.misfit(rows, H200_SMS) < 0.02


def test_without_a_hopper_gpu_nothing_is_timed(monkeypatch, capsys):
    ampere = Preflight("3.11", "Linux", "NVIDIA A100", "580", "sm_80", "4.8.1", ("cu13",), "2.13", True)
    for machine in (ampere, Preflight("3.11", "Linux", None, None, "sm_90a", "4.8.1", ("cu13",), None, False)):
        monkeypatch.setattr(bench, "preflight", lambda machine=machine: machine)
        assert bench.main([]) == 2 and "nothing was timed, this needs a Hopper GPU" in capsys.readouterr().err
