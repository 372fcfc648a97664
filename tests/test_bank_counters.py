"""The profiler's counts of bank conflicts: how they are read, and what the model says beside those that a GPU gave."""

import json
import subprocess
from collections import Counter

import numpy as np
import pytest

from ladder import bank_counters, lowering
from ladder.bank_counters import ACCESSES, COUNTERS, Access, from_record, parsed, recorded, table
from ladder.errors import LadderError
from ladder.preflight import Preflight
from ladder.shared_access import TYPES, launcher
from layoutviz.composed import as_layout

H200 = Preflight("3.12.0", "Linux x86_64", "NVIDIA H200", "580.1", "sm_90a", "4.8.1", ("cu13",), "2.11.0", True)


def log(counts: list[dict]) -> str:
    """As ncu writes it: its own words, a head, a line for each kernel and counter."""
    head = '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    lines = [f'"{k}","7","kernel, of ours","{COUNTERS[n]}","","{value:,}"' for k, each in enumerate(counts) for n, value in each.items()]
    return "\n".join(["==PROF== Connected to process 7", head, *lines])


def counts(k: int) -> dict:
    return {name: 1000 * k + n for n, name in enumerate(COUNTERS)}


def test_ncus_words_are_read_in_the_order_of_the_kernels():
    assert parsed(log([counts(k) for k in range(12)])) == [counts(k) for k in range(12)]


def test_measure(monkeypatch):
    """ncu is a stand-in here; `make gpu` runs the real one."""
    monkeypatch.setattr(bank_counters, "preflight", lambda: H200)
    monkeypatch.setattr(bank_counters.shutil, "which", lambda name: name)
    kernels, commands = len(ACCESSES) + len(bank_counters.STORAGES), []

    def ncu(command, **_):
        commands.append(command)
        with open(command[command.index("--log-file") + 1], "w", encoding="utf-8") as file:
            file.write(log([counts(k) for k in range(kernels)]))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(bank_counters.subprocess, "run", ncu)
    accesses, gemms = from_record(json.loads(json.dumps(bank_counters.measure())))
    assert [each.what for each in accesses] == ACCESSES and accesses[3].loads == 3000
    assert [(each.what, each.loads) for each in gemms] == [(s, 1000 * (len(ACCESSES) + k)) for k, s in enumerate(bank_counters.STORAGES)]
    assert commands[0][commands[0].index("--clock-control") + 1] == "none", "the card's settings are left alone"
    kernels -= 1
    with pytest.raises(LadderError, match="counted 43 kernels where 44 ran"):
        bank_counters.measure()


@pytest.mark.parametrize(
    "written, words", [("==ERROR== ERR_NVGPUCTRPERM - no permission", "administrator"), ("==ERROR== Unknown", "Unknown")]
)
def test_a_profiler_that_fails_is_said_in_words(monkeypatch, written, words):
    monkeypatch.setattr(bank_counters, "preflight", lambda: H200)
    monkeypatch.setattr(bank_counters.shutil, "which", lambda name: name)

    def ncu(command, **_):
        with open(command[command.index("--log-file") + 1], "w", encoding="utf-8") as file:
            file.write(written)
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(bank_counters.subprocess, "run", ncu)
    with pytest.raises(LadderError, match=words):
        bank_counters.measure()
    monkeypatch.setattr(bank_counters.shutil, "which", lambda name: None)
    with pytest.raises(LadderError, match="no program ncu here"):
        bank_counters.measure()


def test_without_a_gpu_nothing_is_measured(capsys, monkeypatch):
    monkeypatch.setattr(bank_counters.sys, "argv", ["bank_counters"])
    assert bank_counters.main() == 1 and "nothing was measured" in capsys.readouterr().err


def test_the_model_equals_the_recorded_counters():
    """Conflicts agree on every access; wavefronts too, but where two phases read the same words, which the hardware serves together."""
    accesses, gemms = recorded()
    assert [each.what.name for each in accesses] == [each.name for each in ACCESSES], "results/bank_conflicts.json is older: make gpu"
    assert len(accesses) >= 20
    assert [each.what.name for each in accesses if each.conflicts != each.what.predicted().conflicts] == []
    fewer = [each.what.name for each in accesses if each.wavefronts != each.what.predicted().wavefronts]
    assert fewer == ["tile of the swizzled GEMM, B, none"]
    marked = [line for line in table(accesses).splitlines() if line.endswith("<- they differ")]
    assert len(marked) == len(fewer) and marked[0].startswith(fewer[0])
    assert {each.what: each.conflicts > 0 for each in gemms} == {"none": True, "padding": False, "swizzle": False}


def test_an_access_that_changed_is_left_out():
    row = {"name": "fp32, a row", "access": {"layout": "(32,32):(32,1)", "threads": "32:1", "bits": 32, "vector": 1}, "counts": counts(1)}
    assert from_record({"accesses": [row], "gemm": {}, "gpu": "G", "date": "D"}) == ([], [])


@pytest.mark.parametrize("access", [ACCESSES[1], ACCESSES[21], ACCESSES[30], ACCESSES[34], ACCESSES[36]], ids=lambda access: access.name)
def test_an_access_compiles_to_the_loads_that_it_names(access: Access):
    from cutlass.cute.runtime import make_fake_stream, nullptr
    from cutlass.cute.typing import AddressSpace

    threads = as_layout(access.threads)
    launch = launcher(as_layout(access.layout), threads, access.bits, access.vector)
    compiled = lowering.compile_for(launch, nullptr(TYPES[access.bits], AddressSpace.gmem, assumed_align=16), make_fake_stream())
    loads = Counter({opcode: n for opcode, n in compiled.opcodes.items() if opcode.startswith("LDS")})
    width = access.bits * access.vector
    assert loads == {{16: "LDS.U16", 32: "LDS", 64: "LDS.64", 128: "LDS.128"}[width]: threads.size // threads[0].size // access.vector}


def test_accesses_are_told_apart_and_unlike_each_other():
    assert len({each.name for each in ACCESSES}) == len({(e.layout, e.threads, e.bits, e.vector) for e in ACCESSES}) == len(ACCESSES)
    assert np.ptp([each.predicted().ways for each in ACCESSES]) == 31
