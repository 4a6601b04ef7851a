"""Runs the bench program under cachegrind: instructions and cache misses, the same on every day.

The counts of one processor's code differ from another's only where a library chooses its code by
the processor. The caches are cachegrind's model of those named here, not the machine's.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scenarios import NOTHING_MEASURED, Scheme, demo
from timing import Bench, written

FIRST = "32768,8,64"
"""A first-level cache: bytes, ways, bytes of a line. Usual on x86-64."""
SECOND = "1048576,16,64"
"""A second-level cache of 1 MB, as of many servers of 2020 to 2025."""
COUNT = re.compile(r"^==\d+== (I +refs|I1 +misses|D1 +misses|LL misses): +([\d,]+)", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """What a run needs, beside its time."""

    instructions: int
    code_misses: int = 0
    """Instructions that the first level did not have; 0 where caches were not modelled."""
    data_misses: int = 0
    """Data that the first level did not have."""
    second_misses: int = 0
    """Code and data that the second level did not have."""
    packet_hops: int = 0
    bare_packet_hops: int = 0
    """Of the bare loop; 0 where it did not run."""

    def __sub__(self, other: Counts) -> Counts:
        """What this run needs beyond `other`, with the packet-hops of this one."""
        return Counts(
            self.instructions - other.instructions,
            self.code_misses - other.code_misses,
            self.data_misses - other.data_misses,
            self.second_misses - other.second_misses,
            self.packet_hops,
            self.bare_packet_hops,
        )


def is_here() -> bool:
    """Whether there is valgrind, to which cachegrind belongs."""
    return shutil.which("valgrind") is not None


def counted(
    bench: Bench, scenario: str, *, has_caches: bool = False, has_bare: bool = False
) -> Counts:
    """The counts of building, running and ending `scenario`, and then of the bare loop."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=cachegrind",
            f"--cache-sim={'yes' if has_caches else 'no'}",
            f"--I1={FIRST}",
            f"--D1={FIRST}",
            f"--LL={SECOND}",
            "--cachegrind-out-file=/dev/null",
            str(bench.binary),
            "1",
            "bare" if has_bare else "alone",
            *written(Path(folder), [scenario], [1]),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = {" ".join(name.split()): number for name, number in COUNT.findall(done.stderr)}
    numbers = {name: int(number.replace(",", "")) for name, number in found.items()}
    misses = (numbers.get(name, 0) for name in ("I1 misses", "D1 misses", "LL misses"))
    page = json.loads(done.stdout)
    hops = (loop["packet_hops"] for loop in (*page["runs"], page["bare"]) if loop)
    return Counts(numbers["I refs"], *misses, *hops)


def built(bench: Bench, scheme: Scheme, *, has_caches: bool = False) -> Counts:
    """The counts of starting the program and of building the demo's network."""
    nothing = demo(scheme, "1 ns", NOTHING_MEASURED | {"drain": 0})
    return counted(bench, nothing, has_caches=has_caches)
