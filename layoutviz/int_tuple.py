"""CuTe's nested integers: an int, or a tuple of nested integers."""

from math import prod
from operator import index as as_int

import numpy as np

from layoutviz.errors import LayoutError
from layoutviz.notation import DEEPEST, IntTuple, format_tuple

OFFSET_LIMIT = 2**62  # offsets are handed to numpy as int64


def int_tuple(value, what: str, depth: int = 0) -> IntTuple:
    """`value` as plain ints in tuples, or a LayoutError naming the entry that is neither. `what` names the value in the message.

    >>> int_tuple([4, (2, 2)], "shape")
    (4, (2, 2))
    """
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


def whole_number(value, what: str) -> int:
    """`value` as one plain int, or a LayoutError that calls it `what`."""
    value = int_tuple(value, what)
    if isinstance(value, tuple):
        raise LayoutError(f"the {what} is one whole number, not {format_tuple(value)}")
    return value


def leaf_values(value: IntTuple) -> tuple[int, ...]:
    """The ints of a nested tuple, left to right."""
    if not isinstance(value, tuple):
        return (value,)
    for entry in value:
        if isinstance(entry, tuple):
            break
    else:
        return value  # flat already
    leaves = []
    for entry in value:
        leaves.extend(leaf_values(entry))
    return tuple(leaves)


def depth_of(value: IntTuple) -> int:
    """How deep a value nests: 0 for an int, 1 for a flat tuple."""
    return 1 + max(map(depth_of, value)) if isinstance(value, tuple) else 0


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


def coordinate_of(index: int, shape: IntTuple) -> IntTuple:
    """The coordinate of an index, nested as the shape; the first mode runs fastest."""
    coordinate = []
    for extent in leaf_values(shape):
        coordinate.append(index % extent)
        index //= extent
    return nest(coordinate, shape)


def inner_product(coordinate: IntTuple, shape: IntTuple, stride: IntTuple, extend: bool = False) -> int:
    """The sum of coordinate times stride. An int at any level stands for a whole mode's flat index; past the end only if `extend`."""
    if isinstance(coordinate, tuple):
        if not isinstance(shape, tuple):
            if len(coordinate) == 1:  # L(6) of an int shape, spelled L((6,))
                return inner_product(coordinate[0], shape, stride, extend)
            raise LayoutError(f"{_counted(coordinate)} where the shape has one number, {shape}")
        if len(coordinate) != len(shape):
            raise LayoutError(f"{_counted(coordinate)}, shape {format_tuple(shape)} has {len(shape)}")
        return sum(map(inner_product, coordinate, shape, stride))
    size = prod(leaf_values(shape))
    if coordinate < 0 or (coordinate >= size and not extend):
        raise LayoutError(f"coordinate {coordinate} is outside a mode of extent {format_tuple(shape)}, which runs from 0 to {size - 1}")
    extents, strides = leaf_values(shape), leaf_values(stride)
    offset = 0
    for extent, step in zip(extents[:-1], strides[:-1], strict=True):
        offset += coordinate % extent * step
        coordinate //= extent
    return offset + coordinate * strides[-1]


def _counted(coordinate: tuple) -> str:
    return f"coordinate {format_tuple(coordinate)} has {len(coordinate)} entries"
