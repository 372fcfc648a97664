"""The second rung: C = A B^T by tiles. A block of threads brings a tile of A and one of B into shared memory, and multiplies them there.

A is (M,K), B is (N,K), C is (M,N), fp16 in and out, sums in fp32, of any layouts and any sizes: what hangs over the edge of a
matrix is not read (it counts as 0) and not written. Each element of a tile is read from global memory once, and used 64 times.

    python -m ladder.tiled --mnk 300,200,100      checks and times it on the GPU; without one, compiles it
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.memory import SmemAllocator

from ladder.needs import need, need_grid

TILE_M, TILE_N, TILE_K = 64, 64, 16
THREADS = 16  # 16 x 16 threads, each for 4 x 4 elements of C, 16 apart


@cute.jit
def load_tile(gT: cute.Tensor, cT: cute.Tensor, sT: cute.Tensor, limit: cute.Shape, thread: cutlass.Int32):
    """Each thread copies its part of a tile into shared memory. cT has each element's coordinate; beyond `limit` is 0."""
    layout = cute.make_layout((THREADS, THREADS))
    tTg, tTc, tTs = (cute.local_partition(part, layout, thread) for part in (gT, cT, sT))
    for i in cutlass.range_constexpr(cute.size(tTs)):
        tTs[i] = tTg[i] if cute.elem_less(tTc[i], limit) else gT.element_type(0)


def by_columns(rows: int):
    """The layout in shared memory of a tile of `rows` by TILE_K: column-major."""
    return cute.make_layout((rows, TILE_K))


@cute.kernel
def tiled_kernel(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, tile_layout: cutlass.Constexpr):
    """One block computes one tile of C; tile_layout(rows) is the layout of a tile in shared memory."""
    thread, _, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    smem = SmemAllocator()
    sA, sB = (smem.allocate_tensor(mA.element_type, tile_layout(rows), 16) for rows in (TILE_M, TILE_N))
    tilers = (TILE_M, TILE_K), (TILE_N, TILE_K)
    # (TILE, TILE_K, tiles along K): the tiles of this block, and beside them the coordinates of their elements
    gA, cA = (cute.local_tile(each, tilers[0], (block_m, None)) for each in (mA, cute.make_identity_tensor(mA.shape)))
    gB, cB = (cute.local_tile(each, tilers[1], (block_n, None)) for each in (mB, cute.make_identity_tensor(mB.shape)))
    threads = cute.make_layout((THREADS, THREADS))
    tAs = cute.local_partition(sA, threads, thread, proj=(1, None))  # the rows of A that this thread needs, all of K
    tBs = cute.local_partition(sB, threads, thread, proj=(None, 1))
    acc = cute.make_rmem_tensor((TILE_M // THREADS, TILE_N // THREADS), cutlass.Float32)
    acc.fill(0.0)
    for k in range(cute.size(gA, mode=[2])):
        load_tile(gA[None, None, k], cA[None, None, k], sA, mA.shape, thread)
        load_tile(gB[None, None, k], cB[None, None, k], sB, mB.shape, thread)
        cute.arch.sync_threads()
        for kk in cutlass.range_constexpr(TILE_K):
            for m in cutlass.range_constexpr(cute.size(acc, mode=[0])):
                for n in cutlass.range_constexpr(cute.size(acc, mode=[1])):
                    acc[m, n] += tAs[m, kk].to(cutlass.Float32) * tBs[n, kk].to(cutlass.Float32)
        cute.arch.sync_threads()
    gC, cC = (cute.local_tile(each, (TILE_M, TILE_N), (block_m, block_n)) for each in (mC, cute.make_identity_tensor(mC.shape)))
    tCg, tCc = (cute.local_partition(each, threads, thread) for each in (gC, cC))
    for i in cutlass.range_constexpr(cute.size(acc)):
        if cute.elem_less(tCc[i], mC.shape):
            tCg[i] = acc[i].to(mC.element_type)


def gemm_with(tile_layout):
    """The GEMM whose tiles lie in shared memory as `tile_layout(rows)` says; it launches enough blocks to cover C."""

    @cute.jit
    def gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
        need(mA, mB, mC, A=None, B=None, C=None, dtypes=("Float16", "BFloat16"))
        grid = need_grid((cute.ceil_div(cute.size(mC, mode=[0]), TILE_M), cute.ceil_div(cute.size(mC, mode=[1]), TILE_N), 1))
        tiled_kernel(mA, mB, mC, tile_layout).launch(grid=grid, block=(THREADS * THREADS, 1, 1), stream=stream)

    return gemm


tiled_gemm = gemm_with(by_columns)

if __name__ == "__main__":
    from ladder import harness
    from ladder.naive import host_gemm

    harness.main(tiled_gemm, host_gemm)
