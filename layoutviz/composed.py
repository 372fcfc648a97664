"""What stands beside a plain layout: `Swizzle`, `ComposedLayout` and `Tensor`, and the reader of their notation."""

import re
from functools import wraps

import numpy as np

from layoutviz.errors import LayoutError
from layoutviz.int_tuple import OFFSET_LIMIT, int_tuple, whole_number
from layoutviz.layout import SEARCH_LIMIT, CoordinateFunction, Layout, merge
from layoutviz.notation import DEEPEST, format_tuple

_SWIZZLE = re.compile(r"(?:S|Sw|Swizzle)\s*<\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(-?\d{1,3})\s*>")


class Swizzle:
    """`S<b,m,s>`: a function on offsets that XORs b bits, standing at m + s and above, onto the b bits that stand at m and above.

    In words: the low m bits (2^m elements) stay together; above them, the column is XORed with the row, 2^s columns a row.
    With s < 0 the lower bits are read and the upper ones changed. It is its own inverse, and so never aliases.
    Pre: b, m >= 0, |s| >= b (the bits read and the bits changed may not overlap), all below bit 62. The DSL turns s < b into
    another swizzle without a word.

    >>> S = Swizzle(2, 0, 3)
    >>> str(S), [S(x) for x in (0, 8, 9, 16, 24, 32)]
    ('S<2,0,3>', [0, 9, 8, 18, 27, 32])
    """

    __slots__ = ("b", "m", "s")

    def __init__(self, b: int, m: int | None = None, s: int | None = None):
        if isinstance(b, str) and m is None:
            found = _SWIZZLE.fullmatch(b.strip())
            if not found:
                raise LayoutError(f'cannot read the swizzle "{b[:60]}"; it is written like S<3,4,3>')
            b, m, s = map(int, found.groups())
        b, m, s = (whole_number(value, f"{name} of a Swizzle") for name, value in zip("bms", (b, m, s), strict=True))
        if b < 0 or m < 0:
            raise LayoutError(f"S<{b},{m},{s}>: b counts bits and m is a place, so neither can be negative")
        if abs(s) < b:
            raise LayoutError(f"S<{b},{m},{s}>: the {b} bits read and the {b} bits changed overlap; s must be {b} or more, or {-b} or less")
        if b + m + abs(s) > 62:
            raise LayoutError(f"S<{b},{m},{s}> reads bit {b + m + abs(s) - 1}; offsets have 62 bits")
        for name, value in zip("bms", (b, m, s), strict=True):
            object.__setattr__(self, name, value)

    __setattr__ = __delattr__ = CoordinateFunction.__setattr__

    def __reduce__(self):
        return Swizzle, (self.b, self.m, self.s)

    def at(self, offsets):
        """S(x) for an int or for each x of an integer array."""
        offsets = offsets if isinstance(offsets, int) else np.asarray(offsets, np.int64)
        read = offsets & (((1 << self.b) - 1) << (self.m + max(self.s, 0)))
        return offsets ^ (read >> self.s if self.s >= 0 else read << -self.s)

    after = at  # as a layout's, where it is composed

    def reach(self, offset: int) -> int:
        """How far from 0 the result of an offset up to this far from 0 can be."""
        return offset + (1 << self.m + self.b + max(-self.s, 0) if self.b else 0)

    def __call__(self, offset: int) -> int:
        return self.at(whole_number(offset, "offset"))

    def __eq__(self, other):
        return isinstance(other, Swizzle) and (self.b, self.m, self.s) == (other.b, other.m, other.s)

    def __hash__(self):
        return hash((self.b, self.m, self.s))

    def __str__(self):
        return f"S<{self.b},{self.m},{self.s}>"

    def __repr__(self):
        return f"Swizzle({self.b}, {self.m}, {self.s})"


