"""The fluid model of PCN does what its appendix derives from it."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.analysis import pcn_fluid

C, T, W = 10e9, 500e-6, 0.025


def followed(starts: list[int], periods: int) -> pcn_fluid.Trajectory:
    return pcn_fluid.trajectory(
        capacity_bps=C,
        period_s=T,
        minimum_weight=W,
        maximum_weight=0.5,
        starts=starts,
        periods=periods,
    )


def test_the_total_rate_converges_in_one_period_and_the_queue_drains() -> None:
    trajectory = followed([0, 0, 0, 0], 200)
    total = trajectory.rates.sum(axis=1)
    empty = pcn_fluid.drain_periods(4 * C, W, C)
    assert empty == 121
    assert total[0] == 4 * C
    assert total[1:empty] == pytest.approx((1 - W) * C)  # eq. 8
    expected = [(3 * C - (k - 1) * W * C) * T / 8 for k in range(1, empty)]
    assert trajectory.queue[1:empty] == pytest.approx(expected, abs=1)
    assert trajectory.queue[empty] == pytest.approx(0, abs=1)


def test_the_steady_state_swings_as_equations_1_and_2_say() -> None:
    trajectory = followed([0, 0, 0, 0], 400)
    late = slice(300, None)
    queue = pcn_fluid.queue_oscillation(4, W, C, T)
    assert queue == pytest.approx((2 + W) * W * C * T / 8)
    assert trajectory.queue[late].max() == pytest.approx(queue)
    assert trajectory.queue[late].min() == pytest.approx(0, abs=1e-3)
    swing = np.ptp(trajectory.rates[late, 0])
    # From (1 - w) C/N to (1 - w)^2 C/N + w C (eq. 12), which eq. 2 rounds to w C.
    assert swing == pytest.approx(W * C - W * (1 - W) * C / 4)
    assert swing == pytest.approx(pcn_fluid.rate_oscillation(W, C), rel=0.25)


def test_shares_become_even_from_any_start() -> None:
    trajectory = followed([0, 0, 100, 200], 800)
    # At line rate beside three flows that together send (1 - w) C.
    assert trajectory.shares[200, 3] == pytest.approx(1 / (2 - W))
    assert trajectory.shares[-1] == pytest.approx([0.25] * 4, rel=0.005)


def test_a_flow_that_has_not_begun_sends_nothing() -> None:
    trajectory = followed([2, 5], 6)
    assert trajectory.rates[:2].sum() == 0
    assert trajectory.shares[0].tolist() == [0, 0]
    assert trajectory.rates[2].tolist() == [C, 0]
    assert trajectory.rates[5, 1] == C


def test_an_increase_follows_figure_10() -> None:
    weights, rates = pcn_fluid.increase(1 / 128, 0.5, 15)
    assert rates[:2].tolist() == [0, 1 / 128]
    assert rates[2] == pytest.approx(rates[1] * (1 - weights[1]) + weights[1])
    assert weights[1] == pytest.approx(1 / 128 * (1.5 - 1 / 128))
    assert rates[5] < 0.1
    assert rates[15] > 0.95
