"""Runs one case twice and judges it, in a process of its own that can be killed."""

from __future__ import annotations

import multiprocessing
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from penstock import Run, ScenarioError, SimulationError, run
from swarm.draw import Case, draw

LIMIT_SECONDS = 20.0
"""A case that takes longer hangs (our choice: hundreds of times the usual)."""
SAME = (
    "digest",
    "events",
    "packet_hops",
    "sim_end_ps",
    "drops",
    "lost_packets",
    "long_lived",
    "unfinished",
)
"""What of the summary must not depend on whether a run is checked, nor on its threads."""
THREADS = (2, 3, 4)
"""Threads of the checked run, in turn (our choice); the other run has one."""


@dataclass(frozen=True)
class Verdict:
    """What became of a case."""

    number: int
    failure: str = ""
    """What is wrong, in one word; empty when nothing is."""
    words: str = ""
    """What is wrong, in full."""
    refused: int = 0
    """Scenarios that were refused before one was not."""
    traits: dict[str, str] = field(default_factory=dict)
    """What it was: preset, topology, fidelity, routing."""
    met: frozenset[str] = frozenset()
    """What it had or met: outages, control loss, drops, a deadlock."""


def judge(seed: int, number: int) -> Verdict:
    """Draws case `number` of `seed` and runs it: checked on several threads, unchecked on one."""
    case: Case | None = None
    met: frozenset[str] = frozenset()
    try:
        case = draw(seed, number)
        threads = THREADS[number % len(THREADS)]
        checked = run(case.scenario, check=True, threads=threads)
        failure, words = _wrong(case, checked, run(case.scenario, threads=1))
        met = _met(case, checked)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A panic of the core is no Exception.
        failure, words = _raised(error), traceback.format_exc()
    refused = case.refused if case else 0
    return Verdict(number, failure, words, refused, _traits(case) if case else {}, met)


def _raised(error: BaseException) -> str:
    """What an exception out of a case means, in one word."""
    match error:
        case ScenarioError():
            return "refused"  # Every scenario that was drawn for it.
        case SimulationError():
            return "invariant"
    return "panic" if type(error).__name__ == "PanicException" else "error"


def _traits(case: Case) -> dict[str, str]:
    scenario = case.scenario
    return {
        "preset": scenario.scheme.name,
        "topology": scenario.topology.kind,
        "fidelity": scenario.fidelity,
        "routing": scenario.scheme.routing.kind,
    }


def _wrong(case: Case, checked: Run, again: Run) -> tuple[str, str]:
    """What two runs of a case show to be wrong, in a word and in full; nothing: two empty texts."""
    # Only runs with dependent traffic have applications.
    shared = {"applications"} & set(checked.summary)
    for name in (*SAME, *shared):
        first, second = checked.summary[name], again.summary[name]
        if first != second:
            here = f"under check, on {checked.summary['threads']} threads"
            return "different", f"{name}: {first} {here}, {second} without, on one"
    unfinished = checked.summary["unfinished"]
    if case.settles and unfinished and checked.summary["deadlock"] is None:
        return "unfinished", str(unfinished[:3])
    return "", ""


def _met(case: Case, done: Run) -> frozenset[str]:
    faults, summary = case.scenario.faults, done.summary
    met = {
        "failed links": bool(case.scenario.topology.failed_links),
        "outages": bool(faults.outages),
        "lost with links": summary["lost_packets"] > 0,
        "control loss": faults.control_loss > 0,
        "corruption": bool(faults.corruption),
        "drops": summary["drops"] > 0,
        "deadlocks": summary["deadlock"] is not None,
        "traces": case.scenario.measure.trace is not None,
        "all flows must finish": case.settles,
    }
    return frozenset(name for name, has in met.items() if has)


class Watched:
    """A process that judges cases, and is killed and replaced when one hangs.

    Threads cannot do this: nothing stops a thread that loops inside the core.
    """

    def __init__(self, limit_seconds: float = LIMIT_SECONDS) -> None:
        self.limit_seconds = limit_seconds
        self._process: SpawnProcess | None = None
        self._is_ready = False

    def judge(self, seed: int, number: int) -> Verdict:
        """The verdict on a case; also when it hangs or takes the process with it."""
        process = self._process or self._start()
        try:
            if not self._is_ready:
                self._is_ready = self._pipe.recv()
            self._pipe.send((seed, number))
            if self._pipe.poll(self.limit_seconds):
                verdict: Verdict = self._pipe.recv()
                return verdict
            failed = Verdict(number, "hang", f"it takes more than {self.limit_seconds:g} s")
        except (EOFError, ConnectionError):
            process.join()
            failed = Verdict(number, "crash", f"the process ended with {process.exitcode}")
        self.close()
        return failed

    def close(self) -> None:
        """Ends the process, if there is one; the next case has another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self) -> SpawnProcess:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._is_ready = False
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        return self._process


def _serve(pipe: Connection) -> None:
    """Says that it has started, which no case should pay for; judges cases until the end."""
    pipe.send(True)
    while True:
        try:
            seed, number = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(judge(seed, number))
