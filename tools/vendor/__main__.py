"""Brings what the pages of a report need of others: uPlot, from its package on npm.

For maintainers: `make vendor`. The package is the one whose version and hash stand here, or nothing
is written. Users need neither npm nor this program: the files are a part of Penstock's package,
with their licence.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "1.6.32"
SHA256 = "4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d"
"""Of the package."""

FILES = ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE")
DESTINATION = Path(__file__).parents[2] / "python" / "penstock" / "report" / "vendor" / "uplot"


def main() -> None:
    """Fetches, checks, unpacks."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", f"uplot@{VERSION}"], cwd=folder, check=True)
        package = (Path(folder) / f"uplot-{VERSION}.tgz").read_bytes()
    found = hashlib.sha256(package).hexdigest()
    if found != SHA256:
        sys.exit(f"uplot {VERSION} is not the package that was reviewed: {found}")
    DESTINATION.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        for file in FILES:
            member = archive.extractfile(f"package/{file}")
            if member is None:
                sys.exit(f"uplot {VERSION} has no {file}")
            (DESTINATION / Path(file).name).write_bytes(member.read())
    print(f"uplot {VERSION} is in {DESTINATION}")


main()
