"""The classic fp16 GEMM: C = A B^T through shared memory and registers into the tensor cores, each step overlapped with the next.

A is (M,K), B is (N,K), each with either mode contiguous; C is (M,N) with n contiguous; sums in fp32. Contiguous modes are multiples of 8.
While the tensor cores multiply 16 of K, ldmatrix brings the next 16 from shared memory into registers, and cp.async a later k-tile from
global into shared memory. What hangs over the edge of a matrix is not read (it counts as 0) and not written.

    python -m ladder.simple_gemm --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

from dataclasses import dataclass

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import CopyUniversalOp, cpasync
from cutlass.memory import SmemAllocator

from ladder.errors import LadderError
from ladder.needs import need
from ladder.tensor_core import VECTOR, matrix_copy, shared_layout, tensor_cores, vector_copy


@dataclass(frozen=True)
class Config:
    """tile: M, N, K of a block. stages: how many k-tiles it holds. warps: along M and N. group: rows of tiles, see `tile_of`."""

    tile: tuple[int, int, int]
    stages: int
    warps: tuple[int, int] = (2, 4)
    group: int = 16

    def __post_init__(self):
        M, N, K = self.tile
        if any(size < 1 or size & (size - 1) for size in (*self.tile, *self.warps)):
            raise LadderError(f"{self}: the sizes of the tile and of warps must be powers of two")
        if min(M, N, K) < 32 or self.stages < 2 or self.group < 1:
            raise LadderError(f"{self}: each size of the tile must be 32 or more, stages 2 or more, group 1 or more")
        if M < 16 * self.warps[0] or N < 16 * self.warps[1] or min(M, N) * K < VECTOR * self.threads:
            raise LadderError(f"{self}: too many warps; each needs at least 16 x 16 of C, and each thread 16 bytes of A and B to copy")

    @property
    def threads(self) -> int:
        return 32 * self.warps[0] * self.warps[1]

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: the stages and later, in the same place, the tile of C."""
        M, N, K = self.tile
        return 2 * max(self.stages * (M + N) * K, M * N)


# the first that a block has room for: 144 KiB of shared memory, as on A100 and H100, or 96 KiB, which every GPU from Ampere on has
CONFIGS = Config((128, 256, 64), 3), Config((128, 256, 32), 4)


def tile_of(block, tiles_m: int, tiles_n: int, group: int):
    """(m, n) of a block's tile. Blocks go down `group` rows of tiles, then to the next column: those that run together share A and B."""
    first = block // (group * tiles_n) * group
    rows = cutlass.min(group, tiles_m - first)
    inside = block % (group * tiles_n)
    return first + inside % rows, inside // rows


class GlobalToShared:
    """What one thread copies of A or B: tXg in global memory, (vector, rows, columns, k-tiles), to tXs in the stages."""

    def __init__(self, mX, sX, tile, block, thread, config: Config):
        """tile: rows and columns of a tile; block: which rows of tiles. The last k-tile ends where K ends: only the first can
        hang over, so the loop over the others tests nothing along k."""
        rows, K = mX.shape
        start = (0, K - cute.ceil_div(K, tile[1]) * tile[1])
        cX = cute.make_identity_tensor(mX.shape)
        gX, cX = (cute.local_tile(cute.domain_offset(start, each), tile, (block, None)) for each in (mX, cX))
        self.copy = vector_copy(cpasync.CopyG2SOp(cpasync.LoadCacheMode.GLOBAL), tile, mX.leading_dim, config.threads)
        part = self.copy.get_slice(thread)
        self.tXg, self.tXs, self.tXc = part.partition_S(gX), part.partition_D(sX), part.partition_S(cX)
        # whether each vector's row is inside the matrix: one answer for all columns
        down, along = (cute.size(self.tXs, mode=[mode]) for mode in (1, 2))
        self.inside = cute.make_rmem_tensor(cute.make_layout((1, down, along), stride=(0, 1, 0)), cutlass.Boolean)
        for i in range(down):
            self.inside[0, i, 0] = cute.elem_less(self.tXc[0, i, 0, 0][0], rows)


