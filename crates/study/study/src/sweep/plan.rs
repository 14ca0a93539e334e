//! The plan of a sweep, as written in its file.

use super::design::{Design, Factor, Levels, points};
use super::error::PlanError;
use super::values::{PolicyNames, Scalar, Values};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use warpmem_gpu::results::RequestSample;
use warpmem_machine::DEFAULT_MACHINE;
use warpmem_record::Recorded;
use warpmem_support::files::destination::is_file_name;
use warpmem_support::files::text;
use warpmem_trace::Trace;

/// Machine keys without effect on results: two runs that differ only in them are the same.
const WORDS: [&str; 2] = ["name", "description"];

/// A plan of runs: every trace on every machine at every point of the design and in every case.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Name in reports; by default the name of the plan's file without extension.
    pub name: String,
    /// Traces, globs, and manifests (`.toml`), relative to `folder`.
    pub traces: Vec<String>,
    /// Workloads to generate.
    pub suites: Vec<Part>,
    /// Presets, or TOML files relative to `folder`.
    pub machines: Vec<String>,
    pub design: Design,
    /// Number of samples of a Latin hypercube.
    pub samples: Option<usize>,
    /// Seed of a Latin hypercube.
    pub seed: u64,
    /// Policy that others are compared with, or policies of several slots separated by slashes.
    pub baseline: Option<String>,
    /// Whether points that are invalid for a machine are skipped instead of refused.
    pub skip_unfit: bool,
    /// Whether to record every load.
    pub loads: bool,
    /// Interval for recording the whole machine, core cycles.
    pub intervals: Option<NonZeroU64>,
    /// Sample of the requests to record.
    pub requests: Option<RequestSample>,
    /// Number of irrelevant variants of each machine in which every cell runs, the machine itself included.
    pub repeat: Repeat,
    /// Policies by slot.
    pub policies: BTreeMap<String, PolicyNames>,
    /// Values by machine parameter.
    pub parameters: BTreeMap<String, Values>,
    /// Sets of policies and parameters that run without variation.
    pub cases: Vec<Case>,
    /// Folder to which file names are relative.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// Workloads of a suite, generated if they do not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Part {
    /// `small`, `medium` or `large` in the built-in suite.
    pub size: Option<String>,
    /// Names of the workloads; all if empty.
    pub workloads: Vec<String>,
    /// File of a suite; by default the built-in one.
    pub from: Option<PathBuf>,
}

/// Policies and parameters that belong together.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Case {
    pub name: String,
    /// Policy by slot.
    pub policies: BTreeMap<String, String>,
    /// Value by machine parameter.
    pub parameters: BTreeMap<String, Scalar>,
}

/// A number of variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub struct Repeat(pub u32);

impl Default for Repeat {
    fn default() -> Repeat {
        Repeat(1)
    }
}

impl TryFrom<u32> for Repeat {
    type Error = String;

    fn try_from(count: u32) -> Result<Repeat, String> {
        match count {
            1..=Repeat::MOST => Ok(Repeat(count)),
            _ => Err(format!("`repeat` = {count} is not valid: valid are 1 to {}", Repeat::MOST)),
        }
    }
}

impl Repeat {
    /// Largest number of variants.
    pub const MOST: u32 = 100;
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            name: String::new(),
            traces: Vec::new(),
            suites: Vec::new(),
            machines: vec![DEFAULT_MACHINE.to_owned()],
            design: Design::default(),
            samples: None,
            seed: 1,
            baseline: None,
            skip_unfit: false,
            loads: false,
            intervals: None,
            requests: None,
            repeat: Repeat::default(),
            policies: BTreeMap::new(),
            parameters: BTreeMap::new(),
            cases: Vec::new(),
            folder: PathBuf::new(),
        }
    }
}

impl Plan {
    /// Reads a plan; the files that it names are relative to its folder.
    ///
    /// # Errors
    /// If the file cannot be read or is not a plan; the message names the line.
    pub fn load(path: &Path) -> Result<Plan, PlanError> {
        let text = text::read(path).map_err(|source| match Trace::open(path) {
            Ok(_) => PlanError::Trace { path: path.to_owned() },
            Err(_) => PlanError::Read { path: path.to_owned(), source },
        })?;
        let mut plan = Plan::from_text(&text, path)?;
        plan.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(plan)
    }

