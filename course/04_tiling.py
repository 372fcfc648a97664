# %% [markdown]
# # 04 · Tiling
#
# After this lesson you can cut a layout into tiles and repeat a small one. You can give each thread block its tile and each thread its
# share, also where the tile does not divide the matrix. Then you run the first GEMM that shares what it fetches. Sixty minutes; guess
# first, read second.

# %% tags=["setup"]
import warnings

from exercises import ask_cells, ask_choice
from layoutviz import Layout, RaggedWarning, Tensor, compare, complement, composition, draw, explain, explore, same_function
from layoutviz.algebra import blocked_product, local_partition, local_tile, logical_divide, logical_product, raked_product, zipped_divide

warnings.simplefilter("ignore", RaggedWarning)  # it says that tiles stick out of a matrix; so do the boards of section 7

# %% [markdown]
# ## A bet, and two questions
#
# First a bet.

# %% jupyter={"source_hidden": true}
columns_first = Layout((6, 8))
ask_choice(
    "A has 6 rows and 8 columns. One line of a kernel cuts it by (2, 4), another by Layout((2, 4)). Are the tiles the same?",
    options={
        "yes": "The numbers are the same, but one is a tuple and one is a layout. Section 4 shows what the layout cuts.",
        "no": "The first cuts rectangles. Section 4 shows what the second one cuts.",
    },
    answer="yes" if same_function(zipped_divide(columns_first, (2, 4)), zipped_divide(columns_first, Layout((2, 4)))) else "no",
)

# %% [markdown]
# The two questions are for section 3: tiles are counted as cells are, and a tile is a composition.

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
# A tile takes some slots. Copies of it must take all the others.

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
# The colour says which copy covers a slot, its label which two numbers add up to it. Which number of `R` starts the copy
# that fills A's own gaps?

# %%
draw("4:2", "complement", cotarget=24)

# %% [markdown]
# Slide the stride of `A` from 1 to 6. For two strides `R` has a single mode: which, and what do the copies look like there? (At 4 and 5
# the copies reach past slot 23; those slots are hatched.)

# %%
explore("4:2", "complement", cotarget=24)

# %% [markdown]
# **The rule.** `R` is the **complement** of `A` up to `n`, the **cotarget**: the layout of where copies of `A` start, in rising order, so
# that `A` and its copies fill the first `n` slots where they can, none twice. Take the modes of `A` by rising stride. Say `f` slots are
# full so far, at first 1. If the next stride `d` is larger, `R` gets the mode `d/f : f`. With this mode of `A`, extent times `d` slots
# are full: that is the new `f`. At the end `R` gets what is missing up to `n`, `n/f : f`, with `n/f` rounded up. (If `d` is no multiple
# of `f`, slots stay free that no copy fits, as with `(2,2):(1,3)`.) If all these divide evenly:
#
# $$ (i, j) \mapsto A(i) + R(j) \quad\text{takes each of } 0, \dots, n-1 \text{ once} $$

# %%
print("layoutviz", complement("4:1", 24), complement("4:2", 24), complement("4:6", 24))
print(explain("complement", "(2,2):(2,12)", 48))

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def complement_in_the_dsl():
    for stride in (1, 2, 6):
        print("DSL", cute.complement(cute.make_layout(4, stride=stride), 24))


complement_in_the_dsl()

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
# A **tiler** says, by index, which elements make the first tile. The complement says where the others are.

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
# `T` is the tiler, `T*` its complement. Both hold indices. In the result each column is a tile. Where in the row of 24 do the four
# cells of tile 1 lie?

# %%
draw(wide, "divide", tiler="4:2", form="logical")

# %% [markdown]
# Find the tiler's stride with which each tile gets every sixth element. Then try 5: which slots are hatched?

# %%
explore(wide, "divide", tiler="4:2", form="logical")

# %% [markdown]
# **The rule.** `logical_divide`, written $\oslash$, is the layout after the pair `(T, T*)`. Mode 0 of the result walks inside a tile, mode
# 1 from tile to tile. An element keeps its slot: only its name has changed, from an index to (position in the tile, tile). A number `n` as
# tiler means `n:1`.
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
# What is a column of the table, and what is a row?

# %%
draw(A, "tiles", tiler=(2, 4))

# %% [markdown]
# A division has four forms. Switch *form*. From logical to zipped, what changes in the title: the numbers, their order, or only the
# parentheses? And from zipped to flat? Flat shows one small board for each tile: `at (:,:,2,0)` is the tile at (2,0). Where is the
# coordinate `(1,3,2,0)`?

