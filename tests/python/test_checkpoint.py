"""Checkpoints: a run that was killed goes on, and ends as one that was never stopped."""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock import Run, Scenario, ScenarioError, StorageError, resume, run, run_many
from penstock.cli import main
from penstock.cli.options import checkpoint_seconds
from penstock.storage.checkpoint import Checkpoints, find_checkpoint
from penstock.storage.draft import draft_of
from penstock.storage.unfinished import UNFINISHED, how_to_resume
from penstock.tables import FILES

pytestmark = pytest.mark.slow

KILLS = 10
"""Moments at which the run is killed (issue 14)."""
EVERY = "every=0.1s"
"""As often as the core reports progress."""
PROGRAM = """
import sys
import penstock.runner
from penstock.cli import main
penstock.runner.MOST_ROWS = 2_000
sys.exit(main(sys.argv[1:]))
"""
"""The command line of a Penstock whose runs hold few rows."""


def long_scenario(duration: str = "4 ms") -> Scenario:
    measured = {"sample_interval": "5 us", "series": [(8, 0)], "events": True}
    return Scenario.from_name("quickstart", {"duration": duration, "measure": measured})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario file, and beside it the directory of a run that was never stopped."""
    folder = tmp_path_factory.mktemp("whole")
    scenario = long_scenario()
    (folder / "long.toml").write_text(scenario.to_toml())
    run(Scenario.from_toml(folder / "long.toml")).save(folder / "run")
    return folder


def command(*words: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def begun(whole: Path, out: Path) -> subprocess.Popen[str]:
    return command("run", whole / "long.toml", "--out", out, "--checkpoint", EVERY)


def kill(process: subprocess.Popen[str]) -> bool:
    """Kills it; false when it has ended before."""
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def wait_for_checkpoint(process: subprocess.Popen[str], out: Path) -> None:
    until = time.monotonic() + 60
    while not (draft_of(out) / UNFINISHED / "checkpoint.json").exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.005)


def assert_same_tables(found: Path, whole: Path) -> None:
    one, other = Run.load(found), Run.load(whole / "run")
    assert one.summary["digest"] == other.summary["digest"]
    for table in FILES:
        assert getattr(one, table).equals(getattr(other, table), null_equal=True), table


def assert_same(found: Path, whole: Path) -> None:
    assert_same_tables(found, whole)
    names = {path.name for path in found.iterdir()}
    assert names == {"scenario.toml", "summary.json", "report.html", *FILES.values()}
    assert {path.name for path in found.parent.iterdir()} == {found.name}


def test_a_run_that_is_killed_at_random_moments_ends_as_any_other(
    whole: Path, tmp_path: Path
) -> None:
    out, moments = tmp_path / "killed", random.Random(14)
    process = begun(whole, out)
    wait_for_checkpoint(process, out)
    kills = 0
    while kills < KILLS:
        time.sleep(moments.uniform(0.0, 1.0))
        kills += kill(process)
        if not out.exists():
            process = command("resume", out)
            continue
        assert_same_tables(out, whole)  # a fast machine was at the end before the kill
        shutil.rmtree(out)
        process = begun(whole, out)
        wait_for_checkpoint(process, out)
    text = process.communicate()[0]
    assert process.returncode == 0, text
    assert_same(out, whole)


def test_a_run_that_a_signal_stops_says_how_to_go_on(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "stopped"
    process = begun(whole, out)
    wait_for_checkpoint(process, out)
    process.send_signal(signal.SIGINT)
    text = process.communicate()[0]
    assert process.returncode == 1
    assert f"go on with: penstock resume {out}" in text
    stopped = Run.load(out)
    assert stopped.is_cancelled
    assert (out / UNFINISHED / "checkpoint.json").exists()
    spent = find_checkpoint(out)[1].wall_seconds
    finished = resume(out)
    assert not finished.is_cancelled
    assert finished.summary["wall_seconds"] > spent > 0
    (out / "report.html").touch()
    assert_same(out, whole)


def test_a_directory_with_a_space_is_quoted_for_the_shell() -> None:
    assert how_to_resume(Path("my runs/long")) == "penstock resume 'my runs/long'"


def test_a_signal_before_a_run_goes_on_says_that_its_checkpoint_is_kept(
    killed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("penstock.cli.runs.simulate", lambda *_, **__: {})
    monkeypatch.setattr("penstock.interruption.happened", lambda: True)
    assert main(["resume", str(killed)]) == 1
    said = capsys.readouterr().err
    assert f"interrupted; the checkpoint is kept: penstock resume {killed}" in said
    assert find_checkpoint(killed)[0].name == "quickstart"


@pytest.fixture
def killed(whole: Path, tmp_path: Path) -> Path:
    """Where a run was to be saved that was killed after a checkpoint."""
    out = tmp_path / "killed"
    process = begun(whole, out)
    wait_for_checkpoint(process, out)
    assert kill(process)
    return out


def test_a_checkpoint_is_not_lost_by_mistake(
    killed: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = ["run", "quickstart", "--out", str(killed)]
    assert main(again) == 2
    assert f"penstock resume {killed}" in capsys.readouterr().err
    assert main(["report", str(killed)]) == 2
    assert f"go on with it: penstock resume {killed}" in capsys.readouterr().err
    run_many({"other": long_scenario("20 us")}, out=killed.parent)
    assert find_checkpoint(killed)[0].name == "quickstart"
    assert main([*again, "--force"]) == 0
    with pytest.raises(ScenarioError, match="there is no checkpoint"):
        find_checkpoint(killed)


def test_a_state_that_the_disk_does_not_take_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def due(checkpoints: Checkpoints, *, stops: bool) -> str:
        number = len(list(checkpoints.folder.glob("checkpoint.json")))
        return "/dev/full" if number else str(checkpoints.folder / "state-1")

    monkeypatch.setattr(Checkpoints, "due", due)
    scenario = long_scenario("16 ms")  # long enough for two reports of progress
    with pytest.raises(StorageError, match=r"No space left .*; what stood there before is kept"):
        run_many({"long": scenario}, out={"long": tmp_path / "out"}, checkpoint_seconds=60.0)
    monkeypatch.undo()
    assert resume(tmp_path / "out").summary["digest"] == run(scenario).summary["digest"]


def test_a_time_of_milliseconds_is_taken_and_the_least_one_is_said() -> None:
    assert checkpoint_seconds("every=500ms") == 0.5
    assert checkpoint_seconds(EVERY) == 0.1
    with pytest.raises(ScenarioError, match=r"so fast; write every=0\.1s or more"):
        checkpoint_seconds("every=99ms")


def test_an_error_of_the_caller_is_not_one_of_the_disk() -> None:
    def progress(_: object) -> None:
        raise BrokenPipeError("nobody reads")

    with pytest.raises(BrokenPipeError, match="nobody reads"):
        run(long_scenario(), progress=progress)


@pytest.mark.parametrize("harm", ["cut", "flip", "unlink"])
def test_a_damaged_state_is_refused(killed: Path, harm: str) -> None:
    state = draft_of(killed) / UNFINISHED / find_checkpoint(killed)[1].state
    content = bytearray(state.read_bytes())
    if harm == "cut":
        state.write_bytes(content[: len(content) // 2])
    elif harm == "flip":
        content[len(content) // 2] ^= 16
        state.write_bytes(content)
    else:
        state.unlink()
    with pytest.raises(ScenarioError, match=r"checkpoint.*run it anew"):
        resume(killed)


@pytest.mark.parametrize("harm", ["cut", "flip", "unlink"])
def test_a_damaged_piece_is_refused(killed: Path, harm: str) -> None:
    folder = draft_of(killed) / UNFINISHED
    piece = folder / "flows-0.parquet"
    content = bytearray(b"rows that have left the run")
    piece.write_bytes(content)
    pieces = {"flows": [hashlib.sha256(content).hexdigest()]}
    file = folder / "checkpoint.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"pieces": pieces}))
    assert find_checkpoint(killed)[1].pieces == pieces
    if harm == "cut":
        piece.write_bytes(content[:9])
    elif harm == "flip":
        content[9] ^= 16
        piece.write_bytes(content)
    else:
        piece.unlink()
    with pytest.raises(ScenarioError, match=r"flows-0.parquet is not as it was written; run it"):
        resume(killed)


def test_the_checkpoint_of_another_version_is_refused(killed: Path) -> None:
    file = draft_of(killed) / UNFINISHED / "checkpoint.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"code": "other"}))
    with pytest.raises(ScenarioError, match="another version of Penstock"):
        resume(killed)
    file.write_text("{")
    with pytest.raises(ScenarioError, match="the checkpoint is damaged"):
        resume(killed)


def test_what_cannot_be_saved_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resume", str(tmp_path / "nothing")]) == 2
    assert "there is no checkpoint of a run that did not end" in capsys.readouterr().err
    for text in ["10min", "every=0s", "every=99ms", "every=ten", "every=5 days"]:
        assert main(["run", "quickstart", "--out", str(tmp_path / "x"), "--checkpoint", text]) == 2
        assert "every=30s" in capsys.readouterr().err
    exact = long_scenario()
    with pytest.raises(ScenarioError, match="name one with out"):
        run_many({"one": exact}, checkpoint_seconds=1.0)
    for seconds in [0, -1.0, math.nan, math.inf, "10"]:
        with pytest.raises(ScenarioError, match="write a time in seconds above 0"):
            run_many({"one": exact}, out=tmp_path, checkpoint_seconds=seconds)  # type: ignore[arg-type]
    ns3 = Scenario.from_name("quickstart", {"fidelity": "ns3-hpcc", "scheme": "dctcp"})
    with pytest.raises(ScenarioError, match="shares its random numbers"):
        run_many({"one": ns3}, out=tmp_path, checkpoint_seconds=1.0)
    assert not list(tmp_path.iterdir())