    /// Parses a plan from `text`; `path` is for messages and the name.
    ///
    /// # Errors
    /// If it is not a plan; the message names the line.
    pub fn from_text(text: &str, path: &Path) -> Result<Plan, PlanError> {
        let plan = toml::from_str(text).map_err(|e| PlanError::malformed(path, text, &e));
        let mut plan: Plan = plan?;
        if plan.name.is_empty() {
            let stem = path.file_stem().unwrap_or(path.as_os_str());
            plan.name = stem.to_string_lossy().into_owned();
        }
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), PlanError> {
        if !is_file_name(&self.name) {
            let message = format!(
                "`{}` is not valid: expected a name that a directory can have, without `/` and `\\`",
                self.name.escape_debug()
            );
            return Err(PlanError::invalid("name", message));
        }
        if self.traces.is_empty() && self.suites.is_empty() {
            let message = "it is empty, and there are no `suites`: nothing to run";
            return Err(PlanError::invalid("traces", message));
        }
        if self.machines.is_empty() {
            return Err(PlanError::invalid("machines", "it names none"));
        }
        self.check_parameters()?;
        self.check_cases()
    }

    fn check_parameters(&self) -> Result<(), PlanError> {
        let of_cases = self.cases.iter().flat_map(|case| case.parameters.keys());
        for key in self.parameters.keys().chain(of_cases) {
            if let Some(slot) = key.strip_prefix("policy.") {
                let message = format!("write policies under [policies], as `{slot}`");
                return Err(PlanError::invalid(key, message));
            }
            if WORDS.contains(&key.as_str()) {
                let message = "it describes a machine, and no run depends on it";
                return Err(PlanError::invalid(key, message));
            }
        }
        Ok(())
    }

