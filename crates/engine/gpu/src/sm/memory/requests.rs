//! Address generation: from the lanes' addresses to sectors, messages and signals.

use super::coalescer::Coalescer;
use super::entry::{RequestLists, Work};
use super::footprint::Footprint;
use super::messages::{ClusterMember, write_messages};
use super::passes::SharedPasses;
use super::signals::write_signals;
use crate::sm::code::Static;
use warpmem_machine::Machine;
use warpmem_sim::AddressMap;
use warpmem_trace::Space;
use warpmem_translation::Placement;

/// The address generation unit of an SM.
pub(super) struct RequestGenerator {
    coalescer: Coalescer,
    passes: SharedPasses,
    footprint: Footprint,
    placement: Option<Placement>,
}

impl RequestGenerator {
    pub fn new(machine: &Machine) -> RequestGenerator {
        RequestGenerator {
            coalescer: Coalescer::new(machine),
            passes: SharedPasses::new(&machine.sm.shared),
            footprint: Footprint::new(&machine.dram),
            placement: Placement::new(&machine.vm),
        }
    }

    /// Generates the requests of an instruction of `member` into the empty `lists`; returns the
    /// work of the load/store unit.
    pub fn generate(
        &mut self,
        instruction: &Static,
        addresses: &[u64],
        member: ClusterMember,
        lists: &mut RequestLists,
    ) -> Work {
        let width = instruction.width;
        if instruction.space == Space::Shared {
            if let Some(operation) = instruction.mbarrier {
                write_signals(operation, addresses, member.cta, &mut lists.signals);
            }
            let passes = self.passes.of_instruction(instruction.pc, addresses, width);
            return Work::Shared { passes };
        }
        let work = Work::of(instruction);
        match work {
            Work::Cluster => {
                let messages = &mut lists.messages;
                write_messages(instruction, addresses, member, &mut self.passes, messages);
            }
            Work::Atomic => self.coalescer.atomics(addresses, width, &mut lists.sectors),
            _ => {
                let store = matches!(work, Work::Store { .. });
                self.coalescer.sectors(addresses, width, store, &mut lists.sectors);
            }
        }
        work
    }

    /// Locates the sectors of an instruction in DRAM, at their physical addresses; returns the numbers of distinct channels and
    /// banks.
    pub fn locate(&mut self, lists: &mut RequestLists, map: &AddressMap) -> (u32, u32) {
        if let Some(placement) = &self.placement {
            for sector in lists.sectors.as_mut_slice() {
                sector.address = placement.physical(sector.address);
            }
        }
        self.footprint.count(lists.sectors.as_mut_slice().iter_mut().map(|sector| {
            sector.place = map.locate(sector.address);
            (sector.place.channel, sector.place.bank)
        }))
    }
}
