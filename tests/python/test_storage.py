"""Run directories: whole or absent, one writer at a time, nothing of others touched."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_core import FakeCore

from penstock import Run, Scenario, ScenarioError, StorageError, interruption, run, run_many
from penstock.cli import main
from penstock.cli.report import run_directories
from penstock.results import RUN_FILES, claim
from penstock.storage.claim import LOCK
from penstock.storage.draft import draft_of, whole_file, write_whole
from penstock.storage.record import SUMMARY_FILE, sealed
from penstock.storage.unfinished import CHECKPOINT_FILE, UNFINISHED

QUICK = Scenario.from_name("quickstart")
OTHER = QUICK.with_overrides({"seed": 2})
ROUNDS = int(os.environ.get("PENSTOCK_ROUNDS", "15"))
"""How often each of two writers saves; 200 were tried once."""


def names(directory: Path) -> set[str]:
    """What is in a directory, hidden things included."""
    return {path.name for path in directory.iterdir()}


def whole(directory: Path) -> Run:
    """The run in a directory; nothing else is in it."""
    assert names(directory) == {*RUN_FILES, SUMMARY_FILE}
    return Run.load(directory)


# -- replacing ------------------------------------------------------------------------------


def test_the_same_scenario_replaces_its_run_and_another_needs_force(
    core: FakeCore, tmp_path: Path
) -> None:
    target = tmp_path / "run"
    run(QUICK).save(target)
    run(QUICK).save(target)
    with pytest.raises(ScenarioError, match=r"another scenario.*quickstart.*--force"):
        run(OTHER).save(target)
    assert whole(target).scenario.seed == QUICK.seed
    run(OTHER).save(target, force=True)
    assert whole(target).scenario.seed == OTHER.seed
    assert names(tmp_path) == {"run"}


def test_two_runs_of_one_directory_are_refused_by_name(tmp_path: Path) -> None:
    scenario = Scenario.from_name("quickstart", {"duration": "5 us"})
    words = r'name = "a-b": its run would stand in "a-b", as that of "a b"'
    with pytest.raises(ScenarioError, match=words):
        run_many({"a b": scenario, "a-b": scenario}, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_files_of_others_stay(core: FakeCore, tmp_path: Path) -> None:
    target = tmp_path / "run"
    run(QUICK).save(target)
    (target / "notes.md").write_text("mine")
    (target / "folder").mkdir()
    (target / "folder" / "deep").write_text("mine too")
    run(OTHER).save(target, force=True)
    assert (target / "notes.md").read_text() == "mine"
    assert (target / "folder" / "deep").read_text() == "mine too"
    assert Run.load(target).scenario.seed == OTHER.seed
    assert names(tmp_path) == {"run"}


def test_a_directory_of_others_needs_force_and_keeps_its_files(
    core: FakeCore, tmp_path: Path
) -> None:
    (tmp_path / "notes.md").write_text("mine")
    with pytest.raises(ScenarioError, match=r'no run, such as "notes.md".*--force'):
        run(QUICK).save(tmp_path)
    run(QUICK).save(tmp_path, force=True)
    assert (tmp_path / "notes.md").read_text() == "mine"
    assert Run.load(tmp_path).summary["seed"] == QUICK.seed


@pytest.mark.parametrize("name", ["scenario.toml", "report.html", "fct.txt"])
def test_a_file_of_others_with_a_name_of_ours_is_never_replaced(
    core: FakeCore, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(ScenarioError, match=f"{name} is of no run"):
        run(QUICK).save(tmp_path, force=True)
    assert names(tmp_path) == {name}


def test_a_file_and_the_working_directory_are_no_places(core: FakeCore, here: Path) -> None:
    (here / "file").write_text("")
    with pytest.raises(ScenarioError, match="a file has this name"):
        run(QUICK).save("file")
    for directory in (".", "..", "/"):
        with pytest.raises(ScenarioError, match="working directory"):
            run(QUICK).save(directory)
    (here / "link").symlink_to("target")
    run(QUICK).save("link")
    assert whole(here / "target").scenario.seed == QUICK.seed


def test_a_stopped_run_does_not_replace_a_whole_one(core: FakeCore, tmp_path: Path) -> None:
    run(QUICK).save(tmp_path / "run")
    stopped = run(QUICK, cancel=lambda: True)
    stopped.save(tmp_path / "run")
    assert not whole(tmp_path / "run").is_cancelled
    assert stopped.flows.height
    stopped.save(tmp_path / "new")
    assert whole(tmp_path / "new").is_cancelled


@pytest.fixture
def short(here: Path) -> str:
    """A scenario that takes milliseconds, in an empty working directory."""
    Path("short.toml").write_text(QUICK.with_overrides({"duration": "20 us"}).to_toml())
    return "short.toml"


def test_commands_refuse_before_they_run(short: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", short, "--out", "out"]) == 0
    capsys.readouterr()
    assert main(["run", short, "--seed", "2", "--out", "out"]) == 2
    assert main(["compare", short, "--scheme", "bfc", "--out", "out/flows.parquet"]) == 2
    refused = capsys.readouterr().err
    assert "--force" in refused
    assert "done at" not in refused
    assert main(["run", short, "--seed", "2", "--out", "out", "--force"]) == 0
    assert Run.load("out").scenario.seed == 2


def test_settings_get_a_directory_of_their_own(short: str) -> None:
    assert main(["run", short]) == 0
    assert main(["run", short, "--set", "load=0.7"]) == 0
    first, second = sorted(Path("runs").iterdir())
    assert first.name == "quickstart-bfc-seed1"
    assert second.name == f"{first.name}-{Run.load(second).summary['scenario_hash'][:8]}"


def test_pages_of_others_are_not_replaced(short: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(Scenario.load(short)).save("out")
    Path("notes.md").write_text("mine")
    assert main(["report", "out", "--out", "notes.md"]) == 2
    assert "no page that Penstock wrote" in capsys.readouterr().err
    assert Path("notes.md").read_text() == "mine"
    assert main(["report", "out", "--out", "notes.md", "--force"]) == 0
    assert main(["report", "out", "--out", "notes.md"]) == 0


@pytest.mark.parametrize(
    "name", ["../../../x", "/tmp/x", "a/b", "..", "\0", "x" * 500, r"$\foo{$", "_", "-x", ""]
)
def test_a_name_leads_nowhere_else(short: str, here: Path, name: str) -> None:
    text = Path(short).read_text().replace('"quickstart"', json.dumps(name))
    Path(short).write_text(text)
    assert main(["run", short, "--set", f"scheme.name={json.dumps(name)}"]) in (0, 2)
    assert names(here) <= {short, "runs"}
    for path in here.glob("runs/*"):
        assert path.name[0] not in ".-"
        assert whole_with_report(path)


def whole_with_report(directory: Path) -> bool:
    """Whether a directory holds a run and its page, and nothing else."""
    return names(directory) == {*RUN_FILES, SUMMARY_FILE, "report.html"}


def test_names_of_runs_lead_nowhere_else(core: FakeCore, here: Path) -> None:
    made = run_many({"../a": QUICK, "/b": OTHER}, out=here / "many")
    assert list(made) == ["../a", "/b"]
    assert names(here / "many") == {"a", "b"}


# -- damage ---------------------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _fill(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def _fold(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _nest(path: Path) -> None:
    path.write_text("[" * 100_000)


DAMAGES: list[Callable[[Path], None]] = [Path.unlink, _cut, _flip, _fill, _fold, _pipe, _nest]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", [*RUN_FILES, SUMMARY_FILE])
def test_every_damaged_file_is_refused_by_name(
    core: FakeCore,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    damage: Callable[[Path], None],
) -> None:
    run(QUICK).save("out")
    damage(Path("out") / file)
    with pytest.raises(ScenarioError):
        Run.load("out")
    assert main(["report", "out"]) == 2
    shown = capsys.readouterr().err
    assert "Traceback" not in shown
    assert file in shown
    assert not Path("out/report.html").exists()


def test_a_table_that_changes_later_is_refused(core: FakeCore, tmp_path: Path) -> None:
    run(QUICK).save(tmp_path / "run")
    loaded = Run.load(tmp_path / "run")
    _flip(tmp_path / "run" / "flows.parquet")
    with pytest.raises(ScenarioError, match=r"flows.parquet.*has changed"):
        _ = loaded.flows


def test_a_summary_of_another_layout_is_refused(core: FakeCore, tmp_path: Path) -> None:
    run(QUICK).save(tmp_path / "run")
    path = tmp_path / "run" / SUMMARY_FILE
    table = json.loads(path.read_text())
    for changed in (table | {"drops": 1}, table | {"format": 1}, [], {}, {"seal": 3}):
        path.write_text(json.dumps(changed))
        with pytest.raises(ScenarioError, match=r"summary.json"):
            Run.load(tmp_path / "run")


# -- two writers ----------------------------------------------------------------------------


def test_a_second_writer_is_refused_with_the_name_of_the_first(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["penstock", "run", "the first"])
    with (
        claim(tmp_path / "run", QUICK),
        pytest.raises(ScenarioError, match=rf"process {os.getpid()} .*the first.*is writing"),
    ):
        claim(tmp_path / "run", QUICK, patience=0.05)
    assert names(tmp_path) == set()


def test_threads_that_save_different_runs_leave_a_whole_one(core: FakeCore, tmp_path: Path) -> None:
    target, errors = tmp_path / "run", []
    made = [run(QUICK), run(OTHER)]

    def save(number: int) -> None:
        for _ in range(ROUNDS):
            try:
                made[number].save(target, force=True)
                Run.load(target)
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=save, args=[number]) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert whole(target).summary["seed"] in (1, 2)
    assert names(tmp_path) == {"run"}


SAVE_ROUNDS = """
import sys
from pathlib import Path
from penstock import Run
run = Run.load(sys.argv[1])
for _ in range(int(sys.argv[3])):
    run.save(sys.argv[2], force=True)
