"""The swizzled rung without a GPU: what it compiles to, and that its tiles in shared memory are free of conflicts by the model."""

from pathlib import Path

import cutlass.cute as cute
import pytest

from ladder import bank_counters, lowering
from ladder.operands import operand_pairs, padded_output
from ladder.tiled_swizzled import STORAGE, THREADS, TILE_K, TILE_M, TILE_N, VECTOR, gemm_with
from layoutviz import Layout, same_function
from layoutviz.cute import from_dsl
from layoutviz.memory import bank_conflicts

ROOT = Path(__file__).parent.parent
LAYOUTS = {
    "none": "(64,64):(64,1)",
    "padding": "(64,64):(72,1)",
    "swizzle": "S<3,3,3> o 0 o (64,64):(64,1)",
}


def traced(storage: str):
    found = []

    @cute.jit
    def trace():
        found.append(from_dsl(STORAGE[storage](TILE_M)))

    trace()
    return found[0]


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("storage", bank_counters.STORAGES)
def test_compiles_to_what_it_should(arch, storage):
    compiled = lowering.compile_gemm_for(gemm_with(STORAGE[storage]), (*operand_pairs(200, 136, 72)["TN"], padded_output(200, 136)), arch)
    threads = THREADS * THREADS

    def count(kind: str) -> int:
        return sum(n for opcode, n in compiled.opcodes.items() if opcode.split(".")[0] == kind)

    reads = (TILE_M + TILE_N) // THREADS * TILE_K // VECTOR
    assert compiled.opcodes["LDS.128"] == count("LDS") == reads, "16 bytes at a time, swizzled or not"
    assert count("LDG") == count("STS") == (TILE_M + TILE_N) * TILE_K // threads
    assert compiled.opcodes["FFMA"] == TILE_M * TILE_N * TILE_K // threads, "sums in fp32"
    # on Ampere and Ada ptxas fits the two that are not the rung into 80 registers, and puts one value into local memory for that
    assert compiled.spills <= (0 if storage == "swizzle" or arch == "sm_90a" else 2) and compiled.registers <= 128


@pytest.mark.parametrize("storage, ways", [("none", 8), ("padding", 1), ("swizzle", 1)])
def test_the_tile_is_what_the_model_says(storage, ways):
    layout = traced(storage)
    assert same_function(layout, LAYOUTS[storage])
    rows = Layout("((16,2),8):((1,0),64)")  # thread t reads 8 values of row t mod 16
    assert bank_conflicts(layout, rows, 16, VECTOR).ways == ways


def test_what_is_counted_are_these_storages():
    assert tuple(STORAGE) == bank_counters.STORAGES


def test_it_is_short_enough_to_read():
    assert len((ROOT / "ladder/tiled_swizzled.py").read_text().splitlines()) <= 100
