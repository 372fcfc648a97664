"""B = A^T without a GPU: what it compiles to, its layouts by the model, and its threads' work run as host code. `make gpu` runs it."""

import re
from collections import Counter

import cutlass.cute as cute
import numpy as np
import pytest
from streams import compiled, count, launched, lines, refused, rng, run_on_host, runs_alone, traced, vector_atom

from ladder import lowering
from ladder import transpose as rung
from ladder.streaming import TRANSPOSE
from ladder.transpose import ACROSS, DOWN, THREADS, TILE, VECTOR, host_transpose, transpose
from layoutviz import Layout, same_function
from layoutviz.composed import as_layout
from layoutviz.cute import from_dsl, tv_of
from layoutviz.memory import bank_conflicts, sectors

SWIZZLED = "S<3,3,6> o 0 o (64,64):(64,1)"
VECTORS = TILE * TILE // VECTOR // THREADS  # of a thread


def whole_tile(layouts):
    """(thread, value) -> index in the TILE x TILE tile, as the kernel's partition has it, from the tiled copy's own layout."""
    tile, tv = traced(lambda: tv_of(cute.make_tiled_copy_tv(vector_atom(), *layouts())))
    rows, cols = tile
    table = tv.offsets().reshape(-1, THREADS).T  # (thread, value) -> index in the tiled copy's tile
    m, n = table % rows, table // rows
    steps = [(i, j) for j in range(0, TILE, cols) for i in range(0, TILE, rows)]
    return np.concatenate([m + i + TILE * (n + j) for i, j in steps], axis=1)


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("M, N", [(16384, 16384), (200, 136)])
def test_compiles_to_what_it_should(arch, M, N):
    found = compiled(transpose, TRANSPOSE.layouts(M, N), arch)
    assert found.opcodes["LDG.E.128"] == count(found, "LDG") == VECTORS, "whole vectors in"
    assert found.opcodes["STS.128"] == count(found, "STS") == VECTORS
    assert found.opcodes["LDS.U16"] == count(found, "LDS") == VECTORS * VECTOR, "gathered element by element"
    assert found.opcodes["STG.E.128"] == count(found, "STG") == VECTORS, "whole vectors out"
    assert count(found, "BAR") == 1 and found.spills == 0 and found.registers <= 32, "2048 threads on an SM"
    moves = [i.split(".")[0] for i in found.instructions if i.startswith(("LDG", "STS"))]
    assert moves == ["LDG"] * VECTORS + ["STS"] * VECTORS, "all loads are under way before the first store"


def test_the_layouts_are_those_that_it_says():
    tile, read = traced(lambda: tv_of(cute.make_tiled_copy_tv(vector_atom(), *rung.read_layouts())))
    assert tile == (DOWN, TILE) and same_function(read, f"(({ACROSS},{DOWN}),{VECTOR}):((256,1),32)")
    tile, write = traced(lambda: tv_of(cute.make_tiled_copy_tv(vector_atom(), *rung.write_layouts())))
    assert tile == (TILE, DOWN) and same_function(write, f"({THREADS},{VECTOR}):({VECTOR},1)")
    for layouts, tv in ((rung.read_layouts, read), (rung.write_layouts, write)):
        assert same_function(traced(lambda layouts=layouts: from_dsl(cute.make_layout_tv(*layouts())[1])), tv)
    assert same_function(traced(lambda: from_dsl(rung.tile_layout())), SWIZZLED)


def test_neither_side_has_a_bank_conflict():
    tile = traced(lambda: from_dsl(rung.tile_layout()))
    read, write = (as_threads(whole_tile(layouts)) for layouts in (rung.read_layouts, rung.write_layouts))
    assert bank_conflicts(tile, read, 16, VECTOR).conflicts == 0 and bank_conflicts(tile, write, 16).conflicts == 0
    per_vector = bank_conflicts(tile, write, 16).wavefronts + bank_conflicts(tile, read, 16, VECTOR).wavefronts
    assert per_vector / (TILE * TILE * 2 / 512) == 12, "wavefronts for the 512 bytes that a warp moves at once"
    plain = Layout((TILE, TILE), (TILE, 1))
    assert bank_conflicts(plain, write, 16).ways == bank_conflicts("S<3,3,3> o 0 o (64,64):(64,1)", write, 16).ways == 8
    assert bank_conflicts("(64,64):(72,1)", write, 16).ways == 8, "nor would padding by a vector do"


def as_threads(table: np.ndarray) -> Layout:
    """A (thread, value) table as a layout: the kernel's two are layouts of bits."""
    strides = [tuple(int(table[2**bit, 0]) for bit in range(8)), tuple(int(table[0, 2**bit]) for bit in range(4))]
    made = Layout(((2,) * 8, (2,) * 4), tuple(strides))
    assert np.array_equal(made.offsets().reshape(table.shape[1], table.shape[0]).T, table)
    return made


