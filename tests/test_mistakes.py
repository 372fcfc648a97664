"""Each known mistake is recognised where it is planted, and whatever is named is literally true of the answer, by plain Python."""

from itertools import permutations, product
from math import prod

import pytest
from generated import any_kind, layouts
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mutations import layout_mutations, table_mutations

from exercises.engine import mistakes as known
from exercises.engine.mistakes import recognise_layout, recognise_number, recognise_table, recognise_tiler
from exercises.engine.verdict import Mistake
from layoutviz import ComposedLayout, Layout, Swizzle, Tensor, same_function, select
from layoutviz.int_tuple import leaf_values

ALL = {mistake.name: mistake for mistake in vars(known).values() if isinstance(mistake, Mistake)}


# --- what each name claims, in plain Python; tables are dicts from coordinate to offset


def sizes(layout):
    modes = layout.shape if isinstance(layout.shape, tuple) else (layout.shape,)
    return tuple(prod(leaf_values(mode)) for mode in modes)


def table(layout):
    places = product(*(range(n) for n in reversed(sizes(layout))))  # the last of product runs fastest: the first mode
    return {tuple(reversed(place)): layout(i) for i, place in enumerate(places)}


def unit_steps(t, shape):
    """The one step along each mode, or None where a mode has several."""
    steps = []
    for m, n in enumerate(shape):
        found = {t[*c[:m], c[m] + 1, *c[m + 1 :]] - t[c] for c in t if c[m] + 1 < n}
        if len(found) > 1:
            return None
        steps.append(found.pop() if found else 0)
    return steps


def moves(t, m, shape):
    return any(t[*c[:m], c[m] + 1, *c[m + 1 :]] != t[c] for c in t if c[m] + 1 < shape[m])


def times(a, w):
    return a.keys() == w.keys() and any(all(a[c] == f * w[c] for c in a) for f in (2, 4, 8, 16))


def agree_in_common(a, w):
    return all(a[c] == w[c] for c in a.keys() & w.keys())


def longer(a_shape, w_shape):
    return [n - m for n, m in zip(a_shape, w_shape, strict=True)] if len(a_shape) == len(w_shape) else None


def differs_at_one(a_shape, w_shape):
    off = longer(a_shape, w_shape)
    return off is not None and sum(map(bool, off)) == 1


def in_order(t):
    return [t[c] for c in sorted(t, key=lambda c: c[::-1])]


def holds(name, answer, wanted, a, w, s, v):
    """Whether the claim is true. a, w: tables of the answer and of what is wanted; s, v: the sizes of their modes."""
    steps, right = unit_steps(a, s), unit_steps(w, v)
    if name == "a constant":
        return len(set(a.values())) == 1 < len(set(w.values()))
    if name == "stride 0":
        return s == v and any(not moves(a, m, s) and moves(w, m, v) for m in range(len(s)))
    if name in ("row for column", "column for row"):
        (down, along), (d, r) = steps, right
        row_major = 0 < along < down and 0 < d < r
        return row_major if name == "row for column" else 0 < down < along and 0 < r < d
    if name == "modes swapped":
        return any(a == {tuple(c[m] for m in order): w[c] for c in w} for order in permutations(range(len(v))))
    if name == "off by one amount":
        return s == v and len({a[c] - w[c] for c in a}) == 1
    if name == "bytes for elements":
        return times(a, w)
    if name == "too wide a unit":
        return times(w, a)
    if name == "backwards":
        turned = [d == -r != 0 for d, r in zip(steps, right, strict=True)]
        return s == v and [abs(d) for d in steps] == [abs(d) for d in right] and any(turned)
    if name == "reversed order":
        return s == v and in_order(a) == in_order(w)[::-1]
    if name == "no padding":
        by_place = sorted(a, key=a.get)
        return s == v and sorted(a.values()) == list(range(len(a))) and [w[c] for c in by_place] == sorted(set(w.values()))
    if name == "stride off by one":
        return s == v and sorted(abs(d - r) for d, r in zip(steps, right, strict=True)) == [0] * (len(s) - 1) + [1]
    if name == "padding counted":
        more = [a[c] for c in a.keys() - w.keys()]
        return differs_at_one(s, v) and agree_in_common(a, w) and not set(more) & set(w.values()) and min(more) < max(w.values())
    if name == "extent off by one":
        return differs_at_one(s, v) and sum(map(abs, longer(s, v))) == 1 and agree_in_common(a, w)
    if name == "index for offset":
        return in_order(a) == list(range(len(a))) and len(a) == len(w)
    if name == "row by row":
        return in_order(a) == [w[c] for c in sorted(w)]
    if name == "rows for columns":
        rows, columns = v
        turned = [columns_before * rows + row for row in range(rows) for columns_before in range(columns)]
        return in_order(a) == turned and [w[c] for c in sorted(w)] == list(range(len(w)))
    if name == "another stride":
        return s == v and steps is not None
    if name == "tile and rest swapped":
        pairs = list(zip(answer.modes(), wanted.modes(), strict=True))
        swapped = [(one.modes(), other.modes()[::-1]) if other.rank == 2 else ([one], [other]) for one, other in pairs]
        return all(same_function(one, other) for group in swapped for one, other in zip(*group, strict=True))
    if name == "no swizzle":
        return in_order(a) == wanted.inner.offsets().tolist()
    if name == "swizzle in another unit":
        base = Swizzle(wanted.outer.b, wanted.outer.m, wanted.outer.s)
        return answer.outer.m != base.m and ComposedLayout(base, answer.offset, answer.inner).offsets().tolist() == in_order(w)
    raise AssertionError(f"no claim is written down for {name}")


