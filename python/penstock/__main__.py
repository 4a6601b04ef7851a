"""The command ``penstock``, also as ``python -m penstock``.

Handlers of signals are installed before anything else is imported.
"""

from __future__ import annotations

import os
import signal


def _end(number: int, frame: object) -> None:
    os.write(2, b"\ninterrupted; nothing was run\n")
    os._exit(1)


for _one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_one) is not signal.SIG_IGN:
        signal.signal(_one, _end)


def entry() -> None:
    """The console script."""
    from penstock import interruption

    interruption.install()
    import sys

    from penstock.cli import main

    code = main()
    interruption.ignore()
    sys.exit(code)


if __name__ == "__main__":
    entry()
