"""A worker process on this machine: tasks come in by a pipe, outcomes go out by it.

`LocalExecutor` starts it. It ends when the pipe ends, so it does not outlive its executor, not even
one that was killed.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection

from penstock.sweep.work import work


def main(descriptor: int) -> None:
    """Works on every task that comes by a pipe, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the executor, which ends us
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    parent = os.getppid()
    with Connection(descriptor) as pipe:
        try:
            while True:
                pipe.send(work(pipe.recv(), cancel=lambda: os.getppid() != parent))
        except (EOFError, ConnectionError):
            return


if __name__ == "__main__":
    main(int(sys.argv[1]))
