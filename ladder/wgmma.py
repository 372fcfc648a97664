"""The first rung for Hopper alone: C = A B^T by TMA and WGMMA, one stage.

One thread asks the copy engine (TMA) for a whole tile; the engine swizzles it into shared memory and signals an mbarrier. Then 128
threads, a warpgroup, start the tensor cores on the tiles where they lie (WGMMA): operands never pass through registers, sums stay
there. One stage: the next tiles are asked for when these are used up, so copying and multiplying take turns.

A is (M,K) and B is (N,K), k contiguous, C is (M,N), n contiguous; fp16, sums in fp32. What hangs over an edge arrives as 0.

    python -m ladder.wgmma --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, warpgroup
from cutlass.memory import SmemAllocator

from ladder.needs import need, need_grid, need_hopper

TILE_M, TILE_N, TILE_K = 128, 128, 64  # 64 fp16 along k are 128 bytes: what the widest swizzle spans
SWIZZLE_BYTES = 8 * 128  # the swizzle repeats every 8 rows of 128 bytes, and goes by the address itself: tiles begin at a multiple
WARPGROUP = 128  # threads: 4 warps, which issue a WGMMA together
FP16 = cutlass.Float16


def k_major_tiles(rows: int, stages: int):
    """Layout in shared memory of `stages` tiles (rows, TILE_K), one after the other: 8 rows of 128 bytes, swizzled, again and again."""
    atom = warpgroup.make_smem_layout_atom(warpgroup.SmemLayoutAtomKind.K_SW128, FP16)
    return cute.tile_to_shape(atom, (rows, TILE_K, stages), (0, 1, 2))


def multiplier(tile_n: int, warpgroups: int = 1):
    """The tiled MMA: an atom makes 64 x tile_n of C from 16 of k, so 128 rows take two; several warpgroups sit one below the other."""
    op = warpgroup.MmaF16BF16Op(
        FP16, cutlass.Float32, (64, tile_n, 16), warpgroup.OperandSource.SMEM, OperandMajorMode.K, OperandMajorMode.K
    )
    mma = cute.make_tiled_mma(cute.make_mma_atom(op), (warpgroups, 1, 1))
    mma.set(warpgroup.Field.ACCUMULATE, True)  # add to what the sums are, 0 at first; False would overwrite them
    return mma


def tma_load(tensor: cute.Tensor, layout, rows: int):
    """How TMA brings a tile (rows, TILE_K) of `tensor` into one stage of `layout`: (copy atom, the tensor as TMA's coordinates)."""
    return cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), tensor, cute.slice_(layout, (None, None, 0)), (rows, TILE_K))


def tma_slices(atom, s: cute.Tensor, g: cute.Tensor):
    """A tensor of tiles as TMA sees it, each tile one value: in shared memory (tile, stages), in global memory (tile, tiles along k).

    This block is the 0th of 1 that fetches the tile: see ladder.multicast for more.
    """
    return cpasync.tma_partition(atom, 0, cute.make_layout(1), cute.group_modes(s, 0, 2), cute.group_modes(g, 0, 2))


@cute.jit
def multiply_tiles(mma: cute.TiledMma, acc: cute.Tensor, tCrA: cute.Tensor, tCrB: cute.Tensor, stage: cutlass.Int32):
    """Start acc += the product of one stage's tiles, as one group of WGMMAs, 16 of k each; it is done when `wait_group` says so."""
    warpgroup.fence()  # the sums' registers, as this warp wrote them before, are what the tensor cores add to
    cute.gemm(mma, acc, tCrA[None, None, None, stage], tCrB[None, None, None, stage], acc)
    warpgroup.commit_group()


