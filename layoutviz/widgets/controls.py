"""Controls of an explorer: one for each parameter of a view, made from the parameter's annotation.

`read` makes a value of what is given for a parameter. A control shows a value (`follow`) and reports another one that its reader asks
for (`asked`); it keeps no state of its own.
"""

import re
from collections.abc import Callable
from inspect import Parameter
from itertools import accumulate, pairwise
from typing import Literal, get_args, get_origin

import ipywidgets as w

from layoutviz.composed import ComposedLayout, Swizzle, as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import leaf_values, nest, whole_number
from layoutviz.layout import CoordinateFunction, Layout
from layoutviz.modes import on_inner
from layoutviz.notation import DEEPEST, format_tuple, parse
from layoutviz.views.kinds import Range

SLIDER_LIMIT = 2**53  # a number in a browser ends here
EXTENT_MAX, STRIDE_MAX = 16, 32  # the sliders' least upper ends; a larger value, once typed, widens its slider
SWIZZLE_ENDS = [(0, 5), (0, 7), (-7, 7)]  # of b, m and s, as in the view `swizzle`
NARROW = 24  # letters of all choices together that stand side by side as buttons

# (what makes the value, whether it was typed: then it stays to be mended if it is no answer)
Asked = Callable[[Callable[[], object], bool], None]


def read(parameter: Parameter, value):
    """The value of a view's parameter from itself or from text. LayoutError for none, and for numbers that no slider can show."""
    kind, name = _kind(parameter), parameter.name
    if isinstance(kind, tuple):
        for option in kind:
            if str(option) == str(value):
                return option
        raise LayoutError(f"{name} is one of {', '.join(map(str, kind))}, not {str(value)[:40]}")
    if isinstance(kind, Range):
        digits = isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,19}\s*", value)
        return whole_number(int(value) if digits else value, name)
    value = kind.read(value)
    if max(map(abs, kind.of(value)[1]), default=0) > SLIDER_LIMIT:
        why = "has numbers beyond 2^53, where a slider in a browser ends; draw() shows it without sliders"
        raise LayoutError(f"{format_tuple(value)} {why}")
    return value


def highest(parameter: Parameter, values: dict) -> int | None:
    """The upper end of a slider that depends on the other values; None for any other control."""
    kind = _kind(parameter)
    return kind.high(values) if isinstance(kind, Range) and callable(kind.high) else None


def control(parameter: Parameter, asked: Asked):
    """The control of a view's parameter."""
    kind = _kind(parameter)
    if isinstance(kind, tuple):
        return Choice(parameter.name, kind, asked)
    return Number(parameter.name, kind, asked) if isinstance(kind, Range) else Notation(parameter.name, kind, asked)


def _kind(parameter: Parameter):
    """The choices, the Range, or what knows the numbers in the notation."""
    kind = parameter.annotation
    if get_origin(kind) is Literal:
        return get_args(kind)
    notes = getattr(kind, "__metadata__", ())
    if notes and isinstance(notes[0], Range):
        return notes[0]
    return LayoutNumbers if kind is CoordinateFunction else TilerNumbers


class Choice:
    """One of a few: buttons, or a list where they would be too wide."""

    def __init__(self, name: str, options, asked: Asked):
        wide = sum(len(str(option)) for option in options) > NARROW
        kind, look = (w.Dropdown, {}) if wide else (w.ToggleButtons, {"style": {"button_width": "auto"}})
        self.choice = kind(options=[(str(option).replace("_", " "), option) for option in options], **look)
        self.widget = w.HBox([w.Label(name, layout=w.Layout(width="80px", justify_content="flex-end")), self.choice])
        self.choice.observe(lambda change: asked(lambda: change.new, False), "value")

    def follow(self, value, values: dict) -> None:
        self.choice.value = value


class Number:
    """A slider over whole numbers."""

    def __init__(self, name: str, ends: Range, asked: Asked):
        self.ends, self.widget = ends, _slider(name)
        self.widget.observe(lambda change: asked(lambda: change.new, False), "value")

    def follow(self, value, values: dict) -> None:
        high = self.ends.high(values) if callable(self.ends.high) else self.ends.high
        _set(self.widget, min(self.ends.low, value), max(high, value), value)
        self.widget.layout.display = "none" if high <= self.ends.low else None


class Notation:
    """A text field for a layout or a tiler, and a slider for each of its numbers."""

    def __init__(self, name: str, numbers, asked: Asked):
        self.numbers, self.asked, self.value, self.names = numbers, asked, None, []
        self.text = w.Text(description=name, continuous_update=False, layout=w.Layout(width="340px"))
        self.rows = w.VBox()
        self.widget = w.VBox([self.text, self.rows])
        self.sliders: list[w.IntSlider] = []
        self.text.observe(lambda change: self.asked(lambda: change.new, True), "value")

    def follow(self, value, values: dict) -> None:
        self.value, self.text.value = value, format_tuple(value)
        names, found, least = self.numbers.of(value)
        if names != self.names:
            self._build(names, least)
        for slider, number, (low, high) in zip(self.sliders, found, least, strict=True):
            _set(slider, min(slider.min, low, number), max(slider.max, high, number), number)

    def _build(self, names: list[str], least: list[tuple[int, int]]) -> None:
        self.names, self.sliders = names, [_slider(name, *ends) for name, ends in zip(names, least, strict=True)]
        for slider in self.sliders:
            slider.observe(self._moved, "value")
        self.rows.children = [row(*sliders) for sliders in self.numbers.rows(self.sliders)]

    def _moved(self, change) -> None:
        self.asked(lambda: self.numbers.put(self.value, [slider.value for slider in self.sliders]), False)


