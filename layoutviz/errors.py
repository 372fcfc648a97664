"""The one error of the library."""

import traceback
from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
INSIDE = tuple(f"{COURSE / package}/" for package in ("layoutviz", "ladder", "exercises"))


class ReaderError(Exception):
    """An error whose message is all the reader needs: in a notebook it shows their own line, not the inside of the library."""

    def _render_traceback_(self):
        """IPython asks this first."""
        frames = traceback.extract_tb(self.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(INSIDE) and "/IPython/" not in frame.filename]
        return ([f"line {own[-1].lineno}:  {own[-1].line}"] if own else []) + [f"{type(self).__name__}: {self}"]


class LayoutError(ReaderError, ValueError):
    """Something asked of a layout that has no right answer; the message says what, where, and what would be right."""


class RaggedWarning(UserWarning):
    """Tiles stick out of the layout they divide, or leave elements out. Legal, since kernels guard them; never silent."""
