"""Colours: fills for cells, inks for labels. A colouring is one function, `color(key) -> "#rrggbb"`.

Fills are light (relative luminance 0.43 or more) and inks dark, so that every label has a contrast of at least 4.5:1 on
every fill. The ramp's lightness falls steadily, so order survives colour blindness and grey printing.
"""

from collections.abc import Callable

Color = Callable[[int], str]

# one ink for one kind of label, the same in every picture
INKS = {
    "offset": "#1f1f1f", "index": "#1c3f94", "coordinate": "#7b1e4b", "bank": "#084843", "thread": "#5f2a0a", "value": "#4b2a86",
    "tile": "#2d4a12", "address": "#3a3a3a",
}  # fmt: skip
WRONG, RIGHT = "#b3261e", "#1a7f37"  # white on them, and they on white, have a contrast of 4.5:1 or more
BLANK = "#f4f4f4"  # a place that holds nothing

_RAMP = ((255, 248, 219), (216, 238, 190), (154, 216, 196), (124, 186, 226))


def _mix(at: float) -> str:
    """The ramp's colour at 0 <= at <= 1."""
    i = min(int(at * (len(_RAMP) - 1)), len(_RAMP) - 2)
    part = at * (len(_RAMP) - 1) - i
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(_RAMP[i], _RAMP[i + 1], strict=True))


_SHADES = tuple(_mix(n / 63) for n in range(64))
# any two are at least 10 apart (CIEDE2000), also as seen with each of the three common colour-vision deficiencies: tests/test_pictures.py
_CATEGORIES = ("#8fe6fb", "#fbe4ce", "#a1be75", "#d2e5e4", "#c9b5ad", "#dfe898", "#9ab3f0", "#b8b6c5")
FILLS = len(_CATEGORIES)


def ramp(low: int, high: int) -> Color:
    """Cream for `low` through green to blue for `high`: for keys with an order, such as offsets.

    >>> color = ramp(0, 15)
    >>> color(0), color(15)
    ('#fff8db', '#7cbae2')
    """
    scale = (len(_SHADES) - 1) / max(high - low, 1)

    def color(key: int) -> str:
        return _SHADES[int(min(max(key - low, 0), high - low) * scale)]

    return color


def categories(key: int) -> str:
    """Eight fills in turn: for keys that only name a group, such as tiles, threads or banks."""
    return _CATEGORIES[key % FILLS]


def thread_category(thread: int) -> int:
    """The category of a thread, the sum of its octal digits: threads a power of two apart, which are often neighbours, differ.

    >>> [thread_category(thread) for thread in (0, 1, 7, 8, 64, 65)]
    [0, 1, 7, 1, 1, 2]
    """
    return sum(map(int, f"{thread:o}"))


def thread_fill(thread: int) -> str:
    """A fill for a thread; -1 is none."""
    return categories(thread_category(thread)) if thread >= 0 else BLANK


def luminance(color: str) -> float:
    """Relative luminance of "#rrggbb", from 0 for black to 1 for white (WCAG 2)."""
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2).

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)
