"""Files that are whole or absent, whoever is killed when.

:mod:`penstock.storage.draft` writes single files, :mod:`penstock.storage.place` whole directories.
:mod:`penstock.storage.record` is what a run directory says of itself: its files, their checksums.
:mod:`penstock.storage.name` turns names into names of files.

Invariant: nothing below a directory that this package did not write is changed or removed.
"""