"""


def test_processes_that_save_different_runs_leave_a_whole_one(
    core: FakeCore, tmp_path: Path
) -> None:
    for number, scenario in enumerate((QUICK, OTHER)):
        run(scenario).save(tmp_path / str(number))
    command = [sys.executable, "-c", SAVE_ROUNDS]
    workers = [
        subprocess.Popen([*command, tmp_path / number, tmp_path / "run", str(ROUNDS)])
        for number in "01"
    ]
    seen = set()
    while any(worker.poll() is None for worker in workers):
        try:
            seen.add(Run.load(tmp_path / "run").summary["seed"])
        except ScenarioError as error:
            assert not seen, error  # once there is a run, there always is one
    assert [worker.returncode for worker in workers] == [0, 0]
    assert whole(tmp_path / "run").summary["seed"] in (1, 2)
    assert seen
    assert names(tmp_path) == {"0", "1", "run"}


# -- killed writers -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["with", "without"])
def test_a_writer_that_is_killed_at_any_step_leaves_a_whole_run(
    core: FakeCore, tmp_path: Path, kind: str
) -> None:
    """The writer dies at its first step in the file system, its second, and so on.

    Parameters
    ----------
    kind
        Whether the file system can exchange two directories.
    """
    for number, scenario in enumerate((QUICK, OTHER)):
        run(scenario).save(tmp_path / str(number))
    script = Path(__file__).with_name("killed_writer.py")
    steps = subprocess.check_output([sys.executable, script, tmp_path, kind], text=True)
    assert int(steps) > 2 * len(RUN_FILES)


def test_a_signal_takes_the_file_of_a_claim_with_it(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from penstock import interruption\n"
        "from penstock.storage.claim import Claim\n"
        "interruption.install()\n"
        "claims = [Claim(Path(name)) for name in sys.argv[1:]]\n"
        "claims[0].release()\n"
        "print(*os.listdir('.'), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, "a", "b"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.stdout.split(), ended.returncode) == ([f".b{LOCK}"], interruption.EXIT_CODE)
    assert not list(tmp_path.iterdir())


def test_drafts_of_files_are_swept(tmp_path: Path) -> None:
    stale = tmp_path / ".page.html.0000.penstock-draft"
    stale.write_text("half")
    (tmp_path / ".hidden").write_text("mine")
    write_whole(tmp_path / "page.html", b"whole")
    assert names(tmp_path) == {".hidden", "page.html"}
    assert draft_of(tmp_path / "x").name == ".x.penstock-draft"


def test_where_no_file_can_be_made_the_reason_is_said(core: FakeCore, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(StorageError, match="No such file or directory; nothing was written there"):
        write_whole(gone / "file", b"text")
    nowhere = Path("/proc/penstock")  # the kernel lets nobody make a file there
    with pytest.raises(ScenarioError, match="nothing can be written beside it: No such file"):
        run(QUICK).save(nowhere)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "inside").write_text("")
    with pytest.raises(StorageError, match="page"):
        write_whole(tmp_path / "page", b"new")
    assert names(tmp_path) == {"page"}


# -- failing --------------------------------------------------------------------------------


def test_a_full_disk_is_told_while_pieces_on_it_are_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file takes is found by writing it again, from the pieces that it is made of."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with claim(tmp_path / "run", QUICK) as place:
        piece = draft_of(tmp_path / "run") / UNFINISHED / "piece"
        piece.write_bytes(bytes(70_000))
        monkeypatch.setattr("penstock.storage.place.sealed", failing_once(full, sealed))
        files = {"flows.parquet": lambda to: to.write(piece.read_bytes())}
        with pytest.raises(StorageError, match=r"the disk is full: [7-9]\d,\d* B are needed"):
            place.put({"cancelled": False}, files)
    assert names(tmp_path) == set()


def test_a_full_disk_names_no_bytes_that_nobody_knows(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    words = "the disk is full; nothing was written there; make room"
    with pytest.raises(StorageError, match=words), whole_file(tmp_path / "capture"):
        raise full


def failing_once(error: OSError, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose first call fails."""
    left = [error]

    def call(*arguments: Any) -> Any:
        if left:
            raise left.pop()
        return function(*arguments)

    return call


