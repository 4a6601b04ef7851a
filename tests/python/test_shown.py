"""From a claim to the figure that shows it: the same metric, flows and points."""

from __future__ import annotations

import pytest

from penstock.experiments.catalogue import load
from penstock.experiments.shown import figure_of_claim

SHOWN = {
    ("bfc/fig24", "Labelled, short flows"): "short",
    ("bfc/fig24", "Labelled, long flows"): "long",
    ("bfc/fig24", "Labelled incast flows"): "incast",
    ("afq/fig17", "With 4 queues"): "queues",
    ("afq/fig17", "TCP is faster over AFQ"): "hosts",
    ("afq/fig17", "A sketch of 2x1024"): "sketches",
    ("afq/fig8", "DCTCP's short flows take"): "short-flows",
    ("afq/fig8", "At 10 % load SFQ's mean"): "all-flows",
    ("afq/fig16", "With 512 KB of memory AFQ's unfairness"): "memory",
    ("bfc/fig21", "Higher marking thresholds"): "dctcp",
    ("bfc/fig28", "A quarter hurts less"): "short",
    ("bfc/fig28", "Long flows hardly notice"): "slowdown",
    ("bfc/fig11", "Without incast HPCC"): "slowdown-without-incast",
    ("fafc/fig3", "FAFC pauses every link"): "fafc",
    ("beyond/credits", "Without credits BFC with 32 queues drops"): "drops",
    ("pcn/fluid", "40 periods after the last flow"): "joining",
    ("pcn/fluid", "The same at 40 Gb/s"): "joining-40",
    ("fafc/fig3", "Under PFC the link between"): "pfc",
    ("beyond/fafc-hold", "HPCC: small flows"): "slowdown-hpcc",
    ("afq/fig7", "It makes DCTCP's p99"): "tail",
    ("bfc/fig12", "HPCC is stable at 70 %"): "growth",
}


@pytest.mark.parametrize(("identifier", "words"), SHOWN, ids=" ".join)
def test_a_claim_is_shown_by_the_figure_of_its_flows_and_points(
    identifier: str, words: str
) -> None:
    experiment = load(identifier)
    [claim] = [one for one in experiment.claims if one.claim.startswith(words)]
    assert figure_of_claim(claim, experiment.figures) == SHOWN[identifier, words]


def test_a_claim_of_another_metric_is_shown_by_no_figure() -> None:
    experiment = load("bfc/fig24")
    claim = experiment.claims[0].model_copy(update={"measure": "total(of='timeouts')"})
    assert figure_of_claim(claim, experiment.figures) == ""


def test_a_claim_about_incasts_is_shown_by_no_figure_without_them() -> None:
    experiment = load("bfc/fig9")
    [claim] = [one for one in experiment.claims if "label='incast'" in one.measure]
    assert figure_of_claim(claim, experiment.figures) == ""


def test_a_claim_of_other_points_is_shown_by_no_figure() -> None:
    experiment = load("beyond/fafc-hold")
    [claim] = [one for one in experiment.claims if one.claim.startswith("HPCC: small flows")]
    others = [one for one in experiment.figures if one.where.get("sweep") == "event"]
    assert others
    assert figure_of_claim(claim, others) == ""
