"""The flows of a long list, in columns.

What it is: rows of whole numbers that were checked where they were read. A row takes 24 bytes, as a
tuple 200. What it is not: a table of results. Invariant: no column has a null; and Polars is
imported by whoever makes the frame, not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from penstock.dependency import Flow

if TYPE_CHECKING:
    import polars as pl

    from penstock._core import FlowColumns


class FlowRows(Sequence[Flow]):
    """Rows [source, destination, size, start] of a list, as tuples of them would be."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return self._frame.height

    @overload
    def __getitem__(self, index: int) -> Flow: ...
    @overload
    def __getitem__(self, index: slice) -> FlowRows: ...
    def __getitem__(self, index: int | slice) -> Flow | FlowRows:
        if isinstance(index, slice):
            return FlowRows(self._frame[index])
        source, destination, size, start = self._frame.row(index)
        return source, destination, size, start

    def __iter__(self) -> Iterator[Flow]:
        return iter(self._frame.iter_rows())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FlowRows):
            return self._frame.equals(other._frame)
        if isinstance(other, list | tuple):
            return len(self) == len(other) and all(
                mine == theirs for mine, theirs in zip(self, other, strict=True)
            )
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self[:1]))

    def __repr__(self) -> str:
        return f"<{len(self):,} flows>"

    def columns(self) -> FlowColumns:
        """The columns as the core takes them."""
        source, destination, size, start = (one.to_numpy() for one in self._frame.iter_columns())
        return source, destination, size, start

    def joined(self, between: str, within: str = ",") -> str:
        """The numbers of all rows as a text, with `between` two rows and `within` two numbers."""
        text: str = self._frame.write_csv(include_header=False)
        return text[:-1].replace(",", within).replace("\n", between)
