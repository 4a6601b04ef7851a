"""The simulator's result files: ``fct.txt``, a line per finished flow; ``pfc.txt``, a line per
pause or resume at the device that receives it (``qp_finish`` and ``get_pfc`` of ``third.cc``).

Nodes, ports and times are those of the topology and flow file. The lines of both files are in the
order of the events.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import polars as pl
from pydantic_core import PydanticCustomError

from penstock.hpcc.case import PS, Case, located
from penstock.hpcc.ideal import IdealTimes
from penstock.lines import Line, read_lines
from penstock.results import Run
from penstock.storage.draft import write_whole

FCT_FILE, PFC_FILE = "fct.txt", "pfc.txt"
"""Their names in a run directory."""
FIRST_PORT = 10_000
"""UDP source port of the first flow of a pair of hosts; later ones count up."""
FCT_COLUMNS = ("sip", "dip", "sport", "dport", "size", "start_ns", "fct_ns", "ideal_ns")
FLOW_KEY = FCT_COLUMNS[:5]
"""What names a flow in every such file."""
PFC_COLUMNS = ("time_ns", "node", "node_type", "ifindex", "type")
"""`node_type` is 0 for a host and 1 for a switch, `type` 1 for a pause and 0 for a resume."""
NUMBER_MAX = 2**63 - 1
"""Largest number of a result file: the tables have signed integers of 64 bits."""
PFC_TYPES = {"resume_received": 0, "pause_received": 1}
_ADDRESS = re.compile("[0-9a-f]{8}")


def address(node: int) -> str:
    """A node's IPv4 address as hexadecimal digits: 11.0.0.1 and up, by the number in the file."""
    return f"{0x0B000001 + (node // 256 << 16) + (node % 256 << 8):08x}"


def fct_table(case: Case, run: Run) -> pl.DataFrame:
    """The flows that finished, in the order in which they did; columns :data:`FCT_COLUMNS`."""
    ideal = IdealTimes(case.topology, case.scenario.wire.payload)
    used: Counter[tuple[int, int]] = Counter()
    rows = []
    for number, flow in enumerate(case.flows):
        pair = (flow.source, flow.destination)
        port = FIRST_PORT + used[pair]
        used[pair] += 1
        rows.append(
            (
                number, address(flow.source), address(flow.destination), port,
                flow.destination_port, flow.size, flow.start_ns, ideal.ideal_ns(*pair, flow.size),
            )
        )  # fmt: skip
    names = ["flow", "sip", "dip", "sport", "dport", "size", "start_ns", "ideal_ns"]
    files = pl.DataFrame(rows, schema=names, orient="row").cast({"flow": pl.UInt64})
    finished = run.flows.filter(pl.col("finished")).select(
        "flow", pl.col("fct_ns").round().cast(pl.UInt64)
    )
    return finished.join(files, on="flow", how="left", maintain_order="left").select(FCT_COLUMNS)


def pfc_table(case: Case, run: Run) -> pl.DataFrame:
    """The PFC frames that arrived, in that order; columns :data:`PFC_COLUMNS`."""
    ports: Counter[int] = Counter()
    rows = []
    for cable, one in enumerate(case.topology.cables):
        for link, node in ((2 * cable, one.a), (2 * cable + 1, one.b)):
            ports[node] += 1
            rows.append((link, node, int(node in case.topology.switches), ports[node]))
    names = ["link", "node", "node_type", "ifindex"]
    devices = pl.DataFrame(rows, schema=names, orient="row").cast({"link": pl.UInt32})
    has_pfc = run.scenario.scheme.switch.backpressure.kind == "pfc"
    received = run.events.filter(pl.col("event").is_in(list(PFC_TYPES)) & has_pfc).select(
        (pl.col("time_ps") // PS + case.base_ns).alias("time_ns"),
        "link",
        pl.col("event").replace_strict(PFC_TYPES, return_dtype=pl.Int64).alias("type"),
    )
    return received.join(devices, on="link", how="left", maintain_order="left").select(PFC_COLUMNS)


def write_results(case: Case, run: Run, directory: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Writes ``fct.txt`` and ``pfc.txt`` into a directory and returns their tables."""
    fct, pfc = fct_table(case, run), pfc_table(case, run)
    for file, table in ((FCT_FILE, fct), (PFC_FILE, pfc)):
        write_whole(directory / file, table.write_csv(include_header=False, separator=" ").encode())
    return fct, pfc


def read_fct(path: Path) -> pl.DataFrame:
    """A ``fct.txt``, plain or gzipped, as :data:`FCT_COLUMNS`.

    Raises
    ------
    ScenarioError
        When a line is none of such a file or repeats a flow, or there is no line.
    """
    try:
        lines = read_lines(path)
        rows = [_flow(line) for line in lines]
        _check_repeats(lines, rows)
    except PydanticCustomError as error:
        raise located(error) from None
    types = [pl.String] * 2 + [pl.Int64] * (len(FCT_COLUMNS) - 2)
    return pl.DataFrame(rows, dict(zip(FCT_COLUMNS, types, strict=True)), orient="row")


def read_pfc(path: Path) -> pl.DataFrame:
    """A ``pfc.txt``, plain, gzipped or empty, as :data:`PFC_COLUMNS`; as :func:`read_fct`."""
    try:
        lines = read_lines(path, may_be_empty=True)
        rows = [
            [line.whole(word, name, NUMBER_MAX) for name, word in _words(line, PFC_COLUMNS).items()]
            for line in lines
        ]
    except PydanticCustomError as error:
        raise located(error) from None
    return pl.DataFrame(rows, dict.fromkeys(PFC_COLUMNS, pl.Int64), orient="row")


def _flow(line: Line) -> tuple[str | int, ...]:
    """The cells of a line; a flow has bytes and takes time."""
    row: list[str | int] = []
    for name, word in _words(line, FCT_COLUMNS).items():
        if name not in ("sip", "dip"):
            least = int(name in ("size", "fct_ns", "ideal_ns"))
            row.append(line.whole(word, name, NUMBER_MAX, least))
        elif _ADDRESS.fullmatch(word):
            row.append(word)
        else:
            remedy = f"write eight hexadecimal digits, such as {address(0)}"
            raise line.refuse("is no address", remedy, word)
    return tuple(row)


def _check_repeats(lines: list[Line], rows: list[tuple[str | int, ...]]) -> None:
    first: dict[tuple[str | int, ...], Line] = {}
    for line, row in zip(lines, rows, strict=True):
        known = first.setdefault(row[: len(FLOW_KEY)], line)
        if known is not line:
            raise line.refuse(f"is of the same flow as line {known.number}", "keep one of them")


def _words(line: Line, columns: tuple[str, ...]) -> dict[str, str]:
    """The words of a line by their columns."""
    words = line.text.split()
    if len(words) != len(columns):
        raise line.refuse(
            f"has {len(words)} of {len(columns)} columns", f"a line is {' '.join(columns)}"
        )
    return dict(zip(columns, words, strict=True))
