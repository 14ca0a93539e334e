//! Directories of cells: finished runs, and the remains of killed processes.

use super::fixture;
use crate::{CellStore, FinishedCells, Recorded, ResultsError, ResultsWriter, RunKey, cell_names};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::tempdir;
use warpmem_gpu::results::RunSink;

const LOADS: Recorded = Recorded { loads: true, intervals: None, requests: None };
const NOTHING: Recorded = Recorded { loads: false, intervals: None, requests: None };

fn keep(store: &CellStore, key: RunKey, recorded: Recorded) {
    let mut recorder = store.begin(key, recorded).unwrap();
    (0..3).for_each(|load| recorder.load(&fixture::load_row(load)));
    store.finish(recorder, &fixture::result()).unwrap();
}

fn table(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.parquet"))
}

/// Records two runs, the second before the first, and their tables.
fn two_runs(dir: &Path) -> [RunKey; 2] {
    let keys = [fixture::key(), fixture::other_key(5)];
    let store = CellStore::open(dir, &keys, LOADS).unwrap();
    keep(&store, keys[1].clone(), LOADS);
    keep(&store, keys[0].clone(), LOADS);
    assert_eq!(store.assemble(&keys, LOADS).unwrap(), 2);
    keys
}

#[test]
fn assembled_tables_equal_those_of_a_writer() {
    let (cells, written) = (tempdir().unwrap(), tempdir().unwrap());
    let keys = two_runs(cells.path());
    let writer = ResultsWriter::create(written.path()).unwrap();
    for (index, key) in keys.iter().enumerate() {
        let mut recorder = writer.begin_run(key.clone(), LOADS).unwrap();
        (0..3).for_each(|load| recorder.load(&fixture::load_row(load)));
        writer.finish_run(index, recorder, &fixture::result()).unwrap();
    }
    writer.finish().unwrap();
    for entry in fs::read_dir(written.path()).unwrap() {
        let path = entry.unwrap().path();
        let other = cells.path().join(path.file_name().unwrap());
        if path.is_file() {
            assert!(fs::read(&path).unwrap() == fs::read(&other).unwrap(), "{}", path.display());
        } else {
            assert_eq!(fs::read_dir(&other).unwrap().count(), 2);
        }
    }
}

#[test]
fn a_run_is_found_only_under_its_label() {
    let dir = tempdir().unwrap();
    let [key, _] = two_runs(dir.path());
    let finished = FinishedCells::read(dir.path()).unwrap();
    assert!(finished.holds(&key, LOADS) && finished.holds(&key, NOTHING));
    let mut renamed = key.clone();
    renamed.trace = "another name".to_owned();
    assert!(!finished.holds(&renamed, NOTHING), "its tables have the old name");
    assert!(!finished.holds(&key.clone().with_overrides(&["a=1".to_owned()]), NOTHING));
    let every = Recorded { requests: Some(warpmem_gpu::results::RequestSample::ALL), ..LOADS };
    assert!(!finished.holds(&key, every));
    assert_eq!(finished.others(&HashSet::from([key.run_id()])).len(), 1);
}

#[test]
fn a_run_without_all_files_is_not_finished() {
    let dir = tempdir().unwrap();
    let [key, other] = two_runs(dir.path());
    let is_there = |recorded| FinishedCells::read(dir.path()).unwrap().holds(&key, recorded);
    fs::remove_file(dir.path().join("loads").join(format!("{}.parquet", key.run_id()))).unwrap();
    assert!(is_there(NOTHING) && !is_there(LOADS));
    fs::remove_file(dir.path().join("cells").join(key.run_id()).join("banks.parquet")).unwrap();
    assert!(!is_there(NOTHING));
    // Its remains do not block the run.
    let store = CellStore::open(dir.path(), [&key, &other], LOADS).unwrap();
    assert_eq!(store.assemble([&key, &other], LOADS).unwrap(), 1);
    let store = CellStore::open(dir.path(), [&key, &other], LOADS).unwrap();
    keep(&store, key.clone(), LOADS);
    assert_eq!(store.assemble([&key, &other], LOADS).unwrap(), 2);
    assert!(is_there(LOADS));
}

