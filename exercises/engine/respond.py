"""Answers that are given without typing code: cells clicked, a grid filled in, one of a few chosen, a number.

Each function here takes the name of an answer and returns respond(submit) -> widget, which is what an `Exercise` wants. When the reader
presses Check the widget calls submit({name: value}), then shows the line of code that would give the same answer in the cell.
"""

import ast
import html
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

import anywidget
import ipywidgets as w
import numpy as np
import traitlets

from layoutviz.color import WRONG
from layoutviz.composed import as_layout
from layoutviz.scene import Scene
from layoutviz.views.grid import grid
from layoutviz.widgets.board import Board

BLANK_CELL = "#eceff1"
GRID_LIMIT = 16  # rows or columns that can still be filled in by hand
DIGITS = 18  # so that a number stays within 2^62

Submit = Callable[[dict], object]
Respond = Callable[[Submit], "Response"]


def click_cells(name: str, picture, *, count: int | None = None) -> Respond:
    """The answer is a list of (row, column) pairs of ints: the cells clicked, in the order of the clicks.

    picture: a layout of rank 2 (or its notation), or a Scene of one panel. It is shown without labels, tips, colours, marks and
    caption, which could tell the answer; a Scene keeps its title and the borders of its tiles. With `count` exactly as many must be
    chosen, else at least one. ValueError for a layout of another rank, or too large to be drawn whole, and for a Scene of more panels.

    >>> response = click_cells("cells", "(2,3):(3,1)", count=2)(print)
    >>> response.board.picked = [0, 5]                          # as clicks do; cells count along the rows
    >>> response.check()
    {'cells': [(0, 0), (1, 2)]}
    """
    if isinstance(picture, Scene):
        scene = picture
    else:
        layout = as_layout(picture)
        scene = grid(layout, title="click the cells")
        if layout.rank != 2 or len(scene.panels[0][0].row) != layout.size:
            raise ValueError(f"cells are clicked on a layout of rank 2 of at most 128 rows and columns, not on {layout}")
    scene = blank(scene)
    cells = len(scene.panels[0][0].row)
    if count is not None and not 1 <= count <= cells:
        raise ValueError(f"count is a number of cells, 1 to {cells}, not {count}")
    return partial(ClickCells, _checked(name), scene, count)


def fill_grid(name: str, rows: int, columns: int, *, given: Mapping[tuple[int, int], int] | None = None) -> Respond:
    """The answer is a flat list of rows * columns ints in index order: the first mode, down the columns, runs fastest.

    `given` maps coordinates (i,j) to numbers that stand in the grid and cannot be changed. ValueError for a grid of more than 16 rows or
    columns, for a number given outside it, and where nothing is left to fill in.

    >>> response = fill_grid("offsets", 2, 2, given={(0, 0): 0})(print)
    >>> for (i, j), field in response.fields.items():
    ...     field.value = str(2 * i + j)
    >>> response.code()
    'offsets = [0, 2, 1, 3]'
    """
    given = dict(given or {})
    if not (1 <= rows <= GRID_LIMIT and 1 <= columns <= GRID_LIMIT):
        raise ValueError(f"a grid to fill in has 1 to {GRID_LIMIT} rows and columns, not {rows} and {columns}")
    places = {(i, j) for i in range(rows) for j in range(columns)}
    if not given.keys() < places or not all(type(number) is int for number in given.values()):
        raise ValueError(f"given takes some, not all, coordinates of a {rows} by {columns} grid to ints, not {given}")
    return partial(FillGrid, _checked(name), rows, columns, given)


def choose(name: str, options: Iterable) -> Respond:
    """The answer is one of `options`: texts, numbers or tuples of these, at least two, no two of which look the same.

    ValueError for other options, which could not be written as a line of code.

    >>> response = choose("order", ["row-major", "column-major"])(print)
    >>> response.buttons.index = 1
    >>> response.code()
    "order = 'column-major'"
    """
    options = list(options)
    if len(options) < 2 or len({str(option) for option in options}) < len(options):
        raise ValueError(f"to choose takes at least two options that look different, not {options}")
    for option in options:
        if not _is_literal(option):
            raise ValueError(f"an option is a text, a number or a tuple of these, not {option!r}")
    return partial(Choose, _checked(name), options)


