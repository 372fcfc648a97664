# %% [markdown]
# # 02 · Nested layouts
#
# After this lesson you can read and write layouts whose modes have modes inside, name a cell in three ways, and store a matrix tile
# by tile. Forty-five minutes; guess first, read second.

# %% tags=["setup"]
from exercises import ask_cells, ask_choice
from layoutviz import Layout, LayoutError, compare, draw, explore, same_function
from layoutviz.views.grid import grid

# %% [markdown]
# Two quick questions from chapter 01, for sections 1 and 2.

# %% jupyter={"source_hidden": true}
ask_choice(
    "The layout is (4,6):(6,1). How far in memory is it from (0,2) down to (1,2), and how far from (1,2) down to (2,2)?",
    options={
        "6 and 6": "A mode has one stride: each step down moves as far as any other.",
        "6 and 12": "12 is how far (2,2) is from (0,2), two steps up.",
        "1 and 1": "That is a step to the right. The first stride is the step down.",
    },
    answer=" and ".join(str(Layout("(4,6):(6,1)")(i + 1, 2) - Layout("(4,6):(6,1)")(i, 2)) for i in range(2)),
)

# %% jupyter={"source_hidden": true}
ask_choice(
    "The layout is (4,3):(3,1). At which offset is index 6?",
    options={
        6: "An index counts cells, and this layout does not store them in the order in which they are counted.",
        7: "Index 6 is coordinate (2,1), down the first column and two cells down the next: 2*3 + 1*1.",
        18: "Six steps down would be 18, but a column has only 4 cells.",
    },
    answer=Layout("(4,3):(3,1)")(6),
)

# %% [markdown]
# ## 1. A matrix in tiles
#
# Fast kernels often store a matrix in small rectangles, **tiles**, one after the other. Here are the offsets for tiles of 2 by 2.

# %% jupyter={"source_hidden": true}
draw(
    "((2,2),(2,2)):((1,4),(2,8))",
    title="4 rows, 4 columns",
    caption="The tile at the top left has slots 0 to 3, the one below it slots 4 to 7.",
)

# %% jupyter={"source_hidden": true}
ask_choice(
    "Which layout has these offsets?",
    options={
        "(4,4):(1,2)": "Then (2,0) would be at 2*1 + 0*2 = 2. On the board it is at 4.",
        "(4,4):(1,4)": "Then (0,1) would be at 0*1 + 1*4 = 4. On the board it is at 2.",
        "no (4,4):(a,b)": "Down column 0 the steps are 1, 3, 1. A stride is one number, and makes equal steps.",
    },
    answer=next(
        (f"(4,4):({d},{e})" for d in range(17) for e in range(17) if same_function(f"(4,4):({d},{e})", "((2,2),(2,2)):((1,4),(2,8))")),
        "no (4,4):(a,b)",
    ),
)

# %% [markdown]
# The way out: count rows with *two* numbers, the row in its tile and the number of the tile; columns too. Each cell shows its four
# numbers, `((row in tile, tile), (column in tile, tile))`.

# %%
small = Layout(((2, 2), (2, 2)), ((1, 4), (2, 8)))
draw(small, label="coordinate")

# %% [markdown]
# Now there are four strides; *stride 0.1* is the second one of mode 0. Which four make the board row-major, as `(4,4):(4,1)` is?
#
# Then put the layout back into the field *layout*. Move only *stride 0.1* and *stride 1.1*, until 2 slots stay free between each tile
# and the next (6 in all). The view *memory strip* shows them.

# %%
explore(small)

# %% [markdown]
# **The rule.** A mode may have modes inside. In `((2,2),(2,2)):((1,4),(2,8))` mode 0 still counts 4 rows, as 2 tiles of 2: row
# $i = i_0 + 2\,i_1$. Such a shape is **nested**, a single number in it a **leaf**. Each leaf of the shape has its own leaf in the stride.
# In each mode the number that changes from every row (or column) to the next stands first: the row in the tile, then the tile.
#
# $$\text{offset} = i_0 \cdot 1 + i_1 \cdot 4 + j_0 \cdot 2 + j_1 \cdot 8$$

