"""What users of CuTe hit in public, each with the right answer. The ids are those of the project's list of cases."""
import numpy as np
import pytest

from layoutviz import (
    ComposedLayout,
    Layout,
    LayoutError,
    RaggedWarning,
    Swizzle,
    Tensor,
    blocked_product,
    coalesce,
    complement,
    composition,
    left_inverse,
    logical_divide,
    prepend,
    recast_layout,
    right_inverse,
    same_function,
    slice_,
    zipped_divide,
)
from layoutviz.laws import check

# (A, B, A o B); None where no layout of B's shape computes A(B(i))
COMPOSITIONS = [
    ("(4,6,8):(2,3,5)", "6:3", None),  # L01 a
    ("(10,2):(16,4)", "(3,4):(1,5)", "(3,(2,2)):(16,(80,4))"),  # L01 b
    ("(4,1):(1,42)", "12:1", "(4,3):(1,42)"),  # L01 c: the last mode goes on
    ("(5,3):(7,1)", "2:3", "2:21"),
    ("(5,3):(7,1)", "7:1", None),
    ("(4,4):(16,1)", "6:1", None),
    ("(4,6,1):(2,3,0)", "30:4", "(6,5):(3,0)"),
    ("(3,3):(10,10)", "(2,2):(1,2)", None),
    ("(2,2):(1,10)", "(2,2):(1,1)", None),
]


@pytest.mark.parametrize(("a", "b", "right"), COMPOSITIONS)
def test_composition(a, b, right):
    if right:
        assert str(composition(a, b)) == right
        assert check("composition", a, b, result=right)
    else:
        with pytest.raises(LayoutError, match="no layout computes"):
            composition(a, b)


# What implementations return, and whether it is right by the law.
ANSWERS = [
    ("composition", ("(4,6,8):(2,3,5)", "6:3"), "(2,3):(6,3)", False),  # L01: the DSL
    ("composition", ("(4,1):(1,42)", "12:1"), "12:1", False),  # pycute
    ("composition", ("(5,3):(7,1)", "7:1"), "(5,1):(7,1)", False),  # C++
    ("composition", ("(5,3):(7,1)", "7:1"), "5:7", False),  # pycute
    ("composition", ("(4,4):(16,1)", "6:1"), "4:16", False),  # pycute
    ("composition", ("(4,6,1):(2,3,0)", "30:4"), "30:3", False),  # pycute
    ("composition", ("(3,3):(10,10)", "(2,2):(1,2)"), "(2,2):(10,20)", False),  # the DSL
    ("complement", ("4:2", 8), "(2,1):(1,8)", True),  # L04: C++ shows a mode more
    ("complement", ("(4,2):(1,5)", 24), "3:10", True),
    ("left_inverse", ("4:2",), "(2,4):(0,1)", True),  # L07: the DSL
    ("left_inverse", ("4:2",), "(2,4):(4,1)", True),  # pycute
    ("left_inverse", ("(4,2):(1,16)",), "(16,2):(1,4)", True),
    ("left_inverse", ("(4,2):(1,16)",), "(4,4,2):(1,8,4)", True),
    ("left_inverse", ("(4,8):(1,5)",), "(5,8):(1,4)", True),
    ("left_inverse", ("(4,8):(1,5)",), "4:1", False),  # pycute
    ("right_inverse", ("(2,2):(0,1)",), "2:2", True),
    ("right_inverse", ("(2,2):(0,1)",), "1:0", False),  # pycute: it inverts, but is not the largest
    ("blocked_product", ("(2,5):(5,1)", "(3,4):(1,3)"), "((2,3),(5,4)):((5,10),(1,30))", True),
    ("blocked_product", ("(2,5):(5,1)", "(3,4):(1,3)"), "(6,(5,4)):(5,(1,30))", True),
]


@pytest.mark.parametrize(("op", "args", "answer", "right"), ANSWERS)
def test_the_law_judges_what_others_return(op, args, answer, right):
    verdict = check(op, *args, result=answer)
    assert verdict.holds == right, verdict
    assert right or verdict.note


@pytest.mark.parametrize(("layout", "n", "right"), [
    ("4:2", 8, "2:1"), ("4:2", 24, "(2,3):(1,8)"), ("(2,2):(1,6)", 24, "(3,2):(2,12)"),  # L04
    ("4:1", 6, "2:4"), ("4:2", 23, "(2,3):(1,8)"), ("(4,2):(1,5)", 24, "3:10"),
])
def test_complement(layout, n, right):
    assert str(complement(layout, n)) == right


@pytest.mark.parametrize(("layout", "n", "words"), [
    ("(2,2):(1,1)", 24, r"\(1,0\) and \(0,1\) both have offset 1"),  # L04: DSL and pycute return a mode of size 0
    ("(4,2):(1,3)", 24, r"\(3,0\) and \(0,1\) both have offset 3"),
    ("4:-1", 24, "negative offsets"),
])
def test_complement_refuses_what_has_none(layout, n, words):
    with pytest.raises(LayoutError, match=words):
        complement(layout, n)


