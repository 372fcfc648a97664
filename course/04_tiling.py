# %% [markdown]
# # 04 · Tiling
#
# After this lesson you can cut any layout into tiles and repeat a small one to fill a large one. You can give each thread block its
# tile and each thread its share, and keep both inside a matrix whose size the tile does not divide. Then you run the first fast kind of
# GEMM. Sixty minutes; guess first, read second.

# %% tags=["setup"]
import warnings

from exercises import ask_cells, ask_choice
from layoutviz import Layout, LayoutError, RaggedWarning, Tensor, compare, complement, composition, draw, explain, explore, same_function
from layoutviz.algebra import blocked_product, local_partition, local_tile, logical_divide, logical_product, raked_product, zipped_divide

warnings.simplefilter("ignore", RaggedWarning)  # it says that tiles stick out of a matrix; so do the boards of section 7

# %% [markdown]
# ## A bet, and two questions
#
# First a bet. You need not know how yet.

# %% jupyter={"source_hidden": true}
columns_first = Layout((6, 8))
ask_choice(
    "A has 6 rows and 8 columns. One line of a kernel cuts it by (2, 4), another by Layout((2, 4)). Are the tiles the same?",
    options={
        "yes": "Both say 2 and 4. But the second is one layout, and it counts along one index. Section 4 shows what it cuts.",
        "no": "The first has tiles of 2 rows and 4 columns. A tile of the second is a whole column and a bit. Section 4 shows it.",
    },
    answer="yes" if same_function(zipped_divide(columns_first, (2, 4)), zipped_divide(columns_first, Layout((2, 4)))) else "no",
)

# %% [markdown]
# The two questions: tiles are counted as cells are, and a tile is a composition.

# %% jupyter={"source_hidden": true}
ask_choice(
    "In a matrix of 3 rows and 2 columns, which cell has index 1?",
    options={
        "(0,1)": "That goes to the right first. The index runs down the first mode.",
        "(1,0)": "Mode 0 runs fastest, so index 1 is one step down. Tiles will be counted in the same order.",
    },
    answer="({},{})".format(*Layout((3, 2)).coordinate(1)),
)

# %% jupyter={"source_hidden": true}
A = Layout((6, 8), (8, 1))
ask_choice(
    "A is (6,8):(8,1). What is A o (2, 4), by mode?",
    options={
        "(2,4):(8,1)": "The first 2 rows and 4 columns, in A's own slots. This is a tile. What is missing is: where are the others?",
        "(2,4):(1,2)": "Those are strides of a matrix that has 2 rows. A keeps its own: one row is 8 slots, one column 1.",
        "(3,2):(16,4)": "That steps by 2 rows and by 4 columns: it goes from tile to tile. You will need it in a minute.",
    },
    answer=composition(A, (2, 4)),
)

# %% [markdown]
# ## 1. What a tile leaves over
#
# A tile takes some slots. Copies of it must take all the others. Where do the copies start?

# %% jupyter={"source_hidden": true}
ask_choice(
    "A is 4:2, so it takes slots 0, 2, 4, 6. There are 24 slots. At which slots do copies of A start, so that each slot is taken once?",
    options={
        "6:4": "A copy that starts at 4 takes slots 4 and 6 a second time, and nobody takes slot 1.",
        "3:8": "0, 8 and 16: these copies do not meet. But the odd slots stay free.",
        "(2,3):(1,8)": "Slot 1 fills the gaps of A. The two together fill 8 slots, so the next ones start at 8 and 16.",
    },
    answer=complement("4:2", 24),
)

# %% [markdown]
# The colour says which copy covers a slot, its label which two numbers add up to it. Which numbers of `R` start the copies that
# fill A's own gaps?

# %%
draw("4:2", "complement", cotarget=24)

# %% [markdown]
# Now move. Slide the stride of `A` from 1 to 6. For two of these strides `R` has a single mode. Which two? What do the copies look like
# there? (At 4 and 5 they do not come out even, and some slots are hatched. That is section 7.)

