//! `group-fr-fcfs`: FR-FCFS whose column commands alternate between bank groups.

use super::{BankView, Family, Queued, Ready, Scheduler, SchedulerContext, Slot, Traits};
use crate::Dram;
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape, bits};
use warpmem_sim::{BankId, DramCycle};

const INFO: PolicyInfo = PolicyInfo {
    name: "group-fr-fcfs",
    summary: "row hits first, then the oldest; column commands alternate between bank groups",
    source: "HBM2 (JESD235), tCCDS and tCCDL; a controller of chips, not of a paper",
    params: Vec::new,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, _| {
        let groups = Groups::new(&context.dram);
        Ok(Box::new(move |_| Box::new(GroupFrFcfs::new(groups)) as _))
    },
};

/// The bank groups of a channel. The group is the low bits of a bank within its stack.
#[derive(Clone, Copy)]
struct Groups {
    /// Groups of a stack, and banks of a pseudo channel.
    groups: usize,
    banks_per_bus: usize,
    buses: usize,
}

impl Groups {
    fn new(dram: &Dram) -> Groups {
        let buses = dram.pseudo_channels.max(1) as usize;
        let banks_per_bus = dram.banks as usize / buses;
        Groups { groups: dram.bank_groups.max(1) as usize, banks_per_bus, buses }
    }

    /// Returns the data bus of a bank.
    fn bus(&self, bank: BankId) -> usize {
        bank.index() / self.banks_per_bus
    }

    /// Returns the group of a bank.
    fn group(&self, bank: BankId) -> usize {
        bank.index() % self.groups
    }
}

struct GroupFrFcfs {
    groups: Groups,
    /// Group of the last column command on each data bus.
    last: Vec<usize>,
}

impl GroupFrFcfs {
    fn new(groups: Groups) -> GroupFrFcfs {
        GroupFrFcfs { groups, last: vec![usize::MAX; groups.buses] }
    }
}

impl Scheduler for GroupFrFcfs {
    fn traits(&self) -> Traits {
        Traits { ranks_banks: true, orders_writes: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(bank.fr_fcfs())
    }

    /// Ranks a column command to the group of the last one behind all others.
    fn rank(&self, ready: &Ready) -> u64 {
        let Some(queued) = ready.queued.filter(|_| ready.kind.is_column()) else { return 0 };
        let bank = queued.request.bank;
        u64::from(self.last[self.groups.bus(bank)] == self.groups.group(bank))
    }

    fn on_column(&mut self, queued: &Queued, _: bool, _: DramCycle) {
        let bank = queued.request.bank;
        self.last[self.groups.bus(bank)] = self.groups.group(bank);
    }

    /// Returns the cost: FR-FCFS, and the last group of every bus.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let stored = self.groups.buses as u64 * bits(self.groups.groups as u64);
        Some(Complexity { stored, compared: shape.row_search() + stored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::*;

    /// Banks 0 and 4 are of one group, bank 1 of another. All rows are open once the first three
    /// requests have been served.
    #[test]
    fn column_commands_alternate_between_groups() {
        let dram = hbm2();
        assert_eq!([0, 4, 1].map(|bank| Groups::new(&dram).group(BankId(bank))), [0, 0, 1]);
        let mut requests: Vec<_> = [0, 4, 1].map(|bank| read(bank.into(), bank, 1)).to_vec();
        requests.extend((0..6).flat_map(|n| [0, 4, 1].map(|bank| read(10 * (n + 1) + u32::from(bank), bank, 1))));
        let groups = |policy: &str| {
            let order = run(&dram, policy, &requests).order();
            let group = |id: &u32| usize::from(id % 10 == 1);
            let groups: Vec<usize> = order.iter().map(group).collect();
            groups.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        let (alternating, plain) = (groups("group-fr-fcfs"), groups("fr-fcfs"));
        assert!(alternating > plain, "{alternating} changes of group, {plain} with fr-fcfs");
    }

    #[test]
    fn one_group_is_served_like_fr_fcfs() {
        let dram = Dram { bank_groups: 1, ..gddr5() };
        let requests: Vec<_> = (0..40).map(|id| read(id, (id * 7 % 16) as _, id % 3)).collect();
        let order = |policy: &str| run(&dram, policy, &requests).order();
        assert_eq!(order("group-fr-fcfs"), order("fr-fcfs"));
    }
}
