//! The workloads that a suite generates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{SuiteError, check_names, parse, read};
use warpmem_params::nearest;
use warpmem_support::files::destination::is_file_name;
use warpmem_trace::Ranges;
use warpmem_workload::{Request, find};

/// A list of workloads to generate, each in one or several sizes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    pub name: String,
    #[serde(default)]
    pub about: String,
    #[serde(rename = "workload")]
    workloads: Vec<Workload>,
    /// Folder that its file names are relative to.
    #[serde(skip)]
    folder: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    name: String,
    /// One line.
    #[serde(default)]
    about: String,
    kernel: String,
    #[serde(default = "default_seed")]
    seed: u64,
    /// Launches that are traced, as for `generate --kernels`.
    kernels: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    /// Parameters that a size has besides.
    #[serde(default)]
    sizes: BTreeMap<String, BTreeMap<String, Value>>,
}

fn default_seed() -> u64 {
    1
}

/// A parameter's value; numbers and flags need no quotes.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Flag(bool),
    Whole(u64),
    Decimal(f64),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            Value::Flag(flag) => flag.to_string(),
            Value::Whole(number) => number.to_string(),
            Value::Decimal(number) => number.to_string(),
        }
    }
}

/// A workload that is to be generated.
#[derive(Clone, Debug)]
pub struct Planned {
    pub name: String,
    pub about: String,
    pub request: Request,
}

/// The suites that come with the program, by name, in the sizes `small`, `medium` and `large`.
const BUILT_IN: [(&str, &str); 2] =
    [("warpmem", include_str!("workloads.toml")), ("llm", include_str!("llm.toml"))];

impl Suite {
    /// The first of the suites that come with the program: irregular and regular kernels.
    pub fn built_in() -> Suite {
        let [(name, _), ..] = BUILT_IN;
        Suite::named(name).expect("a test reads the built-in suites")
    }

    /// The suite of this name that comes with the program.
    fn named(name: &str) -> Option<Suite> {
        let (name, text) = BUILT_IN.into_iter().find(|(built_in, _)| *built_in == name)?;
        let suite = Suite::from_text(text, Path::new(name));
        Some(suite.expect("a test reads the built-in suites"))
    }

    /// The suite of this name that comes with the program, or else of this file, from `folder`.
    ///
    /// # Errors
    /// If the file cannot be read or is not a suite.
    pub fn open(from: &Path, folder: &Path) -> Result<Suite, SuiteError> {
        let built_in = from.to_str().and_then(Suite::named);
        built_in.map_or_else(|| Suite::load(&folder.join(from)), Ok)
    }

    fn load(path: &Path) -> Result<Suite, SuiteError> {
        Suite::from_text(&read(path)?, path)
    }

    fn from_text(text: &str, path: &Path) -> Result<Suite, SuiteError> {
        let mut suite: Suite = parse(text, path, "suite")?;
        suite.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        check_names(suite.workloads.iter().map(|w| w.name.as_str()), path)?;
        suite.check_folders(path)?;
        Ok(suite)
    }

    /// A sweep keeps the traces in a folder named after the suite, in a subfolder named after their
    /// size.
    fn check_folders(&self, path: &Path) -> Result<(), SuiteError> {
        let folders = [self.name.as_str()].into_iter().chain(self.sizes());
        match folders.into_iter().find(|name| !is_file_name(name)) {
            None => Ok(()),
            Some(name) => Err(SuiteError::Malformed {
                path: path.to_owned(),
                what: "suite",
                message: format!(
                    "its name and its sizes are names of folders, without `/` and `\\`, which `{}` is not",
                    name.escape_debug()
                ),
            }),
        }
    }

