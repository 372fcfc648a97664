"""Tensor cores, twice: C = A B^T by single warps that load their fragments as plainly as can be, then by blocks with ldmatrix.

A is (M,K), B is (N,K), C is (M,N), fp16 in and out, sums in fp32. One instruction, m16n8k16, which CuTe calls an MMA atom, multiplies a
16x16 piece of A by an 8x16 piece of B. All 32 threads of a warp take part, and the atom's thread-value layouts say which elements each of
them holds in its registers: its fragments.

`one_warp` reads each element from where such a layout says, so A, B and C may have any layouts and sizes. `tensor_core_gemm` shares tiles
among the warps of a block: they lie swizzled in shared memory, and ldmatrix deals them out to the threads; A and B, each with either
mode contiguous, are read 16 bytes at a time, so their contiguous modes are multiples of 8. What hangs over an edge counts as 0.

    python -m ladder.tensor_core --mnk 304,200,104      checks and times both on the GPU; without one, compiles them
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import CopyUniversalOp, warp
from cutlass.memory import SmemAllocator

from ladder.needs import need, need_grid

ATOM = (16, 8, 16)  # M, N, K of one instruction
TILE = (128, 128, 64)  # M, N, K of a block
WARPS = (2, 4)  # of a block, along M and N
VECTOR = 8  # elements, 16 bytes together: what a thread copies at once, and one row of an ldmatrix matrix


# ---- one warp for each 16 x 8 of C ----


@cute.jit
def load_values(tXg: cute.Tensor, tXc: cute.Tensor, tXr: cute.Tensor, limit: cute.Shape):
    """Bring a thread's values of a piece into registers. tXc has each one's coordinate; beyond `limit` is 0."""
    for i in cutlass.range_constexpr(cute.size(tXr)):
        tXr[i] = tXg[i] if cute.elem_less(tXc[i], limit) else tXg.element_type(0)


@cute.jit
def store_values(acc: cute.Tensor, tCg: cute.Tensor, tCc: cute.Tensor, limit: cute.Shape):
    """Write a thread's sums, (values, atoms along M, atoms along N), to C, but for those beyond `limit`."""
    for m in cutlass.range_constexpr(cute.size(acc, mode=[1])):
        for n in cutlass.range_constexpr(cute.size(acc, mode=[2])):
            for i in cutlass.range_constexpr(cute.size(acc, mode=[0])):
                if cute.elem_less(tCc[i, m, n], limit):
                    tCg[i, m, n] = acc[i, m, n].to(tCg.element_type)


@cute.kernel
def one_warp_kernel(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor):
    """A block is one warp, and computes 16 x 8 of C."""
    thread, _, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    mma = tensor_cores((1, 1), atoms_n=1)
    # (16, 16, pieces along K) and (8, 16, pieces along K), and beside them the coordinates of their elements
    gA, cA = (cute.local_tile(each, (ATOM[0], ATOM[2]), (block_m, None)) for each in (mA, cute.make_identity_tensor(mA.shape)))
    gB, cB = (cute.local_tile(each, (ATOM[1], ATOM[2]), (block_n, None)) for each in (mB, cute.make_identity_tensor(mB.shape)))
    gC, cC = (cute.local_tile(each, ATOM[:2], (block_m, block_n)) for each in (mC, cute.make_identity_tensor(mC.shape)))
    part = mma.get_slice(thread)  # this thread's values of each piece: 8 of A, 4 of B, 4 of C
    tAg, tAc, tBg, tBc = part.partition_A(gA), part.partition_A(cA), part.partition_B(gB), part.partition_B(cB)
    tAr, tBr = mma.make_fragment_A(tAg[None, None, None, 0]), mma.make_fragment_B(tBg[None, None, None, 0])
    acc = cute.make_rmem_tensor(mma.partition_shape_C(ATOM[:2]), cutlass.Float32)
    acc.fill(0.0)
    for k in range(cute.size(gA, mode=[2])):
        load_values(tAg[None, None, None, k], tAc[None, None, None, k], tAr, mA.shape)
        load_values(tBg[None, None, None, k], tBc[None, None, None, k], tBr, mB.shape)
        cute.gemm(mma, acc, tAr, tBr, acc)
    store_values(acc, part.partition_C(gC), part.partition_C(cC), mC.shape)


