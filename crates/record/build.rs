//! Hashes the source of the engine, so that runs of different engines have different run ids.
//!
//! The hash covers the code of the crates that decide a result, without comments and tests.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Folders of the crates that decide a result, relative to this one.
const DECIDING: [&str; 10] = [
    "../../trace-format",
    "../cache",
    "../dram",
    "../gpu",
    "../machine",
    "../network",
    "../params",
    "../random",
    "../record",
    "../sim",
];

fn main() {
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package");
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for folder in DECIDING {
        let src = Path::new(&package).join(folder).join("src");
        println!("cargo::rerun-if-changed={}", src.display());
        let mut files = Vec::new();
        collect(src.clone(), &mut files);
        for file in files {
            let name = file.strip_prefix(&src).expect("it lies there").to_string_lossy();
            let text = fs::read_to_string(&file).expect("a source can be read");
            add(folder.as_bytes());
            add(name.replace('\\', "/").as_bytes());
            code(&text).for_each(|line| add(line.as_bytes()));
        }
    }
    println!("cargo::rustc-env=WARPMEM_ENGINE_SOURCE={:08x}", hash >> 32);
}

/// The lines of a source that are not comments and come before the tests at its end.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// All sources below `path` except those of tests, in the order of their names.
fn collect(path: PathBuf, files: &mut Vec<PathBuf>) {
    let is_test = |name: &str| name == "tests" || name.ends_with("tests.rs") || name == "bench.rs";
    if path.file_name().is_some_and(|name| is_test(&name.to_string_lossy())) {
        return;
    }
    if !path.is_dir() {
        files.push(path);
        return;
    }
    let entries = fs::read_dir(path).expect("a folder of sources can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it is there").path()).collect();
    paths.sort();
    paths.into_iter().for_each(|path| collect(path, files));
}
