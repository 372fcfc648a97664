# %% [markdown]
# # 00 · Start here
#
# What this machine can do, how lessons and exercises work, and a first right answer within two minutes. Ten minutes, and as many for the
# exercises at its end. Run each cell with Shift-Enter, from the top.

# %% tags=["setup"]
from importlib.metadata import distributions

import exercises
from exercises import ask_cells
from ladder.harness import preflight
from layoutviz import Layout, compare, explore

# %% [markdown]
# ## What this machine can do
#
# Layouts and pictures need only Python. GPU **kernels**, the functions that run on a GPU, are written in NVIDIA's CuTe DSL, in Python.
# They are compiled where the DSL is installed, and run where there is an NVIDIA GPU. You can do the whole course without a GPU. Where
# something can be mended, a line with `->` says how. *Lab* is JupyterLab, which shows this page. *arch* is the kind of GPU that kernels
# are compiled for: `sm_90a` is Hopper, an H100 or H200.

# %%
print("Lab    ", next((lab.version for lab in distributions(name="jupyterlab")), "not found -> make lab installs it"))
print(preflight())

# %% [markdown]
# ## How a board works
#
# The two grids below are **boards**. Point at a cell: a line comes up under the board and says what it is, and every cell with the same
# number lights up. (Chapter 01 explains the words in that line.) Click to pin it, click again to let go. With the keyboard: Tab to the
# board, arrows, Enter. If you see words and no grids, the widgets do not run: reload the page and run the cells again.

# %%
compare("(3,5):(5,1)", "(3,5):(1,3)")

# %% [markdown]
# This board has sliders. Drag *stride 0* to 1 and *stride 1* to 3. Which of the two boards above is it now? The other fields can wait.

# %%
explore("(3,5):(5,1)")

# %% [markdown]
# ## How a question works
#
# Lessons ask before they explain. Guess: a wrong guess costs nothing. (The cell that asks is folded away, since its answer stands in it.)

# %% jupyter={"source_hidden": true}
ask_cells(
    "The numbers of the left board above run along its rows. Here it is without them. Click the cell that holds 8.",
    Layout((3, 5), (5, 1)),
    offsets=[8],
    why="The first row holds 0 to 4, and the second goes on with 5, 6, 7, 8.",
)

# %% [markdown]
# ## How an exercise works
#
# An exercise is a cell that starts with `%%exercise`. Put your answer in place of the `...` and press Shift-Enter: the cell checks itself
# and says what is wrong, and where. Some, like this one, can also be answered on a board. Hints come one at a time, behind a button,
# and after the last one the solution. One star ★ is the lesson once more, two join two ideas, three are a small discovery.

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 00.1 · A first answer ★
#
# Given: a board of 4 rows and 6 columns. Its numbers start with 0 at the top left and run along the rows: after the end of a row they go
# on at the start of the next. Wanted: `cells`, the three cells that hold 10, 11 and 12. Run the cell as it is, click the three on the
# board that appears, and press *Check*. (Or type them in place of the `...`, each as (row, column), counted from 0: `[(0, 3), (3, 5)]`
# would be the cells that hold 3 and 23.) Judged by the cells; their order does not count.

# %% exercise="00.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
cells = [(1, 4), (1, 5), (2, 0)]
### STARTER
# cells = ...
### END SOLUTION

# %% [markdown]
# Wrong? Read what the verdict says, or press *Hint*. A wrong answer is where most is learnt here.

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 00.2 · The other board ★
#
# Given: the right one of the two boards in the lesson, `(3,5):(1,3)`, whose numbers run down the columns. Wanted: `found`, the number
# in row 2, column 3, both counted from 0. Work it out before you look. Run the cell as it is to type the number below it. Judged by
# the number.

# %% exercise="00.2" tags=["exercise", "inline"]
### BEGIN SOLUTION
found = 11
### STARTER
# found = ...
### END SOLUTION

# %% [markdown]
# ## Your progress
#
# What you have tried and solved is kept on this machine. Run this cell at any time to see what is done and what is next.

# %%
exercises.progress()

