"""What the other simulator did in a run, as ``tests/data/pyrrha-bfc/README.md`` describes it."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

DATA = Path(__file__).parents[2] / "tests" / "data" / "pyrrha-bfc"
OF_HPCC = Path(__file__).parents[2] / "tests" / "data" / "ns3-hpcc"
"""Where the network and the flows of the two traces are."""


@dataclass(frozen=True)
class Reference:
    """One run of the other simulator."""

    name: str
    topology: Path
    flows: Path
    queues: int
    """Queues of a port, the control queue included."""
    has_nic_queues: bool
    """Whether NICs have as many queues, and not a queue per flow."""
    variant: str
    """Which of its variants: see `pyrrha.case`."""

    def lines(self) -> list[str]:
        """The lines of its results."""
        path = DATA / "out" / f"{self.name}.txt.gz"
        return gzip.decompress(path.read_bytes()).decode().splitlines()


@dataclass(frozen=True)
class Tally:
    """Events of one kind: how many there are, and a digest of their sorted lines."""

    count: int
    digest: str


def tally(lines: list[str]) -> Tally:
    """The tally of events."""
    return Tally(len(lines), sha256("\n".join(sorted(lines)).encode()).hexdigest())


def references() -> list[Reference]:
    """All runs; those of the two traces are the last ones."""
    with (DATA / "runs.csv").open() as file:
        return [_reference(row) for row in csv.DictReader(file)]


def _reference(row: dict[str, str]) -> Reference:
    topology, flows = DATA / f"{row['topology']}.txt", DATA / "flows" / f"{row['flows']}.txt"
    if not flows.exists():
        topology, flows = OF_HPCC / "topo_bfc.txt", OF_HPCC / "flows" / f"{row['flows']}.txt.gz"
    has_nic_queues = row["nic"] == "own"
    return Reference(
        row["run"], topology, flows, int(row["queues"]), has_nic_queues, row["variant"]
    )
