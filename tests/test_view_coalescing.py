"""The coalescing view: which bytes a request moves, who reads them, and what is wasted, counted here byte by byte."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_pictures import strokes
from test_view_banks import accesses, named

from layoutviz import LayoutError
from layoutviz.color import BLANK
from layoutviz.render.svg import svg
from layoutviz.views.coalescing import coalescing


def requests_by_hand(layout, threads, bits, vector):
    """For each request: {offset: its threads}, and the bytes read."""
    found = []
    for warp in range(0, threads.shape[0], 32):
        for first in range(0, threads.shape[1], vector):
            readers, touched = {}, set()
            for thread in range(warp, min(warp + 32, threads.shape[0])):
                for value in range(first, first + vector):
                    offset = layout(threads(thread, value))
                    if thread not in readers.setdefault(offset, []):
                        readers[offset].append(thread)
                    touched |= set(range(offset * bits // 8, (offset * bits + bits - 1) // 8 + 1))
            found.append((readers, touched))
    return found


@given(accesses(), st.integers(0, 9))
def test_each_sector_shows_slot_by_slot_who_reads_it(access, number):
    layout, threads, bits, vector = access
    scene, requests = coalescing(*access, number), requests_by_hand(*access)
    *tiles, moved, strip = scene.all_panels()
    number = min(number, len(requests) - 1)
    readers, touched = requests[number]
    sectors = sorted({byte // 32 for byte in touched})
    slots = 256 // bits
    assert (moved.rows, moved.cols, len(moved.row)) == (len(sectors), slots, len(sectors) * slots)
    assert moved.row_labels == [f"sector {sector}" for sector in sectors]
    for cell, (row, col) in enumerate(zip(moved.row, moved.col, strict=True)):
        offset = sectors[row] * slots + col
        who = readers.get(offset, [])
        assert (moved.keys["offset"][cell], moved.keys["sector"][cell]) == (offset, sectors[row])
        assert moved.labels[cell] == named(who) and moved.keys["thread"][cell] == (who[0] if who else -1)
        assert (moved.marks.get(cell) == "hole") == (not who)
        index = int(moved.keys["index"][cell])
        assert layout(index) == offset if who else index == -1
        assert moved.tips[cell].startswith(f"offset {offset} · byte {offset * bits // 8} · sector {sectors[row]} · ")
    for panel in tiles:
        for cell, index in enumerate(panel.keys["index"].tolist()):
            who = [t for t in readers.get(layout(index), []) if index in _indices(threads, t, number, vector)]
            assert panel.labels[cell] == named(who)
            assert panel.keys["sector"][cell] == layout(index) * bits // 256
    assert strip.labels == [str(len({byte // 32 for byte in each})) for _, each in requests]
    lines = [sector // 4 for sector in sectors]
    assert [(b.row, b.rows) for b in moved.borders] == [(lines.index(line), lines.count(line)) for line in sorted(set(lines))]
    assert scene.link_by == "offset" and all(c.dtype == np.int64 for p in scene.all_panels() for c in p.keys.values())
    assert not set(strip.keys["offset"].tolist()) & {key for p in (*tiles, moved) for key in p.keys["offset"].tolist()}


def _indices(threads, thread, number, vector):
    """What a thread reads in the instruction of a request: requests run over the instructions of warp 0, then of warp 1, ..."""
    first = number % (threads.shape[1] // vector) * vector
    return [threads(thread, value) for value in range(first, first + vector)]


@given(accesses(), st.integers(0, 9))
def test_the_caption_counts_sectors_lines_and_efficiency(access, number):
    caption, requests = coalescing(*access, number).caption, requests_by_hand(*access)
    shown = min(number, len(requests) - 1)
    touched = requests[shown][1]
    sectors, lines = ({byte // unit for byte in touched} for unit in (32, 128))
    moves = r"(\d+) sectors? in (\d+) lines?, (\d+) at best .*?; (\d+) of (\d+) bytes moved are used, ([\d.]+)%"
    found = re.search(rf"Request {shown} \(.*?\): {moves}", caption).groups()
    assert tuple(map(int, found[:5])) == (len(sectors), len(lines), -(-len(touched) // 32), len(touched), 32 * len(sectors))
    assert float(found[5]) == pytest.approx(100 * len(touched) / (32 * len(sectors)), rel=5e-3)
    moved = sum(len({byte // 32 for byte in each}) for _, each in requests)
    asked = sum(len(each) for _, each in requests)
    assert re.search(rf"In all {moved} sectors? for {len(requests)} requests?, \d+ at best: {asked} of {32 * moved} bytes", caption)
    assert (f"There is no request {number}; shown is the last of {len(requests)}." in caption) == (number >= len(requests))


@pytest.mark.parametrize("threads,rows,holes", [("32:32", 4, 0), ("32:1", 32, 224), ("(32):(0)", 1, 7)])
def test_the_svg_of_a_row_a_column_and_a_broadcast(threads, rows, holes):
    drawn = svg(coalescing("(32,32):(32,1)", threads, 32))
    root = ET.fromstring(drawn)
    tile, moved, _ = (group for group in root.iter() if group.get("class") == "cells")
    assert len(moved) == rows * 8
    assert sum("moved, not read" in rect[0].text for rect in moved) == sum(rect.get("fill") == BLANK for rect in moved) == holes
    assert strokes(drawn, "hole") == holes
    read = {rect.get("data-k"): rect.get("fill") for rect in moved if rect.get("fill") != BLANK}
    assert read == {rect.get("data-k"): rect.get("fill") for rect in tile if rect.get("fill") != BLANK}


def test_threads_that_share_a_slot_by_different_coordinates_are_all_named():
    tile, moved, _ = coalescing("(4,3):(1,0)", "(4,3):(1,4)", 32, request=0).all_panels()
    assert moved.labels[:5] == ["0", "1", "2", "3", ""]  # one column of the tile
    tile, moved, _ = coalescing("(4,3):(1,0)", "12:1", 32).all_panels()
    assert moved.labels[:5] == ["0+2", "1+2", "2+2", "3+2", ""] and moved.tips[1].endswith("index 1 · threads 1, 5, 9")
    assert tile.labels == ["0", "4", "8", "1", "5", "9", "2", "6", "10", "3", "7", "11"]


def test_what_is_not_drawn_is_said():
    scene = coalescing("(512,4):(1,512)", "512:4", 32, request=2)
    assert "Drawn of the tile: rows 0 to 125 of 512. 32 elements read now outside that." in scene.caption


@pytest.mark.parametrize(
    "args,words",
    [
        (("(8,8):(8,1)", "8:1", 32, 1, -1), "there is no request -1: they are numbered from 0"),
        (("(8,8):(8,1)", "8:1", 4, 1), "no instruction moves 1 x 4 bits"),
        (("(2,8):(8,1)", "32:1"), "thread 16, value 0 has index 16"),
        (("1 + (8,8):(8,1)", "(8,2):(1,8)", 32, 2), "1 is no multiple of 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(args, words):
    with pytest.raises(LayoutError, match=re.escape(words)):
        coalescing(*args)