#[test]
fn opening_removes_the_remains_of_a_killed_process() {
    let dir = tempdir().unwrap();
    let [key, other] = two_runs(dir.path());
    let stray = dir.path().join(".partial-results-x");
    fs::create_dir_all(stray.join(key.run_id())).unwrap();
    let keys = [key.clone(), other.clone()];
    let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    assert!(!stray.exists());
    assert!(!dir.path().join("loads").exists(), "rows are with their cells meanwhile");
    let unfinished = fs::read_to_string(dir.path().join("unfinished")).unwrap();
    let named: Vec<&str> = unfinished.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(named, [key.run_id(), other.run_id()]);
    let file = |key: &RunKey| dir.path().join("cells").join(key.run_id()).join("loads.parquet");
    assert!(file(&key).exists() && file(&other).exists());
    // A process killed here leaves this state; the next one continues.
    drop(store);
    let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    store.assemble(&[key, other], LOADS).unwrap();
    assert_eq!(fs::read_dir(dir.path().join("loads")).unwrap().count(), 2);
    assert!(!dir.path().join("unfinished").exists());
}

#[test]
fn mismatched_cells_are_superseded_until_their_runs_are_repeated() {
    let dir = tempdir().unwrap();
    let keys = [fixture::key(), fixture::other_key(5)];
    let store = CellStore::open(dir.path(), &keys, NOTHING).unwrap();
    keys.iter().for_each(|key| keep(&store, key.clone(), NOTHING));
    assert_eq!(store.assemble(&keys, NOTHING).unwrap(), 2);
    let count = |folder: &str| {
        let entries = fs::read_dir(dir.path().join(folder));
        entries.map_or(0, Iterator::count)
    };
    let mut renamed = keys.clone();
    renamed[0].trace = "another name".to_owned();
    // Each of these processes is killed before it finishes a run.
    drop(CellStore::open(dir.path(), &renamed, NOTHING).unwrap());
    assert_eq!((count("cells"), count("superseded")), (1, 1));
    drop(CellStore::open(dir.path(), &keys, LOADS).unwrap());
    assert_eq!((count("cells"), count("superseded")), (0, 2));
    assert!(FinishedCells::read(dir.path()).unwrap().holds(&keys[0], NOTHING));
    let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    keep(&store, keys[0].clone(), LOADS);
    drop(store);
    assert_eq!((count("cells"), count("superseded")), (1, 1));
    // No run of the earlier plan is lost.
    let store = CellStore::open(dir.path(), &keys, NOTHING).unwrap();
    assert_eq!((count("cells"), count("superseded")), (2, 0));
    assert_eq!(store.assemble(&keys, NOTHING).unwrap(), 2);
    assert!(!dir.path().join("superseded").exists());
}

/// A process killed between these two steps.
#[test]
fn a_repeated_run_removes_its_superseded_cell() {
    let dir = tempdir().unwrap();
    let keys = [fixture::key()];
    let run_id = keys[0].run_id();
    let [cell, superseded] =
        ["cells", "superseded"].map(|folder| dir.path().join(folder).join(run_id));
    keep(&CellStore::open(dir.path(), &keys, NOTHING).unwrap(), keys[0].clone(), NOTHING);
    let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    let old: Vec<_> =
        fs::read_dir(&superseded).unwrap().map(|entry| entry.unwrap().path()).collect();
    let old: Vec<_> = old.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
    keep(&store, keys[0].clone(), LOADS);
    assert!(cell.join("loads.parquet").exists() && !superseded.exists());
    drop(store);
    fs::create_dir_all(&superseded).unwrap();
    old.iter().for_each(|(content, path)| fs::write(path, content).unwrap());
    drop(CellStore::open(dir.path(), &keys, LOADS).unwrap());
    assert!(cell.join("loads.parquet").exists() && !superseded.exists());
}

#[test]
fn streams_without_a_cell_are_superseded_and_other_files_stay() {
    let dir = tempdir().unwrap();
    let keys = two_runs(dir.path());
    let loads = dir.path().join("loads");
    for name in ["0123456789abcdef.parquet", "notes.txt", "mine.parquet"] {
        fs::write(loads.join(name), name).unwrap();
    }
    fs::create_dir(loads.join("plots")).unwrap();
    let mut store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    let names = || {
        let entries = fs::read_dir(&loads).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap())
    };
    assert_eq!(names().collect::<HashSet<_>>().len(), 3, "{:?}", names().collect::<Vec<_>>());
    let superseded = dir.path().join("superseded/loads/0123456789abcdef.parquet");
    assert_eq!(fs::read_to_string(&superseded).unwrap(), "0123456789abcdef.parquet");
    store.prune(&keys.each_ref().map(RunKey::run_id).into()).unwrap();
    assert!(!superseded.exists());
    assert_eq!(store.assemble(&keys, LOADS).unwrap(), 2);
    assert_eq!(names().count(), 5);
}

