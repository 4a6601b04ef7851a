"""What each measurement costs: instructions per packet-hop, counted by cachegrind.

An instruction count does not depend on what else the machine does. It leaves out waiting for
memory, which the tables of times show.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios import FABRICS, NOTHING_MEASURED, demo
from table import Table
from timing import Bench, written

TOR = FABRICS[0].hosts
"""The node number of the demo's first switch, above host 0."""
MEASURED: dict[str, Mapping[str, Any]] = {
    '`sample_interval = "2 us"`': NOTHING_MEASURED | {"measure.sample_interval": "2 us"},
    "`active_flows`": NOTHING_MEASURED | {"measure.active_flows": True},
    "both: what the demo measures": {},
    "both, and `series` of a link": {"measure.series": [[TOR, 0]]},
    "`queue_delays`": NOTHING_MEASURED | {"measure.queue_delays": True},
    "`events`": NOTHING_MEASURED | {"measure.events": True},
    "`trace` of a switch": NOTHING_MEASURED | {"measure.trace": {"nodes": [TOR]}},
}
"""What is measured, and the keys that ask for it."""
COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


def prices(bench: Bench) -> Table | None:
    """The table; none where there is no valgrind."""
    if shutil.which("valgrind") is None:
        return None
    headings = ("scheme", "measured", "instructions per packet-hop", "of the run")
    table = Table("prices", headings, text_columns=2)
    # Valgrind takes a second to start, so a smoke run has one scheme and one measurement.
    count = 1 if bench.is_smoke else None
    for scheme, title in (("pfc", "PFC"), ("bfc", "BFC"))[:count]:
        duration = bench.pick("300 us", "2 us")
        built, _ = _counted(bench, demo(scheme, "1 ns", NOTHING_MEASURED | {"drain": 0}))
        plain, hops = _counted(bench, demo(scheme, duration, NOTHING_MEASURED))
        run = plain - built
        table.add(title, "nothing", f"{run / hops:.0f}", "")
        for name, keys in list(MEASURED.items())[:count]:
            extra = _counted(bench, demo(scheme, duration, keys))[0] - plain
            table.add(title, name, f"{extra / hops:+.1f}", f"{extra / run:+.1%}")
    return table


def _counted(bench: Bench, scenario: str) -> tuple[int, int]:
    """The instructions of building, running and ending, and the packet-hops."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
            str(bench.binary),
            "1",
            "alone",
            *written(Path(folder), [scenario], [1]),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    counted = COUNTED.search(done.stderr)
    assert counted is not None, done.stderr
    return int(counted[1].replace(",", "")), json.loads(done.stdout)["runs"][0]["packet_hops"]
