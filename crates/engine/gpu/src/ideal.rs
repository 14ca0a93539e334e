//! Ideal modes: machines with one part made perfect, to find limits.

use warpmem_machine::Machine;
use warpmem_params::{Entry, Params, PolicyError, PolicyInfo, Registry};

/// The part of a machine that is ideal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ideal {
    /// Nothing is.
    None,
    /// Every access hits in L1.
    PerfectL1,
    /// Every request hits in the L2.
    PerfectL2,
    /// DRAM answers at once.
    PerfectDram,
    /// No packet waits for another.
    InfiniteBandwidthNoc,
}

/// Every ideal mode.
pub static IDEALS: Registry<Ideal, Machine> = Registry {
    slot: "ideal",
    entries: &[
        IdealEntry { info: NONE, build: |_, params| ideal(Ideal::None, &NONE, params) },
        IdealEntry {
            info: PERFECT_L1,
            build: |_, params| ideal(Ideal::PerfectL1, &PERFECT_L1, params),
        },
        IdealEntry {
            info: PERFECT_L2,
            build: |_, params| ideal(Ideal::PerfectL2, &PERFECT_L2, params),
        },
        IdealEntry {
            info: PERFECT_DRAM,
            build: |_, params| ideal(Ideal::PerfectDram, &PERFECT_DRAM, params),
        },
        IdealEntry {
            info: INFINITE_BANDWIDTH_NOC,
            build: |_, params| ideal(Ideal::InfiniteBandwidthNoc, &INFINITE_BANDWIDTH_NOC, params),
        },
    ],
};

type IdealEntry = Entry<Ideal, Machine>;

fn ideal(mode: Ideal, info: &PolicyInfo, params: Params) -> Result<Box<Ideal>, PolicyError> {
    params.none(info).map(|()| Box::new(mode))
}

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