# %%
explore(A, "divide", tiler=(2, 4), form="logical")

# %% [markdown]
# **The rule.** Each mode is divided by itself and gives (position, tile), as in chapter 02. CuTe's manual calls them (tile, rest). Then
# they are sorted:
#
# | form | modes | what it is for |
# | --- | --- | --- |
# | logical | `((position0, tile0), (position1, tile1))` | still a matrix: mode 0 is the rows |
# | zipped | `((position0, position1), (tile0, tile1))` | mode 0 walks through a tile, mode 1 from tile to tile |
# | tiled | `((position0, position1), tile0, tile1)` | which tile is two numbers |
# | flat | `(position0, position1, tile0, tile1)` | four numbers |
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
# ## 4. A tuple or a layout as tiler
#
# Back to the bet. `Layout((2, 4))` is `(2,4):(1,2)`.

# %% jupyter={"source_hidden": true}
ask_cells(
    "(6,8):(1,6) is cut by the layout (2,4):(1,2). Click the eight cells of tile 0.",
    columns_first,
    offsets=zipped_divide(columns_first, "(2,4):(1,2)").offsets()[:8],
    why="The tiler holds the indices 0 to 7, and an index runs down the columns: all of column 0 and the top of column 1.",
)

# %% [markdown]
# A tile has 8 elements, a column 6. Which tiles look alike, and why every third?

# %%
draw(columns_first, "tiles", tiler="(2,4):(1,2)")

# %% [markdown]
# A layout can cut rectangles too. Slide the tiler's second stride until each tile has 2 rows and 4 columns side by side. Which number is
# it, and what does it count? Then write `(6,8):(8,1)` into *layout*. Does that number still cut rectangles, though it is no stride of
# `A`?

# %%
explore(columns_first, "tiles", tiler="(2,4):(1,2)")

# %% [markdown]
# The entries of a tuple may be layouts: `(Layout(3, 2), 4)` takes rows 0, 2 and 4. Which rows have tiles 1 and 2?

# %%
draw(A, "tiles", tiler=(Layout(3, 2), 4))

# %% [markdown]
# **The rule.** A tuple cuts each mode by itself. A layout cuts the whole, counted along one index: its strides are steps of the index. To
# step one column on, a layout must know the number of rows. You nearly always mean a tuple, as in every GEMM from here on.

# %%
big = Layout((12, 32))
print("layoutviz tuple ", zipped_divide(big, (4, 8)))
print("layoutviz layout", zipped_divide(big, Layout((4, 8))))
print("layoutviz tuple of layouts", zipped_divide(A, (Layout(3, 2), 4)))

# %% needs="dsl"
@cute.jit
def tilers_in_the_dsl():
    big, A = cute.make_layout((12, 32)), cute.make_layout((6, 8), stride=(8, 1))
    print("DSL tuple ", cute.zipped_divide(big, (4, 8)))
    print("DSL layout", cute.zipped_divide(big, cute.make_layout((4, 8))))
    print("DSL tuple of layouts", cute.zipped_divide(A, (cute.make_layout(3, stride=2), cute.make_layout(4))))


tilers_in_the_dsl()

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
# A **product** repeats a small layout, a *block*: one copy for each element of a second layout. This second layout is called tiler too,
# but it does not cut: it says in which order the copies lie.

