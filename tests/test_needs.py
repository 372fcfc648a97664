"""What kernels that take any layout ask of their operands: sizes that fit, a slot for each element of C, what 32 bits and a grid count."""

import numpy as np
import pytest
from refusals import pair_with

from ladder import lowering
from ladder.errors import LadderError
from ladder.needs import need_modes
from ladder.rungs import RUNGS
from layoutviz import Layout

ANY_LAYOUT = "naive", "tiled", "tiled_swizzled"
WIDE = 2**24 + 8
rng = np.random.default_rng()


@pytest.mark.parametrize("name", [*ANY_LAYOUT, "tensor_core"])
@pytest.mark.parametrize("changed, words", [
    ({"B": Layout((72, 136), (136, 1))}, "B has K = 136 and A has 128; they must be the same"),
    ({"C": Layout((64, 80), (80, 1))}, "C has N = 80 and B has 72"),
    ({"C": Layout((64, 72), (64, 1))}, r"C has layout \(64,72\):\(64,1\), in which elements share a slot"),
    ({"A": Layout(8192, 1)}, r"A has layout \(8192\):\(1\)"),
    ({"A": Layout((64, 2**26), (2**26, 1)), "B": Layout((72, 2**26), (2**26, 1))}, "A spans 4294967296 slots; .* at most 2147467264"),
    ({"A": Layout((8, 8), (8, 1)), "B": Layout((WIDE, 8), (8, 1)), "C": Layout((8, WIDE), (WIDE, 1))}, r"C takes \d+ blocks along N"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(name, changed, words):
    with pytest.raises(LadderError, match=words):
        lowering.compile_gemm_for(RUNGS[name].gemm, pair_with(**changed))


@pytest.mark.parametrize("name", ANY_LAYOUT)
def test_nested_modes_are_as_large_as_their_product(name):
    nested = Layout(((8, 8), (2, 64)), ((1, 1024), (8, 16)))
    assert lowering.compile_gemm_for(RUNGS[name].gemm, pair_with(A=nested)).sass
    with pytest.raises(LadderError, match="B has K = 128 and A has 256"):
        lowering.compile_gemm_for(RUNGS[name].gemm, pair_with(A=Layout(((8, 8), (4, 64)), ((1, 2048), (8, 32)))))


def test_a_result_of_two_modes_is_refused_where_elements_share_a_slot_and_nowhere_else():
    for _ in range(2000):
        shape, stride = (tuple(map(int, rng.integers(low, 9, 2))) for low in (1, -8))
        table = np.add.outer(np.arange(shape[0]) * stride[0], np.arange(shape[1]) * stride[1])
        try:
            need_modes("C", shape, stride, "MN", is_result=True)
            refused = False
        except LadderError:
            refused = True
        assert refused == (len(np.unique(table)) < table.size), (shape, stride)
