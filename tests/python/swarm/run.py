"""Runs a swarm of random scenarios: `.venv/bin/python tests/python/swarm/run.py --scenarios 3000`.

Ends with 1 when a scenario fails; each that fails is shown with the command that repeats it alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

if not __package__:  # Run as a file: only its own directory is on the path.
    sys.path.insert(0, str(Path(__file__).parents[1]))

from penstock import ScenarioError
from penstock.processors import processor_count
from penstock.scenario import preset_names
from swarm.draw import draw
from swarm.trial import Verdict, Watched

REFUSED_MOST = 1 / 3
"""Largest share of drawn scenarios that may be refused (our choice: more would mean that the swarm
draws past what the validator allows, and that what is left over is no fair sample)."""


def verdicts(seed: int, numbers: range, jobs: int) -> Iterator[Verdict]:
    """The verdicts on cases, as they come in the order of their numbers."""
    idle: SimpleQueue[Watched] = SimpleQueue()
    processes = [Watched() for _ in range(jobs)]
    for process in processes:
        idle.put(process)

    def judge(number: int) -> Verdict:
        process = idle.get()
        try:
            return process.judge(seed, number)
        finally:
            idle.put(process)

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(judge, numbers)
    finally:
        pool.shutdown(cancel_futures=True)
        for process in processes:
            process.close()


def command(seed: int, number: int) -> str:
    """What repeats one case."""
    return f".venv/bin/python tests/python/swarm/run.py --seed {seed} --only {number}"


def report(found: list[Verdict]) -> str:
    """The counts of all verdicts."""
    refused = sum(verdict.refused for verdict in found)
    drawn = refused + len(found)
    lines = [
        f"run        {len(found)} cases, each twice",
        f"refused    {refused} of {drawn} scenarios drawn ({refused / drawn:.1%})",
    ]
    for trait in ("topology", "fidelity", "routing"):
        lines.append(f"{trait:10} {_counts(verdict.traits.get(trait) for verdict in found)}")
    presets = {verdict.traits.get("preset") for verdict in found} - {None}
    lines.append(f"{'presets':10} {len(presets)} of {len(preset_names())}")
    lines.append(f"{'with':10} {_counts(name for verdict in found for name in verdict.met)}")
    failures = [verdict.failure for verdict in found if verdict.failure]
    lines.append(f"{'failures':10} {len(failures)}" + (f": {_counts(failures)}" * bool(failures)))
    return "\n".join(lines)


def _counts(names: Iterator[str | None] | list[str]) -> str:
    counted = Counter(name for name in names if name is not None)
    return ", ".join(f"{name} {count}" for name, count in sorted(counted.items()))


def main() -> int:
    """Parses the command, runs the cases, prints what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=3000, help="how many cases")
    parser.add_argument("--seed", type=int, default=1, help="seed of all of them")
    parser.add_argument("--jobs", type=int, default=processor_count(), help="processes")
    parser.add_argument("--only", type=int, help="the number of a single case, which is shown")
    chosen = parser.parse_args()
    numbers = range(chosen.scenarios)
    if chosen.only is not None:
        numbers = range(chosen.only, chosen.only + 1)
        with suppress(ScenarioError):  # The verdict says so.
            print(draw(chosen.seed, chosen.only).scenario.to_toml())
    found: list[Verdict] = []
    began = time.perf_counter()
    for verdict in verdicts(chosen.seed, numbers, min(chosen.jobs, len(numbers))):
        found.append(verdict)
        if verdict.failure:
            words = f"case {verdict.number} {verdict.traits}: {verdict.failure}: {verdict.words}"
            print(words, f"  {command(chosen.seed, verdict.number)}", sep="\n", flush=True)
    print(report(found), f"{'time':10} {time.perf_counter() - began:.0f} s", sep="\n")
    refused = sum(verdict.refused for verdict in found)
    too_many = refused > REFUSED_MOST * (refused + len(found))
    if too_many:
        print(f"more than {REFUSED_MOST:.0%} of the scenarios were refused")
    return int(too_many or any(verdict.failure for verdict in found))


if __name__ == "__main__":
    sys.exit(main())
