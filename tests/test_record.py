"""`make gpu` without a GPU: what is stale, how a run is recorded and resumed, and what counts as wrong.

The notebooks here run in real kernels; the GPU is a stand-in.
"""

import dataclasses
import json
import re
import types
import warnings
from pathlib import Path

import nbformat
import pytest

from ladder import record
from ladder.preflight import Preflight

ROOT = Path(__file__).parent.parent
H200 = Preflight("3.12.0", "Linux x86_64", "NVIDIA H200", "580.1", "sm_90a", "4.8.1", ("cu13",), "2.11.0", True)
NO_GPU = Preflight("3.12.0", "Linux x86_64", None, None, "sm_90a", "4.8.1", ("cu13",), None, False)


@pytest.fixture
def course(tmp_path):
    """A small course of its own: write(name, cells) puts a notebook there."""

    def write(name, *cells):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells]), path)
        return path

    (tmp_path / "ladder").mkdir()
    for name, source in (("__init__", ""), ("harness", "import ladder.deep\n"), ("deep", "x = 1\n"), ("other", "y = 1\n")):
        (tmp_path / f"ladder/{name}.py").write_text(source)
    write.root = tmp_path
    return write


CHECK = {"name": "TN", "error": 2e-4, "bound": 1e-3, "cublas_error": 2e-4, "exact": True, "strays": 0, "where": "NVIDIA H200"}
TIME = {"pair": "TN", "size": "4x3x2", "ms": 1.5, "cublas_ratio": 0.5}
CHECK |= {"note": "", "ok": True, "on_gpu": True}


def test_record_refuses_without_a_gpu(course, monkeypatch, capsys):
    course("notebooks/01_a.ipynb", "1")
    monkeypatch.setattr(record, "preflight", lambda: NO_GPU)
    assert record.main([], course.root) == 2
    assert "no GPU here" in capsys.readouterr().err and not (course.root / "results").exists()


def test_record_format_and_resumption(course, monkeypatch, capsys):
    for name in ("notebooks/01_a.ipynb", "notebooks/02_b.ipynb", "solutions/01_a.ipynb"):
        course(name, f"'{name}'")
    monkeypatch.setattr(record, "preflight", lambda: H200)
    monkeypatch.setattr(record, "RUNGS", {})
    monkeypatch.setattr(record, "STREAMS", ())
    monkeypatch.setattr(record.bank_counters, "measure", lambda: {"accesses": []})
    ran, stop_at = [], "notebooks/02_b.ipynb"

    def run(path):
        name = f"{path.parent.name}/{path.name}"
        if name == stop_at:
            raise KeyboardInterrupt
        ran.append(name)
        return [CHECK], [TIME], ["it broke"] if name.startswith("solutions") else []

    monkeypatch.setattr(record, "run_notebook", run)
    with pytest.raises(KeyboardInterrupt):
        record.main([], course.root)
    written = json.loads((course.root / "results/gpu.json").read_text())
    assert list(written) == ["notebooks/01_a.ipynb"]
    entry = written["notebooks/01_a.ipynb"]
    assert list(entry) == ["code", "ok", "gpu", "driver", "torch", "dsl", "date", "seconds", "checks", "times"]
    assert entry["times"] == [TIME]
    assert entry["ok"] is True and len(entry["code"]) == 64 and entry["gpu"] == "NVIDIA H200"
    assert entry["checks"] == [{"name": "TN", "error": 2e-4, "cublas_error": 2e-4, "bound": 1e-3}]

    stop_at = None
    assert record.main([], course.root) == 1, "a notebook failed"
    assert ran == ["notebooks/01_a.ipynb", "notebooks/02_b.ipynb", "solutions/01_a.ipynb"], "the first was not run again"
    assert "it broke" in capsys.readouterr().out
    assert record.main([], course.root) == 1 and ran[3:] == ["solutions/01_a.ipynb"], "what failed is run again"
    assert record.main(["--only", "02", "--all"], course.root) == 0 and ran[4:] == ["notebooks/02_b.ipynb"]
    (course.root / "notebooks/01_a.ipynb").unlink()
    record.main([], course.root)
    assert "notebooks/01_a.ipynb" not in json.loads((course.root / "results/gpu.json").read_text())
    assert not list((course.root / "results").glob("*.new"))
    assert record.main(["--only", "09"], course.root) == 1


