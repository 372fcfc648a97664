"""The tensor-core rungs without a GPU: what they compile to, their layouts, and their data flow in numpy. `make gpu` runs them."""

import re
from math import prod
from pathlib import Path

import cutlass
import cutlass.cute as cute
import numpy as np
import pytest
from cutlass.cute.nvgpu import CopyUniversalOp
from cutlass.cute.runtime import make_ptr
from cutlass.cute.typing import AddressSpace
from tensor_core_model import PLACES, conflicts, ldmatrix, mma_m16n8k16, multiply, parts, traced

from ladder import harness, lowering
from ladder.errors import LadderError
from ladder.operands import make_operands, operand_pairs, padded_output, row_major_output
from ladder.tensor_core import (
    ATOM,
    TILE,
    WARPS,
    load_tile,
    load_values,
    one_warp,
    shared_layout,
    store_values,
    tensor_core_gemm,
    tensor_cores,
    vector_copy,
)  # fmt: skip
from layoutviz import Layout, same_function
from layoutviz.cute import tv_of
from layoutviz.memory import sectors

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


@pytest.mark.parametrize("arch, output", [*((arch, row_major_output) for arch in lowering.ARCHS), ("sm_80", padded_output)])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_block_compiles_to_what_it_should(arch, output, pair):
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
    nested = Layout(((2, 2), 8), ((8, 2**32), 1))
    with pytest.raises(LadderError, match="A spans 4294967312 slots"):
        lowering.compile_gemm_for(one_warp, (nested, Layout((4, 8)), Layout((4, 4))))


def test_a_result_that_32_bits_do_not_count_is_refused():
    A, B, C = Layout((2**16, 64), (64, 1)), Layout((2**16, 64), (64, 1)), padded_output(2**16, 2**16)
    with pytest.raises(LadderError, match="C spans .* this kernel counts in 32 bits"):
        lowering.compile_gemm_for(tensor_core_gemm, (A, B, C))


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


@pytest.mark.parametrize("pair", PAIRS)
def test_global_memory_gives_only_bytes_that_are_used(pair):
    of = traced(TILE, WARPS, pair)
    for name in "AB":
        tile, tv = of["load " + name]
        matrix = Layout(tile, (1, 4096) if of["majors"][name] == 0 else (4096, 1))
        assert sectors(matrix, tv, 16, 8).efficiency == 1
        assert all(len(request.lines) <= 4 for request in sectors(matrix, tv, 16, 8).requests), "whole lines of 128 bytes"


def test_without_the_swizzle_there_would_be_conflicts():
    of = traced(TILE, WARPS, "TN") | {"stage A": Layout((128, 64), (64, 1))}
    assert conflicts(of, "A", "ldsm from A", 8) > 0


# ---- their data flow: the kernels' own loads and stores, run as host code, and the tensor cores in numpy ----


def operands(M, N, K, pair: str):
    """A, B and C (padded), and buffers of random integers, NaN around them."""
    rng = np.random.default_rng(M + N + K)
    of = make_operands(*operand_pairs(M, N, K)[pair])
    return of, [X.place(rng.integers(-2, 3, (X.rows, X.cols)).astype(np.float16)) for X in of[:2]] + [of[2].blank()]


def on_host(evaluate, *buffers) -> None:
    """Run a jit function of pointers on numpy buffers; (buffer, Operand) points at the operand's offset 0."""
    starts = [(buffer, 0) if isinstance(buffer, np.ndarray) else (buffer[0], buffer[1].base) for buffer in buffers]
    types = {np.dtype(np.float16): cutlass.Float16, np.dtype(np.float32): cutlass.Float32}
    evaluate(*[make_ptr(types[x.dtype], x.ctypes.data + x.itemsize * base, AddressSpace.generic, assumed_align=16) for x, base in starts])


def matrix(pointer, X):
    return cute.make_tensor(pointer, cute.make_layout(X.layout.shape, stride=X.layout.stride))