# %%
for coordinate in (((1, 0), (0, 0)), ((0, 1), (0, 0)), ((1, 1), (0, 1))):
    (i0, i1), (j0, j1) = coordinate
    print(f"layoutviz {small}: {coordinate} is at {i0}*1 + {i1}*4 + {j0}*2 + {j1}*8 = {small(coordinate)}")

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def small_in_the_dsl():
    small = cute.make_layout(((2, 2), (2, 2)), stride=((1, 4), (2, 8)))
    for coordinate in (((1, 0), (0, 0)), ((0, 1), (0, 0)), ((1, 1), (0, 1))):
        print("DSL", small, coordinate, small(coordinate))


small_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 02.1 · Nested offsets by hand ★
#
# Given: the layout `((2,2),3):((1,6),2)`, 4 rows and 3 columns; mode 1 is not nested. Wanted: `offsets`, a list of the 12 offsets, down
# the first column, then down the next. Use paper, not `Layout`. Run the cell as it is to fill them in on a board. Judged number by
# number.

# %% exercise="02.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
offsets = [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]
### STARTER
# offsets = ...
### END SOLUTION

# %% [markdown]
# ## 2. Three names for one cell
#
# The index counts cells, mode 0 fastest. Which number comes first, if each mode has two?

# %% jupyter={"source_hidden": true}
ask_choice(
    "The shape is ((2,2),(2,2)). Which index has the coordinate ((1,1),(0,0))?",
    options={
        3: "It is row 1 + 2*1 = 3 of column 0, and the index goes down column 0 first.",
        12: "This counts the last number fastest, as nested loops in Python and NumPy do. CuTe counts the first one fastest.",
        2: "Two numbers are 1, but the second one counts tiles of two rows.",
    },
    answer=next(i for i in range(16) if Layout("((2,2),(2,2))").coordinate(i) == ((1, 1), (0, 0))),
)

# %% [markdown]
# A shape alone gets the strides that make offset equal index: 1, then the products of the extents before. Point at a cell: what is the
# one that lights up on the other board called? The line under the boards, which begins with your cell, gives its third name, the index.

# %%
compare("(4,4)", "((2,2),(2,2))", label="coordinate")

# %% [markdown]
# Press *step ▶* from 0 to 15. Which of the four numbers changes at every step, and which only once?

# %%
explore("((2,2),(2,2))", label="coordinate")

# %% [markdown]
# **The rule.** A cell has three names: its index, `11`; one number for each mode, `(3,2)`; and nested as the shape is, `((1,1),(0,1))`.
# A layout takes each of them. The index runs in **colexicographic** order: the leftmost number changes fastest. From its end it goes back
# to 0, and the next one goes up by one. This depends on the shape alone. Here each 2 is the extent of the leaf just before it:
#
# $$\text{index} = i_0 + 2\,(i_1 + 2\,(j_0 + 2\,j_1))$$
#
# So `((1,1),(0,1))` is 1 + 2(1 + 2(0 + 2·1)) = 11.

# %%
for name in (11, (3, 2), ((1, 1), (0, 1)), ((1, 1), 2)):
    print(f"layoutviz {name} is at offset {small(name)}")

# %% needs="dsl"
@cute.jit
def names_in_the_dsl():
    small = cute.make_layout(((2, 2), (2, 2)), stride=((1, 4), (2, 8)))
    for name in (11, (3, 2), ((1, 1), (0, 1)), ((1, 1), 2)):
        print("DSL", name, "is at offset", small(name))
    print("DSL index 11 is coordinate", cute.idx2crd(11, small.shape))


names_in_the_dsl()

