"""Flow traces in the formats that users have, and what is refused, by line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from penstock.dependency import SIZE_MAX, Flow
from penstock.errors import problem_of
from penstock.flow_rows import FlowRows
from penstock.lines import numbered_lines
from penstock.plain_trace import plain_flows, plain_hpcc_flows
from penstock.toml_text import ROWS_LONG
from penstock.topology_file import NODE_MAX
from penstock.trace import _by_line, _columns, _header, read_trace

CSV = "src,dst,size_bytes,start_ns\n0,1,1000,0\n2,3,50,1.5\n"
HPCC = "2\n126 97 3 100 649 2.000000101\n24 63 3 100 227 2.000000452\n"
HTSIM = "Nodes 4\nConnections 2\n1->2 id 1 start 0 size 2000000\n3->0 start 500.0 size 9\n"


def read(directory: Path, text: str) -> list[tuple[int, int, int, int]]:
    file = directory / "flows"
    file.write_text(text)
    return read_trace(file).flows


def test_csv(tmp_path: Path) -> None:
    assert read(tmp_path, CSV) == [(0, 1, 1000, 0), (2, 3, 50, 1500)]


def test_csv_columns_go_by_name(tmp_path: Path) -> None:
    text = "flow,start_s,Destination,Source,size\n7,0.000001,1,0,9\n"
    assert read(tmp_path, text) == [(0, 1, 9, 1_000_000)]


def _read_both_ways(text: str) -> tuple[list[Flow], list[Flow]]:
    """The flows as a plain file has them, and line by line; none where they are refused."""
    header = numbered_lines(text, Path("flows"))[0]
    columns = _columns(header)
    try:
        by_line = _by_line(text, Path("flows")).flows
    except ValueError:
        by_line = []
    places = dict(zip(("source", "destination", "size"), columns.flow, strict=True))
    plain = plain_flows(text, len(_header(header)), places, columns.start)
    return list(plain or []), list(by_line)


UNITS = {"s": 12, "ms": 9, "us": 6, "ns": 3, "ps": 0}
"""How many decimals of a start are whole picoseconds."""


@given(data=st.data(), unit=st.sampled_from(sorted(UNITS)), space=st.sampled_from(["", " "]))
def test_a_plain_file_is_read_as_line_by_line(data: st.DataObject, unit: str, space: str) -> None:
    decimals = st.decimals(0, 99, places=UNITS[unit])
    starts = sorted(data.draw(st.lists(decimals, min_size=1, max_size=5)))
    ends = st.integers(0, NODE_MAX - 1)
    cells = [
        (data.draw(ends), NODE_MAX, data.draw(st.integers(1, SIZE_MAX)), f"{start:f}", "x")
        for start in starts
    ]
    rows = [f"{space},{space}".join(map(str, row)) for row in cells]
    plain, by_line = _read_both_ways("\n".join([f"src,dst,size,start_{unit},more", *rows]))
    assert plain == by_line and len(plain) == len(rows)


@pytest.mark.parametrize(
    "text",
    [
        "src,dst,size,start_ns\r\n0,1,9,1\r\n2,3,9,2\r\n",
        "# made by a, b\n\nsrc,dst,size,start_ns\n0,1,9,1\n# c, d\n\n2,3,9,2\n\n",
        "src,dst,size,start_ns\n0,1,9,1\n2,3,9,2",
        "src,dst,size,start_ns\n0,1,9,1\n2, 3,\t9 ,2 ",
    ],
)
def test_a_plain_file_has_comments_empty_lines_and_either_end_of_a_line(text: str) -> None:
    plain, by_line = _read_both_ways(text)
    assert plain == by_line == [(0, 1, 9, 1_000), (2, 3, 9, 2_000)]


def test_a_long_file_is_kept_in_columns(tmp_path: Path) -> None:
    rows = [f"{flow % 7},9,{1 + flow},{flow}.5" for flow in range(ROWS_LONG)]
    flows = read(tmp_path, "\n".join(["src,dst,size,start_us", *rows, ""]))
    assert isinstance(flows, FlowRows)
    assert flows == [(flow % 7, 9, 1 + flow, 10**6 * flow + 500_000) for flow in range(ROWS_LONG)]
    assert flows[-1] == list(flows)[-1] and flows[1:] == list(flows)[1:] and flows != flows[1:]


def test_a_long_file_with_a_mistake_is_refused_by_line(tmp_path: Path) -> None:
    rows = [f"1,2,3,{flow}" for flow in range(2 * ROWS_LONG)]
    rows[ROWS_LONG] = "1,2,3,nan"
    with pytest.raises(ValueError, match=f'line {ROWS_LONG + 2} has "nan" for the start'):
        read(tmp_path, "\n".join(["src,dst,size,start_us", *rows]))


UNUSUAL = [f"0,1,9,{10**16}", "0,1,9,1\x1f", "0,1,9,.9999", "0,1,9,1e3", "0,1,9,1.0004"]
WRONG = [
    *("0,0,9,1", "0,1,0,1", "0,1,9", "0,1,9,-1", "0,1,9,1,1", "x,1,9,1", "0,1,²,1", "0,1\r,9,1"),
    *(f"0,{NODE_MAX + 1},9,1", f"0,1,{2**63},1", f"0,1,{2**64},1", f"0,1,9,{10**17}", "0,1,9,0.5"),
]


@pytest.mark.parametrize("row", UNUSUAL + WRONG)
def test_a_file_that_is_not_plain_is_left_to_the_lines(row: str) -> None:
    plain, by_line = _read_both_ways(f"src,dst,size,start_ns\n2,3,9,0.75\n{row}\n")
    assert not plain
    assert len(by_line) == (2 if row in UNUSUAL else 0)


@pytest.mark.parametrize("others", [60, 61, 2_000])
def test_a_file_may_have_many_columns(others: int, tmp_path: Path) -> None:
    row = "0,1,9,1" + others * ",é"
    header = "src,dst,size,start_ns" + others * ",x"
    assert len(read(tmp_path, "\n".join([header, *[row] * ROWS_LONG]))) == ROWS_LONG


def test_a_carriage_return_alone_ends_a_line(tmp_path: Path) -> None:
    rows = "0,1,9,1\n" * ROWS_LONG
    assert len(read(tmp_path, f"src,dst,size,start_ns\r2,3,9,0\n{rows}")) == 1 + ROWS_LONG


def test_hpcc_flow_files_begin_at_a_whole_second(tmp_path: Path) -> None:
    # Its starts are cut to whole nanoseconds, as that simulator does.
    assert read(tmp_path, HPCC) == [(126, 97, 649, 100_000), (24, 63, 227, 452_000)]
    assert read_trace(tmp_path / "flows").destination_ports == [100, 100]


def _hpcc_both_ways(text: str) -> tuple[list[object], list[object]]:
    """The same of the HPCC simulator's flow file, with the ports of the flows."""
    try:
        found = _by_line(text, Path("flows"))
        by_line: list[object] = [*found.flows, *found.destination_ports]
    except ValueError:
        by_line = []
    flows, ports = plain_hpcc_flows(text, int(text.split()[0])) or ([], [])
    return [*flows, *ports], by_line