def test_a_corrupt_record_is_not_overwritten(course, monkeypatch):
    course("notebooks/01_a.ipynb", "1")
    (course.root / "results").mkdir()
    (course.root / "results/gpu.json").write_text("{")
    monkeypatch.setattr(record, "preflight", lambda: H200)
    with pytest.raises(SystemExit, match="not JSON"):
        record.main([], course.root)
    assert (course.root / "results/gpu.json").read_text() == "{"


def test_stale_follows_code_and_imported_sources(course):
    path = course("notebooks/01_a.ipynb", "%%needs dsl\nfrom ladder import harness", "import numpy\nx = 1")
    entry = {"code": record.code_hash(path, course.root)}
    files = record.imported_files(["from ladder import harness"], course.root)
    assert [f.name for f in files] == ["__init__.py", "deep.py", "harness.py"]
    assert not record.stale(entry, path, course.root) and record.stale(None, path, course.root)

    def after(change):
        change()
        return record.stale(entry, path, course.root)

    notebook = nbformat.read(path, 4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("more words"))
    assert not after(lambda: nbformat.write(notebook, path)), "prose does not count"
    assert not after(lambda: (course.root / "ladder/other.py").write_text("y = 2\n")), "nothing imports it"
    assert after(lambda: (course.root / "ladder/deep.py").write_text("x = 2\n"))
    same = '"""New words\n\nof many lines."""\n\n\n# a comment\nx = 1  # and one more\n'
    assert not after(lambda: (course.root / "ladder/deep.py").write_text(same)), "words of a source count as little"
    assert after(lambda: (course.root / "ladder/deep.py").write_text("x = '1'\n")) and after(
        lambda: (course.root / "ladder/deep.py").write_text("if 1:\n    x = 1\n")
    )
    (course.root / "ladder/deep.py").write_text("x = 1\n")
    assert not record.stale(entry, path, course.root)
    notebook.cells[1].source = "import numpy\nx = 2"
    assert after(lambda: nbformat.write(notebook, path))


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("x = '# no comment'  # one\n", "x = '# no comment'"),
        ("x = f'{y}#'  # one\n", "x = f'{y}#'"),
        ("class C:\n    'words'\n    x = 1\n", "class C:\n    x = 1"),
        ('def f():\n    # why\n    r"""words\n    more\n    """\n', "def f():"),
        ("x = 1\n'not a docstring'\n", "x = 1\n'not a docstring'"),
        ("async def f():\n    'words'\n    x = 1\n", "async def f():\n    x = 1"),
        ("def f(): 'words'\n", "def f(): 'words'"),
        ("def f():\n    'words'; x = 1\n", "def f():\n    'words'; x = 1"),
        ("x = '''\n# a line  \n\nof text'''  # one\n\n", "x = '''\n# a line  \n\nof text'''"),
        ("x = f'''\n# {y}\n\nof text'''\n", "x = f'''\n# {y}\n\nof text'''"),
        ("@a\ndef f(\n    x,  # one\n):\n    'words'  # two\n\n    y = 1\n", "@a\ndef f(\n    x,\n):\n    y = 1"),
    ],
)
def test_words_of_a_source_are_comments_and_docstrings(source, code):
    assert record.without_words(source) == code


MAGIC = "get_ipython().register_magic_function(lambda line, cell: None, 'cell', 'exercise')"
EXERCISES = f"""
import sys, types
{MAGIC}
sys.modules['exercises'] = types.SimpleNamespace(verdicts={{'01.1': types.SimpleNamespace(ok=%s)}})"""
SOLVED = "%%exercise 01.1\n1"


