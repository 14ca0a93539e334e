//! Malicious input is refused or displayed safely; it is neither executed nor trusted.

use super::support::{Bench, Ran};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use warpmem_testing::{TestKernel, exit, write_trace};
use warpmem_trace::{Trace, WriterOptions};

/// Writes a trace of one warp that exits at once, in a kernel of this name.
fn trace_of(path: &Path, name: &str) {
    let kernel =
        TestKernel { name: Some(name.to_owned()), ..TestKernel::new([vec![vec![exit()]]]) };
    write_trace(path, &[kernel], WriterOptions::default());
}

#[test]
fn what_a_terminal_would_obey_is_shown() {
    let bench = Bench::new();
    let name = "\u{1b}]0;owned\u{7}k\u{9b}31m\nrow";
    trace_of(&bench.path("t.wmt"), name);
    bench.output(&["run", "t.wmt", "-o", "results"]);
    let shown = |ran: Ran| {
        let text = ran.stdout + &ran.stderr;
        let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!text.contains(acts), "{text:?}");
        text
    };
    for arguments in [
        &["info", "t.wmt"][..],
        &["info", "t.wmt", "--format", "json"],
        &["sample", "t.wmt", "-o", "s.wmt"],
        &["run", "t.wmt", "--format", "csv"],
        &["query", "results", "SELECT name FROM kernels"],
        &["query", "results", "SELECT name FROM kernels", "--format", "csv"],
        &["sample", "t.wmt", "-o", "s.wmt", "--kernel-name", "none"],
    ] {
        shown(bench.run(arguments));
    }
    let table = shown(bench.run(&["query", "results", "SELECT name FROM kernels"]));
    assert!(table.contains("\\u001b]0;owned\\u0007k\\u009b31m\\nrow"), "{table}");
    let json = bench.output(&["query", "results", "SELECT name FROM kernels", "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(rows[0]["name"], name, "a program reads what was there");
    shown(bench.run(&["run", "\u{1b}[2J.wmt"]));
}

#[test]
fn a_name_of_any_length_is_taken() {
    let bench = Bench::new();
    trace_of(&bench.path("t.wmt"), &"n".repeat(70_000));
    let table = bench.output(&["sample", "t.wmt", "-o", "s.wmt"]);
    assert!(table.lines().all(|line| line.chars().count() < 1200), "names are cut");
    bench.output(&["info", "t.wmt"]);
    bench.output(&["run", "t.wmt"]);
}

#[test]
fn text_in_csv_is_no_formula() {
    let bench = Bench::new();
    trace_of(&bench.path("=cmd.wmt"), "+k");
    let csv = bench.output(&["run", "=cmd.wmt", "--format", "csv", "-o", "results"]);
    assert!(csv.contains("'=cmd") && !csv.contains(",=cmd") && !csv.contains("\n=cmd"), "{csv}");
    let query =
        ["query", "results", "SELECT name, -1 AS n, -0.5 AS f FROM kernels", "--format", "csv"];
    assert_eq!(bench.output(&query), "name,n,f\n'+k,-1,-0.5\n");
    bench.output(&[&query[..], &["-o", "a.csv"]].concat());
    assert_eq!(fs::read_to_string(bench.path("a.csv")).unwrap(), "name,n,f\n'+k,-1,-0.5\n");
}

#[test]
fn query_output_never_replaces_its_input() {
    let bench = Bench::with_trace();
    bench.output(&["run", "small.wmt", "-o", "results"]);
    let runs = fs::read(bench.path("results/runs.parquet")).unwrap();
    fs::create_dir(bench.path("elsewhere")).unwrap();
    for output in [
        "results/runs.parquet",
        "./results/../results/runs.parquet",
        "elsewhere/../results/kernels.parquet",
        // A folder of the table's files, and files that look like tables.
        "results/loads/answer.parquet",
        "results/intervals.parquet",
    ] {
        let query = ["query", "results", "SELECT run_id FROM runs", "-o", output];
        bench.refuses(&query, &[output, "name another output"]);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("results/runs.parquet", bench.path("link.parquet")).unwrap();
        let query = ["query", "results", "SELECT run_id FROM runs", "-o", "link.parquet"];
        bench.refuses(&query, &["link.parquet", "name another output"]);
    }
    assert!(fs::read(bench.path("results/runs.parquet")).unwrap() == runs);
    bench.output(&["query", "results", "SELECT run_id FROM runs", "-o", "results/answer.parquet"]);
    bench.output(&["query", "results", "SELECT run_id FROM runs", "-o", "answer.parquet"]);
}

#[test]
fn the_name_of_a_plan_leads_nowhere_else() {
    let bench = Bench::with_trace();
    bench.write("plan.toml", "name = '../escaped'\ntraces = ['small.wmt']\n");
    let parts = ["`name` of the plan: `../escaped` is not valid", "without `/`"];
    bench.refuses(&["sweep", "plan.toml"], &parts);
    let suite = "name = '../../s'\n[[workload]]\nname = 'a'\nkernel = 'vecadd'\n";
    bench.write("suite.toml", suite);
    bench.write("plan.toml", "suites = [{ from = 'suite.toml' }]\n");
    bench.refuses(
        &["sweep", "plan.toml", "-o", "results"],
        &["suite.toml is not a suite", "`../../s`"],
    );
}

/// Encodes numbers as in an index (bincode's variable-length little-endian format).
fn coded(numbers: &[u64]) -> Vec<u8> {
    let one = |&number: &u64| match number {
        0..=250 => vec![number as u8],
        251..=0xffff => [&[251][..], &(number as u16).to_le_bytes()].concat(),
        0x1_0000..=0xffff_ffff => [&[252][..], &(number as u32).to_le_bytes()].concat(),
        _ => [&[253][..], &number.to_le_bytes()].concat(),
    };
    numbers.iter().flat_map(one).collect()
}

/// Returns the trace with an extra thread instruction in its index, and correct checksums.
fn with_one_more(bytes: &[u8], kernel: &warpmem_trace::Kernel) -> Vec<u8> {
    const FOOTER: usize = 36;
    let footer = bytes.len() - FOOTER;
    let word = |at: usize| u32::from_le_bytes(bytes[footer + at..][..4].try_into().unwrap());
    let start = word(0) as usize;
    let mut stored = &bytes[start..footer];
    let mut index = Vec::new();
    match word(20) {
        0 => flate2::read::DeflateDecoder::new(stored).read_to_end(&mut index).unwrap(),
        _ => zstd::Decoder::new(&mut stored).unwrap().read_to_end(&mut index).unwrap(),
    };
    let counts = |more| {
        let threads = kernel.thread_instructions + more;
        coded(&[kernel.warps, kernel.records, kernel.warp_instructions, threads])
    };
    let (old, new) = (counts(0), counts(1));
    let at = index.windows(old.len()).position(|window| window == old).unwrap();
    index.splice(at..at + old.len(), new);
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&index).unwrap();
    let stored = encoder.finish().unwrap();
    let mut end = u64::from(word(0)).to_le_bytes().to_vec();
    for number in [stored.len() as u32, index.len() as u32, crc32fast::hash(&stored), 0] {
        end.extend(number.to_le_bytes());
    }
    let crc = crc32fast::hash(&end);
    [&bytes[..start], &stored, &end, &crc.to_le_bytes(), &bytes[bytes.len() - 8..]].concat()
}

