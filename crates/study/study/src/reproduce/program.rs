//! The papers' programs: programs of public suites recorded by `warpmem capture`, and their names
//! in the papers.

use super::Paper;
use crate::traces::{NamedTrace, OpenError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The library of programs, by trace name.
const LIBRARY: &str = include_str!("programs.toml");

/// Size of a program's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// For smoke tests.
    Small,
    /// Footprint above an L2 of 768 KB, four CTAs for each of 15 SMs, partially recorded.
    Medium,
    /// The paper's or the suite's own input, or a larger one: footprint above an L2 of 6 MB, four
    /// CTAs for each of 80 SMs.
    Paper,
}

impl Size {
    pub fn name(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Paper => "paper",
        }
    }

    /// Returns the corresponding size of the built-in suite.
    pub fn of_suite(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Paper => "large",
        }
    }
}

/// A program of a public suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub suite: String,
    /// Name in the suite.
    pub program: String,
    pub about: String,
    /// Names of the recorded kernels.
    pub kernels: Vec<String>,
    /// Options of `warpmem capture` that select launches.
    #[serde(default)]
    select: Vec<String>,
    /// Options for the size `paper`, where they differ.
    #[serde(default)]
    select_paper: Option<Vec<String>>,
    pub sizes: BTreeMap<Size, Input>,
}

/// Input of a program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub input: String,
    /// Command line, run from the program's own folder.
    pub command: String,
}

/// A program as a paper names it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NamedProgram {
    pub name: String,
    /// Name of its trace and key in the library; none if no public source is known.
    #[serde(default)]
    pub id: Option<String>,
    /// Class assigned by the paper.
    #[serde(default)]
    pub class: Option<String>,
    /// Equivalent workload of the built-in suite or of the paper's.
    #[serde(default)]
    pub stand_in: Option<String>,
}

/// A paper's programs in a folder.
pub struct Captured {
    /// Traces named as in the paper, in its order.
    pub traces: Vec<NamedTrace>,
    pub missing: Vec<NamedProgram>,
}

impl Program {
    /// Returns the command that captures the program into `SIZE/ID.wmt`, run from the program's own
    /// folder; none if it has no input of that size. In the size `paper` the longest launch of each
    /// kernel is kept.
    pub fn capture(&self, id: &str, size: Size) -> Option<String> {
        let command = &self.sizes.get(&size)?.command;
        let select = match (&self.select_paper, size) {
            (Some(select), Size::Paper) => select,
            _ => &self.select,
        };
        let options: String = select.iter().map(|option| format!(" {option}")).collect();
        let capture =
            |output: String| format!("warpmem capture -o {output}{options} -- ./{command}");
        let (whole, output) = (format!("{id}.wmt"), format!("{}/{id}.wmt", size.name()));
        Some(match size {
            Size::Paper => {
                let part = format!("warpmem sample {whole} -o {output} --longest");
                format!("{} && {part}", capture(whole))
            }
            _ => capture(output),
        })
    }
}

/// Returns every program, by the name of its trace.
///
/// # Panics
/// Never: a test parses the library.
pub fn library() -> BTreeMap<String, Program> {
    toml::from_str(LIBRARY).unwrap_or_else(|error| panic!("programs.toml: {error}"))
}

