"""Chapter 00: its table of names, its map, its first exercise."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import layoutviz.memory
from course.chapter import read_chapter
from course.readme import CHAPTERS, chapter_table
from exercises.checks import ch00
from exercises.engine.exercise import find
from exercises.engine.verdict import BadAnswer, State
from ladder.lowering import has_dsl
from layoutviz import Layout

CELLS = [(i, j) for i in range(4) for j in range(6)]
ROOT = Path(__file__).resolve().parents[1]
CHAPTER = read_chapter(ROOT / "course" / "00_start_here.py")


def names() -> list[tuple[str, list[str], list[str], list[str], str]]:
    """The rows of the table of terms: (term, our names, the DSL's, C++'s, chapter); `same` stands for our names."""
    (text,) = [cell.source for cell in CHAPTER if "## Terms and names" in cell.source]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| .*\| \d\d \|$", line)]
    found = []
    for term, _, ours, dsl, cpp, chapter in rows:
        own = re.findall(r"`([^`]+)`", ours)
        found.append((term, own, *(own if column == "same" else re.findall(r"`([^`]+)`", column) for column in (dsl, cpp)), chapter))
    return found


def reached(thing, path: str):
    for name in path.split("."):
        thing = getattr(thing, name)
    return thing


def test_the_table_is_read_whole():
    (text,) = [cell.source for cell in CHAPTER if "## Terms and names" in cell.source]
    heads = 2 * text.count("| term |")  # of each table, with the line under it
    assert len(names()) == sum(line.startswith("| ") for line in text.splitlines()) - heads > 20
    assert all(ours or dsl or cpp for _, ours, dsl, cpp, _ in names())


@pytest.mark.parametrize("term, ours", [(term, name) for term, ours, *_ in names() for name in ours])
def test_our_names_are_there(term, ours):
    assert reached(Layout("(4,4):(4,1)") if ours.startswith("L.") else layoutviz, ours.removeprefix("L.")) is not None


@pytest.mark.skipif(not has_dsl(), reason="needs the DSL")
@pytest.mark.parametrize("term, name", [(term, name) for term, _, dsl, *_ in names() for name in dsl])
def test_the_dsl_s_names_are_there(term, name):
    import cutlass.cute as cute

    assert reached(cute, name) is not None


def test_each_term_is_taught_in_a_chapter_and_they_come_in_order():
    taught = [chapter for *_, chapter in names()]
    assert set(taught) <= {chapter.number for chapter in CHAPTERS} and taught == sorted(taught)


# --- the map


def test_the_map_links_what_is_there_and_names_the_rest(tmp_path):
    (tmp_path / "01_paper_layouts.ipynb").touch()
    rows = chapter_table(tmp_path, "near/").splitlines()[2:]
    assert len(rows) == len(CHAPTERS) == 21
    assert rows[1].startswith("| [01 paper layouts](near/01_paper_layouts.ipynb) | ") and rows[1].endswith(" | 40 |")
    assert all("](" not in row and row.endswith(" | being written |") for row in rows[:1] + rows[2:])


def test_the_lesson_shows_the_map_of_its_own_folder(monkeypatch):
    """The kernel of a notebook runs in the notebook's folder."""
    (cell,) = [cell for cell in CHAPTER if "chapter_table" in cell.source]
    monkeypatch.chdir(ROOT / "notebooks")
    namespace = {}
    exec(cell.source.replace("\nMarkdown(", "\nshown = Markdown("), namespace)
    text = namespace["shown"].data
    assert text == chapter_table(ROOT / "notebooks") and "](00_start_here.ipynb)" in text and "](01_paper_layouts.ipynb)" in text


# --- 00.1


def test_00_1_is_answered_on_its_board():
    """What a reader clicks: the cells that hold 10, 11 and 12, in any order; cells of a board count along the rows."""
    for clicks, state in (([10, 11, 12], State.RIGHT), ([12, 10, 11], State.RIGHT), ([9, 10, 11], State.WRONG)):
        verdicts = []
        response = find("00.1").respond(lambda answers, verdicts=verdicts: verdicts.append(find("00.1").check(**answers)))
        response.board.picked = clicks
        response.check()
        assert [verdict.state for verdict in verdicts] == [state]


def test_00_1_only_one_choice_of_three_cells_is_right():
    right = [cells for cells in combinations(CELLS, 3) if ch00.check_first_answer(list(cells)).ok]
    assert right == [((1, 4), (1, 5), (2, 0))]


def test_00_1_no_verdict_on_a_wrong_answer_tells_a_cell_that_was_missed():
    for cells in combinations(CELLS, 2):
        said = ch00.check_first_answer(list(cells)).message
        told = {tuple(map(int, pair)) for pair in re.findall(r"\((\d),(\d)\)", said)}
        assert not told & ({(1, 4), (1, 5), (2, 0)} - set(cells))


@pytest.mark.parametrize("cells, says", [
    ([(0, 0), [3, 6]], "has (3, 6). There is no column 6: columns count from 0, so that the last one is 5."),
    (np.array([[1, 4], [-1, 5]]), "has (-1, 5). There is no row -1: rows count from 0, so that the last one is 3."),
    ([(1, 2), (5, 1)], "has (5, 1). With row and column swapped each pair would be a cell of the board. In a pair the row comes first"),
    ([(4, 1), (1, 4)], "has (4, 1). There is no row 4: rows count from 0, so that the last one is 3."),
    (np.array([10, 3]), "10 is one number. Write the cell that holds 10."), ({9, 13}, "is one number. Write each cell as such a pair."),
])  # fmt: skip
def test_00_1_what_is_no_cell_is_refused_without_words_of_chapter_01(cells, says):
    with pytest.raises(BadAnswer, match=re.escape(says)):
        ch00.check_first_answer(cells)


# --- 00.2 to 00.5, against numbers made without layoutviz


def test_00_2_only_one_number_is_right():
    assert [n for n in range(-5, 40) if ch00.check_place(n).ok] == [2 + 3 * 3]


def test_00_3_only_one_pair_of_strides_is_right_and_the_first_wrong_number_along_the_rows_is_told():
    assert [(d, e) for d in range(12) for e in range(12) if ch00.check_skipping(((3, 5), (d, e))).ok] == [(6, 1)]
    assert "In row 0, column 1 your board holds 2" in ch00.check_skipping("(3,5):(6,2)").message
    assert "In row 1, column 0 your board holds 8" in ch00.check_skipping("(3,5):(8,1)").message


def test_00_4_each_wrong_number_is_found_where_it_stands():
    right = [i + 3 * j for i in range(3) for j in range(4)]
    assert ch00.check_gaps(right).ok
    for n in range(12):
        wrong = [*right[:n], 99, *right[n + 1 :]]
        verdict = ch00.check_gaps(wrong)
        assert verdict.message.startswith(f"In row {n // 4}, column {n % 4} you have 99") and not verdict.ok
        panel = verdict.scene.all_panels()[0]
        assert [panel.labels[cell] for cell in panel.marks] == ["99"]


def test_00_5_the_smallest_stride_without_a_number_twice():
    def apart(d):
        return len({4 * i + d * j for i in range(3) for j in range(5)}) == 15

    assert [d for d in range(1, 33) if ch00.check_stride(d).ok] == [min(d for d in range(1, 33) if apart(d))] == [3]
    for d in range(1, 33):
        assert ("two cells hold" in ch00.check_stride(d).message) is not apart(d)
