"""Ping-pong: two consumer warpgroups with a tile each, so that one's epilogue runs under the other's main loop.

Two that work on one tile also finish together, and while both write it the tensor cores rest. Here they take turns at the tensor cores:
the one whose turn it is starts all multiplies of its tile and hands the turn over; while its last ones run and it writes its tile, the
other's are already under way. The producer loads for both, tile after tile, in the order of the turns; each consumer skips the stages
of the other's tiles.

    python -m ladder.pingpong --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass import pipeline
from cutlass.cute.nvgpu import warpgroup
from cutlass.memory import SmemAllocator

from ladder.multicast import sharers, tma_load_shared, tma_parts
from ladder.multistage import make_ring
from ladder.needs import need, need_hopper
from ladder.persistent import RASTERS, balanced, multiprocessors, tile_at
from ladder.warp_specialized import LOAD_REGISTERS, MULTIPLY_REGISTERS, load_tiles, multiply_all
from ladder.wgmma import FP16, SWIZZLE_BYTES, TILE_K, WARPGROUP, k_major_tiles, multiplier, store_tile

TILE = 128, 128
STAGES = 6
CONSUMERS = 2
CLUSTER = 2, 1  # blocks along m, along n; as in ladder.multicast
TURN = 1  # the named barrier that lets warpgroup 0 start its multiplies; the next one is warpgroup 1's (0 is sync_threads'). It opens
# once 256 threads have come: the 128 that wait in take_turn, and the 128 that only arrive, in hand_over


def take_turn(wg: cutlass.Int32):
    """Wait until the other warpgroup has handed the tensor cores over to warpgroup `wg`."""
    cute.arch.barrier(barrier_id=TURN + wg, number_of_threads=CONSUMERS * WARPGROUP)


def hand_over(wg: cutlass.Int32):
    """Let the warpgroup that is not `wg` take its turn. Does not wait."""
    cute.arch.barrier_arrive(barrier_id=TURN + 1 - wg, number_of_threads=CONSUMERS * WARPGROUP)


@cute.kernel
def pingpong_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, mC: cute.Tensor,
    mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
):  # fmt: skip
    """A cluster computes CLUSTER tiles at a time; a block's tiles go to its two consumer warpgroups by turns."""
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    wg = cute.arch.make_warp_uniform(thread // WARPGROUP)
    block_m, block_n, cluster = cute.arch.block_idx()
    _, _, clusters = cute.arch.grid_dim()
    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * STAGES)
    sA, sB = (smem.allocate_tensor(FP16, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b))
    ring = make_ring(barriers, STAGES, sum(TILE) * TILE_K * FP16.width // 8, 4, CLUSTER)  # a stage is used by one warpgroup alone
    gA = cute.local_tile(tA, (TILE[0], TILE_K), (None, None))  # (tile, TILE_K, tiles along m, tiles along k)
    gB = cute.local_tile(tB, (TILE[1], TILE_K), (None, None))
    k_tiles = cute.size(gA, mode=[3])
    along_m, along_n = cute.ceil_div((cute.size(gA, mode=[2]), cute.size(gB, mode=[2])), CLUSTER)  # clusters

    if wg == CONSUMERS:
        cute.arch.setmaxregister_decrease(LOAD_REGISTERS)
        if warp == 4 * CONSUMERS:
            tAsA, tAgA = tma_parts(tma_a, sA, gA, block_n, CLUSTER[1])
            tBsB, tBgB = tma_parts(tma_b, sB, gB, block_m, CLUSTER[0])
            masks = sharers((block_m, block_n), CLUSTER[1], 2), sharers((block_m, block_n), CLUSTER[0], 1)
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
            for tile in cutlass.range(cluster, along_m * along_n, clusters, unroll=1):
                m, n = tile_at(tile, along_m, along_n, RASTERS["serpentine"])
                m, n = m * CLUSTER[0] + block_m, n * CLUSTER[1] + block_n
                state = load_tiles(ring, state, (tma_a, tAgA[None, m, None], tAsA), (tma_b, tBgB[None, n, None], tBsB), k_tiles, masks)
            ring.producer_tail(state)
    else:
        cute.arch.setmaxregister_increase(MULTIPLY_REGISTERS)
        thr_mma = mma.get_slice(thread % WARPGROUP)
        tCrA = mma.make_fragment_A(thr_mma.partition_A(sA))
        tCrB = mma.make_fragment_B(thr_mma.partition_B(sB))
        acc = cute.make_rmem_tensor(mma.partition_shape_C(TILE), cutlass.Float32)
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
        if wg == 1:
            state.advance(k_tiles)  # the first tile is warpgroup 0's
            hand_over(wg)
        for tile in cutlass.range(cluster + wg * clusters, along_m * along_n, CONSUMERS * clusters, unroll=1):
            m, n = tile_at(tile, along_m, along_n, RASTERS["serpentine"])
            acc.fill(0.0)
            take_turn(wg)
            state, held = multiply_all(ring, state, mma, acc, tCrA, tCrB, k_tiles)
            hand_over(wg)
            state.advance(k_tiles)  # those of the other's tile
            warpgroup.wait_group(0)
            ring.consumer_release(held)
            store_tile(thr_mma, acc, mC, TILE, (m * CLUSTER[0] + block_m, n * CLUSTER[1] + block_n))


@cute.jit
def pingpong_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch no more clusters than the GPU has room for, balanced as in ladder.persistent. Of tiles past C as ladder.multicast."""
    need_hopper()
    need(mA, mB, mC, A="k", B="k", C="n", by_tma="AB")
    layout_a, layout_b = (k_major_tiles(rows, STAGES) for rows in TILE)
    tma_a, tA = tma_load_shared(mA, layout_a, TILE[0], CLUSTER[1])
    tma_b, tB = tma_load_shared(mB, layout_b, TILE[1], CLUSTER[0])
    clusters = balanced(cute.size(cute.ceil_div(cute.ceil_div(mC.shape, TILE), CLUSTER)), multiprocessors() // (CLUSTER[0] * CLUSTER[1]))
    pingpong_kernel(tma_a, tA, tma_b, tB, mC, multiplier(TILE[1]), layout_a, layout_b).launch(
        grid=(*CLUSTER, clusters), block=((CONSUMERS + 1) * WARPGROUP, 1, 1), cluster=(*CLUSTER, 1), min_blocks_per_mp=1, stream=stream
    )


if __name__ == "__main__":
    from ladder import harness

    harness.main(pingpong_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
