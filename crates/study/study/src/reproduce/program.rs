//! The papers' programs: programs of public suites recorded by `warpmem capture`, and their names
//! in the papers.

use serde::Deserialize;
use std::collections::BTreeMap;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
