"""The documents: links and anchors lead somewhere, Python runs, commands exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from penstock.cli import app
from penstock.scenario.scheme import preset_names

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?[^)]*\)")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
HEADING = re.compile(r"^#+ (.*)", re.MULTILINE)


def blocks(language: str) -> list[tuple[Path, str]]:
    return [
        (path, text)
        for path in DOCUMENTS
        for found, text in BLOCK.findall(path.read_text())
        if found == language
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target, anchor in LINK.findall(path.read_text()):
        if "://" not in target:
            page = path.parent / target if target else path
            assert page.exists(), f"{path.name}: {target}"
            assert not anchor or anchor in anchors(page), f"{path.name}: {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the forge and the site make them."""
    text = BLOCK.sub("", page.read_text())
    words = (re.sub(r"[^\w -]", "", heading.lower()) for heading in HEADING.findall(text))
    return {word.replace(" ", "-") for word in words}


def test_python_in_the_documents_runs(here: Path) -> None:
    for path, text in blocks("python"):
        exec(compile(text, str(path), "exec"), {})


def test_commands_in_the_documents_exist() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for path, text in [*blocks("console"), *blocks("sh"), *blocks("bash")]:
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["penstock"] and len(words) > 1 and not words[1].startswith("-"):
                assert words[1] in commands, f"{path.name}: {line}"


def test_the_citation_has_the_version_and_the_licence() -> None:
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    facts = dict(line.split(": ", 1) for line in lines if re.match(r"[a-z-]+: ", line))
    assert facts["version"] == package["version"]
    assert facts["license"] == package["license"]


def test_the_changelog_counts_experiments_and_presets() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    experiments = len(list((ROOT / "experiments").rglob("*.toml")))
    assert f"**{experiments} experiments**" in text
    assert f"**{len(preset_names())} scheme presets**" in text