# %%
explore("4:2", "complement", cotarget=24)

# %% [markdown]
# **The rule.** `R` is the **complement** of `A` up to `n`: the layout of where copies of `A` start, in rising order, so that `A` and its
# copies cover `n` slots, each once. `n` is called the **cotarget**. One finds `R` from the smallest stride of `A` up: first fill the gap
# below it, then go on behind what is full. An `A` that uses a slot twice has none.
#
# $$ (i, j) \mapsto A(i) + R(j) \quad\text{takes each of } 0, \dots, n-1 \text{ once} $$

# %%
print("layoutviz", complement("4:1", 24), complement("4:2", 24), complement("4:6", 24))
print(explain("complement", "4:2", 24))

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def complement_in_the_dsl():
    for stride in (1, 2, 6):
        print("DSL", cute.complement(cute.make_layout(4, stride=stride), 24))


complement_in_the_dsl()

# %% [markdown]
# And one that has none, `(2,2):(1,1)`: slot 1 is used twice. The DSL (4.8.1) is asked in a process of its own.

# %% needs="dsl"
from layoutviz.cute import in_dsl

try:
    complement("(2,2):(1,1)", 24)
except LayoutError as refused:
    print("layoutviz refuses:", refused)
said = in_dsl("complement", "(2,2):(1,1)", 24)
print("DSL", said.text, "-", said.why)

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 04.1 · The complement, by hand ★
#
# Given: `A = (2,2):(1,6)`, which takes slots 0, 1, 6 and 7, and 24 slots in all. Wanted: `R`, the complement of `A` up to 24. Use
# paper, not `complement`. Judged by where each copy starts, and by their order.

# %% exercise="04.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
R = Layout((3, 2), (2, 12))
### STARTER
# R = Layout(..., ...)
### END SOLUTION

# %% [markdown]
# ## 2. To divide is to compose
#
# Now cut a layout. A **tiler** says, by index, which elements make the first tile. The complement says where the others are.

# %% jupyter={"source_hidden": true}
wide = Layout(24, 10)
ask_choice(
    "The layout is 24:10, the tiler is 4:2. So tile 0 has the slots 0, 20, 40, 60. Which slots has tile 1?",
    options={
        "80, 100, 120, 140": "That goes on behind tile 0. But tile 0 has gaps, and the complement fills those first.",
        "1, 3, 5, 7": "Those are indices. The layout puts them 10 slots apart.",
        "10, 30, 50, 70": "The complement of 4:2 up to 24 is (2,3):(1,8). So tile 1 starts one index further, 10 slots on.",
    },
    answer=", ".join(str(slot) for slot in logical_divide(wide, "4:2").offsets()[4:8]),
)

# %% [markdown]
# `T` is the tiler, `T*` its complement. Both hold indices. In the result each column is a tile. Which colour is first in the row of 24,
# and which is second?

# %%
draw(wide, "divide", tiler="4:2", form="logical")

# %% [markdown]
# Slide the stride of the tiler. Find the one that deals the elements out like cards: neighbours go to different tiles, and each tile
# gets every sixth. Then try 5. Which slots are hatched?

# %%
explore(wide, "divide", tiler="4:2", form="logical")

# %% [markdown]
# **The rule.** `logical_divide`, written $\oslash$, is the layout after the pair `(T, T*)`. Mode 0 of the result walks inside a tile, mode
# 1 from tile to tile. An element keeps its slot: only its name has changed, from an index to (which element of the tile, which tile). A
# number `n` as tiler means `n:1`. Where the tiles do not come out even, the last ones stick out: that is section 7.
#
# $$ A \oslash T \;=\; A \circ (T,\, T^*), \qquad T^* = \text{complement}(T, \text{size}(A)) $$

