"""The figure that goes through the course: how fast our GEMM is, on one scale that ends at cuBLAS. Needs neither a GPU nor the DSL.

The numbers are those that a GPU last said, in results/ladder.json.
"""

import io
import json
from math import log10
from pathlib import Path

from ladder.errors import LadderError
from layoutviz.color import INKS, categories

PATH = Path(__file__).resolve().parent.parent / "results/ladder.json"
SIZE = (4096, 4096, 4096)
WIDTH, HEIGHT = 8.4, 1.5  # inches
APART = 0.13  # of the scale's length: names nearer to each other would overlap


def thermometer(rung: str, path: Path = PATH):
    """A picture for a notebook: the recorded speed of `rung`, of the rungs slower than it, and of cuBLAS, in TFLOP/s at 4096 cubed.

    rung: a module of ladder that results/ladder.json has a row of. The scale is logarithmic. Raises LadderError for a rung without a
    record.
    """
    from IPython.display import SVG

    picture = io.StringIO()
    figure(rung, path).savefig(picture, format="svg", metadata={"Date": None})
    return SVG(picture.getvalue())


def figure(rung: str, path: Path = PATH):
    """As `thermometer`, as a matplotlib Figure that pyplot does not know.

    >>> figure("naive").texts[0].get_text().split(":")[0]
    'naive'
    """
    from matplotlib.figure import Figure

    rows = {row["rung"]: row for row in _rows(path)}
    if rung not in rows or "cublas" not in rows:
        known = ", ".join(name for name in rows if name != "cublas") or "no rung"
        raise LadderError(f"there is no record of {rung} at {_by(SIZE)} yet: `make gpu` makes one on a GPU. Recorded: {known}")
    speed = {name: row["tflops"] for name, row in rows.items() if row["tflops"] <= rows[rung]["tflops"] or name == "cublas"}
    made = Figure(figsize=(WIDTH, HEIGHT), facecolor="white")
    axes = made.add_axes((0.03, 0.36, 0.94, 0.26))
    _tube(axes, speed, rung)
    row, part = rows[rung], rows[rung]["cublas_ratio"]
    words = f"{rung}: {row['tflops']:.3g} TFLOP/s, {100 * part:.3g}% of cuBLAS in the same run"
    made.text(0.03, 0.86, words, fontsize=11, fontweight="bold", color=INKS["offset"], va="center")
    about = f"C = A B^T, {_by(SIZE)}, fp16 in, fp32 sums; {row['gpu']}, {row['date'][:10]}. "
    about += "On the scale, in TFLOP/s, each number is ten times the one before."
    made.text(0.03, 0.06, about, fontsize=8, color=INKS["offset"], va="center")
    return made


def _rows(path: Path) -> list[dict]:
    """The records at SIZE, of one GPU: the one that was recorded last."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    at_size = [row for row in rows if (row["m"], row["n"], row["k"]) == SIZE and row["tflops"]]
    newest = max(at_size, key=lambda row: row["date"], default={"gpu": None})
    return sorted((row for row in at_size if row["gpu"] == newest["gpu"]), key=lambda row: row["date"])


def _tube(axes, speed: dict[str, float], rung: str) -> None:
    """The tube, filled up to `rung`, and a mark for each speed; names below it where there is room, those of most weight first."""
    low, high = 10 ** (-0.5) * min(1.0, *speed.values()), 1.6 * speed["cublas"]
    axes.set(xscale="log", xlim=(low, high), ylim=(0, 1), yticks=[])
    axes.axvspan(low, speed[rung], color=categories(0), lw=0)
    axes.tick_params(axis="x", which="both", bottom=False, labelbottom=False, top=True, labeltop=True, direction="in", labelsize=8, pad=1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    named: list[float] = []
    for name in sorted(speed, key=lambda name: (name != rung, name != "cublas", speed[name])):
        at = log10(speed[name] / low) / log10(high / low)
        axes.axvline(speed[name], color=INKS["offset"], lw=2.5 if name == rung else 1, ls="-" if name != "cublas" else "--")
        if all(abs(at - other) > APART for other in named):
            named.append(at)
            weight = "bold" if name == rung else "normal"
            axes.annotate(
                "cuBLAS" if name == "cublas" else name, (at, 0), (0, -4), xycoords="axes fraction", textcoords="offset points",
                ha="center", va="top", fontsize=9, fontweight=weight,
            )  # fmt: skip


def _by(sizes) -> str:
    return "x".join(map(str, sizes))
