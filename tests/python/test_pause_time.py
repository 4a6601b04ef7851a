"""FAFC's greedy pause times are optimal: they cost what a solver of linear programs finds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, coo_array

from penstock import _core

INSTANCES, BATCH = 10_000, 250


def instances(seed: int) -> list[tuple[NDArray[np.float64], float]]:
    """Random programs: 1 to 64 ports of (relief, loss, longest), and a need that can be met.

    Half of them have ports without loss, as those that only incasts use, and ports that do not
    feed the congested egress.
    """
    draw = np.random.default_rng(seed)
    programs = []
    for _ in range(BATCH):
        count = int(draw.integers(1, 65))
        relief, loss = draw.uniform(0.01, 12.5, (2, count))
        if draw.integers(2):
            relief *= draw.integers(0, 2, count)
            loss *= draw.integers(0, 2, count)
        longest = draw.choice([1_000.0, 2_000.0, 500.0], count)
        need = float(draw.uniform(0, 1) * relief @ longest)
        programs.append((np.column_stack([relief, loss, longest]), need))
    return programs


@pytest.mark.parametrize("seed", range(INSTANCES // BATCH))
def test_greedy_times_cost_what_the_simplex_method_finds(seed: int) -> None:
    """The programs of a batch share no variable, so that one call solves each of them."""
    programs = instances(seed)
    ports = np.concatenate([program for program, _ in programs])
    needs = np.array([need for _, need in programs])
    reliefs = block_diag([coo_array(-program[:, :1].T) for program, _ in programs], format="csr")
    bounds = np.column_stack([np.zeros(len(ports)), ports[:, 2]])
    solved = linprog(ports[:, 1], A_ub=reliefs, b_ub=-needs, bounds=bounds, method="highs-ds")
    assert solved.success, solved.message
    start = 0
    for program, need in programs:
        times = np.array(_core.allocate_pauses([tuple(port) for port in program], need))
        relief, loss, longest = program.T
        optimum = float(loss @ solved.x[start : start + len(program)])
        scale = float(loss @ longest) or 1.0
        assert abs(loss @ times - optimum) <= 1e-9 * scale
        assert relief @ times >= need * (1 - 1e-12)
        assert (times >= 0).all() and (times <= longest).all()
        start += len(program)
