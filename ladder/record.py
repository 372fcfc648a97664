"""`make gpu`: run every notebook and rung on this GPU and write down what it said, in results/.

    python -m ladder.record [--all] [--only 01]

A record is stale when the notebook's code, or the ladder or layoutviz sources that it imports, changed since; words, that is, markdown,
comments and docstrings, do not count. Only what is stale (or failed) is run, each notebook in a process of its own, and the record is
written after each: a run that was cut short goes on where it stopped. Exit status: 0 all ok, 1 something failed, 2 no GPU (and nothing
changed).
"""

import argparse
import ast
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tokenize
from datetime import UTC, datetime
from pathlib import Path

import nbformat

from ladder import bank_counters, stress
from ladder.errors import LadderError
from ladder.preflight import Preflight, preflight
from ladder.rungs import RUNGS, SIZE, ladder_of, rungs_for
from ladder.streaming import ELEMENTWISE, GEMV, TRANSPOSE, Stream

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ladder", "layoutviz")
GPU_CALLS = re.compile(r"\b(gemm_through_layouts|against_cublas|through_sizes)\(")
STREAMS = (ELEMENTWISE, GEMV, TRANSPOSE)  # rungs that memory limits, modules of ladder with a function of that name
CELL_SECONDS = 600
LADDER_SECONDS = 900
VERDICTS = """\
import json as _json, sys as _sys
print(_json.dumps({id: bool(verdict.ok) for id, verdict in getattr(_sys.modules.get("exercises"), "verdicts", {}).items()}))"""


def main(arguments=None, root: Path = ROOT) -> int:
    """Run what is stale and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ladder.record", description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="run everything, stale or not")
    parser.add_argument("--only", metavar="NN", type=lambda text: text.zfill(2), help="run only this chapter's notebooks, no rungs")
    options = parser.parse_args(arguments)
    machine = preflight()
    if not machine.can_run:
        fixes = "".join(f"\n  {name}: {fix}" for name, fix in machine.fixes.items())
        why = f"the {machine.gpu} cannot be used" if machine.gpu else "there is no GPU here"
        print(f"nothing was run and nothing was changed: {why}.{fixes}", file=sys.stderr)
        return 2
    records = read_json(root / "results/gpu.json", {})
    found = [n for n in find_notebooks(root) if not options.only or Path(n).name.startswith(options.only)]
    if not found:
        print(f"no notebook{f' of chapter {options.only}' if options.only else ''} in notebooks/ or solutions/", file=sys.stderr)
        return 1
    due = [n for n in found if options.all or stale(records.get(n), root / n, root) or not records[n]["ok"]]
    print(f"{len(due)} of {len(found)} notebooks to run on {machine.gpu}", flush=True)
    ok = all([_record_notebook(name, root, machine, f"[{i}/{len(due)}]") for i, name in enumerate(due, 1)])
    if not options.only:
        ok &= _record_rungs(root, machine, again=options.all)
        ok &= _record_streams(root, machine, again=options.all)
        ok &= _record_counters(root, again=options.all)
        ok &= _record_stress(root, again=options.all)
    return 0 if ok else 1


def find_notebooks(root: Path = ROOT) -> list[str]:
    """Lessons and solutions, as paths from root: ["notebooks/00_start_here.ipynb", ...]."""
    return [f"{folder}/{path.name}" for folder in ("notebooks", "solutions") for path in sorted((root / folder).glob("*.ipynb"))]


def stale(record: dict | None, notebook: Path, root: Path = ROOT) -> bool:
    """Whether a record of results/gpu.json is missing, or older than the notebook's code or the sources it imports."""
    return record is None or record.get("code") != code_hash(notebook, root)


def code_hash(notebook: Path, root: Path = ROOT) -> str:
    """sha256 of the notebook's code cells and of the code of each file of ladder and layoutviz that they import, directly or not."""
    return _hash(_code_cells(nbformat.read(notebook, as_version=4)), root)


def _hash(sources: list[str], root: Path) -> str:
    digest = hashlib.sha256("\0".join(sources).encode())
    for path in imported_files(sources, root):
        digest.update(f"\0{path.relative_to(root).as_posix()}\0{without_words(path.read_text(encoding='utf-8'))}".encode())
    return digest.hexdigest()


def without_words(source: str) -> str:
    """A module's source without comments, docstrings and empty lines. Text, since the tree of one source differs from Python to Python.

    >>> without_words('def f(x):\\n    \"\"\"Twice.\"\"\"\\n\\n    return 2 * x  # as documented\\n')
    'def f(x):\\n    return 2 * x'
    """
    lines, tree = source.split("\n"), ast.parse(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    in_strings, docstrings = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            in_strings |= set(range(node.lineno, node.end_lineno))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node) is not None:
            docstrings |= _own_lines(node)
    kept = [(row, line) for row, line in enumerate(lines, 1) if row not in docstrings and (line.strip() or row in in_strings)]
    return "\n".join(line if row in in_strings else line.rstrip() for row, line in kept)