@given(data=st.data(), port=st.sampled_from([" 7", ""]), space=st.sampled_from([" ", "\t "]))
def test_a_plain_hpcc_file_is_read_as_line_by_line(
    data: st.DataObject, port: str, space: str
) -> None:
    starts = st.decimals(0, 9_999_999, places=data.draw(st.integers(0, 30)))
    least = st.decimals("0", "1e-9", places=30)
    drawn = data.draw(st.lists(starts | least, min_size=1, max_size=5))
    rows = [
        f"{place} {NODE_MAX} 3{port} {SIZE_MAX} {start:f}"
        for place, start in enumerate(sorted(drawn))
    ]
    text = "\n".join([str(len(rows)), *rows, "", "made by a tool"]).replace(" ", space)
    plain, by_line = _hpcc_both_ways(text)
    assert plain == by_line and len(plain) == 2 * len(rows)


@pytest.mark.parametrize(
    "row",
    [
        *("0 0 3 7 9 2.1", "0 1 3 7 0 2.1", "0 1 3 9", "0 1 3 7 9 2.1 1", "0 1 3 70000 9 2.1"),
        *("x 1 3 7 9 2.1", "0 1 3 7 9 1.9", f"0 {NODE_MAX + 1} 3 7 9 2.1", "0 1 3 7 9 99999999"),
        *(f"0 1 3 7 {2**63} 2.1", "0 1 3 7 9 2.1\n2 3 3 7 9 2.2", "", "0 1 3 7 9 -2.1"),
    ],
)
def test_a_wrong_hpcc_file_is_left_to_the_lines(row: str) -> None:
    assert _hpcc_both_ways(f"2\n2 3 3 7 9 2.0\n{row}\n") == ([], [])


def test_a_count_beyond_all_bounds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="for the number of flows"):
        read(tmp_path, "9" * 5_000 + ROWS_LONG * "\n0 1 3 7 9 2.1")


