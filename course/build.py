"""Build the notebooks from the chapters:  python -m course.build [--check] [NN ...]

A chapter, course/NN_name.py (chapter.py says how it is written), becomes notebooks/NN_name.ipynb (the lesson) and, if it has
exercises, exercises/NN_name.ipynb (starters) and solutions/NN_name.ipynb (solved). Building twice gives the same bytes.
A built notebook that was edited by hand is not overwritten: the builder shows what was changed, to be carried back into the
chapter, and writes nothing of that chapter. What is built of README.md (readme.py) is renewed too.
"""
import ast
import difflib
import hashlib
import os
import re
import sys
from collections import Counter
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.cells import KINDS, built_as, digest, is_as_built, read
from course.chapter import BEGIN, END, Cell, ChapterError, read_chapter, split_solution
from course.include import IMPORTS, included
from course.readme import main as renew_readme

ROOT = Path(__file__).resolve().parent.parent
_NAMES = {"notebooks": "Lesson", "exercises": "Exercises", "solutions": "Solutions"}
_SAYS = {"exercises": "Run a cell to have your answer checked. Run the first code cell before the others.",
         "solutions": "Every exercise is solved here. Try it yourself first: a wrong answer teaches more than a read one."}


def make_notebooks(path: Path, root: Path) -> dict[str, NotebookNode]:
    """The notebooks of the chapter at `path`: {"notebooks/01_x.ipynb": notebook, ...}. Nothing is written.

    `root` is the folder that include= paths start from. Raises ChapterError naming the file and the line.
    """
    cells = read_chapter(path)
    has_exercises = any(cell.exercise for cell in cells)
    headings = (re.search(r"^# (.+)$", cell.source, re.M) for cell in cells if cell.kind == "markdown")
    title = next((heading[1].strip() for heading in headings if heading), None)
    if title is None:
        raise ChapterError(f"{path.name}:1: a chapter needs a heading, a markdown cell that begins '# '")
    made = {}
    for kind in KINDS if has_exercises else KINDS[:1]:
        parts = [_built_cell(cell, kind, path.name, root) for cell in cells if cell.goes_to(kind)]
        links = " · ".join(f"[{_NAMES[other]}](../{other}/{path.stem}.ipynb)" for other in KINDS if other != kind)
        if kind != "notebooks":
            parts.insert(0, ("markdown", f"# {title}: {_NAMES[kind].lower()}\n\n{_SAYS[kind]}\n\n{links}", {}))
        elif has_exercises:
            parts.append(("markdown", links, {}))
        made[f"{kind}/{path.stem}.ipynb"] = _notebook(parts, f"{kind}/{path.stem}.ipynb")
    return made


def _built_cell(cell: Cell, kind: str, file: str, root: Path) -> tuple[str, str, dict]:
    """What a cell becomes in the notebook `kind`: its type, source and metadata."""
    source, first = cell.source, cell.line + 1
    if cell.include:
        if cell.exercise:
            raise ChapterError(f"{file}:{cell.line}: a cell is an exercise or an include, not both")
        if not _only_imports(source):
            raise ChapterError(f"{file}:{first}: the body of an include= cell is replaced, so it may hold imports only")
        try:
            source = included(cell.include, root)
        except ChapterError as wrong:
            raise ChapterError(f"{file}:{cell.line}: {wrong}") from None
    if cell.kind == "code":
        starter, solved = split_solution(source, file, first)
        if cell.exercise and starter == solved:
            raise ChapterError(f"{file}:{cell.line}: exercise {cell.exercise} has no solution between '{BEGIN}' and '{END}'")
        if not cell.exercise and starter != solved:
            raise ChapterError(f'{file}:{cell.line}: a cell with a solution needs its number: exercise="{file[:2]}.1"')
        source = solved if kind == "solutions" else starter
        head = f"%%exercise {cell.exercise}\n" if cell.exercise else f"%%needs {cell.needs}\n" if cell.needs else ""
        source = head + source
    metadata = {"tags": sorted(cell.tags)} if cell.tags else {}
    return cell.kind, source, metadata | ({"jupyter": cell.jupyter} if cell.jupyter else {})


def _only_imports(source: str) -> bool:
    try:
        return all(isinstance(node, IMPORTS) for node in ast.parse(source).body)
    except SyntaxError:
        return False


