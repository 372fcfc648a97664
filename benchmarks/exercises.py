"""How soon an exercise answers. Prints a table; `make bench` runs it.

Layout exercises: in a real JupyterLab, from Shift-Enter to the first frame painted with the verdict, the median of many. Kernel exercises:
from the run of the cell to the verdict, in a child process that is ready; on a GPU each listed kernel is judged on it and the verdict
shown, without one it is compiled.
"""

import os
import statistics
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]  # kernels and the browser are as in the tests
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH"))))

RUNS = 30
SETUP = "import cutlass\nimport cutlass.cute as cute"
NAIVE = (ROOT / "ladder" / "naive.py").read_text(encoding="utf-8").split("if __name__")[0] + "\ngemm = naive_gemm"
PREDICATE = "if m < cute.size(mC, mode=[0]) and n < cute.size(mC, mode=[1]):"
START = "    m, n = TILE"
# a kernel, what is changed in it, and the word of the verdict that it must get on a GPU
KERNELS = {
    "as it is": ({}, "RIGHT"),
    "no predicate on m": ({PREDICATE: "if n < cute.size(mC, mode=[1]):"}, "WRONG"),
    "no predicate": ({PREDICATE: "if True:"}, "WRONG"),
    "A read transposed": ({"mA[m, k].to": "mA[k, m].to"}, "WRONG"),
    "A for B": ({"mB[n, k].to": "mA[n, k].to"}, "WRONG"),
    "one k short": ({"cute.size(mA, mode=[1]), unroll": "cute.size(mA, mode=[1]) - 1, unroll"}, "WRONG"),
    "every other k": ({"cute.size(mA, mode=[1]), unroll": "0, cute.size(mA, mode=[1]), 2, unroll"}, "WRONG"),
    "only the first warp of a block": ({PREDICATE: PREDICATE.replace(":", "") + " and thread_n < 2:"}, "WRONG"),
    "sums in half precision": ({"cutlass.Float32(0)": "cutlass.Float16(0)", ".to(cutlass.Float32)": ""}, "WRONG"),
    "C swapped": ({"mC[m, n] = dot(mA, mB, m, n)": "mC[m, n] = dot(mB, mA, m, n)"}, "WRONG"),
    "zeros": ({"dot(mA, mB, m, n).to(mC.element_type)": "mC.element_type(0)"}, "WRONG"),
    "far outside": ({"mC[m, n] =": "mC[m + 100000000, n + 100000000] ="}, "RAISED"),
    "prints": ({START: f'    if thread_m + thread_n + block_m == 0:\n        cute.printf("hello %d\\n", block_n)\n{START}'}, "RIGHT"),
    "a loop without end": ({START: f"    while thread_m >= 0:\n        mC[0, 0] = mC[0, 0] + mC.element_type(1)\n{START}"}, "DIED"),
}


def kernels() -> list[tuple[str, float, float | None, str]]:
    """(what, seconds, at most, verdict) of each kernel, each in a child that waits for it."""
    from dataclasses import replace

    from kernel_exercises import GEMM

    from exercises.engine import sandbox
    from ladder.preflight import preflight

    on_gpu, rows = preflight().can_run, []
    for name, (changes, wanted) in KERNELS.items():
        if wanted in ("DIED", "RAISED") and not on_gpu:
            continue  # compiled alone it is like any other
        source = NAIVE
        for old, new in changes.items():
            assert old in source, f"{name}: {old} is not in the kernel"
            source = source.replace(old, new)
        sandbox.get_ready()
        time.sleep(12)  # while the reader reads
        started = time.perf_counter()
        verdict = sandbox.run(replace(GEMM, limit=20), SETUP, source, lambda text: print(text, end="", file=sys.stderr))
        seconds = time.perf_counter() - started
        good = verdict.state.name == (wanted if on_gpu else "COMPILED")
        named = f" [{verdict.mistake.name}]" if verdict.mistake else ""
        told = f"{verdict.state.name}{'' if good else ', NOT ' + wanted}: {verdict.message}{named}"
        rows.append((f"kernel exercise: {name}", seconds, None if wanted == "DIED" else 4, told))
    return rows


def layouts() -> list[tuple[str, float, float | None, str]]:
    """The layout exercise 01.2 in JupyterLab, wrong and right in turn: the median, in seconds."""
    from conftest import find_chromium, start_lab, stop_lab
    from driving import browser_page, open_notebook, run_cell, write_notebook

    cells = ["import exercises\nfrom layoutviz import Layout"]
    cells += [f"%%exercise 01.2\nlayout = Layout((6, 5), ({rows}, 1))" for rows in (8, 5)]
    with tempfile.TemporaryDirectory() as home:
        settings = {"JUPYTER_CONFIG_DIR": home, "LAYOUTVIZ_PROGRESS": f"{home}/p.json", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}
        lab = start_lab(Path(home), settings)
        try:
            write_notebook(Path(home) / "timed.ipynb", cells)
            with browser_page(find_chromium()) as page:
                open_notebook(page, lab.url("timed.ipynb"))
                for number, shows in enumerate((".jp-InputPrompt", "text=Right", "text=Not right yet")):
                    run_cell(page, number, shows)
                times = [_verdict_painted(page, 1 + run % 2) for run in range(RUNS)]
        finally:
            stop_lab(lab)
    what = f"layout exercise: Shift-Enter to verdict painted, median of {RUNS} (worst {max(times):.2f})"
    return [(what, statistics.median(times), 0.15, "")]


VERDICT = """number => {
  const cell = document.querySelectorAll('.jp-CodeCell')[number];
  window.verdict = null;
  document.addEventListener('keydown', event => { if (event.key === 'Enter') window.pressed = event.timeStamp; }, true);
  const words = "div[style*='border-left']";
  const seen = new MutationObserver(changes => {
    const added = changes.flatMap(change => [...change.addedNodes]).filter(node => node.nodeType === 1);
    if (!added.some(node => node.matches(words) || node.querySelector(words))) return;
    seen.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.verdict = performance.now(); }));
  });
  seen.observe(cell, { childList: true, subtree: true });
}"""


def _verdict_painted(page, number: int) -> float:
    """Seconds from Shift-Enter in a cell to the frame that shows its new verdict."""
    cell = page.locator(".jp-CodeCell").nth(number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Escape")
    page.evaluate(VERDICT, number)
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("() => window.verdict !== null")
    page.wait_for_timeout(400)  # the picture and the kernel come to rest
    return page.evaluate("() => (window.verdict - window.pressed) / 1000")


def main() -> None:
    parts = {"layouts": layouts, "kernels": kernels}
    print(f"{'what':<84}{'s':>8}{'at most':>10}")
    for what, seconds, most, told in chain.from_iterable(parts[name]() for name in sys.argv[1:] or parts):
        print(f"{what:<84}{seconds:>8.2f}{most or '':>10}{'   MISSED' if most and seconds > most else ''}   {told}", flush=True)


if __name__ == "__main__":
    main()
