"""The one error of the ladder."""

import traceback
from pathlib import Path

_HERE = str(Path(__file__).parent)


class LadderError(RuntimeError):
    """A kernel, an operand or this machine is not as it must be; the message says what, and what would be right."""

    def _render_traceback_(self):
        """IPython asks this first: the reader sees the message and their own line, not the inside of the harness."""
        own = [f for f in traceback.extract_tb(self.__traceback__) if not f.filename.startswith(_HERE) and "/IPython/" not in f.filename]
        return ([f"line {own[-1].lineno}:  {own[-1].line}"] if own else []) + [f"{type(self).__name__}: {self}"]


class CheckFailed(LadderError):
    """A kernel's result is wrong; the message says where it first departs."""