# %% jupyter={"source_hidden": true}
block = Layout((2, 2), (2, 1))
ask_choice(
    "The block is (2,2):(2,1), a row-major 2 by 2. It is repeated 3 times downwards and 2 times to the right: 6 rows, 4 columns. "
    "In memory the copies follow each other downwards first. In which slot is the cell (2,0)?",
    options={
        8: "That is the third copy, or a row-major matrix. The second copy is right below the first.",
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
# downwards). `raked_product` pairs them the other way round, (copies, rows): the copies are dealt out like playing cards.
#
# $$ B \otimes T = (B,\; B^* \circ T), \qquad B^* = \text{complement}(B,\; \text{size}(B) \cdot \text{cosize}(T)) $$
#
# The block-tiled storage of chapter 02 is a blocked product, and so are tiles in shared memory from chapter 08 on. What a thread owns of
# a tile is often raked (chapter 07).

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
# A thread block works on one tile. What each of its threads takes of it is that thread's **share**.

# %% jupyter={"source_hidden": true}
ask_choice(
    "(6,8):(8,1) is cut by (2, 4). In which slot does the tile at (1,1) start?",
    options={
        9: "There is the element (1,1). But here (1,1) counts tiles.",
        12: "That is one row down and one tile to the right. One tile down is two rows.",
        20: "Two rows down and four columns to the right: 2*8 + 4*1. From there on, its layout is (2,4):(8,1), as in every tile.",
    },
    answer=local_tile(A, (2, 4), (1, 1)).offset,
)

# %% [markdown]
# `20 + (2,4):(8,1)` is that tile: an offset and a layout. Point at one of its cells, and find it in `A`. To keep the last board small,
# take the whole of `A` for one tile. Its eight threads, laid out as `(2,4):(1,2)`, stand on every 2 by 4 rectangle of it. At which
# position of each rectangle does thread 5 stand?

# %%
threads = Layout((2, 4))
tile, share = local_tile(A, (2, 4), (1, 1)), local_partition(A, threads, 5)
compare({"A": A, "tile (1,1)": tile, "thread 5": share}, caption="equal colours are equal slots.")

# %% [markdown]
# In the table a tile (or rectangle) is a column, and a thread's share is a row. Thread 5 has the sixth row: `threads` holds 5 at (1,2).
# Then make the tiler (3,2), for six threads `(3,2):(1,3)`: which slots does thread 5 get now?

# %%
explore(A, "tiles", tiler=(2, 4))

# %% [markdown]
# **The rule.** Divide, then fix one half of the coordinate. `local_tile(A, tiler, place)` fixes which tile, by its **place**, and keeps
# the positions. `local_partition(A, threads, t)` cuts by the shape of `threads`, fixes the position, the coordinate where `threads` holds
# `t`, and keeps the rectangles. What is left is an **offset and a layout**: in layoutviz a `Tensor`, in the DSL a tensor whose pointer
# has moved by the offset.
#
# With $Z$ = `zipped_divide(A, tiler)`; for `local_partition` the tiler is the shape of `threads`:
#
# $$ \text{local\_tile}(i) = Z(i,\; \text{place}) \qquad \text{local\_partition}(j) = Z(\text{position of } t,\; j) $$

# %%
by_rows = Layout((2, 4), (4, 1))
print("layoutviz tile", tile, " share of thread 5:", share)
print("layoutviz share of thread 5 of six threads, slot by slot:", *local_partition(A, Layout((3, 2)), 5).offsets())
print("layoutviz share of thread 5 if the threads are", by_rows, "and so 5 is at (1,1):", local_partition(A, by_rows, 5))

# %% [markdown]
# The `o` that the DSL writes between the pointer and the layout is no composition. `slice_` keeps what is `None` and fixes the rest: of a
# layout alone it loses the offset.

# %% needs="dsl"
import cutlass


@cute.jit
def pieces_in_the_dsl():
    A = cute.make_tensor(0, cute.make_layout((6, 8), stride=(8, 1)))
    threads = cute.make_layout((2, 4))
    t = cutlass.Int32(5)  # a thread's number is an Int32 in a kernel; a plain 5 is refused
    print("DSL tile", cute.local_tile(A, (2, 4), (1, 1)), " share of thread 5:", cute.local_partition(A, threads, t))
    print("DSL a slice of the layout alone:", cute.slice_(cute.zipped_divide(A.layout, (2, 4)), ((None, None), (1, 1))))


pieces_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 04.4 · What thread 5 fetches ★★
#
# Given: `A = (24,20):(20,1)`, cut into tiles of `(8, 10)`. A thread block has the tile at `(2,1)`. Its eight threads, laid out as
# `(4,2):(1,4)`, share it: each stands at one position of every 4 by 2 rectangle of the tile. Wanted: `share`, what thread 5 gets of this
# tile: an offset and a layout of two modes, from rectangle to rectangle downwards and to the right, as `Tensor(layout, offset)`. Do it by
# hand first. Judged by the shape and by every element's slot.

# %% exercise="04.4" tags=["exercise", "inline"]
### BEGIN SOLUTION
share = Tensor(Layout((2, 5), (80, 2)), (16 * 20 + 10) + (1 * 20 + 1))
### STARTER
# share = Tensor(Layout(..., ...), ...)
### END SOLUTION

# %% [markdown]
# ## 7. Ragged edges
#
# A matrix of 5 rows and 7 columns, tiles of 2 by 4. The last tiles reach over the edge.

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
# Three by two tiles have 6 rows and 8 columns. The hatched slots are outside, with the offset that a thread would reach. Which are
# somebody else's elements, and which are behind the memory?

# %%
draw(ragged, "divide", tiler=(2, 4), form="logical")

# %% [markdown]
# Slide the tiler. Which three tiles of at least two elements leave no slot outside? Then set it to (4,3): are there more slots inside or
# outside?

# %%
explore(ragged, "tiles", tiler=(2, 4))

# %% [markdown]
# **The rule.** Only `(1,7)`, `(5,1)` and `(5,7)` fit, since 5 and 7 are prime. Otherwise a division rounds up: 24 elements by 5 give
# `(5,5):(1,5)`, 25 slots. The layout of a tile cannot tell which of its slots are real, since each tile has the same. A layout with
# strides `(1,0)` counts rows, one with `(0,1)` columns. The two together are a **coordinate tensor**: it holds at each coordinate that
# coordinate itself. Cut in the same way, it tells a thread where an element of its share stands in the *matrix*. That must lie within the
# matrix's shape. This test is the **predicate**: read and write only if it holds.
#
# $$ \text{ceil\_div}(a, b) = \lfloor (a + b - 1) / b \rfloor \qquad i < M \;\text{and}\; j < N $$

# %%
print("layoutviz", zipped_divide(24, 5), zipped_divide(ragged, (2, 4)))
rows, columns = (local_tile(Layout((5, 7), stride), (2, 4), (2, 1)) for stride in ((1, 0), (0, 1)))
for i, j in zip(rows.offsets().tolist(), columns.offsets().tolist(), strict=True):
    print(f"({i},{j})", "inside" if i < 5 and j < 7 else "outside", end="  ")

# %% [markdown]
# In the DSL the coordinate tensor is `make_identity_tensor`, with strides `1@0` and `1@1`: one step in mode 0 of the coordinate, one in
# mode 1. `elem_less(coordinate, shape)` is the predicate.

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
# In the kernels so far each element of `A` was fetched `N` times. Now a block of 256 threads brings a tile of `A` and one of `B` into
# *shared memory*, near and fast, and computes 64 by 64 elements of `C` from them. Look for:
#
# - `local_tile(..., (block_m, None))` in the kernel: the tiles of this thread block; `None` keeps the tiles along `K`, for the loop.
# - `make_identity_tensor`, cut by the same tiler: where each element stands in the matrix.
# - `local_partition` in `load_tile`: what a thread copies, of the matrix, of the coordinates, and of shared memory.
# - `elem_less`: outside is not read. A zero is put there, and adds nothing.
# - `local_partition(sA, ..., proj=(1, None))`: of a thread's coordinate only the row counts, `1`; all columns are kept, `None`.

# %% include="ladder/tiled.py" needs="dsl"
from ladder.tiled import tiled_gemm

# %% [markdown]
# `A` is 200 by 72 below, its tiles 64 by 16. How many elements of its last tile are real?

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
# Without the predicate the rest would be read all the same. Now the kernel, at sizes that no tile divides.

# %% needs="dsl"
from ladder import harness

look = "is NT the fastest? There neighbouring threads fetch neighbours of A and of B (chapter 07)"
sizes, loops = {"time_mnk": (2000, 1496, 1000)}, "chapter 01's loops, not this kernel"
checks = harness.gemm_through_layouts(tiled_gemm, harness.operand_pairs, **sizes, chapter="04", look=look, loops=loops)

# %% [markdown]
# Without a GPU the line SASS counts the loads in the kernel's code. A tile of `A` has 64·16 elements, and there are 256 threads. Why 8
# loads from global memory?
#
# Change a layout. `by_columns` makes the tiles in shared memory column-major. Make them row-major, with `stride=(TILE_K, 1)`, and run the
# cells from there on again. How many loads from shared memory before, how many after? On a GPU: is the result still right, and is it
# faster? (A thread walks along `K`.)

# %% [markdown]
# One idea: fetch once, use 64 times. The product above is small. For 4096 by 4096 matrices cuBLAS is further ahead. Guess: does this
# kernel reach a tenth of its speed, a twentieth, or a fiftieth?

# %%
from ladder.thermometer import thermometer

figure = thermometer("tiled")
print(f"{figure.rows['tiled']['tflops'] / figure.rows['naive']['tflops']:.0f} times as fast as the kernel of chapter 01")
figure

# %% [markdown]
# ## Common mistakes
#
# - **A layout for a tuple.** `Layout((4, 8))` as tiler cuts 32 elements along the index, not 4 rows and 8 columns.
# - **A layout that uses a slot twice.** `(2,2):(1,1)` has no complement. The DSL (4.8.1) gives `(0,12):(2,2)` up to 24, which has no
#   elements, and no error.
# - **Rounding down.** `M // 64` thread blocks leave the last rows out. It is `ceil_div`.
#
# ## In short
#
# - Complement: where copies start, so that together they fill `n` slots, none twice.
# - To divide by `T` is `A o (T, T*)`: (position in the tile, tile).
# - Logical, zipped, tiled, flat: the same numbers in four forms.
# - A product is `(B, B* o T)`. Blocked puts copies side by side, raked deals them out.
# - `local_tile` fixes the tile, `local_partition` the position of a thread. Both give an offset and a layout.
# - Division rounds up. Cut the coordinates in the same way, and test them against the matrix.
#
# **The way on.** The tile lies in shared memory now, and how it lies decides how fast it is read. Exercises 04.3 and 04.5 to 04.8 stand
# in this chapter's notebook of exercises. Next: [05 · Swizzle](05_swizzle.ipynb).

# %% [markdown] tags=["exercise"]
# ### Exercise 04.3 · Rows in pairs ★★
#
# Given: `A = (8,12):(12,1)`. Wanted: `tiler`, so that tile 0 has rows 0, 1, 4 and 5 and columns 0, 3, 6 and 9, tile 1 the same columns of
# rows 2, 3, 6 and 7, and so on. In a tile the rows come first: its element 1 is row 1 of column 0. Judged by the tiles that it cuts.

# %% exercise="04.3" tags=["exercise"]
### BEGIN SOLUTION
tiler = (Layout((2, 2), (1, 4)), Layout(4, 3))
### STARTER
# tiler = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 04.5 · Mend a predicate ★★
#
# Given: a matrix of shape `(M, N)`, cut into tiles of `tile = (rows, columns)`; the `place` of one of them, such as `(2, 1)`; and
# `threads`, the column-major layout of the threads that share it. A colleague's function counts the elements of thread `t`'s share of
# that tile that may be read. It is right for each tile that lies wholly inside the matrix, and can be wrong for one that sticks out.
# Wanted: `inside(shape, tile, place, threads, t)`, with the one line mended. Judged on new random sizes, by the number.

# %% exercise="04.5" tags=["exercise"]
### BEGIN SOLUTION
def inside(shape, tile, place, threads, t):
    i, j = (local_partition(local_tile(Layout(shape, strides), tile, place), threads, t) for strides in ((1, 0), (0, 1)))
    return int(((i.offsets() < shape[0]) & (j.offsets() < shape[1])).sum())
### STARTER
# # the colleague's line: i, j = (local_partition(Layout(tile, strides), threads, t) for strides in ((1, 0), (0, 1)))
# def inside(shape, tile, place, threads, t):
#     i, j = ..., ...  # for each element of the share: its row in the matrix, its column in the matrix
#     return int(((i.offsets() < shape[0]) & (j.offsets() < shape[1])).sum())
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 04.6 · Choose a tile ★★
#
# Given: `C` has 264 rows and 216 columns. Tiles of 64 by 64 need 5 by 4 of them. That is 81,920 slots for 57,024 elements: nearly
# a third of the work is for nothing. Wanted: `tile`, a pair (rows, columns), both multiples of 8 and at least 32 (a thin tile fetches
# more for each product), with at most 4,096 elements, so that at most a tenth of all slots lies outside `C`. And `outside`, the number
# of those slots. There are several answers. Judged by these conditions, then by the number.

# %% exercise="04.6" tags=["exercise"]
### BEGIN SOLUTION
tile = (88, 32)
outside = 3 * 88 * 7 * 32 - 264 * 216
### STARTER
# tile = ...
# outside = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 04.7 · A tile in blocks of 8 by 8 ★★
#
# Hopper's tensor cores can read shared memory in blocks of 8 rows and 8 columns whose 64 elements lie in 64 consecutive slots, each block
# row-major (chapter 10). Wanted: a function `tile_layout(rows, columns)` that gives such a `Layout`, plain shape and strides, for a tile
# of `rows` by `columns`, both multiples of 8. Together the blocks fill the slots from 0 on, without gaps; their order is yours.
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

# %% [markdown] tags=["exercise"]
# ### Exercise 04.8 · Which block, which tiler? ★★★
#
# Given: `((4,2),(2,3)):((12,3),(6,1))`, 8 rows and 6 columns. Somebody made it with `raked_product`, and lost the two layouts from
# which it was made. Wanted: `block` and `tiler`, so that `raked_product(block, tiler)` is the given layout. Judged by that product: its
# shape and the slot of every element.

# %% exercise="04.8" tags=["exercise"]
### BEGIN SOLUTION
block = Layout((2, 3), (3, 1))
tiler = Layout((4, 2), (2, 1))
### STARTER
# block = ...
# tiler = ...
### END SOLUTION
