"""The third rung: tiles that lie row by row in shared memory, read 16 bytes at a time, with the bank conflicts swizzled away.

The kernel is that of `ladder.tiled` but for how it reads its tiles. A row of a tile is 64 fp16 along K, 128 bytes, and a thread reads 8
of them at once. So 8 neighbouring threads, each on a row of its own, ask the same 4 of the 32 banks. STORAGE has three ways to lay out
such a tile: as it is; with rows padded by 16 bytes; swizzled, which needs not one byte more. The conflicts of these reads end; a store
into the tile, 2 bytes a thread, still takes two turns.

    python -m ladder.tiled_swizzled --mnk 300,200,100      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.memory import SmemAllocator

from ladder.needs import need, need_grid
from ladder.tiled import THREADS, TILE_M, TILE_N, load_tile

TILE_K = 64  # 128 bytes of fp16: one word of each bank
VECTOR = 8  # elements that a thread reads at once, 16 bytes


def by_rows(rows: int):
    return cute.make_layout((rows, TILE_K), stride=(TILE_K, 1))


def padded(rows: int):
    return cute.make_layout((rows, TILE_K), stride=(TILE_K + VECTOR, 1))


def swizzled(rows: int):
    return cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, by_rows(rows))


STORAGE = {"none": by_rows, "padding": padded, "swizzle": swizzled}  # how a tile of `rows` by TILE_K lies in shared memory


@cute.kernel
def swizzled_kernel(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, tile_layout: cutlass.Constexpr):
    """One block computes one tile of C; tile_layout(rows) is the layout of a tile in shared memory."""
    thread, _, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    smem = SmemAllocator()
    sA, sB = (smem.allocate_tensor(mA.element_type, tile_layout(rows), 16) for rows in (TILE_M, TILE_N))
    # (TILE, TILE_K, tiles along K): the tiles of this block, and beside them the coordinates of their elements
    gA, cA = (cute.local_tile(each, (TILE_M, TILE_K), (block_m, None)) for each in (mA, cute.make_identity_tensor(mA.shape)))
    gB, cB = (cute.local_tile(each, (TILE_N, TILE_K), (block_n, None)) for each in (mB, cute.make_identity_tensor(mB.shape)))
    threads = cute.make_layout((THREADS, THREADS))
    # the rows of A and of B that this thread needs, cut along K: (rows, (VECTOR, TILE_K / VECTOR))
    tAs = cute.logical_divide(cute.local_partition(sA, threads, thread, proj=(1, None)), (None, VECTOR))
    tBs = cute.logical_divide(cute.local_partition(sB, threads, thread, proj=(None, 1)), (None, VECTOR))
    acc = cute.make_rmem_tensor((TILE_M // THREADS, TILE_N // THREADS), cutlass.Float32)
    a, b = (cute.make_rmem_tensor((VECTOR, cute.size(acc, mode=[mode])), cutlass.Float32) for mode in (0, 1))
    acc.fill(0.0)
    for k in range(cute.size(gA, mode=[2])):
        load_tile(gA[None, None, k], cA[None, None, k], sA, mA.shape, thread)
        load_tile(gB[None, None, k], cB[None, None, k], sB, mB.shape, thread)
        cute.arch.sync_threads()
        for piece in cutlass.range_constexpr(TILE_K // VECTOR):
            for m in cutlass.range_constexpr(cute.size(acc, mode=[0])):
                a[None, m].store(tAs[m, (None, piece)].load().to(cutlass.Float32))
            for n in cutlass.range_constexpr(cute.size(acc, mode=[1])):
                b[None, n].store(tBs[n, (None, piece)].load().to(cutlass.Float32))
            for kk in cutlass.range_constexpr(VECTOR):
                for m in cutlass.range_constexpr(cute.size(acc, mode=[0])):
                    for n in cutlass.range_constexpr(cute.size(acc, mode=[1])):
                        acc[m, n] += a[kk, m] * b[kk, n]
        cute.arch.sync_threads()
    gC, cC = (cute.local_tile(each, (TILE_M, TILE_N), (block_m, block_n)) for each in (mC, cute.make_identity_tensor(mC.shape)))
    tCg, tCc = (cute.local_partition(each, threads, thread) for each in (gC, cC))
    for i in cutlass.range_constexpr(cute.size(acc)):
        if cute.elem_less(tCc[i], mC.shape):
            tCg[i] = acc[i].to(mC.element_type)


def gemm_with(tile_layout):
    """The GEMM whose tiles, of `rows` by TILE_K, lie in shared memory as `tile_layout(rows)` says."""

    @cute.jit
    def gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
        need(mA, mB, mC, A=None, B=None, C=None, dtypes=("Float16", "BFloat16"))
        grid = need_grid((cute.ceil_div(cute.size(mC, mode=[0]), TILE_M), cute.ceil_div(cute.size(mC, mode=[1]), TILE_N), 1))
        swizzled_kernel(mA, mB, mC, tile_layout).launch(grid=grid, block=(THREADS * THREADS, 1, 1), stream=stream)

    return gemm


tiled_swizzled_gemm = gemm_with(swizzled)

if __name__ == "__main__":
    from ladder import harness
    from ladder.naive import host_gemm

    harness.main(tiled_swizzled_gemm, host_gemm)
