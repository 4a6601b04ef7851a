"""Penstock: evaluates flow control for data-center networks.

>>> from penstock import Scenario
>>> Scenario.from_name("bfc-demo").scheme.name
'bfc'

A :class:`Scenario` goes in, :func:`run` simulates it in the Rust core, a :class:`Run` comes out:
tables, summary, figures. The command line (:mod:`penstock.cli`) takes the same three steps.

The names below are imported at their first use. So the command line can install its handlers of
signals before it imports anything large.
"""

from __future__ import annotations

MYPY = False
"""True for a type checker only; `typing` itself takes milliseconds to import."""

if MYPY:
    from typing import Any

    from penstock.errors import (
        Problem,
        ScenarioError,
        SchemeError,
        SimulationError,
        StorageError,
    )
    from penstock.own_scheme import Controller, Marking, Scheduler
    from penstock.results import Run
    from penstock.runner import Progress, run
    from penstock.scenario import Scenario, Scheme
    from penstock.several import resume, run_each, run_many

    __version__: str

__all__ = [
    "Controller",
    "Marking",
    "Problem",
    "Progress",
    "Run",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "Scheme",
    "SchemeError",
    "SimulationError",
    "StorageError",
    "__version__",
    "resume",
    "run",
    "run_each",
    "run_many",
]

_MODULES = {
    "Controller": "own_scheme",
    "Marking": "own_scheme",
    "Problem": "errors",
    "Progress": "runner",
    "Run": "results",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Scheduler": "own_scheme",
    "Scheme": "scenario",
    "SchemeError": "errors",
    "SimulationError": "errors",
    "StorageError": "errors",
    "resume": "several",
    "run": "runner",
    "run_each": "several",
    "run_many": "several",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return import_module("penstock.provenance").package_version()
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"penstock.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
