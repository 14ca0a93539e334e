"""Experiments of papers."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable
from typing import Any, Literal

import polars as pl

from . import _warpmem
from ._arguments import TraceLike, listed, path_of, share_of
from ._progress import bar

#: Least and largest error of sampled runs.
_ERRORS = (0.001, 0.2)


def papers() -> pl.DataFrame:
    """Returns the papers whose experiments ``reproduce`` repeats."""
    return pl.DataFrame(_warpmem.papers())


def reproduce(
    name: str,
    traces: TraceLike | Iterable[TraceLike] = (),
    *,
    programs: str | os.PathLike[str] | None = None,
    size: Literal["small", "medium", "paper"] | None = None,
    launch_instructions: int | None = None,
    error: float | str | None = None,
    machine: str | os.PathLike[str] | None = None,
    stand_ins: bool = False,
    map: bool = False,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    jobs: int = 0,
    progress: bool | None = None,
) -> pl.DataFrame:
    """Runs the experiments of a paper, and returns its published results beside those found here.

    ``name`` is one of ``warpmem.papers()``. A row is a claim with its verdict, an effect of a policy
    (``"survey"``) or of a combination (``"combined"``), or with ``map`` a point of the map of the
    paper's gain, or a trace on it. Without ``traces`` and ``programs``, a folder of captured
    programs, workloads are generated; ``quick`` takes fewer and smaller ones, minutes in all.

    ``output`` keeps the runs, tables and figures in a directory, from which a call resumes.
    ``error`` is the error within which the cycles of sampled runs are known, as a share (0.02) or
    as text (``"2%"``). Other options are those of ``warpmem reproduce --help``.
    """
    asked: dict[str, Any] = {
        "name": name,
        "traces": [path_of(trace) for trace in listed(traces)],
        "programs": None if programs is None else os.fspath(programs),
        "size": size,
        "launch_instructions": launch_instructions,
        "error": None if error is None else round(1000 * share_of("error", error, *_ERRORS)),
        "machine": None if machine is None else os.fspath(machine),
        "stand_ins": stand_ins,
        "map": map,
        "quick": quick,
        "writes": output is not None,
        "jobs": jobs,
    }
    if output is not None:
        return _reproduced(asked, os.fspath(output), progress)
    with tempfile.TemporaryDirectory() as directory:
        return _reproduced(asked, directory, progress)


def _reproduced(asked: dict[str, Any], directory: str, progress: bool | None) -> pl.DataFrame:
    with bar("reproduce", "instructions", progress) as report:
        frame, missing = _warpmem.reproduce({**asked, "directory": directory}, report)
    if missing:
        warnings.warn(f"missing programs: {', '.join(missing)}", stacklevel=3)
    return pl.DataFrame(frame)
