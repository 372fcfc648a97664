# %% [markdown]
# # 01 · Paper layouts
#
# After this lesson you can read any layout of two modes, say how much memory it needs, transpose a matrix without moving it,
# and run one GEMM kernel through four pairs of layouts. Thirty minutes; guess first, read second.

# %% tags=["setup"]
from exercises import ask_cells, ask_choice
from layoutviz import Layout, compare, draw, explore, select

# %% [markdown]
# ## 1. A layout is a rule
#
# Memory is a line of slots: 0, 1, 2, and so on. A matrix has rows and columns. Something must say which slot each element gets.
# In CuTe that is a **layout**, written `shape:stride`. Here is one with its numbers hidden.

# %%
column_major = Layout((4, 4), (1, 4))
ask_cells(
    f"The layout is {column_major}. Click the four cells that come first in memory.",
    column_major,
    offsets=range(4),
    why="The first stride is 1: one step down is one slot on.",
)

# %% [markdown]
# Two layouts of the same shape. The number in a cell is its **offset**, the slot where that element lives. Darker cells lie
# further along. Point at a cell: the cell with the same slot lights up in the other board.

# %%
row_major = Layout((4, 4), (4, 1))
compare(row_major, column_major)

# %% [markdown]
# Now move. Can you turn this board into the right-hand one above with two sliders? Then leave the shape alone and put the rows
# 10 slots apart. What is in the slots between?

# %%
explore(row_major)

# %% [markdown]
# **The rule.** A place in the matrix is a **coordinate** $(i,j)$: row $i$, column $j$. The **stride** says how many slots one
# step moves: the first number for a step down, the second for a step to the right.
#
# $$\text{offset}(i,j) = i \cdot \text{stride}_0 + j \cdot \text{stride}_1$$
#
# With the last stride 1 a row is contiguous: **row-major**. With the first stride 1 a column is: **column-major**.
#
# A single number can name a cell too: its **index**. It counts down the first column, then down the next. Choose *index* on the
# board above: the indices do not change when you move a stride. Index is not offset.

# %%
print(f"row-major     {row_major}: offset of (2,1) is 2*4 + 1*1 = {row_major(2, 1)}, offset of index 6 is {row_major(6)}")
print(f"column-major  {column_major}: offset of (2,1) is 2*1 + 1*4 = {column_major(2, 1)}, offset of index 6 is {column_major(6)}")

# %% [markdown]
# The same two lines in the CuTe DSL. Its layouts live inside a `@cute.jit` function; `print` speaks while it is compiled.

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def the_same_in_the_dsl():
    for layout in (cute.make_layout((4, 4), stride=(4, 1)), cute.make_layout((4, 4), stride=(1, 4))):
        print("DSL", layout, layout((2, 1)), layout(6))


the_same_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 01.1 · Offsets by hand ★
#
# Given: the layout `(3,4):(4,1)`, 3 rows and 4 columns. Wanted: `offsets`, the 12 offsets in the order of the index, or as 3 rows
# of 4 numbers. Use paper, not `Layout`. Judged number by number.

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

# %%
padded = Layout((4, 4), (1, 5))
ask_choice(
    f"How many slots must be allocated for {padded}?",
    options=[16, 19, 20],
    answer=padded.cosize,
    why=f"The last element, (3,3), lies at offset 3*1 + 3*5 = {padded(3, 3)}; slot 0 counts as well.",
)

# %% [markdown]
# The same memory as a strip, slot by slot. Each slot names the coordinate that lives there; a struck-out slot holds nothing.

# %%
draw(padded, "memory_strip")

# %% [markdown]
# Slide *stride 1* slowly from 5 down to 0. Where do the gaps close? Where do two elements first share a slot (a dark corner, and
# `+1` in its label)? How many share one at 0?

# %%
explore(padded, "memory_strip")

# %% [markdown]
# **The rule.** `size` counts the elements. `cosize` counts the slots they need: one more than the largest offset, as long as no
# stride is negative. Allocate `cosize`.
#
# - `cosize` above `size`: some slots stay unused. On purpose this is **padding**: chapter 05 uses it against bank conflicts.
# - Two coordinates with one offset: **aliasing**. Fine for reading. Two threads that write there race.
# - Stride 0: the whole mode reads one slot, a **broadcast**. A bias added to each row of a GEMM's result is read so.

# %%
for layout in (row_major, padded, Layout((4, 4), (1, 3)), Layout((4, 4), (1, 0))):
    print(f"layoutviz {layout}: size {layout.size}, cosize {layout.cosize}")

