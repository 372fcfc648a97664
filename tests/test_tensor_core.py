"""The tensor-core rungs without a GPU: what they compile to, their layouts, and their data flow in numpy. `make gpu` runs them."""

import re
from math import prod
from pathlib import Path

import cutlass.cute as cute
import numpy as np
import pytest
from tensor_core_model import PLACES, conflicts, ldmatrix, mma_m16n8k16, multiply, parts, slots, traced

from ladder import harness, lowering
from ladder.errors import LadderError
from ladder.operands import operand_pairs, padded_output, row_major_output
from ladder.tensor_core import ATOM, TILE, WARPS, one_warp, tensor_core_gemm, tensor_cores
from layoutviz import Layout, same_function
from layoutviz.cute import tv_of

ROOT = Path(__file__).parent.parent
PAIRS = ["NN", "NT", "TN", "TT"]
OUTPUTS = [padded_output, row_major_output]


def compiled_for(gemm, arch: str, pair: str, mnk=(200, 136, 72), output=row_major_output):
    M, N, K = mnk
    return lowering.compile_gemm_for(gemm, (*operand_pairs(M, N, K)[pair], output(M, N)), arch)


def count(compiled, kind: str) -> int:
    return sum(n for opcode, n in compiled.opcodes.items() if opcode.split(".")[0] == kind)


