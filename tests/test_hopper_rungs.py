"""The rungs for Hopper, as far as they go without a GPU: what they compile to, their layouts, what they refuse. `make gpu` runs them."""

import re
import types
from functools import cache
from pathlib import Path

import cutlass
import cutlass.cute as cute
import numpy as np
import pytest
from cutlass.cute.runtime import make_ptr
from cutlass.cute.typing import AddressSpace
from refusals import pair_with
from streams import traced

from ladder import full_gemm, hopper_gemm, lowering, persistent, pingpong, wgmma
from ladder.errors import LadderError
from ladder.hopper_gemm import choose, configs
from ladder.operands import k_contiguous, operand_pairs, padded_output, row_major_output
from ladder.rungs import RUNGS
from ladder.stress import told_of
from layoutviz import ComposedLayout, Layout, Swizzle, same_function
from layoutviz.cute import from_dsl
from layoutviz.memory import bank_conflicts

ROOT = Path(__file__).parent.parent
HOPPER = [name for name, rung in RUNGS.items() if rung.arch == "sm_90a"]
SPECIALISED = [name for name in HOPPER if name not in ("wgmma", "multistage")]
SMEM_LIMIT = 227 * 1024
RAGGED = 328, 264, 200
rng = np.random.default_rng()


@cache
def compiled(name: str):
    A, B = k_contiguous(*RAGGED)["TN"]
    return lowering.compile_gemm_for(RUNGS[name].gemm, (A, B, row_major_output(*RAGGED[:2])))


def count(name: str, pattern: str) -> int:
    return sum(n for opcode, n in compiled(name).opcodes.items() if re.match(pattern, opcode))


@pytest.mark.parametrize("name", HOPPER)
def test_spills_nothing_and_fits_the_registers(name):
    threads = int(re.search(r"\.reqntid (\d+), 1, 1\n", compiled(name).ptx).group(1))
    assert compiled(name).spills == 0
    assert threads in (128, 256, 384) and compiled(name).registers * threads <= 64 * 1024


@pytest.mark.parametrize("name, atom, atoms", [
    ("wgmma", "64x128x16", 8), ("multistage", "64x128x16", 8), ("warp_specialized", "64x128x16", 8), ("cooperative", "64x256x16", 4),
    ("persistent", "64x256x16", 4), ("multicast", "64x256x16", 4), ("pingpong", "64x128x16", 8), ("full_gemm", "64x256x16", 4),
])  # fmt: skip
def test_wgmma_multiplies_straight_from_shared_memory(name, atom, atoms):
    """64 of k are 4 atoms, for each 64 rows of a warpgroup's tile; a loop may be unrolled."""
    found = [i for i in compiled(name).instructions if i.startswith("HGMMA")]
    assert found and all(i.startswith(f"HGMMA.{atom}.F32") for i in found) and len(found) % atoms == 0
    assert count(name, r"HMMA|LDSM|LDS\b") == 0, "operands do not pass through registers"
    assert count(name, r"UTMALDG\.2D") >= 2 and count(name, "LDG") == 0, "all operands come by TMA"


@pytest.mark.parametrize("name", HOPPER)
def test_each_rung_holds_its_idea(name):
    assert (count(name, "USETMAXREG") == 2) == (name in SPECIALISED), "one warpgroup gives registers up, the others take them"
    in_clusters = name in ("multicast", "pingpong", "full_gemm", "hopper_gemm")
    assert (count(name, r"UTMALDG\.2D\.MULTICAST") > 0) == in_clusters
    assert (count(name, r"BAR\.ARV") > 0) == (name in ("pingpong", "hopper_gemm")), "taking turns"
    stored_by_tma = name in ("full_gemm", "hopper_gemm")
    assert (count(name, "STSM") > 0) == (count(name, "UTMASTG") > 0) == stored_by_tma == (count(name, "STG") == 0)
    if not stored_by_tma:
        assert all("." not in i.split()[0].removeprefix("STG.E") for i in compiled(name).instructions if i.startswith("STG")), (
            "32 bits at once"
        )


def test_full_gemm_stores_each_piece_during_the_next_tile_and_after_the_last():
    assert count("full_gemm", "UTMASTG") == 2 * full_gemm.PIECES


def test_each_configuration_has_as_many_stages_as_fit():
    for config in configs():
        stage = sum(config.block_tile) * 128
        used = config.stages * stage + full_gemm.CONSUMERS * full_gemm.BUFFERS * 64 * config.piece_n * 2 + 1024
        assert used <= SMEM_LIMIT < used + stage, "and not one more"
        assert config.stages >= 4 and config.tile[1] % config.piece_n == 0 and config.tile[0] % 64 == 0


