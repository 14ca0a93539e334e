//! SQL over tables, case by case. `tests/python/queries.py` holds many more to DuckDB.

use crate::common::{floats, runs, strings};
use polars::df;
use polars::prelude::*;
use warpmem_analysis::{Results, table_to_csv, with_expression, write_parquet};

/// Results with the runs of two workloads, and a table of loads.
fn results(directory: &tempfile::TempDir) -> Results {
    write_parquet(&runs(), directory.path().join("runs.parquet")).unwrap();
    let loads = df!(
        "run_id" => [1u64, 1, 2, 2, 3],
        "divergence" => [Some(10u64), None, Some(30), Some(50), None],
    );
    write_parquet(&loads.unwrap(), directory.path().join("loads.parquet")).unwrap();
    Results::open(directory.path()).unwrap()
}

fn query(sql: &str) -> DataFrame {
    let directory = tempfile::tempdir().unwrap();
    results(&directory).query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn csv(sql: &str) -> String {
    table_to_csv(&query(sql)).unwrap()
}

fn refused(sql: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    results(&directory).query(sql).unwrap_err().to_string()
}

#[test]
fn a_table_joined_with_itself_gives_ratios_to_a_baseline() {
    let ratios = query(
        "SELECT a.dram_scheduler, AVG(a.ipc_thread / b.ipc_thread) AS ratio FROM runs a
         JOIN runs b ON a.trace = b.trace AND b.dram_scheduler = 'fr-fcfs'
         GROUP BY a.dram_scheduler ORDER BY ratio",
    );
    assert_eq!(strings(&ratios, "dram_scheduler"), ["banked-fifo", "fr-fcfs", "fcfs"]);
    assert_eq!(floats(&ratios, "ratio"), [Some(0.875), Some(1.0), Some(1.25)]);
}

#[test]
fn a_filter_in_on_keeps_the_rows_of_an_outer_join() {
    let sql = "SELECT a.run_id, b.run_id AS base FROM runs a
               LEFT JOIN runs b ON a.trace = b.trace AND b.dram_scheduler = 'fcfs' AND a.cycles < 1000
               ORDER BY a.run_id";
    assert_eq!(csv(sql), "run_id,base\n1,\n2,\n3,\n4,4\n5,\n6,\n");
}

#[test]
fn unsigned_columns_and_counts_may_be_subtracted() {
    let sql = "SELECT MIN(cycles) - MAX(cycles) AS span, COUNT(*) - 10 AS fewer FROM runs";
    assert_eq!(csv(sql), "span,fewer\n-1500,-4\n");
}

#[test]
fn an_integer_beyond_64_bits_is_an_error() {
    assert!(
        refused("SELECT cycles * 9000000000000000 AS n FROM runs")
            .contains("exceeds 64-bit integers")
    );
    assert!(
        refused("SELECT SUM(big) AS n FROM (SELECT 9000000000000000000 AS big FROM runs) AS t")
            .contains("exceeds 64-bit integers")
    );
    assert_eq!(csv("SELECT 3000000000 * 3000000000 AS n"), "n\n9000000000000000000\n");
}

#[test]
fn null_comparisons_are_unknown() {
    let count = |condition: &str| csv(&format!("SELECT COUNT(*) AS n FROM runs WHERE {condition}"));
    assert_eq!(count("row_hit_rate <> 0.5"), "n\n4\n");
    assert_eq!(count("row_hit_rate NOT IN (0.25, NULL)"), "n\n0\n");
    assert_eq!(count("run_id NOT IN (SELECT run_id FROM loads WHERE divergence > 20)"), "n\n5\n");
    assert_eq!(count("divergence_mean NOT IN (SELECT divergence_mean FROM runs)"), "n\n0\n");
    assert_eq!(csv("SELECT SUM(divergence) AS n FROM loads WHERE run_id = 9"), "n\n\"\"\n");
}

#[test]
fn subqueries_may_be_correlated() {
    let best = "SELECT trace, dram_scheduler FROM runs r
                WHERE ipc_thread = (SELECT MAX(ipc_thread) FROM runs AS o WHERE o.trace = r.trace)";
    assert_eq!(csv(best), "trace,dram_scheduler\nbfs.wmt,fr-fcfs\nstream.wmt,fcfs\n");
    let unread = "SELECT run_id FROM runs r WHERE NOT EXISTS (SELECT 1 FROM loads l WHERE l.run_id = r.run_id)";
    assert_eq!(csv(unread), "run_id\n4\n5\n6\n");
}

#[test]
fn peers_have_one_rank_and_one_running_sum() {
    let sql = "SELECT run_id, RANK() OVER (ORDER BY cycles) AS rank, SUM(cycles) OVER (ORDER BY cycles) AS sum
               FROM runs ORDER BY run_id";
    let expected = "run_id,rank,sum\n1,6,6900\n2,5,4900\n3,2,3500\n4,1,500\n5,2,3500\n6,2,3500\n";
    assert_eq!(csv(sql), expected);
}

#[test]
fn an_answer_to_the_same_query_has_the_same_order() {
    let sql = "SELECT trace, COUNT(*) AS n FROM runs GROUP BY trace";
    assert_eq!(csv(sql), "trace,n\nbfs.wmt,3\nstream.wmt,3\n");
    assert_eq!(
        csv("SELECT row_hit_rate FROM runs ORDER BY row_hit_rate DESC LIMIT 1"),
        "row_hit_rate\n0.9\n"
    );
}

#[test]
fn repeated_column_names_are_numbered_in_the_answer() {
    let sql = "SELECT a.run_id, b.run_id FROM runs a JOIN loads b ON a.run_id = b.run_id LIMIT 1";
    assert_eq!(csv(sql), "run_id,run_id_1\n1,1\n");
}

#[test]
fn unsupported_statements_are_refused_with_reasons() {
    for (sql, part) in [
        ("DROP TABLE runs", "would change"),
        ("", "it is empty"),
        (
            "SELECT cycles FROM runs a JOIN runs b ON a.run_id = b.run_id",
            "write `a.cycles` or `b.cycles`",
        ),
        (
            "SELECT trace, cycles FROM runs GROUP BY trace",
            "neither in GROUP BY nor in an aggregate",
        ),
        ("SELECT c.trace FROM runs a", "`c.trace` names no table"),
        ("SELECT trace FROM loads", "no column `trace`"),
        ("SELECT trace FROM run", "no table `run`"),
    ] {
        assert!(refused(sql).contains(part), "{sql}: {}", refused(sql));
    }
}

#[test]
fn an_expression_is_a_column_of_floats() {
    let frame = with_expression(runs().lazy(), "cycles / 2 + ipc_thread", "x").unwrap();
    assert_eq!(floats(&frame.collect().unwrap(), "x")[0], Some(1020.0));
    let error = with_expression(runs().lazy(), "cycles / nothing", "x").err().unwrap();
    assert!(error.to_string().contains("no column `nothing`"), "{error}");
    assert!(with_expression(runs().lazy(), "cycles cycles", "x").is_err());
}