# %% needs="dsl"
@cute.jit
def sizes_in_the_dsl():
    for stride in ((4, 1), (1, 5), (1, 3), (1, 0)):
        layout = cute.make_layout((4, 4), stride=stride)
        print("DSL", layout, cute.size(layout), cute.cosize(layout))


sizes_in_the_dsl()

# %% [markdown]
# ## 3. Transposing moves no data
#
# A GEMM library wants one of its operands transposed. Must somebody copy it?

# %%
A = Layout((4, 6), (6, 1))
ask_choice(
    f"A is {A}. Which layout reads A's own memory as the transpose of A?",
    options=["(6,4):(6,1)", "(6,4):(4,1)", "(6,4):(1,6)"],
    answer=select(A, (1, 0)),
    why="Shape and stride swap together: each step keeps its own length.",
)

# %% [markdown]
# Point at a cell of A, then look for its twin. Both are one slot of the strip below. No slot changed.

# %%
draw(A, "transpose")

# %% [markdown]
# Is there a layout that is its own transpose? Look for one with the sliders. What does the board say about its slots?

# %%
explore(row_major, "transpose")

# %% [markdown]
# **The rule.** To transpose, swap the two modes, in the shape and in the stride. Then $A^T(j,i)$ and $A(i,j)$ are the same slot.
# A row-major matrix *is* the column-major form of its transpose, so "transposed" in a BLAS call costs nothing: it names the
# layout of an operand. A layout that is its own transpose has equal strides, so its cells share slots.

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
# Here is a whole GEMM kernel: `C = A B^T`, one thread for each element of `C`. Writing kernels starts in chapter 06; in this one
# look at a single thing. It says `mA[m, k]` and `mB[n, k]`, never a stride. Where an element lies is the layout's business.

# %% include="ladder/naive.py:TILE,dot,naive_kernel,naive_gemm" needs="dsl"
from ladder.naive import naive_gemm

# %% [markdown]
# Each operand can lie row-major or column-major: four pairs, which BLAS calls by the letters N and T. `B` has `N` rows and `K`
# columns, as CuTe keeps it. In both operands `k` is the mode that the sum runs over.

# %%
def pairs(M, N, K):
    """The four operand pairs of a GEMM: BLAS's name -> (layout of A, layout of B)."""
    A_rows, A_columns = Layout((M, K), (K, 1)), Layout((M, K), (1, M))
    B_rows, B_columns = Layout((N, K), (K, 1)), Layout((N, K), (1, N))
    return {"TN": (A_rows, B_rows), "NN": (A_columns, B_rows), "TT": (A_rows, B_columns), "NT": (A_columns, B_columns)}


A_layout, B_layout = pairs(6, 4, 3)["TT"]
compare({"A": A_layout, "B": B_layout})

# %% [markdown]
# One kernel, four pairs of layouts, sizes that are not square and do not fit the blocks. Each result is checked against cuBLAS.
# Then change a layout in the cell above, pad a row, run both cells again.

# %% needs="dsl"
from ladder import harness

checks = harness.gemm_through_layouts(naive_gemm, pairs, chapter="01")

# %% [markdown]
# ## Common mistakes
#
# - **Index for offset.** `L(6)` takes an index and returns an offset. They agree only where the layout is compact and column-major.
# - **Allocating `size`.** A padded layout needs `cosize` slots; with fewer, the last elements lie past the end.
# - **Transposing the shape alone.** `(6,4):(6,1)` is no transpose of `(4,6):(6,1)`: its last row reaches past A's memory.
# - **Bytes for elements.** Strides and offsets count elements. An fp16 element has 2 bytes; the SASS above counts those.
#
# ## In short
#
# - A layout is a function from coordinate to offset, written `shape:stride`.
# - `offset(i,j) = i * stride0 + j * stride1`.
# - An index counts coordinates, the first mode fastest. It is not the offset.
# - `size` counts elements, `cosize` the slots to allocate; gaps are padding, shared slots are aliasing.
# - Transposing swaps modes. Nothing moves. One kernel serves every layout.

# %% [markdown] tags=["exercise"]
# ### Exercise 01.2 · Rows padded to a multiple of 8 ★★
#
# Given: a matrix of 6 rows and 5 columns, stored row by row. Wanted: `layout`, of shape `(6,5)`, in which each row starts at a
# multiple of 8 elements, with no more padding than that needs. (16-byte loads of fp16 ask for such rows.) Judged by its shape and by
# the offset of every coordinate.

# %% exercise="01.2" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout((6, 5), (8, 1))
### STARTER
# layout = Layout((6, 5), (..., ...))
### END SOLUTION
