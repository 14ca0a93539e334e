//! The dictionary of a kernel: the static parts of its records, interned while writing.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::barrier::Barrier;
use crate::block::MAX_DECODED;
use crate::cluster::ClusterAddress;
use crate::l2_policy::L2Policy;
use crate::mbarrier::Mbarrier;
use crate::operands::Operands;
use crate::record::{
    CacheOp, Compute, Instruction, InstructionId, Kind, MAX_DEPENDENCE, MAX_REGISTER_WIDTH,
    MAX_WIDTH, OpClass, Space,
};

/// Number of address histories: this many program counters have a history of their own.
pub(crate) const SLOTS: usize = 256;

/// Minimum bytes of an instruction in a file, and of a compute instruction before it.
const LEAST_BYTES: usize = 13;
const LEAST_COMPUTE_BYTES: usize = 3;

/// Bulk copies are aligned to 16 bytes, mostly to lines, and rarely to their full size.
const MAX_SHIFT: u32 = 7;

/// Longest run of compute between two records.
const MAX_COMPUTE: usize = 1 << 24;

/// The properties of an instruction that the coding of its records needs.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub kind: Kind,
    pub space: Space,
    /// Bytes per lane.
    pub width: u32,
    /// Address history of its program counter.
    pub slot: u8,
    /// Compute instructions before the record, by class.
    pub counts: [u32; OpClass::COUNT],
}

impl Site {
    pub fn is_memory(&self) -> bool {
        self.kind.is_memory()
    }

    /// Returns the exponent of the alignment: aligned addresses are multiples of two to this power.
    pub fn shift(&self) -> u32 {
        self.width.trailing_zeros().min(MAX_SHIFT)
    }
}

/// The sites of a kernel, by instruction id.
#[derive(Default, Debug)]
pub(crate) struct Sites {
    sites: Vec<Site>,
    /// CTAs per cluster of the kernel.
    ctas_per_cluster: u32,
    slots: FxHashMap<u64, u8>,
}

impl Sites {
    /// Returns an empty list for a kernel with `ctas_per_cluster` CTAs per cluster.
    fn new(ctas_per_cluster: u32) -> Sites {
        Sites { ctas_per_cluster, ..Sites::default() }
    }

    /// Returns the sites of a dictionary read from a file.
    pub fn of(instructions: &[Instruction], ctas_per_cluster: u32) -> Sites {
        let mut sites = Sites::new(ctas_per_cluster);
        for instruction in instructions {
            sites.push(instruction);
        }
        sites
    }

    pub fn get(&self, id: u32) -> Option<&Site> {
        self.sites.get(id as usize)
    }

    /// Returns whether all `addresses` of a record of `site` lie in existing CTAs.
    #[inline]
    pub fn holds(&self, site: &Site, addresses: &[u64]) -> bool {
        let is_held = |&address: &u64| ClusterAddress::of(address).rank < self.ctas_per_cluster;
        site.space != Space::Cluster || addresses.iter().all(is_held)
    }

    /// Appends a site. Program counters of memory instructions get slots in order of appearance.
    fn push(&mut self, instruction: &Instruction) {
        let slot = if instruction.kind.is_memory() {
            let next = (self.slots.len() % SLOTS) as u8;
            *self.slots.entry(instruction.pc).or_insert(next)
        } else {
            0
        };
        let mut counts = [0; OpClass::COUNT];
        for compute in &instruction.compute {
            counts[compute.class as usize] += 1;
        }
        self.sites.push(Site {
            kind: instruction.kind,
            space: instruction.space,
            width: instruction.width,
            slot,
            counts,
        });
    }
}

/// Checks that an instruction names only destinations within a cluster of `ctas_per_cluster` CTAs.
pub(crate) fn check_destinations(
    instruction: &Instruction,
    ctas_per_cluster: u32,
) -> Result<(), String> {
    let Instruction { pc, destinations, .. } = instruction;
    if u64::from(*destinations) >> ctas_per_cluster == 0 {
        return Ok(());
    }
    Err(format!(
        "a copy at pc {pc:#x} into CTAs {destinations:#b} of a cluster of {ctas_per_cluster}"
    ))
}

