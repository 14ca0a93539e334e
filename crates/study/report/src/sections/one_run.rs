//! Charts of a single run, with nothing to compare.

use crate::columns::POLICY;
use crate::frame::values;
use polars::prelude::*;
use warpmem_analysis::polars;
use warpmem_chart::{Axis, Bars, Chart, Kind};

/// The frame of a single run.
pub struct Run<'a>(pub &'a DataFrame);

impl Run<'_> {
    pub fn value(&self, column: &str) -> Option<f64> {
        values(self.0, column).first().copied()
    }

    /// Draws a bar for each part; none if no part has a value.
    pub fn bars(
        &self,
        (name, title): (&str, &str),
        caption: &str,
        parts: Vec<(String, Option<f64>)>,
        axis: Axis,
    ) -> anyhow::Result<Option<Chart>> {
        let (called, values): (Vec<String>, Vec<Option<f64>>) = parts.into_iter().unzip();
        if values.iter().flatten().all(|value| *value == 0.0) {
            return Ok(None);
        }
        let policy = self.0.column(POLICY)?.str()?.get(0).unwrap_or_default();
        let data = df!("part" => &called, POLICY => vec![policy; called.len()], "value" => values)?;
        let bars = Bars::new("part", POLICY, "value", axis).horizontal();
        Ok(Some(Chart::new(name, title, caption, data, Kind::Bars(bars))))
    }
}
