//! Round robin over the SMs.

use super::{CtaEntry, CtaScheduler};
use crate::registry::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "round-robin",
    summary: "CTA i to SM i mod SMs until all are full, then to the next SM in turn that has room",
    source: "common GPU baseline",
    params: &[],
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |machine, params| {
        let sms = machine.sm.count as usize;
        params.none(&INFO).map(|()| Box::new(RoundRobin { sms, next: 0 }) as _)
    },
};

struct RoundRobin {
    sms: usize,
    next: usize,
}

impl CtaScheduler for RoundRobin {
    fn pick(&mut self, has_room: &dyn Fn(usize) -> bool) -> Option<usize> {
        let pick =
            (0..self.sms).map(|turn| (self.next + turn) % self.sms).find(|&sm| has_room(sm))?;
        self.next = (pick + 1) % self.sms;
        Some(pick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sms_take_turns_and_full_ones_are_passed_over() {
        let mut scheduler = RoundRobin { sms: 4, next: 0 };
        let order: Vec<_> = (0..5).map(|_| scheduler.pick(&|sm| sm != 2)).collect();
        assert_eq!(order, [Some(0), Some(1), Some(3), Some(0), Some(1)]);
        assert_eq!(scheduler.pick(&|_| false), None);
    }
}
