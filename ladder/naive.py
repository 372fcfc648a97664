"""The first rung: C(m,n) = sum over k of A(m,k) * B(n,k), one thread for each element of C.

A is (M,K), B is (N,K), C is (M,N), fp16 in and out, sums in fp32. The kernel asks each tensor for the element at a coordinate;
where that element lies is the business of the tensor's layout. So row-major, column-major, padded, nested and transposed
operands are all this one kernel.

    python -m ladder.naive --mnk 300,200,100      checks and times it on the GPU; without one, compiles it and runs `host_gemm`
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute

from ladder.needs import need, need_grid

TILE = 16  # a block of 16 x 16 threads computes 16 x 16 elements of C


@cute.jit
def dot(mA: cute.Tensor, mB: cute.Tensor, m: cutlass.Int32, n: cutlass.Int32):
    """Row m of A times row n of B."""
    acc = cutlass.Float32(0)
    for k in cutlass.range(cute.size(mA, mode=[1]), unroll=4):  # left alone, it would take too many registers
        acc += mA[m, k].to(cutlass.Float32) * mB[n, k].to(cutlass.Float32)
    return acc


@cute.kernel
def naive_kernel(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor):
    """Each thread computes one element of C, if it is inside."""
    thread_m, thread_n, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    m, n = TILE * block_m + thread_m, TILE * block_n + thread_n
    # the last blocks reach past the edge of C
    if m < cute.size(mC, mode=[0]) and n < cute.size(mC, mode=[1]):
        mC[m, n] = dot(mA, mB, m, n).to(mC.element_type)


@cute.jit
def naive_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
    """Launch enough blocks of TILE x TILE threads to cover C."""
    # any layouts will do, but the sizes must fit each other
    need(mA, mB, mC, A=None, B=None, C=None, dtypes=("Float16", "BFloat16"))
    M, N = cute.size(mC, mode=[0]), cute.size(mC, mode=[1])
    grid = need_grid((cute.ceil_div(M, TILE), cute.ceil_div(N, TILE), 1))
    naive_kernel(mA, mB, mC).launch(grid=grid, block=(TILE, TILE, 1), stream=stream)


@cute.jit
def host_gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor):
    """The same sums as `naive_gemm`, by one loop on the CPU: what can be run where there is no GPU."""
    for m in range(cute.size(mC, mode=[0])):
        for n in range(cute.size(mC, mode=[1])):
            mC[m, n] = dot(mA, mB, m, n).to(mC.element_type)


if __name__ == "__main__":
    from ladder import harness

    look = "one kernel ran all pairs; where neighbouring threads read neighbouring elements of A (m contiguous) it takes less time"
    harness.main(naive_gemm, host_gemm, look=look, loops="the same loops")
