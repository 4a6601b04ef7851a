"""The command line: each command parses, calls the Python API, prints.

Results go to standard output, progress and messages to standard error. Exit codes: 0 the command is
done; 1 a run failed, was interrupted by a signal or could not be written; 2 the input cannot be
run.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from penstock import interruption
from penstock.cli.commands import Commands
from penstock.cli.typed import typed
from penstock.errors import ScenarioError, SimulationError, StorageError, refuse
from penstock.provenance import package_version

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Errors of a stream that takes no more."""

app = typer.Typer(
    name="penstock",
    cls=Commands,
    help="Evaluate flow control for data-center networks.",
    no_args_is_help=True,
    # Plain text: what draws boxes takes longer to import than all else that the list needs.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"penstock {package_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Evaluate flow control for data-center networks."""


def _check_text(words: Sequence[str]) -> None:
    """Refuses names of files that are no text: pages cannot show them, and Polars opens none."""
    names = [("argument", word) for word in words]
    with suppress(FileNotFoundError):
        names.append(("working directory", str(Path.cwd())))
    for what, name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise refuse(what, "it is no text in UTF-8", "rename it", name) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code; users' mistakes never show a traceback."""
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        _check_text(words)
        with typed(words):
            app(args=words, prog_name="penstock")
    except ScenarioError as error:
        for problem in error.problems:
            print(f"error: {problem}", file=sys.stderr)
        return 2
    except SimulationError as error:
        print(f"the run failed: {error}", file=sys.stderr)
        return 1
    except StorageError as error:
        print(f"the results could not be written: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        # Files have names here, and a stream has none: what standard output goes to.
        if error.filename is None and error.errno in NO_ROOM:
            said = f"{error.strerror}; {interruption.kept()}"
            print(f"standard output could not be written: {said}", file=sys.stderr)
            return 1
        # Only a path that is not absolute needs the working directory.
        is_homeless = isinstance(error, FileNotFoundError) and error.filename is None
        reason = "the working directory was removed; change to another one"
        print(f"error: {reason if is_homeless else error}", file=sys.stderr)
        return 2
    except SystemExit as end:
        return int(end.code or 0)
    return 0
