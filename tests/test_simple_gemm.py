"""The classic GEMM without a GPU: what it compiles to, its layouts, and its data flow G -> S -> R -> C in numpy. `make gpu` runs it."""

import re
from math import prod
from pathlib import Path

import cutlass.cute as cute
import numpy as np
import pytest
from tensor_core_model import conflicts, multiply, parts, slots, traced

from ladder import harness, lowering
from ladder.errors import LadderError
from ladder.operands import operand_pairs, padded_output, row_major_output
from ladder.simple_gemm import DEFAULT, Config, gemm_with, simple_gemm, tile_of
from layoutviz import Layout, same_function

ROOT = Path(__file__).parent.parent
PAIRS = ["NN", "NT", "TN", "TT"]
CAPACITY = {"sm_80": 163 * 1024, "sm_89": 99 * 1024, "sm_90a": 227 * 1024}  # bytes of shared memory that a block may have
OTHERS = [
    Config((128, 128, 64), 2, (2, 4)), Config((64, 64, 32), 2, (2, 2)), Config((256, 64, 64), 2, (4, 1)), Config((64, 32, 32), 3, (1, 1)),
]  # fmt: skip


def compiled_for(arch: str, pair: str, mnk=(200, 136, 72), config=DEFAULT):
    M, N, K = mnk
    return lowering.compile_gemm_for(gemm_with(config), (*operand_pairs(M, N, K)[pair], row_major_output(M, N)), arch)


