//! Directions of dependences: between crates, and between the modules of each folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates from the lowest layer up, each with its group and its permitted dependences.
const LAYERS: &[(&str, &str, &[&str])] = &[
    ("base", "params", &[]),
    ("base", "support", &[]),
    ("base", "unified", &[]),
    ("", "trace-format", &[]),
    ("base", "testing", &["support", "trace-format"]),
    ("engine", "sim", &["params"]),
    ("engine", "cache", &["params", "sim"]),
    ("engine", "dram", &["params", "sim", "support"]),
    ("engine", "network", &["params", "sim", "support"]),
    ("engine", "translation", &["params", "sim", "support"]),
    ("engine", "energy", &["params", "trace-format"]),
    (
        "engine",
        "machine",
        &["cache", "dram", "energy", "network", "params", "sim", "support", "translation"],
    ),
    (
        "engine",
        "gpu",
        &[
            "cache",
            "dram",
            "machine",
            "network",
            "params",
            "sim",
            "support",
            "trace-format",
            "translation",
        ],
    ),
    (
        "engine",
        "record",
        &[
            "cache",
            "dram",
            "energy",
            "gpu",
            "machine",
            "network",
            "sim",
            "support",
            "trace-format",
            "translation",
        ],
    ),
    ("engine", "standalone", &["dram", "machine", "network", "params", "record", "sim", "support"]),
    ("traces", "workload", &["params", "support", "trace-format"]),
    ("traces", "import", &["params", "support", "trace-format"]),
    ("traces", "ptx", &[]),
    ("traces", "simt", &["ptx", "trace-format"]),
    ("traces", "capture", &["params", "ptx", "simt", "support", "trace-format"]),
    ("traces", "cudart", &["capture", "ptx", "simt", "trace-format"]),
    ("study", "hardware", &["capture", "params", "ptx", "simt", "support"]),
    (
        "study",
        "study",
        &[
            "cache",
            "dram",
            "gpu",
            "machine",
            "params",
            "record",
            "sim",
            "support",
            "trace-format",
            "workload",
        ],
    ),
    ("analysis", "comparison", &["support"]),
    ("", "analysis", &["comparison", "support"]),
    ("study", "chart", &["analysis", "params", "support"]),
    ("study", "report", &["analysis", "chart", "gpu", "machine", "params", "record", "support"]),
    (
        "study",
        "reproduce",
        &[
            "analysis",
            "chart",
            "gpu",
            "machine",
            "params",
            "record",
            "report",
            "standalone",
            "study",
            "support",
        ],
    ),
];

/// Returns the folder of a crate. A crate outside all groups lies at the top, and so does `analysis`
/// with the crate in it.
fn folder(group: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    match group {
        "" | "analysis" => root.join(group).join(name),
        _ => root.join("crates").join(group).join(name),
    }
}

/// Returns the crates of the workspace that a manifest depends on, tests excepted.
fn dependencies(folder: &Path) -> BTreeSet<String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let tables = ["dependencies", "build-dependencies"];
    let dependencies = tables.into_iter().filter_map(|table| manifest.get(table)?.as_table());
    let names = dependencies.flat_map(toml::Table::keys);
    let names = names.filter_map(|name| name.strip_prefix("warpmem-"));
    names.map(|name| if name == "trace" { "trace-format" } else { name }.to_owned()).collect()
}

#[test]
fn crates_depend_only_on_lower_layers() {
    for (at, (group, name, allowed)) in LAYERS.iter().enumerate() {
        for dependency in dependencies(&folder(group, name)) {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{name} must not depend on {dependency}"
            );
            let is_below = LAYERS[..at].iter().any(|(_, below, _)| *below == dependency);
            assert!(is_below, "{dependency} is not below {name}");
        }
    }
}

/// A build with all features reuses what a build with the command line alone has compiled.
#[test]
fn builds_of_every_size_share_their_dependencies() {
    let packages = |features: &[&str]| -> BTreeSet<String> {
        let shown = ["--edges", "normal,build", "--prefix", "none", "--format", "{p} [{f}]"];
        let cargo = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--package", "warpmem"])
            .args(shown)
            .args(features)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
        let lines = String::from_utf8(cargo.stdout).unwrap();
        let lines = lines.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
        lines.filter(|line| !line.is_empty() && !line.starts_with("warpmem v")).collect()
    };
    let (whole, lean) = (packages(&[]), packages(&["--no-default-features", "--features", "cli"]));
    let apart: Vec<&String> = lean.difference(&whole).collect();
    assert!(apart.is_empty(), "crates/base/unified/Cargo.toml lacks features of {apart:#?}");
}

