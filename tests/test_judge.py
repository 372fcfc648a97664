"""Reading answers in every right form, and judging them: what is said, marked and never told, against tables made here."""

import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from generated import any_kind, layouts
from hypothesis import assume, given
from hypothesis import strategies as st

from exercises.engine import judge
from exercises.engine.answers import as_cells, as_choice, as_function, as_layout, as_number, as_table, as_tiler
from exercises.engine.verdict import BadAnswer, State
from layoutviz import ComposedLayout, Layout, Swizzle, Tensor, flatten, same_function, select, to_svg
from layoutviz.int_tuple import leaf_values, nest
from layoutviz.views.tiles import tiles

ROOT = Path(__file__).resolve().parents[1]


class FakeTensor:
    """What a torch tensor shows to somebody who does not import torch."""

    def __init__(self, value):
        self.value = value

    def tolist(self):
        return self.value


FakeTensor.__module__ = "torch"


# --- reading

WRAP = [int, np.int64, np.int16, np.array, FakeTensor]


def in_some_form(random, value):
    """Nested ints with tuples, lists, arrays and numbers of every kind mixed at random."""
    if not isinstance(value, tuple):
        return random.choice(WRAP)(value)
    entries = [in_some_form(random, entry) for entry in value]
    if random.random() < 0.3 and not any(isinstance(entry, tuple) for entry in value):
        return random.choice((np.array, FakeTensor))(list(value))
    return random.choice((tuple, list))(entries)


@given(any_kind(layouts(negative=True)), st.randoms(use_true_random=False))
def test_every_form_of_a_layout_is_read_as_that_layout(layout, random):
    forms = [layout, str(layout), np.str_(str(layout)), re.sub(r"([,:(])", r"\1 ", str(layout))]
    if isinstance(layout, Layout):
        forms += [in_some_form(random, (layout.shape, layout.stride)), re.sub(r"(?<![-\d])(?=\d)", "_", str(layout))]
    for form in forms:
        read = as_layout("layout", form)
        assert read.shape == layout.shape and (read.offsets() == layout.offsets()).all()


@pytest.mark.parametrize("text, layout", [
    ("S<3,4,3> o 0 o (8,64):(64,1)", ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))),
    ("Sw<2,0,3> o (_8,_4):(_4,_1)", ComposedLayout(Swizzle(2, 0, 3), 0, Layout((8, 4), (4, 1)))),
    ("((4,2),8):((1,32),4)", Layout(((4, 2), 8), ((1, 32), 4))), ("(_8)", Layout((8,))), ("3 + (4):(8)", Tensor(Layout((4,), (8,)), 3)),
])  # fmt: skip
def test_layouts_as_the_dsl_and_cpp_print_them(text, layout):
    assert as_layout("layout", text) == layout


