"""Chapter 04's exercises: a complement by what its copies take; a predicate on any inputs; tiles in blocks by law, then by the kernel."""

import subprocess
import sys
import warnings
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners import function_in

from exercises.checks import ch04
from exercises.engine import judge
from exercises.engine.verdict import BadAnswer, State, Verdict
from layoutviz import Layout, Tensor, blocked_product, complement, local_partition, local_tile
from layoutviz.cute import in_dsl

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = ch04.EXERCISES
NAMES = {"04.5": "inside", "04.7": "tile_layout"}
WRONG = [(id, name, *answer) for id in NAMES for name, answer in EXERCISES[id].wrong.items() if name not in ("the starter", "a layout")]


@pytest.mark.parametrize("id, name, source, says", WRONG, ids=[f"{w[0]} {w[1]}" for w in WRONG])
def test_a_known_mistake_is_told_the_same_on_all_inputs(id, name, source, says, monkeypatch):
    monkeypatch.setattr(ch04, "_run_with", lambda *_: pytest.fail("the kernel was run"))
    for _ in range(30):
        try:
            verdict = EXERCISES[id].check(function_in(source, NAMES[id]))
        except BadAnswer as refused:
            verdict = Verdict(State.WRONG, str(refused))
        assert verdict.state is State.WRONG and says in verdict.message
        assert verdict.mistake is None or verdict.message.count(verdict.mistake.words) == 1


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(-2, 14)), min_size=1, max_size=3))
def test_a_complement_is_right_where_its_copies_take_each_slot_once_in_order(leaves):
    R = Layout(*zip(*leaves, strict=True))
    verdict, starts = ch04.check_complement(R), R.offsets().tolist()
    assert verdict.ok == (starts == complement(ch04.GAPPED, ch04.SLOTS).offsets().tolist())
    taken = sorted(start + slot for start in starts for slot in (0, 1, 6, 7))
    if taken == list(range(24)) and not verdict.ok:
        assert verdict.mistake.name == "out of order"
    if not verdict.ok:
        assert verdict.mistake and verdict.mistake.words in verdict.message


def test_a_wrong_predicate_is_no_count_of_bytes(monkeypatch):
    """The judge of numbers guesses "off by one" and "bytes" from two numbers; no such guess is passed on."""
    for add in (0, 1, 2):
        for _ in range(20):
            verdict = ch04.check_inside(lambda *case, add=add: ch04.right_inside(*case) * 2 + add)
            assert verdict.state is State.WRONG and verdict.mistake is None
            assert "bytes" not in verdict.message and "off by one" not in verdict.message


@pytest.mark.parametrize("seed", range(20))
def test_the_predicates_of_04_5_are_told_apart(seed):
    cases = [*ch04.some_tiles(Random(seed)), ch04.BEYOND]
    counts = [[count(*case) for case in cases] for count, _ in ch04.INSIDE_COUNTS]
    right = [ch04.right_inside(*case) for case in cases]
    assert all(counts.count(each) == 1 for each in counts) and right[:-1] not in [each[:-1] for each in counts]
    with warnings.catch_warnings(action="ignore"):
        for case, wanted in zip(cases[:-1], right, strict=False):
            i, j = (local_partition(local_tile(Layout(case[0], d), *case[1:3]), *case[3:]).offsets() for d in ((1, 0), (0, 1)))
            assert wanted == ((i < case[0][0]) & (j < case[0][1])).sum()


@pytest.mark.parametrize("seed", range(20))
def test_each_slip_of_04_7_is_wrong_and_told_from_the_others(seed):
    given = ch04._some_sizes(Random(seed))
    for slip, mistake in ch04.TILE_LAYOUT_SLIPS:
        assert judge._slip(slip, ch04.TILE_LAYOUT_SLIPS, given) == mistake and "?" in mistake.hint
        assert not all(ch04.is_in_blocks(slip(*size), *size) for size in given)


