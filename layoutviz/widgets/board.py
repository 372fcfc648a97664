"""`Board`: a Scene that answers. Hover says what a cell is, a click picks it, linked cells light up together."""

import pathlib

import anywidget
import traitlets

from layoutviz.render.svg import svg
from layoutviz.render.text import text
from layoutviz.scene import Scene

_HERE = pathlib.Path(__file__).parent


class Board(anywidget.AnyWidget):
    """A live picture of a Scene. Give it another one with `board.scene = ...` and it repaints in place.

    walked: the cell, counted over all panels in the order of the scene, that a step stands at; -1 for none.
    picked: the link values (offsets, unless the scene links by something else) of the cells that are picked, in the order
    picked. A click picks one cell and drops the last; with multiple=True clicks add. Boards of one output pick together.
    Where widgets do not run, its mimebundle shows the same SVG as a static picture, and plain text.

    >>> from layoutviz.views.grid import grid
    >>> from layoutviz import Layout
    >>> Board(grid(Layout("(2,3):(3,1)"))).picked
    []
    """

    _esm = _HERE / "board.js"
    _css = _HERE / "board.css"
    svg = traitlets.Unicode().tag(sync=True)
    caption = traitlets.Unicode().tag(sync=True)
    walked = traitlets.Int(-1).tag(sync=True)
    picked = traitlets.List(traitlets.Int()).tag(
        sync=True,
        to_json=lambda values, _: [str(value) for value in values],  # as text: a number in JavaScript ends at 2^53
        from_json=lambda texts, _: [int(text) for text in texts],
    )
    multiple = traitlets.Bool(False).tag(sync=True)

    def __init__(self, scene: Scene, *, multiple: bool = False):
        self._scene = scene
        super().__init__(svg=svg(scene, live=True), caption=scene.caption, multiple=multiple)

    @property
    def scene(self) -> Scene:
        return self._scene

    @scene.setter
    def scene(self, scene: Scene) -> None:
        self._scene = scene
        with self.hold_sync():  # one message, one repaint
            self.svg, self.caption = svg(scene, live=True), scene.caption

    def _repr_mimebundle_(self, **kwargs):
        return add_static(super()._repr_mimebundle_(**kwargs), svg(self._scene), text(self._scene))


def add_static(bundle, picture: str, words: str):
    """A widget's mimebundle with an SVG and plain text beside the live view, for places where widgets do not run."""
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    return {**data, "image/svg+xml": picture, "text/plain": words}, metadata
