"""Every explorer in a real JupyterLab: dragged, typed into, stepped and clicked."""

import pytest
from driving import browser_page, open_notebook, run_cell, wait_idle, write_notebook
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from samples import SAMPLES

from layoutviz.notation import format_tuple

pytestmark = pytest.mark.browser

PICTURE = "cell => [...cell.querySelectorAll('svg.lv .cells, svg.lv .labels, svg.lv text')].map(part => part.outerHTML).join()"


def test_every_explorer_is_dragged_typed_into_stepped_and_clicked(lab, chromium_path):
    """Each view once, as a reader would use it; nothing in the console, and no message left."""
    calls = [f"explore({next(iter(s.values()))!r}, {view!r}, **{dict(list(s.items())[1:])!r})" for view, s in SAMPLES.items()]
    write_notebook(lab.folder / "views.ipynb", ["from layoutviz import explore", *calls])
    with browser_page(chromium_path, height=1600) as page:
        open_notebook(page, lab.url("views.ipynb"))
        run_cell(page, 0, ".jp-InputPrompt")
        for n, view in enumerate(SAMPLES, 1):
            cell = run_cell(page, n, "svg.lv")
            before = cell.evaluate(PICTURE)

            def wait_for(condition, cell=cell, before=before, view=view):
                alert = "cell.querySelector('[role=alert]')"
                script = f"([cell, before]) => {{ const now = ({PICTURE})(cell), alert = {alert}; return {condition}; }}"
                try:
                    page.wait_for_function(script, arg=[cell.element_handle(), before], timeout=20_000)
                except PlaywrightTimeout:
                    told = cell.locator("[role=alert]").all_inner_texts()
                    pytest.fail(f"{view}: {condition} did not come true; it says {told}, {page.errors}")

            handle = cell.locator(".noUi-handle:visible").first
            handle.scroll_into_view_if_needed()
            box = handle.bounding_box()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.mouse.move(box["x"] + box["width"] / 2 - 60, box["y"] + box["height"] / 2, steps=4)
            page.mouse.up()
            wait_for("now !== before || alert")
            page.wait_for_timeout(300)  # the drag's last moves are on their way
            wait_idle(page)
            field = cell.get_by_role("textbox", name="state")
            field.fill("; ".join([f"view={view}", *(f"{name}={format_tuple(value)}" for name, value in SAMPLES[view].items())]))
            field.press("Enter")
            wait_for("now === before")  # a drag that was refused left it so
            cell.get_by_role("button", name="step").click()
            cell.locator(".lv-picked").first.wait_for(timeout=20_000)
            cell.locator("rect[data-k]").first.click(force=True)
            assert cell.locator(".lv-say").inner_text().strip(), f"{view}: nothing is said of a cell that is clicked"
            faults = [said for said in cell.locator("[role=alert]").all_inner_texts() if "Traceback" in said]
            assert faults == [] and page.errors == [], f"{view}: {faults} {page.errors}"


FAULTY = """
from layoutviz import explore
from layoutviz.api import VIEWS
explorer = explore("(4,4):(4,1)")
def broken(*values, **named): return 1 / 0
broken.__signature__ = __import__("inspect").signature(VIEWS["grid"])
VIEWS["grid"] = broken
explorer"""


def test_an_error_in_a_callback_is_shown_in_the_page(lab, chromium_path):
    write_notebook(lab.folder / "faulty.ipynb", [FAULTY])
    with browser_page(chromium_path) as page:
        open_notebook(page, lab.url("faulty.ipynb"))
        cell = run_cell(page, 0, "svg.lv")
        cell.locator(".noUi-handle").first.focus()
        page.keyboard.press("ArrowLeft")
        alert = cell.locator("[role=alert]")
        alert.wait_for(timeout=20_000)
        assert "ZeroDivisionError" in alert.inner_text() and "1 / 0" in alert.inner_text()
