"""TMA and WGMMA with several stages: while the tensor cores work on one stage's tiles, TMA fills the others.

The kernel is that of `ladder.wgmma`, but for a ring of stages, each a tile of A and one of B, and two mbarriers for each: "full", on
which the multiplying threads wait, and "empty", on which the loading thread waits before it has a stage filled again.
`PipelineTmaAsync` keeps them; a pipeline state says which stage is next, and which phase of its barrier is awaited.

    python -m ladder.multistage --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass import pipeline
from cutlass.cute.nvgpu import warpgroup
from cutlass.memory import SmemAllocator

from ladder.needs import need, need_grid, need_hopper
from ladder.wgmma import (
    FP16,
    SWIZZLE_BYTES,
    TILE_K,
    TILE_M,
    TILE_N,
    WARPGROUP,
    k_major_tiles,
    multiplier,
    multiply_tiles,
    store_tile,
    tma_load,
    tma_slices,
)

STAGES = 6  # 32 KB each; one of them is always held by the multiplies that run, so at most STAGES - 1 are filled ahead


def make_ring(barriers: cute.Pointer, stages: int, tile_bytes: int, consumer_warps: int, cluster=(1, 1)):
    """The pipeline of a ring of stages: one thread loads, each consumer warp says when it is done with a stage.

    barriers: room for 2 x stages. cluster: blocks (M, N) that load for each other: those of a row share A, those of a column B. A stage
    is empty when the warps of all blocks that its tiles went to are done: the row's and the column's, this block counted once.
    """
    threads = pipeline.Agent.Thread  # the groups' sizes are arrivals: one thread's at "full", one thread's of each warp at "empty"
    return pipeline.PipelineTmaAsync.create(
        num_stages=stages,
        producer_group=pipeline.CooperativeGroup(threads),
        consumer_group=pipeline.CooperativeGroup(threads, consumer_warps * (sum(cluster) - 1)),
        tx_count=tile_bytes,
        barrier_storage=barriers,
        cta_layout_vmnk=cute.make_layout((1, *cluster, 1)),  # (V, M, N, K), as the DSL counts a cluster's blocks
    )


@cute.jit
def load_stage(ring, state, a, b, k: cutlass.Int32, masks: cutlass.Constexpr = (None, None)):
    """Have TMA fill the stage at `state` with the k-th tiles, once it is empty. For one warp.

    a, b: (copy atom, tiles in global memory, stages in shared memory) of each operand. masks: the blocks
    that get what this one fetches; None: this one alone.
    """
    ring.producer_acquire(state)
    for (atom, tiles, stages), mask in zip((a, b), masks, strict=True):
        cute.copy(atom, tiles[None, k], stages[None, state.index], tma_bar_ptr=ring.producer_get_barrier(state), mcast_mask=mask)


@cute.kernel
def multistage_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, mC: cute.Tensor,
    mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
):  # fmt: skip
    """One block, of one warpgroup, computes one tile of C."""
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    block_m, block_n, _ = cute.arch.block_idx()
    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * STAGES)
    sA, sB = (smem.allocate_tensor(FP16, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b))
    ring = make_ring(barriers, STAGES, (TILE_M + TILE_N) * TILE_K * FP16.width // 8, 4)

    gA = cute.local_tile(tA, (TILE_M, TILE_K), (block_m, None))  # (TILE, TILE_K, tiles along k)
    gB = cute.local_tile(tB, (TILE_N, TILE_K), (block_n, None))
    tAsA, tAgA = tma_slices(tma_a, sA, gA)
    tBsB, tBgB = tma_slices(tma_b, sB, gB)
    thr_mma = mma.get_slice(thread)
    tCrA = mma.make_fragment_A(thr_mma.partition_A(sA))
    tCrB = mma.make_fragment_B(thr_mma.partition_B(sB))
    acc = cute.make_rmem_tensor(mma.partition_shape_C((TILE_M, TILE_N)), cutlass.Float32)
    acc.fill(0.0)

    k_tiles = cute.size(gA, mode=[2])
    ahead = cutlass.min(STAGES - 1, k_tiles)
    load = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
    use = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
    held = use.clone()
    for k in cutlass.range(ahead):
        if warp == 0:
            load_stage(ring, load, (tma_a, tAgA, tAsA), (tma_b, tBgB, tBsB), k)
        load.advance()
    for k in cutlass.range(k_tiles):
        ring.consumer_wait(use)
        multiply_tiles(mma, acc, tCrA, tCrB, use.index)
        use.advance()
        if k > 0:
            warpgroup.wait_group(1)  # all but the newest group are done: the stage before this one is free
            ring.consumer_release(held)
            held.advance()
        if k + ahead < k_tiles:
            if warp == 0:
                load_stage(ring, load, (tma_a, tAgA, tAsA), (tma_b, tBgB, tBsB), k + ahead)
            load.advance()
    warpgroup.wait_group(0)
    store_tile(thr_mma, acc, mC, (TILE_M, TILE_N), (block_m, block_n))


@cute.jit
def multistage_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch a block for each tile of C."""
    need_hopper()
    need(mA, mB, mC, A="k", B="k", C="n", by_tma="AB")
    layout_a, layout_b = k_major_tiles(TILE_M, STAGES), k_major_tiles(TILE_N, STAGES)
    tma_a, tA = tma_load(mA, layout_a, TILE_M)
    tma_b, tB = tma_load(mB, layout_b, TILE_N)
    grid = need_grid((cute.ceil_div(cute.size(mC, mode=[0]), TILE_M), cute.ceil_div(cute.size(mC, mode=[1]), TILE_N), 1))
    multistage_kernel(tma_a, tA, tma_b, tB, mC, multiplier(TILE_N), layout_a, layout_b).launch(
        grid=grid, block=(WARPGROUP, 1, 1), stream=stream
    )


if __name__ == "__main__":
    from ladder import harness

    harness.main(multistage_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
