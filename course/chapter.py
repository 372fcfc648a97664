"""How a chapter is written, and reading one.

A chapter is one file, course/NN_name.py, in the py:percent format. What a cell says on its `# %%` line:

    tags=["setup"]                          goes to all three
    tags=["exercise"]                       goes to the exercises, as starter, and to the solutions, solved
    tags=["exercise", "inline"]             and into the lesson too, as starter
    exercise="01.2"                         with the tag: an exercise's code cell, headed %%exercise 01.2
    needs="dsl"                             headed %%needs dsl: skipped, in words, where the DSL is not installed
    include="ladder/naive.py:naive_gemm"    the code of that file: these top-level names and the imports they use;
                                            without names all but the docstring and the __main__ part
    jupyter={...}                           kept as it is
    (nothing)                               goes to the lesson

The code of an exercise holds both versions; the markers, and the version that isn't wanted, never reach a notebook:

    ### BEGIN SOLUTION
    layout = Layout((6, 5), (8, 1))
    ### STARTER
    # layout = Layout(..., ...)
    ### END SOLUTION
"""
import re
from dataclasses import dataclass
from pathlib import Path

import jupytext
from nbformat import NotebookNode

KEYS = {"tags", "exercise", "needs", "include", "jupyter"}
JUPYTEXT_KEYS = {"lines_to_next_cell", "lines_to_end_of_cell_marker", "cell_marker"}  # its own notes on how the text was laid out
TEXTS = ("exercise", "needs", "include")  # keys whose value is a text
TAGS = {"setup", "exercise", "inline"}
NEEDS = {"dsl"}
BEGIN, STARTER, END = "### BEGIN SOLUTION", "### STARTER", "### END SOLUTION"


class ChapterError(ValueError):
    """A fault in a chapter's source, in words, with its file and line."""


@dataclass(frozen=True)
class Cell:
    """A cell of a chapter's source: what it says, where it stands, and where it goes."""
    kind: str  # "code" or "markdown"
    source: str
    line: int  # of its "# %%", counted from 1
    tags: frozenset[str]
    exercise: str | None = None
    needs: str | None = None
    include: str | None = None
    jupyter: dict | None = None

    def goes_to(self, notebook: str) -> bool:
        if "setup" in self.tags:
            return True
        if "exercise" in self.tags:
            return notebook != "notebooks" or "inline" in self.tags
        return notebook == "notebooks"


def read_chapter(path: Path) -> list[Cell]:
    """The cells of a chapter, checked. Raises ChapterError naming the file and the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as wrong:
        raise ChapterError(f"{path.name}:1: a chapter is UTF-8 text, and byte {wrong.start} of this one is not") from None
    lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"# %%( |$)", line)]
    # comment_magics off: a comment such as "# more on this later" stays a comment.
    try:
        notebook = jupytext.reads(text, fmt={"extension": ".py", "format_name": "percent", "comment_magics": False})
    except Exception as wrong:  # jupytext passes on what its own parsers and nbformat's checks raise, whatever that is
        raise ChapterError(f"{path.name}:1: this cannot be read as py:percent: {str(wrong).splitlines()[0]}") from None
    if len(notebook.cells) != len(lines):
        raise ChapterError(f"{path.name}:1: each cell begins with a line '# %%' or '# %% [markdown]', the first one at the top")
    cells = [_checked(cell, f"{path.name}:{line}", line) for cell, line in zip(notebook.cells, lines, strict=True)]
    number, seen = path.name[:2], set()
    for cell in cells:
        if cell.exercise in seen:
            raise ChapterError(f"{path.name}:{cell.line}: exercise {cell.exercise} stands in this chapter already")
        if cell.exercise and not re.fullmatch(rf"{number}\.\d+", cell.exercise):
            raise ChapterError(f"{path.name}:{cell.line}: exercise {cell.exercise} must be numbered {number}.1, {number}.2, ... here")
        seen.add(cell.exercise or "")
    return cells


def _checked(cell: NotebookNode, where: str, line: int) -> Cell:
    said = {key: value for key, value in cell.metadata.items() if key not in JUPYTEXT_KEYS}
    if cell.cell_type not in ("code", "markdown"):
        raise ChapterError(f"{where}: a cell is code or [markdown], not {cell.cell_type}")
    for key in TEXTS:
        if not isinstance(said.get(key, ""), str):
            raise ChapterError(f"{where}: {key}= is a text, not {said[key]!r}")
    unknown = sorted(set(said) - KEYS) + sorted(set(said.get("tags", ())) - TAGS)
    if unknown:
        raise ChapterError(f"{where}: unknown {', '.join(map(repr, unknown))}; known keys: {', '.join(sorted(KEYS))}; "
                           f"known tags are {', '.join(sorted(TAGS))}")
    result = Cell(cell.cell_type, cell.source, line, frozenset(said.pop("tags", ())), **said)
    if result.kind == "markdown" and any(marker in cell.source for marker in (BEGIN, STARTER, END)):
        raise ChapterError(f"{where}: the markers of a solution stand in code, and this is a markdown cell")
    code_only = [key for key in ("exercise", "needs", "include") if getattr(result, key)]
    if result.kind != "code" and code_only:
        raise ChapterError(f"{where}: {code_only[0]}= is for code cells, and this is a {result.kind} cell")
    if result.exercise and result.needs:
        raise ChapterError(f"{where}: a cell is an exercise or needs= something, not both")
    if result.exercise and "exercise" not in result.tags:
        raise ChapterError(f'{where}: exercise {result.exercise} lacks tags=["exercise"]')
    if "inline" in result.tags and "exercise" not in result.tags:
        raise ChapterError(f'{where}: "inline" is for exercises: tags=["exercise", "inline"]')
    if result.needs and result.needs not in NEEDS:
        raise ChapterError(f"{where}: needs={result.needs!r} is unknown; known: {', '.join(sorted(NEEDS))}")
    return result


def split_solution(source: str, where: str, first_line: int) -> tuple[str, str]:
    """The starter and the solved version of an exercise's code; both are the whole source if it has no markers.

    `where` is the file's name and `first_line` the line of the source's first line, for messages.
    Raises ChapterError at the marker that is out of place, or at a starter line that is not commented.
    """
    starter, solved, part = [], [], "both"
    follows = {BEGIN: ("both", "solved"), STARTER: ("solved", "starter"), END: ("starter", "both")}
    for number, line in enumerate(source.splitlines(), first_line):
        text = line.strip()
        if text in follows:
            before, after = follows[text]
            if part != before:
                raise ChapterError(f"{where}:{number}: '{text}' is out of place; the order is '{BEGIN}', '{STARTER}', '{END}'")
            part = after
        elif re.match(r"###\s*(begin|end)?\s*(solution|starter)", text, re.I):
            raise ChapterError(f"{where}:{number}: '{text}' is not a marker; the markers are '{BEGIN}', '{STARTER}', '{END}'")
        elif part == "starter":
            if text and not text.startswith("#"):
                raise ChapterError(f"{where}:{number}: a line of the starter must be a comment: # {text}")
            starter.append(re.sub(r"^(\s*)# ?", r"\1", line).rstrip())
        else:
            solved.append(line)
            if part == "both":
                starter.append(line)
    if part != "both":
        raise ChapterError(f"{where}:{first_line + len(source.splitlines())}: '{END}' is missing at the end of this cell")
    return "\n".join(starter), "\n".join(solved)
