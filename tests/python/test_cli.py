"""The command line end to end, on the smallest scenarios, with the real core."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from penstock import Run, __version__
from penstock.cli import main, output, runs
from penstock.cli.commands import COMMANDS, imported
from penstock.cli.directory import compared, default_name
from penstock.cli.runs import headline_table
from penstock.experiments.expression import METRICS
from penstock.report.table import HEADLINE, Detail, Headline
from penstock.scenario import Scenario, preset_names, scenario_names
from penstock.scenario.topology import TOPOLOGIES
from penstock.storage.name import LENGTH_MAX
from penstock.workload import WORKLOADS

QUICK = ["quickstart", "--set", "duration=30 us"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"penstock {__version__}"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert COMMANDS[command].summary in shown
    assert f"Example: penstock {command}" in shown
    # What Rich takes for markup would be missing.
    assert " ".join((imported(command).help or "").split()) in shown


def test_all_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name, listing in COMMANDS.items():
        assert f"{name} {listing.summary}" in shown


def test_every_command_speaks_json() -> None:
    for name in COMMANDS:
        assert any("--json" in option.opts for option in imported(name).params), name


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["list", "experiments"], ["show", QUICK[0]]]
)
def test_what_runs_nothing_starts_without_large_libraries(words: list[str]) -> None:
    script = (
        "import sys\n"
        "from penstock.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "sys.exit(code or bool({'matplotlib', 'numpy', 'polars'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", script, *words]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_run_writes_a_run_directory(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *QUICK, "--scheme", "dctcp", "--seed", "7", "--out", "out"]) == 0
    shown = capsys.readouterr()
    assert "dctcp" in shown.out
    assert "results: out" in shown.out
    assert "dctcp: done at" in shown.err
    stored = Run.load("out")
    assert stored.scenario.seed == 7
    assert stored.summary["flows_finished"] == stored.flows.height > 0
    assert "<html" in (here / "out" / "report.html").read_text()
    unslowed = stored.flows.filter(pl.col("slowdown") < 1 - 1e-9)
    assert unslowed.is_empty()


def test_the_same_seed_gives_the_same_digest(here: Path) -> None:
    for name in ("one", "two"):
        assert main(["run", *QUICK, "--check", "--out", name]) == 0
    assert Run.load("one").summary["digest"] == Run.load("two").summary["digest"]
    assert main(["run", "one/scenario.toml", "--out", "three"]) == 0
    assert Run.load("three").summary["digest"] == Run.load("one").summary["digest"]


def test_compare_runs_the_same_traffic(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *QUICK, "--scheme", "bfc,ideal-fq", "--out", "out", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert list(page["runs"]) == ["bfc", "ideal-fq"]
    flows = [Run.load(here / "out" / name).flows.sort("flow") for name in page["runs"]]
    columns = ["src", "dst", "size_bytes", "start_ns"]
    assert flows[0].select(columns).equals(flows[1].select(columns))
    assert Path(page["report"]).is_file()


def test_compare_has_means_over_seeds(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", *QUICK, "--scheme", "bfc,pfc", "--seeds", "1..2", "--out", "out"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "means over seeds, in brackets their 95 % intervals" in told
    names = [f"{name}-seed{seed}" for name in ("bfc", "pfc") for seed in (1, 2)]
    runs = [Run.load(here / "out" / name) for name in names]
    assert [run.scenario.seed for run in runs] == [1, 2, 1, 2]
    assert [run.scenario.scheme.name for run in runs] == ["bfc", "bfc", "pfc", "pfc"]
    means = [str(run.slowdown(by="label")["mean"][0]) for run in runs]
    assert len(set(means)) == 4
    page = Path("out/report.html").read_text("utf-8")
    rows = re.findall(r'<tr><th scope="row">(\w+)</th>(.*?)</tr>', page, re.DOTALL)[:2]
    assert [name for name, _ in rows] == ["bfc", "pfc"]
    assert re.search(r">[0-9.]+ \[[0-9.]+ to [0-9.]+\]<", rows[0][1])
    assert "<h2>Each seed</h2>" in page
    assert main([*command, "--force", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["runs"]) == names


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--seeds", "1..2", "--seed", "3"], "another option sets the seed"),
        (["--seeds", "1..2", "--set", "seed=3"], "another option sets the seed"),
        (["--seeds", "1..2", "--emulate"], "a run with real frames is not repeated"),
        (["--seeds", "auto"], "this command adds no seeds; list them, e.g. 1..3"),
        (["--seeds", "2..1"], "the range is empty"),
    ],
)
def test_seeds_that_nothing_compares_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert main(["compare", *QUICK, "--scheme", "bfc,pfc", "--out", "out", *more]) == 2
    assert words in capsys.readouterr().err
    assert not Path("out").exists()


def test_schemes_may_be_named_one_by_one(here: Path) -> None:
    words = ["--scheme", "bfc", "--scheme", "dctcp,bfc", "--set", "duration=20us"]
    assert main(["compare", "quickstart", *words, "--out", "one"]) == 0
    assert {Path(one).name for one in (here / "one").iterdir() if one.is_dir()} == {"bfc", "dctcp"}


@pytest.mark.parametrize(
    "words",
    [
        ["run", "quickstart", "--scheme", "bfc", "--scheme", "dctcp"],
        ["sweep", "quickstart", "--seeds", "1", "--seeds", "2"],
        ["reproduce", "bfc/table1", "--scale", "quick", "--scale", "paper"],
    ],
)
def test_an_option_of_which_only_the_last_would_count_is_refused(
    words: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert f"{words[2]} is given 2 times; write it once" in capsys.readouterr().err
    assert not list(here.iterdir())


def test_report_of_a_comparison(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *QUICK, "--scheme", "bfc,pfc", "--out", "out"]) == 0
    capsys.readouterr()
    assert main(["report", "out", "--out", "page.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == ["out/bfc", "out/pfc"]
    assert (here / "page.html").stat().st_size > 1000


def test_runs_of_other_networks_have_no_winner(here: Path) -> None:
    assert main(["compare", *QUICK, "--scheme", "bfc,pfc", "--out", "same"]) == 0
    same = Path("same/report.html").read_text("utf-8")
    assert 'class="best"' in same and "These runs differ" not in same
    assert main(["run", *QUICK, "--set", "topology.rate=40 Gb/s", "--out", "slow"]) == 0
    assert main(["report", "same", "slow", "--out", "page.html"]) == 0
    page = Path("page.html").read_text("utf-8")
    assert "These runs differ in their network, and not in the scheme alone." in page
    assert 'class="best"' not in page


def test_a_comparison_leaves_no_run_of_an_earlier_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def compare(schemes: str, *more: str) -> int:
        return main(["compare", *QUICK, "--scheme", schemes, "--out", "out", *more])

    def runs() -> list[str]:
        return sorted(one.parent.name for one in Path("out").glob("*/summary.json"))

    assert compare("bfc,pfc") == 0
    assert main(["run", *QUICK, "--scheme", "dctcp", "--out", "out/own"]) == 0
    assert compare("bfc,pfc,ideal-fq") == 0  # more schemes leave nothing behind
    Path("out/pfc/note.txt").write_text("mine")
    before = Path("out/report.html").read_bytes()
    capsys.readouterr()
    assert compare("bfc,ideal-fq") == 2
    told = capsys.readouterr().err
    assert "runs of an earlier comparison that this one lacks: pfc; name another directory" in told
    assert Path("out/report.html").read_bytes() == before
    assert runs() == ["bfc", "ideal-fq", "own", "pfc"]
    assert compare("bfc", "--seeds", "1..2", "--force") == 0
    assert runs() == ["bfc-seed1", "bfc-seed2", "own"]  # what no comparison made stays
    assert Path("out/pfc/note.txt").read_text() == "mine"
    assert compare("bfc", "--seeds", "1..1") == 2
    assert "lacks: bfc-seed2;" in capsys.readouterr().err


def test_a_comparison_is_not_written_into_a_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *QUICK, "--out", "out"]) == 0
    page = Path("out/report.html").read_bytes()
    for more in ([], ["--force"]):
        assert main(["compare", *QUICK, "--scheme", "bfc,pfc", "--out", "out", *more]) == 2
        assert "it holds a single run" in capsys.readouterr().err
    assert Path("out/report.html").read_bytes() == page
    assert not Path("out/bfc").exists()


def test_packets_are_traced_at_named_nodes(here: Path) -> None:
    assert main(["run", *QUICK, "--trace", "packets:S0", "--out", "out"]) == 0
    packets = Run.load("out").packets
    assert set(packets["node"]) == {8}
    assert {"arrive", "assign", "enqueue", "depart"} <= set(packets["event"])


def test_causes_are_traced_without_a_row_per_packet(here: Path) -> None:
    arguments = ["run", "quickstart", "--set", "duration=100us", "--trace", "causes"]
    assert main([*arguments, "--out", "out"]) == 0
    found = Run.load("out")
    assert found.events.height > 0
    assert set(found.packets["event"]) == {"choose", "pause_sent"}
    assert found.packets.height < found.summary["packet_hops"] / 2
    assert "not recorded" not in Path("out/report.html").read_text("utf-8")
    assert main([*arguments[:-2], "--out", "plain"]) == 0
    assert Run.load("plain").summary["digest"] == found.summary["digest"]


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("schemes", len(preset_names())),
        ("workloads", len(WORKLOADS)),
        ("topologies", len(TOPOLOGIES)),
        ("scenarios", len(scenario_names())),
        ("metrics", len(METRICS)),
    ],
)
def test_list(kind: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", kind, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert len(listed) == count
    assert all(one["name"] and one["title"] for one in listed)


@pytest.mark.parametrize(
    "name", ["hpcc-80", "google", "leaf-spine", "bfc-demo", "bfc/fig10", "slowdown"]
)
def test_show(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", name]) == 0
    assert name in capsys.readouterr().out
    assert main(["show", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fields"]


def side_by_side(capsys: pytest.CaptureFixture[str], *names: str) -> dict[str, tuple[str, str]]:
    """Field -> its two values, where two things differ."""
    one, other = names
    assert main(["show", one, "--beside", other, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["fields"]
    return {row["field"]: (row["value"], row["other"]) for row in rows}


def test_only_what_differs_stands_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert side_by_side(capsys, "bfc", "bfc") == {}
    found = side_by_side(capsys, "bfc", "bfc-srf")
    assert found["switch.scheduling.kind"] == ("drr", "srf")
    assert found["switch.scheduling.quantum"] == ("0 B", "–")
    assert "switch.assignment.queues" not in found


def test_lists_of_one_length_that_differ_are_told_apart(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, size in (("a.toml", 9), ("b.toml", 10)):
        listed = {"kind": "listed", "flows": [[0, 1, size, 0]]}
        Path(name).write_text(Scenario.from_name("quickstart", {"traffic": [listed]}).to_toml())
    found = side_by_side(capsys, "a.toml", "b.toml")
    assert found == {"traffic[0].flows": ("1 row", "1 row, others")}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("bfc", "google"), "of the kind workload, and bfc of the kind scheme"),
        (("bfc/fig7", "bfc/fig8"), "experiments have no fields"),
        (("bfc", "no-such"), "there is nothing of this name"),
    ],
)
def test_what_cannot_stand_side_by_side(
    names: tuple[str, str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", names[0], "--beside", names[1]]) == 2
    assert words in capsys.readouterr().err


def test_a_run_in_which_no_packet_crosses_a_link_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "quickstart", "--set", "duration=50", "--out", "short"]) == 0
    told = capsys.readouterr().out
    assert "bfc: the duration is 50 ps, and the shortest link takes 1 us" in told
    assert 'duration = "50 us"' in told
    assert main(["run", "quickstart", "--set", "duration=20ns", "--out", "ns"]) == 0
    assert 'duration = "' not in capsys.readouterr().out
    listed = '[[traffic]]\nkind = "listed"\nflows = [[0, 1, SIZE, 0]]\n'
    for size, says in [(1_000, False), (0, True)]:  # 0: it never ends, unless the duration does
        Path("listed.toml").write_text('duration = "1 ns"\n' + listed.replace("SIZE", str(size)))
        assert main(["run", "./listed.toml", "--force", "--out", "listed"]) == 0
        assert ("the shortest link takes 1 us" in capsys.readouterr().out) == says
    assert main(["run", "quickstart", "--set", "duration=1us", "--out", "long"]) == 0
    assert "shortest link" not in capsys.readouterr().out


def test_another_comparison_replaces_no_earlier_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["compare", "quickstart", "--scheme"]
    for more in (["bfc,pfc"], ["bfc,dctcp"], ["bfc,pfc", "--seeds", "1,2"], ["bfc,pfc"]):
        assert main([*short, *more, "--set", "duration=1us"]) == 0
    names = [path.name.rpartition("-")[0] for path in sorted(Path("runs").iterdir())]
    assert names == [
        "quickstart-compare-bfc+dctcp-seed1",
        "quickstart-compare-bfc+pfc-2-seeds-seed1",
        "quickstart-compare-bfc+pfc-seed1",
    ]


def test_the_directory_of_a_comparison_is_its_own_however_long_its_names_are() -> None:
    many = [f"a-scheme-with-a-long-name-{number}" for number in range(9)]
    names = {compared(many), compared(many[:8]), compared(many, [1, 2]), compared(many, [1, 3])}
    names |= {compared(["bfc"], [1, 2]), compared(["bfc"], [1, 3]), compared(["bfc"], [1, 2, 3])}
    assert len(names) == 7
    assert max(map(len, names)) < LENGTH_MAX
    long = Scenario.from_name("quickstart", {"name": "n" * 150})
    assert default_name(long, compared(["bfc", "pfc"]), False).endswith("n-compare-bfc+pfc-seed1")


def test_show_lists_the_parameters_of_a_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "queue_falls", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert "[us]" in shown["what"]
    found = {one["parameter"]: (one["default"], one["meaning"]) for one in shown["fields"]}
    assert list(found) == ["link", "after", "most"]
    assert found["most"] == ("required", "the largest queue [bytes]")
    assert main(["show", "slowdwn"]) == 2
    assert 'did you mean "slowdown"' in capsys.readouterr().err


def test_show_names_unit_default_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "bfc", "--json"]) == 0
    fields = {one["field"]: one for one in json.loads(capsys.readouterr().out)["fields"]}
    buffer = fields["switch.admission.buffer"]
    assert buffer["value"] == "12 MiB"
    assert "size" in buffer["meaning"]
    assert "BFC 6.2.1" in buffer["source"]


def test_show_tells_what_the_user_wrote_from_what_the_preset_says(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("own.toml").write_text(
        'preset = "bfc"\n[switch.assignment]\nqueues = 8\nsampling = 0.5\n'
        '[source]\n"switch.assignment.sampling" = "a paper"\n'
    )
    key = "scheme.switch.assignment"
    for words, prefix in (
        (["quickstart", "--set", f"{key}.queues=8"], "scheme."),
        (["quickstart", "--set", "scheme=./own.toml"], "scheme."),
        (["./own.toml"], ""),
    ):
        assert main(["show", *words, "--json"]) == 0
        fields = json.loads(capsys.readouterr().out)["fields"]
        sources = {row["field"]: row["source"] for row in fields}
        assert sources[f"{prefix}switch.assignment.queues"] == "as written"
        assert sources[f"{prefix}switch.assignment.classes"].startswith("BFC 6.2.1")
    assert sources["switch.assignment.sampling"] == "a paper"


def test_show_takes_another_scheme_and_other_fields(capsys: pytest.CaptureFixture[str]) -> None:
    changed = ["--scheme", "afq", "--set", "load=0.3", "--json"]
    assert main(["show", "clos-1024", *changed]) == 0
    shown = json.loads(capsys.readouterr().out)
    fields = {one["field"]: one["value"] for one in shown["fields"]}
    assert (fields["scheme.name"], fields["traffic[0].load"]) == ("afq", "0.3")
    assert fields["traffic[0].stop"] == fields["duration"]  # it may be left out, and is a time
    assert main(["show", "bfc", "--set", "load=0.3"]) == 2
    assert "only a scenario has fields that --set sets" in capsys.readouterr().err


def test_the_package_runs_as_a_module() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "penstock", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == f"penstock {__version__}"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_run_is_whole_where_streams_are_closed(closed: str, here: Path) -> None:
    command = f'exec "$0" -m penstock run quickstart --out run {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert Run.load("run").summary["flows_started"] > 0


def test_a_place_that_cannot_be_written_to_is_named_as_it_was_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The administrator may write everywhere but where a file system forbids it.
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    assert main(["run", "quickstart", "--out", "mine/run"]) == 2
    expected = f'--out = "mine/run": nothing can be written to {here}; name another directory'
    assert expected in capsys.readouterr().err


def test_a_full_standard_output_is_no_mistake_of_the_input(here: Path) -> None:
    for command, left in {
        "--version": "nothing was run",
        "run quickstart --out run": "all is written to run",
        "export run --csv tables": "all is written to tables",
        "watch run --out watch.html": "all is written to watch.html",
        "report run --out report.html": "all is written to report.html",
        "show ai-fabric --save-trace trace.csv --graph graph.svg": "all is written to graph.svg, "
        "trace.csv",
    }.items():
        words = [sys.executable, "-m", "penstock", *command.split()]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                words, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        said = f"standard output could not be written: No space left on device; {left}\n"
        assert (done.returncode, done.stderr.endswith(said)) == (1, True), done.stderr
    assert Run.load("run").summary["flows_started"] > 0


def printed(command: list[str], encoding: str) -> str:
    words = [sys.executable, "-m", "penstock", *command]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run(words, env=environment, capture_output=True, check=True)
    return done.stdout.decode(encoding)


def test_what_an_encoding_lacks_is_a_question_mark(here: Path) -> None:
    command = ["run", *QUICK, "--out"]
    assert "–" in printed([*command, "utf-8"], "utf-8")
    assert "?" in printed([*command, "latin-1"], "latin-1")
    assert "report:" in printed([*command, "ascii"], "ascii")


def test_json_is_the_same_in_every_encoding(here: Path) -> None:
    command = ["show", "bfc/fig10", "--json"]
    shown = printed(command, "utf-8")
    assert not shown.isascii()
    assert json.loads(printed(command, "ascii")) == json.loads(shown)


def test_json_goes_into_a_stream_without_an_encoding() -> None:
    with redirect_stdout(io.StringIO()) as shown:
        assert main(["show", "bfc/fig10", "--json"]) == 0
    assert "bfc/fig10" in json.loads(shown.getvalue()).values()


def test_a_working_directory_that_was_removed_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here.rmdir()
    assert main(["run", "quickstart"]) == 2
    assert "the working directory was removed; change to another one" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["run", "quickstart", "--out", "x\udcff"], ["--help"]])
def test_a_name_that_is_no_text_is_refused(
    command: list[str],
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if command == ["--help"]:
        (here / "y\udcff").mkdir()
        monkeypatch.chdir("y\udcff")
    before = list(here.iterdir())
    assert main(command) == 2
    assert "it is no text in UTF-8; rename it" in capsys.readouterr().err
    assert list(here.iterdir()) == before


def test_a_table_fits_80_columns_without_what_tells_least(
    capsys: pytest.CaptureFixture[str],
) -> None:
    titles = ["Run", "Tail", "Drops", "Pauses", "Time"]
    rows = [[name, "1.25", "0", "12" * 10, f"{'9' * 30} s"] for name in ("bfc", "a-longer-name")]
    left_out = output.print_fitting(titles, rows, least_first=["Time", "Pauses", "Drops"])
    shown = capsys.readouterr().out
    assert left_out == ["Time"]  # all columns say the same, so the order decides
    assert max(map(len, shown.splitlines())) <= 80 and "\x1b" not in shown
    assert "a-longer-name" in shown and "1.25" in shown and "999" not in shown
    other = [*rows[0][:4], "8 s"]
    wide = [[*rows[0][:2], "1" * 30, *rows[0][3:]], [*other[:2], "2" * 30, *other[3:]]]
    assert output.print_fitting(titles, wide, least_first=["Drops", "Pauses"]) == ["Pauses"]
    assert output.print_fitting(titles[:2], [["a", "b"]], least_first=["Tail"]) == []


def test_a_narrow_table_of_results_does_without_drops_before_unfinished_flows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["bfc", "a-longer-name"]
    cells = {name: [(f"{place}.{len(name)}00", False) for place in range(11)] for name in names}
    assert {len(one) for one in cells.values()} == {len(HEADLINE)}
    rows = list(cells.items())
    results = Headline(rows, Detail("", [], []))
    members: Any = {name: [SimpleNamespace(summary={"wall_seconds": 1.0})] for name in names}
    headline_table(members, results)
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("left out")]
    assert "Drops" in line and "Unfinished" not in line


def test_brackets_in_a_table_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(["CPU time [s]", "queue(link=[0, 8])"], [["[a]", "b"]])
    shown = capsys.readouterr().out
    for part in ("CPU time [s]", "queue(link=[0, 8])", "[a]"):
        assert part in shown


def test_a_page_tells_the_command_also_when_python_gave_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    assert main(["run", "quickstart", "--set", "duration=5us", "--out", "out"]) == 0
    page = Path("out", "report.html").read_text()
    assert "penstock run quickstart --set duration=5us --out out" in page
    assert "kernel.json" not in page


def test_of_many_notes_the_first_are_printed(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compare of twelve schemes with five seeds had 29 of them, and no table on the screen."""
    monkeypatch.setattr(runs, "NOTES_MAX", 2)
    chosen = ["--scheme", "dctcp,hpcc", "--seeds", "1..2", "--set", "duration=20us"]
    assert main(["compare", "quickstart", *chosen, "--out", "notes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("no PFC pause" in line for line in lines) == 2
    assert "2 more notes are in summary.json of the runs" in lines
