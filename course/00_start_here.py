# %% [markdown]
# # 00 · Start here
#
# What this machine can do, how the course works, and the way on. Two minutes.

# %% tags=["setup"]
import exercises
from exercises import ask_cells
from ladder.harness import preflight
from layoutviz import Layout, compare

# %% [markdown]
# ## What this machine can do
#
# Layouts and pictures need only Python. Kernels are compiled where the CuTe DSL is installed, and run where there is an NVIDIA
# GPU. What is missing is named, with what mends it.

# %%
print(preflight())

# %% [markdown]
# ## How a board works
#
# A grid like these is a **board**. Point at a cell: the line under the board says what it is, and every cell that lies in the
# same slot of memory lights up. Click to pin it, click again to let go. With the keyboard: Tab to the board, arrows, Enter.

# %%
compare("(4,4):(4,1)", "(4,4):(1,4)")

# %% [markdown]
# ## How a question works
#
# Lessons ask before they explain. Guess: a wrong guess costs nothing, and the board shows what happened.

# %%
row_major = Layout((4, 4), (4, 1))
ask_cells(
    f"The layout {row_major} runs along the rows. Click the cell that comes first in memory.",
    row_major,
    offsets=[0],
    why="Coordinate (0,0) is always at offset 0.",
)

# %% [markdown]
# ## How an exercise works
#
# An exercise is a cell that starts with `%%exercise`. Put your answer in place of the `...` and press Shift-Enter: the cell
# checks itself and says what is wrong, where. Hints come one at a time. What you have solved is kept:

# %%
exercises.progress()

# %% [markdown]
# ## The way on
#
# Start with [01 · Paper layouts](01_paper_layouts.ipynb). The chapters after it are being written.
