"""The wheel, installed into an empty environment and used outside of the repository.

``make try-wheel`` builds the wheel and names it in ``PENSTOCK_WHEEL``. Without a wheel the tests
are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WHEEL = os.environ.get("PENSTOCK_WHEEL", "")

pytestmark = pytest.mark.skipif(not WHEEL, reason="no wheel is named (make try-wheel)")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an empty environment, into which only the wheel was installed."""
    environment = tmp_path_factory.mktemp("empty") / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run(
        [*pip, "--disable-pip-version-check", "--only-binary", ":all:", Path(WHEEL).resolve()],
        check=True,
        cwd=environment,
    )
    return environment / "bin"


def told(directory: Path, *words: str | Path) -> str:
    """What a program prints, in a directory, without anything of this checkout in its way."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
    done = subprocess.run(
        words, cwd=directory, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def test_the_package_comes_from_the_environment(programs: Path, tmp_path: Path) -> None:
    script = "import penstock._core as core; print(core.__file__, core.PROFILE)"
    place, profile = told(tmp_path, programs / "python", "-c", script).split()
    assert Path(place).is_relative_to(programs.parent)
    assert profile == "release"


def test_its_dependencies_are_whole(programs: Path, tmp_path: Path) -> None:
    told(tmp_path, programs / "python", "-m", "pip", "check")


def test_a_run_with_its_report(programs: Path, tmp_path: Path) -> None:
    told(tmp_path, programs / "penstock", "run", "quickstart", "--out", "first")
    assert "<html" in (tmp_path / "first" / "report.html").read_text()
    summary = json.loads((tmp_path / "first" / "summary.json").read_text())
    assert summary["flows_finished"] > 0
    assert summary["commit"] is None


def test_schemes_scenarios_and_experiments_are_in_it(programs: Path, tmp_path: Path) -> None:
    package = ROOT / "python" / "penstock"
    folders = {
        "schemes": package / "schemes",
        "scenarios": package / "scenarios",
        "experiments": package / "experiments" / "catalogue",
    }
    for kind, folder in folders.items():
        listed = json.loads(told(tmp_path, programs / "penstock", "list", kind, "--json"))
        names = {one["name"] for one in listed}
        files = {path.relative_to(folder).with_suffix("") for path in folder.rglob("*.toml")}
        assert {one.as_posix() for one in files} <= names


def test_the_doctor_finds_a_package_that_works(programs: Path, tmp_path: Path) -> None:
    answer = json.loads(told(tmp_path, programs / "penstock", "doctor", "--json"))
    assert answer["works"]
    missing = {one["name"] for one in answer["findings"] if one["state"] == "missing"}
    assert {"penstock[cluster]", "penstock[tune]"} <= missing
