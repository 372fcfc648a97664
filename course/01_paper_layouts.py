# %% [markdown]
# # 01 · Paper layouts
#
# After this lesson you can read any layout of rows and columns, say where each element lies and how much memory all of them need, give a
# matrix to a kernel as its transpose, and run one kernel through four pairs of layouts. Forty minutes; guess first, read second.

# %% tags=["setup"]
from IPython.display import display

from exercises import ask_cells, ask_choice, ask_offsets
from layoutviz import Layout, compare, draw, explore, select
from layoutviz.views.transpose import transpose

# %% [markdown]
# ## A bet, and two questions
#
# First a bet. (The transpose of $A$, $A^T$, has the columns of $A$ as its rows.)

# %% jupyter={"source_hidden": true}
big = Layout((4096, 4096), (4096, 1))
some = [(i, j) for i in range(0, 4096, 455) for j in range(0, 4096, 455)]
ask_choice(
    "A matrix A of 4096 by 4096 numbers, 2 bytes each (32 MiB), is stored row by row. A kernel needs its transpose. How many MiB must be "
    "read and written to get it?",
    options={
        64: "That is a whole copy: all of it read, all of it written. Section 5 does without.",
        32: "A copy would read 32 MiB and write 32 MiB. But section 5 makes no copy.",
        0: "Nothing is read or written. Section 5 shows why.",
    },
    answer=64 * sum(select(big, (1, 0))(j, i) != big(i, j) for i, j in some) // len(some),
)

# %% [markdown]
# Two questions from chapter 00: one for section 1, where cells get names, one for reading the boards.

# %% jupyter={"source_hidden": true}
ask_choice(
    "A board of 3 rows and 5 columns starts with 0 at the top left, and its numbers run along the rows. Rows and columns count from 0. "
    "What stands in row 1, column 2?",
    options={
        1: "That counts rows and columns from 1. The first row is row 0.",
        7: "Row 0 takes 0 to 4, row 1 begins with 5, and two to the right of it is 7.",
        11: "That is row 2, column 1. The row is named first.",
    },
    answer=Layout((3, 5), (5, 1))(1, 2),
)

# %% jupyter={"source_hidden": true}
ask_choice(
    "You point at a cell of one board, and a cell of the board beside it lights up too. What have the two in common?",
    options={
        "the row and column": "On the two boards of chapter 00 they mostly stood in different rows and columns.",
        "the number": "Equal numbers light up together. On most boards of this lesson the number says where in memory something lies.",
    },
    answer="the number",
)

# %% [markdown]
# ## 1. A buffer is a line
#
# On paper a matrix has two directions. Memory has one: it is a line of **slots**, each with room for one **element**.

# %% jupyter={"source_hidden": true}
A = Layout((4, 6), (6, 1))
ask_choice(
    "A matrix of 4 rows and 6 columns is stored row by row. On paper (1,0) stands right below (0,0). How far apart are they in memory?",
    options={
        "1 slot": "The slot after that of (0,0) holds (0,1), its neighbour to the right.",
        "4 slots": "4 is the number of rows. Between the two lies the rest of row 0.",
        "6 slots": "The whole row 0 comes first: 6 elements.",
    },
    answer=f"{A(1, 0)} slots",
)

# %% [markdown]
# Above, the matrix; below, the memory under it. Each box is a slot. Point at the last cell of a row: what lives in the slot after it? (The
# line that comes up also names an *index*: section 4.)

# %%
A = Layout((4, 6), (6, 1))
display(draw(A, label="coordinate", title="the matrix", caption=""), draw(A, "memory_strip"))

# %% [markdown]
# Now move. Click into the field *layout*, type `(4,6):(1,4)` and press Enter (section 2 says what that means). Which cell follows (3,0)
# in memory now?

# %%
explore(A, "memory_strip")

