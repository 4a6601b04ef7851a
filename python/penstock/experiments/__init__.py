"""Figures and tables of the papers, run again and held against what the papers report.

What it is: a catalogue of TOML files (`experiments/` at the root of the repository), each with a
scenario, what is varied, the figures to draw and the claims of the paper; and the machinery that
runs any of them. What it is not: no experiment has code of its own. Invariant: nothing here looks
at a result before it is judged; a claim that does not hold is reported as such.

Reading order: `model` (what a file says), `catalogue` (which files there are), `grid` (the runs of
a file), `vocabulary`, `flow_metric`, `metric`, `transient` and `expression` (numbers from runs),
`judge` (claims), `figure`, `reproduce`; and for many at once `outcome` (what is left of each),
`campaign` (how they are run), `overview` (the page of all). Nothing is exported here: the catalogue
is read without Matplotlib and Polars, which the rest needs.
"""
