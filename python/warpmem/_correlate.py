"""Runs beside those of a reference simulator, profiles of a GPU, and measured points."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from . import _warpmem
from ._arguments import MachineLike, TraceLike, listed, machine_of, path_of
from ._machine import Machine, overrides_of
from ._progress import bar
from ._rows import flat, frame_of


class Correlation:
    """Both sides of every run or measured point, and summaries of the errors.

    ``runs`` has a row per run of the reference, ``kernels`` one per kernel if wanted, ``cycles`` the
    errors of cycles by DRAM scheduler, ``metrics`` those of every metric, and ``pairs`` the cycles with
    FIFO over those with FR-FCFS. With measured points, ``points`` has a row for each and ``summary``
    the errors by class and GPU; with profiles, ``figures`` has a row per kernel and figure and
    ``summary`` the errors by figure. Frames of the other kinds are empty. ``content`` is everything,
    as ``warpmem correlate --format json`` prints it.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        summary = content["summary"]
        self.points: pl.DataFrame = frame_of(content.get("points", []))
        self.figures: pl.DataFrame = frame_of(content.get("rows", []))
        self.summary: pl.DataFrame = frame_of(summary if isinstance(summary, list) else [])
        of_runs = {} if isinstance(summary, list) else summary
        self.runs: pl.DataFrame = frame_of(content.get("runs", []))
        self.kernels: pl.DataFrame = frame_of(content.get("kernels", []))
        self.cycles, self.metrics, self.pairs = (
            frame_of([flat(row) for row in of_runs.get(name, [])])
            for name in ("cycles", "metrics", "fifo_over_fr_fcfs")
        )

    def __repr__(self) -> str:
        frames = {"points": self.points, "figures": self.figures, "runs": self.runs}
        of = next((name for name, frame in frames.items() if not frame.is_empty()), "runs")
        return f"<warpmem.Correlation of {frames[of].height} {of}>"


def correlate(
    references: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    points: str | os.PathLike[str] | None = None,
    profiles: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    warm: bool = False,
    classes: str | Iterable[str] | None = None,
    gpus: str | Iterable[str] | None = None,
    only: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    machines: str | Iterable[str] | None = None,
    dram_schedulers: str | Iterable[str] | None = None,
    map: Mapping[str, str] | None = None,
    machine: MachineLike | None = None,
    traces: str | os.PathLike[str] | None = None,
    trace: TraceLike | None = None,
    cache: str | os.PathLike[str] | None = None,
    results: str | os.PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    orders: int = 1,
    speed: bool = False,
    kernels: bool = False,
    jobs: int = 0,
    progress: bool | None = None,
) -> Correlation:
    """Runs the traces of a reference simulator's results, the workloads of measured points, or the
    trace of profiles of a GPU.

    ``references`` are Accel-Sim's results, as JSON or as the logs that it prints. ``points`` is a
    table of figures of GPUs instead (CSV), selected by ``classes``, ``gpus`` and ``only``;
    ``profiles`` are the CSV of Nsight Compute or nvprof, for ``trace`` on ``machine``. ``results`` takes our side from a directory instead of running. Other options are those of
    ``warpmem correlate --help``. Runs that are left out are warnings.
    """
    shared: dict[str, Any] = {
        "only": _list(only),
        "map": list((map or {}).items()),
        "overrides": overrides_of(set),
        "jobs": jobs,
    }
    if sum(bool(one) for one in (listed(references), listed(profiles), points)) != 1:
        raise TypeError("give references, points or profiles")
    if listed(profiles):
        return _profiles(profiles, trace, machine, set, warm, cache, progress)
    if points is not None:
        asked = {"points": os.fspath(points), "classes": _list(classes), "gpus": _list(gpus)}
        return _points({**shared, **asked}, cache, progress)
    asked_runs = {
        "references": [os.fspath(path) for path in listed(references)],
        "exclude": _list(exclude),
        "machines": _list(machines),
        "dram_schedulers": _list(dram_schedulers),
        "machine": None if machine is None else _named(machine),
        "traces": _path(traces),
        "trace": None if trace is None else path_of(trace),
        "cache": _path(cache),
        "results": _path(results),
        "orders": orders,
        "speed": speed,
        "kernels": kernels,
    }
    with bar("correlate", "instructions", progress) as report:
        text, notes = _warpmem.correlate({**shared, **asked_runs}, report)
    return _warned(text, notes)


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


def _profiles(
    profiles: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    trace: TraceLike | None,
    machine: MachineLike | None,
    set: Mapping[str, Any] | None,
    warm: bool,
    cache: str | os.PathLike[str] | None,
    progress: bool | None,
) -> Correlation:
    if trace is None or machine is None:
        raise TypeError("profiles need a trace and a machine")
    asked = {
        "profiles": [os.fspath(path) for path in listed(profiles)],
        "trace": path_of(trace),
        "warm": warm,
        "cache": _path(cache),
    }
    chosen = machine_of(machine, set)._machine
    with bar("correlate", "instructions", progress) as report:
        text, notes = _warpmem.correlate_profiles(asked, chosen, report)
    return _warned(text, notes)


def _warned(text: str, notes: Iterable[str]) -> Correlation:
    """Warns of what was left out."""
    for note in notes:
        warnings.warn(note, stacklevel=4)
    return Correlation(json.loads(text))


def _named(machine: MachineLike) -> str:
    if isinstance(machine, Machine):
        raise TypeError("the machine of a reference is a name or a file; `set` changes it")
    return os.fspath(machine)


def _list(names: str | Iterable[str] | None) -> list[str] | None:
    return None if names is None else [str(name) for name in listed(names)]


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)
