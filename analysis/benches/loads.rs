//! Cost of a report's load tables over ten million rows: `cargo bench -p warpmem-analysis --bench loads`.
//!
//! The benchmark writes one file per run, with the columns that a run leaves. A separate process reads them; its times
//! and peak memory are printed. `-- --read DIR` reads an existing directory instead.

use std::env::{args, current_exe};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use polars::prelude::*;
use polars_io::prelude::ParquetWriter;
use warpmem_analysis::{Results, SLOTS, divergence, load_time, tail};

const ROWS: u64 = 10_000_000;
const RUNS: u64 = 16;
/// Rows of a row group, as the engine writes them.
const GROUP_ROWS: usize = 1 << 16;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = args().skip(1).collect();
    match arguments.iter().position(|argument| argument == "--read") {
        Some(place) => read(Path::new(&arguments[place + 1])),
        None => write_and_read(),
    }
}

fn write_and_read() -> Outcome {
    let directory = tempfile::tempdir()?;
    let folder = directory.path().join("loads");
    fs::create_dir(&folder)?;
    let mut bytes = 0;
    for run in 0..RUNS {
        let path = folder.join(format!("{run:016x}.parquet"));
        let writer =
            ParquetWriter::new(fs::File::create(&path)?).with_row_group_size(Some(GROUP_ROWS));
        writer.finish(&mut loads(run)?)?;
        bytes += fs::metadata(&path)?.len();
    }
    report(&format!("{ROWS} rows of {RUNS} runs: {} MB", bytes / 1_000_000));
    let status = Command::new(current_exe()?).arg("--read").arg(directory.path()).status()?;
    if status.success() { Ok(()) } else { Err("the reading process failed".into()) }
}

fn read(directory: &Path) -> Outcome {
    let results = Results::open(directory)?;
    let begin = Clock::now()?;
    let timed = |name: &str, table: LazyFrame| -> Outcome {
        let begin = Clock::now()?;
        let rows = table.collect()?.height();
        report(&format!("{name}: {rows} rows in {}", begin.elapsed()?));
        Ok(())
    };
    timed("divergence", results.by_run("loads", divergence)?)?;
    timed("load_time", results.by_run("loads", load_time)?)?;
    timed(
        "tail of load_time",
        results.by_run("loads", |loads, keys| tail(loads, "load_time", keys))?,
    )?;
    timed(
        "tail of divergence",
        results.by_run("loads", |loads, keys| tail(loads, "divergence", keys))?,
    )?;
    report(&format!("all: {}, {}", begin.elapsed()?, largest_size()?));
    Ok(())
}

/// Wall-clock time, and CPU time of the process, which other processes do not lengthen.
struct Clock {
    wall: Instant,
    ticks: u64,
}

impl Clock {
    fn now() -> std::io::Result<Clock> {
        let stat = fs::read_to_string("/proc/self/stat")?;
        // User and system times are the 12th and 13th fields after the name in brackets.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(Clock { wall: Instant::now(), ticks })
    }

    fn elapsed(&self) -> std::io::Result<String> {
        const TICKS_PER_SECOND: f64 = 100.0;
        let processors = (Clock::now()?.ticks - self.ticks) as f64 / TICKS_PER_SECOND;
        Ok(format!("{:.2} s ({processors:.2} s of processors)", self.wall.elapsed().as_secs_f64()))
    }
}

fn largest_size() -> std::io::Result<String> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("size not known");
    Ok(line.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[expect(clippy::print_stdout, reason = "what a bench is for")]
fn report(line: &str) {
    println!("{line}");
}

/// Makes the loads of a run: long-tailed times, a third of them without divergence.
fn loads(run: u64) -> PolarsResult<DataFrame> {
    let rows = (ROWS / RUNS) as usize;
    let mut state = run + 1;
    let mut random = |below: u64| {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below
    };
    let mut integers = |below: u64| (0..rows).map(|_| random(below) as i64).collect::<Vec<i64>>();
    let (shift, base, third) = (integers(12), integers(300), integers(3));
    let time: Vec<i64> = (0..rows).map(|row| 200 + (base[row] << shift[row])).collect();
    let some = |row: usize, value: i64| (third[row] > 0).then_some(value);
    let divergence: Vec<_> = (0..rows).map(|row| some(row, time[row] - 200 - base[row])).collect();
    let in_mc: Vec<_> = divergence.iter().map(|value| value.map(|value| value / 2)).collect();
    let issue: Vec<i64> = (0..rows as i64).map(|row| row * 3).collect();
    let frame = df!(
        "kernel" => vec![0i64; rows], "cta" => integers(4096), "warp_in_cta" => integers(8),
        "sm" => integers(30), "pc" => integers(64), "issue_cycle" => issue, "load_time" => time,
        "requests" => integers(32), "offchip_requests" => integers(32), "channels" => integers(8),
        "banks" => integers(32), "divergence" => divergence, "in_mc_divergence" => in_mc,
    )?;
    let key = |name: &str, value: String| lit(value).alias(name);
    let mut keys = vec![key("run_id", format!("{run:016x}"))];
    keys.extend(["trace", "machine", "overrides"].map(|name| key(name, name.to_owned())));
    keys.extend(SLOTS.map(|slot| key(slot, format!("{slot}(a=1)"))));
    keys.extend(frame.get_column_names().into_iter().map(|name| col(name.clone())));
    frame.lazy().select(keys).collect()
}