# %% [markdown]
# `((1,1),2)` mixes two of them: any mode may be given as one number.

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 02.2 · From index to offset ★
#
# Given: the layout `((3,2),(2,2)):((2,12),(1,6))`. Wanted: `offset`, the offset at index 9. Predict it without `Layout`. Run the cell as
# it is to type the number below it. Judged by the number.

# %% exercise="02.2" tags=["exercise", "inline"]
### BEGIN SOLUTION
offset = 12 + 1  # row 3 is (0,1), column 1 is (1,0)
### STARTER
# offset = ...
### END SOLUTION

# %% [markdown]
# ## 3. A tile is a mode
#
# The next matrix is 8 by 8, row-major. Written nested, `((4,2),(4,2)):((8,32),(1,4))`, it has four tiles of 4 by 4: row
# $i_0 + 4\,i_1$, column $j_0 + 4\,j_1$.

# %% jupyter={"source_hidden": true}
ask_cells(
    "A coordinate is ((i0,i1),(j0,j1)). Click the four cells with i0 = 2 and j0 = 1.",
    Layout("((4,2),(4,2)):((8,32),(1,4))"),
    offsets=[Layout("((4,2),(4,2)):((8,32),(1,4))")(((2, i1), (1, j1))) for i1 in range(2) for j1 in range(2)],
    why="i0 and j0 say the position inside a tile, i1 and j1 say which tile: so this is one cell in each tile.",
)

# %% [markdown]
# Two of the four numbers say *where in the tile*, two say *which tile*. Put each pair together: now a tile is a whole column of the
# right-hand board. (Its heavier lines only mark where $i_0$ and $i_1$ begin again.) Point at the cells of its column 1: where in
# the matrix do they lie?

# %%
rows = Layout(((4, 2), (4, 2)), ((8, 32), (1, 4)))
by_tile = Layout(((4, 4), (2, 2)), ((8, 1), (32, 4)))
compare({"matrix": rows, "by tile": by_tile})

# %% [markdown]
# Which two strides move whole tiles? Set them so that all four tiles lie on the 16 slots of the first.

# %%
explore(by_tile)

# %% [markdown]
# **The rule.** Only the parentheses move: $((i_0,i_1),(j_0,j_1))$ becomes $((i_0,j_0),(i_1,j_1))$. Each leaf keeps its extent and
# its stride, and no data moves. Mode 0 is the tile, mode 1 counts the tiles: `by_tile(position, tile)`. In the GEMM of chapter 12,
# mode 0 is the work of one thread block.

# %%
position, tile = (2, 1), (1, 0)
print(f"layoutviz {by_tile}: position {position} of tile {tile} is at {by_tile(position, tile)}")
print(f"layoutviz {rows}: row (2,1), column (1,0) is at {rows((2, 1), (1, 0))}")

# %% needs="dsl"
@cute.jit
def a_tile_in_the_dsl():
    by_tile = cute.make_layout(((4, 4), (2, 2)), stride=((8, 1), (32, 4)))
    print("DSL", by_tile, by_tile(((2, 1), (1, 0))), "and the tile alone:", cute.get(by_tile, mode=[0]))


a_tile_in_the_dsl()

# %% [markdown]
# ## 4. Stored tile by tile
#
# So far the matrix was row-major, and the tiles were only a way to read it.

# %% jupyter={"source_hidden": true}
ask_choice(
    "In how many separate pieces of memory does one 4 by 4 tile of that row-major 8 by 8 matrix lie?",
    options={
        1: "A tile is one rectangle on the board, but memory is a line. Its rows are 8 slots apart.",
        4: "Each of its rows is a piece of 4 slots, and 4 slots of another tile come after it.",
        16: "Along a row of the tile the elements are neighbours in memory.",
    },
    answer=sum(slot - 1 not in Layout("(4,4):(8,1)").offsets() for slot in Layout("(4,4):(8,1)").offsets()),
    picture=lambda: grid(
        "(4,8):(8,1)",
        marks=dict.fromkeys(range(16, 32), "hole"),
        title="slots 0 to 31 of memory, 8 in a line",
        caption="Struck-out slots belong to the tile beside.",
    ),
)

