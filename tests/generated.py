"""Layouts and calls of the algebra, generated: nested, size-1 modes, stride 0, negative, non-coprime, ragged, sparse."""
from math import prod

from hypothesis import strategies as st

from layoutviz import ComposedLayout, Layout, Swizzle, Tensor
from layoutviz.int_tuple import leaf_values, nest

EXTENTS = (1, 2, 2, 3, 4, 4, 5, 6, 8)
STEPS = (0, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 10, 12, 16, 24)


@st.composite
def shapes(draw, max_size=96, max_leaves=4):
    extents = []
    for extent in draw(st.lists(st.sampled_from(EXTENTS), min_size=1, max_size=max_leaves)):
        if prod(extents) * extent <= max_size:
            extents.append(extent)
    shape = tuple(extents or (1,))
    for start, count in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), max_size=2)):
        shape = shape[:start] + ((shape[start : start + count],) if shape[start:] else ()) + shape[start + count :]
    return shape[0] if len(shape) == 1 and draw(st.booleans()) else shape


@st.composite
def layouts(draw, max_size=96, negative=False):
    """Any layout: half of them with arbitrary strides, half compact in some order, perhaps with gaps."""
    shape = draw(shapes(max_size))
    extents = leaf_values(shape)
    if draw(st.booleans()):
        steps = [*STEPS, -1, -3] if negative else STEPS
        return Layout(shape, nest(draw(st.lists(st.sampled_from(steps), min_size=len(extents), max_size=len(extents))), shape))
    return Layout(shape, nest(draw(_spread(extents)), shape))


@st.composite
def _spread(draw, extents):
    strides, step = [0] * len(extents), 1
    for k in draw(st.permutations(range(len(extents)))):
        step *= draw(st.sampled_from((1, 1, 1, 2, 3)))
        strides[k] = step
        step = step * extents[k] + draw(st.sampled_from((0, 0, 0, 1)))
    return strides


@st.composite
def spread_layouts(draw, max_size=64):
    """Layouts in which no two elements can meet: each stride jumps past what the smaller ones reach."""
    shape = draw(shapes(max_size))
    return Layout(shape, nest(draw(_spread(leaf_values(shape))), shape))


@st.composite
def compact_layouts(draw, max_size=32):
    """Layouts that number their elements 0, 1, 2, ... in some order of their leaves."""
    shape = draw(shapes(max_size))
    extents = leaf_values(shape)
    strides, step = [0] * len(extents), 1
    for k in draw(st.permutations(range(len(extents)))):
        strides[k] = step
        step *= extents[k]
    return Layout(shape, nest(strides, shape))


@st.composite
def swizzles(draw):
    b, m = draw(st.integers(0, 3)), draw(st.integers(0, 4))
    return Swizzle(b, m, draw(st.integers(b, 4)) * draw(st.sampled_from((1, 1, -1))))


@st.composite
def any_kind(draw, of=None):
    """A layout, or one inside a swizzle, or one at a place."""
    of = layouts() if of is None else of
    kind = draw(st.sampled_from("llcct"))
    if kind == "l":
        return draw(of)
    if kind == "t":
        return Tensor(draw(of), draw(st.integers(0, 50)))
    return ComposedLayout(draw(swizzles()), draw(st.sampled_from((0, 0, 8, 13))), draw(of))


def tilers(entries):
    """A tuple of entries, or one tiler for the whole layout."""
    return st.one_of(spread_layouts(12), st.integers(1, 8), st.lists(entries, min_size=1, max_size=3).map(tuple))


TILES = tilers(st.one_of(st.integers(1, 6), st.none(), spread_layouts(8)))


@st.composite
def _modes_of(draw, layout):
    return layout, tuple(draw(st.lists(st.integers(0, layout.rank - 1), min_size=1, max_size=layout.rank, unique=True)))


@st.composite
def _groups_of(draw, layout):
    begin = draw(st.integers(0, layout.rank - 1))
    return layout, begin, draw(st.integers(begin + 1, layout.rank))


@st.composite
def _slices_of(draw, layout):
    modes = [layout.shape] if not isinstance(layout.shape, tuple) else layout.shape
    entries = [draw(st.one_of(st.none(), st.integers(0, prod(leaf_values(mode)) - 1))) for mode in modes]
    return layout, tuple(entries) if isinstance(layout.shape, tuple) else entries[0]


@st.composite
def _shapes_for(draw, atom):
    modes = atom.shape if isinstance(atom.shape, tuple) else (atom.shape,)
    sizes = tuple(prod(leaf_values(mode)) * draw(st.integers(1, 4)) for mode in modes)
    order = draw(st.one_of(st.none(), st.permutations(range(len(sizes))).map(tuple)))
    return (atom, sizes) if order is None else (atom, sizes, order)


@st.composite
def _tile_calls(draw):
    tensor = draw(any_kind(compact_layouts(96)))
    modes = tensor.shape if isinstance(tensor.shape, tuple) else (tensor.shape,)
    tile, at = [], []
    for mode in modes:
        extent = prod(leaf_values(mode))
        tile.append(draw(st.integers(1, min(extent, 6))))
        at.append(draw(st.one_of(st.none(), st.integers(0, -(-extent // tile[-1]) - 1))))
    return tensor, tuple(tile), tuple(at)


@st.composite
def _partition_calls(draw):
    tensor = draw(any_kind(compact_layouts(96)))
    rank = tensor.rank
    threads = draw(compact_layouts(8).filter(lambda layout: isinstance(layout.shape, tuple) and layout.rank <= rank))
    return tensor, threads, draw(st.integers(0, threads.size - 1))


WIDTHS = st.sampled_from([(16, 8), (8, 16), (32, 8), (8, 32), (32, 16), (16, 32), (4, 8), (8, 4), (16, 16)])
PRODUCT = st.tuples(any_kind(spread_layouts(24)), compact_layouts(12))

# For each operation, how to call it: a strategy of argument tuples.
CALLS = {
    "coalesce": st.tuples(any_kind(layouts(negative=True))),
    "flatten": st.tuples(any_kind(layouts(negative=True))),
    "filter_zeros": st.tuples(any_kind()),
    "append": st.tuples(layouts(), layouts(8)),
    "prepend": st.tuples(layouts(), layouts(8)),
    "get": layouts().flatmap(lambda layout: st.tuples(st.just(layout), st.integers(0, layout.rank - 1))),
    "select": any_kind().flatmap(_modes_of),
    "group": any_kind().flatmap(_groups_of),
    "slice_": any_kind().flatmap(_slices_of),
    "composition": st.tuples(any_kind(layouts(negative=True)), st.one_of(layouts(48), TILES)),
    "complement": st.tuples(st.one_of(spread_layouts(48), layouts(24)), st.integers(1, 200)),
    "right_inverse": st.tuples(st.one_of(spread_layouts(), layouts(48, negative=True))),
    "left_inverse": st.tuples(st.one_of(spread_layouts(), layouts(24))),
    **dict.fromkeys(("logical_divide", "zipped_divide", "tiled_divide", "flat_divide"), st.tuples(any_kind(), TILES)),
    **dict.fromkeys(("logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"), PRODUCT),
    "make_layout_tv": st.tuples(compact_layouts(32), compact_layouts(8)),
    "tile_to_shape": any_kind(compact_layouts(32)).flatmap(_shapes_for),
    "local_tile": _tile_calls(),
    "local_partition": _partition_calls(),
    "recast_layout": st.tuples(WIDTHS, any_kind(st.one_of(compact_layouts(48), layouts()))).map(lambda pair: (*pair[0], pair[1])),
}