# %%
print(explain("logical_divide", wide, "4:2"))
print("layoutviz", logical_divide(wide, 4), logical_divide(wide, "4:6"))

# %% needs="dsl"
@cute.jit
def divide_in_the_dsl():
    wide = cute.make_layout(24, stride=10)
    print("DSL", cute.logical_divide(wide, cute.make_layout(4)), cute.logical_divide(wide, cute.make_layout(4, stride=6)))


divide_in_the_dsl()

# %% [markdown]
# ## 3. Rows and columns, and four ways to write it
#
# A tuple cuts mode by mode, as in composition: `(2, 4)` cuts the rows by 2 and the columns by 4.

# %% jupyter={"source_hidden": true}
ask_cells(
    "(6,8):(8,1) is cut by (2, 4). Click the top left cell of tile 1.",
    A,
    offsets=[zipped_divide(A, (2, 4))((0, 0), 1)],
    why="There are 3 tiles downwards and 2 to the right. Tile 1 is the one below tile 0, since the first mode runs fastest.",
)

# %% [markdown]
# Left: where the tiles live. Right: the same slots as a table. What is a column of the table? And what is a row?

# %%
draw(A, "tiles", tiler=(2, 4))

# %% [markdown]
# A division can be written in four forms. Switch *form* and watch the last board: which numbers change, the shape's, the stride's, or
# only the brackets? In which form is row 1, column 3 of the tile at (2,0) the coordinate `(1,3,2,0)`?

# %%
explore(A, "divide", tiler=(2, 4), form="logical")

# %% [markdown]
# **The rule.** Each mode is divided by itself and gives (tile, rest). Then the parts are sorted:
#
# | form | modes | what it is for |
# | --- | --- | --- |
# | logical | `((tile0, rest0), (tile1, rest1))` | still a matrix: mode 0 is the rows |
# | zipped | `((tile0, tile1), (rest0, rest1))` | (which element, which tile): one tile is mode 0 |
# | tiled | `((tile0, tile1), rest0, rest1)` | a tile, and its place as two numbers |
# | flat | `(tile0, tile1, rest0, rest1)` | four numbers |
#
# $$ (A_0, A_1) \oslash (T_0, T_1) = (A_0 \oslash T_0,\; A_1 \oslash T_1) $$

# %%
from layoutviz.algebra import flat_divide, tiled_divide

for divide in (logical_divide, zipped_divide, tiled_divide, flat_divide):
    print("layoutviz", divide.__name__, divide(A, (2, 4)))

# %% needs="dsl"
@cute.jit
def four_forms_in_the_dsl():
    A = cute.make_layout((6, 8), stride=(8, 1))
    for divide in (cute.logical_divide, cute.zipped_divide, cute.tiled_divide, cute.flat_divide):
        print("DSL", divide.__name__, divide(A, (2, 4)))


four_forms_in_the_dsl()

# %% [markdown]
# ## 4. A shape or a layout as tiler
#
# Back to the bet. `Layout((2, 4))` is `(2,4):(1,2)`: 8 indices in a row.

# %% jupyter={"source_hidden": true}
ask_cells(
    "(6,8):(1,6) is cut by the layout (2,4):(1,2). Click the eight cells of tile 0.",
    columns_first,
    offsets=zipped_divide(columns_first, "(2,4):(1,2)").offsets()[:8],
    why="The tiler holds the indices 0 to 7, and an index runs down the columns: all of column 0 and the top of column 1.",
)

# %% [markdown]
# All six tiles. A tile has 8 elements, a column 6. Which tiles look alike, and why is it every third?

# %%
draw(columns_first, "tiles", tiler="(2,4):(1,2)")

# %% [markdown]
# A layout can cut rectangles all the same. Slide the second stride of the tiler until each tile has 2 rows and 4 columns. Which number
# is it, and what does it count?

# %%
explore(columns_first, "tiles", tiler="(2,4):(1,2)")

