"""A real JupyterLab in a real browser: drag, type, click, keys, and an exercise answered wrong and then right."""

import pytest
from driving import LABELS, browser_page, open_notebook, run_cell, type_cell, write_notebook

from layoutviz import Layout
from layoutviz.color import contrast, luminance

pytestmark = pytest.mark.browser

CELLS = [
    'import exercises, ipywidgets\nfrom layoutviz import Layout, draw, explore\nexplore("(16,16):(16,1)")',
    'board = draw("(4,6):(6,1)", "transpose")\nsaid = ipywidgets.Label("nothing")\n'
    'board.observe(lambda change: setattr(said, "value", f"picked {change.new}"), "picked")\nipywidgets.VBox([board, said])',
    'one, two = draw("(4,4):(4,1)"), draw("(4,4):(1,4)")\nipywidgets.VBox([one, two])',
    "%%exercise 01.1\noffsets = ...",
    "from exercises import ask_cells\n"
    'ask_cells("Which two come first?", Layout((2, 3), (3, 1)), offsets=range(2), why="Row by row.")',
    'Layout("(4,(2,2)):(2,(1,8))")',
    'one, two = draw("(4,4):(4,1)"), draw("(4,4):(4,1)", "tiles")\nipywidgets.VBox([one, two])',
]


@pytest.fixture(scope="module")
def page(lab, chromium_path):
    write_notebook(lab.folder / "driven.ipynb", CELLS)
    with browser_page(chromium_path) as page:
        open_notebook(page, lab.url("driven.ipynb"))
        yield page
        assert page.errors == []


@pytest.fixture(scope="module")
def explorer(page):
    return run_cell(page, 0, "svg.lv")


def shown_layout(explorer) -> list[list[int]]:
    """The numbers on the explorer's grid, by rows of the page."""
    rows = {}
    for x, y, number in explorer.locator("svg.lv").evaluate(LABELS):
        rows.setdefault(y, []).append((x, int(number)))
    return [[number for _, number in sorted(row)] for _, row in sorted(rows.items())]


def expected(layout) -> list[list[int]]:
    rows, cols = layout.shape
    return [[layout(i, j) for j in range(cols)] for i in range(rows)]


def wait_for_title(explorer, layout) -> None:
    explorer.locator("svg.lv text.title", has_text=str(layout)).wait_for(timeout=10_000)


def test_a_slider_moves_by_key_and_the_picture_changes(page, explorer):
    assert shown_layout(explorer) == expected(Layout((16, 16), (16, 1)))
    explorer.locator(".noUi-handle").nth(1).focus()  # stride 0
    page.keyboard.press("ArrowRight")
    wait_for_title(explorer, Layout((16, 16), (17, 1)))
    assert shown_layout(explorer) == expected(Layout((16, 16), (17, 1)))
    assert explorer.get_by_role("textbox", name="layout").input_value() == "(16,16):(17,1)"


def test_a_slider_is_dragged_and_the_last_value_is_what_is_drawn(page, explorer):
    box = explorer.locator(".noUi-handle").nth(2).bounding_box()  # shape 1
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 70, box["y"] + 5, steps=15)
    page.mouse.up()
    page.wait_for_timeout(1000)
    columns = int(explorer.locator(".widget-readout").nth(2).inner_text())
    assert 1 <= columns < 16
    assert shown_layout(explorer) == expected(Layout((16, columns), (17, 1)))


