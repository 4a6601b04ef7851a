"""Flow-size distributions: the built-in ones, and files that users have.

A distribution is a table of sizes and cumulative shares of flows, with the way of sampling it
(`convention`): straight lines between rows, or each row one size. The wrong convention changes the
mean, and with the mean the load, by up to half. The tables are data in ``penstock/workloads``,
whose README names the source of each table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from penstock.errors import PATH_WIDTH, nearest, printable, quoted
from penstock.lines import Line, numbered_lines, read_lines
from penstock.readable import counted
from penstock.units import NUMBER_WIDTH, U64_MAX, refusal

Convention = Literal["linear", "step"]
"""How a table is sampled."""

TOLERANCE = 1e-9
"""How far the last share may be below 1 (our choice: above the rounding of a percentage divided by
100, below any difference that is meant)."""

ROW = "write a size in bytes and a cumulative share of flows"
"""What a line of a table is."""

PERCENT_FROM = 2.0
"""A table whose last share is above this is in percent (our choice: between 1 and 100)."""


@dataclass(frozen=True)
class Workload:
    """A built-in distribution: its file, its native convention, what it is."""

    name: str
    file: str
    convention: Convention
    title: str
    source: str


_HPCC = "alibaba-edu/High-Precision-Congestion-Control, traffic_gen"
_HOMA = "PlatformLab/HomaSimulation, sizeDistributions"
_PCN = "PCN (NSDI 2020), Table 1; the sizes within its rows are our choice"
_BFC = "preeyshah/High-Precision-Congestion-Control, branch hpcc"

WORKLOADS = (
    Workload("google", "Google_AllRPC", "step", "all RPCs of a Google data center; BFC's Google",
             _HOMA),
    Workload("google-2008", "GoogleRPC2008", "linear", "the same measurement, HPCC's table", _HPCC),
    Workload("google-bfc", "BFC_W3_Google_min101", "linear", "google as BFC's generator reads it",
             _BFC),
    Workload("google-search", "Google_SearchRPC", "step", "RPCs of Google search", _HOMA),
    Workload("facebook-hadoop", "FB_Hadoop_HomaW4", "step", "Facebook Hadoop; BFC's FB_Hadoop",
             _HOMA),
    Workload("facebook-hadoop-bfc", "BFC_W4_FBHadoop", "linear",
             "facebook-hadoop as BFC's generator reads it", _BFC),
    Workload("facebook-hadoop-hpcc", "FB_Hadoop", "linear", "Facebook Hadoop, HPCC's table", _HPCC),
    Workload("facebook-web-server", "FB_WebServer", "step", "Facebook web servers", _HOMA),
    Workload("facebook-cache", "FB_CacheFollower", "step", "Facebook cache followers", _HOMA),
    Workload("web-search", "WebSearch", "linear", "DCTCP's web search, HPCC's table", _HPCC),
    Workload("web-search-homa", "WebSearch_HomaW5", "step", "DCTCP's web search, Homa's table",
             _HOMA),
    Workload("ali-storage", "AliStorage", "linear", "Alibaba storage, 2019", _HPCC),
    Workload("enterprise", "CONGA_Enterprise", "linear", "CONGA's enterprise trace", _BFC),
    Workload("data-mining", "DataMining_VL2", "linear", "VL2's data mining",
             "HKUST-SING/TrafficGenerator, conf"),
    Workload("pcn-w1", "PCN_W1", "linear", "web servers as PCN's Table 1 has them", _PCN),
    Workload("pcn-w2", "PCN_W2", "linear", "Hadoop as PCN's Table 1 has it", _PCN),
)  # fmt: skip
"""Every built-in distribution."""


@dataclass(frozen=True)
class Distribution:
    """A table of flow sizes."""

    name: str
    convention: Convention
    points: tuple[tuple[int, float], ...]
    """Rows [size in bytes, share of flows of at most this size], shares non-decreasing to 1."""

    def mean(self) -> float:
        """Mean flow size [B] under the table's convention."""
        total, size_before, share_before = 0.0, self.points[0][0], 0.0
        for size, share in self.points:
            typical = size if self.convention == "step" else (size + size_before) / 2
            total += typical * (share - share_before)
            size_before, share_before = size, share
        return total


