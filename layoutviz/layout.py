"""`Layout`: a function from coordinates to offsets, written `shape:stride`.

A shape is an int or a nested tuple of ints; a stride has the same nesting. A layout *is* its function: `offsets()` is the
whole of it, and every answer elsewhere is judged by that table.
"""

from math import prod
from operator import index as as_int

import numpy as np

from layoutviz.errors import LayoutError
from layoutviz.notation import DEEPEST, IntTuple, format_tuple, parse

OFFSET_LIMIT = 2**62  # offsets are handed to numpy as int64
TABLE_LIMIT = 2**26  # elements: a table of half a gigabyte
ALIAS_LIMIT = 2**20  # elements searched for two that share an offset


class Layout:
    """A layout `shape:stride`. Immutable; equal (and hashed) by form.

    Layout(shape), Layout(shape, stride), Layout("(4,4):(4,1)"). Extents are positive, strides any integers, both nested
    alike. Without a stride it is compact and column-major: the first mode runs fastest (CuTe: colexicographic).

    Post: `L(i) == L.offsets()[i]` for every index i in range(L.size).
    Raises LayoutError for what is no layout, saying what and where.

    >>> L = Layout((4, 4), (4, 1))
    >>> str(L), L.size, L.cosize, L.rank, L.depth
    ('(4,4):(4,1)', 16, 16, 2, 1)
    >>> L(6), L(2, 1), L((2, 1))
    (9, 9, 9)
    >>> str(Layout((4, (2, 3))))
    '(4,(2,3)):(1,(4,8))'
    """

    __slots__ = ("_shape", "_stride")

    def __init__(self, shape, stride=None):
        if isinstance(shape, Layout) and stride is None:
            shape, stride = shape.shape, shape.stride
        elif isinstance(shape, str):
            if stride is not None:
                raise LayoutError(f'"{shape}" is notation for a whole layout; put the stride into it, as in "(4,4):(4,1)"')
            shape, stride = parse(shape)
        shape = int_tuple(shape, "shape")
        _check_extents(shape)
        stride = compact_stride(shape) if stride is None else int_tuple(stride, "stride")
        _check_congruent(shape, stride)
        object.__setattr__(self, "_shape", shape)
        object.__setattr__(self, "_stride", stride)
        reach = max(prod(leaf_values(shape)), *(abs((s - 1) * d) for s, d in self.leaves()), self.cosize)
        if reach > OFFSET_LIMIT:
            raise LayoutError(f"{self} reaches past 2^62, the largest offset that is computed here")

    def __setattr__(self, name, value):
        raise AttributeError("a Layout cannot be changed; make a new one")

    __delattr__ = __setattr__

    def __reduce__(self):
        return Layout, (self.shape, self.stride)

    shape = property(lambda self: self._shape, doc="The extents: an int, or nested tuples of ints.")
    stride = property(lambda self: self._stride, doc="The steps in memory, nested as the shape.")

    @property
    def rank(self) -> int:
        """The number of top-level modes; 1 for an int shape."""
        return len(self.shape) if isinstance(self.shape, tuple) else 1

    @property
    def depth(self) -> int:
        """How deep the shape nests: 0 for an int, 1 for a flat tuple."""
        return _depth(self.shape)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return prod(leaf_values(self.shape))

    @property
    def cosize(self) -> int:
        """The slots of memory it needs: largest offset minus smallest offset plus 1.

        >>> Layout((4, 2), (1, 5)).cosize, Layout((4, 2), (-1, 4)).cosize
        (9, 8)
        """
        low, high = self.offset_range
        return high - low + 1

    @property
    def offset_range(self) -> tuple[int, int]:
        """The smallest and the largest offset. Coordinate 0 has offset 0, so smallest <= 0 <= largest."""
        ends = [(s - 1) * d for s, d in self.leaves()]
        return sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)

    def leaves(self) -> list[tuple[int, int]]:
        """The (extent, stride) pairs, left to right, without their nesting."""
        return list(zip(leaf_values(self.shape), leaf_values(self.stride), strict=True))

    def modes(self) -> list["Layout"]:
        """The top-level modes, each as a layout; a layout with an int shape is its own only mode."""
        if not isinstance(self.shape, tuple):
            return [self]
        return [Layout(s, d) for s, d in zip(self.shape, self.stride, strict=True)]

    def __call__(self, *coordinate) -> int:
        """The offset at a coordinate: flat L(6), natural L(1, 2), or nested as the shape is, L((1, (0, 1))).

        A flat index past the size extends the last mode, as in CuTe; a coordinate out of its mode's range is an error.
        """
        if not coordinate:
            raise LayoutError(f"{self}() has no coordinate; give an index or {self.rank} numbers")
        whole = coordinate[0] if len(coordinate) == 1 else coordinate
        return _offset(int_tuple(whole, "coordinate"), self.shape, self.stride, extend=True)

    def coordinate(self, index: int) -> IntTuple:
        """The coordinate of an index in range(size), nested as the shape.

        >>> Layout((4, (2, 3))).coordinate(13)
        (1, (1, 1))
        """
        index = int_tuple(index, "index")
        if isinstance(index, tuple) or not 0 <= index < self.size:
            raise LayoutError(f"{format_tuple(index)} is no index of {self}, which has indices 0 to {self.size - 1}")
        return _coordinate(index, self.shape)

    def offsets(self) -> np.ndarray:
        """The whole function: int64[size], the offset of index 0, 1, 2, ... The first mode runs fastest.

        >>> Layout((2, 3), (3, 1)).offsets().tolist()
        [0, 3, 1, 4, 2, 5]
        """
        if self.size > TABLE_LIMIT:
            raise LayoutError(f"{self} has {self.size:,} elements; tables are made up to {TABLE_LIMIT:,}")
        table = np.zeros(1, np.int64)
        for extent, stride in self.leaves():
            table = (np.arange(extent, dtype=np.int64)[:, None] * stride + table).ravel()
        return table

    def __eq__(self, other):
        return isinstance(other, Layout) and self._form() == other._form()

    def __hash__(self):
        return hash(self._form())

    def _form(self):
        # a mode of extent 1 has only coordinate 0, so its stride says nothing
        return self.shape, tuple(0 if s == 1 else d for s, d in self.leaves())

    def __str__(self):
        return f"{format_tuple(self.shape)}:{format_tuple(self.stride)}"

    def __repr__(self):
        return f'Layout("{self}")'

    def _repr_mimebundle_(self, include=None, exclude=None):
        from layoutviz.api import draw

        return draw(self)._repr_mimebundle_(include=include, exclude=exclude)


