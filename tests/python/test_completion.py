"""What a shell offers: names and fields, and that Penstock accepts what is offered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli import completion
from penstock.cli.description import describe
from penstock.experiments import catalogue
from penstock.scenario import preset_names, scenario_names
from penstock.scenario.parts import ScenarioParts


def offered(*words: str) -> list[str]:
    """What bash is told when the last of the words is being typed."""
    line = " ".join(["penstock", *words])
    environment = {
        "_PENSTOCK_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "penstock"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    return done.stdout.split()


def test_every_built_in_name_is_offered(here: Path) -> None:
    assert completion.schemes("") == preset_names()
    assert completion.scenarios("") == scenario_names()
    assert set(completion.experiments("")) == set(catalogue.identifiers())


def test_files_of_ones_own_are_offered(here: Path) -> None:
    for folder in ("schemes", "scenarios", "experiments"):
        (here / folder).mkdir()
        (here / folder / "zz-mine.toml").write_text("")
    assert completion.schemes("zz") == ["zz-mine"]
    assert completion.scenarios("zz") == ["zz-mine"]
    assert completion.experiments("zz") == ["zz-mine"]
    assert "scenarios/zz-mine.toml" in completion.scenarios("scenarios/z")


def test_the_last_name_of_a_list_is_completed(here: Path) -> None:
    found = completion.scheme_list("bfc,dctcp,bfc-e")
    assert found == ["bfc,dctcp,bfc-epochs"]
    assert "bfc,bfc" not in completion.scheme_list("bfc,b")


@pytest.mark.parametrize("start", ["l", "google", "bfc/fig1", "quick", "clos"])
def test_what_show_is_offered_it_shows(start: str, here: Path) -> None:
    found = completion.anything(start)
    assert found
    assert all(describe(name) for name in found[:3])


def test_a_path_is_offered_step_by_step() -> None:
    assert "topology." in completion.settings("topo")
    assert "topology.racks=" in completion.settings("topology.ra")
    assert "traffic[0]." in completion.settings("tra")
    assert "traffic.background.load=" in completion.settings("traffic.background.lo")
    assert completion.settings("load") == ["load="]
    assert completion.settings("scheme.switch.assignment.que") == [
        "scheme.switch.assignment.queues="
    ]
    assert completion.settings("load=0.") == completion.settings("nothing.") == []


def test_every_offered_field_of_the_top_is_one() -> None:
    fields = set(ScenarioParts.model_fields) | {"load"}
    for one in completion.settings(""):
        assert one.rstrip("=.").removesuffix("[0]") in fields, one


def test_a_shell_gets_them(here: Path) -> None:
    assert offered("run", "quick") == ["quickstart"]
    assert offered("run", "quickstart", "--scheme", "expressp") == [
        "expresspass",
        "expresspass-paper",
    ]
    assert offered("compare", "--set", "topology.rac") == ["topology.racks="]
    assert offered("reproduce", "pcn/fig1")[:2] == ["pcn/fig10", "pcn/fig11"]
    assert "doctor" in offered("doc")
