"""The defining law of each operation, decided from offset tables: is this result, whoever computed it, right?

Nothing here asks the algebra for its answer; only a law about tiles takes the complement of a tiler from there, and that has
a law of its own. A law reads its arguments, then the result: `_Broken` says where the result departs, a return is a note.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from math import prod

import numpy as np

from layoutviz import algebra
from layoutviz.composed import Swizzle, Tensor, as_function, as_layout, first_repeat
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import OFFSET_LIMIT, int_tuple, leaf_values, nest, whole_number
from layoutviz.layout import SEARCH_LIMIT, CoordinateFunction, Layout, merge
from layoutviz.modes import as_tiler, project
from layoutviz.notation import IntTuple, format_tuple

INVERSE_SEARCH = 2**22  # table elements looked at for a larger right inverse
MOST_MODES = 64  # axes that numpy has
BEYOND = ...  # stands for the tiler of a mode that the tiler does not reach


@dataclass(frozen=True)
class Verdict:
    """Whether a result is right; if not, the first coordinate where it departs, or None where sizes or form do; and why, in words.

    The coordinate is one of the result, or of the argument that the note speaks of.
    """

    holds: bool
    counterexample: IntTuple | None
    note: str

    def __bool__(self):
        return self.holds

    def __str__(self):
        return ("right" if self.holds else "not right") + (f": {self.note}" if self.note else "")


class _Broken(Exception):
    """A law does not hold: why, and at which coordinate."""

    def __init__(self, note: str, at: IntTuple | None = None):
        super().__init__(note)
        self.at = at


def check(op: str, *args, result=None) -> Verdict:
    """Whether `result` is right by the law of `op` on `args`; without a result, whether our own is.

    Pre: `op` is a name in LAWS and the arguments are as for `layoutviz.algebra.op`: layouts of any kind, or notation, shapes, ints.
    Post: every right form holds. What is no layout at all does not hold, and the note says so.
    Raises LayoutError for arguments that are none, and "undecided" where a table would pass 2^20 elements.

    >>> str(check("composition", "(4,4):(16,1)", "6:1", result="(4,2):(16,1)"))
    'not right: shape (4,2) does not refine 6'
    >>> verdict = check("left_inverse", "4:2", result="(2,4):(0,1)")
    >>> verdict.holds, bool(check("left_inverse", "4:2", result="(2,4):(4,1)")), check("left_inverse", "4:2", result="8:1").counterexample
    (True, True, 1)
    """
    if not isinstance(op, str) or op not in LAWS:
        raise LayoutError(f"no law for {op!r}; there are laws for {', '.join(sorted(LAWS))}")
    algebra.named_arguments(op, args)
    if result is None:
        result = getattr(algebra, op)(*args)
    try:
        return Verdict(True, None, LAWS[op](result, *args) or "")
    except _Broken as broken:
        return Verdict(False, broken.at, str(broken))


# Reading arguments and results

def _open(thing) -> tuple[Layout, Callable[[np.ndarray], np.ndarray]]:
    """A layout of any kind as the plain layout inside, which has the modes, and what is done to its offsets."""
    layout = as_layout(thing)
    return layout.plain, layout.after


def _plain(thing, what: str) -> Layout:
    layout = as_layout(thing)
    if not isinstance(layout, Layout):
        raise LayoutError(f"{what} is a plain layout, and {layout} is none")
    return layout


def _layout(result, read=as_layout):
    """A result as a layout of some kind."""
    try:
        return read(result)
    except LayoutError as error:
        raise _Broken(f"the result is no layout: {error}") from None


def _at(result: CoordinateFunction, indices: np.ndarray) -> np.ndarray:
    try:
        return result.at(indices)
    except LayoutError as error:
        raise _Broken(f"the result cannot be evaluated: {error}") from None


def _indices(size: int, what) -> np.ndarray:
    """0, 1, 2, ... below `size`, which is that of `what`."""
    if size > SEARCH_LIMIT:
        raise LayoutError(f"undecided: {what} has {size:,} elements; laws are decided from tables of up to {SEARCH_LIMIT:,}")
    return np.arange(size, dtype=np.int64)


def _table(layout: CoordinateFunction) -> np.ndarray:
    return layout.at(_indices(layout.size, layout))


def _sizes(shape: IntTuple) -> list[int]:
    """The sizes of the top-level modes."""
    return [prod(leaf_values(mode)) for mode in (shape if isinstance(shape, tuple) else (shape,))]


def _bare(shape: IntTuple) -> IntTuple:
    """A shape where (8) is 8: as a mode they are the same."""
    shape = tuple(map(_bare, shape)) if isinstance(shape, tuple) else shape
    return shape[0] if isinstance(shape, tuple) and len(shape) == 1 and isinstance(shape[0], int) else shape


# Comparing

def _same(R: CoordinateFunction, expected: np.ndarray, why=lambda i: "the law") -> None:
    """R is this table. `why(i)` says where its entry i comes from."""
    if R.size != expected.size:
        raise _Broken(f"the result has {R.size:,} elements, the law gives {expected.size:,}")
    table = _at(R, _indices(R.size, R))
    if (wrong := np.flatnonzero(table != expected)).size:
        i, lost = int(wrong[0]), int(expected[0] - table[0])
        if not isinstance(R, Tensor) and (expected - table == lost).all():
            raise _Broken(f"the layout is right, but its offset {lost} is lost; Tensor({R}, {lost}) keeps both", R.coordinate(i))
        _depart(R, i, f"{why(i)} gives {expected[i]}, the result {table[i]}")


def _depart(layout: CoordinateFunction, i: int, what: str):
    at = layout.coordinate(i)
    raise _Broken(f"at index {i}{f', coordinate {format_tuple(at)}' if isinstance(at, tuple) else ''}: {what}", at)


def _has_sizes(R: CoordinateFunction, want: list[int], free=()) -> CoordinateFunction:
    """R, whose top-level modes have these sizes. A place in `free` may be several modes: they follow the factors of a composition."""
    left = _sizes(R.shape)[::-1]
    for place, size in enumerate(want):
        got, after = left.pop() if left else 0, len(want) - place - 1
        while place in free and len(left) > after and (got < size or got == size and left[-1] == 1):
            got *= left.pop()
        if got != size or len(left) < after or len(left) and not after:
            told = format_tuple(tuple(_sizes(R.shape)))
            raise _Broken(f"the result's modes have the sizes {told}, the law gives {format_tuple(tuple(want))}")
    return R


def _has_shape(R: CoordinateFunction, shape: IntTuple) -> None:
    if _bare(R.shape) != _bare(shape):
        raise _Broken(f"the result has shape {format_tuple(R.shape)}, the law gives {format_tuple(shape)}")


def _outer_sum(tables) -> np.ndarray:
    """The sum of one entry from each table, the first table fastest."""
    tables = list(tables)
    _indices(prod(t.size for t in tables), "the result")
    if sum(int(abs(t).max()) for t in tables) > OFFSET_LIMIT:
        raise LayoutError("undecided: the offsets reach past 2^62, the largest that is computed here")
    total = np.zeros(1, np.int64)
    for table in tables:
        total = (table.ravel(order="F")[:, None] + total).ravel()
    return total


def _by_size(table: np.ndarray, sizes: list[int]) -> np.ndarray:
    """A flat table with one axis for each mode, of these sizes, the first fastest."""
    if len(sizes) > MOST_MODES:
        raise LayoutError(f"undecided: {len(sizes)} modes at once; laws are decided for up to {MOST_MODES}")
    return table.reshape(sizes, order="F")


def _evens_first(table: np.ndarray, sizes: list[int]) -> np.ndarray:
    """A flat table over modes (a, b, a, b, ...) as one over (a, a, ..., b, b, ...)."""
    axes = [*range(0, len(sizes), 2), *range(1, len(sizes), 2)]
    return _by_size(table, sizes).transpose(axes).ravel(order="F")


# Form alone: the function stays, the modes change

def _has_modes(R, parts: list[Layout], finish) -> None:
    R = _layout(R)
    if R.rank != len(parts):
        raise _Broken(f"the result has rank {R.rank}, the law gives {len(parts)}")
    _has_shape(R, tuple(part.shape for part in parts))
    _same(R, finish(_outer_sum([_table(part) for part in parts])))


def _edited(R, layout, *rest, parts):
    inner, finish = _open(layout)
    _has_modes(R, parts(inner, *rest), finish)


def _grouped(layout: Layout, begin, end=None) -> list[Layout]:
    modes = layout.modes()
    begin, end = whole_number(begin, "first mode"), layout.rank if end is None else whole_number(end, "end of the modes")
    if not 0 <= begin < end <= len(modes):
        raise LayoutError(f"no modes {begin} to {end - 1} in {layout}, which has {len(modes)}")
    one = Layout(tuple(m.shape for m in modes[begin:end]), tuple(m.stride for m in modes[begin:end]))
    return [*modes[:begin], one, *modes[end:]]


def _more(layout: Layout, mode, up_to_rank=None) -> list[Layout]:
    count = 1 if up_to_rank is None else whole_number(up_to_rank, "rank") - layout.rank
    if not 0 <= count <= MOST_MODES:
        raise LayoutError(f"{layout} has rank {layout.rank}; up to rank {up_to_rank} there are {count} modes to add")
    return [_plain(mode, "a mode")] * count


# The modes of the result, for operations that leave the function as it is.
PARTS = {
    "flatten": lambda L: [Layout(*leaf) for leaf in L.leaves],
    "filter_zeros": lambda L: Layout(nest([1 if d == 0 else s for s, d in L.leaves], L.shape), L.stride).modes(),
    "select": lambda L, modes: [L[m] for m in leaf_values(int_tuple(list(modes) if isinstance(modes, range) else modes, "modes"))],
    "get": lambda L, mode: L[tuple(mode) if isinstance(mode, list) else mode].modes(),
    "group": _grouped,
    "append": lambda L, mode, up_to_rank=None: L.modes() + _more(L, mode, up_to_rank),
    "prepend": lambda L, mode, up_to_rank=None: _more(L, mode, up_to_rank) + L.modes(),
}


def _slice(R, target, coordinate):
    T = as_layout(target)
    at, shapes = zip(*_entries(coordinate, T.shape), strict=True)
    kept = tuple(shape for shape, entry in zip(shapes, at, strict=True) if entry is None)
    expected = _cut(_table(T), _sizes(shapes), at)
    R = _layout(R)
    _has_shape(R, kept or 1) if isinstance(coordinate, (tuple, list)) else _has_shape(R, (kept or (1,))[0])
    _same(R, expected)


def _entries(coordinate, shape) -> list[tuple[object, IntTuple]]:
    """What a coordinate says, a number or None, and the shape that it says it of; going inside as far as the coordinate does."""
    if not isinstance(coordinate, (tuple, list)):
        return [(None if isinstance(coordinate, slice) and coordinate == slice(None) else coordinate, shape)]
    modes = shape if isinstance(shape, tuple) else (shape,)
    if len(coordinate) != len(modes):
        raise LayoutError(f"a slice with {len(coordinate)} entries where shape {format_tuple(shape)} has {len(modes)}")
    return [pair for entry, mode in zip(coordinate, modes, strict=True) for pair in _entries(entry, mode)]


def _cut(table: np.ndarray, sizes: list[int], at) -> np.ndarray:
    """The part of a table where modes of these sizes have the numbers `at`; None leaves a mode as it is."""
    at = [None if entry is None else int_tuple(entry, "coordinate") for entry in at]
    for entry, size in zip_longest(at, sizes):
        if size is None or isinstance(entry, tuple) or entry is not None and not 0 <= entry < size:
            raise LayoutError(f"coordinate {format_tuple(tuple(at))} is outside the modes, whose sizes are {format_tuple(tuple(sizes))}")
    return _by_size(table, sizes)[tuple(slice(None) if entry is None else entry for entry in at)].ravel(order="F")


def _coalesce(R, layout, profile=None):
    inner, finish = _open(layout)
    R = _layout(R)
    _same(R, finish(_table(inner)))
    _is_coalesced(_open(R)[0], inner, 1 if profile is None else int_tuple(profile, "profile"), "the result")


def _is_coalesced(R: Layout, layout: Layout, profile: IntTuple, where: str):
    if isinstance(profile, tuple):
        if len(profile) > layout.rank:
            raise LayoutError(f"profile {format_tuple(profile)} has {len(profile)} entries, {layout} has rank {layout.rank}")
        _has_sizes(R, [mode.size for mode in layout])
        for m, (mine, theirs) in enumerate(zip(R, layout, strict=True)):
            if m < len(profile):
                _is_coalesced(mine, theirs, profile[m], f"mode {m} of {where}")
            else:
                _has_shape(mine, theirs.shape)
    elif R.depth > 1:
        raise _Broken(f"{where}, {R}, is nested")
    elif len(merge(R.leaves)) < len(R.leaves) > 1:
        raise _Broken(f"{where}, {R}, has an extent 1 or two neighbours that merge")


# Composition and inverses

def _composition(R, a, b):
    A, B = as_function(a), as_tiler(b)
    inner, finish = (A, lambda offsets: offsets) if isinstance(A, Swizzle) else _open(A)
    if isinstance(A, Swizzle) and not isinstance(B, CoordinateFunction):
        raise LayoutError(f"{A} has no modes, so {b} is nothing to compose it with; a layout would be")
    shape = _composed_shape(inner, B)
    expected = finish(_outer_sum(values for values, *_ in _split(inner, B, _composed)))
    R = _layout(R)
    if not _refines(_bare(R.shape), _bare(shape)):
        raise _Broken(f"shape {format_tuple(R.shape)} does not refine {format_tuple(shape)}")
    if isinstance(B, tuple):
        return _same(R, expected)
    _same(R, expected, lambda i: f"A(B({i})) = A({B(i)})")
    if not isinstance(A, Swizzle) and (out := np.count_nonzero(_table(B) >= A.size)):
        return f"{out} of {B.size} indices are past A's size, {A.size}, where its last mode goes on"


def _composed(A, B):
    """A(B(i)) as a table [i, 0], none of it outside: the last mode of A goes on."""
    indices = _table(B)
    if indices.min() < 0 and not isinstance(A, Swizzle):
        i = int(np.argmax(indices < 0))
        _depart(B, i, f"B gives {indices[i]}, and A has no negative index, so A(B({i})) does not exist")
    return A.at(indices)[:, None], np.zeros((B.size, 1), bool)


def _composed_shape(A, B) -> IntTuple:
    if not isinstance(B, tuple):
        return A.shape if B is None else B.shape
    return tuple(_composed_shape(mode, B[m] if m < len(B) else None) for m, mode in enumerate(A))


def _refines(fine: IntTuple, coarse: IntTuple) -> bool:
    if isinstance(coarse, int):
        return prod(leaf_values(fine)) == coarse
    return isinstance(fine, tuple) and len(fine) == len(coarse) and all(map(_refines, fine, coarse))


def _right_inverse(R, layout):
    A = as_layout(layout)
    table, R = _table(A), _layout(R)
    if R.size > A.size:
        raise _Broken(f"the result has {R.size:,} elements, more than A, which has {A.size:,}")
    places = _at(R, np.arange(R.size))
    inside = (places >= 0) & (places < A.size)
    got = table[np.where(inside, places, 0)]
    if (wrong := np.flatnonzero(~inside | (got != np.arange(R.size)))).size:
        i = int(wrong[0])
        told = f"A(R({i})) = A({places[i]}) = {got[i]}, which should be {i}" if inside[i] else f"R({i}) = {places[i]} is no index of A"
        _depart(R, i, told)
    run = int(np.argmin(np.isin(np.arange(A.size + 1), table)))  # A has the offsets 0 to run - 1
    larger, decided = (None, True) if R.size == run else _larger_inverse(table, R.size)
    if larger:
        raise _Broken(f"{larger} has at least {larger.size} elements with A(R(i)) = i, this result only {R.size}")
    return f"A(R(i)) = i for i from 0 to {R.size - 1}" + ("" if decided else "; whether there is a larger one is undecided")


def _larger_inverse(table: np.ndarray, size: int) -> tuple[Layout | None, bool]:
    """A layout R of more than `size` elements with table[R(i)] = i, searched leaf by leaf; and whether the search came to its end.

    A shorter leaf may allow more after it, so each length is tried; of forms with the same function, one.
    """
    todo, seen, looked = [()], set(), 0
    while todo:
        leaves = todo.pop()
        if looked > INVERSE_SEARCH or table[0]:
            return None, False
        R = Layout(*zip(*leaves, strict=True)).offsets() if leaves else np.zeros(1, np.int64)
        for r in np.flatnonzero(table == R.size).tolist():
            steps = np.arange(min((table.size - 1 - int(R.max())) // r, table.size // R.size) + 1)
            wrong = (table[R[:, None] + r * steps] != np.arange(R.size)[:, None] + R.size * steps).any(axis=0)
            longest, looked = int(np.argmax(np.append(wrong, True))), looked + wrong.size * R.size
            if R.size * longest > size:
                return Layout(*zip(*leaves, (longest, r), strict=True)), True
            forms = {tuple(merge((*leaves, (n, r)))) for n in range(2, longest + 1)} - seen
            todo, seen = todo + sorted(forms), seen | forms
        looked += 1024 + table.size
    return None, True


def _left_inverse(R, layout):
    A = as_layout(layout)
    table = _injective(A)
    R = _layout(R)
    got = _at(R, table)
    if (wrong := np.flatnonzero(got != np.arange(A.size))).size:
        i = int(wrong[0])
        _depart(A, i, f"R(A({i})) = R({table[i]}) is {got[i]}, which should be {i}")


def _injective(A: CoordinateFunction) -> np.ndarray:
    """A's table, where no two offsets are equal or negative."""
    table = _table(A)
    if table.min() < 0:
        _depart(A, int(np.argmax(table < 0)), f"{A} has the negative offset {table[table < 0][0]}, so none exists")
    if repeat := first_repeat(table):
        i, j = (format_tuple(A.coordinate(at)) for at in repeat)
        raise _Broken(f"{A} has offset {table[repeat[0]]} twice, at {i} and {j}, so none exists", A.coordinate(repeat[1]))
    return table


