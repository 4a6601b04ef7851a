"""The lessons: their commands run, and the numbers in their answers are those of the runs."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock import Scenario, report, run
from penstock.analysis.deadlock import dependencies
from penstock.cli import main
from penstock.results import Run

LESSONS = Path(__file__).resolve().parents[2] / "docs" / "lessons"
PAGES = sorted(path.stem for path in LESSONS.glob("*.md") if path.stem != "README")


def text_of(page: str) -> str:
    """A page's text in one line, so that numbers are found across lines."""
    return " ".join((LESSONS / f"{page}.md").read_text().split())


def made(name: str, **changes: Any) -> Run:
    return run(Scenario.from_name(name, changes))


def slowdown(found: Run, label: str, flow: int | None = None) -> float:
    """Mean slowdown of the flows of a label, or of one flow."""
    number = found.summary["labels"].index(label)
    chosen = pl.col("label") == number if flow is None else pl.col("flow") == flow
    flows = found.flows.filter(chosen)
    assert flows["finished"].all()
    return float(flows["slowdown"].to_numpy().mean())


def microseconds(found: Run, flow: int, column: str = "fct_ns") -> str:
    return (
        f"{found.flows.row(by_predicate=pl.col('flow') == flow, named=True)[column] / 1e3:.1f} µs"
    )


def test_every_lesson_is_listed_and_has_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    listed = re.findall(r"\]\(([\w-]+)\.md\)", (LESSONS / "README.md").read_text())
    assert sorted(listed) == PAGES
    assert main(["list", "scenarios"]) == 0
    shown = capsys.readouterr().out
    for page in PAGES:
        name = re.findall(r"penstock run (lesson-[\w-]+)", text_of(page))[0]
        assert name in shown