# ---- what it compiles to ----


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("pair", PAIRS)
def test_compiles_to_what_it_should(arch, pair):
    compiled = compiled_for(arch, pair, (4096, 4096, 4096))
    (M, N, K), threads = DEFAULT.tile, DEFAULT.threads

    def count(kind: str) -> int:
        return sum(n for opcode, n in compiled.opcodes.items() if opcode.split(".")[0] == kind)

    atoms_k = K // 16
    assert compiled.opcodes["HMMA.16816.F32"] == count("HMMA") == M * N * K // (16 * 8 * 16) // (threads // 32)
    loads = (M + N) * K // 8 // threads
    cp_async = sum(n for opcode, n in compiled.opcodes.items() if opcode.startswith("LDGSTS.E.BYPASS") and opcode.endswith(".128"))
    assert cp_async == count("LDGSTS") == loads * DEFAULT.stages, "16 bytes each: the stages before the loop, and one in it"
    assert count("LDG") == 0
    matrices = {"A": M // 16 // DEFAULT.warps[0], "B": N // 16 // DEFAULT.warps[1]}  # ldmatrix x4, 16x16 each, for 16 of K
    transposed = (pair[0] == "N") * matrices["A"] + (pair[1] == "T") * matrices["B"]
    assert count("LDSM") == (atoms_k + 1) * sum(matrices.values()), "16 of K before the loop, a k-tile in it"
    assert compiled.opcodes["LDSM.16.MT88.4"] == (atoms_k + 1) * transposed
    assert compiled.opcodes["LDSM.16.M88.4"] == (atoms_k + 1) * (sum(matrices.values()) - transposed), "x4 only"
    assert compiled.opcodes["STG.E.128"] == count("STG") == compiled.opcodes["LDS.128"] == M * N // 8 // threads
    assert compiled.opcodes["STS"] == M * N // 2 // threads, "the sums go to shared memory two at a time"
    assert compiled.spills == 0 and compiled.registers * threads <= 65536


def test_the_main_loop_holds_hardly_more_than_it_must():
    lines = compiled_for("sm_90a", "TN", (4096, 4096, 4096)).instructions
    multiplies = [i for i, line in enumerate(lines) if line.startswith("HMMA")]
    loop = lines[multiplies[0] : multiplies[-1] + 1]
    kinds = [line.split(".")[0].split()[0] for line in loop]
    assert kinds.count("HMMA") == 64 and kinds.count("LDSM") == 16 and kinds.count("BAR") == 1 and kinds.count("LDGSTS") == 6
    assert len(loop) < 3 * 64, "the rest, addresses and predicates, fits between the multiplications"


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("config", OTHERS)
def test_other_configurations_compile(config, pair):
    compiled = compiled_for("sm_80", pair, config=config)
    assert compiled.spills == 0 and compiled.opcodes["HMMA.16816.F32"] == prod(config.tile) // 2048 // (config.threads // 32)


def test_tiny_and_ragged_operands_compile():
    for mnk in ((8, 8, 8), (8, 264, 40), (1, 8, 8), (1000, 504, 4104)):
        assert compiled_for("sm_80", "TN", mnk).opcodes["HMMA.16816.F32"] == 64
    assert compiled_for("sm_80", "NT", (136, 264, 7)).spills == 0, "K need not be a multiple of 8 where it is not contiguous"


# ---- what it needs ----


@pytest.mark.parametrize("arch", lowering.ARCHS)
def test_shared_memory_fits_every_gpu(arch):
    assert DEFAULT.shared_bytes == 98304 <= CAPACITY[arch]
    assert compiled_for(arch, "TN").sass


@pytest.mark.parametrize("arch, fits", [("sm_80", True), ("sm_89", False), ("sm_90a", True)])
def test_a_configuration_too_large_for_the_gpu_is_refused(arch, fits):
    large = Config((128, 256, 64), 3)
    if fits:
        assert compiled_for(arch, "TN", config=large).spills == 0
    else:
        with pytest.raises(LadderError, match=r"needs 147456 bytes of shared memory for a block; a block has 101376"):
            compiled_for(arch, "TN", config=large)


@pytest.mark.parametrize("arguments, why", [
    ({"tile": (128, 192, 32)}, "powers of two"), ({"tile": (128, 256, 16)}, "32 or more"), ({"stages": 1}, "stages 2 or more"),
    ({"group": 0}, "group 1 or more"), ({"warps": (16, 1)}, "too many warps"), ({"tile": (32, 256, 32), "warps": (1, 8)}, "too many warps"),
])  # fmt: skip
def test_configurations_that_make_no_sense_are_refused(arguments, why):
    with pytest.raises(LadderError, match=why):
        Config(**arguments)


@pytest.mark.parametrize("A, B, C, why", [
    (Layout((64, 60), (60, 1)), Layout((64, 60), (60, 1)), None, "A has K = 60 contiguous, 120 bytes"),
    (Layout((60, 64), (1, 60)), Layout((64, 64), (64, 1)), None, "A has M = 60 contiguous, 120 bytes"),
    (Layout((64, 64), (64, 1)), Layout((64, 64), (68, 1)), None, "B has stride 68 along N"),
    (Layout((64, 64), (64, 1)), Layout((64, 64), (64, 1)), padded_output(64, 64), "its N must be contiguous"),
    (Layout(((32, 2), 64), ((64, 2048), 1)), Layout((64, 64), (64, 1)), None, "two flat modes"),
])  # fmt: skip
def test_operands_it_cannot_take_are_refused_by_name(A, B, C, why):
    C = row_major_output(A[0].size, B[0].size) if C is None else C
    with pytest.raises(LadderError, match=re.escape(why)):
        lowering.compile_gemm_for(simple_gemm, (A, B, C))


def test_the_command_line_compiles_where_there_is_no_gpu(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["simple_gemm", "--mnk", "304,200,104"])
    harness.main(simple_gemm, pairs=harness.k_contiguous, output=harness.row_major_output)
    out = capsys.readouterr().out
    assert "NOT run, for TN at 304x200x104" in out and "64 HMMA.16816.F32" in out and "LDSM.16.M88.4" in out and "LDGSTS" in out
    monkeypatch.setattr("sys.argv", ["simple_gemm", "--mnk", "304,200,100"])
    with pytest.raises(SystemExit, match="A has K = 100 contiguous"):
        harness.main(simple_gemm, pairs=harness.k_contiguous, output=harness.row_major_output)


# ---- its layouts ----


def test_the_tiles_are_what_the_chapter_draws():
    of = traced(DEFAULT.tile, DEFAULT.warps, "TN")
    assert same_function(of["stage A"], "S<2,3,3> o 0 o (128,32):(32,1)") and same_function(of["stage B"], "S<2,3,3> o 0 o (256,32):(32,1)")
    assert same_function(of["stage C"], "S<3,3,3> o 0 o ((8,16),(64,4)):((64,512),(1,8192))")
    of = traced(DEFAULT.tile, DEFAULT.warps, "NT")
    assert same_function(of["stage A"], "S<3,3,3> o 0 o ((64,2),(8,4)):((1,512),(64,1024))")


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("config", [DEFAULT, *OTHERS])
def test_no_access_to_shared_memory_has_a_conflict(config, pair):
    of = traced(config.tile, config.warps, pair)
    for name in "AB":
        assert conflicts(of, name, f"load {name}", 8) == 0 == conflicts(of, name, f"ldsm from {name}", 8)
    assert conflicts(of, "C", "mma C", 2) == 0 == conflicts(of, "C", "store C", 8)


def test_without_the_swizzle_there_would_be_conflicts():
    of = traced(DEFAULT.tile, DEFAULT.warps, "TN") | {"stage A": Layout((128, 32), (32, 1)), "stage C": Layout((128, 256), (256, 1))}
    assert conflicts(of, "A", "ldsm from A", 8) > 0 and conflicts(of, "C", "mma C", 2) > 0


@pytest.mark.parametrize("tiles_m, tiles_n, group", [(4, 3, 2), (5, 7, 3), (1, 6, 16), (16, 32, 16), (33, 2, 8)])
def test_blocks_take_each_tile_once_and_neighbours_share_rows(tiles_m, tiles_n, group):
    found = []

    @cute.jit
    def trace():
        found.extend([tile_of(block, tiles_m, tiles_n, group) for block in range(tiles_m * tiles_n)])

    trace()
    assert sorted(found) == [(m, n) for m in range(tiles_m) for n in range(tiles_n)]
    together = found[: group * 2]
    assert len({n for _, n in together}) <= 2 * -(-group // min(group, tiles_m)), "a new column only once the group's rows are done"


# ---- its data flow, in numpy ----


def brought_in(X, of, name: str, block: int, k_tile: int):
    """One stage as the threads' copies leave it: NaN where nothing was copied."""
    tile = of[name]
    stage = np.full(prod(tile), np.nan, np.float16)
    first_k = X.shape[1] - (-(-X.shape[1] // tile[1]) - k_tile) * tile[1]  # the first k-tile may begin before 0
    for row, column in parts(of, name, "load " + name):
        m, k, there = block * tile[0] + row, first_k + column, slots(of, name, row, column)
        inside = (m < X.shape[0])[:, 0] & (k >= 0)[:, 0]  # each vector is judged by its first element
        assert (k[inside] >= 0).all() and (k < X.shape[1]).all() and (m[inside] < X.shape[0]).all(), "a vector hangs over an edge"
        stage[there[inside]] = X[m[inside], k[inside]]
        stage[there[(k < 0)[:, 0]]] = 0
    return stage


def block_of_c(A, B, of, block_m: int, block_n: int):
    """The tile of C that a block writes, as its threads compute it."""
    sums: dict = {}
    for k_tile in range(-(-A.shape[1] // of["A"][1])):
        multiply(sums, brought_in(A, of, "A", block_m, k_tile), brought_in(B, of, "B", block_n, k_tile), of)
    staged, out = np.full(prod(of["C"]), np.nan, np.float16), np.full(of["C"], np.nan, np.float16)
    for row, column in parts(of, "C", "mma C"):
        staged[slots(of, "C", row, column)] = sums[row.min(), column.min()]
    for row, column in parts(of, "C", "store C"):
        assert (column == column[:, :1] + np.arange(8)).all() and (column[:, 0] % 8 == 0).all(), "16 bytes of a row"
        out[row, column] = staged[slots(of, "C", row, column)]
    return out


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("config, mnk", [(OTHERS[1], (72, 88, 40)), (OTHERS[3], (40, 72, 72)), (DEFAULT, (136, 72, 40))])
def test_the_data_flow_computes_the_product(config, mnk, pair):
    (M, N, K), (TILE_M, TILE_N, _), rng = mnk, config.tile, np.random.default_rng(sum(mnk))
    of = traced(config.tile, config.warps, pair)
    A, B = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((M, K), (N, K)))
    C = [[block_of_c(A, B, of, m, n) for n in range(-(-N // TILE_N))] for m in range(-(-M // TILE_M))]
    assert np.array_equal(np.block(C)[:M, :N], A.astype(np.float32) @ B.astype(np.float32).T)


def test_it_is_short_enough_to_read():
    assert len((ROOT / "ladder/simple_gemm.py").read_text().splitlines()) <= 210