# Complement

def _complement(R, layout, cotarget):
    A, n = _plain(layout, "what has a complement"), as_layout(cotarget).size
    covered, table, R = np.zeros(_indices(n, "the cotarget").size, bool), _injective(A), _layout(R)
    if not isinstance(R, Layout):
        raise _Broken(f"a complement is a plain layout, and {R} is none")
    rest = _at(R, _indices(R.size, R))
    if (back := np.flatnonzero(np.diff(rest) <= 0)).size:
        _depart(R, int(back[0]) + 1, f"offset {rest[back[0] + 1]} comes after {rest[back[0]]}; a complement is ordered")
    sums = _outer_sum([table, rest])
    if repeat := first_repeat(sums):
        (i, j), (k, m) = (divmod(at, A.size)[::-1] for at in repeat)
        raise _Broken(f"A({i}) + R({j}) = A({k}) + R({m}) = {sums[repeat[0]]}", R.coordinate(m))
    tiles, exact, period = _room(A, n)
    extent, step = (merge(R.leaves) or [(1, 0)])[-1]
    if (extent - 1) * step >= n and (n > period or rest[-1] >= period):
        raise _Broken(f"it reaches offset {rest[-1]}; to cover {n} slots, {(n - 1) // step * step} is far enough", R.coordinate(R.size - 1))
    covered[sums[sums < n]] = True
    holes = np.flatnonzero(~covered)
    told = f"together A and the complement cover {n - holes.size} of {n} slots" + (f"; holes at {_some(holes)}" if holes.size else "")
    addable = holes[~np.isin(_outer_sum([table, holes]), sums).reshape(holes.size, -1).any(axis=1)] if holes.size and not tiles else []
    if holes.size and (exact or R.size < tiles or len(addable)):
        raise _Broken(told + (f", and A fits at {_some(addable)} too" if len(addable) else f", and a complement of {tiles} elements fits"))
    return told


