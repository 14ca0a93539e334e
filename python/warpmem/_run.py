"""One run."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import polars as pl

from . import _warpmem
from ._arguments import (
    MachineLike,
    TraceLike,
    machine_of,
    path_of,
    policy_of,
    recording_of,
    slots_of,
    with_slots,
)
from ._progress import bar
from ._warpmem import DEFAULT_MACHINE

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._names import RunPolicies


class Tables:
    """Tables by name, as attributes: ``tables.channels``."""

    def table(self, name: str) -> pl.DataFrame:
        raise NotImplementedError

    def tables(self) -> list[str]:
        raise NotImplementedError

    def __getattr__(self, name: str) -> pl.DataFrame:
        if not name.startswith("_") and name in self.tables():
            return self.table(name)
        raise AttributeError(f"no table `{name}`; there are {', '.join(self.tables())}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables()]


class Run(Tables):
    """A finished run: its metrics by name, and its tables as attributes.

    ``run["ipc_thread"]`` is a metric (a column of ``run.runs``), ``run.channels`` a table. Tables of
    single loads, requests, intervals and commands exist if requested.
    """

    def __init__(self, frames: dict[str, _warpmem.Frame]) -> None:
        self._frames: dict[str, Any] = dict(frames)
        self.metrics: dict[str, Any] = self.table("runs").row(0, named=True)

    def tables(self) -> list[str]:
        return list(self._frames)

    def table(self, name: str) -> pl.DataFrame:
        frame = self._frames[name]
        if not isinstance(frame, pl.DataFrame):
            frame = self._frames[name] = pl.DataFrame(frame)
        return frame

    def __getitem__(self, metric: str) -> Any:
        if metric not in self.metrics:
            near = ", ".join(get_close_matches(metric, self.metrics)) or "see warpmem.metrics()"
            raise KeyError(f"no metric `{metric}`; {near}")
        return self.metrics[metric]

    def __repr__(self) -> str:
        shown = ("trace", "machine", "dram_scheduler", "cycles", "ipc_thread", "row_hit_rate")
        values = ", ".join(f"{name}={_short(self.metrics[name])}" for name in shown)
        return f"<warpmem.Run {values}>"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@with_slots
def run(
    trace: TraceLike,
    machine: MachineLike = DEFAULT_MACHINE,
    *,
    set: Mapping[str, Any] | None = None,
    loads: bool = False,
    intervals: int | None = None,
    requests: str | None = None,
    commands: bool = False,
    progress: bool | None = None,
    **policies: Unpack[RunPolicies],
) -> Run:
    """Replays a trace on a machine.

    ``set`` overrides parameters (``{"dram.read_queue": 128}``). Policies are given by slot:
    ``dram_scheduler="warped-mc"``, ``warp_scheduler="lrr"``; see ``warpmem.policies()``.
    ``warpmem.policy`` returns one with parameters.

    ``loads`` adds the table with a row per load, ``intervals`` one with a row per N core
    cycles, ``requests`` one with a row per request of a sample (``"1/64"``, ``"all"``), ``commands``
    one with a row per DRAM command. Other threads continue; Ctrl-C stops the run.

    Raises ``warpmem.Error`` where the trace, the machine or a policy is not valid.
    """
    chosen = [(slot, policy_of(policy)) for slot, policy in slots_of(policies).items()]
    recording = recording_of(loads, intervals, requests, commands)
    with bar("run", "instructions", progress) as report:
        frames = _warpmem.run(
            path_of(trace), machine_of(machine, set)._machine, chosen, recording, report
        )
    return Run(frames)
