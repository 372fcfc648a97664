"""What the builder and the launcher both ask of a notebook: whose cells are in it?

A built notebook remembers its own cells: `metadata.course` holds `notebook`, where the builder put it ("notebooks/01_x.ipynb"),
and `cells`, the hash of its cells as built. So one file tells whether somebody changed it, and no list is kept beside it.
"""
import hashlib
import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode

KINDS = ("notebooks", "exercises", "solutions")


def read(path: Path) -> NotebookNode | None:
    """The notebook at `path`; None if there is no file or it cannot be read as a notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception:  # what nbformat raises for JSON that is no notebook depends on where it stumbles
        return None


def digest(notebook: NotebookNode) -> str:
    """sha256 over the type and source of each cell.

    Outputs, metadata, ids and execution counts don't count: JupyterLab writes them when a notebook is merely run.
    """
    return hashlib.sha256(json.dumps([[cell.cell_type, cell.source] for cell in notebook.cells]).encode()).hexdigest()


def built_as(notebook: NotebookNode) -> str | None:
    """Where the builder put this notebook; None if the builder did not make it."""
    return notebook.metadata.get("course", {}).get("notebook")


def is_as_built(notebook: NotebookNode) -> bool:
    """Whether the cells are still those that the builder wrote."""
    return notebook.metadata.get("course", {}).get("cells") == digest(notebook)
