"""Random scenarios through the commands: every run has its report, its page and its tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from swarm.draw import draw

from penstock.cli import main

SEED = 3
CASES = range(24)
"""Our choice: each kind of topology three times, in about 15 s."""


@pytest.mark.parametrize("number", CASES)
def test_every_command_makes_something_of_a_run(number: int, here: Path) -> None:
    scenario = draw(SEED, number).scenario
    text = scenario.model_copy(update={"seed": 2**64 - 1 - number}).to_toml()
    (here / "case.toml").write_text(text)
    assert main(["run", "case.toml", "--out", "run"]) == 0
    assert main(["report", "run", "--out", "report.html"]) == 0
    assert main(["watch", "run", "--out", "watch.html"]) == 0
    assert main(["export", "run", "--csv", "tables"]) == 0
    # Frames are those of a trace.
    is_traced = scenario.measure.trace is not None
    assert main(["export", "run", "--pcapng", "frames.pcapng"]) == (0 if is_traced else 2)
    for name in ("report.html", "watch.html", "tables/flows.csv"):
        assert (here / name).stat().st_size > 0
    assert (here / "frames.pcapng").exists() == is_traced
