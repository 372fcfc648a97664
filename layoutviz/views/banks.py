"""`banks`: an access to shared memory, phase by phase: who reads what, and which of the 32 banks have to answer more than once."""

from collections import defaultdict
from typing import Annotated

import numpy as np

from layoutviz.composed import as_layout
from layoutviz.layout import CoordinateFunction
from layoutviz.memory import BANKS, WORD, Phase, bank_conflicts
from layoutviz.scene import Border, Panel, Scene
from layoutviz.views.access import Readers, Vector, access_scene, chosen, group_of, label_of, names, readers_of, tile_panels
from layoutviz.views.kinds import AnyLayout, Bits, Range
from layoutviz.views.slots import counted
from layoutviz.views.swizzle import bank_of


def _last_phase(values: dict) -> int:
    return len(bank_conflicts(*(values[name] for name in ("layout", "threads", "bits", "vector"))).phases) - 1


def banks(
    layout: AnyLayout,
    threads: AnyLayout = "32:1",
    bits: Bits = 16,
    vector: Vector = 1,
    phase: Annotated[int, Range(0, _last_phase)] = 0,
) -> Scene:
    """One phase of an access to shared memory: its elements in the tile; the words it asks of each bank; the ways of every phase.

    `layout`, `threads`, `bits` and `vector` are those of `memory.bank_conflicts`, and so are the errors. In the second panel a column
    is a bank, and row n is what the banks serve in pass n: its height is the phase's ways. Labels are threads: "3+1" is thread 3 and
    one more. Elements in one word light up together with the word, or one element of 32 bits or more with its words. A phase past
    the last stands for the last, and the caption says so; LayoutError for a negative one.

    >>> tile, passes, phases = banks("(32,32):(32,1)", "32:1", bits=32).all_panels()
    >>> passes.rows, set(passes.keys["bank"].tolist()), phases.labels, tile.labels[:3]
    (32, {0}, ['32'], ['0', '', ''])
    """
    layout, threads = as_layout(layout), as_layout(threads)
    found = bank_conflicts(layout, threads, bits, vector)
    number, note = chosen(phase, len(found.phases), "phase")
    now = found.phases[number]
    readers = readers_of(threads, now, vector)
    per_word = max(WORD * 8 // bits, 1)  # elements
    link = "word" if per_word > 1 else "offset"

    def keys_of(offset: np.ndarray) -> dict[str, np.ndarray]:
        return {"bank": bank_of(offset, bits)} | ({"word": offset // per_word} if per_word > 1 else {})

    tiles = tile_panels(layout, threads, readers, f"{layout}: read in phase {number}", keys_of)
    passes = _passes(layout, readers, now, number, bits)
    caption = (
        f"{note}Phase {number} ({group_of(now)}): {now.ways}-way. "
        f"In all {counted(found.wavefronts, 'wavefront')}, {found.ideal:,} at best (one a phase): {counted(found.conflicts, 'conflict')}."
    )
    return access_scene(layout, readers, tiles, passes, [each.ways for each in found.phases], ("phase", "way"), number, link, caption)


def _passes(layout: CoordinateFunction, readers: Readers, now: Phase, number: int, bits: int) -> Panel:
    """The distinct words of a phase, each in the column of its bank, stacked in the order of their first threads."""
    words, row, depth = defaultdict(list), [], [0] * BANKS
    for thread, touched in zip(now.threads, now.words, strict=True):
        for word in touched:
            words[word].append(thread)
    for word in words:
        row.append(depth[word % BANKS])
        depth[word % BANKS] += 1
    wide = max(bits // (WORD * 8), 1)  # words of an element
    first = {}  # the element that a word shows: the one that it is a part of, or the first read of those in it
    for index, offset in zip(readers, layout.at(list(readers)).tolist(), strict=True):
        first.setdefault(offset // max(WORD * 8 // bits, 1), (index, offset))
    element, word = np.array([first[word // wide] for word in words]), np.array(list(words))
    return Panel(
        now.ways, BANKS, row, (word % BANKS).tolist(), labels=list(map(label_of, words.values())),
        tips=[f"bank {w % BANKS} · word {w} · bytes {w * WORD} to {w * WORD + WORD - 1} · {names(who)}" for w, who in words.items()],
        keys={"bank": word % BANKS, "word": word, "index": element[:, 0], "offset": element[:, 1],
              "thread": np.array([who[0] for who in words.values()])},
        title=f"the words that phase {number} asks of each bank: {now.ways}-way",
        row_labels=[f"pass {n + 1}" for n in range(now.ways)], col_labels=list(map(str, range(BANKS))), label_kind="thread",
        borders=(Border(0, 0, 0, now.ways, BANKS),),
    )  # fmt: skip
