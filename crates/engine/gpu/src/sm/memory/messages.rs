//! Accesses to the shared memory of a cluster. Parts served by other SMs become messages to them;
//! messages from other SMs are served by the banks here.
//!
//! ```text
//!  load/store unit ─┬─▶ own banks
//!                   └─▶ requests_out ─▶ links ─▶ requests_in ─▶ banks ─┐   of another SM
//!  completions ◀── replies_in ◀── links ◀── replies_out ◀──────────────┘
//! ```

use super::MemoryPipeline;
use super::access::AccessId;
use super::entry::{Entry, Work};
use super::passes::SharedPasses;
use super::signals::arrival;
use crate::context::Context;
use crate::ports::DuplexPorts;
use crate::sm::cluster::ClusterCta;
use crate::sm::code::Static;
use warpmem_machine::Machine;
use warpmem_sim::{Arrival, CoreCycle, Message, Signal, SmId, Ticks};
use warpmem_trace::{ClusterAddress, Kind, Mbarrier};

/// Access of a message whose reply completes no instruction.
pub(super) const NO_ACCESS: u32 = u32::MAX;

/// A CTA in its cluster.
#[derive(Clone, Copy)]
pub(in crate::sm) struct ClusterMember<'a> {
    pub cta: ClusterCta,
    /// SMs of the cluster's CTAs, by rank.
    pub sms: &'a [SmId],
}

impl ClusterMember<'_> {
    /// Returns the CTA of the cluster with this rank.
    pub(super) fn of_rank(self, rank: u32) -> ClusterCta {
        let size = self.sms.len() as u32;
        ClusterCta { cta: self.cta.cta - self.cta.cta % size + rank, ..self.cta }
    }

    pub(super) fn rank(self) -> u32 {
        self.cta.cta % self.sms.len() as u32
    }
}

/// State of the message ports of an SM.
pub(super) struct Messages {
    pub(super) ports: DuplexPorts,
    /// Bytes of a memory reply.
    pub(super) sector_bytes: u32,
    /// The next message of the current instruction stalls for the port.
    is_blocked: bool,
    /// Messages sent, and their data bytes in both directions.
    sent: u64,
    bytes: u64,
}

impl Messages {
    pub fn new(machine: &Machine, ports: DuplexPorts) -> Messages {
        Messages {
            ports,
            sector_bytes: machine.l2.cache.sector_bytes,
            is_blocked: false,
            sent: 0,
            bytes: 0,
        }
    }

    /// Returns the number of messages sent and their data bytes.
    pub fn counts(&self) -> [u64; 2] {
        [self.sent, self.bytes]
    }

    pub(super) fn count(&mut self, message: Message) {
        self.sent += 1;
        self.bytes += u64::from(message.bytes) + u64::from(message.answer);
    }
}

/// Writes the messages of an instruction: one per accessed SM of its cluster, or per CTA or mbarrier
/// if it operates on mbarriers; for a bulk copy, one per pass over the banks. Messages to its own SM
/// are served locally.
pub(super) fn write_messages(
    instruction: &Static,
    addresses: &[u64],
    member: ClusterMember,
    passes: &mut SharedPasses,
    messages: &mut Vec<Message>,
) {
    messages.clear();
    if instruction.kind == Kind::AsyncCopy {
        let parts = |&address: &u64| copy_messages(address, instruction, member, passes.bytes());
        return messages.extend(addresses.iter().flat_map(parts));
    }
    let sm_of = |address: u64| u64::from(member.sms[ClusterAddress::of(address).rank as usize].0);
    let group = |address: u64| match instruction.mbarrier {
        None => sm_of(address),
        Some(Mbarrier::Signal { .. }) => u64::from(ClusterAddress::of(address).rank),
        Some(_) => address,
    };
    for (at, &first) in addresses.iter().enumerate() {
        let is_new = |&before: &u64| group(before) != group(first);
        if addresses[..at].iter().all(is_new) {
            let there =
                addresses[at..].iter().copied().filter(|&other| group(other) == group(first));
            messages.push(lane_message(first, instruction, member, there, passes));
        }
    }
}

