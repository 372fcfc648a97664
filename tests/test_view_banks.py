"""The banks view: what each thread reads, the words on each bank and the ways of each phase, counted here thread by thread."""

import re
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
from generated import any_kind, layouts
from hypothesis import given
from hypothesis import strategies as st

from layoutviz import Layout, LayoutError
from layoutviz.color import BLANK, thread_fill
from layoutviz.composed import as_layout
from layoutviz.render.svg import svg
from layoutviz.views.banks import banks


@st.composite
def accesses(draw, negative=True):
    """(layout, threads, bits, vector): vectors of one element in any layout, or longer ones along contiguous rows."""
    if draw(st.booleans()):
        layout = draw(any_kind(layouts(negative=negative)).filter(lambda each: each.size > 1))
        counts = draw(st.integers(1, 70)), draw(st.integers(1, 3))
        room, steps = layout.size - 1, []
        for count in counts:
            steps.append(draw(st.integers(0, min(3, room // max(count - 1, 1)))))
            room -= (count - 1) * steps[-1]
        return layout, Layout(counts, tuple(steps)), draw(st.sampled_from([8, 16, 32, 64])), 1
    vector, rows, tail = draw(st.sampled_from([2, 4, 8])), draw(st.integers(1, 40)), draw(st.integers(1, 3))
    bits = draw(st.sampled_from([bits for bits in (4, 8, 16, 32, 64) if 8 <= bits * vector <= 128]))
    swizzle = draw(st.sampled_from(["", f"S<1,{vector.bit_length() - 1},2> o 0 o ", f"S<2,{vector.bit_length() - 1},3> o 16 o "]))
    pitch = vector * (tail + draw(st.integers(0, 3)))
    return as_layout(f"{swizzle}({rows},{vector * tail}):({pitch},1)"), Layout((rows, vector * tail), (1, rows)), bits, vector


def phases_by_hand(layout, threads, bits, vector):
    """For each phase, in order of warp, instruction and thread: [(thread, its indices, the words that its bytes lie in)]."""
    count = threads.shape[0]
    lanes = min(32, 128 // max(vector * bits // 8, 4))
    found = []
    for warp in range(0, count, 32):
        for first_value in range(0, threads.shape[1], vector):
            for first in range(warp, min(warp + 32, count), lanes):
                phase = []
                for thread in range(first, min(first + lanes, warp + 32, count)):
                    indices = [threads(thread, value) for value in range(first_value, first_value + vector)]
                    spans = [(layout(i) * bits // 8, (layout(i) * bits + bits - 1) // 8) for i in indices]
                    phase.append((thread, indices, sorted({byte // 4 for low, high in spans for byte in range(low, high + 1)})))
                found.append(phase)
    return found


def ways_by_hand(phase) -> int:
    return max(Counter(word % 32 for word in {word for _, _, words in phase for word in words}).values())


def named(readers) -> str:
    return str(readers[0]) + (f"+{len(readers) - 1}" if len(readers) > 1 else "") if readers else ""


@given(accesses(), st.integers(0, 9))
def test_each_panel_shows_what_the_phase_reads(access, number):
    layout, threads, bits, vector = access
    scene, phases = banks(*access, number), phases_by_hand(*access)
    *tiles, passes, strip = scene.all_panels()
    number = min(number, len(phases) - 1)
    now = phases[number]
    for panel in tiles:
        for cell, index in enumerate(panel.keys["index"].tolist()):
            readers = [thread for thread, indices, _ in now if index in indices]
            assert panel.labels[cell] == named(readers)
            assert panel.keys["thread"][cell] == (readers[0] if readers else -1)
            assert panel.keys["offset"][cell] == layout(index)
            assert panel.keys["bank"][cell] == layout(index) * bits // 8 // 4 % 32
            assert f" · bank {panel.keys['bank'][cell]} · " in panel.tips[cell]
            assert panel.tips[cell].endswith("not read now") == (not readers)
    words = {word for _, _, touched in now for word in touched}
    assert sorted(passes.keys["word"].tolist()) == sorted(words)
    assert passes.rows == ways_by_hand(now) and passes.cols == 32
    heights = Counter(word % 32 for word in words)
    for cell, word in enumerate(passes.keys["word"].tolist()):
        readers = [thread for thread, _, touched in now if word in touched]
        assert passes.col[cell] == passes.keys["bank"][cell] == word % 32
        assert passes.labels[cell] == named(readers) and passes.keys["thread"][cell] == readers[0]
        index, offset = (int(passes.keys[name][cell]) for name in ("index", "offset"))
        assert layout(index) == offset and offset * bits // 32 <= word <= (offset * bits + bits - 1) // 32
        assert any(index in indices for _, indices, _ in now)
    places = set(zip(passes.row, passes.col, strict=True))
    assert places == {(row, bank) for bank, height in heights.items() for row in range(height)} and len(places) == len(words)
    assert strip.labels == [str(ways_by_hand(phase)) for phase in phases]
    assert [(b.row, b.col) for b in strip.borders] == [divmod(number, 32)]


@given(accesses(), st.integers(0, 40))
def test_the_caption_counts_ways_wavefronts_and_conflicts(access, number):
    caption, phases = banks(*access, number).caption, phases_by_hand(*access)
    ways = [ways_by_hand(phase) for phase in phases]
    shown = min(number, len(phases) - 1)
    assert (f"There is no phase {number}; shown is the last of {len(phases)}." in caption) == (number >= len(phases))
    assert re.search(rf"Phase {shown} \(warp \d+, instruction \d+, threads? [\d to]+\): {ways[shown]}-way\.", caption)
    found = re.search(r"In all (\d+) wavefronts?, (\d+) at best \(one a phase\): (\d+) conflicts?\.", caption).groups()
    assert tuple(map(int, found)) == (sum(ways), len(ways), sum(ways) - len(ways))


@given(accesses())
def test_cells_that_light_up_together_are_one_word_or_one_element(access):
    layout, _, bits, _ = access
    scene = banks(*access)
    *tiles, passes, strip = scene.all_panels()
    width = max(bits, 32)  # in bits, what is one thing
    for panel in tiles:
        assert panel.keys[scene.link_by].tolist() == [layout(i) * bits // width for i in panel.keys["index"].tolist()]
    assert passes.keys[scene.link_by].tolist() == [word * 32 // width for word in passes.keys["word"].tolist()]
    links = strip.keys[scene.link_by].tolist()
    others = {key for panel in (*tiles, passes) for key in panel.keys[scene.link_by].tolist()}
    assert len(set(links)) == len(links) and not others & set(links)
    assert all(column.dtype == np.int64 for panel in scene.all_panels() for column in panel.keys.values())


def test_the_svg_of_a_column_read_with_and_without_a_swizzle():
    for layout, ways in (("(8,64):(64,1)", 8), ("S<3,3,3> o 0 o (8,64):(64,1)", 1), ("(8,64):(72,1)", 1)):
        scene = banks(layout, "(8,8):(1,8)", 16, 8)
        root = ET.fromstring(svg(scene))
        groups = [group for group in root.iter() if group.get("class") == "cells"]
        assert [len(group) for group in groups] == [8 * 9, 32, 1], "the columns that are read, and one on"
        heights = Counter(re.match(r"bank (\d+) ", rect[0].text)[1] for rect in groups[1])
        assert max(heights.values()) == ways and len(heights) == 32 // ways
        coloured = [rect for rect in groups[0] if rect.get("fill") != BLANK]
        assert len(coloured) == 64  # 8 threads of 8 elements; the rest is blank
        assert {rect.get("data-k") for rect in groups[1]} == {rect.get("data-k") for rect in coloured}


def test_threads_that_often_collide_have_different_hues():
    for step in (1, 2, 4, 8, 16):
        assert all(thread_fill(t) != thread_fill(t + step) for t in range(1024))
    assert thread_fill(-1) == BLANK


def test_one_word_for_all_threads_is_no_conflict():
    tile, passes, strip = banks("(4,4):(4,1)", "32:0", 32).all_panels()
    assert (passes.labels, strip.labels, tile.labels[0]) == (["0+31"], ["1"], "0+31")
    assert passes.tips[0] == "bank 0 · word 0 · bytes 0 to 3 · threads 0, 1, 2, 3 and 28 more"
    assert "(3+1: thread 3 and one more)" in banks("(4,4):(4,1)", "32:0", 32).caption


def test_what_is_not_drawn_is_said():
    scene = banks("(512,4):(1,512)", "512:4", 32, phase=2)  # threads 64 to 95 at rows 256 to 380
    assert "Drawn of the tile: rows 0 to 125 of 512. 32 elements read now outside that." in scene.caption
    many = banks("(32,300):(1,32)", "(32,300):(1,32)", 32, phase=280)
    assert len(many.all_panels()[-1].labels) == 256 and "Of 300 phases the strip has the first 256." in many.caption
    assert many.all_panels()[-1].borders == ()


@pytest.mark.parametrize(
    "args,words",
    [
        (("(8,8):(8,1)", "8:1", 16, 1, -1), "there is no phase -1: they are numbered from 0"),
        (("(8,8):(8,1)", "8:1", 16, 1, 0.5), "phase"),
        (("(8,8):(8,1)", "8:1", 12), "an element has"),
        (("(8,8):(8,1)", "8:1", 16, 3), "no instruction moves 3 x 16 bits"),
        (("(2,8):(8,1)", "32:1", 16), "thread 16, value 0 has index 16"),
        (("(8,8):(8,1)", "(8,8):(8,1)", 16, 8), "cannot move values 0 to 7"),
        (("(8,8):(8,1)", "(2,2,2)", 16), "an access has two"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(args, words):
    with pytest.raises(LayoutError, match=re.escape(words)):
        banks(*args)
