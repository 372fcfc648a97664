"""Answers clicked, filled in, chosen and typed in a real JupyterLab, with the mouse and with the keyboard alone."""

import pytest
from driving import browser_page, open_notebook, run_cell, write_notebook

from layoutviz.color import contrast

pytestmark = pytest.mark.browser

SETUP = """
import time
import ipywidgets
from exercises.engine.respond import choose, click_cells, fill_grid, number
def shown(kind, seconds=0):
    got, said = [], ipywidgets.Label()
    def submit(answers):
        time.sleep(seconds)
        got.append(answers)
        said.value = f"got {len(got)}: {answers}"
    return ipywidgets.VBox([kind(submit), said])
def broken(answers):
    raise KeyError("planted")"""
CELLS = [
    SETUP,
    'shown(click_cells("cells", "(3,(2,2)):(4,(1,2))", count=2))',
    'shown(fill_grid("offsets", 2, 3, given={(0, 1): 5}))',
    'shown(choose("order", ["row-major", "column-major", "neither of these", "it depends on the shape", "it depends on the strides"]))',
    'shown(number("cosize"), seconds=1)',
    'number("size")(broken)',
    'shown(fill_grid("offsets", 8, 8))',
]


@pytest.fixture(scope="module")
def page(lab, chromium_path):
    write_notebook(lab.folder / "respond.ipynb", CELLS)
    with browser_page(chromium_path) as page:
        open_notebook(page, lab.url("respond.ipynb"))
        run_cell(page, 0, ".jp-InputPrompt")
        yield page
        assert page.errors == []


def check(cell):
    return cell.get_by_role("button", name="Check")


def wait_for(cell, words: str) -> None:
    cell.get_by_text(words).first.wait_for(timeout=10_000)


def wait_until_can_check(page, cell) -> None:
    page.wait_for_function("button => button.ariaDisabled === 'false'", arg=check(cell).element_handle(), timeout=10_000)


def kept(cell) -> str:
    """The line of code that is offered."""
    return cell.locator("pre", has_text=" = ").last.inner_text()


def test_cells_are_clicked(page):
    cell = run_cell(page, 1, "svg.lv")
    assert check(cell).is_disabled() and "0 of 2 chosen." in cell.inner_text()
    cells = cell.locator("rect[data-k]")
    for n in (6, 1, 4):
        cells.nth(n).click()
    wait_for(cell, "3 of 2 chosen. Take 1 back.")
    assert check(cell).is_disabled() and cell.locator(".lights .lv-picked").count() == 3
    cells.nth(4).click()
    wait_until_can_check(page, cell)
    check(cell).click()
    wait_for(cell, "got 1: {'cells': [(1, 2), (0, 1)]}")
    assert kept(cell) == "cells = [(1, 2), (0, 1)]"
    cell.get_by_role("button", name="Take all back").click()
    wait_for(cell, "0 of 2 chosen.")
    assert cell.locator(".lights .lv-picked").count() == 0 and check(cell).is_disabled()


def test_cells_are_picked_by_keys_alone(page):
    cell = run_cell(page, 1, "svg.lv")
    cell.locator(".lv-frame").focus()
    for key in ("ArrowRight", "Enter", "ArrowDown", "ArrowRight", " "):
        page.keyboard.press(key)
    wait_for(cell, "2 of 2 chosen.")
    wait_until_can_check(page, cell)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for(cell, "got 1: {'cells': [(0, 0), (1, 1)]}")
    assert check(cell).evaluate("button => document.activeElement === button")  # the reader can go on from here
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for(cell, "0 of 2 chosen.")


def test_a_grid_is_filled_in_by_keys(page):
    cell = run_cell(page, 2, ".lv-fill input")
    assert cell.locator(".lv-fill input").count() == 5 and "5 of 5 left." in cell.inner_text()
    field = lambda place: cell.get_by_role("textbox", name=place)  # noqa: E731
    field("(0,0)").click()
    page.keyboard.type("0")
    page.keyboard.press("Tab")
    page.keyboard.type("2.5")
    wait_for(cell, '3 of 5 left. At (0,2), "2.5" is not a whole number.')
    assert field("(0,2)").input_value() == "2.5"  # Tab went along the row, past the number that is given
    field("(0,2)").fill("-8")
    field("(0,2)").press("Enter")
    for key in ("1", "Enter", "3", "Enter", "1", "2", "Enter", "Enter"):  # the last one presses Check; the kernel is behind
        page.keyboard.press(key)
    wait_for(cell, "got 1: {'offsets': [0, 1, 5, 3, -8, 12]}")
    assert kept(cell) == "offsets = [0, 1, 5, 3, -8, 12]"


