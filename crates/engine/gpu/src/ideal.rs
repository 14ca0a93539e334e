//! Ideal modes: machines with one component made perfect, for limit studies.

use warpmem_machine::Machine;
use warpmem_params::{Entry, PolicyInfo, Registry};

/// The ideal component of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ideal {
    /// None.
    None,
    /// Every access hits in L1.
    PerfectL1,
    /// Every request hits in the L2.
    PerfectL2,
    /// DRAM completes requests on arrival.
    PerfectDram,
    /// Packets never contend.
    InfiniteBandwidthNoc,
}

/// Every ideal mode.
pub static IDEALS: Registry<Ideal, Machine> = Registry::new(
    "ideal",
    &[
        IdealEntry { info: NONE, build: |_, _| Ok(Box::new(Ideal::None)) },
        IdealEntry { info: PERFECT_L1, build: |_, _| Ok(Box::new(Ideal::PerfectL1)) },
        IdealEntry { info: PERFECT_L2, build: |_, _| Ok(Box::new(Ideal::PerfectL2)) },
        IdealEntry { info: PERFECT_DRAM, build: |_, _| Ok(Box::new(Ideal::PerfectDram)) },
        IdealEntry {
            info: INFINITE_BANDWIDTH_NOC,
            build: |_, _| Ok(Box::new(Ideal::InfiniteBandwidthNoc)),
        },
    ],
);

type IdealEntry = Entry<Ideal, Machine>;

const NONE: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "the machine as configured",
    source: "baseline",
    params: Vec::new,
};

const PERFECT_L1: PolicyInfo = PolicyInfo {
    name: "perfect-l1",
    summary: "every access of an SM to global or local memory hits in L1",
    source: "Jog et al., ASPLOS 2013 (PMEM)",
    params: Vec::new,
};

const PERFECT_L2: PolicyInfo = PolicyInfo {
    name: "perfect-l2",
    summary: "every request that reaches an L2 slice hits there",
    source: "Jog et al., ASPLOS 2013 (Perfect-L2)",
    params: Vec::new,
};

const PERFECT_DRAM: PolicyInfo = PolicyInfo {
    name: "perfect-dram",
    summary: "a request that arrives at DRAM is complete at once",
    source: "Li 2015, Chapter 5",
    params: Vec::new,
};

const INFINITE_BANDWIDTH_NOC: PolicyInfo = PolicyInfo {
    name: "infinite-bandwidth-noc",
    summary: "a packet takes the latency of its routers and links, whatever its size and the other traffic",
    source: "limit study",
    params: Vec::new,
};
