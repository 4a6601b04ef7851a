"""What is said of tables and runs: why a table is empty, what did not happen, what is too short."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from penstock import Scenario
from penstock.tables import (
    COLUMNS,
    columns_as_frames,
    deadlock_notes,
    idle_notes,
    quiet_notes,
    short_notes,
    why_empty,
)

STAR = {"kind": "single-switch", "hosts": 3}
ENDLESS = {"kind": "long-lived", "pairs": [[0, 1]]}


def _scenario(traffic: dict[str, Any] = ENDLESS, **fields: Any) -> Scenario:
    return Scenario(**{"topology": STAR, "scheme": "pfc", "traffic": [traffic], **fields})


def test_where_the_core_has_no_number_a_table_has_none() -> None:
    found = columns_as_frames({"flows": {"fct_ns": np.array([1.0, np.nan])}})["flows"]
    assert found["fct_ns"].to_list() == [1, None]


@pytest.mark.parametrize(
    ("duration", "meant"),
    [(500_000, None), (499_999, 'duration = "499999 us"'), (400_000, "")],
)
def test_a_traffic_that_ends_before_a_packet_arrives_is_told(
    duration: int, meant: str | None
) -> None:
    links = pl.DataFrame({"delay_ns": [1_000.0, 500.0]})
    notes = short_notes({"links": links}, _scenario(duration=duration))
    assert len(notes) == (meant is not None)
    if meant is not None:
        assert "the shortest link takes 500 ns" in notes[0]
        assert ("such as" in notes[0]) == bool(meant) and meant in notes[0]


def test_listed_flows_that_end_may_all_begin_in_a_moment() -> None:
    links = {"links": pl.DataFrame({"delay_ns": [500.0]})}
    ends, lasts = [0, 1, 1_000, 0], [1, 2, 0, 0]
    for flows, told in [([ends], 0), ([ends, lasts], 1), ([lasts], 1)]:
        scenario = _scenario({"kind": "listed", "flows": flows}, duration=1)
        assert len(short_notes(links, scenario)) == told


def test_a_deadlock_is_told_with_its_time() -> None:
    deadlock = {"time_ps": 1_500_000_000, "nodes": [1, 0, 1], "stuck_pauses": 2}
    (note,) = deadlock_notes({"deadlock": deadlock, "node_names": ["A", "B"]})
    assert note.startswith("deadlock at 1.5 ms: B->A->B wait for each other, 2 pauses never end")
    assert deadlock_notes({"deadlock": None}) == []


def test_a_run_without_a_flow_is_told() -> None:
    summary = {"flows_started": 0, "cancelled": False}
    (note,) = idle_notes(summary, _scenario(duration="100 us"))
    assert note.startswith("no flow started within the duration of 100 us: write a longer one")
    assert idle_notes(summary | {"flows_started": 1}, _scenario()) == []
    assert idle_notes(summary | {"cancelled": True}, _scenario()) == []


def test_how_far_a_run_stayed_from_a_pause_is_told_where_there_was_none() -> None:
    summary = {"ingress_peak_fraction_of_xoff": 0.31, "pfc_pauses": 0}
    assert quiet_notes(summary, _scenario()) == ["no PFC pause: ingress peaked at 31 % of XOFF"]
    assert quiet_notes(summary | {"pfc_pauses": 1}, _scenario()) == []


def test_packets_of_flows_are_counted_at_samples() -> None:
    empty = {"flow_packets": pl.DataFrame(schema=COLUMNS["flow_packets"])}
    summary = {"ingress_peak_fraction_of_xoff": None}
    measure: dict[str, Any] = {"active_flows": True, "sample_interval": 0}
    told = why_empty(empty, _scenario(measure=measure), summary)
    assert told == {"flow_packets": "measure.sample_interval is 0"}
    told = why_empty(empty, _scenario(measure=measure | {"sample_interval": "1 us"}), summary)
    assert told == {"flow_packets": "no flow had a packet at a sample"}
