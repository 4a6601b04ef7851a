"""A network at work: one HTML page on which a finished run is watched.

What it is: `watch.write(run, path)`, and `for_watching(scenario)`, which records all that the page
can show. What it is not: a live view of a run that goes on. Invariant: the page shows what the
tables say, and draws nothing that was not recorded.

Reading order: `recording.py` (what is measured), `samples.py`, `pauses.py`, `flows.py`, `steps.py`
(tables to columns), `overview.py` (the time line), `layout.py` (where nodes are), `column.py` (the
way into the file), `page.py`. In `page/` are the scripts; `main.js` begins.
"""

from penstock.watch.page import write
from penstock.watch.recording import for_watching

__all__ = ["for_watching", "write"]
