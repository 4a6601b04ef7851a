"""The notebooks: without outputs as they lie there, and executed without an error or a warning."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS_MAX = 300
"""Until a cell is given up [s]; a cell takes a few, and the machine may be busy."""
PNG = b"\x89PNG\r\n\x1a\n"
FIGURES = {"first-lecture": 2}
"""How many figures each draws."""


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def test_there_is_a_notebook() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(FIGURES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_without_outputs(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    for cell in code:
        assert not cell.outputs and cell.execution_count is None, cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_draws(path: Path, here: Path) -> None:
    notebook = read(path)
    executed = NotebookClient(
        notebook, timeout=SECONDS_MAX, kernel_name="python3", resources={"metadata": {"path": here}}
    ).execute()
    outputs = [one for cell in executed.cells for one in cell.get("outputs", [])]
    complaints = [one for one in outputs if one.output_type in ("stream", "error")]
    assert not complaints, complaints  # warnings come as a stream
    data = [one["data"] for one in outputs]
    figures = [base64.b64decode(one["image/png"]) for one in data if "image/png" in one]
    assert len(figures) == FIGURES[path.stem]
    for figure in figures:
        assert figure.startswith(PNG) and len(figure) > 10_000
    tables = [one["text/html"] for one in data if "text/html" in one]
    assert any("Scenario" in table for table in tables)
    assert any("slowdown, p99" in table for table in tables)
