"""Representative parts of traces."""

from __future__ import annotations

import json
import os
from typing import Any

import polars as pl

from . import _warpmem
from ._arguments import TraceLike, path_of, share_of
from ._progress import bar
from ._rows import frame_of
from ._traces import Trace


class Sample:
    """A part of a trace: ``trace`` is its file, ``kernels`` has a row per launch taken, and
    ``estimates`` one per quantity of the selected part, estimated from a random sample, with its
    true value."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.trace = Trace(content["output"])
        self.kernels: pl.DataFrame = frame_of(content["kernels"])
        self.estimates: pl.DataFrame = frame_of(content["estimates"])

    def __fspath__(self) -> str:
        return self.trace.path

    def __repr__(self) -> str:
        return f"<warpmem.Sample {self.trace.path}: {self.kernels.height} kernels>"


def sample(
    trace: TraceLike,
    output: str | os.PathLike[str],
    *,
    kernels: str | None = None,
    kernel_name: str | None = None,
    longest: bool = False,
    ctas: str | None = None,
    fraction: float | str | None = None,
    ctas_per_kernel: int | None = None,
    at_least: int | None = None,
    run: int | None = None,
    seed: int = 1,
    progress: bool | None = None,
) -> Sample:
    """Writes a part of a trace: kernels and CTAs by number, or a random sample with its error.

    ``kernels`` and ``ctas`` are ranges without their ends (``"2..5,7"``). ``fraction`` is the share
    of each kernel's CTAs to draw, 0.1 or ``"10%"``. Other options are those of
    ``warpmem sample --help``.
    """
    asked = {
        "kernels": kernels,
        "kernel_name": kernel_name,
        "longest": longest,
        "ctas": ctas,
        "fraction": None if fraction is None else share_of("fraction", fraction, 0.0, 1.0),
        "ctas_per_kernel": ctas_per_kernel,
        "at_least": at_least,
        "run": run,
        "seed": seed,
    }
    with bar("sample", "CTAs", progress) as report:
        text = _warpmem.sample(path_of(trace), os.fspath(output), asked, report)
    return Sample(json.loads(text))
