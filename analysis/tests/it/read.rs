//! From files on disk to a comparison.

use std::fs;
use std::path::Path;

use polars::df;
use polars::prelude::*;
use tempfile::TempDir;
use warpmem_analysis::{
    CompareOptions, Error, Results, compare, divergence, load_time, read_table, tail, write_parquet,
};

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
fn a_query_returns_the_requested_columns_and_rows() {
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

#[test]
fn rows_are_counted() {
    let shards = shards();
    let results = Results::open_all(&shards).unwrap();
    let by_run = |frame: LazyFrame| Ok(frame.group_by_stable([col("run_id")]).agg([len()]));
    let frames = [
        (results.runs().unwrap(), 5),
        (read_table(shards[0].path().join("runs.parquet")).unwrap(), 3),
        (results.loads().unwrap(), 5),
        (results.loads().unwrap().filter(col("run_id").gt(lit(1))), 4),
        (results.by_file("loads", by_run).unwrap(), 5),
    ];
    for (frame, rows) in frames {
        let count = frame.select([len()]).collect().unwrap();
        assert_eq!(count.column("len").unwrap().u32().unwrap().get(0), Some(rows));
    }
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
            "no table `runs` in {}: neither runs.parquet nor runs/*.parquet exists",
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
fn a_column_that_only_some_files_have_is_null_in_the_others() {
    let directory = tempfile::tempdir().unwrap();
    save(&runs().slice(0, 2).drop("blp").unwrap(), directory.path(), "a.parquet");
    let newer = runs().slice(2, 1).lazy().with_columns([lit(1.5).alias("cycles")]);
    save(&newer.collect().unwrap(), directory.path(), "b.parquet");
    let table = read_table(directory.path()).unwrap().collect().unwrap();
    assert_eq!(floats(&table, "blp"), [None, None, Some(3.0)]);
    assert_eq!(floats(&table, "cycles"), [2000.0, 1400.0, 1.5].map(Some), "numbers become floats");
}

#[test]
fn text_and_numbers_in_one_column_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    save(&runs(), directory.path(), "a.parquet");
    let other = runs().lazy().with_columns([lit("low").alias("blp")]).collect().unwrap();
    save(&other, directory.path(), "b.parquet");
    let error = failure(directory.path()).to_string();
    let path = |name| directory.path().join(name).display().to_string();
    let expected = format!(
        "column `blp` holds str in {}, but f64 in {}",
        path("b.parquet"),
        path("a.parquet")
    );
    assert_eq!(error, expected);
}

/// Makes three directories: runs 1 to 3 and 3 to 5, the third without tables.
fn shards() -> [TempDir; 3] {
    let directories = [(); 3].map(|()| tempfile::tempdir().unwrap());
    for (directory, rows) in directories.iter().zip([0..3usize, 2..5]) {
        let some = runs().slice(rows.start as i64, rows.len());
        save(&some, directory.path(), "runs.parquet");
        fs::create_dir(directory.path().join("loads")).unwrap();
        for row in rows {
            let run = runs().slice(row as i64, 1).select(["run_id", "trace"]).unwrap();
            save(&run, &directory.path().join("loads"), &format!("{row}.parquet"));
        }
    }
    directories
}

fn ids(table: LazyFrame) -> Vec<u64> {
    let table = table.select([col("run_id")]).collect().unwrap();
    table.column("run_id").unwrap().u64().unwrap().iter().flatten().collect()
}

#[test]
fn several_directories_are_one_with_every_run_once() {
    let shards = shards();
    let results = Results::open_all(&shards).unwrap();
    assert_eq!(ids(results.runs().unwrap()), [1, 2, 3, 4, 5]);
    assert_eq!(ids(results.loads().unwrap()), [1, 2, 3, 4, 5]);
    let backwards = Results::open_all(&[&shards[1], &shards[0]]).unwrap();
    assert_eq!(ids(backwards.loads().unwrap()), [3, 4, 5, 1, 2]);
    assert_eq!(
        ids(Results::open_all(&[&shards[0], &shards[0]]).unwrap().loads().unwrap()),
        [1, 2, 3]
    );
}

#[test]
fn table_of_some_directories_is_their_union() {
    let shards = shards();
    save(&runs().slice(2, 2), shards[1].path(), "banks.parquet");
    let results = Results::open_all(&shards).unwrap();
    assert_eq!(ids(results.table("banks").unwrap()), [4], "run 3 is of the first directory");
    assert!(results.has("banks").unwrap() && !results.has("slices").unwrap());
    let error = results.table("slices").err().unwrap().to_string();
    let all: Vec<String> = shards.iter().map(|shard| shard.path().display().to_string()).collect();
    assert!(error.contains(&all.join(", ")), "{error}");
}

#[test]
fn per_file_results_equal_those_of_the_whole_table() {
    let shards = shards();
    let results = Results::open_all(&shards).unwrap();
    let count = |frame: LazyFrame| Ok(frame.group_by_stable([col("run_id")]).agg([len()]));
    assert_eq!(ids(results.by_file("loads", count).unwrap()), [1, 2, 3, 4, 5]);
}

type OfLoads<'a> = &'a dyn Fn(LazyFrame, &[&str]) -> warpmem_analysis::Result<LazyFrame>;

/// Files of a single run (stated in their footers), of two runs, and of a run that an earlier
/// directory has.
#[test]
fn functions_by_run_equal_functions_of_the_table() {
    let directories: Vec<_> = (0..2).map(|_| tempfile::tempdir().unwrap()).collect();
    let loads = |runs: [&str; 4]| {
        df!("run_id" => runs, "load_time" => [10i64, 20, 30, 40],
            "divergence" => [Some(4i64), None, Some(6), Some(6)], "in_mc_divergence" => [Some(1i64), None, Some(3), Some(2)])
        .unwrap()
    };
    let (one, other) = (directories[0].path(), directories[1].path());
    for directory in [one, other] {
        fs::create_dir(directory.join("loads")).unwrap();
    }
    save(&loads(["a"; 4]), one, "loads/a.parquet");
    save(&loads(["b", "b", "c", "c"]), one, "loads/b.parquet");
    save(&loads(["a"; 4]), other, "loads/a.parquet");
    save(
        &loads(["d"; 4])
            .filter(&BooleanChunked::new("".into(), [true, true, true, false]))
            .unwrap(),
        other,
        "loads/d.parquet",
    );
    for (directory, runs) in [(one, vec!["a", "b", "c"]), (other, vec!["a", "d"])] {
        save(&df!("run_id" => runs).unwrap(), directory, "runs.parquet");
    }
    for results in [Results::open(one).unwrap(), Results::open_all(&[one, other]).unwrap()] {
        let tails = |loads: LazyFrame, keys: &[&str]| tail(loads, "load_time", keys);
        let functions: [OfLoads; 3] = [&divergence, &load_time, &tails];
        for function in functions {
            let by_run = results.by_run("loads", function).unwrap().collect().unwrap();
            let whole = function(results.loads().unwrap(), &["run_id"]).unwrap().collect().unwrap();
            assert!(by_run.equals_missing(&whole), "{by_run:?} {whole:?}");
        }
    }
}

#[test]
fn unfinished_sweep_reads_as_its_finished_cells() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("unfinished"), "# words\nb\nbegun\nmissing\na\n").unwrap();
    let results = || Results::open(directory.path()).unwrap();
    assert!(!results().has("runs").unwrap());
    let loads = directory.path().join("loads");
    fs::create_dir(&loads).unwrap();
    for (row, name) in [(1, "b"), (0, "a"), (2, "begun"), (3, "older")] {
        let cell = directory.path().join("cells").join(name);
        fs::create_dir_all(&cell).unwrap();
        let run = runs().slice(row, 1);
        save(&run, &loads, &format!("{name}.parquet"));
        if name != "begun" {
            save(&run, &cell, "runs.parquet");
        }
    }
    assert_eq!(ids(results().runs().unwrap()), [2, 1], "as the plan has them");
    assert_eq!(ids(results().loads().unwrap()), [2, 1]);
    save(&runs(), directory.path(), "runs.parquet");
    fs::remove_file(directory.path().join("unfinished")).unwrap();
    assert_eq!(ids(results().runs().unwrap()), [1, 2, 3, 4, 5, 6]);
}

