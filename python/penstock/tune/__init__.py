"""The search for good values of fields: a scenario, ranges, an objective and requirements.

Reading order: `tree` (what the schema says of a scenario's fields), `field` (what is varied),
`goal` (what is wanted), `sampler` (Optuna, which proposes points), `plan` (all that a search
depends on), `trial` (what became of a point), `store` (the directory), `search` (the loop),
`outcome` (the ranking and the files), `chart` and `page` (what people see). The dataset and the
executors are those of :mod:`penstock.sweep`.

Invariant: which points are tried follows from the command and the seed alone, never from the time
that a run takes or the number of processes. So a search that was killed goes on as if it had not
been.
"""