class ComposedLayout(CoordinateFunction):
    """`outer o offset o inner`: the offset of a coordinate c is outer(offset + inner(c)). The outer one, applied last, is a
    Swizzle or a layout; the inner one gives the shape.

    ComposedLayout(Swizzle(3,4,3), 0, Layout("(8,64):(64,1)")) or ComposedLayout("S<3,4,3> o 0 o (8,64):(64,1)").

    >>> C = ComposedLayout(Swizzle(3, 3, 3), 0, Layout("(8,64):(64,1)"))
    >>> str(C), C(1, 0), C(2, 8), C.size, C.cosize
    ('S<3,3,3> o 0 o (8,64):(64,1)', 72, 152, 512, 512)
    """

    __slots__ = ("_outer", "_offset", "_inner")

    def __init__(self, outer, offset: int = 0, inner=None):
        if isinstance(outer, str) and inner is None:
            outer = as_function(outer)
        if isinstance(outer, ComposedLayout) and inner is None:
            outer, offset, inner = outer.outer, outer.offset, outer.inner
        if inner is None:
            raise LayoutError('a ComposedLayout has three parts, outer, offset and inner, as in "S<3,4,3> o 0 o (8,64):(64,1)"')
        outer, offset, inner = as_function(outer), whole_number(offset, "offset"), as_layout(inner)
        if isinstance(inner, Tensor):
            offset, inner = offset + inner.offset, inner.layout
        for name, value in zip(self.__slots__, (outer, offset, inner), strict=True):
            object.__setattr__(self, name, value)
        self._within(self.reach(self.size - 1))
        lowest = offset + inner.offset_range[0] if isinstance(inner, Layout) else offset
        if lowest < 0 and not isinstance(outer, Swizzle):
            raise LayoutError(f"{self}: the inner part reaches {lowest}, and {outer} has no negative index")

    def __reduce__(self):
        return ComposedLayout, (self.outer, self.offset, self.inner)

    outer = property(lambda self: self._outer, doc="The function applied last: a Swizzle or a layout.")
    offset = property(lambda self: self._offset, doc="The int added to the inner offset.")
    inner = property(lambda self: self._inner, doc="The layout that gives the shape.")
    plain = property(lambda self: self._inner.plain, doc="The plain layout that gives the shape.")

    def after(self, offset):
        """outer(offset + ...) of an offset of the plain layout, or of an array of them."""
        return self.outer.at(self.offset + self.inner.after(offset))

    def reach(self, index: int) -> int:
        """How far from 0 the offset of an index up to this one can be."""
        inside = abs(self.offset) + self.inner.reach(index)
        return max(inside, self.outer.reach(inside))

    def _form(self):
        return self.outer, self.offset, self.inner

    def __str__(self):
        return f"{self.outer} o {self.offset} o {self.inner}"


class Tensor(CoordinateFunction):
    """A layout at a place: the offset of a coordinate c is offset + layout(c). What a slice, a tile or a partition is.

    T[None, 3] keeps mode 0 and fixes mode 1; so does T[:, 3]. T[2, 3] fixes both: a single element.

    >>> T = Tensor("(4,8):(8,1)")
    >>> str(T[None, 3]), T[None, 3](2), str(Tensor("(2,2):(8,1)", 20))
    ('3 + (4):(8)', 19, '20 + (2,2):(8,1)')
    """

    __slots__ = ("_layout", "_offset")

    def __init__(self, layout, offset: int = 0):
        layout, offset = as_layout(layout), whole_number(offset, "offset")
        if isinstance(layout, Tensor):
            layout, offset = layout.layout, offset + layout.offset
        for name, value in zip(self.__slots__, (layout, offset), strict=True):
            object.__setattr__(self, name, value)
        self._within(self.reach(self.size - 1))

    def __reduce__(self):
        return Tensor, (self.layout, self.offset)

    layout = property(lambda self: self._layout, doc="The layout, which starts at the offset.")
    offset = property(lambda self: self._offset, doc="The int added to every offset.")
    plain = property(lambda self: self._layout.plain, doc="The plain layout that gives the shape.")

    def after(self, offset):
        """offset + ... of an offset of the plain layout, or of an array of them."""
        return self.offset + self.layout.after(offset)

    def reach(self, index: int) -> int:
        """How far from 0 the offset of an index up to this one can be."""
        return abs(self.offset) + self.layout.reach(index)

    @property
    def offset_range(self) -> tuple[int, int]:
        """The smallest and the largest offset."""
        low, high = self.layout.offset_range
        return self.offset + low, self.offset + high

    def __getitem__(self, coordinate) -> "Tensor":
        return slice_(self, coordinate)

    def _form(self):
        return self.layout, self.offset

    def __str__(self):
        return f"{self.offset} + {self.layout}" if self.offset else str(self.layout)


