//! Critical Fields of memory instructions (CaLRS 2015, Section 4.1): the requests of each that L1
//! has not answered.

use warpmem_sim::{Request, SmId};

/// The Critical Fields of all memory instructions in flight. The load/store unit sets a field to
/// the number of requests of the instruction; each hit in L1 decrements it. A request reads the
/// field on arrival at the queue of its slice, so that all requests of an instruction share it
/// until then.
#[derive(Default)]
pub struct CriticalFields {
    /// By SM and row of its table of memory instructions.
    fields: Vec<Vec<u32>>,
    /// Updates since they were last sent to other regions.
    changes: Option<Vec<Change>>,
}

/// The new value of a field.
#[derive(Clone, Copy)]
pub struct Change {
    sm: SmId,
    access: u32,
    field: u32,
}

impl CriticalFields {
    /// Largest field, of the least critical requests: those of an instruction with at least one
    /// request per lane, and those of no instruction.
    pub const MOST: u8 = 32;

    /// Creates the fields of a machine with several regions, each of which holds a replica.
    pub fn replicated() -> CriticalFields {
        CriticalFields { fields: Vec::new(), changes: Some(Vec::new()) }
    }

    /// Sets the field of an instruction with `requests` requests.
    #[inline]
    pub fn begin(&mut self, sm: SmId, access: u32, requests: usize) {
        self.set(sm, access, requests as u32);
        self.note(sm, access, requests as u32);
    }

    #[inline]
    fn note(&mut self, sm: SmId, access: u32, field: u32) {
        if let Some(changes) = &mut self.changes {
            changes.push(Change { sm, access, field });
        }
    }

    /// Takes the updates since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the buffer of [`CriticalFields::take_changes`] for reuse.
    pub fn put_back(&mut self, mut changes: Vec<Change>) {
        changes.clear();
        self.changes = self.changes.take().map(|_| changes);
    }

    /// Applies updates of another region.
    pub fn follow(&mut self, changes: &[Change]) {
        changes.iter().for_each(|change| self.set(change.sm, change.access, change.field));
    }

    #[inline]
    fn set(&mut self, sm: SmId, access: u32, field: u32) {
        let (sm, access) = (sm.index(), access as usize);
        if sm >= self.fields.len() {
            self.fields.resize(sm + 1, Vec::new());
        }
        let fields = &mut self.fields[sm];
        if access >= fields.len() {
            fields.resize(access + 1, 0);
        }
        fields[access] = field;
    }

    /// Decrements the field of an instruction, a request of which has hit in L1.
    #[inline]
    pub fn hit(&mut self, sm: SmId, access: u32) {
        let field = &mut self.fields[sm.index()][access as usize];
        *field -= 1;
        let field = *field;
        self.note(sm, access, field);
    }

    /// Returns the field of a request that arrives at the queue of its slice.
    #[inline]
    pub fn of(&self, request: &Request) -> u8 {
        let fields = self.fields.get(request.sm.index());
        let field = fields.and_then(|fields| fields.get(request.access as usize));
        field.map_or(CriticalFields::MOST, |&field| field.min(CriticalFields::MOST.into()) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::{Location, RequestKind};

    fn request(sm: SmId, access: u32) -> Request {
        Request { sm, access, ..Request::of_slice(0, RequestKind::Read, Location::ZERO) }
    }

    #[test]
    fn an_l1_hit_lowers_the_field_of_all_siblings() {
        let mut fields = CriticalFields::default();
        fields.begin(SmId(1), 7, 4);
        fields.begin(SmId(0), 7, 2);
        fields.begin(SmId(1), 3, 3);
        fields.hit(SmId(1), 7);
        fields.hit(SmId(1), 7);
        let of = |sm, access| fields.of(&request(SmId(sm), access));
        assert_eq!([of(1, 7), of(0, 7), of(1, 3)], [2, 2, 3]);
    }

    #[test]
    fn a_reused_row_starts_over() {
        let mut fields = CriticalFields::default();
        fields.begin(SmId(0), 0, 9);
        fields.hit(SmId(0), 0);
        fields.begin(SmId(0), 0, 5);
        assert_eq!(fields.of(&request(SmId(0), 0)), 5);
    }

    #[test]
    fn the_field_is_limited_and_largest_without_an_instruction() {
        let mut fields = CriticalFields::default();
        fields.begin(SmId(0), 0, 34);
        assert_eq!(fields.of(&request(SmId(0), 0)), 32);
        (0..3).for_each(|_| fields.hit(SmId(0), 0));
        assert_eq!(fields.of(&request(SmId(0), 0)), 31);
        assert_eq!(fields.of(&request(SmId(0), u32::MAX)), 32, "dirty data of L1");
        assert_eq!(fields.of(&request(Request::NO_SM, u32::MAX)), 32);
    }
}
