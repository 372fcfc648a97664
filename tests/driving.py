"""Drive JupyterLab in a browser: open a notebook, run its cells, type into one. Shared by the browser tests and the benchmark."""

from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import Page, sync_playwright

PATIENCE = 90_000  # milliseconds: a first kernel on a busy machine takes its time


def write_notebook(path: Path, cells: list[str]) -> None:
    """A notebook of code cells. Without a kernelspec Lab would open a dialog over the page."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(notebook, path)


@contextmanager
def browser_page(chromium: str, width: int = 1300, height: int = 1000):
    """A page whose console errors are gathered in page.errors."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.errors = []
        page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        yield page
        browser.close()


def open_notebook(page: Page, url: str) -> None:
    """Open a notebook and wait until its kernel takes input."""
    page.goto(url)
    page.wait_for_selector(".jp-CodeCell .cm-content", timeout=PATIENCE)
    wait_idle(page)
    page.wait_for_selector(".jp-Spinner", state="detached", timeout=PATIENCE)
    page.wait_for_timeout(2000)  # idle is shown before the kernel takes input


def wait_idle(page: Page) -> None:
    page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=PATIENCE)


def run_cell(page: Page, number: int, shows: str):
    """Run the cell (counted from 0) and wait for what its output shows; return the cell's locator."""
    cell = page.locator(".jp-CodeCell").nth(number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    cell.locator(shows).first.wait_for(timeout=PATIENCE)
    wait_idle(page)
    return cell


def type_cell(page: Page, number: int, source: str) -> None:
    """Replace the source of a cell."""
    page.locator(".jp-CodeCell").nth(number).locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


# of a live picture: [x of its middle, y of its baseline, text] of each label, x from where the page has put its characters
LABELS = """
picture => {
  const middle = (line, first, last) => (line.getStartPositionOfChar(first).x + line.getEndPositionOfChar(last).x) / 2;
  const lines = [...picture.querySelectorAll(".labels[data-chars] text")].flatMap(line => {
    const chars = +line.parentNode.dataset.chars, cells = line.textContent.match(new RegExp(`.{1,${chars}}`, "g"));
    const labels = cells.map((cell, n) => [cell.trim(), n * chars + cell.search(/\\S/)]).filter(([label]) => label);
    return labels.map(([label, first]) => [middle(line, first, first + label.length - 1), +line.getAttribute("y"), label]);
  });
  const alone = [...picture.querySelectorAll(".labels tspan")].map(label =>
    [middle(label, 0, label.getNumberOfChars() - 1), +label.parentNode.getAttribute("y"), label.textContent]);
  return [...lines, ...alone];
}"""