def number(name: str) -> Respond:
    """The answer is one whole number of at most 18 digits; Enter checks it, as the button does.

    >>> response = number("cosize")(print)
    >>> response.field.value = "4.5"
    >>> response.code(), "is not a whole number" in response.status.value
    ('cosize = ...', True)
    """
    return partial(Number, _checked(name))


class CheckButton(anywidget.AnyWidget):
    """The button Check. Its message has "values", what each holder's `trait` is in the page, and "checks", how many the page knows of.

    The values go with the click because messages overtake each other: while the kernel is busy, a field's last letter waits and a click
    does not. `checks` tells a click that was made while a check ran. Enter in a field goes on to the next one, and in a single one checks.
    `off` only greys the button: it may be out of date, so that it takes a click all the same.
    """

    _esm = """
    function render({ model, el }) {
      const button = document.createElement("button");
      button.className = "jupyter-widgets jupyter-button mod-primary";
      button.textContent = "Check";
      el.append(button);
      const grey = () => button.setAttribute("aria-disabled", model.get("off"));
      model.on("change:off", grey);
      grey();
      button.addEventListener("click", async () => {
        const checks = model.get("checks"), ids = model.get("holders").map((name) => name.replace("IPY_MODEL_", ""));
        const holders = await Promise.all(ids.map((id) => model.widget_manager.get_model(id)));
        model.send({ checks, values: holders.map((holder) => holder.get(model.get("trait"))) });
      });
      const onEnter = (event) => {
        const around = event.target.closest(".lv-respond");
        if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || !around?.contains(el) || !event.target.matches("input")) return;
        const fields = [...around.querySelectorAll("input")], next = fields[fields.indexOf(event.target) + 1];
        if (fields.length === 1) button.click();
        else (next ?? button).focus();
        event.preventDefault(); // or the same key presses the button that it goes to
      };
      document.addEventListener("keydown", onEnter, true); // fields keep their keys to themselves
      return () => {
        document.removeEventListener("keydown", onEnter, true);
        model.off("change:off", grey);
      };
    }
    export default { render };
    """
    # labels of fields in a grid are for screen readers only; what is chosen has a mark beside its shade
    _css = """
    .lv-fill input { padding: 0 2px !important; text-align: center; font-family: var(--jp-code-font-family, monospace) !important;
      border: 1px solid var(--jp-content-font-color2, #666) !important; }
    .lv-fill .widget-label { position: absolute; width: 1px !important; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .lv-respond button[aria-disabled="true"] { opacity: 0.6; cursor: default; }
    .lv-choose .mod-active::before { content: "✓ "; }
    """
    off = traitlets.Bool(True).tag(sync=True)
    holders = traitlets.List().tag(sync=True, **w.widget_serialization)
    trait = traitlets.Unicode().tag(sync=True)
    checks = traitlets.Int(0).tag(sync=True)


