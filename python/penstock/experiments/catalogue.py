"""Finds the experiments: TOML files named by their id, `bfc/fig10` in `bfc/fig10.toml`."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path

from pydantic import ValidationError

from penstock.experiments.model import Experiment

DIRECTORY = Path(__file__).parent / "catalogue"
"""Where the files are; in the repository a link to `experiments/` at its root."""


def identifiers() -> list[str]:
    """Ids of all experiments, in the order of their papers: fig2 before fig10."""
    return sorted(
        (str(path.relative_to(DIRECTORY).with_suffix("")) for path in DIRECTORY.rglob("*.toml")),
        key=paper_order,
    )


def paper_order(identifier: str) -> tuple[str | int, ...]:
    """Sorts ids by their words and, where words are the same, by their numbers."""
    parts = re.split(r"(\d+)", identifier)
    return tuple(int(part) if part.isdigit() else part for part in parts)


def source_file(identifier: str) -> Path:
    """The file of an experiment."""
    return DIRECTORY / f"{identifier}.toml"


def covered() -> dict[str, str]:
    """Ids of figures and tables that an experiment of another id shows as well, and its id."""
    return {other: name for name in identifiers() for other in load(name).covers}


def load(identifier: str) -> Experiment:
    """Read an experiment.

    Raises
    ------
    LookupError
        No experiment has this id; the message names the nearest ones.
    ValueError
        The file is not a valid experiment; the message names file, field and value.
    """
    known = identifiers()
    if identifier not in known:
        if identifier in (elsewhere := covered()):
            raise LookupError(f"{identifier} is part of experiment {elsewhere[identifier]!r}")
        near = difflib.get_close_matches(identifier, known, n=3) or known
        raise LookupError(f"experiment {identifier!r} is not known; try {', '.join(near)}")
    path = source_file(identifier)
    try:
        experiment = Experiment.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    if experiment.id != identifier:
        raise ValueError(f"{path.name}: id is {experiment.id!r}, the file says {identifier!r}")
    return experiment
