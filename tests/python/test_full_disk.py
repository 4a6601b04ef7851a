"""A full disk: the earlier run stays readable, the message says what is missing, no traceback.

The disk is a small file system in memory, mounted in name spaces that the test makes itself; where
the system forbids that, the tests are skipped and say so.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SIZES_KB = [40, 80, 320, 640]
"""Sizes of the disk; a run of `COMMAND` takes about 100 KB, its report 400 KB."""

SCRIPT = """
import json, shutil, sys
from pathlib import Path
from penstock import Run, ScenarioError
from penstock.cli import main

disk, earlier, scenario = Path(sys.argv[1]), sys.argv[2] == "earlier", sys.argv[3]
target = disk / "run"
if earlier:
    shutil.copytree(sys.argv[4], target)
before = Run.load(target).summary["wall_seconds"] if earlier else None
code = main(["run", scenario, "--out", str(target)])
try:
    kept = Run.load(target)
    flows = [kept.flows.height, kept.summary["wall_seconds"] == before]
except ScenarioError as error:
    flows = None
names = sorted(path.name for path in disk.rglob("*"))
print(json.dumps({"code": code, "flows": flows, "names": names}))
"""


def in_small_disk(disk: Path, size_kb: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with a file system of a size mounted at `disk`."""
    mount = f'mount -t tmpfs -o size={size_kb}k tmpfs "$0" && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk)]
    return subprocess.run(
        [*command, sys.executable, *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario file, and beside it a run of it."""
    probe = in_small_disk(tmp_path_factory.mktemp("probe"), 40, "-c", "print(1)")
    if probe.returncode:
        pytest.skip(f"no file system can be mounted here: {probe.stderr.strip()}")
    from penstock import Scenario, run

    directory = tmp_path_factory.mktemp("earlier")
    scenario = Scenario.from_name("quickstart", {"duration": "60 us"})
    (directory / "mine.toml").write_text(scenario.to_toml())
    run(Scenario.load(directory / "mine.toml")).save(directory / "run")
    return directory


@pytest.mark.parametrize("size_kb", SIZES_KB)
@pytest.mark.parametrize("kind", ["none", "earlier"])
def test_a_full_disk_leaves_the_earlier_run(
    earlier: Path, tmp_path: Path, size_kb: int, kind: str
) -> None:
    """The disk has so much room, beside an earlier run where there is one."""
    run_kb = sum(path.stat().st_size // 1024 + 4 for path in (earlier / "run").iterdir())
    size = size_kb + (run_kb if kind == "earlier" else 0)
    arguments = [str(tmp_path), kind, str(earlier / "mine.toml"), str(earlier / "run")]
    ended = in_small_disk(tmp_path, size, "-c", SCRIPT, *arguments)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert [name for name in found["names"] if name.startswith(".")] == []
    if found["code"] == 0:
        assert "report.html" in found["names"]
        return
    assert found["code"] == 1
    assert "the disk is full" in ended.stderr
    assert "B are needed" in ended.stderr
    if "the runs are kept" in ended.stderr:  # the report alone did not fit
        assert found["flows"][0] > 0
    else:
        assert "B are missing" in ended.stderr
        assert (found["flows"] is not None) == (kind == "earlier")
        assert found["flows"] is None or found["flows"][1]


def test_disks_of_these_sizes_fail_in_different_ways(earlier: Path, tmp_path: Path) -> None:
    """The smallest takes no run, the largest takes the run and its report."""
    codes = []
    for size_kb in (SIZES_KB[0], SIZES_KB[-1]):
        arguments = [str(tmp_path), "none", str(earlier / "mine.toml"), ""]
        ended = in_small_disk(tmp_path, size_kb, "-c", SCRIPT, *arguments)
        codes.append(json.loads(ended.stdout.splitlines()[-1])["code"])
    assert codes == [1, 0]
