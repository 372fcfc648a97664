"""Clusters and multicast: blocks side by side fetch their common operand once.

Two blocks, one above the other, need the same tile of B. As a cluster they run at the same time, on SMs that reach each other's shared
memory: each fetches half of that tile, and the copy engine puts it into the shared memory of both. So a pair reads 2 * 128 + 256 rows
from the L2 cache for every 64 of k, not 2 * (128 + 256). The price: a stage may be filled anew only when the consumers of both blocks
are done with it.

    python -m ladder.multicast --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass import pipeline
from cutlass.cute.nvgpu import cpasync, warpgroup
from cutlass.memory import SmemAllocator

from ladder.cooperative import CONSUMERS, STAGES, TILE
from ladder.multistage import make_ring
from ladder.needs import need, need_hopper
from ladder.persistent import RASTERS, balanced, multiprocessors, tile_at
from ladder.warp_specialized import LOAD_REGISTERS, MULTIPLY_REGISTERS, load_tiles, multiply_all
from ladder.wgmma import FP16, SWIZZLE_BYTES, TILE_K, WARPGROUP, k_major_tiles, multiplier, store_tile

CLUSTER = 2, 1  # blocks along m, along n


def tma_load_shared(tensor: cute.Tensor, layout, rows: int, copies: int):
    """As `tma_load` of ladder.wgmma, but `copies` blocks fetch a part of the tile each, for all of them."""
    op = cpasync.CopyBulkTensorTileG2SMulticastOp() if copies > 1 else cpasync.CopyBulkTensorTileG2SOp()
    return cpasync.make_tiled_tma_atom(op, tensor, cute.slice_(layout, (None, None, 0)), (rows, TILE_K), num_multicast=copies)


def tma_parts(atom, s: cute.Tensor, g: cute.Tensor, place: cutlass.Int32, copies: int):
    """As `tma_slices` of ladder.wgmma, but only the part of each tile that the block at `place` among `copies` fetches."""
    return cpasync.tma_partition(atom, place, cute.make_layout(copies), cute.group_modes(s, 0, 2), cute.group_modes(g, 0, 2))


def sharers(place, copies: int, mode: int):
    """Which blocks of the cluster get what this one fetches, a bit for each: those along m (mode 1) or n (2). None: this one alone."""
    if copies == 1:
        return None
    return cpasync.create_tma_multicast_mask(cute.make_layout((1, *CLUSTER, 1)), (0, *place, 0), mode)


@cute.kernel
def multicast_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, mC: cute.Tensor,
    mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
):  # fmt: skip
    """A cluster computes CLUSTER tiles at a time, one a block."""
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    block_m, block_n, cluster = cute.arch.block_idx()  # the grid is (along m in a cluster, along n in a cluster, clusters)
    _, _, clusters = cute.arch.grid_dim()
    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * STAGES)
    sA, sB = (smem.allocate_tensor(FP16, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b))
    ring = make_ring(barriers, STAGES, sum(TILE) * TILE_K * FP16.width // 8, 4 * CONSUMERS, CLUSTER)
    gA = cute.local_tile(tA, (TILE[0], TILE_K), (None, None))  # (tile, TILE_K, tiles along m, tiles along k)
    gB = cute.local_tile(tB, (TILE[1], TILE_K), (None, None))
    k_tiles = cute.size(gA, mode=[3])
    along_m, along_n = cute.ceil_div((cute.size(gA, mode=[2]), cute.size(gB, mode=[2])), CLUSTER)  # clusters

    if warp >= 4 * CONSUMERS:
        cute.arch.setmaxregister_decrease(LOAD_REGISTERS)
        if warp == 4 * CONSUMERS:
            tAsA, tAgA = tma_parts(tma_a, sA, gA, block_n, CLUSTER[1])  # blocks along n share a tile of A
            tBsB, tBgB = tma_parts(tma_b, sB, gB, block_m, CLUSTER[0])  # blocks along m share a tile of B
            masks = sharers((block_m, block_n), CLUSTER[1], 2), sharers((block_m, block_n), CLUSTER[0], 1)
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
            for tile in cutlass.range(cluster, along_m * along_n, clusters, unroll=1):
                m, n = tile_at(tile, along_m, along_n, RASTERS["serpentine"])
                m, n = m * CLUSTER[0] + block_m, n * CLUSTER[1] + block_n
                state = load_tiles(ring, state, (tma_a, tAgA[None, m, None], tAsA), (tma_b, tBgB[None, n, None], tBsB), k_tiles, masks)
            ring.producer_tail(state)
    else:
        cute.arch.setmaxregister_increase(MULTIPLY_REGISTERS)
        thr_mma = mma.get_slice(thread)
        tCrA = mma.make_fragment_A(thr_mma.partition_A(sA))
        tCrB = mma.make_fragment_B(thr_mma.partition_B(sB))
        acc = cute.make_rmem_tensor(mma.partition_shape_C(TILE), cutlass.Float32)
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
        for tile in cutlass.range(cluster, along_m * along_n, clusters, unroll=1):
            m, n = tile_at(tile, along_m, along_n, RASTERS["serpentine"])
            acc.fill(0.0)
            state, held = multiply_all(ring, state, mma, acc, tCrA, tCrB, k_tiles)
            warpgroup.wait_group(0)
            ring.consumer_release(held)
            store_tile(thr_mma, acc, mC, TILE, (m * CLUSTER[0] + block_m, n * CLUSTER[1] + block_n))


@cute.jit
def multicast_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch no more clusters than the GPU has room for, balanced as in ladder.persistent.

    A tile past the bottom of C, where the number of tiles along m is odd, is multiplied as zeros and not stored. Where C has one tile
    along m, the DSL gives that mode of tiles the stride 0, and the second block computes and stores the first one's tile once more.
    """
    need_hopper()
    need(mA, mB, mC, A="k", B="k", C="n", by_tma="AB")
    layout_a, layout_b = (k_major_tiles(rows, STAGES) for rows in TILE)
    tma_a, tA = tma_load_shared(mA, layout_a, TILE[0], CLUSTER[1])
    tma_b, tB = tma_load_shared(mB, layout_b, TILE[1], CLUSTER[0])
    clusters = balanced(cute.size(cute.ceil_div(cute.ceil_div(mC.shape, TILE), CLUSTER)), multiprocessors() // (CLUSTER[0] * CLUSTER[1]))
    multicast_kernel(tma_a, tA, tma_b, tB, mC, multiplier(TILE[1], CONSUMERS), layout_a, layout_b).launch(
        grid=(*CLUSTER, clusters), block=((CONSUMERS + 1) * WARPGROUP, 1, 1), cluster=(*CLUSTER, 1), min_blocks_per_mp=1, stream=stream
    )


if __name__ == "__main__":
    from ladder import harness

    harness.main(multicast_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
