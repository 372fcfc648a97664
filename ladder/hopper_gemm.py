"""The fast one: C = A B^T on Hopper for fp16 and bf16 and any majors, with a configuration that its shape asks for.

The kernel is `ladder.full_gemm`'s, made general. Tile, cluster, and whether the consumers are cooperative or ping-pong, are a Config,
chosen by what the shape costs. A may be m-contiguous and B n-contiguous, since TMA and WGMMA take either; and where C is m-contiguous, its
transpose is computed, C^T = B A^T. A is (M,K), B is (N,K), C is (M,N); in each, one mode is contiguous and a multiple of 16 bytes.

    python -m ladder.hopper_gemm --mnk 4096,4096,4096      checks and times it on the GPU; without one, compiles it
"""

from dataclasses import dataclass
from math import ceil, prod

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass import pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, warpgroup
from cutlass.memory import SmemAllocator

from ladder.full_gemm import BUFFERS, CONSUMERS, NOWHERE, PIECE, multiply_all, stmatrix_copy, store_piece
from ladder.multicast import tma_parts
from ladder.multistage import make_ring
from ladder.needs import need, need_hopper
from ladder.persistent import H200_SMS, Raster, balanced, multiprocessors, tile_at
from ladder.pingpong import hand_over, take_turn
from ladder.warp_specialized import LOAD_REGISTERS, MULTIPLY_REGISTERS, load_tiles
from ladder.wgmma import SWIZZLE_BYTES, TILE_K, WARPGROUP

SMEM_BYTES = 227 * 1024  # the most that a block on Hopper can have
MAJORS = OperandMajorMode.MN, OperandMajorMode.K  # by the mode of an operand that is contiguous, 0 or 1
COOPERATIVE = (64, 256), (128, 160)  # tiles of a warpgroup
PINGPONG = (128, 128), (128, 160), (128, 192), (192, 128), (64, 128), (64, 192), (64, 64)
CLUSTERS = (2, 1), (1, 2), (1, 1)
ROW, WAIT = 8, 128  # see Config.cost