def _room(A: Layout, n: int) -> tuple[int, bool, int]:
    """How often A fits into n slots at least, whether that leaves no hole, and after how many slots the pattern can repeat.

    Where each stride of A jumps past all that the smaller ones reach, its gaps have room for whole copies; else 0 is promised.
    """
    tiles, exact, reach = 1, True, 1
    for stride, extent in sorted((d, s) for s, d in A.leaves if s > 1):
        tiles, exact, reach = tiles * (stride // reach), exact and stride % reach == 0, stride * extent
    return tiles * -(-n // reach), exact, reach


def _some(places) -> str:
    return ", ".join(map(str, places[:4])) + (", ..." if len(places) > 4 else "")


def _complement_of(layout: Layout, n: int) -> Layout:
    """The complement that tiles are placed by: the one answer that is taken from the algebra."""
    try:
        return algebra.complement(layout, n)
    except LayoutError as error:
        if str(error).startswith("undecided"):
            raise
        raise _Broken(f"the result should not exist: {error}") from None


# Tiles: tables [t, r] over a tile and the rest, one for each place of the tiler

def _split(layout, tiler, pair, place=()) -> list[tuple[np.ndarray, np.ndarray, tuple]]:
    """(values [t, r], which lie outside, place) for each leaf of the tiler; a mode that it does not reach is all rest."""
    if isinstance(tiler, tuple):
        if len(tiler) > layout.rank:
            raise LayoutError(f"{len(tiler)} tilers for {layout}, which has rank {layout.rank}")
        entries = tiler + (BEYOND,) * (layout.rank - len(tiler))
        return [part for m, mode in enumerate(layout) for part in _split(mode, entries[m], pair, (*place, m))]
    if tiler is not None and tiler is not BEYOND:
        return [(*pair(layout, tiler), place)]
    whole = _table(layout)[None, :] if tiler is BEYOND else _table(layout)[:, None]
    return [(whole, np.zeros(whole.shape, bool), place)]


def _divided(A: Layout, tile):
    """A at T(t) + rest(r), as a table [t, r], and which of these indices lie past A's size."""
    T = _plain(tile, "a tiler")
    rest = _complement_of(T, A.size)
    positions = _outer_sum([_table(T), _table(rest)]).reshape((T.size, rest.size), order="F")
    return A.at(positions), positions >= A.size


def _multiplied(A: Layout, B):
    """A(t) + copy number B(r) of A, as a table [t, r]; the copies are placed by A's complement. None lies outside."""
    B = _plain(B, "a tiler")
    tiles = _table(B)
    if tiles.min() < 0:
        _depart(B, int(np.argmax(tiles < 0)), f"{tiles.min()} is no number of a tile")
    copies = _complement_of(A, A.size * B.cosize).at(tiles)
    values = _outer_sum([_table(A), copies]).reshape((A.size, B.size), order="F")
    return values, np.zeros(values.shape, bool)


def _tiles(layout: Layout, tiler, pair, together: bool = True):
    """Values and what lies outside, flat, tile modes before rest modes if `together`; then the sizes of the modes of both.

    A Layout tiler has one tile and one rest; the sizes are then those of the modes inside.
    """
    if tiler is None:
        raise LayoutError("None is no tiler of a whole layout; a tuple with None in it leaves single modes alone")
    parts = _split(layout, tiler, pair)
    sizes = [n for values, _, _ in parts for n in values.shape]
    flat, outside = (_outer_sum(part[k] for part in parts) for k in (0, 1))
    if together:
        flat, outside = _evens_first(flat, sizes), _evens_first(outside, sizes)
    if not isinstance(tiler, tuple):
        inside = (tiler.shape, sizes[1]) if pair is _divided else (layout.shape, tiler.shape)
        return flat, outside > 0, *map(_sizes, inside)
    shapes = [[values.shape for values, _, place in parts if place[0] == m] for m in range(layout.rank)]
    tile, rest = ([prod(shape[k] for shape in group) for group in shapes] for k in (0, 1))
    return flat, outside > 0, tile[: len(tiler)], rest


def _tiled(R, layout, tiler, *, kind: str, pair):
    inner, finish = _open(layout)
    tiler = as_tiler(tiler)
    flat, outside, tile, rest = _tiles(inner, tiler, pair, kind != "logical")
    values, R, by_mode = finish(flat), _layout(R), isinstance(tiler, tuple)
    if kind == "logical" and by_mode:
        _has_sizes(R, [prod(both) for both in zip_longest(tile, rest, fillvalue=1)])
    elif kind in ("logical", "zipped"):
        _has_sizes(R, [prod(tile), prod(rest)])
    else:
        _has_sizes(R, tile + rest if kind == "flat" else [prod(tile), *rest], () if by_mode else _spreading(tile, rest, kind == "flat"))
    if kind == "zipped" and by_mode and (_sizes(R.shape[0]), _sizes(R.shape[1])) != (tile, rest):
        raise _Broken(f"shape {format_tuple(R.shape)} should split into {format_tuple((tuple(tile), tuple(rest)))}")
    _same(R, values)
    return _ragged(values, outside, finish(_table(inner)))


def _spreading(tile: list[int], rest: list[int], flat: bool = True) -> set[int]:
    """The places where one mode may come as several: where a tile or rest of one mode was composed, and then taken apart."""
    tiles = len(tile) if flat else 1
    return ({0} if flat and len(tile) == 1 else set()) | ({tiles} if len(rest) == 1 else set())


def _ragged(values, outside, table) -> str | None:
    """What is in the slots that lie outside the layout."""
    if outside.any():
        out = values[outside]
        alias, past, before = (int(which.sum()) for which in (np.isin(out, table), out > table.max(), out < table.min()))
        return (
            f"ragged: {out.size} of {values.size} slots lie outside the layout: {alias} alias its elements, {past} run past its "
            f"largest offset, {before} lie before its smallest, {out.size - alias - past - before} fall into unused slots"
        )


def _interleaved(block: Layout, tiler: Layout, raked: bool = False) -> tuple[np.ndarray, list[int]]:
    """The table of a product whose modes pair up, (block, tiler) or (tiler, block) if raked; and the sizes of the pairs."""
    rank = max(block.rank, tiler.rank)
    sizes = [n for part in (block, tiler) for n in _sizes(part.shape) + [1] * (rank - part.rank)]
    axes = [axis for m in range(rank) for axis in ((rank + m, m) if raked else (m, rank + m))]
    values = _by_size(_multiplied(block, tiler)[0].ravel(order="F"), sizes).transpose(axes).ravel(order="F")
    return values, [sizes[m] * sizes[rank + m] for m in range(rank)]


def _paired(R, block, tiler, *, raked: bool):
    inner, finish = _open(block)
    values, sizes = _interleaved(inner, _plain(tiler, "a tiler"), raked)
    _same(_has_sizes(_layout(R), sizes), finish(values))


def _make_layout_tv(R, threads, values):
    T, V = _plain(threads, "a thread layout"), _plain(values, "a value layout")
    for what, numbers in (("threads", _table(T)), ("values", _table(V))):
        if (missing := np.setdiff1d(np.arange(numbers.size), numbers)).size:
            raise _Broken(f"the {numbers.size} {what} are not numbered 0, 1, 2, ...: none is number {missing[0]}")
    holders, sizes = _interleaved(T, V, raked=True)
    if not isinstance(R, (tuple, list)) or len(R) != 2:
        raise _Broken("the result should be two things, the shape of the tile and the layout (thread, value) -> place in it")
    _has_sizes(_layout(R[0]), sizes)
    tv = _has_sizes(_layout(R[1]), [T.size, V.size])
    places = np.empty_like(holders)
    places[holders] = np.arange(holders.size)
    _same(tv, places, lambda i: f"the place of thread {i % T.size}, value {i // T.size}")


def _tile_to_shape(R, atom, shape, order=None):
    inner, finish = _open(atom)
    want = _sizes(as_layout(shape).shape)
    want += [1] * (inner.rank - len(want))
    ranks = range(len(want)) if order is None else leaf_values(int_tuple(order, "order"))
    if len(ranks) != len(want):
        raise LayoutError(f"order {format_tuple(order)} should rank {len(want)} modes")
    counts = [-(-n // (inner[m].size if m < inner.rank else 1)) for m, n in enumerate(want)]
    fastest = sorted(range(len(want)), key=ranks.__getitem__)
    strides = {m: prod(counts[f] for f in fastest[:place]) for place, m in enumerate(fastest)}
    values, sizes = _interleaved(inner, Layout(tuple(counts), tuple(strides[m] for m in range(len(want)))))
    _same(_has_sizes(_layout(R), sizes), finish(values))
    return f"ragged: the shape is rounded up to {format_tuple(tuple(sizes))}" if sizes != want else None


# A tile at a place

def _local_tile(R, tensor, tiler, coordinate, proj=None):
    tiler, at = project(as_tiler(tiler), proj, "tiler"), project(coordinate, proj, "coordinate")
    return _placed(R, tensor, tiler, (), tuple(at) if isinstance(at, (tuple, list)) else at)


def _local_partition(R, tensor, tiler, index, proj=None):
    threads = _plain(tiler, "a thread layout")
    sizes = _sizes(threads.shape)
    tile = project(tuple(map(Layout, sizes)), proj, "tiler")
    holders = np.flatnonzero(_table(threads) == whole_number(index, "index"))
    places = {project(tuple(map(int, np.unravel_index(i, sizes, order="F"))), proj, "place") for i in holders}
    if len(places) != 1:
        raise LayoutError(f"{len(places)} places of {threads} have index {index}; it should be one")
    return _placed(R, tensor, tile, places.pop(), ())


def _placed(R, tensor, tiler, tile_at, rest_at):
    """R is the part of the divided tensor at a coordinate of the tile and one of the rest; None and what is not given stay."""
    inner, finish = _open(tensor)
    flat, outside, tile, rest = _tiles(inner, tiler, _divided)
    spreading = set() if isinstance(tiler, tuple) else _spreading(tile, rest)
    if rest_at is not None and not isinstance(rest_at, tuple):
        rest_at, rest = (rest_at,), [prod(rest)]
    at = [*tile_at, *[None] * (len(tile) - len(tile_at)), *(rest_at or ())]
    at += [None] * (len(tile + rest) - len(at))
    values, outside = (_cut(table, tile + rest, at) for table in (finish(flat), outside))
    _same(_has_sizes(_layout(R), [n for n, entry in zip(tile + rest, at, strict=True) if entry is None], spreading), values)
    return _ragged(values, outside, finish(_table(inner)))


# Elements of another width

def _recast_layout(R, new_bits, old_bits, layout):
    A, n = as_function(layout), _ratio(new_bits, old_bits)
    if isinstance(A, Swizzle) and n & (n - 1):
        raise LayoutError(f"undecided: a swizzle of elements {n} times as wide; it should be 2, 4, 8, ... times")
    R = _layout(R, as_function)
    if isinstance(R, Swizzle) != isinstance(A, Swizzle):
        raise _Broken(f"of {A} the result is no {type(R).__name__}")
    wide, narrow = (R, A) if new_bits > old_bits else (A, R)
    if isinstance(A, Swizzle):  # swizzles only XOR, so that single bits decide
        for y in (1 << bit for bit in range(62)):
            if narrow(y) != n * wide(y // n) + y % n:
                raise _Broken(f"narrow element {y} moves to {narrow(y)}, its wide element {y // n} to {wide(y // n)}", y)
        return
    profiles = [nest([0] * len(leaf_values(L.shape)), _bare(L.shape)) for L in (R, A)]
    if profiles[0] != profiles[1]:
        raise _Broken(f"shape {format_tuple(R.shape)} does not nest as {format_tuple(A.shape)} does")
    factors = [divmod(s, w) for s, w in zip(leaf_values(narrow.shape), leaf_values(wide.shape), strict=True)]
    if any(left for _, left in factors) or prod(f for f, _ in factors) != n:
        raise _Broken(f"{format_tuple(R.shape)} elements of {new_bits} bits do not make {format_tuple(A.shape)} of {old_bits}")
    sizes = [n for (f, _), w in zip(factors, leaf_values(wide.shape), strict=True) for n in (f, w)]
    parts = _evens_first(_at(narrow, _indices(narrow.size, narrow)), sizes).reshape((n, -1), order="F")
    whole = _at(wide, np.arange(wide.size))
    together = (np.sort(parts - parts[0], axis=0) == np.arange(n)[:, None]).all(axis=0)
    if (wrong := np.flatnonzero((parts[0] % n != 0) | (parts[0] // n != whole) | ~together)).size:
        i = int(wrong[0])
        _depart(wide, i, f"the wide element is at {whole[i]}, its {n} parts at {_some(parts[:, i].tolist())}")


def _ratio(new_bits, old_bits) -> int:
    bits = [int_tuple(new_bits, "new width"), int_tuple(old_bits, "old width")]
    if any(isinstance(b, tuple) or b < 1 for b in bits) or max(bits) % min(bits):
        raise LayoutError(f"recasting from {old_bits} to {new_bits} bits: one width should be a multiple of the other")
    return max(bits) // min(bits)


_PAIRS = {"divide": _divided, "product": _multiplied}

LAWS = {
    **{op: partial(_edited, parts=parts) for op, parts in PARTS.items()}, "coalesce": _coalesce, "slice_": _slice,
    "composition": _composition, "complement": _complement, "right_inverse": _right_inverse, "left_inverse": _left_inverse,
    **{f"{k}_{name}": partial(_tiled, kind=k, pair=_PAIRS[name]) for k in ("logical", "zipped", "tiled", "flat") for name in _PAIRS},
    "blocked_product": partial(_paired, raked=False), "raked_product": partial(_paired, raked=True),
    "make_layout_tv": _make_layout_tv, "tile_to_shape": _tile_to_shape,
    "local_tile": _local_tile, "local_partition": _local_partition, "recast_layout": _recast_layout,
}  # fmt: skip