def same_function(a: Layout, b: Layout) -> bool:
    """Whether a and b have the same size and the same offset at every index. Form does not matter.

    Exact without a table: merging neighbours whose strides chain leaves one form for each function.

    >>> same_function(Layout("(2,2):(1,2)"), Layout("4:1")), same_function(Layout("(4,4):(4,1)"), Layout("(4,4):(1,4)"))
    (True, False)
    """
    a, b = Layout(a), Layout(b)
    return a.size == b.size and _merged_leaves(a) == _merged_leaves(b)


def find_alias(layout: Layout) -> tuple[int, int] | None:
    """Two indices (i, j), i < j, with the same offset; None if there are none. Up to 2^20 elements j is the first that repeats one.

    Decided from the strides where they chain, else by a table of the first 2^20 elements; LayoutError "undecided" if neither tells.

    >>> find_alias(Layout("(4,4):(1,3)")), find_alias(Layout("(4,4):(1,5)"))
    ((3, 4), None)
    """
    reach = 0
    for extent, stride in sorted((leaf for leaf in layout.leaves() if leaf[0] > 1), key=lambda leaf: abs(leaf[1])):
        if abs(stride) <= reach:
            break
        reach += (extent - 1) * abs(stride)
    else:
        return None  # each step jumps past everything that the smaller ones reach
    table = _first_elements(layout, ALIAS_LIMIT).offsets()
    _, first, inverse = np.unique(table, return_index=True, return_inverse=True)
    repeats = np.flatnonzero(first[inverse] != np.arange(table.size))
    if repeats.size:
        return int(first[inverse[repeats[0]]]), int(repeats[0])
    step = 1
    for extent, stride in layout.leaves():
        if stride == 0 and extent > 1:
            return 0, step
        step *= extent
    if layout.size <= ALIAS_LIMIT:
        return None
    raise LayoutError(f"undecided: {layout} has {layout.size:,} elements, too many to look for two at one offset")


def _first_elements(layout: Layout, count: int) -> Layout:
    """A layout of the first elements, in index order: as many whole steps of its leaves as make up to `count`."""
    leaves = []
    for extent, stride in layout.leaves():
        leaves.append((min(extent, count), stride))
        count //= extent
        if count <= 1:
            break
    return Layout(*map(tuple, zip(*leaves, strict=True)))


def leaf_values(value: IntTuple) -> tuple[int, ...]:
    """The ints of a nested tuple, left to right."""
    if not isinstance(value, tuple):
        return (value,)
    return tuple(leaf for entry in value for leaf in leaf_values(entry))


def nest(values, profile: IntTuple) -> IntTuple:
    """Give flat `values` the nesting of `profile`.

    >>> nest([1, 2, 3], (4, (2, 2)))
    (1, (2, 3))
    """
    values = iter(values)

    def build(part):
        return tuple(map(build, part)) if isinstance(part, tuple) else next(values)

    return build(profile)


