"""The magics in real kernels, run by nbclient: what a learner sees, line numbers, sources of jit functions, restart, failures."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
SETUP = "import exercises\nfrom layoutviz import Layout"
STATES = "print({id: (v.state.name, v.ok) for id, v in exercises.verdicts.items()})"


@pytest.fixture(scope="module", autouse=True)
def course_on_the_path():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
        yield


@pytest.fixture
def progress_file(tmp_path, monkeypatch):
    monkeypatch.setenv("LAYOUTVIZ_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def new_notebook(*sources):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def execute(notebook, cwd):
    """Run a notebook in a new kernel; raises as soon as a cell fails. Returns its cells."""
    NotebookClient(notebook, kernel_name="python3", timeout=120, resources={"metadata": {"path": str(cwd)}}).execute()
    return notebook.cells


def run(*sources, cwd):
    return execute(new_notebook(*sources), cwd)


def text(cell):
    """What a cell shows, as plain text without terminal colours."""
    parts = []
    for output in cell.outputs:
        parts += [output.get("text", ""), *output.get("traceback", []), output.get("data", {}).get("text/plain", "")]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(parts))


def html(cell):
    return "\n".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)


def test_a_learners_session(progress_file, tmp_path):
    """Not attempted, wrong, raising, right, then wrong again; each judged on its own, and the notebook goes on."""
    progress_file.write_text('{"version": 1, "exer')
    cells = run(
        SETUP,
        "%%exercise 01.2\nlayout = Layout((6, 5), (..., ...))",
        "%%exercise 01.2\nlayout = Layout((6, 5), (5, 1))\nlayout.size",
        "%%exercise 01.2\n\n\nx = 0\nlayout = 1 / x",
        "%%exercise 01.2\nlayout = Layout((6, 5), (8, 1))",
        STATES,
        "%%exercise 01.2\n# the layout of the cell before must not count\ny = 1",
        STATES,
        "exercises.progress()",
        cwd=tmp_path,
    )
    not_attempted, wrong, raised, right, states, stale, states_after, table = cells[1:]
    assert "Not attempted yet" in text(not_attempted) and "Traceback" not in text(not_attempted)

    assert "Not right yet" in text(wrong) and "(1,0)" in text(wrong) and "(1,0)" in html(wrong)
    assert "30" in text(wrong)  # the body's last expression shows as in any cell
    assert "could not be read" in text(wrong), "the corrupt progress file is said where it is met"
    assert len(list(tmp_path.glob("progress.corrupt-*.json"))) == 1

    assert text(raised).count("Traceback") == 1 and "ZeroDivisionError" in text(raised) and "Your code raised an error" in text(raised)
    assert "----> 5 layout = 1 / x" in text(raised), "line numbers are the cell's"
    assert f"In[{raised.execution_count}]" in text(raised), "the traceback names this cell"

    assert "Right: 01.2" in text(right) and "could not be" not in text(right)
    assert states.outputs[0].text.strip() == "{'01.2': ('RIGHT', True)}"
    assert "does not" in text(stale) and states_after.outputs[0].text.strip() == "{'01.2': ('NOT_ATTEMPTED', False)}"
    assert re.search(r"01\.2 .*tries +3 +Right$", text(table), re.M)


def test_words_stay_without_widgets_and_buttons_are_widgets(progress_file, tmp_path):
    cell = run(SETUP, "%%exercise 01.2\nlayout = '(6,5):(5,1)'", cwd=tmp_path)[1]
    kinds = [set(output.get("data", {})) for output in cell.outputs]
    assert kinds[0] == {"text/html", "text/plain"}
    widget = "application/vnd.jupyter.widget-view+json"
    assert widget in kinds[1] and widget in kinds[-1] and len(kinds) == 3, "words, picture, button"
    assert "hints" in cell.outputs[-1].data["text/plain"]


def test_an_interrupted_cell_is_not_judged(progress_file, tmp_path):
    loop = "%%exercise 01.2\nlayout = '(6,5):(8,1)'\nimport _thread, time\n_thread.interrupt_main()\ntime.sleep(60)"
    notebook = new_notebook(SETUP, "%%exercise 01.2\nlayout = '(6,5):(8,1)'", loop)
    with pytest.raises(CellExecutionError, match="Stopped"):
        execute(notebook, tmp_path)
    assert "Right" not in text(notebook.cells[2]) and '"tries": 1' in progress_file.read_text()


def test_leaving_by_exit_does_not_end_the_kernel(progress_file, tmp_path):
    cells = run(SETUP, "%%exercise 01.2\nimport sys\nsys.exit(3)", STATES, cwd=tmp_path)
    assert "('RAISED', False)" in text(cells[2])


def test_a_restart_forgets_the_verdicts_and_keeps_the_progress(progress_file, tmp_path):
    run(SETUP, "%%exercise 01.2\nlayout = Layout('(6,5):(8,1)')", cwd=tmp_path)
    cells = run(SETUP, STATES, "exercises.progress()", cwd=tmp_path)
    assert text(cells[1]).strip() == "{}"
    assert re.search(r"01\.2 .*tries +1 +Right$", text(cells[2]), re.M)


def test_an_unknown_exercise_fails_the_cell_in_words(progress_file, tmp_path):
    with pytest.raises(CellExecutionError, match=r'There is no exercise "01.12"'):
        run(SETUP, "%%exercise 01.12\nlayout = 1", cwd=tmp_path)


def test_needs_skips_in_words_where_the_dsl_is_missing(progress_file, tmp_path):
    hide = "import sys; sys.modules['cutlass'] = None"  # to Python, a package that is not installed
    cells = run(SETUP, hide, "%%needs dsl\nran = True", "print('ran' in globals())", cwd=tmp_path)
    assert text(cells[2]).startswith("Skipped: this cell needs the CuTe DSL") and len(text(cells[2]).strip().splitlines()) == 1
    assert text(cells[3]).strip() == "False"


with_dsl = pytest.mark.skipif(
    importlib.util.find_spec("cutlass") is None and sys.platform != "linux", reason="the DSL has no build for this system"
)


@with_dsl
def test_a_failing_needs_cell_fails_the_notebook_with_one_traceback(progress_file, tmp_path):
    notebook = new_notebook(SETUP, "%%needs dsl\n\ny = 1\nz = y / 0")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError: division by zero"):
        execute(notebook, tmp_path)
    shown = text(notebook.cells[1])
    assert shown.count("Traceback") == 1 and "----> 4 z = y / 0" in shown


JIT = """
@cute.jit
def show_layout():
    print("traced", cute.make_layout((4, 4), stride=(4, 1))((2, 1)))
show_layout()
"""


@with_dsl
def test_jit_functions_keep_their_source(progress_file, tmp_path):
    setup = SETUP + "\nimport cutlass.cute as cute"
    cells = run(setup, "%%needs dsl" + JIT, "%%exercise 01.2" + JIT + "layout = '(6,5):(8,1)'", STATES, cwd=tmp_path)
    for cell in cells[1:3]:
        assert "traced 9" in text(cell)
    assert "('RIGHT', True)" in text(cells[3])
