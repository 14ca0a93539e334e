"""Lists of machines, policies, generators and metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from . import _warpmem

if TYPE_CHECKING:
    from ._names import SlotName


def machines() -> pl.DataFrame:
    """Returns the built-in machines."""
    return pl.DataFrame(_warpmem.machines())


def policies(slot: SlotName | None = None) -> pl.DataFrame:
    """Returns the policies of a slot (``"dram_scheduler"``), or of every slot."""
    return pl.DataFrame(_warpmem.policies(slot))


def generators() -> pl.DataFrame:
    """Returns the kernels of ``generate``, with a row for each of their parameters."""
    return pl.DataFrame(_warpmem.generators())


def metrics() -> pl.DataFrame:
    """Returns the columns of ``runs``: name, unit, definition."""
    return pl.DataFrame(_warpmem.metrics())