def _own_lines(node) -> set[int]:
    """The lines of the docstring of a module, class or function, where nothing else stands on them."""
    words, *rest = node.body
    alone = getattr(node, "lineno", 0) < words.lineno and all(each.lineno > words.end_lineno for each in rest[:1])
    return set(range(words.lineno, words.end_lineno + 1)) if alone else set()


def imported_files(sources: list[str], root: Path = ROOT) -> list[Path]:
    """The files of ladder and layoutviz that these sources import, and those that they import, sorted."""
    waiting, found = {path for source in sources for path in _module_files(source, root)}, set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting |= _module_files(path.read_text(encoding="utf-8"), root)
    return sorted(found)


def _module_files(source: str, root: Path) -> set[Path]:
    """Files of the two packages that a source (or a cell, less its magics) names in an import, at any depth."""
    try:
        tree = ast.parse(re.sub(r"^[%!].*", "", source, flags=re.M))
    except SyntaxError:  # a cell that shows a mistake; nothing of it runs
        return set()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    parents = {name.rsplit(".", depth)[0] for name in names for depth in range(name.count(".") + 1)}
    stems = [root / name.replace(".", "/") for name in parents if name.split(".")[0] in PACKAGES]
    return {path for stem in stems for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()}


def _code_cells(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def _record_notebook(name: str, root: Path, machine: Preflight, progress: str) -> bool:
    """Run one notebook and write its record; a line before and after says how it goes."""
    print(f"{progress} {name} ...", flush=True)
    code, began = code_hash(root / name, root), time.monotonic()  # before the run: an edit while it runs makes the record stale
    checks, times, faults = run_notebook(root / name)
    record = {
        "code": code,
        "ok": not faults,
        "gpu": machine.gpu,
        "driver": machine.driver,
        "torch": machine.torch,
        "dsl": machine.dsl,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began, 1),
        "checks": [{key: check[key] for key in ("name", "error", "cublas_error", "bound")} for check in checks],
        "times": times,
    }
    records = read_json(root / "results/gpu.json", {}) | {name: record}
    there = set(find_notebooks(root))
    write_json(root / "results/gpu.json", {n: records[n] for n in sorted(records) if n in there})
    said = "; ".join(faults) or f"ok, {len(checks)} checks on the GPU"
    print(f"{progress} {name}: {said} ({record['seconds']} s)", flush=True)
    return not faults


def run_notebook(path: Path) -> tuple[list[dict], list[dict], list[str]]:
    """Execute a notebook in a kernel of its own and return (its checks on the GPU, its times, what went wrong).

    Wrong is: a cell that raised, a check that failed, no check on a GPU where the notebook calls for one, an exercise of a
    solution that is not right. The notebook's file is not changed.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = nbformat.read(path, as_version=4)
    wants_check = bool(GPU_CALLS.search("\n".join(_code_cells(notebook))))
    exercises = re.findall(r"^%%exercise\s+(\S+)", "\n".join(_code_cells(notebook)), re.M) if path.parent.name == "solutions" else []
    notebook.cells.append(nbformat.v4.new_code_cell(VERDICTS))
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "checks.jsonl"
        progress = str(Path(folder) / "progress.json")
        env = environment(ROOT) | {"LADDER_CHECKS": str(log), "LAYOUTVIZ_PROGRESS": progress}
        client = NotebookClient(notebook, timeout=CELL_SECONDS, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}})
        try:
            client.execute(env=env)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            faults.append(_last_line(str(error)))
        logged = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    checks, times = [line for line in logged if "time" not in line], [line["time"] for line in logged if "time" in line]
    verdicts = {} if faults else json.loads(notebook.cells[-1].outputs[0].text)
    on_gpu = [check for check in checks if check["on_gpu"]]
    faults += [f"check {c['name']} failed: {c['note']}" for c in checks if not c["ok"] and not faults]
    if wants_check and not on_gpu:
        faults.append("no check ran on the GPU")
    faults += [f"exercise {id} is not right" for id in exercises if not verdicts.get(id) and not faults]
    return on_gpu, times, faults


def environment(root: Path) -> dict[str, str]:
    """This process's environment, in which a child finds the packages at root first."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])}


def _last_line(text: str) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).strip()
    return plain.splitlines()[-1] if plain else "a cell failed without a word"


def _record_rungs(root: Path, machine: Preflight, again: bool) -> bool:
    """Have the benchmark time the whole ladder beside cuBLAS and the rivals in one run, where a rung has no row or one of older sources."""
    rows = ladder_of([row for row in read_json(root / "results/ladder.json", []) if row["gpu"] == machine.gpu])
    known = {row["rung"]: row.get("code") for row in rows}
    due = [name for name in rungs_for(machine.arch) if known.get(name) != rung_code(name, root)]
    if not due and not again:
        return True
    print(f"ladder: {', '.join(due) or 'nothing'} changed; all rungs are checked, and timed in one run ...", flush=True)
    command = [sys.executable, "benchmarks/gemm.py", "--rungs", "all", "--shapes", ",".join(map(str, SIZE)), "--peers", "quack,triton"]
    try:
        return subprocess.run(command, cwd=root, env=environment(root), timeout=LADDER_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"ladder: not done after {LADDER_SECONDS} s", flush=True)
        return False


