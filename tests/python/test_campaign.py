"""Many experiments at once: finished ones are kept, failed ones shown, and one page says all."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_core import FakeCore
from page_data import data_of

from penstock import Run, Scenario, ScenarioError, estimate, run
from penstock.cli import main
from penstock.emulation.lateness import ATTEMPTS, is_too_late
from penstock.errors import StorageError
from penstock.experiments import campaign, catalogue, cost, kept, outcome
from penstock.experiments.campaign import Campaign, Standing, reproduce_many
from penstock.experiments.cost import (
    LEARNT_FILE,
    expected_cost,
    known_costs,
    read_costs,
    shipped_file,
    write_costs,
)
from penstock.experiments.outcome import OUTCOME_FILE, Outcome
from penstock.experiments.reproduce import reproduce

TOOLS = Path(__file__).parents[2] / "tools"

TINY = """
id = "{id}"
title = "A tiny experiment"
source = "nowhere"
covers = {covers}
shows = "that it runs"
scenario = "quickstart"

[[sweeps]]
schemes = ["bfc", "none-such"]

[scales.quick]
seeds = [1, 2]
set = {{ duration = "20 us" }}

[scales.paper]
seeds = [1]
set = {{ duration = "40 us" }}

[[figures]]
name = "buffers"
kind = "buffer"

[[claims]]
claim = "BFC drops nothing."
reported = "never"
measure = "{measure}"
at_most = 0

[[claims]]
claim = "Another scheme drops nothing either."
reported = "never"
measure = "total(scheme='none-such', of='drops')"
at_most = 0
"""

DROPS = "total(scheme='bfc', of='drops')"
WRONG = "utilization(scheme='bfc', layer='cellar')"
"""Known to be wrong when it is measured: no run has the layer."""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of x/fig2 (which covers x/fig3), x/fig10 and y/table1."""
    root = tmp_path / "catalogue"
    monkeypatch.setattr(catalogue, "DIRECTORY", root)
    monkeypatch.chdir(tmp_path)
    for name, covers in (("x/fig2", '["x/fig3"]'), ("x/fig10", "[]"), ("y/table1", "[]")):
        write(root, name, covers=covers)
    return root


def write(root: Path, name: str, *, measure: str = DROPS, covers: str = "[]") -> None:
    """Writes an experiment; `measure` is that of its first claim."""
    path = root / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TINY.format(id=name, measure=measure, covers=covers))


def everything(**rest: Any) -> tuple[Campaign, list[str]]:
    """All experiments of the catalogue, and the ids of those that were really run."""
    made: list[str] = []

    def on_outcome(_: Campaign, one: Outcome) -> None:
        made.append(one.id)

    done = reproduce_many(catalogue.identifiers(), jobs=2, on_outcome=on_outcome, **rest)
    return done, sorted(made)


def test_with_more_seeds_only_the_new_ones_are_run(tiny: Path) -> None:
    everything()
    kept_run = Path("runs/x/fig2-quick/runs/bfc-seed1/summary.json")
    before = kept_run.stat().st_mtime_ns
    assert main(["reproduce", "x/fig2", "y/table1", "--seeds", "1..6"]) == 0
    facts = json.loads(Path("runs/summary-quick.json").read_text("utf-8"))
    assert [one["runs"] for one in facts["experiments"]] == [6, 6]
    told = facts["experiments"][0]["claims"][0]["spread"]
    assert told == "0 over 6 seeds, so is their median (95 %)"
    assert kept_run.stat().st_mtime_ns == before
    page = Path("runs/x/fig2-quick/report.html").read_text("utf-8")
    assert "penstock reproduce x/fig2 --scale quick --seeds 1,2,3,4,5,6" in page
    assert main(["reproduce", "x/fig2", "--seeds", "7"]) == 0
    assert {one.seed for one in reproduce("x/fig2", seeds=[7]).cells} == {7}
    made = everything()[0].outcomes["x/fig2"]
    assert made.claims[0].by_seed == [0, 0]


