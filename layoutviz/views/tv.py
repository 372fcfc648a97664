"""`tv`: which thread holds which element of a tile, and as which of its values."""

from dataclasses import dataclass, replace
from math import prod
from typing import Annotated, Literal, get_args

import numpy as np

from layoutviz.algebra import zipped_divide
from layoutviz.color import thread_category
from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import compact_stride, whole_number
from layoutviz.layout import SEARCH_LIMIT, CoordinateFunction, Layout
from layoutviz.modes import tiler_text
from layoutviz.notation import format_tuple
from layoutviz.scene import Border, Panel, Scene
from layoutviz.views.grid import grid
from layoutviz.views.kinds import AnyLayout, Range, Tiler
from layoutviz.views.operands import apart
from layoutviz.views.slots import counted

TVLabel = Literal["thread value", "thread", "value", "index", "coordinate", "offset"]
WARP = 32  # threads, and values, in one table; a grid with more columns has room for the thread alone
NARROW = 24  # up to so many columns in all, grid and table stand side by side


def _last(mode: int):
    """What tells the last thread (mode 0) or value (mode 1) from the values of a view's parameters."""
    return lambda values: Layout(values["tv"].shape)[mode].size - 1


def _last_step(values: dict) -> int:
    return prod(_rounds(values["tile"], values["tiler"])[2]) - 1


def tv(
    tile: AnyLayout,
    tv: AnyLayout,
    label: TVLabel = "thread value",
    thread: Annotated[int, Range(-1, _last(0))] = -1,
    value: Annotated[int, Range(-1, _last(1))] = -1,
    tiler: Tiler = None,
    step: Annotated[int, Range(0, _last_step)] = 0,
    *,
    title: str | None = None,
    caption: str | None = None,
) -> Scene:
    """The elements of a tile by the thread that holds them, over or beside the table of threads (rows) and values (columns).

    `tv` takes (thread, value) to the (colexicographic) index in the tile, or in a block of extents `tiler` that goes over the tile round
    by round: then the table is that of round `step`. `thread` and `value`, where not -1, are lit. Elements that several slots hold are
    marked "alias" and labelled with the lowest slot, or the lit one; those that nobody holds "hole"; slots past the tile's edge "outside".
    LayoutError for a tv that is not of two modes or leaves its tile, for more than 2^20 elements or slots, and for no such thread or value.

    >>> scene = tv((16, 8), "((4,8),(2,2)):((16,1),(8,64))")
    >>> scene.panels[0][0].labels[:3], scene.panels[0][1].labels[:4]
    (['T0 V0', 'T1 V0', 'T2 V0'], ['(0,0)', '(8,0)', '(0,4)', '(8,4)'])
    """
    tile, held = as_layout(tile), as_layout(tv)
    if label not in get_args(TVLabel):
        raise LayoutError(f'cells can be labelled with {", ".join(get_args(TVLabel))}, not "{label}"')
    slots = _slots(tile, held, tiler)
    lit = np.ones(len(slots.index), bool)
    for what, chosen, column in (("thread", thread, slots.thread), ("value", value, slots.value)):
        if not -1 <= whole_number(chosen, what) <= column.max():
            raise LayoutError(f"there is no {what} {chosen}: {held} has {what}s 0 to {column.max()} (-1 lights none)")
        lit &= (column == chosen) | (chosen == -1)
    rounds = prod(slots.rounds)
    if not 0 <= whole_number(step, "step") < rounds:
        raise LayoutError(f"there is no round {step}: the tile takes {counted(rounds, 'round')}, counted from 0")
    basis = grid(tile, title=title, caption="")  # its caption then says what is not drawn
    panels = [_tile_panel(panel, slots, lit, label) for panel in basis.panels[0]]
    table, note = _table_panel(tile, held, slots, lit, label, max(thread, 0), max(value, 0), step)
    text = caption if caption is not None else _describe(tile, slots, thread, value)
    beside = len(panels) == 1 and panels[0].cols + table.cols <= NARROW
    rows = ((*panels, table),) if beside else (tuple(panels), (table,))
    color = apart((*panels, table), "thread", thread_category)
    return Scene(rows, " ".join(filter(None, (text, basis.caption, note))), "lit", "index", color)


