//! The committed counts, and their comparison with new ones.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// Largest ratio of a count to the committed one.
const LIMIT: f64 = 1.02;

/// Head of the file.
const COMMENT: &str = "\
# Host instructions of the engine by run: `cargo bench -p warpmem-gpu --bench instructions -- --update [REASON]`.
# `raised` is the reason of the last change, if it raised the count.
";

/// The committed count of a run.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Count {
    instructions: u64,
    /// Reason of the last change, if it raised the count.
    #[serde(skip_serializing_if = "Option::is_none")]
    raised: Option<String>,
}

/// The committed counts, by run.
pub struct Budget(BTreeMap<String, Count>);

impl Budget {
    pub fn read() -> Budget {
        let text = fs::read_to_string(path()).expect("the budget can be read");
        Budget(toml::from_str(&text).expect("the budget is a table of counts"))
    }

    pub fn write(&self) {
        let text = toml::to_string(&self.0).expect("numbers and strings are TOML");
        fs::write(path(), format!("{COMMENT}\n{text}")).expect("the budget can be written");
    }

    /// Returns the ratio of a count to the committed one.
    fn ratio(&self, run: &str, count: u64) -> Option<f64> {
        self.0.get(run).map(|committed| count as f64 / committed.instructions as f64)
    }

    /// Returns whether every run has a committed count and does not exceed it.
    pub fn is_kept(&self, counts: &[(String, u64)]) -> bool {
        counts.iter().all(|(run, count)| self.ratio(run, *count).is_some_and(|r| r <= LIMIT))
    }

    /// Sets committed counts. Only with a reason is a count raised.
    pub fn update(&mut self, counts: &[(String, u64)], reason: Option<&str>) {
        self.0.retain(|run, _| counts.iter().any(|(counted, _)| counted == run));
        for (run, count) in counts {
            let is_raised = self.ratio(run, *count).is_some_and(|ratio| ratio > 1.0);
            let raised = reason.filter(|_| is_raised).map(str::to_owned);
            if !is_raised || raised.is_some() {
                self.0.insert(run.clone(), Count { instructions: *count, raised });
            }
        }
    }

    /// Compares counts with the committed ones, a line per run.
    pub fn table(&self, counts: &[(String, u64)]) -> String {
        let mut table = format!("{:24} {:>14} {:>14} {:>7}\n", "run", "committed", "now", "ratio");
        for (run, count) in counts {
            let committed = self.0.get(run).map_or(0, |committed| committed.instructions);
            let ratio = self.ratio(run, *count);
            let verdict = match ratio {
                None => "  new: update the budget",
                Some(ratio) if ratio > LIMIT => "  over the budget",
                Some(ratio) if ratio < 1.0 / LIMIT => "  below: update the budget",
                Some(_) => "",
            };
            let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.4}"));
            let _ = writeln!(table, "{run:24} {committed:14} {count:14} {ratio:>7}{verdict}");
        }
        if !self.is_kept(counts) {
            table += "a higher count needs a reason: cargo bench -p warpmem-gpu --bench instructions -- --update REASON\n";
        }
        table
    }
}

fn path() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions/budget.toml").into()
}