# %% [markdown]
# **The rule.** A **buffer** is a line of slots, numbered from 0. The number of a slot is its **offset**: how many elements it is away
# from the start. A cell of the matrix is named by its **coordinate** $(i,j)$: row $i$, column $j$. One matrix can lie in memory in many
# orders: row by row (3,1) follows (3,0), column by column (0,1) does. An element of 16 bits (**fp16**) takes 2 **bytes**, so that
#
# $$\text{byte address} = \text{start of the buffer} + 2 \cdot \text{offset}$$
#
# Below the same in the **CuTe DSL**. There all this lives inside a `@cute.jit` function. Its `print` runs while the function is
# compiled. A coordinate is one argument there, so it takes two pairs of parentheses: `A((1, 0))`. (Ours takes both forms.)

# %%
print("layoutviz: (1,0) has offset", A(1, 0), "and lies", 2 * A(1, 0), "bytes after the start")

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def an_offset_in_the_dsl():
    A = cute.make_layout((4, 6), stride=(6, 1))
    print("DSL: (1,0) has offset", A((1, 0)), "and lies", 2 * A((1, 0)), "bytes after the start")


an_offset_in_the_dsl()

# %% [markdown]
# ## 2. A layout is a rule
#
# What says which slot each element gets is a **layout**, written `shape:stride`. In `(4,4):(4,1)` the shape `(4,4)` means 4 rows and 4
# columns. The stride `(4,1)` means: one step down moves 4 slots, one step to the right moves 1. The cell (0,0) is at offset 0.

# %% jupyter={"source_hidden": true}
row_major, column_major = Layout((4, 4), (4, 1)), Layout((4, 4), (1, 4))
ask_cells(
    "The layout is (4,4):(4,1). Click the cell at offset 6.",
    row_major,
    offsets=[6],
    why="One step down is 4 and two steps to the right are 2, together 6: (1,2).",
)

# %% jupyter={"source_hidden": true}
ask_cells(
    "The layout is (4,4):(1,4). Click the cell at offset 6.",
    column_major,
    offsets=[6],
    why="Now a step to the right moves 4 and a step down moves 1: 4 + 2*1 = 6, (2,1).",
)

# %% [markdown]
# Now all of them, by hand: draw this blank twice, and write in the offsets of `(4,4):(4,1)` and those of `(4,4):(1,4)`.

# %%
draw((4, 4), "blank", title="4 rows, 4 columns")

# %% [markdown]
# Type both in. Tab goes to the next field.

# %% jupyter={"source_hidden": true}
def by_hand(layout, other):
    mixed_up = f"These are the offsets of {other}. Which of the two strides is the step down?"
    return ask_offsets(f"The offsets of {layout}:", layout, {mixed_up: other})


display(by_hand(row_major, column_major), by_hand(column_major, row_major))

# %% [markdown]
# Here they are; darker cells lie further along. Point at the cell at offset 6 on the left. Which cell has that slot on the right?

# %%
row_major = Layout((4, 4), (4, 1))
column_major = Layout((4, 4), (1, 4))
compare(row_major, column_major)

# %% [markdown]
# Now move. Set *stride 0* to 10. Which cell is at offset 23? Then bring that cell to offset 29 by moving only *stride 1*.

# %%
explore(row_major)

# %% [markdown]
# **The rule.** A layout is a function: coordinate in, offset out. Its two directions are called **modes**: mode 0 goes down, mode 1 to
# the right. Each mode has an **extent** in the shape, how many rows or columns it has, and a stride. With strides (10,1) the cell (2,3) is
# at 2·10 + 3·1 = 23, with (10,3) at 2·10 + 3·3 = 29.
#
# $$\text{offset}(i,j) = i \cdot \text{stride}_0 + j \cdot \text{stride}_1$$

# %%
for layout in (row_major, column_major):
    print(f"layoutviz {layout}: (2,1) is at 2*{layout.stride[0]} + 1*{layout.stride[1]} = {layout(2, 1)}")

# %% needs="dsl"
@cute.jit
def the_rule_in_the_dsl():
    for stride in ((4, 1), (1, 4)):
        layout = cute.make_layout((4, 4), stride=stride)
        print("DSL", layout, "(2,1) is at", layout((2, 1)))


the_rule_in_the_dsl()

# %% [markdown]
# ## 3. The stride is the step
#
# Strides need not fit the shape. Most leave gaps.

