"""What the tests of `elementwise`, `gemv` and `transpose` share."""

import os
import subprocess
import sys
from pathlib import Path

import cutlass
import cutlass.cute as cute
import numpy as np
import pytest

from ladder import binding, lowering
from ladder.devices import Host
from ladder.errors import LadderError
from ladder.streaming import check

ROOT = Path(__file__).parent.parent
rng = np.random.default_rng()


def compiled(kernel, layouts, arch: str = "sm_90a"):
    return lowering.compile_gemm_for(kernel, layouts, arch)


def count(found, kind: str) -> int:
    return sum(n for opcode, n in found.opcodes.items() if opcode.split(".")[0] == kind)


def traced(make):
    """make(), called while a jit function is traced: where the DSL's layouts can be read."""
    found = []

    @cute.jit
    def trace():
        found.append(make())

    trace()
    return found[0]


def vector_atom():
    return cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=128)


def run_on_host(stream, host, size):
    """The kernel's own work, thread after thread on the CPU, between guard bands."""
    return check(stream, binding.compile_for_host(host, stream.operands(size)), size, device=Host())


def refused(kernel, layouts, words: str):
    with pytest.raises(LadderError, match=words):
        compiled(kernel, layouts)


def runs_alone(rung: str, *arguments: str):
    command = [sys.executable, "-m", f"ladder.{rung}", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}, capture_output=True, text=True, timeout=120)


class Launch:
    """Stands in for a kernel: remembers how it would have been launched."""

    def __call__(self, *tensors):
        return self

    def launch(self, **how):
        self.how = how


def launched(monkeypatch, module, stream, size):
    """(blocks, threads) of the launch at this size. On a GPU a grid too small leaves elements unwritten."""
    stand_in = Launch()
    monkeypatch.setattr(module, f"{stream.rung}_kernel", stand_in)
    with pytest.raises(LadderError, match="launches no kernel"):
        compiled(getattr(module, stream.rung), stream.layouts(*size))
    (blocks, *rest), (threads, *more) = stand_in.how["grid"], stand_in.how["block"]
    assert rest == more == [1, 1]
    return blocks, threads


def lines(rung: str) -> int:
    return len((ROOT / f"ladder/{rung}.py").read_text().splitlines())
