# %% [markdown]
# # 02 · Nested layouts
#
# After this lesson you can read and write layouts whose modes have modes inside, name a cell in three ways, and store a matrix tile
# by tile. The kernel of chapter 01 then reads it without knowing. Forty-five minutes; guess first, read second.

# %% tags=["setup"]
from exercises import ask_cells, ask_choice
from layoutviz import Layout, LayoutError, compare, draw, explore, same_function
from layoutviz.views.memory_strip import memory_strip

# %% [markdown]
# Two quick questions from chapter 01. The first is for section 1, where one step is no longer enough. The second is for section 2,
# where the index gets a second name.

# %% jupyter={"source_hidden": true}
A = Layout((4, 6), (6, 1))
ask_choice(
    "The layout is (4,6):(6,1). How far in memory is it from (0,2) down to (1,2), and how far from (1,2) down to (2,2)?",
    options={
        "6 and 6": "A mode has one stride: each step down moves as far as any other.",
        "6 and 12": "12 is how far (2,2) is from (0,2), two steps up.",
        "1 and 1": "That is a step to the right. The first stride is the step down.",
    },
    answer=f"{A(1, 2) - A(0, 2)} and {A(2, 2) - A(1, 2)}",
)

# %% jupyter={"source_hidden": true}
ask_choice(
    "The layout is (4,4):(4,1). Which offset has index 6?",
    options={
        6: "An index counts cells, and this layout does not store them in the order in which they are counted.",
        9: "Index 6 is coordinate (2,1), down the first column and two cells down the next: 2*4 + 1*1.",
        24: "Six steps down would be 24, but a column has only 4 cells.",
    },
    answer=Layout("(4,4):(4,1)")(6),
)

# %% [markdown]
# ## 1. One stride is not enough
#
# Fast kernels often store a matrix block by block. Here is one, in blocks of 2 by 2. Each number is an offset.

# %% jupyter={"source_hidden": true}
blocks = Layout(((2, 2), (2, 2)), ((1, 4), (2, 8)))
draw(blocks, title="4 rows, 4 columns", caption="The block at the top left has slots 0 to 3, the one below it slots 4 to 7.")

# %% jupyter={"source_hidden": true}
flat = [f"(4,4):({d},{e})" for d in range(17) for e in range(17) if same_function(Layout((4, 4), (d, e)), blocks)]
ask_choice(
    "Which layout has these offsets?",
    options={
        "(4,4):(1,2)": "Then (2,0) would be at 2*1 + 0*2 = 2. On the board it is at 4.",
        "(4,4):(1,4)": "Then (0,1) would be at 0*1 + 1*4 = 4. On the board it is at 2.",
        "no (4,4):(a,b)": "Down column 0 the steps are 1, 3, 1. A stride is one number, and makes equal steps.",
    },
    answer=flat[0] if flat else "no (4,4):(a,b)",
)

# %% [markdown]
# The way out: count rows with *two* numbers, the row inside its block and the block. Do the same for columns. Each cell here shows its
# four numbers, `((row in block, block), (column in block, block))`. Point at a cell for its offset.

# %%
draw(blocks, label="coordinate")

# %% [markdown]
# Now there are four strides. Which four make the board row-major, as `(4,4):(4,1)` is? Then type the layout in again and move only the
# strides that step from block to block, until two slots stay unused after each block.

# %%
explore(blocks)

# %% [markdown]
# **The rule.** A mode may have modes inside. In `((2,2),(2,2)):((1,4),(2,8))` mode 0 still counts 4 rows, as 2 blocks of 2:
# row $i = i_0 + 2\,i_1$. A shape like this is **nested**, and a single number in it is a **leaf**. Each leaf of the shape has its
# own leaf in the stride. The one that changes at every row stands first.
#
# $$\text{offset} = i_0 \cdot 1 + i_1 \cdot 4 + j_0 \cdot 2 + j_1 \cdot 8$$

