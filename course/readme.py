"""The built parts of README.md, and the map of the course:  python -m course.readme [--check]

The README is written by hand but for what stands between `<!-- built: NAME -->` and `<!-- end -->`: the picture (course/readme.svg,
beside this file that makes it), the map of the chapters and the recorded results. `make build` renews them. Chapter 00 shows the
same map.
"""

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ladder.bank_counters import PATH as COUNTED
from ladder.bank_counters import recorded
from ladder.rungs import ladder_of
from layoutviz import Layout, Swizzle
from layoutviz.color import categories
from layoutviz.composed import ComposedLayout
from layoutviz.render.svg import svg
from layoutviz.scene import Scene, beside
from layoutviz.views.grid import grid

ROOT = Path(__file__).resolve().parent.parent
LADDER = "results/ladder.png"
FASTEST, BESIDE = "hopper_gemm", ("full_gemm", "quack", "triton")  # rungs and rivals that are shown shape by shape
PICTURE = "course/readme.svg"
SPELT = {"gemm": "GEMM", "hopper": "Hopper", "wgmma": "WGMMA", "tma": "TMA", "pytorch": "PyTorch", "blackwell": "Blackwell"}
BANKS = 8  # of the picture; shared memory has 32


@dataclass(frozen=True)
class Chapter:
    """A chapter of the course, written or not. `file` is the stem of its notebooks; minutes: to read and try its lesson."""

    file: str
    teaches: str
    minutes: int

    @property
    def number(self) -> str:
        return self.file[:2]

    @property
    def title(self) -> str:
        return " ".join(SPELT.get(word, word) for word in self.file[3:].split("_"))


CHAPTERS = (
    Chapter("00_start_here", "this machine, boards, questions and exercises; terms and names", 10),
    Chapter("01_paper_layouts", "shape, stride and offset; row- and column-major; transposing without moving data", 40),
    Chapter("02_nested_layouts", "modes inside modes, coordinates of three kinds, tiles as modes", 45),
    Chapter("03_composition", "coalesce, composition, inverses; when there is no composition", 60),
    Chapter("04_tiling", "complement, divide, product, tilers; ragged edges", 60),
    Chapter("05_swizzle", "banks, phases, swizzles; elements against bytes", 60),
    Chapter("06_first_kernels", "writing kernels: jit, static and dynamic, print", 60),
    Chapter("07_threads_and_values", "which thread holds which value; vector width, coalescing", 60),
    Chapter("08_tensor_cores", "MMA atoms, fragments, ldmatrix", 60),
    Chapter("09_simple_gemm", "the classic fp16 GEMM, stage by stage", 60),
    Chapter("10_wgmma_and_tma", "Hopper's copies and products: TMA, mbarriers, WGMMA", 60),
    Chapter("11_pipelines", "producer and consumer warps; deadlocks and races", 60),
    Chapter("12_full_hopper_gemm", "persistent tiles, clusters, multicast, the whole GEMM", 60),
    Chapter("13_lowering", "from CuTe IR down to SASS", 60),
    Chapter("14_autotuning", "the search space, and Triton, Inductor and Helion beside it", 60),
    Chapter("15_epilogues_and_low_bits", "fused epilogues, FP8, 4-bit weights", 60),
    Chapter("16_in_pytorch", "a custom op, autograd, torch.compile", 60),
    Chapter("17_softmax", "where bandwidth is the limit; distributed shared memory", 60),
    Chapter("18_attention", "fused attention on Hopper", 60),
    Chapter("19_blackwell", "tcgen05, tensor memory, FP4: compiled and drawn, not run", 60),
    Chapter("20_layout_theory", "layouts as morphisms; linear layouts over F2", 60),
)


def chapter_table(lessons: Path | str = ".", link: str = "") -> str:
    """The map of the course in Markdown. A chapter whose lesson lies in the folder `lessons` is a link, `link` before its file."""
    rows = ["| chapter | teaches | minutes |", "| --- | --- | --- |"]
    for chapter in CHAPTERS:
        name, file = f"{chapter.number} {chapter.title}", f"{chapter.file}.ipynb"
        written = (Path(lessons) / file).is_file()
        linked, minutes = (f"[{name}]({link}{file})", chapter.minutes) if written else (name, "being written")
        rows.append(f"| {linked} | {chapter.teaches} | {minutes} |")
    return "\n".join(rows)


