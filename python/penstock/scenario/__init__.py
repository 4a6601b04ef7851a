"""Scenarios: what is simulated, checked before anything runs.

Reading order: `scenario` (the whole), `topology`, `scheme` with `switch` and `host`, `traffic`,
`measure`; then `scheme_checks` and `traffic_checks` (what no single field knows), `translation`
(errors in our words), `table` and `base` (the ground they stand on).
"""

from penstock.scenario.scenario import Scenario, scenario_names
from penstock.scenario.scheme import Scheme, load_preset, preset_names

__all__ = ["Scenario", "Scheme", "load_preset", "preset_names", "scenario_names"]
