"""The swizzle view: banks, offsets and twins against arithmetic by hand; its caption, titles, and what it refuses."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from generated import any_kind, layouts
from hypothesis import given
from hypothesis import strategies as st

from layoutviz import Layout, LayoutError, Swizzle, recast_layout
from layoutviz.color import categories
from layoutviz.render.svg import svg
from layoutviz.views.swizzle import bank_of, swizzle


def swizzled_by_hand(offset: int, b: int, m: int, s: int) -> int:
    """Bit by bit, from the definition."""
    read, changed = m + max(s, 0), m + max(-s, 0)
    return offset ^ sum((offset >> read + bit & 1) << changed + bit for bit in range(b))


PARAMETERS = st.integers(0, 5).flatmap(
    lambda b: st.tuples(st.just(b), st.integers(0, 7), st.integers(b, 7).flatmap(lambda s: st.sampled_from([s, -s])))
)
BITS = st.sampled_from([4, 8, 16, 32, 64])


@given(any_kind(layouts(negative=True)), PARAMETERS, BITS, st.sampled_from(["bank", "offset", "index", "coordinate"]))
def test_every_cell_says_its_offset_and_bank_before_and_after(layout, bms, bits, label):
    scene = swizzle(layout, *bms, bits, label)
    half = len(scene.all_panels()) // 2
    for n, panel in enumerate(scene.all_panels()):
        for cell, index in enumerate(panel.keys["index"].tolist()):
            offset = layout(index) if n < half else swizzled_by_hand(layout(index), *bms)
            bank = offset * bits // 8 // 4 % 32
            assert (panel.keys["offset"][cell], panel.keys["bank"][cell]) == (offset, bank)
            assert f"index {index} ·" in panel.tips[cell] and panel.tips[cell].endswith(f" · offset {offset} · bank {bank}")
            if label != "coordinate":
                assert panel.labels[cell] == str({"bank": bank, "offset": offset, "index": index}[label])
        assert panel.label_kind == label
        assert panel.keys["bank"].dtype == np.int64


@given(any_kind(layouts()), PARAMETERS, BITS)
def test_the_caption_counts_the_banks_of_the_first_column_and_row(layout, bms, bits):
    scene = swizzle(layout, *bms, bits)
    panels = scene.all_panels()
    pair = panels[0], panels[len(panels) // 2]
    for name, axis in (("column", "col"), ("row", "row")):
        banks = [{int(p.keys["bank"][c]) for c, place in enumerate(getattr(p, axis)) if place == 0} for p in pair]
        elements = sum(place == 0 for place in getattr(pair[0], axis))
        found = re.search(rf"{name} 0 \((\d+) elements\) lies in (\d+) banks? before, (\d+) after", scene.caption, re.I)
        assert (tuple(map(int, found.groups())) if found else None) == ((elements, *map(len, banks)) if elements > 1 else None)
    before = [layout(i) for i in range(layout.size)]
    after = [swizzled_by_hand(o, *bms) for o in before]
    moved = (min(before), max(before)) != (min(after), max(after))
    said = f"Offsets ran from {min(before)} to {max(before)}; swizzled, from {min(after)} to {max(after)}."
    assert (said in scene.caption) == moved == ("Offsets ran" in scene.caption)


def test_a_swizzle_that_only_lowers_the_lowest_offset_is_told():
    assert "Offsets ran from -1 to 0; swizzled, from -2 to 0." in swizzle("2:-1", 1, 0, 1).caption
    assert "Offsets" not in swizzle().caption


def test_the_svg_links_an_element_with_itself_by_index_and_fills_it_by_sixteen_bytes():
    rects = [rect for rect in ET.fromstring(svg(swizzle("(5,(3,2)):(24,(8,1))", 2, 0, 3, 32))).iter() if rect.get("data-k")]
    assert len(rects) == 2 * 30
    layout = Layout("(5,(3,2)):(24,(8,1))")
    for half, offset_of in ((rects[:30], layout), (rects[30:], lambda i: swizzled_by_hand(layout(i), 2, 0, 3))):
        assert sorted(int(rect.get("data-k")) for rect in half) == list(range(30))
        for rect in half:
            bank = offset_of(int(rect.get("data-k"))) % 32
            assert rect.get("fill") == categories(bank // 4)
            assert rect[0].text.endswith(f"bank {bank}")


def test_the_textbook_tile_has_every_column_in_eight_sixteen_byte_columns():
    before, after = swizzle().all_panels()
    groups = [(panel.keys["bank"] // 4).reshape(8, 64) for panel in (before, after)]
    assert all(len(set(column)) == 1 for column in groups[0].T.tolist())
    assert all(len(set(column)) == 8 for column in groups[1].T.tolist())
    assert len(set(swizzle().fills()[0])) == 8


@pytest.mark.parametrize("bits,bms,on_bytes", [(16, (3, 3, 3), "S<3,4,3>"), (32, (3, 2, 3), "S<3,4,3>"), (8, (2, 4, 3), "S<2,4,3>"),
                                               (4, (3, 5, 3), "S<3,4,3>"), (4, (3, 0, 3), "none")])  # fmt: skip
def test_titles_say_the_layout_the_width_and_the_swizzle_on_bytes(bits, bms, on_bytes):
    before, after = swizzle("(8,64):(64,1)", *bms, bits).all_panels()
    assert before.title == f"before: (8,64):(64,1)   in {bits}-bit elements"
    assert after.title == f"after: {Swizzle(*bms)} o 0 o (8,64):(64,1)   (on bytes {on_bytes})"
    if on_bytes != "none":
        assert str(recast_layout(bits, 8, on_bytes)) == str(Swizzle(*bms))


def test_far_offsets_have_the_right_bank():
    far = 2**61 + 37
    assert bank_of(np.array([far]), 64).tolist() == [far * 8 // 4 % 32]
    assert swizzle("1152921504606846977 + (4,2):(1,4)", 0, 0, 0, 64).panels[0][0].keys["bank"][0] == (2**60 + 1) * 2 % 32


def test_a_large_layout_is_windowed_and_says_so():
    scene = swizzle("(4096,4096):(4096,1)")
    assert [len(panel.row) for panel in scene.all_panels()] == [128 * 128] * 2
    assert "Drawn: rows 0 to 127 of 4,096, columns 0 to 127 of 4,096." in scene.caption


@pytest.mark.parametrize(
    "args,words",
    [
        (("(8,8):(8,1)", 3, 0, 2), "overlap"),
        (("(8,8):(8,1)", -1), "neither can be negative"),
        (("(8,8):(8,1)", 3, 3, 3, 12), "an element has 4, 8, 16, 32, 64, 128 bits, not 12"),
        (("(8,8):(8,1)", 3, 3, 3, (16,)), "an element has"),
        (("(8,8):(8,1)", 3, 3, 3, 16.5), "bits"),
        (("(8,8):(8,1)", 3, 3, 3, 16, "banks"), 'not "banks"'),
        (("S<3,3,3>",), "alone has no shape"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(args, words):
    with pytest.raises(LayoutError, match=re.escape(words)):
        swizzle(*args)
