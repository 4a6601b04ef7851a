"""The Rust core (crate penstock-py): a resolved scenario in, tables out."""

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

PROFILE: str
"""Cargo's profile with which this extension is compiled: "release", "policy" or "debug"."""

FlowColumns = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint64]]
"""Of each flow of a list: source, destination, size [B] and start [ps]."""

Given = str | tuple[str, dict[int, FlowColumns]]
"""A resolved scenario: JSON; or JSON in which some entries of the traffic have no flows, and these
flows by the number of the entry."""

class ScenarioError(Exception):
    """The core refuses the scenario; `args[0]` has rows of (path of a field, value, remedy)."""

class SimulationError(Exception):
    """A run failed: time stood still, or under ``check=True`` an invariant did not hold."""

class SchemeError(SimulationError):
    """A user's class that failed; the cause is the error that it raised, if it raised one."""

class CheckpointError(Exception):
    """A state that cannot be read, or does not belong to the run; the text says which."""

class EmulationError(Exception):
    """An emulation failed: namespaces are forbidden, a program does not exist, a device is gone."""

class StorageError(OSError):
    """The state of a run cannot be written; the text says why."""

class Flow:
    """What a controller knows of its flow when the flow starts."""

    number: int
    """Number of the flow in the run."""
    start: int
    """When the flow starts [ps]."""
    size: int | None
    """Bytes of the flow; ``None`` for an endless one."""
    base_rtt: int
    """Round-trip time of the unloaded path [ps]."""
    line_rate: int
    """Rate of the sender's NIC [bit/s]."""
    bdp: int
    """Bandwidth-delay product [B]."""
    payload: int
    """Payload of a full data packet [B]."""
    hops: int
    """Switches on the path."""

class Hop:
    """What one hop reports about its port (telemetry)."""

    time: int
    """When the packet left [ps]."""
    sent_bytes: int
    """Bytes that the port had sent before [B]."""
    queue_bytes: int
    """Data left in the port's queues [B]."""
    rate: int
    """Rate of the port [bit/s]."""

class Acknowledgement:
    """An acknowledgement, and the state of the flow after it."""

    is_marked: bool
    """Whether the data packet was marked with congestion experienced."""
    is_negative: bool
    """Whether the receiver saw a gap."""
    acknowledged: int
    """Bytes that the receiver is known to have [B]."""
    newly_acknowledged: int
    """Bytes that this acknowledgement was the first to report [B]."""
    next: int
    """What `acknowledged` becomes once all that is in flight is acknowledged [B]."""
    sent_at: int
    """When the data packet left its source [ps]."""
    path: int
    """Names the path of the data packet; another number when the path has changed."""
    telemetry: tuple[Hop, ...]
    """The hops of the data packet in the order of the path; empty without telemetry."""

class Loss:
    """A loss that recovery reports, or the end of a recovery."""

    kind: str
    """``"fast-retransmit"``, ``"recovery-exit"`` or ``"timeout"``."""
    in_flight: int
    """Bytes sent and not acknowledged [B]."""
    is_repeated: bool
    """Whether nothing was acknowledged since the last timeout."""

class Port:
    """What a class of a switch knows of its port."""

    switch: int
    """Node number of the switch."""
    number: int
    """Number of the port at its switch."""
    rate: int
    """Rate of the link [bit/s]."""
    packet: int
    """The longest data packet on the wire [B]."""

class Packet:
    """A data packet that joins a queue or leaves one."""

    bytes: int
    """Size on the wire [B]."""
    queue: int
    """The packet's queue at its port."""
    queue_bytes: int
    """Data in the queue [B], with the packet when it joins and without it when it leaves."""
    port_bytes: int
    """Data in all data queues of the port [B], counted in the same way."""
    priority: int
    """Priority class."""
    flow: int
    """The flow identifier that switches see."""

class Queue:
    """A queue that has packets and may send."""

    number: int
    """Number of the queue, from 1."""
    priority: int
    """Priority class that the queue serves."""
    bytes: int
    """Data that waits [B]."""
    head_bytes: int
    """Size of the first packet on the wire [B]."""
    head_flow: int
    """The flow identifier of the first packet, as switches see it."""

Tables = dict[str, dict[str, NDArray[Any]]]
"""Columns of each table, by name."""

class Output(TypedDict):
    """What a run returns."""

    summary: str
    tables: Tables

