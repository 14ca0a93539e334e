//! What a unit may use during its step, apart from its own state.

use crate::{AddressMap, Fabric, RequestTable};

/// The ports and wake-ups, the request table and the address map: everything that units share.
pub struct Context<'a> {
    pub fabric: &'a mut Fabric,
    pub requests: &'a mut RequestTable,
    pub map: &'a AddressMap,
}
