# %% [markdown]
# # 01 · Paper layouts
#
# After this lesson you can read any layout of rows and columns, say how much memory it needs, transpose a matrix without moving
# it, and run one kernel that multiplies matrices through four pairs of layouts. Thirty minutes; guess first, read second.

# %% tags=["setup"]
from exercises import ask_cells, ask_choice
from layoutviz import Layout, compare, draw, explore, select
from layoutviz.views.transpose import transpose

# %% [markdown]
# ## 1. A layout is a rule
#
# Memory is a line of slots: 0, 1, 2, and so on. A matrix has rows and columns. Something must say which slot each element gets.
# In CuTe that is a **layout**, written `shape:stride`. The shape `(4,4)` means 4 rows and 4 columns. The stride says how far one
# step moves in memory: first for a step down, then for a step to the right. Here is one with its numbers hidden.

# %% jupyter={"source_hidden": true}
ask_cells(
    "The layout is (4,4):(1,4). Click the four cells that come first in memory.",
    Layout("(4,4):(1,4)"),
    offsets=range(4),
    why="The first stride is 1: one step down is one slot on.",
)

# %% [markdown]
# Two layouts of the same shape. The number in a cell is its **offset**, the slot where that element lives. Darker cells lie
# further along. Point at a cell: the cell with the same slot lights up in the other board.

# %%
row_major = Layout((4, 4), (4, 1))
column_major = Layout((4, 4), (1, 4))
compare(row_major, column_major)

# %% [markdown]
# Now move. Can you turn this board into the right-hand one above with two sliders? Then go back and put the rows 10 slots apart.
# What lies between them? Choose *memory strip* as the view to see.

# %%
explore(row_major)

# %% [markdown]
# **The rule.** A place in the matrix is a **coordinate** $(i,j)$: row $i$, column $j$. Its two directions are called **modes**:
# mode 0 goes down, mode 1 to the right. Each mode has its extent in the shape and its step in the stride.
#
# $$\text{offset}(i,j) = i \cdot \text{stride}_0 + j \cdot \text{stride}_1$$
#
# If the last stride is 1, a row is contiguous: **row-major**. If the first stride is 1, a column is: **column-major**.

# %%
for layout in (row_major, column_major):
    print(f"{layout}: (2,1) is at 2*{layout.stride[0]} + 1*{layout.stride[1]} = {layout(2, 1)}")

# %% [markdown]
# One number can name a cell too: its **index**. It counts cells in one fixed order: down the first column, then down the next, and
# so on. Mode 0 runs fastest. Choose *index* as the label on the sliders' board: the indices stay as they are when you move a stride.

# %%
for layout in (row_major, column_major):
    print(f"{layout}: index 6 is coordinate {layout.coordinate(6)}, at offset {layout(6)}")

# %% [markdown]
# Index is not offset. In this column-major layout they agree, and so they are easily confused.
#
# The same in the CuTe DSL. There a layout lives inside a `@cute.jit` function. This `print` runs while the function is compiled.

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def the_same_in_the_dsl():
    for stride in ((4, 1), (1, 4)):
        layout = cute.make_layout((4, 4), stride=stride)
        print("DSL", layout, layout((2, 1)), layout(6))


the_same_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 01.1 · Offsets by hand ★
#
# Given: the layout `(3,4):(4,1)`, 3 rows and 4 columns. Wanted: `offsets`, a list of the 12 offsets, those of index 0, 1, 2 and so
# on to 11. Use paper, not `Layout`. Run the cell as it is to fill them in on a board. Judged number by number.

# %% exercise="01.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
offsets = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]
### STARTER
# offsets = ...
### END SOLUTION

# %% [markdown]
# ## 2. The stride is the step
#
# Strides need not fit the shape. That is a tool, and a trap.

# %% jupyter={"source_hidden": true}
ask_choice(
    "The layout is (4,4):(1,5). How many slots must be allocated for it?",
    options={
        16: "There are 16 elements, but columns of 4 lie 5 slots apart.",
        19: f"The last element, (3,3), is at offset 3*1 + 3*5 = {Layout('(4,4):(1,5)')(3, 3)}, and slot 0 counts as well.",
        20: "4 columns, 5 slots apart: but after the last column nothing follows, so its gap is not needed.",
    },
    answer=Layout("(4,4):(1,5)").cosize,
)

# %% [markdown]
# Its memory as a strip, slot by slot. Each slot names the coordinate that lives there. A slot that is struck out holds nothing.

# %%
padded = Layout((4, 4), (1, 5))
draw(padded, "memory_strip")

# %% [markdown]
# Slide *stride 1* from 5 down to 0. Where do the gaps close? Where do two elements first share a slot (a dark corner, and `×2` as
# its label)? How many share each slot at 0?

# %%
explore(padded, "memory_strip")