impl Paper {
    /// Opens the paper's programs among the traces `FOLDER/SIZE/ID.wmt`.
    ///
    /// # Errors
    /// If a file is not a trace.
    pub fn captured(&self, folder: &Path, size: Size) -> Result<Captured, OpenError> {
        let mut captured = Captured { traces: Vec::new(), missing: Vec::new() };
        for program in &self.programs {
            let file = program.id.as_ref().map(|id| format!("{id}.wmt"));
            let path = file.map(|file| folder.join(size.name()).join(file));
            match path.filter(|path| path.exists()) {
                Some(path) => {
                    let trace = NamedTrace::open(&path)?.trace;
                    captured.traces.push(NamedTrace { name: program.name.clone(), trace });
                }
                None => captured.missing.push(program.clone()),
            }
        }
        Ok(captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{find, names};
    use warpmem_testing::documents::{assert_parts, table};

    #[test]
    fn every_program_of_the_library_is_captured_by_a_command() {
        for (id, program) in library() {
            assert!(!program.kernels.is_empty() && !program.about.is_empty(), "{id}");
            let small = program.capture(&id, Size::Small).unwrap_or_else(|| panic!("{id}"));
            assert!(small.starts_with(&format!("warpmem capture -o small/{id}.wmt")), "{small}");
            assert!(!small.contains("/home") && !small.contains("./."), "{small}");
        }
    }

    #[test]
    fn papers_name_programs_of_the_library_once_each() {
        let library = library();
        for paper in names().map(|name| find(name).unwrap()) {
            let mut seen: Vec<&str> = Vec::new();
            for program in &paper.programs {
                let what = format!("{}: {}", paper.name, program.name);
                assert!(!seen.contains(&program.name.as_str()), "{what} is there twice");
                seen.push(&program.name);
                let known = program.id.as_ref().is_none_or(|id| library.contains_key(id));
                assert!(known, "{what}: no {:?}", program.id);
            }
        }
    }

    #[test]
    fn stand_ins_are_workloads() {
        for paper in names().map(|name| find(name).unwrap()) {
            let planned = paper.stand_ins(&paper.programs);
            assert!(planned.is_ok(), "{}: {:?}", paper.name, planned.err());
        }
    }

    /// `docs/lab/programs.md`.
    #[test]
    fn the_document_lists_every_program() {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
        let code = |text: &str| format!("`{text}`");
        let mut papers = String::new();
        let programs = |name| find(name).ok().filter(|paper| paper.survey.is_none());
        for paper in names().filter_map(programs).filter(|paper| !paper.programs.is_empty()) {
            let row = |program: &NamedProgram| {
                let id = program.id.as_deref().map(code);
                let stand_in = program.stand_in.as_deref().map(code);
                vec![
                    program.name.clone(),
                    or_dash(&program.class),
                    or_dash(&id),
                    or_dash(&stand_in),
                ]
            };
            let heading = ["name in the paper", "class in the paper", "trace", "stand-in"];
            let table = table(&heading, paper.programs.iter().map(row));
            papers += &format!("### {}\n{table}\n", paper.name);
        }
        let heading = ["trace", "program", "kernels", "`medium`", "captured by", "`paper`"];
        let rows = library().into_iter().map(|(id, program)| {
            let input = |size| program.sizes.get(&size).map(|size| size.input.clone());
            let kernels: Vec<String> = program.kernels.iter().map(|name| code(name)).collect();
            vec![
                code(&id),
                format!("{}, {}: {}", program.suite, program.program, program.about),
                kernels.join(" "),
                or_dash(&input(Size::Medium)),
                or_dash(&program.capture(&id, Size::Medium).as_deref().map(code)),
                or_dash(&input(Size::Paper)),
            ]
        });
        let library = table(&heading, rows);
        assert_parts("docs/lab/programs.md", &[("papers", papers), ("library", library)]);
    }

    #[test]
    fn capture_options_precede_the_program_and_may_depend_on_size() {
        let program: Program = toml::from_str(
            "suite = 'S'\nprogram = 'p'\nabout = 'a'\nkernels = ['k']\nselect = ['--every', '10']\n\
            select_paper = []\nsizes.small = { input = 'i', command = 'p 1' }\n\
            sizes.paper = { input = 'i', command = 'p 9' }",
        )
        .unwrap();
        let of = |size| program.capture("s-p", size);
        assert_eq!(
            of(Size::Small).unwrap(),
            "warpmem capture -o small/s-p.wmt --every 10 -- ./p 1"
        );
        let longest = "warpmem sample s-p.wmt -o paper/s-p.wmt --longest";
        let captured = "warpmem capture -o s-p.wmt -- ./p 9";
        assert_eq!(of(Size::Paper).unwrap(), format!("{captured} && {longest}"));
        assert_eq!(of(Size::Medium), None);
    }

    #[test]
    fn programs_without_a_trace_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let text = "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n\
            programs = [{ name = 'A', id = 'x-a' }, { name = 'B' }]";
        let paper = Paper::from_text("t", text).unwrap();
        let captured = paper.captured(folder.path(), Size::Small).unwrap();
        let missing: Vec<&str> = captured.missing.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((captured.traces.len(), missing), (0, vec!["A", "B"]));
        std::fs::create_dir(folder.path().join("small")).unwrap();
        std::fs::write(folder.path().join("small/x-a.wmt"), "no trace").unwrap();
        assert!(paper.captured(folder.path(), Size::Small).is_err());
    }
}
