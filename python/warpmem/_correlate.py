"""Runs beside those of a reference simulator, and beside measured points."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from . import _warpmem
from ._arguments import listed
from ._machine import overrides_of
from ._progress import bar
from ._rows import flat, frame_of


class Correlation:
    """Both sides of every run or measured point, and summaries of the errors.

    ``runs`` has a row per run of the reference, ``kernels`` one per kernel if wanted, ``cycles`` the
    errors of cycles by DRAM scheduler, ``metrics`` those of every metric, and ``pairs`` the cycles with
    FIFO over those with FR-FCFS. With measured points, ``points`` has a row for each and ``summary``
    the errors by class and GPU. Frames of the other kind are empty. ``content`` is everything, as
    ``warpmem correlate --format json`` prints it.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        summary = content["summary"]
        self.points: pl.DataFrame = frame_of(content.get("points", []))
        self.summary: pl.DataFrame = frame_of(summary if isinstance(summary, list) else [])
        of_runs = {} if isinstance(summary, list) else summary
        self.runs: pl.DataFrame = frame_of(content.get("runs", []))
        self.kernels: pl.DataFrame = frame_of(content.get("kernels", []))
        self.cycles, self.metrics, self.pairs = (
            frame_of([flat(row) for row in of_runs.get(name, [])])
            for name in ("cycles", "metrics", "fifo_over_fr_fcfs")
        )

    def __repr__(self) -> str:
        of = "runs" if self.points.is_empty() else "points"
        return f"<warpmem.Correlation of {getattr(self, of).height} {of}>"


def correlate(
    references: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    points: str | os.PathLike[str] | None = None,
    classes: str | Iterable[str] | None = None,
    gpus: str | Iterable[str] | None = None,
    only: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    machines: str | Iterable[str] | None = None,
    dram_schedulers: str | Iterable[str] | None = None,
    map: Mapping[str, str] | None = None,
    machine: str | os.PathLike[str] | None = None,
    traces: str | os.PathLike[str] | None = None,
    trace: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    results: str | os.PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    orders: int = 1,
    speed: bool = False,
    kernels: bool = False,
    jobs: int = 0,
    progress: bool | None = None,
) -> Correlation:
    """Runs the traces of a reference simulator's results, or the workloads of measured points.

    ``references`` are Accel-Sim's results, as JSON or as the logs that it prints; ``points`` is a
    table of figures of GPUs instead (CSV), selected by ``classes``, ``gpus`` and ``only``.
    ``results`` takes our side from a directory instead of running. Other options are those of
    ``warpmem correlate --help``. Runs that are left out are warnings.
    """
    shared: dict[str, Any] = {
        "only": _list(only),
        "map": list((map or {}).items()),
        "overrides": overrides_of(set),
        "jobs": jobs,
    }
    if points is not None:
        asked = {"points": os.fspath(points), "classes": _list(classes), "gpus": _list(gpus)}
        return _points({**shared, **asked}, cache, progress)
    asked_runs = {
        "references": [os.fspath(path) for path in listed(references)],
        "exclude": _list(exclude),
        "machines": _list(machines),
        "dram_schedulers": _list(dram_schedulers),
        "machine": _path(machine),
        "traces": _path(traces),
        "trace": _path(trace),
        "cache": _path(cache),
        "results": _path(results),
        "orders": orders,
        "speed": speed,
        "kernels": kernels,
    }
    if not asked_runs["references"]:
        raise TypeError("give references or points")
    with bar("correlate", "instructions", progress) as report:
        text, notes = _warpmem.correlate({**shared, **asked_runs}, report)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Correlation(json.loads(text))


def _points(
    asked: dict[str, Any], cache: str | os.PathLike[str] | None, progress: bool | None
) -> Correlation:
    if cache is None:
        with tempfile.TemporaryDirectory() as folder:
            return _points(asked, folder, progress)
    os.makedirs(cache, exist_ok=True)
    with bar("correlate", "instructions", progress) as report:
        text = _warpmem.correlate_points({**asked, "cache": os.fspath(cache)}, report)
    return Correlation(json.loads(text))


def _list(names: str | Iterable[str] | None) -> list[str] | None:
    return None if names is None else [str(name) for name in listed(names)]


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)
