"""Flows that wait for others: files with them, and how runs obey."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock import Run, Scenario, ScenarioError, run
from penstock.cli import main
from penstock.dependency_graph import DependencyGraph
from penstock.experiments.job_metric import (
    bus_bandwidth,
    iteration_time,
    request_latency,
    request_rate,
)
from penstock.trace import read_trace

MATRICES = Path(__file__).parents[1] / "data" / "htsim"

CSV = """id,src,dst,size_bytes,start_us,after,delay
a,0,1,5000,1,,
b,1,2,700,,a,
c,1,3,900,,b;a:received,2.5
d,3,0,100,90,c,0
"""

TRIGGERS = """Nodes 4
Connections 6
Triggers 3
0->1 id 1 start 0 size 9000 send_done_trigger 1
2->1 id 2 start 0 size 40000 recv_done_trigger 1
1->3 id 3 trigger 1 size 100 send_done_trigger 2
0->3 id 4 start 0 size 800 send_done_trigger 2 prio 3
3->0 id 5 trigger 2 size 100 send_done_trigger 3
3->2 id 6 trigger 3 size 100
trigger id 1 barrier count 2
trigger id 2 multishot
trigger id 3 oneshot
"""


def write(directory: Path, text: str, name: str = "flows.csv") -> Path:
    file = directory / name
    file.write_text(text)
    return file


def star(traffic: list[dict[str, Any]], hosts: int = 16, **more: Any) -> Scenario:
    return Scenario(
        name="star",
        duration="40 ms",
        scheme="bfc",
        topology={"kind": "single-switch", "hosts": hosts},
        traffic=traffic,
        measure={"sample_interval": 0},
        **more,
    )


def ends(found: Run) -> dict[int, tuple[float, float]]:
    """Start and last acknowledgement of each flow [ns]."""
    rows = found.flows.select(
        "flow", "start_ns", (pl.col("start_ns") + pl.col("fct_ns")).alias("end_ns")
    )
    return {flow: (start, end) for flow, start, end in rows.iter_rows()}


def test_a_csv_file_says_who_waits_for_whom(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, CSV))
    assert trace.flows[1] == (1, 2, 700, 0)
    assert trace.flows[3] == (3, 0, 100, 90_000_000)
    assert trace.after == [
        (1, 0, "natural"),
        (2, 1, "natural"),
        (2, 0, "received"),
        (3, 2, "natural"),
    ]
    assert trace.delays == [0, 0, 2_500_000, 0]
    found = run(star([{"kind": "trace", "file": str(tmp_path / "flows.csv")}]))
    spans = ends(found)
    assert spans[0][0] < spans[1][0] < spans[0][1], "b starts where a is received"
    assert spans[2][0] == pytest.approx(spans[1][1] + 2_500)
    assert spans[3][0] == 90_000
    assert found.summary["applications"]["not_started"] == 0
    assert found.dependents["released_by"].to_list() == [0, 1, 2]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("b;a:received", "x", 'line 4: "x" is an id that no flow has'),
        ("b;a:received", "c", 'line 4: "c" is the flow itself'),
        ("b;a:received", "b;b", 'line 4: "b" stands there twice'),
        ("a:received", "a:heard", 'line 4: "a:heard" names no event'),
        ("c,1,3", "b,1,3", 'line 4: "b" is the id of line 3 already'),
        ("c,1,3", ",1,3", "line 4 has no id"),
        ("id,src", "flow,src", "line 1 has an after column and no id"),
        ("1,,\n", "1,,7\n", "line 2 has a delay and waits for no flow"),
        ("1,,\n", ",d,\n", "line 2 can never start, because flows wait for each other: a after d"),
        (",after,delay", ",later,delay", "line 1 has a delay or needed column"),
        (",2.5", ",soon", 'line 4.*"soon"'),
        ("a:received", "a:received:soon", 'line 4.*"soon"'),
    ],
)
def test_bad_rows_are_refused_by_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in CSV
    with pytest.raises(ValueError, match=expected):
        read_trace(write(tmp_path, CSV.replace(old, new, 1)))


JOB_CSV = """id,src,dst,size_bytes,start_ns,after,delay_ns,iteration,step,rank
a,0,1,5000,7,,,0,there,0
b,1,0,700,,a,,0,back,5
c,0,1,5000,,a:acknowledged:400;b::90,10,1,there,0
"""


def test_a_csv_file_can_be_a_job(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, JOB_CSV))
    assert trace.steps == ["there", "back"]
    assert trace.places == [(0, 0, 0), (0, 1, 5), (1, 0, 0)]
    assert trace.lags == [0, 400_000, 90_000]
    assert trace.delays == [0, 0, 10_000]
    found = run(star([{"kind": "trace", "file": str(tmp_path / "flows.csv")}]))
    spans = ends(found)
    assert spans[2][0] == pytest.approx(spans[0][1] + 410)
    assert found.dependents["rank"].to_list() == [5, 0]
    assert found.jobs["iteration"].to_list() == [0, 1]
    assert found.steps.select("iteration", "step").rows() == [(0, 0), (0, 1), (1, 0)]
    assert found.summary["applications"]["jobs"]["trace"]["steps"] == ["there", "back"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (",step,rank", ",rank,rank", "line 1 has not all of iteration, step, rank"),
        ("0,back,5", "0,,5", "line 3 has no name for its step"),
        ("0,back,5", "x,back,5", 'line 3 has "x" for the iteration'),
        ("0,back,5", "0,back,-5", 'line 3 has "-5" for the rank'),
        ("b::90", "b:heard:90", 'line 4: "b:heard:90" names no event'),
    ],
)
def test_bad_places_are_refused_by_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in JOB_CSV
    with pytest.raises(ValueError, match=expected):
        read_trace(write(tmp_path, JOB_CSV.replace(old, new, 1)))


def test_triggers_of_htsim(tmp_path: Path) -> None:
    file = write(tmp_path, TRIGGERS, "flows.cm")
    trace = read_trace(file)
    assert trace.after == [
        (2, 0, "acknowledged"),
        (2, 1, "received"),
        (4, 2, "acknowledged"),
        (4, 3, "acknowledged"),
        (5, 4, "acknowledged"),
    ]
    assert trace.needed == [0, 0, 0, 0, 1, 1]
    spans = ends(run(star([{"kind": "trace", "file": str(file)}])))
    assert spans[2][0] >= max(spans[0][1], spans[1][0])
    assert spans[3][1] < spans[4][0] < spans[2][1], "the first firing starts the one that waits"
    assert spans[5][0] == spans[4][1]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("count 2", "count 3", "line 10 waits for 3 completions, but 2"),
        ("Connections 6", "Connections 7", "announces 7 connections, but 6"),
        ("Triggers 3", "Triggers 4", "announces 4 triggers, but 3"),
        ("trigger 3 size", "trigger 8 size", "line 9 names trigger 8"),
        ("send_done_trigger 3", "send_done_trigger 9", "line 8 names trigger 9"),
        ("id 3 oneshot", "id 2 oneshot", "line 12 repeats trigger 2 of line 11"),
        ("oneshot", "manyshot", "line 12 is no trigger"),
        ("trigger 1 size", "start 0 trigger 1 size", "line 6 has no size, or not one of start"),
        ("3->2", "3->4", "line 9 has node 4"),
        ("prio 3", "prio", 'line 7: "prio" has a word without a value'),
        ("0->1 id 1 start 0", "0->1 id 1 trigger 1", "line 4 can never start.*0->1 after 0->1"),
        (
            "id 4 start 0 size 800 send_done_trigger 2",
            "id 4 trigger 2 size 8",
            "waits for trigger 2",
        ),
    ],
)
def test_bad_triggers_are_refused_by_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in TRIGGERS
    text = TRIGGERS.replace(old, new, 1)
    with pytest.raises(ValueError, match=expected):
        read_trace(write(tmp_path, text, "flows.cm"))


def connections(file: Path) -> tuple[list[dict[str, str]], dict[int, str]]:
    """The connections and the triggers of a matrix, read in a way of its own."""
    text = file.read_text()
    found = [
        dict(re.findall(r"(\w*trigger|size|start) (\d+)", line)) | {"ends": line.split()[0]}
        for line in re.findall(r"^\d+->.*$", text, re.MULTILINE)
    ]
    return found, {int(n): kind for n, kind in re.findall(r"^trigger id (\d+) (\w+)", text, re.M)}


@pytest.mark.parametrize("name", [file.stem for file in sorted(MATRICES.glob("a*.cm"))])
def test_matrices_of_htsim_run_in_the_order_of_their_triggers(name: str) -> None:
    file = MATRICES / f"{name}.cm"
    found = run(star([{"kind": "trace", "file": str(file)}]))
    flows, triggers = connections(file)
    assert found.summary["flows_finished"] == len(flows)
    spans, late = ends(found), set()
    for number, kind in triggers.items():
        fired = [
            (place, flow)
            for place, flow in enumerate(flows)
            if str(number) in (flow.get("send_done_trigger"), flow.get("recv_done_trigger"))
        ]
        waiting = [place for place, flow in enumerate(flows) if flow.get("trigger") == str(number)]
        assert kind == "multishot" or len(fired) == 1
        firings = sorted(spans[one][1] for one, _ in fired)
        # A oneshot starts all that wait, a multishot the next one.
        told = firings[: len(waiting)] if kind == "multishot" else firings[:1] * len(waiting)
        for place, end in zip(waiting, told, strict=True):
            (source, _), (before, _) = (
                flows[place]["ends"].split("->"),
                fired[0][1]["ends"].split("->"),
            )
            if "recv_done_trigger" in fired[0][1]:
                # Received before the acknowledgement is; the news may travel to another host.
                assert spans[fired[0][0]][0] < spans[place][0] < end + 10_000
            elif source == before:
                assert spans[place][0] == pytest.approx(end)
            else:
                late.add(round(spans[place][0] - end, 3))
    assert len(late) <= 1, "news for another host always takes as long"


@pytest.mark.parametrize("hosts", [16, 1024])
def test_permutations_of_htsim_run(hosts: int) -> None:
    (file,) = MATRICES.glob(f"perm_{hosts}n_*.cm")
    scenario = star([{"kind": "trace", "file": str(file)}], hosts, wire={"payload": "8 kB"})
    summary = run(scenario).summary
    assert summary["flows_finished"] == summary["flows_started"] == hosts


JOB = {"kind": "collective", "operation": "ring-all-reduce", "bytes": "1 MB", "iterations": 2,
       "gap": "5 us"}  # fmt: skip


def test_tables_and_summary_of_a_job_and_of_requests(tmp_path: Path) -> None:
    rpc = {
        "kind": "rpc", "clients": [0, 1], "request": {"kind": "fixed", "size": 200},
        "response": "google", "think": {"kind": "exponential", "mean": "5 us"}, "fan_out": 3,
        "stop": "1 ms",
    }  # fmt: skip
    found = run(star([JOB, rpc]))
    found.save(tmp_path / "run")
    loaded = Run.load(tmp_path / "run")
    assert loaded.jobs.equals(found.jobs)
    assert loaded.requests.equals(found.requests)
    assert loaded.jobs["iteration"].to_list() == [0, 1]
    job = loaded.summary["applications"]["jobs"]["collective"]
    assert job["finished"] == job["iterations"] == 2
    time = loaded.jobs["time_ps"][0] / 1e12
    bus = 8e6 / time * 2 * 15 / 16
    assert loaded.jobs["bus_bandwidth_bps"][0] == pytest.approx(bus)
    assert loaded.requests["fan_out"].to_list() == [3] * len(loaded.requests)
    requests = loaded.summary["applications"]["requests"]["rpc"]
    assert requests["latency_ns"]["count"] == len(loaded.requests) > 100
    assert loaded.requests["start_ps"].max() < 1_000_000_000


def test_a_scenario_without_dependent_flows_has_empty_tables() -> None:
    found = run(star([{"kind": "listed", "flows": [[0, 1, 1000, 0]]}]))
    assert "applications" not in found.summary
    assert found.summary["empty_tables"]["jobs"] == "no iteration of a job is over"
    assert found.jobs.is_empty() and found.requests.is_empty() and found.dependents.is_empty()


def test_what_is_wrong_is_named_with_its_field() -> None:
    for traffic, expected in [
        (JOB | {"ranks": [0, 99]}, r"traffic\[0\].ranks\[1\]"),
        (JOB | {"operation": "gossip"}, r"traffic\[0\].operation"),
        ({"kind": "listed", "flows": [[0, 1, 9, 0], [1, 0, 9, 0]],
          "after": [[0, 1, "natural"], [1, 0, "natural"]]}, r"traffic\[0\].after\[0\]"),
    ]:  # fmt: skip
        with pytest.raises(ScenarioError, match=expected):
            star([traffic])


def test_the_threads_of_a_run_do_not_change_it() -> None:
    scenario = Scenario(
        name="racks",
        duration="1 ms",
        topology={"kind": "leaf-spine", "racks": 4, "hosts_per_rack": 4, "spines": 2},
        traffic=[
            JOB,
            {"kind": "on-off", "sizes": "google", "gaps": {"kind": "fixed", "time": "3 us"}},
        ],
    )
    one, two, four = (run(scenario, threads=threads) for threads in (1, 2, 4))
    assert one.summary["digest"] == two.summary["digest"] == four.summary["digest"]
    for table in ("jobs", "dependents"):
        assert getattr(one, table).equals(getattr(two, table))


SMALL = """duration = "2 ms"
scheme = "pfc"
topology = { kind = "single-switch", hosts = 4 }

