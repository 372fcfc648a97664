"""Every notebook runs from top to bottom as on a machine without a GPU and without torch; starters fail, solutions pass.
Also as on one without the DSL (macOS), where the cells that need it say so.

What no test here covers is a notebook on a GPU: `make gpu` runs that, and results/gpu.json says when it last did.
"""
import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course.cells import KINDS
from exercises.engine.exercise import find

HOME = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(path.relative_to(HOME).as_posix() for kind in KINDS for path in (HOME / kind).glob("*.ipynb"))

# Python runs a module of this name at its start. The path finder it puts in place finds everything but what is hidden.
HIDING = '''
import os, sys
from importlib.machinery import PathFinder

HIDDEN = os.environ["HIDDEN"].split()


class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in HIDDEN else super().find_spec(name, path, target)

    @classmethod
    def find_distributions(cls, *arguments, **named):
        return (found for found in super().find_distributions(*arguments, **named) if found.name not in HIDDEN)


sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
'''
NO_TORCH, NO_DSL = "torch", "torch cutlass nvidia-cutlass-dsl"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run(notebook, folder, hidden) executes a notebook in place and returns it; an error output raises."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(HIDING)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), str(HOME)]))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("LAYOUTVIZ_PROGRESS", str(tmp_path / "progress.json"))

    def run(notebook, folder, hidden=NO_TORCH):
        monkeypatch.setenv("HIDDEN", hidden)
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
        return notebook

    return run


def code(source):
    return nbformat.v4.new_code_cell(source)


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def test_there_are_notebooks():
    assert {name.split("/")[0] for name in NOTEBOOKS} == set(KINDS)


def test_the_kernel_sees_no_torch_and_no_gpu(run, tmp_path):
    """What hides torch hides it from an import, from find_spec and from its metadata, and hides nothing else."""
    asks = """
import importlib.metadata, importlib.util, os
try:
    import torch
except ModuleNotFoundError as missing:
    print(missing.name)
print(importlib.util.find_spec("torch"), importlib.util.find_spec("numpy") is None, repr(os.environ["CUDA_VISIBLE_DEVICES"]))
print([name for name in ("torch", "numpy") if any(found.name == name for found in importlib.metadata.distributions())])
"""
    ran = run(nbformat.v4.new_notebook(cells=[code(asks)]), tmp_path)
    assert printed(ran.cells[0]) == "torch\nNone False ''\n['numpy']\n"


@pytest.mark.parametrize("hidden", [NO_TORCH, NO_DSL])
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs_and_its_exercises_are_judged(name, hidden, run):
    notebook = nbformat.read(HOME / name, as_version=4)
    ids = re.findall(r"^%%exercise (\S+)", "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code"), re.M)
    asks = "import json, exercises\nprint(json.dumps({id: [verdict.ok, verdict.state.name] for id, verdict in exercises.verdicts.items()}))"
    notebook.cells.append(code(asks))
    ran = run(notebook, (HOME / name).parent, hidden)
    for cell in ran.cells:
        if cell.source.startswith("%%needs dsl"):
            assert ("Skipped: this cell needs the CuTe DSL" in printed(cell)) == (hidden == NO_DSL)
        if "gemm_through_layouts(" in cell.source and hidden == NO_TORCH:
            words = printed(cell)
            assert "no GPU here: compiled for sm_90a, NOT run" in words and "equal numpy's products" in words and "record" in words
    errors = [output for cell in ran.cells for output in cell.get("outputs", ()) if output.output_type == "error"]
    assert not errors
    verdicts = json.loads(printed(ran.cells[-1]))
    assert sorted(verdicts) == sorted(ids), "each exercise of the notebook was judged, and no other"
    if name.startswith("solutions/"):
        of_kernels = {"RIGHT", "COMPILED"} if hidden == NO_TORCH else {"NOT_ATTEMPTED"}
        allowed = {id: {"RIGHT"} if find(id).limit is None else of_kernels for id in ids}
        assert ids and all(state in allowed[id] and ok == (state == "RIGHT") for id, (ok, state) in verdicts.items()), verdicts
    else:
        assert not any(ok for ok, _ in verdicts.values()), verdicts
    if name.startswith("exercises/"):
        assert ids
