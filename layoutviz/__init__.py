"""CuTe layouts as functions, and pictures of them.

>>> from layoutviz import Layout
>>> Layout("(4,4):(4,1)")(2, 1)
9
"""

from layoutviz.algebra import select
from layoutviz.api import compare, draw, explore, to_figure, to_svg, to_text
from layoutviz.composed import ComposedLayout, Swizzle, Tensor, same_function, slice_
from layoutviz.errors import LayoutError
from layoutviz.layout import Layout

__all__ = ["Layout", "LayoutError", "compare", "draw", "explore", "same_function", "select", "to_figure", "to_svg", "to_text"]