@pytest.mark.parametrize("pair", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("output", [row_major_output, padded_output])
def test_hopper_gemm_compiles_for_every_major(pair, output):
    A, B = operand_pairs(*RAGGED)[pair]
    done = lowering.compile_gemm_for(hopper_gemm.hopper_gemm, (A, B, output(*RAGGED[:2])))
    assert done.spills == 0 and any(i.startswith("HGMMA") for i in done.instructions)


@pytest.mark.parametrize("config", configs(), ids=str)
def test_every_configuration_compiles_without_spills(config):
    A, B = operand_pairs(*RAGGED)["NT"]
    with told_of(4):  # SMs: then a tile leaves under the next
        done = lowering.compile_gemm_for(hopper_gemm.gemm_with(config), (A, B, row_major_output(*RAGGED[:2])))
    assert done.spills == 0 and done.registers <= 168
    assert {i.split()[0] for i in done.instructions if i.startswith("HGMMA")} == {f"HGMMA.64x{config.tile[1]}x16.F32"}


def test_bf16_compiles_to_bf16_multiplies():
    from cutlass.cute.runtime import make_fake_stream

    from ladder import binding

    layouts = (*k_contiguous(*RAGGED)["TN"], row_major_output(*RAGGED[:2]))
    call = binding.with_pointers(hopper_gemm.hopper_gemm, layouts)
    done = lowering.compile_for(call, *binding.any_pointers(cutlass.BFloat16), make_fake_stream())
    assert all(".BF16" in i.split()[0] for i in done.instructions if i.startswith("HGMMA")) and "HGMMA" in done.sass


# ---- layouts ----


def layout_of(make):
    """What `make()` gives inside a trace, as a layout of layoutviz."""
    return traced(lambda: from_dsl(make()))


SW128 = Swizzle(3, 3, 3)  # of the offsets of fp16 elements
BYTES = Swizzle(3, 4, 3)  # the same of bytes, as the DSL gives it to a pointer


def test_the_swizzle_of_bytes_is_that_of_elements():
    assert all(BYTES(2 * offset) == 2 * SW128(offset) for offset in range(4096))


def test_a_tile_lies_in_rows_of_128_bytes_swizzled():
    for rows, stages in ((128, 6), (256, 4)):
        plain = Layout((rows, 64, stages), (64, 1, rows * 64))
        for layout in (
            layout_of(lambda r=rows, s=stages: wgmma.k_major_tiles(r, s)),
            layout_of(lambda r=rows, s=stages: full_gemm.swizzled_tiles(r, s)),
        ):
            assert layout.outer == BYTES and same_function(layout.inner, plain)


def test_a_column_of_a_tile_is_read_without_conflict():
    """8 rows, 16 bytes each: what a core matrix of WGMMA is, and what one phase of stmatrix writes."""
    eight_rows = Layout((8, 8), (1, 64))
    assert bank_conflicts(ComposedLayout(SW128, 0, Layout((64, 64), (64, 1))), eight_rows, 16, 8).ways == 1
    assert bank_conflicts(Layout((64, 64), (64, 1)), eight_rows, 16, 8).ways == 8


@pytest.mark.parametrize("cols, contiguous, swizzle", [(64, 1, BYTES), (32, 1, Swizzle(2, 4, 3)), (64, 0, BYTES)])
def test_smem_tiles_of_either_major(cols, contiguous, swizzle):
    layout = layout_of(lambda: hopper_gemm.smem_tiles(128, cols, contiguous, (2,), cutlass.Float16))
    inner = layout.inner
    assert layout.outer == swizzle
    table = inner.offsets().reshape(2, cols, 128)  # [stage, column, row]
    assert sorted(table.ravel()) == list(range(2 * cols * 128)), "each place once"
    run = table[0, :, 0] if contiguous else table[0, 0, :]
    width = min(len(run), 64)
    assert list(run[:width]) == list(range(width)), "contiguous along the operand's own mode"
    assert table[1].min() == cols * 128, "stage after stage"


# ---- rasters and the rule ----


def order(tile_at, last, tiles_m: int, tiles_n: int) -> np.ndarray:
    """int32[tiles, 2]: the tiles in the order of a raster, by the kernel's own function run on the CPU."""
    out = np.full((tiles_m * tiles_n, 2), -1, np.int32)

    @cute.jit
    def fill(places: cute.Pointer, m: cutlass.Int32, n: cutlass.Int32):
        table = cute.make_tensor(places, cute.make_layout((m * n, 2), stride=(2, 1)))
        for i in range(m * n):
            table[i, 0], table[i, 1] = tile_at(i, m, n, last)

    fill(make_ptr(cutlass.Int32, out.ctypes.data, AddressSpace.generic), tiles_m, tiles_n)
    return out


RASTERS = [(persistent.tile_at, raster) for raster in persistent.RASTERS.values()]
RASTERS += [(hopper_gemm.place, patch) for patch in ((8, 8), (1, 5), (4, 16), (3, 1))]


@pytest.mark.parametrize("tile_at, last", RASTERS)
def test_a_raster_takes_every_tile_once(tile_at, last):
    for _ in range(4):
        m, n = (int(x) for x in rng.integers(1, 30, 2))
        tiles = order(tile_at, last, m, n)
        assert sorted(map(tuple, tiles)) == [(i, j) for i in range(m) for j in range(n)], (m, n)


def test_rasters_walk_as_they_say():
    rows, grouped, serpentine = (order(persistent.tile_at, raster, 16, 3) for raster in persistent.RASTERS.values())
    assert rows[:4].tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert grouped[:8].tolist() == [[m, 0] for m in range(8)] and grouped[24].tolist() == [8, 0]
    assert (serpentine[:24] == grouped[:24]).all() and serpentine[24:32].tolist() == [[m, 2] for m in range(8, 16)]
    patches = order(hopper_gemm.place, (2, 3), 5, 7)
    assert patches[:6].tolist() == [[m, n] for n in range(3) for m in range(2)], "a patch, column by column"
    assert patches[6].tolist() == [2, 0] and patches[12:15].tolist() == [[4, n] for n in range(3)], "the next below; the last is lower"
    assert patches[15].tolist() == [0, 3] and patches[-5:].tolist() == [[m, 6] for m in range(5)], "the next band; the last is narrower"


def test_the_fewest_blocks_for_as_many_rounds():
    for _ in range(200):
        tiles, most = (int(x) for x in rng.integers(1, 3000, 2))
        blocks = persistent.balanced(tiles, most)
        rounds = -(-tiles // most)
        assert blocks <= most and -(-tiles // blocks) == rounds
        assert blocks == 1 or -(-tiles // (blocks - 1)) > rounds


def test_the_rule_takes_what_costs_least():
    for _ in range(200):
        M, N, K = (int(8 * x) for x in rng.integers(1, 1500, 3))
        picked = choose(M, N, K)
        assert picked.cost(M, N, K, 132) == min(config.cost(M, N, K, 132) for config in configs())
        (tile_m, tile_n), (cluster_m, cluster_n) = picked.block_tile, picked.cluster
        m, n = -(-M // (tile_m * cluster_m)), -(-N // (tile_n * cluster_n))
        assert picked.clusters(M, N) == m * n
    assert choose(64, 4096, 4096).block_tile[0] == 64, "no tile half of which is empty"
    assert choose(8192, 1280, 8192).block_tile == (256, 160), "2 rounds; 256 x 128 would leave a third one half empty"
    assert choose(16384, 4096, 512).overlaps, "short sums, whose stores are to be hidden"


def test_a_band_is_what_the_l2_cache_holds():
    for K in (8, 1000, 4096, 10**6):
        columns = hopper_gemm.band_columns(K)
        assert columns == 2048 or columns * K * 2 <= 16 * 2**20 < (columns + 1) * K * 2


# ---- refusals ----


@pytest.mark.parametrize("name", HOPPER)
@pytest.mark.parametrize("changed, words", [
    ({"A": Layout((64, 100), (100, 1)), "B": Layout((72, 100), (100, 1))}, "A has K = 100 contiguous, 200 bytes"),
    ({"A": Layout((64, 128), (130, 1))}, "A has stride 130 along M, 260 bytes"),
    ({"B": Layout((72, 128), (256, 2))}, r"B has layout \(72,128\):\(256,2\)"),
    ({"C": Layout((64, 80), (80, 1))}, "C has N = 80 and B has 72"),
    ({"A": Layout(((32, 2), 128), ((128, 4096), 1))}, "two flat modes"),
    ({"C": Layout((64, 72), (64, 1))}, "C has N = 72 contiguous and stride 64 along M, so its rows overlap; the stride must be 72 or more"),
    ({"A": Layout((2**31, 128), (128, 1)), "C": Layout((2**31, 72), (72, 1))}, "A has a mode of 2147483648; .* at most 2147467264"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(name, changed, words):
    with pytest.raises(LadderError, match=words):
        lowering.compile_gemm_for(RUNGS[name].gemm, pair_with(**changed))


@pytest.mark.parametrize("name", HOPPER)
def test_only_tma_writes_a_result_that_32_bits_do_not_count(name):
    M = N = 2**16  # C has 2^32 elements, 8 GB; A and B are small
    layouts = Layout((M, 64), (64, 1)), Layout((N, 64), (64, 1)), Layout((M, N), (N, 1))
    if name in ("full_gemm", "hopper_gemm"):
        assert lowering.compile_gemm_for(RUNGS[name].gemm, layouts).opcodes["UTMASTG.2D"] > 0
    else:
        with pytest.raises(LadderError, match="C spans 4294967296 slots; this kernel counts in 32 bits"):
            lowering.compile_gemm_for(RUNGS[name].gemm, layouts)


@pytest.mark.parametrize("name", ["wgmma", "multistage", "warp_specialized", "cooperative"])
def test_more_blocks_than_a_grid_has_are_refused_by_name(name):
    N = 2**24 + 8
    with pytest.raises(LadderError, match=r"C takes (65537|131073) blocks along N; a launch has at most 65535"):
        lowering.compile_gemm_for(RUNGS[name].gemm, (Layout((8, 8), (8, 1)), Layout((N, 8), (8, 1)), Layout((8, N), (N, 1))))


@pytest.mark.parametrize("name", HOPPER)
def test_sizes_that_are_known_only_at_run_time_are_refused_by_name(name):
    from cutlass.cute.runtime import make_fake_stream, make_fake_tensor

    M, (A, B, C) = cute.sym_int(), pair_with()
    tensors = [lowering.fake_tensor(each) for each in (A, B, C)]
    tensors[0] = make_fake_tensor(cutlass.Float16, (M, 128), (128, 1), assumed_align=16)
    with pytest.raises(LadderError, match=r"A has layout .* some of it known only at run time; .* known when it is compiled"):
        lowering.compile_for(RUNGS[name].gemm, *tensors, make_fake_stream())


@pytest.mark.parametrize("name", [name for name in HOPPER if name != "hopper_gemm"])
def test_other_majors_are_refused_by_name(name):
    with pytest.raises(LadderError, match="B has layout .* its K must be contiguous"):
        lowering.compile_gemm_for(RUNGS[name].gemm, pair_with(B=Layout((72, 128), (1, 72))))
    with pytest.raises(LadderError, match="C has layout .* its N must be contiguous"):
        lowering.compile_gemm_for(RUNGS[name].gemm, pair_with(C=Layout((64, 72), (1, 64))))


@pytest.mark.parametrize("name", HOPPER)
def test_a_gpu_that_is_no_hopper_is_refused_by_name(name):
    with pytest.raises(LadderError, match="needs Hopper, sm_90a, .* sm_80; on Ampere and Ada the ladder goes up to simple_gemm"):
        lowering.compile_gemm_for(RUNGS[name].gemm, pair_with(), "sm_80")


def test_blackwell_is_not_taken_for_an_older_gpu():
    from cutlass.cute.runtime import make_fake_stream

    tensors = [lowering.fake_tensor(each) for each in pair_with()]
    with pytest.raises(LadderError, match="is being compiled for sm_100a$"):
        cute.compile(wgmma.wgmma_gemm, *tensors, make_fake_stream(), options="--gpu-arch=sm_100a")


def test_a_type_that_is_not_taken_is_refused_by_name():
    from cutlass.cute.runtime import make_fake_stream

    from ladder import binding

    call = binding.with_pointers(pingpong.pingpong_gemm, pair_with())
    with pytest.raises(LadderError, match="A holds BFloat16; this kernel takes Float16"):
        lowering.compile_for(call, *binding.any_pointers(cutlass.BFloat16), make_fake_stream())


def test_they_are_short_enough_to_read():
    for name in HOPPER:
        assert len((ROOT / f"ladder/{name}.py").read_text().splitlines()) <= (300 if name in ("full_gemm", "hopper_gemm") else 150), name


def test_buffers_that_a_kernel_cannot_take_are_refused_before_the_launch():
    """Stand-ins for torch tensors: on the CPU, of another type, beginning between vectors."""
    from ladder.binding import _start

    def buffer(is_cuda=True, dtype="torch.float16", at=4096):
        return types.SimpleNamespace(is_cuda=is_cuda, device="cpu", dtype=dtype, data_ptr=lambda: at)

    assert _start(1, buffer(), 8, "torch.float16") == 4112
    for given, base, words in (
        (buffer(is_cuda=False), 0, "operand 2 is on the cpu"),
        (buffer(dtype="torch.float32"), 0, "holds torch.float32; the kernel was compiled for torch.float16"),
        (buffer(at=4100), 0, "begins 4 bytes past"), (buffer(), 3, "begins 6 bytes past"),
    ):  # fmt: skip
        with pytest.raises(LadderError, match=words):
            _start(2, given, base, "torch.float16")