# ---- what they compile to ----


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("pair", PAIRS)
def test_one_warp_reads_each_value_of_a_fragment(arch, pair):
    compiled = compiled_for(one_warp, arch, pair, (1000, 600, 16))
    assert compiled.opcodes["HMMA.16816.F32"] == 1, "K = 16 is one instruction"
    assert compiled.opcodes["LDG.E.U16"] == 8 + 4, "8 values of A, 4 of B, one by one"
    assert count(compiled, "LDS") + count(compiled, "LDSM") + count(compiled, "BAR") == 0
    assert compiled.spills == 0 and compiled.registers <= 64


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_block_compiles_to_what_it_should(arch, pair, output):
    compiled = compiled_for(tensor_core_gemm, arch, pair, output=output)
    (M, N, K), warps = TILE, prod(WARPS)
    assert compiled.opcodes["HMMA.16816.F32"] == count(compiled, "HMMA") == M * N * K // prod(ATOM) // warps
    loads = (M + N) * K // 8 // (32 * warps)
    assert compiled.opcodes["LDG.E.128"] == count(compiled, "LDG") == compiled.opcodes["STS.128"] == count(compiled, "STS") == loads
    matrices = {"A": M // WARPS[0] // 16 * (K // 16), "B": N // WARPS[1] // 16 * (K // 16)}  # of 16x16, a warp's part
    transposed = (pair[0] == "N") * matrices["A"] + (pair[1] == "T") * matrices["B"]
    assert compiled.opcodes["LDSM.16.MT88.4"] == transposed
    assert compiled.opcodes["LDSM.16.M88.4"] == sum(matrices.values()) - transposed
    assert count(compiled, "BAR") == 2, "after the tiles are there, and before they are replaced"
    assert compiled.spills == 0 and compiled.registers <= 128, "two blocks fit on an SM"


@pytest.mark.parametrize("A, B", [
    (Layout(((32, 4), 48), ((1, 1536), 32)), Layout((96, (8, 6)), (8, (1, 768)))), (Layout((5, 3), (3, 1)), Layout((7, 3), (1, 7))),
    (Layout((1, 1), (1, 1)), Layout((1, 1), (1, 1))),
])  # fmt: skip
def test_one_warp_takes_nested_and_tiny_operands(A, B):
    for output in OUTPUTS:
        assert count(lowering.compile_gemm_for(one_warp, (A, B, output(A[0].size, B[0].size))), "HMMA") > 0


@pytest.mark.parametrize("mnk, pair", [((8, 8, 8), "NN"), ((136, 264, 7), "NT"), ((1, 3, 8), "TN")])
def test_the_block_takes_tiny_and_ragged_operands(mnk, pair):
    assert compiled_for(tensor_core_gemm, "sm_80", pair, mnk).spills == 0, "what is not contiguous may have any size, and so may C"


@pytest.mark.parametrize("A, B, why", [
    (Layout((64, 60), (60, 1)), Layout((64, 60), (60, 1)), "A has K = 60 contiguous, 120 bytes"),
    (Layout((64, 64), (64, 1)), Layout((60, 64), (1, 60)), "B has N = 60 contiguous, 120 bytes"),
    (Layout(((32, 2), 64), ((64, 2048), 1)), Layout((64, 64), (64, 1)), "two flat modes"),
    (Layout((64, 64), (64, 1)), Layout((64, 72), (72, 1)), "B has K = 72 and A has 64"),
])  # fmt: skip
def test_operands_it_cannot_take_are_refused_by_name(A, B, why):
    with pytest.raises(LadderError, match=re.escape(why)):
        lowering.compile_gemm_for(tensor_core_gemm, (A, B, padded_output(A[0].size, B[0].size)))


def test_one_warp_refuses_operands_that_do_not_fit():
    with pytest.raises(LadderError, match="B has K = 5 and A has 3"):
        lowering.compile_gemm_for(one_warp, (Layout((4, 3)), Layout((4, 5)), Layout((4, 4))))


def test_the_command_line_compiles_where_there_is_no_gpu(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["tensor_core"])
    for gemm in (one_warp, tensor_core_gemm):
        harness.main(gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
    out = capsys.readouterr().out
    assert out.count("NOT run, for TN at 304x200x104") == 2 and "64 HMMA.16816.F32" in out and "24 LDSM.16.M88.4" in out


# ---- their layouts ----


@pytest.mark.parametrize("name, tile, tv", [
    ("A", (16, 16), "((4,8),(2,2,2)):((32,1),(16,8,128))"), ("B", (8, 16), "((4,8),(2,2)):((16,1),(8,64))"),
    ("C", (16, 8), "((4,8),(2,2)):((32,1),(16,8))"),
])  # fmt: skip
def test_the_atom_deals_out_values_as_the_ptx_manual_draws_it(name, tile, tv):
    found = []

    @cute.jit
    def trace():
        found.append(tv_of(tensor_cores((1, 1), atoms_n=1), name))

    trace()
    assert found[0][0] == tile and same_function(found[0][1], tv)
    row, column = PLACES[name]
    assert np.array_equal(found[0][1].offsets().reshape(-1, 32).T, row + tile[0] * column)


def test_the_tiles_are_what_the_chapter_draws():
    assert same_function(traced(TILE, WARPS, "TN")["stage A"], "S<3,3,3> o 0 o (128,64):(64,1)")
    assert same_function(traced(TILE, WARPS, "NT")["stage A"], "S<3,3,3> o 0 o ((64,2),(8,8)):((1,512),(64,1024))")


@pytest.mark.parametrize("pair", PAIRS)
def test_no_access_to_shared_memory_has_a_conflict(pair):
    of = traced(TILE, WARPS, pair)
    for name in "AB":
        assert conflicts(of, name, f"load {name}", 8) == 0 == conflicts(of, name, f"ldsm from {name}", 8)


def test_without_the_swizzle_there_would_be_conflicts():
    of = traced(TILE, WARPS, "TN") | {"stage A": Layout((128, 64), (64, 1))}
    assert conflicts(of, "A", "ldsm from A", 8) > 0


# ---- their data flow, in numpy ----


def random(M, N, K):
    rng = np.random.default_rng(M + N + K)
    return [rng.integers(-2, 3, shape).astype(np.float16) for shape in ((M, K), (N, K))]


def test_one_warp_computes_the_product():
    (M, N, K) = sizes = 37, 21, 43
    A, B = random(*sizes)
    padded = [np.zeros((-(-X.shape[0] // rows) * rows, -(-K // 16) * 16), np.float16) for X, rows in ((A, 16), (B, 8))]
    for whole, X in zip(padded, (A, B), strict=True):
        whole[: X.shape[0], :K] = X
    C = np.zeros((padded[0].shape[0], padded[1].shape[0]), np.float32)
    rows, columns = PLACES["C"]
    for m in range(0, C.shape[0], 16):
        for n in range(0, C.shape[1], 8):
            acc = np.zeros((32, 4), np.float32)
            for k in range(0, padded[0].shape[1], 16):
                a, b = (X[start + PLACES[name][0], k + PLACES[name][1]] for X, start, name in zip(padded, (m, n), "AB", strict=True))
                acc = mma_m16n8k16(a, b, acc)
            C[m + rows, n + columns] = acc
    assert np.array_equal(C[:M, :N], A.astype(np.float32) @ B.astype(np.float32).T)


@pytest.mark.parametrize("transpose", [False, True])
def test_ldmatrix_of_the_model_gives_the_fragment_of_a(transpose):
    piece = np.arange(256).reshape(16, 16)
    quarters = [piece[r : r + 8, c : c + 8] for c in (0, 8) for r in (0, 8)]  # in register order: rows 0 and 8, then k from 8 on
    rows = np.concatenate([quarter.T if transpose else quarter for quarter in quarters])
    assert np.array_equal(ldmatrix(rows, transpose), piece[tuple(PLACES["A"])])


def brought_in(X, of, name: str, block: int, k_tile: int):
    """The tile in shared memory: 0 beyond the edges."""
    rows, columns = of[name]
    stage = np.full(rows * columns, np.nan, np.float16)
    for row, column in parts(of, name, "load " + name):
        m, k, there = block * rows + row, k_tile * columns + column, slots(of, name, row, column)
        inside = (m < X.shape[0])[:, 0] & (k < X.shape[1])[:, 0]  # each vector is judged by its first element
        assert (m[inside] < X.shape[0]).all() and (k[inside] < X.shape[1]).all(), "a vector hangs over an edge"
        stage[there] = 0
        stage[there[inside]] = X[m[inside], k[inside]]
    assert not np.isnan(stage).any(), "the threads fill the tile"
    return stage


@pytest.mark.parametrize("pair", PAIRS)
def test_a_block_computes_the_product(pair):
    (M, N, K) = sizes = 136, 72, 104
    A, B = random(*sizes)
    of = traced(TILE, WARPS, pair)
    C = np.full((256, 128), np.nan)
    for block in range(2):
        sums: dict = {}
        for k_tile in range(2):
            multiply(sums, brought_in(A, of, "A", block, k_tile), brought_in(B, of, "B", 0, k_tile), of)
        for row, column in parts(of, "C", "mma C"):
            C[block * 128 + row, column] = sums[row.min(), column.min()]
    assert np.array_equal(C[:M, :N], A.astype(np.float32) @ B.astype(np.float32).T) and not C[M:].any() and not C[:, N:].any()


def test_it_is_short_enough_to_read():
    assert len((ROOT / "ladder/tensor_core.py").read_text().splitlines()) <= 180