def test_other_seeds_are_not_learnt_as_the_cost_of_an_experiment(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[str] = []
    monkeypatch.setattr(campaign, "learn_cost", lambda name, *_: learnt.append(name))
    everything(seeds=[1, 2, 3])
    assert learnt == []
    everything()
    assert learnt == catalogue.identifiers()


def test_where_nothing_is_random_seeds_change_nothing() -> None:
    experiment = catalogue.load("afq/fig14")
    assert experiment.with_seeds("quick", [1, 2]) is experiment


def test_one_page_holds_every_claim_and_main_figure(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "--all"]) == 0
    shown = capsys.readouterr()
    assert "summary: runs/summary-quick.html" in shown.out
    assert "3/3 " in shown.err
    page = Path("runs/summary-quick.html").read_text("utf-8")
    assert [one["name"] for one in data_of(page)["figures"]] == ["x/fig2", "x/fig10", "y/table1"]
    assert page.count('data-filtered data-paper="x"') == 6 and "<option>holds</option>" in page
    assert not re.search(r'(src|href)="(https?:)?//', page)
    for name in catalogue.identifiers():
        assert f'href="{name}-quick/report.html"' in page
        assert Path("runs", f"{name}-quick", "report.html").is_file()
    assert "not implemented yet: none-such" in page
    facts = json.loads(Path("runs/summary-quick.json").read_text("utf-8"))
    assert list(facts["totals"]) == ["x", "y", "all"]
    every = facts["totals"]["all"]
    assert (every["hold"], every["fail"], every["not_decided"]) == (3, 0, 3)
    first = facts["experiments"][0]
    assert (first["id"], first["covers"], first["state"]) == ("x/fig2", ["x/fig3"], "done")
    assert first["runs"] == 2
    assert first["cpu_seconds"] > 0
    assert first["claims"][0] == {
        "claim": "BFC drops nothing.",
        "reported": "never",
        "number": "",
        "measured": "0",
        "value": 0.0,
        "spread": "0 over 2 seeds",
        "by_seed": [0.0, 0.0],
        "tolerance": "≤ 0",
        "margin": "",
        "verdict": "holds",
        "reason": "",
        "remark": "",
        "figure": "",
    }


