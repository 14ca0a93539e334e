//! Reports on the tables of runs: text, tables and charts, as one HTML page or as Markdown.
//!
//! A [`Study`] holds the runs and their baselines, [`compose`] turns it into a [`Document`], and
//! [`html`] and [`markdown`] render any document as text, and [`Outputs`] writes the files of a report.

mod baselines;
mod columns;
mod document;
mod frame;
pub mod html;
mod limits;
pub mod markdown;
mod outputs;
mod palette;
mod prose;
mod sections;
mod study;
mod style;
mod table;
#[cfg(test)]
mod tests;

pub use document::{Block, Document, Section};
pub use outputs::Outputs;
pub use prose::{Piece, Prose};
pub use study::{Question, Study};
pub use style::StyleFile;
pub use table::{Heading, SHOWN_ROWS, Table};

use columns::OVERRIDES;
use frame::distinct;
use limits::Shown;
use table::spelled;
use warpmem_support::text::counted;

/// Number of calls of `step` by [`compose`].
pub const STEPS: usize = sections::SECTIONS.len();

/// Composes the report; its title is `title`, or states the comparison. `step` is called before
/// each section that reads tables, and may abort with an error.
///
/// # Errors
/// If a table cannot be read, or as `step`.
pub fn compose(
    study: &Study,
    title: Option<&str>,
    mut step: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Document> {
    let shown = Shown::of(study)?;
    let mut document = Document {
        title: title.map_or_else(|| usual_title(study), str::to_owned),
        lead: lead(study)?,
        sections: Vec::new(),
    };
    for make in sections::SECTIONS {
        step()?;
        document.sections.push(make(study, &shown)?);
    }
    finish(&mut document, study)?;
    Ok(document)
}

/// Adds the sections about other sections, and gives policies their colours.
fn finish(document: &mut Document, study: &Study) -> anyhow::Result<()> {
    document.set_style(&study.style);
    document.gather_absent();
    let definitions = sections::definitions(document)?;
    document.sections.push(definitions);
    document.name_apart();
    Ok(())
}

fn usual_title(study: &Study) -> String {
    let one_of = |names: &[String], noun: &str| match names {
        [only] => only.clone(),
        several => counted(several.len(), noun),
    };
    let workloads = one_of(&study.traces, "workload");
    let settings = one_of(&study.settings, "setting");
    if study.is_single() {
        return format!("{workloads} on {settings}");
    }
    let name =
        |slot: &String| if slot == OVERRIDES { "parameters".to_owned() } else { spelled(slot) };
    let slots = study.slots.iter().map(name).collect::<Vec<_>>().join(", ");
    format!("{workloads} by {slots} on {settings}")
}

/// Describes the runs in one line.
fn lead(study: &Study) -> anyhow::Result<Prose> {
    let runs = counted(study.runs.height(), "run");
    let workloads = counted(study.workload_names.len(), "workload");
    let prose = Prose::new(format!("{runs} of {workloads} on "));
    let prose = prose.codes(distinct(&study.runs, "machine")?);
    let prose = match study.is_single() {
        true => prose,
        false => prose.words(", compared with ").code(study.baseline()),
    };
    Ok(prose.words("; Warpmem ").codes(distinct(&study.runs, "engine_version")?).words("."))
}
