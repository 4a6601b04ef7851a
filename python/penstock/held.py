"""Tables that stay in memory although they are stored, as many as fit, of all runs together."""

from __future__ import annotations

from threading import Lock

import polars as pl

TABLE_BYTES = 128 * 2**20
"""Largest table that stays in memory once it is stored [B]; our choice: the flows of 5 ms of BFC's
fabric are 75 MB, those of an experiment's 32 runs of 50 ms would be 24 GB."""
ALL_BYTES = 2 * 2**30
"""Of all tables together [B]; our choice: a laptop has 8 GB, and a comparison of six schemes takes
a quarter of this. The flows of the 552 runs of bfc/fig4 would be 25 GB."""


class HeldTables:
    """Tables by their owner, any object that can be a key, and their name.

    Who judges many runs reads the tables of all of them again and again. So a new table does not
    displace others, or each would be gone when it is asked for again.

    Parameters
    ----------
    table_bytes
        No table above this is held [B].
    all_bytes
        All together are not above this [B].
    """

    def __init__(self, table_bytes: int = TABLE_BYTES, all_bytes: int = ALL_BYTES) -> None:
        self.table_bytes = table_bytes
        self.all_bytes = all_bytes
        self._tables: dict[object, dict[str, pl.DataFrame]] = {}
        self._bytes = 0
        self._lock = Lock()

    def get(self, owner: object, name: str) -> pl.DataFrame | None:
        """A table, if it is held."""
        with self._lock:
            return self._tables.get(owner, {}).get(name)

    def put(self, owner: object, name: str, table: pl.DataFrame) -> None:
        """Holds a table that is not held, unless there is no room."""
        size = int(table.estimated_size())
        with self._lock:
            own = self._tables.get(owner, {})
            has_room = size <= self.table_bytes and self._bytes + size <= self.all_bytes
            if has_room and name not in own:
                self._tables[owner] = own | {name: table}
                self._bytes += size

    def forget(self, owner: object) -> None:
        """Drops the tables of an owner."""
        with self._lock:
            own = self._tables.pop(owner, {})
            self._bytes -= sum(int(table.estimated_size()) for table in own.values())


HELD = HeldTables()
"""The tables of this process."""
