"""Scenarios: what is simulated, checked before anything runs.

Reading order: `declared` (what the core declares: generated), `topology`, `scheme` and `traffic`
(what users may write in addition), `parts` (a scenario of all parts), `scenario` (parts that the
core accepts, and what can be done with them); `translation` (errors in our words); `table` and
`base` (used by all of them). Invariant: this package checks names, types and units; the core checks
everything else.
"""

from penstock.scenario.scenario import Scenario, scenario_names
from penstock.scenario.scheme import Scheme, load_preset, preset_names

__all__ = ["Scenario", "Scheme", "load_preset", "preset_names", "scenario_names"]
