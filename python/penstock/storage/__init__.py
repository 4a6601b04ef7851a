"""Files that are whole or absent, even when a writer is killed.

:mod:`penstock.storage.draft` writes single files, :mod:`penstock.storage.place` whole directories.
:mod:`penstock.storage.record` is what a run directory says of itself: its files, their checksums.
:mod:`penstock.storage.new_file` is what of a user's files a command may replace.
:mod:`penstock.storage.name` makes file names from names.

Invariant: nothing below a directory that this package did not write is changed or removed.
"""
