"""Operands of a GEMM: a matrix is a layout over one flat fp16 buffer, with guard bands around it.

What lies outside the layout - the guard bands and the holes of a padded layout - holds a NaN: around a result one particular one,
around an input another. A kernel that reads there gets NaN into its result; one that writes there changes it, even if what it writes
is what it made of the NaNs that it read.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from ladder.errors import LadderError
from layoutviz import Layout
from layoutviz.int_tuple import leaf_values

GUARD = 8192  # elements on either side; a multiple of 8, so that the matrix itself starts at a multiple of 16 bytes
SENTINEL = np.array(0x7E5A, np.uint16).view(np.float16)  # an fp16 NaN that no arithmetic makes
INPUT_NAN = np.array(0x7EA5, np.uint16).view(np.float16)  # a CPU's arithmetic hands a NaN on with all its bits


class Operand:
    """A rank-2 layout and the flat buffer it lives in.

    layout: anything with .shape, .stride (ints, nested alike) and .offsets() (int64[size], first mode fastest).
    rows, cols: sizes of its two modes. base: where offset 0 lies in the buffer. length: elements of the buffer.
    table: int64[rows, cols], the place in the buffer of each element.

    >>> from layoutviz import Layout
    >>> A = Operand("A", Layout((2, 3), (4, 1)), 2, 3)
    >>> A.table - A.base
    array([[0, 1, 2],
           [4, 5, 6]])
    """

    def __init__(self, name: str, layout, rows: int, cols: int):
        """Raises LadderError where the layout is not rows x cols."""
        self.name, self.layout, self.rows, self.cols = name, layout, rows, cols
        sizes = mode_sizes(layout)
        if sizes != (rows, cols):
            raise LadderError(f"{name} has layout {layout}, of size {by(sizes)}; this GEMM needs {rows}x{cols}")
        offsets = np.asarray(layout.offsets())
        below = -min(0, int(offsets.min()))
        self.base = GUARD + -(-below // 8) * 8
        self.table = self.base + offsets.reshape(cols, rows).T
        self.length = int(self.table.max()) + 1 + GUARD
        if self.length >= 2**31:
            raise LadderError(f"{name} with layout {layout} needs {self.length} elements; the kernels here count to 2^31")

    @property
    def injective(self) -> bool:
        """Whether no two coordinates share an element."""
        taken = np.zeros(self.length, bool)
        taken[self.table] = True
        return np.count_nonzero(taken) == self.table.size

    def blank(self) -> np.ndarray:
        """float16[length] of the sentinel NaN: a result's buffer."""
        return np.full(self.length, SENTINEL)

    def place(self, values: np.ndarray) -> np.ndarray:
        """float16[length] with values[rows, cols] where the layout puts them and the other NaN elsewhere: an input's buffer."""
        flat = np.full(self.length, INPUT_NAN)
        flat[self.table] = values
        return flat

    def read(self, flat: np.ndarray) -> np.ndarray:
        """float16[rows, cols]: the matrix that lies in the buffer."""
        return flat[self.table]

    def strays(self, flat: np.ndarray) -> int:
        """How many elements outside the layout no longer hold the sentinel."""
        changed = flat.view(np.uint16) != SENTINEL.view(np.uint16)
        changed[self.table] = False
        return int(np.count_nonzero(changed))


def make_operands(A, B, C=None) -> tuple[Operand, Operand, Operand]:
    """The three operands of C = A B^T; C is padded_output(M, N) if not given. Raises LadderError if they do not fit."""
    for name, layout in (("A", A), ("B", B), ("C", C)):
        if layout is not None and len(mode_sizes(layout)) != 2:
            raise LadderError(f"{name} has layout {layout} with {len(mode_sizes(layout))} top-level modes; a matrix has two")
    (M, K), (N, _) = mode_sizes(A), mode_sizes(B)
    result = Operand("C", padded_output(M, N) if C is None else C, M, N)
    if not result.injective:
        raise LadderError(f"C has layout {C}, where two coordinates share an element; a result needs its own element for each")
    return Operand("A", A, M, K), Operand("B", B, N, K), result


def by(sizes) -> str:
    """Sizes in words.

    >>> by((8, 3))
    '8x3'
    """
    return "x".join(map(str, sizes))


def mode_sizes(layout) -> tuple[int, ...]:
    """The size of each top-level mode.

    >>> from layoutviz import Layout
    >>> mode_sizes(Layout(((4, 2), 3)))
    (8, 3)
    """
    shape = layout.shape if isinstance(layout.shape, tuple) else (layout.shape,)
    return tuple(prod(leaf_values(mode)) for mode in shape)


def operand_pairs(M: int, N: int, K: int) -> dict[str, tuple[Layout, Layout]]:
    """The four operand modes of cuBLAS as CuTe layouts of A (M,K) and B (N,K).

    BLAS thinks column-major: it multiplies op(A), M x K, by op(B), K x N, and N means "stored as it is", T "stored
    transposed". So A is N where m is contiguous and T where k is. B is N where k is contiguous (the stored K x N matrix has k
    running fastest) and T where n is: CuTe's (N,K) is already the transposed of BLAS's K x N. TN is "both k-contiguous".
    These names hold as written for a column-major C; asked for a row-major C, cuBLAS computes C transposed, B first.

    >>> {name: f"{A} {B}" for name, (A, B) in operand_pairs(4, 3, 2).items()}["TN"]
    '(4,2):(2,1) (3,2):(2,1)'
    """
    A = {"N": Layout((M, K), (1, M)), "T": Layout((M, K), (K, 1))}
    B = {"N": Layout((N, K), (K, 1)), "T": Layout((N, K), (1, N))}
    return {a + b: (A[a], B[b]) for a in "NT" for b in "NT"}


@dataclass(frozen=True)
class Bare:
    """A layout whose offset 0 lies where its buffer begins: what a launch needs to know, without Operand's table and guard bands."""

    layout: Layout
    base: int = 0


def bare_gemm(M: int, N: int, K: int, pair: str = "TN") -> tuple[Bare, Bare, Bare]:
    """A and B as `operand_pairs` names them, and C row-major without holes, for sizes at which a table would be too large."""
    return tuple(map(Bare, (*operand_pairs(M, N, K)[pair], Layout((M, N), (N, 1)))))


def k_contiguous(M: int, N: int, K: int) -> dict[str, tuple[Layout, Layout]]:
    """The one operand pair of `operand_pairs` in which k is contiguous in both, for a kernel that takes no other."""
    return {"TN": operand_pairs(M, N, K)["TN"]}


def padded_output(M: int, N: int) -> Layout:
    """The layout of C in checks: column-major, with holes below each column, so that a missing bounds test on m is caught."""
    return Layout((M, N), (1, -(-M // 8) * 8 + 8))


def row_major_output(M: int, N: int) -> Layout:
    """The layout of C for kernels that write it row by row in whole vectors.

    Each row starts at a multiple of 128 bytes, and has a hole of 8 elements or more after it, so that a missing bounds test on n is caught.
    """
    return Layout((M, N), (-(-(N + 8) // 64) * 64, 1))