# %% [markdown]
# The right-hand board has the same shape and stores the matrix in another order. What does each of its four strides step over?

# %%
tiled = Layout(((4, 2), (4, 2)), ((4, 32), (1, 16)))
compare({"row by row": rows, "tile by tile": tiled})

# %% [markdown]
# Let the tiles follow each other down, not to the right. Which two numbers change places? Then do the same inside the tiles.

# %%
explore(tiled)

# %% [markdown]
# **The rule.** Follow the slots 0, 1, 2, ... and write down the leaves, the fastest first. The stride of each is the product of the
# extents before it. Here: $j_0$ (extent 4) steps 1, over an element; $i_0$ (4) steps 4, over a row of the tile; $j_1$ (2) steps
# 4·4 = 16, over a tile; $i_1$ steps 4·4·2 = 32, over a row of two tiles. Now a tile is one piece of memory.
#
# The DSL works the strides out of this order. `order=((1,3),(0,2))` says: $j_0$ is 0th, $i_0$ 1st, $j_1$ 2nd, $i_1$ 3rd.

# %%
counted = {"j0": 4, "i0": 4, "j1": 2, "i1": 2}  # in the order of memory: the extent of each leaf
stride, step = {}, 1
for leaf, extent in counted.items():
    stride[leaf], step = step, step * extent
print("layoutviz", Layout(((4, 2), (4, 2)), ((stride["i0"], stride["i1"]), (stride["j0"], stride["j1"]))))

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
# ## 5. Tiles of tiles: Morton order
#
# Go on: 2 by 2 cells make a tile, 2 by 2 tiles make a larger one, and 2 by 2 of these the matrix. At each level: down first.

# %% jupyter={"source_hidden": true}
ask_cells(
    "The 4 by 4 tile at the top left has slots 0 to 15. Click the four cells of slots 16 to 19.",
    Layout("((2,2,2),(2,2,2)):((1,4,16),(2,8,32))"),
    offsets=range(16, 20),
    why="The next tile of 4 by 4 is the one below, and it starts with its own 2 by 2 tile.",
)

# %% [markdown]
# Heavier borders are larger tiles. Follow the offsets 0, 1, 2, ... Which way do they take through a tile, and is it the same at all
# three levels?

# %%
morton = Layout(((2, 2, 2), (2, 2, 2)), ((1, 4, 16), (2, 8, 32)))
draw(morton)

# %% [markdown]
# Put the same six strides in another order to get a row-major board. And column-major? And row-major tiles of 4 by 4, each one piece of
# memory? (For the tiles two orders are right.)

# %%
explore(morton)

# %% [markdown]
# **The rule.** This is **Morton order**: at each level down, then up to the right, then down. Each leaf has extent 2, so each is one
# binary digit of the row or of the column. Read from the right, the offset takes a digit of the row, then one of the column, and so
# on.

# %%
print(f"layoutviz row {5:03b}, column {3:03b} (binary): offset {morton(5, 3):06b} = {morton(5, 3)}")

# %% needs="dsl"
@cute.jit
def morton_in_the_dsl():
    morton = cute.make_layout(((2, 2, 2), (2, 2, 2)), stride=((1, 4, 16), (2, 8, 32)))
    print("DSL", morton, "row 5, column 3 is at", morton((5, 3)))


morton_in_the_dsl()

# %% [markdown]
# ## 6. Which shapes fit
#
# A kernel reads `mA[m, k]`, with 8 rows and 6 columns. Not every shape will do.

# %% jupyter={"source_hidden": true}
ask_choice(
    "Which of these shapes can A not have?",
    options={
        "((4,2),6)": "Two modes, of 8 and of 6 elements. Row 5 is (1,1) inside, and the kernel need not know.",
        "((2,2,2),(3,2))": "Two modes, of 8 and of 6 elements, into however many numbers they are split.",
        "(4,(2,6))": "It has 48 elements too, but its modes have 4 and 12: there is no row 5.",
    },
    answer=next(shape for shape in ("((4,2),6)", "((2,2,2),(3,2))", "(4,(2,6))") if [mode.size for mode in Layout(shape)] != [8, 6]),
)

