"""Persistent blocks: no more blocks than the GPU has SMs, each of which computes tile after tile, in an order that suits the L2 cache.

While the consumers write one tile of C, the producer already loads for the next: its ring runs on. And the order is ours now. All
blocks work on neighbouring places of the order at the same time, so what they read should overlap: a band of a few rows of tiles,
walked column by column, is nearer to a square than one long row of tiles. With `serpentine` every second band is walked backwards, so
that it begins with the B that was read last.

    python -m ladder.persistent --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

from dataclasses import dataclass

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass import pipeline
from cutlass.cute.nvgpu import warpgroup
from cutlass.memory import SmemAllocator
from cutlass.utils import HardwareInfo

from ladder.cooperative import CONSUMERS, STAGES, TILE
from ladder.multistage import make_ring
from ladder.needs import need, need_hopper
from ladder.warp_specialized import LOAD_REGISTERS, MULTIPLY_REGISTERS, load_tiles, multiply_all
from ladder.wgmma import FP16, SWIZZLE_BYTES, TILE_K, WARPGROUP, k_major_tiles, multiplier, store_tile, tma_load, tma_slices

H200_SMS = 132


@dataclass(frozen=True)
class Raster:
    """The order in which tiles of C are computed: bands of `group` rows of tiles, each walked column by column."""

    group: int = 8
    serpentine: bool = True


RASTERS = {"rows": Raster(1, False), "grouped": Raster(8, False), "serpentine": Raster(8, True)}


@cute.jit
def tile_at(index: cutlass.Int32, tiles_m: cutlass.Int32, tiles_n: cutlass.Int32, raster: cutlass.Constexpr):
    """(m, n) of the index-th tile of tiles_m x tiles_n. Pre: 0 <= index < tiles_m * tiles_n."""
    band = index // (raster.group * tiles_n)
    inside = index - band * raster.group * tiles_n
    rows = cutlass.min(raster.group, tiles_m - band * raster.group)  # the last band may be narrower
    n = inside // rows
    m = band * raster.group + inside - n * rows
    if cutlass.const_expr(raster.serpentine):
        if band % 2 == 1:
            n = tiles_n - 1 - n
    return m, n


def multiprocessors() -> int:
    """How many SMs the GPU has that is current; where none is, an H200's, for which to compile."""
    try:
        fault, gpu = cuda.cuCtxGetDevice()
    except RuntimeError:  # there is no driver
        return H200_SMS
    return H200_SMS if fault != cuda.CUresult.CUDA_SUCCESS else HardwareInfo(int(gpu)).get_device_multiprocessor_count()


def balanced(tiles: int, most: int) -> int:
    """The fewest blocks that need no more rounds than `most` would: more would only be idle in the last one.

    >>> balanced(1024, 132)
    128
    """
    rounds = -(-tiles // max(1, most))
    return -(-tiles // rounds)


@cute.kernel
def persistent_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, mC: cute.Tensor,
    mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, raster: cutlass.Constexpr,
):  # fmt: skip
    """A block computes the tiles block, block + blocks, block + 2 * blocks, ... of the raster."""
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    block, _, _ = cute.arch.block_idx()
    blocks, _, _ = cute.arch.grid_dim()
    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * STAGES)
    sA, sB = (smem.allocate_tensor(FP16, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b))
    ring = make_ring(barriers, STAGES, sum(TILE) * TILE_K * FP16.width // 8, 4 * CONSUMERS)
    gA = cute.local_tile(tA, (TILE[0], TILE_K), (None, None))  # (tile, TILE_K, tiles along m, tiles along k)
    gB = cute.local_tile(tB, (TILE[1], TILE_K), (None, None))
    tiles_m, tiles_n, k_tiles = cute.size(gA, mode=[2]), cute.size(gB, mode=[2]), cute.size(gA, mode=[3])

    if warp >= 4 * CONSUMERS:
        cute.arch.setmaxregister_decrease(LOAD_REGISTERS)
        if warp == 4 * CONSUMERS:
            tAsA, tAgA = tma_slices(tma_a, sA, gA)
            tBsB, tBgB = tma_slices(tma_b, sB, gB)
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
            for tile in cutlass.range(block, tiles_m * tiles_n, blocks, unroll=1):
                m, n = tile_at(tile, tiles_m, tiles_n, raster)
                state = load_tiles(ring, state, (tma_a, tAgA[None, m, None], tAsA), (tma_b, tBgB[None, n, None], tBsB), k_tiles)
            ring.producer_tail(state)
    else:
        cute.arch.setmaxregister_increase(MULTIPLY_REGISTERS)
        thr_mma = mma.get_slice(thread)
        tCrA = mma.make_fragment_A(thr_mma.partition_A(sA))
        tCrB = mma.make_fragment_B(thr_mma.partition_B(sB))
        acc = cute.make_rmem_tensor(mma.partition_shape_C(TILE), cutlass.Float32)
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
        for tile in cutlass.range(block, tiles_m * tiles_n, blocks, unroll=1):
            m, n = tile_at(tile, tiles_m, tiles_n, raster)
            acc.fill(0.0)
            state, held = multiply_all(ring, state, mma, acc, tCrA, tCrB, k_tiles)
            warpgroup.wait_group(0)
            ring.consumer_release(held)
            store_tile(thr_mma, acc, mC, TILE, (m, n))


def gemm_with(raster: Raster):
    """The GEMM whose blocks take the tiles in that order."""

    @cute.jit
    def gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
        need_hopper()
        need(mA, mB, mC, A="k", B="k", C="n", by_tma="AB")
        layout_a, layout_b = (k_major_tiles(rows, STAGES) for rows in TILE)
        tma_a, tA = tma_load(mA, layout_a, TILE[0])
        tma_b, tB = tma_load(mB, layout_b, TILE[1])
        tiles = cute.size(cute.ceil_div(mC.shape, TILE))
        persistent_kernel(tma_a, tA, tma_b, tB, mC, multiplier(TILE[1], CONSUMERS), layout_a, layout_b, raster).launch(
            grid=(balanced(tiles, multiprocessors()), 1, 1), block=((CONSUMERS + 1) * WARPGROUP, 1, 1), min_blocks_per_mp=1, stream=stream
        )

    return gemm


persistent_gemm = gemm_with(RASTERS["serpentine"])

if __name__ == "__main__":
    from ladder import harness

    harness.main(persistent_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
