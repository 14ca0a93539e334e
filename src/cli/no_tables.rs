//! Replaces `tables.rs` in builds without dataframes and charts.

use std::error::Error;

/// File of a chart: there is none.
#[derive(Clone, Debug)]
pub enum PlotFile {}

/// Refuses a chart file.
pub fn parse_plot(_: &str) -> Result<PlotFile, String> {
    Err("this build draws no charts: build with the default features".to_owned())
}

/// Checks nothing: there is no chart file.
pub fn check_plot(_: Option<&PlotFile>) -> anyhow::Result<()> {
    Ok(())
}

/// Draws nothing: there is no chart file.
pub fn draw<T>(path: &PlotFile, _: T) -> anyhow::Result<()> {
    match *path {}
}

pub fn keep_libraries_quiet() {}

pub fn is_fault(_: &(dyn Error + 'static)) -> bool {
    false
}
