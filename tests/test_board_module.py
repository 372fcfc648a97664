"""The Board's ES module alone on a bare page, as any front end would load it: no Lab, no kernel, a model of a few lines."""

from pathlib import Path

import pytest
from driving import LABELS, browser_page
from samples import SAMPLES

from layoutviz import Layout
from layoutviz.api import VIEWS
from layoutviz.render.geometry import layout_scene
from layoutviz.render.svg import svg
from layoutviz.views.grid import grid
from layoutviz.views.memory_strip import memory_strip

pytestmark = pytest.mark.browser
WIDGETS = Path(svg.__code__.co_filename).parent.parent / "widgets"

MOUNT = """
async ([code, boards]) => {
  const { default: board } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  document.body.replaceChildren();
  window.models = boards.map(({ output, ...state }) => {
    const model = { state, saved: 0, heard: {} };
    model.get = name => model.state[name];
    model.set = (name, value) => { model.state[name] = value; (model.heard[`change:${name}`] ?? []).forEach(call => call()); };
    model.on = (event, call) => (model.heard[event] ??= []).push(call);
    model.off = (event, call) => (model.heard[event] = model.heard[event].filter(other => other !== call));
    model.save_changes = () => model.saved++;
    let parent = document.getElementById(output);
    if (output && !parent) {
      parent = document.createElement("div");
      parent.className = "output"; parent.id = output;
      document.body.append(parent);
    }
    const el = document.createElement("div");
    (parent ?? document.body).append(el);
    model.close = board.render({ model, el });
    return model;
  });
}"""


@pytest.fixture(scope="module")
def page(chromium_path):
    with browser_page(chromium_path) as page:
        page.set_content("<body></body>")
        page.add_style_tag(content=(WIDGETS / "board.css").read_text())
        yield page
        assert page.errors == []


def mount(page, *scenes, output="", multiple=False):
    """Put a board of each scene on the empty page; an output of its own for each if `output` is None."""
    page.mouse.move(1, 990)  # what is drawn there is not under the pointer
    names = [output if output is not None else f"output{n}" for n in range(len(scenes))]
    boards = [
        {"svg": svg(s, live=True), "caption": s.caption, "walked": -1, "picked": [], "multiple": multiple, "output": o}
        for s, o in zip(scenes, names, strict=True)
    ]
    page.evaluate(MOUNT, [(WIDGETS / "board.js").read_text(), boards])
    return [page.locator(".lv-board").nth(n) for n in range(len(scenes))]


def boxes(board, kind: str) -> list[str]:
    """The link values of the cells outlined in this way."""
    script = """(board, kind) => {
      const place = r => ["x", "y", "width", "height"].map(name => r.getAttribute(name)).join();
      return [...board.querySelectorAll(`.lights .${kind}`)].map(box =>
        [...board.querySelectorAll("rect[data-k]")].find(cell => place(cell) === place(box)).dataset.k);
    }"""
    return board.evaluate(script, kind)


def picked(page) -> list[list[str]]:
    return page.evaluate("models.map(model => model.state.picked)")


@pytest.mark.parametrize("view", SAMPLES)
def test_each_label_stands_in_the_middle_of_its_cell(page, view):
    scene = VIEWS[view](**SAMPLES[view])
    (board,) = mount(page, scene)
    shown = {(round(x), round(y)): (x, label) for x, y, label in board.locator("svg.lv").evaluate(LABELS)}
    count = 0
    for place in layout_scene(scene).places:
        panel = place.panel
        for r, c, label in zip(panel.row, panel.col, panel.labels if place.font else [], strict=place.font > 0):
            if label:
                middle, baseline = place.x + (c + 0.5) * place.cell_w, place.y + (r + 0.5) * place.cell_h + 0.35 * place.font
                near = [shown[x, round(baseline)] for x in range(int(middle) - 1, int(middle) + 3) if (x, round(baseline)) in shown]
                assert [text for x, text in near if abs(x - middle) < 1] == [label], f"{panel.title}, cell ({r},{c})"
                count += 1
    assert count == len(shown)


