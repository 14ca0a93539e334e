//! A row of the constraint table of a standard.

use crate::request::CommandKind;
use serde::{Deserialize, Serialize};

/// Which banks the two commands of a constraint go to, from the narrowest to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Both to one bank.
    Bank,
    /// Both to banks of one group of a stack.
    Group,
    /// Both to banks of one stack.
    Stack,
    /// Both to banks of one pseudo channel.
    PseudoChannel,
    /// Any two commands of the channel.
    Channel,
}

/// `to` may issue no earlier than `cycles` after the `window`-th last `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// As on the data sheet: `tRCD`, `tCCD_L`.
    pub name: String,
    pub from: CommandKind,
    pub to: CommandKind,
    pub scope: Scope,
    /// Holds between different members of `scope` (stacks, groups, banks) within the next wider
    /// scope, rather than within one.
    pub sibling: bool,
    /// Command clock cycles.
    pub cycles: u32,
    /// 1 = the last `from` counts; n = the n-th last does (tFAW: 4).
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
