"""Polars, pandas and DuckDB read the same values from every file format of a table."""

import duckdb
import pandas as pd
import polars as pl

COLUMNS = ["trace", "dram_scheduler", "overrides", "cycles", "ipc_thread", "seed", "row_hit_rate"]


def values(frame):
    rows = frame.to_pandas() if isinstance(frame, pl.DataFrame) else frame
    rows = rows[COLUMNS].astype(object)
    # CSV does not distinguish empty text from null.
    return rows.where(rows.notna() & (rows != ""), None).values.tolist()


expected = values(pl.read_parquet("results/runs.parquet"))
assert len(expected) == 2 and expected[0][3] > 0

readers = {
    "polars parquet": lambda: pl.read_parquet("runs.parquet"),
    "polars ipc": lambda: pl.read_ipc("runs.arrow"),
    "polars csv": lambda: pl.read_csv("runs.csv"),
    "polars json": lambda: pl.read_json("runs.json"),
    "pandas parquet": lambda: pd.read_parquet("runs.parquet"),
    "pandas ipc": lambda: pd.read_feather("runs.arrow"),
    "pandas csv": lambda: pd.read_csv("runs.csv"),
    "pandas json": lambda: pd.read_json("runs.json", precise_float=True),
    "duckdb parquet": lambda: duckdb.sql("from 'runs.parquet'").df(),
    "duckdb csv": lambda: duckdb.sql("from 'runs.csv'").df(),
    "duckdb json": lambda: duckdb.sql("from 'runs.json'").df(),
}
for name, read in readers.items():
    assert values(read()) == expected, f"{name}: {values(read())} instead of {expected}"

# Tables in the files written by a run itself.
loads = "results/loads/*.parquet"
count = pl.scan_parquet(loads).select(pl.len()).collect().item()
assert count > 0
assert duckdb.sql(f"select count(*) from '{loads}'").fetchall() == [(count,)]
assert len(pd.read_parquet("results/loads")) == count
