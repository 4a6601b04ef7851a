"""The options that several commands share, and what they mean for a scenario."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import completion
from penstock.errors import refuse
from penstock.named import absolute, is_path
from penstock.processors import THREADS_MAX
from penstock.units import whole_number

if TYPE_CHECKING:
    from penstock.scenario import Scenario

CAUSES = "causes"
"""What ``--trace`` calls the events that tell why flows were slow."""
CAUSE_EVENTS = ("choose", "pause_sent", "drop")
"""Of these a traced packet's row is kept then: a row per flow and switch where queues are chosen
(BFC), and one per pause and lost packet."""

_WILDCARDS = frozenset("*?[")
"""What makes a name a pattern."""

_EVERY = re.compile(r"every=(?P<number>[0-9]{1,6}(\.[0-9]{1,6})?) ?(?P<unit>ms|s|min|h)")
"""What --checkpoint accepts."""
_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3_600.0}
"""The seconds of each of its units [s]."""
_EVERY_LEAST = 0.1
"""Least time that --checkpoint accepts [s]: the core reports as often, and stops for one then."""

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A TOML file, or a name of `list scenarios`.",
        autocompletion=completion.scenarios,
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Directory for the results; default: below runs/.")
]
SchemeOption = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        help="A preset of `list schemes`, or its TOML file.",
        autocompletion=completion.schemes,
    ),
]
_SCHEMES = typer.Option(
    "--scheme",
    help="Presets, patterns and TOML files, separated by commas: 'bfc*,dctcp,./mine.toml'. May be "
    "given several times.",
    autocompletion=completion.scheme_list,
)
SchemesOption = Annotated[list[str], _SCHEMES]
SchemesIfAnyOption = Annotated[list[str] | None, _SCHEMES]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace what earlier commands left there; run what seems too large for this machine.",
    ),
]
ForceSizeOption = Annotated[
    bool, typer.Option("--force", help="Run what seems too large for this machine.")
]
ForcePageOption = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace the file --out even if Penstock did not write it; its own page is always "
        "replaced.",
    ),
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of every random draw.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a field, e.g. topology.racks=4, load=0.7, scheme.switch.assignment.queues=128.",
        autocompletion=completion.settings,
    ),
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Runs at a time; default: one per processor.")
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=THREADS_MAX,
        help="Threads of a run, for the same results; default: the processors that are free.",
    ),
]
OneThreadOption = Annotated[
    int, typer.Option("--threads", min=1, max=THREADS_MAX, help="Threads of a run.")
]
CheckpointOption = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="every=TIME",
        help="Leave a checkpoint for `penstock resume` every so often, e.g. every=10min.",
    ),
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="Check the simulator's invariants too (slow).")
]
TraceOption = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="packets[:NODES]|causes",
        help="Write packets.parquet, for all nodes or e.g. packets:T0,S1; causes: only what tells "
        "why flows were slow (docs/why-slow.md).",
    ),
]
OnceOption = Annotated[
    bool,
    typer.Option("--once", help="Run a scheme in Python once, not again to see that it repeats."),
]
WatchOption = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Also record what `penstock watch` shows, and write its page (docs/watch.md).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def read_scenario(
    reference: str,
    *,
    settings: list[str] | None = None,
    seed: int | None = None,
    trace: str | None = None,
    scheme: str | None = None,
) -> Scenario:
    """The scenario that the command line describes."""
    from penstock.scenario import Scenario

    chosen: dict[str, Any] = {} if scheme is None else {"scheme": one_scheme(scheme)}
    if seed is not None:
        chosen["seed"] = seed
    fields = read_settings(settings)
    for key in chosen:
        if key in fields:
            remedy = f"leave it to --{key} alone"
            raise refuse("--set", f"{key} is set twice", remedy, str(fields[key]))
    scenario = Scenario.load(reference, chosen | fields)
    if trace is None:
        return scenario
    if trace == CAUSES:
        causes = {"nodes": [], "events": list(CAUSE_EVENTS)}
        return scenario.with_overrides({"measure.events": True, "measure.trace": causes})
    return scenario.with_overrides({"measure.trace": {"nodes": _traced_nodes(trace, scenario)}})


def read_settings(settings: list[str] | None) -> dict[str, Any]:
    """The fields that ``--set`` sets, and their values.

    Raises
    ------
    ScenarioError
        A text sets nothing, or a field is set twice.
    """
    fields: dict[str, Any] = {}
    for text in settings or []:
        key, value = _setting(text)
        if key in fields:
            remedy = "write one value; penstock sweep takes several"
            raise refuse("--set", f"{key} is set twice", remedy, text)
        fields[key] = value
    return fields


def read_schemes(
    reference: str,
    schemes: list[str],
    *,
    settings: list[str] | None,
    seed: int | None,
    trace: str | None,
) -> dict[str, Scenario]:
    """A scenario under each of the schemes of a command line, by the scheme's name.

    Parameters
    ----------
    schemes
        Lists of names, patterns and paths, separated by commas.
    """
    chosen: dict[str, Scenario] = {}
    for text in named_schemes(schemes):
        one = read_scenario(reference, settings=settings, seed=seed, trace=trace, scheme=text)
        if one.scheme.name in chosen:
            remedy = 'write name = "..." in one of the files'
            raise refuse("--scheme", f"two schemes are called {one.scheme.name}", remedy, text)
        chosen[one.scheme.name] = one
    return chosen


def one_scheme(text: str) -> str:
    """The name or the absolute path of the only scheme of a command line.

    Raises
    ------
    ScenarioError
        They are several.
    """
    if "," in text and not Path(text).exists():
        remedy = "write one of them; penstock compare takes several, and so does sweep"
        raise refuse("--scheme", "a run has one scheme", remedy, text)
    return absolute(text)


def named_schemes(lists: list[str]) -> list[str]:
    """The names and paths that lists of names, patterns and paths mean, each once.

    Raises
    ------
    ScenarioError
        It names nothing, or a pattern fits no name.
    """
    parts = (part for text in lists for part in split_names(text, "--scheme"))
    names = (one for part in parts for one in _meant(part))
    return list(dict.fromkeys(names))


def with_scheme(settings: list[str] | None, scheme: str | None) -> list[str]:
    """What ``--set`` and ``--scheme`` set, as ``--set`` has it.

    Parameters
    ----------
    scheme
        Names or paths, separated by commas; none without the option.

    Raises
    ------
    ScenarioError
        Both set the scheme.
    """
    from penstock.scenario.table import SCHEME_KEYS

    written = settings or []
    if scheme is None:
        return written
    for text in written:
        if text.partition("=")[0].strip() in SCHEME_KEYS:
            remedy = "leave it to --scheme alone"
            raise refuse("--set", "scheme is set twice", remedy, text)
    return [*written, f"scheme={scheme}"]


def _meant(text: str) -> list[str]:
    """The schemes that a name, a pattern or a path means."""
    if is_path(text) or _WILDCARDS.isdisjoint(text):
        return [text]
    from penstock.scenario.scheme import scheme_names

    found = [one for one in scheme_names() if fnmatchcase(one, text)]
    if not found:
        remedy = "`penstock list schemes` lists them"
        raise refuse("--scheme", "no scheme has a name of this pattern", remedy, text)
    return found


def checkpoint_seconds(text: str | None) -> float | None:
    """The time between two checkpoints [s]; none without the option."""
    if text is None:
        return None
    found = _EVERY.fullmatch(text)
    if found is None:
        remedy = "write a time of the clock on the wall, such as every=30s, every=10min or every=2h"
        raise refuse("--checkpoint", "this is no time between two checkpoints", remedy, text)
    seconds = float(found["number"]) * _UNITS[found["unit"]]
    if seconds < _EVERY_LEAST:
        message = "checkpoints cannot follow each other so fast"
        remedy = f"write every={_EVERY_LEAST}s or more, such as every=30s"
        raise refuse("--checkpoint", message, remedy, text)
    return seconds


def split_names(text: str, option: str) -> list[str]:
    """The names in a comma-separated list, each once."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise refuse(option, "it names nothing", "write names separated by commas", text)
    return list(dict.fromkeys(names))


def _setting(text: str) -> tuple[str, Any]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise refuse("--set", "this sets nothing", "write KEY=VALUE, e.g. load=0.7", text)
    from penstock.scenario.table import setting_value

    return key.strip(), setting_value(key.strip(), value.strip())


def _traced_nodes(trace: str, scenario: Scenario) -> list[int]:
    """The numbers of the nodes in ``packets:T0,S1,5``; none when all are meant."""
    what, separator, nodes = trace.partition(":")
    if what != "packets":
        remedy = f"write packets, packets:NODES or {CAUSES}"
        raise refuse("--trace", "this cannot be traced", remedy, trace)
    if not separator:
        return []
    names = scenario.topology.node_names()
    numbers = {name: number for number, name in enumerate(names)}
    found = []
    for node in split_names(nodes, "--trace"):
        number = whole_number(node) if node[0].isdecimal() else numbers.get(node)
        if number is None or number >= len(names):
            remedy = f"nodes are {names[0]} to {names[-1]}, or 0 to {len(names) - 1}"
            raise refuse("--trace", "there is no such node", remedy, node)
        found.append(number)
    return found
