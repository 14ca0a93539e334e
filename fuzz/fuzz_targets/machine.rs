//! Reads any text as a machine file, followed by a NUL and one override per line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpmem::machine::{flatten, load};
use warpmem_fuzz::with_file;

fuzz_target!(|text: &str| {
    let (file, overrides) = text.split_once('\0').unwrap_or((text, ""));
    let overrides: Vec<String> = overrides.lines().map(str::to_owned).collect();
    with_file(file.as_bytes(), |path| {
        let read = load(&path.to_string_lossy(), &overrides);
        if let Ok(machine) = read {
            let text = machine.to_toml();
            let again = with_text(&text);
            assert_eq!(flatten(&again), flatten(&machine), "{text}");
        }
    });
});

/// Loads a machine from `text`, which a machine has written.
fn with_text(text: &str) -> warpmem::machine::Machine {
    let folder = tempfile::tempdir_in(warpmem_fuzz::MEMORY).expect("there is memory");
    let path = folder.path().join("machine.toml");
    std::fs::write(&path, text).expect("there is memory");
    load(&path.to_string_lossy(), &[]).expect("a written machine loads")
}
