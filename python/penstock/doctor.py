"""What this machine can do for Penstock, what is missing, and the remedy for each.

Every check tries the thing itself where that is quick: namespaces are made, the extension runs.
What it is not: it changes nothing, and needs no network. Invariant: a check that cannot be made is
a finding, never an exception.
"""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from penstock.errors import ScenarioError, SimulationError
from penstock.processors import processor_count
from penstock.provenance import package_version
from penstock.readable import bytes_text

State = Literal["ok", "missing", "broken"]
"""How a thing is: there; not there, and needed by a part only; needed by everything and broken."""

MEMORY_MIN = 500e6
"""Free memory below which the demo does not fit [B]; `penstock compare bfc-demo` takes 400 MB."""
DISK_MIN = 100e6
"""Free space below which a comparison may not fit [B] (our choice: `make demo` writes 80 MB)."""
TUN = Path("/dev/net/tun")
PROBE = {"duration": "1 us", "drain": "1 us", "emulation.scale_time": 1000}
"""What makes the scenario `quickstart` the shortest run with real frames."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox", "safari", "xdg-open")
EXTRAS = {"cluster": ("distributed", "dask_jobqueue"), "tune": ("optuna",)}
"""Optional parts of the package, and the modules that they import."""
USES = {
    "cluster": "sweeps on several machines",
    "tune": "the search for good values of fields",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    """What it is."""
    state: State
    found: str
    """What was found, in words."""
    purpose: str
    """What it is for."""
    remedy: str = ""
    """What to do about it; empty when nothing is wrong."""

    def as_json(self) -> dict[str, str]:
        """The same for programs."""
        return asdict(self)


def examine(directory: Path) -> Iterator[Finding]:
    """Everything about this machine, one finding after the other.

    Parameters
    ----------
    directory
        Where results would be written.
    """
    yield python()
    yield extension()
    yield processors()
    yield memory()
    yield disk(directory)
    yield tun(TUN)
    yield namespaces()
    yield tshark()
    yield browser()
    for name in EXTRAS:
        yield extra(name)


def python() -> Finding:
    """The interpreter and this package."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", "ok", f"{version}, Penstock {package_version()}", "everything")


def extension() -> Finding:
    """The compiled core: it is there, checks a scenario, and was compiled to be fast."""
    purpose = "everything"
    try:
        from penstock import Scenario, _core

        Scenario.from_name("quickstart")
    except (ImportError, ScenarioError) as error:
        remedy = "install the package again: pip install --force-reinstall penstock"
        return Finding("Compiled core", "broken", str(error), purpose, remedy)
    profile = _core.PROFILE
    if profile == "release":
        return Finding("Compiled core", "ok", f"profile {profile}", purpose)
    remedy = "for measuring times, build the release one: make .venv/.extension"
    return Finding(
        "Compiled core", "ok", f"profile {profile}, slower than release", purpose, remedy
    )


def processors() -> Finding:
    """Processors that a process may use."""
    purpose = "runs at a time, threads of a run"
    try:
        count = processor_count()
    except ImportError:
        return Finding("Processors", "broken", "unknown without the core", purpose)
    every = os.cpu_count() or count
    shown = f"{count}" if count == every else f"{count} of {every}"
    return Finding("Processors", "ok", shown, purpose)


def memory() -> Finding:
    """Memory that a run can have."""
    from penstock.estimate import available_bytes

    free = available_bytes()
    if not math.isfinite(free):
        remedy = "none: this system does not tell, so Penstock cannot refuse what is too large"
        return Finding("Free memory", "missing", "unknown", "large networks", remedy)
    state: State = "ok" if free >= MEMORY_MIN else "missing"
    remedy = "" if state == "ok" else f"free {bytes_text(MEMORY_MIN)}, or run smaller scenarios"
    return Finding("Free memory", state, bytes_text(free), "large networks", remedy)


def disk(directory: Path) -> Finding:
    """Space for results, and whether they can be written."""
    purpose = "results"
    if not os.access(directory, os.W_OK):
        remedy = "change to a directory of yours, or write results elsewhere with --out"
        return Finding("Disk", "missing", f"{directory} cannot be written to", purpose, remedy)
    free = shutil.disk_usage(directory).free
    state: State = "ok" if free >= DISK_MIN else "missing"
    remedy = "" if state == "ok" else f"free {bytes_text(DISK_MIN)}, or write elsewhere with --out"
    return Finding("Disk", state, f"{bytes_text(free)} free", purpose, remedy)


def tun(device: Path) -> Finding:
    """The device through which hosts with kernels get frames."""
    name, purpose = str(device), "penstock emulate with hosts of Linux"
    try:
        os.close(os.open(device, os.O_RDWR))
    except PermissionError:
        remedy = f"an administrator can let everybody open it: chmod 0666 {device}"
        return Finding(name, "missing", "this user may not open it", purpose, remedy)
    except OSError as error:
        remedy = f"load the module: modprobe tun; a container needs --device {device}"
        return Finding(name, "missing", error.strerror or str(error), purpose, remedy)
    return Finding(name, "ok", "can be opened", purpose)


def namespaces(emulate: Callable[..., Any] | None = None) -> Finding:
    """Whether the emulator can make hosts: it makes those of `quickstart`, for a moment.

    Parameters
    ----------
    emulate
        What runs with real frames; by default :func:`penstock.emulation.running.emulate`.
    """
    import tempfile

    from penstock.emulation.running import emulate as emulator
    from penstock.scenario import Scenario

    name, purpose = "Network namespaces", "penstock emulate"
    if not sys.platform.startswith("linux"):
        return Finding(name, "missing", f"this is {sys.platform}", purpose, "use a Linux machine")
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-") as place:
            probe = Scenario.from_name("quickstart", PROBE)
            (emulate or emulator)(probe, output=Path(place), forced=True)
    except (SimulationError, OSError) as error:
        found, _, remedy = str(error).partition("; ")
        return Finding(name, "missing", found, purpose, remedy or "docs/emulation.md has the needs")
    return Finding(name, "ok", "hosts could be made", purpose)


def tshark() -> Finding:
    """Wireshark's program for terminals, which reads captures."""
    purpose = "reading captures of penstock emulate --capture"
    program = shutil.which("tshark")
    if program is None:
        remedy = "install it: apt-get install tshark, or Wireshark"
        return Finding("tshark", "missing", "not in PATH", purpose, remedy)
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return Finding("tshark", "missing", str(error), purpose, "install it again")
    return Finding("tshark", "ok", answer.stdout.partition("\n")[0] or program, purpose)


def browser() -> Finding:
    """Something that opens a report."""
    purpose = "reading reports on this machine"
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        remedy = "copy report.html to a machine with a browser; the page is one file"
        return Finding("Browser", "missing", "none in PATH", purpose, remedy)
    return Finding("Browser", "ok", found, purpose)


def extra(name: str) -> Finding:
    """An optional part of the package."""
    lacking = [one for one in EXTRAS[name] if importlib.util.find_spec(one) is None]
    if lacking:
        remedy = f"pip install 'penstock[{name}]'"
        found = f"without {', '.join(lacking)}"
        return Finding(f"penstock[{name}]", "missing", found, USES[name], remedy)
    return Finding(f"penstock[{name}]", "ok", "installed", USES[name])
