"""The one error of the library."""

import traceback
from pathlib import Path

_HERE = str(Path(__file__).parent)


class LayoutError(ValueError):
    """Something asked of a layout that has no right answer; the message says what, where, and what would be right."""

    def _render_traceback_(self):
        """IPython asks this first: the reader sees the message and their own line, not the inside of the library."""
        own = [f for f in traceback.extract_tb(self.__traceback__) if not f.filename.startswith(_HERE) and "/IPython/" not in f.filename]
        return ([f"line {own[-1].lineno}:  {own[-1].line}"] if own else []) + [f"LayoutError: {self}"]
