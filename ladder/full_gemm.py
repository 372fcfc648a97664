"""The whole Hopper GEMM: C = A B^T in fp16, sums in fp32; persistent, in clusters, each tile of C stored under the main loop of the next.

Who does what, in each of at most as many blocks as the GPU has SMs:

    warpgroup 2, one warp    tile after tile: for each 64 of k, when a stage is empty, have TMA fill it with a tile of A and one of B
    warpgroups 0 and 1       the upper and the lower half of each tile of C: multiply the stages as they fill, round the sums to fp16, and
                             store these while the first stages of the next tile are multiplied: to shared memory, and by TMA to C

None of them waits for more than it needs. The next tile's WGMMAs need the registers of the sums, 128 a thread. So a finished tile moves to
64 others, as fp16, and is stored from there, a piece during each of the first stages. Ping-pong hides its stores, too, but a warpgroup
that has a tile to itself has room for a smaller one only, so more is fetched; where power limits the clock, that costs more than it saves.

Two blocks, one above the other, are a cluster and share each tile of B. A is (M,K), B is (N,K), k contiguous; C is (M,N), n contiguous;
any sizes whose contiguous mode is a multiple of 8. TMA reads 0 beyond an edge and writes nothing there.

    python -m ladder.full_gemm --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass import pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, warp, warpgroup
from cutlass.memory import SmemAllocator

from ladder.multicast import tma_parts
from ladder.multistage import make_ring
from ladder.needs import need, need_hopper
from ladder.persistent import RASTERS, balanced, multiprocessors, tile_at
from ladder.warp_specialized import LOAD_REGISTERS, MULTIPLY_REGISTERS, load_tiles
from ladder.wgmma import FP16, SWIZZLE_BYTES, TILE_K, WARPGROUP, tma_slices

TILE_M, TILE_N = 128, 256
STAGES = 4  # of a tile of A and one of B, 48 KB together
CLUSTER_M = 2  # blocks, one above the other, that share a tile of B
PIECE = 64  # C leaves in pieces of 64 x 64: 64 rows are one WGMMA's, 64 fp16 one row of the swizzle
BUFFERS = 2  # pieces on their way, for each consumer
NOWHERE = 1 << 30  # a row of pieces that no C has
CONSUMERS = 2  # warpgroups that multiply; the third loads
ROWS = TILE_M // CONSUMERS  # of a tile, a consumer's
PIECES = ROWS * TILE_N // PIECE**2  # of that part
STORED = 3  # named barriers 3 and 4: among the threads of warpgroup 0 and of 1 (1 and 2 are the turns of ladder.pingpong)


def swizzled_tiles(rows: int, *stages: int):
    """Layout in shared memory of tiles of `rows` x 64 fp16: rows of 128 bytes, swizzled so that 8 of a column lie in different banks."""
    atom = warpgroup.make_smem_layout_atom(warpgroup.SmemLayoutAtomKind.K_SW128, FP16)
    return cute.tile_to_shape(atom, (rows, TILE_K, *stages), tuple(range(2 + len(stages))))


@cute.jit
def multiply_all(
    ring, state, mma: cute.TiledMma, acc: cute.Tensor, tCrA: cute.Tensor, tCrB: cute.Tensor,
    k_tiles: cutlass.Constexpr, pieces: cutlass.Constexpr = 0, leaving=(),
):  # fmt: skip
    """acc = the sum of the products of k_tiles stages, each started as soon as it is full; then the one before is waited for and released.

    While the first ones are multiplied, the tile before is stored: a piece during each, `pieces` in all. leaving: what store_piece takes
    after the piece. The last stage is still running at the end. Returns the next state and that of the one stage still held.
    """
    held = state.clone()
    for k in cutlass.range(k_tiles, unroll=1):
        ring.consumer_wait(state)
        mma.set(warpgroup.Field.ACCUMULATE, k != 0)  # the first WGMMA of a tile overwrites acc: nobody has to clear it
        warpgroup.fence()  # what this warp did to the registers of acc comes before what the tensor cores do
        for kk in cutlass.range_constexpr(cute.size(tCrA, mode=[2])):
            at = (None, None, kk, state.index)
            cute.gemm(mma, acc, tCrA[at], tCrB[at], acc)
            mma.set(warpgroup.Field.ACCUMULATE, True)
        warpgroup.commit_group()
        state.advance()
        for piece in cutlass.range_constexpr(pieces):  # registers cannot be indexed at run time, so each has code of its own
            if k == piece:
                store_piece(piece, *leaving)
        if k > 0:
            warpgroup.wait_group(1)
            ring.consumer_release(held)
            held.advance()
    for piece in cutlass.range_constexpr(min(k_tiles, pieces), pieces):  # if there were fewer stages
        store_piece(piece, *leaving)
    return state, held


def stmatrix_copy(mma: cute.TiledMma, dtype) -> cute.TiledCopy:
    """The copy (stmatrix) of a warpgroup's tile of C to shared memory, as `dtype`, from the registers where WGMMA leaves its sums."""
    return cute.make_tiled_copy_C_atom(cute.make_copy_atom(warp.StMatrix8x8x16bOp(False, 4), dtype), mma)


