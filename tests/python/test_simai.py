"""Training workloads of SimAI: what is read, what is sent, what is refused, how long it takes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock import Run, Scenario, ScenarioError, run
from penstock.cli import main
from penstock.interruption import kept
from penstock.scenario.declared.topology import RailTopology
from penstock.simai.case import FLOWS_MAX, Choice, case_of
from penstock.simai.groups import groups_of
from penstock.simai.training import count_flows, messages, turns
from penstock.simai.workload import Workload, read_workload
from penstock.trace import read_trace

DATA = Path(__file__).parents[1] / "data" / "simai"
EVERY = sorted(DATA.glob("*.txt"))

US = 1_000_000
"""Picoseconds in a microsecond."""


def write(directory: Path, text: str, name: str = "job.txt") -> Path:
    file = directory / name
    file.write_text(text)
    return file


def imported(*words: str | Path) -> int:
    return main(["import-simai", *map(str, words)])


def load(name: str, **overrides: Any) -> Scenario:
    return Scenario.load(f"scenarios/{name}.toml", overrides)


def columns(found: Run, table: str, *names: str) -> list[list[int]]:
    frame: pl.DataFrame = getattr(found, table)
    return [frame[name].to_list() for name in names]


def ring_ps(size: int, steps: int) -> float:
    """How long a ring of two takes on a star of 100 Gb/s and 1 us [ps].

    Packets of 1,000 B have headers of 48 B; a link also carries an acknowledgement of 60 B for each
    packet of the other way; the last packet is stored and forwarded.
    """
    packets = size / 2 / 1_000
    return steps * (packets * (1_048 + 60) * 80 + 1_048 * 80 + 2 * US)


@pytest.fixture
def two_by_two(here: Path) -> Run:
    """Two iterations of the small workload, alone on a star."""
    words = ("--iterations", "2", "--topology", "single-switch", "--scheme", "pfc")
    assert imported(DATA / "two-by-two.txt", *words) == 0
    return run(load("two-by-two", **{"topology.rate": "100 Gb/s"}))


def test_an_iteration_takes_the_time_of_its_closed_form(two_by_two: Run) -> None:
    tensor = [ring_ps(size * 10**6, 2) for size in (1, 2, 1)]
    data = [ring_ps(size * 10**6, 2) for size in (4, 2)]
    # First and second layer forward; second layer backward; its weight gradient goes beside the
    # 25 us of the first layer, whose own weight gradient waits for it.
    computed = (1 + 30) + (2 + 7) + (2 + 3)
    expected = sum(tensor) + computed * US + sum(data)
    starts, times = columns(two_by_two, "jobs", "start_ps", "time_ps")
    assert starts[0] == 10 * US
    assert times[0] == pytest.approx(expected, rel=0.01)
    assert times[1] == pytest.approx(expected, rel=0.01)
    # The next iteration begins with the update (1 us) and the first layer (10 us).
    assert starts[1] == starts[0] + times[0] + 11 * US
    job = two_by_two.summary["applications"]["jobs"]["training"]
    assert job["finished"] == job["iterations"] == 2
    assert job["bus_bandwidth_bps"] is None
    assert two_by_two.jobs["bus_bandwidth_bps"].is_null().all()
    assert two_by_two.jobs["bytes"].to_list() == [40_000_000, 40_000_000]


def test_a_run_says_when_each_layer_ended(two_by_two: Run, here: Path) -> None:
    names = two_by_two.summary["applications"]["jobs"]["training"]["steps"]
    assert names == [
        "0 first forward",
        "1 second forward",
        "1 second input gradient",
        "1 second weight gradient",
        "0 first weight gradient",
    ]
    iterations, steps, starts, times = columns(
        two_by_two, "steps", "iteration", "step", "start_ps", "time_ps"
    )
    assert iterations == [0] * 5 + [1] * 5
    assert steps == [0, 1, 2, 3, 4] * 2
    ends = [start + time for start, time in zip(starts, times, strict=True)]
    assert starts[1] == ends[0] + 31 * US, "a rank computes, then goes on"
    assert starts[4] == ends[3], "a group does one collective at a time"
    assert ends[4] - starts[0] == two_by_two.jobs["time_ps"][0]
    assert two_by_two.steps["bytes"].to_list()[:2] == [4_000_000, 8_000_000]
    two_by_two.save("run")
    assert Run.load("run").steps.equals(two_by_two.steps)


def test_a_weight_gradient_goes_beside_what_follows(here: Path) -> None:
    # The second layer's weight gradient takes longer than the first layer's input gradient.
    text = (DATA / "two-by-two.txt").read_text().replace("20000\tNONE\t0", "20000\tALLREDUCE\t9000")
    assert imported(write(here, text), "--topology", "single-switch") == 0
    found = run(load("job"))
    starts, times = columns(found, "steps", "start_ps", "time_ps")
    names = found.summary["applications"]["jobs"]["training"]["steps"]
    beside, next_one, last = (
        names.index(f"{name} gradient")
        for name in ("1 second weight", "0 first input", "0 first weight")
    )
    assert starts[beside] < starts[next_one] < starts[next_one] + times[next_one]
    assert starts[next_one] + times[next_one] < starts[beside] + times[beside] == starts[last]


@pytest.mark.parametrize("file", EVERY, ids=lambda file: file.stem)
def test_every_rank_does_every_collective_in_order(file: Path) -> None:
    workload = read_workload(file)
    made = messages(workload, 2, 2, lambda count: None)
    assert len(made) == count_flows(workload, 2)
    groups = groups_of(workload)
    order = [turn for turn in turns(workload.layers) if turn.phase.operation]
    steps = list(dict.fromkeys((one.iteration, one.step) for one in made))
    assert steps == [(iteration, turn.step) for iteration in (0, 1) for turn in order]
    factor = {"ALLREDUCE": 2}
    for iteration, turn in ((0, turn) for turn in order):
        own = [one for one in made if (one.iteration, one.step) == (iteration, turn.step)]
        members = groups[turn.phase.group]
        count = len(members[0])
        for ranks in members:
            assert len({one.source for one in own} & set(ranks)) == count
            sent = sum(one.size for one in own if one.source in ranks)
            times = factor.get(turn.phase.operation or "", 1)
            assert sent == turn.phase.size * (count - 1) * times
        group_of = {rank: number for number, ranks in enumerate(members) for rank in ranks}
        assert all(group_of[one.source] == group_of[one.destination] for one in own)
    for number, message in enumerate(made):
        for flow, event in message.start.lags_ns:
            assert flow < number, "nothing waits for what comes later"
            known_at = made[flow].destination if event == "received" else made[flow].source
            assert known_at == message.source, "a rank waits for what it learns itself"


@pytest.mark.parametrize("file", EVERY, ids=lambda file: file.stem)
def test_groups_are_those_of_simai(file: Path) -> None:
    workload = read_workload(file)
    ranks, tensor, experts = workload.ranks, workload.tensor_parallel, workload.expert_parallel
    found = groups_of(workload)
    sizes = {
        "tp": tensor,
        "dp": ranks // tensor,
        "ep": experts,
        "dp_ep": ranks // tensor // experts,
    }
    for kind, groups in found.items():
        assert sorted(rank for group in groups for rank in group) == list(range(ranks))
        assert {len(group) for group in groups} == {sizes[kind]}
    strides = {"tp": 1, "dp": tensor, "ep": tensor, "dp_ep": tensor * experts}
    for kind, stride in strides.items():
        pairs = [pair for group in found[kind] for pair in itertools.pairwise(group)]
        assert all(after - before == stride for before, after in pairs), kind


def test_an_all_to_all_is_direct_and_bounded(here: Path) -> None:
    workload = read_workload(DATA / "moe-16.txt")
    made = messages(workload, 1, 2, lambda count: None)
    own = [(number, one) for number, one in enumerate(made) if one.step == "2 dispatch forward"]
    assert len(own) == 4 * 4 * 3
    (first, _), (_, beside), (_, third) = own[:3]
    assert [one.destination for _, one in own[:3]] == [2, 4, 6]
    assert set(beside.start.lags_ns) == {(first, "started")}
    assert set(third.start.lags_ns) == {(first, "acknowledged")}
    following = next(one for one in made if one.step == "3 experts forward")
    waits = {event for _, event in following.start.lags_ns}
    assert len(following.start.lags_ns) == 4, "three messages, and its own last one"
    assert waits == {"received", "started"}


def test_messages_stay_inside_a_server_as_the_page_says() -> None:
    inner = RailTopology.model_fields["inner_rate"].default
    page = (Path(__file__).parents[2] / "docs" / "simai.md").read_text()
    assert f"they take links of {inner}, the default of `inner_rate`" in " ".join(page.split())


@pytest.mark.parametrize("name", ["gpt-32", "moe-16"])
def test_a_rail_fabric_runs_it_on_any_number_of_threads(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert imported(DATA / f"{name}.txt", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    scenario = load(name)
    assert scenario.topology.kind == "rail"
    assert scenario.topology.host_count() == facts["ranks"]
    one, two = (run(scenario, threads=threads) for threads in (1, 2))
    assert one.summary["digest"] == two.summary["digest"]
    for table in ("jobs", "steps", "dependents"):
        assert getattr(one, table).equals(getattr(two, table))
    assert one.summary["applications"]["not_started"] == 0
    assert one.summary["flows_finished"] == facts["messages"]
    took = one.jobs["start_ps"][0] + one.jobs["time_ps"][0]
    least = facts["least_ns"] - facts["computation_after_ns"]
    assert took / 1_000 > least, "no network is faster than the rate of its links"


HEAD = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
    "all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0"
)
GOOD = HEAD + "\n1\nmlp -1 10 ALLREDUCE 800 10 NONE 0 10 ALLREDUCE_DP_EP 900 5\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "PARALLEL", 'line 1: "PARALLEL" is no policy'),
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_DLRM", 'line 1: "HYBRID_DLRM" is a policy of'),
        ("ep: 1", "sp: 1", 'line 1: "sp:" is no key of the first line'),
        ("ep: 1", "ep: 1 ep: 2", "line 1 has ep twice; write it once"),
        ("initiates: 0", "initiates: 0 vpp:", 'line 1: "vpp:" has a key without a number'),
        ("all_gpus: 4 ", "", "line 1 has no all_gpus"),
        ("all_gpus: 4", "all_gpus: 0", "line 1 has all_gpus: 0"),
        ("all_gpus: 4", "all_gpus: -4", 'line 1 has "-4" for all_gpus'),
        ("all_gpus: 4", "all_gpus: 5", "line 1 has 5 ranks in groups of model_parallel_NPU_g"),
        ("ep: 1", "ep: 4", "line 1 has ep: 4 among 2 groups of 2 ranks"),
        ("pp: 1", "pp: 2", "line 1 has pp: 2; pipeline parallelism is not simulated"),
        ("ga: 1", "ga: 1 pp_comm: 8", "line 1 has pp_comm 8 without stages"),
        ("checkpoints: 0", "checkpoints: 1 3", "line 1 has checkpoints: 1; recomputation"),
        ("\n1\n", "\n2\n", "line 2 announces 2 layers, but 1 follow"),
        ("\n1\n", "\nmany\n", 'line 2 has "many" for the number of layers'),
        ("900 5", "900", "line 3 has 11 words of 12"),
        ("-1 10", "x 10", 'line 3 has "x" for the dependency'),
        ("-1 10", "-1 -10", 'line 3 has "-10" for the compute time of the forward pass'),
        ("800", "-800", 'line 3 has "-800" for the bytes of the forward pass'),
        ("800", "8e2", 'line 3 has "8e2" for the bytes'),
        ("ALLREDUCE 800", "BROADCAST 800", 'line 3: "BROADCAST" is no operation of the forward'),
        ("DP_EP 900", "TP 900", 'line 3: "ALLREDUCE_TP" is no operation of the weight gradient'),
        ("NONE 0", "NONE 7", 'line 3 has "NONE" and 7 B for the input gradient'),
        ("800", "1", "line 3 has 1 B for 2 ranks in its forward"),
        ("mlp", "m,lp", 'line 3: "m,lp" is no name'),
        ("900 5", "900 soon", 'line 3 has "soon" for the update time'),
        (GOOD, HEAD + "\n", "line 1 has nothing below it"),
        (GOOD, HEAD + "\n0\n", "line 2 announces no layers"),
        (GOOD, GOOD.replace("ALLREDUCE_DP_EP 900", "NONE 0").replace("800", "0"), "no rank sends"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(
    here: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, expected: str
) -> None:
    assert old in GOOD
    write(here, GOOD.replace(old, new, 1))
    assert imported("job.txt") == 2
    assert expected in " ".join(capsys.readouterr().err.split())
    assert not Path("scenarios").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--gpus-per-server", "3"], "--gpus-per-server = 3: 4 ranks do not fill servers of 3"),
        (["--gpus-per-server", "2", "--topology", "single-switch"], "one switch has no servers"),
        (["--scheme", "bcf"], "--scheme"),
        (["--iterations", "99999"], "messages, 16 in an iteration of 1 layers; at most 131,072"),
        (["--out", "job.txt"], "this is a file"),
    ],
)
def test_a_choice_that_does_not_go_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    write(here, GOOD)
    assert imported("job.txt", *words) == 2
    assert expected in " ".join(capsys.readouterr().err.split())
    assert not Path("scenarios").exists()


def test_what_takes_too_long_is_refused_before_it_is_made(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, GOOD.replace("-1 10", "-1 70000000000"))
    assert imported("job.txt") == 2
    assert "takes 70" in capsys.readouterr().err
    silent = "rest -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"
    layers = 2**12
    write(here, GOOD.replace("\n1\n", f"\n{layers + 1}\n") + silent * layers)
    assert imported("job.txt", "--iterations", "2000") == 2
    assert "layers in all iterations" in capsys.readouterr().err
    assert imported("job.txt", "--iterations", "2000", "--layers", "1") == 0


def test_a_job_of_too_many_messages_says_how_many_layers_fit(here: Path) -> None:
    layer = GOOD.splitlines()[2] + "\n"
    file = write(here, HEAD + "\n9000\n" + layer * 9_000)
    with pytest.raises(ScenarioError, match=r"144,000 messages.*--layers 8192\)"):
        case_of(file, Choice())
    assert case_of(file, Choice(layers=8_192)).flows == FLOWS_MAX
    with pytest.raises(ScenarioError, match="--layers 8192"):
        case_of(file, Choice(layers=8_193))
    with pytest.raises(ScenarioError, match="--layers = 9001: the workload has 9,000 layers"):
        case_of(file, Choice(layers=9_001))


@pytest.mark.parametrize(
    ("workload", "out", "expected"),
    [
        ("quickstart.txt", "scenarios", "scenarios/quickstart.toml"),
        ("job.toml.txt", "scenarios", "scenarios/job.toml.toml"),
        ("job.txt", "a b", "'a b/job.toml'"),
    ],
)
def test_the_next_command_names_the_scenario(
    workload: str, out: str, expected: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, GOOD, workload)
    assert imported(workload, "--out", out) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"next:     penstock run {expected}"


def test_files_of_others_are_kept(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, GOOD)
    assert imported("job.txt") == 0
    said = capsys.readouterr().out
    assert "1 training iteration of 4 ranks (2 tensor, 2 data parallel) over 1 layer" in said
    assert said.splitlines()[-1] == "next:     penstock run job"
    assert kept() == "all is written to scenarios/job.csv, scenarios/job.toml"
    before = Path("scenarios/job.csv").read_bytes()
    assert imported("job.txt", "--iterations", "2") == 2
    assert "there is a file of this name" in capsys.readouterr().err
    assert Path("scenarios/job.csv").read_bytes() == before
    assert imported("job.txt", "--iterations", "2", "--force") == 0
    trace = read_trace(Path("scenarios/job.csv"))
    assert len(trace.flows) == 2 * 16
    assert {iteration for iteration, _, _ in trace.places} == {0, 1}
    assert main(["run", "job", "--out", "out"]) == 0
    assert Run.load("out").jobs["iteration"].to_list() == [0, 1]


def test_a_group_of_one_rank_sends_nothing(here: Path) -> None:
    text = GOOD.replace("model_parallel_NPU_group: 2", "model_parallel_NPU_group: 4")
    workload: Workload = read_workload(write(here, text))
    assert count_flows(workload, 1) == 4 * 3 * 2
    steps = {one.step for one in messages(workload, 1, 4, lambda count: None)}
    assert steps == {"0 mlp forward"}


def test_what_a_job_takes_at_least_counts_links_inside_servers(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tensor parallel pairs are in a server, and send nine times as fast as by the network."""
    head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 4\n1\n"
    layer = "mlp -1 1000 ALLREDUCE 40000000 1 NONE 0 1 ALLREDUCE 1000 1\n"
    words = ("--gpus-per-server", "2", "--json")
    assert imported(write(here, head + layer), *words) == 0
    facts = json.loads(capsys.readouterr().out)
    found = run(load("job"))
    took = float((found.flows["start_ns"] + found.flows["fct_ns"]).to_numpy().max())
    assert 0.8 * took < facts["least_ns"] <= took
