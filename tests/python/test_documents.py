"""The documents: links and anchors lead somewhere, Python and tutorials run, commands exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from penstock.cli import app, main

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?[^)]*\)")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
SAVED = re.compile(r"Save this as\s+`([^`]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
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


def commands_of(page: str) -> list[str]:
    """The commands of a page for the shell, one a line."""
    return [
        line
        for language, text in BLOCK.findall((ROOT / "docs" / page).read_text())
        if language == "sh"
        for line in text.replace("\\\n", " ").splitlines()
    ]


def run_commands(page: str) -> int:
    """Runs all commands of a page, one after the other; their number."""
    lines = commands_of(page)
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line
    return len(lines)


def test_the_exports_of_their_page_run(here: Path) -> None:
    assert run_commands("export.md") == 4
    assert Path("runs/first-csv/columns.csv").is_file()
    assert Path("runs/first-s0.pcapng").stat().st_size > 1_000_000


def test_the_sweeps_of_their_page_run(here: Path) -> None:
    assert run_commands("sweep.md") == 3
    assert len(list(Path("runs/first/cells").rglob("cell.parquet"))) == 18


def test_the_search_of_its_page_runs_in_a_short_form(here: Path) -> None:
    pip, search, *others = commands_of("tune.md")
    assert pip == "pip install 'penstock[tune]'"
    short = ["--set", "duration=300us", "--trials", "6", "--seeds", "1..2"]
    assert main([*shlex.split(search)[1:], *short]) == 0
    assert [line.split()[1] for line in others] == ["run", "sweep"]
    for line in others:
        assert main([*shlex.split(line)[1:], "--set", "duration=300us"]) == 0
    assert Path("runs/storage-again/table.csv").is_file()


def test_the_training_job_of_its_page_runs(here: Path) -> None:
    page = (ROOT / "docs" / "simai.md").read_text()
    (text,) = (text for language, text in BLOCK.findall(page) if language == "text")
    Path("gpt-32.txt").write_text(text)
    assert run_commands("simai.md") == 2
    (made,) = Path("runs").glob("gpt-32-*")
    assert (made / "steps.parquet").is_file()


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_the_commands_of_a_tutorial_run(here: Path, path: Path) -> None:
    for name, text in SAVED.findall(path.read_text()):
        Path(name).write_text(text)
    assert run_commands(f"tutorials/{path.name}") >= 2
    assert list(Path("runs").rglob("report.html"))


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
