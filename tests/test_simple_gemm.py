"""The classic GEMM without a GPU: what it compiles to, its layouts, and its data flow G -> S -> R -> C in numpy. `make gpu` runs it."""

import re
from math import prod
from pathlib import Path

import cutlass
import cutlass.cute as cute
import numpy as np
import pytest
from cutlass.cute.runtime import from_dlpack
from tensor_core_model import conflicts, ldmatrix, majors, mma_m16n8k16, parts, slots, traced

from ladder import harness, lowering
from ladder.errors import LadderError
from ladder.operands import Operand, operand_pairs, padded_output, row_major_output
from ladder.simple_gemm import CONFIGS, Config, GlobalToShared, SharedToRegisters, gemm_with, simple_gemm, tile_of
from ladder.tensor_core import matrix_copy, shared_layout, tensor_cores
from layoutviz import Layout, same_function

ROOT = Path(__file__).parent.parent
LARGE, SMALL = CONFIGS
PAIRS = ["NN", "NT", "TN", "TT"]
CAPACITY = {"sm_80": 163 * 1024, "sm_89": 99 * 1024, "sm_90a": 227 * 1024}  # bytes of shared memory that a block may have
OTHERS = [
    Config((128, 128, 64), 2, (2, 4)), Config((64, 64, 32), 2, (2, 2)), Config((256, 64, 64), 2, (4, 1)), Config((64, 32, 32), 3, (1, 1)),
]  # fmt: skip


def compiled_for(arch: str, pair: str, mnk=(200, 136, 72), config=SMALL):
    M, N, K = mnk
    return lowering.compile_gemm_for(gemm_with(config), (*operand_pairs(M, N, K)[pair], row_major_output(M, N)), arch)


# ---- what it compiles to ----


