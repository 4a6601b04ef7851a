"""What MkDocs calls while it builds the site: adds the pages that are not in ``docs/``.

The pages of ``docs/`` are the site, with links as the forge needs them. To these come the pages of
the repository's root, and three pages that are made: the commands, the Python names, and all
experiments. A file of the repository to which a page links is copied into the site. The invariant:
nothing here repeats what another file says; a page follows its source.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import commands
import experiments
import links
import python_names
from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

MADE = {
    "commands.md": commands.page,
    "experiments.md": experiments.page,
    "python.md": python_names.page,
}
"""Pages that are made, and what makes them."""
ASSETS = ("site.css", "favicon.svg")
WIDE = {"results/quick.md", "results/paper.md"}
"""Pages whose tables need the place of the list of pages."""


def on_files(files: Any, config: Any) -> Any:
    """Adds what the site has beside ``docs/``."""
    added = [
        File.generated(config, name, abs_src_path=str(ROOT / page))
        for page, name in links.ROOT_PAGES.items()
    ]
    added += [File.generated(config, name, content=make(ROOT)) for name, make in MADE.items()]
    added += [
        File.generated(config, f"assets/{name}", abs_src_path=str(HERE / name)) for name in ASSETS
    ]
    added += [
        File.generated(
            config,
            links.address(path),
            abs_src_path=str(ROOT / path),
            inclusion=InclusionLevel.NOT_IN_NAV,
        )
        for path in links.copied(ROOT)
    ]
    for file in added:
        files.append(file)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turns the links of a page, which are those of the repository, into links of the site."""
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["navigation"]
    if page.file.src_uri in MADE:
        return markdown
    return links.on_the_site(markdown, page.file.src_uri)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Takes Sphinx's roles out of the text of docstrings."""
    return python_names.without_roles(html) if page.file.src_uri == "python.md" else html
