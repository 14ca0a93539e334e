"""Contents and properties of traces, and their classes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from . import _warpmem
from ._arguments import (
    MachineLike,
    TraceLike,
    listed,
    machine_of,
    path_of,
    policies_of,
    with_slots,
)
from ._progress import bar
from ._rows import flat, frame_of
from ._warpmem import DEFAULT_MACHINE

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._names import RunPolicies

LINE, SECTOR = _warpmem.UNITS


class Info:
    """Contents of a trace and properties of its accesses, as frames.

    ``summary`` is one row on the whole trace, ``kernels`` has a row per launch. Without ``brief``,
    ``parts`` has a row for all kernels together (``kernel`` is null) and one per kernel: intensity,
    dependent loads, spread over channels. ``mix`` counts their instructions by kind, ``divergence``
    the lines and sectors of an instruction by kind of access, ``translation`` its pages by page
    size. ``sites`` has a row per static memory instruction, ``footprint`` one per memory space,
    ``reuse`` one per range of reuse distances, ``caches`` one per size of an LRU cache, ``sharing``
    one per number of CTAs that share a line or a DRAM row. ``content`` is everything, as
    ``warpmem info --format json`` prints it.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        profile: dict[str, Any] = content.get("profile", {})
        single = {k: v for k, v in content.items() if not isinstance(v, (list, dict))}
        self.summary: pl.DataFrame = frame_of([{**single, **_of_trace(profile)}])
        self.kernels: pl.DataFrame = frame_of([_launch(launch) for launch in content["kernels"]])
        self.parts: pl.DataFrame = frame_of([_part(part) for part in _parts(profile)])
        self.mix: pl.DataFrame = _by_part(profile, lambda part: part["mix"]["kinds"])
        self.divergence: pl.DataFrame = _by_part(profile, lambda part: part["divergence"])
        self.translation: pl.DataFrame = _by_part(profile, lambda part: part["translation"])
        self.sites: pl.DataFrame = frame_of(profile.get("sites", []))
        self.footprint: pl.DataFrame = frame_of([flat(row) for row in profile.get("footprint", [])])
        reuse = profile.get("reuse", {})
        self.reuse: pl.DataFrame = frame_of(reuse.get("histogram", []))
        self.caches: pl.DataFrame = frame_of(reuse.get("caches", []))
        shared = {
            "line": profile.get("line_sharing", {}),
            "row": profile.get("spread", {}).get("row_sharing", {}),
        }
        rows = [{"of": of, **row} for of, sharing in shared.items() for row in sharing.get("by_ctas", [])]
        self.sharing: pl.DataFrame = frame_of(rows)

    def __repr__(self) -> str:
        shown = ("trace", "warp_instructions", "memory_records")
        values = ", ".join(f"{name}={self.content[name]}" for name in shown)
        return f"<warpmem.Info {values}, launches={self.kernels.height}>"


#: Parts of a part with frames of their own.
_FRAMES = ("mix", "divergence", "translation")
#: Parts of a profile with frames of their own, and the machine's numbers per channel.
_TABLES = ("all", "kernels", "sites", "footprint", "reuse", "line_sharing", "spread")


def _parts(profile: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns all kernels together, then each."""
    return [{**profile["all"], "name": None}, *profile["kernels"]] if profile else []


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    numbers = flat({name: value for name, value in part.items() if name not in _FRAMES})
    return {"kernel": numbers.pop("name"), **numbers}


def _by_part(profile: Mapping[str, Any], rows: Any) -> pl.DataFrame:
    """Makes a frame of the rows of every part, with its kernel."""
    parts = _parts(profile)
    return frame_of([{"kernel": part["name"], **flat(row)} for part in parts for row in rows(part)])


def _of_trace(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the numbers on the whole trace that have no frame of their own."""
    numbers = {name: value for name, value in profile.items() if name not in _TABLES}
    for name in ("reuse", "line_sharing", "spread"):
        numbers[name] = profile.get(name, {})
    numbers.pop("records", None)
    return flat(numbers)


def _launch(launch: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the row of a launch, with a column for each class of instruction and kind of record."""
    row = {name: value for name, value in launch.items() if name not in ("compute", "memory_records")}
    for name in ("grid", "block", "cluster"):
        row[name] = None if row[name] is None else ",".join(map(str, row[name]))
    row.update({f"compute_{kind}": count for kind, count in launch["compute"].items()})
    for count in launch["memory_records"]:
        kind = f"{count['kind']}_{count['space']}"
        row.update({f"{kind}_records": count["records"], f"{kind}_lanes": count["lanes"]})
    return row


def info(
    trace: TraceLike,
    machine: MachineLike = DEFAULT_MACHINE,
    *,
    set: Mapping[str, Any] | None = None,
    brief: bool = False,
    line: int = LINE,
    sector: int = SECTOR,
    progress: bool | None = None,
) -> Info:
    """Describes a trace: its origin, its contents, and its memory accesses, before any cache.

    Reads all records once, unless ``brief``. ``line`` and ``sector`` are the bytes of a line and of
    a sector; the spread over channels is that of ``machine``.
    """
    chosen = None if brief else machine_of(machine, set)._machine
    with bar("info", "records", progress) as report:
        text = _warpmem.info(path_of(trace), chosen, line, sector, report)
    return Info(json.loads(text))


@with_slots
def classify(
    traces: TraceLike | Iterable[TraceLike],
    machine: MachineLike = DEFAULT_MACHINE,
    *,
    set: Mapping[str, Any] | None = None,
    jobs: int = 0,
    progress: bool | None = None,
    **policies: Unpack[RunPolicies],
) -> pl.DataFrame:
    """Classifies traces by the workload classes of the papers; returns a row for each.

    Every trace runs on the machine, and on the same machine with perfect DRAM, a perfect L1 and a
    perfect L2. The columns are those of ``warpmem classify --format csv``. Policies are given by
    slot, as in ``run``; ``jobs`` is the number of concurrent runs, 0 for one per processor.
    """
    paths = [path_of(trace) for trace in listed(traces)]
    chosen = machine_of(machine, set)._machine
    with bar("classify", "instructions", progress) as report:
        frame = _warpmem.classify(paths, chosen, policies_of(policies), jobs, report)
    return pl.DataFrame(frame)
