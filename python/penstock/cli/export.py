"""The command that writes a run in formats that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock import interruption
from penstock.cli import output
from penstock.cli.options import JsonOption, split_names
from penstock.errors import refuse


def export(
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")],
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="DIR", help="Every table as CSV, in this new folder."),
    ] = None,
    pcapng: Annotated[
        Path | None,
        typer.Option("--pcapng", metavar="FILE", help="Every frame of a traced run."),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option("--nodes", help="Switches whose frames are written, e.g. T0,S1."),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", help="Bytes of a frame that the file holds; default: 60."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier export, or a file.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a run's tables as CSV, or its frames as a capture that Wireshark reads.

    Example: penstock export runs/demo/bfc --csv tables
    """
    from penstock.cli.display import display, teller
    from penstock.export.capture import KEPT_LEAST, write_capture
    from penstock.export.csv_files import write_csv
    from penstock.results import Run

    if csv is None and pcapng is None:
        raise refuse("export", "it says no format", "add --csv DIR or --pcapng FILE")
    for option, value in {"--nodes": nodes, "--keep": keep}.items():
        if pcapng is None and value is not None:
            raise refuse(option, "it is about frames", "add --pcapng FILE, or leave it out", value)
    chosen = None if nodes is None else split_names(nodes, "--nodes")
    interruption.keep("what was being written is not there")
    run = Run.load(directory)
    made: dict[str, str | int] = {}
    with display(()) as shown:
        if csv is not None:
            made["csv"] = str(write_csv(run, csv, force=force, progress=teller(shown)))
        if pcapng is not None:
            kept = KEPT_LEAST if keep is None else keep
            made["frames"] = write_capture(
                run, pcapng, nodes=chosen, kept=kept, force=force, progress=teller(shown)
            )
            made["pcapng"] = str(pcapng)
    interruption.written(*(path for path in (csv, pcapng) if path is not None))
    if as_json:
        output.print_json(made)
        return
    if csv is not None:
        typer.echo(f"tables:  {csv}")
    if pcapng is not None:
        typer.echo(f"capture: {pcapng} ({made['frames']:,} frames)")
