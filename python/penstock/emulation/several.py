"""Several scenarios in real time, one after the other: each needs the machine for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from penstock.emulation.glance import Glance
from penstock.emulation.running import PROGRAMS, emulate
from penstock.results import Run, claim
from penstock.runner import Progress
from penstock.scenario import Scenario
from penstock.storage.name import file_names
from penstock.storage.new_file import check_file

CAPTURE = ".pcapng"
"""What is added to the name of a run's directory for the file of its frames."""


def emulate_many(
    scenarios: Mapping[str, Scenario],
    *,
    out: Path | Mapping[str, Path],
    capture: bool = False,
    force: bool = False,
    progress: Callable[[str, Progress], None] | None = None,
    look: Callable[[str, Glance], None] | None = None,
    on_finished: Callable[[str, Run], None] | None = None,
) -> dict[str, Run]:
    """Runs several scenarios with real frames, in their order, and saves each as soon as it ends.

    A signal ends the run under way, which is kept (`Run.is_cancelled` is then true); the others are
    left out of the result.

    Parameters
    ----------
    out
        Each run is saved in the directory of its name below it, or in its own. What programs print
        goes beside the run.
    capture
        All frames between hosts and network are kept in a file beside the run (:data:`CAPTURE`).
    force
        Runs of other scenarios that stand there are replaced; what seems too fast for the machine
        is run.
    progress
        Called about ten times a second.
    look
        Called about five times a second with what can be seen of the run under way.

    Raises
    ------
    ScenarioError, SimulationError, StorageError
        As :func:`penstock.emulation.running.emulate`.
    """
    runs = {}
    if isinstance(out, Mapping):
        places = out
    else:
        places = {name: out / place for name, place in file_names(scenarios).items()}
    for name, scenario in scenarios.items():
        place = places[name]
        frames = place.with_name(place.name + CAPTURE) if capture else None
        with claim(place, scenario, force=force) as claimed:
            if frames is not None:
                # That of an earlier run goes with the run.
                check_file(frames, force or claimed.earlier is not None, "--capture")
            made = emulate(
                scenario,
                output=place.with_name(place.name + PROGRAMS),
                capture=frames,
                forced=force,
                progress=None if progress is None else partial(progress, name),
                look=None if look is None else partial(look, name),
            )
            made.save_at(claimed)
        runs[name] = made
        if on_finished:
            on_finished(name, made)
        if made.is_cancelled:
            break
    return runs
