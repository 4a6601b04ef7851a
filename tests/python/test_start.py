"""What is imported before anything is done: by --version, by the list of commands, by a shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.commands import COMMANDS

HEAVY = {
    "jinja2",
    "matplotlib",
    "numpy",
    "penstock.scenario.scenario",
    "polars",
    "scipy",
    "typer.rich_utils",
}
"""What takes tens of milliseconds of processor time and more to import."""

MODULES_MAX = 200
"""Modules that --version may import, those of Python included (our choice: a fifth above the 168
that it imports with Typer 0.29)."""

SCRIPT = """
import json, sys
before = set(sys.modules)
from penstock.cli import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(set(sys.modules) - before)]), file=sys.stderr)
"""


def imported_by(*words: str, **environment: str) -> set[str]:
    """The modules that a command line imports; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    return set(modules)


def test_the_version_needs_few_modules() -> None:
    modules = imported_by("--version")
    assert not modules & (HEAVY | {"rich", "pydantic", "penstock._core"})
    assert len(modules) <= MODULES_MAX


def test_the_list_of_commands_needs_no_more_than_its_words() -> None:
    modules = imported_by("--help")
    assert not modules & (HEAVY | {"rich", "penstock._core"})


@pytest.mark.parametrize("command", COMMANDS)
def test_a_shell_waits_for_no_heavy_module(command: str, here: Path) -> None:
    """Completing the options of a command imports its module, but not what the command runs."""
    script = (
        "import json, sys\n"
        "from penstock.cli import main\n"
        "code = main([])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    environment = {
        "_PENSTOCK_COMPLETE": "complete_bash",
        "COMP_WORDS": f"penstock {command} --",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    assert "--json" in done.stdout.split()
    assert not set(json.loads(done.stderr.splitlines()[-1])) & HEAVY


def test_an_interval_of_few_seeds_needs_two_functions_and_not_all_statistics() -> None:
    """Every table of repetitions has intervals; SciPy's statistics take half a second to import."""
    script = (
        "import sys\n"
        "from penstock.analysis.interval import mean_interval\n"
        "mean_interval([1.0, 2.0, 4.0], is_percentile=True)\n"
        "print('scipy.stats' in sys.modules)\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
