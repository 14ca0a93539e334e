//! Recordings of a run: they do not change it, and they sum to its totals.

use crate::trace::{Kernel, Step, loads, machine, mixed, write};
use std::num::NonZeroU64;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{
    AccessKind, Discard, IntervalCounts, IntervalRow, LoadRow, RequestRow, RequestSample,
    RunResult, RunSink, Stage, Wanted, WarpRow,
};
use warpmem::machine::Machine;
use warpmem::record::{RunKey, run_row_json};
use warpmem_testing::is_sampled;
use warpmem_trace::{Kind, Trace};

/// Keeps every row of the requested recordings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Everything {
    wanted: Wanted,
    pub loads: Vec<LoadRow>,
    pub requests: Vec<RequestRow>,
    pub intervals: Vec<IntervalRow>,
    pub warps: Vec<WarpRow>,
}

impl Everything {
    pub fn with(interval: u64, sample: RequestSample) -> Everything {
        let intervals = NonZeroU64::new(interval);
        let wanted = Wanted { intervals, requests: Some(sample), warps: true };
        Everything { wanted, ..Everything::default() }
    }

    /// Records all requests, and intervals of this length.
    pub fn of(interval: u64) -> Everything {
        Everything::with(interval, RequestSample::ALL)
    }

    /// Records as [`Everything::of`] does, without requests.
    pub fn but_requests(interval: u64) -> Everything {
        let all = Everything::of(interval);
        Everything { wanted: Wanted { requests: None, ..all.wanted }, ..all }
    }

    /// Excludes counts that accrue when a stall ends, however often it is sampled: cycles in which
    /// a cache retries an access.
    pub fn without_retries(mut self) -> Everything {
        for row in &mut self.intervals {
            row.counts = without_retries(row.counts.clone());
        }
        self
    }

    /// Fails unless everything adds up to the result of the run.
    #[track_caller]
    pub fn check(&self, result: &RunResult, kernels: &[Kernel]) {
        self.check_intervals(result);
        self.check_requests(result);
        self.check_warps(result, kernels);
        check_kernels(result);
        assert_eq!(self.loads.len() as u64, result.loads.loads);
    }

    #[track_caller]
    fn check_intervals(&self, result: &RunResult) {
        let sum: IntervalCounts = self.intervals.iter().map(|row| &row.counts).sum();
        assert_eq!(sum, IntervalCounts::of(result));
        let mut next = 1;
        for row in &self.intervals {
            assert_eq!(row.start_cycle, next);
            next += row.cycles;
        }
        assert_eq!(next - 1, result.core_cycles);
        let length = self.wanted.intervals.unwrap().get();
        let (last, others) = self.intervals.split_last().unwrap();
        assert!(others.iter().all(|row| row.cycles == length) && last.cycles <= length);
        let sms = result.sms.len() as u64;
        for IntervalRow { cycles, counts, .. } in &self.intervals {
            let sm = &counts.sms;
            let accounted = sm.active_cycles
                + sm.no_warp_cycles
                + sm.memory_block_cycles
                + sm.dependency_stall_cycles
                + sm.structural_stall_cycles
                + sm.barrier_cycles;
            assert_eq!(accounted, cycles * sms, "each cycle in the interval that has it");
        }
    }

    #[track_caller]
    fn check_requests(&self, result: &RunResult) {
        let mut stages = [0; Stage::COUNT];
        let reads = || self.requests.iter().filter(|row| row.kind == AccessKind::Read);
        for row in reads() {
            for (stage, ticks) in stages_of(row) {
                stages[stage as usize] += u128::from(ticks);
            }
        }
        assert_eq!(stages, result.latency.stage_ticks);
        assert_eq!(reads().count() as u64, result.latency.total.count());
        let latency = |row: &RequestRow| (row.returned - row.created) / row.ticks_per_core_cycle;
        let latencies: u64 = reads().map(latency).sum();
        assert_eq!(u128::from(latencies), result.latency.total.sum());
    }

    #[track_caller]
    fn check_warps(&self, result: &RunResult, kernels: &[Kernel]) {
        // Of a kernel that ends early, only the first CTAs have started.
        let started = kernels.iter().zip(&result.kernels);
        let started = started.flat_map(|(k, result)| &k.ctas[..result.ctas as usize]);
        let warps: usize = started.map(Vec::len).sum();
        assert_eq!(self.warps.len(), warps);
        for warp in &self.warps {
            let kernel = &result.kernels[warp.kernel as usize];
            assert!(kernel.start_cycle <= warp.launch_cycle, "{warp:?} in {kernel:?}");
            assert!(warp.launch_cycle <= warp.end_cycle && warp.end_cycle < kernel.end_cycle);
        }
        for load in &self.loads {
            let of_load = |warp: &&WarpRow| {
                (warp.kernel, warp.cta, warp.warp_in_cta)
                    == (load.kernel, load.cta, load.warp_in_cta)
            };
            let warp = self.warps.iter().find(of_load).unwrap();
            assert_eq!((load.sm, load.warp_slot), (warp.sm, warp.warp_slot));
            assert!(warp.launch_cycle <= load.issue_cycle);
            assert!(load.issue_cycle + load.load_time <= warp.end_cycle);
        }
    }
}

