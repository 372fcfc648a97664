"""`explain`: the steps of an operation, with its numbers in them."""

import warnings
from contextlib import suppress

from layoutviz import algebra
from layoutviz.composed import ComposedLayout, Swizzle, Tensor, as_function, as_layout
from layoutviz.errors import LayoutError, RaggedWarning
from layoutviz.layout import Layout, merge
from layoutviz.notation import format_tuple

SHOWN = 8  # numbers of a longer row that are written out


class Steps(tuple):
    """Lines of an explanation, in order; typed last in a cell they show themselves."""

    def __str__(self):
        return "\n".join(f"{n}. {line}" for n, line in enumerate(self, 1))

    __repr__ = __str__


def explain(op: str, *args) -> Steps:
    """How an operation comes to its result, step by step. Where there is no result, the last step says why.

    >>> explain("complement", "4:2", 24)
    1. A = 4:2 has strides 2. Which steps between 0 and 23 are left free?
    2. 4:2: 1 slot is full before it, and its stride is 2. 2 / 1 = 2: the rest gets 2:1. After it 2 * 4 = 8 slots are full.
    3. 24 / 8 = 3: the rest gets 3:8.
    4. complement(4:2, 24) = (2,3):(1,8)
    """
    algebra.named_arguments(op, args)
    lines, refused = [], False
    with warnings.catch_warnings(record=True) as ragged:
        warnings.simplefilter("always", RaggedWarning)
        try:
            result = getattr(algebra, op)(*args)
            end = f"{op}({', '.join(map(format_tuple, args))}) = {format_tuple(result)}"
        except LayoutError as error:
            refused, end = True, str(error)
        told = list(dict.fromkeys(str(warning.message) for warning in ragged))
        with suppress(Exception if refused else LayoutError):  # what was refused may be anything
            lines += _STEPS.get(op, _no_steps)(*args)
    return Steps([*lines, *told, end])


def _row(values) -> str:
    values = list(values)
    return ", ".join(map(str, values[:SHOWN])) + (", ..." if len(values) > SHOWN else "")


def _no_steps(*args):
    return []


def _inside(layout, steps):
    """The same steps for what stands inside a composed layout or a tensor, and a line on what stays outside."""
    outside = f"+ {layout.offset}" if isinstance(layout, Tensor) else f"{layout.outer} o {layout.offset}"
    inner = layout.layout if isinstance(layout, Tensor) else layout.inner
    yield f"{outside} stays; the work is done on {inner}."
    yield from steps(inner)


def _coalesce(layout, profile=None):
    layout = as_layout(layout)
    if not isinstance(layout, Layout):
        yield from _inside(layout, lambda inner: _coalesce(inner, profile))
    elif isinstance(profile, (tuple, list)):
        yield f"The profile {format_tuple(profile)} has an entry for each mode, and each mode is merged by itself."
    else:
        done = []
        for s, d in layout.leaves:
            before, done = done, merge([*done, (s, d)])
            n, step = before[-1] if before else (1, 1)
            last = f"{n}:{step}, as {n} * {step} = {n * step}"
            if s == 1:
                yield f"1:{d} has one coordinate, and goes."
            elif len(done) == len(before):
                yield f"{s}:{d} continues {last}: together {done[-1][0]}:{done[-1][1]}."
            elif before:
                yield f"{s}:{d} does not continue {last}: it stays."