/// Checks the rules documented at [`Instruction`].
pub(crate) fn check(instruction: &Instruction) -> Result<(), String> {
    let Instruction { pc, kind, space, width, .. } = instruction;
    if kind.is_memory() != (*width > 0) {
        return Err(format!("{kind:?} at pc {pc:#x} with {width} bytes per lane"));
    }
    if *width > MAX_WIDTH {
        return Err(format!(
            "{kind:?} at pc {pc:#x} with {width} bytes per lane; at most {MAX_WIDTH} are possible"
        ));
    }
    let is_copy = *space == Space::Cluster && *kind == Kind::AsyncCopy;
    if *width > MAX_REGISTER_WIDTH && *space != Space::Global && !is_copy {
        return Err(format!(
            "{kind:?} at pc {pc:#x} with {width} bytes per lane of {space:?} space; at most \
             {MAX_REGISTER_WIDTH} are possible"
        ));
    }
    if instruction.destinations != 0 && (*kind, *space) != (Kind::AsyncCopy, Space::Global) {
        return Err(format!(
            "{kind:?} of {space:?} space at pc {pc:#x} into shared memory of other CTAs; only async \
             copies from global memory go there"
        ));
    }
    check_barrier(instruction)?;
    check_mbarrier(instruction)?;
    check_l2_policy(instruction)?;
    if kind.is_memory() == (*space == Space::None) {
        return Err(format!("{kind:?} at pc {pc:#x} in address space {space:?}"));
    }
    if instruction.compute.len() > MAX_COMPUTE {
        return Err(format!("more than {MAX_COMPUTE} compute instructions before pc {pc:#x}"));
    }
    let all_deps = instruction.compute.iter().map(|c| &c.deps).chain([&instruction.deps]);
    if !all_deps.into_iter().all(|deps| are_distances(deps)) {
        return Err(format!(
            "dependences at or before pc {pc:#x} are not ascending distances of 1 to {MAX_DEPENDENCE}"
        ));
    }
    let mut all_operands = instruction.compute.iter().map(|c| c.operands);
    if !all_operands.all(Operands::is_possible) || !instruction.operands.is_possible() {
        return Err(format!("impossible operand counts at or before pc {pc:#x}"));
    }
    Ok(())
}

/// Checks that exactly the two barrier kinds name a barrier, and that an arrival names one for a
/// number of warps.
fn check_barrier(instruction: &Instruction) -> Result<(), String> {
    let Instruction { pc, kind, barrier, .. } = instruction;
    let warps = barrier.map(|barrier| barrier.warps);
    let valid = match kind {
        Kind::Barrier => warps.is_some_and(|warps| warps != Some(0)),
        Kind::BarrierArrive => warps.flatten().is_some_and(|warps| warps > 0),
        _ => warps.is_none(),
    };
    match (valid, barrier) {
        (true, _) => Ok(()),
        (false, None) => Err(format!("{kind:?} at pc {pc:#x} without a barrier")),
        (false, Some(Barrier { id, warps: None })) => {
            Err(format!("{kind:?} at pc {pc:#x} at barrier {id} for all warps"))
        }
        (false, Some(Barrier { id, warps: Some(warps) })) => {
            Err(format!("{kind:?} at pc {pc:#x} at barrier {id} for {warps} warps"))
        }
    }
}

/// Checks that only accesses to global memory have an L2 policy.
fn check_l2_policy(instruction: &Instruction) -> Result<(), String> {
    let Instruction { pc, kind, space, l2_policy, .. } = instruction;
    let Some(policy) = l2_policy else { return Ok(()) };
    let L2Policy { sixteenths, .. } = policy;
    match (kind.is_memory() && *space == Space::Global, sixteenths) {
        (true, 1..=16) => Ok(()),
        (true, _) => {
            Err(format!("{kind:?} at pc {pc:#x} with a policy for {sixteenths} sixteenths of L2"))
        }
        (false, _) => {
            Err(format!("{kind:?} of {space:?} space at pc {pc:#x} with a policy for lines of L2"))
        }
    }
}