@cute.jit
def store_piece(
    piece: cutlass.Constexpr, tile: cute.Tensor, to_smem: cute.TiledCopy, sC: cute.Tensor,
    tma_c: cute.CopyAtom, tC: cute.Tensor, row: cutlass.Int32, column: cutlass.Int32,
):  # fmt: skip
    """Send a piece of a warpgroup's tile of C on its way: registers -> shared memory (stmatrix) -> C (TMA). Called for each in order.

    tile: a thread's part of it, in fp32 or C's type. sC: this warpgroup's buffers, (64, columns of a piece, BUFFERS). row, column: where
    the tile's first piece is in C, counted in pieces; NOWHERE: not to be stored.
    """
    wg, thread = cute.arch.thread_idx()[0] // WARPGROUP, cute.arch.thread_idx()[0] % WARPGROUP
    storing = cute.arch.make_warp_uniform(thread // cute.arch.WARP_SIZE) == 0  # always the same warp: TMA counts each one's stores apart
    rows, columns = cute.size(sC, mode=[0]), cute.size(sC, mode=[1])
    tRsC = to_smem.get_slice(thread).partition_D(sC)  # (values, 1, columns / 16, BUFFERS)
    values = to_smem.retile(tile)  # ((8, columns of the tile / 16), rows of the tile / 64, 1): 8 are a thread's part of a stmatrix
    values = cute.logical_divide(values, (columns // 2,))  # ((a thread's values of a piece, pieces along n), pieces along m, 1)
    gC = cute.local_tile(tC, (rows, columns), (None, None))  # (piece, pieces along m, pieces along n)
    sC_pieces, gC_pieces = tma_slices(tma_c, sC, gC)
    across = cute.size(values, mode=[0, 1])
    i, j, buffer = piece // across, piece % across, piece % BUFFERS
    if storing:  # until TMA has read what was in this buffer; before a tile's first piece all, as the last may be in the same
        cute.arch.cp_async_bulk_wait_group(BUFFERS - 1 if piece else 0, read=True)
    cute.arch.barrier(barrier_id=STORED + wg, number_of_threads=WARPGROUP)
    rC = cute.make_rmem_tensor(tRsC[None, 0, None, 0].shape, sC.element_type)
    rC.store(values[(None, j), i, 0].load().reshape(rC.shape).to(sC.element_type))
    cute.copy(to_smem, rC, tRsC[None, 0, None, buffer])
    cute.arch.fence_proxy("async.shared", space="cta")  # what these threads wrote, TMA sees
    cute.arch.barrier(barrier_id=STORED + wg, number_of_threads=WARPGROUP)
    if storing:
        if cute.elem_less((row + i, column + j), (cute.size(gC, mode=[2]), cute.size(gC, mode=[3]))):  # else all of it is past an edge
            cute.copy(tma_c, sC_pieces[None, buffer], gC_pieces[None, row + i, column + j])
        cute.arch.cp_async_bulk_commit_group()


@cute.kernel
def full_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, tma_c: cute.CopyAtom, tC: cute.Tensor, mma: cute.TiledMma,
    layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, layout_c: cute.ComposedLayout,
):  # fmt: skip
    """A cluster takes every clusters-th pair of tiles of the raster, a block one of each, and a consumer warpgroup ROWS rows of that."""
    thread, _, _ = cute.arch.thread_idx()
    wg = cute.arch.make_warp_uniform(thread // WARPGROUP)
    block_m, _, cluster = cute.arch.block_idx()  # the grid is (CLUSTER_M, 1, clusters)
    _, _, clusters = cute.arch.grid_dim()
    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * STAGES)
    # the DSL calls the plain layout `outer` and the swizzle `inner`; layoutviz, as the course writes it, the other way round
    sA, sB, sC = (smem.allocate_tensor(FP16, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b, layout_c))
    ring = make_ring(barriers, STAGES, (TILE_M + TILE_N) * TILE_K * FP16.width // 8, 4 * CONSUMERS, (CLUSTER_M, 1))
    gA = cute.local_tile(tA, (TILE_M, TILE_K), (None, None))  # (tile, TILE_K, tiles along m, tiles along k)
    gB = cute.local_tile(tB, (TILE_N, TILE_K), (None, None))
    along_m, along_n = cute.ceil_div(cute.size(gA, mode=[2]), CLUSTER_M), cute.size(gB, mode=[2])  # clusters
    k_tiles = cute.size(gA, mode=[3])

    if wg == CONSUMERS:
        cute.arch.setmaxregister_decrease(LOAD_REGISTERS)
        if thread // cute.arch.WARP_SIZE == 4 * CONSUMERS:
            tAsA, tAgA = tma_slices(tma_a, sA, gA)
            tBsB, tBgB = tma_parts(tma_b, sB, gB, block_m, CLUSTER_M)
            masks = None, cpasync.create_tma_multicast_mask(cute.make_layout((1, CLUSTER_M, 1, 1)), (0, block_m, 0, 0), 1)
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
            for tile in cutlass.range(cluster, along_m * along_n, clusters, unroll=1):
                m, n = tile_at(tile, along_m, along_n, RASTERS["serpentine"])
                a = tma_a, tAgA[None, m * CLUSTER_M + block_m, None], tAsA
                b = tma_b, tBgB[None, n, None], tBsB
                state = load_tiles(ring, state, a, b, k_tiles, masks)
            ring.producer_tail(state)
    else:
        cute.arch.setmaxregister_increase(MULTIPLY_REGISTERS)
        own_sA = cute.local_tile(sA, (ROWS, TILE_K, STAGES), (wg, 0, 0))
        thr_mma = mma.get_slice(0)  # an MMA of one warpgroup, whose threads all have the same view of A and B in shared memory
        tCrA, tCrB = mma.make_fragment_A(thr_mma.partition_A(own_sA)), mma.make_fragment_B(thr_mma.partition_B(sB))
        acc = cute.make_rmem_tensor(mma.partition_shape_C((ROWS, TILE_N)), cutlass.Float32)
        rounded = cute.make_rmem_tensor(acc.shape, FP16)  # the tile before, on its way to C
        rounded.fill(0.0)
        row, column = cutlass.Int32(NOWHERE), cutlass.Int32(0)
        leaving = rounded, stmatrix_copy(mma, FP16), sC[None, None, None, wg], tma_c, tC
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
        for tile in cutlass.range(cluster, along_m * along_n, clusters, unroll=1):
            m, n = tile_at(tile, along_m, along_n, RASTERS["serpentine"])
            state, held = multiply_all(ring, state, mma, acc, tCrA, tCrB, k_tiles, PIECES, (*leaving, row, column))
            warpgroup.wait_group(0)
            ring.consumer_release(held)
            rounded.store(acc.load().to(FP16))
            row = ((m * CLUSTER_M + block_m) * TILE_M + wg * ROWS) // PIECE
            column = n * (TILE_N // PIECE)
        for piece in cutlass.range_constexpr(PIECES):
            store_piece(piece, *leaving, row, column)
        cute.arch.cp_async_bulk_wait_group(0)  # all of C is written


@cute.jit
def full_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch no more clusters than the GPU has room for, balanced as in ladder.persistent."""
    need_hopper()
    need(mA, mB, mC, A="k", B="k", C="n", by_tma="ABC")
    layout_a, layout_b = swizzled_tiles(TILE_M, STAGES), swizzled_tiles(TILE_N, STAGES)
    layout_c = swizzled_tiles(PIECE, BUFFERS, CONSUMERS)
    one, shared = cpasync.CopyBulkTensorTileG2SOp(), cpasync.CopyBulkTensorTileG2SMulticastOp()
    tma_a, tA = cpasync.make_tiled_tma_atom(one, mA, layout_a, (TILE_M, TILE_K))
    tma_b, tB = cpasync.make_tiled_tma_atom(shared, mB, layout_b, (TILE_N, TILE_K), num_multicast=CLUSTER_M)
    tma_c, tC = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileS2GOp(), mC, cute.slice_(layout_c, (None, None, 0, 0)), (PIECE, PIECE)
    )
    op = warpgroup.MmaF16BF16Op(
        FP16, cutlass.Float32, (64, TILE_N, 16), warpgroup.OperandSource.SMEM, OperandMajorMode.K, OperandMajorMode.K
    )
    mma = cute.make_tiled_mma(cute.make_mma_atom(op))
    along_m, along_n = cute.ceil_div(mC.shape, (TILE_M * CLUSTER_M, TILE_N))
    full_kernel(tma_a, tA, tma_b, tB, tma_c, tC, mma, layout_a, layout_b, layout_c).launch(
        grid=(CLUSTER_M, 1, balanced(along_m * along_n, multiprocessors() // CLUSTER_M)),
        block=((CONSUMERS + 1) * WARPGROUP, 1, 1),
        cluster=(CLUSTER_M, 1, 1),
        min_blocks_per_mp=1,  # with it the compiler knows how many registers a thread starts with, and does what setmaxregister says
        stream=stream,
    )


if __name__ == "__main__":
    from ladder import harness

    harness.main(full_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
