"""Scenarios: what is simulated, checked before anything runs.

Reading order: `declared` (what the core declares: generated), `topology`, `scheme` and `traffic`
(what users may write in addition), `parts` (a scenario of all parts), `scenario` (parts that the
core accepts, and what can be done with them); `catalogue` (which there are by name), `settings`
(what ``--set`` does); `translation` (errors in our words); `table` and `base` (used by all of
them). Invariant: this package checks names, types and units; the core checks
everything else.

The names below are imported at their first use: `table` and `base` need no models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.scenario.catalogue import scenario_names
    from penstock.scenario.scenario import Scenario
    from penstock.scenario.scheme import Scheme, load_preset, preset_names

__all__ = ["Scenario", "Scheme", "load_preset", "preset_names", "scenario_names"]

_MODULES = {
    "Scenario": "scenario",
    "Scheme": "scheme",
    "load_preset": "scheme",
    "preset_names": "scheme",
    "scenario_names": "catalogue",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