# %%
for coordinate in (((1, 0), (0, 0)), ((0, 1), (0, 0)), ((1, 1), (0, 1))):
    (i0, i1), (j0, j1) = coordinate
    print(f"layoutviz {blocks}: {coordinate} is at {i0}*1 + {i1}*4 + {j0}*2 + {j1}*8 = {blocks(coordinate)}")

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def blocks_in_the_dsl():
    layout = cute.make_layout(((2, 2), (2, 2)), stride=((1, 4), (2, 8)))
    for coordinate in (((1, 0), (0, 0)), ((0, 1), (0, 0)), ((1, 1), (0, 1))):
        print("DSL", layout, coordinate, layout(coordinate))


blocks_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 02.1 · Nested offsets by hand ★
#
# Given: the layout `((2,2),3):((1,6),2)`, 4 rows and 3 columns. Wanted: `offsets`, a list of the 12 offsets, down the first column,
# then down the next. Use paper, not `Layout`. Run the cell as it is to fill them in on a board. Judged number by number.

# %% exercise="02.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
offsets = [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]
### STARTER
# offsets = ...
### END SOLUTION

# %% [markdown]
# ## 2. Three names for one cell
#
# The index counts cells, mode 0 fastest. Does that still say which number comes first, if each mode has two?

# %% jupyter={"source_hidden": true}
ask_choice(
    "The shape is ((2,2),(2,2)). Which index has the coordinate ((1,1),(0,0))?",
    options={
        3: "It is row 1 + 2*1 = 3 of column 0, and the index goes down column 0 first.",
        12: "This counts the last number fastest, as nested loops in Python and NumPy do. CuTe counts the first one fastest.",
        2: "Two numbers are 1, but the second one counts blocks of two rows.",
    },
    answer=next(i for i in range(blocks.size) if blocks.coordinate(i) == ((1, 1), (0, 0))),
)

# %% [markdown]
# The same 16 slots twice, once without and once with nesting. Point at a cell: which one lights up on the other board, and what is it
# called there? Its third name, the index, is in the line below.

# %%
compare("(4,4)", "((2,2),(2,2))", label="coordinate")

# %% [markdown]
# Step the index from 0 to 15. Which of the four numbers changes at every step? Which one changes only once?

# %%
explore("((2,2),(2,2))", label="coordinate")

# %% [markdown]
# **The rule.** A cell has three kinds of coordinate: its index, `11`; one number for each mode, `(3,2)`; and nested as the shape is,
# `((1,1),(0,1))`. A layout takes each of them. The order in which the index runs is called **colexicographic**: the leftmost number
# changes fastest, and the next one moves when it is full, like the wheels of a counter read from the wrong end. It depends on the shape
# alone, never on a stride. For leaves $s_0, s_1, s_2, s_3$ and the coordinate $c_0, c_1, c_2, c_3$:
#
# $$\text{index} = c_0 + s_0\,(c_1 + s_1\,(c_2 + s_2\,c_3))$$

# %%
for coordinate in (11, (3, 2), ((1, 1), (0, 1)), ((1, 1), 2)):
    print(f"layoutviz {coordinate} is at offset {blocks(coordinate)}")

# %% needs="dsl"
@cute.jit
def three_kinds_in_the_dsl():
    layout = cute.make_layout(((2, 2), (2, 2)), stride=((1, 4), (2, 8)))
    for coordinate in (11, (3, 2), ((1, 1), (0, 1)), ((1, 1), 2)):
        print("DSL", coordinate, "is at offset", layout(coordinate))
    print("DSL index 11 is coordinate", cute.idx2crd(11, layout.shape))


three_kinds_in_the_dsl()

# %% [markdown]
# The last one mixes the kinds: any mode may be given as one number. And index 11 is not offset 11: the strides decide that.

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 02.2 · Which index? ★
#
# Given: the shape `((3,2),(2,2))` and the coordinate `((1,1),(0,1))`. Wanted: `index`, its index. Predict it without `Layout`. Run the
# cell as it is to type the number below it. Judged by the number.

