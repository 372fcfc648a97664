"""Warp specialisation: one warp only loads, a warpgroup only multiplies, and neither does the other's waiting.

Both follow the same ring of stages, each with a state of its own. Loading takes next to no registers, multiplying takes many: so the
loading warpgroup gives registers up and the multiplying one takes them (setmaxnreg). Here it need not: of 154 registers a thread 128
are sums, and a block of 256 threads could start with 255. It has to once a warpgroup's tile is 128 x 192, as in ladder.hopper_gemm, and
three warpgroups start with 168 each.

    python -m ladder.warp_specialized --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass import pipeline
from cutlass.cute.nvgpu import warpgroup
from cutlass.memory import SmemAllocator

from ladder.multistage import load_stage, make_ring
from ladder.needs import need, need_grid, need_hopper
from ladder.wgmma import FP16, SWIZZLE_BYTES, TILE_K, WARPGROUP, k_major_tiles, multiplier, multiply_tiles, store_tile, tma_load, tma_slices

LOAD_REGISTERS, MULTIPLY_REGISTERS = 40, 232  # a thread; those of all warpgroups of a block together are at most 64 K


@cute.jit
def load_tiles(ring, state, a, b, k_tiles: cutlass.Int32, masks: cutlass.Constexpr = (None, None)):
    """The producer's work for one tile of C: fill k_tiles stages, each as soon as it is empty. Returns the next state.

    a, b, masks: as in load_stage.
    """
    for k in cutlass.range(k_tiles, unroll=1):
        load_stage(ring, state, a, b, k, masks)
        state.advance()
    return state


@cute.jit
def multiply_all(ring, state, mma: cute.TiledMma, acc: cute.Tensor, tCrA: cute.Tensor, tCrB: cute.Tensor, k_tiles: cutlass.Int32):
    """A consumer's work for one tile of C: acc += the products of k_tiles stages, each as soon as it is full.

    The last group is still running at the end. Returns the next state and that of the one stage still held: wait, then release it.
    """
    held = state.clone()
    for k in cutlass.range(k_tiles, unroll=1):
        ring.consumer_wait(state)
        multiply_tiles(mma, acc, tCrA, tCrB, state.index)
        state.advance()
        if k > 0:
            warpgroup.wait_group(1)  # all but the newest group are done: the stage before this one is free
            ring.consumer_release(held)
            held.advance()
    return state, held


@cute.kernel
def warp_specialized_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, mC: cute.Tensor, mma: cute.TiledMma,
    layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, tile: cutlass.Constexpr, consumers: cutlass.Constexpr,
):  # fmt: skip
    """One block, of `consumers` warpgroups that multiply and one that loads, computes one tile of C."""
    tile_m, tile_n = tile
    stages = cute.size(layout_a, mode=[2])
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    block_m, block_n, _ = cute.arch.block_idx()
    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * stages)
    sA, sB = (smem.allocate_tensor(FP16, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b))
    ring = make_ring(barriers, stages, (tile_m + tile_n) * TILE_K * FP16.width // 8, 4 * consumers)
    gA = cute.local_tile(tA, (tile_m, TILE_K), (block_m, None))  # (tile, TILE_K, tiles along k)
    gB = cute.local_tile(tB, (tile_n, TILE_K), (block_n, None))
    k_tiles = cute.size(gA, mode=[2])

    if warp >= 4 * consumers:  # four warps, since setmaxnreg is for whole warpgroups; the first of them loads
        cute.arch.setmaxregister_decrease(LOAD_REGISTERS)
        if warp == 4 * consumers:
            tAsA, tAgA = tma_slices(tma_a, sA, gA)
            tBsB, tBgB = tma_slices(tma_b, sB, gB)
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, stages)
            state = load_tiles(ring, state, (tma_a, tAgA, tAsA), (tma_b, tBgB, tBsB), k_tiles)
            ring.producer_tail(state)  # stay until all stages are empty: where blocks share tiles, a cluster's others still arrive here
    else:
        cute.arch.setmaxregister_increase(MULTIPLY_REGISTERS)
        thr_mma = mma.get_slice(thread)
        tCrA = mma.make_fragment_A(thr_mma.partition_A(sA))
        tCrB = mma.make_fragment_B(thr_mma.partition_B(sB))
        acc = cute.make_rmem_tensor(mma.partition_shape_C(tile), cutlass.Float32)
        acc.fill(0.0)
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, stages)
        state, held = multiply_all(ring, state, mma, acc, tCrA, tCrB, k_tiles)
        warpgroup.wait_group(0)
        ring.consumer_release(held)
        store_tile(thr_mma, acc, mC, tile, (block_m, block_n))


def gemm_with(tile: tuple[int, int], stages: int, consumers: int):
    """The GEMM of a tile (M, N), a ring of `stages`, and that many warpgroups that multiply, each 64 rows of the tile in turn."""

    @cute.jit
    def gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
        need_hopper()
        need(mA, mB, mC, A="k", B="k", C="n", by_tma="AB")
        layout_a, layout_b = (k_major_tiles(rows, stages) for rows in tile)
        tma_a, tA = tma_load(mA, layout_a, tile[0])
        tma_b, tB = tma_load(mB, layout_b, tile[1])
        grid = need_grid((cute.ceil_div(cute.size(mC, mode=[0]), tile[0]), cute.ceil_div(cute.size(mC, mode=[1]), tile[1]), 1))
        # min_blocks_per_mp: with it the compiler knows how many registers a thread starts with, without it setmaxnreg may be ignored
        warp_specialized_kernel(tma_a, tA, tma_b, tB, mC, multiplier(tile[1], consumers), layout_a, layout_b, tile, consumers).launch(
            grid=grid, block=((consumers + 1) * WARPGROUP, 1, 1), min_blocks_per_mp=1, stream=stream
        )

    return gemm


warp_specialized_gemm = gemm_with(tile=(128, 128), stages=6, consumers=1)

if __name__ == "__main__":
    from ladder import harness

    harness.main(warp_specialized_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