[[traffic]]
kind = "collective"
operation = "OPERATION"
bytes = "100 kB"
iterations = 2
gap = "GAP us"
"""


def show(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["show", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("operation", "gap"),
    [
        ("ring-all-reduce", 4),
        ("halving-doubling-all-reduce", 4),
        ("all-gather", 0),
        ("reduce-scatter", 4),
        ("all-to-all", 4),
        ("tree-all-reduce", 4),
    ],
)
def test_a_collective_that_was_saved_runs_again_with_the_same_digest(
    here: Path, capsys: pytest.CaptureFixture[str], operation: str, gap: int
) -> None:
    text = SMALL.replace("OPERATION", operation).replace("GAP", str(gap))
    file = write(here, text, "job.toml")
    show(capsys, str(file), "--save-trace", "job.csv")
    head, _, _ = text.partition("[[traffic]]")
    trace = head + '[[traffic]]\nkind = "trace"\nlabel = "collective"\nfile = "job.csv"\n'
    again = run(Scenario.from_toml(write(here, trace, "again.toml")))
    found = run(Scenario.from_toml(file))
    assert again.summary["digest"] == found.summary["digest"]
    assert again.dependents.drop("iteration", "step", "rank").equals(
        found.dependents.drop("iteration", "step", "rank")
    )


def ring() -> tuple[str, str]:
    """:data:`SMALL` with a ring, before and behind the head of its traffic."""
    text = SMALL.replace("OPERATION", "ring-all-reduce").replace("GAP", "4")
    head, _, traffic = text.partition("[[traffic]]")
    return head, traffic


def test_a_saved_trace_is_read_whenever_its_flows_start(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, late = ring()
    early = late.replace('kind = "collective"', 'kind = "collective"\nlabel = "early"')
    both = f'{head}[[traffic]]{late}start = "5 us"\n[[traffic]]{early}'
    file = write(here, both, "job.toml")
    show(capsys, str(file), "--save-trace", "job.csv")
    trace = head + '[[traffic]]\nkind = "trace"\nfile = "job.csv"\n'
    again = run(Scenario.from_toml(write(here, trace, "again.toml")))
    found = run(Scenario.from_toml(file))
    assert again.flows.drop("label").equals(found.flows.drop("label"))


def test_a_trace_of_several_classes_is_not_saved(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, first = ring()
    second = first.replace('kind = "collective"', 'kind = "collective"\nlabel = "b"\nclass = 1')
    head = head.replace('"pfc"', '"bfc-shared-classes"')
    write(here, f"{head}[[traffic]]{first}[[traffic]]{second}", "job.toml")
    assert main(["show", "job.toml", "--save-trace", "job.csv"]) == 2
    assert "its flows have several classes" in " ".join(capsys.readouterr().err.split())
    assert not Path("job.csv").exists()


def test_show_prints_and_draws_who_waits_for_whom(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SMALL.replace("OPERATION", "ring-all-reduce").replace("GAP", "4")
    file = str(write(here, text, "job.toml"))
    found = json.loads(show(capsys, file, "--json", "--graph", "job.svg"))
    assert len(found["flows"]) == 48
    assert found["flows"][0] == ["0", "0 -> 1", "25,000 B", "nothing: starts at 0 ns"]
    assert found["flows"][5] == ["5", "1 -> 2", "25,000 B", "0 received, 1 started"]
    assert found["flows"][24][3].startswith("11 received + 4,000 ns")
    assert "Which flow waits for which" in Path("job.svg").read_text()
    graph = DependencyGraph(Scenario.from_toml(file))
    assert max(graph.levels().values()) == 11, "two iterations of six steps"
    assert "Waits for" in show(capsys, file)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["bfc", "--graph", "x.svg"], "only a scenario has flows"),
        (["job.toml", "--graph", "x.doc"], "no ending of a picture"),
        (["job.toml", "--save-trace", "x.cm"], "no ending of a trace; end it with .csv, .csv.gz"),
        (["quickstart", "--save-trace", "x.csv"], "no flow waits for another"),
        (["quickstart", "--graph", "x.svg"], "no flow waits for another; draw a scenario"),
        (["loop.toml", "--save-trace", "x.csv"], "follow from what happens"),
    ],
)
def test_what_cannot_be_drawn_or_saved_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    write(here, SMALL.replace("OPERATION", "tree-all-reduce").replace("GAP", "4"), "job.toml")
    head = SMALL.partition("[[traffic]]")[0]
    loop = '[[traffic]]\nkind = "on-off"\nsizes = "google"\ngaps = { kind = "fixed" }\n'
    write(here, head + loop, "loop.toml")
    assert main(["show", *words]) == 2
    assert expected in " ".join(capsys.readouterr().err.split())
    assert not Path("x.csv").exists() and not Path("x.svg").exists()


@pytest.mark.parametrize(("option", "name"), [("--save-trace", "job.csv"), ("--graph", "job.svg")])
def test_show_replaces_a_file_with_force_only(
    here: Path, capsys: pytest.CaptureFixture[str], option: str, name: str
) -> None:
    text = SMALL.replace("OPERATION", "tree-all-reduce").replace("GAP", "4")
    file = write(here, text, name)
    assert main(["show", name, option, name]) == 2
    assert "a file has this name" in " ".join(capsys.readouterr().err.split())
    assert file.read_text() == text
    show(capsys, name, option, name, "--force")
    assert file.read_text() != text


def test_show_makes_the_folder_and_compresses_where_the_name_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, SMALL.replace("OPERATION", "tree-all-reduce").replace("GAP", "4"), "job.toml")
    show(capsys, "job.toml", "--save-trace", "a/b/job.csv", "--graph", "c/job.png")
    assert Path("c/job.png").exists()
    show(capsys, "job.toml", "--save-trace", "job.csv.gz")
    assert gzip.decompress(Path("job.csv.gz").read_bytes()) == Path("a/b/job.csv").read_bytes()
    assert read_trace(Path("job.csv.gz")) == read_trace(Path("a/b/job.csv"))


def test_the_page_says_what_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "applications.md").read_text()
    blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    tomls = [text for language, text in blocks if language == "toml"]
    collective, servers, requests, shared = tomls
    command = next(text for language, text in blocks if language == "sh" and "--graph" in text)
    (trace,) = (text for language, text in blocks if language == "text")
    write(here, collective.replace("16 MB", "1 MB"), "allreduce.toml")
    show(capsys, *command.split()[2:])
    assert Path("allreduce.svg").exists()
    assert len(read_trace(Path("allreduce.csv")).flows) == 3 * 30 * 16
    found = run(Scenario.from_toml(Path("allreduce.toml")))
    assert found.summary["applications"]["jobs"]["collective"]["finished"] == 3
    ring = '[[traffic]]\nkind = "collective"\noperation = "ring-all-reduce"\nbytes = "8 MB"\n'
    inside = 'duration = "1 ms"\n' + servers + ring + "ranks = [0, 1, 2, 3, 4, 5, 6, 7]\n"
    rings = run(Scenario.from_toml(write(here, inside, "rails.toml")))
    assert rings.jobs["time_ps"].to_list() == [2 * 7 * (2_222_223 + 1_000_000)]
    assert rings.summary["inner_bytes"] == 2 * 7 * 8_000_000
    show(capsys, "rails.toml", "--save-trace", "rails.csv")
    again = [{"kind": "trace", "file": "rails.csv"}]
    same = Scenario.from_toml(Path("rails.toml"), {"traffic": again})
    assert run(same).summary["digest"] == rings.summary["digest"]
    loops = run(Scenario.from_toml(write(here, 'duration = "200 us"\n' + requests, "loop.toml")))
    assert loops.requests["fan_out"].unique().to_list() == [4]
    of_tcp = 'duration = "200 us"\nscheme = "dctcp-tcp"\n'
    pair = {"topology": {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 1, "spines": 1}}
    kept = Scenario.from_toml(write(here, of_tcp + shared, "kept.toml"), pair)
    anew = kept.with_overrides({"traffic.open-loop.connections": 0})
    # No flow starts slowly on an open connection; short ones wait for a free one instead.
    of_many = [done.flows.filter(pl.col("size_bytes") > 20_000) for done in (run(kept), run(anew))]
    after_others, alone = (float(flows["slowdown"].mean()) for flows in of_many)
    assert after_others < 0.9 * alone
    file = write(here, trace)
    spans = ends(run(star([{"kind": "trace", "file": str(file)}])))
    assert spans[1][0] > 80_000
    assert spans[3][0] >= spans[2][1]


def test_the_rate_of_requests_counts_those_that_are_answered_in_time() -> None:
    size = {"kind": "fixed", "size": 300}
    loop = {"kind": "rpc", "clients": [0], "outstanding": 3, "request": size, "response": size}
    found = run(star([loop]).with_overrides({"duration": "100 us"}))
    in_time = found.requests.filter(pl.col("end_ps") <= found.scenario.duration).height
    assert 0 < in_time < found.requests.height
    assert request_rate([found]) == in_time / 100e-6


def test_expressions_measure_jobs_and_requests() -> None:
    """Metrics of experiments, sweeps and searches, held against the run's own summary."""
    job = {"kind": "collective", "operation": "ring-all-reduce", "bytes": "80 kB", "iterations": 2}
    size = {"kind": "fixed", "size": 300}
    loop = {"kind": "rpc", "clients": [0], "request": size, "response": size, "stop": "1 ms"}
    found = run(star([job, loop]))
    told = found.summary["applications"]["jobs"]["collective"]
    assert iteration_time([found]) == pytest.approx(told["mean_ns"] / 1e3)
    assert bus_bandwidth([found]) == pytest.approx(told["bus_bandwidth_bps"] / 1e9, rel=1e-3)
    latencies = found.requests["latency_ps"].sort().to_numpy() / 1e6
    assert request_latency([found], statistic="p50") == latencies[latencies.size // 2]
    assert request_rate([found]) == latencies.size / (found.scenario.duration / 1e12)
    with pytest.raises(ValueError, match="no job is called 'rpc'; jobs: collective"):
        iteration_time([found], label="rpc")
    with pytest.raises(ValueError, match="no traffic is called 'x'; labels: collective, rpc"):
        request_latency([found], label="x")
