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
use super::{MemoryPipeline, Work};
use crate::context::Context;
use crate::sm::code::Static;
use std::cmp::Reverse;
use warpmem_machine::Machine;
use warpmem_sim::{CoreCycle, Message, PortId, Request, RequestId, RequestKind, SmId, Ticks};
use warpmem_trace::{ClusterAddress, Kind};

/// What an SM asks others and is asked by them, and the answers to both.
#[derive(Clone, Copy)]
pub struct MessagePorts {
    pub asks: PortId,
    pub asked: PortId,
    pub answers: PortId,
    pub answered: PortId,
}

/// An async copy in flight whose data go to other SMs, too.
struct Multicast {
    access: AccessId,
    sms: Vec<SmId>,
}

/// What an SM has to do with others.
pub(super) struct Messages {
    ports: MessagePorts,
    /// Bytes of a reply from memory.
    sector_bytes: u32,
    /// The unit's instruction finds no room for its next message.
    is_blocked: bool,
    multicasts: Vec<Multicast>,
    /// Messages sent, and their bytes of data, in both directions.
    sent: u64,
    bytes: u64,
}

impl Messages {
    pub fn new(machine: &Machine, ports: MessagePorts) -> Messages {
        Messages {
            ports,
            sector_bytes: machine.llc.cache.sector_bytes,
            is_blocked: false,
            multicasts: Vec::new(),
            sent: 0,
            bytes: 0,
        }
    }

    /// Messages sent, and their bytes of data.
    pub fn counts(&self) -> [u64; 2] {
        [self.sent, self.bytes]
    }

    fn count(&mut self, message: Message) {
        self.sent += 1;
        self.bytes += u64::from(message.bytes) + u64::from(message.answer);
    }
}

/// Makes the messages of an instruction, one for each of the `sms` of its cluster that it accesses;
/// those to its own SM stay there. A bulk copy is as many as it takes passes.
pub(super) fn write_messages(
    instruction: &Static,
    addresses: &[u64],
    sms: &[SmId],
    passes: &mut SharedPasses,
    messages: &mut Vec<Message>,
) {
    messages.clear();
    let sm_of = |address: u64| sms[ClusterAddress::of(address).rank as usize];
    if instruction.kind == Kind::AsyncCopy {
        let width = instruction.width;
        let parts = |&address: &u64| {
            let most = passes.bytes();
            let bytes = move |at: u32| (width - at * most).min(most);
            let part = move |at| Message {
                to: sm_of(address),
                passes: 1,
                bytes: bytes(at),
                answer: 0,
                is_copied: false,
            };
            (0..width.div_ceil(most)).map(part)
        };
        return messages.extend(addresses.iter().flat_map(parts));
    }
    let mut left = addresses;
    while let Some(&first) = left.first() {
        let to = sm_of(first);
        if !messages.iter().any(|message| message.to == to) {
            let there = left.iter().copied().filter(|&address| sm_of(address) == to);
            messages.push(message_to(to, instruction, there, passes));
        }
        left = &left[1..];
    }
}

/// The message for the lanes that access SM `to`.
fn message_to(
    to: SmId,
    instruction: &Static,
    addresses: impl Iterator<Item = u64>,
    passes: &mut SharedPasses,
) -> Message {
    let count = passes.of(addresses, instruction.width);
    let data = passes.word_bytes();
    let (bytes, answer) = match instruction.kind {
        Kind::Store | Kind::Reduction => (data, 0),
        Kind::Atomic => (data, data),
        _ => (0, data),
    };
    // At most two words of a lane are in a bank.
    Message { to, passes: count as u8, bytes, answer, is_copied: false }
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

/// Copies from memory into the shared memory of several CTAs.
impl MemoryPipeline {
    /// The data of an async copy go to these CTAs of a cluster, too.
    pub(super) fn begin_multicast(&mut self, access: AccessId, destinations: u16, sms: &[SmId]) {
        let Some(messages) = &mut self.messages else { return };
        let ranks = (0..sms.len()).filter(|rank| destinations >> rank & 1 == 1);
        let mut others: Vec<SmId> =
            ranks.map(|rank| sms[rank]).filter(|&sm| sm != self.sm).collect();
        others.sort_unstable();
        others.dedup();
        if !others.is_empty() {
            messages.multicasts.push(Multicast { access, sms: others });
            self.accesses.get_mut(access).is_multicast = true;
        }
    }

    /// The data of a reply go to others, too, as messages from here, and the copy has ended when they
    /// are everywhere. Returns whether there was room for all of them.
    pub(super) fn pass_on(&mut self, reply: RequestId, ctx: &mut Context) -> bool {
        let Some(messages) = &mut self.messages else { return true };
        let &Request { access, kind, .. } = ctx.requests.get(reply);
        let access = AccessId(access);
        if kind != RequestKind::Read || !self.accesses.get(access).is_multicast {
            return true;
        }
        let of_access = |multicast: &Multicast| multicast.access == access;
        let at = messages.multicasts.iter().position(of_access).expect("it has begun");
        let (asks, count) = (messages.ports.asks, messages.multicasts[at].sms.len());
        if ctx.fabric.room(asks) < count {
            return false;
        }
        let (now, bytes) = (self.clock.at(self.cycle), messages.sector_bytes);
        for other in 0..count {
            let to = messages.multicasts[at].sms[other];
            let message = Message { to, passes: 1, bytes, answer: 0, is_copied: true };
            messages.count(message);
            self.accesses.get_mut(access).waiting += 1;
            let request = ctx.requests.add(message.into_request(self.sm, access.0), now);
            ctx.fabric.push(asks, request, now);
        }
        true
    }

    /// An async copy has ended.
    pub(super) fn end_multicast(&mut self, access: AccessId) {
        if let Some(messages) = &mut self.messages {
            messages.multicasts.retain(|multicast| multicast.access != access);
        }
    }
}