DSL = """
import cutlass
import cutlass.cute as cute
from exercises.engine.answers import as_layout, as_number, as_table
from exercises.engine.verdict import BadAnswer

kept = []

@cute.jit
def inside(n: cutlass.Int32):
    plain = cute.make_layout((6, 5), stride=(8, 1))
    swizzled = cute.make_composed_layout(cute.make_swizzle(3, 4, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))
    for one in (plain, swizzled):
        print(as_layout("layout", one), as_layout("layout", str(one)) == as_layout("layout", one))
    for bad in (cute.make_layout((n, 5)), cute.make_identity_layout((4, 5)), cute.make_swizzle(3, 4, 3)):
        try: print("read", as_layout("layout", bad))
        except BadAnswer as refused: print("refused", refused)
    kept.append(plain)

inside(cutlass.Int32(3))
print(as_layout("layout", ((cutlass.Int32(6), 5), (8, 1))), as_number("n", cutlass.Int64(7)), as_table("t", [cutlass.Int32(4)] * 2, 1, 2))
try: print("read", as_layout("layout", kept[0]))
except BadAnswer as refused: print("refused", refused)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the DSL has no build for this system")
def test_layouts_and_numbers_of_the_dsl(tmp_path):
    script = tmp_path / "inside.py"  # the DSL needs the source in a file, and a fault in it may end its process
    script.write_text(DSL)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0 and len(lines) == 7, ran.stdout + ran.stderr
    assert lines[:2] == ["(6,5):(8,1) True", "S<3,4,3> o 0 o (8,64):(64,1) True"]
    assert all(line.startswith("refused `layout` is not a layout") for line in [*lines[2:5], lines[6]])
    assert "dynamic" in lines[2] and "coordinates" in lines[3] and "no shape" in lines[4] and "has ended" in lines[6]
    assert lines[5] == "(6,5):(8,1) 7 [4, 4]"


class Loud:
    def __repr__(self):
        raise RuntimeError("a repr was used")

    __str__ = __eq__ = __len__ = __iter__ = __repr__
    __hash__ = None


WILD = [
    None, ..., True, np.bool_(True), 1.5, np.float32(2), float("nan"), 2 + 0j, "", "(", "S<3,4,3>", "o", "1@0", b"4:1", {}, {1: 2}, [[]],
    ((6, 0), (8, 1)), ((6, 5), (8, True)), ((6, 5), (8, np.True_)), ((6, 5.0), (8, 1)), (10**40, 1, 1), "x" * 10**6, "(" * 10**4,
    (Loud(), 1), Loud(), [Loud()], FakeTensor([1.5, 2.0]), FakeTensor(True), FakeTensor, Layout, lambda: 0,
    np.array([True, False]), np.ndarray, object(), iter([1, 2]), "(4,?):(1,4)",
]  # fmt: skip
# these may be tilers or cells
NESTED = [[], ((6, 5), (8,)), ((6, "5"), (8, 1)), np.array(["4", "1"]), np.zeros((2, 2, 2)), (1, 2, 3), ((6, 5), (8, 1), 3)]
READERS = {
    "layout": as_layout, "number": as_number, "choice": lambda name, value: as_choice(name, value, [16, "row-major"]),
    "table": lambda name, value: as_table(name, value, 3, 4), "function": lambda name, value: as_function(name, value, 1),
    "tiler": as_tiler, "cells": lambda name, value: as_cells(name, value, Layout((3, 4), (4, 1))),
}  # fmt: skip
REFUSED = [(reader, value) for reader in READERS for value in WILD] + [(reader, value) for reader in list(READERS)[:5] for value in NESTED]


@pytest.mark.parametrize("reader, value", REFUSED, ids=[f"{reader} {n}" for n, (reader, _) in enumerate(REFUSED)])
def test_wild_values_are_refused_in_words(reader, value):
    with pytest.raises(BadAnswer) as refused:
        READERS[reader]("answer", value)
    assert "`answer`" in str(refused.value) and len(str(refused.value)) < 700 and "a repr was used" not in str(refused.value)


@given(st.integers(-(2**70), 2**70), st.sampled_from([int, str, lambda n: f" {n} ", lambda n: f"{n:+d}", FakeTensor]))
def test_a_number_in_each_form(number, form):
    assert as_number("n", form(number)) == number


def test_numbers_of_numpy_and_fractions():
    assert [as_number("n", form(7)) for form in (np.int8, np.uint64, np.array, np.intp)] == [7] * 4
    for value in (16.0, np.float64(16), FakeTensor(16.0)):
        with pytest.raises(BadAnswer, match=r"`n` is 16.0; wanted is a whole number"):
            as_number("n", value)
    for value in (True, np.True_, [7], np.array([7]), "7.0", "seven", "1_0", "٣"):
        with pytest.raises(BadAnswer, match="`n` is .*wanted is one whole number"):
            as_number("n", value)


@pytest.mark.parametrize("value, choice", [
    (16, 16), ("16", 16), (" 16", 16), (np.int64(16), 16), (np.str_("16"), 16), (FakeTensor(16), 16), ("Row-Major ", "row-major"),
    ("row - major", "row-major"), (Layout("(4,4):(4,1)"), "(4,4):(4,1)"), ("(4, 4) : (4, 1)", "(4,4):(4,1)"),
])  # fmt: skip
def test_one_choice_has_many_forms(value, choice):
    assert as_choice("c", value, [13, 16, "row-major", "(4,4):(4,1)"]) == choice


def test_a_choice_that_is_none_names_the_options_and_options_must_differ():
    for value in (17, "17", -16, "column-major", 10**50):
        with pytest.raises(BadAnswer, match=r"choose one of 13, 16, row-major\."):
            as_choice("c", value, [13, 16, "row-major"])
    for options in ([16, "16"], ["A b", "ab"], [1.5, 2], [None]):
        with pytest.raises(ValueError, match="told apart"):
            as_choice("c", 16, options)


@given(any_kind(layouts(60)), st.data())
def test_cells_in_each_form_and_any_order(layout, data):
    indices = data.draw(st.lists(st.integers(0, layout.size - 1), unique=True))
    extents = leaf_values(layout.shape)
    random = data.draw(st.randoms(use_true_random=False))

    def coordinate(index):
        digits = list(reversed(next(c for c in [np.unravel_index(index, extents[::-1])])))
        return nest(map(int, digits), layout.shape)

    forms = [lambda i: i, np.int64] + [coordinate, lambda i: in_some_form(random, coordinate(i))] * isinstance(layout.shape, tuple)
    cells = [random.choice(forms)(index) for index in indices]
    assert as_cells("cells", cells, layout) == frozenset(indices)
    hashable = {forms[2](index) if layout.rank > 1 else index for index in indices}
    assert as_cells("cells", hashable, layout) == frozenset(indices)


def test_what_is_no_cell_is_said():
    layout = Layout((3, 4), (4, 1))
    for cells, words in [
        ((0, 1), "two ways"), ([(0, 1), 3], "the cell (0,1) twice"), ([(3, 0)], "outside a mode of extent 3"), ([12], "from 0 to 11"),
        ([-1], "from 0 to 11"), ([(0, 1, 2)], "3 entries"), ([(0, 1.0)], "1.0"), (["(0,1)"], "'(0,1)'"), ({(0, 1): 2}, "type dict"),
        ([[(0, 0), (1, 1)]], "no cell"), ([()], "no cell"),
    ]:  # fmt: skip
        with pytest.raises(BadAnswer, match=re.escape(words)):
            as_cells("cells", cells, layout)
    assert as_cells("cells", (5,), layout) == {5} and as_cells("cells", np.array([[0, 1], [2, 3]]), layout) == {3, 11}
    assert as_cells("cells", range(3), layout) == {0, 1, 2} and as_cells("cells", (), layout) == set()


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_a_table_flat_or_in_rows(rows, columns, data):
    assume(rows > 1 or columns > 1)
    numbers = data.draw(st.lists(st.integers(-99, 99), min_size=rows * columns, max_size=rows * columns))
    table = [[numbers[r + c * rows] for c in range(columns)] for r in range(rows)]
    random = data.draw(st.randoms(use_true_random=False))
    for form in (numbers, table, np.array(table), FakeTensor(table), in_some_form(random, tuple(numbers)), np.array(numbers)):
        assert as_table("t", form, rows, columns) == numbers


def test_functions_are_taken_by_what_they_can_be_called_with():
    for function in (lambda a: a, lambda a, b=1: a, lambda *a: a, len, print, str.upper):
        assert as_function("f", function, 1) is function
    assert as_function("f", select, 2) is select
    for function, words in [(lambda: 0, "too many"), (lambda a, b: 0, "missing"), (lambda *, a: 0, "too many"), (Layout(4), "type Layout")]:
        with pytest.raises(BadAnswer, match=words):
            as_function("f", function, 1)


# --- judging


def numbers_in(text):
    return set(map(int, re.findall(r"-?\d+", text)))


def drawn(scene):
    """All texts of a picture: what it says of the answer."""
    panels = scene.all_panels()
    return " ".join([scene.caption, *(p.title for p in panels), *(t for p in panels for t in (*p.labels, *p.tips))]) + to_svg(scene)


def marked(scene):
    """The indices marked wrong."""
    return {int(p.keys["index"][cell]) for p in scene.all_panels() for cell, mark in p.marks.items() if mark == "wrong"}


@given(any_kind(layouts(60, negative=True)), any_kind(layouts(60, negative=True)), st.booleans())
def test_layouts_are_judged_by_shape_and_then_by_function(answer, wanted, shape_counts):
    verdict = judge.judge_layout("layout", answer, wanted, "Right.", shape_counts=shape_counts)
    table, right = answer.offsets().tolist(), wanted.offsets().tolist()
    if table == right:
        form = answer.shape == wanted.shape or not shape_counts
        assert verdict.state is (State.RIGHT if form else State.RIGHT_NOT_FORM)
    else:
        assert verdict.state is State.WRONG
        if answer.shape == wanted.shape:
            bad = next(i for i in range(len(table)) if table[i] != right[i])
            assert f"gives offset {table[bad]}, " in verdict.message and marked(verdict.scene) == {bad}
            assert verdict.message.startswith("At coordinate")
        elif shape_counts:
            assert verdict.message.startswith(f"`layout` has shape {str(Layout(answer.shape)).split(':')[0]}: ")
        elif answer.size != wanted.size:
            assert verdict.message.startswith(f"`layout` has {answer.size} elements, ")
        else:
            assert marked(verdict.scene) <= {next(i for i in range(len(table)) if table[i] != right[i])}


@given(any_kind(layouts(60)))
def test_the_same_function_in_another_form_is_right_in_function(layout):
    flat = flatten(layout)
    verdict = judge.judge_layout("layout", str(flat), layout, "Right.")
    assert verdict.state is (State.RIGHT if flat.shape == layout.shape else State.RIGHT_NOT_FORM)
    assert judge.judge_layout("layout", flat, layout, "Right.", shape_counts=False).ok


@given(layouts(60, negative=True), st.data())
def test_no_layout_verdict_tells_a_number_that_is_not_the_learners(wanted, data):
    shape = data.draw(st.sampled_from([wanted.shape, wanted.shape, data.draw(layouts(60)).shape]))
    leaves = len(leaf_values(shape))
    answer = Layout(shape, nest(data.draw(st.lists(st.integers(-40, 900), min_size=leaves, max_size=leaves)), shape))
    assume(not same_function(answer, wanted))
    verdict = judge.judge_layout("layout", answer, wanted, "Right.")
    mine = {*answer.offsets().tolist(), *leaf_values(answer.shape), *leaf_values(answer.stride), answer.size, answer.cosize, 0, 1, 2}
    mine |= {*judge._mode_sizes(answer)}
    places = set(range(max(*leaf_values(answer.shape), answer.rank)))  # coordinates and modes
    assert numbers_in(verdict.message) <= mine | places
    assert drawn(verdict.scene) == drawn(judge.picture(answer, *marked(verdict.scene)))  # the picture is drawn from the answer alone


@given(st.lists(st.integers(100, 999), min_size=12, max_size=12), st.permutations(range(1, 13)))
def test_no_table_verdict_tells_a_number_that_is_not_the_learners(numbers, kept):
    wanted = Tensor(Layout((3, 4), (1000, 10_000)), 5000)
    numbers = [int(wanted(i)) if kept[i] > 6 else numbers[i] for i in range(12)]
    verdict = judge.judge_table("t", numbers, wanted, "Right.")
    told = {int(n) for n in wanted.offsets()} - set(numbers)
    assert verdict.state is State.WRONG and not told & numbers_in(verdict.message) and not told & numbers_in(drawn(verdict.scene))
    bad = next(i for i in range(12) if numbers[i] != wanted(i))
    assert verdict.message.startswith(f"Index {bad} is coordinate ({bad % 3},{bad // 3}).") and marked(verdict.scene) == {bad}


def test_a_table_in_rows_is_another_form_unless_rows_will_do():
    rows = [[0, 3, 6], [1, 4, 7]]
    assert judge.judge_table("t", rows, "(2,3):(1,3)", "Right.").state is State.RIGHT_NOT_FORM
    assert judge.judge_table("t", np.array(rows), "(2,3):(1,3)", "Right.").state is State.RIGHT_NOT_FORM
    assert judge.judge_table("t", rows, "(2,3):(1,3)", "Right.", rows_will_do=True).ok


@given(st.integers(-300, 300), st.integers(-300, 300))
def test_numbers(value, wanted):
    verdict = judge.judge_number("n", np.int64(value), wanted, "Right.", scene=lambda: judge.picture(Layout(4)))
    assert verdict.ok is (value == wanted) and (verdict.scene is not None) is verdict.ok
    if not verdict.ok:
        assert numbers_in(verdict.message) == {value}


def test_choices_have_their_own_words_and_the_right_one_is_computed():
    options = {16: "Too few.", 19: "The last is at 18.", "more": "No."}
    for value, state in [("16", State.WRONG), (19, State.RIGHT), (" MORE", State.WRONG)]:
        verdict = judge.judge_choice("c", value, options, Layout("(4,4):(1,5)").cosize)
        assert verdict.state is state and options[as_choice("c", value, options)] in verdict.message
    with pytest.raises(ValueError, match="20 is not among"):
        judge.judge_choice("c", 16, options, 20)


@given(any_kind(layouts(40)), st.data())
def test_chosen_cells_are_marked_and_missed_ones_are_not_revealed(layout, data):
    subsets = st.sets(st.integers(0, layout.size - 1))
    chosen, wanted, other = data.draw(subsets), data.draw(subsets), data.draw(subsets)
    verdict = judge.judge_cells("cells", list(chosen), layout, wanted, "Right.")
    assert verdict.ok is (chosen == wanted)
    if verdict.ok:
        return
    assert verdict.state is State.WRONG and marked(verdict.scene) == {i for i in chosen - wanted if i in shown(verdict.scene)}
    # another right answer that keeps the wrong cells wrong and the right ones right says and draws exactly the same
    same = (wanted & chosen) | (other - chosen)
    if same != chosen:
        again = judge.judge_cells("cells", list(chosen), layout, same, "Right.")
        assert again.message == verdict.message and drawn(again.scene) == drawn(verdict.scene)
    # and so does a layout of the same shape with other offsets
    blind = judge.judge_cells("cells", list(chosen), Layout(layout.shape), wanted, "Right.")
    assert [p.tips for p in blind.scene.all_panels()] == [p.tips for p in verdict.scene.all_panels()]
    assert blind.scene.fills() == verdict.scene.fills() and blind.scene.links() == verdict.scene.links()
    for panel in verdict.scene.all_panels():
        dots = {int(panel.keys["index"][c]) for c, label in enumerate(panel.labels) if label}
        assert dots == chosen & set(panel.keys["index"].tolist()) and "offset" not in panel.keys


@pytest.mark.parametrize("cells, message", [
    ([3], "The cell (1,1) is not asked for."), ([0, 3], "The cell (1,1) is not asked for."), ([], "`cells` holds no cell yet."),
    ([0, 5, 3], "2 of your 3 cells are not asked for. One of them is (1,1)."),
    ([2], "Each cell that you chose is right, but some are still missing."),
])  # fmt: skip
def test_what_is_said_of_cells(cells, message):
    assert judge.judge_cells("cells", cells, "(2,3):(3,1)", [0, 2], "Right.").message == message


@pytest.mark.parametrize("shape, why", [
    ("(2,3,1)", "that is not the number of modes asked for"), ("6", "that is not the number of modes asked for"),
    ("(3,2)", "mode 0 has 3 elements, and that is not"), ("(2,4)", "mode 1 has 4 elements, and that is not"),
    ("(2,(3,1))", "the sizes of its modes are right, but not how they nest"),
])  # fmt: skip
def test_what_is_said_of_a_shape(shape, why):
    told = f"`layout` has shape {shape}: {why}"
    assert judge.judge_layout("layout", shape, "(2,3):(3,1)", "Right.").message.startswith(told)
    assert told in judge.judge_layout("layout", shape, "(2,3):(1,2)", "Right.").message


def shown(scene):
    return {int(index) for panel in scene.all_panels() for index in panel.keys["index"]}


# --- tilers


TILES = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(st.tuples(st.integers(4, 9), st.integers(4, 9)), TILES, TILES)
def test_tilers_are_judged_by_the_tiles_they_cut(shape, tile, other):
    layout = Layout(shape, (shape[1], 1))
    verdict = judge.judge_tiler("tiler", list(other), layout, tile, "Right.")
    assert verdict.ok is (tile == other) and drawn(verdict.scene) == drawn(tiles(layout, other))
    mine, right = other[0] * other[1], tile[0] * tile[1]
    if mine != right:
        count = -(-shape[0] // other[0]) * -(-shape[1] // other[1])
        assert verdict.message.startswith(f"Your tiler makes {count} tiles of {mine} elements each,")
    for form in (tile, list(tile), np.array(tile), [Layout(n) for n in tile], [f"{n}:1" for n in tile], [FakeTensor(n) for n in tile]):
        assert judge.judge_tiler("tiler", form, layout, tile, "Right.").ok
    with pytest.raises(BadAnswer, match="does not cut"):
        judge.judge_tiler("tiler", (1, 1, 1), layout, tile, "Right.")


def test_tiles_of_the_right_size_with_other_elements():
    verdict = judge.judge_tiler("tiler", ("4:1", "2:2"), "(4,8):(8,1)", ("4:1", "2:1"), "Right.")  # columns 0 and 2 for columns 0 and 1
    assert verdict.message.startswith("Element 4 of your tile 0 has offset 2, and that is not the one that belongs there.")
    verdict = judge.judge_tiler("tiler", "4:8", "32:1", "4:1", "Right.")
    assert verdict.message.startswith("Element 1 of your tile 0 has offset 8, ") and not verdict.ok


# --- functions


def cases(random):
    return [(judge.random_layout(random),) for _ in range(6)]


def transpose(layout):
    return select(layout, (1, 0))


def judged(function, **options):
    return judge.judge_function("f", function, transpose, cases, "Right.", **options)


RIGHT_FUNCTIONS = [
    transpose, lambda layout: str(transpose(layout)), lambda layout: (layout.shape[::-1], list(layout.stride[::-1])),
    lambda layout: Layout(np.array(layout.shape)[::-1].tolist(), FakeTensor(list(layout.stride[::-1])).tolist()),
    lambda layout, extra=1: transpose(layout), lambda *layouts: transpose(*layouts), lambda layout: f"S<0,4,3> o 0 o {transpose(layout)}",
]  # fmt: skip
WRONG_FUNCTIONS = [
    (lambda layout: layout, "gives its input back"), (lambda layout: str(layout), "gives its input back"),
    (lambda layout: None, "gives None"), (lambda layout: 0, "is of type int"), (lambda layout: Layout("(9,3):(3,1)"), "has shape (9,3)"),
    (lambda layout: Layout(layout.shape[::-1], layout.stride), "gives offset"),
    (lambda layout: Layout(layout.shape[::-1], (0, 0)), "same offset"),
    (lambda layout: "(4,3", "is not a layout"), (lambda layout: (yield layout), "type generator"),
]  # fmt: skip


@pytest.mark.parametrize("function", RIGHT_FUNCTIONS, ids=range(len(RIGHT_FUNCTIONS)))
def test_right_functions_in_each_form(function):
    assert judged(function).ok and judged(function).message == "Right."


@pytest.mark.parametrize("function, words", WRONG_FUNCTIONS, ids=[words for _, words in WRONG_FUNCTIONS])
def test_wrong_functions_name_the_input(function, words):
    for seed in range(20):
        verdict = judged(function, seed=seed)
        (first,), *_ = cases(Random(seed))
        assert verdict.state is State.WRONG and words in verdict.message and f"f({first})" in verdict.message


def test_a_function_that_fails_late_is_told_with_the_input_where_it_fails():
    for seed in range(20):
        inputs = [layout for (layout,) in cases(Random(seed))]
        wide = [layout for layout in inputs if layout.shape[0] < layout.shape[1]]
        verdict = judged(lambda layout: transpose(layout) if layout.shape[0] > layout.shape[1] else layout, seed=seed)
        assert verdict.ok is not wide or not wide
        if wide:
            assert f"`f({wide[0]})` has shape" in verdict.message and marked(verdict.scene) == set()


def test_the_first_offset_that_departs_is_told_and_drawn():
    verdict = judged(lambda layout: Layout(layout.shape[::-1], (layout.stride[1], layout.stride[0] + 1)), seed=7)
    ((layout,), *_) = cases(Random(7))
    wrong = Layout(layout.shape[::-1], (layout.stride[1], layout.stride[0] + 1))
    assert verdict.message.startswith(f"At coordinate (0,1) `f({layout})` = {wrong} gives offset {wrong(0, 1)}, and that is not")
    assert marked(verdict.scene) == {layout.shape[1]}


def test_right_in_function_and_not_in_form_for_functions():
    nested = judged(lambda layout: Layout(transpose(layout).shape + (1,), transpose(layout).stride + (0,)))
    assert nested.state is State.RIGHT_NOT_FORM and "Every index has the right offset" in nested.message
    assert judged(lambda layout: Layout(transpose(layout).shape + (1,), transpose(layout).stride + (0,)), shape_counts=False).ok


def test_what_the_learners_function_raises_is_told_with_its_line(tmp_path):
    source = "def helper(layout):\n    return 1 / 0\n\n\ndef f(layout):\n    return helper(layout)\n"
    space = {}
    exec(compile(source, "cell.py", "exec"), space)
    verdict = judged(space["f"], seed=3)
    ((layout,), *_) = cases(Random(3))
    assert verdict.state is State.RAISED
    assert verdict.message.startswith(f"`f({layout})` raised in line 2: ZeroDivisionError: division by zero")
    for raising in (lambda layout: sys.exit(3), lambda layout: layout[5], space["f"], endless):
        assert judged(raising).state is State.RAISED
    with pytest.raises(KeyboardInterrupt):
        judged(lambda layout: (_ for _ in ()).throw(KeyboardInterrupt()))


def test_a_function_that_exits_only_sometimes_is_still_judged():
    def exits(layout):
        if layout.shape[0] > 3:
            raise SystemExit
        return layout

    for seed in range(20):
        assert judged(exits, seed=seed).state in (State.WRONG, State.RAISED)


def test_a_function_that_answers_another_thing_the_second_time_is_refused():
    seen = set()

    def forgetful(layout):
        if layout in seen:
            return layout
        seen.add(layout)
        return transpose(layout)

    verdict = judged(forgetful, seed=1)
    assert verdict.state is State.WRONG and verdict.mistake is judge.COPY


def test_a_layout_that_gives_indices_is_told_in_indices():
    verdict = judge.judge_layout("B", "(6,4):(1,6)", "(6,4):(4,1)", "Right.", gives="index")
    assert "At coordinate (1,0) your layout gives index 1" in verdict.message and "offset" not in verdict.message.partition(".")[0]
    nested = judge.judge_layout("B", "((2,3),4):((4,8),1)", "(6,4):(4,1)", "Right.", gives="index")
    assert nested.message.startswith("All its numbers are right, but")


@pytest.mark.parametrize("judging", [
    lambda: judge.judge_number("slots", 10**5000, 3, "Right."), lambda: judge.judge_cells("cells", [10**5000], "(2,3)", [0], "Right."),
    lambda: judge.judge_cells("cells", [(10**5000, 1)], "(2,3)", [0], "Right."),
])  # fmt: skip
def test_numbers_too_long_to_write_are_wrong_answers_like_any(judging):
    try:
        said = judging().message
    except BadAnswer as refused:
        said = str(refused)
    assert "too long to show" in said


def endless(layout):
    return endless(layout)


def test_functions_that_give_numbers_and_take_several_arguments():
    def pairs(random):
        return [(judge.random_layout(random), random.randrange(1, 6)) for _ in range(5)]

    def wanted(layout, n):
        return layout(n)

    assert judge.judge_function("g", lambda layout, n: np.int64(layout(n)), wanted, pairs, "Right.").ok
    assert judge.judge_function("g", wanted, lambda layout, n: np.int64(layout(n)), pairs, "Right.").ok
    for wrong in (lambda layout, n: layout(n) + 1, lambda layout, n: -0.25, lambda layout, n: 0, lambda layout, n: layout):
        verdict = judge.judge_function("g", wrong, wanted, pairs, "Right.", seed=5)
        layout, n = pairs(Random(5))[0]
        assert verdict.state is State.WRONG and f"`g({layout}, {n})" in verdict.message
        assert layout(n) not in numbers_in(verdict.message.partition("` is ")[2])
    with pytest.raises(BadAnswer, match="called with 2 arguments"):
        judge.judge_function("g", lambda layout: 0, wanted, pairs, "Right.")


def test_inputs_are_new_each_time_and_the_seed_brings_them_back():
    seen = []
    for seed in (None, None, 9, 9):
        calls = []
        judged(lambda layout, calls=calls: calls.append(layout) or transpose(layout), seed=seed)
        seen.append(calls)
    assert seen[0] != seen[1] and seen[2] == seen[3] and len(seen[0]) == 7 and seen[0][0] == seen[0][6]


@given(st.integers(), st.integers(1, 4))
def test_random_layouts_are_injective_and_not_square(seed, rank):
    layout = judge.random_layout(Random(seed), rank)
    extents = leaf_values(layout.shape)
    assert layout.rank == rank and len(set(extents)) == rank and min(extents) > 1
    table = [sum(c * d for c, d in zip(at, leaf_values(layout.stride), strict=True)) for at in product(*map(range, extents))]
    assert len(set(table)) == layout.size


def test_a_tensor_that_starts_at_slot_0_is_its_layout():
    for value in (Tensor("(2,3):(3,1)", 0), "0 + (2,3):(3,1)"):
        assert isinstance(judge.as_layout("layout", value), Layout)
        assert judge.judge_layout("layout", value, "(2,3):(3,1)", "Right.").ok
    assert judge.judge_layout("layout", Tensor("(2,3):(3,1)", 1), "(2,3):(3,1)", "Right.").state is State.WRONG


def test_a_form_may_be_split_further_and_an_offset_is_told_where_it_is_wrong():
    def judged_by_form(answer):
        right = Layout((6, 4), (1, 6))
        return judge.judge_function("f", lambda _: answer, lambda _: right, lambda _: [(1,)], "Right.", form=lambda _: (6, 4))

    assert judged_by_form("((2,3),4):((1,2),6)").state is State.RIGHT
    wrong = judged_by_form("((2,3),4):((1,3),6)")
    assert "gives offset" in wrong.message and "nest" not in wrong.message
    assert judged_by_form("24:1").state is State.RIGHT_NOT_FORM
