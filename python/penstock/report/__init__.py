"""Reports: one self-contained HTML page, made from runs alone.

What it is: `report.write(runs, path, command=…, title=…)`. What it is not: it measures nothing
(see `penstock.analysis`), draws nothing (the page's own scripts do), and needs nothing from the
Internet: data, scripts and style are in the page. Invariant: a figure that would be empty is not in
the page; the page says why instead.

Reading order: `chart` (a figure as data), `kinds` and `section` (which figures there are), `table`,
`document`, `frame` (what all pages share); then `script/page.js`, which draws.
"""

from penstock.report.document import write
from penstock.report.figure import PaperFigure, ReportFigure
from penstock.report.verdict import ClaimRow

__all__ = ["ClaimRow", "PaperFigure", "ReportFigure", "write"]
