"""What a packet-hop of the demo's schemes needs beside one of the bare loop, counted.

A time depends on what else the machine does. These counts do not.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from cachegrind import Counts, built, counted, is_here
from scenarios import NOTHING_MEASURED, Scheme, demo
from table import Table
from tables import BESIDE_BARE
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
    schemes = dict(list(BESIDE_BARE.items())[: bench.pick(len(BESIDE_BARE), 1)])

    def of(scheme: Scheme, has_bare: bool = False) -> Counts:
        """Of the whole run, and of the bare loop behind it."""
        traffic = demo(scheme, bench.pick("300 us", "2 us"), NOTHING_MEASURED)
        return counted(bench, traffic, has_caches=True, has_bare=has_bare)

    # Counts do not depend on what runs beside, so all processors count.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        both = pool.submit(of, next(iter(schemes.values())), True)
        wholes = pool.map(of, schemes.values())
        buildings = pool.map(lambda one: built(bench, one, has_caches=True), schemes.values())
        pairs = list(zip(wholes, buildings, strict=True))
    # The bare loop builds the network once more.
    bare = both.result() - pairs[0][0] - pairs[0][1]
    hops = bare.bare_packet_hops
    for title, (whole, building) in zip(schemes, pairs, strict=True):
        run = whole - building
        table.add(title, *_cells(run, run.packet_hops, bare.instructions / hops))
    table.add("bare loop", *_cells(bare, hops, bare.instructions / hops))
    return table


def _cells(run: Counts, hops: int, bare: float) -> tuple[str, ...]:
    per_hop = run.instructions / hops
    # Of nearly none, a difference may leave less than none.
    misses = (max(each, 0) / hops for each in (run.code_misses, run.data_misses, run.second_misses))
    return (f"{per_hop:.0f}", f"{per_hop / bare:.2f}", *(f"{each:.1f}" for each in misses))
