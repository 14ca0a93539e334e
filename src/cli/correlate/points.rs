//! `warpmem correlate --points`: measured points beside our runs.

use crate::cli::format::{self, Format};
use crate::cli::output::print;
use crate::cli::points::{Runner, percent, summary_text};
use crate::study::points::{Batch, Filter, Outcome, PointsFile, place, summaries};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::Path;
use warpmem_support::text::aligned;

/// The points to run, on other machines if wanted, and the format of the output.
pub struct Request<'a> {
    pub file: &'a Path,
    pub filter: Filter,
    /// Other machines for those of the file.
    pub map: &'a [(String, String)],
    pub overrides: &'a [String],
    pub cache: Option<&'a Path>,
    pub jobs: Option<NonZeroUsize>,
    pub format: Format,
}

/// Runs the points, passes them to `draw`, and prints them.
pub fn execute(
    request: &Request<'_>,
    draw: impl FnOnce(&[Outcome<'_>]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let file = PointsFile::read(request.file)?;
    let points = file.chosen(&request.filter)?;
    let placed = place(&file, &points, request.map, request.overrides)?;
    let runner = Runner::new(request.cache, request.jobs)?;
    let traces = runner.traces(&points)?;
    let setups: Vec<_> = placed.iter().flat_map(|placed| placed.setups(&traces)).collect();
    let batch = Batch::new(setups, runner.store())?;
    runner.run(&batch).map_err(|error| runner.explained(error))?;
    let mut cycles = batch.cycles(runner.store()).into_iter();
    let outcomes: Vec<Outcome<'_>> =
        placed.iter().map(|placed| placed.outcome(&mut cycles)).collect();
    draw(&outcomes)?;
    print(&match request.format {
        Format::Table => text(&outcomes),
        Format::Json => {
            let points: Vec<_> = outcomes.iter().map(Outcome::row).collect();
            let value = json!({ "points": points, "summary": summaries(&outcomes) });
            format!("{value:#}\n")
        }
        Format::Csv => format::csv(&outcomes.iter().map(Outcome::row).collect::<Vec<_>>()),
    })
}

fn text(outcomes: &[Outcome<'_>]) -> String {
    let heading = ["GPU", "class", "machine", "figure", "unit", "measured", "Warpmem", "error"];
    let line = |outcome: &Outcome<'_>| {
        let Outcome { point, machine, ours } = outcome;
        vec![
            point.gpu.clone(),
            point.class.clone(),
            machine.clone(),
            point.figure.clone(),
            point.unit.name().to_owned(),
            point.unit.shown(point.value),
            point.unit.shown(*ours),
            percent(outcome.error()),
        ]
    };
    let lines = [heading.map(str::to_owned).to_vec()].into_iter();
    let points = aligned(&lines.chain(outcomes.iter().map(line)).collect::<Vec<_>>(), &[5, 6, 7]);
    format!("{points}\n{}", summary_text(&summaries(outcomes)))
}

/// Parses `NAME=MACHINE`.
pub fn parse_map(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(name, machine)| (name.trim(), machine.trim()));
    match parts {
        Some((name, machine)) if !name.is_empty() && !machine.is_empty() => {
            Ok((name.to_owned(), machine.to_owned()))
        }
        _ => Err("expected NAME=MACHINE, as in SM7_QV100=accelsim-qv100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_a_name_and_a_machine() {
        assert_eq!(parse_map("A = b.toml"), Ok(("A".to_owned(), "b.toml".to_owned())));
        for text in ["", "A", "A=", "=b"] {
            assert!(parse_map(text).is_err(), "{text}");
        }
    }
}