def test_one_of_a_few_is_chosen(page):
    cell = run_cell(page, 3, ".lv-choose button")
    assert check(cell).is_disabled()
    cell.get_by_role("button", name="neither").click()
    wait_until_can_check(page, cell)
    wait_for(cell, "Chosen: neither of these")
    mark = "button => getComputedStyle(button, '::before').content"
    buttons = cell.locator(".lv-choose button")
    assert [buttons.nth(n).evaluate(mark) for n in range(3)] == ["none", "none", '"✓ "']
    check(cell).click()
    wait_for(cell, "got 1: {'order': 'neither of these'}")
    buttons.nth(1).focus()
    page.keyboard.press("Space")
    wait_for(cell, "Chosen: column-major")
    assert kept_count(cell) == 0  # the line belonged to the other answer
    check(cell).focus()
    page.keyboard.press("Enter")
    wait_for(cell, "got 2: {'order': 'column-major'}")
    assert kept(cell) == "order = 'column-major'"


def kept_count(cell) -> int:
    return cell.locator("pre", has_text="order = ").count()


def test_a_number_is_checked_by_enter_and_once_however_often_it_is_pressed(page):
    cell = run_cell(page, 4, "input[type=text]")
    field = cell.get_by_role("textbox", name="cosize")
    field.click()
    page.keyboard.type("1x")
    wait_for(cell, '"1x" is not a whole number.')
    page.keyboard.press("Backspace")
    page.keyboard.type("9")
    for _ in range(3):  # the check takes a second
        page.keyboard.press("Enter")
    wait_for(cell, "got 1: {'cosize': 19}")
    check(cell).dblclick()
    wait_for(cell, "got 2: {'cosize': 19}")
    page.wait_for_timeout(1500)
    assert "got 2:" in cell.inner_text() and kept(cell) == "cosize = 19"


def test_what_the_check_raises_is_shown(page):
    cell = run_cell(page, 5, "input[type=text]")
    cell.get_by_role("textbox", name="size").fill("3")
    wait_until_can_check(page, cell)
    check(cell).click()
    alert = cell.locator("[role=alert]")
    alert.wait_for(timeout=10_000)
    assert "our fault" in alert.inner_text() and "KeyError: 'planted'" in alert.inner_text()
    assert kept(cell) == "size = 3"


# colours of the words and numbers, each with the paper behind it, and whether anything is cut off
LOOK = """
cell => {
  const paper = element => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (!/, 0\\)|transparent/.test(colour)) return colour;
    }
  };
  const parts = [...cell.querySelectorAll(".lv-fill input, .lv-respond [role=status], .lv-fill .widget-html-content > div")];
  const fields = [...cell.querySelectorAll(".lv-fill input")], frame = cell.querySelector(".jp-OutputArea").getBoundingClientRect();
  return {
    colours: parts.map(part => [getComputedStyle(part).color, paper(part)]),
    cut: fields.filter(f => f.scrollWidth > f.clientWidth || f.getBoundingClientRect().right > frame.right).length,
    fields: fields.length,
  };
}"""


def hex_colour(rgb: str) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in rgb[rgb.index("(") + 1 : -1].split(",")[:3])


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_a_grid_of_64_fits_each_theme_and_a_narrow_page(page, theme):
    page.click("text=Settings >> nth=0")
    page.hover(".lm-Menu-item:has-text('Theme') >> nth=0")
    page.click(f".lm-Menu-item:has-text('{theme}') >> nth=-1")
    page.wait_for_function("dark => document.body.dataset.jpThemeLight === String(!dark)", arg="Dark" in theme, timeout=20_000)
    cell = run_cell(page, 6, ".lv-fill input >> nth=63")
    for n in (0, 7, 63):
        cell.locator(".lv-fill input").nth(n).fill("-1023")
    browser = page.locator('.jp-SideBar li[data-id="filebrowser"]')
    browser.click()  # closed: it leaves a narrow page no room
    page.set_viewport_size({"width": 600, "height": 1000})
    page.wait_for_timeout(500)
    look = cell.evaluate(LOOK)
    page.set_viewport_size({"width": 1300, "height": 1000})
    browser.click()
    assert (look["fields"], look["cut"]) == (64, 0)
    assert len(look["colours"]) == 64 + 1 + 17
    for ink, paper in look["colours"]:
        assert contrast(hex_colour(ink), hex_colour(paper)) >= 4.5, (theme, ink, paper)