@cute.jit
def one_warp(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch enough warps to cover C. Raises LadderError if the operands are not of fp16, or do not fit."""
    need(mA, mB, mC, A=None, B=None, C=None)
    grid = need_grid((cute.ceil_div(cute.size(mC, mode=[0]), ATOM[0]), cute.ceil_div(cute.size(mC, mode=[1]), ATOM[1]), 1))
    one_warp_kernel(mA, mB, mC).launch(grid=grid, block=(32, 1, 1), stream=stream)


# ---- a block of warps that share tiles ----


def tensor_cores(warps, atoms_n: int = 2):
    """The tiled MMA: warps side by side along M and N, `atoms_n` atoms along N for each. Two make 16x16 of B: one ldmatrix x4."""
    op = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, ATOM)
    m, n = warps
    return cute.make_tiled_mma(op, (m, n, 1), permutation_mnk=(ATOM[0] * m, atoms_n * ATOM[1] * n, ATOM[2]))


def shared_layout(shape, contiguous: int):
    """One tile (rows, columns) or several (rows, columns, stages) in shared memory. contiguous: 0 or 1, the mode that is.

    Its atom is eight lines of up to 128 bytes. The swizzle swaps the 16-byte pieces of a line, in each line differently, so that the same
    piece of eight lines, which is one matrix of ldmatrix, lies on all banks.
    """
    line = min(64, shape[contiguous])  # elements
    lines = cute.make_layout((line, 8)) if contiguous == 0 else cute.make_layout((8, line), stride=(line, 1))
    bits = 3 if line == 64 else 2  # a line has 8 pieces and fills the banks; or it has 4, and two lines fill them
    atom = cute.make_composed_layout(cute.make_swizzle(bits, 3, 3), 0, lines)
    return cute.tile_to_shape(atom, shape, tuple(range(len(shape))))


def vector_copy(op, shape, contiguous: int, threads: int):
    """The tiled copy of a tile by 16 bytes a thread, neighbouring threads side by side along the contiguous mode."""
    side = min(threads, shape[contiguous] // VECTOR)
    across = threads // side
    atom = cute.make_copy_atom(op, cutlass.Float16, num_bits_per_copy=16 * VECTOR)
    if contiguous == 0:
        return cute.make_tiled_copy_tv(atom, cute.make_layout((side, across)), cute.make_layout((VECTOR, 1)))
    return cute.make_tiled_copy_tv(atom, cute.make_layout((across, side), stride=(side, 1)), cute.make_layout((1, VECTOR)))


def matrix_copy(contiguous: int):
    """ldmatrix x4: four 8x8 matrices for a warp. It transposes them where their lines run across K."""
    return cute.make_copy_atom(warp.LdMatrix8x8x16bOp(transpose=contiguous == 0, num_matrices=4), cutlass.Float16)


@cute.jit
def load_tile(copy: cute.TiledCopy, tXg: cute.Tensor, tXc: cute.Tensor, tXs: cute.Tensor, limit: cute.Shape):
    """Copy a thread's part of a tile into shared memory by way of registers; what is beyond `limit` becomes 0."""
    tXr = cute.make_fragment_like(tXs)
    tXr.fill(0.0)
    for i in cutlass.range_constexpr(cute.size(tXr, mode=[1])):
        for j in cutlass.range_constexpr(cute.size(tXr, mode=[2])):
            if cute.elem_less(tXc[0, i, j], limit):  # then all of the vector is inside
                cute.copy(copy, tXg[None, i, j], tXr[None, i, j])
    cute.copy(copy, tXr, tXs)


@cute.kernel
def tensor_core_kernel(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor):
    """One block computes one tile of C."""
    (TILE_M, TILE_N, TILE_K), threads = TILE, 32 * WARPS[0] * WARPS[1]
    thread, _, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    smem = SmemAllocator()
    sA = smem.allocate_tensor(mA.element_type, shared_layout((TILE_M, TILE_K), mA.leading_dim), 128)
    sB = smem.allocate_tensor(mB.element_type, shared_layout((TILE_N, TILE_K), mB.leading_dim), 128)
    gA, cA = (cute.local_tile(each, (TILE_M, TILE_K), (block_m, None)) for each in (mA, cute.make_identity_tensor(mA.shape)))
    gB, cB = (cute.local_tile(each, (TILE_N, TILE_K), (block_n, None)) for each in (mB, cute.make_identity_tensor(mB.shape)))
    gC, cC = (cute.local_tile(each, (TILE_M, TILE_N), (block_m, block_n)) for each in (mC, cute.make_identity_tensor(mC.shape)))

    # global -> shared: this thread's vectors, (VECTOR, down, along, k-tiles)
    copy_A = vector_copy(CopyUniversalOp(), (TILE_M, TILE_K), mA.leading_dim, threads)
    copy_B = vector_copy(CopyUniversalOp(), (TILE_N, TILE_K), mB.leading_dim, threads)
    part_A, part_B = copy_A.get_slice(thread), copy_B.get_slice(thread)
    tAg, tAc, tAs = part_A.partition_S(gA), part_A.partition_S(cA), part_A.partition_D(sA)
    tBg, tBc, tBs = part_B.partition_S(gB), part_B.partition_S(cB), part_B.partition_D(sB)

    # shared -> registers: the fragments of the tiled MMA, (values, atoms along M or N, atoms along K), and the same as ldmatrix fills them
    mma = tensor_cores(WARPS)
    part = mma.get_slice(thread)
    tCrA, tCrB = mma.make_fragment_A(part.partition_A(sA)), mma.make_fragment_B(part.partition_B(sB))
    ldsm_A = cute.make_tiled_copy_A(matrix_copy(mA.leading_dim), mma)
    ldsm_B = cute.make_tiled_copy_B(matrix_copy(mB.leading_dim), mma)
    tCsA, tCsB = ldsm_A.get_slice(thread).partition_S(sA), ldsm_B.get_slice(thread).partition_S(sB)
    acc = cute.make_rmem_tensor(mma.partition_shape_C((TILE_M, TILE_N)), cutlass.Float32)
    acc.fill(0.0)
    for k in range(cute.size(gA, mode=[2])):
        load_tile(copy_A, tAg[None, None, None, k], tAc[None, None, None, k], tAs, mA.shape)
        load_tile(copy_B, tBg[None, None, None, k], tBc[None, None, None, k], tBs, mB.shape)
        cute.arch.sync_threads()
        cute.copy(ldsm_A, tCsA, ldsm_A.retile(tCrA))
        cute.copy(ldsm_B, tCsB, ldsm_B.retile(tCrB))
        cute.gemm(mma, acc, tCrA, tCrB, acc)
        cute.arch.sync_threads()
    store_values(acc, part.partition_C(gC), part.partition_C(cC), mC.shape)


@cute.jit
def tensor_core_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch enough blocks to cover C, which may have any layout. Raises LadderError for operands that it cannot take."""
    need(mA, mB, mC, C=None)
    grid = need_grid((cute.ceil_div(cute.size(mC, mode=[0]), TILE[0]), cute.ceil_div(cute.size(mC, mode=[1]), TILE[1]), 1))
    tensor_core_kernel(mA, mB, mC).launch(grid=grid, block=(32 * WARPS[0] * WARPS[1], 1, 1), stream=stream)


if __name__ == "__main__":
    from ladder import harness

    for gemm, look in (
        (one_warp, "one warp: the tensor cores wait for fragments that come 2 bytes at a time, and for each warp anew"),
        (tensor_core_gemm, "blocks of warps: they share tiles, but while a tile is loaded the tensor cores wait"),
    ):
        harness.main(gemm, mnk=(304, 200, 104), output=harness.row_major_output, look=look)
