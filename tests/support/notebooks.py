"""Run the notebooks of ``examples`` in a kernel of their own."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

EXAMPLES = Path(__file__).parents[2] / "examples"
CELL_TIMEOUT_S = 300
"""Limit for one cell; all cells of a notebook together take about ten seconds."""


def read_notebook(name: str) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(EXAMPLES / name, as_version=4)
    return notebook


def execute_notebook(notebook: NotebookNode, folder: Path) -> None:
    """Run all cells in an empty folder, where they must write nothing."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            environment.setenv(name, str(folder / name.lower()))
        environment.setenv("MPLCONFIGDIR", str(folder / "matplotlib"))
        environment.delenv("MPLBACKEND", raising=False)
        work_folder = folder / "work"
        work_folder.mkdir()
        resources = {"metadata": {"path": str(work_folder)}}
        NotebookClient(notebook, timeout=CELL_TIMEOUT_S, resources=resources).execute()
    assert not list(work_folder.iterdir())


def list_code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]
