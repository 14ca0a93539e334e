//! A paper's programs among captured traces.

use super::{NamedProgram, Paper, Size};
use crate::traces::{NamedTrace, OpenError};
use std::path::Path;

/// A paper's programs in a folder.
pub struct Captured {
    /// Traces named as in the paper, in its order.
    pub traces: Vec<NamedTrace>,
    pub missing: Vec<NamedProgram>,
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
    use crate::reproduce::{find, library, names};
    use warpmem_testing::documents::{assert_parts, table};

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