# %% [markdown]
# **The rule.** A tuple cuts each mode by itself. A layout cuts the whole, counted along one index: its strides are steps of the index.
# To go one column on, it must know the number of rows. So a tuple is what you mean nearly always, and it is the tiler of every GEMM
# from here on. The entries of a tuple may be layouts: `(Layout(2, 3), 4)` takes rows 0 and 3. Where the columns
# do not lie one behind the other, as in `(6,8):(8,1)`, no layout computes the division by `(2,4):(1,2)`, and both libraries say so.

# %%
big = Layout((12, 32))
print("layoutviz shape ", zipped_divide(big, (4, 8)))
print("layoutviz layout", zipped_divide(big, Layout((4, 8))))
print("layoutviz tuple of layouts", zipped_divide(A, (Layout(2, 3), 4)))

# %% needs="dsl"
@cute.jit
def tilers_in_the_dsl():
    big, A = cute.make_layout((12, 32)), cute.make_layout((6, 8), stride=(8, 1))
    print("DSL shape ", cute.zipped_divide(big, (4, 8)))
    print("DSL layout", cute.zipped_divide(big, cute.make_layout((4, 8))))
    print("DSL tuple of layouts", cute.zipped_divide(A, (cute.make_layout(2, stride=3), cute.make_layout(4))))


tilers_in_the_dsl()
print("DSL (6,8):(8,1) by (2,4):(1,2):", in_dsl("zipped_divide", A, "(2,4):(1,2)").text)

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 04.2 · Which cells are tile 1? ★
#
# Given: `A = (6,8):(8,1)`, cut by the tuple `(Layout(2, 3), 4)`. Wanted: `cells`, the eight cells of tile 1, each as a coordinate such
# as `(0, 0)`. Predict them. Run the cell as it is to click them on a board. Judged by the cells; their order does not count.

# %% exercise="04.2" tags=["exercise", "inline"]
### BEGIN SOLUTION
cells = [(i, j) for i in (1, 4) for j in range(4)]
### STARTER
# cells = ...
### END SOLUTION

# %% [markdown]
# ## 5. A product repeats
#
# Division cuts what is there. A **product** goes the other way: it repeats a small layout, a *block*, until there are as many copies as
# a second layout has elements.

# %% jupyter={"source_hidden": true}
block = Layout((2, 2), (2, 1))
ask_choice(
    "The block is (2,2):(2,1), a row-major 2 by 2. It is repeated 3 times downwards and 2 times to the right: 6 rows, 4 columns. "
    "In which slot is the cell (2,0)?",
    options={
        8: "That is a row-major matrix of 4 columns. But here each block keeps its own strides, and its 4 slots.",
        4: "It is the first cell of the second copy. The block fills 4 slots, so the next copy starts at 4.",
        2: "Slot 2 is taken: it is the cell (1,0) of the block itself.",
    },
    answer=blocked_product(block, Layout((3, 2)))(2, 0),
)

# %% [markdown]
# Where is the copy with slots 4 to 7, and where the one with 12 to 15? Which number of the tiler says so?

# %%
draw(block, "product", tiler="(3,2):(1,3)", form="blocked")

# %% [markdown]
# Change the tiler's strides so that the second copy in memory is the one to the right. Then set *form* to *raked*: where have the
# four cells of copy 0 gone?

# %%
explore(block, "product", tiler="(3,2):(1,3)", form="blocked")

# %% [markdown]
# **The rule.** The copies start where the complement of the block says, taken in the tiler's order. `logical_product`, written $\otimes$,
# gives (block, copies). A matrix needs rows and columns: `blocked_product` pairs the modes, so that mode 0 is (rows of the block, copies
# downwards). `raked_product` pairs them the other way round, (copies, rows): the copies are dealt out like cards.
#
# $$ B \otimes T = (B,\; B^* \circ T), \qquad B^* = \text{complement}(B,\; \text{size}(B) \cdot \text{cosize}(T)) $$
#
# The block-tiled storage of chapter 02 is a blocked product. Tiles in shared memory are made so from chapter 08 on. What a thread owns
# of a tile is often raked (chapter 07).