# %% exercise="02.2" tags=["exercise", "inline"]
### BEGIN SOLUTION
index = 1 + 3 * (1 + 2 * (0 + 2 * 1))
### STARTER
# index = ...
### END SOLUTION

# %% [markdown]
# ## 3. A tile is a mode
#
# Now 8 by 8, row-major, without gaps. Written nested, `((4,2),(4,2)):((8,32),(1,4))`, it is cut into four **tiles** of 4 by 4: row
# $i_0 + 4\,i_1$, column $j_0 + 4\,j_1$.

# %% jupyter={"source_hidden": true}
rows = Layout(((4, 2), (4, 2)), ((8, 32), (1, 4)))
ask_cells(
    "A coordinate is ((i0,i1),(j0,j1)). Click the four cells with i0 = 2 and j0 = 1.",
    rows,
    offsets=[rows(((2, i1), (1, j1))) for i1 in range(2) for j1 in range(2)],
    why="i0 and j0 say the place inside a tile, i1 and j1 say which tile: so this is one cell in each tile.",
)

# %% [markdown]
# So two of the four numbers say *where in the tile*, two say *which tile*. Put those of a kind together, and each column of the
# right-hand board is one tile. Point at the cells of its column 1: where in the matrix do they lie?

# %%
by_tile = Layout(((4, 4), (2, 2)), ((8, 1), (32, 4)))
compare({"matrix": rows, "by tile": by_tile})

# %% [markdown]
# Which two strides move whole tiles and leave the inside of each as it is? Set them so that all four tiles lie in the same 16 slots.

# %%
explore(by_tile)

# %% [markdown]
# **The rule.** Only the parentheses move: $((i_0,i_1),(j_0,j_1))$ becomes $((i_0,j_0),(i_1,j_1))$. Each leaf keeps its extent and
# its stride, and no data moves. Now the tile is mode 0, and mode 1 counts the tiles. `by_tile(place, tile)` finds any element of
# any tile. Chapter 04 has operations that write this for you. In the GEMM of chapter 12, mode 0 is what one thread block works on.

# %%
place, tile = (2, 1), (0, 1)
print(f"layoutviz {by_tile}: place {place} of tile {tile} is at {by_tile(place, tile)}")
print(f"layoutviz {rows}: row (2,0), column (1,1) is at {rows((2, 0), (1, 1))}")

# %% needs="dsl"
@cute.jit
def a_tile_in_the_dsl():
    layout = cute.make_layout(((4, 4), (2, 2)), stride=((8, 1), (32, 4)))
    print("DSL", layout, layout(((2, 1), (0, 1))), "and the tile alone:", cute.get(layout, mode=[0]))


a_tile_in_the_dsl()

# %% [markdown]
# ## 4. Stored tile by tile
#
# So far the matrix was row-major, and the tiles were only a way to read it.

# %% jupyter={"source_hidden": true}
slots = sorted(by_tile[0].offsets().tolist())
ask_choice(
    "In how many separate pieces of memory does one 4 by 4 tile of that row-major 8 by 8 matrix lie?",
    options={
        1: "A tile is a block on the board, but memory is a line. Its rows are 8 slots apart.",
        4: "Each of its rows is a piece of 4 slots, and 4 slots of another tile come after it.",
        16: "Along a row of the tile the elements are neighbours in memory.",
    },
    answer=1 + sum(after - before > 1 for before, after in zip(slots[:-1], slots[1:], strict=True)),
    picture=lambda: memory_strip(Layout((4, 4), (8, 1)), title="memory of one tile: struck-out slots belong to another"),
)

# %% [markdown]
# The right-hand board stores the matrix in another order. Its shape is that of the left one. What do its four strides do?

# %%
tiled = Layout(((4, 2), (4, 2)), ((4, 32), (1, 16)))
compare({"row by row": rows, "tile by tile": tiled})