/// Returns the messages of a copy to `address`, of at most `most` bytes each.
fn copy_messages(
    address: u64,
    instruction: &Static,
    member: ClusterMember,
    most: u32,
) -> impl Iterator<Item = Message> {
    let Static { width, mbarrier, .. } = *instruction;
    let rank = ClusterAddress::of(address).rank;
    let (to, cta) = (member.sms[rank as usize], member.of_rank(rank));
    let part = move |at: u32| {
        let bytes = (width - at * most).min(most);
        let signal = signal_of(mbarrier, cta, 0, 1, bytes);
        Message { to, passes: 1, bytes, answer: 0, is_copied: false, signal }
    };
    (0..width.div_ceil(most)).map(part)
}

/// Returns the message for the lanes that access the same target as the lane at `first`.
fn lane_message(
    first: u64,
    instruction: &Static,
    member: ClusterMember,
    addresses: impl Iterator<Item = u64> + Clone,
    passes: &mut SharedPasses,
) -> Message {
    let ClusterAddress { rank, offset } = ClusterAddress::of(first);
    let lanes = addresses.clone().count() as u32;
    let (count, data) = passes.of(addresses, instruction.width);
    let (bytes, answer) = match instruction.kind {
        Kind::Store | Kind::Reduction => (data, 0),
        Kind::Atomic => (data, data),
        _ => (0, data),
    };
    let cta = member.of_rank(rank);
    let signal = signal_of(instruction.mbarrier, cta, offset, lanes, lanes * instruction.width);
    let to = member.sms[rank as usize];
    // At most two words of a lane are in a bank.
    Message { to, passes: count as u8, bytes, answer, is_copied: false, signal }
}

/// Returns the mbarrier update of `lanes` that access `offset` of a CTA's shared memory and
/// transfer `bytes`.
fn signal_of(
    operation: Option<Mbarrier>,
    ClusterCta { kernel, cta }: ClusterCta,
    offset: u32,
    lanes: u32,
    bytes: u32,
) -> Option<Signal> {
    match operation? {
        Mbarrier::Signal { offset } => {
            Some(Signal { kernel, cta, offset, arrival: transferred(bytes) })
        }
        operation => {
            let arrival = arrival(operation, lanes)?;
            Some(Signal { kernel, cta, offset, arrival })
        }
    }
}

/// Returns the arrival of `bytes` transferred bytes (PTX ISA, `complete_tx`).
pub(super) fn transferred(bytes: u32) -> Arrival {
    Arrival { bytes: -(bytes.min(i32::MAX as u32) as i32), ..Arrival::default() }
}

impl MemoryPipeline {
    /// Connects the SM to the other SMs of its GPC.
    pub fn connect(&mut self, machine: &Machine, ports: DuplexPorts) {
        self.messages = Some(Box::new(Messages::new(machine, ports)));
    }

    /// Sends the next message of the current instruction, or serves it from the own banks.
    pub(super) fn send_message(&mut self, cycle: CoreCycle, ctx: &mut Context) {
        let Some(Entry { access, sent, lists, .. }) = self.lsu.head() else { return };
        let (access, message) = (*access, lists.messages[*sent]);
        if message.to == self.config.sm {
            self.serve_own(access, message, cycle);
        } else if !self.send_to_sm(access, message, cycle, ctx) {
            return;
        }
        let Some(entry) = self.lsu.head_mut() else { return };
        entry.sent += 1;
        if entry.is_sent() {
            self.lsu.pop();
        }
    }

    /// Serves a message to this SM from its own banks.
    fn serve_own(&mut self, access: AccessId, message: Message, cycle: CoreCycle) {
        self.signals.extend(message.signal);
        let ready = self.occupy_banks(access, message.passes.into(), cycle);
        self.finish_part(access, ready);
    }

