"""`Explorer`: sliders over every extent and stride of a layout, a field for its notation, and the picture that answers."""

import traceback
from contextlib import contextmanager
from functools import wraps
from html import escape

import ipywidgets as w
import traitlets

from layoutviz.api import VIEWS, scene_of
from layoutviz.errors import LayoutError
from layoutviz.layout import Layout, leaf_values, nest
from layoutviz.views.grid import LABELS
from layoutviz.widgets.board import Board, add_static

EXTENT_MAX, STRIDE_MAX = 16, 32  # the sliders' least upper ends; a larger value, once typed, widens its slider

USUAL_LABEL = {"memory_strip": "coordinate"}  # a slot's offset stands above it already
MESSAGE_STYLE = "margin:4px 12px;white-space:pre-wrap;line-height:1.35;font-weight:600;color:var(--jp-content-font-color0,#1f1f1f)"


def _shown(callback):
    """Errors in a callback vanish in Lab: show them in the explorer. A LayoutError is an answer, anything else a fault."""

    @wraps(callback)
    def guarded(self, change):
        try:
            callback(self, change)
        except LayoutError as error:
            self._say(f"{error}\nThe picture still shows {self.layout_shown}.")
        except Exception:
            self._say(traceback.format_exc())
            raise

    return guarded


class Explorer(w.VBox):
    """A live view of one layout. `layout_shown` owns the state: sliders and notation set it, everything shown follows it.

    Post: `board.scene` shows `layout_shown` at all times; input that is no layout leaves both as they were and says why.

    >>> e = Explorer(Layout("(4,4):(4,1)"))
    >>> e.strides[1].value = 2
    >>> str(e.layout_shown), e.notation.value
    ('(4,4):(4,2)', '(4,4):(4,2)')
    """

    layout_shown = traitlets.Instance(Layout)

    def __init__(self, layout: Layout, view: str = "grid", *, label: str | None = None):
        self._syncing = False
        self.notation = w.Text(value=str(layout), description="layout", continuous_update=False, layout=w.Layout(width="340px"))
        self.view = w.Dropdown(options=[(name.replace("_", " "), name) for name in VIEWS], value=view, description="view")
        self.label = w.ToggleButtons(options=LABELS, value=label or USUAL_LABEL.get(view, "offset"), style={"button_width": "90px"})
        self.message = w.HTML()
        self.sliders = w.VBox()
        self.board = Board(scene_of(layout, view, label=self.label.value))
        super().__init__(layout_shown=layout)
        self.children = [_row(self.notation, self.view, self.label), self.sliders, self.message, self.board]
        self._build_sliders()
        self.notation.observe(self._on_notation, "value")
        self.view.observe(self._on_choice, "value")
        self.label.observe(self._on_choice, "value")

    @_shown
    def _on_notation(self, change):
        if not self._syncing:
            self.show(Layout(change.new))

    @_shown
    def _on_slider(self, change):
        if not self._syncing:
            shape, stride = self.layout_shown.shape, self.layout_shown.stride
            values = ([slider.value for slider in sliders] for sliders in (self.extents, self.strides))
            self.show(Layout(*map(nest, values, (shape, stride))))

    @_shown
    def _on_choice(self, change):
        self.show(self.layout_shown)

    def show(self, layout: Layout) -> None:
        """Show another layout. It is drawn first: one that this view cannot draw raises LayoutError and changes nothing."""
        scene = scene_of(layout, self.view.value, label=self.label.value)
        rebuild = _profile(layout) != self._profile
        with self._sync():
            self.layout_shown = layout
            self.notation.value = str(layout)
            if rebuild:
                self._build_sliders()
            for slider, value in zip(self.extents + self.strides, self._leaf_values(), strict=True):
                slider.max, slider.min = max(slider.max, value), min(slider.min, value)
                slider.value = value
        self.board.scene = scene
        self._say("")

    def _build_sliders(self) -> None:
        layout = self.layout_shown
        self._profile = _profile(layout)
        names = _leaf_names(layout.shape)
        self.extents = [_slider(f"shape {name}", 1, EXTENT_MAX, s) for name, (s, _) in zip(names, layout.leaves(), strict=True)]
        self.strides = [_slider(f"stride {name}", 0, STRIDE_MAX, d) for name, (_, d) in zip(names, layout.leaves(), strict=True)]
        for slider in self.extents + self.strides:
            slider.observe(self._on_slider, "value")
        self.sliders.children = [_row(*pair) for pair in zip(self.extents, self.strides, strict=True)]

    def _leaf_values(self) -> tuple[int, ...]:
        return leaf_values(self.layout_shown.shape) + leaf_values(self.layout_shown.stride)

    @contextmanager
    def _sync(self):
        """While the controls are made to follow the state, their changes are no input."""
        self._syncing = True
        try:
            yield
        finally:
            self._syncing = False

    def _say(self, words: str) -> None:
        self.message.value = f'<pre role="alert" style="{MESSAGE_STYLE}">{escape(words)}</pre>' if words else ""

    def _repr_mimebundle_(self, **kwargs):
        static, _ = self.board._repr_mimebundle_()
        return add_static(super()._repr_mimebundle_(**kwargs), static["image/svg+xml"], static["text/plain"])


def _row(*controls: w.Widget) -> w.HBox:
    """Controls side by side, in several lines where the page is narrow."""
    return w.HBox(controls, layout=w.Layout(flex_flow="row wrap"))


def _slider(name: str, low: int, high: int, value: int) -> w.IntSlider:
    wide, named = w.Layout(width="420px"), {"description_width": "80px"}
    return w.IntSlider(value, min(low, value), max(high, value), description=name, style=named, layout=wide)


def _profile(layout: Layout):
    """The nesting alone: every leaf replaced by 0."""
    return nest([0] * len(layout.leaves()), layout.shape)


def _leaf_names(shape, prefix: str = "") -> list[str]:
    """How sliders call the leaves: "0", "1", or "1.0" for the first entry of mode 1."""
    if not isinstance(shape, tuple):
        return [prefix.removesuffix(".")]
    return [name for n, part in enumerate(shape) for name in _leaf_names(part, f"{prefix}{n}.")]
