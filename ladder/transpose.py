"""B = A^T at the speed of memory, through a swizzled tile in shared memory.

A is (M,N) and B is (N,M), fp16, both row-major. Seen as (M,N) too, B is a matrix with m contiguous: to transpose is to copy each tile to
the same place of another layout, and all coordinates here are (m, n). Global memory is fast only in whole vectors along what is
contiguous, n in A and m in B. So two thread-value layouts share the work: READ brings a tile in as vectors along n, WRITE takes it out
as vectors along m, and between them it lies in shared memory as `tile_layout` says.

There READ stores 16 bytes at once. WRITE gathers each vector from 8 rows, 2 bytes from each, and 8 neighbouring threads are 8 rows apart.
The swizzle exchanges the vectors of row m by m / 8, so that neither has a bank conflict. On an H200 a copy brings each SM 16 bytes in
every other cycle or so; storing and gathering keep shared memory busy for a fifth of that time. To turn blocks in registers would
save some of it, and win nothing.

    python -m ladder.transpose --size 3000,1000      checks and times it on the GPU; without one, compiles it and runs `host_transpose`
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.memory import SmemAllocator

from ladder.needs import need_operands

TILE = 64  # a tile is TILE x TILE; a row of it is 128 bytes, one word of each bank
VECTOR = 8  # fp16 values in 16 bytes, the most that one instruction moves
ACROSS, DOWN = TILE // VECTOR, 32  # threads along what is contiguous, and along the other mode
THREADS = ACROSS * DOWN


def read_layouts():
    """READ: (m, n) -> thread, neighbours side by side along n, and (m, n) -> value, VECTOR of them along n."""
    return cute.make_layout((DOWN, ACROSS), stride=(ACROSS, 1)), cute.make_layout((1, VECTOR))


def write_layouts():
    """WRITE: (m, n) -> thread, neighbours side by side along m, and (m, n) -> value, VECTOR of them along m."""
    return cute.make_layout((ACROSS, DOWN)), cute.make_layout((VECTOR, 1))


def tile_layout():
    """(m, n) -> slot in shared memory: row-major, and in row m vector v changes places with vector v XOR (m / 8)."""
    return cute.make_composed_layout(cute.make_swizzle(3, 3, 6), 0, cute.make_layout((TILE, TILE), stride=(TILE, 1)))


def thread_parts(layouts, thread, block, mG: cute.Tensor, sT: cute.Tensor):
    """A thread's parts of the block's tile of mG (M,N), of the same tile in sT, and of its coordinates: (VECTOR, down, across)."""
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), mG.element_type, num_bits_per_copy=VECTOR * mG.element_type.width)
    mine = cute.make_tiled_copy_tv(atom, *layouts).get_slice(thread)
    gT, cT = (cute.zipped_divide(each, (TILE, TILE))[(None, None), block] for each in (mG, cute.make_identity_tensor(mG.shape)))
    return [mine.partition_S(each) for each in (gT, sT, cT)]


@cute.jit
def read_tile(mA: cute.Tensor, sT: cute.Tensor, block: cutlass.Int32, thread: cutlass.Int32):
    """What one thread brings into the tile. Vectors outside A are not read; what the tile has there is never written to B."""
    tRgA, tRsT, tRcT = thread_parts(read_layouts(), thread, block, mA, sT)
    vectors = cute.make_rmem_tensor_like(tRgA)
    for i in cutlass.range_constexpr(cute.size(vectors, mode=[1])):  # all loads are under way before the first store
        if cute.elem_less(tRcT[0, i, 0], mA.shape):
            cute.autovec_copy(tRgA[None, i, 0], vectors[None, i, 0])
    cute.autovec_copy(vectors, tRsT)


@cute.jit
def write_tile(sT: cute.Tensor, mBt: cute.Tensor, block: cutlass.Int32, thread: cutlass.Int32):
    """What one thread takes out of the tile."""
    tWgB, tWsT, tWcT = thread_parts(write_layouts(), thread, block, mBt, sT)
    for i in cutlass.range_constexpr(cute.size(tWgB, mode=[2])):
        if cute.elem_less(tWcT[0, 0, i], mBt.shape):
            vector = cute.make_rmem_tensor(VECTOR, mBt.element_type)
            cute.autovec_copy(tWsT[None, 0, i], vector)
            cute.autovec_copy(vector, tWgB[None, 0, i])


@cute.kernel
def transpose_kernel(mA: cute.Tensor, mBt: cute.Tensor):
    """Each block moves one tile."""
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    sT = SmemAllocator().allocate_tensor(mA.element_type, tile_layout(), 128)
    read_tile(mA, sT, block, thread)
    cute.arch.sync_threads()
    write_tile(sT, mBt, block, thread)


def seen_from_a(mB: cute.Tensor):
    """B (N,M) as (M,N): the same elements, its modes exchanged."""
    return cute.make_tensor(mB.iterator, cute.select(mB.layout, [1, 0]))


@cute.jit
def transpose(mA: cute.Tensor, mB: cute.Tensor, stream: cuda.CUstream):
    """Launch a block for each tile. A: fp16 (M,N), n contiguous; B: (N,M), m contiguous; LadderError unless rows are whole vectors."""
    need_operands(A=(mA, "MN", "n"), B=(mB, "NM", "m"))
    tiles = cute.size(cute.ceil_div(mA.shape, (TILE, TILE)))
    transpose_kernel(mA, seen_from_a(mB)).launch(grid=(tiles, 1, 1), block=(THREADS, 1, 1), stream=stream)


@cute.jit
def host_transpose(mA: cute.Tensor, mB: cute.Tensor):
    """The same work by loops over blocks and threads on the CPU: what can be run where there is no GPU."""
    sT = cute.make_tensor(cute.make_rmem_tensor(TILE * TILE, mA.element_type).iterator, tile_layout())
    for block in range(cute.size(cute.ceil_div(mA.shape, (TILE, TILE)))):
        for thread in range(THREADS):
            read_tile(mA, sT, block, thread)
        for thread in range(THREADS):
            write_tile(sT, seen_from_a(mB), block, thread)


if __name__ == "__main__":
    from ladder import streaming

    streaming.main(streaming.TRANSPOSE, transpose, host_transpose)
