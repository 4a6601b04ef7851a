"""Tables of the benchmark, in the terminal and between the markers of a page.

A table stands between a line ``<!-- table NAME -->`` and a line ``<!-- end of table -->``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as RichTable

PLACE = re.compile(
    r"^<!-- table ([\w-]+) -->\n(?:.*?\n)??<!-- end of table -->$", re.MULTILINE | re.DOTALL
)


@dataclass
class Table:
    """A table: headings, and rows that are added one by one."""

    name: str
    headings: tuple[str, ...]
    text_columns: int = 1
    """So many columns from the left hold words."""
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Adds a row."""
        assert len(cells) == len(self.headings)
        self.rows.append(cells)

    def show(self, console: Console) -> None:
        """Prints the table."""
        shown = RichTable(title=self.name)
        for number, heading in enumerate(self.headings):
            shown.add_column(heading, justify="left" if number < self.text_columns else "right")
        for row in self.rows:
            shown.add_row(*row)
        console.print(shown)

    def markdown(self) -> str:
        """The table as lines of Markdown."""
        words = self.text_columns
        rule = ["---"] * words + ["--:"] * (len(self.headings) - words)
        return "\n".join(f"| {' | '.join(row)} |" for row in (self.headings, rule, *self.rows))


def filled(page: str, tables: Sequence[Table]) -> str:
    """`page` with `tables` in their places; a place without a new table stays as it is."""
    new = {table.name: table.markdown() for table in tables}

    def place(match: re.Match[str]) -> str:
        name = match[1]
        if name not in new:
            return match[0]
        return f"<!-- table {name} -->\n\n{new.pop(name)}\n\n<!-- end of table -->"

    done = PLACE.sub(place, page)
    if new:
        raise ValueError(f"the page has no place for the tables {', '.join(new)}")
    return done
