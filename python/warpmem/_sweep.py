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

#: Default number of shards of a sweep for an executor.
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
    """Runs the cells of a plan without results in ``output``, and opens the results.

    ``plan`` is a file (``docs/run.md``), or its content as a mapping; names of files in a mapping
    are relative to the working directory. Every finished run is kept at once: a sweep that was
    killed resumes when it is called again.

    ``executor`` is any ``concurrent.futures.Executor``: processes, or one of Dask, Ray, mpi4py or
    submitit. It receives ``shards`` shards of about equal work, each with ``jobs`` concurrent runs;
    workers share the file system. The tables are the same, byte for byte.
    """
    sweeping = _sweeping(plan, Path(output).absolute())
    if executor is not None:
        _remote(sweeping, executor, shards, jobs or 1, progress)
    _local(sweeping, None, jobs, progress)
    return Results(output)


def _sweeping(
    plan: str | os.PathLike[str] | Mapping[str, Any], directory: Path
) -> dict[str, str]:
    """Returns the plan as TOML, the folder of its names, and the folders of results and traces."""
    if isinstance(plan, Mapping):
        text, path = _warpmem.plan_to_toml(json.dumps(plan)), Path("sweep.toml")
    else:
        text, path = Path(plan).read_text(encoding="utf-8"), Path(plan)
    return {
        "text": text,
        "path": str(path.absolute()),
        "directory": str(directory),
        "cache": str(directory / "traces"),
    }


def _remote(
    sweeping: dict[str, str], executor: Executor, shards: int, jobs: int, progress: bool | None
) -> None:
    """Runs the missing cells as tasks of the executor."""
    tasks = _warpmem.deal_shards(sweeping, shards)
    with bar("sweep", "shards", progress) as report:
        futures = [
            executor.submit(
                _local, {**sweeping, "directory": str(part)}, f"{number}/{shards}", jobs, False
            )
            for number, part in tasks
        ]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if report:
                    report(done, len(futures))
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def _local(sweeping: dict[str, str], shard: str | None, jobs: int, progress: bool | None) -> None:
    """Runs a sweep, or a shard of one, in this process."""
    with bar("sweep", "instructions", progress) as report:
        _warpmem.sweep(sweeping, shard, jobs, report)