def _record_streams(root: Path, machine: Preflight, again: bool) -> bool:
    """Measure each rung that memory limits, at each of its sizes; write its rows, torch's and a copy's."""
    ok = True
    for stream in STREAMS:
        for size in stream.times:
            ok &= _record_stream(root, machine, again, stream, size)
    return ok


def _record_stream(root: Path, machine: Preflight, again: bool, stream: Stream, size: tuple[int, ...]) -> bool:
    """Have a process of its own measure a rung at this size, unless its rows are there; write them to ladder.json."""
    path, rung, in_row = root / "results/ladder.json", stream.rung, stream.sizes_in_row(size)
    rows = read_json(path, [])
    code = rung_code(rung, root, "streaming")
    same = in_row | {"rung": rung, "gpu": machine.gpu, "code": code}
    if not again and any(same.items() <= row.items() for row in rows):
        return True
    print(f"rung {rung} at {'x'.join(map(str, size))} ...", flush=True)
    rows_of = f"streaming.measure_stream(streaming.{rung.upper()}, {rung}.{rung}, {size})"
    script = f"import json; from ladder import streaming, {rung}; print(json.dumps({rows_of}))"
    try:
        done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=CELL_SECONDS)
        fault = _last_line(done.stderr) if done.returncode else ""
    except subprocess.TimeoutExpired:
        fault = f"not done after {CELL_SECONDS} s"
    if fault:
        print(f"rung {rung}: {fault}", flush=True)
        return False
    new = [row | {"code": code} for row in json.loads(done.stdout.splitlines()[-1])]
    write_json(path, merged(rows, new))
    print(f"rung {rung}: " + ", ".join(f"{row['rung']} {row['gb_s']} GB/s" for row in new), flush=True)
    return True


def rung_code(rung: str, root: Path = ROOT, module: str = "timing") -> str:
    """sha256 of the sources of a rung and of the module that times it: a row with another is older than they are."""
    return _hash([f"from ladder import {module}, {rung}"], root)


def merged(rows: list[dict], new: list[dict]) -> list[dict]:
    """Rows of ladder.json with new ones, each in place of those of the same rung, size, type and GPU.

    Rows with "ladder" are those of the one run that shows the ladder: a new one takes the place of all of them, and others of none.
    """

    def key(row):
        return ("ladder", row["gpu"]) if row.get("ladder") else tuple(row.get(field) for field in ("rung", "m", "n", "k", "dtype", "gpu"))

    replaced = set(map(key, new))
    return [row for row in rows if key(row) not in replaced] + new


def _record_counters(root: Path, again: bool) -> bool:
    """Have the profiler count bank conflicts; write results/bank_conflicts.json. A profiler that is missing or refused is a failure."""
    sources = "from ladder import bank_counters, shared_access, tiled_swizzled"
    found = _record_whole(root, again, bank_counters, sources, "bank conflicts", "counted by the profiler")
    if found:
        print(f"bank conflicts: {len(found['accesses'])} accesses counted", flush=True)
    return found is not None


def _record_stress(root: Path, again: bool) -> bool:
    """Run every rung over and over and under the sanitizer; write results/stress.json."""
    sources = f"from ladder import stress, {', '.join(RUNGS)}"
    found = _record_whole(root, again, stress, sources, "stress", f"every rung {stress.REPEATS} times, and under compute-sanitizer")
    if found:
        print("stress: " + ("; ".join(stress.faults(found)) or f"{len(found['rungs'])} rungs, nothing found"), flush=True)
    return found is not None and not (found and stress.faults(found))


def _record_whole(root: Path, again: bool, module, sources: str, name: str, doing: str) -> dict | None:
    """Write what module.measure() finds to module.PATH and return it; {} if what is there is of the same sources, None if it fails."""
    path, code = root / module.PATH.relative_to(ROOT), _hash([sources], root)
    if not again and read_json(path, {}).get("code") == code:
        return {}
    print(f"{name}, {doing} ...", flush=True)
    try:
        found = module.measure()
    except LadderError as error:
        print(f"{name}: {error}", flush=True)
        return None
    write_json(path, found | {"code": code})
    return found


def read_json(path: Path, default):
    """The file's content; default if there is none. A file that is not JSON is an error in words, never overwritten."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
    except ValueError as error:
        raise SystemExit(f"{path} is not JSON ({error}); mend it or move it away") from None


def write_json(path: Path, content) -> None:
    """Write all or nothing."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)


if __name__ == "__main__":
    sys.exit(main())
