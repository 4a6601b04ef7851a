"""Estimates: near what a run takes, and a run too large for the machine is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_core import FakeCore

from penstock import Scenario, ScenarioError, estimate, run, run_many
from penstock.cli import main
from penstock.estimate import PROCESS_BYTES, available_bytes

ENDLESS = {
    "topology": {"kind": "single-switch", "hosts": 8},
    "traffic": [{"kind": "long-lived", "pairs": [[0, 4], [1, 5], [2, 6], [3, 6]]}],
    "duration": "500 us",
    "drain": "1 us",
}
UNFINISHED = ENDLESS | {
    "traffic": [
        {"kind": "listed", "flows": [[host, (host + 1) % 8, "1 GB", "0 ns"] for host in range(8)]}
    ]
}
SCENARIOS = {
    "open loop": Scenario.from_name("quickstart"),
    "leaf-spine": Scenario.from_name("bfc-google-60", {"duration": "100 us"}),
    "incast": Scenario.from_name("incast"),
    "endless": Scenario.model_validate(ENDLESS),
    "unfinished": Scenario.model_validate(UNFINISHED),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_packet_hops_are_foreseen_to_a_third(name: str) -> None:
    """An incast's losses and pauses, and how endless flows share a core, are not foreseen."""
    made = run(SCENARIOS[name].with_overrides({"scheme": "dctcp"}))
    foreseen = estimate.estimate(made.scenario).packet_hops
    assert 0.67 < foreseen / made.summary["packet_hops"] < 1.5


def test_show_names_the_fullest_link_and_too_little_headroom(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def shown(*words: str) -> str:
        assert main(["show", *words]) == 0
        return capsys.readouterr().out

    # The core is loaded with 55 % in all directions, and with 5 % by incasts.
    found = re.search(r"Load  T0->S0 \(ToR-spine\) carries (\S+) % of its rate", shown("bfc-demo"))
    assert found and 55 < float(found[1]) < 60.5
    pfc = ("bfc-demo", "--scheme", "pfc")
    assert "PFC can drop" not in shown(*pfc)
    short = (*pfc, "--set", "topology.host_delay=15 ns")
    assert "PFC can drop  the headroom of 128 of 256 links is less than what comes" in shown(*short)
    lossless = ("--set", "scheme.switch.admission.ingress.headroom={ kind = 'lossless' }")
    assert "PFC can drop" not in shown(*short, *lossless)
    # Bursts are no load.
    file = tmp_path / "burst.toml"
    file.write_text(Scenario.model_validate(UNFINISHED | {"scheme": "dctcp"}).to_toml(), "utf-8")
    assert "Load" not in shown(str(file))


MEASURE = """
import sys
from pathlib import Path
from penstock import Scenario, _core

def memory(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))

scenario = Scenario.from_toml(sys.argv[1]).to_json()
Path("/proc/self/clear_refs").write_text("5")  # the peak begins again
before = memory("VmRSS")
_core.run(scenario)
print(memory("VmHWM") - before)
"""


def _foreseen_over_measured(scenario: Scenario, folder: Path) -> float:
    """The memory of a run, without the process: foreseen over measured."""
    (folder / "large.toml").write_text(scenario.to_toml())
    command = [sys.executable, "-c", MEASURE, str(folder / "large.toml")]
    measured = int(subprocess.check_output(command, text=True))
    return (estimate.estimate(scenario).memory_bytes - PROCESS_BYTES) / measured


@pytest.mark.parametrize("scheme", ["bfc-128", "bfc-credits", "fafc"])
def test_the_memory_of_a_network_is_foreseen_to_a_half(scheme: str, tmp_path: Path) -> None:
    """A port has queues once it has sent a packet, so every host sends across the network."""
    sizes = {"topology.racks": 128, "topology.hosts_per_rack": 32, "topology.spines": 16}
    short = {"duration": "10 us", "drain": "1 ns", "measure.sample_interval": 0}
    pairs = [[host, (host + 32) % 4096] for host in range(4096)]
    traffic = {"traffic": [{"kind": "long-lived", "pairs": pairs}]}
    scenario = Scenario.from_name("bfc-google-60", {"scheme": scheme, **sizes, **short, **traffic})
    assert 0.5 < _foreseen_over_measured(scenario, tmp_path) < 2


@pytest.mark.parametrize("scheme", ["bfc", "tcp"])
def test_the_memory_of_open_flows_is_foreseen_to_a_half(scheme: str, tmp_path: Path) -> None:
    """The traffic ends after about a round trip, so nearly all flows are open at once."""
    servers = {"kind": "rail", "servers": 128, "gpus": 8}
    sizes = {"kind": "open-loop", "load": 0.6, "sizes": "google"}
    short = {"duration": "10 us", "drain": "1 us", "measure.sample_interval": 0}
    keys = {"scheme": scheme, "topology": servers, "traffic": [sizes], **short}
    scenario = Scenario.from_name("quickstart", keys)
    assert 0.5 < _foreseen_over_measured(scenario, tmp_path) < 2


ONE = [{"kind": "listed", "flows": [[0, 1, 1000, 0]]}]
MILLION = {"kind": "leaf-spine", "racks": 2_000, "hosts_per_rack": 500, "spines": 1}
LARGE: dict[str, tuple[dict[str, Any], str]] = {
    "hosts": ({"topology": MILLION}, "topology"),
    "samples": (
        {"duration": "10 s", "traffic": ONE, "measure.sample_interval": "100 ns"},
        "measure.sample_interval",
    ),
    "flows": ({"duration": "50 s"}, "traffic"),
    "trace": ({"duration": "10 ms", "measure.trace": {"nodes": []}}, "measure.trace"),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_does_not_fit_is_refused_by_the_field_that_decides(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    overrides, field = LARGE[name]
    monkeypatch.setattr(estimate, "available_bytes", lambda: 5e8)
    large = Scenario.from_name("quickstart", overrides)
    with pytest.raises(ScenarioError, match=rf"^{field}: the run needs about .* 500 MB are free"):
        run(large)
    with pytest.raises(ScenarioError, match="--force"):
        run_many({"one": large})
    assert core.scenarios == []
    run(large, oversize=True)
    assert len(core.scenarios) == 1


def test_runs_side_by_side_are_counted_together() -> None:
    one = estimate.estimate(SCENARIOS["leaf-spine"])
    both = estimate.together([one, one, one], 2)
    assert both.memory_bytes - PROCESS_BYTES == pytest.approx(
        2 * (one.memory_bytes - PROCESS_BYTES)
    )
    assert both.packet_hops == 3 * one.packet_hops
    assert both.seconds == pytest.approx(1.5 * one.seconds)


def test_commands_say_the_estimate(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "bfc-demo"]) == 0
    assert "2.4·10⁷ packet-hops" in capsys.readouterr().out
    assert main(["run", "quickstart", "--set", "duration=20 us"]) == 0
    assert "estimate: about 1" in capsys.readouterr().err
    assert main(["run", "quickstart", "--set", "duration=50 s"]) == 2
    assert "--force" in capsys.readouterr().err


def test_the_memory_of_this_machine_is_known() -> None:
    assert 1e8 < available_bytes() < 1e14
