"""Exercises that check themselves: `import exercises` gives a notebook the magics `%%exercise ID` and `%%needs dsl`.

`exercises.verdicts`: id -> the last Verdict of this kernel. `exercises.progress()`: what is done, as a table.
"""

import sys

from exercises.engine.progress import progress
from exercises.engine.verdict import verdicts

__all__ = ["progress", "verdicts"]

# where IPython is not even loaded, no shell can be running; importing it only to ask would be slow
_shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
if _shell is not None:
    from exercises.engine.magic import register

    register(_shell)
