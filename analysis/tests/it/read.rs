//! From files on disk to a comparison.

use std::fs;
use std::path::Path;

use polars::df;
use polars::prelude::*;
use tempfile::TempDir;
use warpmem_analysis::{CompareOptions, Error, Results, compare, read_table, write_parquet};

use crate::common::{floats, runs};

fn save(frame: &DataFrame, directory: &Path, name: &str) {
    write_parquet(frame, directory.join(name)).unwrap();
}

fn one_file() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    save(&runs(), directory.path(), "runs.parquet");
    directory
}

#[test]
fn runs_of_a_directory_are_compared() {
    let directory = one_file();
    let runs = Results::open(directory.path()).unwrap().runs().unwrap();
    let comparison = compare(runs, &CompareOptions::new("fr-fcfs")).unwrap();
    assert_eq!(floats(comparison.rows(), "ipc_ratio"), [0.5, 0.75, 1.0, 2.0, 1.0, 1.0].map(Some));
}

#[test]
fn files_of_a_folder_are_one_table_in_the_order_of_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("runs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("README"), "not a table").unwrap();
    save(&runs().slice(3, 3), &folder, "b.parquet");
    save(&runs().slice(0, 3), &folder, "a.parquet");
    let table = Results::open(directory.path()).unwrap().runs().unwrap().collect().unwrap();
    assert!(table.equals_missing(&runs()));
}

#[test]
fn a_query_gets_the_columns_and_rows_that_it_asks_for() {
    let directory = one_file();
    let table = || read_table(directory.path().join("runs.parquet")).unwrap();
    let query = table().select([col("blp"), col("trace")]).limit(2).collect().unwrap();
    assert_eq!(query.get_column_names(), ["blp", "trace"]);
    assert_eq!(floats(&query, "blp"), [Some(1.25), Some(2.5)]);
    let query = table().filter(col("cycles").gt(lit(1000))).select([col("blp")]).collect().unwrap();
    assert_eq!(floats(&query, "blp"), [Some(1.25), Some(2.5)]);
    let counted = table().group_by_stable([col("trace")]).agg([len()]).collect().unwrap();
    assert_eq!(counted.height(), 2);
}

fn failure(path: &Path) -> Error {
    match read_table(path) {
        Ok(_) => panic!("{} was read", path.display()),
        Err(error) => error,
    }
}

#[test]
fn a_missing_directory_table_or_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let absent = directory.path().join("absent");
    let error = Results::open(&absent).unwrap_err();
    assert_eq!(error.to_string(), format!("failed to read {}", absent.display()));
    let error = Results::open(directory.path()).unwrap().runs().err().unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "no table `runs` in {}: neither runs.parquet nor runs/*.parquet is there",
            directory.path().display()
        )
    );
    let error = failure(&directory.path().join("absent.parquet"));
    assert!(matches!(&error, Error::Read { .. }), "{error}");
    let error = failure(directory.path());
    assert!(matches!(&error, Error::Read { .. }), "an empty folder: {error}");
}

#[test]
fn files_that_are_not_parquet_or_are_cut_short_are_named() {
    let directory = one_file();
    let whole = fs::read(directory.path().join("runs.parquet")).unwrap();
    let path = directory.path().join("bad.parquet");
    let half = &whole[..whole.len() / 2];
    for bytes in [&b""[..], b"PAR1", b"PAR1PAR1", b"a text that is no table at all", half] {
        fs::write(&path, bytes).unwrap();
        let error = failure(&path);
        assert!(matches!(&error, Error::NotParquet { .. }), "{error}");
        assert_eq!(error.to_string(), format!("{} is not a readable Parquet file", path.display()));
    }
}

#[test]
fn a_file_that_vanishes_before_the_query_is_named() {
    let directory = one_file();
    let path = directory.path().join("runs.parquet");
    let table = read_table(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let error = table.collect().unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()), "{error}");
}

#[test]
fn files_of_one_table_must_have_the_same_columns() {
    let directory = tempfile::tempdir().unwrap();
    save(&runs(), directory.path(), "a.parquet");
    let difference = |other: &DataFrame| {
        save(other, directory.path(), "b.parquet");
        match failure(directory.path()) {
            Error::SchemaMismatch { path, first, difference } => {
                assert!(path.ends_with("b.parquet") && first.ends_with("a.parquet"));
                difference
            }
            other => panic!("{other}"),
        }
    };
    assert_eq!(
        difference(&runs().drop("trace").unwrap()),
        "machine (str) stands where trace (str) is expected"
    );
    assert_eq!(difference(&runs().drop("dram_efficiency").unwrap()), "15 columns instead of 16");
}

#[test]
fn a_column_of_a_type_that_tables_do_not_hold_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let lists = df!("key" => ["a", "a"], "numbers" => [1u32, 2]).unwrap();
    let lists = lists.lazy().group_by_stable([col("key")]).agg([col("numbers")]).collect().unwrap();
    save(&lists, directory.path(), "lists.parquet");
    let error = failure(&directory.path().join("lists.parquet"));
    assert!(
        matches!(&error, Error::UnsupportedColumn { column, .. } if column == "numbers"),
        "{error}"
    );
}

/// Damage inside pages is not looked for: the tables carry no checksums.
#[test]
fn a_damaged_footer_is_an_error_or_harmless_and_never_a_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged.parquet");
    let table = df!("count" => [1u64, 2, 3], "name" => ["x", "y", "z"]).unwrap();
    write_parquet(&table, &path).unwrap();
    let whole = fs::read(&path).unwrap();
    let footer_length = u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().unwrap());
    let mut refused = 0;
    for place in whole.len() - 8 - footer_length as usize..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        refused += usize::from(read_table(&path).and_then(|table| Ok(table.collect()?)).is_err());
    }
    assert!(refused > 100, "{refused}");
}