impl RunSink for Everything {
    fn wanted(&self) -> Wanted {
        self.wanted
    }

    fn load(&mut self, row: &LoadRow) {
        self.loads.push(*row);
    }

    fn request(&mut self, row: &RequestRow) {
        self.requests.push(*row);
    }

    fn interval(&mut self, row: &IntervalRow) {
        self.intervals.push(row.clone());
    }

    fn warp(&mut self, row: &WarpRow) {
        self.warps.push(*row);
    }
}

/// Fails unless the counts of kernels that ran alone are their own, and add up to the run's if all
/// did.
#[track_caller]
pub fn check_kernels(result: &RunResult) {
    let alone = result.kernels.iter().filter_map(|kernel| Some((kernel, kernel.counts.as_ref()?)));
    for (kernel, counts) in alone.clone() {
        let counted =
            (counts.sms.ctas, counts.sms.warp_instructions, counts.sms.thread_instructions);
        let own = (kernel.ctas, kernel.warp_instructions, kernel.thread_instructions);
        assert_eq!(counted, own, "{}", kernel.name);
    }
    if alone.clone().count() < result.kernels.len() {
        return;
    }
    let sum: IntervalCounts = alone.map(|(_, counts)| counts).sum();
    assert_eq!(sum, without_retries(IntervalCounts::of(result)));
}

fn without_retries(mut counts: IntervalCounts) -> IntervalCounts {
    counts.forget_retries();
    counts
}

/// Returns the stages of a request's path, as defined by the metrics. Panics if its times are out
/// of order.
fn stages_of(row: &RequestRow) -> Vec<(Stage, u64)> {
    let mut boundaries = vec![
        (Stage::L1, row.l1_missed),
        (Stage::RequestNetwork, row.l2_arrived),
        (Stage::L2Queue, row.l2_served),
    ];
    if let Some(dram) = row.dram {
        boundaries.extend([
            (Stage::L2ToDram, dram.entered),
            (Stage::DramQueue, dram.started),
            (Stage::DramService, dram.finished),
        ]);
    }
    boundaries.extend([(Stage::L2, row.replied), (Stage::ReplyNetwork, row.returned)]);
    let mut from = row.created;
    let stage = |(stage, to): (Stage, u64)| {
        assert!(from <= to, "{stage:?} of {row:?}");
        (stage, to - std::mem::replace(&mut from, to))
    };
    boundaries.into_iter().map(stage).collect()
}

fn run(machine: &Machine, trace: &Trace, sink: &mut dyn RunSink) -> RunResult {
    Simulation::new(machine, trace).run(sink).unwrap()
}

/// Returns `dram_bandwidth` of a run relative to the peak of the data buses.
pub fn bandwidth_over_peak(machine: &Machine, result: &RunResult) -> f64 {
    let key = RunKey::new("trace", 0, machine.clone(), "");
    let gigabytes = run_row_json(&key, result)["dram_bandwidth"].as_f64().unwrap();
    gigabytes * 1e9 / machine.peak_bytes_per_second() as f64
}

#[test]
fn recording_changes_nothing_and_sums_to_totals() {
    let kernels = [mixed(4, 8, 1 << 20), mixed(2, 4, 1 << 16)];
    let file = write(&kernels);
    let intervals = [1, 97, 1000, u64::MAX];
    for (row, preset) in warpmem::machine::preset_names().enumerate() {
        let machine = machine(preset, &[]);
        let plain = run(&machine, &file.trace, &mut Discard);
        for (_, interval) in
            intervals.into_iter().enumerate().filter(|(column, _)| is_sampled(row, *column, 4))
        {
            let mut everything = Everything::of(interval);
            let result = run(&machine, &file.trace, &mut everything);
            assert_eq!(result.fingerprint(), plain.fingerprint(), "{preset}");
            everything.check(&result, &kernels);
            assert!(result.kernels.iter().all(|kernel| kernel.counts.is_some()), "{preset}");
        }
    }
}

