//! Parameters of an SM's pipeline, resolved once from the machine.

use super::code::{CLASSES, CONTROL, Class, FP64, INTEGER, Op, SFU, SYNC, Static};
use warpmem_machine::{Fp64Unit, Machine, Sm as Config, Stall, SyncUnit, Unit};
use warpmem_trace::{Kind, Space};

/// Units, latencies and stall rules of an SM. Latencies and intervals are in core cycles.
pub(super) struct Pipeline {
    /// Units by class.
    units: [Unit; CLASSES],
    /// The class whose unit executes each class.
    ports: [Class; CLASSES],
    /// Cycles between two issues of a scheduler.
    pub issue_interval: u64,
    pub operand_latency: u64,
    pub writeback_latency: u64,
    /// Async copies with the global cache operator bypass L1.
    async_bypass: bool,
    /// A warp stalls at a load until its data return.
    pub stalls_on_loads: bool,
    /// A warp stalls at an atomic until it completes.
    pub atomics_stall: bool,
    /// A warp ends without the acknowledgements of its stores.
    stores_outlive_warps: bool,
}

impl Pipeline {
    pub fn new(machine: &Machine) -> Pipeline {
        let config = &machine.sm;
        Pipeline {
            units: unit_table(config),
            ports: port_table(config),
            issue_interval: u64::from(config.issue_interval),
            operand_latency: u64::from(config.operand_latency),
            writeback_latency: u64::from(config.writeback_latency),
            async_bypass: machine.l1.async_bypass,
            stores_outlive_warps: config.stores_outlive_warps,
            stalls_on_loads: config.stall == Stall::Load,
            atomics_stall: config.atomics_stall,
        }
    }

    #[inline]
    pub fn unit(&self, class: Class) -> Unit {
        self.units[class.index()]
    }

    /// Returns the class whose unit executes instructions of `class`.
    #[inline]
    pub fn port(&self, class: Class) -> Class {
        self.ports[class.index()]
    }

    /// Whether an instruction reads through L1.
    #[inline]
    pub fn reads_l1(&self, op: Op) -> bool {
        op.reads_l1 || op.bypassing_copy && !self.async_bypass
    }

    /// Whether a warp may end before the instruction completes: a store or reduction to memory, whose
    /// acknowledgement only fences await.
    pub fn outlives_warp(&self, instruction: &Static) -> bool {
        self.stores_outlive_warps
            && matches!(instruction.kind, Kind::Store | Kind::Reduction)
            && matches!(instruction.space, Space::Global | Space::Local)
    }
}

/// Returns the units by class. The load/store unit takes an instruction per cycle while its queue
/// has room.
fn unit_table(config: &Config) -> [Unit; CLASSES] {
    let units = &config.units;
    let cycle = Unit { latency: 1, interval: 1 };
    [
        units.integer,
        units.fp32,
        units.fp64,
        units.sfu,
        units.tensor,
        units.control,
        units.uniform,
        units.other,
        units.fp16,
        cycle,
        if config.sync_unit == SyncUnit::Integer { cycle } else { units.control },
    ]
}

/// Returns, by class, the class whose unit executes it.
fn port_table(config: &Config) -> [Class; CLASSES] {
    let mut ports = std::array::from_fn(Class::new);
    ports[SYNC.index()] = if config.sync_unit == SyncUnit::Integer { INTEGER } else { CONTROL };
    if config.fp64_unit == Fp64Unit::Sfu {
        ports[FP64.index()] = SFU;
    }
    ports
}
