"""The algebra against its laws, on generated calls; and against plain searches that know nothing of it."""
import itertools
import re
import warnings
from functools import cache
from math import prod

import numpy as np
import pytest
from generated import CALLS, layouts, spread_layouts
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutviz import (
    ComposedLayout,
    Layout,
    LayoutError,
    RaggedWarning,
    Swizzle,
    Tensor,
    algebra,
    append,
    blocked_product,
    coalesce,
    complement,
    composition,
    cosize,
    explain,
    filter_zeros,
    flat_divide,
    get,
    group,
    left_inverse,
    local_partition,
    local_tile,
    logical_divide,
    logical_product,
    make_layout_tv,
    raked_product,
    recast_layout,
    right_inverse,
    same_function,
    select,
    slice_,
    tile_to_shape,
    zipped_divide,
)
from layoutviz.composed import find_alias
from layoutviz.laws import check

pytestmark = pytest.mark.filterwarnings("ignore::layoutviz.RaggedWarning")
ASKING = {"size", "cosize", "rank", "depth"}
NEVER_REFUSED = {"flatten", "coalesce", "filter_zeros", "append", "prepend", "get", "select", "group", "slice_", "tile_to_shape",
                 "make_layout_tv"}


def test_every_operation_has_generated_calls():
    assert set(CALLS) | ASKING == set(algebra.__all__)


@pytest.mark.parametrize("op", CALLS)
def test_each_result_obeys_its_law(op):
    seen = {"right": 0, "refused": 0}

    @given(CALLS[op])
    def run(args):
        try:
            result = getattr(algebra, op)(*args)
        except LayoutError as error:
            seen["refused"] += 1
            assert explain(op, *args)[-1] == str(error)
            return
        seen["right"] += 1
        verdict = check(op, *args, result=result)
        assert verdict, f"{op}{args} = {result}: {verdict}"
        assert str(result if not isinstance(result, tuple) else result[1]) in explain(op, *args)[-1]

    run()
    assert seen["refused"] <= seen["right"] * (0 if op in NEVER_REFUSED else 2), seen


# --- composition: whenever an exhaustive search finds a layout, ours does


