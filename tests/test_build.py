"""The builder, on a small chapter of its own."""
import json
import os
import random
import re
from pathlib import Path

import nbformat
import pytest

from course.build import build, build_chapter
from course.chapter import ChapterError, read_chapter, split_solution
from course.include import included

CHAPTER = '''\
# %% [markdown]
# # 07 · Small things
#
# A word before.

# %% tags=["setup"]
import exercises
# more on this later

# %% [markdown]
# ## A lesson

# %%
1 + 1

# %% include="ladder/kernels.py:kernel" needs="dsl"
from ladder.kernels import kernel

# %% [markdown] tags=["exercise", "inline"]
# **07.1** Say two.

# %% exercise="07.1" tags=["exercise", "inline"]
# given
### BEGIN SOLUTION
answer = 2
### STARTER
# answer = ...
#
# if True:
#     # a comment stays one
#     pass
### END SOLUTION

# %% [markdown] tags=["exercise"]
# **07.2** Say three.

# %% exercise="07.2" tags=["exercise"]
def three():
    ### BEGIN SOLUTION
    return 3
    ### STARTER
    # return ...
    ### END SOLUTION

# %%
1 + 1
'''

KERNELS = '''\
"""Kernels."""
import os
import sys
from math import (
    pi,
    tau,
)

SIZE = 4  # threads


# Doubles, by tau.
@staticmethod
def kernel(x):
    size = x  # a local name
    return size * tau + len(sys.argv)


def other():
    return kernel(SIZE) * pi


if __name__ == "__main__":
    print(other())
'''


@pytest.fixture
def root(tmp_path):
    (tmp_path / "course").mkdir()
    (tmp_path / "ladder").mkdir()
    (tmp_path / "course" / "07_small.py").write_text(CHAPTER)
    (tmp_path / "ladder" / "kernels.py").write_text(KERNELS)
    return tmp_path


def run(root, check=False, numbers=()):
    return build(root / "course", root, list(numbers), check)


