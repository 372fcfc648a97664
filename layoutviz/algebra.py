"""Operations on layouts, named as CuTe names them. Each returns a layout that obeys its law (`laws.py`), or raises LayoutError.

Layouts may be given as notation or as a shape. Of a ComposedLayout or a Tensor the inner layout is worked on; what stands
outside stays. A *tiler* is a layout, or an int n for n:1, and works on the flattened layout; a tuple of tilers works mode by
mode, None leaves its mode alone, and modes beyond it stay as they are. A string with a colon is a layout, without one a shape.
"""

import warnings
from inspect import signature
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from layoutviz import modes
from layoutviz.composed import ComposedLayout, Swizzle, Tensor, as_function, as_layout, find_alias, keeps_offset, slice_
from layoutviz.errors import LayoutError, RaggedWarning
from layoutviz.int_tuple import int_tuple, nest, whole_number
from layoutviz.layout import SEARCH_LIMIT, Layout, merge
from layoutviz.modes import *  # noqa: F403
from layoutviz.modes import ONE, as_tiler, by_mode, from_leaves, on_inner, plain, project, stack, tiler_text, widened
from layoutviz.notation import format_tuple

__all__ = [
    *modes.__all__,
    "composition", "complement", "right_inverse", "left_inverse",
    "logical_divide", "zipped_divide", "tiled_divide", "flat_divide",
    "logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product",
    "make_layout_tv", "tile_to_shape", "slice_", "local_tile", "local_partition", "recast_layout",
]

# --- composition


def composition(a, b):
    """A after B: the layout, shaped as B, that takes i to A(B(i)). CuTe: `composition(A, B)`.

    Pre: B has no negative offset. Past A's size A's last mode goes on, as in CuTe. A swizzle in A or B gives a ComposedLayout.
    Post: result(i) == A(B(i)) for every i, and the result's shape refines B's. Returned whenever such a layout exists, else
    LayoutError with the first coordinate where the nearest one fails (the one with the same values at unit coordinates).
    CuTe and its DSL check less, and sometimes return a layout that computes something else.

    >>> str(composition("(10,2):(16,4)", "(3,4):(1,5)")), str(composition("(8,12):(12,1)", (4, None)))
    ('(3,(2,2)):(16,(80,4))', '(4,12):(12,1)')
    >>> composition("(4,6,8):(2,3,5)", "6:3")
    Traceback (most recent call last):
    layoutviz.errors.LayoutError: no layout computes (4,6,8):(2,3,5) o 6:3: the nearest, 6:6, gives 12 at 2, but A(B(2)) = A(6) = 7
    """
    a, b = as_function(a), as_tiler(b)
    if isinstance(a, Swizzle) and isinstance(b, tuple):
        raise LayoutError(f"a tuple works mode by mode, and {a} has no modes; compose it with a layout")
    return ComposedLayout(a, 0, b) if isinstance(a, Swizzle) else _compose_inner(a, b)


@on_inner
def _compose_inner(a, b):
    if isinstance(b, tuple):
        return by_mode(composition, a, b)
    return _compose(a, b) if isinstance(b, Layout) else ComposedLayout(a, 0, b)


