"""Chapter 03's exercises: what is said of a known mistake does not hang on the inputs; inverses by law; 03.8 by law first."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners import function_in

from exercises.checks import ch03
from exercises.engine import judge
from exercises.engine.verdict import BadAnswer, State, Verdict
from layoutviz import Layout, LayoutError, Tensor, coalesce, composition, laws, left_inverse, same_function

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = ch03.EXERCISES
NAMES = {"03.4": "even_columns", "03.5": "paired", "03.8": "A_view"}
RIGHT = {"03.4": ch03._even_columns, "03.5": ch03._paired, "03.8": ch03.view_of_blocks}
FORMS = {"03.4": ch03._half, "03.5": ch03._pair_shape, "03.8": ch03._block_shape}
ROUNDS = {  # the cases of each round, and the slips that are known there
    "03.4": ((ch03._flat, ch03.EVEN_COLUMNS_SLIPS), (ch03._nested, ())),
    "03.5": ((ch03._flat, ch03.PAIRED_SLIPS), (ch03._nested, ())),
    "03.8": ((ch03._without_gaps, ch03.A_VIEW_SLIPS), (ch03._with_gaps, ch03.GAP_SLIPS)),
}
WRONG = [(id, name, *answer) for id in NAMES for name, answer in EXERCISES[id].wrong.items() if name not in ("the starter", "one layout")]


@pytest.mark.parametrize("id, name, source, says", WRONG, ids=[f"{w[0]} {w[1]}" for w in WRONG])
def test_a_known_mistake_is_told_the_same_on_all_inputs(id, name, source, says, monkeypatch):
    monkeypatch.setattr(ch03, "_run_through", lambda *_: pytest.fail("the kernel was run"))
    for _ in range(40):
        try:
            verdict = EXERCISES[id].check(function_in(source, NAMES[id]))
        except BadAnswer as refused:
            verdict = Verdict(State.WRONG, str(refused))
        assert verdict.state is (State.RIGHT_NOT_FORM if name.startswith("another form") else State.WRONG)
        assert says in verdict.message
        assert verdict.mistake is None or verdict.message.count(verdict.mistake.words) == 1


@pytest.mark.parametrize("id", NAMES)
@pytest.mark.parametrize("seed", range(20))
def test_each_slip_is_wrong_and_told_from_the_others(id, seed):
    for cases, slips in ROUNDS[id]:
        given = cases(Random(seed))
        for slip, mistake in slips:
            assert judge._slip(slip, slips, given) == mistake and "?" in mistake.hint
            assert any(slip(*each) != RIGHT[id](*each) for each in given)


@pytest.mark.parametrize("seed", range(20))
def test_the_right_functions_are_right_by_their_tables(seed):
    for (A,) in (*ch03._flat(Random(seed)), *ch03._nested(Random(seed))):
        rows, columns = A[0].size, A[1].size
        assert columns % 2 == 0 and A.rank == 2 and len(set(A.offsets())) == A.size
        half, paired = ch03._even_columns(A), ch03._paired(A)
        assert half.offsets().tolist() == [A(i, j) for j in range(0, columns, 2) for i in range(rows)]
        assert all(paired(i, (q, p)) == A(i, p + 2 * q) for i in range(rows) for p in range(2) for q in range(columns // 2))
    assert {min(A.stride) for (A,) in ch03._flat(Random(seed))} >= {1, 2, 3}  # not only layouts with a step of 1
    for stored, M, K, w in (*ch03._without_gaps(Random(seed))[:-1], *ch03._with_gaps(Random(seed))):
        A = ch03.view_of_blocks(stored, M, K, w)
        written = [(b * w + p, k) for b in range(M // w) for k in range(K) for p in range(w)]
        assert M % w == 0 and [A(m, k) for m, k in written] == stored.offsets().tolist()
    assert all(stored.cosize > stored.size for stored, *_ in ch03._with_gaps(Random(seed)))
    assert 1 in [w for *_, w in ch03._without_gaps(Random(seed))]  # as where the kernel runs at a prime M


@pytest.mark.parametrize("id", NAMES)
def test_a_right_layout_may_be_split_further_but_not_less(id):
    for cases, _ in ROUNDS[id]:
        for case in cases(Random(3))[:5]:
            right, form = RIGHT[id](*case), FORMS[id](*case)
            by_form, whole = coalesce(right, form), coalesce(right)
            assert same_function(by_form, right) and judge.refines(by_form.shape, form)
            for answer in (by_form, whole):
                gives, wanted = (lambda *_, it=it: it for it in (answer, right))
                verdict = judge.judge_function("f", gives, wanted, lambda _, case=case: [case], "Right.", form=FORMS[id])
                assert verdict.state is (State.RIGHT if judge.refines(answer.shape, form) else State.RIGHT_NOT_FORM)


RAISED = [
    ("03.4", "return composition(A, (None, (A[1].size // 2, 2)))", "Count and step together"),
    ("03.4", "return composition(A, (None, A[1].size // 2, 2))", "Count and step together"),
    ("03.4", "(m, n), (a, b) = A.shape, A.stride\n    return Layout((m, n // 2), (a, 2 * b))", "In this `A` they are nested"),
    ("03.5", "return composition(A, (None, (A[1].size // 2, 2)))", "`(n, 2)` inside a tuple is a tuple again"),
    ("03.5", "(m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (n // 2, 2)), (a, (2 * b, b)))", "In this `A` they are nested"),
    ("03.8", "return composition(stored, ((w, M // w), K))", "Wanted is one layout"),
    ("03.8", "return composition(stored, Layout((w, K, M // w)))[3]", "raised"),
]


@pytest.mark.parametrize("id, body, says", RAISED)
def test_what_layoutviz_refuses_is_told_in_words_of_the_lesson(id, body, says):
    arguments = "stored, M, K, w" if id == "03.8" else "A"
    for _ in range(20):
        verdict = EXERCISES[id].check(function_in(f"def {NAMES[id]}({arguments}):\n    {body}", NAMES[id]))
        assert verdict.state is State.RAISED and says in verdict.message and verdict.message.count(says) == 1


def test_one_layout_in_the_place_of_a_tuple_is_told_where_there_is_none():
    function = function_in("def even_columns(A):\n    return composition(A, Layout(A[1].size // 2, 2))", "even_columns")
    verdicts = [ch03.check_even_columns(function) for _ in range(20)]  # at 4 columns there is one, and it is wrong
    assert all(("counts along the whole index" in v.message) is (v.state is State.RAISED) and not v.ok for v in verdicts)
    assert State.RAISED in [verdict.state for verdict in verdicts]


def test_what_is_right_only_without_gaps_is_never_right_in_function():
    wrong = EXERCISES["03.8"].wrong
    for name, mistake in (("B o A", "B o A"), ("three modes, and without the gaps", None), ("another form, three modes", None)):
        verdict = EXERCISES["03.8"].check(function_in(wrong[name][0], "A_view"))
        assert verdict.state is (State.RIGHT_NOT_FORM if name.startswith("another form") else State.WRONG)
        assert (verdict.mistake and verdict.mistake.name) == mistake


def test_what_python_says_ends_before_the_next_sentence():
    body = "(m, n), (a, b) = A.shape, A.stride\n    return Layout((m, (n // 2, 2)), (a * 1, (2 * int(b), int(b))))"
    verdict = ch03.check_paired(function_in(f"def paired(A):\n    {body}", "paired"))
    assert verdict.state is State.RAISED and ". Where rows and columns are plain numbers" in verdict.message


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(-2, 6)), min_size=1, max_size=4))
def test_an_inverse_is_judged_by_its_law_and_its_size(leaves):
    R = Layout(*zip(*leaves, strict=True))
    holds = all(R(ch03.SPARSE(i)) == i for i in range(6))
    verdict = ch03.check_inverses("(2,6,2):(99,1,3)", R)
    assert verdict.ok == (holds and 17 <= R.size <= 24)
    if not holds:
        bad = next(i for i in range(6) if R(ch03.SPARSE(i)) != i)
        assert verdict.message.startswith(f"Index {bad} of L lies in slot {ch03.SPARSE(bad)}, and your `R2` says")


def test_many_inverses_are_right_but_two_must_differ():
    layouts = [f"(2,6,2):({free},1,3)" for free in range(-3, 9)]
    assert all(ch03.check_inverses(one, other).ok is (one != other) for one in layouts for other in layouts)
    assert ch03.check_inverses(left_inverse(ch03.SPARSE), layouts[0]).ok


@given(st.sets(st.integers(-1, 14)))
def test_counts_are_judged_as_a_set(numbers):
    wanted = {n for n in range(1, 13) if n == 1 or n % 2 == 0}
    assert ch03.check_counts(numbers).ok is (numbers == wanted) is ch03.check_counts([*numbers, *numbers]).ok
    assert wanted == {n for n in range(1, 13) if laws_say(f"{n}:2")}


def laws_say(b):
    try:
        return laws.check("composition", ch03.ROWS, b, result=composition(ch03.ROWS, b)).holds
    except LayoutError:
        return False


def test_of_all_strides_one_makes_two_modes_enough():
    given = "((2,3),(2,4)):((1,2),(12,{}))"
    assert [d for d in range(200) if coalesce(given.format(d)).rank == 2] == [ch03.OPEN_STRIDE]


@given(st.integers(-30, 30), st.integers(-30, 30))
def test_the_transposing_layout_is_judged_by_the_elements_that_it_names(down, right):
    B = Layout((5, 3), (down, right))
    verdict = ch03.check_transposing(B)
    assert verdict.ok is ((down, right) == (3, 1))
    past = [ch03.PADDED.stride[0] * (n % 3) + n // 3 for n in B.offsets().tolist()] == Layout((5, 3), (1, 8)).offsets().tolist()
    assert ("only past the end" in verdict.message) is (past and not verdict.ok and min(down, right) >= 0)
    if not verdict.ok:
        bad = next(i for i in range(15) if B(i) != ch03.TRANSPOSING(i))
        assert f" your `B` names index {B(bad)} of A" in verdict.message and "offset" not in verdict.message


def test_03_8_hands_the_readers_own_layout_to_the_kernel(monkeypatch):
    pytest.importorskip("cutlass")
    from exercises.engine import kernel

    seen = []

    def judge_gemm(name, gemm, *, tile, layouts, law):
        seen.append(layouts)
        return Verdict(State.RIGHT, f"{law.message} It ran.", law.scene)

    monkeypatch.setattr(kernel, "judge_gemm", judge_gemm)

    def wrong_when_large(stored, M, K, w):
        return ch03.view_of_blocks(stored if M < 1000 else Layout(M * K), M, K, w)

    verdict = ch03.check_A_view(ch03.view_of_blocks)
    assert verdict.ok and verdict.message.endswith("nothing was copied. It ran.")
    assert [*map(str, seen[0](24, 5, 3))] == ["((8,3),3):((1,32),8)", "(5,3):(3,1)"] and seen[0](23, 5, 3)[0].size == 69
    assert ch03.check_A_view(wrong_when_large).ok
    with pytest.raises(BadAnswer, match="does not read the buffer as it was written"):
        seen[1](1024, 768, 512)
    assert ch03.check_A_view(lambda *given: Tensor(ch03.view_of_blocks(*given), 0)).ok
    assert seen[2](24, 5, 3)[0] == seen[0](24, 5, 3)[0]


def test_the_checks_load_no_dsl():
    code = "import exercises.checks.ch03, sys; print({'cutlass', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
