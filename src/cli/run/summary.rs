//! Ten-line summary of a run, with an eleventh line for GPU energy if known.

use super::numbers::{Numbers, STALLS, percent};
use crate::machine::Machine;
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

/// Descriptions of [`STALLS`].
const WAITS: [&str; STALLS.len()] = [
    "all warps wait for memory",
    "a unit, or the load/store queue, is taken",
    "a warp waits for a compute result",
    "a warp waits at a barrier",
    "it has no warp",
];

/// Formats the row of a run; missing values are dashes.
pub fn summary(row: &Map<String, Value>, machine: &Machine) -> String {
    let run = Run(Numbers { row });
    let lines = [
        ("time", run.time(machine)),
        ("IPC", run.ipc()),
        ("bandwidth", run.bandwidth()),
        ("hit rates", run.hit_rates()),
        ("latency", run.latency()),
        ("divergence", run.divergence()),
        ("SMs", run.stalls()),
        ("DRAM rows", run.rows()),
        ("DRAM banks", run.banks()),
        ("DRAM energy", run.energy()),
    ];
    let gpu_energy = run.gpu_energy().map(|text| ("GPU energy", text));
    let lines = lines.into_iter().chain(gpu_energy);
    let cells: Vec<_> = lines.map(|(name, text)| vec![name.to_owned(), text]).collect();
    aligned(&cells, &[])
}

struct Run<'a>(Numbers<'a>);

