"""Layout: against the definition (inner product of coordinate and stride), on random nested layouts."""

import functools
import itertools
import pickle
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutviz import Layout, LayoutError, same_function, select
from layoutviz.composed import find_alias
from layoutviz.int_tuple import leaf_values, nest
from layoutviz.notation import format_tuple, parse

EXTENTS = st.integers(1, 5)
STRIDES = st.integers(-9, 40)


@st.composite
def layouts(draw):
    shape = draw(st.recursive(EXTENTS, lambda part: st.lists(part, min_size=1, max_size=3).map(tuple), max_leaves=5))
    strides = draw(st.lists(STRIDES, min_size=len(leaf_values(shape)), max_size=len(leaf_values(shape))))
    return Layout(shape, nest(strides, shape))


def table_by_definition(layout):
    """Every leaf coordinate, the first leaf fastest, times the strides: written apart from the library."""
    extents, strides = leaf_values(layout.shape), leaf_values(layout.stride)
    coordinates = itertools.product(*(range(e) for e in reversed(extents)))
    return [sum(c * d for c, d in zip(reversed(coordinate), strides, strict=True)) for coordinate in coordinates]


@given(layouts())
def test_the_three_ways_to_evaluate_agree_with_the_definition(layout):
    table = table_by_definition(layout)
    assert layout.offsets().tolist() == table
    assert layout.offsets().dtype == np.int64
    assert [layout(i) for i in range(layout.size)] == table
    assert [layout(layout.coordinate(i)) for i in range(layout.size)] == table
    assert layout.size == prod(leaf_values(layout.shape)) == len(table)
    assert layout.cosize == max(table) - min(table) + 1
    assert layout.offset_range == (min(table), max(table))


@given(layouts())
def test_natural_coordinates_count_each_mode(layout):
    if isinstance(layout.shape, tuple):
        sizes = [mode.size for mode in layout.modes()]
        for i, coordinate in enumerate(itertools.product(*(range(s) for s in reversed(sizes)))):
            assert layout(*reversed(coordinate)) == layout(i)


@given(layouts())
def test_text_round_trips(layout):
    assert Layout(str(layout)) == layout
    assert str(Layout(str(layout))) == str(layout)
    assert eval(repr(layout)) == layout
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert hash(Layout(str(layout))) == hash(layout)


@given(layouts(), layouts())
def test_same_function_decides_as_the_tables_do(a, b):
    assert same_function(a, b) == (table_by_definition(a) == table_by_definition(b))
    flat = Layout(leaf_values(a.shape), leaf_values(a.stride))
    assert same_function(a, flat)


@given(layouts())
def test_find_alias_finds_the_first_repeat_or_there_is_none(layout):
    seen, first = {}, None
    for i, offset in enumerate(table_by_definition(layout)):
        if offset in seen:
            first = (seen[offset], i)
            break
        seen[offset] = i
    assert find_alias(layout) == first


def test_values_from_the_cases():
    assert Layout((4, 2), (-1, 4)).cosize == 8
    assert Layout((4, 4), (4, 1)) != Layout((4, 4), (1, 4))  # share size, cosize and offset set; only the table tells them apart
    assert not same_function(Layout("(4,4):(4,1)"), Layout("(4,4):(1,4)"))
    assert Layout((4, 2), (1, 4))(9) == 9  # a flat index past the size extends the last mode
    assert Layout((2, 3), (3, 1))(7) == 3 + 3


def test_the_default_stride_is_column_major_and_0_where_the_extent_is_1():
    assert str(Layout((4, 4))) == "(4,4):(1,4)"
    assert str(Layout((1, 3))) == "(1,3):(0,1)"
    assert str(Layout(8, 2)) == "8:2"
    assert str(Layout((np.int64(4), 2), [2, 1])) == "(4,2):(2,1)"
    assert Layout("(4,4)") == Layout((4, 4))
    assert Layout((1, 3), (7, 1)) == Layout((1, 3))


def test_rank_and_depth():
    assert [(Layout(s).rank, Layout(s).depth) for s in (4, (4,), (4, 4), (4, (2, 2)))] == [(1, 0), (1, 1), (2, 1), (2, 2)]


def test_layouts_do_not_change():
    with pytest.raises(AttributeError, match="cannot be changed"):
        Layout(4)._shape = 5