def run(
    scenario: Given,
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
    switches; a run under ``fidelity = "ns3-hpcc"``, or with a class in Python, uses one.

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
    scenario: Given,
    config_json: str,
    *,
    on_progress: Callable[[int, str | None], bool] | None = None,
) -> EmulationOutput:
    """Emulate a scenario in real time, in a process with one thread, which is another afterwards.

    `on_progress(now_ps, glance)` is called about every 100 ms; when it returns False the run stops.
    A few times a second `glance` is JSON (see :mod:`penstock.emulation.glance`), else none.
    """

PACKET_KINDS: list[str]
"""The kinds of packets, by their number."""

def capture_head(interfaces: list[str]) -> bytes:
    """The beginning of a pcapng file: its section, and an interface for each name."""

def capture_frames(columns: dict[str, NDArray[Any]], hosts: int, kept: int) -> bytes:
    """The blocks of a pcapng file, one for each row of a packet trace.

    `columns` are ``time_ps``, ``kind`` (its number), ``src``, ``dst``, ``flow_hash``, ``sequence``,
    ``remaining``, ``sent_ps``, ``size_bytes``, ``payload_bytes``, ``upstream_queue``, ``tag``,
    ``class`` and ``flags`` of the trace, and for each frame ``interface`` (its number), ``leaves``
    (whether it leaves the switch), ``sender`` (a node; hosts come first), ``rate_bps`` of the link
    and ``label`` (queue at the sender). `kept` is how much of a frame is in the file [B].

    Raises
    ------
    ValueError
        A column is missing or has another length or type, or a row has a value that no frame has.
    """

def normalize(scenario: Given) -> str:
    """Parse a scenario and write it again, as the core understands it."""

def dependencies(scenario: Given, *, any_route: bool = False, listed: bool = True) -> str:
    """The buffer dependencies of a scenario's network and routes, as JSON; or of any routes.

    An object of `links` (objects `link`, `from`, `to`, `name`), `next_hops` (rows [edge switch,
    switch, links towards it]), `dependencies` (pairs of links), `dependency_count`, `cycles`
    (objects `links`, `example`), `elided` (pairs of links) and `down_up_suffices`. Unless `listed`
    is true, `next_hops` and `dependencies` are empty.
    """

def planned(scenario: Given, most: int) -> dict[str, dict[str, Any]]:
    """The first `most` flows that depend on others, and who waits for whom.

    Tables `flows` (`flow`, `src`, `dst`, `size_bytes`, `label`, `class`, `iteration`, `step`,
    `rank`, `start_ps`, `needed`) and `edges` (`flow`, `awaited`, `event`: 0 received, 1
    acknowledged, 2 started; `delay_ps`). Closed loops (rpc, on-off) are not in them.
    """

def pause_room(scenario: Given) -> str:
    """What each link into a switch can bring until a pause acts, and the headroom for it, as JSON.

    A list, by switch and port, of objects: from, to (nodes), needed [B], headroom [B], of each
    class; null where the admission has no thresholds of ingresses.

    Raises
    ------
    ScenarioError
        When the scenario is refused.
    """

def full_packet(scenario: Given) -> int:
    """The longest data packet on the wire, with telemetry and timestamp where it has them [B].

    Raises
    ------
    ScenarioError
        When the text is no scenario.
    """

def link_ends(scenario: Given) -> list[tuple[int, int]]:
    """The two nodes of each directed link of a scenario's network, in order of number."""

def core_paths(
    scenario: Given, flows: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]] | None:
    """The links between switches that flows take, from the first switch to the last.

    `flows` is [flow, 4]: number, source, destination, start [ps]. The result is three arrays: by
    flow the number of its path; by path the place of its first link in the third array, and one
    entry more; links, path after path. None where flows have no single path (packets are sprayed)
    or where paths follow another simulator (`fidelity`). Hosts that do not exist: the empty path.
    A flow that stays inside its server: 2^32 - 1 as the number of its path.
    """

def forecast(scenario: Given) -> str:
    """What is expected of a run, as JSON: `flows`, `open_flows`, `data_packets`, `packet_hops`;
    `fullest_link`, null or an object of name, layer and load.
    """

def schema() -> str:
    """The JSON schema of a scenario as `run` takes it: meaning, type, bounds, default, source."""

def validate(scenario: Given) -> None:
    """Check a scenario as `run` does, without running it."""

def run_bare(scenario: Given) -> tuple[int, int, float]:
    """Run the bare event loop on a scenario: packet-hops, events, seconds of the loop."""

def processors() -> int:
    """Threads that this process may run at once, at least 1, by affinity and quota."""

def allocate_pauses(ports: list[tuple[float, float, float]], need: float) -> list[float]:
    """FAFC's pause times [ns] that relieve an egress of `need` bytes at the least loss.

    A port is its relief and its loss [bytes/ns] and its longest pause [ns].
    """
