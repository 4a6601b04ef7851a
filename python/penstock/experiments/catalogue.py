"""Finds the experiments: TOML files named by their id, `bfc/fig10` in `bfc/fig10.toml`.

A user's experiment is a file anywhere. Its id is what the file says.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from penstock.errors import Problem, ScenarioError, nearest, problem_of, refuse
from penstock.experiments.model import Experiment
from penstock.named import SUFFIX, check_meaning, is_path, own_files
from penstock.scenario.table import plain
from penstock.scenario.translation import translate
from penstock.toml_text import read_toml

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
    parts = re.split(r"([0-9]{1,9})", identifier)
    return tuple(int(part) if odd % 2 else part for odd, part in enumerate(parts))


def source_file(identifier: str) -> Path:
    """The file of an experiment."""
    return DIRECTORY / f"{identifier}.toml"


def is_built_in(experiment: Experiment) -> bool:
    """Whether an experiment is of the catalogue, and no user's."""
    return experiment.file is not None and experiment.file.is_relative_to(DIRECTORY)


def every() -> dict[str, Experiment]:
    """All experiments by their ids, read and checked: some 0.4 s."""
    return {name: read(source_file(name)) for name in identifiers()}


def covered() -> dict[str, str]:
    """Ids of figures and tables that an experiment of another id shows as well, and its id."""
    return {other: name for name, one in every().items() for other in one.covers}


def load(identifier: str) -> Experiment:
    """Read an experiment.

    Parameters
    ----------
    identifier:
        The id of a built-in experiment, the name of one in `./experiments`, or the path of a file.

    Raises
    ------
    ScenarioError
        There is no such experiment, or its file is not valid; the message names the nearest ids,
        or file, field and value.
    """
    known = identifiers()
    if is_path(identifier) and identifier.endswith(SUFFIX):
        return read(Path(identifier))
    own = own_files("experiments")
    if identifier not in known:
        if identifier in own:
            return read(own[identifier])
        if identifier in (elsewhere := covered()):
            near = f"take experiment {elsewhere[identifier]}, which shows it"
        else:
            near = f"{nearest(identifier, [*known, *own])}; or name a TOML file"
        raise refuse("ID", "there is no such experiment", near, identifier)
    path = source_file(identifier)
    try:
        check_meaning(identifier, "experiments", path)
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error, "ID")]) from None
    experiment = read(path)
    if experiment.id != identifier:
        problem = Problem("id", f"the file says {identifier}", "write the same", experiment.id)
        raise ScenarioError([problem]).within(str(path))
    return experiment


def read(path: Path) -> Experiment:
    """The experiment of a file.

    Raises
    ------
    ScenarioError
        It is not valid; the message names file, field and value.
    """
    try:
        found = Experiment.model_validate(plain(read_toml(path, "name an experiment's TOML file")))
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error)]) from None
    except ValidationError as error:
        raise translate(error, Experiment).within(str(path)) from None
    return found.read_from(path)
