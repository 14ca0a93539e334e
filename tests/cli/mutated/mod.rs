//! Random mutations of inputs of every kind and of command lines: the program accepts or refuses
//! them within limits of time and memory, and leaves no partial files. `docs/extending.md` explains
//! how to run more.
#![cfg(unix)]

mod change;
mod seeds;

use super::support::Bench;
use change::{Change, changes};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use seeds::{SEEDS, files};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time after which a run is interrupted, and grace period after the interrupt; concurrent tests
/// use the processors too.
const LIMIT: Duration = Duration::from_secs(4);
const GRACE: Duration = Duration::from_secs(30);

/// Limits of a run's address space, KiB, and of a file, blocks of 512 bytes: 8 GiB and 200 MB.
const LIMITS: &str = "trap '' XFSZ; ulimit -c 0; ulimit -v 8388608; ulimit -f 400000; exec \"$@\"";

/// Most bytes of a command line; the system accepts 128 KiB in an argument.
const LONGEST: usize = 100_000;

/// Number of threads of a run, each of which reserves address space.
const THREADS: [(&str, &str); 2] = [("RAYON_NUM_THREADS", "2"), ("POLARS_MAX_THREADS", "2")];

/// Environment variable with a folder for the files of faulty runs.
const KEEP: &str = "WARPMEM_FAULTS";

/// Files of all seeds, unmodified.
static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(files);

/// Outcome of a run.
#[derive(Debug)]
struct End {
    status: ExitStatus,
    was_interrupted: bool,
    /// Whether it had to be killed.
    was_deaf: bool,
    stderr: String,
}

proptest! {
    // Fixed seed; PROPTEST_RNG_SEED and PROPTEST_CASES select other and more runs.
    #![proptest_config(ProptestConfig {
        cases: 48,
        max_shrink_time: 60_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2026),
        ..ProptestConfig::default()
    })]

    #[test]
    fn changed_inputs_and_command_lines_are_read_or_refused(
        seed in any::<Index>(),
        changes_arguments in prop::bool::weighted(0.25),
        changes in changes(),
    ) {
        let &(command, file) = seed.get(SEEDS);
        let bench = Bench::new();
        let arguments = prepare(&bench, command, file, changes_arguments, &changes);
        let end = run(&bench, &arguments);
        if let Some(fault) = fault(&bench, &end) {
            keep(&bench, &arguments);
            prop_assert!(false, "{}: {:?}: {:?}", fault, arguments, end);
        }
    }
}

/// Writes the files, with the mutations in `file` or else in the arguments; returns the arguments.
fn prepare(
    bench: &Bench,
    command: &str,
    file: &str,
    changes_arguments: bool,
    changes: &[Change],
) -> Vec<OsString> {
    let changed = |bytes: Vec<u8>| changes.iter().fold(bytes, |bytes, change| change.apply(bytes));
    let changes_arguments = changes_arguments || file.is_empty();
    for (name, bytes) in FILES.iter() {
        fs::create_dir_all(bench.path(name).parent().unwrap()).unwrap();
        let is_changed = name == file && !changes_arguments;
        bench.write(name, if is_changed { changed(bytes.clone()) } else { bytes.clone() });
    }
    let mut lines = command.replace(' ', "\n").into_bytes();
    lines.push(b'\n');
    if changes_arguments {
        lines = changed(lines);
        lines.truncate(LONGEST);
    }
    let lines = lines.strip_suffix(b"\n").unwrap_or(&lines);
    lines.split(|&byte| byte == b'\n').map(argument).collect()
}

/// Converts bytes to an argument that a process can have and that cannot leave the directory.
fn argument(bytes: &[u8]) -> OsString {
    let bytes = bytes.iter().filter(|&&byte| byte != 0);
    OsString::from_vec(bytes.map(|&byte| if byte == b'/' { b'_' } else { byte }).collect())
}

/// Runs the program under the limits.
fn run(bench: &Bench, arguments: &[OsString]) -> End {
    let program = bench.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", LIMITS, "sh"]).arg(program.get_program()).args(arguments);
    let mut said = tempfile::tempfile().unwrap();
    shell.current_dir(bench.path("")).env_remove("RUST_BACKTRACE").envs(THREADS);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone().unwrap());
    let mut child = shell.spawn().unwrap();
    let ended = wait(&mut child, LIMIT);
    let was_interrupted = ended.is_none();
    let ended = ended.or_else(|| {
        interrupt(&child);
        wait(&mut child, GRACE)
    });
    let status = ended.unwrap_or_else(|| {
        child.kill().unwrap();
        child.wait().unwrap()
    });
    End { status, was_interrupted, was_deaf: ended.is_none(), stderr: text(&mut said) }
}

/// Waits for the end of a process; none on timeout.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        sleep(Duration::from_millis(3));
    }
    child.try_wait().unwrap()
}

fn interrupt(child: &Child) {
    // The process may have ended in between.
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the status that a shell reports: 128 plus the signal that ended a process.
fn status(end: &End) -> Option<i32> {
    end.status.code().or_else(|| Some(128 + end.status.signal()?))
}

/// Returns the fault of a run: a status other than 0, 2, 130 after an interrupt, or 1 for a log of
/// commands that breaks rules; a panic; a partial file.
fn fault(bench: &Bench, end: &End) -> Option<String> {
    let is_expected = match status(end) {
        Some(0 | 2) => true,
        // A command that has nothing to clean up leaves the signal to the system.
        Some(130) => end.was_interrupted,
        Some(1) => end.stderr.contains(" violations in "),
        _ => false,
    };
    if end.was_deaf {
        return Some("an interrupt is not heard".into());
    }
    if !is_expected {
        return Some(format!("ended with {}", end.status));
    }
    if ["fault of warpmem", "panicked"].iter().any(|text| end.stderr.contains(text)) {
        return Some("a panic".into());
    }
    unfinished(&bench.path("")).map(|name| format!("{name:?} is left"))
}

/// Returns a file or folder below `folder` that should have been renamed or removed.
fn unfinished(folder: &Path) -> Option<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).find_map(|entry| {
        let is_partial = entry.file_name().as_bytes().windows(7).any(|part| part == b"partial");
        if is_partial {
            return Some(entry.file_name());
        }
        entry.file_type().unwrap().is_dir().then(|| unfinished(&entry.path())).flatten()
    })
}

/// Keeps the files and the command line of a faulty run in the folder named by [`KEEP`]. A simpler
/// faulty run replaces them.
fn keep(bench: &Bench, arguments: &[OsString]) {
    let Some(folder) = std::env::var_os(KEEP) else { return };
    let folder = Path::new(&folder).join(format!("fault-{}", std::process::id()));
    for (name, _) in FILES.iter().filter(|(name, _)| bench.path(name).is_file()) {
        let copy = folder.join(name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(bench.path(name), copy).unwrap();
    }
    let line = arguments.join(OsStr::new("\n"));
    fs::write(folder.join("arguments"), line.as_bytes()).unwrap();
}
