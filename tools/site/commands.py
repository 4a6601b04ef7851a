"""The page of all commands, from the command line itself.

Every option stands as ``--help`` prints it. What a command is for in a larger task stands in the
guide, not here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from typer.main import get_command

from penstock.cli import app
from penstock.cli.commands import COMMANDS, imported

HEAD = """# Commands

`penstock COMMAND --help` prints the same text as this page. A command writes its results to the
standard output, and progress and messages to the standard error.

| exit code | meaning |
| --- | --- |
| 0 | the command did what it was asked for |
| 1 | a run failed, was stopped by a signal, or could not be written |
| 2 | the input cannot be run; nothing was started |

| command | what it does |
| --- | --- |
"""
_EXAMPLE = re.compile(r"^Example: (penstock .*)", re.DOTALL)


def page(root: Path) -> str:
    """The page in Markdown; `root` is that of the repository, and not needed."""
    del root
    names = sorted(COMMANDS)
    rows = (f"| [{name}](#{name}) | {cell(COMMANDS[name].summary)} |\n" for name in names)
    return HEAD + "".join(rows) + "".join(section(name) for name in names)


def section(name: str) -> str:
    """A command: what it says about itself, how it is called, its arguments and options.

    A bar in an option stays as it is: MkDocs splits no cell within code.
    """
    command = imported(name)
    context = get_command(app).context_class(command, info_name=name)
    usage = " ".join(["penstock", name, *command.collect_usage_pieces(context)])
    records = [parameter.get_help_record(context) for parameter in command.params]
    rows = "".join(f"| `{term}` | {cell(help)} |\n" for term, help in filter(None, records))
    text = "\n\n".join(paragraph(part) for part in described(command).split("\n\n"))
    table = f"| argument or option | meaning |\n| --- | --- |\n{rows}" if rows else ""
    return f"\n## {name}\n\n```text\n{usage}\n```\n\n{text}\n\n{table}"


def described(command: Any) -> str:
    """What a command says about itself."""
    return str(command.help or "").strip()


def paragraph(text: str) -> str:
    """A paragraph of a help text: an example is code, options are code."""
    if example := _EXAMPLE.match(text):
        return f"```sh\n{example[1].replace(chr(10), ' ')}\n```"
    return cell(text)


def cell(text: str) -> str:
    """Words for a cell of a table; what a user types in them is code."""
    text = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    text = text.replace("[", "\\[")
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", text)