# %% [markdown]
# Let the tiles follow each other down the columns, not along the rows. Which two numbers change places? Then let the elements inside a
# tile do the same.

# %%
explore(tiled)

# %% [markdown]
# **The rule.** Write the leaves in the order in which memory counts them. Each stride is the product of the extents before it. Here:
# $j_0$ (extent 4) has stride 1, $i_0$ (4) has 4, $j_1$ (2) has 4·4 = 16, and $i_1$ has 4·4·2 = 32. Now a tile is one piece of memory.
# Tensor cores want their operands in small tiles like these (chapter 10).
#
# The DSL works the strides out of the order: `order` says for each leaf when memory counts it.

# %%
order = {"j0": 4, "i0": 4, "j1": 2, "i1": 2}
stride = 1
for leaf, extent in order.items():
    print(f"layoutviz {leaf}: extent {extent}, stride {stride}")
    stride *= extent

# %% needs="dsl"
@cute.jit
def ordered_in_the_dsl():
    print("DSL", cute.make_ordered_layout(((4, 2), (4, 2)), order=((1, 3), (0, 2))))


ordered_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 02.3 · Store it in tiles ★★
#
# Given: a matrix of 6 rows and 8 columns, to be stored in tiles of 3 rows and 4 columns. Inside a tile the elements lie column by column.
# The tiles follow each other along the rows of tiles: first the two upper ones. No slot stays unused. Wanted: `layout`, of shape
# `((3,2),(4,2))`. Judged by its shape and by the offset of every coordinate.

# %% exercise="02.3" tags=["exercise", "inline"]
### BEGIN SOLUTION
layout = Layout(((3, 2), (4, 2)), ((1, 24), (3, 12)))
### STARTER
# layout = Layout(((3, 2), (4, 2)), ((..., ...), (..., ...)))
### END SOLUTION

# %% [markdown]
# ## 5. Blocks of blocks: Morton order
#
# Go on: 2 by 2 cells make a block, 2 by 2 blocks make a larger one, and 2 by 2 of these the matrix. At each level: down first.

# %% jupyter={"source_hidden": true}
morton = Layout(((2, 2, 2), (2, 2, 2)), ((1, 4, 16), (2, 8, 32)))
ask_cells(
    "The 4 by 4 block at the top left has slots 0 to 15. Click the four cells of slots 16 to 19.",
    morton,
    offsets=range(16, 20),
    why="The next block of 4 by 4 is the one below, and it starts with its own 2 by 2 block.",
)

# %% [markdown]
# Heavier borders are larger blocks. Follow the offsets 0, 1, 2, ... with your eye. Which way do they take through
# a block, and is it the same at all three levels?

# %%
draw(morton)

# %% [markdown]
# The six strides are 1, 2, 4, 8, 16 and 32, in some order. Put the same six in another order to get a row-major board. And
# column-major? And tiles of 4 by 4?

# %%
explore(morton)

# %% [markdown]
# **The rule.** This is **Morton order**. Each leaf has extent 2, so each is one binary digit of the row or of the column. The offset
# takes these digits in turn: row, column, row, column. So every block, at each level, is one piece of memory, and cells near each
# other mostly have offsets near each other. In chapter 12 the tiles of `C` are taken in an order chosen for this: tiles worked on at
# the same time share inputs. Row-major, column-major, tiled and Morton are *one* layout with its strides in four orders.

# %%
print(f"layoutviz row {5:03b}, column {3:03b} (binary): offset {morton(5, 3):06b} = {morton(5, 3)}")

# %% needs="dsl"
@cute.jit
def morton_in_the_dsl():
    layout = cute.make_layout(((2, 2, 2), (2, 2, 2)), stride=((1, 4, 16), (2, 8, 32)))
    print("DSL", layout, "row 5, column 3 is at", layout((5, 3)))


morton_in_the_dsl()

# %% [markdown]
# ## 6. Which shapes fit
#
# A kernel reads `mA[m, k]`, with 8 rows and 6 columns. The layout of `A` is your choice, but not every shape will do.

