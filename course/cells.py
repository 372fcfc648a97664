"""What the builder and the launcher both ask of a notebook: whose cells are in it?

A built notebook remembers its own cells: `metadata.course` holds `notebook`, where the builder put it ("notebooks/01_x.ipynb"),
and `cells`, the hash of its cells as built. So one file tells whether somebody changed it, and no list is kept beside it.
Notebooks are read as plain JSON here: importing nbformat would take half of the time that `make lab` takes.
"""
import hashlib
import json
from pathlib import Path

KINDS = ("notebooks", "exercises", "solutions")


def read(path: Path) -> dict | None:
    """The notebook at `path`; None if there is no file or it is no notebook (of format 4)."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        digest(notebook)
        built_as(notebook)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return notebook


def digest(notebook: dict) -> str:
    """sha256 over the type and source of each cell that is not empty.

    Outputs, metadata, ids and execution counts don't count: JupyterLab writes them when a notebook is merely run. It also adds
    an empty cell when the last one is run.
    """
    cells = [[cell["cell_type"], source] for cell in notebook["cells"] if (source := "".join(cell["source"])).strip()]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def built_as(notebook: dict) -> str | None:
    """Where the builder put this notebook; None if the builder did not make it."""
    return notebook["metadata"].get("course", {}).get("notebook")


def is_as_built(notebook: dict) -> bool:
    """Whether the cells are still those that the builder wrote."""
    return notebook["metadata"].get("course", {}).get("cells") == digest(notebook)