# %% jupyter={"source_hidden": true}
filled = [(d, e) for d in range(1, 33) for e in range(1, 33) if sorted(Layout((4, 5), (d, e)).offsets()) == list(range(20))]
ask_choice(
    "20 elements, 4 rows and 5 columns. With how many pairs of strides do they fill the slots 0 to 19, one element in each?",
    options={
        1: "Is there only one order in which cells can be laid down without a gap?",
        2: "No other pair of strides does it. Find the two below.",
        "as many as you like": "There are many orders, but one stride for each mode leaves little choice.",
    },
    answer=len(filled),
)

# %% [markdown]
# Here is a pair that leaves gaps. A slot that is struck out holds nothing. How far is it from a cell to the one below it? Is that the
# same everywhere? Then find the two pairs of strides that leave no gap and let no two cells share a slot (*aliasing*: section 6). The
# caption counts for you. (A long strip is broken into lines: add the number on the left to the one on top.)

# %%
explore("(4,5):(6,1)", "memory_strip")

# %% [markdown]
# **The rule.** A stride is the distance in memory from a cell to its neighbour along one mode, the same everywhere. A layout with last
# stride 1 is **row-major**, with or without gaps. Without gaps, stride 0 is the length of a row: `(3,5):(5,1)`. With first stride 1 it is
# **column-major**. Without gaps, stride 1 is then the length of a column: `(3,5):(1,3)`.
#
# $$\text{stride}_0 = \text{offset}(i{+}1,j) - \text{offset}(i,j), \qquad \text{stride}_1 = \text{offset}(i,j{+}1) - \text{offset}(i,j)$$

# %%
import numpy as np

rows = Layout((3, 5), (5, 1))
print("layoutviz", rows, "strides:", rows.stride, " by two cells each:", (rows(1, 2) - rows(0, 2), rows(1, 3) - rows(1, 2)))
print("NumPy, fp16, in bytes:", np.zeros((3, 5), np.float16).strides)

# %% needs="dsl"
@cute.jit
def strides_in_the_dsl():
    rows = cute.make_layout((3, 5), stride=(5, 1))
    print("DSL", rows, "strides:", rows.stride, " by two cells each:", (rows((1, 2)) - rows((0, 2)), rows((1, 3)) - rows((1, 2))))


strides_in_the_dsl()

# %% [markdown]
# ## 4. The index runs down
#
# A cell has one more name: a single number.

# %% jupyter={"source_hidden": true}
ask_choice(
    "L is (4,4):(4,1). What is L(1)?",
    options={
        1: "That takes it for a slot, or counts along the row. In CuTe the count goes down: 1 is the cell below (0,0).",
        4: "1 names the cell (1,0), right below (0,0). One step down moves 4 slots.",
        5: "That is the cell (1,1), the neighbour on the diagonal. 1 is a single step.",
    },
    answer=row_major(1),
)

# %% [markdown]
# Each cell shows its **index**; the colour is still the slot. On this board equal indices light up together. Point at index 1, on the left
# and on the right: at which offset is it?

# %% jupyter={"source_hidden": true}
from dataclasses import replace

board = compare(row_major, column_major, label="index", caption="The label is the index, the colour the offset.")
board.scene = replace(board.scene, link_by="index")
board

# %% [markdown]
# Now each slot shows the index of the element in it. Which strides put index 0 into slot 0, 1 into 1, 2 into 2, and so on to the end?
# Then make it row-major again and press *step ▶* some times. Which index is the first to jump back?

# %%
explore(row_major, "memory_strip", label="index")

# %% [markdown]
# **The rule.** The index counts the cells: down column 0, then down column 1, and so on. **Mode 0 runs fastest.** (NumPy counts along the
# rows.) This order depends on the shape alone. `L(1)` is the offset of the cell below (0,0), so it is the first stride: 4 for
# `(4,4):(4,1)`, 1 for `(4,4):(1,4)`. Index 4 is the top of column 1: there `(4,4):(4,1)` jumps back, from slot 12 to slot 1. A layout
# written without strides is column-major without gaps, the one where index and offset agree.
#
# $$\text{index} = i + j \cdot \text{extent}_0$$
#
# So three things are kept apart: the coordinate says *which row and column*, the index *which one in the count*, the offset *which
# slot*.