# %% [markdown]
# **The rule.** `size` counts the elements, `cosize` the slots they need. As long as no stride is negative, that is one more than
# the largest offset. Allocate `cosize`.
#
# - `cosize` above `size`: some slots stay unused. Done on purpose, this is **padding**. Chapter 05 pads shared memory to make it faster.
# - Two coordinates at one offset: **aliasing**. Fine for reading. Two threads that write there race.
# - Stride 0: every step in that mode stays on the same slot, a **broadcast**. In `(4,4):(0,1)` a step down moves nothing: all four
#   rows are one row of four slots. So one row of numbers can be added to each row of a matrix without being copied.

# %%
for layout in (row_major, padded, Layout((4, 4), (1, 3)), Layout((4, 4), (0, 1))):
    print(f"layoutviz {layout}: size {layout.size}, cosize {layout.cosize}")

# %% needs="dsl"
@cute.jit
def sizes_in_the_dsl():
    for stride in ((4, 1), (1, 5), (1, 3), (0, 1)):
        layout = cute.make_layout((4, 4), stride=stride)
        print("DSL", layout, cute.size(layout), cute.cosize(layout))


sizes_in_the_dsl()

# %% [markdown]
# ## 3. Transposing moves no data
#
# A library wants a matrix transposed. Must somebody copy it?

# %% jupyter={"source_hidden": true}
ask_choice(
    "A is (4,6):(6,1). Which layout reads A's own memory as the transpose of A?",
    options={
        "(6,4):(6,1)": "Here the shape is swapped, but a step down still moves 6 slots. In A a step to the right moves 1.",
        "(6,4):(4,1)": "This is a row-major matrix of 6 rows. Its element (1,0) is at 4, but A's element (0,1) is at 1.",
        "(6,4):(1,6)": "Shape and stride swap together: each step keeps its own length.",
    },
    answer=select(Layout("(4,6):(6,1)"), (1, 0)),
    picture=lambda: transpose(Layout("(4,6):(6,1)")),
)

# %% [markdown]
# Point at a cell of A, then look for its twin. Both are one slot of the strip below. Nothing was copied.

# %%
A = Layout((4, 6), (6, 1))
draw(A, "transpose")

# %% [markdown]
# Is there a layout that is its own transpose? Look for one with the sliders. What does the board say about its slots?

# %%
explore(row_major, "transpose")

# %% [markdown]
# **The rule.** To transpose, swap the two modes, in the shape and in the stride. Then $A^T(j,i)$ and $A(i,j)$ are the same slot.
# A row-major matrix *is* the column-major form of its transpose, so "transposed" in a BLAS call copies nothing: it names the
# layout of an operand. A layout that is its own transpose is square and has equal strides, so its elements share slots.

# %%
print("layoutviz", A, "->", select(A, (1, 0)))

# %% needs="dsl"
@cute.jit
def transpose_in_the_dsl():
    layout = cute.make_layout((4, 6), stride=(6, 1))
    print("DSL", layout, "->", cute.select(layout, mode=[1, 0]))


transpose_in_the_dsl()

# %% [markdown]
# ## On the GPU
#
# `A` has `M` rows and `K` columns, `B` has `N` rows and `K` columns, both of 16-bit floats (fp16). Each element of `C`, `M` by `N`, is
# a row of `A` times a row of `B`. Below is a whole kernel that does this, one thread for each element of `C`. Such a product of two
# matrices is called a **GEMM**. Writing kernels starts in chapter 06. For now find one thing in it: it says `mA[m, k]` and `mB[n, k]`,
# never a stride. Where an element lies is the layout's business.

# %% include="ladder/naive.py:TILE,dot,naive_kernel,naive_gemm" needs="dsl"
from ladder.naive import naive_gemm

# %% [markdown]
# Each of the two can lie row by row or column by column. That makes four pairs. The names are those that cuBLAS, NVIDIA's library,
# gives them; you will meet them again.
#
# | name | A lies | B lies |
# | --- | --- | --- |
# | TN | row by row, `(M,K):(K,1)` | row by row, `(N,K):(K,1)` |
# | NN | column by column, `(M,K):(1,M)` | row by row, `(N,K):(K,1)` |
# | TT | row by row, `(M,K):(K,1)` | column by column, `(N,K):(1,N)` |
# | NT | column by column, `(M,K):(1,M)` | column by column, `(N,K):(1,N)` |

# %%
def pairs(M, N, K):
    """cuBLAS's name -> (layout of A, layout of B)."""
    A_rows, A_columns = Layout((M, K), (K, 1)), Layout((M, K), (1, M))
    B_rows, B_columns = Layout((N, K), (K, 1)), Layout((N, K), (1, N))
    return {
        "TN": (A_rows, B_rows),
        "NN": (A_columns, B_rows),
        "TT": (A_rows, B_columns),
        "NT": (A_columns, B_columns),
    }


small = pairs(6, 4, 3)
compare({"A by rows": small["TN"][0], "A by columns": small["NN"][0]})

# %%
compare({"B by rows": small["TN"][1], "B by columns": small["TT"][1]})

# %% [markdown]
# One kernel, four pairs of layouts, sizes that are not square and do not fit the blocks. On a GPU each result is checked against
# cuBLAS. Without one the kernel is compiled, and the same sums run on the CPU; two lines of the machine code (SASS) then show a load
# from memory (LDG), and at its end, after the `+`, how many bytes further the next `k` lies.