/// Checks that mbarriers are in shared memory. Copies and stores to other spaces may signal them.
fn check_mbarrier(instruction: &Instruction) -> Result<(), String> {
    let Instruction { pc, kind, space, mbarrier, .. } = instruction;
    let in_shared = matches!(space, Space::Shared | Space::Cluster);
    let valid = match mbarrier {
        None => true,
        Some(Mbarrier::Signal { .. }) => match kind {
            Kind::AsyncCopy => matches!(space, Space::Global | Space::Cluster),
            Kind::Store | Kind::Reduction => *space == Space::Cluster,
            _ => false,
        },
        Some(Mbarrier::Wait { .. }) => *kind == Kind::Load && *space == Space::Shared,
        Some(Mbarrier::Init { .. }) => *kind == Kind::Store && *space == Space::Shared,
        Some(Mbarrier::ArriveAfterCopies { .. }) => {
            matches!(kind, Kind::Atomic | Kind::Reduction) && *space == Space::Shared
        }
        Some(_) => matches!(kind, Kind::Atomic | Kind::Reduction) && in_shared,
    };
    match (valid, mbarrier) {
        (false, Some(operation)) => {
            Err(format!("{kind:?} of {space:?} space at pc {pc:#x} as {operation:?}"))
        }
        _ => Ok(()),
    }
}

fn are_distances(deps: &[u8]) -> bool {
    deps.windows(2).all(|pair| pair[0] < pair[1])
        && deps.first().is_none_or(|&first| first > 0)
        && deps.last().is_none_or(|&last| last <= MAX_DEPENDENCE)
}

/// A set of dependence distances: bit d - 1 represents distance d.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Distances(pub u64);

impl Distances {
    /// Adds a distance, unless it exceeds the longest kept.
    pub fn add(&mut self, distance: u64) {
        if (1..=u64::from(MAX_DEPENDENCE)).contains(&distance) {
            self.0 |= 1 << (distance - 1);
        }
    }

    fn of(deps: &[u8]) -> Distances {
        let mut set = Distances::default();
        deps.iter().for_each(|&distance| set.add(distance.into()));
        set
    }

    fn to_vec(self) -> Vec<u8> {
        (1..=MAX_DEPENDENCE).filter(|distance| self.0 >> (distance - 1) & 1 == 1).collect()
    }
}

/// An [`Instruction`] in a form that is built and looked up without allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatInstruction<'a> {
    pub pc: u64,
    pub kind: Kind,
    pub space: Space,
    pub cache_op: CacheOp,
    pub width: u32,
    pub barrier: Option<Barrier>,
    pub destinations: u16,
    pub mbarrier: Option<Mbarrier>,
    pub l2_policy: Option<L2Policy>,
    pub deps: Distances,
    pub operands: Operands,
    pub use_distance: Option<u32>,
    pub address_from: Option<u32>,
    pub compute: &'a [FlatCompute],
}

/// A [`Compute`] in such a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatCompute {
    pub class: OpClass,
    pub operands: Operands,
    pub deps: Distances,
}

/// Words of a key before the compute.
const HEAD: usize = 7;

impl FlatInstruction<'_> {
    /// Returns the key of all fields except compute. Two instructions are equal if this and their
    /// compute are equal.
    fn head(&self) -> [u64; HEAD] {
        let optional = |value: Option<u32>| value.map_or(0, |value| u64::from(value) + 1);
        let small = [self.kind as u8, self.space as u8, self.cache_op as u8];
        let barrier = self.barrier.map_or(0, Barrier::key);
        let small = small.iter().fold(barrier, |packed, &byte| packed << 8 | u64::from(byte));
        let [operation, counts] = self.mbarrier.map_or([0; 2], Mbarrier::key);
        let l2_policy = self.l2_policy.map_or(0, L2Policy::key);
        [
            self.pc,
            l2_policy << 51
                | operation << 48
                | u64::from(self.destinations) << 32
                | u64::from(self.width),
            small << 16 | u64::from(u16::from(self.operands)),
            optional(self.use_distance),
            optional(self.address_from),
            self.deps.0,
            counts,
        ]
    }

    fn write_key(&self, key: &mut Vec<u64>) {
        key.clear();
        key.extend(self.head());
        key.extend(self.compute.iter().flat_map(FlatCompute::words));
    }

    /// Returns whether `key` is the key of this instruction.
    fn has_key(&self, key: &[u64]) -> bool {
        let Some((head, compute)) = key.split_first_chunk() else { return false };
        let compute = compute.as_chunks().0;
        let differing =
            self.head().iter().zip::<&[u64; HEAD]>(head).fold(0, |bits, (a, b)| bits | (a ^ b));
        differing == 0
            && compute.len() == self.compute.len()
            && compute
                .iter()
                .zip(self.compute)
                .all(|(&[class, deps], compute)| [class, deps] == compute.words())
    }

    fn to_instruction(self) -> Instruction {
        Instruction {
            pc: self.pc,
            kind: self.kind,
            space: self.space,
            cache_op: self.cache_op,
            width: self.width,
            barrier: self.barrier,
            destinations: self.destinations,
            mbarrier: self.mbarrier,
            l2_policy: self.l2_policy,
            deps: self.deps.to_vec(),
            operands: self.operands,
            use_distance: self.use_distance,
            address_from: self.address_from,
            compute: self.compute.iter().map(|compute| compute.to_compute()).collect(),
        }
    }
}

