"""Scenarios: what is simulated, checked before anything runs.

Reading order: `declared` (what the core declares: generated), `topology`, `scheme` and `traffic`
(what a user may write besides), `parts` (all of it), `scenario` (parts that the core accepts, and
what can be done with them); `translation` (errors in our words), `table` and `base` (the ground
they stand on). Invariant: names, types and units are checked here, everything else by the core.
"""

from penstock.scenario.scenario import Scenario, scenario_names
from penstock.scenario.scheme import Scheme, load_preset, preset_names

__all__ = ["Scenario", "Scheme", "load_preset", "preset_names", "scenario_names"]