class LayoutNumbers:
    """The extents and strides of a layout; of a composed one, of the plain layout inside, and the b, m, s of a swizzle around it."""

    @staticmethod
    def read(value) -> CoordinateFunction:
        return as_layout(value)

    @staticmethod
    def of(layout) -> tuple[list[str], list[int], list[tuple[int, int]]]:
        """Names, numbers, and the least ends of their sliders: first all extents, then all strides, then b, m and s."""
        plain, swizzle = layout.plain, _swizzle(layout)
        leaves, count = _leaf_names(plain.shape), len(plain.leaves)
        names = [f"shape {leaf}".strip() for leaf in leaves] + [f"stride {leaf}".strip() for leaf in leaves]
        numbers = [s for s, _ in plain.leaves] + [d for _, d in plain.leaves]
        ends = [(1, EXTENT_MAX)] * count + [(0, STRIDE_MAX)] * count
        if swizzle:
            return names + ["b", "m", "s"], numbers + [swizzle.b, swizzle.m, swizzle.s], ends + SWIZZLE_ENDS
        return names, numbers, ends

    @staticmethod
    def put(layout, numbers: list[int]) -> CoordinateFunction:
        plain, swizzle = layout.plain, _swizzle(layout)
        count = len(plain.leaves)
        moved = Layout(nest(numbers[:count], plain.shape), nest(numbers[count : 2 * count], plain.shape))
        if swizzle:
            return ComposedLayout(Swizzle(*numbers[2 * count :]), layout.offset, moved)
        return on_inner(lambda _: moved)(layout)  # what stands outside stays

    @staticmethod
    def rows(sliders: list) -> list[tuple]:
        """Each extent beside its stride; the three of a swizzle, which make the number of sliders odd, last."""
        count = (len(sliders) - 3 * (len(sliders) % 2)) // 2
        pairs = list(zip(sliders[:count], sliders[count : 2 * count], strict=True))
        return pairs + [tuple(sliders[2 * count :])] * (len(sliders) % 2)


def _swizzle(layout) -> Swizzle | None:
    """The swizzle of S<b,m,s> o offset o a plain layout."""
    outer = layout.outer if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Layout) else None
    return outer if isinstance(outer, Swizzle) else None


class TilerNumbers:
    """The numbers of a tuple tiler; a layout tiler's are those of the layout."""

    @staticmethod
    def rows(sliders: list) -> list[tuple]:
        return [tuple(sliders)]

    @staticmethod
    def read(value):
        value = _read_tiler(value) if isinstance(value, str) else value
        return tuple(value) if isinstance(value, list) else value

    @staticmethod
    def of(tiler) -> tuple[list[str], list[int], list[tuple[int, int]]]:
        if isinstance(tiler, CoordinateFunction):
            return LayoutNumbers.of(tiler)
        if not all(isinstance(leaf, int) for leaf in leaf_values(tiler)):
            return [], [], []
        names = [f"tile {leaf}".strip() for leaf in _leaf_names(tiler)]
        return names, list(leaf_values(tiler)), [(1, EXTENT_MAX)] * len(names)

    @staticmethod
    def put(tiler, numbers: list[int]):
        return LayoutNumbers.put(tiler, numbers) if isinstance(tiler, CoordinateFunction) else nest(numbers, tiler)


def _read_tiler(text: str, depth: int = 0):
    """A tiler from its notation: (4,None), (4:2,(2,3)), or a layout, (4,8):(1,4)."""
    text = text.strip()
    levels = list(accumulate((char == "(") - (char == ")") for char in text))
    if any(char == ":" and level == 0 for char, level in zip(text, levels, strict=True)) or "<" in text and text[:1] != "(":
        return as_layout(text)
    if text == "None" and depth:
        return None
    if not text.startswith("(") or not text.endswith(")") or 0 in levels[:-1] or depth == DEEPEST:
        return parse(text)[0]
    commas = [n for n, (char, level) in enumerate(zip(text, levels, strict=True)) if char == "," and level == 1]
    return tuple(_read_tiler(text[a + 1 : b], depth + 1) for a, b in pairwise([0, *commas, len(text) - 1]))


def row(*controls: w.Widget) -> w.HBox:
    """Controls side by side, in several lines where the page is narrow."""
    return w.HBox(controls, layout=w.Layout(flex_flow="row wrap"))


def _slider(name: str, low: int = 0, high: int = 0) -> w.IntSlider:
    return w.IntSlider(low, low, high, description=name, style={"description_width": "80px"}, layout=w.Layout(width="420px"))


def _set(slider: w.IntSlider, low: int, high: int, value: int) -> None:
    with slider.hold_trait_notifications():
        slider.min, slider.max, slider.value = low, high, value


def _leaf_names(shape, prefix: str = "") -> list[str]:
    """How sliders call the leaves: "0", "1", or "1.0" for the first entry of mode 1."""
    if not isinstance(shape, tuple):
        return [prefix.removesuffix(".")]
    return [name for n, part in enumerate(shape) for name in _leaf_names(part, f"{prefix}{n}.")]