def assert_true(mistake, answer, wanted):
    a, w = table(answer), table(wanted)
    assert a != w and holds(mistake.name, answer, wanted, a, w, sizes(answer), sizes(wanted)), (mistake.name, str(answer), str(wanted))


@settings(max_examples=60)
@given(any_kind(layouts(36, negative=True)))
def test_what_is_named_in_a_mutated_layout_is_true(wanted):
    for _, answer in layout_mutations(wanted):
        mistake = recognise_layout(answer, wanted)
        assert not (mistake and same_function(answer, wanted))
        if mistake:
            assert_true(mistake, answer, wanted)


SMALL = layouts(12, negative=True)


@given(any_kind(SMALL), any_kind(SMALL))
def test_what_is_named_in_an_unrelated_layout_is_true(answer, wanted):
    mistake = recognise_layout(answer, wanted)
    if mistake:
        assert_true(mistake, answer, wanted)


class Written:
    """Numbers in index order, as a layout of some shape would give them."""

    def __init__(self, numbers, shape):
        self.numbers, self.shape = numbers, shape

    def __call__(self, index):
        return self.numbers[index]


@settings(max_examples=60)
@given(layouts(36, negative=True))
def test_what_is_named_in_a_mutated_table_is_true(wanted):
    assume(wanted.rank == 2)
    for _, numbers in table_mutations(wanted.offsets().tolist(), sizes(wanted)):
        mistake = recognise_table(numbers, wanted)
        if mistake:
            assert_true(mistake, Written(numbers, wanted.shape), wanted)


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_what_is_named_in_a_small_random_table_is_true(rows, columns, data):
    wanted = Layout((rows, columns), tuple(data.draw(st.lists(st.integers(-2, 5), min_size=2, max_size=2))))
    numbers = data.draw(st.lists(st.integers(-1, 3), min_size=rows * columns, max_size=rows * columns))
    mistake = recognise_table(numbers, wanted)
    if mistake:
        assert_true(mistake, Written(numbers, wanted.shape), wanted)


# --- each is recognised where it is planted


