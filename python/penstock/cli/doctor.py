"""The command that says what this machine can do, and what is missing."""

from __future__ import annotations

from pathlib import Path

import typer

from penstock.cli.options import JsonOption


def doctor(as_json: JsonOption = False) -> None:
    """Say what this machine can do, what is missing, and the remedy for each.

    Nothing is changed. Exit code: 0 Penstock works here, even when an optional thing is missing; 1
    something that everything needs is broken.

    Example: penstock doctor
    """
    from penstock import doctor
    from penstock.cli import output

    findings = list(doctor.examine(Path.cwd()))
    works = all(one.state != "broken" for one in findings)
    if as_json:
        output.print_json({"works": works, "findings": [one.as_json() for one in findings]})
    else:
        rows = [[one.name, one.state, one.found, one.purpose] for one in findings]
        output.print_table(["What", "State", "Found", "For"], rows)
        for one in findings:
            if one.remedy:
                typer.echo(f"{one.name}: {one.remedy}")
    if not works:
        raise typer.Exit(1)
