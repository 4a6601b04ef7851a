"""The example of docs/adding-a-policy.md, as it is printed: it compiles, passes its tests, is read.

The crates are copied to a directory below ``target``, which stays, so that only what has changed is
compiled again. The first time takes a minute of processor time, later ones 3 to 8 s.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-policy.md"
PLACE = ROOT / "target" / "adding-a-policy"
POLICY = "crates/penstock-fabric/src/scheduling/longest.rs"
SCHEMA = "crates/penstock-sim/examples/schema.rs"

NEW_FILE = re.compile(r"^New file `(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODEL = re.compile(r"^class .*?(?=^```$)", re.MULTILINE | re.DOTALL)
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


def test_the_policy_passes_its_own_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    files = printed()
    rust = {path: text for path, text in files.items() if path.startswith("crates/")}
    assert POLICY in rust
    assert len(rust) == 3
    printer = '//! Schema.\nfn main() { println!("{}", penstock_sim::Scenario::schema()); }\n'
    renew(PLACE / "copy", rust | {SCHEMA: printer})
    said = cargo("test", "-p", "penstock-fabric", "--lib", "scheduling::longest")
    tests = rust[POLICY].count("#[test]")
    assert tests > 0
    assert f"{tests} passed; 0 failed" in said
    assert "warning" not in said
    cargo("check", "-p", "penstock-fabric", "--tests")
    check_model(cargo("run", "-p", "penstock-sim", "--example", "schema"), monkeypatch)


def check_model(schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows the model that `make models` makes of a schema, and it reads its fields."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "models")
    declared = import_module("declaration").read(json.loads(schema))
    source = import_module("python_code").modules(declared)["scheduling"]
    [model] = MODEL.findall(PAGE.read_text())
    assert model in source
    module = ModuleType("penstock.scenario.declared.scheduling_of_the_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, module.__name__, "exec"), module.__dict__)
    assert module.LongestScheduling(kind="longest").lead == 1
    assert module.LongestScheduling(kind="longest", lead="2 kB").lead == 2_000


def test_the_policy_has_the_form_of_the_other_files() -> None:
    done = subprocess.run(
        ["rustfmt", "--edition", "2024", "--check", "--config-path", str(ROOT / "rustfmt.toml")],
        input=printed()[POLICY],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
