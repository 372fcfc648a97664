"""A larger tile, by two warpgroups together: 128 x 256 of C a block, each warpgroup 64 rows of it.

The kernel is `ladder.warp_specialized`'s, and only numbers change. One warpgroup cannot hold so large a tile: 128 x 256 sums are 256
registers a thread, and 255 is all there is. Two halve that. A multiply needs fewer elements now: (128 + 256) * 64 of them, 48 KB, make
128 * 256 * 64 products, where a 128 x 128 tile brings (128 + 128) * 64, 32 KB, for half as many. And a WGMMA of 64 x 256 reads each row
of A from shared memory once for 256 columns, not for 128.

    python -m ladder.cooperative --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

from ladder.warp_specialized import gemm_with

TILE = 128, 256
STAGES = 4  # 48 KB each
CONSUMERS = 2

cooperative_gemm = gemm_with(TILE, STAGES, CONSUMERS)

if __name__ == "__main__":
    from ladder import harness

    harness.main(cooperative_gemm, mnk=(304, 200, 104), pairs=harness.k_contiguous, output=harness.row_major_output)
