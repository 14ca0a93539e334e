//! The directions of the arrows: between crates, and between the top modules of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What each crate may depend on of the others, from below up: nothing that is not named.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("checksum", &[]),
    ("embed", &[]),
    ("files", &[]),
    ("params", &[]),
    ("random", &[]),
    ("text", &[]),
    ("trace", &[]),
    ("sim", &["params"]),
    ("cache", &["params", "sim"]),
    ("dram", &["embed", "files", "params", "random", "sim"]),
    ("network", &["params", "random", "sim"]),
    ("energy", &["params", "trace"]),
    ("machine", &["cache", "dram", "embed", "energy", "files", "network", "params", "sim"]),
    ("gpu", &["cache", "dram", "machine", "network", "params", "random", "sim", "trace"]),
    (
        "record",
        &[
            "cache", "checksum", "dram", "energy", "files", "gpu", "machine", "network", "sim",
            "trace",
        ],
    ),
    ("standalone", &["dram", "files", "machine", "network", "params", "random", "record", "sim"]),
    ("workload", &["files", "params", "random", "trace"]),
    ("import", &["files", "params", "text", "trace"]),
    ("ptx", &[]),
    ("simt", &["ptx", "trace"]),
    ("relay", &["trace"]),
    ("cudart", &["ptx", "relay", "simt", "trace"]),
    ("capture", &["files", "params", "ptx", "random", "relay", "simt", "trace"]),
    ("hardware", &["capture", "files", "params", "ptx", "simt"]),
    ("slots", &["dram", "gpu", "machine", "network", "params", "sim"]),
    (
        "study",
        &[
            "cache", "dram", "files", "gpu", "machine", "params", "random", "record", "sim",
            "slots", "text", "trace", "workload",
        ],
    ),
    ("analysis", &["checksum", "text"]),
    ("chart", &["analysis", "files", "params"]),
    ("report", &["analysis", "chart", "machine", "record", "slots", "text"]),
    (
        "reproduce",
        &[
            "analysis",
            "chart",
            "files",
            "gpu",
            "machine",
            "params",
            "record",
            "report",
            "standalone",
            "study",
        ],
    ),
    ("testing", &["machine", "trace"]),
];

/// The folder of a crate.
fn folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    match name {
        "trace" => root.join("trace-format"),
        "analysis" => root.join("analysis"),
        _ => root.join("crates").join(name),
    }
}

fn known_by(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(folder(name).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let tables = ["dependencies", "build-dependencies"];
    let dependencies = tables.into_iter().filter_map(|table| manifest.get(table)?.as_table());
    let names = dependencies.flat_map(toml::Table::keys);
    names.filter_map(|name| name.strip_prefix("warpmem-")).map(str::to_owned).collect()
}

#[test]
fn crates_know_only_those_below_them() {
    for (at, (name, may)) in MAY_KNOW.iter().enumerate() {
        for known in known_by(name) {
            assert!(may.contains(&known.as_str()), "{name} must not know {known}");
            let below = MAY_KNOW[..at].iter().any(|(below, _)| *below == known);
            assert!(below, "{known} is not below {name}");
        }
    }
}

#[test]
fn every_crate_has_its_place() {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    for entry in crates {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(MAY_KNOW.iter().any(|(known, _)| *known == name), "{name} is in no layer");
    }
}

/// The top modules of a crate and which of the others each names.
#[derive(Default)]
struct Modules {
    /// The path of what they are modules of: `crate::`.
    root: &'static str,
    names: BTreeSet<String>,
    /// From what the crate's root exports to the module that it comes from.
    exports: BTreeMap<String, String>,
    knows: BTreeMap<String, BTreeSet<String>>,
}

impl Modules {
    /// The modules beside the `file` in `src` that is their root.
    fn of(src: &Path, root: &'static str, file: &str) -> Modules {
        let mut modules = Modules { root, ..Modules::default() };
        for entry in fs::read_dir(src).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.strip_suffix(".rs").unwrap_or(&name).to_owned();
            if !is_test(&name) && !matches!(name.as_str(), "lib" | "main" | "mod") {
                modules.names.insert(name);
            }
        }
        modules.read_exports(&code(&src.join(file)));
        for name in modules.names.clone() {
            for file in files(src, &name) {
                let depth = depth(src, &file);
                modules.read(&name, depth, &code(&file));
            }
        }
        modules
    }

    fn read_exports(&mut self, root: &str) {
        for statement in root.split(';') {
            let Some(at) = statement.find("pub use ") else { continue };
            let path = &statement[at + "pub use ".len()..];
            let Some((module, items)) = path.split_once("::") else { continue };
            for item in words(items) {
                self.exports.insert(item.to_owned(), module.trim().to_owned());
            }
        }
    }

    /// Notes what a file of module `name`, so many modules below the root, says of the others.
    fn read(&mut self, name: &str, depth: usize, text: &str) {
        let to_root = "super::".repeat(depth);
        for start in [self.root, to_root.as_str()] {
            for (at, _) in text.match_indices(start) {
                let before = text[..at].chars().next_back();
                if before.is_some_and(|c| c == ':' || c.is_alphanumeric() || c == '_') {
                    continue;
                }
                for item in heads(&text[at + start.len()..]) {
                    self.note(name, item);
                }
            }
        }
    }

    fn note(&mut self, name: &str, item: &str) {
        let module = self.exports.get(item).map_or(item, String::as_str);
        if module != name && self.names.contains(module) {
            self.knows.entry(name.to_owned()).or_default().insert(module.to_owned());
        }
    }

    /// A way from a module back to itself, if there is one.
    fn circle(&self) -> Option<Vec<String>> {
        self.names.iter().find_map(|name| self.way(&mut vec![name.clone()]))
    }

    fn way(&self, way: &mut Vec<String>) -> Option<Vec<String>> {
        for next in self.knows.get(way.last()?).into_iter().flatten() {
            if *next == way[0] {
                return Some(way.clone());
            }
            if way.contains(next) {
                continue;
            }
            way.push(next.clone());
            if let Some(circle) = self.way(way) {
                return Some(circle);
            }
            way.pop();
        }
        None
    }
}