/// Two shards of a plan of four runs; neither has the fourth.
#[test]
fn missing_runs_of_sharded_sweeps_are_counted() {
    let shards = [["a", "b"], ["c", "b"]].map(|there| {
        let directory = tempfile::tempdir().unwrap();
        save(&df!("run_id" => there).unwrap(), directory.path(), "runs.parquet");
        fs::write(directory.path().join("incomplete"), "# words\na\nb\nc\nd\n").unwrap();
        directory
    });
    let planned =
        |directories: &[&Path]| Results::open_all(directories).unwrap().planned().unwrap();
    assert_eq!(planned(&[shards[0].path()]), (4, 2));
    assert_eq!(planned(&[shards[0].path(), shards[1].path()]), (4, 1));
    fs::rename(shards[1].path().join("incomplete"), shards[1].path().join("unfinished")).unwrap();
    assert_eq!(planned(&[shards[1].path()]), (4, 4), "none has a cell");
    fs::remove_file(shards[0].path().join("incomplete")).unwrap();
    assert_eq!(planned(&[shards[0].path()]), (0, 0));
}

#[test]
fn a_plan_that_is_damaged_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("incomplete");
    let text = warpmem_support::checksum::with_checksum("# words\na\nb\n".to_owned());
    fs::write(&path, &text).unwrap();
    assert_eq!(Results::open(directory.path()).unwrap().planned().unwrap(), (2, 2));
    fs::write(&path, text.replace("\na\n", "\nc\n")).unwrap();
    let error = Results::open(directory.path()).unwrap_err();
    assert!(matches!(&error, Error::Damaged { path: named, .. } if *named == path), "{error}");
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

/// A file written by another program carries no checksum.
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

#[test]
fn former_names_of_columns_are_read_and_queried() {
    let former =
        df!("run_id" => [1u64, 2], "latency_llc" => [30.0, 40.0], "llc_queue" => ["fifo", "none"]);
    let directory = tempfile::tempdir().unwrap();
    save(&former.unwrap(), directory.path(), "runs.parquet");
    let results = Results::open(directory.path()).unwrap();
    let present = results.query("SELECT latency_l2 FROM runs WHERE l2_queue = 'none'").unwrap();
    assert_eq!(floats(&present, "latency_l2"), [Some(40.0)]);
    let by_former =
        results.query("SELECT Latency_LLC AS mean FROM runs WHERE llc_queue = 'fifo'").unwrap();
    assert_eq!(floats(&by_former, "mean"), [Some(30.0)]);
}