#[test]
fn recorded_bandwidth_never_exceeds_the_peak() {
    let mut kernel = loads([32, 8, 4], |warp, step, lane| (4 * warp + step) * 128 + 4 * lane);
    for step in kernel.ctas.iter_mut().flatten().flatten() {
        let Step::Memory(access) = step else { continue };
        access.kind = Kind::Store;
    }
    let file = write(&[kernel]);
    let overrides = [
        "dram.write_queue=2048",
        "dram.write_high_watermark=2048",
        "dram.write_low_watermark=0",
        "l2.cache.write=write-through",
    ];
    let machine = machine("li2015", &overrides);
    let mut everything = Everything::of(100);
    let result = run(&machine, &file.trace, &mut everything);
    let core_time = result.core_cycles as f64 / f64::from(machine.clocks.core_mhz);
    let dram_time = result.channels[0].cycles as f64 / f64::from(machine.clocks.dram_mhz);
    let share = bandwidth_over_peak(&machine, &result);
    assert!(share <= 1.0, "{share} of the peak");
    assert!(
        share * dram_time > core_time,
        "{share} in {dram_time} us: too little for {core_time} us"
    );
    let bytes_per_cycle = u64::from(machine.dram.bytes_per_cycle());
    for IntervalRow { start_cycle, counts, .. } in &everything.intervals {
        let columns = counts.banks.reads + counts.banks.writes;
        let most = counts.channels.cycles * bytes_per_cycle;
        // A column command in the last cycle transfers its data later.
        let slack = u64::from(machine.dram.channels * machine.dram.burst_bytes());
        let bytes = columns * u64::from(machine.dram.burst_bytes());
        assert!(bytes <= most + slack, "{bytes} and {most} bytes from cycle {start_cycle} on");
    }
}

#[test]
fn a_sample_of_the_requests_is_part_of_all() {
    let file = write(&[mixed(4, 8, 1 << 20)]);
    let machine = machine("li2015", &[]);
    let requests = |sample: &str| {
        let mut everything = Everything::with(1000, sample.parse().unwrap());
        run(&machine, &file.trace, &mut everything);
        everything.requests
    };
    let (all, quarter) = (requests("all"), requests("1/4"));
    let expected = all.len() as f64 / 4.0;
    // Four standard deviations of a binomial distribution.
    let slack = 4.0 * (expected * 0.75).sqrt();
    assert!((quarter.len() as f64 - expected).abs() < slack, "{} of {}", quarter.len(), all.len());
    let mut rest = all.iter();
    assert!(quarter.iter().all(|row| rest.any(|other| other == row)), "in the same order");
    assert_eq!(quarter, requests("1/4"), "the same again");
}

#[test]
fn interval_boundary_precedes_events_of_its_cycle() {
    // Ten dependent instructions of one warp: the first issues in cycle 1 + the fetch latency.
    let compute = Step::Compute { class: warpmem_trace::OpClass::Integer, dest: 1, source: 1 };
    let warp = [vec![compute; 10], vec![Step::Exit]].concat();
    let kernels = [Kernel { ctas: vec![vec![warp]], ..Kernel::default() }];
    let file = write(&kernels);
    let machine = machine("li2015", &[]);
    let mut each_cycle = Everything::of(1);
    let result = run(&machine, &file.trace, &mut each_cycle);
    let issues = |row: &IntervalRow| row.counts.sms.warp_instructions;
    assert!(each_cycle.intervals.iter().all(|row| issues(row) <= 1), "one warp, one a cycle");
    let mut in_sevens = Everything::of(7);
    run(&machine, &file.trace, &mut in_sevens);
    for (seven, cycles) in in_sevens.intervals.iter().zip(each_cycle.intervals.chunks(7)) {
        assert_eq!(seven.counts, cycles.iter().map(|row| &row.counts).sum());
        assert_eq!(seven.resident_warps, cycles.last().unwrap().resident_warps);
    }
    each_cycle.check(&result, &kernels);
}

#[test]
fn units_count_for_a_kernel_only_if_it_runs_alone() {
    let machine = machine("li2015", &["run.concurrent_kernels=true"]);
    let counted = |streams: [u64; 3]| {
        let kernels = streams.map(|stream| Kernel { stream, ..mixed(4, 8, 1 << 18) });
        let result = run(&machine, &write(&kernels).trace, &mut Discard);
        check_kernels(&result);
        result.kernels.iter().map(|kernel| kernel.counts.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(counted([0, 0, 0]), [true; 3], "one after the other");
    assert_eq!(counted([0, 1, 1]), [false, false, true], "the third begins when both have ended");
    assert_eq!(counted([0, 1, 2]), [false; 3]);
}
