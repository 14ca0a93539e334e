"""Traces: generating, importing, writing and inspecting them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import polars as pl

from . import _warpmem
from ._progress import bar


class Trace:
    """A trace in a file (``.wmt``)."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._trace = _warpmem.Trace(os.fspath(path))

    @property
    def path(self) -> str:
        return os.fspath(self._trace.path)

    @property
    def content_hash(self) -> str:
        """Returns the content hash, 16 hexadecimal digits, as in the tables' ``trace_hash``."""
        return self._trace.content_hash

    @property
    def workload(self) -> str:
        """Returns the command without its seed for a generated trace, which its repeats share; else the
        content hash."""
        return self._trace.workload

    @property
    def kernels(self) -> pl.DataFrame:
        """Returns a row per launch."""
        return pl.DataFrame(self._trace.kernels())

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<warpmem.Trace {self.path}: {self.kernels.height} kernels>"


def generate(
    kernel: str,
    output: str | os.PathLike[str],
    *,
    seed: int = 1,
    launches: str | None = None,
    progress: bool | None = None,
    **parameters: Any,
) -> Trace:
    """Runs a kernel on generated data and writes its trace.

    Parameters are those of ``warpmem generate KERNEL --help``, with underscores for dashes; see
    ``warpmem.generators()``. The same parameters and seed give the same file.
    """
    given = {name.replace("_", "-"): _typed(value) for name, value in parameters.items()}
    with bar(f"generate {kernel}", "CTAs", progress) as report:
        _warpmem.generate(kernel, os.fspath(output), given, seed, launches, report)
    return Trace(output)


