//! Hashes the source of the engine, so that runs of different engines have different run ids.
//!
//! The hash covers this crate and every crate of the workspace that it depends on, directly or through
//! others, without comments and tests. The manifests name them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package");
    let crates = Path::new(&package).join("../..");
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    let deciding = deciding(&crates);
    for name in &deciding {
        let src = folder(&crates, name).join("src");
        println!("cargo::rerun-if-changed={}", src.display());
        let mut files = Vec::new();
        collect(src.clone(), &mut files);
        for file in files {
            let path = file.strip_prefix(&src).expect("it lies there").to_string_lossy();
            let text = fs::read_to_string(&file).expect("a source can be read");
            add(name.as_bytes());
            add(path.replace('\\', "/").as_bytes());
            code(&text).for_each(|line| add(line.as_bytes()));
        }
    }
    println!("cargo::rustc-env=WARPMEM_ENGINE_SOURCE={:08x}", hash >> 32);
    let names: Vec<&str> = deciding.iter().map(String::as_str).collect();
    println!("cargo::rustc-env=WARPMEM_ENGINE_CRATES={}", names.join(","));
}

/// Returns the names of the crates that decide a result, without `warpmem-`.
fn deciding(crates: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec!["record".to_owned()];
    while let Some(name) = left.pop() {
        if found.insert(name.clone()) {
            left.extend(dependencies(&folder(crates, &name).join("Cargo.toml")));
        }
    }
    found
}

fn folder(crates: &Path, name: &str) -> PathBuf {
    if name == "trace" {
        return crates.join("../trace-format");
    }
    let groups = ["base", "engine"].map(|group| crates.join(group).join(name));
    groups
        .into_iter()
        .find(|folder| folder.is_dir())
        .expect("the engine depends on two groups of crates")
}

/// Returns the workspace crates that a manifest depends on, except for tests.
fn dependencies(manifest: &Path) -> Vec<String> {
    println!("cargo::rerun-if-changed={}", manifest.display());
    let text = fs::read_to_string(manifest).expect("a manifest can be read");
    let mut is_dependency = false;
    let mut names = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            is_dependency = matches!(line, "[dependencies]" | "[build-dependencies]");
        }
        if let Some(name) = line.strip_prefix("warpmem-").filter(|_| is_dependency) {
            let end = name.find(['.', ' ', '=']).expect("a dependency has a value");
            names.push(name[..end].to_owned());
        }
    }
    names
}

/// Returns the lines of a source before its tests, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// Returns all sources below `path` except tests, ordered by name.
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
