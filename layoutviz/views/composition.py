"""`composition`: A, B and A o B, with each place in A in one colour, wherever it shows up."""

from dataclasses import replace

import numpy as np

from layoutviz import algebra
from layoutviz.color import BLANK, Color, ramp
from layoutviz.composed import ComposedLayout, as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import nest
from layoutviz.layout import SEARCH_LIMIT, CoordinateFunction, Layout
from layoutviz.modes import on_inner
from layoutviz.scene import Panel, Scene
from layoutviz.views.kinds import AnyLayout, Label
from layoutviz.views.operands import in_rows, keyed_grid, one_layout, window_notes
from layoutviz.views.slots import counted

NUMBERED = 256  # cells of A that have room for index and offset


def composition(a: AnyLayout, b: AnyLayout, label: Label = "offset") -> Scene:
    """A, B and A o B; key "place" is the index into A that a cell stands for: A's own index, and B(i) in B and in A o B.

    Places past A's size, where A's last mode goes on, are marked "outside". Where no layout is A o B, the function A(B(i)) is drawn in
    B's shape, and beside it the nearest layout with its wrong cells marked; the caption says what fails. LayoutError where there is
    nothing to draw: B reaches below 0, or nobody can decide.

    >>> a, b, ab = composition("(4,3):(3,1)", "(2,3):(2,4)").all_panels()
    >>> ab.title, ab.labels, ab.keys["place"].tolist()
    ('A o B = (2,3):(6,1)', ['0', '1', '2', '6', '7', '8'], [0, 4, 8, 2, 6, 10])
    """
    a, b = as_layout(a), one_layout(b, "B")
    result, true, why = _composed(a, b)
    results = {"A(B(i)), no layout": true, f"the nearest layout, {result}": result} if why else {f"A o B = {result}": result}

    def through_b(index):
        return {"place": b.at(index)}

    in_a = keyed_grid(a, label, f"A = {a}", lambda index: {"place": index})
    if label == "offset" and a.size <= NUMBERED:  # what B gives are indices into A: on paper they must be found there
        in_a = [replace(panel, labels=[f"{i}→{o}" for i, o in zip(panel.keys["index"], panel.labels, strict=True)]) for panel in in_a]
    others = [keyed_grid(layout, label, title, through_b) for title, layout in {f"B = {b}": b, **results}.items()]
    others = [[_marked(panel, panel.keys["place"] >= a.size, "outside") for panel in group] for group in others]
    if why:
        others[-1] = [_marked(panel, true.at(panel.keys["index"]) != panel.keys["offset"], "wrong") for panel in others[-1]]
    named = " (left of the arrow)" if "→" in in_a[0].labels[0] else ""
    facts = f"Colour: the place in A, the index that B gives{named}; A o B is what A has there. Places that B leaves out have no colour."
    caption = " ".join(filter(None, (why, facts, _reach(a, b), *window_notes({"A": a, "B": b}))))
    return Scene(in_rows(in_a, sum(others, [])), caption, color_by="place", link_by="place", color=_color(in_a, others[0], b))


def _composed(a: CoordinateFunction, b: CoordinateFunction) -> tuple[CoordinateFunction, CoordinateFunction, str]:
    """A o B, or the nearest layout; the function i -> A(B(i)); and why the first is not the second, or ""."""
    try:
        result = algebra.composition(a, b)
        return result, result, ""
    except LayoutError as error:
        if not isinstance(b, Layout) or b.offset_range[0] < 0 or b.size > SEARCH_LIMIT:
            raise
        nearest, true = _nearest(a, b), ComposedLayout(a, 0, b)
        if not (wrong := int((nearest.offsets() != true.offsets()).sum())):
            raise
        told = f"There is no A o B: {error}. The nearest layout is wrong (crossed) at {wrong:,} of {counted(b.size, 'coordinate')}."
        return nearest, true, told


@on_inner
def _nearest(a: Layout, b: Layout) -> Layout:
    """The layout that the algebra's error names: each leaf of B composed alone, or, where one cannot be, A's values at unit coordinates."""
    try:
        parts = [algebra.composition(a, Layout(*leaf)) for leaf in b.leaves]
    except LayoutError:
        return Layout(b.shape, nest([a(stride) if extent > 1 else 0 for extent, stride in b.leaves], b.shape))
    return Layout(nest([part.shape for part in parts], b.shape), nest([part.stride for part in parts], b.shape))


def _marked(panel: Panel, where: np.ndarray, mark: str) -> Panel:
    return replace(panel, marks={**panel.marks, **dict.fromkeys(np.flatnonzero(where).tolist(), mark)})


def _reach(a: CoordinateFunction, b: CoordinateFunction) -> str:
    """How much of A the cells of B stand for, and how many go past its end."""
    if b.size > SEARCH_LIMIT:
        return ""
    places = b.offsets()
    words = f"B's {counted(b.size, 'cell')} reach{'es' * (b.size == 1)} {np.unique(places[places < a.size]).size:,} of A's {a.size:,}."
    if past := int((places >= a.size).sum()):
        goes = "goes" if past == 1 else "go"
        words += f" {counted(past, 'cell')} (hatched) {goes} past A's last index {a.size - 1:,}, where A's last mode goes on."
    return words


def _color(in_a: list[Panel], in_b: list[Panel], b: CoordinateFunction) -> Color:
    """A ramp over the places that B reaches; the others stay pale, as far as that can be told."""
    drawn = np.concatenate([panel.keys["place"] for panel in in_b])
    low, high = int(drawn.min()), int(drawn.max())
    shade = ramp(low - (high - low) // 3 - 1, high)  # the palest shades are too near to "left out"
    own = np.concatenate([panel.keys["place"] for panel in in_a])
    left_out = set(own[~np.isin(own, b.offsets())].tolist()) if b.size <= SEARCH_LIMIT else ()
    return lambda place: BLANK if place in left_out else shade(place)