def warp_fragments(X, buffer):
    """What `load_values` brings of A or B: [block, k, thread, value]."""
    rows, values = (16, 8) if X.name == "A" else (8, 4)
    found = np.full((-(-X.rows // rows), -(-X.cols // 16), 32, values), np.nan, np.float16)

    @cute.jit
    def evaluate(x: cute.Pointer, out: cute.Pointer):
        mX, mma = matrix(x, X), tensor_cores((1, 1), atoms_n=1)
        out = cute.make_tensor(out, cute.make_ordered_layout(found.shape, (3, 2, 1, 0)))
        for block in range(found.shape[0]):
            gX, cX = (cute.local_tile(each, (rows, 16), (block, None)) for each in (mX, cute.make_identity_tensor(mX.shape)))
            for thread in range(32):
                part = mma.get_slice(thread)
                partition = part.partition_A if cutlass.const_expr(X.name == "A") else part.partition_B
                tXg, tXc = partition(gX), partition(cX)
                for k in cutlass.range_constexpr(found.shape[1]):
                    tXr = cute.make_rmem_tensor(tXg[None, None, None, k].shape, cutlass.Float16)
                    load_values(tXg[None, None, None, k], tXc[None, None, None, k], tXr, mX.shape)
                    for i in cutlass.range_constexpr(values):
                        out[block, k, thread, i] = tXr[i]

    on_host(evaluate, (buffer, X), found)
    return found


def warp_stores(C, buffer, sums):
    """`store_values` of sums[block_m, block_n, thread, value]."""

    @cute.jit
    def evaluate(c: cute.Pointer, values: cute.Pointer):
        mC, mma = matrix(c, C), tensor_cores((1, 1), atoms_n=1)
        values = cute.make_tensor(values, cute.make_ordered_layout(sums.shape, (3, 2, 1, 0)))
        for m in range(sums.shape[0]):
            for n in range(sums.shape[1]):
                gC, cC = (cute.local_tile(each, (16, 8), (m, n)) for each in (mC, cute.make_identity_tensor(mC.shape)))
                for thread in range(32):
                    part = mma.get_slice(thread)
                    acc = cute.make_rmem_tensor(mma.partition_shape_C((16, 8)), cutlass.Float32)
                    for i in cutlass.range_constexpr(4):
                        acc[i] = values[m, n, thread, i]
                    store_values(acc, part.partition_C(gC), part.partition_C(cC), mC.shape)

    on_host(evaluate, (buffer, C), sums)


@pytest.mark.parametrize("pair", PAIRS)
def test_one_warp_computes_the_product(pair):
    (A, B, C), (a, b, c) = operands(37, 21, 43, pair)
    of_a, of_b = warp_fragments(A, a), warp_fragments(B, b)
    sums = np.zeros((len(of_a), len(of_b), 32, 4), np.float32)
    for m, n in np.ndindex(sums.shape[:2]):
        for k in range(of_a.shape[1]):
            sums[m, n] = mma_m16n8k16(of_a[m, k], of_b[n, k], sums[m, n])
    warp_stores(C, c, sums)
    assert np.array_equal(C.read(c), A.read(a).astype(np.float32) @ B.read(b).astype(np.float32).T) and C.strays(c) == 0


@pytest.mark.parametrize("transpose", [False, True])
def test_ldmatrix_of_the_model_gives_the_fragment_of_a(transpose):
    piece = np.arange(256).reshape(16, 16)
    quarters = [piece[r : r + 8, c : c + 8] for c in (0, 8) for r in (0, 8)]  # in register order: rows 0 and 8, then k from 8 on
    rows = np.concatenate([quarter.T if transpose else quarter for quarter in quarters])
    assert np.array_equal(ldmatrix(rows, transpose), piece[tuple(PLACES["A"])])


def brought_in(X, buffer, tile, block: int, k: int):
    """Shared memory after all threads of a block have run `load_tile`."""
    stage, threads = np.full(prod(tile), np.nan, np.float16), 32 * prod(WARPS)

    @cute.jit
    def evaluate(x: cute.Pointer, s: cute.Pointer):
        mX = matrix(x, X)
        sX = cute.make_tensor(s, shared_layout(tile, mX.leading_dim))
        gX, cX = (cute.local_tile(each, tile, (block, None)) for each in (mX, cute.make_identity_tensor(mX.shape)))
        copy = vector_copy(CopyUniversalOp(), tile, mX.leading_dim, threads)
        for thread in range(threads):
            part = copy.get_slice(thread)
            tXg, tXc = (part.partition_S(each)[None, None, None, k] for each in (gX, cX))
            load_tile(copy, tXg, tXc, part.partition_D(sX), mX.shape)

    on_host(evaluate, (buffer, X), stage)
    return stage


@pytest.mark.parametrize("pair", PAIRS)
def test_a_block_computes_the_product(pair):
    (A, B, C), (a, b, _) = operands(136, 72, 104, pair)
    of = traced(TILE, WARPS, pair)
    whole = np.full((256, 128), np.nan)
    for block in range(2):
        sums: dict = {}
        for k in range(2):
            multiply(sums, brought_in(A, a, of["A"], block, k), brought_in(B, b, of["B"], 0, k), of)
        for row, column in parts(of, "C", "mma C"):
            whole[block * 128 + row, column] = sums[row.min(), column.min()]
    assert np.array_equal(whole[:136, :72], A.read(a).astype(np.float32) @ B.read(b).astype(np.float32).T)
    assert not whole[136:].any() and not whole[:, 72:].any(), "what hangs over counts as 0"


def test_it_is_short_enough_to_read():
    assert len((ROOT / "ladder/tensor_core.py").read_text().splitlines()) <= 185
