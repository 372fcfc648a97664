"""Ours against the DSL itself on generated calls. The law decides: ours is never silently wrong, and every difference is explained."""
import warnings
from collections import Counter

import pytest
from generated import CALLS
from hypothesis import given, settings

from layoutviz import LayoutError, RaggedWarning, Tensor, algebra
from layoutviz.cute import has_dsl, in_dsl
from layoutviz.laws import check

pytestmark = pytest.mark.skipif(not has_dsl(), reason="the DSL is not installed here")
EACH = 80  # calls an operation; there are 28
LENGTHY = 10  # times as many, nightly


def ours(op, args):
    """(result, None), or (None, the error)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RaggedWarning)
        try:
            return getattr(algebra, op)(*args), None
        except LayoutError as error:
            return None, str(error)


def judge(op, args) -> str:
    """One call, put to both and judged by the law. Returns what happened, for the count; fails where ours is at fault."""
    mine, error = ours(op, args)
    if mine is not None:
        verdict = check(op, *args, result=mine)
        assert verdict, f"ours is silently wrong: {op}{args} = {mine}: {verdict}"
    said = in_dsl(op, *args)
    assert said.kind in ("answer", "refusal", "crash"), said
    if said.kind != "answer":
        return f"DSL: {said.kind}, ours: {'right' if error is None else 'refuses'}"
    if said.result is None:
        return f"DSL: no layout, ours: {'right' if error is None else 'refuses'}"
    placed = op in ("local_tile", "local_partition") or any(isinstance(arg, Tensor) for arg in args)
    if placed and not isinstance(said.result, Tensor):
        return "DSL: its offset is in a pointer"
    verdict = check(op, *args, result=said.result)
    assert verdict or verdict.note, "a difference without an explanation"
    if error is not None and verdict:
        assert "undecided" in error, f"ours refuses what is right: {op}{args} is {said.text}; ours says {error}"
        return "DSL: right, ours: undecided"
    return f"DSL: {'right' if verdict else 'wrong'}, ours: {'right' if error is None else 'refuses'}"


@pytest.mark.parametrize("op", CALLS)
def test_each_difference_is_explained_by_the_law(op, record_property):
    seen = Counter()
    nightly = settings.default.max_examples > 1000

    @settings(max_examples=EACH * (LENGTHY if nightly else 1))
    @given(CALLS[op])
    def run(args):
        seen[judge(op, args)] += 1

    run()
    record_property(op, dict(seen))
    assert seen.total() >= EACH
    assert any("DSL: right" in what for what in seen), f"the DSL was never right about {op}: it was not asked well: {seen}"
