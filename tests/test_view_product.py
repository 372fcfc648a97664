"""`product` as a picture: each cell is an element of a copy of the block, moved as the tiler says; one colour a copy in all panels."""

import re
import time
from collections import Counter
from typing import get_args

import pytest
from generated import PRODUCT, compact_layouts, spread_layouts
from hypothesis import given
from hypothesis import strategies as st
from test_pictures import by_hand, read_back
from test_view_composition import columns, panels_of

from layoutviz import ComposedLayout, Layout, LayoutError, Tensor, algebra
from layoutviz.layout import TABLE_LIMIT
from layoutviz.render.svg import svg
from layoutviz.views.product import Form, product

FORMS = st.sampled_from(get_args(Form))
FLAT = st.tuples(st.integers(1, 5), st.integers(1, 5), st.permutations([0, 1])).map(
    lambda t: Layout((t[0], t[1]), (1, t[0]) if t[2][0] else (t[1], 1))
)


def moved(block, element, shift):
    """The offset of an element of the block whose innermost offset is moved by a shift."""
    if isinstance(block, Tensor):
        return block.offset + moved(block.layout, element, shift)
    if isinstance(block, ComposedLayout):
        return by_hand(block.outer, block.offset + moved(block.inner, element, shift))
    return by_hand(block, element) + shift


def drawn(block, tiler, form):
    """The picture; None where the algebra says that there is no product, and the picture says the same."""
    try:
        getattr(algebra, f"{form}_product")(block, tiler)
    except LayoutError as error:
        with pytest.raises(LayoutError, match=f"no {form} product of .*{re.escape(str(error))}"):
            product(block, tiler, form)
        return None
    return product(block, tiler, form)


@given(PRODUCT, FORMS)
def test_each_cell_is_an_element_of_a_copy(pair, form):
    block, tiler = pair
    if (scene := drawn(block, tiler, form)) is None:
        return
    rest = algebra.complement(block.plain, block.size * tiler.cosize)
    cells = columns(panels_of(scene, f"{form} product ="), "index", "offset", "tile", "element")
    for _, offset, tile, element in cells:
        assert offset == moved(block, element, by_hand(rest, by_hand(tiler, tile)))
    seen = Counter((tile, element) for _, _, tile, element in cells)
    assert set(seen.values()) == {1}
    assert len(seen) == block.size * tiler.size or "product: Drawn:" in scene.caption
    own = columns(panels_of(scene, "block ="), "index", "offset", "tile", "element")
    assert all((o, t, e) == (by_hand(block, i), 0, i) for i, o, t, e in own)
    assert all((o, t) == (by_hand(tiler, i), i) for i, o, t in columns(panels_of(scene, "tiler ="), "index", "offset", "tile"))
    assert f" {tiler.size} tile{'s' * (tiler.size > 1)} of {block.size} element" in scene.caption


@given(PRODUCT, FORMS)
def test_the_result_is_the_algebras_and_tiles_keep_their_colour(pair, form):
    if (scene := drawn(*pair, form)) is None:
        return
    result = getattr(algebra, f"{form}_product")(*pair)
    panels = panels_of(scene, f"{form} product = {result}")
    assert all(o == by_hand(result, i) for i, o in columns(panels, "index", "offset"))
    assert scene.color_by == scene.link_by == "tile"
    seen = {}
    for panel, fills in zip(scene.all_panels(), scene.fills(), strict=True):
        for tile, fill in zip(panel.keys["tile"].tolist(), fills, strict=True):
            assert seen.setdefault(tile, fill) == fill


