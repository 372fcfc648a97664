"""The frame holds together: README and Makefile, the pins, the committed notebooks, the set-up on a bare Python."""
import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

HOME = Path(__file__).resolve().parent.parent
BOOTSTRAP = HOME / "course" / "bootstrap.py"
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text())
TRACKED = subprocess.run(["git", "ls-files"], cwd=HOME, text=True, capture_output=True, check=True).stdout.splitlines()


def targets():
    return set(re.findall(r"^([a-z]+):", (HOME / "Makefile").read_text(), re.M))


# --- README and Makefile


def test_the_readme_s_commands_are_the_makefile_s():
    readme = (HOME / "README.md").read_text()
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", readme, re.S | re.M))
    commands = [line.split("#")[0].split() for line in blocks.splitlines() if line.strip()]
    commands += [inline.split() for inline in re.findall(r"`(make [^`]*)`", readme)]
    makes = [command for command in commands if command[0] == "make"]
    assert makes and all(command[0] in ("make", "git", "cd", "conda", "python") for command in commands)
    assert {command[1] for command in makes} <= targets()
    assert {"lab", "test", "gpu", "build", "reset"} <= {command[1] for command in makes}
    variables = {word.split("=")[0] for command in makes for word in command[2:]}
    assert variables <= {"PORT", "TORCH", "NN", "PYTHON"}


def test_the_readme_s_python_says_what_stands_beside_it():
    code = re.search(r"^```python\n(.*?)^```", (HOME / "README.md").read_text(), re.S | re.M)[1]
    imports, calls = code.split("\n\n")
    names = {}
    exec(imports, names)
    said = [eval(line.split("#")[0], names) for line in calls.splitlines() if line]
    assert str(said[0]) == "(3,(2,2)):(16,(80,4))" and len(said[1]) == 4 and not said[2].holds


def test_help_names_every_target():
    said = subprocess.run(["make"], cwd=HOME, text=True, capture_output=True, check=True).stdout
    assert set(re.findall(r"make ([a-z]+)", said)) == targets()


def test_the_readme_names_every_folder_that_is_there():
    readme = (HOME / "README.md").read_text()
    folders = {path.split("/")[0] for path in TRACKED if "/" in path} - {".ci"}
    assert not [folder for folder in folders if f"{folder}/" not in readme]


# --- pins


def test_every_requirement_is_pinned_to_one_version():
    listed = PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        listed += extra
    for line in listed:
        specifiers = list(Requirement(line).specifier)
        assert [specifier.operator for specifier in specifiers] == ["=="] and "*" not in specifiers[0].version, line
    assert {"numpy", "matplotlib", "ipywidgets", "anywidget", "jupyterlab", "torch"} <= {Requirement(line).name for line in listed}


def test_what_is_installed_here_is_what_is_pinned():
    """The base and dev extras. (torch and the DSL may differ where make was given PYTHON=; a record names what ran.)"""
    listed = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["dev"]
    for requirement in map(Requirement, listed):
        assert requirement.specifier.contains(importlib.metadata.version(requirement.name)), requirement


def test_pins_stand_in_one_place():
    names = "|".join(re.escape(Requirement(line).name) for line in PROJECT["project"]["dependencies"])
    for path in TRACKED:
        if path != "pyproject.toml" and not path.endswith((".ipynb", ".json")):
            text = (HOME / path).read_text(errors="replace")
            assert not re.search(rf"\b({names}|torch|nvidia-cutlass-dsl)(\[\w+\])?[=~<>]=+\s*\d", text), path
    environment = (HOME / "environment.yml").read_text()
    assert "-e .[dsl]" in environment and "python=3.11" in environment


def test_every_package_is_listed():
    """setuptools is told each package by name; one left out would be missing from an install."""
    packages = {Path(path).parent.as_posix().replace("/", ".") for path in TRACKED if path.endswith("/__init__.py")} - {"tests"}
    assert packages == set(PROJECT["tool"]["setuptools"]["packages"])


# --- committed notebooks


