"""Sweeps over a plan, here or on the workers of an executor."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import Executor, as_completed
from pathlib import Path
from typing import Any

from . import _warpmem
from ._progress import bar
from ._results import Results

#: Parts that a sweep is divided into for an executor, where none are asked for.
SHARDS = 16


def sweep(
    plan: str | os.PathLike[str] | Mapping[str, Any],
    output: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    shards: int = SHARDS,
    jobs: int = 0,
    progress: bool | None = None,
) -> Results:
    """Runs the cells of a plan that ``output`` has no results of, and opens the results.

    ``plan`` is a file (``docs/sweep.md``), or its content as a mapping; names of files in a mapping
    are relative to the working directory. Every finished run is kept at once: a sweep that was
    killed goes on when it is called again.

    ``executor`` is any ``concurrent.futures.Executor``: processes, or one of Dask, Ray, mpi4py or
    submitit. It is given ``shards`` parts with about the same amount of work, each with ``jobs`` runs
    at a time; workers see the same files. The tables are the same, byte for byte.
    """
    text, path = _plan(plan)
    where = Path(output).absolute()
    cache = where / "traces"
    if executor is None:
        _local(text, path, where, cache, None, jobs, progress)
        return Results(where)
    parts = [where / "shards" / str(number) for number in range(1, shards + 1)]
    with bar("sweep", "shards", progress) as report:
        futures = [
            executor.submit(
                _local, text, path, part, cache, f"{number}/{shards}", jobs or 1, False
            )
            for number, part in enumerate(parts, 1)
        ]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if report:
                    report(done, shards)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    _warpmem.merge_shards(text, path, str(where), [str(part) for part in parts])
    _local(text, path, where, cache, None, 1, False)
    return Results(where)


def _plan(plan: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str, str]:
    """The plan as TOML, and the file that its names are relative to."""
    if isinstance(plan, Mapping):
        return _warpmem.plan_to_toml(json.dumps(plan)), str(Path("sweep.toml").absolute())
    return Path(plan).read_text(encoding="utf-8"), str(Path(plan).absolute())


def _local(
    text: str,
    path: str,
    where: Path,
    cache: Path,
    shard: str | None,
    jobs: int,
    progress: bool | None,
) -> None:
    """A sweep, or a shard of one, in this process."""
    with bar("sweep", "instructions", progress) as report:
        _warpmem.sweep(text, path, str(where), str(cache), shard, jobs, report)