@pytest.fixture
def without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write no report: reports have tests of their own, and take most of the time."""

    def write(runs: Any, path: Path, **settings: Any) -> Path:
        return path

    monkeypatch.setattr(report, "write", write)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_lesson_run(page: str, here: Path, without_report: None) -> None:
    block = re.search(r"```sh\n(.*?)```", (LESSONS / f"{page}.md").read_text(), re.DOTALL)
    assert block is not None
    for line in block[1].splitlines():
        words = shlex.split(line)[1:]
        if words[0] == "compare":  # the schemes are run below; here one is enough
            words[words.index("--scheme") + 1] = "bfc"
        assert main(words) == 0, line
        if "--watch" in words:
            assert Path(words[words.index("--out") + 1], "watch.html").is_file()


def test_pfc_holds_up_a_flow_whose_path_is_free() -> None:
    found, text = made("lesson-head-of-line"), text_of("head-of-line")
    assert f"takes {microseconds(found, 4)}, alone {microseconds(found, 4, 'ideal_fct_ns')}" in text
    assert f"a slowdown of {slowdown(found, 'victim'):.2f}." in text
    assert f"four senders have {slowdown(found, 'incast'):.2f}." in text


def test_bfc_does_not() -> None:
    found, text = made("lesson-backpressure"), text_of("backpressure")
    under_pfc = made("lesson-head-of-line")
    assert (
        found.flows.select("src", "dst", "size_bytes", "start_ns")
        .sort("src")
        .equals(under_pfc.flows.select("src", "dst", "size_bytes", "start_ns").sort("src"))
    )
    assert f"takes {microseconds(found, 4)}" in text
    victim = f"{slowdown(found, 'victim'):.2f}, against {slowdown(under_pfc, 'victim'):.2f}"
    incast = f"{slowdown(found, 'incast'):.2f}, against {slowdown(under_pfc, 'incast'):.2f}"
    assert victim in text
    assert incast in text
    stored = [max(one.summary["buffer_peak_bytes"]) for one in (found, under_pfc)]
    assert stored[0] < stored[1]


def test_an_abandoned_pause_holds_a_new_flow_and_the_remedies_do_not() -> None:
    text = text_of("abandoned-pause")
    found = made("lesson-abandoned-pause")
    held = slowdown(found, "later", flow=12)
    assert f"takes {microseconds(found, 12)}, and has a slowdown of {held:.2f}" in text
    assert f"has {slowdown(found, 'later', flow=11):.2f}" in text
    assert held > 2
    for scheme in ("bfc-avoid", "bfc-grace", "bfc-live", "bfc-epochs"):
        cured = made("lesson-abandoned-pause", **{"scheme": scheme, "scheme.host.nic.queues": 3})
        assert slowdown(cured, "later") < 1.005
    assert slowdown(made("lesson-abandoned-pause", scheme="bfc"), "later") < 1.005


def test_a_ring_deadlocks_unless_some_pauses_are_left_out() -> None:
    text = text_of("deadlock")
    found = made("lesson-deadlock")
    names = found.summary["node_names"]
    nodes = [names[node] for node in found.summary["deadlock"]["nodes"]]
    for a, b in pairwise(nodes):
        assert f"`{a}→{b}`" in text
    assert found.summary["sim_end_ps"] == 84_000_000
    assert found.summary["flows_finished"] == 0
    elided = [list(turn.nodes) for turn in dependencies(found.scenario).elided]
    assert str(elided).replace(" ", "") in text
    cured = made("lesson-deadlock", **{"scheme.switch.backpressure.elide": elided})
    assert f"mean slowdown of {slowdown(cured, 'next but one'):.2f}." in text
    usual = made("lesson-deadlock", scheme="bfc")
    assert f"finishes with {slowdown(usual, 'next but one'):.2f} and" in text


def test_rounds_let_a_short_flow_pass() -> None:
    text = text_of("rounds")
    found, plain = made("lesson-rounds"), made("lesson-rounds", scheme="tcp")
    for one, digits in ((found, 2), (plain, 1)):
        took = microseconds(one, 2)
        assert took in text
        assert f"a slowdown of {slowdown(one, 'short'):.{digits}f}." in text
    lost = f"{slowdown(found, 'long'):.2f}, and {slowdown(plain, 'long'):.2f} with TCP"
    assert lost in text


def test_notifications_slow_the_incast_and_not_the_victim() -> None:
    text = text_of("notifications")
    series = [[0, 7], [4, 7]]
    found = made("lesson-cnp", **{"measure.series": series})
    sender, victim = (
        found.series.filter(pl.col("link") == 2 * host).sort("time_ns") for host in (0, 4)
    )
    slower = sender.filter(pl.col("allowed_bps") < 100_000_000_000).row(0, named=True)
    assert f"At {slower['time_ns'] / 1e3:.0f} µs the rate falls" in text
    assert f"from 100 to {slower['allowed_bps'] / 1e9:.1f} Gb/s" in text
    first = victim.filter(pl.col("allowed_bps") < 100_000_000_000).row(0, named=True)
    assert f"Not before {first['time_ns'] / 1e3:,.0f} µs" in text
    assert found.summary["pfc_pauses"] > 0
    assert f"the victim has a slowdown of {slowdown(found, 'victim'):.2f}" in text
    assert f"The incast has {slowdown(found, 'incast'):.2f}" in text
    dcqcn = made("lesson-cnp", scheme="dcqcn")
    assert dcqcn.summary["pfc_pauses"] == 0
    assert f"their slowdown is {slowdown(dcqcn, 'incast'):.2f}" in text
    assert f"The victim has {slowdown(dcqcn, 'victim'):.2f}" in text


@pytest.mark.parametrize("scheme", ["bfc", "pfc", "dctcp", "hpcc", "dcqcn", "ideal-fq"])
def test_the_incast_costs_what_its_table_says(scheme: str) -> None:
    found = made("lesson-incast", scheme=scheme)
    shown = [f"{slowdown(found, label):.2f}" for label in ("bystanders", "incast")]
    assert f"| `{scheme}` | {shown[0]} | {shown[1]} |" in text_of("incast")
    assert (found.summary["pfc_pauses"] > 0) == (scheme in ("pfc", "dcqcn"))
