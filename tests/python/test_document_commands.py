"""The commands of the documents run, page by page, in the order in which a reader would enter them.

What takes minutes runs in a short form (`SHORT`). What a test cannot run here, such as a command
for another machine, is named in `ELSEWHERE` with what runs it instead.
"""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from test_documents import BLOCK, DOCUMENTS, ROOT
from test_emulation import REASON

from penstock.cli import main
from penstock.experiments import catalogue

pytestmark = pytest.mark.slow

SAVED = re.compile(r"Save this as\s+`([^`]+)`:$")
"""The end of a text whose next block is a file."""

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in DOCUMENTS
    if path.parent.name != "lessons"  # tests/python/test_lessons.py runs them
    and re.search(r"^```sh\n", path.read_text(), re.MULTILINE)
)

SHORT = {
    "penstock emulate ": ["--force"],  # other tests take the time in which frames would be carried
    "penstock compare ai-fabric": ["--set", "traffic.all-to-all.bytes=200kB"],
    "penstock run clos-8192": ["--set", "duration=1us"],
    "penstock tune storage-fabric": ["--set", "duration=300us", "--trials", "6", "--seeds", "1..2"],
    "penstock run runs/storage/best.toml": ["--set", "duration=300us"],
    "penstock sweep runs/storage/best.toml": ["--set", "duration=300us"],
}
"""The beginning of a command: what is added to it, so that it takes seconds, also beside others."""

CHEAPER = {"bfc/fig10": "bfc/fig2", "bfc/table1": "bfc/fig7", "'pcn/*'": "'pcn/fig10*'"}
"""Experiments that take minutes: those that a test runs in the same way."""

ELSEWHERE = {
    "make ": ".ci/run",
    "cargo bench": "crates/penstock-fabric/benches",
    "cargo run --release -- ": "crates/penstock-wire/fuzz",
    "cd crates/penstock-wire/fuzz": "crates/penstock-wire/fuzz",
    ".venv/bin/mkdocs serve": "tests/python/test_site.py",
    ".venv/bin/penstock run quickstart": "tests/python/test_start.py",
    "pip install": "tests/python/test_wheel.py",
    "~/penstock/bin/": "tests/python/test_wheel.py",
    "python3 -m venv": "tests/python/test_wheel.py",
    "source ": "tests/python/test_wheel.py",
    "penstock --install-completion": "tests/python/test_completion.py",
    "penstock reproduce --all": "tests/python/test_campaign.py",
    "penstock resume runs/long": "tests/python/test_checkpoint.py",
    "dask worker tcp://10.0.0.1:8786": "tests/python/test_cluster.py",
    "penstock emulate quickstart --scale-time 10000 --watch": "tests/python/test_emulation.py",
    "wireshark ": "tests/python/test_wireshark.py",
}
"""The beginning of a command that is not run here: the file that has what stands for it."""

SLURM = "--cluster slurm"
"""In a command that needs Slurm, which tests/slurm/run.sh tries."""

LEFT: dict[str, Callable[[], bool]] = {
    "docs/export.md": lambda: (
        Path("runs/traced-csv/columns.csv").is_file()
        and Path("runs/traced-s0.pcapng").stat().st_size > 1_000_000
    ),
    "docs/simai.md": lambda: len(list(Path("runs").glob("gpt-32-*/steps.parquet"))) == 1,
    "docs/sweep.md": lambda: len(list(Path("runs/loads/cells").rglob("cell.parquet"))) == 18,
    "docs/tune.md": lambda: Path("runs/storage-again/table.csv").is_file(),
    "docs/watch.md": lambda: Path("runs/seen/watch.html").is_file(),
    "docs/why-slow.md": lambda: "paused T" in Path("runs/why/report.html").read_text("utf-8"),
}
"""A page: whether its commands have left what they should. Those of tutorials leave a report."""

WHOLE_PAGES = {"docs/adding-a-policy.md": "tests/python/test_adding_a_policy.py"}
"""Pages that another test follows, step by step."""


def lines_of(text: str) -> list[str]:
    """The commands of a block, without comments; one that is continued is one line."""
    whole = text.replace("\\\n", " ").splitlines()
    return [line for one in whole if (line := re.sub(r"(^|\s)#.*", "", one).strip())]


def elsewhere(line: str) -> str | None:
    """The file that has what stands for a command; none for a command that is run here."""
    if SLURM in line:
        return "tests/slurm/run.sh"
    return next((file for begin, file in ELSEWHERE.items() if line.startswith(begin)), None)


def programs(line: str) -> list[str]:
    """The programs that the hosts of a command run."""
    return re.findall(r"--program '?\w+:?=(?:sh -c \"sleep 1; )?([\w-]+)", line)