def as_layout(thing) -> Layout | ComposedLayout | Tensor:
    """A layout of any kind from itself, its notation, a shape, or a DSL layout. LayoutError for anything else.

    >>> as_layout("S<1,0,2> o 0 o 8:1")
    ComposedLayout("S<1,0,2> o 0 o 8:1")
    """
    function = as_function(thing)
    if isinstance(function, Swizzle):
        raise LayoutError(f'{function} alone has no shape; compose it with a layout, as in "{function} o 0 o (8,8):(8,1)"')
    return function


def as_function(thing):
    """As `as_layout`, but a bare Swizzle is taken too."""
    if isinstance(thing, (CoordinateFunction, Swizzle)):
        return thing
    if type(thing).__module__.startswith("cutlass"):
        from layoutviz.cute import from_dsl

        return from_dsl(thing)
    if not isinstance(thing, str):
        return Layout(thing)
    at = re.fullmatch(r"\s*(-?\d+)\s*\+([^+]*)", thing)
    if at:
        return Tensor(at[2], _int(at[1]))
    parts = re.split(r"\s+o\s+", thing.strip())
    if len(parts) > 2 * DEEPEST:
        raise LayoutError(f"a layout composed of more than {DEEPEST} functions")
    return _read(parts)


def _read(parts: list[str]):
    """The function written `outer o offset o inner`; an offset of 0 may be left out."""
    if parts[0].startswith("S"):
        head = Swizzle(parts[0])
    elif len(parts) > 1 and re.fullmatch(r"-?\d+", parts[0]):
        raise LayoutError(f'"{" o ".join(parts)[:60]}" starts with an offset; a layout at a place is "{parts[0][:20]} + layout"')
    else:
        head = Layout(parts[0])
    if len(parts) == 1:
        return head
    offset = _int(parts[1]) if len(parts) > 2 and re.fullmatch(r"-?\d+", parts[1]) else None
    return ComposedLayout(head, offset or 0, _read(parts[1 if offset is None else 2 :]))


def _int(digits: str) -> int:
    return whole_number(int(digits) if len(digits) < 30 else OFFSET_LIMIT * 2, "offset")


def keeps_offset(op):
    """Let an operation that takes a Layout to a Tensor work inside a ComposedLayout or a Tensor; no offset is lost on the way."""

    @wraps(op)
    def run(target, *args, **kwargs):
        target = as_layout(target)
        if isinstance(target, Tensor):
            piece = run(target.layout, *args, **kwargs)
            return Tensor(piece.layout, piece.offset + target.offset)
        if isinstance(target, ComposedLayout):  # the outer function comes after the sum, so the offset goes inside
            piece = run(target.inner, *args, **kwargs)
            return Tensor(ComposedLayout(target.outer, target.offset + piece.offset, piece.layout))
        return op(target, *args, **kwargs)

    return run


@keeps_offset
def slice_(target, coordinate) -> Tensor:
    """Fix the modes that have a number, keep those that have None (or `:`), and keep the offset too. CuTe: `slice`, DSL: `slice_`.

    Pre: one entry for each mode, numbers inside their mode; a nested mode takes a number or entries of its own.
    Post: `result(kept) == target(kept and fixed together)`. The DSL's `slice_` returns the layout alone; a Tensor holds both.

    >>> str(slice_("(8,(4,16)):(64,(16,1))", (3, (None, 5))))
    '197 + (4):(16)'
    """
    if _keeps(coordinate):
        return Tensor(target)
    shapes, strides, offset = _sliced(coordinate, target.shape, target.stride)
    return Tensor(Layout.of(tuple(shapes), tuple(strides)) if shapes else Layout(1), offset)


def _keeps(entry) -> bool:
    if isinstance(entry, slice) and entry != slice(None):
        raise LayoutError("a slice of part of a mode, like 1:3, is no slice in CuTe; divide the mode into tiles and take one")
    return entry is None or isinstance(entry, slice)


