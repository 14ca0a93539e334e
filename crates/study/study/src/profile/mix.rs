//! Instruction mix of a trace, by class and by kind and space of memory, computed from the index
//! without reading records.

use serde::Serialize;
use warpmem_record::metrics::quotient;
use warpmem_trace::{Kernel, Kind, OpClass, Space};

/// Instruction mix of some kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mix {
    pub warp_instructions: u64,
    /// Mean number of active lanes, over all instructions except class `control`; divided by 32 it
    /// is the SIMT efficiency. In generated traces the lanes of a branch are those that take it,
    /// possibly none.
    pub mean_lanes: Option<f64>,
    /// Kinds that occur, in order of decreasing frequency.
    pub kinds: Vec<InstructionKind>,
}

/// Instructions of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstructionKind {
    /// Compute class, or memory operation and space: `fp32`, `load global`.
    pub name: String,
    pub is_memory: bool,
    pub warp_instructions: u64,
    /// Share of all warp instructions.
    pub share: f64,
    /// Mean number of active lanes; for class `control` in generated traces, the lanes that branch.
    pub mean_lanes: Option<f64>,
}

/// Sums for a [`Mix`].
#[derive(Clone, Debug, Default)]
pub(super) struct MixTally {
    warp_instructions: u64,
    thread_instructions: u64,
    compute: [u64; OpClass::COUNT],
    /// Active lanes summed over compute instructions, by class; the index does not contain them.
    pub compute_lanes: [u64; OpClass::COUNT],
    records: Vec<((Kind, Space), u64, u64)>,
}

impl MixTally {
    /// Adds a launch.
    pub fn add(&mut self, kernel: &Kernel) {
        self.warp_instructions += kernel.warp_instructions;
        self.thread_instructions += kernel.thread_instructions;
        add(&mut self.compute, &kernel.compute_by_class);
        for count in kernel.records_by_kind.iter().filter(|count| count.kind != Kind::End) {
            self.add_records((count.kind, count.space), count.records, count.lanes);
        }
    }

    pub fn merge(&mut self, other: &MixTally) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        add(&mut self.compute, &other.compute);
        add(&mut self.compute_lanes, &other.compute_lanes);
        for &(what, records, lanes) in &other.records {
            self.add_records(what, records, lanes);
        }
    }

    fn add_records(&mut self, what: (Kind, Space), records: u64, lanes: u64) {
        match self.records.iter_mut().find(|known| known.0 == what) {
            Some(known) => (known.1, known.2) = (known.1 + records, known.2 + lanes),
            None => self.records.push((what, records, lanes)),
        }
    }

    pub fn figures(&self) -> Mix {
        let share = |count: u64| quotient(count, self.warp_instructions).unwrap_or(0.0);
        let compute = OpClass::ALL.into_iter().zip(self.compute).zip(self.compute_lanes);
        let compute = compute.map(|((class, count), lanes)| InstructionKind {
            name: class.name().to_owned(),
            is_memory: false,
            warp_instructions: count,
            share: share(count),
            mean_lanes: quotient(lanes, count),
        });
        let records = self.records.iter().map(|&((kind, space), count, lanes)| InstructionKind {
            name: name(kind, space),
            is_memory: kind.is_memory(),
            warp_instructions: count,
            share: share(count),
            mean_lanes: quotient(lanes, count),
        });
        let mut kinds: Vec<InstructionKind> =
            compute.chain(records).filter(|kind| kind.warp_instructions > 0).collect();
        kinds.sort_by(|a, b| {
            b.warp_instructions.cmp(&a.warp_instructions).then_with(|| a.name.cmp(&b.name))
        });
        Mix { warp_instructions: self.warp_instructions, mean_lanes: self.mean_lanes(), kinds }
    }

    fn mean_lanes(&self) -> Option<f64> {
        let control = OpClass::Control as usize;
        let lanes = self.thread_instructions.saturating_sub(self.compute_lanes[control]);
        quotient(lanes, self.warp_instructions.saturating_sub(self.compute[control]))
    }
}

fn add<const N: usize>(mine: &mut [u64; N], theirs: &[u64; N]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

fn name(kind: Kind, space: Space) -> String {
    let kind = match kind {
        Kind::AsyncCopy => "async copy".to_owned(),
        Kind::BarrierArrive => "barrier arrive".to_owned(),
        Kind::ClusterArrive => "cluster arrive".to_owned(),
        Kind::ClusterWait => "cluster wait".to_owned(),
        kind => format!("{kind:?}").to_lowercase(),
    };
    match space {
        Space::None => kind,
        space => format!("{kind} {space:?}").to_lowercase(),
    }
}
