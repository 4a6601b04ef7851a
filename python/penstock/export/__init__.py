"""Runs in formats that other programs read.

Reading order: :mod:`.columns` (what a column means), :mod:`.csv_files` (tables as CSV),
:mod:`.frames` (rows of a packet trace that are frames), :mod:`.capture` (frames as pcapng).
"""

from penstock.export.capture import write_capture
from penstock.export.csv_files import write_csv

__all__ = ["write_capture", "write_csv"]