# %%
for product in (logical_product, blocked_product, raked_product):
    print("layoutviz", product.__name__, product(block, Layout((3, 2))))

# %% needs="dsl"
@cute.jit
def products_in_the_dsl():
    block, tiler = cute.make_layout((2, 2), stride=(2, 1)), cute.make_layout((3, 2))
    for product in (cute.logical_product, cute.blocked_product, cute.raked_product):
        print("DSL", product.__name__, product(block, tiler))


products_in_the_dsl()

# %% [markdown]
# ## 6. My tile, my share
#
# A thread block works on one tile. Each of its threads takes some elements of it. Both are slices of a division.

# %% jupyter={"source_hidden": true}
ask_choice(
    "(6,8):(8,1) is cut by (2, 4). The tile at (1,1) has the layout (2,4):(8,1). So has the tile at (0,0). What tells them apart?",
    options={
        "the strides": "One step down is 8 slots in every tile.",
        "the slot of the first element": "The layout is the same for all tiles. The tile at (1,1) starts 2 rows and 4 columns on.",
        "nothing": "Then both would be the same elements.",
    },
    answer="the slot of the first element" if local_tile(A, (2, 4), (1, 1)).offset != local_tile(A, (2, 4), (0, 0)).offset else "nothing",
)

# %% [markdown]
# `20 + (2,4):(8,1)` is a layout at a place. Point at a cell of the tile, and find it in `A`. The last board is what thread 5 gets
# if eight threads, laid out as `(2,4):(1,2)`, stand on every tile at the same spot. Where does it stand in the tile at (1,1)?

# %%
threads = Layout((2, 4))
tile, share = local_tile(A, (2, 4), (1, 1)), local_partition(A, threads, 5)
compare({"A": A, "tile (1,1)": tile, "thread 5": share}, caption="equal colours are equal slots.")

# %% [markdown]
# In the table a tile is a column, and a thread's share is a row. Find the row of thread 5; its coordinate stands beside it. Then
# make the tiler (3,2), so six threads: which slots does thread 5 get now?

# %%
explore(A, "tiles", tiler=(2, 4))

# %% [markdown]
# **The rule.** Divide, then fix one half. `local_tile(A, tiler, place)` fixes the tile and keeps the elements. `local_partition(A,
# threads, t)` fixes the element, the one where thread `t` stands, and keeps the tiles. What is left starts somewhere: so a piece is an
# **offset and a layout**. In layoutviz that is a `Tensor`. In the DSL it is one too: a pointer, moved by the offset, and a layout.
# Slicing a layout alone loses the offset.
#
# With $Z$ = `zipped_divide(A, tiler)`:
#
# $$ \text{local\_tile}(i) = Z(i,\; \text{place}) \qquad \text{local\_partition}(j) = Z(\text{spot of } t,\; j) $$

# %%
from layoutviz.algebra import slice_

zipped = zipped_divide(A, (2, 4))
print("layoutviz tile", tile, "=", slice_(zipped, ((None, None), (1, 1))))
print("layoutviz share of thread 5:", share, "; it stands at", threads.coordinate(5))

# %% needs="dsl"
import cutlass


@cute.jit
def pieces_in_the_dsl():
    A = cute.make_tensor(0, cute.make_layout((6, 8), stride=(8, 1)))
    threads = cute.make_layout((2, 4))
    print("DSL tile", cute.local_tile(A, (2, 4), (1, 1)), " share", cute.local_partition(A, threads, cutlass.Int32(5)))
    print("DSL a slice of the layout alone:", cute.slice_(cute.zipped_divide(A.layout, (2, 4)), ((None, None), (1, 1))))


pieces_in_the_dsl()