def _compose(a: Layout, b: Layout, start: int = 0) -> Layout:
    """The layout i -> A(start + B(i)) - A(start): leaf by leaf, then a proof that the leaves add up."""
    if start + b.offset_range[0] < 0:
        raise LayoutError(f"{a} o {b}: {b} reaches {b.offset_range[0]}, and {a} has no negative index")
    digits, last = _digits(a)
    if not digits:  # A is one stride, and so is A of B
        return Layout.of(b.shape, nest([d * last if s > 1 else 0 for s, d in b.leaves], b.shape))
    parts, carries = [], [start // w % s for (s, _), w in zip(digits, _weights(digits), strict=False)]
    for leaf in b.leaves:
        part, tops = _compose_leaf(digits, last, *leaf) or _compose_leaf_by_table(a, digits, *leaf)
        parts.append(part)
        carries = [sum(pair) for pair in zip(carries, tops, strict=True)]
    # Where no digit of A's index ever carries, A of a sum is the sum of A's. Else the table decides.
    carry = any(top >= extent for top, (extent, _) in zip(carries, digits, strict=True)) or None in parts
    if carry and start:
        parts = [_compose_leaf_by_table(a, digits, *leaf, start)[0] for leaf in b.leaves]
    if None in parts:
        _fail(a, b, start, Layout.of(b.shape, nest([a(start + d) - a(start) if s > 1 else 0 for s, d in b.leaves], b.shape)))
    shape = nest([tuple(s for s, _ in p) if len(p) > 1 else p[0][0] for p in parts], b.shape)
    stride = nest([tuple(d for _, d in p) if len(p) > 1 else p[0][1] for p in parts], b.shape)
    result = Layout.of(shape, stride)
    if carry:
        _compare(a, b, start, result)
    return result


def _digits(a: Layout) -> tuple[list[tuple[int, int]], int]:
    """A as digits of its index: merged leaves that count from 0 to extent - 1, then the stride of the last one, which never ends."""
    *inner, (_, last) = a.leaves
    digits = merge(inner)
    if digits and last == digits[-1][0] * digits[-1][1]:
        last = digits.pop()[1]
    return digits, last


def _compose_leaf(digits, last, extent, stride):
    """A o extent:stride by division, as (leaves, largest value of each digit); None where the divisions do not come out.

    The step is either a multiple of a digit (which then stays 0), or divides it (which then runs full), or stays within it.
    """
    leaves, tops = [], []
    for s, d in digits:
        if extent == 1 or stride % s == 0:
            tops.append(0)
            stride //= s
        elif (extent - 1) * stride < s:
            leaves.append((extent, stride * d))
            tops.append((extent - 1) * stride)
            extent = 1
        elif s % stride == 0 and extent % (s // stride) == 0:
            leaves.append((s // stride, stride * d))
            tops.append(s - stride)
            extent, stride = extent // (s // stride), 1
        else:
            return None
    if extent > 1:
        leaves.append((extent, stride * last))
    return leaves or [(1, 0)], tops


def _compose_leaf_by_table(a: Layout, digits, extent, stride, start=0):
    """As `_compose_leaf`, by the run lengths of A(start), A(start + stride), ...: None for the leaves if that is no layout."""
    index = start + np.arange(min(extent, SEARCH_LIMIT)) * stride
    leaves, tops = _factor(a.at(index) - a(start), extent), []
    if leaves is not None and extent > SEARCH_LIMIT:
        raise LayoutError(f"undecided: {a} o {extent}:{stride} divides in no simple way, and is too large for a table")
    for s, _ in digits:
        index, digit = np.divmod(index, s)
        tops.append(int(digit.max()))
    return leaves, tops


def _factor(table: np.ndarray, whole: int) -> list[tuple[int, int]] | None:
    """The merged leaves whose table this is; None if there are none. Of a table of `whole` entries this may be the start alone."""
    leaves = []
    while table.size > 1:
        steps = np.diff(table)
        breaks = np.flatnonzero(steps != steps[0])
        run = int(breaks[0]) + 1 if breaks.size else whole
        rows = table[: table.size // run * run].reshape(-1, run)
        if whole % run or (rows - rows[:, :1] != np.arange(run) * steps[0]).any():
            return None
        leaves.append((run, int(steps[0])))
        table, whole = table[::run], whole // run
    return leaves or [(1, 0)]


def _compare(a: Layout, b: Layout, start: int, result: Layout) -> None:
    """LayoutError unless result(i) == A(start + B(i)) - A(start) everywhere; "undecided" where that cannot be seen."""
    some = _some_indices(b.size)
    if (a.at(start + b.at(some)) - a(start) != result.at(some)).any():
        _fail(a, b, start, result)
    if some.size < b.size:
        raise LayoutError(f"undecided: {a} o {b} agrees with {result} at {some.size:,} elements; all {b.size:,} are too many to try")


def _some_indices(size: int) -> np.ndarray:
    """All indices below size, or of too many the first and the last ones."""
    half = min(size, SEARCH_LIMIT) // 2
    return np.concatenate([np.arange(half), np.arange(size - min(size, SEARCH_LIMIT) + half, size)])


def _fail(a: Layout, b: Layout, start: int, nearest: Layout):
    """LayoutError with the first coordinate where the nearest layout departs from A(start + B(i)) - A(start)."""
    some = _some_indices(b.size)
    wrong = some[a.at(start + b.at(some)) - a(start) != nearest.at(some)].tolist()
    where = ", departs further on"
    for i in wrong[:1]:
        at = format_tuple(b.coordinate(i))
        of_b = f"B{at}" if at[0] == "(" else f"B({at})"
        right = f"A({start} + {of_b}) - A({start}) = {a(start + b(i)) - a(start)}" if start else f"A({of_b}) = A({b(i)}) = {a(b(i))}"
        where = f", gives {nearest(i)} at {at}, but {right}"
    raise LayoutError(f"no layout computes {a} o {b}{f' from index {start} on' if start else ''}: the nearest, {nearest}{where}")


# --- complement and inverses


def complement(layout, cotarget) -> Layout:
    """The steps that a layout leaves free: where to put its copies so that together they fill 0 to cotarget - 1.

    `cotarget` is a number, a shape or a layout (its size counts). Where it does not divide, the last step rounds up, as in CuTe.
    Pre: offsets >= 0, no two alike, and each stride jumps past all that the smaller ones reach.
    Post: result(j) rises with j; the sums layout(i) + result(j) are all different, and below the cotarget rounded up to whole
    blocks (the largest stride times its extent). Between strides stand as many copies as fit; slots left over stay holes.
    CuTe drops modes of stride 0; here use filter_zeros first.

    >>> str(complement("4:2", 24)), str(complement("(2,2):(1,6)", 24))
    ('(2,3):(1,8)', '(3,2):(2,12)')
    """
    layout = plain(layout, "the layout of a complement")
    n = _cotarget(cotarget)
    result, reach, step = [], 1, 1
    for extent, stride in sorted((leaf for leaf in layout.leaves if leaf[0] > 1), key=lambda leaf: leaf[1]):
        if stride < 0:
            raise LayoutError(f"{layout} has no complement: stride {stride} leads to negative offsets")
        if stride < reach:
            _refuse_overlap(layout, f"stride {stride} falls within what stride {step} reaches", "complement")
        result.append((stride // reach, reach))
        reach, step = stride * extent, stride
    return from_leaves([leaf for leaf in (*result, (-(-n // reach), reach)) if leaf[0] > 1])


def _cotarget(cotarget) -> int:
    if isinstance(cotarget, (str, tuple, list, Layout)):
        return as_layout(cotarget).size
    n = whole_number(cotarget, "cotarget")
    if n < 1:
        raise LayoutError(f"a cotarget of {n}: a complement fills at least 1 slot")
    return n


def _refuse_overlap(layout: Layout, why: str, what: str):
    """LayoutError: the two coordinates at one offset, or, where there are none, the strides that do not chain."""
    if pair := find_alias(layout):
        first, second = (format_tuple(layout.coordinate(i)) for i in pair)
        advice = "; filter_zeros(layout) drops its stride-0 modes" if any(d == 0 and s > 1 for s, d in layout.leaves) else ""
        raise LayoutError(f"{layout} has no {what}: {first} and {second} both have offset {layout(pair[0])}{advice}")
    raise LayoutError(f"undecided: no {what} of {layout} was found, as its strides do not chain: {why}")


def right_inverse(layout) -> Layout:
    """The largest R with layout(R(i)) = i: where to find offset i. CuTe: `right_inverse`.

    Post: R(i) is an index of the layout, and layout(R(i)) == i for every i of R; no layout with more elements does that. 1:0 where
    nothing has offset 1. CuTe stops at the first stride that does not continue the ones before, and may give a smaller one.

    >>> str(right_inverse("(2,4,6):(4,1,8)")), str(right_inverse("(4,3):(1,2)"))
    ('(4,2,6):(2,1,8)', '(4,2):(1,8)')
    """
    layout = plain(layout, "the layout of an inverse")
    found, reach = [], 1
    steps = sorted((d, s, weight) for s, d, weight in _weighted(layout) if d != 0)
    for stride, extent, weight in steps:
        if stride < reach:  # overlapping or negative: several elements may have an offset, and the choice matters
            return from_leaves(merge(_search_right_inverse(layout)))
        if stride > reach:
            break
        found.append((extent, weight))
        reach *= extent
    return from_leaves(merge(found))


def _weights(leaves) -> list[int]:
    """How far the index moves for one step of each leaf."""
    return list(accumulate((s for s, _ in leaves), mul, initial=1))


def _weighted(layout: Layout) -> list[tuple[int, int, int]]:
    """(extent, stride, step of the index) of each leaf that has more than one element."""
    return [(s, d, w) for (s, d), w in zip(layout.leaves, _weights(layout.leaves), strict=False) if s > 1]


def _search_right_inverse(layout: Layout) -> list[tuple[int, int]]:
    """The leaves of the largest right inverse, by trying each index that may come next. LayoutError if that takes too long."""
    undecided = LayoutError(f"undecided: the strides of {layout} overlap, and its largest right inverse takes too long to search for")
    if layout.size > SEARCH_LIMIT:
        raise undecided
    table = layout.offsets()
    in_order = np.argsort(table, kind="stable")
    starts = np.searchsorted(table[in_order], np.arange(layout.size + 2))  # offset n is at in_order[starts[n] : starts[n + 1]]
    limit = int(np.argmin(np.append(np.diff(starts) > 0, False)))  # offsets 0 to limit - 1 occur, limit does not
    best, todo, seen, budget = (), [()], {()}, 2**26
    while todo and prod(s for s, _ in best) < limit:
        leaves = todo.pop()
        places = Layout(*zip(*leaves, strict=True)).offsets() if leaves else np.zeros(1, np.int64)
        n = len(places)
        for step in in_order[starts[n] : starts[n + 1]].tolist() if n < limit else ():
            copies = np.arange(1, min((layout.size - 1 - int(places.max())) // step, limit // n - 1) + 1)
            fits = (table[places[:, None] + copies * step] == np.arange(n)[:, None] + copies * n).all(axis=0)
            most = int(np.argmin(np.append(fits, False))) + 1
            found = [tuple(merge((*leaves, (extent, step)))) for extent in range(2, most + 1)]  # a shorter leaf may allow more after it
            todo += [each for each in found if each not in seen]
            seen.update(found)
            best = max(best, *found, key=lambda each: prod(s for s, _ in each)) if found else best
            budget -= 100 + n * copies.size + 100 * len(found)
            if budget < 0:
                raise undecided
    return list(best)


def left_inverse(layout) -> Layout:
    """R with R(layout(i)) = i: which index lies at an offset. CuTe: `left_inverse`. Several layouts do that.

    Pre: no two offsets alike, none negative; each stride divides the next one up.
    Post: R(layout(i)) == i for every index i. R extends past its size as any layout does.

    >>> str(left_inverse("(4,8):(1,5)")), str(left_inverse("4:2"))
    ('(5,8):(1,4)', '(2,4):(0,1)')
    """
    layout = plain(layout, "the layout of an inverse")
    steps = sorted((d, s, weight) for s, d, weight in _weighted(layout))
    if steps and steps[0][0] < 0:
        raise LayoutError(f"{layout} has no left inverse: stride {steps[0][0]} leads to negative offsets, where no layout has an index")
    found, step, extent, weight = [], 1, 1, 0
    for stride, next_extent, next_weight in steps:
        if stride == 0 or stride % step or stride // step < extent:
            _refuse_overlap(layout, f"{stride} is no multiple of {step} that jumps past its {extent} elements", "left inverse")
        found.append((stride // step, weight))
        step, extent, weight = stride, next_extent, next_weight
    return from_leaves(merge([*found, (extent, weight)]))


# --- division


def logical_divide(layout, tiler) -> Layout:
    """Each mode into (tile, rest): the elements in a tile, and the tiles. A o (T, T*), where T* is T's complement.

    Post: result((t, r)) == A(T(t) + T*(r)), mode by mode for a tuple tiler. Where tiles stick out of A the result is ragged: legal,
    as kernels guard such slots with predicates, and told by a RaggedWarning that counts them.

    >>> str(logical_divide("(8,12):(12,1)", (4, 3))), str(logical_divide("16:1", "4:2"))
    ('((4,2),(3,4)):((12,48),(1,3))', '(4,(2,2)):(2,(1,8))')
    """
    return _divide(layout, tiler, lambda divided, tiler: divided)


def zipped_divide(layout, tiler) -> Layout:
    """As logical_divide, with all tile modes in mode 0 and all rest modes in mode 1: result[0] is one tile.

    >>> str(zipped_divide("(2,6):(6,1)", (1, 2)))
    '((1,2),(2,3)):((0,1),(6,2))'
    """
    return _divide(layout, tiler, lambda divided, tiler: stack(_unzip(divided, tiler)))


def tiled_divide(layout, tiler) -> Layout:
    """As zipped_divide, with the rest modes side by side: (tile, rest0, rest1, ...).

    >>> str(tiled_divide("(2,6):(6,1)", (1, 2)))
    '((1,2),2,3):((0,1),6,2)'
    """
    return _divide(layout, tiler, _tiled)


def flat_divide(layout, tiler) -> Layout:
    """As zipped_divide, with all modes side by side: (tile0, tile1, ..., rest0, rest1, ...).

    >>> str(flat_divide("(2,6):(6,1)", (1, 2)))
    '(1,2,2,3):(0,1,6,2)'
    """
    return _divide(layout, tiler, _flat)


def _divide(layout, tiler, arrange):
    layout, tiler, fits = as_layout(layout), as_tiler(tiler), []

    def divide(mode: Layout, tiler) -> Layout:
        if isinstance(tiler, tuple):
            return by_mode(divide, mode, tiler)
        place = _tile_and_rest(mode, tiler)
        fits.append(place.size == mode.size >= place.cosize)
        return _compose(mode, place)

    divided = on_inner(lambda inner: arrange(divide(inner, tiler), tiler))(layout)
    if not all(fits):
        warnings.warn(ragged(layout, tiler), RaggedWarning, stacklevel=3)
    return divided


def _tile_and_rest(mode: Layout, tiler) -> Layout:
    """(T, T*): the index in a mode of each place in a tile, for each tile."""
    tiler = plain(tiler, "a tiler")
    return stack((tiler, complement(tiler, mode.size)))


def _unzip(divided: Layout, tiler) -> tuple[Layout, Layout]:
    """(tile, rest) of a layout whose modes are such pairs. A mode left alone by None is all tile; modes beyond the tiler are all rest."""
    if not isinstance(tiler, tuple):
        return tuple(divided.modes())
    pairs = [(mode, ONE) if t is None else _unzip(mode, t) for mode, t in zip(divided.modes(), tiler, strict=False)]
    return stack(t for t, _ in pairs), stack([*(r for _, r in pairs), *divided.modes()[len(tiler) :]])


def _tiled(divided: Layout, tiler) -> Layout:
    tile, rest = _unzip(divided, tiler)
    return stack([tile, *rest.modes()])


def _flat(divided: Layout, tiler) -> Layout:
    tile, rest = _unzip(divided, tiler)
    return stack([*tile.modes(), *rest.modes()])


def ragged(layout, tiler) -> str:
    """In words, where the tiles of a division do not fit: slots outside the layout, and what they hit; elements in no tile. "" if all fits.

    >>> ragged("(10,7):(7,1)", (4, 4))[:105]
    'dividing (10,7):(7,1) by (4,4): 26 of 96 slots lie outside it, of which 9 alias its elements and 17 run p'
    """
    layout, tiler = as_layout(layout), as_tiler(tiler)
    parts = list(positions(layout.plain, tiler))
    if all(place.size == mode.size >= place.cosize for mode, place in parts):
        return ""
    slots, told = prod(place.size for _, place in parts), f"dividing {layout} by {tiler_text(tiler)}"
    if max(slots, layout.size) > SEARCH_LIMIT:
        return f"{told}: some of its {slots:,} slots lie outside it, or some elements are in no tile"
    offsets, inside = np.zeros(1, np.int64), np.ones(1, bool)
    for mode, place in parts:
        offsets = np.add.outer(mode.at(place.offsets()), offsets).ravel()
        inside = np.logical_and.outer(place.offsets() < mode.size, inside).ravel()
    outside, own = layout.after(offsets[~inside]), layout.offsets()
    alias, past, before = np.isin(outside, own), outside > own.max(), outside < own.min()
    words = (("alias its elements", "where they alias its elements", alias), ("run past its end", "past its end", past),
             ("run before its start", "before its start", before),
             ("fall into unused slots between", "in unused slots between", ~(alias | past | before)))
    some = [f"{which.sum()} {what}" for what, _, which in words if which.any()]
    those = f"of which {' and '.join(some)}" if len(some) > 1 else next((what for _, what, which in words if which.all()), "")
    notes = [f"{outside.size} of {slots} slots lie outside it, {those}"] if outside.size else []
    if left := layout.size - int(inside.sum()):
        notes.append(f"{left} of its {layout.size} elements are in no tile")
    return f"{told}: {'; '.join(notes)}"


def positions(layout: Layout, tiler, beyond: bool = False):
    """Pairs of a mode and (tile, rest) as places in it, for every mode that the tiler divides, and for those left alone.

    As in zipped_divide, a mode left alone by None is all tile, a mode beyond the tiler all rest.
    """
    if tiler is None:
        whole = Layout(layout.shape)
        yield layout, stack((ONE, whole) if beyond else (whole, ONE))
    elif isinstance(tiler, tuple):
        modes = layout.modes()
        for m, mode in enumerate(modes):
            yield from positions(mode, tiler[m] if m < len(tiler) else None, m >= len(tiler))
    else:
        yield layout, _tile_and_rest(layout, tiler)


# --- products


def logical_product(block, tiler) -> Layout:
    """(block, copies): a copy of the block for each element of the tiler, laid out as the tiler says.

    Copies overlap only where the tiler's own elements do, or where a block with holes has a complement of fewer places than the tiler
    numbers, so that its last mode goes on past its end: (2,4):(4,14) has 4 below 48, and (3,2):(1,3) numbers 6.
    Post: result((i, j)) == block(i) + C(tiler(j)), where C = complement(block, size(block) * cosize(tiler)).

    >>> str(logical_product("(2,2):(1,2)", "3:1"))
    '((2,2),3):((1,2),4)'
    """
    return _multiply(block, tiler, lambda product, tiler: product)


def zipped_product(block, tiler) -> Layout:
    """As logical_product, with all block modes in mode 0 and all copies in mode 1."""
    return _multiply(block, tiler, lambda product, tiler: stack(_unzip(product, tiler)))


def tiled_product(block, tiler) -> Layout:
    """As zipped_product, with the modes of the copies side by side: (block, copy0, copy1, ...)."""
    return _multiply(block, tiler, _tiled)


def flat_product(block, tiler) -> Layout:
    """As zipped_product, with all modes side by side."""
    return _multiply(block, tiler, _flat)


@on_inner
def _multiply(block, tiler, arrange):
    tiler = as_tiler(tiler)
    return arrange(_logical_product(block, tiler), tiler)


def _logical_product(block: Layout, tiler) -> Layout:
    if isinstance(tiler, tuple):
        return by_mode(_logical_product, block, tiler)
    tiler = plain(tiler, "a tiler")
    return stack([block, _compose(complement(block, block.size * tiler.cosize), tiler)])


@on_inner
def blocked_product(block, tiler) -> Layout:
    """Copies of a block side by side, mode by mode: mode m is (the block's mode m, the tiler's mode m).

    The tiler is a layout (of a shape, the compact one). The shorter of the two gets modes of extent 1. Recent CuTe coalesces each
    mode of this.

    >>> str(blocked_product("(2,5):(5,1)", "(3,4):(1,3)"))
    '((2,3),(5,4)):((5,10),(1,30))'
    """
    return _interleave(block, tiler, raked=False)


@on_inner
def raked_product(block, tiler) -> Layout:
    """As blocked_product, with the copies interleaved: mode m is (the tiler's mode m, the block's mode m).

    >>> str(raked_product("(2,5):(5,1)", "(3,4):(1,3)"))
    '((3,2),(4,5)):((10,5),(30,1))'
    """
    return _interleave(block, tiler, raked=True)


def _interleave(block: Layout, tiler, raked: bool) -> Layout:
    tiler = plain(tiler, "a tiler")
    wide = max(block.rank, tiler.rank)
    block, tiler = widened(block, wide), widened(tiler, wide)
    copies = _compose(complement(block, block.size * tiler.cosize), tiler)
    fast, slow = (copies, block) if raked else (block, copies)
    return Layout.of(tuple(zip(fast.shape, slow.shape, strict=True)), tuple(zip(fast.stride, slow.stride, strict=True)))


def make_layout_tv(threads, values) -> tuple[tuple, Layout]:
    """(tile shape, TV layout): which element of a tile thread t holds as its value v. CuTe: `make_layout_tv`.

    Pre: threads and values number their parts 0, 1, 2, ... without gaps. The tile is their raked product.
    Post: tv(t, v) is the (colexicographic) index in the tile of that element, each index once.

    >>> tile, tv = make_layout_tv("(4,8):(8,1)", "(2,2):(2,1)")
    >>> tile, str(tv)
    ((8, 16), '((8,4),(2,2)):((16,2),(8,1))')
    """
    threads, values = plain(threads, "a thread layout"), plain(values, "a value layout")
    for what, layout in (("threads", threads), ("values", values)):
        if (numbered := right_inverse(layout).size) < layout.size:
            wanted = f"{layout.size} {what} are to be numbered 0 to {layout.size - 1}"
            raise LayoutError(f"{what} {layout}: {wanted}, and none is number {numbered}")
    places = raked_product(threads, values)
    return tuple(mode.size for mode in places), _compose(right_inverse(places), Layout((threads.size, values.size)))


@on_inner
def tile_to_shape(atom, shape, order=None) -> Layout:
    """An atom repeated until it has a shape. `order` ranks the modes: the lowest is filled first (None: mode 0 first).

    Post: mode m is (the atom's, the repetitions), as many as it takes: more than the shape asks for is told by a RaggedWarning.

    >>> str(tile_to_shape("S<3,4,3> o 0 o (8,64):(64,1)", (128, 128), (1, 0)))
    'S<3,4,3> o 0 o ((8,16),(64,2)):((64,1024),(1,512))'
    """
    wanted = Layout(shape)
    wide = max(wanted.rank, atom.rank)
    atom, extents = widened(atom, wide), [mode.size for mode in widened(wanted, wide)]
    ranks = range(wide) if order is None else int_tuple(order, "order")
    if not isinstance(ranks, (tuple, range)) or len(ranks) != wide or any(isinstance(r, tuple) for r in ranks):
        raise LayoutError(f"order {format_tuple(ranks)} should rank {wide} modes, as in {format_tuple(tuple(range(wide)))}")
    counts, strides, step = [-(-want // have.size) for have, want in zip(atom, extents, strict=True)], [0] * wide, 1
    for m in sorted(range(wide), key=lambda m: ranks[m]):
        strides[m] = step if counts[m] > 1 else 0
        step *= counts[m]
    for m, (have, count, want) in enumerate(zip(atom, counts, extents, strict=True)):
        if have.size * count > want:
            told = f"mode {m} asks for {want}: {count} atoms of {have.size} make {have.size * count}"
            warnings.warn(told, RaggedWarning, stacklevel=3)
    return blocked_product(atom, Layout.of(tuple(counts), tuple(strides)))


# --- tiles and partitions: layouts at a place


def local_tile(tensor, tiler, coordinate, proj=None) -> Tensor:
    """The tile at a coordinate among the tiles; None in the coordinate keeps that mode of tiles. CuTe: `local_tile`.

    `proj` picks entries of tiler and coordinate: (1, None, 1) uses the first and the third. A number for a coordinate counts the tiles.
    Post: result(i) == tensor(T(i) + T*(coordinate)), mode by mode. A tile that sticks out is told by a RaggedWarning.

    >>> str(local_tile("(8,12):(12,1)", (4, 3), (1, 2)))
    '54 + (4,3):(12,1)'
    """
    tiler, coordinate = project(as_tiler(tiler), proj, "tiler"), project(coordinate, proj, "coordinate")
    return _piece(tensor, tiler, coordinate, kept=0)


def local_partition(tensor, tiler, index: int, proj=None) -> Tensor:
    """What thread `index` gets when the threads, laid out as `tiler` says, stand on every tile. CuTe: `local_partition`.

    Pre: the tiler is a layout (or a shape), and one coordinate c of it, where the thread stands, has tiler(c) = index.
    Post: result(r) == tensor(c + tile shape * r), mode by mode. What sticks out is told by a RaggedWarning.

    >>> str(local_partition("(8,12):(12,1)", "(2,4):(4,1)", 5))
    '13 + (4,3):(24,4)'
    """
    tiler, index = plain(tiler, "a thread layout"), whole_number(index, "thread index")
    tile = tuple(mode.size for mode in tiler)
    found = np.flatnonzero(tiler.offsets() == index).tolist()
    places = {project(Layout(tile).coordinate(i), proj, "thread's coordinate") for i in found}
    if len(places) != 1:
        raise LayoutError(f"thread {index} stands at {len(places) or 'no'} place{'s' * (len(places) > 1)} of {tiler}")
    return _piece(tensor, as_tiler(project(tile, proj, "tiler")), places.pop(), kept=1)


@keeps_offset
def _piece(layout: Layout, tiler, coordinate, kept: int) -> Tensor:
    """Of (tile, rest), mode by mode, the tile (kept = 0) or the rest (kept = 1); the other one is fixed at a coordinate.

    Composed from where the piece starts: a piece can be a layout where the division of the whole is none.
    """
    if isinstance(tiler, tuple) and any(isinstance(entry, tuple) for entry in tiler):  # inside a mode, as the division of the whole does it
        tiled = zipped_divide(layout, tiler)
        keep = [(None,) * len(mode) for mode in tiled.shape]
        return slice_(tiled, (keep[0], keep[1] if coordinate is None else coordinate))
    modes, tilers = (layout.modes(), tiler) if isinstance(tiler, tuple) else ([layout], (tiler,))
    if len(tilers) > len(modes):
        raise LayoutError(f"a tiler of {len(tilers)} entries for {layout}, which has {len(modes)} modes")
    # a mode left alone by None is all tile, a mode beyond the tiler is all rest
    places = [stack((Layout(m.size), ONE)) if t is None else _tile_and_rest(m, t) for m, t in zip(modes, tilers, strict=False)]
    places += [stack((ONE, Layout(mode.size))) for mode in modes[len(tilers) :]]
    if kept:
        coordinate += (0,) * (len(modes) - len(tilers))
    entries = _entries(coordinate, [place[1 - kept] for place in places], isinstance(tiler, tuple))
    parts, extra, offset, slots, inside = [], [], 0, 1, 1
    for m, (mode, place, at) in enumerate(zip(modes, places, entries, strict=True)):
        start = 0 if at is None else place[1 - kept](at)
        drawn = place if at is None else place[kept]
        made = _compose(mode, drawn, start)
        part, *more = made if at is None else (made,)
        parts += [part] if kept or m < len(tilers) else []
        extra += more
        offset += mode(start)
        slots, inside = slots * drawn.size, inside * _count_below(mode.size, drawn, start)
    if inside < slots:
        warnings.warn(f"{slots - inside} of {slots} slots of this piece of {layout} lie outside it", RaggedWarning, stacklevel=4)
    return Tensor(stack(parts + extra) if isinstance(tiler, tuple) else stack([*parts[0].modes(), *extra]), offset)


def _entries(coordinate, modes: list[Layout], each: bool) -> list:
    """A coordinate as one entry for each mode, each inside its mode; None keeps a mode."""
    if coordinate is None:
        return [None] * len(modes)
    if each and not isinstance(coordinate, (tuple, list)):
        coordinate = Layout(tuple(mode.size for mode in modes)).coordinate(whole_number(coordinate, "coordinate"))
    entries = list(coordinate) if each else [coordinate]
    if len(entries) != len(modes):
        raise LayoutError(f"a coordinate with {len(entries)} entries, where {len(modes)} modes are counted")
    for m, (entry, mode) in enumerate(zip(entries, modes, strict=True)):
        entries[m] = None if entry is None else int_tuple(entry, "coordinate")
        if isinstance(entries[m], int) and not 0 <= entries[m] < mode.size:
            raise LayoutError(f"coordinate {entry} is outside mode {m}, which runs from 0 to {mode.size - 1}")
    return entries


def _count_below(end: int, place: Layout, start: int) -> int:
    """How many of the places start + place(i) lie below the end."""
    if start + place.cosize <= end or place.size > SEARCH_LIMIT:  # of a larger piece none are counted
        return place.size
    return int((start + place.offsets() < end).sum())


# --- other widths


def recast_layout(new_bits: int, old_bits: int, layout):
    """The same memory in elements of another width. CuTe: `recast_layout`. Takes a Swizzle alone as well.

    Pre: one width is a multiple of the other. Wider: the elements that become one lie side by side, and all strides come out even.
    Narrower: one mode has stride 1, and grows. CuTe checks neither.
    Post: the same bits; the profile stays, and where an extent changes, its coordinate counts groups (or parts) in order.

    >>> str(recast_layout(16, 8, "S<3,4,3> o 0 o (8,128):(128,1)")), str(recast_layout(8, 32, Swizzle(3, 2, 3)))
    ('S<3,3,3> o 0 o (8,64):(64,1)', 'S<3,4,3>')
    """
    new, old, thing = whole_number(new_bits, "new width"), whole_number(old_bits, "old width"), as_function(layout)
    told = f"{thing} from {old} to {new} bits"
    if new < 1 or old < 1 or (new % old and old % new):
        raise LayoutError(f"{told}: one width must be a multiple of the other")
    up, down = max(new // old, 1), max(old // new, 1)

    def scaled(value: int, what: str) -> int:
        if value * down % up:
            raise LayoutError(f"{told}: {what} {value} is no multiple of {up}")
        return value * down // up

    if isinstance(thing, Swizzle):
        k = (up * down).bit_length() - 1
        if up * down != 1 << k or (up > 1 and thing.m < k and thing.b):
            raise LayoutError(f"{told}: a swizzle moves groups of {1 << thing.m} elements, which do not fall on the new ones")
        return Swizzle(thing.b, max(thing.m - k, 0) if up > 1 else thing.m + k, thing.s)
    if isinstance(thing, ComposedLayout):
        if not isinstance(thing.outer, Swizzle):
            raise LayoutError(f"{told}: only a swizzle can stand outside")
        return ComposedLayout(recast_layout(new, old, thing.outer), scaled(thing.offset, "offset"), recast_layout(new, old, thing.inner))
    if isinstance(thing, Tensor):
        return Tensor(recast_layout(new, old, thing.layout), scaled(thing.offset, "offset"))
    changed = _joined(thing, up, told) if up > 1 else _split(thing, down, told) if down > 1 else {}
    leaves = [changed[k] if k in changed else (s, scaled(d, "stride") if s > 1 else 0) for k, (s, d) in enumerate(thing.leaves)]
    return Layout.of(nest([s for s, _ in leaves], thing.shape), nest([d for _, d in leaves], thing.shape))


def _split(layout: Layout, n: int, told: str) -> dict[int, tuple[int, int]]:
    """The leaf that grows when each element becomes n: one of stride 1, or of one element."""
    places = {d if s > 1 else "single": k for k, (s, d) in reversed(list(enumerate(layout.leaves)))}
    if (k := places.get(1, places.get("single"))) is None:
        raise LayoutError(f"{told}: no mode has stride 1, so none can hold the {n} parts of an element")
    return {k: (layout.leaves[k][0] * n, 1)}


def _joined(layout: Layout, n: int, told: str) -> dict[int, tuple[int, int]]:
    """The leaves that shrink when n neighbours become one element: stride 1 first, then the stride that goes on from there."""
    changed, have = {}, 1
    while have < n:
        k = next((k for k, (s, d) in enumerate(layout.leaves) if d == have and s > 1), None)
        taken = min(layout.leaves[k][0], n // have) if k is not None else 0
        if k is None or n % (have * taken) or layout.leaves[k][0] % taken:
            raise LayoutError(f"{told}: {n} neighbouring elements become one, but its modes do not hold whole groups of {n} neighbours")
        left = layout.leaves[k][0] // taken
        changed[k] = (left, 1 if left > 1 else 0)
        have *= taken
    return changed


def named_arguments(op: str, args) -> dict:
    """The arguments of an operation by their names. LayoutError for an unknown operation, or for too many or too few arguments."""
    if not isinstance(op, str) or op not in __all__:
        raise LayoutError(f"there is no operation {op!r}; there are {', '.join(__all__)}")
    takes = signature(globals()[op])
    try:
        return takes.bind(*args).arguments
    except TypeError:
        raise LayoutError(f"{op} takes {', '.join(takes.parameters)}; {len(args)} were given") from None
