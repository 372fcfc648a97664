"""`complement` as a picture: which copy of A covers each slot, by adding up by hand; holes and slots beyond the cotarget, counted."""

import re
import time

import pytest
from generated import CALLS
from hypothesis import given
from test_pictures import by_hand, read_back, strokes
from test_view_composition import columns, panels_of

from layoutviz import Layout, LayoutError, algebra
from layoutviz.color import BLANK, INKS, contrast
from layoutviz.render.svg import svg
from layoutviz.views.complement import complement
from layoutviz.views.memory_strip import SLOTS


def covered(a, rest):
    """For each slot, the (element, copy) pairs that add up to it."""
    slots = {}
    for j in range(rest.size):
        for i in range(a.size):
            slots.setdefault(by_hand(a, i) + by_hand(rest, j), []).append((i, j))
    return slots


def number(pattern, caption):
    found = re.search(pattern, caption)
    return int(found[1].replace(",", "")) if found else 0


@given(CALLS["complement"])
def test_each_slot_shows_the_copy_that_covers_it(call):
    a, cotarget = call
    try:
        rest = algebra.complement(a, cotarget)
    except LayoutError as error:
        with pytest.raises(LayoutError) as raised:
            complement(a, cotarget)
        assert str(raised.value) == str(error)
        return
    scene, slots = complement(a, cotarget), covered(a, rest)
    (strip,) = panels_of(scene, "A + R")
    last = max(max(slots), cotarget - 1)
    assert strip.keys["offset"].tolist() == list(range(min(last + 1, SLOTS)))
    assert [r * strip.cols + c for r, c in zip(strip.row, strip.col, strict=True)] == strip.keys["offset"].tolist()
    for slot, element, tile in columns([strip], "offset", "element", "tile"):
        assert slots.get(slot, [(-1, -1)]) == [(element, tile)]
        mark = "outside" if slot >= cotarget else None if slot in slots else "hole"
        assert strip.marks.get(slot) == mark
        label = f"{by_hand(a, element)}+{by_hand(rest, tile)}" if slot in slots else ""
        assert strip.labels[slot] == label and (not label or sum(map(int, label.split("+"))) == slot)
    once = sum(len(slots.get(slot, ())) == 1 for slot in range(cotarget))
    assert scene.caption.count(f"A + R cover {once:,} of {cotarget:,} slot") == 1
    assert number(r"([\d,]+) holes? stay", scene.caption) == cotarget - sum(slot < cotarget for slot in slots)
    assert number(r"([\d,]+) slots? beyond", scene.caption) == sum(slot >= cotarget for slot in slots)
    assert ("leave no hole" in scene.caption) == all(slot in slots for slot in range(cotarget))
    assert ("Drawn: slots" in scene.caption) == (last >= SLOTS)
    own = columns(panels_of(scene, "A ="), "index", "offset", "tile", "element")
    assert all((o, t, e) == (by_hand(a, i), 0, i) for i, o, t, e in own)
    assert all((o, t) == (by_hand(rest, i), i) for i, o, t in columns(panels_of(scene, "R ="), "index", "offset", "tile"))
    assert scene.color_by == scene.link_by == "tile"


@given(CALLS["complement"])
def test_a_copy_has_one_colour_everywhere_and_every_label_can_be_read(call):
    try:
        scene = complement(*call)
    except LayoutError:
        return
    seen = {}
    for panel, fills in zip(scene.all_panels(), scene.fills(), strict=True):
        for tile, fill in zip(panel.keys["tile"].tolist(), fills, strict=True):
            assert seen.setdefault(tile, fill) == fill
            assert contrast(fill, INKS[panel.label_kind]) >= 4.5


def test_the_svg_carries_the_sums_the_copies_and_the_marks():
    cells, labels = read_back(text := svg(complement("(2,2):(1,5)", 26)))
    slots = {at: (tile, tip) for at, (tile, tip) in cells.items() if tip.startswith("offset ")}
    assert len(slots) == 29
    for at, (tile, tip) in slots.items():
        slot = int(tip.split()[1])
        if tile < 0:
            assert at not in labels and tip == f"offset {slot} · in no tile" + " · beyond the cotarget" * (slot >= 26)
        else:
            x, y = map(int, labels[at].split("+"))
            assert x + y == slot and y == by_hand(algebra.complement("(2,2):(1,5)", 26), tile) and x in (0, 1, 5, 6)
            assert tip.startswith(f"offset {slot} = {x} + {y} · tile {tile} · element {[0, 1, 5, 6].index(x)}")
            assert tip.endswith("beyond the cotarget") == (slot >= 26)
    assert strokes(text, "hole") == 5 and strokes(text, "outside") == 5 * 3
    assert text.count(f'fill="{BLANK}"') == 8


def test_slots_after_the_last_copy_are_holes_too():
    strip = complement("(2,2):(1,5)", 10).all_panels()[-1]
    assert strip.marks == {4: "hole", 9: "hole"} and strip.labels[9] == ""


def test_labels_follow_the_choice():
    nested = ["(0,0),0", "(0,0),1", "(1,0),0", "(1,0),1"]
    shown = {"offset": ["0+0", "0+1", "2+0", "2+1"], "index": ["0,0", "0,1", "1,0", "1,1"], "coordinate": nested}
    for label, labels in shown.items():
        strip = complement("(2,1):(2,0)", 4, label).all_panels()[-1]
        assert (strip.labels, strip.label_kind) == (labels, label)


def test_long_strips_fold_so_that_their_labels_fit():
    assert [complement("4:2", n).all_panels()[-1].cols for n in (8, 24, 25)] == [8, 24, 16]
    assert complement("(4,(2,3)):(2,(1,16))", 96, "coordinate").all_panels()[-1].cols == 8
    assert complement("(2,(2,2)):(1,(2,4))", 16, "coordinate").all_panels()[-1].cols == 8


def test_slots_side_by_side_in_two_tiles_differ_in_colour():
    scene = complement("4:9", 36)
    fills, tiles = scene.fills()[-1], scene.all_panels()[-1].keys["tile"].tolist()
    assert tiles[8:10] == [8, 0]
    assert all(fills[slot] != fills[slot + 1] for slot in range(35) if tiles[slot] != tiles[slot + 1])


def test_once_is_counted_not_believed(monkeypatch):
    monkeypatch.setattr(algebra, "complement", lambda a, cotarget: Layout("2:1"))
    assert "A + R cover 2 of 3 slots once" in complement("2:1", 3).caption


def test_many_slots_are_a_window_that_is_counted_whole():
    started = time.perf_counter()
    scene = complement("(64,64):(1,129)", 64 * 129)
    assert "A + R cover 8,192 of 8,256 slots once; 64 holes stay. Drawn: slots 0 to 1023 of 8,256." in scene.caption
    assert len(scene.all_panels()[-1].labels) == SLOTS
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    "args, words",
    [
        (("(4,4):(1,2)", 24), "no complement"),
        (("(2,2):(0,1)", 24), "filter_zeros"),
        (("4:-1", 24), "negative"),
        (("S<1,0,1> o 0 o 4:1", 24), "plain"),
        (("4:1", 0), "cotarget of 0"),
        (("4:1", (4, 6)), "one whole number"),
        (("4:1", "24"), "not a whole number"),
        (("4:1", 2**21), "2,097,152 elements together"),
        ((f"2:{2**50}", 24), "elements together"),
        (("4:1", 24, "bank"), "labelled"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_words(args, words):
    with pytest.raises(LayoutError, match=words):
        complement(*args)