def load_tile(x: GlobalToShared, tile, stage):
    """Start to copy a k-tile into a stage."""
    cute.copy(x.copy, x.tXg[None, None, None, tile], x.tXs[None, None, None, stage], pred=x.inside)


@cute.jit
def load_first(copy: cute.TiledCopy, tXg: cute.Tensor, tXs: cute.Tensor, tXc: cute.Tensor, inside: cute.Tensor):
    """Start to copy the first k-tile; what hangs over the edge, k < 0, becomes 0."""
    for i in cutlass.range_constexpr(cute.size(tXs, mode=[2])):
        if tXc[0, 0, i][1] >= 0:
            cute.copy(copy, tXg[None, None, i], tXs[None, None, i], pred=inside[None, None, i])
        else:
            tXs[None, None, i].fill(0.0)


class SharedToRegisters:
    """What one thread of a warp gets by ldmatrix of A or B: tXs in the stages, (matrices, rows, k, stages), to tXr, a fragment of `mma`."""

    def __init__(self, copy, sX, fragment, thread):
        self.copy, self.tXs, self.tXr = copy, copy.get_slice(thread).partition_S(sX), copy.retile(fragment)


def load_fragment(x: SharedToRegisters, k, stage):
    """Bring 16 of K of a stage into registers."""
    cute.copy(x.copy, x.tXs[None, None, k, stage], x.tXr[None, None, k])


@cute.jit
def store_tile(acc: cute.Tensor, tCs: cute.Tensor, sC: cute.Tensor, mC: cute.Tensor, block: cute.Coord, thread, config: cutlass.Constexpr):
    """The sums of a block go through shared memory, so that C is written 16 bytes at a time. tCs: where in sC this thread's belong."""
    result = cute.make_fragment_like(acc, mC.element_type)
    result.store(acc.load().to(mC.element_type))
    cute.autovec_copy(result, tCs)
    cute.arch.sync_threads()
    tile = config.tile[:2]
    gC, cC = (cute.local_tile(each, tile, block) for each in (mC, cute.make_identity_tensor(mC.shape)))
    copy = vector_copy(CopyUniversalOp(), tile, 1, config.threads)
    part = copy.get_slice(thread)
    tCs, tCg, tCc = part.partition_S(sC), part.partition_D(gC), part.partition_D(cC)
    tCr = cute.make_fragment_like(tCs)
    cute.copy(copy, tCs, tCr)
    for i in cutlass.range_constexpr(cute.size(tCr, mode=[1])):
        for j in cutlass.range_constexpr(cute.size(tCr, mode=[2])):
            if cute.elem_less(tCc[0, i, j], mC.shape):
                cute.copy(copy, tCr[None, i, j], tCg[None, i, j])


