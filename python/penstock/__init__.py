"""Penstock: evaluates flow control for data-center networks.

>>> from penstock import Scenario
>>> Scenario.from_name("bfc-demo").scheme.name
'bfc'

A :class:`Scenario` goes in, :func:`run` simulates it in the Rust core, a :class:`Run` comes out:
tables, summary, figures. The command line (:mod:`penstock.cli`) is the same three steps.
"""

from penstock.errors import Problem, ScenarioError, SimulationError
from penstock.provenance import package_version
from penstock.results import Run
from penstock.runner import Progress, run, run_many
from penstock.scenario import Scenario, Scheme

__version__ = package_version()

__all__ = [
    "Problem",
    "Progress",
    "Run",
    "Scenario",
    "ScenarioError",
    "Scheme",
    "SimulationError",
    "__version__",
    "run",
    "run_many",
]
