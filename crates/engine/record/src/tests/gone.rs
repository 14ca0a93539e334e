//! Results directories that are removed or replaced during writing.
#![cfg(unix)]

use super::fixture;
use crate::{CellStore, Recorded, ResultsError, ResultsWriter, RunKey};
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

const NOTHING: Recorded = Recorded { loads: false, intervals: None, requests: None };

/// Creates a store in `results` with one run of two.
fn half_done() -> (TempDir, CellStore, [RunKey; 2]) {
    let folder = tempdir().unwrap();
    let keys = [fixture::key(), fixture::other_key(5)];
    let store = CellStore::open(&folder.path().join("results"), &keys, NOTHING).unwrap();
    keep(&store, &keys[0]).unwrap();
    (folder, store, keys)
}

fn keep(store: &CellStore, key: &RunKey) -> Result<(), ResultsError> {
    store.finish(store.begin(key.clone(), NOTHING)?, &fixture::result())
}

fn is_gone<T>(result: &Result<T, ResultsError>) -> bool {
    matches!(result, Err(ResultsError::Gone { .. }))
}

fn exists(dir: &Path, name: &str) -> bool {
    dir.join("results").join(name).exists()
}

#[test]
fn a_store_that_is_removed_stays_removed() {
    let (folder, store, keys) = half_done();
    fs::remove_dir_all(folder.path().join("results")).unwrap();
    assert!(is_gone(&store.begin(keys[1].clone(), NOTHING)));
    assert!(is_gone(&store.assemble(&keys, NOTHING)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_store_that_is_replaced_leaves_the_new_directory_alone() {
    let (folder, store, keys) = half_done();
    let recorder = store.begin(keys[1].clone(), NOTHING).unwrap();
    let results = folder.path().join("results");
    fs::rename(&results, folder.path().join("away")).unwrap();
    fs::create_dir(&results).unwrap();
    assert!(is_gone(&store.finish(recorder, &fixture::result())));
    assert!(is_gone(&store.assemble(&keys, NOTHING)));
    assert_eq!(fs::read_dir(&results).unwrap().count(), 0);
}

/// A removal that fails midway, because of files created concurrently, may have removed any of them.
#[test]
fn tables_that_lack_runs_are_marked_after_any_removal() {
    let (folder, store, keys) = half_done();
    fs::remove_file(folder.path().join("results/unfinished")).unwrap();
    assert_eq!(store.assemble(&keys, NOTHING).unwrap(), 1);
    assert!(exists(folder.path(), "runs.parquet") && exists(folder.path(), "incomplete"));
    assert!(!exists(folder.path(), "unfinished"));

    let (folder, store, keys) = half_done();
    keep(&store, &keys[1]).unwrap();
    let cell = folder.path().join("results/cells").join(keys[0].run_id());
    fs::remove_dir_all(cell).unwrap();
    assert_eq!(store.assemble(&keys, NOTHING).unwrap(), 1);
    assert!(exists(folder.path(), "incomplete"));

    let (folder, store, keys) = half_done();
    fs::remove_file(folder.path().join("results/.lock")).unwrap();
    assert!(is_gone(&keep(&store, &keys[1])));
    assert!(is_gone(&store.assemble(&keys, NOTHING)));
    assert!(!exists(folder.path(), "runs.parquet"));
}

#[test]
fn a_writer_without_its_directory_publishes_nothing() {
    for is_replaced in [false, true] {
        let folder = tempdir().unwrap();
        let results = folder.path().join("results");
        let writer = ResultsWriter::create(&results).unwrap();
        let recorder = writer.begin_run(fixture::key(), NOTHING).unwrap();
        writer.finish_run(0, recorder, &fixture::result()).unwrap();
        let next = writer.begin_run(fixture::other_key(5), NOTHING).unwrap();
        fs::remove_dir_all(&results).unwrap();
        if is_replaced {
            fs::create_dir(&results).unwrap();
        }
        assert!(is_gone(&writer.begin_run(fixture::other_key(6), NOTHING)));
        assert!(is_gone(&writer.finish_run(1, next, &fixture::result())));
        assert!(is_gone(&writer.finish()));
        assert!(!exists(folder.path(), "runs.parquet"));
    }
}