#[test]
fn tables_that_lack_runs_are_marked_incomplete() {
    let dir = tempdir().unwrap();
    let incomplete = dir.path().join("incomplete");
    let keys = [fixture::key(), fixture::other_key(5)];
    let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    keep(&store, keys[0].clone(), LOADS);
    assert_eq!(store.assemble(&keys, LOADS).unwrap(), 1);
    let text = fs::read_to_string(&incomplete).unwrap();
    let named: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(named, keys.each_ref().map(RunKey::run_id));
    let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    keep(&store, keys[1].clone(), LOADS);
    assert_eq!(store.assemble(&keys, LOADS).unwrap(), 2);
    assert!(!incomplete.exists() && !dir.path().join("unfinished").exists());
}

fn flip_a_bit(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_run_is_repeated() {
    let dir = tempdir().unwrap();
    let keys = two_runs(dir.path());
    let tables = || ["runs", "banks"].map(|name| fs::read(table(dir.path(), name)).unwrap());
    let whole = tables();
    let stream = dir.path().join("loads").join(format!("{}.parquet", keys[1].run_id()));
    let cell = |key: &RunKey| dir.path().join("cells").join(key.run_id());
    for (damaged, key) in [(table(&cell(&keys[0]), "banks"), &keys[0]), (stream, &keys[1])] {
        flip_a_bit(&damaged);
        let finished = FinishedCells::read(dir.path()).unwrap();
        assert_eq!(finished.damaged(key, LOADS).unwrap(), Some(damaged.clone()));
        let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
        assert_eq!(store.damaged(), [damaged]);
        assert!(!store.finished().holds(key, LOADS));
        keep(&store, key.clone(), LOADS);
        assert_eq!(store.assemble(&keys, LOADS).unwrap(), 2);
        assert!(tables() == whole);
        assert!(!dir.path().join("superseded").exists());
        let finished = FinishedCells::read(dir.path()).unwrap();
        assert_eq!(finished.damaged(key, LOADS).unwrap(), None);
    }
}

#[test]
fn the_undamaged_of_two_cells_is_used() {
    let dir = tempdir().unwrap();
    let keys = [fixture::key()];
    let [cell, superseded] =
        ["cells", "superseded"].map(|folder| dir.path().join(folder).join(keys[0].run_id()));
    keep(&CellStore::open(dir.path(), &keys, NOTHING).unwrap(), keys[0].clone(), NOTHING);
    fs::create_dir_all(&superseded).unwrap();
    for entry in fs::read_dir(&cell).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, superseded.join(path.file_name().unwrap())).unwrap();
    }
    flip_a_bit(&table(&cell, "sms"));
    let store = CellStore::open(dir.path(), &keys, NOTHING).unwrap();
    assert_eq!(store.damaged(), [table(&cell, "sms")]);
    assert!(store.finished().holds(&keys[0], NOTHING) && !superseded.exists());
    assert_eq!(store.assemble(&keys, NOTHING).unwrap(), 1);
}

#[test]
fn tables_damaged_before_assembly_are_not_published() {
    let dir = tempdir().unwrap();
    let keys = two_runs(dir.path());
    let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
    let damaged = table(&dir.path().join("cells").join(keys[1].run_id()), "kernels");
    flip_a_bit(&damaged);
    let before = fs::read(table(dir.path(), "kernels")).unwrap();
    let error = store.assemble(&keys, LOADS).unwrap_err();
    assert!(matches!(&error, ResultsError::Damaged { path, .. } if *path == damaged), "{error}");
    assert!(fs::read(table(dir.path(), "kernels")).unwrap() == before);
}

