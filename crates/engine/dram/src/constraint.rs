//! A row of the constraint table of a standard.

use crate::request::CommandKind;
use serde::{Deserialize, Serialize};

/// The relation between the target banks of the two commands of a constraint, from the narrowest to
/// the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The same bank.
    Bank,
    /// Banks of one group of a stack.
    Group,
    /// Banks of one stack.
    Stack,
    /// Banks of one pseudo channel.
    PseudoChannel,
    /// Any two banks of the channel.
    Channel,
}

/// A minimum distance: `to` may issue no earlier than `cycles` after the `window`-th last `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Name as on the data sheet: `tRCD`, `tCCD_L`.
    pub name: String,
    pub from: CommandKind,
    pub to: CommandKind,
    pub scope: Scope,
    /// Whether the constraint holds between different members of `scope` (stacks, groups, banks) of
    /// the next wider scope, rather than within one member.
    pub sibling: bool,
    /// Minimum distance, command clock cycles.
    pub cycles: u32,
    /// Position of `from` in the history: 1 = the last, n = the n-th last (tFAW: 4).
    pub window: u8,
}

impl Scope {
    pub fn wider(self) -> Scope {
        match self {
            Scope::Bank => Scope::Group,
            Scope::Group => Scope::Stack,
            Scope::Stack => Scope::PseudoChannel,
            Scope::PseudoChannel | Scope::Channel => Scope::Channel,
        }
    }
}
