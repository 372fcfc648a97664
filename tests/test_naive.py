"""The naive rung, as far as it goes without a GPU: it compiles for each architecture, and its loops run as host code.

Not covered here: that the kernel's launch gives right results on a GPU. `make gpu` covers that.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ladder import binding, harness, lowering, naive
from ladder.devices import Host
from ladder.errors import LadderError
from ladder.naive import host_gemm, naive_gemm
from ladder.operands import make_operands, operand_pairs, padded_output
from layoutviz import Layout

ROOT = Path(__file__).parent.parent
rng = np.random.default_rng()


def sizes():
    """Random, ragged against the block of 16, and never square."""
    M = int(rng.integers(2, 24))
    return M, M + int(rng.integers(1, 12)), M + 12 + int(rng.integers(1, 12))


def run_host(A, B, C=None):
    return harness.against_cublas("host", binding.compile_for_host(host_gemm, make_operands(A, B, C)), A, B, C, device=Host())


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("pair", ["NN", "NT", "TN", "TT"])
def test_compiles_to_what_it_should(arch, pair):
    M, N, K = 200, 136, 72
    A, B = operand_pairs(M, N, K)[pair]
    compiled = lowering.compile_gemm_for(naive_gemm, (A, B, padded_output(M, N)), arch)
    assert f".target {arch}" in compiled.ptx
    loads, stores = compiled.opcodes["LDG.E.U16"], compiled.opcodes["STG.E.U16"]
    assert (loads, stores) == (8, 1), "4 elements of A and 4 of B a turn, each a load of 16 bits; one store"
    assert compiled.opcodes["FFMA"] == 4, "sums in fp32"
    assert compiled.spills == 0
    assert 16 <= compiled.registers <= 40


def test_the_layouts_stride_is_in_the_machine_code():
    M, N, K = 200, 136, 72
    for pair, step in (("NN", 2 * M), ("TN", 2)):
        compiled = lowering.compile_gemm_for(naive_gemm, (*operand_pairs(M, N, K)[pair], padded_output(M, N)))
        assert any(i.startswith("LDG") and f"+{hex(step)}]" in i for i in compiled.instructions)


def test_host_code_on_the_four_pairs():
    for _ in range(3):
        for pair in operand_pairs(*sizes()).values():
            check = run_host(*pair)
            assert check.ok, check.note
            assert check.where == "CPU" and check.cublas_error is None


@pytest.mark.parametrize(
    "A, B, C",
    [
        (Layout((6, 5), (8, 1)), Layout((7, 5), (1, 9)), Layout((6, 7), (10, 1))),  # padded
        (Layout(((2, 3), 5), ((1, 20), 3)), Layout((7, (5, 1)), (5, (1, 0))), None),  # nested, with a hole
        (Layout((6, 5), (0, 1)), Layout((7, 5), (1, 0)), None),  # broadcast
        (Layout((6, 5), (-5, 1)), Layout((7, 5), (-1, -7)), Layout((6, 7), (-7, 1))),  # backwards
        (Layout((6, 5), (1, 2)), Layout((7, 5), (1, 3)), None),  # aliased inputs
        (Layout((1, 5), (5, 1)), Layout((7, 5), (1, 7)), None),  # one row
        (Layout((6, 1), (1, 6)), Layout((7, 1), (1, 1)), None),  # K = 1
    ],
)
def test_host_code_on_any_layouts(A, B, C):
    check = run_host(A, B, C)
    assert check.ok, check.note


def test_naive_is_short_enough_to_read():
    assert len((ROOT / "ladder/naive.py").read_text().splitlines()) <= 80


@pytest.mark.parametrize("mnk, code, words", [("30,20,10", 0, ""), ("3,4", 2, "not three whole numbers"), ("3,4,0", 2, "1 or more")])
def test_runs_alone(mnk, code, words):
    command = [sys.executable, "-m", "ladder.naive", "--mnk", mnk]
    hide_gpu = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=hide_gpu, capture_output=True, text=True, timeout=120)
    assert done.returncode == code and words in done.stderr
    if code == 0:
        assert "compiled for sm_90a, NOT run" in done.stdout and "30x20x10" in done.stdout
        assert "NN, NT, TN, TT equal numpy's products" in done.stdout


class Launch:
    """Stands in for the kernel: remembers how it would have been launched."""

    def __call__(self, mA, mB, mC):
        return self

    def launch(self, **how):
        self.how = how


@pytest.mark.parametrize(("M", "N", "blocks"), [(200, 136, (13, 9)), (32, 16, (2, 1)), (1, 17, (1, 2)), (33, 48, (3, 3))])
def test_the_blocks_cover_all_of_c(monkeypatch, M, N, blocks):
    """On a GPU a grid too small leaves elements unwritten; here it is read while the launching code is traced."""
    stand_in = Launch()
    monkeypatch.setattr(naive, "naive_kernel", stand_in)
    A, B = operand_pairs(M, N, 8)["TN"]
    with pytest.raises(LadderError, match="launches no kernel"):
        lowering.compile_gemm_for(naive_gemm, (A, B, padded_output(M, N)))
    assert tuple(stand_in.how["grid"]) == (*blocks, 1)
    assert tuple(stand_in.how["block"]) == (16, 16, 1)


def test_threads_past_either_edge_are_kept_out():
    """Both sizes of C stand in comparisons of the PTX; with one test missing, its size does not."""
    A, B = operand_pairs(203, 139, 8)["TN"]
    ptx = lowering.compile_gemm_for(naive_gemm, (A, B, padded_output(203, 139))).ptx
    compared = {int(n) for n in re.findall(r"setp\.\S+\s+%p\d+, %r\d+, (\d+);", ptx)}
    assert compared & {203, 202} and compared & {139, 138}, compared
