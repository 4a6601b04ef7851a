"""A run directory as an input: the name of one of its files, a line's end, what is in that file."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from penstock import Run, Scenario, run
from penstock.tables import FILES


@cache
def files() -> dict[str, bytes]:
    """The files of a small run."""
    made = run(Scenario.from_name("quickstart", {"duration": "5 us"}))
    with tempfile.TemporaryDirectory() as place:
        directory = made.save(Path(place) / "run")
        return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def seeds() -> list[bytes]:
    """Each file of the run, under its name."""
    return [name.encode() + b"\n" + data for name, data in files().items()]


def read(text: str) -> None:
    """Loads a run, one of whose files was replaced by what an input says, and all its tables."""
    name, _, data = os.fsencode(text).partition(b"\n")
    directory = Path("run")
    directory.mkdir()
    for file, whole in files().items():
        (directory / file).write_bytes(whole)
    chosen = name.decode(errors="replace")
    (directory / (chosen if chosen in files() else "flows.parquet")).write_bytes(data)
    loaded = Run.load(directory)
    for table in FILES:
        loaded._frame(table)