# %% jupyter={"source_hidden": true}
shapes = ("((4,2),6)", "((2,2,2),(3,2))", "(4,2,6)")
ask_choice(
    "Which shape can A not have?",
    options={
        "((4,2),6)": "Two modes, of 8 and of 6 elements. Row 5 is (1,1) inside, and the kernel need not know.",
        "((2,2,2),(3,2))": "Two modes, of 8 and of 6 elements, however deep they are nested.",
        "(4,2,6)": "Three modes, and mA[m, k] names two numbers. Without the inner parentheses nobody knows what m is.",
    },
    answer=next(shape for shape in shapes if Layout(shape).rank != 2),
)

# %% [markdown]
# The left board has one number for each mode, the right one splits the rows. Every coordinate `(m,k)` of the left is one of the right as
# well: point at a cell.

# %%
compare("(8,6)", "((4,2),6)", label="coordinate")

# %% [markdown]
# Write `((4,2),6)`, `((2,4),6)` or `((2,2,2),6)` into the text field below. What changes in the cells? Then choose *offset* as the
# label and do it again: what does not change?

# %%
explore("(8,6)", label="coordinate")

# %% [markdown]
# **The rule.** Two words that you will meet in messages of the DSL.
#
# - **Congruent**: the same parentheses. `(8,6)` and `(3,5)` are; `(8,6)` and `((4,2),6)` are not. A shape and its stride must be.
# - **Compatible**: `48` is compatible with `(8,6)`, and `(8,6)` with `((4,2),6)`. The second splits a number of the first, and the
#   product of the parts is that number. Then each coordinate of the first can be used for the second. It goes one way: row `(1,1)`
#   means nothing to the shape `(8,6)`.

# %%
for shape in ("((4,2),6)", "(8,6)", "(4,2,6)"):
    for coordinate in ((5, 3), ((1, 1), 3)):
        try:
            print(f"layoutviz {shape} at {coordinate}: {Layout(shape)(coordinate)}")
        except LayoutError as error:
            print(f"layoutviz {shape} at {coordinate}: {error}")

# %% needs="dsl"
@cute.jit
def congruent_in_the_dsl():
    for one, other in (((8, 6), (3, 5)), ((8, 6), ((4, 2), 6)), (((4, 2), 6), ((1, 4), 8))):
        print("DSL", one, other, "congruent:", cute.is_congruent(one, other))
    try:
        cute.make_layout((8, 6), stride=((1, 4), 8))
    except Exception as error:
        print("DSL (8,6):((1,4),8) is refused:", error)


congruent_in_the_dsl()

# %% [markdown]
# ## 7. One table, many forms
#
# Two layouts that look different may be the same.

# %% jupyter={"source_hidden": true}
forms = [Layout("24:1"), Layout("(4,6):(1,4)"), Layout("((2,2),6):((1,2),4)"), Layout("(6,4):(1,6)")]
ask_choice(
    "24:1, (4,6):(1,4), ((2,2),6):((1,2),4), (6,4):(1,6). From index to offset, how many different functions are these?",
    options={
        1: "Each puts index n into slot n. The shape alone differs: what the cells are called.",
        2: "Nesting a mode changes nothing here. Without gaps, neither does the number of rows.",
        4: "They are four forms. Write down the offsets of index 0, 1, 2, 3, 4 for two of them.",
    },
    answer=len({tuple(layout.offsets()) for layout in forms}),
)

# %% [markdown]
# Equal by index, but by row and column? Point at `(1,2)` on the left, then look for the cell that lights up on the right.

# %%
compare("(4,6):(1,4)", "(6,4):(1,6)")

# %% [markdown]
# This board can also be written `(4,6):(1,4)`. Change the second stride, 2, to another number. Can it still be written with one stride
# for its 4 rows? Set the first stride to 6. Which second stride makes it possible again?

# %%
explore("((2,2),6):((1,2),4)")

