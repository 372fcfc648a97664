"""`Layout`: a function from coordinates to offsets, written `shape:stride`.

A shape is an int or a nested tuple of ints; a stride has the same nesting. A layout *is* its function: `offsets()` is the
whole of it, and every answer elsewhere is judged by that table.
"""

from math import prod

import numpy as np

from layoutviz.errors import LayoutError
from layoutviz.int_tuple import OFFSET_LIMIT, compact_stride, coordinate_of, depth_of, inner_product, int_tuple, leaf_values
from layoutviz.notation import IntTuple, format_tuple, parse

TABLE_LIMIT = 2**26  # elements: a table of half a gigabyte
SEARCH_LIMIT = 2**20  # elements of a table that is searched, as for two that share an offset

_assign = object.__setattr__  # how a constructor fills a value that nobody can change


class CoordinateFunction:
    """What a Layout, a ComposedLayout and a Tensor share: a shape, and one offset for each of its coordinates.

    A subclass has `plain`, the layout inside that gives it its shape; `after`, what is done to that layout's offsets; `reach`, how far
    from 0 an offset can be; and `_form`, what makes two of them equal.
    """

    __slots__ = ()

    def __setattr__(self, name, value):
        raise AttributeError(f"a {type(self).__name__} cannot be changed; make a new one")

    __delattr__ = __setattr__

    shape = property(lambda self: self.plain.shape, doc="The extents: an int, or nested tuples of ints.")

    @property
    def rank(self) -> int:
        """The number of top-level modes; 1 for an int shape."""
        return len(self.shape) if isinstance(self.shape, tuple) else 1

    @property
    def depth(self) -> int:
        """How deep the shape nests: 0 for an int, 1 for a flat tuple."""
        return depth_of(self.shape)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return prod(leaf_values(self.shape))

    @property
    def cosize(self) -> int:
        """The slots of memory it needs: the largest offset minus the smallest (or 0) plus 1.

        >>> from layoutviz import Layout, Tensor
        >>> Layout((4, 2), (1, 5)).cosize, Layout((4, 2), (-1, 4)).cosize, Tensor("4:1", 8).cosize
        (9, 8, 12)
        """
        low, high = self.offset_range
        return high - min(low, 0) + 1

    @property
    def offset_range(self) -> tuple[int, int]:
        """The smallest and the largest offset."""
        table = self.offsets()
        return int(table.min()), int(table.max())

    def coordinate(self, index: int) -> IntTuple:
        """The coordinate of an index in range(size), nested as the shape.

        >>> from layoutviz import Layout
        >>> Layout((4, (2, 3))).coordinate(13)
        (1, (1, 1))
        """
        index = int_tuple(index, "index")
        if isinstance(index, tuple) or not 0 <= index < self.size:
            raise LayoutError(f"{format_tuple(index)} is no index of {self}, which has indices 0 to {self.size - 1}")
        return coordinate_of(index, self.shape)

    def __call__(self, *coordinate) -> int:
        """The offset at a coordinate: flat L(6), natural L(1, 2), or nested as the shape is, L((1, (0, 1))).

        A flat index past the size extends the last mode, as in CuTe; a coordinate out of its mode's range is an error.
        """
        if not coordinate:
            raise LayoutError(f"{self}() has no coordinate; give an index or {self.rank} numbers")
        whole = int_tuple(coordinate[0] if len(coordinate) == 1 else coordinate, "coordinate")
        return self._within(int(self.after(inner_product(whole, self.plain.shape, self.plain.stride, extend=True))))

    def at(self, indices) -> np.ndarray:
        """L(i) for each i of an integer array, past the size too. LayoutError for a negative index or an offset beyond 2^62."""
        indices = self._index_array(indices)
        self._within(self.reach(int(indices.max(initial=0))))
        *inner, (_, last) = self.plain.leaves
        offsets = np.zeros_like(indices)
        for extent, stride in inner:
            indices, digit = np.divmod(indices, extent)
            offsets += digit * stride
        return self.after(offsets + indices * last)

    def offsets(self) -> np.ndarray:
        """The whole function: int64[size], the offset of index 0, 1, 2, ... The first mode runs fastest.

        >>> from layoutviz import Layout
        >>> Layout((2, 3), (3, 1)).offsets().tolist()
        [0, 3, 1, 4, 2, 5]
        """
        if self.size > TABLE_LIMIT:
            raise LayoutError(f"{self} has {self.size:,} elements; tables are made up to {TABLE_LIMIT:,}")
        table = np.zeros(1, np.int64)
        for extent, stride in self.plain.leaves:
            table = (np.arange(extent, dtype=np.int64)[:, None] * stride + table).ravel()
        return self.after(table)

    def _index_array(self, indices) -> np.ndarray:
        try:
            indices = np.asarray(indices)
        except ValueError:
            indices = np.asarray(None)
        if indices.size and (indices.dtype.kind not in "iu" or indices.max() > OFFSET_LIMIT):
            raise LayoutError(f"the indices of {self} are whole numbers up to 2^62, in an array")
        if indices.size and indices.min() < 0:
            raise LayoutError(f"{indices.min()} is no index of {self}: indices start at 0")
        return indices.astype(np.int64)

    def _within(self, offset: int) -> int:
        if abs(offset) > OFFSET_LIMIT:
            raise LayoutError(f"{self} reaches past 2^62, the largest offset that is computed here")
        return offset

    def __eq__(self, other):
        return type(self) is type(other) and self._form() == other._form()

    def __hash__(self):
        return hash(self._form())

    def __repr__(self):
        return f'{type(self).__name__}("{self}")'

    def _repr_mimebundle_(self, include=None, exclude=None):
        from layoutviz.api import draw

        return draw(self)._repr_mimebundle_(include=include, exclude=exclude)