@pytest.mark.parametrize("answer, wanted, name", [
    ("(6,5):(0,0)", "(6,5):(8,1)", "a constant"), ("7:0", "(6,5):(8,1)", "a constant"),
    ("(6,5):(8,0)", "(6,5):(8,1)", "stride 0"), ("(6,(5,2)):(10,(0,0))", "(6,(5,2)):(10,(1,5))", "stride 0"),
    ("(6,5):(1,6)", "(6,5):(5,1)", "column for row"), ("(6,5):(1,8)", "(6,5):(8,1)", "column for row"),
    ("(4,4):(1,4)", "(4,4):(4,1)", "column for row"), ("(6,5):(5,1)", "(6,5):(1,6)", "row for column"),
    ("(5,6):(1,8)", "(6,5):(8,1)", "modes swapped"), ("(3,2,4):(1,20,5)", "(2,3,4):(20,1,5)", "modes swapped"),
    ("((3,4),(4,8)):((4,96),(1,12))", "((4,8),(3,4)):((1,12),(4,96))", "modes swapped"),
    ("S<2,0,3> o 0 o (4,8):(1,4)", "S<2,0,3> o 0 o (8,4):(4,1)", "modes swapped"),
    ("(6,5):(16,2)", "(6,5):(8,1)", "bytes for elements"), ("(6,5):(32,4)", "(6,5):(8,1)", "bytes for elements"),
    ("(6,5):(4,1)", "(6,5):(8,2)", "too wide a unit"), ("4 + (6,5):(8,1)", "(6,5):(8,1)", "off by one amount"),
    ("(6,5):(8,-1)", "(6,5):(8,1)", "backwards"), ("(6,5):(-8,-1)", "(6,5):(8,1)", "backwards"),
    ("44 + (6,5):(-8,-1)", "(6,5):(8,1)", "backwards"), ("S<2,0,2> o 0 o 16:1", "15 + 16:-1", None),
    ("15 + (4,4):(-1,-4)", "(4,4):(1,4)", "backwards"), ("(6,5):(5,1)", "(6,5):(8,1)", "no padding"),
    ("(6,5):(1,6)", "(6,5):(1,9)", "no padding"), ("(6,5):(9,1)", "(6,5):(8,1)", "stride off by one"),
    ("(6,8):(8,1)", "(6,5):(8,1)", "padding counted"), ("(6,6):(8,1)", "(6,5):(8,1)", "padding counted"),
    ("(8,5):(1,8)", "(6,5):(1,8)", "padding counted"), ("(7,5):(8,1)", "(6,5):(8,1)", "extent off by one"),
    ("(6,4):(8,1)", "(6,5):(8,1)", "extent off by one"), ("30:1", "(6,5):(8,1)", "index for offset"),
    ("((3,4),(4,3)):((4,1),(96,12))", "((4,3),(3,4)):((1,4),(12,96))", "tile and rest swapped"),
    ("(8,64):(64,1)", "S<3,3,3> o 0 o (8,64):(64,1)", "no swizzle"),
    ("S<3,4,3> o 0 o (8,64):(64,1)", "S<3,3,3> o 0 o (8,64):(64,1)", "swizzle in another unit"),
    ("(6,5):(8,1)", "(6,5):(8,1)", None), ("(6,(5,1)):(8,(1,0))", "(6,5):(8,1)", None), ("(6,5):(11,3)", "(6,5):(8,1)", None),
    ("(60000,5):(0,0)", "(6,5):(8,1)", None), ("(6,5):(0,0)", "(6,5):(0,0)", None), ("1:0", "(6,5):(8,1)", None),
    (f"(2,3):({-(2**60)},1)", f"(2,3):({2**60},1)", None),  # too far for sums of offsets
])  # fmt: skip
def test_planted_mistakes_in_layouts(answer, wanted, name):
    from layoutviz.composed import as_layout

    answer, wanted = as_layout(answer), as_layout(wanted)
    mistake = recognise_layout(answer, wanted)
    assert (mistake and mistake.name) == name
    if mistake:
        assert_true(mistake, answer, wanted)


ROWS = Layout((3, 4), (4, 1))


@pytest.mark.parametrize("numbers, name", [
    ([7] * 12, "a constant"), (list(range(12)), "index for offset"), ([0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11], "rows for columns"),
    ([4 * i + j + 1 for j in range(4) for i in range(3)], "off by one amount"),
    ([8 * i + 2 * j for j in range(4) for i in range(3)], "bytes for elements"),
    ([3 * i + j for j in range(4) for i in range(3)], "another stride"),
    ([5 * i + 2 * j for j in range(4) for i in range(3)], "another stride"),
    ([-4 * i - j for j in range(4) for i in range(3)], "backwards"), ([4 * i for j in range(4) for i in range(3)], "stride 0"),
    (ROWS.offsets().tolist(), None), ([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 12], None), ([2**62] * 12, None),
    ([-(2**61)] * 11 + [2**62], None),
])  # fmt: skip
def test_planted_mistakes_in_tables(numbers, name):
    mistake = recognise_table(numbers, ROWS)
    assert (mistake and mistake.name) == name


def test_steps_are_told_only_of_tables_with_rows_and_columns():
    assert recognise_table([0, 3, 6, 9], Layout((1, 4), (4, 1))) is None
    assert recognise_table([3 * i for i in range(8)], Layout((2, 2, 2), (1, 20, 5))) is None


