//! Figures that determine the classes.

use super::{Criteria, OffChip, Sensitivity, Translation, Type};
use serde_json::{Map, Value};
use warpmem_dram::ChannelResult;
use warpmem_gpu::results::RunResult;
use warpmem_machine::Machine;
use warpmem_record::metrics::quotient;
use warpmem_record::{RunKey, run_row_json};

/// Lanes of a warp.
const LANES: f64 = 32.0;

/// An idealization of the machine, for classifying a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ideal {
    Dram,
    L1,
    L2,
}

impl Ideal {
    pub const ALL: [Ideal; 3] = [Ideal::Dram, Ideal::L1, Ideal::L2];

    /// Returns the policy of the slot `ideal`.
    pub fn policy(self) -> &'static str {
        ["perfect-dram", "perfect-l1", "perfect-l2"][self as usize]
    }
}

/// Runs of a trace.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Run on the configured machine; with `run.count_row_sharing`, including CTAs per row.
    pub plain: RunResult,
    /// Runs on the ideal machines, by [`Ideal`].
    pub ideal: [RunResult; Ideal::ALL.len()],
}

/// A trace with its figures and classes.
pub struct Classified {
    pub key: RunKey,
    /// Core cycles on the configured machine, and by [`Ideal`].
    pub cycles: u64,
    pub ideal_cycles: [u64; Ideal::ALL.len()],
    /// Peak IPC: the most thread instructions that can issue per core cycle.
    pub peak_ipc: f64,
    /// Mean over the channels that received requests.
    pub dram_efficiency: Option<f64>,
    /// Mean number of distinct 4 KiB pages per global or local memory instruction of the trace.
    pub small_pages_per_instruction: Option<f64>,
    /// Metrics of the run on the configured machine.
    row: Map<String, Value>,
}

impl Classified {
    /// Classifies a trace by its runs and its 4 KiB pages per instruction; `key` is that of the run
    /// on the configured machine.
    pub fn new(key: RunKey, runs: &Runs, small_pages: Option<f64>) -> Classified {
        Classified {
            cycles: runs.plain.core_cycles,
            ideal_cycles: runs.ideal.each_ref().map(|run| run.core_cycles),
            peak_ipc: peak_ipc(&key.machine),
            dram_efficiency: mean_efficiency(&runs.plain.channels),
            small_pages_per_instruction: small_pages,
            row: run_row_json(&key, &runs.plain),
            key,
        }
    }

    /// Returns a metric of the run on the configured machine, by column name; none if it has no
    /// value.
    pub fn metric(&self, column: &str) -> Option<f64> {
        self.row.get(column).and_then(Value::as_f64)
    }

    /// Returns the speedup of the ideal machine; none for a trace without instructions.
    pub fn speedup(&self, ideal: Ideal) -> Option<f64> {
        quotient(self.cycles, self.ideal_cycles[ideal as usize])
    }

    /// Returns thread instructions per core cycle, relative to the peak.
    pub fn ipc_over_peak(&self) -> f64 {
        self.metric("ipc_thread").unwrap_or(0.0) / self.peak_ipc
    }

    pub fn li2015(&self) -> Option<Sensitivity> {
        Some(Sensitivity::of(self.speedup(Ideal::Dram)?, self.metric("inter_core_locality")))
    }

    pub fn owl2013(&self) -> Option<Type> {
        self.speedup(Ideal::L1).map(Type::of)
    }

    pub fn warpedmc2023(&self) -> Option<OffChip> {
        self.metric("offchip_per_load").map(OffChip::of)
    }

    pub fn translation(&self) -> Option<Translation> {
        self.small_pages_per_instruction.map(Translation::of)
    }

    pub fn yuan2009(&self) -> Criteria {
        let utilization = self.metric("bandwidth_utilization");
        Criteria::of(self.ipc_over_peak(), utilization, self.dram_efficiency)
    }
}

/// Returns the IPC if every scheduler of every SM issues in every cycle it can.
pub fn peak_ipc(machine: &Machine) -> f64 {
    let sm = &machine.sm;
    f64::from(sm.count) * f64::from(sm.schedulers) * LANES / f64::from(sm.issue_interval)
}