@pytest.mark.parametrize(
    "name, cells, faults",
    [
        ("notebooks/01_a.ipynb", ["1"], []),
        ("notebooks/01_a.ipynb", ["1/0"], ["ZeroDivisionError: division by zero"]),
        ("notebooks/01_a.ipynb", ["import os; os._exit(3)"], ["Kernel died"]),
        ("notebooks/01_a.ipynb", ["def against_cublas(): pass", "against_cublas()"], ["no check ran on the GPU"]),
        ("notebooks/01_a.ipynb", ["def against_cublas(): pass", "LOG on_gpu=False"], ["no check ran on the GPU"]),
        ("notebooks/01_a.ipynb", ["def against_cublas(): pass", "LOG"], []),
        ("notebooks/01_a.ipynb", ["def against_cublas(): pass", "LOG", "TIME"], []),
        ("notebooks/01_a.ipynb", ["LOG ok=False, note='C(0,0) is 1'"], ["check TN failed: C(0,0) is 1"]),
        ("solutions/01_a.ipynb", [EXERCISES % True, SOLVED], []),
        ("solutions/01_a.ipynb", [EXERCISES % False, SOLVED], ["exercise 01.1 is not right"]),
        ("solutions/01_a.ipynb", [MAGIC, SOLVED], ["exercise 01.1 is not right"]),
    ],
)
def test_run_notebook_knows_what_went_wrong(course, name, cells, faults):
    names = [cell[:4] for cell in cells]
    cells = [_log_cell(cell) if cell.startswith(("LOG", "TIME")) else cell for cell in cells]
    path = course(name, *cells)
    before = path.read_bytes()
    found, times, said = record.run_notebook(path)
    assert said == faults and path.read_bytes() == before and times == ([TIME] if "TIME" in names else [])
    assert all(check["on_gpu"] for check in found)


def _log_cell(cell):
    line = {"time": TIME} if cell == "TIME" else CHECK | eval(f"dict({cell[3:]})")
    return f"import os\nwith open(os.environ['LADDER_CHECKS'], 'a') as f: f.write({json.dumps(line)!r} + '\\n')"


@pytest.fixture
def benchmark(course, monkeypatch):
    """A ladder of three rungs, one for Hopper, and a stand-in for the benchmark that writes their rows. Returns its calls."""
    archs = {"naive": "sm_80", "tiled": "sm_80", "wgmma": "sm_90a"}
    monkeypatch.setattr(record, "RUNGS", {name: types.SimpleNamespace(arch=arch) for name, arch in archs.items()})
    monkeypatch.setattr("ladder.rungs.RUNGS", record.RUNGS)  # of rungs_for
    for name in record.RUNGS:
        (course.root / f"ladder/{name}.py").write_text("TILE = 16\n")
    calls = []

    def run(command, **options):
        calls.append(command)
        row = dict(zip("mnk", record.SIZE, strict=True)) | {"gpu": H200.gpu, "ladder": True, "date": str(len(calls))}
        rows = [row | {"rung": name, "code": record.rung_code(name, course.root)} for name in record.RUNGS]
        path = course.root / "results/ladder.json"
        record.write_json(path, record.merged(record.read_json(path, []), [*rows, row | {"rung": "cublas"}]))
        return types.SimpleNamespace(returncode=0)

    monkeypatch.setattr(record.subprocess, "run", run)
    return calls


def test_the_whole_ladder_is_timed_in_one_run_when_a_rung_is_stale(course, benchmark, monkeypatch, capsys):
    def again(machine=H200, **options):
        before = len(benchmark)
        assert record._record_rungs(course.root, machine, **{"again": False} | options)
        return len(benchmark) - before

    assert again() and "naive, tiled, wgmma changed" in capsys.readouterr().out
    assert benchmark[0][1:] == ["benchmarks/gemm.py", "--rungs", "all", "--shapes", "4096,4096,4096", "--peers", "quack,triton"]
    assert not again() and again(again=True) and not again()
    (course.root / "ladder/tiled.py").write_text("TILE = 8\n")
    assert again() and "ladder: tiled changed" in capsys.readouterr().out and not again()
    (course.root / "ladder/wgmma.py").write_text("TILE = 8\n")
    assert again(), "the rows of this GPU are old"
    (course.root / "ladder/wgmma.py").write_text("TILE = 4\n")
    ampere = dataclasses.replace(H200, arch="sm_80")
    assert not again(ampere), "a rung for Hopper is not missed on another GPU"
    assert again(dataclasses.replace(H200, gpu="another"))