@given(FLAT, FLAT)
def test_blocked_stands_side_by_side_and_raked_interleaves(block, tiler):
    (R, C), (down, right) = block.shape, tiler.shape
    for form in ("blocked", "raked"):
        (panel,) = panels_of(product(block, tiler, form), form)
        boxes = {(b.row, b.col, b.rows, b.cols) for b in panel.borders}
        if form == "blocked":
            frames = {(r * R, c * C, R, C) for r in range(down) for c in range(right)}
        else:
            frames = {(r * down, c * right, down, right) for r in range(R) for c in range(C)}
        assert boxes == (frames if frames and next(iter(frames))[2:] != (1, 1) else set())
        for row, col, tile, element in zip(panel.row, panel.col, panel.keys["tile"], panel.keys["element"], strict=True):
            (r, c), (y, x) = (element % R, element // R), (tile % down, tile // down)
            assert (row, col) == ((y * R + r, x * C + c) if form == "blocked" else (r * down + y, c * right + x))


def test_blocked_tiles_that_touch_differ_in_colour():
    for down in range(1, 10):
        scene = product("(2,2):(1,2)", Layout((down, 5)))
        (panel,), fills = panels_of(scene, "blocked"), scene.fills()[-1]
        cells = zip(panel.row, panel.col, panel.keys["tile"].tolist(), fills, strict=True)
        at = {(row, col): (tile, fill) for row, col, tile, fill in cells}
        for (r, c), (tile, fill) in at.items():
            for near in ((r + 1, c), (r, c + 1)):
                assert near not in at or (at[near][0] == tile) == (at[near][1] == fill)


@given(st.tuples(spread_layouts(12), compact_layouts(6)), FORMS)
def test_the_svg_carries_offsets_tiles_and_tips(pair, form):
    block, tiler = pair
    if (scene := drawn(block, tiler, form)) is None:
        return
    result = getattr(algebra, f"{form}_product")(block, tiler)
    cells, labels = read_back(svg(scene))
    assert sorted(int(labels[at]) for at in cells) == sorted(
        [by_hand(block, i) for i in range(block.size)] + [by_hand(tiler, i) for i in range(tiler.size)]
        + [o for _, o in columns(panels_of(scene, f"{form} product = {result}"), "index", "offset")]
    )  # fmt: skip
    for tile, tip in cells.values():
        assert f" · tile {tile}" in tip
    whole = [tip for _, tip in cells.values() if " · element " in tip]
    assert len(whole) == len(cells) - tiler.size


def test_the_borders_of_logical_products_frame_each_copy():
    (panel,) = panels_of(product("((2,2),3):((1,4),8)", "(3,2):(2,1)", "logical"), "logical")
    assert {(b.row, b.col, b.rows, b.cols) for b in panel.borders} == {(0, c, 12, 1) for c in range(6)}
    scene = product("(2,5):(5,1)", "(3,4):(1,3)", "raked")
    assert "one element of the block, in all tiles" in scene.caption
    assert "one element of the block, in all tiles" not in product("(2,5):(5,1)", "(3,4):(1,3)").caption


def test_a_shape_is_a_layout_where_the_algebra_takes_it_for_one():
    assert product("(2,2):(1,2)", (2, 3)).all_panels()[1].title == "tiler = (2,3):(1,2)"
    assert product("(2,2):(1,2)", "(2,3)", "raked").all_panels()[1].title == "tiler = (2,3):(1,2)"
    for form in ("logical", "zipped", "tiled", "flat"):
        with pytest.raises(LayoutError, match="mode by mode"):
            product("(2,2):(1,2)", (2, 3), form)


@pytest.mark.parametrize(
    "args, words",
    [
        (("(2,2):(1,1)", "2:1"), "no complement"),
        (("(2,2):(1,-4)", "2:1"), "negative"),
        (("4:1", "S<1,0,1> o 0 o 4:1"), "plain"),
        (("4:1", Tensor("4:1", 3), "logical"), "plain"),
        (("4:1", "2:1", "naked"), "logical, zipped"),
        (("4:1", "2:1", "blocked", "thread"), "labelled"),
        ((f"{TABLE_LIMIT}:{TABLE_LIMIT}", f"{2**40}:{2**22}"), "2\\^62"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_words(args, words):
    with pytest.raises(LayoutError, match=words):
        product(*args)


def test_large_products_are_windows_and_do_not_hang():
    started = time.perf_counter()
    scene = product("(64,64):(64,1)", "(64,64):(64,1)")
    assert "product: Drawn: rows 0 to 127 of 4,096, columns 0 to 127 of 4,096" in scene.caption
    (panel,) = panels_of(scene, "blocked")
    assert {(b.rows, b.cols) for b in panel.borders} == {(64, 64)} and len(panel.borders) == 4
    assert time.perf_counter() - started < 5
