"""Where the results of a command go: the directory, its name where the user gives none, its page.

Invariant: what cannot be written there is refused before the work.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import refuse
from penstock.storage.name import LENGTH_MAX, file_name
from penstock.storage.record import REPORT_FILE, is_of_run, is_own_page

if TYPE_CHECKING:
    from penstock.scenario import Scenario

RUNS = Path("runs")
"""Where results go that were not sent elsewhere."""
HASH_DIGITS = 8
"""Digits of a scenario's hash in a name (our choice: a person's runs do not collide)."""
COMPARED_MAX = 50
"""Characters of a directory's name that say what is compared (our choice: eight short names)."""
NAME_BYTES_MAX = 200
"""Longest name of a directory for results [B]; file systems allow 255, drafts add some."""


def out_directory(out: Path | None, default: str) -> Path:
    """The directory for the results, refused before the work when nothing can be written there.

    Parameters
    ----------
    default
        Its name below `RUNS` when the user names none.
    """
    target = out or RUNS / default
    text = str(target)
    if "\0" in text or len(target.name.encode("utf-8", "surrogateescape")) > NAME_BYTES_MAX:
        remedy = f"write a name of at most {NAME_BYTES_MAX} bytes"
        raise refuse("--out", "no directory can have this name", remedy, text)
    _check_place(target, "name a directory, or nothing")
    return target


def _check_place(directory: Path, remedy: str) -> None:
    """Refuses a directory that is a file or below one, or that cannot be made or written to."""
    place = next(one for one in (directory, *directory.parents) if one.exists())
    if not place.is_dir():
        message = "this is a file, and a directory is wanted"
        raise refuse("--out", message, remedy, str(place))
    if not os.access(place, os.W_OK):
        message = f"nothing can be written to {place.absolute()}"
        raise refuse("--out", message, "name another directory", str(directory))


def default_name(scenario: Scenario, what: str, is_varied: bool) -> str:
    """The name of a directory for runs of a scenario that got no directory.

    Parameters
    ----------
    what
        The scheme, or what else tells the runs apart.
    is_varied
        Whether settings of the command line make it another scenario; its hash is then added.
    """
    varied = f"-{scenario.content_hash()[:HASH_DIGITS]}" if is_varied else ""
    ending = f"-{what}-seed{scenario.seed}{varied}"
    kept = max(LENGTH_MAX - len(ending), 1)
    return file_name(scenario.name[:kept] + ending)


def compared(schemes: Sequence[str], seeds: Sequence[int] = ()) -> str:
    """What tells a comparison from others of the scenario: ``compare-bfc+pfc``, with several seeds
    ``compare-bfc+pfc-3-seeds``; a hash where that is long.

    Parameters
    ----------
    schemes
        The names of the schemes.
    seeds
        The seeds, if there are several.
    """
    named = "+".join(schemes)
    if seeds:
        is_row = list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
        named += f"-{len(seeds)}-seeds" if is_row else f"-seeds-{'+'.join(map(str, seeds))}"
    if len(named) > COMPARED_MAX:
        digest = hashlib.sha256(named.encode()).hexdigest()[:HASH_DIGITS]
        named = f"{len(schemes)}-schemes-{digest}"
    return f"compare-{named}"


def new_page(path: Path, force: bool, name: str = REPORT_FILE) -> Path:
    """The place of an HTML page; a file of somebody else is not replaced.

    Parameters
    ----------
    path
        The page, or the directory where it gets the name `name`.

    Raises
    ------
    ScenarioError
        There is a file that is no page of ours, and `force` is not given; or no file can be there.
    """
    page = path / name if path.is_dir() or not path.suffix else path
    _check_place(page.parent, "name a directory, or a page that ends in .html")
    if page.is_dir():
        message = "this is a directory, and a page is wanted there"
        raise refuse("--out", message, "name another page, or rename it", str(page))
    if page.exists() and is_of_run(page):
        raise refuse("--out", "this file is part of a run", "name another page", str(page))
    if page.exists() and not force and not is_own_page(page):
        raise refuse(
            "--out",
            "it is no page that Penstock wrote",
            "name another file, or add --force to replace it",
            str(page),
        )
    return page
