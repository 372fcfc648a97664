"""`Explorer`: any view, live: a control for each of its parameters, the picture that answers, and a string that restores it all."""

import traceback
from collections import Counter
from contextlib import suppress
from html import escape
from inspect import Parameter, signature
from itertools import accumulate

import ipywidgets as w
import traitlets

from layoutviz.api import VIEWS
from layoutviz.errors import LayoutError
from layoutviz.notation import format_tuple
from layoutviz.widgets.board import Board, add_static
from layoutviz.widgets.controls import control, highest, read, row

MESSAGE_STYLE = (
    "margin:4px 12px;white-space:pre-wrap;word-break:normal;line-height:1.35;font-weight:600;"
    "color:var(--jp-content-font-color0,#1f1f1f)"
)


class Explorer(w.VBox):
    """A live view. `values`, the value of each parameter, and `view_shown` own the state; everything shown follows them.

    state: all of it as one string, `view=grid; layout=(4,4):(4,1)`, which `explore` and the field at the foot take back.
    The view can be changed for any that needs nothing more than what is there; a step walks the index and picks its cell.
    Post: `board.scene` shows `values` at all times; input that is no answer leaves both as they were and says why.

    >>> e = Explorer("grid", {"layout": "(4,4):(4,1)"})
    >>> e.controls["layout"].sliders[3].value = 2
    >>> str(e.values["layout"]), e.controls["layout"].text.value, e.state
    ('(4,4):(4,2)', '(4,4):(4,2)', 'view=grid; layout=(4,4):(4,2)')
    """

    state = traitlets.Unicode()

    def __init__(self, view: str, values: dict):
        self._following, self.values, self.view_shown, self.controls = False, {}, None, {}
        self._left: dict[str, dict] = {}  # the values of each view when it was left
        self.at = None  # the index that a step stands at
        self.view = w.Dropdown(description="view")
        look = {"tooltip": "walk the index", "layout": w.Layout(width="auto")}
        self.back, self.step = w.Button(description="◀", **look), w.Button(description="step ▶", **look)
        self.field = w.Text(description="state", continuous_update=False, layout=w.Layout(width="96%"))
        # with room for two lines, so that a refusal does not push the picture down
        self.message, self.panel = w.HTML(layout=w.Layout(min_height="44px")), w.VBox()
        values = _complete(view, values)
        self.board = Board(VIEWS[view](**values))
        super().__init__()
        self.children = [row(self.view, self.back, self.step), self.panel, self.message, self.board, self.field]
        self._take(view, values)
        self.view.observe(lambda change: self._ask(lambda: self.show(change.new, self._kept(change.new)), "the view"), "value")
        self.field.observe(lambda change: self._ask(lambda: self.show(*read_state(change.new)), "the state", typed=True), "value")
        self.back.on_click(lambda _: self._ask(lambda: self.walk(-1), "the view"))
        self.step.on_click(lambda _: self._ask(lambda: self.walk(1), "the view"))

    def show(self, view: str, values: dict) -> None:
        """Show a view with these values; parameters that it has and `values` lacks keep their default.

        It is drawn first: what cannot be drawn raises LayoutError and changes nothing.
        """
        values = _complete(view, values)
        scene = VIEWS[view](**values)
        self._say("")
        if view != self.view_shown or scene.link_by != self.board.scene.link_by:
            self.at, self.board.picked = None, []
        if self._stands():  # the step stays at its index, wherever that is now
            cell, *link = _places(scene).get(self.at, (-1,))
            self.board.picked, self.board.walked = link, cell
        else:
            self.at, self.board.walked = None, -1
        self.board.scene = scene
        self._take(view, values)

    def walk(self, by: int) -> None:
        """Pick the cell whose index comes `by` after the one picked last; the first one after the end, or where none is picked."""
        places = _places(self.board.scene)
        if not places:
            raise LayoutError(f"the cells of {self.view_shown} have no index to walk")
        order, picked = sorted(places), self.board.picked[-1:]
        if not self._stands():  # the reader has picked another cell
            self.at = next((index for index in order if [places[index][1]] == picked), None)
        self.at = order[0] if self.at is None else order[(order.index(self.at) + by) % len(order)]
        self.board.walked, link = places[self.at]
        self.board.picked = [link]

    def _stands(self) -> bool:
        """Whether a step stands at an index that is still the one picked."""
        return self.at is not None and [_places(self.board.scene).get(self.at, (-1, None))[1]] == self.board.picked

    def _kept(self, view: str) -> dict:
        """What another view was left with, and the values that it can take over: not those that are only this view's usual ones."""
        usual = {p.name: p.default for p in parameters(self.view_shown)}
        kept = dict(self._left.get(view, {}))
        for p in parameters(view):
            if p.name in self.values and self.values[p.name] != usual[p.name]:
                with suppress(LayoutError):
                    kept[p.name] = read(p, self.values[p.name])
        return kept

    def _take(self, view: str, values: dict) -> None:
        self._left[view] = values
        self.view_shown, self.values = view, values
        self._follow()

    def _follow(self) -> None:
        """Make the controls show what is drawn. Their changes are then no input."""
        self._following = True
        try:
            if list(self.controls) != list(self.values) or self.view.value != self.view_shown:
                self._build()
            for name, each in self.controls.items():
                each.follow(self.values[name], self.values)
            self.view.value = self.view_shown
            self.field.value = self.state = write_state(self.view_shown, self.values)
        finally:
            self._following = False

    def _build(self) -> None:
        # views that need nothing more, and begin with what is there
        needs = {name: {parameters(name)[0].name, *(p.name for p in parameters(name) if p.default is p.empty)} for name in VIEWS}
        fitting = [name for name in VIEWS if needs[name] <= set(self.values)]
        self.view.options = [(name.replace("_", " "), name) for name in fitting]
        self.controls = {p.name: control(p, self._asked(p.name)) for p in parameters(self.view_shown)}
        self.panel.children = [each.widget for each in self.controls.values()]

    def _asked(self, name: str):
        """What a control calls with the value that its reader asks for."""
        return lambda make, typed: self._ask(lambda: self.show(self.view_shown, self._clamped(name, make())), name, typed)

    def _clamped(self, name: str, value) -> dict:
        """The values with a new one, where a slider that depends on it (a thread, a slice) comes down to its new end."""
        changed = self.values | {name: value}
        read_now = {p.name: read(p, changed[p.name]) for p in parameters(self.view_shown)}
        for p in parameters(self.view_shown):
            if p.name != name and (high := highest(p, read_now)) is not None:
                read_now[p.name] = min(read_now[p.name], high)
        return read_now

    def _ask(self, answer, asked: str, typed: bool = False) -> None:
        """Do what is asked of a parameter, of the view or of the state.

        Errors in a callback vanish in Lab: show them here. A LayoutError is an answer, anything else a fault.
        """
        if self._following:
            return
        try:
            answer()
        except LayoutError as error:
            if not typed:  # what was typed stays, to be mended
                self._follow()
            kept = f", with {asked} {format_tuple(self.values[asked])}" if asked in self.values else ""
            self._say(f"{error}\nThe picture is as it was{kept}.")
        except Exception:
            self._say(traceback.format_exc())
            raise

    def _say(self, words: str) -> None:
        self.message.value = f'<pre role="alert" style="{MESSAGE_STYLE}">{escape(words)}</pre>' if words else ""

    def _repr_mimebundle_(self, **kwargs):
        static, _ = self.board._repr_mimebundle_()
        return add_static(super()._repr_mimebundle_(**kwargs), static["image/svg+xml"], static["text/plain"])