@cache
def factorisations(n):
    """All ways to write n as an ordered product of numbers above 1."""
    if n == 1:
        return [()]
    return [(first, *rest) for first in range(2, n + 1) if n % first == 0 for rest in factorisations(n // first)]


def layouts_by_unit_values(extents, values):
    """All (extent, stride) lists that refine the extents, with the values of a table at their unit coordinates."""
    for ways in itertools.product(*map(factorisations, extents)):
        leaves, weight = [], 1
        for extent, way in zip(extents, ways, strict=True):
            at = weight
            for factor in way:
                leaves.append((factor, values[at]))
                at *= factor
            weight *= extent
        yield leaves


def table_of(leaves):
    """Offsets of (extent, stride) pairs, the first fastest, in plain Python."""
    coordinates = itertools.product(*(range(s) for s, _ in reversed(leaves)))
    return [sum(c * d for c, (_, d) in zip(reversed(c), leaves, strict=True)) for c in coordinates]


def a_layout_exists(values, shape_leaves):
    return any(table_of(leaves) == values for leaves in layouts_by_unit_values(shape_leaves, values))


@given(layouts(96, negative=True), layouts(48))
def test_composition_finds_a_layout_whenever_there_is_one(a, b):
    values = [a(int(i)) for i in b.offsets()]
    try:
        result = composition(a, b)
    except LayoutError as error:
        assert not a_layout_exists(values, [s for s, _ in b.leaves]), (a, b)
        # and the message's numbers are true: the nearest differs from A(B(i)) first where it says
        found = re.search(r"nearest, (\S+:\S+), gives (-?\d+) at (\S+), but .* = A\((\d+)\) = (-?\d+)$", str(error))
        nearest, gives, at, index, wanted = found.groups()
        table = Layout(nearest).offsets().tolist()
        first = next(i for i in range(b.size) if table[i] != values[i])
        assert (table[first], str(b.coordinate(first)).replace(" ", "").replace(",)", ")"), b(first), values[first]) == (
            int(gives), at, int(index), int(wanted))
        return
    assert result.offsets().tolist() == values


@settings(max_examples=50)
@given(layouts(96), layouts(24))
def test_composition_of_large_layouts_is_right_or_undecided(a, b):
    """Stretched by 2^21, so that no table is made: what conditions prove must be true at sampled places."""
    big = Layout((2**21, *(b.shape if isinstance(b.shape, tuple) else (b.shape,))),
                 (max(1, b.cosize), *(b.stride if isinstance(b.stride, tuple) else (b.stride,))))
    try:
        result = composition(a, big)
    except LayoutError as error:
        assert "undecided" in str(error) or "no layout" in str(error)
        return
    places = np.random.default_rng(0).integers(0, big.size, 2000)
    assert (result.at(places) == a.at(big.at(places))).all()


# --- complement and inverses, by search


@given(spread_layouts(24), st.integers(1, 80))
def test_complement_is_disjoint_ordered_and_as_large_as_can_be(a, n):
    result = complement(a, n)
    sums = [i + j for i in table_of(a.leaves) for j in result.offsets().tolist()]
    assert len(set(sums)) == len(sums)
    assert result.offsets().tolist() == sorted(result.offsets().tolist())
    assert a.size * result.size <= max(sums) + 1
    block = max([s * d for s, d in a.leaves if s > 1], default=1)
    if block == a.size * complement(a, 1).size:  # a block has no holes: then whole blocks fill the cotarget
        assert sorted(sums) == list(range(-(-n // block) * block))


def largest_right_inverse(layout):
    """The size of the largest R with L(R(i)) = i, by trying all: shapes of each size, and all indices that may be its units."""
    table = table_of(layout.leaves)
    where = {value: [i for i, v in enumerate(table) if v == value] for value in set(table)}
    for n in range(layout.size, 1, -1):
        for way in factorisations(n):
            units = [prod(way[:k]) for k in range(len(way))]
            for steps in itertools.product(*(where.get(unit, []) for unit in units)):
                places = table_of(list(zip(way, steps, strict=True)))
                if all(p < layout.size and table[p] == i for i, p in enumerate(places)):
                    return n
    return 1


@given(layouts(18, negative=True))
def test_right_inverse_is_the_largest(layout):
    result = right_inverse(layout)
    assert [layout(int(i)) for i in result.offsets()] == list(range(result.size))
    assert result.cosize <= layout.size
    assert result.size == largest_right_inverse(layout)


@given(st.one_of(spread_layouts(), layouts(24, negative=True)))
def test_left_inverse_inverts_or_says_why_not(layout):
    table = table_of(layout.leaves)
    try:
        result = left_inverse(layout)
    except LayoutError as error:
        if "undecided" not in str(error):
            assert len(set(table)) < len(table) or min(table) < 0, (layout, error)
        return
    assert [result(offset) for offset in table] == list(range(layout.size))


def test_complement_names_the_two_that_collide_or_the_strides_that_do_not_chain():
    with pytest.raises(LayoutError, match=r"\(\(2,2\)\):\(\(1,1\)\) has no complement: \(\(1,0\)\) and \(\(0,1\)\) both have offset 1"):
        complement("((2,2)):((1,1))", 24)
    with pytest.raises(LayoutError, match="undecided.*stride 3 falls within what stride 2 reaches"):
        complement("(3,2):(2,3)", 24)
    with pytest.raises(LayoutError, match="filter_zeros"):
        complement("(4,2):(1,0)", 16)
    with pytest.raises(LayoutError, match="stride -1 leads to negative offsets"):
        complement("4:-1", 24)


# --- ragged division is told


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_ragged_division_counts_what_lies_outside(rows, cols, high, wide, row_major):
    layout = Layout((rows, cols), (cols, 1)) if row_major else Layout((rows, cols))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        zipped_divide(layout, (high, wide))
    up, across = -(-rows // high) * high, -(-cols // wide) * wide
    outside = [layout.stride[0] * i + layout.stride[1] * j for i in range(up) for j in range(across) if i >= rows or j >= cols]
    if not outside:
        assert told == []
        return
    own = set(layout.offsets().tolist())
    alias, past = sum(o in own for o in outside), sum(o >= rows * cols for o in outside)
    text = str(told[0].message)
    assert len(told) == 1 and told[0].category is RaggedWarning and told[0].filename == __file__
    assert f"{len(outside)} of {up * across} slots lie outside it" in text
    if alias and past:
        assert f"of which {alias} alias its elements and {past} run past its end" in text
    else:
        assert text.endswith("lie outside it, where they alias its elements" if alias else "lie outside it, past its end")


def test_elements_in_no_tile_are_told():
    with pytest.warns(RaggedWarning, match="4 of its 24 elements are in no tile"):
        logical_divide("24:1", "(4,2):(1,5)")


def test_a_huge_ragged_division_needs_no_table():
    with pytest.warns(RaggedWarning, match="some of its"):
        assert str(zipped_divide(Layout((10**6, 10**6)), (3, 7)))


# --- composed layouts and tensors go through every operation


def test_the_swizzle_stays_outside():
    atom = "S<3,3,3> o 0 o (8,64):(64,1)"
    tiles = zipped_divide(atom, (8, 16))
    table = ComposedLayout(atom).offsets().reshape(64, 8)
    assert tiles.offsets().reshape(4, 128)[1].tolist() == table[16:32].ravel().tolist()
    assert str(local_tile(atom, (8, 16), (0, 1))) == "S<3,3,3> o 16 o (8,16):(64,1)"
    assert str(slice_(atom, (3, None))) == "S<3,3,3> o 192 o (64):(1)"
    assert str(tile_to_shape(atom, (16, 128))) == "S<3,3,3> o 0 o ((8,2),(64,2)):((64,512),(1,1024))"
    assert str(composition(Swizzle(2, 0, 3), "(4,8):(8,1)")) == "S<2,0,3> o 0 o (4,8):(8,1)"


def test_a_layout_after_a_swizzle_is_kept_as_two():
    both = composition("(8,8):(8,1)", "S<3,0,3> o 0 o 64:1")
    swizzle, after = Swizzle(3, 0, 3), Layout("(8,8):(8,1)")
    assert both.offsets().tolist() == [after(swizzle(i)) for i in range(64)]


def test_recast_keeps_every_bit_in_place():
    atom = ComposedLayout("S<3,4,3> o 32 o (8,128):(128,1)")
    wide = recast_layout(16, 8, atom)
    assert str(wide) == "S<3,3,3> o 16 o (8,64):(64,1)"
    assert same_function(recast_layout(8, 16, wide), atom)
    assert [2 * wide(r, c) for r in range(8) for c in range(64)] == [atom(r, 2 * c) for r in range(8) for c in range(64)]


# --- bad input ends in words


BAD = [
    (composition, ("(4,4", "4:1"), "cannot read"),
    (composition, ((), 4), "empty tuple in the shape"),
    (composition, ("(4,4):(4,1)", ()), "empty tuple is no tiler"),
    (composition, ("(4,4):(4,1)", (2, 2, 2)), r"a tiler of 3 entries for \(4,4\):\(4,1\), which has 2 modes"),
    (composition, ("(4,4):(4,1)", (2.5, 2)), "2.5 in the shape is not a whole number"),
    (composition, ("(4,4):(4,1)", None), "None is no tiler"),
    (composition, ("(4,(2,3))", (2, (3, 9, 9))), r"mode 1: a tiler of 3 entries for \(2,3\)"),
    (composition, ("(4,4):(4,1)", "4:-1"), r"reaches -3, and \(4,4\):\(4,1\) has no negative index"),
    (composition, ("(4,4):(4,1)", (0, 2)), "extent 0"),
    (composition, (f"(4,4):(1,{2**60})", "4:16"), r"2\^62"),
    (complement, ("4:1", 0), "a cotarget of 0"),
    (complement, ("4:1", -3), "a cotarget of -3"),
    (complement, ("4:1", 2**63), r"beyond 2\^62"),
    (complement, ("S<1,0,1> o 0 o 4:1", 8), "must be a plain shape:stride layout"),
    (left_inverse, ("(4,4):(0,1)",), "both have offset 0"),
    (left_inverse, ("4:-1",), "negative offsets"),
    (logical_divide, ("(8,8)", None), "None is no tiler"),
    (logical_divide, ("8:1", "(2,2):(1,1)"), "has no complement"),
    (flat_divide, ("8:1", "S<1,0,1> o 0 o 2:1"), "a tiler must be a plain"),
    (blocked_product, ("(2,2):(1,1)", "3:1"), "has no complement"),
    (make_layout_tv, ("(4,8):(16,1)", "2:1"), "32 threads are to be numbered 0 to 31, and none is number 8"),
    (make_layout_tv, ("(4,8):(8,1)", "2:3"), "none is number 1"),
    (tile_to_shape, ("(8,64):(64,1)", (16, 128), (0,)), "should rank 2 modes"),
    (local_tile, ("(8,12):(12,1)", (4, 3), (2, 0)), "coordinate 2 is outside mode 0, which runs from 0 to 1"),
    (local_tile, ("(8,12):(12,1)", (4, 3), (0, 0, 0)), "a coordinate with 3 entries, where 2 modes are counted"),
    (local_tile, ("(8,12):(12,1)", (4, 3), (0, 0), (1,)), r"tuples of one length, not \(1,\) and \(4,3\)"),
    (local_partition, ("(8,12):(12,1)", "(2,4):(4,1)", 8), "thread 8 stands at no place of"),
    (local_partition, ("(8,12):(12,1)", "(2,4):(1,0)", 1), "thread 1 stands at 4 places of"),
    (recast_layout, (16, 24, "4:1"), "must be a multiple of the other"),
    (recast_layout, (16, 8, "(4,3):(3,1)"), "do not hold whole groups of 2 neighbours"),
    (recast_layout, (8, 16, "4:2"), "no mode has stride 1"),
    (recast_layout, (32, 8, Swizzle(3, 1, 3)), "moves groups of 2 elements"),
    (recast_layout, (0, 8, "4:1"), "must be a multiple"),
    (select, ("(4,4)", (0, 0)), "can be named once"),
    (group, ("(4,4)", 1, 1), "cannot group"),
    (coalesce, ("(4,4)", (1, 1, 1)), "a profile of 3 entries"),
    (explain, ("compose", "4:1", "2:1"), "no operation 'compose'; there are size"),
]


@pytest.mark.parametrize(("function", "args", "words"), BAD, ids=[f"{f.__name__}-{n}" for n, (f, _, _) in enumerate(BAD)])
def test_bad_input_is_told_in_words(function, args, words):
    with pytest.raises(LayoutError, match=words):
        function(*args)


def test_huge_layouts_neither_hang_nor_lie():
    square = Layout((8192, 8192), (8192, 1))
    assert str(composition(square, square)) == "(8192,8192):(1,8192)"
    assert composition(Layout((2**20, 2**20)), Layout((2**10, 2**20), (2**20, 1))).size == 2**30
    with pytest.raises(LayoutError, match="no layout computes"):
        composition(Layout((10**9, 3), (1, 7)), Layout((10**9, 3), (1, 1)))
    with pytest.raises(LayoutError, match="undecided"):
        composition(Layout((6 * 2**20, 2), (1, 7)), Layout(2**21, 4))
    with pytest.raises(LayoutError, match="undecided"):
        right_inverse(Layout((2**20, 2**20), (1, 3)))
    with pytest.raises(LayoutError, match="undecided"):
        right_inverse(Layout((1024, 1024), (1, 1)))


def test_tensors_keep_their_place():
    tensor = Tensor("(8,(4,3)):(12,(3,1))", 100)
    assert tensor[2, (None, 1)](3) == tensor(2, (3, 1)) == 100 + 24 + 9 + 1
    assert tensor[:, 5].size == 8 and tensor[2, 5](0) == tensor(2, 5)
    with pytest.raises(LayoutError, match="divide the mode into tiles"):
        tensor[1:3, 0]
    with pytest.raises(LayoutError, match="coordinate 12 is outside"):
        tensor[None, 12]


KINDS = ["S<3,4,3> o 0 o (8,64):(64,1)", "S<2,0,-3> o 12 o (4,(2,2)):(1,(4,8))", "(4,4):(4,1) o 3 o S<1,0,2> o 0 o 8:1", "20 + (2,2):(8,1)",
         "-4 + S<1,0,1> o 2 o 4:1"]


@pytest.mark.parametrize("text", KINDS)
def test_notation_of_every_kind_round_trips(text):
    layout = algebra.as_layout(text)
    assert str(layout) == text
    assert eval(repr(layout)) == layout and hash(eval(repr(layout))) == hash(layout)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(-6, 6), st.integers(-(2**40), 2**40))
def test_a_swizzle_xors_bits_and_undoes_itself(b, m, s, offset):
    if abs(s) < b:
        with pytest.raises(LayoutError, match="overlap"):
            Swizzle(b, m, s)
        return
    swizzle, bits = Swizzle(b, m, s), [offset >> k & 1 for k in range(60)]
    low = m if s >= 0 else m - s
    for k in range(b):
        bits[low + k] ^= offset >> (low + k + s) & 1
    assert swizzle(offset) == sum(bit << k for k, bit in enumerate(bits)) - (2**60 if offset < 0 else 0)
    assert swizzle(swizzle(offset)) == offset
    assert find_alias(ComposedLayout(swizzle, 0, Layout("(4,4):(1,3)"))) == (3, 4)


def test_modes_can_be_asked_and_named():
    layout = Layout("(4,(2,3)):(6,(3,1))")
    assert [str(mode) for mode in layout] == ["4:6", "(2,3):(3,1)"] and str(layout[1, -1]) == "3:1"
    assert [algebra.size(layout, mode=1), algebra.rank(layout, 1), algebra.depth(layout), algebra.cosize(layout, (1, 0))] == [6, 2, 2, 4]
    for mode, words in ((2, "has no mode 2"), ((1, 2), "has no mode 2"), ("x", "not a whole number"), (None, "to slice")):
        with pytest.raises(LayoutError, match=words):
            layout[mode]


def test_raked_and_blocked_hold_the_same_elements():
    blocked, raked = (op("(2,5):(5,1)", "(3,4):(1,3)") for op in (blocked_product, raked_product))
    assert sorted(blocked.offsets()) == sorted(raked.offsets()) == list(range(120))


# --- what mutations of the algebra showed to be untested


def test_proj_picks_entries():
    assert local_tile("(8,12):(12,1)", (4, 5, 3), (1, 7, 2), (1, None, 0)) == local_tile("(8,12):(12,1)", (4, 3), (1, 2))


def test_threads_may_be_nested():
    assert str(local_partition("(8,12):(12,1)", "((2,2),3):((1,2),4)", 5)) == "13 + (2,4):(48,3)"


def test_a_shape_as_text_tiles_by_mode():
    assert logical_divide("(8,12):(12,1)", "(4,3)") == logical_divide("(8,12):(12,1)", (4, 3))


def test_a_mode_left_alone_counts_whole():
    with pytest.warns(RaggedWarning, match="10 of 80 slots"):
        logical_divide("(10,7):(7,1)", (None, 4))


def test_copies_are_placed_by_the_tilers_cosize():
    assert str(logical_product("2:8", "2:9")) == "(2,2):(8,17)" and check("logical_product", "2:8", "2:9")


def test_a_cotarget_that_is_a_layout_counts_by_size():
    assert str(complement("4:1", "8:3")) == "2:4"


def test_the_smallest_negative_offset_is_refused():
    with pytest.raises(LayoutError, match="reaches -1"):
        composition("4:1", "2:-1")


def test_the_nearest_ignores_strides_of_extent_1():
    with pytest.raises(LayoutError, match="no layout computes"):
        composition("(4,6,8):(2,3,5)", "(6,1):(3,-1)")


def test_what_is_not_compared_everywhere_is_undecided():
    with pytest.raises(LayoutError, match="undecided.*too many to try"):
        algebra._compare(Layout(2**21), Layout(2**21), 0, Layout(2**21))


def test_filter_zeros_is_advised_only_where_it_helps():
    with pytest.raises(LayoutError) as error:
        complement("(2,2,1):(1,1,0)", 24)
    assert "filter_zeros" not in str(error.value)


def test_recast_of_small_swizzles_and_single_elements():
    assert recast_layout(32, 8, Swizzle(0, 0, 3)) == Swizzle(0, 0, 3)
    assert str(recast_layout(8, 16, "(1,4):(0,1)")) == "(1,8):(0,1)"
    with pytest.raises(LayoutError, match="do not hold whole groups of 4"):
        recast_layout(32, 8, "(3,4):(1,3)")


def test_negative_strides_are_no_zeros():
    assert str(filter_zeros("(4,2):(-1,0)")) == "(4,1):(-1,0)"


def test_ways_to_name_modes():
    assert append("8", "1", 9).rank == 9 and get("(4,(2,3))", [1, 0]) == Layout("2:4")
    assert cosize("(4,4)", ()) == 16 and select("(4,6):(6,1)", range(1)) == Layout("(4):(6)")
    with pytest.raises(LayoutError, match="is to have rank 1"):
        append("(4,4)", 2, 1)


def test_limits_and_places_of_composed_layouts():
    with pytest.raises(LayoutError, match="reads bit 62"):
        Swizzle(1, 0, 62)
    assert str(ComposedLayout(Swizzle(1, 0, 2), 3, Tensor("4:1", 5))) == "S<1,0,2> o 8 o 4:1"
    assert find_alias("(2,2):(1,0) o 0 o 4:1") == (0, 2)
    with pytest.raises(LayoutError, match="has no negative index"):
        ComposedLayout("4:1", 0, "2:-1")


def test_large_layouts_need_no_table():
    assert composition(Layout((6, 2**40)), Layout(2**21, 4)) == Layout(2**21, 4)
    assert same_function(Layout((2**20, 2**20)), 2**40)


def test_a_slice_of_one_mode_may_be_a_tuple():
    assert slice_("8:2", (3,)) == Tensor(Layout(1), 6)


@pytest.mark.parametrize(("call", "says"), [
    (("coalesce", "(2,3,2):(5,1,3)"), "2:3 continues 3:1, as 3 * 1 = 3: together 6:1"),
    (("right_inverse", "(2,3,4):(12,4,1)"), "stride 1: "),
    (("right_inverse", "(2,3,4):(12,4,1)"), "moves the index by 6"),
    (("logical_divide", "(4,2):(3,20)", "2:1"), "complement(T, 8) = 4:2"),
    (("logical_product", "2:8", "2:9"), "complement(block, 20)"),
    (("recast_layout", 16, 8, "(4,3):(1,4)"), "2 times wider"),
    (("recast_layout", 16, 8, "(4,3):(1,4)"), "4:1 becomes 2:1"),
    (("recast_layout", 16, 8, Swizzle(3, 4, 3)), "log2(2) = 1"),
    (("composition", "(10,2):(16,4)", "(3,4):(1,5)"), "At the last index, 11, B is 17"),
    (("composition", "16:2", "9:1"), "indices 0, 1, 2, 3, 4, 5, 6, 7, ..."),
    (("tile_to_shape", "(8,4)", (16, 12)), "holds (2,3) atoms"),
    (("logical_divide", "10:1", 4), "2 of 12 slots"),
    (("explain_nothing",), "no operation"),
])
def test_the_steps_have_true_numbers(call, says):
    try:
        assert says in str(explain(*call))
    except LayoutError as error:
        assert says in str(error)


@pytest.mark.parametrize("call", [
    ("composition", "4:1"), ("local_partition", "(8,12):(12,1)", "(2,4):(4,1)", 99), ("recast_layout", 0, 8, "4:1"),
    ("recast_layout", "x", 8, "4:1"), ("right_inverse", "S<1,0,1> o 0 o 4:1"), ("complement", "S<1,0,1> o 0 o 4:1", 8),
    ("composition", Swizzle(1, 0, 1), (2, 2)), ("local_tile", "(8,12):(12,1)", (4, 3), (0, 0), 5), ("group", "(4,4)", (0, 1), 2),
    ("append", "(4,4)", 2, (3, 4)), ("local_partition", "(8,12):(12,1)", "2:1", (0, 5)),
])
def test_explain_ends_in_words(call):
    try:
        assert explain(*call)
    except LayoutError:
        pass


def test_a_projected_place_may_have_several_threads():
    call = ("(4,6):(6,1)", "(2,9,3):(1,0,2)", 3, (1, None, 1))
    assert str(local_partition(*call)) == "7 + (2,2):(12,3)" and check("local_partition", *call)


# --- what attackers found


def test_offsets_past_2_to_the_62_are_refused_in_every_kind():
    for make in (lambda: algebra.as_layout(f"{2**62} + S<0,0,0> o {2**62} o 2:0"), lambda: Layout("4:2")(2**62),
                 lambda: Tensor(ComposedLayout(Swizzle(0, 0, 0), 2**62, "S<0,0,0> o 4 o 2:1"), 8), lambda: Layout("4:2").at([2**62])):
        with pytest.raises(LayoutError, match=r"2\^62"):
            make()


@pytest.mark.parametrize("indices", [[0.5, 1.7], [True], [2**70], ["a"], None, [[1], [1, 2]], np.array([2**63], np.uint64), [np.nan], [-1]])
def test_at_takes_whole_numbers_only(indices):
    with pytest.raises(LayoutError):
        Layout("4:2").at(indices)


def test_a_tile_is_found_where_the_division_of_the_whole_has_no_layout():
    assert str(local_tile("((4,6),8):((1,100),600)", (3, 4), (0, 0))) == "(3,4):(1,600)"
    assert str(local_tile("(5,(5,1)):(3,(8,6))", (4, 4), (0, 0))) == "(4,4):(3,8)"
    with pytest.warns(RaggedWarning, match=r"10 of 16 slots of this piece of \(10,7\):\(7,1\) lie outside"):
        assert str(local_tile("(10,7):(7,1)", (4, 4), (2, 1))) == "60 + (4,4):(7,1)"
    layout = Layout("((4,6),8):((1,100),600)")
    for at in range(8):
        try:
            piece = local_tile(layout, (3, 4), (at, 1))
        except LayoutError:
            assert 3 * at // 4 != (3 * at + 2) // 4  # the tile crosses from one column of 4 to the next
            continue
        assert piece.offsets().tolist() == [layout(3 * at + i, 4 + j) for j in range(4) for i in range(3)]


def test_a_long_composition_is_never_called_impossible_by_its_start():
    with pytest.raises(LayoutError, match="undecided"):  # (1048577,2):(3,1000000001)
        composition("(3145730,4):(1,1000000000)", "2097154:3")


def test_right_inverses_of_overlapping_strides_are_found():
    assert right_inverse(Layout((2,) * 9, (1,) * 9)).size == 8
    assert right_inverse("(3,3,3,3,3):(1,1,1,1,1)").size == 9


def nested(n):
    value = 2
    for _ in range(n):
        value = (value,)
    return value


LOOP = []
LOOP.append(LOOP)


GARBAGE = [LOOP, nested(3000), "1+" * 5000 + "4:1", "S<1,0,1> o " * 3000 + "4:1", np.array([1, 2]), {1: 2}, 1j, b"4:1", float("nan")]


@pytest.mark.parametrize("value", GARBAGE, ids=map(str, range(len(GARBAGE))))
@pytest.mark.parametrize("op", algebra.__all__)
def test_garbage_ends_in_words(op, value):
    rest = {"group": (0, 1), "recast_layout": (8, "4:1"), "local_tile": ((2,), (0,)), "local_partition": ("2:1", 0)}
    count = len(algebra.named_arguments.__globals__["signature"](getattr(algebra, op)).parameters)
    for place in range(min(count, 3)):
        args = ["(4,4)", 2, 1][: max(count - (op in ("append", "prepend", "tile_to_shape", "coalesce")), 1)]
        args = [*args, *rest.get(op, ())][:count]
        args[place : place + 1] = [value]
        for call in (getattr(algebra, op), lambda *args: explain(op, *args), lambda *args: check(op, *args)):
            try:
                call(*args)
            except LayoutError:
                pass


def test_a_shape_of_many_modes_is_read_quickly():
    assert Layout(tuple((1, 1) for _ in range(60000))).size == 1


def test_ragged_counts_are_those_of_the_layout_as_it_is():
    for layout, tile, words in (("S<2,0,2> o 0 o 10:1", 4, "2 of 12 slots lie outside it, in unused slots between"),
                                ("10:-1", 4, "2 of 12 slots lie outside it, before its start")):
        with pytest.warns(RaggedWarning, match=words):
            logical_divide(layout, tile)


def test_atoms_that_do_not_fill_a_shape_are_told():
    with pytest.warns(RaggedWarning, match="mode 0 asks for 5: 3 atoms of 2 make 6"):
        assert str(tile_to_shape("(2,2)", (5, 4))) == "((2,3),(2,2)):((1,4),(2,12))"


def test_a_tiler_may_go_inside_a_mode():
    layout = Layout("((4,6),8):((1,4),24)")
    piece = local_tile(layout, ((2, 3), 4), ((1, 1), 0))
    assert piece.offsets().tolist() == [layout((2 + i, 3 + j), k) for k in range(4) for j in range(3) for i in range(2)]
    assert local_tile(layout, ((2, 3), 4), None).size == layout.size
