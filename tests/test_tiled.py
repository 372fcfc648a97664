"""The tiled rung, as far as it goes without a GPU: it compiles for each architecture to what it is about. `make gpu` runs it."""

import re
from pathlib import Path

import pytest

from ladder import lowering, tiled
from ladder.operands import operand_pairs, padded_output
from ladder.tiled import THREADS, TILE_K, TILE_M, TILE_N, tiled_gemm
from layoutviz import Layout

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("pair", ["NN", "NT", "TN", "TT"])
def test_compiles_to_what_it_should(arch, pair):
    compiled = lowering.compile_gemm_for(tiled_gemm, (*operand_pairs(200, 136, 72)[pair], padded_output(200, 136)), arch)
    threads = THREADS * THREADS
    loads = (TILE_M + TILE_N) * TILE_K // threads

    def count(kind: str) -> int:
        return sum(n for opcode, n in compiled.opcodes.items() if opcode.split(".")[0] == kind)

    assert compiled.opcodes["LDG.E.U16"] == count("LDG") == count("STS") == loads, "each element is brought into shared memory once"
    assert compiled.opcodes["FFMA"] == TILE_M * TILE_N * TILE_K // threads, "sums in fp32"
    assert count("BAR") == 2, "after the tiles are there, and before they are replaced"
    assert compiled.opcodes["STG.E.U16"] == TILE_M * TILE_N // threads
    assert compiled.spills == 0 and compiled.registers <= 64


def test_shared_memory_holds_the_two_tiles():
    ptx = lowering.compile_gemm_for(tiled_gemm, (*operand_pairs(64, 64, 16)["TN"], padded_output(64, 64))).ptx
    assert re.search(r"\.shared", ptx)


@pytest.mark.parametrize("A, B", [
    (Layout(((32, 4), 48), ((1, 1536), 32)), Layout((96, (8, 6)), (8, (1, 768)))), (Layout((5, 3), (3, 1)), Layout((7, 3), (1, 7))),
])  # fmt: skip
def test_nested_and_tiny_operands_compile(A, B):
    M, N = A[0].size, B[0].size
    assert lowering.compile_gemm_for(tiled_gemm, (A, B, padded_output(M, N))).opcodes["FFMA"] > 0


def test_it_is_short_enough_to_read():
    assert len((ROOT / "ladder/tiled.py").read_text().splitlines()) <= 90 and tiled.__doc__