/// Averages the DRAM efficiency over controllers, as Yuan does; the run's own `dram_efficiency` is
/// a ratio of sums.
fn mean_efficiency(channels: &[ChannelResult]) -> Option<f64> {
    let each = channels.iter().filter_map(ChannelResult::dram_efficiency);
    let (count, sum) = each.fold((0, 0.0), |(count, sum), share| (count + 1, sum + share));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_gpu::results::{LoadResult, SmResult};
    use warpmem_machine::load;
    use warpmem_sim::Histogram;

    fn machine(name: &str) -> Machine {
        load(name, &[]).unwrap()
    }

    #[test]
    fn the_peak_is_what_all_schedulers_issue() {
        // Yuan 2009: 224 ALUs. OWL: 28 SMs of 8 lanes. Li: 15 SMs with two schedulers.
        let peaks = ["yuan2009", "owl2013", "li2015"].map(|name| peak_ipc(&machine(name)));
        assert_eq!(peaks, [224.0, 224.0, 960.0]);
    }

    fn channel(busy: u64, pending: u64) -> ChannelResult {
        ChannelResult {
            cycles: 1000,
            data_bus_busy_cycles: busy,
            pending_cycles: pending,
            ..ChannelResult::default()
        }
    }

    #[test]
    fn efficiency_is_a_mean_over_channels() {
        let channels = [channel(90, 100), channel(400, 800), channel(0, 0)];
        assert_eq!(mean_efficiency(&channels), Some(0.7));
        assert_eq!(mean_efficiency(&channels[2..]), None);
    }

    /// Classifies a run on li2015 with a speedup of two with perfect DRAM and of five with a
    /// perfect L1, whose hundred loads send `requests` requests off chip and touch nine pages each.
    fn classified(requests: u64) -> Classified {
        let mut offchip_requests = Histogram::default();
        let of_load = |load| requests / 100 + u64::from(load < requests % 100);
        (0..100).for_each(|load| offchip_requests.record(of_load(load)));
        let run = |core_cycles| RunResult { core_cycles, ..RunResult::default() };
        let plain = RunResult {
            sms: vec![SmResult { thread_instructions: 480_000, ..SmResult::default() }],
            channels: vec![channel(300, 500), channel(200, 1000)],
            loads: LoadResult { loads: 100, offchip_requests, ..LoadResult::default() },
            ..run(1000)
        };
        let runs = Runs { plain, ideal: [run(500), run(200), run(800)] };
        Classified::new(RunKey::new("t", 0, machine("li2015"), ""), &runs, Some(9.0))
    }

    #[test]
    fn figures_are_those_of_the_runs() {
        let trace = classified(900);
        assert_eq!(
            Ideal::ALL.map(|ideal| trace.speedup(ideal)),
            [Some(2.0), Some(5.0), Some(1.25)]
        );
        assert_eq!((trace.ipc_over_peak(), trace.peak_ipc), (0.5, 960.0));
        assert_eq!(trace.metric("bandwidth_utilization"), Some(0.25));
        assert_eq!(trace.dram_efficiency, Some(0.4));
        assert_eq!(trace.metric("no_such_metric"), None);
    }

    #[test]
    fn classes_follow_the_figures() {
        assert_eq!(classified(900).owl2013(), Some(Type::One));
        assert_eq!(classified(900).warpedmc2023(), Some(OffChip::High));
        assert_eq!(classified(50).warpedmc2023(), Some(OffChip::Low));
        assert_eq!(classified(50).translation(), Some(Translation::High));
        assert!(classified(900).yuan2009().is_memory_bound());
        let nothing = Runs { plain: RunResult::default(), ideal: Default::default() };
        let key = RunKey::new("t", 0, machine("li2015"), "");
        let nothing = Classified::new(key, &nothing, None);
        assert_eq!(
            (nothing.li2015(), nothing.owl2013(), nothing.warpedmc2023()),
            (None, None, None)
        );
        assert_eq!(nothing.translation(), None);
        assert!(!nothing.yuan2009().is_memory_bound());
    }

    #[test]
    fn modes_are_policies_of_their_slot() {
        for ideal in Ideal::ALL {
            assert!(warpmem_gpu::ideal::IDEALS.find(ideal.policy()).is_ok(), "{}", ideal.policy());
        }
    }
}
