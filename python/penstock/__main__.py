"""The command ``penstock``, also as ``python -m penstock``.

Signals are handled before anything large is imported.
"""

from __future__ import annotations

import sys

from penstock import interruption


def entry() -> None:
    """The console script."""
    interruption.install()
    from penstock.cli import main

    code = main()
    interruption.ignore()
    sys.exit(code)


if __name__ == "__main__":
    entry()
