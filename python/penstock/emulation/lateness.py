"""How late the frames of a run were, and what that means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LATE = 0.5
"""The packets by which a frame in a hundred may be late before a run says so; our choice: a queue
is then off by half a packet."""

TOO_LATE = 4.0
"""The packets by which a frame in a hundred may be late in a run on which a claim rests; our
choice, from 24 runs of `beyond/frames`. With less, medians of completion times differed from the
simulation by at most 5.4 % and 99th percentiles by 13 %; with more, by 8 % and 69 %."""

ATTEMPTS = 3
"""How often an experiment makes a run whose frames are too late each time; our choice: most often
another program kept the machine busy for a moment, and a machine that is too slow is soon given up.
"""


def packets_late(emulation: Mapping[str, Any]) -> float:
    """By how many packets of the slowest link a frame in a hundred was late.

    Parameters
    ----------
    emulation
        That part of the summary of a run.
    """
    worst = max(each["p99_us"] for each in emulation["lateness"].values())
    return float(worst / emulation["packet_us"])


def is_too_late(summary: Mapping[str, Any]) -> bool:
    """Whether a run had real frames, and they were too late for a claim."""
    emulation = summary.get("emulation")
    return emulation is not None and packets_late(emulation) > TOO_LATE
