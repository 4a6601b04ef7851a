"""The whole run at a glance: what the time line draws.

What it is: the most of each quantity in spans of equal length, at several levels of detail. What it
is not: for spans shorter than the finest level the page counts by itself. Invariant: no peak is
lost: the value of a span is the largest in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEVELS = (1_024, 16_384)
"""Spans of a level (our choice: a span is at most a pixel wide, also when 16 times enlarged)."""

Times = NDArray[np.uint64]


def most_open(begin: Times, end: Times, length_ps: int, spans: int) -> NDArray[np.uint32]:
    """The most intervals that were open at one time, by span.

    Parameters
    ----------
    begin, end
        Of each interval [ps]; it is not open any more at its end.
    length_ps
        Length of the run [ps].
    """
    time = np.concatenate([begin, end])
    change = np.concatenate([np.ones(begin.size, np.int64), -np.ones(end.size, np.int64)])
    order = np.argsort(time, kind="stable")
    time, open_now = time[order], np.cumsum(change[order])
    is_settled = np.append(time[1:] != time[:-1], np.ones(min(time.size, 1), np.bool_))
    time, open_now = time[is_settled], open_now[is_settled]
    edges = _edges(length_ps, spans)
    place = np.searchsorted(time, edges[:-1], side="right")
    at_begin = np.where(place > 0, np.append(0, open_now)[place], 0)
    return np.maximum(_most(time, open_now, edges), at_begin).astype(np.uint32)


def most_sampled(
    time: Times, values: NDArray[np.uint64], length_ps: int, spans: int
) -> NDArray[np.uint64]:
    """The largest sample, by span; a span without a sample has the value of the sample before."""
    edges = _edges(length_ps, spans)
    place = np.searchsorted(time, edges[:-1], side="right")
    before = np.append(np.uint64(0), values)[place]
    inside = _most(time, values.astype(np.int64), edges).astype(np.uint64)
    return np.maximum(before, inside)


def count(time: Times, length_ps: int, spans: int) -> NDArray[np.uint32]:
    """How many events there were, by span."""
    edges = _edges(length_ps, spans)
    place = np.searchsorted(time, edges, side="left")
    place[-1] = time.size
    return np.diff(place).astype(np.uint32)


def _edges(length_ps: int, spans: int) -> Times:
    """Borders of the spans [ps], one more than there are spans."""
    return np.array([length_ps * number // spans for number in range(spans + 1)], np.uint64)


def _most(time: Times, values: NDArray[np.int64], edges: Times) -> NDArray[np.int64]:
    """The largest value in each span; 0 where there is none."""
    found = np.zeros(edges.size - 1, np.int64)
    span = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, found.size - 1)
    np.maximum.at(found, span, values)
    return found