# %% [markdown]
# **The rule.** A mode `s:d` can be split into `(a,b):(d,a*d)` where `a*b` is `s`: after `a` steps of `d`, the next block begins where the
# next step would have gone. If the second stride goes on like this, the two leaves can be merged again; if not, not. A mode of
# extent 1 can stand anywhere, with any stride. So compare layouts by what they do, not by how they print. The shortest form of all
# has an operation of its own, *coalesce*, in chapter 03.

# %%
one, other = Layout("(8,6):(6,1)"), Layout("((2,4),6):((6,12),1)")
print("layoutviz same form:", one == other, " same function:", same_function(one, other))

# %% needs="dsl"
@cute.jit
def forms_in_the_dsl():
    one, other = cute.make_layout((8, 6), stride=(6, 1)), cute.make_layout(((2, 4), 6), stride=((6, 12), 1))
    print("DSL same form:", one == other, " at row 5, column 3:", one((5, 3)), "and", other((5, 3)))


forms_in_the_dsl()

# %% [markdown]
# ## On the GPU
#
# The kernel of chapter 01, unchanged. It says `mA[m, k]` and `mB[n, k]`, one number for each mode. That is all it needs to read nested
# layouts too.

# %% include="ladder/naive.py:TILE,dot,naive_kernel,naive_gemm" needs="dsl"
from ladder.naive import naive_gemm

# %% [markdown]
# Each operand is stored row by row, or in tiles of 8 by 8. Inside a tile the elements lie row by row, and so do the tiles. Say for
# each stride of `in_tiles` what it steps over.

# %%
def by_rows(R, K):
    return Layout((R, K), (K, 1))


