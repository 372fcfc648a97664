"""How fast pictures are made and shown. Prints a table; `make bench` runs it.

Making: the best of several runs in this process. Showing: in a real JupyterLab, from the press of an arrow key on a slider to the
end of the first frame painted with the new picture (the first task after its animation frame), median of many moves.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # the browser is driven as in the tests

MOVES = 40
PAINTED = """
() => {
  window.painted = [];
  const changed = () => requestAnimationFrame(() => setTimeout(() => window.painted.push(performance.now())));
  new MutationObserver(changed).observe(document.querySelector(".lv-frame"), { childList: true });
}"""


def best(call, repeats: int = 15) -> float:
    """The shortest of several runs, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def making() -> list[tuple[str, float, float | None]]:
    """(what, milliseconds, the most it may take) for pictures made without a browser."""
    from layoutviz import Layout, to_figure, to_svg

    grid = Layout((64, 64), (64, 1))
    rows = [("SVG of a labelled 64x64", best(lambda: to_svg(grid)), 10)]
    rows.append(("SVG of a labelled 16x16", best(lambda: to_svg(Layout((16, 16), (16, 1)))), None))
    rows.append(("SVG of 128x128", best(lambda: to_svg(Layout((128, 128), (128, 1)))), None))
    with tempfile.TemporaryFile() as sink:
        rows.append(("matplotlib PNG of a labelled 64x64", best(lambda: to_figure(grid).savefig(sink), 3), None))
    start = [sys.executable, "-c", "import time; t = time.perf_counter(); import layoutviz; print(1000 * (time.perf_counter() - t))"]
    times = [float(subprocess.run(start, capture_output=True, text=True, check=True).stdout) for _ in range(7)]
    return [*rows, ("import layoutviz, in a new process", statistics.median(times), 400)]


def showing() -> list[tuple[str, float, float | None]]:
    """(what, milliseconds at the median, the most it may take) for slider moves in JupyterLab."""
    from conftest import start_lab, stop_lab
    from driving import browser_page, open_notebook, run_cell, write_notebook

    rows = []
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        lab = start_lab(folder, {"JUPYTER_CONFIG_DIR": home, "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"})
        try:
            for n, view, most in ((16, "grid", 50), (16, "memory_strip", None), (16, "transpose", None), (64, "grid", None)):
                name = f"{view}{n}.ipynb"
                write_notebook(folder / name, [f'from layoutviz import explore\nexplore("({n},{n}):({n},1)", "{view}")'])
                with browser_page(chromium()) as page:
                    open_notebook(page, lab.url(name))
                    run_cell(page, 0, "svg.lv")
                    times = move_slider(page)
                median, late = statistics.median(times), sorted(times)[int(0.95 * len(times))]
                rows.append((f"slider move to new {n}x{n} {view} painted in Lab (95th percentile {late:.0f})", median, most))
        finally:
            stop_lab(lab)
    return rows


def move_slider(page) -> list[float]:
    """Milliseconds from each of many key presses on the slider of stride 0 to the frame painted after it."""
    page.locator(".noUi-handle").nth(1).focus()
    page.evaluate(PAINTED)
    page.evaluate("() => document.addEventListener('keydown', e => { window.pressed = e.timeStamp; }, true)")
    times = []
    for move in range(MOVES):
        page.evaluate("() => { window.painted.length = 0; }")
        page.keyboard.press("ArrowLeft" if move % 2 == 0 else "ArrowRight")
        page.wait_for_function("() => window.painted.length > 0")
        times.append(page.evaluate("() => window.painted[0] - window.pressed"))
        page.wait_for_timeout(150)  # let the kernel go idle, or the next press waits for this one's messages
    return times


def chromium() -> str:
    from conftest import find_chromium

    found = find_chromium()
    if found is None:
        sys.exit("no Chromium: install the system's package chromium")
    return found


def main() -> None:
    print(f"{'what':<70}{'ms':>8}{'at most':>10}")
    for what, ms, most in chain.from_iterable(part() for part in (making, showing)):
        verdict = "" if most is None else f"{most:>10}" + ("" if ms <= most else "   MISSED")
        print(f"{what:<70}{ms:>8.1f}{verdict}", flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    main()
