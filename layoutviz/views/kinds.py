"""What the parameters of a view are. An explorer makes a control for each parameter from its annotation; keyword-only ones get none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from layoutviz.layout import CoordinateFunction


@dataclass(frozen=True)
class Range:
    """The ends of a slider, both included. The upper one may depend on the other values; a slider with one place is not shown."""

    low: int
    high: int | Callable[[dict], int]


AnyLayout = CoordinateFunction  # a layout of any kind, or its notation: a text field, and a slider for each number
Tiler = Annotated[object, "tiler"]  # a tuple by mode, or a layout: a text field, and a slider for each number
Label = Literal["offset", "index", "coordinate"]  # what stands in a cell: buttons
Bits = Literal[4, 8, 16, 32, 64]  # the width of an element