impl FlatCompute {
    fn of(compute: &Compute) -> FlatCompute {
        FlatCompute {
            class: compute.class,
            operands: compute.operands,
            deps: Distances::of(&compute.deps),
        }
    }

    fn words(&self) -> [u64; 2] {
        [(self.class as u64) << 16 | u64::from(u16::from(self.operands)), self.deps.0]
    }

    fn to_compute(self) -> Compute {
        Compute { class: self.class, deps: self.deps.to_vec(), operands: self.operands }
    }
}

/// The dictionary of a kernel that is being written. Equal instructions share an id; ids count from
/// 0 in order of first appearance.
#[derive(Default)]
pub struct Dictionary {
    ids: FxHashMap<Arc<[u64]>, InstructionId>,
    instructions: Vec<Instruction>,
    entries: Vec<Entry>,
    /// The last instruction interned.
    last: Option<InstructionId>,
    sites: Sites,
    /// The first instruction that broke a rule.
    fault: Option<String>,
    /// Lower bound of its bytes in the file.
    bytes: usize,
    key: Vec<u64>,
    compute: Vec<FlatCompute>,
}

/// An instruction of the dictionary.
struct Entry {
    key: Arc<[u64]>,
    /// The instruction that followed the last time: the first guess for the next time.
    follower: Option<InstructionId>,
}

impl Dictionary {
    /// Clears the dictionary for a kernel with `ctas_per_cluster` CTAs per cluster.
    pub(crate) fn begin(&mut self, ctas_per_cluster: u32) {
        self.clear();
        self.sites.ctas_per_cluster = ctas_per_cluster;
    }

