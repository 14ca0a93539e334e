"""Stand-alone DRAM channels and networks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from . import _warpmem
from ._arguments import MachineLike, listed, machine_of
from ._progress import bar
from ._warpmem import DEFAULT_MACHINE

if TYPE_CHECKING:
    from ._names import ArbiterName, DramSchedulerName, Several, TopologyName
    from ._parameterized import ParameterizedPolicy


def dram(
    stream: str = "random",
    *,
    machine: MachineLike = DEFAULT_MACHINE,
    standard: str | None = None,
    set: Mapping[str, Any] | None = None,
    dram_scheduler: Several[DramSchedulerName | ParameterizedPolicy] = (),
    trace: str | os.PathLike[str] | None = None,
    requests: int = 1_000_000,
    locality: int = 1,
    reads: float = 1.0,
    stride: int | None = None,
    channels: int = 1,
    seed: int = 1,
    bytes: int | None = None,
    rate: str | None = None,
    sources: int = 1,
    warps: int = 1,
    group: int = 1,
    progress: bool | None = None,
) -> pl.DataFrame:
    """Drives stand-alone DRAM channels with a stream, a fixed stride, or the accesses of a file.

    The options are those of ``warpmem dram --help``. Returns a row per scheduler, and per channel.
    """
    described = {
        "stream": stream,
        "trace": None if trace is None else os.fspath(trace),
        "requests": requests,
        "locality": locality,
        "reads": reads,
        "stride": stride,
        "channels": channels,
        "seed": seed,
        "bytes": bytes,
        "rate": rate,
        "sources": sources,
        "warps": warps,
        "group": group,
    }
    chosen = machine_of(machine, set)._machine
    schedulers = [str(policy) for policy in listed(dram_scheduler)]
    with bar("dram", "requests", progress) as report:
        frame = _warpmem.dram(chosen, standard, schedulers, described, report)
    return pl.DataFrame(frame)


def network(
    *,
    machine: MachineLike = DEFAULT_MACHINE,
    set: Mapping[str, Any] | None = None,
    topology: Several[TopologyName | ParameterizedPolicy] = (),
    arbiter: Several[ArbiterName | ParameterizedPolicy] = (),
    pattern: str = "uniform",
    nodes: int | None = None,
    loads: Iterable[float] | None = None,
    packet_flits: int = 1,
    warmup: int = 2_000,
    cycles: int = 10_000,
    seed: int = 1,
    progress: bool | None = None,
) -> pl.DataFrame:
    """Drives stand-alone networks with synthetic traffic; returns a row per network and load.

    ``loads`` are in flits per source and cycle; without them, even steps up to saturation. The
    options are those of ``warpmem network --help``.
    """
    traffic = {
        "pattern": pattern,
        "nodes": nodes,
        "packet_flits": packet_flits,
        "warmup": warmup,
        "cycles": cycles,
        "seed": seed,
    }
    chosen = machine_of(machine, set)._machine
    rates = None if loads is None else sorted(loads)
    topologies = [str(policy) for policy in listed(topology)]
    arbiters = [str(policy) for policy in listed(arbiter)]
    with bar("network", "loads", progress) as report:
        frame = _warpmem.network(chosen, topologies, arbiters, traffic, rates, report)
    return pl.DataFrame(frame)
