"""Comparisons of policies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from . import _figures, _warpmem
from ._arguments import (
    MachineLike,
    TraceLike,
    listed,
    machine_of,
    path_of,
    policy_of,
    recording_of,
    slots_of,
    with_slots,
)
from ._progress import bar
from ._run import Tables
from ._warpmem import DEFAULT_MACHINE

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

    from ._names import ComparedPolicies

#: Width of a comparison as text without a terminal.
WIDTH = 120


class Comparison(Tables):
    """Runs relative to those of a baseline, printed as the table of ``warpmem compare``.

    ``rows`` has a row per run; ``workloads`` one per workload and policy, averaged over repeats, with
    95 % intervals; ``means`` three per machine and policy (arithmetic, geometric, harmonic);
    ``pairs`` one for every two policies of a machine; ``leverage`` one per machine and workload, on how
    much the compared policies can matter. ``findings`` says so in sentences. The tables of all runs
    are attributes: ``comparison.runs``, ``comparison.banks``.
    """

    def __init__(self, comparison: _warpmem.Comparison) -> None:
        self._comparison = comparison
        self.rows: pl.DataFrame = pl.DataFrame(comparison.rows())
        self.workloads: pl.DataFrame = pl.DataFrame(comparison.workloads())
        self.means: pl.DataFrame = pl.DataFrame(comparison.means())
        self.pairs: pl.DataFrame = pl.DataFrame(comparison.pairs())
        self.leverage: pl.DataFrame = pl.DataFrame(comparison.leverage())
        self.findings: list[str] = comparison.findings()

    @property
    def baseline(self) -> str:
        return self._comparison.baseline

    def tables(self) -> list[str]:
        return self._comparison.tables()

    def table(self, name: str) -> pl.DataFrame:
        return pl.DataFrame(self._comparison.table(name))

    def to_text(self, width: int | None = None) -> str:
        width = width or shutil.get_terminal_size((WIDTH, 0)).columns
        return self._comparison.to_text(width)

    def tidy(self) -> pl.DataFrame:
        """Returns ``rows`` with the column ``policy``, which joins the compared slots, for seaborn
        and pandas: ``comparison.tidy().to_pandas()``."""
        return _figures.tidy(self.rows)

    def ratios(self, mean: str = "geometric") -> pl.DataFrame:
        """Returns a row per policy, the fastest first, with its mean IPC ratio and that of each
        workload."""
        return _figures.changes(self.workloads, self.means, mean)

    def to_latex(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        mean: str = "geometric",
        decimals: int = 3,
        bold: bool = True,
    ) -> str:
        """Returns ``ratios`` as a table of LaTeX (booktabs), and writes it to ``path``.

        The highest ratio of a column is bold unless another one is within 0.1 % of it.
        """
        text = _figures.latex(self.ratios(mean), decimals, bold)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, mean: str = "geometric"
    ) -> Figure:
        """Draws all policies by their mean IPC and the change of each workload, with matplotlib.

        Returns the figure, which is also written to ``path``: PDF, SVG, PNG and other formats, by
        the suffix. Lines around points are 95 % intervals, where the comparison has them.
        """
        of_mean = _figures.tidy(self.means.filter(pl.col("mean") == mean))
        ends = ["ipc_ratio_low", "ipc_ratio_high"]
        known = of_mean.drop_nulls(ends) if set(ends) <= set(of_mean.columns) else of_mean.head(0)
        intervals: dict[str, Sequence[float]] = {
            row["policy"]: [row[end] for end in ends] for row in known.to_dicts()
        }
        figure = _figures.plot(self.ratios(mean), self.baseline, intervals)
        if path is not None:
            figure.savefig(path)
        return figure

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<warpmem.Comparison of {self.rows.height} runs with {self.baseline}>"

    def _repr_html_(self) -> str:
        text = self.to_text(WIDTH).replace("&", "&amp;").replace("<", "&lt;")
        # Notebook styles may not use a fixed-width font for it.
        return f'<pre style="font-family: monospace">{text}</pre>'


@with_slots
def compare(
    traces: TraceLike | Iterable[TraceLike],
    machine: MachineLike | Iterable[MachineLike] = DEFAULT_MACHINE,
    *,
    set: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    repeat: int = 1,
    bound: bool = True,
    metrics: Iterable[str] | None = None,
    loads: bool = False,
    intervals: int | None = None,
    requests: str | None = None,
    jobs: int = 0,
    progress: bool | None = None,
    **policies: Unpack[ComparedPolicies],
) -> Comparison:
    """Replays every trace on every machine under every combination of the policies.

    Slots take one policy or several; ``"all"`` stands for all built-in ones. ``baseline`` is
    one of them, or one per slot, separated by slashes; by default the machine's own if given,
    otherwise the first. ``repeat`` is the number of variants of each machine that matter to no policy,
    whose spread is the noise of the ratios; traces of one generator with different seeds are repeats
    too. ``bound`` adds a run per workload and machine under the ideal mode of the compared slot, which
    bounds the gain of its policies. ``metrics`` are columns of ``runs``, optionally followed by ``_ratio`` or
    ``_reduction``. ``jobs`` is the number of concurrent runs, 0 for one per processor. Other options
    are as in ``run``.
    """
    machines = [machine_of(one, set)._machine for one in listed(machine)]
    chosen = [
        (slot, [policy_of(policy) for policy in listed(given)])
        for slot, given in slots_of(policies).items()
    ]
    recording = recording_of(loads, intervals, requests, False)
    paths = [path_of(trace) for trace in listed(traces)]
    repeats = {"variants": repeat, "bound": bound}
    shown = None if metrics is None else list(metrics)
    with bar("compare", "instructions", progress) as report:
        comparison = _warpmem.compare(
            paths, machines, chosen, baseline, repeats, shown, recording, jobs, report
        )
    return Comparison(comparison)
