"""Bad inputs by the thousand: every reader accepts them, or refuses them in the package's words.

The fuzzer is a command of its own, for more inputs and other seeds: ``tests/python/fuzz/run.py``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

RUN = Path(__file__).parent / "fuzz" / "run.py"
INPUTS = 20_000
"""Mutations of all readers together; the named inputs come on top."""
GROUPS = (
    ("scenario", "sizes", "pfc", "graph"),
    ("trace csv", "set twice", "hpcc flows", "trace option"),
    ("experiment", "trace hpcc", "hpcc config", "fct", "scenario name"),
    ("set", "trace htsim", "hpcc topology", "experiment name", "run directory"),
)
"""Readers that share a process, which takes a while to start; the groups take about as long."""


def test_every_reader_is_in_a_group() -> None:
    names = re.findall(r'^    Reader\(\s*"([^"]+)"', (RUN.parent / "readers.py").read_text(), re.M)
    assert sorted(names) == sorted(name for group in GROUPS for name in group)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_no_input_breaks_a_reader(group: tuple[str, ...]) -> None:
    """Nothing but refusals that can be shown, none after 5 s, none above 1 GiB."""
    inputs = f"--inputs={INPUTS // len(GROUPS)}"
    command = [sys.executable, str(RUN), "--here", "--quick", inputs, "--seed=1"]
    chosen = [f"--reader={name}" for name in group]
    done = subprocess.run([*command, *chosen], stdout=subprocess.PIPE, check=True)
    results = json.loads(done.stdout)
    assert {one["reader"]: one["failures"] for one in results} == {name: {} for name in group}
    for one in results:
        assert one["outcomes"]["refused"] > one["outcomes"]["accepted"] > 0
    assert sum(sum(one["outcomes"].values()) for one in results) >= INPUTS // len(GROUPS)
