"""Scores of policies, for search."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from . import _warpmem
from ._arguments import MachineLike, Policy, TraceLike, listed, machine_of, path_of, policy_of
from ._progress import bar
from ._warpmem import DEFAULT_MACHINE

#: Ratio of the longest latency of a read to that of the baseline.
WAIT = "latency_max_ratio"


@dataclass(frozen=True)
class Evaluation:
    """A policy's score: its mean speed over the baseline's, and whether it keeps the limits.

    ``score`` is the geometric mean of the IPC ratios of the workloads, with a 95 % interval from
    ``low`` to ``high`` if there are repeats. ``longest_wait`` is the longest latency of a read over
    the baseline's, of the workload with the largest ratio: large values are starvation.
    ``bits_stored`` and ``bits_compared`` are the hardware cost, None for policies that state none.
    ``workloads`` has a row per workload. A policy that breaks a limit of its hardware is not run
    and has no score.
    """

    policy: str
    score: float | None
    low: float | None
    high: float | None
    longest_wait: float | None
    bits_stored: int | None
    bits_compared: int | None
    #: Broken limits, in sentences.
    violations: tuple[str, ...]
    workloads: pl.DataFrame = field(repr=False, compare=False)

    @property
    def value(self) -> float:
        """The score, or 0 if the policy breaks a limit: the objective of an optimizer."""
        return 0.0 if self.violations or self.score is None else self.score

    def __str__(self) -> str:
        if self.score is None:
            return f"{self.policy}: not run, {'; '.join(self.violations)}"
        interval = "" if self.low is None else f" ({self.low:.4f} to {self.high:.4f})"
        broken = f"; {'; '.join(self.violations)}" if self.violations else ""
        return f"{self.policy}: {self.score:.4f}{interval}{broken}"


@dataclass(frozen=True)
class Limits:
    """Conditions that a policy must keep."""

    #: Largest ratio of the longest latency of a read to the baseline's.
    longest_wait: float | None = None
    #: Bits that all controllers store beyond the requests, and compare in a cycle.
    bits_stored: int | None = None
    bits_compared: int | None = None


class Evaluator:
    """Scores policies on workloads, relative to a baseline that is run once.

    ``suite`` are traces; those of one generator with different seeds are repeats of a workload.
    ``budget`` ends each launch after that many warp instructions. ``repeat`` is the number of
    variants of the machine that matter to no policy, whose spread gives intervals. The result depends
    on nothing else, and a policy given by name is run once.
    """

    def __init__(
        self,
        suite: TraceLike | Iterable[TraceLike],
        machine: MachineLike = DEFAULT_MACHINE,
        *,
        set: Mapping[str, Any] | None = None,
        slot: str = "dram_scheduler",
        baseline: str = "fr-fcfs",
        budget: int | None = None,
        repeat: int = 3,
        limits: Limits = Limits(),
        jobs: int = 0,
    ) -> None:
        self.machine = machine_of(machine, set)
        if budget is not None:
            self.machine = self.machine.changed({"run.launch_instructions": budget})
        self.slot = slot
        self.baseline = baseline
        self.limits = limits
        self.jobs = jobs
        self._known: dict[str, Evaluation] = {}
        paths = [path_of(trace) for trace in listed(suite)]
        self._evaluator = _warpmem.Evaluator(
            paths, self.machine._machine, slot, baseline, repeat
        )

    def __call__(self, policy: Policy, *, progress: bool | None = False) -> Evaluation:
        """Returns the score of ``policy``."""
        given = policy_of(policy)
        if not isinstance(given, str):
            return self._evaluate(given["name"], given, progress)
        if given not in self._known:
            self._known[given] = self._evaluate(given, given, progress)
        return self._known[given]

    def _evaluate(self, name: str, given: Any, progress: bool | None) -> Evaluation:
        bits = self._bits(given)
        stored, compared = bits or (None, None)
        violations = self._broken_bits(bits)
        if violations:
            empty = pl.DataFrame()
            return Evaluation(name, None, None, None, None, stored, compared, violations, empty)
        with bar("evaluate", "instructions", progress) as report:
            comparison = self._evaluator.compare(given, [WAIT], self.jobs, report)
        workloads = self._rows_of(comparison.workloads(), name)
        means = self._rows_of(comparison.means(), name).filter(pl.col("mean") == "geometric")
        [mean] = means.to_dicts()
        wait: Any = self._rows_of(comparison.rows(), name)[WAIT].max()
        limit = self.limits.longest_wait
        if limit is not None and wait is not None and wait > limit:
            text = f"a read waits {wait:.1f} times as long as under {self.baseline}; {limit:g} is the limit"
            violations += (text,)
        return Evaluation(
            policy=name,
            score=mean["ipc_ratio"],
            low=mean.get("ipc_ratio_low"),
            high=mean.get("ipc_ratio_high"),
            longest_wait=wait,
            bits_stored=stored,
            bits_compared=compared,
            violations=violations,
            workloads=workloads,
        )

    def _rows_of(self, frame: _warpmem.Frame, name: str) -> pl.DataFrame:
        rows = pl.DataFrame(frame)
        return rows.filter(pl.col(self.slot) == name) if self.slot in rows.columns else rows

    def _bits(self, given: Any) -> tuple[int, int] | None:
        if not isinstance(given, str) or self.slot != "dram_scheduler":
            return None
        return _warpmem.complexity(given, self.machine._machine)

    def _broken_bits(self, bits: tuple[int, int] | None) -> tuple[str, ...]:
        limits = [self.limits.bits_stored, self.limits.bits_compared]
        if limits == [None, None]:
            return ()
        if bits is None:
            return ("it states no hardware cost",)
        checks = zip(["stores", "compares"], bits, limits)
        return tuple(
            f"it {verb} {count} bits; {limit} is the limit"
            for verb, count, limit in checks
            if limit is not None and count > limit
        )


def evaluate(
    policy: Policy,
    suite: TraceLike | Iterable[TraceLike],
    machine: MachineLike = DEFAULT_MACHINE,
    budget: int | None = None,
    **options: Any,
) -> Evaluation:
    """Returns the score of one policy; options are those of ``Evaluator``, which scores many
    against the same runs of the baseline."""
    return Evaluator(suite, machine, budget=budget, **options)(policy)


def split(
    suite: Iterable[TraceLike], held_out: float = 0.5, seed: int = 0
) -> tuple[list[TraceLike], list[TraceLike]]:
    """Splits traces into those for a search and those held out for its result.

    Traces of one generator that differ in their seeds stay together. The split depends on the
    workloads and on ``seed``, not on files or their order.
    """
    if not 0 < held_out < 1:
        raise ValueError("`held_out` must be a share above 0 and below 1")
    traces = listed(suite)
    workloads = {path_of(trace): _warpmem.Trace(path_of(trace)).workload for trace in traces}
    names = sorted(
        {*workloads.values()},
        key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest(),
    )
    if len(names) < 2:
        raise ValueError("there is nothing to hold out: give traces of two or more workloads")
    count = min(max(round(held_out * len(names)), 1), len(names) - 1)
    held = {*names[:count]}
    parts: tuple[list[TraceLike], list[TraceLike]] = ([], [])
    for trace in traces:
        parts[workloads[path_of(trace)] in held].append(trace)
    return parts


def complexity(policy: str, machine: MachineLike = DEFAULT_MACHINE) -> dict[str, int] | None:
    """Returns the bits that a DRAM scheduler stores and compares, over all controllers of a machine;
    None if it states no cost."""
    bits = _warpmem.complexity(policy, machine_of(machine, None)._machine)
    return None if bits is None else dict(zip(["bits_stored", "bits_compared"], bits))
