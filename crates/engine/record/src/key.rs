//! The key of a run: its inputs, and the run id derived from them.

use std::collections::BTreeMap;
use warpmem_dram::standard::Standard;
use warpmem_gpu::results::Fnv;
use warpmem_gpu::slots::uses_added_policy;
use warpmem_machine::{Machine, flatten};
use warpmem_support::program;

/// Version of the engine: the version of the program and a hash of the engine's source.
pub const ENGINE_VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "+", env!("WARPMEM_ENGINE_SOURCE"));

/// A run under an ideal mode, which bounds the effect of the policies of a slot.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Name of the ideal mode.
    pub ideal: String,
    /// Thread instructions per core cycle.
    pub ipc_thread: f64,
}

/// The inputs of a run, and what a comparison needs to know beside them.
#[derive(Clone, Debug, PartialEq)]
pub struct RunKey {
    /// Name of the trace, for readers.
    pub trace: String,
    /// Hash of the trace's content, 16 hexadecimal digits.
    pub trace_hash: String,
    /// The machine after overrides, policies included.
    pub machine: Machine,
    /// The command of the run.
    pub command: String,
    /// Name shared by the traces that are repeats of one workload; the trace's own name by default.
    pub workload: String,
    /// Seed of the trace's generator.
    pub seed: Option<u64>,
    /// Number of the machine's irrelevant variant; 0 for the machine itself.
    pub variant: u32,
    /// The run that bounds the effect of the compared policies.
    pub bound: Option<Bound>,
    /// Overrides of machine parameters, `key=value` each.
    overrides: String,
    run_id: String,
    parameters: String,
}

impl RunKey {
    /// Creates the key of a run; `trace_hash` is the content hash in the header of the trace.
    pub fn new(
        trace: impl Into<String>,
        trace_hash: u64,
        machine: Machine,
        command: impl Into<String>,
    ) -> RunKey {
        let parameters = parameters(&machine);
        let trace = trace.into();
        RunKey {
            trace_hash: format!("{trace_hash:016x}"),
            run_id: run_id(trace_hash, &parameters, &user_files(&machine)),
            machine,
            command: command.into(),
            workload: trace.clone(),
            trace,
            seed: None,
            variant: 0,
            bound: None,
            overrides: String::new(),
            parameters,
        }
    }

    /// Records overrides, `key=value` each, already applied to the machine. They distinguish the run
    /// from others of a machine with the same name.
    pub fn with_overrides(mut self, overrides: &[String]) -> RunKey {
        self.overrides = overrides.join("; ");
        self
    }

    /// Records that the trace is the repeat with this seed of a workload.
    pub fn with_seed(mut self, workload: impl Into<String>, seed: u64) -> RunKey {
        self.workload = workload.into();
        self.seed = Some(seed);
        self
    }

    /// Returns the overrides, `key=value` separated by semicolons; empty without any.
    pub fn overrides(&self) -> &str {
        &self.overrides
    }

    /// Returns the 64-bit FNV-1a of trace content, machine parameters, policies, engine version,
    /// the user's DRAM standard and, if the program has added one of the policies, the program's
    /// code, as 16 hexadecimal digits. Runs with the same id give equal results.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns all machine parameters after overrides as a JSON object with dotted names.
    pub fn parameters(&self) -> &str {
        &self.parameters
    }
}

/// Returns the content of a user's standard, which results depend on.
fn standard_file(machine: &Machine) -> String {
    let standard = Standard::of(&machine.dram);
    standard.ok().and_then(|s| s.file_text().map(str::to_owned)).unwrap_or_default()
}

/// The user's files that results depend on.
struct UserFiles {
    /// Content of the DRAM standard.
    standard: String,
    /// Hash of the program, if it has added one of the policies. Every change of the program counts,
    /// as it is unknown which part of it the policy uses.
    program: Option<u64>,
}

fn user_files(machine: &Machine) -> UserFiles {
    UserFiles {
        standard: standard_file(machine),
        program: uses_added_policy(machine).then(program::code_hash),
    }
}

fn run_id(trace_hash: u64, parameters: &str, files: &UserFiles) -> String {
    let mut hash = Fnv::new();
    for part in [&format!("{trace_hash:016x}"), parameters, ENGINE_VERSION] {
        hash.update(part.as_bytes());
        hash.update(b"\0");
    }
    hash.update(files.standard.as_bytes());
    if let Some(program) = files.program {
        hash.update(format!("\0{program:016x}").as_bytes());
    }
    format!("{:016x}", hash.finish())
}