@pytest.mark.parametrize("family", ["monospace", "'Courier New',monospace", "'DejaVu Sans Mono'"])
def test_labels_stay_in_their_cells_whatever_the_font(page, monkeypatch, family):
    monkeypatch.setattr("layoutviz.render.svg.MONO", family)
    (board,) = mount(page, grid(Layout("(3,60):(60,1)")))
    shown = {label: x for x, _, label in board.locator("svg.lv").evaluate(LABELS)}
    cells = board.locator("rect[data-k]").evaluate_all(
        "cells => cells.map(cell => [cell.dataset.k, +cell.getAttribute('x') + +cell.getAttribute('width') / 2])"
    )
    assert len(shown) == 180 and all(abs(shown[key] - middle) < 1 for key, middle in cells)


def test_labels_beyond_ascii_are_placed_one_by_one(page):
    (board,) = mount(page, grid(Layout("(2,2):(2,1)"), labels=["é", "日本", "c", "d"]))
    assert sorted(board.locator(".labels tspan").all_text_contents()) == ["c", "d", "é", "日本"]


def test_hover_says_what_a_cell_is_and_lights_its_twins_on_every_board(page):
    one, two = mount(page, grid(Layout("(4,4):(4,1)")), memory_strip(Layout("(4,4):(4,1)")))
    one.locator('rect[data-k="6"]').hover()
    assert boxes(one, "lv-lit") == boxes(two, "lv-lit") == ["6"]
    assert one.locator(".lv-say").inner_text() == "index 9 · coordinate (1,2) · offset 6"
    assert "offset 6" in two.locator(".lv-say").inner_text()
    page.mouse.move(1, 990)
    assert boxes(one, "lv-lit") == boxes(two, "lv-lit") == [] and one.locator(".lv-say").inner_text() == ""
    assert picked(page) == [[], []]


def test_a_click_picks_on_every_board_and_tells_the_models(page):
    one, two = mount(page, grid(Layout("(4,4):(4,1)")), grid(Layout("(4,4):(1,4)")))
    one.locator('rect[data-k="6"]').click()
    assert picked(page) == [["6"], ["6"]] and boxes(one, "lv-picked") == boxes(two, "lv-picked") == ["6"]
    two.locator('rect[data-k="1"]').click()
    assert picked(page) == [["1"], ["1"]]
    two.locator('rect[data-k="1"]').click()
    assert picked(page) == [[], []] and boxes(one, "lv-picked") == []
    assert page.evaluate("models.map(model => model.saved)") == [3, 3]


def test_with_multiple_clicks_add(page):
    (board,) = mount(page, grid(Layout("(4,4):(4,1)")), multiple=True)
    for value in ("6", "1", "9", "1"):
        board.locator(f'rect[data-k="{value}"]').click()
    assert picked(page) == [["6", "9"]] and sorted(boxes(board, "lv-picked")) == ["6", "9"]


def test_keys_move_pick_and_leave(page):
    (board,) = mount(page, grid(Layout("(3,5):(5,1)")))
    board.locator(".lv-frame").focus()
    for key, value in (("ArrowRight", "0"), ("ArrowRight", "1"), ("ArrowDown", "6"), ("ArrowDown", "11"), ("ArrowDown", "11"),
                       ("ArrowLeft", "10"), ("ArrowLeft", "10"), ("ArrowUp", "5")):  # fmt: skip
        page.keyboard.press(key)
        assert boxes(board, "lv-cursor") == boxes(board, "lv-lit") == [value]
    page.keyboard.press("Enter")
    assert picked(page) == [["5"]]
    page.keyboard.press("Space")
    assert picked(page) == [[]]
    page.keyboard.press("Escape")
    assert boxes(board, "lv-lit") == []