def _composition(a, b):
    a, b = as_function(a), algebra.as_tiler(b)
    if isinstance(a, (ComposedLayout, Tensor)):
        yield from _inside(a, lambda inner: _composition(inner, b))
    elif isinstance(b, tuple):
        for m, (mode, tiler) in enumerate(zip(a.modes(), b, strict=False)):
            yield f"mode {m}, by itself: {mode} {'stays' if tiler is None else f'o {format_tuple(tiler)}'}"
    elif isinstance(a, Layout) and isinstance(b, Layout):
        yield f"C has the shape of B = {b}, and C(i) = A(B(i)) for A = {a}."
        leaves = [Layout(s, d) for s, d in b.leaves if s > 1]
        for leaf in leaves:
            index = leaf.at(range(min(leaf.size, SHOWN + 1)))
            yield f"{leaf} of B visits indices {_row(index)} of A, where A is {_row(a.at(index))}: {_as_leaf(a, leaf)}."
        if len(leaves) > 1:
            i = b.size - 1
            yield f"The parts must add up everywhere. At the last index, {i}, B is {b(i)}, and A({b(i)}) = {a(b(i))}."
    else:
        yield f"Both are kept: first {b}, then {a}."


def _as_leaf(a: Layout, leaf: Layout) -> str:
    try:
        return f"that is {algebra.composition(a, leaf)}"
    except LayoutError:
        return "steps that no layout has"


