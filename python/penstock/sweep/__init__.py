"""Sweeps: a scenario over a grid of values and seeds, as one dataset.

Reading order: `executor` (the interface to those who simulate), `work` (what they do), `local`
(processes of this machine).
"""