    /// Sizes that some workload has, in alphabetical order.
    pub fn sizes(&self) -> Vec<&str> {
        let sizes = self.workloads.iter().flat_map(|w| w.sizes.keys().map(String::as_str));
        sizes.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The workloads of a size; those without this size are included as they are. `only` lists the
    /// names of those wanted; all if empty.
    ///
    /// # Errors
    /// If there is no such size or workload, or the parameters of a workload are invalid.
    pub fn plan(&self, size: Option<&str>, only: &[String]) -> Result<Vec<Planned>, SuiteError> {
        if let Some(size) = size
            && !self.sizes().contains(&size)
        {
            let valid = match self.sizes().as_slice() {
                [] => "none".to_owned(),
                sizes => sizes.join(", "),
            };
            return Err(SuiteError::UnknownSize {
                suite: self.name.clone(),
                size: size.to_owned(),
                valid,
            });
        }
        only.iter().try_for_each(|name| self.check_name(name))?;
        let wanted = |workload: &&Workload| only.is_empty() || only.contains(&workload.name);
        self.workloads.iter().filter(wanted).map(|w| w.plan(size, &self.folder)).collect()
    }

    fn check_name(&self, name: &str) -> Result<(), SuiteError> {
        let names = || self.workloads.iter().map(|workload| workload.name.as_str());
        if names().any(|known| known == name) {
            return Ok(());
        }
        Err(SuiteError::UnknownWorkload {
            suite: self.name.clone(),
            name: name.to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            valid: names().collect::<Vec<_>>().join(", "),
        })
    }
}

impl Workload {
    fn plan(&self, size: Option<&str>, folder: &Path) -> Result<Planned, SuiteError> {
        let of_size = size.and_then(|size| self.sizes.get(size)).into_iter().flatten();
        let parameters = self.parameters.iter().chain(of_size);
        let failed = |source| SuiteError::Request { workload: self.name.clone(), source };
        let launches = self.kernels.as_deref().map_or(Ok(Ranges::all()), str::parse);
        let generator = find(&self.kernel).map_err(failed)?;
        let is_path = |name: &str| generator.parameters().any(|p| p.name() == name && p.is_path());
        let text = |name: &str, value: &Value| match value.text() {
            path if is_path(name) => folder.join(path).to_string_lossy().into_owned(),
            text => text,
        };
        let parameters = parameters.map(|(name, value)| (name.clone(), text(name, value)));
        let request = Request {
            kernel: self.kernel.clone(),
            parameters: parameters.collect(),
            seed: self.seed,
            launches: launches.map_err(|error| failed(error.into()))?,
        };
        request.check().map_err(failed)?;
        Ok(Planned { name: self.name.clone(), about: self.about.clone(), request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = r#"
        name = "mine"
        [[workload]]
        name = "walk"
        kernel = "pointer-chase"
        parameters = { hops = 8, nodes = "2^4" }
        sizes.long = { hops = 64 }
        [[workload]]
        name = "sum"
        kernel = "reduction"
        seed = 7
        kernels = "0"
    "#;

    fn read(text: &str) -> Result<Suite, SuiteError> {
        Suite::from_text(text, Path::new("mine.toml"))
    }

    fn refusal(text: &str) -> String {
        let planned = read(text).and_then(|suite| suite.plan(None, &[]));
        let error = planned.unwrap_err();
        let source = std::error::Error::source(&error).map(|s| format!(": {s}"));
        format!("{error}{}", source.unwrap_or_default())
    }

    #[test]
    fn a_size_adds_to_the_parameters_and_replaces_them() {
        let suite = read(SUITE).unwrap();
        assert_eq!(suite.sizes(), ["long"]);
        let parameters = |size| {
            let planned = suite.plan(size, &[]).unwrap();
            planned.iter().map(|p| p.request.parameters.clone()).collect::<Vec<_>>()
        };
        let walk = |hops: &str| {
            BTreeMap::from([("hops", hops), ("nodes", "2^4")].map(|(k, v)| (k.into(), v.into())))
        };
        assert_eq!(parameters(None), [walk("8"), BTreeMap::new()]);
        assert_eq!(parameters(Some("long")), [walk("64"), BTreeMap::new()]);
        let sum = &suite.plan(None, &["sum".into()]).unwrap()[0];
        assert_eq!((sum.request.seed, sum.request.launches.to_string()), (7, "0".to_owned()));
    }

    #[test]
    fn files_are_named_from_the_folder_of_the_suite() {
        let text =
            "name = 's'\n[[workload]]\nname = 'a'\nkernel = 'spmv'\nparameters.file = 'm.mtx'";
        let suite = Suite::from_text(text, Path::new("sub/mine.toml")).unwrap();
        let planned = suite.plan(None, &[]).unwrap();
        let file = Path::new(&planned[0].request.parameters["file"]);
        assert_eq!(file, Path::new("sub").join("m.mtx"));
    }

    #[test]
    fn unknown_name_error_lists_the_known_ones() {
        let suite = read(SUITE).unwrap();
        assert_eq!(
            suite.plan(Some("huge"), &[]).unwrap_err().to_string(),
            "no workload of `mine` has the size `huge`; there are long"
        );
        assert_eq!(
            suite.plan(None, &["wark".into()]).unwrap_err().to_string(),
            "`mine` has no workload `wark` (did you mean `walk`?); there are walk, sum"
        );
    }

    #[test]
    fn mistakes_are_found_before_anything_is_made() {
        let suite = |workload: &str| format!("name = \"s\"\n[[workload]]\n{workload}");
        let cases = [
            (
                "name = 'a'\nkernel = 'vecad'",
                "workload `a`: unknown kernel `vecad` (did you mean `vecadd`?)",
            ),
            (
                "name = 'a'\nkernel = 'vecadd'\nparameters.m = 1",
                "workload `a`: vecadd has no parameter `m`",
            ),
            (
                "name = 'a'\nkernel = 'vecadd'\nparameters.n = 0",
                "workload `a`: `0` is not a value of --n",
            ),
            (
                "name = 'a'\nkernel = 'vecadd'\nkernels = '2..1'",
                "workload `a`: `2..1` holds nothing",
            ),
            ("name = '../a'\nkernel = 'vecadd'", "mine.toml: workload `../a`: a name is made of"),
            (
                "name = 'a'\nkernel = 'vecadd'\n[[workload]]\nname = 'a'\nkernel = 'bfs'",
                "mine.toml: workload `a`: there are two of this name",
            ),
            ("name = 'a'", "mine.toml is not a suite: TOML parse error at line 2"),
            (
                "name = 'a'\nkernel = 'bfs'\nsize = 1",
                "mine.toml is not a suite: TOML parse error at line 5",
            ),
        ];
        for (workload, message) in cases {
            let refusal = refusal(&suite(workload));
            assert!(refusal.starts_with(message), "{refusal}");
        }
    }

    #[test]
    fn the_folders_of_a_suite_lie_where_its_traces_are_kept() {
        let workload = "[[workload]]\nname = 'a'\nkernel = 'vecadd'\n";
        for text in [
            format!("name = '../s'\n{workload}"),
            format!("name = '..'\n{workload}"),
            format!("name = 's'\n{workload}sizes.'../../x' = {{ n = 8 }}"),
        ] {
            let refusal = refusal(&text);
            assert!(
                refusal.starts_with("mine.toml is not a suite: its name and its sizes"),
                "{refusal}"
            );
        }
    }

    #[test]
    fn the_built_in_suites_can_be_asked_for_in_every_size() {
        for (name, _) in BUILT_IN {
            let suite = Suite::open(Path::new(name), Path::new("nowhere")).unwrap();
            assert_eq!(suite.name, name);
            assert_eq!(suite.sizes(), ["large", "medium", "small"]);
            for size in suite.sizes() {
                let planned = suite.plan(Some(size), &[]).unwrap();
                assert!(planned.iter().all(|p| !p.about.is_empty()));
            }
            for workload in &suite.workloads {
                assert_eq!(workload.sizes.len(), 3, "{}", workload.name);
            }
        }
        assert_eq!(Suite::built_in().name, "warpmem");
    }

    #[test]
    fn unknown_names_are_files_in_the_folder() {
        let error = Suite::open(Path::new("lm"), Path::new("sub")).unwrap_err();
        assert_eq!(error.to_string(), "failed to read sub/lm");
    }

    /// Kernels made to show one paper's mechanism are no workloads: a mean over them would say nothing.
    const MECHANISMS: [&str; 4] = ["shared-chain", "role-mix", "row-share", "row-streams"];

    #[test]
    fn the_built_in_suites_have_every_kernel_but_those_of_mechanisms() {
        let kernels: BTreeSet<String> = BUILT_IN
            .into_iter()
            .filter_map(|(name, _)| Suite::named(name))
            .flat_map(|suite| suite.plan(Some("small"), &[]).unwrap())
            .map(|planned| planned.request.kernel)
            .collect();
        for generator in warpmem_workload::generators() {
            let is_mechanism = MECHANISMS.contains(&generator.name);
            assert_eq!(!kernels.contains(generator.name), is_mechanism, "{}", generator.name);
        }
    }
}