def test_what_is_finished_is_not_run_again(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = everything()
    assert made == ["x/fig10", "x/fig2", "y/table1"]
    again, made = everything()
    assert made == []
    assert again.is_complete
    write(tiny, "x/fig10", measure=f"2 * {DROPS}")
    assert everything()[1] == ["x/fig10"]
    assert everything(scale="paper")[1] == ["x/fig10", "x/fig2", "y/table1"]
    assert everything()[1] == []
    monkeypatch.setattr(outcome, "code_digest", lambda: "other code")
    assert everything()[1] == ["x/fig10", "x/fig2", "y/table1"]


def test_what_is_half_written_is_done_from_its_beginning(tiny: Path) -> None:
    everything()
    (Path("runs/x/fig2-quick") / OUTCOME_FILE).unlink()
    (Path("runs/x/fig2-quick/runs/bfc-seed1/flows.parquet")).write_bytes(b"half")
    (Path("runs/y/table1-quick") / OUTCOME_FILE).write_text('{"id": "y/table1", "tit')
    done, made = everything()
    assert made == ["x/fig2", "y/table1"]
    assert done.is_complete


def test_a_single_reproduction_counts_among_several(tiny: Path) -> None:
    everything()
    place = Path("runs/x/fig2-quick") / OUTCOME_FILE
    among = Outcome.model_validate_json(place.read_text("utf-8"))
    reproduce("x/fig2")
    alone = Outcome.model_validate_json(place.read_text("utf-8"))
    assert alone.wall_seconds > 0.0
    assert alone.cpu_seconds > 0.0
    times = {"wall_seconds": 0.0, "cpu_seconds": 0.0}
    assert alone.model_copy(update=times) == among.model_copy(update=times)
    assert everything()[1] == []


def test_a_single_reproduction_that_is_stopped_makes_the_old_outcome_void(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything()
    with monkeypatch.context() as other:
        other.setattr(kept, "code_digest", lambda: "other code")
        reproduce("x/fig2", runner=lambda *_, **__: {})
    assert everything()[1] == ["x/fig2"]


def test_a_failure_is_shown_and_the_others_go_on(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tiny, "x/fig10", measure=WRONG)
    assert main(["reproduce", "--all", "--json"]) == 1
    shown = capsys.readouterr()
    facts = {one["id"]: one for one in json.loads(shown.out)["experiments"]}
    assert facts["x/fig10"]["state"] == "failed"
    assert "fig10.toml: claims[0].measure" in facts["x/fig10"]["failure"]
    assert "there is no layer 'cellar'; layers are" in facts["x/fig10"]["failure"]
    assert facts["x/fig2"]["state"] == facts["y/table1"]["state"] == "done"
    page = Path("runs/summary-quick.html").read_text("utf-8")
    assert "there is no layer" in page
    assert "Traceback" in page
    assert len(data_of(page)["figures"]) == 2
    assert everything()[1] == ["x/fig10"]  # it is tried again, the others are finished
    write(tiny, "x/fig10")
    assert everything()[0].is_complete


@pytest.mark.parametrize("several", [True, False])
def test_only_runs_that_are_not_there_are_made(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, several: bool
) -> None:
    runs, stamps = Path("runs/x/fig2-quick/runs"), {}

    def seeds() -> list[int]:
        """Those whose runs are made by the command."""
        stamps.update({path: path.stat().st_mtime_ns for path in runs.glob("*/summary.json")})
        if several:
            assert reproduce_many(["x/fig2"], jobs=1).is_complete
        else:
            assert not reproduce("x/fig2").unmade
        outcome = (Path("runs/x/fig2-quick") / OUTCOME_FILE).read_text("utf-8")
        assert Outcome.model_validate_json(outcome).runs == 2
        made = {path: path.stat().st_mtime_ns for path in runs.glob("*/summary.json")}.items()
        return sorted(int(path.parent.name[-1]) for path, _ in made - stamps.items())

    assert seeds() == [1, 2]
    write(tiny, "x/fig2", measure=f"2 * {DROPS}")  # a claim is judged by the same runs
    assert seeds() == []
    (runs.parent / OUTCOME_FILE).unlink()  # as a kill leaves it
    (runs / "bfc-seed1/flows.parquet").write_bytes(b"half")
    assert seeds() == [1]
    text = (tiny / "x/fig2.toml").read_text().replace("seeds = [1, 2]", "seeds = [2, 3]")
    (tiny / "x/fig2.toml").write_text(text)
    assert seeds() == [3]
    assert sorted(path.name for path in runs.glob("*-seed*")) == ["bfc-seed2", "bfc-seed3"]
    (tiny / "x/fig2.toml").write_text(text.replace('"20 us"', '"30 us"'))
    assert seeds() == [2, 3]
    (runs.parent / OUTCOME_FILE).unlink()
    monkeypatch.setattr(kept, "code_digest", lambda: "other code")
    assert seeds() == [2, 3]


def test_what_seems_too_large_is_run_by_force(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "available_bytes", lambda: 1e6)
    refused, _ = everything()
    assert all("add --force" in one.failure for one in refused.outcomes.values())
    with pytest.raises(ScenarioError, match="add --force"):
        reproduce("x/fig2")
    assert everything(force=True)[0].is_complete
    assert not reproduce("x/fig2", force=True).unmade


def test_a_run_that_fails_is_the_experiments_failure(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(campaign, "run", broken)
    done, _ = everything()
    assert not done.is_complete
    assert {one.failure for one in done.outcomes.values()} <= {
        f"bfc-seed{seed}: MemoryError: no room" for seed in (1, 2)
    }


def test_ctrl_c_leaves_what_has_ended_and_the_command_goes_on_there(
    tiny: Path, core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    core.steps = 100_000
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    assert main(["reproduce", "x/*", "--jobs", "1"]) == 1
    assert "interrupted; not finished: x/fig2, x/fig10;" in capsys.readouterr().err
    page = Path("runs/summary-quick.html").read_text("utf-8")
    assert page.count("Not finished: run the same command again.") == 2
    assert not list(Path("runs").rglob(OUTCOME_FILE))
    core.steps = 1
    _, made = everything()
    assert made == ["x/fig10", "x/fig2", "y/table1"]


def test_an_error_of_the_caller_stops_the_simulations(tiny: Path, core: FakeCore) -> None:
    core.steps = 100_000

    def full(_: Standing) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        everything(on_standing=full)
    assert not list(Path("runs").rglob(OUTCOME_FILE))


def test_how_far_all_is(tiny: Path) -> None:
    told: list[Standing] = []
    everything(on_standing=told.append)
    shares = [one.share for one in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert told[-1].finished == told[-1].every == 3


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        (["x/*"], ["x/fig2", "x/fig10"]),
        (["x/fig3", "y/table1"], ["x/fig2", "y/table1"]),
        (["*/fig1*", "x/fig2", "x/fig10"], ["x/fig10", "x/fig2"]),
    ],
)
def test_ids_and_patterns(
    arguments: list[str], chosen: list[str], tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments, "--json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)["experiments"]] == chosen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is none; name an experiment, or --all for all of them"),
        (["--all", "x/fig2"], "there are ids beside it"),
        (["x/fig4"], 'did you mean "x/fig3"?'),
        (["z/*"], "there is no such experiment"),
    ],
)
def test_what_is_refused(
    arguments: list[str], message: str, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_the_directory_of_a_run_is_none_for_experiments(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(Scenario.from_name("quickstart", {"duration": "20 us"})).save("one")
    before = sorted(Path("one").iterdir())
    for words in (["--all"], ["x/fig2"]):
        for more in ([], ["--force"]):
            assert main(["reproduce", *words, "--out", "one", *more]) == 2
            assert '--out = "one": it holds a single run; name another' in capsys.readouterr().err
    assert sorted(Path("one").iterdir()) == before


def test_a_part_of_another_experiment_is_listed_shown_and_found(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "experiments", "--json"]) == 0
    listed = {one["name"]: one["title"] for one in json.loads(capsys.readouterr().out)}
    assert list(listed) == ["x/fig2", "x/fig3", "x/fig10", "y/table1"]
    assert listed["x/fig3"] == "in x/fig2: A tiny experiment"
    assert main(["show", "x/fig3"]) == 0
    assert "x/fig2" in capsys.readouterr().out
    with pytest.raises(ScenarioError, match=r"x/fig3.*take experiment x/fig2"):
        catalogue.load("x/fig3")


def test_a_claim_that_fails_shows_its_reason_in_every_place(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = f'reason = "scale"\nbecause = "It is a short run."\nmeasure = "1 + {DROPS}"'
    for name, words in (("x/fig2", told), ("x/fig10", f'measure = "1 + {DROPS}"')):
        path = tiny / f"{name}.toml"
        path.write_text(path.read_text().replace(f'measure = "{DROPS}"', words))
    assert main(["reproduce", "--all"]) == 0
    facts = json.loads(Path("runs/summary-quick.json").read_text("utf-8"))
    every = facts["totals"]["all"]
    assert (every["hold"], every["fail"], every["not_decided"]) == (1, 2, 3)
    assert {reason: many for reason, many in every["reasons"].items() if many} == {
        "scale": 1,
        "not stated": 1,
    }
    first = facts["experiments"][0]["claims"][0]
    assert (first["verdict"], first["reason"], first["remark"]) == (
        "fails",
        "scale",
        "It is a short run.",
    )
    for page in ("runs/summary-quick.html", "runs/x/fig2-quick/report.html"):
        text = Path(page).read_text("utf-8")
        assert '<td class="verdict fails">fails<div class="small">scale</div>' in text
        assert "It is a short run." in text
        assert "0 over 2 seeds" not in text or page.endswith("quick.html")
    assert "reason not stated" in Path("runs/x/fig10-quick/report.html").read_text("utf-8")
    capsys.readouterr()
    assert main(["reproduce", "x/fig2"]) == 0
    assert "fails: scale" in " ".join(capsys.readouterr().out.split())


def test_costs_are_of_experiments_that_exist() -> None:
    assert set(read_costs(shipped_file())) <= set(catalogue.identifiers())


OLD = {"y/table1": 77.0, "x/fig10": 5.0, "x/gone": 9.0}
"""Times of experiments that a package brings."""


@pytest.fixture
def shipped(tiny: Path) -> Path:
    """The tiny catalogue's own file of times."""
    tiny.mkdir(exist_ok=True)
    shipped_file().write_text(json.dumps({"what": "", "cpu_seconds": OLD}))
    return shipped_file()


def test_a_run_learns_its_own_cost_in_its_directory_and_leaves_the_package(
    tiny: Path, shipped: Path
) -> None:
    before = shipped.read_bytes()
    write(tiny, "x/fig10", measure=WRONG)
    reproduce_many(["x/fig2", "x/fig10"], jobs=1)
    assert shipped.read_bytes() == before
    learnt = read_costs(Path("runs", LEARNT_FILE))
    assert list(learnt) == ["x/fig2"]  # x/fig10 failed
    assert known_costs(Path("runs")) == OLD | learnt
    assert expected_cost("x/fig2", Path("runs")) == learnt["x/fig2"]
    reproduce_many(["y/table1"], "paper", jobs=1)
    assert known_costs(Path("runs")) == OLD | learnt
    assert expected_cost("x/fig2", Path("elsewhere")) == 9.0  # as half of those that are known


def test_maintainers_renew_the_times_of_the_package(tiny: Path, shipped: Path) -> None:
    reproduce_many(["x/fig2"], jobs=1)
    [learnt] = read_costs(Path("runs", LEARNT_FILE)).values()
    tool = TOOLS / "costs"
    script = (
        "import runpy, sys; from pathlib import Path; from penstock.experiments import catalogue\n"
        "catalogue.DIRECTORY = Path('catalogue'); sys.argv = ['costs', sys.argv[2]]\n"
        f"runpy.run_path({str(tool)!r}, run_name='__main__')"
    )
    before = read_costs(shipped)
    for out, code in [("none", 1), ("runs", 0), (f"runs/x/fig2-quick/{OUTCOME_FILE}", 0)]:
        write_costs(shipped, before)
        made = subprocess.run([sys.executable, "-c", script, "-", out])
        assert made.returncode == code
        if code == 0:
            assert read_costs(shipped) == {"x/fig2": learnt, "x/fig10": 5.0, "y/table1": 77.0}


def test_an_experiment_that_was_run_alone_gets_its_place_on_the_page(tiny: Path) -> None:
    reproduce_many(["x/fig2"], jobs=1)
    alone = json.loads(Path("runs/x/fig2-quick", OUTCOME_FILE).read_text())
    Path("alone.json").write_text(json.dumps(alone | {"id": "bfc/fig2"}))
    Path("pages").mkdir()
    command = [sys.executable, str(TOOLS / "results"), "alone.json", "pages"]
    subprocess.run(command, check=True)
    assert "## bfc/fig2: A tiny experiment" in Path("pages/quick.md").read_text()
    [kept_one] = json.loads(Path("pages/quick.json").read_text())
    assert kept_one["claims"][0]["claim"] == "BFC drops nothing."


@pytest.mark.parametrize("text", ["", "[]", '{"cpu_seconds": [1]}', '{"cpu_seconds": {"a": "b"}}'])
def test_a_file_of_times_that_is_none_says_nothing(text: str, here: Path) -> None:
    Path(LEARNT_FILE).write_text(text)
    assert read_costs(Path(LEARNT_FILE)) == {}


def test_costs_that_cannot_be_written_stop_nothing(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, _: bytes) -> None:
        raise StorageError(f"{path}: Permission denied")

    monkeypatch.setattr(cost, "write_whole", refused)
    assert reproduce_many(["x/fig2"], jobs=1).is_complete
    assert not Path("runs", LEARNT_FILE).exists()


FRAMES = """

[[sweeps]]
name = "frames"
frames = true
"""


@pytest.mark.parametrize(("late", "made"), [(0, 1), (1, 2), (9, ATTEMPTS)])
@pytest.mark.parametrize("alone", [False, True])
def test_runs_whose_frames_were_too_late_are_made_again(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, late: int, made: int, alone: bool
) -> None:
    file = tiny / "y" / "table1.toml"
    file.write_text(file.read_text().replace("\n[scales.quick]", FRAMES + "\n[scales.quick]", 1))
    seeds: list[int] = []

    def emulated(scenario: Scenario, **_: Any) -> Run:
        """A simulation that says it had real frames; those of the first runs of seed 1 are late."""
        seeds.append(scenario.seed)
        is_late = scenario.seed == 1 and seeds.count(1) <= late
        lateness = {"frames": 1, "p50_us": 0.0, "p99_us": 1e3 * is_late, "max_us": 1e3}
        made = run(scenario)
        made.summary["emulation"] = {
            "lateness": {"network": lateness, "hosts": lateness},
            "packet_us": 120.0,
        }
        return made

    def emulate_many(
        scenarios: dict[str, Scenario], *, out: Path, on_finished: Callable[[str, Run], None]
    ) -> dict[str, Run]:
        runs = {name: emulated(scenario) for name, scenario in scenarios.items()}
        for name, one in runs.items():
            one.save(out / name, force=True)
            on_finished(name, one)
        return runs

    told: list[tuple[int, int]] = []
    if alone:
        reproduce(
            "y/table1",
            out="out/y/table1-quick",
            frames_runner=emulate_many,
            progress=lambda finished, every, _: told.append((finished, every)),
        )
        assert told[-1] == (4, 4)
    else:
        monkeypatch.setattr(campaign, "emulate", emulated)
        done = reproduce_many(["y/table1"], out="out")
        assert not done.outcomes["y/table1"].failure
    assert seeds == [1, 2] + [1] * (made - 1)
    kept = Run.load("out/y/table1-quick/runs/frames-seed1")
    assert is_too_late(kept.summary) == (late >= made)
