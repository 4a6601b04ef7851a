"""Figures and tables of the papers, run again and compared with the papers' claims.

What it is: a catalogue of TOML files (`experiments/` at the root of the repository), and the
machinery that runs any of them. Each file has a scenario, what is varied, the figures to draw and
the claims of the paper. What it is not: no experiment has code of its own. Invariant: nothing here
looks at a result before the result is judged. A claim that does not hold is reported as such.

Reading order: `model` and `claim` (what a file says), `catalogue` (which files there are), `grid`
(the runs of a file), `metric` (what a metric is), `flow_metric`, `job_metric`, `run_metric`,
`queueing` and `transient` (all metrics), `expression` (numbers from runs), `measured` (what they
are, in words), `decision` (the rule of all verdicts), `judge` (claims), `figure`, `reproduce`. For
many experiments at once: `outcome` (what each leaves), `campaign` (how they are run), `overview`
(the page of all). This package exports nothing, because the catalogue is read without Matplotlib
and Polars, which other modules need.
"""