# %%
for layout in (row_major, Layout((4, 4))):
    print(f"layoutviz {layout}: L(1) = {layout(1)}; index 6 is coordinate {layout.coordinate(6)}, at offset {layout(6)}")

# %% needs="dsl"
@cute.jit
def the_index_in_the_dsl():
    for layout in (cute.make_layout((4, 4), stride=(4, 1)), cute.make_layout((4, 4))):
        print("DSL", layout, "L(1) =", layout(1), " index 6 is coordinate", cute.idx2crd(6, layout.shape), "at offset", layout(6))


the_index_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 01.1 · Offsets by hand ★
#
# Given: the layout `L` = `(3,4):(5,1)`, 3 rows and 4 columns. Wanted: `offsets`, the list of the five offsets `L(1)`, `L(2)`, `L(3)`,
# `L(5)` and `L(10)`. Use paper, not `Layout`. Judged number by number.

# %% exercise="01.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
offsets = [5, 10, 1, 11, 8]
### STARTER
# offsets = [..., ..., ..., ..., ...]
### END SOLUTION

# %% [markdown]
# ## 5. Transposing moves no data
#
# A library wants a matrix transposed.

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
# Point at a cell of A, then look for its twin. Both are one slot of the strip below. What was copied?

# %%
draw(A, "transpose")

# %% [markdown]
# Is there a layout that is its own transpose? Look for one with the sliders. What does the board say about its slots?

# %%
explore(row_major, "transpose")

# %% [markdown]
# **The rule.** To transpose, swap the two modes, in the shape and in the stride. Then $A^T(j,i)$ and $A(i,j)$ are the same slot. The same
# buffer, read row-major, is $A$; read column-major, it is $A^T$. So a matrix product that is told "transposed" copies nothing: it reads
# the same buffer through another layout. (The bet: 0 MiB.) A layout that is its own transpose is square and has equal strides, so its
# elements share slots.
#
# $$(m,n):(a,b) \;\to\; (n,m):(b,a)$$

# %%
print("layoutviz", A, "->", select(A, (1, 0)))

# %% needs="dsl"
@cute.jit
def transpose_in_the_dsl():
    layout = cute.make_layout((4, 6), stride=(6, 1))
    print("DSL", layout, "->", cute.select(layout, mode=[1, 0]))


transpose_in_the_dsl()

# %% [markdown]
# ## 6. Gaps on purpose, and shared slots
#
# A layout may leave slots unused, and it may put several elements into one.

# %% jupyter={"source_hidden": true}
shared = Layout((4, 4), (1, 3))
ask_cells(
    "The layout is (4,4):(1,3). Some cells share a slot with another cell. Click three such cells (any three).",
    shared,
    offsets=[slot for slot in range(shared.cosize) if shared.offsets().tolist().count(slot) > 1],
    why="A column takes 4 slots, but the next one begins after 3: the last cell of a column and the first one of the next are one slot.",
)

# %% [markdown]
# Here are three values of *stride 1*. Every cell must store its own number. On which board can it?

# %%
compare("(4,4):(1,5)", "(4,4):(1,3)", "(4,4):(1,0)", caption="A dark corner: the slot is shared.")

# %% [markdown]
# Slide *stride 1* from 5 down to 0. Where do the gaps close? Where do two elements first share a slot (`×2` as its label)? How many share
# each slot at 0?

# %%
explore("(4,4):(1,5)", "memory_strip")

# %% [markdown]
# **The rule.**
#
# - Slots left unused on purpose are **padding**: here with stride 1 above 4. At 4 the gaps close.
# - Two coordinates at one offset are **aliasing**: here below 4. Reading is fine. If two threads write there, one result is lost.
# - Stride 0 is a **broadcast**: every step in that mode stays on the same slot. In `(4,4):(1,0)` the four cells of a row share one. In
#   `(4,4):(0,1)` all rows are one row. So a row of numbers can be added to every row of a matrix without copies (chapter 15).
#
# The DSL takes all of them without a warning.

