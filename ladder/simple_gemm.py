"""The classic fp16 GEMM: C = A B^T through shared memory and registers into the tensor cores, each step overlapped with the next.

A is (M,K), B is (N,K), each with either mode contiguous; C is (M,N) with n contiguous; sums in fp32. Contiguous modes are multiples of 8.
While the tensor cores multiply 16 of K, ldmatrix brings the next 16 of K from shared memory into registers, and cp.async the tile of
some k-tiles later from global into shared memory. What hangs over the edge of a matrix is not read (it counts as 0) and not written.

    python -m ladder.simple_gemm --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

from dataclasses import dataclass

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import CopyUniversalOp, cpasync, warp
from cutlass.memory import SmemAllocator

from ladder.errors import LadderError
from ladder.needs import need

VECTOR = 8  # elements of 16 bytes: what a thread copies at once, and one row of an ldmatrix matrix
ATOM = (16, 8, 16)  # M, N, K of one tensor-core instruction


@dataclass(frozen=True)
class Config:
    """tile: M, N, K of a block. stages: how many tiles of A and B it holds. warps: along M and N. group: tile rows, see `tile_of`."""

    tile: tuple[int, int, int] = (128, 256, 32)
    stages: int = 4
    warps: tuple[int, int] = (2, 4)
    group: int = 16

    @property
    def threads(self) -> int:
        return 32 * self.warps[0] * self.warps[1]

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: the stages, and in the same place, later, the tile of C."""
        M, N, K = self.tile
        return 2 * max(self.stages * (M + N) * K, M * N)


DEFAULT = Config()  # 96 KiB of shared memory: as much as any GPU from Ampere on has


def shared_layout(shape, contiguous: int):
    """A tile (rows, columns) or several of them (rows, columns, stages) in shared memory. contiguous: 0 or 1, the mode that is.

    Eight lines of up to 128 bytes are its atom. The 16-byte pieces of a line are swapped by a swizzle, differently in each line, so that
    the same piece of eight neighbouring lines, one matrix of ldmatrix, is spread over all banks.
    """
    line = min(64, shape[contiguous])  # elements
    lines = cute.make_layout((line, 8)) if contiguous == 0 else cute.make_layout((8, line), stride=(line, 1))
    swizzle = {64: cute.make_swizzle(3, 3, 3), 32: cute.make_swizzle(2, 3, 3)}[line]  # 8 pieces in a line, or 4 and 2 lines in 128 bytes
    return cute.tile_to_shape(cute.make_composed_layout(swizzle, 0, lines), shape, tuple(range(len(shape))))