def test_any_order_of_blocks_is_right(monkeypatch):
    monkeypatch.setattr(ch04, "_run_with", lambda _, law: law)
    for strides in ((64, None), (None, 64)):

        def tile_layout(rows, columns, strides=strides):
            down, right = strides[0] or 8 * columns, strides[1] or 8 * rows
            return Layout(((8, rows // 8), (8, columns // 8)), ((8, down), (1, right)))

        assert ch04.check_tile_layout(tile_layout).ok
    assert ch04.is_in_blocks(blocked_product("(8,8):(8,1)", "((2,2),2):((1,4),2)"), 32, 16)
    assert not ch04.is_in_blocks(Layout(((8, 2), (8, 2)), ((8, 64), (1, 64))), 16, 16), "blocks that share slots"
    assert not ch04.is_in_blocks(Layout(((8, 2), (8, 2)), ((8, 128), (1, 256))), 16, 16), "gaps between blocks"


def test_04_6_has_several_answers_and_says_why_others_are_not():
    some = [(rows, columns) for rows in range(8, 273, 8) for columns in range(8, 225, 8)]
    outside = {(r, c): -(-264 // r) * r * -(-216 // c) * c - 264 * 216 for r, c in some}
    right = [tile for tile in some if ch04.check_tile(tile, outside[tile]).ok]
    assert len(right) >= 8 and (64, 64) not in right and len({outside[tile] for tile in right}) > 3
    for tile in right:
        assert 10 * outside[tile] <= outside[tile] + 264 * 216 and tile[0] * tile[1] <= 4096 and min(tile) >= 32
        for number in (0, outside[tile] - 1, outside[tile] + 264 * 216):
            verdict = ch04.check_tile(tile, number)
            assert verdict.state is State.WRONG and f"{outside[tile]:,}" not in verdict.message, "the answer is told"
    with pytest.raises(BadAnswer):
        ch04.check_tile(7, 0)


@pytest.mark.parametrize("tile", [(88, 32), (40, 32), (40, 56), (56, 72)])
def test_04_6_says_only_what_is_true_of_outside(tile):
    down, right = -(-264 // tile[0]), -(-216 // tile[1])
    slots = down * tile[0] * right * tile[1]
    for number in range(0, 90_000, 8):
        verdict = ch04.check_tile(tile, number)
        assert verdict.ok == (number == slots - 264 * 216)
        if verdict.mistake is ch04.ALL_SLOTS:
            assert number == slots


@given(st.tuples(*[st.sampled_from([1, 2, 4, "2:4", "4:2", "4:3", "3:4", "(2,2):(1,4)", "(2,2):(4,1)", "(2,2):(1,3)", "2:3", None])] * 2))
def test_04_3_is_judged_by_its_tiles_and_what_is_said_is_true(tiler):
    try:
        verdict = ch04.check_in_pairs(tiler)
    except BadAnswer:
        return
    assert verdict.ok == (tiler == ("(2,2):(1,4)", "4:3"))
    mistake = verdict.mistake
    if mistake in (ch04.ROWS_OFF, ch04.COLUMNS_OFF):
        right_entry = tiler[0] if mistake is ch04.COLUMNS_OFF else tiler[1]
        assert right_entry in ("(2,2):(1,4)", "(2,2):(4,1)", "4:3")
    assert mistake is None or verdict.message.count(mistake.words) == 1


def test_04_3_one_layout_is_no_raw_refusal():
    for answer in ("(4,4):(2,12)", "(2,2,4):(12,48,3)", "(2,2,4):(1,4,3)", "(4,4):(1,4)", "16:1"):
        verdict = ch04.check_in_pairs(Layout(answer))
        assert verdict.state is State.WRONG and verdict.mistake is ch04.ONE_LAYOUT and "A(B(" not in verdict.message


@given(st.permutations([2, 3, 4, 2]), st.lists(st.integers(0, 13), min_size=4, max_size=4))
def test_04_8_is_judged_by_the_product(extents, strides):
    block, tiler = Layout(tuple(extents[:2]), tuple(strides[:2])), Layout(tuple(extents[2:]), tuple(strides[2:]))
    verdict = ch04.check_block_and_tiler(block, tiler)
    assert verdict.ok == ((block, tiler) == (ch04.BLOCK, ch04.TILER))
    assert verdict.mistake is None or verdict.message.count(verdict.mistake.words) == 1


def test_04_4_takes_a_pair_of_layout_and_offset_in_any_order():
    right = ch04.right_share()
    assert str(right) == "351 + (2,5):(80,2)"
    for answer in (right, (right.layout, right.offset), [right.offset, right.layout], str(right)):
        assert ch04.check_share(answer).ok
    assert ch04.check_share(Tensor(right.layout, 350)).state is State.WRONG


def test_04_4_an_offset_too_large_is_refused():
    with pytest.raises(BadAnswer):
        ch04.check_share((Layout((2, 5), (80, 2)), 2**70))


def test_a_function_that_exits_or_changes_its_mind_is_no_fault_of_ours(monkeypatch):
    monkeypatch.setattr(ch04, "_run_with", lambda _, law: law)

    def leaves(*given):
        raise SystemExit

    assert ch04.check_tile_layout(leaves).state is State.RAISED
    assert ch04.check_inside(leaves).state is State.RAISED
    calls = []

    def unsteady(*case):
        calls.append(case)
        return ch04.right_inside(*case) + (len(calls) == 3)

    assert ch04.check_inside(unsteady).state is State.WRONG


def test_what_the_lesson_says_of_the_dsl():
    pytest.importorskip("cutlass")
    assert in_dsl("complement", "(2,2):(1,1)", 24).text == "(0,12):(2,2)"


def test_04_7_runs_the_kernel_with_the_readers_own_layout(monkeypatch):
    pytest.importorskip("cutlass")
    from exercises.engine import kernel
    from ladder import tiled

    seen = []
    monkeypatch.setattr(tiled, "gemm_with", seen.append)
    ran = lambda name, gemm, *, tile, law: Verdict(State.RIGHT, f"{law.message} It ran, {tile}.", law.scene)  # noqa: E731
    monkeypatch.setattr(kernel, "judge_gemm", ran)
    verdict = ch04.check_tile_layout(lambda rows, columns: f"((8,{rows // 8}),(8,{columns // 8})):((8,64),(1,{8 * rows}))")
    assert verdict.ok and verdict.message.endswith("the blocks fill the tile. It ran, (64, 64, 16).")
    assert str(kernel.traced_layout("tile", lambda: seen[0](64))) == "((8,8),(8,2)):((8,64),(1,512))"

    turns = iter(range(100))

    def late(rows, columns):
        return ch04.right_tile_layout(rows, columns) if next(turns) < 60 else Layout((rows, columns))

    assert ch04.check_tile_layout(late).ok
    list(islice(turns, 60))
    with pytest.raises(BadAnswer, match="each time"):
        kernel.traced_layout("tile", lambda: seen[1](64))


def test_the_checks_load_no_dsl():
    code = "import exercises.checks.ch04, sys; print({'cutlass', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