def test_boards_of_other_outputs_and_of_another_kind_do_not_answer(page):
    one, two = mount(page, grid(Layout("(4,4):(4,1)")), grid(Layout("(4,4):(4,1)")), output=None)
    one.locator('rect[data-k="6"]').click()
    assert picked(page) == [["6"], []] and boxes(two, "lv-lit") == []
    one, two = mount(page, grid(Layout("(4,4):(4,1)")), VIEWS["tiles"]("(4,4):(4,1)"))  # offsets here, indices there
    one.locator('rect[data-k="6"]').click()
    assert picked(page) == [["6"], []] and boxes(two, "lv-lit") == []


def test_what_is_said_begins_with_the_very_cell_and_the_cursor_moves_among_twins(page):
    (board,) = mount(page, VIEWS["product"]("(2,4):(4,1)", "(3,2):(1,3)", "blocked"))
    twins = board.locator('rect[data-k="4"]')
    assert twins.count() > 3
    last = twins.nth(twins.count() - 1)
    last.hover()
    assert board.locator(".lv-say").inner_text().startswith(last.get_attribute("data-t"))
    twins.nth(twins.count() - 2).hover()
    assert board.locator(".lv-say").inner_text().startswith(twins.nth(twins.count() - 2).get_attribute("data-t"))
    page.mouse.move(1, 990)
    board.locator(".lv-frame").focus()
    seen = []
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        box = board.locator(".lv-cursor").first
        seen.append((box.get_attribute("x"), box.get_attribute("y")))
    assert len(set(seen)) == 4 and board.locator(".lv-cursor").count() == 1


def test_a_step_marks_its_cell(page):
    scene = VIEWS["product"]("(2,4):(4,1)", "(3,2):(1,3)", "blocked")
    (board,) = mount(page, scene)
    page.evaluate("models[0].set('walked', 20)")
    assert board.locator(".lv-cursor").count() == 1
    page.evaluate("models[0].set('picked', [document.querySelectorAll('rect[data-k]')[20].dataset.k])")
    tips = [tip for panel in scene.all_panels() for tip in panel.tips]
    assert board.locator(".lv-say").inner_text().startswith(tips[20])


def test_the_caption_stands_outside_what_scrolls(page):
    scene = VIEWS["divide"](**SAMPLES["divide"])
    (board,) = mount(page, scene)
    assert board.locator(".lv-caption").inner_text() == scene.caption and board.locator(".lv-frame .caption").count() == 0
    caption, frame = (board.locator(name).bounding_box() for name in (".lv-caption", ".lv-frame"))
    assert caption["y"] >= frame["y"] + frame["height"] - 1


def test_slots_outside_the_layout_do_not_light_together(page):
    (board,) = mount(page, VIEWS["tiles"]("(3,3):(3,1)", (2, 2)))
    outside = board.locator('rect[data-k^="-"]')
    assert outside.count() == 7
    outside.first.hover()
    assert boxes(board, "lv-lit") == [outside.first.get_attribute("data-k")]
    assert board.locator(".lv-say").inner_text().startswith("outside · offset")


def test_a_new_picture_keeps_what_is_picked_and_a_closed_board_hears_nothing(page):
    (board,) = mount(page, grid(Layout("(2,5):(5,1)")))
    board.locator('rect[data-k="6"]').click()
    page.evaluate("picture => models[0].set('svg', picture)", svg(grid(Layout("(2,5):(1,2)")), live=True))
    assert board.locator("text.title").text_content() == "(2,5):(1,2)" and boxes(board, "lv-picked") == ["6"]
    page.evaluate("picture => { models[0].close(); models[0].set('svg', picture); }", svg(grid(Layout("(7,1)")), live=True))
    assert board.locator("text.title").text_content() == "(2,5):(1,2)"
    assert page.evaluate("Object.values(models[0].heard).flat().length") == 0
