//! Critical Fields of memory instructions (CaLRS 2015, Section 4.1): how many of the requests that
//! each was coalesced into L1 has not answered.

use warpmem_sim::{Request, SmId};

/// The Critical Fields of all memory instructions in flight. A field is set to the number of the
/// instruction's requests when the load/store unit begins with it; every request that hits in L1
/// lowers it by one. Requests read it when they arrive at the queue of their slice, so that all of
/// an instruction change in lockstep until then.
#[derive(Default)]
pub struct CriticalFields {
    /// By SM, by row of its table of memory instructions.
    fields: Vec<Vec<u32>>,
    /// The fields that have been set or lowered since they were last told to other regions.
    changes: Option<Vec<Change>>,
}

/// What a field has become.
#[derive(Clone, Copy)]
pub struct Change {
    sm: SmId,
    access: u32,
    field: u32,
}

impl CriticalFields {
    /// The largest field, of the least critical requests: those of an instruction with a request
    /// for each lane or more, and those that no instruction made.
    pub const MOST: u8 = 32;

    /// Those of a machine with several regions, each of which has all fields.
    pub fn told() -> CriticalFields {
        CriticalFields { fields: Vec::new(), changes: Some(Vec::new()) }
    }

    /// The load/store unit begins with an instruction that was coalesced into so many requests.
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

    /// What has been changed since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Gives back what [`CriticalFields::take_changes`] gave, for its memory.
    pub fn put_back(&mut self, mut changes: Vec<Change>) {
        changes.clear();
        self.changes = self.changes.take().map(|_| changes);
    }

    /// Follows what has been changed in another region.
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

    /// A request of the instruction has hit in L1.
    #[inline]
    pub fn hit(&mut self, sm: SmId, access: u32) {
        let field = &mut self.fields[sm.index()][access as usize];
        *field -= 1;
        let field = *field;
        self.note(sm, access, field);
    }

    /// The field of a request that is about to arrive at the queue of its slice.
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
    fn hits_of_siblings_lower_the_field_of_all() {
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
    fn a_row_that_is_used_again_begins_anew() {
        let mut fields = CriticalFields::default();
        fields.begin(SmId(0), 0, 9);
        fields.hit(SmId(0), 0);
        fields.begin(SmId(0), 0, 5);
        assert_eq!(fields.of(&request(SmId(0), 0)), 5);
    }

    #[test]
    fn many_requests_and_what_no_instruction_made_are_the_least_critical() {
        let mut fields = CriticalFields::default();
        fields.begin(SmId(0), 0, 34);
        assert_eq!(fields.of(&request(SmId(0), 0)), 32);
        (0..3).for_each(|_| fields.hit(SmId(0), 0));
        assert_eq!(fields.of(&request(SmId(0), 0)), 31);
        assert_eq!(fields.of(&request(SmId(0), u32::MAX)), 32, "dirty data of L1");
        assert_eq!(fields.of(&request(Request::NO_SM, u32::MAX)), 32);
    }
}
