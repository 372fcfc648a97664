"""Chapter 04's exercises: a complement by what its copies take; a predicate on any inputs; tiles in blocks by law, then by the kernel."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import layoutviz
from exercises.checks import ch04
from exercises.engine import judge
from exercises.engine.verdict import BadAnswer, State, Verdict
from layoutviz import Layout, Tensor, blocked_product, complement

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = ch04.EXERCISES
NAMES = {"04.5": "inside", "04.7": "tile_layout"}
WRONG = [(id, name, *answer) for id in NAMES for name, answer in EXERCISES[id].wrong.items() if name not in ("the starter", "a layout")]


def function_in(id: str, source: str):
    namespace = {name: getattr(layoutviz, name) for name in layoutviz.__all__}
    exec(source, namespace)
    return namespace[NAMES[id]]


@pytest.mark.parametrize("id, name, source, says", WRONG, ids=[f"{w[0]} {w[1]}" for w in WRONG])
def test_a_known_mistake_is_told_the_same_on_all_inputs(id, name, source, says, monkeypatch):
    monkeypatch.setattr(ch04, "_run_with", lambda *_: pytest.fail("the kernel was run"))
    for _ in range(30):
        try:
            verdict = EXERCISES[id].check(function_in(id, source))
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


@pytest.mark.parametrize("seed", range(20))
def test_the_predicates_of_04_5_are_told_apart(seed):
    cases = [*ch04.some_tiles(Random(seed)), ((3, 2), (5, 4), (1, 1))]
    counts = [[ch04._count(slip, *case) for case in cases] for slip, _ in ch04.INSIDE_SLIPS]
    right = [ch04.right_inside(*case) for case in cases]
    assert all(counts.count(each) == 1 for each in counts) and right[:-1] not in [each[:-1] for each in counts]
    for (M, N), (rows, columns), (p, q) in cases:
        wanted = sum(p * rows + i < M and q * columns + j < N for i in range(rows) for j in range(columns))
        assert ch04.right_inside((M, N), (rows, columns), (p, q)) == wanted


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
    some = [(rows, columns) for rows in range(8, 209, 8) for columns in range(8, 145, 8)]
    right = [tile for tile in some if ch04.check_tile(tile).ok]
    assert len(right) >= 8 and (64, 64) not in right
    for rows, columns in right:
        slots = -(-200 // rows) * rows * -(-136 // columns) * columns
        assert 10 * (slots - 200 * 136) <= slots and 1024 <= rows * columns <= 4096
    with pytest.raises(BadAnswer):
        ch04.check_tile(7)


def test_04_4_takes_a_pair_of_layout_and_offset_in_any_order():
    right = ch04.right_share()
    assert str(right) == "351 + (2,5):(80,2)"
    for answer in (right, (right.layout, right.offset), [right.offset, right.layout], str(right)):
        assert ch04.check_share(answer).ok
    assert ch04.check_share(Tensor(right.layout, 350)).state is State.WRONG


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


def test_the_checks_load_no_dsl():
    code = "import exercises.checks.ch04, sys; print({'cutlass', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