# %% [markdown]
# To try an exercise anew: `exercises.reset("00.1")` forgets that one, `exercises.reset()` forgets all. Both say which file brings
# it back.
#
# ## How a lesson goes
#
# Each section asks, shows the answer on a board, gives you sliders and something to find, then says the rule, and then writes it in one
# line of code: ours, and the same in the DSL. A few exercises stand in the lesson. The rest are in the chapter's own notebook of exercises;
# links at the foot of each page lead there, and to the solutions.
#
# Work in these notebooks as you like: they are your copies. `make reset NN=00`, in a terminal, starts a chapter over and keeps your
# old copy. If a cell hangs: *Kernel*, *Restart Kernel*, then run the cells from the top.

# %% [markdown]
# ## One kernel through the whole toolchain
#
# A small product of two matrices, which is called a **GEMM**, to show that everything works. The DSL compiles the kernel here. On a GPU
# it runs, is checked, beside cuBLAS (NVIDIA's own library), against NumPy's product, and is timed beside cuBLAS. Without a GPU its loops
# run on the CPU, and the last lines show what a GPU said when it was last asked.

# %% needs="dsl" jupyter={"source_hidden": true}
from ladder.harness import gemm_through_layouts, operand_pairs
from ladder.naive import naive_gemm


def one_pair(M, N, K):
    return {"TN": operand_pairs(M, N, K)["TN"]}


look = "an error below the bound: the DSL, the driver, PyTorch and the GPU work together. The speed is what the course is about"
checks = gemm_through_layouts(naive_gemm, one_pair, (120, 72, 40), time_mnk=(1024, 768, 512), chapter="00", look=look)

# %% [markdown]
# What to look at: on a GPU the line *error*, which must stay below its bound; without one the line *CPU*. Chapter 01 explains the rest.
#
# How far is this simple kernel from cuBLAS, for large matrices?

# %%
from ladder.thermometer import thermometer

thermometer("naive")

# %% [markdown]
# ## Common mistakes
#
# - **Another package.** The DSL is `nvidia-cutlass-dsl`; `nvidia-cutlass` is something else, and cannot be imported in its place.
# - **Wheels newer than the driver.** Packages built for CUDA 13 need a driver of 580 or newer. The list at the top says which it found.
# - **`sm_90` for `sm_90a`.** Hopper's tensor cores need the `a`.
# - **A cell too early.** After *Restart Kernel* nothing is known: if a name or `%%exercise` is not found, run the cells from the top.
# - **Counting from 1.** The first row is row 0, and so are the first column and the first number.

# %% [markdown]
# ## The map of the course
#
# A chapter with a link is ready. The minutes are for the lesson; its exercises take extra time. Exercises 00.3 to 00.5 stand in this
# chapter's notebook of exercises.

# %%
from IPython.display import Markdown

from course.readme import chapter_table

Markdown(chapter_table())