@pytest.mark.parametrize("name", [path for path in TRACKED if path.endswith(".ipynb")] or ["none is committed"])
def test_committed_notebooks_hold_no_outputs_and_no_widget_state(name):
    notebook = json.loads((HOME / name).read_text())
    assert notebook["metadata"]["kernelspec"]["name"] == "python3" and "widgets" not in notebook["metadata"]
    for cell in notebook["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None


# --- the set-up, on a bare Python


def bootstrap(folder, *arguments, code="", **environment):
    """Run a copy of bootstrap.py in `folder`, after `code`, and return the finished process."""
    (folder / "course").mkdir(exist_ok=True)
    (folder / "course" / "bootstrap.py").write_text(code + BOOTSTRAP.read_text())
    (folder / "pyproject.toml").touch()
    return subprocess.run([sys.executable, "-I", str(folder / "course" / "bootstrap.py"), *arguments], text=True, capture_output=True,
                          env=os.environ | environment)


def test_an_old_python_can_read_the_set_up():
    ast.parse(BOOTSTRAP.read_text(), feature_version=(3, 6))
    imported = {alias.name for node in ast.parse(BOOTSTRAP.read_text()).body if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= sys.stdlib_module_names


def test_an_old_python_is_told_in_words(tmp_path):
    done = bootstrap(tmp_path, "lab", code="import sys\nsys.version_info = (3, 9, 2)\n", PATH="")
    assert done.returncode == 1 and "needs Python 3.11 or newer" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_an_old_python_hands_over_to_a_newer_one(tmp_path):
    newer = tmp_path / "python3.12"
    newer.write_text("#!/bin/sh\necho handed over: $2\n")
    newer.chmod(0o755)
    done = bootstrap(tmp_path, "lab", code="import sys\nsys.version_info = (3, 9, 2)\n", PATH=f"{tmp_path}:/bin")
    assert done.stdout == "handed over: lab\n"


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_missing_venv_module_is_told_in_words(tmp_path, module):
    hide = f"import importlib.util as u\nfind = u.find_spec\nu.find_spec = lambda name: None if name == {module!r} else find(name)\n"
    done = bootstrap(tmp_path, "test", code=hide)
    assert done.returncode == 1 and "apt install python3-venv" in done.stderr and "Traceback" not in done.stderr


def test_a_venv_that_somebody_else_made_is_left_alone(tmp_path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "mine").touch()
    done = bootstrap(tmp_path, "lab")
    assert done.returncode == 1 and "did not make it" in done.stderr and (tmp_path / ".venv" / "mine").exists()


def test_a_place_that_cannot_be_written_is_told_in_words(tmp_path):
    (tmp_path / ".venv").symlink_to(tmp_path / "nowhere" / "else")
    done = bootstrap(tmp_path, "lab")
    assert done.returncode == 1 and "cannot go on: " in done.stderr and "Traceback" not in done.stderr


def test_gpu_without_a_gpu_installs_nothing(tmp_path):
    done = bootstrap(tmp_path, "gpu", code="import glob\nglob.glob = lambda pattern: []\n", PATH="")
    assert done.returncode == 1 and "no NVIDIA GPU here" in done.stderr and not (tmp_path / ".venv").exists()


PIP_STANDS_IN = '''
import os, sys
if sys.argv[1:2] == ["-m"]:
    words = sys.argv[1:]
    open(os.environ["PIP_CALLS"], "a").write(" ".join(words[1:]) + "\\n")
    sys.exit(int(os.environ.get("PIP_FAILS", "0")))
'''


def test_the_set_up_is_done_once_healed_when_half_made_and_grown_when_more_is_asked(tmp_path):
    """With a real venv, in which pip only notes that it was called."""
    calls = tmp_path / "calls"

    def run(target, **more):
        calls.write_text("")
        # The venv's own python runs this before anything else, and so stands in for its pip.
        done = bootstrap(tmp_path, target, code=f"STANDS_IN = {PIP_STANDS_IN!r}\n" + '''
import subprocess
real = subprocess.Popen
class Popen(real):
    def __init__(self, command, *rest, **named):
        if "pip" in command or "compileall" in command:
            command = [command[0], "-c", STANDS_IN, *command[1:]]
        super().__init__(command, *rest, **named)
subprocess.Popen = Popen
''', PIP_CALLS=str(calls), TORCH="0", **more)
        return done, [line for line in calls.read_text().splitlines() if line.startswith("pip")]

    done, pip = run("lab")
    assert done.returncode == 0 and len(pip) == 1 and "[dsl" in pip[0] and "MB" in done.stdout, done.stderr
    mark = tmp_path / ".venv" / "mark"
    mark.touch()
    assert run("lab")[1] == [] and mark.exists(), "nothing to do the second time"
    done, pip = run("build")
    assert ".[dev,dsl]" in pip[0] and mark.exists(), "the same .venv, with more in it"
    assert run("lab")[1] == [] and run("build")[1] == []

    done, pip = run("test", PIP_FAILS="1")
    assert done.returncode == 1 and "pip could not install" in done.stderr and "Traceback" not in done.stderr
    done, pip = run("lab")
    assert done.returncode == 0 and len(pip) == 1 and not mark.exists(), "a half-made .venv is made anew"

    (tmp_path / "pyproject.toml").write_text("changed")
    assert len(run("lab")[1]) == 1 and run("lab")[1] == []
    (tmp_path / ".venv" / "bin" / "python").unlink()
    assert len(run("lab")[1]) == 1, "its Python went away, as after a system upgrade"
    stamp = tmp_path / ".venv" / "course-setup.json"
    stamp.write_text(stamp.read_text().replace(str(tmp_path), "/elsewhere"))
    assert len(run("lab")[1]) == 1, "the folder was moved"
    assert not (tmp_path / ".venv" / "course-setup.log").read_text()