def vector_copy(op, shape, contiguous: int, threads: int):
    """How `threads` threads copy a tile, 16 bytes each: neighbours side by side along the contiguous mode."""
    atom = cute.make_copy_atom(op, cutlass.Float16, num_bits_per_copy=8 * 16)
    side = min(threads, shape[contiguous] // VECTOR)
    if contiguous == 0:
        return cute.make_tiled_copy_tv(atom, cute.make_layout((side, threads // side)), cute.make_layout((VECTOR, 1)))
    return cute.make_tiled_copy_tv(atom, cute.make_layout((threads // side, side), stride=(side, 1)), cute.make_layout((1, VECTOR)))


def tensor_cores(config: Config):
    """The tiled MMA: warps side by side, two atoms along N for each, so that one ldmatrix brings four matrices of A or of B."""
    op = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, ATOM)
    m, n = config.warps
    return cute.make_tiled_mma(op, (m, n, 1), permutation_mnk=(ATOM[0] * m, 2 * ATOM[1] * n, ATOM[2]))


def matrix_copy(contiguous: int):
    """ldmatrix of four 8x8 matrices; it transposes those whose lines do not run along K."""
    return cute.make_copy_atom(warp.LdMatrix8x8x16bOp(transpose=contiguous == 0, num_matrices=4), cutlass.Float16)


def tile_of(block, tiles_m: int, tiles_n: int, group: int):
    """Which tile of C a block computes: `group` tile rows, column after column, then the next: blocks that run together share A and B."""
    first = block // (group * tiles_n) * group
    rows = cutlass.min(group, tiles_m - first)
    inside = block % (group * tiles_n)
    return first + inside % rows, inside // rows


def rows_inside(tXc, limit: int):
    """For each vector of a thread, whether its row is inside. tXc: the coordinates (m or n, k) of its elements, ((V,1),rows,columns)."""
    inside = cute.make_rmem_tensor(cute.make_layout((1, *tXc.shape[1:]), stride=(0, 1, 0)), cutlass.Boolean)
    for i in range(cute.size(tXc, mode=[1])):
        inside[0, i, 0] = cute.elem_less(tXc[0, i, 0][0], limit)
    return inside


@cute.jit
def load_first_tile(copy: cute.TiledCopy, tXg: cute.Tensor, tXs: cute.Tensor, tXc: cute.Tensor, inside: cute.Tensor):
    """Copy the first k-tile, whose first columns hang over the edge (k < 0) if TILE_K does not divide K: those become 0."""
    tXs.fill(0.0)
    for i in cutlass.range_constexpr(cute.size(tXs, mode=[2])):
        if tXc[0, 0, i][1] >= 0:
            cute.copy(copy, tXg[None, None, i], tXs[None, None, i], pred=inside[None, None, i])


@cute.kernel
def simple_kernel(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, config: cutlass.Constexpr):
    """One block computes one tile of C."""
    TILE_M, TILE_N, TILE_K = config.tile
    majors = [mX.leading_dim for mX in (mA, mB)]
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    tiles_m, tiles_n, tiles_k = (cute.ceil_div(size, tile) for size, tile in zip((*mC.shape, mA.shape[1]), config.tile, strict=True))
    block_m, block_n = tile_of(block, tiles_m, tiles_n, config.group)

    # global -> shared: (V, rows, columns, k-tiles) and (V, rows, columns, stages) of this thread
    smem = SmemAllocator()
    storage = cute.recast_ptr(smem.allocate(config.shared_bytes, 128), dtype=cutlass.Float16)
    sA = cute.make_tensor(storage, shared_layout((TILE_M, TILE_K, config.stages), majors[0]))
    sB = cute.make_tensor(storage + cute.size(sA), shared_layout((TILE_N, TILE_K, config.stages), majors[1]))
    copies, tXg, tXs, tXc, inside = [], [], [], [], []
    for mX, sX, tile, at, major in ((mA, sA, TILE_M, block_m, majors[0]), (mB, sB, TILE_N, block_n, majors[1])):
        # the k-tiles end where K ends: it is the first that may hang over
        start = (0, mX.shape[1] - tiles_k * TILE_K)
        gX, cX = (cute.local_tile(cute.domain_offset(start, each), (tile, TILE_K), (at, None)) for each in (mX, cute.make_identity_tensor(mX.shape)))
        copy = vector_copy(cpasync.CopyG2SOp(cpasync.LoadCacheMode.GLOBAL), (tile, TILE_K), major, config.threads)
        part = copy.get_slice(thread)
        copies.append(copy)
        tXg.append(part.partition_S(gX))
        tXs.append(part.partition_D(sX))
        tXc.append(part.partition_S(cX)[None, None, None, 0])
        inside.append(rows_inside(tXc[-1], mX.shape[0]))

    for stage in cutlass.range_constexpr(config.stages - 1):
        if stage < tiles_k:
            for copy, tg, ts, tc, ok in zip(copies, tXg, tXs, tXc, inside, strict=True):
                if cutlass.const_expr(stage == 0 and mA.shape[1] % TILE_K != 0):
                    load_first_tile(copy, tg[None, None, None, 0], ts[None, None, None, 0], tc, ok)
                else:
                    cute.copy(copy, tg[None, None, None, stage], ts[None, None, None, stage], pred=ok)
        cute.arch.cp_async_commit_group()

    # shared -> registers
    mma = tensor_cores(config)
    part = mma.get_slice(thread)
    tCrA, tCrB = mma.make_fragment_A(part.partition_A(sA)[None, None, None, 0]), mma.make_fragment_B(part.partition_B(sB)[None, None, None, 0])
    acc = cute.make_rmem_tensor(mma.partition_shape_C((TILE_M, TILE_N)), cutlass.Float32)
    acc.fill(0.0)
    to_A, to_B = cute.make_tiled_copy_A(matrix_copy(majors[0]), mma), cute.make_tiled_copy_B(matrix_copy(majors[1]), mma)
    tAs, tBs = to_A.get_slice(thread).partition_S(sA), to_B.get_slice(thread).partition_S(sB)
    tAr, tBr = to_A.retile(tCrA), to_B.retile(tCrB)

    blocks_k = cute.size(tCrA, mode=[2])
    cute.arch.cp_async_wait_group(config.stages - 2)
    cute.arch.sync_threads()
    cute.copy(to_A, tAs[None, None, 0, 0], tAr[None, None, 0])
    cute.copy(to_B, tBs[None, None, 0, 0], tBr[None, None, 0])
    read, write = cutlass.Int32(0), cutlass.Int32(config.stages - 1)
    for tile in cutlass.range(tiles_k, unroll=1):
        for k in cutlass.range_constexpr(blocks_k):
            if cutlass.const_expr(k == blocks_k - 1):
                read = 0 if read == config.stages - 1 else read + 1
                cute.arch.cp_async_wait_group(config.stages - 2)
                cute.arch.sync_threads()
            ahead = (k + 1) % blocks_k
            cute.copy(to_A, tAs[None, None, ahead, read], tAr[None, None, ahead])
            cute.copy(to_B, tBs[None, None, ahead, read], tBr[None, None, ahead])
            if cutlass.const_expr(k == 0):
                if tile + config.stages - 1 < tiles_k:
                    for copy, tg, ts, ok in zip(copies, tXg, tXs, inside, strict=True):
                        cute.copy(copy, tg[None, None, None, tile + config.stages - 1], ts[None, None, None, write], pred=ok)
                cute.arch.cp_async_commit_group()
                write = 0 if write == config.stages - 1 else write + 1
            cute.gemm(mma, acc, tCrA[None, None, k], tCrB[None, None, k], acc)

    # registers -> shared -> global
    cute.arch.cp_async_wait_group(0)
    cute.arch.sync_threads()
    sC = cute.make_tensor(storage, shared_layout((TILE_M, TILE_N), 1))
    result = cute.make_fragment_like(acc, cutlass.Float16)
    result.store(acc.load().to(cutlass.Float16))
    cute.autovec_copy(result, part.partition_C(sC))
    cute.arch.sync_threads()
    gC, cC = (cute.local_tile(each, (TILE_M, TILE_N), (block_m, block_n)) for each in (mC, cute.make_identity_tensor(mC.shape)))
    copy = vector_copy(CopyUniversalOp(), (TILE_M, TILE_N), 1, config.threads)
    part = copy.get_slice(thread)
    tCs, tCg, tCc = part.partition_S(sC), part.partition_D(gC), part.partition_D(cC)
    tCr = cute.make_fragment_like(tCs)
    cute.copy(copy, tCs, tCr)
    for i in cutlass.range_constexpr(cute.size(tCr, mode=[1])):
        for j in cutlass.range_constexpr(cute.size(tCr, mode=[2])):
            if cute.elem_less(tCc[0, i, j], mC.shape):
                cute.copy(copy, tCr[None, i, j], tCg[None, i, j])


def gemm_with(config: Config):
    """The GEMM of this configuration; it launches one block for each tile of C."""

    @cute.jit
    def gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
        need(mA, mB, mC, C="n")
        room = SmemAllocator.capacity_in_bytes()
        if cutlass.const_expr(config.shared_bytes > room):
            raise LadderError(f"{config} needs {config.shared_bytes} bytes of shared memory a block, and this GPU has {room}")
        tiles_m, tiles_n = (cute.ceil_div(size, tile) for size, tile in zip(mC.shape, config.tile[:2], strict=True))
        simple_kernel(mA, mB, mC, config).launch(grid=(tiles_m * tiles_n, 1, 1), block=(config.threads, 1, 1), stream=stream)

    return gemm


simple_gemm = gemm_with(DEFAULT)

if __name__ == "__main__":
    from ladder import harness

    harness.main(simple_gemm, mnk=(304, 200, 104), output=harness.row_major_output, loops="the same product by the first rung's loops")