def in_tiles(R, K, rows=8, columns=8):
    """R by K in tiles, one after the other along the rows. The tiles must fit."""
    return Layout(((rows, R // rows), (columns, K // columns)), ((columns, rows * K), (1, rows * columns)))


def pairs(M, N, K):
    """name -> (layout of A, layout of B)."""
    return {
        "rows": (by_rows(M, K), by_rows(N, K)),
        "A in tiles": (in_tiles(M, K), by_rows(N, K)),
        "both in tiles": (in_tiles(M, K), in_tiles(N, K)),
    }


compare({"by rows": by_rows(8, 8), "in tiles of 4 by 4": in_tiles(8, 8, 4, 4)})

# %% [markdown]
# Neighbouring threads of this kernel compute neighbouring rows of `C`, so at each `k` they read neighbouring rows of `A`. How far apart are
# these in memory?

# %%
for name, layouts in pairs(2048, 1536, 1024).items():
    print(f"{name}: row 1 of A is {layouts[0](1, 0)} slots after row 0")

# %% [markdown]
# Guess: which pair takes less time? On a GPU each result is checked against cuBLAS. cuBLAS takes no tiles, so it gets a copy row by row,
# made outside the timing. Without a GPU the kernel is compiled, and the same sums run on the CPU.

# %% needs="dsl"
from ladder import harness

look = "one kernel, three ways to store: which pair takes less time, and how far apart do neighbouring threads read A there?"
checks = harness.gemm_through_layouts(naive_gemm, pairs, host_mnk=(16, 24, 8), chapter="02", look=look)

# %% [markdown]
# Now store `B` in tiles of 4 rows and 8 columns, in `pairs`, and run it again. What did you have to change in the kernel?

# %% [markdown]
# ## Common mistakes
#
# - **Counting as NumPy does.** There the last number runs fastest. In CuTe the first one does, inside a mode too.
# - **Place and tile swapped.** `(4,2)` is 2 tiles of 4 rows; `(2,4)` is 4 tiles of 2. The inside of the tile stands first.
# - **A tiled layout drawn flat looks wrong.** By place and tile, a column is a tile and no column of the matrix. The numbers are right.
# - **Comparing text.** Layouts that print differently may be one function. And the same *set* of offsets is no proof: `(4,4):(4,1)`
#   and `(4,4):(1,4)` share theirs.
#
# ## In short
#
# - A mode may have modes inside; each leaf has its extent and its stride.
# - A cell is named by its index, by one number for each mode, or nested. Colexicographic: the first number runs fastest.
# - `((place, tile), (place, tile))` regrouped is `((place, place), (tile, tile))`: a tile is a mode, and nothing moves.
# - The order of the strides is the order in memory: rows, tiles, Morton.
# - Congruent: the same parentheses. Compatible: the same sizes, split further. Equal tables may have unequal forms.
#
# Next: [03 · Composition](03_composition.ipynb), which puts one layout after another.

# %% [markdown] tags=["exercise"]
# ### Exercise 02.4 · By place and tile ★★
#
# Given: any `layout` of shape `((a,b),(c,d))`, a matrix cut into tiles of `a` rows and `c` columns. Wanted: a function `by_tile(layout)`
# that gives the same elements with the tile as mode 0 and the number of the tile as mode 1. Judged on layouts that are new and random
# each time: by the shape of what your function gives, and by the offset of every coordinate.

# %% exercise="02.4" tags=["exercise"]
### BEGIN SOLUTION
def by_tile(layout):
    (a, b), (c, d) = layout.shape
    (i0, i1), (j0, j1) = layout.stride
    return Layout(((a, c), (b, d)), ((i0, j0), (i1, j1)))
### STARTER
# def by_tile(layout):
#     (a, b), (c, d) = layout.shape
#     (i0, i1), (j0, j1) = layout.stride
#     return Layout(..., ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 02.5 · Mend a Morton order ★★
#
# Given: `((2,2,2),(2,2)):((2,4,16),(1,4))`, 8 rows and 4 columns. It was meant to be Morton order, but with the step to the *right*
# first at each level, then the step down. One stride is wrong, so some elements share a slot. Wanted: `layout`, mended. To see what is
# wrong, `draw` the given one in a cell of your own. Judged by its shape and by the offset of every coordinate.

# %% exercise="02.5" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout(((2, 2, 2), (2, 2)), ((2, 8, 16), (1, 4)))
### STARTER
# layout = Layout(((2, 2, 2), (2, 2)), ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 02.6 · The same table, another form ★★
#
# Given: `(8,6):(6,1)`, row-major. Wanted: `layout`, another form of it: two modes, of 8 and of 6 elements, *both* of them nested,
# without leaves of extent 1. Each `(i,j)` must be at the offset that it has in the given one. There are several right answers. Judged by
# the offset of every coordinate, and by these conditions on the shape.

# %% exercise="02.6" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout(((2, 4), (2, 3)), ((6, 12), (1, 2)))
### STARTER
# layout = Layout(..., ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 02.7 · B was stored in tiles ★★★
#
# Given: a buffer. A colleague stored `B`, of `N` rows and `K` columns, in tiles of 8 rows and 4 columns. Inside a tile the elements lie row
# by row. The tiles follow each other *down*: first all those of columns 0 to 3, then those of columns 4 to 7, and so on. `N` is a
# multiple of 8, `K` a multiple of 4, and no slot is unused. Wanted: a function `B_layout(N, K)` that gives the layout through which the
# lesson's kernel finds `mB[n, k]` where it was stored, with the shape `((8, N // 8), (4, K // 4))`.
#
# Judged first by its shape and offsets, for new random `N` and `K`. If they are right, the kernel runs through it and is checked against
# cuBLAS. Without a GPU the kernel is only compiled, and the verdict says so. This cell runs by itself: it knows the notebook's first
# code cell, and none of your other cells.

# %% exercise="02.7" tags=["exercise"]
### BEGIN SOLUTION
def B_layout(N, K):
    return Layout(((8, N // 8), (4, K // 4)), ((4, 32), (1, 4 * N)))
### STARTER
# def B_layout(N, K):
#     return Layout(((8, N // 8), (4, K // 4)), ((..., ...), (..., ...)))
### END SOLUTION
