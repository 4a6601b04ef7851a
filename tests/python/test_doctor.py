"""What `penstock doctor` finds, and what it says to do about what is missing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from penstock import _core, doctor, estimate
from penstock.cli import main
from penstock.errors import SimulationError


def fake_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    found = doctor.Finding("Network namespaces", "missing", "forbidden", "emulate", "allow them")
    monkeypatch.setattr(doctor, "namespaces", lambda: found)


def test_everything_missing_has_a_remedy_and_is_no_failure(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_namespaces(monkeypatch)
    monkeypatch.setenv("PATH", str(here))
    monkeypatch.setattr(doctor, "EXTRAS", dict.fromkeys(doctor.EXTRAS, ("no_such_module",)))
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    findings = {one["name"]: one for one in answer["findings"]}
    assert answer["works"] is True
    assert {"tshark", "Browser", "penstock[cluster]", "penstock[tune]"} <= {
        name for name, one in findings.items() if one["state"] == "missing"
    }
    assert all(one["remedy"] for one in findings.values() if one["state"] != "ok")


def test_the_table_names_what_is_missing_and_the_remedy(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_namespaces(monkeypatch)
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "Network namespaces: allow them" in shown
    assert "Compiled core" in shown


def test_a_broken_core_ends_with_1(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_namespaces(monkeypatch)

    def broken(scenario: str) -> None:
        raise ImportError("undefined symbol")

    monkeypatch.setattr(_core, "validate", broken)
    assert main(["doctor", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert not answer["works"]
    [core] = [one for one in answer["findings"] if one["state"] == "broken"]
    assert core["found"] == "undefined symbol"
    assert "pip install" in core["remedy"]


def test_the_profile_of_the_core_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.extension().found.startswith(f"profile {_core.PROFILE}")
    monkeypatch.setattr(_core, "PROFILE", "policy")
    slow = doctor.extension()
    assert slow.state == "ok"
    assert "slower" in slow.found
    assert slow.remedy


def test_processors_are_unknown_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> int:
        raise ImportError

    monkeypatch.setattr(doctor, "processor_count", absent)
    assert doctor.processors().state == "broken"


def test_processors_memory_and_disk(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.processors().found.split()[0] == str(_core.processors())
    monkeypatch.setattr(estimate, "available_bytes", lambda: 1e6)
    assert doctor.memory().state == "missing"
    monkeypatch.setattr(estimate, "available_bytes", lambda: 1e12)
    assert doctor.memory() == doctor.Finding("Free memory", "ok", "1 TB", "large networks")
    monkeypatch.setattr(doctor, "DISK_MIN", 1e30)
    assert doctor.disk(here).state == "missing"
    monkeypatch.setattr(doctor, "DISK_MIN", 1)
    assert doctor.disk(here).state == "ok"


def test_a_device_that_is_not_there(here: Path) -> None:
    found = doctor.tun(here / "tun")
    assert found.state == "missing"
    assert "modprobe" in found.remedy


def test_why_namespaces_are_forbidden_is_said() -> None:
    def emulate(*scenario: Any, **settings: Any) -> None:
        raise SimulationError("this process may not make namespaces: the limit is 0; raise it")

    found = doctor.namespaces(emulate)
    assert found.state == "missing"
    assert found.found == "this process may not make namespaces: the limit is 0"
    assert found.remedy == "raise it"


def test_namespaces_are_tried() -> None:
    """Both answers are right, but one of them must come from a try, with its remedy."""
    found = doctor.namespaces()
    if "PENSTOCK_REQUIRE_NAMESPACES" in os.environ:
        assert found.state == "ok"
    assert (found.state == "ok") == (not found.remedy)