    /// Checks the names of cases, by which messages and the baseline distinguish them.
    fn check_cases(&self) -> Result<(), PlanError> {
        let names: Vec<&str> = self.cases.iter().map(|case| case.name.trim()).collect();
        if names.contains(&"") && (names.len() > 1 || self.baseline.is_some()) {
            let message = "with several of them, or with a `baseline`, each needs a `name`";
            return Err(PlanError::invalid("cases", message));
        }
        match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            Some(at) => Err(PlanError::invalid("cases", format!("two are called `{}`", names[at]))),
            None => Ok(()),
        }
    }

    /// Returns the machine keys that the plan varies, which no irrelevant variant changes.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let of_cases = self.cases.iter().flat_map(|case| case.parameters.keys());
        self.parameters.keys().chain(of_cases).map(String::as_str)
    }

    /// Returns the recordings of each run besides its counts.
    pub fn recorded(&self) -> Recorded {
        let Plan { loads, intervals, requests, .. } = *self;
        Recorded { loads, intervals, requests }
    }

    /// Enumerates the combinations of the design: a level for each of the slots, `policies` of
    /// them, then for each parameter. None if there are only cases.
    ///
    /// # Errors
    /// As [`points`].
    pub fn points(
        &self,
        policies: &[(String, Vec<String>)],
    ) -> Result<Vec<Vec<String>>, PlanError> {
        let slots = policies.iter().map(|(slot, names)| Factor {
            name: slot.clone(),
            levels: Levels::Policies(names.clone()),
        });
        let parameters = self.parameters.iter().map(|(key, values)| Factor {
            name: key.clone(),
            levels: match values {
                Values::List(values) => {
                    Levels::Values(values.iter().map(Scalar::to_string).collect())
                }
                Values::Interval(interval) => Levels::Interval(*interval),
            },
        });
        let factors: Vec<Factor> = slots.chain(parameters).collect();
        if factors.is_empty() && !self.cases.is_empty() {
            return Ok(Vec::new());
        }
        points(self.design, &factors, self.samples, self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Plan, PlanError> {
        Plan::from_text(text, Path::new("sub/mine.toml"))
    }

    fn refusal(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    const PLAN: &str = r#"
        traces = ["*.wmt"]
        machines = ["li2015", "mine.toml"]
        suites = [{ size = "small", workloads = ["bfs-rmat"] }]
        design = "one-at-a-time"
        baseline = "fr-fcfs"
        [policies]
        dram_scheduler = ["fr-fcfs", "fcfs"]
        [parameters]
        "dram.read_queue" = [16, 32]
        l2.to_dram_latency = { from = 0, to = 40, step = 20 }
        [[cases]]
        name = "both"
        policies = { warp_scheduler = "gto" }
        parameters = { "dram.read_queue" = 8 }
    "#;

    #[test]
    fn a_name_is_that_of_a_directory() {
        for name in ["../x", "a/b", "..", "/tmp/x"] {
            let refusal = refusal(&format!("name = '{name}'\ntraces = ['a']"));
            let expected = format!("`name` of the plan: `{name}` is not valid: expected a name");
            assert!(refusal.starts_with(&expected), "{refusal}");
        }
        assert!(read("name = 'my plan'\ntraces = ['a']").is_ok());
    }

    #[test]
    fn a_plan_is_read_with_its_defaults() {
        // Dotted keys without quotes are tables in TOML.
        let plan = read(&PLAN.replace("l2.to_dram_latency", "\"l2.to_dram_latency\"")).unwrap();
        assert_eq!((plan.name.as_str(), plan.seed, plan.loads), ("mine", 1, false));
        assert_eq!(plan.suites[0].workloads, ["bfs-rmat"]);
        let slots = [("dram_scheduler".to_owned(), plan.policies["dram_scheduler"].0.clone())];
        let points = plan.points(&slots).unwrap();
        assert_eq!(points.len(), 5);
        assert_eq!(points[0], ["fr-fcfs", "16", "0"]);
        assert_eq!(points[4], ["fr-fcfs", "16", "40"]);
        assert_eq!(plan.cases[0].parameters["dram.read_queue"].to_string(), "8");
    }

    #[test]
    fn without_anything_to_vary_there_is_one_point_unless_there_are_cases() {
        let plan = read("traces = ['a.wmt']").unwrap();
        assert_eq!(plan.machines, [DEFAULT_MACHINE]);
        assert_eq!(plan.points(&[]).unwrap(), [Vec::<String>::new()]);
        let cases = read("traces = ['a.wmt']\n[[cases]]\nname = 'x'").unwrap();
        assert_eq!(cases.points(&[]).unwrap().len(), 0);
    }

    #[test]
    fn cases_are_told_apart_by_their_names() {
        let cases = |cases: &str| format!("traces = ['a.wmt']\n{cases}");
        assert!(read(&cases("[[cases]]")).is_ok(), "it is alone");
        let unnamed = "each needs a `name`";
        assert!(refusal(&cases("[[cases]]\nname = 'x'\n[[cases]]")).contains(unnamed));
        assert!(refusal(&cases("baseline = 'fcfs'\n[[cases]]")).contains(unnamed));
        let twice = cases("[[cases]]\nname = 'x'\n[[cases]]\nname = 'x'");
        assert_eq!(refusal(&twice), "`cases` of the plan: two are called `x`");
    }

    #[test]
    fn slips_are_refused_with_their_line() {
        assert_eq!(
            refusal("name = 'x'\ntracs = ['a.wmt']").split(';').next().unwrap(),
            "sub/mine.toml:2: unknown key or word `tracs` (did you mean `traces`?)"
        );
        let design = refusal("traces = ['a']\ndesign = 'ful'");
        assert!(
            design.starts_with("sub/mine.toml:2: unknown key or word `ful` (did you mean `full`?)")
        );
        let range = "traces = ['a']\n[parameters]\n'dram.read_queue' = { from = 3, to = 1 }";
        assert_eq!(refusal(range), "sub/mine.toml:3: `from` must not be above `to`");
        let unquoted = refusal("traces = ['a']\n[parameters]\ndram.read_queue = [1, 2]");
        assert!(unquoted.starts_with("sub/mine.toml:3: "), "{unquoted}");
        assert!(refusal("name = 'x'").contains("nothing to run"));
        assert!(refusal("traces = ['a']\nmachines = []").contains("names none"));
        let policy = "traces = ['a']\n[parameters]\n'policy.arbiter' = ['x', 'y']";
        assert!(refusal(policy).contains("write policies under [policies], as `arbiter`"));
        for parameters in
            ["[parameters]\nname = ['x', 'y']", "[[cases]]\nparameters = { description = 'x' }"]
        {
            let refused = refusal(&format!("traces = ['a']\n{parameters}"));
            assert!(refused.contains("it describes a machine"), "{refused}");
        }
        assert!(refusal("traces = [").starts_with("sub/mine.toml:1: "));
    }
}
