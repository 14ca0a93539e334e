"""Directories of results."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from . import _warpmem
from ._arguments import listed
from ._compare import Comparison
from ._report import report
from ._run import Tables


class Results(Tables):
    """Results of runs in one directory or several: tables as attributes, ``results.runs``.

    The directory of an unfinished sweep is read as its finished runs.
    """

    def __init__(
        self, directory: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
    ) -> None:
        self.directories = [os.fspath(path) for path in listed(directory)]
        self._results = _warpmem.Results(self.directories)

    def tables(self) -> list[str]:
        return self._results.tables()

    def table(self, name: str) -> pl.DataFrame:
        return pl.DataFrame(self._results.table(name))

    def query(self, sql: str) -> pl.DataFrame:
        """Returns the result of an SQL query over the tables, by their names."""
        return pl.DataFrame(self._results.query(sql))

    def compare(self, baseline: str, metrics: Iterable[str] | None = None) -> Comparison:
        """Returns the runs relative to those of a baseline, as ``warpmem.compare`` does."""
        shown = None if metrics is None else list(metrics)
        return Comparison(self._results.compare(baseline, shown))

    def report(self, output: str | os.PathLike[str] | None = None, **options: Any) -> Path:
        """Writes a report as one HTML page, and returns its path; see ``warpmem.report``."""
        return report(self, output, **options)

    def __repr__(self) -> str:
        return f"<warpmem.Results {', '.join(self.directories)}: {', '.join(self.tables())}>"
