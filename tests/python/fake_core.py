"""A stand-in for the Rust core, for tests that are about Python alone.

It remembers what it was asked to run and returns small tables of the right shape.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.tables import COLUMNS

EVENTS = ["arrive", "drop"]

SUMMARY: dict[str, Any] = {
    "digest": "00ff",
    "events": 10,
    "packet_hops": 100,
    "sim_end_ps": 1_000_000,
    "flows_started": 2,
    "flows_finished": 2,
    "drops": 0,
    "lost_packets": 0,
    "retransmitted_packets": 0,
    "delivered_bytes": 3000,
    "labels": ["background", "incast"],
    "layers": ["host-switch", "switch-host"],
    "event_names": EVENTS,
    "buffer_peak_bytes": [0],
    "headroom_peak_bytes": [0],
    "node_names": ["H0", "H1", "S0"],
    "cancelled": False,
    "ingress_peak_fraction_of_xoff": 0.31,
    "pfc_pauses": 0,
    "queue_pauses": 0,
    "credits_sent": 0,
    "credits_dropped": 0,
    "credits_wasted": 0,
    "base_rtt_ps": 8_000_000,
    "bdp_bytes": 100_000,
    "unfinished": [],
    "backlog": {
        "time_ns": [0.0, 1_000.0],
        "flows": [0, 0],
        "bytes": [0, 0],
        "arrived_flows": [0, 2],
        "arrived_bytes": [0, 3_000],
    },
    "long_lived": [],
    "deadlock": None,
    "queue_delay_ns": {},
}


class FakeCore:
    """Counts runs; `steps` progress calls each, and an error when told so."""

    def __init__(self) -> None:
        self.scenarios: list[dict[str, Any]] = []
        self.threads: list[int] = []
        self.steps = 1
        self.error: Exception | None = None

    def run(
        self,
        scenario: str,
        *,
        on_progress: Callable[[int, int, int, int], bool] | None = None,
        on_saved: Callable[[], None] | None = None,
        restore: str | None = None,
        on_rows: Callable[[dict[str, Any]], None] | None = None,
        most_rows: int = 0,
        check: bool = False,
        threads: int = 1,
    ) -> dict[str, Any]:
        """What `_core.run` returns, made up."""
        self.scenarios.append(json.loads(scenario))
        self.threads.append(threads)
        if self.error:
            raise self.error
        goes_on = True
        for step in range(self.steps):
            goes_on = on_progress is None or on_progress(step, self.steps, step, 0)
            if not goes_on:
                break
            time.sleep(0.001)
        return {
            "summary": json.dumps(SUMMARY | {"cancelled": not goes_on}),
            "tables": {"flows": _rows("flows", 2), "packets": _rows("packets", 2)},
        }


def _rows(table: str, count: int) -> dict[str, Any]:
    columns: dict[str, Any] = {name: np.ones(count) for name in COLUMNS[table]}
    if "event" in columns:
        columns["event"] = np.arange(count, dtype=np.uint32)
    if "finished" in columns:
        columns |= {"finished": np.ones(count, dtype=bool), "label": np.zeros(count, np.uint32)}
    return columns
