//! Results with a flipped bit.

use super::support::{Bench, names_in};
use super::sweep::tables;
use std::fs;
use std::path::{Path, PathBuf};
use warpmem_analysis::{Results, TABLES};
use warpmem_testing::is_long;

/// Makes a results directory with every table.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^8")], "small.wmt");
    let recorded = ["--intervals", "200", "--requests", "all"];
    let run = ["run", "small.wmt", "--dram-scheduler", "mshr-s+a", "-o", "results"];
    bench.output(&[&run[..], &recorded].concat());
    bench
}

/// Returns the single file of a table.
fn file_of(directory: &Path, table: &str) -> PathBuf {
    let file = directory.join(format!("{table}.parquet"));
    if file.exists() {
        return file;
    }
    let folder = directory.join(table);
    let names = names_in(&folder);
    assert_eq!(names.len(), 1, "{names:?}");
    folder.join(&names[0])
}

fn with_flipped_bit(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    damaged[bit / 8] ^= 1 << (bit % 8);
    damaged
}

/// Flips a bit in the middle of a file.
pub fn flip(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, with_flipped_bit(&bytes, 4 * bytes.len())).unwrap();
}

/// Returns bits of a file: a sample of the whole, and one in nine bits of the first and last bytes,
/// which hold magic numbers, checksum and the length of the footer. A long run takes each bit of these
/// bytes and a larger sample.
fn bits(bytes: usize) -> impl Iterator<Item = usize> {
    const ENDS: usize = 30 * 8;
    let bits = 8 * bytes;
    let (step, sample) = if is_long() { (1, 200) } else { (9, 40) };
    let all_over = (0..sample).map(move |n| n * (bits - 1) / (sample - 1));
    let first = (0..ENDS).step_by(step);
    let last = (bits - ENDS..bits).step_by(step);
    first.chain(all_over).chain(last)
}

#[test]
fn every_flipped_bit_is_detected_and_its_file_named() {
    let bench = bench();
    let directory = bench.path("results");
    for table in TABLES {
        let path = file_of(&directory, table);
        let whole = fs::read(&path).unwrap();
        let read = || -> Result<usize, String> {
            let told = |error: warpmem_analysis::Error| error.to_string();
            let results = Results::open(&directory).map_err(told)?;
            let frame = results.table(table).map_err(told)?;
            frame.collect().map(|rows| rows.height()).map_err(|error| error.to_string())
        };
        read().unwrap();
        for bit in bits(whole.len()) {
            fs::write(&path, with_flipped_bit(&whole, bit)).unwrap();
            let error = read().expect_err(&format!("{table}: bit {bit} of {}", 8 * whole.len()));
            assert!(error.contains(&path.display().to_string()), "{table}, bit {bit}: {error}");
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn commands_refuse_damaged_tables_by_name() {
    let bench = bench();
    let cases: [(&str, &[&str]); 5] = [
        ("runs", &["query", "results", "SELECT cycles FROM runs"]),
        ("runs", &["report", "results"]),
        ("loads", &["query", "results", "SELECT count(*) AS n FROM loads"]),
        ("histograms", &["query", "results", "SELECT count(*) AS n FROM histograms"]),
        ("kernels", &["query", "results", "--tables"]),
    ];
    for (table, command) in cases {
        let path = file_of(&bench.path("results"), table);
        let whole = fs::read(&path).unwrap();
        flip(&path);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        bench.refuses(command, &[&name, "is damaged", "its checksum is"]);
        fs::write(&path, whole).unwrap();
    }
    assert!(!bench.path("results/report.html").exists());
}

#[test]
fn tables_without_checksums_are_read_with_a_note() {
    let bench = bench();
    let query = ["query", "results", "SELECT cycles FROM runs", "--format", "csv"];
    let ran = bench.run(&query);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let path = bench.path("results/runs.parquet");
    let runs = warpmem_analysis::read_table(&path).unwrap().collect().unwrap();
    warpmem_analysis::write_parquet(&runs, &path).unwrap();
    let other = bench.run(&query);
    assert_eq!((other.status, &other.stdout), (ran.status, &ran.stdout));
    assert!(other.stderr.starts_with("note: results/runs.parquet has no checksum"), "{other:?}");
}

#[test]
fn a_sweep_makes_damaged_runs_again() {
    let bench = Bench::with_trace();
    bench.write(
        "plan.toml",
        "traces = [\"small.wmt\"]\nloads = true\n[policies]\ndram_scheduler = [\"fcfs\", \"fr-fcfs\"]\n",
    );
    let sweep = ["sweep", "plan.toml", "-o", "results"];
    bench.output(&sweep);
    let whole = tables(&bench, "results");
    let cells = bench.path("results/cells");
    let (first, second) = (&names_in(&cells)[0], &names_in(&cells)[1]);
    let in_cell = cells.join(first).join("runs.parquet");
    let stream = bench.path("results/loads").join(format!("{second}.parquet"));
    for path in [in_cell, stream] {
        flip(&path);
        let listed = bench.run(&[&sweep[..], &["--dry-run"]].concat());
        assert!(listed.stderr.contains("; 1 cells already exist"), "{listed:?}");
        let ran = bench.run(&sweep);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let name = path.strip_prefix(bench.path("")).unwrap().display();
        let note = format!("note: {name} is damaged; its run is repeated");
        assert!(ran.stderr.contains(&note) && ran.stderr.contains("\n1 run in "), "{ran:?}");
        assert!(tables(&bench, "results") == whole);
    }
}