def test_a_long_hpcc_file_is_kept_in_columns(tmp_path: Path) -> None:
    rows = [
        f"{flow % 7} 9 3 {flow % 5} {1 + flow} {2 + flow / 10**6:.9f}" for flow in range(ROWS_LONG)
    ]
    flows = read(tmp_path, "\n".join([str(ROWS_LONG), *rows, ""]))
    assert isinstance(flows, FlowRows)
    assert flows[ROWS_LONG - 1][:3] == ((ROWS_LONG - 1) % 7, 9, ROWS_LONG)
    assert _by_line((tmp_path / "flows").read_text(), tmp_path).flows == list(flows)
    trace = read_trace(tmp_path / "flows")
    assert trace.destination_ports[:6] == [0, 1, 2, 3, 4, 0]


def test_hpcc_flow_files_without_a_port(tmp_path: Path) -> None:
    assert read(tmp_path, "1\n1 2 3 649 0.5\n") == [(1, 2, 649, 500_000_000_000)]


def test_htsim_connection_matrices(tmp_path: Path) -> None:
    assert read(tmp_path, HTSIM) == [(1, 2, 2_000_000, 0), (3, 0, 9, 500)]


def test_gzipped(tmp_path: Path) -> None:
    file = tmp_path / "flows.txt.gz"
    file.write_bytes(gzip.compress(HPCC.encode()))
    assert len(read_trace(file).flows) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CSV + "4,5,10\n", "line 4 has 3 columns, and the header 4"),
        (CSV + "4,5,10,1\n", "line 4.*before the line above"),
        (CSV + "4,4,10,9\n", "line 4.*itself"),
        (CSV + "4,5,ten,9\n", 'line 4.*"ten" for the size'),
        (CSV + "4,5,18446744073709551615,9\n", 'line 4.*"18446744073709551615" for the size'),
        (CSV + "4,5,9223372036854775808,9\n", 'line 4.*"9223372036854775808" for the size'),
        (HPCC.replace(" 649 ", f" {2**63} "), f'line 2.*"{2**63}" for the size'),
        (CSV + "4,5,-10,9\n", 'line 4.*"-10" for the size'),
        (CSV + "4,5,10,soon\n", 'line 4.*"soon" for the start'),
        (CSV + "4,5,10,nan\n", "line 4.*start"),
        (CSV + "4,5,0010,-9\n", 'line 4.*"-9" for the start'),
        (CSV + "4,5,10,9,,\n", "line 4 has 6 columns, and the header 4"),
        ("from,to\n1,2\n", "line 1.*no source column$"),
        ("src;dst;size;start_ns\n1;2;3;4\n", "no source column, because a semicolon separates"),
        ("src\tdst\tsize\tstart_ns\n", "no source column, because a tab separates none"),
        ('"src","dst","size","start_ns"\n', "no source column, because quotes are not read"),
        ("src,dst,size,bytes,start_ns\n", "has several size columns: size and bytes"),
        ("src,dst,size,start_ns,start_us\n", "several start columns: start_ns and start_us"),
        ("src,dst,size\n1,2,3\n", "line 1.*no start column"),
        ("src,dst,size,start_ns\n", "line 1 has no flow below it"),
        ("", "is empty"),
        (HPCC.replace("2\n", "3\n", 1), "line 1.*announces 3 flows, but 2 follow"),
        (HPCC.replace("2.000000452", "1.9"), "line 3.*before"),
        ("1\n1 2 3\n", "line 2.*3 columns"),
        (HTSIM.replace("Connections 2", "Connections 5"), "announces 5"),
        (HTSIM.replace("start 0", "trigger 1"), "line 3 names trigger 1"),
        (HTSIM.replace("start 500.0", "size 8"), 'line 4: "size" stands there twice'),
    ],
)
def test_a_bad_trace_is_refused_by_line(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CSV + "4,5,0,9\n", '"0" for the size in bytes; write a whole number, 1 or more'),
        (CSV + "4,5,-1,9\n", '"-1" for the size in bytes; write a whole number in digits alone'),
        (
            HPCC.replace(" 649 ", " 0 "),
            '"0" for the size in bytes; write a whole number, 1 or more',
        ),
        (HTSIM.replace("size 9", "size 0"), '"0" for the size in bytes; write a whole number, 1'),
        (CSV + '4,5,"1\n00",9\n', "no line break within a column; quotes are not read"),
        (CSV + '4,5,"1",9\n', "write a whole number in digits alone, 1 or more"),
        (CSV + "4,5,1_000,9\n", "write a whole number in digits alone, 1 or more"),
        (CSV + "4,5\n", "write all columns of the header; the file may be truncated here"),
        (CSV + "4,5,1,000,9\n", "write no comma within a column, nor in a number"),
    ],
)
def test_a_refusal_says_what_would_be_right(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ValueError, match="line") as refused:
        read(tmp_path, text)
    assert isinstance(refused.value, PydanticCustomError)
    problem = problem_of(refused.value)
    assert expected in f"{problem.message}; {problem.remedy}"