@cache
def find_workload(name: str) -> Distribution:
    """The built-in distribution `name`; the name of its file is as good.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that lists the names.
    """
    for workload in WORKLOADS:
        if name in (workload.name, workload.file):
            file = f"{workload.file}.csv"
            text = (files("penstock") / "workloads" / file).read_text()
            points = _points(numbered_lines(text, Path(file)), file)
            return Distribution(workload.name, workload.convention, points)
    names = [workload.name for workload in WORKLOADS]
    raise refusal(f"there is no workload {quoted(name)}", nearest(name, names) + "; or name a file")


def read_cdf(path: Path) -> Distribution:
    """The distribution in a file: CSV or columns, in fraction or in percent, gzipped or not.

    A first line without a digit (a header), or of one number (Homa's mean), is skipped; every other
    line is a row. Without a word from the user the table is sampled along straight lines, as the
    tools that publish such files do.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    points = _points(read_lines(path), str(path))
    found = Distribution(printable(path.stem, PATH_WIDTH), "linear", points)
    if found.mean() <= 0:
        raise refusal(f"{path} has only flows without bytes", "write sizes in bytes")
    return found


def _points(lines: list[Line], file: str) -> tuple[tuple[int, float], ...]:
    """The rows of a table; `file` is its name in messages.

    Of the first line alone anything else is skipped: words without a digit (a header), or one
    number (Homa's mean).
    """
    rows: list[tuple[Line, float, float]] = []
    for place, line in enumerate(lines):
        words = line.text.replace(",", " ").split()
        if place == 0 and (_is_header(words) or _is_mean(words)):
            continue
        if len(words) != 2:
            columns = counted(len(words), "column", "columns")
            between = next((mark for mark in ";|:" if mark in line.text), "")
            reason = f", because {quoted(between)} separates none" if between else ""
            raise line.refuse(f"has {columns}{reason}", f"{ROW}, with a comma or space between")
        word = words[1]
        size, share = _value(line, words[0]), _value(line, word)
        rows.append((line, size, share))
    if not rows:
        raise refusal(f"{file} has no rows", "write rows of size in bytes and cumulative share")
    if share > 100:
        raise line.refuse("is above 100, the last share in percent", f"{ROW}, in this order", word)
    unit = 100.0 if share > PERCENT_FROM else 1.0
    if not 1 - TOLERANCE <= share / unit <= 1:
        remedy = "end the table with the largest flow at 1 (or at 100, in percent)"
        raise line.refuse(f"ends the table with a share of {_digits(share / unit)}, not 1", remedy)
    _check_order(rows)
    return tuple((round(size), share / unit) for _, size, share in rows)


def _check_order(rows: list[tuple[Line, float, float]]) -> None:
    """Refuses a row that falls, or whose size no flow has."""
    size_before, share_before = 0.0, 0.0
    for line, size, share in rows:
        if size > U64_MAX:
            raise line.refuse("has a size that no flow has", f"write at most {U64_MAX} bytes")
        for column, value, before in (
            ("size", size, size_before),
            ("share", share, share_before),
        ):
            if value < before:
                row = f"below {_digits(before)} in the row above it"
                problem = f"has the {column} {_digits(value)}, {row}"
                raise line.refuse(problem, "sizes and shares must not decrease from row to row")
        size_before, share_before = size, share


def _digits(value: float) -> str:
    """A number with all its digits, so that it is told from one beside it."""
    return str(value).removesuffix(".0")


def _is_header(words: list[str]) -> bool:
    """Whether a line names columns: no word has a digit, or is a number such as ``nan``."""
    return not any(any(map(str.isdigit, word)) or _number(word) is not None for word in words)


def _is_mean(words: list[str]) -> bool:
    return len(words) == 1 and _number(words[0]) is not None


def _value(line: Line, word: str) -> float:
    """A word of a line as a finite number of 0 or more."""
    value = _number(word)
    if value is None:
        raise line.refuse(_wrong(word), f"{ROW}, as plain numbers", word)
    if not math.isfinite(value) or value < 0:
        raise line.refuse("is below zero or not finite", ROW, word)
    return value


def _wrong(word: str) -> str:
    """Why a word is no number."""
    if any(mark in word for mark in "\"'"):
        return "is not a number: it has quotes"
    if "%" in word:
        return "is not a number: it has a percent sign (a last share of 100 means percent)"
    return "is not a number"


def _number(word: str) -> float | None:
    """A number as every file has it; Python alone reads ``1_000``, and digits of other scripts."""
    is_plain = len(word) <= NUMBER_WIDTH and word.isascii() and "_" not in word
    try:
        return float(word) if is_plain else None
    except ValueError:
        return None
