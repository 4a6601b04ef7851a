"""The rules that a config must meet so that Penstock can follow it; others are refused by line.

Each rule restates the effect of the value in the simulator. :mod:`penstock.hpcc.config` names the
sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.hpcc.config import DCQCN, DCTCP, HPCC, KEYS, TIMELY, Config


@dataclass(frozen=True)
class Rule:
    """What must hold for a config that Penstock can follow."""

    key: str
    holds: Callable[[Config], bool]
    problem: str
    remedy: str


def _needs(key: str, *modes: int) -> Rule:
    """A key without a usable default, in the modes that use it."""
    name = KEYS[key][0]
    return Rule(
        key,
        lambda config: config.mode not in modes or getattr(config, name) is not None,
        "although its CC_MODE needs it",
        f"add a line with {key}; that simulator has no usable default",
    )


RULES = (
    Rule(
        "CC_MODE",
        lambda config: config.mode in (DCQCN, HPCC, TIMELY, DCTCP),
        "is a congestion control that Penstock does not have",
        "write 1 (DCQCN), 3 (HPCC), 7 (TIMELY) or 8 (DCTCP)",
    ),
    Rule(
        "TOPOLOGY_FILE",
        lambda config: config.topology is not None,
        "to say which network",
        "add TOPOLOGY_FILE and a path",
    ),
    Rule(
        "FLOW_FILE",
        lambda config: config.flows is not None,
        "to say which flows",
        "add FLOW_FILE and a path",
    ),
    _needs("RATE_AI", DCQCN, HPCC, TIMELY),
    _needs("RATE_HAI", DCQCN, TIMELY),
    _needs("EWMA_GAIN", DCQCN, DCTCP),
    _needs("RP_TIMER", DCQCN),
    Rule(
        "ENABLE_QCN",
        lambda config: config.marks or config.mode not in (DCQCN, DCTCP),
        "turns marking off, and this CC_MODE reacts to marks only",
        "write ENABLE_QCN 1",
    ),
    Rule(
        "MULTI_RATE",
        lambda config: not config.rate_per_hop or config.mode != HPCC,
        "keeps a rate per hop, which is not supported",
        "write MULTI_RATE 0, as its run.py does",
    ),
    Rule(
        "SAMPLE_FEEDBACK",
        lambda config: not config.samples_feedback or config.mode != HPCC,
        "passes over empty queues, which is not supported",
        "write SAMPLE_FEEDBACK 0",
    ),
    Rule(
        "HAS_WIN",
        lambda config: config.has_window or config.mode != HPCC,
        "makes HPCC divide the queue by a window of 0",
        "write HAS_WIN 1",
    ),
    Rule(
        "GLOBAL_T",
        lambda config: config.is_global or not (config.has_window or config.mode == HPCC),
        "gives each pair its own base RTT and window, which is not supported",
        "write GLOBAL_T 1",
    ),
    Rule(
        "ACK_HIGH_PRIO",
        lambda config: config.acks_first,
        "queues ACKs with the data, which is not supported",
        "write ACK_HIGH_PRIO 1",
    ),
    Rule(
        "L2_ACK_INTERVAL",
        lambda config: config.ack_interval == 1,
        "does not acknowledge each packet",
        "write L2_ACK_INTERVAL 1",
    ),
    Rule(
        "L2_BACK_TO_ZERO",
        lambda config: not config.goes_back_to_zero,
        "is go-back-0, which is not supported",
        "write L2_BACK_TO_ZERO 0",
    ),
    Rule(
        "RATE_BOUND",
        lambda config: config.is_rate_bound,
        "lets flows send faster than their rate, which is not supported",
        "write RATE_BOUND 1",
    ),
    Rule(
        "ERROR_RATE_PER_LINK",
        lambda config: config.error_rate == 0,
        "loses packets on links, which is not supported",
        "write ERROR_RATE_PER_LINK 0",
    ),
    Rule(
        "PAUSE_TIME",
        lambda config: config.pause_time >= 1,
        "turns every pause frame into a resume",
        "write 1 or more, or leave it out",
    ),
    Rule(
        "LINK_DOWN",
        lambda config: config.link_down[0] == 0,
        "takes a cable down, which is not supported",
        "write LINK_DOWN 0 0 0",
    ),
)
"""In the order in which they are checked; the first that is broken is reported."""


def check(config: Config) -> None:
    """Refuses a config that Penstock cannot follow.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names file, line, key and remedy.
    """
    for rule in RULES:
        if not rule.holds(config):
            raise config.refuse(rule.key, rule.problem, rule.remedy)