def test_the_holes_of_a_complement_are_noted():
    assert "hole" in check("complement", "(4,2):(1,5)", 24).note


def test_l05_a_layout_tiler_works_on_the_flattened_domain():
    whole = zipped_divide(Layout((12, 32)), "(4,8):(1,4)")
    assert str(whole) == "((4,8),12):((1,4),32)"
    assert sorted(whole[0].offsets()) == list(range(32))
    assert str(logical_divide(Layout((12, 32)), (4, 8))) == "((4,3),(8,4)):((1,4),(12,96))"
    assert str(zipped_divide(Layout((12, 32)), (4, 8))) == "((4,8),(3,4)):((1,12),(4,96))"


def test_l07_inverses_and_products():
    assert str(right_inverse("(2,4,6):(4,1,8)")) == "(4,2,6):(2,1,8)"
    assert str(right_inverse("(2,2):(0,1)")) == "2:2"
    for layout in ("4:2", "(4,2):(1,16)", "(4,8):(1,5)"):
        inverse = left_inverse(layout)
        assert [inverse(int(offset)) for offset in Layout(layout).offsets()] == list(range(Layout(layout).size))
    product = blocked_product("(2,5):(5,1)", "(3,4):(1,3)")
    assert same_function(coalesce(product, (1, 1)), "(6,(5,4)):(5,(1,30))")


def test_l10_elements_and_bytes():
    assert ComposedLayout("S<3,4,3> o 0 o (32,8):(1,32)")(0, 1) == 32
    assert recast_layout(8, 32, Swizzle(3, 2, 3)) == Swizzle(3, 4, 3)
    assert ComposedLayout("S<3,2,3> o 0 o (32,8):(1,32)")(0, 1) == 36
    assert str(recast_layout(16, 8, "S<3,4,3> o 0 o (8,128):(128,1)")) == "S<3,3,3> o 0 o (8,64):(64,1)"
    half = ComposedLayout(Swizzle(1, 3, 3), 0, Layout("(8,16):(16,1)"))  # SW32 in 2-byte elements
    assert (half(4, 0), half.inner(4, 0)) == (72, 64)


def test_l11_tv_values_are_coordinates_of_the_tile():
    tv = Layout("((4,8),(2,2)):((16,1),(8,64))")  # SM80 16x8x8 TF32, operand A: 16 x 8, column-major
    tile = Layout((16, 8))
    assert [tile.coordinate(tv(0, v)) for v in range(4)] == [(0, 0), (8, 0), (0, 4), (8, 4)]
    assert [tile.coordinate(tv(1, v)) for v in range(4)] == [(0, 1), (8, 1), (0, 5), (8, 5)]


def test_l15_what_kills_the_dsl_is_answered():
    sliced = slice_("S<3,4,3> o 0 o (10,2):(2,1)", (None, 0))
    assert sliced == Tensor("S<3,4,3> o 0 o (10):(2)")
    assert str(coalesce(prepend("6:4", complement("6:4", 24)))) == "24:1"


def test_v1_a_divided_layout_as_a_table():
    divided = zipped_divide("(2,6):(6,1)", (1, 2))
    assert str(divided) == "((1,2),(2,3)):((0,1),(6,2))"
    assert np.array_equal(divided.offsets().reshape(6, 2).T, [[0, 6, 2, 8, 4, 10], [1, 7, 3, 9, 5, 11]])


def test_c1_only_the_ordered_table_tells_a_layout_from_its_transpose():
    rows, columns = Layout("(4,4):(4,1)"), Layout("(4,4):(1,4)")
    assert (rows.size, rows.cosize, set(rows.offsets())) == (columns.size, columns.cosize, set(columns.offsets()))
    assert not same_function(rows, columns)


def test_sizes_and_cosizes():
    assert Layout("(4,2):(-1,4)").cosize == 8
    with pytest.warns(RaggedWarning, match="1 of 25 slots lie outside it, past its end"):
        assert str(logical_divide("24:1", 5)) == "(5,5):(1,5)"


def test_swizzles_of_different_shifts_do_not_become_one():
    both = ComposedLayout(Swizzle(2, 0, 2), 0, ComposedLayout(Swizzle(2, 0, 4), 0, Layout(64)))
    assert both.offsets().tolist() == [Swizzle(2, 0, 2)(Swizzle(2, 0, 4)(i)) for i in range(64)]
    single = [Swizzle(b, m, s) for b in range(4) for m in range(4) for s in range(b, 6)]
    assert all(ComposedLayout(one, 0, Layout(64)).offsets().tolist() != both.offsets().tolist() for one in single)


def test_composition_is_associative_only_inside_domains():
    a, b, c = Layout("(4,2):(1,10)"), Layout("4:2"), Layout("4:1")
    assert same_function(composition(composition(a, b), c), composition(a, composition(b, c)))
    b, c = Layout("(2,2):(4,1)"), Layout("8:1")  # c leaves b's domain, where b's last mode goes on
    assert composition(b, c)(7) == b(7)