# %% [markdown]
# Each coordinate of the left board is one of the right board too: point at a cell.

# %%
compare("(8,6)", "((4,2),6)", label="coordinate")

# %% [markdown]
# Write `((4,2),6)`, `((2,4),6)` or `((2,(2,2)),6)` into the field *layout*. What changes in the cells? Then choose *offset* as the
# label and do it again: what does not change?

# %%
explore("(8,6)", label="coordinate")

# %% [markdown]
# **The rule.** Two words.
#
# - **Congruent**: the same parentheses, as `(8,6)` and `(3,5)`. A shape and its stride must be congruent.
# - **Compatible**: `(8,6)` is compatible with `((4,2),6)`, which splits a number of it; the product of the parts is that number. Each
#   coordinate of the first can be used for the second. It goes one way: row `(1,1)` means nothing to `(8,6)`.
#   A split number may be split again: `((4,2),6)` is compatible with `(((2,2),2),6)`.
#
# The DSL looks at the parentheses, not at whether a number is inside its mode. In which line below does that go wrong?

# %%
for shape in ("((4,2),6)", "(4,2,6)", "(8,6)", "(4,(2,6))"):
    for name in ((5, 3), ((1, 1), 3)):
        try:
            print(f"layoutviz {shape} at {name}: {Layout(shape)(name)}")
        except LayoutError as error:
            print(f"layoutviz {shape} at {name}: {error}")

# %% needs="dsl"
@cute.jit
def shapes_in_the_dsl():
    for shape in (((4, 2), 6), (4, 2, 6), (8, 6), (4, (2, 6))):
        for name in ((5, 3), ((1, 1), 3)):
            try:
                print("DSL", shape, "at", name, "is", cute.make_layout(shape)(name))
            except Exception as error:
                print("DSL", shape, "at", name, "refused:", str(error).splitlines()[-1].removeprefix("error: unknown: "))
    try:
        cute.make_layout((8, 6), stride=((1, 4), 8))
    except Exception as error:
        print("DSL (8,6):((1,4),8) is refused:", error)


shapes_in_the_dsl()

# %% [markdown]
# The DSL goes wrong in `(4,(2,6))` at `(5,3)`: there is no row 5, and 17 is the slot of `(1,4)`.
#
# ## 7. Written in other ways
#
# A layout may have a single mode: `24:1` is 24 elements in a line. The question names it and three others.

# %% jupyter={"source_hidden": true}
ask_choice(
    "24:1, (4,6):(1,4), ((2,2),6):((1,2),4), (6,4):(1,6). From index to offset, how many different functions are these?",
    options={
        1: "Each puts index n into slot n. The shape alone differs: what the cells are called.",
        2: "Which two of them differ? Write down the offsets of index 0 to 6 for (4,6):(1,4) and (6,4):(1,6).",
        4: "They are written in four ways. Write down the offsets of index 0, 1, 2, 3, 4 for two of them.",
    },
    answer=len({tuple(Layout(one).offsets()) for one in ("24:1", "(4,6):(1,4)", "((2,2),6):((1,2),4)", "(6,4):(1,6)")}),
)

# %% [markdown]
# Equal by index, but by row and column? Point at `(1,2)` on the left: which cell lights up on the right?

# %%
compare("(4,6):(1,4)", "(6,4):(1,6)")

# %% [markdown]
# This board can also be written `(4,6):(6,1)`. Move *stride 0.1* away from 12: can its 4 rows still have one stride? Now set *stride 0.0*
# to 8. Which *stride 0.1* makes it possible again?

# %%
explore("((2,2),6):((6,12),1)")

