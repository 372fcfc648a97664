"""Chapter 03's exercises: what is said of a known mistake does not hang on the inputs; inverses by law; 03.8 by law first."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import layoutviz
from exercises.checks import ch03
from exercises.engine import judge
from exercises.engine.verdict import BadAnswer, State, Verdict
from layoutviz import Layout, composition, laws

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = ch03.EXERCISES
NAMES = {"03.4": "every_second", "03.5": "paired", "03.8": "A_layout"}
SLIPS = {"03.4": ch03.EVERY_SECOND_SLIPS, "03.5": ch03.PAIRED_SLIPS, "03.8": ch03.A_LAYOUT_SLIPS}
RIGHT = {"03.4": ch03._every_second, "03.5": ch03._paired, "03.8": ch03.stored_in_blocks}
CASES = {"03.4": ch03._even_columns, "03.5": ch03._even_columns, "03.8": ch03._some_blocks}
WRONG = [(id, name, *answer) for id in NAMES for name, answer in EXERCISES[id].wrong.items() if name not in ("the starter", "one layout")]


def function_in(id: str, source: str):
    namespace = {name: getattr(layoutviz, name) for name in layoutviz.__all__}
    exec(source, namespace)
    return namespace[NAMES[id]]


@pytest.mark.parametrize("id, name, source, says", WRONG, ids=[f"{w[0]} {w[1]}" for w in WRONG])
def test_a_known_mistake_is_told_the_same_on_all_inputs(id, name, source, says, monkeypatch):
    monkeypatch.setattr(ch03, "_run_through", lambda *_: pytest.fail("the kernel was run"))
    for _ in range(40):
        try:
            verdict = EXERCISES[id].check(function_in(id, source))
        except BadAnswer as refused:
            verdict = Verdict(State.WRONG, str(refused))
        assert verdict.state is (State.RIGHT_NOT_FORM if name.startswith("another form") else State.WRONG)
        assert says in verdict.message
        assert verdict.mistake is None or verdict.message.count(verdict.mistake.words) == 1


@pytest.mark.parametrize("id", SLIPS)
@pytest.mark.parametrize("seed", range(20))
def test_each_slip_is_wrong_and_told_from_the_others(id, seed):
    given = CASES[id](Random(seed))
    for slip, mistake in SLIPS[id]:
        assert judge._slip(slip, SLIPS[id], given) == mistake and "?" in mistake.hint
        assert any(slip(*each) != RIGHT[id](*each) for each in given)


def test_the_right_functions_are_the_compositions_that_the_lesson_teaches():
    for (A,) in ch03._even_columns(Random(1)):
        assert ch03._paired(A) == composition(A, Layout((A.shape[0], (2, A.shape[1] // 2))))
        assert ch03._every_second(A).offsets().tolist() == [A(i, j) for j in range(0, A.shape[1], 2) for i in range(A.shape[0])]
    for M, K, w in ch03._some_blocks(Random(1)):
        stored, A = Layout((M // w, K, w), (K * w, w, 1)), ch03.stored_in_blocks(M, K, w)
        assert all(A(m, k) == stored(m // w, k, m % w) for m in range(M) for k in (0, 1, K - 1))


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(-2, 6)), min_size=1, max_size=4))
def test_an_inverse_is_judged_by_its_law_and_its_size(leaves):
    R = Layout(*zip(*leaves, strict=True))
    holds = all(R(ch03.SPARSE(i)) == i for i in range(6))
    verdict = ch03.check_inverse(R)
    assert verdict.ok == (holds and 17 <= R.size <= 24)
    if not holds:
        bad = next(i for i in range(6) if R(ch03.SPARSE(i)) != i)
        assert verdict.message.startswith(f"Index {bad} of L lies in slot {ch03.SPARSE(bad)},")


def test_many_inverses_are_right():
    rights = [ch03.check_inverse(f"(2,6,2):({free},1,3)") for free in range(-3, 9)]
    assert all(verdict.ok for verdict in rights) and len({verdict.message for verdict in rights}) > 1


def test_exactly_one_composition_of_03_2_exists_and_the_words_are_true():
    assert [b for b in ch03.WHICH if ch03._exists(b)] == ["6:2"]
    assert str(composition(ch03.ROWS, "6:2")) in ch03.WHICH["6:2"]
    assert not laws.check("composition", ch03.ROWS, "4:3", result="(2,2):(18,1)")


def test_03_8_hands_the_readers_own_layout_to_the_kernel(monkeypatch):
    pytest.importorskip("cutlass")
    from exercises.engine import kernel

    seen = []

    def judge_gemm(name, gemm, *, tile, layouts):
        seen.append(layouts)
        return Verdict(State.RIGHT, "It ran.")

    monkeypatch.setattr(kernel, "judge_gemm", judge_gemm)
    verdict = ch03.check_A_layout(lambda M, K, w: (((w, M // w), K), ((1, w * K), w)))
    assert verdict.ok and verdict.message.endswith("nothing was copied. It ran.")
    assert [*map(str, seen[0](24, 5, 3))] == ["((8,3),3):((1,24),8)", "(5,3):(3,1)"] and seen[0](23, 5, 3)[0].size == 69
    ch03.check_A_layout(lambda M, K, w: (((w, M // w), K), ((1, w * K if M < 1000 else 9), w)))
    with pytest.raises(BadAnswer, match="does not read the buffer as it was stored"):
        seen[1](1024, 768, 512)


def test_the_checks_load_no_dsl():
    code = "import exercises.checks.ch03, sys; print({'cutlass', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
