//! Tells the engine which source it is made of: results of different sources are not the same runs.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Not of the engine: no result depends on them.
const OTHERS: [&str; 5] = ["cli", "main.rs", "reproduce", "sweep", "timeline"];

fn main() {
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package");
    let src = Path::new(&package).join("src");
    let mut files = Vec::new();
    for path in entries(&src).into_iter().filter(|path| !OTHERS.iter().any(|o| path.ends_with(o))) {
        println!("cargo::rerun-if-changed={}", path.display());
        collect(path, &mut files);
    }
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for file in files {
        let text = fs::read(&file).expect("a source can be read");
        let name =
            file.strip_prefix(&src).expect("it lies there").to_string_lossy().replace('\\', "/");
        // Some checkouts end lines in two characters.
        for byte in name.bytes().chain(text).filter(|byte| *byte != b'\r') {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=WARPMEM_ENGINE_SOURCE={:08x}", hash >> 32);
}

/// In the order of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of sources can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it is there").path()).collect();
    paths.sort();
    paths
}

fn collect(path: PathBuf, files: &mut Vec<PathBuf>) {
    match path.is_dir() {
        true => entries(&path).into_iter().for_each(|path| collect(path, files)),
        false => files.push(path),
    }
}
