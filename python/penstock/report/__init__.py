"""Reports: one self-contained HTML page, made from runs alone.

What it is: `report.write(runs, path, command=…, title=…)`. What it is not: it measures nothing
(see `penstock.analysis`) and needs nothing from the Internet: figures, data and style are in the
page. Invariant: a figure that would be empty is not drawn; the page says why instead.
"""

from penstock.report.document import write
from penstock.report.figure import ReportFigure
from penstock.report.verdict import ClaimRow

__all__ = ["ClaimRow", "ReportFigure", "write"]