class Response(w.VBox):
    """The control that takes an answer; Check, and how far the answer is; below, what came of checking.

    A subclass has a control, whose parts hold the answer in their `trait`, and says by `read()` what they hold.
    """

    how = ""  # the reader answers by ...
    trait = "value"

    def __init__(self, name: str, submit: Submit, control: w.Widget, holders: list[w.Widget], *buttons: w.Button):
        self.name, self.submit, self.checking = name, submit, False
        self.button = CheckButton(holders=holders, trait=self.trait)
        self.button.on_msg(self._on_click)
        self.status, self.said = w.HTML(), w.HTML()
        bar = w.HBox([self.button, *buttons, self.status], layout=w.Layout(flex_flow="row wrap", align_items="center", grid_gap="4px"))
        super().__init__([control, bar, self.said])
        self.add_class("lv-respond")
        for holder in holders:
            holder.observe(lambda _: self.changed(), self.trait)
        self.changed()

    def read(self) -> tuple[object, str]:
        """The answer, or None where it is not complete, and words on how far it is."""
        raise NotImplementedError

    def code(self) -> str:
        """The line of code that gives this answer in the cell; with a `...` while it is not complete."""
        answer, _ = self.read()
        return f"{self.name} = {'...' if answer is None else repr(answer)}"

    def changed(self) -> None:
        answer, words = self.read()
        self.button.off = answer is None
        self.status.value = line(words, "padding-left:8px", role="status")
        self.said.value = ""  # it told of another answer

    def check(self) -> None:
        """Submit the answer if it is complete and no check is running. What submit raises is shown, not raised."""
        answer, _ = self.read()
        if self.checking or answer is None:
            return
        self.checking, self.said.value, keep = True, "", _code_line(self.code())
        try:
            if self.submit({self.name: answer}) is not False:  # a wrong answer is not worth keeping
                self.said.value = keep
        except KeyboardInterrupt:
            self.said.value = line("Stopped. Your answer was not judged.", role="alert") + keep
        except Exception:  # ipywidgets would send it to a log that nobody reads
            self.said.value = _fault(traceback.format_exc()) + keep
        finally:
            self.checking = False
            self.button.checks += 1

    def _on_click(self, _button, content: dict, _buffers) -> None:
        if content["checks"] == self.button.checks:
            for holder, value in zip(self.button.holders, content["values"], strict=True):
                holder.set_state({self.trait: value})
            self.check()

    def _repr_mimebundle_(self, **kwargs):
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": f"`{self.name}` can be answered here by {self.how}, in a notebook."}


class ClickCells(Response):
    how, trait = "clicking cells", "picked"

    def __init__(self, name: str, scene: Scene, count: int | None, submit: Submit):
        panel = scene.panels[0][0]
        self.cells, self.count = list(zip(map(int, panel.row), map(int, panel.col), strict=True)), count
        # by a key of its own: neither cells that share an offset nor other pictures in the output are picked along
        alone = replace(panel, keys={"cell": np.arange(len(self.cells))})
        self.board = Board(replace(scene, panels=((alone,),), color_by="cell", link_by="cell"), multiple=True)
        self.back = w.Button(description="Take all back", layout=w.Layout(width="max-content"))
        self.back.on_click(lambda _: setattr(self.board, "picked", []))
        super().__init__(name, submit, self.board, [self.board], self.back)

    def read(self):
        chosen, wanted = [self.cells[n] for n in self.board.picked], self.count
        self.back.disabled = not chosen
        if wanted is None:
            return chosen or None, f"{len(chosen)} chosen. A click on a chosen cell takes it back."
        over = f" Take {len(chosen) - wanted} back." if len(chosen) > wanted else ""
        return chosen if len(chosen) == wanted else None, f"{len(chosen)} of {wanted} chosen.{over}"


class FillGrid(Response):
    how = "filling in a grid"

    def __init__(self, name: str, rows: int, columns: int, given: dict[tuple[int, int], int], submit: Submit):
        self.rows, self.columns, self.given = rows, columns, given
        places = [(i, j) for i in range(rows) for j in range(columns)]  # along the rows, as Tab goes
        # shared, because each of its own would be two more models to send to the page
        same = {"style": w.Text().style, "layout": w.Layout(width="auto", margin="1px")}
        self.fields = {at: w.Text(description=f"({at[0]},{at[1]})", **same) for at in places if at not in given}
        super().__init__(name, submit, self._grid(), list(self.fields.values()))

    def _grid(self) -> w.GridBox:
        parts = [_fixed("<i>i\\j</i>"), *map(_fixed, range(self.columns))]
        for i in range(self.rows):
            row = [self.fields.get((i, j)) or _fixed(f"<b>{self.given[i, j]}</b>") for j in range(self.columns)]
            parts += [_fixed(i), *row]
        widths = f"max-content repeat({self.columns}, minmax(48px, 64px))"
        return w.GridBox(parts, layout=w.Layout(grid_template_columns=widths, align_items="center", overflow="auto")).add_class("lv-fill")

    def read(self):
        numbers, wrong = dict(self.given), []
        for (i, j), field in self.fields.items():
            try:
                numbers[i, j] = whole_number(field.value)
            except ValueError as error:
                wrong.append(f"At ({i},{j}), {error}")
        left = sum(not field.value.strip() for field in self.fields.values())
        words = f"{left} of {len(self.fields)} left." if left else "All are filled in."
        if wrong or left:
            return None, " ".join([words, *wrong[:1]])
        return [numbers[i, j] for j in range(self.columns) for i in range(self.rows)], words


