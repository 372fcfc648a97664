"""The tensor-core rungs in numpy: what the hardware does with registers, fed by the layouts that the kernels use.

`ldmatrix` and `mma_m16n8k16` follow the drawings of the PTX manual and know no CuTe layout. Threads run along their first axis;
values of a thread are in register order. Everything else evaluates the layouts that `traced` reads at trace time.
"""

from math import prod

import cutlass.cute as cute
import numpy as np
from cutlass.cute.nvgpu import CopyUniversalOp

from ladder.tensor_core import matrix_copy, shared_layout, tensor_cores, vector_copy
from layoutviz import Layout, composition
from layoutviz.cute import from_dsl, tv_of
from layoutviz.memory import bank_conflicts

THREAD = np.arange(32)[:, None]
GROUP, IN_GROUP = THREAD // 4, THREAD % 4
VALUE = np.arange(8)
PLACES = {  # (row, column) in its matrix of each value of a fragment
    "A": (GROUP + 8 * (VALUE // 2 % 2), 2 * IN_GROUP + VALUE % 2 + 8 * (VALUE // 4)),
    "B": np.broadcast_arrays(GROUP, 2 * IN_GROUP + VALUE[:4] % 2 + 8 * (VALUE[:4] // 2)),
    "C": (GROUP + 8 * (VALUE[:4] // 2), 2 * IN_GROUP + VALUE[:4] % 2),
}


def ldmatrix(rows, transpose: bool):
    """rows[thread, 8]: what stands where each thread points; threads 8j to 8j+7 point at the rows of matrix j. Returns [thread, 8]."""
    row, column = np.broadcast_arrays(GROUP, 2 * IN_GROUP + np.arange(2))
    if transpose:
        row, column = column, row
    return np.concatenate([matrix[row, column] for matrix in rows.reshape(4, 8, 8)], axis=1)


def mma_m16n8k16(a, b, c):
    """a[thread, 8], b[thread, 4], c[thread, 4]; returns d, which lies as c does. Sums in fp32."""
    A, B, C = np.zeros((16, 16), np.float32), np.zeros((8, 16), np.float32), np.zeros((16, 8), np.float32)
    A[tuple(PLACES["A"])], B[tuple(PLACES["B"])], C[tuple(PLACES["C"])] = a, b, c
    return (C + A @ B.T)[tuple(PLACES["C"])]


def majors(pair: str) -> dict[str, int]:
    """The contiguous mode of A (M,K) and of B (N,K) in an operand pair."""
    return {"A": 0 if pair[0] == "N" else 1, "B": 0 if pair[1] == "T" else 1}


def traced(tile, warps, pair: str) -> dict:
    """The layouts of a block: "stage A", of its tile in shared memory, and (tile, TV layout) of all that copies and multiplies it."""
    (M, N, K), threads = tile, 32 * prod(warps)
    found = {"majors": majors(pair), "A": (M, K), "B": (N, K), "C": (M, N)}

    @cute.jit
    def trace():
        mma = tensor_cores(warps)
        for name, tiled_copy in (("A", cute.make_tiled_copy_A), ("B", cute.make_tiled_copy_B)):
            major = found["majors"][name]
            found["stage " + name] = from_dsl(shared_layout(found[name], major))
            found["load " + name] = tv_of(vector_copy(CopyUniversalOp(), found[name], major, threads), "dst")
            ldsm = tiled_copy(matrix_copy(major), mma)
            found["ldsm from " + name], found["ldsm to " + name] = tv_of(ldsm, "src"), tv_of(ldsm, "dst")
        found["stage C"] = from_dsl(shared_layout((M, N), 1))
        found["store C"] = tv_of(vector_copy(CopyUniversalOp(), (M, N), 1, threads), "src")
        found.update({"mma " + name: tv_of(mma, name) for name in "ABC"})

    trace()
    return found


def conflicts(of, name: str, access: str, vector: int) -> int:
    """The bank conflicts of one access to the tile `name` in shared memory, `vector` elements a thread at once."""
    part, tv = of[access]
    return bank_conflicts(of["stage " + name], composition(Layout(part, (1, of[name][0])), tv), 16, vector).conflicts


def parts(of, name: str, access: str):
    """For each part of the tile `name`, one access of all threads: the rows and the columns of their values, int[thread, value]."""
    (rows, columns), tv = of[access]
    index = tv.offsets().reshape(-1, tv[0].size).T
    for c in range(0, of[name][1], columns):
        for r in range(0, of[name][0], rows):
            yield r + index % rows, c + index // rows


def slots(of, name: str, row, column):
    """Where elements of the tile `name` lie in shared memory."""
    return of["stage " + name].at(row + column * of[name][0])


def fragments(stage, of, name: str) -> dict:
    """What ldmatrix brings of a whole stage: (thread, row, column) -> value."""
    found = {}
    for source, target in zip(parts(of, name, "ldsm from " + name), parts(of, name, "ldsm to " + name), strict=True):
        pointed = stage[slots(of, name, *source)]
        assert pointed.shape[1] == 8, "one ldmatrix x4 for a part"
        for w in range(0, len(pointed), 32):
            got = ldmatrix(pointed[w : w + 32], transpose=of["majors"][name] == 0)
            for t, v in np.ndindex(got.shape):
                found[w + t, target[0][w + t, v], target[1][w + t, v]] = got[t, v]
    return found


def operand(have: dict, of, name: str) -> dict:
    """The registers of A or B as the tiled MMA reads them: (row, column) of the part -> [thread, value]."""
    found = {}
    for row, column in parts(of, name, "mma " + name):
        values = [[have[t, r, c] for r, c in zip(row[t], column[t], strict=True)] for t in range(len(row))]
        found[row.min(), column.min()] = np.array(values)
    return found


def multiply(sums: dict, sA, sB, of) -> None:
    """Add a stage's product to `sums`: (row, column) of the part of C -> [thread, value]. Empty at first."""
    a, b = operand(fragments(sA, of, "A"), of, "A"), operand(fragments(sB, of, "B"), of, "B")
    for row, column in parts(of, "C", "mma C"):
        m, n = row.min(), column.min()
        acc = sums.setdefault((m, n), np.zeros(row.shape, np.float32))
        for k in range(0, of["A"][1], 16):
            for w in range(0, len(row), 32):
                for v in range(0, row.shape[1], 4):  # the atoms of this warp, along N
                    of_warp = acc[w : w + 32, v : v + 4]
                    of_warp[:] = mma_m16n8k16(a[m, k][w : w + 32], b[n, k][w : w + 32, v : v + 4], of_warp)
