"""The table of starts: processor time of short commands, beside an empty start of Python.

The program that is started is Python itself, in a process of its own. Processor time is that of the
process and of the processes that it starts; another load disturbs it less than the time on the
clock.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from statistics import median

from table import Table
from timing import Bench, ratio

COMPLETION = {"_PENSTOCK_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
"""With these a shell asks for the fields of ``--set``."""
PENSTOCK = ("-m", "penstock")
COMMANDS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "penstock --version": ((*PENSTOCK, "--version"), {}),
    "penstock --help": ((*PENSTOCK, "--help"), {}),
    "a shell completes `--set topology.`": (
        PENSTOCK,
        {**COMPLETION, "COMP_WORDS": "penstock run --set topology."},
    ),
    "penstock run quickstart": ((*PENSTOCK, "run", "quickstart", "--force", "--out", "run"), {}),
}
"""What is started: the words behind Python, and what is set in the environment."""
COMPARE = "bfc,pfc,dctcp,hpcc,sfq,ideal-fq"
"""The schemes of `make demo`."""
REPORT = ("-m", "penstock", "report", "compare", "--force", "--out", "page.html")
PAGE = """
from pathlib import Path
from time import process_time
from penstock.cli import runs
from penstock.cli.report import load_runs, run_directories
from penstock.tables import FILES
found = load_runs(run_directories(Path("compare")))
for members in found.values():
    for table in FILES:
        getattr(members[0], table)
before = process_time()
runs.write_report(found, Path())
print(process_time() - before)
"""
"""What `penstock compare` does once its runs have ended: imports what the page needs, and writes
it. Prints the processor time [s]."""


def starts(bench: Bench) -> Table:
    """Short commands, and the report of six schemes, beside an empty start."""
    table = Table("starts", ("command", "CPU ms", "empty Python ms", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        schemes = ("--scheme", COMPARE, "--out", "compare")
        _seconds(folder, (*PENSTOCK, "compare", "quickstart", *schemes), {})
        every = {
            title: partial(_seconds, folder, words, environment)
            for title, (words, environment) in COMMANDS.items()
        }
        every["penstock report, of six schemes"] = partial(_seconds, folder, REPORT, {})
        every["of penstock compare, the report of six schemes"] = partial(_page_seconds, folder)
        for title, seconds in every.items():
            seconds()  # Python compiles what is imported, once
            ours, empty = [], []
            for _ in range(bench.repeats):
                ours.append(seconds())
                empty.append(_seconds(folder, ("-c", "pass"), {}))
            table.add(
                title,
                f"{median(ours) * 1e3:.0f}",
                f"{median(empty) * 1e3:.0f}",
                f"{ratio(ours, empty):.1f}",
            )
    return table


def _seconds(folder: str, words: tuple[str, ...], environment: dict[str, str]) -> float:
    """Processor time of Python with these words, started in a folder [s].

    Python may keep what it compiles, as it does for users.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(folder, words, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _page_seconds(folder: str) -> float:
    """Processor time of the report that `penstock compare` writes when its runs have ended [s]."""
    return float(_python(folder, ("-c", PAGE), {}))


def _python(folder: str, words: tuple[str, ...], environment: dict[str, str]) -> str:
    """Starts Python with these words in a folder; what it prints."""
    inherited = {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=inherited | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout
