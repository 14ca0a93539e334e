//! Dependences between loads: the distance to the first use of a result, and chains of loads that
//! each wait for the previous one.
//!
//! A trace records the first use of each load, the dependences among compute instructions, and for
//! a memory instruction the load that produces its address directly. Chains are followed through
//! all of these, hence also through index arithmetic. A second use of a loaded value is unknown
//! unless it is an address, and a link through it is missed. Overwriting a result is a use, because
//! it waits for the result.

use serde::Serialize;
use warpmem_record::metrics::quotient;
use warpmem_trace::{Instruction, Kind, MAX_DEPENDENCE, Space};

/// Number of tracked compute results; dependences reach no further back.
const RESULTS: usize = MAX_DEPENDENCE as usize;
/// Largest distance to a first use that chains follow.
const USES: usize = 256;
/// Maximum distance of `address_from`, records.
const RECORDS: usize = 64;

/// Dependences of the loads of some warps: loads of global, local and texture memory, including
/// atomics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dependences {
    pub loads: u64,
    /// Mean number of warp instructions between a load and the first that reads or overwrites its
    /// result, over loads with a use.
    pub mean_use_distance: Option<f64>,
    /// Fraction of loads whose result is never used.
    pub unused_share: Option<f64>,
    /// Fraction of loads whose address is the result of an earlier load, without arithmetic.
    pub direct_share: Option<f64>,
    /// Fraction of loads that need the result of an earlier load, directly or through arithmetic.
    pub dependent_share: Option<f64>,
    /// Mean length of the chain that ends in a load, including the load itself.
    pub mean_chain: Option<f64>,
    /// Loads in the longest chain.
    pub longest_chain: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct DependenceTally {
    loads: u64,
    used: u64,
    use_distances: u64,
    direct: u64,
    dependent: u64,
    chains: u64,
    longest: u32,
}

impl DependenceTally {
    pub fn merge(&mut self, other: &DependenceTally) {
        self.loads += other.loads;
        self.used += other.used;
        self.use_distances += other.use_distances;
        self.direct += other.direct;
        self.dependent += other.dependent;
        self.chains += other.chains;
        self.longest = self.longest.max(other.longest);
    }

    pub fn figures(&self) -> Dependences {
        Dependences {
            loads: self.loads,
            mean_use_distance: quotient(self.use_distances, self.used),
            unused_share: quotient(self.loads - self.used, self.loads),
            direct_share: quotient(self.direct, self.loads),
            dependent_share: quotient(self.dependent, self.loads),
            mean_chain: quotient(self.chains, self.loads),
            longest_chain: self.longest,
        }
    }
}

/// Instructions of a kernel for chain tracking: flat, with dependences as bit sets.
pub(super) struct Code {
    statics: Vec<Static>,
    /// Dependences of each compute instruction: bit d - 1 is set for distance d.
    needs: Vec<u64>,
}

struct Static {
    /// Range of its compute instructions in `needs`.
    compute: std::ops::Range<u32>,
    needs: u64,
    is_load: bool,
    /// Whether it counts as an instruction: all kinds except [`Kind::End`].
    is_issued: bool,
    use_distance: Option<u32>,
    address_from: Option<u32>,
}

impl Code {
    pub fn new(instructions: &[Instruction]) -> Code {
        let set = |deps: &[u8]| deps.iter().fold(0, |set, &dep| set | 1u64 << ((dep - 1) % 64));
        let mut code = Code { statics: Vec::new(), needs: Vec::new() };
        for instruction in instructions {
            let first = code.needs.len() as u32;
            code.needs.extend(instruction.compute.iter().map(|compute| set(&compute.deps)));
            code.statics.push(Static {
                compute: first..code.needs.len() as u32,
                needs: set(&instruction.deps),
                is_load: is_load(instruction),
                is_issued: instruction.kind != Kind::End,
                use_distance: instruction.use_distance,
                address_from: instruction.address_from,
            });
        }
        code
    }
}

/// Returns whether an instruction reads data from memory outside the SM.
fn is_load(instruction: &Instruction) -> bool {
    let reads = matches!(instruction.kind, Kind::Load | Kind::Atomic | Kind::AsyncCopy);
    reads && matches!(instruction.space, Space::Global | Space::Local | Space::Texture)
}

/// Chains of one warp, by the latest instructions that carry them.
pub(super) struct Chains {
    /// Number of instructions so far.
    position: usize,
    records: usize,
    /// Length of the longest chain behind the result of each recent instruction.
    results: [u32; RESULTS],
    /// Length of the longest chain behind each pending first use.
    uses: [u32; USES],
    /// Length of the longest chain behind each recent record.
    loaded: [u32; RECORDS],
}

impl Chains {
    pub fn new() -> Chains {
        let (results, uses, loaded) = ([0; RESULTS], [0; USES], [0; RECORDS]);
        Chains { position: 0, records: 0, results, uses, loaded }
    }

