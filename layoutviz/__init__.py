"""CuTe layouts as functions, and pictures of them.

>>> from layoutviz import Layout
>>> Layout("(4,4):(4,1)")(2, 1)
9
"""

from types import ModuleType as _Module

from layoutviz.algebra import (
    append,
    blocked_product,
    coalesce,
    complement,
    composition,
    cosize,
    depth,
    filter_zeros,
    flat_divide,
    flat_product,
    flatten,
    get,
    group,
    left_inverse,
    local_partition,
    local_tile,
    logical_divide,
    logical_product,
    make_layout_tv,
    prepend,
    raked_product,
    rank,
    recast_layout,
    right_inverse,
    select,
    size,
    tile_to_shape,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)
from layoutviz.api import compare, draw, explore, to_figure, to_svg, to_text
from layoutviz.composed import ComposedLayout, Swizzle, Tensor, same_function, slice_
from layoutviz.errors import LayoutError, RaggedWarning
from layoutviz.layout import Layout

__all__ = [name for name, value in list(globals().items()) if name[0] != "_" and not isinstance(value, _Module)]