def parameters(view: str) -> list[Parameter]:
    """The parameters of a view that have a control."""
    return [p for p in signature(VIEWS[view]).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]


def _complete(view: str, values: dict) -> dict:
    """The value of every parameter of the view, read. LayoutError for a view that there is not, or one that needs more."""
    if view not in VIEWS:
        raise LayoutError(f'there is no view "{view}"; there are {", ".join(VIEWS)}')
    if unknown := set(values) - {p.name for p in parameters(view)}:
        raise LayoutError(f"{view} has no option {', '.join(sorted(unknown))}; it takes {', '.join(p.name for p in parameters(view))}")
    given = {p.name: values.get(p.name, p.default) for p in parameters(view)}
    if missing := [name for name, value in given.items() if value is Parameter.empty]:
        raise LayoutError(f"the view {view} needs {' and '.join(missing)} as well")
    return {p.name: read(p, given[p.name]) for p in parameters(view)}


def _places(scene) -> dict[int, tuple[int, int]]:
    """For each index in the scene its cell, counted over all panels, and that cell's link value.

    They are those of the panel with most indices, then what others add.
    """
    places: dict[int, tuple[int, int]] = {}
    panels = scene.all_panels()
    starts = accumulate((len(panel.labels) for panel in panels[:-1]), initial=0)
    for start, panel in sorted(zip(starts, panels, strict=True), key=lambda pair: -len(pair[1].labels)):
        indices, links = (panel.keys[name].tolist() if name in panel.keys else [] for name in ("index", scene.link_by))
        for cell, (index, link) in enumerate(zip(indices, links, strict=False), start):
            if index >= 0:
                places.setdefault(index, (cell, link))
    return places


def write_state(view: str, values: dict) -> str:
    """A view and its values as one string, without those that are the usual ones.

    >>> write_state("grid", {"layout": "(4,4):(4,1)", "label": "index", "first": 0})
    'view=grid; layout=(4,4):(4,1); label=index'
    """
    changed = [p.name for p in parameters(view) if p.name in values and values[p.name] != p.default]
    return "; ".join([f"view={view}", *(f"{name}={format_tuple(values[name])}" for name in changed)])


def read_state(text: str) -> tuple[str, dict]:
    """The view and its values from such a string. LayoutError for what is none."""
    pairs = [part.partition("=")[::2] for part in text.split(";") if part.strip()]
    named = {name.strip(): value.strip() for name, value in pairs}
    view = named.pop("view", None)
    if view not in VIEWS or len(pairs) != len(named) + 1:
        again = [name for name, count in Counter(name.strip() for name, _ in pairs).items() if count > 1]
        why = f"{again[0]} stands in it twice" if again else f'it starts with one of view={", view=".join(VIEWS)}'
        raise LayoutError(f'"{text[:80]}" restores no explorer: {why}')
    known = {p.name: p for p in parameters(view)}
    if unknown := set(named) - set(known):
        raise LayoutError(f"the view {view} has no {', '.join(sorted(unknown))}; it has {', '.join(known)}")
    return view, named