/// Returns the parameters except the description, which no result depends on.
fn parameters(machine: &Machine) -> String {
    let parameters: BTreeMap<String, toml::Value> =
        flatten(machine).into_iter().filter(|(key, _)| key != "description").collect();
    serde_json::to_string(&parameters).expect("numbers, strings and lists of them are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;
    use serde_json::{Map, Value};
    use std::collections::BTreeSet;
    use std::path::Path;

    fn id(trace_hash: u64, machine: Machine) -> String {
        RunKey::new("t", trace_hash, machine, "warpmem run").run_id().to_owned()
    }

    #[test]
    fn inputs_that_change_results_change_the_id() {
        let base = id(1, fixture::machine());
        let mut timing = fixture::machine();
        timing.dram.timing.trcd += 1;
        let mut policy = fixture::machine();
        policy.policy.dram_scheduler = "fcfs".into();
        let others = [id(2, fixture::machine()), id(1, timing), id(1, policy)];
        for other in &others {
            assert_ne!(*other, base);
        }
    }

    #[test]
    fn the_content_of_a_users_standard_changes_the_id() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.toml");
        let text = "name = \"mine\"\nsummary = \"\"\nsource = \"\"\nbase = \"gddr5\"\n";
        std::fs::write(&path, text).unwrap();
        let mut machine = fixture::machine();
        machine.dram.standard = path.to_str().unwrap().to_owned();
        assert_eq!(standard_file(&machine), text);
        machine.dram.standard = "gddr5".to_owned();
        assert_eq!(standard_file(&machine), "");
        let with = |standard: &str| UserFiles { standard: standard.to_owned(), program: None };
        assert_ne!(run_id(1, "", &with(text)), run_id(1, "", &with("")));
    }

    #[test]
    fn the_program_of_an_added_policy_changes_the_id() {
        let of = |program| run_id(1, "", &UserFiles { standard: String::new(), program });
        assert_ne!(of(Some(1)), of(None));
        assert_ne!(of(Some(1)), of(Some(2)));
        assert!(user_files(&fixture::machine()).program.is_none());
    }

    #[test]
    fn names_and_descriptions_do_not_change_the_id() {
        let mut described = fixture::machine();
        described.description = "other words".into();
        let key = RunKey::new("other name", 1, described, "another command");
        assert_eq!(key.run_id(), id(1, fixture::machine()));
        assert_eq!(key.run_id().len(), 16);
        assert_eq!(key.clone().with_seed("bfs", 3).run_id(), key.run_id(), "the content covers it");
    }

    /// Returns the workspace crates that a manifest depends on, except for tests.
    fn dependencies(manifest: &toml::Table) -> Vec<String> {
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flat_map(toml::Table::values);
        let all = targets.filter_map(toml::Value::as_table).chain([manifest]);
        let tables = all.flat_map(|table| {
            ["dependencies", "build-dependencies"].map(|kind| table.get(kind)?.as_table())
        });
        let names = tables.flatten().flat_map(toml::Table::keys);
        names.filter_map(|name| name.strip_prefix("warpmem-")).map(str::to_owned).collect()
    }

    #[test]
    fn the_engine_version_covers_every_crate_that_affects_results() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let hashed: Vec<&str> = env!("WARPMEM_ENGINE_CRATES").split(',').collect();
        let (mut known, mut left) = (BTreeSet::new(), vec!["record".to_owned()]);
        while let Some(name) = left.pop() {
            let places =
                ["../trace-format".to_owned(), format!("base/{name}"), format!("engine/{name}")];
            let places = if name == "trace" { &places[..1] } else { &places[1..] };
            let manifests = places.iter().map(|place| crates.join(place).join("Cargo.toml"));
            let manifest = manifests.map(std::fs::read_to_string).find_map(Result::ok).unwrap();
            if known.insert(name) {
                left.extend(dependencies(&manifest.parse().unwrap()));
            }
        }
        assert_eq!(hashed, known.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(hashed.contains(&"energy"));
    }

    #[test]
    fn parameters_are_dotted_and_complete() {
        let key = RunKey::new("t", 1, fixture::machine(), "");
        let parameters: Map<String, Value> = serde_json::from_str(key.parameters()).unwrap();
        assert_eq!(parameters["clocks.core_mhz"], 1000);
        assert_eq!(parameters["policy.dram_scheduler"], "fr-fcfs");
        assert_eq!(parameters["dram.timing.trcd"], fixture::machine().dram.timing.trcd);
        assert!(!parameters.contains_key("description"));
        assert!(parameters.values().all(|value| !value.is_object()));
    }
}