@pytest.mark.parametrize("arch, config", [("sm_80", LARGE), ("sm_80", SMALL), ("sm_89", SMALL), ("sm_90a", LARGE), ("sm_90a", SMALL)])
@pytest.mark.parametrize("pair", PAIRS)
def test_compiles_to_what_it_should(arch, config, pair):
    compiled = compiled_for(arch, pair, (4096, 4096, 4096), config)
    (M, N, K), threads = config.tile, config.threads

    def count(kind: str) -> int:
        return sum(n for opcode, n in compiled.opcodes.items() if opcode.split(".")[0] == kind)

    atoms_k = K // 16
    assert compiled.opcodes["HMMA.16816.F32"] == count("HMMA") == M * N * K // (16 * 8 * 16) // (threads // 32)
    loads = (M + N) * K // 8 // threads
    cp_async = sum(n for opcode, n in compiled.opcodes.items() if opcode.startswith("LDGSTS.E.BYPASS") and opcode.endswith(".128"))
    assert cp_async == count("LDGSTS") == loads * config.stages, "16 bytes each: the stages before the loop, and one in it"
    assert count("LDG") == 0
    matrices = {"A": M // 16 // config.warps[0], "B": N // 16 // config.warps[1]}  # ldmatrix x4, 16x16 each, for 16 of K
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
    """As many k-tiles of 64 as there is room for, else of 32: 4 or 2 atoms along K."""
    fits = LARGE if LARGE.shared_bytes <= CAPACITY[arch] else SMALL
    assert fits.shared_bytes <= CAPACITY[arch] and (fits == SMALL) == (arch == "sm_89")
    layouts = (*operand_pairs(200, 136, 72)["TN"], row_major_output(200, 136))
    assert lowering.compile_gemm_for(simple_gemm, layouts, arch).opcodes["HMMA.16816.F32"] == 2 * fits.tile[2]


@pytest.mark.parametrize("arch, fits", [("sm_80", True), ("sm_89", False), ("sm_90a", True)])
def test_a_configuration_too_large_for_the_gpu_is_refused(arch, fits):
    if fits:
        assert compiled_for(arch, "TN", config=LARGE).spills == 0
    else:
        with pytest.raises(LadderError, match=r"needs 147456 bytes of shared memory for a block; a block has 101376"):
            compiled_for(arch, "TN", config=LARGE)


@pytest.mark.parametrize("arguments, why", [
    ({"tile": (128, 192, 32)}, "powers of two"), ({"tile": (128, 256, 16)}, "32 or more"), ({"stages": 1}, "stages 2 or more"),
    ({"group": 0}, "group 1 or more"), ({"warps": (16, 1)}, "too many warps"), ({"tile": (32, 256, 32), "warps": (1, 8)}, "too many warps"),
])  # fmt: skip
def test_configurations_that_make_no_sense_are_refused(arguments, why):
    with pytest.raises(LadderError, match=why):
        Config(**{"tile": (128, 256, 32), "stages": 4} | arguments)


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
    assert "NOT run, for TN at 304x200x104" in out and "128 HMMA.16816.F32" in out and "LDSM.16.M88.4" in out and "LDGSTS" in out
    monkeypatch.setattr("sys.argv", ["simple_gemm", "--mnk", "304,200,100"])
    with pytest.raises(SystemExit, match="A has K = 100 contiguous"):
        harness.main(simple_gemm, pairs=harness.k_contiguous, output=harness.row_major_output)


# ---- its layouts ----


def test_the_tiles_are_what_the_chapter_draws():
    of = traced(SMALL.tile, SMALL.warps, "TN")
    assert same_function(of["stage A"], "S<2,3,3> o 0 o (128,32):(32,1)") and same_function(of["stage B"], "S<2,3,3> o 0 o (256,32):(32,1)")
    assert same_function(of["stage C"], "S<3,3,3> o 0 o ((8,16),(64,4)):((64,512),(1,8192))")
    of = traced(SMALL.tile, SMALL.warps, "NT")
    assert same_function(of["stage A"], "S<3,3,3> o 0 o ((64,2),(8,4)):((1,512),(64,1024))")


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("config", [LARGE, SMALL, *OTHERS])
def test_no_access_to_shared_memory_has_a_conflict(config, pair):
    of = traced(config.tile, config.warps, pair)
    for name in "AB":
        assert conflicts(of, name, f"load {name}", 8) == 0 == conflicts(of, name, f"ldsm from {name}", 8)
    assert conflicts(of, "C", "mma C", 2) == 0 == conflicts(of, "C", "store C", 8)


def test_without_the_swizzle_there_would_be_conflicts():
    of = traced(SMALL.tile, SMALL.warps, "TN") | {"stage A": Layout((128, 32), (32, 1)), "stage C": Layout((128, 256), (256, 1))}
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


# ---- its data flow: the kernel's own addresses, evaluated as host code; numpy moves what lies there ----
# `cute.make_tensor(0, layout)` counts: its elements are their own offsets.


def global_to_shared(X: Layout, tile, blocks: int, config: Config):
    """What each thread of each block copies: int[block, k-tile, thread, vector, 4].

    The four: the offset of a vector in X, that in shared memory, its k, and whether the predicate says that its row is inside.
    """
    tiles_k, vectors = -(-X.shape[1] // tile[1]), prod(tile) // 8 // config.threads
    found = np.zeros((blocks, tiles_k, config.threads, vectors, 4), np.int32)

    @cute.jit
    def evaluate(out: cute.Tensor):
        mX = cute.make_tensor(0, cute.make_layout(X.shape, stride=X.stride))
        sX = cute.make_tensor(0, shared_layout((*tile, config.stages), mX.leading_dim))
        for block in range(blocks):
            for thread in range(config.threads):
                x = GlobalToShared(mX, sX, tile, block, thread, config)
                down = cute.size(x.tXs, mode=[1])
                for k in cutlass.range_constexpr(tiles_k):
                    for i in cutlass.range_constexpr(vectors):
                        at = (0, i % down, i // down)
                        four = x.tXg[(*at, k)], x.tXs[(*at, k % config.stages)], x.tXc[(*at, k)][1], x.inside[at].to(cutlass.Int32)
                        for j in cutlass.range_constexpr(4):
                            out[block, k, thread, i, j] = four[j]

    evaluate(from_dlpack(found))
    return found


def shared_to_registers(name: str, major: int, config: Config):
    """Where ldmatrix reads, int[stage, k, i, thread]; the registers it fills, int[k, i, 8]; those that an atom reads, int[k, atom, V]."""
    tile, index = (config.tile["AB".index(name)], config.tile[2]), {}
    copies = tile[0] // 16 // config.warps["AB".index(name)]
    pointed = np.zeros((config.stages, tile[1] // 16, copies, config.threads), np.int32)

    @cute.jit
    def evaluate(out: cute.Tensor):
        mma = tensor_cores(config.warps)
        sX = cute.make_tensor(0, shared_layout((*tile, config.stages), major))
        if cutlass.const_expr(name == "A"):
            fragment, copy = mma.make_fragment_A(mma.partition_shape_A(tile)), cute.make_tiled_copy_A(matrix_copy(major), mma)
        else:
            fragment, copy = mma.make_fragment_B(mma.partition_shape_B(tile)), cute.make_tiled_copy_B(matrix_copy(major), mma)
        registers = cute.make_tensor(0, fragment.layout)
        tXr = copy.retile(registers)
        values, atoms, atoms_k = (cute.size(registers, mode=[mode]) for mode in range(3))
        index["filled"] = [[[tXr[v, i, k] for v in range(8)] for i in range(copies)] for k in range(atoms_k)]
        index["read"] = [[[registers[v, i, k] for v in range(values)] for i in range(atoms)] for k in range(atoms_k)]
        for thread in range(config.threads):
            x = SharedToRegisters(copy, sX, registers, thread)
            for stage in cutlass.range_constexpr(config.stages):
                for k in cutlass.range_constexpr(atoms_k):
                    for i in cutlass.range_constexpr(copies):
                        out[stage, k, i, thread] = x.tXs[0, i, k, stage]

    evaluate(from_dlpack(pointed))
    return pointed, np.array(index["filled"]), np.array(index["read"])


def brought_in(memory, vectors, stages):
    """Copy a k-tile into the stages, as the threads would: what they skip stays as it was."""
    for offset, place, k, inside in vectors.reshape(-1, 4):
        if k < 0:
            stages[place : place + 8] = 0
        elif inside:
            stages[place : place + 8] = memory[offset : offset + 8]


def in_registers(stages, of, k: int, stage: int, transpose: bool):
    """The fragments of one 16 of K: [thread, atom, value], by ldmatrix."""
    pointed, filled, read = of
    registers = np.full((pointed.shape[-1], filled.max() + 1), np.nan, np.float16)
    for i, starts in enumerate(pointed[stage, k]):
        rows = stages[starts[:, None] + np.arange(8)]
        for w in range(0, len(rows), 32):
            registers[w : w + 32, filled[k, i]] = ldmatrix(rows[w : w + 32], transpose)
    return registers[:, read[k]]


def block_of_c(memory, loads, of, pair: str, config: Config):
    """The tile of C that a block writes. memory, loads, of: for A and B, the flat matrix, this block's copies, `shared_to_registers`."""
    M, N, K = config.tile
    stages = [np.full(config.stages * rows * K, np.nan, np.float16) for rows in (M, N)]
    layouts = traced(config.tile, config.warps, pair)
    sums = np.zeros((config.threads, M // 16 // config.warps[0], N // 8 // config.warps[1], 4), np.float32)
    for tile in range(len(loads[0])):
        for x in range(2):
            brought_in(memory[x], loads[x][tile], stages[x])
        for k in range(K // 16):
            a, b = (in_registers(stages[x], of[x], k, tile % config.stages, layouts["majors"]["AB"[x]] == 0) for x in range(2))
            for w in range(0, config.threads, 32):
                for m, n in np.ndindex(sums.shape[1:3]):
                    sums[w : w + 32, m, n] = mma_m16n8k16(a[w : w + 32, m], b[w : w + 32, n], sums[w : w + 32, m, n])
    # the epilogue: each thread's sums, in order of atoms, go where the tiled MMA says; 16 bytes at a time they come back
    staged, out = np.full(M * N, np.nan, np.float16), np.full((M, N), np.nan, np.float16)
    down, along = M // layouts["mma C"][0][0], N // layouts["mma C"][0][1]
    wide = sums.reshape(config.threads, down, along, -1)
    for i, (row, column) in enumerate(parts(layouts, "C", "mma C")):
        staged[slots(layouts, "C", row, column)] = wide[:, i % down, i // down]
    for row, column in parts(layouts, "C", "store C"):
        assert (column == column[:, :1] + np.arange(8)).all() and (column[:, 0] % 8 == 0).all(), "16 bytes of a row"
        out[row, column] = staged[slots(layouts, "C", row, column)]
    return out


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "config, mnk", [(OTHERS[1], (72, 88, 40)), (OTHERS[3], (40, 72, 104)), (SMALL, (136, 72, 40)), (LARGE, (136, 72, 104))]
)
def test_the_data_flow_computes_the_product(config, mnk, pair):
    (M, N, K), (TILE_M, TILE_N, TILE_K), rng = mnk, config.tile, np.random.default_rng(sum(mnk))
    A, B = (Operand(name, X, *X.shape) for name, X in zip("AB", operand_pairs(M, N, K)[pair], strict=True))
    a, b = (X.place(rng.integers(-2, 3, (X.rows, X.cols)).astype(np.float16)) for X in (A, B))
    memory = [np.concatenate([x[X.base :], x[: X.base]]) for x, X in ((a, A), (b, B))]  # offset 0 first; NaN around the matrix
    rows, columns = -(-M // TILE_M), -(-N // TILE_N)
    loads = [global_to_shared(X.layout, (tile, TILE_K), n, config) for X, tile, n in ((A, TILE_M, rows), (B, TILE_N, columns))]
    of = [shared_to_registers(name, majors(pair)[name], config) for name in "AB"]
    C = [[block_of_c(memory, (loads[0][m], loads[1][n]), of, pair, config) for n in range(columns)] for m in range(rows)]
    assert np.array_equal(np.block(C)[:M, :N], A.read(a).astype(np.float32) @ B.read(b).astype(np.float32).T)


@pytest.mark.parametrize("pair", PAIRS)
def test_what_is_read_is_inside_the_matrices(pair):
    for X, rows in zip(operand_pairs(136, 264, 40)[pair], SMALL.tile, strict=False):
        vectors = global_to_shared(X, (rows, SMALL.tile[2]), -(-X.shape[0] // rows), SMALL).reshape(-1, 4)
        read = vectors[(vectors[:, 2] >= 0) & (vectors[:, 3] == 1), 0]
        assert sorted(read.tolist()) == list(range(0, 40 * X.shape[0], 8)), "each vector once, and none else"


def test_it_is_short_enough_to_read():
    assert len((ROOT / "ladder/simple_gemm.py").read_text().splitlines()) <= 220
