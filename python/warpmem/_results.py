"""Directories of results."""

from __future__ import annotations

import os
from collections.abc import Iterable

import polars as pl

from . import _warpmem
from ._arguments import listed
from ._compare import Comparison
from ._run import Tables

Directory = "str | os.PathLike[str]"


class Results(Tables):
    """What runs have left in one directory or several: tables as attributes, ``results.runs``.

    A directory of a sweep that has not ended is read as its finished runs.
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
        """The answer to a question in SQL, over the tables by their names."""
        return pl.DataFrame(self._results.query(sql))

    def compare(self, baseline: str, metrics: Iterable[str] | None = None) -> Comparison:
        """The runs relative to those of a baseline, as ``warpmem.compare``."""
        shown = None if metrics is None else list(metrics)
        return Comparison(self._results.compare(baseline, shown))

    def __repr__(self) -> str:
        finished, planned = self._results.planned()
        return f"<warpmem.Results {', '.join(self.directories)}: {finished} of {planned} runs>"
