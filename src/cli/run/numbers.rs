//! Formatted numbers of a row; missing values are dashes.

use serde_json::{Map, Value};

pub struct Numbers<'a> {
    pub row: &'a Map<String, Value>,
}

/// Columns of an SM's stall cycles, by cause.
pub const STALLS: [&str; 5] = [
    "memory_block_cycles",
    "structural_stall_cycles",
    "dependency_stall_cycles",
    "barrier_cycles",
    "no_warp_cycles",
];

impl Numbers<'_> {
    pub fn number(&self, column: &str) -> Option<f64> {
        self.row.get(column).and_then(Value::as_f64)
    }

    /// Formats a column times `scale` with `decimals` decimals.
    pub fn scaled(&self, column: &str, scale: f64, decimals: usize) -> String {
        let number = self.number(column);
        number.map_or("–".to_owned(), |number| format!("{:.decimals$}", number * scale))
    }

    /// Formats a hit rate, given the column of the miss rate.
    pub fn hits(&self, miss_rate: &str) -> String {
        percent(self.number(miss_rate).map(|missed| 1.0 - missed))
    }

    /// Returns the index of the largest of [`STALLS`] and its share of `cycles`.
    pub fn top_stall(&self, cycles: f64) -> Option<(usize, f64)> {
        let share = |column| Some(self.number(column)? / cycles);
        let stalls =
            STALLS.iter().enumerate().filter_map(|(at, column)| Some((at, share(column)?)));
        stalls.max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

/// Formats a fraction in percent with one decimal.
pub fn percent(fraction: Option<f64>) -> String {
    fraction.map_or("–".to_owned(), |fraction| format!("{:.1} %", 100.0 * fraction))
}