/// The engine never names a trace's producer, and no producer names the engine: they meet in the trace format.
#[test]
fn engine_and_traces_share_only_the_trace_format_and_the_base() {
    let group = |group| move |layer: &&(&str, &str, &[&str])| layer.0 == group;
    for (a, b) in [("engine", "traces"), ("traces", "engine")] {
        let others: Vec<_> = LAYERS.iter().filter(group(b)).map(|(_, name, _)| *name).collect();
        for (_, name, _) in LAYERS.iter().filter(group(a)) {
            let known = dependencies(&folder(a, name));
            assert!(!others.iter().any(|other| known.contains(*other)), "{name} depends on {b}");
        }
    }
}

#[test]
fn every_crate_has_a_layer() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    for group in names(&crates) {
        for name in names(&crates.join(&group)) {
            let is_known = LAYERS.iter().any(|(of, known, _)| *of == group && *known == name);
            assert!(is_known, "{group}/{name} is in no layer");
        }
    }
}

/// Modules of a folder, and the other modules of it that each names.
#[derive(Default)]
struct Modules {
    /// Path of their parent: `crate::`.
    root: String,
    names: BTreeSet<String>,
    /// Origin modules of the names exported by the parent.
    exports: BTreeMap<String, String>,
    knows: BTreeMap<String, BTreeSet<String>>,
}

impl Modules {
    /// Finds the modules in the folder `src`, whose parent has the path `root` and the source `file`.
    fn of(src: &Path, root: &str, file: &Path) -> Modules {
        let mut modules = Modules { root: root.to_owned(), ..Modules::default() };
        for entry in fs::read_dir(src).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.strip_suffix(".rs").unwrap_or(&name).to_owned();
            if !is_test(&name) && !matches!(name.as_str(), "lib" | "main" | "mod") {
                modules.names.insert(name);
            }
        }
        modules.read_exports(&code(file));
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

    /// Records the modules mentioned in a file of module `name`; the file lies `depth` modules
    /// below the root.
    fn read(&mut self, name: &str, depth: usize, text: &str) {
        let to_root = "super::".repeat(depth);
        for start in [self.root.clone(), to_root] {
            for (at, _) in text.match_indices(&start) {
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

    /// Returns a cycle of modules, if there is one.
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

/// Returns the sources of a module, without tests.
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

/// Returns the circles among the modules of a folder, and of each folder in it.
fn circles(src: &Path, root: &str, file: &Path) -> Vec<String> {
    let circle = Modules::of(src, root, file).circle();
    let mut circles: Vec<String> = circle
        .map(|way| format!("{}: {root}{}", src.display(), way.join(" -> ")))
        .into_iter()
        .collect();
    for entry in fs::read_dir(src).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let beside = src.join(format!("{name}.rs"));
        let file = if beside.exists() { beside } else { folder.join("mod.rs") };
        if folder.is_dir() && !is_test(&name) && file.exists() {
            circles.extend(self::circles(&folder, &format!("{root}{name}::"), &file));
        }
    }
    circles
}

/// Returns the depth of a file below the root, in modules.
fn depth(src: &Path, file: &Path) -> usize {
    let parts = file.strip_prefix(src).unwrap().components().count();
    parts - usize::from(file.ends_with("mod.rs"))
}

/// Returns a source without comments and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the first names of a path, or of each path of a group.
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
fn no_circle_leads_through_the_modules_of_a_folder() {
    let crates = LAYERS.iter().map(|(group, name, _)| folder(group, name).join("src"));
    let mut found: Vec<String> =
        crates.flat_map(|src| circles(&src, "crate::", &src.join("lib.rs"))).collect();
    let cli = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli");
    found.extend(circles(&cli, "crate::cli::", &cli.join("mod.rs")));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_circle_would_be_found() {
    let names = ["a", "b", "c"].map(str::to_owned).into();
    let mut modules = Modules { root: "crate::".to_owned(), names, ..Modules::default() };
    modules.read_exports("pub use c::{Thing, Other};");
    modules.read("a", 1, "use crate::{Other, x::{b}}; use super::b::Name;");
    modules.read("b", 2, "fn f() { super::super::c::g() }");
    assert_eq!(modules.circle(), None);
    modules.read("c", 1, "use crate::a::h;");
    assert_eq!(modules.circle(), Some(["a", "b", "c"].map(str::to_owned).to_vec()));
}
