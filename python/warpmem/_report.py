"""Reports on runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from . import _warpmem
from ._arguments import listed
from ._progress import bar


@runtime_checkable
class InDirectories(Protocol):
    """Opened results, ``warpmem.Results``."""

    directories: list[str]


def report(
    results: InDirectories | str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    markdown: str | os.PathLike[str] | None = None,
    plots: str | os.PathLike[str] | None = None,
    baseline: str | None = None,
    metrics: Iterable[str] | None = None,
    mean: Literal["arithmetic", "geometric", "harmonic"] = "geometric",
    allow_mixed: bool = False,
    style: str | os.PathLike[str] | None = None,
    title: str | None = None,
    progress: bool | None = None,
) -> Path:
    """Writes a report on runs as one HTML page, and returns its path.

    ``results`` are directories of results, or ``warpmem.Results``; several are read as one. The page is ``output``, by
    default ``report.html`` in the first directory. ``markdown`` is a further page of Markdown, and
    ``plots`` a folder for every chart (SVG, PDF, PNG, CSV) and every table (CSV, LaTeX, Markdown).
    Other options are those of ``warpmem report --help``; ``docs/reports.md`` describes the file of
    ``style``.
    """
    directories = results.directories if isinstance(results, InDirectories) else listed(results)
    asked = {
        "directories": [os.fspath(directory) for directory in directories],
        "output": _path(output),
        "markdown": _path(markdown),
        "plots": _path(plots),
        "baseline": baseline,
        "metrics": None if metrics is None else list(metrics),
        "mean": mean,
        "allow_mixed": allow_mixed,
        "style": _path(style),
        "title": title,
    }
    with bar("report", "parts", progress) as told:
        page, notes = _warpmem.report(asked, told)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Path(page)


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)
