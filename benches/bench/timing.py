"""Runs the bench program: times of scenarios beside each other, repeat by repeat."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

Size = TypeVar("Size", int, str)


@dataclass(frozen=True)
class Times:
    """One scenario, or the bare loop."""

    packet_hops: int
    events: int
    flows: int
    """Flows that finished."""
    pauses: int
    """Pauses that switches sent."""
    seconds: tuple[float, ...]
    """Time of the loop, by repeat."""
    finish_seconds: tuple[float, ...]
    """Time of making the results, by repeat."""
    handover_ns: tuple[float, ...]
    """Time of a cache line from one core to another, by repeat; nothing on one thread."""

    @property
    def all_seconds(self) -> tuple[float, ...]:
        """Time of the loop and of making the results, by repeat."""
        pairs = zip(self.seconds, self.finish_seconds, strict=True)
        return tuple(loop + finish for loop, finish in pairs)

    @property
    def ns_per_hop(self) -> float:
        """Median time of the loop per packet-hop."""
        return median(self.seconds) * 1e9 / self.packet_hops

    def per_hop_of(self, other: Times) -> float:
        """Time of the loop per packet-hop as a multiple of that of `other`, repeat by repeat."""
        return ratio(self.seconds, other.seconds) * other.packet_hops / self.packet_hops


def ratio(ours: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios of each repeat."""
    return median(one / other for one, other in zip(ours, others, strict=True))


@dataclass(frozen=True)
class Report:
    """Everything that one process has timed."""

    runs: tuple[Times, ...]
    bare: Times | None
    peak_bytes: int | None
    """Resident memory of the first run [B]; none where the system does not say."""


@dataclass(frozen=True)
class Bench:
    """The compiled bench program, and how it is used."""

    binary: Path
    repeats: int
    is_smoke: bool
    """Whether the sizes are the smallest, to see that every case works."""

    def pick(self, full: Size, smoke: Size) -> Size:
        """A size, or the one of a smoke run."""
        return smoke if self.is_smoke else full

    def once(self, scenario: str) -> Report:
        """Runs a scenario once, in a process of its own: its memory does not change."""
        return replace(self, repeats=1).beside([scenario])

    def beside(
        self, scenarios: Sequence[str], *, bare: bool = False, threads: Sequence[int] = ()
    ) -> Report:
        """Runs `scenarios` in turn in a process of their own, one of them on each of `threads`."""
        counts = threads or [1] * len(scenarios)
        with tempfile.TemporaryDirectory() as folder:
            words = written(Path(folder), scenarios, counts)
            beside = "bare" if bare else "alone"
            done = subprocess.run(
                [self.binary, str(self.repeats), beside, *words],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        page: dict[str, Any] = json.loads(done.stdout)
        return Report(
            tuple(_times(one) for one in page["runs"]),
            _times(page["bare"]) if page["bare"] else None,
            page["peak_resident_bytes"],
        )


def written(folder: Path, scenarios: Sequence[str], threads: Sequence[int]) -> list[str]:
    """Writes `scenarios` into `folder`; the words that name them to the bench program."""
    words = []
    for number, (scenario, count) in enumerate(zip(scenarios, threads, strict=True)):
        path = folder / f"{number}.json"
        path.write_text(scenario)
        words += [str(path), str(count)]
    return words


def _times(page: dict[str, Any]) -> Times:
    lists = {name: tuple(page[name]) for name in ("seconds", "finish_seconds", "handover_ns")}
    return Times(**(page | lists))