#[test]
fn inconsistent_trace_is_an_input_error() {
    let bench = Bench::with_trace();
    let trace = Trace::open(&bench.path("small.wmt")).unwrap();
    let kernel = &trace.kernels()[0];
    let bytes = fs::read(bench.path("small.wmt")).unwrap();
    bench.write("wrong.wmt", with_one_more(&bytes, kernel));
    let (said, held) = (kernel.thread_instructions + 1, kernel.thread_instructions);
    let what = format!(
        "index: {said} thread instructions in kernel 0, `{}`, where its chunks hold {held}",
        kernel.info.name
    );
    bench.refuses(&["run", "wrong.wmt"], &["wrong.wmt is damaged at byte", &what]);
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_refused() {
    let bench = Bench::with_trace();
    bench.refuses(&["dram", "check", "/dev/zero"], &["/dev/zero", "longer than 65536 bytes"]);
    let correlate = ["correlate", "/dev/zero", "--trace", "small.wmt"];
    bench.refuses(&correlate, &["/dev/zero", "longer than 1048576 bytes"]);
    bench.refuses(&["sweep", "/dev/zero"], &["/dev/zero", "longer than 16777216 bytes"]);
    bench.refuses(&["import", "accel-sim", "/dev/zero", "-o", "t.wmt"], &["/dev/zero"]);
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[test]
fn closed_standard_output_is_a_write_error() {
    let bench = Bench::with_trace();
    let closed = |arguments: &[&str]| {
        let program = bench.command(arguments);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "exec \"$@\" >&-", "sh"]).arg(program.get_program());
        shell.args(program.get_args()).current_dir(bench.path("")).stdin(Stdio::null());
        Ran::from(shell.output().unwrap())
    };
    for arguments in [&["list"][..], &["info", "small.wmt"], &["run", "small.wmt"], &["--help"]] {
        let ran = closed(arguments);
        assert_eq!(ran.status, Some(2), "{arguments:?}: {ran:?}");
        let message = "error: failed to write to standard output\n  caused by: it is closed";
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
    // A command without output works.
    let ran = closed(&["generate", "vecadd", "--n", "64", "-o", "t.wmt"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let null = fs::File::options().read(true).write(true).open("/dev/null").unwrap();
    let ran = Ran::from(bench.command(&["list"]).stdout(null).output().unwrap());
    assert_eq!(ran.status, Some(0), "{ran:?}");
}