def _typed(value: Any) -> str:
    """Formats a parameter's value as typed on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def import_accel_sim(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    kernels: tuple[int, int] | None = None,
    drop_empty_masks: bool = False,
    progress: bool | None = None,
) -> Trace:
    """Converts traces of Accel-Sim's tracer: a ``kernelslist.g``, its folder, or a kernel's file.

    ``kernels`` are the first and the last to take, by their position in the list from 1.
    """
    with bar("import", "B", progress) as report:
        _warpmem.import_accel_sim(
            os.fspath(source), os.fspath(output), kernels, drop_empty_masks, report
        )
    return Trace(output)


#: Formats of tables by file name extension, before any extension of a compression.
_FORMATS = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet"}

#: Maximum number of integer instructions before each memory instruction.
_MOST_GAP = 1000


def import_table(
    source: str | os.PathLike[str] | pl.DataFrame,
    output: str | os.PathLike[str],
    *,
    format: str | None = None,
    ignore_columns: Iterable[str] = (),
    use_distance: int | None = 0,
    gap: int = 0,
    progress: bool | None = None,
) -> Trace:
    """Converts a table of accesses: a polars frame, or a file of CSV, JSON lines or Parquet.

    ``format`` is ``"csv"``, ``"jsonl"`` or ``"parquet"``; by default it follows from the file's name. The
    columns are those of ``warpmem import csv --help``; others must be named in ``ignore_columns``.
    If the table has no registers, the result of a load is first used after ``use_distance``
    further instructions of its warp, or never (``None``); ``gap`` integer instructions come before
    each memory instruction.
    """
    if isinstance(source, pl.DataFrame):
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "accesses.parquet")
            source.write_parquet(table)
            return import_table(
                table,
                output,
                ignore_columns=ignore_columns,
                use_distance=use_distance,
                gap=gap,
                progress=progress,
            )
    table = os.fspath(source)
    ends = os.path.basename(table).lower().split(".")[1:]
    found = format or next((_FORMATS[end] for end in ends if end in _FORMATS), None)
    if found is None or found not in _FORMATS.values():
        raise ValueError(f"{table}: format must be 'csv', 'jsonl' or 'parquet', not {format!r}")
    with bar("import", "B", progress) as report:
        _warpmem.import_table(
            table,
            os.fspath(output),
            found,
            list(ignore_columns),
            use_distance,
            _checked_gap(gap),
            report,
        )
    return Trace(output)


def import_mem_trace(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    kernels: tuple[int, int] | None = None,
    use_distance: int | None = 0,
    gap: int = 0,
    progress: bool | None = None,
) -> Trace:
    """Converts a log of NVBit's ``mem_trace``.

    ``kernels`` are the first and the last to take, in the order of their launches from 1;
    ``use_distance`` and ``gap`` are as in ``import_table``.
    """
    with bar("import", "B", progress) as report:
        _warpmem.import_mem_trace(
            os.fspath(source),
            os.fspath(output),
            kernels,
            use_distance,
            _checked_gap(gap),
            report,
        )
    return Trace(output)


def _checked_gap(gap: int) -> int:
    if not 0 <= gap <= _MOST_GAP:
        raise ValueError(f"gap must be from 0 to {_MOST_GAP}, not {gap}")
    return gap


class TraceWriter:
    """Writes a trace instruction by instruction.

        with warpmem.TraceWriter("copy.wmt", source="my tool") as trace:
            trace.kernel("copy", grid=64, block=128)
            for cta in range(64):
                trace.cta(cta)
                for warp in range(4):
                    trace.warp(warp)
                    first = 4 * (128 * cta + 32 * warp)
                    trace.load(range(first, first + 128, 4), dest=1)
                    trace.store(range(2**20 + first, 2**20 + first + 128, 4), srcs=[1])

    Registers are arbitrary numbers: an instruction waits for earlier writers of the registers that
    it reads. Warps end implicitly. The file appears under its name when the block ends, and not at
    all if it ends with an exception.
    """

    def __init__(self, path: str | os.PathLike[str], *, source: str = "") -> None:
        self._writer = _warpmem.TraceWriter(os.fspath(path), source)

    def reset_l2(self) -> None:
        """Ends the launch, and resets persisting L2 lines to normal before the next one."""
        self._writer.reset_l2()

    def kernel(
        self,
        name: str,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        *,
        registers: int = 32,
        shared_bytes: int = 0,
        stream: int = 0,
        cluster: int | tuple[int, ...] | None = None,
    ) -> None:
        """Begins a launch; ``registers`` are per thread.

        ``cluster`` is the shape of a cluster, whose CTAs must follow each other in the order of their
        ranks, x first.
        """
        self._writer.kernel(name, grid, block, registers, shared_bytes, stream, cluster)

    def cta(self, block: int | tuple[int, int, int]) -> None:
        """Begins a CTA of the kernel, given by its number, along x first, or by its coordinates."""
        self._writer.cta(block)

    def warp(self, warp: int) -> None:
        """Begins a warp of the CTA."""
        self._writer.warp(warp)

    def load(
        self,
        addresses: Iterable[int],
        *,
        dest: int | None = None,
        bytes: int = 4,
        space: str = "global",
        mask: int | None = None,
        srcs: Iterable[int] = (),
        pc: int | None = None,
        l2: str | None = None,
    ) -> None:
        """Adds a load, with an address for each active lane, lowest lane first.

        ``mask`` are the active lanes, by default one per address from lane 0 on; ``bytes`` are per
        lane; ``pc`` is the byte address of the instruction in the kernel, by default 16 more than
        that of the previous one; ``l2`` is the eviction policy of the lines in L2: ``evict-first``,
        ``evict-last`` or ``evict-normal``, by default unchanged.
        """
        dests = [] if dest is None else [dest]
        self.memory("load", addresses, bytes, space, mask, dests, srcs, pc, l2)

    def store(
        self,
        addresses: Iterable[int],
        *,
        bytes: int = 4,
        space: str = "global",
        mask: int | None = None,
        srcs: Iterable[int] = (),
        pc: int | None = None,
        l2: str | None = None,
    ) -> None:
        """Adds a store, with the parameters of ``load``."""
        self.memory("store", addresses, bytes, space, mask, [], srcs, pc, l2)

    def atomic(
        self,
        addresses: Iterable[int],
        *,
        dest: int | None = None,
        bytes: int = 4,
        space: str = "global",
        mask: int | None = None,
        srcs: Iterable[int] = (),
        pc: int | None = None,
        l2: str | None = None,
    ) -> None:
        """Adds an atomic, or a reduction without ``dest``."""
        kind, dests = ("reduction", []) if dest is None else ("atomic", [dest])
        self.memory(kind, addresses, bytes, space, mask, dests, srcs, pc, l2)

    def memory(
        self,
        kind: str,
        addresses: Iterable[int],
        bytes: int = 4,
        space: str = "global",
        mask: int | None = None,
        dests: Iterable[int] = (),
        srcs: Iterable[int] = (),
        pc: int | None = None,
        l2: str | None = None,
    ) -> None:
        """Adds any memory instruction.

        ``kind`` is ``load``, ``store``, ``atomic``, ``reduction``, ``async-copy`` or ``prefetch``;
        ``space`` is ``global``, ``local``, ``shared``, ``constant``, ``texture`` or ``cluster``:
        shared memory of the cluster's CTAs, where an address is the rank of a CTA times 2**24, plus
        an offset there.
        """
        self._writer.memory(
            kind, list(addresses), bytes, space, mask, list(dests), list(srcs), pc, l2
        )

    def compute(
        self,
        kind: str = "integer",
        *,
        dests: Iterable[int] = (),
        srcs: Iterable[int] = (),
        mask: int = 0xFFFFFFFF,
    ) -> None:
        """An instruction that is not about memory.

        ``kind`` is ``integer``, ``fp16``, ``fp32``, ``fp64``, ``sfu``, ``tensor``, ``control``,
        ``uniform`` or ``other``.
        """
        self._writer.compute(kind, list(dests), list(srcs), mask)

    def barrier(self, id: int = 0, *, warps: int | None = None, pc: int | None = None) -> None:
        """Arrives at a barrier of the CTA, and waits until so many ``warps`` have.

        Without ``warps``, until all of the CTA have that have not ended.
        """
        self._writer.barrier(id=id, warps=warps, pc=pc)

    def barrier_arrive(self, id: int, *, warps: int, pc: int | None = None) -> None:
        """Arrives at a barrier of the CTA for so many ``warps``, and goes on."""
        self._writer.barrier_arrive(id=id, warps=warps, pc=pc)

    def cluster_arrive(self, *, pc: int | None = None) -> None:
        """Arrives at the barrier of the cluster, and goes on."""
        self._writer.cluster_arrive(pc=pc)

    def cluster_wait(self, *, pc: int | None = None) -> None:
        """Waits until all warps of the cluster have arrived as often as this one."""
        self._writer.cluster_wait(pc=pc)

    def fence(self, *, pc: int | None = None) -> None:
        """A memory fence."""
        self._writer.fence(pc=pc)

    def close(self) -> None:
        """Completes the file and gives it its name."""
        self._writer.close()

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._writer.abandon()