def test_a_place_that_cannot_be_taken_keeps_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = OSError(errno.EBUSY, os.strerror(errno.EBUSY))
    monkeypatch.setattr("penstock.storage.place.Place._publish", failing_once(busy, id))
    with claim(tmp_path / "run", QUICK) as place:
        folder = draft_of(tmp_path / "run") / UNFINISHED
        (folder / "checkpoint.json").write_text("{}")
        with pytest.raises(StorageError, match=r"busy; nothing was written there; name another"):
            place.put({"cancelled": False}, {"flows.parquet": lambda to: to.write(b"1")})
    assert (folder / "checkpoint.json").exists()


def test_a_run_that_goes_on_is_not_resumed_and_its_directory_is_waited_for(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The checkpoint that a run still replaces looks damaged; here it is."""
    out, made = tmp_path / "run", run(QUICK)
    with claim(out, QUICK) as place:
        (draft_of(out) / UNFINISHED / CHECKPOINT_FILE).write_text("{}")
        for command in ("resume", "report", "watch", "export"):
            words = ["--csv", str(tmp_path / "csv")] if command == "export" else []
            assert main([command, str(out), *words]) == 2
            said = capsys.readouterr().err
            assert f"process {os.getpid()} on" in said and "is writing there; wait until" in said
        (draft_of(out) / UNFINISHED / CHECKPOINT_FILE).unlink()

        def end() -> None:
            made.save_at(place)
            place.release()

        threading.Timer(0.3, end).start()
        assert main(["resume", str(out)]) == 2
    assert f"the run is complete; see it with penstock report {out}" in capsys.readouterr().err


def test_a_run_that_was_killed_is_gone_on_with_whoever_wants_to_read_it(
    core: FakeCore, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with claim(out, QUICK):
        (draft_of(out) / UNFINISHED / CHECKPOINT_FILE).write_text("{}")
    for read in (Run.load, run_directories):
        with pytest.raises(ScenarioError, match=f"not end; go on with it: penstock resume {out}"):
            read(out)
        (tmp_path / "page.html").touch()
        with pytest.raises(ScenarioError, match="there is no complete run: this is a file; name a"):
            read(tmp_path / "page.html")
    assert main(["resume", str(tmp_path / "no" / "where")]) == 2
    assert not (tmp_path / "no").exists()


def test_a_mount_point_is_refused_before_the_work() -> None:
    with pytest.raises(ScenarioError, match="a file system is mounted there"):
        claim(Path("/proc"), QUICK)
