//! Accesses to the shared memory of a cluster: those parts that other SMs serve are messages to them,
//! and those of others are served here.
//!
//! ```text
//!  load/store unit ─┬─▶ own banks
//!                   └─▶ asks ──▶ links ──▶ asked ─▶ banks ─┐   of another SM
//!  completions ◀── answered ◀── links ◀── answers ◀────────┘
//! ```

use super::access::AccessId;
use super::coalescer::SharedPasses;
use super::entry::Entry;
use super::signals::arrival;
use super::{MemoryPipeline, Work};
use crate::context::Context;
use crate::sm::cluster::ClusterCta;
use crate::sm::code::Static;
use std::cmp::Reverse;
use warpmem_machine::Machine;
use warpmem_sim::{Arrival, CoreCycle, Message, PortId, Signal, SmId, Ticks};
use warpmem_trace::{ClusterAddress, Kind, Mbarrier};

/// What an SM asks others and is asked by them, and the answers to both.
#[derive(Clone, Copy)]
pub struct MessagePorts {
    pub asks: PortId,
    pub asked: PortId,
    pub answers: PortId,
    pub answered: PortId,
}

/// Row of a message whose answer nobody waits for.
pub(super) const NOBODY: u32 = u32::MAX;

/// What an SM has to know of a CTA and its cluster.
#[derive(Clone, Copy)]
pub(in crate::sm) struct Place<'a> {
    pub cta: ClusterCta,
    /// The SMs of its cluster, by rank.
    pub sms: &'a [SmId],
}

impl Place<'_> {
    /// The CTA of its cluster with this rank.
    pub(super) fn of_rank(self, rank: u32) -> ClusterCta {
        let size = self.sms.len() as u32;
        ClusterCta { cta: self.cta.cta - self.cta.cta % size + rank, ..self.cta }
    }

    pub(super) fn rank(self) -> u32 {
        self.cta.cta % self.sms.len() as u32
    }
}

/// What an SM has to do with others.
pub(super) struct Messages {
    pub(super) ports: MessagePorts,
    /// Bytes of a reply from memory.
    pub(super) sector_bytes: u32,
    /// The unit's instruction finds no room for its next message.
    is_blocked: bool,
    /// Messages sent, and their bytes of data, in both directions.
    sent: u64,
    bytes: u64,
}

impl Messages {
    pub fn new(machine: &Machine, ports: MessagePorts) -> Messages {
        Messages {
            ports,
            sector_bytes: machine.l2.cache.sector_bytes,
            is_blocked: false,
            sent: 0,
            bytes: 0,
        }
    }

    /// Messages sent, and their bytes of data.
    pub fn counts(&self) -> [u64; 2] {
        [self.sent, self.bytes]
    }

    pub(super) fn count(&mut self, message: Message) {
        self.sent += 1;
        self.bytes += u64::from(message.bytes) + u64::from(message.answer);
    }
}

/// Makes the messages of an instruction: one for each SM of its cluster that it accesses, or where it
/// is about mbarriers, for each CTA or mbarrier. Those to its own SM stay there. A bulk copy is as many
/// as it takes passes.
pub(super) fn write_messages(
    instruction: &Static,
    addresses: &[u64],
    place: Place,
    passes: &mut SharedPasses,
    messages: &mut Vec<Message>,
) {
    messages.clear();
    if instruction.kind == Kind::AsyncCopy {
        let parts = |&address: &u64| copy_to(address, instruction, place, passes.bytes());
        return messages.extend(addresses.iter().flat_map(parts));
    }
    let sm_of = |address: u64| u64::from(place.sms[ClusterAddress::of(address).rank as usize].0);
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
            messages.push(message_to(first, instruction, place, there, passes));
        }
    }
}

/// The messages of a copy to `address`, of at most `most` bytes each.
fn copy_to(
    address: u64,
    instruction: &Static,
    place: Place,
    most: u32,
) -> impl Iterator<Item = Message> {
    let Static { width, mbarrier, .. } = *instruction;
    let rank = ClusterAddress::of(address).rank;
    let (to, cta) = (place.sms[rank as usize], place.of_rank(rank));
    let part = move |at: u32| {
        let bytes = (width - at * most).min(most);
        let signal = signal_of(mbarrier, cta, 0, 1, bytes);
        Message { to, passes: 1, bytes, answer: 0, is_copied: false, signal }
    };
    (0..width.div_ceil(most)).map(part)
}

/// The message for the lanes that access what the one at `first` does.
fn message_to(
    first: u64,
    instruction: &Static,
    place: Place,
    addresses: impl Iterator<Item = u64> + Clone,
    passes: &mut SharedPasses,
) -> Message {
    let ClusterAddress { rank, offset } = ClusterAddress::of(first);
    let lanes = addresses.clone().count() as u32;
    let count = passes.of(addresses, instruction.width);
    let data = passes.word_bytes();
    let (bytes, answer) = match instruction.kind {
        Kind::Store | Kind::Reduction => (data, 0),
        Kind::Atomic => (data, data),
        _ => (0, data),
    };
    let cta = place.of_rank(rank);
    let signal = signal_of(instruction.mbarrier, cta, offset, lanes, lanes * instruction.width);
    let to = place.sms[rank as usize];
    // At most two words of a lane are in a bank.
    Message { to, passes: count as u8, bytes, answer, is_copied: false, signal }
}

/// What `lanes` that access `offset` of a CTA's shared memory change there, bringing so many bytes.
fn signal_of(
    operation: Option<Mbarrier>,
    ClusterCta { kernel, cta }: ClusterCta,
    offset: u32,
    lanes: u32,
    bytes: u32,
) -> Option<Signal> {
    match operation? {
        Mbarrier::Signal { offset } => Some(Signal { kernel, cta, offset, arrival: come(bytes) }),
        operation => {
            let arrival = arrival(operation, lanes)?;
            Some(Signal { kernel, cta, offset, arrival })
        }
    }
}

