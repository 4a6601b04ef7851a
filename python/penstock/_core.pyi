"""The Rust core (crate penstock-py): a resolved scenario in, tables out."""

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

class ScenarioError(Exception):
    """The core refuses the scenario; `args[0]` has rows of (path of a field, value, remedy)."""

class SimulationError(Exception):
    """A run failed: time stood still, or under ``check=True`` an invariant did not hold."""

class CheckpointError(Exception):
    """A state that cannot be read, or does not belong to the run; the text says which."""

class EmulationError(Exception):
    """An emulation failed: namespaces are forbidden, a program does not exist, a device is gone."""

class StorageError(OSError):
    """The state of a run cannot be written; the text says why."""

Tables = dict[str, dict[str, NDArray[Any]]]
"""Columns of each table, by name."""

class Output(TypedDict):
    """What a run returns."""

    summary: str
    tables: Tables

def run(
    scenario_json: str,
    *,
    on_progress: Callable[[int, int, int, int], bool | str] | None = None,
    on_saved: Callable[[], None] | None = None,
    restore: str | None = None,
    on_rows: Callable[[Tables], None] | None = None,
    most_rows: int = 0,
    check: bool = False,
    threads: int = 1,
) -> Output:
    """Run a scenario with the interpreter released.

    The tables are the same on any number of `threads` (> 0). No run uses more than its network has
    switches, and a run under ``fidelity = "ns3-hpcc"`` uses one.

    `on_progress(sim_ps, end_ps, events, finished_flows)` is called about every 100 ms; when it
    returns False the run stops and what is finished is returned. When it returns a path, the state
    of the simulation is written there, `on_saved` is called, and the run goes on. A run of the same
    scenario on as many threads goes on from the state in `restore`.

    `on_rows(tables)` is called whenever the run holds more than `most_rows` rows of the tables that
    grow with time: flows, buffers, series, events, packets. It gets their rows so far, which are
    not returned again.
    """

class EmulationOutput(Output):
    """What an emulation returns."""

    emulation: str
    """What is beside the results, as JSON."""

def emulate(
    scenario_json: str,
    config_json: str,
    *,
    on_progress: Callable[[int, str | None], bool] | None = None,
) -> EmulationOutput:
    """Emulate a scenario in real time, in a process with one thread, which is another afterwards.

    `on_progress(now_ps, glance)` is called about every 100 ms; when it returns False the run stops.
    A few times a second `glance` is JSON (see :mod:`penstock.emulation.glance`), else none.
    """

def normalize(scenario_json: str) -> str:
    """Parse a scenario and write it again, as the core understands it."""

def dependencies(scenario_json: str, *, any_route: bool = False) -> str:
    """The buffer dependencies of a scenario's network and routes, as JSON; or of any routes.

    An object of `links` (objects `link`, `from`, `to`, `name`), `next_hops` (rows [edge switch,
    switch, links towards it]), `dependencies` (pairs of links), `cycles` (objects `links`,
    `example`), `elided` (pairs of links) and `down_up_suffices`.
    """

def link_ends(scenario_json: str) -> list[tuple[int, int]]:
    """The two nodes of each directed link of a scenario's network, in order of number."""

def core_paths(
    scenario_json: str, flows: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]] | None:
    """The links between switches that flows take, from the first switch to the last.

    `flows` is [flow, 4]: number, source, destination, start [ps]. The result is three arrays: by
    flow the number of its path; by path the place of its first link in the third array, and one
    entry more; links, path after path. None where flows have no single path (packets are sprayed)
    or where paths follow another simulator (`fidelity`). Hosts that do not exist: the empty path.
    """

def forecast(scenario_json: str) -> str:
    """What is expected of a run, as JSON: `flows`, `data_packets` and `packet_hops`."""

def schema() -> str:
    """The JSON schema of a scenario as `run` takes it: meaning, type, bounds, default, source."""

def validate(scenario_json: str) -> None:
    """Check a scenario as `run` does, without running it."""

def run_bare(scenario_json: str) -> tuple[int, int, float]:
    """Run the bare event loop on a scenario: packet-hops, events, seconds of the loop."""

def allocate_pauses(ports: list[tuple[float, float, float]], need: float) -> list[float]:
    """FAFC's pause times [ns] that relieve an egress of `need` bytes at the least loss.

    A port is its relief and its loss [bytes/ns] and its longest pause [ns].
    """
