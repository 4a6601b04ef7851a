"""The process that emulates: ``python -m penstock.emulation.worker REQUEST RESULT``.

Only a process with one thread can make user namespaces, so nothing is imported here that starts
threads. The request is JSON: the scenario and the setting. The result is a pickle: the output of
the core, or what it has refused. Each line on standard output is the time of the run [ps], or a
glance as JSON.
"""

from __future__ import annotations

import pickle
import signal
import sys
from pathlib import Path
from typing import Any

from penstock import _core, interruption


def main(request: Path, result: Path) -> int:
    """Emulates what `request` asks for and leaves what happened in `result`."""
    stopped = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopped
        stopped = True

    for one in interruption.SIGNALS:
        signal.signal(one, stop)
    interruption.let_through()

    def on_progress(now: int, glance: str | None) -> bool:
        print(glance or now, flush=True)
        return not stopped

    scenario, _, setting = request.read_text().partition("\n")
    answer: dict[str, Any]
    try:
        output = _core.emulate(scenario, setting, on_progress=on_progress)
        answer = {"output": output, "stopped": stopped}
    except _core.ScenarioError as error:
        answer = {"refused": error.args[0]}
    except _core.EmulationError as error:
        answer = {"failed": str(error)}
    draft = result.with_suffix(".draft")
    try:
        draft.write_bytes(pickle.dumps(answer))
    except OSError as error:
        print(f"error: the result of the run cannot be kept: {error}", file=sys.stderr)
        return 1
    draft.rename(result)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