@contextmanager
def in_the_background(line: str) -> Iterator[None]:
    """A part of a cluster, for as long as a page is followed."""
    _, part, *options = shlex.split(line)
    words = [sys.executable, "-m", f"distributed.cli.dask_{part}", *options]
    if part == "scheduler":
        words += ["--no-dashboard"]
    with Path("dask.log").open("ab") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        if part == "scheduler":
            _wait_until_it_listens(options)
        yield
    finally:
        process.terminate()
        process.wait()


def _wait_until_it_listens(options: list[str]) -> None:
    """A reader enters the next command when a scheduler has said where it listens."""
    words = dict(zip(options[::2], options[1::2], strict=True))
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            return socket.create_connection((words["--host"], int(words["--port"]))).close()
        except ConnectionRefusedError:
            time.sleep(0.1)
    pytest.fail(f"nothing listens at {words}: {Path('dask.log').read_text()}")


def test_what_runs_elsewhere_is_there() -> None:
    for file in [*ELSEWHERE.values(), *WHOLE_PAGES.values(), "tests/slurm/run.sh"]:
        assert (ROOT / file).exists(), file
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in PAGES:
        for line in re.findall(r"^make ([a-z-]+)", (ROOT / page).read_text(), re.MULTILINE):
            assert line in targets, f"{page}: make {line}"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WHOLE_PAGES])
def test_the_commands_of_a_page_run(page: str, here: Path) -> None:
    """Files are saved where the page says so, then each command runs."""
    _beforehand(page)
    text = (ROOT / page).read_text()
    end = 0
    with ExitStack() as stack:
        for found in BLOCK.finditer(text):
            told, end = text[end : found.start()], found.end()
            if found[1] != "sh":
                if saved := SAVED.search(told.rstrip()):
                    assert not Path(saved[1]).exists(), f"{saved[1]} is another file by now"
                    Path(saved[1]).parent.mkdir(parents=True, exist_ok=True)
                    Path(saved[1]).write_text(found[2])
                continue
            for line in lines_of(found[2]):
                _follow(line, stack)
    assert page not in LEFT or LEFT[page]()
    assert "/tutorials/" not in page or list(Path("runs").rglob("report.html"))


def _follow(line: str, stack: ExitStack) -> None:
    """Runs one command, in its short form if it has one."""
    if elsewhere(line):
        return
    if line.startswith("dask "):
        stack.enter_context(in_the_background(line))
        return
    if not line.startswith("penstock "):
        subprocess.run(line, shell=True, check=True)
        return
    if line.startswith("penstock emulate ") and REASON:
        pytest.skip(f"no namespaces: {REASON}")
    if missing := [one for one in programs(line) if shutil.which(one) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    for dear, cheap in CHEAPER.items():
        line = line.replace(dear, cheap)
    more = next((words for begin, words in SHORT.items() if line.startswith(begin)), [])
    words = shlex.split(line)[1:]
    for option in {*more[::2]} & {*words} - {"--set"}:
        place = words.index(option)
        del words[place : place + 2]
    try:
        code = main([*words, *more])
    except SystemExit as stop:
        code = stop.code
    assert not code, line


def _beforehand(page: str) -> None:
    """What a page takes for granted: files of a user, or a run of an earlier page."""
    if page == "docs/guide.md":
        _an_hpcc_simulation(Path("mix"))
        Path("experiments").mkdir()
        own = (catalogue.DIRECTORY / "bfc" / "fig2.toml").read_text()
        Path("experiments/load.toml").write_text(own.replace('id = "bfc/fig2"', 'id = "own/load"'))
    if page == "docs/reading-a-report.md":
        assert main(["compare", "quickstart", "--scheme", "bfc,dctcp", "--out", "runs/try"]) == 0


def _an_hpcc_simulation(folder: Path) -> None:
    """A run of the ns-3 HPCC simulator, under the names that it uses itself."""
    data = ROOT / "tests" / "data" / "ns3-hpcc"
    config = (data / "micro" / "hpcc__micro_2to1.txt").read_text()
    names = {"../topo_bfc.txt": "topology.txt", "FILE micro_2to1.txt": "FILE flow.txt"}
    for theirs, ours in names.items():
        config = config.replace(theirs, ours)
    folder.mkdir()
    (folder / "config.txt").write_text(config)
    shutil.copy(data / "topo_bfc.txt", folder / "topology.txt")
    shutil.copy(data / "micro" / "micro_2to1.txt", folder / "flow.txt")
    shutil.copy(data / "micro" / "fct_hpcc__micro_2to1.txt", folder / "fct.txt")
    (folder / "pfc.txt").write_text("")  # nothing paused