def test_numbers_written_row_by_row():
    wanted = Layout((3, 4), (5, 2))
    assert recognise_table([5 * i + 2 * j for i in range(3) for j in range(4)], wanted).name == "row by row"
    assert recognise_table(wanted.offsets().tolist()[::-1], wanted).name == "backwards"
    swizzled = ComposedLayout(Swizzle(1, 0, 2), 0, Layout((2, 6), (6, 1)))
    assert recognise_table(swizzled.offsets().tolist()[::-1], swizzled).name == "reversed order"
    steps = recognise_table([3 * i + 2 * j for j in range(4) for i in range(3)], wanted)
    assert "step down moves 3 and one step to the right moves 2" in steps.words


@given(st.integers(-40, 40), st.integers(-40, 40))
def test_mistakes_in_numbers_are_true(answer, wanted):
    mistake = recognise_number(answer, wanted)
    claims = {
        "off by one": abs(answer - wanted) == 1, "the other sign": answer == -wanted != 0,
        "bytes for elements": wanted != 0 and answer % wanted == 0 and answer // wanted in (2, 4, 8, 16),
    }  # fmt: skip
    assert claims[mistake.name] if mistake else not any(claims.values())


@pytest.mark.parametrize("answer, wanted, name", [
    (15, 16, "off by one"), (17, 16, "off by one"), (0, 1, "off by one"), (-6, 6, "the other sign"), (24, 12, "bytes for elements"),
    (48, 12, "bytes for elements"), (96, 12, "bytes for elements"), (192, 12, "bytes for elements"), (36, 12, None), (5, 0, None),
])  # fmt: skip
def test_planted_mistakes_in_numbers(answer, wanted, name):
    mistake = recognise_number(answer, wanted)
    assert (mistake and mistake.name) == name and (mistake is None or mistake.hint.endswith("?") and mistake.words.endswith("."))


@pytest.mark.parametrize("answer, name", [
    ((8, 4), "transposed tiler"), ("(8,4)", "transposed tiler"), ("(4,8):(1,4)", "a layout as a tiler by mode"),
    ("(4,8):(8,1)", "a layout as a tiler by mode"), ((3, 4), "number of tiles for extent"), ((4, 8), None), ((5, 7), None), (32, None),
    (("4:1", "(2,4):(1,2)"), None), ((8, 8, 8), None), (("4:2", 8), None),
])  # fmt: skip
def test_planted_mistakes_in_tilers(answer, name):
    mistake = recognise_tiler(answer, (4, 8), Layout((12, 32), (32, 1)))
    assert (mistake and mistake.name) == name


@given(st.tuples(*[st.integers(2, 9)] * 2), st.tuples(*[st.integers(1, 5)] * 2), st.tuples(*[st.integers(1, 5)] * 2))
def test_mistakes_in_tilers_are_true(shape, answer, wanted):
    mistake = recognise_tiler(answer, wanted, Layout(shape, (shape[1], 1)))
    if mistake and mistake.name == "transposed tiler":  # extents past the layout's own are all rest, so that they may differ
        assert [min(n, size) for n, size in zip(answer, shape, strict=True)] == [
            min(n, size) for n, size in zip(wanted[::-1], shape, strict=True)
        ] or answer == wanted[::-1]
    elif mistake:
        assert mistake.name == "number of tiles for extent"
        assert answer == tuple(-(-size // n) for size, n in zip(shape, wanted, strict=True))
    else:
        assert answer == wanted or answer != wanted[::-1]


def test_mistakes_have_names_of_their_own_words_and_a_question():
    assert len(ALL) == len({mistake.words for mistake in ALL.values()}) > 15
    for mistake in ALL.values():
        assert mistake.hint.endswith("?") and mistake.words.endswith(".")


def test_transposing_any_layout_is_recognised():
    for extents in permutations((2, 3, 5), 2):
        for stride in ((7, 1), (1, 7), (11, 20), (20, 11)):
            wanted = Layout(extents, stride)
            assert recognise_layout(select(wanted, (1, 0)), wanted).name == "modes swapped"
    assert recognise_layout(Tensor(Layout((3, 2), (1, 7)), 5), Tensor(Layout((2, 3), (7, 1)), 5)).name == "modes swapped"
