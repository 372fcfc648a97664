"""What the stress of the rungs says, without a GPU: faults in words, the sanitizer's words read, the record. `make gpu` runs it."""

import json
import types

import pytest

from ladder import record, stress
from ladder.errors import LadderError
from ladder.preflight import Preflight

GOOD = {"rungs": {"naive": {"repeats": 200, "different": 0, "error": 2e-4}}, "memcheck": 0, "racecheck": None}


def with_rung(**changed):
    return GOOD | {"rungs": {"naive": GOOD["rungs"]["naive"] | changed}}


@pytest.mark.parametrize("found, words", [
    (GOOD, []), (with_rung(different=3), ["naive: 3 of 200 results differ"]), (with_rung(error=2e-3), ["naive: relative error 2.0e-03"]),
    (with_rung(error=float("nan")), ["naive: relative error nan"]), (GOOD | {"memcheck": 2}, ["memcheck finds 2 faults"]),
    (GOOD | {"racecheck": 1}, ["racecheck finds 1 faults"]),
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
    assert found is not None and stress.faults(found) == [] and set(found["rungs"]) == set(stress.RUNGS)
    assert all(each["repeats"] >= 200 for each in found["rungs"].values())
