//! Measurements of the engine's stepping on captured traces.
//!
//! `cargo bench --bench stepping --features instrumented -- --limit N` prints the upper bound on the speed-up
//! of 2 to N threads; with `--idle-steps` it prints the share of unit steps that change nothing.
#![allow(clippy::print_stdout)]

#[path = "../replay/captured.rs"]
mod captured;
mod idle_steps;
mod limit;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    if let Some(at) = arguments.iter().position(|argument| argument == "--limit") {
        let most = arguments.get(at + 1).and_then(|most| most.parse().ok());
        limit::print(most.expect("--limit needs a number"), folder.path());
    }
    if arguments.iter().any(|argument| argument == "--idle-steps") {
        idle_steps::print(folder.path());
    }
}
