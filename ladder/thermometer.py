"""The figure that goes through the course: how fast our GEMM is, on one scale, and where cuBLAS is. Needs neither a GPU nor the DSL.

The numbers are those that a GPU last said, in results/ladder.json.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from ladder.errors import LadderError
from ladder.operands import by
from ladder.rungs import RUNGS, SIZE, ladder_of
from layoutviz.color import categories

PATH = Path(__file__).resolve().parent.parent / "results/ladder.json"
LEFT, TUBE, TOP, HEIGHT = 8, 720, 64, 22  # pixels: where the tube begins, how long it is, its top, how thick it is
LETTER, GAP = 8.5, 4  # pixels: a letter of a name is at most so wide, names are at least so far apart
TEXT = 'fill="currentColor"'  # the page's own, on a light theme and on a dark one


@dataclass(frozen=True)
class Thermometer:
    """`rows` are those of results/ladder.json at SIZE by name: of `rung`, of the rungs that are slower, and of cuBLAS."""

    rung: str
    rows: dict[str, dict]

    def __repr__(self):
        row = self.rows[self.rung]
        return f"{self.rung}: {row['tflops']:.3g} TFLOP/s, {100 * row['cublas_ratio']:.3g}% of cuBLAS in the same run"

    def places(self) -> dict[str, float]:
        """Where each mark stands, in pixels: the scale is linear, from 0."""
        longest = 1.05 * max(row["tflops"] for row in self.rows.values())
        return {name: LEFT + TUBE * row["tflops"] / longest for name, row in self.rows.items()}

    def named(self) -> dict[str, tuple[float, float]]:
        """The rungs that have room for a name below the tube, this one first, then the faster ones, and from where to where it goes."""
        places, chosen = self.places(), {}
        for name in sorted(self.rows.keys() - {"cublas"}, key=lambda name: (name != self.rung, -places[name])):
            begin, end = _span(name, places[name])
            if all(end + GAP <= other[0] or other[1] + GAP <= begin for other in chosen.values()):
                chosen[name] = begin, end
        return chosen

    def _repr_html_(self):
        places, row = self.places(), self.rows[self.rung]
        bottom = TOP + HEIGHT
        parts = [
            f'<text x="{LEFT}" y="20" font-size="15" font-weight="600" {TEXT}>{self}</text>',
            f'<rect x="{LEFT}" y="{TOP}" width="{places[self.rung] - LEFT:.1f}" height="{HEIGHT}" fill="{categories(0)}"/>',
            f'<rect x="{LEFT}" y="{TOP}" width="{TUBE}" height="{HEIGHT}" fill="none" stroke="currentColor"/>',
        ]
        per_tflops = (places["cublas"] - LEFT) / self.rows["cublas"]["tflops"]
        for tick in range(0, int(TUBE / per_tflops), 100):
            x = f"{LEFT + tick * per_tflops:.1f}"
            parts.append(f'<text x="{x}" y="{TOP - 6}" font-size="11" text-anchor="{"middle" if tick else "start"}" {TEXT}>{tick}</text>')
        for name, x in places.items():
            look = 'stroke-width="3"' if name == self.rung else 'stroke-dasharray="4 3"' if name == "cublas" else ""
            inside = "#000" if x < places[self.rung] else "currentColor"  # what is filled is light on either theme
            parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{inside}" {look}/>')
            parts.append(f'<path d="M{x:.1f} {bottom}v4" stroke="currentColor" {look}/>')
        spans = {"cublas": _span("cuBLAS", places["cublas"])} | self.named()
        for name, (begin, end) in spans.items():
            words, y = ("cuBLAS", TOP - 22) if name == "cublas" else (name, bottom + 18)
            weight = "600" if name == self.rung else "400"
            at = f'x="{(begin + end) / 2:.1f}" y="{y}" text-anchor="middle"'
            parts.append(f'<text {at} font-size="12" font-weight="{weight}" {TEXT}>{words}</text>')
        about = (
            f"Scale: TFLOP/s, 10^12 multiplications and additions a second. C = A B^T, {by(SIZE)}, fp16 in, fp32 sums;",
            f"recorded on {row['gpu']}, {row['date'][:10]}.",
        )
        for line, words in enumerate(about):
            parts.append(f'<text x="{LEFT}" y="{bottom + 42 + 15 * line}" font-size="11" {TEXT}>{words}</text>')
        box = f'viewBox="0 0 {TUBE + 2 * LEFT} {bottom + 65}" width="{TUBE + 2 * LEFT}" style="max-width:100%;height:auto"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="system-ui,sans-serif" role="img">{"".join(parts)}</svg>'


def _span(words: str, x: float) -> tuple[float, float]:
    """From where to where words go that stand at x, or beside it, as near as they can and still inside."""
    wide = LETTER * len(words)
    begin = min(max(x - wide / 2, LEFT), LEFT + TUBE - wide)
    return begin, begin + wide


def thermometer(rung: str, path: Path = PATH) -> Thermometer:
    """A picture for a notebook: the recorded speed of `rung`, of the rungs slower than it, and of cuBLAS, at 4096 cubed.

    rung: a module of ladder that results/ladder.json has a row of; LadderError for one without a record.

    >>> thermometer("naive").rung
    'naive'
    """
    rows = {row["rung"]: row for row in _rows(path)}
    if rung not in rows or "cublas" not in rows:
        known = ", ".join(name for name in rows if name != "cublas") or "no rung"
        raise LadderError(f"there is no record of {rung} at {by(SIZE)} yet: `make gpu` makes one on a GPU. Recorded: {known}")
    return Thermometer(rung, {name: row for name, row in rows.items() if name == "cublas" or row["tflops"] <= rows[rung]["tflops"]})


def _rows(path: Path) -> list[dict]:
    """The rungs and cuBLAS, of the one run that shows the ladder."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [row for row in ladder_of(rows) if row["rung"] in (*RUNGS, "cublas")]
