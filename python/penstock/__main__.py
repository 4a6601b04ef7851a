"""The command ``penstock``, also as ``python -m penstock``.

Handlers of signals are installed, and what makes the start short is set, before anything else is
imported.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys

OBJECTS_OF_A_START = 200_000
"""Objects from which Python looks for garbage. The imports of `penstock run` make 137,000, all of
which stay; looking through them again and again took 7 % of the processor time of a short run."""

gc.set_threshold(OBJECTS_OF_A_START)
# NumPy's library for linear algebra starts a thread for each core, which costs 65 ms of processor
# time; no command multiplies matrices that are large enough for two.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Pydantic looks through all installed packages for plugins of its own, which costs 10 ms.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def _end(number: int, frame: object) -> None:
    os.write(2, b"\ninterrupted; nothing was run\n")
    os._exit(1)


for _one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_one) is not signal.SIG_IGN:
        signal.signal(_one, _end)


def _open_closed_streams() -> None:
    """What is written to a stream that was closed before the start (``penstock run … >&-``) goes
    nowhere. Otherwise the next file that is opened would get its descriptor, and the text."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))


def _replace_what_output_lacks() -> None:
    """A character that the encoding of standard output lacks is written as a question mark. It
    would end the command with an error otherwise, after its work. Standard error has escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def entry() -> None:
    """The console script."""
    _open_closed_streams()
    _replace_what_output_lacks()
    from penstock import interruption

    interruption.install()
    from penstock.cli import main

    code = main()
    interruption.ignore()
    # Python looks for garbage once more before it ends, among objects that all end with it: a fifth
    # of the processor time of a short run. Frozen objects are not looked through.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    entry()
