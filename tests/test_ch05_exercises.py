"""Chapter 05's exercises: judged by counting, so every right design passes; the floor of 05.7 holds; 05.8 runs the reader's swizzle."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import layoutviz
from exercises.checks import ch05
from exercises.engine import judge
from exercises.engine.verdict import BadAnswer, State, Verdict
from layoutviz import ComposedLayout, Layout, LayoutError, Swizzle
from layoutviz.memory import bank_conflicts, find_swizzle

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = ch05.EXERCISES
SWIZZLES = [Swizzle(b, m, s) for b in range(5) for m in range(6) for s in range(-6, 7) if abs(s) >= b]


def ways(layout, threads, bits, vector):
    """The ways of an access, None where it is not possible."""
    try:
        return bank_conflicts(layout, threads, bits, vector).ways
    except LayoutError:
        return None


@pytest.mark.parametrize("name", [name for name in EXERCISES["05.4"].wrong if name != "the starter"])
def test_a_mistake_of_05_4_is_told_the_same_on_all_inputs(name):
    source, says = EXERCISES["05.4"].wrong[name]
    namespace = {each: getattr(layoutviz, each) for each in layoutviz.__all__}
    exec(source, namespace)
    for _ in range(20):
        try:
            verdict = ch05.check_sw128(namespace["sw128"])
        except BadAnswer as refused:
            verdict = Verdict(State.WRONG, str(refused))
        assert verdict.state is State.WRONG and says in verdict.message


def test_each_slip_of_05_4_is_told_from_the_others():
    given = ch05._widths(Random(1))
    for slip, mistake in ch05.SW128_SLIPS:
        assert judge._slip(slip, ch05.SW128_SLIPS, given) == mistake


@pytest.mark.parametrize("check, tile, threads, bits, vector", [
    (ch05.check_narrow, ch05.NARROW, ch05.NARROW_READ, 32, 4), (ch05.check_half, ch05.HALF, ch05.HALF_READ, 16, 8),
])  # fmt: skip
def test_a_swizzle_is_right_just_where_its_reads_are_free_and_it_stays_in_the_tile(check, tile, threads, bits, vector, monkeypatch):
    monkeypatch.setattr(ch05, "_run_with", lambda _, law: law)
    slots, right = set(tile.offsets().tolist()), []
    for swizzle in SWIZZLES:
        layout = ComposedLayout(swizzle, 0, tile)
        good = ways(layout, threads, bits, vector) == 1 and set(layout.offsets().tolist()) == slots
        verdict = check(swizzle)
        assert verdict.ok == good and verdict.scene is not None, swizzle
        right += [str(swizzle)] * good
    assert right[0] in EXERCISES["05.5" if check is ch05.check_narrow else "05.8"].right["notation"]


@pytest.mark.parametrize("check, sizes, write, read, bits, floor, limit", [
    (ch05.check_fine, (16, 64), ch05.FINE_WRITE, (ch05.FINE_READ, 4), 16, 1, ch05.FINE_BYTES),
    (ch05.check_square, (32, 32), ch05.SQUARE_WRITE, (ch05.SQUARE_READ, 1), 32, ch05.FLOOR, 2**20),
])  # fmt: skip
def test_a_layout_is_right_just_where_both_accesses_cost_as_little_as_can_be(check, sizes, write, read, bits, floor, limit):
    rows, columns = sizes
    by_rows = [Layout(sizes, (stride, 1)) for stride in range(columns, columns + 20)]
    for layout in (*by_rows, *(ComposedLayout(swizzle, 0, by_rows[0]) for swizzle in SWIZZLES)):
        good = ways(layout, write, bits, 4) == 1 and ways(layout, read[0], bits, read[1]) == floor
        assert check(layout).ok == (good and layout.cosize * bits // 8 <= limit), layout
    assert check(Layout(((rows // 2, 2), columns), ((columns + 4, (columns + 4) * rows // 2), 1))).ok  # any form will do


def test_no_swizzle_or_padding_goes_below_the_floor():
    best = find_swizzle("(32,32):(32,1)", [(ch05.SQUARE_WRITE, 4), (ch05.SQUARE_READ, 1)], 32)[0]
    assert bank_conflicts(best.layout, ch05.SQUARE_WRITE, 32, 4).ways == 1
    assert bank_conflicts(best.layout, ch05.SQUARE_READ, 32).ways == ch05.FLOOR


def test_the_number_of_05_3_is_the_first_free_stride():
    assert ch05.check_padding(120).ok and not any(ch05.check_padding(n).ok for n in range(60, 300) if n != 120)


@pytest.mark.parametrize("value", [Swizzle(2, 2, 3), "S<2,2,3>", " Sw<2, 2, 3> ", (2, 2, 3), [2, 2, 3]])
def test_a_swizzle_is_read_in_each_of_its_forms(value):
    assert ch05.as_swizzle("swizzle", value) == Swizzle(2, 2, 3)


def test_05_8_puts_the_readers_swizzle_into_the_kernel(monkeypatch):
    pytest.importorskip("cutlass")
    from exercises.engine import kernel
    from ladder import tiled_swizzled

    seen = []
    monkeypatch.setattr(tiled_swizzled, "gemm_with", seen.append)
    monkeypatch.setattr(kernel, "judge_gemm", lambda name, gemm, *, tile, law: Verdict(State.RIGHT, f"{law.message} It ran."))
    verdict = ch05.check_half("S<3,3,4>")
    assert verdict.ok and verdict.message.endswith("is not touched. It ran.")
    layout = kernel.traced_layout("tile", lambda: seen[0](64))
    assert str(layout) == "S<3,3,4> o 0 o (64,64):(128,1)"
    assert not ch05.check_half("S<3,3,3>").ok and len(seen) == 1


def test_the_checks_load_no_dsl():
    code = "import exercises.checks.ch05, sys; print({'cutlass', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
