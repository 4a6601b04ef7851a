"""Sweeps: a scenario over a grid of values and seeds, as one dataset.

Reading order: `executor` (the interface to those who simulate), `work` (what they do), `local` and
`worker` (processes of this machine), `cluster`, `dask_executor` and `slurm` (other machines);
`axis`, `seeds` and `grid` (what is run); `dataset` (what is written); `run` (the loop over cells);
`pooled` and `page` (what people see). Invariant: a seed is a repetition, so nothing that people see
is of one seed.
"""