@dataclass(frozen=True)
class Config:
    """tile: (M, N) of C that one consumer warpgroup computes. cluster: blocks (M, N) that share operands.

    cooperative: the block's two consumers compute one tile above the other, as in ladder.full_gemm; else they take turns, as in
    ladder.pingpong.
    """

    tile: tuple[int, int] = (64, 256)
    cluster: tuple[int, int] = (2, 1)
    cooperative: bool = True

    def __str__(self):
        (tile_m, tile_n), (cluster_m, cluster_n) = self.tile, self.cluster
        return f"{tile_m}x{tile_n} {'cooperative' if self.cooperative else 'ping-pong'}, cluster {cluster_m}x{cluster_n}"

    @property
    def block_tile(self) -> tuple[int, int]:
        """(M, N) of C that a block computes from one tile of A and one of B."""
        return self.tile[0] * (CONSUMERS if self.cooperative else 1), self.tile[1]

    @property
    def blocks(self) -> int:
        """Blocks of a cluster."""
        return prod(self.cluster)

    @property
    def piece_n(self) -> int:
        """Columns of C that leave at once, in rows of 128 or 64 bytes."""
        return 64 if self.tile[1] % 64 == 0 else 32

    @property
    def pieces(self) -> int:
        """In how many a warpgroup's tile leaves."""
        return prod(self.tile) // (PIECE * self.piece_n)

    @property
    def overlaps(self) -> bool:
        """Whether a tile can be stored during the next: not where registers do not suffice, nor by turns, which hides the store already."""
        return self.cooperative and prod(self.tile) <= 128 * 128

    @property
    def stages(self) -> int:
        """How many tiles of A and B fit beside the pieces of C that are on their way, with 1 KB for barriers."""
        return (SMEM_BYTES - 1024 - CONSUMERS * BUFFERS * PIECE * self.piece_n * 2) // (sum(self.block_tile) * TILE_K * 2)

    def clusters(self, M: int, N: int) -> int:
        """How many clusters it takes to cover C."""
        return prod(-(-size // (tile * blocks)) for size, tile, blocks in zip((M, N), self.block_tile, self.cluster, strict=True))

    def cost(self, M: int, N: int, K: int, sms: int) -> float:
        """What the GEMM costs: the multiply-adds of one SM, and other things in their measure.

        Within 2% (rms) of the times in results/hopper_configs.json, of an H200. There power limits the clock, so time follows energy: for
        each k, a row of A or B costs as much as ROW multiply-adds when it leaves the L2 cache, and again when it arrives in a block.
        An SM that has no tile in the last round costs half as much as one that has. While the last tile is stored, and each cooperative
        one that does not overlap the next, tensor cores idle for as long as they take for WAIT of k.

        >>> config = Config((64, 256), (2, 1))  # a block's tile is 128 x 256; B is shared by two, so 128 + 256 / 2 rows leave the L2
        >>> config.cost(4096, 4096, 4096, 128) == (4 * 4096 + 128) * (128 * 256 + 8 * (256 + 384))
        True
        """
        rounds = self.clusters(M, N) / max(1, sms // self.blocks)
        (tile_m, tile_n), (cluster_m, cluster_n) = self.block_tile, self.cluster
        rows = tile_m / cluster_n + tile_n / cluster_m + tile_m + tile_n
        waits = ceil(rounds) if self.cooperative and not self.overlaps else 1
        return ((rounds + ceil(rounds)) / 2 * K + WAIT * waits) * (tile_m * tile_n + ROW * rows)


def configs() -> list[Config]:
    """All configurations, those preferred at equal cost first."""
    tiles = [(tile, True) for tile in COOPERATIVE] + [(tile, False) for tile in PINGPONG]
    return [Config(tile, cluster, cooperative) for tile, cooperative in tiles for cluster in CLUSTERS]


def choose(M: int, N: int, K: int, sms: int = H200_SMS) -> Config:
    """The configuration for a shape on a GPU of that many SMs: the one of least cost, of equals the first.

    >>> choose(4096, 4096, 4096)
    Config(tile=(64, 256), cluster=(2, 1), cooperative=True)
    >>> choose(512, 512, 512)
    Config(tile=(64, 64), cluster=(2, 1), cooperative=False)
    >>> choose(1856, 4336, 3416)
    Config(tile=(64, 256), cluster=(1, 1), cooperative=True)
    """
    return min(configs(), key=lambda config: config.cost(M, N, K, sms))


def band_columns(K: int) -> int:
    """How many columns of C are computed from top to bottom before the next ones: as many as 16 MB of B make, which stay in the L2 cache.

    At least 2048, so that what is computed at once is about square: then it needs the fewest rows of A and B.

    >>> band_columns(1024), band_columns(8192)
    (8192, 2048)
    """
    return max(2048, 2**23 // K)


def smem_tiles(rows: int, cols: int, contiguous: int, stages: tuple[int, ...], dtype):
    """Layout in shared memory of tiles (rows, cols), by the widest swizzle that the contiguous mode (0 or 1) is a multiple of."""
    row_bytes = (rows, cols)[contiguous] * dtype.width // 8
    width = next(width for width in (128, 64, 32) if row_bytes % width == 0)
    atom = warpgroup.make_smem_layout_atom(getattr(warpgroup.SmemLayoutAtomKind, f"{('MN', 'K')[contiguous]}_SW{width}"), dtype)
    # atoms follow each other across the contiguous mode first: so TMA brings all of them that are of its width at once
    modes = tuple(range(2 + len(stages)))
    return cute.tile_to_shape(atom, (rows, cols, *stages), modes if contiguous else (1, 0, *modes[2:]))


def contiguous_mode(tensor: cute.Tensor) -> int:
    return 1 if tensor.stride[1] == 1 else 0


@cute.jit
def place(index: cutlass.Int32, along_m: cutlass.Int32, along_n: cutlass.Int32, patch: cutlass.Constexpr):
    """(m, n), counted in clusters, of the index-th tile. patch: (rows, columns).

    C is cut into bands of `columns`, a band, from the top, into patches of `rows`, and a patch is walked column by column.
    """
    rows, columns = patch
    band = index // (columns * along_m)
    width = cutlass.min(columns, along_n - band * columns)  # the last band may be narrower
    m, n = tile_at(index - band * columns * along_m, along_m, width, Raster(rows, serpentine=False))
    return m, band * columns + n


@cute.kernel
def hopper_kernel(
    tma_a: cute.CopyAtom, tA: cute.Tensor, tma_b: cute.CopyAtom, tB: cute.Tensor, tma_c: cute.CopyAtom, tC: cute.Tensor, mma: cute.TiledMma,
    layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, layout_c: cute.ComposedLayout,
    dtype: cutlass.Constexpr, config: cutlass.Constexpr, patch: cutlass.Constexpr, overlap: cutlass.Constexpr,
):  # fmt: skip
    """As the kernel of ladder.full_gemm, but of any Config. overlap: whether a tile is stored during the next."""
    (tile_m, tile_n), (cluster_m, cluster_n), stages, cooperative = config.block_tile, config.cluster, config.stages, config.cooperative
    pieces, top = config.pieces if overlap else 0, config.tile[0] if cooperative else 0  # top: where warpgroup 1's rows of a tile begin
    thread, _, _ = cute.arch.thread_idx()
    wg = cute.arch.make_warp_uniform(thread // WARPGROUP)
    block_m, block_n, cluster = cute.arch.block_idx()  # the grid is (cluster_m, cluster_n, clusters)
    _, _, clusters = cute.arch.grid_dim()
    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * stages)
    sA, sB, sC = (smem.allocate_tensor(dtype, layout.outer, SWIZZLE_BYTES, layout.inner) for layout in (layout_a, layout_b, layout_c))
    ring = make_ring(barriers, stages, (tile_m + tile_n) * TILE_K * dtype.width // 8, 4 * CONSUMERS if cooperative else 4, config.cluster)
    gA = cute.local_tile(tA, (tile_m, TILE_K), (None, None))  # (tile, TILE_K, tiles along m, tiles along k)
    gB = cute.local_tile(tB, (tile_n, TILE_K), (None, None))
    k_tiles = cute.size(gA, mode=[3])
    along_m, along_n = cute.ceil_div((cute.size(gA, mode=[2]), cute.size(gB, mode=[2])), config.cluster)

    if wg == CONSUMERS:
        cute.arch.setmaxregister_decrease(LOAD_REGISTERS)
        if thread // cute.arch.WARP_SIZE == 4 * CONSUMERS:
            tAsA, tAgA = tma_parts(tma_a, sA, gA, block_n, cluster_n)  # blocks along n share a tile of A
            tBsB, tBgB = tma_parts(tma_b, sB, gB, block_m, cluster_m)  # blocks along m share a tile of B
            layout, here = cute.make_layout((1, cluster_m, cluster_n, 1)), (0, block_m, block_n, 0)
            mask_a = cpasync.create_tma_multicast_mask(layout, here, 2) if cluster_n > 1 else None
            mask_b = cpasync.create_tma_multicast_mask(layout, here, 1) if cluster_m > 1 else None
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, stages)
            for tile in cutlass.range(cluster, along_m * along_n, clusters, unroll=1):
                m, n = place(tile, along_m, along_n, patch)
                a = tma_a, tAgA[None, m * cluster_m + block_m, None], tAsA
                b = tma_b, tBgB[None, n * cluster_n + block_n, None], tBsB
                state = load_tiles(ring, state, a, b, k_tiles, (mask_a, mask_b))
            ring.producer_tail(state)
    else:
        cute.arch.setmaxregister_increase(MULTIPLY_REGISTERS)
        own_sA = cute.local_tile(sA, (config.tile[0], TILE_K, stages), (wg * int(cooperative), 0, 0))
        thr_mma = mma.get_slice(0)
        tCrA, tCrB = mma.make_fragment_A(thr_mma.partition_A(own_sA)), mma.make_fragment_B(thr_mma.partition_B(sB))
        acc = cute.make_rmem_tensor(mma.partition_shape_C(config.tile), cutlass.Float32)
        rounded = cute.make_rmem_tensor(acc.shape, dtype)  # with overlap, the tile before, on its way to C
        rounded.fill(0.0)
        row, column = cutlass.Int32(NOWHERE), cutlass.Int32(0)
        to_c = stmatrix_copy(mma, dtype), sC[None, None, None, wg], tma_c, tC
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, stages)
        first, step = cluster, clusters
        if cutlass.const_expr(not cooperative):
            first, step = cluster + wg * clusters, CONSUMERS * clusters
            if wg == 1:  # the first tile and turn are warpgroup 0's
                state.advance(k_tiles)
                hand_over(wg)
        for tile in cutlass.range(first, along_m * along_n, step, unroll=1):
            m, n = place(tile, along_m, along_n, patch)
            if cutlass.const_expr(not cooperative):
                take_turn(wg)
            leaving = rounded, *to_c, row, column
            state, held = multiply_all(ring, state, mma, acc, tCrA, tCrB, k_tiles, pieces, leaving)
            if cutlass.const_expr(not cooperative):
                hand_over(wg)
                state.advance(k_tiles)  # those of the other's tile
            warpgroup.wait_group(0)
            ring.consumer_release(held)
            row = ((m * cluster_m + block_m) * tile_m + wg * top) // PIECE
            column = (n * cluster_n + block_n) * (tile_n // config.piece_n)
            if cutlass.const_expr(overlap):
                rounded.store(acc.load().to(dtype))
            else:
                for piece in cutlass.range_constexpr(config.pieces):
                    store_piece(piece, acc, *to_c, row, column)
        for piece in cutlass.range_constexpr(pieces):
            store_piece(piece, rounded, *to_c, row, column)
        cute.arch.cp_async_bulk_wait_group(0)


def gemm_with(config: Config | None):
    """The GEMM of one configuration; None for the one that `choose` finds for each shape."""

    @cute.jit
    def gemm(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream):
        need_hopper()
        need(mA, mB, mC, dtypes=("Float16", "BFloat16"), by_tma="ABC")
        if cutlass.const_expr(contiguous_mode(mC) == 0):
            launch(mB, mA, cute.make_tensor(mC.iterator, cute.select(mC.layout, mode=[1, 0])), stream, config)  # C transposed
        else:
            launch(mA, mB, mC, stream, config)

    return gemm


def launch(mA: cute.Tensor, mB: cute.Tensor, mC: cute.Tensor, stream: cuda.CUstream, config: Config | None):
    """Launch for an n-contiguous C."""
    M, N = mC.shape
    dtype, a, b = mC.element_type, contiguous_mode(mA), contiguous_mode(mB)
    K = mA.shape[1]
    config = config or choose(M, N, K, multiprocessors())
    (tile_m, tile_n), (cluster_m, cluster_n), stages = config.block_tile, config.cluster, config.stages
    layout_a = smem_tiles(tile_m, TILE_K, a, (stages,), dtype)
    layout_b = smem_tiles(tile_n, TILE_K, b, (stages,), dtype)
    layout_c = smem_tiles(PIECE, config.piece_n, 1, (BUFFERS, CONSUMERS), dtype)
    one, shared = cpasync.CopyBulkTensorTileG2SOp(), cpasync.CopyBulkTensorTileG2SMulticastOp()
    tma_a, tA = cpasync.make_tiled_tma_atom(shared if cluster_n > 1 else one, mA, layout_a, (tile_m, TILE_K), num_multicast=cluster_n)
    tma_b, tB = cpasync.make_tiled_tma_atom(shared if cluster_m > 1 else one, mB, layout_b, (tile_n, TILE_K), num_multicast=cluster_m)
    tma_c, tC = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileS2GOp(), mC, cute.slice_(layout_c, (None, None, 0, 0)), (PIECE, config.piece_n)
    )
    op = warpgroup.MmaF16BF16Op(dtype, cutlass.Float32, (64, tile_n, 16), warpgroup.OperandSource.SMEM, MAJORS[a], MAJORS[b])
    needed = config.clusters(M, N)
    clusters = balanced(needed, multiprocessors() // config.blocks)
    mma, width = cute.make_tiled_mma(cute.make_mma_atom(op)), tile_n * cluster_n
    columns = min(band_columns(K) // width, -(-N // width))
    # Tiles are dealt out by columns where blocks share B, by rows where they share A: 1% faster at 2048 and 4096 cubed than the other way.
    # A guess why: GPCs get clusters in turn, so at 8 a column those of one GPC also have the operand in common that they do not share.
    patch = 1 if cluster_n > 1 else max(1, clusters // columns), columns
    overlap = config.overlaps and clusters < needed  # else no cluster has a next tile
    hopper_kernel(tma_a, tA, tma_b, tB, tma_c, tC, mma, layout_a, layout_b, layout_c, dtype, config, patch, overlap).launch(
        grid=(cluster_m, cluster_n, clusters),
        block=((CONSUMERS + 1) * WARPGROUP, 1, 1),
        cluster=(cluster_m, cluster_n, 1),
        min_blocks_per_mp=1,
        stream=stream,
    )


hopper_gemm = gemm_with(None)

if __name__ == "__main__":
    from ladder import harness

    harness.main(hopper_gemm, mnk=(304, 200, 104), output=harness.row_major_output)