# --- the README


def picture() -> Scene:
    """Three layouts of one matrix, coloured by bank."""
    rows, padded = Layout((8, 8), (8, 1)), Layout((8, 8), (9, 1))
    layouts = {"row by row": rows, "padded": padded, "swizzled": ComposedLayout(Swizzle(3, 0, 3), 0, rows)}
    scenes = [grid(layout, title=f"{name}: {layout}", caption="", color=_bank_color) for name, layout in layouts.items()]
    waiting, unused = most_in_one_bank(rows), {name: layout.cosize - layout.size for name, layout in layouts.items()}
    caption = (
        f"The number in a cell is the slot of memory where that element lies; the colour is the bank of that slot, slot mod {BANKS} here. "
        f"Go down a column: row by row, {waiting} elements wait for one bank. Padding spreads them over all banks and leaves "
        f"{unused['padded']} slots unused. The swizzle spreads them and leaves {unused['swizzled']} unused."
    )
    return beside(*scenes).with_caption(caption)


def _bank_color(offset: int) -> str:
    return categories(offset % BANKS)


def most_in_one_bank(layout) -> int:
    """Of the elements of one column of an 8x8 layout, how many lie in one bank at the most."""
    banks = [[layout(i, j) % BANKS for i in range(8)] for j in range(8)]
    return max(column.count(bank) for column in banks for bank in column)


def picture_part(root: Path) -> str:
    return f"![Three grids of 8 by 8 numbered cells, coloured by bank: row by row, padded, swizzled]({PICTURE})"


def map_part(root: Path) -> str:
    return chapter_table(root / "notebooks", "notebooks/")


def results_part(root: Path) -> str:
    """What is in results/: products that lessons checked, and how fast the kernels were."""
    lessons, rungs = (_read(root / "results" / name) for name in ("gpu.json", "ladder.json"))
    checked = [_lesson_row(name, one) for name, one in sorted((lessons or {}).items()) if name.startswith("notebooks/") and one["checks"]]
    in_order = sorted(rungs or [], key=lambda row: (row["gpu"], [row[mode] or 0 for mode in "mnk"], row["ms"] is None, -(row["ms"] or 0)))
    timed = [_rung_row(row) for row in sorted(ladder_of(rungs or []), key=lambda row: -(row["ms"] or 0))]
    shapes = [_shape_row(row, in_order) for row in _one_each(in_order) if row["rung"].split()[0] == FASTEST]
    moved = [_stream_row(row, rungs) for row in rungs or [] if row.get("gb_s") is not None]  # as measured: each beside its copy
    parts = []
    if checked:
        head = "| lesson, on a GPU | products against cuBLAS | largest error, and its bound | GPU | date |\n| --- | --- | --- | --- | --- |"
        parts.append("\n".join([head, *checked]))
    if timed:
        if (root / LADDER).is_file():
            parts.append(f"![Bars: TFLOP/s of each kernel of the ladder, and of cuBLAS]({LADDER})")
        head = "| kernel | M x N x K, type | TFLOP/s | speed, cuBLAS = 1 | GPU | date |\n| --- | --- | --- | --- | --- | --- |"
        parts.append("\n".join([head, *timed]))
    if shapes:
        others = " | ".join(f"{name}'s" for name in BESIDE)
        head = f"| M x N x K, type, operands | {FASTEST}, TFLOP/s | its speed, cuBLAS = 1 | {others} | GPU | date |\n"
        parts.append("\n".join([head + "| --- " * (5 + len(BESIDE)) + "|", *shapes]))
    if moved:
        head = "| kernel that memory limits | size, type | GB/s | speed, a device copy = 1 | GPU | date |\n" + "| --- " * 6 + "|"
        parts.append("\n".join([head, *moved]))
    if counted := recorded(root / "results" / COUNTED.name)[0]:
        same = sum(each.conflicts == each.what.predicted().conflicts for each in counted)
        told = f"Bank conflicts by the model are as many as the profiler counted on {same} of {len(counted)} accesses to shared memory"
        parts.append(f"{told} ({counted[0].gpu}, {counted[0].date[:10]}; chapter 05 shows them).")
    return "\n\n".join(parts) or "Nothing is recorded yet."


