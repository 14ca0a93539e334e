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
}

impl CriticalFields {
    /// The largest field, of the least critical requests: those of an instruction with a request
    /// for each lane or more, and those that no instruction made.
    pub const MOST: u8 = 32;

    /// The load/store unit begins with an instruction that was coalesced into so many requests.
    #[inline]
    pub fn begin(&mut self, sm: SmId, access: u32, requests: usize) {
        let (sm, access) = (sm.index(), access as usize);
        if sm >= self.fields.len() {
            self.fields.resize(sm + 1, Vec::new());
        }
        let fields = &mut self.fields[sm];
        if access >= fields.len() {
            fields.resize(access + 1, 0);
        }
        fields[access] = requests as u32;
    }

    /// A request of the instruction has hit in L1.
    #[inline]
    pub fn hit(&mut self, sm: SmId, access: u32) {
        self.fields[sm.index()][access as usize] -= 1;
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
