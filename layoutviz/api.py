"""The pictures' front door: `draw`, `compare`, `explore`, and `to_svg`, `to_figure`, `to_text` for a layout or a Scene."""

from inspect import signature

from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.layout import CoordinateFunction
from layoutviz.scene import Scene, beside
from layoutviz.views.banks import banks
from layoutviz.views.blank import blank
from layoutviz.views.coalescing import coalescing
from layoutviz.views.complement import complement
from layoutviz.views.composition import composition
from layoutviz.views.divide import divide
from layoutviz.views.grid import check_text, grid
from layoutviz.views.memory_strip import memory_strip
from layoutviz.views.product import product
from layoutviz.views.swizzle import swizzle
from layoutviz.views.tiles import tiles
from layoutviz.views.transpose import transpose
from layoutviz.views.tv import tv

_ALL = (grid, transpose, memory_strip, tiles, divide, product, complement, composition, swizzle, banks, coalescing, tv, blank)
VIEWS = {view.__name__: view for view in _ALL}


def scene_of(thing, view: str | None = None, **options) -> Scene:
    """A Scene of whatever the view takes first, and its other parameters by name; a Scene is taken as it is. Every view takes a caption.

    Without a view it is picked: the grid for a layout of any kind, its notation or a shape; "tv" for a pair (tile, TV layout) as
    make_layout_tv gives it, and for a tiled copy of the DSL. LayoutError for unknown views and options.
    """
    if view is not None and view not in VIEWS:
        raise LayoutError(f'there is no view "{view}"; there are {", ".join(VIEWS)}')
    if isinstance(thing, Scene):
        if options or view not in (None, "grid"):
            raise LayoutError("a Scene is drawn as it is; views and options are for layouts")
        return thing
    view, values = pick_view(thing, view)
    takes = signature(VIEWS[view]).parameters
    if "caption" in options and "caption" not in takes:
        caption = options.pop("caption")
        return scene_of(thing, view, **options).with_caption(check_text("caption", caption))
    if unknown := set(options) - set(list(takes)[len(values) :]):
        raise LayoutError(f"{view} has no option {', '.join(sorted(unknown))}; it takes {', '.join(list(takes)[len(values) :])}")
    values |= options
    if missing := [name for name, p in takes.items() if p.default is p.empty and name not in values]:
        raise LayoutError(f"the view {view} needs {' and '.join(missing)} as well, by name")
    return VIEWS[view](**values)


def pick_view(thing, view: str | None = None) -> tuple[str, dict]:
    """The view that fits a thing, if none is given, and the thing as values of its first parameters."""
    if isinstance(thing, Scene):
        raise LayoutError("a Scene is a finished picture without sliders: draw() shows it; explore() takes the layout itself")
    if view in (None, "tv") and type(thing).__name__ in ("TiledCopy", "TiledMma") and type(thing).__module__.startswith("cutlass"):
        from layoutviz.cute import tv_of

        thing = tv_of(thing)
    pair = isinstance(thing, tuple) and len(thing) == 2 and isinstance(thing[1], CoordinateFunction | str)
    view = view or ("tv" if pair else "grid")
    names = list(signature(VIEWS[view]).parameters)
    return view, dict(zip(names, thing, strict=False)) if pair and view == "tv" else {names[0]: thing}


def draw(thing, view: str | None = None, **options):
    """A live picture (a Board) of a layout or a Scene. `view` is one of VIEWS; what it needs besides `thing` goes by name.

    Hover shows what a cell is; a click pins it; cells with the same offset light up together on every board of the output.

        draw("(4,4):(4,1)", label="coordinate")
        draw("(8,12):(12,1)", "tiles", tiler=(4, 3))
    """
    from layoutviz.widgets.board import Board

    return Board(scene_of(thing, view, **options))


def compare(*things, **options):
    """The grids of layouts side by side in one picture with one colouring, so that equal offsets have equal colours.

    A dict gives them names: compare({"A": "(4,4):(4,1)", "B": "(4,4):(1,4)"}).
    """
    named = [pair for thing in things for pair in (thing.items() if isinstance(thing, dict) else [("", thing)])]
    if not named:
        raise LayoutError("compare needs at least one layout")
    if {"view", "title"} & set(options):
        raise LayoutError("compare draws grids, named by a dict: it has no view and no title")
    scenes = [scene_of(thing, "grid", **({"title": f"{name} = {as_layout(thing)}"} if name else {}), **options) for name, thing in named]
    captions = [scene.caption for scene in scenes]
    if "caption" in options:
        caption = options["caption"]  # said of all of them together
    elif len(set(captions)) == 1:
        caption = f"Each: {captions[0]}" if captions[0] else ""
    else:
        caption = " ".join(f"{scene.panels[0][0].title}: {scene.caption}" for scene in scenes)
    return draw(beside(*scenes).with_caption(caption))


def explore(thing, view: str | None = None, **options):
    """A live explorer of a view: a control for each of its parameters, a step through the index, a string that restores its state.

    `thing` is what the view takes first, other parameters go by name; or it is such a string, "view=grid; layout=(4,4):(4,1)".

        explore("(4,4):(4,1)")
        explore("(8,12):(12,1)", "tiles", tiler=(4, 3))
    """
    from layoutviz.widgets.explorer import Explorer, read_state

    if isinstance(thing, str) and thing.strip().startswith("view="):
        name, values = read_state(thing)
        if view not in (None, name):
            raise LayoutError(f"the state shows the view {name}, not {view}")
        return Explorer(name, values | options)
    if view is not None and view not in VIEWS:
        raise LayoutError(f'there is no view "{view}"; there are {", ".join(VIEWS)}')
    name, values = pick_view(thing, view)
    return Explorer(name, values | options)


def to_svg(thing, view: str | None = None, **options) -> str:
    """A picture as one SVG string."""
    from layoutviz.render.svg import svg

    return svg(scene_of(thing, view, **options))


def to_figure(thing, view: str | None = None, *, ax=None, **options):
    """A picture as a matplotlib Figure, made without pyplot; or drawn into `ax`."""
    from layoutviz.render.mpl import figure

    return figure(scene_of(thing, view, **options), ax)


def to_text(thing, view: str | None = None, **options) -> str:
    """A picture as plain text."""
    from layoutviz.render.text import text

    return text(scene_of(thing, view, **options))