    /// Processes a record of the warp.
    pub fn record(&mut self, code: &Code, id: u32, tally: &mut DependenceTally) {
        let instruction = &code.statics[id as usize];
        let compute = instruction.compute.start as usize..instruction.compute.end as usize;
        for &needs in &code.needs[compute] {
            let result = self.inputs(needs);
            self.issue(result);
        }
        if !instruction.is_issued {
            return;
        }
        let from = instruction.address_from.map_or(0, |back| self.loaded_by(back));
        let needed = self.inputs(instruction.needs).max(from);
        let result = needed + u32::from(instruction.is_load);
        // Dependents of a load are recorded as its uses, not as dependences of compute.
        self.issue(0);
        self.loaded[self.records % RECORDS] = result;
        self.records += 1;
        if let Some(distance) =
            instruction.use_distance.filter(|&distance| (distance as usize) < USES - 1)
        {
            let user = &mut self.uses[(self.position + distance as usize) % USES];
            *user = result.max(*user);
        }
        if instruction.is_load {
            tally.loads += 1;
            tally.used += u64::from(instruction.use_distance.is_some());
            tally.use_distances += u64::from(instruction.use_distance.unwrap_or(0));
            tally.direct += u64::from(instruction.address_from.is_some());
            tally.dependent += u64::from(result > 1);
            tally.chains += u64::from(result);
            tally.longest = tally.longest.max(result);
        }
    }

    /// Returns the length of the longest chain among the inputs of the next instruction.
    fn inputs(&self, mut needs: u64) -> u32 {
        let mut longest = self.uses[self.position % USES];
        while needs != 0 {
            let distance = needs.trailing_zeros() as usize + 1;
            longest = longest.max(self.results[self.position.wrapping_sub(distance) % RESULTS]);
            needs &= needs - 1;
        }
        longest
    }

    fn issue(&mut self, result: u32) {
        self.uses[self.position % USES] = 0;
        self.results[self.position % RESULTS] = result;
        self.position += 1;
    }

    /// Returns the chain length of the record `back` records ago.
    fn loaded_by(&self, back: u32) -> u32 {
        let back = back as usize;
        let is_known = (1..=RECORDS.min(self.records)).contains(&back);
        if is_known { self.loaded[(self.records - back) % RECORDS] } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_testing::{Step, TestKernel, compute, load, memory, store, trace};
    use warpmem_trace::{OpClass, Record};

    fn of_warp(steps: Vec<Step>) -> Dependences {
        let trace = trace(&[TestKernel::new([vec![steps]])]);
        let code = Code::new(&trace.instructions(0).unwrap());
        let mut cursor = trace.chunk(0, 0).unwrap().warp(0, 0);
        let (mut chains, mut record) = (Chains::new(), Record::new());
        let mut tally = DependenceTally::default();
        while cursor.next(&mut record).unwrap() {
            chains.record(&code, record.instruction.0, &mut tally);
        }
        tally.figures()
    }

    fn from(step: Step, back: u32) -> Step {
        step.with(|instruction| instruction.address_from = Some(back))
    }

    #[test]
    fn a_chase_is_one_chain() {
        let hop = || from(load(&[0]).used_after(0), 1);
        let chase = of_warp(vec![load(&[0]).used_after(0), hop(), hop(), hop()]);
        let expected = Dependences {
            loads: 4,
            mean_use_distance: Some(0.0),
            unused_share: Some(0.0),
            direct_share: Some(0.75),
            dependent_share: Some(0.75),
            mean_chain: Some(2.5),
            longest_chain: 4,
        };
        assert_eq!(chase, expected);
    }

    #[test]
    fn chains_go_through_arithmetic() {
        let add = |deps| compute(OpClass::Integer, deps);
        // a[b[i] + 1]: an addition that uses the load two instructions later, another one, and the
        // address of the second load.
        let steps = vec![
            load(&[0]).used_after(1),
            add(&[]),
            add(&[]),
            add(&[1]),
            load(&[64]).needing(&[1]).used_after(3),
            load(&[128]).needing(&[4]),
        ];
        let figures = of_warp(steps);
        assert_eq!((figures.loads, figures.longest_chain), (3, 2));
        assert_eq!(figures.mean_chain, Some(4.0 / 3.0), "the third needs the first addition only");
        assert_eq!(figures.mean_use_distance, Some(2.0));
        assert_eq!(figures.unused_share, Some(1.0 / 3.0));
        assert_eq!((figures.direct_share, figures.dependent_share), (Some(0.0), Some(1.0 / 3.0)));
    }

    #[test]
    fn shared_memory_and_stores_add_no_link() {
        let shared = memory(Kind::Load, Space::Shared, &[0]);
        let steps = vec![
            load(&[0]).used_after(0),
            from(shared.used_after(0), 1),
            from(load(&[4]), 1),
            from(store(&[8]), 1),
        ];
        let figures = of_warp(steps);
        assert_eq!((figures.loads, figures.longest_chain), (2, 2), "through the shared load");
        assert_eq!(figures.dependent_share, Some(0.5));
    }

    #[test]
    fn distances_beyond_the_limit_end_a_chain() {
        let far = |distance| {
            of_warp(
                [
                    vec![load(&[0]).used_after(distance)],
                    vec![compute(OpClass::Integer, &[]); distance as usize],
                    vec![load(&[4])],
                ]
                .concat(),
            )
        };
        assert_eq!(far(254).longest_chain, 2);
        assert_eq!(far(255).longest_chain, 1);
        assert_eq!(of_warp(vec![from(load(&[0]), u32::MAX), from(load(&[0]), 9)]).longest_chain, 1);
        assert_eq!(of_warp(vec![]).mean_chain, None);
    }
}
