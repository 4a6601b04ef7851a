"""Finds the experiments: TOML files named by their id, `bfc/fig10` in `bfc/fig10.toml`."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path

from pydantic import ValidationError

from penstock.experiments.model import Experiment

DIRECTORY = Path(__file__).parent / "catalogue"
"""Where the files are; in the repository a link to `experiments/` at its root."""


def identifiers() -> list[str]:
    """Ids of all experiments, sorted."""
    return sorted(
        str(path.relative_to(DIRECTORY).with_suffix("")) for path in DIRECTORY.rglob("*.toml")
    )


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
        near = difflib.get_close_matches(identifier, known, n=3) or known
        raise LookupError(f"experiment {identifier!r} is not known; try {', '.join(near)}")
    path = DIRECTORY / f"{identifier}.toml"
    try:
        experiment = Experiment.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    if experiment.id != identifier:
        raise ValueError(f"{path.name}: id is {experiment.id!r}, the file says {identifier!r}")
    return experiment
