"""What the preflight finds of the machine, on stand-ins: no torch or DSL, a fake nvidia-smi, broken drivers."""

import subprocess
import sys

import pytest

from ladder import preflight as module
from ladder.preflight import preflight
from ladder.record import ROOT, environment


def test_preflight_without_torch_or_dsl(monkeypatch):
    """A Python that has neither, as on macOS."""
    code = "import sys; from ladder.preflight import preflight; print(preflight()); assert not {'torch', 'cutlass'} & set(sys.modules)"
    env = environment(ROOT) | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(module, "_version", lambda *_: None)
    monkeypatch.setattr(sys, "platform", "darwin")
    found = preflight()
    assert not found.can_compile and not found.can_run
    assert "neither compiled nor run" in str(found) and "Linux only" in found.fixes["OS"] and "DSL" not in found.fixes


def test_preflight_names_the_gpu_and_what_mends_torch(fake_smi, monkeypatch):
    fake_smi("NVIDIA H200, 580.65.06, 9.0")
    monkeypatch.setattr(module, "_version", lambda name, module=None: None if name == "torch" else "4.8.1")
    found = preflight()
    assert (found.gpu, found.driver, found.arch) == ("NVIDIA H200", "580.65.06", "sm_90a")
    assert not found.can_run and "TORCH=1" in found.fixes["torch"] and "TORCH=1" in str(found)


@pytest.mark.parametrize(
    "said, arch, row, words",
    [
        ("Tesla T4, 580.65.06, 7.5", "sm_75", "GPU", "Ampere"),
        ("NVIDIA L4, 550.54.15, 8.9", "sm_89", "driver", "580 or newer"),
    ],
)
def test_preflight_says_what_is_too_old(said, arch, row, words, fake_smi, monkeypatch):
    fake_smi(said)
    have = {"nvidia-cutlass-dsl": "4.8.1", "nvidia-cutlass-dsl-libs-cu13": "4.8.1"}
    monkeypatch.setattr(module, "_version", lambda name, module=None: have.get(name))
    found = preflight()
    assert found.arch == arch and words in found.fixes[row] and not found.can_run


@pytest.mark.parametrize("said, status", [("", 9), ("NVIDIA-SMI has failed because it couldn't communicate", 9), ("a, b, c", 0)])
def test_preflight_survives_a_broken_driver(said, status, fake_smi):
    fake_smi(said, status)
    assert preflight().gpu is None


def test_preflight_survives_a_torch_that_does_not_import(fake_smi, tmp_path, monkeypatch):
    fake_smi("NVIDIA H200, 580.65.06, 9.0")
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so.13: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(module, "_version", lambda name, module=None: "1.0")
    found = preflight()
    assert not found.can_run and "libcudart" in found.fixes["torch"]