    /// Removes all instructions.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.instructions.clear();
        self.entries.clear();
        self.last = None;
        self.sites = Sites::new(1);
        self.fault = None;
        self.bytes = 0;
    }

    /// Returns the instructions by id.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    pub(crate) fn sites(&self) -> &Sites {
        &self.sites
    }

    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Returns the id of an instruction, adding it if it is new. An instruction that breaks a rule
    /// of [`Instruction`] makes the next CTA, or the end of the kernel, fail.
    pub fn intern(&mut self, instruction: &Instruction) -> InstructionId {
        if let Err(fault) = check(instruction) {
            self.fault.get_or_insert(fault);
        }
        let mut compute = std::mem::take(&mut self.compute);
        compute.clear();
        compute.extend(instruction.compute.iter().map(FlatCompute::of));
        let id = self.intern_flat(&FlatInstruction {
            pc: instruction.pc,
            kind: instruction.kind,
            space: instruction.space,
            cache_op: instruction.cache_op,
            width: instruction.width,
            barrier: instruction.barrier,
            destinations: instruction.destinations,
            mbarrier: instruction.mbarrier,
            l2_policy: instruction.l2_policy,
            deps: Distances::of(&instruction.deps),
            operands: instruction.operands,
            use_distance: instruction.use_distance,
            address_from: instruction.address_from,
            compute: &compute,
        });
        self.compute = compute;
        id
    }

    pub(crate) fn intern_flat(&mut self, flat: &FlatInstruction) -> InstructionId {
        let id = match self.expected() {
            Some((id, key)) if flat.has_key(key) => id,
            _ => self.look_up(flat),
        };
        if let Some(last) = self.last.replace(id) {
            self.entries[last.0 as usize].follower = Some(id);
        }
        id
    }

    /// Returns the predicted instruction and its key.
    fn expected(&self) -> Option<(InstructionId, &[u64])> {
        let id = self.entries[self.last?.0 as usize].follower?;
        Some((id, &self.entries[id.0 as usize].key))
    }

    fn look_up(&mut self, flat: &FlatInstruction) -> InstructionId {
        flat.write_key(&mut self.key);
        match self.ids.get(self.key.as_slice()) {
            Some(&id) => id,
            None => self.add(flat),
        }
    }

    fn add(&mut self, flat: &FlatInstruction) -> InstructionId {
        let id = InstructionId(self.instructions.len() as u32);
        let instruction = flat.to_instruction();
        if let Err(fault) = check(&instruction) {
            self.fault.get_or_insert(fault);
        }
        self.bytes += LEAST_BYTES + LEAST_COMPUTE_BYTES * instruction.compute.len();
        if self.bytes > MAX_DECODED {
            let fault = format!(
                "more than {MAX_DECODED} bytes of distinct instructions, at pc {:#x}",
                instruction.pc
            );
            self.fault.get_or_insert(fault);
        }
        self.sites.push(&instruction);
        self.instructions.push(instruction);
        let key: Arc<[u64]> = self.key.as_slice().into();
        self.entries.push(Entry { key: key.clone(), follower: None });
        self.ids.insert(key, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l2_policy::Eviction;

    fn flat(pc: u64, compute: &[FlatCompute]) -> FlatInstruction<'_> {
        FlatInstruction {
            pc,
            kind: Kind::Load,
            space: Space::Global,
            cache_op: CacheOp::Default,
            width: 4,
            barrier: None,
            destinations: 0,
            mbarrier: None,
            l2_policy: None,
            deps: Distances::default(),
            operands: Operands::NONE,
            use_distance: None,
            address_from: None,
            compute,
        }
    }

    /// The predicted instruction is verified in every property.
    #[test]
    fn equal_instructions_share_an_id_in_any_order() {
        let add = |deps| FlatCompute {
            class: OpClass::Integer,
            operands: Operands::spread(1),
            deps: Distances(deps),
        };
        let (one, two, other) = ([add(0)], [add(0), add(1)], [add(2)]);
        let instructions = [
            flat(16, &[]),
            flat(32, &[]),
            FlatInstruction { use_distance: Some(0), ..flat(32, &[]) },
            FlatInstruction { deps: Distances(1), ..flat(32, &[]) },
            FlatInstruction { width: 8, ..flat(32, &[]) },
            FlatInstruction { width: 8 << 8, ..flat(32, &[]) },
            FlatInstruction { barrier: Some(Barrier::of_cta(0)), ..flat(32, &[]) },
            FlatInstruction { barrier: Some(Barrier::of_cta(1)), ..flat(32, &[]) },
            FlatInstruction { barrier: Some(Barrier::of_warps(0, 1)), ..flat(32, &[]) },
            FlatInstruction { destinations: 5, ..flat(32, &[]) },
            FlatInstruction { mbarrier: Some(Mbarrier::Wait { parity: false }), ..flat(32, &[]) },
            FlatInstruction { mbarrier: Some(Mbarrier::Wait { parity: true }), ..flat(32, &[]) },
            FlatInstruction { mbarrier: Some(Mbarrier::Signal { offset: 1 }), ..flat(32, &[]) },
            FlatInstruction { l2_policy: Some(L2Policy::of_all(Eviction::First)), ..flat(32, &[]) },
            FlatInstruction { l2_policy: Some(L2Policy::of_all(Eviction::Last)), ..flat(32, &[]) },
            flat(32, &one),
            flat(32, &two),
            flat(32, &other),
        ];
        let mut dictionary = Dictionary::default();
        // Every instruction follows every other.
        for first in 0..instructions.len() {
            for second in 0..instructions.len() {
                for at in [first, second] {
                    let id = dictionary.intern_flat(&instructions[at]);
                    assert_eq!(dictionary.instructions[id.0 as usize].pc, instructions[at].pc);
                    assert_eq!(id.0 as usize, at, "{first} {second}");
                }
            }
        }
        assert_eq!(dictionary.instructions.len(), instructions.len());
        dictionary.clear();
        assert_eq!(dictionary.intern_flat(&instructions[3]), InstructionId(0));
    }
}
