"""Figures and tables of the papers, run again and held against what the papers report.

What it is: a catalogue of TOML files (`experiments/` at the root of the repository), each with a
scenario, what is varied, the figures to draw and the claims of the paper; and the machinery that
runs any of them. What it is not: no experiment has code of its own. Invariant: nothing here looks
at a result before it is judged; a claim that does not hold is reported as such.

Reading order: `model` (what a file says), `grid` (the runs of a file), `vocabulary`, `flow_metric`,
`metric`, `transient` and `expression` (numbers from runs), `judge` (claims), `figure`, `reproduce`;
and for many at once `outcome` (what is left of each), `campaign` (how they are run), `overview`
(the page of all).
"""

from penstock.experiments.campaign import Campaign, Standing, reproduce_many
from penstock.experiments.catalogue import covered, identifiers, load, paper_order
from penstock.experiments.cost import measured_costs
from penstock.experiments.judge import Judgement
from penstock.experiments.model import Experiment
from penstock.experiments.outcome import Outcome
from penstock.experiments.overview import json_beside, overview_file, write_overview
from penstock.experiments.reproduce import Reproduction, reproduce

__all__ = [
    "Campaign",
    "Experiment",
    "Judgement",
    "Outcome",
    "Reproduction",
    "Standing",
    "covered",
    "identifiers",
    "json_beside",
    "load",
    "measured_costs",
    "overview_file",
    "paper_order",
    "reproduce",
    "reproduce_many",
    "write_overview",
]
