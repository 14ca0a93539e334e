//! TLBs between the first and the second level, each shared by a group of SMs.

use crate::Vm;
use crate::tlb::Tlb;
use crate::turns::Turns;
use std::collections::VecDeque;
use warpmem_sim::{NetworkCycle, RequestId};

/// The TLBs of all groups, and the requests between them and the second level.
pub(crate) struct Groups {
    sms_each: usize,
    tlbs: Vec<Tlb>,
    /// Latency of the way to the second level and of its lookup, and of the way back.
    up: Delay,
    down: Delay,
}

/// Requests that take a fixed number of cycles.
struct Delay {
    cycles: u64,
    requests: VecDeque<(NetworkCycle, RequestId)>,
}

impl Delay {
    fn new(cycles: u32) -> Delay {
        Delay { cycles: cycles.into(), requests: VecDeque::new() }
    }

    fn push(&mut self, request: RequestId, cycle: NetworkCycle) {
        self.requests.push_back((cycle + self.cycles, request));
    }

    fn head(&self, cycle: NetworkCycle) -> Option<RequestId> {
        self.requests.front().filter(|(at, _)| *at <= cycle).map(|&(_, request)| request)
    }

    fn next(&self) -> Option<NetworkCycle> {
        self.requests.front().map(|&(at, _)| at)
    }
}

impl Groups {
    /// Builds the TLBs of the groups of `sms` SMs, if the machine has them.
    pub fn new(vm: &Vm, sms: usize) -> Option<Groups> {
        let (group, l2) = (&vm.group, &vm.l2);
        let sms_each = group.sms as usize;
        let groups = (sms_each > 0).then(|| sms.div_ceil(sms_each))?;
        let tlb = |_| Tlb::new(group.entries, group.ways, group.pages_per_entry);
        Some(Groups {
            sms_each,
            tlbs: (0..groups).map(tlb).collect(),
            up: Delay::new(l2.link_latency + l2.latency),
            down: Delay::new(l2.link_latency),
        })
    }

    /// Returns the turns of the SMs at each TLB.
    pub fn turns(&self, sms: usize) -> Vec<Turns> {
        let group = |at: usize| at * self.sms_each..((at + 1) * self.sms_each).min(sms);
        (0..self.tlbs.len()).map(|at| Turns::new(group(at))).collect()
    }

    /// Looks a page up for an SM. Returns whether it is present.
    pub fn look_up(&mut self, sm: usize, page: u64) -> bool {
        self.tlbs[sm / self.sms_each].look_up(page)
    }

    /// Sends a request that missed to the second level.
    pub fn ask(&mut self, request: RequestId, cycle: NetworkCycle) {
        self.up.push(request, cycle);
    }

    /// Returns the request at the second level, if one has arrived by `cycle`.
    pub fn asked(&self, cycle: NetworkCycle) -> Option<RequestId> {
        self.up.head(cycle)
    }

    /// Removes the request at the second level.
    pub fn take_asked(&mut self) {
        self.up.requests.pop_front();
    }

    /// Returns the arrival of the request at the second level.
    pub fn next_asked(&self) -> Option<NetworkCycle> {
        self.up.next()
    }

    /// Sends the translation of a request back.
    pub fn answer(&mut self, request: RequestId, cycle: NetworkCycle) {
        self.down.push(request, cycle);
    }

    /// Takes a translation that has arrived by `cycle`.
    pub fn take_answer(&mut self, cycle: NetworkCycle) -> Option<RequestId> {
        let request = self.down.head(cycle)?;
        self.down.requests.pop_front();
        Some(request)
    }

    /// Returns the arrival of the next translation.
    pub fn next_answer(&self) -> Option<NetworkCycle> {
        self.down.next()
    }

    /// Adds a translation to the TLB of an SM.
    pub fn fill(&mut self, sm: usize, page: u64) {
        self.tlbs[sm / self.sms_each].fill(page);
    }

    /// Returns the requests on the way to the second level and back.
    pub fn in_flight(&self) -> usize {
        self.up.requests.len() + self.down.requests.len()
    }
}