@cute.kernel
def simple_kernel(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, config: cutlass.Constexpr):
    """One block computes one tile of C."""
    (TILE_M, TILE_N, TILE_K), stages = config.tile, config.stages
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    tiles_m, tiles_n, tiles_k = (cute.ceil_div(size, tile) for size, tile in zip((*mC.shape, mA.shape[1]), config.tile, strict=True))
    block_m, block_n = tile_of(block, tiles_m, tiles_n, config.group)

    storage = cute.recast_ptr(SmemAllocator().allocate(config.shared_bytes, 128), dtype=mA.element_type)
    sA = cute.make_tensor(storage, shared_layout((TILE_M, TILE_K, stages), mA.leading_dim))
    sB = cute.make_tensor(storage + cute.size(sA), shared_layout((TILE_N, TILE_K, stages), mB.leading_dim))
    sC = cute.make_tensor(storage, shared_layout((TILE_M, TILE_N), 1))

    a_tiles = GlobalToShared(mA, sA, (TILE_M, TILE_K), block_m, thread, config)
    b_tiles = GlobalToShared(mB, sB, (TILE_N, TILE_K), block_n, thread, config)
    for stage in cutlass.range_constexpr(stages - 1):
        if stage < tiles_k:
            for x in (a_tiles, b_tiles):
                if cutlass.const_expr(stage == 0):
                    load_first(x.copy, x.tXg[None, None, None, 0], x.tXs[None, None, None, 0], x.tXc[None, None, None, 0], x.inside)
                else:
                    load_tile(x, stage, stage)
        cute.arch.cp_async_commit_group()  # one group a stage, even an empty one, so that they can be counted

    mma = tensor_cores(config.warps)
    part = mma.get_slice(thread)
    tCrA = mma.make_fragment_A(part.partition_A(sA)[None, None, None, 0])  # (values, atoms along M, atoms along K)
    tCrB = mma.make_fragment_B(part.partition_B(sB)[None, None, None, 0])
    a_next = SharedToRegisters(cute.make_tiled_copy_A(matrix_copy(mA.leading_dim), mma), sA, tCrA, thread)
    b_next = SharedToRegisters(cute.make_tiled_copy_B(matrix_copy(mB.leading_dim), mma), sB, tCrB, thread)
    acc = cute.make_rmem_tensor(mma.partition_shape_C((TILE_M, TILE_N)), cutlass.Float32)
    acc.fill(0.0)

    atoms_k = cute.size(tCrA, mode=[2])
    cute.arch.cp_async_wait_group(stages - 2)  # the first k-tile is there
    cute.arch.sync_threads()
    load_fragment(a_next, 0, 0)
    load_fragment(b_next, 0, 0)
    read, write = cutlass.Int32(0), cutlass.Int32(stages - 1)  # the stages whose turn it is
    for tile in cutlass.range(tiles_k, unroll=1):
        for k in cutlass.range_constexpr(atoms_k):
            if cutlass.const_expr(k == atoms_k - 1):  # this k-tile is all in registers: on to the next
                read = 0 if read == stages - 1 else read + 1
                cute.arch.cp_async_wait_group(stages - 2)
                cute.arch.sync_threads()
            load_fragment(a_next, (k + 1) % atoms_k, read)
            load_fragment(b_next, (k + 1) % atoms_k, read)
            if cutlass.const_expr(k == 0):  # all threads are past the k-tile before this one: its stage is free
                if tile + stages - 1 < tiles_k:
                    load_tile(a_tiles, tile + stages - 1, write)
                    load_tile(b_tiles, tile + stages - 1, write)
                cute.arch.cp_async_commit_group()
                write = 0 if write == stages - 1 else write + 1
            cute.gemm(mma, acc, tCrA[None, None, k], tCrB[None, None, k], acc)
    cute.arch.sync_threads()  # no warp needs the stages any more: C may take their place
    store_tile(acc, part.partition_C(sC), sC, mC, (block_m, block_n), thread, config)


def fitting(configs) -> Config:
    """The first that has room in a block's shared memory on the GPU that is compiled for. Raises LadderError if none has."""
    room = SmemAllocator.capacity_in_bytes()
    for config in configs:
        if config.shared_bytes <= room:
            return config
    raise LadderError(f"{config} needs {config.shared_bytes} bytes of shared memory for a block; a block has {room} on this GPU")


def gemm_with(*configs: Config):
    """The GEMM of the first of these configurations that fits; it launches one block for each tile of C."""

    @cute.jit
    def gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
        need(mA, mB, mC, C="n")
        config = fitting(configs)
        tiles_m, tiles_n = (cute.ceil_div(size, tile) for size, tile in zip(mC.shape, config.tile[:2], strict=True))
        simple_kernel(mA, mB, mC, config).launch(grid=(tiles_m * tiles_n, 1, 1), block=(config.threads, 1, 1), stream=stream)

    return gemm


simple_gemm = gemm_with(*CONFIGS)

if __name__ == "__main__":
    from ladder import harness

    look = "whichever modes are contiguous, tiles come in by 16 bytes; ldmatrix transposes them where it must"
    harness.main(simple_gemm, mnk=(304, 200, 104), output=harness.row_major_output, look=look)