impl Run<'_> {
    fn scaled(&self, column: &str, scale: f64, decimals: usize) -> String {
        self.0.scaled(column, scale, decimals)
    }

    fn percent(&self, column: &str) -> String {
        self.scaled(column, 100.0, 1) + " %"
    }

    fn time(&self, machine: &Machine) -> String {
        let microseconds = self.scaled("cycles", 1.0 / f64::from(machine.clocks.core_mhz), 1);
        format!("{microseconds} µs, {} core cycles", self.scaled("cycles", 1.0, 0))
    }

    fn ipc(&self) -> String {
        let [warps, threads] = ["ipc_warp", "ipc_thread"].map(|ipc| self.scaled(ipc, 1.0, 2));
        format!("{warps} warp instructions a core cycle, {threads} of threads")
    }

    fn bandwidth(&self) -> String {
        let rate = self.scaled("dram_bandwidth", 1.0, 1);
        format!("{rate} GB/s of DRAM, {} of the peak", self.percent("bandwidth_utilization"))
    }

    /// Formats the hit rates of reads.
    fn hit_rates(&self) -> String {
        let rate = |miss_rate: &str| self.0.hits(miss_rate);
        format!("L1 {}, L2 {} of reads", rate("l1_read_miss_rate"), rate("l2_read_miss_rate"))
    }

    fn latency(&self) -> String {
        let [mean, most] = ["latency_mean", "latency_p99"].map(|one| self.scaled(one, 1.0, 0));
        format!("{mean} core cycles of a read not served by L1, 99 % within {most}")
    }

    fn divergence(&self) -> String {
        let requests = self.scaled("requests_per_load", 1.0, 2);
        let gap = self.scaled("divergence_mean", 1.0, 0);
        format!("{requests} requests a load, {gap} core cycles from the first answer to the last")
    }

    /// Formats the share of cycles in which an SM issues, and the main stall reason.
    fn stalls(&self) -> String {
        let cycles = self.0.number("cycles").filter(|&cycles| cycles > 0.0);
        let active =
            cycles.and_then(|cycles| Some(100.0 * self.0.number("active_cycles")? / cycles));
        let active = active.map_or("–".to_owned(), |share| format!("{share:.1}"));
        match cycles.and_then(|cycles| self.0.top_stall(cycles)) {
            Some((stall, share)) => {
                let (share, waits) = (percent(Some(share)), WAITS[stall]);
                format!("issue in {active} % of cycles; in {share} {waits}")
            }
            None => format!("issue in {active} % of cycles"),
        }
    }

    fn rows(&self) -> String {
        let locality = self.scaled("row_locality", 1.0, 2);
        format!("{} hits, {locality} accesses an activation", self.percent("row_hit_rate"))
    }

    fn banks(&self) -> String {
        let queue = self.scaled("queue_occupancy_mean", 1.0, 1);
        format!(
            "{} busy at a time, {queue} requests in a channel's queue",
            self.scaled("blp", 1.0, 2)
        )
    }

    fn energy(&self) -> String {
        let total = self.scaled("energy_nj", 1e-3, 1);
        format!("{total} µJ, {} pJ a bit", self.scaled("energy_pj_per_bit", 1.0, 1))
    }

    /// Formats the GPU energy; none if the machine's energies are unknown.
    fn gpu_energy(&self) -> Option<String> {
        let total = self.0.number("gpu_energy_nj").filter(|&total| total > 0.0)?;
        let share = |part: &str| percent(self.0.number(part).map(|part| part / total));
        let [constant, leaking, dram] =
            ["gpu_energy_nj_constant", "gpu_energy_nj_static", "gpu_energy_nj_dram"].map(share);
        let [energy, power] = [("gpu_energy_nj", 1e-3), ("gpu_power_w", 1.0)]
            .map(|(column, scale)| self.scaled(column, scale, 1));
        Some(format!("{energy} µJ, {power} W; constant {constant}, static {leaking}, DRAM {dram}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::load;
    use serde_json::json;

    fn row(values: &Value) -> Map<String, Value> {
        values.as_object().unwrap().clone()
    }

    #[test]
    fn ten_lines_with_units() {
        let run = row(&json!({
            "cycles": 14000, "ipc_warp": 1.5, "ipc_thread": 40.25, "dram_bandwidth": 88.7,
            "bandwidth_utilization": 0.5, "l1_read_miss_rate": 0.25, "l2_read_miss_rate": 1.0,
            "latency_mean": 512.4, "latency_p99": 900, "requests_per_load": 2.0,
            "divergence_mean": 31.0, "active_cycles": 3500.0, "memory_block_cycles": 7000.0,
            "no_warp_cycles": 1400.0, "row_hit_rate": 0.75, "row_locality": 4.0, "blp": 3.5,
            "queue_occupancy_mean": 12.25, "energy_nj": 2500.0, "energy_pj_per_bit": 22.3,
        }));
        insta::assert_snapshot!(summary(&run, &load("li2015", &[]).unwrap()), @"
        time         10.0 µs, 14000 core cycles
        IPC          1.50 warp instructions a core cycle, 40.25 of threads
        bandwidth    88.7 GB/s of DRAM, 50.0 % of the peak
        hit rates    L1 75.0 %, L2 0.0 % of reads
        latency      512 core cycles of a read not served by L1, 99 % within 900
        divergence   2.00 requests a load, 31 core cycles from the first answer to the last
        SMs          issue in 25.0 % of cycles; in 50.0 % all warps wait for memory
        DRAM rows    75.0 % hits, 4.00 accesses an activation
        DRAM banks   3.50 busy at a time, 12.2 requests in a channel's queue
        DRAM energy  2.5 µJ, 22.3 pJ a bit
        ");
    }

    #[test]
    fn energy_of_the_gpu_has_a_line_where_it_is_known() {
        let run = row(&json!({
            "gpu_energy_nj": 4000.0, "gpu_energy_nj_constant": 2000.0,
            "gpu_energy_nj_static": 1000.0, "gpu_energy_nj_dram": 500.0, "gpu_power_w": 94.04,
        }));
        let text = summary(&run, &load("v100", &[]).unwrap());
        let expected = "GPU energy   4.0 µJ, 94.0 W; constant 50.0 %, static 25.0 %, DRAM 12.5 %\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn what_a_run_does_not_have_is_a_dash() {
        let text = summary(&row(&json!({ "cycles": 0 })), &load("li2015", &[]).unwrap());
        assert_eq!(text.lines().count(), 10);
        assert!(text.contains("L1 –, L2 –") && text.contains("issue in – % of cycles\n"), "{text}");
    }
}