def _lesson_row(name: str, record: dict) -> str:
    checks = record["checks"]
    worst = max(checks, key=lambda check: float("inf") if check["error"] is None else check["error"])
    error = "no number" if worst["error"] is None else f"{worst['error']:.1e}"
    passed = f"{len(checks)} passed" if record["ok"] else f"{len(checks)} run, **failed**"
    title, when = Path(name).stem.replace("_", " "), record["date"][:10]
    return f"| [{title}]({name}) | {passed} | {error}, {worst['bound']:.0e} | {record['gpu']} | {when} |"


def _rung_row(row: dict) -> str:
    speed, ratio = (
        f"{value:{form}}" if value is not None else "–" for value, form in ((row["tflops"], ".3g"), (row["cublas_ratio"], "#.3g"))
    )
    return f"| {_rung_name(row)} | {_size(row)}, {row['dtype']} | {speed} | {ratio} | {row['gpu']} | {row['date'][:10]} |"


def _one_each(rows: list[dict]) -> list[dict]:
    """One row for each rung, size, type and GPU: where the run that shows the ladder has one, too, the other."""
    found = {}
    for row in sorted(rows, key=lambda row: not row.get("ladder")):
        found[row["rung"], _size(row), row["dtype"], row["gpu"]] = row
    return [row for row in rows if row in found.values()]


def _shape_row(row: dict, rows: list[dict]) -> str:
    """The fastest rung on one shape, and beside it what was timed in the same run."""
    pair = row["rung"].removeprefix(FASTEST)
    beside = {each["rung"]: each for each in rows if each.get("run") == row.get("run") and _size(each) == _size(row)}
    others = " | ".join(f"{beside[name + pair]['cublas_ratio']:.3f}" if name + pair in beside else "–" for name in BESIDE)
    what = f"{_size(row)}, {row['dtype']},{pair or ' TN'}"
    return f"| {what} | {row['tflops']:.0f} | {row['cublas_ratio']:.3f} | {others} | {row['gpu']} | {row['date'][:10]} |"


def _stream_row(row: dict, rows: list[dict]) -> str:
    """A kernel that memory limits, beside the copy of the same run."""
    copy = next((each for each in rows if each["rung"] == "copy" and each["run"] == row["run"]), None)
    ratio = f"{row['gb_s'] / copy['gb_s']:.3f}" if copy else "–"
    return f"| {_rung_name(row)} | {_size(row)}, {row['dtype']} | {row['gb_s']:.0f} | {ratio} | {row['gpu']} | {row['date'][:10]} |"


def _rung_name(row: dict) -> str:
    return f"[{row['rung']}](ladder/{row['rung']}.py)" if (ROOT / "ladder" / f"{row['rung']}.py").is_file() else row["rung"]


def _size(row: dict) -> str:
    return " x ".join(str(row[mode]) for mode in "mnk" if row[mode] is not None)


def _read(path: Path):
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


PARTS = {"picture": picture_part, "map": map_part, "results": results_part}


def made(root: Path = ROOT) -> dict[str, str]:
    """What is built here: file -> its text. ValueError where the README lacks the place of a part."""
    text = (root / "README.md").read_text(encoding="utf-8")
    for name, part in PARTS.items():
        found = re.findall(rf"<!-- built: {name} -->\n.*?<!-- end -->", text, re.S)
        if len(found) != 1:
            raise ValueError(f"README.md: the part {name} has its place between '<!-- built: {name} -->' and '<!-- end -->', once")
        text = text.replace(found[0], f"<!-- built: {name} -->\n{part(root)}\n<!-- end -->")
    return {PICTURE: svg(picture()) + "\n", "README.md": text}


def renew(root: Path = ROOT, check: bool = False) -> list[str]:
    """Write what changed and return its names; with `check` nothing is written."""
    changed = []
    for name, text in made(root).items():
        file = root / name
        if not file.is_file() or file.read_bytes() != text.encode():
            changed.append(name)
            if not check:
                partial = file.with_suffix(".partial")
                partial.write_bytes(text.encode())
                os.replace(partial, file)
    return changed


def main(check: bool = False) -> int:
    """Renew, say what changed, and return the exit status: 1 if something would change (`check`) or cannot be made."""
    try:
        changed = renew(check=check)
    except ValueError as wrong:
        print(wrong)
        return 1
    for name in changed:
        print(f"{'would change' if check else 'wrote'} {name}")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