# %% [markdown]
# ## Terms and names
#
# Not to be learnt now: come back when a name puzzles you. *Ours* are names of `layoutviz`, *DSL* those of `cutlass.cute`, and *C++* those
# of CuTe in C++; *same* is the same name as ours. `L` is a layout. The last column is the chapter that teaches it, written or not.
#
# | term | what it is | ours | DSL | C++ | chapter |
# | --- | --- | --- | --- | --- | --- |
# | layout | a rule from a coordinate to an offset, `shape:stride` | `Layout` | `make_layout` | `make_layout` | 01 |
# | mode | one direction of a layout: an extent and a stride; `rank` counts them | `rank` | same | same | 01 |
# | coordinate | which row and column | `L.coordinate` | `idx2crd` | `idx2crd` | 01 |
# | index | the number of a coordinate, counted down the first column, then the next | `L.coordinate` | `idx2crd` | `idx2crd` | 01 |
# | offset | the slot where an element lies, counted in elements; what `crd2idx` calls idx | `L.offsets` | `crd2idx` | `crd2idx` | 01 |
# | size, cosize | how many elements; how many slots they need | `size`, `cosize` | same | same | 01 |
# | transpose | the two modes swapped | `select` | same | same | 01 |
# | nested mode | a mode that has modes | `depth`, `flatten` | same | same | 02 |
# | coalesce | the same function with as few modes as can be | `coalesce` | same | same | 03 |
# | composition | one layout after another | `composition` | same | same | 03 |
# | inverse | from the offset back | `right_inverse`, `left_inverse` | same | same | 03 |
# | complement | the steps that a layout leaves out | `complement` | same | same | 04 |
# | divide | a layout cut into tiles | `logical_divide`, `zipped_divide` | same | same | 04 |
# | product | a tile repeated | `logical_product`, `blocked_product` | same | same | 04 |
# | tensor | a layout, and where it starts | `Tensor` | `make_tensor` | `make_tensor` | 04 |
# | tile, part | one tile of a tensor; one thread's part of it | `local_tile`, `local_partition` | same | same | 04 |
# | bank | one of the 32 parts of shared memory that answer at once | `memory.bank_conflicts` | – | – | 05 |
# | swizzle | offsets mixed so that banks are shared out | `Swizzle` | `make_swizzle` | same | 05 |
# | composed layout | a swizzle after a layout | `ComposedLayout` | `make_composed_layout` | same | 05 |
#
# <details><summary>Chapters 06 to 10</summary>
#
# | term | what it is | ours | DSL | C++ | chapter |
# | --- | --- | --- | --- | --- | --- |
# | jit, kernel | a function that is compiled; one that runs on the GPU | – | `jit`, `kernel` | `__global__` | 06 |
# | thread, value | who holds an element, and as which of its own | `make_layout_tv` | same | – | 07 |
# | tiled copy | a copy shared out among threads | – | `make_tiled_copy_tv` | `make_tiled_copy` | 07 |
# | atom | one instruction, with the threads and values it takes | – | `make_mma_atom`, `make_copy_atom` | `MMA_Atom`, `Copy_Atom` | 08 |
# | tiled MMA | atoms side by side, for one tile | – | `make_tiled_mma` | `make_tiled_mma` | 08 |
# | fragment | what one thread holds in registers | – | `make_rmem_tensor` | `make_fragment_like` | 08 |
# | GEMM | a product of two matrices | – | `gemm` | `gemm` | 09 |
# | WGMMA | a product by four warps, on Hopper | – | `nvgpu.warpgroup` | `MMA_Atom` | 10 |
# | TMA | Hopper's unit that copies whole tiles | – | `nvgpu.cpasync` | `make_tma_copy` | 10 |
#
# </details>
#
# ## The way on
#
# Go to [01 · Paper layouts](01_paper_layouts.ipynb).

# %% [markdown] tags=["exercise"]
# ### Exercise 00.3 · Skip a number ★★
#
# Given: a board of 3 rows and 5 columns with sliders. Wanted: `layout`, what its field *layout* says when the numbers run along the rows
# and one number is skipped after each row: row 0 holds 0 to 4, row 1 holds 6 to 10, row 2 holds 12 to 16. Put `explore("(3,5):(5,1)")`
# into a new cell to get the board, and write what you find as a text, in quotes. Judged by each number of the board.

# %% exercise="00.3" tags=["exercise"]
### BEGIN SOLUTION
layout = "(3,5):(6,1)"
### STARTER
# layout = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 00.4 · Fill the gaps ★★
#
# Given: a board of 3 rows and 4 columns, whose numbers run down the columns. They are written in the cell row by row, and three are
# missing. Wanted: `numbers`, the whole list. Judged number by number: run it with a wrong one too, and see what the verdict says.

# %% exercise="00.4" tags=["exercise"]
### BEGIN SOLUTION
numbers = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]
### STARTER
# numbers = [0, 3, 6, 9, 1, 4, ..., 10, 2, ..., 8, ...]
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 00.5 · A number of its own ★★★
#
# Given: a board of 3 rows and 5 columns whose *stride 0* is 4: `explore("(3,5):(4,1)")`, in a new cell, shows it. Some numbers stand in two
# cells. Wanted: `stride`, the smallest *stride 1*, of 1 or more, at which each cell has a number of its own. Run the cell as it is to
# type it below. Judged by the number.

# %% exercise="00.5" tags=["exercise"]
### BEGIN SOLUTION
stride = 3
### STARTER
# stride = ...
### END SOLUTION