# %% [markdown]
# ## 7. Ragged edges
#
# A matrix of 5 rows and 7 columns, tiles of 2 by 4. The last tiles hang over the edge.

# %% jupyter={"source_hidden": true}
ragged = Layout((5, 7), (7, 1))
ask_choice(
    "The matrix is (5,7):(7,1). A thread asks for (0,7), one column past the edge. What does it read?",
    options={
        "nothing: the GPU stops it": "A GPU knows no matrices. It stops at best where memory ends, and this slot is inside.",
        "a slot behind the matrix": f"The last slot is {ragged(4, 6)}. How far is 0*7 + 7*1?",
        "the element (1,0)": "0*7 + 7*1 is slot 7, where row 1 begins. Nothing is reported. The sum is wrong.",
    },
    answer="the element (1,0)" if ragged(1, 0) == 0 * 7 + 7 * 1 else "a slot behind the matrix",
)

# %% [markdown]
# The hatched slots are outside, with the offset that a thread would reach. Which of them are somebody else's elements, and which are
# behind the memory?

# %%
draw(ragged, "tiles", tiler=(2, 4))

# %% [markdown]
# Slide the tiler. Which tile of at least two elements fits? Which makes more slots outside than inside?

# %%
explore(ragged, "tiles", tiler=(2, 4))

# %% [markdown]
# **The rule.** A division rounds up: 24 elements by 5 give `(5,5):(1,5)`, 25 slots. The layout of a tile cannot tell which of its slots
# are real, since each tile has the same. So one cuts a second thing in the same way: a **coordinate tensor**, which holds at each
# coordinate that coordinate itself. A thread finds in its share of it where it stands in the *matrix*, and compares that with the
# matrix's shape. This test is the **predicate**: read and write only if it holds.
#
# $$ \text{ceil\_div}(a, b) = \lfloor (a + b - 1) / b \rfloor \qquad i < M \;\text{and}\; j < N $$
#
# A layout with strides `(1,0)` counts rows, one with `(0,1)` columns. The two together are a coordinate tensor.

# %%
print("layoutviz", zipped_divide(24, 5), zipped_divide(ragged, (2, 4)))
rows, columns = (local_tile(Layout((5, 7), stride), (2, 4), (2, 1)) for stride in ((1, 0), (0, 1)))
for i, j in zip(rows.offsets().tolist(), columns.offsets().tolist(), strict=True):
    print(f"({i},{j})", "inside" if i < 5 and j < 7 else "outside", end="  ")

# %% [markdown]
# In the DSL the coordinate tensor is `make_identity_tensor`. Its strides are `1@0` and `1@1`: one step in mode 0 of the coordinate, one
# in mode 1. In a kernel `elem_less(coordinate, shape)` is the predicate. What it says is known only when the kernel runs.

# %% needs="dsl"
@cute.jit
def coordinates_in_the_dsl():
    tile = cute.local_tile(cute.make_identity_tensor((5, 7)), (2, 4), (2, 1))
    print("DSL", cute.zipped_divide(cute.make_layout(24), cute.make_layout(5)), tile)
    for i in cutlass.range_constexpr(cute.size(tile)):
        print(tile[i], end="  ")


coordinates_in_the_dsl()

# %% [markdown]
# ## On the GPU
#
# In the kernels so far each thread fetched all its numbers from global memory. Each element of `A` was fetched `N` times. Now a thread
# block of 256 threads brings a tile of `A` and one of `B` into *shared memory*, which is near and fast, and computes 64 by 64 elements
# of `C` from them. Look for what you know:
#
# - `local_tile(..., (block_m, None))` in the kernel: the tiles of this thread block; `None` keeps the tiles along `K`, for the loop.
# - `make_identity_tensor`, cut by the same tiler: where each element stands in the matrix.
# - `local_partition` in `load_tile`: what a thread copies, of the matrix, of the coordinates, and of shared memory.
# - `elem_less`: outside is not read. A zero is put there, and adds nothing.
# - `local_partition(sA, ..., proj=(1, None))`: only the rows are dealt out to the threads; each keeps all columns.

