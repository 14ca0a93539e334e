use polars::df;
use polars::prelude::*;

/// Makes two workloads under three schedulers on one machine. IPC relative to `fr-fcfs`: `fcfs` 0.5 and
/// 2, `banked-fifo` 0.75 and 1.
pub fn runs() -> DataFrame {
    df!(
        "run_id" => [1u64, 2, 3, 4, 5, 6],
        "trace" => ["bfs.wmt", "bfs.wmt", "bfs.wmt", "stream.wmt", "stream.wmt", "stream.wmt"],
        "machine" => ["li2015"; 6],
        "dram_scheduler" => ["fcfs", "banked-fifo", "fr-fcfs", "fcfs", "banked-fifo", "fr-fcfs"],
        "warp_scheduler" => ["gto"; 6],
        "cycles" => [2000u64, 1400, 1000, 500, 1000, 1000],
        "ipc_thread" => [20.0, 30.0, 40.0, 160.0, 80.0, 80.0],
        "row_hit_rate" => [Some(0.25), Some(0.5), Some(0.75), Some(0.875), Some(0.9), None],
        "row_locality" => [1.5, 2.0, 4.0, 8.0, 10.0, 12.0],
        "blp" => [1.25, 2.5, 3.0, 1.0, 1.0, 1.5],
        "divergence_mean" => [Some(1234.5), Some(800.0), Some(400.0), None, None, None],
        "in_mc_fraction" => [Some(0.9), Some(0.8), Some(0.7), None, None, None],
        "latency_mean" => [900.0, 700.0, 500.0, 420.0, 410.0, 400.0],
        "latency_p99" => [5000u64, 4000, 3000, 1000, 990, 980],
        "bandwidth_utilization" => [0.2, 0.3, 0.4, 0.8, 0.85, 0.9],
        "dram_efficiency" => [0.25, 0.35, 0.45, 0.85, 0.9, 0.95],
    )
    .expect("columns of one length")
}

pub fn floats(frame: &DataFrame, column: &str) -> Vec<Option<f64>> {
    frame.column(column).unwrap().f64().unwrap().iter().collect()
}

pub fn strings(frame: &DataFrame, column: &str) -> Vec<String> {
    let values = frame.column(column).unwrap().str().unwrap();
    values.iter().map(|value| value.unwrap_or("null").to_owned()).collect()
}
