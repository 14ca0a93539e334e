//! The kernels of a run, a line for each.

use serde_json::{Map, Value};
use warpmem::machine::Machine;
use warpmem_text::aligned;

const HEAD: [&str; 10] = [
    "",
    "kernel",
    "µs",
    "IPC",
    "GB/s",
    "L1 hits",
    "L2 hits",
    "row hits",
    "latency",
    "stalls most by",
];

/// For what the SMs wait: columns and short words.
const STALLS: [(&str, &str); 5] = [
    ("memory_block_cycles", "memory"),
    ("structural_stall_cycles", "busy unit"),
    ("dependency_stall_cycles", "dependency"),
    ("barrier_cycles", "barrier"),
    ("no_warp_cycles", "no warp"),
];

/// Longer names end in an ellipsis.
const NAME_WIDTH: usize = 40;

/// Rows of `kernels` as lines; a value that a kernel does not have is a dash.
pub fn table(rows: &[Map<String, Value>], machine: &Machine) -> String {
    let head = HEAD.map(str::to_owned).to_vec();
    let lines: Vec<Vec<String>> =
        [head].into_iter().chain(rows.iter().map(|row| Kernel { row }.line(machine))).collect();
    let right: Vec<usize> = (0..HEAD.len()).filter(|column| ![1, 9].contains(column)).collect();
    aligned(&lines, &right)
}

struct Kernel<'a> {
    row: &'a Map<String, Value>,
}

impl Kernel<'_> {
    fn line(&self, machine: &Machine) -> Vec<String> {
        let microseconds = 1.0 / f64::from(machine.clocks.core_mhz);
        vec![
            self.scaled("kernel", 1.0, 0),
            self.name(),
            self.scaled("cycles", microseconds, 1),
            self.scaled("ipc_thread", 1.0, 1),
            self.scaled("dram_bandwidth", 1.0, 1),
            percent(self.number("l1_read_miss_rate").map(|missed| 1.0 - missed)),
            percent(self.number("l2_read_miss_rate").map(|missed| 1.0 - missed)),
            percent(self.number("row_hit_rate")),
            self.scaled("latency_mean", 1.0, 0),
            self.top_stall(),
        ]
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.row.get(column).and_then(Value::as_f64)
    }

    fn scaled(&self, column: &str, scale: f64, decimals: usize) -> String {
        let number = self.number(column);
        number.map_or("–".to_owned(), |number| format!("{:.decimals$}", number * scale))
    }

    fn name(&self) -> String {
        let name = self.row.get("name").and_then(Value::as_str).unwrap_or_default();
        match name.char_indices().nth(NAME_WIDTH) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.to_owned(),
        }
    }

    /// The reason for which SMs issue nothing most often, and in which share of their cycles.
    fn top_stall(&self) -> String {
        let cycles = self.number("active_cycles").zip(self.number("inactive_cycles"));
        let Some((active, inactive)) = cycles.filter(|(active, idle)| active + idle > 0.0) else {
            return "–".to_owned();
        };
        let share = |column| Some(self.number(column)? / (active + inactive));
        let stalls = STALLS.iter().filter_map(|&(column, word)| Some((share(column)?, word)));
        let top = stalls.max_by(|one, other| one.0.total_cmp(&other.0));
        top.map_or("–".to_owned(), |(share, word)| format!("{word} {}", percent(Some(share))))
    }
}

fn percent(fraction: Option<f64>) -> String {
    fraction.map_or("–".to_owned(), |fraction| format!("{:.1} %", 100.0 * fraction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use warpmem::machine::load;

    #[test]
    fn a_line_for_each_kernel_and_dashes_for_what_was_not_counted() {
        let alone = json!({
            "kernel": 0, "name": "bfs", "cycles": 1400, "ipc_thread": 40.25, "dram_bandwidth": 88.7,
            "l1_read_miss_rate": 0.25, "l2_read_miss_rate": 1.0, "row_hit_rate": 0.75,
            "latency_mean": 512.4, "active_cycles": 100, "inactive_cycles": 900,
            "memory_block_cycles": 600, "no_warp_cycles": 300,
        });
        let beside = json!({
            "kernel": 1, "name": "k".repeat(50), "cycles": 140, "ipc_thread": 1.0,
            "l1_read_miss_rate": null, "active_cycles": null,
        });
        let rows = [alone, beside].map(|row| row.as_object().unwrap().clone());
        insta::assert_snapshot!(table(&rows, &load("li2015", &[]).unwrap()), @"
           kernel                                      µs   IPC  GB/s  L1 hits  L2 hits  row hits  latency  stalls most by
        0  bfs                                        1.0  40.2  88.7   75.0 %    0.0 %    75.0 %      512  memory 60.0 %
        1  kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…  0.1   1.0     –        –        –         –        –  –
        ");
    }
}