@pytest.mark.parametrize(
    ("text", "says", "column"),
    [
        ("(4,4:(4,1)", 'expected "," or ")"', 4),
        ("(4,4):(4,1", 'expected "," or ")"', 10),
        ("(4,x):(4,1)", "not part of the notation", 3),
        ("(4,4):(4,1):2", "should end", 11),
        ("(4,,4)", 'expected a number or "("', 3),
        ("()", 'expected a number or "("', 1),
        ("", 'expected a number or "("', 0),
        ("4:", 'expected a number or "("', 2),
        ("4 4", 'expected ":" or the end', 2),
        ("(4,4):(4,1.5)", "not part of the notation", 10),
        ("(4,4):(99999999999999999999999,1)", "beyond 2^62", 7),
        ("x" * 100_000, "not part of the notation", 0),
        ("(" * 60 + "4", "nested more than 50 deep", 50),
        ("４:1", "not part of the notation", 0),
    ],
)
def test_malformed_notation_is_pointed_at(text, says, column):
    with pytest.raises(LayoutError) as error:
        Layout(text)
    message, shown, pointer = str(error.value).split("\n")
    assert says in message and len(str(error.value)) < 400
    start = max(0, column - 60)  # of a long text the part around the fault is shown
    assert shown[4:] == text[start : column + 60]
    assert pointer.index("^") - 4 == column - start


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (((4, 0), (1, 4)), "extent 0 in shape (4,0)"),
        (((4, -2), (1, 4)), "extent -2"),
        (((4, 4), (4,)), "the shape has 2 entries, the stride 1 entries"),
        (((4, 4), 4), "the stride one number"),
        (((4, (2, 2)), (4, 1)), "mode 1 has shape (2,2) but stride 1"),
        (((4, ()), (4, 1)), "empty tuple"),
        (((4, 2.0), (4, 1)), "2.0 in the shape is not a whole number"),
        (((4, True), (4, 1)), "True in the shape"),
        (((4, 4), (..., 1)), "still has a ..."),
        (((4, 4), (2**62, 1)), "past 2^62"),
        (((2**40, 2**40), (0, 0)), "past 2^62"),
        (("(4,4):(4,1)", (1, 2)), "put the stride into it"),
        ((None,), "None in the shape"),
        ((10**5000,), "a number in the shape is beyond 2^62"),
        ((functools.reduce(lambda inner, _: (inner,), range(60), 4),), "nested more than 50 deep"),
    ],
)
def test_what_is_no_layout_says_so(arguments, says):
    with pytest.raises(LayoutError) as error:
        Layout(*arguments)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("coordinate", "says"),
    [
        ((4, 0), "coordinate 4 is outside a mode of extent 4, which runs from 0 to 3"),
        ((0, 4), "outside a mode of extent (2,2)"),
        ((-1, 0), "coordinate -1"),
        ((-1,), "coordinate -1"),
        ((0, 0, 0), "has 3 entries"),
        ((0, (0, 2)), "outside a mode of extent 2"),
        (((0, 0), 0), "where the shape has one number"),
        ((), "has no coordinate"),
        ((None,), "None in the coordinate"),
    ],
)
def test_bad_coordinates_say_what_is_right(coordinate, says):
    with pytest.raises(LayoutError) as error:
        Layout("(4,(2,2)):(2,(1,8))")(*coordinate)
    assert says in str(error.value)


def test_huge_layouts_answer_or_refuse_at_once():
    huge = Layout((2**20, 2**20), (2**20, 1))
    assert huge(3, 5) == 3 * 2**20 + 5
    assert find_alias(huge) is None
    assert same_function(huge, Layout((2**20, 2**20), (2**20, 1)))
    with pytest.raises(LayoutError, match="tables are made up to"):
        huge.offsets()
    assert find_alias(Layout((2**10, 2**20), (3, 5))) == (5, 3 * 2**10)
    with pytest.raises(LayoutError, match="undecided"):
        find_alias(Layout((2**30, 2**20), (1, 2**29)))
    assert find_alias(Layout((5000, 1000), (1, 0))) == (0, 5000)
    assert find_alias(Layout((2**30, 2), (1, 0))) == (0, 2**30)


@given(layouts())
def test_select_reorders_coordinates(layout):
    order = tuple(reversed(range(layout.rank)))
    swapped = select(layout, order)
    for i in range(layout.size):
        coordinate = layout.coordinate(i) if isinstance(layout.shape, tuple) else (layout.coordinate(i),)
        assert swapped(tuple(coordinate[m] for m in order)) == layout(i)


@pytest.mark.parametrize("modes", [(0, 0), (2,), (), (-1,)])
def test_select_refuses_modes_that_are_not_there(modes):
    with pytest.raises(LayoutError, match="cannot select|an empty tuple in the modes"):
        select(Layout("(4,6):(6,1)"), modes)


def test_notation_is_cutes():
    assert format_tuple((4,)) == "(4)"
    assert parse(" ( 4 , (2,2) ) : ( 2 , (1,8) ) ") == ((4, (2, 2)), (2, (1, 8)))
