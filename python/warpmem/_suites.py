"""Suites of workloads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Literal, Union

import polars as pl

from . import _warpmem
from ._arguments import listed
from ._progress import bar
from ._rows import frame_of
from ._traces import Trace

#: A built-in suite, or a file (TOML).
SuiteLike = Union[Literal["warpmem", "llm"], str, "os.PathLike[str]"]


def suites(name: SuiteLike | None = None) -> pl.DataFrame:
    """Returns the built-in suites, or the workloads of a suite with their recorded hashes."""
    return frame_of(json.loads(_warpmem.suites(None if name is None else os.fspath(name))))


def suite(
    name: SuiteLike,
    output: str | os.PathLike[str] | None = None,
    *,
    size: str | None = None,
    only: str | Iterable[str] = (),
    jobs: int = 0,
    progress: bool | None = None,
) -> list[Trace]:
    """Generates the traces of a suite and their manifest, and returns the traces.

    ``name`` is a built-in suite (``warpmem.suites()``) or a file. The folder is ``output``, by
    default named after the suite and the size: ``warpmem-small``. ``size`` is ``"small"``,
    ``"medium"`` or ``"large"`` in the built-in suites, small by default; ``only`` are workloads, all
    by default. ``jobs`` is the number of workloads generated at a time, 0 for one per processor.

    Raises ``warpmem.Error`` if a trace has another hash than its suite records.
    """
    folder = None if output is None else os.fspath(output)
    with bar("suite", "workloads", progress) as report:
        paths = _warpmem.suite(os.fspath(name), folder, size, listed(only), jobs, report)
    return [Trace(path) for path in paths]
