//! The papers' own programs, captured into a folder, and the missing ones.

use super::Args;
use crate::cli::output::note;
use crate::study::reproduce::{NamedProgram, Paper, Size, library};
use crate::study::traces::NamedTrace;
use std::path::Path;
use warpmem_reproduce::Place;
use warpmem_support::text::aligned;

/// Opens the programs of `paper` in `folder`; on request, generated workloads replace missing ones.
///
/// # Errors
/// If there are no programs, or one cannot be opened.
pub fn open(
    args: &Args,
    paper: &Paper,
    folder: &Path,
    place: &Place<'_>,
) -> anyhow::Result<Vec<NamedTrace>> {
    let size = paper.program_size();
    let captured = paper.captured(folder, size)?;
    let (found, wanted) = (captured.traces.len(), paper.programs.len());
    let place_of = folder.join(size.name());
    anyhow::ensure!(
        found > 0 || args.stand_ins,
        "no program of {} is in {}: `warpmem reproduce {0} --list` prints the commands that capture them",
        paper.name,
        place_of.display()
    );
    if !captured.missing.is_empty() {
        note(&format!("{found} of {wanted} programs are in {}; missing:", place_of.display()));
        note(table(&captured.missing, size).trim_end());
    }
    let mut traces = captured.traces;
    if args.stand_ins {
        traces.extend(place.generated(paper, &paper.stand_ins(&captured.missing)?)?);
    }
    Ok(traces)
}

/// Formats a line for each program: its name in the paper, its description, and its capture
/// command.
pub fn table(programs: &[NamedProgram], size: Size) -> String {
    let library = library();
    let headings = ["program", "class", "suite", "input", "captured by", "stands in"];
    let mut rows = vec![Vec::from(headings.map(str::to_owned))];
    for program in programs {
        let known = program.id.as_ref().and_then(|id| Some((id, library.get(id)?)));
        let suite = known.map(|(_, known)| format!("{}, {}", known.suite, known.program));
        let input = known.and_then(|(_, known)| Some(known.sizes.get(&size)?.input.clone()));
        let command = known.and_then(|(id, known)| known.capture(id, size));
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        rows.push(vec![
            program.name.clone(),
            or_dash(program.class.clone()),
            or_dash(suite),
            or_dash(input),
            or_dash(command),
            or_dash(program.stand_in.clone()),
        ]);
    }
    aligned(&rows, &[])
}