def test_a_ladder_that_fails_or_takes_too_long(course, benchmark, monkeypatch, capsys):
    monkeypatch.setattr(record.subprocess, "run", lambda *a, **k: types.SimpleNamespace(returncode=1))
    assert not record._record_rungs(course.root, H200, again=False)

    def forever(command, timeout, **_):
        raise record.subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(record.subprocess, "run", forever)
    assert not record._record_rungs(course.root, H200, again=False) and "not done after 900 s" in capsys.readouterr().out


def test_the_committed_records():
    """A record that is older than its notebook is a warning: there is no GPU in CI. A failed record, or a strange one, is a failure."""
    records = record.read_json(ROOT / "results/gpu.json", {})
    old = [name for name in record.find_notebooks() if record.stale(records.get(name), ROOT / name)]
    if old:
        warnings.warn("no record, or an older one, in results/gpu.json for: " + ", ".join(old) + " (make gpu)", stacklevel=1)
    assert [name for name, entry in records.items() if not entry["ok"] or any(c["error"] is None for c in entry["checks"])] == []
    assert all(c["error"] <= c["bound"] for entry in records.values() for c in entry["checks"])


def test_counters_are_counted_when_their_sources_changed(course, monkeypatch, capsys):
    (course.root / "ladder/bank_counters.py").write_text("x = 1\n")
    calls = []
    monkeypatch.setattr(record.bank_counters, "measure", lambda: calls.append(1) or {"accesses": [1, 2]})
    assert all(record._record_counters(course.root, again=False) for _ in range(2)) and len(calls) == 1
    assert "2 accesses counted" in capsys.readouterr().out
    (course.root / "ladder/bank_counters.py").write_text("x = 2\n")
    assert record._record_counters(course.root, again=False) and len(calls) == 2

    def refused():
        raise record.LadderError("there is no program ncu here")

    monkeypatch.setattr(record.bank_counters, "measure", refused)
    before = (course.root / "results/bank_conflicts.json").read_bytes()
    assert not record._record_counters(course.root, again=True) and "no program ncu" in capsys.readouterr().out
    assert (course.root / "results/bank_conflicts.json").read_bytes() == before


def test_rungs_that_memory_limits_are_measured_at_each_of_their_sizes(course, monkeypatch, capsys):
    asked = []

    def run(command, **_):
        asked.append(re.search(r"measure_stream\(streaming\.(\w+), (\w+)\.(\w+), \(([\d, ]+)\)\)", command[2]).groups())
        rung, size = asked[-1][1], tuple(int(n) for n in asked[-1][3].rstrip(",").split(","))
        stream = next(each for each in record.STREAMS if each.rung == rung)
        row = stream.sizes_in_row(size) | {"gpu": H200.gpu, "tflops": None, "gb_s": 4000.5}
        rows = [row | {"rung": name} for name in (rung, "torch x", "copy")]
        return types.SimpleNamespace(returncode=0, stdout=json.dumps(rows), stderr="")

    monkeypatch.setattr(record.subprocess, "run", run)
    assert record._record_streams(course.root, H200, again=False)
    want = [(s.rung.upper(), s.rung, s.rung, str(size).strip("()")) for s in record.STREAMS for size in s.times]
    assert asked == want and len(want) == 5
    assert "elementwise 4000.5 GB/s, torch x 4000.5 GB/s, copy" in capsys.readouterr().out
    rows = json.loads((course.root / "results/ladder.json").read_text())
    assert len(rows) == 15 and len({(r["rung"], r["m"], r["n"], r["k"]) for r in rows}) == 15
    assert record._record_streams(course.root, H200, again=False) and len(asked) == 5, "nothing is stale"
