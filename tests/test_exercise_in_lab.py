"""An exercise cell with a board in a real JupyterLab, from not attempted to right."""

import pytest
from driving import browser_page, open_notebook, run_cell, write_notebook

pytestmark = pytest.mark.browser


def test_an_exercise_is_answered_on_its_board_and_judged_below(lab, chromium_path):
    """The whole way: not attempted, wrong, right, each in place of the one before, with one set of hints."""
    write_notebook(lab.folder / "board.ipynb", ["import exercises", "%%exercise 01.3\ncells = ..."])
    with browser_page(chromium_path) as page:
        open_notebook(page, lab.url("board.ipynb"))
        run_cell(page, 0, ".jp-InputPrompt")
        cell = run_cell(page, 1, "text=Or answer below")
        cell.locator("button", has_text="Hint 1 of").wait_for(timeout=20_000)
        places = cell.locator(".lv-respond rect[data-k]")
        for place in (0, 1):
            places.nth(place).click()
        cell.locator("text=2 chosen").wait_for(timeout=20_000)
        cell.locator("button", has_text="Check").click()
        cell.locator("text=Not right yet").wait_for(timeout=20_000)
        cell.locator("text=Not attempted yet").wait_for(state="detached", timeout=20_000)
        cell.locator("button", has_text="Hint").first.wait_for(timeout=20_000)
        assert cell.locator("button", has_text="Hint").count() == 1 and cell.locator("text=To keep this answer").count() == 0
        cell.locator("button", has_text="Take all back").click()
        cell.locator("text=0 chosen").wait_for(timeout=20_000)
        for row, column in ((2, 1), (0, 2), (1, 2)):
            places.nth(4 * row + column).click()
        cell.locator("text=3 chosen").wait_for(timeout=20_000)
        cell.locator("button", has_text="Check").click()
        cell.locator("text=Four slots and three cells").wait_for(timeout=20_000)
        cell.locator("text=To keep this answer").wait_for(timeout=20_000)
        assert cell.locator("text=Not right yet").count() == 0 and page.errors == []
