"""Where a result comes from: version, commit, and the resources that the process has used."""

from __future__ import annotations

import hashlib
import resource
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path


def package_version() -> str:
    """The installed version of this package."""
    return version("penstock")


@cache
def source_commit() -> str | None:
    """The commit of the checkout that this package runs from; `None` when it was installed."""
    source = Path(__file__).resolve().parents[2]
    if not (source / "crates" / "penstock-py").is_dir():
        return None
    try:
        shown = subprocess.run(
            ["git", "-C", str(source), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return shown.stdout.strip()


@cache
def code_digest() -> str:
    """SHA-256 of this package as it is on disk: Python, compiled core, presets, workloads.

    Unlike version and commit it also changes with what is not committed. The catalogue of
    experiments is left out: each of its files stands for itself.
    """
    root = Path(__file__).resolve().parent
    left_out = {"__pycache__", "catalogue"}
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.is_file() and not left_out.intersection(inside.parts[:-1]):
            digest.update(f"{inside}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def result_versions() -> dict[str, str]:
    """What two machines must have in common for the same results, byte for byte: name to version.

    The code of this package is named by the first 12 digits of :func:`code_digest`.
    """
    others = {name: version(name) for name in ("numpy", "polars", "scipy")}
    return {"Penstock": package_version(), "code": code_digest()[:12]} | others


def peak_memory_bytes() -> int:
    """The most memory that this process has held so far [B]."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