def _complement(layout, cotarget):
    layout, n = as_layout(layout), cotarget if isinstance(cotarget, int) else algebra.size(cotarget)
    leaves = sorted((leaf for leaf in layout.leaves if leaf[0] > 1), key=lambda leaf: leaf[1])
    yield f"A = {layout} has strides {_row(d for _, d in leaves) or '0'}. Which steps between 0 and {n - 1} are left free?"
    reach, full = 1, "full"
    for s, d in leaves:
        before = f"{s}:{d}: {reach} slot{'s are' if reach > 1 else ' is'} {full} before it"
        if d < reach:
            yield f"{before}, and a step of {d} falls among them."
            return
        share = f"{d} / {reach} = {d // reach}"
        if d % reach:
            share, full = f"{share}, rounded down, since slots stay free that no copy fits", "passed"
        gets = f"the rest gets {d // reach}:{reach}" if d // reach > 1 else "the rest gets nothing"
        yield f"{before}, and its stride is {d}. {share}: {gets}. After it {d} * {s} = {d * s} slots are {full}."
        reach = s * d
    copies = -(-n // reach)
    rounded, gets = "" if n % reach == 0 else ", rounded up", f"{copies}:{reach}" if copies > 1 else "nothing more"
    yield f"{n} / {reach} = {copies}{rounded}: the rest gets {gets}."


def _inverse(layout):
    index, steps = 1, []
    for s, d in as_layout(layout).leaves:
        steps.append((d, s, index))
        index *= s
    yield "Sort the leaves by stride, and note how far the index moves for one step of each."
    reach = 1
    for d, s, weight in sorted(steps):
        if s > 1:
            yield f"stride {d}: {s} steps, each moves the index by {weight}."
            if d and d < reach:
                yield "Strides overlap here: their order alone does not decide what comes next."
                return
            reach = d * s


def _mode_by_mode(layout: Layout, tiler: tuple, pair: str, op):
    for m, (mode, t) in enumerate(zip(layout.modes(), tiler, strict=False)):
        yield f"mode {m}, {mode}: {'stays' if t is None else f'{pair} by {format_tuple(t)} is {op(mode, t)}'}"


def _divide(layout, tiler):
    layout, tiler = as_layout(layout), algebra.as_tiler(tiler)
    if not isinstance(layout, Layout):
        yield from _inside(layout, lambda inner: _divide(inner, tiler))
    elif isinstance(tiler, tuple):
        yield from _mode_by_mode(layout, tiler, "(tile, rest)", algebra.logical_divide)
    else:
        rest = algebra.complement(tiler, layout.size)
        yield f"T = {tiler} is one tile; T* = complement(T, {layout.size}) = {rest} says where tiles start."
        yield f"The result is A o (T, T*) = A o {algebra.stack((tiler, rest))}."


def _product(block, tiler):
    block, tiler = as_layout(block), algebra.as_tiler(tiler)
    if not isinstance(block, Layout):
        yield from _inside(block, lambda inner: _product(inner, tiler))
    elif isinstance(tiler, tuple):
        yield from _mode_by_mode(block, tiler, "(block, copies)", algebra.logical_product)
    else:
        n = block.size * tiler.cosize
        free = algebra.complement(block, n)
        yield f"{tiler.cosize} blocks of {block.size} need {n} slots; complement(block, {n}) = {free} says where copies can start."
        yield f"The tiler picks among those: {free} o {tiler} = {algebra.composition(free, tiler)}."


def _paired(block, tiler):
    yield from _product(block, as_layout(tiler))
    yield "Each mode pairs the block's mode with the copies' mode."


def _make_layout_tv(threads, values):
    places = algebra.raked_product(threads, values)
    n = algebra.size(threads)
    yield f"Of the raked product {places}, number t + {n} * v belongs to thread t as its value v."
    yield f"Its right inverse, {algebra.right_inverse(places)}, says where in the tile a number stands."
    yield f"Composed with ({n},{algebra.size(values)}), which makes that number of (t, v), it is the TV layout."


def _tile_to_shape(atom, shape, order=None):
    atom, shape = as_layout(atom), Layout(shape)
    counts = [mode.size // algebra.size(atom, m) if m < atom.rank else mode.size for m, mode in enumerate(shape)]
    yield f"{format_tuple(shape.shape)} holds {format_tuple(tuple(counts))} atoms of shape {format_tuple(atom.shape)}."
    yield f"They are numbered in order {format_tuple(order or tuple(range(len(counts))))}: a blocked product of the atom and those numbers."


def _local_tile(tensor, tiler, coordinate, proj=None):
    tiler, coordinate = algebra.project(algebra.as_tiler(tiler), proj, "tiler"), algebra.project(coordinate, proj, "coordinate")
    yield f"The tiles {format_tuple(tiler)} start where their complements say; {format_tuple(coordinate)} names a start in each mode."
    yield "What that start adds is the tile's offset; the tile itself is composed from there on."


def _local_partition(tensor, tiler, index, proj=None):
    tiler = as_layout(tiler)
    place = tiler.coordinate(tiler.offsets().tolist().index(index))  # one of them, where proj makes several one
    tile = tuple(mode.size for mode in tiler)
    yield f"Thread {index} stands at {format_tuple(place)} of the tile, as {tiler} gives {index} there."
    yield f"Of each tile of shape {format_tuple(algebra.project(tile, proj, 'tiler'))} it takes that place."


def _recast(new, old, layout):
    layout, n = as_function(layout), max(new // old, old // new)
    yield f"Elements of {new} bits are {'as wide as before' if n == 1 else f'{n} times ' + ('wider' if new > old else 'narrower')}."
    if isinstance(layout, Swizzle):
        yield f"A swizzle keeps 2^m elements together: m {'falls' if new > old else 'grows'} by log2({n}) = {n.bit_length() - 1}."
    elif isinstance(layout, (ComposedLayout, Tensor)):
        yield from _inside(layout, lambda inner: list(_recast(new, old, inner))[1:])
    else:
        for before, after in zip(layout.leaves, algebra.recast_layout(new, old, layout).leaves, strict=True):
            yield f"{before[0]}:{before[1]} becomes {after[0]}:{after[1]}."


_STEPS = {
    "coalesce": _coalesce, "composition": _composition, "complement": _complement, "right_inverse": _inverse, "left_inverse": _inverse,
    **dict.fromkeys(("logical_divide", "zipped_divide", "tiled_divide", "flat_divide"), _divide),
    **dict.fromkeys(("logical_product", "zipped_product", "tiled_product", "flat_product"), _product),
    **dict.fromkeys(("blocked_product", "raked_product"), _paired),
    "make_layout_tv": _make_layout_tv, "tile_to_shape": _tile_to_shape, "local_tile": _local_tile,
    "local_partition": _local_partition, "recast_layout": _recast,
}
