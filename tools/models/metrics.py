"""The tables of metrics, for ``docs/files.md``, from what the metrics say about themselves.

They stand between a line ``<!-- metrics -->`` and a line ``<!-- end of metrics -->``.
"""

from __future__ import annotations

import re

from penstock.experiments.expression import METRICS
from penstock.experiments.metric import REQUIRED

PLACE = re.compile(r"^<!-- metrics -->\n(?:.*?\n)??<!-- end of metrics -->$", re.M | re.S)


def filled(page: str) -> str:
    """`page` with the tables as the metrics are now."""
    return PLACE.sub(lambda _: f"<!-- metrics -->\n\n{_tables()}\n<!-- end of metrics -->", page)


def _tables() -> str:
    metrics = ["| metric | what it is | parameters |", "|---|---|---|"]
    used: dict[tuple[str, str], list[str]] = {}
    for name in sorted(METRICS):
        words = []
        for one in METRICS[name].parameters.values():
            used.setdefault((one.name, one.meaning), []).append(name)
            shown = one.name if one.default == REQUIRED else f"{one.name}={one.default}"
            words.append(f"`{shown}`")
        metrics.append(f"| `{name}` | {METRICS[name].meaning} | {', '.join(words)} |")
    counts: dict[str, int] = {}
    for parameter, _ in used:
        counts[parameter] = counts.get(parameter, 0) + 1
    parameters = ["| parameter | meaning | metrics |", "|---|---|---|"]
    for (parameter, meaning), names in sorted(used.items()):
        where = ", ".join(f"`{name}`" for name in names) if counts[parameter] > 1 else ""
        parameters.append(f"| `{parameter}` | {meaning} | {where} |")
    return "\n".join([*metrics, "", *parameters]) + "\n"
