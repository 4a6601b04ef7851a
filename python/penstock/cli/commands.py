"""The commands by name. Each module is imported when its command is called.

The list of all commands is printed from here. A command and its own help come from the function in
the command's module: importing all modules takes more time than most commands need.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command


class Listing(NamedTuple):
    """A command as it is listed: where it is, and what it does."""

    module: str
    """Its module in this package."""
    function: str
    """Its function there."""
    summary: str
    """The first line of what the function says about itself."""


COMMANDS = {
    "run": Listing("simulation", "run", "Run one scenario and write a run directory."),
    "resume": Listing(
        "simulation",
        "resume",
        "Go on with a run that was stopped or killed, from its last checkpoint.",
    ),
    "compare": Listing(
        "simulation",
        "compare",
        "Run the same traffic under several schemes: one table, one report.",
    ),
    "sweep": Listing(
        "sweep",
        "sweep",
        "Run a scenario over a grid of values and seeds: one dataset, one table, one page.",
    ),
    "tune": Listing(
        "tune",
        "tune",
        "Search for good values of fields: Optuna proposes points, each is run with all seeds.",
    ),
    "emulate": Listing(
        "emulate",
        "emulate",
        "Run a scenario in real time: its switches between real hosts, with real frames.",
    ),
    "reproduce": Listing(
        "reproduce",
        "reproduce",
        "Run a paper's figure or table and hold it against what the paper reports.",
    ),
    "show": Listing(
        "catalogue",
        "show",
        "Show a scheme, workload, topology, scenario, experiment or metric: units, defaults, "
        "sources.",
    ),
    "report": Listing(
        "report", "report", "Write a self-contained HTML report of runs that are on disk."
    ),
    "export": Listing(
        "export",
        "export",
        "Write a run's tables as CSV, or its frames as a capture that Wireshark reads.",
    ),
    "watch": Listing("watch", "watch", "Write one HTML page on which a run can be watched."),
    "deadlock": Listing(
        "deadlock",
        "deadlock",
        "Say whether pauses can wait for each other in a cycle, and how to prevent it.",
    ),
    "import-hpcc": Listing(
        "import_hpcc",
        "import_hpcc",
        "Run the files of the ns-3 HPCC simulator; write its fct.txt and pfc.txt.",
    ),
    "import-simai": Listing(
        "import_simai",
        "import_simai",
        "Make a scenario of a training workload of SimAI: which GPU sends when, to whom, how much.",
    ),
    "doctor": Listing(
        "doctor",
        "doctor",
        "Say what this machine can do, what is missing, and the remedy for each.",
    ),
    "list": Listing(
        "catalogue",
        "list_",
        "List schemes, workloads, topologies, scenarios, experiments or metrics.",
    ),
}
"""Every command, in the order in which they are listed."""


class Commands(TyperGroup):
    """A group whose members know only their summaries until one of them is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, listing in COMMANDS.items():
            self.add_command(TyperCommand(name, short_help=listing.summary))

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; what is wrong with a parameter is told in the words of this project."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _told(error)
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called, imported; unknown names are refused before that."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, imported(name) if name else command, rest


class Command(TyperCommand):
    """A command that takes an option once, unless the option says that it takes several values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words of the command line; refuses those of which only the last would count."""
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        options = (one for one in given if isinstance(one, TyperOption) and not one.is_flag)
        for option, count in Counter(options).items():
            if count > 1 and not option.multiple and not ctx.resilient_parsing:
                ctx.fail(f"{option.opts[0]} is given {count} times; write it once")
        return super().parse_args(ctx, args)


def imported(name: str) -> Any:
    """The command of this name, with its parameters."""
    listing = COMMANDS[name]
    function = getattr(import_module(f"penstock.cli.{listing.module}"), listing.function)
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=Command, help=_flowing(function))(function)
    return get_command(alone)


_EXPECTED = {
    "int_": "write a whole number",
    "float_": "write a number",
    "greater_than_equal": "write at least {ge}",
    "less_than_equal": "write at most {le}",
}
"""What to write instead, by the beginning of Pydantic's word for what is wrong."""


def _told(error: typer.BadParameter) -> str:
    """What is wrong with a parameter: the value and the remedy, where Pydantic has refused it."""
    from pydantic import ValidationError

    cause = error.__cause__
    if not isinstance(cause, ValidationError):
        return error.message
    found = cause.errors()[0]
    limits = found.get("ctx", {})
    if found["type"] == "value_error":
        return str(limits["error"])
    for prefix, remedy in _EXPECTED.items():
        if found["type"].startswith(prefix):
            return f"{found['input']!r} is refused; {remedy.format_map(limits)}."
    return error.message


def _flowing(function: Callable[..., object]) -> str:
    """What a function says about itself, a line a paragraph: a terminal breaks it where it ends."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
