//! What a unit's step may use of what lies between the units.

use crate::{AddressMap, Fabric, RequestTable};

/// Ports and wake-ups, the request table and the address map.
pub struct Context<'a> {
    pub fabric: &'a mut Fabric,
    pub requests: &'a mut RequestTable,
    pub map: &'a AddressMap,
}
