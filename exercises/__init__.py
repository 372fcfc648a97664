"""Exercises that check themselves: `import exercises` gives a notebook the magics `%%exercise ID` and `%%needs dsl`.

`ask_cells`, `ask_choice`, `ask_offsets`: the questions inside a lesson. `verdicts`: id -> the last Verdict of this kernel.
`progress()`: what is done and what is next. `reset("01.2")`: forget the progress of one exercise; `reset()`: of all. Outside IPython
the import only gives these names.
"""

from IPython import get_ipython

from exercises.engine.ask import ask_cells, ask_choice, ask_offsets
from exercises.engine.dashboard import progress
from exercises.engine.progress import reset
from exercises.engine.verdict import verdicts

__all__ = ["ask_cells", "ask_choice", "ask_offsets", "progress", "reset", "verdicts"]

if (_shell := get_ipython()) is not None:
    from exercises.engine.magic import register

    register(_shell)