# %%
for layout in map(Layout, ("(4,4):(1,5)", "(4,4):(1,3)", "(4,4):(0,1)")):
    used, last = len(set(layout.offsets())), max(layout.offsets())
    print(f"layoutviz {layout}: (3,0) at {layout(3, 0)}, (0,1) at {layout(0, 1)}; it uses {used} of the slots 0 to {last}")

# %% needs="dsl"
@cute.jit
def shared_in_the_dsl():
    for stride in ((1, 5), (1, 3), (0, 1)):
        layout = cute.make_layout((4, 4), stride=stride)
        print("DSL", layout, "(3,0) at", layout((3, 0)), " (0,1) at", layout((0, 1)))


shared_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 01.2 · Rows padded to a multiple of 8 ★★
#
# Given: a matrix of 6 rows and 5 columns, stored row by row. Wanted: `layout`, of shape `(6,5)`, in which each row starts at a
# multiple of 8 elements, with no more padding than that needs. (A thread that loads 8 fp16 numbers at once needs rows that start
# so.) Judged by its shape and by the offset of every coordinate.

# %% exercise="01.2" tags=["exercise", "inline"]
### BEGIN SOLUTION
layout = Layout((6, 5), (8, 1))
### STARTER
# layout = Layout((6, 5), (..., ...))
### END SOLUTION

# %% [markdown]
# ## 7. How much memory?
#
# Gaps cost memory, shared slots save it.

# %% jupyter={"source_hidden": true}
ask_choice(
    "The layout is (4,4):(1,6). How many slots must be allocated for it?",
    options={
        16: "There are 16 elements, but columns of 4 lie 6 slots apart.",
        22: f"The last element, (3,3), is at offset 3*1 + 3*6 = {Layout('(4,4):(1,6)')(3, 3)}, and slot 0 counts as well.",
        24: "4 columns, 6 slots apart: but after the last column nothing follows, so its gap is not needed.",
    },
    answer=Layout("(4,4):(1,6)").cosize,
)

# %% [markdown]
# Which coordinate lives in the last slot? Then find strides with which the 16 elements need only 7 slots. What is the least of all? And
# if no slot may be shared?

# %%
padded = Layout((4, 4), (1, 6))
explore(padded, "memory_strip")

# %% [markdown]
# **The rule.** **Size** counts the elements. **Cosize** counts the slots they need: one more than the largest offset. Allocate the cosize.
# With less, the last elements lie past the end, and a kernel that writes them destroys what is there. With strides (0,0) one slot is
# enough, with (1,1), (2,0) or (0,2) 7 are; without sharing it takes 16. For `m` rows and `n` columns:
#
# $$\text{size} = m \cdot n, \qquad \text{cosize} = (m-1) \cdot \text{stride}_0 + (n-1) \cdot \text{stride}_1 + 1$$

# %%
for layout in (row_major, padded, Layout((4, 4), (1, 3)), Layout((4, 4), (0, 1))):
    print(f"layoutviz {layout}: size {layout.size}, cosize {layout.cosize}")

# %% needs="dsl"
@cute.jit
def sizes_in_the_dsl():
    for stride in ((4, 1), (1, 6), (1, 3), (0, 1)):
        layout = cute.make_layout((4, 4), stride=stride)
        print("DSL", layout, "size", cute.size(layout), "cosize", cute.cosize(layout))


sizes_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 01.3 · Who lives in slots 6 to 9? ★
#
# Given: the layout `(3,4):(1,4)`. Wanted: `cells`, a list of the cells that lie in slots 6, 7, 8 and 9, each as a coordinate such as
# `(0, 0)`. Predict them without `Layout`. Run the cell as it is to click them on a board. Judged by the cells; their order does
# not count.

# %% exercise="01.3" tags=["exercise", "inline"]
### BEGIN SOLUTION
cells = [(2, 1), (0, 2), (1, 2)]
### STARTER
# cells = ...
### END SOLUTION

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 01.4 · Mend an allocation ★
#
# Given: the layout `(5,6):(9,1)`, rows padded to 9. A colleague allocates its `size`, and the kernel writes past the end. Wanted:
# `slots`, the smallest number of slots that is enough. Work it out before you ask `Layout`. Run the cell as it is to type the number
# below it. Judged by the number. (On a right answer you see the memory.)