def _notebook(parts: list[tuple[str, str, dict]], name: str) -> NotebookNode:
    seen, cells = Counter(), []
    for kind, source, metadata in parts:
        # The same cell keeps its id wherever it moves; a cell that stands twice gets another one the second time.
        seen[kind, source] += 1
        identity = hashlib.sha256(f"{kind} {seen[kind, source]}\n{source}".encode()).hexdigest()[:12]
        new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        cells.append(new(source, id=identity, metadata=metadata))
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}})
    notebook.metadata["course"] = {"notebook": name, "cells": digest(notebook)}
    nbformat.validate(notebook)
    return notebook


def edits(made: NotebookNode, found: dict, name: str) -> str:
    """What somebody changed in a built notebook, as a unified diff from the fresh build to the file."""
    def text(notebook: dict) -> list[str]:
        return "\n\n".join(f"# %% [{cell['cell_type']}]\n{''.join(cell['source'])}" for cell in notebook["cells"]).splitlines()
    return "\n".join(difflib.unified_diff(text(made), text(found), f"{name}, built", f"{name}, edited by hand", lineterm=""))


def build_chapter(path: Path, root: Path, check: bool = False) -> tuple[list[str], list[str]]:
    """Build the chapter at `path` into `root`/notebooks, exercises and solutions.

    Returns (changed, refused): the notebooks that were written or removed (with `check`: that would be), and a message for each
    that cannot be. If one is refused, nothing of the chapter is written. Raises ChapterError for a fault in the source.
    """
    made = make_notebooks(path, root)
    changed, refused = {}, []
    for name in (f"{kind}/{path.stem}.ipynb" for kind in KINDS):
        file = root / name
        data = (nbformat.writes(made[name]) + "\n").encode() if name in made else None
        if (file.read_bytes() if file.exists() else None) == data:
            continue
        changed[name] = data
        found = read(file)
        if file.exists() and (found is None or built_as(found) is None):
            refused.append(f"{name} was not made by the builder and is not overwritten. Move it away and build again.")
        elif found is not None and not is_as_built(found) and not (name in made and digest(found) == digest(made[name])):
            diff = edits(made.get(name, nbformat.v4.new_notebook()), found, name)
            refused.append(f"{name} was edited by hand and is not overwritten. Carry this into {path.name}, or delete the notebook "
                           f"to drop it, and build again:\n{diff}")
    if not refused and not check:
        for name, data in changed.items():
            _write(root / name, data)
    return list(changed), refused


def _write(file: Path, data: bytes | None) -> None:
    """Replace the file whole, so that an interruption leaves no half notebook; None removes it."""
    if data is None:
        file.unlink()
        return
    file.parent.mkdir(exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_bytes(data)
    os.replace(partial, file)


def orphans(course: Path, root: Path) -> list[str]:
    """Notebooks in the three folders that no chapter builds."""
    chapters = {path.stem for path in course.glob("[0-9][0-9]_*.py")}
    return sorted(f"{kind}/{path.name}" for kind in KINDS for path in (root / kind).glob("*.ipynb") if path.stem not in chapters)


def build(course: Path, root: Path, numbers: list[str], check: bool = False) -> int:
    """Build the chapters with these two-digit numbers (all if none) and print what happened; returns the exit status.

    0: all notebooks are as the chapters say. 1: something was refused or, with `check`, something would change.
    """
    paths = [path for path in sorted(course.glob("[0-9][0-9]_*.py")) if not numbers or path.name[:2] in numbers]
    unknown = sorted(set(numbers) - {path.name[:2] for path in paths})
    if unknown or not paths:
        print(f"There is no chapter {', '.join(unknown) or 'at all'} in {course.name}/.")
        return 1
    status = 0
    for path in paths:
        try:
            changed, refused = build_chapter(path, root, check)
        except ChapterError as wrong:
            changed, refused = [], [str(wrong)]
        for message in refused:
            print(message)
        if not refused:
            for name in changed:
                print(f"{'would change' if check else 'wrote' if (root / name).exists() else 'removed'} {name}")
        status = max(status, bool(refused), check and bool(changed))
    for name in [] if numbers else orphans(course, root):
        print(f"{name} has no chapter in {course.name}/: delete it, or bring its chapter back.")
        status = 1
    print("Not all notebooks are as their chapters say." if status else "All notebooks are as their chapters say.")
    return int(status)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    only_check = "--check" in arguments
    status = build(ROOT / "course", ROOT, [argument.zfill(2) for argument in arguments if argument != "--check"], only_check)
    sys.exit(max(status, renew_readme(only_check)))