@dataclass(frozen=True, eq=False)
class _Slots:
    """What each (thread, value) of each round holds, threads fastest: an index of the tile, or -1 outside. block: extents of a round."""

    thread: np.ndarray
    value: np.ndarray
    round: np.ndarray
    index: np.ndarray
    block: list[int]
    rounds: list[int]
    size: int  # elements in the tile

    def holders(self, lit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each element the slot that is shown (a lit one, else the lowest), the last one, and how many there are. -1: none."""
        inside = np.flatnonzero(self.index >= 0)
        shown, last = np.full((2, self.size), -1)
        last[self.index[inside]] = inside
        for part in (inside, inside[lit[inside]]):  # the last one written stays
            shown[self.index[part[::-1]]] = part[::-1]
        return shown, last, np.bincount(self.index[inside], minlength=self.size)

    def name(self, slot: int) -> str:
        return f"T{self.thread[slot]} V{self.value[slot]}"


def _slots(tile: CoordinateFunction, tv: CoordinateFunction, tiler) -> _Slots:
    if tv.rank != 2:
        raise LayoutError(f"{tv} has {counted(tv.rank, 'mode')}; a TV layout has two, (thread, value)")
    extents, block, rounds = _rounds(tile, tiler)
    if max(tile.size, tv.size * prod(rounds), prod(block) * prod(rounds)) > SEARCH_LIMIT:
        raise LayoutError(f"{tile} and {tv} have more elements, or slots, than the {SEARCH_LIMIT:,} that are drawn")
    threads, places = Layout(tv.shape)[0].size, tv.offsets()
    if (wrong := np.flatnonzero((places < 0) | (places >= prod(block)))).size:
        value, thread = divmod(int(wrong[0]), threads)
        where = f"({','.join(map(str, block))}), which has indices 0 to {prod(block) - 1}"
        raise LayoutError(f"{tv} leaves its tile: thread {thread} has as value {value} the index {places[wrong[0]]} of {where}")
    turn, slot = np.divmod(np.arange(tv.size * prod(rounds)), tv.size)
    whole = Layout(tuple(t * r for t, r in zip(block, rounds, strict=True)))  # the tile, its edges made whole rounds
    index = zipped_divide(whole, tuple(block)).at(places[slot] + prod(block) * turn)
    coordinates = np.array([Layout(whole.shape, tuple(int(m == n) for n in range(whole.rank))).at(index) for m in range(whole.rank)])
    outside = (coordinates >= np.array(extents)[:, None]).any(0)
    index = np.where(outside, -1, np.array(compact_stride(tuple(extents))) @ coordinates)
    return _Slots(slot % threads, slot // threads, turn, index, block, rounds, tile.size)


def _rounds(tile: CoordinateFunction, tiler) -> tuple[list[int], list[int], list[int]]:
    """For each mode of the tile its extent, the extent of the block of one round, and how many rounds go over it."""
    extents = [mode.size for mode in Layout(tile.shape).modes()]
    block = Layout(tuple(extents)) if tiler is None else as_layout(tiler)
    if block != Layout(block.shape) or block.rank != len(extents):
        wanted = f"with one extent for each of the tile's {counted(len(extents), 'mode')}"
        raise LayoutError(f"a tiler of rounds is a shape, {wanted}, not {tiler_text(tiler)}")
    sizes = [mode.size for mode in block]
    return extents, sizes, [-(-n // t) for n, t in zip(extents, sizes, strict=True)]


def _tile_panel(panel: Panel, slots: _Slots, lit: np.ndarray, label: str) -> Panel:
    index = panel.keys["index"]
    slot, last, count = (column[index] for column in slots.holders(lit))
    held = slot >= 0
    thread, value, turn = (np.where(held, column[slot], -1) for column in (slots.thread, slots.value, slots.round))
    marks = {c: "alias" if count[c] else "hole" for c in np.flatnonzero(count != 1).tolist()}
    rows = list(zip(thread.tolist(), value.tolist(), turn.tolist(), count.tolist(), last.tolist(), strict=True))
    several = prod(slots.rounds) > 1
    tips = []
    for tip, (t, v, r, n, end) in zip(panel.tips, rows, strict=True):
        tip = f"{tip} · thread {t} · value {v}" if n else f"{tip} · held by no thread"
        tips.append(tip + f" · round {r}" * (several and n > 0) + (f" · held {n} times, last as {slots.name(end)}" if n > 1 else ""))
    if label in ("index", "offset"):
        labels = list(map(str, panel.keys[label].tolist()))
    elif label == "coordinate":
        labels = [tip.split(" · ")[1].removeprefix("coordinate ") for tip in panel.tips]
    elif label == "value":
        labels = [f"V{v}" if n else "" for _, v, _, n, _ in rows]
    elif label == "thread" or panel.cols > WARP:
        labels = [f"T{t}" if n else "" for t, _, _, n, _ in rows]
    else:
        labels = [f"T{t} V{v}" + f"+{n - 1}" * (n > 1) if n else "" for t, v, _, n, _ in rows]
    shown = held & lit[slot]
    borders = panel.borders if not several else _round_borders(panel, slots)
    borders += _around(panel, shown & ~lit.all())
    keys = {"thread": thread, "value": value, "round": turn, "lit": np.where(shown, thread, -1)}
    return replace(panel, labels=labels, tips=tips, keys=panel.keys | keys, marks=marks, borders=borders, label_kind=label.split()[0])


def _around(panel: Panel, shown: np.ndarray) -> tuple[Border, ...]:
    """A border around each lit cell: that it is lit must not be said by colour alone."""
    return tuple(Border(1, panel.row[c], panel.col[c], 1, 1) for c in np.flatnonzero(shown).tolist())


def _round_borders(panel: Panel, slots: _Slots) -> tuple[Border, ...]:
    high, wide = slots.block[:2] if len(slots.block) > 1 else (1, slots.block[0])
    corners = [(r, c) for r in range(0, panel.rows, high) for c in range(0, panel.cols, wide)]
    return tuple(Border(2, r, c, min(high, panel.rows - r), min(wide, panel.cols - c)) for r, c in corners)


def _table_panel(tile, tv, slots: _Slots, lit: np.ndarray, label: str, thread: int, value: int, step: int) -> tuple[Panel, str]:
    """The warp and the values around those chosen, in one round; and what is not drawn, in words."""
    ends = [mode.size for mode in Layout(tv.shape).modes()]
    first = [chosen // WARP * WARP for chosen in (thread, value)]
    threads, values = (np.arange(low, min(low + WARP, end)) for low, end in zip(first, ends, strict=True))
    slot = (threads[:, None] + values * ends[0] + step * tv.size).ravel()
    index, rows, cols = slots.index[slot], len(threads), len(values)
    offset = np.where(index >= 0, tile.at(np.maximum(index, 0)), -1)
    places = [format_tuple(tile.coordinate(i)) if i >= 0 else "" for i in index.tolist()]
    kind = label if label in ("index", "offset") else "coordinate"
    texts = {"coordinate": places, "index": index.tolist(), "offset": offset.tolist()}[kind]
    holds = {"thread": slots.thread[slot], "value": slots.value[slot], "round": slots.round[slot]}
    keys = {"index": np.where(index >= 0, index, -2 - slot), "offset": offset, "lit": np.where(lit[slot], holds["thread"], -1)}
    whose = [f"thread {t} · value {v} · " for t in threads.tolist() for v in values.tolist()]
    numbers = zip(whose, index.tolist(), places, offset.tolist(), strict=True)
    panel = Panel(
        rows, cols, np.repeat(np.arange(rows), cols).tolist(), np.tile(np.arange(cols), rows).tolist(),
        labels=[str(text) if place else "" for text, place in zip(texts, places, strict=True)],
        tips=[w + (f"index {i} · coordinate {c} · offset {o}" if c else "outside the tile") for w, i, c, o in numbers],
        keys=holds | keys,
        title=f"TV = {tv}" + (f"   round {step}" if prod(slots.rounds) > 1 else ""),
        row_axis="t", col_axis="v", row_labels=[f"T{t}" for t in threads], col_labels=[f"V{v}" for v in values],
        label_kind=kind, marks=dict.fromkeys(np.flatnonzero(index < 0).tolist(), "outside"),
    )  # fmt: skip
    cut = zip(("threads", "values"), (threads, values), ends, strict=True)
    notes = [f"{name} {part[0]} to {part[-1]} of {end:,}" for name, part, end in cut if len(part) < end]
    panel = replace(panel, borders=_around(panel, lit[slot] & ~lit.all() & (index >= 0)))
    return panel, f"In the table: {', '.join(notes)}." if notes else ""


def _describe(tile, slots: _Slots, thread: int, value: int) -> str:
    threads, values, outside = int(slots.thread.max()) + 1, int(slots.value.max()) + 1, int((slots.index < 0).sum())
    chosen = ", ".join(f"{name} {n}" for name, n in (("thread", thread), ("value", value)) if n >= 0)
    facts = [f"Colour: the thread{', in eight colours that repeat' * (threads > 8)}{f'; {chosen} lit' if chosen else ''}."]
    turns = f" in each of {prod(slots.rounds):,} rounds" if prod(slots.rounds) > 1 else ""
    facts.append(f"{counted(threads, 'thread')} with {counted(values, 'value')} each{turns}.")
    counts = slots.holders(np.ones(len(slots.index), bool))[2]
    shared, none = np.flatnonzero(counts > 1), int((counts == 0).sum())
    if shared.size:
        first = int(shared[0])
        names = " and ".join(map(slots.name, np.flatnonzero(slots.index == first)[:2].tolist()))
        example = f"{format_tuple(tile.coordinate(first))} by {names}"
        facts.append(f"{counted(len(shared), 'element')} held more than once (aliasing): {example}.")
    if none:
        facts.append(f"{counted(none, 'element')} held by no thread.")
    if not shared.size and not none:
        facts.append("Every element is held once.")
    if outside:
        facts.append(f"{counted(outside, 'slot')} of {len(slots.index):,} outside the tile.")
    return " ".join(facts)
