"""Scenarios: what is simulated, checked before anything runs.

Reading order: `parts` (what a scenario is made of), `topology`, `scheme` with `switch` and `host`,
`traffic`, `measure`; then `checks` (what no single field knows, by subject in `*_checks`) and
`scenario` (parts that are checked, and what can be done with them); `translation` (errors in our
words), `table` and `base` (the ground they stand on). Invariant: parts know nothing of checks.
"""

from penstock.scenario.scenario import Scenario, scenario_names
from penstock.scenario.scheme import Scheme, load_preset, preset_names

__all__ = ["Scenario", "Scheme", "load_preset", "preset_names", "scenario_names"]