# %% exercise="01.4" tags=["exercise", "inline"]
### BEGIN SOLUTION
slots = max(Layout((5, 6), (9, 1)).offsets()) + 1
### STARTER
# slots = ...
### END SOLUTION

# %% [markdown]
# ## On the GPU
#
# In this GEMM `A` has `M` rows and `K` columns, all numbers fp16. A textbook has `B` with `K` rows and `N` columns. CuTe keeps its
# transpose, `N` by `K`: then `k`, over which the sum runs, is mode 1 of both. So each element of `C`, `M` by `N`, comes from a row of
# `A` and a row of `B`.
#
# Below is a whole kernel, one thread for each element of `C`. Find one thing in it: `mA[m, k]` and `mB[n, k]`, never a stride.
# Where an element lies is the layout's business. (Writing kernels starts in chapter 06.)

# %% include="ladder/naive.py:TILE,dot,naive_kernel,naive_gemm" needs="dsl"
from ladder.naive import naive_gemm

# %% [markdown]
# Each of the two can lie row by row or column by column: four pairs.
#
# | name | A lies | B lies |
# | --- | --- | --- |
# | TN | row by row, `(M,K):(K,1)` | row by row, `(N,K):(K,1)` |
# | NN | column by column, `(M,K):(1,M)` | row by row, `(N,K):(K,1)` |
# | TT | row by row, `(M,K):(K,1)` | column by column, `(N,K):(1,N)` |
# | NT | column by column, `(M,K):(1,M)` | column by column, `(N,K):(1,N)` |
#
# The names are cuBLAS's, NVIDIA's library. The first letter is for `A`: *N* if it lies column by column, *T* if row by row. For `B` the
# letters are the other way round, because cuBLAS thinks of `B` as `K` by `N`, and ours is its transpose.

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

# %% [markdown]
# Each thread takes one step of `k` after the other. How far is such a step in each of the two?
#
# One kernel, four pairs of layouts, sizes that are not square and do not fit the blocks. On a GPU each result is checked, beside cuBLAS,
# against NumPy's product in fp32 (32 bits): the errors of both are printed. Without a GPU the kernel is compiled (for `sm_90a`), and the
# same sums run on the CPU. Two lines then show machine code, called SASS. `LDG` is a load from memory. The number after its `+` is how
# many bytes further the next `k` lies.

# %% needs="dsl"
from ladder import harness

checks = harness.gemm_through_layouts(naive_gemm, pairs, chapter="01")

# %% [markdown]
# Now pad the columns of `A` by 8.

# %% jupyter={"source_hidden": true}
M, K = 200, 72  # of the cell above
before, after = Layout((M, K), (1, M)), Layout((M, K), (1, M + 8))
ask_choice(
    f"A column of A has {M} elements. How many bytes lie between one k and the next, once the columns are padded by 8 elements?",
    options={
        2 * before.stride[1]: "That is the step without padding.",
        2 * before.stride[1] + 8: "8 elements of padding are 16 bytes.",
        2 * after.stride[1]: f"{after.stride[1]} slots of 2 bytes. Nothing changes in the kernel, and nothing in its results.",
    },
    answer=2 * after(0, 1),
)

# %% [markdown]
# See it: in the line of `A_columns` in `pairs`, write `M + 8` for the last `M`, and run the cells from there on again. What changes in the
# lines *pairs* of NN and NT? And, without a GPU, in the line *SASS* of NN?
#
# The course's figure again: its mark stands where it stood in chapter 00. Chapter 04 is the first to move it.

# %%
from ladder.thermometer import thermometer

thermometer("naive")