def test_notation_is_typed_and_a_fault_in_it_is_pointed_at(page, explorer):
    field = explorer.get_by_role("textbox", name="layout")
    field.fill("(3,(2,2)):(1,(3,6))")
    field.press("Enter")
    wait_for_title(explorer, "(3,(2,2)):(1,(3,6))")
    explorer.locator(".noUi-handle:visible").nth(5).wait_for(timeout=10_000)  # the sliders come after the picture
    assert explorer.locator(".noUi-handle:visible").count() == 6
    field.fill("(3,x):(1,3)")
    field.press("Enter")
    alert = explorer.locator("[role=alert]")
    alert.wait_for(timeout=10_000)
    lines = alert.inner_text().split("\n")
    assert "not part of the notation" in lines[0] and lines[2].index("^") == lines[1].index("x")
    assert lines[3] == "The picture is as it was, with layout (3,(2,2)):(1,(3,6))."
    wait_for_title(explorer, "(3,(2,2)):(1,(3,6))")
    field.fill("(2,2):(0,1)")
    field.press("Enter")
    wait_for_title(explorer, "(2,2):(0,1)")
    caption = " ".join(explorer.locator(".lv-caption").all_text_contents())
    assert "2 slots are shared (aliasing): (0,0) and (1,0) both have offset 0." in caption
    alert.wait_for(state="detached", timeout=10_000)


def outlined(cell, kind: str) -> list[str]:
    """The tips of the cells that are outlined in this way."""
    return cell.evaluate(
        """(cell, kind) => [...cell.querySelectorAll(`.lights .${kind}`)].map(box => {
            const same = r => ["x", "y"].every(a => r.getAttribute(a) === box.getAttribute(a));
            return [...box.closest("svg").querySelectorAll("rect[data-k]")].find(same).dataset.t;
        })""",
        kind,
    )


def test_a_click_lights_the_twin_and_the_slot_and_python_knows(page):
    cell = run_cell(page, 1, "svg.lv")
    cell.locator('rect[data-k="8"]').first.click()
    cell.locator("text=picked [8]").wait_for(timeout=10_000)
    assert outlined(cell, "lv-picked") == [
        "index 9 · coordinate (1,2) · offset 8",
        "index 8 · coordinate (2,1) · offset 8",
        "offset 8 · coordinate (1,2), index 9",
    ]
    assert "index 9 · coordinate (1,2) · offset 8" in cell.locator(".lv-say").inner_text()
    cell.locator('rect[data-k="8"]').first.click()
    cell.locator("text=picked []").wait_for(timeout=10_000)
    assert outlined(cell, "lv-picked") == []


def test_two_boards_of_one_output_light_up_together_and_others_do_not(page):
    cell = run_cell(page, 2, "svg.lv >> nth=1")
    cell.locator('rect[data-k="1"]').first.hover()
    assert outlined(cell, "lv-lit") == ["index 4 · coordinate (0,1) · offset 1", "index 1 · coordinate (1,0) · offset 1"]
    assert outlined(page.locator(".jp-CodeCell").nth(1), "lv-lit") == []
    page.mouse.move(5, 5)


def test_the_keyboard_walks_and_picks(page):
    cell = page.locator(".jp-CodeCell").nth(2)
    cell.locator(".lv-frame").first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert outlined(cell, "lv-picked") == ["index 5 · coordinate (1,1) · offset 5"] * 2
    assert outlined(cell, "lv-cursor") == ["index 5 · coordinate (1,1) · offset 5"]
    page.keyboard.press("Enter")
    assert outlined(cell, "lv-picked") == []


def test_an_exercise_is_told_wrong_then_right(page):
    cell = run_cell(page, 3, "text=Not attempted yet")
    type_cell(page, 3, "%%exercise 01.1\noffsets = [1, 2, 3, 6, 12]")
    cell = run_cell(page, 3, "text=Not right yet")
    assert "Index 1 is coordinate (1,0)" in cell.inner_text()
    cell.locator("svg.lv .mark-wrong").first.wait_for()
    cell.locator("button", has_text="Hint for this mistake").click()
    cell.locator("text=Hint for this mistake (").wait_for()
    cell.locator("button", has_text="Hint 1 of 3").click()
    cell.locator("text=Hint 1.").wait_for()
    type_cell(page, 3, "%%exercise 01.1\noffsets = [5 * (n % 3) + n // 3 for n in (1, 2, 3, 5, 10)]")
    cell = run_cell(page, 3, "text=The index counts down the columns")
    assert cell.locator("svg.lv .mark-wrong").count() == 0


