"""CuTe layouts as functions, and pictures of them.

>>> from layoutviz import Layout
>>> Layout("(4,4):(4,1)")(2, 1)
9
"""

from layoutviz import algebra
from layoutviz.algebra import *  # noqa: F403
from layoutviz.api import compare, draw, explore, to_figure, to_svg, to_text
from layoutviz.composed import ComposedLayout, Swizzle, Tensor, same_function
from layoutviz.errors import LayoutError, RaggedWarning
from layoutviz.layout import Layout
from layoutviz.steps import explain

__all__ = [
    "ComposedLayout", "Layout", "LayoutError", "RaggedWarning", "Swizzle", "Tensor",
    "compare", "draw", "explain", "explore", "same_function", "to_figure", "to_svg", "to_text", *algebra.__all__,
]