    /// Sends a message if the port has room.
    fn send_to_sm(
        &mut self,
        access: AccessId,
        message: Message,
        cycle: CoreCycle,
        ctx: &mut Context,
    ) -> bool {
        let messages = self.messages.as_mut().expect("only connected SMs send messages");
        messages.is_blocked = !ctx.fabric.room_or_wake(messages.ports.requests_out);
        if messages.is_blocked {
            return false;
        }
        messages.count(message);
        let now = self.config.clock.at(cycle);
        let request = ctx.requests.add(message.into_request(self.config.sm, access.0), now);
        ctx.fabric.push(messages.ports.requests_out, request, now);
        true
    }

    /// Takes at most one reply from, and serves at most one message of, other SMs.
    pub fn exchange(&mut self, ctx: &mut Context) {
        let Some(messages) = &self.messages else { return };
        let ports = messages.ports;
        self.take_message_reply(ports, ctx);
        self.serve(ports, ctx);
    }

    fn take_message_reply(&mut self, ports: DuplexPorts, ctx: &mut Context) {
        let cycle = self.cycle;
        let now = self.config.clock.at(cycle);
        if ctx.fabric.ready(ports.replies_in, now).is_none() {
            return;
        }
        let id = ctx.fabric.pop(ports.replies_in, now);
        let request = ctx.requests.get(id);
        let (access, brings_data) = (AccessId(request.access), Message::of(request).answer > 0);
        ctx.requests.remove(id);
        if access.0 == NO_ACCESS {
            return;
        }
        let ready = if brings_data && self.accesses.get(access).returns {
            self.completions.write_back(cycle, cycle + self.config.writeback_latency)
        } else {
            cycle
        };
        self.finish_part(access, ready);
    }

    /// Serves a message of another SM, with priority over the unit's own instructions.
    fn serve(&mut self, ports: DuplexPorts, ctx: &mut Context) {
        let cycle = self.cycle;
        let clock = self.config.clock;
        let now = clock.at(cycle);
        if self.lsu.busy_until > cycle {
            return;
        }
        let Some(id) = ctx.fabric.ready(ports.requests_in, now) else { return };
        let message = Message::of(ctx.requests.get(id));
        if !ctx.fabric.room_or_wake(ports.replies_out) {
            return;
        }
        ctx.fabric.pop(ports.requests_in, now);
        self.signals.extend(message.signal);
        let end = cycle + u64::from(message.passes);
        self.lsu.busy_until = end;
        ctx.fabric.push(ports.replies_out, id, clock.at(end - 1 + self.config.shared_latency));
    }

    /// Returns the first cycle from `soon` on with a message or reply to take.
    pub fn next_message(&self, soon: CoreCycle, ctx: &mut Context) -> CoreCycle {
        let Some(messages) = &self.messages else { return CoreCycle::NEVER };
        let DuplexPorts { requests_in, replies_out, replies_in, .. } = messages.ports;
        let clock = self.config.clock;
        let first = |ready| match ready {
            Ticks::NEVER => CoreCycle::NEVER,
            ready => clock.cycle_from(ready),
        };
        let reply = first(ctx.fabric.head_ready(replies_in));
        let message = first(ctx.fabric.head_ready(requests_in)).max(self.lsu.busy_until);
        // While its reply finds no room, the network that makes room wakes the SM.
        let waits_for_room = message <= soon && !ctx.fabric.room_or_wake(replies_out);
        reply.min(if waits_for_room { CoreCycle::NEVER } else { message })
    }

    /// Whether the current instruction stalls for room for a message.
    pub(super) fn waits_to_send(&self) -> bool {
        let waits = self.messages.as_ref().is_some_and(|messages| messages.is_blocked);
        waits && self.lsu.head().is_some_and(|entry| entry.work == Work::Cluster)
    }
}
