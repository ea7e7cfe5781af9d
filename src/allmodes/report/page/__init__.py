"""The report page: a result as one HTML file (extra [report])."""

from allmodes.report.page.page import html, write_report

__all__ = ["html", "write_report"]
