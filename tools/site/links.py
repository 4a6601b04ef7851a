"""Links of the repository's pages as links of the site.

A page names another by its path in the repository, which the forge follows. On the site the pages
of ``docs/`` are at the root, and the pages of the repository's root beside them. Any other file has
a copy below ``repository/``. Links in code blocks are code and stay.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages in the repository's root, and their names on the site."""
DOCS = "docs/"
COPIES = "repository/"
"""Where the site has files that are no pages."""

_LINK = re.compile(r"(?<=\]\()([^)#\s]+)")
"""The target of a link or picture, without an anchor."""
_FENCED = re.compile(r"(^[ ]*```.*?^[ ]*```[ ]*$)", re.DOTALL | re.MULTILINE)
"""A code block. `re.split` keeps the group, so every second part is one."""


def address(path: str) -> str:
    """Where the site has a file of the repository."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    return path.removeprefix(DOCS) if path.startswith(DOCS) else COPIES + path


def source(page: str) -> str:
    """The path in the repository of a page of the site; the inverse of `address` for pages."""
    for path, name in ROOT_PAGES.items():
        if name == page:
            return path
    return DOCS + page


def on_the_site(markdown: str, page: str) -> str:
    """The text of a page with the links of the site.

    Parameters
    ----------
    markdown
        The text, with links relative to its place in the repository.
    page
        The page's name on the site.
    """
    origin = source(page)

    def moved(target: str) -> str:
        return posixpath.relpath(address(_path(origin, target)), posixpath.dirname(page) or ".")

    return _changed(markdown, moved)


def copied(root: Path) -> list[str]:
    """The files outside of ``docs/`` to which pages link, sorted; paths in the repository."""
    found: set[str] = set()
    pages = [*ROOT_PAGES, *(str(path.relative_to(root)) for path in (root / DOCS).rglob("*.md"))]
    for page in pages:

        def note(target: str, page: str = page) -> str:
            found.add(_path(page, target))
            return target

        _changed((root / page).read_text("utf-8"), note)
    return sorted(path for path in found if address(path).startswith(COPIES))


def _path(origin: str, target: str) -> str:
    """The path in the repository of what a page links to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))


def _changed(markdown: str, change: Callable[[str], str]) -> str:
    """The text with each relative target of a link, outside of code blocks, changed."""

    def one(match: re.Match[str]) -> str:
        target = match[0]
        return target if "://" in target or target.startswith("mailto:") else change(target)

    parts = _FENCED.split(markdown)
    parts[::2] = [_LINK.sub(one, part) for part in parts[::2]]
    return "".join(parts)
