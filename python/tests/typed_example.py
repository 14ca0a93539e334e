"""Calls that type checkers accept; test_types.py has them checked, and nothing runs them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl

import warpmem


class Oldest(warpmem.DramScheduler):
    pass


def experiment(folder: Path) -> pl.DataFrame:
    trace = warpmem.generate("spmv", folder / "spmv.wmt", rows=2**10)
    capped = warpmem.policy("fr-fcfs", row_hit_cap=4)
    run = warpmem.run(trace, "li2015", dram_scheduler=capped, warp_scheduler="lrr")
    assert isinstance(run.channels, pl.DataFrame)
    warpmem.run(trace, folder / "mine.toml", dram_scheduler=Oldest, l2_queue=None)
    comparison = warpmem.compare(
        [trace, "other.wmt"],
        [warpmem.Machine("v100"), "li2015"],
        dram_scheduler=["fr-fcfs", capped, Oldest, partial(Oldest)],
        cta_scheduler="all",
        warp_scheduler=warpmem.policy("gto"),
        baseline="fr-fcfs",
    )
    warpmem.dram("random", dram_scheduler=["fcfs", capped])
    warpmem.network(topology=["mesh", "ring"], arbiter="all")
    info: warpmem.Info = warpmem.info(trace, set={"dram.channels": 4})
    page: Path = warpmem.report("results", style="paper.toml", mean="harmonic")
    traces: list[warpmem.Trace] = warpmem.suite("llm", folder, only=["decode-linear"])
    warpmem.classify(traces, warp_scheduler="lrr").write_csv(page.with_suffix(".csv"))
    sample: warpmem.Sample = warpmem.sample(trace, "part.wmt", fraction="10%")
    claims: pl.DataFrame = warpmem.reproduce("li2015", [sample.trace], quick=True, size="small")
    correlation: warpmem.Correlation = warpmem.correlate("results.json", map={"A": "v100"})
    assert not claims.is_empty() and not correlation.runs.is_empty()
    return info.divergence.join(comparison.workloads, on="trace")
