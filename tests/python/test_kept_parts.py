"""A part of a scheme that an experiment writes with the preset's own kind replaces it as a whole.

What the part leaves out then falls to the default, and no longer to what the preset has. Here every
such loss of every experiment is found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from penstock.experiments import catalogue
from penstock.experiments.grid import cells
from penstock.scenario import Scenario

Losses = dict[str, set[str]]

MEANT: dict[str, Losses] = {
    "afq/fig16": {"switch.admission": {"other_tiers"}},
    "afq/isolation": {"switch.admission": {"other_tiers"}},
    "afq/protocols": {"switch.admission": {"other_tiers"}},
}
"""Losses without effect: these experiments have one switch, and thus no second tier."""

SIMPLEST: dict[str, Any] = {"traffic": [{"kind": "long-lived", "pairs": [[0, 1]]}]}
"""A scenario that goes with every scheme."""


def of_preset(preset: str, directory: Path = Path()) -> BaseModel:
    """A preset as it stands."""
    table = SIMPLEST | {"scheme": preset}
    return Scenario.model_validate(table, context={"directory": directory}).scheme


def parts(written: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables with a kind that a scheme's table has, by their path."""
    for key, value in written.items():
        if isinstance(value, Mapping):
            here = f"{path}.{key}" if path else key
            if "kind" in value:
                yield here, value
            yield from parts(value, here)


def at(whole: BaseModel, path: str) -> Any:
    """The part of a scheme at a path."""
    found: Any = whole
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def lost(scheme: Mapping[str, Any], varied: BaseModel, preset: BaseModel) -> Losses:
    """By part: what it leaves out, where that is not what the preset has."""
    found: Losses = {}
    for path, written in parts(scheme):
        new, old = at(varied, path), at(preset, path)
        if getattr(old, "kind", None) != written["kind"]:
            continue
        silent = [name for name in type(old).model_fields if name not in written]
        fields = {name for name in silent if getattr(new, name) != getattr(old, name)}
        if fields:
            found[path] = fields
    return found


def losses(identifier: str) -> Losses:
    """What the schemes of all cells of an experiment lose."""
    experiment = catalogue.load(identifier)
    seen: set[str] = set()
    found: Losses = {}
    for scale in experiment.scales.values():
        for cell in cells(experiment, scale):
            scheme = cell.table.get("scheme")
            text = json.dumps(scheme, sort_keys=True, default=str)
            if cell.missing or text in seen or not isinstance(scheme, dict):
                continue
            seen.add(text)
            if "preset" not in scheme:
                continue
            varied = cell.scenario().scheme
            preset = of_preset(scheme["preset"], cell.directory)
            for path, fields in lost(scheme, varied, preset).items():
                found.setdefault(path, set()).update(fields)
    return found


@pytest.mark.parametrize("identifier", catalogue.identifiers())
def test_no_experiment_loses_what_its_preset_has(identifier: str) -> None:
    """The remedy is to leave out `kind`: then the other fields stay the preset's."""
    assert losses(identifier) == MEANT.get(identifier, {})


def test_a_loss_is_found() -> None:
    scheme = {"preset": "afq", "switch": {"assignment": {"kind": "rounds", "rows": 4}}}
    varied = Scenario.model_validate(SIMPLEST | {"scheme": scheme}).scheme
    assert lost(scheme, varied, of_preset("afq")) == {"switch.assignment": {"bytes_per_round"}}
