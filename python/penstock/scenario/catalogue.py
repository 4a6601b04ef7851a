"""Which scenarios there are by name, built in or in ``./scenarios``, and what their files say."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from pydantic_core import PydanticCustomError

from penstock.errors import ScenarioError, nearest, problem_of, refuse
from penstock.named import check_meaning, is_path, own_files
from penstock.scenario.table import Table
from penstock.text_file import exists
from penstock.toml_text import read_toml


def scenario_names() -> list[str]:
    """The built-in scenarios, sorted."""
    names = (entry.name for entry in (files("penstock") / "scenarios").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def scenario_file(reference: str, directory: Path = Path()) -> Path:
    """The file of a scenario.

    Parameters
    ----------
    reference
        A name, built-in or of ``./scenarios``; or the path of a file.
    directory
        What a path is relative to.

    Raises
    ------
    ScenarioError
        There is no such name, or it means two scenarios.
    """
    if is_path(reference):
        return directory / reference
    own = own_files("scenarios").get(reference)
    if reference not in scenario_names():
        path = own or directory / reference
        if not exists(path):
            raise no_such(reference)
        return path
    try:
        check_meaning(reference, "scenarios", built_in_file(reference))
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error, "scenario")]) from None
    return built_in_file(reference)


def read_scenario(file: Path) -> Table:
    """The table that a scenario's file has, unchecked.

    Raises
    ------
    ScenarioError
        The file cannot be read, or is no TOML.
    """
    try:
        return read_toml(file, "name a TOML file, or a scenario of `penstock list scenarios`")
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error)]) from None


def built_in_file(name: str) -> Path:
    """The file of a built-in scenario, whether there is one or not."""
    return Path(str(files("penstock") / "scenarios" / f"{name}.toml"))


def no_such(name: str) -> ScenarioError:
    """The refusal of a name that no scenario has."""
    remedy = nearest(name, [*scenario_names(), *own_files("scenarios")])
    return refuse("scenario", "there is no such scenario", f"{remedy}; or name a TOML file", name)