def _sliced(coordinate, shape, stride):
    """The shapes and strides kept, and the offset of what is fixed."""
    if _keeps(coordinate):
        return [shape], [stride], 0
    if not isinstance(coordinate, (tuple, list)):
        return [], [], Layout.of(shape, stride)(_inside(coordinate, shape, stride))
    if not isinstance(shape, tuple):  # T[(3,)] of one mode
        shape, stride = (shape,), (stride,)
        if any(isinstance(entry, (tuple, list)) for entry in coordinate):
            raise LayoutError(f"the slice {coordinate!r:.60} has more levels than the shape")
    if len(coordinate) != len(shape):
        raise LayoutError(f"a slice with {len(coordinate)} entries where shape {format_tuple(shape)} has {len(shape)}; None keeps a mode")
    parts = [_sliced(*entry) for entry in zip(coordinate, shape, stride, strict=True)]
    return sum((p[0] for p in parts), []), sum((p[1] for p in parts), []), sum(p[2] for p in parts)


def _inside(coordinate, shape, stride) -> int:
    index, size = int_tuple(coordinate, "slice"), Layout.of(shape, stride).size
    if not 0 <= index < size:
        raise LayoutError(f"coordinate {index} is outside a mode of extent {format_tuple(shape)}, which runs from 0 to {size - 1}")
    return index


def same_function(a, b) -> bool:
    """Whether a and b have the same size and the same offset at every index. Form does not matter.

    Layouts need no table: merging neighbours whose strides chain leaves one form for each function. Others are compared by table.

    >>> same_function("(2,2):(1,2)", "4:1"), same_function("(4,4):(4,1)", "(4,4):(1,4)"), same_function("S<1,0,1> o 0 o 2:1", "2:1")
    (True, False, True)
    """
    a, b = as_layout(a), as_layout(b)
    if a.size != b.size or a == b:
        return a == b
    if isinstance(a, Layout) and isinstance(b, Layout):
        return merge(a.leaves) == merge(b.leaves)
    return bool(np.array_equal(a.offsets(), b.offsets()))


def find_alias(layout) -> tuple[int, int] | None:
    """Two indices (i, j), i < j, with the same offset; None if there are none. Up to 2^20 elements j is the first that repeats one.

    Decided from the strides where they chain, else by a table of the first 2^20 elements; LayoutError "undecided" if neither tells.

    >>> find_alias("(4,4):(1,3)"), find_alias("(4,4):(1,5)"), find_alias("S<2,0,2> o 0 o (4,4):(1,3)")
    ((3, 4), None, (3, 4))
    """
    layout = as_layout(layout)
    while isinstance(layout, Tensor) or isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle):
        layout = layout.layout if isinstance(layout, Tensor) else layout.inner  # neither ever moves two elements to one place
    leaves = [leaf for leaf in layout.leaves if leaf[0] > 1] if isinstance(layout, Layout) else [(2, 0)]
    if _spread(leaves):
        return None
    if found := first_repeat(layout.at(np.arange(min(layout.size, SEARCH_LIMIT)))):
        return found
    if layout.size <= SEARCH_LIMIT:
        return None
    step = 1
    for extent, stride in layout.leaves if isinstance(layout, Layout) else ():
        if stride == 0 and extent > 1:
            return 0, step
        step *= extent
    raise LayoutError(f"undecided: {layout} has {layout.size:,} elements, too many to look for two at one offset")


def _spread(leaves) -> bool:
    """Whether each step jumps past everything that the smaller ones reach, so that no two elements can meet."""
    reach = 0
    for extent, stride in sorted(leaves, key=lambda leaf: abs(leaf[1])):
        if abs(stride) <= reach:
            return False
        reach += (extent - 1) * abs(stride)
    return True


def first_repeat(table: np.ndarray) -> tuple[int, int] | None:
    """The first place j of a table whose value stands earlier too, as (earlier place, j); None if all values differ."""
    _, first, inverse = np.unique(table, return_index=True, return_inverse=True)
    repeats = np.flatnonzero(first[inverse] != np.arange(table.size))
    return (int(first[inverse[repeats[0]]]), int(repeats[0])) if repeats.size else None
