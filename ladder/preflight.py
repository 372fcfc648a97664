"""What this machine can do, and what to install where it cannot. Standard library only; never raises."""

import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec

OLDEST_PYTHON = (3, 11)
OLDEST_ARCH = (8, 0)  # Ampere: the first that every kernel up to simple_gemm runs on
CUDA13_DRIVER = 580  # the first driver series that runs CUDA 13


@dataclass(frozen=True)
class Preflight:
    """What was found; None for what was not. `fixes` has a line for each thing that is missing, keyed by its row.

    arch: what kernels are compiled for, as "sm_90a"; the GPU's own where there is one. cuda: flavours of the DSL's wheels.
    """

    python: str
    os: str
    gpu: str | None
    driver: str | None
    arch: str
    dsl: str | None
    cuda: tuple[str, ...]
    torch: str | None
    torch_sees_gpu: bool
    fixes: dict[str, str] = field(default_factory=dict)

    @property
    def can_compile(self) -> bool:
        """Whether kernels can be compiled here."""
        return self.dsl is not None and "driver" not in self.fixes  # the DSL refuses to be imported beside a driver too old for it

    @property
    def can_run(self) -> bool:
        """Whether kernels can be run here and checked against cuBLAS."""
        return self.can_compile and self.torch_sees_gpu and "GPU" not in self.fixes

    @property
    def verdict(self) -> str:
        """One line: what kernels do on this machine."""
        if self.can_run:
            return f"kernels run on this {self.gpu} and are checked against cuBLAS"
        if self.can_compile:
            return f"kernels are compiled for {self.arch} and not run; their loops run on the CPU"
        return "layouts and pictures work; kernels are neither compiled nor run"

    def __str__(self):
        flavour = f" ({' and '.join(self.cuda)} wheels)" if self.cuda else ""
        sees = "" if not self.torch or not self.gpu else ", sees the GPU" if self.torch_sees_gpu else ", does not see the GPU"
        rows = {
            "Python": self.python,
            "OS": self.os,
            "GPU": self.gpu or "none found",
            "driver": self.driver or "none found",
            "DSL": self.dsl + flavour if self.dsl else "not installed",
            "torch": self.torch + sees if self.torch else "not installed",
            "arch": self.arch,
        }
        lines = [f"{name:<8}{found}" + (f"\n{'':<8}-> {self.fixes[name]}" if name in self.fixes else "") for name, found in rows.items()]
        return "\n".join([*lines, f"{'so':<8}{self.verdict}"])


def preflight() -> Preflight:
    """Look at this machine. Cheap: torch is imported only where there is a GPU for it to see, the DSL never."""
    gpu, driver, capability = _gpu()
    dsl, torch = _version("nvidia-cutlass-dsl", "cutlass"), _version("torch", "torch")
    cuda = tuple(flavour for flavour in ("cu12", "cu13") if _version(f"nvidia-cutlass-dsl-libs-{flavour}"))
    torch, sees, torch_fix = _torch(torch, gpu)
    fixes = {
        "Python": None if sys.version_info >= OLDEST_PYTHON else "the course needs Python 3.11 or newer",
        "OS": None if sys.platform == "linux" else "the DSL has wheels for Linux only; the layout chapters work here, kernels need Linux",
        "GPU": _gpu_fix(capability),
        "driver": _driver_fix(driver, cuda),
        "DSL": None if dsl else _dsl_fix(),
        "torch": torch_fix,
    }
    arch = f"sm_{capability[0]}{capability[1]}" + ("a" if capability[0] >= 9 else "") if capability else "sm_90a"
    return Preflight(
        python=platform.python_version(),
        os=f"{platform.system()} {platform.machine()}",
        gpu=gpu,
        driver=driver,
        arch=arch,
        dsl=dsl,
        cuda=cuda if dsl else (),
        torch=torch,
        torch_sees_gpu=sees,
        fixes={name: fix for name, fix in fixes.items() if fix},
    )


def _gpu() -> tuple[str | None, str | None, tuple[int, int] | None]:
    """(name, driver, compute capability) of the first GPU that this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    first = visible.split(",")[0].strip() if visible is not None else "0"
    if first in ("", "-1"):
        return None, None, None
    command = ["nvidia-smi", "-i", first, "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=20)
        name, driver, capability = (part.strip() for part in said.stdout.splitlines()[0].split(","))
        major, minor = capability.split(".")
        return name, driver, (int(major), int(minor))
    except (OSError, subprocess.TimeoutExpired, IndexError, ValueError):
        return None, None, None


def _version(distribution: str, module: str | None = None) -> str | None:
    """The installed version, None if the package (or its module) is not there."""
    try:
        if module and find_spec(module) is None:
            return None
        return metadata.version(distribution)
    except (metadata.PackageNotFoundError, ImportError, ValueError):
        return None


def _torch(version: str | None, gpu: str | None) -> tuple[str | None, bool, str | None]:
    """(version, whether it sees the GPU, the fix if it should and does not)."""
    if not gpu:
        return version, False, None
    if not version:
        return None, False, "to run kernels and check them against cuBLAS: make lab TORCH=1 (or pip install -e '.[torch]')"
    try:
        import torch

        if torch.cuda.is_available():
            return torch.__version__, True, None
    except Exception as error:  # a broken torch fails in many ways, and a preflight must not
        return version, False, f"torch is installed but does not import ({type(error).__name__}: {error})"
    return version, False, f"torch {version} does not see the GPU: built without CUDA, or for a newer driver. make lab TORCH=1 renews it"


def _gpu_fix(capability) -> str | None:
    if capability and capability < OLDEST_ARCH:
        return "the kernels need an Ampere GPU (compute capability 8.0) or newer"
    return None


def _driver_fix(driver: str | None, cuda: tuple[str, ...]) -> str | None:
    if driver and cuda == ("cu13",) and int(driver.split(".")[0]) < CUDA13_DRIVER:
        return f"the DSL's cu13 wheels need driver {CUDA13_DRIVER} or newer: renew the driver, or pip install nvidia-cutlass-dsl (cu12)"
    return None


def _dsl_fix() -> str | None:
    return "to compile kernels: make lab installs it (or pip install -e '.[dsl]')" if sys.platform == "linux" else None