class Layout(CoordinateFunction):
    """A layout `shape:stride`. Immutable; equal (and hashed) by form.

    Layout(shape), Layout(shape, stride), Layout("(4,4):(4,1)"). Extents are positive, strides any integers, both nested
    alike. Without a stride it is compact and column-major: the first mode runs fastest (CuTe: colexicographic).

    Post: `L(i) == L.offsets()[i]` for every index i in range(L.size). `L[0]` is its first mode, a layout too.
    Raises LayoutError for what is no layout, saying what and where.

    >>> L = Layout((4, 4), (4, 1))
    >>> str(L), L.size, L.cosize, L.rank, L.depth
    ('(4,4):(4,1)', 16, 16, 2, 1)
    >>> L(6), L(2, 1), L((2, 1))
    (9, 9, 9)
    >>> str(Layout((4, (2, 3))))
    '(4,(2,3)):(1,(4,8))'
    """

    __slots__ = ("_shape", "_stride", "_leaves")

    def __init__(self, shape, stride=None):
        if isinstance(shape, Layout) and stride is None:
            return self._become(shape.shape, shape.stride)
        if isinstance(shape, str):
            if stride is not None:
                raise LayoutError(f'"{shape}" is notation for a whole layout; put the stride into it, as in "(4,4):(4,1)"')
            shape, stride = parse(shape)
        shape = int_tuple(shape, "shape")
        _check_extents(shape)
        stride = compact_stride(shape) if stride is None else int_tuple(stride, "stride")
        _check_congruent(shape, stride)
        self._become(shape, stride)

    @classmethod
    def of(cls, shape: IntTuple, stride: IntTuple) -> "Layout":
        """A layout of plain ints that are known to nest alike: what the algebra builds, without the checks meant for readers."""
        layout = object.__new__(cls)
        layout._become(shape, stride)
        return layout

    def _become(self, shape: IntTuple, stride: IntTuple):
        leaves = tuple(zip(leaf_values(shape), leaf_values(stride), strict=True))
        _assign(self, "_shape", shape)
        _assign(self, "_stride", stride)
        _assign(self, "_leaves", leaves)
        size, reach = 1, 1
        for extent, step in leaves:
            size *= extent
            reach += (extent - 1) * abs(step)
        self._within(max(size, reach))

    def __reduce__(self):
        return Layout, (self.shape, self.stride)

    plain = property(lambda self: self, doc="The layout itself.")
    shape = property(lambda self: self._shape, doc="The extents: an int, or nested tuples of ints.")
    stride = property(lambda self: self._stride, doc="The steps in memory, nested as the shape.")
    leaves = property(lambda self: self._leaves, doc="The (extent, stride) pairs, left to right, without their nesting.")

    @property
    def offset_range(self) -> tuple[int, int]:
        """The smallest and the largest offset. Coordinate 0 has offset 0, so smallest <= 0 <= largest."""
        ends = [(s - 1) * d for s, d in self.leaves]
        return sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)

    def modes(self) -> list["Layout"]:
        """The top-level modes, each as a layout; a layout with an int shape is its own only mode."""
        if not isinstance(self.shape, tuple):
            return [self]
        return [Layout.of(s, d) for s, d in zip(self.shape, self.stride, strict=True)]

    def __getitem__(self, mode) -> "Layout":
        """A mode as a layout: L[0]; L[1, 0] is mode 0 of mode 1 (CuTe: get<1,0>). Negative numbers count from the end.

        >>> Layout("(4,(2,3)):(6,(3,1))")[1, 0]
        Layout("2:3")
        """
        path = mode if isinstance(mode, tuple) else (mode,)
        if any(entry is None or isinstance(entry, slice) for entry in path):
            raise LayoutError("L[...] names a mode; to slice, write Tensor(L)[None, 0] or slice_(L, (None, 0)), which keep the offset")
        part = self
        for step in int_tuple(path, "mode") if path else ():
            if isinstance(step, tuple) or not -part.rank <= step < part.rank:
                raise LayoutError(f"{part} has no mode {format_tuple(step)}: it has {part.rank}, numbered from 0")
            part = part.modes()[step]
        return part

    def __iter__(self):
        return iter(self.modes())

    def after(self, offset):
        """An offset as it is: nothing stands outside a plain layout."""
        return offset

    def reach(self, index: int) -> int:
        """How far from 0 the offset of an index up to this one can be."""
        *inner, (_, last) = self.leaves
        return index // prod(extent for extent, _ in inner) * abs(last) + sum((s - 1) * abs(d) for s, d in inner)

    def _form(self):
        # a mode of extent 1 has only coordinate 0, so its stride says nothing
        return self.shape, tuple(0 if s == 1 else d for s, d in self.leaves)

    def __str__(self):
        return f"{format_tuple(self.shape)}:{format_tuple(self.stride)}"


def merge(leaves) -> list[tuple[int, int]]:
    """Leaves without extent 1, neighbours merged where the second's stride continues the first. One form a function.

    >>> merge([(2, 1), (1, 7), (3, 2), (4, 1)])
    [(6, 1), (4, 1)]
    """
    merged: list[tuple[int, int]] = []
    for extent, stride in leaves:
        if extent == 1:
            continue
        if merged and stride == merged[-1][0] * merged[-1][1]:
            merged[-1] = (merged[-1][0] * extent, merged[-1][1])
        else:
            merged.append((extent, stride))
    return merged


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
