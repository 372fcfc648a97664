"""What ldmatrix and the tensor core do with a warp's registers, as the PTX manual draws them: a model that knows no CuTe layout.

Threads of a warp run along the first axis. A fragment's values are in register order.
"""

import numpy as np

THREAD = np.arange(32)[:, None]
GROUP, IN_GROUP = THREAD // 4, THREAD % 4


def ldmatrix(rows, transpose: bool):
    """rows[thread, 8]: what stands where each thread points; returns [thread, 8], the values of four matrices, two of each.

    Threads 8j to 8j+7 point at the rows of matrix j.
    """
    matrices = rows.reshape(4, 8, 8)
    row, column = np.broadcast_arrays(GROUP, 2 * IN_GROUP + np.arange(2))
    if transpose:
        row, column = column, row
    return np.concatenate([matrix[row, column] for matrix in matrices], axis=1)


def mma_m16n8k16(a, b, c):
    """a[thread, 8], b[thread, 4], c[thread, 4] of one m16n8k16; returns d, which lies as c does: sums in fp32."""
    A, B, C = np.zeros((16, 16), np.float32), np.zeros((8, 16), np.float32), np.zeros((16, 8), np.float32)
    i = np.arange(8)
    A[GROUP + 8 * (i // 2 % 2), 2 * IN_GROUP + i % 2 + 8 * (i // 4)] = a
    i = np.arange(4)
    B[np.broadcast_to(GROUP, (32, 4)), 2 * IN_GROUP + i % 2 + 8 * (i // 2)] = b
    of_c = GROUP + 8 * (i // 2), 2 * IN_GROUP + i % 2
    C[of_c] = c
    return (C + A @ B.T)[of_c]