# %% needs="dsl"
from ladder import harness

checks = harness.gemm_through_layouts(naive_gemm, pairs, chapter="01")

# %% [markdown]
# Now pad the rows of `A`: in `pairs` make its layout by rows `Layout((M, K), (K + 8, 1))`, and run the cells from there on again. Which
# offsets change? Do the results?

# %% [markdown]
# ## Common mistakes
#
# - **Index for offset.** `L(6)` takes an index and returns an offset. They agree only in a column-major layout without gaps.
# - **Allocating `size`.** A padded layout needs `cosize` slots; with fewer, the last elements lie past the end.
# - **Transposing the shape alone.** `(6,4):(6,1)` is no transpose of `(4,6):(6,1)`: its last two rows reach past A's memory.
# - **Bytes for elements.** Strides and offsets count elements. An fp16 element has 2 bytes; the machine code counts those.
#
# ## In short
#
# - A layout is a function from coordinate to offset, written `shape:stride`.
# - `offset(i,j) = i * stride0 + j * stride1`.
# - An index counts coordinates, mode 0 fastest. It is not the offset.
# - `size` counts elements, `cosize` the slots to allocate; gaps are padding, shared slots are aliasing.
# - Transposing swaps modes. Nothing moves. One kernel serves every layout.

# %% [markdown] tags=["exercise"]
# ### Exercise 01.2 · Rows padded to a multiple of 8 ★★
#
# Given: a matrix of 6 rows and 5 columns, stored row by row. Wanted: `layout`, of shape `(6,5)`, in which each row starts at a
# multiple of 8 elements, with no more padding than that needs. (A thread that loads 8 fp16 numbers at once needs rows that start
# so.) Judged by its shape and by the offset of every coordinate.

# %% exercise="01.2" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout((6, 5), (8, 1))
### STARTER
# layout = Layout((6, 5), (..., ...))
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.3 · Who lives in slots 6 to 9? ★
#
# Given: the layout `(3,4):(1,4)`. Wanted: `cells`, a list of the cells that lie in slots 6, 7, 8 and 9, each as a coordinate such as
# `(0, 0)`. Predict them without `Layout`. Run the cell as it is to click them on a board. Judged by the cells; their order does
# not count.

# %% exercise="01.3" tags=["exercise"]
### BEGIN SOLUTION
cells = [(2, 1), (0, 2), (1, 2)]
### STARTER
# cells = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.4 · Mend an allocation ★
#
# Given: the layout `(5,6):(9,1)`, rows padded to 9. A colleague allocates its `size`, and the kernel writes past the end. Wanted:
# `slots`, the smallest number of slots that is enough. Work it out before you ask `Layout`. Run the cell as it is to type the number
# below it. Judged by the number.

# %% exercise="01.4" tags=["exercise"]
### BEGIN SOLUTION
slots = 4 * 9 + 5 * 1 + 1
### STARTER
# slots = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.5 · Transpose any layout ★★
#
# Given: any `layout` of two modes. Wanted: a function `transposed(layout)` that gives the layout of its transpose, in the same slots.
# Judged on layouts that are new and random each time, some of them padded: by the shape of what your function gives, and by the offset
# of every coordinate.

# %% exercise="01.5" tags=["exercise"]
### BEGIN SOLUTION
def transposed(layout):
    (rows, columns), (down, right) = layout.shape, layout.stride
    return Layout((columns, rows), (right, down))
### STARTER
# def transposed(layout):
#     return ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.6 · From a picture to a layout ★★
#
# Given: the offset of each element of a matrix.
#
# | | column 0 | column 1 | column 2 | column 3 |
# | --- | --- | --- | --- | --- |
# | **row 0** | 0 | 2 | 4 | 6 |
# | **row 1** | 5 | 7 | 9 | 11 |
# | **row 2** | 10 | 12 | 14 | 16 |
#
# Wanted: `layout`, the layout with these offsets. Judged by its shape and by the offset of every coordinate.

# %% exercise="01.6" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout((3, 4), (5, 2))
### STARTER
# layout = Layout((..., ...), (..., ...))
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.7 · Read B as it was stored ★★★
#
# Given: a buffer. A colleague stored `B` in it as a matrix of `K` rows and `N` columns, row by row, without gaps. The lesson's kernel
# says `mB[n, k]`: it wants `B` with `N` rows and `K` columns. Nobody may copy the buffer. Wanted: a function `B_layout(N, K)` that
# gives the layout through which that kernel finds each element of `B` where it was stored.
#
# Judged first by its shape and offsets, for new random `N` and `K`. If they are right, the kernel runs through it and is checked against
# cuBLAS. Without a GPU the kernel is only compiled, and the verdict says so. This cell runs by itself: it knows the notebook's first
# code cell, and none of your other cells.

# %% exercise="01.7" tags=["exercise"]
### BEGIN SOLUTION
def B_layout(N, K):
    return Layout((N, K), (1, N))
### STARTER
# def B_layout(N, K):
#     return Layout(..., ...)
### END SOLUTION