def test_global_memory_moves_only_what_is_asked():
    read, write = (as_threads(whole_tile(layouts)) for layouts in (rung.read_layouts, rung.write_layouts))
    for layout, threads in ((Layout((TILE, TILE), (1024, 1)), read), (Layout((TILE, TILE), (1, 1024)), write)):
        traffic = sectors(layout, threads, 16, VECTOR)
        assert traffic.efficiency == 1 and all(len(request.lines) == 4 for request in traffic.requests), "whole lines of 128 bytes"
    assert sectors(Layout((TILE, TILE), (1, 1024)), read, 16).efficiency == 1 / 4, "without a tile: 8 of the 32 bytes of a sector"


def test_by_its_layouts_each_element_is_read_once_and_lands_in_its_place():
    tile = as_layout(traced(lambda: from_dsl(rung.tile_layout())))
    A, B = Layout((TILE, TILE), (TILE, 1)), Layout((TILE, TILE), (1, TILE))  # both (m, n); B's slot is that of the transposed
    read, write = whole_tile(rung.read_layouts).ravel(), whole_tile(rung.write_layouts).ravel()
    for table in (read, write):
        assert np.array_equal(np.sort(table), np.arange(TILE * TILE)), "each element once"
    shared, b = np.full(TILE * TILE, -1), np.full(TILE * TILE, -1)
    shared[tile.at(read)] = A.at(read)  # each slot now has the number of A's slot that it came from
    b[B.at(write)] = shared[tile.at(write)]
    assert np.array_equal(b.reshape(TILE, TILE), np.arange(TILE * TILE).reshape(TILE, TILE).T)


def test_vectors_outside_are_not_even_read():
    ptx = compiled(transpose, TRANSPOSE.layouts(200, 136)).ptx
    compared = Counter(int(n) for n in re.findall(r"setp\.gt\.\S+\s+%p\d+, %r\d+, (\d+);", ptx))
    assert compared == {199: 3, 199 - DOWN: 1, 135: 3, 135 - DOWN: 1}, "each of the two, coming and going, by m and by n"


@pytest.mark.parametrize("M, N", [(8, 8), (TILE, TILE), (TILE - 8, TILE + 8), (8, 200), (200, 8), (2 * TILE, 3 * TILE)])
def test_its_threads_work_at_the_edges(M, N):
    check = run_on_host(TRANSPOSE, host_transpose, (M, N))
    assert check.ok, check.note


def test_its_threads_work_at_random_sizes():
    for _ in range(3):
        check = run_on_host(TRANSPOSE, host_transpose, (8 * int(rng.integers(1, 40)), 8 * int(rng.integers(1, 40))))
        assert check.ok and check.error == 0, check.note


@pytest.mark.parametrize("M, N, blocks", [(8, 8, 1), (TILE, TILE + 8, 2), (3 * TILE - 8, 2 * TILE + 8, 9), (2**22 + 8, 8, 2**16 + 1)])
def test_the_blocks_cover_all_tiles(monkeypatch, M, N, blocks):
    assert launched(monkeypatch, rung, TRANSPOSE, (M, N)) == (blocks, THREADS)


def test_rows_may_stand_apart():
    found = compiled(transpose, (Layout((200, 136), (144, 1)), Layout((136, 200), (208, 1))))
    assert found.opcodes["LDG.E.128"] == found.opcodes["STG.E.128"] == VECTORS


@pytest.mark.parametrize("layouts, words", [
    (TRANSPOSE.layouts(64, 100), "A has N = 100 contiguous, 200 bytes; .* N must be a multiple of 8: 96 or 104"),
    (TRANSPOSE.layouts(3, 64), "B has M = 3 contiguous, 6 bytes; .* M must be a multiple of 8: 8$"),
    ((Layout((16, 64), (1, 16)), Layout((64, 16), (16, 1))), "A has layout .* its N must be contiguous"),
    ((Layout((16, 64), (64, 1)), Layout((64, 16), (1, 64))), "B has layout .* its M must be contiguous"),
    ((Layout((16, 64), (64, 1)), Layout((16, 64), (64, 1))), "B has N = 16 and A has 64"),
    ((Layout((16, 64), (64, 1)), Layout((64, 16), (20, 1))), "B has stride 20 along N, 40 bytes"),
    ((Layout(((4, 4), 64), ((1, 4), 16)), Layout((64, 16), (16, 1))), r"two flat modes, \(M,N\)"),
    (TRANSPOSE.layouts(2**15, 2**16), "A spans 2147483648 slots"),
])  # fmt: skip
def test_what_it_refuses(layouts, words):
    refused(transpose, layouts, words)


def test_runs_alone():
    done = runs_alone("transpose", "--size", "72,136")
    assert done.returncode == 0, done.stderr
    assert "compiled for sm_90a, NOT run, at 72x136" in done.stdout and "STS.128" in done.stdout and "right at 72x136" in done.stdout
    done = runs_alone("transpose", "--size", "72,130")
    assert done.returncode == 1 and "N must be a multiple of 8: 128 or 136" in done.stderr


def test_it_is_short_enough_to_read():
    assert lines("transpose") <= 130