# %% include="ladder/tiled.py" needs="dsl"
from ladder.tiled import tiled_gemm

# %% [markdown]
# `A` is 200 by 72 below, its tiles 64 by 16. How many elements of its last tile are real? Guess, then run.

# %%
M, K, tile, threads = 200, 72, (64, 16), Layout((16, 16))
last = (-(-M // 64) - 1, -(-K // 16) - 1)  # -(-a // b) is ceil_div(a, b)
i = local_tile(Layout((M, K), (1, 0)), tile, last)  # the row in the matrix of each element of the last tile
j = local_tile(Layout((M, K), (0, 1)), tile, last)  # and its column


def real(i, j):
    """For each element whether it is in the matrix: the predicate."""
    return (i.offsets() < M) & (j.offsets() < K)


shares = [real(local_partition(i, threads, t), local_partition(j, threads, t)) for t in range(threads.size)]
print(f"tile {last}: {real(i, j).sum()} of its {i.size} elements are in the matrix")
print(f"thread 17: {shares[17].sum()} of its {shares[17].size}; {sum(not share.any() for share in shares)} of {threads.size} threads: none")

# %% [markdown]
# Without the predicate the rest would be read all the same: some of it from the next rows of `A`, some from behind its memory. Now the
# kernel, at sizes that no tile divides.

# %% needs="dsl"
from ladder import harness

look = "NT is the fastest: there neighbouring threads fetch neighbours of A and of B (chapter 07)"
checks = harness.gemm_through_layouts(tiled_gemm, harness.operand_pairs, time_mnk=(2000, 1496, 1000), chapter="04", look=look)

# %% [markdown]
# Change a layout. In `tiled_gemm` the tiles in shared memory are column-major, `make_layout((TILE_M, TILE_K))`. Make them row-major, with
# `stride=(TILE_K, 1)`, and run the cells from there on again. Is the result still right? On a GPU: is it faster or slower?
# (A thread walks along `K`. Row-major, its numbers lie side by side, and one load brings eight. Chapter 05 says what else counts.)

# %% [markdown]
# One idea: fetch once, use 64 times. Guess: is this half of cuBLAS's speed, a tenth, or a fiftieth?

# %%
from ladder.thermometer import thermometer

thermometer("tiled")

# %% [markdown]
# ## Common mistakes
#
# - **A layout for a shape.** `Layout((4, 8))` as tiler cuts 32 elements along the index, not 4 rows and 8 columns.
# - **The offset lost.** A tile is an offset and a layout. All tiles have the same layout.
# - **Rounding down.** `M // 64` blocks leave the last rows out. It is `ceil_div`.
# - **The wrong coordinate tested.** The predicate compares where an element stands in the matrix, not in its tile.
# - **"It did not crash."** Past the end of a row lies the next row. Check the numbers.
# - **A division drawn flat.** In zipped form column `j` is tile `j`, a list of its elements. It is no picture of the matrix.
#
# ## In short
#
# - Complement: where copies start, so that together they fill `n` slots once.
# - To divide by `T` is `A o (T, T*)`: (in the tile, which tile). A tuple works by mode, a layout along the index.
# - Logical, zipped, tiled, flat: the same strides, other brackets.
# - A product is `(B, B* o T)`. Blocked puts copies side by side, raked deals them out.
# - `local_tile` fixes the tile, `local_partition` the spot of a thread. Both are an offset and a layout.
# - Division rounds up. Cut the coordinates in the same way, and test them against the matrix.
#
# **The way on.** The tile lies in shared memory now, and how it lies decides how fast it is read. That is chapter 05.

# %% [markdown] tags=["exercise"]
# ### Exercise 04.3 · Every second row ★★
#
# Given: `A = (8,12):(12,1)`. Wanted: `tiler`, so that tile 0 has rows 0, 2, 4 and 6 and columns 0 to 3, tile 1 the same columns of rows
# 1, 3, 5 and 7, and so on. In a tile the rows come first: its element 1 is row 2 of column 0. Judged by the tiles that it cuts.

# %% exercise="04.3" tags=["exercise"]
### BEGIN SOLUTION
tiler = (Layout(4, 2), 4)
### STARTER
# tiler = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 04.4 · What thread 5 fetches ★★
#
# Given: `A = (24,20):(20,1)`, cut into tiles of `(8, 10)`. A thread block has the tile at `(2,1)`. Its eight threads, laid out
# as `(4,2):(1,4)`, share it: each stands on one spot of every 4 by 2 part of the tile. Wanted: `share`, what thread 5 gets of this tile:
# an offset and a layout, as `Tensor(layout, offset)`. Do it by hand first. Judged by the shape and by the slot of every element.

# %% exercise="04.4" tags=["exercise"]
### BEGIN SOLUTION
share = Tensor(Layout((2, 5), (80, 2)), (16 * 20 + 10) + (1 * 20 + 1))
### STARTER
# share = Tensor(Layout(..., ...), ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 04.5 · Mend a predicate ★★
#
# Given: a matrix of shape `(M, N)`, cut into tiles of `tile = (rows, columns)`, and the `place` of one of them, such as `(2, 1)`. A
# colleague's function counts the elements of that tile that may be read. It is right for the first tiles and wrong at the edge. Wanted:
# `inside(shape, tile, place)`, mended. Judged on new random sizes, by the number.

# %% exercise="04.5" tags=["exercise"]
### BEGIN SOLUTION
def inside(shape, tile, place):
    count = 0
    for i in range(tile[0]):
        for j in range(tile[1]):
            if place[0] * tile[0] + i < shape[0] and place[1] * tile[1] + j < shape[1]:
                count += 1
    return count
### STARTER
# # the colleague's test: if i < shape[0] and j < shape[1]
# def inside(shape, tile, place):
#     count = 0
#     for i in range(tile[0]):
#         for j in range(tile[1]):
#             if ...:
#                 count += 1
#     return count
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 04.6 · Choose a tile ★★
#
# Given: `C` has 200 rows and 136 columns. Tiles of 64 by 64 need 4 by 3 of them. That is 49,152 slots for 27,200 elements: nearly
# half of the work is for nothing. Wanted: `tile`, a pair (rows, columns), both multiples of 8, with 1,024 to 4,096 elements, so that at
# most a tenth of all slots lies outside `C`. There are several. Judged by these four conditions.

# %% exercise="04.6" tags=["exercise"]
### BEGIN SOLUTION
tile = (40, 72)
### STARTER
# tile = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 04.7 · A tile in blocks of 8 by 8 ★★★
#
# Tensor cores (chapter 08) read shared memory in blocks of 8 rows and 8 columns whose 64 elements lie in 64 slots in a row, each block
# row-major. Wanted: a function `tile_layout(rows, columns)` that gives such a layout for a tile of `rows` by `columns`, both multiples of
# 8. Together the blocks fill the slots from 0 on, without gaps; their order is yours.
#
# Judged first by that law, for new random sizes. If it holds, the lesson's kernel runs with `tile_layout(64, 16)` for its tiles of
# `A` and `B` in shared memory, and is checked against cuBLAS. Without a GPU the kernel is only compiled, and the verdict says so. This
# cell runs by itself: it knows the notebook's first code cell, and none of your other cells.

# %% exercise="04.7" tags=["exercise"]
### BEGIN SOLUTION
def tile_layout(rows, columns):
    return blocked_product(Layout((8, 8), (8, 1)), Layout((rows // 8, columns // 8)))
### STARTER
# def tile_layout(rows, columns):
#     return ...
### END SOLUTION
