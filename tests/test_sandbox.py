"""Kernel exercises in their child process: what comes back, and that nothing a cell does takes the notebook down."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kernel_exercises import BRIEF, FILL, GEMM, TILE

from exercises.engine import magic, sandbox
from exercises.engine.exercise import setup_source
from exercises.engine.verdict import State
from ladder.lowering import has_dsl

ROOT = Path(__file__).resolve().parents[1]
SETUP = "import cutlass\nimport cutlass.cute as cute"
NAIVE = (ROOT / "ladder" / "naive.py").read_text().split("if __name__")[0] + "\ngemm = naive_gemm"
COPY = """@cute.jit
def fill(a: cute.Tensor, b: cute.Tensor):
    for i in range(cute.size(a, mode=[0])):
        for j in range(cute.size(a, mode=[1])):
            b[j, i] = a[i, j]
"""

pytestmark = pytest.mark.skipif(not has_dsl() and sys.platform != "linux", reason="the DSL has no build for this system")


@pytest.fixture(scope="module", autouse=True)
def tests_on_the_childs_path():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "tests"))
        if sandbox._ready is not None:  # made ready by another test, without this path
            sandbox._ready.end()
        patch.setattr(sandbox, "_ready", None)
        yield
        if sandbox._ready is not None:
            sandbox._ready.end()


def judged(exercise, source, setup=SETUP):
    """The verdict, and what the cell showed."""
    shown = []
    verdict = sandbox.run(exercise, setup, source, shown.append)
    return verdict, "".join(shown)


def test_a_right_layout_of_the_dsl_and_a_wrong_one():
    verdict, _ = judged(TILE, "def tile():\n    return cute.make_layout((8, 4), stride=(4, 1))")
    assert verdict.state is State.RIGHT and verdict.scene is not None
    verdict, _ = judged(TILE, "def tile():\n    return cute.make_layout((8, 4), stride=(1, 8))")
    assert verdict.state is State.WRONG and "(1,0)" in verdict.message and verdict.mistake.name == "column for row"


@pytest.mark.parametrize(("source", "state", "says"), [
    (COPY, State.RIGHT, "Right on 3 sets of tensors"),
    (COPY + "fill = None", State.WRONG, "NoneType"),
    (COPY.replace("b[j, i] = a[i, j]", "b[j, 0] = a[0, j]"), State.WRONG, "nothing was written"),
    (COPY.replace("= a[i, j]", "= a[i, j] + 1"), State.WRONG, "at coordinate (0,0) it gives"),
    (COPY.replace("b[j, i] = a[i, j]", "b[j, i] = a[i, j]\n            a[i, j] = 0"), State.WRONG, "It changed tensor 0"),
    ("fill = 3", State.WRONG, "is of type int"), ("fill = ...", State.NOT_ATTEMPTED, "Line 1"), ("x = 1", State.NOT_ATTEMPTED, "`fill`"),
])  # fmt: skip
def test_a_jit_function_is_run_on_the_cpu(source, state, says):
    verdict, _ = judged(FILL, source)
    assert verdict.state is state and says in verdict.message


def test_a_kernel_without_a_gpu_is_compiled_and_says_so(without_gpu):
    verdict, _ = judged(GEMM, NAIVE)
    assert verdict.state is State.COMPILED and not verdict.ok
    assert "compiled for sm_90a" in verdict.message and "no GPU here" in verdict.message


@pytest.fixture
def without_gpu():
    from ladder.preflight import preflight

    if preflight().can_run:
        pytest.skip("there is a GPU here; benchmarks/exercises.py judges kernels on it")


def test_a_fault_in_a_kernel_is_the_learners_and_names_its_line():
    verdict, shown = judged(GEMM, NAIVE.replace("mA[m, k].to(cutlass.Float32)", "mA[m, k].into(cutlass.Float32)"))
    assert verdict.state is State.RAISED and "into" in verdict.message + shown and "exercise_90.1.py" in shown


def test_an_error_in_the_cell_has_its_line_and_no_frame_of_the_engine():
    verdict, shown = judged(FILL, "\n\nx = 1 / 0")
    assert (verdict.state, verdict.message) == (State.RAISED, "ZeroDivisionError: division by zero")
    assert 'File "exercise_90.2.py", line 3' in shown and "engine" not in shown and shown.count("Traceback") == 1


DEATHS = [
    ("import ctypes\n\nctypes.string_at(0)", "segmentation fault). It was at line 3 of the cell."),
    ("import os\nos.abort()", "(abort). It was at line 2"), ("import os\nos._exit(3)", "ended its own process, with exit status 3"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "memory ran out"),
    ("while True:\n    print('x' * 100_000)", "printed more than 64 MB"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "says"), DEATHS, ids=["segfault", "abort", "exit", "kill", "output"])
def test_what_ends_the_child_ends_nothing_else(source, says):
    verdict, shown = judged(FILL, source)
    assert verdict.state is State.DIED and says in verdict.message and "the notebook goes on" in verdict.message
    assert len(shown) < 21_000
    assert judged(FILL, COPY)[0].state is State.RIGHT, "the next run has a child of its own"


def test_a_loop_without_end_is_stopped_and_its_line_said():
    started = time.monotonic()
    verdict, _ = judged(BRIEF, "x = 1\nwhile True:\n    pass")
    assert verdict.state is State.DIED and "ran for 1 second, the limit" in verdict.message
    assert "line 2 of the cell" in verdict.message or "line 3 of the cell" in verdict.message
    assert time.monotonic() - started < 20


def test_too_much_memory_is_stopped(monkeypatch):
    monkeypatch.setattr(sandbox, "_memory_limit", lambda: 2 << 30)
    verdict, _ = judged(FILL, "hoard = []\nwhile True:\n    hoard.append(bytearray(1 << 26))")
    assert verdict.state is State.DIED and "more than 2 GB of memory" in verdict.message


def test_what_the_cell_prints_comes_as_it_is_printed():
    lines = ["import time, sys, os", "print('one')", "time.sleep(1.5)", r"os.write(2, b'two\n')", r"sys.stderr.write('thr\u00e9e')"]
    source = "\n".join([*lines, "fill = 3"])
    times = []
    sandbox.run(FILL, SETUP, source, lambda text: times.append((time.monotonic(), text)))
    assert "".join(text for _, text in times).split() == ["one", "two", "thrée"] and times[-1][0] - times[0][0] > 1


def test_c_output_and_device_style_printf_are_shown():
    loop = "    for i in range(cute.size(a, mode=[0])):"
    printing = COPY.replace(loop, f'    cute.printf("rows %d\\n", cute.size(a, mode=[0]))\n{loop}')
    verdict, shown = judged(FILL, printing)
    assert verdict.state is State.RIGHT and shown.count("rows ") == 3


def test_input_finds_no_input():
    verdict, _ = judged(FILL, "input()")
    assert verdict.state is State.RAISED and "EOFError" in verdict.message


def test_the_cell_sees_the_setup_and_nothing_else():
    verdict, _ = judged(FILL, "print(judged)\n" + COPY)
    assert verdict.state is State.RAISED and "judged" in verdict.message
    verdict, _ = judged(FILL, COPY, setup="raise OSError('no setup')")
    assert verdict.state is State.FAULT and "setup" in verdict.message
    assert "import" in setup_source("01.1") and "%%" not in setup_source("01.1")


def test_the_child_goes_when_the_notebook_goes():
    """A process that made a child ready and dies without a word leaves none behind."""
    ready = "from exercises.engine import sandbox; sandbox.get_ready(); print(sandbox._ready.process.pid, flush=True)"
    code = f"{ready}; import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    child = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT).stdout)
    for _ in range(200):
        try:
            os.kill(child, 0)
            state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return
        if state == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the child still runs")


def test_an_interrupt_ends_the_child_and_reaches_the_notebook():
    timer = subprocess.Popen([sys.executable, "-c", f"import os, signal, time; time.sleep(4); os.kill({os.getpid()}, signal.SIGINT)"])
    with pytest.raises(KeyboardInterrupt):
        judged(FILL, "while True: pass")
    timer.wait()
    assert judged(FILL, COPY)[0].state is State.RIGHT


def test_without_the_dsl_it_is_said(monkeypatch):
    monkeypatch.setitem(magic.NEEDS, "dsl", (lambda: False, magic.NEEDS["dsl"][1]))
    verdict = magic._in_child(FILL, COPY)
    assert verdict.state is State.NOT_ATTEMPTED and "needs the CuTe DSL" in verdict.message
    assert signal.SIGKILL in sandbox.DEATHS


def test_a_child_is_made_ready_where_the_chapter_has_kernels_and_only_there(monkeypatch):
    monkeypatch.setattr(magic, "exercises_of", lambda chapter: {GEMM.id: GEMM} if chapter == "90" else {})
    started = []
    monkeypatch.setattr(sandbox, "get_ready", lambda: started.append(1))
    for chapter, times in (("01", 0), ("", 0), ("9", 0), ("90", 1)):
        magic._get_ready_for(chapter)
        assert len(started) == times


OUTSIDE = [
    COPY.replace("range(cute.size(a, mode=[0]))", "range(cute.size(a, mode=[0]) + 1)"),
    COPY.replace("range(cute.size(a, mode=[1]))", "range(cute.size(a, mode=[1]) + 1)"),
    COPY + "    for i in range(8):\n        b[cute.size(a, mode=[1]), i] = 7",
]


@pytest.mark.parametrize("source", OUTSIDE)
def test_what_a_jit_function_writes_outside_its_tensors_is_seen(source):
    verdict, _ = judged(FILL, source)
    assert verdict.state is State.WRONG
    assert source == OUTSIDE[0] or verdict.mistake.name == "missing predicate", "the first one writes over its own result"


@pytest.mark.parametrize(("body", "state", "says"), [
    ("pass", State.WRONG, "returns None"), ("return 5", State.WRONG, "type int"), ("return '(8,4):(4,1)'", State.RIGHT, ""),
    ("return ((8, 4), (4, 1))", State.RIGHT, ""), ("from layoutviz import Layout; return Layout('(8,4):(4,1)')", State.RIGHT, ""),
    ("return cute.make_identity_layout((8, 4))", State.WRONG, "known numbers"), ("raise SystemExit(3)", State.RAISED, "SystemExit"),
])  # fmt: skip
def test_a_function_that_gives_a_layout_may_give_any_form_of_it(body, state, says):
    verdict, _ = judged(TILE, f"def tile():\n    {body}")
    assert verdict.state is state and says in verdict.message, verdict


@pytest.mark.parametrize("source", [COPY.replace("a[i, j]", "aa[i, j]"), "def fill(:", COPY.replace(", b: cute.Tensor", "")])
def test_a_traceback_has_the_learners_lines_only_and_no_colour_codes(source):
    verdict, shown = judged(FILL, source)
    assert verdict.state is State.RAISED and "\x1b" not in verdict.message
    assert "engine" not in shown and "/exercise-" not in shown and "site-packages" not in shown, shown


def test_a_missing_decorator_is_said():
    verdict, _ = judged(FILL, "def fill(a, b): pass")
    assert verdict.state is State.WRONG and "needs `@cute.jit`" in verdict.message


def test_magics_are_refused_in_words():
    verdict, _ = judged(FILL, "get_ipython().system('ls')")
    assert verdict.state is State.RAISED and "magics and ! do not work in a kernel exercise" in verdict.message


LEAVING = "import subprocess\nsubprocess.Popen(['sleep', '{}'])\n"


@pytest.mark.parametrize("end", [COPY, "import os\nos._exit(3)", "import os\nos.abort()"], ids=["right", "exit", "abort"])
def test_what_the_cell_started_ends_with_it(end):
    seconds = f"97{time.time_ns() % 10**6}"
    judged(FILL, LEAVING.format(seconds) + end)
    for _ in range(50):
        if not subprocess.run(["pgrep", "-f", f"sleep {seconds}"], capture_output=True).stdout:
            return
        time.sleep(0.1)
    pytest.fail("the subprocess lives on")


def test_a_cell_that_closes_its_output_keeps_nobody_busy():
    before = time.process_time()
    assert judged(BRIEF, "import os\nos.close(1); os.close(2)\nwhile True: pass")[0].state is State.DIED
    assert time.process_time() - before < 0.5


def test_folders_of_notebooks_that_were_killed_are_swept(tmp_path, monkeypatch):
    if sandbox._ready is not None:  # they are swept when a child is started
        sandbox._ready.end()
    monkeypatch.setattr(sandbox.tempfile, "gettempdir", lambda: str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (f"exercise-{gone.pid}-a", f"exercise-{os.getpid()}-b", "exercise-mine"):
        (tmp_path / name).mkdir()
    sandbox.get_ready()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"exercise-{os.getpid()}-b", "exercise-mine"])
