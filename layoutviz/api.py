"""The pictures' front door: `draw`, `compare`, `explore`, and `to_svg`, `to_figure`, `to_text` for a layout or a Scene."""

from inspect import signature

from layoutviz.composed import as_layout
from layoutviz.errors import LayoutError
from layoutviz.scene import Scene, beside
from layoutviz.views.grid import grid
from layoutviz.views.memory_strip import memory_strip
from layoutviz.views.transpose import transpose

VIEWS = {"grid": grid, "transpose": transpose, "memory_strip": memory_strip}


def scene_of(thing, view: str = "grid", **options) -> Scene:
    """A Scene of a layout of any kind, of notation, or of a shape; a Scene is as it is. LayoutError for unknown views and options."""
    if view not in VIEWS:
        raise LayoutError(f'there is no view "{view}"; there are {", ".join(VIEWS)}')
    if isinstance(thing, Scene):
        if options or view != "grid":
            raise LayoutError("a Scene is drawn as it is; views and options are for layouts")
        return thing
    takes = list(signature(VIEWS[view]).parameters)[1:]
    if unknown := set(options) - set(takes):
        raise LayoutError(f"{view} has no option {', '.join(sorted(unknown))}; it takes {', '.join(takes)}")
    return VIEWS[view](thing, **options)


def draw(thing, view: str = "grid", **options):
    """A live picture (a Board) of a layout or a Scene. `view` is "grid", "transpose" or "memory_strip".

    Hover shows what a cell is; a click pins it; cells with the same offset light up together on every board of the output.

        draw("(4,4):(4,1)", label="coordinate")
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
    scenes = [scene_of(thing, "grid", **({"title": f"{name} = {as_layout(thing)}"} if name else {}), **options) for name, thing in named]
    captions = [scene.caption for scene in scenes]
    if len(set(captions)) == 1:
        caption = f"Each: {captions[0]}" if captions[0] else ""
    else:
        caption = " ".join(f"{scene.panels[0][0].title}: {scene.caption}" for scene in scenes)
    return draw(beside(*scenes).with_caption(caption))


def explore(thing, view: str = "grid", **options):
    """A live explorer: a slider for each extent and stride, a field for notation, the choice of view and label.

    In a ComposedLayout the sliders move the layout inside; the swizzle and the offset are changed in the notation.

    explore("(4,4):(4,1)")
    """
    from layoutviz.widgets.explorer import Explorer

    return Explorer(as_layout(thing), view, **options)


def to_svg(thing, view: str = "grid", **options) -> str:
    """A picture as one SVG string."""
    from layoutviz.render.svg import svg

    return svg(scene_of(thing, view, **options))


def to_figure(thing, view: str = "grid", *, ax=None, **options):
    """A picture as a matplotlib Figure, made without pyplot; or drawn into `ax`."""
    from layoutviz.render.mpl import figure

    return figure(scene_of(thing, view, **options), ax)


def to_text(thing, view: str = "grid", **options) -> str:
    """A picture as plain text."""
    from layoutviz.render.text import text

    return text(scene_of(thing, view, **options))
