# %% [markdown]
# # 00 · Start here
#
# What this machine can do, how the course works, and the way on. Two minutes. Run each cell with Shift-Enter.

# %% tags=["setup"]
import exercises
from exercises import ask_cells
from ladder.harness import preflight
from layoutviz import Layout, compare

# %% [markdown]
# ## What this machine can do
#
# Layouts and pictures need only Python. GPU kernels are compiled where the CuTe DSL is installed, and run where there is an NVIDIA
# GPU. Where something could be added, the line after it says how.

# %%
print(preflight())

# %% [markdown]
# ## How a board works
#
# The two grids below are **boards**. Point at a cell: the line under the board says what it is, and every cell with the same number
# lights up. Click to pin it, click again to let go. With the keyboard: Tab to the board, arrows, Enter. What the numbers mean is
# the first thing you learn in chapter 01.

# %%
compare("(3,5):(5,1)", "(3,5):(1,3)")

# %% [markdown]
# ## How a question works
#
# Lessons ask before they explain. Guess: a wrong guess costs nothing, and the board shows what happened. (The cell that asks is
# folded away, since its answer stands in it.)

# %% jupyter={"source_hidden": true}
ask_cells(
    "The numbers of the left board above run along its rows. Here it is without them. Click the cell that holds 0.",
    Layout((3, 5), (5, 1)),
    offsets=[0],
    why="In every layout the first cell, at the top left, is at 0.",
)

# %% [markdown]
# ## How an exercise works
#
# An exercise is a cell that starts with `%%exercise`. Put your answer in place of the `...` and press Shift-Enter: the cell
# checks itself and says what is wrong, where. Hints come one at a time.

# %% [markdown]
# ## Your progress
#
# What you have tried and solved is kept on this machine. Run this cell at any time to see what is done and what is next.

# %%
exercises.progress()

# %% [markdown]
# To try an exercise anew: `exercises.reset("01.2")` forgets that one, `exercises.reset()` forgets all. Both say which file brings
# it back.

# %% [markdown]
# ## The way on
#
# Start with [01 · Paper layouts](01_paper_layouts.ipynb). The chapters after it are being written.
