"""Chapter 05: judged by counting, so every right design passes; the floor of 05.7 holds; 05.8 runs one of the swizzles given."""

import subprocess
import sys
from functools import partial
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
            verdict = ch05.check_same_bytes(namespace["same_bytes"])
        except BadAnswer as refused:
            verdict = Verdict(State.WRONG, str(refused))
        assert verdict.state is State.WRONG and says in verdict.message


def test_each_slip_of_05_4_is_told_from_the_others():
    given = ch05._widths(Random(1))
    for slip, mistake in ch05.SAME_BYTES_SLIPS:
        assert judge._slip(slip, ch05.SAME_BYTES_SLIPS, given) == mistake


def test_same_bytes_keeps_each_byte_in_its_place():
    """Element 0 of every 8 bytes is the same byte, whatever the width."""
    wide = ch05._same_bytes(64)
    for bits in (8, 16, 32):
        layout, parts = ch05._same_bytes(bits), 64 // bits
        for row in range(8):
            for column in range(32):
                places = [layout(row, parts * column + part) for part in range(parts)]
                assert places == list(range(wide(row, column) * parts, (wide(row, column) + 1) * parts))


def is_right(swizzle, tile, threads, bits, vector):
    layout = ComposedLayout(swizzle, 0, tile)
    return ways(layout, threads, bits, vector) == 1 and set(layout.offsets().tolist()) == set(tile.offsets().tolist())


def test_a_swizzle_of_05_5_is_right_just_where_its_reads_are_free_and_it_stays_in_the_tile():
    right = []
    for swizzle in SWIZZLES:
        verdict = ch05.check_narrow(swizzle)
        assert verdict.ok == is_right(swizzle, ch05.NARROW, ch05.NARROW_READ, 32, 4) and verdict.scene is not None, swizzle
        right += [str(swizzle)] * verdict.ok
    assert right[0] in EXERCISES["05.5"].right["notation"]


@pytest.mark.parametrize("row", ch05.ROWS)
def test_a_swizzle_of_05_8_is_right_just_where_its_reads_are_free_and_it_stays_in_the_tile(row):
    tile, columns, right = ch05.tile_in(row), min(row, 64), []
    read = Layout(((64, columns // 8), 8), ((1, 512), 64))
    assert all(tile(read(thread)) == thread % 64 * row + thread // 64 * 8 for thread in range(8 * columns))
    for swizzle in SWIZZLES:
        wrong = ch05._wrong_in_rows_of(row, swizzle)
        assert (wrong is None) == is_right(swizzle, tile, read, 16, 8), swizzle
        assert wrong is None or wrong.scene is not None and wrong.message
        right += [swizzle] * (wrong is None)
    assert right[0] == {32: Swizzle(2, 3, 3), 64: Swizzle(3, 3, 3), 128: Swizzle(3, 3, 4), 256: Swizzle(3, 3, 5)}[row]


@pytest.mark.parametrize("check, sizes, write, read, bits, floor, limit", [
    (ch05.check_fine, (16, 64), ch05.FINE_WRITE, (ch05.FINE_READ, 4), 16, 1, ch05.FINE_BYTES),
    (partial(ch05.check_square, ch05.FLOOR), (32, 32), ch05.SQUARE_WRITE, (ch05.SQUARE_READ, 1), 32, ch05.FLOOR, ch05.SQUARE_BYTES),
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
    assert ch05.check_padding(120, 1896).ok and not any(ch05.check_padding(n, 1896).ok for n in range(60, 300) if n != 120)
    assert not any(ch05.check_padding(120, n).ok for n in range(0, 4000) if n != 1896)


def test_the_ways_of_05_7_are_judged_first():
    good = "S<3,2,3> o 0 o (32,32):(32,1)"
    assert [n for n in range(-1, 40) if ch05.check_square(n, good).ok] == [ch05.FLOOR]


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
    right = {32: "S<2,3,3>", 64: (3, 3, 3), 128: "S<3,3,4>", 256: Swizzle(3, 3, 5)}
    verdict = ch05.check_rows(lambda row: right[row])
    assert verdict.ok and verdict.message.endswith("is touched. It ran.")
    layout = kernel.traced_layout("tile", lambda: seen[0](64))
    assert str(layout) == "S<3,3,4> o 0 o (64,64):(128,1)"
    for row in ch05.ROWS:
        wrong = ch05.check_rows(lambda given, row=row: Swizzle(1, 3, 3) if given == row else right[given])
        assert not wrong.ok and wrong.message.startswith(f"`swizzle_for({row})` is S<1,3,3>.")
    assert len(seen) == 1


def test_05_8_tells_which_swizzle_cannot_be():
    for overlaps in ("S<3,3,2>", (3, 3, 2)):
        verdict = ch05.check_rows(lambda row, overlaps=overlaps: overlaps)
        assert verdict.state is State.WRONG and verdict.scene and verdict.mistake is ch05.ROW_FOR_128
        assert verdict.message.startswith("`swizzle_for(32)` asks for S<3,3,2>, which cannot be")
    raised = ch05.check_rows(lambda row: Swizzle(3, 3, row.bit_length() - 4))
    assert raised.message == verdict.message and raised.mistake == verdict.mistake
    assert ch05.check_rows(lambda row: Swizzle(4, 3, 3)).mistake is ch05.OVERLAP


def test_the_checks_load_no_dsl():
    code = "import exercises.checks.ch05, sys; print({'cutlass', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
