"""Feeds bad inputs to every reader; each must be accepted, or refused in the package's words.

    python tests/python/fuzz/run.py --inputs 300000 --seed 7 --jobs 2

An input fails when a reader raises anything but a refusal, when the refusal could steer a terminal
or fill it, or when it takes longer than `SECONDS_MAX` or more memory than `MEMORY_MAX`. Each reader
runs in a process of its own. The same seed gives the same inputs. Prints counts by reader and
outcome; ends with code 1 when an input failed, and shows how to make each of these again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from mutation import mutated, zipped
from nasty import FILES, PLACES
from readers import READERS, Reader, hand_over

from penstock import ScenarioError
from penstock.errors import FIELD_WIDTH, PATH_WIDTH, PROBLEMS_MAX, TEXT_WIDTH, VALUE_WIDTH

SECONDS_MAX = 5.0
"""Longest that a reader may take for an input, in processor time [s]."""
HANG_SECONDS = 60
"""Longest that it may take by the clock [s]: it waits for something."""
MEMORY_MAX = 2**30
"""Most memory that a reader may take for an input [B]."""
PROBLEM_WIDTH = FIELD_WIDTH + PATH_WIDTH + VALUE_WIDTH + 2 * TEXT_WIDTH + 20
"""Most characters of a problem: its parts, and what joins them."""
ZIPPED_SHARE = 0.1
"""Share of the inputs of files that are gzipped."""


class TooLongError(BaseException):
    """An input took too long; no reader catches it."""


Input = tuple[str, Callable[[Path], None]]
"""Its name, by which it can be made again, and what hands it to the reader."""


def inputs(reader: Reader, count: int, seed: int, *, is_quick: bool) -> Iterator[Input]:
    """Good inputs of a reader, the named ones, then `count` mutations of good ones."""
    for number, good in enumerate(reader.seeds):
        yield f"good {number}", partial(hand_over, reader, good, False)
    for name in FILES if reader.file and (reader.is_first or not is_quick) else ():
        data = FILES[name]()
        yield name, partial(hand_over, reader, data, False)
        yield f"{name}, zipped", partial(hand_over, reader, data, True)
    for name, make in PLACES.items() if reader.file else ():
        yield name, partial(_read_place, reader, make)
    for number in range(count):
        random = Random(f"{reader.name} {seed} {number}")
        data = random.choice(reader.seeds)
        is_zipped = reader.file is not None and random.random() < ZIPPED_SHARE
        data = mutated(data, random)
        data = zipped(data, random) if is_zipped else data
        yield f"number {number}", partial(hand_over, reader, data, is_zipped)


def _read_place(reader: Reader, make: Callable[[Path], None], place: Path) -> None:
    path = place / str(reader.file)
    make(path)
    reader.read(path)


def outcome(hand: Callable[[Path], None], place: Path) -> str:
    """`accepted`, `refused`, or what is wrong with what a reader does."""
    try:
        hand(place)
    except ScenarioError as error:
        return _of_refusal(error)
    except TooLongError:
        return "takes too long"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"raises {type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {error}"
    return "accepted"


def _of_refusal(error: ScenarioError) -> str:
    if not 0 < len(error.problems) <= PROBLEMS_MAX + 1:
        return f"lists {len(error.problems)} problems"
    for text in map(str, error.problems):
        if not text.isprintable():
            return f"has a message that steers a terminal: {text[:200]!a}"
        if len(text) > PROBLEM_WIDTH:
            return f"has a message of {len(text)} characters"
    return "refused"


def fuzz(reader: Reader, count: int, seed: int, *, is_quick: bool) -> dict[str, Any]:
    """Feeds a reader in this process: outcomes, failures, the slowest input, the peak memory."""
    outcomes: Counter[str] = Counter()
    failures: dict[str, str] = {}
    slowest = (0.0, "")
    with tempfile.TemporaryDirectory(prefix="penstock-fuzz-") as place:
        os.chdir(place)
        Path("good.toml").write_bytes(READERS[0].seeds[0])
        for name, hand in inputs(reader, count, seed, is_quick=is_quick):
            found, seconds = _watched(hand, Path(place))
            _empty(place)
            slowest = max(slowest, (seconds, name))
            kind = found if found in ("accepted", "refused") else "failed"
            outcomes[kind] += 1
            if kind == "failed":
                failures[name] = found
        os.chdir("/")
    return {
        "reader": reader.name,
        "outcomes": dict(outcomes),
        "failures": failures,
        "slowest": slowest,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


def _empty(place: str) -> None:
    """Removes what an input has left beside the good scenario."""
    for entry in os.scandir(place):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        elif entry.name != "good.toml":
            Path(entry.path).unlink()


def _watched(hand: Callable[[Path], None], place: Path) -> tuple[str, float]:
    """The outcome of an input, and the processor time that it took [s]."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS_MAX)
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        found = outcome(hand, place)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found, time.process_time() - began


