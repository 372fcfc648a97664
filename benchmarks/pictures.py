"""How fast pictures are made and shown. Prints a table; `make bench` runs it.

Making: the best of several runs in this process, and PyPI's `tensor-layouts` drawing the same in one run. Showing: in a real
JupyterLab, from a move of the pointer that drags a slider on to the end of the first frame painted with the new picture (the first task
after its animation frame), what 95 of 100 moves stay under.
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

MOVES = 100
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


def making() -> list[tuple[str, float, float | None, float | None]]:
    """(what, milliseconds, the most it may take, the peer's milliseconds) for pictures made without a browser."""
    import tensor_layouts as peer
    from tensor_layouts import viz

    from layoutviz import Layout, make_layout_tv, to_figure, to_svg

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n, most in ((16, None), (64, 10), (128, 40)):
            rival = best(lambda n=n: viz.draw_layout(peer.Layout((n, n), (n, 1)), filename=f"{folder}/p.svg", colorize=True), 1)
            rows.append((f"SVG of a labelled {n}x{n}", best(lambda n=n: to_svg(Layout((n, n), (n, 1)))), most, rival))
        rival = best(lambda: viz.draw_layout(peer.Layout((64, 64), (64, 1)), filename=f"{folder}/p.png", colorize=True), 1)
        figure = best(lambda: to_figure(Layout((64, 64), (64, 1))).savefig(f"{folder}/o.png"), 3)
        rows.append(("matplotlib PNG of a labelled 64x64", figure, 400, rival))
    tile, tv = make_layout_tv("(16,32):(32,1)", "(8,4):(4,1)")
    rows.append(("SVG of the tv view of 128x128", best(lambda: to_svg((tile, tv))), 60, None))
    rows.append(("SVG of the swizzle view of 128x128", best(lambda: to_svg("(128,128):(128,1)", "swizzle")), 60, None))
    start = [sys.executable, "-c", "import time; t = time.perf_counter(); import layoutviz; print(1000 * (time.perf_counter() - t))"]
    times = [float(subprocess.run(start, capture_output=True, text=True, check=True).stdout) for _ in range(7)]
    return [*rows, ("import layoutviz, in a new process", statistics.median(times), 400, None), *memory_growth()]


def memory_growth() -> list[tuple[str, float, float | None, float | None]]:
    """Megabytes that 1,000 slider moves add to the process, after the first 100."""
    import resource

    from layoutviz import explore

    explorer = explore("(16,16):(16,1)")
    slider = explorer.controls["layout"].sliders[2]
    for move in range(1100):
        slider.value = move % 30
        if move == 100:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return [("1,000 slider moves: growth of memory, MB", grown, 20, None)]


def showing() -> list[tuple[str, float, float | None, float | None]]:
    """(what, milliseconds that 95 of 100 moves stay under, the most it may be, nothing) for slider moves in JupyterLab."""
    from conftest import start_lab, stop_lab
    from driving import browser_page, open_notebook, run_cell, write_notebook

    rows = []
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        lab = start_lab(folder, {"JUPYTER_CONFIG_DIR": home, "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"})
        try:
            for n, view, most in ((16, "grid", 80), (16, "memory_strip", 80), (16, "transpose", 80), (64, "grid", 150)):
                name = f"{view}{n}.ipynb"
                write_notebook(folder / name, [f'from layoutviz import explore\nexplore("({n},{n}):({n},1)", "{view}")'])
                with browser_page(chromium()) as page:
                    open_notebook(page, lab.url(name))
                    run_cell(page, 0, "svg.lv")
                    times = move_slider(page)
                median, late = statistics.median(times), sorted(times)[int(0.95 * len(times))]
                rows.append((f"slider move to new {n}x{n} {view} painted, 95 of 100 (median {median:.0f})", late, most, None))
        finally:
            stop_lab(lab)
    return rows


def move_slider(page) -> list[float]:
    """Milliseconds from each of many moves while the slider of stride 0 is dragged to the frame painted after it."""
    box = page.locator(".noUi-handle").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(PAINTED)
    page.evaluate("() => document.addEventListener('pointermove', e => { window.moved = e.timeStamp; }, true)")
    page.mouse.move(x, y)
    page.mouse.down()
    times = []
    for move in range(MOVES):
        page.evaluate("() => { window.painted.length = 0; }")
        page.mouse.move(x - 20 * (1 - move % 2), y)
        page.wait_for_function("() => window.painted.length > 0")
        times.append(page.evaluate("() => window.painted[0] - window.moved"))
        page.wait_for_timeout(150)  # let the kernel go idle, or the next move waits for this one's messages
    page.mouse.up()
    return times


def chromium() -> str:
    from conftest import find_chromium

    found = find_chromium()
    if found is None:
        sys.exit("no Chromium: install the system's package chromium")
    return found


def main() -> None:
    print(f"{'what':<72}{'ms':>8}{'at most':>10}{'peer, ms':>10}")
    for what, ms, most, peer in chain.from_iterable(part() for part in (making, showing)):
        verdict = "   MISSED" if most is not None and ms > most else ""
        print(f"{what:<72}{ms:>8.1f}{most or '':>10}{f'{peer:.0f}' if peer else '':>10}{verdict}", flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    main()
