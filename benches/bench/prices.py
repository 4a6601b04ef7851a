"""What each measurement costs: instructions per packet-hop, counted by cachegrind.

An instruction count does not depend on what else the machine does. It leaves out waiting for
memory, which the tables of times show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cachegrind import built, counted, is_here
from scenarios import FABRICS, NOTHING_MEASURED, demo
from table import Table
from timing import Bench

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


def prices(bench: Bench) -> Table | None:
    """The table; none where there is no valgrind."""
    if not is_here():
        return None
    headings = ("scheme", "measured", "instructions per packet-hop", "of the run")
    table = Table("prices", headings, text_columns=2)
    # Valgrind takes a second to start, so a smoke run has one scheme and one measurement.
    count = 1 if bench.is_smoke else None
    for scheme, title in (("pfc", "PFC"), ("bfc", "BFC"))[:count]:
        duration = bench.pick("300 us", "2 us")
        plain = counted(bench, demo(scheme, duration, NOTHING_MEASURED))
        run, hops = (plain - built(bench, scheme)).instructions, plain.packet_hops
        table.add(title, "nothing", f"{run / hops:.0f}", "")
        for name, keys in list(MEASURED.items())[:count]:
            measured = counted(bench, demo(scheme, duration, keys))
            extra = (measured - plain).instructions
            table.add(title, name, f"{extra / hops:+.1f}", f"{extra / run:+.1%}")
    return table