@cute.jit
def store_tile(thr_mma: cute.ThrMma, acc: cute.Tensor, mC: cute.Tensor, tile: cutlass.Constexpr, coord: cute.Coord):
    """Write a thread's sums to its place in C as fp16, two neighbours along n at once, what is inside."""
    tCgC, tCcC = (thr_mma.partition_C(cute.local_tile(each, tile, coord)) for each in (mC, cute.make_identity_tensor(mC.shape)))
    rC = cute.make_rmem_tensor(acc.shape, FP16)
    rC.store(acc.load().to(FP16))
    pairs, places = cute.recast_tensor(rC, cutlass.Int32), cute.recast_tensor(tCgC, cutlass.Int32)
    for i in cutlass.range(cute.size(pairs), unroll_full=True):
        if cute.elem_less(tCcC[2 * i], mC.shape):  # N is even, so both of a pair are inside or neither
            places[i] = pairs[i]


@cute.kernel
def wgmma_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, mC: cute.Tensor,
    mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
):  # fmt: skip
    """One block, of one warpgroup, computes one tile of C."""
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    block_m, block_n, _ = cute.arch.block_idx()
    smem = SmemAllocator()
    full = smem.allocate_array(cutlass.Int64, 1)  # the mbarrier: complete when a thread has arrived and the bytes it expects have
    # the DSL calls the plain layout `outer` and the swizzle `inner`; layoutviz, as the course writes it, the other way round
    sA, sB = (smem.allocate_tensor(FP16, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b))
    if thread == 0:
        cute.arch.mbarrier_init(full, 1)
    cute.arch.mbarrier_init_fence()  # TMA, too, sees the barrier as it is now
    cute.arch.sync_threads()

    gA = cute.local_tile(tA, (TILE_M, TILE_K), (block_m, None))  # (TILE, TILE_K, tiles along k)
    gB = cute.local_tile(tB, (TILE_N, TILE_K), (block_n, None))
    tAsA, tAgA = tma_slices(tma_a, sA, gA)
    tBsB, tBgB = tma_slices(tma_b, sB, gB)
    thr_mma = mma.get_slice(thread)
    tCrA = mma.make_fragment_A(thr_mma.partition_A(sA))  # no registers: descriptors of where the tiles lie
    tCrB = mma.make_fragment_B(thr_mma.partition_B(sB))
    acc = cute.make_rmem_tensor(mma.partition_shape_C((TILE_M, TILE_N)), cutlass.Float32)
    acc.fill(0.0)

    for k in range(cute.size(gA, mode=[2])):
        if warp == 0:
            with cute.arch.elect_one():
                cute.arch.mbarrier_arrive_and_expect_tx(full, (TILE_M + TILE_N) * TILE_K * FP16.width // 8)
            # the whole warp calls these; they choose one thread of it to start the copy
            cute.copy(tma_a, tAgA[None, k], tAsA[None, 0], tma_bar_ptr=full)
            cute.copy(tma_b, tBgB[None, k], tBsB[None, 0], tma_bar_ptr=full)
        cute.arch.mbarrier_wait(full, k % 2)  # its phase flips each time it completes
        multiply_tiles(mma, acc, tCrA, tCrB, 0)
        warpgroup.wait_group(0)
        cute.arch.sync_threads()  # all four warps are done with the tiles
    store_tile(thr_mma, acc, mC, (TILE_M, TILE_N), (block_m, block_n))


@cute.jit
def wgmma_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch a block for each tile of C."""
    need_hopper()
    need(mA, mB, mC, A="k", B="k", C="n", by_tma="AB")
    layout_a, layout_b = k_major_tiles(TILE_M, 1), k_major_tiles(TILE_N, 1)
    tma_a, tA = tma_load(mA, layout_a, TILE_M)
    tma_b, tB = tma_load(mB, layout_b, TILE_N)
    grid = need_grid((cute.ceil_div(cute.size(mC, mode=[0]), TILE_M), cute.ceil_div(cute.size(mC, mode=[1]), TILE_N), 1))
    wgmma_kernel(tma_a, tA, tma_b, tB, mC, multiplier(TILE_N), layout_a, layout_b).launch(grid=grid, block=(WARPGROUP, 1, 1), stream=stream)


if __name__ == "__main__":
    from ladder import harness

    harness.main(wgmma_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