# %% [markdown]
# **The rule.** A mode `s:d` can be split into `(a,b):(d,a*d)` where `a*b` is `s`: the first leaf makes `a - 1` steps of `d`. The next step
# would reach `a*d`, and that is one step of the second leaf. With another second stride the two cannot be merged again (chapter 03).
# So compare layouts by what they do, not by how they print: `same_function` compares by index. If their modes have the same sizes, they
# then agree at each `(i,j)` too.

# %%
one, other = Layout("(6,8):(8,1)"), Layout("((2,3),8):((8,16),1)")
print("layoutviz written alike:", one == other, " same function:", same_function(one, other))

# %% needs="dsl"
@cute.jit
def written_in_the_dsl():
    one, other = cute.make_layout((6, 8), stride=(8, 1)), cute.make_layout(((2, 3), 8), stride=((8, 16), 1))
    print("DSL written alike:", one == other, " at row 5, column 3:", one((5, 3)), "and", other((5, 3)))


written_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 02.8 · One layout for three kernels ★★
#
# Given: a matrix of 12 rows and 8 columns, row-major, without gaps. Three kernels read it. The first names a cell `(m, k)`. The
# second names it `((r, t), k)`, with `r` from 0 to 2, `t` from 0 to 3 and `m = r + 3t`. The third names it `((r, (s, u)), k)`, with
# `s` and `u` from 0 to 1 and `t = s + 2u`. Wanted: `layout`, one layout that takes all three names. Judged by the offset that it gives
# for every cell, under each of its three names.

# %% exercise="02.8" tags=["exercise", "inline"]
### BEGIN SOLUTION
layout = Layout(((3, (2, 2)), 8), ((8, (24, 48)), 1))
### STARTER
# layout = ...
### END SOLUTION

# %% [markdown]
# ## On the GPU
#
# The kernel of chapter 01, unchanged; click the dots to see it. It asks for `mA[m, k]` and `mB[n, k]`, so it reads nested layouts too.

# %% include="ladder/naive.py:TILE,dot,naive_kernel,naive_gemm" needs="dsl" jupyter={"source_hidden": true}
from ladder.naive import naive_gemm

# %% [markdown]
# Each operand is stored row by row, or in tiles of 8 by 8, row by row inside; the tiles follow each other to the right. What does each
# stride of `in_tiles` step over?

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


for name, layouts in pairs(2048, 1536, 1024).items():
    print(f"{name}: row 1 of A is {layouts[0](1, 0)} slots after row 0")

# %% [markdown]
# In `in_tiles`, `columns` steps over a row of the tile, `rows * columns` over a tile, `rows * K` over a row of tiles.
#
# Neighbouring threads compute neighbouring rows of `C`, so at each `k` they read neighbouring rows of `A`.