#[test]
fn a_dropped_recorder_records_no_run() {
    let dir = tempdir().unwrap();
    let store = CellStore::open(dir.path(), [], LOADS).unwrap();
    drop(store.begin(fixture::key(), LOADS).unwrap());
    assert_eq!(store.assemble(&[fixture::key()], LOADS).unwrap(), 0);
    assert!(!FinishedCells::read(dir.path()).unwrap().holds(&fixture::key(), NOTHING));
    assert!(!dir.path().join("runs.parquet").exists());
}

#[test]
fn a_store_has_one_writer_and_never_overwrites_other_results() {
    let dir = tempdir().unwrap();
    let store = CellStore::open(dir.path(), [], LOADS).unwrap();
    assert!(matches!(CellStore::open(dir.path(), [], LOADS), Err(ResultsError::InUse { .. })));
    assert!(matches!(ResultsWriter::create(dir.path()), Err(ResultsError::InUse { .. })));
    drop(store);
    let create = ResultsWriter::create(dir.path());
    assert!(matches!(create, Err(ResultsError::AlreadyHoldsResults { .. })), "a sweep is in there");
    let other = tempdir().unwrap();
    let writer = ResultsWriter::create(other.path()).unwrap();
    assert!(matches!(CellStore::open(other.path(), [], LOADS), Err(ResultsError::InUse { .. })));
    assert!(!other.path().join("cells").exists());
    drop(writer);
    fs::create_dir(other.path().join("loads")).unwrap();
    let open = CellStore::open(other.path(), [], LOADS);
    assert!(matches!(open, Err(ResultsError::AlreadyHoldsResults { .. })));
}

/// Cells of two shards of a plan, with their streams moved out, become cells of one directory, whose
/// files equal those of a directory with all runs.
#[test]
fn runs_move_once_from_another_directory() {
    let (whole, part) = (tempdir().unwrap(), tempdir().unwrap());
    let (other_part, expected) = (tempdir().unwrap(), tempdir().unwrap());
    let keys = two_runs(expected.path());
    for (dir, key) in [(&part, &keys[0]), (&other_part, &keys[1])] {
        let store = CellStore::open(dir.path(), &keys, LOADS).unwrap();
        keep(&store, key.clone(), LOADS);
        assert_eq!(store.assemble(&keys, LOADS).unwrap(), 1);
    }
    let mut store = CellStore::open(whole.path(), &keys, LOADS).unwrap();
    for dir in [&part, &other_part] {
        let mut from = CellStore::open(dir.path(), &keys, LOADS).unwrap();
        store.take_from(&mut from, &keys, LOADS).unwrap();
        assert!(keys.iter().all(|key| !from.finished().holds(key, LOADS)));
        assert_eq!(cell_names(dir.path()).unwrap(), HashSet::new());
    }
    assert!(keys.iter().all(|key| store.finished().holds(key, LOADS)));
    assert_eq!(cell_names(whole.path()).unwrap().len(), 2);
    assert_eq!(store.assemble(&keys, LOADS).unwrap(), 2);
    for name in ["runs.parquet", "histograms.parquet", "loads"] {
        let [ours, theirs] = [&whole, &expected].map(|dir| content(&dir.path().join(name)));
        assert!(ours == theirs, "{name}");
    }
}

/// Returns the bytes of a file, or of all files of a folder.
fn content(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if path.is_file() {
        return vec![(PathBuf::new(), fs::read(path).unwrap())];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into(), fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn runs_present_or_recorded_differently_are_not_moved() {
    let (here, there) = (tempdir().unwrap(), tempdir().unwrap());
    let keys = two_runs(there.path());
    let mut store = CellStore::open(here.path(), &keys, LOADS).unwrap();
    keep(&store, keys[0].clone(), LOADS);
    drop(store);
    store = CellStore::open(here.path(), &keys, LOADS).unwrap();
    let mut from = CellStore::open(there.path(), &keys, LOADS).unwrap();
    let every = Recorded { requests: Some(warpmem_gpu::results::RequestSample::ALL), ..LOADS };
    store.take_from(&mut from, &keys, every).unwrap();
    assert_eq!(cell_names(there.path()).unwrap().len(), 2, "they lack the requests");
    store.take_from(&mut from, &keys, LOADS).unwrap();
    let left = cell_names(there.path()).unwrap();
    assert_eq!(left, HashSet::from([keys[0].run_id().to_owned()]));
}
