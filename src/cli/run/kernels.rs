//! Kernels of a run, one per line.

use super::numbers::{Numbers, STALLS, percent};
use crate::machine::Machine;
use crate::study::kernel_name::readable;
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

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

/// Short names of [`STALLS`].
const WAITS: [&str; STALLS.len()] = ["memory", "busy unit", "dependency", "barrier", "no warp"];

/// Maximum width of names; longer ones end in an ellipsis.
const NAME_WIDTH: usize = 40;

/// Formats rows of `kernels`; missing values are dashes.
pub fn table(rows: &[Map<String, Value>], machine: &Machine) -> String {
    let head = HEAD.map(str::to_owned).to_vec();
    let lines: Vec<Vec<String>> = [head]
        .into_iter()
        .chain(rows.iter().map(|row| Kernel(Numbers { row }).line(machine)))
        .collect();
    let right: Vec<usize> = (0..HEAD.len()).filter(|column| ![1, 9].contains(column)).collect();
    aligned(&lines, &right)
}

struct Kernel<'a>(Numbers<'a>);

impl Kernel<'_> {
    fn line(&self, machine: &Machine) -> Vec<String> {
        let microseconds = 1.0 / f64::from(machine.clocks.core_mhz);
        vec![
            self.0.scaled("kernel", 1.0, 0),
            self.name(),
            self.0.scaled("cycles", microseconds, 1),
            self.0.scaled("ipc_thread", 1.0, 1),
            self.0.scaled("dram_bandwidth", 1.0, 1),
            self.0.hits("l1_read_miss_rate"),
            self.0.hits("l2_read_miss_rate"),
            percent(self.0.number("row_hit_rate")),
            self.0.scaled("latency_mean", 1.0, 0),
            self.top_stall(),
        ]
    }

    fn name(&self) -> String {
        let name = self.0.row.get("name").and_then(Value::as_str).map(readable).unwrap_or_default();
        match name.char_indices().nth(NAME_WIDTH) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name,
        }
    }

    /// Returns the most frequent stall reason of SMs, and its share of their cycles.
    fn top_stall(&self) -> String {
        let cycles = self.0.number("active_cycles").zip(self.0.number("inactive_cycles"));
        let cycles = cycles.map(|(active, inactive)| active + inactive).filter(|&all| all > 0.0);
        let top = cycles.and_then(|cycles| self.0.top_stall(cycles));
        top.map_or("–".to_owned(), |(stall, share)| {
            format!("{} {}", WAITS[stall], percent(Some(share)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::load;
    use serde_json::json;

    #[test]
    fn each_kernel_has_a_line_and_uncounted_values_are_dashes() {
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