# %% jupyter={"source_hidden": true}
ask_choice(
    "A GPU fetches memory in sectors of 32 bytes, 16 slots of fp16. 16 threads read column 0 of rows 0 to 15 of A. "
    "How many sectors are fetched, by rows and in tiles?",
    options={
        "16 and 16": "By rows, yes. But in a tile the next row is only 8 slots on, so two of its rows share a sector.",
        "16 and 8": "By rows each element lies in a sector of its own. In a tile two rows share one: half as many sectors at each k.",
        "1 and 1": "That would need 16 neighbouring slots. In which of the two layouts are the 16 elements neighbours?",
    },
    answer=" and ".join(
        str(len({layout(m, 0) // 16 for m in range(16)}))
        for layout in (Layout("(2048,1024):(1024,1)"), Layout("((8,256),(8,128)):((8,8192),(1,64))"))
    ),
)

# %% [markdown]
# These 16 threads all read the same element of `B`, so by this count only the layout of `A` matters. Which two pairs should be faster?
# The line `time` tells, of your GPU or as recorded; cuBLAS gets a copy by rows. Without a GPU the line `SASS` shows a load of the pair
# `rows`, where the next `k` is always one slot on. Why is there no such line for tiles?

# %% needs="dsl"
from ladder import harness

look = "how much faster is A in tiles than rows, and does it pay to tile B too?"
checks = harness.gemm_through_layouts(naive_gemm, pairs, host_mnk=(16, 24, 8), chapter="02", look=look)

# %% [markdown]
# In tiles the next `k` is 1 slot on inside a tile and 57 at its edge: no single number.
#
# On the recorded GPU tiles for `A` helped by more than the count of sectors explains, and tiles for `B` gained nothing: a count is a
# guess, a measurement decides.
#
# Now store `B` in tiles of 4 rows and 8 columns, in `pairs`, and run it again. What had to change in the kernel?
#
# Still the naive kernel: the same mark as in chapter 01.

# %%
from ladder.thermometer import thermometer

thermometer("naive")

# %% [markdown]
# ## Common mistakes
#
# - **Position and tile swapped.** `(4,2)` is 2 tiles of 4 rows; `(2,4)` is 4 tiles of 2. The inside of the tile stands first.
# - **Comparing the set of offsets.** `(4,4):(4,1)` and `(4,4):(1,4)` have the same set, and are two functions.
#
# ## In short
#
# - A mode may have modes inside; each leaf has its extent and its stride.
# - A cell is named by its index, by one number for each mode, or nested. Colexicographic: the first number runs fastest.
# - `((position, tile), (position, tile))` regrouped is `((position, position), (tile, tile))`: a tile is a mode, and nothing moves.
# - The leaf with the smallest stride runs fastest in memory. Other strides: by rows, by tiles, Morton.
# - Congruent: the same parentheses. Compatible: the same sizes, split further. One function can be written as several layouts.
#
# Exercises 02.4 to 02.7 stand in this chapter's notebook of exercises. Next: [03 · Composition](03_composition.ipynb), which puts one
# layout after another.

# %% [markdown] tags=["exercise"]
# ### Exercise 02.4 · Cut it into tiles ★★
#
# Given: any `matrix`, a layout of two modes that are not nested, and two numbers: `a` divides its rows, `c` its columns. Wanted: a
# function `cut(matrix, a, c)` that gives the same elements, where they lie, by tiles of `a` rows and `c` columns: mode 0 is the tile,
# mode 1 counts the tiles, as in section 3. (`matrix.shape` and `matrix.stride` are pairs of numbers.) Judged on matrices that are new
# and random each time: by the shape of what your function gives, and by the offset of every coordinate.

# %% exercise="02.4" tags=["exercise"]
### BEGIN SOLUTION
def cut(matrix, a, c):
    (M, N), (d, e) = matrix.shape, matrix.stride
    return Layout(((a, c), (M // a, N // c)), ((d, e), (a * d, c * e)))
### STARTER
# def cut(matrix, a, c):
#     return ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 02.5 · Mend a Morton order ★★
#
# Given: `((2,2,2),(2,2)):((2,4,16),(1,8))`, 8 rows and 4 columns. It was meant to be Morton order, but with the step to the *right*
# first at each level, then the step down. (At the last level there is only a step down.) It uses each slot once, and yet it does not
# keep to that. Wanted: `layout`, mended. To see what is wrong, `draw` the given one in a cell of your own. Judged by its shape and by
# the offset of every coordinate.

# %% exercise="02.5" tags=["exercise"]
### BEGIN SOLUTION
layout = Layout(((2, 2, 2), (2, 2)), ((2, 8, 16), (1, 4)))
### STARTER
# layout = Layout(((2, 2, 2), (2, 2)), ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 02.6 · The same function, written in another way ★★
#
# Given: `(8,6):(6,1)`, row-major. Wanted: `layout`, another layout of two modes, of 8 and of 6 elements, *both* of them nested, without
# leaves of extent 1. Each `(i,j)` must be at the offset that it has in the given one. There are several right answers. Judged by
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
# lesson's kernel finds `mB[n, k]` where it was stored. Each of its two modes is nested: the position in the tile, then the tile.
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
#     return ...
### END SOLUTION
