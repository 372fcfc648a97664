"""Z = X + Y at the speed of memory: each thread moves whole vectors of 16 bytes, and has several under way.

X, Y and Z are (N), fp16, contiguous, of any length. An addition moves 6 bytes, so moving them is all there is to be fast at. A block takes
a tile of TILE elements, and `tv_layout` says which thread holds what of it. No load of a thread needs the result of another, so they
are under way together. Only the last tile can hang over the end: it is added element by element, as far as it lies inside.

    python -m ladder.elementwise --size 1000003      checks and times it on the GPU; without one, compiles it and runs `host_elementwise`
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute

from ladder.needs import need_operands

THREADS = 256
VECTOR = 8  # fp16 values in 16 bytes, the most that one instruction moves
LOADS = 2  # vectors of X, and as many of Y, that a thread has under way
TILE = THREADS * VECTOR * LOADS


def tv_layout():
    """(thread, (value, load)) -> index in the tile. Neighbours hold neighbouring vectors, so that a warp loads 512 bytes in one piece."""
    return cute.make_layout((THREADS, (VECTOR, LOADS)), stride=(VECTOR, (1, THREADS * VECTOR)))


def thread_part(mT: cute.Tensor, block: cutlass.Int32, thread: cutlass.Int32):
    """What a thread holds of the block's tile of mT (N): (VECTOR, LOADS)."""
    gT = cute.zipped_divide(mT, (TILE,))[(None,), block]  # ((TILE), (tiles)) -> (TILE)
    return cute.composition(gT, tv_layout())[thread, (None, None)]


@cute.jit
def add_part(mX: cute.Tensor, mY: cute.Tensor, mZ: cute.Tensor, block: cutlass.Int32, thread: cutlass.Int32):
    """What one thread does."""
    tXgX, tYgY, tZgZ = (thread_part(each, block, thread) for each in (mX, mY, mZ))
    if block * TILE <= cute.size(mZ) - TILE:  # the whole tile lies inside
        tZgZ.store(tXgX.load() + tYgY.load())
    else:
        tZcZ = thread_part(cute.make_identity_tensor(mZ.shape), block, thread)  # the coordinates of its elements
        x, y = (cute.make_rmem_tensor_like(each) for each in (tXgX, tYgY))
        for i in cutlass.range_constexpr(cute.size(x)):  # all loads before the first sum, here too
            if cute.elem_less(tZcZ[i], mZ.shape):
                x[i], y[i] = tXgX[i], tYgY[i]
        for i in cutlass.range_constexpr(cute.size(x)):
            if cute.elem_less(tZcZ[i], mZ.shape):
                tZgZ[i] = x[i] + y[i]


@cute.kernel
def elementwise_kernel(mX: cute.Tensor, mY: cute.Tensor, mZ: cute.Tensor):
    """Each block adds one tile."""
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    add_part(mX, mY, mZ, block, thread)


@cute.jit
def elementwise(mX: cute.Tensor, mY: cute.Tensor, mZ: cute.Tensor, stream: cuda.CUstream):
    """Launch a block for each tile. X, Y, Z: fp16, (N):(1), at a multiple of 16 bytes; LadderError for others."""
    need_operands(X=(mX, "N"), Y=(mY, "N"), Z=(mZ, "N"))
    grid = (cute.ceil_div(cute.size(mZ), TILE), 1, 1)
    elementwise_kernel(mX, mY, mZ).launch(grid=grid, block=(THREADS, 1, 1), stream=stream)


@cute.jit
def host_elementwise(mX: cute.Tensor, mY: cute.Tensor, mZ: cute.Tensor):
    """The same work by loops over blocks and threads on the CPU: what can be run where there is no GPU."""
    for block in range(cute.ceil_div(cute.size(mZ), TILE)):
        for thread in range(THREADS):
            add_part(mX, mY, mZ, block, thread)


if __name__ == "__main__":
    from ladder import streaming

    streaming.main(streaming.ELEMENTWISE, elementwise, host_elementwise)
