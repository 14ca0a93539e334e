//! Reports on the tables of runs: text, tables and charts, as one HTML page or as Markdown.
//!
//! A [`Study`] holds the runs and their baselines, [`compose`] makes the [`Document`] of it, and
//! [`html`] and [`markdown`] turn any document into text. The crate writes no files.

mod baselines;
mod columns;
mod document;
mod frame;
pub mod html;
mod limits;
pub mod markdown;
mod prose;
mod sections;
mod study;
mod table;
#[cfg(test)]
mod tests;

pub use document::{Block, Document, Section};
pub use prose::{Piece, Prose};
pub use study::{Question, Study};
pub use table::{Heading, SHOWN_ROWS, Table};

use limits::Shown;
use table::spelled;
use warpmem_text::counted;

/// Calls of `step` by [`compose`].
pub const STEPS: usize = sections::SECTIONS.len();

/// Makes the report; its title is `title`, or says what was compared. `step` is called before each
/// section that reads tables, and may end the work with an error.
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
        lead: lead(study, &shown),
        sections: Vec::new(),
    };
    for make in sections::SECTIONS {
        step()?;
        document.sections.push(make(study, &shown)?);
    }
    finish(&mut document)?;
    Ok(document)
}

/// The section that describes all others.
fn finish(document: &mut Document) -> anyhow::Result<()> {
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
    let slots = study.slots.iter().map(|slot| spelled(slot)).collect::<Vec<_>>().join(", ");
    format!("{workloads} by {slots} on {settings}")
}

fn lead(study: &Study, shown: &Shown) -> Vec<Prose> {
    let mut lead = Vec::new();
    if study.is_single() {
        lead.push(Prose::new(
            "There is one policy only, so nothing is compared: every IPC ratio is 1.",
        ));
    }
    lead.extend(shown.left_out(study));
    lead
}
