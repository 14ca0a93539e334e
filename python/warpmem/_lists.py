"""What there is to choose from."""

from __future__ import annotations

import polars as pl

from . import _warpmem


def machines() -> pl.DataFrame:
    """The machines that are built in."""
    return pl.DataFrame(_warpmem.machines())


def policies(slot: str | None = None) -> pl.DataFrame:
    """The policies of a slot (``"dram_scheduler"``), or of every slot."""
    return pl.DataFrame(_warpmem.policies(slot))


def generators() -> pl.DataFrame:
    """The kernels that ``generate`` runs, a row for each of their parameters."""
    return pl.DataFrame(_warpmem.generators())


def metrics() -> pl.DataFrame:
    """The columns of ``runs``: name, unit, definition."""
    return pl.DataFrame(_warpmem.metrics())
