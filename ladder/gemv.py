"""y = A x, at the speed at which A can be read: one warp for each row of A, in vectors of 16 bytes.

A is (M,K) fp16 with k contiguous, x is (K), y is (M); sums in fp32. Each element of A is read once and used once, so reading A is all
there is to be fast at. A warp goes along its row by tiles of TILE_K elements, and `tv_layout` says which lane holds what. The vectors of
the next tile are under way while those of this one are multiplied. All warps read the same x, so the caches hold it. Each lane sums
its own products; then shuffles sum over the warp.

With a warp a row it takes many thousands of rows to keep a large GPU's memory busy: 4096 are too few for an H200, 16384 are enough.

    python -m ladder.gemv --size 3000,1000      checks and times it on the GPU; without one, compiles it and runs `host_gemv`
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute

from ladder.needs import need_operands

WARP = 32  # lanes
ROWS = 8  # rows of A, and so warps, of a block
VECTOR = 8  # fp16 values in 16 bytes, the most that one instruction moves
LOADS = 4  # vectors of a tile that a lane holds
TILE_K = WARP * VECTOR * LOADS


def tv_layout():
    """(lane, (value, load)) -> index in a tile. Neighbours hold neighbouring vectors, so that a warp loads 512 bytes in one piece."""
    return cute.make_layout((WARP, (VECTOR, LOADS)), stride=(VECTOR, (1, WARP * VECTOR)))


def lane_part(row: cute.Tensor, lane: cutlass.Int32):
    """What a lane holds of a row (K): (VECTOR, LOADS, tiles)."""
    tiles = cute.zipped_divide(row, (TILE_K,))  # ((TILE_K), (tiles))
    return cute.composition(tiles, (tv_layout(), None))[(lane, (None, None)), None]


@cute.jit
def load_inside(part: cute.Tensor, coords: cute.Tensor, K: int, vectors: cute.Tensor):
    """Load the vectors of `part` (VECTOR, LOADS) that lie below K, a multiple of VECTOR; 0 for those beyond it."""
    vectors.fill(0)
    for i in cutlass.range_constexpr(LOADS):
        if coords[0, i] < K:
            vectors[None, i].store(part[None, i].load())


@cute.jit
def lane_sum(mA: cute.Tensor, mX: cute.Tensor, m: cutlass.Int32, lane: cutlass.Int32):
    """A lane's share of row m of A times x, in fp32."""
    K = cute.size(mX)
    tAgA, tXgX, tXcX = (lane_part(row, lane) for row in (mA[m, None], mX, cute.make_identity_tensor(mX.shape)))
    a, ahead, x = (cute.make_rmem_tensor((VECTOR, LOADS), mA.element_type) for _ in range(3))
    sums = cute.make_rmem_tensor(VECTOR, cutlass.Float32)  # so many, so that one product need not wait for the last
    sums.fill(0.0)
    load_inside(tAgA[None, None, 0], tXcX[None, None, 0], K, ahead)
    for tile in cutlass.range(cute.size(tXgX, mode=[2]), unroll=2):  # by twos, the buffers change their names and nothing is moved
        a.store(ahead.load())
        load_inside(tAgA[None, None, tile + 1], tXcX[None, None, tile + 1], K, ahead)  # past the last tile it loads nothing
        load_inside(tXgX[None, None, tile], tXcX[None, None, tile], K, x)
        for i in cutlass.range_constexpr(LOADS):
            sums.store(sums.load() + a[None, i].load().to(cutlass.Float32) * x[None, i].load().to(cutlass.Float32))
    return sums.load().reduce(cute.ReductionOp.ADD, cutlass.Float32(0), 0)


@cute.kernel
def gemv_kernel(mA: cute.Tensor, mX: cute.Tensor, mY: cute.Tensor):
    """Each warp computes one element of y."""
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    m, lane = block * ROWS + thread // WARP, thread % WARP
    if m < cute.size(mY):  # alike for all lanes of a warp: none misses the shuffles
        total = cute.arch.warp_reduction_sum(lane_sum(mA, mX, m, lane))
        if lane == 0:
            mY[m] = total.to(mY.element_type)


@cute.jit
def gemv(mA: cute.Tensor, mX: cute.Tensor, mY: cute.Tensor, stream: cuda.CUstream):
    """Launch a warp for each row. A: fp16 (M,K), k contiguous; x: (K); y: (M); LadderError unless rows of A are whole vectors."""
    need_operands(A=(mA, "MK", "k"), x=(mX, "K"), y=(mY, "M"))
    grid = (cute.ceil_div(cute.size(mY), ROWS), 1, 1)
    gemv_kernel(mA, mX, mY).launch(grid=grid, block=(ROWS * WARP, 1, 1), stream=stream)


@cute.jit
def host_gemv(mA: cute.Tensor, mX: cute.Tensor, mY: cute.Tensor):
    """The same sums by loops over rows and lanes on the CPU: what can be run where there is no GPU."""
    for m in range(cute.size(mY)):
        total = cutlass.Float32(0)
        for lane in range(WARP):
            total += lane_sum(mA, mX, m, lane)
        mY[m] = total.to(mY.element_type)


if __name__ == "__main__":
    from ladder import streaming

    streaming.main(streaming.GEMV, gemv, host_gemv)
