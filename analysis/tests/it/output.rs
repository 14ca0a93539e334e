//! Tables as text, CSV, JSON and Parquet.

use std::fs;

use polars::df;
use polars::prelude::*;
use warpmem_analysis::{
    Error, read_table, record_to_string, table_to_csv, table_to_json, table_to_string, write_csv,
    write_json, write_parquet,
};

use crate::common::runs;

/// Makes a frame of every type that tables hold, with nulls and awkward values.
fn awkward() -> DataFrame {
    df!(
        "text" => [Some("plain"), Some("with, comma and \"quotes\"\nand a line"), None],
        "count" => [Some(u64::MAX), Some(0), None],
        "signed" => [Some(i64::MIN), Some(-1), None],
        "small" => [Some(1u32), None, Some(3)],
        "float" => [Some(0.1), Some(1e-300), None],
        "odd" => [Some(f64::NAN), Some(f64::INFINITY), Some(1.0)],
        "flag" => [Some(true), Some(false), None],
    )
    .unwrap()
}

#[test]
fn frames_print_as_tables_and_records() {
    insta::assert_snapshot!(table_to_string(&runs(), 100).unwrap());
    insta::assert_snapshot!(record_to_string(&runs().head(Some(2)), 100).unwrap());
}

#[test]
fn json_reads_back_as_what_was_written() {
    let text = table_to_json(&awkward()).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        rows,
        serde_json::json!([
            {"text": "plain", "count": u64::MAX, "signed": i64::MIN, "small": 1, "float": 0.1, "odd": null, "flag": true},
            {"text": "with, comma and \"quotes\"\nand a line", "count": 0, "signed": -1, "small": null, "float": 1e-300, "odd": null, "flag": false},
            {"text": null, "count": null, "signed": null, "small": 3, "float": null, "odd": 1.0, "flag": null},
        ])
    );
    assert_eq!(table_to_json(&awkward().head(Some(0))).unwrap(), "[]\n");
}

#[test]
fn csv_reads_back_as_what_was_written() {
    let text = table_to_csv(&awkward()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = ["text", "count", "signed", "small", "float", "odd", "flag"];
    assert_eq!(reader.headers().unwrap(), names.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let expected = [
        ["plain", "18446744073709551615", "-9223372036854775808", "1", "0.1", "", "true"],
        ["with, comma and \"quotes\"\nand a line", "0", "-1", "", "1e-300", "", "false"],
        ["", "", "", "3", "", "1.0", ""],
    ];
    assert_eq!(rows, expected.map(|row| csv::StringRecord::from(row.to_vec())));
}

#[test]
fn parquet_reads_back_as_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("awkward.parquet");
    write_parquet(&awkward(), &path).unwrap();
    let read = read_table(&path).unwrap().collect().unwrap();
    assert_eq!(read.schema(), awkward().schema());
    assert!(read.equals_missing(&awkward()));
}

#[test]
fn written_files_leave_no_partial_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name| directory.path().join(name);
    let table = runs();
    fs::write(path("out.csv"), "old").unwrap();
    write_csv(&table, path("out.csv")).unwrap();
    write_json(&table, path("out.json")).unwrap();
    assert_eq!(fs::read_to_string(path("out.csv")).unwrap(), table_to_csv(&table).unwrap());
    assert_eq!(fs::read_to_string(path("out.json")).unwrap(), table_to_json(&table).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn a_write_that_fails_names_the_file_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let occupied = directory.path().join("occupied");
    fs::create_dir(&occupied).unwrap();
    for path in [occupied, directory.path().join("missing/out.json")] {
        let error = write_json(&runs(), &path).unwrap_err();
        assert_eq!(error.to_string(), format!("failed to write {}", path.display()));
        assert!(matches!(error, Error::Write { .. }));
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

/// A query may return such columns; a table of results may not.
#[test]
fn values_that_are_neither_numbers_nor_text_are_written_as_text() {
    let lists = runs().lazy().group_by_stable([col("trace")]).agg([col("blp")]).limit(1);
    let day = lit(5).cast(DataType::Date).alias("day");
    let table = lists.with_columns([day]).collect().unwrap();
    assert_eq!(
        table_to_csv(&table).unwrap(),
        "trace,blp,day\nbfs.wmt,\"[1.25,2.5,3.0]\",1970-01-06\n"
    );
}
