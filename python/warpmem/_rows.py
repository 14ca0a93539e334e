"""Frames of rows in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Makes a frame of rows; columns that a row lacks are null there."""
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame({name: _series(name, [row.get(name) for row in rows]) for name in columns})


def _series(name: str, values: list[Any]) -> pl.Series:
    """Makes a column; whole numbers among others are floats."""
    if any(isinstance(value, float) for value in values):
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    return pl.Series(name, values)


def flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Returns the single values of a row, also those of objects in it: ``lines_mean``; lists are
    left out."""
    values: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            values.update(flat(value, f"{before}{name}_"))
        elif not isinstance(value, list):
            values[before + name] = value
    return values
