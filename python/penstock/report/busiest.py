"""The busiest links of a report.

What it is: the few links of each scheme that carry the most of their rate. What it is not: the
figure of layers, whose means hide a link that all traffic wants. Invariant: what is carried after
the end of the traffic counts nowhere in it.
"""

from __future__ import annotations

from penstock.analysis import MeasuredRun, busiest_links
from penstock.readable import bytes_text, number_text, rate_text
from penstock.report.table import Detail

LINKS = 3
"""Links of a scheme (our choice: as many as slowest flows)."""
SCHEMES_MAX = 12
"""Schemes whose links are shown (our choice: more rows are not read)."""


def busy_links(groups: dict[str, list[MeasuredRun]]) -> Detail:
    """The busiest links of each name, over its seeds."""
    shown = dict(list(groups.items())[:SCHEMES_MAX])
    rows = []
    for row in busiest_links(shown, LINKS).iter_rows(named=True):
        names = shown[row["name"]][0].summary["node_names"]
        rows.append(
            [
                row["name"],
                f"{names[row['from']]}→{names[row['to']]}",
                rate_text(row["rate_bps"]),
                _percent(row["utilization"]),
                _paused(row["port_paused"], row["queues_paused"]),
                "–" if row["layer"].startswith("host-") else bytes_text(row["queue_bytes_max"]),
                number_text(row["drops"]),
            ]
        )
    titles = ["Scheme", "Link", "Rate", "Busy", "Paused", "Longest queue", "Drops"]
    note = (
        f"The {LINKS} links of each scheme that were busy for the largest share of the traffic's "
        "time, headers and control frames included. Paused: by PFC or FAFC, a share of the whole "
        "run; by BFC, how many queues on average. Means over seeds; the longest queue is that of "
        "all seeds, and not measured at hosts."
    )
    return Detail("Busiest links", titles, rows, note=note)


def _paused(port: float, queues: float) -> str:
    """How much of a link was paused: all of it, some of its queues, or both."""
    if not queues:
        return _percent(port)
    number = number_text(queues)
    words = f"{number} {'queue' if number == '1' else 'queues'}"
    return f"{_percent(port)}, {words}" if port else words


def _percent(share: float) -> str:
    return f"{number_text(100 * share)} %"