def sources(root, kind, cell_type=None):
    notebook = nbformat.read(root / kind / "07_small.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell_type in (None, cell.cell_type)]


def files(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.glob("*/*.ipynb")}


def test_each_cell_goes_where_its_tags_say(root):
    assert run(root) == 0
    setup = "import exercises\n# more on this later"
    kernel = ('%%needs dsl\nimport sys\nfrom math import (\n    pi,\n    tau,\n)\n\n\n# Doubles, by tau.\n@staticmethod\ndef kernel(x):\n'
              '    size = x  # a local name\n    return size * tau + len(sys.argv)')
    first = "%%exercise 07.1\n# given\nanswer = ...\n\nif True:\n    # a comment stays one\n    pass"
    assert sources(root, "notebooks", "code") == [setup, "1 + 1", kernel, first, "1 + 1"]
    assert sources(root, "exercises", "code") == [setup, first, "%%exercise 07.2\ndef three():\n    return ..."]
    assert sources(root, "solutions", "code") == [setup, "%%exercise 07.1\n# given\nanswer = 2",
                                                  "%%exercise 07.2\ndef three():\n    return 3"]
    assert sources(root, "exercises", "markdown")[0].startswith("# 07 · Small things: exercises")
    assert sources(root, "solutions", "markdown")[0].startswith("# 07 · Small things: solutions\n\nEvery exercise is solved here.")
    assert sources(root, "exercises", "markdown")[1:] == ["**07.1** Say two.", "**07.2** Say three."]


def test_the_three_notebooks_link_to_each_other(root):
    run(root)
    for kind in ("notebooks", "exercises", "solutions"):
        text = "\n".join(sources(root, kind, "markdown"))
        for other in {"notebooks", "exercises", "solutions"} - {kind}:
            assert f"(../{other}/07_small.ipynb)" in text


def test_notebooks_are_valid_bare_and_have_unique_stable_ids(root):
    run(root)
    for data in files(root).values():
        notebook = nbformat.reads(data.decode(), as_version=4)
        nbformat.validate(notebook)
        assert set(notebook.metadata) == {"kernelspec", "language_info", "course"} and notebook.metadata.kernelspec.name == "python3"
        ids = [cell.id for cell in notebook.cells]
        assert len(set(ids)) == len(ids)
        assert all(set(cell.metadata) <= {"tags"} and not cell.get("outputs") for cell in notebook.cells)
        assert "### " not in "".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    before = {cell.source: cell.id for cell in nbformat.read(root / "notebooks/07_small.ipynb", 4).cells if cell.source != "1 + 1"}
    (root / "course/07_small.py").write_text(CHAPTER.replace("# %% [markdown]\n# ## A", "# %%\nnew = 1\n\n# %% [markdown]\n# ## A"))
    run(root)
    after = {cell.source: cell.id for cell in nbformat.read(root / "notebooks/07_small.ipynb", 4).cells}
    assert before.items() <= after.items()


def test_building_twice_gives_the_same_bytes(root, capsys):
    run(root)
    first, times = files(root), {path: path.stat().st_mtime_ns for path in root.glob("*/*.ipynb")}
    assert len(first) == 3
    assert run(root) == 0 and run(root, check=True) == 0
    assert files(root) == first and {path: path.stat().st_mtime_ns for path in times} == times
    for path in root.glob("*/*.ipynb"):
        path.unlink()
    run(root)
    assert files(root) == first


def test_check_writes_nothing_and_fails_when_something_would_change(root, capsys):
    assert run(root, check=True) == 1 and files(root) == {}
    assert "would change notebooks/07_small.ipynb" in capsys.readouterr().out
    run(root)
    (root / "course/07_small.py").write_text(CHAPTER.replace("Say three", "Say 3"))
    before = files(root)
    assert run(root, check=True) == 1 and files(root) == before
    said = capsys.readouterr().out
    assert "would change exercises/07_small.ipynb" in said and "would change notebooks/07_small.ipynb" not in said


def edit(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


@pytest.mark.parametrize("kind", ["notebooks", "exercises", "solutions"])
def test_a_hand_edited_notebook_stops_its_chapter_and_is_shown(root, kind, capsys):
    run(root)
    path = root / kind / "07_small.ipynb"
    edit(path, lambda data: data["cells"][-1].update(source=["by = 'hand'"]))
    (root / "course/07_small.py").write_text(CHAPTER.replace("Say two", "Say 2"))
    before = files(root)
    capsys.readouterr()
    assert run(root) == 1 and files(root) == before
    said = capsys.readouterr().out
    assert f"{kind}/07_small.ipynb was edited by hand" in said and "+by = 'hand'" in said and "07_small.py" in said


def test_a_deleted_a_moved_and_an_added_cell_are_hand_edits(root):
    for change in (lambda data: data["cells"].pop(), lambda data: data["cells"].reverse(),
                   lambda data: data["cells"].append({"cell_type": "markdown", "source": "x", "metadata": {}, "id": "x"})):
        run(root)
        edit(root / "notebooks/07_small.ipynb", change)
        assert run(root) == 1
        (root / "notebooks/07_small.ipynb").unlink()


def test_outputs_are_no_edit_and_carried_back_edits_build(root):
    run(root)
    fresh, path = files(root), root / "notebooks/07_small.ipynb"
    output = {"output_type": "stream", "name": "stdout", "text": "2"}
    edit(path, lambda data: (data["cells"][3].update(outputs=[output], execution_count=1), data["metadata"].update(widgets={})))
    assert run(root) == 0 and files(root) == fresh
    edit(path, lambda data: data["cells"][3].update(source="1 + 2"))
    assert run(root) == 1
    (root / "course/07_small.py").write_text(CHAPTER.replace("1 + 1", "1 + 2", 1))
    assert run(root) == 0 and "1 + 2" in sources(root, "notebooks")


@pytest.mark.parametrize("text", ["", "not json", "{}", '{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
                                  nbformat.writes(nbformat.v4.new_notebook())])
def test_a_file_that_is_not_ours_is_not_overwritten(root, text, capsys):
    (root / "notebooks").mkdir()
    (root / "notebooks/07_small.ipynb").write_text(text)
    assert run(root) == 1
    assert (root / "notebooks/07_small.ipynb").read_text() == text and not (root / "exercises").exists()
    assert "was not made by the builder" in capsys.readouterr().out


def test_a_chapter_without_exercises_is_a_lesson_only_and_old_notebooks_go(root):
    run(root)
    (root / "course/07_small.py").write_text("# %% [markdown]\n# # Only words\n")
    assert run(root) == 0
    assert list(files(root)) == ["notebooks/07_small.ipynb"] and sources(root, "notebooks") == ["# Only words"]


def test_a_notebook_without_a_chapter_is_named(root, capsys):
    run(root)
    (root / "course/07_small.py").rename(root / "course/08_small.py")
    (root / "course/08_small.py").write_text(CHAPTER.replace("07.", "08."))
    assert run(root) == 1 and "solutions/07_small.ipynb has no chapter" in capsys.readouterr().out
    assert run(root, numbers=["08"]) == 0 and run(root, numbers=["09"]) == 1


@pytest.mark.parametrize("old, new, at, words", [
    ("### STARTER\n", "", "### END SOLUTION", "'### END SOLUTION' is out of place"),
    ("### END SOLUTION\n\n", "\n\n", None, "'### END SOLUTION' is missing"),
    ("### BEGIN SOLUTION\n", "", "### STARTER", "'### STARTER' is out of place"),
    ("### BEGIN SOLUTION\n", "### BEGIN SOLUTION\n### BEGIN SOLUTION\n", "### BEGIN SOLUTION", "'### BEGIN SOLUTION' is out of place"),
    ("### STARTER", "### Starter", "### Starter", "'### Starter' is not a marker"),
    ("# answer = ...\n", "answer = ...\n", "answer = ...", "must be a comment: # answer = ..."),
    ('exercise="07.1"', 'exercise="08.1"', 'exercise="08.1"', "must be numbered 07.1"),
    ('exercise="07.2"', 'exercise="07.1"', 'exercise="07.1"', "stands in this chapter already"),
    ('exercise="07.2" tags=["exercise"]', 'exercise="07.2"', 'exercise="07.2"', "lacks tags"),
    ('exercise="07.2" ', "", '# %% tags=["exercise"]', "needs its number"),
    ('tags=["setup"]', 'tag=["setup"]', "# %% tag", "unknown 'tag'"),
    ('tags=["setup"]', 'tags=["set-up"]', "# %% tag", "unknown 'set-up'"),
    ('tags=["setup"]', 'tags=["inline"]', "# %% tag", '"inline" is for exercises'),
    ("# %% tags=", "# %% A title tags=", "# %% A title", "unknown 'title'"),
    ('needs="dsl"', 'needs="gpu"', "# %% include", "needs='gpu' is unknown"),
    ("kernels.py:kernel", "kernels.py:kernal", "# %% include", "has no top-level kernal"),
    ("kernels.py:kernel", "kernels.py:other", "# %% include", "use SIZE, kernel, defined there too"),
    ("ladder/kernels.py", "ladder/colonels.py", "# %% include", "there is no file ladder/colonels.py"),
    ("from ladder.kernels import kernel", "print(1)", "print(1)", "may hold imports only"),
    ("from ladder.kernels import kernel", "print(1", "print(1", "may hold imports only"),
    ("ladder/kernels.py", "broken.txt", "# %% include", "broken.txt is no Python"),
    ('tags=["setup"]', "tags=5", None, "cannot be read as py:percent: "),
    ('tags=["setup"]', "tags=[5]", None, "cannot be read as py:percent: "),
    ('exercise="07.2"', "exercise=7", "# %% exercise", "exercise= is a text, not 7"),
    ('needs="dsl"', 'needs=["dsl"]', "# %% include", "needs= is a text"),
    ('tags=["setup"]', 'jupyter="x"', None, "'x' is not"),
    ("# %% [markdown]\n# ## A lesson", "# %% [raw]\n# ## A lesson", "[raw]", "not raw"),
    ("# ## A lesson", "# ### BEGIN SOLUTION", "# %% [markdown]", "markers of a solution stand in code"),
    (CHAPTER[CHAPTER.index("    ### BEGIN"):CHAPTER.rindex("\n# %%")], "    return 3\n", 'exercise="07.2"', "has no solution"),
    ("# %% [markdown]\n# # 07", "x = 1\n# %% [markdown]\n# # 07", "x = 1", "each cell begins with"),
    ("# # 07 · ", "# ## ", "# %% [markdown]", "needs a heading"),
])
def test_a_fault_is_named_with_its_line_and_nothing_is_written(root, old, new, at, words, capsys):
    assert old in CHAPTER
    text = CHAPTER.replace(old, new, 1)
    (root / "broken.txt").write_text("no Python (")
    (root / "course/07_small.py").write_text(text)
    assert run(root) == 1 and files(root) == {}
    said = capsys.readouterr().out
    named = re.match(r"07_small\.py:(\d+): (.*)", said)
    assert named and words in named[2], said
    assert at is None or at in text.splitlines()[int(named[1]) - 1]


def test_a_fault_in_one_chapter_leaves_the_others_built(root, capsys):
    (root / "course/03_bad.py").write_text("# %%\n### STARTER\n")
    assert run(root) == 1 and len(files(root)) == 3


def test_splitting_undoes_joining():
    """Random exercises: what went between the markers comes out, whatever it is made of."""
    dice = random.Random(os.environ.get("SEED") or random.randrange(10**6))
    line = lambda: dice.choice(["x = 1", "", "    y = 2", "# why", "#", "    # deep", "z = '### not one'", "f'{x}'  # end"])  # noqa: E731
    for _ in range(300):
        source, starter, solved = [], [], []
        for _ in range(dice.randrange(4)):
            common, answer, given = ([line() for _ in range(dice.randrange(4))] for _ in range(3))
            commented = ["# " + text if text else "#" for text in given]
            source += common + ["### BEGIN SOLUTION", *answer, "### STARTER", *commented, "### END SOLUTION"]
            starter += common + given
            solved += common + answer
        assert split_solution("\n".join(source), "x.py", 1) == ("\n".join(starter), "\n".join(solved))


def test_a_whole_file_is_included_without_its_docstring_and_main_part(root):
    assert included("ladder/kernels.py", root) == KERNELS.split('"""\n', 1)[1].split("\n\n\nif __name__")[0]


def test_included_code_runs(root):
    space = {}
    exec(included("ladder/kernels.py:SIZE,kernel,other", root), space)
    assert space["other"]() == space["kernel"](4) * space["pi"]
    assert included("ladder/kernels.py:SIZE", root) == "SIZE = 4  # threads"


def test_a_relative_import_is_refused(root):
    (root / "ladder/kernels.py").write_text("from .lowering import low\n\ndef kernel():\n    low()\n")
    with pytest.raises(ChapterError, match="imports relatively"):
        included("ladder/kernels.py:kernel", root)


def test_the_chapters_of_this_course_are_built():
    """What is committed is what the chapters say."""
    home = Path(__file__).resolve().parent.parent
    chapters = sorted((home / "course").glob("[0-9][0-9]_*.py"))
    assert chapters
    for path in chapters:
        assert read_chapter(path)
        assert build_chapter(path, home, check=True) == ([], [])


def test_a_chapter_that_is_no_text_does_not_stop_the_others(root, capsys):
    (root / "course/06_latin.py").write_bytes("# %% [markdown]\n# # 06 · \xe9".encode("latin-1"))
    assert run(root) == 1
    assert "06_latin.py:1: a chapter is UTF-8 text" in capsys.readouterr().out
    assert (root / "notebooks/07_small.ipynb").exists()
