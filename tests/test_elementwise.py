"""Z = X + Y without a GPU: what it compiles to, its layout, and its threads' work run as host code. `make gpu` runs it."""

import cutlass
import cutlass.cute as cute
import numpy as np
import pytest
from cutlass.cute.runtime import make_fake_compact_tensor, make_fake_stream
from streams import compiled, count, launched, lines, refused, rng, run_on_host, runs_alone, traced

from ladder import elementwise as rung
from ladder import lowering
from ladder.elementwise import LOADS, THREADS, TILE, VECTOR, elementwise, host_elementwise
from ladder.streaming import ELEMENTWISE
from layoutviz import Layout, same_function
from layoutviz.cute import from_dsl
from layoutviz.memory import sectors


@pytest.mark.parametrize("arch", lowering.ARCHS)
@pytest.mark.parametrize("N", [2**20, 1_000_003])
def test_compiles_to_what_it_should(arch, N):
    found = compiled(elementwise, ELEMENTWISE.layouts(N), arch)
    assert f".target {arch}" in found.ptx
    assert found.opcodes["LDG.E.128"] == 2 * LOADS and found.opcodes["STG.E.128"] >= LOADS, "whole vectors"
    assert count(found, "LDG") == 2 * LOADS + 2 * LOADS * VECTOR, "and the tail, element by element"
    assert found.spills == 0 and found.registers <= 48
    first = [i.split()[0] for i in found.instructions if i.split(".")[0] in ("LDG", "HADD2", "HFMA2", "STG")][: 2 * LOADS]
    assert first == ["LDG.E.128"] * 2 * LOADS, "all loads of a tile that lies inside are under way before the first sum"


def test_a_length_known_only_at_run_time_compiles_to_vectors_too():
    lines = [make_fake_compact_tensor(cutlass.Float16, (cute.sym_int(),), stride_order=(0,), assumed_align=16) for _ in range(3)]
    found = lowering.compile_for(elementwise, *lines, make_fake_stream())
    assert found.opcodes["LDG.E.128"] == 2 * LOADS and found.spills == 0


def test_the_layout_is_the_one_that_it_says():
    tv = traced(lambda: from_dsl(rung.tv_layout()))
    assert same_function(tv, f"({THREADS},({VECTOR},{LOADS})):({VECTOR},(1,{THREADS * VECTOR}))")
    assert np.array_equal(np.sort(tv.offsets()), np.arange(TILE)), "each element of a tile has one place"
    traffic = sectors(Layout(TILE), tv, 16, VECTOR)
    assert traffic.efficiency == 1 and all(len(request.lines) == 4 for request in traffic.requests), "512 bytes in one piece"


@pytest.mark.parametrize("N", [1, 7, 8, 9, TILE - 1, TILE, TILE + 1, 2 * TILE, 2 * TILE + 8 * THREADS + 3])
def test_its_threads_work_at_the_edges(N):
    check = run_on_host(ELEMENTWISE, host_elementwise, (N,))
    assert check.ok, check.note


def test_its_threads_work_at_random_lengths():
    for _ in range(3):
        check = run_on_host(ELEMENTWISE, host_elementwise, (int(rng.integers(1, 30_000)),))
        assert check.ok and check.error == 0, check.note


@pytest.mark.parametrize("N, blocks", [(1, 1), (TILE, 1), (TILE + 1, 2), (10 * TILE - 1, 10)])
def test_the_blocks_cover_all(monkeypatch, N, blocks):
    assert launched(monkeypatch, rung, ELEMENTWISE, (N,)) == (blocks, THREADS)


@pytest.mark.parametrize("layouts, words", [
    ((Layout(64), Layout(65), Layout(64)), "Y has N = 65 and X has 64; they must be the same"),
    ((Layout(64), Layout(64), Layout(72)), "Z has N = 72 and X has 64"),
    ((Layout(64, 2), Layout(64), Layout(64)), r"X has layout \(64\):\(2\); its N must be contiguous"),
    ((Layout((8, 8)), Layout(64), Layout(64)), r"X has layout \(8,8\):\(1,8\); this kernel takes one flat mode, \(N\)"),
    ((Layout(64), Layout(((8, 8),)), Layout(64)), "Y has layout .* one flat mode"),
    ((Layout(2**31 - 1),) * 3, "X spans 2147483647 slots; .* at most 2147467264"),
])  # fmt: skip
def test_what_it_refuses(layouts, words):
    refused(elementwise, layouts, words)


@pytest.mark.parametrize("dtype, align, words", [
    (cutlass.Float32, 16, "X holds Float32; this kernel takes Float16"),
    (cutlass.Float16, 8, "X is only known to start at a multiple of 8 bytes; .* assumed_align=16"),
])  # fmt: skip
def test_types_and_starts_that_it_refuses(dtype, align, words):
    from ladder.errors import LadderError

    tensors = [lowering.fake_tensor(Layout(64), dtype, assumed_align=align) for _ in range(3)]
    with pytest.raises(LadderError, match=words):
        lowering.compile_for(elementwise, *tensors, make_fake_stream())


def test_runs_alone():
    done = runs_alone("elementwise", "--size", "5003")
    assert done.returncode == 0, done.stderr
    assert "compiled for sm_90a, NOT run, at 5003" in done.stdout and "LDG.E.128" in done.stdout and "right at 5003" in done.stdout
    done = runs_alone("elementwise", "--size", "5,3")
    assert done.returncode == 2 and "'5,3' is not N, whole numbers of 1 or more" in done.stderr


def test_it_is_short_enough_to_read():
    assert lines("elementwise") <= 90