def compact_stride(shape: IntTuple) -> IntTuple:
    """The column-major (colexicographic) stride of a shape; 0 where the extent is 1, as in CuTe."""
    strides, step = [], 1
    for extent in leaf_values(shape):
        strides.append(step if extent > 1 else 0)
        step *= extent
    return nest(strides, shape)


def _merged_leaves(layout: Layout) -> list[tuple[int, int]]:
    """Leaves without extent 1, neighbours merged where the second's stride continues the first. One form a function."""
    merged: list[tuple[int, int]] = []
    for extent, stride in layout.leaves():
        if extent == 1:
            continue
        if merged and stride == merged[-1][0] * merged[-1][1]:
            merged[-1] = (merged[-1][0] * extent, merged[-1][1])
        else:
            merged.append((extent, stride))
    return merged


def _depth(value: IntTuple) -> int:
    return 1 + max(map(_depth, value)) if isinstance(value, tuple) else 0


def int_tuple(value, what: str, depth: int = 0) -> IntTuple:
    """`value` as plain ints in tuples, or a LayoutError naming the entry that is neither."""
    if isinstance(value, (tuple, list)):
        if depth == DEEPEST:
            raise LayoutError(f"the {what} is nested more than {DEEPEST} deep")
        if not value:
            raise LayoutError(f"an empty tuple in the {what}: every mode needs at least one number")
        return tuple(int_tuple(entry, what, depth + 1) for entry in value)
    if value is Ellipsis:
        raise LayoutError(f"the {what} still has a ... in it; put a number in its place")
    if not isinstance(value, (bool, np.bool_)):
        try:
            number = as_int(value)
        except TypeError:
            pass
        else:
            if abs(number) > OFFSET_LIMIT:
                raise LayoutError(f"a number in the {what} is beyond 2^62")
            return number
    raise LayoutError(f"{value!r} in the {what} is not a whole number")


def _check_extents(shape: IntTuple) -> None:
    for extent in leaf_values(shape):
        if extent < 1:
            raise LayoutError(f"extent {extent} in shape {format_tuple(shape)}: every extent must be at least 1")


def _check_congruent(shape: IntTuple, stride: IntTuple) -> None:
    """Shape and stride nest alike, or a LayoutError that names the first place where they do not."""

    def fits(s, d) -> bool:
        if isinstance(s, tuple) != isinstance(d, tuple):
            return False
        return not isinstance(s, tuple) or (len(s) == len(d) and all(map(fits, s, d)))

    if fits(shape, stride):
        return
    start = f"shape {format_tuple(shape)} and stride {format_tuple(stride)} must nest alike"
    if isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) == len(stride):
        mode = next(i for i in range(len(shape)) if not fits(shape[i], stride[i]))
        raise LayoutError(f"{start}: mode {mode} has shape {format_tuple(shape[mode])} but stride {format_tuple(stride[mode])}")
    counts = [f"{len(v)} entries" if isinstance(v, tuple) else "one number" for v in (shape, stride)]
    raise LayoutError(f"{start}: the shape has {counts[0]}, the stride {counts[1]}")


def _coordinate(index: int, shape: IntTuple) -> IntTuple:
    coordinate = []
    for extent in leaf_values(shape):
        coordinate.append(index % extent)
        index //= extent
    return nest(coordinate, shape)


def _offset(coordinate: IntTuple, shape: IntTuple, stride: IntTuple, extend: bool = False) -> int:
    """The inner product of a coordinate with the strides; ints at any level stand for a whole mode's flat index."""
    if isinstance(coordinate, tuple):
        if not isinstance(shape, tuple):
            if len(coordinate) == 1:  # L(6) of an int shape, spelled L((6,))
                return _offset(coordinate[0], shape, stride, extend)
            raise LayoutError(f"{_counted(coordinate)} where the shape has one number, {shape}")
        if len(coordinate) != len(shape):
            raise LayoutError(f"{_counted(coordinate)}, shape {format_tuple(shape)} has {len(shape)}")
        return sum(map(_offset, coordinate, shape, stride))
    size = prod(leaf_values(shape))
    if coordinate < 0 or (coordinate >= size and not extend):
        raise LayoutError(f"coordinate {coordinate} is outside mode {format_tuple(shape)}, which runs from 0 to {size - 1}")
    extents, strides = leaf_values(shape), leaf_values(stride)
    offset = 0
    for extent, step in zip(extents[:-1], strides[:-1], strict=True):
        offset += coordinate % extent * step
        coordinate //= extent
    return offset + coordinate * strides[-1]


def _counted(coordinate: tuple) -> str:
    return f"coordinate {format_tuple(coordinate)} has {len(coordinate)} entries"