fn is_test(name: &str) -> bool {
    name.ends_with("tests") || matches!(name, "fixture" | "testing" | "snapshots")
}

/// The sources of a top module, those of tests left out.
fn files(src: &Path, module: &str) -> Vec<PathBuf> {
    let mut found = vec![src.join(format!("{module}.rs"))];
    let mut folders = vec![src.join(module)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                _ if is_test(&stem) => {}
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.retain(|path| path.is_file() && path.extension().is_some_and(|end| end == "rs"));
    found
}

/// How many modules a file lies below the root.
fn depth(src: &Path, file: &Path) -> usize {
    let parts = file.strip_prefix(src).unwrap().components().count();
    parts - usize::from(file.ends_with("mod.rs"))
}

/// A source without its comments and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The first names of a path, or of each path of a group.
fn heads(path: &str) -> Vec<&str> {
    if !path.starts_with('{') {
        return words(path).take(1).collect();
    }
    let (mut depth, mut heads, mut is_head) = (0, Vec::new(), false);
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        match first {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' => is_head = depth == 1,
            ':' => is_head = false,
            c if c.is_alphanumeric() || c == '_' => {
                let word = words(rest).next().unwrap_or_default();
                if is_head && depth == 1 {
                    heads.push(word);
                }
                is_head = false;
                rest = &rest[word.len()..];
                continue;
            }
            _ => {}
        }
        if first == '{' && depth == 1 {
            is_head = true;
        }
        if depth == 0 {
            break;
        }
        rest = &rest[first.len_utf8()..];
    }
    heads
}

#[test]
fn no_circle_leads_through_the_modules_of_a_crate() {
    let mut circles = Vec::new();
    for (name, _) in MAY_KNOW {
        let modules = Modules::of(&folder(name).join("src"), "crate::", "lib.rs");
        circles.extend(modules.circle().map(|way| format!("{name}: {}", way.join(" -> "))));
    }
    let cli = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli");
    let commands = Modules::of(&cli, "crate::cli::", "mod.rs");
    circles.extend(commands.circle().map(|way| format!("src/cli: {}", way.join(" -> "))));
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn a_circle_would_be_found() {
    let names = ["a", "b", "c"].map(str::to_owned).into();
    let mut modules = Modules { root: "crate::", names, ..Modules::default() };
    modules.read_exports("pub use c::{Thing, Other};");
    modules.read("a", 1, "use crate::{Other, x::{b}}; use super::b::Name;");
    modules.read("b", 2, "fn f() { super::super::c::g() }");
    assert_eq!(modules.circle(), None);
    modules.read("c", 1, "use crate::a::h;");
    assert_eq!(modules.circle(), Some(["a", "b", "c"].map(str::to_owned).to_vec()));
}
