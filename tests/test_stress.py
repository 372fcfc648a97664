"""What the stress of the rungs says, without a GPU: faults in words, the sanitizer's words read, the record. `make gpu` runs it."""

import json
import types
from importlib import import_module

import pytest

from ladder import lowering, record, stress
from ladder.errors import LadderError
from ladder.hopper_gemm import TILE_K, configs
from ladder.operands import bare_gemm
from ladder.persistent import balanced
from ladder.preflight import Preflight
from ladder.rungs import RUNGS

GOOD = {"rungs": {"naive": {"repeats": 200, "different": 0, "error": 2e-4}}, "memcheck": 0, "racecheck": None}


def with_rung(**changed):
    return GOOD | {"rungs": {"naive": GOOD["rungs"]["naive"] | changed}}


@pytest.mark.parametrize("found, words", [
    (GOOD, []), (with_rung(different=3), ["naive: 3 of 200 results differ"]), (with_rung(error=2e-3), ["naive: relative error 2.0e-03"]),
    (with_rung(error=float("nan")), ["naive: relative error nan"]), (GOOD | {"memcheck": 2}, ["memcheck finds 2 faults"]),
    (GOOD | {"racecheck": 1}, ["racecheck finds 1 faults"]), (GOOD | {"racecheck": "it was not done"}, ["it was not done"]),
])  # fmt: skip
def test_faults_in_words(found, words):
    assert stress.faults(found) == words


@pytest.mark.parametrize("tool, said, faults", [
    ("memcheck", "all ran\n========= ERROR SUMMARY: 0 errors", 0), ("memcheck", "all ran\n========= ERROR SUMMARY: 34 errors", 34),
    ("racecheck", "all ran\n========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)", 2),
])  # fmt: skip
def test_the_sanitizer_is_read(monkeypatch, tool, said, faults):
    monkeypatch.setattr(stress.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(stress.subprocess, "run", lambda *a, **k: types.SimpleNamespace(stdout=said, stderr="", returncode=0))
    assert stress.sanitize(tool) == faults


def test_a_sanitizer_that_is_missing_or_fails(monkeypatch):
    monkeypatch.setattr(stress.shutil, "which", lambda name: None)
    assert stress.sanitize("memcheck") is None
    monkeypatch.setattr(stress.shutil, "which", lambda name: f"/bin/{name}")
    for said in ("========= ERROR SUMMARY: 0 errors", "all ran\nDevice not supported"):
        done = types.SimpleNamespace(stdout=said, stderr="", returncode=0)
        monkeypatch.setattr(stress.subprocess, "run", lambda *a, done=done, **k: done)
        with pytest.raises(LadderError, match="did not run to its end"):
            stress.sanitize("memcheck")


ON_FEW_SMS = {name: run for name, run in stress.runs().items() if run.sms}


@pytest.mark.parametrize("name, run", ON_FEW_SMS.items(), ids=ON_FEW_SMS)
def test_on_few_sms_each_block_gets_tile_after_tile(name, run, monkeypatch):
    turns = "pingpong" in name or "ping-pong" in name
    assert tiles_of_a_block(run, monkeypatch) >= 5 * (1 + turns), "each warpgroup too"


@pytest.mark.parametrize("name", list(stress.persistent_modules()))
def test_so_it_does_under_the_sanitizer(name, monkeypatch):
    assert tiles_of_a_block(stress.Run(name, RUNGS[name].gemm, stress.SMALL, stress.FEWEST), monkeypatch) >= 5


def tiles_of_a_block(run, monkeypatch) -> int:
    """What a launch deals out, as its trace asks `balanced`: the fewest tiles that a block gets."""
    module, asked = import_module(f"ladder.{run.rung}"), []
    monkeypatch.setattr(module, "balanced", lambda tiles, most: asked.append((tiles, balanced(tiles, most))) or asked[-1][1])
    with stress.told_of(run.sms):
        lowering.compile_gemm_for(run.gemm, [each.layout for each in bare_gemm(*run.mnk, run.pair)])
    [(tiles, blocks)] = asked
    return tiles // blocks


def test_every_persistent_rung_is_told_of_few_sms_and_every_configuration_is_run():
    names = list(stress.persistent_modules())
    assert names == ["persistent", "multicast", "pingpong", "full_gemm", "hopper_gemm"]
    found = stress.runs()
    assert set(RUNGS) <= set(found) and len(found) == len(RUNGS) + 3 * (len(names) + len(configs()))
    assert {-(-mnk[2] // TILE_K) for mnk in stress.SHORT} == {1, 2}
    assert len({(run.mnk, run.pair) for name, run in found.items() if "cluster" in name}) == 3 * 4, "at each size through each pair"


def test_a_run_is_named_before_it_may_hang_and_a_tool_that_fails_loses_nothing(monkeypatch, capsys):
    monkeypatch.setattr(stress, "preflight", lambda: Preflight("3.11", "Linux", "G", "580", "sm_90a", "4.8.1", ("cu13",), "2.13", True))
    todo = {name: stress.Run(name.split(",")[0], None) for name in ("naive", "tiled, 4 SMs", "for another architecture")}
    monkeypatch.setattr(stress, "runs", lambda: todo)
    told = []
    monkeypatch.setattr(stress, "repeat", lambda run: told.append((run.rung, capsys.readouterr().out)) or GOOD["rungs"]["naive"])

    def sanitize(tool):
        if tool == "racecheck":
            raise LadderError("racecheck was not done")
        return 0

    monkeypatch.setattr(stress, "sanitize", sanitize)
    found = stress.measure()
    assert told == [("naive", "[1/2] naive\n"), ("tiled", "[2/2] tiled, 4 SMs\n")]
    assert list(found["rungs"]) == ["naive", "tiled, 4 SMs"]
    assert found["memcheck"] == 0 and stress.faults(found) == ["racecheck was not done"]


def test_a_sanitizer_that_takes_too_long(monkeypatch):
    def forever(command, timeout, **_):
        raise stress.subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(stress.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(stress.subprocess, "run", forever)
    with pytest.raises(LadderError, match="memcheck was not done after 600 s"):
        stress.sanitize("memcheck")


def test_without_a_gpu(monkeypatch, capsys):
    monkeypatch.setattr(stress, "preflight", lambda: Preflight("3.11", "Linux", None, None, "sm_90a", "4.8.1", ("cu13",), None, False))
    assert stress.main() == 1 and "races show themselves on a GPU" in capsys.readouterr().err


def test_it_is_recorded_when_sources_changed(tmp_path, monkeypatch, capsys):
    (tmp_path / "ladder").mkdir()
    (tmp_path / "ladder/naive.py").write_text("TILE = 16\n")
    calls = []
    monkeypatch.setattr(stress, "measure", lambda: calls.append(1) or GOOD)
    assert all(record._record_stress(tmp_path, again=False) for _ in range(2)) and len(calls) == 1
    assert "nothing found" in capsys.readouterr().out
    (tmp_path / "ladder/naive.py").write_text("TILE = 8\n")
    monkeypatch.setattr(stress, "measure", lambda: with_rung(different=1))
    assert not record._record_stress(tmp_path, again=False)
    assert "naive: 1 of 200 results differ" in capsys.readouterr().out
    assert json.loads((tmp_path / "results/stress.json").read_text())["rungs"]["naive"]["different"] == 1


def test_the_committed_record_has_no_fault():
    found = record.read_json(stress.PATH, None)
    assert found is not None and stress.faults(found) == [] and set(found["rungs"]) == set(stress.runs())
    assert all(each["repeats"] >= 200 for each in found["rungs"].values())