# %% [markdown]
# ## Common mistakes
#
# - **Index for offset.** `L(6)` takes an index and returns an offset.
# - **Transposing the shape alone.** `(6,4):(6,1)` is no transpose of `(4,6):(6,1)`: its last two rows reach past A's memory.
# - **Bytes for elements.** CuTe's strides count elements. NumPy's strides and a GPU's addresses count bytes.
#
# ## In short
#
# - A layout is a function from coordinate to offset, written `shape:stride`.
# - `offset(i,j) = i * stride0 + j * stride1`, counted in elements.
# - The index counts coordinates, mode 0 fastest. It is not the offset.
# - Transposing swaps modes. Nothing moves. One kernel serves every layout.
# - Gaps are padding, shared slots are aliasing, stride 0 is a broadcast.
# - `size` counts elements, `cosize` the slots to allocate.
#
# Exercises 01.5 to 01.8 stand in this chapter's notebook of exercises. Next: [02 · Nested layouts](02_nested_layouts.ipynb). There one
# stride for a mode is not enough.

# %% [markdown] tags=["exercise"]
# ### Exercise 01.5 · Every second row, as columns ★★
#
# Given: any `layout` of shape `(rows, columns)`, both of them numbers of 2 or more. Take its rows 0, 2, 4 and so on, as far as they
# go, and transpose what they make. Wanted: a function `every_second(layout)` that gives the layout of that, in the same slots: its
# column 0 is row 0 of the matrix, its column 1 is row 2. Judged on layouts that are new and random each time, some of them padded,
# some with an odd number of rows: by the shape of what your function gives, and by the offset of every coordinate.

# %% exercise="01.5" tags=["exercise"]
### BEGIN SOLUTION
def every_second(layout):
    (rows, columns), (down, right) = layout.shape, layout.stride
    return Layout((columns, len(range(0, rows, 2))), (right, 2 * down))
### STARTER
# def every_second(layout):
#     (rows, columns), (down, right) = layout.shape, layout.stride
#     return ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.6 · From a picture to a layout ★★
#
# Given: a buffer of eight letters, `a` in slot 0, `b` in slot 1 and so on to `h` in slot 7. Somebody wants to read it as this matrix:
#
# | | column 0 | column 1 | column 2 | column 3 |
# | --- | --- | --- | --- | --- |
# | **row 0** | a | b | c | d |
# | **row 1** | c | d | e | f |
# | **row 2** | e | f | g | h |
#
# Wanted: `layout`, through which the buffer is this matrix, without a copy. Judged by its shape and by the offset of every coordinate.

# %% exercise="01.6" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout((3, 4), (2, 1))
### STARTER
# layout = Layout((..., ...), (..., ...))
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.7 · Read B as it was stored ★★★
#
# Given: a buffer. A colleague stored `K` rows of `P` numbers in it, row by row, without gaps. `B` is the first `N` numbers of each row;
# `P` is at least `N`. The lesson's kernel says `mB[n, k]`: it wants `B` with `N` rows and `K` columns. Nobody may copy the buffer.
# Wanted: a function `B_layout(N, K, P)` that gives the layout through which that kernel finds each element of `B` where it was stored.
#
# Judged first by its shape and offsets, for new random `N`, `K` and `P`. If they are right, the kernel runs through it, and its result is
# checked. Without a GPU the kernel is only compiled, and the verdict says so. This cell runs by itself: it knows the notebook's first
# code cell, and none of your other cells.

# %% exercise="01.7" tags=["exercise"]
### BEGIN SOLUTION
def B_layout(N, K, P):
    return Layout((N, K), (1, P))
### STARTER
# def B_layout(N, K, P):
#     return Layout(..., ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 01.8 · Rows and columns at once ★★★
#
# Given: a memory that reads four slots at once, but only if their numbers leave four different remainders when divided by 4. So slots 0, 5,
# 10 and 15 can be read at once, and slots 0, 4, 8 and 12 cannot. (The shared memory of a GPU is like this, with 32 in place of 4:
# chapter 05.) Wanted: `layout`, of shape `(4,4)`, in which the four cells of any row can be read at once, and the four cells of any column
# too. No two cells share a slot, slots 0 to 31 are enough, and neither stride is 1. Several answers are right. Judged by these conditions.

# %% exercise="01.8" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout((4, 4), (5, 3))
### STARTER
# layout = Layout((4, 4), (..., ...))
### END SOLUTION
