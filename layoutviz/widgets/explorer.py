"""`Explorer`: sliders over every extent and stride of a layout, a field for its notation, and the picture that answers."""

import traceback
from functools import wraps
from html import escape

import ipywidgets as w
import traitlets

from layoutviz.api import VIEWS, scene_of
from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import leaf_values, nest
from layoutviz.layout import CoordinateFunction, Layout
from layoutviz.modes import on_inner
from layoutviz.scene import Scene
from layoutviz.views.grid import LABELS
from layoutviz.views.slots import plain_part
from layoutviz.widgets.board import Board, add_static

SLIDER_LIMIT = 2**53
EXTENT_MAX, STRIDE_MAX = 16, 32  # the sliders' least upper ends; a larger value, once typed, widens its slider

MESSAGE_STYLE = (
    "margin:4px 12px;white-space:pre-wrap;word-break:normal;line-height:1.35;font-weight:600;"
    "color:var(--jp-content-font-color0,#1f1f1f)"
)


def _shown(callback):
    """Errors in a callback vanish in Lab: show them in the explorer. A LayoutError is an answer, anything else a fault."""

    @wraps(callback)
    def guarded(self, change):
        if self._following:
            return
        try:
            callback(self, change)
        except LayoutError as error:
            if change.owner is not self.notation:  # what was typed stays, to be mended
                self._follow()
            self._say(f"{error}\nThe picture still shows {self.layout_shown}.")
        except Exception:
            self._say(traceback.format_exc())
            raise

    return guarded


class Explorer(w.VBox):
    """A live view of one layout. `layout_shown` owns the state: sliders and notation set it, everything shown follows it.
    The sliders of a ComposedLayout are its plain part's.

    Post: `board.scene` shows `layout_shown` at all times; input that is no layout leaves both as they were and says why.

    >>> e = Explorer(Layout("(4,4):(4,1)"))
    >>> e.strides[1].value = 2
    >>> str(e.layout_shown), e.notation.value
    ('(4,4):(4,2)', '(4,4):(4,2)')
    """

    layout_shown = traitlets.Instance(CoordinateFunction)

    def __init__(self, layout: CoordinateFunction, view: str = "grid", *, label: str | None = None):
        label = label or _usual_label(view)
        self.board = Board(_scene(layout, view, label))
        self._drawn = view, label
        self._following = False
        self.notation = w.Text(value=str(layout), description="layout", continuous_update=False, layout=w.Layout(width="340px"))
        self.view = w.Dropdown(options=[(name.replace("_", " "), name) for name in VIEWS], value=view, description="view")
        self.label = w.ToggleButtons(options=LABELS, value=label, style={"button_width": "90px"})
        self.message, self.sliders = w.HTML(), w.VBox()
        super().__init__(layout_shown=layout)
        self.children = [_row(self.notation, self.view, self.label), self.sliders, self.message, self.board]
        self._build_sliders()
        self.notation.observe(self._on_notation, "value")
        self.view.observe(self._on_choice, "value")
        self.label.observe(self._on_choice, "value")

    @_shown
    def _on_notation(self, change):
        self.show(as_layout(change.new))

    @_shown
    def _on_slider(self, change):
        plain = plain_part(self.layout_shown)
        values = ([slider.value for slider in sliders] for sliders in (self.extents, self.strides))
        moved = Layout(*map(nest, values, (plain.shape, plain.stride)))
        self.show(on_inner(lambda _: moved)(self.layout_shown))  # what stands outside stays

    @_shown
    def _on_choice(self, change):
        view, label = self._drawn
        if change.owner is self.view and label == _usual_label(view):
            self._following = True  # the label follows the view, unless the reader chose another
            self.label.value = _usual_label(change.new)
            self._following = False
        self.show(self.layout_shown)

    def show(self, layout: CoordinateFunction) -> None:
        """Show another layout, in the view and with the label chosen.

        It is drawn first: one that this view cannot draw raises LayoutError and changes nothing.
        """
        scene = _scene(layout, self.view.value, self.label.value)
        self.layout_shown, self._drawn = layout, (self.view.value, self.label.value)
        self._follow()
        self.board.scene = scene
        self._say("")

    def _follow(self) -> None:
        """Make the controls show what is drawn. Their changes are then no input."""
        self._following = True
        try:
            layout = plain_part(self.layout_shown)
            self.notation.value = str(self.layout_shown)
            self.view.value, self.label.value = self._drawn
            if _profile(layout) != self._profile:
                self._build_sliders()
            for slider, value in zip(self.extents + self.strides, leaf_values(layout.shape) + leaf_values(layout.stride), strict=True):
                slider.max, slider.min = max(slider.max, value), min(slider.min, value)
                slider.value = value
        finally:
            self._following = False

    def _build_sliders(self) -> None:
        layout = plain_part(self.layout_shown)
        self._profile = _profile(layout)
        names = _leaf_names(layout.shape)
        self.extents = [_slider(f"shape {name}", 1, EXTENT_MAX, s) for name, (s, _) in zip(names, layout.leaves, strict=True)]
        self.strides = [_slider(f"stride {name}", 0, STRIDE_MAX, d) for name, (_, d) in zip(names, layout.leaves, strict=True)]
        for slider in self.extents + self.strides:
            slider.observe(self._on_slider, "value")
        self.sliders.children = [_row(*pair) for pair in zip(self.extents, self.strides, strict=True)]

    def _say(self, words: str) -> None:
        self.message.value = f'<pre role="alert" style="{MESSAGE_STYLE}">{escape(words)}</pre>' if words else ""

    def _repr_mimebundle_(self, **kwargs):
        static, _ = self.board._repr_mimebundle_()
        return add_static(super()._repr_mimebundle_(**kwargs), static["image/svg+xml"], static["text/plain"])


def _usual_label(view: str) -> str:
    return "coordinate" if view == "memory_strip" else "offset"  # a slot's offset stands above it already


def _scene(layout: CoordinateFunction, view: str, label: str) -> Scene:
    if max(abs(number) for leaf in plain_part(layout).leaves for number in leaf) > SLIDER_LIMIT:
        raise LayoutError(f"{layout} has numbers beyond 2^53, where a slider in a browser ends; draw() shows it without sliders")
    return scene_of(layout, view, label=label)


def _row(*controls: w.Widget) -> w.HBox:
    """Controls side by side, in several lines where the page is narrow."""
    return w.HBox(controls, layout=w.Layout(flex_flow="row wrap"))


def _slider(name: str, low: int, high: int, value: int) -> w.IntSlider:
    wide, named = w.Layout(width="420px"), {"description_width": "80px"}
    return w.IntSlider(value, min(low, value), max(high, value), description=name, style=named, layout=wide)


def _profile(layout: Layout):
    """The nesting alone: every leaf replaced by 0."""
    return nest([0] * len(layout.leaves), layout.shape)


def _leaf_names(shape, prefix: str = "") -> list[str]:
    """How sliders call the leaves: "0", "1", or "1.0" for the first entry of mode 1."""
    if not isinstance(shape, tuple):
        return [prefix.removesuffix(".")]
    return [name for n, part in enumerate(shape) for name in _leaf_names(part, f"{prefix}{n}.")]
