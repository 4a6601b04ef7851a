"""The site of the documentation, built: complete, without a dead link, and nothing from elsewhere.

``make docs`` builds the same site. What its pages say is checked in ``test_documents.py``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import penstock
from penstock.cli.commands import COMMANDS, imported

ROOT = Path(__file__).resolve().parents[2]
NOT_A_PAGE = {"404.html"}
"""Its links begin at the root of a server."""


class Page(HTMLParser):
    """The links, the names and what is loaded of one HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value for key, value in attrs if value}
        self.names |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon", "preconnect"):
            self.loaded.append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = (path for path in site.rglob("*.html") if path.name not in NOT_A_PAGE)
    return {path: Page(path.read_text("utf-8")) for path in found}


def test_no_link_of_the_site_is_dead(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for link in page.links:
            address, anchor = urldefrag(link)
            if urlsplit(address).scheme:
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor and target in pages:
                assert unquote(anchor) in pages[target].names, f"{path.name}: {link}"


def test_the_site_loads_nothing_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    assert [link for page in pages.values() for link in page.loaded if "//" in link] == []
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import\s*)[\"']?(https?:)?//", style.read_text()), style


def test_every_command_and_option_has_its_place(site: Path) -> None:
    text = (site / "commands.html").read_text("utf-8")
    for name in COMMANDS:
        assert f'id="{name}"' in text
        section = text.split(f'<h2 id="{name}"')[1].split("<h2")[0]
        for parameter in imported(name).params:
            called = parameter.opts[0]
            term = called if called.startswith("-") else parameter.metavar or called
            assert f"<code>{term}" in section, (name, parameter.name)


def test_every_public_name_has_its_place(pages: dict[Path, Page], site: Path) -> None:
    names = {f"penstock.{name}" for name in penstock.__all__ if name != "__version__"}
    assert names <= pages[site / "python.html"].names
    assert ":class:" not in (site / "python.html").read_text("utf-8")


def test_every_experiment_is_in_the_gallery_with_its_verdicts(site: Path) -> None:
    text = (site / "experiments.html").read_text("utf-8")
    results = (ROOT / "docs" / "results" / "quick.md").read_text("utf-8")
    files = sorted((ROOT / "experiments").glob("*/*.toml"))
    for path in files:
        assert f"<code>penstock reproduce {tomllib.loads(path.read_text())['id']}</code>" in text
    told = [int(number) for number in re.findall(r">(\d+) hold\b", text)]
    assert sum(told) == results.count("| holds |")
    assert len(files) >= text.count('class="verdicts"') > 0