def _end(number: int, frame: object) -> None:
    raise TooLongError


def _set_limits() -> None:
    """The watchdogs of this process, and no more memory than it has and `MEMORY_MAX`."""
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _end)
    with tempfile.TemporaryDirectory() as place:  # what is loaded at first use is loaded now
        for reader in READERS:
            if reader.file:
                hand_over(reader, reader.seeds[0], False, Path(place))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY_MAX
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> int:
    """The command; see the module."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--inputs", type=int, default=20_000, help="mutations, of all readers")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1, help="processes at a time")
    names = [reader.name for reader in READERS]
    options.add_argument("--reader", action="append", choices=names, help="only this; repeat it")
    options.add_argument("--quick", action="store_true", help="whole files for a few readers")
    options.add_argument("--here", action="store_true", help="in this process; print JSON")
    given = options.parse_args()
    chosen = given.reader or names
    readers = [reader for reader in READERS if reader.name in chosen]
    whole = sum(reader.share for reader in readers)
    counts = {reader.name: ceil(given.inputs * reader.share / whole) for reader in readers}
    if given.here:
        _set_limits()
        fuzz_one = partial(fuzz, seed=given.seed, is_quick=given.quick)
        print(json.dumps([fuzz_one(one, count=counts[one.name]) for one in readers]))
        return 0

    def start(name: str) -> list[dict[str, Any]]:
        command = [
            sys.executable,
            __file__,
            "--here",
            f"--reader={name}",
            f"--inputs={counts[name]}",
        ]
        command += [f"--seed={given.seed}", *(["--quick"] if given.quick else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE)
        if done.returncode:
            died = {"process": f"ends with code {done.returncode}"}
            return [{"reader": name, "outcomes": {"failed": 1}, "failures": died,
                     "slowest": (0.0, ""), "peak_mib": 0}]  # fmt: skip
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    with ThreadPoolExecutor(given.jobs) as pool:
        results = [one for found in pool.map(start, chosen) for one in found]
    return show(results)


def show(results: list[dict[str, Any]]) -> int:
    """Prints counts and failures; 1 when there are any."""
    kinds = ("accepted", "refused", "failed")
    print(f"{'reader':16}" + "".join(f"{kind:>10}" for kind in kinds) + "  peak MiB  slowest")
    for one in results:
        counts = "".join(f"{one['outcomes'].get(kind, 0):>10,}" for kind in kinds)
        seconds, name = one["slowest"]
        print(f"{one['reader']:16}{counts}{one['peak_mib']:>10,}  {seconds:.2f} s, {name}")
        for name, found in one["failures"].items():
            print(f"  {name} {found!a}")
    sums = {kind: sum(one["outcomes"].get(kind, 0) for one in results) for kind in kinds}
    print(f"{'all':16}" + "".join(f"{count:>10,}" for count in sums.values()))
    return 1 if sums["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