def test_a_question_answers_when_as_many_cells_are_clicked(page):
    cell = run_cell(page, 4, "svg.lv")
    assert cell.locator(".labels text").count() == 0
    places = cell.locator("rect[data-k]")
    places.nth(0).click()
    places.nth(5).click()
    cell.locator("text=Not so. You clicked the cells with 0, 5. Row by row.").wait_for(timeout=10_000)
    cell.locator(".mark-wrong").first.wait_for()
    assert len(cell.locator("svg.lv").evaluate(LABELS)) == 12  # the offsets, and the strip
    assert outlined(cell, "lv-picked")[:2] == ["index 0 · coordinate (0,0) · offset 0", "index 2 · coordinate (0,1) · offset 1"]
    cell.locator("button", has_text="Ask again").click()
    page.wait_for_function("cell => !cell.querySelector('.labels text')", arg=cell.element_handle(), timeout=10_000)
    places.nth(0).click()
    places.nth(1).click()
    cell.locator("text=Yes. You clicked the cells with 0, 1. Row by row.").wait_for(timeout=10_000)


def test_a_layout_typed_last_shows_itself_as_a_board(page):
    cell = run_cell(page, 5, "svg.lv")
    assert cell.locator(".lv-board text.title").text_content() == "(4,(2,2)):(2,(1,8))"


LOOK = """
cell => {
  const picture = cell.querySelector("svg.lv"), scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
  const colour = (element, what) => getComputedStyle(element)[what].match(/\\d+/g).slice(0, 3).map(Number);
  return {
    label: parseFloat(picture.querySelector(".labels").getAttribute("font-size")) * scale,
    overflow: picture.getBoundingClientRect().right - cell.querySelector(".lv-frame").getBoundingClientRect().right,
    paper: colour(picture.querySelector(".paper"), "fill"),
    head: colour(picture.querySelector(".head"), "fill"),
    title: colour(picture.querySelector(".title"), "fill"),
    say: colour(cell.querySelector(".lv-say"), "color"),
  };
}"""


def hex_colour(rgb) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in rgb)


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_a_board_fits_each_theme_and_a_narrow_page(page, theme):
    page.click("text=Settings >> nth=0")
    page.hover(".lm-Menu-item:has-text('Theme') >> nth=0")
    page.click(f".lm-Menu-item:has-text('{theme}') >> nth=-1")
    page.wait_for_function("dark => document.body.dataset.jpThemeLight === String(!dark)", arg="Dark" in theme, timeout=20_000)
    page.wait_for_timeout(500)
    cell = page.locator(".jp-CodeCell").nth(1)
    wide = cell.evaluate(LOOK)
    for part in ("head", "title", "say"):
        assert contrast(hex_colour(wide[part]), hex_colour(wide["paper"])) >= 4.5, (theme, part)
    assert (luminance(hex_colour(wide["paper"])) < 0.2) == ("Dark" in theme)
    page.set_viewport_size({"width": 760, "height": 1000})
    page.wait_for_timeout(500)
    narrow = cell.evaluate(LOOK)
    page.set_viewport_size({"width": 1300, "height": 1000})
    assert 8 <= narrow["label"] < wide["label"] == 13


def test_boards_that_link_by_different_things_leave_each_other_alone(page):
    cell = run_cell(page, 6, "svg.lv")
    offsets, tiles = cell.locator(".lv-board").nth(0), cell.locator(".lv-board").nth(1)
    offsets.locator('rect[data-k="1"]').hover()
    offsets.locator(".lv-lit").first.wait_for(timeout=10_000)
    assert (offsets.locator(".lv-lit").count(), tiles.locator(".lv-lit").count()) == (1, 0)  # offset 1 is not index 1
    tiles.locator('rect[data-k="1"]').first.hover()
    tiles.locator(".lv-lit").first.wait_for(timeout=10_000)
    assert (offsets.locator(".lv-lit").count(), tiles.locator(".lv-lit").count()) == (0, 2)
