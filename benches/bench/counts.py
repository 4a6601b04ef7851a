"""What a packet-hop of the demo's schemes needs beside one of the bare loop, counted.

A time depends on what else the machine does. These counts do not.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from cachegrind import Counts, built, counted, is_here
from scenarios import NOTHING_MEASURED, demo
from table import Table
from tables import DEMO_SCHEMES
from timing import Bench


def counts(bench: Bench) -> Table | None:
    """The table; none where there is no valgrind."""
    if not is_here():
        return None
    headings = (
        "scheme",
        "instructions",
        "of the bare loop",
        "code misses",
        "data misses",
        "second cache",
    )
    table = Table("counts", headings)
    schemes = dict(list(DEMO_SCHEMES.items())[: bench.pick(len(DEMO_SCHEMES), 1)])
    # Counts do not depend on what runs beside, so all processors count.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        bare_loop = pool.submit(_bare, bench, next(iter(schemes)))
        runs = list(pool.map(lambda scheme: _run(bench, scheme), schemes))
        bare = bare_loop.result()
    hops = bare.packet_hops["bare"]
    for title, run in zip(schemes.values(), runs, strict=True):
        table.add(title, *_cells(run, run.packet_hops["scheme"], bare.instructions / hops))
    table.add("bare loop", *_cells(bare, hops, bare.instructions / hops))
    return table


def _traffic(bench: Bench, scheme: str) -> str:
    return demo(scheme, bench.pick("300 us", "2 us"), NOTHING_MEASURED)


def _run(bench: Bench, scheme: str) -> Counts:
    """The loop of `scheme`, without the building of its network."""
    whole = counted(bench, _traffic(bench, scheme), has_caches=True)
    return whole - built(bench, scheme, has_caches=True)


def _bare(bench: Bench, scheme: str) -> Counts:
    """The bare loop on the same traffic, which the program runs after that of `scheme`."""
    traffic = _traffic(bench, scheme)
    both = counted(bench, traffic, has_caches=True, has_bare=True)
    alone = counted(bench, traffic, has_caches=True)
    return both - alone - built(bench, scheme, has_caches=True)


def _cells(run: Counts, hops: int, bare: float) -> tuple[str, ...]:
    per_hop = run.instructions / hops
    misses = (run.code_misses, run.data_misses, run.second_misses)
    return (
        f"{per_hop:.0f}",
        f"{per_hop / bare:.2f}",
        *(f"{max(each, 0) / hops:.1f}" for each in misses),
    )