class Choose(Response):
    how, trait = "choosing", "index"

    def __init__(self, name: str, options: list, submit: Submit):
        self.options = options
        self.buttons = w.ToggleButtons(options=[str(option) for option in options], value=None, style={"button_width": "max-content"})
        super().__init__(name, submit, self.buttons.add_class("lv-choose"), [self.buttons])

    def read(self):
        if self.buttons.index is None:
            return None, "Choose one."
        chosen = self.options[self.buttons.index]
        return chosen, f"Chosen: {chosen}"


class Number(Response):
    how = "typing a number"

    def __init__(self, name: str, submit: Submit):
        self.field = w.Text(description=name, placeholder="a whole number", style={"description_width": "max-content"})
        self.field.layout.width = "max-content"
        super().__init__(name, submit, self.field, [self.field])

    def read(self):
        try:
            answer = whole_number(self.field.value)
        except ValueError as error:
            return None, str(error)
        return answer, "Enter a whole number." if answer is None else ""


def whole_number(text: str) -> int | None:
    """The number in a field, None for an empty field. ValueError, in words for the reader, for anything else.

    >>> whole_number(" -12 "), whole_number("")
    (-12, None)
    """
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not text:
        return None
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise ValueError(f'"{_short(text)}" is not a whole number.')
    if len(text.lstrip("+-0")) > DIGITS:
        raise ValueError(f'"{_short(text)}" has more than {DIGITS} digits.')
    return int(text)


def blank(scene: Scene) -> Scene:
    """A scene of one panel without labels, tips, marks, colours and caption; its title, headers and borders stay.

    ValueError for a scene of more panels.

    >>> panel = blank(grid("(2,2):(2,1)")).panels[0][0]
    >>> panel.labels, panel.tips[1]
    (['', '', '', ''], 'cell (0,1)')
    """
    if len(scene.all_panels()) != 1:
        raise ValueError(f"cells are clicked on a picture of one panel, not of {len(scene.all_panels())}")
    panel = scene.all_panels()[0]
    tips = [f"cell ({r},{c})" for r, c in zip(panel.row, panel.col, strict=True)]
    bare = replace(panel, labels=[""] * len(tips), tips=tips, marks={})
    return replace(scene, panels=((bare,),), caption="", color=lambda _: BLANK_CELL)


def line(words: str, style: str = "", role: str = "") -> str:
    """Words as a line of HTML in the page's own ink."""
    look = f"line-height:1.5;padding:2px 0;color:var(--jp-content-font-color1,#222);{style}"
    return f'<div style="{look}"{f" role={role}" if role else ""}>{html.escape(words)}</div>'


def _code_line(code: str) -> str:
    look = (
        "user-select:all;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;line-height:1.5;margin:2px 0;padding:4px 8px;"
        "color:var(--jp-content-font-color1,#222);background:var(--jp-layout-color2,#eee);border-radius:3px"
    )
    return line("To keep this answer in the notebook, put this line into the cell:") + f'<pre style="{look}">{html.escape(code)}</pre>'


def _fault(trace: str) -> str:
    words = line("The check failed. That is our fault, not yours.")
    look = "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;color:var(--jp-content-font-color1,#222);background:none"
    inside = f'{words}<pre style="{look}">{html.escape(trace)}</pre>'
    return f'<div role="alert" style="border-left:5px solid {WRONG};padding-left:10px">{inside}</div>'


def _fixed(markup) -> w.HTML:
    """What the reader cannot change in a grid to fill in."""
    return w.HTML(f'<div style="text-align:center;padding:0 4px;color:var(--jp-content-font-color1,#222)">{markup}</div>')


def _checked(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"an answer's name is a name of Python, not {name!r}")
    return name


def _is_literal(option) -> bool:
    try:
        return option is not None and ast.literal_eval(repr(option)) == option
    except (ValueError, SyntaxError):
        return False


def _short(text: str) -> str:
    return text if len(text) <= 20 else text[:19] + "…"
