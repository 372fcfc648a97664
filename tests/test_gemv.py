"""y = A x without a GPU: what it compiles to, its layout, and its lanes' work run as host code. `make gpu` runs it."""

import numpy as np
import pytest
from streams import compiled, count, launched, lines, refused, rng, run_on_host, runs_alone, traced

from ladder import gemv as rung
from ladder import lowering
from ladder.gemv import LOADS, ROWS, TILE_K, VECTOR, WARP, gemv, host_gemv
from ladder.streaming import GEMV
from layoutviz import Layout, same_function
from layoutviz.cute import from_dsl
from layoutviz.memory import sectors


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("M, K", [(16384, 16384), (65536, 4096), (4096, 65536), (333, 4104)])
def test_compiles_to_what_it_should(arch, M, K):
    found = compiled(gemv, GEMV.layouts(M, K), arch)
    assert count(found, "FFMA") == 2 * LOADS * VECTOR, "sums in fp32, two tiles at a time"
    assert found.opcodes["LDG.E.128"] == count(found, "LDG") == 5 * LOADS, "the first tile of A; for each of the two the next one, and x"
    assert found.opcodes["SHFL.BFLY"] == 5 and count(found, "BAR") == 0, "32 lanes, halved five times, without shared memory"
    assert count(found, "STG") == 1
    assert found.spills == 0 and found.registers <= 64, "4 blocks of 256 threads on an SM"


def test_the_next_tile_is_under_way_before_this_one_is_used():
    found = [i.split()[0] for i in compiled(gemv, GEMV.layouts(16384, 16384)).instructions]
    moves = [place for place, i in enumerate(found) if i in ("MOV", "IMAD.MOV.U32")]
    loads, products = ([place for place, i in enumerate(found) if i.startswith(kind)] for kind in ("LDG", "FFMA"))
    assert loads[LOADS - 1] < products[0] and not any(place > products[0] for place in moves), "no vector waits to be moved"
    assert sum(load < products[0] for load in loads) >= 2 * LOADS, "the first tile, and some of the second or of x"


def test_the_layout_is_the_one_that_it_says():
    tv = traced(lambda: from_dsl(rung.tv_layout()))
    assert same_function(tv, f"({WARP},({VECTOR},{LOADS})):({VECTOR},(1,{WARP * VECTOR}))")
    assert np.array_equal(np.sort(tv.offsets()), np.arange(TILE_K)), "each element of a tile has one place"
    traffic = sectors(Layout(TILE_K), tv, 16, VECTOR)
    assert traffic.efficiency == 1 and all(len(request.lines) == 4 for request in traffic.requests), "512 bytes in one piece"


@pytest.mark.parametrize("M, K", [(1, 8), (ROWS + 1, TILE_K - 8), (3, TILE_K), (2, TILE_K + 8), (5, 3 * TILE_K + 256)])
def test_its_lanes_work_at_the_edges(M, K):
    check = run_on_host(GEMV, host_gemv, (M, K))
    assert check.ok, check.note


def test_its_lanes_work_at_random_sizes():
    for _ in range(3):
        check = run_on_host(GEMV, host_gemv, (int(rng.integers(1, 50)), 8 * int(rng.integers(1, 600))))
        assert check.ok and 0 < check.error < 5e-4, check.note


@pytest.mark.parametrize("M, blocks", [(1, 1), (ROWS, 1), (ROWS + 1, 2), (8 * ROWS - 1, 8)])
def test_the_blocks_cover_all_rows(monkeypatch, M, blocks):
    assert launched(monkeypatch, rung, GEMV, (M, 64)) == (blocks, ROWS * WARP)


def test_warps_past_the_last_row_are_kept_out():
    assert "setp.gt.s32" in compiled(gemv, GEMV.layouts(203, 64)).ptx
    assert ", 202;" in compiled(gemv, GEMV.layouts(203, 64)).ptx


def test_rows_may_stand_apart():
    A = Layout((20, 64), (72, 1))
    assert compiled(gemv, (A, Layout(64), Layout(20))).opcodes["LDG.E.128"] > 0


@pytest.mark.parametrize("layouts, words", [
    (GEMV.layouts(16, 100), "A has K = 100 contiguous, 200 bytes; .* K must be a multiple of 8: 96 or 104"),
    ((Layout((16, 64), (1, 16)), Layout(64), Layout(16)), r"A has layout \(16,64\):\(1,16\); its K must be contiguous"),
    ((Layout((16, 64), (68, 1)), Layout(64), Layout(16)), "A has stride 68 along M, 136 bytes; .* a multiple of 8: 64 or 72"),
    ((Layout((16, 64), (64, 1)), Layout(72), Layout(16)), "x has K = 72 and A has 64"),
    ((Layout((16, 64), (64, 1)), Layout(64), Layout(17)), "y has M = 17 and A has 16"),
    ((Layout((16, 64), (64, 1)), Layout(64, 2), Layout(16)), "its K must be contiguous"),
    (GEMV.layouts(2**15, 2**16), "A spans 2147483648 slots; this kernel counts in 32 bits"),
])  # fmt: skip
def test_what_it_refuses(layouts, words):
    refused(gemv, layouts, words)


def test_runs_alone():
    done = runs_alone("gemv", "--size", "30,1000")
    assert done.returncode == 0, done.stderr
    assert "compiled for sm_90a, NOT run, at 30x1000" in done.stdout and "right at 30x1000" in done.stdout
    done = runs_alone("gemv", "--size", "30,1004")
    assert done.returncode == 1 and "K must be a multiple of 8: 1000 or 1008" in done.stderr and "Traceback" not in done.stderr


def test_it_is_short_enough_to_read():
    assert lines("gemv") <= 110
