//! Helpers of the tests.

mod load;
mod presets;
mod rules;
mod times;

use std::path::PathBuf;

use super::*;

fn preset(name: &str) -> Machine {
    load(name, &[]).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn with(name: &str, overrides: &[&str]) -> Result<Machine, MachineError> {
    load(name, &overrides.iter().map(|&o| o.to_owned()).collect::<Vec<_>>())
}

/// Returns the message of the error of `overrides` on `name`.
fn refusal(name: &str, overrides: &[&str]) -> String {
    with(name, overrides).expect_err(&overrides.join(" ")).to_string()
}

/// Writes `text` to a file `m.toml` in a directory that lives as long as the first value.
fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.toml");
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

fn load_text(text: &str) -> Result<Machine, MachineError> {
    let (_dir, path) = file(text);
    load(path.to_str().unwrap(), &[])
}

/// Returns the message of the error of a file with `text`, without the directory.
fn file_refusal(text: &str) -> String {
    let (dir, path) = file(text);
    let message = load(path.to_str().unwrap(), &[]).expect_err(text).to_string();
    message.replace(&format!("{}/", dir.path().display()), "")
}
mod part;