/// So many bytes have come.
pub(super) fn come(bytes: u32) -> Arrival {
    Arrival { bytes: -(bytes.min(i32::MAX as u32) as i32), ..Arrival::default() }
}

impl MemoryPipeline {
    /// Connects the SM to others.
    pub fn connect(&mut self, machine: &Machine, ports: MessagePorts) {
        self.messages = Some(Box::new(Messages::new(machine, ports)));
    }

    /// The unit sends the next message of its instruction, or serves it from its own banks.
    pub(super) fn send_message(&mut self, cycle: CoreCycle, ctx: &mut Context) {
        let Some(Entry { access, sent, messages, .. }) = self.lsu.head() else { return };
        let (access, message) = (*access, messages[*sent]);
        if message.to == self.sm {
            self.pass_message(access, message, cycle);
        } else if !self.send_to_sm(access, message, cycle, ctx) {
            return;
        }
        let Some(entry) = self.lsu.head_mut() else { return };
        entry.sent += 1;
        if entry.is_sent() {
            self.lsu.pop();
        }
    }

    fn pass_message(&mut self, access: AccessId, message: Message, cycle: CoreCycle) {
        self.signals.extend(message.signal);
        let end = cycle + u64::from(message.passes);
        self.lsu.busy_until = end;
        let ready = if self.accesses.get(access).returns {
            let ready = end - 1 + self.shared_latency + self.writeback_latency;
            self.writeback.take(cycle, ready)
        } else {
            end
        };
        self.message_back(access, ready);
    }

    /// Sends a message if there is room.
    fn send_to_sm(
        &mut self,
        access: AccessId,
        message: Message,
        cycle: CoreCycle,
        ctx: &mut Context,
    ) -> bool {
        let messages = self.messages.as_mut().expect("only SMs with others have such messages");
        messages.is_blocked = !ctx.fabric.room_or_wake(messages.ports.asks);
        if messages.is_blocked {
            return false;
        }
        messages.count(message);
        let now = self.clock.at(cycle);
        let request = ctx.requests.add(message.into_request(self.sm, access.0), now);
        ctx.fabric.push(messages.ports.asks, request, now);
        true
    }

    /// A part of an instruction is done in cycle `ready`.
    fn message_back(&mut self, access: AccessId, ready: CoreCycle) {
        let row = self.accesses.get_mut(access);
        row.waiting -= 1;
        row.ready_cycle = row.ready_cycle.max(ready);
        if row.waiting == 0 {
            self.completions.push(Reverse((row.ready_cycle, access)));
        }
    }

    /// Takes an answer of another SM, and serves another's message, at most one each.
    pub fn exchange(&mut self, ctx: &mut Context) {
        let Some(messages) = &self.messages else { return };
        let ports = messages.ports;
        self.take_answer(ports, ctx);
        self.serve(ports, ctx);
    }

    fn take_answer(&mut self, ports: MessagePorts, ctx: &mut Context) {
        let cycle = self.cycle;
        let now = self.clock.at(cycle);
        if ctx.fabric.ready(ports.answered, now).is_none() {
            return;
        }
        let id = ctx.fabric.pop(ports.answered, now);
        let request = ctx.requests.get(id);
        let (access, brings_data) = (AccessId(request.access), Message::of(request).answer > 0);
        ctx.requests.remove(id);
        if access.0 == NOBODY {
            return;
        }
        let ready = if brings_data && self.accesses.get(access).returns {
            self.writeback.take(cycle, cycle + self.writeback_latency)
        } else {
            cycle
        };
        self.message_back(access, ready);
    }

    /// The banks serve a message of another SM before the unit's own instructions.
    fn serve(&mut self, ports: MessagePorts, ctx: &mut Context) {
        let cycle = self.cycle;
        let now = self.clock.at(cycle);
        if self.lsu.busy_until > cycle {
            return;
        }
        let Some(id) = ctx.fabric.ready(ports.asked, now) else { return };
        let message = Message::of(ctx.requests.get(id));
        if !ctx.fabric.room_or_wake(ports.answers) {
            return;
        }
        ctx.fabric.pop(ports.asked, now);
        self.signals.extend(message.signal);
        let end = cycle + u64::from(message.passes);
        self.lsu.busy_until = end;
        ctx.fabric.push(ports.answers, id, self.clock.at(end - 1 + self.shared_latency));
    }

    /// The first cycle from `soon` on in which there is a message to take.
    pub fn next_message(&self, soon: CoreCycle, ctx: &mut Context) -> CoreCycle {
        let Some(messages) = &self.messages else { return CoreCycle::NEVER };
        let MessagePorts { asked, answers, answered, .. } = messages.ports;
        let clock = self.clock;
        let first = |ready| match ready {
            Ticks::NEVER => CoreCycle::NEVER,
            ready => clock.cycle_from(ready),
        };
        let answer = first(ctx.fabric.head_ready(answered));
        let message = first(ctx.fabric.head_ready(asked)).max(self.lsu.busy_until);
        // If there is no room for its answer, the network makes some and wakes the SM.
        let waits_for_room = message <= soon && !ctx.fabric.room_or_wake(answers);
        answer.min(if waits_for_room { CoreCycle::NEVER } else { message })
    }

    /// Whether the unit waits for room for a message.
    pub(super) fn waits_to_send(&self) -> bool {
        let waits = self.messages.as_ref().is_some_and(|messages| messages.is_blocked);
        waits && self.lsu.head().is_some_and(|entry| entry.work == Work::Cluster)
    }
}
