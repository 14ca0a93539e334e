//! Counts of callgrind that do not depend on the host.
//!
//! Valgrind passes on the instruction sets of the host's processor, and a program links the host's C
//! library. A count therefore covers only code of this program, and none that chooses its instructions by
//! the processor at run time: the codecs and checksums of traces. Allocations and copies count as calls.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Parts of the names of functions that choose their instructions by the processor.
const DISPATCHED: [&str; 6] = ["ZSTD", "HUF_", "FSE_", "crc32", "memchr", "zlib"];

/// Runs `work`; callgrind collects in this function only.
#[inline(never)]
pub fn counted_region<T>(work: impl FnOnce() -> T) -> T {
    std::hint::black_box(work())
}

pub fn is_installed() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Returns the instructions of the counted region of this program, started with `arguments`.
pub fn count(arguments: &[&str]) -> u64 {
    let program = program();
    let output = tempfile::NamedTempFile::new().expect("a temporary file");
    let status = Command::new("valgrind")
        .args([
            "-q",
            "--tool=callgrind",
            "--collect-atstart=no",
            "--toggle-collect=*counted_region*",
        ])
        .args(["--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--callgrind-out-file={}", output.path().display()))
        .arg(&program)
        .args(arguments)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "callgrind fails");
    let profile = std::fs::read_to_string(output.path()).expect("callgrind writes a profile");
    portable(&profile, &program)
}

fn program() -> PathBuf {
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    program.expect("the program has a path")
}

/// Sums the instructions of the profile that count.
fn portable(profile: &str, program: &Path) -> u64 {
    let (mut is_ours, mut is_portable, mut is_call) = (false, false, false);
    let mut sum = 0;
    for line in profile.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            is_ours = Path::new(object) == program;
        } else if let Some(function) = line.strip_prefix("fn=") {
            is_portable = !DISPATCHED.iter().any(|part| function.contains(part));
        } else if line.starts_with("calls=") {
            // The next line has the costs of the callee.
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
            let is_own = !std::mem::take(&mut is_call);
            sum += cost.filter(|_| is_own && is_ours && is_portable).unwrap_or(0);
        }
    }
    sum
}
