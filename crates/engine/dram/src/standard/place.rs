//! The position of a bank in a channel, and the banks between which a constraint holds.

use super::super::constraint::{Constraint, Scope};
use crate::Dram;

/// The position of a bank of a channel. Its number is
/// `((pseudo * stacks) + stack) * banks of a stack + bank`, with the group in the low bits of the
/// bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub pseudo_channel: u16,
    /// Stack within the pseudo channel.
    pub stack: u16,
    /// Group within the stack.
    pub group: u16,
    /// Bank within the group.
    pub bank: u16,
}

impl Place {
    /// Returns the position of bank `bank` of a channel of `dram`; none if there is no such bank.
    pub fn of(dram: &Dram, bank: u16) -> Option<Place> {
        let number = u32::from(bank);
        let stacks = dram.stacks.max(1);
        let per_stack = dram.banks / (dram.pseudo_channels.max(1) * stacks);
        if number >= dram.banks || per_stack == 0 {
            return None;
        }
        let (stack, in_stack) = (number / per_stack, number % per_stack);
        let groups = dram.bank_groups.max(1);
        Some(Place {
            pseudo_channel: (stack / stacks) as u16,
            stack: (stack % stacks) as u16,
            group: (in_stack % groups) as u16,
            bank: (in_stack / groups) as u16,
        })
    }

    /// Returns the number of the bank at this position of a channel of `dram`.
    ///
    /// # Errors
    /// Returns the part of the position that does not exist, and the valid range.
    pub fn number(&self, dram: &Dram) -> Result<u16, String> {
        let (stacks, groups) = (dram.stacks.max(1), dram.bank_groups.max(1));
        let per_stack = dram.banks / (dram.pseudo_channels.max(1) * stacks);
        let limits = [dram.pseudo_channels, stacks, groups, per_stack / groups];
        let names = ["pseudo_channel", "stack", "group", "bank"];
        for ((name, value), limit) in names.into_iter().zip(self.path()).zip(limits) {
            if u32::from(value) >= limit {
                return Err(format!("`{name}` = {value}: expected below {limit}"));
            }
        }
        let [pseudo_channel, stack, group, bank] = self.path().map(u32::from);
        Ok(((pseudo_channel * stacks + stack) * per_stack + bank * groups + group) as u16)
    }

    /// Returns whether both positions are in one member of `scope`.
    pub fn shares(&self, scope: Scope, other: &Place) -> bool {
        let depth = match scope {
            Scope::Channel => 0,
            Scope::PseudoChannel => 1,
            Scope::Stack => 2,
            Scope::Group => 3,
            Scope::Bank => 4,
        };
        self.path()[..depth] == other.path()[..depth]
    }

    fn path(&self) -> [u16; 4] {
        [self.pseudo_channel, self.stack, self.group, self.bank]
    }
}

impl Constraint {
    /// Returns whether the constraint holds between commands to these two banks.
    pub fn holds_between(&self, a: &Place, b: &Place) -> bool {
        if self.sibling {
            !a.shares(self.scope, b) && a.shares(wider(self.scope), b)
        } else {
            a.shares(self.scope, b)
        }
    }
}

fn wider(scope: Scope) -> Scope {
    match scope {
        Scope::Bank => Scope::Group,
        Scope::Group => Scope::Stack,
        Scope::Stack => Scope::PseudoChannel,
        Scope::PseudoChannel | Scope::Channel => Scope::Channel,
    }
}
