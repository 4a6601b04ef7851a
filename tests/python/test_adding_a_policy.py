"""The example of docs/adding-a-policy.md, as it is printed: it compiles and passes its tests.

The crates are copied to a directory below ``target``, which stays, so that only what has changed is
compiled again. The first time takes a minute of processor time, later ones 3 to 8 s.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-policy.md"
PLACE = ROOT / "target" / "adding-a-policy"
POLICY = "crates/penstock-fabric/src/scheduling/longest.rs"
MODEL = "python/penstock/scenario/scheduling.py"

NEW_FILE = re.compile(r"^New file `(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EDIT = re.compile(
    r"^In `(\S+)`, (above|below) `([^\n]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def printed() -> dict[str, str]:
    """The files that the page writes and changes, by their path in the repository."""
    page = PAGE.read_text()
    files = dict(NEW_FILE.findall(page))
    for path, where, line, text in EDIT.findall(page):
        before = files[path] if path in files else (ROOT / path).read_text()
        lines = before.splitlines(keepends=True)
        [number] = [number for number, one in enumerate(lines) if one.strip() == line]
        lines.insert(number + (where == "below"), text)
        files[path] = "".join(lines)
    return files


def renew(copy: Path, files: dict[str, str]) -> None:
    """Brings the copy of the crates up to date; what has not changed keeps its time."""
    wanted = {Path(path): text.encode() for path, text in files.items()}
    sources = [ROOT / "Cargo.toml", ROOT / "Cargo.lock", *(ROOT / "crates").rglob("*")]
    for source in sources:
        if source.is_file():
            wanted.setdefault(source.relative_to(ROOT), source.read_bytes())
    for old in copy.rglob("*"):
        if old.is_file() and old.relative_to(copy) not in wanted:
            old.unlink()
    for path, content in wanted.items():
        target = copy / path
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def cargo(*arguments: str) -> str:
    """What a command of cargo says about the copy; it has to succeed."""
    unoptimised = {
        f"CARGO_PROFILE_{profile}_{key}": "0"
        for profile in ("DEV", "TEST")
        for key in ("OPT_LEVEL", "DEBUG")
    }
    done = subprocess.run(
        ["cargo", *arguments, "--offline", "--quiet"],
        cwd=PLACE / "copy",
        env=os.environ | unoptimised | {"CARGO_TARGET_DIR": str(PLACE / "build")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_policy_passes_its_own_tests() -> None:
    files = printed()
    rust = {path: text for path, text in files.items() if path.startswith("crates/")}
    assert POLICY in rust
    assert len(rust) == 3
    renew(PLACE / "copy", rust)
    said = cargo("test", "-p", "penstock-fabric", "--lib", "scheduling::longest")
    tests = rust[POLICY].count("#[test]")
    assert tests > 0
    assert f"{tests} passed; 0 failed" in said
    assert "warning" not in said
    cargo("check", "-p", "penstock-fabric", "--tests")
    cargo("check", "-p", "penstock-sim")


def test_the_policy_has_the_form_of_the_other_files() -> None:
    done = subprocess.run(
        ["rustfmt", "--edition", "2024", "--check", "--config-path", str(ROOT / "rustfmt.toml")],
        input=printed()[POLICY],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_model_joins_its_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("penstock.scenario.scheduling_of_the_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(printed()[MODEL], MODEL, "exec"), module.__dict__)
    names = [policy.__name__ for policy in module.Scheduling.__args__]
    assert "LongestFirst" in names
    assert module.LongestFirst(kind="longest").lead == 1
    with pytest.raises(ValueError, match="lead"):
        module.LongestFirst(kind="longest", lead="2 MiB")
